-- Tests losses over random rankings against all N! rankings of short lists: exact derivatives, means over many draws,
-- bounds, and degenerate lists. Random numbers must depend on nothing but seed, step and row.
local mr = require "moonrank"
local core = require "moonrank.core"
local metrics = require "moonrank.metrics.registry"
local of_rankings = require "moonrank.bounds.of_rankings"
local about = dofile("tests/support/field.lua").it
local test = require "moonrank.test"
local value_and_gradient = dofile("tests/support/slopes.lua").of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local losses = mr.losses

-- Returns all rankings of a list as one batch with a copy of the list for each ranking: ranks, rows by rank,
-- probabilities.
local function all_rankings(scores, y)
  local n, numbers = #scores, {}
  for i = 1, n do numbers[i] = i end
  local ranks = core.arrangement_ranks(numbers, 20000):to(mr.device())
  local count = #ranks // n
  local lists, flat, of_all, p = core.list_copies(y, count), ranks:totable(), {}, {}
  for s = 0, count - 1 do
    local at, left, probability = {}, 0, 1
    for i = 1, n do
      at[math.tointeger(flat[s * n + i])], of_all[s * n + i] = i, scores[i]
      left = left + math.exp(scores[i])
    end
    for rank = 1, n do
      local e = math.exp(scores[at[rank]])
      probability, left = probability * e / left, left - e
    end
    p[s + 1] = probability
  end
  return { lists = lists, ranks = ranks, count = count, p = mr.tensor(p, f64), scores = mr.tensor(of_all, f64),
    order = core.order(core.ranking(-ranks, lists, "stable", 1)) }
end

-- Sums a value per row over the copies of a list.
local function over_copies(x, all, n) return x:reshape(all.count, n):sum(1):totable() end

-- Returns the mean of `values` over all rankings, weighted by probability, and its derivative computed from derivatives
-- of the rankings' log probabilities (policy gradient).
local function by_log_slopes(all, n, metric, values)
  local ranks = core.counted_ranks(all.scores, all.lists, metric)
  local slopes = select(2, core.add_log_slopes(all.scores, all.lists, all.order, ranks, values,
    core.no_rankings(all.scores, all.lists)))
  return (values * all.p):sum():item(), over_copies(slopes * all.lists:spread(values * all.p), all, n)
end

-- Returns the derivative of the metric's mean by PL-Rank's estimates, with rankings weighted by their probabilities.
local function by_pl_rank(all, n, metric)
  local gains, discounts, factors = core.sum_terms(all.scores, all.lists, metric)
  local value, plain = core.no_rankings(all.scores, all.lists)
  local slopes = select(2, core.add_pl_rank(all.scores, all.lists, all.order,
    core.summed_ranks(all.scores, all.lists, metric), gains, discounts, factors * all.p, all.p, value, plain))
  return over_copies(slopes, all, n)
end

local function exact_values(metric, all)
  local values = metrics.on_ranks(metric)(all.ranks, all.lists)
  return core.times_slope(values, mr.bounds.weights(metric, all.lists):to(values.device))
end

local bound_names = { min_max = "minmax", expectation = "expectation", expectation_max = "expectation_max" }

-- Returns the bounded values of all rankings of a list with the grades `y`.
local function bounded_by(bound, values, metric, y, all)
  return of_rankings.apply(bound, values, metric, mr.lists{ y }, all.lists)
end

