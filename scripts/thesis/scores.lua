-- Reads test scores of lists and folds from stored training runs (runs.lua), and compares bounds by these scores.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---The training runs (trials) whose parameters have the values in `where`, ordered by fold. Each has the fold, the
---number of the run, and its row in the columns of the results.
---@param results mr.Results
---@param where table<string, any>  e.g. {nsr = 1, loss = "ap", bound = "none"}
---@return { fold: integer, number: integer, row: integer }[]
function M.trials(results, where)
  local columns = results:columns()
  local rows, number = columns:rows("runs", where), columns:column("runs", "number")
  local fold, found = columns:column("runs", "split"), {}
  for _, row in ipairs(rows) do found[#found + 1] = { fold = fold[row], number = number[row], row = row } end
  table.sort(found, function(a, b) return a.fold < b.fold end)
  return found
end

---The stored values of all test lists of all folds, one fold after the other. `metric` is the name of the value: a
---metric, "own" (the metric that the loss optimises), "rows" or "relevant" (their numbers), or "list" (the number that
---identifies the list). A value is NaN if the metric is not defined for the list.
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

---A number that the training run of each fold stored, in the order of folds. `name` is the number's name, e.g. "valid"
---or "epoch"; `where` selects the runs by their parameters, e.g. {nsr = 1, loss = "ap", bound = "none"}.
---@return number[]
function M.folds(results, where, name)
  local column, values = results:columns():column("runs", name), {}
  for i, trial in ipairs(M.trials(results, where)) do values[i] = column[trial.row] end
  return values
end

---The mean value of each user or query, which may have values in several folds or under several seeds. Means are in
---rising order of the numbers that identify users or queries.
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

---The mean test score of each user or query over all folds and seeds in which it was tested, in rising order of the
---numbers that identify users or queries. `where` selects the training runs by their parameters; `metric` is as in
---`M.lists`.
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

---A copy of `where`, a filter of training runs by their parameters, that also selects the bound `bound`.
---@param where table<string, any>
---@return table<string, any>
function M.with(where, bound)
  local at = { bound = bound }
  for key, value in pairs(where) do at[key] = value end
  return at
end

---Compares the test scores under one bound with those under another by protocol.compare, paired by user or query. The
---result has the mean under each bound, change, p-value, effect size `d`, number of pairs `n` and share of `wins` of
---the first bound.
---@param all mr.Results[]  one for each seed
---@param where table<string, any>  filter of training runs by parameters other than the bound
---@param bound string
---@param other string
---@param metric? string  as in `M.lists` (default: the metric that the loss optimises)
---@return { mean: number, other_mean: number, change: number, p: number, d: number, n: integer, wins: number }
function M.compare(all, where, bound, other, metric)
  local function values(name) return M.by_list(all, M.with(where, name), metric or "own") end
  local a, b = values(bound), values(other)
  local found = protocol.compare(a, b)
  found.mean, found.other_mean = mr.stats.mean(a), mr.stats.mean(b)
  return found
end

return M
