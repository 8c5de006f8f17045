-- The systems (models) of Tables 2 and 3 of Li & Wu: how each is trained, which settings (rate, penalty or depth)
-- are tried, and how it is measured on pairs of faces. Accuracy on the validation pairs chooses setting, epoch and
-- boosting round (faces_protocol.lua).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "faces_protocol.lua")

local M = {}

-- Makes a grid: values to try for a learning rate or penalty. It maps setting numbers to the series ..., 0.3, 1, 3,
-- 10, ..., endless in both directions. Setting 1 is the value at position `first` of the series: position 0 is 1,
-- position 1 is 3, position -1 is 0.3.
local function series(name, first)
  return { name = name, extends = true, value = function(setting)
    local place = first + setting - 1
    return tonumber(("%de%d"):format(place % 2 == 0 and 1 or 3, place // 2))
  end }
end
local function depths(values)
  return { name = "depth", extends = false, value = function(setting) return values[setting] end }
end
-- Grids of values to try. Learning rates start at 0.0003 for linear models, 0.003 for networks and 0.01 for
-- regression networks. Penalties start at 0.3.
local rates = { linear = series("rate", -7), network = series("rate", -5), regression = series("rate", -4) }
local penalties = series("penalty", -1)

local function by_steps(o)
  return function(rate, data, trial)
    return protocol.fit_face({ model = o.model(data, trial.split), loss = mr.losses[o.loss]{}, train = o.train(data),
      epochs = o.epochs and o.epochs(data.epochs), rate = rate }, data, trial)
  end
end

local function by_trees(o)
  return function(depth, data, trial)
    local model = protocol.face_trees{ forest = o.forest, objective = o.objective, depth = depth, seed = trial.split }
    return protocol.fit_face({ model = model, train = o.train(data) }, data, trial)
  end
end

local function width(data) return data.train.features:size(2) end
local function pairs_of(data) return data.train.pairs end
-- Returns every image of a training pair as a row of its own, relevant if it is the older one. An image that is in
-- several pairs can be relevant in one and not in another.
local function rows_of(data) return data.train.pairs:pointwise() end
local function items_of(data) return data.train.items end
-- Returns the training images for models that are fitted without mr.fit. Making a minibatch tells the running sweep
-- which data the trial used, as mr.fit does by itself.
local function noted_items(data)
  data.train.items:batches{}()
  return data.train.items
end
local function aged_items(data) return protocol.aged(data.train.items) end

local function network(data, seed) return mr.models.mlp{ inputs = width(data), hidden = data.widths, seed = seed } end
local function direct(data, seed)
  return mr.models.direct_ranker{ inputs = width(data), hidden = data.widths, seed = seed }
end
local function linear(data, seed) return mr.models.linear{ inputs = width(data), seed = seed } end
local function convolutional(data, seed)
  return mr.models.cnn{ height = data.size, width = data.size, channels = data.images.images:size(2),
    kernel = data.kernel, seed = seed }
end

local all = {
  { name = "Reg. NN", family = "regression", grid = rates.regression,
    run = by_steps{ model = network, loss = "mse", train = aged_items, epochs = protocol.image_epochs } },
  { name = "Reg. LR-l1", family = "regression", grid = penalties, coefficients = true,
    run = function(penalty, data) return protocol.lasso(noted_items(data), penalty) end },
  { name = "Reg. LR-l2", family = "regression", grid = penalties, coefficients = true,
    run = function(penalty, data) return protocol.ridge(noted_items(data), penalty) end },
  { name = "Reg. RF", family = "regression", grid = depths{ 6, 9, 12 },
    run = by_trees{ objective = "reg:squarederror", train = items_of, forest = true } },
  { name = "Reg. Boost", family = "regression", grid = depths{ 2, 3, 4 },
    run = by_trees{ objective = "reg:squarederror", train = items_of } },
  { name = "RankNet", family = "ranking", grid = rates.network,
    run = by_steps{ model = network, loss = "ranknet", train = pairs_of } },
  { name = "DirectRanker", family = "ranking", grid = rates.network,
    run = by_steps{ model = direct, loss = "direct_ranker", train = pairs_of } },
  { name = "Rank LR", family = "ranking", grid = rates.linear, coefficients = true,
    run = by_steps{ model = linear, loss = "ranknet", train = pairs_of } },
  { name = "RankCNN", family = "ranking", grid = rates.network, pixels = true,
    run = by_steps{ model = convolutional, loss = "ranknet", train = pairs_of } },
  { name = "Class CNN", family = "classification", grid = rates.network, pixels = true,
    run = by_steps{ model = convolutional, loss = "bce", train = rows_of } },
  { name = "Class NN", family = "classification", grid = rates.network, features = true,
    run = by_steps{ model = network, loss = "bce", train = rows_of } },
  { name = "Class LR", family = "classification", grid = rates.linear, coefficients = true,
    run = by_steps{ model = linear, loss = "bce", train = rows_of } },
  { name = "Class RF", family = "classification", grid = depths{ 4, 6, 8 },
    run = by_trees{ objective = "binary:logistic", train = rows_of, forest = true } },
  { name = "Class Boost", family = "classification", grid = depths{ 2, 3, 4 },
    run = by_trees{ objective = "binary:logistic", train = rows_of } },
}

---Returns the systems (models) of Table 2 (pixels) or Table 3 (features), in the order of the table's
---rows.
---@param features boolean  true for Table 3
function M.of(features)
  local found = {}
  for _, each in ipairs(all) do
    if not (features and each.pixels) and (features or not each.features) then found[#found + 1] = each end
  end
  return found
end

-- Returns the model's score of each image of a part.
local function scores_of(model, part)
  return mr.no_grad(function() return model{ lists = part.items.lists, features = part.features } end)
end

---Trains a system with a value of its grid (a learning rate, penalty or depth) and measures it.
---`accuracy` is the share of test pairs whose older image has the larger score (ties count half). A
---classifier's `both` is the share of test pairs whose older image it labels 1 and whose younger image
---0. A regression's `r2` is that of predicted ages. `valid` is the accuracy on validation pairs, which
---chooses the value; it is 0 if training diverges. The trial stores, per test pair, the older image's
---score minus the younger's, and the weights of a linear model.
function M.run(system, value, data, trial)
  local model
  local found = protocol.or_diverged(function()
    model = system.run(value, data, trial)
    return {}
  end)
  if not model then return found end
  local function score(part) return scores_of(model, part) end
  local margins
  found, margins = protocol.judge(system.family, score, data, system.name == "Reg. NN" and protocol.oldest or nil)
  found.per_list = { margin = margins }
  if system.coefficients then found.per_list.weights = model:parameters()[1]:reshape(width(data)) end
  return found
end

return M
