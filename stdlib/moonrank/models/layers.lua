-- Fully connected layers of models: makes their weights and biases, and applies them.
local core = require "moonrank.core"
local tensors = require "moonrank.tensor"

local M = {}

---Makes the weights and the bias of one fully connected layer, uniform in +-1/sqrt(inputs), and
---adds both tensors to `into` and their names to `order`.
---@param into table<string, mr.Tensor>  the model's tensors by name
---@param order string[]  names of the model's tensors, in order
---@param name string    prefix of the names, before ".weight" and ".bias"
---@param stream string  prefix of the streams of random numbers, before " weight" and " bias"
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

---Makes a fully connected layer for each width in `o.hidden`, called "layer1", "layer2", ..., and adds
---its tensors to `into` and their names to `order`. Returns the width of the last layer, or `inputs`
---without hidden layers.
function M.add_hidden(into, order, inputs, o)
  for i, width in ipairs(o.hidden) do
    M.add(into, order, "layer" .. i, "layer " .. i, inputs, width, o)
    inputs = width
  end
  return inputs
end

---Applies the layers that M.add_hidden made, each followed by the model's activation, to `x` [rows,
---inputs]. Returns the outputs of the last layer.
function M.through_hidden(self, x)
  for i = 1, #self.options.hidden do
    x = core.layer(x, self[("layer%d.weight"):format(i)], self[("layer%d.bias"):format(i)], self.options.activation)
  end
  return x
end

---Makes the layers of M.add_hidden, and one more layer with a single output, the score. Adds their
---tensors to `into` and the tensors' names to `order`.
function M.add_scoring(into, order, inputs, o)
  local last = #o.hidden + 1
  M.add(into, order, "layer" .. last, "layer " .. last, M.add_hidden(into, order, inputs, o), 1, o)
end

---Returns one score for each row of `x` [rows, inputs], by the layers that M.add_scoring made.
function M.scores(self, x)
  local last = #self.options.hidden + 1
  x = M.through_hidden(self, x)
  x = core.layer(x, self[("layer%d.weight"):format(last)], self[("layer%d.bias"):format(last)], "none")
  return core.reshape(x, { #x })
end

return M
