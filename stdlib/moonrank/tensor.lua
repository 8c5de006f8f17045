-- Constructors of tensors and judged lists, and those methods of both that are written in Lua.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local phase = require "moonrank.system.phase"
local probabilities = require "moonrank.losses.probabilities"
local random = require "moonrank.tensor.random"
local room = require "moonrank.system.room"
local scope = require "moonrank.system.scope"
local weights = require "moonrank.data.weights"

local M = { seed = random.seed }

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
    check.expect(given[3] == nil, where, "argument 3", given[3], "only sizes and options")
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
  check.expect(false, where, "sizes", sizes, "a list of integers: %s(%s%s)", where, list, rest or "")
end

-- If `dtype` is int64: raises an error unless the value is a whole number below 2^53 in absolute value. The core
-- receives numbers as float64, which is exact only below 2^53.
local function check_int64(where, name, value, dtype)
  if dtype ~= "int64" or type(value) ~= "number" then return end
  local found = value ~= value and "NaN" or ("%.15g"):format(value)
  if tonumber(found) ~= value and value == value then
    found = (math.type(value) == "integer" and "%d" or "%.17g"):format(value)
  end
  if value - value == 0 and value % 1 ~= 0 then
    check.fail("%s: %s is %s, but dtype is int64, which needs a whole number. Round it, or pass dtype = \"float64\"",
      where, name, found)
  end
  if value > -2.0 ^ 53 and value < 2.0 ^ 53 then return end
  check.fail("%s: %s is %s, expected a whole number below 2^53 in absolute value for dtype int64", where, name, found)
end

---Makes a tensor from a nested table of numbers, such as {{1, 2}, {3, 4}}. A single number makes a
---tensor without dimensions.
---@param values table
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

---Makes a tensor of zeros with the given sizes.
---@param ... integer|integer[]|mr.TensorOptions  sizes, then options
---@return mr.Tensor
---Example: `mr.zeros(2, 3):size(2)   --> 3`
function M.zeros(...)
  local sizes, options = sizes_of("mr.zeros", ...)
  sizes = room.take("mr.zeros", sizes)
  options = tensor_options:read("mr.zeros", options)
  return core.full(sizes, 0, options.dtype, options.device)
end

---Makes a tensor of ones with the given sizes.
---@param ... integer|integer[]|mr.TensorOptions  sizes, then options
---@return mr.Tensor
---Example: `mr.ones(3):sum():item()   --> 3.0`
function M.ones(...)
  local sizes, options = sizes_of("mr.ones", ...)
  sizes = room.take("mr.ones", sizes)
  options = tensor_options:read("mr.ones", options)
  return core.full(sizes, 1, options.dtype, options.device)
end

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
  if type(value) ~= "number" then
    local found = value == nil and "nil" or "a " .. check.kind(value)
    check.fail("mr.full: value is %s, expected a number: mr.full(sizes, value)", found)
  end
  check_int64("mr.full", "value", value, options.dtype)
  return core.full(room.take("mr.full", sizes), value, options.dtype, options.device)
end

local arange_options = declare("mr.ArangeOptions", {
  { "step", "number", default = 1, accept = function(step) return step ~= 0 end,
    expected = "a finite number other than 0", help = "difference between consecutive entries" },
  tensor_options,
})

---Makes a vector of first, first + step, ... up to last, which is included if a step reaches it.
---The option `step` is 1 by default. The vector is empty if `last` is below `first` and the step is
---positive. For int64, all entries must be integers below 2^53 in absolute value.
---@param first number
---@param last number
---@param options? mr.ArangeOptions
---@return mr.Tensor
---Example: `mr.arange(1, 4):sum():item()   --> 10.0`
function M.arange(first, last, options)
  options = arange_options:read("mr.arange", options)
  for _, each in ipairs{ { "first", first }, { "last", last } } do
    check.expect(type(each[2]) == "number", "mr.arange", each[1], each[2],
      "a number: mr.arange(first, last), which includes both")
    check.expect(check.is_finite(each[2]), "mr.arange", each[1], each[2], "a finite number")
  end
  check_int64("mr.arange", "first", first, options.dtype)
  check_int64("mr.arange", "step", options.step, options.dtype)
  local has_entries = (last - first) / options.step >= 0
  if has_entries and (last >= 2.0 ^ 53 or last <= -2.0 ^ 53) then
    check_int64("mr.arange", "last", last, options.dtype)
  end
  room.take("mr.arange", { math.abs((last - first) / options.step) + 1 })
  return core.arange(first, last, options.step, options.dtype, options.device)
