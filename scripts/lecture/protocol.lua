-- Decisions behind our experiments for S. Seguí's lecture: data, models, training, metrics. A comment names the
-- slide that a decision follows, or our reason if the slides do not say.
local mr = require "moonrank"
local fold_of = require "moonrank.data.fold"

local M = {}

-- Compares two lists of values, one value per user or query, by a paired permutation test with 100,000 random
-- choices of signs.
local function paired(a, b) return mr.stats.permutation(a, b, { orders = 100000 }) end

---Compares rankers with a base ranker. A row has a ranker's values by user or query, and the base
---ranker's. Returns, for each row, the mean difference and its p-value, with Holm's correction over all
---rows. A row without a base gets neither.
---@param rows { values: number[], base?: number[] }[]
---@return { change?: number, p?: number }[]
function M.compare(rows)
  local found, ps = {}, {}
  for i, row in ipairs(rows) do
    local test = row.base and paired(row.values, row.base)
    found[i], ps[i] = { change = test and test.mean_difference }, test and test.p or 0 / 0
  end
  for i, p in ipairs(mr.stats.holm(ps)) do found[i].p = p == p and p or nil end
  return found
end

---Returns true if a p-value that is corrected for multiple tests counts as significant (below 0.05).
function M.significant(p) return p < 0.05 end

---Returns, by key, the trial (training run) with the best validation value. A key is, for example, the
---name of the loss that was trained.
---@param trials { key: string, valid: number }[]
function M.choose(trials)
  local best = {}
  for _, trial in ipairs(trials) do
    local before = best[trial.key]
    if not before or trial.valid > before.valid then best[trial.key] = trial end
  end
  return best
end

---Number of the fold on whose validation part settings, such as learning rates, are chosen.
M.tuned_on = 1
---Number of folds into which each user's ratings are divided.
M.folds = 5

---Returns ratings in which 4 stars and more are relevant ("liked"), of users with at least 25 relevant
---ratings. With `short`, for a quick check, 5 relevant ratings are enough.
function M.liked(ratings, short) return ratings:binarize(4):min_relevant(short and 5 or 25) end

---Returns fold `number` of ratings from `M.liked`. Lists have four items that are not liked for each
---liked item; `seed` decides the split and these items.
function M.liked_fold(liked, number, seed)
  return liked:folds{ k = M.folds, by = "user", seed = seed, nsr = 4 }[number]
end

---Returns fold `number` of a data set of queries, with features standardised by the training part.
function M.query_fold(folds, number) return folds[number]:standardize() end

-- The values and functions below belong to the slides "Learning to rank": pointwise, pairwise and listwise losses.

---Name of the learner (a loss with the model that it trains) that all other learners are compared with.
M.reference = "squared error"
---Metrics by which test lists are evaluated. The first one chooses settings on validation.
M.metrics = { "ndcg@10", "ap", "auc" }
---Training options by data set: number of epochs, number of epochs between validations, and learning
---rates to try.
M.training = {
  movielens = { epochs = 30, every = 3, rates = { 0.003, 0.01, 0.03 } },
  mq2008 = { epochs = 60, every = 1, rates = { 0.001, 0.003, 0.01 } },
}
---Weight decays to try (`decays`), and learning rates of boosted trees to try (`etas`).
M.decays, M.etas = { 0, 1e-4, 1e-3 }, { 0.05, 0.1, 0.2 }

local factors = 32

---Makes a model: matrix factorisation ("mf") or collaborative metric learning ("cml") with 32 factors,
---a network with 46 hidden units ("mlp"), or boosted trees of depth 5. Trees have at most 200 rounds (5
---if `o.short`, for a quick check).
---@param kind "mf"|"cml"|"mlp"|"trees"
---@param o { users?: integer, items?: integer, inputs?: integer, eta?: number, seed: integer, short: boolean }
function M.model(kind, o)
  if kind == "trees" then
    return mr.models.trees{ rounds = o.short and 5 or 200, depth = 5, eta = o.eta, seed = o.seed }
  elseif kind == "mlp" then
    return mr.models.mlp{ inputs = o.inputs, hidden = { 46 }, activation = "relu", seed = o.seed }
  elseif kind == "cml" then
    return mr.models.cml{ users = o.users, items = o.items, factors = factors, seed = o.seed }
  end
  return mr.models.mf{ users = o.users, items = o.items, factors = factors, init = 0.01, seed = o.seed }
end

