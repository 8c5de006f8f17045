-- Mutation operators over the tokens of a Lua file. A mutant is the file with one small change that a test should
-- notice:
--   constant     a number gets another value, true becomes false
--   comparison   < becomes <=, == becomes ~=, and the other way round
--   arithmetic   + becomes -, * becomes /, and the other way round; `and` becomes `or`; `not` is dropped
--   word         a name or a text that chooses something becomes its opposite: "valid" and "test", "mean" and "sum"
--   call         a call that stands alone is dropped, `x:f(...)` becomes x, and `f(x)` becomes x
-- Mutants that are not a Lua program are left out.
local lexer = require "moonrank.prompt.lexer"

local M = {}

---@class mutation.Mutant
---@field operator string
---@field line integer
---@field was string  the text that is replaced
---@field now string
---@field text string  the whole file with the change

local symbols = {
  ["<"] = { "comparison", "<=" }, ["<="] = { "comparison", "<" }, [">"] = { "comparison", ">=" },
  [">="] = { "comparison", ">" }, ["=="] = { "comparison", "~=" }, ["~="] = { "comparison", "==" },
  ["+"] = { "arithmetic", "-" }, ["-"] = { "arithmetic", "+" }, ["*"] = { "arithmetic", "/" },
  ["/"] = { "arithmetic", "*" }, ["//"] = { "arithmetic", "*" }, ["%"] = { "arithmetic", "*" },
  ["^"] = { "arithmetic", "*" },
}

local words = {
  train = "test", valid = "test", test = "valid", mean = "sum", sum = "mean", rows = "mean", min = "max", max = "min",
  minimize = "maximize", maximize = "minimize", adam = "sgd", sgd = "adam", holm = "none",
  exp2 = "linear", stable = "mean", rated = "none", relevant = "rated", known = "all", ["and"] = "or", ["or"] = "and",
  ["true"] = "false", ["false"] = "true",
}

local keywords = {}
for word in ("and break do else elseif end for function goto if in local not or repeat return "
  .. "then until while"):gmatch "%a+" do
  keywords[word] = true
end

-- Returns true if an expression may end with this token.
local function is_value(token)
  if token == nil then return false end
  if token.kind == "name" then return not keywords[token.text] or token.text == "end" end
  return token.kind == "number" or token.kind == "string" or token.text == ")" or token.text == "]" or token.text == "}"
end

local closing = { ["("] = ")", ["{"] = "}", ["["] = "]" }

-- Returns the index of the token that closes the bracket at token i, or nil.
local function closes(tokens, i)
  local depth = 0
  for j = i, #tokens do
    if tokens[j].kind == "symbol" then
      if closing[tokens[j].text] then depth = depth + 1 end
      if tokens[j].text == ")" or tokens[j].text == "}" or tokens[j].text == "]" then depth = depth - 1 end
    end
    if depth == 0 then return j end
  end
  return nil
end

-- Returns the index of the last token of a call's arguments that begin at token i: (...), {...} or a string. Returns
-- nil if no arguments begin there.
local function arguments_end(tokens, i)
  local token = tokens[i]
  if not token then return nil end
  if token.kind == "string" then return i end
  return token.kind == "symbol" and (token.text == "(" or token.text == "{") and closes(tokens, i) or nil
end

-- Returns where the expression that ends before token i begins: a name with fields, e.g. a.b in a.b(x).
local function callee_start(tokens, i)
  local j = i - 1
  while j > 2 and tokens[j].kind == "name" and tokens[j - 1].text == "." do j = j - 2 end
  return tokens[j].kind == "name" and j or nil
end

local function numbers(text)
  local n = tonumber(text)
  if math.type(n) == "integer" then return { tostring(n + 1), n ~= 0 and tostring(n - 1) or nil } end
  return { n == 0 and "1.0" or ("%.17g"):format(2 * n) }
end

-- Returns the mutations that start at token i, each as {operator, first byte, last byte, replacement}.
local function changes_at(tokens, text, i)
  local found, token, before = {}, tokens[i], tokens[i - 1]
  local function add(operator, first, last, now) found[#found + 1] = { operator, first, last, now } end
  if token.kind == "number" then
    for _, now in pairs(numbers(token.text)) do add("constant", token.start, token.stop, now) end
  elseif token.kind == "symbol" and symbols[token.text] then
    local operator, now = table.unpack(symbols[token.text])
    if token.text ~= "-" or is_value(before) then add(operator, token.start, token.stop, now) end
  elseif token.kind == "name" and token.text == "not" then
    add("arithmetic", token.start, token.stop, "")
  elseif token.kind == "name" and words[token.text] then
    local now, kind = words[token.text], "word"
    if now == "or" or now == "and" then
      kind = "arithmetic"
    elseif now == "true" or now == "false" then
      kind = "constant"
    end
    add(kind, token.start, token.stop, now)
  elseif token.kind == "string" and words[token.text:sub(2, -2)] then
    add("word", token.start + 1, token.stop - 1, words[token.text:sub(2, -2)])
  end
  local is_callee = token.kind == "name" and not keywords[token.text] and (not before or before.text ~= "function")
  local last = is_callee and arguments_end(tokens, i + 1)
  if last and before and before.text == ":" then
    add("call", before.start, tokens[last].stop, "")
  elseif last then
    local first = callee_start(tokens, i + 1)
    local inner = tokens[i + 1].text == "(" and text:sub(tokens[i + 1].stop + 1, tokens[last].start - 1) or nil
    local outside = first and tokens[first - 1]
    if first and not is_value(outside) and inner and inner:find "%S" then
      add("call", tokens[first].start, tokens[last].stop, inner)
    end
    if first and (is_value(outside) or not outside) then add("call", tokens[first].start, tokens[last].stop, "") end
  end
  return found
end

---All mutants of a Lua text, in the order of their places.
---@param text string
---@return mutation.Mutant[]
function M.mutants(text)
  local tokens, found, seen = lexer.tokens(text), {}, { [text] = true }
  for i, token in ipairs(tokens) do
    for _, change in ipairs(changes_at(tokens, text, i)) do
      local operator, first, last, now = table.unpack(change)
      local changed = text:sub(1, first - 1) .. now .. text:sub(last + 1)
      if not seen[changed] and load(changed, "=mutant") then
        found[#found + 1] = { operator = operator, line = token.line, was = text:sub(first, last),
          now = now, text = changed }
      end
      seen[changed] = true
    end
  end
  return found
end

return M
