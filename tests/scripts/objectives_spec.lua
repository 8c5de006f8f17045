-- Tests steps, losses and metrics of scripts/objectives (Tang et al. 2023) against the authors' code written out in
-- Lua, and metrics of random orders against the authors' numbers.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, equal, near, check = test.describe, test.it, test.equal, test.near, test.check

local folder = "scripts/objectives/"
local code = dofile(folder .. "code.lua")
local training, protocol = code.training, code.training.protocol

-- The metrics of the authors' metrics.py in Lua. Their "ranks" are sorted in descending order; of equal ranks, the last
-- document comes first.
local function order_of(ranks)
  local order = {}
  for i = 1, #ranks do order[i] = i end
  table.sort(order, function(a, b)
    if ranks[a] ~= ranks[b] then return ranks[a] > ranks[b] end
    return a > b
  end)
  return order
end

local function dcg(grades, order, k)
  local sum = 0
  for rank = 1, math.min(k, #order) do sum = sum + (2 ^ grades[order[rank]] - 1) / math.log(rank + 1, 2) end
  return sum
end

local function ndcg(ranks, grades, k, plus)
  local labels, ideal = {}, {}
  for i, y in ipairs(grades) do labels[i], ideal[i] = y + plus, i end
  table.sort(ideal, function(a, b) return labels[a] > labels[b] end)
  return dcg(labels, order_of(ranks), k) / dcg(labels, ideal, k)
end

local function precision(ranks, grades, k)
  local order, sum, n = order_of(ranks), 0, math.min(k, #ranks)
  for rank = 1, n do sum = sum + (grades[order[rank]] > 0 and 1 or 0) end
  return sum / n
end

local function average_precision(ranks, grades)
  local order, sum, relevant = order_of(ranks), 0, 0
  for rank = 1, #ranks do
    if grades[order[rank]] > 0 then sum, relevant = sum + precision(ranks, grades, rank), relevant + 1 end
  end
  return sum / relevant
end

local function written_out(name, ranks, grades)
  local k = math.tointeger(tonumber(name:match "@(%d+)")) or #ranks
  if name == "ap" then return average_precision(ranks, grades) end
  if name:find "^precision" then return precision(ranks, grades, k) end
  return ndcg(ranks, grades, k, name:find "%+1" and 1 or 0)
end

-- The ranks of rankers.approx_ndcg_ranker in the authors' code: one more than the number of documents with a higher
-- score.
local function approx_ndcg_ranker(scores)
  local ranks = {}
  for i, s in ipairs(scores) do
    ranks[i] = 1
    for _, other in ipairs(scores) do ranks[i] = ranks[i] + (s < other and 1 or 0) end
  end
  return ranks
end

-- Returns scores with many ties, and grades, of one query.
local function query(n, seed)
  local scores = mr.uniform({ n }, { seed = seed }):totable()
  local grades = mr.uniform({ n }, { seed = seed + 100 }):totable()
  for i = 1, n do scores[i], grades[i] = math.floor(4 * scores[i]) / 4, math.floor(5 * grades[i] ^ 2) end
  grades[1 + seed % n] = 2
  return scores, grades
end

describe("metrics of code.lua:", function()
  it("metrics equals the authors' metrics written out, with ties as they sort them, for both rankers", function()
    for seed = 1, 30 do
      local n = 2 + seed % 9
      local scores, grades = query(n, seed)
      local lists, ranks = mr.lists{ grades }, approx_ndcg_ranker(scores)
      local plain, inverted = code.metrics(mr.tensor(scores), lists, "scores"),
        code.metrics(mr.tensor(scores), lists, "inverted")
      for _, name in ipairs(protocol.metric_names) do
        near(plain[name]:item(), written_out(name, scores, grades), 1e-5, name)
        near(inverted[name]:item(), written_out(name, ranks, grades), 1e-5, name)
      end
    end
  end)

  it("metrics gives a value per query, and NaN if no document is relevant", function()
    local a, b = { query(7, 1) }, { query(4, 2) }
    local lists, scores = mr.lists{ a[2], { 0, 0, 0 }, b[2] }, {}
    for _, each in ipairs{ a[1], { 3, 1, 2 }, b[1] } do table.move(each, 1, #each, #scores + 1, scores) end
    local found = code.metrics(mr.tensor(scores), lists, "scores")
    for _, name in ipairs(protocol.metric_names) do
      local values = found[name]:totable()
      near(values[1], written_out(name, a[1], a[2]), 1e-5, name)
      check(values[2] ~= values[2], name)
      near(values[3], written_out(name, b[1], b[2]), 1e-5, name)
    end
  end)

  it("first_document scores a query by its first document alone", function()
    for seed = 1, 10 do
      local _, grades = query(3 + seed, seed)
      local found, labels = code.first_document(mr.lists{ grades, { 0, 0 } }), { {}, {} }
      for i, y in ipairs(grades) do labels[1][i], labels[2][i] = y, y + 1 end
      for name, values in pairs(found) do
        local own, k = labels[name:find "%+1" and 2 or 1], math.tointeger(tonumber(name:match "@(%d+)")) or 1
        local best = table.move(own, 1, #own, 1, {})
        table.sort(best, function(a, b) return a > b end)
        local order = order_of(best)
        table.sort(order)
        local expected = name:find "^ndcg" and (2 ^ own[1] - 1) / dcg(best, order, k) or (grades[1] > 0 and 1 or 0)
        near(values:totable()[1], expected, 1e-5, name)
        check(values:totable()[2] ~= values:totable()[2], name)
      end
    end
  end)
end)

it("protocol.metrics averages equal scores over their orders, and ndcg+1 adds 1 to labels", function()
  local found = mr.evaluate(mr.tensor{ 1, 1 }, mr.lists{ { 1, 0 } }, protocol.metrics()).mean
  near({ found["precision@2"], found.ap }, { 0.5, 0.75 }, 1e-6)
  near(found.ndcg, (1 + 1 / math.log(3, 2)) / 2, 1e-6)
  near(found["ndcg+1"], ((3 + 1 / math.log(3, 2)) + (1 + 3 / math.log(3, 2))) / 2 / (3 + 1 / math.log(3, 2)), 1e-6)
  equal(protocol.of_table, { "ndcg+1", "ndcg+1@2", "ndcg+1@4", "ndcg+1@6", "precision@2", "precision@4",
    "precision@6", "ap" })
end)

-- Returns judged queries whose features identify their rows.
local function made_up(lists)
  local grades = mr.lists(lists)
  return mr.data.dataset{ lists = grades,
    features = mr.arange(1, grades.rows, { dtype = "float32" }):reshape(grades.rows, 1) }
end

local function rows_of(batches)
  local found = {}
  for batch in batches:batches{ size = 1 } do
    found[#found + 1] = table.concat(batch.features:reshape(batch.lists.rows):long():totable(), " ")
  end
  return found
end

describe("gradient steps:", function()
  it("equal_lengths groups queries by length, leaves out short groups, and drops the last step if asked", function()
    local set = made_up{ { 1, 0 }, { 0, 1, 0 }, { 0, 1 }, { 1 }, { 0, 0 }, { 1, 0, 0 } }
    local function steps(size, least, eight)
      return code.steps(set, { steps = "lengths", size = size, eight = eight }, least, 1)
    end
    local whole, count = steps(nil, 1)
    equal(rows_of(whole), { "1 2 6 7 9 10", "3 4 5 11 12 13", "8" })
    equal(count, 6)
    local some, left = steps(2, 2)
    equal(rows_of(some), { "1 2 6 7", "9 10", "3 4 5 11 12 13" })
    equal({ left, some.count }, { 5, 3 })
    local dropped, rest = steps(2, 2, true)
    equal(rows_of(dropped), { "1 2 6 7", "9 10" })
    equal(rest, 3)
    equal(rows_of(steps(nil, 6, true)), {})
    equal(#rows_of(steps(nil, 3, true)), 1)
    equal(rows_of(whole), rows_of(whole))
  end)

  it("documents takes each document at most once, and leaves out the last step", function()
    local set, seen = made_up{ { 1, 0, 2 }, { 0, 1, 0, 0 }, { 0, 1 } }, {}
    local found = rows_of((protocol.steps(set, { steps = "documents", size = 2 }, 1, 1)))
    equal(#found, 3)
    for row in table.concat(found, " "):gmatch "%d+" do
      check(not seen[row], row)
      seen[row] = true
    end
  end)

  it("pairs draws each target as often as there are equal pairs, from the two rows' grades", function()
    local lists = { { 1, 0, 0, 0, 2 }, { 0, 0, 0 }, { 1, 1, 0 } }
    local set, grades, count = made_up(lists), {}, { better = 0, equal = 0, worse = 0 }
    for _, each in ipairs(lists) do table.move(each, 1, #each, #grades + 1, grades) end
    local all = code.pairs(set, 1, 3)
    equal(all.count, 3 * 14 - 1)
    for batch in all:batches{ size = 1 } do
      local rows, said = batch.features:reshape(2):long():totable(), batch.lists.relevance:totable()
      local a, b = grades[rows[1]], grades[rows[2]]
      local class = a > b and "better" or a < b and "worse" or "equal"
      equal(said, { class == "better" and 1 or 0, class == "worse" and 1 or 0 })
      count[class] = count[class] + 1
    end
    check(count.better >= 13 and count.equal >= 13 and count.worse >= 13, "as many of each, but for the one left out")
    equal(rows_of(all), rows_of(code.pairs(set, 1, 3)))
  end)
end)

describe("protocol.loss", function()
  local set = made_up{ { 1, 0, 0, 2 }, { 0, 0, 0 }, { 0, 1, 1 } }
  local scores = mr.tensor({ 0.3, -0.2, 0.5, 0.1, 0.4, 0.2, -0.6, 0.7, -0.1, 0.2 }, { dtype = "float64" })

  it("averages RankNet over all pairs, with unequal pairs upsampled to equally frequent targets", function()
    local grades, s, sum, weight, first = set.lists.relevance:totable(), scores:totable(), 0, 0, 1
    local unequal, equal_pairs = 5 + 2, 1 + 3 + 1
    local times = math.max(1, 2 * equal_pairs / unequal)
    for _, n in ipairs(set.lists.sizes:totable()) do
      for i = first, first + n - 1 do
        for j = i + 1, first + n - 1 do
          local target = grades[i] > grades[j] and 1 or grades[i] < grades[j] and 0 or 0.5
          local p, w = 1 / (1 + math.exp(s[j] - s[i])), target == 0.5 and 1 or times
          sum, weight = sum - w * (target * math.log(p) + (1 - target) * math.log(1 - p)), weight + w
        end
      end
      first = first + n
    end
    local loss = protocol.loss(protocol.by_name.RankNet, set)
    near(loss(scores, set.lists):sum():item() / loss:count(set.lists), sum / weight, 1e-12)
    local drawn = code.loss(protocol.by_name.RankNet, set)
    equal(drawn:count(mr.lists{ { 1, 0 }, { 0, 0 } }), 2)
  end)

  it("minimises the NDCGs under recipe code, and counts queries without relevant documents", function()
    for _, name in ipairs{ "ApproxNDCGQbQ", "NeuralNDCGQbQ" } do
      local o = protocol.by_name[name]
      local up, down = protocol.loss(o, set), code.loss(o, set)
      equal((-up(scores, set.lists)):totable(), down(scores, set.lists):totable())
      check(down(scores, set.lists):sum():item() > 0, name)
      equal(up:count(set.lists), 2)
      equal(down:count(set.lists), name == "ApproxNDCGQbQ" and 3 or 2)
      equal(down:count(mr.lists{ { 0, 0 } }), 1)
    end
  end)

  it("has alpha = 1 in ApproxNDCG's ranks", function()
    local rank = 1 + 1 / (1 + math.exp(0.3))
    local found = code.loss(protocol.by_name.ApproxNDCGQbQ, set)(mr.tensor({ 0.5, 0.2 }, { dtype = "float64" }),
      mr.lists{ { 1, 0 } })
    near(found:item(), 1 / math.log(1 + rank, 2), 1e-12)
  end)
end)

it("code.scaled standardises by rows, queries or places, like the authors' code", function()
  local lists = mr.lists{ { 1, 0 }, { 0, 1 } }
  local part =
    mr.data.dataset{ lists = lists, features = mr.tensor({ { 1 }, { 3 }, { 10 }, { 14 } }, { dtype = "float64" }) }
  local sd = math.sqrt(((1 - 7) ^ 2 + (3 - 7) ^ 2 + (10 - 7) ^ 2 + (14 - 7) ^ 2) / 4 + 1e-5)
  near(code.scaled(part, "rows").features:reshape(4):totable(), { -6 / sd, -4 / sd, 3 / sd, 7 / sd }, 1e-12)
  local a, b = 1 / math.sqrt(1 + 1e-5), 2 / math.sqrt(4 + 1e-5)
  near(code.scaled(part, "queries").features:reshape(4):totable(), { -a, a, -b, b }, 1e-12)
  local eights = mr.data.dataset{ lists = mr.lists{ { 1, 0, 0, 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 0, 0, 0, 0 } },
    features = mr.arange(1, 16, { dtype = "float64" }):reshape(16, 1) }
  local places = code.scaled(eights, "places").features:reshape(16):totable()
  for i = 1, 8 do near({ places[i], places[8 + i] }, { -4 / math.sqrt(16 + 1e-5), 4 / math.sqrt(16 + 1e-5) }, 1e-12) end
end)

-- Metrics of random orders, computed by the authors' code over `queries` queries with a relevant document. `rows = 8`
-- takes only queries with eight documents. Each query had one random order, so only about two digits are reliable.
local random_orders = {
  { set = "mq2008", queries = 564, ["ndcg+1"] = 0.7814, ["ndcg+1@2"] = 0.4446, ["ndcg+1@6"] = 0.5955,
    ["precision@2"] = 0.2964, ap = 0.4211, ndcg = 0.5697 },
  { set = "mq2008", rows = 8, queries = 225, ["ndcg+1"] = 0.8005, ["ndcg+1@2"] = 0.5242, ["ndcg+1@6"] = 0.7224,
    ["precision@2"] = 0.3403, ap = 0.5011, ndcg = 0.6290 },
  { set = "mslr", queries = 101, ["ndcg+1"] = 0.6838, ["ndcg+1@2"] = 0.2175, ["ndcg+1@6"] = 0.2628,
    ["precision@2"] = 0.4465, ap = 0.4648, ndcg = 0.5523 },
}

it("training.random meets the authors' numbers of random orders on the real data", function()
  local all = {}
  for _, name in ipairs{ "mq2008", "mslr" } do
    local there, found = pcall(training.set, { data = "", smoke = false }, name)
    if not there and tostring(found):find("not found", 1, true) then
      return test.skip(tostring(found):match "[^\n]*")
    end
    check(there, found)
    all[name] = code.all(found)
  end
  for _, row in ipairs(random_orders) do
    local part = row.rows and code.of_eight(all[row.set]) or all[row.set]
    local found, name_of = training.random{ folds = { { test = part } } }, row.set .. (row.rows and ", eights" or "")
    for name, x in pairs(row) do
      if rawget(found.mean, name) then
        -- an upper limit of the standard deviation of a single query's value over random orders
        local most = name == "precision@2" and 0.5 or 0.35
        near(found.mean[name], x, 3 * most / math.sqrt(row.queries), name_of .. ", " .. name)
        equal(mr.stats.summary(found[name]).n, row.queries, name)
      end
    end
  end
  near(training.random{ folds = { { test = all.mq2008 } } }.mean["ndcg+1"], 0.7820, 5e-5)
end)

it("all.lua lists scripts that exist, each run under a title of its own", function()
  local titles = {}
  for _, each in ipairs(dofile(folder .. "all.lua")) do
    check(require("moonrank.core").is_file(each.path), each.path)
    check(not titles[each.title] and type(each.words) == "table", each.title)
    titles[each.title] = true
  end
  check(next(titles) ~= nil, "none")
end)
