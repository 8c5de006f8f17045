-- How long large data take, and their memory: made-up ratings of the size of MovieLens 32M (200,948 users, 87,585 items, 32 million ratings) are
-- drawn, split and trained on for an epoch (smooth AP, a negative per relevant row, 32 factors, batches of 256 users); made-up queries of the size of
-- MSLR-WEB30K (31,531 queries of 120 documents and 136 features) likewise, by a network. Each in a process of its own, for its peak of memory; on
-- standard error is a line every few seconds that says what it does, for how long, and with how much memory.
-- Usage: moonrank tests/bench/scale.lua [--times 10] [--parts ratings,queries] [--csv FILE]; `--times 0.1` is a tenth of the users and queries.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  parts = { default = { "ratings", "queries" }, choices = { "ratings", "queries" }, help = "which data" },
  times = { default = 1.0, help = "times as many users and queries" },
  threads = { default = { 1, 2 }, help = "numbers of threads of the epochs" },
  epochs = { default = 2, help = "measured with each number of threads; the median counts" },
  part = { default = "", help = "which data this process measures; for the script's own use" },
}

-- A line for the parent: what, threads, seconds, most bytes since the last line.
local function report(what, threads, seconds)
  print(("\n%s\t%d\t%.6f\t%d"):format(what, threads, seconds, core.peak_memory(false)))
  core.peak_memory(true)
end

-- Says on standard error every five seconds, until it is closed, for how long this process has done this and with how much memory: a call of the
-- core says nothing while it lasts.
local function alive(what)
  local stat <close> = assert(io.open "/proc/self/stat")
  return assert(io.popen(([[exec bash -c 'while read -r -t 5; [ $? -gt 128 ]; do
    echo "%s: $SECONDS s, $(sed -n "s/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p" /proc/%d/status | head -c -4) MB" >&2
  done']]):format(what, stat:read "n"), "w"))
end

local function timed(what, f)
  io.stderr:write(what, " ...\n")
  local _ <close> = alive(what)
  local began = bench.clock()
  local result = f()
  report(what, core.threads(), bench.clock() - began)
  return result
end

local function epochs(what, train, model, loss, batch)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    local last = bench.clock()
    mr.fit{ model = model, loss = loss, train = train, optimizer = mr.optim.adam{ lr = 0.01 }, batch = batch, epochs = args.epochs,
      each_epoch = function(epoch)
        if epoch > 0 then report(what, threads, bench.clock() - last) end
        last = bench.clock()
      end }
  end
end

local data = {}

function data.ratings()
  core.threads(1)
  local users = math.ceil(200948 * args.times)
  local ratings = timed("ratings are drawn", function()
    return mr.data.synthetic{ kind = "ratings", users = users, items = 87585, mean_activity = 159, seed = 1 }
  end)
  local train = timed("ratings are split", function()
    return ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1].train
  end)
  epochs(("epoch of %d rows in %d lists"):format(train.lists.rows, train.count), train,
    mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, seed = 1 }, mr.losses.ap(), 256)
end

function data.queries()
  core.threads(1)
  local train = timed("queries are drawn", function()
    return mr.data.synthetic{ kind = "queries", queries = math.ceil(31531 * args.times), features = 136, mean_size = 120, seed = 1 }
  end)
  report("features alone: " .. train.features:numel() * 4, 1, 0)
  epochs(("epoch of %d rows in %d lists"):format(train.lists.rows, train.count), train,
    mr.models.mlp{ inputs = 136, hidden = { 64 }, seed = 1 }, mr.losses.ndcg(), 64)
end

if args.part ~= "" then
  data[args.part]()
  return
end

local rows, add = bench.collect()
local function measure(part)
  local pipe = assert(io.popen(("'%s' '%s' --part %s --times %g --threads %s --epochs %d"):format(arg[-1], arg[0], part, args.times,
    table.concat(args.threads, ","), args.epochs)))
  local times, order, features = {}, {}, nil
  for line in pipe:lines() do
    local what, threads, seconds, bytes = line:match "^([^\t]+)\t(%d+)\t(%S+)\t(%d+)$"
    features = what and what:match "^features alone: (%d+)" or features
    if what and not what:find "^features alone" then
      local key = what .. "\t" .. threads
      if not times[key] then
        times[key] = { what = what, threads = math.tointeger(threads) }
        order[#order + 1] = times[key]
      end
      table.insert(times[key], tonumber(seconds))
      times[key].bytes = math.max(times[key].bytes or 0, tonumber(bytes))
    end
  end
  if not pipe:close() then print(part .. ": it failed; what it says is above") end
  for _, t in ipairs(order) do
    local note = ("%.2f GB at most"):format(t.bytes / 1e9)
    if features then note = note .. (", of which features %.2f GB"):format(features / 1e9) end
    add(t.what, "moonrank", t.threads, t, note)
  end
end
for _, part in ipairs(args.parts) do measure(part) end
bench.finish("Large data.", rows, args.csv)
