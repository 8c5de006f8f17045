-- Bounds rescale the smooth metric of each list by the metric's range or distribution over all rankings of that
-- list (Westerborg 2022, chapter 3). The distribution depends on the list's length and number of relevant rows. A
-- bound keeps the metric's direction. A list on which no ordering changes the metric has the value 0 and no
-- gradient.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local definitions = require "moonrank.system.definitions"
local estimate = require "moonrank.bounds.estimate"
local list_stats = require "moonrank.bounds.list_stats"
local metrics = require "moonrank.metrics.registry"
local phase = require "moonrank.system.phase"
local record = require("moonrank.record").new
local of_rankings = require "moonrank.bounds.of_rankings"
local registry = require "moonrank.bounds.registry"
local scope = require "moonrank.system.scope"
local stats = require "moonrank.bounds.bound_stats"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

---The distribution of a metric over all rankings of a list, from mr.bounds.distribution, or of given
---values, from mr.bounds.distribution_of.
---@class mr.Distribution

---A function that rescales a metric's value of each list.
---@class mr.Bound
---@field name string
---@field options table|false  options that it was made with, if its name does not say them all
---@field affine boolean        whether a list has the same slope at every score
---@field apply fun(score: mr.Tensor, metric: string|mr.Metric, lists: mr.Lists): mr.Tensor  bounded value per list
local Bound = check.class("mr.Bound")

-- Makes a bound from `apply(score, metric, lists)`, which returns one bounded value per list.
local function bound(name, apply, options)
  local function of_metric(score, metric, lists, numbers)
    local _ <close> = phase.begin "bounds"
    return apply(score, metrics.parse(metric), lists, numbers)
  end
  return setmetatable({ name = name, apply = of_metric, options = options or false }, Bound)
end

Bound.affine = false
-- true if `apply` accepts a fourth argument: for each score, the number of its list in `lists`
Bound._takes_numbers = false
-- true if the bound gives the same values each time it gets the same batch; false for a bound that a script defined,
-- because it may draw random numbers
Bound.repeats = true

function Bound:__tostring() return self.name end

---Returns the weight of every list, in float64: 1 if an ordering of its rows can change the metric,
---else 0 (for example, if all rows have the same grade).
---@param metric string|mr.Metric
---@param lists mr.Lists
---@return mr.Tensor
---Example: `mr.bounds.weights("ap", mr.lists{{1, 0}, {1, 1}, {0, 0}})   --> {1, 0, 0}  mr.Tensor {3} float64`
function M.weights(metric, lists) return list_stats.weights(metrics.parse(metric), lists, "float64", "cpu") end

local function affine(line)
  local made = bound(line.name, function(score, metric, lists)
    return list_stats.of(metric).bounded(metric, lists, line, score)
  end)
  made.affine = true
  return made
end

for _, line in ipairs(core.affine_bounds()) do
  registry.add_builtin(line.name, affine(line), { formula = line.formula, source = line.source, text = line.text })
end

local smoothing_options = declare("mr.bounds.SmoothingOptions", {
  { "steepness", "string|number", default = "kappa", choices = { "kappa", "samples" }, above = 0,
    formerly = "gain", renamed = 1,
    help = "steepness a of F~: kappa / sd; samples: distinct values / range (Eq. 3.13, the thesis' own); or a itself" },
  { "kappa", "number", default = 8, above = 0, help = "kappa of a = kappa / sd" },
})

local function count_row(name, least, help, default)
  return { name, "number", default = default, least = least, most = 100000000, accept = math.tointeger,
    expected = ("an integer from %d to 100000000"):format(least), help = help }
end

local sampling_options = declare("mr.bounds.SamplingOptions", {
  { "method", "string", default = "auto", choices = { "auto", "exact", "sampled" },
    help = "how the distribution is computed; auto: exactly if that is feasible" },
  count_row("samples", 1, "random rankings for each shape of list, if it is sampled; the thesis uses 300000", 300000),
}, estimate.random_options)

