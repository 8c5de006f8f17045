-- Opens those data sets of Li, Urbano & Hanjalic (2021) that are available: CiteULike-a on the authors' own splits,
-- random splits of CiteULike-a and MovieLens, and any folder in the layout of the authors' repository.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol, place = dofile(here .. "protocol.lua"), mr.experiment.place

local M = { names = { "citeulike", "citeulike_splits", "movielens", "folder" } }

---A data set with its splits into train and test.
---@class sigir21.Data
---@field title string      name of the data set; made-up data are named as such
---@field splits integer[]  numbers that name its splits
---@field users integer
---@field items integer
---@field fold fun(split: integer, nsr: integer, valid: number): mr.Fold  valid: share of train for validation

local function is_there(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Returns the numbers of the train-test splits in a folder, which has subfolders fold_0, fold_1 and so on. Ends the
-- script if there is no split.
local function splits_in(folder)
  local splits = {}
  repeat
    local path = ("%s/fold_%d/train.csv"):format(folder, #splits)
    local found = is_there(path) or is_there(path .. ".gz")
    splits[#splits + 1] = found and #splits or nil
  until not found
  if #splits == 0 then mr.exit(1, ("%s: no fold_0/train.csv or train.csv.gz in this folder"):format(folder)) end
  return splits
end

---A data set of random splits, of users with at least 25 relevant items; 80 % of a user's relevant items are in train.
function M.random_splits(title, ratings, splits)
  ratings = ratings:min_relevant(25)
  return { title = title, splits = splits or { 1, 2, 3 }, users = ratings.users, items = ratings.items,
    fold = function(split, nsr, valid)
      return ratings:folds{ by = "share", k = 3, test = 0.2, nsr = nsr, valid = valid }[split]
    end }
end

-- Functions that open each data set. Ratings of 4 and 5 are relevant; if ratings are unary, every rated item is
-- relevant (section 4.1 of the paper).
local open = {
  citeulike = protocol.citeulike,
  citeulike_splits = function(args)
    return M.random_splits("CiteULike-a", mr.data.citeulike(place(args, "citeulike-a")):binarize(1))
  end,
  movielens = function(args)
    return M.random_splits("MovieLens", mr.data.movielens(place(args, "ml-latest-small")):binarize(4))
  end,
  folder = function(args) return protocol.given_splits(args.folder, args.folder, splits_in(args.folder)) end,
}

---Opens a data set by name. With `args.smoke`, made-up ratings of a few users replace the data. `args.folder` is the
---path of the data set "folder", `args.data` the folder of the others, or "" for the program's usual places.
---@param args { data: string, folder: string, smoke: boolean }
---@param name "citeulike"|"citeulike_splits"|"movielens"|"folder"
---@return sigir21.Data
function M.open(args, name)
  for number, each in ipairs(M.names) do
    if args.smoke and each == name then return protocol.made_up(name, number) end
  end
  return open[name](args)
end

return M
