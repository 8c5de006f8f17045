-- Tests distributions of metrics for a ranker that is better or worse than random (parameter beta), and bounds that use
-- them as reference.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

local f64 = { dtype = "float64" }
local forms = { "cdf", "log", "logit" }

local lists = mr.lists{ { 2, 0, 0, 1, 0 }, { 0, 0 }, { 0, 1, 0 }, { 1, 1 }, { 2, 0, 0, 2, 0, 2, 0, 0 } }

-- Number of wrongly ordered pairs, computed from ranks: the built-in nrbp_loss, defined by a script.
local function wrong_pairs(ranks, of)
  local relevant = of.relevance:ge(1):to(ranks.dtype)
  local p = of:sum(relevant)
  return of:sum(ranks * relevant) - p * (p + 1) / 2
end

describe("mr.bounds.distribution with beta", function()
  it("equals weighted drawing for two rows and for grades", function()
    for _, beta in ipairs{ -2, -0.5, 0, 1, 3 } do
      local w = math.exp(beta)
      for _, name in ipairs{ "ndcg", "ap", "rr", "precision@1" } do
        local d = mr.bounds.distribution(name, { n = 2, p = 1, beta = beta })
        near(1 - d:cdf(0.99), w / (1 + w), 1e-12, name)
      end
      local graded = mr.bounds.distribution("ndcg", { grades = { 2, 0, 0 }, beta = beta })
      near(1 - graded:cdf(0.99), w ^ 2 / (w ^ 2 + 2), 1e-12)
    end
  end)

  it("has a mean that rises with beta, and is uniform with beta = 0", function()
    for _, name in ipairs{ "ndcg", "ap", "nrbp(0.95)", "rr", "ndcg@10" } do
      local before = -1
      for _, beta in ipairs{ -1, -0.1, 0, 0.1, 1, 4 } do
        local mean = mr.bounds.distribution(name, { n = 60, p = 20, beta = beta }):mean()
        check(mean > before, ("%s at beta %g"):format(name, beta))
        before = mean
      end
      local d = mr.bounds.distribution(name, { n = 60, p = 20, beta = 1e-12 })
      local plain = mr.bounds.of(name, { n = 60, p = 20 })
      near({ d:mean(), d:sd() }, { plain.expectation, plain.sd }, 1e-9)
    end
  end)

  it("is smoothed and sampled with the same result for any number of threads", function()
    local threads = core.threads()
    for _, name in ipairs{ "ndcg", "ap", "nrbp_loss" } do
      local shape = { n = 100, p = 25, beta = 1.5 }
      local d = mr.bounds.distribution(name, shape)
      equal(d:method(), "characteristic function")
      for z = -3, 3 do
        local s = d:mean() + z * d:sd()
        near((d:smooth(s, { tabled = true })), (d:smooth(s)), { atol = 2e-6 }, name)
      end
      shape.method, shape.samples = "sampled", 5000
      local all = mr.bounds.distribution(name, shape):pmf()
      core.threads(1)
      equal(mr.bounds.distribution(name, shape):pmf():totable(), all:totable())
      core.threads(threads)
    end
  end)

  it("samples a metric defined in Lua to the moments of the same built-in metric", function()
    mr.metrics.define("spec_wrong_pairs_beta", wrong_pairs, { direction = "minimize" })
    for _, shape in ipairs{ { n = 9, p = 3, beta = 1 }, { n = 60, p = 20, beta = -0.5 } } do
      local found = mr.bounds.distribution("spec_wrong_pairs_beta", shape)
      local twin = mr.bounds.distribution("nrbp_loss", shape)
      near(found:mean(), twin:mean(), { atol = 4 * twin:sd() / math.sqrt(20000) })
      near(found:sd(), twin:sd(), { rtol = 0.03 })
    end
    raises(function() mr.bounds.distribution("spec_wrong_pairs_beta", { n = 4, p = 1, beta = 1,
      method = "exact" }) end, "beta", "0")
  end)

  it("refuses a beta that is not finite or so large that rankings do not vary", function()
    for _, beta in ipairs{ 0 / 0, math.huge, -math.huge, "1" } do
      raises(function() mr.bounds.distribution("ap", { n = 3, p = 1, beta = beta }) end, "beta")
      raises(function() mr.bounds.distribution_bound{ beta = beta } end, "beta")
    end
    for _, beta in ipairs{ 13, 50, -50, 1e9 } do
      raises(function() mr.bounds.distribution("ndcg", { n = 60, p = 20, beta = beta }) end, "beta", "ndcg", "60")
      local bounded = mr.losses.ndcg{ bound = mr.bounds.distribution_bound{ beta = 2 * beta } }
      raises(function() bounded(mr.zeros({ 2 }, f64), mr.lists{ { 1, 0 } }) end, "beta", "ndcg", "2")
    end
    check(mr.bounds.distribution("ndcg", { n = 60, p = 20, beta = 11 }):sd() > 0)
    raises(function() mr.bounds.distribution("ndcg", { n = 60, p = 0, beta = 1 }) end, "relevant", "row")
    near(mr.bounds.distribution("ndcg", { n = 3, p = 3, beta = 50 }):mean(), 1, 1e-15)
    near(mr.bounds.distribution("ndcg", { n = 1, p = 1, beta = 1 }):mean(), 1, 1e-15)
  end)
end)

