-- Table 5.1 of Westerborg (2022), MovieLens half: do bounded losses rank better than unbounded ones, at 1, 2 and 3
-- negatives per relevant item (NSR)? The table has no bound, four bounds of the thesis and two of this project.

-- Data: ml-latest-small, where ratings of 4 and more are relevant; the 412 users with at least 25 relevant items; five
-- folds by user, with negatives drawn once per fold. Model: matrix factorisation with 32 factors, initialised in
-- U(-0.01, 0.01), trained by Adam with 32 users per minibatch (`train` in protocol.lua calls mr.fit). Protocol:
-- validation chooses epoch and learning rate; with --recipe published the test part chooses the epoch.
local here = arg[0]:match("^(.*/)") or "./"
local training = dofile(here .. "training.lua")

-- Test metrics that Table 5.1 prints for MovieLens, by loss and bound, at NSR (negatives per relevant item) 1, 2 and 3.
local published = {
  ndcg = { none = { 0.9659, 0.9466, 0.9294 }, minmax = { 0.9657, 0.9465, 0.9293 },
    expectation = { 0.9654, 0.9463, 0.9289 }, expectation_max = { 0.9662, 0.9475, 0.9309 },
    distribution = { 0.8791, 0.8534, 0.8346 } },
  ap = { none = { 0.8960, 0.8448, 0.8051 }, minmax = { 0.8958, 0.8448, 0.8050 },
    expectation = { 0.8960, 0.8450, 0.8044 }, expectation_max = { 0.8958, 0.8453, 0.8046 },
    distribution = { 0.9010, 0.8438, 0.7965 } },
  nrbp = { none = { 0.9349, 0.9046, 0.8749 }, minmax = { 0.9473, 0.9158, 0.8848 },
    expectation = { 0.9471, 0.9154, 0.8854 }, expectation_max = { 0.9471, 0.9157, 0.8846 },
    distribution = { 0.9424, 0.9104, 0.8777 } },
}

local args = training.args{ seed = { default = 1, help = "seed of splits, negatives and models" },
  recipe = training.recipe, samples = training.samples }
return training.compare(args, training.movielens(args), "skip",
  function(at) return published[at.loss][at.bound] and published[at.loss][at.bound][at.nsr] end)
