-- mr.stats computes statistics of results: paired tests and corrections of p-values, bootstrap intervals, effect sizes,
-- densities, regression curves and distribution functions.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local record = require("moonrank.record").new
local input = require "moonrank.stats.input"
local tensor = input.tensor

local M = {}

---@class mr.stats.PairedT
---@field t number
---@field df number
---@field p number
---@field mean_difference number
---@field standard_error number  of the mean difference
---@field n integer              number of pairs
---@field skipped integer

---Computes Student's two-sided t-test of paired values. Differences are a - b. Pairs with NaN on
---either side are left out and counted in `skipped`. If a value is infinite, all results except df
---and the counts are NaN. With fewer than two pairs, t, p and standard_error are NaN. If all
---differences are equal up to rounding, t is 0 (p = 1) for differences of 0, and otherwise infinite
---(p = 0).
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return mr.stats.PairedT
---Example: `mr.stats.paired_t({1, 2, 3}, {0, 2, 2}).n   --> 3`
function M.paired_t(a, b)
  local where = "mr.stats.paired_t"
  return record("paired_t", core.paired_t(tensor(where, a), tensor(where, b)))
end

---Computes Wilcoxon's two-sided signed-rank test of paired values (Wilcoxon 1945). Pairs of equal
---values are dropped. Tied differences share their mean rank. With up to 200 unequal pairs, p is
---exact (each sign is a fair coin toss, ties included). With more pairs, p is from the normal
---distribution with a continuity correction.
---
---A pair counts as equal if its values differ only by rounding (4 steps of float32, 64 steps of
---float64). Differences are tied if their sizes agree within 1e-9 of the largest difference. Pairs
---with NaN on either side are left out and counted in `skipped`. Infinite differences are tied and
---larger than all finite differences. The same infinity on both sides is an equal pair. p is NaN
---without pairs, and 1 if all pairs are equal.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { statistic: number, p: number, exact: boolean, n: integer, equal: integer, skipped: integer }
---  statistic: sum of the ranks of pairs with a > b; n: number of unequal pairs; equal: number of equal ones
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

---@class mr.stats.Permutation
---@field mean_difference number
---@field p number
---@field error number    standard error of p from the random choice, 0 if exact
---@field exact boolean   whether every choice of signs was tried
---@field orders integer  number of choices of signs
---@field n integer       number of pairs
---@field skipped integer

---Computes a two-sided permutation test of paired values. p is the share of random signs of the
---differences for which the mean difference is at least as far from 0 as the observed one (Fisher
---1935, section 21). With up to 20 unequal pairs, every choice of signs is tried. With more pairs,
---`orders` random choices are drawn and the observed signs are added (Phipson & Smyth 2010), so
---that p is never 0. Differences are a - b.
---
---A pair counts as equal if its values differ only by rounding (4 steps of float32, 64 steps of
---float64). Sums within 1e-9 of the largest possible sum count as equally far from 0. Pairs with
---NaN on either side are left out and counted in `skipped`. Without pairs, or if a value is
---infinite, all results except the counts are NaN.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@param options? mr.stats.PermutationOptions
---@return mr.stats.Permutation
---Example: `mr.stats.permutation({1, 2, 4, 8}, {0, 0, 0, 0}).p   --> 0.125`
function M.permutation(a, b, options)
  local where = "mr.stats.permutation"
  local o = permutation_options:read(where, options)
  return record("permutation", core.permutation_test(tensor(where, a), tensor(where, b), o.orders, o.seed))
end

---Describes how values, such as a metric of each user, are distributed: mean, mean of the worst
---tenth of the users, CVaR, Gini coefficient and quantiles, each with a bootstrap percentile
---interval. `worst_decile` is the mean of the ceil(n/10) smallest values. `cvar_10` is the mean of
---the lowest 10 % of the probability: a value counts in part if n/10 is not whole (Rockafellar &
---Uryasev 2000). `gini` is 0 if all values are equal, and near 1 if one user has everything; it has
---no factor n/(n - 1), is NaN if all values are 0, and an error for negative values. The option
---`gini = false` leaves it out. The interval of `gini` is NaN if a bootstrap sample has only zeros.
---Quantiles are interpolated (type 7 of Hyndman & Fan 1996, as in NumPy and R). NaN values are left
---out and counted in `skipped`. Without values, all results are NaN. Values beyond 1e100 in size are
---errors.
---@param x mr.Tensor|number[]
---@param options? mr.stats.DistributionOptions
---@return mr.stats.Distribution
---Example: `mr.stats.distribution({0, 1, 1, 2}).gini.estimate   --> 0.375`
---Example:
---local found = mr.stats.distribution({5, 1, 2, 3, 4}, {quantiles = {0.5}})
---found.quantiles[1].estimate   --> 3.0
function M.distribution(x, options) return require("moonrank.stats.distribution")(x, options) end

