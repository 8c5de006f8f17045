-- Tests bounds against reference values from enumeration, identities of the thesis, and finite differences.
local mr = require "moonrank"
local json = dofile("tests/support/json.lua")
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local golden = json.read("tests/golden/bounds.json")
local metrics = json.read("tests/golden/metrics.json").smooth
local f64 = { dtype = "float64" }
local exactly = { rtol = 1e-12, atol = 1e-13 }

describe("mr.bounds.of and mr.bounds.stats", function()
  it("agree with enumeration for binary relevance", function()
    local function number(x) return x == json.null and 0 / 0 or x end
    for _, case in ipairs(golden.binary) do
      local where = ("N=%d P=%d"):format(case.N, case.P)
      local function of(metric) return mr.bounds.of(metric, { n = case.N, p = case.P }) end
      local function agree(metric, found, expected, tolerance)
        for i, x in ipairs(expected) do expected[i] = number(x) end
        near(found, expected, tolerance or exactly, where .. " " .. metric)
      end
      local ndcg, ap, rr, nrbp, metric = of("ndcg"), of("ap"), of("rr"), of("nrbp_loss"), of("nrbp(0.8)")
      agree("ndcg", { ndcg.min, ndcg.expectation, ndcg.sd }, { case.ndcg_min, case.e_ndcg, case.sd_ndcg })
      agree("ap", { ap.min, ap.expectation }, { case.ap_min, case.e_ap })
      if case.sd_ap ~= json.null then agree("sd of ap", { ap.sd }, { case.sd_ap }, { rtol = 1e-11, atol = 1e-8 }) end
      agree("nrbp_loss", { nrbp.min, nrbp.max, nrbp.best, nrbp.expectation, nrbp.sd },
        { 0, case.nrbp_max, 0, case.e_nrbp, case.sd_nrbp })
      agree("rr", { rr.min, rr.expectation }, { case.rr_min, case.e_rr })
      agree("nrbp(0.8)", { metric.min, metric.expectation }, { case.nrbp08_metric_min, case.e_nrbp08_metric })
      if not case.degenerate then equal({ ndcg.max, ap.max, rr.max, ndcg.best }, { 1.0, 1.0, 1.0, 1.0 }) end
    end
  end)

  it("agree with enumeration for grades", function()
    for _, case in ipairs(golden.graded) do
      local lists = mr.lists{ case.grades }
      local stats = mr.bounds.stats("ndcg", lists)
      near({ stats.min:item(), stats.max:item(), stats.expectation:item(), stats.sd:item() },
        { case.ndcg_min, case.ndcg_max, case.e_ndcg, case.sd_ndcg }, exactly, table.concat(case.grades, " "))
    end
  end)

  it("agree with enumeration at cutoffs", function()
    for _, case in ipairs(golden.cutoff) do
      local s = mr.bounds.of("ndcg@" .. case.k, { n = case.N, p = case.P })
      near({ s.min, s.max, s.expectation }, { case.ndcg_at_k_min, case.ndcg_at_k_max, case.e_ndcg_at_k }, exactly)
      if case.k <= case.N then
        near(mr.bounds.of("precision@" .. case.k, { n = case.N, p = case.P }).expectation, case.e_p_at_k, exactly)
      end
    end
  end)

  it("give NaN for lists without relevant rows, and flag degenerate lists", function()
    local lists = mr.lists{ { 1, 0, 0 }, { 0, 0 }, { 1, 1 }, {}, { 2, 2 }, { 2, 1 } }
    local stats = mr.bounds.stats("ap", lists)
    equal(stats.degenerate:totable(), { 0.0, 1.0, 1.0, 1.0, 1.0, 1.0 })
    equal(mr.bounds.stats("ndcg", lists).degenerate:totable(), { 0.0, 1.0, 1.0, 1.0, 1.0, 0.0 })
    local tiny = mr.lists{ { 1e-30, 0 }, { 1, 1e-30, 0 }, { 1e-9, 0 } }
    equal(mr.bounds.stats("ndcg", tiny).degenerate:totable(), { 1.0, 0.0, 0.0 })
    near(stats.min:totable(), { 1 / 3, 0 / 0, 1, 0 / 0, 1, 1 })
    equal(stats.n:totable(), { 3.0, 2.0, 2.0, 0.0, 2.0, 2.0 })
    equal(stats.p:totable(), { 1.0, 0.0, 2.0, 0.0, 2.0, 2.0 })
    raises(function() return stats.mean end, "mr.Stats", "'mean'")
  end)

  it("count the same rows of graded lists as relevant as the metric does", function()
    local graded, binary = mr.bounds.of("ap", { grades = { 0, 2, 1, 0.5 } }), mr.bounds.of("ap", { n = 4, p = 2 })
    equal({ graded.min, graded.expectation, graded.sd }, { binary.min, binary.expectation, binary.sd })
    equal(mr.bounds.of("ndcg", { grades = { 3, 0, 3 } }), mr.bounds.of("ndcg", { n = 3, p = 2 }))
    equal(#mr.bounds.distribution("nrbp_loss", { grades = { 2, 1, 0, 0 }, method = "sampled", samples = 1000 }), 5)
  end)

  it("refuse impossible shapes and unknown metric names", function()
    raises(function() mr.bounds.of("ap", { n = 9 }) end, "'p'", "'mr.bounds.of'")
    raises(function() mr.bounds.of("ap", {}) end, "'n'", "'mr.bounds.of'")
    raises(function() mr.bounds.of("ap", { n = 9, p = -1 }) end, "p", "-1")
    raises(function() mr.bounds.of("ndcg", { n = 3, grades = { 2, 1, 0, 0 } }) end, "3", "4", "grades")
    raises(function() mr.bounds.distribution("ndcg", { n = 5, grades = { 2, 1, 0, 0 } }) end, "5", "4", "grades")
    raises(function() mr.bounds.of("ndcg", { p = 1, grades = { 1, 0 } }) end, "'p'", "'mr.bounds.of'", "grades")
    raises(function() mr.bounds.of("ndcg", { grades = { 1, -1 } }) end, "'grades'", "-1")
    raises(function() mr.bounds.of("ndcg", { grades = { 1, 0 / 0 } }) end, "grades", "NaN")
    raises(function() mr.bounds.distribution("ap", { n = 3, p = 0 }) end, "'p'", "0", "distribution")
    for _, name in ipairs{ "ndcg@2.7", "ndcg@0", "ndcg@nan", "ndcg@1e300" } do
      raises(function() mr.bounds.of(name, { n = 3, p = 1 }) end, "'k'", name)
    end
    local wrong = { ["ndcg@"] = "'ndcg@'", ["nrbp(2)"] = "2", ["ap(3)"] = "'ap(3)'", precision = "'precision'" }
    for name, word in pairs(wrong) do raises(function() mr.bounds.of(name, { n = 3, p = 1 }) end, word) end
  end)
end)

describe("affine bounds", function()
  it("agree with the reference on smooth metrics", function()
    local checked = 0
    for _, case in ipairs(metrics) do
      local lists, scores = mr.lists{ case.relevance }, mr.tensor(case.scores, f64)
      for key, expected in pairs(case.bounded or {}) do
        local metric, method = key:match("^(%a+)_(%a+)$")
        local name = metric == "nrbp" and "nrbp_loss" or metric
        local bound = mr.bounds.resolve(({ mm = "minmax", eb = "expectation", em = "expectation_max" })[method])
        local value = bound.apply(mr.smooth[name](scores, lists, { steepness = case.alpha }), name, lists):item()
        if expected ~= json.null then
          near(value, expected, { rtol = 1e-9, atol = 1e-11 }, case.name .. " " .. key)
          checked = checked + 1
        else
          equal(value, 0.0)
        end
      end
    end
    check(checked > 50, "reference values were compared")
  end)

  it("give the nRBP loss equal gradients under expectation and expectation_max, twice those of minmax", function()
    local lists, scores = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 1, 0 } }, mr.normal({ 8 }, { seed = 2, dtype = "float64" })
    local function grad(bound)
      local leaf = scores:requires_grad()
      mr.losses.nrbp{ bound = bound }(leaf, lists):sum():backward()
      local g = leaf.grad
      leaf:zero_grad()
      return g
    end
    near(grad("expectation"), grad("expectation_max"), 1e-15)
    near(grad("minmax") * 2, grad("expectation"), 1e-15)
  end)
