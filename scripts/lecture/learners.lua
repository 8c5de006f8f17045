-- The training runs of the losses of the lecture's second half, kept in a store. Every loss is trained at every
-- learning rate and weight decay on the first fold, then on all folds at the settings that validation chose. The
-- model is matrix factorisation for MovieLens, and a network with one hidden layer or trees for MQ2008
-- (protocol.lua).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, data = mr.experiment, dofile(here .. "data.lua")
local protocol = dofile(here .. "protocol.lua")

local M = { sets = { "movielens", "mq2008" }, protocol = protocol }

---A method of ranking that the table compares: a loss with the model that it trains, or a model without
---training.
---@class lecture.Learner
---@field name string
---@field family string  "untrained", "pointwise", "pairwise", "listwise" or "trees"
---@field loss? fun(): mr.Loss  makes the loss; nil if nothing is trained
---@field model? "cml"|"trees"|"popularity"|"item_knn"|"random"  default: the model that fits the data set
---@field on? string  the only data set on which this learner runs

-- All learners: losses with the models that they train, and models without training. WARP draws at most 20 rows for
-- each relevant row: once most pairs are in order, most further draws are wasted and would take most of the time.
-- NeuralNDCG runs on MQ2008 alone, because its time grows with the square of a list's rows and MovieLens has lists
-- of thousands of rows.
---@type lecture.Learner[]
M.learners = {
  { name = "random", family = "untrained", model = "random" },
  { name = "popularity", family = "untrained", model = "popularity", on = "movielens" },
  { name = "item kNN", family = "untrained", model = "item_knn", on = "movielens" },
  { name = "squared error", family = "pointwise", loss = mr.losses.mse },
  { name = "cross entropy", family = "pointwise", loss = mr.losses.bce },
  { name = "RankNet", family = "pairwise", loss = mr.losses.ranknet },
  { name = "LambdaRank", family = "pairwise", loss = mr.losses.lambdarank },
  { name = "BPR", family = "pairwise", loss = mr.losses.bpr },
  { name = "hinge", family = "pairwise", loss = mr.losses.hinge },
  { name = "hinge of distances (CML)", family = "pairwise", loss = mr.losses.hinge, model = "cml", on = "movielens" },
  { name = "WARP", family = "pairwise", loss = function() return mr.losses.warp{ trials = 20 } end },
  { name = "ListNet", family = "listwise", loss = mr.losses.listnet },
  { name = "ListMLE", family = "listwise", loss = mr.losses.listmle },
  { name = "smooth nDCG", family = "listwise", loss = mr.losses.ndcg },
  { name = "smooth AP", family = "listwise", loss = mr.losses.ap },
  { name = "NeuralNDCG", family = "listwise", loss = mr.losses.neural_ndcg, on = "mq2008" },
  { name = "LambdaMART", family = "trees", loss = mr.losses.lambdarank, model = "trees", on = "mq2008" },
}
local by_name = {}
for _, each in ipairs(M.learners) do by_name[each.name] = each end

