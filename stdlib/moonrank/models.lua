-- Models: callable objects that compute one score for each row of a batch. Models are saved as safetensors files;
-- loading a file never runs code from the file.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local model_options = require "moonrank.models.options"
local registry = require "moonrank.models.registry"

local M = {}

local built_in = {}  -- constructors of Moonrank's models, by name, such as "mf"

-- Returns the vectors whose inner products are the scores of a model of the kind mf (matrix factorization).
local function vectors_of(self)
  if self.options.score == "cosine" then return core.unit_rows(self.users), core.unit_rows(self.items) end
  return self.users, self.items
end

local mf = {
  repeats = true,
  options = declare("mr.models.MfOptions", {
    model_options.of_pairs, model_options.init,
    { "score", "string", default = "dot", choices = { "dot", "cosine" },
      help = "score of an item for a user: the inner product of their vectors, or its cosine" },
  }, model_options.common),
  check = function(o)
    -- The default of the option `score` is not stored, so that a model's settings equal those in files from before the
    -- option existed.
    if o.score == "dot" then o.score = nil end
  end,
  parameters = function(o)
    return { users = model_options.factors("users", o), items = model_options.factors("items", o) },
      { "users", "items" }
  end,
  forward = function(self, batch)
    local users, items = vectors_of(self)
    return batch.lists:factor_scores(users, items, batch.users, batch.items)
  end,
  vectors = vectors_of,
}
built_in.mf = registry.built_in("mf", mf)

---Makes a matrix factorisation model (Koren, Bell & Volinsky 2009, Eq. 1; the model of Westerborg
---and of Li et al.). The score of item i for user u is <p_u, q_i>. The entries of p and q start
---uniform in (-init, init). The model has no biases and is meant for losses over pairs and lists;
---mr.models.biased_mf predicts ratings.
---
---With `score = "cosine"`, the score is <p_u, q_i> / (|p_u| |q_i|), as softmax losses of recommender
---systems use it (mr.losses.sl). The cosine with a vector of zeros is 0.
---@param options mr.models.MfOptions
---@return mr.Model
---Example: `mr.models.mf{users = 2, items = 3, factors = 4}:size()   --> 20`
---Example:
---local model = mr.models.mf{users = 1, items = 2, factors = 1, score = "cosine"}
---local one = mr.tensor({1}, {dtype = "int64"})
---model{lists = mr.lists{{1}}, users = one, items = one}:abs():item()   --> 1.0
function M.mf(options) return built_in.mf(options) end

built_in.biased_mf = registry.built_in("biased_mf", require "moonrank.models.biased_mf")

---Makes a matrix factorisation model that predicts ratings (Koren, Bell, Volinsky 2009, Eq. 4). The
---score of item i for user u is mean + b_u + c_i + <p_u, q_i>. `mean` is a number, such as the mean
---of the training ratings. Biases start at 0, factors uniform in (-init, init). Train the model by
---mr.fit with mr.losses.mse and `reduction = "rows"`, on folds with ratings as grades
---(`ratings:folds{grades = true}`). The L2 term of the paper is the optimizer's `weight_decay`.
---@param options mr.models.BiasedMfOptions
---@return mr.Model
---Example: `mr.models.biased_mf{users = 2, items = 3, factors = 4, mean = 3.5}:size()   --> 25`
function M.biased_mf(options) return built_in.biased_mf(options) end

built_in.cml = registry.built_in("cml", require "moonrank.models.cml")

---Makes a model for collaborative metric learning (Hsieh et al. 2017): users and items are points,
---and the score of item i for user u is -|p_u - q_i|^2. Points stay in a ball of `radius` around 0:
---after every step, mr.fit moves points outside the ball to its surface; a training loop of your
---own calls model:constrain(). Points start normal with standard deviation `init`, within the ball.
---The paper trains the model with a pairwise hinge loss and AdaGrad.
---
---`covariance` is the weight lambda_c of the paper's regulariser (section 3.3), which decorrelates
---the coordinates. mr.fit adds `covariance` times the regulariser to the loss of each batch;
---model:penalty(batch) returns this product, or nil if `covariance` is 0. The
---regulariser is (|C|^2 - |diag C|^2) / N in the Frobenius norm, where C is the covariance of the
---coordinates of the batch's N points: the users of its lists and the items of its rows. The paper
---prints |C| without the square, which would not be 0 for uncorrelated coordinates. The code of the
---paper's authors sums the off-diagonal entries of the covariance of all points, also without a
---square.
---@param options mr.models.CmlOptions
---@return mr.Model
---Example: `mr.models.cml{users = 2, items = 3, factors = 4}:size()   --> 20`
function M.cml(options) return built_in.cml(options) end

built_in.mlp = registry.built_in("mlp", require "moonrank.models.mlp")

