-- Defines the options, parameters and scores of mr.models.cml, collaborative metric learning: users and items are
-- points in a ball.
local declare = require("moonrank.options").declare
local model_options = require "moonrank.models.options"
local operations = require "moonrank.tensor.operations"
local tensors = require "moonrank.tensor"

-- Returns a copy of `x` in which rows outside the ball with radius `radius` are moved to the surface of the ball.
local function projected(x, radius)
  local norms = x:row_dot(x):sqrt():maximum(radius)
  return x * (radius / norms):reshape(#x, 1)
end

-- Returns the sum of squares of the off-diagonal covariances of the points' coordinates, per point.
local function covariance(points)
  local n, centred = #points, points - points:mean(1)
  local all, own = centred:transpose(1, 2):matmul(centred) / n, (centred * centred):mean(1)
  return ((all * all):sum() - (own * own):sum()) / n
end

return {
  options = declare("mr.models.CmlOptions", {
    model_options.of_pairs,
    { "init", "number", above = 0, shown = "1 / sqrt(factors)", help = "standard deviation of the initial points" },
    { "radius", "number", default = 1.0, above = 0, help = "radius of the ball" },
    { "covariance", "number", default = 0.0, least = 0, help = "weight of the covariance penalty" },
  }, model_options.common),
  check = function(o) o.init = o.init or 1 / math.sqrt(o.factors) end,
  parameters = function(o)
    local function points(name, rows)
      return projected(tensors.normal({ rows, o.factors },
        { sd = o.init, seed = o.seed, stream = "cml " .. name, dtype = o.dtype }), o.radius)
    end
    return { users = points("users", o.users), items = points("items", o.items) }, { "users", "items" }
  end,
  forward = function(self, batch)
    local product = batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
    local user, item = self.users:rows(batch.users), self.items:rows(batch.items)
    return product * 2 - batch.lists:spread(user:row_dot(user)) - item:row_dot(item)
  end,
  penalty = function(self, batch)
    if self.options.covariance == 0 then return nil end
    return covariance(operations.cat{ self.users:rows(batch.users), self.items:rows(batch.items) })
      * self.options.covariance
  end,
  constrain = function(self)
    return { users = projected(self.users, self.options.radius), items = projected(self.items, self.options.radius) }
  end,
}
