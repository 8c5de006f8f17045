-- Defines the constructors of tensors, and those methods of tensors that are written in Lua.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local phase = require "moonrank.system.phase"
local random = require "moonrank.tensor.random"
local room = require "moonrank.system.room"
local scope = require "moonrank.system.scope"

local M = { seed = random.seed }

---An array of numbers with any number of dimensions, on the CPU or on a GPU. Operations return new
---tensors, and scripts cannot change entries. Dimensions and positions count from 1. Operations on a
---tensor after x:requires_grad() are recorded, and y:backward() computes gradients from the record.
---@class mr.Tensor

local tensor = core.classes["mr.Tensor"].methods
local tensor_getters = core.classes["mr.Tensor"].getters

local function device_row()
  return { "device", "string", choices = { "cpu", "cuda" }, shown = "mr.device()", help = "device of the tensor" }
end

local tensor_options = declare("mr.TensorOptions", {
  { "dtype", "string", default = "float32", choices = { "float32", "float64", "int64" }, help = "type of the entries" },
  device_row(),
})

-- Returns sizes and options from the arguments (2, 3), (2, 3, options) or ({2, 3}, options).
local function sizes_of(where, ...)
  local given = { ... }
  local options = {}
  if type(given[1]) == "table" then
    check.expect(given[3] == nil, where, "argument 3", given[3], "only two arguments, sizes and options")
    return given[1], given[2]
  end
  if type(given[#given]) == "table" then options = table.remove(given) end
  for i, n in ipairs(given) do
    if math.type(n) ~= "integer" then check.expect(false, where, ("size %d"):format(i), n, "an integer") end
  end
  return given, options
end

-- Raises an error if `sizes` is not a table, as in (2, 3) for {2, 3}. `second` is the argument after `sizes` if it is
-- an integer; the error then proposes {2, 3}. `rest` is the text of the further arguments in the proposed call.
local function check_sizes(where, sizes, rest, second)
  if type(sizes) == "table" then return end
  local list = type(sizes) ~= "number" and "{2, 3}" or ("{%s%s}"):format(sizes, second and ", " .. second or "")
  check.expect(false, where, "sizes", sizes, "a table of integers: %s(%s%s)", where, list, rest or "")
end

-- For dtype int64, raises an error unless a number is whole and below 2^53 in size: the core gets it as float64.
local function check_int64(where, name, value, dtype)
  if dtype ~= "int64" or type(value) ~= "number" then return end
  if value > -2.0 ^ 53 and value < 2.0 ^ 53 and value % 1 == 0 then return end
  local found = value ~= value and "NaN" or ("%.15g"):format(value)
  if tonumber(found) ~= value and value == value then
    found = (math.type(value) == "integer" and "%d" or "%.17g"):format(value)
  end
  check.fail("%s: %s is %s, expected a whole number below 2^53 in absolute value, because dtype is int64. Round it, or "
    .. "pass dtype = \"float64\"", where, name, found)
end

---Makes a tensor from a nested table of numbers, such as {{1, 2}, {3, 4}}. A single number makes a
---tensor without dimensions. Nested tables of unequal lengths are an error.
---@param values table|number
---@param options? mr.TensorOptions
---@return mr.Tensor
---Example: `mr.tensor{{1, 2}, {3, 4}}:sum():item()   --> 10.0`
function M.tensor(values, options)
  options = tensor_options:read("mr.tensor", options)
  if type(values) == "number" then
    check_int64("mr.tensor", "values", values, options.dtype)
    return core.full({}, values, options.dtype, options.device)
  end
  return core.tensor(values, options.dtype, options.device)
end

-- Makes a tensor whose entries are all `value`, from the arguments that `sizes_of` takes.
local function filled(where, value, ...)
  local sizes, options = sizes_of(where, ...)
  sizes = room.take(where, sizes)
  options = tensor_options:read(where, options)
  return core.full(sizes, value, options.dtype, options.device)
end

---Makes a tensor of zeros with the given sizes.
---@param ... integer|integer[]|mr.TensorOptions  sizes, then options
---@return mr.Tensor
---Example: `mr.zeros(2, 3):size(2)   --> 3`
function M.zeros(...) return filled("mr.zeros", 0, ...) end

---Makes a tensor of ones with the given sizes.
---@param ... integer|integer[]|mr.TensorOptions  sizes, then options
---@return mr.Tensor
---Example: `mr.ones(3):sum():item()   --> 3.0`
function M.ones(...) return filled("mr.ones", 1, ...) end

---Makes a tensor whose entries all have one value. For int64, the value must be an integer below
---2^53 in absolute value.
---@param sizes integer[]
---@param value number
---@param options? mr.TensorOptions
---@return mr.Tensor
---Example: `mr.full({2}, 0.5):sum():item()   --> 1.0`
function M.full(sizes, value, options)
  check_sizes("mr.full", sizes, ", value")
  options = tensor_options:read("mr.full", options)
  check.expect(type(value) == "number", "mr.full", "value", value, "a number: mr.full(sizes, value)")
  check_int64("mr.full", "value", value, options.dtype)
  return core.full(room.take("mr.full", sizes), value, options.dtype, options.device)
end

local arange_options = declare("mr.ArangeOptions", {
  { "step", "number", default = 1, accept = function(step) return step ~= 0 end,
    expected = "a finite number other than 0", help = "difference between consecutive entries" },
  tensor_options,
})

local in_arange = "a finite number: mr.arange(first, last), which includes last if a step reaches it"
local check_arange = arguments({ "first", "number", expected = in_arange }, { "last", "number", expected = in_arange })

---Makes a vector of first, first + step, ... up to last, which is included if a step reaches it.
---The option `step` may be negative. The vector is empty if steps lead away
---from `last`. For int64, all entries must be integers below 2^53 in absolute value.
---@param first number
---@param last number
---@param options? mr.ArangeOptions
---@return mr.Tensor
---Example: `mr.arange(1, 4):sum():item()   --> 10.0`
function M.arange(first, last, options)
  options = arange_options:read("mr.arange", options)
  check_arange("mr.arange", first, last)
  check_int64("mr.arange", "first", first, options.dtype)
  check_int64("mr.arange", "step", options.step, options.dtype)
  local has_entries = (last - first) / options.step >= 0
  if has_entries and (last >= 2.0 ^ 53 or last <= -2.0 ^ 53) then
    check_int64("mr.arange", "last", last, options.dtype)
  end
  room.take("mr.arange", { math.abs((last - first) / options.step) + 1 })
  return core.arange(first, last, options.step, options.dtype, options.device)
end

-- Fills in `stream` and `seed` of a random call, from the seed set by mr.seed and the number of the call.
local function seeded(options, stream)
  options.stream = options.stream or stream
  if not options.seed then options.seed, options.stream = random.next(options.stream) end
  return options
end

local random_options = declare("mr.RandomTensorOptions", {
  { "seed", "integer", shown = "set by mr.seed", help = "seed; equal seeds and streams give equal numbers" },
  { "stream", "string", shown = "the distribution's name", help = "name of a sequence of numbers under the seed" },
  { "dtype", "string", default = "float32", choices = { "float32", "float64" }, help = "type of the entries" },
  device_row(),
})

local uniform_options = declare("mr.UniformOptions", {
  { "low", "number", default = 0, help = "smallest possible value", also = { "min", "a" } },
  { "high", "number", default = 1, help = "upper limit; values are below it", also = { "max", "b" } },
  random_options,
})

---Makes a tensor of uniform random numbers in [low, high). Results are the same on every device and
---for any number of threads. Without a seed, every call gives different numbers (see mr.seed). If
---two numbers are given, `mr.uniform(low, high)` instead describes a parameter of a search space
---for mr.sweep; see `moonrank.sweep.search.parts.uniform`.
---@param sizes integer[]
---@param options? mr.UniformOptions
---@return mr.Tensor
---Example: `mr.uniform({1000}, {seed = 1}):mean():item() < 0.6   --> true`
---Example: `mr.uniform(0, 0.5)   --> uniform(0, 0.5)`
function M.uniform(sizes, options, part_options)
  if type(sizes) == "number" and options == nil then
    check.expect(false, "mr.uniform", "high", nil,
      "a number: mr.uniform(low, high). Random numbers are mr.uniform({%s})", sizes)
  end
  if type(sizes) == "number" then
    return require("moonrank.sweep.search.parts").uniform(sizes, options, part_options)
  end
  check_sizes("mr.uniform", sizes)
  check.expect(part_options == nil, "mr.uniform", "argument 3", part_options, "only two arguments, sizes and options")
  options = seeded(uniform_options:read("mr.uniform", options), "uniform")
  sizes = room.take("mr.uniform", sizes)
  return core.uniform(sizes, options.low, options.high, options.seed, options.stream, options.dtype, options.device)
end

local normal_options = declare("mr.NormalOptions", {
  { "mean", "number", default = 0, help = "mean", also = { "loc" } },
  { "sd", "number", default = 1, help = "standard deviation", also = { "std", "stddev", "scale" } },
  random_options,
})

---Makes a tensor of normal random numbers. Results are the same on every device and for any number
---of threads. Without a seed, every call gives different numbers (see mr.seed).
---@param sizes integer[]
---@param options? mr.NormalOptions
---@return mr.Tensor
---Example: `mr.normal({3}, {seed = 7}):size(1)   --> 3`
function M.normal(sizes, options)
  check_sizes("mr.normal", sizes, nil, math.type(options) and options)
  options = seeded(normal_options:read("mr.normal", options), "normal")
  sizes = room.take("mr.normal", sizes)
  return core.normal(sizes, options.mean, options.sd, options.seed, options.stream, options.dtype, options.device)
end

local permutation_options = declare("mr.PermutationOptions", {
  { "seed", "integer", shown = "set by mr.seed", help = "seed; equal seeds and streams give equal orders" },
  { "stream", "string", shown = "permutation", help = "name of a sequence of numbers under the seed" },
})

local check_permutation = arguments{ "n", "integer", least = 0 }

---Returns the numbers 1 to n in random order, as an int64 tensor. Without a seed, every call gives
---another order (see mr.seed).
---@param n integer
---@param options? mr.PermutationOptions
---@return mr.Tensor
---Example: `mr.permutation(5, {seed = 1}):double():sum():item()   --> 15.0`
function M.permutation(n, options)
  check_permutation("mr.permutation", n)
  options = seeded(permutation_options:read("mr.permutation", options), "permutation")
  room.take("mr.permutation", { n })
  return core.permutation(n, options.seed, options.stream, 0)
end

---Sets the default device for tensors that are made from now on, if a name is given. Returns the
---default device, after this change.
---@param name? string  "cpu" or "cuda"; without a usable GPU "cuda" is an error that says why
---@return string
---Example: `mr.ones(2).device == mr.device()   --> true`
function M.device(name) return core.device(name) end

local check_no_grad = arguments{ "f", "function", expected = "a function: mr.no_grad(function() ... end)" }

---Runs a function without recording operations for gradients, and returns its results. Recording is
---restored afterwards, even after an error. The function cannot yield out of a coroutine.
---@param f function
---@return any
---Example: `mr.no_grad(function() return mr.ones(2):requires_grad():sum().tracked end)   --> false`
function M.no_grad(f)
  check_no_grad("mr.no_grad", f)
  local _ <close> = scope.recording("mr.no_grad", false)
  local results = table.pack(f())
  return table.unpack(results, 1, results.n)
end

---Returns the sizes of all dimensions as a table.
---Example: `#mr.zeros(2, 3):shape()   --> 2`
function tensor:shape() return core.shape(self) end

---Returns the number of entries of the tensor.
---Example: `mr.ones(2, 3):numel()   --> 6`
function tensor:numel()
  local n = 1
  for _, size in ipairs(core.shape(self)) do n = n * size end
  return n
end

---Returns the number of dimensions of the tensor.
---@return integer
function tensor_getters.dims(self) return #core.shape(self) end

---Returns a tensor with the same entries in another shape: `x:reshape(3, 2)`. One size may be -1;
---it is computed from the other sizes.
---@param ... integer|integer[]
---@return mr.Tensor
---Example: `mr.arange(1, 6):reshape(2, -1):size(2)   --> 3`
function tensor:reshape(...)
  local sizes = type((...)) == "table" and (...) or { ... }
  if sizes == (...) and select("#", ...) > 1 then
    check.fail "reshape: a table of sizes and further arguments are given. Pass only a table of sizes, or only sizes"
  end
  return core.reshape(self, sizes)
end

local clamp_options = declare("mr.ClampOptions", {
  { "min", "number", infinite = true, shown = "no limit",
    help = "lower limit; smaller entries become this", also = { "low" } },
  { "max", "number", infinite = true, shown = "no limit",
    help = "upper limit; larger entries become this", also = { "high" } },
})

---Returns a tensor with each entry limited to [min, max]: lower entries become `min`, higher ones
---`max`. `min` or `max` may be left out. NaN stays NaN.
---@param options mr.ClampOptions
---Example: `mr.tensor{-1, 0.5, 3}:clamp{min = 0, max = 1}   --> {0, 0.5, 1}  mr.Tensor {3} float32`
function tensor:clamp(options)
  options = clamp_options:read("clamp", options)
  return core.clamp(self, options.min, options.max)
end

---Applies a fully connected layer to this tensor x [rows, inputs] in one operation:
---activation(x:matmul(weight) + bias).
---@param weight mr.Tensor  [inputs, outputs]
---@param bias mr.Tensor    [1, outputs]
---@param activation? string  "none" (default), "relu", "tanh", "sigmoid" or "softplus"
---@return mr.Tensor        [rows, outputs]
---Example: `mr.ones(1, 2):linear(mr.ones(2, 1), mr.full({1, 1}, -3), "relu"):item()   --> 0.0`
function tensor:linear(weight, bias, activation) return core.layer(self, weight, bias, activation or "none") end

local core_dropout = tensor.dropout

---Returns the tensor after dropout: entries are set to 0 with probability `rate` (at least 0, below
---1), and the other entries are divided by 1 - rate. With a seed, calls with equal `rate`, `seed`
---and `stream` choose the same entries. Without a seed, every call chooses others (see mr.seed).
---@param rate number
---@param seed? integer
---@param stream? string  default "dropout"
---@return mr.Tensor
---Example: `mr.ones(1000):dropout(0.5):sum():item() > 800   --> true`
function tensor:dropout(rate, seed, stream)
  if seed then return core_dropout(self, rate, seed, stream or "dropout") end
  return core_dropout(self, rate, random.next(stream or "dropout"))
end

---Makes this tensor a leaf that collects gradients. Operations on this tensor are recorded from now
---on (x.tracked is then true), and `backward` adds to its `grad`. Other tensors with the same
---entries, such as results of detach(), are not affected. An int64 tensor is an error, and so is a
---tensor that was computed from tensors with gradients.
---@return mr.Tensor  itself
---Example:
---local x = mr.tensor{1, 3}:requires_grad()
---local y = (x * x):sum()
---y:backward()
---x.grad:totable()[2]   --> 6.0
function tensor:requires_grad()
  core.track(self)
  return self
end

local backward_options = declare("mr.BackwardOptions", {
  { "keep", "boolean", default = false, also = { "retain_graph" },
    help = "whether to keep the values that operations saved, for another call of backward" },
})

---Computes the derivatives of this tensor by the leaves from which it was computed (see
---requires_grad), and adds them to the field `grad` of each leaf. A tensor without such leaves is
---an error. The values that operations saved are freed unless keep = true. A result that is kept
---without a call of backward, such as the loss of every batch, keeps these values: keep x:item() or
---x:detach() instead.
---@param seed? mr.Tensor  upstream gradient, in the shape of this tensor; default 1 for a single number, else required
---@param options? mr.BackwardOptions
---Example:
---```lua
---local x = mr.tensor{1, 2}:requires_grad()
---local y = (x * x):sum()
---y:backward()
---x.grad   --> {2, 4}  mr.Tensor {2} float32
---```
function tensor:backward(seed, options)
  if type(seed) == "table" then seed, options = nil, seed end
  local keep = options ~= nil and backward_options:read("backward", options).keep
  local _ <close> = phase.begin "backward"
  core.backward(self, seed, keep)
end

---Returns the entries as a nested table of numbers: for a vector a plain table, for a tensor
---without dimensions the number itself.
---Example: `mr.tensor{{1, 2}, {3, 4}}:totable()[2][1]   --> 3.0`
function tensor:totable()
  local sizes = core.shape(self)
  local flat = self.dtype == "int64" and core.integers(self) or core.numbers(self)
  if #sizes == 0 then return flat[1] end
  local at = 0
  local function part(d)
    local out = {}
    for i = 1, sizes[d] do
      if d == #sizes then
        at = at + 1
        out[i] = flat[at]
      else
        out[i] = part(d + 1)
      end
    end
    return out
  end
  return part(1)
end

-- Makes unknown fields of the core's objects, and operators that tensors do not have, raise errors that say what to
-- write instead.
for name, class in pairs(core.classes) do
  class.meta.__missing = function(_, field)
    local known = check.names(class.methods)
    for getter in pairs(class.getters) do known[#known + 1] = getter ~= "[]" and getter or nil end
    require("moonrank.check.calls").no_field(name, field, known)
  end
end
for _, name in ipairs{ "lt", "le", "concat", "mod", "idiv", "band", "bor", "bnot", "pairs" } do
  core.classes["mr.Tensor"].meta["__" .. name] = function()
    check.fail("%s", require("moonrank.help.other_names").operators[name])
  end
end
M.lists = require("moonrank.tensor.lists").lists
for name, operation in pairs(require "moonrank.tensor.operations") do M[name] = operation end

---Returns true if a GPU can be used, else false. It never raises an error.
---@return boolean
---Example: `type(mr.has_cuda())   --> boolean`
function M.has_cuda() return core.has_cuda() end

return M
