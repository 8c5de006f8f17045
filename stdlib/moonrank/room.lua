-- Room for tensors while a file is read: the sizes that it asks for are not to be trusted.
local check = require "moonrank.check"
local scope = require "moonrank.scope"

local M = {}

local left = math.huge  -- entries that tensors may still be made of

---Runs a function in which tensors of at most so many entries in all are made from sizes.
---@param entries integer
---@param f function
---@return any  what it returns
function M.within(entries, f, ...)
  local before = left
  local _ <close> = scope.open("a file that is read", function() left = entries end, function() left = before end)
  return f(...)
end

---Takes room for a tensor of these sizes, or raises; returns the sizes.
---@param where string
---@param sizes integer[]
---@return integer[]
function M.take(where, sizes)
  if left == math.huge or type(sizes) ~= "table" then return sizes end
  local entries = 1.0
  for _, n in ipairs(sizes) do entries = entries * math.max(0, tonumber(n) or 0) end
  if entries > left then
    check.fail("%s: sizes {%s} are more than the tensors of the file have", where, table.concat(sizes, ", "))
  end
  left = left - entries
  return sizes
end

return M
