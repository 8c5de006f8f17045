-- The data sets of the thesis' experiments, each with the model that ranks it (Westerborg 2022, chapter 4), and others beside them: mr.Fold by
-- setting, number of the fold and seed.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"

local M = {}

---@class thesis.Data
---@field title string        its name; of made-up data what they are
---@field features? integer   of queries
---@field setting string      the parameter of which it has several values: negatives per relevant item, or which labels are relevant
---@field values (integer|string)[]
---@field folds integer
---@field epochs integer
---@field patience? integer   epochs without a better one on validation after which training ends
---@field batch? integer      lists per batch (default 32)
---@field sizes integer[]     of the model, for the search of section 4.1.1
---@field size integer        which one the thesis takes
---@field rates number[]      learning rates to choose from
---@field tuning integer      on how many folds they and the sizes are chosen
---@field tuning_values? (integer|string)[]  for which of the values rates are chosen (default all)
---@field fold fun(value: integer|string, number: integer, seed: integer): mr.Fold
---@field model fun(size: integer, seed: integer): mr.Model

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or name end

-- Users with 25 relevant items or more, by matrix factorisation; five folds by user, negatives drawn once per fold and seed among all items
-- that are not relevant to the user.
local function of_users(title, relevance)
  local ratings = relevance:min_relevant(25)
  return {
    title = title, setting = "nsr", values = { 1, 2, 3 }, folds = 5, epochs = 40, size = 32, sizes = { 16, 32, 64 },
    rates = { 0.001, 0.003, 0.01, 0.03 }, tuning = 1,
    fold = function(nsr, number, seed) return ratings:folds{ k = 5, by = "user", seed = seed, nsr = nsr }[number] end,
    model = function(size, seed)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = size, init = 0.01, seed = seed }
    end,
  }
end

local function made_up_ratings() return mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }:binarize(4) end

-- Ratings of 4 and more are relevant; 412 users.
local function movielens(folder, smoke)
  return of_users("MovieLens", smoke and made_up_ratings() or mr.data.movielens(place(folder, "ml-latest-small")):binarize(4))
end

-- What is in a user's library is relevant; 2465 users. Rates are chosen at NSR 1 alone, to save time.
local function citeulike(folder, smoke)
  local set = of_users("CiteULike-a", smoke and made_up_ratings() or mr.data.citeulike(place(folder, "citeulike-a")):binarize(1))
  set.tuning_values = { 1 }
  return set
end

local function made_up_queries(features)
  local all = mr.data.synthetic{ kind = "queries", queries = 120, features = features, mean_size = 12 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { fold.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

-- Judged queries by a network of one hidden layer, features standardised by the training part; relevant from label 2 or from label 1. No
-- query is left out; where none is relevant there is nothing to rank, and the metrics are not defined.
local function of_queries(title, features, folds)
  return {
    title = title, features = features, setting = "label", values = { 2, 1 }, folds = #folds, epochs = 100, patience = 20, size = 46,
    sizes = { 6, 12, 23, 46, 69, 92 }, rates = { 0.001, 0.003, 0.01 }, tuning = 1,
    fold = function(label, number) return folds[number]:binarize(label):standardize() end,
    model = function(size, seed) return mr.models.mlp{ inputs = features, hidden = { size }, activation = "relu", seed = seed } end,
  }
end

-- Its own five folds. "Items with the highest relevance rating" are relevant to the thesis: label 2, or each query's own highest label, by
-- which no query is without; its Table 5.1 is nearer to the latter, and to label 1.
local function mq2008(folder, smoke)
  local set = of_queries("MQ2008", 46, smoke and made_up_queries(46) or mr.data.letor_folds(place(folder, "mq2008")))
  set.values, set.tuning_values = { 2, 1, "top_of_list" }, { 2, 1 }
  return set
end

-- The sets with few and long lists, in smaller batches: an epoch has about as many steps as on MQ2008.
local function of_long_lists(...)
  local set = of_queries(...)
  set.batch, set.rates = 4, { 0.001, 0.003, 0.01, 0.03 }
  return set
end

-- 102 queries of MSLR-WEB30K in its first fold's parts, with 93 documents at the median.
local function mslr(folder, smoke)
  return of_long_lists("MSLR slice", 136, smoke and made_up_queries(136) or mr.data.letor_folds(place(folder, "mslr-web-slice")))
end

-- Its five published folds, 61 queries of 230 to 728 documents; a fifth of the training queries is for validation. These are ten, so rates
-- are chosen on all folds.
local function clueweb(folder, smoke)
  local set = of_long_lists("ClueWeb09", 42,
    smoke and made_up_queries(42) or mr.data.letor_folds(place(folder, "clueweb09-ltr"), { valid = 0.2 }))
  set.tuning = set.folds
  return set
end

local sets = { movielens = movielens, mq2008 = mq2008, citeulike = citeulike, mslr = mslr, clueweb = clueweb }
M.names = { "movielens", "mq2008", "citeulike", "mslr", "clueweb" }

---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@param folder string  that has ml-latest-small, mq2008, citeulike-a, mslr-web-slice, clueweb09-ltr; "": where the program looks for data
---@param smoke boolean  a few made-up lists in place of the data, and under a title that says so
---@return thesis.Data
function M.open(name, folder, smoke)
  local data = sets[name](folder, smoke)
  if smoke then
    data.title = data.setting == "nsr" and "made-up ratings" or ("made-up queries of %d features"):format(data.features)
    data.values, data.folds, data.tuning, data.epochs, data.sizes = { data.values[1] }, 1, 1, 2, { data.sizes[1], data.size }
  end
  return data
end

return M