describe("mr.bounds.distribution_bound with beta", function()
  it("has beta in its name", function()
    equal(mr.bounds.distribution_bound{ beta = 1 }.name, "distribution (beta 1)")
    equal(mr.bounds.distribution_bound{ form = "log", beta = -0.25 }.name, "distribution_log (beta -0.25)")
    equal(mr.bounds.distribution_bound{ form = "logit", beta = 0 }.name, "distribution_logit")
  end)

  it("has right gradients in every loss and form", function()
    local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
    for _, loss in ipairs{ "ndcg", "ap", "nrbp", "rr" } do
      for _, form in ipairs(forms) do
        for _, beta in ipairs{ -1, 0.5, 2 } do
          local bounded = mr.losses[loss]{ bound = mr.bounds.distribution_bound{ form = form, beta = beta } }
          local error = mr.gradcheck(function(x) return bounded(x, lists) end, scores)
          check(error < 1e-6, ("%s %s %g"):format(loss, form, beta))
        end
      end
    end
  end)

  it("reads the distribution of each list's own grades", function()
    local bound = mr.bounds.distribution_bound{ beta = 0.7 }
    local score = mr.tensor({ 0.8, 0, 0.6, 0, 0.9 }, f64)
    local found = bound.apply(score, "ndcg", lists):totable()
    for l, grades in pairs{ [1] = { 2, 0, 0, 1, 0 }, [3] = { 0, 1, 0 }, [5] = { 2, 0, 0, 2, 0, 2, 0, 0 } } do
      local d = mr.bounds.distribution("ndcg", { grades = grades, beta = 0.7 })
      near(found[l], (d:smooth(score:totable()[l], { tabled = true })), 1e-12)
    end
    equal({ found[2], found[4] }, { 0.0, 0.0 })
    local ap = bound.apply(score, "ap", lists):totable()
    near(ap[5], (mr.bounds.distribution("ap", { n = 8, p = 3, beta = 0.7 }):smooth(0.9, { tabled = true })), 1e-12)
  end)

  it("differs for different betas, also with steepness = 'samples'", function()
    local score = mr.tensor({ 0.8, 0, 0.6, 0, 0.9 }, f64)
    local function value(options)
      return mr.bounds.distribution_bound(options).apply(score, "ndcg", lists):totable()[5]
    end
    check(value{ beta = 1 } < value{} and value{ beta = -1 } > value{})
    check(value{ beta = 1, steepness = "samples", samples = 2000 } < value{ steepness = "samples", samples = 2000 })
  end)

  it("passes mr.bounds.check and is drawn by mr.bounds.plot", function()
    local logit = mr.bounds.distribution_bound{ form = "logit", beta = 1 }
    local report = mr.bounds.check(logit, { nsr = { 1, 3 }, relevant = { 1, 5, 20 }, quiet = true })
    check(report.ok, tostring(report))
    local figure = mr.bounds.plot({ "distribution_logit", logit }, { metric = "ap" })
    check(tostring(figure) ~= "")
  end)
end)
