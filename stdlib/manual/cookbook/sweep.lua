-- Which learning rate and loss are best?
-- A sweep runs a function for every combination of options in `space` and keeps the results in a store. If you run
-- the script again, only the missing trials run. `workers = 0` runs all trials in this process; by default there is
-- one process per core.
local mr = require "moonrank"
local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 200, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 5, nsr = 1, seed = 1 }[1]
local study = mr.sweep{
  name = "loss_and_rate",
  store = "results.db",
  metric = "valid_ndcg",
  workers = 0, progress = false,
  space = { loss = mr.choice{ "ndcg", "ap" }, lr = mr.loguniform(1e-3, 1e-1, { points = 3 }) },
  run = function(trial)
    return mr.fit{
      model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 1 },
      train = fold.train,
      valid = fold.valid,
      test = fold.test,
      loss = mr.losses[trial.loss]{},
      optimizer = mr.optim.adam{ lr = trial.lr },
      epochs = 5,
      metrics = { "ndcg" }, progress = false,
    }
  end,
}
print(study:counts().done)
print(study:pivot{ rows = "loss", columns = "lr", format = "%.3f" })
--> 6
--> loss  0.001   0.01    0.1
--> ----  -----  -----  -----
--> ap    0.769  0.756  0.782
--> ndcg  0.766  0.753  0.780
--> new to training: 0 of 59 users, 1 of 98 relevant items
--> gain exp2; ties mean; empty lists skip; cutoff none
