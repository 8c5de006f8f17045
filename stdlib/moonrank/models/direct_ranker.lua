-- Defines the options, parameters and scores of mr.models.direct_ranker (DirectRanker, Köppel et al. 2019).
local declare = require("moonrank.options").declare
local layers = require "moonrank.models.layers"
local model_options = require "moonrank.models.options"
local tensors = require "moonrank.tensor"

return {
  repeats = true,
  options = declare("mr.models.DirectRankerOptions", {
    model_options.inputs, model_options.hidden{ 100, 30 }, model_options.activation "tanh",
  }, model_options.common),
  parameters = function(o)
    local made, order = {}, {}
    local inputs = layers.add_hidden(made, order, o.inputs, o)
    local range = 1 / math.sqrt(inputs)
    made["output.weight"] = tensors.uniform({ inputs, 1 },
      { low = -range, high = range, seed = o.seed, stream = "output", dtype = o.dtype })
    order[#order + 1] = "output.weight"
    return made, order
  end,
  forward = function(self, batch)
    local x = layers.through_hidden(self, batch.features)
    return x:matmul(self["output.weight"]):reshape(#x)
  end,
}