end

-- Fills in the options `stream` and `seed` of a random call, and returns the options. If no seed is given, both come
-- from the seed set by mr.seed and the number of the call.
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
---for mr.sweep; see `moonrank.sweep.parts.uniform`.
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
  if type(sizes) == "number" then return require("moonrank.sweep.parts").uniform(sizes, options, part_options) end
  check_sizes("mr.uniform", sizes)
  check.expect(part_options == nil, "mr.uniform", "argument 3", part_options, "only sizes and options")
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

---Returns the numbers 1 to n in random order, as an int64 tensor. Without a seed, every call gives
---another order (see mr.seed).
---@param n integer
---@param options? mr.PermutationOptions
---@return mr.Tensor
---Example: `mr.permutation(5, {seed = 1}):double():sum():item()   --> 15.0`
function M.permutation(n, options)
  check.expect(math.type(n) == "integer" and n >= 0, "mr.permutation", "n", n, "an integer from 0")
  options = seeded(permutation_options:read("mr.permutation", options), "permutation")
  room.take("mr.permutation", { n })
  return core.permutation(n, options.seed, options.stream, 0)
end

---Sets the default device for tensors that are made from now on, if a name is given. Returns the
---default device, after this change.
---@param name? string  "cpu" or "cuda"; without a usable GPU "cuda" is an error that says why
---@return string
---Example: `mr.device()   --> cpu`
function M.device(name) return core.device(name) end

---Runs a function without recording operations for gradients, and returns its results. Recording is
---restored afterwards, even after an error. The function cannot yield out of a coroutine.
---@param f function
---@return any
---Example: `mr.no_grad(function() return mr.ones(2):requires_grad():sum().tracked end)   --> false`
function M.no_grad(f)
  check.expect(type(f) == "function", "mr.no_grad", "f", f, "a function: mr.no_grad(function() ... end)")
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
    check.fail "reshape: a table of sizes and more arguments are given, expected one of them"
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

---Applies a fully connected layer to this tensor x [rows, inputs] in one operation: activation(x
---weight + bias).
---@param weight mr.Tensor  [inputs, outputs]
---@param bias mr.Tensor    [1, outputs]
---@param activation? string  "none" (default), "relu", "tanh", "sigmoid" or "softplus"
---@return mr.Tensor        [rows, outputs]
---Example: `mr.ones(1, 2):linear(mr.ones(2, 1), mr.full({1, 1}, -3), "relu"):item()   --> 0.0`
function tensor:linear(weight, bias, activation) return core.layer(self, weight, bias, activation or "none") end

local core_dropout = tensor.dropout

---Returns the tensor after dropout: entries are set to 0 with probability `rate` (at least 0, below
---1), and the other entries are divided by 1 - rate. The choice of entries depends only on `seed`
---and `stream`. Without a seed, it depends on the number of the call (see mr.seed).
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
---entries, such as results of detach(), are not affected. int64 has no gradients.
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

---Computes derivatives of this number, and adds them to the gradients of the leaves that it was
---computed from (see requires_grad). The values that operations saved are freed unless keep = true.
---@param seed? mr.Tensor  derivatives to start from; required unless this tensor is a single number
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

