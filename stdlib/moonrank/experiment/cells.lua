-- Computes 95 % confidence intervals for the cells of result tables: over lists (users or queries) by bootstrap, over
-- training runs by Student's t. Also keeps the number of training runs behind each cell.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local given = require "moonrank.experiment.given"
local stats = require "moonrank.stats"

local M = {}

-- Returns the ends of an interval as {low, high}, or nil if they are NaN because there were too few values.
local function ends(low, high)
  if low == low and high == high then return { low, high } end
end

local check_values = arguments{ "x", "table|mr.Tensor",
  accept = function(x) return type(x) == "table" or check.is_tensor(x) end,
  expected = "an array of numbers or a tensor, or a pair {a, b} of them" }

---Returns the bootstrap interval (95 %) of a mean over lists (users or queries), as {low, high}. It
---does not include the variation between trainings: the trained models are taken as given. Returns
---nil for too few values.
---@param x number[]|{ [1]: number[], [2]: number[] }  values, or two arrays of values for their mean difference
---@return number[]?
---Example: `#mr.experiment.over_lists{0.1, 0.4, 0.5}   --> 2`
function M.over_lists(x)
  check_values("mr.experiment.over_lists", x)
  local found = stats.bootstrap(x)
  return ends(found.low, found.high)
end

---Returns a table with the mean and standard deviation of numbers (`mean`, `sd`), and `half`: half
---the length of the mean's confidence interval of 95 % by Student's t. NaN is left out. `half` is
---NaN for fewer than two numbers.
---@param values number[]
---@return { mean: number, sd: number, half: number, n: integer }  n: how many numbers are not NaN
---Example: `("%.2f"):format(mr.experiment.distribution{1, 2, 3}.half)   --> 2.48`
function M.distribution(values)
  given.array("distribution", "values", values, "number", "numbers")
  local found = stats.summary(values)
  found.half = found.n > 1 and core.student_quantile(0.975, found.n - 1) * found.sd / math.sqrt(found.n) or 0 / 0
  return found
end

---Returns the confidence interval (95 %, by Student's t) of a mean over folds or seeds, as {low,
---high}. Returns nil for fewer than two values.
---@param values number[]  one value per fold or seed
---@return number[]?
---Example: `mr.experiment.over_runs{1} == nil   --> true`
function M.over_runs(values)
  given.array("over_runs", "values", values, "number", "numbers")
  local found = M.distribution(values)
  return ends(found.mean - found.half, found.mean + found.half)
end

---Confidence intervals of the cells of one table, and the numbers of training runs behind the cells.
---@class mr.experiment.Cells
---@field runs? integer|"all"|function  training runs behind a cell; "all": all of the script; or of (row, column)
---@field numerics? string|function  numerics version of a cell, if runs have several; or of (row, column)
---@field by? string|function  how intervals were computed: "bootstrap over users"; or of (row, column)
---@field intervals table<string, table<integer, number[]>>  {low, high} by column and number of the row
local Cells = {}
Cells.__index = Cells

---Makes an object that collects the confidence intervals and the numbers of training runs for the cells
---of one table. `by` says how intervals were computed, such as "bootstrap over users". `runs` is the
---number of training runs behind a cell, or "all" for all runs of the script. Both can be functions of
---a row and a column's name.
---@param by? string|fun(row: any[], column: string): string
---@param runs? integer|"all"|fun(row: any[], column: string): integer?
---@return mr.experiment.Cells
---Example:
---```lua
---local cells = mr.experiment.cells("bootstrap over users", 5)
---cells:note(1, "mean", {0.4, 0.6})
---cells.intervals.mean[1]   --> {0.4, 0.6}
---```
function M.cells(by, runs) return setmetatable({ by = by, runs = runs, intervals = {} }, Cells) end

---Stores the confidence interval of a cell.
---@param row integer    number of the table's row, from 1
---@param column string  name of the table's column
---@param of? number[]  {low, high}; nil if the cell has no interval
function Cells:note(row, column, of)
  given.need("Cells:note", "row", row, "number", "the number of a row")
  given.need("Cells:note", "column", column, "string", "the name of a column")
  self.intervals[column] = self.intervals[column] or {}
  self.intervals[column][row] = of
end

return M
