-- Says which columns of a study's tables are results, and which numbers are better, for the options of to_latex.
local registry = require "moonrank.metrics.registry"

local M = {}

---Returns "maximize" or "minimize" for a number that trials of a study return; nil if it is not known which.
---@param name string  of the number; "value" is the study's
function M.direction(results, name)
  local study = results.study
  local own = name == "value" or name == (study.metric or "value")
  return registry.direction(own and study.metric or name) or own and study.direction or registry.usual_direction(name)
end

---Returns the line below a table of best trials that says by which number they were chosen; nil if it is the study's
---metric.
---@param value string     the number that chose; "value" is the study's metric
---@param over? string[]   parameters over whose values means were taken
---@return string?
function M.chosen_by(results, value, over)
  local own = results:columns():metric()
  if value == "value" or own and registry.our_name(value) == registry.our_name(own) then return nil end
  return ("rows are chosen by %s%s%s"):format(over and "mean " .. value or value,
    over and " over " .. table.concat(over, ", ") or "", own and ", not by the study's metric " .. own or "")
end

---Notes which columns of a table are results: those with the name of a returned number, and all columns from number
---`from` on, which have values of the number `value`. Also notes the column of the study's metric, by which the option
---order = "mean" of to_latex sorts. Returns the table.
---@param from? integer
---@param value? string
---@return mr.Table
function M.note(results, data, made, from, value)
  local own = not from and data:metric()
  own = own and registry.our_name(own)
  for c, name in ipairs(made.columns) do
    if own and data:is_number(name) and registry.our_name(name) == own then made.main = name end
    if from and c >= from then made.direction[name] = M.direction(results, value)
    elseif name == "value" or data:is_number(name) then made.direction[name] = M.direction(results, name) end
  end
  return made
end

return M
