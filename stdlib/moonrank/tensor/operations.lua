-- Tensor operations that are composed of operations of the core: concatenation, sorting, convolution, pooling,
-- normalisation. Methods are added to the class mr.Tensor; this module returns the other functions.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare

local M = {}

local tensor = core.classes["mr.Tensor"].methods

local check_cat = arguments{ "tensors", "table", expected = "a table of tensors: mr.cat({x, y}, dim)" }
local check_stack = arguments{ "tensors", "table", expected = "a table of tensors: mr.stack({x, y}, dim)" }
local check_cumsum = arguments{ "lists", "mr.Lists", class = "mr.Lists",
  expected = "lists, such as mr.lists{...} or data.lists" }

---Joins tensors along an existing dimension. All other dimensions must have equal sizes.
---@param tensors mr.Tensor[]  at least one; all of the same type and device
---@param dim? integer         default 1
---@return mr.Tensor
---Example: `mr.cat({mr.tensor{1, 2}, mr.tensor{3}})   --> {1, 2, 3}  mr.Tensor {3} float32`
---Example: `mr.cat({mr.ones(2, 3), mr.zeros(2, 4)}, 2):size(2)   --> 7`
function M.cat(tensors, dim)
  check_cat("mr.cat", tensors)
  return core.cat(tensors, dim or 1)
end

---Joins tensors of equal shape along a new dimension.
---@param tensors mr.Tensor[]  at least one; all of the same shape, type and device
---@param dim? integer         position of the new dimension in the result, default 1
---@return mr.Tensor
---Example: `mr.stack({mr.tensor{1, 2}, mr.tensor{3, 4}}, 2)[1]   --> {1, 3}  mr.Tensor {2} float32`
function M.stack(tensors, dim)
  check_stack("mr.stack", tensors)
  return core.stack(tensors, dim or 1)
end

