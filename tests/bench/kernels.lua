-- Times one step of smooth AP (ranks, value and derivative) of a list, by the number of its rows and the distribution
-- of its scores, in Moonrank, and in PyTorch and allRank in the same run (tests/bench/peers/kernels_torch.py explains
-- their forms). Every second row is relevant. Many short lists are timed together.
-- Usage: moonrank tests/bench/kernels.lua [--rows 32,1024] [--shapes normal] [--forms padded,approxndcg] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  rows = { default = { 32, 128, 512, 2048, 8192, 32768, 222472 }, help = "rows of a list" },
  shapes = { default = { "normal", "equal", "heavy-tailed", "spread" },
    choices = { "normal", "equal", "heavy-tailed", "spread" }, help = "of the scores" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  forms = { default = { "padded", "padded compiled", "lists", "lists compiled", "relevant", "relevant compiled",
    "approxndcg", "approxndcg compiled", "neuralndcg", "neuralndcg compiled" },
    help = "of the peers, for normal scores; or none" },
  most = { default = 8192, help = "rows up to which peers are tried: they keep matrices of rows x rows" },
  repeats = { default = 9, help = "each is measured so often; the median counts" },
}

local total = 16384  -- rows of all lists that are timed together; a longer list is timed alone

local function draw(shape, n)
  if shape == "normal" then return mr.normal({ n }, { seed = 1 }) end
  if shape == "equal" then return mr.uniform({ n }, { low = -0.01, high = 0.01, seed = 1 }) end
  if shape == "spread" then return mr.uniform({ n }, { low = -5000, high = 5000, seed = 1 }) end
  local cauchy = mr.normal({ n }, { seed = 1 }) / mr.normal({ n }, { seed = 2 })
  return cauchy:gt(1e4):where(1e4, cauchy:gt(-1e4):where(cauchy, -1e4))
end

local function lists_of(n, count)
  local relevance, sizes = {}, {}
  for i = 1, n * count do relevance[i] = i % 2 end
  for l = 1, count do sizes[l] = n end
  return mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }
end

local rows, add = bench.collect()
local function name_of(n, shape) return ("AP step of %d rows, %s scores"):format(n, shape) end

local function ours(n, shape)
  local count = math.max(1, total // n)
  local lists, scores, seed = lists_of(n, count), draw(shape, n * count):requires_grad(), mr.ones(count)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    local times = bench.times_of(function()
      scores:zero_grad()
      mr.smooth.ap(scores, lists):backward(seed)
    end, args.repeats)
    for i, seconds in ipairs(times) do times[i] = seconds / count end
    add(name_of(n, shape), "moonrank", threads, times)
  end
end

-- Runs one form of PyTorch or allRank with some threads in a process, which prints the rows of a list and the seconds
-- per list for every repeat.
local function peers(form, threads)
  local sizes = {}
  for _, n in ipairs(args.rows) do
    if n <= args.most then sizes[#sizes + 1] = tostring(n) end
  end
  local times = {}
  local lines, reason = bench.peer_lines("kernels_torch.py", form, threads, args.repeats, table.concat(sizes, ","))
  for _, line in ipairs(lines) do
    local n, seconds = line:match("^(%d+) (%S+)$")
    if n then
      times[n] = times[n] or {}
      table.insert(times[n], tonumber(seconds))
    end
  end
  local program = form:find "ndcg" and "allRank, another loss: " or "PyTorch, "
  for _, n in ipairs(sizes) do
    add(name_of(n, "normal"), program .. form, threads, times[n] or {}, not times[n] and reason or nil)
  end
end

for _, shape in ipairs(args.shapes) do
  for _, n in ipairs(args.rows) do ours(n, shape) end
end
for _, form in ipairs(args.forms) do
  for _, threads in ipairs(form == "none" and {} or args.threads) do peers(form, threads) end
end
bench.finish("Smooth AP of one list, forward and backward, float32.", rows, args.csv)
