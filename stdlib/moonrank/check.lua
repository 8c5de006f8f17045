-- Checks of arguments, and functions that raise errors about them. An error has the position of the script's line that
-- called the library, not the position of a line in the library.
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- Lua's getmetatable hides the metatables of tensors and lists
local M = {}

-- Returns the level argument for `error`, such that the message begins with the position of the nearest caller outside
-- the standard library.
local function script_level()
  local level = 2
  while true do
    local frame = debug.getinfo(level, "S")
    if not frame then return 0 end
    if frame.source:sub(1, 8) ~= "@stdlib/" and frame.what ~= "C" then return level - 1 end
    level = level + 1
  end
end

---Raises an error with a formatted message. Its position is the line of the script that called into
---the library.
---@param message string
---@param ... any  arguments of string.format
function M.fail(message, ...)
  local text = select("#", ...) > 0 and message:format(...) or message
  error(text, script_level())
end

---Returns an error message without its position ("file:line: ") and without the name of the
---function that raised the error.
---@param message any
---@return string
---Example: `require("moonrank.check").reason("x.lua:3: load: no tensor 'a'")   --> no tensor 'a'`
function M.reason(message) return (tostring(message):gsub("^[^\n]-:%d+: ", ""):gsub("^[%a_][%w_]*: ", "")) end

---Returns the text of a caught error that the library raises again. A position in a function of the
---script is kept. A position inside the library is removed, because the new error has the position
---of the script's line that called the library.
---@param message any
---@return string
function M.retold(message)
  local _, here = pcall(M.fail, "")
  local text = tostring(message)
  local at = text:match "^[^\n]-:%d+: "
  return at and at ~= here and at:sub(1, 7) ~= "stdlib/" and text or M.reason(text)
end

---Raises an error if the value `text` of the argument `what` is not UTF-8, because JSON files
---cannot hold other text.
---@param where string  name of the called function, for the message
---@param what string   name of the argument
---@param text string
function M.utf8(where, what, text)
  if utf8.len(text) then return end
  M.fail("%s: %s is '%s', which is not UTF-8. Convert the text, for example with iconv", where, what,
    core.safe_text(text))
end

---Prints a warning on standard error.
---@param text string
function M.warn(text) io.stderr:write(core.safe_text(text, true), "\n") end

---Returns a text without the spaces at its end. The loop takes linear time; a Lua pattern may take
---quadratic time.
---@param text string
---@return string
---Example: `#require("moonrank.check").without_end_blanks("a b  ")   --> 3`
function M.without_end_blanks(text)
  local last = #text
  while last > 0 and text:byte(last) == 32 do last = last - 1 end
  return text:sub(1, last)
end

---Returns the name of a value's class, such as mr.Tensor, or else its Lua type. Error messages use
---this name.
---@param value any
---@return string
---Example: `require("moonrank.check").kind(mr.ones(2))   --> mr.Tensor`
function M.kind(value)
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name ~= "" and name or type(value)
end

---Raises an error if the argument `tensors` is not a table of tensors, but e.g. a single tensor.
---@param where string  name of the called function, for the message
---@param tensors any
function M.tensors(where, tensors)
  if type(tensors) == "table" then return end
  local found = tensors == nil and "nil" or "a " .. M.kind(tensors)
  M.fail("%s: tensors is %s, expected a list: %s({x, y}, dim)", where, found, where)
end

---Raises an error if the argument `f` is not a function.
---@param where string  name of the called function, for the message
---@param f any
function M.runs(where, f)
  if type(f) == "function" then return end
  local found = f == nil and "nil" or "a " .. M.kind(f)
  M.fail("%s: f is %s, expected a function: %s(function() ... end)", where, found, where)
end

---Returns the name in `known` that is most similar to `name`, or nil if none is similar.
---@param name string
---@param known string[]
---@return string?
---Example: `require("moonrank.check").nearest("minmx", {"none", "minmax"})   --> minmax`
function M.nearest(name, known) return core.nearest_name(tostring(name), known) end

