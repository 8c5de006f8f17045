-- Bounds, losses, metrics and models that scripts defined by name. Scripts refer to them by name,
-- so a study also depends on their definitions.
local scope = require "moonrank.scope"

local M = {}

---All definitions, by kind and name.
---@type table<string, any>
M.all = {}

local in_trial, undone = false, nil  -- what undoes definitions, where a script is run apart

---Notes a definition; another of the same kind and name takes its place.
---@param kind string
---@param name string
---@param what any  functions, alone or in a table
---@param undo? fun()  puts back what the name stood for before
function M.note(kind, name, what, undo)
  if undone then undone[#undone + 1] = undo end
  if not in_trial then M.all[kind .. " " .. name] = what end
end

---Runs a function whose definitions are its own: afterwards names stand for what they did before, and studies are made of what was defined before.
---Names of metrics that were not defined before stay, as numbers of the core.
---@param run function
---@return any  what it returns
function M.apart(run, ...)
  local all, before, own, none = M.all, undone, {}, {}
  for name, what in pairs(all) do own[name] = what end
  local _ <close> = scope.open("a script of its own", function() M.all, undone = own, none end, function()
    for i = #undone, 1, -1 do undone[i]() end
    M.all, undone = all, before
  end)
  return run(...)
end

---Runs a trial: what it defines is in its own code, and not noted.
---@param run function
---@return any  what it returns
function M.within_trial(run, ...)
  local before = in_trial
  local _ <close> = scope.open("a trial", function() in_trial = true end, function() in_trial = before end)
  return run(...)
end

return M
