-- The data sets of Tang et al. (2023), section 3.1: MQ2008, MSLR-WEB10K, and a slice of MSLR-WEB30K in its place.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---@class objectives.Data  a data set with its folds
---@field title string     name of the data; for made-up data it says so
---@field kind "mq2008"|"mslr"  the data set of the paper whose training settings are used
---@field features integer  number of features of a document
---@field folds mr.Fold[]  official folds, each with training, validation and test part
---@field least integer    queries of equal length are trained on in batches only if there are at least this many

local sets = {
  mq2008 = { title = "MQ2008", kind = "mq2008", features = 46, folder = "mq2008" },
  mslr = { title = "MSLR slice", kind = "mslr", features = 136, folder = "mslr-web-slice" },
  web10k = { title = "MSLR-WEB10K", kind = "mslr", features = 136, folder = "MSLR-WEB10K" },
}
M.names = { "mq2008", "mslr", "web10k" }

local function made_up(features)
  local all = mr.data.synthetic{ kind = "queries", queries = 90, features = features, mean_size = 8 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { mr.data.fold{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

---Reads a data set: its official folds, or made-up queries.
---@param name "mq2008"|"mslr"|"web10k"
---@param folder string    folder of mq2008, mslr-web-slice, MSLR-WEB10K (Fold1 to Fold5); "": the default data folder
---@param smoke boolean    true: a few made-up queries instead of the data
---@return objectives.Data
function M.open(name, folder, smoke)
  local set = { least = protocol.least(name) }
  for key, value in pairs(sets[name]) do set[key] = value end
  if smoke then
    set.title, set.least = ("made-up, %d features"):format(set.features), 1
    set.folds = made_up(set.features)
  else
    set.folds = mr.data.letor_folds(folder ~= "" and folder .. "/" .. set.folder or set.folder,
      { features = set.features })
  end
  return set
end

return M
