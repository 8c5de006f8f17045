-- A new bound, from an idea to a comparison: this tutorial defines a bound, checks it, plots it, trains with it,
-- and tests whether it is better than existing bounds.
-- It runs in about half a minute: moonrank scripts/tutorial/a_new_bound.lua. You can also type its parts at the
-- prompt, where `mr` is already loaded. Figures are saved in results/tutorial.
local mr = require "moonrank"
local args = mr.args{
  epochs = { default = 20, least = 1, help = "passes over the training part" },
  out = { path = "new folder", default = "results/tutorial", help = "folder for the pictures" },
  smoke = { default = false, sets = { epochs = 2 }, help = "test the script with made-up ratings" },
}

-- 1. The idea
-- The nRBP loss of a list counts its wrongly ordered pairs, up to P (N - P) for N rows of which P are relevant. With
-- one sampled negative per relevant item (NSR 1), a user with 500 relevant items has up to 625 times the weight of a
-- user with 20, and dominates training. Min-max bounding divides by the range, which reverses this: now a pair of
-- such a user has almost no weight. This tutorial tries the square root of the range, which is half way.
--
-- A bound is a function of the score (the smooth metric, one value per list) and of statistics of each list:
-- stats.n, .p, .min, .max, .best, .expectation, .sd, and .cdf(score). It must keep the metric's direction. Its
-- gradient comes from the tensor operations that it uses. Lists with only relevant rows or none have the range 0.
-- Training leaves them out before the call, so dividing by the range is safe there.
mr.bounds.define("sqrt_range", function(score, stats)
  return (score - stats.min) / (stats.max - stats.min):sqrt()
end)

-- 2. Is it right?
-- mr.bounds.check compares the bound's gradient with finite differences, on lists of many sizes. It also shows
-- whether the bounded value rises with the score, where the gradient vanishes, and how much a short list weighs
-- against a long one with 1 to 5 negatives per relevant item (NSR). See "slope short : long" of nrbp_loss: 25, which
-- is half way (on a logarithmic scale) between 1 without a bound and 625 under min-max.
-- The check also calls the function with a list that training leaves out, and its cautions say that this divides by
-- zero. They matter only to scripts that call the function themselves.
print("1. sqrt_range, checked")
mr.bounds.check("sqrt_range")

-- Here is a bound with a mistake: a detached factor has no gradient, so the slope is wrong. The report names a
-- list, its slope and the expected slope.
mr.bounds.define("with_a_mistake", function(score, stats)
  return (score - stats.min) / (stats.max - stats.min) * score:detach()
end)
print("\n2. a mistake, found")
local report = mr.bounds.check("with_a_mistake", { metrics = { "ap" }, quiet = true })
print(("%s: %s"):format(report.problems[1].kind, report.problems[1].text))

-- 3. A figure
-- The figure shows the new bound beside min-max, for the nRBP loss. Min-max gives lists of all sizes the same
-- height. The square root leaves larger lists higher.
mr.bounds.plot({ "minmax", "sqrt_range" }, { metric = "nrbp_loss" }):save(args.out .. "/sqrt_range.svg")
print("\n3. drawn: " .. args.out .. "/sqrt_range.svg")

-- 4. Does it train better?
-- Models are trained on one fold of MovieLens (or made-up ratings). Split, negatives, initial values and seed are
-- the same for every bound. Validation chooses the epoch.
local found, ratings = pcall(mr.data.movielens)
local data = found and not args.smoke and "MovieLens" or "made-up ratings"
if args.smoke or not found then ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = 1 } end
local fold = ratings:binarize(4):min_relevant(25):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]

local function train(bound)
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = 1 }
  return mr.fit{
    name = "nrbp " .. bound,
    model = model,
    loss = mr.losses.nrbp{ bound = bound },
    train = fold.train,
    valid = fold.valid,
    test = fold.test,
    optimizer = mr.optim.adam{ lr = 0.01 },
    batch = 32,
    epochs = args.epochs,
    metrics = { "nrbp(0.95)" },
    seed = 1,
  }
end

-- 5. Is the difference real?
-- Every model ranks the lists of the same users, so the test is paired by user. Each bound is compared with
-- min-max.
local bounds = { "minmax", "none", "sqrt_range", "distribution_logit" }
local rows, names, means, base = {}, {}, {}, nil
for i, bound in ipairs(bounds) do
  local run = train(bound)
  if run.interrupted then error("interrupted", 0) end
  base = base or run.scores["nrbp(0.95)"]
  local paired = mr.stats.paired_t(run.scores["nrbp(0.95)"], base)
  names[i], means[i] = bound, run.test.mean["nrbp(0.95)"]
  rows[i] = { bound, means[i], run.best.epoch, i > 1 and paired.mean_difference or nil, i > 1 and paired.p or nil,
    paired.n }
end
print("\n4. trained on " .. data .. ": nRBP(0.95) on test, change and p against minmax, paired by user")
print(mr.table{ columns = { "bound", "nrbp(0.95)", "epoch", "change", "p", "users" }, rows = rows,
  formats = { ["nrbp(0.95)"] = "%.4f", change = "%+.4f", p = "%.2g" } })
mr.plot.bars{
  categories = names,
  values = means,
  ylabel = "test nRBP(0.95)",
  title = "nRBP loss under four bounds, " .. data,
}:save(args.out .. "/comparison.svg")

-- 6. Where to go from here
-- All of the library now accepts the bound's name: mr.losses.ndcg{bound = "sqrt_range"}, mr.losses.lambdarank{bound
-- = "sqrt_range"}, sweeps. mr.bounds.weighted("sqrt_range", {cap = 10}) limits the weight of single lists.
-- scripts/thesis/table_5_1.lua compares bounds on five folds, and scripts/thesis/why_distribution_fails.lua
-- explains an unexpected result.
