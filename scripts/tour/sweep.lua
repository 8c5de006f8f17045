-- Which loss, bound and learning rate suit a model of your own? The script tries random settings and stops hopeless
-- trials (training runs) early. After Ctrl-C the same command continues. It draws the learning curves of the best
-- settings.
local mr = require "moonrank"
local here = arg[0]:match "^(.*/)" or "./"
local args, ratings, fold, title = dofile(here .. "data.lua")(4, {
  trials = { default = 24, least = 1, help = "how many settings" },
  workers = { type = "integer", least = 0, help = "processes", shown = "one per core" },
  store = { path = "new file", default = "results/tour/sweep.db", help = "where results are kept" },
  force = { default = false, help = "go on with a study although this script or the data have changed" },
  retry = { default = 0, least = 0, help = "how often failed trials are tried again" },
  mix_numerics = { default = false, help = "go on although trials ran under another numerics version" } })
local two_tower, epochs = dofile(here .. "two_tower.lua"), args.epochs
local function fit(o, trial)
  return mr.fit{
    model = two_tower{ users = ratings.users, items = ratings.items, seed = o.seed },
    train = fold.train, valid = fold.valid, test = fold.test, metrics = { "ndcg" },
    loss = mr.losses[o.loss]{ bound = o.bound },
    optimizer = mr.optim.adam{ lr = o.lr }, epochs = epochs,
    progress = false, trial = trial, checkpoint = trial and true }
end
local study = mr.sweep{
  name = title, store = args.store, workers = args.workers,
  force = args.force, retry = args.retry, mix_numerics = args.mix_numerics,
  trials = args.trials, settings = { epochs = epochs },
  metric = "valid_ndcg", sampler = "random", pruner = "median",
  space = { loss = mr.choice{ "ndcg", "ap", "ranknet" }, bound = mr.choice{ "none", "minmax" },
    lr = mr.loguniform(1e-3, 1e-1) },
  run = function(trial) return fit(trial, trial) end }
print(("%s\n\n%s\n"):format(study, study:best "loss"))

local best = study:best()
best.params.seed = best.seed
local run = fit(best.params)
run:plot{ title = "The best settings, " .. title }:save "results/tour/curves.svg"
print(("The best settings, %s:\n%s\n%% %s\n%s"):format(title, run, title, run:to_latex()))
