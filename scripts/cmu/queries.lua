-- What Table 1 and Figure 1 of Li & Wu share (section 4.1): web queries whose labels of 2 and more are relevant, the systems that rank
-- them, and their training runs, kept in one store.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local folds_of = require "moonrank.data.fold"
local kept = dofile(here .. "../kept_runs.lua")

local M = { metric = "ndcg@10", study = kept.study }

local function made_up()
  local train, test = mr.data.synthetic{ kind = "queries", queries = 60, features = 6, mean_size = 12 }:split{ share = 0.4 }
  local rest, valid = train:split{ share = 0.4 }
  return { folds_of.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

-- Folder and title.
local sets = {
  mslr = { folder = "mslr-web-slice", title = "MSLR slice" },
  mq2008 = { folder = "mq2008", title = "MQ2008" },
  web10k = { folder = "MSLR-WEB10K", title = "MSLR-WEB10K" },
}
M.names = { "mslr", "mq2008", "web10k" }

---Options of both scripts: which data, which seeds, and those of kept runs.
function M.args(own)
  own.sets = { default = { "mslr", "mq2008" }, choices = M.names, distinct = true,
    help = "which data: the slice of MSLR-WEB that comes with the project's data, MQ2008, or MSLR-WEB10K itself" }
  own.seeds = { default = { 1, 2, 3 }, distinct = true, help = "of weights, order of documents and what trees draw" }
  own.epochs = { default = 60, least = 1, help = "of networks, at most; the best by validation counts" }
  own.rounds = { default = 200, least = 1, help = "of boosting, at most" }
  own.trees = { default = 300, least = 1, help = "of the random forest" }
  own.data = { path = "data folder", default = "",
    help = "folder of mslr-web-slice, mq2008, MSLR-WEB10K (default: where the program looks for data)" }
  local args = kept.args(own, { document = "cmu",
    smoke = { sets = { "mslr" }, seeds = { 1 }, epochs = 2, rounds = 3, trees = 5 } })
  return args
end

local opened = kept.cache()

---A data set by its name: its title, the number of its folds, and each fold with standardised features and labels of 0 and 1.
---@return { title: string, folds: integer, fold: fun(number: integer): mr.Fold }
function M.set(args, name)
  if not opened[name] then
    local path = (args.data ~= "" and args.data .. "/" or "") .. sets[name].folder
    local folds, made = args.smoke and made_up() or mr.data.letor_folds(path), kept.cache()
    opened[name] = { title = args.smoke and "made-up queries" or sets[name].title, folds = #folds, fold = function(number)
      made[number] = made[number] or folds[number]:binarize(2):standardize()
      return made[number]
    end }
  end
  return opened[name]
end

-- A network of 100 and 30 hidden units. RankNet's loss is the mean over a list's pairs; DirectRanker's has a hyperbolic tangent before the
-- sigmoid; the classifier's is the cross entropy of documents.
M.networks = { "RankNet", "DirectRanker", "Class NN" }
local losses = {
  RankNet = function() return mr.losses.ranknet{ bound = "minmax" } end,
  DirectRanker = function() return mr.losses.direct_ranker{ bound = "minmax" } end,
  ["Class NN"] = function() return mr.losses.bce{} end,
}

-- Steps of about 100 documents: whole lists for pairs, documents of any lists for the classifier.
local function fit_network(args, fold, o, trial)
  local model = mr.models.mlp{ inputs = fold.train.features:size(2), hidden = { 100, 30 }, activation = "relu", seed = o.seed }
  local documents = o.system == "Class NN"
  return mr.fit{
    model = model, loss = losses[o.system](), train = documents and fold.train:pointwise() or fold.train, valid = fold.valid,
    test = fold.test, optimizer = mr.optim[o.optimiser]{ lr = o.rate }, batch = documents and 100 or nil,
    batch_rows = not documents and 100 or nil, epochs = args.epochs, metrics = { M.metric }, seed = o.seed, trial = trial, progress = false,
  }
end

-- Boosted trees of depth 5, by LambdaRank's derivatives or as a classifier; a forest of deep trees.
local function fit_trees(args, fold, o)
  local options = { rounds = args.rounds, depth = 5, eta = 0.1, seed = o.seed }
  if o.system == "Class RF" then
    options = { rounds = 1, trees = args.trees, depth = 12, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33, seed = o.seed }
  end
  if o.system ~= "LambdaMART" then options.objective = "binary:logistic" end
  return mr.fit{
    model = mr.models.trees(options), loss = o.system == "LambdaMART" and mr.losses.lambdarank{} or nil, train = fold.train,
    valid = fold.valid, test = fold.test, metrics = { M.metric }, progress = false,
  }
end

-- Mean nDCG@10 of a model on a part.
local function measured(model, part)
  local batch = part:batches{ size = part.count }()
  local scores = mr.no_grad(function() return model(batch) end)
  return mr.stats.mean(mr.metrics.parse(M.metric)(scores, batch.lists))
end

-- Logistic regression of documents or of pairs, with the penalty that is best on validation; mr.fit of no epochs measures test.
M.penalties = { 0.01, 0.1, 1, 10, 100, 1000, 10000 }
local function fit_regression(args, fold, o)
  local best
  for _, alpha in ipairs(args.smoke and { 1 } or M.penalties) do
    local make = o.system == "Rank LR" and mr.models.rank_logistic_regression or mr.models.logistic_regression
    local model = make{ train = fold.train, alpha = alpha }
    local fitted = mr.fit{ model = model, loss = mr.losses.bce{}, train = fold.train, valid = fold.valid, test = fold.test, epochs = 0,
      metrics = { M.metric }, progress = false }
    local valid = measured(model, fold.valid)
    if not best or valid > best.valid then best = { test = fitted.test, valid = valid, alpha = alpha } end
  end
  return best
end

---The systems that are not networks, and those of them that draw random numbers.
M.others = { "LambdaMART", "Rank LR", "Class LR", "Class RF", "Class Boost" }
M.drawn = { "Class RF" }

-- What a trial returns.
local function result_of(fold, number, valid, evaluation, more)
  local result = { valid = valid, [M.metric] = evaluation.mean[M.metric], per_list = { own = evaluation[M.metric],
    list = mr.arange(1, fold.test.count) + 10000 * number } }
  for key, value in pairs(more) do result[key] = value end
  return result
end

-- One run of a network; its loss and validation nDCG@10 after every epoch are reported to the trial.
local function network(args, name, o, trial)
  local fold = M.set(args, name).fold(o.split)
  local fitted = fit_network(args, fold, o, trial)
  return result_of(fold, o.split, fitted.best.metrics[M.metric], fitted.test, { epoch = fitted.best.epoch })
end

-- One run of another system.
local function other(args, name, o)
  local fold = M.set(args, name).fold(o.split)
  if o.system:find "LR$" then
    local best = fit_regression(args, fold, o)
    return result_of(fold, o.split, best.valid, best.test, { alpha = best.alpha })
  end
  local fitted = fit_trees(args, fold, o)
  return result_of(fold, o.split, fitted.best.metrics[M.metric], fitted.test, { epoch = fitted.best.epoch })
end

---The rate of stochastic gradient descent that the paper gives.
M.paper_rate = 0.001

-- What is tried of each optimiser.
local rates = { sgd = { 0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0 },
  adam = { 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1 } }

---Validation of every network at every rate, with the first seed on the first fold; a rate that makes numbers infinite counts as 0.
---@return mr.Results
function M.tuning(args, name)
  local space = { system = mr.choice(M.networks), optimiser = mr.choice{ "sgd", "adam" }, split = mr.range(1, 1) }
  for _, optimiser in ipairs{ "sgd", "adam" } do
    space[#space + 1] = mr.when("optimiser", optimiser, { rate = mr.choice(args.smoke and { 0.01 } or rates[optimiser]) })
  end
  return M.study(args, {
    name = "rates, " .. name, settings = { epochs = args.epochs, seed = args.seeds[1] }, space = space,
    run = function(trial)
      local ok, found = pcall(network, args, name, { system = trial.system, optimiser = trial.optimiser, rate = trial.rate,
        split = trial.split, seed = args.seeds[1] })
      if ok then return found end
      local message = tostring(found)
      if message:find "mr.fit: the loss is" or message:find "mr.fit: there is NaN" then return { valid = 0 } end
      error(found, 0)
    end,
  })
end

---The best rate by validation of a network and optimiser: "RankNet adam" -> rate; and whether it is the least or the largest that was
---tried.
---@return table<string, number> best, table<string, boolean> at_edge
function M.best_rates(args, name)
  local columns, highest, best, at_edge = M.tuning(args, name):columns(), {}, {}, {}
  local function column(of) return columns:column("runs", of) end
  for _, row in ipairs(columns:rows("runs", { split = 1 })) do
    local key, valid = column("system")[row] .. " " .. column("optimiser")[row], column("valid")[row]
    if not best[key] or valid > highest[key] then best[key], highest[key] = column("rate")[row], valid end
  end
  for key, rate in pairs(best) do
    local tried = rates[key:match "%a+$"]
    at_edge[key] = rate <= tried[1] or rate >= tried[#tried]
  end
  return best, at_edge
end

---How networks are trained: as the paper has it, or at the best rate.
M.recipes = { "paper", "sgd", "adam" }

---All systems on all folds with all seeds. Parameters: system, split; of networks recipe; of what draws random numbers
---draw, the seed.
---@return mr.Results results, table<string, number> best_rates, table<string, boolean> at_edge
function M.runs(args, name)
  local best, at_edge = M.best_rates(args, name)
  local systems, text = { table.unpack(M.networks) }, {}
  table.move(M.others, 1, #M.others, #systems + 1, systems)
  for key, rate in pairs(best) do text[#text + 1] = ("%s %g"):format(key, rate) end
  table.sort(text)
  local seeds = mr.choice(args.seeds)
  local results = M.study(args, {
    name = "systems, " .. name,
    settings = { epochs = args.epochs, rounds = args.rounds, trees = args.trees, rates = table.concat(text, ", ") },
    space = { system = mr.choice(systems), split = mr.range(1, M.set(args, name).folds),
      mr.when("system", M.networks, { recipe = mr.choice(M.recipes), draw = seeds }), mr.when("system", M.drawn, { draw = seeds }) },
    run = function(trial)
      local recipe = trial.recipe
      if not recipe then return other(args, name, { system = trial.system, split = trial.split, seed = trial.draw or args.seeds[1] }) end
      local optimiser = recipe == "adam" and "adam" or "sgd"
      local rate = recipe == "paper" and M.paper_rate or best[trial.system .. " " .. optimiser]
      return network(args, name, { system = trial.system, optimiser = optimiser, rate = rate, split = trial.split, seed = trial.draw },
        trial)
    end,
  })
  return results, best, at_edge
end

return M
