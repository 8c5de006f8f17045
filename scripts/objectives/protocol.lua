-- Decisions of Tang et al. (2023), each with its section, and those of the scripts where the paper
-- does not say.
--
-- Recipe `paper`: their text, with the official folds, the same test queries for every algorithm, and validation.
-- Recipe `code`: what the authors' code does (github.com/catalinlup/learning-to-rank at 767b70b), under several seeds,
-- where they had none.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local measures, steps = dofile(here .. "measures.lua"), dofile(here .. "steps.lua")

local M = { measures = measures }

---@class objectives.Settings
---@field steps "documents"|"groups"|"queries"|"pairs"  what a step takes
---@field size? integer    how many, of documents, pairs, and queries of equal length (default: all of them)
---@field eight? boolean   only queries with eight documents
---@field rate number      of Adam, whose other settings are the usual ones
---@field decay? number    weight decay
---@field epochs integer

---@class objectives.Algorithm
---@field name string      as in Table 1
---@field objective "mse"|"ranknet"|"approx_ndcg"|"neural_ndcg"
---@field paper table<"mq2008"|"mslr", objectives.Settings>  by their text (4.2), with the most epochs, which are ours
---@field code table<"mq2008"|"mslr", objectives.Settings>   by their code (src/experiments.py, src/train*.py)

-- A copy of settings in which some have other values.
local function with(settings, changes)
  local found = {}
  for name, value in pairs(settings) do found[name] = value end
  for name, value in pairs(changes) do found[name] = value end
  return found
end

-- Both data sets: thirty epochs of MSLR-WEB10K where nothing else is said.
local function both(mq2008, mslr) return { mq2008 = mq2008, mslr = with(with(mq2008, { epochs = 30 }), mslr or {}) } end

local queries = { steps = "queries", rate = 1e-4, epochs = 100 }
local eight = { steps = "groups", size = 8, rate = 1e-4, epochs = 100 }
local decay = { decay = 1e-5 }

---Algorithms with their batch sizes and rates (4.2.1 and 4.2.2).
---@type objectives.Algorithm[]
M.algorithms = {
  { name = "MseNetBatched", objective = "mse",
    paper = both({ steps = "documents", size = 64, rate = 1e-3, epochs = 300 }, { steps = "groups" }),
    code = both({ steps = "documents", size = 64, rate = 5e-5, epochs = 300 }, { steps = "groups", size = false }) },
  { name = "MseNetQbQ", objective = "mse", paper = both(with(queries, { rate = 1e-3 })),
    code = both(with(queries, { rate = 1e-3, epochs = 30 })) },
  -- The paper trains RankNet in batches of 64 (4.2.1), which are pairs in the authors' code. Recipe `paper` departs
  -- from this: a step takes one query, whose pairs are made inside the loss.
  { name = "RankNet", objective = "ranknet", paper = both(queries),
    code = both({ steps = "pairs", size = 64, rate = 1e-4, epochs = 10 }, { epochs = 10 }) },
  { name = "ApproxNDCGBatched", objective = "approx_ndcg", paper = both(with(eight, decay)),
    code = both(with(with(eight, decay), { size = 64, eight = true }), { eight = false, size = false, rate = 1e-3 }) },
  { name = "ApproxNDCGQbQ", objective = "approx_ndcg", paper = both(with(queries, decay)),
    code = both(with(queries, decay)) },
  { name = "NeuralNDCGBatched", objective = "neural_ndcg", paper = both(eight),
    code = both(with(eight, { size = false })) },
  { name = "NeuralNDCGQbQ", objective = "neural_ndcg", paper = both(queries), code = both(queries) },
}

M.names, M.by_name = {}, {}
for i, each in ipairs(M.algorithms) do M.names[i], M.by_name[each.name] = each.name, each end

---The algorithm that the others are compared with.
M.base = "MseNetBatched"

---Settings of an algorithm for a data set under a recipe. `short`: two epochs, to see that it runs.
---@param set objectives.Data
---@return objectives.Settings
function M.settings(name, recipe, set, short)
  return with(M.by_name[name][recipe][set.kind], short and { epochs = 2, eight = false } or {})
end

---The least number of queries of equal length that batches are made of: eight in their code. On the slice most lengths
---occur once.
function M.least(name) return name == "mslr" and 1 or 8 end

