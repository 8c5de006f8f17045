-- Models: callable objects from a batch to one score per row. Saved as safetensors; loading one runs no code of the file.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local model_options = require "moonrank.models.options"
local registry = require "moonrank.models.registry"
local tensors = require "moonrank.tensor"

local M = {}

local built_in = {}  -- what makes each, by name

local mf = {
  repeats = true,
  options = declare("mr.models.MfOptions", { model_options.of_pairs, model_options.init }, model_options.common),
  parameters = function(o)
    local function matrix(name, rows)
      return tensors.uniform({ rows, o.factors }, { low = -o.init, high = o.init, seed = o.seed, stream = "mf " .. name, dtype = o.dtype })
    end
    return { users = matrix("users", o.users), items = matrix("items", o.items) }, { "users", "items" }
  end,
  forward = function(self, batch)
    return batch.lists:factor_scores(self.users, self.items, batch.users, batch.items)
  end,
}
built_in.mf = registry.built_in("mf", mf)

---Matrix factorisation (Koren, Bell & Volinsky 2009, Eq. 1; Westerborg's and Li et al.'s model): the score of item i for user u is <p_u, q_i>.
---Entries start uniform in (-init, init). Without biases, for losses over pairs and lists: mr.models.biased_mf predicts ratings.
---@param options mr.models.MfOptions
---@return mr.Model
---Example: `mr.models.mf{users = 2, items = 3, factors = 4}:size()   --> 20`
function M.mf(options) return built_in.mf(options) end

built_in.biased_mf = registry.built_in("biased_mf", require "moonrank.models.biased_mf")

---Matrix factorisation for ratings (Koren, Bell, Volinsky 2009, Eq. 4): the score of item i for user u is mean + b_u + c_i + <p_u, q_i>. `mean` is
---a number, such as that of the ratings to train on; biases start at 0, factors uniform in (-init, init). It trains by mr.fit with mr.losses.mse and
---`reduction = "rows"` on folds of ratings as grades (ratings:folds{grades = true}); the squared errors' L2 term is the optimiser's `weight_decay`.
---@param options mr.models.BiasedMfOptions
---@return mr.Model
---Example: `mr.models.biased_mf{users = 2, items = 3, factors = 4, mean = 3.5}:size()   --> 25`
function M.biased_mf(options) return built_in.biased_mf(options) end

built_in.cml = registry.built_in("cml", require "moonrank.models.cml")

---Collaborative metric learning's distances (Hsieh et al. 2017): users and items are points, the score of item i for user u is -|p_u - q_i|^2.
---Points stay in a ball of `radius` around 0: after every step mr.fit moves those beyond it to its surface (a loop of one's own calls
---model:constrain()). They start normal with standard deviation `init`, in the ball. The paper trains it with a pairwise hinge loss and
---AdaGrad. `covariance` is lambda_c of its regulariser (section 3.3), which mr.fit adds to the loss of each batch: with C the covariance of the coordinates of
---the N points of a batch, its lists' users and its rows' items, (|C|^2 - |diag C|^2) / N in Frobenius' norm, so that no two coordinates say the same. (The
---paper prints |C| without the square, which would not be 0 for uncorrelated coordinates; its authors' code adds up what is off the diagonal of all
---points' covariance, without a square either.) model:penalty(batch) is the number.
---@param options mr.models.CmlOptions
---@return mr.Model
---Example: `mr.models.cml{users = 2, items = 3, factors = 4}:size()   --> 20`
function M.cml(options) return built_in.cml(options) end

built_in.mlp = registry.built_in("mlp", require "moonrank.models.mlp")

---A network of fully connected layers from features to one score (a multilayer perceptron; Rumelhart, Hinton & Williams 1986); the last layer is
---linear. With mr.losses.ranknet it is RankNet (Burges et al. 2005). Weights start uniform in +-1/sqrt(inputs of the layer), biases too.
---@param options mr.models.MlpOptions
---@return mr.Model
---Example: `mr.models.mlp{inputs = 46, hidden = {46}}:size()   --> 2209`
function M.mlp(options) return built_in.mlp(options) end

