-- Tests errors that mr.fit finds before the first step, and that training stops at NaN.
local mr = require "moonrank"
local on_cpu = dofile "tests/support/on_cpu.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 60, mean_activity = 20, seed = 3 }
local fold = ratings:binarize(4):min_relevant(4):folds{ k = 5, seed = 3 }[1]
local function queries(features, seed)
  return mr.data.synthetic{ kind = "queries", queries = 20, features = features, seed = seed or 2 }
end

-- Checks that mr.fit with these options raises an error with this message before training begins.
local function refused(message, options)
  local all = { model = mr.models.linear{ inputs = 6 }, loss = mr.losses.ndcg(), train = queries(6), epochs = 2,
    progress = false, metrics = { "ndcg" }, each_epoch = function() error "training began" end }
  for name, value in pairs(options) do all[name] = value end
  raises(function() mr.fit(all) end, table.unpack(type(message) == "table" and message or { message }))
end

describe("mr.fit before the first step", function()
  it("checks names, types and combinations of options", function()
    refused({ "'ndgc'", "'ndcg'" }, { metrics = { "ndgc@10" }, valid = queries(6) })
    refused({ "'ndgc'", "'ndcg'" }, { metrics = { "rr" }, select = "ndgc" })
    refused({ "'ndgc'", "'ndcg'" }, { select = { "rr", "ndgc" } })
    refused({ "select", "'rr'" }, { select = { "rr", "rr" } })
    refused({ "loss", "'ndcg'" }, { loss = "ndcg" })
    refused({ "loss", "table" }, { loss = {} })
    refused("'batch'", { batch_size = 8 })
    refused({ "lr", "mr.optim" }, { lr = 0.1 })
    refused({ "learning_rate", "mr.optim" }, { learning_rate = 0.1 })
    refused({ "optimizer", "'adam'" }, { optimizer = "adam" })
    refused({ "model", "'mf'" }, { model = "mf" })
    refused({ "model", "function" }, { model = function() end })
    refused({ "train", "mr.Fold" }, { train = fold })
    refused({ "valid", "table" }, { valid = {} })
    refused({ "batch", "0" }, { batch = 0 })
    refused({ "batch_rows", "2.5" }, { batch_rows = 2.5 })
    refused({ "mr.fit", "batch_rows" }, { batch = 2, batch_rows = 8 })
    refused({ "train", "batch_rows" }, { batch_rows = 8,
      train = { count = 1, batches = function() return function() end end } })
    refused({ "mr.fit", "choose_on", "'validation'" }, { choose_on = "validation" })
    refused({ "choose_on", "'test'" }, { choose_on = "test" })
    refused({ "batch", "2.5" }, { batch = 2.5 })
    refused({ "patience", "0" }, { patience = 0 })
    for name, value in pairs{ every = 2, select = "ndcg", patience = 3 } do
      refused(name, { [name] = value })
    end
    refused("training began", { every = 1 })
    refused("training began", { every = 2, select = "ndcg", valid = queries(6) })
    refused("training began", { every = 2, select = "ndcg", test = queries(6), choose_on = "test" })
    raises(function() mr.losses.ndcg{ bound = "minmx" } end, "'minmx'", "'minmax'")
  end)

  it("checks that the model fits the data in every part", function()
    local mf = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 2 }
    refused({ "mf", "train", "6", "mr.models.mlp" }, { model = mf })
    refused({ "mlp", "train" }, { train = fold.train })
    refused({ "6", "train", "5" }, { train = queries(5) })
    refused({ "6", "test", "4" }, { test = queries(4) })
    refused({ "6", "valid", "7" }, { valid = queries(7) })
    refused({ "model", "float64", "train", "float32" }, { model = mr.models.linear{ inputs = 6, dtype = "float64" } })
    local whole = queries(6)
    whole.features = whole.features:long()
    refused({ "train", "int64" }, { train = whole })
    refused({ "model", "3", "train" },
      { train = fold.train, model = mr.models.mf{ users = 3, items = 60, factors = 2 } })
    refused({ "model", "7", "train" },
      { train = fold.train, model = mr.models.mf{ users = ratings.users, items = 7, factors = 2 } })
    -- a model object that the script made, whose sizes are unknown, so errors come only from running it
    local weights = mr.ones(6, 1):requires_grad()
    local methods = { parameters = function() return { weights } end, snapshot = function() return {} end,
      restore = function() end }
    local function forward(_, batch) return batch.features:matmul(weights):reshape(batch.lists.rows) end
    local own = setmetatable(methods, { __call = forward })
    refused({ "model", "score" }, { model = own, test = queries(4) })
  end)

  it("checks that users and items of every part are within the model's", function()
    mr.models.define("spec_pairs", {
      required = { users = "integer", items = "integer" },
      parameters = function(o) return { users = mr.zeros(o.users), items = mr.zeros(o.items) } end,
      forward = function(self, batch) return self.users:rows(batch.row_users) + self.items:rows(batch.items) end,
    })
    for _, name in ipairs{ "biased_mf", "spec_pairs" } do
      local function sized(users, items) return mr.models[name]{ users = users, items = items } end
      local all = sized(ratings.users, ratings.items)
      refused({ name, "train", "features" }, { model = all })
      refused({ "model", "3", "train" }, { train = fold.train, model = sized(3, ratings.items) })
      refused({ "model", "7", "train" }, { train = fold.train, model = sized(ratings.users, 7) })
      -- the model has items for the first test list only
      local first = fold.test:select{ lists = { 1 } }
      refused({ "test", "items" }, { train = first, test = fold.test,
        model = sized(ratings.users, math.tointeger(first.items:double():max():item())) })
    end
  end)

  it("refuses parallel = true for a model with buffers", function()
    mr.models.define("spec_buffer", {
      parameters = function() return { w = mr.zeros(6, 1) } end, buffers = function() return { mean = mr.zeros(6) } end,
      forward = function(self, batch) return (batch.features - self.mean):matmul(self.w):reshape(batch.lists.rows) end,
    })
    refused("'mean'", { model = mr.models.spec_buffer{}, parallel = true })
  end)

  it("makes a plan that cannot be changed", function()
    local plan = require("moonrank.fit.plan").of{ model = mr.models.linear{ inputs = 6 }, loss = mr.losses.ndcg(),
      train = queries(6) }
    raises(function() plan.seed = 2 end, "seed")
    equal(plan.seed, 1)
  end)

  it("does not check batches of the script's own data, which each step checks", function()
    local data = queries(6)
    local own = { count = data.count, features = data.features, batches = function() return function()
      return { lists = data.lists, size = data.count }
    end end }
    raises(function()
      mr.fit{ model = mr.models.linear{ inputs = 6 }, loss = mr.losses.ndcg(), train = own, epochs = 1,
        progress = false }
    end, "features", "batch")
  end)

  it("accepts data without lists", function()
    local empty = mr.data.dataset{ lists = mr.lists{}, features = mr.zeros(0, 6) }
    local run = mr.fit{ model = mr.models.linear{ inputs = 6 }, loss = mr.losses.ndcg(), train = empty, epochs = 1,
      progress = false }
    equal(run.history[1].loss, 0)
  end)
