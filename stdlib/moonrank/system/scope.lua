-- Scopes: state that is set while a function runs, e.g. whether gradients are recorded, or the seed of a training step.
-- A coroutine cannot yield within a scope, because the code that resumed the coroutine would then run with the scope's
-- state.
local core = require "moonrank.core"

local M = {}

---Begins a scope, in which some state is set. Assign the returned value to a `<close>` variable: the scope ends, and
---the state is restored, when that variable is closed. A yield out of the running coroutine within the scope is an
---error that names the scope.
---@param name string  what the scope is, for the error
---@param enter fun()  sets the state; it must not allocate, so that lack of memory cannot leave the state set
---@param restore fun()  restores the state
---@return table
---Example:
---```lua
---local function nothing() end
---local function closed() print "closed" end
---do local _ <close> = require("moonrank.system.scope").open("x", nothing, closed) end   --> closed
---```
function M.open(name, enter, restore)
  local scope = setmetatable({}, { __close = function()
    core.close_scope()
    restore()
  end })
  core.open_scope(name)
  enter()
  return scope
end

---Begins a scope in which operations are recorded for gradients if `on` is true, and are not recorded if `on` is false.
---Assign the returned value to a `<close>` variable: the scope ends when that variable is closed.
---@param name string  what the scope is, for the error about a yield
---@param on boolean
---@return table
function M.recording(name, on)
  local was
  return M.open(name, function() was = core.recording(on) end, function() core.recording(was) end)
end

return M
