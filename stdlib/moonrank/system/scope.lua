-- Scopes: state that is set while a function runs, e.g. whether gradients are recorded, or the seed of a training step.
-- A coroutine cannot yield within a scope, because the code that resumed it would then run with the state of the scope.
local core = require "moonrank.core"

local M = {}

---Begins a scope. Until the returned value is closed, a yield out of the running coroutine is an error that names the
---scope.
---@param name string
---@param enter fun()  sets the state; it must not allocate, so that lack of memory cannot leave the state set
---@param restore fun()  restores the state
---Example: `(function() local _ <close> = require "moonrank.system.scope".open("x", function() end, function() print "closed" end) end)()   --> closed`
function M.open(name, enter, restore)
  local scope = setmetatable({}, { __close = function()
    core.close_scope()
    restore()
  end })
  core.open_scope(name)
  enter()
  return scope
end

---Begins a scope in which operations are recorded for gradients (`on`), or are not.
---@param name string
---@param on boolean
function M.recording(name, on)
  local was
  return M.open(name, function() was = core.recording(on) end, function() core.recording(was) end)
end

return M