---Computes a bootstrap confidence interval of a statistic, from samples drawn with replacement
---(Efron 1979; method "bca": Efron 1987). For paired values, whole pairs are drawn. NaN values, and
---pairs with NaN on either side, are left out and counted in `skipped`. Without values, all results
---are NaN. Values beyond 1e100 in size, also infinite ones, are errors. The interval is NaN if a
---statistic function returned NaN, and with "bca" also if the estimate lies outside all samples.
---@param x mr.Tensor|number[]|{ [1]: mr.Tensor|number[], [2]: mr.Tensor|number[] }  values, or pairs as {a, b}
---@param options? mr.stats.BootstrapOptions
---@return { estimate: number, low: number, high: number, error: number, n: integer, skipped: integer }
---  error: standard deviation of the samples
---Example: `mr.stats.bootstrap({1, 2, 3, 0/0}, {statistic = "median"}).estimate   --> 2.0`
function M.bootstrap(x, options) return require("moonrank.stats.bootstrap")(x, options) end

local check_ps = arguments{ "ps", "table", expected = "a tensor or a table of p-values" }

-- Returns the keys of a table of p-values, sorted from the smallest p to the largest. Keys of NaN are left out.
local function keys_by_p(ps)
  local keys = {}
  for key, p in pairs(ps) do
    check.expect(type(p) == "number" and not (p < 0 or p > 1), "mr.stats.holm", "p-value " .. tostring(key), p,
      "a number from 0 to 1")
    if p == p then keys[#keys + 1] = key end
  end
  table.sort(keys, function(i, j) return ps[i] < ps[j] end)
  return keys
end

---Applies Holm's correction to several p-values (Holm 1979). If corrected values are compared with
---a level, the probability of any false rejection is at most that level. NaN stays NaN and does not
---count as a test. A value that is not a number from 0 to 1 is an error.
---@param ps mr.Tensor|number[]|table<any, number>  p-values in order, or by name
---@return table<any, number>  adjusted p-values, in the same order or by the same names
---Example: `mr.stats.holm({minmax = 0.01, zscore = 0.04}).minmax   --> 0.02`
function M.holm(ps)
  if type(ps) == "userdata" then ps = core.numbers(ps) end
  check_ps("mr.stats.holm", ps)
  local adjusted, largest = {}, 0
  for key, p in pairs(ps) do adjusted[key] = p end
  local keys = keys_by_p(ps)
  for i, key in ipairs(keys) do
    largest = math.max(largest, math.min(1.0, (#keys - i + 1) * ps[key]))
    adjusted[key] = largest
  end
  return adjusted
end

---Computes the effect size of the paired differences a - b. `d` is the mean difference in standard
---deviations of the differences (d_z; Cohen 1988, 2.3.5). `hedges` removes the bias of d in small
---samples (Hedges 1981). It also returns the shares of pairs where a is larger than, equal to and
---smaller than b. Pairs with NaN on either side are left out and counted in `skipped`. If a value
---is infinite, d and hedges are NaN. If all differences are equal, d and hedges are infinite, or 0
---for differences of 0. With fewer than two pairs, d is NaN; with fewer than three, hedges is NaN.
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
  { "range", "number[]", accept = input.is_range, expected = input.range_text,
    shown = "three bandwidths beyond the values", help = "{lowest, highest} point" },
})

---Computes a density of values with Gaussian kernels. The bandwidth rules "silverman" and "scott"
---are Eqs. 3.31 and 3.30 of Silverman (1986); "lscv" searches like R's bw.ucv. NaN is left out and
---counted in `skipped`. Values beyond 1e100 in size, also infinite ones, are errors. It is an error
---if there are no values, or if a rule has to find a bandwidth for values that are all equal.
---@param x mr.Tensor|number[]
---@param options? mr.stats.KdeOptions
---@return { x: mr.Tensor, density: mr.Tensor, bandwidth: number, at_edge: boolean, n: integer, skipped: integer }
---  at_edge: "lscv" found no minimum within the range of its search, as with many equal values
---Example:
---```lua
---local kde = mr.stats.kde({0}, {bandwidth = 1, range = {-1, 1}, points = 3})
---kde.density[2]:item() * math.sqrt(2 * math.pi)   --> 1.0
---```
function M.kde(x, options)
  local where = "mr.stats.kde"
  local o = kde_options:read(where, options)
  local values, skipped = core.without_nan(input.moderate(where, "x", x))
  check.expect(#values > 0, where, "x", x, "at least one number other than NaN")
  local h, at_edge = input.bandwidth(o.bandwidth, function(rule) return core.kde_bandwidth(values, rule) end)
  local at = input.points(where, o, -(-values):max():item() - 3 * h, values:max():item() + 3 * h)
  return record("kde", { x = at, density = core.kde(values, at, h), bandwidth = h, at_edge = at_edge, n = #values,
    skipped = skipped })
end

local curve_options = declare("mr.stats.CurveOptions", {
  { "points", "integer", default = 100, least = 2, most = input.most_points, help = "number of points of the curve" },
  { "range", "number[]", shown = "the range of x", accept = input.is_range, expected = input.range_text,
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
    shown = "a 200th of the range of x", only_with = { bandwidth = { "cv", "aicc" } },
    help = "smallest bandwidth that a rule may find: a number, or silverman, as for the density of x (mr.stats.kde)" },
  { "nearest", "number", default = 0, least = 0, most = 1,
    help = "smallest share of the pairs within one bandwidth of every point (the span of Cleveland 1979): the curve "
      .. "then does not follow single pairs where pairs are few; 0: the bandwidth is the same everywhere" },
}, curve_options)

---@class mr.stats.Curve
---@field x mr.Tensor
---@field y mr.Tensor
---@field low mr.Tensor    lower end of the confidence band
---@field high mr.Tensor   upper end of the confidence band
---@field error mr.Tensor  standard errors
---@field at_edge boolean  whether a rule found no minimum within the range of its search
---@field n integer        number of pairs
---@field skipped integer

---@class mr.stats.KernelCurve: mr.stats.Curve
---@field bandwidth number
---@field cv number  mean squared residual of each pair from the others' curve

---Fits a curve of y over x with Gaussian kernels (Nadaraya 1964, Watson 1964; local linear:
---Cleveland 1979, Fan 1992). The curve has a confidence band from its standard error and the normal
---distribution. The band uses each pair's residual from the curve through all other pairs, so the
---spread may differ along x (MacKinnon & White 1985, HC3). The band does not include the curve's
---bias. Pairs with NaN on either side are left out and counted in `skipped`. It is an error if
---values are beyond 1e100 in size or infinite, if there are fewer than two pairs, or if a rule has
---to find a bandwidth for equal x.
---@param x mr.Tensor|number[]
---@param y mr.Tensor|number[]
---@param options? mr.stats.KernelRegressionOptions
---@return mr.stats.KernelCurve
---Example:
---```lua
---local curve = mr.stats.kernel_regression({1, 2, 3, 4}, {2, 4, 6, 8}, {degree = 1, points = 2})
---curve.y   --> {2, 8}  mr.Tensor {2} float64
---```
function M.kernel_regression(x, y, options)
  local where = "mr.stats.kernel_regression"
  local o = regression_options:read(where, options)
  local a, b, skipped = input.pairs(where, x, y)
  check.expect(#a >= 2, where, "the number of pairs of x and y without NaN", #a, "at least 2")
  local h, at_edge = input.bandwidth(o.bandwidth, function(rule)
    local least = o.least and input.bandwidth(o.least, function(name) return core.kde_bandwidth(a, name) end) or 0
    return core.regression_bandwidth(a, b, o.degree, rule, o.nearest, least)
  end)
  local at = input.points(where, o, -(-a):max():item(), a:max():item())
  local curve, err, cv = core.kernel_regression(a, b, at, h, o.degree, o.nearest)
  local half = err * core.normal_quantile(0.5 + 0.5 * o.level)
  return record("kernel_regression", { x = at, y = curve, low = curve - half, high = curve + half, error = err,
    bandwidth = h, at_edge = at_edge, cv = cv, n = #a, skipped = skipped })
end

local spline_options = declare("mr.stats.SplineOptions", {
  { "lambda", "number", above = 0, shown = "by generalised cross validation",
    help = "weight of the integral of the squared second derivative" },
}, curve_options)

---@class mr.stats.SplineCurve: mr.stats.Curve
---@field lambda number
---@field df number   trace of the smoother
---@field gcv number  generalised cross validation

---Fits a cubic smoothing spline of y over x, with a confidence band. `range` must lie within the
---values of x. Unless `lambda` is given, generalised cross validation chooses the penalty on
---curvature (Craven & Wahba 1979). The band is from the spline's posterior standard error (Wahba
---1983). Pairs of equal x count as one pair with their mean and their total weight. Pairs with NaN
---on either side are left out and counted in `skipped`. It is an error if values are beyond 1e100
---in size or infinite, or if there are fewer than three different x. The band is NaN if the spline
---leaves no degrees of freedom for the residuals.
---@param x mr.Tensor|number[]
---@param y mr.Tensor|number[]
---@param options? mr.stats.SplineOptions
---@return mr.stats.SplineCurve
---Example:
---```lua
---local spline = mr.stats.spline({1, 2, 3, 4}, {2, 4, 6, 8}, {lambda = 1, points = 2})
---spline.y   --> {2, 8}  mr.Tensor {2} float64
---```
function M.spline(x, y, options)
  local where = "mr.stats.spline"
  local o = spline_options:read(where, options)
  local a, b, skipped = input.pairs(where, x, y)
  check.expect(#a >= 3, where, "the number of pairs of x and y without NaN", #a, "at least 3")
  local lambda, at_edge = o.lambda, false
  if not lambda then lambda, at_edge = core.spline_penalty(a, b) end
  local low, high = -(-a):max():item(), a:max():item()
  local at = input.points(where, o, low, high)
  check.expect(not o.range or o.range[1] >= low and o.range[2] <= high, where, "range", o.range,
    "a range within the values of x, from %g to %g", low, high)
  local curve, err, df, gcv = core.smoothing_spline(a, b, at, lambda)
  if df ~= df then
    check.fail("%s: some neighbouring values of x differ too little for a spline over all x, from %g to %g. Round x, "
      .. "so that such values become equal (equal values are merged), or multiply x if all its values are tiny", where,
      low, high)
  end
  local half = err * core.normal_quantile(0.5 + 0.5 * o.level)
  return record("spline", { x = at, y = curve, low = curve - half, high = curve + half, error = err, lambda = lambda,
    at_edge = at_edge, df = df, gcv = gcv, n = #a, skipped = skipped })
end

---Computes the empirical distribution function of values: the distinct values x in order and, for
---each of them, the share p of values that are at most x. NaN is left out and counted in `skipped`.
---Infinite values are errors. Without values, x and p are empty.
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

---@class mr.stats.EcdfComparison
---@field regions mr.stats.EcdfRegion[]
---@field ks number
---@field at number
---@field area_a number
---@field area_b number
---@field n integer[]        number of values of each sample
---@field skipped integer[]

local ecdf_compare_options = declare("mr.stats.EcdfCompareOptions", {
  { "direction", "string", default = "maximize", choices = { "maximize", "minimize" }, formerly = "better", renamed = 2,
    meant = { higher = "maximize", lower = "minimize" }, help = "whether larger or smaller values are better" },
})

---Finds the regions of values in which one sample's empirical distribution function is better than
---the other sample's. The better function is the lower one if larger values are better, and the
---higher one if smaller values are better. A region's `from` and `to` fit the option `shade` of
---plots. `area_a` and `area_b` are the areas between the two functions where a or b is better;
---area_a - area_b is the difference of the means, positive if the mean of a is better. `ks` is the
---largest distance of the two functions (Kolmogorov-Smirnov), first reached at the value `at`. NaN
---is left out and counted for each sample. Infinite values, and samples without values, are errors.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@param options? mr.stats.EcdfCompareOptions
---@return mr.stats.EcdfComparison
---Example: `mr.stats.ecdf_compare({2, 3}, {1, 2}).regions[1].better   --> a`
function M.ecdf_compare(a, b, options)
  local where = "mr.stats.ecdf_compare"
  local o = ecdf_compare_options:read(where, options)
  local found = core.ecdf_compare(tensor(where, a), tensor(where, b))
  local higher, regions = o.direction == "maximize", {}
  for i, r in ipairs(found.regions) do
    regions[i] = { from = r.from, to = r.to, better = (r.sign < 0) == higher and "a" or "b" }
  end
  return record("ecdf_compare", {
    regions = regions,
    ks = found.ks,
    at = found.at,
    area_a = higher and found.below or found.above,
    area_b = higher and found.above or found.below,
    n = found.n,
    skipped = found.skipped,
  })
end

---Standardises values within groups: each value minus the mean of its group, divided by the group's
---sample standard deviation. Scores from data sets and settings that differ in level and spread
---then have one scale. A group consists of the rows that agree in every column of `within`. Without
---`within`, all rows are one group. NaN stays NaN and does not count. A row with NaN in a column of
---`within` is in no group and gives NaN. A group of one value, or of equal values, gives NaN.
---Values beyond 1e100 in size are errors.
---@param x mr.Tensor|number[]
---@param options? mr.stats.StandardizeOptions
---@return mr.Tensor  float64
---Example:
---```lua
---local values, nsr = {1, 2, 3, 10, 30, 50}, {1, 1, 1, 2, 2, 2}
---mr.stats.standardize(values, {within = {nsr = nsr}})   --> {-1, 0, 1, -1, 0, 1}  mr.Tensor {6} float64
---```
function M.standardize(x, options) return require("moonrank.stats.standardize")(x, options) end

---Fits a linear model by least squares, over factors and numeric covariates. `:emmeans("loss")`
---returns the marginal means of a factor, `:contrasts("loss")` the differences of these means, and
---`:predict{...}` predictions for further rows. Rows with NaN are left out and counted in
---`skipped`. Values beyond 1e100 in size, also infinite ones, are errors. So are linearly dependent
---columns, e.g. if a combination of interacting levels has no rows. The model assumes that rows are
---independent. If values are paired by list or fold, make the list or fold a factor.
---@param options mr.stats.LinearModelOptions
---@return mr.LinearModel
---Example:
---```lua
---local model = mr.stats.linear_model{y = {1, 2, 3, 6}, factors = {loss = {"ap", "ap", "ndcg", "ndcg"}}}
---model:emmeans("loss")[2].mean   --> 4.5
---```
function M.linear_model(options) return require("moonrank.stats.linear_model")(options) end

---Returns the mean and sample standard deviation (sd) of the values that are not NaN, the number of
---these values (n), and the number of NaN (skipped). Without values, the mean is NaN; with fewer
---than two, sd is NaN. Mean and sd are inf or NaN if values are infinite, or if their sum or
---squares overflow.
---@param x mr.Tensor|number[]
---@return { mean: number, sd: number, n: integer, skipped: integer }
---Example: `mr.stats.summary({1, 2, 3}).sd   --> 1.0`
function M.summary(x)
  local mean, sd, n, skipped = core.summary(tensor("mr.stats.summary", x))
  return record("summary", { mean = mean, sd = sd, n = n, skipped = skipped })
end

---Returns the mean of the values that are not NaN; NaN if all values are NaN or there are no
---values.
---@param x mr.Tensor|number[]
---@return number
---Example: `mr.stats.mean({1, 2, 3})   --> 2.0`
function M.mean(x) return (core.summary(tensor("mr.stats.mean", x))) end

---Returns the median of the values that are not NaN: the middle one, or the mean of the two in the
---middle. It is NaN if all values are NaN or there are no values.
---@param x mr.Tensor|number[]
---@return number
---Example: `mr.stats.median({9, 1, 2, 3})   --> 2.5`
function M.median(x)
  local values = {}
  for _, each in ipairs(core.numbers(tensor("mr.stats.median", x))) do
    values[#values + 1] = each == each and each or nil
  end
  table.sort(values)
  if #values == 0 then return 0 / 0 end
  return (values[(#values + 1) // 2] + values[#values // 2 + 1]) / 2
end

for name, f in pairs(require "moonrank.stats.errors") do M[name] = f end

return M
