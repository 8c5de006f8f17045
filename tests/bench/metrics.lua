-- Exact metrics of many lists: nDCG, AP, RR and RBP together, beside ranx and pytrec_eval (which has no RBP and leaves it out) in the same run, each
-- with its input in its own form already. Usage: moonrank tests/bench/metrics.lua [--lists 10000] [--rows 120] [--csv FILE]. The peers are tried where
-- python3 has them.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = mr.args{
  lists = { default = 10000, help = "how many lists" },
  rows = { default = 120, help = "rows of each" },
  repeats = { default = 5, help = "each is measured so often; the median counts" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  csv = { type = "string", help = "a file for the table, as CSV" },
}

local total = args.lists * args.rows
local relevance, sizes = core.uniform({ total }, 0, 1, 1, "bench", "float32", "cpu"):totable(), {}
for i, u in ipairs(relevance) do relevance[i] = (u < 0.1 or i % args.rows == 1) and 1 or 0 end
for l = 1, args.lists do sizes[l] = args.rows end
local lists, scores = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }, mr.normal({ total }, { seed = 2 })

local rows, add = bench.collect()
local workload = ("nDCG, AP, RR, RBP of %d lists of %d rows"):format(args.lists, args.rows)
for _, threads in ipairs(args.threads) do
  core.threads(threads)
  local function evaluate() mr.evaluate(scores, lists, { "ndcg", "ap", "rr", "rbp(0.95)" }) end
  add(workload, "moonrank", threads, bench.times_of(evaluate, args.repeats))
  for _, library in ipairs(threads == 1 and { "ranx", "pytrec_eval" } or { "ranx" }) do
    add(workload, library, threads, bench.peer_times("metrics.py", library, args.lists, args.rows, args.repeats, threads))
  end
end
bench.finish("Exact metrics.", rows, args.csv)
