-- Defines the options, parameters and scores of mr.models.self_attention, in which the rows of a list attend to each
-- other.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local layers = require "moonrank.models.layers"
local model_options = require "moonrank.models.options"
local models = require "moonrank.models.model"
local tensors = require "moonrank.tensor"

local attention_options = declare("mr.models.SelfAttentionOptions", {
  model_options.inputs,
  { "width", "integer", default = 64, least = 1, also = { "d_model", "hidden_dim" },
    help = "width of a row within the network, a multiple of heads" },
  { "heads", "integer", default = 2, least = 1, also = { "num_heads", "nhead" }, help = "number of attention heads" },
  { "blocks", "integer", default = 2, least = 1, also = { "num_layers", "n_blocks" }, help = "number of blocks" },
  { "inner", "integer", least = 1, shown = "2 width", also = { "d_ff", "dim_feedforward" },
    help = "number of units of the ReLU layer in each block" },
  { "dropout", "number", default = 0, least = 0, below = 1, help = "share of the entries that are dropped" },
}, model_options.common)

local function checked(o)
  o.inner = o.inner or 2 * o.width
  check.expect(o.width % o.heads == 0, "mr.models.self_attention", "heads", o.heads, "a divisor of width, which is %d",
    o.width)
end

local function parameters(o)
  local made, order = {}, {}
  local function layer(name, inputs, outputs) layers.add(made, order, name, name, inputs, outputs, o) end
  local function norm(name)
    for _, part in ipairs{ { "gain", 1 }, { "bias", 0 } } do
      local key = ("%s.%s"):format(name, part[1])
      order[#order + 1] = key
      made[key] = tensors.full({ 1, o.width }, part[2], { dtype = o.dtype })
    end
  end
  layer("input", o.inputs, o.width)
  for b = 1, o.blocks do
    local block = ("block%d."):format(b)
    norm(block .. "norm1")
    for _, name in ipairs{ "query", "key", "value", "out" } do layer(block .. name, o.width, o.width) end
    norm(block .. "norm2")
    layer(block .. "inner", o.width, o.inner)
    layer(block .. "outer", o.inner, o.width)
  end
  norm "norm"
  layer("score", o.width, 1)
  return made, order
end

local function linear(self, x, name, activation)
  return x:linear(self[name .. ".weight"], self[name .. ".bias"], activation)
end
local function norm(self, x, name) return x:layer_norm(self[name .. ".gain"], self[name .. ".bias"]) end

-- Computes a block: adds the output of attention to x, and then that of a network with one hidden layer.
local function run_block(self, x, block, lists, dropped)
  local function layer(of, name, activation) return linear(self, of, block .. name, activation) end
  local seen = norm(self, x, block .. "norm1")
  local mixed = lists:attention(layer(seen, "query"), layer(seen, "key"), layer(seen, "value"), self.options.heads)
  x = x + dropped(layer(mixed, "out"))
  local inner = layer(norm(self, x, block .. "norm2"), "inner", "relu")
  return x + dropped(layer(inner, "outer"))
end

local function forward(self, batch)
  models.check_batch("self_attention", batch, { "features", "lists" })
  local o, count = self.options, 0
  local function dropped(x)
    if o.dropout == 0 or not batch.step then return x end
    count = count + 1
    return x:dropout(o.dropout, o.seed, ("dropout %d of step %d"):format(count, batch.step))
  end
  local x = linear(self, batch.features, "input")
  for b = 1, o.blocks do x = run_block(self, x, ("block%d."):format(b), batch.lists, dropped) end
  return linear(self, norm(self, x, "norm"), "score"):reshape(#x)
end

return {
  repeats = function(o) return o.dropout == 0 end, options = attention_options, check = checked,
  parameters = parameters, forward = forward,
}
