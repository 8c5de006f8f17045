-- Models that are counted, not trained: popularity, nearest items, and chance.
local core = require "moonrank.core"
local check = require "moonrank.check"
local recommend = require "moonrank.models.recommend"

local M = {}

---@class mr.Baseline
---@field kind string
---@field config table  what it was made with
local Baseline = check.class("mr.Baseline")

local function new(kind, config, forward)
  return setmetatable({ kind = kind, config = config, repeats = false, _forward = forward }, Baseline)
end

---One score per row of the batch.
function Baseline:__call(batch) return self._forward(batch) end

---None: there is nothing to train.
---@return mr.Tensor[]
function Baseline.parameters() return {} end

---The k items with the highest scores for a user, or for all users, as mr.Model's recommend.
---@param options? table
---@return mr.Recommendations
function Baseline:recommend(options) return recommend.recommend(self, options) end

function Baseline:__tostring()
  local parts = {}
  for _, name in ipairs(check.names(self.config)) do parts[#parts + 1] = ("%s = %s"):format(name, tostring(self.config[name])) end
  return ("%s{%s}"):format(self.kind, table.concat(parts, ", "))
end

-- Users and items of a fold, and which of its training part each user has.
local function known_of(where, fold)
  if type(fold) ~= "table" or not pcall(function() return fold.train.lists end) then
    check.fail("%s: fold is a %s, expected a fold", where, type(fold))
  end
  if not fold.items then check.fail("%s: this fold has no users and items", where) end
  return core.user_items(fold.train.lists, fold.train.users, fold.train.items, fold.users, fold.items)
end

local function on_cpu(x) return x:to("cpu") end

---How many users have the item among the relevant ones of a fold's training part: the same ranking for all users.
---@param options { fold: mr.Fold }
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.popularity{fold = fold}   --> popularity{items = 90, users = 30}
function M.popularity(options)
  local where = "mr.models.popularity"
  local o = check.options(where, options, { fold = check.none })
  local known = known_of(where, o.fold)
  local counts = known:item_counts():float()
  return new("popularity", { users = known.users, items = known.items }, function(batch) return counts:rows(on_cpu(batch.items)) end)
end

---Item k-nearest-neighbours (Sarwar et al. 2001; Deshpande & Karypis 2004): the score of an item for a user is the sum of its cosines with those
---of his items in a fold's training part that are among its k nearest. The cosine of two items that c users have both, and n and m users one, is
---c / (sqrt(n m) + shrink). Of equally near items the lower number comes first.
---@param options { fold: mr.Fold, k?: integer, shrink?: number }  defaults 100, 0
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.item_knn{fold = fold, k = 20}   --> item_knn{items = 90, k = 20, shrink = 0, users = 30}
function M.item_knn(options)
  local where = "mr.models.item_knn"
  local o = check.options(where, options, { fold = check.none, k = 100, shrink = 0 })
  if math.type(o.k) ~= "integer" or o.k < 1 then check.fail("%s: k is %s, expected an integer of at least 1", where, tostring(o.k)) end
  if not (o.shrink >= 0 and o.shrink < math.huge) then check.fail("%s: shrink is %s, expected 0 or more", where, tostring(o.shrink)) end
  local known = known_of(where, o.fold)
  local neighbours = core.item_neighbours(known, o.k, o.shrink)
  local config = { users = known.users, items = known.items, k = o.k, shrink = o.shrink }
  return new("item_knn", config, function(batch) return neighbours:scores(on_cpu(batch.users), on_cpu(batch.items), batch.lists) end)
end

---Scores by chance: for each user and item a number from [0, 1) that depends on these two and the seed alone.
---@param options? { users?: integer, items?: integer, seed?: integer }  how many there are, for recommend; seed 1
---@return mr.Baseline
---Example: `#mr.models.random{users = 3, items = 50}:recommend{user = 2, k = 5}:of(2)   --> 5`
function M.random(options)
  local where = "mr.models.random"
  local o = check.options(where, options, { users = check.none, items = check.none, seed = 1 })
  if math.type(o.seed) ~= "integer" then check.fail("%s: seed is %s, expected an integer", where, tostring(o.seed)) end
  return new("random", o, function(batch) return core.pair_noise(on_cpu(batch.users), on_cpu(batch.items), batch.lists, o.seed) end)
end

return M
