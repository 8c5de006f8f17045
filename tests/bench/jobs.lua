-- The jobs that native.lua measures: for each, the work in Moonrank, the programs that it is compared with (peers), and
-- goals for the ratio of times. A job has these fields:
--   name      its name for the option --jobs
--   workload  a function that makes the text of the job's row from its options
--   quick, usual, full   options for three sizes of the work; a size that is missing is not measured. With the option
--             `cold`, Moonrank does not work once before its first turn. A turn of short work consists of `repeats`
--             repeats (default 1), and its times are those of one repeat. A program is killed after `minutes` (default
--             30)
--   work      a function of the options that returns a function without arguments: the work of one turn. Setup is not
--             timed. It may write files whose paths begin with the option `path`
--   input     optional: writes the input of Moonrank and the peers to the file `path`, and may set further options
--   peers     for each peer its name, the words of its command (a file of peers/, then arguments), and optionally
--             `goal` (the peer's time over Moonrank's should be at least this), a note, further options, and
--             `left_out`: why it is not measured at the full size
local mr = require "moonrank"
local core = require "moonrank.core"
local newton = require "moonrank.losses.newton"

local catalogue = {}

-- Returns a part of a fold with `each` random items for every user.
local function part(o, name, each)
  local items = core.uniform({ o.users * each }, 1, o.items + 1, 1, name, "float64", "cpu"):to "int64"
  local sizes = {}
  for user = 1, o.users do sizes[user] = each end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(o.users * each), sizes = sizes },
    users = core.arange(1, o.users, 1, "int64", "cpu"), items = items, name = name }
end

-- Returns a fold of random items, and a matrix factorisation model with random factors.
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
    { program = "recometrics", words = "catalogue.py recometrics", goal = 8, note = "precision of the top",
      left_out = "takes an hour" },
    { program = "the arithmetic", words = "limits.cpp arithmetic", goal = 0.5 },
  } }

quick, usual, full = sizes_of_catalogue(20)
job{ name = "top_metrics", quick = quick, usual = usual, full = full, work = catalogue.metrics,
  workload = function(o)
    return ("nDCG, AP, recall at %d of %d items for %d users"):format(o.k, o.items, o.users)
  end,
  peers = {
    { program = "recometrics", words = "catalogue.py recometrics", options = { metrics = "yes" }, goal = 8,
      left_out = "takes an hour" },
    { program = "moonrank, the top 100", words = "native.lua top", options = { k = 100 }, goal = 1 / 1.3 },
  } }

-- Returns a data set of made-up queries with `rows` documents in all. Features are normally distributed, and grades 0
-- to 4 depend on the first feature.
local function queries(o)
  local n = o.queries * o.rows
  local features = mr.normal({ n, o.features }, { seed = 1 })
  local noise = mr.normal({ n }, { seed = 2 }):totable()
  local grades, sizes = features:narrow(2, 1, 1):reshape(n):totable(), {}
  for i, x in ipairs(grades) do grades[i] = math.max(0, math.min(4, math.floor(x + noise[i] + 1))) end
  for q = 1, o.queries do sizes[q] = o.rows end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.tensor(grades), sizes = sizes }, features = features,
    name = "queries" }
end

local function network(o)
  local train = queries(o)
  local model = mr.models.mlp{ inputs = o.features, hidden = { 256, 128 }, seed = 1 }
  local optimizer = mr.optim.adam{ lr = 0.001 }
  return function()
    mr.fit{ model = model, loss = mr.losses[o.loss](), train = train, optimizer = optimizer, batch = o.batch,
      epochs = o.epochs, progress = false }
  end
end

