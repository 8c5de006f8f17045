-- Numbers for tests: means, and pseudorandom integers.
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

---Returns a function of n that gives pseudorandom integers from 0 to n - 1 (the ANSI C generator).
---@param state integer  seed
---@return fun(n: integer): integer
function M.integers_below(state)
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n
  end
end

return M
