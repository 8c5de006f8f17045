-- Pointwise losses: every row is compared with its own grade. A list's value is the mean over its rows, of any grades.
local core = require "moonrank.core"
local check = require "moonrank.check"
local loss = require "moonrank.losses.loss"

local none = check.none

local M = {}

---@class mr.losses.PointwiseOptions
---@field bound? string|mr.Bound  an affine one: a list's value is multiplied by its slope for `metric` (default "none")
---@field metric? string|mr.Metric  whose bounds these are (default "ndcg")

---@class mr.losses.RelevantOptions: mr.losses.PointwiseOptions
---@field relevant? number  least grade of a relevant row (default 1)

local function made(name, shown, o, values)
  o.slope_at = "value"
  return loss.by_slope({ name = name, metric = shown, of = o.metric, counted = "any", pointwise = true, values = values }, o)
end

---Mean squared error of score and grade: (f - y)^2, the mean over a list's rows. `mr.fit{reduction = "rows"}` takes the mean over all rows of
---a batch instead of over its lists. Defined at any grades; with a bound, lists count on which an ordering can matter.
---@param options? mr.losses.PointwiseOptions
---@return mr.Loss
---Example: `mr.losses.mse()(mr.tensor{1, 0}, mr.lists{{2, 2}}):item()   --> 2.5`
function M.mse(options)
  local o = check.options("mr.losses.mse", options, { bound = none, metric = "ndcg" })
  return made("mse", "ndcg", o, core.squared_error_loss)
end

---Binary cross entropy of sigma(f) and whether the row is relevant, the mean over a list's rows; otherwise as mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.bce()(mr.tensor{0, 0}, mr.lists{{0, 1}}):item() / math.log(2)   --> 1.0`
function M.bce(options)
  local o = check.options("mr.losses.bce", options, { bound = none, metric = "ndcg", relevant = 1 })
  return made("bce", "auc", o, function(scores, lists) return core.binary_cross_entropy_loss(scores, lists, o.relevant) end)
end

---Squared hinge loss: max(0, 1 - f)^2 of relevant rows, max(0, 1 + f)^2 of others, the mean over a list's rows; otherwise as mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.squared_hinge()(mr.tensor{0.5, 0}, mr.lists{{1, 0}}):item()   --> 0.625`
function M.squared_hinge(options)
  local o = check.options("mr.losses.squared_hinge", options, { bound = none, metric = "ndcg", relevant = 1 })
  return made("squared_hinge", "auc", o, function(scores, lists) return core.squared_hinge_loss(scores, lists, o.relevant) end)
end

---@class mr.losses.OrdinalOptions: mr.losses.PointwiseOptions
---@field levels? integer  largest grade (default: of `thresholds` their number, else 4)
---@field thresholds? number[]|mr.Tensor  one for each grade from 1, rising (default k - 1/2); a tensor with `requires_grad` is learned, too,
---   by an optimiser that is bound to it

local function checked_thresholds(where, o)
  local given = o.thresholds
  if o.levels then check.integer_from(where, o, "levels", 1) end
  if type(given) == "userdata" then return given end
  if given == nil then
    given = {}
    for k = 1, o.levels or 4 do given[k] = k - 0.5 end
  end
  if type(given) ~= "table" or #given == 0 then
    check.fail("%s: thresholds is %s, expected a number for each grade", where, type(given) == "table" and "empty" or tostring(given))
  end
  for k, threshold in ipairs(given) do
    if type(threshold) ~= "number" or threshold - threshold ~= 0 or k > 1 and threshold <= given[k - 1] then
      check.fail("%s: threshold %d is %s, expected finite numbers, each larger than the one before", where, k, tostring(threshold))
    end
  end
  if o.levels and o.levels ~= #given then check.fail("%s: %d thresholds, but levels is %s", where, #given, tostring(o.levels)) end
  return core.tensor(given, "float64", "cpu")
end

---Ordinal regression by cumulative logits (McCullagh 1980): the sum over grades k of the binary cross entropy of sigma(f - threshold_k) and
---whether y >= k, the mean over a list's rows; otherwise as mr.losses.mse. Grades above the last threshold count as the last.
---@param options? mr.losses.OrdinalOptions
---@return mr.Loss
---Example: `mr.losses.ordinal{thresholds = {0}}(mr.tensor{0}, mr.lists{{1}}):item() / math.log(2)   --> 1.0`
function M.ordinal(options)
  local where = "mr.losses.ordinal"
  local o = check.options(where, options, { bound = none, metric = "ndcg", levels = none, thresholds = none })
  local thresholds = checked_thresholds(where, o)
  o.levels, o.thresholds = #thresholds, thresholds
  return made("ordinal", "ndcg", o, function(scores, lists)
    return core.ordinal_loss(scores, lists, thresholds:to(scores.dtype):to(scores.device))
  end)
end

return M
