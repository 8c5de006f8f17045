-- Computes XXH64 (Yann Collet's xxHash) in plain Lua, and the checksum of a file that is shorter than one block of
-- runtime/io/files/checksum.h.
local p1 <const>, p2 <const>, p3 <const> = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
local p4 <const>, p5 <const> = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

local function turned(x, bits) return x << bits | x >> (64 - bits) end
local function round(sum, lane) return turned(sum + lane * p2, 31) * p1 end

-- Returns the combined sum of XXH64's four lanes over all complete 32-byte stripes, and the position after the last
-- stripe.
local function of_stripes(bytes)
  local sums, at = { p1 + p2, p2, 0, -p1 }, 1
  while at + 31 <= #bytes do
    for i = 1, 4 do sums[i] = round(sums[i], (string.unpack("<i8", bytes, at + 8 * (i - 1)))) end
    at = at + 32
  end
  local sum = turned(sums[1], 1) + turned(sums[2], 7) + turned(sums[3], 12) + turned(sums[4], 18)
  for i = 1, 4 do sum = (sum ~ round(0, sums[i])) * p1 + p4 end
  return sum, at
end

local M = {}

---@param bytes string
---@return integer
function M.xxh64(bytes)
  local sum, at = p5, 1
  if #bytes >= 32 then sum, at = of_stripes(bytes) end
  sum = sum + #bytes
  while at + 7 <= #bytes do
    sum, at = turned(sum ~ round(0, (string.unpack("<i8", bytes, at))), 27) * p1 + p4, at + 8
  end
  if at + 3 <= #bytes then sum, at = turned(sum ~ string.unpack("<I4", bytes, at) * p1, 23) * p2 + p3, at + 4 end
  for i = at, #bytes do sum = turned(sum ~ bytes:byte(i) * p5, 11) * p1 end
  sum = (sum ~ sum >> 33) * p2
  sum = (sum ~ sum >> 29) * p3
  return sum ~ sum >> 32
end

---As io::checksum.
function M.checksum(bytes) return M.xxh64(string.pack("<i8", M.xxh64(bytes))) end

return M
