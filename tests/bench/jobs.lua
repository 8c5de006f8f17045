-- The jobs of native.lua: our work, the peers and the goals of each. A job has
--   name      for the option --jobs
--   workload  the text of its row, from its options
--   quick, usual, full   options of three sizes; `full` is missing where the usual size is the largest
--   work      returns a function without arguments, the work of one turn, from the options; setup is not measured
--   input     if given, writes what both sides read to the file `path`; the options then have `path`
--   peers     program, words of its command (a file of peers/, then arguments), and goal: at least so many times our
--             time, or with `at_most` at most our time so many times the peer's. `largest` is the largest size.
local mr = require "moonrank"
local core = require "moonrank.core"

local catalogue = {}

-- Returns a part of a fold: so many items of each user, drawn at random.
local function part(o, name, each)
  local items = core.uniform({ o.users * each }, 1, o.items + 1, 1, name, "float64", "cpu"):to "int64"
  local sizes = {}
  for user = 1, o.users do sizes[user] = each end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(o.users * each), sizes = sizes },
    users = core.arange(1, o.users, 1, "int64", "cpu"), items = items, name = name }
end

-- Returns a fold and a model of made-up factors.
function catalogue.made(o)
  local none = mr.data.dataset{ lists = mr.lists{}, users = mr.tensor({}, { dtype = "int64" }),
    items = mr.tensor({}, { dtype = "int64" }) }
  local fold = require("moonrank.data.fold").new{ train = part(o, "train", o.train), valid = none,
    test = part(o, "test", o.test), number = 1, k = 1, title = "made up", users = o.users, items = o.items }
  return fold, mr.models.mf{ users = o.users, items = o.items, factors = o.factors, seed = 1 }
end

function catalogue.top(o)
  local fold, model = catalogue.made(o)
  return function() model:recommend{ k = o.k, seen = fold.train } end
end

function catalogue.metrics(o)
  local fold, model = catalogue.made(o)
  local metrics = {}
  for i, name in ipairs{ "ndcg", "ap", "recall" } do metrics[i] = ("%s@%d"):format(name, o.k) end
  return function() fold:evaluate(model, metrics) end
end

local function sizes_of_catalogue(k)
  local function size(users, items)
    return { users = users, items = items, factors = 32, train = 30, test = 10, k = k,
      multiply_adds = users * items * 32 }
  end
  return size(200, 2000), size(10000, 40000), size(200948, 87585)
end

local jobs = {}
local function job(o) jobs[#jobs + 1] = o end

local quick, usual, full = sizes_of_catalogue(100)
job{ name = "top", quick = quick, usual = usual, full = full, work = catalogue.top,
  workload = function(o) return ("top %d of %d items for %d users"):format(o.k, o.items, o.users) end,
  peers = {
    { program = "PyTorch", words = "catalogue.py torch", goal = 3, note = "leaves no items out" },
    { program = "FAISS flat", words = "catalogue.py faiss", goal = 2, note = "leaves no items out" },
    { program = "recometrics", words = "catalogue.py recometrics", goal = 8, note = "precision of the top" },
    { program = "the arithmetic", words = "limits.cpp arithmetic", goal = 0.5 },
  } }

quick, usual, full = sizes_of_catalogue(20)
job{ name = "top_metrics", quick = quick, usual = usual, full = full, work = catalogue.metrics,
  workload = function(o)
    return ("nDCG, AP, recall at %d of %d items for %d users"):format(o.k, o.items, o.users)
  end,
  peers = {
    { program = "recometrics", words = "catalogue.py recometrics", options = { metrics = "yes" }, goal = 8 },
    { program = "Moonrank, the top 100", words = "native.lua top", options = { k = 100 }, goal = 1 / 1.3 },
  } }

return jobs