-- Returns a name in the form in which names are compared: in lower case, without underscores, and without "loss" at its
-- end ("BCE_Loss" gives "bce").
local function folded(name) return (name:lower():gsub("_", ""):gsub("^(.+)loss$", "%1")) end

---Returns advice on a name that other libraries or beginners in Lua use: what to write in Moonrank
---instead. Returns nil if there is no advice.
---@param place string  where the name was used: "mr.Tensor", "mr.losses", "metric"
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

---Raises an error about an unknown name, e.g. of a metric. The error says what to write instead, or
---offers the nearest known name and lists all known names.
---@param what string  kind of the name: "metric", "option of mr.fit"
---@param name any
---@param known string[]  all valid names; the function sorts this list
function M.unknown(what, name, known)
  table.sort(known)
  if what:find "^option of " and math.type(name) == "integer" then
    M.fail("unknown %s: '%d'. There are: %s. Value %d of the table has no name: write name = value", what, name,
      table.concat(known, ", "), name)
  end
  local other = M.other_name((what:gsub("^field of ", "")), name)
  if other then M.fail("unknown %s: '%s'; write %s", what, tostring(name), other) end
  local near = M.nearest(name, known)
  M.fail("unknown %s: '%s'%s There are: %s", what, tostring(name),
    near and (", did you mean '%s'?"):format(near) or ".", table.concat(known, ", "))
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

---Returns true if the value is a tensor (mr.Tensor).
---@param value any
---@return boolean
---Example: `require("moonrank.check").is_tensor({1, 2})   --> false`
function M.is_tensor(value)
  return type(value) == "userdata" and debug.getmetatable(value) == core.classes["mr.Tensor"].meta
end

---Returns true if the value is an mr.Lists object.
---@param value any
---@return boolean
---Example: `require("moonrank.check").is_lists({{1, 0}})   --> false`
function M.is_lists(value)
  return type(value) == "userdata" and debug.getmetatable(value) == core.classes["mr.Lists"].meta
end

-- True if an error is due to Ctrl-C or lack of memory. Such an error is not a failure of the function that raised it.
local function from_elsewhere(message)
  if type(message) ~= "string" then return false end
  return message == "interrupted" or message:find "memory$" or message:find("out of memory: ", 1, true)
end

local function unless_from_elsewhere(ok, message, ...)
  if not ok and from_elsewhere(message) then error(message, 0) end
  return ok, message, ...
end

---Calls `f` with the further arguments like pcall, but raises errors by Ctrl-C and lack of memory
---again. Otherwise the caller would take such an error for a failure of the function.
---@param f function
---@return boolean ok
---@return any  what f returned, or the error
---Example: `require("moonrank.check").attempt(error, "no", 0)   --> false, no`
function M.attempt(f, ...) return unless_from_elsewhere(pcall(f, ...)) end

---Returns a field or method of any object, also of an object whose class a script defines. Returns
---nil if the object has no such field, or if reading the field raises an error.
---@param of any
---@param name string
---@return any
---Example: `require("moonrank.check").field(mr.losses.ap(), "nosuch")   --> nil`
function M.field(of, name)
  local ok, value = M.attempt(function() return of[name] end)
  return ok and value or nil
end

---Raises an error if the array `sequence` also has named fields, because they would be ignored.
---@param where string  name of the called function, for the message
---@param name string   name of the argument
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
---@param value any
---@return boolean
function M.is_finite(value) return type(value) == "number" and value - value == 0 end

---Returns true if an array is a range {lowest, highest}: two different numbers in ascending order,
---each at most `largest` in absolute value.
---@param range any[]
---@param largest number
---@return boolean
---Example: `require("moonrank.check").is_range({1, 0}, 1e100)   --> false`
function M.is_range(range, largest)
  local low, high = range[1], range[2]
  return #range == 2 and type(low) == "number" and type(high) == "number"
    and -largest <= low and low < high and high <= largest
end

---Returns `value` if it is one of `choices`, else raises an error. The error offers the nearest
---choice and lists all choices.
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

