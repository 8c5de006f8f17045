-- Implements results:pivot: tables with one number per combination. `where` is the called function, for errors.
local check = require "moonrank.check"
local heads_of = require("moonrank.results.columns").heads
local left_out = require "moonrank.results.left_out"
local make_table = require("moonrank.table").new

local M = {}

local aggregates = {}

function aggregates.mean(values)
  local sum = 0
  for _, value in ipairs(values) do sum = sum + value end
  return sum / #values
end

function aggregates.sd(values)
  if #values < 2 then return nil end  -- nil leaves the cell blank: fewer than two values have no standard deviation
  local mean, sum = aggregates.mean(values), 0
  for _, value in ipairs(values) do sum = sum + (value - mean) ^ 2 end
  return (sum / (#values - 1)) ^ 0.5
end

function aggregates.median(values)
  local sorted = { table.unpack(values) }
  table.sort(sorted)
  local n = #sorted
  return n % 2 == 1 and sorted[n // 2 + 1] or (sorted[n // 2] + sorted[n // 2 + 1]) / 2
end

function aggregates.min(values) return math.min(table.unpack(values)) end
function aggregates.max(values) return math.max(table.unpack(values)) end
function aggregates.count(values) return #values end
M.aggregates = aggregates

function M.has_nan(values)
  for _, value in ipairs(values) do
    if value ~= value then return true end
  end
  return false
end

---Returns the value of an option, which is one name, a list of names or nil, as a list; other values are errors.
---@param option string  name of the option, for errors
---@param value? string|string[]
function M.names_of(where, option, value)
  if value == nil then return {} end
  if type(value) == "string" then return { value } end
  check.expect(type(value) == "table", where, option, value, "a name or a table of names")
  check.sequence(where, option, value, "options are the argument after it")
  return value
end

-- Returns the function of an aggregate (mean, median, ...) by name; a script's function is returned as it is. For names
-- other than "count", the result is NaN if a value is NaN, because sorting and comparing would otherwise drop the NaN.
local function aggregate_of(aggregate)
  if type(aggregate) == "function" then return aggregate end
  local made = aggregates[aggregate]
  if aggregate == "count" then return made end
  return function(values) return M.has_nan(values) and 0 / 0 or made(values) end
end

---Returns the numbers of a column in the given rows that have a value. Other values than numbers are errors.
---@param column table<integer, any>
---@param rows integer[]
function M.values_at(where, name, column, rows)
  local values = {}
  for _, row in ipairs(rows) do
    local value = column[row]
    if value ~= nil then check.expect(type(value) == "number", where, ("a value of column '%s'"):format(name), value,
      "numbers only") end
    values[#values + 1] = value
  end
  return values
end

-- Returns the heads of the columns for groups of trials: the values of the parameters that a group shares. Floats have
-- six significant digits, or all digits if two heads would be equal.
local function labels(groups)
  for _, format in ipairs{ "%.6g", "%.17g" } do
    local heads, seen, equal = {}, {}, false
    for i, group in ipairs(groups) do
      local parts = {}
      for k, value in ipairs(group.key) do
        parts[k] = math.type(value) == "float" and format:format(value) or tostring(value)
      end
      heads[i] = table.concat(parts, ", ")
      equal, seen[heads[i]] = equal or seen[heads[i]], true
    end
    if not equal or format == "%.17g" then return heads end
  end
end

---Returns the pivot table of a study's trials: one number per combination of the parameters in
---`rows` and `columns`.
---@param o mr.PivotOptions
function M.make(data, o)
  local where = "results:pivot"
  local by_row, by_column = M.names_of(where, "rows", o.rows), M.names_of(where, "columns", o.columns)
  local aggregate, column = aggregate_of(o.aggregate), data:shown(where, o.value)
  local rows = data:rows(where, o.where)
  local across, at = data:groups(where, by_column, rows), {}
  local heads = #by_column > 0 and labels(across) or { across[1] and o.value }
  for i, group in ipairs(across) do
    for _, row in ipairs(group.rows) do at[row] = i end
  end
  local columns, formats, body, counts = heads_of(by_row, heads), {}, {}, {}
  for _, head in ipairs(heads) do
    columns[#columns + 1] = head
    if o.format then formats[head] = o.format end
  end
  for r, group in ipairs(data:groups(where, by_row, rows)) do
    local cells, line = {}, { table.unpack(group.key) }
    for _, row in ipairs(group.rows) do
      if at[row] then
        cells[at[row]] = cells[at[row]] or {}
        table.insert(cells[at[row]], row)
      end
    end
    for c, cell in pairs(cells) do
      local values = M.values_at(where, o.value, column, cell)
      if #values > 0 then line[#by_row + c], counts[#counts + 1] = aggregate(values), #values end
    end
    body[r] = line
  end
  return make_table{ columns = columns, rows = body, formats = formats, notes = { left_out.spread("cells", counts) } }
end

return M