-- Returns the sizes and names of lists from the list id of each row. An error is raised if an id occurs again after
-- another id.
local function sizes_of_ids(ids)
  local sizes, names, seen = {}, {}, {}
  for i, id in ipairs(ids) do
    if id ~= ids[i - 1] or i == 1 then
      if seen[id] then
        check.fail("mr.lists: id '%s' occurs again at row %d, expected all rows of a list together", tostring(id), i)
      end
      seen[id] = true
      sizes[#sizes + 1], names[#names + 1] = 0, tostring(id)
    end
    sizes[#sizes] = sizes[#sizes] + 1
  end
  return sizes, names
end

local function flat_numbers(values)
  return type(values) == "userdata" and values or core.tensor(values, "float32", "cpu")
end

local function is_list(value) return type(value) == "table" or check.is_tensor(value) end
local expected_list = "a tensor or a list"

local lists_options = declare("mr.ListsOptions", {
  { "relevance", "mr.Tensor|number[]", required = true, accept = is_list, expected = expected_list,
    help = "[rows] grade of each row, list after list", also = { "grades", "labels" } },
  { "sizes", "mr.Tensor|integer[]", accept = is_list, expected = expected_list, excludes = { ids = true },
    required_without = "ids", help = "[lists] number of rows of each list", also = { "group" } },
  { "ids", "mr.Tensor|any[]", accept = is_list, expected = expected_list,
    help = "[rows] id of each row's list, with the rows of a list together", also = { "qid", "qids" } },
  { "documents", "string[]", default = {}, help = "[rows] name of each row" },
}, weights.options)

---Makes judged lists: which rows belong to which user or query, and the grade of each row (0 and 1,
---or graded from 0 up; a negative grade or NaN is an error). Write `mr.lists{ {1, 0, 0, 1}, {0, 1,
---0} }`, or the flat forms `mr.lists{ relevance = t, sizes = {4, 3} }` and `mr.lists{ relevance =
---t, ids = qids }`. The flat forms take weights of rows and of lists (see lists:weighted).
---@param t number[][]|mr.ListsOptions
---@return mr.Lists
---Example: `mr.lists{ {1, 0, 0, 1}, {0, 1, 0} }.rows   --> 7`
function M.lists(t)
  if type(t) ~= "table" then
    check.expect(false, "mr.lists", "the argument", t,
      "a table: mr.lists{{1, 0}, {0, 1, 0}} or mr.lists{relevance = t, sizes = {2, 3}}")
  end
  if t.relevance ~= nil then
    local options = lists_options:read("mr.lists", t)
    local sizes, names = options.sizes, {}
    if sizes == nil then
      local ids = type(options.ids) == "userdata" and options.ids:totable() or options.ids
      sizes, names = sizes_of_ids(ids)
    end
    if type(sizes) == "userdata" then sizes = core.integers(sizes) end
    local made = core.lists(sizes, flat_numbers(options.relevance), names, options.documents)
    return (options.weights or options.list_weights) and weights.with(made, options) or made
  end
  local sizes, relevance = {}, {}
  check.sequence("mr.lists", "the table of lists", t, "flat lists are mr.lists{relevance = t, sizes = {4, 3}}")
  for i, list in ipairs(t) do
    if type(list) ~= "table" then
      check.expect(false, "mr.lists", ("list %d"):format(i), list, "a table of relevances: mr.lists{{1, 0}, {0, 1, 0}}")
    end
    check.sequence("mr.lists", ("list %d"):format(i), list)
    sizes[i] = #list
    table.move(list, 1, #list, #relevance + 1, relevance)
  end
  return core.lists(sizes, flat_numbers(relevance), {}, {})
end

local lists_methods = core.classes["mr.Lists"].methods

---Computes the score <p_u, q_i> of every row: the inner product of the factors of the list's user u
---and of the row's item i.
---@param p mr.Tensor      [users, factors]
---@param q mr.Tensor      [items, factors]
---@param users mr.Tensor  [lists] int64, the user of each list
---@param items mr.Tensor  [rows] int64, the item of each row
---@return mr.Tensor       [rows]
---Example:
---```lua
---local one, both = mr.tensor({1}, {dtype = "int64"}), mr.tensor({2, 1}, {dtype = "int64"})
---local p, q = mr.tensor{{1, 2}}, mr.tensor{{1, 0}, {0, 3}}
---mr.lists{{0, 1}}:factor_scores(p, q, one, both)   --> {6, 1}  mr.Tensor {2} float32
---```
function lists_methods:factor_scores(p, q, users, items) return core.factor_scores(p, q, users, items, self) end

---Returns the same lists with the probabilities with which their rows were drawn as negatives. Losses
---that correct for them read these (mr.losses.sampled_softmax). Batches of a dataset have lists without
---probabilities.
---@param q mr.Tensor  [rows] numbers above 0
---@return mr.Lists
---Example:
---local lists = mr.lists{{1, 0, 0}}:drawn(mr.tensor{0.5, 0.25, 0.25})
---local loss = mr.losses.sampled_softmax{correction = "both"}
---loss(mr.tensor{0, 0, 0}, lists):exp():item()   --> 5.0
function lists_methods:drawn(q) return probabilities.with(self, q) end

---Returns the same lists with other weights. Losses, mr.fit and mr.evaluate use the weights that lists
---carry, and batches have the weights of their lists. Weights that are not given stay as they are;
---`false` removes them. `lists.weights` and `lists.list_weights` have the weights, or nil.
---
---A row's weight multiplies the row's term of a list's loss, or the pairs in which it is the better
---row (see mr.Loss). A list's weight multiplies the list's loss in a mean over lists, which is
---divided by the sum of weights. A bound is applied before the list's weight. Relevant rows of
---weight 0 still count in P. A list whose rows all have weight 0 does not count.
---
---The slopes of a bound as list weights are a control of that bound in experiments: they train with
---its slopes, but without its curvature (last example).
---@param options mr.WeightOptions
---@return mr.Lists
---Example:
---local lists = mr.lists{{1, 0}, {0, 1}}:weighted{list_weights = {3, 1}}
---mr.losses.mse():mean(mr.tensor{1, 0, 0, 0}, lists):item()   --> 0.125
---Example: `mr.lists{{1, 0}}:weighted{weights = {2, 0.5}}.weights   --> {2, 0.5}  mr.Tensor {2} float64`
---Example:
---local lists = mr.lists{{1, 0, 0}, {1, 0}}
---lists = lists:weighted{list_weights = mr.bounds.slopes("minmax", "nrbp_loss", lists)}
---lists.list_weights   --> {0.5, 1}  mr.Tensor {2} float64
function lists_methods:weighted(options) return weights.with(self, weights.options:read("lists:weighted", options)) end

-- Methods of the core that make lists. What lists carry in Lua (weights.keep) is kept by the methods below.
local plain = { to = lists_methods.to, select = lists_methods.select, with_relevance = lists_methods.with_relevance,
  with_weights = lists_methods.with_weights }

---Returns the same lists, whose relevance is read as another type.
---@param dtype string  "float32" or "float64"
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:to("float64").relevance   --> {1, 0}  mr.Tensor {2} float64`
function lists_methods:to(dtype) return weights.keep(self, plain.to(self, dtype)) end

---Returns the lists with these numbers, in this order.
---@param index mr.Tensor  int64
---@return mr.Lists
---Example: `mr.lists{{1, 0}, {0}}:select(mr.tensor({2}, {dtype = "int64"})).rows   --> 1`
function lists_methods:select(index) return weights.keep(self, plain.select(self, index), index) end

---Returns the same lists with other relevance.
---@param relevance mr.Tensor  [rows]
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:with_relevance(mr.tensor{0, 2}).relevance   --> {0, 2}  mr.Tensor {2} float32`
function lists_methods:with_relevance(relevance)
  return weights.keep(self, plain.with_relevance(self, relevance))
end

---Returns the same lists with these weights of rows and of lists. A weight that is not given is removed; lists:weighted
---keeps it.
---@param of_rows? mr.Tensor   [rows]
---@param of_lists? mr.Tensor  [lists]
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:with_weights(mr.tensor{2, 1}).weights   --> {2, 1}  mr.Tensor {2} float64`
function lists_methods:with_weights(of_rows, of_lists)
  return weights.keep(self, plain.with_weights(self, of_rows, of_lists))
end

local tie_rules = { "mean", "stable", "worst", "trec" }

local rank_options = declare("mr.RankOptions", {
  { "ties", "string", default = "mean", choices = tie_rules, help = "rule for rows with equal scores" },
})

---Returns the rank of every row in its list: the row with the largest entry of `x` has rank 1.
---Under the default ties = "mean", tied rows share the middle of their ranks. NaN is an error.
---@param x mr.Tensor  [rows]
---@param options? mr.RankOptions
---@return mr.Tensor   [rows]
---Example: `mr.lists{{0, 1, 0}}:rank(mr.tensor{5, 7, 5})   --> {2.5, 1, 2.5}  mr.Tensor {3} float32`
function lists_methods:rank(x, options)
  local o = rank_options:read("rank", options)
  return core.ranks(core.ranking(x, self, o.ties, 1))
end

local order_options = declare("mr.OrderOptions", {
  { "ties", "string", default = "stable", choices = tie_rules, help = "rule for rows with equal scores" },
})

---Returns the row numbers of each list, sorted from the first rank (the largest entry of `x`) to
---the last. Row numbers count the rows of all lists, from 1. By default, tied rows are sorted by
---row number. NaN is an error.
---@param x mr.Tensor  [rows]
---@param options? mr.OrderOptions
---@return mr.Tensor   [rows] int64
---Example: `mr.lists{{0, 1, 0}}:order(mr.tensor{5, 7, 5})   --> {2, 1, 3}  mr.Tensor {3} int64`
function lists_methods:order(x, options)
  local o = order_options:read("order", options)
  return core.order(core.ranking(x, self, o.ties, 1))
end

local pairs_options = declare("mr.PairsOptions", {
  { "relevant", "number", above = 0, shown = "none",
    help = "pairs of a row with at least this grade and a row below it; default: all pairs with unequal grades" },
})

---@class mr.Pairs
---@field better mr.Tensor  int64, the row with the higher grade of each pair
---@field worse mr.Tensor   int64, the row with the lower grade
---@field list mr.Tensor    int64, the list of each pair
---@field lists mr.Lists    the pairs of each list, for sums and means: pairs.lists:sum(x)
---@field count integer     number of pairs

---Returns the pairs of rows of each list with unequal grades, such as for a loss of pairs. Row numbers
---count the rows of all lists, from 1, so `scores:rows(pairs.better)` has the score of each pair's
---better row. Pairs are ordered by list, then by better row, then by worse row. A list of n rows has
---up to n (n - 1) / 2 pairs, each of which takes 28 bytes.
---@param options? mr.PairsOptions
---@return mr.Pairs
---Example: `mr.lists{{0, 2, 1}}:pairs().better   --> {2, 2, 3}  mr.Tensor {3} int64`
---Example: `mr.lists{{0, 2, 1}, {1, 0}}:pairs{relevant = 2}.count   --> 2`
function lists_methods:pairs(options)
  local o = pairs_options:read("lists:pairs", options)
  local better, worse, lists = core.row_pairs(self, o.relevant)
  return require("moonrank.record").new("pairs", { better = better, worse = worse, lists = lists, count = lists.rows,
    list = lists:spread(core.arange(1, lists.count, 1, "int64")) })
end

---Writes the grades as TREC judgments, with lines "query 0 document grade". Lists and rows without
---names are named by their numbers, as in mr.data.scored. An existing file is replaced only if it has
---judgments, too. The folder of `path` is created if necessary. A list without rows has no line.
---Grades that are not integers, a document that occurs twice in a list, and empty names are errors.
---Names with blanks are errors, too, unless `escape = true` writes them in an escaped form, which
---mr.data.trec_qrels reads back.
---@param path string
---@param options? mr.data.QrelsOptions
---Example:
---```lua
---local path = os.tmpname()
---mr.lists{{0, 2}, {1}}:to_qrels(path)
---mr.data.trec_qrels(path), io.lines(path)()   --> mr.Lists: 2 lists, 3 rows, 1 0 1 0
---```
function lists_methods:to_qrels(path, options)
  require("moonrank.data.qrels").write("lists:to_qrels", self, path, options)
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
for name, operation in pairs(require "moonrank.tensor.operations") do M[name] = operation end

---Returns true if a GPU can be used, else false. It never raises an error.
---@return boolean
---Example: `type(mr.has_cuda())   --> boolean`
function M.has_cuda() return core.has_cuda() end

return M
