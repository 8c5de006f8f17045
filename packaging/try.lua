-- Tests an installed package: runs a sweep over two folds of made-up ratings: moonrank try.lua [STORE]
local mr = require "moonrank"
local ratings = mr.data.synthetic{ users = 200, items = 1000, seed = 1 }
local folds = ratings:binarize(4):min_relevant(5):folds{ k = 2, by = "user", seed = 1, nsr = 1 }

local function train(trial)
  local fold = folds[trial.fold]
  return mr.fit{ model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 16 },
    loss = mr.losses.nrbp{ bound = trial.bound }, optimizer = mr.optim.adam{ lr = 0.01 }, epochs = 2500,
    train = fold.train, valid = fold.valid, test = fold.test, metrics = { "ndcg" } }
end

local study = mr.sweep{ name = "packages", store = arg and arg[1] or os.tmpname(), metric = "valid_ndcg", run = train,
  space = { bound = mr.choice{ "none", "minmax" }, fold = mr.range(1, 2) } }
local result = study:compare{ by = "bound", value = "ndcg", over = "fold" }
print(result)
