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
    return size > 0 and read.bytes(size - 1) or nil
  end
  return read
end

local integer, float, short_string, long_string = 0x03, 0x13, 0x04, 0x14

-- Reads a constant; returns it where it is a text.
local function constant(read)
  local kind = read.bytes(1):byte()
  if kind == integer or kind == float then read.bytes(8) end
  return (kind == short_string or kind == long_string) and read.string() or nil
end

-- Operations of Lua 5.4 that read upvalues and their fields into a register, and that assign an upvalue or a field.
local get_upvalue, get_upvalue_field, get_table, get_integer, get_field = 9, 11, 12, 13, 14
local set_upvalue, set_upvalue_field, set_table, set_integer, set_field = 10, 15, 16, 17, 18

local any = true  -- in place of the name of a field: whichever

---@class mr.sweep.Uses
---@field assigns table<integer, table<any, true>>  by number of the upvalue: the fields that it puts something into; [true]: whichever, or itself
---@field reads table<integer, table<string, true>> the fields with a name that it reads
---@field texts table<string, true>                 its constants that are texts

local function mark(of, number, field)
  of[number] = of[number] or {}
  of[number][field] = true
end

-- What one instruction does to upvalues. `from`: by register, the upvalue and the field of it that its value comes from.
local function follow(uses, from, texts, operation, a, b, c)
  local source = from[b]
  if operation == set_upvalue then mark(uses.assigns, b, any)
  elseif operation == set_upvalue_field then mark(uses.assigns, a, texts[b + 1] or any)
  elseif operation >= set_table and operation <= set_field then
    local into = from[a]
    local field = operation == set_field and texts[b + 1] or operation == set_integer and b or any
    if into then mark(uses.assigns, into[1], into[2] or field) end
  elseif operation == get_upvalue then from[a] = { b }
  elseif operation == get_upvalue_field then
    if texts[c + 1] then mark(uses.reads, b, texts[c + 1]) end
    from[a] = { b, texts[c + 1] or any }
  elseif operation >= get_table and operation <= get_field then
    local field = operation == get_field and texts[c + 1] or operation == get_integer and c or any
    from[a] = source and { source[1], source[2] or field } or nil
  else from[a] = nil end
end

-- Adds what a function inside does to the upvalues that it has from the one around it.
local function add_inner(uses, inner, upvalues)
  for text in pairs(inner.texts) do uses.texts[text] = true end
  for _, kind in ipairs{ "assigns", "reads" } do
    for number, fields in pairs(inner[kind]) do
      local is_local, outer = upvalues:byte(3 * number + 1, 3 * number + 2)
      for field in pairs(is_local == 0 and fields or {}) do mark(uses[kind], outer, field) end
    end
  end
end

-- Reads a function and those inside it; returns what they use, upvalues numbered from 0.
local function prototype(read, outermost)
  read.string()  -- the source, which is stripped
  read.size(true)
  read.size(true)  -- its first and last line
  read.bytes(3)    -- parameters, varargs, registers
  local instructions, texts, from = read.bytes(4 * read.size()), {}, {}
  local uses = { assigns = {}, reads = {}, texts = {} }
  for i = 1, read.size() do
    texts[i] = constant(read)
    if texts[i] then uses.texts[texts[i]] = true end
  end
  for at = 1, #instructions, 4 do
    local word = string.unpack("<I4", instructions, at)
    follow(uses, from, texts, word & 0x7f, word >> 7 & 0xff, word >> 16 & 0xff, word >> 24)
  end
  local upvalues = read.bytes(3 * read.size(), outermost)  -- each: whether it is a local of the function around, its number there, its kind
  for _ = 1, read.size() do add_inner(uses, prototype(read)) end
  for _ = 1, 4 do read.size() end  -- debugging information, stripped
  return uses, upvalues
end

---What a Lua function does as bytes, the same for the same function further down its file, or with other names of locals; and what it and the
---functions inside it do to its upvalues, by number from 0.
---@param f function
---@return string
---@return mr.sweep.Uses
---Example: `#require("moonrank.sweep.bytecode").of(function(x) return x + 1 end) > 20   --> true`
function M.of(f)
  local text, out = string.dump(f, true), {}
  local uses = prototype(reader(text, header + 2, out), true)
  return table.concat(out), uses
end

return M
