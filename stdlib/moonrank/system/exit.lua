-- mr.exit: ends a script with a message and a status.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Ends the script with a message of one line, without a traceback, and an exit status. Status 2 is
---that of a wrong command line, 1 of other problems. Objects with `<close>` are closed.
---@param status integer  1 to 255
---@param message string
---Example: `pcall(mr.exit, 2, "--sets: no such set")   --> false, --sets: no such set`
function M.exit(status, message)
  if math.type(status) ~= "integer" or status < 1 or status > 255 then
    check.fail("mr.exit: status is %s, expected an integer from 1 to 255", tostring(status))
  end
  if type(message) ~= "string" then check.fail("mr.exit: message is a %s, expected a text", type(message)) end
  error(core.exit(status, message), 0)
end

return M