for _, loss in ipairs{ "ndcg", "lambdarank" } do
  local function size(count)
    -- forward and by the weights in each layer, by the inputs in all layers but the first
    local of_row = 2 * 136 * 256 + 3 * 256 * 128 + 3 * 128
    return { loss = loss, queries = count, rows = 120, features = 136, batch = 16, epochs = 3,
      multiply_adds = 3 * count * 120 * of_row }
  end
  local peers = { { program = "PyTorch, compiled", words = "network.py compiled", goal = 2 },
    { program = "PyTorch, eager", words = "network.py eager", goal = 2 },
    { program = "PyTorch without a loss", words = "network.py mean", note = "the mean score as loss" },
    { program = "the matrix products", words = "network.py products", goal = 1 / 1.2 },
    { program = "the arithmetic", words = "limits.cpp arithmetic" } }
  job{ name = "network_" .. loss, quick = size(16), usual = size(336), work = network, peers = peers,
    workload = function(o)
      return ("network 136-256-128-1, %s, %d epochs of %d rows"):format(loss, o.epochs, o.queries * o.rows)
    end }
end

local function size_of_trees(count, trees) return { queries = count, rows = 120, features = 136, trees = trees } end
local largest = size_of_trees(10000, 100)
largest.cold, largest.minutes = "yes", 120
job{ name = "trees", quick = size_of_trees(20, 2), usual = size_of_trees(500, 10), full = largest,
  workload = function(o)
    return ("LambdaMART, %d trees of %d rows, %d features"):format(o.trees, o.queries * o.rows, o.features)
  end,
  work = function(o)
    local train = queries(o)
    return function()
      mr.fit{ model = mr.models.trees{ rounds = o.trees, depth = 6, eta = 0.1 }, loss = mr.losses.lambdarank(),
        train = train, progress = false }
    end
  end,
  peers = { { program = "XGBoost", words = "boosting.py xgboost", goal = 1 / 1.05, note = "its own rank:ndcg" },
    { program = "LightGBM", words = "boosting.py lightgbm", goal = 1 / 1.05, note = "its own lambdarank" },
    { program = "moonrank, the objective", words = "native.lua objective", note = "at most 0.05 is the goal" } } }
job{ name = "objective", quick = size_of_trees(20, 2), usual = size_of_trees(500, 10), full = largest,
  workload = function(o)
    return ("LambdaRank's derivatives for %d trees, %d rows"):format(o.trees, o.queries * o.rows)
  end,
  work = function(o)
    local lists, loss = queries(o).lists, mr.losses.lambdarank()
    local scores = mr.normal({ o.queries * o.rows }, { seed = 3 })
    return function()
      for _ = 1, o.trees do newton.derivatives(loss, scores, lists) end
    end
  end }

-- Returns a function that trains matrix factorisation on made-up interactions.
local function factorisation(o, graded, options)
  local n = o.users * o.each
  local items = core.uniform({ n }, 1, o.items + 1, 1, "items", "float64", "cpu"):to "int64"
  local relevance, sizes = graded and core.uniform({ n }, 1, 6, 1, "grades", "float64", "cpu"):totable() or nil, {}
  for i, grade in ipairs(relevance or {}) do relevance[i] = math.floor(grade) end
  for user = 1, o.users do sizes[user] = o.each end
  options.train = mr.data.dataset{ users = core.arange(1, o.users, 1, "int64", "cpu"), items = items, name = "train",
    lists = mr.lists{ relevance = relevance and mr.tensor(relevance) or mr.ones(n), sizes = sizes } }
  options.epochs, options.progress, options.optimizer = o.epochs, false, mr.optim.sgd{ lr = 0.05 }
  return function()
    options.model = mr.models.mf{ users = o.users, items = o.items, factors = o.factors, init = 0.1, seed = 1 }
    mr.fit(options)
  end
end

local function factors_words(what)
  return function(o)
    return ("%s, %d epochs of %d interactions, %d factors"):format(what, o.epochs, o.users * o.each, o.factors)
  end
end
job{ name = "squared_error", workload = factors_words "matrix factorisation, squared error",
  quick = { users = 200, items = 500, each = 20, factors = 50, epochs = 1 },
  usual = { users = 6040, items = 3706, each = 165, factors = 50, epochs = 2 },
  full = { users = 69878, items = 10677, each = 143, factors = 50, epochs = 5 },
  work = function(o) return factorisation(o, true, { loss = mr.losses.mse(), reduction = "rows", batch = 32 }) end,
  peers = { { program = "LIBMF", words = "factorisation.py libmf", goal = 0.7 } } }
