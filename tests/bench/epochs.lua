-- Times one training epoch in batches of 32 lists under Adam, with smooth nDCG, AP and nRBP, and the same lists, model
-- and optimizer in PyTorch in the same run (tests/bench/peers/epochs_torch.py explains the forms of PyTorch). Data and
-- models:
--   - MovieLens with matrix factorisation: ratings from 4, users with at least 25 of them, by negatives per relevant
--   row (NSR)
--   - CiteULike-a with matrix factorisation: the training part of its published fold 0, NSR 1
--   - MQ2008 with a network 46-46-1
-- Usage: moonrank tests/bench/epochs.lua [--sets movielens,mq2008] [--nsr 1,2,3] [--forms padded,lists] [--csv FILE]
-- PyTorch is tried if python3 has it. `./bootstrap bench --peers` installs it.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args({
  sets = { default = { "movielens", "citeulike", "mq2008" }, choices = { "movielens", "citeulike", "mq2008" },
    help = "which data sets, where they are found" },
  nsr = { default = { 1, 2, 3, 5 }, help = "negatives per relevant row, of MovieLens" },
  losses = { default = { "ndcg", "ap", "nrbp" }, choices = { "ndcg", "ap", "nrbp" }, help = "which losses" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  forms = { default = { "padded", "padded compiled", "lists", "lists compiled", "relevant", "relevant compiled" },
    help = "forms of the peer; none: no peer" },
  epochs = { default = 20, help = "ours are measured so often, after two to warm up; the median counts" },
  peer_epochs = { default = 3, help = "the same for PyTorch, after some batches to warm up" },
  warm = { default = 3, help = "batches to warm PyTorch up" },
}, { warm = true })

local factors, rate = 32, 0.01

-- Returns a data set with one list per user: its relevant items, and equally many random items that are not among them.
local function with_negatives(ratings)
  local users, items, seen = core.integers(ratings.user), core.integers(ratings.item), {}
  for i, user in ipairs(users) do
    seen[user] = seen[user] or {}
    table.insert(seen[user], items[i])
  end
  local draws, drawn = core.uniform({ 3 * #users }, 1, ratings.items + 1, 1, "negatives", "float64", "cpu"):totable(), 0
  local owners, sizes, rows, relevance = {}, {}, {}, {}
  for user, positives in pairs(seen) do
    owners[#owners + 1], sizes[#sizes + 1] = user, 2 * #positives
    local known = {}
    for _, item in ipairs(positives) do
      known[item], rows[#rows + 1], relevance[#relevance + 1] = true, item, 1
    end
    for _ = 1, #positives do
      local item
      repeat
        drawn = drawn + 1
        item = math.floor(draws[drawn])
      until not known[item]
      known[item], rows[#rows + 1], relevance[#relevance + 1] = true, item, 0
    end
  end
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes },
    users = core.tensor(owners, "int64", "cpu"), items = core.tensor(rows, "int64", "cpu"), name = "train" }
end

local function factorisation(ratings)
  return function() return mr.models.mf{ users = ratings.users, items = ratings.items, factors = factors, seed = 1 } end
end

-- Each function of `data_sets` calls `run` with a data set { name =, train =, model = function() }, once for each NSR
-- if it has several.
local data_sets = {}

function data_sets.movielens(run)
  local ratings = mr.data.movielens():binarize(4):min_relevant(25)
  for _, nsr in ipairs(args.nsr) do
    run{ name = ("MovieLens NSR %d"):format(nsr), model = factorisation(ratings),
      train = ratings:folds{ k = 5, by = "user", seed = 1, nsr = nsr }[1].train }
  end
end

function data_sets.citeulike(run)
  local ratings = mr.data.interactions("citeulike-a/fold_0/train.csv.gz", { columns = { rating = false } })
  run{ name = "CiteULike-a NSR 1", model = factorisation(ratings), train = with_negatives(ratings) }
end

function data_sets.mq2008(run)
  run{ name = "MQ2008", model = function() return mr.models.mlp{ inputs = 46, hidden = { 46 }, seed = 1 } end,
    train = mr.data.letor_folds("mq2008")[1].train }
end

-- Returns the seconds of each epoch in Moonrank, without two warm-up epochs.
local function ours(set, loss)
  return bench.epoch_times({ model = set.model(), loss = mr.losses[loss](), train = set.train,
    optimizer = mr.optim.adam{ lr = rate }, batch = 32, epochs = args.epochs + 2 }, 2)
end

-- Writes a data set to files for PyTorch. Each list is a line: the user, then item:relevance of every row. If rows have
-- features, the item is the row's number from 1, and a second file has the features in single precision.
local function export(part, path)
  local users, items = part.users and part.users:totable(), part.items and part.items:totable()
  local relevance, sizes = part.lists.relevance:totable(), part.lists.sizes:totable()
  local file, row = assert(io.open(path, "w")), 0
  for l, size in ipairs(sizes) do
    file:write(users and users[l] or 1)
    for _ = 1, size do
      row = row + 1
      file:write((" %d:%g"):format(items and items[row] or row, relevance[row]))
    end
    file:write("\n")
  end
  file:close()
  if not part.features then return end
  file = assert(io.open(path .. ".features", "wb"))
  for _, x in ipairs(part.features:reshape(part.features:numel()):totable()) do file:write(string.pack("<f", x)) end
  file:close()
end

local rows, add = bench.collect()
local temporary <close> = bench.temporary()
core.make_folder(temporary.path .. "/x")
local path = temporary.path .. "/lists"

local function run(set)
  export(set.train, path)
  local width = set.train.features and set.train.features:size(2) or 0
  for _, loss in ipairs(args.losses) do
    local workload = ("%s epoch, %s"):format(set.name, loss)
    for _, threads in ipairs(args.threads) do
      core.threads(threads)
      add(workload, "moonrank", threads, ours(set, loss))
      for _, form in ipairs(args.forms) do
        if form ~= "none" then
          add(workload, "PyTorch, " .. form, threads,
            bench.peer_times("epochs_torch.py", path, loss, form, threads, args.peer_epochs, args.warm,
              factors, rate, width))
        end
      end
    end
  end
end

for _, name in ipairs(args.sets) do
  local found, message = pcall(data_sets[name], run)
  if not found then print(("%s is left out: %s"):format(name, message)) end
end
bench.finish(("One epoch, median of %d epochs of ours and %d of the peer."):format(args.epochs, args.peer_epochs), rows,
  args.csv)
