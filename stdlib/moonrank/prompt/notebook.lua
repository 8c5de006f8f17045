-- Runs the cells of a Jupyter notebook. The kernel (python/moonrank/kernel.py) calls these functions through
-- stdlib/moonrank/system/bridge.lua. A cell runs like text typed at the prompt. If it ends with an expression on a line
-- of its own, the expression's values are shown.
local advice = require "moonrank.prompt.advice"
local check = require "moonrank.check"
local core = require "moonrank.core"
local lexer = require "moonrank.prompt.lexer"
local repl = require "moonrank.prompt.repl"

local M = {}

---Sets the globals of the prompt, such as `mr` and `help`, and makes output appear at once.
function M.begin()
  repl.enter()
  io.stdout:setvbuf "no"
end

local opens, closes = lexer.opens, lexer.closes
local begins_expression = { name = true, number = true }

-- Returns the positions of lines that begin with a name or a number, outside of every block. A line that begins
-- otherwise, e.g. with "(", may continue the line before.
local function starts_of_lines(text)
  local starts, depth, after = {}, 0, 0
  for _, token in ipairs(lexer.tokens(text)) do
    local is_first = text:sub(after + 1, token.start - 1):find "\n"
    if depth == 0 and is_first and (begins_expression[token.kind] or token.text == "#") then
      starts[#starts + 1] = token.start
    end
    local word = token.kind == "name" and token.text
    if opens[word] then depth = depth + 1 elseif closes[word] then depth = depth - 1 end
    after = token.stop
  end
  return starts
end

-- Returns a function that runs a cell, or nil and the error message.
local function compiled(code, name)
  if code:match "^%s*%?" then return repl.chunk(code, name) end
  local starts = load("return " .. code, "=" .. name, "t") and {} or starts_of_lines(code)
  for i = #starts, 1, -1 do
    local shown = code:sub(1, starts[i] - 1) .. "return " .. code:sub(starts[i])
    if load(shown, "=" .. name, "t") then return repl.chunk(shown, name) end
  end
  return repl.chunk(code, name)
end

local most_lines <const> = 10  -- of an error; reading the whole traceback of a stack overflow takes quadratic time

-- Handles an error of a cell: returns the error message with advice, followed by the lines of cells in the traceback.
local function explained(problem)
  local text = advice.add(type(problem) == "string" and problem or tostring(problem))
  if text == "interrupted" then return text end
  local lines, level = { text }, 2
  repeat
    local frame = debug.getinfo(level, "Sl")
    local is_cell = frame and frame.what ~= "C" and frame.source:sub(1, 8) ~= "@stdlib/"
    if is_cell then lines[#lines + 1] = ("  %s:%d"):format(frame.short_src, frame.currentline) end
    level = level + 1
  until not frame or #lines == most_lines
  return table.concat(lines, "\n")
end

-- Returns what an object's method `name` returns; nil for a value without the method.
local function made_by(name, value)
  local method = type(debug.getmetatable(value)) == "table" and check.field(value, name)
  return type(method) == "function" and method(value) or nil
end

-- Returns a value as text, and as HTML (tables) or SVG (figures), or the reason why there is no picture.
local function bundle_of(value)
  local bundle = { text = repl.text(value) }
  for format, method in pairs{ html = "to_html", svg = "to_svg" } do
    local ok, found = check.attempt(made_by, method, value)
    if ok then bundle[format] = found
    else bundle.text = ("%s\n%s"):format(bundle.text, core.safe_text(tostring(found), true)) end
  end
  return bundle
end

---Runs a cell, and returns its values as the notebook shows them, or none if the cell ends with a semicolon. Several
---values share a line if no value is a table of results or a figure. Errors of the cell are raised, with advice.
---@param t { code: string, name: string }  the cell, and its name in error messages
---@return { outputs: table[], leaving: boolean }  leaving: whether the cell asked to end the session, by `exit`
function M.cell(t)
  local chunk, problem = compiled(t.code, t.name)
  if not chunk then error(advice.add(problem), 0) end
  local found = table.pack(xpcall(chunk, explained))
  if not found[1] then error(found[2], 0) end
  io.stdout:flush()
  local outputs, texts, is_rich = {}, {}, false
  for i = 2, t.code:find ";%s*$" and 1 or found.n do
    local bundle = repl.is_shown(found[i]) and bundle_of(found[i])
    if bundle then
      outputs[#outputs + 1], texts[#texts + 1] = bundle, bundle.text
      is_rich = is_rich or bundle.html or bundle.svg
    end
  end
  if #outputs > 1 and not is_rich then outputs = { { text = table.concat(texts, "\t") } } end
  return { outputs = outputs, leaving = repl.is_leaving() }
end

---Returns the completions at the end of a text, like TAB at the prompt.
---@param t { code: string }  the text left of the cursor
---@return { start: integer, words: string[] }
---Example: `require("moonrank.prompt.notebook").complete{code = "string.rev"}.words[1]   --> reverse`
function M.complete(t)
  local start, words = require("moonrank.prompt.completion").complete(t.code)
  return { start = start, words = words }
end

---Returns the documentation of the name at the cursor or, within a call, of the called function.
---`found` is false if there is none.
---@param t { before: string, after: string }  the text left and right of the cursor
---@return { found: boolean, text: string? }
---Example: `require("moonrank.prompt.notebook").inspect{before = "mr.has", after = "_cuda()"}.found   --> true`
function M.inspect(t)
  local topic = t.before:match "[%a_][%w_.:]*$" or ""
  topic = topic .. (topic ~= "" and t.after:match "^[%w_]*" or "")
  if topic == "" then topic = t.before:match "([%a_][%w_.:]*)%s*[({][^(){}]*$" or "" end
  if topic == "" then return { found = false } end
  local ok, text = check.attempt(function() return require("moonrank.help").of(repl.asked(topic)) end)
  return { found = ok, text = ok and text or nil }
end

---Returns whether a cell is "complete", "incomplete" or "invalid". The cell is not run.
---@param t { code: string }
---Example: `require("moonrank.prompt.notebook").state_of{code = "for i = 1, 3 do"}   --> incomplete`
function M.state_of(t)
  local chunk, problem = compiled(t.code, "cell")
  if chunk then return "complete" end
  return problem:find "<eof>$" and "incomplete" or "invalid"
end

return M
