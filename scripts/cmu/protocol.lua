-- The protocol of Table 1 and Figure 1 of Li & Wu: how systems (rankers and classifiers) of web queries are trained and
-- compared. A comment names the section of the paper that a decision comes from; a decision without a section is ours.
-- The protocol of faces is in faces_protocol.lua.
local mr = require "moonrank"

-- The metric is nDCG@10 (4.1). Queries without relevant documents have no nDCG and are left out. Learning rates are
-- chosen on fold 1, with the first seed.
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

-- Trains a model with mr.fit (options `o`) and evaluates the test part at the epoch with the best validation nDCG@10.
local function fitted(o, fold)
  o.valid, o.test, o.metrics, o.progress = fold.valid, fold.test, { M.metric }, false
  local run = mr.fit(o)
  return { valid = run.best.metrics[M.metric], epoch = run.best.epoch, test = run.test, model = o.model }
end

-- Networks of 100 and 30 hidden units, in steps of about 100 documents (4.1): whole lists, or for classifiers single
-- documents of any lists.
local function network(loss, is_classifier)
  return function(fold, o, trial)
    return fitted({
      model = mr.models.mlp{ inputs = fold.train.features:size(2), hidden = { 100, 30 }, activation = "relu",
        seed = o.seed },
      loss = loss{ bound = not is_classifier and "minmax" or nil },
      train = is_classifier and fold.train:pointwise() or fold.train,
      batch = is_classifier and 100 or nil, batch_rows = not is_classifier and 100 or nil,
      optimizer = mr.optim[o.optimiser]{ lr = o.rate }, epochs = o.epochs, seed = o.seed, trial = trial,
    }, fold)
  end
end

---Returns options of a random forest: one round of deep trees, each trained on 63 % of the rows.
function M.forest(trees, depth, seed)
  return { rounds = 1, trees = trees, depth = depth, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = seed }
end
---Returns options of boosted trees.
function M.boosting(rounds, depth, seed) return { rounds = rounds, depth = depth, eta = 0.1, seed = seed } end

-- Trees: classifiers of documents, or rankers if there is a loss.
local function trees(options_of, loss)
  return function(fold, o)
    local options = options_of(o)
    options.objective = not loss and "binary:logistic" or nil
    return fitted({ model = mr.models.trees(options), loss = loss and loss{}, train = fold.train }, fold)
  end
end
local function forest(o) return M.forest(o.trees, 12, o.seed) end
local function boosting(o) return M.boosting(o.rounds, 5, o.seed) end

local function evaluated(model, part)
  return mr.evaluate(mr.data.scored(model, part).scores, part.lists, { M.metric })
end
-- Logistic regressions of documents or of pairs, with the penalty that has the best validation nDCG@10.
local function regression(make)
  return function(fold, o)
    local best
    for _, alpha in ipairs(o.penalties or M.penalties) do
      local model = make{ train = fold.train, alpha = alpha }
      local valid = evaluated(model, fold.valid).mean[M.metric]
      if not best or valid > best.valid then best = { valid = valid, alpha = alpha, model = model } end
    end
    best.test = evaluated(best.model, fold.test)
    return best
  end
end

-- The systems of Table 1 in its order. RankNet's loss is the mean over a list's pairs, DirectRanker's applies tanh
-- before the sigmoid, and that of the network that classifies is the cross entropy of documents (3.1, 4.1).
local all = {
  { "ranking", "RankNet", network(mr.losses.ranknet), recipes = { "paper", "sgd", "adam" } },
  { "ranking", "DirectRanker", network(mr.losses.direct_ranker), recipes = { "paper", "sgd", "adam" } },
  { "ranking", "LambdaMART", trees(boosting, mr.losses.lambdarank) },
  { "ranking", "Rank LR", regression(mr.models.rank_logistic_regression) },
  { "classification", "Class NN", network(mr.losses.bce, true), recipes = { "paper", "sgd", "adam" } },
  { "classification", "Class LR", regression(mr.models.logistic_regression) },
  { "classification", "Class RF", trees(forest), is_drawn = true },
  { "classification", "Class Boost", trees(boosting) },
}
local train = {}
for _, each in ipairs(all) do train[each[2]] = each[3] end

