-- How long one epoch takes: matrix factorisation of MovieLens (ratings from 4, users with 25 or more of them), smooth nDCG, AP and nRBP, by negatives
-- per relevant row (NSR) and threads; and the same lists, model and optimiser in PyTorch in the same run (tests/bench/peers/epochs_torch.py says in
-- which forms). Usage: moonrank tests/bench/epochs.lua [--nsr 1,2,3] [--forms padded,lists] [--csv FILE] [--data FOLDER].
-- PyTorch is tried where python3 has it; `./bootstrap bench --peers` installs it for the purpose.
local mr = require "moonrank"
local core = require "moonrank.core"

local args = mr.args{
  data = { type = "string", help = "folder with the data sets" },
  nsr = { default = { 1, 2, 3 }, help = "negatives per relevant row" },
  losses = { default = { "ndcg", "ap", "nrbp" }, help = "which losses" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  forms = { default = { "padded", "compiled", "lists", "relevant" }, help = "forms of the peer; none: no peer" },
  epochs = { default = 20, help = "ours are measured so often, after two to warm up; the median counts" },
  peer_epochs = { default = 3, help = "the same for PyTorch, after some batches to warm up" },
  warm = { default = 3, help = "batches to warm PyTorch up" },
  csv = { type = "string", help = "a file for the table, as CSV" },
}

local factors, rate = 32, 0.01

local function spread_of(times)
  table.sort(times)
  local n = #times
  local median = n % 2 == 1 and times[n // 2 + 1] or (times[n // 2] + times[n // 2 + 1]) / 2
  return { median = median, least = times[1], most = times[n] }
end

-- Seconds per epoch, the first two left out.
local function ours(ratings, part, loss)
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = factors, seed = 1 }
  local times, last = {}, nil
  local run = mr.fit{ model = model, loss = mr.losses[loss](), train = part, optimizer = mr.optim.adam{ lr = rate }, batch = 32,
    epochs = args.epochs + 2, progress = false, each_epoch = function(epoch)
      local now = core.clock()
      if epoch > 2 then times[#times + 1] = now - last end
      last = core.clock()
    end }
  return spread_of(times), run.history[#run.history].loss
end

-- One line per list: the user, then item:relevance of every row.
local function export(part, path)
  local users, items = part.users:totable(), part.items:totable()
  local relevance, sizes = part.lists.relevance:totable(), part.lists.sizes:totable()
  local file, row = assert(io.open(path, "w")), 0
  for l, size in ipairs(sizes) do
    file:write(users[l])
    for _ = 1, size do
      row = row + 1
      file:write((" %d:%g"):format(items[row], relevance[row]))
    end
    file:write("\n")
  end
  file:close()
end

local function torch(path, loss, form, threads)
  local here = arg[0]:match("^(.*/)") or "./"
  local pipe = io.popen(("python3 '%speers/epochs_torch.py' '%s' %s %s %d %d %d %d %g 2>/dev/null"):format(
    here, path, loss, form, threads, args.peer_epochs, args.warm, factors, rate))
  local times = {}
  for line in pipe and pipe:lines() or function() end do times[#times + 1] = tonumber(line) end
  if pipe then pipe:close() end
  return #times > 0 and spread_of(times) or nil
end

local columns = { "NSR", "loss", "threads", "program", "ms", "least", "most", "times ours" }
local rows = {}
local function add(nsr, loss, threads, program, t, mine)
  rows[#rows + 1] = t and { nsr, loss, threads, program, t.median * 1e3, t.least * 1e3, t.most * 1e3, t.median / mine.median }
    or { nsr, loss, threads, program }
end

local ratings = mr.data.movielens(args.data):binarize(4):min_relevant(25)
local path = os.tmpname()
for _, nsr in ipairs(args.nsr) do
  local part = ratings:folds{ k = 5, by = "user", seed = 1, nsr = nsr }[1].train
  export(part, path)
  for _, loss in ipairs(args.losses) do
    for _, threads in ipairs(args.threads) do
      core.threads(threads)
      local mine = ours(ratings, part, loss)
      add(nsr, loss, threads, "moonrank", mine, mine)
      for _, form in ipairs(args.forms) do
        if form ~= "none" then add(nsr, loss, threads, "PyTorch, " .. form, torch(path, loss, form, threads), mine) end
      end
    end
  end
end
os.remove(path)
local formats = { ms = "%.1f", least = "%.1f", most = "%.1f", ["times ours"] = "%.1f" }
local result = mr.table{ columns = columns, rows = rows, formats = formats }
print(("One epoch of MovieLens, milliseconds, median of %d epochs of ours and %d of the peer (blank: it did not run):"):format(
  args.epochs, args.peer_epochs))
print(result)
if args.csv then
  local file = assert(io.open(args.csv, "w"))
  file:write(result:to_csv())
  file:close()
end
