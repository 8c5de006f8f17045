-- Checks arguments and raises errors about them. An error has the position of the script's line that called the
-- library, not the position of a line in the library. Checks take the words of the error: `where` is the name of the
-- called function, `name` is the name of its argument or option, and `value` is what was passed.
local class = require "moonrank.check.class"
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- Lua's own getmetatable does not return the metatables of tensors and lists
local M = { class = class.class, exact = class.exact, exact_all = class.exact_all, inner = class.inner }

-- Returns the level for `error` at which a message begins with the position of the nearest caller outside the library.
-- Also returns the name of the library's function that this caller called, such as "mr.evaluate"; nil if it has none.
local function script_level()
  local level, name = 2, nil
  while true do
    local frame = debug.getinfo(level, "Sf")
    if not frame then return 0, name end
    if frame.source:sub(1, 8) ~= "@stdlib/" and frame.what ~= "C" then return level - 1, name end
    level, name = level + 1, core.public_names[frame.func] or name
  end
end

---Raises an error with a formatted message. Its position is the line of the script that called into the library.
---@param ... any  arguments of string.format
function M.fail(message, ...)
  local text = select("#", ...) > 0 and message:format(...) or message
  error(text, (script_level()))
end

---Raises an error like `fail`. Its message begins with the name of the function that the script
---called. Functions that serve many others use it.
---@param message string
---@param ... any  arguments of string.format
function M.fail_in_call(message, ...)
  local _, name = script_level()
  M.fail((name and "%s: " or "%s") .. message, name or "", ...)
end

---Returns an error message without its position ("file:line: ") and without the name of the function that raised it.
---Example: `require("moonrank.check").reason("x.lua:3: load: no tensor 'a'")   --> no tensor 'a'`
function M.reason(message)
  local text = tostring(message):gsub("^[^\n]-:%d+: ", "")
  return (text:gsub("^[%a_][%w_]*: ", ""):gsub("^mr%.[%w_.:]+: ", ""))
end

---Returns the text of an error that the library raises again. A position in a function of the script is kept. A
---position in the library, or in the line that called it, is removed, because the new error begins with that line.
function M.retold(message)
  local _, here = pcall(M.fail, "")
  local text = tostring(message)
  local at = text:match "^[^\n]-:%d+: "
  return at and at ~= here and at:sub(1, 7) ~= "stdlib/" and text or M.reason(text)
end

---Raises an error if the value `text` of the argument `what` is not UTF-8, because JSON files cannot hold other text.
---@param what string  name of the argument
function M.utf8(where, what, text)
  if utf8.len(text) then return end
  M.fail("%s: %s is '%s', which is not UTF-8. Convert the text, for example with iconv", where, what,
    core.safe_text(text))
end

---Prints a warning on standard error.
function M.warn(text) io.stderr:write(core.safe_text(text, true), "\n") end

---Returns a text without the spaces at its end. The loop takes linear time; a Lua pattern may take quadratic time.
---Example: `#require("moonrank.check").without_end_blanks("a b  ")   --> 3`
function M.without_end_blanks(text)
  local last = #text
  while last > 0 and text:byte(last) == 32 do last = last - 1 end
  return text:sub(1, last)
end

---Returns the name of a value's class, such as mr.Tensor, or else its Lua type. Error messages use this name.
---Example: `require("moonrank.check").kind(mr.ones(2))   --> mr.Tensor`
function M.kind(value)
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name ~= "" and name or type(value)
end

---Returns a value as text for an error: 'abc', 1.5, NaN, {1, 2} (arrays of up to 4 elements), a mr.Tensor {3} float32.
---Example: `require("moonrank.check").found({1, "a"})   --> {1, 'a'}`
function M.found(value)
  local kind, name = type(value), M.kind(value)
  if kind == "string" then return ("'%s'"):format(core.safe_text(value)) end
  if value ~= value then return "NaN" end
  if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
  if name == "table" and #value > 0 and #value <= 4 then
    local parts = {}
    for i = 1, #value do parts[i] = type(value[i]) == "table" and "a table" or M.found(value[i]) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  local is_open, shape = pcall(function() return ("{%s} %s"):format(table.concat(value:shape(), ", "), value.dtype) end)
  return "a " .. name .. (name == "mr.Tensor" and is_open and " " .. shape or "")
end

---Returns the value of an argument. Raises an error if it is not allowed: "mr.seed: n is 'x', expected an integer".
---@param ok any           whether the value is allowed
---@param expected string  the allowed values, in words
---@param ... any          arguments of string.format for `expected`
---@return any value
---Example: `require("moonrank.check").expect(true, "mr.seed", "n", 3, "an integer")   --> 3`
function M.expect(ok, where, name, value, expected, ...)
  if ok then return value end
  if select("#", ...) > 0 then expected = expected:format(...) end
  M.fail("%s: %s is %s, expected %s", where, name, M.found(value), expected)
end

---Raises an error if an argument has the wrong number of entries: "f: users has 2 entries, expected 3, one per list".
---@param count integer  its number of entries
---@param expected integer
---@param why string     what needs this number: "one for each list"
function M.length(where, name, count, expected, why)
  if count == expected then return end
  M.fail("%s: %s has %d %s, expected %d, %s", where, name, count, count == 1 and "entry" or "entries", expected, why)
