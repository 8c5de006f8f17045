-- Finds the completions that TAB offers at the prompt: names, methods, options of a call, paths, and strings such as
-- names of metrics and choices of an option.
local bounds = require "moonrank.bounds.registry"
local check = require "moonrank.check"
local core = require "moonrank.core"
local docs = require "moonrank.help.docs"
local lexer = require "moonrank.prompt.lexer"
local metrics = require "moonrank.metrics.registry"
local session = require "moonrank.prompt.session"

local M = {}

-- Returns the names of a value's fields and methods, without calling functions that the user wrote.
local function members(value)
  local found, seen = {}, {}
  local function add(name, is_function)
    if type(name) == "string" and name:match "^[%a][%w_]*$" then
      found[name] = found[name] or (is_function and "function" or "field")
    end
  end
  local function add_table(t)
    if type(t) ~= "table" or seen[t] then return end
    seen[t] = true
    for name, entry in next, t do
      local getter = type(name) == "string" and name:match "^get_(.+)$"
      add(getter or name, not getter and type(entry) == "function")
    end
  end
  if value == require("moonrank") then
    for _, name in ipairs(value.names()) do add(name) end
  end
  if type(value) == "table" then add_table(value) end
  local meta = debug.getmetatable(value)
  for _ = 1, 10 do
    if type(meta) ~= "table" then break end
    local class = core.classes[rawget(meta, "__name")]
    if class and rawequal(class.meta, meta) then
      for name in next, class.methods do add(name, true) end
      for name in next, class.getters do add(name) end
    end
    local index = rawget(meta, "__index")
    -- A class of the library that is written in Lua (by check.class) has a function as __index and its methods as
    -- fields of the metatable. A class of the C++ core has its methods in `class.methods`.
    if type(index) == "function" and rawget(meta, "__name") then index = meta end
    add_table(index)
    meta = type(index) == "table" and debug.getmetatable(index) or nil
  end
  return found
end

---Returns the value of a path such as `a.b` at the prompt; nil if the path does not exist, or if
---reading it would call a function.
---Example: `require "moonrank.prompt.completion".value_of("string.rep") == string.rep   --> true`
function M.value_of(path)
  local value, first = nil, true
  for name in path:gmatch "[%w_]+" do
    if first then
      value, first = session.value(name), false
    elseif value == require("moonrank") then
      local ok, field = check.attempt(function() return value[name] end)
      if ok then value = field else value = nil end
    elseif type(value) == "table" then
      value = rawget(value, name)
    else
      value = nil
    end
    if value == nil then return nil end
  end
  return value
end

