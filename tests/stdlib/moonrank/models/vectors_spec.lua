-- Tests script models with the function `vectors` (vectors of users and items): results must equal those of the
-- function `forward`, and vectors whose products are not the scores must raise an error before training or evaluation.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 160, mean_activity = 30, seed = 3 }:binarize(4)
local fold = ratings:folds{ by = "share", seed = 1, nsr = 1 }[1]
local metrics = { "ndcg@5", "recall@10", "ap" }

local function parameters(o)
  local function normal(...) return mr.normal({ ... }, { sd = 0.5, dtype = o.dtype }) end
  return { user = normal(o.users, o.width), item = normal(o.items, o.width), left = normal(o.width, o.width),
    right = normal(o.width, o.width), bias = normal(o.items) }
end

local function towers(self) return self.user:matmul(self.left):tanh(), self.item:matmul(self.right):tanh() end
local function towers_and_biases(self)
  local users, items = towers(self)
  return users, items, self.bias
end

local function forward(self, batch)
  local users, items = towers(self)
  return users:rows(batch.row_users):row_dot(items:rows(batch.items)) + self.bias:rows(batch.items)
end

-- Returns a model that is defined by these functions.
local function made(of, options)
  local make = mr.models.define("towers", { required = { users = "integer", items = "integer" },
    options = { width = 6 }, parameters = of.parameters or parameters, forward = of.forward, vectors = of.vectors })
  local o = { users = ratings.users, items = ratings.items }
  for name, value in pairs(options or {}) do o[name] = value end
  return make(o)
end

describe("a model with vectors", function()
  local both, plain = made{ forward = forward, vectors = towers_and_biases }, made{ forward = forward }
  local alone = made{ vectors = towers_and_biases }

  it("is evaluated like the model without vectors", function()
    for _, o in ipairs{ {}, { candidates = "sampled", negatives = 20 }, { known = "none" } } do
      local expected = fold:evaluate(plain, metrics, o).mean
      for _, model in ipairs{ both, alone } do
        for name, value in pairs(fold:evaluate(model, metrics, o).mean) do near(value, expected[name], 1e-6) end
      end
    end
  end)

  it("recommends the items of the model without vectors", function()
    for _, o in ipairs{ { k = 7 }, { k = 4, seen = fold }, { k = 3, user = 2 }, { k = 100 } } do
      local expected = plain:recommend(o)
      for _, model in ipairs{ both, alone } do
        local found = model:recommend(o)
        equal(found.items:totable(), expected.items:totable())
        near(found.scores, expected.scores:totable(), 1e-5)
      end
    end
  end)

  it("in float64 gives the same", function()
    local function of(vectors) return made({ forward = forward, vectors = vectors }, { dtype = "float64" }) end
    near(fold:evaluate(of(towers_and_biases), metrics).mean.ap, fold:evaluate(of(), metrics).mean.ap, 1e-12)
  end)

  it("needs no function forward: it trains, is validated by the catalogue, and is loaded from a file", function()
    local model = made({ vectors = towers_and_biases }, { seed = 2 })
    local run = mr.fit{ model = model, loss = mr.losses.ranknet{}, train = fold.train, valid = fold:candidates{},
      metrics = { "ndcg@5" }, epochs = 3, batch = 8, progress = false }
    check(run.history[3].loss < run.history[1].loss)
    local path = files.new_path()
    model:save(path)
    equal(mr.models.load(path):recommend{ k = 3 }.items:totable(), model:recommend{ k = 3 }.items:totable())
  end)

  it("has logarithms of sums over the catalogue, for losses too", function()
    local users = mr.tensor({ 3, 5 }, { dtype = "int64" })
    local p, q, biases = towers_and_biases(alone._view)
    local scores = (p:rows(users):matmul(q:t()) + biases) / 0.5
    near(alone:catalogue_log_sums(users, 0.5), scores:exp():sum(2):log():totable(), 1e-5)
    local run = mr.fit{ model = alone, loss = mr.losses.full_softmax{ over = "catalogue" }, train = fold.train,
      epochs = 2, batch = 8, progress = false }
    check(run.history[2].loss < run.history[1].loss)
    raises(function() plain:catalogue_log_sums(users) end, "vectors")
  end)
end)

describe("vectors of a model raise an error", function()
  it("if their products are not the scores, before training and evaluation", function()
    local model, epochs = made{ forward = forward, vectors = towers }, 0
    local words = { "forward", "vectors", "user 1", "item 1" }
    raises(function() fold:evaluate(model, metrics) end, table.unpack(words))
    raises(function() model:recommend{ k = 2 } end, table.unpack(words))
    raises(function()
      mr.fit{ model = model, loss = mr.losses.ranknet{}, train = fold.train, progress = false,
        each_epoch = function() epochs = epochs + 1 end }
    end, table.unpack(words))
    equal(epochs, 0)
  end)

  it("for wrong shapes and types", function()
    for _, case in ipairs{
      { function() end, "users", "nil" },
      { function(self) return self.user end, "items", "nil" },
      { function(self) return self.item, self.item end, "users", "{160, 6}", "{40, width}" },
      { function(self) return self.user, self.item:narrow(2, 1, 5) end, "items", "{160, 5}", "{160, 6}" },
      { function(self) return self.user, self.item, self.user end, "biases", "{40, 6}", "{160}" },
      { function(self) return self.user:double(), self.item end, "users", "float64", "float32" },
    } do
      raises(function() made{ vectors = case[1] }:recommend{ k = 2 } end, table.unpack(case, 2))
    end
  end)

  it("if forward cannot score users and items, and without forward and vectors", function()
    local function of_features(self, batch) return batch.features:matmul(self.left):sum(2) end
    raises(function() made{ forward = of_features, vectors = towers }:recommend{ k = 2 } end, "forward", "features")
    raises(function() made{} end, "mr.models.define", "forward", "vectors")
  end)
end)
