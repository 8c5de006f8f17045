-- Westerborg (2022) finds that distribution based bounding ruins the nDCG loss (Table 5.1: 0.88 against 0.97 at NSR 1) and leaves AP and nRBP
-- as they are. Why? A model starts with all scores alike. Smooth nDCG is then far below what a random ranking gets, since its discount is
-- convex; smooth AP and nRBP are near the middle. Out there the thesis' distribution function, summed over 300,000 samples, has no slope: these
-- users never learn. The cure: the exact distribution, and its logarithm or logit, whose slope does not fade.
-- Data: ml-latest-small, relevant = rated 4 or more, users with 25 relevant or more; five folds by user, negatives drawn once per fold.
-- Model: matrix factorisation, 32 factors, U(-0.01, 0.01), Adam, 32 users per batch, epoch chosen on validation. Each (NSR, fold) is kept in
-- its own file under --results, so a stopped run goes on where it was.
local mr = require "moonrank"
local kept = dofile((arg[0]:match("^(.*/)") or "./") .. "folds.lua")

local args = mr.args{
  nsr = { default = { 1, 2, 3 }, help = "negatives per relevant item" },
  folds = { default = 5, help = "how many of the five folds to run" },
  epochs = { default = 40, help = "passes over the training part" },
  lr = { default = 0.01, help = "learning rate of Adam" },
  samples = { default = 300000, help = "random orders per list shape for the thesis' distribution" },
  seed = { default = 1, help = "seed of splits, negatives and models" },
  results = { default = "results/thesis/why_distribution_fails", help = "folder for what is done so far, and for the figures" },
  data = { default = "movielens", help = "MovieLens: a name or a folder" },
  smoke = { default = false, help = "one fold, NSR 1, three epochs, few samples" },
}
if args.smoke then args.nsr, args.folds, args.epochs, args.samples = { 1 }, 1, 3, 2000 end

-- Data, and the bounds under test
local ratings = mr.data.movielens(args.data):binarize(4):min_relevant(25)
local thesis = mr.bounds.distribution_bound{ method = "sampled", gain = "samples", samples = args.samples }
local bounds = {
  { "none", "none" }, { "thesis", thesis }, { "exact", "distribution" }, { "log", "distribution_log" }, { "logit", "distribution_logit" },
}
local title = { none = "none", thesis = "distribution (thesis)", exact = "distribution, exact, kappa 8", log = "distribution_log",
  logit = "distribution_logit" }

local function whole(dataset)
  local next_batch = dataset:batches{ size = dataset.count }
  return next_batch()
end

-- Where lists start: the probability that a random ranking is no better than one whose scores are all alike
local function starts(lists, metric, smooth)
  local scores = mr.zeros({ lists.rows }, { dtype = "float64" })
  local value, n, p = smooth(scores, lists):totable(), lists.sizes:totable(), lists.relevant:totable()
  local known, below = {}, {}
  for l, s in ipairs(value) do
    if p[l] > 0 and p[l] < n[l] then
      local shape = n[l] .. " " .. p[l]
      known[shape] = known[shape] or mr.bounds.distribution(metric, { n = math.tointeger(n[l]), p = math.tointeger(p[l]) }):cdf(s)
      below[#below + 1] = known[shape]
    end
  end
  return mr.tensor(below, { dtype = "float64" })
end

-- The share of lists whose bounded nDCG has no slope at the model's scores
local function share_without_gradient(bound, model, batch)
  local scores = mr.no_grad(function() return model(batch) end)
  local value = mr.smooth.ndcg(scores:double(), batch.lists):requires_grad()
  mr.bounds.resolve(bound).apply(value, "ndcg", batch.lists):sum():backward()
  local without, counted = 0, 0
  local weights = mr.bounds.weights("ndcg", batch.lists):totable()
  for l, slope in ipairs(value.grad:totable()) do
    counted = counted + weights[l]
    if weights[l] == 1 and math.abs(slope) < 1e-12 then without = without + 1 end
  end
  return without / counted
end

local function run_fold(nsr, number)
  local fold = ratings:folds{ k = 5, by = "user", seed = args.seed, nsr = nsr }[number]
  local batch, results = whole(fold.train), {}
  results.start_ndcg = starts(batch.lists, "ndcg", mr.smooth.ndcg)
  results.start_ap = starts(batch.lists, "ap", mr.smooth.ap)
  results.start_nrbp = starts(batch.lists, "nrbp_loss", mr.smooth.nrbp_loss)
  for _, each in ipairs(bounds) do
    local name, bound = table.unpack(each)
    local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = args.seed }
    local shares = {}
    local run = mr.fit{
      name = ("NSR %d fold %d %s"):format(nsr, number, name), model = model, loss = mr.losses.ndcg{ bound = bound },
      train = fold.train, valid = fold.valid, test = fold.test, optimizer = mr.optim.adam{ lr = args.lr }, batch = 32,
      epochs = args.epochs, metrics = { "ndcg" }, seed = args.seed,
      each_epoch = function(epoch, m) shares[epoch + 1] = share_without_gradient(bound, m, batch) end,
    }
    if run.interrupted then error("interrupted", 0) end
    results["ndcg_" .. name] = run.scores.ndcg
    results["silent_" .. name] = mr.tensor(shares, { dtype = "float64" })
  end
  return results
