-- Defines the options, parameters and scores of mr.models.mlp, a multilayer perceptron.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local layers = require "moonrank.models.layers"
local model_options = require "moonrank.models.options"

local function last_of(o) return #o.hidden + 1 end

local function names_of(layer) return ("layer%d.weight"):format(layer), ("layer%d.bias"):format(layer) end

return {
  repeats = true,
  options = declare("mr.models.MlpOptions", {
    model_options.inputs, model_options.hidden{}, model_options.activation "relu",
  }, model_options.common),
  parameters = function(o)
    local tensors, order, inputs = {}, {}, o.inputs
    for i = 1, last_of(o) do
      local width = o.hidden[i] or 1
      layers.add(tensors, order, "layer" .. i, "layer " .. i, inputs, width, o)
      inputs = width
    end
    return tensors, order
  end,
  forward = function(self, batch)
    local x, last = batch.features, last_of(self.options)
    for i = 1, last do
      local weight, bias = names_of(i)
      x = core.layer(x, self[weight], self[bias], i < last and self.options.activation or "none")
    end
    return core.reshape(x, { #x })
  end,
}
