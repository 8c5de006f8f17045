-- Tests studies with few trials: generations of samplers, warmup of pruners, even spread of points, the first points,
-- and mr.seeds.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local function sweep(folder, options)
  local o = { name = "s", store = folder .. "/r.db", space = { x = mr.uniform(0, 1), lr = mr.loguniform(1e-4, 1) },
    metric = "ndcg", sampler = "tpe", pruner = "median", trials = 24, workers = 0, progress = false,
    run = function(trial)
      local best = 1 - (trial.x - 0.3) ^ 2 - (math.log(trial.lr, 10) + 2) ^ 2 / 16
      for step = 1, 20 do trial:report(step, { ndcg = best * (1 - 0.5 ^ step) }) end
      return { ndcg = best }
    end }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

it("mr.sweep with 24 trials, tpe and median prunes none before step 4 and suggests no near-copies", function()
  local folder = sweeps.new_folder()
  for seed = 1, 3 do
    local r = sweep(folder, { name = "s" .. seed, seed = seed })
    local columns = { "number", "state", "x", "lr", "reason" }
    local points = r:trials{ columns = columns, states = { "done", "pruned" } }.rows
    equal(#points, 24)
    local near = 0
    for i, a in ipairs(points) do
      check(a[2] == "done" or math.tointeger(a[5]:match "step (%d+)") > 3, a[5])
      for j = (i - 1) // 4 * 4 + 1, i - 1 do
        local b = points[j]
        if math.abs(a[3] - b[3]) < 0.01 and math.abs(math.log(a[4] / b[4], 10)) < 0.04 then near = near + 1 end
      end
    end
    check(near == 0, ("seed %d: %d near-copies"):format(seed, near))
  end
end)

it("mr.sweep keeps the generation size of a study and sets it by trials and workers at first", function()
  local folder = sweeps.new_folder()
  local function sampler(name) return mr.results(folder .. "/r.db", name).study.sampler end
  sweep(folder)
  check(sampler "s":find("generation = 4", 1, true) and not sampler "s":find("generation = 10", 1, true), sampler "s")
  equal(sweep(folder, { trials = 90 }):counts().running, nil)
  check(sampler "s":find("generation = 4", 1, true), sampler "s")
  local pruner = { "median", generation = 10, warmup = 0 }
  sweep(folder, { name = "old", sampler = { "tpe", generation = 10 }, pruner = pruner })
  sweep(folder, { name = "old" })
  check(sampler "old":find("generation = 10", 1, true) and sampler "old":find("warmup = 0", 1, true), sampler "old")
  raises(function() sweep(folder, { name = "old", sampler = { "tpe", generation = 5 } }) end, "sampler")
end)

it("the median pruner with warmup = 'auto' waits a fifth of the epochs of mr.fit", function()
  local pruners = require "moonrank.sweep.search.pruners"
  local pruner = pruners.make{ "median", warmup = "auto", generation = 1, startup = 1 }
  local function pruned_at(epochs)
    local other = { number = 1, state = "done", reports = {} }
    for step = 1, 50 do other.reports[step] = { step = step, value = 1 } end
    local trial = { number = 2, epochs = epochs, reports = {} }
    for step = 1, 50 do
      trial.reports[step] = { step = step, value = 0 }
      if pruner:decide(trial, { other }) then return step end
    end
  end
  equal({ pruned_at(nil), pruned_at(10), pruned_at(50) }, { 4, 4, 11 })
end)

it("mr.sweep takes the first points from option first and other parameters from the sampler", function()
  local folder = sweeps.new_folder()
  local first = { { lr = 0.01 }, { lr = 0.1, x = 0.5 } }
  local rows = sweep(folder, { first = first }):trials{ columns = { "lr", "x" } }.rows
  local without = sweep(folder, { name = "without" }):trials{ columns = { "lr", "x" } }.rows
  equal({ rows[1][1], rows[1][2], rows[2] }, { 0.01, without[1][2], { 0.1, 0.5 } })
  equal(rows[3], without[3])
  equal(sweep(folder, { first = first }):counts().failed, nil)
  raises(function() sweep(folder, { first = { { lr = 0.02 } } }) end, "sampler")
  for _, bad in ipairs{ { { lr = 2 } }, { { rate = 0.1 } }, { 0.1 }, { lr = 0.1 }, 5 } do
    raises(function() sweep(folder, { name = "bad", first = bad }) end, "first")
  end
  local grid = { name = "bad", first = first, sampler = "grid", space = { lr = mr.choice{ 1 } } }
  raises(function() sweep(folder, grid) end, "first")
end)

it("mr.seeds makes a parameter of seeds and rejects invalid counts", function()
  sweeps.in_folder(function(folder)
    local r = sweep(folder, { space = { s = mr.seeds(3), a = mr.choice{ 1, 2 } }, sampler = "grid", trials = 6,
      run = function(trial) return { ndcg = trial.a + trial.s / 10 } end })
    equal(r:counts(), { done = 6 })
    equal(r:best({}, { over = "s" }).rows[1][1], 2)
  end)
  for _, bad in ipairs{ 0, 1.5, "3", -1 } do raises(function() mr.seeds(bad) end, "seeds") end
end)
