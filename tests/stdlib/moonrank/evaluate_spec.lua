-- Tests mr.evaluate: several metrics of one ranking, means over the lists that count, and the printed line of
-- conventions.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local lists = mr.lists{ { 0, 1 }, { 0, 0 }, { 2, 0, 1 } }
local scores = mr.tensor({ 2, 1, 2, 1, 3, 2, 1 }, f64)

it("mr.evaluate gives the same values as each metric alone", function()
  local names = { "ndcg", "ndcg@2", "ap", "nrbp(0.95)", "auc", "recall@1" }
  local result = mr.evaluate(scores, lists, names)
  for _, name in ipairs(names) do
    local values = mr.metrics.parse(name)(scores, lists)
    near(result[name], values, 0, name)
    local expected = values:totable()
    near(result.mean[name], (expected[1] + expected[3]) / 2, 1e-14, name)
    equal({ result.counted[name], result.skipped[name] }, { 2, 1 }, name)
  end
  equal({ result.count, #result.names }, { 3, 6 })
end)

it("mr.evaluate leaves lists without relevant rows out of every mean and gives NaN for them", function()
  local result = mr.evaluate(scores, lists, { "rr", "precision@1" })
  near(result.rr, { 0.5, 0 / 0, 1 })
  near(result["precision@1"], { 0, 0 / 0, 1 })
  near(mr.stats.mean(result.rr), result.mean.rr, 0)
  equal({ result.mean.rr, result.counted.rr, result.skipped.rr }, { 0.75, 2, 1 })
end)

it("mr.evaluate counts lists without relevant rows by the option empty", function()
  near(mr.evaluate(scores, lists, { "rr" }, { empty = "zero" }).mean.rr, 0.5)
  near(mr.evaluate(scores, lists, { "rr" }, { empty = "one" }).mean.rr, 2.5 / 3)
  local nan = mr.evaluate(scores, lists, { "rr" }, { empty = "nan" })
  near(nan.mean.rr, 0 / 0)
  equal({ nan.counted.rr, nan.skipped.rr }, { 2, 1 })
  near(mr.evaluate(scores, lists, { "rr" }, { relevant = 2 }).rr, { 0 / 0, 0 / 0, 1 })
end)

it("mr.evaluate passes an option only to the metrics that take it", function()
  local o = { gain = "linear", denominator = "cutoff", ties = "worst" }
  local result = mr.evaluate(scores, lists, { "ndcg", "rr", "ap@1" }, o)
  near(result.ndcg, mr.metrics.ndcg(scores, lists, { gain = "linear" }))
  near(result["ap@1"], { 0, 0 / 0, 1 })
end)

it("mr.evaluate takes metrics with their own options and names, and refuses duplicate names", function()
  local linear = mr.metrics.parse("ndcg", { gain = "linear", name = "ndcg_linear" })
  local result = mr.evaluate(scores, lists, { "ndcg", linear, mr.metrics.rr{ ties = "worst" } })
  near(result.ndcg_linear, linear(scores, lists))
  check(math.abs(result.mean.ndcg - result.mean.ndcg_linear) > 1e-3)
  raises(function() mr.evaluate(scores, lists, { "ndcg", mr.metrics.ndcg{ gain = "linear" } }) end,
    "mr.evaluate", "'ndcg'")
  raises(function() mr.evaluate(scores, lists, { mr.metrics.parse("rr", { name = "mean" }) }) end,
    "mr.evaluate", "'mean'")
end)

it("mr.evaluate gives metrics under affine bounds from the minimum, maximum and mean over all orders", function()
  local names = { "ndcg", "ap", "rr", "nrbp", "nrbp_loss", "ndcg@2" }
  -- computes the metric for every order of a list
  local function all_orders(metric, list)
    local values, order = {}, {}
    for i = 1, #list do order[i] = i end
    local function permute(n)
      if n == 0 then
        values[#values + 1] = metric(mr.tensor(order, f64), mr.lists{ list }):item()
        return
      end
      for i = 1, n do
        order[i], order[n] = order[n], order[i]
        permute(n - 1)
        order[i], order[n] = order[n], order[i]
      end
    end
    permute(#list)
    local low, high, sum = math.huge, -math.huge, 0
    for _, v in ipairs(values) do low, high, sum = math.min(low, v), math.max(high, v), sum + v end
    return low, high, sum / #values
  end
  local of = {
    minmax = function(v, low, high) return (v - low) / (high - low) end,
    expectation = function(v, _, _, mean) return v / mean end,
    expectation_max = function(v, low, high, mean, minimize)
      return (v - mean) / math.abs((minimize and low or high) - mean)
    end,
  }
  local some = mr.lists{ { 0, 1, 0 }, { 0, 0 }, { 1, 0, 1, 0, 0 }, { 1, 1 } }
  local x = mr.tensor({ 2, 1, 3, 1, 2, 3, 1, 2, 5, 4, 1, 2 }, f64)
  local asked = {}
  for _, name in ipairs(names) do
    for bound in pairs(of) do asked[#asked + 1] = { name, bound = bound } end
  end
  local result = mr.evaluate(x, some, asked)
  for _, name in ipairs(names) do
    local metric = mr.metrics.parse(name)
    local plain = metric(x, some):totable()
    for bound, f in pairs(of) do
      local found = result[("%s[%s]"):format(name, bound)]:totable()
      check(found[2] ~= found[2] and found[4] ~= found[4], "lists on which nothing matters")
      for l, list in pairs{ [1] = { 0, 1, 0 }, [3] = { 1, 0, 1, 0, 0 } } do
        local low, high, mean = all_orders(metric, list)
        near(found[l], f(plain[l], low, high, mean, metric.minimize), 1e-12, name .. " " .. bound)
      end
      equal(result.counted[("%s[%s]"):format(name, bound)], 2)
    end
  end
  check(tostring(result):find("ndcg@2[minmax]", 1, true))
end)

it("mr.evaluate ranks once for all metrics with the same rule for ties", function()
  local core = require "moonrank.core"
  local ranking, calls = core.ranking, 0
  core.ranking = function(...)
    calls = calls + 1
    return ranking(...)
  end
  local ok = pcall(mr.evaluate, scores, lists, { "ndcg", "ap", "rr", "auc", mr.metrics.err{ ties = "stable" } })
  core.ranking = ranking
  check(ok)
  equal(calls, 2)
end)

it("mr.evaluate prints an aligned table and its conventions", function()
  local text = tostring(mr.evaluate(mr.tensor{ 2, 1 }, mr.lists{ { 0, 1 } }, { "rr", "ndcg@10" }))
  equal(text, table.concat({ "metric     mean  lists  skipped", "-------  ------  -----  -------",
    "rr       0.5000      1        0", "ndcg@10  0.6309      1        0",
    "gain exp2; ties mean; empty lists skip; cutoff none (rr), 10 (ndcg@10); relevant 1" }, "\n"))
  text = tostring(mr.evaluate(scores, lists, { "ap", mr.metrics.rr{ ties = "worst", relevant = 0.5 } }))
  equal(text:match("[^\n]*$"),
    "gain none; ties mean (ap), worst (rr); empty lists skip; cutoff none; relevant 1 (ap), 0.5 (rr); " ..
    "denominator relevant")
end)

it("mr.evaluate gives NaN for no lists and takes no metrics", function()
  local result = mr.evaluate(mr.tensor({}, f64), mr.lists{ relevance = {}, sizes = {} }, { "ndcg" })
  near(result.mean.ndcg, 0 / 0)
  equal({ result.count, result.counted.ndcg, result.skipped.ndcg }, { 0, 0, 0 })
  equal(#mr.evaluate(scores, lists, {}).names, 0)
end)

it("mr.evaluate takes 'ndcg@2[minmax]' as the name of a metric under a bound", function()
  local by_table = mr.evaluate(scores, lists, { { "ndcg@2", bound = "minmax" } })
  for _, name in ipairs{ "ndcg@2[minmax]", "ndcg@2:minmax", by_table.metrics[1] } do
    local found = mr.evaluate(scores, lists, { name })
    equal(found.names, { "ndcg@2[minmax]" })
    equal(found["ndcg@2[minmax]"]:totable(), by_table["ndcg@2[minmax]"]:totable())
  end
  equal(mr.evaluate(scores, lists, { "map[minmax]" }).names, { "ap[minmax]" })
end)

it("mr.evaluate refuses unknown metrics, bounds and options, and wrong scores or lists", function()
  raises(function() return mr.evaluate(scores, lists, { "rr" }).ndcg end, "'ndcg'", "metric")
  raises(function() mr.evaluate(scores, lists, "rr") end, "'rr'", "metrics")
  raises(function() mr.evaluate(scores, lists, { "rr[logit]" }) end, "'logit'", "bound")
  local model, queries = mr.models.linear{ inputs = 20 }, mr.data.synthetic{ kind = "queries", queries = 3 }
  raises(function() mr.evaluate(model, queries.lists, { "rr" }) end,
    "scores", "model(batch)", "fold:evaluate(model, metrics)")
  raises(function() mr.evaluate({ 1, 2 }, lists, { "rr" }) end, "scores", "{1, 2}")
  raises(function() mr.evaluate(scores, queries, { "rr" }) end, "lists", "mr.Dataset", "data.lists")
  raises(function() mr.evaluate(scores, { train = queries }, { "rr" }) end, "lists", "table", "fold.test.lists")
  raises(function() mr.evaluate(scores, scores, { "rr" }) end, "lists", "mr.lists", "{...}")
  raises(function() mr.evaluate(scores, nil, { "rr" }) end, "lists", "nil")
  raises(function() mr.evaluate(scores, lists, { "ndgc" }) end, "'ndgc'", "'ndcg'")
  raises(function() mr.evaluate(scores, lists, { "rr" }, { tie = "mean" }) end, "'tie'", "'ties'")
  raises(function() mr.evaluate(scores, lists, { { "rr", bound = "logit" } }) end, "'logit'", "bound")
  raises(function() mr.evaluate(scores, lists, { { "rr" } }) end, "metrics", "{name, bound = name}", "bound")
  raises(function() mr.evaluate(scores, lists, { { "rr", bounds = "minmax" } }) end, "'bounds'", "metric")
  raises(function() mr.evaluate(scores, lists, { { "ndgc", bound = "minmax" } }) end, "'ndgc'", "'ndcg'")
  raises(function() mr.evaluate(scores, lists, { "rr" }, { k = 5 }) end, "'k'")
  raises(function() mr.evaluate(mr.tensor{ 1, 2, 0 / 0, 4, 5, 6, 7 }, lists, { "rr" }) end, "scores", "NaN", "3")
  raises(function() mr.evaluate(mr.tensor{ 1, 2 }, lists, { "rr" }) end, "scores", "2", "lists", "7")
end)

it("mr.evaluate exports a table, CSV, JSON and LaTeX", function()
  local found = mr.evaluate(mr.tensor{ 3, 2, 1, 1 }, mr.lists{ { 0, 1 }, { 0, 0 } }, { "rr", "ndcg@1" })
  equal(found:table().rows, { { "rr", 0.5, 1, 1 }, { "ndcg@1", 0.0, 1, 1 } })
  equal(found:to_csv(), "metric,mean,lists,skipped\nrr,0.5,1,1\nndcg@1,0,1,1\n")
  equal(found:to_json():match "^%b[]$" ~= nil, true)
  equal(found:to_latex(), found:table():to_latex())
end)

it("mr.evaluate plots the distribution over lists, without lists that are NaN", function()
  local found = mr.evaluate(mr.tensor{ 3, 2, 1, 1, 2, 1 }, mr.lists{ { 0, 1 }, { 0, 0 }, { 1, 0 } }, { "rr", "ndcg@1" })
  local by_hand = mr.plot.ecdf{ xlabel = "value of the metric", ylabel = "share of lists", title = "spread",
    series = { { name = "rr", values = { 0.5, 1 } }, { name = "ndcg@1", values = { 0, 1 } } } }
  equal(found:plot{ title = "spread" }:script "svg", by_hand:script "svg")
  raises(function() mr.evaluate(mr.tensor{ 1, 2 }, mr.lists{ { 0, 0 } }, { "rr" }):plot() end, "NaN", "'rr'")
end)
