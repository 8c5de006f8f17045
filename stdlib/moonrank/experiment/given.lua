-- Checks of the arguments of mr.experiment's functions.
local check = require "moonrank.check"

local M = {}

---Raises an error if an argument does not have the expected type.
---@param where string     name of the function, "study"
---@param name string      name of the argument
---@param value any
---@param kind string      "table", "string", ...
---@param expected string  in words: "option values, as from mr.experiment.args"
function M.need(where, name, value, kind, expected)
  if type(value) ~= kind then
    check.fail("mr.experiment.%s: %s is a %s, expected %s", where, name, type(value), expected)
  end
end

---Raises an error if `args` is not a table of option values that names a store.
---@param where string
---@param args any
function M.args(where, args)
  M.need(where, "args", args, "table", "option values, as from mr.experiment.args")
  M.need(where, "args.store", rawget(args, "store"), "string", "the path of a store")
end

---Raises an error if a value is not the results of a study.
---@param where string
---@param value any
function M.results(where, value)
  local meta = type(value) == "table" and debug.getmetatable(value)
  if type(meta) ~= "table" or rawget(meta, "__name") ~= "mr.Results" then
    check.fail("mr.experiment.%s: results is a %s, expected what mr.experiment.study or mr.results returns", where,
      type(value))
  end
end

---Raises an error if a value is not an array whose elements have the type `kind`.
---@param where string
---@param name string
---@param value any
---@param kind string      type of the elements
---@param expected string  in words: "numbers"
function M.array(where, name, value, kind, expected)
  M.need(where, name, value, "table", "an array of " .. expected)
  for i = 1, #value do
    if type(rawget(value, i)) ~= kind then
      check.fail("mr.experiment.%s: %s[%d] is a %s, expected an array of %s", where, name, i, type(rawget(value, i)),
        expected)
    end
  end
end

return M
