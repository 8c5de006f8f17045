-- Records bounds, losses, metrics and models that scripts define by name. The results of a study depend on these
-- definitions, so it compares them.
local scope = require "moonrank.system.scope"

local M = {}

---All definitions, by kind and name.
---@type table<string, any>
M.all = {}

local in_trial, undone = false, nil  -- undone: functions that undo the definitions of a script that `apart` runs

---Records a definition. It replaces an earlier definition of the same kind and name.
---@param kind string
---@param name string
---@param what any  functions, alone or in a table
---@param undo? fun()  restores the earlier meaning of the name
function M.note(kind, name, what, undo)
  if undone then undone[#undone + 1] = undo end
  if not in_trial then M.all[kind .. " " .. name] = what end
end

---Runs a function and undoes its definitions afterwards, so that they affect neither names nor studies. Names of new
---metrics stay registered in the core.
---@param run function
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

---Runs a trial. Its definitions are not recorded, because they are part of the trial's own code.
---@param run function
---@return any  results of `run`
function M.within_trial(run, ...)
  local before = in_trial
  local _ <close> = scope.open("a trial", function() in_trial = true end, function() in_trial = before end)
  return run(...)
end

return M
