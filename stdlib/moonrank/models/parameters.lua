-- Checks the named tensors that the function `parameters` or `buffers` of a model's definition returned, and puts them
-- in order.
local check = require "moonrank.check"

local M = {}

-- Returns the names of `tensors` in the order `order`, which must contain each name once. Without `order`, the names
-- are sorted.
local function ordered(where, tensors, order)
  local known, names = {}, order or {}
  for name in pairs(tensors) do
    if type(name) ~= "string" then
      check.fail("%s: the name of a tensor is %s, expected a text", where, tostring(name))
    end
    known[name] = true
    if not order then names[#names + 1] = name end
  end
  if not order then table.sort(names) end
  for _, name in ipairs(names) do
    if not known[name] then
      check.fail("%s: the order of names contains '%s', which is not the name of a tensor, or contains it twice", where,
        tostring(name))
    end
    known[name] = nil
  end
  if next(known) then
    check.fail("%s: the order of names lacks '%s', expected the names of all tensors", where, next(known))
  end
  return names
end

---Checks a model's tensors by name, and returns the names and the tensors in order. Raises an error
---for a name that is not a text, a value that is not a tensor, or a tensor with two names.
---@param where string  function name for error messages
---@param tensors any      tensors by name
---@param order? string[]
---@return string[] names
---@return mr.Tensor[] values
function M.listed(where, tensors, order)
  if type(tensors) ~= "table" then check.fail("%s returned a %s, expected tensors by name", where, type(tensors)) end
  local names, values, called = ordered(where, tensors, order), {}, {}
  for i, name in ipairs(names) do
    local x = tensors[name]
    if x ~= nil and called[x] then
      check.fail("%s: '%s' and '%s' are the same tensor, expected one name for each tensor", where, called[x], name)
    end
    called[x] = name
    if not check.is_tensor(x) then check.fail("%s: '%s' is a %s, expected a tensor", where, name, type(x)) end
    values[i] = x
  end
  return names, values
end

---Raises an error unless there is at least one tensor, and all tensors have the same floating point
---type and are on the same device.
---@param where string  function name for error messages
---@param names string[]
---@param values mr.Tensor[]
---@param dtype? string  type that the model's option `dtype` requires
function M.check_leaves(where, names, values, dtype)
  local first = values[1]
  if not first then check.fail("%s returned no tensor, expected one or more by name", where) end
  for i, x in ipairs(values) do
    if x.dtype == "int64" then check.fail("%s: tensor '%s' is int64, expected float32 or float64", where, names[i]) end
    if dtype and x.dtype ~= dtype then
      check.fail("%s: tensor '%s' is %s, but the model's option dtype is %s. Pass {dtype = options.dtype} to the "
        .. "function that makes the tensor", where, names[i], x.dtype, dtype)
    end
    if x.dtype ~= first.dtype or x.device ~= first.device then
      check.fail("%s: tensor '%s' is %s on %s, but '%s' is %s on %s, expected one type and one device", where, names[i],
        x.dtype, x.device, names[1], first.dtype, first.device)
    end
  end
end

return M
