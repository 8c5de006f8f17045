-- Times an epoch by the number of items in the catalogue. Catalogues of 5,000, 50,000 and 500,000 items get equally
-- long lists of made-up ratings: relevant items are spread over the catalogue, and negatives are drawn from all of it.
-- Batches have 32 users, the model has 32 factors, and the loss is smooth AP. Three optimizers are timed: Adam, which
-- may defer updates of embedding rows without a gradient; Adam with a weight decay of 1e-30, which updates all rows in
-- every step; and sparse Adam. An epoch is training alone, training with validation and a snapshot of the parameters at
-- every better epoch, and, for the first size only, training with validation by all items of each user.
-- Usage: moonrank tests/bench/catalogue.lua [--items 5000,50000] [--optimizers adam,dense] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args({
  users = { default = 1000, help = "users of the ratings" },
  items = { default = { 5000, 50000, 500000 }, help = "sizes of the catalogue; the first is that of the ratings" },
  optimizers = { default = { "adam", "dense", "sparse" }, choices = { "adam", "dense", "sparse" },
    help = "dense: with weight decay; sparse: of the rows with a gradient alone" },
  ways = { default = { "alone", "validated", "ranked" }, choices = { "alone", "validated", "ranked" },
    help = "training alone, validated on the lists of the part, or on all items of its users" },
  threads = { default = { 1 }, help = "numbers of threads" },
  epochs = { default = 10, help = "measured after `warm`; the median counts" },
  warm = { default = 2, help = "epochs before" },
}, { warm = true })

local ratings = mr.data.synthetic{ kind = "ratings", users = args.users, items = args.items[1], seed = 1 }
local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]

-- Returns a copy of a data set in which items come from a catalogue of `of` items.
local function spread(part, of)
  local items, relevance = core.integers(part.items), part.lists.relevance:totable()
  local draws = core.uniform({ #items }, 1, of + 1, 1, "items", "float64", "cpu"):totable()
  for i, item in ipairs(items) do
    items[i] = relevance[i] > 0 and 1 + (item - 1) * (of // args.items[1]) or math.floor(draws[i])
  end
  return mr.data.dataset{ lists = part.lists, users = part.users, items = core.tensor(items, "int64", "cpu"),
    name = part.name }
end

local optimizers = { adam = { lr = 0.01 }, dense = { lr = 0.01, weight_decay = 1e-30 },
  sparse = { lr = 0.01, sparse = true } }

-- Returns the validation data of each kind of epoch: none, the lists of the validation part, or all items of its users.
local validations = { alone = function() end, validated = function(_, valid) return valid end }

function validations.ranked(items, valid)
  local whole = require("moonrank.data.fold").new{ train = spread(fold.train, items), valid = valid, test = valid,
    number = 1, k = 1, title = "spread", users = ratings.users, items = items }
  return whole:candidates{ known = "relevant" }
end

local function times(items, optimizer, how)
  return bench.epoch_times({
    model = mr.models.mf{ users = ratings.users, items = items, factors = 32, seed = 1 }, loss = mr.losses.ap(),
    train = spread(fold.train, items), valid = validations[how](items, spread(fold.valid, items)), metrics = { "ndcg" },
    optimizer = mr.optim.adam(optimizers[optimizer]), batch = 32, epochs = args.warm + args.epochs }, args.warm)
end

local rows, add = bench.collect()
local names = { adam = "moonrank", dense = "moonrank, every row", sparse = "moonrank, sparse Adam" }
local said = { alone = "", validated = ", validated", ranked = ", validated by all items" }
for _, how in ipairs(args.ways) do
  for _, items in ipairs(how == "ranked" and { args.items[1] } or args.items) do
    local workload = ("epoch of %d items%s"):format(items, said[how])
    for _, threads in ipairs(args.threads) do
      core.threads(threads)
      for _, optimizer in ipairs(args.optimizers) do
        add(workload, names[optimizer], threads, times(items, optimizer, how))
      end
    end
  end
end
bench.finish(("One epoch, median of %d; %d rows in %d lists."):format(
  args.epochs, fold.train.lists.rows, fold.train.count), rows, args.csv)
