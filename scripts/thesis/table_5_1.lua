-- Westerborg (2022), Table 5.1, MovieLens half: do bounded losses rank better than unbounded ones, at 1, 2 and 3
-- negatives per relevant item? Data: ml-latest-small, relevant = rated 4 or more, users with 25 relevant or more (412);
-- five folds by user, negatives drawn once per fold. Model: matrix factorisation, 32 factors, U(-0.01, 0.01), Adam, 32
-- users per batch. Validation chooses epoch and learning rate; under --recipe published test chooses the epoch, as the
-- thesis may have done. Two bounds of ours stand beside its five: the logarithm and the logit of the exact
-- distribution.
local here = arg[0]:match("^(.*/)") or "./"
local compared, published = dofile(here .. "compared.lua"), dofile(here .. "published.lua").table_5_1

local args = compared.runs.args{ seed = { default = 1, help = "seed of splits, negatives and models" } }
return compared.table(args, { set = "movielens", seed = args.seed, empty = "skip",
  published = function(loss, bound, nsr) return published[loss][bound] and published[loss][bound][nsr] end })
