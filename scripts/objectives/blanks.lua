-- The two empty cells in Table 1 of Tang et al. (2023): RankNet on MSLR-WEB10K, whose pairs took too much time and
-- memory to make (section 4.4), and NeuralNDCG query by query, whose loss took too long. What would they have?

-- The script measures time and memory of an epoch on made-up queries of that size (10,000 queries, 1.2 million
-- documents, 136 features). It also shows the test metrics of the two algorithms on the MSLR slice, or on MSLR-WEB10K
-- (--set web10k), from the runs of table_1.lua. Network, steps and learning rates are those of table_1.lua.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, training = mr.experiment, dofile(here .. "training.lua")
local protocol = training.protocol

local args = training.args({
  set = { default = "mslr", choices = { "mslr", "web10k" }, help = "data of the metrics" },
  queries = { default = 10000, least = 10, help = "made-up queries whose epoch is timed" },
  threads = { default = 1, least = 1, most = 1024, help = "number of threads of the timed epoch" },
}, { queries = 60 })

-- Opens the data set first, so that missing data raise an error before any work.
local set = training.set(args, args.set)

local documents, blanks = 120, { "RankNet", "NeuralNDCGQbQ" }

-- Returns the number of pairs of documents of the same query. Every pair counts twice, once in each order.
local function pairs_of(lists)
  local sizes = lists.sizes:double()
  return (sizes * (sizes - 1)):sum():item()
end

-- Trains an algorithm for one epoch. Returns the epoch's time and memory.
local function epoch_of(name, train)
  return experiment.cost(function()
    local o = protocol.settings(name, set)
    local options = protocol.training(o, protocol.steps(train, o, 1, args.seed), protocol.loss(o, train), args.seed)
    options.epochs = 1
    mr.fit(options)
  end)
end

local function timed()
  local was, rows, found = mr.threads(), {}, {}
  mr.threads(args.threads)
  local train = mr.data.synthetic{ kind = "queries", queries = args.queries, features = 136, mean_size = documents,
    seed = args.seed }
  found.features, found.pairs = train.features:numel() * 4, pairs_of(train.lists)
  for i, name in ipairs(blanks) do
    local cost = epoch_of(name, train)
    rows[i] = { name, train.count, train.lists.rows, cost.seconds, cost.processor, cost.bytes / 1e9 }
    found[name], found.bytes = cost.processor, math.max(cost.bytes, found.bytes or 0)
  end
  mr.threads(was)
  return found, mr.table{ rows = rows,
    columns = { "algorithm", "made-up queries", "documents", "seconds", "processor seconds", "GB at most" },
    formats = { seconds = "%.2f", ["processor seconds"] = "%.2f", ["GB at most"] = "%.2f" } }
end

local results, random, rows = training.of(args, set), training.random(set), {}
for _, name in ipairs(blanks) do training.add_algorithm(rows, set, results, name) end
training.add(rows, "random order", "mean over all orders", 0, function(name) return random[name]:totable() end)
local found, times = timed()
local few = args.set == "mslr" and not args.smoke
  and " (102 queries, too few to stand beside the others of the paper's table)" or ""
return experiment.finish(args, nil, ([[
The first table has an epoch query by query over %d made-up queries of 136 features, of %d documents each on average,
on %s. The pairs of RankNet, %.1f million in both orders, would take %.1f GB as the authors keep them, two feature
vectors and a target each; here they are made inside the loss. The epoch takes %.2f s of processor time with RankNet
and %.2f s with NeuralNDCG, and %.2f GB of memory at most, of which the features are %.2f GB.

The second table has the metrics on %s%s. The networks are trained on its official %s as in Table 1, at the learning
rate of the text and at the one that is best on validation.]]):format(args.queries, documents,
    args.threads == 1 and "one thread" or args.threads .. " threads", found.pairs / 1e6,
    found.pairs * (2 * 136 + 1) * 4 / 1e9,
    found.RankNet, found.NeuralNDCGQbQ, found.bytes / 1e9, found.features / 1e9, set.said, few,
    #set.folds == 1 and "fold" or "folds"),
  experiment.named("An epoch over made-up queries", times, experiment.cells(nil, 1), [[
seconds: of the clock; processor seconds: of all threads; GB at most: most memory that the process had.]]),
  training.table(set.title .. ": the metrics of the two cells", rows, "bootstrap over queries"))
