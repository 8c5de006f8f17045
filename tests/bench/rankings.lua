-- Times one step (value and derivative) of the losses over random rankings, mr.losses.pl_rank and
-- mr.losses.policy_gradient of nDCG, on lists of equal length with normally distributed scores, and the same step in
-- PyTorch in the same run (peers/rankings_torch.py), which draws, sorts and sums the rankings of all lists at once.
-- Values and derivatives are means over random rankings. Before PyTorch is timed, its results must agree with
-- Moonrank's within the sampling error. Without a cutoff only the values are compared, because the sampling error of
-- the derivative is then larger than the derivative.
-- Usage: moonrank tests/bench/rankings.lua [--rows 128,1000] [--samples 100] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local names = { "pl_rank", "policy_gradient" }
local args = bench.args{
  losses = { default = names, choices = names, help = "which losses" },
  metrics = { default = { "ndcg", "ndcg@10" }, choices = { "ndcg", "ndcg@10" }, help = "of the rankings" },
  rows = { default = { 128, 1000 }, help = "rows of a list" },
  total = { default = 4096, help = "rows of all lists together, at least one list" },
  samples = { default = 100, help = "rankings of each list" },
  threads = { default = { 1 }, help = "numbers of threads" },
  repeats = { default = 9, help = "each is measured so often; the median counts" },
}

local more = 20  -- factor by which the check of PyTorch's results draws more rankings than a timed step

local rows, add = bench.collect()
local temporary <close> = bench.temporary()

local function measure(name, metric, n)
  local count, relevance, sizes = math.max(1, args.total // n), {}, {}
  for i, u in ipairs(mr.uniform({ n * count }, { seed = 2 }):totable()) do
    relevance[i] = (i % n == 1 or u > 0.9) and 1 or u > 0.8 and 2 or 0
  end
  for l = 1, count do sizes[l] = n end
  local lists = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }
  local scores = mr.normal({ n * count }, { seed = 1 }):requires_grad()
  local loss = mr.losses[name]{ metric = metric, samples = args.samples }
  local function step(of)
    scores:zero_grad()
    local value = of(scores, lists):sum()
    value:backward()
    return value
  end
  local value = step(mr.losses[name]{ metric = metric, samples = more * args.samples }):item()
  local file = assert(io.open(temporary.path, "wb"))
  file:write(bench.floats(scores:detach():totable()), bench.floats(relevance), bench.floats(scores.grad:totable()),
    string.pack("<f", value))
  file:close()
  local workload = ("%s of %s, %d lists of %d rows, %d rankings"):format(name, metric, count, n, args.samples)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    add(workload, "moonrank", threads, bench.times_of(function() step(loss) end, args.repeats))
    local times, reason = bench.peer_times("rankings_torch.py", name, metric:match "@(%d+)" or n, temporary.path, count,
      n, args.samples, threads, args.repeats, more)
    add(workload, "PyTorch", threads, times, reason)
  end
end

for _, n in ipairs(args.rows) do
  for _, metric in ipairs(args.metrics) do
    for _, name in ipairs(args.losses) do measure(name, metric, n) end
  end
end
bench.finish("Losses over random rankings, forward and backward, float32.", rows, args.csv)
