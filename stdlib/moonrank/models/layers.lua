-- Makes weights and biases of fully connected layers, for the models that have such layers.
local tensors = require "moonrank.tensor"

local M = {}

---Makes the weights and the bias of one fully connected layer, uniform in +-1/sqrt(inputs), and
---adds both tensors to `into` and their names to `order`.
---@param into table<string, mr.Tensor>  the model's tensors by name
---@param order string[]  names of the model's tensors, in order
---@param name string    prefix of the names, before ".weight" and ".bias"
---@param stream string  prefix of the streams of random numbers, before " weight" and " bias"
---@param inputs integer
---@param outputs integer
---@param o table        options of the model: seed, dtype
function M.add(into, order, name, stream, inputs, outputs, o)
  local range = 1 / math.sqrt(inputs)
  for _, part in ipairs{ { "weight", { inputs, outputs } }, { "bias", { 1, outputs } } } do
    local key = ("%s.%s"):format(name, part[1])
    order[#order + 1] = key
    into[key] = tensors.uniform(part[2],
      { low = -range, high = range, seed = o.seed, stream = ("%s %s"):format(stream, part[1]), dtype = o.dtype })
  end
end

return M
