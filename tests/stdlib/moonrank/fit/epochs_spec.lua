-- Tests training epochs on the GPU or the emulated GPU: the program waits for the GPU once per epoch, NaN is reported
-- at its end, and steps that are recorded and replayed give the same numbers.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local was = mr.device()

-- Runs `body` with the GPU as the default device, if there is one.
local function on_cuda(body)
  return function()
    if not mr.has_cuda() then return test.skip("no CUDA device") end
    mr.device("cuda")
    local ok, message = pcall(body)
    mr.device(was)
    if not ok then error(message, 0) end
  end
end

local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 80, seed = 1 }
local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
local queries = mr.data.synthetic{ kind = "queries", queries = 12, features = 5, seed = 1 }

it("mr.fit passes batch.step counted from 1 over all epochs", function()
  local steps = {}
  mr.models.define("spec_steps", {
    parameters = function() return { w = mr.zeros({ 5 }) } end,
    forward = function(self, batch)
      if batch.training then steps[#steps + 1] = batch.step end
      return batch.features:matmul(self.w:reshape(5, 1)):reshape(batch.lists.rows)
    end,
  })
  mr.fit{ model = mr.models.spec_steps{}, loss = mr.losses.mse{}, train = queries, epochs = 3, batch = 5,
    progress = false, optimizer = mr.optim.sgd{ lr = 0.01 } }
  equal(steps, { 1, 2, 3, 4, 5, 6, 7, 8, 9 })
end)

it("mr.fit calls penalty and constrain of library models and of models that scripts write", function()
  local inner, outer, calls = mr.models.linear{ inputs = 5 }, mr.models.linear{ inputs = 5 }, {}
  local function called(name)
    return function(self)
      calls[name] = (calls[name] or 0) + 1
      return name == "penalty" and (self:parameters()[1] * 0):sum() or nil
    end
  end
  inner.penalty, inner.constrain = called "penalty", called "constrain"
  local own = setmetatable({ penalty = called "penalty", constrain = called "constrain",
    parameters = function() return outer:parameters() end },
    { __index = outer, __call = function(_, batch) return outer(batch) end })
  for _, model in ipairs{ inner, own } do
    calls = {}
    mr.fit{ model = model, loss = mr.losses.mse{}, train = queries, epochs = 2, batch = 6, progress = false }
    equal(calls, { penalty = 4, constrain = 4 })
  end
end)

local kinds = {
  mf = { data = fold.train,
    model = function() return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 1 } end },
  mlp = { data = queries,
    model = function() return mr.models.mlp{ inputs = 5, hidden = { 7, 3 }, activation = "tanh", seed = 1 } end },
}

local function fit(kind, options)
  local all = { model = kind.model(), loss = mr.losses.ndcg(), train = kind.data, batch = 8, epochs = 5,
    progress = false, optimizer = mr.optim.adam{ lr = 0.01 } }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all), all.model
end

-- A loss defined by a script. Steps with it are never recorded, because its function may do something else in each
-- step.
local function plain(loss)
  return setmetatable({ count = function(_, lists) return loss:count(lists) end },
    { __call = function(_, ...) return loss(...) end })
end

