-- Words of a Lua text, also of one that is not finished: for completion, and for the locals of a session.
local M = {}

---@class mr.lexer.Token
---@field kind "name"|"number"|"string"|"symbol"|"open"  "open": a string or a comment that does not end
---@field text string
---@field start integer  its first byte
---@field stop integer   its last byte
---@field line integer   of its first byte

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
  if last then
    local exponent = text:find("^0[xX]", at) and "[pP]" or "[eE]"
    local signed = text:sub(last, last):find(exponent) and text:match("^[+-]%d+()", last + 1)
    return "number", signed and signed - 1 or last
  end
  _, last = text:find("^[.:=<>~/][.:=<>/]", at)
  if last and text:find("^[^.:=<>~/]", at) then last = nil end
  return "symbol", last or at
end

---The words of a text, without its comments. A string or comment in which the text ends is the last one, of kind "open".
---@param text string
---@return mr.lexer.Token[]
---Example: `#require "moonrank.lexer".tokens("local x = 'a b'")   --> 4`
function M.tokens(text)
  local found, at, line, counted = {}, text:find "%S", 1, 1
  local function add(kind, stop)
    line, counted = line + select(2, text:sub(counted, at - 1):gsub("\n", "")), at
    found[#found + 1] = { kind = kind, text = text:sub(at, stop), start = at, stop = stop, line = line }
  end
  while at do
    local kind, stop = read(text, at)
    if stop == false then
      add("open", #text)
      break
    end
    if kind then add(kind, stop) end
    at = text:find("%S", stop + 1)
  end
  return found
end

local blocks = { ["function"] = true, ["if"] = true, ["do"] = true }  -- words that need an `end`

---First and last token of every function that begins and ends in two lines, as debug.getinfo counts them: an anonymous function begins at its
---parenthesis.
---@param tokens mr.lexer.Token[]
---@param first integer
---@param last integer
---@return integer[][]
---Example: `require "moonrank.lexer".functions(require "moonrank.lexer".tokens("f(function(x) end)"), 1, 1)[1][2]   --> 7`
function M.functions(tokens, first, last)
  local open, found = {}, {}
  for i, token in ipairs(tokens) do
    if token.kind == "name" and blocks[token.text] then open[#open + 1] = i
    elseif token.kind == "name" and token.text == "end" and #open > 0 then
      local from = table.remove(open)
      local parenthesis = from
      while tokens[parenthesis].text ~= "(" and parenthesis < i do parenthesis = parenthesis + 1 end
      local begins = tokens[from].line == first or tokens[parenthesis].line == first
      if tokens[from].text == "function" and begins and token.line == last then found[#found + 1] = { from, i } end
    end
  end
  return found
end

return M