local distribution_bound_options = declare("mr.bounds.DistributionBoundOptions", {
  { "form", "string", default = "cdf", choices = check.names(registry.forms),
    help = "F~ itself, its logarithm, or its logit" },
  { "also", "(string|mr.Metric)[]", default = {},
    help = "other metrics that will use this bound; sampled rankings are then drawn once for all metrics" },
}, sampling_options, smoothing_options)

-- Returns how the steepness of the smoothed distribution function F~ is chosen, and the number for it: "gain" and a
-- steepness that was given as a number, or else the name of the rule and `kappa`.
local function steepness_of(o)
  if type(o.steepness) == "number" then return "gain", o.steepness end
  return o.steepness, o.kappa
end

---Makes a bound whose value is F~(M), the smoothed probability that the metric of a random ranking
---of the list is at most the list's metric M (Westerborg 2022, Eq. 3.12). F~ grows with M; the
---largest values are the worst ones of a metric to be minimized. Smoothing keeps F~ below 1 at the
---largest value, the more the likelier this value is. `form = "log"` gives log F~, or -log(1 - F~) for
---metrics to be minimized. `form = "logit"` gives log(F~ / (1 - F~)). Only the gradient of the logit
---vanishes nowhere.
---
---The names "distribution", "distribution_log" and "distribution_logit" stand for the three forms
---with default options. With `beta` above 0, the random rankings are better than uniformly random
---ones; below 0, they are worse. The variant of the thesis is
---`mr.bounds.distribution_bound{method = "sampled", steepness = "samples"}`. `steepness = "samples"`
---makes "sampled" the default of `method`, and is an error with the forms "log" and "logit".
---
---For metrics without closed forms (see mr.bounds.of), the options `method`, `samples` and `seed`
---have no effect. For other metrics, sampled rankings are kept for other processes and later runs
---in the user's cache folder (moonrank/samples in $XDG_CACHE_HOME or ~/.cache). The folder grows up
---to 8 GiB, or to MOONRANK_SAMPLES_GIB in the environment (0: keep nothing). You may delete the
---folder.
---@param options? mr.bounds.DistributionBoundOptions
---@return mr.Bound
---Example: `mr.bounds.distribution_bound{form = "logit", kappa = 4}.name   --> distribution_logit`
---Example: `mr.bounds.distribution_bound{form = "logit", beta = 0.5}.name   --> distribution_logit (beta 0.5)`
function M.distribution_bound(options)
  local where = "mr.bounds.distribution_bound"
  local o = distribution_bound_options:read(where, options)
  local steepness, amount = steepness_of(o)
  if steepness == "samples" and options.method == nil then o.method = "sampled" end
  if steepness == "samples" and o.form ~= "cdf" then
    check.fail("%s: form is '%s', which is infinite beyond the samples that steepness = 'samples' uses. Pass "
      .. "steepness = 'kappa', or form = 'cdf'", where, o.form)
  end
  local spec = core.distribution_spec(o.form, o.method, o.samples, o.seed, steepness, amount, o.beta)
  for _, each in ipairs(o.also) do
    local metric = metrics.parse(each)
    check.expect(list_stats.of(metric).kind ~= "estimate", where, "an element of also", metric.name,
      "a metric that can share rankings with other metrics. Leave it out")
    spec = core.distribution_spec_also(spec, metric)
  end
  local name = registry.forms[o.form].name .. (o.beta ~= 0 and (" (beta %g)"):format(o.beta) or "")
  local made = bound(name, function(score, metric, lists, numbers)
    return list_stats.of(metric).distribution_bound(metric, lists, o, spec, score, numbers)
  end, o)
  rawset(made, "_takes_numbers", true)
  if o.form == "cdf" and steepness == "kappa" and not (options and options.kappa) then
    of_rankings.declare(made, spec)
  end
  return made
end
for form, about in pairs(registry.forms) do
  registry.add_builtin(about.name, M.distribution_bound{ form = form }, about)
end

