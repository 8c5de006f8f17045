-- Checks whether main memory suffices before long work begins.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- Returns a number of bytes as text: in GiB, or in MiB if it is less than a tenth of a GiB.
local function size_text(bytes)
  if bytes < 0.1 * 2 ^ 30 then return ("%.1f MiB"):format(bytes / 2 ^ 20) end
  return ("%.1f GiB"):format(bytes / 2 ^ 30)
end

---Raises an error if the estimated memory for some work exceeds the available main memory.
---@param where string  function or script
---@param what string  the option and its value that need the memory, "train: 100 rows of 30000 features"
---@param bytes number  the estimate
---@param advice? string  what to do instead (default: use smaller data)
---@param available? number  available bytes (default: those of the machine)
function M.need(where, what, bytes, advice, available)
  available = available or core.available_bytes()
  if bytes <= available then return end
  check.fail("%s: %s need about %s of memory, and %s are available. %s", where, what, size_text(bytes),
    size_text(available), advice or "Use less data")
end

return M
