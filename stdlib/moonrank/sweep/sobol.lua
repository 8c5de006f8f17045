-- Sobol's sequence (runtime/statistics/sobol.cpp), shifted.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

M.dimensions = 64

---Returns a coordinate of a point of the Sobol sequence, as a 32-bit integer.
---@param index integer      from 0: the origin
---@param dimension integer  from 1
---@return integer
---Example: `require("moonrank.sweep.sobol").bits(1, 1) == 2^31   --> true`
function M.bits(index, dimension)
  if dimension < 1 or dimension > M.dimensions then
    check.fail("Sobol's sequence has no dimension %d here, expected 1 to %d", dimension, M.dimensions)
  end
  if index < 0 or index >> 32 ~= 0 then check.fail("Sobol's sequence has no point %d, expected 0 to 2^32 - 1", index) end
  return core.sobol_bits(index, dimension)
end

---Returns a coordinate of a point of the Sobol sequence, in [0, 1).
---@param index integer      from 0: the origin
---@param dimension integer  from 1
---@param shift? integer     32 bits that are added to every point modulo 2 (a digital shift): the points stay as even, and none is special
---@return number
---Example: `require("moonrank.sweep.sobol").at(2, 1)   --> 0.75`
function M.at(index, dimension, shift) return (M.bits(index, dimension) ~ (shift or 0)) / (1 << 32) end

return M
