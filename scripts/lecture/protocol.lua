-- The protocol that the tables of S. Seguí's lecture share: data, relevance and folds. The slides leave these decisions
-- open, so that all are ours. Decisions of one table are beside it: of families.lua in learners.lua, of cremonesi.lua
-- in predictors.lua, of profit.lua in profits.lua, of lambdamart.lua in trees.lua.
local mr = require "moonrank"

local M = {}

---Number of folds into which each user's ratings are divided.
M.folds = 5
---Number of the fold on whose validation part settings, such as learning rates, are chosen.
M.tuned_on = 1
---Number of factors of matrix factorisation.
M.factors = 32

---Returns MovieLens ratings, or made-up ratings if --smoke is given, and the title of the data.
---@return mr.Ratings, string
function M.ratings(args)
  local folder = (args.data ~= "" and args.data .. "/" or "") .. "ml-latest-small"
  if not args.smoke then return mr.data.movielens(folder), "MovieLens" end
  return mr.data.synthetic{ kind = "ratings", users = 60, items = 300, mean_activity = 50, noise = 0.3 },
    "made-up ratings"
end

---Returns the folds of MQ2008, or a fold of made-up queries if --smoke is given, and the title of the data.
---@return mr.Fold[], string
function M.queries(args)
  return mr.experiment.queries(args, "mq2008", args.smoke and { features = 6, queries = 130, mean_size = 12 } or nil),
    args.smoke and "made-up queries" or "MQ2008"
end

---Returns fold `number` of a data set of queries, with features standardised by the training part.
function M.query_fold(folds, number) return folds[number]:standardize() end

---Returns ratings in which 4 stars and more are relevant ("liked"), of users with at least 25 relevant ratings. With
---`short`, for a quick check, 5 relevant ratings are enough.
function M.liked(ratings, short) return ratings:binarize(4):min_relevant(short and 5 or 25) end

---Returns fold `number` of ratings from `M.liked`. Lists have four items that are not liked for each liked item; `seed`
---decides the split and these items.
function M.liked_fold(liked, number, seed)
  return liked:folds{ k = M.folds, by = "user", seed = seed, nsr = 4 }[number]
end

---Makes matrix factorisation for a fold of ratings. Factors start within 0.01 of 0.
function M.factorisation(fold, seed)
  return mr.models.mf{ users = fold.users, items = fold.items, factors = M.factors, init = 0.01, seed = seed }
end

return M
