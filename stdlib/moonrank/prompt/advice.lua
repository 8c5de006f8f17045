-- Advice that is added to errors of Lua itself: what to write instead, for users who know other languages. The program
-- adds advice to errors that end a script or a line at the prompt.
local check = require "moonrank.check"
local core = require "moonrank.core"
local lexer = require "moonrank.prompt.lexer"

local M = {}

-- True if at least one of the classes of the C++ core (mr.Tensor, mr.Lists and others) has a method of this name.
local function is_method(name)
  for _, class in pairs(core.classes) do
    if class.methods[name] then return true end
  end
  return false
end

-- Returns advice for an error in which a function was used as a value: indexed, joined, or in arithmetic.
local function of_function(kind, name)
  if kind == "field" and is_method(name) then return ("'%s' is a method: write x:%s()"):format(name, name) end
  return ("'%s' is a function: call it with parentheses"):format(name)
end

-- Returns advice for an error in which a value that is not a function was called; nil if there is none.
local function of_call(class, kind, name)
  if kind == "for iterator" then
    return "for needs an iterator: ipairs(list), pairs(t), data:batches{...}, or numbers: for i = 1, n do"
  elseif class == "nil" then
    local other = check.other_name(kind == "global" and "_G" or "lua", name)
    return other and "write " .. other
  elseif class == "table" and kind == "field" then
    return ("'%s' is a table: call one of its functions, as in .%s.name(...)"):format(name, name)
  elseif kind == "field" or kind == "method" then
    return ("'%s' is a value: write .%s without parentheses"):format(name, name)
  end
end

-- Returns advice for an error in which nil was indexed or used in arithmetic.
local function of_nil(kind, name)
  if name == "integer index" or name == "?" then return "there is no element of this number; lists begin at 1" end
  local other = kind == "global" and check.other_name("_G", name)
  if other then return "write " .. other end
  return ("'%s' is nil: it was not set, or a function returned nothing"):format(name)
end

local function of_joined(kind)
  if kind == "table" then return 'table.concat(list, ", ") joins a list' end
  return (kind == "nil" or kind == "boolean") and "tostring(x) makes a text of any value"
end

local function of_compared(a, b)
  return (a == "string" or b == "string") and "tonumber(text) makes a number of a text"
end

local function of_module(name)
  return check.other_name("_G", name) and 'the library is local mr = require "moonrank"'
end

local of_batches = "ipairs takes a table, and this is a function. A function of batches stands in for alone: "
  .. "for batch in data:batches{size = 32} do"

local of_texts = 'texts are joined by .. and formatted by ("%d"):format(n)'

-- Advice for runtime errors of Lua, as {pattern of the error message, advice}. The advice may be a function, which gets
-- the pattern's captures and returns the advice.
local of_running = {
  { "attempt to index a function value %((%a+) '(.-)'%)", of_function },
  { "attempt to perform arithmetic on a function value %((%a+) '(.-)'%)", of_function },
  { "attempt to concatenate a function value %((%a+) '(.-)'%)", of_function },
  { "attempt to get length of a function value %((%a+) '(.-)'%)", of_function },
  { "attempt to call a ([%w.]+) value %(([%a ]+) '(.-)'%)", of_call },
  { "attempt to index a nil value %((%a+) '(.-)'%)", of_nil },
  { "attempt to perform arithmetic on a nil value %((%a+) '(.-)'%)", of_nil },
  { "attempt to concatenate a (%a+) value", of_joined },
  { "attempt to perform arithmetic on a string value", of_texts },
  { "attempt to %a+ a 'string' with a", of_texts },
  { "<name> expected near '[%d\"'-]", "a field of a table is name = value" },
  { "<name> expected near 'repeat'",
    "repeat is a word of Lua, not a method; mr.cat({x, x}, dim) joins copies of a tensor" },
  { "attempt to compare (%a+) with (%a+)", of_compared },
  { "attempt to index a function value$", of_batches },
  { "bad argument #1 to 'for iterator' %(table expected, got function", of_batches },
  { "attempt to get length of a function value$", "a function has no length; #data is a dataset's number of lists" },
  { "bad argument #1 to 'for iterator' %(table expected", "pairs and ipairs take a table" },
  { "module 'moonrank%.", 'the library is one module: local mr = require "moonrank"' },
  { "module '(%a+)' not found", of_module },
}

