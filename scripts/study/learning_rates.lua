-- Which learning rate suits which loss under which bound, and do losses still differ if each has its own rate? The same
-- command continues a stopped study, and `moonrank results results/learning_rates.db` shows its progress.

-- Data: ml-latest-small, relevant = rated 4 or more, users with at least 25 relevant items; five folds by user, one
-- negative per relevant item. Model: matrix factorisation, 32 factors, initial values U(-0.01, 0.01), Adam, 32 users
-- per batch. Protocol: every smooth loss is trained under every bound, RankNet and LambdaRank under bounds that only
-- multiply a list's loss. The loss's own metric chooses the learning rate and the epoch on validation. A trial is one
-- loss, bound, learning rate and fold.
local mr = require "moonrank"

local args = mr.args{
  rates = { default = { 0.001, 0.003, 0.01, 0.03, 0.1 }, above = 0, distinct = true,
    help = "learning rates of Adam" },
  losses = { default = { "ndcg", "ap", "rr", "nrbp", "lambdarank", "ranknet" }, distinct = true,
    help = "which losses" },
  folds = { default = 5, least = 1, most = 5, help = "how many of the five folds to run" },
  epochs = { default = 40, least = 1, help = "passes over the training part" },
  seed = { default = 1, help = "seed of splits, negatives and models" },
  data = { default = "movielens", help = "MovieLens: a name or a folder" },
  store = { path = "new file", default = "results/learning_rates.db", help = "where results are kept" },
  workers = { type = "integer", least = 0, help = "processes; 0: this one", shown = "one per core" },
  force = { default = false, help = "go on although this script or the data have changed" },
  retry = { default = 0, least = 0, help = "how often trials that failed or were killed are tried again" },
  mix_numerics = { default = false, help = "go on although trials ran under another numerics version" },
  out = { path = "output file", default = "results/learning_rates.svg", endings = { ".svg", ".png", ".pdf" },
    help = "file of the figure" },
  smoke = { default = false, sets = { rates = { 0.01, 0.1 }, losses = { "ap", "ranknet" }, folds = 1, epochs = 2 },
    ignores = { "data" }, help = "test the script with made-up ratings and few trials" },
}

-- Makes the folds, and the search space of the sweep. Smooth losses are trained under all bounds, losses over pairs
-- only under affine bounds (bounds that shift and scale the metric).
local what = args.smoke and "made-up ratings" or "MovieLens"
local made_up = args.smoke and mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = args.seed }
local ratings = (made_up or mr.data.movielens(args.data)):binarize(4):min_relevant(25)
local folds = ratings:folds{ k = 5, by = "user", seed = args.seed, nsr = 1 }

local bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log",
  "distribution_logit" }
local color_of = {}
for i, bound in ipairs(bounds) do color_of[bound] = i end
local space = { loss = mr.choice(args.losses), lr = mr.choice(args.rates), fold = mr.range(1, args.folds) }
for _, loss in ipairs(args.losses) do
  local over_pairs = loss == "ranknet" or loss == "lambdarank"
  space[#space + 1] = mr.when("loss", loss,
    { bound = mr.choice(over_pairs and { table.unpack(bounds, 1, 4) } or bounds) })
end

-- In each trial (training run), the loss's own metric chooses the epoch. Test nDCG is stored as well, to compare
-- losses.
local study = mr.sweep{
  name = ("learning_rates, %s, %d epochs, seed %d"):format(args.smoke and what or args.data, args.epochs, args.seed),
  store = args.store,
  workers = args.workers, seed = args.seed, force = args.force, retry = args.retry, mix_numerics = args.mix_numerics,
  space = space, metric = "valid", direction = "maximize",
  run = function(trial)
    local fold = folds[trial.fold]
    local loss = mr.losses[trial.loss]{ bound = trial.bound }
    local metrics = { loss.metric }
    if loss.metric ~= "ndcg" then metrics[2] = "ndcg" end
    local model = mr.models.mf{
      users = ratings.users,
      items = ratings.items,
      factors = 32,
      init = 0.01,
      seed = args.seed }
    local run = mr.fit{
      model = model,
      loss = loss,
      train = fold.train,
      valid = fold.valid,
      test = fold.test,
      batch = 32,
      optimizer = mr.optim.adam{ lr = trial.lr },
      epochs = args.epochs,
      metrics = metrics,
      seed = args.seed,
      progress = false }
    return {
      valid = run.best.metrics[loss.metric],
      own = run.test.mean[loss.metric],
      ndcg = run.test.mean.ndcg,
      epoch = run.best.epoch,
      per_list = { own = run.scores[loss.metric], ndcg = run.scores.ndcg } }
  end,
}

-- Prints validation means for each learning rate, then test values at the learning rate that validation chose.
print(("Own metric on validation, %s, mean over folds:"):format(what))
print(study:pivot{ rows = { "loss", "bound" }, columns = "lr", format = "%.4f" })
print(("\nTest values at the rate that validation chose, %s, mean over folds:"):format(what))
print(study:best({ "loss", "bound" }, { over = "fold" }))
for _, loss in ipairs(args.losses) do
  print(("\n%s, %s: bounds against each other by test nDCG, each at its own rate, paired by user:"):format(loss, what))
  print(study:compare{ by = "bound", value = "ndcg", lists = true, over = "fold", where = { loss = loss } })
end

-- Draws the validation metric against the learning rate, with one panel per loss.
local panels = {}
for i, loss in ipairs(args.losses) do
  local t, series = study:pivot{ rows = { "bound", "lr" }, where = { loss = loss } }, {}
  for _, row in ipairs(t.rows) do
    local last = series[#series]
    if not last or last.name ~= row[1] then
      last = { name = row[1], x = {}, y = {}, color = color_of[row[1]] }
      series[#series + 1] = last
    end
    last.x[#last.x + 1], last.y[#last.y + 1] = row[2], row[3]
  end
  panels[i] = mr.plot.lines{
    series = series,
    xlog = true,
    xlabel = "learning rate",
    ylabel = "own metric, validation",
    title = loss }
end
local drawn, why = pcall(function()
  panels.columns, panels.title = math.min(3, #panels), "Learning rates, " .. what
  mr.plot.facets(panels):save(args.out)
end)
print(drawn and "\nFigure: " .. args.out or "\nNo figure: " .. why)