---Trains a model, networks and factorisations by Adam. Validation nDCG@10 chooses the epoch; for
---MovieLens it ranks all items that the user has not liked in training. `o.at` has the settings:
---learning rate `rate` and weight decay `decay`. With `o.test`, the test part is scored at the end.
---`o.short` trains only 2 epochs.
---@param set "movielens"|"mq2008"
---@param fold mr.Fold
---@param o { model: table, kind: string, loss: mr.Loss, at: table, seed: integer, test?: boolean, short: boolean }
function M.fit(set, fold, o)
  local options = { model = o.model, loss = o.loss, train = fold.train,
    valid = set == "movielens" and fold:candidates{ known = "relevant" } or fold.valid,
    test = o.test and fold.test or nil, metrics = M.metrics, progress = false }
  if o.kind ~= "trees" then
    local training = M.training[set]
    options.optimizer = mr.optim.adam{ lr = o.at.rate, weight_decay = o.kind ~= "cml" and o.at.decay or 0 }
    options.epochs, options.every = o.short and 2 or training.epochs, o.short and 1 or training.every
    options.seed = o.seed
  end
  return mr.fit(options)
end

---Returns nDCG@10 of every test user, for a ranking of all items that the user has not liked in
---training or validation.
function M.catalogue(fold, model) return fold:evaluate(model, { "ndcg@10" }, { known = "relevant" })["ndcg@10"] end

---Combines the means of a metric on several folds. Returns the mean over all lists of all folds, and
---the number of these lists.
---@param parts { mean: number, count: integer }[]  mean and number of lists of each fold
---@return number mean, integer count
function M.pooled(parts)
  local sum, count = 0, 0
  for _, part in ipairs(parts) do sum, count = sum + part.mean * part.count, count + part.count end
  return sum / count, count
end

-- The functions below belong to the slide "Rank Evaluation": the protocol of Cremonesi, Koren & Turrin (2010).

---Returns fold `number` of all ratings, with the ratings as grades. With `nsr`, lists also have `nsr`
---unrated items for each rated item.
function M.rated_fold(ratings, number, seed, nsr)
  return ratings:folds{ k = M.folds, by = "user", seed = seed, grades = true, nsr = nsr }[number]
end

---Returns fold `number` of all ratings, with the ratings as grades. The fold's field `with_negatives`
---is the same fold with two unrated items for each rated item, for models that learn to rank.
function M.graded_fold(ratings, number, seed)
  local fold = M.rated_fold(ratings, number, seed)
  fold.with_negatives = M.rated_fold(ratings, number, seed, 2)
  return fold
end

---Returns a tensor with 1 for items of the long tail and 0 for the most rated items, and the number of
---the most rated items. The most rated items together hold the share `share` of all ratings (default:
---`M.head`).
---@param share? number
---@return mr.Tensor, integer
function M.long_tail(ratings, share)
  share = share or M.head
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

---Returns a fold in which the items to find are the 5-star ratings of a part ("valid" or "test"),
---optionally only those of the long tail (`tail`: 1 for its items, 0 for others). All rated items are
---in the fold's training part, so that none is sampled as a competitor.
---@param tail? mr.Tensor
function M.to_find(fold, part, tail)
  local found = fold[part]:binarize(5)
  if tail then
    found = mr.data.dataset{ users = found.users, items = found.items,
      lists = found.lists:with_relevance(found.lists.relevance * tail:rows(found.items)) }
  end
  local rated = fold.train:concat(fold.valid, fold.test)
  return fold_of.new{ train = rated, valid = part == "valid" and found or rated, test = found, number = fold.number,
    k = fold.k, users = fold.users, items = fold.items, title = "5-star ratings" }
end

---Number of unrated items that compete with each item to find (`unseen`), share of ratings that belongs
---to the most rated items and not to the long tail (`head`), and deepest rank of recall (`deepest`).
M.unseen, M.head, M.deepest = 100, 0.33, 20
local hits = {}
for n = 1, M.deepest do hits[n] = "hit@" .. n end

---Returns recall(1) to recall(20) on a part ("valid" or "test"), and the number of its items to find.
---Each is ranked among `o.unseen` unrated items of its user; recall(N) is the share that ranks among
---the first N. With `o.tail`, only items of the long tail are to be found.
---@param o { unseen?: integer, seed: integer, tail?: mr.Tensor }
function M.recalls(model, fold, part, o)
  local found = M.to_find(fold, part, o.tail):evaluate(model, hits,
    { part = part, candidates = "one", negatives = o.unseen or M.unseen, seed = o.seed })
  local recalls = {}
  for n, name in ipairs(hits) do recalls[n] = found.mean[name] end
  return recalls, found.count
end