---One network for all algorithms (4.2.1): a hidden layer of five units.
function M.network(features, seed)
  return mr.models.mlp{ inputs = features, hidden = { 5 }, activation = "relu", seed = seed }
end

-- A loss with another mean. Sign -1 makes a loss that was to be maximised one that is minimised.
local function counting(loss, count, sign)
  local own = { name = loss.name, metric = loss.metric, options = loss.options }
  function own.count(_, lists) return count(lists) end
  return setmetatable(own, { __call = function(_, scores, lists) return sign * loss(scores, lists) end })
end

-- Pairs of rows of lists, those of unequal grades as often as upsampling has them.
local function pairs_of(times)
  return function(lists)
    local sizes = lists.sizes:double()
    local equal, all = core.equal_pairs(lists):sum():item(), (sizes * (sizes - 1)):sum():item() / 2
    return math.floor(equal + times * (all - equal) + 0.5)
  end
end

-- RankNet over all pairs, those of unequal grades as often as makes the targets 0, 1/2 and 1 equally many (4.1): the
-- mean over pairs. Pairs that were drawn so (steps.pairs) count once.
local function ranknet(train, drawn)
  local loss = mr.losses.ranknet_all_pairs{ upsample = not drawn and train.lists or nil }
  return counting(loss, pairs_of(loss.options.upsample), 1)
end

---The loss of an algorithm (3.2). Under the recipe `code` the NDCGs, which are to be maximised, are minimised, and
---queries without relevant documents count as steps.
---@param name string
---@param train mr.Dataset
---@param recipe "paper"|"code"
---@param drawn? boolean  RankNet: its pairs were drawn
function M.loss(name, train, recipe, drawn)
  local objective = M.by_name[name].objective
  if objective == "mse" then return mr.losses.mse() end
  if objective == "ranknet" then return ranknet(train, drawn) end
  local loss = objective == "approx_ndcg" and mr.losses.approx_ndcg{ alpha = 1 } or mr.losses.neural_ndcg()
  if recipe == "paper" then return loss end
  local all = objective == "approx_ndcg"
  return counting(loss, function(lists) return all and lists.count or math.max(1, loss:count(lists)) end, -1)
end

---Training data by steps (4.2), for mr.fit{train = ..., batch = 1, shuffle = false}; returns how many queries take
---part, too.
---@param train mr.Dataset
---@param o objectives.Settings
---@param least integer  fewest queries of a length
---@param seed integer
function M.steps(train, o, least, seed)
  if o.steps == "documents" then return steps.documents(train, o.size, seed), train.count end
  if o.steps == "pairs" then return steps.pairs(train, o.size, seed), train.count end
  if o.steps == "queries" then return train, train.count end
  return steps.equal_lengths(train, { size = o.size or nil, least = least, drop = o.eight })
end

---Options of mr.fit that all trainings share: Adam (4.2), steps in the order in which they were made. Returns how many
---queries take part, too.
---@param run { name: string, o: objectives.Settings, recipe: string, seed: integer, rate?: number }
---@param train mr.Dataset
---@param least integer
function M.training(run, train, least)
  local o = run.o
  local batches, count = M.steps(train, o, least, run.seed)
  return { model = M.network(train.features:size(2), run.seed), train = batches, batch = 1, shuffle = false,
    loss = M.loss(run.name, train, run.recipe, o.steps == "pairs"),
    optimizer = mr.optim.adam{ lr = run.rate or o.rate, weight_decay = o.decay or 0 },
    epochs = o.epochs, seed = run.seed, progress = false }, count
end

-- The held-out loss is the mean over documents where a step's is, else over queries.
local function held_out(options, o, part)
  options.valid, options.reduction = part, o.steps == "documents" and "rows" or "mean"
end

---Recipe `paper`: rates that validation chooses from; those of the text (4.2) are among them.
M.rates = { 1e-4, 1e-3, 1e-2, 1e-1 }
---Epochs without a better one after which training ends at rates that are not those of the text, whose curves are drawn
---whole.
M.patience = 20

