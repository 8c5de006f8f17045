-- The training runs of sampled_expectations.lua. Losses are trained under the two bounds that need an expected metric,
-- once with the exact expectation and once with the mean over random rankings, as in the thesis (section 4.3).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "runs.lua")
local protocol = runs.protocol

local M = { bounds = { "expectation", "expectation_max" } }

---How many random rankings estimate an expectation, for each variant that is compared; 0 is the exact expectation.
function M.samples(args) return args.smoke and { 0, 10 } or { 0, 10, 100, 1000, 300000 } end

---The metric of each loss. The random rankings are measured by it.
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp_loss" }

local means = runs.cache()

---The mean of a metric over `samples` random rankings of a list with n rows, p of them relevant.
function M.mean_of(metric, n, p, samples)
  local key = ("%s %d %d %d"):format(metric, n, p, samples)
  means[key] = means[key]
    or mr.bounds.distribution(metric, { n = n, p = p, method = "sampled", samples = samples, seed = 1 }):mean()
  return means[key]
end

-- The bound M / E ("expectation") or (M - E) / |best - E| ("expectation_max") of a metric M, where E is estimated as
-- the mean over `samples` random rankings.
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
  local fold, own = set.fold(protocol.beside.value, trial.split, args.seed), runs.metric_of[trial.loss]
  local bound = trial.samples == 0 and trial.bound or drawn_bound(trial.bound, M.metric_of[trial.loss], trial.samples)
  local fitted = protocol.train(set, fold, { seed = args.seed, loss = mr.losses[trial.loss]{ bound = bound },
    rate = rates[trial.loss][trial.bound], metrics = { own } })
  return protocol.outcome(fitted, fold.test, trial.split, own)
end

---The study of a data set, with one trial per loss, bound, number of random rankings and fold. `args` are the options
---of runs.args with a seed.
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
