-- Checks the named tensors that the function `parameters` or `buffers` of a model's definition returned, and puts them
-- in order.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments

local M = {}

-- Returns the names of `tensors` in the order `order`, which must contain each name once. Without `order`, sorts them.
local function ordered(where, tensors, order)
  local names = check.names(tensors)
  if not order then return names end
  local what = "the second result, the order of the tensors' names,"
  local places = check.distinct(where, what, order)
  for _, name in ipairs(names) do
    if not places[name] then check.fail("%s: %s lacks '%s'. Name every tensor in it", where, what, name) end
  end
  for i, name in ipairs(order) do check.choice(where, ("entry %d of %s"):format(i, what:sub(1, -2)), name, names) end
  return order
end

local check_result = arguments{ "the result", "table", expected = "a table of tensors by name" }

---Checks a model's tensors by name, and returns the names and the tensors in order. Raises an error
---for a name that is not a text, a value that is not a tensor, a tensor with two names, and an order
---that does not have each name once.
---@param where string  what errors begin with: the name of the function that the script called
---@param tensors any      tensors by name
---@param order? string[]  the names in the wanted order (default: sorted)
---@return string[] names
---@return mr.Tensor[] values
function M.listed(where, tensors, order)
  check_result(where, tensors)
  check.by_name(where, "tensor", tensors, check.is_tensor, "a tensor")
  local names, values, called = ordered(where, tensors, order), {}, {}
  for i, name in ipairs(names) do
    local x = tensors[name]
    if x ~= nil and called[x] then
      check.fail("%s: '%s' and '%s' are the same tensor, expected one name for each tensor", where, called[x], name)
    end
    called[x] = name
    values[i] = x
  end
  return names, values
end

---Returns a tensor of a file. Raises an error if the file lacks it, or if it has another shape or type.
---@param by_name table<string, mr.Tensor>  tensors of the file
---@param shape? integer[]  (default: any shape and type)
function M.saved(by_name, name, shape, dtype)
  local x = by_name[name]
  if not x then check.fail("the file has no tensor '%s'", name) end
  local found, expected = table.concat(x:shape(), ", "), shape and table.concat(shape, ", ")
  if shape and (found ~= expected or x.dtype ~= dtype) then
    check.fail("tensor '%s' is {%s} %s, expected {%s} %s", name, found, x.dtype, expected, dtype)
  end
  return x
end

---Raises an error unless there is at least one tensor, and all tensors have the same floating point
---type and are on the same device.
---@param dtype? string  type that the model's option `dtype` requires
function M.check_leaves(where, names, values, dtype)
  local first = values[1]
  check.not_empty(where, "the result", values, "tensor by name")
  for i, x in ipairs(values) do
    local what = ("the type of '%s'"):format(names[i])
    check.expect(x.dtype ~= "int64", where, what, x.dtype, "float32 or float64")
    check.expect(not dtype or x.dtype == dtype, where, what, x.dtype, "'%s', which is the model's option dtype. Pass "
      .. "{dtype = options.dtype} to the function that makes the tensor", dtype)
    if x.dtype ~= first.dtype or x.device ~= first.device then
      check.fail("%s: tensor '%s' is %s on %s, but '%s' is %s on %s, expected one type and one device", where, names[i],
        x.dtype, x.device, names[1], first.dtype, first.device)
    end
  end
end

return M
