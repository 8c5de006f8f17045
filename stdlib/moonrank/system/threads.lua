-- mr.threads returns or sets the number of threads that compute.
local core = require "moonrank.core"

local M = {}

---Returns the number of threads that compute. With `n`, sets it first. The default is a thread per CPU,
---or the number of the option `--threads`. The number changes no result. Wrong numbers are errors.
---@param n? integer  1 to 4096
---@return integer
---Example:
---local before = mr.threads()
---mr.threads(2), mr.threads(before) == before   --> 2, true
function M.threads(n) return core.threads(n) end

return M
