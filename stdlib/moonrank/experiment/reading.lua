-- Reads stored values of training runs that mr.experiment.runs found, so that the runs are looked up only once.
local core = require "moonrank.core"

local M = {}

---Returns the name of the parameter that numbers the folds of a study, or nil if the study has none.
---@param params string[]  names of the study's parameters
---Example: `require("moonrank.experiment.reading").fold_name{"loss", "fold"}   --> fold`
function M.fold_name(params)
  for _, name in ipairs{ "split", "fold" } do
    for _, each in ipairs(params) do
      if each == name then return name end
    end
  end
end

---Returns the values of all lists of the runs, one run after the other.
---@param runs table[]  as from mr.experiment.runs
---@param name string   key of the table `per_list` that the runs returned
function M.lists(results, runs, name)
  local all = {}
  for _, run in ipairs(runs) do
    local values = core.numbers(results:per_list(run.number, name))
    table.move(values, 1, #values, #all + 1, all)
  end
  return all
end

---Returns a number that each run returned, in the order of the runs.
---@param runs table[]  as from mr.experiment.runs
---@param name string   such as "valid"
function M.folds(results, runs, name)
  local column, values = results:columns():column("mr.experiment.folds", name), {}
  for i, run in ipairs(runs) do values[i] = column[run.row] end
  return values
end

return M