end)

-- Returns a loss with the function `f` of scores and lists. It counts lists in which the grades differ.
local function loss_of(name, f)
  return mr.losses.define(name, { direction = "minimize", smooth = f })()
end

it("a bound or a loss without a gradient is named in the error, with what to do", function()
  local function step(score) return score:gt(0.5):to "float32" end
  mr.bounds.define("spec_jump", step)
  mr.bounds.define("spec_detached_jump", function(score, stats) return score:detach() - stats.min end)
  local function fit(loss)
    mr.fit{ model = mr.models.linear{ inputs = 6, seed = 1 }, loss = loss, train = queries(6), epochs = 1,
      progress = false }
  end
  local capped = mr.bounds.weighted("spec_jump", { cap = 1 })
  for name, bound in pairs{ spec_jump = "spec_jump", spec_detached_jump = "spec_detached_jump", ["function"] = step,
    ["spec_jump %(cap 1%)"] = capped } do
    for _, loss in ipairs{ "ndcg", "ap", "ranknet", "lambdarank", "softmax_cross_entropy" } do
      local message = raises(function() fit(mr.losses[loss]{ bound = bound }) end, "bound", "no gradient", "smooth")
      check(message:find("bound '" .. name .. "'"), message)
    end
  end
  fit(mr.losses.policy_gradient{ bound = "spec_jump", samples = 2 })  -- needs values of the bound, but no gradient
  raises(function() fit(loss_of("spec_constant", function(scores, lists) return lists:sum(scores:detach()) end)) end,
    "loss 'spec_constant'", "no gradient", "mr.gradcheck")
end)

