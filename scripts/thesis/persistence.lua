-- Makes the training runs of table_5_1_nrbp.lua: every loss under every bound as in Table 5.1, judged by nRBP with
-- persistence 0.95, 0.9 and 0.8. Each of these metrics chooses an epoch of its own on validation (on test with --recipe
-- published), and measures the test lists with the model of that epoch.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

local M = { metrics = { "nrbp(0.95)", "nrbp(0.9)", "nrbp(0.8)" } }

-- Trains one model and tests it by each metric, at the epoch that this metric chose. The result has, by metric, the
-- mean over the test lists, the chosen epoch, and the value of every test list.
local function run(args, set, rates, trial)
  local fold = set.fold(trial[set.setting], trial.split, args.seed)
  local fitted = protocol.train(set, fold, {
    seed = args.seed, loss = mr.losses[trial.loss]{ bound = protocol.bound(trial.bound, args.samples) },
    rate = rates[trial.loss][trial.bound], metrics = M.metrics, select = M.metrics, recipe = args.recipe })
  local result = { valid = fitted.best.metrics[M.metrics[1]], per_list = {} }
  for i, name in ipairs(M.metrics) do
    result[name], result["epoch_" .. i] = fitted.test.mean[name], fitted.choices[i].best.epoch
    result.per_list[name] = fitted.scores[name]
  end
  result.per_list.list = protocol.list_names(fold.test, trial.split)
  return result
end

---The results of the training runs on a data set, one run per setting (negatives per relevant item, or least relevant
---label), loss, bound and fold. Runs that are not yet stored are made.
---@param args table  parsed command line (training.args), with a `seed`
---@param name "movielens"|"mq2008"
---@return mr.Results
function M.study(args, name)
  local set, rates = runs.set(args, name), runs.rates[name]
  return runs.study(args, {
    name = ("nRBP, %s, seed %d"):format(name, args.seed),
    settings = { epochs = set.epochs, patience = set.patience, rates = runs.rates_text(name), recipe = args.recipe,
      samples = args.samples },
    space = { loss = mr.choice(runs.losses), bound = mr.choice(runs.bounds), split = mr.range(1, set.folds),
      [set.setting] = mr.choice(set.values) },
    run = function(trial) return run(args, set, rates, trial) end,
  })
end

return M
