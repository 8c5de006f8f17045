-- Finds out the width of the terminal that shows the program's output.
local core = require "moonrank.core"

local M = {}

local narrowest <const>, widest <const> = 20, 400

---Returns the number of columns of the terminal that shows standard output, limited to 20 to 400. A number of at least
---1 in the environment variable COLUMNS replaces it. Without such a number, returns nil if standard output is a file or
---a pipe.
---Example: `math.type(require("moonrank.system.terminal").width() or 80)   --> integer`
function M.width()
  local asked = tonumber(os.getenv "COLUMNS")
  local columns = asked and asked >= 1 and asked or core.is_terminal(1) and core.terminal_width() or nil
  return columns and math.tointeger(math.max(narrowest, math.min(columns // 1, widest)))
end

return M
