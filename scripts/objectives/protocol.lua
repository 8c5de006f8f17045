-- Decisions behind the reproduction of Tang et al. (2023), each with the section of the paper, and our decisions where
-- the paper says nothing.
-- There are two recipes. Recipe "paper" follows the paper's text, but uses the official folds, the same test queries
-- for every algorithm, and validation. Recipe "code" does what the authors' code does
-- (github.com/catalinlup/learning-to-rank at 767b70b), under several seeds; the authors used none.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local measures, steps = dofile(here .. "measures.lua"), dofile(here .. "steps.lua")

local M = { measures = measures }

---@class objectives.Settings  how an algorithm is trained on a data set
---@field steps "documents"|"groups"|"queries"|"pairs"  what a gradient step takes; "groups": queries of equal length
---@field size? integer    number of documents, pairs, or queries of equal length per step (default: all)
---@field eight? boolean   true: only queries with eight documents are used
---@field rate number      learning rate of Adam, whose other options have their defaults
---@field decay? number    weight decay
---@field epochs integer   number of epochs

---@class objectives.Algorithm  a loss with a way of training: in batches, or query by query
---@field name string      name of the algorithm in Table 1 of the paper
---@field objective "mse"|"ranknet"|"approx_ndcg"|"neural_ndcg"  the loss
---@field paper table<"mq2008"|"mslr", objectives.Settings>  settings of the paper's text (4.2); number of epochs: ours
---@field code table<"mq2008"|"mslr", objectives.Settings>   settings of the code (src/experiments.py, src/train*.py)

-- Copies `settings` and replaces the entries that `changes` names.
local function with(settings, changes)
  local found = {}
  for name, value in pairs(settings) do found[name] = value end
  for name, value in pairs(changes) do found[name] = value end
  return found
end

-- Makes the settings of an algorithm for both data sets of the paper. MSLR-WEB10K (key mslr) has the settings of
-- MQ2008, but 30 epochs, and the values in the argument `mslr`.
local function both(mq2008, mslr) return { mq2008 = mq2008, mslr = with(with(mq2008, { epochs = 30 }), mslr or {}) } end

local queries = { steps = "queries", rate = 1e-4, epochs = 100 }
local eight = { steps = "groups", size = 8, rate = 1e-4, epochs = 100 }
local decay = { decay = 1e-5 }

