-- The definition of mr.models.biased_mf.
local check = require "moonrank.check"
local tensors = require "moonrank.tensor"

return {
  repeats = true,
  required = { users = "integer", items = "integer" }, options = { factors = 32, init = 0.01, mean = 0.0 },
  check = function(o)
    check.positive_integers("mr.models.biased_mf", o, { "factors" })
    check.positive("mr.models.biased_mf", o, { "init" })
  end,
  parameters = function(o)
    local function matrix(name, rows)
      return tensors.uniform({ rows, o.factors }, { low = -o.init, high = o.init, seed = o.seed, stream = "mf " .. name, dtype = o.dtype })
    end
    local function biases(rows) return tensors.zeros(rows, { dtype = o.dtype }) end
    return { users = matrix("users", o.users), items = matrix("items", o.items), user_bias = biases(o.users), item_bias = biases(o.items) },
      { "users", "items", "user_bias", "item_bias" }
  end,
  forward = function(self, batch)
    local product = batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
    local of_user = batch.lists:spread(self.user_bias:rows(batch.users))
    return product + of_user + self.item_bias:rows(batch.items) + self.options.mean
  end,
}