---Returns the learners (losses with their models) for a data set: those named by --losses, those that
---need no training, and the reference (squared error).
---@return lecture.Learner[]
function M.of(args, set)
  local of, asked = {}, { [protocol.reference] = true }
  for _, name in ipairs(args.losses) do asked[name] = true end
  for _, each in ipairs(M.learners) do
    if (not each.on or each.on == set) and (not each.loss or asked[each.name]) then of[#of + 1] = each end
  end
  return of
end

-- Returns the names of the learners that are trained on a data set. With `own`, learners that have a model of their
-- own, such as trees, are left out; the rest train the data set's usual model.
local function trained(args, set, own)
  local names = {}
  for _, each in ipairs(M.of(args, set)) do
    if each.loss and not (own and each.model) then names[#names + 1] = each.name end
  end
  return names
end

---Parses the command line of a script that uses these training runs: its own options `own`, options of
---the store (mr.experiment.args), --losses and --folds.
function M.args(own)
  local names = {}
  for _, each in ipairs(M.learners) do names[#names + 1] = each.loss and each.name end
  own.losses = { default = names, choices = names,
    help = "which losses are trained, beside squared error; another choice takes another store" }
  own.folds = { default = protocol.folds, least = 1, most = protocol.folds,
    help = "how many of the five folds are run" }
  return experiment.args(own, { document = "lecture", smoke = { folds = 1 } })
end

local opened = experiment.cache()

-- Opens a data set ("movielens" or "mq2008"); later calls return the same object. It has the title, the number of
-- folds, a function that makes a fold, and the kind of model to train.
local function open(args, set)
  if opened[set] then return opened[set] end
  local made = {}
  if set == "movielens" then
    local ratings, title = data.ratings(args)
    ratings = protocol.liked(ratings, args.smoke)
    made.title, made.folds, made.kind = title, args.smoke and 1 or protocol.folds, "mf"
    made.fold = function(number, seed) return protocol.liked_fold(ratings, number, seed) end
  else
    local folds, title = data.queries(args)
    made.title, made.folds, made.kind = title, args.smoke and 1 or #folds, "mlp"
    made.fold = function(number) return protocol.query_fold(folds, number) end
  end
  opened[set] = made
  return made
end

---Returns the title of a data set ("movielens" or "mq2008"), and how many of its folds are run.
function M.describe(args, set)
  local of = open(args, set)
  return of.title, math.min(args.folds, of.folds)
end

local function model_of(args, each, set, fold, trial, seed)
  local kind, features = each.model or open(args, set).kind, fold.train.features
  if kind == "random" then return function(batch) return mr.uniform({ batch.lists.rows }, { seed = seed }) end end
  if each.family == "untrained" then return mr.models[kind]{ fold = fold } end
  return protocol.model(kind, { users = fold.users, items = fold.items, inputs = features and features:size(2),
    eta = kind == "trees" and trial.eta or nil, seed = seed, short = args.smoke })
end

-- Returns the metrics of every list of the test part (`values`), with the number of its user or query. On MovieLens,
-- nDCG@10 of a ranking of all items is added as `catalogue`.
local function per_list(set, model, fold, number, values)
  local test, lists = fold.test, {}
  for _, name in ipairs(protocol.metrics) do lists[name] = values[name] end
  lists.list = test.users and test.users:double() or mr.arange(1, test.count) + 1000 * number
  if set == "movielens" then lists.catalogue = protocol.catalogue(fold, model) end
  return lists
end

-- Trains a learner `each` on a fold, with the learning rate and weight decay in `trial`. With `test`, the test part
-- is scored at the end.
local function train(args, set, each, model, fold, trial, seed, test)
  return protocol.fit(set, fold, {
    model = model,
    kind = each.model,
    loss = each.loss(),
    at = trial,
    seed = seed,
    test = test,
    short = args.smoke })
end

---Returns the study (a set of stored training runs) that tries learning rates and weight decays of
---every trained learner (a loss with its model) on the first fold. Missing runs are made.
---@return mr.Results
function M.rates(args, set, seed)
  local rates = mr.choice(protocol.training[set].rates)
  local space = { learner = mr.choice(trained(args, set)) }
  for _, each in ipairs(M.of(args, set)) do
    if each.model == "trees" then
      space[#space + 1] = mr.when("learner", each.name, { eta = mr.choice(protocol.etas) })
    end
    if each.model == "cml" then space[#space + 1] = mr.when("learner", each.name, { rate = rates }) end
  end
  space[#space + 1] = mr.when("learner", trained(args, set, true), { rate = rates, decay = mr.choice(protocol.decays) })
  return experiment.study(args, {
    name = ("families, rates on %s, seed %d"):format(set, seed), settings = protocol.training[set],
    space = space,
    run = function(trial)
      local each, fold = by_name[trial.learner], open(args, set).fold(protocol.tuned_on, seed)
      local run = train(args, set, each, model_of(args, each, set, fold, trial, seed), fold, trial, seed)
      return { valid = run.best.metrics[protocol.metrics[1]] }
    end,
  })
end

---Returns, by name of the learner, the settings that validation chose: learning rate, weight decay and,
---for trees, eta. `valid` is the validation value.
---@return table<string, { rate?: number, decay?: number, eta?: number, valid: number }>
function M.chosen(args, set, seed)
  local columns, trials = M.rates(args, set, seed):columns(), {}
  local learner, valid = columns:column("runs", "learner"), columns:column("runs", "valid")
  for i, row in ipairs(columns:rows("runs", {})) do
    trials[i] = { key = learner[row], valid = valid[row] }
    for _, name in ipairs{ "rate", "decay", "eta" } do
      local known, values = pcall(columns.column, columns, "runs", name)
      local value = known and values[row]
      trials[i][name] = type(value) == "number" and value == value and value or nil
    end
  end
  return protocol.choose(trials)
end

-- Returns the study (a set of stored training runs) with every trained learner on every fold, at the settings chosen
-- on the first fold. Missing runs are made.
local function runs(args, set, seed)
  local best, of, parts = M.chosen(args, set, seed), open(args, set), {}
  for _, name in ipairs(trained(args, set)) do
    local b = best[name]
    parts[#parts + 1] = ("%s %s %s %s"):format(name, b.rate or "-", b.decay or "-", b.eta or "-")
  end
  return experiment.study(args, {
    name = ("families on %s, seed %d"):format(set, seed),
    settings = { epochs = protocol.training[set].epochs, every = protocol.training[set].every,
      chosen = table.concat(parts, ", ") },
    space = { learner = mr.choice(trained(args, set)), split = mr.range(1, math.min(args.folds, of.folds)) },
    run = function(trial)
      local each, fold, chosen = by_name[trial.learner], of.fold(trial.split, seed), best[trial.learner]
      local model = model_of(args, each, set, fold, chosen, seed)
      local trained_run = train(args, set, each, model, fold, chosen, seed, true)
      local result = { valid = trained_run.best.metrics[protocol.metrics[1]],
        per_list = per_list(set, model, fold, trial.split, trained_run.scores) }
      for _, name in ipairs(protocol.metrics) do result[name] = trained_run.test.mean[name] end
      return result
    end,
  })
end

-- Returns, for a learner without training such as popularity, the metrics of every test list of all folds, by name
-- of the metric.
local function untrained(args, set, seed, each)
  local all = {}
  for number = 1, math.min(args.folds, open(args, set).folds) do
    local fold = open(args, set).fold(number, seed)
    local model, test = model_of(args, each, set, fold, {}, seed), fold.test
    local scores_of = model{ lists = test.lists, users = test.users or nil, items = test.items or nil }
    for name, values in pairs(per_list(set, model, fold, number,
      mr.evaluate(scores_of, test.lists, protocol.metrics))) do
      all[name] = all[name] or {}
      table.move(values:totable(), 1, #values, #all[name] + 1, all[name])
    end
  end
  return all
end

---Returns a function values(name, metric) that returns the test values of the learner `name`. For
---MovieLens they are the mean of each user over folds, for MQ2008 the value of each query.
---@return fun(name: string, metric: string): number[] values
function M.values(args, set, seed)
  local results, kept = runs(args, set, seed), {}
  return function(name, metric)
    if by_name[name].loss then return experiment.by_list({ results }, { learner = name }, metric) end
    kept[name] = kept[name] or untrained(args, set, seed, by_name[name])
    return experiment.means_by(kept[name].list, kept[name][metric])
  end
end

return M
