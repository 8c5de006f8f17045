-- What scripts defined by name: bounds, losses, metrics, models. A name in a script stands for them, so a study is made of them, too.
local scope = require "moonrank.scope"

local M = {}

---What was defined, by kind and name.
---@type table<string, any>
M.all = {}

local in_trial = false

---Notes a definition; another of the same kind and name takes its place.
---@param kind string
---@param name string
---@param what any  functions, alone or in a table
function M.note(kind, name, what)
  if not in_trial then M.all[kind .. " " .. name] = what end
end

---Runs a trial: what it defines is in its own code, and not noted.
---@param run function
---@return any  what it returns
function M.within_trial(run, ...)
  local before = in_trial
  in_trial = true
  local _ <close> = scope.open("a trial", function() in_trial = before end)
  return run(...)
end

return M
