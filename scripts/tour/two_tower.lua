-- A model of one's own: users and items go through a layer each, the score is their inner product.
local mr = require "moonrank"

return mr.models.define("two_tower", {
  required = { users = "integer", items = "integer" }, options = { width = 16 },
  parameters = function(o)
    local function normal(rows, sd) return mr.normal({ rows, o.width }, { sd = sd, dtype = o.dtype }) end
    return { user = normal(o.users, 0.1), item = normal(o.items, 0.1), left = normal(o.width, 0.3), right = normal(o.width, 0.3) }
  end,
  forward = function(self, batch)
    return batch.lists:factor_scores(self.user:matmul(self.left):tanh(), self.item:matmul(self.right):tanh(), batch.users, batch.items)
  end,
})
