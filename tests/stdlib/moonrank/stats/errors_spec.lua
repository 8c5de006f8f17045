-- Tests prediction errors and pairwise accuracy against hand-computed values and a loop over all pairs.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

it("mr.stats.rmse, mae and r2 equal hand-computed values", function()
  local predicted, truth = { 2.5, 0, 2, 8 }, { 3, -0.5, 2, 7 }
  near(mr.stats.rmse(predicted, truth), math.sqrt(1.5 / 4), 1e-12)
  near(mr.stats.mae(predicted, truth), 0.5, 1e-12)
  near(mr.stats.r2(predicted, truth), 1 - 1.5 / 29.1875, 1e-12)
  equal(mr.stats.r2(truth, truth), 1.0)
  near(mr.stats.rmse(mr.tensor{ 1, 2 }, mr.tensor{ 0, 0 }), math.sqrt(2.5), 1e-12)
end)

it("mr.stats.pairwise_accuracy equals a Kendall count of sign products", function()
  local queries = mr.data.synthetic{ kind = "queries", queries = 12, features = 3, mean_size = 9, seed = 5 }
  local scores = queries.features:narrow(2, 1, 1):reshape(queries.lists.rows)
  local s, y = scores:totable(), queries.lists.relevance:totable()
  s[1], s[2] = s[3], s[3]
  local function sign(v) return v > 0 and 1 or v < 0 and -1 or 0 end
  local sum, count, first = 0, 0, 1
  for _, n in ipairs(queries.lists.sizes:totable()) do
    for i = first, first + n - 1 do
      for j = first, first + n - 1 do
        sum, count = sum + sign(s[i] - s[j]) * sign(y[i] - y[j]), count + math.abs(sign(y[i] - y[j]))
      end
    end
    first = math.tointeger(first + n)
  end
  near(mr.stats.pairwise_accuracy(s, queries.lists), (sum / count + 1) / 2, 1e-12)
end)

it("mr.stats.rmse, mae, r2 and pairwise_accuracy are NaN without a value and reject invalid input", function()
  local function is_nan(x) check(x ~= x, x) end
  is_nan(mr.stats.r2({ 1, 2 }, { 3, 3 }))
  is_nan(mr.stats.rmse({ 1, 0 / 0 }, { 3, 3 }))
  is_nan(mr.stats.mae({ 1, 0 / 0 }, { 3, 3 }))
  is_nan(mr.stats.r2({ 1, 2 }, { 0 / 0, 3 }))
  is_nan(mr.stats.pairwise_accuracy({ 1, 0 / 0 }, mr.lists{ { 0, 1 } }))
  is_nan(mr.stats.pairwise_accuracy({ 1, 2 }, mr.lists{ { 1, 1 } }))
  raises(function() mr.stats.rmse({ 1 }, { 1, 2 }) end, "mr.stats.rmse", "1", "2")
  raises(function() mr.stats.mae({}, {}) end, "mr.stats.mae", "predicted", "empty")
  raises(function() mr.stats.r2({ 1, math.huge }, { 1, 2 }) end, "2", "predicted", "inf")
  raises(function() mr.stats.r2(mr.ones(2, 2), { 1, 2 }) end, "predicted", "2", "1")
  raises(function() mr.stats.pairwise_accuracy({ 1 }, 5) end, "lists", "5")
  raises(function() mr.stats.pairwise_accuracy({ 1 }, mr.lists{ { 0, 1 } }) end, "1", "2", "predicted")
end)
