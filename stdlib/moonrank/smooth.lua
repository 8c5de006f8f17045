-- Smooth ranks and smooth metrics: ranks replaced by sums of sigmoids, so that metrics have gradients.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local shared = require "moonrank.losses.options"

local M = {}

local smooth_options = declare("mr.smooth.Options", {}, shared.relevant, shared.steepness)

---Smooth rank (Westerborg 2022, Eq. 2.9): R_i = 1 + sum over j of sigma(steepness (s_j - s_i)). The ranks of a list add
---up to N (N + 1) / 2.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.RankOptions
---@return mr.Tensor        [rows], differentiable in scores
---Example: `mr.smooth.rank(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 0}}):totable()[1]   --> 2.0`
function M.rank(scores, lists, options)
  return core.smooth_rank(scores, lists, shared.steepness:read("mr.smooth.rank", options).steepness)
end

---Smooth rank of every row among the relevant rows of its list, as in smooth AP (Eq. 2.11). Not differentiable.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [rows]
---Example: `mr.smooth.rank_among_relevant(mr.tensor{0, 0, 0}, mr.lists{{1, 0, 0}}):totable()[2]   --> 1.5`
function M.rank_among_relevant(scores, lists, options)
  local o = smooth_options:read("mr.smooth.rank_among_relevant", options)
  return core.smooth_rank_among_relevant(scores, lists, o.steepness, o.relevant)
end

---Smooth nDCG (Westerborg 2022, Eq. 2.10), with gain 2^grade - 1 (of grades up to 1000) and the ideal DCG of the grades. To be maximised; 0 for
---a list without relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.RankOptions
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.ndcg(mr.tensor{2, 1, 0}, mr.lists{{1, 0, 0}}):item()   --> 0.7962`
function M.ndcg(scores, lists, options)
  return core.smooth_ndcg(scores, lists, shared.steepness:read("mr.smooth.ndcg", options).steepness)
end

---Smooth average precision (Westerborg 2022, Eq. 2.11). To be maximised; 0 for a list without relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.ap(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.66666668653488`
function M.ap(scores, lists, options)
  local o = smooth_options:read("mr.smooth.ap", options)
  return core.smooth_ap(scores, lists, o.steepness, o.relevant)
end

---Smooth reciprocal rank (Li et al. 2021, Eq. 16). To be maximised; 0 for a list without relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.rr(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.66666668653488`
function M.rr(scores, lists, options)
  local o = smooth_options:read("mr.smooth.rr", options)
  return core.smooth_rr(scores, lists, o.steepness, o.relevant)
end

---A smooth form of the fact that a relevant row stands before all others: the product over the other relevant rows j of
---sigma(steepness (s_i - s_j)), which is near 1 for a row far above them; 0 for rows that are not relevant. Smooth RR
---is the sum of first / rank. On the CPU a product counts as 0 where it is below 2^-32 (float64: 2^-60) of the list's
---largest divided by its number of relevant rows.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [rows], differentiable in scores
---Example: `mr.smooth.first(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 1}}):totable()[1]   --> 0.25`
function M.first(scores, lists, options)
  local o = smooth_options:read("mr.smooth.first", options)
  return core.smooth_first(scores, lists, o.steepness, o.relevant)
end

---The logarithm of smooth reciprocal rank, log of the sum over relevant i of 1/R_i times the product over other relevant j of 1 - sigma(s_j -
---s_i), found from the logarithms of its terms: with many relevant rows smooth RR and its gradient vanish, this does not. To be maximised; 0 for a
---list of relevant rows only, or without any.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.log_rr(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2 / 3)   --> 1.0`
function M.log_rr(scores, lists, options)
  local o = smooth_options:read("mr.smooth.log_rr", options)
  return core.smooth_log_rr(scores, lists, o.steepness, o.relevant)
end

---Smooth nRBP loss (Westerborg 2022, Eq. 2.12): the sum of sigma(s_j - s_i) over relevant i and other j. To be minimised; 0 for a list
---without relevant rows. Not the metric nRBP(p).
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.smooth.Options
---@return mr.Tensor        [lists], differentiable in scores
---Example: `mr.smooth.nrbp_loss(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.5`
function M.nrbp_loss(scores, lists, options)
  local o = smooth_options:read("mr.smooth.nrbp_loss", options)
  return core.smooth_nrbp_loss(scores, lists, o.steepness, o.relevant)
end

return M