---Makes a multilayer perceptron: fully connected layers from a row's features to one score
---(Rumelhart, Hinton & Williams 1986). The last layer is linear. Trained with mr.losses.ranknet,
---the model is RankNet (Burges et al. 2005). Weights and biases start uniform in +-1/sqrt(inputs of
---the layer).
---@param options mr.models.MlpOptions
---@return mr.Model
---Example: `mr.models.mlp{inputs = 46, hidden = {46}}:size()   --> 2209`
function M.mlp(options) return built_in.mlp(options) end

local linear_options = declare("mr.models.LinearOptions", { model_options.inputs }, model_options.common)

---Makes a model that scores a row by a linear function of its features, to be trained by mr.fit: an
---mr.models.mlp without hidden layers. With mr.losses.hinge and the optimizer's `weight_decay` the
---model is RankSVM (Joachims 2002) by gradient descent. With mr.losses.listnet the model is
---ListNet's linear network (Cao et al. 2007). mr.models.ridge, lasso, logistic_regression and
---rank_logistic_regression are linear models that are solved without mr.fit.
---@param options mr.models.LinearOptions
---@return mr.Model
---Example: `mr.models.linear{inputs = 46}:size()   --> 47`
function M.linear(options)
  local o = linear_options:read("mr.models.linear", options)
  return M.mlp{ inputs = o.inputs, hidden = {}, seed = o.seed, dtype = o.dtype }
end

built_in.direct_ranker = registry.built_in("direct_ranker", require "moonrank.models.direct_ranker")

---Makes a DirectRanker model (Köppel et al. 2019): hidden layers and a last linear layer without
---bias. The network's output for two rows, tanh(s_i - s_j), is antisymmetric and transitive, so the
---scores s rank single rows. The default widths are from Li & Wu's comparison of networks for
---ranking.
---@param options mr.models.DirectRankerOptions
---@return mr.Model
---Example: `mr.models.direct_ranker{inputs = 5, hidden = {3, 2}}:size()   --> 28`
function M.direct_ranker(options) return built_in.direct_ranker(options) end

built_in.cnn = registry.built_in("cnn", require "moonrank.models.cnn")

---Makes a convolutional network from an image to one score. Each number in `filters` is a
---convolution with that many outputs and windows of `kernel` x `kernel`, then ReLU and 2 x 2 max
---pooling (the last line of an odd side is left out). Fully connected layers follow. The features
---of a row are the colour planes of its image, one after the other, each line by line, as
---mr.Images:features returns them. Trained on comparisons by mr.losses.ranknet, the model is
---RankCNN; its default widths are from Li & Wu's comparison of networks for ranking, whose images
---are 100 x 100. Trained by mr.losses.bce, the model classifies images.
---@param options mr.models.CnnOptions
---@return mr.Model
---Example: `mr.models.cnn{height = 100, width = 100}:size()   --> 862589`
function M.cnn(options) return built_in.cnn(options) end

built_in.self_attention = registry.built_in("self_attention", require "moonrank.models.self_attention")

---Makes a self-attention model, in which the rows of a list attend to each other (Pobrotyn et al.
---2020, context-aware learning to rank). A fully connected layer maps `inputs` features to `width`.
---Then `blocks` blocks follow: x + attention(norm(x)), then x + network(norm(x)), where network has
---one ReLU layer of `inner` units. A last norm and a linear layer give the score. A row's score
---depends on the other rows of its list, but neither on the order of rows nor on other lists.
---During a training by mr.fit, dropout acts on attention(...) and network(...); the dropped entries
---depend on seed and step.
---@param options mr.models.SelfAttentionOptions
---@return mr.Model
---Example: `mr.models.self_attention{inputs = 46, width = 16, heads = 2, blocks = 1}:size()   --> 3025`
function M.self_attention(options) return built_in.self_attention(options) end

for name, make in pairs(require("moonrank.models.baselines").kinds) do M[name] = make end
for name, make in pairs(require("moonrank.models.regression")) do M[name] = make end

