-- Raises errors about wrong calls: surplus arguments, a dot for a colon, unknown fields. Loaded on the first one.
local check = require "moonrank.check"
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- Lua's own getmetatable does not return the metatables of tensors and lists
local M = {}

-- Advice at the end of an error about a surplus argument, by the name of the method that received the argument. For
-- x:to_csv("file"), the advice is how to write the text to a file.
local to_file = '; a file gets the text by io.open("file", "w"):write(x:%s()):close()'
local instead = { to_csv = to_file, to_json = to_file, to_latex = to_file, to_markdown = to_file, to_html = to_file,
  requires_grad = "; a tensor without gradients is x:detach()" }

---Returns the options of an export such as x:to_csv. A text is an error that says how to write the export to a file.
---@param where string  "evaluation:to_csv"
---@return any options
---Example: `require("moonrank.check.calls").export_options("x:to_csv", {lists = true}).lists   --> true`
function M.export_options(where, options)
  if type(options) == "string" then
    check.fail("%s: options is '%s', expected a table%s", where, core.safe_text(options),
      to_file:format(where:match "[%a_]+$"))
  end
  return options
end

-- Raises an error if an argument after the first `most` arguments is not nil; a surplus nil has no effect.
local function refuse_surplus(name, f, most, ...)
  local parameters, own = {}, name:match "^mr%.[%w_.]-([%a_]+)$"
  if own and type((...)) == "table" and check.field((...), own) then
    check.fail("%s: the first argument is the module. Write %s(...) with a dot", name, name)
  end
  for i = 1, most do parameters[i] = debug.getlocal(f, i) or "self" end
  local of_self = parameters[1] == "self" and 1 or 0
  for i = most + 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then
      local last = name:match "[%a_]+$" or ""
      local by_name = parameters[most] == "options" and ". Options go into one table, by name" or ""
      local allowed = most - of_self
      check.fail("%s: argument %d is %s, expected %s: %s(%s)%s", name, i - of_self, check.found(value),
        allowed == 0 and "no arguments" or ("at most %d argument%s"):format(allowed, allowed == 1 and "" or "s"), name,
        table.concat(parameters, ", ", of_self + 1), (instead[last] or by_name):format(last))
    end
  end
end

-- Returns true if a value whose metatable is not `class` can still be the object of a method of the class. Either the
-- value's own class has a method of this name, or the value is a script's table that stands for an object: it has the
-- method itself, or a metatable. A table cannot stand for an object of a class that is written in C++.
local function may_have(value, method, class)
  local meta = getmetatable(value)
  if type(meta) == "table" and rawget(meta, "__name") ~= nil then return rawget(meta, method) ~= nil end
  if type(value) ~= "table" or rawget(class, "__gc") ~= nil then return false end
  return meta ~= nil or rawget(value, method) ~= nil
end

---Raises an error about surplus arguments, or about a method that was called with a dot instead of a colon. Raises none
---if all surplus arguments are nil. Raises none about the dot if the first argument is a table that may stand for an
---object of the class, or an object of another class with a method of this name.
---@param name string   name of the function; a method has a colon in it
---@param f function    the function, whose parameters the error names
---@param most integer  largest number of arguments, with the object of a method
---@param meta? table   metatable of the objects whose method it is; nil for a function that is not a method
---@param ... any       the arguments of the call
function M.refuse(name, f, most, meta, ...)
  if select("#", ...) > most then refuse_surplus(name, f, most, ...) end
  local class, method = name:match "([%a_]+):(.*)"
  if not meta or getmetatable((...)) == meta or may_have((...), method, meta) then return end
  local object = class == "Tensor" and "x" or class:lower()
  check.fail("%s: found %s in the place of the object. Write %s:%s(...) with a colon", name,
    (...) == nil and "nil" or "a " .. check.kind((...)), object, method)
end

---Raises an error about an unknown field of a class, which says what to write instead or offers the nearest name.
function M.no_field(class, name, known)
  local shown = type(name) == "table" and "table {...}" or core.safe_text(tostring(name))
  local other = check.other_name(class, name)
  if other then check.fail("%s has no field '%s'; write %s", class, shown, other) end
  local near = type(name) == "string" and check.nearest(name, known)
  check.fail("%s has no field '%s'%s", class, shown, near and (", did you mean '%s'?"):format(near) or "")
end

---Returns the names of the fields and methods of an object. An error about a misspelt name offers the nearest of them.
---@param self table  the object
function M.fields_of(self, class)
  local known = {}
  for _, fields in ipairs{ self, class } do
    for name in next, fields do
      if type(name) == "string" and not name:match "^_" then known[#known + 1] = name:gsub("^get_", "") end
    end
  end
  return known
end

return M
