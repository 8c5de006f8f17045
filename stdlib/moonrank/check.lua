-- Checks of arguments, and the errors that they raise. An error names the script's line, not the library's.
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- Lua's getmetatable does not return those of tensors and lists
local M = {}

-- Returns the level for `error` in the calling function, so that the error has the position of the first function
-- outside the standard library.
local function script_level()
  local level = 2
  while true do
    local frame = debug.getinfo(level, "S")
    if not frame then return 0 end
    if frame.source:sub(1, 8) ~= "@stdlib/" and frame.what ~= "C" then return level - 1 end
    level = level + 1
  end
end

---Raises `message` with the position of the script that called into the library.
---@param message string
---@param ... any  arguments of string.format
function M.fail(message, ...)
  local text = select("#", ...) > 0 and message:format(...) or message
  error(text, script_level())
end

---Returns the text of an error, without its position and the name of the function that raised it.
---@param message any
---@return string
---Example: `require("moonrank.check").reason("x.lua:3: load: no tensor 'a'")   --> no tensor 'a'`
function M.reason(message) return (tostring(message):gsub("^[^\n]-:%d+: ", ""):gsub("^[%a_][%w_]*: ", "")) end

---Returns the text of an error that the library raises again. The error keeps its position if that
---is outside the library, e.g. in a function of a script.
---@param message any
---@return string
function M.retold(message)
  local _, here = pcall(M.fail, "")
  local text = tostring(message)
  local at = text:match "^[^\n]-:%d+: "
  return at and at ~= here and at:sub(1, 7) ~= "stdlib/" and text or M.reason(text)
end

---Raises an error if a text is not UTF-8, which JSON files cannot hold.
---@param where string
---@param what string
---@param text string
function M.utf8(where, what, text)
  if utf8.len(text) then return end
  M.fail("%s: %s is '%s', which is not UTF-8. Convert the text, for example with iconv", where, what, core.safe_text(text))
end

---Prints a warning on standard error.
---@param text string
function M.warn(text) io.stderr:write(core.safe_text(text, true), "\n") end

---Returns a text without the blanks at its end. It takes linear time; a pattern may take quadratic time.
---@param text string
---@return string
---Example: `#require("moonrank.check").without_end_blanks("a b  ")   --> 3`
function M.without_end_blanks(text)
  local last = #text
  while last > 0 and text:byte(last) == 32 do last = last - 1 end
  return text:sub(1, last)
end

---Returns the kind of a value for messages: the name of its class, else its Lua type.
---@param value any
---@return string
---Example: `require("moonrank.check").kind(mr.ones(2))   --> mr.Tensor`
function M.kind(value)
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name ~= "" and name or type(value)
end

---Raises an error if `tensors` is not a table.
---@param where string
---@param tensors any
function M.tensors(where, tensors)
  if type(tensors) == "table" then return end
  local found = tensors == nil and "nil" or "a " .. M.kind(tensors)
  M.fail("%s: tensors is %s, expected a list: %s({x, y}, dim)", where, found, where)
end

---Raises an error if `f` is not a function.
---@param where string
---@param f any
function M.runs(where, f)
  if type(f) == "function" then return end
  local found = f == nil and "nil" or "a " .. M.kind(f)
  M.fail("%s: f is %s, expected a function: %s(function() ... end)", where, found, where)
end

---Returns the name in `known` that is closest to `name`, or nil if none is close.
---@param name string
---@param known string[]
---@return string?
---Example: `require("moonrank.check").nearest("minmx", {"none", "minmax"})   --> minmax`
function M.nearest(name, known) return core.nearest_name(tostring(name), known) end

-- Returns a name in lower case, without underscores and without "loss" at its end.
local function folded(name) return (name:lower():gsub("_", ""):gsub("^(.+)loss$", "%1")) end

---Returns what to write instead of a name that other libraries or beginners in Lua use; nil if there
---is no advice.
---@param place string  "mr.Tensor", "mr.losses", "metric"
---@param name any      a number is looked up as "[]", any other index as "[...]"
---@return string?
---Example: `require("moonrank.check").other_name("mr.Tensor", "log1p")   --> (1 + x):log()`
function M.other_name(place, name)
  local others = require("moonrank.help.other_names")[place]
  if not others then return nil end
  if type(name) == "number" then return others["[]"] end
  if type(name) ~= "string" or not name:match "^[%w_]+$" then return others["[...]"] end
  if others[name] then return others[name] end
  local wanted = folded(name)
  for each, text in next, others do
    if folded(each) == wanted then return text end
  end
end

---Raises an error because there is no `what` of this name. The error says what to write instead, or offers the nearest
---name and lists all.
---@param what string
---@param name any
---@param known string[]
function M.unknown(what, name, known)
  table.sort(known)
  if what:find "^option of " and math.type(name) == "integer" then
    M.fail("unknown %s: '%d'. There are: %s. Value %d of the table has no name: write name = value", what, name,
      table.concat(known, ", "), name)
  end
  local other = M.other_name((what:gsub("^field of ", "")), name)
  if other then M.fail("unknown %s: '%s'; write %s", what, tostring(name), other) end
  local near = M.nearest(name, known)
  M.fail("unknown %s: '%s'%s There are: %s", what, tostring(name), near and (", did you mean '%s'?"):format(near) or ".",
    table.concat(known, ", "))
