-- How do I train with a bounded loss?
-- Name the bound when you make the loss; nothing else changes. This example trains two models from the same seed:
-- one on plain AP, one on AP that `minmax` rescales to each user's possible range.
local mr = require "moonrank"
local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 300, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 5, nsr = 1, seed = 1 }[1]
for _, bound in ipairs{ "none", "minmax" } do
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 1 }
  local run = mr.fit{
    model = model,
    loss = mr.losses.ap{ bound = bound },
    train = fold.train,
    valid = fold.valid,
    test = fold.test,
    optimizer = mr.optim.adam{ lr = 0.02 },
    epochs = 15,
    metrics = { "ap" },
    progress = false,
  }
  print(("%-7s epoch %2d, test AP %.3f"):format(bound, run.best.epoch, run.test.mean.ap))
end
--> none    epoch 15, test AP 0.672
--> minmax  epoch 15, test AP 0.670
