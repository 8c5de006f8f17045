-- Times an epoch on one long list with a network 46-46-1, made-up features, smooth AP and Adam. Every second row is
-- relevant. Threads cannot share work list by list here, so the speedup of two threads is that inside one list.
-- `kernels.lua --rows 222472` times the loss alone.
-- Usage: moonrank tests/bench/long_list.lua [--rows 222472] [--csv FILE]
-- With MOONRANK_CLOCK=cpu it measures the CPU time of all threads.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args({
  rows = { default = 222472, help = "rows of the list; the default is the longest of a public collection" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  epochs = { default = 10, help = "measured after `warm`; the median counts" },
  warm = { default = 2, help = "epochs before" },
}, { warm = true })

local width = 46
local relevance = {}
for i = 1, args.rows do relevance[i] = i % 2 end
local train = mr.data.dataset{ lists = mr.lists{ relevance = mr.tensor(relevance), sizes = { args.rows } },
  features = mr.normal({ args.rows, width }, { seed = 1 }), name = "train" }

local function times()
  return bench.epoch_times({ model = mr.models.mlp{ inputs = width, hidden = { width }, seed = 1 },
    loss = mr.losses.ap(), train = train, optimizer = mr.optim.adam{ lr = 0.01 }, batch = 1,
    epochs = args.warm + args.epochs }, args.warm)
end

local rows, add = bench.collect()
for _, threads in ipairs(args.threads) do
  core.threads(threads)
  add(("epoch of one list of %d rows, a network"):format(args.rows), "moonrank", threads, times())
end
bench.finish(("One epoch, median of %d."):format(args.epochs), rows, args.csv)
