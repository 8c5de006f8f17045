-- Do the listwise losses of Li, Urbano & Hanjalic (2021) train as published? Every loss at every learning rate and NSR
-- (sampled negatives per relevant item), beside the numbers of the authors' repository; the paper prints only figures.

-- Data: CiteULike-a, the authors' own folds 0 and 1. Model: matrix factorisation, 32 factors, from U(-0.01, 0.01).
-- Protocol: the loss's own metric chooses the epoch on test, as in the repository (docs/results/notes/sigir21.md).
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local training = dofile(here .. "training.lua")
local protocol = training.protocol
local losses, rates = protocol.losses, protocol.rates
local args = mr.experiment.args({
  nsr = { default = protocol.nsr, least = 1, most = 1000, distinct = true, help = "negatives per relevant item" },
  losses = { default = losses, choices = losses, help = "which listwise losses" },
  rates = { default = rates, choices = rates, help = "learning rates" },
  epochs = { default = 0, least = 0, help = "epochs of each run; 0 takes the published number" },
  seed = { default = 1, least = 1, help = "seed of models and negatives" },
}, { document = "sigir21", smoke = { nsr = { 1 }, rates = { 0.1, 1 }, epochs = 2 } })

local trainings = mr.experiment.combinations{ { "recipe", { "published" } }, { "kind", { "listwise" } },
  { "seed", { args.seed } }, { "nsr", args.nsr }, { "loss", args.losses }, { "rate", args.rates } }
return training.compared(args, protocol.citeulike(args), trainings)
