-- The experiment: its data, its model, and one training run. train.lua, sweep.lua and experiment_spec.lua use it.
local mr = require "moonrank"

local M = {}

-- Made-up ratings from 1 to 5. For real ones, put mr.data.movielens() in place of mr.data.synthetic{...}, after the
-- command `moonrank data get movielens`. An item is relevant for a user who rated it 4 or more.
M.ratings = mr.data.synthetic{ users = 300, items = 600, mean_activity = 100, seed = 1 }:binarize(4):min_relevant(5)

-- Folds divide the ratings of each user. In a user's list are relevant items and one sampled negative for each of them
-- (nsr = 1).
M.folds = M.ratings:folds{ k = 3, by = "user", seed = 1, nsr = 1 }

-- The metric that chooses the epoch and the learning rate on the validation part, and is reported on the test part.
M.metric = "ndcg"

---Trains a model on one fold, and returns the run of mr.fit, with the metric on the test part.
---@param settings { fold: integer, bound: string, lr: number, epochs: integer, seed: integer }
function M.train(settings)
  local fold = M.folds[settings.fold]
  local model = mr.models.mf{
    users = M.ratings.users,
    items = M.ratings.items,
    factors = 8,
    seed = settings.seed,
  }
  return mr.fit{
    model = model,
    loss = mr.losses.ndcg{ bound = settings.bound },
    optimizer = mr.optim.adam{ lr = settings.lr },
    epochs = settings.epochs,
    train = fold.train,
    valid = fold.valid,
    test = fold.test,
    metrics = { M.metric },
    seed = settings.seed,
    progress = false,
  }
end

return M