job{ name = "bpr", workload = factors_words "BPR",
  quick = { users = 200, items = 500, each = 20, factors = 32, epochs = 1 },
  usual = { users = 6040, items = 3706, each = 165, factors = 32, epochs = 2 },
  work = function(o)
    return factorisation(o, false, { loss = mr.losses.bpr(), unit = "interaction", batch = 1024, negatives = 1 })
  end,
  peers = { { program = "implicit", words = "factorisation.py implicit", goal = 1 } } }

-- Writes a text file of interactions, a line with user and item for each: the training part of Amazon Health (Yang et
-- al. 2025). If the data are absent or the job is small, writes made-up interactions instead.
local function write_interactions(o)
  local found, path = pcall(require("moonrank.data.find").path, "ir-benchmark/amazon2014-health/train.tsv")
  local users, items
  if found and o.users == 1974 then
    local train = mr.data.interactions(path, { delimiter = "\t", header = true,
      columns = { user = 1, item = 2, rating = false } })
    users, items, o.data = train.user:totable(), train.item:totable(), "Amazon Health"
  else
    users, o.data = {}, "made up"
    for i = 1, o.interactions do users[i] = (i - 1) * o.users // o.interactions + 1 end
    items = core.uniform({ o.interactions }, 1, o.items + 1, 1, "items", "float64", "cpu"):long():totable()
  end
  o.interactions = #users
  local file <close> = assert(io.open(o.path, "w"))
  for i, user in ipairs(users) do file:write(("%d %d\n"):format(user, items[i])) end
end

-- Reads a text file of lines "user item", sorted by user, as a data set with one list per user.
local function read_interactions(path)
  local users, items, grades = {}, {}, {}
  for line in io.lines(path) do
    local user, item = line:match "(%d+) (%d+)"
    if user ~= users[#users] then users[#users + 1], grades[#grades + 1] = user, {} end
    items[#items + 1], grades[#grades][#grades[#grades] + 1] = math.tointeger(item), 1
  end
  for l, user in ipairs(users) do users[l] = math.tointeger(user) end
  return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }),
    items = mr.tensor(items, { dtype = "int64" }), name = "train" }
end

job{ name = "softmax", input = write_interactions,
  quick = { users = 60, items = 80, interactions = 500, factors = 8, batch = 100, negatives = 20, tau = 0.2 },
  usual = { users = 1974, items = 1200, interactions = 37784, factors = 64, batch = 1024, negatives = 1000, tau = 0.2 },
  workload = function(o)
    return ("SL with %d negatives, %d factors, epoch of %d interactions%s"):format(o.negatives, o.factors,
      o.interactions, o.data and ", " .. o.data or "")
  end,
  work = function(o)
    local protocol = dofile(arg[0]:match "^(.*/)" .. "../../scripts/ir_benchmark/protocol.lua")
    local train, model = read_interactions(o.path), protocol.model(o, "SL", 1)
    local optimizer = mr.optim.adam{ lr = 0.1 }
    return function()
      mr.fit{ model = model, loss = mr.losses.sl{ tau = o.tau }, train = train, optimizer = optimizer,
        unit = "interaction", batch = o.batch, negatives = o.negatives, epochs = 1, progress = false }
    end
  end,
  peers = { { program = "PyTorch, product", words = "softmax.py product", note = "negatives among all items" },
    { program = "PyTorch, gathered", words = "softmax.py gathered", note = "negatives among all items" } } }

-- Writes a TREC run file and a qrels file of made-up queries, in which a tenth of the documents are relevant.
local function write_run(o)
  local run, qrels = assert(io.open(o.path .. ".run", "w")), assert(io.open(o.path .. ".qrels", "w"))
  local scores = mr.normal({ o.rows }, { seed = 1 }):totable()
  for q = 1, o.queries do
    for d = 1, o.rows do
      run:write(("q%d Q0 d%d %d %.6f made\n"):format(q, d, d, scores[(d + q) % o.rows + 1]))
      qrels:write(("q%d 0 d%d %d\n"):format(q, d, d % 10 == 1 and 1 or 0))
    end
  end
  run:close()
  qrels:close()
