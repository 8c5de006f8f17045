-- The protocol of Westerborg (2022): every decision behind its numbers, as a function or a value that the scripts use.
-- Sections are those of the thesis. Where the thesis says nothing, the decision is this project's, and its comment says
-- "ours". docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = {}

-- Section on data sets: how they are split into parts, and which models rank them ------------------------------------

-- Ratings (4.1.1 to 4.3): matrix factorisation on users with at least 25 relevant items, in five random folds by user.
-- NSR irrelevant items are sampled per relevant one. Epochs and rates are ours; rates are chosen on the first fold.
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

-- Queries (4.1 to 4.3): a network with one hidden layer on the published folds. A document is relevant from a label on.
-- Queries without a relevant document stay, but have no metric. Standardising by the training part is ours.
local function of_queries(folds, features)
  return {
    setting = "label", values = { 2, 1 }, folds = #folds, epochs = 100, patience = 20, size = 46,
    sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number) return folds[number]:binarize(label):standardize() end,
    model = function(size, seed) return mr.models.mlp{ inputs = features, hidden = { size }, activation = "relu",
      seed = seed } end,
  }
end

-- Few, long lists (ours): minibatches of 4 queries, so that an epoch has about as many steps as on MQ2008.
local function of_long_lists(folds, features)
  local set = of_queries(folds, features)
  set.batch, set.rates = 4, { 0.001, 0.003, 0.01, 0.03 }
  return set
end

---Functions by name of the data set that make its protocol (thesis.Data) from ratings, or from folds of queries and the
---number of features of a document.
M.sets = { mslr = of_long_lists }
---MovieLens: ratings of 4 and higher are relevant (4.2).
function M.sets.movielens(ratings) return of_users(ratings:binarize(4)) end
---CiteULike (ours): the articles of a user's library are relevant; rates are chosen at NSR 1 only, to save time.
function M.sets.citeulike(ratings)
  local set = of_users(ratings:binarize(1))
  set.tuning_values = { 1 }
  return set
end
---MQ2008: 4.2 calls "items with the highest relevance rating" relevant. That may mean label 2, or each query's own
---highest label, which leaves no query without a relevant document. Labels 1 and the highest are nearest to Table 5.1.
function M.sets.mq2008(folds, features)
  local set = of_queries(folds, features)
  set.values, set.tuning_values = { 2, 1, "top_of_list" }, { 2, 1 }
  return set
end
---ClueWeb09 (ours): rates are chosen on all folds, because a fold has only about ten test queries.
function M.sets.clueweb(folds, features)
  local set = of_long_lists(folds, features)
  set.tuning = set.folds
  return set
end
---Share of training queries held out for validation where published folds have no validation part (ClueWeb09).
M.valid_share = 0.2

---Numbers that identify test lists, for comparisons list by list. A user has one number in all folds; a query is in one
---fold, whose number its own contains.
function M.list_names(test, fold)
  return test.users and test.users:double() or mr.arange(1, test.count) + 1000 * fold
end

-- Section on training: losses, bounds, how a model is trained, and what a run stores ---------------------------------

---The metric of each loss, which chooses its epochs and by which its models are judged (5.1).
M.metric_of = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)" }
---Recipes: "honest" chooses the epoch on validation; "published" on test, as the thesis may have done.
M.recipes = { "honest", "published" }
function M.chooser(recipe) return recipe == "published" and "test" or "valid" end
---Random rankings of each list shape that are sampled for the thesis' own distribution bound (4.3).
M.samples = 300000

---Makes a bound from its name. "distribution" is the thesis' own: sampled (4.3), with the steepness of Eq. 3.13, and
---shared by the three losses. "distribution_logit (beta 1)" is exact, against a ranker that is better than random.
function M.bound(name, samples)
  local form, beta = name:match "^distribution_?(%a*) %(beta (.+)%)$"
  if form then return mr.bounds.distribution_bound{ form = form == "" and "cdf" or form, beta = tonumber(beta) } end
  if name ~= "distribution" then return name end
  return mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = samples,
    also = { "ndcg", "ap", "nrbp_loss" } }
end

---Trains one model on a fold and tests it at the chosen epoch: 32 lists per step (4.1.1) unless the data set has its
---own `batch`, and Adam (4.3). The first of `o.metrics` chooses the epoch, unless `o.select` names others. `o` also has
---`loss`, `rate`, `seed`, `recipe`, and optionally `optimizer`, `model` or `size`, `epochs`, `patience`, `each_epoch`.
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

---What a run stores: the chosen epoch, the mean of the metric `own` on validation and on test, and its value for every
---test list with the number of the list.
function M.outcome(run, test, fold, own)
  return { epoch = run.best.epoch, valid = run.best.metrics[own], own = run.test.mean[own],
    per_list = { own = run.scores[own], list = M.list_names(test, fold) } }
end

---For questions beside the thesis' tables (ours): NSR 1 or labels from 1; largest number of epochs; epochs without a
---better metric after which training ends.
M.beside = { value = 1, epochs = 60, patience = 10 }
---The rate, or exponent, with the highest validation metric; the smallest of several; nil if there is none.
function M.choose(valid)
  local best
  for setting, value in pairs(valid) do
    if not best or value > valid[best] or value == valid[best] and setting < best then best = setting end
  end
  return best
end
---Rates to try with each optimizer, 10^(exponent / 2): powers of ten first, then neighbours of the best. SGD needs a
---wide grid, because gradients under bounds differ by orders of magnitude. Adam "requires little tuning" (4.3).
M.grids = { adam = { -6, -4, -2 }, sgd = { -6, -4, -2, 0, 2, 4, 6, 8 } }
M.steps = { -1, 1 }
function M.rate(exponent) return 10 ^ (exponent / 2) end

-- Section on statistics: all decisions are ours, because the thesis has no statistical tests -------------------------

---Seeds of splits, negatives and models under which claim.lua tests whether a bound is better than others.
M.seeds = { 1, 2, 3 }
---Compares values of the same users or queries: mean change from `b` to `a`, p-value of a permutation test of signs,
---effect size `d`, number of pairs `n`, and share of pairs where `a` wins.
function M.compare(a, b)
  local test, effect = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.effect_size(a, b)
  return { change = test.mean_difference, p = test.p, d = effect.d, n = test.n, wins = effect.wins }
end
---Holm's correction, over all comparisons of a table, unless a script says otherwise.
M.correct = mr.stats.holm
---Level of significance. `M.side` is 1 for a change that is significantly better, -1 for a worse one, else 0.
M.level = 0.05
function M.side(change, p)
  if p < M.level then return change > 0 and 1 or -1 end
  return 0
end
---The verdict on the claim that a bound is better than `of` others, of which it is `better` than some in the mean, and
---significantly better or worse than some.
function M.verdict(count)
  if count.surely_better == count.of then return "holds" end
  if count.surely_worse > 0 then return "contradicted" end
  return count.better == count.of and "in the mean only" or "not shown"
end
---What lists without relevant rows count as: "skip" leaves NaN, so that means ignore them; "zero" is 0, "one" is 1.
function M.filled(values, empty)
  local found = {}
  for i, x in ipairs(values) do found[i] = (x == x or empty == "skip") and x or empty == "one" and 1.0 or 0.0 end
  return found
end
---The largest difference that counts as none, from a printed number or from the best validation metric.
M.close = 0.01
function M.near(difference) return math.abs(difference) <= M.close end

return M
