-- What a function does, apart from where it stands in its file: its stripped bytecode (Lua 5.4) without line numbers.
local M = {}

local header = 31  -- bytes: signature, version, format, conversions checked, three sizes, an integer and a number

-- Reads a dump from a position on; what is kept goes to `out`.
local function reader(text, at, out)
  local read = {}
  function read.bytes(n, dropped)
    local bytes = text:sub(at, at + n - 1)
    if not dropped then out[#out + 1] = bytes end
    at = at + n
    return bytes
  end
  -- seven bits a byte, the last one marked
  function read.size(dropped)
    local value, from = 0, at
    repeat
      local byte = text:byte(at)
      value, at = value << 7 | byte & 0x7f, at + 1
    until byte & 0x80 ~= 0
    if not dropped then out[#out + 1] = text:sub(from, at - 1) end
    return value
  end
  function read.string()
    local size = read.size()
    if size > 0 then
      out[#out + 1] = text:sub(at, at + size - 2)
      at = at + size - 1
    end
  end
  return read
end

local integer, float, short_string, long_string = 0x03, 0x13, 0x04, 0x14

local function constant(read)
  local kind = read.bytes(1):byte()
  if kind == integer or kind == float then read.bytes(8)
  elseif kind == short_string or kind == long_string then read.string() end
end

-- Operations of Lua 5.4 that read upvalues and fields into a register, and that assign an upvalue or a field.
local get_upvalue, get_field = 9, { [12] = true, [13] = true, [14] = true }
local set_upvalue, set_upvalue_field, set_field = 10, 15, { [16] = true, [17] = true, [18] = true }

-- The numbers, from 0, of the upvalues that instructions assign, or into which they put something.
local function assigned(instructions)
  local found, from = {}, {}  -- from: by register, the upvalue that its value comes from
  for at = 1, #instructions, 4 do
    local word = string.unpack("<I4", instructions, at)
    local operation, a, b = word & 0x7f, word >> 7 & 0xff, word >> 16 & 0xff
    if operation == set_upvalue then found[b] = true
    elseif operation == set_upvalue_field then found[a] = true
    elseif set_field[operation] then found[from[a] or -1] = true
    elseif operation == get_upvalue then from[a] = b
    elseif get_field[operation] then from[a] = from[b]
    else from[a] = nil end
  end
  found[-1] = nil
  return found
end

-- Reads a function and those inside it; returns the numbers of its upvalues that they assign.
local function prototype(read, outermost)
  read.string()  -- the source, which is stripped
  read.size(true)
  read.size(true)  -- its first and last line
  read.bytes(3)    -- parameters, varargs, registers
  local found = assigned(read.bytes(4 * read.size()))
  for _ = 1, read.size() do constant(read) end
  local upvalues = read.bytes(3 * read.size(), outermost)  -- each: whether it is a local of the function around, its number there, its kind
  for _ = 1, read.size() do
    local inner, of = prototype(read)
    for number in pairs(inner) do
      local is_local, outer = of:byte(3 * number + 1, 3 * number + 2)
      if is_local == 0 then found[outer] = true end
    end
  end
  for _ = 1, 4 do read.size() end  -- debugging information, stripped
  return found, upvalues
end

---What a Lua function does as bytes, the same for the same function further down its file, or with other names of locals; and which of its
---upvalues, by number from 1, it or a function inside it assigns or puts something into.
---@param f function
---@return string
---@return table<integer, boolean>
---Example: `#require("moonrank.sweep.bytecode").of(function(x) return x + 1 end) > 20   --> true`
function M.of(f)
  local text, out = string.dump(f, true), {}
  local found, assigns = prototype(reader(text, header + 2, out), true), {}
  for number in pairs(found) do assigns[number + 1] = true end
  return table.concat(out), assigns
end

return M
