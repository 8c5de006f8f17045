-- Weights and biases of fully connected layers.
local check = require "moonrank.check"
local tensors = require "moonrank.tensor"

local M = {}

---Refuses an activation or widths of hidden layers that cannot be.
---@param where string
---@param o { activation: string, hidden: integer[] }
function M.check(where, o)
  check.choice(where, "activation", o.activation, { "relu", "tanh", "sigmoid", "softplus" })
  for i, width in ipairs(o.hidden) do
    if math.type(width) ~= "integer" or width < 1 then
      check.fail("%s: hidden layer %d is %s, expected an integer of at least 1", where, i, tostring(width))
    end
  end
end

---Adds weights and bias of one fully connected layer, uniform in +-1/sqrt(inputs).
---@param into table<string, mr.Tensor>
---@param order string[]
---@param name string    before ".weight" and ".bias"
---@param stream string  of the random numbers, before " weight" and " bias"
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
