-- A training run to be attacked, in one process or several, with a checkpoint after every epoch. The trained model is
-- saved to a file.
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ parallel = false, checkpoint = "fit.safetensors", out = "model", epochs = 40, lists = 40 }

require("moonrank.core").put_off_from(0)
local ratings = mr.data.synthetic{ kind = "ratings", users = args.lists, items = 200, mean_activity = 30, seed = 3 }
local fold = ratings:binarize(4):min_relevant(4):folds{ k = 5, seed = 3 }[1]
local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, init = 0.3 }
mr.fit{ model = model, loss = mr.losses.ndcg{ bound = "minmax" }, train = fold.train, valid = fold.valid, batch = 4,
  epochs = args.epochs, optimizer = mr.optim.adam{ lr = 0.02 }, metrics = { "ndcg", "ap" }, select = { "ndcg", "ap" },
  checkpoint = args.checkpoint, parallel = args.parallel, progress = false }
local rank = core.launched() or 0
model:save(("%s_%d"):format(args.out, rank))
