-- Opens those data sets of Li, Urbano & Hanjalic (2021) that are available. These are CiteULike-a on the authors'
-- own splits, and Monte Carlo splits of CiteULike-a and MovieLens. Section 4.1 defines the splits: users with 25
-- relevant items or more, 80 % of each user's items for training. Any folder in the layout of the authors'
-- repository can also be opened.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---An opened data set. `fold` returns a split. Its argument `valid` is the share of each user's training
---items that becomes the validation part.
---@class sigir21.Data
---@field title string      name of the data set; made-up data are named as such
---@field splits integer[]  numbers that name its splits into train and test
---@field users integer
---@field items integer
---@field fold fun(split: integer, nsr: integer, valid: number): mr.Fold  nsr: sampled negatives per relevant item

local function place(folder, name) return folder ~= "" and folder .. "/" .. name or name end

-- Makes a data set of random splits. `ratings` are already divided into relevant and other ratings; `count` is the
-- number of splits.
local function monte_carlo(title, ratings, count)
  local splits = {}
  for i = 1, count or protocol.splits do splits[i] = i end
  return {
    title = title, splits = splits, users = ratings.users, items = ratings.items,
    fold = function(split, nsr, valid) return protocol.split(ratings, split, nsr, valid) end,
  }
end

local function csv(folder, split, part)
  local path = ("%s/fold_%d/%s.csv"):format(folder, split, part)
  return core.is_file(path) and path or path .. ".gz"
end

-- Opens a data set of given splits: a folder with fold_0, fold_1, ..., each with train.csv and test.csv. All rows of
-- these files are relevant: the authors left out ratings below their threshold.
local function published(title, folder)
  local splits, ratings = {}, {}
  while core.is_file(csv(folder, #splits, "train")) do splits[#splits + 1] = #splits end
  if #splits == 0 then
    mr.exit(1, ("%s: no fold_0/train.csv or train.csv.gz in this folder"):format(folder))
  end
  for _, split in ipairs(splits) do
    ratings[split] = protocol.relevant.published(mr.data.interactions(
      { train = csv(folder, split, "train"), test = csv(folder, split, "test") }, { columns = { rating = false } }))
  end
  return {
    title = title, splits = splits, users = ratings[0].users, items = ratings[0].items,
    fold = function(split, nsr, valid) return ratings[split]:folds{ by = "given", nsr = nsr, valid = valid }[1] end,
  }
end

local sets = {
  citeulike = function(args)
    local folder = require("moonrank.data.find").path(place(args.data, "citeulike-a"))
    return published("CiteULike-a, published splits", folder)
  end,
  citeulike_splits = function(args)
    return monte_carlo("CiteULike-a", protocol.relevant.unary(mr.data.citeulike(place(args.data, "citeulike-a"))))
  end,
  movielens = function(args)
    return monte_carlo("MovieLens", protocol.relevant.graded(mr.data.movielens(place(args.data, "ml-latest-small"))))
  end,
  folder = function(args) return published(args.folder, args.folder) end,
}
M.names = { "citeulike", "citeulike_splits", "movielens", "folder" }

---Opens a data set by name. With `args.smoke`, made-up ratings of a few users replace the data.
---`args.folder` is the path of the data set "folder". `args.data` is the folder of the other data sets;
---if "", the program searches its usual places.
---@param args { data: string, folder: string, smoke: boolean }
---@param name "citeulike"|"citeulike_splits"|"movielens"|"folder"
---@return sigir21.Data
function M.open(args, name)
  if not args.smoke then return sets[name](args) end
  local number = 1
  while M.names[number] ~= name do number = number + 1 end
  local made_up = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = number }
  return monte_carlo("made-up ratings for " .. name, protocol.relevant.graded(made_up), 1)
end

return M
