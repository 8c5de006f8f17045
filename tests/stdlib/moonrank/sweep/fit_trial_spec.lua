-- Tests mr.fit in trials: resuming a killed trial from its checkpoint, reports of epochs, and pruning.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local queries = mr.data.synthetic{ kind = "queries", queries = 30, features = 4, seed = 1 }

local function fit(trial, options)
  local all = { model = mr.models.linear{ inputs = 4, seed = trial.seed }, loss = mr.losses.ndcg(), train = queries,
    valid = queries, test = queries, metrics = { "ndcg", "rr" }, epochs = 4, batch = 8, trial = trial,
    progress = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all)
end

local script = [[
local mr = require "moonrank"
local args = mr.args{ kill = false, store = "r.db" }
local queries = mr.data.synthetic{ kind = "queries", queries = 30, features = 4, seed = 1 }
mr.sweep{ name = "s", store = args.store, metric = "valid_ndcg", space = { lr = mr.choice{ 0.01, 0.1, 0.5 } },
  workers = 2, retry = 3, settings = { kill = args.kill }, progress = false, run = function(trial)
    local run = mr.fit{ model = mr.models.mlp{ inputs = 4, hidden = { 3 }, seed = 1 }, loss = mr.losses.ndcg(),
      train = queries, valid = queries, test = queries, metrics = { "ndcg", "rr" }, epochs = 6, batch = 8,
      optimizer = mr.optim.adam{ lr = trial.lr }, trial = trial, checkpoint = true, progress = false,
      each_epoch = function(epoch)
        if args.kill and epoch == 2 * trial.attempt then os.exit(9) end
      end }
    local log = io.open(("%s.log"):format(trial.checkpoint), "a")
    log:write(("attempt %d went on from %d\n"):format(trial.attempt, run.resumed))
    log:close()
    return run
  end }
]]

