-- Checks the arguments of mr.stats: converts tensors and tables of numbers, and declares options that several functions
-- have.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

-- Largest size of a value and smallest bandwidth that statistics accept. Beyond these limits, sums of squares and cubes
-- could overflow or underflow.
M.largest, M.smallest = 1e100, 1 / 1e100
-- Largest number of points of a curve, and largest number of random draws.
M.most_points, M.most_draws = 1000000, 100000000

M.level_options = declare("mr.stats.LevelOptions", {
  { "level", "number", default = 0.95, above = 0, below = 1,
    help = "share of such intervals that contain the true value" },
})

---Returns a tensor from a tensor or a table of numbers. A table becomes a float64 tensor on the
---CPU.
---@param where string  name of the called function, for errors
---@param x mr.Tensor|number[]
---@return mr.Tensor
function M.tensor(where, x)
  if type(x) == "table" then return core.tensor(x, "float64", "cpu") end
  if type(x) ~= "userdata" then check.fail("%s: a tensor or a table of numbers expected, got a %s", where, type(x)) end
  return x
end

---Returns a tensor from a tensor or a table of numbers. Values beyond 1e100 in size, also infinite
---ones, are errors, because their squares and cubes could overflow.
---@param where string  name of the called function, for errors
---@param name string   name of the argument, for errors
---@param x mr.Tensor|number[]
---@return mr.Tensor
function M.moderate(where, name, x)
  local values = M.tensor(where, x)
  local at, value = core.first_beyond(values, M.largest)
  if at then
    check.fail("%s: entry %d of %s is %g, expected numbers up to %g in size", where, at, name, value, M.largest)
  end
  return values
end

---Returns a plain table of numbers from a tensor or a table of numbers; a table is returned
---unchanged. Values beyond 1e100 in size, also infinite ones, are errors. NaN is allowed.
---@param where string  name of the called function, for errors
---@param name string   name of the argument, for errors
---@param x mr.Tensor|number[]
---@return number[]
function M.numbers(where, name, x)
  if type(x) == "userdata" then x = core.numbers(x) end
  if type(x) ~= "table" then
    check.fail("%s: %s is a %s, expected a tensor or a table of numbers", where, name, type(x))
  end
  for i = 1, #x do
    local each = x[i]
    if type(each) ~= "number" then
      check.fail("%s: row %d of %s is a %s, expected a number", where, i, name, type(each))
    end
    if math.abs(each) > M.largest then
      check.fail("%s: row %d of %s is %g, expected numbers up to %g in size", where, i, name, each, M.largest)
    end
  end
  return x
end

---Returns the names of a table's columns, sorted. Raises an error if a column's key is not a
---string.
---@param where string   name of the called function, for errors
---@param option string  the option with the columns
---@param columns table<string, any>
---@return string[]
function M.column_names(where, option, columns)
  for name in pairs(columns) do
    if type(name) ~= "string" then
      check.fail("%s: %s has a column under the %s %s, expected a name", where, option, type(name), tostring(name))
    end
  end
  return check.names(columns)
end

---Returns the levels (different names) in a column, in the order in which they first appear, and
---for each row the index of its level. NaN is not a level and stays NaN in the rows.
---@param where string   name of the called function, for errors
---@param name string    of the column
---@param values any[]   the column
---@param count integer  number of rows that the column must have
---@param other string   name of the other column with this number of rows
---@return any[] levels
---@return any[] rows
function M.levels(where, name, values, count, other)
  if type(values) ~= "table" then check.fail("%s: %s is a %s, expected a table of names", where, name, type(values)) end
  if #values ~= count then check.fail("%s: %s has %d rows, %s has %d", where, name, #values, other, count) end
  local levels, at, rows = {}, {}, {}
  for i = 1, count do
    local value = values[i]
    if value == nil then check.fail("%s: row %d of %s is nil, expected a name", where, i, name) end
    if value == value and not at[value] then
      levels[#levels + 1] = value
      at[value] = #levels
    end
    rows[i] = at[value] or value
  end
  return levels, rows
end

---Returns true if the list is {lowest, highest}: two different numbers in ascending order, each at
---most 1e100 in size.
---@param value any[]
---@return boolean
---Example: `require("moonrank.stats.input").is_range({0, 1})   --> true`
function M.is_range(value) return check.is_range(value, M.largest) end

---Returns the x values at which a curve is computed: `o.points` evenly spaced points over
---`o.range`, or else from `low` to `high`.
---@param where string  name of the called function, for errors
---@param o { points: integer, range?: number[] }
---@param low number
---@param high number
---@return mr.Tensor
function M.points(where, o, low, high)
  local range = o.range or { low, high }
  if not M.is_range(range) then
    check.fail("%s: range is {%s, %s}, expected {lowest, highest}", where, tostring(range[1]), tostring(range[2]))
  end
  local points, step = {}, (range[2] - range[1]) / (o.points - 1)
  for i = 1, o.points do points[i] = range[1] + step * (i - 1) end
  points[o.points] = range[2]
  return core.tensor(points, "float64", "cpu")
end

---Returns the bandwidth of a kernel, and whether the search for it ended at a limit (`at_edge`). If
---`value` is a number, it is the bandwidth. If `value` is the name of a rule, `find` computes both
---results.
---@param value string|number
---@param find fun(rule: string): number, boolean
---@return number bandwidth
---@return boolean at_edge
function M.bandwidth(value, find)
  if type(value) == "number" then return value, false end
  return find(value)
end

return M
