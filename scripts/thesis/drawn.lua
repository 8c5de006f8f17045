-- Makes the training runs of sampled_expectations.lua. Losses are trained under the two bounds that need an expected
-- metric: with the exact expectation, and with means over several numbers of random rankings, as in the thesis
-- (section 4.3).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

local M = { bounds = { "expectation", "expectation_max" } }

---Numbers of random rankings by whose mean the expected metric of a list is estimated; models are trained with each. 0
---stands for the exact expectation. With --smoke there are only two.
function M.samples(args) return args.smoke and { 0, 10 } or { 0, 10, 100, 1000, 300000 } end

---The metric by whose expectation each loss is bounded, by name of the loss. Random rankings are measured by this
---metric.
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp_loss" }

local means = mr.experiment.cache()

---The mean of a metric over `samples` random rankings of a list with n rows, p of them relevant; computed once, then
---cached.
function M.mean_of(metric, n, p, samples)
  local key = ("%s %d %d %d"):format(metric, n, p, samples)
  means[key] = means[key]
    or mr.bounds.distribution(metric, { n = n, p = p, method = "sampled", samples = samples, seed = 1 }):mean()
  return means[key]
end

-- Returns a function that applies the bound `name` to the metric M of each list: M / E for "expectation", (M - E) /
-- |best - E| for "expectation_max". E is the mean of `metric` over `samples` random rankings of the list.
local function drawn_bound(name, metric, samples)
  return function(score, stats)
    local n, p, values = stats.n:totable(), stats.p:totable(), {}
    for l, rows in ipairs(n) do values[l] = M.mean_of(metric, math.tointeger(rows), math.tointeger(p[l]), samples) end
    local mean = mr.tensor(values, { dtype = score.dtype })
    if name == "expectation" then return score / mean end
    return (score - mean) / (stats.best - mean):abs()
  end
end

local function train(args, set, rates, trial)
  local fold, own = set.fold(runs.beside.value, trial.split, args.seed), protocol.metric_of[trial.loss]
  local bound = trial.samples == 0 and trial.bound or drawn_bound(trial.bound, M.metric_of[trial.loss], trial.samples)
  local fitted = protocol.train(set, fold, { seed = args.seed, loss = mr.losses[trial.loss]{ bound = bound },
    rate = rates[trial.loss][trial.bound], metrics = { own } })
  return protocol.outcome(fitted, fold.test, trial.split, own)
end

---The results of the training runs on a data set, one run per loss, bound, number of random rankings and fold. Runs
---that are not yet stored are made.
---@param args table  parsed command line (training.args), with a `seed`
---@param name "movielens"|"mq2008"
---@return mr.Results
function M.study(args, name)
  local set, rates = runs.set(args, name), runs.rates[name]
  return runs.study(args, {
    name = ("drawn expectations, %s, seed %d"):format(name, args.seed),
    settings = { epochs = set.epochs, patience = set.patience, rates = runs.rates_text(name) },
    space = { loss = mr.choice(runs.losses), bound = mr.choice(M.bounds), samples = mr.choice(M.samples(args)),
      split = mr.range(1, set.folds) },
    run = function(trial) return train(args, set, rates, trial) end,
  })
end

return M