end)

describe("mr.bounds.distribution", function()
  -- Returns the values of a metric for all sets of ranks that the relevant rows may have.
  local function enumerated(metric, n, p)
    local scores = {}
    for i = 1, n do scores[i] = -i end
    local values, chosen = {}, {}
    local function extend(first, left)
      if left == 0 then
        local relevance = {}
        for i = 1, n do relevance[i] = chosen[i] and 1 or 0 end
        values[#values + 1] = relevance
        return
      end
      for i = first, n - left + 1 do
        chosen[i] = true
        extend(i + 1, left - 1)
        chosen[i] = nil
      end
    end
    extend(1, p)
    local all = {}
    for _ = 1, #values do for i = 1, n do all[#all + 1] = scores[i] end end
    return mr.metrics.parse(metric)(mr.tensor(all, f64), mr.lists(values))
  end

  for _, case in ipairs(golden.distributions) do
    it(("smooths to the reference values: N=%d P=%d"):format(case.N, case.P), function()
      for key, name in pairs{ ndcg = "ndcg", ap = "ap", nrbp = "nrbp_loss" } do
        local expected = case[key]
        local d = mr.bounds.distribution_of(enumerated(name, case.N, case.P))
        equal(#d, expected.unique_values)
        near({ d:min(), d:max(), d:mean(), d:sd() },
          { expected.min, expected.max, expected.mean, expected.sd }, exactly)
        near(d:sample_gain(), expected.gain_eq_3_13, 1e-11)
        local exact = mr.bounds.distribution(name, { n = case.N, p = case.P, method = "exact" })
        equal(#exact, expected.unique_values)
        for _, e in ipairs(expected.evaluations) do
          for _, each in ipairs{ d, exact } do
            near(each:cdf(e.S), e.cdf, 1e-12)
            local value, slope = each:smooth(e.S, { steepness = "samples" })
            near({ value, slope }, { e.F_gain_eq_3_13, e.dF_gain_eq_3_13 }, 1e-11, name .. " Eq. 3.13")
            value, slope = each:smooth(e.S, { kappa = 8, tabled = true })
            near(value, e.F_gain_8_over_sd, { atol = 2e-6 }, name .. " kappa 8")
            near(slope, e.dF_gain_8_over_sd, { atol = 3e-4 / expected.sd }, name .. " slope at kappa 8")
          end
          local value, slope = exact:smooth(e.S, { kappa = 8 })
          near({ value, slope / expected.sd }, { e.F_gain_8_over_sd, e.dF_gain_8_over_sd / expected.sd },
            { atol = 1e-9, rtol = 1e-9 }, name)
        end
      end
    end)
  end

  it("samples to within 0.003 of the exact distribution", function()
    for _, shape in ipairs{ { 2, 1 }, { 9, 3 }, { 12, 2 }, { 12, 6 }, { 14, 7 } } do
      local n, p = table.unpack(shape)
      for _, name in ipairs{ "ndcg", "ap", "nrbp_loss", "rr" } do
        local exact = mr.bounds.distribution_of(enumerated(name, n, p))
        local sampled = mr.bounds.distribution(name, { n = n, p = p, method = "sampled" })
        local values, worst = exact:pmf():totable(), 0
        for _, x in ipairs(values) do worst = math.max(worst, math.abs(sampled:cdf(x + 1e-9) - exact:cdf(x + 1e-9))) end
        check(worst < 0.003, ("%s N=%d P=%d: distance %g"):format(name, n, p, worst))
      end
    end
  end)

  it("has the closed-form extremes, mean and deviation of every metric, exact and sampled", function()
    for _, shape in ipairs{ { 2, 1 }, { 5, 2 }, { 6, 5 }, { 9, 3 } } do
      local n, p = table.unpack(shape)
      for _, name in ipairs{ "ndcg", "ndcg@3", "ap", "rr", "rbp(0.8)", "nrbp(0.6)", "precision@2", "precision@7",
        "recall@3" } do
        local where = ("%s N=%d P=%d"):format(name, n, p)
        local d, s = mr.bounds.distribution_of(enumerated(name, n, p)), mr.bounds.of(name, { n = n, p = p })
        local moments = { d:min(), d:max(), d:mean(), d:sd() }
        near(moments, { s.min, s.max, s.expectation, s.sd }, { rtol = 1e-12, atol = 1e-8 }, where)
        equal(s.best, s.max, where)
        local sampled = mr.bounds.distribution(name, { n = n, p = p, method = "sampled", samples = 100000 })
        for _, x in ipairs((d:pmf()):totable()) do
          near(sampled:cdf(x + 1e-9), d:cdf(x + 1e-9), { atol = 0.007 }, where)
        end
      end
    end
  end)

  it("counts every value up to its largest, which is 1 also where sums are rounded", function()
    for _, shape in ipairs{ { 10, 3 }, { 30, 5 }, { 200, 3 } } do
      local n, p = table.unpack(shape)
      for _, name in ipairs{ "ap", "ndcg@10", "nrbp", "precision@5" } do
        local d, where = mr.bounds.distribution(name, { n = n, p = p }), ("%s N=%d P=%d"):format(name, n, p)
        equal({ d:cdf(d:max()), d:cdf(1 / 0) }, { 1.0, 1.0 }, where)
      end
    end
    local d = mr.bounds.distribution("precision@5", { n = 10, p = 3 })
    -- probabilities of at most 0 to 3 of the 3 relevant rows among the first 5: (5 choose i) (5 choose 3 - i) / 120
    near({ d:cdf(0 / 5), d:cdf(1 / 5), d:cdf(2 / 5), d:cdf(3 / 5) }, { 10 / 120, 60 / 120, 110 / 120, 1 }, 1e-12)
    near({ d:cdf(0.2 - 1e-9), d:cdf(0.6 - 1e-9) }, { 10 / 120, 110 / 120 }, 1e-12)
  end)

  it("samples to the closed-form mean and deviation, also for grades and long lists", function()
    for _, shape in ipairs{ { n = 60, p = 20 }, { n = 400, p = 100 }, { grades = { 3, 2, 2, 1, 0, 0, 0 } } } do
      local names = shape.grades and { "ndcg", "ndcg@3" }
        or { "ndcg", "ap", "nrbp_loss", "nrbp(0.95)", "ndcg@10", "rr" }
      for _, name in ipairs(names) do
        local s = mr.bounds.of(name, shape)
        local o = { n = shape.n, p = shape.p, grades = shape.grades or {}, method = "sampled" }
        local d = mr.bounds.distribution(name, o)
        -- 300,000 samples are drawn, so the standard error of the mean is sd / 548
        near(d:mean(), s.expectation, { atol = 4 * s.sd / 548 }, name)
        near(d:sd(), s.sd, { rtol = 0.01 }, name)
      end
    end
  end)

  it("is exact by enumeration or a characteristic function if possible, and names its method", function()
    local function method(metric, shape) return mr.bounds.distribution(metric, shape):method() end
    equal(method("ndcg", { n = 20, p = 5 }), "enumerated")
    equal(method("ap", { n = 200, p = 50 }), "characteristic function")
    equal(method("nrbp_loss", { n = 200, p = 50 }), "enumerated")
    equal(method("rr", { n = 5000, p = 50 }), "enumerated")
    local graded, many = {}, {}
    for i = 1, 40 do graded[i] = i <= 3 and 2 or i <= 9 and 1 or 0 end
    equal(method("ndcg", { grades = graded }), "characteristic function")
    for i = 1, 30 do many[i] = i / 10 end
    equal(method("ndcg", { grades = many, samples = 100 }), "sampled")
    raises(function() method("ndcg", { grades = many, method = "exact" }) end, "method", "'exact'", "30")
    equal(mr.bounds.distribution_of({ 1, 2 }):method(), "values")
  end)

  it("smooths to the same values with tabled = true, at any steepness", function()
    for _, name in ipairs{ "ndcg", "ap", "nrbp_loss" } do
      local d = mr.bounds.distribution(name, { n = 100, p = 25 })
      for _, how in ipairs{ { kappa = 8 }, { kappa = 20 }, { steepness = 3 / d:sd() } } do
        for z = -4, 4, 0.5 do
          local s = d:mean() + z * d:sd()
          local value, slope = d:smooth(s, how)
          local tabled, its_slope = d:smooth(s, { kappa = how.kappa or 8, steepness = how.steepness, tabled = true })
          near(tabled, value, { atol = 2e-6 }, name)
          near(its_slope * d:sd(), slope * d:sd(), { atol = 3e-4 }, name)
        end
      end
    end
  end)

  it("reads the tables that bounds read with tabled = true, also for short lists", function()
    for _, shape in ipairs{ { 10, 3 }, { 100, 25 } } do
      local relevance = {}
      for i = 1, shape[1] do relevance[i] = i <= shape[2] and 1 or 0 end
      for _, name in ipairs{ "ndcg", "ap", "nrbp_loss", "rr" } do
        local d = mr.bounds.distribution(name, { n = shape[1], p = shape[2] })
        local s = d:mean() + 0.3 * d:sd()
        local value = mr.bounds.resolve("distribution").apply(mr.tensor({ s }, f64), name, mr.lists{ relevance })
        -- the lookup table alone has an error of up to 2e-6
        near((d:smooth(s, { tabled = true })), value:item(), 1e-12, name)
      end
    end
  end)

  it("gives quantiles and pmf, and refuses impossible arguments", function()
    local d = mr.bounds.distribution_of{ 1, 2, 2, 4 }
    local quantiles = {}
    for i = 0, 4 do quantiles[i + 1] = d:quantile(i / 4) end
    equal(quantiles, { 1.0, 1.0, 2.0, 2.0, 4.0 })
    local values, probability = d:pmf()
    equal({ values:totable(), probability:totable() }, { { 1.0, 2.0, 4.0 }, { 0.25, 0.5, 0.25 } })
    raises(function() d:quantile(2) end, "'q'", "'quantile'", "2")
    for _, name in ipairs{ "quantile" } do  -- Lua cannot tell the name of a method that is called so
      raises(function() d[name](d, 2) end, "'q'", "'quantile'", "2")
    end
    raises(function() mr.bounds.distribution("ndcg", { n = 3, p = 5 }) end, "'p'", "'mr.bounds.distribution'", "5")
    raises(function() mr.bounds.distribution("ndcg", { n = 3, p = 1, method = "guess" }) end, "method", "'guess'")
    raises(function() mr.bounds.distribution("ndcg", { n = 60, p = 20 }):pmf() end, "pmf", "list")
    raises(function() mr.bounds.distribution_bound{ form = "logit", steepness = "samples" } end,
      "steepness", "'samples'", "'logit'", "'kappa'")
    raises(function() mr.bounds.distribution_bound{ steepness = 0 } end, "steepness", "0")
  end)

  it("has no gradient for many relevant rows with steepness = 'samples', but with kappa", function()
    local relevance = {}
    for i = 1, 200 do relevance[i] = i <= 100 and 1 or 0 end
    local lists = mr.lists{ relevance }
    local function slope(bound)
      local score = mr.smooth.ndcg(mr.zeros({ 200 }, f64), lists):requires_grad()
      bound.apply(score, "ndcg", lists):sum():backward()
      return score.grad:item()
    end
    equal(slope(mr.bounds.distribution_bound{ steepness = "samples" }), 0.0)
    check(slope(mr.bounds.distribution_bound{ kappa = 8 }) > 0, "some gradient is left")
  end)
end)

describe("all bounds", function()
  local lists = mr.lists{ { 1, 0, 0, 1, 0, 0 }, { 0, 0 }, { 0, 1, 0 }, { 1, 1 } }
  local scores = mr.normal({ 13 }, { seed = 4, dtype = "float64" })

  it("have right gradients in every loss", function()
    mr.bounds.define("sqrt_range", function(score, stats)
      return (score - stats.min) / (stats.max - stats.min):sqrt()
    end)
    mr.bounds.define("by_cdf", function(score, stats) return stats.cdf(score) + score / stats.sd end)
    for _, name in ipairs(mr.bounds.names()) do
      for _, loss in ipairs{ "ndcg", "ap", "rr", "nrbp" } do
        local bounded = mr.losses[loss]{ bound = name }
        check(mr.gradcheck(function(x) return bounded(x, lists) end, scores) < 1e-6, loss .. " " .. name)
      end
    end
  end)

  it("have right gradients for grades", function()
    local graded = mr.lists{ { 2, 1, 0, 0 }, { 0, 3, 1 }, { 1, 1 }, { 2, 1 }, {} }
    local x = mr.normal({ 11 }, { seed = 5, dtype = "float64" })
    for _, name in ipairs(mr.bounds.names()) do
      check(mr.gradcheck(function(y) return mr.losses.ndcg{ bound = name }(y, graded) end, x) < 1e-6, name)
      equal(mr.losses.ndcg{ bound = name }:count(graded), 3)
    end
  end)

  it("reach their extreme values on the best and the worst order", function()
    local judged = mr.lists{ { 3, 1, 1, 0, 0 } }
    local best = mr.tensor({ 5, 4, 3, 2, 1 }, f64) * 1000
    local order = { { "minmax", 1, 0 }, { "expectation_max", 1 }, { "none", 1 } }
    for _, case in ipairs(order) do
      near(mr.losses.ndcg{ bound = case[1] }(best, judged):item(), -case[2], 1e-12, case[1])
      near(mr.losses.ap{ bound = case[1] }(best, judged):item(), -case[2], 1e-12, case[1])
    end
    near(mr.losses.ndcg{ bound = "minmax" }(-best, judged):item(), 0, { atol = 1e-12 })
    near(mr.losses.ap{ bound = "minmax" }(-best, judged):item(), 0, { atol = 1e-12 })
    -- bounded values of the nRBP loss: from 0 to 1 with minmax, and from -1 to 1 with expectation_max
    near(mr.losses.nrbp{ bound = "minmax" }(best, judged):item(), 0, { atol = 1e-12 })
    near(mr.losses.nrbp{ bound = "minmax" }(-best, judged):item(), 1, 1e-12)
    near(mr.losses.nrbp{ bound = "expectation_max" }(best, judged):item(), -1, 1e-12)
    near(mr.losses.nrbp{ bound = "expectation_max" }(-best, judged):item(), 1, 1e-12)
  end)

  it("give the same values in float32 as in float64", function()
    for _, name in ipairs(mr.bounds.names()) do
      for _, loss in ipairs{ "ndcg", "ap", "rr", "nrbp" } do
        local l = mr.losses[loss]{ bound = name }
        local single = l(scores:float(), lists)
        equal(single.dtype, "float32")
        near(single:totable(), l(scores, lists):totable(), { rtol = 1e-4, atol = 1e-5 }, loss .. " " .. name)
      end
    end
  end)

  it("give 0 and no gradient on degenerate lists", function()
    for _, name in ipairs(mr.bounds.names()) do
      for _, loss in ipairs{ "ndcg", "ap", "rr", "nrbp" } do
        local leaf = scores:requires_grad()
        local l = mr.losses[loss]{ bound = name }
        local values = l(leaf, lists)
        values:sum():backward()
        equal({ values:totable()[2], values:totable()[4] }, { 0.0, 0.0 }, loss .. " " .. name)
        equal(leaf.grad:narrow(1, 7, 2):abs():sum():item() + leaf.grad:narrow(1, 12, 2):abs():sum():item(), 0.0)
        equal(l:count(lists), 2)
        near(l:mean(leaf, lists):item(), values:sum():item() / 2, 1e-13)
        leaf:zero_grad()
      end
    end
  end)

  it("refuse unknown names and functions without a tensor as result", function()
    raises(function() mr.losses.ndcg{ bound = "minmx" } end, "'minmx'", "'minmax'")
    raises(function() mr.bounds.define("minmax", function(s) return s end) end, "'minmax'", "bound")
    raises(function() mr.losses.ndcg{ bound = function() return 1 end }(scores, lists) end, "function", "1", "2")
    raises(function() mr.bounds.stats("mapp", lists) end, "'mapp'", "metric")
    raises(function() mr.bounds.distribution_bound{ steepness = "big" } end, "steepness", "'big'")
  end)
end)
