-- The definition of mr.models.cml: users and items as points of a ball.
local check = require "moonrank.check"
local tensors = require "moonrank.tensor"

-- Rows beyond the ball, moved to its surface; others as they are.
local function projected(x, radius)
  local norms = x:row_dot(x):sqrt():maximum(radius)
  return x * (radius / norms):reshape(#x, 1)
end

return {
  required = { users = "integer", items = "integer" }, options = { factors = 32, init = check.none, radius = 1.0 },
  check = function(o)
    local where = "mr.models.cml"
    check.positive_integers(where, o, { "factors" })
    o.init = o.init or 1 / math.sqrt(o.factors)
    for _, name in ipairs{ "init", "radius" } do
      if type(o[name]) ~= "number" or not (o[name] > 0 and o[name] < math.huge) then
        check.fail("%s: %s is %s, expected a number above 0", where, name, tostring(o[name]))
      end
    end
  end,
  parameters = function(o)
    local function points(name, rows)
      return projected(tensors.normal({ rows, o.factors }, { sd = o.init, seed = o.seed, stream = "cml " .. name, dtype = o.dtype }),
        o.radius)
    end
    return { users = points("users", o.users), items = points("items", o.items) }, { "users", "items" }
  end,
  forward = function(self, batch)
    local product = batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
    local user, item = self.users:rows(batch.users), self.items:rows(batch.items)
    return product * 2 - batch.lists:spread(user:row_dot(user)) - item:row_dot(item)
  end,
  constrain = function(self)
    return { users = projected(self.users, self.options.radius), items = projected(self.items, self.options.radius) }
  end,
}
