-- Converts formulas in plain text to MathML, which browsers show without a network. Docstrings and pages write a
-- formula between dollar signs: $ndcg = dcg / max(dcg)$. The terminal shows the text between the dollar signs.
--
--   x_i^2, s_(i j), p^(r - 1)    subscripts and superscripts; brackets around them are left out
--   (a + b) / c, 1/P             a fraction of the two operands beside the slash, without their brackets
--   f(x), log(x), |x|, F~        functions, absolute values, and a letter with a tilde
--   sum_(i = 1)^n, prod_j        sums and products, with limits
--   alpha, sigma, sqrt(x)        Greek letters and roots
--   <=, >=, !=, ->, *, in, ...   operators
--
-- A name of one letter is a variable. Other names, and words in a row ("where less is better"), are upright.
local escape = require("moonrank.table").escape_html

local M = {}

local letters = { alpha = "α", beta = "β", gamma = "γ", delta = "δ", epsilon = "ε", eta = "η", theta = "θ",
  kappa = "κ", lambda = "λ", mu = "μ", pi = "π", rho = "ρ", sigma = "σ", tau = "τ", phi = "φ", Phi = "Φ",
  Delta = "Δ", infinity = "∞" }
local large = { sum = "∑", prod = "∏" }
local operators = { ["<="] = "≤", [">="] = "≥", ["!="] = "≠", ["->"] = "→", ["..."] = "…", ["*"] = "⋅", ["-"] = "−",
  ["in"] = "∈" }
for mark in ("+=<>,;:!"):gmatch "." do operators[mark] = mark end
local closing = { ["("] = ")", ["["] = "]", ["|"] = "|" }
-- names of functions, which do not count as words of a phrase in a formula
local functions = { log = true, exp = true, min = true, max = true }

