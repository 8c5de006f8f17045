-- Computes error measures of predictions (RMSE, MAE, R^2), and the share of pairs of rows that scores order correctly.
local core = require "moonrank.core"
local check = require "moonrank.check"
local input = require "moonrank.stats.input"

local M = {}

local function vector(where, name, x)
  local values = input.moderate(where, name, x)
  check.expect(values.dims == 1, where, "the number of dimensions of " .. name, values.dims, "1")
  return values:detach():to("cpu"):double()
end

-- Returns predictions and true values as float64 vectors on the CPU. Unequal or zero lengths are errors.
local function both(where, predicted, truth)
  local a, b = vector(where, "predicted", predicted), vector(where, "truth", truth)
  check.length(where, "predicted", #a, #b, "one for each true value")
  check.not_empty(where, "predicted", a, "number")
  return a, b
end

---Returns the root mean squared error of predictions. It is NaN if a value is NaN. Values beyond
---1e100 in size, also infinite ones, are errors.
---@param predicted mr.Tensor|number[]
---@param truth mr.Tensor|number[]
---@return number
---Example: `mr.stats.rmse({1, 2, 3, 4}, {1, 2, 3, 6})   --> 1.0`
function M.rmse(predicted, truth)
  local a, b = both("mr.stats.rmse", predicted, truth)
  return ((a - b) ^ 2):mean():sqrt():item()
end

---Returns the mean absolute error of predictions. It is NaN if a value is NaN. Values beyond 1e100
---in size, also infinite ones, are errors.
---@param predicted mr.Tensor|number[]
---@param truth mr.Tensor|number[]
---@return number
---Example: `mr.stats.mae({1, 2, 3, 4}, {1, 2, 3, 6})   --> 0.5`
function M.mae(predicted, truth)
  local a, b = both("mr.stats.mae", predicted, truth)
  return (a - b):abs():mean():item()
end

---Returns the coefficient of determination R^2: 1 minus the sum of squared errors over the sum of
---squares around the mean of the true values. R^2 is below 0 if predicting that mean for all rows
---has smaller errors. It is NaN if the true values are all equal, or if a value is NaN. Values
---beyond 1e100 in size, also infinite ones, are errors.
---@param predicted mr.Tensor|number[]
---@param truth mr.Tensor|number[]
---@return number
---Example: `mr.stats.r2({1, 2, 3, 4}, {1, 2, 3, 6})   --> 0.714285714`
function M.r2(predicted, truth)
  local a, b = both("mr.stats.r2", predicted, truth)
  local spread = b:max():item() > -(-b):max():item() and ((b - b:mean()) ^ 2):sum():item() or 0 / 0
  return 1 - ((a - b) ^ 2):sum():item() / spread
end

---Returns the pairwise accuracy of scores: among all pairs of rows of a list with unequal grades,
---the share that the scores order like the grades. A pair with equal scores counts a half. The
---result is NaN if no list has unequal grades, or if a score is NaN. Scores beyond 1e100 in size,
---also infinite ones, are errors.
---@param scores mr.Tensor|number[]  [rows]
---@param lists mr.Lists
---@return number
---Example: `mr.stats.pairwise_accuracy({3, 1, 2, 0, 0}, mr.lists{{1, 0, 2}, {1, 0}})   --> 0.625`
function M.pairwise_accuracy(scores, lists)
  local where = "mr.stats.pairwise_accuracy"
  local grades = check.field(lists, "relevance")
  check.expect(grades, where, "lists", lists, "lists, as mr.lists makes them")
  local values
  values, grades = both(where, scores, grades)
  if values:isnan():double():sum():item() > 0 then return 0 / 0 end
  local s, y = values:totable(), grades:totable()
  local right, count, first = 0, 0, 1
  for _, n in ipairs(core.integers(lists.sizes)) do
    core.check_interrupt()
    for i = first, first + n - 1 do
      for j = i + 1, first + n - 1 do
        if y[i] ~= y[j] then
          count = count + 1
          right = right + (s[i] == s[j] and 0.5 or (s[i] > s[j]) == (y[i] > y[j]) and 1 or 0)
        end
      end
    end
    first = first + n
  end
  return right / count
end

return M
