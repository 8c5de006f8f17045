-- Tests exact metrics against reference values, against enumeration of the orders of tied rows, and at limits of their
-- arguments.
local mr = require "moonrank"
local json = dofile("tests/support/json.lua")
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local golden = json.read("tests/golden/metrics.json")
local f64 = { dtype = "float64" }
-- Metrics that have no value without a cutoff.
local needs_k = { precision = true, recall = true, hit = true, f1 = true, letor_ndcg = true }

-- Converts metric names of the reference files ("p@3", "rbp_0.5", "nrbp_0.95") into Moonrank's. Returns nil for idcg,
-- which Moonrank does not have.
local function our_name(key)
  local name = key:gsub("^p@", "precision@"):gsub("^(n?rbp)_([%d.]+)$", "%1(%2)")
  return name ~= "idcg" and name or nil
end

local function compare(values, scores, lists, options)
  for key, expected in pairs(values) do
    local name = our_name(key)
    if name and expected ~= json.null then
      near(mr.metrics.parse(name, options)(scores, lists):item(), expected, 1e-13, name)
    elseif name then
      local value = mr.metrics.parse(name, options)(scores, lists):item()
      check(value ~= value, name .. " of a list without relevant rows is NaN")
    end
  end
end

describe("mr.metrics", function()
  for _, case in ipairs(golden.ranked) do
    it("agree with the reference: " .. case.name, function()
      local scores = {}
      for i = 1, #case.relevance do scores[i] = -i end
      local lists = mr.lists{ case.relevance }
      for _, ties in ipairs{ "mean", "stable", "worst" } do
        compare(case.values, mr.tensor(scores, f64), lists, { ties = ties })
      end
    end)
  end

  for _, case in ipairs(golden.tied) do
    it("agree with the reference under ties: " .. case.name, function()
      local lists, scores = mr.lists{ case.relevance }, mr.tensor(case.scores, f64)
      compare(case.stable, scores, lists, { ties = "stable" })
      compare(case.expected_over_ties, scores, lists)
      local order = lists:order(scores):totable()
      for i, row in ipairs(case.order_stable) do equal(order[i], row + 1) end
    end)
  end

  it("average to the MAP of the lecture", function()
    local case = golden.sets[1]
    local scores = mr.tensor({ 6, 5, 4, 3, 2, 1, 6, 5, 4, 3, 2, 1 }, f64)
    near(mr.evaluate(scores, mr.lists(case.lists), { "ap" }).mean.ap, case.map, 1e-13)
  end)

  it("rank tied rows by the option ties", function()
    local scores = mr.tensor({ 1, 1, 1 }, f64)
    local lists = mr.lists{ relevance = { 1, 0, 1 }, sizes = { 3 }, documents = { "b", "c", "a" } }
    near(lists:rank(scores), { 2, 2, 2 })
    near(lists:rank(scores, { ties = "stable" }), { 1, 2, 3 })
    near(lists:rank(scores, { ties = "worst" }), { 2, 1, 3 })
    near(lists:rank(scores, { ties = "trec" }), { 2, 1, 3 })
    raises(function() return lists:rank(scores, { ties = "best" }) end, "ties", "'best'")
    raises(function() return mr.lists{ { 1, 0, 1 } }:rank(scores, { ties = "trec" }) end, "'ties'", "'trec'", "lists")
  end)

  it("give a list without relevant rows the value of the option empty", function()
    local lists, scores = mr.lists{ { 0, 0 }, { 0, 1 } }, mr.tensor({ 2, 1, 2, 1 }, f64)
    local zero_by_definition = { dcg = true, rbp = true, rr = true, precision = true, hit = true, err = true,
      nrbp_loss = true }
    local by_no_definition = { ndcg = true, ap = true, nrbp = true, recall = true, f1 = true, r_precision = true,
      auc = true, bpref = true }
    for _, name in ipairs(mr.metrics.names()) do
      local at = needs_k[name] and name .. "@1" or name
      if not by_no_definition[name] and mr.metrics.parse(at).zero then zero_by_definition[name] = true end
      for rule, expected in pairs{ zero = 0, one = 1, skip = zero_by_definition[name] and 0 or 0 / 0, nan = 0 / 0 } do
        near(mr.metrics.parse(at, { empty = rule })(scores, lists):totable()[1], expected, 0, name .. " " .. rule)
      end
    end
    raises(function() mr.metrics.rr(scores, lists, { empty = "none" }) end, "empty", "'none'")
  end)

  it("take graded gains, the cutoff as denominator, and ERR with grades", function()
    local scores, lists = mr.tensor({ 4, 3, 2, 1 }, f64), mr.lists{ { 0, 2, 1, 1 } }
    near(mr.metrics.dcg(scores, lists, { gain = "linear" }):item(), 2 / math.log(3, 2) + 1 / 2 + 1 / math.log(5, 2))
    near(mr.metrics.dcg(scores, lists, { gain = "exp2_plus_one", k = 2 }):item(), 1 + 7 / math.log(3, 2))
    -- grade 0 has gain 1, also in the ideal ranking
    near(mr.metrics.ndcg(mr.tensor{ 1, 2 }, mr.lists{ { 1, 0 } }, { gain = "exp2_plus_one" }):item(),
      (1 + 3 / math.log(3, 2)) / (3 + 1 / math.log(3, 2)), 1e-6)
    near(mr.metrics.ap(scores, lists, { k = 2 }):item(), 0.5 / 3)
    near(mr.metrics.ap(scores, lists, { k = 2, denominator = "cutoff" }):item(), 0.5 / 2)
    near(mr.metrics.err(scores, lists):item(), 0.75 / 2 + 0.25 * 0.25 / 3 + 0.25 * 0.75 * 0.25 / 4)
    near(mr.metrics.ap(scores, lists, { relevant = 2 }):item(), 0.5)
  end)

  -- Test data: 300 rows in 5 lists, with some tied scores.
  local function drawn()
    local u, v = mr.uniform({ 300 }, { seed = 1 }):totable(), mr.uniform({ 300 }, { seed = 2 }):totable()
    local scores, relevance = {}, {}
    for i = 1, 300 do scores[i], relevance[i] = u[i] * 40 // 1, v[i] < 0.1 and 2 or v[i] < 0.3 and 1 or 0 end
    return scores, relevance, { 100, 1, 9, 128, 62 }
  end
  local function everything(scores, relevance, sizes)
    local lists, names = mr.lists{ relevance = relevance, sizes = sizes }, {}
    for i, name in ipairs(mr.metrics.names()) do names[i] = needs_k[name] and name .. "@7" or name end
    return mr.evaluate(mr.tensor(scores, f64), lists, names), names
  end

  it("do not depend on the order of rows", function()
    local scores, relevance, sizes = drawn()
    local shuffled, other, at = {}, {}, 0
    for _, n in ipairs(sizes) do
      for i = 0, n - 1 do  -- 11 has no common divisor with any n, so every row is taken once
        shuffled[at + i + 1], other[at + i + 1] = scores[at + i * 11 % n + 1], relevance[at + i * 11 % n + 1]
      end
      at = at + n
    end
    local before, names = everything(scores, relevance, sizes)
    local after = everything(shuffled, other, sizes)
    for _, name in ipairs(names) do near(after[name], before[name], 1e-12, name) end
  end)

  it("give the same bits with one thread and with two", function()
    local scores, relevance, sizes = drawn()
    local threads_of, results = require("moonrank.core").threads, {}
    local was = threads_of()
    for threads = 1, 2 do
      threads_of(threads)
      results[threads] = everything(scores, relevance, sizes)
    end
    threads_of(was)
    for _, name in ipairs(results[1].names) do near(results[2][name], results[1][name], 0, name) end
  end)

  it("give a share of wrong pairs and an AUC that add up to 1", function()
    local scores, relevance, sizes = drawn()
    local result, lists = everything(scores, relevance, sizes), mr.lists{ relevance = relevance, sizes = sizes }
    local auc, loss, p = result.auc:totable(), result.nrbp_loss:totable(), lists.relevant:totable()
    for i, n in ipairs(sizes) do
      if p[i] > 0 and p[i] < n then near(loss[i] / (p[i] * (n - p[i])) + auc[i], 1, 1e-13) end
    end
  end)

  it("refuse unknown names and options, and wrong scores", function()
    local lists = mr.lists{ { 1, 0 } }
    raises(function() mr.metrics.ndcg(mr.tensor{ 1, 0 / 0 }, lists) end, "scores", "NaN", "2")
    raises(function() mr.metrics.ndcg(mr.tensor{ 1 }, lists) end, "scores", "1", "lists", "2")
    raises(function() mr.metrics.parse("ndgc") end, "'ndgc'", "'ndcg'")
    raises(function() mr.metrics.parse("precision") end, "'precision'", "'precision@10'")
    raises(function() mr.metrics.parse("rr(0.5)") end, "'metric'", "'mr.metrics.parse'", "'rr(0.5)'")
    raises(function() mr.metrics.parse("ndcg@x") end, "'metric'", "'ndcg@x'")
    raises(function() mr.metrics.ndcg(mr.tensor{ 1, 2 }, lists, { gain = "exp3" }) end, "gain", "'exp3'")
    raises(function() mr.metrics.parse(3) end, "mr.metrics.parse")
    raises(function() mr.metrics.rr(mr.tensor{ 1, 2 }, lists, { tie = "mean" }) end, "'tie'", "'ties'")
    raises(function() mr.metrics.rr(mr.tensor{ 1, 2 }, lists, { k = 0 }) end, "k", "0")
    raises(function() mr.metrics.rbp(mr.tensor{ 1, 2 }, lists, { p = 1 }) end, "p", "1")
    raises(function() mr.metrics.err(mr.tensor{ 1, 2 }, mr.lists{ { 1, 3 } }, { top = 2 }) end, "'top'", "2")
    raises(function() mr.metrics.ap(mr.tensor{ 1, 2 }, lists, { denominator = "k" }) end, "denominator", "'k'")
  end)

  it("have names with their cutoff and parameters", function()
    equal(mr.metrics.parse("ndcg", { k = 10 }).name, "ndcg@10")
    equal(mr.metrics.parse("rbp", { p = 0.8 }).name, "rbp(0.8)")
    equal(mr.metrics.parse("rbp(0.8)", { k = 5 }).name, "rbp(0.8)@5")
    equal(mr.metrics.parse("ndcg@5", { gain = "linear", name = "linear" }).name, "linear")
    local written = { ["nrbp(0.950)"] = "nrbp(0.95)", ["ndcg@010"] = "ndcg@10", ["rbp(.8)@05"] = "rbp(0.8)@5" }
    for text, name in pairs(written) do equal(mr.metrics.parse(text).name, name) end
    equal(tostring(mr.metrics.parse("rr")), "rr")
    equal({ mr.metrics.parse("nrbp_loss").minimize, mr.metrics.parse("rr").minimize }, { true, false })
    raises(function() mr.metrics.parse("ndcg@5", { k = 10 }) end, "k", "10")
    raises(function() mr.metrics.parse("ndcg@5", { k = 2.5 }) end, "k", "2.5")
    raises(function() mr.metrics.parse("ndcg", { k = 2.5 }) end, "k", "2.5")
    raises(function() mr.metrics.parse(mr.metrics.parse("rr"), { ties = "worst" }) end, "'rr'")
  end)

  it("are made by a call with options only", function()
    local scores, lists = mr.tensor({ 3, 2, 1 }, f64), mr.lists{ { 1, 0, 1 } }
    near(mr.metrics.rbp{ p = 0.8 }(scores, lists), mr.metrics.rbp(scores, lists, { p = 0.8 }))
    equal(mr.metrics.precision{ k = 2 }.name, "precision@2")
  end)

  it("keep the type of the scores, and take lists without rows", function()
    local lists = mr.lists{ relevance = { 1, 0 }, sizes = { 0, 2, 0 } }
    for _, name in ipairs(mr.metrics.names()) do
      local metric = mr.metrics.parse(name, needs_k[name] and { k = 1 } or nil)
      for _, dtype in ipairs{ "float32", "float64" } do
        local values = metric(mr.tensor({ 1, 2 }, { dtype = dtype }), lists)
        equal({ values.dtype, #values }, { dtype, 3 }, name)
      end
    end
    near(mr.metrics.rr(mr.tensor({ 1, 2 }, f64), lists), { 0, 0.5, 0 })
  end)

  it("take infinite scores", function()
    local scores, lists = mr.tensor({ math.huge, -math.huge, math.huge, 0 }, f64), mr.lists{ { 1, 1, 0, 0 } }
    near(lists:rank(scores), { 1.5, 4, 1.5, 3 })
    near(mr.metrics.rr(scores, lists), { 0.75 })
    near(mr.metrics.auc(scores, lists), { 1 - 2.5 / 4 })
  end)

  it("defined in Lua are computed in float64, so float32 and float64 scores give the same values", function()
    mr.metrics.define("own_reciprocal", function(ranks, lists) return lists:max(lists.relevance / ranks) end)
    local relevance, scores = {}, {}
    for l = 1, 12 do
      relevance[l] = {}
      for row = 1, 13 do relevance[l][row], scores[#scores + 1] = row == l and 1 or 0, -row end
    end
    local lists = mr.lists(relevance)
    local single, double = mr.tensor(scores), mr.tensor(scores, f64)
    equal(mr.metrics.own_reciprocal(single, lists).dtype, "float32")
    local function evaluated(x) return mr.evaluate(x, lists, { "own_reciprocal" }) end
    local c = mr.compare{ a = evaluated(single), b = evaluated(double) }
    for l, value in ipairs(c.values.own_reciprocal.a:totable()) do equal(value, 1 / l) end
    equal(c.pairs[1].p, 1.0)
  end)

  it("defined in Lua take ranks, follow ties and empty, and are found by name", function()
    mr.metrics.define("first_rank", function(ranks, lists) return -lists:max(-ranks) end, { direction = "minimize" })
    local scores, lists = mr.tensor({ 2, 2, 1, 3, 4 }, f64), mr.lists{ { 1, 0, 0 }, { 0, 0 } }
    near(mr.metrics.first_rank(scores, lists), { 1.5, 0 / 0 })
    near(mr.metrics.first_rank(scores, lists, { ties = "stable", empty = "zero" }), { 1, 0 })
    equal(mr.evaluate(scores, lists, { "first_rank" }).skipped.first_rank, 1)
    check(mr.metrics.parse("first_rank").minimize)
    raises(function() mr.metrics.define("ndcg", function() end) end, "mr.metrics.define", "'ndcg'")
    raises(function() mr.metrics.define("parse", function() end) end, "mr.metrics.define", "'parse'")
    raises(function() mr.metrics.define("first-rank", function() end) end, "name", "'first-rank'")
    raises(function() mr.metrics.define("other_rank", 3) end, "mr.metrics.define", "3")
  end)

  it("defined in Lua may be redefined, and earlier handles keep their function", function()
    local scores, lists = mr.tensor({ 2, 1 }, f64), mr.lists{ { 1, 0 } }
    mr.metrics.define("twice_defined", function(ranks, of) return of:mean(ranks) end)
    local first = mr.metrics.parse "twice_defined"
    mr.metrics.define("twice_defined", function(ranks, of) return of:sum(ranks) end, { direction = "minimize" })
    equal({ first(scores, lists):item(), first.minimize }, { 1.5, false })
    equal({ mr.metrics.twice_defined(scores, lists):item(), mr.metrics.parse("twice_defined").minimize }, { 3.0, true })
    require("moonrank.system.definitions").apart(function()
      mr.metrics.define("twice_defined", function(ranks, of) return of:sum(ranks * 0) end)
      equal(mr.metrics.twice_defined(scores, lists):item(), 0.0)
    end)
    equal(mr.metrics.twice_defined(scores, lists):item(), 3.0)
  end)
end)
