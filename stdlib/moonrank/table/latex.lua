-- Implements the options of LaTeX tables: a caption, the order of the rows, and the best results in bold.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local escape = require "moonrank.table.escape"

local M = {}

local latex_options = declare("mr.LatexOptions", {
  { "caption", "string", help = "plain text above the table, which is then in a table environment" },
  { "label", "string", requires = "caption", help = "name for \\ref",
    accept = function(text) return text:find "^[%w:_./+-]+$" ~= nil end,
    expected = "a text of letters, digits and : _ . / + -" },
  { "order", "string|any[]", default = "given",
    help = "order of the rows: given; mean, the best mean first (without a column mean, the study's metric or the "
      .. "first column of results decides); the name of a column of results, its best number first; or a list of "
      .. "values of the first column (of systems, in a comparison)" },
  { "best", "boolean", default = false, help = "print the best number of each column of results in bold" },
})

---Checks the options of to_latex and returns them with their defaults.
---@param options? mr.LatexOptions
---@return table
function M.read(where, options)
  return latex_options:read(where, require("moonrank.check.calls").export_options(where, options))
end

---Returns a tabular in a table environment if the options have a caption, else unchanged.
---@param o table  from `read`
---@param tabular string
---Example: `require("moonrank.table.latex").placed({caption = "Loss"}, ""):match "{Loss}"   --> {Loss}`
function M.placed(o, tabular)
  if not o.caption then return tabular end
  local label = o.label and ("\\label{%s}\n"):format(o.label) or ""
  local form = "\\begin{table}\n\\caption{%s}\n%s\\centering\n%s\\end{table}\n"
  return form:format(escape.latex((o.caption:gsub("%s+", " "))), label, tabular)
end

---Returns another order of `values`: first the values in `first`, in this order, then the others as they were. It is an
---error if `values` lacks a value of `first`, or if `first` has a value twice.
---@param what string  what the values are, for the error: "system"
---@param values any[]
---@param first any[]
---@return integer[]  places of the values in `values`
---Example: `require("moonrank.table.latex").by_list("f", "system", {"a", "b", "c"}, {"c"})   --> {3, 1, 2}`
function M.by_list(where, what, values, first)
  local order, taken, wanted_before = {}, {}, {}
  for _, wanted in ipairs(first) do
    local found = false
    for i, value in ipairs(values) do
      if value == wanted and not taken[i] then order[#order + 1], taken[i], found = i, true, true end
    end
    check.expect(found or not wanted_before[tostring(wanted)], where, "order", first, "each value once")
    wanted_before[tostring(wanted)] = true
    if not found then check.unknown(what .. " in the option order of " .. where, wanted, values) end
  end
  for i in ipairs(values) do order[#order + 1] = not taken[i] and i or nil end
  return order
end

---Returns the places of numbers, the best first. Missing numbers and NaN rank like the worst possible number, an
---infinite one. Equal numbers keep their order.
---@param numbers table<integer, any>
---@param places integer[]  places to sort
---@param better "max"|"min"
---Example: `require("moonrank.table.latex").by_number({2, 3, 1}, {1, 2, 3}, "min")   --> {3, 1, 2}`
function M.by_number(numbers, places, better)
  local rank, order = {}, table.move(places, 1, #places, 1, {})
  for i, place in ipairs(places) do rank[place] = i end
  local function worth(place)
    local value = numbers[place]
    if type(value) ~= "number" or value ~= value then return -math.huge end
    return better == "min" and -value or value
  end
  table.sort(order, function(a, b)
    local x, y = worth(a), worth(b)
    if x ~= y then return x > y end
    return rank[a] < rank[b]
  end)
  return order
end

local function column_of(self, c)
  local column = {}
  for r, row in ipairs(self.rows) do column[r] = row[c] end
  return column
end

local function has_number(column, count)
  for r = 1, count do
    if type(column[r]) == "number" then return true end
  end
  return false
end

-- Returns by name whether the largest ("max") or the smallest ("min") number of a column of results is best.
local function better_of(self)
  local found, registry = {}, require "moonrank.metrics.registry"
  for name, direction in pairs(self.direction) do found[name] = direction == "minimize" and "min" or "max" end
  if next(found) then return found end
  for c, name in ipairs(self.columns) do
    local mark, direction = self.mark[name], registry.usual_direction(name) or registry.usual_direction(name:lower())
    if mark == "max" or mark == "min" then found[name] = mark
    elseif direction and has_number(column_of(self, c), #self.rows) then
      found[name] = direction == "minimize" and "min" or "max"
    end
  end
  return found
end

-- Returns the number of the column by which the option `order` sorts the rows. For order = "mean", this is the column
-- with the name "mean" or, if there is none, the table's main column of results or the first one.
local function sorting_column(self, order, better)
  for _, wanted in ipairs{ order, order == "mean" and rawget(self, "main") or nil } do
    for c, name in ipairs(self.columns) do
      if name == wanted then return c end
    end
  end
  for c, name in ipairs(self.columns) do
    if order == "mean" and better[name] then return c end
  end
  if order == "mean" then
    check.fail("table:to_latex: order is 'mean', but no column is known to have results. Pass the name of a column, "
      .. "or mr.table{direction = {NAME = \"maximize\"}}")
  end
  check.unknown("order of table:to_latex", order, { "given", "mean", table.unpack(self.columns) })
end

-- Returns the row numbers in the order that the options ask for. Groups of rows stay together if a column gives the
-- order.
local function order_of(self, order, better, groups)
  if type(order) == "table" then
    return M.by_list("table:to_latex", "value of the first column", column_of(self, 1), order)
  end
  local c, rows = sorting_column(self, order, better), {}
  for _, group in ipairs(groups) do
    local sorted = M.by_number(column_of(self, c), group, better[self.columns[c]] or "max")
    table.move(sorted, 1, #sorted, #rows + 1, rows)
  end
  return rows
end

---Returns a copy of a table with rows in the order of the options, and marks at the best results if asked for.
---@param self mr.Table
---@param o table  from `read`
---@param groups integer[][]  row numbers of each group of rows
function M.arranged(self, o, groups)
  local better, copy = better_of(self), {}
  for name, value in next, self do copy[name] = value end
  if o.order ~= "given" then
    copy.rows = {}
    for i, r in ipairs(order_of(self, o.order, better, groups)) do copy.rows[i] = self.rows[r] end
  end
  if o.best then
    copy.mark, copy._across = {}, {}
    for name, mark in pairs(self.mark) do copy.mark[name] = mark end
    for name, mark in pairs(better) do copy.mark[name] = copy.mark[name] or mark end
    for _, name in ipairs(self.across) do copy.mark[name], copy._across[name] = nil, better[name] or "max" end
  end
  return setmetatable(copy, getmetatable(self))
end

return M
