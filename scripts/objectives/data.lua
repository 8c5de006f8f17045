-- The data sets of Tang et al. (2023), 3.1, and their parts under both recipes.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"

local M = {}

---@class objectives.Data
---@field title string     of made-up data what they are
---@field kind "mq2008"|"mslr"  whose settings are taken
---@field features integer
---@field folds mr.Fold[]
---@field filter integer   least queries of a length that are trained on in batches

local sets = {
  mq2008 = { title = "MQ2008", kind = "mq2008", features = 46, folder = "mq2008", filter = 8 },
  -- most lengths are those of one query
  mslr = { title = "MSLR slice", kind = "mslr", features = 136, folder = "mslr-web-slice", filter = 1 },
  web10k = { title = "MSLR-WEB10K", kind = "mslr", features = 136, folder = "MSLR-WEB10K", filter = 8 },
}
M.names = { "mq2008", "mslr", "web10k" }

local function made_up(features)
  local all = mr.data.synthetic{ kind = "queries", queries = 90, features = features, mean_size = 8 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { fold.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

---@param name "mq2008"|"mslr"|"web10k"
---@param folder string    that has mq2008, mslr-web-slice, MSLR-WEB10K (with Fold1 to Fold5); "": where the program looks for data
---@param smoke boolean    a few made-up queries in place of the data
---@return objectives.Data
function M.open(name, folder, smoke)
  local set = {}
  for key, value in pairs(sets[name]) do set[key] = value end
  if smoke then
    set.title, set.filter = ("made-up, %d features"):format(set.features), 1
    set.folds = made_up(set.features)
  else
    set.folds = mr.data.letor_folds(folder ~= "" and folder .. "/" .. set.folder or set.folder, { features = set.features })
  end
  return set
end

---All queries.
---@param set objectives.Data
---@return mr.Dataset
function M.all(set)
  local first = set.folds[1]
  return first.train:concat(first.valid, first.test)
end

---Only queries with eight documents.
---@param part mr.Dataset
---@return mr.Dataset
function M.of_eight(part)
  local numbers = {}
  for i, n in ipairs(part.lists.sizes:totable()) do
    if n == 8 then numbers[#numbers + 1] = i end
  end
  return part:select{ lists = numbers }
end

---Training and evaluation part as their code has them. Of MQ2008 a tenth of the queries, at random, is for evaluation. Of MSLR-WEB10K they train on
---the training and test parts of all five folds, and evaluate on the validation parts of all five: every query is in both. A hundred of those
---are drawn.
---@param set objectives.Data
---@param seed integer
---@return mr.Dataset train, mr.Dataset evaluation
function M.code_parts(set, seed)
  local all = M.all(set)
  if set.kind == "mq2008" then return all:split{ share = 0.1, seed = seed } end
  local _, sample = all:split{ share = math.min(100 / all.count, (all.count - 1) / all.count), seed = seed }
  return all, sample
end

local function z_scores(x)
  local mean = x:mean(1)
  return (x - mean) / (((x - mean) ^ 2):mean(1) + 1e-5):sqrt()
end

-- Features of each query by its own mean and deviation.
local function by_query(part)
  local found, before = {}, 0
  for i, n in ipairs(part.lists.sizes:totable()) do
    found[i] = z_scores(part.features:narrow(1, before + 1, n))
    before = before + n
  end
  return mr.cat(found, 1)
end

---Features standardised as their code does it, by the statistics of the part itself, and with 1e-5 added to the variance: over all rows ("rows");
---within each query ("queries"); of queries with eight documents, which are one array there, over the documents in the same place ("places").
---@param part mr.Dataset
---@param how "rows"|"queries"|"places"
---@return mr.Dataset
function M.scaled(part, how)
  local x, rows, width = part.features, part.lists.rows, part.features:size(2)
  if how == "rows" then
    x = z_scores(x)
  elseif how == "queries" then
    x = by_query(part)
  else
    x = z_scores(x:reshape(rows // 8, 8 * width)):reshape(rows, width)
  end
  return mr.data.dataset{ lists = part.lists, features = x, name = part.name }
end

return M