local stats_options = declare("mr.bounds.StatsOptions", {
  { "dtype", "string", default = "float64", choices = { "float32", "float64" }, help = "type of the numbers" },
  { "device", "string", default_of = core.device, choices = { "cpu", "cuda" }, shown = "the default device",
    help = "device of the numbers" },
})

---Returns statistics of a metric for each list: minimum, maximum, mean and others over all rankings
---of the list's rows. `.cdf(score)` is the smoothed distribution function, which is differentiable.
---Statistics of a list without relevant rows are NaN if the metric is then undefined.
---@param metric string|mr.Metric  such as "ndcg", "nrbp(0.95)"; estimated if it has no closed forms (see mr.bounds.of)
---@param lists mr.Lists
---@param options? mr.bounds.StatsOptions
---@return mr.Stats
---Example: `mr.bounds.stats("ap", mr.lists{{1, 0, 0}}).min:item() * 3   --> 1.0`
function M.stats(metric, lists, options)
  local o = stats_options:read("mr.bounds.stats", options)
  metric = metrics.parse(metric)
  list_stats.weights(metric, lists, "float64", "cpu")
  return stats.new(metric, lists, o)
end

local shape_options = declare("mr.bounds.ShapeOptions", {
  count_row("n", 1, "number of rows"),
  count_row("p", 0, "number of relevant rows"),
  { "grades", "number[]", default = {}, shown = "none",
    help = "grades of the rows, in any order, instead of n and p" },
})

---Computes minimum, maximum, best value, mean and standard deviation of a metric over all rankings
---of one list. The best value is the maximum, or the minimum if lower values are better. The list
---has N rows of which P are relevant, or rows with the given grades. The numbers are NaN if the
---metric is undefined (no relevant row). For metrics without closed forms (err, bpref, metrics of
---scripts and others), all different orders of the grades are computed if there are at most 20,000
---of them, else 20,000 random orders. `max` and `min` are then the extremes among these orders and
---the two orders that are sorted by grade.
---The result also has `method`: "closed form", "enumerated" or "sampled". For computed orders it has
---`orders`, their number, and `error`, the standard error of the mean (0 if all were computed).
---@param metric string|mr.Metric
---@param shape mr.bounds.ShapeOptions
---@return { min: number, max: number, best: number, expectation: number, sd: number }
---Example: `mr.bounds.of("nrbp_loss", {n = 9, p = 3}).max   --> 18.0`
---Example: `mr.bounds.of("err", {n = 3, p = 1}).orders   --> 3`
function M.of(metric, shape)
  local o = shape_options:read("mr.bounds.of", shape)
  metric = metrics.parse(metric)
  return record("bounds of " .. metric.name, list_stats.of(metric).numbers(metric, o))
end

local distribution_options = declare("mr.bounds.DistributionOptions", {}, shape_options, sampling_options)

---Computes the distribution of a metric over random rankings of one list (Westerborg 2022,
---Algorithm 1). The list has N rows of which P are relevant, or rows with the given grades. For a metric
---with closed forms, methods "auto" and "exact" enumerate up to a million arrangements. Beyond that,
---the distribution comes from its characteristic function, which is exact too, or from samples. For
---another metric, up to 20,000 orders are enumerated under any method if beta = 0; else random orders
---are drawn.
---
---A random ranking draws rows from the top rank down, without replacement. Each remaining row is
---drawn with probability proportional to e^(beta * grade) (Plackett 1975, Luce 1959). Without
---`grades`, relevant rows have grade 1 and all other rows 0. With beta = 0, all rankings are
---equally likely. With beta above 0, the ranker is better than random. For a metric with closed
---forms, a beta that makes the standard deviation less than a thousandth of the metric's range raises
---an error. For 20 relevant rows among 60, the limit is about 12.
---
---Method "auto" samples lists of many different grades, which exact methods cannot handle. Samples of
---metrics with closed forms are kept as mr.bounds.distribution_bound describes. For a metric without
---closed forms the default of `samples` is 20,000.
---
---Methods of the result: :cdf(s) :pmf() :mean() :sd() :min() :max() :quantile(q) :method() and
---:smooth(s, options) with {kappa = 8}, {steepness = "samples"} or {steepness = a}.
---@param metric string|mr.Metric
---@param options mr.bounds.DistributionOptions
---@return mr.Distribution
---Example: `mr.bounds.distribution("ndcg", {n = 60, p = 20}):method()   --> characteristic function`
---Example: `mr.bounds.distribution("precision@1", {n = 2, p = 1, beta = math.log(3)}):mean()   --> 0.75`
function M.distribution(metric, options)
  local o = distribution_options:read("mr.bounds.distribution", options)
  metric = metrics.parse(metric)
  return list_stats.of(metric).distribution(metric, o, options)
