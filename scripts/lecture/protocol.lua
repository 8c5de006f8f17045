-- Decisions of our scripts for S. Seguí's lecture. Each names the slide that it follows, or our reason if the
-- slides do not say.
local mr = require "moonrank"
local fold_of = require "moonrank.data.fold"

local M = {}

-- Paired permutation test by user or query, with 100,000 random choices of signs.
local function paired(a, b) return mr.stats.permutation(a, b, { orders = 100000 }) end

---Compares the values of each row with the row's base values. Returns the mean difference and the
---p-value, with Holm's correction over all rows. A row without a base gets neither.
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

---Returns true if a corrected p-value counts as significant.
function M.significant(p) return p < 0.05 end

---Returns the trial with the best validation value for each key, such as a learner's name.
---@param trials { key: string, valid: number }[]
function M.choose(trials)
  local best = {}
  for _, trial in ipairs(trials) do
    local before = best[trial.key]
    if not before or trial.valid > before.valid then best[trial.key] = trial end
  end
  return best
end

---Number of the fold on whose validation part settings are chosen.
M.tuned_on = 1
---Number of folds into which ratings are divided.
M.folds = 5

---Returns ratings where 4 stars and more are relevant, of users with at least 25 relevant ratings
---(5 if `short`).
function M.liked(ratings, short) return ratings:binarize(4):min_relevant(short and 5 or 25) end

---Returns a fold of liked items. Lists have four other items for each liked item.
function M.liked_fold(liked, number, seed)
  return liked:folds{ k = M.folds, by = "user", seed = seed, nsr = 4 }[number]
end

---Returns a fold of queries whose features are standardised by the training part.
function M.query_fold(folds, number) return folds[number]:standardize() end

-- The values and functions below belong to the slides "Learning to rank": pointwise, pairwise and listwise losses.

---Name of the learner that all others are compared with.
M.reference = "squared error"
---Metrics of test lists. The first one chooses settings on validation.
M.metrics = { "ndcg@10", "ap", "auc" }
---For each data set: number of epochs, number of epochs between validations, and learning rates to
---try.
M.training = {
  movielens = { epochs = 30, every = 3, rates = { 0.003, 0.01, 0.03 } },
  mq2008 = { epochs = 60, every = 1, rates = { 0.001, 0.003, 0.01 } },
}
---Weight decays to try, and learning rates (eta) of trees to try.
M.decays, M.etas = { 0, 1e-4, 1e-3 }, { 0.05, 0.1, 0.2 }

local factors = 32

---Makes a model: factors of users and items (32), a network with 46 hidden units, or trees of depth
---5 with at most 200 rounds.
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

---Trains by Adam. Validation nDCG@10 chooses the epoch; for MovieLens it ranks all items that the
---user has not liked in training. With `test`, the test part is scored at the end.
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

---Returns the mean of a metric over all lists of all folds, from the folds' means and numbers of
---lists, and the number of lists.
---@param parts { mean: number, count: integer }[]  mean and number of lists of each fold
---@return number mean, integer count
function M.pooled(parts)
  local sum, count = 0, 0
  for _, part in ipairs(parts) do sum, count = sum + part.mean * part.count, count + part.count end
  return sum / count, count
end

-- The functions below belong to the slide "Rank Evaluation": the protocol of Cremonesi, Koren & Turrin (2010).

---Returns a fold of all ratings with their values as grades. With `nsr`, lists have `nsr` unrated
---items for each rated item.
function M.rated_fold(ratings, number, seed, nsr)
  return ratings:folds{ k = M.folds, by = "user", seed = seed, grades = true, nsr = nsr }[number]
end

---Returns a fold of all ratings with their values as grades. Its field `with_negatives` is the same
---fold with two unrated items for each rated item, for models that learn to rank.
function M.graded_fold(ratings, number, seed)
  local fold = M.rated_fold(ratings, number, seed)
  fold.with_negatives = M.rated_fold(ratings, number, seed, 2)
  return fold
end

---Returns a tensor with 1 for items of the long tail and 0 for the most rated items, and the number
---of the latter. The most rated items are those that together hold the share `share` of all ratings
---(default: a third).
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

---Returns a fold in which the items to find are the 5-star ratings of a part, optionally only those
---of the long tail (`tail`). Items that the user has rated are not sampled as competitors.
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

---Number of unrated items that compete with each item to find, the share of ratings that the long
---tail leaves out, and the deepest rank.
M.unseen, M.head, M.deepest = 100, 0.33, 20
local hits = {}
for n = 1, M.deepest do hits[n] = "hit@" .. n end

---Returns recall(1) to recall(20) on a part, and the number of its test items. Each test item is
---ranked among unrated items of its user.
---@param o { unseen?: integer, seed: integer, tail?: mr.Tensor }
function M.recalls(model, fold, part, o)
  local found = M.to_find(fold, part, o.tail):evaluate(model, hits,
    { part = part, candidates = "one", negatives = o.unseen or M.unseen, seed = o.seed })
  local recalls = {}
  for n, name in ipairs(hits) do recalls[n] = found.mean[name] end
  return recalls, found.count
end

---Returns the RMSE of the ratings that a model predicts on a part.
function M.rmse(model, fold, part)
  local set = fold[part]
  return mr.stats.rmse(mr.data.scored(model, set).scores, set.lists.relevance)
end