describe("estimates over all rankings", function()
  about("are the reference values' derivatives", "plackett_luce", function(golden)
    local compared = 0
    local function same(value, slopes, expected, where)
      local size = math.max(1, math.abs(expected.value))
      near(value / size, expected.value / size, 1e-10, where)
      size = 1
      for _, x in ipairs(expected.gradient) do size = math.max(size, math.abs(x)) end
      for i, x in ipairs(expected.gradient) do near(slopes[i] / size, x / size, 1e-10, "gradient of " .. where) end
      compared = compared + 1
    end
    for l, case in ipairs(golden.lists) do
      local n = #case.scores
      local all = n <= 7 and all_rankings(case.scores, case.relevance)
      for name, expected in pairs(all and case.metrics or {}) do
        if expected.value and not expected.degenerate then
          local where, metric = ("%s of list %d"):format(name, l), mr.metrics.parse(name)
          local values = exact_values(metric, all)
          same((values * all.p):sum():item(), select(2, by_log_slopes(all, n, metric, values)), expected, where)
          if core.sums_over_rows(metric) then
            same(expected.value, by_pl_rank(all, n, metric), expected, "PL-Rank, " .. where)
          end
          for short, bound in pairs(bound_names) do
            local loss = losses.policy_gradient{ metric = name, bound = bound }
            local bounded = bounded_by(loss.options.bound, values, metric, case.relevance, all)
            local value, slopes = by_log_slopes(all, n, metric, bounded)
            same(value, slopes, expected[short], short .. ", " .. where)
          end
          if expected.distribution then
            local shares = bounded_by(mr.bounds.resolve "distribution", values, metric, case.relevance, all)
            local value, slopes = by_log_slopes(all, n, metric, shares)
            same(value, slopes, expected.distribution, "distribution, " .. where)
          end
        end
      end
    end
    check(compared > 100, compared)
  end)

  it("agree with each other for every metric that is a sum over rows", function()
    local f, y, found = { 0.5, -1, 0.25, 1.5, 0 }, { 1, 0, 3, 0, 1 }, 0
    local all = all_rankings(f, y)
    for _, base in ipairs(mr.metrics.names()) do
      for _, cut in ipairs{ "", "@2" } do
        local known, metric = pcall(mr.metrics.parse, base .. cut)
        if known and core.sums_over_rows(metric) then
          local _, slopes = by_log_slopes(all, 5, metric, exact_values(metric, all))
          near(by_pl_rank(all, 5, metric), slopes, 1e-12, metric.name)
          found = found + 1
        end
      end
    end
    check(found >= 14, found)
  end)
end)

describe("the bound \"distribution\" of rankings", function()
  local function of(metric, grades, values)
    return of_rankings.apply(mr.bounds.resolve "distribution", mr.tensor(values, f64), mr.metrics.parse(metric),
      mr.lists(grades), mr.lists(grades))
  end

  it("is the share of rankings that are not better, of several copies of lists", function()
    -- AP of one relevant row among three is 1, 1/2 or 1/3, equally likely
    local values, shares = { 1, 1, 1 / 2, 1 / 2, 0.49, 0.49 }, { 1, 1, 2 / 3, 1 / 2, 1 / 3, 0 }
    near(of("ap", { { 1, 0, 0 }, { 1, 0 } }, values), shares, 1e-15)
    equal(of("ap", { { 0, 0 }, { 1, 1 } }, { 0, 1 }):totable(), { 0.0, 0.0 })
  end)

  it("is smoothed for lists whose metric has too many values, alone and beside short lists", function()
    local long = {}
    for i = 1, 60 do long[i] = i % 2 end
    local smooth = mr.bounds.resolve("distribution").apply(mr.tensor({ 0.8 }, f64), "ndcg", mr.lists{ long }):item()
    equal(of("ndcg", { long }, { 0.8 }):item(), smooth)
    equal(of("ndcg", { { 0, 1 }, long }, { 1, 0.8 }):totable(), { 1.0, smooth })
    -- RR has few values at any length
    near(of("rr", { long }, { 1 }):item(), 1, 1e-15)
  end)
end)

