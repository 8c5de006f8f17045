-- The five settings of the grid: data, and the model that ranks them. Grades of queries are
-- unchanged, and ratings are made binary (protocol.lua).
local mr = require "moonrank"
local fold = require "moonrank.data.fold"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

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

local function made_up_ratings(unary)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 200 }
  return unary and ratings:binarize(4) or ratings
end

local function made_up_queries(columns)
  local all = mr.data.synthetic{ kind = "queries", queries = 40, features = columns, mean_size = 10 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { fold.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

---@class grid.Source
---@field title string
---@field unary? boolean     of ratings: what is there is relevant
---@field features? integer  of queries; none of ratings
---@field read fun(folder: string): mr.Ratings|mr.Fold[]

local function mq2008(folder) return mr.data.letor_folds(place(folder, "mq2008")) end

---@type table<string, grid.Source>
local sources = {
  movielens = { title = "MF, MovieLens", read = function(folder) return mr.data.movielens(place(folder, "ml-latest-small")) end },
  citeulike = { title = "MF, CiteULike-a", unary = true,
    read = function(folder) return mr.data.citeulike(place(folder, "citeulike-a")) end },
  mq2008 = { title = "MLP, MQ2008", features = 46, read = mq2008 },
  trees = { title = "trees, MQ2008", features = 46, read = mq2008 },
  -- 102 queries of MSLR-WEB30K, labels 0 to 4, with 93 documents at the median
  mslr = { title = "MLP, MSLR slice", features = 136,
    read = function(folder) return mr.data.letor_folds(place(folder, "mslr-web-slice")) end },
}

M.names = { "movielens", "citeulike", "mq2008", "trees", "mslr" }

---@param name "movielens"|"citeulike"|"mq2008"|"trees"|"mslr"
---@param folder string  that has ml-latest-small, citeulike-a, mq2008, mslr-web-slice; "": where the program looks for data
---@param smoke boolean  a few made-up lists in place of the data, and under a title that says so
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