---Returns the RMSE of the ratings that a model predicts on a part ("train", "valid" or "test") of a
---fold.
function M.rmse(model, fold, part)
  local set = fold[part]
  return mr.stats.rmse(mr.data.scored(model, set).scores, set.lists.relevance)
end

---Returns the validation result that chooses a model's settings, where higher is better. It is the
---negative RMSE if the model predicts ratings (`predicts`), else recall(10) among `o.unseen` unrated
---items.
---@param predicts boolean
---@param o { unseen?: integer, seed: integer }
function M.quality(model, fold, predicts, o)
  if predicts then return -M.rmse(model, fold, "valid") end
  return M.recalls(model, fold, "valid", o)[10]
end

-- Trains matrix factorisation by Adam for a fixed number of epochs. `o` has options of mr.fit; `setting` has
-- learning rate, weight decay and epochs.
local function fitted(o, setting, seed)
  o.epochs, o.seed, o.progress = setting.epochs, seed, false
  o.optimizer = mr.optim.adam{ lr = setting.rate, weight_decay = setting.decay }
  mr.fit(o)
  return o.model
end

---Trains matrix factorisation with biases to predict ratings, by the mean squared error over ratings.
---`setting` has learning rate, weight decay and number of epochs.
---@param setting { rate: number, decay: number, epochs: integer }
function M.fit_ratings(fold, setting, seed)
  local model = mr.models.biased_mf{ users = fold.users, items = fold.items, factors = factors, init = 0.01,
    seed = seed, mean = fold.train.lists.relevance:mean():item() }
  return fitted({ model = model, loss = mr.losses.mse(), reduction = "rows", train = fold.train }, setting, seed)
end

---Trains matrix factorisation by `loss` to rank rated items above unrated ones, and items with more
---stars higher. `setting` has learning rate, weight decay and number of epochs.
---@param setting { rate: number, decay: number, epochs: integer }
function M.fit_ranking(fold, setting, seed, loss)
  local model = M.model("mf", { users = fold.users, items = fold.items, seed = seed })
  return fitted({ model = model, loss = loss, train = fold.with_negatives.train }, setting, seed)
end

-- The functions below belong to the slide "Lambda Mart": trees on MQ2008.

---Returns the options of boosted trees (depth 5, eta 0.1), or, if `forest`, of a random forest: one
---round of many deep trees.
---@param o { rounds: integer, trees: integer, seed: integer }
function M.tree_options(forest, o)
  if not forest then return { rounds = o.rounds, depth = 5, eta = 0.1, seed = o.seed } end
  return { rounds = 1, trees = o.trees, depth = 12, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = o.seed }
end

---Trains a model of trees on a fold. Validation AP chooses the boosting round.
---@param loss? mr.Loss  loss of this library; nil if the model's option `objective` names a loss of XGBoost
function M.fit_trees(model, loss, fold)
  return mr.fit{ model = model, loss = loss, train = fold.train, valid = fold.valid, metrics = { "ap" },
    progress = false }
end

---Evaluates scores of trees. Returns nDCG@10, nDCG@10 by the rule of LETOR's evaluation script, AP, and
---nDCG@10 again. The first three count a query without relevant documents as 0, the last leaves such
---queries out.
---@return number, number, number, number
function M.judge_trees(scores, lists)
  local all = mr.evaluate(scores, lists, { "ndcg@10", "letor_ndcg@10", "ap" }, { empty = "zero" }).mean
  return all["ndcg@10"], all["letor_ndcg@10"], all.ap, mr.evaluate(scores, lists, { "ndcg@10" }).mean["ndcg@10"]
end

-- The functions below belong to the slide "Rank Evaluation", "Weight items according to the profit".

---Largest made-up profit of a movie; the smallest is 1.
M.most = 20

---Returns two sets of made-up profits of all movies, each a tensor by item: "at random", and "more for
---rare movies", where movies with fewer ratings have higher profits. Their logarithms are uniform.
---@return table<string, mr.Tensor>
function M.profits(ratings, seed)
  local n, logarithm = ratings.items, math.log(M.most)
  local drawn = mr.uniform({ n }, { seed = seed, stream = "profits", dtype = "float64" })
  local counts = mr.zeros({ n }):scatter_add(1, ratings.item, mr.ones({ ratings.rows }))
  local _, order = counts:sort(1, { descending = true })
  local steps = (mr.arange(0, n - 1):double() * (logarithm / (n - 1))):exp()
  return { ["at random"] = (drawn * logarithm):exp():float(),
    ["more for rare movies"] = mr.zeros({ n }, { dtype = "float64" }):scatter_add(1, order, steps):float() }
