-- Losses that depend on the top of a ranking: on its first N rows, or on its first relevant row.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local shared = require "moonrank.losses.options"

local M = {}

local top_options = declare("mr.losses.TopOptions", {
  { "n", "integer", default = 10, least = 1, help = "number of rows at the top", also = { "k" } },
  { "above", "string", default = "sigmoid", choices = { "sigmoid", "relu" },
    help = "how much row j is above row i: sigma(f_j - f_i) or max(0, f_j - f_i)" },
}, shared.slope)

---Makes the Top-N-Rank loss (Liang, Hu, Dong & Honavar 2018, arXiv:1812.04109), one value per list:
---negative DCG of the rows that rank among the first `n` at the current scores. Among rows with
---equal scores, the row with the lower number comes first. The rank of each top row i is made
---differentiable: it is 1 plus the sum over all other rows j of how much j is above i, as `above`
---defines. With "relu", equal scores give every row rank 1, so the scores can grow together.
---
---DCG has gains 2^grade - 1 and is not divided by its ideal value. The definition follows the
---paper's abstract and Li et al. (2021, section 3.4). It does not weight several kinds of
---feedback, as the paper does. Lists whose grades are all equal have the value 0. The time for a
---list grows with `n` times its number of rows. A bound multiplies the loss by the bound's slope
---for DCG at `n`, which is estimated from random rankings (see mr.bounds.of).
---@param options? mr.losses.TopOptions
---@return mr.Loss
---Example: `mr.losses.top_n_rank{n = 1, above = "relu"}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -1.0`
function M.top_n_rank(options)
  local o = top_options:read("mr.losses.top_n_rank", options)
  local metric = ("dcg@%d"):format(o.n)
  local function values(scores, lists) return core.top_n_rank_loss(scores, lists, o.n, o.above == "relu") end
  return loss.by_slope({ name = "top_n_rank", metric = metric, of = metric, counted = "ndcg", values = values }, o)
end

---Makes the log RR loss, one value per list: the negative logarithm of smooth RR (mr.smooth.log_rr;
---Li et al. 2021, Eq. 16). Its gradient does not vanish for lists with many relevant rows, unlike
---the gradient of mr.losses.rr. A bound multiplies the loss by the bound's slope for RR.
---@param options? mr.losses.PairOptions
---@return mr.Loss
---Example: `mr.losses.log_rr()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(1.5)   --> 1.0`
function M.log_rr(options)
  local o = shared.pairs:read("mr.losses.log_rr", options)
  local function values(scores, lists) return -core.smooth_log_rr(scores, lists, o.steepness, 1) end
  return loss.by_slope({ name = "log_rr", metric = "rr", of = "rr", values = values }, o)
end

return M