end

---Returns the empirical distribution of the given values, each equally likely; no value at all is
---an error. The distribution has the same methods as the result of mr.bounds.distribution.
---@param values mr.Tensor|number[]
---@return mr.Distribution
---Example: `mr.bounds.distribution_of{0, 1}:cdf(0.5)   --> 0.5`
function M.distribution_of(values)
  return core.distribution_of(type(values) == "table" and core.tensor(values, "float64", "cpu") or values)
end

local distribution_methods = core.classes["mr.Distribution"].methods

local smooth_options = declare("mr.bounds.SmoothOptions", {
  { "tabled", "boolean", default = false,
    help = "whether to read the table that bounds use, which is within 2e-6 of the exact sum" },
}, smoothing_options)

---Returns the smoothed distribution function F~ (Westerborg 2022, Algorithm 2) at `s`, a number or
---a tensor, and the derivative of F~ at `s`.
---@param s number|mr.Tensor
---@param options? mr.bounds.SmoothOptions
---@return number|mr.Tensor value, number|mr.Tensor derivative
function distribution_methods:smooth(s, options)
  local o = smooth_options:read("smooth", options)
  local steepness, amount = steepness_of(o)
  local is_number = type(s) == "number"
  local read = o.tabled and core.distribution_tabled or core.distribution_smooth
  local value, derivative = read(self, is_number and core.tensor({ s }, "float64", "cpu") or s, steepness, amount)
  if is_number then return value:item(), derivative:item() end
  return value, derivative
end

-- Makes a bound from a function of (score, stats). The function gets only lists whose metric depends on the order of
-- rows. Other lists get the value 0, because the function could compute 0/0 for them, which would enter the gradient.
local function from_function(name, f)
  local made = bound(name, function(score, metric, lists)
    return list_stats.where_counted(metric, lists, score, function(of_counted, part)
      local value = f(of_counted, M.stats(metric, part, { dtype = score.dtype, device = score.device }))
      return check.one_per("list", "bound " .. name, value, part.count):to(score.dtype)
    end)
  end)
  rawset(made, "raw", f)
  rawset(made, "repeats", false)
  return made
end

local slopes_options = declare("mr.bounds.SlopesOptions", {
  { "at", "mr.Tensor", class = "mr.Tensor", shown = "the metric's expectation",
    help = "score of each list at which a bound that is not affine has its slope taken" },
}, stats_options)

-- Returns the slope of a bound for every list. `checked` gets the bound, the scores and the bounded values, which it
-- returns or refuses.
local function slopes_of(of, metric, lists, o, checked)
  local whole = whole_lists.of(lists)
  if whole then
    check.leave_out("mr.bounds.slopes", "at", not of.affine and o.at or nil, "the lists are of interactions and have "
      .. "only a sample of the items, so the metric of all items is not known (in a loss: slope_at = 'expectation')")
    return whole:slopes(of, metric, o)
  end
  local counted = list_stats.counted(metric, lists, o.device)
  if #counted == 0 then return list_stats.weights(metric, lists, o.dtype, o.device) end
  local part = lists:select(counted:to("cpu"))
  local _ <close> = scope.recording("a bound", true)
  local kind = { dtype = o.dtype, device = o.device }
  local at = o.at and o.at:detach():to(o.dtype):to(o.device):rows(counted)
  local score = (at or M.stats(metric, part, kind).expectation):requires_grad()
  local value = checked(of, score, of.apply(score, metric, part))
  if value.tracked then value:sum():backward() end
  return core.put_rows(score.grad or score:detach() * 0, counted, lists.count)
