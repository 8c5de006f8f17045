-- How systems (rankers and classifiers) are trained and compared in our reproduction of Li & Wu: on web queries
-- (section 4.1), then on faces (section 4.2). A comment names the section of the paper that a decision comes from; a
-- decision without a section is ours.
local mr = require "moonrank"

local M = {}

-- Compares two systems (rankers or classifiers) from one metric value per query of each. Returns the mean
-- difference, its bootstrap interval, and the p-value of a paired permutation test with 100,000 random sign flips.
local function compared(a, b)
  local test, interval = mr.stats.permutation(a, b, { orders = 100000 }), mr.stats.bootstrap{ a, b }
  return { change = test.mean_difference, low = interval.low, high = interval.high, p = test.p, n = test.n }
end

---True if a p-value, corrected for multiple tests, is below 0.05.
function M.significant(p) return p < 0.05 end

-- Options of a random forest: one round of deep trees, each trained on 63 % of the rows.
local function forest(trees, depth, seed)
  return { rounds = 1, trees = trees, depth = depth, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33, seed = seed }
end
local function boosting(rounds, depth, seed) return { rounds = rounds, depth = depth, eta = 0.1, seed = seed } end

---Returns fold `number` of a data set of web queries. Labels of 2 and more count as relevant (section
---4.1); features are standardised by the training part.
---@param folds mr.Fold[]
---@return mr.Fold
function M.fold(folds, number) return folds[number]:binarize(2):standardize() end

---Returns one number per test query of a fold, under which the query's values are stored. Queries of
---different folds get different numbers.
---@param fold mr.Fold
---@param number integer  of the fold
function M.list_names(fold, number) return mr.arange(1, fold.test.count) + 10000 * number end

---The metric is nDCG@10 (section 4.1). Queries without relevant documents have no nDCG and are left out.
M.metric = "ndcg@10"

---Names of the systems (rankers and classifiers) of Table 1. `M.networks` are trained by gradient
---steps, `M.others` are trees and regressions. `M.drawn` are those of `M.others` that use random
---numbers.
M.networks = { "RankNet", "DirectRanker", "Class NN" }
M.others = { "LambdaMART", "Rank LR", "Class LR", "Class RF", "Class Boost" }
M.drawn = { "Class RF" }
---Recipes by which networks are trained: "paper" is SGD at the paper's learning rate (section 4.1).
---"sgd" and "adam" are SGD and Adam at the rate that is best on validation.
M.recipes = { "paper", "sgd", "adam" }
local recipe_text = { paper = "SGD, 0.001", sgd = "SGD, best rate", adam = "Adam, best rate" }

---Returns a system's (ranker's or classifier's) name in tables. A network's name is followed by its
---training recipe, e.g. "RankNet (Adam, best rate)".
---@param recipe? string  recipe of a network, among M.recipes
function M.title(name, recipe) return recipe and ("%s (%s)"):format(name, recipe_text[recipe]) or name end

-- The losses of networks (sections 3.1, 4.1), by the network's name. RankNet's loss is the mean over a list's pairs.
-- DirectRanker's applies tanh before the sigmoid. The classifier's is the cross entropy of documents.
local losses = {
  RankNet = function() return mr.losses.ranknet{ bound = "minmax" } end,
  DirectRanker = function() return mr.losses.direct_ranker{ bound = "minmax" } end,
  ["Class NN"] = function() return mr.losses.bce{} end,
}

---A trained system (ranker or classifier) with its results.
---@class cmu.Trained
---@field valid number          mean nDCG@10 on validation
---@field test mr.Evaluation    metric values on the test part
---@field epoch? integer        epoch of a network, or round of trees, that validation chose
---@field alpha? number         penalty of a logistic regression that validation chose
---@field model table

-- Trains a model with mr.fit (options `o`) and evaluates the test part at the epoch with the best validation
-- nDCG@10.
local function fitted(o, fold)
  o.valid, o.test, o.metrics, o.progress = fold.valid, fold.test, { M.metric }, false
  local run = mr.fit(o)
  return { valid = run.best.metrics[M.metric], epoch = run.best.epoch, test = run.test, model = o.model }
end

---Trains a network (`o.system` is a name in M.networks) with 100 and 30 hidden units, in steps of about
---100 documents (section 4.1). A step has whole lists for pairwise losses, and single documents of any
---lists for the classifier.
---@param fold mr.Fold
---@param o { system: string, optimiser: "sgd"|"adam", rate: number, seed: integer, epochs: integer }
---@param trial? mr.Trial  trial of a sweep, to which every epoch is reported
---@return cmu.Trained
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

