-- How do I train with a bounded loss?
-- Name the bound where the loss is made. Everything else stays: here two models of the same seed, one trained as the metric is, one with every
-- user's AP rescaled to what is possible for that user.
local mr = require "moonrank"
local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 300, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 5, nsr = 1, seed = 1 }[1]
for _, bound in ipairs{ "none", "minmax" } do
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 1 }
  local run = mr.fit{ model = model, loss = mr.losses.ap{ bound = bound }, train = fold.train, valid = fold.valid, test = fold.test,
    optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 15, metrics = { "ap" }, progress = false }
  print(("%-7s epoch %2d, test AP %.3f"):format(bound, run.best.epoch, run.test.mean.ap))
end
--> none    epoch 15, test AP 0.672
--> minmax  epoch 15, test AP 0.670
