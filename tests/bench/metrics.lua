-- Times exact metrics of many lists: nDCG, AP, RR and RBP beside ranx, and nDCG, AP and RR beside ranx and pytrec_eval,
-- which has no RBP. All run one after the other, each on input that is already in the library's own format.
-- Usage: moonrank tests/bench/metrics.lua [--lists 10000] [--rows 120] [--csv FILE]
-- ranx and pytrec_eval are tried if python3 has them.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  lists = { default = 10000, help = "how many lists" },
  rows = { default = 120, help = "rows of each" },
  repeats = { default = 5, help = "each is measured so often; the median counts" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
}

local total = args.lists * args.rows
local relevance, sizes = core.uniform({ total }, 0, 1, 1, "bench", "float32", "cpu"):totable(), {}
for i, u in ipairs(relevance) do relevance[i] = (u < 0.1 or i % args.rows == 1) and 1 or 0 end
for l = 1, args.lists do sizes[l] = args.rows end
local lists, scores = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }, mr.normal({ total }, { seed = 2 })

local rows, add = bench.collect()

-- Times mr.evaluate and other libraries with the same metrics.
local function compare(names, metrics, libraries, threads)
  local workload = ("%s of %d lists of %d rows"):format(names, args.lists, args.rows)
  core.threads(threads)
  add(workload, "moonrank", threads, bench.times_of(function() mr.evaluate(scores, lists, metrics) end, args.repeats))
  for _, library in ipairs(libraries) do
    add(workload, library, threads, bench.peer_times("metrics.py", library, args.lists, args.rows, args.repeats,
      threads, #metrics == 4 and "yes" or "no"))
  end
end

for _, threads in ipairs(args.threads) do
  compare("nDCG, AP, RR, RBP", { "ndcg", "ap", "rr", "rbp(0.95)" }, { "ranx" }, threads)
  compare("nDCG, AP, RR", { "ndcg", "ap", "rr" }, threads == 1 and { "ranx", "pytrec_eval" } or { "ranx" }, threads)
end
bench.finish("Exact metrics.", rows, args.csv)
