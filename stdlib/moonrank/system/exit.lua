-- mr.exit ends a script with a message and a status.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Ends the script with an exit status and a message, without a traceback. Status 2 is that of a wrong
---command line, 1 of other problems. Objects with `<close>` are closed. A pcall around mr.exit catches
---it like an error.
---@param status integer  1 to 255
---@param message string
---Example: `pcall(mr.exit, 2, "--sets: no such set")   --> false, --sets: no such set`
function M.exit(status, message)
  check.expect(math.type(status) == "integer" and status >= 1 and status <= 255, "mr.exit", "status", status,
    "an integer from 1 to 255")
  check.expect(type(message) == "string", "mr.exit", "message", message, "a text")
  error(core.exit(status, message), 0)
end

return M
