-- Splits Lua text into tokens, also text that is not complete. Completion, the prompt and the manual use it.
local M = {}

---@class mr.lexer.Token
---@field kind "name"|"number"|"string"|"symbol"|"open"  "open": a string or a comment that does not end
---@field text string
---@field start integer  position of the first byte
---@field stop integer   position of the last byte
---@field line integer   line of the first byte

-- Returns where the long bracket at `at` ends: nil if there is no long bracket, false if it does not end.
local function long_end(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, stop = text:find("]" .. level .. "]", at, true)
  return stop or false
end

-- Returns where the quoted string at `at` ends, or false if it does not end.
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

-- Returns the kind of the token at `at` (nil for a comment), and where it ends (false if it does not end).
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

---Returns the tokens of a text, without comments. A string or comment that does not end is the last token, of kind
---"open".
---@param text string
---@return mr.lexer.Token[]
---Example: `#require "moonrank.prompt.lexer".tokens("local x = 'a b'")   --> 4`
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

local blocks = { ["function"] = true, ["if"] = true, ["do"] = true }  -- keywords of blocks that `end` closes

---Returns the first and the last token of every function that begins in line `first` and ends in line `last`. As in
---debug.getinfo, a function may begin in the line of its parenthesis.
---@param tokens mr.lexer.Token[]
---@param first integer
---@param last integer
---@return integer[][]
---Example: `require "moonrank.prompt.lexer".functions(require "moonrank.prompt.lexer".tokens("f(function(x) end)"), 1, 1)[1][2]   --> 7`
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
