-- Tests mr.models.cml: distances computed by hand, gradients, vectors kept inside the unit ball, training and files.
-- Also tests `constrain` functions of models that scripts define.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function int64(t) return mr.tensor(t, { dtype = "int64" }) end

local batch = { lists = mr.lists{ { 1, 0 }, {}, { 1 } }, users = int64{ 2, 1, 3 }, items = int64{ 4, 1, 4 }, size = 3 }

local function longest(model)
  local most = 0
  for _, p in ipairs(model:parameters()) do most = math.max(most, p:row_dot(p):max():item()) end
  return math.sqrt(most)
end

local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 80, mean_activity = 25, seed = 3 }
local fold = ratings:binarize(4):folds{ k = 2, seed = 1, nsr = 2 }[1]

describe("mr.models.cml", function()
  it("scores by the negative squared distance", function()
    local model = mr.models.cml{ users = 3, items = 4, factors = 3, seed = 4, dtype = "float64" }
    local P, Q = model:parameters()[1]:totable(), model:parameters()[2]:totable()
    local scores = model(batch):totable()
    for r, pair in ipairs{ { 2, 4 }, { 2, 1 }, { 3, 4 } } do
      local square = 0
      for k = 1, 3 do square = square + (P[pair[1]][k] - Q[pair[2]][k]) ^ 2 end
      near(scores[r], -square, 1e-12)
    end
    check(model:gradcheck(batch) < 1e-6)
  end)

  it("penalizes covariance, with the right gradient, and not if coordinates are uncorrelated", function()
    local model = mr.models.cml{ users = 3, items = 4, factors = 3, seed = 4, dtype = "float64", covariance = 0.5 }
    local P, Q, points = model:parameters()[1]:totable(), model:parameters()[2]:totable(), {}
    for _, user in ipairs{ 2, 1, 3 } do points[#points + 1] = P[user] end
    for _, item in ipairs{ 4, 1, 4 } do points[#points + 1] = Q[item] end
    local function off_diagonal(rows)
      local n, mean, sum = #rows, {}, 0
      for a = 1, #rows[1] do
        mean[a] = 0
        for _, row in ipairs(rows) do mean[a] = mean[a] + row[a] / n end
      end
      for a = 1, #mean do
        for b = 1, #mean do
          local c = 0
          for _, row in ipairs(rows) do c = c + (row[a] - mean[a]) * (row[b] - mean[b]) / n end
          if a ~= b then sum = sum + c * c end
        end
      end
      return sum / n
    end
    near(model:penalty(batch):item(), 0.5 * off_diagonal(points), 1e-12)
    check(model:penalty(batch):item() > 1e-4)
    model:penalty(batch):backward()
    local slope, step = model:parameters()[2].grad:totable()[4][1], 1e-5
    local function moved(by)
      local items = model:parameters()[2]:detach():totable()
      items[4][1] = items[4][1] + by
      local other = mr.models.cml{ users = 3, items = 4, factors = 3, dtype = "float64", covariance = 0.5 }
      other:restore{ buffers = {}, model:parameters()[1]:detach(), mr.tensor(items, { dtype = "float64" }) }
      return other:penalty(batch):item()
    end
    near(slope, (moved(step) - moved(-step)) / (2 * step), 1e-8)
    local square = mr.models.cml{ users = 2, items = 2, factors = 2, covariance = 1 }
    square:restore{ buffers = {}, mr.tensor{ { 0.5, 0.5 }, { -0.5, 0.5 } }, mr.tensor{ { 0.5, -0.5 }, { -0.5, -0.5 } } }
    local pairs_of_two = { lists = mr.lists{ { 1 }, { 1 } }, users = int64{ 1, 2 }, items = int64{ 1, 2 }, size = 2 }
    near(square:penalty(pairs_of_two):item(), 0, 1e-12)
    equal(mr.models.cml{ users = 3, items = 4 }:penalty(batch), nil)
  end)

  it("trains with its covariance penalty in mr.fit, which reduces the covariance", function()
    local function trained(covariance)
      local model = mr.models.cml{ users = ratings.users, items = ratings.items, factors = 6, covariance = covariance }
      mr.fit{ model = model, loss = mr.losses.hinge{ bound = "minmax" }, train = fold.train, epochs = 15,
        optimizer = mr.optim.adagrad{ lr = 0.1 }, progress = false }
      local judge = mr.models.cml{ users = ratings.users, items = ratings.items, factors = 6, covariance = 1 }
      judge:restore(model:snapshot())
      return judge:penalty(require("moonrank.data.dataset").whole_batch(fold.train)):item()
    end
    local without, with = trained(0), trained(3000)
    check(with < 0.5 * without, ("%g with, %g without"):format(with, without))
    raises(function()
      mr.fit{ model = mr.models.cml{ users = ratings.users, items = ratings.items, covariance = 1 },
        loss = mr.losses.hinge{}, train = fold.train, parallel = true, progress = false }
    end, "parallel", "true")
  end)

  it("projects rows outside the ball to its surface and keeps other rows unchanged", function()
    local model = mr.models.cml{ users = 2, items = 1, factors = 2, radius = 2 }
    model:restore{ buffers = {}, mr.tensor{ { 3, 4 }, { 0.1, 0.7 } }, mr.tensor{ { 0, 0 } } }
    model:constrain()
    local users, items = table.unpack(model:parameters())
    near(users[1]:totable()[1], 1.2, 1e-6)
    near(users[1]:totable()[2], 1.6, 1e-6)
    equal(users[2]:totable(), mr.tensor{ 0.1, 0.7 }:totable())
    equal(items:totable(), { { 0.0, 0.0 } })
    check(longest(mr.models.cml{ users = 50, items = 50, factors = 2, init = 3 }) < 1 + 1e-6, "starts in the ball")
  end)

  it("stays in the ball and learns in mr.fit with sgd and adam", function()
    for _, optimizer in ipairs{ mr.optim.sgd{ lr = 5 }, mr.optim.adam{ lr = 0.05 } } do
      local model = mr.models.cml{ users = ratings.users, items = ratings.items, factors = 8 }
      local before = mr.evaluate(require("moonrank.fit").scores(model, fold.train), fold.train.lists, { "auc" })
      local most = 0
      local run = mr.fit{ model = model, loss = mr.losses.ranknet{ bound = "minmax" }, train = fold.train,
        test = fold.train, epochs = 15, optimizer = optimizer, metrics = { "auc" }, progress = false,
        each_epoch = function() most = math.max(most, longest(model)) end }
      check(most < 1 + 1e-6, most)
      check(run.test.mean.auc > before.mean.auc + 0.15, ("%g after %g"):format(run.test.mean.auc, before.mean.auc))
    end
  end)

  it("recommends and gives the same scores after saving and loading", function()
    local model, path = mr.models.cml{ users = 3, items = 4, factors = 2 }, os.tmpname()
    model:save(path)
    local again = mr.models.load(path)
    equal(again(batch):totable(), model(batch):totable())
    equal(#again:recommend{ user = 3, k = 2 }:of(3), 2)
  end)

  it("rejects missing options and definitions with both constrain and repeats", function()
    raises(function() mr.models.cml{ users = 3 } end, "mr.models.cml", "items")
    local both = { parameters = print, forward = print, constrain = print, repeats = true }
    raises(function() mr.models.define("both", both) end, "repeats", "constrain", "parameters")
  end)
end)

it("mr.fit applies the constrain function of a model that a script defines", function()
  mr.models.define("not_negative", {
    required = { inputs = "integer" },
    parameters = function(o) return { weight = mr.ones(o.inputs) } end,
    forward = function(self, b)
      return b.features:matmul(self.weight:reshape(self.options.inputs, 1)):reshape(b.lists.rows)
    end,
    constrain = function(self) return { weight = self.weight:maximum(0) } end,
  })
  local features = mr.tensor{ { 1, 0 }, { -1, 1 }, { -2, 1 }, { 0, 0 } }
  local data = mr.data.dataset{ lists = mr.lists{ { 0, 1 }, { 1, 0 } }, features = features }
  local model = mr.models.not_negative{ inputs = 2 }
  mr.fit{ model = model, loss = mr.losses.ranknet{}, train = data, epochs = 50, progress = false,
    optimizer = mr.optim.sgd{ lr = 0.5 } }
  local first, second = table.unpack(model:parameters()[1]:totable())
  equal(first, 0.0)
  check(second > 1, second)
end)
