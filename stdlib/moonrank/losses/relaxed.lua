-- Losses that relax a metric otherwise than by smooth ranks: by distributions of ranks, by a relaxed matrix of permutation, by each row's
-- own score. Lists whose grades do not differ are 0, without gradient, and do not count.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"

local M = {}

local soft_rank_options = declare("mr.losses.SoftRankOptions", {
  shared.factor("sd", 1, "standard deviation of a row's score"),
  { "longest", "integer", default = 500, least = 1, help = "rows of the longest list that is allowed" },
}, shared.slope)

---SoftRank's negative nDCG (Taylor et al. 2008), one value per list: scores are normal with standard deviation `sd` around the model's, a
---row's rank has the distribution that the recursion over the other rows gives, and its gain is discounted by the expected discount. The
---time of a list grows with the cube of its rows, so long lists are errors unless `longest` allows them. Bounds are those of nDCG, by their
---slopes.
---@param options? mr.losses.SoftRankOptions
---@return mr.Loss
---Example: `mr.losses.soft_rank()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.81546}  mr.Tensor {1} float32`
function M.soft_rank(options)
  local o = soft_rank_options:read("mr.losses.soft_rank", options)
  local function values(scores, lists) return core.soft_rank_loss(scores, lists, o.sd, o.longest) end
  return loss.by_slope({ name = "soft_rank", metric = "ndcg", of = "ndcg", values = values, gains = metrics.parse "ndcg" }, o)
end

-- Doubles hold neither distances of scores over a smaller `tau` nor sums of distances over a larger one.
local neural_options = declare("mr.losses.NeuralOptions", {
  { "tau", "number", default = 1, least = 1e-15, most = 1e100, help = "temperature of the softmax" },
  { "iterations", "integer", default = 50, least = 0, most = 1000, help = "most iterations of Sinkhorn's scaling" },
  { "tolerance", "number", default = 1e-6, least = 0,
    help = "scaling ends when the sum of every column is within this of 1" },
}, shared.slope)

---NeuralNDCG (Pobrotyn & Bialobrzeski 2021), one value per list: negative nDCG of the relaxed permutation matrix of NeuralSort (Grover et
---al. 2019), scaled by Sinkhorn's iterations, through which the gradient goes. Its transposed form sums the same products, so it is the
---same loss. The time of a list grows with iterations times the square of its rows, memory with iterations times its rows (the CPU also
---keeps the matrix of one list of up to 1,024 rows per thread, 16 MB at most: a longer list takes longer for each of its entries). Bounds
---are those of nDCG, by their slopes.
---@param options? mr.losses.NeuralOptions
---@return mr.Loss
---Example: `mr.losses.neural_ndcg()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.81546}  mr.Tensor {1} float32`
function M.neural_ndcg(options)
  local o = neural_options:read("mr.losses.neural_ndcg", options)
  local function values(scores, lists) return core.neural_ndcg_loss(scores, lists, o.tau, o.iterations, o.tolerance) end
  return loss.by_slope({ name = "neural_ndcg", metric = "ndcg", of = "ndcg", values = values, gains = metrics.parse "ndcg" }, o)
end

local own_score_options = declare("mr.losses.OwnScoreOptions", {}, shared.relevant, shared.slope)

local function of_own_scores(name, metric, values, options)
  local o = own_score_options:read("mr.losses." .. name, options)
  local function of_relevant(scores, lists) return values(scores, lists, o.relevant) end
  local of = metrics.parse(metric, o.relevant ~= 1 and { relevant = o.relevant } or nil)
  return loss.by_slope({ name = name, metric = metric, of = of, counted = "ndcg", values = of_relevant }, o)
end

---CLiMF (Shi et al. 2012), the negated objective without its regulariser: - the sum over relevant rows i of log sigma(f_i) and, over the other
---relevant rows j, of log(1 - sigma(f_j - f_i)). Scores of rows that are not relevant are not looked at. Bounds are those of RR, by their slopes.
---@param options? mr.losses.OwnScoreOptions
---@return mr.Loss
---Example: `mr.losses.climf()(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item() / math.log(2)   --> 4.0`
function M.climf(options) return of_own_scores("climf", "rr", core.climf_loss, options) end

---TFMAP (Shi et al. 2012), the negated objective without its regulariser: - (1/P) times the sum over relevant rows i of sigma(f_i) times the sum
---over relevant rows j, i among them, of sigma(f_j - f_i). Scores of rows that are not relevant are not looked at. Bounds are those of AP.
---@param options? mr.losses.OwnScoreOptions
---@return mr.Loss
---Example: `mr.losses.tfmap()(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item()   --> -0.5`
function M.tfmap(options) return of_own_scores("tfmap", "ap", core.tfmap_loss, options) end

return M
