-- A session at the prompt: each chunk that is typed is compiled here, and its locals last. A `local` outside of every block makes a name of the
-- session, which later chunks see and change; it never becomes a global, so that `local table = ...` leaves the library's `table` alone.
local lexer = require "moonrank.lexer"

local M = {}

local load = load  -- also where a script puts something else in its place
local opens = { ["do"] = true, ["if"] = true, ["function"] = true, ["repeat"] = true }
local closes = { ["end"] = true, ["until"] = true }

local declared = {}
local scope = setmetatable({}, {
  __index = _G,
  __newindex = function(t, name, value)
    if declared[name] then rawset(t, name, value) else _G[name] = value end
  end,
})

-- The names that a `local` declares, its attributes, and the index of the token after them; nil where it is no whole declaration.
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
      attributes[#attributes + 1] = { from = tokens[i].start, to = tokens[i + 2].stop, text = tokens[i + 1].text }
      i = i + 3
    end
  until not tokens[i] or tokens[i].text ~= ","
  return names, attributes, i
end

---A chunk whose declarations outside of every block are assignments, and the names in them. Lines stay where they are. What is to be closed
---(`<close>`) stays local, and is closed when the chunk ends; a constant (`<const>`) may be changed by later chunks.
---@param text string
---@return string
---@return string[]
---Example: `require "moonrank.session".without_locals("f() local x, y = 1, 2")   --> f() x, y = 1, 2, {"x", "y"}`
function M.without_locals(text)
  local tokens, depth, names, parts, from = lexer.tokens(text), 0, {}, {}, 1
  local function replace(first, last, by)
    parts[#parts + 1] = text:sub(from, first - 1) .. by
    from = last + 1
  end
  for i, token in ipairs(tokens) do
    local word = token.kind == "name" and token.text
    if opens[word] then depth = depth + 1 elseif closes[word] then depth = depth - 1 end
    local called = word == "local" and depth == 0 and tokens[i + 1] and tokens[i + 1].text == "function" and tokens[i + 2]
    if called then
      names[#names + 1] = called.text
      replace(token.start, token.stop, " ")
    elseif word == "local" and depth == 0 then
      local own, attributes, after = declaration(tokens, i)
      local closing = false
      for _, a in ipairs(attributes or {}) do closing = closing or a.text ~= "const" end
      if own and not closing then
        table.move(own, 1, #own, #names + 1, names)
        replace(token.start, token.stop, " ")
        for _, a in ipairs(attributes) do replace(a.from, a.to, "") end
        if not tokens[after] or tokens[after].text ~= "=" then
          local last = tokens[after - 1].stop
          replace(last + 1, last, " = nil;")
        end
      end
    end
  end
  return table.concat(parts) .. text:sub(from), names
end

---What was typed as a function: an expression, or statements. nil and the message where it is neither.
---@param text string
---@return function?
---@return string?
function M.compile(text)
  local statements, names = M.without_locals(text)
  local chunk = load("return " .. statements, "=stdin", "t", scope)
  local message
  if not chunk then chunk, message = load(statements, "=stdin", "t", scope) end
  if not chunk then return nil, message end
  return function()
    for _, name in ipairs(names) do declared[name] = true end
    return chunk()
  end
end

---The value of a name of the session: its local, else its global.
---@param name string
---@return any
function M.value(name)
  local value = rawget(scope, name)
  if value == nil then value = rawget(_G, name) end
  return value
end

---The names of the session: its locals and the globals.
---@return string[]
function M.names()
  local names = {}
  for name in next, scope do names[#names + 1] = name end
  for name in next, _G do
    if type(name) == "string" and rawget(scope, name) == nil then names[#names + 1] = name end
  end
  return names
end

return M
