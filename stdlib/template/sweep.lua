-- Does a bound help? Every bound is trained with every learning rate on every fold; the validation part chooses the
-- learning rate, and the test part is only reported. A store keeps each trial (training run): if the script is started
-- again, it runs the trials that are missing.
local mr = require "moonrank"
local experiment = require "experiment"

local args = mr.args{
  epochs = { default = 20, least = 1, help = "passes over the training part" },
  seed = { default = 1, help = "seed of the study" },
  workers = { type = "integer", least = 0, help = "processes; 0: this one", shown = "one per core" },
  store = { path = "new file", default = "results.db", help = "where results are kept" },
  force = { default = false, help = "continue the study although the code or the data have changed" },
}

local study = mr.sweep{
  name = ("bounds, %d epochs, seed %d"):format(args.epochs, args.seed),
  store = args.store, workers = args.workers, seed = args.seed, force = args.force,
  space = {
    bound = mr.choice{ "none", "minmax", "expectation" },
    lr = mr.choice{ 0.01, 0.03, 0.1 },
    fold = mr.range(1, #experiment.folds),
  },
  metric = "valid_" .. experiment.metric,
  run = function(trial)
    return experiment.train{
      fold = trial.fold,
      bound = trial.bound,
      lr = trial.lr,
      epochs = args.epochs,
      seed = args.seed,  -- one seed for all bounds, so that only the bound differs
    }
  end,
}

print "Validation part, mean over folds:"
print(study:pivot{ rows = "bound", columns = "lr", format = "%.4f" })
print "\nTest part at the learning rate that validation chose, mean over folds:"
print(study:best("bound", { over = "fold" }))
print "\nBounds against each other on the test part, paired by user:"
print(study:compare{ by = "bound", value = experiment.metric, lists = true, over = "fold" })
