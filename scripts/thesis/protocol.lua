-- The protocol of Westerborg (2022), Table 5.1: every decision behind its numbers. A number in parentheses, such as
-- (4.1), is the section of the thesis that a decision is from; "ours" marks decisions of this project. beside.lua has
-- the decisions of other experiments. docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = { sets = {} }

-- A data set has the `values` of a setting, which is "nsr" (negatives per relevant item) or "label" (the least relevant
-- label), and functions that make a fold and a model. Validation chooses among `rates` (learning rates) and `sizes` (of
-- models), on the first `tuning` folds, at the values `tuning_values` of the setting (by default at all).

---Ratings (4.1.1 to 4.3): matrix factorisation on users with at least 25 relevant items, in five random folds by user.
---Epochs are ours.
function M.of_users(relevance)
  local ratings = relevance:min_relevant(25)
  return {
    unit = "user", units = "users", head = "NSR", legend = "NSR: negative sampling ratio; ",
    setting = "nsr", values = { 1, 2, 3 }, folds = 5, epochs = 40,
    size = 32, sizes = { 16, 32, 64 }, rates = { 0.001, 0.003, 0.01, 0.03 }, tuning = 1,
    fold = function(nsr, number, seed) return ratings:folds{ k = 5, by = "user", seed = seed, nsr = nsr }[number] end,
    model = function(size, seed)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = size, init = 0.01, seed = seed }
    end,
  }
end

---Queries (4.1 to 4.3): a network with one hidden layer on the published folds. Queries without a relevant document
---stay, but have no metric. Standardising by the training part, epochs and patience are ours.
function M.of_queries(folds, features)
  return {
    unit = "query", units = "queries", head = "label", legend = "",
    setting = "label", values = { 2, 1 }, folds = #folds, epochs = 100, patience = 20,
    size = 46, sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number) return folds[number]:binarize(label):standardize() end,
    model = function(size, seed)
      return mr.models.mlp{ inputs = features, hidden = { size }, activation = "relu", seed = seed }
    end,
  }
end

---MovieLens: ratings of 4 and higher are relevant (4.2).
function M.sets.movielens(ratings) return M.of_users(ratings:binarize(4)) end

---MQ2008: 4.2 calls "items with the highest relevance rating" relevant. That may mean label 2, or each query's own
---highest label, which leaves no query without a relevant document. Labels 1 and the highest are nearest to Table 5.1.
function M.sets.mq2008(folds, features)
  local set = M.of_queries(folds, features)
  set.values, set.tuning_values = { 2, 1, "top_of_list" }, { 2, 1 }
  return set
end

---The metric of each loss, which chooses its epochs and by which its models are judged (5.1).
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }
---Recipes: "honest" chooses the epoch on validation; "published" on test, as the thesis may have done.
M.recipes = { "honest", "published" }
---Random rankings of each list shape that are sampled for the thesis' own distribution bound (4.3).
M.samples = 300000
---Level of significance, and the largest difference from a printed number that counts as none (ours).
M.level, M.close = 0.05, 0.01

---Makes a bound from its name. "distribution" is the thesis' own: sampled (4.3), with the steepness of Eq. 3.13, and
---shared by the three losses.
function M.bound(name, samples)
  if name ~= "distribution" then return name end
  return mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = samples or M.samples,
    also = { "ndcg", "ap", "nrbp_loss" } }
end

---Trains one model on a fold and tests it at the chosen epoch: 32 lists per step (4.1.1) unless the data set has its
---own `batch`, and Adam (4.3). The first of `o.metrics` chooses the epoch, unless `o.select` names others.
function M.train(set, fold, o)
  return mr.fit{ model = o.model or set.model(o.size or set.size, o.seed), loss = o.loss, seed = o.seed,
    train = fold.train, valid = fold.valid, test = fold.test, batch = set.batch or 32,
    optimizer = mr.optim[o.optimizer or "adam"]{ lr = o.rate }, epochs = o.epochs or set.epochs,
    patience = o.patience or set.patience, metrics = o.metrics, select = o.select,
    choose_on = o.recipe == "published" and "test" or "valid", each_epoch = o.each_epoch, progress = false }
end

---Numbers of test lists, by which values are paired (ours). A user has one number in all folds; a query is in one fold,
---whose number its own contains.
function M.list_names(test, fold)
  return test.users and test.users:double() or mr.arange(1, test.count) + 1000 * fold
end

---Results of a run: the chosen epoch, the mean of the metric `own` on validation and on test, and its value for every
---test list with the list's number.
function M.outcome(run, test, fold, own)
  return { epoch = run.best.epoch, valid = run.best.metrics[own], own = run.test.mean[own],
    per_list = { own = run.scores[own], list = M.list_names(test, fold) } }
end

return M
