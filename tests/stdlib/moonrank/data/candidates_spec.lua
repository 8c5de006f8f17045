-- Tests fold:evaluate and model:recommend on the full catalogue and on sampled candidates against lists built by hand,
-- and the baseline models popularity and item_knn.
local mr = require "moonrank"
local core = require "moonrank.core"
local numbers = require "tests.support.numbers"
local on_cpu = dofile "tests/support/on_cpu.lua"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 150, mean_activity = 40, seed = 5 }
local fold = ratings:binarize(4):folds{ k = 4, nsr = 1, seed = 2 }[2]

-- Returns, for each user, the set of items of a part that have a grade above 0.
local function relevant(part)
  local out, at = {}, 0
  local users, items, grades = part.users:totable(), part.items:totable(), part.lists.relevance:totable()
  for l, n in ipairs(part.lists.sizes:totable()) do
    out[users[l]] = out[users[l]] or {}
    for r = at + 1, at + n do
      if grades[r] > 0 then out[users[l]][items[r]] = grades[r] end
    end
    at = at + n
  end
  return out
end

local train, valid, tested = relevant(fold.train), relevant(fold.valid), relevant(fold.test)

-- For each user, the set of items that the user rated below the threshold. They are in no part of the fold.
local low = {}
for i, user in ipairs(ratings.user:totable()) do
  low[user] = low[user] or {}
  if ratings.value[i]:item() < 4 then low[user][ratings.item[i]:item()] = true end
end
local known_from = {
  rated = function(parts) return { low, table.unpack(parts) } end,
  relevant = function(parts) return parts end,
  none = function() return {} end,
}

local models = {
  popularity = mr.models.popularity{ fold = fold },
  item_knn = mr.models.item_knn{ fold = fold, k = 7, shrink = 2 },
  random = mr.models.random{ seed = 3 },
  mf = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 5, init = 0.5 },
}