-- Advice for syntax errors, by the symbol near which Lua reports the error.
local of_symbols = {
  ["!"] = "not equal is ~=, and negation is not",
  ["+"] = "there is no += or ++: write n = n + 1",
  ["-"] = "there is no -=: write n = n - 1",
  ["*"] = "a power is x ^ y, and there is no *=: write n = n * 2",
  ["/"] = "there is no /=: write n = n / 2",
  ["//"] = "a comment begins with --",
  ["#"] = "a comment begins with --",
  ["["] = "a list is {1, 2, 3}",
  [":"] = "a block is then ... end or do ... end, a field of a table is name = value, and a part of a tensor is "
    .. "x:narrow(dim, first, count)",
  ["{"] = "a block is then ... end, do ... end or function name() ... end",
  ["="] = "a comparison is ==, and an assignment is a statement of its own",
  ["&"] = "write a and b",
  ["|"] = "write a or b",
  ["?"] = "write condition and a or b",
  ["@"] = "a product of matrices is x:matmul(y)",
}

-- Advice for syntax errors, by the first word of the line that has the error.
local of_words = {
  import = 'write local mr = require "moonrank"',
  from = 'write local mr = require "moonrank"',
  def = "write function name(...) ... end",
  elif = "write elseif condition then",
  var = "write local name = value",
  let = "write local name = value",
  const = "write local name <const> = value",
  try = "write local ok, result = pcall(f, ...)",
  foreach = "write for key, value in pairs(t) do",
  print = "write print(value)",
  help = "write help(value), or ?name at the prompt",
}

local typed, typed_name = "", "stdin"  -- text that the user typed last at the prompt, and its name in errors

---Stores the text that was typed at the prompt, in which `add` later looks up the line with a syntax error.
function M.note(text, name) typed, typed_name = text, name end

local function text_of(path)
  if path == typed_name then return typed end
  local file = io.open(path)
  if not file then return "" end
  local text = file:read "a"
  file:close()
  return text or ""
end

-- Returns the first word of a line, either in a script or in the text typed at the prompt. A call of print or help has
-- none, because its error is in its arguments.
local function first_word(path, number)
  local at = 1
  for line in (text_of(path) .. "\n"):gmatch "(.-)\n" do
    if at == number then
      local word, next_character = line:match "^%s*(%a+)%s*(.?)"
      local is_call = next_character == "(" and (word == "print" or word == "help")
      return not is_call and word or nil
    end
    at = at + 1
  end
end