end

-- Protocol: every (NSR, fold) once; settings beside the results
local settings = { epochs = args.epochs, lr = args.lr, samples = args.samples, seed = args.seed }
local folds = kept.by_nsr(args, settings, run_fold)
local function over_folds(nsr, key) return kept.over(folds[nsr], key) end

-- Mean over folds, entry by entry
local function mean_curve(nsr, key)
  local sum
  for _, results in ipairs(folds[nsr]) do sum = sum and sum + results[key] or results[key] end
  return sum / #folds[nsr]
end

-- Table: where lists start, who learns, what comes of it
local rows = {}
for _, nsr in ipairs(args.nsr) do
  local unbounded = over_folds(nsr, "ndcg_none")
  for _, each in ipairs(bounds) do
    local all, summary = over_folds(nsr, "ndcg_" .. each[1])
    local silent, paired = mean_curve(nsr, "silent_" .. each[1]):totable(), mr.stats.paired_t(all, unbounded)
    rows[#rows + 1] = { nsr, title[each[1]], summary.mean, summary.sd, each[1] ~= "none" and paired.mean_difference or nil,
      each[1] ~= "none" and paired.p or nil, silent[1], silent[2], silent[#silent], paired.n }
  end
end
print(("Test nDCG of the nDCG loss; epoch chosen on validation; Adam %g, %d epochs, %d folds."):format(args.lr, args.epochs, args.folds))
print("Silent: the share of training lists whose bounded nDCG has no gradient.")
print(mr.table{
  columns = { "NSR", "bound", "nDCG", "sd of folds", "change", "p", "silent at start", "after 1", "at the end", "lists" },
  formats = { nDCG = "%.4f", ["sd of folds"] = "%.4f", change = "%+.4f", p = "%.2g", ["silent at start"] = "%.3f", ["after 1"] = "%.3f",
    ["at the end"] = "%.3f" },
  rows = rows,
})
local starting = {}
for _, nsr in ipairs(args.nsr) do
  for _, metric in ipairs{ "ndcg", "ap", "nrbp" } do
    local d = mr.bounds.distribution_of(over_folds(nsr, "start_" .. metric))
    starting[#starting + 1] = { nsr, metric, d:quantile(0.1), d:quantile(0.5), d:quantile(0.9), d:cdf(1e-6) }
  end
end
print("\nWhere lists start on their distribution function, all scores alike: the probability that a random ranking is no better.")
print(mr.table{ columns = { "NSR", "metric", "10 %", "median", "90 %", "share below 1e-6" }, rows = starting,
  formats = { ["share below 1e-6"] = "%.3f" } })

-- Figures
local start_panels, silent_panels, categories, bars = { columns = #args.nsr }, { columns = #args.nsr }, {}, {}
for i, each in ipairs(bounds) do bars[i] = { name = title[each[1]], values = {}, errors = {} } end
for _, nsr in ipairs(args.nsr) do
  categories[#categories + 1] = ("NSR %d"):format(nsr)
  local ecdfs, curves = {}, {}
  for i, metric in ipairs{ "ndcg", "ap", "nrbp" } do
    ecdfs[i] = { name = ({ ndcg = "nDCG", ap = "AP", nrbp = "nRBP" })[metric], values = over_folds(nsr, "start_" .. metric) }
  end
  for i, each in ipairs(bounds) do
    local _, summary = over_folds(nsr, "ndcg_" .. each[1])
    table.insert(bars[i].values, summary.mean)
    table.insert(bars[i].errors, summary.sd == summary.sd and summary.sd or 0)
    if each[1] ~= "none" then
      local y = mean_curve(nsr, "silent_" .. each[1])
      curves[#curves + 1] = { name = title[each[1]], x = mr.arange(0, #y - 1), y = y, color = i }
    end
  end
  start_panels[#start_panels + 1] = mr.plot.ecdf{ series = ecdfs, title = ("NSR %d"):format(nsr), xlabel = "F at equal scores",
    ylabel = "share of lists", xrange = { 0, 1 } }
  silent_panels[#silent_panels + 1] = mr.plot.lines{ series = curves, title = ("NSR %d"):format(nsr), xlabel = "epoch",
    ylabel = "share without gradient", yrange = { 0, 1 } }
end
local function one_or_facets(panels)
  if #panels == 1 then return panels[1] end
  panels.width, panels.height = 320 * #panels, 340
  return mr.plot.facets(panels)
end
one_or_facets(start_panels):save(args.results .. "/starts.svg")
one_or_facets(silent_panels):save(args.results .. "/silent.svg")
mr.plot.bars{ categories = categories, series = bars, ylabel = "test nDCG", title = "nDCG under distribution bounding", width = 760 }:save(
  args.results .. "/ndcg.svg")
print(([[

%s/starts.svg  nDCG starts at the foot of its distribution function, AP and nRBP near the middle.
%s/silent.svg  so most lists have no gradient under the thesis' bound (later also those at its top); with log and logit all have.
%s/ndcg.svg    what that does to test nDCG.]]):format(args.results, args.results, args.results))