---Trains boosted trees of depth 5, as LambdaMART or as a classifier, or, for "Class RF", a random
---forest of deep trees. `o.system` is the name in Table 1. `o.rounds` is the number of boosting rounds,
---`o.trees` the number of trees of the forest.
---@param fold mr.Fold
---@param o { system: string, seed: integer, rounds: integer, trees: integer }
---@return cmu.Trained
function M.fit_trees(fold, o)
  local options = o.system == "Class RF" and forest(o.trees, 12, o.seed) or boosting(o.rounds, 5, o.seed)
  if o.system ~= "LambdaMART" then options.objective = "binary:logistic" end
  local loss = o.system == "LambdaMART" and mr.losses.lambdarank{} or nil
  return fitted({ model = mr.models.trees(options), loss = loss, train = fold.train }, fold)
end

-- Returns the mean nDCG@10 of a model on one part of a fold.
local function measured(model, part)
  local batch = part:batches{ size = part.count }()
  local scores = mr.no_grad(function() return model(batch) end)
  return mr.stats.mean(mr.metrics.parse(M.metric)(scores, batch.lists))
end

---Penalties of logistic regressions, from which validation chooses.
M.penalties = { 0.01, 0.1, 1, 10, 100, 1000, 10000 }

---Fits a logistic regression of documents ("Class LR") or of pairs ("Rank LR") with each penalty, and
---returns the one with the best validation nDCG@10. mr.fit with zero epochs only evaluates the test
---part.
---@param fold mr.Fold
---@param o { system: string, penalties?: number[] }
---@return cmu.Trained
function M.fit_regression(fold, o)
  local make, best = o.system == "Rank LR" and mr.models.rank_logistic_regression or mr.models.logistic_regression, nil
  for _, alpha in ipairs(o.penalties or M.penalties) do
    local model = make{ train = fold.train, alpha = alpha }
    local run = mr.fit{ model = model, loss = mr.losses.bce{}, train = fold.train, valid = fold.valid,
      test = fold.test, epochs = 0, metrics = { M.metric }, progress = false }
    local valid = measured(model, fold.valid)
    if not best or valid > best.valid then best = { test = run.test, valid = valid, alpha = alpha, model = model } end
  end
  return best
end

---Trains any system of Table 1 on a fold. `o` has the system's name (`o.system`) and the options of
---M.fit_network, M.fit_regression or M.fit_trees. A network reports to `trial`, the trial of a sweep,
---after every epoch.
---@return cmu.Trained
function M.fit(fold, o, trial)
  if losses[o.system] then return M.fit_network(fold, o, trial) end
  if o.system:find "LR$" then return M.fit_regression(fold, o) end
  return M.fit_trees(fold, o)
end

-- The learning rate of stochastic gradient descent in the paper (section 4.1).
local paper_rate = 0.001
---Optimizers whose learning rate is chosen on validation. `M.rates` has the rates that are tried with each optimizer.
M.optimisers = { "sgd", "adam" }
M.rates = {
  sgd = { 0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0 },
  adam = { 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1 },
}

---Returns the fold and the seed on which learning rates are chosen: fold 1 and the first of `seeds`.
function M.tuned_on(seeds) return 1, seeds[1] end

---Calls `train`. If training diverges (its loss is NaN or infinite), returns a validation value of 0 instead of the
---error.
---@param train fun(): { valid: number }
function M.or_diverged(train)
  local ok, found = pcall(train)
  if ok then return found end
  local message = tostring(found)
  if message:find "mr.fit: the loss is" or message:find "mr.fit: there is NaN" then return { valid = 0 } end
  error(found, 0)
end

