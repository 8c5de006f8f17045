-- The protocol of Tang et al. (2023): every decision behind the numbers, as a value or a function. A comment names the
-- paper's section, or "code" for decisions of the authors' code, or "ours". code.lua has the protocol of that code,
-- beside.lua the tests of differences. docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = {}

-- Section on data ----------------------------------------------------------------------------------------------------

---Data sets (3.1), and ours: a slice of MSLR-WEB30K. `kind` is the data set of the paper whose settings are used.
---Queries of equal length are batched if there are at least `least`: 8 as in the authors' code, or 1 on the slice,
---where most lengths are rare.
M.sets = {
  mq2008 = { title = "MQ2008", said = "MQ2008", folder = "mq2008", features = 46, kind = "mq2008", least = 8 },
  mslr = { title = "MSLR slice", said = "the MSLR slice", folder = "mslr-web-slice", features = 136, kind = "mslr",
    least = 1 },
  web10k = { title = "MSLR-WEB10K", said = "MSLR-WEB10K", folder = "MSLR-WEB10K", features = 136, kind = "mslr",
    least = 8 },
}
M.set_names = { "mq2008", "mslr", "web10k" }

-- Section on training ------------------------------------------------------------------------------------------------

---The algorithms: a loss (3.2); what a gradient step takes: documents, queries of equal length, or one query; learning
---rate and weight decay of Adam (4.2.1, 4.2.2); and epochs (ours).
M.algorithms = {
  { name = "MseNetBatched", loss = "mse", steps = "documents", size = 64, rate = 1e-3, epochs = 300 },
  { name = "MseNetQbQ", loss = "mse", steps = "queries", rate = 1e-3, epochs = 100 },
  -- A step takes all pairs of a query's rows (ours). The paper has batches of 64 (4.2.1): pairs in the authors' code.
  { name = "RankNet", loss = "ranknet", steps = "queries", rate = 1e-4, epochs = 100 },
  { name = "ApproxNDCGBatched", loss = "approx_ndcg", steps = "lengths", size = 8, rate = 1e-4, decay = 1e-5,
    epochs = 100 },
  { name = "ApproxNDCGQbQ", loss = "approx_ndcg", steps = "queries", rate = 1e-4, decay = 1e-5, epochs = 100 },
  { name = "NeuralNDCGBatched", loss = "neural_ndcg", steps = "lengths", size = 8, rate = 1e-4, epochs = 100 },
  { name = "NeuralNDCGQbQ", loss = "neural_ndcg", steps = "queries", rate = 1e-4, epochs = 100 },
}
M.names, M.by_name = {}, {}
for i, each in ipairs(M.algorithms) do M.names[i], M.by_name[each.name] = each.name, each end

---Returns a copy of settings in which the fields of `changes` are replaced.
function M.with(settings, changes)
  local found = {}
  for name, value in pairs(settings) do found[name] = value end
  for name, value in pairs(changes) do found[name] = value end
  return found
end

---The settings of an algorithm on a data set. MSLR has 30 epochs, and batches of queries instead of documents. `short`:
---two epochs, to see that a script runs.
function M.settings(name, set, short)
  local o = M.by_name[name]
  if set.kind == "mslr" then
    o = M.with(o, { epochs = 30, steps = o.steps == "documents" and "lengths" or o.steps })
  end
  return short and M.with(o, { epochs = 2 }) or o
end

-- Returns groups of `size` documents in a random order, drawn once for all epochs. The last full group and all
-- documents after it are left out (code).
local function documents(rows, size, seed)
  local order, groups = mr.permutation(rows.count, { seed = seed, stream = "documents" }):totable(), {}
  for from = 1, #order - 2 * size + 1, size do groups[#groups + 1] = table.move(order, from, from + size - 1, 1, {}) end
  return groups
end

---Divides training data into gradient steps (4.2), which are taken in one order in every epoch (code). Also returns the
---number of queries that are trained on.
function M.steps(train, o, least, seed)
  if o.steps == "queries" then return train, train.count end
  if o.steps == "lengths" then return train:minibatches(train:equal_lengths{ size = o.size or nil, least = least }) end
  local rows = train:pointwise()
  return rows:minibatches(documents(rows, o.size, seed)), train.count
end

---The loss of settings `o` (3.2). RankNet's is a mean over all pairs of a query (4.1), those of unequal grades repeated
---until the targets 0, 1/2 and 1 are equally frequent in training.
function M.loss(o, train)
  if o.loss == "mse" then return mr.losses.mse() end
  if o.loss == "ranknet" then return mr.losses.ranknet_all_pairs{ upsample = train.lists, per = "pair" } end
  return o.loss == "approx_ndcg" and mr.losses.approx_ndcg{ steepness = 1 } or mr.losses.neural_ndcg()
end

---Options of mr.fit: one hidden layer of five units with ReLU (4.2.1), Adam (4.2), and steps in the order of `train`.
function M.training(o, train, loss, seed)
  return { model = mr.models.mlp{ inputs = train.features:size(2), hidden = { 5 }, activation = "relu", seed = seed },
    loss = loss, optimizer = mr.optim.adam{ lr = o.rate, weight_decay = o.decay or 0 }, train = train, batch = 1,
    shuffle = false, epochs = o.epochs, seed = seed, progress = false,
    reduction = o.steps == "documents" and "rows" or "mean" }
end

---Learning rates among which validation chooses (ours), with those of the paper; and after how many epochs without a
---better one training ends (ours). It goes on at the rate of the paper, because whole learning curves are drawn.
M.rates, M.patience = { 1e-4, 1e-3, 1e-2, 1e-1 }, 20

---Trains an algorithm on an official fold (3.1) at a learning rate. Features are standardised by the training part
---(4.1), and validation chooses the epoch by nDCG with the gain 2^y - 1 (ours). Returns the run, and the number of
---queries that were trained on. `change` changes the model before training.
function M.train(set, trial, seed, short, change)
  local o, fold = M.settings(trial.algorithm, set, short), set.folds[trial.split]:standardize()
  local steps, count = M.steps(fold.train, o, set.least, seed)
  local options = M.training(M.with(o, { rate = trial.rate }), steps, M.loss(o, fold.train), seed)
  if change then change(options.model) end
  options.valid, options.test, options.metrics, options.select = fold.valid, fold.test, M.metrics(), "ndcg"
  options.patience = trial.rate ~= o.rate and M.patience or nil
  return mr.fit(options), count
end

-- Section on results -------------------------------------------------------------------------------------------------

---Metrics: those of Table 1 (3.3), and nDCG with the gain 2^y - 1. "ndcg+1" is the nDCG of labels to which 1 was added
---(code), so that random orders are near 0.8. Equal scores have the mean over their orders (ours).
M.metric_names = { "ndcg+1", "ndcg+1@2", "ndcg+1@4", "ndcg+1@6", "precision@2", "precision@4", "precision@6", "ap",
  "ndcg", "ndcg@2", "ndcg@4", "ndcg@6" }
M.of_table = table.move(M.metric_names, 1, 8, 1, {})
M.caption = ": nDCG with labels + 1, precision and mean average precision"
M.titles = { "nDCG+1", "nDCG+1@2", "nDCG+1@4", "nDCG+1@6", "P@2", "P@4", "P@6", "MAP" }
function M.metrics(ties)
  local found = {}
  for i, name in ipairs(M.metric_names) do
    local plain, plus = name:gsub("%+1", "")
    found[i] = mr.metrics.parse(plain, { name = name, ties = ties, gain = plus > 0 and "exp2_plus_one" or nil })
  end
  return found
end

return M