local inner = setmetatable({}, { __mode = "k" })  -- wrapper made by `exact` -> the function that it wraps

-- Ends of errors about surplus arguments, by the name of the method that received the argument. After x:to_csv("file"),
-- the error says how to write the text to a file.
local to_file = '; a file gets the text by io.open("file", "w"):write(x:%s()):close()'
local instead = { to_csv = to_file, to_json = to_file, to_latex = to_file, to_markdown = to_file, to_html = to_file,
  requires_grad = "; a tensor without gradients is x:detach()" }

---Returns the options that a script passed to an export such as x:to_csv. A text is an error that
---says how to write the exported text to a file.
---@param where string  "evaluation:to_csv"
---@param options any
---@return any options
---Example: `require("moonrank.check").export_options("x:to_csv", {lists = true}).lists   --> true`
function M.export_options(where, options)
  if type(options) == "string" then
    M.fail("%s: options is '%s', expected a table%s", where, core.safe_text(options),
      to_file:format(where:match "[%a_]+$"))
  end
  return options
end

-- Raises an error if an argument after the first `most` arguments is not nil. A surplus nil has no effect and is
-- accepted.
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

-- True if a value whose metatable is not `class` can still be the object of a method of the class. Either the value's
-- own class has a method of this name, or the value is a script's table that stands for an object. A table cannot stand
-- for an object of a core class.
local function may_have(value, method, class)
  local meta = getmetatable(value)
  if type(meta) == "table" and rawget(meta, "__name") ~= nil then return rawget(meta, method) ~= nil end
  return type(value) == "table" and rawget(class, "__gc") == nil
end

-- Raises an error if a call has more arguments than the function takes, or if a method was called with a dot instead of
-- a colon, so that a wrong value is taken for the object.
local function refuse(name, f, most, meta, ...)
  if select("#", ...) > most then refuse_surplus(name, f, most, ...) end
  local class, method = name:match "([%a_]+):(.*)"
  if not meta or getmetatable((...)) == meta or may_have((...), method, meta) then return end
  local object = class == "Tensor" and "x" or class:lower()
  M.fail("%s: found a %s in the place of the object. Write %s:%s(...) with a colon", name, M.kind((...)), object,
    method)
end

---Wraps a function so that surplus arguments, which Lua would drop silently, raise an error. A
---function in C, a function with `...`, and a value that is not a function are returned unchanged.
---Surplus arguments that are nil are accepted.
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
    return passed(f(...))  -- a tail call would remove the stack frame from which core errors read the function's name
  end
  inner[wrapper] = f
  return wrapper
end

---Returns the original function of a wrapper that `exact` made; any other value is returned
---unchanged.
---@param f any
---@return any
function M.inner(f) return inner[f] or f end

---Replaces all functions of a table by wrappers that raise an error for surplus arguments
---(`exact`), also functions that are assigned to the table later. Returns the same table.
---Metamethods except `__call` are not wrapped, because Lua passes surplus arguments to them.
---@param prefix string  prefix of names in messages: "mr.Table:" or "mr.data."
---@param functions table
---@param class? table  metatable of the objects whose methods these are
---@return table  the table `functions`
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

---Raises an error about a field that objects of a class do not have. The error says what to write
---instead, or offers the nearest field name.
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

-- Returns the names of the fields and methods of an object. An error about a misspelt name offers the nearest of them.
local function fields_of(self, class)
  local known = {}
  for _, fields in ipairs{ self, class } do
    for name in next, fields do
      if type(name) == "string" and not name:match "^_" then known[#known + 1] = name:gsub("^get_", "") end
    end
  end
  return known
end

---Makes and returns a class of the standard library: a metatable whose objects are made by
---setmetatable(t, class). Methods are added to it as fields. A method `get_NAME` computes the field
---NAME. Reading an unknown field of an object is an error. A surplus argument of a method is an
---error, too, except in internal classes such as "mr.sweep.Store".
---@param name string  "mr.Fold"
---@return table
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
