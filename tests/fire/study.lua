-- A sweep to be attacked: short trials, whose results depend on seeds alone. Every trial that runs to its end appends
-- its number to the file ran.log.
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ mode = "grid", store = "r.db", workers = 2, retry = 1000, trials = 0,
  wait = 0.008, quiet = false }

local queries = mr.data.synthetic{ kind = "queries", queries = 12, features = 4, seed = 1 }

-- A trial that reports, step by step, a value that grows towards one that its parameters and seed determine, and
-- returns numbers per list.
local function climb(trial)
  local noise = mr.uniform({ 200 }, { seed = trial.seed, stream = "noise", dtype = "float64" })
  local value = 1 - (trial.params.x or trial.params.i / 100) ^ 2 + 0.05 * noise[1]:item()
  for step = 1, 9 do
    if step % 3 == 0 then core.wait_for({}, args.wait * noise[step]:item()) end
    trial:report(step, value * (1 - 0.5 ^ step))
  end
  return { ndcg = value, per_list = noise }
end

local function train(trial)
  core.wait_for({}, args.wait)
  local run = mr.fit{ model = mr.models.mlp{ inputs = 4, hidden = { 3 }, seed = trial.seed },
    loss = mr.losses.ndcg{ bound = "minmax" }, train = queries, valid = queries, test = queries, metrics = { "ndcg" },
    epochs = 9, batch = 6, optimizer = mr.optim.adam{ lr = trial.x }, trial = trial, checkpoint = true,
    progress = false }
  return run
end

local modes = {
  grid = { space = { i = mr.range(1, 40) }, metric = "ndcg", run = climb },
  tpe = { space = { x = mr.uniform(-1, 1), kind = mr.choice{ "p", "q" } }, metric = "ndcg", run = climb, trials = 24,
    sampler = { "tpe", generation = 8, startup = 8 }, pruner = { "median", generation = 8, startup = 4, warmup = 0 } },
  hyperband = { space = { x = mr.uniform(-1, 1) }, metric = "ndcg", run = climb, sampler = "random", trials = 17,
    pruner = { "hyperband", max_resource = 9 } },
  fit = { space = { x = mr.loguniform(0.001, 0.5) }, metric = "valid_ndcg", run = train, sampler = "random",
    trials = 17, pruner = { "hyperband", max_resource = 9 } },
}

local o = modes[args.mode]
mr.sweep{ name = "study", store = args.store, workers = args.workers, retry = args.retry,
  seed = 4, progress = false, space = o.space, metric = o.metric, sampler = o.sampler, pruner = o.pruner,
  trials = args.trials > 0 and args.trials or o.trials, run = function(trial)
    local result = o.run(trial)
    if not args.quiet then
      local log <close> = io.open("ran.log", "a")
      log:write(trial.number, "\n")
    end
    return result
  end }
