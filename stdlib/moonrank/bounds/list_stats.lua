-- Statistics of a metric over all rankings of each list: closed forms if the metric has them, else
-- estimates.
local core = require "moonrank.core"
local estimate = require "moonrank.bounds.estimate"

local M = {}

---Returns 1 for every list on which an ordering can matter, and 0 for the others.
---@param metric mr.Metric
---@param lists mr.Lists
---@param dtype string
---@param device string
---@return mr.Tensor
function M.weights(metric, lists, dtype, device)
  if metric.closed_forms then return core.list_weights(metric, lists, dtype, device) end
  local weights = estimate.counts(metric, lists)
  for l, counts in ipairs(weights) do weights[l] = counts and 1 or 0 end
  return core.tensor(weights, dtype, device)
end

---Returns how many of the lists count: those on which an ordering can matter.
---@param metric mr.Metric
---@param lists mr.Lists
---@return integer
function M.count(metric, lists)
  if metric.closed_forms then return core.count_lists(metric, lists) end
  return math.tointeger(M.weights(metric, lists, "float64", "cpu"):sum():item())
end

---Returns the numbers of the lists on which an ordering can matter.
---@param metric mr.Metric
---@param lists mr.Lists
---@param device string
---@return mr.Tensor
function M.counted(metric, lists, device)
  if metric.closed_forms then return core.counted_lists(metric, lists, device) end
  local numbers = {}
  for l, counts in ipairs(estimate.counts(metric, lists)) do
    if counts then numbers[#numbers + 1] = l end
  end
  return core.tensor(numbers, "int64", device)
end

---Computes one value per list by calling `f` only with lists that count. `f` gets the scores of
---these lists, and the lists. The value of the other lists is 0, so that their 0/0 never reaches a
---gradient. If no list counts, `f` is not called, and the 0 still depends on the score.
---@param metric mr.Metric
---@param lists mr.Lists
---@param score mr.Tensor  [lists]
---@param f fun(score: mr.Tensor, lists: mr.Lists): mr.Tensor
---@return mr.Tensor
function M.where_counted(metric, lists, score, f)
  local counted = M.counted(metric, lists, score.device)
  if #counted == 0 then return score * 0 end
  return core.put_rows(f(score:rows(counted), lists:select(counted:to("cpu"))), counted, lists.count)
end

---Computes min, max, best, expectation and, with `sd`, sd of every list. Undefined numbers are NaN.
---@param metric mr.Metric
---@param lists mr.Lists
---@param dtype string
---@param device string
---@param sd boolean
---@return { min: mr.Tensor, max: mr.Tensor, best: mr.Tensor, expectation: mr.Tensor, sd: mr.Tensor }
function M.table(metric, lists, dtype, device, sd)
  if metric.closed_forms then return core.bound_table(metric, lists, dtype, device, sd) end
  local columns, found = {}, estimate.per_list(metric, lists)
  for _, name in ipairs{ "min", "max", "best", "expectation", "sd" } do
    local column = {}
    for l, e in ipairs(found) do column[l] = e and e[name] or 0 / 0 end
    columns[name] = core.tensor(column, dtype, device)
  end
  return columns
end

---Computes the bounded value of every list under an affine bound.
---@param score mr.Tensor  [lists]
---@param metric mr.Metric
---@param lists mr.Lists
---@param line mr.AffineBound
---@return mr.Tensor
function M.bounded(score, metric, lists, line)
  if metric.closed_forms then return core.affine_bounded(score, metric, lists, line) end
  local slope, offset = M.affine(metric, lists, line, score.dtype, score.device)
  return score * slope + offset
end

---Computes slope and offset of an affine bound per list. Both are 0 if no ordering can matter.
---@param metric mr.Metric
---@param lists mr.Lists
---@param line mr.AffineBound
---@param dtype string
---@param device string
---@return mr.Tensor slope, mr.Tensor offset
function M.affine(metric, lists, line, dtype, device)
  if metric.closed_forms then return core.affine_bound(metric, lists, line, dtype, device) end
  if line.needs == "nothing" then return M.weights(metric, lists, dtype, device), core.full({ lists.count }, 0, dtype, device) end
  local slope, offset = {}, {}
  for l, e in ipairs(estimate.per_list(metric, lists, true)) do
    slope[l], offset[l] = 0, 0
    if e then slope[l], offset[l] = estimate.affine(metric, line, e) end
  end
  return core.tensor(slope, dtype, device), core.tensor(offset, dtype, device)
end

return M