end

local function run_peers()
  local peers = {}
  for _, name in ipairs{ "pytrec_eval", "ranx", "ir_measures" } do
    peers[#peers + 1] = { program = name, words = "files.py " .. name, goal = 10,
      left_out = "estimated to need more memory than there is" }
  end
  return peers
end
job{ name = "run_files", quick = { queries = 20, rows = 30 }, usual = { queries = 2000, rows = 100, repeats = 5 },
  full = { queries = 1000000, rows = 100 },
  input = write_run, peers = run_peers(),
  workload = function(o) return ("nDCG, AP, RR from run files, %d queries of %d"):format(o.queries, o.rows) end,
  work = function(o)
    return function() mr.data.trec_run(o.path .. ".run"):evaluate(o.path .. ".qrels", { "ndcg", "ap", "rr" }) end
  end }

job{ name = "letor", quick = { queries = 10, rows = 20, features = 30 },
  usual = { queries = 400, rows = 120, features = 136 }, full = { queries = 2000, rows = 120, features = 136 },
  input = function(o)
    local file, x = assert(io.open(o.path, "w")), mr.normal({ o.rows, o.features }, { seed = 1 })
    -- LightGBM reads the number of documents of each query from a separate file
    local plain, sizes = assert(io.open(o.path .. ".svm", "w")), assert(io.open(o.path .. ".svm.query", "w"))
    for q = 1, o.queries do
      for r = 1, o.rows do
        local words = {}
        for i, value in ipairs(x:narrow(1, r, 1):reshape(o.features):totable()) do
          words[i] = ("%d:%.6g"):format(i, value)
        end
        local text = table.concat(words, " ")
        file:write(("%d qid:%d %s\n"):format(r % 5, q, text))
        plain:write(("%d %s\n"):format(r % 5, text))
      end
      sizes:write(("%d\n"):format(o.rows))
    end
    for _, each in ipairs{ file, plain, sizes } do each:close() end
  end,
  workload = function(o) return ("LETOR text, %d rows of %d features"):format(o.queries * o.rows, o.features) end,
  work = function(o)
    return function() mr.data.letor(o.path) end
  end,
  peers = { { program = "LightGBM", words = "files.py lightgbm", goal = 2, note = "with its histograms" },
    { program = "scikit-learn", words = "files.py sklearn", goal = 31 } } }

job{ name = "long_list", quick = { rows = 20000 }, usual = { rows = 222472, repeats = 20 },
  workload = function(o) return ("smooth AP and its derivative, one list of %d rows"):format(o.rows) end,
  work = function(o)
    local loss = mr.losses.ap()
    local relevance = core.uniform({ o.rows }, 0, 2, 1, "relevance", "float64", "cpu"):long():double()
    local lists = mr.lists{ relevance = relevance, sizes = { o.rows } }
    local scores = mr.normal({ o.rows }, { seed = 1 }):requires_grad()
    return function()
      scores:zero_grad()
      loss(scores, lists):sum():backward()
    end
  end,
  peers = { { program = "std::sort", words = "limits.cpp sort", goal = 1, note = "the scores alone" },
    { program = "torchsort", words = "soft_rank.py torchsort", goal = 10, note = "soft ranks alone" } } }

local function sweep(o)
  return function()
    local store = o.path .. ".db"
    mr.sweep{ name = "empty", store = store, workers = 0, progress = false,
      space = { i = mr.range(1, o.trials) }, run = function() return 0 end }
    os.execute(("rm -f '%s'*"):format(store))
  end
end

local function sweep_words(o) return ("a study of %d empty trials"):format(o.trials) end
job{ name = "sweep", quick = { trials = 50 }, usual = { trials = 2000 }, full = { trials = 10000 },
  workload = sweep_words, work = sweep,
  peers = { { program = "Optuna", words = "study.py optuna", goal = 10, note = "journal file, random sampler" } } }
job{ name = "long_sweep", full = { trials = 100000, cold = "yes" }, workload = sweep_words, work = sweep }

return jobs
