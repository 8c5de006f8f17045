-- Runs what is typed at the prompt. Each typed text (chunk) is compiled here, and its top-level local variables remain
-- for later chunks. The local variables do not become globals, so `local table = ...` does not change Lua's `table`. A
-- constant (`<const>`) cannot be assigned, as in a script.
local lexer = require "moonrank.prompt.lexer"

local M = {}

local load = load  -- Lua's own `load`, even if a script replaces the global `load`
local opens, closes = lexer.opens, lexer.closes

local declared = {}  -- maps the name of each local variable of the session to "const" or "local"
local constants = setmetatable({}, { __index = _G })
-- maps each variable that the last typed text (chunk) declared to true if it is a constant, which `settle` moves to
-- `constants`
local fresh = {}
local scope = setmetatable({}, {
  __index = constants,
  __newindex = function(t, name, value)
    if declared[name] == "const" and not fresh[name] then
      error(("attempt to assign to const variable '%s'"):format(name), 2)
    end
    if declared[name] then rawset(t, name, value) else _G[name] = value end
  end,
})

-- Moves the constants that the last chunk declared into `constants`, where later chunks cannot assign them.
local function settle()
  for name, constant in pairs(fresh) do
    constants[name] = nil
    if constant then
      constants[name] = rawget(scope, name)
      rawset(scope, name, nil)
    end
  end
  fresh = {}
end

