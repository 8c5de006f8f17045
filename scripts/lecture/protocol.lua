-- The protocol that the tables of S. Seguí's lecture share: data, relevance and folds. The slides leave these decisions
-- open, so that all are ours. Decisions of a single table are in the file that its script loads beside this one.
local mr = require "moonrank"

-- Users' ratings are divided into five folds; validation of the first one chooses settings, such as learning rates.
-- Matrix factorisation has 32 factors.
local M = { folds = 5, tuned_on = 1, factors = 32 }

---Returns MovieLens ratings, or made-up ratings if --smoke is given, and the title of the data.
function M.ratings(args)
  if not args.smoke then return mr.data.movielens(mr.experiment.place(args, "ml-latest-small")), "MovieLens" end
  return mr.data.synthetic{ kind = "ratings", users = 60, items = 300, mean_activity = 50, noise = 0.3 },
    "made-up ratings"
end

---Returns the folds of MQ2008, or a fold of made-up queries if --smoke is given, and the title of the data.
function M.queries(args)
  return mr.experiment.queries(args, "mq2008", args.smoke and { features = 6, queries = 130, mean_size = 12 } or nil),
    args.smoke and "made-up queries" or "MQ2008"
end

---Returns fold `number` of a data set of queries, with features standardised by the training part.
function M.query_fold(folds, number) return folds[number]:standardize() end

---Returns ratings in which 4 stars and more are relevant ("liked"), of users with at least 25 relevant ratings. With
---`short`, for a quick check, 5 relevant ratings are enough.
function M.liked(ratings, short) return ratings:binarize(4):min_relevant(short and 5 or 25) end

---Returns fold `number` of ratings from `M.liked`, whose lists have four items that are not liked for each liked one.
function M.liked_fold(liked, number, seed)
  return liked:folds{ k = M.folds, by = "user", seed = seed, nsr = 4 }[number]
end

---Makes matrix factorisation for a fold of ratings. Factors start within 0.01 of 0.
function M.factorisation(fold, seed)
  return mr.models.mf{ users = fold.users, items = fold.items, factors = M.factors, init = 0.01, seed = seed }
end

return M
