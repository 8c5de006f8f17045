-- Computes losses and smooth metrics of lists with weights of rows, by differentiable operations. Each function takes
-- the weights in the dtype and on the device of the scores. Lists without weights use the kernels instead.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local log2 = core.number_log(2)

-- Returns a / b, or 0 where b is 0.
local function ratio(a, b)
  local some = b:gt(0)
  return some:where(a / some:where(b, 1), 0)
end

---Returns the weighted mean of x over the rows of each list; 0 for a list whose weights are all 0. A row of
---weight 0 adds nothing, even if its x is infinite.
---@param x mr.Tensor        [rows]
---@param weights mr.Tensor  [rows]
---@return mr.Tensor         [lists]
function M.mean(x, lists, weights) return ratio(lists:sum(core.times_slope(x, weights)), lists:sum(weights)) end

---Makes the weighted form of a pointwise loss from its function of scores and lists. The function gets each row as a
---list of its own, so that it returns one value per row.
function M.pointwise(values)
  return function(scores, lists, weights) return M.mean(values(scores, lists:single_rows()), lists, weights) end
end

-- Returns 1 / log2(1 + rank).
local function discount(ranks) return log2 / (ranks + 1):log() end

-- Returns the gain of each row, 2^grade - 1, times the row's weight, in float64.
local function weighted_gains(lists, weights)
  local grades = core.grades(lists)
  local most = grades[#grades] or 0
  check.expect(most <= 1000, "lists", "the largest grade", most, "at most 1000, because its gain would be too large")
  return weights:double() * (2 ^ lists:to("float64").relevance:to(weights.device) - 1)
end

---Returns nDCG with gains times weights, from ranks: the ideal DCG is that of the rows in the order of these gains.
---@param ranks mr.Tensor    [rows], differentiable
---@param weights mr.Tensor  [rows]
---@return mr.Tensor         [lists]
function M.ndcg_of_ranks(ranks, lists, weights)
  local gains = weighted_gains(lists, weights)
  local sorted = gains:rows(core.order(core.ranking(gains, lists, "stable", 1)))
  local ideal = lists:sum(sorted * discount(lists:cumsum(gains * 0 + 1)))
  return lists:sum(ratio(gains, lists:spread(ideal)):to(ranks.dtype) * discount(ranks))
end

---Returns the lists with other grades y, so that gains 2^y - 1 are the gains of the lists' grades times weights. Grades
---are float32, so gains are exact to 7 digits. Kernels give lists of equal grades the value 0. A list with equal gains
---times weights still has a value, so its first grade becomes larger by 2 float32 steps.
---@param lists mr.Lists  without lists of equal grades
---@param weights mr.Tensor  [rows]
function M.as_grades(lists, weights)
  local grades = (weighted_gains(lists, weights:to("cpu")) + 1):log() / log2
  local equal = lists:max(grades):eq(-lists:max(-grades))
  if equal:max():item() == 0 then return lists:with_relevance(grades) end
  local first = lists:cumsum(grades * 0 + 1):eq(1)
  return lists:with_relevance(grades * (1 + first * lists:spread(equal:to(grades.dtype)) * 0x1p-22))
end

---Returns smooth nDCG (mr.smooth.ndcg) with gains times weights.
function M.ndcg(scores, lists, weights, steepness, kernel)
  return M.ndcg_of_ranks(core.smooth_rank(scores, lists, steepness, kernel), lists, weights)
end

-- Returns the relevant rows of all lists: as mr.Lists, as row numbers, and their weights and smooth ranks.
local function relevant_rows(scores, lists, steepness, relevant, kernel)
  local part, numbers = lists:relevant_part(relevant)
  numbers = numbers:to(scores.device)
  local ranks = core.distinct_rows(core.smooth_rank(scores, lists, steepness, kernel), numbers)
  return part, numbers, part:row_weights_like(scores) or ranks:detach(), ranks
end

---Returns smooth AP (mr.smooth.ap) with the term of each relevant row times its weight; the sum is divided by P.
function M.ap(scores, lists, _, steepness, relevant, kernel)
  local part, numbers, weights, ranks = relevant_rows(scores, lists, steepness, relevant, kernel)
  return part:mean(weights * core.smooth_rank(core.distinct_rows(scores, numbers), part, steepness, kernel) / ranks)
end

---Returns smooth RR (mr.smooth.rr) with the term of each relevant row times its weight.
function M.rr(scores, lists, _, steepness, relevant, kernel)
  local part, numbers, weights, ranks = relevant_rows(scores, lists, steepness, relevant, kernel)
  local first = core.smooth_first(scores, lists, steepness, relevant, kernel)
  return part:sum(weights * core.distinct_rows(first, numbers) / ranks)
end

---Returns the smooth nRBP loss (mr.smooth.nrbp_loss) with the pairs of each relevant row times its weight.
function M.nrbp_loss(scores, lists, _, steepness, relevant, kernel)
  local part, numbers, weights, ranks = relevant_rows(scores, lists, steepness, relevant, kernel)
  return part:sum(weights * (ranks - core.smooth_rank(core.distinct_rows(scores, numbers), part, steepness, kernel)))
end

-- Returns the logits by which DFTopK chooses each list's first k rows. Lists must have more than k rows.
local function logits(scores, lists, k, tau)
  local order, before, last, next = lists:order(scores:detach()), 0, {}, {}
  for l, size in ipairs(core.integers(lists.sizes:to("cpu"))) do
    last[l], next[l], before = before + k, before + k + 1, before + size
  end
  local function at(places)
    return core.distinct_rows(scores, order:rows(core.tensor(places, "int64", order.device)))
  end
  local threshold = at(last) + at(next)
  return (scores - lists:spread(threshold / 2)) / tau
end

---Returns a loss of the soft choice of the top k rows (mr.losses.soft_precision) with the term of each relevant row,
---or of each row for the cross entropy, times its weight. Each list has more than k rows.
---@param of "precision"|"recall"|"cross_entropy"
function M.soft_top(scores, lists, of, k, tau, relevant)
  local z, weights = logits(scores, lists, k, tau), lists:row_weights_like(scores)
  local chosen = lists:to(scores.dtype).relevance:to(scores.device):ge(relevant):to(scores.dtype)
  if of == "cross_entropy" then return M.mean((z * (1 - 2 * chosen)):softplus(), lists, weights) end
  return -lists:sum(weights * chosen * z:sigmoid()) / (of == "recall" and lists:sum(chosen) or k)
end

-- Returns the logarithm of each row's probability under the softmax of the scores of its list.
local function log_softmax(scores, lists)
  local below = scores - lists:spread(lists:max(scores):detach())
  return below - lists:spread(lists:sum(below:exp()):log())
end

---Returns the softmax cross entropy (mr.losses.softmax_cross_entropy) of grades times weights.
function M.softmax_cross_entropy(scores, lists, weights)
  local targets = weights * lists:to(scores.dtype).relevance:to(scores.device)
  return -lists:sum(core.times_slope(log_softmax(scores, lists), targets))
end

---Returns the ListNet loss (mr.losses.listnet) with the target of each row, the softmax of the grades, times its
---weight.
function M.listnet(scores, lists, weights)
  local targets = weights * lists:softmax(lists:to(scores.dtype).relevance:to(scores.device))
  return -lists:sum(core.times_slope(log_softmax(scores, lists), targets))
end

---Returns the CLiMF loss (mr.losses.climf) with the terms of each relevant row times its weight. Its pairs are those of
---RankNet over all pairs, in which both orders of two rows of equal grades count half.
function M.climf(scores, lists, relevant)
  core.checked_values(scores, scores)
  local part, numbers = lists:relevant_part(relevant)
  local own = core.distinct_rows(scores, numbers:to(scores.device))
  local weights = part:row_weights_like(scores) or own:detach()
  return part:sum(weights * (-own):softplus()) + 2 * core.ranknet_all_pairs_loss(own, part, 1, 1)
end

---Returns the TFMAP loss (mr.losses.tfmap) with the term of each relevant row times its weight, divided by P.
function M.tfmap(scores, lists, relevant)
  core.checked_values(scores, scores)
  local part, numbers = lists:relevant_part(relevant)
  local own = core.distinct_rows(scores, numbers:to(scores.device))
  local weights = part:row_weights_like(scores) or own:detach()
  return -part:mean(weights * own:sigmoid() * (core.smooth_rank(own, part, 1) - 0.5))
end

return M
