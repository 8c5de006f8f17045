-- The algorithms of Tang et al. (2023): one network, f-5-1 with ReLU, under four objectives, trained in batches or query by query ("QbQ").
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local steps = dofile(here .. "steps.lua")

local M = {}

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
---@field paper table<"mq2008"|"mslr", objectives.Settings>  by their text (4.2), which says nothing of epochs: those are the most
---@field code table<"mq2008"|"mslr", objectives.Settings>   by their code (src/experiments.py, src/train*.py at 767b70b)

-- Settings with others in place of some.
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

---@type objectives.Algorithm[]
M.list = {
  { name = "MseNetBatched", objective = "mse",
    paper = both({ steps = "documents", size = 64, rate = 1e-3, epochs = 300 }, { steps = "groups" }),
    code = both({ steps = "documents", size = 64, rate = 5e-5, epochs = 300 }, { steps = "groups", size = false }) },
  { name = "MseNetQbQ", objective = "mse", paper = both(with(queries, { rate = 1e-3 })),
    code = both(with(queries, { rate = 1e-3, epochs = 30 })) },
  -- by query as well: the pairs of a query are made inside the loss, and none is kept
  { name = "RankNet", objective = "ranknet", paper = both(queries),
    code = both({ steps = "pairs", size = 64, rate = 1e-4, epochs = 10 }, { epochs = 10 }) },
  { name = "ApproxNDCGBatched", objective = "approx_ndcg", paper = both(with(eight, decay)),
    code = both(with(with(eight, decay), { size = 64, eight = true }), { eight = false, size = false, rate = 1e-3 }) },
  { name = "ApproxNDCGQbQ", objective = "approx_ndcg", paper = both(with(queries, decay)), code = both(with(queries, decay)) },
  { name = "NeuralNDCGBatched", objective = "neural_ndcg", paper = both(eight), code = both(with(eight, { size = false })) },
  { name = "NeuralNDCGQbQ", objective = "neural_ndcg", paper = both(queries), code = both(queries) },
}

M.names, M.by_name = {}, {}
for i, each in ipairs(M.list) do M.names[i], M.by_name[each.name] = each.name, each end

---The network of all algorithms.
---@param features integer
---@param seed integer
function M.network(features, seed) return mr.models.mlp{ inputs = features, hidden = { 5 }, activation = "relu", seed = seed } end

-- A loss whose mean counts otherwise; sign -1 makes what was to be maximised go down.
local function counting(loss, count, sign)
  local own = { name = loss.name, metric = loss.metric, options = loss.options, count = function(_, lists) return count(lists) end }
  return setmetatable(own, { __call = function(_, scores, lists) return sign * loss(scores, lists) end })
end

-- Pairs of rows of lists, those of unequal grades as often as upsampling has them.
local function pairs_of(times)
  return function(lists)
    local sizes = lists.sizes:double()
    local equal, all = core.equal_pairs(lists):double():sum():item(), (sizes * (sizes - 1)):sum():item() / 2
    return math.floor(equal + times * (all - equal) + 0.5)
  end
end

-- RankNet over all pairs, those of unequal grades as often as makes the targets 0, 1/2 and 1 equally many: the mean over pairs. Pairs that were
-- drawn so (steps.pairs) count once.
local function ranknet(train, drawn)
  local loss = mr.losses.ranknet_all_pairs{ upsample = not drawn and train.lists or nil }
  return counting(loss, pairs_of(loss.options.upsample), 1)
end

---The loss of an algorithm. Under the recipe `code` the NDCGs, which are to be maximised, are minimised, and queries without relevant
---documents count as steps.
---@param objective string
---@param train mr.Dataset
---@param recipe "paper"|"code"
---@param drawn? boolean  RankNet: its pairs were drawn
function M.loss(objective, train, recipe, drawn)
  if objective == "mse" then return mr.losses.mse() end
  if objective == "ranknet" then return ranknet(train, drawn) end
  local loss = objective == "approx_ndcg" and mr.losses.approx_ndcg{ alpha = 1 } or mr.losses.neural_ndcg()
  if recipe == "paper" then return loss end
  local all = objective == "approx_ndcg"
  return counting(loss, function(lists) return all and lists.count or math.max(1, loss:count(lists)) end, -1)
end

---Training data by steps, for mr.fit{train = ..., batch = 1, shuffle = false}; returns how many queries take part, too.
---@param set mr.Dataset
---@param o objectives.Settings
---@param filter integer  least queries of a length
---@param seed integer
function M.steps(set, o, filter, seed)
  if o.steps == "documents" then return steps.documents(set, o.size, seed), set.count end
  if o.steps == "pairs" then return steps.pairs(set, o.size, seed), set.count end
  if o.steps == "queries" then return set, set.count end
  return steps.equal_lengths(set, { size = o.size or nil, least = filter, drop = o.eight })
end

return M
