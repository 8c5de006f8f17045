-- Measures the overhead of a sweep over the time of its trials, the speedup by two workers, and the time to read a
-- store with many trials. Each worker uses one thread, thus one core. All times are wall-clock times.
-- Usage: moonrank tests/bench/sweeps.lua [--csv FILE] (takes a minute, on an otherwise idle machine)
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")
local large_store = dofile(bench.folder .. "../support/large_store.lua")

local args = bench.args{
  part = { default = "", help = "which sweep a worker runs; for the script's own use" },
  trials = { default = 10000, help = "empty trials" },
  real = { default = 48, help = "trials that train" },
  large = { default = 100000, help = "trials of the store that is read" },
}
local parent <close> = not os.getenv "MOONRANK_BENCH" and bench.temporary() or nil
local folder = parent and parent.path or os.getenv "MOONRANK_BENCH"
core.make_folder(folder .. "/x")

-- Runs one part of the benchmark in a separate process, so that it starts its own workers. Returns the seconds.
local function timed(part, workers)
  local store = ("%s/%s_%d.db"):format(folder, part, workers)
  local began = core.clock()
  local variables = ("MOONRANK_BENCH=%s MOONRANK_BENCH_STORE=%s MOONRANK_BENCH_WORKERS=%d"):format(
    folder, store, workers)
  local command = ("%s %s --threads 1 %s --part %s --trials %d --real %d"):format(
    variables, bench.program, arg[0], part, args.trials, args.real)
  assert(os.execute(command))
  return core.clock() - began
end

local function sweep(o)
  o.store, o.workers, o.progress = os.getenv "MOONRANK_BENCH_STORE",
    math.tointeger(os.getenv "MOONRANK_BENCH_WORKERS"), false
  return mr.sweep(o)
end

if args.part == "empty" then
  sweep{ name = "empty", space = { i = mr.range(1, args.trials) }, run = function() return 0 end }
elseif args.part == "real" then
  local ratings = mr.data.synthetic{ kind = "ratings", users = 400, items = 2000, seed = 1 }
  local fold = ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
  sweep{ name = "real", space = { i = mr.range(1, args.real) }, metric = "valid_ndcg", run = function(trial)
    local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.1,
      seed = trial.seed }
    return mr.fit{ model = model, loss = mr.losses.ndcg{}, optimizer = mr.optim.adam{ lr = 0.01 }, epochs = 10,
      train = fold.train, valid = fold.valid, test = fold.test, metrics = { "ndcg" }, progress = false }
  end }
else
  local rows, add = bench.collect()
  local one
  for _, workers in ipairs{ 0, 1, 2 } do
    local of = workers == 0 and "in the program itself" or workers .. (workers == 1 and " worker" or " workers")
    local empty, real = timed("empty", workers), timed("real", workers)
    add(("%d empty trials, %s"):format(args.trials, of), "moonrank", math.max(1, workers), { empty },
      ("%.0f us each"):format(1e6 * empty / args.trials))
    add(("%d trials that train, %s"):format(args.real, of), "moonrank", math.max(1, workers), { real },
      one and ("%.2f times as fast as one worker"):format(one / real))
    one = workers == 1 and real or one
  end
  local path, seconds = folder .. "/large.db", {}
  large_store(path, args.large)
  for i = 1, 5 do
    local began = core.clock()
    mr.results(path):pivot{ rows = { "loss", "bound" }, columns = "fold", value = "ndcg" }
    seconds[i] = core.clock() - began
  end
  add(("a store of %d trials opened and pivoted"):format(args.large), "moonrank", 1, seconds)
  bench.finish("Sweeps.", rows, args.csv)
end
