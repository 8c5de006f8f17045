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

-- The losses of networks (3.1, 4.1). RankNet's loss is the mean over a list's pairs. DirectRanker's applies tanh before
-- the sigmoid. The classifier's is the cross entropy of documents.
local losses = {
  RankNet = function() return mr.losses.ranknet{ bound = "minmax" } end,
  DirectRanker = function() return mr.losses.direct_ranker{ bound = "minmax" } end,
  ["Class NN"] = function() return mr.losses.bce{} end,
}
---Recipes of networks: SGD at the paper's learning rate (4.1); SGD and Adam at the rate that is best on validation.
M.recipes = {
  paper = { title = "SGD, 0.001", optimiser = "sgd", rate = 0.001 },
  sgd = { title = "SGD, best rate", optimiser = "sgd", rates = { 0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0 } },
  adam = { title = "Adam, best rate", optimiser = "adam",
    rates = { 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1 } },
}
---Penalties of logistic regressions, from which validation chooses.
M.penalties = { 0.01, 0.1, 1, 10, 100, 1000, 10000 }

---Returns a system's name in tables, for example "Class RF", or "RankNet (Adam, best rate)" for a network and a recipe.
function M.title(name, recipe) return recipe and ("%s (%s)"):format(name, M.recipes[recipe].title) or name end

-- Systems in the order of Table 1: title, kind, name, recipe of a network (a name in M.recipes, and `by`, its fields),
-- and whether random numbers are used, so that there is a run for each seed. M.named has them by title.
M.systems, M.named = {}, {}
for _, line in ipairs{ { "ranking", "RankNet" }, { "ranking", "DirectRanker" }, { "ranking", "LambdaMART" },
  { "ranking", "Rank LR" }, { "classification", "Class NN" }, { "classification", "Class LR" },
  { "classification", "Class RF" }, { "classification", "Class Boost" } } do
  local kind, name = line[1], line[2]
  for _, recipe in ipairs(losses[name] and { "paper", "sgd", "adam" } or { false }) do
    local title = M.title(name, recipe)
    M.named[title] = { title = title, kind = kind, name = name, recipe = recipe or nil, by = M.recipes[recipe] or {},
      drawn = recipe and true or name == "Class RF" }
    M.systems[#M.systems + 1] = M.named[title]
  end
end

---Returns true if a learning rate is the smallest or the largest that is tried for a system.
function M.at_edge(system, rate)
  local tried = system.by.rates
  return tried ~= nil and (rate <= tried[1] or rate >= tried[#tried])
end

-- Trains a model with mr.fit (options `o`) and evaluates the test part at the epoch with the best validation nDCG@10.
local function fitted(o, fold)
  o.valid, o.test, o.metrics, o.progress = fold.valid, fold.test, { M.metric }, false
  local run = mr.fit(o)
  return { valid = run.best.metrics[M.metric], epoch = run.best.epoch, test = run.test, model = o.model }
end

---Trains a network with 100 and 30 hidden units, in steps of about 100 documents (4.1). A step has whole lists for
---pairwise losses, and single documents of any lists for the classifier. Every epoch is reported to `trial`.
---@param o { system: string, optimiser: "sgd"|"adam", rate: number, seed: integer, epochs: integer }
function M.fit_network(fold, o, trial)
  local documents = o.system == "Class NN"
  return fitted({
    model = mr.models.mlp{ inputs = fold.train.features:size(2), hidden = { 100, 30 }, activation = "relu",
      seed = o.seed },
    loss = losses[o.system](), train = documents and fold.train:pointwise() or fold.train,
    batch = documents and 100 or nil, batch_rows = not documents and 100 or nil,
    optimizer = mr.optim[o.optimiser]{ lr = o.rate }, epochs = o.epochs, seed = o.seed, trial = trial,
  }, fold)
end

---Returns options of a random forest: one round of deep trees, each trained on 63 % of the rows.
function M.forest(trees, depth, seed)
  return { rounds = 1, trees = trees, depth = depth, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = seed }
end
---Returns options of boosted trees.
function M.boosting(rounds, depth, seed) return { rounds = rounds, depth = depth, eta = 0.1, seed = seed } end

---Trains boosted trees of depth 5, as LambdaMART or as a classifier, or, for "Class RF", a forest of deep trees.
---@param o { system: string, seed: integer, rounds: integer, trees: integer }  rounds of boosting, trees of a forest
function M.fit_trees(fold, o)
  local options = o.system == "Class RF" and M.forest(o.trees, 12, o.seed) or M.boosting(o.rounds, 5, o.seed)
  if o.system ~= "LambdaMART" then options.objective = "binary:logistic" end
  local loss = o.system == "LambdaMART" and mr.losses.lambdarank{} or nil
  return fitted({ model = mr.models.trees(options), loss = loss, train = fold.train }, fold)
end

local function evaluated(model, part)
  return mr.evaluate(mr.data.scored(model, part).scores, part.lists, { M.metric })
end

---Fits a logistic regression of documents ("Class LR") or of pairs ("Rank LR") with each penalty, and returns the one
---with the best validation nDCG@10.
---@param o { system: string, penalties?: number[] }
function M.fit_regression(fold, o)
  local make, best = o.system == "Rank LR" and mr.models.rank_logistic_regression or mr.models.logistic_regression, nil
  for _, alpha in ipairs(o.penalties or M.penalties) do
    local model = make{ train = fold.train, alpha = alpha }
    local valid = evaluated(model, fold.valid).mean[M.metric]
    if not best or valid > best.valid then best = { valid = valid, alpha = alpha, model = model } end
  end
  best.test = evaluated(best.model, fold.test)
  return best
end

---Trains a system by its name on a fold. The result has `valid`, mean nDCG@10 on validation, `test`, an mr.Evaluation,
---the model, and the epoch, round or penalty `alpha` that validation chose.
---@param o table  the system's name (`system`) and options of M.fit_network, M.fit_trees or M.fit_regression
function M.fit(fold, o, trial)
  if losses[o.system] then return M.fit_network(fold, o, trial) end
  return o.system:find "LR$" and M.fit_regression(fold, o) or M.fit_trees(fold, o)
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
    if not known[key] then
      known[key] = { a = a, b = b }
      found[#found + 1] = known[key]
    end
    known[key][reason] = true
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

---Compares systems on all data sets, paired by query: mean difference, its bootstrap interval, and the p-value of a
---permutation test with 100,000 choices of signs. Holm's correction is over all comparisons together.
---@param sets { values: table<string, number[]>, valid: table<string, number> }[]  by title: test queries, validation
function M.compare(sets)
  local found, ps = {}, {}
  for _, data in ipairs(sets) do
    for _, each in ipairs(M.comparisons(data.valid)) do
      local a, b = data.values[each.a], data.values[each.b]
      local test, interval = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.bootstrap{ a, b }
      each.data, each.change, each.p, each.n = data, test.mean_difference, test.p, test.n
      each.low, each.high = interval.low, interval.high
      found[#found + 1], ps[#ps + 1] = each, test.p
    end
  end
  for i, p in ipairs(mr.stats.holm(ps)) do found[i].holm = p end
  return found
end

---True if a p-value, corrected for multiple tests, is below 0.05.
function M.significant(p) return p < 0.05 end

return M
