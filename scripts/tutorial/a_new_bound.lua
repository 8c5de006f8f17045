-- A new bound, from an idea to a comparison: write it, check it, look at it, train with it, and say whether it is better than what there is.
-- Runs top to bottom in about half a minute:  moonrank scripts/tutorial/a_new_bound.lua  (every piece can also be typed at the prompt, where
-- `mr` is there already). Pictures go to results/tutorial.
local mr = require "moonrank"
local args = mr.args{
  epochs = { default = 20, least = 1, help = "passes over the training part" },
  out = { path = "new folder", default = "results/tutorial", help = "folder for the pictures" },
  smoke = { default = false, sets = { epochs = 2 }, help = "made-up ratings, to see that it runs" },
}

-- 1. The idea ---------------------------------------------------------------------------------------------------------------------------
-- The nRBP loss of a list counts its wrongly ordered pairs, up to P (N - P). So a user with 500 relevant items has 625 times the weight of one
-- with 20: such users dominate training. Min-max bounding divides by the range, which reverses that: now a pair of such a user has almost no
-- weight. What about half way, the square root of the range?
--
-- A bound is a function of the score (the smooth metric, one value per list) and of what is known of each list: stats.n, .p, .min, .max,
-- .best, .expectation, .sd, and .cdf(score). It keeps the metric's direction, and its gradient comes from the operations it is made of.
-- Degenerate lists (none or all rows relevant) are left out before it is called, so dividing by the range is safe.
mr.bounds.define("sqrt_range", function(score, stats)
  return (score - stats.min) / (stats.max - stats.min):sqrt()
end)

-- 2. Is it right? -----------------------------------------------------------------------------------------------------------------------
-- One screen: the gradient against differences over lists of many sizes, whether it rises with the score, its ends, how much a short list
-- weighs against a long one at NSR 1 to 5, and where its gradient fades. Look at "slope short : long" of nrbp_loss: 25, half way (on a
-- logarithmic scale) between 1 unbounded and 625 under min-max.
print("1. sqrt_range, checked")
mr.bounds.check("sqrt_range")

-- A mistake. A detached part makes the slope wrong; the report names a list and both slopes:
mr.bounds.define("with_a_mistake", function(score, stats)
  return (score - stats.min) / (stats.max - stats.min) * score:detach()
end)
print("\n2. a mistake, found")
local report = mr.bounds.check("with_a_mistake", { metrics = { "ap" }, quiet = true })
print(("%s: %s"):format(report.problems[1].kind, report.problems[1].text))

-- 3. A figure ---------------------------------------------------------------------------------------------------------------------------
-- Beside min-max, for the loss that it is meant for. Min-max brings all sizes to the same height; the square root leaves larger lists larger.
mr.bounds.plot({ "minmax", "sqrt_range" }, { metric = "nrbp_loss" }):save(args.out .. "/sqrt_range.svg")
print("\n3. drawn: " .. args.out .. "/sqrt_range.svg")

-- 4. Does it train better? --------------------------------------------------------------------------------------------------------------
-- One fold of MovieLens (or made-up ratings): the same split, negatives, model and seed for every bound, epoch chosen on validation.
local found, ratings = pcall(mr.data.movielens)
local data = found and not args.smoke and "MovieLens" or "made-up ratings"
if args.smoke or not found then ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = 1 } end
local fold = ratings:binarize(4):min_relevant(25):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]

local function train(bound)
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = 1 }
  return mr.fit{ name = "nrbp " .. bound, model = model, loss = mr.losses.nrbp{ bound = bound }, train = fold.train, valid = fold.valid,
    test = fold.test, optimizer = mr.optim.adam{ lr = 0.01 }, batch = 32, epochs = args.epochs,
    metrics = { "nrbp(0.95)" }, seed = 1 }
end

-- 5. Is the difference real? ------------------------------------------------------------------------------------------------------------
-- Every user is ranked by every model, so the comparison is paired: by user, against min-max.
local bounds = { "minmax", "none", "sqrt_range", "distribution_logit" }
local rows, names, means, base = {}, {}, {}, nil
for i, bound in ipairs(bounds) do
  local run = train(bound)
  if run.interrupted then error("interrupted", 0) end
  base = base or run.scores["nrbp(0.95)"]
  local paired = mr.stats.paired_t(run.scores["nrbp(0.95)"], base)
  names[i], means[i] = bound, run.test.mean["nrbp(0.95)"]
  rows[i] = { bound, means[i], run.best.epoch, i > 1 and paired.mean_difference or nil, i > 1 and paired.p or nil, paired.n }
end
print("\n4. trained on " .. data .. ": nRBP(0.95) on test, change and p against minmax, paired by user")
print(mr.table{ columns = { "bound", "nrbp(0.95)", "epoch", "change", "p", "users" }, rows = rows,
  formats = { ["nrbp(0.95)"] = "%.4f", change = "%+.4f", p = "%.2g" } })
mr.plot.bars{ categories = names, values = means, ylabel = "test nRBP(0.95)", title = "nRBP loss under four bounds, " .. data }:save(
  args.out .. "/comparison.svg")

-- 6. Where to go from here --------------------------------------------------------------------------------------------------------------
-- The bound has a name now, so everything takes it: mr.losses.ndcg{bound = "sqrt_range"}, mr.losses.lambdarank{bound = "sqrt_range"}, sweeps.
-- mr.bounds.weighted("sqrt_range", {cap = 10}) limits the weight of single lists; scripts/thesis/table_5_1.lua shows five folds, and
-- scripts/thesis/why_distribution_fails.lua how an unexpected result is explained.
