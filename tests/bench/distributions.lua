-- Times three ways to get the distribution of a metric for a distribution bound, in one run: the exact distribution
-- with its lookup table, 300,000 random rankings drawn by Moonrank, and the same with a NumPy loop, as a Python user
-- would write it. Also times one lookup in the table against a sum over 300,000 values, and making all tables that real
-- data need.
-- Usage: MOONRANK_SAMPLES_GIB=0 moonrank tests/bench/distributions.lua [--repeats 5] [--csv FILE]
-- NumPy is tried if python3 has it. MOONRANK_SAMPLES_GIB=0 is required: with a cache of samples, later repeats would
-- only read what the first one drew.
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = bench.args{
  repeats = { default = 5, help = "each is measured so often; the median counts" },
  threads = { default = 1, help = "threads for the comparisons (the tables of real data take all cores)" },
  samples = { default = 300000, help = "random rankings" },
  numpy_samples = { default = 300000,
    help = "of these NumPy draws so many; with fewer its time is extrapolated, and the table says so" },
}

if tonumber(os.getenv "MOONRANK_SAMPLES_GIB") ~= 0 then
  error(core.exit(2, "samples are kept in the user's cache folder, and would be read instead of drawn: "
    .. "expected MOONRANK_SAMPLES_GIB=0"), 0)
end

local function median_seconds(f) return bench.spread_of(bench.times_of(f, args.repeats)).median end

-- Returns the times of the NumPy loop, and a note for the table. If the loop draws fewer samples, its time is
-- extrapolated, because it is proportional to their number.
local function numpy_times(metric, n, p)
  local few = math.min(args.samples, args.numpy_samples)
  local times, note = bench.peer_times("sampled_distribution.py", metric, n, p, few)
  for i, seconds in ipairs(times) do times[i] = seconds * args.samples / few end
  return times, note or few < args.samples and ("extrapolated from %d samples"):format(few) or nil
end

-- Returns a function that applies a distribution bound to one list and cannot reuse a cached distribution, because each
-- call has another seed, or a kappa that differs in its last digits.
local function bounded(metric, lists, options)
  local score = mr.tensor({ 0.5 }, { dtype = "float64" })
  return function(i)
    mr.bounds.distribution_bound(options(i)).apply(score, metric, mr.lists{ lists })
  end
end

local cores = core.threads()
core.threads(args.threads)
local rows, add = bench.collect()
for _, shape in ipairs{ { 60, 20 }, { 1000, 250 } } do
  local n, p = table.unpack(shape)
  local list = {}
  for i = 1, n do list[i] = i <= p and 1 or 0 end
  for _, metric in ipairs{ "ndcg", "ap", "nrbp_loss" } do
    local workload = ("distribution of %s, N = %d, P = %d"):format(metric, n, p)
    local exact = bounded(metric, list, function(i) return { method = "exact", kappa = 8 + i * 1e-9 } end)
    add(workload, "moonrank, exact", args.threads, bench.times_of(exact, args.repeats))
    add(workload, ("moonrank, %d samples"):format(args.samples), args.threads,
      bench.times_of(bounded(metric, list, function(i)
        return { method = "sampled", steepness = "samples", samples = args.samples, seed = 1000 + i }
      end), args.repeats))
    add(workload, ("NumPy, %d samples"):format(args.samples), args.threads, numpy_times(metric, n, p))
  end
end
bench.finish("One distribution with its table.", rows, args.csv)

-- One reading
local readings = {}
for _, metric in ipairs{ "ndcg", "ap", "nrbp_loss" } do
  local d = mr.bounds.distribution(metric, { n = 60, p = 20, method = "sampled", samples = args.samples })
  local values = core.uniform({ args.samples }, d:min(), d:max(), 1, "bench", "float32", "cpu")
  local scores = core.uniform({ 100000 }, d:min(), d:max(), 2, "bench", "float32", "cpu")
  local exact = mr.bounds.distribution(metric, { n = 60, p = 20 })
  local spec = core.distribution_spec("cdf", "auto", 1, 1, "kappa", 8, 0)
  core.distribution_bound_of(scores, exact, spec, false)
  local read = median_seconds(function() core.distribution_bound_of(scores, exact, spec, false) end) / 100000
  local gain = 8 / d:sd()
  local summed = median_seconds(function() (((d:mean() - values) * gain):sigmoid()):mean() end)
  readings[#readings + 1] = { metric, read * 1e9, summed * 1e6, summed / read }
end
print(("\nOne value of F~ with its slope by the table; Algorithm 2 as a sum over %d values, float32, no slope."):format(
  args.samples))
print(mr.table{ columns = { "metric", "table, ns", "sum, us", "sum : table" }, rows = readings,
  formats = { ["table, ns"] = "%.1f", ["sum, us"] = "%.0f", ["sum : table"] = "%.0f" } })

-- Times making the tables of all distributions that real data sets need.
core.threads(cores)
local total, tables = 0, {}
local function all_tables(name, lists, metrics)
  for _, metric in ipairs(metrics) do
    local score = mr.bounds.stats(metric, lists).expectation
    local start = core.clock()
    mr.bounds.resolve("distribution_logit").apply(score, metric, lists)
    local seconds = core.clock() - start
    total = total + seconds
    tables[#tables + 1] = { name, metric, lists.count, seconds }
  end
end
local metrics = { "ndcg", "ap", "nrbp_loss" }
local found, ratings = pcall(mr.data.movielens)
if found then
  for nsr = 1, 3 do
    local train = ratings:binarize(4):min_relevant(25):folds{ k = 5, by = "user", seed = 1, nsr = nsr }[1].train
    all_tables(("MovieLens NSR %d"):format(nsr), train:batches{ size = train.count }().lists, metrics)
  end
else
  print("\nMovieLens is not here: " .. tostring(ratings))
end
local has_mq, folds = pcall(mr.data.letor_folds, "mq2008")
if has_mq then
  local train = folds[1].train
  all_tables("MQ2008 fold 1, graded", train:batches{ size = train.count }().lists, metrics)
  all_tables("MQ2008 fold 1, top label", train:binarize("top"):batches{ size = train.count }().lists, metrics)
else
  print("\nMQ2008 is not here: " .. tostring(folds))
end
print(("\nAll tables that a data set needs, statistics known, seconds on %d threads."):format(cores))
print(mr.table{ columns = { "data", "metric", "lists", "seconds" }, rows = tables, formats = { seconds = "%.3f" } })
print(("total %.2f s"):format(total))
