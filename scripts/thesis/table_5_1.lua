-- Westerborg (2022), Table 5.1, MovieLens half: do bounded losses rank better than unbounded ones, at 1, 2 and 3 negatives per relevant item?
-- Data: ml-latest-small, relevant = rated 4 or more, users with 25 relevant or more (412); five folds by user, negatives drawn once per fold.
-- Model: matrix factorisation, 32 factors, U(-0.01, 0.01), Adam, 32 users per batch. Epoch chosen on validation (--recipe published: on test,
-- as the thesis may have done). Each (NSR, fold) is kept in its own file under --results, so a stopped run goes on where it was.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published, kept = dofile(here .. "published.lua").table_5_1, dofile(here .. "folds.lua")

local args = mr.args{
  nsr = { default = { 1, 2, 3 }, help = "negatives per relevant item" },
  folds = { default = 5, help = "how many of the five folds to run" },
  epochs = { default = 40, help = "passes over the training part" },
  lr = { default = 0.01, help = "learning rate of Adam" },
  samples = { default = 300000, help = "random orders per list shape for the distribution bound" },
  seed = { default = 1, help = "seed of splits, negatives and models" },
  recipe = { default = "honest", choices = { "honest", "published" }, help = "choose the epoch on validation or on test" },
  results = { default = "results/table_5_1", help = "folder for what is done so far" },
  data = { default = "movielens", help = "MovieLens: a name or a folder" },
  smoke = { default = false, help = "one fold, NSR 1, two epochs, few samples" },
}
if args.smoke then args.nsr, args.folds, args.epochs, args.samples = { 1 }, 1, 2, 1000 end

-- Data, losses, bounds
local ratings = mr.data.movielens(args.data):binarize(4):min_relevant(25)
local losses = { "ndcg", "ap", "nrbp" }
local metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }
local bounds = { "none", "minmax", "expectation", "expectation_max", "distribution" }
local thesis_distribution = mr.bounds.distribution_bound{ method = "sampled", gain = "samples", samples = args.samples }

-- Test scores of one user each, by loss and bound, for one fold
local function run_fold(nsr, number)
  local fold = ratings:folds{ k = 5, by = "user", seed = args.seed, nsr = nsr }[number]
  local scores = {}
  for _, loss in ipairs(losses) do
    for _, bound in ipairs(bounds) do
      local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = args.seed }
      local run = mr.fit{
        name = ("NSR %d fold %d %s %s"):format(nsr, number, loss, bound), model = model,
        loss = mr.losses[loss]{ bound = bound == "distribution" and thesis_distribution or bound },
        train = fold.train, valid = fold.valid, test = fold.test, optimizer = mr.optim.adam{ lr = args.lr }, batch = 32,
        epochs = args.epochs, metrics = { metric_of[loss] }, seed = args.seed, recipe = args.recipe,
      }
      if run.interrupted then error("interrupted", 0) end
      scores[loss .. " " .. bound] = run.scores[metric_of[loss]]
    end
  end
  return scores
end

-- Protocol: every (NSR, fold) once; settings beside the results
local settings = { epochs = args.epochs, lr = args.lr, samples = args.samples, seed = args.seed, recipe = args.recipe }
local folds = kept.by_nsr(args, settings, run_fold)

-- Result: mean over folds, spread between folds, the published number, and a paired test against no bound over users and folds
local rows = {}
for _, nsr in ipairs(args.nsr) do
  for _, loss in ipairs(losses) do
    local unbounded = kept.over(folds[nsr], loss .. " none")
    for _, bound in ipairs(bounds) do
      local all, summary = kept.over(folds[nsr], loss .. " " .. bound)
      local paired, printed = mr.stats.paired_t(all, unbounded), published[loss][bound][nsr]
      rows[#rows + 1] = { nsr, loss, bound, summary.mean, summary.sd, printed, summary.mean - printed,
        bound ~= "none" and paired.mean_difference or nil, bound ~= "none" and paired.p or nil, paired.n }
    end
  end
end
print(("Test metric of the matching loss (nDCG, AP, nRBP(0.95)); epoch chosen on %s; Adam, lr %g, %d epochs, %d folds."):format(
  args.recipe == "published" and "TEST" or "validation", args.lr, args.epochs, args.folds))
print(mr.table{
  columns = { "NSR", "loss", "bound", "mean", "sd of folds", "published", "difference", "change", "p", "lists" },
  formats = { mean = "%.4f", ["sd of folds"] = "%.4f", published = "%.4f", difference = "%+.4f", change = "%+.4f", p = "%.2g" },
  rows = rows,
})