-- Returns the tokens of a formula: {text =, kind = "name" | "number" | "mark", near = whether no blank precedes it}.
local function tokens_of(text)
  local tokens, at = {}, 1
  while true do
    local start = text:find("%S", at)
    if not start then return tokens end
    local kind, last = "name", select(2, text:find("^%a%w*", start))
    if not last then kind, last = "number", select(2, text:find("^%d+%.?%d*", start)) end
    if not last then
      local long = text:sub(start, start + 2) == "..." and 3 or operators[text:sub(start, start + 1)] and 2 or 1
      kind, last = "mark", start + long - 1
    end
    tokens[#tokens + 1] = { text = text:sub(start, last), kind = kind, near = start == at }
    at = last + 1
  end
end

local function row(items) return #items == 1 and items[1] or "<mrow>" .. table.concat(items) .. "</mrow>" end

local Reader = {}
Reader.__index = Reader

function Reader:fail(what) error(("formula '%s': %s"):format(self.text, what), 0) end

-- If the text of the next token is `mark`, skips the token and returns true. Returns false otherwise.
function Reader:take(mark)
  local token = self.tokens[self.at]
  if not token or token.text ~= mark then return false end
  self.at = self.at + 1
  return true
end

-- Parses a part in brackets. Returns its MathML twice: with brackets, and without round brackets.
function Reader:group()
  local open = self.tokens[self.at].text
  local close = closing[open]
  self.at = self.at + 1
  local inside = self:row(close)
  if not self:take(close) then self:fail(("'%s' is missing"):format(close)) end
  local mark = '<mo form="%s" stretchy="true">%s</mo>'
  local whole = "<mrow>" .. mark:format("prefix", open) .. inside .. mark:format("postfix", close) .. "</mrow>"
  return whole, open == "(" and inside or whole
end

-- Returns a name as MathML, and its kind: "large" for sums and products, "limit" for names with limits below them,
-- "word" for other upright names, else nil.
local function name_of(name)
  if large[name] then return ("<mo>%s</mo>"):format(large[name]), "large" end
  if letters[name] then return ("<mi>%s</mi>"):format(letters[name]) end
  if name == "log2" then return "<msub><mi>log</mi><mn>2</mn></msub>", "word" end
  return ("<mi>%s</mi>"):format(name), (name == "max" or name == "min") and "limit" or #name > 1 and "word" or nil
end

-- Parses the smallest part of a formula: a number, a name or a part in brackets. Returns its MathML, its MathML without
-- round brackets, and the kind of a name (see `name_of`).
function Reader:atom()
  local token, following = self.tokens[self.at], self.tokens[self.at + 1]
  if not token then self:fail "it ends where an operand is expected" end
  if closing[token.text] then return self:group() end
  if token.kind == "mark" then self:fail(("'%s' where an operand is expected"):format(token.text)) end
  self.at = self.at + 1
  local html, kind = ("<mn>%s</mn>"):format(token.text), nil
  if token.text == "sqrt" and following and following.text == "(" then
    html = "<msqrt>" .. select(2, self:group()) .. "</msqrt>"
  elseif token.kind == "name" then
    html, kind = name_of(token.text)
  end
  if self:take "~" then html = '<mover accent="true">' .. html .. "<mo>~</mo></mover>" end
  return html, html, kind
end

-- Parses the subscript and the superscript of an operand, whose MathML is `html`. Returns the MathML of all three, or
-- nil if there is neither a subscript nor a superscript. Limits of a sum are put below and above its sign.
function Reader:scripted(html, kind)
  local found = {}
  for _ = 1, 2 do
    local mark = self:take "_" and "_" or self:take "^" and "^"
    if mark then found[mark] = select(2, self:atom()) end
  end
  local below, above = found._, found["^"]
  if not below and not above then return nil end
  local tags = (kind == "large" or kind == "limit") and { "munder", "mover", "munderover" }
    or { "msub", "msup", "msubsup" }
  local tag = tags[below and above and 3 or above and 2 or 1]
  return ("<%s>%s%s%s</%s>"):format(tag, html, below or "", above or "", tag)
end

-- Parses an operand of a fraction with its subscript and superscript, and the arguments of a function. Returns its
-- MathML with and without round brackets, and the kind of a name (see `name_of`).
function Reader:operand()
  local is_name = (self.tokens[self.at] or {}).kind == "name"
  local html, bare, kind = self:atom()
  local scripted = self:scripted(html, kind)
  html, bare = scripted or html, scripted or bare
  local token = self.tokens[self.at]
  if not is_name or kind == "large" or not token or not token.near or token.text ~= "(" then return html, bare, kind end
  html = ("<mrow>%s%s</mrow>"):format(html, (self:group()))
  html = self:scripted(html) or html
  return html, html, "word"
end

-- Parses words in a row, such as "where less is better". A function, or a word with a subscript, superscript or
-- arguments, ends the row. Returns nil if there are fewer than two words.
function Reader:words()
  local words = {}
  for at = self.at, #self.tokens do
    local token, following = self.tokens[at], self.tokens[at + 1]
    local is_word = token.kind == "name" and #token.text > 1 and not functions[token.text] and not letters[token.text]
      and not large[token.text] and not operators[token.text]
      and not (following and (following.text:match "^[_^~]$" or following.text == "(" and following.near))
    if not is_word then break end
    words[#words + 1] = token.text
  end
  if #words < 2 then return nil end
  self.at = self.at + #words
  return "<mtext>" .. table.concat(words, " ") .. "</mtext>"
end

-- Parses words in a row, or an operand and the fractions that follow it. Returns the MathML, and the kind of a name
-- (see `name_of`).
function Reader:fraction()
  local words = self:words()
  if words then return words, "word" end
  local html, bare, kind = self:operand()
  while self:take "/" do
    local _, below = self:operand()
    html, kind = ("<mfrac>%s%s</mfrac>"):format(bare, below), nil
    bare = html
  end
  return html, kind
end

-- Parses the formula up to the closing bracket `close`, or up to its end, and returns the MathML.
function Reader:row(close)
  -- `before`: whether the item to the left is upright (a word or a limit); nil after an operator and at the beginning
  local items, before = {}, nil
  while self.tokens[self.at] and self.tokens[self.at].text ~= close do
    local mark = operators[self.tokens[self.at].text]
    if mark then
      items[#items + 1], before = ("<mo>%s</mo>"):format(escape(mark)), nil
      self.at = self.at + 1
    else
      local html, kind = self:fraction()
      local upright = kind == "word" or kind == "limit"
      if before ~= nil and (before or upright) then items[#items + 1] = '<mspace width="0.25em"></mspace>' end
      items[#items + 1], before = html, upright
    end
  end
  return row(items)
end

---Returns a formula as MathML. It is an error if a bracket or an operand is missing.
---@param text string    the formula without dollar signs
---@param block? boolean  whether the formula has a line of its own
---Example: `require "moonrank.manual.formula".html "x"   --> <math alttext="x"><mi>x</mi></math>`
function M.html(text, block)
  local reader = setmetatable({ text = text, tokens = tokens_of(text), at = 1 }, Reader)
  local html = reader:row(nil)
  return ('<math%s alttext="%s">%s</math>'):format(block and ' display="block"' or "", escape(text), html)
end

---Lua pattern of a formula between dollar signs. It stands on one line, has no code in backticks, and neither begins
---nor ends with a blank.
M.pattern = "%$([^%s$][^$`\n]*)%f[%s$]%$"

---Returns a text for the terminal: formulas without their dollar signs. Code between lines that begin with ``` stays as
---it is.
---Example: `require "moonrank.manual.formula".plain "R is $1 + x_i$."   --> R is 1 + x_i.`
function M.plain(text)
  local parts, from = {}, 1
  for first, last in text:gmatch "()%f[^\n\0]```.-\n```()" do
    parts[#parts + 1] = text:sub(from, first - 1):gsub(M.pattern, "%1")
    parts[#parts + 1], from = text:sub(first, last - 1), last
  end
  return table.concat(parts) .. text:sub(from):gsub(M.pattern, "%1")
end

return M
