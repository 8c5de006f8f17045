-- Tests bounds of pairwise losses on graded lists against all orders of small lists and plain loops.
local mr = require "moonrank"
local check_module = require "moonrank.check"
local says = require "tests.support.says"
local test = require "moonrank.test"
local describe, it, near, check, equal = test.describe, test.it, test.near, test.check, test.equal

local f64 = { dtype = "float64" }
local small = { { 1, 2, 3, 3, 5 }, { 0, 0, 1, 2, 2, 2 }, { 1, 1, 2 }, { 0, 1, 1, 0 }, { 2, 5, 5 },
  { 0, 0.5, 1, 1.5, 2, 9 }, { 4, 4 } }

-- Returns the number of wrongly ordered pairs of unequal grades. Equal scores count half.
local function wrong_pairs(scores, grades)
  local wrong = 0
  for i = 1, #grades do
    for j = 1, #grades do
      if grades[i] > grades[j] then
        wrong = wrong + (scores[i] < scores[j] and 1 or scores[i] == scores[j] and 0.5 or 0)
      end
    end
  end
  return wrong
end

-- Calls visit(scores) for every order of n rows.
local function each_order(n, visit, scores)
  scores = scores or {}
  if #scores == n then return visit(scores) end
  for score = 1, n do
    local free = true
    for _, taken in ipairs(scores) do free = free and taken ~= score end
    if free then
      scores[#scores + 1] = score
      each_order(n, visit, scores)
      scores[#scores] = nil
    end
  end
end

-- Returns how many of all orders have each number of wrong pairs.
local function counts_of(grades)
  local counts, orders = {}, 0
  each_order(#grades, function(scores)
    local wrong = wrong_pairs(scores, grades)
    counts[wrong], orders = (counts[wrong] or 0) + 1, orders + 1
  end)
  return counts, orders
end

-- Returns grades 1 to 5 of n rows, like star ratings.
local function ratings(n, seed)
  local grades = mr.uniform({ n }, { seed = seed }):totable()
  for i, u in ipairs(grades) do grades[i] = 1 + math.floor(5 * u) end
  return grades
end

describe("bounds of wrong_pairs on graded lists", function()
  it("have the statistics over all orders", function()
    for _, grades in ipairs(small) do
      local counts, orders = counts_of(grades)
      local least, most, mean, square = math.huge, -1, 0, 0
      for wrong, count in pairs(counts) do
        least, most, mean = math.min(least, wrong), math.max(most, wrong), mean + wrong * count / orders
        square = square + wrong * wrong * count / orders
      end
      local of, name = mr.bounds.of("wrong_pairs", { grades = grades }), table.concat(grades, " ")
      equal({ of.min, of.max, of.best }, { least, most, 0 }, name)
      near(of.expectation, mean, 1e-12, name)
      near(of.sd ^ 2, square - mean * mean, 1e-10, name)
    end
  end)

  it("have the distribution over all orders, also with weighted orders", function()
    for _, grades in ipairs(small) do
      local counts, orders = counts_of(grades)
      local d = mr.bounds.distribution("wrong_pairs", { grades = grades })
      local values, weights = d:pmf()
      weights = weights:totable()
      for i, value in ipairs(values:totable()) do near(weights[i], (counts[value] or 0) / orders, 1e-12) end
      local sampled = mr.bounds.distribution("wrong_pairs", { grades = grades, method = "sampled", samples = 4000 })
      near(sampled:mean(), d:mean(), 0.2)
    end
    local weighted = { grades = { 1, 2, 2, 3, 5 }, beta = 0.7 }
    local exact = mr.bounds.distribution("wrong_pairs", weighted)
    weighted.method, weighted.samples = "sampled", 20000
    local sampled = mr.bounds.distribution("wrong_pairs", weighted)
    near(exact:mean(), sampled:mean(), 0.05)
    near(exact:sd(), sampled:sd(), 0.05)
  end)

  it("are enumerated or use a characteristic function on long lists", function()
    for n, method in pairs{ [290] = "enumerated", [310] = "characteristic function" } do
      local grades = ratings(n, n)
      local of = mr.bounds.of("wrong_pairs", { grades = grades })
      local d = mr.bounds.distribution("wrong_pairs", { grades = grades })
      equal(d:method(), method)
      near(d:mean() / of.expectation, 1, 1e-9)
      near(d:sd() / of.sd, 1, 1e-9)
      -- the distribution is nearly normal, and symmetric
      near(d:cdf(of.expectation + of.sd), 0.8413, 2e-3)
      near((d:smooth(of.expectation + of.sd)) + (d:smooth(of.expectation - of.sd)), 1, 1e-6)
    end
  end)

  it("count pairs like a double loop and equal nrbp_loss for grades 0 and 1", function()
    for _, n in ipairs{ 0, 1, 2, 7, 40, 300 } do
      local grades = ratings(n, n)
      for _, scores in ipairs{ mr.normal({ n }, { seed = n, dtype = "float64" }), mr.tensor(ratings(n, n + 1), f64) } do
        local expected = wrong_pairs(scores:totable(), grades)
        near(mr.metrics.wrong_pairs(scores, mr.lists{ grades }):item(), expected, 0, n)
        near(mr.metrics.wrong_pairs(scores:float(), mr.lists{ grades }):item(), expected, 0, n)
        local binary = {}
        for i, grade in ipairs(grades) do binary[i] = grade > 3 and 1 or 0 end
        local lists = mr.lists{ binary }
        equal(mr.metrics.wrong_pairs(scores, lists):item(), mr.metrics.nrbp_loss(scores, lists):item())
      end
    end
  end)
end)

describe("pairwise losses on graded lists", function()
  -- lists like star ratings: all grades are 1 or more
  local rows = { ratings(9, 1), ratings(20, 2), { 3, 3 }, { 5, 4, 3 }, { 2, 1, 1 } }
  local lists = mr.lists(rows)
  local x = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })

  it("count the same lists with a bound as without", function()
    for _, name in ipairs{ "ranknet", "hinge", "direct_ranker" } do
      for _, bound in ipairs(mr.bounds.names()) do
        equal(mr.losses[name]{ bound = bound }:count(lists), 4, name .. " " .. bound)
      end
      equal(mr.losses[name]{ bound = "minmax", metric = "nrbp_loss" }:count(lists), 0)
    end
  end)

  it("are means over pairs of unequal grades under minmax", function()
    local plain = mr.losses.ranknet{}(x, lists):totable()
    local bounded = mr.losses.ranknet{ bound = "minmax" }(x, lists):totable()
    for l, grades in ipairs(rows) do
      local pairs_of_list = 0
      for i = 1, #grades do
        for j = 1, #grades do pairs_of_list = pairs_of_list + (grades[i] > grades[j] and 1 or 0) end
      end
      near(bounded[l], pairs_of_list > 0 and plain[l] / pairs_of_list or 0, 1e-12)
    end
  end)

  it("use the slope of the distribution at the current number of wrong pairs", function()
    local loss, values = mr.losses.ranknet{ bound = "distribution" }, mr.losses.ranknet{}(x, lists):totable()
    local bounded, scores, at = loss(x, lists):totable(), x:totable(), 0
    for l, grades in ipairs(rows) do
      local wrong = wrong_pairs({ table.unpack(scores, at + 1, at + #grades) }, grades)
      at = at + #grades
      local slope = 0
      if l ~= 3 then
        local d = mr.bounds.distribution("wrong_pairs", { grades = grades })
        local _, derivative = d:smooth(wrong, { tabled = true })
        slope = derivative
      end
      near(bounded[l], values[l] * slope, 1e-6)
    end
  end)
end)

describe("bounds of losses with a relevant option", function()
  local rows = { { 3, 1, 2, 1, 4 }, { 1, 1, 5 }, { 2, 2, 1 }, { 4, 5 } }
  local binary = {}
  for l, grades in ipairs(rows) do
    binary[l] = {}
    for i, grade in ipairs(grades) do binary[l][i] = grade >= 3 and 1 or 0 end
  end
  local graded, relevant = mr.lists(rows), mr.lists(binary)
  local x = mr.normal({ graded.rows }, { seed = 8, dtype = "float64" })

  it("equal the bounds of lists with grades 0 and 1", function()
    for _, name in ipairs{ "climf", "tfmap" } do
      for _, bound in ipairs{ "minmax", "zscore", "distribution" } do
        local above = mr.losses[name]{ relevant = 3, bound = bound }
        near(above(x, graded), mr.losses[name]{ bound = bound }(x, relevant), 1e-12, name .. " " .. bound)
        equal(above:count(graded), 2)
      end
    end
    for _, name in ipairs{ "ap", "rr", "nrbp(0.8)", "precision@2", "nrbp_loss" } do
      local options = { relevant = 3, p = name:find "p%(" and 0.8 or nil, k = name:find "@" and 2 or nil }
      local of, with = mr.metrics.parse(name), mr.metrics.parse(name:gsub("[(@].*", ""), options)
      check(with.closed_forms, name)
      near(mr.bounds.stats(with, graded).expectation, mr.bounds.stats(of, relevant).expectation, 0, name)
    end
  end)
end)

it("mr.bounds of ndcg with linear gain gives the closed-form statistics over all orders", function()
  for _, grades in ipairs{ { 3, 1, 2, 0 }, { 0, 1, 1, 0, 4 }, { 2, 2, 0 }, { 3, 1, 2 } } do
    local gained, count = {}, 0
    local function dcg(order)
      local sum = 0
      for i, grade in ipairs(order) do sum = sum + grade / math.log(1 + i, 2) end
      return sum
    end
    local best = table.move(grades, 1, #grades, 1, {})
    table.sort(best, function(a, b) return a > b end)
    each_order(#grades, function(scores)
      local order = {}
      for i, score in ipairs(scores) do order[score] = grades[i] end
      count = count + 1
      gained[count] = dcg(order) / dcg(best)
    end)
    local mean, square = 0, 0
    for _, value in ipairs(gained) do mean, square = mean + value / count, square + value * value / count end
    local metric = mr.metrics.ndcg{ gain = "linear" }
    local of = mr.bounds.of(metric, { grades = grades })
    equal(of.method, "closed form")
    near({ of.min, of.max, of.expectation }, { math.min(table.unpack(gained)), 1, mean }, 1e-12)
    near(of.sd ^ 2, square - mean * mean, 1e-12)
    local d = mr.bounds.distribution(metric, { grades = grades })
    near({ d:mean(), d:sd(), d:min() }, { of.expectation, of.sd, of.min }, 1e-9)
  end
end)

describe("mr.fit", function()
  local function warnings_of(work)
    local warn, found = check_module.warn, {}
    check_module.warn = function(text) found[#found + 1] = text end
    local ok, message = pcall(work)
    check_module.warn = warn
    check(ok, message)
    return found
  end
  local function data(more)
    local relevance = { table.unpack(more) }
    for l = 1, 20 do relevance[#relevance + 1] = ratings(6, 40 + l) end
    local lists = mr.lists(relevance)
    return mr.data.dataset{ lists = lists, features = mr.normal({ lists.rows, 3 }, { seed = 1 }) }
  end
  local function fit(train, loss)
    return warnings_of(function()
      mr.fit{ model = mr.models.linear{ inputs = 3 }, loss = loss, train = train, epochs = 1, progress = false }
    end)
  end

  it("warns with count and reason if a loss leaves out more than 5 % of the lists", function()
    local found = fit(data{ { 2, 2, 2 }, { 1 } }, mr.losses.ranknet{})
    equal(#found, 1)
    says(found[1], "ranknet", "2 of 22", "1 have equal grades", "1 have fewer than two rows")
    found = fit(data{ { 0, 0, 1 } }, mr.losses.ap{ bound = "minmax" })
    check(found[1]:find("20 of 21", 1, true) and found[1]:find("grade 1", 1, true), found[1])
  end)

  it("does not warn if a loss leaves out at most 5 % of the lists", function()
    equal(fit(data{ { 2, 2, 2 } }, mr.losses.ranknet{ bound = "minmax" }), {})
    equal(fit(data{ { 2, 2, 2 }, { 1 } }, mr.losses.listnet{}), {})
  end)
end)

it("mr.losses.ranknet on MovieLens counts all users with different ratings under a bound", function()
  local folder = (os.getenv "MOONRANK_DATA" or "../shared/data") .. "/ml-latest-small"
  if not io.open(folder .. "/ratings.csv.gz") then return test.skip("no " .. folder) end
  local fold = mr.data.movielens(folder):folds{ k = 5, by = "user", seed = 1, grades = true }[1]
  equal({ fold.train.lists.count, mr.losses.ranknet{ bound = "minmax" }:count(fold.train.lists) }, { 610, 609 })
end)
