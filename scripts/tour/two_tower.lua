-- Defines a two-tower model: users and items each pass through one layer, and a row's score is the inner product of
-- both results.
local mr = require "moonrank"

return mr.models.define("two_tower", {
  required = { users = "integer", items = "integer" }, options = { width = 16 },
  parameters = function(o)
    local function normal(rows, sd) return mr.normal({ rows, o.width }, { sd = sd, dtype = o.dtype }) end
    return { user = normal(o.users, 0.1), item = normal(o.items, 0.1), left = normal(o.width, 0.3),
      right = normal(o.width, 0.3) }
  end,
  vectors = function(self) return self.user:matmul(self.left):tanh(), self.item:matmul(self.right):tanh() end,
})
