-- Declares the options of series of figures, checks their data, and converts tensors to tables of numbers.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

-- Colours of series, chosen by Okabe and Ito so that colour-blind readers can distinguish them. Yellow is last, because
-- it is faint on white.
M.colors = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442" }
M.styles = { solid = "1", dashed = "(10,5)", dotted = "(2,4)" }
local style_order = { "solid", "dashed", "dotted" }

---Declares the option `series` of a figure whose series have the option table `class`.
function M.row(class)
  return { "series", class .. "[]", each = { "table" }, some = "series",
    help = "several series; the options of a single one may be given without this list" }
end

-- Options that every kind of series has: its name and its colour.
M.look = declare("mr.plot.Look", {
  "Series",
  { "name", "string|number", help = "name in the legend" },
  { "color", "integer", least = 1, shown = "the place in the list", help = "series with one number have one colour" },
})

M.style = declare("mr.plot.Style", {
  "Series",
  { "style", "string", choices = style_order, shown = "solid for eight colours, then others", help = "dashes" },
})

M.points_options = declare("mr.plot.Series", {
  "Series",
  { "y", "number[]|mr.Tensor", help = "heights of the points; NaN and infinite entries are gaps" },
  { "x", "number[]|mr.Tensor", shown = "1, 2, ...", help = "places of the points" },
}, M.look)

local band = declare("mr.plot.Band", {
  "Series",
  { "low", "number[]|mr.Tensor", requires = "high", help = "lower edge of a shaded band" },
  { "high", "number[]|mr.Tensor", requires = "low", help = "upper edge of a shaded band" },
})

M.line_options = declare("mr.plot.Line", {}, M.points_options, band, M.style)

---Returns true if the value is a tensor with `dims` dimensions, and false if it is a table, number,
---text or other value of Lua. A tensor with another number of dimensions is an error, and so are
---other userdata, such as lists or files.
---@param name string   what the value is, for errors
function M.is_tensor(where, name, value, dims)
  if type(value) ~= "userdata" then return false end
  local class = not io.type(value) and tostring(value):match("^mr%.%w+") or io.type(value) and "file"
  check.expect(not class and value.dims == dims, where, name, value,
    "a table of numbers, or a tensor whose number of dimensions is %d", dims)
  return true
end

---Returns the numbers in a table or a one-dimensional tensor as a table. A table is returned
---unchanged. Any other value, and an element that is not a number, is an error.
---@param name string   what the numbers are, for errors
---@param values number[]|mr.Tensor
function M.numbers(where, name, values)
  if M.is_tensor(where, name, values, 1) then return core.numbers(values) end
  return check.numbers(where, name, values)
end

-- Raises an error if the array `name` of a series has another length than the array `y` of the series.
local function same_length(where, who, name, one)
  check.length(where, name .. " of " .. who, #one[name], #one.y, "one for each y")
end

-- Returns colour and line style of series i: eight colours with solid lines, then dashed, then dotted ones.
local function looks(one, i)
  local color = one.color or i
  return M.colors[(color - 1) % #M.colors + 1], one.style or style_order[(color - 1) // #M.colors % #style_order + 1]
end

---Returns the series of a figure: those in its option `series`, or one made from other options, which are removed from
---`o`. Both together, and neither, are errors.
---@param o table       options of the figure
---@param declaration mr.options.Declaration  of the options of one series
function M.list(where, o, declaration)
  local flat
  for _, row in ipairs(declaration.rows) do
    local field = row[1]
    if o[field] ~= nil then
      flat = flat or {}
      flat[field], o[field] = o[field], nil
    end
  end
  if flat and o.series ~= nil then
    require("moonrank.options.words").excluded(where, "series", next(flat), true)
  end
  local list = flat and { flat } or o.series
  local main = declaration.by_name.y and "y" or "values"
  check.expect(list, where, "series", list, "{{%s = ...}, ...}, or %s instead of series", main, main)
  return list
end

---Checks the options of one series. Returns the series with its colour and line style, and a name for error messages.
---@param given table     options of the series
---@param i integer       number of the series in the figure, which decides its colour without the option `color`
function M.one(where, given, i, declaration)
  local one = declaration:read(("%s (series %d)"):format(where, i), given)
  local who = one.name ~= nil and ("series '%s'"):format(tostring(one.name)) or "series " .. i
  if one.name ~= nil then one.name = tostring(one.name) end
  one.rgb, one.style = looks(one, i)
  return one, who
end

---Checks the options of a series of points. Returns the series with tables of numbers: y, x
---(default 1, 2, ...), and the lower and upper edges of its band, if given.
---@param given table     options of the series
---@param i integer       number of the series in the figure, which decides its colour without the option `color`
function M.points(where, given, i, declaration)
  local one, who = M.one(where, given, i, declaration)
  one.y = check.not_empty(where, "y of " .. who, M.numbers(where, "y of " .. who, one.y), "number")
  if one.x == nil then
    one.x = {}
    for k = 1, #one.y do one.x[k] = k end
  else
    one.x = M.numbers(where, "x of " .. who, one.x)
    same_length(where, who, "x", one)
  end
  for _, edge in ipairs{ "low", "high" } do
    if one[edge] ~= nil then
      one[edge] = M.numbers(where, edge .. " of " .. who, one[edge])
      same_length(where, who, edge, one)
    end
  end
  return one
end

return M
