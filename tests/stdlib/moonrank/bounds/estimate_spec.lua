-- Tests estimated bound statistics: metrics with closed forms are defined again as script metrics, and their estimates
-- are compared with the closed forms.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local f64 = { dtype = "float64" }

-- Reciprocal rank and nRBP loss (wrong pairs), computed from exact ranks.
local function reciprocal(ranks, lists) return lists:max(lists.relevance:to(ranks.dtype) / ranks) end
local function wrong_pairs(ranks, lists)
  local relevant = lists.relevance:to(ranks.dtype)
  local p = lists:sum(relevant)
  return lists:sum(relevant * (ranks - 1)) - p * (p - 1) / 2
end
mr.losses.define("spec_rr", { direction = "maximize", smooth = mr.smooth.rr, exact = reciprocal })
mr.losses.define("spec_wrong_pairs", { direction = "minimize", smooth = mr.smooth.nrbp_loss, exact = wrong_pairs })
local twins = { spec_rr = "rr", spec_wrong_pairs = "nrbp_loss" }
local loss_of = { spec_rr = "rr", spec_wrong_pairs = "nrbp" }

describe("ranks of bounds", function()
  it("core.arrangement_ranks lists every distinct arrangement once if there are few", function()
    local ranks = core.arrangement_ranks({ 2, 0, 1, 0 }, 100):totable()
    equal(#ranks, 12 * 4)
    local seen = {}
    for o = 0, 11 do
      local ranking = {}
      for i = 1, 4 do ranking[ranks[o * 4 + i]] = ({ "c", "a", "b", "a" })[i] end
      equal(#ranking, 4)
      local word = table.concat(ranking)
      check(not seen[word], word)
      seen[word] = true
    end
    equal(core.arrangement_ranks({ 2, 0, 1, 0 }, 11), nil)
    equal(#core.arrangement_ranks({}, 5), 0)
  end)

  it("core.random_ranks draws uniform permutations for any thread count and start index", function()
    local counts = {}
    local ranks = core.random_ranks(3, 0, 60000, 1):totable()
    for o = 0, 59999 do
      local word = ("%d%d%d"):format(ranks[3 * o + 1], ranks[3 * o + 2], ranks[3 * o + 3])
      counts[word] = (counts[word] or 0) + 1
    end
    local kinds = 0
    for word, count in pairs(counts) do
      kinds = kinds + 1
      check(math.abs(count - 10000) < 4 * math.sqrt(10000 * 5 / 6), word .. " " .. count)
    end
    equal(kinds, 6)
    local threads = core.threads()
    core.threads(1)
    local whole = core.random_ranks(33, 0, 205, 7):totable()
    equal(core.random_ranks(33, 5, 200, 7):totable(), { table.unpack(whole, 5 * 33 + 1) })
    core.threads(threads)
    raises(function() core.random_ranks(1 << 30, 0, 1 << 30, 1) end, "count", "random_ranks")
  end)
end)

describe("a metric defined by a script", function()
  for name, twin in pairs(twins) do
    it(name .. " has the bound statistics of the equal built-in metric", function()
      for _, shape in ipairs{ { n = 2, p = 1 }, { n = 9, p = 3 }, { n = 12, p = 6 } } do
        local found, expected = mr.bounds.of(name, shape), mr.bounds.of(twin, shape)
        equal({ found.method, found.error }, { "enumerated", 0 })
        for _, field in ipairs{ "min", "max", "best", "expectation", "sd" } do
          near(found[field], expected[field], 1e-12, field)
        end
        local own, closed = mr.bounds.distribution(name, shape), mr.bounds.distribution(twin, shape)
        near(own:quantile(0.3), closed:quantile(0.3), 1e-12)
      end
      local found, expected = mr.bounds.of(name, { n = 60, p = 20 }), mr.bounds.of(twin, { n = 60, p = 20 })
      equal({ found.method, found.orders }, { "sampled", 20000 })
      near(found.expectation, expected.expectation, { atol = 4 * found.error })
      near({ found.min, found.max }, { expected.min, expected.max }, 1e-12, "the sorted orders are among those tried")
      check(found.error > 0 and found.error < expected.sd / 100)
    end)

    it(name .. " has the values of the equal built-in loss under every bound", function()
      local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 0 }, { 0, 1, 0 }, { 1, 1 }, { 1, 0, 0, 1, 0, 1, 0, 0 } }
      local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
      local bounds = { "none", "minmax", "expectation", "expectation_max", "zscore", "distribution", "distribution_log",
        "distribution_logit" }
      for _, bound in ipairs(bounds) do
        local mine, built_in = mr.losses[name]{ bound = bound }, mr.losses[loss_of[name]]{ bound = bound }
        local tolerance = bound:find("distribution") and { atol = 3e-5 } or { rtol = 1e-11, atol = 1e-12 }
        near(mine(scores, lists):totable(), built_in(scores, lists):totable(), tolerance, bound)
        equal({ mine:count(lists), mine.bound_name }, { 3, bound })
        check(mr.gradcheck(function(x) return mine(x, lists) end, scores) < 1e-6, bound)
      end
      local by_name = mr.bounds.define("spec_by_expectation", function(score, stats)
        return score / stats.expectation
      end)
      local closed = mr.losses[loss_of[name]]{ bound = "expectation" }
      near(mr.losses[name]{ bound = by_name }(scores, lists), closed(scores, lists), 1e-12)
    end)
  end

  it("can be used in mr.evaluate and in mr.bounds.check", function()
    local lists, scores = mr.lists{ { 0, 1, 0 } }, mr.tensor({ 3, 2, 1 }, f64)
    equal(mr.evaluate(scores, lists, { "spec_rr" }).mean.spec_rr, 0.5)
    local report = mr.bounds.check("minmax", { metrics = { "spec_wrong_pairs" }, nsr = { 1, 2 }, quiet = true })
    check(report.ok, tostring(report))
  end)

  it("is divided by the distance from mean to best value under expectation_max", function()
    local function square(ranks, lists) return lists:sum(ranks * ranks * lists.relevance) end
    mr.metrics.define("spec_square_of_rank", square, { direction = "minimize" })
    -- the three values by rank are 1, 4 and 9, mean 14/3. The best value is 11/3 away from the mean, the worst 13/3
    local scores, lists = mr.tensor{ 3, 2, 1, 3, 2, 1, 3, 2, 1 }, mr.lists{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
    local e = mr.evaluate(scores, lists, { { "spec_square_of_rank", bound = "expectation_max" } })
    near(e["spec_square_of_rank[expectation_max]"], { -1, -2 / 11, 13 / 11 }, 1e-6)
  end)

  it("gets ranks, scores and relevance in the same dtype, under every bound", function()
    local types = {}
    local function seen(x, lists)
      types[#types + 1] = x.dtype == lists.relevance.dtype and lists:with_relevance(lists.relevance).relevance.dtype
    end
    local exact = function(ranks, lists)
      seen(ranks, lists)
      return lists:mean(lists.relevance / ranks)
    end
    local smooth = function(scores, lists)
      seen(scores, lists)
      return lists:mean(lists.relevance / mr.smooth.rank(scores, lists))
    end
    mr.losses.define("spec_plain", { direction = "maximize", smooth = smooth, exact = exact })
    mr.metrics.define("spec_plain_too", exact)
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 0 }, { 0, 2, 0, 1 }, { 1, 1 } }
    for _, dtype in ipairs{ "float32", "float64" } do
      types = {}
      local scores = mr.normal({ lists.rows }, { seed = 4, dtype = dtype })
      equal(mr.metrics.spec_plain_too(scores, lists).dtype, dtype)
      for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max", "zscore", "distribution",
        "distribution_log", "distribution_logit", function(score, stats) return score / stats.max end } do
        local loss = mr.losses.spec_plain{ bound = bound }
        local value = loss(scores, lists)
        equal({ value.dtype, loss:count(lists) }, { dtype, 2 })
        check(value:sum():item() == value:sum():item())
      end
      check(#types > 9)
      for _, each in ipairs(types) do check(each == "float64" or each == dtype, tostring(each)) end
    end
    equal(lists.relevance.dtype, "float32", "other lists stay what they are")
    near(mr.bounds.of("spec_plain", { n = 3, p = 1 }).expectation, (1 + 1 / 2 + 1 / 3) / 9, 1e-15)
    raises(function() lists:to("int64") end, "dtype", "int64")
  end)

  it("has a distribution whose method() says enumerated, sampled or values", function()
    equal(mr.bounds.distribution("spec_rr", { n = 5, p = 2 }):method(), "enumerated")
    equal(mr.bounds.distribution("spec_rr", { n = 60, p = 20 }):method(), "sampled")
    equal(mr.bounds.distribution("err", { n = 5, p = 2, beta = 0.5 }):method(), "sampled")
    equal(mr.bounds.distribution_of({ 1, 2 }):method(), "values")
  end)

  it("has bounds with a cutoff, even without closed forms for the cutoff", function()
    near(mr.bounds.of("rr@2", { n = 4, p = 1 }).expectation, (1 + 1 / 2) / 4, 1e-15)
    near(mr.bounds.of("rbp(0.5)@1", { n = 4, p = 1 }).max, 0.5, 1e-15)
    equal(mr.bounds.of("ap@3", { n = 5, p = 2 }).method, "enumerated")
  end)

  it("gets new bound statistics when it is defined again", function()
    mr.losses.define("spec_again", { direction = "maximize", smooth = mr.smooth.rr, exact = reciprocal })
    local before = mr.bounds.of("spec_again", { n = 4, p = 1 }).expectation
    local function doubled(ranks, lists) return reciprocal(ranks, lists) * 2 end
    mr.losses.define("spec_again", { direction = "maximize", smooth = mr.smooth.rr, exact = doubled })
    near(mr.bounds.of("spec_again", { n = 4, p = 1 }).expectation, 2 * before, 1e-15)
  end)

  it("raises an error for a wrong result shape, list shape or method", function()
    mr.metrics.define("spec_shapeless", function(ranks) return ranks end)
    raises(function() mr.bounds.of("spec_shapeless", { n = 4, p = 1 }) end, "spec_shapeless", "tensor")
    raises(function() mr.bounds.of("spec_rr", { n = 4 }) end, "n", "4", "p", "nil")
    raises(function() mr.bounds.of("spec_rr", { n = 0, p = 0 }) end, "n", "0")
    raises(function() mr.bounds.distribution("auc", { n = 3, p = 3 }) end, "auc", "undefined")
    raises(function() mr.bounds.distribution("spec_rr", { n = 60, p = 20, method = "exact" }) end, "beta", "orders")
  end)
end)

it("a distribution-based bound takes several scores of a list by the list's number", function()
  local lists = mr.lists{ { 1, 0, 0 }, { 1, 1 }, { 1, 1, 0, 0 } }
  local numbers = mr.tensor({ 3, 1, 1, 2, 3 }, { dtype = "int64" })
  for _, metric in ipairs{ "ap", "spec_rr" } do
    for _, name in ipairs{ "distribution", "distribution_logit" } do
      local bound = mr.bounds.resolve(name)
      local function of(...)
        local score = mr.tensor({ 0.3, 0.7, 0.5, 0.4, 0.9 }, f64):requires_grad()
        local value = bound.apply(score, metric, ...)
        value:sum():backward()
        return { value:totable(), score.grad:totable() }
      end
      equal(of(lists, numbers), of(lists:select(numbers)), metric)
    end
    raises(function() mr.bounds.resolve("distribution").apply(mr.ones(1), "ap", lists, numbers) end, "numbers", "{5}")
  end
end)

it("built-in metrics without closed forms have enumerated statistics, equal to hand-computed ones for err", function()
  -- the list has the grades 2, 0, 0: a user stops at the relevant row with probability (2^2 - 1) / 2^2 if it is at rank
  -- 1, 2 or 3
  local found = mr.bounds.of("err", { grades = { 2, 0, 0 } })
  near({ found.min, found.max, found.expectation }, { 0.75 / 3, 0.75, 0.75 * (1 + 1 / 2 + 1 / 3) / 3 }, 1e-12)
  equal(found.method, "enumerated")
end)

it("shares of rankings are computed for whole copies of the lists only", function()
  local metric, spec = require("moonrank.metrics.registry").parse "rr",
    core.distribution_spec("cdf", "auto", 100, 1, "kappa", 1.0, 1.0)
  local lists = mr.lists{ { 1, 0 }, { 1, 0, 0 } }
  equal(#core.distribution_shares(mr.tensor({ 0.5, 0.4, 1, 0.5 }, f64), lists, metric, spec), 4)
  equal(#core.distribution_shares(mr.tensor({}, f64), mr.lists{}, metric, spec), 0)
  for _, case in ipairs{ { mr.ones(3), lists }, { mr.ones(1), mr.lists{} } } do
    raises(function() core.distribution_shares(case[1], case[2], metric, spec) end, "score", "multiple")
  end
end)
