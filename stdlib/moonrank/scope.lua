-- Scopes: state that holds while a function runs, e.g. recording, or the random numbers of a step.
-- A scope belongs to the call that opened it. A coroutine cannot yield within a scope: the code
-- that resumed it would run in the scope, and for ever if the coroutine is dropped.
local core = require "moonrank.core"

local M = {}

---Begins a scope. Until the value returned is closed, a yield out of the coroutine that runs now is an error that names the scope.
---@param name string
---@param enter fun()  sets what holds within; the last step, and one that takes no memory: where that has run out nothing must be left set
---@param restore fun()  puts back what was
---Example: `(function() local _ <close> = require "moonrank.scope".open("x", function() end, function() print "closed" end) end)()   --> closed`
function M.open(name, enter, restore)
  local scope = setmetatable({}, { __close = function()
    core.close_scope()
    restore()
  end })
  core.open_scope(name)
  enter()
  return scope
end

---A scope in which operations are recorded for gradients, or are not.
---@param name string
---@param on boolean
function M.recording(name, on)
  local was
  return M.open(name, function() was = core.recording(on) end, function() core.recording(was) end)
end

return M
