-- Says which columns of a study's tables are results, and whether larger or smaller numbers are better, for the options
-- `order` and `best` of to_latex.
local registry = require "moonrank.metrics.registry"

local M = {}

---Returns which values of a number are better; nil if that is not known.
---@param results mr.Results
---@param name string  of the number; "value" is the study's
---@return "max"|"min"|nil
function M.of(results, name)
  local study = results.study
  local own = name == "value" or name == study.metric
  local direction = registry.direction(own and study.metric or name) or own and study.direction
    or registry.usual_direction(name)
  return direction and (direction == "minimize" and "min" or "max") or nil
end

---Notes which columns of a table are results: those with the name of a returned number, and all
---columns from number `from` on, which have values of the number `value`. Returns the table.
---@param results mr.Results
---@param data mr.results.Columns
---@param made mr.Table
---@param from? integer
---@param value? string
---@return mr.Table
function M.note(results, data, made, from, value)
  local is_number = { value = true }
  for _, name in ipairs(data:numbers()) do is_number[name] = true end
  for c, name in ipairs(made.columns) do
    if from and c >= from then made.better[name] = M.of(results, value)
    elseif is_number[name] then made.better[name] = M.of(results, name) end
  end
  return made
end

return M
