-- The losses of Li, Urbano & Hanjalic (2021) under three recipes: as in the paper's equations ("paper"), as in the
-- last commit of the authors' code ("code"), and as in the code that made the published results ("published").
-- In formulas, R are smooth ranks, P is the number of relevant rows. Losses have one value for each list, and the
-- authors' code sums them over a batch. It fills lists up to the longest list of any user with rows of score -100.
local mr = require "moonrank"

local M = { listwise = { "ndcg", "ap", "rr", "nrbp" },
  lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" } }

-- Makes a loss from a function of scores and lists that returns one value for each list.
local function loss_of(name, metric, smooth)
  return mr.losses.define(name, { direction = "minimize", metric = metric, smooth = smooth })()
end

-- The AP loss of the published results: -(1 / P) sum over relevant k of (sum over all j of sigma(R_j - R_k)) / R_k,
-- with P relevant rows in the batch. By mistake, the inner sum counts all rows below row k, padding included, instead
-- of relevant rows above it.
local function ap_of_all_rows(longest)
  return loss_of("ap_of_all_rows", "ap", function(scores, lists)
    local ranks, sizes = mr.smooth.rank(scores, lists), lists.sizes:to(scores.dtype)
    local padding = longest - sizes
    local of_padding = sizes + padding / 2 + 0.5
    local below = mr.smooth.rank(ranks, lists) + lists:spread(padding) * (lists:spread(of_padding) - ranks):sigmoid()
    return -lists:sum(lists.relevance * below / ranks) / lists.relevant:double():sum():item()
  end)
end

-- The AP loss of the code's last commit: -(1 / P) sum over relevant j of (1 + sum over other relevant k of
-- sigma(R_j - R_k)) / R_j, with P relevant rows in the batch. Rows that are not relevant get a rank beyond all others.
local function ap_by_ranks()
  return loss_of("ap_by_ranks", "ap", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    local among_relevant = mr.smooth.rank(-ranks - 1e6 * (1 - lists.relevance), lists)
    return -lists:sum(lists.relevance * among_relevant / ranks) / lists.relevant:double():sum():item()
  end)
end

-- The RR loss of the code: -sum over relevant i of 1 / R_i times the product over other relevant j of
-- 1 - sigma(R_i - R_j), where the paper's Eq. 16 has scores instead of ranks in the product.
local function rr_by_ranks()
  return loss_of("rr_by_ranks", "rr", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    return -lists:sum(mr.smooth.first(-ranks, lists) / ranks)
  end)
end

-- The listwise nRBP loss of the code. The code swaps two arguments by mistake, so that the sigmoid has the steepness
-- 0.01. With this steepness, padding rows still count as partly above other rows.
local function nrbp_with_padding(longest)
  local steepness = 0.01
  return loss_of("nrbp_with_padding", "nrbp_loss", function(scores, lists)
    local padding = lists:spread(longest - lists.sizes:to(scores.dtype))
    local above = lists.relevance * padding * (steepness * (-100 - scores)):sigmoid()
    return mr.smooth.nrbp_loss(scores, lists, { steepness = steepness }) + lists:sum(above)
  end)
end

-- The RR loss of LambdaRank in the code. It compares only the highest relevant row i with the rows j above it: the sum
-- of (1 / r_j - 1 / r_i) sigma(s_j - s_i), with ranks r and scores s.
local function lambda_rr()
  return loss_of("lambda_rr_of_first", "rr", function(scores, lists)
    local ranks = lists:rank(scores:detach(), { ties = "stable" }):to(scores.dtype)
    local gains = lists.relevance / ranks
    local best = lists:spread(lists:max(gains))
    local score_of_first = lists:spread(lists:sum(gains:eq(best) * scores))
    return lists:sum((1 / ranks - best):relu() * (scores - score_of_first):sigmoid())
  end)
end

-- The nRBP loss of LambdaRank in the code's last commit. A pair's weight is the change of RBP with exponents r instead
-- of r - 1 (r: rank). It is multiplied by 1 - p^P instead of divided, with P relevant rows in the list.
local function lambda_nrbp(p)
  local of_pairs = mr.losses.lambdarank{ metric = ("rbp(%g)"):format(p), pair = "sigmoid" }
  return mr.losses.define("lambda_nrbp_multiplied", { direction = "maximize", metric = ("nrbp(%g)"):format(p),
    smooth = function(scores, lists)
      return -of_pairs(scores, lists) * (p * (1 - (lists.relevant:to(scores.dtype) * math.log(p)):exp()))
    end })()
end

---Makes a loss of the paper. The code of the published results differs from the last commit ("code") in listwise AP,
---and in nDCG of LambdaRank, which was not yet divided by the ideal DCG. How it computed AP and nRBP of LambdaRank is
---unknown; here they are as in the last commit, except that AP sums over all pairs of a list's own rows. The code sums
---over pairs in the wrong order, and at NSR 2 and 5 reads rows of other lists by mistake.
---@param recipe "paper"|"code"|"published"
---@param kind "listwise"|"lambda"  "lambda": LambdaRank
---@param name string     a metric's name, among M.listwise or M.lambda
---@param longest integer  number of rows of the longest training list
---@return mr.Loss
function M.new(recipe, kind, name, longest)
  if recipe == "paper" then return kind == "lambda" and mr.losses.lambdarank{ metric = name } or mr.losses[name]() end
  if kind == "listwise" then
    if name == "ap" then return recipe == "code" and ap_by_ranks() or ap_of_all_rows(longest) end
    return name == "rr" and rr_by_ranks() or name == "nrbp" and nrbp_with_padding(longest) or mr.losses.ndcg()
  end
  local p = tonumber(name:match "^nrbp%((.*)%)$")
  if p or name == "rr" then return p and lambda_nrbp(p) or lambda_rr() end
  return mr.losses.lambdarank{ metric = recipe == "published" and name == "ndcg" and "dcg" or name, pair = "sigmoid" }
end

return M
