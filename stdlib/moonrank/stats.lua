-- Statistics of results: tests of pairs and their correction, intervals, effect sizes, densities, curves and
-- distribution functions.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local record = require("moonrank.record").new
local input = require "moonrank.stats.input"
local tensor = input.tensor

local M = {}

---Computes Student's t-test of paired values, two-sided. Pairs with NaN on either side are left out
---and counted. If a value is infinite, all results except df and the counts are NaN. With fewer
---than two pairs t and p are NaN. If all differences are equal up to rounding, t is 0 (p = 1) or
---infinite (p = 0).
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { t: number, df: number, p: number, mean_difference: number, standard_error: number, n: integer, skipped: integer }
---Example: `mr.stats.paired_t({1, 2, 3}, {0, 2, 2}).n   --> 3`
function M.paired_t(a, b)
  local where = "mr.stats.paired_t"
  return record("paired_t", core.paired_t(tensor(where, a), tensor(where, b)))
end

---Computes Wilcoxon's signed-rank test of paired values (Wilcoxon 1945), two-sided. Equal pairs are
---dropped; tied differences share their mean rank. Up to 200 unequal pairs p is exact (every sign a
---fair coin, ties included). Beyond that it uses the normal distribution with a continuity
---correction.
---
---A pair whose values differ only by rounding (4 steps of float32, 64 steps of float64) is equal.
---Differences are tied if their sizes agree within 1e-9 of the largest difference. Pairs with NaN
---on either side are left out and counted. Infinite differences are tied and larger than all
---others; the same infinity on both sides is an equal pair. p is NaN without pairs, and 1 if all
---pairs are equal.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { statistic: number, p: number, exact: boolean, n: integer, equal: integer, skipped: integer }  statistic: sum of the ranks of a > b
---Example: `mr.stats.wilcoxon({1, 2, 4, 8}, {0, 0, 0, 0}).p   --> 0.125`
function M.wilcoxon(a, b)
  local where = "mr.stats.wilcoxon"
  return record("wilcoxon", core.wilcoxon(tensor(where, a), tensor(where, b)))
end

local permutation_options = declare("mr.stats.PermutationOptions", {
  { "orders", "integer", default = 10000, least = 1, most = input.most_draws,
    help = "random choices of signs, if there are more than 20 unequal pairs" },
  { "seed", "integer", default = 1, help = "seed of the random signs" },
})

---Computes a permutation test of paired values, two-sided: how often the mean difference is at
---least as far from 0 under random signs of the differences (Fisher 1935, section 21). Up to 20
---unequal pairs it tries every choice of signs. Beyond that it draws `orders` random ones and adds
---the observed one (Phipson & Smyth 2010), so that p is never 0.
---
---A pair whose values differ only by rounding (4 steps of float32, 64 steps of float64) is equal.
---Sums within 1e-9 of the largest possible sum count as equally far. Pairs with NaN on either side
---are left out and counted. Without pairs, or if a value is infinite, all results except the counts
---are NaN.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@param options? mr.stats.PermutationOptions
---@return { mean_difference: number, p: number, error: number, exact: boolean, orders: integer, n: integer, skipped: integer }  error: standard error of p from the random choice, 0 if exact
---Example: `mr.stats.permutation({1, 2, 4, 8}, {0, 0, 0, 0}).p   --> 0.125`
function M.permutation(a, b, options)
  local where = "mr.stats.permutation"
  local o = permutation_options:read(where, options)
  return record("permutation", core.permutation_test(tensor(where, a), tensor(where, b), o.orders, o.seed))
end

---Computes a bootstrap interval of a statistic from samples with replacement (Efron 1979; "bca":
---Efron 1987). For pairs, whole pairs are drawn. NaN, and pairs with NaN on either side, are left
---out and counted. Without values all results are NaN. Values beyond 1e100 in size, also infinite
---ones, are errors. The interval of "bca" is NaN if the estimate lies outside all samples, or if a
---function returned NaN.
---@param x mr.Tensor|number[]|{ [1]: mr.Tensor|number[], [2]: mr.Tensor|number[] }  values, or pairs as {a, b}
---@param options? mr.stats.BootstrapOptions
---@return { estimate: number, low: number, high: number, error: number, n: integer, skipped: integer }  error: standard deviation of the samples
---Example: `mr.stats.bootstrap({1, 2, 3, 0/0}, {statistic = "median"}).estimate   --> 2.0`
function M.bootstrap(x, options) return require("moonrank.stats.bootstrap")(x, options) end