-- Parses a `local` statement. Returns its names, their attributes and the index after them; nil if incomplete.
local function declaration(tokens, i)
  local names, attributes = {}, {}
  repeat
    i = i + 1
    local name = tokens[i]
    if not name or name.kind ~= "name" then return nil end
    names[#names + 1] = name.text
    i = i + 1
    if tokens[i] and tokens[i].text == "<" then
      if not (tokens[i + 1] and tokens[i + 2] and tokens[i + 2].text == ">") then return nil end
      attributes[#attributes + 1] = { name = name.text, from = tokens[i].start, to = tokens[i + 2].stop,
        text = tokens[i + 1].text }
      i = i + 3
    end
  until not tokens[i] or tokens[i].text ~= ","
  return names, attributes, i
end

---Turns the top-level local declarations of a chunk into assignments. Returns the text with the same lines, the names,
---which of them are constants, and the first `<close>` variable, which would be closed at the end of the chunk.
---@return string, string[], table<string, boolean>
---@return { name: string, line: integer }?
function M.without_locals(text)
  local tokens, depth, names, parts, from = lexer.tokens(text), 0, {}, {}, 1
  local constant, closed = {}, nil
  local function replace(first, last, by)
    parts[#parts + 1] = text:sub(from, first - 1) .. by
    from = last + 1
  end
  for i, token in ipairs(tokens) do
    local word = token.kind == "name" and token.text
    if opens[word] then depth = depth + 1 elseif closes[word] then depth = depth - 1 end
    local called = word == "local" and depth == 0 and tokens[i + 1] and tokens[i + 1].text == "function"
      and tokens[i + 2]
    if called then
      names[#names + 1] = called.text
      constant[called.text] = nil
      replace(token.start, token.stop, " ")
    elseif word == "local" and depth == 0 then
      local own, attributes, after = declaration(tokens, i)
      local closing, other = nil, false
      for _, a in ipairs(attributes or {}) do
        closing = closing or a.text == "close" and a.name
        other = other or a.text ~= "const"
      end
      if closing and not closed then
        closed = { name = closing, line = select(2, text:sub(1, token.start):gsub("\n", "")) + 1 }
      end
      if own and not other then
        table.move(own, 1, #own, #names + 1, names)
        for _, name in ipairs(own) do constant[name] = nil end
        for _, a in ipairs(attributes) do constant[a.name] = true end
        replace(token.start, token.stop, " ")
        for _, a in ipairs(attributes) do replace(a.from, a.to, "") end
        if not tokens[after] or tokens[after].text ~= "=" then
          local last = tokens[after - 1].stop
          replace(last + 1, last, " = nil;")
        end
      end
    end
  end
  return table.concat(parts) .. text:sub(from), names, constant, closed
end

-- Returns code that declares the session's constants in a text, except those in `but`; it precedes the text.
local function declared_constants(text, but)
  local own, known = {}, {}
  for _, name in ipairs(but) do known[name] = true end
  for _, token in ipairs(lexer.tokens(text)) do
    if token.kind == "name" and declared[token.text] == "const" and not known[token.text] then
      known[token.text], own[#own + 1] = true, token.text
    end
  end
  if #own == 0 then return "" end
  return ("local %s <const> = %s; "):format(table.concat(own, " <const>, "), table.concat(own, ", "))
end

-- Returns "x = x + 1; x" with `return` before the expression after the last semicolon; nil for other texts.
local function with_last_shown(text, source)
  local depth, at = 0, nil
  for _, token in ipairs(lexer.tokens(text)) do
    local word = token.kind == "name" and token.text
    if opens[word] then depth = depth + 1 elseif closes[word] then depth = depth - 1 end
    if token.text == ";" and token.kind == "symbol" and depth == 0 then at = token.stop end
  end
  local shown = at and text:sub(1, at) .. " return " .. text:sub(at + 1)
  return shown and load(declared_constants(text, {}) .. shown, source, "t", scope) and shown or nil
end

-- Returns the error of a text that Lua takes for incomplete, although no further line can complete it: a quoted string
-- ends in its own line, and a colon of Python begins no block. Other errors are returned as they are.
local function settled_error(text, name, message)
  if not message:find "<eof>$" then return message end
  if message:find(": unfinished string near", 1, true) then
    return select(2, load(text .. "\n", "=" .. name, "t", scope)) or message
  end
  return require("moonrank.prompt.advice").python_block(text, name) or message
end

---Compiles typed text (an expression, statements, or statements, a semicolon and an expression) to a function that
---returns the expression's values. Returns nil and the error for wrong text, for an assignment to a constant, and for a
---`<close>` variable outside of every block.
---@param name? string  name of the text in error messages; default "stdin"
function M.compile(text, name)
  name = name or "stdin"
  local source = "=" .. name
  settle()
  local before = declared_constants(text, {})
  local chunk = load(before .. "return " .. text, source, "t", scope)
  if chunk then return chunk end
  local ok, message = load(before .. text, source, "t", scope)
  if not ok then
    local shown = with_last_shown(text, source)
    if not shown then
      require("moonrank.prompt.advice").note(text, name)
      return nil, settled_error(text, name, message)
    end
    text = shown
  end
  local statements, names, constant, closed = M.without_locals(text)
  if closed then
    return nil, ("%s:%d: '%s' would be closed at once, as each chunk at the prompt ends by itself: "
      .. "write do local %s <close> = ... end"):format(name, closed.line, closed.name, closed.name)
  end
  chunk, message = load(declared_constants(text, names) .. statements, source, "t", scope)
  if not chunk then return nil, message end
  return function()
    for _, each in ipairs(names) do
      declared[each] = constant[each] and "const" or "local"
      fresh[each] = constant[each] or false
    end
    return chunk()
  end
end

---Returns the value of a variable in the session: of the local variable with this name, or else of
---the global variable; nil if there is neither.
function M.value(name)
  settle()
  local value = rawget(scope, name)
  if value == nil then value = rawget(constants, name) end
  if value == nil then value = rawget(_G, name) end
  return value
end

---Returns the names of all local and global variables in the session.
function M.names()
  settle()
  local names = {}
  for name in next, scope do names[#names + 1] = name end
  for name in next, constants do names[#names + 1] = name end
  for name in next, _G do
    if type(name) == "string" and rawget(scope, name) == nil and rawget(constants, name) == nil then
      names[#names + 1] = name
    end
  end
  return names
end

return M