---The algorithms that Tang et al. (2023) compare, with their batch sizes and learning rates (sections 4.2.1 and 4.2.2
---of the paper): under `paper` those of the text, under `code` those of the authors' code.
---@type objectives.Algorithm[]
M.algorithms = {
  { name = "MseNetBatched", objective = "mse",
    paper = both({ steps = "documents", size = 64, rate = 1e-3, epochs = 300 }, { steps = "groups" }),
    code = both({ steps = "documents", size = 64, rate = 5e-5, epochs = 300 }, { steps = "groups", size = false }) },
  { name = "MseNetQbQ", objective = "mse", paper = both(with(queries, { rate = 1e-3 })),
    code = both(with(queries, { rate = 1e-3, epochs = 30 })) },
  -- The paper trains RankNet in batches of 64 (section 4.2.1); in the authors' code these are 64 pairs. The settings
  -- under `paper` depart from this: a step takes one query, whose pairs are made inside the loss.
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

---The algorithm with which all other algorithms are compared in significance tests.
M.base = "MseNetBatched"

---The training settings of an algorithm for a data set.
---@param name string  name of the algorithm
---@param recipe "paper"|"code"  as the paper's text says, or as the authors' code does
---@param set objectives.Data
---@param short boolean  true: two epochs, to test that the script runs
---@return objectives.Settings
function M.settings(name, recipe, set, short)
  return with(M.by_name[name][recipe][set.kind], short and { epochs = 2, eight = false } or {})
end

---The smallest number of queries of equal length that are trained on in batches, by name of the data set; rarer lengths
---are left out. It is eight as in the authors' code, but one on the MSLR slice, where most lengths occur once.
function M.least(name) return name == "mslr" and 1 or 8 end

---Makes the network that all algorithms train (section 4.2.1 of the paper): one hidden layer of five units.
---@param features integer  number of features of a document
---@param seed integer      seed of the initial weights
function M.network(features, seed)
  return mr.models.mlp{ inputs = features, hidden = { 5 }, activation = "relu", seed = seed }
end

-- Wraps a loss so that its sum is divided by `count(lists)`. With sign -1, a loss that should be maximised is
-- minimised.
local function counting(loss, count, sign)
  local own = { name = loss.name, metric = loss.metric, options = loss.options }
  function own.count(_, lists) return count(lists) end
  return setmetatable(own, { __call = function(_, scores, lists) return sign * loss(scores, lists) end })
end

-- Returns a function that counts the pairs of rows within lists, where a pair of unequal grades counts `times` times.
local function pairs_of(times)
  return function(lists)
    local sizes = lists.sizes:double()
    local equal, all = core.equal_pairs(lists):sum():item(), (sizes * (sizes - 1)):sum():item() / 2
    return math.floor(equal + times * (all - equal) + 0.5)
  end
end

-- RankNet's loss as the mean over all pairs (section 4.1). Pairs of unequal grades are repeated until the targets 0,
-- 1/2 and 1 are equally frequent. If pairs were drawn with equally frequent targets (steps.pairs), each counts once.
local function ranknet(train, drawn)
  local loss = mr.losses.ranknet_all_pairs{ upsample = not drawn and train.lists or nil }
  return counting(loss, pairs_of(loss.options.upsample), 1)
end

---Makes the loss of an algorithm (section 3.2 of the paper). Under the recipe "code", NDCG losses have the wrong sign,
---as in the authors' code: NDCG is minimised. Queries without relevant documents then count in the mean of ApproxNDCG's
---loss.
---@param name string  name of the algorithm
---@param train mr.Dataset
---@param recipe "paper"|"code"
---@param drawn? boolean  for RankNet: true if its pairs were drawn by steps.pairs
function M.loss(name, train, recipe, drawn)
  local objective = M.by_name[name].objective
  if objective == "mse" then return mr.losses.mse() end
  if objective == "ranknet" then return ranknet(train, drawn) end
  local loss = objective == "approx_ndcg" and mr.losses.approx_ndcg{ alpha = 1 } or mr.losses.neural_ndcg()
  if recipe == "paper" then return loss end
  local all = objective == "approx_ndcg"
  return counting(loss, function(lists) return all and lists.count or math.max(1, loss:count(lists)) end, -1)
end

---Divides training data into gradient steps (section 4.2 of the paper). Returns them as data for mr.fit{train = ...,
---batch = 1, shuffle = false}, and the number of queries that are trained on.
---@param train mr.Dataset
---@param o objectives.Settings
---@param least integer  queries of equal length are left out if there are fewer than this
---@param seed integer
function M.steps(train, o, least, seed)
  if o.steps == "documents" then return steps.documents(train, o.size, seed), train.count end
  if o.steps == "pairs" then return steps.pairs(train, o.size, seed), train.count end
  if o.steps == "queries" then return train, train.count end
  return steps.equal_lengths(train, { size = o.size or nil, least = least, drop = o.eight })
end

---Returns the options of mr.fit that all trainings share: network, loss, Adam (section 4.2 of the paper), and steps in
---the order in which they were made. The second result is the number of queries that are trained on. In `run`, `name`
---is the algorithm and `o` its settings; `rate` replaces their learning rate.
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

-- Makes training measure the held-out loss on `part`: as the mean over documents if gradient steps take documents, else
-- as the mean over queries.
local function held_out(options, o, part)
  options.valid, options.reduction = part, o.steps == "documents" and "rows" or "mean"
end

---Under the recipe "paper": learning rates among which validation chooses. They include the rates of the paper's text
---(section 4.2).
M.rates = { 1e-4, 1e-3, 1e-2, 1e-1 }
---Early stopping under the recipe "paper": training ends after this many epochs without a better validation metric.
---Trainings at the learning rate of the paper's text never stop early, because their whole learning curves are drawn.
M.patience = 20

---Trains one algorithm on one official fold (section 3.1 of the paper) under the recipe "paper": features are
---standardised by the training part (section 4.1), and validation nDCG with the gain 2^y - 1 of a label y chooses the
---epoch. The second result is the number of queries that were trained on.
---@param set objectives.Data
---@param trial { algorithm: string, split: integer, rate: number }  `split`: number of the fold; `rate`: learning rate
---@param seed integer
---@param short boolean  true: two epochs, to test that the script runs
---@param change? fun(model: table)  changes the initial parameters of the model
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

---The seeds under which the recipe "code" trains: `seed` and the next two, to show how much a result depends on the
---seed; only `seed` if `short`.
function M.seeds(seed, short) return short and { seed } or { seed, seed + 1, seed + 2 } end

---All queries of a data set: the training, validation and test parts of its first fold together.
---@param set objectives.Data
---@return mr.Dataset
function M.all(set)
  local first = set.folds[1]
  return first.train:concat(first.valid, first.test)
end

---Returns only those queries of `part` that have eight documents.
---@param part mr.Dataset
---@return mr.Dataset
function M.of_eight(part)
  local numbers = {}
  for i, n in ipairs(part.lists.sizes:totable()) do
    if n == 8 then numbers[#numbers + 1] = i end
  end
  return part:select{ lists = numbers }
end

---Splits a data set into training part and evaluation part as the authors' code does (section 4.1 of the paper). On
---MQ2008 a random tenth of the queries is for evaluation. On MSLR-WEB10K the authors train on the training and test
---parts of all five folds and evaluate on the validation parts of all five, so every query is in both parts. Here 100
---queries are drawn for evaluation.
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

-- Standardises the features of each query by that query's own mean and standard deviation.
local function by_query(part)
  local found, before = {}, 0
  for i, n in ipairs(part.lists.sizes:totable()) do
    found[i] = z_scores(part.features:narrow(1, before + 1, n))
    before = before + n
  end
  return mr.cat(found, 1)
end

---Standardises features as the authors' code does, by the statistics of the part itself, with 1e-5 added to the
---variance. "rows": over all documents. "queries": within each query. "places": for queries with eight documents, which
---that code stores as one array, over the documents at the same position in their queries.
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

-- How the authors' code standardises the features of an algorithm, as the argument `how` of `M.scaled`: over all
-- documents ("rows"), within each query ("queries"), or over documents at the same position ("places").
local function scaling_of(name, o)
  if M.by_name[name].objective == "ranknet" or o.steps == "documents" then return "rows" end
  return o.eight and "places" or "queries"
end

---Trains one algorithm on the whole training part of the authors' code (recipe "code"). Returns the evaluation part,
---the network's scores of its documents, and the number of queries trained on. On MQ2008, NeuralNDCG is evaluated only
---on queries with eight documents.
---@param set objectives.Data
---@param trial { algorithm: string, seeds: integer }  `seeds`: the seed of this training
---@param short boolean  true: two epochs, to test that the script runs
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

---Trains one algorithm for its learning curves as the authors' code does (recipe "code"): on 70 % of the training part,
---with the other 30 % held out (section 4.2 of the paper). Features are standardised only if a step is a batch of
---queries of equal length and queries of all lengths are used.
---@param set objectives.Data
---@param trial { algorithm: string, seeds: integer }  `seeds`: the seed of this training
---@param short boolean  true: two epochs, to test that the script runs
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

---The ranking that the authors' code should evaluate for an algorithm: by scores, highest first, or inverted. Their
---NDCG losses are minimised by mistake and put the best document last, so the inverted order is right.
---@param name string  name of the algorithm
---@return "scores"|"inverted"
function M.meant(name) return M.by_name[name].objective:find "ndcg" and "inverted" or "scores" end

---The ranking that the authors' code does evaluate for an algorithm: by scores, highest first; by inverted scores; or
---only the first document of each query.
---@param set objectives.Data
---@param name string  name of the algorithm
---@return "scores"|"inverted"|"first document"
function M.ranker(set, name)
  if set.kind == "mslr" and name == "MseNetBatched" then return "inverted" end
  if set.kind == "mslr" and name == "MseNetQbQ" then return "first document" end
  return M.meant(name)
end

---The metrics of an algorithm on the evaluation part as the authors' code computes them (section 3.3 of the paper), by
---name of the metric and then by query.
---@param set objectives.Data
---@param name string  name of the algorithm
---@param scores mr.Tensor  the network's scores of the documents
---@param lists mr.Lists
---@return table<string, mr.Tensor>
function M.as_coded(set, name, scores, lists)
  local ranker = M.ranker(set, name)
  if ranker == "first document" then return measures.first_document(lists) end
  return measures.code(scores, lists, ranker)
end

---The validation nDCG of a training run at its chosen epoch. Under the recipe "paper", learning rates are chosen by it.
---@param run mr.Run
---@return number
function M.valid_of(run) return run.best.metrics.ndcg end

---Chooses one training run per fold: the one with learning rate `rate`, or without `rate` the one that is best on
---validation. Returns the runs by number of the fold (`split`).
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

---True if a learning rate is the smallest or the largest of `M.rates`, among which validation chooses: a better rate
---may lie beyond.
function M.at_edge(rate) return rate == M.rates[1] or rate == M.rates[#M.rates] end

-- The p-value of a permutation test with 100,000 random sign flips, paired by query.
local function paired(a, b) return mr.stats.permutation(a, b, { orders = 100000 }).p end

---Compares every algorithm with random orders and with `M.base` (MseNetBatched), by the metric of each test query.
---Returns an entry per algorithm with its mean, the change against `M.base`, and two p-values, corrected by Holm over
---all comparisons of the data set.
---@param values table<string, number[]>  metric of each test query, by algorithm
---@param random number[]  expected metric of each test query under random orders
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

---True if a corrected p-value is below 0.05.
function M.significant(p) return p < 0.05 end

---True if a number printed in the paper, rounded to two digits, lies between the smallest and the largest of our
---results over seeds (recipe "code").
function M.meets(printed, low, high) return printed >= low - 0.005 and printed <= high + 0.005 end

---Returns the epoch with the lowest held-out loss. The second result is true if this epoch is before the last tenth of
---the epochs, so that the loss rises afterwards.
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
