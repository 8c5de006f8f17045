-- Training runs of Tang et al. (2023), kept in a store: a study for each data set and recipe.
--
-- Recipe `paper`: the official folds, the same test queries for every algorithm, features standardised by the training part, a seed; epoch and
-- learning rate are chosen on validation, by nDCG with the gain 2^y - 1. Recipe `code`: what the authors' code does (data.lua, algorithms.lua,
-- measures.lua), under several seeds, where they had none.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local kept = dofile(here .. "../kept_runs.lua")
local algorithms, data, measures = dofile(here .. "algorithms.lua"), dofile(here .. "data.lua"), dofile(here .. "measures.lua")
local published = dofile(here .. "published.lua").table_1

local M = { algorithms = algorithms, data = data, measures = measures }

-- What rates are chosen from; those of the text are among them.
M.rates = { 1e-4, 1e-3, 1e-2, 1e-1 }
-- Epochs without a better one after which training ends at rates that are not those of the text, whose curves are drawn whole.
M.patience = 20

---Options of a script: its own, and those of kept runs. `more.smoke`: which of its own --smoke sets; `more.without`: which of recipe and seed it
---does not take.
---@param own table
---@param more? { smoke?: table<string, any>, without?: string[] }
function M.args(own, more)
  own.recipe = { default = "paper", choices = { "paper", "code" }, help = "our protocol, or what the authors' code does" }
  own.seed = { default = 1, help = "of networks; recipe code: the first of three, of splits and networks" }
  for _, name in ipairs(more and more.without or {}) do own[name] = nil end
  return kept.args(own, { document = "objectives", smoke = more and more.smoke })
end

-- Recipe `code`: three seeds, to show what one of them is worth; of made-up data one.
local function seeds(args) return args.smoke and { args.seed } or { args.seed, args.seed + 1, args.seed + 2 } end

local opened = kept.cache()

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
  if args.smoke then found.epochs, found.eight = 2, false end
  return found
end

-- The held-out loss is the mean over documents where a step's is, else over queries.
local function reduction(o) return o.steps == "documents" and "rows" or "mean" end

local function adam(o, rate) return mr.optim.adam{ lr = rate or o.rate, weight_decay = o.decay or 0 } end

-- Numbers of a trial: means, and values of every query.
local function result_of(values, more)
  local result = more or {}
  for name, mean in pairs(measures.means(values)) do result[name] = mean end
  result.counted = math.tointeger(values.ap:eq(values.ap):double():sum():item())
  result.skipped = #values.ap - result.counted
  return result
end

-- Losses of every epoch, in training and held out, beside what is kept of every query.
local function with_curves(per_list, run)
  local training, held_out = {}, {}
  for i, entry in ipairs(run.history) do training[i], held_out[i] = entry.loss, entry.valid_loss end
  per_list.training, per_list.held_out = mr.tensor(training, { dtype = "float64" }), mr.tensor(held_out, { dtype = "float64" })
  return per_list
end

-- Recipe `paper`: one fold.
local function honest(args, set, trial)
  local algorithm, o = algorithms.by_name[trial.algorithm], M.settings(args, set, trial.algorithm)
  local fold = set.folds[trial.split]:standardize()
  local train, queries = algorithms.steps(fold.train, o, set.filter, args.seed)
  local model = algorithms.network(set.features, args.seed)
  local run = mr.fit{ model = model, loss = algorithms.loss(algorithm.objective, fold.train, "paper"), train = train, valid = fold.valid,
    test = fold.test, batch = 1, shuffle = false, optimizer = adam(o, trial.rate), epochs = o.epochs,
    patience = trial.rate ~= o.rate and M.patience or nil, metrics = measures.all(), select = "ndcg", seed = args.seed,
    reduction = reduction(o), progress = false }
  local values = {}
  for _, name in ipairs(measures.names) do values[name] = run.scores[name] end
  return result_of(values, { valid = run.best.metrics.ndcg, epoch = run.best.epoch, trained_on = queries,
    per_list = with_curves(values, run) })
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