-- Returns the indices of the first `=` in the parentheses of a call, f(name = value), and of its parenthesis.
local function named_argument(tokens)
  local open = {}
  for i, token in ipairs(tokens) do
    local text = token.kind == "symbol" and token.text or ""
    if text:find "^[({[]" then open[#open + 1] = i
    elseif text:find "^[)}%]]" then open[#open] = nil end
    local from = open[#open]
    local named = text == "=" and from and tokens[from].text == "(" and tokens[i - 1].kind == "name"
    if named then return i, from end
  end
end

local keywords = { ["and"] = true, ["or"] = true, ["not"] = true, ["if"] = true, ["elseif"] = true, ["while"] = true,
  ["until"] = true, ["return"] = true, ["function"] = true, ["in"] = true }

-- Returns advice for a call f(name = value): the user's own call with braces, if it is short; or nil.
local function of_options(text)
  local tokens = lexer.tokens(text)
  local at, from = named_argument(tokens)
  local first = from and from - 1 or 0  -- index of the first token of the called function's name
  if first < 1 or tokens[first].kind ~= "name" or keywords[tokens[first].text] then return nil end
  while first > 2 and tokens[first - 1].text:find "^[.:]$" and tokens[first - 2].kind == "name" do first = first - 2 end
  if first > 1 and tokens[first - 1].text == "function" then return nil end
  local depth, last = 0, from
  repeat
    local symbol = tokens[last].kind == "symbol" and tokens[last].text or ""
    depth = depth + (symbol:find "^[({[]" and 1 or symbol:find "^[)}%]]" and -1 or 0)
    last = last + 1
  until depth == 0 or not tokens[last]
  local called = text:sub(tokens[first].start, tokens[from].start - 1)
  local given = text:sub(tokens[from].stop + 1, tokens[at - 1].start - 1)
  local options = ""
  for i = at - 1, last - 2 do
    local equal = tokens[i].text == "=" or tokens[i + 1].text == "="
    local after = text:sub(tokens[i].stop + 1, tokens[i + 1].start - 1)
    options = options .. tokens[i].text .. (equal and " " or i < last - 2 and after or "")
  end
  local form = given:find "%S" and "%s(%s{%s})" or "%s%s{%s}"
  local shown = form:format(called, given, options)
  if depth > 0 or #shown > 80 or shown:find "\n" then shown = "f{name = value}" end
  return "options go into braces: " .. shown
end

local function of_syntax(message)
  local path, number, near = message:match "^([^\n]-):(%d+): [^\n]* near '?(.-)'?$"
  if not near then return nil end
  if message:find(": unfinished string near", 1, true) then
    return "a text in quotes ends in the line in which it begins, and [[...]] may have several lines"
  end
  local options = near == "=" and message:find("')' expected", 1, true) and of_options(text_of(path))
  if options then return options end
  if near == "<eof>" or near == "else" then
    local open = message:find("'end' expected", 1, true)
    return open and "each if, for, while, do and function needs an end, and else if is written elseif"
  end
  return of_words[first_word(path, tonumber(number)) or ""] or of_symbols[near]
end

-- Returns what to write instead of a line of Python that begins with the words of `tokens`.
local function block_of(tokens)
  local word = tokens[1].text
  if word == "while" then return "while condition do ... end" end
  if word ~= "for" then return word .. " condition then ... end" end
  local name, of = tokens[2] and tokens[2].text or "i", tokens[4] and tokens[4].text
  if of ~= "range" then return ("for i, %s in ipairs(list) do ... end"):format(name) end
  local single = tokens[6] and tokens[7] and tokens[7].text == ")"
  return ("for %s = 1, %s do ... end"):format(name, single and tokens[6].text or "n")
end

local python_words = { ["for"] = true, ["if"] = true, ["while"] = true, ["elseif"] = true }

---Returns an error message if a line of a text begins a block as in Python, with a colon or with range(n). At the
---prompt, Lua would wait for more lines, because a method's name may follow the colon. Returns nil for other text.
---@param name string  the text's name in error messages
---Example: `#require("moonrank.prompt.advice").python_block("for i in range(3):", "x") > 10   --> true`
function M.python_block(text, name)
  local lines = {}
  for _, token in ipairs(lexer.tokens(text)) do
    if token.kind == "open" then break end
    local tokens = lines[#lines]
    if not tokens or tokens[1].line ~= token.line then
      tokens = {}
      lines[#lines + 1] = tokens
    end
    tokens[#tokens + 1] = token
    tokens.colon = tokens.colon or token.text == ":" and not text:find("^%S", token.stop + 1)
  end
  for _, tokens in ipairs(lines) do
    local ranged = tokens[1].text == "for" and tokens[4] and tokens[4].text == "range" and rawget(_G, "range") == nil
    if python_words[tokens[1].text] and (tokens.colon or ranged) then
      return ("%s:%d: a block of Lua has no colon, and it ends with end: %s"):format(name, tokens[1].line,
        block_of(tokens))
    end
  end
end

-- Returns the position, as "file:line: ", of the script's line that called into the library.
local function script_position()
  for level = 2, math.huge do
    local frame = debug.getinfo(level, "Sl")
    if not frame then return "" end
    local outside = frame.what ~= "C" and frame.source:sub(1, 8) ~= "@stdlib/"
    if outside then return ("%s:%d: "):format(frame.short_src, frame.currentline) end
  end
end

local function of_rules(message)
  for _, rule in ipairs(of_running) do
    local found = table.pack(message:match(rule[1]))
    if found[1] then return type(rule[2]) == "string" and rule[2] or rule[2](table.unpack(found)) end
  end
end

---Returns an error message with advice on what to write instead, if there is any. An error inside the library also gets
---the position of the script's line, as does an error of Lua without a position. Pass this function to
---xpcall as message handler.
---Example: `require("moonrank.prompt.advice").add("f:1: error near '&'")   --> f:1: error near '&'; write a and b`
function M.add(message)
  if type(message) ~= "string" then return message end
  if message:find "^stdlib/[%w_/]+%.lua:%d+: " then
    local position = script_position()
    if position == "" then return message end
    return position .. "an error inside the library, most likely from a value that it does not expect: " .. message
  end
  local path = message:match "^([^\n]-):%d+: 'do' expected" or message:match "^([^\n]-):%d+: 'then' expected"
  local block = path and M.python_block(text_of(path), path)
  if block then return block end
  local advice = of_rules(message) or of_syntax(message)
  if message:find "^attempt to " then message = script_position() .. message end
  return advice and message .. "; " .. advice or message
end

return M