local linear_options = declare("mr.models.LinearOptions", { model_options.inputs }, model_options.common)

---A linear function of the features: mr.models.mlp without hidden layers, trained by mr.fit. With mr.losses.hinge and the
---optimiser's `weight_decay` it is RankSVM (Joachims 2002) by gradient descent, with mr.losses.listnet ListNet's linear network (Cao et al. 2007).
---mr.models.ridge, lasso, logistic_regression and rank_logistic_regression are linear, too, and solved.
---@param options mr.models.LinearOptions
---@return mr.Model
---Example: `mr.models.linear{inputs = 46}:size()   --> 47`
function M.linear(options)
  local o = linear_options:read("mr.models.linear", options)
  return M.mlp{ inputs = o.inputs, hidden = {}, seed = o.seed, dtype = o.dtype }
end

built_in.direct_ranker = registry.built_in("direct_ranker", require "moonrank.models.direct_ranker")

---DirectRanker (Köppel et al. 2019): hidden layers and a last linear one without bias. What it says of two rows, tanh(s_i - s_j), is
---antisymmetric and transitive, so the scores s rank rows one by one. Widths as in Li & Wu's comparison of networks for ranking.
---@param options mr.models.DirectRankerOptions
---@return mr.Model
---Example: `mr.models.direct_ranker{inputs = 5, hidden = {3, 2}}:size()   --> 28`
function M.direct_ranker(options) return built_in.direct_ranker(options) end

built_in.cnn = registry.built_in("cnn", require "moonrank.models.cnn")

---A convolutional network from an image to one score: for each of `filters` a convolution with so many outputs, windows of `kernel` x `kernel`,
---ReLU and the maximum of each 2 x 2 (a last odd line is left out); then fully connected layers. The features of a row are the planes of its
---image, one after the other, each line by line, as mr.Images has them. Trained on comparisons by mr.losses.ranknet it is RankCNN, with widths as in
---Li & Wu's comparison of networks for ranking, whose images are 100 x 100; by mr.losses.bce it classifies.
---@param options mr.models.CnnOptions
---@return mr.Model
---Example: `mr.models.cnn{height = 100, width = 100}:size()   --> 862589`
function M.cnn(options) return built_in.cnn(options) end

built_in.self_attention = registry.built_in("self_attention", require "moonrank.models.self_attention")

---Self-attention among the rows of a list (Pobrotyn et al. 2020, context-aware learning to rank): a fully connected layer from `inputs` to
---`width`, `blocks` times x + attention(norm(x)) and x + network(norm(x)) with one ReLU layer of `inner` units inside, a last norm, a linear
---score. The order of rows does not matter, other lists do not either. Dropout acts in batches that carry the number of the training step, as
---those of mr.fit do, on what is added to x; which entries it drops depends on seed and step.
---@param options mr.models.SelfAttentionOptions
---@return mr.Model
---Example: `mr.models.self_attention{inputs = 46, width = 16, heads = 2, blocks = 1}:size()   --> 3025`
function M.self_attention(options) return built_in.self_attention(options) end

for name, make in pairs(require("moonrank.models.baselines").kinds) do M[name] = make end
for name, make in pairs(require("moonrank.models.regression")) do M[name] = make end

