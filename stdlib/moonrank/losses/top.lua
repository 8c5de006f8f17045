-- Defines losses that depend only on the top of a ranking: on its first rows, or on its first relevant row.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

local top_options = declare("mr.losses.TopOptions", {
  { "k", "integer", default = 10, least = 1, formerly = "n", renamed = 2, help = "number of rows at the top" },
  { "above", "string", default = "sigmoid", choices = { "sigmoid", "relu" },
    help = "how much row j is above row i: sigma(f_j - f_i) or max(0, f_j - f_i)" },
}, shared.slope)

---Makes the Top-N-Rank loss (Liang, Hu, Dong & Honavar 2018, arXiv:1812.04109), one value per list:
---negative DCG of the rows that rank among the first `k` at the current scores. Among rows with
---equal scores, the row with the lower number comes first. The rank of each top row i is made
---differentiable: it is 1 plus the sum over all other rows j of how much j is above i, as `above`
---defines. With "relu", equal scores give every row rank 1.
---
---DCG has gains 2^grade - 1 and is not divided by its ideal value. The definition follows the
---paper's abstract and Li et al. (2021, section 3.4). It does not weight several kinds of
---feedback, as the paper does. Lists whose grades are all equal have the value 0. The time for a
---list grows with `k` times its number of rows. A bound multiplies the loss by the bound's slope
---for DCG at `k`, a metric without closed forms (see mr.bounds.of).
---@param options? mr.losses.TopOptions
---@return mr.Loss
---Example: `mr.losses.top_n_rank{k = 1, above = "relu"}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -1.0`
function M.top_n_rank(options)
  local o = top_options:read("mr.losses.top_n_rank", options)
  local metric = ("dcg@%d"):format(o.k)
  local function values(scores, lists) return core.top_n_rank_loss(scores, lists, o.k, o.above == "relu") end
  local by_gains = loss.on_counted(metrics.parse "ndcg", function(scores, lists)
    return values(scores, weighted.as_grades(lists, lists:row_weights_like(scores)))
  end)
  return loss.by_slope({ name = "top_n_rank", metric = metric, of = metric, counted = "ndcg", values = values,
    row_weights = by_gains }, o)
end

local soft_top_options = declare("mr.losses.SoftTopOptions", {
  { "k", "integer", default = 10, least = 1, help = "number of rows at the top" },
  { "tau", "number", default = 1, least = 1e-15, most = 1e15, help = "temperature: a small one makes the choice hard" },
}, shared.relevant, shared.slope)

-- Makes a loss of a soft choice of the first k rows. `of` is the name of the loss in the core, and `metric` the name of
-- the metric without the cutoff k.
local function of_mask(name, of, metric, options)
  local o = soft_top_options:read("mr.losses." .. name, options)
  local function values(scores, lists) return core.soft_top_loss(scores, lists, of, o.k, o.tau, o.relevant) end
  local text = ("%s@%d"):format(metric, o.k)
  local exact = metrics.parse(text, o.relevant ~= 1 and { relevant = o.relevant } or nil)
  local by_weights = loss.on_counted(exact, function(scores, lists)
    return weighted.soft_top(scores, lists, of, o.k, o.tau, o.relevant)
  end)
  -- Without a bound, those lists count whose loss depends on scores. The hit rate itself is constant in more lists: if
  -- fewer than k rows are not relevant, every order has a hit.
  local counted = ("precision@%d"):format(o.k)
  return loss.by_slope({ name = name, metric = text, of = exact, values = values,
    counted = metrics.parse(counted, o.relevant ~= 1 and { relevant = o.relevant } or nil),
    row_weights = of == "hit" and "its value is a product over rows" or by_weights }, o)
end

