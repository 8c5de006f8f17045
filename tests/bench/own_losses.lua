-- Times one step (value and derivative) of pairwise losses that a script defines with mr.losses.define, beside the
-- built-in RankNet on the same lists. The script's losses are RankNet, and RankNet with the focal factor (1 - sigma(s_i
-- - s_j))^2 for each pair.
-- Usage: moonrank tests/bench/own_losses.lua [--rows 20,100] [--csv FILE]; with MOONRANK_CLOCK=cpu the CPU time
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  rows = { default = { 20, 100, 300, 1000 }, help = "rows of a list, with grades 0 to 4" },
  total = { default = 20000, help = "rows of all lists together, at least one list" },
  threads = { default = { 1 }, help = "numbers of threads" },
  repeats = { default = 15, help = "each is measured so often; the median counts" },
}

mr.losses.define("ranknet_in_lua", { pairs = function(d) return (-d):softplus() end })
mr.losses.define("focal_ranknet_in_lua", { pairs = function(d) return (-d):sigmoid() ^ 2 * (-d):softplus() end })

local rows, add = bench.collect()
for _, n in ipairs(args.rows) do
  local count, relevance, sizes = math.max(1, args.total // n), {}, {}
  for l = 1, count do
    sizes[l] = n
    for i = 1, n do relevance[#relevance + 1] = l * i * 7 % 5 end
  end
  local lists = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }
  local scores = mr.normal({ n * count }, { seed = 1 }):requires_grad()
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    local workload = ("RankNet of %d pairs, lists of %d rows"):format(lists:pairs().count, n)
    for _, name in ipairs{ "ranknet", "ranknet_in_lua", "focal_ranknet_in_lua" } do
      local loss = mr.losses[name]{}
      add(workload, name == "ranknet" and "moonrank" or name, threads,
        bench.times_of(function() loss:mean(scores, lists):backward() end, args.repeats))
    end
  end
end
bench.finish(("One step, median of %d."):format(args.repeats), rows, args.csv)