describe("means over 100,000 random rankings", function()
  local lists = { { f = { 0.5, -1, 0.25, 1.5, 0, -0.5 }, y = { 1, 0, 3, 0, 0, 1 } },
    { f = { 1, 1, 1, 0 }, y = { 0, 1, 0, 1 } }, { f = { 2, -1 }, y = { 0, 1 } } }
  local batches, samples = 100, 1000

  -- Returns means of the estimated values and gradients over `batches` copies of a list with independent draws, and
  -- their standard errors.
  local function estimated(loss, f, y)
    local copies, scores = {}, {}
    for b = 1, batches do
      copies[b] = y
      table.move(f, 1, #f, #scores + 1, scores)
    end
    mr.seed(4)
    local values, gradient = value_and_gradient(loss, mr.tensor(scores, f64), mr.lists(copies))
    local each = { values }
    gradient = gradient:reshape(batches, #f)
    for i = 1, #f do each[i + 1] = gradient:narrow(2, i, 1):reshape(batches) end
    local found = {}
    for i, x in ipairs(each) do
      local mean = x:mean():item()
      found[i] = { mean = mean, error = ((x - mean)^2):sum():item() ^ 0.5 / batches }
    end
    return found
  end

  local function unbiased(name, metric, bound, options)
    metric = mr.metrics.parse(metric)
    local o = { metric = metric, bound = bound, samples = samples }
    for key, value in pairs(options or {}) do o[key] = value end
    local loss, sign = losses[name](o), metric.minimize and 1 or -1
    for l, list in ipairs(lists) do
      local all = all_rankings(list.f, list.y)
      local bounded = bounded_by(loss.options.bound, exact_values(metric, all), metric, list.y, all)
      local value, slopes = by_log_slopes(all, #list.f, metric, bounded)
      if o.baseline == "mean" then for i, x in ipairs(slopes) do slopes[i] = x * (samples - 1) / samples end end
      for i, found in ipairs(estimated(loss, list.f, list.y)) do
        local expected = sign * (i == 1 and value or slopes[i - 1])
        near(found.mean, expected, 4 * found.error + 1e-9, ("%s, %s, %s, list %d, %d"):format(name, metric.name,
          loss.bound_name, l, i))
      end
    end
  end

  for _, bound in ipairs(mr.bounds.names()) do
    it("are unbiased under " .. bound, function()
      for _, metric in ipairs{ "ndcg", "ndcg@2", "nrbp_loss" } do unbiased("pl_rank", metric, bound) end
      for _, metric in ipairs{ "ndcg@2", "ap", "rr" } do unbiased("policy_gradient", metric, bound) end
    end)
  end

  it("are unbiased for other sums over rows, metrics of scripts and the other baseline", function()
    for _, metric in ipairs{ "dcg", "precision@1", "rbp(0.8)", "r_precision", "auc" } do
      unbiased("pl_rank", metric, "none")
    end
    mr.metrics.define("rankings_spec_declared",
      { gain = function(y) return y * y end, discount = function(r) return 1 / r end, ideal = true })
    mr.metrics.define("rankings_spec_last", function(ranks, of) return of:max(ranks * of.relevance:ge(1)) end,
      { direction = "minimize" })
    unbiased("pl_rank", "rankings_spec_declared", "minmax")
    unbiased("policy_gradient", "rankings_spec_last", "minmax")
    unbiased("policy_gradient", "ap", "minmax", { baseline = "mean" })
  end)
end)

describe("losses over random rankings", function()
  local names = { "pl_rank", "policy_gradient" }
  local sizes = {}
  for _, n in ipairs{ 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000 } do
    local u = mr.uniform({ math.max(n, 1) }, { seed = n, device = "cpu" }):totable()
    sizes[#sizes + 1] = {}
    for i = 1, n do sizes[#sizes][i] = u[i] < 0.3 and 1 or 0 end
  end
  local lists = mr.lists(sizes)

  it("are finite at every size, with ties, and the same in float32 and float64", function()
    for _, name in ipairs(names) do
      for _, metric in ipairs{ "ndcg", "ndcg@10" } do
        local loss, x = losses[name]{ metric = metric, samples = 20 }, mr.normal({ lists.rows }, { seed = 1 })
        for _, scores in ipairs{ x, x:to "int64":to "float32", x * 0 } do
          local found = {}
          for _, dtype in ipairs{ "float32", "float64" } do
            mr.seed(2)
            local value, gradient = value_and_gradient(loss, scores:to(dtype), lists)
            equal(value.dtype, dtype)
            equal({ value:totable()[1], value:totable()[2] }, { 0.0, 0.0 })
            found[dtype] = { value:double(), gradient:double() }
          end
          near(found.float32[1], found.float64[1], 1e-6, name)
          near(found.float32[2], found.float64[2], 1e-6, name)
          check(found.float64[2]:abs():max():item() > 0)
        end
      end
    end
  end)

  it("are 0 for lists on which no order matters", function()
    for _, name in ipairs(names) do
      for _, bound in ipairs{ "none", "minmax", "distribution_logit" } do
        local loss = losses[name]{ bound = bound, samples = 10 }
        local of = mr.lists{ { 0, 0 }, { 1, 1, 1 }, { 2 }, {}, { 1, 0 } }
        local value, gradient = value_and_gradient(loss, mr.tensor({ 1, 2, 3, 2, 1, 0, 0, 0 }, f64), of)
        for l = 1, 4 do equal(value[l]:item(), 0.0) end
        for i = 1, 6 do equal(gradient[i]:item(), 0.0) end
        equal(loss:count(of), 1)
        equal(#losses[name]{ bound = bound }(mr.zeros{ 0 }, mr.lists{}), 0)
      end
    end
  end)

  it("handle scores that are far apart, and infinite ones", function()
    for _, name in ipairs(names) do
      local loss = losses[name]{ samples = 50 }
      for _, f in ipairs{ { 0, -1000, -2000 }, { 1e30, -1e30, -2e30 }, { math.huge, 0, -math.huge } } do
        local value, gradient = value_and_gradient(loss, mr.tensor(f, f64), mr.lists{ { 0, 1, 0 } })
        near(value:item(), -1 / math.log(3, 2), 1e-12, name)
        near(gradient, { 0, 0, 0 }, 1e-12, name)
      end
      -- rows with far lower scores are last, but their order among each other is still random
      local value, gradient = value_and_gradient(losses[name]{ metric = "ndcg@2", samples = 20000 },
        mr.tensor({ 0, -5000, -5000 }, f64), mr.lists{ { 0, 1, 0 } })
      near(value:item(), -0.5 / math.log(3, 2), 0.01)
      near(gradient, { 0, -0.25 / math.log(3, 2), 0.25 / math.log(3, 2) }, 0.01)
    end
  end)

  it("draw rankings by seed and row only: not by the other lists, nor by how many are ranked at once", function()
    local x = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    for _, name in ipairs(names) do
      local loss = losses[name]{ metric = "ndcg@5", samples = 1500, bound = "distribution" }
      local function of(count)
        local rows = 0
        for l = 1, count do rows = rows + #sizes[l] end
        mr.seed(7)
        local of_first = mr.lists{ table.unpack(sizes, 1, count) }
        local value, gradient = value_and_gradient(loss, x:narrow(1, 1, rows), of_first)
        return { value:narrow(1, 1, 6):totable(), gradient:narrow(1, 1, 99):totable() }
      end
      equal(of(6), of(10), name)
      mr.seed(7)
      local first = loss(x, lists):totable()
      check(loss(x, lists):totable()[6] ~= first[6], "a second call draws other rankings")
    end
  end)

  it("have less variance by PL-Rank than by policy gradients", function()
    local function variance(name, bound)
      local loss, of = losses[name]{ metric = "ndcg@10", samples = 4, bound = bound }, {}
      for b = 1, 200 do of[b] = sizes[4] end
      local f = mr.normal({ #sizes[4] }, { seed = 1, dtype = "float64" }):reshape(1, #sizes[4])
      local x = (f + mr.zeros({ 200, 1 }, f64)):reshape(200 * #sizes[4])
      local _, gradient = value_and_gradient(loss, x, mr.lists(of))
      gradient = gradient:reshape(200, #sizes[4])
      return ((gradient - gradient:mean(1))^2):sum():item()
    end
    for _, bound in ipairs{ "none", "minmax", "distribution" } do
      local ratio = variance("policy_gradient", bound) / variance("pl_rank", bound)
      if os.getenv "MOONRANK_SHOW" then print(bound, ratio) end
      check(ratio > 1.2, ("%s: %g"):format(bound, ratio))
    end
  end)

  it("refuse wrong options", function()
    raises(function() losses.pl_rank{ metric = "ap" } end, "metric", "'ap'", "policy_gradient")
    raises(function() losses.pl_rank{ samples = 1 } end, "samples", "1")
    raises(function() losses.policy_gradient{ samples = 2.5 } end, "samples", "2.5")
    raises(function() losses.policy_gradient{ baseline = "median" } end, "baseline", "'median'")
    raises(function() losses.policy_gradient{ metric = "err" } end, "err", "top")
    raises(function() losses.pl_rank()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
  end)
end)
