-- Makes result tables of experiments from records. A column says which field of a record it shows, and how.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local experiment_cells = require "moonrank.experiment.cells"
local given = require "moonrank.experiment.given"
local stats = require "moonrank.stats"
local tables = require "moonrank.table"

local M = {}

---Returns the mean of values with its 95 % interval, as {mean, low, high}, for a cell of
---`mr.experiment.table`. The interval is a bootstrap over lists (users or queries), or Student's t over
---runs (folds or seeds). `low` and `high` are nil without values, and over runs also for one value.
---@param values number[]
---@param over? "lists"|"runs"  what has one value each (default "lists")
---@return number[]
---Example: `("%.1f %.3f"):format(table.unpack(mr.experiment.mean({1, 2, 3}, "runs")))   --> 2.0 -0.484`
function M.mean(values, over)
  given.array("mean", "values", values, "number", "numbers")
  check.choice("mr.experiment.mean", "over", over or "lists", { "lists", "runs" })
  local ends = (over == "runs" and experiment_cells.over_runs or experiment_cells.over_lists)(values) or {}
  return { stats.mean(values), ends[1], ends[2] }
end

local function is_column(each) return each == false or type(each) == "table" and type(each[1]) == "string" end

local table_options = declare("mr.experiment.TableOptions", {
  { "columns", "table[]", required = true,
    each = { "table|false", accept = is_column, expected = "a head and a field: {'nDCG@10', 'ndcg'}, or false" },
    help = 'columns: {"nDCG@10", "ndcg", format = "%.4f", mark = "max"}; false for a column that is left out' },
  { "records", "table[]", required = true, help = "rows as tables of values by field" },
  { "caption", "string", default = "", shown = "none", help = "text above the table, if a script has several" },
  { "legend", "string", shown = "none", help = "meaning of the columns" },
  { "within", "string[]", default = {}, shown = "none",
    help = "columns that divide the rows into groups, each with its own largest and smallest number" },
  { "by", "string|fun(record: table, column: string): string", shown = "none",
    help = 'how intervals were computed: "bootstrap over users"' },
  { "runs", "integer|fun(record: table, column: string): integer?", shown = "unknown",
    help = "training runs behind a cell" },
})

-- Returns a record's value in a column; for {mean, low, high}, the mean and the interval {low, high}.
local function value_of(record, column)
  local field = column[2] or column[1]
  local value = type(field) == "function" and field(record) or record[field]
  if type(value) ~= "table" then return value end
  return value[1], value[2] and { value[2], value[3] }
end

-- Returns the columns of a table without those that are `false`. A column without a head (a text) is an error.
local function shown(columns)
  local found = {}
  for _, each in ipairs(columns) do
    found[#found + 1] = each or nil
  end
  return found
end

---Makes a result table from records. A column has a head, the field that it shows (the head, if none is)
---or a function of the record, and `format` and `mark` as in `mr.table`. A value can be
---`{mean, low, high}`, as from `mr.experiment.mean`: results files then have its interval. A value
---that is missing is blank.
---@param o mr.experiment.TableOptions
---@return mr.experiment.Named
---Example:
---```lua
---local mean = mr.experiment.mean
---local found = {{loss = "ap", ndcg = mean{0.4, 0.6}}, {loss = "rr", ndcg = mean{0.3, 0.5}}}
---local named = mr.experiment.table{records = found, runs = 5,
---  columns = {{"loss"}, {"nDCG@10", "ndcg", format = "%.2f", mark = "max"}}}
---named.table.rows[1][2], #named.cells.intervals["nDCG@10"]   --> 0.5, 2
---```
function M.table(o)
  o = table_options:read("mr.experiment.table", o)
  local columns, record_of = shown(o.columns), {}
  local heads, rows, formats, mark = {}, {}, {}, {}
  -- Returns a value of the options; a function of a record as the function of a row that cells take.
  local function of_row(value)
    return type(value) == "function" and function(row, column) return value(record_of[row], column) end or value
  end
  local cells = experiment_cells.cells(of_row(o.by), of_row(o.runs))
  for c, each in ipairs(columns) do heads[c], formats[each[1]], mark[each[1]] = each[1], each.format, each.mark end
  for r, record in ipairs(o.records) do
    rows[r] = {}
    record_of[rows[r]] = record
    for c, each in ipairs(columns) do
      local value, ends = value_of(record, each)
      rows[r][c] = value or nil
      cells:note(r, heads[c], ends)
    end
  end
  for _, name in ipairs(o.within) do check.choice("mr.experiment.table", "a column in within", name, heads) end
  return { caption = o.caption, cells = cells, legend = o.legend,
    table = tables.new{ columns = heads, rows = rows, formats = formats, mark = mark, within = o.within } }
end

return M