---Returns the validation result that chooses settings, where higher is better: negative RMSE for
---models that predict ratings, recall(10) for all others.
---@param predicts boolean
---@param o { unseen?: integer, seed: integer }
function M.quality(model, fold, predicts, o)
  if predicts then return -M.rmse(model, fold, "valid") end
  return M.recalls(model, fold, "valid", o)[10]
end

-- Trains matrix factorisation by Adam for a fixed number of epochs.
local function fitted(o, setting, seed)
  o.epochs, o.seed, o.progress = setting.epochs, seed, false
  o.optimizer = mr.optim.adam{ lr = setting.rate, weight_decay = setting.decay }
  mr.fit(o)
  return o.model
end

---Trains matrix factorisation with biases to predict ratings, by the mean squared error over
---ratings.
---@param setting { rate: number, decay: number, epochs: integer }
function M.fit_ratings(fold, setting, seed)
  local model = mr.models.biased_mf{ users = fold.users, items = fold.items, factors = factors, init = 0.01,
    seed = seed, mean = fold.train.lists.relevance:mean():item() }
  return fitted({ model = model, loss = mr.losses.mse(), reduction = "rows", train = fold.train }, setting, seed)
end

---Trains matrix factorisation to rank rated items above unrated ones, and items with more stars
---higher.
---@param setting { rate: number, decay: number, epochs: integer }
function M.fit_ranking(fold, setting, seed, loss)
  local model = M.model("mf", { users = fold.users, items = fold.items, seed = seed })
  return fitted({ model = model, loss = loss, train = fold.with_negatives.train }, setting, seed)
end

-- The functions below belong to the slide "Lambda Mart": trees on MQ2008.

---Returns the options of boosted trees (depth 5, eta 0.1), or of a random forest: one round of many
---deep trees.
---@param o { rounds: integer, trees: integer, seed: integer }
function M.tree_options(forest, o)
  if not forest then return { rounds = o.rounds, depth = 5, eta = 0.1, seed = o.seed } end
  return { rounds = 1, trees = o.trees, depth = 12, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = o.seed }
end

---Trains trees on a fold. Validation AP chooses the round.
---@param loss? mr.Loss  loss of this library; nil if the model's option `objective` names one of XGBoost
function M.fit_trees(model, loss, fold)
  return mr.fit{ model = model, loss = loss, train = fold.train, valid = fold.valid, metrics = { "ap" },
    progress = false }
end

---Returns nDCG@10, nDCG@10 by LETOR's rule, AP, and nDCG@10 again. The first three count a query
---without relevant documents as 0, the last leaves such queries out.
---@return number, number, number, number
function M.judge_trees(scores, lists)
  local all = mr.evaluate(scores, lists, { "ndcg@10", "letor_ndcg@10", "ap" }, { empty = "zero" }).mean
  return all["ndcg@10"], all["letor_ndcg@10"], all.ap, mr.evaluate(scores, lists, { "ndcg@10" }).mean["ndcg@10"]
end

-- The functions below belong to the slide "Rank Evaluation", "Weight items according to the profit".

---Largest made-up profit of a movie; the smallest is 1.
M.most = 20

---Returns two sets of made-up profits of all movies: drawn at random, and higher for movies with
---fewer ratings. Their logarithms are uniform.
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

---Defines two metrics whose gain is profit: profit@10, the sum of profits of the liked movies among
---the first ten, and an nDCG.
function M.define_profit()
  local function gain(profit) return profit end
  mr.metrics.define("profit_10", { gain = gain, discount = function(rank) return rank <= 10 and 1 or 0 end })
  mr.metrics.define("profit_ndcg", { ideal = true, gain = gain,
    discount = function(rank) return 1 / math.log(1 + rank, 2) end })
end

---Returns a fold in which the grade of every relevant row is the item's profit.
function M.priced(fold, profits)
  local parts = { number = fold.number, k = fold.k, users = fold.users, items = fold.items, title = "by profit" }
  for _, name in ipairs{ "train", "valid", "test" } do
    local set = fold[name]
    parts[name] = mr.data.dataset{ users = set.users, items = set.items,
      lists = set.lists:with_relevance(set.lists.relevance * profits:rows(set.items)) }
  end
  return fold_of.new(parts)
end

-- For each ranker: its loss, the metric by which validation chooses, whether training lists are graded by profit
-- (`priced`), and whether the predicted probability is multiplied by profit (`times`).
local rankers = {
  relevance = { loss = function() return mr.losses.lambdarank{} end, metric = "ndcg@10" },
  ["relevance, times profit"] = { loss = function() return mr.losses.bce{} end, metric = "profit_10", times = true },
  profit = { loss = function() return mr.losses.lambdarank{ metric = "profit_ndcg" } end, metric = "profit_10",
    priced = true },
}
M.rankers = { "relevance", "relevance, times profit", "profit" }
---Learning rates to try for these rankers.
M.profit_rates = { 0.003, 0.01, 0.03 }

---Trains a ranker and returns a function that scores items. `watch(epoch, score)` is called after
---every epoch.
---@param plain mr.Fold
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

---Trains for up to 30 epochs and evaluates on validation every 5 epochs. Returns the best
---validation value and its epoch. The ranker without profits is judged by nDCG@10, all others by
---profit@10, among all movies that the user has not liked in training.
---@param plain mr.Fold
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

---Metrics of `earned`: the profit from each test user, and the share of liked movies that are
---found.
M.profit_metrics = { "profit_10", "recall@10" }
function M.earned(priced, score) return priced:evaluate(score, M.profit_metrics, { known = "relevant" }) end

return M
