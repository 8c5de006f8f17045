-- Sobol's sequence with the direction numbers of Joe and Kuo (2008, "Constructing Sobol sequences with better two-dimensional projections",
-- SIAM J. Sci. Comput. 30; the set new-joe-kuo-6.21201), points in the order of the Gray code (Antonov and Saleev 1979), of 32 bits.
local check = require "moonrank.check"

local M = {}

local bits = 32

-- Dimensions 2 to 64: the primitive polynomial with all its bits, and the first direction numbers m.
local numbers = {
  { 3, 1 }, { 7, 1, 3 }, { 11, 1, 3, 1 }, { 13, 1, 1, 1 }, { 19, 1, 1, 3, 3 }, { 25, 1, 3, 5, 13 }, { 37, 1, 1, 5, 5, 17 },
  { 41, 1, 1, 5, 5, 5 }, { 47, 1, 1, 7, 11, 19 }, { 55, 1, 1, 5, 1, 1 }, { 59, 1, 1, 1, 3, 11 }, { 61, 1, 3, 5, 5, 31 },
  { 67, 1, 3, 3, 9, 7, 49 }, { 91, 1, 1, 1, 15, 21, 21 }, { 97, 1, 3, 1, 13, 27, 49 }, { 103, 1, 1, 1, 15, 7, 5 },
  { 109, 1, 3, 1, 15, 13, 25 }, { 115, 1, 1, 5, 5, 19, 61 }, { 131, 1, 3, 7, 11, 23, 15, 103 }, { 137, 1, 3, 7, 13, 13, 15, 69 },
  { 143, 1, 1, 3, 13, 7, 35, 63 }, { 145, 1, 3, 5, 9, 1, 25, 53 }, { 157, 1, 3, 1, 13, 9, 35, 107 }, { 167, 1, 3, 1, 5, 27, 61, 31 },
  { 171, 1, 1, 5, 11, 19, 41, 61 }, { 185, 1, 3, 5, 3, 3, 13, 69 }, { 191, 1, 1, 7, 13, 1, 19, 1 }, { 193, 1, 3, 7, 5, 13, 19, 59 },
  { 203, 1, 1, 3, 9, 25, 29, 41 }, { 211, 1, 3, 5, 13, 23, 1, 55 }, { 213, 1, 3, 7, 3, 13, 59, 17 }, { 229, 1, 3, 1, 3, 5, 53, 69 },
  { 239, 1, 1, 5, 5, 23, 33, 13 }, { 241, 1, 1, 7, 7, 1, 61, 123 }, { 247, 1, 1, 7, 9, 13, 61, 49 }, { 253, 1, 3, 3, 5, 3, 55, 33 },
  { 285, 1, 3, 1, 15, 31, 13, 49, 245 }, { 299, 1, 3, 5, 15, 31, 59, 63, 97 }, { 301, 1, 3, 1, 11, 11, 11, 77, 249 },
  { 333, 1, 3, 1, 11, 27, 43, 71, 9 }, { 351, 1, 1, 7, 15, 21, 11, 81, 45 }, { 355, 1, 3, 7, 3, 25, 31, 65, 79 },
  { 357, 1, 3, 1, 1, 19, 11, 3, 205 }, { 361, 1, 1, 5, 9, 19, 21, 29, 157 }, { 369, 1, 3, 7, 11, 1, 33, 89, 185 },
  { 391, 1, 3, 3, 3, 15, 9, 79, 71 }, { 397, 1, 3, 7, 11, 15, 39, 119, 27 }, { 425, 1, 1, 3, 1, 11, 31, 97, 225 },
  { 451, 1, 1, 1, 3, 23, 43, 57, 177 }, { 463, 1, 3, 7, 7, 17, 17, 37, 71 }, { 487, 1, 3, 1, 5, 27, 63, 123, 213 },
  { 501, 1, 1, 3, 5, 11, 43, 53, 133 }, { 529, 1, 3, 5, 5, 29, 17, 47, 173, 479 }, { 539, 1, 3, 3, 11, 3, 1, 109, 9, 69 },
  { 545, 1, 1, 1, 5, 17, 39, 23, 5, 343 }, { 557, 1, 3, 1, 5, 25, 15, 31, 103, 499 }, { 563, 1, 1, 1, 11, 11, 17, 63, 105, 183 },
  { 601, 1, 1, 5, 11, 9, 29, 97, 231, 363 }, { 607, 1, 1, 5, 15, 19, 45, 41, 7, 383 }, { 617, 1, 3, 7, 7, 31, 19, 83, 137, 221 },
  { 623, 1, 1, 1, 3, 23, 15, 111, 223, 83 }, { 631, 1, 1, 5, 13, 31, 15, 55, 25, 161 }, { 637, 1, 1, 3, 13, 25, 47, 39, 87, 257 },
}

M.dimensions = #numbers + 1

local directions = {}  -- by dimension, made when first used

-- v[k] = m[k] / 2^k, in units of 2^-32; m by the recurrence of the polynomial.
local function directions_of(dimension)
  local v = directions[dimension]
  if v then return v end
  v = {}
  if dimension == 1 then
    for k = 1, bits do v[k] = 1 << (bits - k) end
  else
    local row = numbers[dimension - 1]
    local polynomial, degree = row[1], #row - 1
    for k = 1, degree do v[k] = row[k + 1] << (bits - k) end
    for k = degree + 1, bits do
      v[k] = v[k - degree] ~ (v[k - degree] >> degree)
      for j = 1, degree - 1 do
        if (polynomial >> (degree - j)) & 1 == 1 then v[k] = v[k] ~ v[k - j] end
      end
    end
  end
  directions[dimension] = v
  return v
end

---A coordinate of a point of the sequence, as an integer of 32 bits.
---@param index integer      from 0: the origin
---@param dimension integer  from 1
---@return integer
---Example: `require("moonrank.sweep.sobol").bits(1, 1) == 2^31   --> true`
function M.bits(index, dimension)
  if dimension < 1 or dimension > M.dimensions then
    check.fail("Sobol's sequence has no dimension %d here, expected 1 to %d", dimension, M.dimensions)
  end
  if index < 0 or index >> bits ~= 0 then check.fail("Sobol's sequence has no point %d, expected 0 to 2^32 - 1", index) end
  local v, gray, x, k = directions_of(dimension), index ~ (index >> 1), 0, 1
  while gray ~= 0 do
    if gray & 1 == 1 then x = x ~ v[k] end
    gray, k = gray >> 1, k + 1
  end
  return x
end

---A coordinate of a point of the sequence, in [0, 1).
---@param index integer      from 0: the origin
---@param dimension integer  from 1
---@param shift? integer     32 bits that are added to every point modulo 2 (a digital shift): the points stay as even, and none is special
---@return number
---Example: `require("moonrank.sweep.sobol").at(2, 1)   --> 0.75`
function M.at(index, dimension, shift)
  return (M.bits(index, dimension) ~ (shift or 0)) / (1 << bits)
end

return M
