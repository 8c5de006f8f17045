-- Tests degenerate lists, whose metric is equal for every ordering: every metric and cutoff under every bound, against
-- all orders of small lists.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local f64 = { dtype = "float64" }

mr.metrics.define("spec_gain", function(ranks, lists) return lists:mean(lists.relevance / ranks) end)
mr.metrics.define("spec_share", function(_, lists) return lists:mean(lists.relevance) end)
mr.metrics.define("spec_top_two", function(ranks, lists) return lists:sum(lists.relevance * ranks:le(2)) end)
mr.metrics.define("spec_low", function(ranks, lists) return lists:mean(ranks * lists.relevance:eq(0)) end,
  { direction = "minimize" })

local names = { "ap", "rr", "rbp(0.8)", "nrbp(0.8)", "nrbp_loss", "wrong_pairs", "ndcg", "dcg", "err", "auc", "bpref",
  "r_precision", "spec_gain", "spec_share", "spec_top_two", "spec_low" }
local cut = { "ndcg", "dcg", "ap", "rr", "rbp(0.8)", "nrbp(0.8)", "err", "precision", "recall", "f1", "hit" }
local bound_names = { "none", "minmax", "expectation", "expectation_max", "zscore", "distribution",
  "distribution_log", "distribution_logit" }
for k = 1, 5 do
  for _, base in ipairs(cut) do names[#names + 1] = ("%s@%d"):format(base, k) end
end

-- All multisets of up to four grades from 0, 1, 2, and of five and six grades from 0, 1.
local shapes = {}
local function collect(grades, most_rows, most_grade)
  shapes[#shapes + 1] = { table.unpack(grades) }
  if #grades == most_rows then return end
  for grade = 0, math.min(most_grade, grades[#grades]) do
    grades[#grades + 1] = grade
    collect(grades, most_rows, most_grade)
    grades[#grades] = nil
  end
end
for top = 0, 2 do collect({ top }, 4, 2) end
for n = 5, 6 do
  for p = 0, n do
    shapes[#shapes + 1] = {}
    for i = 1, n do shapes[#shapes][i] = i <= p and 1 or 0 end
  end
end
shapes[#shapes + 1] = {}

-- Returns all distinct orders of some grades.
local function orders_of(grades)
  local left, order, all = {}, {}, {}
  for _, grade in ipairs(grades) do left[grade] = (left[grade] or 0) + 1 end
  local function place()
    if #order == #grades then all[#all + 1] = { table.unpack(order) } end
    for grade = 0, 2 do
      if (left[grade] or 0) > 0 then
        left[grade], order[#order + 1] = left[grade] - 1, grade
        place()
        left[grade], order[#order] = left[grade] + 1, nil
      end
    end
  end
  place()
  return all
end

-- For each multiset of grades, a list for every order of its grades, and scores that rank the rows in this order.
local orders = {}
for l, grades in ipairs(shapes) do
  orders[l] = { lists = mr.lists(orders_of(grades)), scores = {} }
  for i = 1, orders[l].lists.rows do orders[l].scores[i] = -i end
  orders[l].scores = mr.tensor(orders[l].scores, f64)
end

local function of_every_order(name, l)
  if #shapes[l] == 0 then return { 0 } end
  return mr.metrics.parse(name)(orders[l].scores, orders[l].lists):totable()
end

-- Returns true if the values differ, and the first value (0 if the metric is undefined).
local function spread(values)
  local low, high = math.huge, -math.huge
  for _, v in ipairs(values) do low, high = math.min(low, v), math.max(high, v) end
  local one = values[1] == values[1] and values[1] or 0
  return high - low > 1e-9, one
end

local lists = mr.lists(shapes)

describe("degenerate lists", function()
  it("are the lists whose metric is constant over all orders, for every metric and cutoff", function()
    for _, name in ipairs(names) do
      local weights, stats = mr.bounds.weights(name, lists):totable(), mr.bounds.stats(name, lists).degenerate:totable()
      for l, grades in ipairs(shapes) do
        local matters = spread(of_every_order(name, l))
        local where = ("%s of {%s}"):format(name, table.concat(grades, ", "))
        equal({ weights[l], stats[l] }, matters and { 1.0, 0.0 } or { 0.0, 1.0 }, where)
      end
    end
  end)

  local bounds = { mr.bounds.weighted("minmax", { cap = 3 }),
    mr.bounds.distribution_bound{ steepness = "samples", samples = 500 },
    mr.bounds.resolve(function(score, stats) return (score - stats.min) / (stats.max - stats.min) end) }
  for _, name in ipairs(bound_names) do bounds[#bounds + 1] = mr.bounds.resolve(name) end

  for _, dtype in ipairs{ "float32", "float64" } do
    it("have value 0 and no gradient under every bound, and other lists are finite, in " .. dtype, function()
      for _, name in ipairs(names) do
        local scores, matters = {}, {}
        for l in ipairs(shapes) do matters[l], scores[l] = spread(of_every_order(name, l)) end
        for _, bound in ipairs(bounds) do
          local leaf = mr.tensor(scores, { dtype = dtype }):requires_grad()
          local value = bound.apply(leaf, name, lists)
          value:sum():backward()
          local values, slopes = value:totable(), leaf.grad:totable()
          for l in ipairs(shapes) do
            local v, slope = values[l], slopes[l]
            local good = matters[l] and v - v == 0 and slope - slope == 0 or not matters[l] and v == 0 and slope == 0
            local where = ("%s under %s of {%s}"):format(name, bound.name, table.concat(shapes[l], ", "))
            check(good, ("%s: %g with slope %g"):format(where, v, slope))
          end
        end
      end
    end)
  end

  it("have slope 0 under every bound", function()
    for _, bound in ipairs(bounds) do
      for _, name in ipairs{ "precision@5", "recall@3", "f1@4", "hit@2" } do
        local weights, slopes = mr.bounds.weights(name, lists):totable(), mr.bounds.slopes(bound, name, lists):totable()
        for l in ipairs(shapes) do
          check(slopes[l] - slopes[l] == 0 and (weights[l] == 1 or slopes[l] == 0), bound.name .. " " .. name)
        end
      end
    end
  end)
end)

-- Precision at 5 from smooth ranks: relevant rows with a rank below 5.5 count nearly 1.
local function smooth_precision(s, l) return l:sum((5.5 - mr.smooth.rank(s, l)):sigmoid() * l.relevance:ge(1)) / 5 end

describe("a loss with a cutoff", function()
  -- like MQ2008: most lists have at most ten rows, some are long
  local data = mr.data.synthetic{ kind = "queries", queries = 60, mean_size = 9, features = 4, seed = 2 }
  data = data:to(mr.device())

  it("counts lists with more rows than the cutoff, and learns under every bound", function()
    mr.losses.define("spec_precision", { direction = "maximize", metric = "precision@5", smooth = smooth_precision })
    local sizes, relevant, expected = data.lists.sizes:totable(), data.lists.relevant:totable(), 0
    for l, n in ipairs(sizes) do
      if n > 5 and relevant[l] > 0 and relevant[l] < n then expected = expected + 1 end
    end
    check(expected > 10 and expected < 50)
    for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max", "zscore", "distribution",
      "distribution_logit" } do
      local loss = mr.losses.spec_precision{ bound = bound }
      equal(loss:count(data.lists), expected)
      local model = mr.models.linear{ inputs = 4, seed = 3 }
      local function value() return loss:mean(model({ lists = data.lists, features = data.features }), data.lists) end
      local before = value():item()
      mr.fit{ model = model, loss = loss, train = data, epochs = 3, optimizer = mr.optim.adam{ lr = 0.05 },
        metrics = { "precision@5" } }
      check(value():item() < before, bound)
    end
  end)

  it("calls its smooth metric and bound only with lists that are not degenerate", function()
    local seen
    mr.losses.define("spec_watched", { direction = "maximize", metric = "precision@2", smooth = function(s, l)
      seen = l.sizes:totable()
      return l:sum(s * l.relevance) / l:sum(l.relevance * 0)  -- infinite
    end })
    local some = mr.lists{ { 1, 0 }, { 1, 0, 0 }, { 1, 1, 1 }, { 0, 1 } }
    local scores = mr.ones(some.rows, f64):requires_grad()
    local value = mr.losses.spec_watched()(scores, some)
    equal(seen, { 3 })
    equal({ value:totable()[1], value:totable()[3], value:totable()[4] }, { 0.0, 0.0, 0.0 })
    mr.losses.define("spec_unbounded", { direction = "maximize", smooth = mr.smooth.ndcg })
    local divided = mr.losses.spec_unbounded{ bound = function(score) return 1 / score end }
    value = divided(scores, mr.lists{ { 1, 0 }, { 0, 0, 0 }, { 1, 1, 1 }, { 0, 1 } })
    value:sum():backward()
    equal({ value:totable()[2], value:totable()[3] }, { 0.0, 0.0 })
    near(scores.grad:narrow(1, 3, 6), { 0, 0, 0, 0, 0, 0 }, 0)
  end)

  it("is refused if random orders all give one value of its metric, or NaN", function()
    mr.metrics.define("spec_perfect", function(ranks, l)
      local p = l:sum(l.relevance)
      return l:sum(l.relevance * ranks:le(l:spread(p))):ge(p)
    end)
    local grades = {}
    for i = 1, 60 do grades[i] = i <= 20 and 1 or 0 end
    local one = mr.lists{ grades }
    equal(mr.bounds.weights("spec_perfect", one):totable(), { 1.0 })
    local function bounded(bound)
      return mr.bounds.resolve(bound).apply(mr.tensor({ 0.25 }, f64), "spec_perfect", one):item()
    end
    equal({ bounded "none", bounded "minmax" }, { 0.25, 0.25 })
    for _, bound in ipairs{ "expectation", "expectation_max", "zscore", "distribution", "distribution_logit" } do
      raises(function() bounded(bound) end, "'spec_perfect'", "20000", "0")
    end
    mr.metrics.define("spec_broken", function(ranks, l) return l:max(l.relevance / (ranks - 1)) end)
    raises(function() mr.bounds.of("spec_broken", { n = 3, p = 1 }) end, "'spec_broken'", "NaN")
  end)
end)
