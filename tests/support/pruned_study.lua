-- A sweep for tests in which results depend on earlier results: TPE as sampler, and pruning. Every trial that runs to
-- its end appends its number to the file ran.log.
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ workers = 1, trials = 24, wait = 0.0, store = "r.db", retry = 0, silence = 60.0, sampler = "tpe",
  oops = "", progress = false }
local results = mr.sweep{ name = "study", store = args.store, workers = args.workers, trials = args.trials,
  retry = args.retry, seed = 4,
  sampler = args.sampler == "tpe" and { "tpe", generation = 8, startup = 8 } or args.sampler,
  pruner = args.sampler == "tpe" and { "median", generation = 8, startup = 4, warmup = 0 } or nil,
  silence = args.silence, progress = args.progress,
  space = { x = mr.uniform(-1, 1, { points = 24 }), kind = mr.choice{ "p", "q" } }, metric = "ndcg",
  run = function(trial)
    if args.oops == "exit" and trial.number % 5 == 0 then os.exit(3) end
    if args.oops == "memory" and trial.number == 2 then return #("x"):rep(1 << 60) end
    local noise = mr.uniform({ 20000 }, { seed = trial.seed, stream = "noise" })
    local value = 1 - trial.x ^ 2 - (trial.kind == "p" and 0.5 or 0) + 0.01 * noise[1]:item()
    for step = 1, 3 do
      if args.wait > 0 then core.wait_for({}, args.wait / 3) end
      trial:report(step, value * step / 3)
    end
    local log <close> = io.open("ran.log", "a")
    log:write(trial.number, "\n")
    print "noted"  -- goes to the worker's log file, which is deleted if trials print nothing
    return { ndcg = value, seed = trial.seed, per_list = noise }
  end }
print(results)
