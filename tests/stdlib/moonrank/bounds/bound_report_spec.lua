-- Tests mr.bounds.check and its kinds of problems, slopes and weights of bounds, and figures of bounds.
local mr = require "moonrank"
local test = require "moonrank.test"
local says = require "tests.support.says"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local function report_of(name, f, options)
  if f then mr.bounds.define(name, f) end
  options = options or {}
  options.quiet = true
  return mr.bounds.check(name, options)
end

local function kinds(list)
  local found = {}
  for _, each in ipairs(list) do found[each.kind] = true end
  return found
end

local function unit(score, stats) return (score - stats.min) / (stats.max - stats.min) end

describe("mr.bounds.check", function()
  it("finds no problem in the built-in bounds", function()
    local names = { "none", "minmax", "expectation", "expectation_max", "zscore", "distribution",
      "distribution_log", "distribution_logit" }
    for _, name in ipairs(names) do
      local report = report_of(name)
      check(report.ok, tostring(report))
      check(report.metrics.ap.gradient_error < 1e-5, name)
    end
  end)

  it("reports a wrong gradient if part of the bound is detached", function()
    local report = report_of("spec_detached", function(score, stats) return unit(score, stats) * score:detach() end)
    check(not report.ok)
    equal(kinds(report.problems), { gradient = true })
    says(report.problems[1].text, "differences")
  end)

  it("reports a bound that is not monotone, and one that reverses the metric's direction", function()
    local wave = report_of("spec_wave", function(score, stats)
      return (unit(score, stats) * 9):tanh() - unit(score, stats)
    end)
    equal(kinds(wave.problems), { monotone = true })
    says(wave, "monotone", "ndcg", "(2, 1)")
    local turned = report_of("spec_turned", function(score, stats) return -unit(score, stats) end)
    equal(kinds(turned.problems), { direction = true })
  end)

  it("reports division by zero: a caution on degenerate lists, a problem on others", function()
    local degenerate = report_of("spec_by_range", unit)
    check(degenerate.ok, "training leaves such lists out")
    check(kinds(degenerate.cautions).degenerate, tostring(degenerate))
    says(degenerate, "(1, 1)")
    local tiny = report_of("spec_by_others", function(score, stats) return score / (stats.p - 1) end)
    check(kinds(tiny.problems).finite, tostring(tiny))
  end)

  it("reports a bound without slope as flat", function()
    local zero = report_of("spec_zero", function(score) return score * 0 end)
    equal(kinds(zero.problems), { flat = true })
    says(zero, "flat", "ndcg")
    check(tostring(zero):find("slope", 1, true) and not tostring(zero):find("nan", 1, true), tostring(zero))
    local large = report_of("spec_large_only", function(score, stats) return score * stats.n:gt(5) end)
    check(kinds(large.cautions).flat and not kinds(large.problems).flat, tostring(large))
    check(not tostring(large):find("nan", 1, true), tostring(large))
  end)

  it("checks metrics with a cutoff on lists that are longer than the cutoff", function()
    local report = report_of("minmax", nil, { metrics = { "precision@5", "hit@3" }, nsr = { 1, 3 } })
    check(report.ok and not kinds(report.cautions).flat, tostring(report))
    raises(function() mr.bounds.check("minmax", { metrics = { "precision@5000" }, quiet = true }) end, "precision@5000")
  end)

  it("reports a bound that reads the other lists of its batch", function()
    check(kinds(report_of("spec_batch", function(score) return score - score:mean() end).problems).batch)
  end)

  it("reports a vanishing gradient of distribution bounding of nDCG at equal scores (Westerborg 2022)", function()
    local report = report_of("distribution")
    check(report.metrics.ndcg.equal < 1e-9 and report.metrics.ap.equal > 1e-3)
    check(kinds(report.cautions).vanishing)
    check(report_of("distribution_logit").metrics.ndcg.equal > 1e-3)
  end)

  it("measures shares against the steepest finite slope where the slope is infinite at a score", function()
    local report = report_of("spec_root", function(score, s) return ((score - s.min) / (s.max - s.min)) ^ 0.5 end)
    local m = report.metrics.ap
    check(m.equal > 0.1 and m.equal < 1, tostring(report))
    near(m.at_best, (1 / 32) ^ 0.5, 1e-9)  -- the steepest finite slope is at the second of 33 scores
    equal(m.at_worst, math.huge)
    check(not kinds(report.cautions).vanishing, tostring(report))
    equal(kinds(report.problems), { finite = true })
    says(report, "finite", "infinite", "score 0.5", "(2, 1)")
    check(not tostring(report):find("%f[%a]inf%f[%A]"), tostring(report))
  end)

  it("measures slope ratios: nRBP under min-max weighs 20 relevant rows 625 times as much as 500", function()
    local m = report_of("minmax", nil, { metrics = { "nrbp_loss", "ap" }, nsr = { 1, 3 } }).metrics
    near(m.nrbp_loss.slope_ratio, { 625, 625 }, 1e-9)
    near(m.ap.slope_ratio, { 1.469 / 1.444, 1.01 }, { atol = 0.006 })
    near({ m.nrbp_loss.best[1], m.nrbp_loss.worst[2] }, { 0, 1 }, { atol = 1e-12 })
  end)

  it("refuses unknown bounds and options, no metrics, and wrong values of nsr and relevant", function()
    raises(function() mr.bounds.check("minmx") end, "'minmx'", "'minmax'")
    raises(function() mr.bounds.check("minmax", { metrics = {} }) end, "metrics", "empty")
    raises(function() mr.bounds.check("minmax", { metric = "ap" }) end, "'metric'", "'metrics'")
    for _, bad in ipairs{ -1, 0 / 0, 1e300, math.maxinteger, 1 / 0, "1" } do
      raises(function() mr.bounds.check("minmax", { nsr = { bad } }) end, "nsr")
    end
    for _, bad in ipairs{ 0, -1, 1.5, 0 / 0, math.maxinteger, "1" } do
      raises(function() mr.bounds.check("minmax", { relevant = { bad } }) end, "relevant")
      raises(function() mr.bounds.plot("minmax", { relevant = { bad } }) end, "relevant")
    end
    check(mr.bounds.check("minmax", { metrics = { "ap" }, relevant = { 1 }, nsr = { 0.5 }, quiet = true }).ok)
  end)
end)

