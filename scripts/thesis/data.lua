-- The data sets of the thesis' experiments (Westerborg 2022, chapter 4) and three more, each with the model that ranks
-- its lists. The function `fold` of a data set returns the training, validation and test parts (mr.Fold) for a setting
-- (negatives per relevant item, or least relevant label), a fold number and a seed.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---@class thesis.Data         a data set, how models are trained on it, and the model that ranks its lists
---@field title string        name of the data; for made-up data it says so
---@field features? integer   number of features of a query's documents; nil for ratings
---@field setting string      "nsr" (negatives per relevant item) or "label" (least relevant label)
---@field values (integer|string)[]  values of the setting that experiments use, e.g. {1, 2, 3}
---@field folds integer       number of folds
---@field epochs integer      largest number of epochs
---@field patience? integer   epochs without a better validation metric after which training ends
---@field batch? integer      lists per step (default 32)
---@field sizes integer[]     model sizes (factors or hidden units) that the search of section 4.1.1 tries
---@field size integer        model size that the thesis uses
---@field rates number[]      learning rates to choose from
---@field tuning integer      number of folds on which rates and sizes are chosen
---@field tuning_values? (integer|string)[]  settings for which learning rates are chosen (default: all of `values`)
---@field fold fun(value: integer|string, number: integer, seed: integer): mr.Fold  parts of one fold, for a setting
---@field model fun(size: integer, seed: integer): mr.Model  a new, untrained model

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or name end

local function made_up_ratings(unary)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }
  return unary and ratings:binarize(4) or ratings
end

local function made_up_queries(features)
  local all = mr.data.synthetic{ kind = "queries", queries = 120, features = features, mean_size = 12 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { fold.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

---@class thesis.Source       how a data set is read from its files
---@field title string        name of the data set
---@field features? integer   number of features of a query's documents; nil for ratings
---@field unary? boolean      true for ratings without values: every item that a user has is relevant
---@field read fun(folder: string): mr.Ratings|mr.Fold[]  reads the files; "": the default data folder

---@type table<string, thesis.Source>
local sources = {
  -- MovieLens: 412 users with enough (25) relevant items.
  movielens = { title = "MovieLens",
    read = function(folder) return mr.data.movielens(place(folder, "ml-latest-small")) end },
  -- CiteULike-a: 2465 users with enough (25) relevant items.
  citeulike = { title = "CiteULike-a", unary = true,
    read = function(folder) return mr.data.citeulike(place(folder, "citeulike-a")) end },
  mq2008 = { title = "MQ2008", features = 46,
    read = function(folder) return mr.data.letor_folds(place(folder, "mq2008")) end },
  -- A slice of MSLR-WEB30K: 102 queries from the three parts of its first fold, with a median of 93 documents.
  mslr = { title = "MSLR slice", features = 136,
    read = function(folder) return mr.data.letor_folds(place(folder, "mslr-web-slice")) end },
  -- ClueWeb09: 61 queries in five published folds; each query has 230 to 728 documents.
  clueweb = { title = "ClueWeb09", features = 42,
    read = function(folder)
      return mr.data.letor_folds(place(folder, "clueweb09-ltr"), { valid = protocol.valid_share })
    end },
}
M.names = { "movielens", "mq2008", "citeulike", "mslr", "clueweb" }

---The title of a data set, without reading its files.
---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@param smoke? boolean  true: the title of the made-up lists that replace the data
---@return string
function M.title(name, smoke)
  local source = sources[name]
  if not smoke then return source.title end
  return source.features and ("made-up queries of %d features"):format(source.features) or "made-up ratings"
end

---Reads a data set and returns it with the settings of its training and the model that ranks its lists.
---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@param folder string  folder of ml-latest-small, mq2008, citeulike-a, mslr-web-slice; "": the default data folder
---@param smoke boolean  true: a few made-up lists instead of the data, and a title that says so
---@return thesis.Data
function M.open(name, folder, smoke)
  local source = sources[name]
  local made_up = smoke and (source.features and made_up_queries(source.features) or made_up_ratings(source.unary))
  local data = protocol.sets[name](made_up or source.read(folder), source.features)
  data.title, data.features = M.title(name, smoke), source.features
  if smoke then
    data.values, data.folds, data.tuning, data.epochs, data.sizes = { data.values[1] }, 1, 1, 2,
      { data.sizes[1], data.size }
  end
  return data
end

return M
