-- How lambdamart.lua trains and evaluates trees on MQ2008 (slide "Lambda Mart"). The slides leave these decisions open,
-- so that all are ours.
local mr = require "moonrank"

local M = {}

---Returns the options of boosted trees (depth 5, eta 0.1), or, if `forest`, of a random forest: one
---round of many deep trees.
---@param o { rounds: integer, trees: integer, seed: integer }
function M.options(forest, o)
  if not forest then return { rounds = o.rounds, depth = 5, eta = 0.1, seed = o.seed } end
  return { rounds = 1, trees = o.trees, depth = 12, eta = 1.0, subsample = 0.63, colsample_bynode = 0.33,
    seed = o.seed }
end

---Trains a model of trees on a fold. Validation AP chooses the boosting round.
---@param loss? mr.Loss  loss of this library; nil if the model's option `objective` names a loss of XGBoost
function M.fit(model, loss, fold)
  return mr.fit{ model = model, loss = loss, train = fold.train, valid = fold.valid, metrics = { "ap" },
    progress = false }
end

---Evaluates scores of trees. Returns nDCG@10, nDCG@10 by the rule of LETOR's evaluation script, AP, and
---nDCG@10 again. The first three count a query without relevant documents as 0, the last leaves such
---queries out.
---@return number, number, number, number
function M.judge(scores, lists)
  local all = mr.evaluate(scores, lists, { "ndcg@10", "letor_ndcg@10", "ap" }, { empty = "zero" }).mean
  return all["ndcg@10"], all["letor_ndcg@10"], all.ap, mr.evaluate(scores, lists, { "ndcg@10" }).mean["ndcg@10"]
end

return M
