-- The five settings of the grid: data, and the model that ranks them. Grades are as the data have them.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local cache = dofile(here .. "../kept_runs.lua").cache

local M = {}

---@class grid.Setting
---@field title string      of the model and its data; of made-up data what they are
---@field unit string       what a list belongs to
---@field folds integer     runs of each loss under each bound: folds, or seeds where there is one split
---@field seeds? boolean    whether these runs have the same lists, and differ by seed
---@field epochs integer    at most; of trees rounds
---@field patience integer  epochs without a better one on validation after which training ends
---@field batch? integer    lists per step; none with trees
---@field rates number[]    learning rates that the choice begins with
---@field least number      the lowest one that is tried
---@field most number       and the highest
---@field fold fun(number: integer): mr.Fold
---@field model fun(number: integer, rate: number): mr.Model|mr.Trees

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or name end

-- The same call by number once.
local function kept(make)
  local made = cache()
  return function(number)
    made[number] = made[number] or make(number)
    return made[number]
  end
end

-- Users with 25 relevant items or more, three of five folds by user, as many other items as relevant ones in each list.
local function of_users(title, relevance)
  local ratings = relevance:min_relevant(25)
  return {
    title = title, unit = "user", folds = 3, epochs = 200, patience = 10, batch = 32, rates = { 0.003, 0.01, 0.03 },
    least = 1e-5, most = 10,
    fold = kept(function(number) return ratings:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[number] end),
    model = function(number)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = number }
    end,
  }
end

local function of_queries(title, folds, columns)
  return {
    title = title, unit = "query", folds = 3, epochs = 200, patience = 20, batch = 32, rates = { 0.001, 0.003, 0.01 },
    least = 1e-5, most = 1,
    fold = kept(function(number) return folds[math.min(number, #folds)]:standardize() end),
    model = function(number)
      return mr.models.mlp{ inputs = columns, hidden = { 46 }, activation = "relu", seed = number }
    end,
  }
end

local function made_up_ratings() return mr.data.synthetic{ kind = "ratings", users = 30, items = 200 }:binarize(4) end

local function made_up_queries(columns)
  local all = mr.data.synthetic{ kind = "queries", queries = 40, features = columns, mean_size = 10 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { fold.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

local function letor(folder, name, smoke, columns)
  return smoke and made_up_queries(columns) or mr.data.letor_folds(place(folder, name))
end

local settings = {}

-- Ratings of 4 and more are relevant.
function settings.movielens(folder, smoke)
  return of_users("MF, MovieLens", smoke and made_up_ratings() or mr.data.movielens(place(folder, "ml-latest-small")):binarize(4))
end

-- What is in a user's library is relevant.
function settings.citeulike(folder, smoke)
  return of_users("MF, CiteULike-a", smoke and made_up_ratings() or mr.data.citeulike(place(folder, "citeulike-a")):binarize(1))
end

-- The first three of its own five folds, labels 0 to 2, a network of one hidden layer.
function settings.mq2008(folder, smoke) return of_queries("MLP, MQ2008", letor(folder, "mq2008", smoke, 46), 46) end

-- The same folds, trees of depth 5.
function settings.trees(folder, smoke)
  local set = of_queries("trees, MQ2008", letor(folder, "mq2008", smoke, 46), 46)
  set.batch, set.rates, set.least = nil, { 0.03, 0.1, 0.3 }, 1e-5
  local folds = letor(folder, "mq2008", smoke, 46)
  set.fold = kept(function(number) return folds[math.min(number, #folds)] end)
  set.model = function(number, rate) return mr.models.trees{ rounds = set.epochs, depth = 5, eta = rate, seed = number } end
  return set
end

-- 102 queries of MSLR-WEB30K, labels 0 to 4, with 93 documents at the median: one split, three seeds of the network.
function settings.mslr(folder, smoke)
  local set = of_queries("MLP, MSLR slice", letor(folder, "mslr-web-slice", smoke, 136), 136)
  set.batch, set.seeds = 4, true
  return set
end

M.names = { "movielens", "citeulike", "mq2008", "trees", "mslr" }

---@param name "movielens"|"citeulike"|"mq2008"|"trees"|"mslr"
---@param folder string  that has ml-latest-small, citeulike-a, mq2008, mslr-web-slice; "": where the program looks for data
---@param smoke boolean  a few made-up lists in place of the data, and under a title that says so
---@return grid.Setting
function M.open(name, folder, smoke)
  local set = settings[name](folder, smoke)
  set.name = name
  if smoke then
    set.title = ("%s, made-up (%s)"):format(set.title:match "^%w+", name)
    set.folds, set.epochs, set.least, set.most = 1, 2, set.rates[1], set.rates[#set.rates]
  end
  return set
end

return M