describe("an epoch on the GPU", function()
  it("waits for the GPU once, at its end", on_cuda(function()
    for name, kind in pairs(kinds) do
      for _, data in ipairs{ kind.data, kind.data:to("cuda") } do
        for _, loss in ipairs{ mr.losses.ndcg(), mr.losses.ap{ bound = "minmax" }, mr.losses.rr{ bound = "zscore" },
          mr.losses.nrbp(), mr.losses.lambdarank{ metric = "ap" }, mr.losses.ap{ bound = "distribution" } } do
          local waits = {}
          local function count_waits() waits[#waits + 1] = core.cuda_waits() end
          fit({ model = kind.model, data = data }, { loss = loss, each_epoch = count_waits })
          for epoch = 2, 5 do
            equal(waits[epoch + 1] - waits[epoch], 1, ("%s, %s, epoch %d"):format(name, loss, epoch))
          end
        end
      end
    end
  end))

  it("waits for the GPU once with any number of uploads", on_cuda(function()
    for name, kind in pairs(kinds) do
      local waits = {}
      fit(kind, { batch = 1, epochs = 3, each_epoch = function() waits[#waits + 1] = core.cuda_waits() end })
      equal({ waits[3] - waits[2], waits[4] and waits[4] - waits[3] or 1 }, { 1, 1 }, name)
    end
  end))

  it("is not replayed in mr.profile and gives the same numbers there", on_cuda(function()
    for name, kind in pairs(kinds) do
      local first, model = fit(kind, { shuffle = false })
      check(first.replayed > 0, name)
      local profile, run, other = mr.profile(function() return fit(kind, { shuffle = false }) end, { quiet = true })
      check(profile.synchronized and tostring(profile):find "waited for the GPU", name)
      equal(run.replayed, 0)
      local steps = 0
      for _, row in ipairs(profile.rows) do steps = steps + (row.operation == "adam_step" and row.calls or 0) end
      equal(steps, 5 * math.ceil(kind.data.count / 8))
      for i, parameter in ipairs(model:parameters()) do near(other:parameters()[i], parameter, 1e-6, name) end
    end
  end))

  it("reports NaN at its end with the operation, and later checks wait again", on_cuda(function()
    for _, case in ipairs{ { mr.losses.ndcg(), "smooth_ndcg" }, { mr.losses.rr(), "smooth_rr" },
      { mr.losses.ranknet(), "ranking" } } do
      local loss, operation = table.unpack(case)
      local model = kinds.mlp.model()
      local weights = model:parameters()[1]
      core.restore(weights, weights:detach() / 0 * 0)
      raises(function()
        mr.fit{ model = model, loss = loss, train = queries, epochs = 2, progress = false }
      end, operation, "scores", "NaN")
      raises(function() return mr.smooth.ap(mr.tensor{ 1, 0 / 0 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN", "2")
    end
  end))

  it("gives the numbers of the CPU", on_cuda(function()
    for name, kind in pairs(kinds) do
      local runs = {}
      for _, device in ipairs{ "cpu", "cuda" } do
        mr.device(device)
        local run, model = fit(kind, { optimizer = mr.optim.adam{ lr = 0.01, sparse = name == "mf" } })
        runs[device] = { loss = run.history[5].loss, parameter = model:parameters()[1]:to("cpu") }
      end
      near(runs.cuda.loss, runs.cpu.loss, 1e-4, name)
      near(runs.cuda.parameter, runs.cpu.parameter, 2e-3, name)
    end
  end))
end)

describe("a replayed epoch on the GPU", function()
  it("gives the same numbers as launched steps", on_cuda(function()
    for name, kind in pairs(kinds) do
      for _, optimizer in ipairs{ mr.optim.adam{ lr = 0.02 }, mr.optim.adam{ lr = 0.02, sparse = name == "mf" },
        mr.optim.sgd{ lr = 0.05, momentum = 0.9 } } do
        for _, loss in ipairs{ mr.losses.ap{ bound = "minmax" }, mr.losses.ndcg() } do
          local options = { shuffle = false, optimizer = optimizer, valid = kind.data, metrics = { "ap" } }
          options.loss = loss
          local recorded, model = fit(kind, options)
          options.loss = plain(loss)
          local launched, other = fit(kind, options)
          equal({ recorded.replayed, launched.replayed }, { 4, 0 })
          for epoch = 1, 5 do
            equal(recorded.history[epoch].loss, launched.history[epoch].loss)
            equal(recorded.history[epoch].metrics.ap, launched.history[epoch].metrics.ap)
          end
          for i, parameter in ipairs(model:parameters()) do
            equal(parameter:totable(), other:parameters()[i]:totable())
          end
        end
      end
    end
  end))

  it("needs one batch or no shuffling, and no script functions", on_cuda(function()
    equal(fit(kinds.mf, { batch = 1000 }).replayed, 4)
    equal(fit(kinds.mf).replayed, 0)
    local function twice(score) return score * 2 end
    for _, bound in ipairs{ twice, mr.bounds.weighted(twice, { cap = 3 }) } do
      equal(fit(kinds.mlp, { shuffle = false, loss = mr.losses.ap{ bound = bound } }).replayed, 0)
    end
  end))

  it("is recorded again if the options of the optimizer change", on_cuda(function()
    local function options(loss)
      local optimizer = mr.optim.adam{ lr = 0.1 }
      return { shuffle = false, loss = loss, optimizer = optimizer,
        each_epoch = function(epoch) optimizer.options.lr = epoch < 3 and 0.1 or 0.01 end }
    end
    local recorded, model = fit(kinds.mlp, options(mr.losses.ndcg()))
    local _, other = fit(kinds.mlp, options(plain(mr.losses.ndcg())))
    equal(recorded.replayed, 4)
    for i, parameter in ipairs(model:parameters()) do equal(parameter:totable(), other:parameters()[i]:totable()) end
  end))

  it("frees its memory", on_cuda(function()
    fit(kinds.mlp, { shuffle = false })
    collectgarbage()
    local held = core.held_bytes()
    fit(kinds.mlp, { shuffle = false })
    collectgarbage()
    check(core.held_bytes() <= held)
  end))
end)
