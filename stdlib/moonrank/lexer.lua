-- Words of a Lua text, also of one that is not finished: for completion, and for the locals of a session.
local M = {}

---@class mr.lexer.Token
---@field kind "name"|"number"|"string"|"symbol"|"open"  "open": a string or a comment that does not end
---@field text string
---@field start integer  its first byte
---@field stop integer   its last byte

-- Where a long bracket that begins at `at` ends: nil where there is none, false where it does not end.
local function long_end(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, stop = text:find("]" .. level .. "]", at, true)
  return stop or false
end

-- Where a string in quotes ends, or false.
local function quoted_end(text, at)
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote then return i end
    if c == "\n" then return false end
    i = i + (c == "\\" and (text:match("^z%s*()", i + 1) or i + 2) - i or 1)
  end
  return false
end

-- The token at `at`, where no blank is; nil for a comment, and in any case where it ends (false: it does not).
local function read(text, at)
  if text:find("^%-%-", at) then
    local stop = long_end(text, at + 2)
    if stop ~= nil then return nil, stop end
    return nil, text:find("\n", at, true) or false
  end
  local stop = long_end(text, at)
  if stop ~= nil then return "string", stop end
  if text:find("^[\"']", at) then return "string", quoted_end(text, at) end
  local _, last = text:find("^[%a_][%w_]*", at)
  if last then return "name", last end
  _, last = text:find("^%.?%d[%w.]*", at)
  if last then return "number", last end
  _, last = text:find("^[.:=<>~/][.:=<>/]", at)
  if last and text:find("^[^.:=<>~/]", at) then last = nil end
  return "symbol", last or at
end

---The words of a text, without its comments. A string or comment in which the text ends is the last one, of kind "open".
---@param text string
---@return mr.lexer.Token[]
---Example: `#require "moonrank.lexer".tokens("local x = 'a b'")   --> 4`
function M.tokens(text)
  local found, at = {}, text:find "%S"
  while at do
    local kind, stop = read(text, at)
    if stop == false then
      found[#found + 1] = { kind = "open", text = text:sub(at), start = at, stop = #text }
      break
    end
    if kind then found[#found + 1] = { kind = kind, text = text:sub(at, stop), start = at, stop = stop } end
    at = text:find("%S", stop + 1)
  end
  return found
end

return M
