-- Defines the options, parameters and scores of mr.models.mlp, a multilayer perceptron.
local declare = require("moonrank.options").declare
local layers = require "moonrank.models.layers"
local model_options = require "moonrank.models.options"

return {
  repeats = true,
  options = declare("mr.models.MlpOptions", {
    model_options.inputs, model_options.hidden{}, model_options.activation "relu",
  }, model_options.common),
  parameters = function(o)
    local made, order = {}, {}
    layers.add_scoring(made, order, o.inputs, o)
    return made, order
  end,
  forward = function(self, batch) return layers.scores(self, batch.features) end,
}
