-- Tests the metric registry: names of metrics are parsed alike everywhere, and give one object for metrics, bounds,
-- losses and evaluations.
local mr = require "moonrank"
local test = require "moonrank.test"
local check, describe, equal, it, near, raises = test.check, test.describe, test.equal, test.it, test.near, test.raises

local f64 = { dtype = "float64" }
local lists = mr.lists{ { 0, 2, 1, 0, 1 }, { 1, 0, 0 }, { 0, 0 }, { 0, 0, 1, 1, 0, 0, 2 } }
local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
local needs_k = { precision = true, recall = true, hit = true, f1 = true, letor_ndcg = true }

-- Names of all built-in metrics, with a cutoff if they need one.
local function all_metrics()
  local all = {}
  for _, name in ipairs(mr.metrics.names()) do
    local own = name:find "^spec_" or name:find "^documented_"
    local text = needs_k[name] and name .. "@2" or name
    if not own then all[#all + 1] = name == "err" and mr.metrics.err{ top = 2 } or mr.metrics.parse(text) end
  end
  return all
end

describe("metric names", function()
  it("accept the aliases map, mrr, hr, p and r", function()
    for theirs, ours in pairs{ map = "ap", ["map@3"] = "ap@3", mrr = "rr", ["mrr@10"] = "rr@10", ["hr@10"] = "hit@10",
      ["p@10"] = "precision@10", ["r@10"] = "recall@10" } do
      equal(mr.metrics.parse(theirs).name, ours)
      near(mr.metrics.parse(theirs)(scores, lists), mr.metrics.parse(ours)(scores, lists), 0, theirs)
    end
    local e = mr.evaluate(scores, lists, { "map", "mrr@10" })
    equal(e.names, { "ap", "rr@10" })
    equal({ e.mean.map, e.mean["mrr@10"] }, { e.mean.ap, e.mean["rr@10"] })
    equal(#e.map, lists.count)
    raises(function() mr.metrics.define("map", function(ranks) return ranks end) end, "mr.metrics.define", "'map'")
  end)

  it("have the same grammar in metrics, bounds, losses and evaluations", function()
    for _, name in ipairs{ "nrbp(5e-1)", "nrbp(0.5)", "nrbp(.50)" } do
      near(mr.metrics.parse(name)(scores, lists), mr.metrics.nrbp(scores, lists, { p = 0.5 }), 0)
      equal(mr.bounds.of(name, { n = 7, p = 3 }), mr.bounds.of("nrbp(0.5)", { n = 7, p = 3 }))
      equal(mr.losses.lambdarank{ metric = name }.metric, "nrbp(0.5)")
      near(mr.bounds.stats(name, lists).min, mr.bounds.stats(mr.metrics.nrbp{ p = 0.5 }, lists).min, 0)
    end
    local takers = {
      mr.metrics.parse,
      function(text) return mr.bounds.of(text, { n = 3, p = 1 }) end,
      function(text) return mr.losses.lambdarank{ metric = text } end,
      function(text) return mr.evaluate(scores, lists, { text }) end,
    }
    for _, name in ipairs{ "ndcg@", "ndcg@x", "ndcg(2)", "nrbp(0.5", "nrbp(0.5)x", "nrbp( 0.5)", "nrbp()",
      "nrbp(nan)", "ndcg@2@3", "ndcg 2", "" } do
      for _, f in ipairs(takers) do raises(function() f(name) end, "") end
    end
  end)

  it("returned by trials imply a direction only if they are built-in metrics", function()
    local metric = require "moonrank.metrics.registry"
    equal({ metric.direction "p", metric.direction "valid_r", metric.direction "map" }, {})
    equal(metric.direction "valid_precision@5", "maximize")
  end)
end)

describe("a metric handle", function()
  it("has the name and options that were given", function()
    local m = mr.metrics.parse("rbp(0.8)@5", { relevant = 2, ties = "worst", empty = "zero" })
    equal({ m.name, m.base, m.minimize, tostring(m) }, { "rbp(0.8)@5", "rbp", false, "rbp(0.8)@5" })
    equal(m.options, { k = 5, p = 0.8, relevant = 2.0, ties = "worst", empty = "zero" })
    equal(mr.metrics.ndcg{ k = 3, gain = "linear" }.options,
      { k = 3, gain = "linear", relevant = 1.0, ties = "mean", empty = "skip" })
    local parsed = mr.metrics.parse "rbp(0.8)@5"
    equal({ m.closed_forms, parsed.closed_forms, mr.metrics.err{}.swaps, mr.metrics.bpref{}.swaps },
      { true, true, true, false })
  end)

  it("can replace a metric name in bounds and evaluations", function()
    for _, m in ipairs(all_metrics()) do
      local stats = mr.bounds.stats(m, lists)
      if not m.top then near(stats.max, mr.bounds.stats(m.name, lists).max, 0, m.name) end
      near(mr.bounds.weights(m, lists), mr.bounds.weights(m.name, lists), 0, m.name)
      equal(mr.evaluate(scores, lists, { m }).mean, mr.evaluate(scores, lists, { m.name }).mean)
    end
    local cut = mr.metrics.parse("precision@2", { relevant = 2 })
    equal(mr.bounds.of(cut, { grades = { 2, 1, 0 } }).max, 0.5)
    equal(mr.bounds.of("precision@2", { grades = { 2, 1, 0 } }).max, 1.0)
  end)
end)

describe("a metric", function()
  it("has a smooth form and closed forms only with the options they apply to", function()
    for _, m in ipairs{ mr.metrics.ndcg{ k = 3 }, mr.metrics.ndcg{ gain = "linear" }, mr.metrics.ap{ k = 2 },
      mr.metrics.rr{ k = 2 } } do
      check(not m.has_smooth, m.name)
      raises(function() m:smooth(scores, lists, 1) end, "'metric'", "smooth")
    end
    check(mr.metrics.ap{ relevant = 2 }.closed_forms and not mr.metrics.ap{ denominator = "cutoff" }.closed_forms)
  end)

  it("has the same estimated bounds for every empty option", function()
    local shape = { n = 3, p = 2 }
    local one = mr.bounds.of(mr.metrics.auc{ relevant = 2, empty = "one" }, shape).expectation
    local plain = mr.bounds.of(mr.metrics.auc{ relevant = 2 }, shape).expectation
    check(one ~= one and plain ~= plain)
  end)

  it("named err needs option top in a loss so that a list does not depend on its batch", function()
    raises(function() mr.losses.lambdarank{ metric = "err" } end, "'err'", "metric", "mr.metrics.err", "grade")
    local loss = mr.losses.lambdarank{ metric = mr.metrics.err{ top = 4 }, bound = "minmax" }
    local alone = loss(mr.tensor({ 1, 2, 3 }, f64), mr.lists{ { 1, 0, 0 } }):item()
    equal(loss(mr.tensor({ 1, 2, 3, 1, 2, 3 }, f64), mr.lists{ { 1, 0, 0 }, { 4, 0, 0 } }):totable()[1], alone)
    raises(function() mr.metrics.err{ top = -1 } end, "top", "-1")
    raises(function() mr.metrics.err{ top = 0 / 0 } end, "mr.metrics.err", "top")
  end)

  it("alias works as the metric of mr.sweep", function()
    dofile("tests/support/sweeps.lua").in_folder(function(folder)
      local function run() return mr.evaluate(mr.tensor{ 3, 2, 1 }, mr.lists{ { 0, 1, 2 } }, { "map" }).mean end
      local found = mr.sweep{ name = "s", space = { a = mr.range(1, 2) }, workers = 0, metric = "map",
        store = folder .. "/r.db", progress = false, run = run }
      near(found:best().value, 7 / 12, 1e-6)
    end)
  end)

  it("handle works in mr.bounds.check and mr.bounds.plot", function()
    local o = { metrics = { mr.metrics.parse "map", "ndcg@3" }, quiet = true, relevant = { 1, 5 }, nsr = { 1 } }
    local report = mr.bounds.check("minmax", o)
    equal(report.order, { "ap", "ndcg@3" })
    check(tostring(report):find("ndcg@3", 1, true) and report.metrics.ap.equal > 0)
    check(mr.bounds.plot("minmax", { metric = mr.metrics.parse "ap", nsr = { 1 } }))
  end)

  it("name with zero bytes, a hexadecimal number or wrong options raises an error", function()
    for _, text in ipairs{ "ndcg@10\0junk", "rbp(0.5\0)", "ndcg@0x10", "rbp(0x.8)" } do
      raises(function() mr.metrics.parse(text) end, "@k")
    end
    equal(mr.metrics.parse("precision@2147483647").k, 2147483647)
    raises(function() mr.metrics.ndcg{ gain = 5 } end, "gain", "5")
    raises(function() mr.metrics.rbp{ p = true } end, "mr.metrics.rbp", "p")
    raises(function() mr.metrics.parse("precision", { name = "zzz" }) end, "'precision'", "'precision@10'")
    raises(function() mr.losses.lambdarank{ metric = "nrbp", p = false } end, "mr.losses.lambdarank", "p")
  end)
end)

describe("every metric", function()
  -- Returns scores for every order of n rows.
  local function orders(n)
    local found = {}
    local function extend(order, left)
      if #left == 0 then found[#found + 1] = order end
      for i = 1, #left do
        local rest = table.move(left, 1, #left, 1, {})
        local row = table.remove(rest, i)
        extend(table.move({ row }, 1, 1, #order + 1, table.move(order, 1, #order, 1, {})), rest)
      end
    end
    local all = {}
    for i = 1, n do all[i] = i end
    extend({}, all)
    return found
  end

  it("has bounds over all orders and names the method", function()
    for _, grades in ipairs{ { 2, 0, 1, 0, 0 }, { 1, 0, 0, 0 }, { 1, 1, 0, 1 } } do
      local copies, rows = {}, {}
      for i, order in ipairs(orders(#grades)) do
        copies[i] = grades
        table.move(order, 1, #order, #rows + 1, rows)
      end
      for _, m in ipairs(all_metrics()) do
        local values, sum = m(mr.tensor(rows, f64), mr.lists(copies)):totable(), 0
        local least, most = math.huge, -math.huge
        for _, value in ipairs(values) do
          least, most, sum = math.min(least, value), math.max(most, value), sum + value
        end
        local of = mr.bounds.of(m, { grades = grades })
        local where = ("%s %d"):format(m.name, #grades)
        near({ of.min, of.max, of.expectation }, { least, most, sum / #values }, 1e-12, where)
        equal(of.method, m.closed_forms and "closed form" or "enumerated")
      end
    end
  end)

  it("with swap differences works in LambdaRank under every bound", function()
    local count = 0
    for _, m in ipairs(all_metrics()) do
      for _, bound in ipairs(m.swaps and mr.bounds.names() or {}) do
        local loss = mr.losses.lambdarank{ metric = m, bound = bound }
        local value = loss:mean(scores:requires_grad(), lists)
        check(value:item() == value:item(), ("%s under %s"):format(m.name, bound))
        count = count + 1
      end
    end
    check(count >= 100, count)
  end)
end)
