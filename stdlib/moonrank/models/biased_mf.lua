-- Defines the options, parameters and scores of mr.models.biased_mf, matrix factorisation with biases.
local declare = require("moonrank.options").declare
local model_options = require "moonrank.models.options"
local tensors = require "moonrank.tensor"

return {
  repeats = true,
  options = declare("mr.models.BiasedMfOptions", {
    model_options.of_pairs,
    model_options.init,
    { "mean", "number", default = 0.0, help = "added to every score, such as the mean of the ratings to train on" },
  }, model_options.common),
  parameters = function(o)
    local function biases(rows) return tensors.zeros(rows, { dtype = o.dtype }) end
    return {
      users = model_options.factors("users", o),
      items = model_options.factors("items", o),
      user_bias = biases(o.users),
      item_bias = biases(o.items),
    }, { "users", "items", "user_bias", "item_bias" }
  end,
  forward = function(self, batch)
    local product = batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
    local of_user = batch.lists:spread(self.user_bias:rows(batch.users))
    return product + of_user + self.item_bias:rows(batch.items) + self.options.mean
  end,
}
