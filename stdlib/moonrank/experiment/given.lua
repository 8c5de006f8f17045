-- Checks the arguments of mr.experiment's functions.
local check = require "moonrank.check"

local M = {}

---Raises an error if an argument does not have the expected type.
---@param where string     name of the function, "study"
---@param kind string      "table", "string", ...
---@param expected string  in words: "option values, as from mr.experiment.args"
function M.need(where, name, value, kind, expected)
  check.expect(type(value) == kind, "mr.experiment." .. where, name, value, expected)
end

---Raises an error if `args` is not a table of option values that names a store.
---@param args any
function M.args(where, args)
  M.need(where, "args", args, "table", "option values, as from mr.experiment.args")
  M.need(where, "args.store", rawget(args, "store"), "string", "the path of a store")
end

---Returns true if a value is the results of a study.
function M.is_results(value)
  local meta = type(value) == "table" and debug.getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == "mr.Results"
end

---Raises an error if a value is not the results of a study.
---@param name? string    name of the argument (default: results)
---@param advice? string  ends the error: ". For numbers, call mr.experiment.means_by"
function M.results(where, value, name, advice)
  check.expect(M.is_results(value), "mr.experiment." .. where, name or "results", value,
    "the results of a study, as mr.experiment.study or mr.results returns them" .. (advice or ""))
end

---Raises an error if a value is not an array whose elements have the type `kind`.
---@param kind string      type of the elements
---@param expected string  in words: "numbers"
function M.array(where, name, value, kind, expected)
  M.need(where, name, value, "table", "an array of " .. expected)
  for i = 1, #value do
    local each = rawget(value, i)
    if type(each) ~= kind then M.need(where, ("%s[%d]"):format(name, i), each, kind, "an array of " .. expected) end
  end
end

---Returns the number in a field of a record: `value` itself, or the first element of {mean, low, high}.
---@return number
function M.number(where, field, value)
  if type(value) == "table" then value = value[1] end
  M.need(where, ("'%s' of a record"):format(field), value, "number", "a number, or {mean, low, high}")
  return value
end

---Returns true if the absolute value of a difference is at most `most`, or more by up to 1e-9 of `most`, as rounding
---errors of a difference at the limit are.
function M.is_near(difference, most) return math.abs(difference) <= most * (1 + 1e-9) end

return M
