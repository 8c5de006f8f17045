-- The comparison in cremonesi.lua: the protocol of Cremonesi, Koren & Turrin (2010), and the predictors, which are
-- rankings that are equal for all users, nearest neighbours, PureSVD, and matrix factorisation that is trained to
-- predict ratings or to rank. A comment names the source of a decision; the others are ours.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local combinations, protocol = mr.experiment.combinations, dofile(here .. "protocol.lua")

-- Number of unrated items that compete with each item to find, share of the ratings that belongs to the most rated
-- items and not to the long tail, and deepest rank of recall (Cremonesi et al.).
local M = { unseen = 100, head = 0.33, deepest = 20 }

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
---@return mr.Tensor, integer
function M.long_tail(ratings, share)
  local ones = mr.ones({ ratings.rows })
  local counts, items = mr.zeros({ ratings.items }):scatter_add(1, ratings.item, ones):sort(1, { descending = true })
  local numbers, order, tail = counts:totable(), items:totable(), mr.ones({ ratings.items }):totable()
  local held, n = 0, 0
  while held < share * ratings.rows do
    n = n + 1
    held, tail[order[n]] = held + numbers[n], 0
  end
  return mr.tensor(tail), n
end

---Returns a fold in which the items to find are the 5-star ratings of a part ("valid" or "test"), optionally only those
---of the long tail (`tail`: 1 for its items, 0 for others). All rated items are in its training part, so that none is
---sampled as a competitor.
function M.to_find(fold, part, tail)
  local found, rated = fold[part]:binarize(5), fold.train:concat(fold.valid, fold.test)
  if tail then found = found:with_relevance(found.lists.relevance * tail:rows(found.items)) end
  return mr.data.fold{ train = rated, valid = part == "valid" and found or rated, test = found, number = fold.number,
    k = fold.k, users = fold.users, items = fold.items, title = "5-star ratings" }
end

local hits = {}
for n = 1, M.deepest do hits[n] = "hit@" .. n end

---Returns recall(1) to recall(20) on a part ("valid" or "test"), and the number of its items to find. Each is ranked
---among `o.unseen` unrated items of its user; recall(N) is the share that ranks among the first N. With `o.tail`, only
---items of the long tail are to be found.
---@param o { unseen?: integer, seed: integer, tail?: mr.Tensor }
function M.recalls(model, fold, part, o)
  local found = M.to_find(fold, part, o.tail):evaluate(model, hits,
    { part = part, candidates = "one", negatives = o.unseen or M.unseen, seed = o.seed })
  local recalls = {}
  for n, name in ipairs(hits) do recalls[n] = found.mean[name] end
  return recalls, found.count
end

---Returns the RMSE of the ratings that a model predicts on a part of a fold.
function M.rmse(model, fold, part)
  return mr.stats.rmse(mr.data.scored(model, fold[part]).scores, fold[part].lists.relevance)
end

---Returns the validation result that chooses a model's settings, where higher is better: the negative RMSE of a model
---that predicts ratings (`predicts`), else recall(10).
function M.quality(model, fold, predicts, o)
  return predicts and -M.rmse(model, fold, "valid") or M.recalls(model, fold, "valid", o)[10]
end

-- Trains a model by Adam for a fixed number of epochs. `o` has options of mr.fit; `setting` has learning rate, weight
-- decay and epochs.
local function fitted(o, setting, seed)
  o.epochs, o.seed, o.progress = setting.epochs, seed, false
  o.optimizer = mr.optim.adam{ lr = setting.rate, weight_decay = setting.decay }
  mr.fit(o)
  return o.model
end

---Trains matrix factorisation with biases to predict ratings, by the mean squared error over ratings.
function M.fit_ratings(fold, setting, seed)
  local model = mr.models.biased_mf{ users = fold.users, items = fold.items, factors = protocol.factors, init = 0.01,
    seed = seed, mean = fold.train.lists.relevance:mean():item() }
  return fitted({ model = model, loss = mr.losses.mse(), reduction = "rows", train = fold.train }, setting, seed)
end

-- Returns a function that trains matrix factorisation by `loss` to rank rated items above unrated ones, and items with
-- more stars higher.
local function ranking(loss)
  return function(fold, setting, seed)
    local model = protocol.factorisation(fold, seed)
    return fitted({ model = model, loss = loss(), train = fold.with_negatives.train }, setting, seed)
  end
end

---Scores an item by its mean rating in the training part (Cremonesi et al.: MovieAvg). An item without ratings gets the
---mean over all ratings.
local function movie_mean(fold)
  local train, zeros = fold.train, mr.zeros({ fold.items }, { dtype = "float64" })
  local grades = train.lists.relevance:double()
  local count = zeros:scatter_add(1, train.items, mr.ones({ train.lists.rows }, { dtype = "float64" }))
  local means = zeros:scatter_add(1, train.items, grades) / count
  means = count:gt(0):where(means, grades:mean():item())
  return function(batch) return means:rows(batch.items) end
end

-- Makes the columns of a matrix orthonormal (Gram-Schmidt). Each column is projected twice, to reduce rounding errors.
local function orthonormal(matrix)
  local done
  for k = 1, matrix:size(2) do
    local column = matrix:narrow(2, k, 1)
    for _ = 1, done and 2 or 0 do column = column - done:matmul(done:t():matmul(column)) end
    column = column / (column * column):sum():sqrt()
    done = done and mr.cat({ done, column }, 2) or column
  end
  return done
end

-- PureSVD (Cremonesi et al.): the matrix of ratings, with 0 for a missing rating, is projected onto its largest
-- singular vectors, which 200 subspace iterations on the users' Gram matrix find.
local function pure_svd(fold, setting, seed)
  local train, users, items = fold.train, fold.users, fold.items
  local function cells(user, item) return ((user:double() - 1) * items + item:double()):long() end
  local ratings = mr.zeros({ users * items }, { dtype = "float64" }):scatter_add(1,
    cells(train.lists:spread(train.users), train.items), train.lists.relevance:double()):reshape(users, items)
  local gram = ratings:matmul(ratings:t())
  local basis = orthonormal(mr.normal({ users, math.min(setting.factors, users) }, { seed = seed, dtype = "float64" }))
  for _ = 1, 200 do basis = orthonormal(gram:matmul(basis)) end
  local scores = basis:matmul(basis:t():matmul(ratings)):reshape(users * items)
  return function(batch) return scores:rows(cells(batch.row_users, batch.items)) end
end

local to_rank = combinations{ { "decay", { 1e-4, 1e-3 } }, { "epochs", { 20, 40 } }, { "rate", { 0.003, 0.01 } } }

-- Predictors: settings to try, a function that makes a model or a function of a batch from a fold, a setting and a
-- seed, and whether scores predict ratings; the setting is then chosen by RMSE.
M.all = {
  { name = "random", settings = { {} }, make = function(_, _, seed) return mr.models.random{ seed = seed } end },
  { name = "most rated", settings = { {} }, make = function(fold) return mr.models.popularity{ fold = fold } end },
  { name = "movie mean", settings = { {} }, make = movie_mean, predicts = true },
  { name = "item kNN", settings = combinations{ { "k", { 20, 50, 100, 200 } } },
    make = function(fold, setting) return mr.models.item_knn{ fold = fold, k = setting.k } end },
  { name = "PureSVD", settings = combinations{ { "factors", { 5, 10, 20, 50 } } }, make = pure_svd },
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