-- The keys of p-values by growing p, without NaN.
local function keys_by_p(ps)
  local keys = {}
  for key, p in pairs(ps) do
    if type(p) ~= "number" or p < 0 or p > 1 then
      check.fail("mr.stats.holm: p-value %s is %s, expected a number from 0 to 1", tostring(key), tostring(p))
    end
    if p == p then keys[#keys + 1] = key end
  end
  table.sort(keys, function(i, j) return ps[i] < ps[j] end)
  return keys
end

---Applies Holm's correction to several p-values (Holm 1979). Compared with a level, the corrected
---values keep the probability of any false rejection below it. NaN stays NaN and does not count as
---a test. A value that is not a number from 0 to 1 is an error.
---@param ps mr.Tensor|number[]|table<any, number>  p-values in order, or by name
---@return table<any, number>  adjusted p-values, in the same order or by the same names
---Example: `mr.stats.holm({minmax = 0.01, zscore = 0.04}).minmax   --> 0.02`
function M.holm(ps)
  if type(ps) == "userdata" then ps = core.numbers(ps) end
  if type(ps) ~= "table" then check.fail("mr.stats.holm: a tensor or a table of p-values expected, got a %s", type(ps)) end
  local adjusted, largest = {}, 0
  for key, p in pairs(ps) do adjusted[key] = p end
  local keys = keys_by_p(ps)
  for i, key in ipairs(keys) do
    largest = math.max(largest, math.min(1.0, (#keys - i + 1) * ps[key]))
    adjusted[key] = largest
  end
  return adjusted
end

---Computes the effect size of a paired difference: its mean in standard deviations of the
---differences (d_z; Cohen 1988, 2.3.5), and `hedges`, which removes the bias of d in small samples
---(Hedges 1981). It also returns the shares of pairs where a is larger, equal and smaller. NaN is
---left out as in the tests. If a value is infinite, d and hedges are NaN. They are infinite if all
---differences are equal, but 0 if all differences are 0.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { d: number, hedges: number, wins: number, ties: number, losses: number, n: integer, skipped: integer }
---Example: `mr.stats.effect_size({1, 2, 3}, {0, 0, 3}).wins * 3   --> 2.0`
function M.effect_size(a, b)
  return record("effect_size", core.effect_size(tensor("mr.stats.effect_size", a), tensor("mr.stats.effect_size", b)))
end

local kde_options = declare("mr.stats.KdeOptions", {
  { "bandwidth", "string|number", default = "silverman", choices = { "silverman", "scott", "lscv" },
    least = input.smallest, most = input.largest,
    help = "a number, or a rule: silverman is 0.9 and scott 1.06 times min(sd, interquartile range / 1.34) n^(-1/5); "
      .. "lscv is least-squares cross validation" },
  { "points", "integer", default = 200, least = 2, most = input.most_points, help = "number of points of the curve" },
  { "range", "number[]", accept = input.is_range, expected = "{lowest, highest}",
    shown = "three bandwidths beyond the values", help = "{lowest, highest} point" },
})

---Computes a density of values by Gaussian kernels (Silverman 1986; the rules are its 3.31 and 3.30;
---"lscv" searches like R's bw.ucv). NaN is left out and counted. Values beyond 1e100 in size, also
---infinite ones, are errors. No values at all are an error, too, and so are all-equal values for a
---rule.
---@param x mr.Tensor|number[]
---@param options? mr.stats.KdeOptions
---@return { x: mr.Tensor, density: mr.Tensor, bandwidth: number, at_edge: boolean, n: integer, skipped: integer }  at_edge: "lscv" found no minimum within the range of its search, as with many equal values
---Example: `mr.stats.kde({0}, {bandwidth = 1, range = {-1, 1}, points = 3}).density[2]:item() * math.sqrt(2 * math.pi)   --> 1.0`
function M.kde(x, options)
  local where = "mr.stats.kde"
  local o = kde_options:read(where, options)
  local values, skipped = core.without_nan(input.moderate(where, "x", x))
  if #values == 0 then check.fail("%s: x has no values, expected at least one", where) end
  local h, at_edge = input.bandwidth(o.bandwidth, function(rule) return core.kde_bandwidth(values, rule) end)
  local at = input.points(where, o, -(-values):max():item() - 3 * h, values:max():item() + 3 * h)
  return record("kde", { x = at, density = core.kde(values, at, h), bandwidth = h, at_edge = at_edge, n = #values,
    skipped = skipped })
end

local curve_options = declare("mr.stats.CurveOptions", {
  { "points", "integer", default = 100, least = 2, most = input.most_points, help = "number of points of the curve" },
  { "range", "number[]", shown = "the range of x", accept = input.is_range, expected = "{lowest, highest}",
    help = "{lowest, highest} point" },
  { "level", "number", default = 0.95, above = 0, below = 1, help = "confidence level of the band at each point" },
})

local regression_options = declare("mr.stats.KernelRegressionOptions", {
  { "bandwidth", "string|number", default = "cv", choices = { "cv", "aicc" },
    least = input.smallest, most = input.largest,
    help = "a number, or a rule: cv is leave-one-out cross validation; aicc is Akaike's corrected criterion, "
      .. "which gives a smoother curve if noise is strong (Hurvich, Simonoff & Tsai 1998)" },
  { "degree", "integer", default = 0, choices = { 0, 1 },
    help = "degree of the local polynomial: 0 is the estimator of Nadaraya and Watson, 1 is local linear" },
  { "least", "string|number", choices = { "silverman" }, least = input.smallest, most = input.largest,
    shown = "a 200th of the range of x",
    help = "smallest bandwidth that a rule may find: a number, or silverman, as for the density of x (mr.stats.kde)" },
  { "nearest", "number", default = 0, least = 0, most = 1,
    help = "smallest share of the pairs, with two different x, within one bandwidth of every point, so that the curve "
      .. "does not follow single pairs where pairs are few (the span of Cleveland 1979); 0: the bandwidth is the same "
      .. "everywhere" },
}, curve_options)

---Fits a curve of y over x by Gaussian kernels (Nadaraya 1964, Watson 1964; local linear: Cleveland
---1979, Fan 1992), with a normal band of its standard error. The band uses each pair's residual
---from the curve through the other pairs, so the spread may differ along x (MacKinnon & White 1985,
---HC3). It does not include the curve's bias. Pairs with NaN on either side are left out and
---counted. Values beyond 1e100 in size, also infinite ones, are errors. So are fewer than two pairs
---and, for a rule, an x whose values are all equal.
---@param x mr.Tensor|number[]
---@param y mr.Tensor|number[]
---@param options? mr.stats.KernelRegressionOptions
---@return { x: mr.Tensor, y: mr.Tensor, low: mr.Tensor, high: mr.Tensor, error: mr.Tensor, bandwidth: number, at_edge: boolean, cv: number, n: integer, skipped: integer }  cv: mean squared residual of each pair from the others' curve
---Example: `mr.stats.kernel_regression({1, 2, 3, 4}, {2, 4, 6, 8}, {degree = 1, points = 2}).y   --> {2, 8}  mr.Tensor {2} float64`
function M.kernel_regression(x, y, options)
  local where = "mr.stats.kernel_regression"
  local o = regression_options:read(where, options)
  if o.least ~= nil and type(o.bandwidth) == "number" then
    check.fail("%s: least has no effect if bandwidth is a number. Pass one of them", where)
  end
  local a, b, skipped = core.complete_pairs(input.moderate(where, "x", x), input.moderate(where, "y", y))
  if #a < 2 then check.fail("%s: x and y have %d pairs without NaN, expected at least two", where, #a) end
  local h, at_edge = input.bandwidth(o.bandwidth, function(rule)
    local least = o.least and input.bandwidth(o.least, function(name) return core.kde_bandwidth(a, name) end) or 0
    return core.regression_bandwidth(a, b, o.degree, rule, o.nearest, least)
  end)
  local at = input.points(where, o, -(-a):max():item(), a:max():item())
  local curve, err, cv = core.kernel_regression(a, b, at, h, o.degree, o.nearest)
  local half = err * core.normal_quantile(0.5 + 0.5 * o.level)
  return record("kernel_regression", { x = at, y = curve, low = curve - half, high = curve + half, error = err, bandwidth = h,
    at_edge = at_edge, cv = cv, n = #a, skipped = skipped })
end

local spline_options = declare("mr.stats.SplineOptions", {
  { "lambda", "number", above = 0, shown = "by generalised cross validation",
    help = "weight of the integral of the squared second derivative" },
}, curve_options)

---Fits a cubic smoothing spline of y over x, with a band of its standard error. `range` must lie
---within x. The penalty is chosen by generalised cross validation (Craven & Wahba 1979). The band
---is that of the posterior (Wahba 1983). Pairs of equal x count as their mean, with its weight.
---Pairs with NaN on either side are left out and counted. Values beyond 1e100 in size, also
---infinite ones, are errors; so are fewer than three different x. The band is NaN if the spline
---leaves no degrees of freedom for the residuals.
---@param x mr.Tensor|number[]
---@param y mr.Tensor|number[]
---@param options? mr.stats.SplineOptions
---@return { x: mr.Tensor, y: mr.Tensor, low: mr.Tensor, high: mr.Tensor, error: mr.Tensor, lambda: number, at_edge: boolean, df: number, gcv: number, n: integer, skipped: integer }  df: trace of the smoother; at_edge: no minimum within the range of the search
---Example: `mr.stats.spline({1, 2, 3, 4}, {2, 4, 6, 8}, {lambda = 1, points = 2}).y   --> {2, 8}  mr.Tensor {2} float64`
function M.spline(x, y, options)
  local where = "mr.stats.spline"
  local o = spline_options:read(where, options)
  local a, b, skipped = core.complete_pairs(input.moderate(where, "x", x), input.moderate(where, "y", y))
  if #a < 3 then check.fail("%s: x and y have %d pairs without NaN, expected at least three", where, #a) end
  local lambda, at_edge = o.lambda, false
  if not lambda then lambda, at_edge = core.spline_penalty(a, b) end
  local low, high = -(-a):max():item(), a:max():item()
  local at = input.points(where, o, low, high)
  if o.range and (o.range[1] < low or o.range[2] > high) then
    check.fail("%s: range reaches beyond the values of x, expected a range within them", where)
  end
  local curve, err, df, gcv = core.smoothing_spline(a, b, at, lambda)
  if df ~= df then
    check.fail("%s: values of x are too near to each other for a curve between %g and %g", where, low, high)
  end
  local half = err * core.normal_quantile(0.5 + 0.5 * o.level)
  return record("spline", { x = at, y = curve, low = curve - half, high = curve + half, error = err, lambda = lambda,
    at_edge = at_edge, df = df, gcv = gcv, n = #a, skipped = skipped })
end

---Computes the empirical distribution function: the distinct values in order, and the share of
---values that are at most as large. NaN is left out and counted. Infinite values are errors.
---Without values x and p are empty.
---@param x mr.Tensor|number[]
---@return { x: mr.Tensor, p: mr.Tensor, n: integer, skipped: integer }
---Example: `mr.stats.ecdf({3, 1, 1, 2}).p   --> {0.5, 0.75, 1}  mr.Tensor {3} float64`
function M.ecdf(x)
  local points, shares, n, skipped = core.ecdf(tensor("mr.stats.ecdf", x))
  return record("ecdf", { x = points, p = shares, n = n, skipped = skipped })
end

---@class mr.stats.EcdfRegion
---@field from number
---@field to number
---@field better "a"|"b"   the sample whose distribution function is on the better side

local ecdf_compare_options = declare("mr.stats.EcdfCompareOptions", {
  { "better", "string", default = "higher", choices = { "higher", "lower" }, help = "which values are better" },
})

---Finds where one sample's distribution function is better than the other's: below it if larger
---values are better, above it if smaller values are. A region's `from` and `to` fit a plot's
---`shade`. Areas are those between the two functions, so area_a - area_b is the difference of the
---means, positive if a is better. `ks` is their largest distance (Kolmogorov-Smirnov), first
---reached at `at`. NaN is left out and counted in each sample. Infinite values, and samples without
---values, are errors.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@param options? mr.stats.EcdfCompareOptions
---@return { regions: mr.stats.EcdfRegion[], ks: number, at: number, area_a: number, area_b: number, n: integer[], skipped: integer[] }
---Example: `mr.stats.ecdf_compare({2, 3}, {1, 2}).regions[1].better   --> a`
function M.ecdf_compare(a, b, options)
  local where = "mr.stats.ecdf_compare"
  local o = ecdf_compare_options:read(where, options)
  local found = core.ecdf_compare(tensor(where, a), tensor(where, b))
  local higher, regions = o.better == "higher", {}
  for i, r in ipairs(found.regions) do
    regions[i] = { from = r.from, to = r.to, better = (r.sign < 0) == higher and "a" or "b" }
  end
  return record("ecdf_compare", { regions = regions, ks = found.ks, at = found.at, area_a = higher and found.below or found.above,
    area_b = higher and found.above or found.below, n = found.n, skipped = found.skipped })
end

---Standardises values within groups: each value minus its group's mean, in sample standard
---deviations of the group. Scores of data sets and settings that differ in level and spread are
---then on one scale. Groups are the rows that agree in every column of `within`; without columns
---all rows are one group. NaN stays NaN and does not count. A group of one value, or of equal
---values, gives NaN. Values beyond 1e100 in size are errors.
---@param x mr.Tensor|number[]
---@param options? mr.stats.StandardizeOptions
---@return mr.Tensor  float64
---Example: `mr.stats.standardize({1, 2, 3, 10, 30, 50}, {within = {nsr = {1, 1, 1, 2, 2, 2}}})   --> {-1, 0, 1, -1, 0, 1}  mr.Tensor {6} float64`
function M.standardize(x, options) return require("moonrank.stats.standardize")(x, options) end

---Fits a linear model by least squares, over factors and numbers. `:emmeans("loss")` returns the
---marginal means of a factor, `:contrasts("loss")` their differences, and `:predict{...}`
---predictions for further rows. Rows with NaN are left out and counted. Values beyond 1e100 in
---size, also infinite ones, are errors. Rows are assumed to be independent: if values are paired by
---list or fold, make that a factor.
---@param options mr.stats.LinearModelOptions
---@return mr.LinearModel
---Example: `mr.stats.linear_model{y = {1, 2, 3, 6}, factors = {loss = {"ap", "ap", "ndcg", "ndcg"}}}:emmeans("loss")[2].mean   --> 4.5`
function M.linear_model(options) return require("moonrank.stats.linear_model")(options) end

---Returns mean, sample standard deviation, number of values, and number of NaN left out. Results
---are inf or NaN if values are infinite, or if their sum or squares overflow.
---@param x mr.Tensor|number[]
---@return { mean: number, sd: number, n: integer, skipped: integer }
---Example: `mr.stats.summary({1, 2, 3}).sd   --> 1.0`
function M.summary(x)
  local mean, sd, n, skipped = core.summary(tensor("mr.stats.summary", x))
  return record("summary", { mean = mean, sd = sd, n = n, skipped = skipped })
end

---Returns the mean of the values that are not NaN; NaN if there are none.
---@param x mr.Tensor|number[]
---@return number
---Example: `mr.stats.mean({1, 2, 3})   --> 2.0`
function M.mean(x) return M.summary(x).mean end

for name, f in pairs(require "moonrank.stats.errors") do M[name] = f end

return M
