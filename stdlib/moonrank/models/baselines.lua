-- Models that are counted, not trained: popularity, nearest items, and chance.
local core = require "moonrank.core"
local check = require "moonrank.check"
local models = require "moonrank.models.model"
local recommend = require "moonrank.models.recommend"

local M = {}

---What makes each, by name.
---@type table<string, fun(options: table): mr.Baseline>
M.kinds = {}

---@class mr.Baseline
---@field kind string
---@field config table  what it was made with
local Baseline = check.class("mr.Baseline")

local function new(kind, config, tensors, reads, forward)
  return setmetatable({ kind = kind, config = config, repeats = false, _tensors = tensors, _reads = reads, _forward = forward }, Baseline)
end

---One score per row of the batch.
function Baseline:__call(batch)
  models.check_batch(self.kind, batch, self._reads)
  return self._forward(batch)
end

---None: there is nothing to train.
---@return mr.Tensor[]
function Baseline.parameters() return {} end

---The k items with the highest scores for a user, or for all users, as mr.Model's recommend.
---@param options? table
---@return mr.Recommendations
function Baseline:recommend(options) return recommend.recommend(self, options) end

---Writes the counts (sparse ones of item_knn) and the options to a safetensors file, as mr.Model's save; mr.models.load reads it.
---@param path string
function Baseline:save(path)
  local names, values, keys, texts = check.names(self._tensors), {}, { "kind" }, { self.kind }
  for i, name in ipairs(names) do values[i] = self._tensors[name] end
  for _, name in ipairs(check.names(self.config)) do keys[#keys + 1], texts[#texts + 1] = name, models.written(self.config[name]) end
  core.make_folder(path)
  core.save_tensors(path, "moonrank model 1", names, values, keys, texts)
end

function Baseline:__tostring()
  local parts = {}
  for _, name in ipairs(check.names(self.config)) do parts[#parts + 1] = ("%s = %s"):format(name, tostring(self.config[name])) end
  return core.safe_text(("%s{%s}"):format(self.kind, table.concat(parts, ", ")))
end

-- Users and items of a fold, and which of its training part each user has.
local function known_of(where, fold)
  if type(fold) ~= "table" or not check.attempt(function() return fold.train.lists end) then
    check.fail("%s: fold is a %s, expected a fold", where, type(fold))
  end
  if not fold.items then check.fail("%s: this fold has no users and items", where) end
  return core.user_items(fold.train.lists, fold.train.users, fold.train.items, fold.users, fold.items)
end

local function on_cpu(x) return x:to("cpu") end

-- Each from its options and tensors, those of a fold or of a file.
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

---How many users have the item among the relevant ones of a fold's training part: the same ranking for all users (TopPop of Cremonesi, Koren &
---Turrin 2010, which counts ratings).
---@param options { fold: mr.Fold }
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.popularity{fold = fold}   --> popularity{items = 90, users = 30}
function M.kinds.popularity(options)
  local where = "mr.models.popularity"
  local o = check.options(where, options, { fold = check.none })
  local known = known_of(where, o.fold)
  return made.popularity({ users = known.users, items = known.items }, { counts = known:item_counts() })
end

local function check_nearest(where, o)
  check.positive_integers(where, o, { "k" })
  if type(o.shrink) ~= "number" or not (o.shrink >= 0 and o.shrink < math.huge) then
    check.fail("%s: shrink is %s, expected 0 or more", where, tostring(o.shrink))
  end
end

---Item k-nearest-neighbours (Sarwar et al. 2001; Deshpande & Karypis 2004): the score of an item for a user is the sum of its cosines with those
---of his items in a fold's training part that are among its k nearest. The cosine of two items that c users have both, and n and m users one, is
---c / (sqrt(n m) + shrink). Of equally near items the lower number comes first.
---@param options { fold: mr.Fold, k?: integer, shrink?: number }  defaults 100, 0
---@return mr.Baseline
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---mr.models.item_knn{fold = fold, k = 20}   --> item_knn{items = 90, k = 20, shrink = 0, users = 30}
function M.kinds.item_knn(options)
  local where = "mr.models.item_knn"
  local o = check.options(where, options, { fold = check.none, k = 100, shrink = 0 })
  check_nearest(where, o)
  local known = known_of(where, o.fold)
  local neighbours = core.item_neighbours(known, o.k, o.shrink)
  local config = { users = known.users, items = known.items, k = o.k, shrink = o.shrink }
  return made.item_knn(config, neighbours:state(), neighbours)
end

local function check_random(where, o)
  check.seed(where, o.seed)
end

---Scores by chance: for each user and item a number from [0, 1) that depends on these two and the seed alone.
---@param options? { users?: integer, items?: integer, seed?: integer }  how many there are, for recommend; seed 1
---@return mr.Baseline
---Example: `#mr.models.random{users = 3, items = 50}:recommend{user = 2, k = 5}:of(2)   --> 5`
function M.kinds.random(options)
  local where = "mr.models.random"
  local o = check.options(where, options, { users = check.none, items = check.none, seed = 1 })
  check_random(where, o)
  return made.random(o)
end

-- The tensor of a file, which has one number for each of `count`.
local function counts_in(by_name, name, what, count)
  local x = by_name[name]
  if not x then check.fail("no tensor '%s' in the file", name) end
  if x.dtype ~= "int64" or x.dims ~= 1 or #x ~= count then
    check.fail("tensor '%s' is {%s} %s, expected {%s} int64: one for each of the %s", name, table.concat(x:shape(), ", "), x.dtype,
      tostring(count), what)
  end
  return x
end

-- What each needs of a file, checked.
local read = {}

function read.popularity(o, by_name)
  local counts = counts_in(by_name, "counts", "items", o.items):double()
  if #counts > 0 and (counts:min():item() < 0 or counts:max():item() > o.users) then
    check.fail("tensor 'counts' is not within 0 and %d, the number of users", o.users)
  end
  return made.popularity(o, { counts = by_name.counts })
end

function read.item_knn(o, by_name)
  check_nearest("item_knn", o)
  counts_in(by_name, "known_counts", "users", o.users)
  counts_in(by_name, "counts", "items", o.items)
  local parts = {}
  for i, name in ipairs{ "known_counts", "known_items", "counts", "items", "cosines" } do
    parts[i] = by_name[name]
    if not parts[i] then check.fail("no tensor '%s' in the file", name) end
  end
  local neighbours = core.neighbours_of(table.unpack(parts))
  return made.item_knn(o, neighbours:state(), neighbours)
end

function read.random(o)
  check_random("random", o)
  return made.random(o)
end

---A model from what its file holds.
---@param texts table<string, string>  its kind and options
---@param by_name table<string, mr.Tensor>
---@return mr.Baseline
function M.restore(texts, by_name)
  local none, given = check.none, {}
  for name, text in pairs(texts) do
    if name ~= "kind" then given[name] = math.tointeger(tonumber(text)) or tonumber(text) or text end
  end
  local kind = texts.kind
  local o = check.options("the file", given, { users = none, items = none, k = kind == "item_knn" and none or nil,
    shrink = kind == "item_knn" and none or nil, seed = kind == "random" and none or nil })
  for _, name in ipairs{ "users", "items" } do
    if (kind ~= "random" or o[name] ~= nil) and not (math.type(o[name]) == "integer" and o[name] >= 0) then
      check.fail("%s is %s, expected how many there are", name, core.safe_text(tostring(o[name])))
    end
  end
  local ok, found = pcall(read[kind], o, by_name)
  if found == "interrupted" then error(found, 0) end
  return ok and found or check.fail("%s", check.reason(found))
end

return M
