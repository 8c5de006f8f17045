-- The data sets of the thesis' experiments (Westerborg 2022, chapter 4) and three more, each with the model that ranks
-- it. A data set returns an mr.Fold for a setting, the number of the fold and a seed.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---@class thesis.Data
---@field title string        its name; of made-up data what they are
---@field features? integer   of queries
---@field setting string      the parameter of which it has several values: negatives per relevant item, or which labels are relevant
---@field values (integer|string)[]
---@field folds integer
---@field epochs integer
---@field patience? integer   epochs without a better one on validation after which training ends
---@field batch? integer      lists per step (default 32)
---@field sizes integer[]     of the model, for the search of section 4.1.1
---@field size integer        which one the thesis takes
---@field rates number[]      learning rates to choose from
---@field tuning integer      number of folds on which rates and sizes are chosen
---@field tuning_values? (integer|string)[]  for which of the values rates are chosen (default all)
---@field fold fun(value: integer|string, number: integer, seed: integer): mr.Fold
---@field model fun(size: integer, seed: integer): mr.Model

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

---@class thesis.Source
---@field title string
---@field features? integer  of queries; none of ratings
---@field unary? boolean     what is there is relevant
---@field read fun(folder: string): mr.Ratings|mr.Fold[]

---@type table<string, thesis.Source>
local sources = {
  -- 412 users
  movielens = { title = "MovieLens", read = function(folder) return mr.data.movielens(place(folder, "ml-latest-small")) end },
  -- 2465 users
  citeulike = { title = "CiteULike-a", unary = true,
    read = function(folder) return mr.data.citeulike(place(folder, "citeulike-a")) end },
  mq2008 = { title = "MQ2008", features = 46, read = function(folder) return mr.data.letor_folds(place(folder, "mq2008")) end },
  -- 102 queries of MSLR-WEB30K in its first fold's parts, with 93 documents at the median
  mslr = { title = "MSLR slice", features = 136,
    read = function(folder) return mr.data.letor_folds(place(folder, "mslr-web-slice")) end },
  -- five published folds, 61 queries of 230 to 728 documents
  clueweb = { title = "ClueWeb09", features = 42,
    read = function(folder) return mr.data.letor_folds(place(folder, "clueweb09-ltr"), { valid = protocol.valid_share }) end },
}
M.names = { "movielens", "mq2008", "citeulike", "mslr", "clueweb" }

---The title of a data set, without reading it.
---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@param smoke? boolean  whether made-up lists are in its place
---@return string
function M.title(name, smoke)
  local source = sources[name]
  if not smoke then return source.title end
  return source.features and ("made-up queries of %d features"):format(source.features) or "made-up ratings"
end

---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@param folder string  that has ml-latest-small, mq2008, citeulike-a, mslr-web-slice, clueweb09-ltr; "": where the program looks for data
---@param smoke boolean  a few made-up lists in place of the data, and under a title that says so
---@return thesis.Data
function M.open(name, folder, smoke)
  local source = sources[name]
  local made_up = smoke and (source.features and made_up_queries(source.features) or made_up_ratings(source.unary))
  local data = protocol.sets[name](made_up or source.read(folder), source.features)
  data.title, data.features = M.title(name, smoke), source.features
  if smoke then
    data.values, data.folds, data.tuning, data.epochs, data.sizes = { data.values[1] }, 1, 1, 2, { data.sizes[1], data.size }
  end
  return data
end

return M
