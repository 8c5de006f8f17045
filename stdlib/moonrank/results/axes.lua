-- Makes the axis of a parameter for figures and importance: its categories, or its range and scale.
local check = require "moonrank.check"
local described = require "moonrank.sweep.search.described"

local M = {}

---@class mr.results.Axis
---@field name string
---@field categories? string[]   sorted values, if some are not numbers
---@field levels? number[]       sorted values of a choice of numbers
---@field low? number            smallest number of the space and of the trials
---@field high? number           largest number of the space and of the trials
---@field log boolean
---@field step? integer

---Returns true if an axis of these numbers should be logarithmic: all numbers are positive, and the largest is at least
---`times` the smallest.
---@param times? number  default 100
---Example: `require("moonrank.results.axes").ratios{1, 20, 300}   --> true`
function M.ratios(values, times)
  local low, high = math.huge, 0
  for _, value in ipairs(values) do low, high = math.min(low, value), math.max(high, value) end
  return low > 0 and high / low >= (times or 100)
end

---Returns the different values of a list, sorted.
---@param values any[]
---@return any[]
function M.distinct(values)
  local seen, list = {}, {}
  for _, value in ipairs(values) do
    if not seen[value] then list[#list + 1] = value end
    seen[value] = true
  end
  table.sort(list)
  return list
end

local function numbers(axis, values, part)
  local sorted = M.distinct(values)
  local low, high = sorted[1], sorted[#sorted]
  if part and part.kind == "choice" then
    axis.levels, axis.log = sorted, M.ratios(values, 10)
  elseif part then
    low, high, axis.log, axis.step = math.min(low, part.low), math.max(high, part.high), part.log, part.step
  end
  axis.low, axis.high, axis.log = low, high, axis.log and low > 0
  return axis
end

---Returns the axis of a parameter for the values in some trials; nil if no trial has the parameter.
---@param column any[]    the parameter's value of each trial
---@param rows integer[]  indices of the trials in `column`
function M.of(space, name, column, rows)
  local values, numeric = {}, true
  for _, row in ipairs(rows) do
    local value = column[row]
    if value ~= nil then
      values[#values + 1] = value
      numeric = numeric and check.is_finite(value)
    end
  end
  if #values == 0 then return nil end
  local axis = { name = name, log = false }
  if numeric then return numbers(axis, values, described.read(space)[name]) end
  for i, value in ipairs(values) do values[i] = tostring(value) end
  axis.categories = M.distinct(values)
  return axis
end

return M
