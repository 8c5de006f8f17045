-- Features of the REPL beyond running Lua: results printed for people, completion, `help`, `?name`,
-- `exit`.
local core = require "moonrank.core"
local session = require "moonrank.session"
local M = {}

local longest = 40  -- entries of a table that are shown

-- A string as it would be typed, on one line.
local function quoted(text) return core.safe_text((("%q"):format(text):gsub("\\\n", "\\n"))) end

local function key_text(key)
  if type(key) == "string" and key:match "^[%a_][%w_]*$" then return key end
  return "[" .. (type(key) == "string" and quoted(key) or core.safe_text(tostring(key))) .. "]"
end

local function entry_text(value)
  if type(value) == "string" then return quoted(value) end
  if type(value) == "table" and not getmetatable(value) then
    return next(value) == nil and "{}" or #value > 0 and ("{... %d entries}"):format(#value) or "{...}"
  end
  return core.safe_text((tostring(value):gsub("\n%s*", " ")))
end

-- By kind, then by value: numbers before names.
local function sorted_keys(t, after)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= after) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- One level of a table: on one line where it fits.
local function table_text(t)
  local parts, count = {}, 0
  local function add(text)
    count = count + 1
    if count <= longest then parts[count] = text end
  end
  for _, value in ipairs(t) do add(entry_text(value)) end
  for _, key in ipairs(sorted_keys(t, #t)) do add(key_text(key) .. " = " .. entry_text(rawget(t, key))) end
  if count > longest then parts[longest + 1] = ("... (%d more)"):format(count - longest) end
  local line = "{" .. table.concat(parts, ", ") .. "}"
  if #line <= 100 then return line end
  return "{\n  " .. table.concat(parts, ",\n  ") .. "\n}"
end

-- True if a table is a module of the library, as mr and mr.losses are.
local function is_part(t)
  for name, loaded in next, package.loaded do
    if rawequal(loaded, t) and name:match "^moonrank%f[.%z]" and name ~= "moonrank.core" then return true end
  end
  return false
end

-- The name of a method of the core's objects, as "mr.Tensor:shape"; nil of other functions.
local function method_name(f)
  for class, parts in pairs(core.classes) do
    for name, method in pairs(parts.methods) do
      if method == f then return class .. ":" .. name end
    end
  end
end

---How the REPL shows a value: tables one level deep, a part of the library by its contents, everything else through `tostring`.
---@param value any
---@return string
---Example: `require "moonrank.repl".text{1, 2, name = "x"}   --> {1, 2, name = "x"}`
function M.text(value)
  if type(value) == "table" then
    if is_part(value) then return require("moonrank.help").of(value) end
    local meta = getmetatable(value)
    if meta == nil then return table_text(value) end
    if type(meta) == "table" and rawget(meta, "__tostring") == nil and rawget(meta, "__name") == nil then return table_text(value) end
  end
  local method = type(value) == "function" and method_name(value)
  if method then
    return ("%s, a method: x%s(...) calls it, ?%s describes it"):format(method, method:match ":.*", method)
  end
  return core.safe_text(tostring(value), true)
end

local reported = setmetatable({}, { __mode = "k" })  -- what the chunk that runs has printed by itself
local leaving = false

-- `exit` and `exit()`, `quit` and `quit()`, end a session.
local exit = setmetatable({}, { __name = "exit", __call = function() leaving = true end, __tostring = function() return "exit" end })

-- `help(value)` prints documentation, and `help` alone the list of all.
local help = setmetatable({}, { __name = "help", __call = function(_, value) require("moonrank.help").help(value) end,
  __tostring = function() return "help" end })

---Prints a value that a function also returns, which the REPL then does not print again.
---@param value any
function M.report(value)
  print(value)
  reported[value] = true
end

---Prints the results of what was typed, but for reports that are on the screen already.
---@param ... any
function M.print(...)
  local values, texts = table.pack(...), {}
  for i = 1, values.n do
    local value = values[i]
    if rawequal(value, exit) then leaving = true
    elseif rawequal(value, help) then help()
    elseif value == nil or not reported[value] then texts[#texts + 1] = M.text(value) end
  end
  if #texts > 0 then io.stdout:write(table.concat(texts, "\t"), "\n") end
end

---True if the session was told to end.
---@return boolean
function M.is_leaving() return leaving end

-- The argument of `help` for `?topic`: the value of a name, or for a field or method of a value
-- with a class, its name in that class.
local function asked(topic)
  if topic == "" then return nil end
  local value_of = require("moonrank.completion").value_of
  local value = topic:match "^[%a_][%w_.]*$" and value_of(topic)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "userdata" then return value end
  local owner, member = topic:match "^([%a_][%w_.]*)([.:][%a_][%w_]*)$"
  local meta = owner and debug.getmetatable(value_of(owner))
  local class = type(meta) == "table" and rawget(meta, "__name")
  if class then return class .. member end
  return value or topic
end

---Compiles typed text to a function: an expression, statements, or `?name`. nil and the message if
---it is none of these.
---@param text string
---@return function?
---@return string?
---Example: `require "moonrank.repl".chunk("1 + 1")()   --> 2`
function M.chunk(text)
  reported = setmetatable({}, { __mode = "k" })
  local topic = text:match "^%s*%?%s*(.-)%s*$"
  if not topic then return session.compile(text) end
  return function()
    require("moonrank.help").help(asked(topic))
  end
end

-- Completions of the text left of the cursor.
local function complete(before) return require("moonrank.completion").complete(before) end

---Sets the globals of a session and of `-e`: `mr` and `help`.
function M.preset()
  rawset(_G, "mr", require "moonrank")
  rawset(_G, "help", help)
end

---Begins a session. Returns what it calls for each line.
---@return fun(text: string): function?, string?  what was typed, as a function
---@return fun(before: string): integer, string[]  what may follow it
---@return fun(): boolean                          whether to leave
function M.enter()
  M.preset()
  rawset(_G, "exit", exit)
  rawset(_G, "quit", exit)
  if core.is_terminal(0) then
    print(("Moonrank %s  help(mr)  ?ndcg  TAB completes  exit"):format(core.version()))
  end
  return M.chunk, complete, M.is_leaving
end

return M
