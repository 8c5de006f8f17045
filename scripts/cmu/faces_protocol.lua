-- The protocol of Tables 2 and 3 and Figures 3 to 7 of Li & Wu (section 4.2): how images of faces are split, and how
-- models that tell which of two faces is older are trained and measured. A comment names the section of the paper that
-- a decision comes from; a decision without a section is ours.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---Calls `train`. If training diverges (its loss is NaN or infinite), returns a validation value of 0 instead of the
---error.
---@param train fun(): { valid: number }
function M.or_diverged(train)
  local ok, found = pcall(train)
  if ok then return found end
  local message = tostring(found)
  if message:find "mr.fit: the loss is" or message:find "mr.fit: there is NaN" then return { valid = 0 } end
  error(found, 0)
end

---Splits the images into 65 % train, 15 % validation and 20 % test, before pairs are drawn (section 4.2).
---@return mr.Images train, mr.Images valid, mr.Images test
function M.face_parts(images, seed) return images:split{ valid = 0.15, test = 0.2, seed = seed } end

---Returns the features of every part, standardised by the mean and standard deviation of the training
---images.
---@param parts mr.Images[]  training images first
---@param features mr.Tensor[]
function M.standardised(parts, features)
  local scaling, found = mr.data.dataset{ lists = parts[1]:items().lists, features = features[1] }:scaling(), {}
  for i, x in ipairs(features) do found[i] = ((x:double() - scaling.mean) / scaling.sd):float() end
  return found
end

