-- Defines losses that make a metric differentiable without smooth ranks: by random ranks, by relaxed permutation
-- matrices, by ranks that are projected onto the permutahedron, or by each row's own score. A list whose grades are all
-- equal has the value 0 and no gradient, and means leave it out.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

-- Makes an nDCG loss from a function of scores and lists. Weights of rows multiply gains; they are first divided by the
-- largest weight of their list, so that small weights keep their digits.
local function of_ndcg(name, o, values)
  local ndcg = metrics.parse "ndcg"
  local function of_weighted(scores, lists)
    local weights = lists:row_weights_like(scores):double()
    local most = lists:spread(lists:max(weights))
    return values(scores, weighted.as_grades(lists, weights / most:gt(0):where(most, 1)))
  end
  return loss.by_slope({ name = name, metric = "ndcg", of = ndcg, values = values,
    row_weights = loss.on_counted(ndcg, of_weighted), gains = ndcg }, o)
end

local soft_rank_options = declare("mr.losses.SoftRankOptions", {
  shared.factor("sd", 1, "standard deviation of a row's score"),
  { "longest", "integer", default = 500, least = 1,
    help = "largest number of rows in a list; a longer list is an error" },
}, shared.slope)

---Makes the SoftRank loss (Taylor et al. 2008), one value per list: negative nDCG with random
---ranks. Each row's score is a normal variable around the model's score, with standard deviation
---`sd`. A recursion over the other rows computes the distribution of a row's rank. The row's gain
---is multiplied by its expected discount. The time for a list grows with the cube of its number of
---rows, so a list longer than `longest` raises an error. A list whose grades are all equal has the
---value 0. A bound multiplies the loss by the bound's slope for nDCG.
---@param options? mr.losses.SoftRankOptions
---@return mr.Loss
---Example: `mr.losses.soft_rank()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.81546}  mr.Tensor {1} float32`
function M.soft_rank(options)
  local o = soft_rank_options:read("mr.losses.soft_rank", options)
  return of_ndcg("soft_rank", o, function(scores, lists)
    return core.soft_rank_loss(scores, lists, o.sd, o.longest)
  end)
end

-- Options of mr.losses.neural_ndcg. The limits of `tau` keep float32 scores divided by `tau`, and their sums, within
-- the range of a double.
local neural_options = declare("mr.losses.NeuralOptions", {
  { "tau", "number", default = 1, least = 1e-15, most = 1e100, help = "temperature of the softmax" },
  { "iterations", "integer", default = 50, least = 0, most = 1000,
    help = "largest number of iterations of Sinkhorn's scaling" },
  { "tolerance", "number", default = 1e-6, least = 0,
    help = "scaling stops when the sum of every column differs from 1 by at most this" },
}, shared.slope)

---Makes the NeuralNDCG loss (Pobrotyn & Bialobrzeski 2021), one value per list: negative nDCG of
---the relaxed permutation matrix of NeuralSort (Grover et al. 2019). Sinkhorn's iterations scale
---the matrix, and the gradient goes through these iterations. The transposed form in the paper sums
---the same products, so it is the same loss. A list whose grades are all equal has the value 0. A
---bound multiplies the loss by the bound's slope for nDCG.
---
---The time for a list grows with iterations times the square of its number of rows, the memory with
---iterations times its number of rows. On the CPU, each thread also keeps the matrix of one list of
---up to 1,024 rows (at most 16 MB). A longer list takes more time per entry of its matrix.
---@param options? mr.losses.NeuralOptions
---@return mr.Loss
---Example: `mr.losses.neural_ndcg()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.81546}  mr.Tensor {1} float32`
function M.neural_ndcg(options)
  local o = neural_options:read("mr.losses.neural_ndcg", options)
  return of_ndcg("neural_ndcg", o, function(scores, lists)
    return core.neural_ndcg_loss(scores, lists, o.tau, o.iterations, o.tolerance)
  end)
end

local projected_options = declare("mr.losses.ProjectedOptions", {
  shared.factor("eps", 1, "strength of the regularization: with a large one all ranks come near (N + 1) / 2"),
}, shared.slope)

