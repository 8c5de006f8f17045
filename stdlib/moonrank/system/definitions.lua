-- Records the bounds, losses, metrics and models that scripts define by name. The results of a study depend on
-- these definitions, so a study that continues compares them.
local scope = require "moonrank.system.scope"

local M = {}

---Definitions that scripts made, by kind and name: M.all["bound sqrt_range"].
---@type table<string, any>
M.all = {}

-- `undone` has the functions that undo definitions made while `apart` runs a script; nil outside `apart`.
local in_trial, undone = false, nil

---Records that a script defined a bound, loss, metric or model, in place of an earlier one of this name. Definitions
---made within a trial are not recorded.
---@param kind string  "bound", "loss", "metric" or "model"
---@param what any  the definition: a function, a table with functions, or a bound
---@param undo? fun()  restores the earlier meaning of the name
function M.note(kind, name, what, undo)
  if undone then undone[#undone + 1] = undo end
  if not in_trial then M.all[kind .. " " .. name] = what end
end

---Calls run(...) and returns its results. Afterwards undoes the definitions that `run` made, so that they affect
---neither names nor studies. Names of new metrics remain registered in the core.
---@return any  results of `run`
function M.apart(run, ...)
  local all, before, own, none = M.all, undone, {}, {}
  for name, what in pairs(all) do own[name] = what end
  local _ <close> = scope.open("a script of its own", function() M.all, undone = own, none end, function()
    for i = #undone, 1, -1 do undone[i]() end
    M.all, undone = all, before
  end)
  return run(...)
end

---Returns run(...), called as a trial: definitions made in it belong to the trial's own code and are not recorded.
---@return any  results of `run`
function M.within_trial(run, ...)
  local before = in_trial
  local _ <close> = scope.open("a trial", function() in_trial = true end, function() in_trial = before end)
  return run(...)
end

return M
