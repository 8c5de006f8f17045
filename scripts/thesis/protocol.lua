-- The protocol of Westerborg (2022): every decision behind its numbers, as a function or a value that the scripts use.
-- Sections are those of the thesis. Where the thesis says nothing, the decision is this project's, and its comment says
-- "ours, not the thesis'".
local mr = require "moonrank"

local M = {}

-- Section on data sets: how they are split into parts, and which models rank them ------------------------------------

-- The protocol of data sets made from ratings (sections 4.1.1 to 4.3 of the thesis): matrix factorisation on users with
-- at least 25 relevant items, in five random folds by user. Irrelevant items are sampled at a fixed ratio to the
-- relevant ones (NSR). Number of epochs and learning rates are ours, not the thesis'; rates are chosen on the first
-- fold.
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

-- The protocol of data sets made from queries (sections 4.1 to 4.3 of the thesis): a network with one hidden layer on
-- the published folds. A document is relevant if its label is at least the setting's value. Queries without a relevant
-- document stay, but have no metric. Standardising features by the training part is ours, not the thesis'.
local function of_queries(folds, features)
  return {
    setting = "label", values = { 2, 1 }, folds = #folds, epochs = 100, patience = 20, size = 46,
    sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number) return folds[number]:binarize(label):standardize() end,
    model = function(size, seed) return mr.models.mlp{ inputs = features, hidden = { size }, activation = "relu",
      seed = seed } end,
  }
end

-- The protocol of data sets with few, long lists (ours, not the thesis'). Minibatches have 4 queries, so that an epoch
-- has about as many steps as on MQ2008.
local function of_long_lists(folds, features)
  local set = of_queries(folds, features)
  set.batch, set.rates = 4, { 0.001, 0.003, 0.01, 0.03 }
  return set
end

---Functions by name of the data set that make its protocol (thesis.Data): from ratings, or from folds of queries and
---the number of features of a document.
M.sets = { mslr = of_long_lists }

---The protocol of MovieLens: ratings of 4 and higher are relevant (section 4.2).
function M.sets.movielens(ratings) return of_users(ratings:binarize(4)) end

---The protocol of CiteULike (ours, not the thesis'). The articles in a user's library are relevant. Learning rates are
---chosen only at NSR 1 (one negative per relevant item), to save time.
function M.sets.citeulike(ratings)
  local set = of_users(ratings:binarize(1))
  set.tuning_values = { 1 }
  return set
end

---The protocol of MQ2008. Section 4.2 of the thesis calls "items with the highest relevance rating" relevant. That may
---mean label 2, or each query's own highest label ("top_of_list"), which leaves no query without a relevant document.
---Label 1 and the own highest label reproduce Table 5.1 best. Learning rates are chosen for labels 2 and 1.
function M.sets.mq2008(folds, features)
  local set = of_queries(folds, features)
  set.values, set.tuning_values = { 2, 1, "top_of_list" }, { 2, 1 }
  return set
end

---The protocol of ClueWeb09 (ours, not the thesis'). Learning rates are chosen on all folds, because a fold has only
---about ten test queries.
function M.sets.clueweb(folds, features)
  local set = of_long_lists(folds, features)
  set.tuning = set.folds
  return set
end

---The share of training queries that is held out for validation, for data whose published folds have no validation part
---(ClueWeb09).
M.valid_share = 0.2

---Numbers that identify test lists, so that two training runs with different losses or bounds are compared list by
---list. A user has one number in all folds. A query is in one fold only, and its number contains that of the fold.
---@param test mr.Dataset
---@param fold integer  number of the fold
function M.list_names(test, fold)
  return test.users and test.users:double() or mr.arange(1, test.count) + 1000 * fold
end

-- Section on training: losses, bounds, how a model is trained, and what a run stores ---------------------------------

---The metric of each loss, which chooses its epochs and by which its models are judged: the metric that the loss
---optimises (section 5.1 of the thesis).
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }

---Recipes, by which part of the data the epoch is chosen: "honest" on the validation part; "published" on the test
---part, as the thesis may have done. `M.chooser(recipe)` returns the part, "valid" or "test".
M.recipes = { "honest", "published" }
function M.chooser(recipe) return recipe == "published" and "test" or "valid" end

---How many random rankings of each list shape (numbers of rows and of relevant rows) are sampled for the thesis' own
---distribution bound (section 4.3).
M.samples = 300000

---Makes a bound from its name. "distribution" is the thesis' own bound: sampled with `samples` random rankings (section
---4.3), with the steepness of Eq. 3.13; the samples are shared by all three losses. "distribution_logit (beta 1)" is
---exact, and compares with a ranker that is better than random. Other names are bounds of the library; they are
---returned unchanged.
function M.bound(name, samples)
  local form, beta = name:match "^distribution_?(%a*) %(beta (.+)%)$"
  if form then return mr.bounds.distribution_bound{ form = form == "" and "cdf" or form, beta = tonumber(beta) } end
  if name ~= "distribution" then return name end
  return mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = samples,
    also = { "ndcg", "ap", "nrbp_loss" } }
end