-- Recipe `code`: learning curves, of 70 % of their training part against the rest; where a step takes one array, without standardising.
local function their_curves(args, set, trial)
  local algorithm, o = algorithms.by_name[trial.algorithm], M.settings(args, set, trial.algorithm)
  local part = data.code_parts(set, trial.seeds)
  local train, held_out = (o.eight and data.of_eight(part) or part):split{ share = 0.3, seed = trial.seeds }
  if o.steps == "groups" and not o.eight then train, held_out = data.scaled(train, "queries"), data.scaled(held_out, "queries") end
  local loss = algorithms.loss(algorithm.objective, train, "code", o.steps == "pairs")
  local run = mr.fit{ model = algorithms.network(set.features, trial.seeds), loss = loss, batch = 1, shuffle = false,
    train = algorithms.steps(train, o, set.filter, trial.seeds), valid = held_out, optimizer = adam(o), epochs = o.epochs,
    metrics = { "ndcg" }, seed = trial.seeds, reduction = reduction(o), progress = false }
  return { valid = run.best.metrics.ndcg, per_list = with_curves({}, run) }
end

-- Recipe `code`: all of the training part, and the evaluation.
local function as_they_did(args, set, trial)
  local algorithm, o = algorithms.by_name[trial.algorithm], M.settings(args, set, trial.algorithm)
  local part, evaluation = data.code_parts(set, trial.seeds)
  local how = scaling_of(algorithm, o)
  local train, model = data.scaled(o.eight and data.of_eight(part) or part, how), algorithms.network(set.features, trial.seeds)
  local batches, queries = algorithms.steps(train, o, set.filter, trial.seeds)
  mr.fit{ model = model, loss = algorithms.loss(algorithm.objective, train, "code", o.steps == "pairs"), train = batches,
    batch = 1, shuffle = false, optimizer = adam(o), epochs = o.epochs, seed = trial.seeds, progress = false }
  local test = data.scaled(evaluation_of(args, set, algorithm, evaluation), how == "places" and "queries" or how)
  local scores = mr.no_grad(function() return model{ lists = test.lists, features = test.features } end)
  local result = result_of(as_coded(M.ranker(set, trial.algorithm), scores, test.lists), { trained_on = queries })
  local meant = algorithm.objective:find "ndcg" and "inverted" or "scores"
  for name, mean in pairs(measures.means(measures.code(scores, test.lists, meant))) do result["meant " .. name] = mean end
  for name, mean in pairs(measures.means(measures.random(test.lists))) do result["random " .. name] = mean end
  return result
end

---The algorithms that run on a data set: under the recipe `code` those that the authors ran, whose Table 1 has a number.
---@return string[]
function M.algorithms_of(args, set)
  local found, name = {}, set.kind == "mslr" and "web10k" or set.kind
  for _, each in ipairs(algorithms.names) do
    if args.recipe == "paper" or published[name][each] then found[#found + 1] = each end
  end
  return found
end

-- A trial as a table: its parameters and the numbers that it returned.
local function record(columns, row)
  return setmetatable({}, { __index = function(_, name) return columns:column("runs", name)[row] end })
end

---The trials of an algorithm, in their order.
---@param results mr.Results
---@param algorithm string
function M.trials(results, algorithm)
  local columns, found = results:columns(), {}
  for _, row in ipairs(columns:rows("runs", { algorithm = algorithm })) do found[#found + 1] = record(columns, row) end
  table.sort(found, function(a, b) return a.number < b.number end)
  return found
end

-- A study of a data set under the recipe that was asked for.
local function study(args, name, o)
  local set = M.set(args, name)
  o.space.algorithm = mr.choice(M.algorithms_of(args, set))
  local run = o.run
  local results = kept.study(args, { name = ("%s, recipe %s%s, seed %d"):format(name, args.recipe, o.what or "", args.seed),
    settings = { recipe = args.recipe, filter = set.filter }, metric = o.metric, space = o.space,
    run = function(trial) return run(args, set, trial) end })
  local failed = results:counts().failed or 0
  if failed > 0 then error(("%d runs of '%s' failed: moonrank results %s says why"):format(failed, results.name, results.path), 0) end
  return results
end

---The runs of a data set under the recipe that was asked for.
---@param name "mq2008"|"mslr"|"web10k"
---@return mr.Results
function M.of(args, name)
  if args.recipe == "code" then
    return study(args, name, { run = as_they_did, metric = "ndcg+1", space = { seeds = mr.choice(seeds(args)) } })
  end
  return study(args, name, { run = honest, metric = "valid",
    space = { rate = mr.choice(M.rates), split = mr.range(1, #M.set(args, name).folds) } })
end

---Runs with learning curves: the same under the recipe `paper`, others under `code`.
---@return mr.Results
function M.curves_of(args, name)
  if args.recipe == "paper" then return M.of(args, name) end
  return study(args, name, { run = their_curves, metric = "valid", what = ", curves", space = { seeds = mr.choice(seeds(args)) } })
end

return M