---Makes a model of boosted regression trees, grown by the XGBoost 1.7 library (Chen & Guestrin
---2016; Debian: libxgboost0). The first call loads the library; it is an error if there is none.
---
---With `mr.fit{model = ..., loss = ...}`, trees are grown from the loss's derivatives.
---mr.losses.lambdarank and ranknet give LambdaMART (Burges 2010): second derivatives are a^2 |Delta
---M| s (1 - s) per pair, times the bound's slope. Here a is the steepness of the sigmoid s, and
---|Delta M| is 1 for ranknet. For smooth and listwise losses, each list's first derivatives are
---divided by their root mean square, and second derivatives are 1; both derivatives are multiplied by
---the bound's slope. Pointwise losses have their own second derivatives. Those of mr.losses.hinge are
---1 per pair. `lambda` and `min_child_weight` are compared with sums of second derivatives. Under a
---bound with small slopes, such as "minmax" of a sum over pairs, the same values of `lambda` and
---`min_child_weight` penalise more. mr.fit warns if `min_child_weight` allows no split at all.
---
---With `objective`, an objective of XGBoost replaces the loss: "rank:ndcg", "rank:map" and
---"rank:pairwise" (XGBoost's LambdaMART), "reg:squarederror" (MART, Friedman 2001),
---"binary:logistic" (scores are log odds), or "multi:softprob" (McRank, Li, Burges & Wu 2007; the
---score is the expected grade). A random forest (Breiman 2001) is trees = 500, rounds = 1, eta = 1,
---subsample = 0.63, colsample_bynode = 0.33.
---
---One epoch of mr.fit is one round. The options optimizer, batch, epochs and similar options of
---mr.fit are errors for trees. Missing features (NaN) go to the side of a split that fits better.
---Ctrl-C stops the wait for the current round, which is left out. The loss in the history is the
---loss passed to mr.fit, or the loss of the objective: 1 - nDCG, 1 - AP, RankNet, squared error
---(also of expected grades), cross entropy. A saved file contains no code, and every index in the
---file is checked before XGBoost reads it.
---@param options? mr.models.TreeOptions
---@return mr.Trees
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 5, seed = 1}
---local model = mr.models.trees{rounds = 10, depth = 3, eta = 0.1}
---local run = mr.fit{model = model, loss = mr.losses.lambdarank{}, train = queries, valid = queries,
---  metrics = {"ndcg@10"}, progress = false}
---#run.history, model.rounds == run.best.epoch, run.history[10].loss < run.history[1].loss   --> 10, true, true
---```
function M.trees(options) return require("moonrank.models.trees").new(options) end

---Defines a new kind of model by a function that makes its parameters and a function `forward` that
---computes scores. `mr.models[name]{...}` then makes a model of this kind. Random tensors that
---`parameters` draws without a seed depend only on `name` and the model's option `seed`; two draws in
---one call differ. The batch passed to `forward` has `lists`, `features` [rows, width] or `users` [lists],
---`row_users` and `items` [rows], and `categories` (mr.Dataset:categorical). During a training by
---mr.fit, `batch.training` is true. A script may define its own name again; existing models do not
---change. A name of the library's models is an error.
---
---If the scores are inner products of vectors of users and items, the function `vectors` can return
---the vectors: two tensors [users, width] and [items, width], and optionally biases [items]. The
---score of item i for user u is then <p_u, q_i> + b_i. Evaluations of a catalogue (fold:evaluate,
---fold:candidates), model:recommend and mr.losses.full_softmax then compute each vector once and
---score by one product of matrices. `forward` may be left out. If it is given, its scores of a few
---rows are compared with the vectors before each such evaluation and before mr.fit trains; a
---difference is an error.
---@param name string
---@param definition mr.models.Definition
---@return fun(options?: table): mr.Model  mr.models[name]
---Example:
---```lua
---mr.models.define("biased", {
---  required = {items = "integer"},
---  parameters = function(o) return {bias = mr.zeros(o.items, {dtype = o.dtype})} end,
---  forward = function(self, batch) return self.bias:rows(batch.items) end,
---})
---mr.models.biased{items = 3}:size()   --> 3
---```
---Example:
---```lua
---mr.models.define("towers", {
---  required = {users = "integer", items = "integer"}, options = {width = 4},
---  parameters = function(o)
---    local function normal(n) return mr.normal({n, o.width}, {sd = 0.3, dtype = o.dtype}) end
---    return {user = normal(o.users), item = normal(o.items), layer = normal(o.width)}
---  end,
---  vectors = function(self) return self.user:matmul(self.layer):tanh(), self.item end,
---})
---#mr.models.towers{users = 2, items = 30}:recommend{user = 1, k = 3}:of(1)   --> 3
---```
function M.define(name, definition)
  if rawget(M, name) ~= nil and not registry.of_script(name) then
    check.new_name("mr.models.define", name, "mr.models." .. name)
  end
  local was = rawget(M, name)
  M[name] = registry.define(name, definition, function() M[name] = was end)
  return M[name]
end

---Loads a model, a baseline or trees from a file that its method `save` wrote. No code from the
---file is run. To load a model that a script defined, call mr.models.define with its definition
---first.
---@param path string
---@return mr.Model|mr.Baseline|mr.Trees
---Example:
---```lua
---local model = mr.models.mf{users = 2, items = 3, factors = 4}
---local path = os.tmpname()
---os.remove(path)  -- save only replaces files of models
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
  local ok, model = check.attempt(restore, by_key, by_name)
  if not ok then check.fail("%s: %s", path, (tostring(model):gsub("^[^\n]-:%d+: ", ""))) end
  return model
end

return M
