-- Measures time and peak memory with large data, each data set in its own process:
--   - ratings: made-up ratings of the size of MovieLens 32M (200,948 users, 87,585 items, 32 million ratings) are
--   drawn, split, and trained on for an epoch (smooth AP, one negative per relevant row, 32 factors, batches of 256
--   users)
--   - queries: made-up queries of the size of MSLR-WEB30K (31,531 queries of 120 documents, 136 features), with a
--   network
--   - ranknet, neural_ndcg: made-up queries of the size of MSLR-WEB10K (10,000 queries), with a network and this loss.
--   NeuralNDCG's epoch should take less than 4 GB
-- Before each, standard error gets the amount of data, and the expected memory and time; then every few seconds a line
-- with the current action, its time and memory. Work that is expected to need more memory than is free is skipped with
-- a note in its row, because most systems kill processes when memory runs out. --over runs it all the same.
-- Usage: moonrank tests/bench/scale.lua [--times 10] [--parts ratings,queries,ranknet] [--csv FILE]
-- `--times 0.1` takes a tenth of the users and queries.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  parts = { default = { "ratings", "queries", "ranknet", "neural_ndcg" },
    choices = { "ratings", "queries", "ranknet", "neural_ndcg" }, help = "which data" },
  times = { default = 1.0, help = "times as many users and queries" },
  threads = { default = { 1, 2 }, help = "numbers of threads of the epochs" },
  epochs = { default = 2, help = "measured with each number of threads; the median counts" },
  over = { default = false, help = "also what is expected to take more memory than is free" },
  part = { default = "", help = "which data this process measures; for the script's own use" },
}

-- An entry of `sizes` estimates the cost of one data set: `count` ratings or documents, `base` bytes plus `bytes` for
-- each, `seconds` for each to draw it, and `epoch` seconds for each to train on it. `text` is the amount of data in
-- words. The costs were measured on two cores of an AMD EPYC (Zen 5), from 1/20 of the size to twice the size.
local users, items, activity = math.ceil(200948 * args.times), 87585, 159
local queries, fewer_queries, documents, features =
  math.ceil(31531 * args.times), math.ceil(10000 * args.times), 120, 136
local sizes = {
  ratings = { count = users * activity, base = 1e8, bytes = 55, seconds = 6.4e-7, epoch = 1.2e-7,
    text = ("%d users, %d items, about %.4g million ratings"):format(users, items, users * activity / 1e6) },
  queries = { count = queries * documents, base = 0, bytes = 1140, seconds = 4e-6, epoch = 4.5e-7,
    text = ("%d queries, about %.4g million documents of %d features"):format(
      queries, queries * documents / 1e6, features) },
}
for loss, epoch in pairs{ ranknet = 1e-6, neural_ndcg = 7e-6 } do
  sizes[loss] = { count = fewer_queries * documents, base = 0, bytes = 1140, seconds = 4e-6, epoch = epoch,
    text = ("%d queries, about %.4g million documents of %d features, %s"):format(
      fewer_queries, fewer_queries * documents / 1e6, features, loss) }
end

-- Prints a line for the parent process: what was done, threads, seconds, and peak memory in bytes since the last line.
local function report(what, threads, seconds)
  print(("\n%s\t%d\t%.6f\t%d"):format(what, threads, seconds, core.peak_memory()))
  core.reset_peak_memory()
end