---Recipe `paper`: one algorithm on one official fold (3.1), features standardised by its training part (4.1).
---Validation chooses the epoch, by nDCG with the gain 2^y - 1. Returns how many queries were trained on, too.
---@param set objectives.Data
---@param trial { algorithm: string, split: integer, rate: number }
---@param seed integer
---@param short boolean
---@param change? fun(model: table)  changes the starting parameters
---@return mr.Run, integer
function M.fit_paper(set, trial, seed, short, change)
  local name, o = trial.algorithm, M.settings(trial.algorithm, "paper", set, short)
  local fold = set.folds[trial.split]:standardize()
  local run = { name = name, o = o, recipe = "paper", seed = seed, rate = trial.rate }
  local options, count = M.training(run, fold.train, set.least)
  if change then change(options.model) end
  held_out(options, o, fold.valid)
  options.test, options.metrics, options.select = fold.test, measures.all(), "ndcg"
  options.patience = trial.rate ~= o.rate and M.patience or nil
  return mr.fit(options), count
end

---Recipe `code`: three seeds, to show how much a result depends on its seed; one seed for made-up data.
function M.seeds(seed, short) return short and { seed } or { seed, seed + 1, seed + 2 } end

---All queries of a data set.
---@param set objectives.Data
---@return mr.Dataset
function M.all(set)
  local first = set.folds[1]
  return first.train:concat(first.valid, first.test)
end

