-- Every user's test items ranked among the full catalogue, and the first items of every user, by factors made at
-- random: beside recometrics, which has the same metrics of factors. MovieLens 32M has 200948 users and 87585 items:
-- `--users 200948 --items 87585 --repeats 1`, without peers (MOONRANK_PEERS=none) where time is short. Usage: moonrank
-- tests/bench/full_catalogue.lua [--users 5000] [--items 20000] [--csv FILE].
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  users = { default = 5000, help = "how many users" },
  items = { default = 20000, help = "how many items" },
  train = { default = 30, help = "items of each user that are left out" },
  test = { default = 10, help = "items of each user that are to be found" },
  factors = { default = 32, help = "of the model" },
  k = { default = 100, help = "items that are recommended" },
  repeats = { default = 3, help = "each is measured so often; the median counts" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
}

-- So many items of each user, drawn at random.
local function part(name, each)
  local items = core.uniform({ args.users * each }, 1, args.items + 1, 1, name, "float64", "cpu"):to "int64"
  local sizes = {}
  for user = 1, args.users do sizes[user] = each end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(args.users * each), sizes = sizes },
    users = core.arange(1, args.users, 1, "int64", "cpu"), items = items, name = name }
end

local none = mr.data.dataset{ lists = mr.lists{}, users = mr.tensor({}, { dtype = "int64" }),
  items = mr.tensor({}, { dtype = "int64" }) }
local fold = require("moonrank.data.fold").new{ train = part("train", args.train), valid = none,
  test = part("test", args.test), number = 1, k = 1, title = "made up", users = args.users, items = args.items }
local model = mr.models.mf{ users = args.users, items = args.items, factors = args.factors, seed = 1 }

-- The most memory that the process has had so far.
local function peak()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmHWM:%s*(%d+)"
    if kib then return ("peak %.1f GiB"):format(tonumber(kib) / 1048576) end
  end
end

-- One repeat is not worth a run before it.
local function measured(f)
  if args.repeats > 1 then return bench.times_of(f, args.repeats, 5) end
  local began = bench.clock()
  f()
  return { bench.clock() - began }
end

local rows, add = bench.collect()
local size = ("%d users, %d items"):format(args.users, args.items)
for _, threads in ipairs(args.threads) do
  core.threads(threads)
  local workload = "nDCG, AP, recall at 20: " .. size
  local times = measured(function() fold:evaluate(model, { "ndcg@20", "ap@20", "recall@20" }) end)
  add(workload, "moonrank", threads, times, peak())
  add(workload, "recometrics", threads, bench.peer_times("full_catalogue.py", args.users, args.items, args.train,
    args.test, args.factors, threads, args.repeats))
  times = measured(function() model:recommend{ k = args.k, seen = fold.train } end)
  add(("the first %d: %s"):format(args.k, size), "moonrank", threads, times, peak())
end
bench.finish("The full catalogue.", rows, args.csv)
