-- The losses of Li, Urbano & Hanjalic (2021) under three recipes: as in the paper's equations ("paper"), as in the
-- last commit of the authors' code ("code"), and as in the code that made the published results ("published").
-- In formulas, R are smooth ranks, P is the number of relevant rows of a list. Losses have one value for each list,
-- and the authors' code sums them over a batch.
local mr = require "moonrank"

local M = { listwise = { "ndcg", "ap", "rr", "nrbp" },
  lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" } }

-- Returns lists with only the relevant rows of the given lists, and the indices of these rows among all rows.
local function relevant_rows(lists)
  local rows, at = {}, 0
  for i, y in ipairs(lists.relevance:totable()) do
    if y > 0 then
      at = at + 1
      rows[at] = i
    end
  end
  local grades = {}
  for i, n in ipairs(lists.relevant:totable()) do
    grades[i] = {}
    for j = 1, n do grades[i][j] = 1 end
  end
  return mr.lists(grades), mr.tensor(rows, { dtype = "int64" })
end

-- The AP loss of the published results: -(1 / P) sum over relevant k of (sum over all j of sigma(R_j - R_k)) / R_k,
-- with smooth ranks R and P relevant rows in the batch. By mistake, the inner sum counts all rows below row k
-- instead of relevant rows above it. It also counts padding: the code fills all lists up to the longest list of any
-- user with rows of score -100.
local function ap_of_all_rows(longest)
  return mr.losses.define("ap_of_all_rows", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
    local ranks, sizes = mr.smooth.rank(scores, lists), lists.sizes:to(scores.dtype)
    local padding = longest - sizes
    local of_padding = sizes + padding / 2 + 0.5
    local below = mr.smooth.rank(ranks, lists) + lists:spread(padding) * (lists:spread(of_padding) - ranks):sigmoid()
    return -lists:sum(lists.relevance * below / ranks) / lists.relevant:double():sum():item()
  end })()
end

-- The AP loss of the code's last commit: -(1 / P) sum over relevant j of (1 + sum over other relevant k of
-- sigma(R_j - R_k)) / R_j, with smooth ranks R and P relevant rows in the batch.
local function ap_by_ranks()
  return mr.losses.define("ap_by_ranks", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
    local relevant, rows = relevant_rows(lists)
    local ranks = mr.smooth.rank(scores, lists):rows(rows)
    return -relevant:sum(mr.smooth.rank(-ranks, relevant) / ranks) / #rows
  end })()
end

-- The RR loss in all versions of the code: -sum over relevant i of 1 / R_i times the product over other relevant j
-- of 1 - sigma(R_i - R_j). R are smooth ranks, where the paper's Eq. 16 uses scores.
local function rr_by_ranks()
  return mr.losses.define("rr_by_ranks", { direction = "minimize", metric = "rr", smooth = function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    return -lists:sum(mr.smooth.first(-ranks, lists) / ranks)
  end })()
end

-- The nRBP loss of the published results and of the code's last commit. The code swaps two arguments by mistake, so
-- that the sigmoid has the steepness 0.01. With this steepness, padding rows (score -100, added to shorter lists)
-- still count as partly above other rows.
local function nrbp_with_padding(longest)
  local steepness = 0.01
  return mr.losses.define("nrbp_with_padding", { direction = "minimize", metric = "nrbp_loss",
    smooth = function(scores, lists)
      local padding = lists:spread(longest - lists.sizes:to(scores.dtype))
      local above = lists.relevance * padding * (steepness * (-100 - scores)):sigmoid()
      return mr.smooth.nrbp_loss(scores, lists, { steepness = steepness }) + lists:sum(above)
    end })()
end

local function lambdarank(metric, pair) return mr.losses.lambdarank{ metric = metric, pair = pair } end

-- The RR loss of LambdaRank in all versions of the code. It compares only the highest relevant row i with the rows j
-- above it: the sum of (1 / r_j - 1 / r_i) sigma(s_j - s_i), with ranks r and scores s.
local function lambda_rr()
  return mr.losses.define("lambda_rr_of_first", { direction = "minimize", metric = "rr",
    smooth = function(scores, lists)
      local ranks = lists:rank(scores:detach(), { ties = "stable" }):to(scores.dtype)
      local gains = lists.relevance / ranks
      local best = lists:spread(lists:max(gains))
      local score_of_first = lists:spread(lists:sum(gains:eq(best) * scores))
      return lists:sum((1 / ranks - best):relu() * (scores - score_of_first):sigmoid())
    end })()
end

-- The nRBP loss of LambdaRank in the code's last commit. A pair's weight is the change of RBP with exponents r
-- instead of r - 1 (r: rank). It is multiplied by 1 - p^P instead of divided, with P relevant rows in the list.
local function lambda_nrbp(p)
  local of_pairs = lambdarank(("rbp(%g)"):format(p), "sigmoid")
  local metric = ("nrbp(%g)"):format(p)
  return mr.losses.define("lambda_nrbp_multiplied", { direction = "maximize", metric = metric,
    smooth = function(scores, lists)
      return - of_pairs(scores, lists) * (p * (1 - (lists.relevant:to(scores.dtype) * math.log(p)):exp()))
    end })()
end

local nrbps = {}  -- persistence p of each nRBP loss, by the loss's name
for _, name in ipairs(M.lambda) do nrbps[name] = tonumber(name:match "^nrbp%((.*)%)$") end

-- Losses by recipe, kind ("listwise" or "lambda") and name: made[recipe][kind](name, longest). The recipe says
-- whether a loss follows the paper, the last commit of the code, or the code of the published results. `longest` is
-- the length of the longest training list.
local made = { paper = {}, code = {}, published = {} }

function made.paper.listwise(name) return mr.losses[name]() end
function made.code.listwise(name, longest)
  if name == "ap" then return ap_by_ranks() elseif name == "rr" then return rr_by_ranks() end
  return name == "nrbp" and nrbp_with_padding(longest) or mr.losses.ndcg()
end
function made.published.listwise(name, longest)
  return name == "ap" and ap_of_all_rows(longest) or made.code.listwise(name, longest)
end

function made.paper.lambda(name) return lambdarank(name) end
-- LambdaRank's losses as in the last commit of the authors' code. AP differs: here its loss sums over all pairs of a
-- list's own rows. The authors' code sums only over pairs in the wrong order, and at NSR 2 and 5 it reads rows of
-- other lists by mistake.
function made.code.lambda(name)
  if nrbps[name] then return lambda_nrbp(nrbps[name]) end
  return name == "rr" and lambda_rr() or lambdarank(name, "sigmoid")
end
-- LambdaRank's losses of the published results. The nDCG loss was not yet divided by the ideal DCG. How AP and nRBP
-- were computed is unknown: the code of that day cannot run AP at NSR 2 and 5, and has no nRBP. They are computed as
-- in the last commit.
function made.published.lambda(name)
  return name == "ndcg" and lambdarank("dcg", "sigmoid") or made.code.lambda(name)
end

---Makes a loss of the paper. The recipe "paper" follows the paper's equations, "code" the last commit
---of the authors' code, "published" the code that made the published results.
---@param recipe "paper"|"code"|"published"
---@param kind "listwise"|"lambda"  "lambda": LambdaRank
---@param name string     a metric's name, among M.listwise or M.lambda
---@param longest integer  number of rows of the longest training list
---@return mr.Loss
function M.new(recipe, kind, name, longest) return made[recipe][kind](name, longest) end

return M
