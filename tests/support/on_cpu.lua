-- Runs a test's body on the CPU, whatever MOONRANK_DEVICE says. It is for behaviour that differs on the GPU on purpose:
-- the GPU reports NaN only at the end of an epoch, takes larger blocks of users, and does not defer optimizer updates.
local mr = require "moonrank"

return function(body)
  return function()
    local was = mr.device()
    mr.device "cpu"
    local ok, message = xpcall(body, debug.traceback)
    mr.device(was)
    if not ok then error(message, 0) end
  end
end