---Returns features of images from an untrained network with fixed random weights. It has two
---convolutions, of 24 and 48 filters of at most 3 x 3, each followed by ReLU and 2 x 2 max pooling.
---@param images mr.Images
---@param kernel integer  side of the filters; more than 3 counts as 3
---@return mr.Tensor
function M.random_features(images, kernel)
  local side = math.min(3, kernel)
  local function weights(outputs, inputs, stream)
    return mr.normal({ outputs, inputs, side, side },
      { sd = math.sqrt(2 / (inputs * side ^ 2)), seed = 1, stream = stream })
  end
  local first, second, parts = weights(24, images.images:size(2), "first"), weights(48, 24, "second"), {}
  for at = 1, images.count, 256 do
    local x = images.images:narrow(1, at, math.min(256, images.count - at + 1)) - 0.5
    x = x:conv2d(first):relu():max_pool(2):conv2d(second):relu():max_pool(2)
    parts[#parts + 1] = x:reshape(#x, x:numel() // #x)
  end
  return mr.cat(parts, 1)
end

local shares = { train = 9, valid = 1, test = 2 }  -- pairs in train, valid and test, in twelfths of all pairs

---Draws pairs of images of one part, whose ages differ by more than five years (section 4.2). `o.pairs`
---is the number of pairs over all parts; `o.features` has the features of the part's images.
---@param images mr.Images
---@param o { part: "train"|"valid"|"test", pairs: integer, seed: integer, features: mr.Tensor }
function M.face_pairs(images, o)
  return images:comparisons{ pairs = o.pairs * shares[o.part] // 12, margin = 5, seed = o.seed, features = o.features }
end

---Trains a model on faces. Accuracy on the validation pairs chooses the epoch or boosting round. `o`
---has options of mr.fit (`model`, `train`, `loss`). With a learning rate `o.rate`, training is gradient
---descent in minibatches of 100 rows (section 4.2).
---@param o table
---@param data table  data of one seed, as from M.data in faces.lua
---@param trial mr.Trial
function M.fit_face(o, data, trial)
  local rate = o.rate
  o.rate, o.valid, o.metrics, o.progress, o.trial = nil, data.valid.pairs, { "auc" }, false, trial
  if rate then
    o.optimizer, o.batch, o.seed, o.epochs = mr.optim.sgd{ lr = rate }, 100, trial.split, o.epochs or data.epochs
  end
  mr.fit(o)
  return o.model
end

---Regression networks predict a person's age divided by this number.
M.oldest = 80

---Returns the images of a part as a dataset whose grades are ages divided by `M.oldest`, which
---regression networks predict.
---@param items mr.Dataset  with ages as grades
---@return mr.Dataset
function M.aged(items)
  return items:with_relevance(items.lists.relevance * (1 / M.oldest))
end

---Returns the number of epochs of networks that predict ages. It is larger than that of networks
---trained on pairs, because an epoch of images has fewer steps.
---@param epochs integer  epochs of networks trained on pairs
function M.image_epochs(epochs) return 6 * epochs end

---Fits a lasso regression of ages. `items` are the training images with ages as grades.
---@param items mr.Dataset
function M.lasso(items, penalty)
  return mr.models.lasso{ train = items, alpha = penalty, tolerance = 1e-4, passes = 1000 }
end
---Fits a ridge regression of ages. The penalty is multiplied by 1000, so that lasso and ridge can share
---one grid of penalties.
function M.ridge(items, penalty) return mr.models.ridge{ train = items, alpha = 1000 * penalty } end

---Makes a tree model that predicts ages or classifies images: a forest of 100 trees (`o.forest`), or
---100 rounds of boosting. `o.objective` is the name of XGBoost's loss.
---@param o { forest: boolean, objective: string, depth: integer, seed: integer }
function M.face_trees(o)
  local options = o.forest and protocol.forest(100, o.depth, o.seed) or protocol.boosting(100, o.depth, o.seed)
  options.objective = o.objective
  return mr.models.trees(options)
end

-- Returns the scores of the older images and the scores of the younger images of pairs, each as a tensor [pairs].
local function by_age(scores, pairs)
  local rows = scores:rows(pairs.items):reshape(pairs.count, 2)
  local first_older = pairs.lists.relevance:reshape(pairs.count, 2):narrow(2, 1, 1):reshape(pairs.count)
  local first, second = rows:narrow(2, 1, 1):reshape(pairs.count), rows:narrow(2, 2, 1):reshape(pairs.count)
  return first_older:where(first, second), first_older:where(second, first)
end

-- Measures how well scores order the pairs of images of one part (train, valid or test). Returns the share of pairs
-- whose older image has the larger score (ties count half), the scores of the older images, and those of the younger
-- images. score(part) returns a score for each image.
local function accuracy(score, part)
  local older, younger = by_age(score(part), part.pairs)
  return (older:gt(younger):double() + older:eq(younger):double() * 0.5):mean():item(), older, younger
end

---Measures a system (a trained model) on pairs of faces (section 4.2). `accuracy` is the share of test
---pairs that it orders by age correctly; `valid` is that of the validation pairs and chooses settings.
---A classifier also has `both`: the share of test pairs whose older image it labels 1 and whose younger
---image 0. A regression also has `r2`, the R^2 of ages. The second result is, per test pair, the older
---image's score minus the younger's.
---@param family "regression"|"ranking"|"classification"
---@param score fun(part: table): mr.Tensor  a score for each image of a part
---@param data table  parts of the images: train, valid and test
---@param years? number  what a regression's score of 1 means (default 1)
function M.judge(family, score, data, years)
  local found = { valid = (accuracy(score, data.valid)) }
  local older, younger
  found.accuracy, older, younger = accuracy(score, data.test)
  if family == "classification" then
    found.both = (older:gt(0):double() * younger:le(0):double()):mean():item()
  elseif family == "regression" then
    found.r2 = mr.stats.r2(score(data.test):double() * (years or 1), data.test.images.labels)
  end
  return found, older - younger
end

---Returns the training run with the largest accuracy on validation pairs; among equal runs the first.
---@param runs { values: { valid: number } }[]
function M.choose(runs)
  local best
  for _, run in ipairs(runs) do
    if not best or run.values.valid > best.values.valid then best = run end
  end
  return best
end

return M