---Returns the learning rate with the best validation value for each network and optimizer, by keys such
---as "RankNet adam". `at_edge` is true for a key whose best rate is the smallest or largest that was
---tried. `trials` are training runs, each with one rate.
---@param trials { system: string, optimiser: string, rate: number, valid: number }[]
---@return table<string, number> best, table<string, boolean> at_edge
function M.best_rates(trials)
  local highest, best, at_edge = {}, {}, {}
  for _, trial in ipairs(trials) do
    local key = trial.system .. " " .. trial.optimiser
    if not best[key] or trial.valid > highest[key] then
      local tried = M.rates[trial.optimiser]
      best[key], highest[key] = trial.rate, trial.valid
      at_edge[key] = trial.rate <= tried[1] or trial.rate >= tried[#tried]
    end
  end
  return best, at_edge
end

---Returns the optimizer and learning rate of a network under a training recipe. For "paper" they are
---SGD and the paper's rate. For "sgd" or "adam", the rate is the one that was best on validation.
---@param best table<string, number>  best rate by network and optimizer, as from M.best_rates
function M.trained_by(recipe, system, best)
  if recipe == "paper" then return "sgd", paper_rate end
  return recipe, best[system .. " " .. recipe]
end

-- Returns the title of the system of this kind ("classification" or "ranking") with the best validation value in
-- `valid`. Networks trained at the paper's rate are excluded.
local function best_of(systems, kind, valid)
  local best
  for _, system in ipairs(systems) do
    local title = M.title(system.name, system.recipe)
    local better = not best or valid[title] > valid[best]
    if system.kind == kind and system.recipe ~= "paper" and better then best = title end
  end
  return best
end

---Returns the pairs of systems (rankers, classifiers) to compare on a data set, each with its reasons
---as fields that are true (sections 4.1, 5). Reasons are "families" (a classifier with the ranker of
---its kind), "best" (the best classifier on validation with the best ranker), "Adam and sgd", and "Adam
---and paper". A pair with two reasons is one comparison.
---@param systems { kind: string, name: string, recipe?: string }[]
---@param valid table<string, number>  validation value by title of the system
---@return { a: string, b: string, [string]: true }[]
function M.comparisons(systems, valid)
  local found, known = {}, {}
  local function add(reason, a, b)
    local key = a .. "\0" .. b
    if not known[key] then
      known[key] = { a = a, b = b }
      found[#found + 1] = known[key]
    end
    known[key][reason] = true
  end
  for _, recipe in ipairs(M.recipes) do add("families", M.title("Class NN", recipe), M.title("RankNet", recipe)) end
  add("families", "Class LR", "Rank LR")
  add("families", "Class Boost", "LambdaMART")
  add("best", best_of(systems, "classification", valid), best_of(systems, "ranking", valid))
  for _, name in ipairs(M.networks) do
    for _, recipe in ipairs{ "sgd", "paper" } do
      add("Adam and " .. recipe, M.title(name, "adam"), M.title(name, recipe))
    end
  end
  return found
end

---Compares systems (rankers, classifiers) on all data sets, paired by query. Holm's correction is over
---all comparisons together. `sets` has one element per data set. By title of the system, its `values`
---are the metric of each test query, and `valid` is the mean on validation.
---@param systems { kind: string, name: string, recipe?: string }[]
---@param sets { values: table<string, number[]>, valid: table<string, number> }[]
function M.compare(systems, sets)
  local found, ps = {}, {}
  for _, data in ipairs(sets) do
    for _, each in ipairs(M.comparisons(systems, data.valid)) do
      for name, value in pairs(compared(data.values[each.a], data.values[each.b])) do each[name] = value end
      each.data, found[#found + 1], ps[#ps + 1] = data, each, each.p
    end
  end
  for i, p in ipairs(mr.stats.holm(ps)) do found[i].holm = p end
  return found
end

-- The code below is on faces (section 4.2 of the paper): how images are split, and how models that tell which of two
-- faces is older are trained and measured.

---Splits the images into 65 % train, 15 % validation and 20 % test, before pairs are drawn (section 4.2).
---@return mr.Images train, mr.Images valid, mr.Images test
function M.face_parts(images, seed) return images:split{ valid = 0.15, test = 0.2, seed = seed } end

---Returns the features of every part, standardised by the mean and standard deviation of the training
---images.
---@param parts mr.Images[]  training images first
---@param features mr.Tensor[]
function M.standardised(parts, features)
  local scaling, found = mr.data.dataset{ lists = parts[1]:items().lists, features = features[1] }:scaling(), {}
  for i, x in ipairs(features) do found[i] = ((x:double() - scaling.mean) / scaling.sd):float() end
  return found
end

---Returns features of images from an untrained network with fixed random weights. It has two
---convolutions, of 24 and 48 filters of at most 3 x 3, each followed by ReLU and 2 x 2 max pooling.
---@param images mr.Images
---@param kernel integer  side of the filters; more than 3 counts as 3
---@return mr.Tensor
function M.random_features(images, kernel)
  local side = math.min(3, kernel)
  local function weights(outputs, inputs, stream)
    return mr.normal({ outputs, inputs, side, side },
      { sd = math.sqrt(2 / (inputs * side ^ 2)), seed = 1, stream = stream })
  end
  local first, second, parts = weights(24, images.images:size(2), "first"), weights(48, 24, "second"), {}
  for at = 1, images.count, 256 do
    local x = images.images:narrow(1, at, math.min(256, images.count - at + 1)) - 0.5
    x = x:conv2d(first):relu():max_pool(2):conv2d(second):relu():max_pool(2)
    parts[#parts + 1] = x:reshape(#x, x:numel() // #x)
  end
  return mr.cat(parts, 1)
end

local shares = { train = 9, valid = 1, test = 2 }  -- each part's share of the pairs, in twelfths

---Draws pairs of images of one part, whose ages differ by more than five years (section 4.2). `o.pairs`
---is the number of pairs over all parts; `o.features` has the features of the part's images.
---@param images mr.Images
---@param o { part: "train"|"valid"|"test", pairs: integer, seed: integer, features: mr.Tensor }
function M.face_pairs(images, o)
  return images:comparisons{ pairs = o.pairs * shares[o.part] // 12, margin = 5, seed = o.seed, features = o.features }
end

---Trains a model on faces. Accuracy on the validation pairs chooses the epoch or boosting round. `o`
---has options of mr.fit (`model`, `train`, `loss`). With a learning rate `o.rate`, training is gradient
---descent in minibatches of 100 rows (section 4.2).
---@param o table
---@param data table  data of one seed, as from M.data in faces.lua
---@param trial mr.Trial
function M.fit_face(o, data, trial)
  local rate = o.rate
  o.rate, o.valid, o.metrics, o.progress, o.trial = nil, data.valid.pairs, { "auc" }, false, trial
  if rate then
    o.optimizer, o.batch, o.seed, o.epochs = mr.optim.sgd{ lr = rate }, 100, trial.split, o.epochs or data.epochs
  end
  mr.fit(o)
  return o.model
end

---Regression networks predict a person's age divided by this number.
M.oldest = 80

---Returns the images of a part as a dataset whose grades are ages divided by `M.oldest`, which
---regression networks predict.
---@param items mr.Dataset  with ages as grades
---@return mr.Dataset
function M.aged(items)
  return mr.data.dataset{ lists = items.lists:with_relevance(items.lists.relevance * (1 / M.oldest)),
    features = items.features }
end

---Returns the number of epochs of networks that predict ages. It is larger than that of networks
---trained on pairs, because an epoch of images has fewer steps.
---@param epochs integer  epochs of networks trained on pairs
function M.image_epochs(epochs) return 6 * epochs end

---Fits a lasso regression of ages. `items` are the training images with ages as grades.
---@param items mr.Dataset
function M.lasso(items, penalty)
  return mr.models.lasso{ train = items, alpha = penalty, tolerance = 1e-4, passes = 1000 }
end
---Fits a ridge regression of ages. The penalty is multiplied by 1000, so that lasso and ridge can share
---one grid of penalties.
function M.ridge(items, penalty) return mr.models.ridge{ train = items, alpha = 1000 * penalty } end

---Makes a tree model that predicts ages or classifies images: a forest of 100 trees (`o.forest`), or
---100 rounds of boosting. `o.objective` is the name of XGBoost's loss.
---@param o { forest: boolean, objective: string, depth: integer, seed: integer }
function M.face_trees(o)
  local options = o.forest and forest(100, o.depth, o.seed) or boosting(100, o.depth, o.seed)
  options.objective = o.objective
  return mr.models.trees(options)
end

-- Returns the scores of the older images and the scores of the younger images of pairs, each as a tensor [pairs].
local function by_age(scores, pairs)
  local rows = scores:rows(pairs.items):reshape(pairs.count, 2)
  local first_older = pairs.lists.relevance:reshape(pairs.count, 2):narrow(2, 1, 1):reshape(pairs.count)
  local first, second = rows:narrow(2, 1, 1):reshape(pairs.count), rows:narrow(2, 2, 1):reshape(pairs.count)
  return first_older:where(first, second), first_older:where(second, first)
end

-- Returns the share of pairs of a part whose older image has the larger score (ties count half), then the scores of
-- older and of younger images. score(part) returns a score for each image.
local function accuracy(score, part)
  local older, younger = by_age(score(part), part.pairs)
  return (older:gt(younger):double() + older:eq(younger):double() * 0.5):mean():item(), older, younger
end

---Measures a system (a trained model) on pairs of faces (section 4.2). `accuracy` is the share of test
---pairs that it orders by age correctly; `valid` is that of the validation pairs and chooses settings.
---A classifier also has `both`: the share of test pairs whose older image it labels 1 and whose younger
---image 0. A regression also has `r2`, the R^2 of ages. The second result is, per test pair, the older
---image's score minus the younger's.
---@param family "regression"|"ranking"|"classification"
---@param score fun(part: table): mr.Tensor  a score for each image of a part
---@param data table  parts of the images: train, valid and test
---@param years? number  what a regression's score of 1 means (default 1)
function M.judge(family, score, data, years)
  local found = { valid = (accuracy(score, data.valid)) }
  local older, younger
  found.accuracy, older, younger = accuracy(score, data.test)
  if family == "classification" then
    found.both = (older:gt(0):double() * younger:le(0):double()):mean():item()
  elseif family == "regression" then
    found.r2 = mr.stats.r2(score(data.test):double() * (years or 1), data.test.images.labels)
  end
  return found, older - younger
end

---Returns the training run with the largest accuracy on validation pairs; among equal runs the first.
---@param runs { values: { valid: number } }[]
function M.choose(runs)
  local best
  for _, run in ipairs(runs) do
    if not best or run.values.valid > best.values.valid then best = run end
  end
  return best
end

return M
