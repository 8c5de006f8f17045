-- One training run on one fold, and its metric on the test part.
local mr = require "moonrank"
local experiment = require "experiment"

local args = mr.args{
  fold = { default = 1, least = 1, most = #experiment.folds, help = "the number of the fold" },
  bound = { default = "minmax", choices = { "none", "minmax", "expectation" }, help = "bound of the loss" },
  lr = { default = 0.01, above = 0, help = "learning rate of Adam" },
  epochs = { default = 20, least = 1, help = "passes over the training part" },
  seed = { default = 1, help = "seed of the model and of the order of batches" },
}

local run = experiment.train(args)
print(("Epoch %d is the best one on the validation part. Test part:"):format(run.best.epoch))
print(run.test)
