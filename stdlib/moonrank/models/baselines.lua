-- Baselines: models that mr.fit does not train, namely popularity, mean grades of items, nearest neighbours of items,
-- PureSVD, and random scores.
local core = require "moonrank.core"
local check = require "moonrank.check"
local folds = require "moonrank.data.fold"
local models = require "moonrank.models.model"
local declarations = require "moonrank.options"
local parameters = require "moonrank.models.parameters"
local pure_svd = require "moonrank.models.pure_svd"
local recommend = require "moonrank.models.recommend"

local M = {}

---Constructors of baselines by kind, such as "popularity".
---@type table<string, fun(options: table): mr.Baseline>
M.kinds = {}

---A model without training: called with a batch, it returns one score per row.
---@class mr.Baseline
---@field kind string
---@field config table  options that the model was made with
local Baseline = check.class("mr.Baseline")

local function new(kind, config, tensors, reads, forward)
  return setmetatable({
    kind = kind,
    config = config,
    repeats = false,
    _tensors = tensors,
    _reads = reads,
    _forward = forward,
  }, Baseline)
end

---Returns one score per row of the batch.
function Baseline:__call(batch)
  models.check_batch(self.kind, batch, self._reads)
  return self._forward(batch)
end

---Returns an empty table, because a baseline has no parameters to train.
---@return mr.Tensor[]
function Baseline.parameters() return {} end

---Returns the k items with the highest scores for a user, or for all users, like
---mr.Model:recommend.
---@param options? mr.RecommendOptions
---@return mr.Recommendations
function Baseline:recommend(options) return recommend.recommend(self, options) end

---Saves the baseline to a safetensors file, which mr.models.load reads: its options, and its tensors,
---such as the number of users of each item.
---@param path string
function Baseline:save(path)
  local names, values = check.names(self._tensors), {}
  for i, name in ipairs(names) do values[i] = self._tensors[name] end
  models.write(path, self.kind, self.config, names, values)
end

function Baseline:__tostring() return ("%s{%s}"):format(self.kind, models.options_text(self.config)) end

local function is_fold(value)
  local train = type(value) == "table" and check.field(value, "train")
  return train and check.field(train, "lists") ~= nil
end

local declare = declarations.declare
local fold = { "fold", "mr.Fold", required = true, accept = is_fold,
  expected = "a fold, such as ratings:folds{k = 3}[1]", help = "fold whose training part the model is made from" }
local k = { "k", "integer", default = 100, least = 1, help = "number of neighbours of an item" }
local shrink = { "shrink", "number", default = 0, least = 0, help = "added to the denominator of cosines" }
local factors = { "factors", "integer", default = 50, least = 1, help = "number of singular vectors" }
local iterations = { "iterations", "integer", default = 200, least = 1, help = "number of subspace iterations" }

local function seed_of(what)
  return { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the " .. what }
end

local function count_of(name)
  return { name, "integer", least = 0, help = ("number of %s, for recommend"):format(name) }
end

-- Returns a copy of an option's declaration without the default value, so that the option is required.
local function required(row)
  local same = { required = true }
  for key, value in pairs(row) do
    if key ~= "default" then same[key] = value end
  end
  return same
end

-- Returns an mr.UserItems of the relevant items of each user in the training part of a fold.
local function known_of(where, of)
  folds.check_items(where, of)
  return core.user_items(of.train.lists, of.train.users, of.train.items, of.users, of.items)
end

local function on_cpu(x) return x:to("cpu") end

-- Functions that make a baseline from its options and its tensors, by the kind of baseline.
local made = {}

function made.popularity(config, tensors)
  local counts = tensors.counts:float()
  return new("popularity", config, tensors, { "items" }, function(batch) return counts:rows(on_cpu(batch.items)) end)
end

function made.item_knn(config, tensors, neighbours)
  return new("item_knn", config, tensors, { "users", "items", "lists" }, function(batch)
    return neighbours:scores(on_cpu(batch.users), on_cpu(batch.items), batch.lists)
  end)
end

function made.random(config)
  return new("random", config, {}, { "users", "items", "lists" }, function(batch)
    return core.pair_noise(on_cpu(batch.users), on_cpu(batch.items), batch.lists, config.seed)
  end)
end

function made.item_mean(config, tensors)
  return new("item_mean", config, tensors, { "items" }, function(batch)
    return tensors.means:rows(on_cpu(batch.items))
  end)
end

function made.pure_svd(config, tensors)
  return new("pure_svd", config, tensors, { "users", "items", "lists" }, function(batch)
    return batch.lists:factor_scores(tensors.users, tensors.items, on_cpu(batch.users), on_cpu(batch.items))
  end)
end

local popularity_options = declare("mr.models.PopularityOptions", { fold })

---Makes a baseline that scores an item by its popularity: the number of users to whom the item is
---relevant in a fold's training part. The ranking is the same for all users (TopPop of Cremonesi,
---Koren & Turrin 2010, which counts ratings).
---@param options mr.models.PopularityOptions
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.popularity{fold = fold}   --> popularity{items = 90, users = 30}
function M.kinds.popularity(options)
  local where = "mr.models.popularity"
  local o = popularity_options:read(where, options)
  local known = known_of(where, o.fold)
  return made.popularity({ users = known.users, items = known.items }, { counts = known:item_counts() })