end

---Returns the keys of a table, sorted.
---@param t table<string, any>
---@return string[]
---Example: `table.concat(require("moonrank.check").names({b = 1, a = 2}), " ")   --> a b`
function M.names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

---Returns true if the value is a tensor.
---@param value any
---Example: `require("moonrank.check").is_tensor({1, 2})   --> false`
function M.is_tensor(value)
  return type(value) == "userdata" and debug.getmetatable(value) == core.classes["mr.Tensor"].meta
end

---Returns true if the value is an mr.Lists object.
---@param value any
---Example: `require("moonrank.check").is_lists({{1, 0}})   --> false`
function M.is_lists(value)
  return type(value) == "userdata" and debug.getmetatable(value) == core.classes["mr.Lists"].meta
end

-- True for errors that are not about the call that was tried: Ctrl-C and lack of memory.
local function from_elsewhere(message)
  if type(message) ~= "string" then return false end
  return message == "interrupted" or message:find "memory$" or message:find("out of memory: ", 1, true)
end

local function unless_from_elsewhere(ok, message, ...)
  if not ok and from_elsewhere(message) then error(message, 0) end
  return ok, message, ...
end

---Calls a function like pcall, but raises Ctrl-C and lack of memory again. Otherwise the caller would take them for a
---failure of the function.
---@param f function
---@return boolean ok
---@return any  what f returned, or the error
---Example: `require("moonrank.check").attempt(error, "no", 0)   --> false, no`
function M.attempt(f, ...) return unless_from_elsewhere(pcall(f, ...)) end

---Returns a field or method of an object, which may be of a script's class; nil if the object lacks it, or if reading
---it raises an error.
---@param of any
---@param name string
---@return any
---Example: `require("moonrank.check").field(mr.losses.ap(), "nosuch")   --> nil`
function M.field(of, name)
  local ok, value = M.attempt(function() return of[name] end)
  return ok and value or nil
end

---Raises an error if a list also has named fields, which would be ignored.
---@param where string
---@param name string
---@param sequence table
---@param form? string  what to write instead
function M.sequence(where, name, sequence, form)
  local n = #sequence
  for key in next, sequence do
    if math.type(key) ~= "integer" or key < 1 or key > n then
      M.fail("%s: %s has the field '%s' beside its elements; %s", where, name, core.safe_text(tostring(key)),
        form or "expected elements alone")
    end
  end
end

---Returns true if the value is a number that is neither NaN nor infinite.
function M.is_finite(value) return type(value) == "number" and value - value == 0 end

---Returns true for {lowest, highest}: two numbers in ascending order, of at most `largest` in absolute value.
---@param range any[]
---@param largest number
---@return boolean
---Example: `require("moonrank.check").is_range({1, 0}, 1e100)   --> false`
function M.is_range(range, largest)
  local low, high = range[1], range[2]
  return #range == 2 and type(low) == "number" and type(high) == "number" and -largest <= low and low < high and high <= largest
end

---Raises an error unless `value` is one of `choices`. The error offers the nearest choice and lists all.
---@param where string    function name for messages
---@param name string     name of the option
---@param value any
---@param choices string[]
---@return any value
---Example: `require("moonrank.check").choice("f", "ties", "mean", {"mean", "worst"})   --> mean`
function M.choice(where, name, value, choices)
  for _, each in ipairs(choices) do
    if value == each then return value end
  end
  local known = { table.unpack(choices) }
  table.sort(known)
  local near = M.nearest(value, known)
  local found = (type(value) == "string" and "'%s'" or "%s"):format(tostring(value))
  local hint = near and (" (did you mean '%s'?)"):format(near) or ""
  M.fail("%s: %s is %s%s, expected one of: %s", where, name, found, hint, table.concat(known, ", "))
end

local inner = setmetatable({}, { __mode = "k" })  -- original functions, by the wrappers that `exact` made

-- Advice in errors about surplus arguments, by the name of the method that received them.
local to_file = '; a file gets the text by io.open("file", "w"):write(x:%s()):close()'
local instead = { to_csv = to_file, to_json = to_file, to_latex = to_file, to_markdown = to_file, to_html = to_file,
  requires_grad = "; a tensor without gradients is x:detach()" }

-- Raises an error if an argument after the first `most` is given. Surplus nils are accepted, because they have no
-- effect.
local function refuse_surplus(name, f, most, ...)
  local parameters = {}
  for i = 1, most do parameters[i] = debug.getlocal(f, i) or "self" end
  local of_self = parameters[1] == "self" and 1 or 0
  for i = most + 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then
      local kind = type(value)
      local shown = kind == "string" and ("'%s'"):format(value) or kind == "number" and tostring(value)
        or kind == "boolean" and tostring(value) or "a " .. M.kind(value)
      local last = name:match "[%a_]+$" or ""
      local by_name = parameters[most] == "options" and ". Options go into one table, by name" or ""
      M.fail("%s: argument %d is %s, expected %s: %s(%s)%s", name, i - of_self, core.safe_text(shown),
        most == of_self and "no arguments" or ("at most %d"):format(most - of_self), name,
        table.concat(parameters, ", ", of_self + 1), (instead[last] or by_name):format(last))
    end
  end
