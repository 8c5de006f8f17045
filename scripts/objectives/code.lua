-- The recipe of the authors' code (--recipe code; github.com/catalinlup/learning-to-rank at 767b70b), where it differs
-- from protocol.lua: every decision as a value or a function, and the studies of the training runs by this recipe. The
-- authors set no seed; this project trains with several seeds. Numbers in parentheses, such as (3.3), are sections of
-- Tang et al. (2023).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local training = dofile(here .. "training.lua")
local protocol = training.protocol

local M = { training = training }

-- Section on training ------------------------------------------------------------------------------------------------

---Settings that differ from those of the paper (src/experiments.py, src/train*.py). `size` false: all queries of a
---length are one step. `eight`: only queries with eight documents, and the last step is left out.
M.changes = {
  mq2008 = { MseNetBatched = { rate = 5e-5 }, MseNetQbQ = { epochs = 30 },
    RankNet = { steps = "pairs", size = 64, epochs = 10 }, ApproxNDCGBatched = { size = 64, eight = true },
    NeuralNDCGBatched = { size = false } },
  mslr = { MseNetBatched = { rate = 5e-5, size = false }, RankNet = { steps = "pairs", size = 64, epochs = 10 },
    ApproxNDCGBatched = { size = false, rate = 1e-3 }, NeuralNDCGBatched = { size = false } },
}

---The algorithms that have numbers in Table 1, by kind of data set.
M.names = {
  mq2008 = { "MseNetBatched", "RankNet", "ApproxNDCGBatched", "ApproxNDCGQbQ", "NeuralNDCGBatched", "NeuralNDCGQbQ" },
  mslr = { "MseNetBatched", "MseNetQbQ", "ApproxNDCGBatched", "ApproxNDCGQbQ", "NeuralNDCGBatched" },
}

---The settings of an algorithm on a data set. `short`: two epochs, to see that a script runs.
function M.settings(name, set, short)
  local o = protocol.with(protocol.settings(name, set), M.changes[set.kind][name] or {})
  return short and protocol.with(o, { epochs = 2, eight = false }) or o
end

---The seeds of splits and networks, which show how much a result depends on them: three, or one if `short`.
function M.seeds(seed, short) return short and { seed } or { seed, seed + 1, seed + 2 } end

-- Returns all ordered pairs of rows of the same query, for all queries, as three arrays: `better`, `equal` and `worse`,
-- by how the grade of the first row compares with that of the second. The pair of rows i and j is the integer i << 32 |
-- j.
local function targets(set)
  local grades, found, before = set.lists.relevance:totable(), { better = {}, equal = {}, worse = {} }, 0
  for _, n in ipairs(set.lists.sizes:totable()) do
    for i = before + 1, before + n do
      for j = before + 1, before + n do
        local class = grades[i] > grades[j] and "better" or grades[i] < grades[j] and "worse" or "equal"
        if i ~= j then table.insert(found[class], i << 32 | j) end
      end
    end
    before = before + n
  end
  return found
end