end

local item_mean_options = declare("mr.models.ItemMeanOptions", { fold })

---Makes a baseline that scores an item by the mean of its grades in a fold's training part (MovieAvg
---of Cremonesi, Koren & Turrin 2010). The score of an item without rows in the training part is the
---mean of all grades in that part. The scores, in float64, are the same for all users. They predict
---ratings if the fold has ratings as grades and no sampled negatives:
---`ratings:folds{k = 5, grades = true}`.
---@param options mr.models.ItemMeanOptions
---@return mr.Baseline
---Example:
---```lua
---local ratings = mr.data.synthetic{kind = "ratings", users = 30, items = 90}
---local fold = ratings:folds{k = 3, by = "user", grades = true}[1]
---local scores = mr.models.item_mean{fold = fold}(fold.test)
---mr.stats.rmse(scores, fold.test.lists.relevance) < 1.5   --> true
---```
function M.kinds.item_mean(options)
  local where = "mr.models.item_mean"
  local o = item_mean_options:read(where, options)
  folds.check_items(where, o.fold)
  local train, zeros = o.fold.train, core.full({ o.fold.items }, 0, "float64", "cpu")
  local items, grades = on_cpu(train.items), on_cpu(train.lists.relevance):double()
  local counts = zeros:scatter_add(1, items, grades * 0 + 1)
  local means = counts:gt(0):where(zeros:scatter_add(1, items, grades) / counts, grades:mean():item())
  return made.item_mean({ users = o.fold.users, items = o.fold.items }, { means = means })
end

local item_knn_options = declare("mr.models.ItemKnnOptions", { fold, k, shrink })

---Makes an item k-nearest-neighbours baseline (Sarwar et al. 2001; Deshpande & Karypis 2004). The
---score of item i for a user is the sum of the cosines between i and its k nearest items, over
---those that are relevant to the user in a fold's training part. The cosine of two items with n and
---m users, of whom c are common, is c / (sqrt(n m) + shrink). With equal cosines, the lower item
---number is nearer.
---@param options mr.models.ItemKnnOptions
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.item_knn{fold = fold, k = 20}   --> item_knn{items = 90, k = 20, shrink = 0, users = 30}
function M.kinds.item_knn(options)
  local where = "mr.models.item_knn"
  local o = item_knn_options:read(where, options)
  local known = known_of(where, o.fold)
  local neighbours = core.item_neighbours(known, o.k, o.shrink)
  local config = { users = known.users, items = known.items, k = o.k, shrink = o.shrink }
  return made.item_knn(config, neighbours:state(), neighbours)
end

local pure_svd_options = declare("mr.models.PureSvdOptions", { fold, factors, iterations, seed_of "first vectors" })

