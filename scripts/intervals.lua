-- The intervals of 95 % and the numbers of training runs that a results file has beside the values of a table's cells.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = {}

-- The ends of an interval; nil of too few values.
local function ends(low, high)
  if low == low and high == high then return { low, high } end
end

---The bootstrap interval of a mean over users or queries, which takes the trained models as given.
---@param x number[]|{ [1]: number[], [2]: number[] }  values, or pairs whose mean difference it is of
---@return number[]?
function M.over_lists(x)
  local found = mr.stats.bootstrap(x)
  return ends(found.low, found.high)
end

---Mean and standard deviation of numbers, and half the length of the mean's interval by Student's t, which is NaN for
---fewer than two numbers.
---@param values number[]
function M.distribution(values)
  local found = mr.stats.summary(values)
  found.half = found.n > 1 and core.student_quantile(0.975, found.n - 1) * found.sd / math.sqrt(found.n) or 0 / 0
  return found
end

---Student's interval of a mean over folds or seeds.
---@param values number[]
---@return number[]?
function M.over_runs(values)
  local found = M.distribution(values)
  return ends(found.mean - found.half, found.mean + found.half)
end

---@class scripts.Cells
---@field runs? integer|"all"|fun(row: any[], column: string): integer?  training runs behind a cell; "all": every run of the section
---@field by? string|fun(row: any[], column: string): string  what a cell's interval is by: "bootstrap over users"
---@field intervals table<string, table<integer, number[]>>  by column and number of the row
local Cells = {}
Cells.__index = Cells

---The cells of one table.
---@param by? string|fun(row: any[], column: string): string
---@param runs? integer|"all"|fun(row: any[], column: string): integer?
---@return scripts.Cells
function M.cells(by, runs) return setmetatable({ by = by, runs = runs, intervals = {} }, Cells) end

---Notes the interval of a cell.
---@param row integer
---@param column string
---@param of? number[]  nil: it has none
function Cells:note(row, column, of)
  self.intervals[column] = self.intervals[column] or {}
  self.intervals[column][row] = of
end

return M
