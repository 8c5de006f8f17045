-- A test's body with the CPU as the device, whatever MOONRANK_DEVICE says: for what the GPU does in another way on
-- purpose (it tells of NaN at the end of an epoch, takes larger blocks of users, and puts no steps off).
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