-- Returns a model's scores of these items for one user.
local function scores_of(model, user, items)
  return model{ lists = mr.lists{ relevance = mr.zeros(#items), sizes = { #items } }, size = 1,
    users = mr.tensor({ user }, { dtype = "int64" }), items = mr.tensor(items, { dtype = "int64" }) }
end

-- Returns all items of the catalogue except those that are in one of the user's sets `known`.
local function catalogue(user, known)
  local items = {}
  for item = 1, ratings.items do
    local out = false
    for _, of in ipairs(known) do out = out or of[user] and of[user][item] end
    if not out then items[#items + 1] = item end
  end
  return items
end

local names = { "ndcg", "ndcg@10", "ap", "rr", "hit@5", "recall@20", "nrbp(0.95)", "auc", "precision@3" }

for name, model in pairs(models) do
  it("fold:evaluate of " .. name .. " on the full catalogue equals lists built by hand", function()
    for part, case in pairs{ test = { tested, { train, valid } }, valid = { valid, { train } } } do
      for known, sets in pairs(known_from) do
        local found = fold:evaluate(model, names, { part = part, known = known })
        local users = found.users:totable()
        equal(#users, found.count)
        local left_out = 0
        for l, user in ipairs(users) do
          local items, grades = catalogue(user, sets(case[2])), {}
          left_out = left_out + ratings.items - #items
          for i, item in ipairs(items) do grades[i] = case[1][user][item] or 0 end
          local one = mr.evaluate(scores_of(model, user, items), mr.lists{ grades }, names)
          for _, metric in ipairs(names) do near(found[metric][l]:item(), one[metric][1]:item(), 0, metric) end
        end
        equal(tonumber(found.candidates:match "leaves out (%d+)" or 0), left_out, known)
        if known == "rated" then equal(fold:evaluate(model, names, { part = part }).candidates, found.candidates) end
      end
    end
  end)
end

it("metrics from counted ranks of relevant rows equal metrics from sorted rows", function()
  local below = numbers.integers_below(11)
  for _, dtype in ipairs{ "float32", "float64" } do
    for _, n in ipairs{ 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000 } do
      for _, levels in ipairs{ 1, 3, 100000 } do
        local grades, scores = {}, {}
        for i = 1, n do
          grades[i], scores[i] = below(3 + n // 9) == 0 and 0.5 + below(3) or 0, below(levels) - levels // 2
        end
        if n > 40 then scores[7], scores[8], scores[9] = math.huge, -math.huge, -0.0 end
        local lists, own = mr.lists{ grades, {}, { 1 }, grades }, mr.tensor(scores, { dtype = dtype })
        local x = core.cat({ own, mr.tensor({ 3 }, { dtype = dtype }), own }, 1)
        for _, name in ipairs{ "ap", "auc", "bpref", "dcg", "f1@5", "hit@5", "ndcg", "ndcg@10", "nrbp", "nrbp_loss",
          "precision@5", "r_precision", "rbp", "recall@5", "rr", "err", "tbg" } do
          for _, o in ipairs{ { ties = "mean" }, { relevant = 2 }, { ties = "worst" }, { relevant = 0 } } do
            local metric = mr.metrics.parse(name, o)
            local values = metric:of_ranking(metric:ranking(x, lists, true), lists)
            near(values, metric(x, lists), 0, name)
          end
        end
      end
    end
  end
  local few = core.relevant_ranking(mr.tensor{ 1, 2 }, mr.lists{ { 1, 0 } }, 1)
  raises(function() core.ranks(few) end, "ranking", "ranks", "rows")
  raises(function() core.order(few) end, "ranking", "order", "rows")
  raises(function() core.relevant_ranking(mr.tensor{ 1, 0 / 0 }, mr.lists{ { 1, 0 } }, 1) end, "scores", "NaN", "2")
end)

it("fold:evaluate with ties = 'worst' gives the reciprocal rank that counting gives", function()
  local found = fold:evaluate(models.mf, { "rr" }, { ties = "worst" })
  for l, user in ipairs(found.users:totable()) do
    local items = catalogue(user, { train, valid, low })
    local scores, best = scores_of(models.mf, user, items):totable(), math.huge
    for i, item in ipairs(items) do
      if tested[user][item] then
        local above = 0
        for _, other in ipairs(scores) do above = above + (other > scores[i] and 1 or 0) end
        best = math.min(best, above + 1)
      end
    end
    near(found.rr[l]:item(), 1 / best, 1e-6)
  end
end)

it("fold:evaluate gives the same values for any block size and number of threads", function()
  local candidates = require "moonrank.data.candidates"
  local blocks, whole = candidates.blocks, fold:evaluate(models.item_knn, names)
  candidates.blocks = function(users, _, device, make) return blocks(users, 1 << 18, device, make) end
  local by_four = fold:evaluate(models.item_knn, names)
  candidates.blocks = blocks
  local threads = core.threads()
  core.threads(threads == 1 and 3 or 1)
  local others = fold:evaluate(mr.models.item_knn{ fold = fold, k = 7, shrink = 2 }, names)
  core.threads(threads)
  for _, metric in ipairs(names) do equal(others[metric]:totable(), whole[metric]:totable(), metric) end
  for _, metric in ipairs(names) do equal(by_four[metric]:totable(), whole[metric]:totable(), metric) end
end)

-- Returns the resident memory of this process, in MiB.
local function memory()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmRSS:%s*(%d+)"
    if kib then return tonumber(kib) / 1024 end
  end
end

it("fold:evaluate uses memory that does not grow with the number of users", on_cpu(function()
  local users, items, each = 8000, 20000, 2
  local rows = users * each
  local sizes = mr.full({ users }, each):to("int64"):totable()
  local part = mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(rows), sizes = sizes },
    users = core.arange(1, users, 1, "int64", "cpu"),
    items = core.uniform({ rows }, 1, items + 1, 1, "items", "float64", "cpu"):to "int64", name = "all" }
  local no_ids = mr.tensor({}, { dtype = "int64" })
  local none = mr.data.dataset{ lists = mr.lists{}, users = no_ids, items = no_ids }
  local large = require("moonrank.data.fold").new{ train = none, valid = none, test = part, number = 1, k = 1,
    title = "large", users = users, items = items }
  local seen = {}
  large:evaluate(function(batch)
    seen[#seen + 1] = memory()
    return mr.zeros(batch.lists.rows)
  end, { "rr" })
  check(#seen > 50, #seen .. " blocks")
  local grown = seen[#seen] - seen[10]
  check(grown < 600, ("%.0f MiB more after %d blocks of 8 MiB and more"):format(grown, #seen - 10))
end))

it("core.sampled_lists draws distinct items that the user does not know, the same for the same seed", function()
  local function of(parts)
    return require("moonrank.data.known_items").of("test", parts, "relevant", ratings.users, ratings.items)
  end
  local known, targets = of{ fold.train, fold.valid }, of{ fold.test }
  for _, popular in ipairs{ false, true } do
    for _, each in ipairs{ false, true } do
      local made = core.sampled_lists(targets:active_users(), targets, known, 12, popular, each, 9)
      local owner, item, grade, at = made.users:totable(), made.items:totable(), made.lists.relevance:totable(), 0
      for l, n in ipairs(made.lists.sizes:totable()) do
        local u, met, wanted = owner[l], {}, 0
        for r = at + 1, at + n do
          check(not met[item[r]], "an item twice")
          met[item[r]] = true
          if tested[u][item[r]] then
            wanted = wanted + 1
            equal(grade[r], 1.0)
          else
            equal(grade[r], 0.0)
            local known_item = train[u] and train[u][item[r]] or valid[u] and valid[u][item[r]]
            check(not known_item, "an item that is known")
          end
        end
        equal(n - wanted, 12)
        if each then equal(wanted, 1) end
        at = at + n
      end
      local function drawn(seed)
        return core.sampled_lists(targets:active_users(), targets, known, 12, popular, each, seed).items:totable()
      end
      equal(drawn(9), item)
      check(not pcall(equal, drawn(10), item))
    end
  end
end)

it("core.sampled_lists draws in proportion to popularity, and all items if too few are left", function()
  -- twelve users have item 1, four have item 2 and one has item 5; user 13 knows items 3 and 4
  local lists, of_user, items = {}, {}, {}
  for user = 1, 14 do
    local own = user <= 4 and { 1, 2 } or user <= 12 and { 1 } or user == 13 and { 3, 4 } or { 4, 5 }
    lists[user], of_user[user] = {}, user
    for i, item in ipairs(own) do lists[user][i], items[#items + 1] = 1, item end
  end
  local function int64(t) return mr.tensor(t, { dtype = "int64" }) end
  local known = core.user_items(mr.lists(lists), int64(of_user), int64(items), 14, 5)
  local empty, one = core.user_items(mr.lists{}, int64{}, int64{}, 14, 5), int64{ 13 }
  local first = { 0, 0, 0, 0, 0 }
  for seed = 1, 400 do
    local drawn = core.sampled_lists(one, empty, known, 1, true, false, seed).items:totable()
    first[drawn[1]] = first[drawn[1]] + 1
  end
  equal({ first[3], first[4] }, { 0, 0 })
  -- 400 draws are expected as 282, 94 and 24 by the shares 12, 4 and 1 of 17; the limits are five standard deviations
  check(math.abs(first[1] - 282) < 46 and math.abs(first[2] - 94) < 43 and first[5] > 2, table.concat(first, " "))
  local rest = core.sampled_lists(one, empty, known, 10, true, false, 1).items:totable()
  table.sort(rest)
  equal(rest, { 1, 2, 5 })
end)

it("correct = true gives exact metrics if all items are sampled and an unbiased auc otherwise", function()
  local metrics = { "rr", "ap", "ndcg", "ndcg@10", "hit@5", "recall@5", "precision@5", "auc" }
  local model = models.item_knn
  local exact = {}  -- each relevant item of test alone, ranked against all items of the user that are in no part
  for l, user in ipairs(fold:evaluate(model, { "rr" }).users:totable()) do
    local unseen = catalogue(user, { train, valid, tested, low })
    for item = 1, ratings.items do
      if tested[user][item] then
        local items, grades = { item }, { 1 }
        for i, other in ipairs(unseen) do items[i + 1], grades[i + 1] = other, 0 end
        exact[#exact + 1] = { scores_of(model, user, items), mr.lists{ grades }, l }
      end
    end
  end
  local all = fold:evaluate(model, metrics, { candidates = "one", negatives = 1000, correct = true })
  equal(all.count, #exact)
  local sum = 0
  for i, each in ipairs(exact) do
    -- this list has ties, so the metric is that of the mean rank; below, lists with ties are left out
    local rank = each[2]:rank(each[1]):totable()[1]
    local one = mr.evaluate(each[2]:rank(each[1], { ties = "mean" }) * -1, each[2], metrics)
    sum = sum + one.auc[1]:item()
    local worst = mr.evaluate(each[1], each[2], { "auc" }, { ties = "worst" })
    if rank == math.floor(rank) and one.auc[1]:item() == worst.auc[1]:item() then
      for _, name in ipairs(metrics) do near(all[name .. "[corrected]"][i]:item(), one[name][1]:item(), 1e-6, name) end
    end
  end
  -- auc is linear in the rank, so its corrected estimate is unbiased: the mean over many seeds approaches the exact
  -- value
  local mean = 0
  for seed = 1, 60 do
    local few = fold:evaluate(model, { "auc" }, { candidates = "one", negatives = 5, correct = true, seed = seed })
    mean = mean + few.mean["auc[corrected]"] / 60
  end
  near(mean, sum / #exact, 0.01)
  local text = tostring(all)
  check(text:find("ndcg@10[corrected]", 1, true), text)
  raises(function() fold:evaluate(model, { "rr" }, { correct = true }) end, "correct", "candidates", "'one'")
  raises(function() fold:evaluate(model, { "err" }, { candidates = "one", correct = true }) end, "correction", "err")
end)

it("evaluations print candidates, known items and ties", function()
  local text = tostring(fold:evaluate(models.popularity, { "hit@5" }))
  local said = text:find("150 items", 1, true) and text:find("known = rated", 1, true)
  check(said and text:find("ties mean", 1, true), text)
  local options = { candidates = "one", negatives = 20, by = "popularity" }
  text = tostring(fold:evaluate(models.popularity, { "hit@5" }, options))
  check(text:find("20 sampled items (popularity, seed 1)", 1, true), text)
  check(text:find("full catalogue", 1, true), text)
end)

it("fold:evaluate accepts a function from a batch to scores and rejects invalid models", function()
  local own = fold:evaluate(function(batch) return models.mf(batch) end, names)
  for _, name in ipairs(names) do equal(own[name]:totable(), fold:evaluate(models.mf, names)[name]:totable(), name) end
  raises(function() fold:evaluate(function() return 3 end, names) end, "returned", "3")
  raises(function() fold:evaluate(function() return mr.zeros(3) end, names) end, "returned", "{3}")
  raises(function() fold:evaluate(mr.zeros(3), names) end, "model", "mr.Tensor", "users")
  raises(function() fold:evaluate(nil, names) end, "model", "nil")
  local linear = mr.models.linear{ inputs = 3 }
  raises(function() fold:evaluate(linear, names) end, "scores", "features")
  raises(function() fold:evaluate(mr.models.mf{ users = 40, items = 149 }, names) end, "fold", "items", "149", "150")
  raises(function() fold:evaluate(mr.models.mf{ users = 39, items = 150 }, names) end, "fold", "users", "39", "40")
  raises(function() fold:evaluate(models.mf, "rr") end, "fold:evaluate", "metrics", "'rr'")
  raises(function() fold:evaluate(models.mf, {}) end, "metrics", "empty")
end)

it("fold:evaluate and model:recommend give the same results on the GPU as on the CPU", function()
  if not mr.has_cuda() then return test.skip("no CUDA device") end
  local function model()
    return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 5, init = 0.5 }
  end
  local here, there = model():to("cpu"), model():to("cuda")
  local bounded = { "err", { "ap", bound = "expectation_max" }, table.unpack(names) }
  local one = { candidates = "one", negatives = 20 }
  local corrected = { candidates = "one", negatives = 20, correct = true }
  for _, options in ipairs{ {}, { ties = "worst" }, { candidates = "sampled", negatives = 20 }, one, corrected } do
    local metrics = options.correct and { "rr", "ndcg@10" } or bounded
    local a, b = fold:evaluate(here, metrics, options), fold:evaluate(there, metrics, options)
    equal(b.users:totable(), a.users:totable())
    for _, name in ipairs(a.names) do
      equal(b[name].device, "cpu")
      near(b[name]:totable(), a[name]:totable(), 1e-5, name)
    end
  end
  local a = here:recommend{ k = 7, seen = { fold.train, fold.valid } }
  local b = there:recommend{ k = 7, seen = { fold.train, fold.valid } }
  equal({ b.items.device, b.scores.device, b.items:totable() }, { "cpu", "cpu", a.items:totable() })
  near(b.scores:totable(), a.scores:totable(), 1e-6)
  -- with ties, lower row numbers come first; lists shorter than k give all their rows
  local lists = mr.lists{ { 0, 0, 0 }, {}, { 0 }, { 0, 0, 0, 0 } }
  local scores = mr.tensor({ 1, 2, 2, 5, -0.0, 0, -1, 0 }, { device = "cuda" })
  local top = core.top_rows(scores, lists, 3)
  equal({ top.rows:totable(), top.scores:totable(), top.sizes:totable() },
    { { 2, 3, 1, 4, 5, 6, 8 }, { 2.0, 2.0, 1.0, 5.0, 0.0, 0.0, 0.0 }, { 3, 0, 1, 3 } })
end)

it("fold:evaluate frees each block of users before the next one", on_cpu(function()
  local many = mr.data.synthetic{ kind = "ratings", users = 300, items = 20000, mean_activity = 8, seed = 3 }
  many = many:binarize(3)
  local held = {}
  many:folds{ k = 2, nsr = 0, valid = 0 }[1]:evaluate(function(batch)
    held[#held + 1] = core.held_bytes() / 1e6
    return mr.zeros(#batch.items)
  end, { "ndcg@10", "rr", "ap" })
  check(#held >= 4, #held)
  check(held[#held] < held[1] + 20, ("%.0f MB in the first block, %.0f in the last"):format(held[1], held[#held]))
end))

it("fold:evaluate checks options and metrics before it scores", function()
  local function evaluate(metrics, options) return function() fold:evaluate(models.popularity, metrics, options) end end
  raises(evaluate({ "ndgc" }), "ndgc", "ndcg")
  raises(evaluate({ "rr" }, { candidates = "all" }), "fold:evaluate", "candidates", "'all'")
  raises(evaluate({ "rr" }, { negatives = 5 }), "candidates = 'catalogue'", "negatives")
  raises(evaluate({ "rr" }, { candidates = "one", negatives = 0 }), "negatives", "0")
  raises(evaluate({ "rr" }, { part = "train" }), "fold:evaluate", "part", "train")
  raises(evaluate({ "rr" }, { blocks = 5 }), "fold:evaluate", "blocks")
end)

test.describe("recommendations", function()
  for name, model in pairs(models) do
    it("of " .. name .. " are the top items of the catalogue, lower numbers first among ties", function()
      local seen = { fold.train, fold.valid }
      local all = model:recommend{ k = 9, seen = seen, users = ratings.users, items = ratings.items }
      equal(#all.items, 9 * ratings.users)
      for user = 1, ratings.users, 7 do
        local items = catalogue(user, { train, valid, low })
        local scores, order = scores_of(model, user, items):totable(), {}
        for i = 1, #items do order[i] = i end
        table.sort(order, function(a, b)
          if scores[a] ~= scores[b] then return scores[a] > scores[b] end
          return a < b
        end)
        local found, values = all:of(user)
        for rank = 1, 9 do equal({ found[rank], values[rank] }, { items[order[rank]], scores[order[rank]] }) end
        local one = model:recommend{ user = user, k = 9, seen = seen, users = ratings.users, items = ratings.items }
        equal(one:of(user), found)
      end
    end)
  end

  it("contain all items if k is too large, print names, and reject invalid arguments", function()
    local all_items = models.popularity:recommend{ user = 1, k = 1000, seen = fold.train }
    equal(all_items.sizes:totable(), { #catalogue(1, { train, low }) })
    local function left(seen, known)
      return models.popularity:recommend{ user = 1, k = 1000, seen = seen, known = known }:of(1)
    end
    local function sorted(items) return table.sort(items) or items end
    equal(sorted(left(fold, "relevant")), catalogue(1, { train }))
    equal(sorted(left(fold, "none")), catalogue(1, {}))
    equal(sorted(left(ratings)), catalogue(1, { train, valid, tested, low }))
    equal(sorted(left({ ratings:binarize(4), fold.train })), catalogue(1, { train, valid, tested, low }))
    equal(sorted(left(ratings:binarize(4), "relevant")), catalogue(1, { train, valid, tested }))
    raises(function() left(ratings, "relevant") end, "'relevant'", "threshold")
    raises(function() left(ratings, "all") end, "known", "'all'")
    raises(function() left(mr.data.dataset{ lists = mr.lists{ { 1, 0 } }, users = core.arange(1, 1, 1, "int64", "cpu"),
      items = core.arange(1, 2, 1, "int64", "cpu") }) end, "known", "1 rows", "0")
    local function of_seven(user) return models.popularity:recommend{ user = user, seen = ratings }:of(7) end
    equal(of_seven(ratings.user_ids[7]), of_seven(7))
    local titles = {}
    for i = 1, ratings.items do titles[i] = "movie " .. i end
    local top = models.popularity:recommend{ user = 1, k = 2, names = titles }
    check(tostring(top):find("movie " .. top:of(1)[1], 1, true), tostring(top))
    check(tostring(models.mf:recommend{ k = 1 }):find("... and 30 more users", 1, true))
    -- all 40 users get the two most popular items
    local by_hand = mr.plot.lines{ y = { 40, 40 }, xlabel = "items", ylabel = "users" }
    local plot = models.popularity:recommend{ k = 2, users = ratings.users }:plot{ xlabel = "items" }
    equal(plot:script "svg", by_hand:script "svg")
    local name = fold.train.ids.users[7]
    equal(models.mf:recommend{ user = name, seen = fold }:of(7), models.mf:recommend{ user = 7, seen = fold }:of(7))
    raises(function() models.mf:recommend{ user = 1, known = "rated" } end, "'rated'", "seen")
    raises(function() models.mf:recommend{ user = 1, known = "relevant" } end, "known", "relevant", "seen")
    equal(#models.mf:recommend{ user = 1, known = "none" }:of(1), 10)
    raises(function() models.mf:recommend{ user = "nobody", seen = fold } end, "user", "nobody", "40")
    raises(function() models.mf:recommend{ user = name } end, "recommend", "user", "'" .. name .. "'")
    raises(function() models.mf:recommend{ user = 41 } end, "user", "41")
    raises(function() models.mf:recommend{ k = 0 } end, "k", "0")
    raises(function() models.random:recommend{ user = 1 } end, "users")
    raises(function() models.mf:recommend{ user = 1, seen = 3 } end, "seen", "3")
    raises(function() models.mf:recommend{ user = 1, seen = { fold.train, 3 } } end, "seen", "2", "3")
    raises(function() models.mf:recommend{ user = 1, seen = function() end } end, "seen", "function")
    equal(models.mf:recommend{ user = 1, seen = fold }:of(1), models.mf:recommend{ user = 1, seen = fold.train }:of(1))
    equal(models.mf:recommend{ user = 1, seen = { fold, fold.valid } }:of(1),
      models.mf:recommend{ user = 1, seen = { fold.train, fold.valid } }:of(1))
    raises(function() models.mf:recommend{ names = { "a", "b" } } end, "names", "2", tostring(ratings.items))
    raises(function() models.mf:recommend{ names = "movies.csv" } end, "names", "'movies.csv'")
    raises(function() top:of(2) end, "user", "2")
  end)
end)

it("fold:evaluate handles a catalogue of one item and rejects parts without relevant items", function()
  local function int64(t) return mr.tensor(t, { dtype = "int64" }) end
  local function part(lists, users, items, name)
    return mr.data.dataset{ lists = mr.lists(lists), users = int64(users), items = int64(items), name = name }
  end
  local new = require("moonrank.data.fold").new
  local function made(test_lists, users, items)
    local nothing = { train = part({}, {}, {}, "train"), valid = part({}, {}, {}, "valid") }
    return new{ train = nothing.train, valid = nothing.valid, test = part(test_lists, users, items, "test"),
      number = 1, k = 1, title = "by hand", users = 1, items = 1 }
  end
  local single = made({ { 1 } }, { 1 }, { 1 })
  equal(single:evaluate(mr.models.popularity{ fold = single }, { "rr" }).mean.rr, 1.0)
  equal(mr.models.item_knn{ fold = single }:recommend{ k = 3 }:of(1), { 1 })
  raises(function() made({ { 0 } }, { 1 }, { 1 }):evaluate(models.random, { "rr" }) end, "relevant", "item")
  local letor = new{ train = part({}, {}, {}, "train"), valid = 0, test = 0, number = 1, k = 1, title = "" }
  raises(function() letor:evaluate(models.random, { "rr" }) end, "fold", "users", "items")
  raises(function() mr.models.popularity{ fold = letor } end, "fold", "users", "items")
end)

it("mr.models.popularity scores items by their number of training users, for any user", function()
  local counts = {}
  for _, items in pairs(train) do
    for item in pairs(items) do counts[item] = (counts[item] or 0) + 1 end
  end
  local items = {}
  for i = 1, ratings.items do items[i] = i end
  for i, score in ipairs(scores_of(models.popularity, 3, items):totable()) do equal(score, (counts[i] or 0) + 0.0) end
end)

it("mr.models.item_knn gives the scores of a brute-force search over all pairs of items", function()
  local users_of = {}
  for item = 1, ratings.items do users_of[item] = {} end
  for user, items in pairs(train) do
    for item in pairs(items) do table.insert(users_of[item], user) end
  end
  local nearest = {}
  for i = 1, ratings.items do
    local all = {}
    for j = 1, ratings.items do
      local both = 0
      for _, user in ipairs(users_of[j]) do both = both + (train[user][i] and 1 or 0) end
      if j ~= i and both > 0 then all[#all + 1] = { j, both / (math.sqrt(#users_of[i] * #users_of[j]) + 2) } end
    end
    table.sort(all, function(a, b)
      if a[2] ~= b[2] then return a[2] > b[2] end
      return a[1] < b[1]
    end)
    nearest[i] = table.move(all, 1, math.min(7, #all), 1, {})
  end
  local items = {}
  for i = 1, ratings.items do items[i] = i end
  for user = 1, ratings.users, 5 do
    local scores = scores_of(models.item_knn, user, items):totable()
    for i = 1, ratings.items do
      local sum = 0
      for _, each in ipairs(nearest[i]) do sum = sum + (train[user] and train[user][each[1]] and each[2] or 0) end
      near(scores[i], sum, 1e-5)
    end
  end
end)

it("script models get batches with row_users and items in fold:evaluate and model:recommend", function()
  mr.models.define("spec_rows", {
    required = { users = "integer", items = "integer" },
    parameters = function(o) return { users = mr.zeros(o.users, 5), items = mr.zeros(o.items, 5) } end,
    forward = function(self, batch) return (self.users:rows(batch.row_users) * self.items:rows(batch.items)):sum(2) end,
  })
  local own = mr.models.spec_rows{ users = ratings.users, items = ratings.items }
  own:put{ users = models.mf:parameters()[1]:detach(), items = models.mf:parameters()[2]:detach() }
  for _, candidates in ipairs{ "catalogue", "sampled", "one" } do
    local found = fold:evaluate(own, { "ndcg@10", "rr" }, { candidates = candidates })
    near(found.rr, fold:evaluate(models.mf, { "rr" }, { candidates = candidates }).rr, 1e-12)
    equal({ found.part, #found.users }, { "test", found.count })
  end
  equal(own:recommend{ user = 3, k = 7 }:of(3), models.mf:recommend{ user = 3, k = 7 }:of(3))
end)
