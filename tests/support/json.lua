-- A JSON parser for reference values: objects and arrays become tables, and null becomes the value `M.null`.
local M = { null = setmetatable({}, { __tostring = function() return "null" end }) }

local value

local function skip(text, at) return text:find("[^ \n\r\t]", at) end

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function string_at(text, at)
  local last = at + 1
  while text:sub(last, last) ~= '"' do last = last + (text:sub(last, last) == "\\" and 2 or 1) end
  local raw = text:sub(at + 1, last - 1)
  raw = raw:gsub("\\u(%x%x%x%x)", function(hex) return utf8.char(tonumber(hex, 16)) end)
  raw = raw:gsub("\\(.)", function(c) return escapes[c] or c end)
  return raw, last + 1
end

local function members(text, at, closing, read)
  at = skip(text, at + 1)
  if text:sub(at, at) == closing then return at + 1 end
  while true do
    at = skip(text, read(at))
    local mark = text:sub(at, at)
    if mark == closing then return at + 1 end
    at = skip(text, at + 1)
    assert(mark == ",", "JSON: ',' or '" .. closing .. "' expected at " .. at)
  end
end

function value(text, at)
  at = skip(text, at)
  local first = text:sub(at, at)
  if first == '"' then return string_at(text, at) end
  local out = {}
  if first == "{" then
    return out, members(text, at, "}", function(i)
      local key
      key, i = string_at(text, i)
      out[key], i = value(text, skip(text, i) + 1)
      return i
    end)
  elseif first == "[" then
    return out, members(text, at, "]", function(i)
      local each
      each, i = value(text, i)
      out[#out + 1] = each
      return i
    end)
  end
  local word = text:match("^[%w+.-]+", at)
  local words = { ["true"] = true, ["false"] = false, null = M.null }
  if words[word] ~= nil then return words[word], at + #word end
  return assert(tonumber(word), "JSON: bad value at " .. at), at + #word
end

function M.decode(text) return (value(text, 1)) end

function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return M.decode(text)
end

return M