---Only queries with eight documents.
---@param part mr.Dataset
---@return mr.Dataset
function M.of_eight(part)
  local numbers = {}
  for i, n in ipairs(part.lists.sizes:totable()) do
    if n == 8 then numbers[#numbers + 1] = i end
  end
  return part:select{ lists = numbers }
end

---Training and evaluation part as their code has them (4.1). Of MQ2008 a tenth of the queries, at random, is for
---evaluation. Of MSLR-WEB10K they train on the training and test parts of all five folds, and evaluate on the
---validation parts of all five: every query is in both. A hundred of those are drawn.
---@param set objectives.Data
---@param seed integer
---@return mr.Dataset train, mr.Dataset evaluation
function M.code_parts(set, seed)
  local all = M.all(set)
  if set.kind == "mq2008" then return all:split{ share = 0.1, seed = seed } end
  local _, sample = all:split{ share = math.min(100 / all.count, (all.count - 1) / all.count), seed = seed }
  return all, sample
end

local function z_scores(x)
  local mean = x:mean(1)
  return (x - mean) / (((x - mean) ^ 2):mean(1) + 1e-5):sqrt()
end

-- Features of each query by its own mean and deviation.
local function by_query(part)
  local found, before = {}, 0
  for i, n in ipairs(part.lists.sizes:totable()) do
    found[i] = z_scores(part.features:narrow(1, before + 1, n))
    before = before + n
  end
  return mr.cat(found, 1)
end

---Features standardised as their code does it, by the statistics of the part itself, and with 1e-5 added to the
---variance: over all rows ("rows"); within each query ("queries"); of queries with eight documents, which are one array
---there, over the documents in the same place ("places").
---@param part mr.Dataset
---@param how "rows"|"queries"|"places"
---@return mr.Dataset
function M.scaled(part, how)
  local x, rows, width = part.features, part.lists.rows, part.features:size(2)
  if how == "rows" then
    x = z_scores(x)
  elseif how == "queries" then
    x = by_query(part)
  else
    x = z_scores(x:reshape(rows // 8, 8 * width)):reshape(rows, width)
  end
  return mr.data.dataset{ lists = part.lists, features = x, name = part.name }
end

-- The units over which the authors' code standardises the features of an algorithm.
local function scaling_of(name, o)
  if M.by_name[name].objective == "ranknet" or o.steps == "documents" then return "rows" end
  return o.eight and "places" or "queries"
end

---Recipe `code`: trains on all of their training part. Returns the evaluation part, the network's scores of it, and how
---many queries were trained on. Of MQ2008 NeuralNDCG is evaluated on queries with eight documents alone.
---@param set objectives.Data
---@param trial { algorithm: string, seeds: integer }
---@param short boolean
---@return mr.Dataset, mr.Tensor, integer
function M.fit_code(set, trial, short)
  local name, o = trial.algorithm, M.settings(trial.algorithm, "code", set, short)
  local part, evaluation = M.code_parts(set, trial.seeds)
  local how = scaling_of(name, o)
  local train = M.scaled(o.eight and M.of_eight(part) or part, how)
  local options, count = M.training({ name = name, o = o, recipe = "code", seed = trial.seeds }, train, set.least)
  mr.fit(options)
  local only_eight = not short and set.kind == "mq2008" and M.by_name[name].objective == "neural_ndcg"
  local test = M.scaled(only_eight and M.of_eight(evaluation) or evaluation, how == "places" and "queries" or how)
  return test, mr.no_grad(function() return options.model{ lists = test.lists, features = test.features } end), count
end

---Recipe `code`: learning curves with 70 % of their training part against the rest (4.2). Features are not standardised
---where a step takes one array.
---@param set objectives.Data
---@param trial { algorithm: string, seeds: integer }
---@param short boolean
---@return mr.Run
function M.fit_curves(set, trial, short)
  local name, o = trial.algorithm, M.settings(trial.algorithm, "code", set, short)
  local part = M.code_parts(set, trial.seeds)
  local train, rest = (o.eight and M.of_eight(part) or part):split{ share = 0.3, seed = trial.seeds }
  if o.steps == "groups" and not o.eight then train, rest = M.scaled(train, "queries"), M.scaled(rest, "queries") end
  local options = M.training({ name = name, o = o, recipe = "code", seed = trial.seeds }, train, set.least)
  held_out(options, o, rest)
  options.metrics = { "ndcg" }
  return mr.fit(options)
end

---The order that their code means to evaluate: NDCG losses, which are minimised, put the best document last.
---@return "scores"|"inverted"
function M.meant(name) return M.by_name[name].objective:find "ndcg" and "inverted" or "scores" end

---How their code evaluates an algorithm: the order of the scores, the inverted order, or the first document of each
---query alone.
---@return "scores"|"inverted"|"first document"
function M.ranker(set, name)
  if set.kind == "mslr" and name == "MseNetBatched" then return "inverted" end
  if set.kind == "mslr" and name == "MseNetQbQ" then return "first document" end
  return M.meant(name)
end

---Metrics as their code evaluates them (3.3).
function M.as_coded(set, name, scores, lists)
  local ranker = M.ranker(set, name)
  if ranker == "first document" then return measures.first_document(lists) end
  return measures.code(scores, lists, ranker)
end

---Recipe `paper`: the number by which rates are chosen, nDCG on validation at the epoch that is kept.
---@return number
function M.valid_of(run) return run.best.metrics.ndcg end

---Recipe `paper`: the trial of every fold with the rate of the text, or without `rate` the trial that is best on
---validation.
---@param trials { split: integer, rate: number, valid: number }[]
---@param rate? number
function M.choose(trials, rate)
  local found = {}
  for _, each in ipairs(trials) do
    local was = found[each.split]
    local better = not was or each.valid > was.valid
    if rate and each.rate == rate or not rate and better then found[each.split] = each end
  end
  return found
end

---True if a rate is the least or the largest that was tried.
function M.at_edge(rate) return rate == M.rates[1] or rate == M.rates[#M.rates] end

-- p of 100,000 random choices of signs, paired by query.
local function paired(a, b) return mr.stats.permutation(a, b, { orders = 100000 }).p end

---Every algorithm against random orders and against M.base, by its values of all test queries: means, changes, and
---p-values, which are corrected by Holm over all comparisons of a data set.
---@param values table<string, number[]>  by algorithm
---@param random number[]
function M.compare(values, random)
  local found, ps, base = {}, {}, values[M.base]
  for i, name in ipairs(M.names) do
    local each = mr.stats.summary(values[name])
    each.name, each.change = name, each.mean - mr.stats.mean(base)
    ps[2 * i - 1], ps[2 * i] = paired(values[name], random), name ~= M.base and paired(values[name], base) or 0 / 0
    found[i] = each
  end
  ps = mr.stats.holm(ps)
  for i, each in ipairs(found) do each.p_random, each.p = ps[2 * i - 1], ps[2 * i] end
  return found
end

---True if a corrected p-value is called significant.
function M.significant(p) return p < 0.05 end

---Recipe `code`: whether a printed number lies, to its two digits, between the least and the largest of the seeds.
function M.meets(printed, low, high) return printed >= low - 0.005 and printed <= high + 0.005 end

---The epoch with the least held-out loss, and whether the loss rises afterwards: whether that epoch is before the last
---tenth.
---@param losses number[]
---@return integer epoch, boolean rises
function M.lowest(losses)
  local at = 1
  for i, x in ipairs(losses) do
    if x < losses[at] then at = i end
  end
  return at, at < 0.9 * #losses
end

return M
