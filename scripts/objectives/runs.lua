-- Training runs of Tang et al. (2023), kept in a store: a study for each data set and recipe.
--
-- Recipe `paper`: the official folds, the same test queries for every algorithm, features standardised by the training part, a seed; epoch and
-- learning rate are chosen on validation, by nDCG with the gain 2^y - 1. Recipe `code`: what the authors' code does (data.lua, algorithms.lua,
-- measures.lua), under several seeds, where they had none.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local kept = dofile(here .. "../kept_runs.lua")
local algorithms, data, measures = dofile(here .. "algorithms.lua"), dofile(here .. "data.lua"), dofile(here .. "measures.lua")

local M = { algorithms = algorithms, data = data, measures = measures }

-- What rates are chosen from; those of the text are among them.
M.rates = { 1e-4, 1e-3, 1e-2 }

---Options of a script: its own, and those of kept runs.
---@param own table
---@param more? table<string, any>  which of its own --smoke sets
function M.args(own, more)
  local smoke = { seeds = { 1 } }
  for name, value in pairs(more or {}) do smoke[name] = value end
  own.recipe = { default = "paper", choices = { "paper", "code" }, help = "our protocol, or what the authors' code does" }
  own.seeds = { default = { 1, 2, 3 }, distinct = true, help = "recipe code: of splits and networks" }
  own.seed = { default = 1, help = "recipe paper: of networks" }
  local args = kept.args(own, { folder = "results/objectives", smoke = smoke })
  return args
end

---The same as words, for another script.
function M.words(args, recipe)
  local more = { recipe = recipe, seed = args.seed ~= 1 and args.seed or nil }
  if not args.smoke then more.seeds = table.concat(args.seeds, ",") end
  return kept.words(args, more)
end

local opened = {}

---A data set by its name, read once.
---@return objectives.Data
function M.set(args, name)
  opened[name] = opened[name] or data.open(name, args.data, args.smoke)
  return opened[name]
end

---Settings of an algorithm for a data set under a recipe.
---@return objectives.Settings
function M.settings(args, set, name)
  local found = {}
  for key, value in pairs(algorithms.by_name[name][args.recipe][set.kind]) do found[key] = value end
  if found.steps ~= "pairs" then found.epochs = found.epochs * set.times end  -- of pairs there are enough in any case
  if args.smoke then found.epochs, found.eight = 2, false end
  return found
end

local function adam(o, rate) return mr.optim.adam{ lr = rate or o.rate, weight_decay = o.decay or 0 } end

-- Numbers of a trial: means, and values of every query.
local function result_of(values, more)
  local result = more or {}
  for name, mean in pairs(measures.means(values)) do result[name] = mean end
  result.counted = math.tointeger(values.ap:eq(values.ap):double():sum():item())
  result.skipped = #values.ap - result.counted
  return result
end

-- Recipe `paper`: one fold.
local function honest(args, set, trial)
  local algorithm, o = algorithms.by_name[trial.algorithm], M.settings(args, set, trial.algorithm)
  local fold = set.folds[trial.split]:standardize()
  local train, queries = algorithms.steps(fold.train, o, set.filter, args.seed)
  local model = algorithms.network(set.features, args.seed)
  local run = mr.fit{ model = model, loss = algorithms.loss(algorithm.objective, fold.train, "paper"), train = train, valid = fold.valid,
    batch = 1, optimizer = adam(o, trial.rate), epochs = o.epochs, metrics = { "ndcg" }, seed = args.seed, trial = trial, progress = false }
  local scores = mr.no_grad(function() return model{ lists = fold.test.lists, features = fold.test.features } end)
  local values = measures.honest(scores, fold.test.lists)
  return result_of(values, { valid = run.best.metrics.ndcg, epoch = run.best.epoch, trained_on = queries, per_list = values })
end

-- Which features their code standardises over what.
local function scaling_of(algorithm, o)
  if algorithm.objective == "ranknet" or o.steps == "documents" then return "rows" end
  return o.eight and "places" or "queries"
end

