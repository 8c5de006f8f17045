-- mr.exit ends a script with a message and a status.
local core = require "moonrank.core"
local arguments = require("moonrank.options").arguments

local M = {}

local check_exit = arguments({ "status", "integer", least = 1, most = 255 }, { "message", "string" })

---Ends the script with an exit status and a message, without a traceback. Status 2 is that of a wrong
---command line, 1 of other problems. Objects with `<close>` are closed. A pcall around mr.exit catches
---it like an error.
---@param status integer  1 to 255
---@param message string
---Example: `pcall(mr.exit, 2, "--sets: no such set")   --> false, --sets: no such set`
function M.exit(status, message)
  check_exit("mr.exit", status, message)
  error(core.exit(status, message), 0)
end

return M