---Makes PureSVD (Cremonesi, Koren & Turrin 2010): the matrix [users, items] of the grades in a fold's
---training part, with 0 for all other pairs, is projected onto the singular vectors of its `factors`
---largest singular values. The score of a user and an item is the entry of the projected matrix, in
---float64. It orders items, but does not predict a rating, because most entries of the matrix are 0.
---
---Subspace iteration finds the singular vectors: the part of a smaller singular value s2 beside s1
---falls by (s2 / s1)^2 in each iteration. Memory: 8 bytes for each pair of a user and an item, and
---for each pair of two users (of two items, if there are fewer items than users). A fold with
---sampled negatives gives the same model, because their grade is 0.
---@param options mr.models.PureSvdOptions
---@return mr.Baseline
---Example:
---```lua
---local ratings = mr.data.synthetic{kind = "ratings", users = 30, items = 90}
---local fold = ratings:folds{k = 3, by = "user", grades = true}[1]
---local model = mr.models.pure_svd{fold = fold, factors = 5}
---#model:recommend{user = 1, k = 3, seen = fold}:of(1)   --> 3
---```
function M.kinds.pure_svd(options)
  local where = "mr.models.pure_svd"
  local o = pure_svd_options:read(where, options)
  folds.check_items(where, o.fold)
  local config = { users = o.fold.users, items = o.fold.items, factors = o.factors, iterations = o.iterations,
    seed = o.seed }
  local of_users, of_items = pure_svd.vectors(o.fold.train, config.users, config.items, o)
  return made.pure_svd(config, { users = of_users, items = of_items })
end

local random_options = declare("mr.models.RandomOptions", { count_of "users", count_of "items", seed_of "scores" })

---Makes a baseline with random scores: the score of a user and an item is a number in [0, 1) that
---depends only on the user, the item and the seed.
---@param options? mr.models.RandomOptions
---@return mr.Baseline
---Example: `#mr.models.random{users = 3, items = 50}:recommend{user = 2, k = 5}:of(2)   --> 5`
function M.kinds.random(options)
  return made.random(random_options:read("mr.models.random", options))
end

-- Returns the tensor with the name `name` from a baseline's file, after checking that it has `count` integers.
local function counts_in(by_name, name, count)
  return parameters.saved(by_name, name, { count }, "int64")
end

-- Functions that check the tensors of a saved file and make the baseline from them, by the kind of baseline.
local read = {}

function read.popularity(o, by_name)
  local counts = counts_in(by_name, "counts", o.items):double()
  if #counts > 0 and (counts:min():item() < 0 or counts:max():item() > o.users) then
    check.fail("tensor 'counts' has entries outside of 0 to %d, the number of users", o.users)
  end
  return made.popularity(o, { counts = by_name.counts })
end

function read.item_mean(o, by_name)
  return made.item_mean(o, { means = parameters.saved(by_name, "means", { o.items }, "float64") })
end

function read.pure_svd(o, by_name)
  local width = math.min(o.factors, o.users, o.items)
  return made.pure_svd(o, { users = parameters.saved(by_name, "users", { o.users, width }, "float64"),
    items = parameters.saved(by_name, "items", { o.items, width }, "float64") })
end

function read.item_knn(o, by_name)
  counts_in(by_name, "known_counts", o.users)
  counts_in(by_name, "counts", o.items)
  local parts = {}
  for i, name in ipairs{ "known_counts", "known_items", "counts", "items", "cosines" } do
    parts[i] = parameters.saved(by_name, name)
  end
  local neighbours = core.neighbours_of(table.unpack(parts))
  return made.item_knn(o, neighbours:state(), neighbours)
end

function read.random(o) return made.random(o) end

local users, items = required(count_of "users"), required(count_of "items")

-- For each kind of baseline: declarations of the options that a saved file contains, by which the file is checked.
local in_file = {
  popularity = declarations.unlisted("a file of popularity", { users, items }),
  item_mean = declarations.unlisted("a file of item_mean", { users, items }),
  pure_svd = declarations.unlisted("a file of pure_svd",
    { users, items, required(factors), required(iterations), required(seed_of "first vectors") }),
  item_knn = declarations.unlisted("a file of item_knn", { users, items, required(k), required(shrink) }),
  random = declarations.unlisted("a file of random",
    { count_of "users", count_of "items", required(seed_of "scores") }),
}

---Makes a baseline from the contents of its saved file. Contents that do not fit together are an error.
---@param texts table<string, string>  kind and options of the baseline
---@param by_name table<string, mr.Tensor>  tensors of the file
function M.restore(texts, by_name)
  local kind, given = texts.kind, {}
  for name, text in pairs(texts) do
    if name ~= "kind" then given[name] = math.tointeger(tonumber(text)) or tonumber(text) or text end
  end
  return check.within("the file", read[kind], in_file[kind]:read("the file", given), by_name)
end

return M
