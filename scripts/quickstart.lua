-- Does bounding a ranking loss (Westerborg 2022), so that lists of all lengths have similar weight, make better
-- rankings?

-- Data: MovieLens ml-latest-small if it is found, else made-up ratings. One fold, one sampled negative per relevant
-- item. Model: matrix factorisation. Protocol: each loss (nDCG, AP, nRBP) is trained without a bound and under the four
-- bounds of Westerborg (2022), and evaluated on the test part by its own metric. Changes and p-values compare with the
-- loss without a bound, paired by user.
local mr = require "moonrank"

local args = mr.args{
  nsr = { default = 1, least = 1, most = 4095, help = "negatives per relevant item" },
  fold = { default = 1, least = 1, most = 5, help = "which of the five folds is test" },
  epochs = { default = 20, least = 1, help = "passes over the training part" },
  lr = { default = 0.01, above = 0, help = "learning rate of Adam" },
  samples = { default = 30000, least = 1, most = 100000000,
    help = "random orders per list shape for the distribution bound (the thesis: 300000)" },
  seed = { default = 1, help = "seed of splits, negatives and models" },
  smoke = { default = false, sets = { epochs = 2 }, help = "test the script with made-up ratings" },
}

-- Loads MovieLens if it is found and --smoke is not given, else makes ratings up.
local found, ratings = pcall(mr.data.movielens)
if not found then print("No MovieLens: " .. ratings) end
if args.smoke or not found then
  ratings = mr.data.synthetic{
    kind = "ratings",
    users = args.smoke and 60 or 400,
    items = args.smoke and 400 or 4000,
    seed = args.seed,
  }
end
local data = found and not args.smoke and "MovieLens ml-latest-small" or "made-up ratings"
print(("Data: %s%s"):format(data, found and "" or "; `moonrank data get movielens` fetches real ones"))
local relevance = ratings:binarize(4):min_relevant(25)
local fold = relevance:folds{ k = 5, by = "user", seed = args.seed, nsr = args.nsr }[args.fold]
print(fold:summary())

-- Pairs of a loss and the test metric that evaluates models trained by this loss.
local losses = { { "ndcg", "ndcg" }, { "ap", "ap" }, { "nrbp", "nrbp(0.95)" } }
local distribution = mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = args.samples }
local bounds = { "none", "minmax", "expectation", "expectation_max", distribution }
print(("The distribution bound draws %d random orders per list shape; the thesis drew 300000."):format(args.samples))

local function train(loss, bound, metric)
  local model = mr.models.mf{
    users = ratings.users,
    items = ratings.items,
    factors = 32,
    init = 0.01,
    seed = args.seed,
  }
  local run = mr.fit{
    name = ("%s %s"):format(loss, bound.name or bound),
    model = model,
    loss = mr.losses[loss]{ bound = bound },
    train = fold.train,
    valid = fold.valid,
    test = fold.test,
    optimizer = mr.optim.adam{ lr = args.lr },
    batch = 32,
    epochs = args.epochs,
    metrics = { metric },
    seed = args.seed,
  }
  if run.interrupted then error("interrupted", 0) end
  return run
end

-- Trains every loss under every bound, and compares test metrics with those of the loss without a bound.
local rows = {}
for _, pair in ipairs(losses) do
  local loss, metric = table.unpack(pair)
  local unbounded
  for _, bound in ipairs(bounds) do
    local run = train(loss, bound, metric)
    unbounded = unbounded or run.test
    local paired = mr.stats.paired_t(run.test[metric], unbounded[metric])
    local is_none = bound == "none"
    rows[#rows + 1] = { loss, bound.name or bound, metric, run.test.mean[metric], run.test.counted[metric],
      run.best.epoch, not is_none and paired.mean_difference or nil, not is_none and paired.p or nil }
  end
end
print(("Test metrics on %s:"):format(data))
print(mr.table{
  columns = { "loss", "bound", "test metric", "mean", "lists", "epoch", "change", "p" },
  formats = { mean = "%.4f", change = "%+.4f", p = "%.2g" }, rows = rows,
  notes = { "change, p: against bound none, by a paired t-test over lists, uncorrected" },
})
