-- Pointwise losses compare every row with its own grade. A list's value is the mean over its rows. They are defined
-- for any grades.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

local pointwise_options = declare("mr.losses.PointwiseOptions", {
  { "bound", "string|mr.Bound", default = "none",
    help = "affine bound: a list's value is multiplied by the bound's slope for `metric`" },
}, shared.ndcg_metric)

local relevant_options = declare("mr.losses.RelevantOptions", {}, shared.relevant, pointwise_options)

local function made(name, shown, o, values, parameters)
  o.metric, o.slope_at = metrics.parse(o.metric), "value"
  return loss.by_slope({ name = name, metric = shown, of = o.metric, counted = "any", pointwise = true, values = values,
    -- `repeats` says whether the same batch always gives the same values. It is false for losses with parameters. For
    -- other losses it is nil here, and loss.by_slope then asks the bound.
    row_weights = weighted.pointwise(values), parameters = parameters, repeats = (not parameters) and nil }, o)
end

-- Makes a loss of the core that compares rows with the option `relevant`.
local function of_relevant(name, values, options)
  local o = relevant_options:read("mr.losses." .. name, options)
  return made(name, "auc", o, function(scores, lists) return values(scores, lists, o.relevant) end)
end

---Makes the mean squared error loss, regression on grades (Cossock & Zhang 2006): a mean over a
---list's N rows, for scores f and grades y.
---
---   $1/N sum_i (f_i - y_i)^2$
---
---`mr.fit{reduction = "rows"}` takes the mean over all rows of a batch instead of over its lists. The
---loss is defined at any grades: all lists with rows count in means. With a bound, a list counts only
---if an ordering of its rows can change the metric in the option `metric`.
---@param options? mr.losses.PointwiseOptions
---@return mr.Loss
---Example: `mr.losses.mse()(mr.tensor{1, 0}, mr.lists{{2, 2}}):item()   --> 2.5`
function M.mse(options)
  local o = pointwise_options:read("mr.losses.mse", options)
  return made("mse", "ndcg", o, core.squared_error_loss)
end

---Makes the binary cross entropy loss of logistic regression (Cox 1958). For each of a list's N rows,
---sigma(f) of its score f is the probability that the row is relevant. The loss is the mean over rows:
---
---   $- 1/N (sum_(relevant i) log(sigma(f_i)) + sum_(other i) log(1 - sigma(f_i)))$
---
---A row is relevant if its grade is at least the option `relevant`. Means over rows, lists that
---count, and bounds are as for mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.bce()(mr.tensor{0, 0}, mr.lists{{0, 1}}):item() / math.log(2)   --> 1.0`
function M.bce(options) return of_relevant("bce", core.binary_cross_entropy_loss, options) end

---Makes the squared hinge loss of support vector machines (Chang, Hsieh & Lin 2008), the mean over
---a list's rows. A row with score f costs $max(0, 1 - f)^2$ if it is relevant (option `relevant`),
---else $max(0, 1 + f)^2$. Means over rows, lists that count, and bounds are as for mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.squared_hinge()(mr.tensor{0.5, 0}, mr.lists{{1, 0}}):item()   --> 0.625`
function M.squared_hinge(options) return of_relevant("squared_hinge", core.squared_hinge_loss, options) end

-- Returns true for a table, and for a one-dimensional tensor of real numbers, if it has at least one entry.
local function is_thresholds(value)
  if check.is_tensor(value) then return value.dims == 1 and #value > 0 and value.dtype ~= "int64" end
  return type(value) == "table" and #value > 0
end

local ordinal_options = declare("mr.losses.OrdinalOptions", {
  { "levels", "integer", least = 1, most = 10000, shown = "the number of thresholds, else 4", help = "largest grade" },
  { "thresholds", "number[]|mr.Tensor", shown = "k - 1/2", accept = is_thresholds,
    expected = "a table of numbers, one for each grade, or a tensor {grades} of dtype float32 or float64",
    help = "one threshold for each grade k from 1, in ascending order; a tensor with `requires_grad` is learned" },
  { "learn", "boolean", shown = "false, except for a tensor with `requires_grad`",
    help = "whether thresholds are parameters, which training updates together with the model's" },
}, pointwise_options)

-- Raises an error unless the thresholds `given` are finite numbers in ascending order.
local function check_rising(where, given)
  for k, threshold in ipairs(given) do
    if not check.is_finite(threshold) or k > 1 and threshold <= given[k - 1] then
      check.fail("%s: thresholds[%d] is %s, expected a finite number, larger than the threshold before it", where, k,
        check.found(threshold))
    end
  end
end

local function checked_thresholds(where, o)
  local given = o.thresholds
  if given == nil then
    given = {}
    for k = 1, o.levels or 4 do given[k] = k - 0.5 end
  end
  local is_tensor = check.is_tensor(given)
  check_rising(where, is_tensor and given:totable() or given)
  local thresholds = is_tensor and given or core.tensor(given, "float64", "cpu")
  check.length(where, "thresholds", #thresholds, o.levels or #thresholds, "one for each grade from 1 to levels")
  return thresholds
end

---Makes the ordinal regression loss with cumulative logits (McCullagh 1980): the mean over a list's
---rows of a sum over grades k. Each term is the binary cross entropy of sigma(f - threshold_k) and
---whether y >= k, for score f and grade y. A grade above the number of thresholds counts as this
---number. Means over rows, lists that count, and bounds are as for mr.losses.mse.
---
---With `learn = true`, mr.fit trains the thresholds together with the model, as in McCullagh's
---paper. Checkpoints contain the thresholds, and the thresholds return to the chosen epoch with the
---model. `loss:parameters()[1]` has them; a model's file does not. A second fit with this loss
---continues from its trained thresholds, so make a new loss for each fit. Trees (mr.models.trees)
---need fixed thresholds.
---@param options? mr.losses.OrdinalOptions
---@return mr.Loss
---Example: `mr.losses.ordinal{thresholds = {0}}(mr.tensor{0}, mr.lists{{1}}):item() / math.log(2)   --> 1.0`
---Example: `mr.losses.ordinal{levels = 2, learn = true}:parameters()[1]   --> {0.5, 1.5}  mr.Tensor {2} float64`
function M.ordinal(options)
  local where = "mr.losses.ordinal"
  local o = ordinal_options:read(where, options)
  local thresholds = checked_thresholds(where, o)
  if o.learn == false then thresholds = thresholds:detach() end
  o.learn = o.learn or thresholds.tracked
  if o.learn and not thresholds.tracked then thresholds = thresholds:requires_grad() end
  o.levels, o.thresholds = #thresholds, thresholds
  return made("ordinal", "ndcg", o, function(scores, lists)
    return core.ordinal_loss(scores, lists, thresholds:to(scores.dtype):to(scores.device))
  end, o.learn and { thresholds })
end

return M