---Trains the system with the name `o.system` on a fold. `o` also has `seed`; of networks `optimiser`, `rate` and
---`epochs`; `rounds` of boosting; `trees` of the forest; and `penalties`, if not all are tried. The result has mean
---nDCG@10 on validation (`valid`), an mr.Evaluation (`test`), the model, and the `epoch`, round or penalty (`alpha`)
---that validation chose. A network reports every epoch to `trial`.
---@param trial? mr.Trial
function M.fit(fold, o, trial) return train[o.system](fold, o, trial) end

---Returns a system's name in tables, for example "Class RF", or "RankNet (Adam, best rate)" for a network and a recipe.
function M.title(name, recipe) return recipe and ("%s (%s)"):format(name, M.recipes[recipe].title) or name end

-- Rows of the table: title, kind, name, recipe of a network (`by` has its fields), and whether random numbers are used,
-- so that there is a run for each seed. M.named has them by title.
M.systems, M.named = {}, {}
for _, each in ipairs(all) do
  for _, recipe in ipairs(each.recipes or { false }) do
    local title = M.title(each[2], recipe)
    M.named[title] = { title = title, kind = each[1], name = each[2], recipe = recipe or nil,
      by = M.recipes[recipe] or {}, drawn = recipe and true or each.is_drawn or false }
    M.systems[#M.systems + 1] = M.named[title]
  end
end

---Returns true if a learning rate is the smallest or the largest that is tried for a system.
function M.at_edge(system, rate)
  local tried = system.by.rates
  return tried ~= nil and (rate <= tried[1] or rate >= tried[#tried])
end

-- Returns the title of the system of this kind with the best validation value. Networks trained at the paper's rate are
-- excluded.
local function best_of(kind, valid)
  local best
  for _, system in ipairs(M.systems) do
    local is_one = system.kind == kind and system.recipe ~= "paper"
    if is_one and (not best or valid[system.title] > valid[best]) then best = system.title end
  end
  return best
end

---Returns the pairs of systems to compare on a data set (4.1, 5), each with its reasons as fields that are true:
---"families" (a classifier with the ranker of its kind), "best" (the best classifier on validation with the best
---ranker), "Adam and sgd", and "Adam and paper". A pair with two reasons is one comparison.
---@param valid table<string, number>  validation value by title of the system
function M.comparisons(valid)
  local found, known = {}, {}
  local function add(reason, a, b)
    local key = a .. "\0" .. b
    local pair = known[key] or { a = a, b = b }
    found[#found + 1], known[key] = not known[key] and pair or nil, pair
    pair[reason] = true
  end
  for _, recipe in ipairs{ "paper", "sgd", "adam" } do
    add("families", M.title("Class NN", recipe), M.title("RankNet", recipe))
  end
  add("families", "Class LR", "Rank LR")
  add("families", "Class Boost", "LambdaMART")
  add("best", best_of("classification", valid), best_of("ranking", valid))
  for _, name in ipairs{ "RankNet", "DirectRanker", "Class NN" } do
    for _, recipe in ipairs{ "sgd", "paper" } do
      add("Adam and " .. recipe, M.title(name, "adam"), M.title(name, recipe))
    end
  end
  return found
end

---Compares systems on all data sets, paired by query. Holm's correction is over all comparisons together. The result
---has the fields of M.comparisons and of mr.experiment.paired, and the data set (`data`).
---@param sets { values: table<string, number[]>, valid: table<string, number> }[]  by title: test queries, validation
function M.compare(sets)
  local found, lists = {}, {}
  for _, data in ipairs(sets) do
    for _, each in ipairs(M.comparisons(data.valid)) do
      each.data = data
      found[#found + 1], lists[#lists + 1] = each, { data.values[each.a], data.values[each.b] }
    end
  end
  for i, test in ipairs(mr.experiment.paired(lists)) do
    for name, value in pairs(test) do found[i][name] = value end
  end
  return found
end

---True if a p-value, corrected for multiple tests, is below 0.05.
function M.significant(p) return p < 0.05 end

return M
