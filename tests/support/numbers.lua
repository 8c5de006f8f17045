-- Numbers that specs work out for themselves.
local M = {}

---The mean of what is not NaN, and of how many; with `holds` only of entries for whose number it is true.
---@param values number[]
---@param holds? fun(i: integer): boolean
---@return number mean
---@return integer count
function M.mean(values, holds)
  local sum, count = 0, 0
  for i, x in ipairs(values) do
    if x == x and (not holds or holds(i)) then sum, count = sum + x, count + 1 end
  end
  return sum / count, count
end

return M
