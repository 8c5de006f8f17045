-- The losses that families.lua compares, and how they are trained (slides "Learning to rank"; what they leave open is
-- ours). A learner is a loss with the model that it trains, or a model without training.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

-- How learners are trained: the metrics (the first one chooses settings and epoch), epochs, epochs between validations,
-- the learning rates and weight decays to try, and a function that computes nDCG@10 among all items.
local training = {
  catalogue = function(fold, model) return fold:evaluate(model, { "ndcg@10" }, { known = "relevant" })["ndcg@10"] end,
  metrics = { "ndcg@10", "ap", "auc" },
  movielens = { epochs = 30, every = 3, rates = { 0.003, 0.01, 0.03 } },
  mq2008 = { epochs = 60, every = 1, rates = { 0.001, 0.003, 0.01 } },
  decays = { 0, 1e-4, 1e-3 }, etas = { 0.05, 0.1, 0.2 },
}
local M = { training = training, sets = { "movielens", "mq2008" }, reference = "squared error" }

-- Functions that make a model of a kind from a fold and a seed, and for trees also from eta and whether runs are short.
training.models = {
  random = function(_, seed) return function(batch) return mr.uniform({ batch.lists.rows }, { seed = seed }) end end,
  popularity = function(fold) return mr.models.popularity{ fold = fold } end,
  item_knn = function(fold) return mr.models.item_knn{ fold = fold } end,
  mf = protocol.factorisation,
  cml = function(fold, seed)
    return mr.models.cml{ users = fold.users, items = fold.items, factors = protocol.factors, seed = seed }
  end,
  mlp = function(fold, seed) return mr.models.mlp{ inputs = fold.train.features:size(2), hidden = { 46 },
    seed = seed } end,
  trees = function(_, seed, eta, short)
    return mr.models.trees{ rounds = short and 5 or 200, depth = 5, eta = eta, seed = seed }
  end,
}

---Trains a model with its settings `o.at`: trees by rounds, everything else by Adam for a fixed number of epochs (2 if
---`o.short`). Validation nDCG@10 chooses the epoch; of ratings it ranks all items not liked in training.
function training.fit(set, fold, o)
  local options = { model = o.model, loss = o.loss, train = fold.train, test = o.test and fold.test or nil,
    valid = set == "movielens" and fold:candidates{ known = "relevant" } or fold.valid,
    metrics = training.metrics, progress = false }
  if o.at.rate then
    options.optimizer = mr.optim.adam{ lr = o.at.rate, weight_decay = o.at.decay or 0 }
    options.epochs, options.every = o.short and 2 or training[set].epochs, o.short and 1 or training[set].every
    options.seed = o.seed
  end
  return mr.fit(options)
end

-- The learners: family, loss, kind of model (by default that of the data set), and the data set if a learner runs on
-- only one. WARP has few draws, because most are wasted once most pairs are in order. NeuralNDCG is slow on the long
-- lists of MovieLens.
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

---Returns the learners for a data set: those of --losses, the untrained ones, and the reference.
function M.of(args, set)
  local of, asked = {}, { [M.reference] = true }
  for _, name in ipairs(args.losses) do asked[name] = true end
  for _, each in ipairs(M.learners) do
    if (not each.on or each.on == set) and (not each.loss or asked[each.name]) then of[#of + 1] = each end
  end
  return of
end

-- The parameters of a learner that validation chooses. The factors of CML have no weight decay.
local function settings_of(each, set)
  if not each.loss or each.model == "trees" then return { eta = each.loss and mr.choice(training.etas) } end
  return { rate = mr.choice(training[set].rates), decay = each.model ~= "cml" and mr.choice(training.decays) or nil }
end

-- Opens a data set. Returns its title, its name of a list, the number of folds, the kind of model, and fold(number).
local function open(args, set)
  if set == "mq2008" then
    local folds, title = protocol.queries(args)
    return { title = title, units = "queries", unit = "query", folds = math.min(args.folds, #folds), model = "mlp",
      fold = function(number) return protocol.query_fold(folds, number) end }
  end
  local ratings, title = protocol.ratings(args)
  local liked = protocol.liked(ratings, args.smoke)
  return { title = title, units = "users", unit = "user", folds = args.folds, model = "mf",
    fold = function(number) return protocol.liked_fold(liked, number, args.seed) end }
end

---Runs every learner on every fold of a data set, at the settings that validation chose on the first fold. Returns the
---data set with its learners and their names, the runs, and the chosen settings by name. A run has the metrics, and
---`catalogue` for ratings, as means and by test list.
function M.runs(args, set)
  local of, space, by_name = open(args, set), {}, {}
  of.learners, of.names = M.of(args, set), {}
  for i, each in ipairs(of.learners) do
    of.names[i], by_name[each.name], space[each.name] = each.name, each, settings_of(each, set)
  end
  local function trained(name, fold, at, test)
    local each = by_name[name]
    local model = training.models[each.model or of.model](fold, args.seed, at.eta, args.smoke)
    return each.loss and training.fit(set, fold,
      { model = model, loss = each.loss(), at = at, seed = args.seed, test = test, short = args.smoke }), model
  end
  return of, experiment.tuned(args, {
    name = ("families on %s, seed %d"):format(set, args.seed), by = "learner", space = space,
    beside = { split = mr.range(1, of.folds) }, settings = training[set], metric = training.metrics[1],
    choose = function(trial)
      return { valid = trained(trial.learner, of.fold(protocol.tuned_on), trial.params).best.metrics["ndcg@10"] }
    end,
    run = function(trial, at)
      local fold = of.fold(trial.split)
      local run, model = trained(trial.learner, fold, at, true)
      local test, metrics = fold.test, training.metrics
      local lists = { list = test.users and test.users:double() or mr.arange(1, test.count) + 1000 * trial.split }
      local found = run and run.test or mr.evaluate(mr.data.scored(model, test).scores, test.lists, metrics)
      local result = { per_list = lists }
      for _, name in ipairs(metrics) do result[name], lists[name] = found.mean[name], found[name] end
      if set == "movielens" then
        lists.catalogue = training.catalogue(fold, model)
        result.catalogue = mr.stats.mean(lists.catalogue)
      end
      return result
    end,
  })
end

return M
