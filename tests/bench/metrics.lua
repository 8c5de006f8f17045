-- Exact metrics of many lists: nDCG, AP, RR and RBP together, beside ranx and pytrec_eval (which has no RBP and leaves it out) in the same run, each
-- with its input in its own form already. Usage: moonrank tests/bench/metrics.lua [--lists 10000] [--rows 120]. The peers are tried where python3
-- has them.
local mr = require "moonrank"
local core = require "moonrank.core"

local args = mr.args{
  lists = { default = 10000, help = "how many lists" },
  rows = { default = 120, help = "rows of each" },
  repeats = { default = 5, help = "each is measured so often; the median counts" },
}

local total = args.lists * args.rows
local relevance, sizes = core.uniform({ total }, 0, 1, 1, "bench", "float32", "cpu"):totable(), {}
for i, u in ipairs(relevance) do relevance[i] = (u < 0.1 or i % args.rows == 1) and 1 or 0 end
for l = 1, args.lists do sizes[l] = args.rows end
local lists, scores = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }, mr.normal({ total }, { seed = 2 })

local function ours(threads)
  core.threads(threads)
  local times = {}
  for i = 0, args.repeats do
    local start = core.clock()
    mr.evaluate(scores, lists, { "ndcg", "ap", "rr", "rbp(0.95)" })
    times[i] = core.clock() - start
  end
  table.sort(times)
  return times[#times // 2 + 1]
end

local function peer(library, threads)
  local here = arg[0]:match("^(.*/)") or "./"
  local pipe = io.popen(("python3 '%speers/metrics.py' %s %d %d %d %d 2>/dev/null"):format(
    here, library, args.lists, args.rows, args.repeats, threads))
  local seconds = pipe and tonumber(pipe:read("l"))
  if pipe then pipe:close() end
  return seconds
end

local rows = {}
for _, threads in ipairs{ 1, 2 } do
  local mine = ours(threads)
  rows[#rows + 1] = { "moonrank", threads, mine * 1e3, 1.0 }
  for _, library in ipairs(threads == 1 and { "ranx", "pytrec_eval" } or { "ranx" }) do
    local seconds = peer(library, threads)
    rows[#rows + 1] = { library, threads, seconds and seconds * 1e3, seconds and seconds / mine }
  end
end
print(("nDCG, AP, RR, RBP of %d lists of %d rows, milliseconds, median of %d (blank: python3 has no such library):"):format(
  args.lists, args.rows, args.repeats))
print(mr.table{ columns = { "library", "threads", "ms", "times ours" }, rows = rows, formats = { ms = "%.1f", ["times ours"] = "%.1f" } })