end

---Returns the slope of a bound for every list: the derivative of the bounded value with respect to
---the score. The slope is the list's weight in training. An affine bound has the same slope at
---every score. For other bounds, the slope is computed at `at` or at the metric's mean over random
---rankings. Lists on which no ordering changes the metric have slope 0. Lists of interactions
---(mr.fit{unit = "interaction"}) have the slopes of their users' whole lists; `at` is then an error,
---except for affine bounds.
---@param what string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor
---@param metric string|mr.Metric
---@param lists mr.Lists
---@param options? mr.bounds.SlopesOptions
---@return mr.Tensor  [lists]
---Example: `mr.bounds.slopes("minmax", "nrbp_loss", mr.lists{{1, 0, 0}, {1, 1}})   --> {0.5, 0}  mr.Tensor {2} float64`
function M.slopes(what, metric, lists, options)
  local o = slopes_options:read("mr.bounds.slopes", options)
  metric = metrics.parse(metric)
  if o.at then check.length("mr.bounds.slopes", "at", #o.at, lists.count, "one for each list") end
  return slopes_of(M.resolve(what), metric, lists, o, function(_, _, value) return value end)
end

-- Like mr.bounds.slopes, for losses: raises an error if the bound has no gradient. `o` has dtype, device and `at`.
function Bound:_slopes(metric, lists, o) return slopes_of(self, metric, lists, o, list_stats.with_gradient) end

local weighted_options = declare("mr.bounds.WeightedOptions", {
  { "cap", "number", above = 0, infinite = true, help = "largest slope of a list" },
  { "normalize", "mr.Lists", class = "mr.Lists", help = "lists over which the slopes have mean 1" },
})

---Makes a bound that limits and normalizes the slopes of another bound (see mr.bounds.slopes).
---Slopes above `cap` become `cap`. With the option `normalize` (an mr.Lists), all slopes are then
---divided by their mean over the lists in `normalize` on which an ordering can change the metric.
---The mean slope of these lists becomes 1, so that gradients do not shrink towards an optimizer's
---epsilon.
---@param what string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor
---@param options mr.bounds.WeightedOptions
---@return mr.Bound
---Example: `mr.bounds.weighted("minmax", {cap = 10}).name   --> minmax (cap 10)`
function M.weighted(what, options)
  local o = weighted_options:read("mr.bounds.weighted", options)
  check.expect(what ~= nil, "mr.bounds.weighted", "what", what, "a bound, such as \"minmax\"")
  local inner, means = M.resolve(what), {}
  local function capped(metric, lists, kind)
    local slopes = M.slopes(inner, metric, lists, kind):abs()
    return slopes, o.cap and slopes:clamp{ max = o.cap } or slopes
  end
  local function mean_of(metric)
    if o.normalize and not means[metric.number] then
      local _, weights = capped(metric, o.normalize, { dtype = "float64", device = "cpu" })
      local mean = weights:sum():item() / math.max(1, M.weights(metric, o.normalize):sum():item())
      means[metric.number] = mean ~= 0 and mean or 1
    end
    return means[metric.number] or 1
  end
  local notes = {}
  if o.cap then notes[1] = ("cap %g"):format(o.cap) end
  if o.normalize then notes[#notes + 1] = "mean 1" end
  local weighted = bound(("%s (%s)"):format(inner.name, table.concat(notes, ", ")), function(score, metric, lists)
    local slopes, weights = capped(metric, lists, { dtype = score.dtype, device = score.device })
    -- A list's bounded value gets a new weight in place of the slope of the inner bound, by which it is divided. Where
    -- this slope is 0, the value is divided by 1 instead, to avoid 0/0.
    return inner.apply(score, metric, lists) * (weights / slopes:gt(0):where(slopes, 1) / mean_of(metric))
  end, { of = inner, cap = o.cap, normalize = o.normalize })
  rawset(weighted, "repeats", inner.repeats)
  rawset(weighted, "affine", inner.affine)
  return weighted
end

local check_define = arguments({ "name", "string" }, { "f", "function|mr.Bound",
  accept = function(value) return type(value) == "function" or getmetatable(value) == Bound end,
  expected = "a function or a bound" })

---Defines a bound of your own, and returns the bound. Its name is then accepted wherever a built-in
---bound's is. It is made of letters, digits and _, and does not begin with a digit. A built-in bound's
---name is an error; a name of your own may be defined again. `f` is
---a function of the score (one smooth metric value per list) and of statistics of the lists. The
---gradient comes from the tensor operations that `f` uses. The bounded value must keep the metric's
---direction. In training, `f` does not receive lists on which no ordering changes the metric.
---mr.bounds.check gives `f` such lists on purpose, to find a division by zero, which matters if a script
---calls `f` itself. `f` may also be a bound, such as one from mr.bounds.weighted.
---@param name string
---@param f mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor
---@param about? mr.bounds.About  what `help(name)` prints about it
---@return mr.Bound
---Example:
---local f = function(score, stats) return (score - stats.min) / (stats.max - stats.min):sqrt() end
---mr.bounds.define("sqrt_range", f).name   --> sqrt_range
function M.define(name, f, about)
  check_define("mr.bounds.define", name, f)
  check.new_name("mr.bounds.define", name, registry.builtin(name) and "a bound of the library" or nil)
  local is_bound = getmetatable(f) == Bound
  about = about and registry.about:read("mr.bounds.define", about)
  if about then about.formula = about.formula or name end
  local defined = is_bound and bound(name, f.apply, f.options) or from_function(name, f)
  rawset(defined, "repeats", false)
  definitions.note("bound", name, f, registry.add(name, defined, about))
  return defined
end

---Checks a bound on lists of many sizes: its gradient, how much short and long lists weigh, and
---where its gradient vanishes. Returns an mr.BoundReport, which is also printed unless `quiet =
---true`. The documentation of mr.BoundReport explains each row of the report.
---@param what string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor
---@param options? mr.bounds.CheckOptions
---@return mr.BoundReport
---Example: `mr.bounds.check("minmax", {metrics = {"ap"}, nsr = {1}, relevant = {5}, quiet = true}).ok   --> true`
function M.check(what, options) return require("moonrank.bounds.bound_report").check(what, options) end

---Plots bounded values against the metric. The figure has a panel for each bound and each negative
---sampling ratio (option `nsr`), with a line for each number of relevant rows (option `relevant`).
---`what` is one bound, or a table of several bounds to compare.
---@param what string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor|(string|mr.Bound)[]
---@param options? mr.bounds.PlotOptions
---@return mr.Figure
---Example:
---local figure = mr.bounds.plot({"minmax", "expectation"}, {metric = "ap", nsr = {1}, relevant = {5}})
---figure:script():find("plot", 1, true) ~= nil   --> true
function M.plot(what, options) return require("moonrank.bounds.plot").plot(what, options) end

---Returns the sorted names of all bounds, including those that scripts defined.
---@return string[]
---Example: `#mr.bounds.names() >= 8, mr.bounds.names()[1]   --> true, distribution`
function M.names() return registry.names() end

---Returns the bound that `what` stands for: a name, a bound, or a function of (score, stats). An
---unknown name is an error.
---@param what? string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor  default "none"
---@return mr.Bound
---Example: `mr.bounds.resolve("minmax").name   --> minmax`
function M.resolve(what)
  if what == nil then what = "none" end
  if getmetatable(what) == Bound then return what end
  if type(what) == "function" then return from_function("function", what) end
  local named = type(what) == "string" and registry.get(what)
  if named then return named end
  check.unknown("bound", what, M.names())
end

return M
