-- A template for a sweep: which loss and learning rate rank best, over folds? Copy the script, and put in your data
-- and model. If you run it again, it continues. `moonrank results results/sweep_template.db` shows its results.

-- Data: made-up ratings. Model: matrix factorisation, 8 factors, 10 epochs. Protocol: every combination of loss,
-- learning rate and fold is one trial. Validation chooses the epoch and the learning rate; the test part is only
-- reported. Trials run in one process per core (--workers), and a store (--store) keeps their results.
local mr = require "moonrank"

local args = mr.args{
  folds = { default = 3, least = 2, help = "folds over users" },
  epochs = { default = 10, least = 1, help = "passes over the training part" },
  users = { default = 80, least = 1, help = "users of the made-up ratings" },
  seed = { default = 1, help = "seed of ratings, folds, models and training" },
  workers = { type = "integer", least = 0, help = "processes; 0: this one", shown = "one per core" },
  store = { path = "new file", default = "results/sweep_template.db", help = "where results are kept" },
  force = { default = false, help = "go on with a study although this script or the data have changed" },
  retry = { default = 0, least = 0, help = "how often trials that failed or were killed are tried again" },
  mix_numerics = { default = false, help = "go on although trials ran under another numerics version" },
  smoke = { default = false, sets = { epochs = 2, folds = 2 }, help = "test the script with few epochs and folds" },
}

-- Makes the data once in every worker process, before the first trial (training run).
local ratings = mr.data.synthetic{ kind = "ratings", users = args.users, items = 400, seed = args.seed }
local parts = ratings:binarize(4):folds{ k = args.folds, by = "user", seed = args.seed, nsr = 1 }

-- The study's name contains the options on which results depend. With other options the script begins another study, so
-- that even with --force, one study never has trials of different options.
local study = mr.sweep{
  name = ("sweep_template, %d users, %d folds, %d epochs, seed %d"):format(args.users, args.folds, args.epochs,
  args.seed),
  store = args.store, workers = args.workers, seed = args.seed, force = args.force, retry = args.retry,
  mix_numerics = args.mix_numerics,
  space = {
    loss = mr.choice{ "ndcg", "ap", "rr" },
    lr = mr.loguniform(1e-3, 1e-1, { points = 3 }),
    fold = mr.range(1, args.folds),
  },
  metric = "valid_ndcg",  -- validation nDCG at the epoch that mr.fit chose, which the sweep maximises
  run = function(trial)
    local fold = parts[trial.fold]
    local model = mr.models.mf{
      users = ratings.users,
      items = ratings.items,
      factors = 8,
      init = 0.1,
      seed = args.seed }  -- one seed for all losses, so that only the loss differs
    return mr.fit{
      model = model,
      loss = mr.losses[trial.loss]{},
      optimizer = mr.optim.adam{ lr = trial.lr },
      epochs = args.epochs,
      train = fold.train,
      valid = fold.valid,
      test = fold.test,
      metrics = { "ndcg", "ap" },
      seed = args.seed,
      progress = false }
  end,
}

print "Made-up ratings. Validation nDCG, mean over folds:"
print(study:pivot{ rows = "loss", columns = "lr", format = "%.4f" })
print "\nMade-up ratings. Test values at the learning rate that validation chose, mean over folds:"
print(study:best("loss", { over = "fold" }))
print("\nMade-up ratings. Losses against each other, each at the learning rate that is best over folds, "
  .. "paired by test list:")
print(study:compare{ by = "loss", value = "ndcg", lists = true, over = "fold" })
