-- Reads test scores of lists and folds from stored training runs (runs.lua), and compares bounds by these scores.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---The trials with the parameters in `where`, ordered by fold. Each has the fold, the number of the trial, and its row
---in the results.
---@return { fold: integer, number: integer, row: integer }[]
function M.trials(results, where)
  local columns = results:columns()
  local rows, number = columns:rows("runs", where), columns:column("runs", "number")
  local fold, found = columns:column("runs", "split"), {}
  for _, row in ipairs(rows) do found[#found + 1] = { fold = fold[row], number = number[row], row = row } end
  table.sort(found, function(a, b) return a.fold < b.fold end)
  return found
end

---The stored values of all test lists of all folds under one name: a metric, "own" (the loss's own metric), "rows" or
---"relevant" (their numbers), or "list" (the list's name). A value is NaN if the metric is not defined for the list.
---@param where table<string, any>  e.g. {nsr = 1, loss = "ap", bound = "none"}
---@return number[]
function M.lists(results, where, metric)
  local all = {}
  for _, trial in ipairs(M.trials(results, where)) do
    local values = core.numbers(results:per_list(trial.number, metric))
    table.move(values, 1, #values, #all + 1, all)
  end
  return all
end

---A number that the trial of each fold stored, e.g. "valid", in the order of folds.
---@return number[]
function M.folds(results, where, name)
  local column, values = results:columns():column("runs", name), {}
  for i, trial in ipairs(M.trials(results, where)) do values[i] = column[trial.row] end
  return values
end

---The mean of all values that have the same name, for each name in rising order.
---@param names number[]  number that names the user or query of each value
---@param values number[]
---@return number[]
function M.means_by(names, values)
  local sum, count, ids = {}, {}, {}
  for i, id in ipairs(names) do
    if not sum[id] then
      sum[id], count[id], ids[#ids + 1] = 0.0, 0, id
    end
    sum[id], count[id] = sum[id] + values[i], count[id] + 1
  end
  table.sort(ids)
  local means = {}
  for i, id in ipairs(ids) do means[i] = sum[id] / count[id] end
  return means
end

---The mean score of each user or query over all folds and seeds in which it was tested, in the order of their numbers.
---@param all mr.Results[]  one for each seed
---@return number[]
function M.by_list(all, where, metric)
  local names, values = {}, {}
  for _, results in ipairs(all) do
    local own = M.lists(results, where, metric)
    table.move(M.lists(results, where, "list"), 1, #own, #names + 1, names)
    table.move(own, 1, #own, #values + 1, values)
  end
  return M.means_by(names, values)
end

---A copy of the filter `where` that also selects the bound `bound`.
---@param where table<string, any>
---@return table<string, any>
function M.with(where, bound)
  local at = { bound = bound }
  for key, value in pairs(where) do at[key] = value end
  return at
end

---Compares one bound with another by protocol.compare, paired by user or query. The result also has the mean of each
---bound.
---@return { mean: number, other_mean: number, change: number, p: number, d: number, n: integer, wins: number }
function M.compare(all, where, bound, other, metric)
  local function values(name) return M.by_list(all, M.with(where, name), metric or "own") end
  local a, b = values(bound), values(other)
  local found = protocol.compare(a, b)
  found.mean, found.other_mean = mr.stats.mean(a), mr.stats.mean(b)
  return found
end

return M