---Boosted regression trees by XGBoost's library 1.7 (Chen & Guestrin 2016; Debian: libxgboost0), which is loaded when first asked for. With
---`mr.fit{model = ..., loss = ...}` they are grown by the loss's derivatives: LambdaMART (Burges 2010) with mr.losses.lambdarank{} or
---ranknet{}, whose second derivatives are a^2 |Delta M| s (1 - s) per pair, times the bound's slope; of smooth and listwise losses each list's
---first derivatives are divided by their root mean square, second ones are 1, both times the bound's slope; pointwise losses have their own.
---`lambda` and `min_child_weight` are compared with sums of second derivatives, so under a bound with small slopes, as "minmax" of a sum over
---pairs, the same numbers penalise more: mr.fit warns where they leave no split at all.
---With `objective` XGBoost's own objective takes the loss's place: "rank:ndcg", "rank:map" and "rank:pairwise" (LambdaMART as XGBoost has it),
---"reg:squarederror" (MART, Friedman 2001), "binary:logistic" (scores are log odds), "multi:softprob" (McRank, Li, Burges & Wu 2007: the score
---is the expected grade). A random forest (Breiman 2001) is trees = 500, rounds = 1, eta = 1, subsample = 0.63, colsample_bynode = 0.33.
---
---One epoch of mr.fit is a round. optimizer, batch, epochs and the like do not apply and are errors. Missing features (NaN) go to the side of a split
---that fits better. Ctrl-C ends the waiting for the round being grown, which is left out. The history's loss is that of mr.fit, or the
---objective's: 1 - nDCG, 1 - AP, RankNet, squared error (also of expected grades), cross entropy. A saved file holds no code, and every index in
---it is checked before XGBoost reads it.
---@param options? mr.models.TreeOptions
---@return mr.Trees
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 5, seed = 1}
---local model = mr.models.trees{rounds = 10, depth = 3, eta = 0.1}
---local run = mr.fit{model = model, loss = mr.losses.lambdarank{}, train = queries, valid = queries, metrics = {"ndcg@10"}, progress = false}
---#run.history, model.rounds == run.best.epoch, run.history[10].loss < run.history[1].loss   --> 10, true, true
---```
function M.trees(options) return require("moonrank.models.trees").new(options) end

---Makes a new kind of model from its parameters and a forward pass: afterwards `mr.models[name]{...}` builds it. What `parameters` draws
---without a seed depends on the option `seed` alone, and two calls differ. `forward` gets `batch.lists`, `batch.features` [rows, width] or
---`batch.users` [lists], `batch.row_users` and `batch.items` [rows], and `batch.categories` (mr.Dataset:categorical); in mr.fit's training
---batches `batch.training` is true. A script may define its own names anew; models made before keep their definition.
---@param name string
---@param definition mr.models.Definition
---@return fun(options?: table): mr.Model
---Example:
---```lua
---mr.models.define("biased", {
---  required = {items = "integer"},
---  parameters = function(o) return {bias = mr.zeros(o.items, {dtype = o.dtype})} end,
---  forward = function(self, batch) return self.bias:rows(batch.items) end,
---})
---mr.models.biased{items = 3}:size()   --> 3
---```
function M.define(name, definition)
  if rawget(M, name) ~= nil and not registry.of_script(name) then check.fail("mr.models.define: mr.models.%s is there already", name) end
  M[name] = registry.define(name, definition)
  return M[name]
end

---Reads a model that :save wrote, baselines and trees as well. No code in the file is run: a model of a script's own needs its definition (mr.models.define) first.
---@param path string
---@return mr.Model
---Example:
---```lua
---local model = mr.models.mf{users = 2, items = 3, factors = 4}
---local path = os.tmpname()
---os.remove(path)  -- save replaces models alone
---model:save(path)
---local loaded = mr.models.load(path)
---os.remove(path)
---loaded.kind, loaded:size()   --> mf, 20
---```
function M.load(path)
  local names, values, keys, texts = core.load_tensors(path, "moonrank model")
  local by_key, by_name = {}, {}
  for i, key in ipairs(keys) do
    if key ~= "numerics" then by_key[key] = texts[i] end
  end
  for i, name in ipairs(names) do by_name[name] = values[i] end
  local restore = by_key.kind == "trees" and require("moonrank.models.trees").restore or registry.restore
  local ok, model = pcall(restore, by_key, by_name)
  if model == "interrupted" then error(model, 0) end
  if not ok then check.fail("%s: %s", path, (tostring(model):gsub("^[^\n]-:%d+: ", ""))) end
  return model
end

return M
