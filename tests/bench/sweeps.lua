-- What a sweep costs beside its trials, how much two workers do, and how long a large store takes to read.
-- One thread each, so that one worker is one core. Usage: moonrank tests/bench/sweeps.lua (a minute; the numbers want an idle machine)
local mr = require "moonrank"
local core = require "moonrank.core"
local large_store = dofile((arg[0]:match("^(.*/)") or "./") .. "../support/large_store.lua")

local args = mr.args{
  part = { default = "", help = "which sweep a worker runs; for the script's own use" },
  trials = { default = 10000, help = "empty trials" },
  real = { default = 48, help = "trials that train" },
  large = { default = 100000, help = "trials of the store that is read" },
}
local folder = os.getenv "MOONRANK_BENCH" or os.tmpname() .. "_bench"
core.make_folder(folder .. "/x")

-- Seconds of a part in a process of its own, which gets workers of its own.
local function timed(part, workers)
  local store = ("%s/%s_%d.db"):format(folder, part, workers)
  local began = core.clock()
  local variables = ("MOONRANK_BENCH=%s MOONRANK_BENCH_STORE=%s MOONRANK_BENCH_WORKERS=%d"):format(folder, store, workers)
  local command = ("%s %s --threads 1 %s --part %s --trials %d --real %d"):format(variables, arg[-1], arg[0], part, args.trials, args.real)
  assert(os.execute(command))
  return core.clock() - began
end

local function sweep(o)
  o.store, o.workers, o.progress = os.getenv "MOONRANK_BENCH_STORE", math.tointeger(os.getenv "MOONRANK_BENCH_WORKERS"), false
  return mr.sweep(o)
end

if args.part == "empty" then
  sweep{ name = "empty", space = { i = mr.range(1, args.trials) }, run = function() return 0 end }
elseif args.part == "real" then
  local ratings = mr.data.synthetic{ kind = "ratings", users = 400, items = 2000, seed = 1 }
  local fold = ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
  sweep{ name = "real", space = { i = mr.range(1, args.real) }, metric = "valid_ndcg", run = function(trial)
    local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.1, seed = trial.seed }
    return mr.fit{ model = model, loss = mr.losses.ndcg{}, optimizer = mr.optim.adam{ lr = 0.01 }, epochs = 10, train = fold.train,
      valid = fold.valid, test = fold.test, metrics = { "ndcg" }, progress = false }
  end }
else
  local rows = {}
  for _, workers in ipairs{ 0, 1, 2 } do
    local empty, real = timed("empty", workers), timed("real", workers)
    rows[#rows + 1] = { workers == 0 and "none" or tostring(workers), empty, 1e6 * empty / args.trials, real,
      rows[2] and rows[2][4] / real }
  end
  print(mr.table{ columns = { "workers", "empty trials, s", "each, us", "real trials, s", "times 1 worker" }, rows = rows })
  local path, seconds = folder .. "/large.db", {}
  large_store(path, args.large)
  for i = 1, 5 do
    local began = core.clock()
    mr.results(path):pivot{ rows = { "loss", "bound" }, columns = "fold", value = "ndcg" }
    seconds[i] = core.clock() - began
  end
  table.sort(seconds)
  print(("A store of %d trials, opened and pivoted: %.2f s, median of 5 (%.2f to %.2f)"):format(args.large, seconds[3], seconds[1],
    seconds[5]))
  os.execute("rm -rf " .. folder)
end