-- Which part of theirs an algorithm is evaluated on: NeuralNDCG of MQ2008 on queries with eight documents.
local function evaluation_of(args, set, algorithm, part)
  if args.smoke or set.kind ~= "mq2008" or algorithm.objective ~= "neural_ndcg" then return part end
  return data.of_eight(part)
end

---How their code evaluates an algorithm: the order of the scores, the inverted order, or the first document of each query alone.
---@return "scores"|"inverted"|"first document"
function M.ranker(set, name)
  if set.kind == "mslr" and name == "MseNetBatched" then return "inverted" end
  if set.kind == "mslr" and name == "MseNetQbQ" then return "first document" end
  return algorithms.by_name[name].objective:find "ndcg" and "inverted" or "scores"
end

-- Metrics as their code evaluates them.
local function as_coded(ranker, scores, lists)
  if ranker == "first document" then return measures.first_document(lists) end
  return measures.code(scores, lists, ranker)
end

-- Their training and held-out part for learning curves, 70 and 30 %; where a step takes one array, without standardising.
local function curves(set, algorithm, o, part, trial)
  local train, held_out = part:split{ share = 0.3, seed = trial.seeds }
  if o.steps == "groups" and not o.eight then train, held_out = data.scaled(train, "queries"), data.scaled(held_out, "queries") end
  local drawn = o.steps == "pairs"
  mr.fit{ model = algorithms.network(set.features, trial.seeds), loss = algorithms.loss(algorithm.objective, train, "code", drawn),
    train = algorithms.steps(train, o, set.filter, trial.seeds), valid = held_out, batch = 1, optimizer = adam(o), epochs = o.epochs,
    metrics = { "ndcg" }, seed = trial.seeds, trial = trial, progress = false }
end

-- Recipe `code`: learning curves, then all of the training part, and the evaluation.
local function as_they_did(args, set, trial)
  local algorithm, o = algorithms.by_name[trial.algorithm], M.settings(args, set, trial.algorithm)
  local part, evaluation = data.code_parts(set, trial.seeds)
  if o.eight then part = data.of_eight(part) end
  curves(set, algorithm, o, part, trial)
  local how = scaling_of(algorithm, o)
  local train, model = data.scaled(part, how), algorithms.network(set.features, trial.seeds)
  local batches, queries = algorithms.steps(train, o, set.filter, trial.seeds)
  mr.fit{ model = model, loss = algorithms.loss(algorithm.objective, train, "code", o.steps == "pairs"), train = batches, batch = 1,
    optimizer = adam(o), epochs = o.epochs, seed = trial.seeds, progress = false }
  local test = data.scaled(evaluation_of(args, set, algorithm, evaluation), how == "places" and "queries" or how)
  local scores = mr.no_grad(function() return model{ lists = test.lists, features = test.features } end)
  local result = result_of(as_coded(M.ranker(set, trial.algorithm), scores, test.lists), { trained_on = queries })
  local meant = algorithm.objective:find "ndcg" and "inverted" or "scores"
  for name, mean in pairs(measures.means(measures.code(scores, test.lists, meant))) do result["meant " .. name] = mean end
  for name, mean in pairs(measures.means(measures.random(test.lists))) do result["random " .. name] = mean end
  return result
end

---The runs of a data set under the recipe that was asked for.
---@param name "mq2008"|"mslr"|"web10k"
---@return mr.Results
function M.of(args, name)
  local set = M.set(args, name)
  local space, run, metric = { algorithm = mr.choice(algorithms.names) }, as_they_did, "ndcg+1"
  local settings = { recipe = args.recipe, filter = set.filter }
  if args.recipe == "paper" then
    run, metric, settings.seed = honest, "valid", args.seed
    space.rate, space.split = mr.choice(args.smoke and { 1e-3 } or M.rates), mr.range(1, #set.folds)
  else
    space.seeds = mr.choice(args.seeds)
  end
  return kept.study(args, { name = ("%s, recipe %s"):format(name, args.recipe), metric = metric, settings = settings, space = space,
    run = function(trial) return run(args, set, trial) end })
end

return M
