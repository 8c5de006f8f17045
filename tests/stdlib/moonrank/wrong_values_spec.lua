-- Tests wrong types of arguments that random calls found (tests/caller): each must raise one error with a message.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, raises = test.it, test.equal, test.raises

it("schedule:rates refuses a missing or wrong plan and learning rate", function()
  local schedule = mr.schedule.step{ every = 1, factor = 0.5 }
  raises(function() schedule:rates(8) end, "rates", "steps")
  raises(function() schedule:rates(8, 3) end, "rates", "number")
  raises(function() schedule:rates(8, { steps = 1, per_epoch = 1, epochs = 2 }) end, "rates", "'epochs'")
  raises(function() schedule:rates("x", { steps = 1, per_epoch = 1 }) end, "lr", "x")
  raises(function() schedule:rates(8, { steps = 1, per_epoch = 0 }) end, "per_epoch", "0")
end)

it("mr.arange, mr.table and batch_norm refuse arguments of the wrong type", function()
  raises(function() mr.arange({}, 4) end, "mr.arange", "table")
  raises(function() mr.arange(1, 4, { step = 1 }):batch_norm(print) end, "{rows, channels}")
  raises(function() mr.ones(2, 1):batch_norm(print, mr.zeros(1)) end, "gain", "function")
  raises(function() mr.table{ columns = { 1, "b" }, rows = {} } end, "1", "1")
end)

it("mr.data.synthetic refuses a number as options", function()
  raises(function() mr.data.synthetic(4) end, "mr.data.synthetic", "options", "number")
end)

it("metric:better, losses and models refuse arguments of the wrong type, and better handles NaN", function()
  raises(function() mr.metrics.parse("ap"):better(0.5, print) end, "value", "function")
  raises(function() mr.metrics.parse("ap"):better(0.5, false) end, "value", "false")
  raises(function() mr.metrics.parse("ap"):better(false) end, "value", "false")
  for _, name in ipairs{ "ap", "nrbp_loss" } do
    local metric = mr.metrics.parse(name)
    local better = { metric:better(0.5), metric:better(0.5, 0 / 0), metric:better(nil, 0.5),
      metric:better(0 / 0, 0.5), metric:better(0 / 0) }
    equal(better, { true, true, false, false, false })
  end
  raises(function() mr.losses.ordinal{}(nil, mr.lists{ { 1 } }) end, "scores", "nil")
  raises(function() mr.models.linear{ inputs = 2 }("x") end, "batch", "'x'")
  raises(function() mr.models.linear{ inputs = 2 }{ lists = mr.lists{ { 1 } } } end, "mlp", "features", "batch")
  local cnn = mr.models.cnn{ height = 8, width = 8, kernel = 3, filters = { 2 } }
  raises(function() cnn{ lists = mr.lists{ { 1 } } } end, "cnn", "features", "batch")
end)

it("models refuse a batch without the parts that they read, and name the parts", function()
  local fold = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }:binarize(4):folds{ k = 3 }[1]
  local ids, features = { lists = mr.lists{ { 1, 0 } }, users = mr.tensor{ 1 } }, { features = mr.ones(2, 2) }
  local of_pairs, double = { users = 3, items = 4, dtype = "float64" }, { inputs = 2, dtype = "float64" }
  local cases = {
    { mr.models.mf(of_pairs), ids, "items", "mf" }, { mr.models.biased_mf(of_pairs), features, "lists", "biased_mf" },
    { mr.models.cml{ users = 3, items = 4, covariance = 1.0, dtype = "float64" }, ids, "items", "cml" },
    { mr.models.linear(double), ids, "features", "mlp" },
    { mr.models.direct_ranker(double), ids, "features", "direct_ranker" },
    { mr.models.self_attention(double), features, "lists", "self_attention" },
    { mr.models.popularity{ fold = fold }, ids, "items", "popularity" }, { mr.models.random{}, ids, "items", "random" },
    { mr.models.item_knn{ fold = fold }, features, "users", "item_knn" },
    { mr.models.item_mean{ fold = fold }, ids, "items", "item_mean" },
    { mr.models.pure_svd{ fold = fold, iterations = 1 }, features, "users", "pure_svd" },
  }
  local untrained = { popularity = true, random = true, item_knn = true, item_mean = true, pure_svd = true }
  for _, case in ipairs(cases) do
    local model, batch, part, name = table.unpack(case)
    raises(function() model(batch) end, part, name, "batch")
    raises(function() model(0 / 0) end, "batch", "NaN")
    if not untrained[model.kind] then
      raises(function() model:gradcheck(batch) end, part, name, "batch")
    end
    if model.kind == "cml" then raises(function() model:penalty(batch) end, part, name) end
  end
end)