it("mr.fit in a killed trial resumes from its last epoch to the same numbers", function()
  local folder = sweeps.new_folder(script)
  for name, arguments in pairs{ whole = "--store whole.db", killed = "--store killed.db --kill" } do
    local status, _, err = sweeps.run(folder, "sweep.lua", arguments)
    equal(status, 0, name .. err)
  end
  local columns = { "number", "valid_ndcg", "valid_rr", "ndcg", "best_epoch" }
  local whole, killed = mr.results(folder .. "/whole.db"), mr.results(folder .. "/killed.db")
  equal(killed:trials{ columns = columns }.rows, whole:trials{ columns = columns }.rows)
  equal(killed:reports(2), whole:reports(2))
  equal(#killed:reports(2).valid_loss.steps, 6)
  equal(killed:trials{ columns = { "attempts" } }.rows, { { 4 }, { 4 }, { 4 } })
  equal(sweeps.read(folder .. "/killed.db.files/s/trial_2.log"), "attempt 4 went on from 5\n")
  local left = core.list_folder(folder .. "/killed.db.files/s")
  table.sort(left)
  equal(left, { "trial_1.log", "trial_2.log", "trial_3.log" }, "checkpoints are removed with their trials")
end)

-- Runs a sweep in this process, without workers.
local function sweep(folder, name, options, run)
  local all = { name = name, store = folder .. "/here.db", workers = 0, progress = false, metric = "valid_ndcg",
    space = { rate = mr.choice{ 0.5, 0.1, 0.01, 1e-6 } }, run = run }
  for option, value in pairs(options) do all[option] = value end
  return mr.sweep(all)
end

it("mr.fit in a trial reports every epoch, and a pruner can stop it", function()
  local folder = sweeps.new_folder()
  local r = sweep(folder, "plain", {}, function(trial)
    return fit(trial, { optimizer = mr.optim.adam{ lr = trial.rate } })
  end)
  local reports = r:reports(1)
  equal(reports.valid_ndcg.steps, { 1, 2, 3, 4 })
  check(reports.loss and reports.valid_loss and reports.valid_rr and not reports.ndcg)
  local pruned = sweep(folder, "pruned", { pruner = { "median", startup = 1, generation = 1 } }, function(trial)
    return fit(trial, { optimizer = mr.optim.sgd{ lr = trial.rate } })
  end)
  check((pruned:counts().pruned or 0) > 0, "one is pruned")
end)

it("mr.fit rejects an invalid trial and a pruning metric that no epoch reports", function()
  raises(function() fit({ seed = 1 }) end, "trial", "table", "mr.sweep")
  local folder = sweeps.new_folder()
  local r = sweep(folder, "bad", { metric = "ndcg", pruner = "median" }, function(trial) return fit(trial) end)
  local reason = r:trials{ columns = { "reason" } }.rows[1][1]
  check(reason:find("'ndcg'", 1, true) and reason:find("loss, valid_loss, valid_ndcg, valid_rr", 1, true), reason)
end)

it("mr.fit in a paused trial trains each epoch once and ends with the numbers of a whole training", function()
  local folder = sweeps.new_folder()
  local trained = {}
  local function run(trial)
    local function each_epoch(epoch)
      if epoch > 0 then trained[#trained + 1] = ("%d %d"):format(trial.number, epoch) end
    end
    return fit(trial, { optimizer = mr.optim.adam{ lr = trial.rate }, epochs = 9, checkpoint = true,
      each_epoch = each_epoch })
  end
  local space = { rate = mr.loguniform(1e-4, 1) }
  local options = { space = space, sampler = "random", pruner = { "hyperband", max_resource = 9 } }
  local r = sweep(folder, "halved", options, run)
  equal(r:counts(), { done = 1 + 1 + 3, pruned = 8 + 4 })
  check(not core.file_exists(folder .. "/here.db.files"), "no checkpoint is left of trials that ended or were pruned")
  -- epochs trained in all brackets: 9 trials to epoch 1, of which 3 to epoch 3 and 1 to epoch 9; 5 to epoch 3, of which
  -- 1 to epoch 9; 3 to epoch 9
  equal(#trained, 9 + 6 + 6 + 15 + 6 + 27)
  local seen = {}
  for _, each in ipairs(trained) do
    check(not seen[each], each)
    seen[each] = true
  end
  local whole = sweep(folder, "whole", { space = space, sampler = "random", trials = 17 }, run)
  local columns = { "number", "valid_ndcg", "valid_rr", "ndcg", "best_epoch" }
  local rows = whole:trials{ columns = columns }.rows
  for _, row in ipairs(r:trials{ columns = columns, states = { "done" } }.rows) do
    equal(row, rows[row[1]])
    equal(r:reports(row[1]), whole:reports(row[1]))
  end
end)

it("mr.sweep removes checkpoints of trials that ended, failed or were pruned and keeps other files", function()
  local folder = sweeps.new_folder()
  local files = folder .. "/here.db.files"
  local function study(name, after, options)
    return sweep(folder, name, options or {}, function(trial)
      local run = fit(trial, { optimizer = mr.optim.sgd{ lr = trial.rate }, checkpoint = true })
      after(trial)
      return run
    end)
  end
  local function check_there(trial) check(core.file_exists(trial.checkpoint .. "/fit.safetensors")) end
  study("ended", check_there)
  study("failed", function(trial) error("trial " .. trial.number) end)
  study("pruned", function() end, { pruner = { "median", startup = 1, generation = 1 } })
  check(not core.file_exists(files))
  study("own", function(trial) sweeps.write(trial.checkpoint .. "/model.txt", "kept") end)
  equal(core.list_folder(files .. "/own/trial_1"), { "model.txt" })
  os.execute("rm -r " .. files)
  -- checkpoints or temporary files of an earlier run that was killed may still exist
  for _, name in ipairs{ "fit.safetensors", ".moonrank-0123456789abcdef.tmp" } do
    os.execute(("mkdir -p %s/ended/trial_1"):format(files))
    sweeps.write(("%s/ended/trial_1/%s"):format(files, name), "old")
  end
  equal(study("ended", check_there):counts(), { done = 4 })
  check(not core.file_exists(files))
end)

it("mr.sweep keeps the checkpoint of a trial that was killed without retries", function()
  local folder = sweeps.new_folder((script:gsub("retry = 3", "retry = 0")))
  local status, _, err = sweeps.run(folder, "sweep.lua", "--store killed.db --kill")
  equal(status, 0, err)
  equal(mr.results(folder .. "/killed.db"):counts(), { killed = 3 })
  check(core.file_exists(folder .. "/killed.db.files/s/trial_2/fit.safetensors"))
end)
