-- The trainings under Adam that threads.lua and profiles.lua measure. Each has its name, a title, a number of epochs so
-- large that setup hardly counts, and a function that returns options of mr.fit. The option `model` is a function that
-- makes the model.
local mr = require "moonrank"

local trainings = {}
local function training(name, title, epochs, made) trainings[#trainings + 1] = { name, title, epochs, made } end

local function factors_of(ratings, fold, options)
  options.train = ratings:folds(fold)[1].train
  options.model = function()
    return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, seed = 1 }
  end
  return options
end

local function movielens(nsr, options)
  local ratings = mr.data.movielens():binarize(4):min_relevant(25)
  return factors_of(ratings, { k = 5, by = "user", seed = 1, nsr = nsr }, options)
end

local function citeulike(options)
  local ratings = mr.data.interactions("citeulike-a/fold_0/train.csv.gz", { columns = { rating = false } }):binarize(1)
  return factors_of(ratings, { k = 5, by = "user", seed = 1, nsr = 1 }, options)
end

local losses = mr.losses
training("movielens", "MovieLens NSR 1, nDCG", 40, function() return movielens(1, { loss = losses.ndcg() }) end)
training("movielens_5", "MovieLens NSR 5, nDCG", 20, function() return movielens(5, { loss = losses.ndcg() }) end)
training("lambdarank", "MovieLens NSR 1, LambdaRank", 10,
  function() return movielens(1, { loss = losses.lambdarank() }) end)
training("citeulike", "CiteULike-a NSR 1, nDCG", 20, function() return citeulike{ loss = losses.ndcg() } end)
training("mq2008", "MQ2008, network 46-46-1, nDCG", 40, function()
  return { train = mr.data.letor_folds("mq2008")[1].train, loss = losses.ndcg(),
    model = function() return mr.models.mlp{ inputs = 46, hidden = { 46 }, seed = 1 } end }
end)
training("sl", "MovieLens, SL, 64 negatives of each interaction", 2, function()
  return movielens(nil, { loss = losses.sl{ tau = 0.2 }, unit = "interaction", batch = 1024, negatives = 64 })
end)

---Returns a function that runs the training.
local function runner(epochs, made)
  local options = made()
  local model = options.model
  options.optimizer, options.batch = mr.optim.adam{ lr = 0.01 }, options.batch or 32
  options.epochs, options.progress = epochs, false
  return function()
    options.model = model()
    mr.fit(options)
  end
end

return { list = trainings, runner = runner }