-- Returns the brackets that are not closed at the end of the typed text. For each bracket: the index of its token, the
-- number of the value that is being typed in it, the key of that value, and all keys typed in it so far.
local function open_brackets(tokens)
  local frames = {}
  for i, token in ipairs(tokens) do
    local top, text = frames[#frames], token.kind ~= "string" and token.text
    if text == "(" or text == "{" or text == "[" then
      frames[#frames + 1] = { at = i, kind = text, place = 1, keys = {} }
    elseif text == ")" or text == "}" or text == "]" then
      frames[#frames] = nil
    elseif top and (text == "," or text == ";") then
      top.place, top.key = top.place + 1, nil
    elseif top and text == "=" and top.kind == "{" and tokens[i - 2] and tokens[i - 2].text:match "^[{,;]$" then
      top.key = tokens[i - 1].text
      top.keys[top.key] = true
    end
  end
  return frames
end

-- Returns the documentation of a method of this name in any class: the class is known only by running the text.
local function method(name)
  for _, source in ipairs(docs.sources()) do
    for _, item in ipairs(docs.of_source(source).items) do
      if item.separator == ":" and item.name == name then return item end
    end
  end
end

-- Returns the documentation of the function whose name ends at the token with index `at`; nil if it is not known.
local function callee(tokens, at)
  local token = tokens[at]
  if not token or token.kind ~= "name" then return nil end
  if tokens[at - 1] and tokens[at - 1].text == ":" then return method(token.text) end
  local path = token.text
  while tokens[at - 1] and tokens[at - 1].text == "." and tokens[at - 2] do
    at = at - 2
    path = tokens[at].text .. "." .. path
  end
  local value = M.value_of(path)
  return type(value) == "function" and docs.item(value) or nil
end

-- Returns the fields of a LuaCATS type such as {a: integer}, or the options of an option table.
local function option_fields(kind)
  local inside = kind:match "^%s*(%b{})"
  local found = {}
  if inside then
    for name, at in inside:gmatch "([%a_][%w_]*)%??:()" do
      local level = select(2, inside:sub(1, at):gsub("[{(]", "")) - select(2, inside:sub(1, at):gsub("[})]", ""))
      if level == 1 then found[#found + 1] = { name = name, type = inside:sub(at):match "^%s*([^,}]*)" } end
    end
    return found
  end
  for name in kind:gsub("fun%b()", ""):gmatch "mr%.[%w_.]+" do
    if name:match "Options$" or not name:match "^mr%.%u" then
      local more = docs.fields(name) or {}
      table.move(more, 1, #more, #found + 1, found)
    end
  end
  return found
end

local type_at

-- Returns the LuaCATS type of the table that begins at the n-th open bracket, or nil if it is not known.
local function table_type(tokens, frames, n)
  local before = tokens[frames[n].at - 1]
  if before and before.kind == "name" and before.text ~= "return" then
    local item = callee(tokens, frames[n].at - 1)
    for _, p in ipairs(item and item.params or {}) do
      if #option_fields(p.type) > 0 then return p.type end
    end
    return item and item.params[1] and item.params[1].type
  end
  return n > 1 and type_at(tokens, frames, n - 1) or nil
end

-- Returns the LuaCATS type and the name of the argument or option whose value is being typed in the n-th open bracket.
function type_at(tokens, frames, n)
  local frame = frames[n]
  if not frame then return nil end
  if frame.kind == "(" then
    local item = callee(tokens, frame.at - 1)
    local p = item and item.params[frame.place]
    return p and p.type, p and p.name
  end
  local kind = frame.kind == "{" and table_type(tokens, frames, n)
  if not kind then return nil, frame.key end
  if not frame.key then return (kind:gsub("%[%]%s*$", "")), nil end
  for _, field in ipairs(option_fields(kind)) do
    if field.name == frame.key then return field.type, frame.key end
  end
  return nil, frame.key
end

-- Returns the options that the innermost open table does not have yet, where a key can be typed.
local function option_names(tokens)
  local frames = open_brackets(tokens)
  local frame = frames[#frames]
  if not frame or frame.kind ~= "{" or not tokens[#tokens].text:match "^[{,;]$" then return {} end
  local kind, names = table_type(tokens, frames, #frames), {}
  for _, field in ipairs(kind and option_fields(kind) or {}) do
    if not frame.keys[field.name] then names[#names + 1] = field.name end
  end
  return names
end

local function paths(word)
  local folder = word:match "^(.*/)" or ""
  local names = {}
  for _, name in ipairs(core.list_folder(folder == "" and "." or folder)) do
    local hidden = name:sub(1, 1) == "." and word:sub(#folder + 1, #folder + 1) ~= "."
    if not hidden and core.safe_text(name) == name and not name:find "[\"'\\]" then
      names[#names + 1] = folder .. name
    end
  end
  return names
end

-- Returns completions of a string that is typed after these tokens: names of bounds or metrics, the choices of an
-- option, or else paths of files.
local function strings(tokens, word)
  local frames = open_brackets(tokens)
  local last = tokens[#tokens]
  local kind, name
  if last and last.kind == "name" then
    local item = callee(tokens, #tokens)
    local p = item and item.params[1]
    kind, name = p and p.type, p and p.name
  else
    kind, name = type_at(tokens, frames, #frames)
  end
  kind, name = kind or "", name or ""
  local _ = require("moonrank").bounds  -- loading the module mr.bounds registers the built-in bounds
  local found = {}
  if kind:find "mr%.Bound%f[^%w.]" or name == "bound" then table.move(bounds.names(), 1, #bounds.names(), 1, found) end
  if kind:find "mr%.Metric%f[^%w.]" or name == "metric" or name == "metrics" then
    table.move(metrics.names(), 1, #metrics.names(), #found + 1, found)
  end
  for choice in kind:gmatch '"([^"]*)"' do found[#found + 1] = choice end
  return #found > 0 and found or paths(word)
end

-- Returns names for the word being typed: members, options of a call, or keywords and names of the session.
local function word_names(before, tokens, word)
  local path, separator = before:match "([%a_][%w_.]*)([.:])[%w_]*$"
  if path then
    local value, names = M.value_of(path), {}
    if value == nil then return {} end
    for name, kind in pairs(members(value)) do
      if separator == "." or kind == "function" then names[#names + 1] = name end
    end
    return names
  end
  if before:sub(-#word - 1, -#word - 1):match "[.:]" then return {} end
  if word ~= "" then tokens[#tokens] = nil end
  local options = #tokens > 0 and option_names(tokens) or {}
  for _, name in ipairs(options) do
    if name:sub(1, #word) == word then return options end
  end
  local names = session.names()
  table.move(lexer.keywords, 1, #lexer.keywords, #names + 1, names)
  return names
end

---Returns the completions that TAB offers for the text left of the cursor.
---@return integer start   position in `before` at which the word being completed begins
---@return string[] words  candidates for that whole word, sorted
---Example: `select(2, require "moonrank.prompt.completion".complete("x = string.rev"))[1]   --> reverse`
function M.complete(before)
  local tokens = lexer.tokens(before)
  local last = tokens[#tokens]
  local names, word
  if last and last.kind == "open" then
    if not last.text:match "^[\"']" then return #before + 1, {} end
    word = last.text:sub(2)
    tokens[#tokens] = nil
    names = strings(tokens, word)
  else
    word = last and last.kind == "name" and last.stop == #before and last.text or ""
    names = word_names(before, tokens, word)
  end
  local words = {}
  for _, name in ipairs(names) do
    if name:sub(1, #word) == word and name ~= words[#words] then words[#words + 1] = name end
  end
  table.sort(words)
  return #before - #word + 1, words
end

return M