---Returns the running sums of a vector: entry i is the sum of the entries 1 to i. With `lists`, the
---sums of each list begin at its first row, as by lists:cumsum.
---@param lists? mr.Lists  default: all entries are one list
---@return mr.Tensor       differentiable
---Example: `mr.tensor{1, 2, 3}:cumsum()   --> {1, 3, 6}  mr.Tensor {3} float32`
---Example: `mr.tensor{1, 2, 3}:cumsum(mr.lists{{1, 0}, {0}})   --> {1, 3, 3}  mr.Tensor {3} float32`
function tensor:cumsum(lists)
  if lists == nil then
    check.expect(self.dims == 1, "cumsum", "the number of dimensions", self.dims, "1")
    lists = core.lists({ #self }, core.full({ #self }, 0, "float32", "cpu"), {}, {})
  end
  check_cumsum("cumsum", lists)
  return lists:cumsum(self)
end

local sort_options = declare("mr.SortOptions", {
  { "descending", "boolean", default = false, help = "whether the largest entry comes first" },
})

---Sorts the entries along a dimension. Returns the sorted entries, and their positions before
---sorting. Equal entries keep their order, whether ascending or descending. NaN raises an error.
---@param dim? integer  default: the last
---@param options? mr.SortOptions
---@return mr.Tensor    sorted entries, in the shape of this tensor; differentiable
---@return mr.Tensor    positions from 1, int64, in the shape of this tensor
---Example: `mr.tensor{3, 1, 2}:sort()   --> {1, 2, 3}  mr.Tensor {3} float32, {2, 3, 1}  mr.Tensor {3} int64`
function tensor:sort(dim, options)
  if type(dim) == "table" then dim, options = nil, dim end
  local o = sort_options:read("sort", options)
  return core.sort(self, dim, o.descending)
end

local topk_options = declare("mr.TopkOptions", {
  { "largest", "boolean", default = true,
    help = "whether to return the largest entries; false: the k smallest, the smallest first" },
})

---Returns the k largest entries along a dimension, the largest first, and their positions. With
---`largest = false`, returns the k smallest entries, the smallest first. Equal entries
---keep their order. NaN raises an error.
---@param k integer
---@param dim? integer  default: the last
---@param options? mr.TopkOptions
---@return mr.Tensor    entries, differentiable
---@return mr.Tensor    positions from 1, int64
---Example: `mr.tensor{{3, 1, 2}, {5, 9, 7}}:topk(1):totable()[2][1]   --> 9.0`
function tensor:topk(k, dim, options)
  if type(dim) == "table" then dim, options = nil, dim end
  local o = topk_options:read("topk", options)
  return core.topk(self, k, dim, o.largest)
end

local function is_pair(value)
  if math.type(value) == "integer" then return true end
  local is_two = type(value) == "table" and #value == 2
  return is_two and math.type(value[1]) == "integer" and math.type(value[2]) == "integer"
end
local expected_pair = "an integer, or two integers {down, across}"

-- Returns {down, across} for the value of such an option as `stride`: one integer for both directions, or a pair.
local function pair(value) return type(value) == "table" and value or { value, value } end

-- Returns the declaration of a function's option, such as `stride`, that is one integer (for both directions) or two
-- integers, down and across. `shown` is the default in words, for the documentation.
local function pair_row(name, help, default, shown)
  return { name, "integer|integer[]", default = default, shown = shown, accept = is_pair, expected = expected_pair,
    help = help }
end

-- Returns the number of windows along an axis (1: down, 2: across), for convolution and pooling.
local function places(size, window, stride, padding, axis)
  return (size + 2 * padding[axis] - window[axis]) // stride[axis] + 1
end

local most_windows = 1 << 24  -- largest number of window entries in memory at once when no derivatives are recorded

-- Returns how many pictures are convolved at once: as many as keep window entries in memory below `most_windows`, or
-- all if derivatives are recorded, which keep all windows in memory anyway.
local function pictures_at_once(windows_of_one)
  local recording = core.recording(false)
  core.recording(recording)
  return recording and math.maxinteger or math.max(1, most_windows // math.max(1, windows_of_one))
end

-- Applies `f` to blocks of at most `at_once` pictures, and joins the results.
local function in_blocks(pictures, at_once, f)
  if #pictures <= at_once then return f(pictures) end
  local parts = {}
  for first = 1, #pictures, at_once do
    parts[#parts + 1] = f(pictures:narrow(1, first, math.min(at_once, #pictures - first + 1)))
  end
  return core.cat(parts, 1)
end

local stride_help = "distance between windows in entries; two integers: down and across"

local convolution_options = declare("mr.ConvolutionOptions", {
  { "bias", "mr.Tensor", accept = check.is_tensor, expected = "a tensor",
    help = "[outputs] bias, added to the outputs" },
  pair_row("stride", stride_help, 1),
  pair_row("padding", "zeros on each side; two integers: down and across", 0),
})

---Convolves pictures with kernels (cross-correlation, as neural networks define convolution). Each
---entry of the result is the inner product of one output's kernel and one window of a picture. The
---output's entry of the option `bias` is added, if given.
---@param weight mr.Tensor  [outputs, channels, height, width]
---@param options? mr.ConvolutionOptions
---@return mr.Tensor  [pictures, outputs, windows down, windows across]; self is [pictures, channels, height, width]
---Example: `mr.ones(1, 1, 3, 3):conv2d(mr.ones(1, 1, 2, 2)):totable()[1][1][1][1]   --> 4.0`
function tensor:conv2d(weight, options)
  local o = convolution_options:read("conv2d", options)
  local of, by = core.shape(self), core.shape(weight)
  if #of ~= 4 or #by ~= 4 or of[2] ~= by[2] then
    check.fail("conv2d: shapes {%s} and {%s}, expected {pictures, channels, height, width} and {outputs, channels, "
      .. "height, width} with equal numbers of channels", table.concat(of, ", "), table.concat(by, ", "))
  end
  local window, stride, padding = { by[3], by[4] }, pair(o.stride), pair(o.padding)
  local length = by[2] * by[3] * by[4]
  local function products(pictures)
    local columns = core.unfold(pictures, window, stride, padding, 0)
    local down, across = places(of[3], window, stride, padding, 1), places(of[4], window, stride, padding, 2)
    columns = core.reshape(columns, { #pictures, length, down * across })
    return core.reshape(core.reshape(weight, { by[1], length }):matmul(columns), { #pictures, by[1], down, across })
  end
  local out = in_blocks(self, pictures_at_once(length * of[3] * of[4]), products)
  if not o.bias then return out end
  check.length("conv2d", "bias", o.bias:numel(), by[1], "one for each output")
  return out + core.reshape(o.bias, { by[1], 1, 1 })
end

local pooling_options = declare("mr.PoolingOptions", {
  pair_row("stride", stride_help, nil, "the window's size"),
  pair_row("padding", "entries of -inf on each side, at most half of the window; two integers: down and across", 0),
})

local check_window = arguments{ "size", "integer|integer[]", accept = is_pair, expected = expected_pair }

---Returns the largest entry of each window of pictures. If several entries of a window are the
---largest, the gradient goes to the first of them.
---@param size integer|integer[]  size of a window; two integers: down and across
---@param options? mr.PoolingOptions
---@return mr.Tensor  [pictures, channels, windows down, windows across]; self is [pictures, channels, height, width]
---Example: `mr.arange(1, 16):reshape(1, 1, 4, 4):max_pool(2):totable()[1][1][2][2]   --> 16.0`
function tensor:max_pool(size, options)
  local o = pooling_options:read("max_pool", options)
  check_window("max_pool", size)
  local window = pair(size)
  local stride, padding = pair(o.stride or window), pair(o.padding)
  for axis = 1, 2 do
    check.expect(2 * padding[axis] <= window[axis], "max_pool", "padding", padding[axis],
      "at most %d, half of the window's size", window[axis] // 2)
  end
  local columns, of = core.unfold(self, window, stride, padding, -math.huge), core.shape(self)
  local down, across = places(of[3], window, stride, padding, 1), places(of[4], window, stride, padding, 2)
  return core.reshape(columns:max(3), { of[1], of[2], down, across })
end

local batch_norm_options = declare("mr.BatchNormOptions", {
  { "mean", "mr.Tensor", required = true, accept = check.is_tensor, expected = "a tensor",
    help = "[channels] running means", also = { "running_mean" } },
  { "variance", "mr.Tensor", required = true, accept = check.is_tensor, expected = "a tensor",
    help = "[channels] running variances", also = { "running_var", "var" } },
  { "training", "boolean", default = false,
    help = "true: normalize by the batch, and update the running means and variances; false: normalize by these" },
  { "momentum", "number", default = 0.1, help = "share of the batch in the updated running means and variances" },
  { "epsilon", "number", default = 1e-5, help = "added to variances", also = { "eps" } },
})

-- Returns the running means or variances, moved towards the values of the batch by the share `momentum`.
local function moved(running, of_batch, momentum)
  return running:detach() * (1 - momentum) + core.reshape(of_batch, core.shape(running)) * momentum
end

-- Returns `x` as a matrix [channels, entries], and a function that turns such a matrix back into the shape of `x`.
local function by_channel(x)
  local turned = x:transpose(1, 2)
  local shape = core.shape(turned)
  local count = x:numel() // math.max(1, shape[1])
  check.expect(count >= 2, "batch_norm", "the number of values per channel", count, "at least 2 in training")
  return core.reshape(turned, { shape[1], count }), function(rows) return core.reshape(rows, shape):transpose(1, 2) end
end

local check_batch_norm = arguments({ "gain", "mr.Tensor", class = "mr.Tensor", expected = "a tensor" },
  { "bias", "mr.Tensor", class = "mr.Tensor", expected = "a tensor" })

local function batch_norm_read(x, gain, bias, options)
  local of = core.shape(x)
  check.expect(#of >= 2, "batch_norm", "the shape of the tensor", of, "{rows, channels} or more dimensions")
  check_batch_norm("batch_norm", gain, bias)
  local o = batch_norm_options:read("batch_norm", options)
  for _, part in ipairs{ { "gain", gain }, { "bias", bias }, { "mean", o.mean }, { "variance", o.variance } } do
    check.length("batch_norm", part[1], part[2]:numel(), of[2], "one for each channel")
  end
  return o, of
end

---Normalizes each channel, then multiplies by gain and adds bias (Ioffe and Szegedy 2015). With
---`training = true`, the mean and variance of the channel's values in the batch normalize it, and
---the running means and variances are updated. With `training = false`, the running
---means and variances normalize the batch, and are returned unchanged. A model keeps them as
---buffers: `y, self.mean, self.variance = x:batch_norm(self.gain, self.bias, {mean = self.mean,
---variance = self.variance, training = batch.training})`. With n values in a channel, the running
---variances divide by n - 1, and the variances that normalize the batch by n. In training, n below
---2 is an error.
---@param gain mr.Tensor  [channels]
---@param bias mr.Tensor  [channels]
---@param options mr.BatchNormOptions
---@return mr.Tensor      [rows, channels] or [rows, channels, ...], like this tensor
---@return mr.Tensor      updated running means
---@return mr.Tensor      updated running variances
---Example:
---```lua
---local state = {mean = mr.zeros(1), variance = mr.ones(1), training = true}
---local y, mean, variance = mr.tensor{{1}, {3}}:batch_norm(mr.ones(1), mr.zeros(1), state)
---y:totable()[2][1], mean:item(), variance:item()   --> 1.000, 0.200, 1.100
---```
function tensor:batch_norm(gain, bias, options)
  local o, of = batch_norm_read(self, gain, bias, options)
  local across = { of[2] }
  for d = 3, #of do across[d - 1] = 1 end
  local function per_channel(x) return core.reshape(x, across) end
  if not o.training then
    local scale = per_channel((o.variance:detach() + o.epsilon):sqrt())
    return (self - per_channel(o.mean:detach())) / scale * per_channel(gain) + per_channel(bias), o.mean, o.variance
  end
  local rows, back = by_channel(self)
  local function each(value) return core.full({ rows:size(2) }, value, self.dtype, self.device) end
  local normal = rows:layer_norm(each(1), each(0), o.epsilon)
  local batch = rows:detach()
  return back(normal) * per_channel(gain) + per_channel(bias), moved(o.mean, batch:mean(2), o.momentum),
    moved(o.variance, batch:var(2), o.momentum)
end

-- Makes == of two tensors an error. Lua would compare whether both are the same object, which is rarely meant.
core.classes["mr.Tensor"].meta.__eq = function()
  check.fail("== does not compare tensors: x:eq(y) is 1 for each equal entry, and rawequal(x, y) tells "
    .. "whether both are one tensor")
end

-- Sets a field of a tensor. Only the gradient `grad` can be set. Entries cannot be changed in place, because
-- operations keep them to compute derivatives.
core.classes["mr.Tensor"].meta.__newindex = function(self, key, value)
  if key == "grad" then return core.set_grad(self, value) end
  if type(key) == "number" then
    check.fail("x[%s] = ... is not possible: entries of a tensor do not change; make a new one with mr.cat, mr.stack, "
      .. "x:where, x:scatter_add or mr.tensor", tostring(key))
  end
  check.fail("field '%s' of a tensor cannot be set; only grad can", tostring(key))
end

return M