end

local function passed(...) return ... end

-- True if a value with another metatable than the class's can be the object of a method. It can if
-- its own class also has the method, or if it is a script's table that stands for an object.
-- Objects of the core are never tables.
local function may_have(value, method, class)
  local meta = getmetatable(value)
  if type(meta) == "table" and rawget(meta, "__name") ~= nil then return rawget(meta, method) ~= nil end
  return type(value) == "table" and rawget(class, "__gc") == nil
end

-- Raises an error if more arguments are given than a function takes, or if a method was called with a dot, so that its
-- first argument is taken for the object.
local function refuse(name, f, most, meta, ...)
  if select("#", ...) > most then refuse_surplus(name, f, most, ...) end
  local class, method = name:match "([%a_]+):(.*)"
  if not meta or getmetatable((...)) == meta or may_have((...), method, meta) then return end
  local object = class == "Tensor" and "x" or class:lower()
  M.fail("%s: found a %s in the place of the object. Write %s:%s(...) with a colon", name, M.kind((...)), object,
    method)
end

---Wraps a function so that surplus arguments are errors, which Lua would drop silently. A value that is not a Lua
---function, or a function with any number of arguments, is returned unchanged.
---@param name string  name for messages; a method has a colon in it
---@param f any
---@param meta? table  metatable of the objects whose method it is; a call with a dot is then an error
---@return any
---Example: `require("moonrank.check").exact("f", function(x) return x end)(1, nil)   --> 1`
function M.exact(name, f, meta)
  if type(f) ~= "function" or inner[f] then return f end
  local info = debug.getinfo(f, "Su")
  if info.what == "C" or info.isvararg then return f end
  local most, method = math.max(info.nparams, name:find(":", 1, true) and 1 or 0), meta and name:match ":(.*)"
  local function wrapper(...)
    if select("#", ...) > most or method and getmetatable((...)) ~= meta then refuse(name, f, most, meta, ...) end
    return passed(f(...))  -- not a tail call: errors of the core read the function's name from this frame
  end
  inner[wrapper] = f
  return wrapper
end

---Returns the function that `exact` wrapped; any other value is returned unchanged.
---@param f any
---@return any
function M.inner(f) return inner[f] or f end

---Wraps all functions of a table by `exact`, also those that are assigned later. Metamethods except `__call` are not
---wrapped, because Lua passes surplus arguments to them.
---@param prefix string  prefix of names in messages: "mr.Table:" or "mr.data."
---@param functions table
---@param class? table  metatable of the objects whose methods these are
---@return table  `functions`
function M.exact_all(prefix, functions, class)
  local function checked(key, value)
    if type(key) ~= "string" or key:match "^__" and key ~= "__call" then return M.inner(value) end
    if key == "__call" then return M.exact(prefix:sub(1, -2), value) end
    return M.exact(prefix .. key, value, class)
  end
  for key, value in next, functions do functions[key] = checked(key, value) end
  local meta = getmetatable(functions) or {}
  meta.__newindex = function(self, key, value) rawset(self, key, checked(key, value)) end
  return setmetatable(functions, meta)
end

---Raises an error because objects of a class have no field of this name. The error says what to write instead, or
---offers the nearest name.
---@param class string
---@param name any
---@param known string[]
function M.no_field(class, name, known)
  local shown = type(name) == "table" and "table {...}" or core.safe_text(tostring(name))
  local other = M.other_name(class, name)
  if other then M.fail("%s has no field '%s'; write %s", class, shown, other) end
  local near = type(name) == "string" and M.nearest(name, known)
  M.fail("%s has no field '%s'%s", class, shown, near and (", did you mean '%s'?"):format(near) or "")
end

-- Returns the names of the fields and methods of an object.
local function fields_of(self, class)
  local known = {}
  for _, fields in ipairs{ self, class } do
    for name in next, fields do
      if type(name) == "string" and not name:match "^_" then known[#known + 1] = name:gsub("^get_", "") end
    end
  end
  return known
end

---Makes a class of the standard library. Its objects are made by setmetatable(t, class). Reading an unknown field of an
---object is an error. A surplus argument of a method is an error, too, except in internal classes such as
---"mr.sweep.Store".
function M.class(name)
  local class = { __name = name }
  if not name:match "^mr%.%l+%." then M.exact_all(name .. ":", class, class) end
  class.__index = function(self, key)
    local found = rawget(class, key)
    if found ~= nil then return found end
    local getter = rawget(class, "get_" .. tostring(key))
    if getter then return getter(self) end
    M.no_field(name, key, fields_of(self, class))
  end
  return class
end

return M
