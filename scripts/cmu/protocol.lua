-- The protocol of Table 1 and Figure 1 of Li & Wu: how systems (rankers and classifiers) of web queries are trained. A
-- comment names the section of the paper that a decision comes from; a decision without a section is ours. beside.lua
-- has the comparisons of the systems, faces_protocol.lua the protocol of faces.
local mr = require "moonrank"

-- The metric is nDCG@10 (section 4.1 of Li & Wu). Queries without relevant documents have no nDCG and are left out.
-- Learning rates are chosen on fold 1, with the first seed.
local M = { metric = "ndcg@10", tuned_on = 1 }

---Returns fold `number` of a data set of web queries. Labels of 2 and more are relevant (4.1); features are
---standardised by the training part.
function M.fold(folds, number) return folds[number]:binarize(2):standardize() end

---Returns a number for each test query of a fold, under which runs store its values; folds have different numbers.
function M.list_names(fold, number) return mr.arange(1, fold.test.count) + 10000 * number end

---Recipes of networks: SGD at the paper's learning rate (4.1); SGD and Adam at the rate that is best on validation.
M.recipes = {
  paper = { title = "SGD, 0.001", optimiser = "sgd", rate = 0.001 },
  sgd = { title = "SGD, best rate", optimiser = "sgd", rates = { 0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0 } },
  adam = { title = "Adam, best rate", optimiser = "adam",
    rates = { 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1 } },
}
---Penalties of logistic regressions, from which validation chooses.
M.penalties = { 0.01, 0.1, 1, 10, 100, 1000, 10000 }

-- Trains a model with mr.fit and tests it at the epoch or round with the best validation nDCG@10.
local function fitted(fold, o)
  o.valid, o.test, o.metrics, o.progress = fold.valid, fold.test, { M.metric }, false
  local run = mr.fit(o)
  return { valid = run.best.metrics[M.metric], epoch = run.best.epoch, test = run.test, model = o.model }
end

-- Trains a network with hidden layers of 100 and 30 units (4.1). A step takes about 100 documents: those of whole lists
-- for a ranker, of any lists for a classifier. A ranker's loss of a list is the mean over its pairs (bound minmax).
local function network(fold, o, system, trial)
  local ranks = system.kind == "ranking"
  return fitted(fold, {
    model = mr.models.mlp{ inputs = fold.train.features:size(2), hidden = { 100, 30 }, activation = "relu",
      seed = o.seed },
    loss = system.loss{ bound = ranks and "minmax" or nil }, train = ranks and fold.train or fold.train:pointwise(),
    batch_rows = 100, optimizer = mr.optim[o.optimiser]{ lr = o.rate }, epochs = o.epochs, seed = o.seed,
    trial = trial })
end

---Returns options of a random forest: one round of deep trees, each trained on 63 % of the rows.
function M.forest(trees, depth, seed)
  return { rounds = 1, trees = trees, depth = depth, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = seed }
end
---Returns options of boosted trees.
function M.boosting(rounds, depth, seed) return { rounds = rounds, depth = depth, eta = 0.1, seed = seed } end

-- Trains tree ensembles: a ranker if a ranking loss is given, else a classifier of single documents.
local function trees(fold, options, loss)
  options.objective = not loss and "binary:logistic" or nil
  return fitted(fold, { model = mr.models.trees(options), loss = loss and loss{}, train = fold.train })
end
local function forest(fold, o) return trees(fold, M.forest(o.trees, 12, o.seed)) end
local function boosting(fold, o, system) return trees(fold, M.boosting(o.rounds, 5, o.seed), system.loss) end

-- Fits logistic regressions, of documents or of pairs, and returns the one whose penalty is the best by validation.
local function regression(fold, o, system)
  local best
  local function evaluated(model, part)
    return mr.evaluate(mr.data.scored(model, part).scores, part.lists, { M.metric })
  end
  for _, alpha in ipairs(o.penalties or M.penalties) do
    local model = system.make{ train = fold.train, alpha = alpha }
    local valid = evaluated(model, fold.valid).mean[M.metric]
    if not best or valid > best.valid then best = { valid = valid, alpha = alpha, model = model } end
  end
  best.test = evaluated(best.model, fold.test)
  return best
end

-- The systems (rankers and classifiers) of Table 1, in its order. The loss of DirectRanker applies tanh before the
-- sigmoid (3.1). The network that classifies has the cross entropy of single documents as its loss (4.1).
local all = {
  { kind = "ranking", name = "RankNet", train = network, loss = mr.losses.ranknet },
  { kind = "ranking", name = "DirectRanker", train = network, loss = mr.losses.direct_ranker },
  { kind = "ranking", name = "LambdaMART", train = boosting, loss = mr.losses.lambdarank },
  { kind = "ranking", name = "Rank LR", train = regression, make = mr.models.rank_logistic_regression },
  { kind = "classification", name = "Class NN", train = network, loss = mr.losses.bce },
  { kind = "classification", name = "Class LR", train = regression, make = mr.models.logistic_regression },
  { kind = "classification", name = "Class RF", train = forest },
  { kind = "classification", name = "Class Boost", train = boosting },
}

---Returns a system's name in tables, for example "Class RF", or "RankNet (Adam, best rate)" for a network and a recipe.
function M.title(name, recipe) return recipe and ("%s (%s)"):format(name, M.recipes[recipe].title) or name end

-- M.systems has a record for each row of Table 1; a network has a row for each recipe (optimizer and learning rates).
-- Fields: the row's title, the system's kind and name, the recipe's name and fields (`by`), and `drawn`: whether
-- training uses random numbers, so that each seed has a run. M.named has the same records by title.
M.systems, M.named = {}, {}
local by_name = {}
for _, each in ipairs(all) do
  by_name[each.name] = each
  for _, recipe in ipairs(each.train == network and { "paper", "sgd", "adam" } or { false }) do
    local system = { title = M.title(each.name, recipe), kind = each.kind, name = each.name, recipe = recipe or nil,
      by = M.recipes[recipe] or {}, drawn = each.train == network or each.train == forest }
    M.systems[#M.systems + 1], M.named[system.title] = system, system
  end
end

---Trains the system with the name `o.system` on a fold. `o` also has `seed`; of networks `optimiser`, `rate` and
---`epochs`; `rounds` of boosting; `trees` of the forest; and `penalties`, if not all are tried. The result has mean
---nDCG@10 on validation (`valid`), an mr.Evaluation (`test`), the model, and the `epoch`, round or penalty (`alpha`)
---that validation chose. A network reports every epoch to `trial`.
---@param trial? mr.Trial
function M.fit(fold, o, trial) return by_name[o.system].train(fold, o, by_name[o.system], trial) end

---Returns true if a learning rate is the smallest or the largest that is tried for a system.
function M.at_edge(system, rate)
  local tried = system.by.rates
  return tried ~= nil and (rate <= tried[1] or rate >= tried[#tried])
end

return M
