-- Splits Lua text into tokens, also if the text is incomplete. Completion, the prompt and the manual use the tokens.
local M = {}

---Keywords that open a block or close one, as keys. `else` and `elseif` do both, and are left out.
M.opens = { ["do"] = true, ["if"] = true, ["function"] = true, ["repeat"] = true }
M.closes = { ["end"] = true, ["until"] = true }

---All keywords of Lua.
M.keywords = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
  "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }

---@class mr.lexer.Token
---@field kind "name"|"number"|"string"|"symbol"|"open"  "open": a string or a comment that does not end
---@field text string
---@field start integer  position of the first byte
---@field stop integer   position of the last byte
---@field line integer   line of the first byte

-- Returns where the long bracket at `at` ends; nil if none begins there, false if it is not closed.
local function long_end(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, stop = text:find("]" .. level .. "]", at, true)
  return stop or false
end

-- Returns the position at which the quoted string that begins at `at` ends, or false if the string is not closed.
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

-- Returns the kind of the token at `at` (nil for a comment), and where it ends (false if it is not closed).
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

---Returns the tokens of a Lua text, without comments. A string or comment that is not closed is the
---last token, of kind "open".
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
---debug.getinfo, a function may also begin in the line of its opening parenthesis.
---@return integer[][]  for each function, the indices of both in `tokens`
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
