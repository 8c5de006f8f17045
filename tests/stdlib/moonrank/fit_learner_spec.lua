-- Tests losses with parameters, which mr.fit trains together with the model's: steps computed by hand, checkpoints,
-- chosen epochs, several processes, sweeps.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local function queries(seed)
  local x = mr.normal({ 240, 3 }, { seed = seed })
  local s, lists = x:matmul(mr.tensor{ { 1 }, { -1 }, { 0.5 } }):reshape(240):totable(), {}
  for l = 1, 24 do
    lists[l] = {}
    for i = 1, 10 do
      local truth = s[10 * (l - 1) + i]
      lists[l][i] = truth > 2 and 2 or truth > 0.5 and 1 or 0
    end
  end
  return mr.data.dataset{ lists = mr.lists(lists), features = x }
end
local train, valid = queries(1), queries(2)

local function fit(options)
  local o = { model = mr.models.linear{ inputs = 3, seed = 1 }, loss = mr.losses.ordinal{ levels = 2, learn = true },
    train = train, valid = valid, optimizer = mr.optim.adam{ lr = 0.05 }, batch = 8, epochs = 6,
    metrics = { "ndcg" }, progress = false }
  for name, value in pairs(options or {}) do o[name] = value end
  local run = mr.fit(o)
  local thresholds = o.loss:parameters()[1]
  return { thresholds = thresholds and thresholds:totable(), weights = o.model:parameters()[1]:totable(), run = run }
end

describe("a loss with parameters in mr.fit", function()
  it("takes gradient steps, clipped together with the model's", function()
    local data = mr.data.dataset{ lists = mr.lists{ { 0, 2 } }, features = mr.tensor{ { 0 }, { 0 } } }
    local function sigma(t) return 1 / (1 + math.exp(-t)) end
    -- all scores are 0: the derivative by a threshold is (number of rows whose grade reaches it - 2 sigma(-threshold))
    -- / 2 rows
    local slopes = { (1 - 2 * sigma(-0.5)) / 2, (1 - 2 * sigma(-1.5)) / 2 }
    for _, clip in ipairs{ 1e9, 0.1 } do
      local model, loss = mr.models.linear{ inputs = 1, seed = 1 }, mr.losses.ordinal{ levels = 2, learn = true }
      local zeros = { buffers = {} }
      for i, parameter in ipairs(model:parameters()) do zeros[i] = mr.zeros(parameter:shape()) end
      model:restore(zeros)
      mr.fit{ model = model, loss = loss, train = data, epochs = 1, optimizer = mr.optim.sgd{ lr = 1 }, clip = clip,
        progress = false }
      local norm = math.sqrt(slopes[1] ^ 2 + slopes[2] ^ 2 + (slopes[1] + slopes[2]) ^ 2)
      local scale = math.min(1, clip / norm)
      near(loss:parameters()[1]:totable(), { 0.5 - scale * slopes[1], 1.5 - scale * slopes[2] }, 1e-6)
    end
  end)

  it("learns better thresholds than the initial ones", function()
    local learnt, fixed = fit{ epochs = 40 }, fit{ epochs = 40, loss = mr.losses.ordinal{ levels = 2 } }
    check(learnt.run.history[40].loss < 0.8 * fixed.run.history[40].loss, learnt.run.history[40].loss)
    local apart = (learnt.thresholds[2] - learnt.thresholds[1]) / learnt.weights[1][1]
    check(apart > 1.2 and apart < 2, apart)  -- the scores separate grades by thresholds 0.5 and 2 if the weight is 1
    equal(mr.losses.ordinal{ thresholds = mr.tensor{ 1, 2 }:requires_grad() }.options.learn, true)
    equal(#mr.losses.ordinal{ thresholds = mr.tensor{ 1, 2 }:requires_grad(), learn = false }:parameters(), 0)
    equal(#mr.losses.ndcg():parameters(), 0)
  end)

  it("is restored with the model to the chosen epoch of each metric in select", function()
    local seen = {}
    local loss = mr.losses.ordinal{ levels = 2, learn = true }
    local found = fit{ loss = loss, metrics = { "ndcg", "rr" }, select = { "ndcg", "rr" }, epochs = 12,
      optimizer = mr.optim.adam{ lr = 1.0 },
      each_epoch = function(epoch) seen[epoch] = loss:parameters()[1]:totable() end }
    equal(found.thresholds, seen[found.run.best.epoch])
    for _, choice in ipairs(found.run.choices) do
      found.run:restore(choice.metric.name)
      equal(loss:parameters()[1]:totable(), seen[choice.best.epoch])
    end
  end)

  it("resumes from a checkpoint to the same bits", function()
    local folder = sweeps.new_folder()
    local path, whole = folder .. "/fit.safetensors", fit()
    check(not pcall(fit, { checkpoint = path, each_epoch = function(epoch)
      if epoch == 3 then error("stopped here", 0) end
    end }))
    local again = fit{ checkpoint = path }
    equal(again.run.resumed, 2)
    local function parts(of) return { of.thresholds, of.weights, of.run:to_csv() } end
    equal(parts(again), parts(whole))
    raises(function() fit{ checkpoint = path, loss = mr.losses.ordinal{ levels = 2 } } end,
      "loss.learn", "true", "false")
  end)

  it("is created anew for every trial of mr.sweep", function()
    local folder = sweeps.new_folder()
    local study = mr.sweep{ name = "thresholds", store = folder .. "/r.db", metric = "first", direction = "maximize",
      space = { lr = mr.choice{ 0.01, 0.05 } }, sampler = "grid", progress = false, run = function(trial)
        return { first = fit{ optimizer = mr.optim.adam{ lr = trial.lr } }.thresholds[1] }
      end }
    local best = study:best()
    equal(best.value, fit{ optimizer = mr.optim.adam{ lr = best.params.lr } }.thresholds[1])
  end)
end)

local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local data = mr.data.synthetic{ kind = "queries", queries = 70, seed = 1 }
local model = mr.models.linear{ inputs = data.features:size(2), seed = 1 }
local loss = mr.losses.ordinal{ levels = 4, learn = true }
mr.fit{ model = model, loss = loss, train = data, epochs = 3, parallel = true, progress = false,
  optimizer = mr.optim.sgd{ lr = 0.1 } }
core.write_file("t" .. core.launched(), table.concat(loss:parameters()[1]:totable(), " "))
]]

local mpirun, why = sweeps.mpirun(2)
it("mr.fit with parallel = true learns the same parameters of a loss as one process", function()
  if not mpirun or not sweeps.moonrank then return test.skip(why or "MOONRANK does not name the program") end
  local folder = sweeps.new_folder()
  sweeps.write(folder .. "/train.lua", script)
  local function found(before)
    local status, _, err = sweeps.run(folder, "train.lua", "", before)
    equal(status, 0, err)
    local numbers = {}
    for rank = 0, before == "" and 0 or 1 do
      numbers[rank + 1] = {}
      for number in io.lines(folder .. "/t" .. rank, "n") do table.insert(numbers[rank + 1], number) end
    end
    return table.unpack(numbers)
  end
  local alone = found ""
  local first, second = found(mpirun)
  equal(second, first)
  near(first, alone, 1e-5)
  check(math.abs(alone[1] - 0.5) > 1e-3, alone[1])
end)
