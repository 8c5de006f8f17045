-- What the statistics take: tensors or tables of numbers, and checked options.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---A tensor on the CPU, of a tensor or a table of numbers.
---@param where string
---@param x mr.Tensor|number[]
---@return mr.Tensor
function M.tensor(where, x)
  if type(x) == "table" then return core.tensor(x, "float64", "cpu") end
  if type(x) ~= "userdata" then check.fail("%s: a tensor or a table of numbers expected, got a %s", where, type(x)) end
  return x
end

---A table of numbers, of a tensor or a table of numbers.
---@param where string
---@param name string  of the argument
---@param x mr.Tensor|number[]
---@return number[]
function M.numbers(where, name, x)
  if type(x) == "userdata" then return x:double():to("cpu"):totable() end
  if type(x) ~= "table" then check.fail("%s: %s is a %s, expected a tensor or a table of numbers", where, name, type(x)) end
  for i, each in ipairs(x) do
    if type(each) ~= "number" then check.fail("%s: row %d of %s is a %s, expected a number", where, i, name, type(each)) end
  end
  return x
end

---Raises unless `value` is an integer from `least` on.
function M.whole(where, name, value, least)
  if math.type(value) ~= "integer" or value < least then
    check.fail("%s: %s is %s, expected an integer from %d", where, name, tostring(value), least)
  end
  return value
end

---Raises unless `value` lies between 0 and 1.
function M.share(where, name, value)
  if not (value > 0 and value < 1) then check.fail("%s: %s is %g, expected between 0 and 1", where, name, value) end
  return value
end

---The points of a curve: `count` of them, from `low` to `high`.
---@return mr.Tensor
function M.points(where, o, low, high)
  local range = o.range or { low, high }
  M.whole(where, "points", o.points, 2)
  if #range ~= 2 or type(range[1]) ~= "number" or type(range[2]) ~= "number" or range[1] >= range[2] then
    check.fail("%s: range is {%s, %s}, expected {lowest, highest}", where, tostring(range[1]), tostring(range[2]))
  end
  local points, step = {}, (range[2] - range[1]) / (o.points - 1)
  for i = 1, o.points do points[i] = range[1] + step * (i - 1) end
  points[o.points] = range[2]
  return core.tensor(points, "float64", "cpu")
end

---The bandwidth: a number as it is, a rule by `find`, which also tells whether the search for it hit an end.
---@return number bandwidth
---@return boolean at_edge
function M.bandwidth(where, value, rules, find)
  if type(value) ~= "number" then
    if type(value) ~= "string" then check.fail("%s: bandwidth is a %s, expected a number or a string", where, type(value)) end
    return find(check.choice(where, "bandwidth", value, rules))
  end
  if not (value > 0 and value < math.huge) then check.fail("%s: bandwidth is %g, expected a number above 0", where, value) end
  return value, false
end

return M
