-- Tests metrics that scripts define by gain and discount against the equal built-in metrics in evaluation, losses,
-- bounds and training.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local function one() return 1 end
local function relevant(grade) return grade >= 1 and 1 or 0 end
local function define(name, gain, discount, ideal)
  mr.metrics.define(name, { gain = gain, discount = discount, ideal = ideal })
end
local function exp2(grade) return 2.0 ^ grade - 1 end
local function logarithmic(rank) return 1 / math.log(1 + rank, 2) end
define("declared_ndcg", exp2, logarithmic, true)
define("declared_dcg", exp2, logarithmic)
define("declared_rbp", relevant, function(rank) return 0.2 * 0.8 ^ (rank - 1) end)
define("declared_precision", relevant, function(rank) return rank <= 5 and 0.2 or 0 end)
local same = { declared_ndcg = "ndcg", declared_dcg = "dcg", declared_rbp = "rbp(0.8)",
  declared_precision = "precision@5" }

local function grades(n)
  local u, y = mr.uniform({ math.max(n, 1) }, { seed = n, device = "cpu" }):totable(), {}
  for i = 1, n do y[i] = math.max(0, math.floor(6 * u[i]) - 2) end
  return y
end

describe("a metric with gain and discount", function()
  it("has the values of the equal built-in metric for every list size", function()
    for _, n in ipairs{ 0, 1, 31, 32, 33, 127, 129, 1000 } do
      local lists = mr.lists{ grades(n), { 1, 0 }, { 0, 0 }, {} }
      local x = mr.normal({ n + 4 }, { seed = n, dtype = "float64" })
      for name, other in pairs(same) do
        local o = { ties = "stable", empty = "zero" }
        local declared, built_in = mr.metrics.parse(name, o), mr.metrics.parse(other, o)
        near(declared(x, lists), built_in(x, lists), 1e-12, name)
        near(declared(x:float(), lists), built_in(x:float(), lists), 1e-5, name .. " of float32")
      end
    end
  end)

  it("gives LambdaRank the pair weights of the equal built-in metric", function()
    local lists = mr.lists{ { 1, 0, 2, 0, 3 }, { 0, 0 }, { 1, 1 }, {}, { 0, 1, 0 } }
    local x = mr.normal({ lists.rows }, { seed = 2, dtype = "float64" })
    for name, other in pairs(same) do
      local function loss(metric, bound)
        return mr.losses.lambdarank{ metric = metric, steepness = 2, bound = bound }
      end
      if other ~= "rbp(0.8)" then  -- a declared metric is divided by the list's maximum, but the built-in rbp is not
        near(loss(name)(x, lists), loss(other)(x, lists), 1e-12, name)
        near(loss(name, "minmax")(x, lists), loss(other, "minmax")(x, lists), 1e-12, name)
      end
      check(mr.gradcheck(function(s) return loss(name)(s, lists) end, x) < 1e-6, name)
      equal(loss(name).metric, name)
    end
    for _, pair in ipairs{ "logistic", "sigmoid" } do
      near(mr.losses.lambdarank{ metric = "declared_rbp", pair = pair }(x, lists),
        mr.losses.lambdarank{ metric = "rbp(0.8)", pair = pair }(x, lists), 1e-12)
    end
  end)

  it("is never NaN in a loss", function()
    for _, f in ipairs{ { 1e4, -1e4, 0 }, { 0, 0, 0 }, { math.huge, -math.huge, math.huge } } do
      for _, y in ipairs{ { 1, 0, 2 }, { 0, 0, 0 }, { 1, 1, 1 }, { 0, 2, 0 } } do
        for name in pairs(same) do
          local x = mr.tensor(f, f64):requires_grad()
          local value = mr.losses.lambdarank{ metric = name }(x, mr.lists{ y })
          value:sum():backward()
          check(value:item() == value:item() and x.grad:isnan():sum():item() == 0, name)
        end
      end
    end
  end)

  it("trains like the equal built-in metric in mr.fit", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 10, noise = 0.2 }
    queries = queries:standardize():to(mr.device())
    local function trained(metric)
      local model = mr.models.mlp{ inputs = 10, hidden = { 8 }, seed = 4 }
      return mr.fit{ model = model, loss = mr.losses.lambdarank{ metric = metric }, train = queries, test = queries,
        optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 10, batch = 20, metrics = { "ndcg" }, progress = false
      }.test.mean.ndcg
    end
    near(trained "declared_ndcg", trained "ndcg", 1e-4)
  end)

  it("raises an error for invalid definitions and values", function()
    raises(function() mr.metrics.define("declared_wrong", { gain = one }) end, "mr.metrics.define", "discount")
    raises(function() mr.metrics.define("declared_wrong", { gain = one, discounts = one }) end,
      "'discounts'", "'discount'")
    raises(function() mr.metrics.define("declared_wrong", 3) end, "3", "gain", "discount")
    local lists, x = mr.lists{ { 1, 0 } }, mr.tensor{ 1, 2 }
    define("declared_nan", function() return 0 / 0 end, one)
    raises(function() mr.metrics.declared_nan(x, lists) end, "declared_nan", "gain", "NaN")
    define("declared_text", one, function(rank) return rank > 1 and "half" or 1 end)
    raises(function() mr.losses.lambdarank{ metric = "declared_text" }(x, lists) end,
      "declared_text", "discount", "half")
  end)
end)