end

---Defines two metrics in which the gain of a liked movie is its profit. profit_10 is the sum of profits
---of the liked movies among the first ten; profit_ndcg is an nDCG.
function M.define_profit()
  local function gain(profit) return profit end
  mr.metrics.define("profit_10", { gain = gain, discount = function(rank) return rank <= 10 and 1 or 0 end })
  mr.metrics.define("profit_ndcg", { ideal = true, gain = gain,
    discount = function(rank) return 1 / math.log(1 + rank, 2) end })
end

---Returns a fold in which the grade of every relevant row is the item's profit. `profits` has the
---profit of every item.
function M.priced(fold, profits)
  local parts = { number = fold.number, k = fold.k, users = fold.users, items = fold.items, title = "by profit" }
  for _, name in ipairs{ "train", "valid", "test" } do
    local set = fold[name]
    parts[name] = mr.data.dataset{ users = set.users, items = set.items,
      lists = set.lists:with_relevance(set.lists.relevance * profits:rows(set.items)) }
  end
  return fold_of.new(parts)
end

-- For each ranker that profit.lua compares: its loss, the metric by which validation chooses the epoch, whether
-- training lists are graded by profit (`priced`), and whether the predicted probability is multiplied by profit
-- (`times`).
local rankers = {
  relevance = { loss = function() return mr.losses.lambdarank{} end, metric = "ndcg@10" },
  ["relevance, times profit"] = { loss = function() return mr.losses.bce{} end, metric = "profit_10", times = true },
  profit = { loss = function() return mr.losses.lambdarank{ metric = "profit_ndcg" } end, metric = "profit_10",
    priced = true },
}
M.rankers = { "relevance", "relevance, times profit", "profit" }
---Learning rates to try for the rankers that weight movies by profit.
M.profit_rates = { 0.003, 0.01, 0.03 }

---Trains the ranker of this name (in `M.rankers`) and returns a function that scores items.
---`o.watch(epoch, score)` is called after every epoch. `o.profits` has the profit of every item,
---`o.rate` is the learning rate.
---@param plain mr.Fold  fold in which liked movies have grade 1
---@param o { profits: mr.Tensor, rate: number, epochs: integer, seed: integer, watch?: function }
function M.fit_profit(name, plain, o)
  local ranker = rankers[name]
  local model = M.model("mf", { users = plain.users, items = plain.items, seed = o.seed })
  local function times_profit(batch) return model(batch):sigmoid() * o.profits:rows(batch.items) end
  local score = ranker.times and times_profit or model
  mr.fit{ model = model, loss = ranker.loss(),
    train = ranker.priced and M.priced(plain, o.profits).train or plain.train, epochs = o.epochs,
    seed = o.seed, optimizer = mr.optim.adam{ lr = o.rate, weight_decay = 1e-4 }, progress = false,
    each_epoch = function(epoch)
      if o.watch then o.watch(epoch, score) end
    end }
  return score
end

---Trains the ranker of this name (in `M.rankers`) for 30 epochs and evaluates it on validation every 5
---epochs (2 epochs, every epoch, if `o.short`). Returns the best validation value and its epoch. The
---ranker "relevance" is judged by nDCG@10, all others by profit@10, among all movies that the user has
---not liked in training.
---@param plain mr.Fold  fold in which liked movies have grade 1
---@param o { profits: mr.Tensor, rate: number, seed: integer, short: boolean }
---@return { valid: number, epochs: integer }
function M.epochs_of(name, plain, o)
  local best, metric, every = nil, rankers[name].metric, o.short and 1 or 5
  local judge = metric == "profit_10" and M.priced(plain, o.profits) or plain
  M.fit_profit(name, plain, { profits = o.profits, rate = o.rate, epochs = o.short and 2 or 30, seed = o.seed,
    watch = function(epoch, score)
      if epoch == 0 or epoch % every ~= 0 then return end
      local now = judge:evaluate(score, { metric }, { part = "valid", known = "relevant" }).mean[metric]
      if not best or now > best.valid then best = { valid = now, epochs = epoch } end
    end })
  return best
end

---Metrics of rankers under profits: the profit from a user, and the share of liked movies that are
---found.
M.profit_metrics = { "profit_10", "recall@10" }
---Evaluates a ranker on the test part by `M.profit_metrics`. `priced` is a fold from `M.priced`,
---`score` a model or a function that scores items.
function M.earned(priced, score) return priced:evaluate(score, M.profit_metrics, { known = "relevant" }) end

return M
