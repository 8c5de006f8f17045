-- What is known of a metric over all rankings of each list: closed forms where there are some, else estimates.
local core = require "moonrank.core"
local estimate = require "moonrank.estimate"

local M = {}

-- The metric whose rule says which lists count: all grades of an estimated one may matter, as those of nDCG do.
local function counting(metric) return estimate.handles(metric) and "ndcg" or metric end

---1 for every list on which an ordering can matter, 0 for the others.
---@param metric string
---@param lists mr.Lists
---@param dtype string
---@param device string
---@return mr.Tensor
function M.weights(metric, lists, dtype, device)
  return core.list_weights(counting(metric), lists, dtype, device)
end

---Numbers of the lists on which an ordering can matter.
---@param metric string
---@param lists mr.Lists
---@param device string
---@return mr.Tensor
function M.counted(metric, lists, device)
  return core.counted_lists(counting(metric), lists, device)
end

---min, max, best, expectation and, where asked for, sd of every list; NaN where undefined.
---@param metric string
---@param lists mr.Lists
---@param dtype string
---@param device string
---@param sd boolean
---@return mr.Tensor min, mr.Tensor max, mr.Tensor best, mr.Tensor expectation, mr.Tensor sd
function M.table(metric, lists, dtype, device, sd)
  if not estimate.handles(metric) then return core.bound_table(metric, lists, dtype, device, sd) end
  local columns = { {}, {}, {}, {}, {} }
  for l, e in ipairs(estimate.per_list(metric, lists)) do
    local row = e and { e.min, e.max, e.best, e.expectation, e.sd } or { 0 / 0, 0 / 0, 0 / 0, 0 / 0, 0 / 0 }
    for c = 1, 5 do columns[c][l] = row[c] end
  end
  for c = 1, 5 do columns[c] = core.tensor(columns[c], dtype, device) end
  return table.unpack(columns)
end

---Slope and offset of an affine bound per list; 0 and 0 for lists on which no ordering can matter.
---@param metric string
---@param lists mr.Lists
---@param kind string
---@param dtype string
---@param device string
---@return mr.Tensor slope, mr.Tensor offset
function M.affine(metric, lists, kind, dtype, device)
  if not estimate.handles(metric) then return core.affine_bound(metric, lists, kind, dtype, device) end
  local slope, offset = {}, {}
  for l, e in ipairs(estimate.per_list(metric, lists)) do
    slope[l], offset[l] = 0, 0
    if e and e.min < e.max then slope[l], offset[l] = core.affine_numbers(kind, e.min, e.max, e.best, e.expectation, e.sd) end
  end
  return core.tensor(slope, dtype, device), core.tensor(offset, dtype, device)
end

return M
