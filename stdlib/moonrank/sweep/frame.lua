-- Converts plain values to bytes, for messages of workers, and to JSON, for the store. Neither can contain code.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local put = {}

local function write(parts, value)
  local writer = put[math.type(value) or type(value)]
  if not writer then error(("a %s cannot be sent to another process"):format(type(value)), 0) end
  writer(parts, value)
end

put["nil"] = function(parts) parts[#parts + 1] = "n" end
put.boolean = function(parts, value) parts[#parts + 1] = value and "t" or "f" end
put.integer = function(parts, value) parts[#parts + 1] = ("<c1i8"):pack("i", value) end
put.float = function(parts, value) parts[#parts + 1] = ("<c1d"):pack("d", value) end
put.string = function(parts, value) parts[#parts + 1] = ("<c1s8"):pack("s", value) end
put.table = function(parts, value)
  local count = 0
  for _ in next, value do count = count + 1 end
  parts[#parts + 1] = ("<c1i8"):pack("T", count)
  for key, each in next, value do
    write(parts, key)
    write(parts, each)
  end
end

---Returns nested tables, strings, numbers (with all bits), booleans and nil as bytes. Other values are errors.
---Example: `#require("moonrank.sweep.frame").pack(true)   --> 1`
function M.pack(value)
  local parts = {}
  write(parts, value)
  return table.concat(parts)
end

local deepest = 64  -- largest depth of nested tables in a message

local function read(bytes, at, depth)
  local kind = bytes:sub(at, at)
  at = at + 1
  if kind == "n" then return nil, at end
  if kind == "t" or kind == "f" then return kind == "t", at end
  if kind == "i" then return ("<i8"):unpack(bytes, at) end
  if kind == "d" then return ("<d"):unpack(bytes, at) end
  if kind == "s" then return ("<s8"):unpack(bytes, at) end
  if kind ~= "T" or depth == deepest then error("the bytes from the other process are not a message", 0) end
  local out, count, next_at = {}, ("<i8"):unpack(bytes, at)
  for _ = 1, count do
    local key, value_at = read(bytes, next_at, depth + 1)
    out[key], next_at = read(bytes, value_at, depth + 1)
  end
  return out, next_at
end

---Returns the value that `pack` converted to these bytes. Malformed bytes, and tables nested more than 64 deep, are
---errors.
---Example: `require("moonrank.sweep.frame").unpack(require("moonrank.sweep.frame").pack{a = 1}).a   --> 1`
function M.unpack(bytes)
  local value, at = read(bytes, 1, 0)
  if at ~= #bytes + 1 then error("the bytes from the other process are not a message", 0) end
  return value
end

---The characters that have an escape of two characters in JSON, such as "\n", with their escapes.
M.escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function json(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[\0-\31\127"\\]', function(c) return M.escapes[c] or ("\\u%04x"):format(c:byte()) end)
      .. '"'
  end
  if math.type(value) ~= "float" then return tostring(value) end
  local text = ("%.17g"):format(value)
  return text:find "[.en]" and text or text .. ".0"
end

---Returns strings, finite numbers and booleans as a JSON object, sorted by name: equal tables give equal texts.
---Example: `require("moonrank.sweep.frame").to_json{b = 0.5, a = "x"}   --> {"a":"x","b":0.5}`
function M.to_json(values)
  local parts = {}
  for i, name in ipairs(check.names(values)) do parts[i] = json(name) .. ":" .. json(values[name]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

---Returns a table of strings, numbers and booleans as a JSON object. NaN and infinite numbers become the strings "nan",
---"inf" and "-inf", because JSON does not have such numbers.
---Example: `require("moonrank.sweep.frame").json_object{x = 0 / 0}   --> {"x":"nan"}`
function M.json_object(values)
  local shown = {}
  for name, value in pairs(values) do
    local is_infinite = type(value) == "number" and not check.is_finite(value)
    shown[name] = is_infinite and (value ~= value and "nan" or value > 0 and "inf" or "-inf") or value
  end
  return M.to_json(shown)
end

---Parses a JSON object of strings, numbers and booleans, such as `to_json` writes, and returns it as a table. Nested
---objects, arrays and texts that are not a JSON object are errors.
---@return table<string, any>
---Example: `require("moonrank.sweep.frame").from_json('{"a":2}').a   --> 2`
function M.from_json(text)
  local names, columns, problems = core.json_columns{ text }
  if problems[1] ~= "" then error(problems[1], 0) end
  local out = {}
  for i, name in ipairs(names) do out[name] = columns[i][1] end
  return out
end

return M
