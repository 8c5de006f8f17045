-- Westerborg (2022), Table 5.1, MQ2008 half: do bounded losses rank better than unbounded ones where queries have few documents?
-- Data: MQ2008's own five folds; relevant = the highest label, 2; no query is left out. 453 of 784 queries then have no relevant document: they
-- have no loss, and no metric but by convention. --empty says which: "skip" (default) leaves them out of the mean, "one" counts them as
-- perfect, "zero" as failed; the thesis does not say what it did.
-- Model: a network of 46 inputs, 46 hidden units and one output, Adam, 32 queries per batch. Epoch chosen on the fold's validation part
-- (--recipe published: on test). Each fold is kept in its own file under --results, so a stopped run goes on where it was.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published, kept = dofile(here .. "published.lua").table_5_1_mq2008, dofile(here .. "folds.lua")

local args = mr.args{
  folds = { default = 5, help = "how many of the five folds to run" },
  epochs = { default = 100, help = "passes over the training part" },
  lr = { default = 0.001, help = "learning rate of Adam" },
  hidden = { default = 46, help = "hidden units" },
  relevant = { default = 2, help = "least label of a relevant document (the thesis: the highest, 2)" },
  samples = { default = 300000, help = "random orders per list shape for the thesis' distribution bound" },
  seed = { default = 1, help = "seed of models and of the order of queries" },
  recipe = { default = "honest", choices = { "honest", "published" }, help = "choose the epoch on validation or on test" },
  empty = { default = "skip", choices = { "skip", "one", "zero" }, help = "what a query without relevant documents counts as" },
  results = { default = "results/table_5_1_mq2008", help = "folder for what is done so far" },
  data = { default = "mq2008", help = "MQ2008: a name or a folder" },
  smoke = { default = false, help = "one fold, two epochs, few samples" },
}
if args.smoke then args.folds, args.epochs, args.samples = 1, 2, 1000 end

-- Data, losses, bounds: the thesis' five, and the logit of the exact distribution
local data = mr.data.letor_folds(args.data)
local losses = { "ndcg", "ap", "nrbp" }
local metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }
local bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_logit" }
local thesis_distribution = mr.bounds.distribution_bound{ method = "sampled", gain = "samples", samples = args.samples }

-- Test scores of one query each, by loss and bound, for one fold
local function run_fold(number)
  local fold = data[number]:binarize(args.relevant):standardize()
  local scores = {}
  for _, loss in ipairs(losses) do
    for _, bound in ipairs(bounds) do
      local model = mr.models.mlp{ inputs = 46, hidden = { args.hidden }, activation = "relu", seed = args.seed }
      local run = mr.fit{
        name = ("fold %d %s %s"):format(number, loss, bound), model = model,
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

-- Protocol: every fold once; settings beside the results
local settings = { epochs = args.epochs, lr = args.lr, hidden = args.hidden, samples = args.samples, seed = args.seed, recipe = args.recipe,
  relevant = args.relevant }
local folds = kept.of(args, "mq2008", settings, run_fold)

-- A query without relevant documents has NaN; what it counts as is decided here
local function counted(values)
  if args.empty == "skip" then return values end
  local filled = values:totable()
  for i, x in ipairs(filled) do
    if x ~= x then filled[i] = args.empty == "one" and 1.0 or 0.0 end
  end
  return mr.tensor(filled, { dtype = "float64" })
end

-- Result: mean over queries, spread between folds, the published number, and a paired test against no bound over all queries
local rows = {}
for _, loss in ipairs(losses) do
  local unbounded = kept.over(folds, loss .. " none")
  for _, bound in ipairs(bounds) do
    local all, summary = kept.over(folds, loss .. " " .. bound)
    local paired, total, printed = mr.stats.paired_t(all, unbounded), mr.stats.summary(counted(all)), published[loss][bound]
    rows[#rows + 1] = { loss, bound, total.mean, summary.sd, printed, printed and total.mean - printed,
      bound ~= "none" and paired.mean_difference or nil, bound ~= "none" and paired.p or nil, paired.n, paired.skipped }
  end
end
print("Test metric of the matching loss (nDCG, AP, nRBP(0.95));")
print(("epoch chosen on %s; Adam, lr %g, %d epochs, %d folds; relevant from label %d; empty = %s."):format(
  args.recipe == "published" and "TEST" or "validation", args.lr, args.epochs, args.folds, args.relevant, args.empty))
print(mr.table{
  columns = { "loss", "bound", "mean", "sd of folds", "published", "difference", "change", "p", "queries", "without" },
  formats = { mean = "%.4f", ["sd of folds"] = "%.4f", published = "%.4f", difference = "%+.4f", change = "%+.4f", p = "%.2g" },
  rows = rows,
})
print("change and p: against no bound, over the queries with relevant documents; `without` are the others.")