end

---Raises an error if an argument is not a text that can name a file, or a folder if the argument is called "folder".
---@param name? string  name of the argument (default: path)
function M.path(where, path, name)
  M.expect(type(path) == "string" and path ~= "", where, name or "path", path, "the name of a %s",
    name == "folder" and "folder" or "file")
end

---Raises an error unless `value` is a text of letters, digits and _ that does not begin with a digit.
---@param name string  what errors call the value
---@param value any
function M.identifier(where, name, value)
  M.expect(type(value) == "string" and value:find "^[%a_][%w_]*$", where, name, value,
    "letters, digits and _, and no digit at the beginning")
end

---Raises an error if `name` is not made of letters, digits and _, begins with a digit, is a keyword of Lua, or has an
---owner. Scripts could not write other names in `mr.losses.NAME{}` or in texts such as "NAME@10".
---@param name any       name that the script gives to a definition of its own
---@param owner? string  what has this name already and cannot be replaced
function M.new_name(where, name, owner)
  M.identifier(where, "name", name)
  M.expect(load("local " .. name), where, "name", name, "another name, because this is a keyword of Lua")
  M.expect(not owner, where, "name", name, "another name, because this is the name of %s", owner)
end

---Returns a tensor. Raises an error if it is not a tensor with one value for each list, pair or row.
---@param what string    "list", "pair" or "row"
---@param where string   what computed the values, for the message
---@param count integer  number of lists, pairs or rows
---@return mr.Tensor value
function M.one_per(what, where, value, count)
  if M.is_tensor(value) and value.dims == 1 and #value == count then return value end
  M.fail("%s: the function returned %s%s, expected a tensor of shape {%d}: one value for each %s", where,
    type(value) == "number" and "the number " or "", M.found(value), count, what)
end

---Returns an array of numbers. Raises an error if it is not a table, or has an element that is not a number up to
---`largest` in size. NaN is a number.
---@param list number[]
---@param largest? number  (default: infinity)
---@return number[] list
---Example: `#require("moonrank.check").numbers("f", "x", {1, 0 / 0})   --> 2`
function M.numbers(where, name, list, largest)
  M.expect(type(list) == "table", where, name, list, "a tensor or a table of numbers")
  largest = largest or math.huge
  for i = 1, #list do
    local each = list[i]
    if math.type(each) == nil or each > largest or -each > largest then
      local limit = largest < math.huge and (" with an absolute value of at most %g"):format(largest) or ""
      M.expect(false, where, ("entry %d of %s"):format(i, name), each, "a number" .. limit)
    end
  end
  return list
end

---Returns an array. Raises an error if it is empty: "f: metrics is empty, expected at least one metric".
---@param entry string  one entry, in words
---@return any[] list
---Example: `#require("moonrank.check").not_empty("f", "nsr", {1, 2}, "number")   --> 2`
function M.not_empty(where, name, list, entry)
  if #list == 0 then M.fail("%s: %s is empty, expected at least one %s", where, name, entry) end
  return list
end

---Raises an error unless all keys of a table are texts, and its values pass a test.
---@param entry string                      one entry, in words: "tensor"
---@param allows? fun(value: any): boolean  the test (default: every value is allowed)
---@param expected? string                  the allowed values, in words
function M.by_name(where, entry, t, allows, expected)
  for key, value in pairs(t) do
    M.expect(type(key) == "string", where, "the name of a " .. entry, key, "a text")
    if allows and not allows(value) then
      M.expect(false, where, ("%ss.%s"):format(entry, core.safe_text(key)), value, expected)
    end
  end
end

---Returns the places of an array's values, by value. A value that occurs twice is an error.
---@return table<any, integer>
---Example: `require("moonrank.check").distinct("f", "order", {"a", "b"}).b   --> 2`
function M.distinct(where, name, list)
  local places = {}
  for i, value in ipairs(list) do
    if places[value] then M.fail("%s: %s has %s twice, expected different values", where, name, M.found(value)) end
    places[value] = i
  end
  return places
end

---Raises an error if `list` is not a table, or has an element that is not an integer from 1 to `most`.
---@param list any
---@param most integer
---@param entry string  a number, in words: "column number"
function M.indices(where, name, list, most, entry)
  M.expect(type(list) == "table", where, name, list, "a table of %ss", entry)
  for i = 1, #list do
    local number = list[i]
    if math.type(number) ~= "integer" or number < 1 or number > most then
      local article = entry:find "^[aeiou]" and "an" or "a"
      M.expect(false, where, ("%s[%d]"):format(name, i), number, "%s %s from 1 to %d", article, entry, most)
    end
  end
end

---Raises an error if an option has no effect: "f: nsr is 2, but by = 'user' takes no nsr. Leave out nsr".
---@param value any   its value; nil if it was not given
---@param why string  why it has no effect
---@param ... any     arguments of string.format for `why`
function M.leave_out(where, name, value, why, ...)
  if value == nil then return end
  if select("#", ...) > 0 then why = why:format(...) end
  M.fail("%s: %s is %s, but %s. Leave out %s", where, name, M.found(value), why, name)
