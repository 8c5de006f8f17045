-- Methods that cremonesi.lua compares as predictors of what users like: rankings that are equal for all users,
-- nearest neighbours, PureSVD, and matrix factorisation trained to predict ratings or to rank. Each predictor is
-- made from a fold of ratings and one of the predictor's settings.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---Scores an item by its mean rating in the training part (Cremonesi et al.: MovieAvg). An item
---without ratings gets the mean over all ratings.
local function movie_mean(fold)
  local train, zeros = fold.train, mr.zeros({ fold.items }, { dtype = "float64" })
  local grades = train.lists.relevance:double()
  local count = zeros:scatter_add(1, train.items, mr.ones({ train.lists.rows }, { dtype = "float64" }))
  local means = zeros:scatter_add(1, train.items, grades) / count
  means = count:gt(0):where(means, grades:mean():item())
  return function(batch) return means:rows(batch.items) end
end

-- Makes the columns of a matrix orthonormal (Gram-Schmidt). Each column is projected twice, to reduce rounding
-- errors.
local function orthonormal(matrix)
  local done
  for k = 1, matrix:size(2) do
    local column = matrix:narrow(2, k, 1)
    for _ = 1, done and 2 or 0 do column = column - done:matmul(done:t():matmul(column)) end
    column = column / (column * column):sum():sqrt()
    done = done and mr.cat({ done, column }, 2) or column
  end
  return done
end

---Computes PureSVD (Cremonesi et al. 2010) and returns the scores of all users and items. The matrix of
---ratings, with 0 for a missing rating, is projected onto its `factors` largest singular vectors.
---Subspace iteration on the users' Gram matrix finds these vectors.
---@param ratings mr.Tensor  [users, items] float64
---@param factors integer
---@param iterations integer
---@param seed integer
---@return mr.Tensor
function M.projected(ratings, factors, iterations, seed)
  local gram = ratings:matmul(ratings:t())
  local basis = orthonormal(mr.normal({ ratings:size(1), factors }, { seed = seed, dtype = "float64" }))
  for _ = 1, iterations do basis = orthonormal(gram:matmul(basis)) end
  return basis:matmul(basis:t():matmul(ratings))
end

local function pure_svd(fold, setting, seed)
  local train, users, items = fold.train, fold.users, fold.items
  local function cells(user, item) return ((user:double() - 1) * items + item:double()):long() end
  local ratings = mr.zeros({ users * items }, { dtype = "float64" }):scatter_add(1,
    cells(train.lists:spread(train.users), train.items), train.lists.relevance:double())
  local scores = M.projected(ratings:reshape(users, items), math.min(setting.factors, users), 200, seed)
    :reshape(users * items)
  return function(batch) return scores:rows(cells(batch.row_users, batch.items)) end
end

local function learned(loss)
  return function(fold, setting, seed) return protocol.fit_ranking(fold, setting, seed, loss()) end
end

-- Returns every combination of the values of some settings: {rate = a, epochs = c} and {rate = b, epochs = c} for
-- {rate = {a, b}, epochs = {c}}.
local function every(values)
  local names, found = {}, { {} }
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local longer = {}
    for _, setting in ipairs(found) do
      for _, value in ipairs(values[name]) do
        local copy = { [name] = value }
        for key, each in pairs(setting) do copy[key] = each end
        longer[#longer + 1] = copy
      end
    end
    found = longer
  end
  return found
end

local ranking = { rate = { 0.003, 0.01 }, decay = { 1e-4, 1e-3 }, epochs = { 20, 40 } }

---A method that scores items for users, compared by recall.
---@class lecture.Predictor
---@field name string
---@field settings table<string, number>[]  settings to try, such as { k = 20 } or { rate = 0.01, epochs = 20 }
---@field make fun(fold: mr.Fold, setting: table, seed: integer): any  makes a model, or a function of a batch
---@field predicts? boolean  whether scores are ratings; the setting is then chosen by RMSE

---@type lecture.Predictor[]
M.all = {
  { name = "random", settings = { {} }, make = function(_, _, seed) return mr.models.random{ seed = seed } end },
  { name = "most rated", settings = { {} }, make = function(fold) return mr.models.popularity{ fold = fold } end },
  { name = "movie mean", settings = { {} }, make = movie_mean, predicts = true },
  { name = "item kNN", settings = every{ k = { 20, 50, 100, 200 } },
    make = function(fold, setting) return mr.models.item_knn{ fold = fold, k = setting.k } end },
  { name = "PureSVD", settings = every{ factors = { 5, 10, 20, 50 } }, make = pure_svd },
  { name = "biased MF, squared errors",
    settings = every{ rate = { 0.003, 0.01 }, decay = { 1e-5, 1e-4, 3e-4 }, epochs = { 10, 20, 30 } },
    make = protocol.fit_ratings, predicts = true },
  { name = "MF, BPR", settings = every(ranking), make = learned(mr.losses.bpr) },
  { name = "MF, LambdaRank", settings = every(ranking), make = learned(mr.losses.lambdarank) },
}

---Returns a predictor's setting in words: "epochs 10, rate 0.01".
function M.text(setting)
  local parts = {}
  for name, value in pairs(setting) do parts[#parts + 1] = ("%s %g"):format(name, value) end
  table.sort(parts)
  return table.concat(parts, ", ")
end

return M
