-- Smooth ranks and smooth metrics. A smooth rank replaces the rank by a sum of sigmoids of score differences, so
-- that metrics of these ranks have gradients.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

local smooth_options = declare("mr.smooth.Options", {}, shared.relevant, shared.smooth)

-- Computes a smooth metric by a kernel of the core, or for rows with weights by differentiable operations.
local function metric(name, scores, lists, ...)
  local weights = check.is_lists(lists) and lists:has_weights() and check.is_tensor(scores)
    and lists:row_weights_like(scores)
  if not weights then return core["smooth_" .. name](scores, lists, ...) end
  return weighted[name](scores, lists, weights, ...)
end

---Computes the smooth rank of every row (Westerborg 2022, Eq. 2.9): 1 plus a smooth count of the
---rows j whose scores $s_j$ are larger than the row's own score $s_i$.
---
---   $R_i = 1 + sum_(j != i) sigma(steepness (s_j - s_i))$
---
---Here $sigma(x) = 1 / (1 + e^(-x))$ is the sigmoid. The smooth ranks of a list with N rows add up
---to N (N + 1) / 2.
---
---With `kernel = "laplace"`, sigma is instead the distribution function of the Laplace distribution:
---$e^x / 2$ for $x <= 0$ and $1 - e^(-x) / 2$ for $x > 0$ (LapSum: Struski et al. 2025,
---arXiv:2503.06242). Its sums are exact and take one sort and two recurrences, so the time grows with
---N log N. At 0 it is twice as steep as the sigmoid: steepness 1/2 has the slope of the sigmoid with
---steepness 1. All functions of mr.smooth have this option. Only smooth RR, its logarithm and
---`mr.smooth.first` also take time that grows with the square of the number of relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.RankOptions
---@return mr.Tensor        [rows], differentiable in scores
---Example: `mr.smooth.rank(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 0}}):totable()[1]   --> 2.0`
---Example: `mr.smooth.rank(mr.tensor{1, 0}, mr.lists{{1, 0}}, {kernel = "laplace"}):totable()[1]   --> 1.18394`
function M.rank(scores, lists, options)
  local o = shared.smooth:read("mr.smooth.rank", options)
  return core.smooth_rank(scores, lists, o.steepness, o.kernel)
end

---Computes the smooth rank of every row among only the relevant rows of its list, as in smooth AP
---(Westerborg 2022, Eq. 2.11). The result is not differentiable.
---
---   $Q_i = 1 + sum_(relevant j != i) sigma(steepness (s_j - s_i))$
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [rows]
---Example: `mr.smooth.rank_among_relevant(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 0}}):totable()[2]   --> 1.5`
function M.rank_among_relevant(scores, lists, options)
  local o = smooth_options:read("mr.smooth.rank_among_relevant", options)
  return core.smooth_rank_among_relevant(scores, lists, o.steepness, o.relevant, o.kernel)
end

---Computes smooth nDCG (Westerborg 2022, Eq. 2.10), to be maximized. It is nDCG with smooth ranks R
---(mr.smooth.rank).
---
---   $1 / IDCG sum_i (2^(y_i) - 1) / log2(1 + R_i)$
---
---A grade y above 1000 is an error, and the ideal DCG is exact. A list whose grades are all 0 has
---the value 0. Weights of rows (lists:weighted) multiply the gains, also in the ideal DCG. In the
---other smooth metrics of this module except log_rr, they multiply the terms of relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.RankOptions
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.ndcg(mr.tensor{2, 1, 0}, mr.lists{{1, 0, 0}}):item()   --> 0.7962`
function M.ndcg(scores, lists, options)
  local o = shared.smooth:read("mr.smooth.ndcg", options)
  return metric("ndcg", scores, lists, o.steepness, o.kernel)
end

---Computes smooth average precision (Westerborg 2022, Eq. 2.11), to be maximized. It is AP with
---smooth ranks R (mr.smooth.rank), and Q among the P relevant rows (mr.smooth.rank_among_relevant).
---
---   $1/P sum_(relevant i) Q_i / R_i$
---
---A list without relevant rows has the value 0.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.ap(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.66666668653488`
function M.ap(scores, lists, options)
  local o = smooth_options:read("mr.smooth.ap", options)
  return metric("ap", scores, lists, o.steepness, o.relevant, o.kernel)
end

---Computes smooth reciprocal rank of the first relevant row (Li et al. 2021, Eq. 16), to be
---maximized. It uses smooth ranks R (mr.smooth.rank) and scores s.
---
---   $sum_(relevant i) 1 / R_i prod_(relevant j != i) (1 - sigma(steepness (s_j - s_i)))$
---
---A list without relevant rows has the value 0.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.rr(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.66666668653488`
function M.rr(scores, lists, options)
  local o = smooth_options:read("mr.smooth.rr", options)
  return metric("rr", scores, lists, o.steepness, o.relevant, o.kernel)
end

---Computes, for each relevant row i, how clearly it ranks before all other relevant rows j: the
---product over j of $sigma(steepness (s_i - s_j))$. The product is near 1 for a row with a score
---far above these rows. Rows that are not relevant have 0. Smooth RR is the sum over rows of this
---product divided by the smooth rank. On the CPU, products below a limit count as 0. The limit is at
---most 2^-32 (float64: 2^-60) times the largest product of the list, divided by the number of
---relevant rows of the list.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [rows], differentiable in scores
---Example: `mr.smooth.first(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 1}}):totable()[1]   --> 0.25`
function M.first(scores, lists, options)
  local o = smooth_options:read("mr.smooth.first", options)
  return core.smooth_first(scores, lists, o.steepness, o.relevant, o.kernel)
end

---Computes the logarithm of smooth reciprocal rank (mr.smooth.rr), to be maximized. If many rows are
---relevant, smooth RR and its gradient vanish. This logarithm does not, because it is computed from
---the logarithms of the terms. A list with only relevant rows, or with none, has the value 0. Weights
---of rows (lists:weighted) have no effect.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.log_rr(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2 / 3)   --> 1.0`
function M.log_rr(scores, lists, options)
  local o = smooth_options:read("mr.smooth.log_rr", options)
  return core.smooth_log_rr(scores, lists, o.steepness, o.relevant, o.kernel)
end

---Computes the smooth nRBP loss (Westerborg 2022, Eq. 2.12), to be minimized: a smooth count of the
---pairs of a relevant row i and an irrelevant row j in which j has the higher score.
---
---   $sum_(relevant i) sum_(irrelevant j) sigma(steepness (s_j - s_i))$
---
---A list without relevant rows has the value 0. This loss is not the metric nRBP(p).
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.nrbp_loss(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.5`
function M.nrbp_loss(scores, lists, options)
  local o = smooth_options:read("mr.smooth.nrbp_loss", options)
  return metric("nrbp_loss", scores, lists, o.steepness, o.relevant, o.kernel)
end

return M