end

---Returns the name in `known` that is most similar to `name`, or nil if none is similar.
---Example: `require("moonrank.check").nearest("minmx", {"none", "minmax"})   --> minmax`
function M.nearest(name, known) return core.nearest_name(tostring(name), known) end

-- Returns a name in the form in which it is compared with names of other libraries: in lower case, without underscores
-- and without "loss" at its end.
local function folded(name) return (name:lower():gsub("_", ""):gsub("^(.+)loss$", "%1")) end

---Returns what to write in Moonrank instead of a name that other libraries or beginners in Lua use; nil if not known.
---@param place string  where the name was used: "mr.Tensor", "mr.losses", "metric"
---@param name any      a number is looked up as "[]", and a value that cannot be a name as "[...]"
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

---Raises an error about an unknown name, e.g. of a metric. The error says what to write instead, or offers the nearest
---known name and lists all known names, which are sorted in place.
---@param what string  kind of the name: "metric", "option of mr.fit"
function M.unknown(what, name, known)
  table.sort(known)
  if #known == 0 then M.fail("unknown %s: '%s'. There are none", what, tostring(name)) end
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
---Example: `table.concat(require("moonrank.check").names({b = 1, a = 2}), " ")   --> a b`
function M.names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

---Returns true if the value is a tensor (mr.Tensor).
---Example: `require("moonrank.check").is_tensor({1, 2})   --> false`
function M.is_tensor(value)
  return type(value) == "userdata" and debug.getmetatable(value) == core.classes["mr.Tensor"].meta
end

---Returns true if the value is an mr.Lists object.
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

---Calls `f` with the further arguments like pcall, but raises errors by Ctrl-C and lack of memory again. Otherwise the
---caller would take such an error for a failure of the function.
---@return boolean ok
---@return any  what f returned, or the error
---Example: `require("moonrank.check").attempt(error, "no", 0)   --> false, no`
function M.attempt(f, ...) return unless_from_elsewhere(pcall(f, ...)) end

local function results_or_fail(where, ok, ...)
  if ok then return ... end
  M.fail("%s: %s", where, M.retold((...)))
end

---Calls `f` and returns its results. An error of `f` is raised again with `where` before its text.
---@param where string  the file or the part of a call that `f` checks: "mr.fit: metric 'ap'"
---Example: `require("moonrank.check").within("model.bin", math.max, 1, 2)   --> 2`
function M.within(where, f, ...) return results_or_fail(where, M.attempt(f, ...)) end

---Returns a field or method of any object, also of an object whose class a script defines. Returns nil if the object
---has no such field, if the field is false, or if reading the field raises an error.
---Example: `require("moonrank.check").field(mr.losses.ap(), "nosuch")   --> nil`
function M.field(of, name)
  local ok, value = M.attempt(function() return of[name] end)
  return ok and value or nil
end

---Returns true if the value can be called: it is a function or has the metamethod __call.
---Example: `require("moonrank.check").callable(mr.losses.ap()), require("moonrank.check").callable{}   --> true, false`
function M.callable(value)
  local meta = type(value) == "function" or debug.getmetatable(value)
  return meta == true or type(meta) == "table" and meta.__call ~= nil
end

---Raises an error if the array `sequence` also has named fields, because they would be ignored.
---@param form? string  what to write instead
function M.sequence(where, name, sequence, form)
  local n = #sequence
  for key in next, sequence do
    if math.type(key) ~= "integer" or key < 1 or key > n then
      M.fail("%s: %s has the field '%s' beside its elements; %s", where, name, core.safe_text(tostring(key)),
        form or "expected only elements without names")
    end
  end
end

---Returns true if the value is a number that is neither NaN nor infinite.
function M.is_finite(value) return type(value) == "number" and value - value == 0 end

---Returns true if an array is a range {lowest, highest}: two different numbers in ascending order, each at most
---`largest` in absolute value.
---@param largest number
---Example: `require("moonrank.check").is_range({1, 0}, 1e100)   --> false`
function M.is_range(range, largest)
  local low, high = range[1], range[2]
  return #range == 2 and type(low) == "number" and type(high) == "number"
    and -largest <= low and low < high and high <= largest
end

---Returns `value` if it is one of `choices`, else raises an error that offers the nearest choice and lists all.
---@param more? string  what is allowed beside the choices, in words: "a number"
---@return any value
---Example: `require("moonrank.check").choice("f", "ties", "mean", {"mean", "worst"})   --> mean`
function M.choice(where, name, value, choices, more)
  for _, each in ipairs(choices) do
    if value == each then return value end
  end
  local known = { table.unpack(choices) }
  table.sort(known)
  local near = M.nearest(value, known)
  local hint = near and (" (did you mean '%s'?)"):format(near) or ""
  M.fail("%s: %s is %s%s, expected one of: %s%s", where, name, M.found(value), hint, table.concat(known, ", "),
    more and "; or " .. more or "")
end

return M
