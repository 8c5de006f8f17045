-- Checks the arguments of mr.stats: converts tensors and tables of numbers, and declares options that several functions
-- have. The names of the called function (`where`) and of the argument (`name`) are words of errors.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare

local M = {}

-- Limits of values and bandwidths, beyond which sums of squares and cubes could overflow or underflow.
M.largest, M.smallest = 1e100, 1 / 1e100
-- Largest number of points of a curve, and largest number of random draws, that statistics accept.
M.most_points, M.most_draws = 1000000, 100000000

M.level_options = declare("mr.stats.LevelOptions", {
  { "level", "number", default = 0.95, above = 0, below = 1,
    help = "share of such intervals that contain the true value" },
})

local check_values = arguments{ "x", "table|mr.Tensor", expected = "a tensor or a table of numbers",
  accept = function(x) return type(x) == "table" or type(x) == "userdata" end }

---Returns a tensor from a tensor or a table of numbers. A table becomes a float64 tensor on the CPU.
function M.tensor(where, x)
  check_values(where, x)
  return type(x) == "table" and core.tensor(x, "float64", "cpu") or x
end

---Like `tensor`, but values beyond 1e100 in size are errors, because their squares and cubes could overflow.
function M.moderate(where, name, x)
  local values = M.tensor(where, x)
  local at, value = core.first_beyond(values, M.largest)
  if at then
    check.expect(false, where, ("entry %d of %s"):format(at, name), value,
      "a number with an absolute value of at most %g", M.largest)
  end
  return values
end

---Returns the pairs of two samples that are without NaN: a tensor of each sample, and the number of pairs with NaN.
---Samples of different length are an error, and so are values beyond 1e100 in size, also infinite ones.
---@return mr.Tensor, mr.Tensor, integer
function M.pairs(where, x, y)
  local a, b = M.moderate(where, "x", x), M.moderate(where, "y", y)
  check.length(where, "y", b:numel(), a:numel(), "one for each entry of x")
  return core.complete_pairs(a, b)
end

---Returns a plain table of numbers from a tensor or a table of numbers; a table is returned unchanged. Values beyond
---1e100 in size, also infinite ones, are errors. NaN is allowed.
function M.numbers(where, name, x)
  if type(x) == "userdata" then x = core.numbers(x) end
  return check.numbers(where, name, x, M.largest)
end

---Returns the names of a table's columns, sorted. Raises an error if a column's key is not a string.
---@param option string  the option with the columns
---@param columns table<string, any>
function M.column_names(where, option, columns)
  check.by_name(where, "column of " .. option, columns)
  return check.names(columns)
end

---Returns the levels (different names) in a column, in the order in which they first appear, and for each row the index
---of its level. NaN is not a level and stays NaN in the rows.
---@param name string    of the column
---@param values any[]   the column
---@param count integer  number of rows that the column must have
---@param other string   name of the other column with this number of rows
---@return any[] levels
---@return any[] rows
function M.levels(where, name, values, count, other)
  check.expect(type(values) == "table", where, name, values, "a table of names")
  check.length(where, name, #values, count, "as " .. other .. " has")
  local levels, at, rows = {}, {}, {}
  for i = 1, count do
    local value = values[i]
    if value == nil then check.expect(false, where, ("row %d of %s"):format(i, name), value, "a name") end
    if value == value and not at[value] then
      levels[#levels + 1] = value
      at[value] = #levels
    end
    rows[i] = at[value] or value
  end
  return levels, rows
end

-- Ranges that `is_range` accepts, in words.
M.range_text = "two numbers {lowest, highest}, each with an absolute value of at most 1e100"

---Returns true if the list is {lowest, highest}: two different numbers in ascending order, each at most 1e100 in size.
---@param value any[]
---Example: `require("moonrank.stats.input").is_range({0, 1})   --> true`
function M.is_range(value) return check.is_range(value, M.largest) end

---Returns the x values at which a curve is computed: `o.points` evenly spaced points over
---`o.range`, or else from `low` to `high`.
---@param o { points: integer, range?: number[] }
---@param low number
---@param high number
function M.points(where, o, low, high)
  local range = o.range or { low, high }
  check.expect(M.is_range(range), where, "range", range, M.range_text)
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
