-- Which of many hyperparameters matter? Random search over loss, learning rate, batch size, factors and initial values
-- of matrix factorisation, with Hyperband. After Ctrl-C, the same command continues.

-- Data: made-up ratings. Protocol: most settings get one epoch, and the best ones three, nine or more. A setting that
-- gets more epochs continues from its checkpoint. Result: the variance of validation nDCG after the first epoch, which
-- all settings have, is divided among the hyperparameters. Each setting is a line over axes of the hyperparameters.
local mr = require "moonrank"

local args = mr.args{
  epochs = { default = 27, least = 9, most = 1 << 31,
    help = "largest number of epochs of a setting (9, 27 and 81 use all steps)" },
  trials = { type = "integer", least = 10, help = "settings", shown = "one pass over Hyperband's brackets" },
  users = { default = 80, least = 1, help = "users of the made-up ratings" },
  seed = { default = 1, help = "seed of ratings, folds, settings, models and training" },
  workers = { type = "integer", least = 0, help = "processes; 0: this one", shown = "one per core" },
  store = { path = "new file", default = "results/which_parameters.db", help = "where results are kept" },
  out = { path = "new folder", default = "results", help = "folder of the pictures" },
  force = { default = false, help = "go on with a study although this script or the data have changed" },
  retry = { default = 0, least = 0, help = "how often trials that failed or were killed are tried again" },
  mix_numerics = { default = false, help = "go on although trials ran under another numerics version" },
  smoke = { default = false, sets = { epochs = 9, users = 40 }, help = "test the script with few epochs and users" },
}

local ratings = mr.data.synthetic{ kind = "ratings", users = args.users, items = 400, seed = args.seed }
local fold = ratings:binarize(4):folds{ k = 3, by = "user", seed = args.seed, nsr = 1 }[1]

local study = mr.sweep{
  name = ("which_parameters, made-up ratings of %d users, %d epochs, seed %d"):format(args.users, args.epochs,
  args.seed),
  store = args.store, workers = args.workers, seed = args.seed, force = args.force, retry = args.retry,
  mix_numerics = args.mix_numerics, metric = "valid_ndcg",
  sampler = "random", pruner = { "hyperband", max_resource = args.epochs }, trials = args.trials,
  space = { loss = mr.choice{ "ndcg", "ap", "rr" }, lr = mr.loguniform(1e-3, 1), batch = mr.choice{ 4, 16, 64 },
  factors = mr.range(1, 16),
    init = mr.loguniform(1e-2, 1) },
  run = function(trial)
    local model = mr.models.mf{
      users = ratings.users,
      items = ratings.items,
      factors = trial.factors,
      init = trial.init,
      seed = args.seed }
    return mr.fit{
      model = model,
      loss = mr.losses[trial.loss]{},
      optimizer = mr.optim.adam{ lr = trial.lr },
      epochs = args.epochs,
      batch = trial.batch,
      train = fold.train,
      valid = fold.valid,
      test = fold.test,
      metrics = { "ndcg" },
      seed = args.seed,
      progress = false,
      trial = trial,
      checkpoint = true }
  end,
}

print(study)
study:parallel():save(args.out .. "/which_parameters.svg")
local first = study:importance{ step = 1 }
first:plot():save(args.out .. "/importance.svg")
print(("\nMade-up ratings, %s"):format(first))