describe("mr.bounds.slopes and mr.bounds.weighted", function()
  local lists = mr.lists{ { 1, 0, 0, 1 }, { 0, 0 }, { 1, 0 }, { 1, 1 }, { 1, 1, 1, 0, 0, 0, 0, 0 } }

  it("give the factor of affine bounds, and 0 on degenerate lists", function()
    near(mr.bounds.slopes("minmax", "nrbp_loss", lists), { 1 / 4, 0, 1, 0, 1 / 15 }, 1e-14)
    near(mr.bounds.slopes("none", "ap", lists), { 1, 0, 1, 0, 1 }, 0)
    equal(mr.bounds.slopes("minmax", "ap", mr.lists{ { 1 }, {} }):totable(), { 0.0, 0.0 })
    local function constant(score) return score:detach() end
    equal(mr.bounds.slopes(constant, "ap", lists):totable(), { 0.0, 0.0, 0.0, 0.0, 0.0 })
  end)

  it("limit slopes with cap and scale them to mean 1 with normalize", function()
    local capped = mr.bounds.weighted("minmax", { cap = 0.5 })
    near(mr.bounds.slopes(capped, "nrbp_loss", lists), { 1 / 4, 0, 1 / 2, 0, 1 / 15 }, 1e-12)
    local even = mr.bounds.weighted("minmax", { cap = 0.5, normalize = lists })
    local slopes = mr.bounds.slopes(even, "nrbp_loss", lists)
    near(slopes:sum():item(), 3, 1e-12)
    near(slopes:totable()[1] / slopes:totable()[5], 15 / 4, 1e-12)
    equal(even.name, "minmax (cap 0.5, mean 1)")
    raises(function() mr.bounds.weighted("minmax", { cap = 0 }) end, "cap", "0")
  end)

  it("make a bound that mr.bounds.define takes, with right gradients", function()
    mr.bounds.define("spec_even", mr.bounds.weighted("distribution_logit", { cap = 5, normalize = lists }))
    local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    for _, loss in ipairs{ "ndcg", "ap", "nrbp" } do
      check(mr.gradcheck(function(x) return mr.losses[loss]{ bound = "spec_even" }(x, lists) end, scores) < 1e-6, loss)
    end
    check(mr.losses.lambdarank{ bound = "spec_even" }(scores, lists):sum():item() > 0)
  end)
end)

it("mr.bounds.plot draws a panel per bound and NSR, and a line per number of relevant rows", function()
  local one = mr.bounds.plot("minmax", { metric = "ap", nsr = { 2 } })
  check(tostring(one):find("lines: 3 series", 1, true), tostring(one))
  local many = mr.bounds.plot({ "minmax", "expectation" },
    { metric = "nrbp_loss", nsr = { 1, 2, 3 }, relevant = { 5, 10 } })
  check(tostring(many):find("6 panels", 1, true), tostring(many))
  raises(function() mr.bounds.plot("minmax", { nsr = {} }) end, "nsr", "empty")
  raises(function() mr.bounds.plot{} end, "bound", "empty")
end)
