-- The protocol of Westerborg (2022): every decision behind its numbers, as a function or a value that the scripts use.
-- Sections are those of the thesis. Where the thesis says nothing, the decision is ours, and its comment begins with
-- "Ours".
local mr = require "moonrank"

local M = {}

-- Data sets, their parts and models ---------------------------------------------------------------------------------

-- Sections 4.1.1 to 4.3: matrix factorisation on users with at least 25 relevant items; five random folds by user,
-- irrelevant items sampled with a fixed ratio to the relevant ones. Epochs and rates are ours: the rates are chosen on
-- the first fold.
local function of_users(relevance)
  local ratings = relevance:min_relevant(25)
  return {
    setting = "nsr", values = { 1, 2, 3 }, folds = 5, epochs = 40, size = 32, sizes = { 16, 32, 64 },
    rates = { 0.001, 0.003, 0.01, 0.03 }, tuning = 1,
    fold = function(nsr, number, seed) return ratings:folds{ k = 5, by = "user", seed = seed, nsr = nsr }[number] end,
    model = function(size, seed)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = size, init = 0.01, seed = seed }
    end,
  }
end

-- Sections 4.1 to 4.3: a network of one hidden layer on the published folds. No query is left out; where none of its
-- documents is relevant, the metrics are not defined. A document is relevant from a label on. Ours: features are
-- standardised by the training part.
local function of_queries(folds, features)
  return {
    setting = "label", values = { 2, 1 }, folds = #folds, epochs = 100, patience = 20, size = 46,
    sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number) return folds[number]:binarize(label):standardize() end,
    model = function(size, seed) return mr.models.mlp{ inputs = features, hidden = { size }, activation = "relu",
      seed = seed } end,
  }
end

-- Ours: few and long lists in smaller batches, so that an epoch has about as many steps as on MQ2008.
local function of_long_lists(folds, features)
  local set = of_queries(folds, features)
  set.batch, set.rates = 4, { 0.001, 0.003, 0.01, 0.03 }
  return set
end

---A data set's protocol from what was read of it: ratings, or folds of queries and the number of their features.
M.sets = { mslr = of_long_lists }

---Section 4.2: ratings of 4 and higher are relevant.
function M.sets.movielens(ratings) return of_users(ratings:binarize(4)) end

---Ours: the articles of a user's library are relevant. Rates are chosen at NSR 1 alone, to save time.
function M.sets.citeulike(ratings)
  local set = of_users(ratings:binarize(1))
  set.tuning_values = { 1 }
  return set
end

---Section 4.2: "items with the highest relevance rating" are relevant: label 2, or each query's own highest label, by
---which no query is without. Table 5.1 is nearer to the latter, and to label 1. Rates are chosen for the labels.
function M.sets.mq2008(folds, features)
  local set = of_queries(folds, features)
  set.values, set.tuning_values = { 2, 1, "top_of_list" }, { 2, 1 }
  return set
end

---Ours: test parts have about ten queries, so that rates are chosen on all folds.
function M.sets.clueweb(folds, features)
  local set = of_long_lists(folds, features)
  set.tuning = set.folds
  return set
end

---The share of a fold's training queries that validate where the published folds have no part for it (ClueWeb09).
M.valid_share = 0.2

---The names by which test lists are paired with themselves under another loss or bound. A user has one name in all
---folds. A query is in one fold only, and its name has the fold's number.
---@param test mr.Dataset
---@param fold integer  number of the fold
function M.list_names(test, fold)
  return test.users and test.users:double() or mr.arange(1, test.count) + 1000 * fold
end

-- Training ----------------------------------------------------------------------------------------------------------

---Section 5.1: a model is chosen and judged by the metric that it optimises.
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }

---The part that chooses the epoch: validation, or under recipe "published" test, as the thesis may have done.
M.recipes = { "honest", "published" }
function M.chooser(recipe) return recipe == "published" and "test" or "valid" end

---Section 4.3: random orders of each shape of list behind the thesis' own distribution bound.
M.samples = 300000

---A bound by its name. "distribution" is the thesis' own: drawn (section 4.3), with the steepness of Eq. 3.13; the
---distributions of all three losses are drawn together. "distribution_logit (beta 1)" is an exact one that refers to a
---better ranker.
function M.bound(name, samples)
  local form, beta = name:match "^distribution_?(%a*) %(beta (.+)%)$"
  if form then return mr.bounds.distribution_bound{ form = form == "" and "cdf" or form, beta = tonumber(beta) } end
  if name ~= "distribution" then return name end
  return mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = samples,
    also = { "ndcg", "ap", "nrbp_loss" } }
end

