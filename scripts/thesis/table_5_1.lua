-- Table 5.1 of Westerborg (2022), MovieLens half: do bounded losses rank better than unbounded ones, at 1, 2 and 3
-- negatives per relevant item (NSR)? Data: ml-latest-small, where ratings of 4 and more are relevant; the 412 users
-- with at least 25 relevant items; five folds by user, with negatives drawn once per fold. Model: matrix factorisation
-- with 32 factors, initialised in U(-0.01, 0.01), trained by Adam with 32 users per minibatch.
-- Validation chooses epoch and learning rate; with --recipe published the test part chooses the epoch, as the thesis
-- may have done. The table has the five bounds of the thesis and two of this project: the logarithm and the logit of
-- the exact distribution.
local here = arg[0]:match("^(.*/)") or "./"
local compared, published = dofile(here .. "compared.lua"), dofile(here .. "published.lua").table_5_1

local args = compared.runs.args{ seed = { default = 1, help = "seed of splits, negatives and models" } }
return compared.table(args, { set = "movielens", seed = args.seed, empty = "skip",
  published = function(loss, bound, nsr) return published[loss][bound] and published[loss][bound][nsr] end })