-- Starts a shell that prints every five seconds to standard error for how long `what` has been running, and how much
-- memory this process has. Closing the returned pipe ends it. A separate process is needed because a call of the core
-- blocks this one.
local function alive(what)
  local stat <close> = assert(io.open "/proc/self/stat")
  return assert(io.popen(([[exec bash -c 'while read -r -t 5; [ $? -gt 128 ]; do
    echo "%s: $SECONDS s, $(sed -n "s/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p" /proc/%d/status | head -c -4) MB" >&2
  done']]):format(what, stat:read "n"), "w"))
end

local function timed(what, f)
  io.stderr:write(what, " ...\n")
  print("\nbegun\t" .. what)
  local _ <close> = alive(what)
  local began = bench.clock()
  local result = f()
  report(what, core.threads(), bench.clock() - began)
  return result
end

local function epochs(what, train, model, loss, batch)
  print("\nbegun\t" .. what)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    local last = bench.clock()
    mr.fit{ model = model, loss = loss, train = train, optimizer = mr.optim.adam{ lr = 0.01 }, batch = batch,
      epochs = args.epochs, each_epoch = function(epoch)
        if epoch > 0 then report(what, threads, bench.clock() - last) end
        last = bench.clock()
      end }
  end
end

local data = {}

function data.ratings()
  core.threads(1)
  local ratings = timed("ratings are drawn", function()
    return mr.data.synthetic{ kind = "ratings", users = users, items = items, mean_activity = activity, seed = 1 }
  end)
  local train = timed("ratings are split", function()
    return ratings:binarize(4):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1].train
  end)
  epochs(("epoch of %d rows in %d lists"):format(train.lists.rows, train.count), train,
    mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, seed = 1 }, mr.losses.ap(), 256)
end

local function by_network(count, loss)
  core.threads(1)
  local train = timed("queries are drawn", function()
    return mr.data.synthetic{ kind = "queries", queries = count, features = features, mean_size = documents, seed = 1 }
  end)
  report("features alone: " .. train.features:numel() * 4, 1, 0)
  epochs(("epoch of %d rows in %d lists, %s"):format(train.lists.rows, train.count, loss), train,
    mr.models.mlp{ inputs = features, hidden = { 64 }, seed = 1 }, mr.losses[loss](), 64)
end

function data.queries() by_network(queries, "ndcg") end
function data.ranknet() by_network(fewer_queries, "ranknet") end
function data.neural_ndcg() by_network(fewer_queries, "neural_ndcg") end

if args.part ~= "" then
  data[args.part]()
  return
end

local function free_memory()
  for line in io.lines "/proc/meminfo" do
    local kilobytes = line:match "^MemAvailable:%s*(%d+) kB"
    if kilobytes then return kilobytes * 1024 end
  end
  return math.huge
end

-- Prints the size of a data set and the time and memory that it is expected to take. Returns the reason for skipping it
-- if it needs more memory than is free, else nil.
local function reason_against(part)
  local size, free = sizes[part], free_memory()
  local bytes = size.base + size.count * size.bytes
  local seconds = size.count * (size.seconds + size.epoch * args.epochs * #args.threads)
  io.stderr:write(("%s: %s; expected: %.2g GB of memory at most (%.3g GB are free), about %s\n"):format(
    part, size.text, bytes / 1e9, free / 1e9,
    seconds < 100 and math.ceil(seconds) .. " s" or math.ceil(seconds / 60) .. " min"))
  if bytes > free and not args.over then
    return ("left out: about %.3g GB expected, %.3g GB free (--over tries it)"):format(bytes / 1e9, free / 1e9)
  end
end

local rows, add = bench.collect()

-- Reads the output of a measuring process. Returns the times and memory of each finished action, the bytes of the
-- features, and the name of the last action that was begun.
local function measured(pipe)
  local times, order, bytes_of_features, last = {}, {}, nil, nil
  for line in pipe:lines() do
    last = line:match "^begun\t(.*)$" or last
    local what, threads, seconds, bytes = line:match "^([^\t]+)\t(%d+)\t(%S+)\t(%d+)$"
    bytes_of_features = what and what:match "^features alone: (%d+)" or bytes_of_features
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
  return order, bytes_of_features, last
end

local function measure(part)
  local reason = reason_against(part)
  if reason then return add(sizes[part].text, "moonrank", 1, {}, reason) end
  local pipe = assert(io.popen(("'%s' '%s' --part %s --times %g --threads %s --epochs %d"):format(
    bench.program, arg[0], part, args.times, table.concat(args.threads, ","), args.epochs)))
  local order, bytes_of_features, last = measured(pipe)
  local well, _, status = pipe:close()
  for _, t in ipairs(order) do
    local note = ("%.2f GB at most"):format(t.bytes / 1e9)
    if bytes_of_features then note = note .. (", of which features %.2f GB"):format(bytes_of_features / 1e9) end
    add(t.what, "moonrank", t.threads, t, note)
  end
  if well then return end
  local killed = status == 9 or status == 137
  local why = killed and "it was killed, as a system does that has no memory left" or "it failed; what it says is above"
  print(("%s: %s"):format(part, why))
  add(sizes[part].text, "moonrank", 1, {}, ("%s; last begun: %s"):format(why, last or "its data"))
end
for _, part in ipairs(args.parts) do measure(part) end
bench.finish("Large data.", rows, args.csv)
