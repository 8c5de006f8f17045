-- Features of the interactive prompt (REPL) beyond running Lua: printing of results, completion, `help`, `?name`,
-- `exit`.
local core = require "moonrank.core"
local session = require "moonrank.prompt.session"
local M = {}

local longest = 40  -- largest number of entries that are printed of a table

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

-- Returns the keys of a table other than the indices 1 to `after`, sorted by type and value: numbers before names.
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

-- Returns a table as text, one level deep, and on one line if it fits.
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

-- True if a table is a module of the library, such as mr or mr.losses.
local function is_part(t)
  for name, loaded in next, package.loaded do
    if rawequal(loaded, t) and name:match "^moonrank%f[.%z]" and name ~= "moonrank.core" then return true end
  end
  return false
end

-- Returns the full name of a method of a core class, such as "mr.Tensor:shape"; nil if the function is not such a
-- method.
local function method_name(f)
  for class, parts in pairs(core.classes) do
    for name, method in pairs(parts.methods) do
      if method == f then return class .. ":" .. name end
    end
  end
end

---Returns the text that the REPL prints for a value: a table one level deep, a module of the
---library by its documentation, any other value by tostring.
---@param value any
---@return string
---Example: `require "moonrank.prompt.repl".text{1, 2, name = "x"}   --> {1, 2, name = "x"}`
function M.text(value)
  if type(value) == "table" then
    if is_part(value) then return require("moonrank.help").of(value) end
    local meta = getmetatable(value)
    if meta == nil then return table_text(value) end
    if type(meta) == "table" and rawget(meta, "__tostring") == nil and rawget(meta, "__name") == nil then
      return table_text(value)
    end
  end
  local method = type(value) == "function" and method_name(value)
  if method then
    return ("%s, a method: x%s(...) calls it, ?%s describes it"):format(method, method:match ":.*", method)
  end
  return core.safe_text(tostring(value), true)
end

local reported = setmetatable({}, { __mode = "k" })  -- values that `report` has printed while the typed text runs
local leaving = false

-- Value of the globals `exit` and `quit`. Typing `exit` at the prompt, or calling it, ends the session.
local exit = setmetatable({}, { __name = "exit", __call = function() leaving = true end,
  __tostring = function() return "exit" end })

-- Value of the global `help`. help(value) prints the value's documentation; `help` alone prints the list of all names.
local help = setmetatable({}, { __name = "help", __call = function(_, value) require("moonrank.help").help(value) end,
  __tostring = function() return "help" end })

---Prints a value that the calling function also returns. The REPL then does not print the returned
---value again.
---@param value any
function M.report(value)
  print(value)
  reported[value] = true
end

---Prints the values that the typed text returned, except values that `report` has already printed.
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

---Returns true if the user has asked to end the session, by `exit` or `quit`.
---@return boolean
function M.is_leaving() return leaving end

-- Returns what `help` is called with for `?topic`: the value of a name, "mr.Class:method" for a method or field of an
-- object, or else the topic itself.
local function asked(topic)
  if topic == "" then return nil end
  local value_of = require("moonrank.prompt.completion").value_of
  local value = topic:match "^[%a_][%w_.]*$" and value_of(topic)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "userdata" then return value end
  local owner, member = topic:match "^([%a_][%w_.]*)([.:][%a_][%w_]*)$"
  local meta = owner and debug.getmetatable(value_of(owner))
  local class = type(meta) == "table" and rawget(meta, "__name")
  if class then return class .. member end
  return value or topic
end

---Compiles text typed at the prompt (an expression, statements, or `?name` for help), and returns a
---function that runs it. Returns nil and the error message if the text cannot be compiled.
---@param text string
---@return function?
---@return string?
---Example: `require "moonrank.prompt.repl".chunk("1 + 1")()   --> 2`
function M.chunk(text)
  reported = setmetatable({}, { __mode = "k" })
  local topic = text:match "^%s*%?%s*(.-)%s*$"
  if not topic then return session.compile(text) end
  return function()
    require("moonrank.help").help(asked(topic))
  end
end

local function complete(before) return require("moonrank.prompt.completion").complete(before) end

---Sets the globals `mr` and `help`, which the prompt and code run by `moonrank -e` have.
function M.preset()
  rawset(_G, "mr", require "moonrank")
  rawset(_G, "help", help)
end

---Begins a session at the prompt: sets the session's globals, and prints the first line on a
---terminal. Returns the functions that the program calls for each typed line.
---@return fun(text: string): function?, string?  compiles typed text; returns a function, or nil and the error
---@return fun(before: string): integer, string[]  completes the text left of the cursor; returns where its last
---                                                 word begins, and the words that may stand there
---@return fun(): boolean                          returns true if the session ends
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
