-- Writes numbers with as few digits as they need.
local M = {}

local least_normal <const> = 2 ^ -1022

---Returns a number as a text with the fewest decimal digits that read back as the same float64; "nan" for a NaN.
---@param value number
---@return string
---Example: `require("moonrank.system.digits").shortest(0.1)   --> 0.1`
---Example: `require("moonrank.system.digits").shortest(1 / 3)   --> 0.3333333333333333`
function M.shortest(value)
  if value ~= value then return "nan" end
  -- a normal float64 that can be written with fewer digits is written so by "%.15g", too
  local first = math.abs(value) < least_normal and 1 or 15
  for digits = first, 16 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
  return ("%.17g"):format(value)
end

---Returns a text in which numbers have as few digits as they need. Texts in stores have 17 digits.
---@param text string
---@return string
---Example: `require("moonrank.system.digits").shortened("uniform(0, 0.10000000000000001)")   --> uniform(0, 0.1)`
function M.shortened(text)
  return (text:gsub("%f[%w.]%d+%.%d%d%d%d%d%d%d%d%d+[eE]?[+-]?%d*", function(number)
    return tonumber(number) and M.shortest(tonumber(number))
  end))
end

return M
