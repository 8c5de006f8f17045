-- Writes the values of an evaluation as comma-separated values (CSV), with a line for each list.
local core = require "moonrank.core"
local digits = require "moonrank.system.digits"
local tables = require "moonrank.table"

local M = {}

---@class mr.evaluate.Shapes
---@field sizes mr.Tensor     number of rows of each list
---@field relevant mr.Tensor  number of rows of each list with grade 1 or higher

---Returns the shapes of lists for evaluations that do not keep the lists themselves. The tensors stay on the device of
---the lists, so that an evaluation does not wait for the GPU.
---Example: `require("moonrank.evaluate.per_list").shapes_of(mr.lists{{0, 1, 1}}).relevant:item()   --> 2`
function M.shapes_of(lists) return { sizes = lists.sizes, relevant = lists.relevant } end

---Returns the shapes of the lists of several parts, one part after another.
---@param parts mr.evaluate.Shapes[]
function M.joined(parts)
  local joined = {}
  for _, field in ipairs{ "sizes", "relevant" } do
    local columns = {}
    for i, part in ipairs(parts) do columns[i] = part[field] end
    joined[field] = core.cat(columns, 1)
  end
  return joined
end

---Returns an evaluation as comma-separated values: a header, and a line for each list with its name or number, N (its
---rows), P (its rows with grade 1 or higher), and each metric.
---@param evaluations table  the module moonrank.evaluate
function M.csv(evaluation, evaluations)
  local names, lists = evaluations.units(evaluation), rawget(evaluation, "_lists")
  local shapes = lists and M.shapes_of(lists) or rawget(evaluation, "_shapes")
  local sizes = shapes and core.integers(shapes.sizes:to("cpu")) or {}
  local relevant = shapes and core.integers(shapes.relevant:to("cpu")) or {}
  local columns, rows, values = { "list", "N", "P" }, {}, {}
  for i, name in ipairs(evaluation.names) do
    columns[i + 3], values[i] = name, core.numbers(evaluations.exact(evaluation, name):to("cpu"))
  end
  for list = 1, evaluation.count do
    local row = { names and names[list] or list, sizes[list], relevant[list] }
    for i, column in ipairs(values) do row[i + 3] = digits.shortest(column[list]) end
    rows[list] = row
  end
  return tables.new{ columns = columns, rows = rows }:to_csv()
end

return M
