-- The comparison in cremonesi.lua: folds and numbers of the protocol of Cremonesi, Koren & Turrin (2010), and the
-- predictors. A comment names the source of a decision; the others are ours.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local combinations, protocol = mr.experiment.combinations, dofile(here .. "protocol.lua")

local M = { deepest = 20 }  -- largest N of recall(N) (Cremonesi et al.)

---Returns fold `number` of ratings, with the ratings as grades. With `nsr`, lists have `nsr` unrated items for each
---rated item.
function M.rated_fold(ratings, number, seed, nsr)
  return ratings:folds{ k = protocol.folds, by = "user", seed = seed, grades = true, nsr = nsr }[number]
end

---Returns a fold from `M.rated_fold`. Its field `with_negatives` is the same fold with two unrated items for each rated
---item, for models that learn to rank.
function M.graded_fold(ratings, number, seed)
  local fold = M.rated_fold(ratings, number, seed)
  fold.with_negatives = M.rated_fold(ratings, number, seed, 2)
  return fold
end

---Returns a tensor with 1 for items of the long tail and 0 for the most rated items, and the number of the most rated
---items, which together hold the share `share` of all ratings.
function M.long_tail(ratings, share)
  local tail, held, n = mr.ones({ ratings.items }):totable(), 0, 0
  local counts = mr.zeros({ ratings.items }):scatter_add(1, ratings.item, mr.ones({ ratings.rows }))
  local numbers, items = counts:sort(1, { descending = true })
  while held < share * ratings.rows do
    n = n + 1
    held, tail[items[n]:item()] = held + numbers[n]:item(), 0
  end
  return mr.tensor(tail), n
end

---Returns a fold in which the items to find are the 5-star ratings of a part ("valid" or "test") of `fold`, optionally
---only those of the long tail (`tail`: 1 for its items, 0 for others). All rated items are known, so that none is
---sampled as a competitor.
function M.to_find(fold, part, tail)
  local found, rated = fold[part]:binarize(5), fold.train:concat(fold.valid, fold.test)
  if tail then found = found:with_relevance(found.lists.relevance * tail:rows(found.items)) end
  return mr.data.fold{ train = rated, valid = rated, test = found, users = fold.users, items = fold.items }
end

local hits = {}
for n = 1, M.deepest do hits[n] = "hit@" .. n end

---Returns the numbers of a model on a part ("valid" or "test") of a fold: `rmse` if the model predicts ratings;
---"all@1" to "all@20", which are recall(1) to recall(20), with the number of items to find, `all_count`; and with
---`o.tail` these numbers of the long tail, "tail@1" and so on. Each item to find is ranked among `o.unseen` unrated
---items of its user. `valid` chooses settings: the negative RMSE of a model that predicts ratings, or recall(10).
---@param o { unseen: integer, seed: integer, tail?: mr.Tensor, predicts?: boolean }
function M.measured(model, fold, part, o)
  local numbers = {}
  for items, tail in pairs{ all = false, tail = o.tail } do
    local found = M.to_find(fold, part, tail):evaluate(model, hits,
      { candidates = "one", negatives = o.unseen, seed = o.seed })
    for n, name in ipairs(hits) do numbers[items .. "@" .. n] = found.mean[name] end
    numbers[items .. "_count"] = found.count
  end
  local scores = o.predicts and mr.data.scored(model, fold[part]).scores
  numbers.rmse = scores and mr.stats.rmse(scores, fold[part].lists.relevance) or nil
  numbers.valid = scores and -numbers.rmse or numbers["all@10"]
  return numbers
end

-- Trains a model by Adam for a fixed number of epochs. `setting` has learning rate, weight decay and epochs.
local function fitted(model, loss, reduction, train, setting, seed)
  mr.fit{ model = model, loss = loss, reduction = reduction, train = train, epochs = setting.epochs, seed = seed,
    optimizer = mr.optim.adam{ lr = setting.rate, weight_decay = setting.decay }, progress = false }
  return model
end

---Trains matrix factorisation with biases to predict ratings, by the mean squared error over ratings.
function M.fit_ratings(fold, setting, seed)
  local model = mr.models.biased_mf{ users = fold.users, items = fold.items, factors = protocol.factors, init = 0.01,
    seed = seed, mean = fold.train.lists.relevance:mean():item() }
  return fitted(model, mr.losses.mse(), "rows", fold.train, setting, seed)
end

-- Returns a function that trains matrix factorisation by `loss` to rank rated items above unrated ones, and items with
-- more stars higher.
local function ranking(loss)
  return function(fold, setting, seed)
    return fitted(protocol.factorisation(fold, seed), loss(), "mean", fold.with_negatives.train, setting, seed)
  end
end

local to_rank = combinations{ { "decay", { 1e-4, 1e-3 } }, { "epochs", { 20, 40 } }, { "rate", { 0.003, 0.01 } } }

-- Predictors: settings to try, a function that makes a model from a fold, a setting and a seed, and whether scores
-- predict ratings.
M.all = {
  { name = "random", settings = { {} }, make = function(_, _, seed) return mr.models.random{ seed = seed } end },
  { name = "most rated", settings = { {} }, make = function(fold) return mr.models.popularity{ fold = fold } end },
  { name = "movie mean", settings = { {} }, predicts = true,
    make = function(fold) return mr.models.item_mean{ fold = fold } end },
  { name = "item kNN", settings = combinations{ { "k", { 20, 50, 100, 200 } } },
    make = function(fold, setting) return mr.models.item_knn{ fold = fold, k = setting.k } end },
  { name = "PureSVD", settings = combinations{ { "factors", { 5, 10, 20, 50 } } },
    make = function(fold, o, seed) return mr.models.pure_svd{ fold = fold, factors = o.factors, seed = seed } end },
  { name = "biased MF, squared errors", make = M.fit_ratings, predicts = true, settings = combinations{
    { "decay", { 1e-5, 1e-4, 3e-4 } }, { "epochs", { 10, 20, 30 } }, { "rate", { 0.003, 0.01 } } } },
  { name = "MF, BPR", settings = to_rank, make = ranking(mr.losses.bpr) },
  { name = "MF, LambdaRank", settings = to_rank, make = ranking(mr.losses.lambdarank) },
}

---Returns a predictor's setting in words: "epochs 10, rate 0.01".
function M.text(setting)
  local parts = {}
  for name, value in pairs(setting) do parts[#parts + 1] = ("%s %g"):format(name, value) end
  table.sort(parts)
  return table.concat(parts, ", ")
end

return M
