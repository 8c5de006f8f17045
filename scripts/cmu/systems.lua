-- The systems of Li & Wu's Tables 2 and 3: how each is trained on the training part, with which settings to choose from, and how it is measured
-- on pairs. Whatever is chosen (setting, epoch, round) is chosen by pairwise accuracy on the validation pairs (protocol.lua).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

local oldest = 80  -- by which ages are divided for networks
local rates = { linear = { 0.0003, 0.001, 0.003 }, network = { 0.003, 0.01, 0.03 }, regression = { 0.01, 0.03, 0.1 } }

local function by_steps(o)
  return function(setting, data, trial)
    return protocol.fit_face({ model = o.model(data, trial.split), loss = mr.losses[o.loss]{}, train = o.train(data),
      epochs = o.epochs and o.epochs(data), rate = o.rates[setting] }, data, trial)
  end
end

local function by_trees(o)
  return function(setting, data, trial)
    local options = { objective = o.objective, seed = trial.split, depth = o.depths[setting] }
    for name, value in pairs(o.options) do options[name] = value end
    return protocol.fit_face({ model = mr.models.trees(options), train = o.train(data) }, data, trial)
  end
end

local function width(data) return data.train.features:size(2) end
local function pairs_of(data) return data.train.pairs end
-- Every image of a pair by itself, relevant where it is the older one: an image has both labels in different pairs.
local function rows_of(data) return data.train.pairs:pointwise() end
local function items_of(data) return data.train.items end
-- The same for models that are solved: a sweep records the data that batches are made of, as mr.fit does by itself.
local function noted_items(data)
  data.train.items:batches{}()
  return data.train.items
end
local function aged_items(data)
  local items = data.train.items
  return mr.data.dataset{ lists = items.lists:with_relevance(items.lists.relevance * (1 / oldest)), features = items.features }
end

local hidden = { 200, 100, 50 }
local function network(data, seed) return mr.models.mlp{ inputs = width(data), hidden = hidden, seed = seed } end
local function direct(data, seed) return mr.models.direct_ranker{ inputs = width(data), hidden = hidden, seed = seed } end
local function linear(data, seed) return mr.models.linear{ inputs = width(data), seed = seed } end
local function convolutional(data, seed)
  return mr.models.cnn{ height = data.size, width = data.size, channels = data.images.images:size(2), kernel = data.kernel, seed = seed }
end

local forest = { trees = 100, rounds = 1, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33 }
local boosting = { rounds = 100, eta = 0.1 }
local penalties = { 0.3, 1.0, 3.0 }

local all = {
  { name = "Reg. NN", family = "regression",
    run = by_steps{ model = network, loss = "mse", train = aged_items, rates = rates.regression,
      epochs = function(data) return 6 * data.epochs end } },  -- an epoch has fewer steps than one of pairs
  { name = "Reg. LR-l1", family = "regression", coefficients = true,
    run = function(setting, data)
      return mr.models.lasso{ train = noted_items(data), alpha = penalties[setting], tolerance = 1e-4, passes = 1000 }
    end },
  { name = "Reg. LR-l2", family = "regression", coefficients = true,
    run = function(setting, data) return mr.models.ridge{ train = noted_items(data), alpha = 1000 * penalties[setting] } end },
  { name = "Reg. RF", family = "regression",
    run = by_trees{ objective = "reg:squarederror", train = items_of, depths = { 6, 9, 12 }, options = forest } },
  { name = "Reg. Boost", family = "regression",
    run = by_trees{ objective = "reg:squarederror", train = items_of, depths = { 2, 3, 4 }, options = boosting } },
  { name = "RankNet", family = "ranking", run = by_steps{ model = network, loss = "ranknet", train = pairs_of, rates = rates.network } },
  { name = "DirectRanker", family = "ranking",
    run = by_steps{ model = direct, loss = "direct_ranker", train = pairs_of, rates = rates.network } },
  { name = "Rank LR", family = "ranking", coefficients = true,
    run = by_steps{ model = linear, loss = "ranknet", train = pairs_of, rates = rates.linear } },
  { name = "RankCNN", family = "ranking", pixels = true,
    run = by_steps{ model = convolutional, loss = "ranknet", train = pairs_of, rates = rates.network } },
  { name = "Class CNN", family = "classification", pixels = true,
    run = by_steps{ model = convolutional, loss = "bce", train = rows_of, rates = rates.network } },
  { name = "Class NN", family = "classification", features = true,
    run = by_steps{ model = network, loss = "bce", train = rows_of, rates = rates.network } },
  { name = "Class LR", family = "classification", coefficients = true,
    run = by_steps{ model = linear, loss = "bce", train = rows_of, rates = rates.linear } },
  { name = "Class RF", family = "classification",
    run = by_trees{ objective = "binary:logistic", train = rows_of, depths = { 4, 6, 8 }, options = forest } },
  { name = "Class Boost", family = "classification",
    run = by_trees{ objective = "binary:logistic", train = rows_of, depths = { 2, 3, 4 }, options = boosting } },
}

---The systems of Table 2 (pixels) or 3 (features), in the order of the tables.
---@param features boolean
function M.of(features)
  local found = {}
  for _, each in ipairs(all) do
    if not (features and each.pixels) and (features or not each.features) then found[#found + 1] = each end
  end
  return found
end

-- One score for each image of a part.
local function scores_of(model, part) return model{ lists = part.items.lists, features = part.features } end

---Trains a system and measures it: `accuracy` is the share of test pairs whose older image has the larger score (equal ones half), `both` of a
---classifier the share of those whose older image it labels 1 and whose younger one 0, `r2` that of predicted ages; `valid` chooses. The
---margin of each test pair and the weights of linear models stay with the trial.
function M.run(system, setting, data, trial)
  local model = system.run(setting, data, trial)
  local function score(part) return scores_of(model, part) end
  local found, margins = protocol.judge(system.family, score, data, system.name == "Reg. NN" and oldest or nil)
  found.per_list = { margin = margins }
  if system.coefficients then found.per_list.weights = model:parameters()[1]:reshape(width(data)) end
  return found
end

return M