describe("a NaN during mr.fit", function()
  local function fit(options)
    local all = { model = mr.models.linear{ inputs = 6, seed = 1 }, loss = mr.losses.ndcg(), train = queries(6),
      batch = 5, shuffle = false, epochs = 3, progress = false, optimizer = mr.optim.sgd{ lr = 0.01 } }
    for name, value in pairs(options) do all[name] = value end
    return mr.fit(all)
  end

  it("stops training with epoch, batch, list, line and operation", on_cpu(function()
    local calls, first = 0, debug.getinfo(1, "l").currentline
    local broken = loss_of("spec_log", function(scores, lists)
      calls = calls + 1
      local x = lists:sum(scores)
      if calls >= 6 then
        local ones = {}
        for i = 1, #x do ones[i] = i == 3 and 0 or 1 end
        return (x * 0 + mr.tensor(ones)):log()
      end
      return x * x
    end)
    raises(function() fit{ loss = broken } end,
      "loss", "epoch 2", "batch 2", "list 3", ("fit_checks_spec.lua:%d"):format(first + 7), "'log'")
    local nan = loss_of("spec_sqrt", function(scores, lists) return (lists:sum(scores) * 0 - 1):sqrt() end)
    raises(function() fit{ loss = nan } end,
      "loss", "NaN", "epoch 1", "batch 1", "list 1", ("fit_checks_spec.lua:%d"):format(first + 14),
      "'sqrt'", "entry 1")
  end))

  it("is reported if it is in the features or the parameters", on_cpu(function()
    local train = queries(6)
    local rows = train.features:totable()
    rows[train.lists.sizes:totable()[1] + 2][4] = 0 / 0
    local bad = mr.data.dataset{ lists = train.lists, features = mr.tensor(rows), missing = true }
    raises(function() fit{ train = bad } end, "epoch 1", "batch 1", "list 2", "features")
    raises(function() fit{ optimizer = mr.optim.sgd{ lr = 1e38 }, loss = mr.losses.ranknet() } end, "parameters")
  end))

  it("is reported by validation and test if the last step made it", function()
    local all = queries(6)
    local function last_step(parts)
      parts.batch, parts.epochs, parts.metrics, parts.optimizer = all.count, 1, { "ndcg" }, mr.optim.sgd{ lr = 1e45 }
      return function() fit(parts) end
    end
    raises(last_step{ valid = all }, "NaN", "valid", "epoch 1", "tensor 1")
    raises(last_step{ valid = all, choose_on = "test", test = all }, "NaN", "test", "epoch 1", "tensor 1")
    raises(last_step{ test = all }, "NaN", "test", "tensor 1")
  end)

  it("is reported with the user", on_cpu(function()
    local mf = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 2 }
    local nan = loss_of("spec_user", function(scores, lists) return (lists:sum(scores) * 0 - 1):sqrt() end)
    raises(function() fit{ model = mf, train = fold.train, loss = nan } end, "NaN", "list 1", "user")
  end))

  it("is reported by mr.detect_anomaly at the operation that made it, also in a derivative", function()
    local infinite_slope = loss_of("spec_slope", function(scores, lists) return (lists:sum(scores) * 0):sqrt() end)
    local anomaly = mr.detect_anomaly
    local function logs(t) return function() return t:log():sum() end end
    raises(function() anomaly(function() fit{ loss = infinite_slope } end) end, "NaN", "epoch 1", "batch 1", "'mul'")
    raises(function() anomaly(logs(mr.tensor{ 0, -1 })) end, "'log'", "NaN", "entry 2")
    raises(function() anomaly(logs(mr.tensor{ 0, 1 }), { infinite = true }) end, "'log'", "1", "2")
    raises(function() anomaly(function() return (mr.tensor{ 1, 0 / 0 } + 1):sum() end) end, "'add'", "NaN", "2")
    equal({ mr.detect_anomaly(function() return mr.tensor{ 0, 1 }:log():exp():sum():item(), 2 end) }, { 1.0, 2 })
    check(pcall(function() return mr.tensor{ -1 }:log():sum() end), "it is off again")
    raises(function() mr.detect_anomaly(3) end, "f", "3")
    raises(function() mr.detect_anomaly(print, { infinity = true }) end, "'infinity'", "'infinite'")
  end)

  it("is searched for by mr.detect_anomaly without a change of results", function()
    local function weights() return fit{}.history[3].loss end
    equal(mr.detect_anomaly(weights), weights())
  end)

  it("is searched for with the random numbers and buffers of the failed step", on_cpu(function()
    local draws = {}
    mr.models.define("spec_noise", {
      parameters = function() return { w = mr.ones(6, 1) } end, buffers = function() return { steps = mr.zeros(1) } end,
      forward = function(self, batch)
        local noise = mr.uniform({ batch.lists.rows })
        if batch.training then self.steps = self.steps + 1 end
        local step = self.steps:item()
        draws[step] = draws[step] or {}
        table.insert(draws[step], noise:totable())
        local x = batch.features:matmul(self.w):reshape(batch.lists.rows)
        return step < 3 and x or x + noise:ge(noise:max():item()):where(0 / 0, 0)
      end,
    })
    local model = mr.models.spec_noise{}
    local ok, message = pcall(fit, { model = model })
    check(not ok and message:find "epoch 1" and message:find "batch 3" and message:find "list %d", message)
    equal({ #draws, model:buffers().steps:item() }, { 3, 2.0 })
    check(#draws[3] > 1, "the batch was done again")
    for _, again in ipairs(draws[3]) do equal(again, draws[3][1]) end
  end))
end)

it("mr.fit draws for validation and test by its seed and the epoch, not by earlier random numbers", function()
  mr.models.define("spec_drawn", {
    parameters = function() return { w = mr.ones(6, 1) } end,
    forward = function(self, batch)
      return batch.features:matmul(self.w):reshape(batch.lists.rows) + mr.normal({ batch.lists.rows })
    end,
  })
  local function fit(seed)
    local data = queries(6)
    local run = mr.fit{ model = mr.models.spec_drawn{}, loss = mr.losses.ndcg(), train = data, valid = data,
      test = data, epochs = 2, metrics = { "ndcg", "rr" }, select = { "ndcg", "rr" }, progress = false, seed = seed,
      each_epoch = function() mr.normal({ 3 }) end }
    return { run:to_csv(), run.scores.ndcg:totable(), run.scores.rr:totable() }
  end
  mr.seed(1)
  local first = fit(1)
  mr.normal({ 3 })
  equal(fit(1), first)
  mr.seed(9)
  equal(fit(1), first)
  local second = fit(2)
  check(second[1] ~= first[1], "another seed draws others")
end)