-- Draws `count` entries of an array at random with replacement.
local function drawn(entries, count, seed, stream)
  local found = {}
  if #entries == 0 then return found end
  for i, u in ipairs(mr.uniform({ count }, { seed = seed, stream = stream, dtype = "float64" }):totable()) do
    found[i] = entries[math.floor(u * #entries) + 1]
  end
  return found
end

-- Returns pairs of rows for training RankNet, in random order, and for each pair whether the first row's grade is
-- "better", "equal" or "worse". All pairs of equal grades are in it. Pairs of the other two kinds are drawn at random
-- with replacement, as many of each kind as there are pairs of equal grades.
local function balanced_pairs(set, seed)
  local by_target = targets(set)
  local count, found, classes = #by_target.equal, {}, {}
  for _, class in ipairs{ "better", "equal", "worse" } do
    local some = class == "equal" and by_target.equal or drawn(by_target[class], count, seed, class)
    for _, pair in ipairs(some) do found[#found + 1], classes[#classes + 1] = pair, class end
  end
  local pairs_of, class_of = {}, {}
  for i, number in ipairs(mr.permutation(#found, { seed = seed, stream = "pairs" }):totable()) do
    pairs_of[i], class_of[i] = found[number], classes[number]
  end
  return pairs_of, class_of
end

---Training data for mr.fit whose gradient steps take `size` pairs of documents of one query, each pair as a list of two
---rows (4.1). The last step is left out.
function M.pairs(set, size, seed)
  local pairs_of, class_of = balanced_pairs(set, seed)
  local rows, relevance = {}, {}
  for i, pair in ipairs(pairs_of) do
    rows[2 * i - 1], rows[2 * i] = pair >> 32, pair & 0xffffffff
    relevance[2 * i - 1], relevance[2 * i] = class_of[i] == "better" and 1 or 0, class_of[i] == "worse" and 1 or 0
  end
  rows, relevance = mr.tensor(rows, { dtype = "int64" }), mr.tensor(relevance)
  local sizes, steps = mr.full({ size }, 2, { dtype = "int64" }), math.max(#pairs_of // size - 1, 0)
  local function each()
    local from = 1 - 2 * size
    return function()
      from = from + 2 * size
      if from > 2 * size * steps then return nil end
      local lists = mr.lists{ relevance = relevance:narrow(1, from, 2 * size), sizes = sizes }
      return { lists = lists, size = size, features = set.features:rows(rows:narrow(1, from, 2 * size)) }
    end
  end
  return { lists = set.lists, features = set.features, fingerprint = set.fingerprint, count = steps, batches = each }
end

---Divides training data into gradient steps (4.2). Also returns the number of queries that are trained on.
function M.steps(train, o, least, seed)
  if o.steps == "pairs" then return M.pairs(train, o.size, seed), train.count end
  if not o.eight then return protocol.steps(train, o, least, seed) end
  local groups = train:equal_lengths{ size = o.size or nil, least = least }
  groups[#groups > 1 and #groups or 0] = nil
  return train:minibatches(groups)
end

-- Returns a loss like `loss`, but with the opposite sign. Its mean is the sum over lists divided by `count(lists)`.
local function reversed(loss, count)
  local own = { name = loss.name, metric = loss.metric, options = loss.options }
  function own.count(_, lists) return count(lists) end
  return setmetatable(own, { __call = function(_, scores, lists) return -loss(scores, lists) end })
end

---The loss of an algorithm. NDCG losses have the wrong sign: NDCG is minimised. Queries without relevant documents then
---count in the mean of ApproxNDCG's loss. RankNet's drawn pairs have equally frequent targets, so each counts once.
function M.loss(o, train)
  if o.loss == "ranknet" then return mr.losses.ranknet_all_pairs{ per = "pair" } end
  local loss = protocol.loss(o, train)
  if o.loss == "mse" then return loss end
  local all = o.loss == "approx_ndcg"
  return reversed(loss, function(lists) return all and lists.count or math.max(1, loss:count(lists)) end)
end

-- Section on data ----------------------------------------------------------------------------------------------------

---All queries of a data set: the training, validation and test parts of its first fold together.
function M.all(set)
  local first = set.folds[1]
  return first.train:concat(first.valid, first.test)
end

---Returns only those queries of a part that have eight documents.
function M.of_eight(part)
  local numbers = {}
  for i, n in ipairs(part.lists.sizes:totable()) do
    if n == 8 then numbers[#numbers + 1] = i end
  end
  return part:select{ lists = numbers }
end

---Splits a data set into training part and evaluation part (4.1). On MQ2008 a random tenth of the queries is for
---evaluation. On MSLR-WEB10K the authors train on the training and test parts of all five folds and evaluate on the
---validation parts of all five, so every query is in both parts. Here 100 queries are drawn for evaluation.
function M.parts(set, seed)
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

---Standardises features by the statistics of the part itself, with 1e-5 added to the variance. "rows": over all
---documents. "queries": within each query. "places": for queries with eight documents, which that code stores as one
---array, over the documents at the same position in their queries.
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

-- Returns how the features of an algorithm are standardised: "rows" (over all documents), "queries" (within each query)
-- or "places" (over documents at the same position in their queries), as `M.scaled` expects it.
local function scaling_of(o)
  if o.loss == "ranknet" or o.steps == "documents" then return "rows" end
  return o.eight and "places" or "queries"
end

-- Returns the options of mr.fit for an algorithm, and the number of queries that it trains on.
local function options_of(set, train, o, seed)
  local steps, count = M.steps(train, o, set.least, seed)
  return protocol.training(o, steps, M.loss(o, train), seed), count
end

---Trains an algorithm on the whole training part. Returns the evaluation part, the network's scores of its documents,
---and the number of queries trained on. On MQ2008, NeuralNDCG is evaluated only on queries with eight documents.
---@param set table
---@param trial { algorithm: string, seeds: integer }  `seeds`: the seed of this training
---@param short boolean
---@return mr.Dataset, mr.Tensor, integer
function M.train(set, trial, short)
  local o = M.settings(trial.algorithm, set, short)
  local part, evaluation = M.parts(set, trial.seeds)
  local how = scaling_of(o)
  local train = M.scaled(o.eight and M.of_eight(part) or part, how)
  local options, count = options_of(set, train, o, trial.seeds)
  mr.fit(options)
  local only_eight = not short and set.kind == "mq2008" and o.loss == "neural_ndcg"
  local test = M.scaled(only_eight and M.of_eight(evaluation) or evaluation, how == "places" and "queries" or how)
  return test, mr.no_grad(function() return options.model{ lists = test.lists, features = test.features } end), count
end

---Trains an algorithm for its learning curves: on 70 % of the training part, with the other 30 % held out (4.2).
---Features are standardised only if a step is a batch of queries of equal length and queries of all lengths are used.
---@param set table
---@param trial { algorithm: string, seeds: integer }
---@param short boolean
---@return mr.Run
function M.train_curves(set, trial, short)
  local o = M.settings(trial.algorithm, set, short)
  local part = M.parts(set, trial.seeds)
  local train, rest = (o.eight and M.of_eight(part) or part):split{ share = 0.3, seed = trial.seeds }
  if o.steps == "lengths" and not o.eight then train, rest = M.scaled(train, "queries"), M.scaled(rest, "queries") end
  local options = options_of(set, train, o, trial.seeds)
  options.valid, options.metrics = rest, { "ndcg" }
  return mr.fit(options)
end

-- Section on metrics (3.3) -------------------------------------------------------------------------------------------

-- Returns a metric's value for each query; NaN for queries without a relevant document.
local function values_of(metric, scores, lists)
  local values = metric(scores, lists)
  return lists.relevant:to(values.dtype):gt(0):where(values, 0 / 0)
end

local function of_all(scores, lists, ties)
  local found = {}
  for _, metric in ipairs(protocol.metrics(ties)) do found[metric.name] = values_of(metric, scores, lists) end
  return found
end

-- Returns the numbers of all rows, with the rows of each list in reversed order. If rows are ranked in this order and
-- keep it where scores are equal, the last row of a list comes first among equal scores.
local function backwards(lists)
  local numbers, before = {}, 0
  for _, n in ipairs(lists.sizes:totable()) do
    for i = n, 1, -1 do numbers[#numbers + 1] = before + i end
    before = before + n
  end
  return mr.tensor(numbers, { dtype = "int64" })
end

---Metrics by name and query. Queries without relevant documents are left out (NaN), precision@k is divided by min(k, n)
---for n documents, and the last of several equal scores comes first. The `ranker` "scores" ranks the highest score
---first, "inverted" (their approx_ndcg_ranker) the lowest.
function M.metrics(scores, lists, ranker)
  local order = backwards(lists)
  local function turned(x) return x:reshape(lists.rows, 1):rows(order):reshape(lists.rows) end
  local from_last = mr.lists{ relevance = turned(lists.relevance), sizes = lists.sizes:totable() }
  local found = of_all(turned(ranker == "inverted" and -scores or scores), from_last, "stable")
  for _, k in ipairs{ 2, 4, 6 } do
    local name = "precision@" .. k
    found[name] = found[name] * k / lists.sizes:to(found[name].dtype):clamp{ max = k }
  end
  return found
end

---Metrics as in the authors' result file `mse_net_qbq_10k`, whose ranker gives one score per query, so that only the
---first document of a query counts. nDCG@k divides the document's gain by the ideal DCG of k documents; nDCG without k
---divides it by that of one document.
function M.first_document(lists)
  local found, first, ideal = {}, -mr.arange(1, lists.rows, { dtype = "float64" }), lists.relevance:double()
  local function dcg(gain, scores, k) return values_of(mr.metrics.dcg{ gain = gain, k = k }, scores, lists) end
  for _, name in ipairs(protocol.metric_names) do
    local k, gain = math.tointeger(tonumber(name:match "@(%d+)$" or 1)), name:find "%+1" and "exp2_plus_one" or "exp2"
    found[name] = name:find "^ndcg" and dcg(gain, first, 1) / dcg(gain, ideal, k)
      or values_of(mr.metrics.precision{ k = 1 }, first, lists)
  end
  return found
end

---The ranking that the code should evaluate for an algorithm: by scores, highest first, or inverted. NDCG losses are
---minimised by mistake and put the best document last, so the inverted order is right.
---@return "scores"|"inverted"
function M.meant(name) return protocol.by_name[name].loss:find "ndcg" and "inverted" or "scores" end

---The ranking that the code does evaluate: by scores, highest first; inverted; or only the first document.
---@return "scores"|"inverted"|"first document"
function M.ranker(set, name)
  if set.kind == "mslr" and name == "MseNetBatched" then return "inverted" end
  if set.kind == "mslr" and name == "MseNetQbQ" then return "first document" end
  return M.meant(name)
end

---The metrics of an algorithm on the evaluation part as the code computes them, by name and query.
function M.as_coded(set, name, scores, lists)
  local ranker = M.ranker(set, name)
  if ranker == "first document" then return M.first_document(lists) end
  return M.metrics(scores, lists, ranker)
end

---True if a printed number, rounded to two digits, lies between the least and the largest of our results over seeds.
function M.meets(printed, low, high) return printed >= low - 0.005 and printed <= high + 0.005 end

-- Section on studies -------------------------------------------------------------------------------------------------

-- Adds the mean over queries of each metric in `values` to `result`, the results of a training run. The text `before`
-- is put before the metric's name.
local function add_means(result, before, values)
  for name, x in pairs(values) do result[before .. name] = mr.stats.mean(x) end
end

-- Returns the results of a training run. They are mean metrics as the authors' code computes them, as that code should
-- compute them ("meant"), and of random orders ("random"). They are also the numbers of queries trained on, of queries
-- that have metrics ("counted"), and of queries without a relevant document ("skipped").
local function numbers_of(set, name, test, scores, trained_on)
  local values, result = M.as_coded(set, name, scores, test.lists), { trained_on = trained_on }
  add_means(result, "", values)
  add_means(result, "meant ", M.metrics(scores, test.lists, M.meant(name)))
  add_means(result, "random ", of_all(mr.zeros(test.lists.rows), test.lists))
  result.counted, result.skipped = mr.stats.summary(values.ap).n, mr.stats.summary(values.ap).skipped
  return result
end

local function study(args, set, what, metric, run)
  return mr.experiment.study(args, {
    name = ("%s, recipe code%s, seed %d"):format(set.name, what, args.seed), metric = metric,
    settings = { recipe = "code", filter = set.least },
    space = { algorithm = mr.choice(M.names[set.kind]), seeds = mr.choice(M.seeds(args.seed, args.smoke)) },
    run = run })
end

---Makes or reads the runs of all algorithms and seeds on a data set.
function M.of(args, set)
  return study(args, set, "", "ndcg+1", function(trial)
    local test, scores, queries = M.train(set, trial, args.smoke)
    return numbers_of(set, trial.algorithm, test, scores, queries)
  end)
end

---Makes or reads the runs for learning curves, which hold out 30 % of the training part.
function M.curves_of(args, set)
  return study(args, set, ", curves", "valid", function(trial)
    return training.curves(M.train_curves(set, trial, args.smoke))
  end)
end

return M