---Makes the soft precision loss at `k`, one value per list: negative precision of a soft choice of
---the top `k` rows (DFTopK: Zhu et al. 2025, arXiv:2510.11472). For scores f, row i is chosen with
---the weight $m_i$. $f_((k))$ is the k-th largest score, and the gradient goes through it.
---
---   $m_i = sigma((f_i - (f_((k)) + f_((k+1))) / 2) / tau)$
---
---   $- 1/k sum_(relevant i) m_i$
---
---The weights do not add up to k, so the value can be below -1. Among rows with equal scores, the row
---with the lower number is the larger one. A list with at most `k` rows, with only relevant rows or
---without relevant rows has the value 0. A bound multiplies the loss by the bound's slope for
---precision at `k`.
---@param options? mr.losses.SoftTopOptions
---@return mr.Loss
---Example: `mr.losses.soft_precision{k = 1}(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {-0.5}  mr.Tensor {1} float32`
function M.soft_precision(options) return of_mask("soft_precision", "precision", "precision", options) end

---Makes the soft recall loss at `k`, one value per list: negative recall of a soft choice of the top
---`k` rows (DFTopK: Zhu et al. 2025, arXiv:2510.11472). It is like mr.losses.soft_precision, which
---defines the weights m, but the sum over the P relevant rows is divided by P.
---
---   $- 1/P sum_(relevant i) m_i$
---
---Lists with at most `k` rows, with only relevant rows or without relevant rows have the value 0. A
---bound multiplies the loss by the bound's slope for recall at `k`.
---@param options? mr.losses.SoftTopOptions
---@return mr.Loss
---Example: `mr.losses.soft_recall{k = 1}(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item()   --> -0.5`
function M.soft_recall(options) return of_mask("soft_recall", "recall", "recall", options) end

---Makes the soft hit loss at `k`, one value per list: the negative probability that at least one
---relevant row is chosen, if row i is chosen with the probability $m_i$ of mr.losses.soft_precision,
---independently of the other rows. The weights are those of DFTopK (Zhu et al. 2025,
---arXiv:2510.11472); this use of them is the library's own.
---
---   $prod_(relevant i) (1 - m_i) - 1$
---
---Lists with at most `k` rows, with only relevant rows or without relevant rows have the value 0. A
---bound multiplies the loss by the bound's slope for the hit rate at `k`.
---@param options? mr.losses.SoftTopOptions
---@return mr.Loss
---Example: `mr.losses.soft_hit{k = 1}(mr.tensor{0, 0, 0}, mr.lists{{1, 1, 0}}):item()   --> -0.75`
function M.soft_hit(options) return of_mask("soft_hit", "hit", "hit", options) end

---Makes the soft top-k cross entropy loss, one value per list: the mean over rows of the binary cross
---entropy between the weights m of mr.losses.soft_precision and relevance (DFTopK: Zhu et al. 2025,
---arXiv:2510.11472). It is computed from logits, so no digits are lost where a weight is near 0 or 1.
---Lists with at most `k` rows, with only relevant rows or without relevant rows have the value 0. A
---bound multiplies the loss by the bound's slope for precision at `k`.
---@param options? mr.losses.SoftTopOptions
---@return mr.Loss
---Example: `mr.losses.soft_top_k{k = 1}(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0`
function M.soft_top_k(options) return of_mask("soft_top_k", "cross_entropy", "precision", options) end

local log_rr_options = declare("mr.losses.LogRrOptions", {}, shared.smooth, shared.slope)

---Makes the log RR loss, one value per list: the negative logarithm of smooth RR (mr.smooth.log_rr;
---Li et al. 2021, Eq. 16). Its gradient does not vanish for lists with many relevant rows, unlike
---the gradient of mr.losses.rr. A list in which all rows are relevant, or none is, has the value 0. A
---bound multiplies the loss by the bound's slope for RR.
---@param options? mr.losses.LogRrOptions
---@return mr.Loss
---Example: `mr.losses.log_rr()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(1.5)   --> 1.0`
function M.log_rr(options)
  local o = log_rr_options:read("mr.losses.log_rr", options)
  local kernel = shared.kernel(o)
  local function values(scores, lists) return -core.smooth_log_rr(scores, lists, o.steepness, 1, kernel) end
  return loss.by_slope({ name = "log_rr", metric = "rr", of = "rr", values = values,
    row_weights = "it is the logarithm of a sum over rows" }, o)
end

return M
