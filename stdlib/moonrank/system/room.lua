-- Limits the size of tensors made while a file is read: sizes in a damaged or forged file may be huge.
local check = require "moonrank.check"
local scope = require "moonrank.system.scope"

local M = {}

local left = math.huge  -- number of tensor entries that the function run by `within` may still make

---Calls `f(...)` with a limit: the tensors that mr.zeros, mr.normal and similar constructors make during the call may
---have at most `entries` entries in total. More are an error. Other tensors do not count. Returns the results of `f`.
---@param entries integer
---@param ... any  arguments of f
---@return any  results of f
function M.within(entries, f, ...)
  local before = left
  local _ <close> = scope.open("a file that is read", function() left = entries end, function() left = before end)
  return f(...)
end

---Returns `sizes`, the sizes of a new tensor, and counts its entries against the limit of `within`. It is an error to
---exceed the limit.
---@param sizes integer[]
---@return integer[]
function M.take(where, sizes)
  if left == math.huge or type(sizes) ~= "table" then return sizes end
  local entries = 1.0
  for _, n in ipairs(sizes) do entries = entries * math.max(0, tonumber(n) or 0) end
  if entries > left then
    check.fail("%s: a tensor of sizes {%s} needs more numbers than the file has", where,
      table.concat(sizes, ", "))
  end
  left = left - entries
  return sizes
end

return M