---@class thesis.TrainOptions
---@field loss mr.Loss
---@field rate number
---@field metrics string[]
---@field seed integer
---@field select? string|string[]   what chooses the epoch (default: the first metric)
---@field recipe? "honest"|"published"
---@field optimizer? "adam"|"sgd"
---@field model? mr.Model           default: the set's, of this size
---@field size? integer
---@field epochs? integer
---@field patience? integer
---@field each_epoch? function

---One training: 32 lists per step (section 4.1.1) unless the data set has a batch of its own, Adam (section 4.3) unless
---another optimizer is named; the first metric chooses the epoch unless others are selected.
---@param set thesis.Data
---@param o thesis.TrainOptions
---@return mr.Run
function M.train(set, fold, o)
  return mr.fit{
    model = o.model or set.model(o.size or set.size, o.seed), loss = o.loss, train = fold.train, valid = fold.valid,
      test = fold.test,
    optimizer = mr.optim[o.optimizer or "adam"]{ lr = o.rate }, batch = set.batch or 32,
      epochs = o.epochs or set.epochs,
    patience = o.patience or set.patience, metrics = o.metrics, select = o.select, choose_on = M.chooser(o.recipe),
      seed = o.seed,
    each_epoch = o.each_epoch, progress = false,
  }
end

---The result of a training that a study stores: the epoch and the validation score that chose it,
---the test mean, and the test score of every list with its name.
---@param run mr.Run
---@param test mr.Dataset
---@param fold integer  number of the fold
---@param own string    the metric that chose
---@return { epoch: integer, valid: number, own: number, per_list: table<string, mr.Tensor> }
function M.outcome(run, test, fold, own)
  return { epoch = run.best.epoch, valid = run.best.metrics[own], own = run.test.mean[own],
    per_list = { own = run.scores[own], list = M.list_names(test, fold) } }
end

---Ours, for questions beside the thesis' tables (optimizers, drawn expectations, stronger models): the setting, which
---is NSR 1 or relevance from label 1; the most epochs; and for optimizers the epochs without a better one that end
---training.
M.beside = { value = 1, epochs = 60, patience = 10 }

---The setting with the highest metric on validation. Of several such settings the lowest is chosen.
---@param valid table<number, number>  by rate or exponent
---@return number?
function M.choose(valid)
  local best
  for setting, value in pairs(valid) do
    if not best or value > valid[best] or value == valid[best] and setting < best then best = setting end
  end
  return best
end

---Section 4.3, "requires little tuning for the learning rate": rates of both optimizers are 10^(exponent / 2), first
---powers of ten, then the neighbours of the best. Gradients under bounds differ by orders of magnitude, and with them
---the rates of plain descent.
M.grids = { adam = { -6, -4, -2 }, sgd = { -6, -4, -2, 0, 2, 4, 6, 8 } }
M.steps = { -1, 1 }
function M.rate(exponent) return 10 ^ (exponent / 2) end

-- Statistics: all ours, as the thesis has none ----------------------------------------------------------------------

---The seeds of splits, negatives and models that claims rest on.
M.seeds = { 1, 2, 3 }

---Paired values of users or queries: mean change, p of a permutation test of signs, effect size and share of wins.
---@param a number[]
---@param b number[]
---@return { change: number, p: number, d: number, n: integer, wins: number }
function M.compare(a, b)
  local test, effect = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.effect_size(a, b)
  return { change = test.mean_difference, p = test.p, d = effect.d, n = test.n, wins = effect.wins }
end

---Holm's correction, over all comparisons of a table unless a script says otherwise.
M.correct = mr.stats.holm

---The level of significance, and the side of a significant change: 1 for the better, -1 for the worse, else 0.
M.level = 0.05
function M.side(change, p)
  if p < M.level then return change > 0 and 1 or -1 end
  return 0
end

---The verdict on the claim that a bound is the best, from the counts of its comparisons with other bounds.
---@param count { of: integer, better: integer, surely_better: integer, surely_worse: integer }
function M.verdict(count)
  if count.surely_better == count.of then return "holds" end
  if count.surely_worse > 0 then return "contradicted" end
  return count.better == count.of and "in the mean only" or "not shown"
end

---Values of a metric where lists without relevant rows (NaN) count as a convention says: left out ("skip"), 0 ("zero")
---or 1 ("one").
---@param values number[]
---@param empty "skip"|"zero"|"one"
---@return number[]
function M.filled(values, empty)
  local found = {}
  for i, x in ipairs(values) do found[i] = (x == x or empty == "skip") and x or empty == "one" and 1.0 or 0.0 end
  return found
end

---The largest difference that counts as none, from a printed number or from the best of several rates on validation.
M.close = 0.01
function M.near(difference) return math.abs(difference) <= M.close end

return M
