-- Pointwise losses: every row is compared with its own grade. A list's value is the mean over its rows, of any grades.
local core = require "moonrank.core"
local check = require "moonrank.check"
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"

local none = check.none

local M = {}

---@class mr.losses.PointwiseOptions
---@field bound? string|mr.Bound  an affine one: a list's value is multiplied by its slope for `metric` (default "none")
---@field metric? string|mr.Metric  whose bounds these are (default "ndcg")

---@class mr.losses.RelevantOptions: mr.losses.PointwiseOptions
---@field relevant? number  least grade of a relevant row (default 1)

local function made(name, shown, o, values, parameters)
  o.metric, o.slope_at = metrics.parse(o.metric or "ndcg"), "value"
  return loss.by_slope({ name = name, metric = shown, of = o.metric, counted = "any", pointwise = true, values = values,
    parameters = parameters, repeats = (not parameters) and nil }, o)  -- nil: as the bound does
end

---Mean squared error of score and grade, regression on grades (Cossock & Zhang 2006): (f - y)^2, the mean over a list's rows.
---`mr.fit{reduction = "rows"}` takes the mean over all rows of a batch instead of over its lists. Defined at any grades; with a bound,
---lists count on which an ordering can matter.
---@param options? mr.losses.PointwiseOptions
---@return mr.Loss
---Example: `mr.losses.mse()(mr.tensor{1, 0}, mr.lists{{2, 2}}):item()   --> 2.5`
function M.mse(options)
  local o = check.options("mr.losses.mse", options, { bound = none, metric = none })
  return made("mse", "ndcg", o, core.squared_error_loss)
end

---Binary cross entropy of sigma(f) and whether the row is relevant, logistic regression's loss (Cox 1958), the mean over a list's rows;
---otherwise as mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.bce()(mr.tensor{0, 0}, mr.lists{{0, 1}}):item() / math.log(2)   --> 1.0`
function M.bce(options)
  local o = check.options("mr.losses.bce", options, { bound = none, metric = none, relevant = 1 })
  check.positive("mr.losses.bce", o, { "relevant" })
  return made("bce", "auc", o, function(scores, lists) return core.binary_cross_entropy_loss(scores, lists, o.relevant) end)
end

---Squared hinge loss, of support vector machines (Chang, Hsieh & Lin 2008): max(0, 1 - f)^2 of relevant rows, max(0, 1 + f)^2 of others,
---the mean over a list's rows; otherwise as mr.losses.mse.
---@param options? mr.losses.RelevantOptions
---@return mr.Loss
---Example: `mr.losses.squared_hinge()(mr.tensor{0.5, 0}, mr.lists{{1, 0}}):item()   --> 0.625`
function M.squared_hinge(options)
  local o = check.options("mr.losses.squared_hinge", options, { bound = none, metric = none, relevant = 1 })
  check.positive("mr.losses.squared_hinge", o, { "relevant" })
  return made("squared_hinge", "auc", o, function(scores, lists) return core.squared_hinge_loss(scores, lists, o.relevant) end)
end

---@class mr.losses.OrdinalOptions: mr.losses.PointwiseOptions
---@field levels? integer  largest grade (default: of `thresholds` their number, else 4)
---@field thresholds? number[]|mr.Tensor  one for each grade from 1, rising (default k - 1/2); a tensor with `requires_grad` is learned
---@field learn? boolean  whether thresholds are parameters, which mr.fit trains with the model's (default false, but for such a tensor)

local most_levels = 10000

-- Raises unless these are numbers in rising order.
local function check_rising(where, given)
  for k, threshold in ipairs(given) do
    if not check.is_finite(threshold) or k > 1 and threshold <= given[k - 1] then
      check.fail("%s: threshold %d is %s, expected finite numbers, each larger than the one before", where, k, tostring(threshold))
    end
  end
end

local function checked_thresholds(where, o)
  if o.levels ~= nil and (math.type(o.levels) ~= "integer" or o.levels < 1 or o.levels > most_levels) then
    check.fail("%s: levels is %s, expected an integer from 1 to %d", where, tostring(o.levels), most_levels)
  end
  local given = o.thresholds
  if given == nil then
    given = {}
    for k = 1, o.levels or 4 do given[k] = k - 0.5 end
  end
  local is_tensor = check.is_tensor(given)
  if not is_tensor and (type(given) ~= "table" or #given == 0) then
    check.fail("%s: thresholds is %s, expected a number for each grade", where, type(given) == "table" and "empty" or tostring(given))
  end
  if is_tensor and (given.dims ~= 1 or #given == 0 or given.dtype == "int64") then
    check.fail("%s: thresholds is a tensor of sizes {%s} %s, expected a real number for each grade", where,
      table.concat(given:shape(), ", "), given.dtype)
  end
  check_rising(where, is_tensor and given:totable() or given)
  local thresholds = is_tensor and given or core.tensor(given, "float64", "cpu")
  if o.levels and o.levels ~= #thresholds then
    check.fail("%s: %d thresholds, but levels is %s", where, #thresholds, tostring(o.levels))
  end
  return thresholds
end

---Ordinal regression by cumulative logits (McCullagh 1980): the sum over grades k of the binary cross entropy of sigma(f - threshold_k) and
---whether y >= k, the mean over a list's rows; otherwise as mr.losses.mse. Grades above the last threshold count as the last. With `learn = true` mr.fit
---trains the thresholds by its optimizer beside the model (McCullagh's are parameters): they are kept in checkpoints and go back to the chosen epoch with
---the model; `loss:parameters()[1]` has them, a model's file does not. A fit goes on from where the one before left them: each takes a loss of its own.
---Trees (mr.models.trees) take thresholds that are fixed.
---@param options? mr.losses.OrdinalOptions
---@return mr.Loss
---Example: `mr.losses.ordinal{thresholds = {0}}(mr.tensor{0}, mr.lists{{1}}):item() / math.log(2)   --> 1.0`
---Example: `mr.losses.ordinal{levels = 2, learn = true}:parameters()[1]   --> {0.5, 1.5}  mr.Tensor {2} float64`
function M.ordinal(options)
  local where = "mr.losses.ordinal"
  local o = check.options(where, options, { bound = none, metric = none, levels = none, thresholds = none, learn = none })
  local thresholds = checked_thresholds(where, o)
  if o.learn ~= nil and type(o.learn) ~= "boolean" then check.fail("%s: learn is %s, expected true or false", where, tostring(o.learn)) end
  if o.learn == false then thresholds = thresholds:detach() end
  o.learn = o.learn or thresholds.tracked
  if o.learn and not thresholds.tracked then thresholds = thresholds:requires_grad() end
  o.levels, o.thresholds = #thresholds, thresholds
  return made("ordinal", "ndcg", o, function(scores, lists)
    return core.ordinal_loss(scores, lists, thresholds:to(scores.dtype):to(scores.device))
  end, o.learn and { thresholds })
end

return M
