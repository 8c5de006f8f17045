-- Tests mr.models.direct_ranker: scores by hand, gradients, training, files and errors.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local x = mr.tensor({ { 0.5, -1 }, { 2, 0.25 }, { 0.5, -1 } }, { dtype = "float64" })
local batch = { lists = mr.lists{ { 1, 0, 2 } }, features = x, size = 1 }

it("mr.models.direct_ranker computes tanh layers and a linear layer without bias", function()
  local model = mr.models.direct_ranker{ inputs = 2, hidden = { 3 }, seed = 5, dtype = "float64" }
  local W, b, out = table.unpack(model:parameters())
  W, b, out = W:totable(), b:totable(), out:totable()
  local scores = model(batch):totable()
  for r, row in ipairs(x:totable()) do
    local score = 0
    for k = 1, 3 do
      local z = b[1][k] + row[1] * W[1][k] + row[2] * W[2][k]
      local up, down = math.exp(z), math.exp(-z)
      score = score + out[k][1] * (up - down) / (up + down)
    end
    near(scores[r], score, 1e-12)
  end
  equal(scores[1], scores[3])
  check(model:gradcheck(batch) < 1e-6)
end)

it("mr.models.direct_ranker without hidden layers is a linear function without bias", function()
  local model = mr.models.direct_ranker{ inputs = 2, hidden = {}, dtype = "float64" }
  local w = model:parameters()[1]:totable()
  near(model(batch):totable()[2], 2 * w[1][1] + 0.25 * w[2][1], 1e-12)
end)

it("mr.models.direct_ranker learns to rank synthetic queries", function()
  local data = mr.data.synthetic{ kind = "queries", queries = 60, features = 5, noise = 0.1, seed = 2 }
  local model = mr.models.direct_ranker{ inputs = 5, hidden = { 10, 5 } }
  local run = mr.fit{ model = model, loss = mr.losses.ranknet{ bound = "minmax" }, train = data, test = data,
    epochs = 30, metrics = { "ndcg" }, optimizer = mr.optim.adam{ lr = 0.02 }, progress = false }
  check(run.test.mean.ndcg > 0.9, run.test.mean.ndcg)
end)

it("mr.models.direct_ranker gives the same scores after loading and rejects invalid sizes", function()
  local model, path = mr.models.direct_ranker{ inputs = 2, dtype = "float64" }, os.tmpname()
  model:save(path)
  local again = mr.models.load(path)
  equal(again(batch):totable(), model(batch):totable())
  equal(again.config.hidden, { 100, 30 })
  raises(function() mr.models.direct_ranker{ inputs = 2, hidden = { 0 } } end, "hidden", "1", "0")
end)
