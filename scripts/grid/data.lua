-- The five settings of the grid experiment: each is a data set with the model that ranks its lists. Grades of queries
-- are unchanged; ratings are made binary (protocol.lua).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---@class grid.Setting      a data set, the model that ranks its lists, and how it is trained
---@field title string      names the model and the data; for made-up data it says so
---@field unit string       what a list belongs to: "user" or "query"
---@field folds integer     runs of each loss under each bound: one per fold, or one per seed if there is one split
---@field seeds? boolean    true if the runs share one split and differ by seed
---@field epochs integer    largest number of epochs, or of rounds of trees
---@field patience integer  epochs without a better validation metric after which training ends
---@field batch? integer    lists per step; nil for trees
---@field rates number[]    learning rates that are tried first
---@field least number      the lowest learning rate that may be tried
---@field most number       the highest learning rate that may be tried
---@field fold fun(number: integer): mr.Fold  parts for training, validation and test, by number of the fold or seed
---@field model fun(number: integer, rate: number): mr.Model|mr.Trees  a new model; `number` is its seed

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or name end

local function made_up_ratings(unary)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 200 }
  return unary and ratings:binarize(4) or ratings
end

local function made_up_queries(columns)
  local all = mr.data.synthetic{ kind = "queries", queries = 40, features = columns, mean_size = 10 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { mr.data.fold{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

---@class grid.Source        how a data set is read from its files
---@field title string       model and data set
---@field unary? boolean     true for ratings without values: every item that a user has is relevant
---@field features? integer  number of features of a query's documents; nil for ratings
---@field read fun(folder: string): mr.Ratings|mr.Fold[]  reads the files; "": the default data folder

local function mq2008(folder) return mr.data.letor_folds(place(folder, "mq2008")) end

---@type table<string, grid.Source>
local sources = {
  movielens = { title = "MF, MovieLens",
    read = function(folder) return mr.data.movielens(place(folder, "ml-latest-small")) end },
  citeulike = { title = "MF, CiteULike-a", unary = true,
    read = function(folder) return mr.data.citeulike(place(folder, "citeulike-a")) end },
  mq2008 = { title = "MLP, MQ2008", features = 46, read = mq2008 },
  trees = { title = "trees, MQ2008", features = 46, read = mq2008 },
  -- A slice of MSLR-WEB30K: 102 queries with labels 0 to 4 and a median of 93 documents.
  mslr = { title = "MLP, MSLR slice", features = 136,
    read = function(folder) return mr.data.letor_folds(place(folder, "mslr-web-slice")) end },
}

M.names = { "movielens", "citeulike", "mq2008", "trees", "mslr" }

---Reads the data of a setting and returns it with its model and the settings of training.
---@param name "movielens"|"citeulike"|"mq2008"|"trees"|"mslr"
---@param folder string  folder of ml-latest-small, citeulike-a, mq2008 and mslr-web-slice; "": the default data folder
---@param smoke boolean  true: a few made-up lists instead of the data, and a title that says so
---@return grid.Setting
function M.open(name, folder, smoke)
  local source = sources[name]
  local made_up = smoke and (source.features and made_up_queries(source.features) or made_up_ratings(source.unary))
  local set = protocol.sets[name](made_up or source.read(folder), source.features)
  set.name, set.title = name, source.title
  if smoke then
    set.title = ("%s, made-up (%s)"):format(set.title:match "^%w+", name)
    set.folds, set.epochs, set.least, set.most = 1, 2, set.rates[1], set.rates[#set.rates]
  end
  return set
end

return M