---@class thesis.TrainOptions       options of one training run
---@field loss mr.Loss
---@field rate number               learning rate
---@field metrics string[]          metrics that are measured on validation after each epoch, and on test at the end
---@field seed integer              seed of the model's initial weights and of the order of lists
---@field select? string|string[]   metric or metrics that choose the epoch (default: the first of `metrics`)
---@field recipe? "honest"|"published"  "published": the test part chooses the epoch; else the validation part
---@field optimizer? "adam"|"sgd"   default: "adam"
---@field model? mr.Model           default: the data set's model, of size `size`
---@field size? integer             number of factors or hidden units (default: that of the data set)
---@field epochs? integer           largest number of epochs (default: that of the data set)
---@field patience? integer         epochs without a better metric after which training ends (default: the data set's)
---@field each_epoch? function      called after each epoch, as by mr.fit

---Trains one model on the training part of a fold and tests it at the chosen epoch. Defaults are 32 lists per step
---(section 4.1.1 of the thesis) unless the data set has its own `batch`, and Adam (section 4.3). The first metric of
---`o.metrics` chooses the epoch, unless `o.select` names another metric, or several that choose an epoch each.
---@param set thesis.Data
---@param fold { train: mr.Dataset, valid: mr.Dataset, test?: mr.Dataset }
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

---The values of a training run that are stored: the chosen epoch, the mean of the metric `own` on validation and on
---test, and for every test list the value of this metric and the number that identifies the list.
---@param run mr.Run
---@param test mr.Dataset
---@param fold integer  number of the fold
---@param own string    the metric that chose the epoch
---@return { epoch: integer, valid: number, own: number, per_list: table<string, mr.Tensor> }
function M.outcome(run, test, fold, own)
  return { epoch = run.best.epoch, valid = run.best.metrics[own], own = run.test.mean[own],
    per_list = { own = run.scores[own], list = M.list_names(test, fold) } }
end

---Values for questions that the thesis' tables do not answer (optimizers, sampled expectations, stronger models); ours,
---not the thesis'. `value` is NSR 1 for ratings and relevance from label 1 for queries. `epochs` is the largest number
---of epochs. `patience`, for comparing optimizers, is the number of epochs without a better metric after which training
---ends.
M.beside = { value = 1, epochs = 60, patience = 10 }

---Chooses the learning rate (or its exponent) with the highest validation metric; the smallest of several with equal
---metrics; nil if `valid` is empty.
---@param valid table<number, number>  validation metric by learning rate or exponent
---@return number?
function M.choose(valid)
  local best
  for setting, value in pairs(valid) do
    if not best or value > valid[best] or value == valid[best] and setting < best then best = setting end
  end
  return best
end

---Learning rates to try with each optimizer, as exponents: a rate is 10^(exponent / 2) (`M.rate`). First powers of ten
---are tried, then the neighbours of the best (`M.steps`). SGD needs a wide grid, because gradients under bounds differ
---by orders of magnitude. The thesis says that Adam "requires little tuning for the learning rate" (section 4.3).
M.grids = { adam = { -6, -4, -2 }, sgd = { -6, -4, -2, 0, 2, 4, 6, 8 } }
M.steps = { -1, 1 }
function M.rate(exponent) return 10 ^ (exponent / 2) end

-- Section on statistics: all decisions are ours, because the thesis has no statistical tests -------------------------

---The seeds of splits, negatives and models under which claim.lua tests whether a bound is better than others.
M.seeds = { 1, 2, 3 }

---Compares two training methods by the values `a` and `b` of the same users or queries: mean change from `b` to `a`,
---p-value of a permutation test of signs, effect size `d` (mean change in its standard deviations), number of pairs
---`n`, and share of pairs where `a` wins.
---@param a number[]
---@param b number[]
---@return { change: number, p: number, d: number, n: integer, wins: number }
function M.compare(a, b)
  local test, effect = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.effect_size(a, b)
  return { change = test.mean_difference, p = test.p, d = effect.d, n = test.n, wins = effect.wins }
end

---Holm's correction of p-values. It is over all comparisons of a table, unless a script says otherwise.
M.correct = mr.stats.holm

---The level of significance. `M.side` returns 1 for a change that is significantly better at this level, -1 for one
---that is significantly worse, else 0.
M.level = 0.05
function M.side(change, p)
  if p < M.level then return change > 0 and 1 or -1 end
  return 0
end

---The verdict on the claim that a bound is better than all of several other bounds: "holds", "contradicted", "in the
---mean only" or "not shown". `count` has the number of other bounds (`of`), how many of them the bound is better than
---in the mean, and how many it is significantly better and worse than ("surely").
---@param count { of: integer, better: integer, surely_better: integer, surely_worse: integer }
function M.verdict(count)
  if count.surely_better == count.of then return "holds" end
  if count.surely_worse > 0 then return "contradicted" end
  return count.better == count.of and "in the mean only" or "not shown"
end

---Replaces the metric of lists without relevant rows, which is NaN: "skip" leaves NaN, so that means ignore the list;
---"zero" makes it 0, and "one" makes it 1.
---@param values number[]
---@param empty "skip"|"zero"|"one"
---@return number[]
function M.filled(values, empty)
  local found = {}
  for i, x in ipairs(values) do found[i] = (x == x or empty == "skip") and x or empty == "one" and 1.0 or 0.0 end
  return found
end

---The largest difference that counts as none: between our number and a printed one, or between the validation metric of
---a learning rate and that of the best rate. `M.near(difference)` is true up to this size.
M.close = 0.01
function M.near(difference) return math.abs(difference) <= M.close end

return M
