-- Declares options that several losses and smooth metrics share.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local metrics = require "moonrank.metrics.registry"

local M = {}

-- Smallest and largest value of options that multiply scores. Derivatives multiplied by two such factors still fit
-- into float32.
local least_factor, largest_factor = 1e-15, 1e15

---Makes the declaration of an option of losses and smooth metrics that multiplies scores or
---derivatives, such as a steepness.
---@return mr.options.Row
function M.factor(name, default, help)
  return { name, "number", default = default, least = least_factor, most = largest_factor, help = help }
end

local steepness = M.factor("steepness", 1,
  "factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1")
steepness.formerly, steepness.renamed = "gain", 1

-- A text under the former name of `steepness` is meant as the gain of a grade, which is an option of metrics.
function steepness.meant(value, where)
  if type(value) ~= "string" then return value end
  check.fail("%s: this loss has no option for the gain of grades, found gain = '%s'. A metric has it: write "
    .. "mr.losses.lambdarank{metric = mr.metrics.ndcg{gain = '%s'}} to train on it", where, value, value)
end

M.steepness = declare("mr.losses.SteepnessOptions", { steepness })

M.smooth = declare("mr.smooth.RankOptions", {
  { "kernel", "string", default = "logistic", choices = { "logistic", "laplace" },
    help = "function of score differences that smooth ranks add up: the sigmoid, or the distribution function of the "
      .. "Laplace distribution (LapSum: one sort and two recurrences; Struski et al. 2025)" },
}, M.steepness)

---Returns the kernel of smooth ranks from a loss's options. The default is taken out of them, so that
---the text of a loss is the one in stores of versions without the option.
function M.kernel(o)
  local kernel = o.kernel
  if kernel == "logistic" then o.kernel = nil end
  return kernel
end

M.bound = declare("mr.losses.BoundOptions", {
  { "bound", "string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor", default = "none",
    help = "bound that rescales each list, or its name. It is applied to a smooth metric; other losses are multiplied "
      .. "by its slope" },
})

M.slope = declare("mr.losses.SlopeOptions", {
  { "slope_at", "string", default = "value", choices = { "value", "expectation" },
    help = "point at which a bound that is not affine has its slope: the metric's exact value for the current scores "
      .. "(without a gradient through it), or the metric's mean over random rankings" },
}, M.bound)

M.pairs = declare("mr.losses.PairOptions", {}, M.steepness, M.slope)

M.ndcg_metric = declare("mr.losses.MetricOptions", { metrics.option("ndcg", "metric whose bounds are used") })

M.relevant = declare("mr.losses.RelevantGradeOptions", {
  { "relevant", "number", default = 1, above = 0, help = "smallest grade of a relevant row" },
})

-- Maps options of losses that need mr.fit to the reason for this. A program that computes losses through the C
-- interface, without mr.fit, may not pass them; `learn` is allowed if the program trains the loss's parameters.
M.only_fit = {
  learn = "only mr.fit and moonrank.torch train the parameters of a loss",
  regularize = "only mr.fit sees the factors of a model. Use the optimizer's weight decay",
  every = "only mr.fit sees the users of a step",
  share = "only mr.fit sees the users of a step",
}

return M
