-- Reads results of lists (users or queries) and of folds from the stored training runs of an experiment, in the order
-- of folds.
local check = require "moonrank.check"
local given = require "moonrank.experiment.given"
local reading = require "moonrank.experiment.reading"

local M = {}

---Returns the finished training runs whose parameters have the values in `where`, ordered by the
---parameter `split` or `fold`, the number of the fold. Each has the fold, the number of the run, and
---its row in `results:columns()`.
---@param results mr.Results
---@param where? table<string, any>  such as {loss = "ap", bound = "none"}; default: all runs
---@return { fold?: integer, number: integer, row: integer }[]
function M.runs(results, where)
  given.results("runs", results)
  if where ~= nil then given.need("runs", "where", where, "table", "values of parameters: {loss = 'ap'}") end
  local columns, found = results:columns(), {}
  local number, of_fold = columns:column("mr.experiment", "number"), reading.fold_name(columns.params)
  local fold = of_fold and columns:column("mr.experiment", of_fold) or {}
  for _, row in ipairs(columns:rows("mr.experiment", where)) do
    found[#found + 1] = { fold = fold[row], number = number[row], row = row }
  end
  table.sort(found, function(a, b) return (a.fold or 0) < (b.fold or 0) end)
  return found
end

---Returns the values that training runs stored for each of their lists (users or queries), one fold
---after the other. `name` is a key of the table `per_list` that the runs returned, such as the name of
---a metric. A value is NaN if the metric is not defined for the list.
---@param results mr.Results
---@param where table<string, any>  parameters of the runs, such as {loss = "ap", bound = "none"}
---@param name string
---@return number[]
function M.lists(results, where, name) return reading.lists(results, M.runs(results, where), name) end

---Returns a number that each training run returned, such as "valid", in the order of folds.
---@param results mr.Results
---@param where table<string, any>  parameters of the runs, such as {loss = "ap", bound = "none"}
---@param name string
---@return number[]
function M.folds(results, where, name) return reading.folds(results, M.runs(results, where), name) end

---Returns the mean of the values of each list, which may have values in several folds or under several
---seeds. The means are in rising order of the numbers that identify the lists.
---@param ids number[]  number of the list (user or query) of each value
---@param values number[]
---@return number[]
---Example: `mr.experiment.means_by({7, 3, 7}, {1.0, 0.5, 0.0})   --> {0.5, 0.5}`
function M.means_by(ids, values)
  given.array("means_by", "ids", ids, "number", "numbers")
  given.array("means_by", "values", values, "number", "numbers, one for each of ids")
  if #ids ~= #values then
    check.fail("mr.experiment.means_by: ids has %d numbers and values has %d, expected equally many", #ids, #values)
  end
  local sum, count, order = {}, {}, {}
  for i, id in ipairs(ids) do
    if not sum[id] then
      sum[id], count[id], order[#order + 1] = 0.0, 0, id
    end
    sum[id], count[id] = sum[id] + values[i], count[id] + 1
  end
  table.sort(order)
  local means = {}
  for i, id in ipairs(order) do means[i] = sum[id] / count[id] end
  return means
end

---Returns the mean value of each list (user or query) over all folds and seeds in which it was tested,
---in rising order of the numbers that identify lists. Runs store these numbers as `per_list.list`. Two
---settings that were tested on equal lists can then be compared list by list.
---@param all mr.Results[]  one study for each seed
---@param where table<string, any>  parameters of the runs, such as {loss = "ap", bound = "none"}
---@param name string  key of the table `per_list` that the runs returned
---@return number[]
function M.by_list(all, where, name)
  given.array("by_list", "all", all, "table", "studies")
  local ids, values = {}, {}
  for _, results in ipairs(all) do
    local own = M.lists(results, where, name)
    table.move(M.lists(results, where, "list"), 1, #own, #ids + 1, ids)
    table.move(own, 1, #own, #values + 1, values)
  end
  return M.means_by(ids, values)
end

return M