---Makes the projected nDCG loss, one value per list: negative nDCG with soft ranks R by projection
---(Blondel et al. 2020, "Fast Differentiable Sorting and Ranking", quadratic regularization). For
---scores f, the ranks are the point of the permutahedron that is nearest to $-f / eps$. The
---permutahedron is the convex hull of all permutations of 1, ..., N.
---
---   $R = argmin_mu sum_i (mu_i + f_i / eps)^2$
---
---   $- 1 / IDCG sum_i (2^(y_i) - 1) / log2(1 + R_i)$
---
---One sort and one isotonic regression (pool adjacent violators) compute this point exactly. If all
---gaps between neighbouring scores are above `eps`, R are the exact ranks and have no gradient. A list
---whose grades are all equal has the value 0. A bound multiplies the loss by the bound's slope for
---nDCG.
---@param options? mr.losses.ProjectedOptions
---@return mr.Loss
---Example: `mr.losses.projected_ndcg()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.75647}  mr.Tensor {1} float32`
function M.projected_ndcg(options)
  local o = projected_options:read("mr.losses.projected_ndcg", options)
  return of_ndcg("projected_ndcg", o, function(scores, lists) return core.projected_ndcg_loss(scores, lists, o.eps) end)
end

-- Options of mr.losses.softsort_ndcg. The smallest `tau` is so large that scores divided by it still fit into a double.
local softsort_options = declare("mr.losses.SoftSortOptions", {
  { "power", "integer", default = 1, least = 1, most = 2, help = "power of score differences: 1 or 2" },
  shared.factor("tau", 1, "temperature of the softmax"),
}, shared.slope)

---Makes the SoftSort nDCG loss (Prillo and Eisenschlos 2020), one value per list: negative nDCG of a
---relaxed permutation matrix. For scores f, row k of the matrix is a softmax over the rows j of the
---list, by their distance to the k-th largest score $f_((k))$. The discount of rank k is
---$d(k) = 1 / log2(1 + k)$.
---
---   $p_k = softmax_j(- |f_((k)) - f_j|^power / tau)$
---
---   $- 1 / IDCG sum_k d(k) sum_j p_(kj) (2^(y_j) - 1)$
---
---The matrix is not stored. With `power = 1`, one sort and recurrences compute all sums exactly. With
---`power = 2`, the time for a list grows with the square of its number of rows. Among rows with equal
---scores, the lower row number comes first, and the difference of their scores has no gradient. Trees
---begin with equal scores, so they cannot be grown by this loss. A list whose grades are all equal has
---the value 0. A bound multiplies the loss by the bound's slope for nDCG.
---@param options? mr.losses.SoftSortOptions
---@return mr.Loss
---Example: `mr.losses.softsort_ndcg()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.81546}  mr.Tensor {1} float32`
function M.softsort_ndcg(options)
  local o = softsort_options:read("mr.losses.softsort_ndcg", options)
  return of_ndcg("softsort_ndcg", o, function(scores, lists)
    return core.softsort_ndcg_loss(scores, lists, o.power, o.tau)
  end)
end

local own_score_options = declare("mr.losses.OwnScoreOptions", {}, shared.relevant, shared.slope)

local function of_own_scores(name, metric, values, of_weights, options)
  local o = own_score_options:read("mr.losses." .. name, options)
  local function of_relevant(scores, lists) return values(scores, lists, o.relevant) end
  local of = metrics.parse(metric, o.relevant ~= 1 and { relevant = o.relevant } or nil)
  local of_weighted = loss.on_counted(metrics.parse "ndcg", function(scores, lists)
    return of_weights(scores, lists, o.relevant)
  end)
  return loss.by_slope({ name = name, metric = metric, of = of, counted = "ndcg", values = of_relevant,
    row_weights = of_weighted }, o)
end

---Makes the CLiMF loss (Shi et al. 2012): the paper's objective without its regularizer, negated.
---It is a sum over relevant rows, for scores f.
---
---   $- sum_(relevant i) (log(sigma(f_i)) + sum_(relevant j != i) log(1 - sigma(f_j - f_i)))$
---
---Scores of rows that are not relevant are ignored. A list whose grades are all equal has the value 0.
---A bound multiplies the loss by the bound's slope for RR.
---@param options? mr.losses.OwnScoreOptions
---@return mr.Loss
---Example: `mr.losses.climf()(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item() / math.log(2)   --> 4.0`
function M.climf(options) return of_own_scores("climf", "rr", core.climf_loss, weighted.climf, options) end

---Makes the TFMAP loss (Shi et al. 2012): the paper's objective without its regularizer, negated.
---It is a sum over the P relevant rows, for scores f.
---
---   $- 1/P sum_(relevant i) sigma(f_i) sum_(relevant j) sigma(f_j - f_i)$
---
---Scores of rows that are not relevant are ignored. A list whose grades are all equal has the value 0.
---A bound multiplies the loss by the bound's slope for AP.
---@param options? mr.losses.OwnScoreOptions
---@return mr.Loss
---Example: `mr.losses.tfmap()(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item()   --> -0.5`
function M.tfmap(options) return of_own_scores("tfmap", "ap", core.tfmap_loss, weighted.tfmap, options) end

return M
