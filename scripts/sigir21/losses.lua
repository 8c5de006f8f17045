-- The losses of Li, Urbano & Hanjalic (2021) under three recipes: as their equations have them ("paper"), as their code
-- has them at its last commit ("code"), and as the code was when the results were published ("published"). R are smooth
-- ranks, P is the number of relevant rows; one value for each list, of which their code takes the sum over the batch.
local mr = require "moonrank"

local M = { listwise = { "ndcg", "ap", "rr", "nrbp" }, lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" } }

-- The relevant rows alone: their lists, and which rows they are.
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

-- AP as published: -(1 / P of the batch) sum over relevant k of (sum over all j of sigma(R_j - R_k)) / R_k. The inner
-- sum is over the rows below k, relevant or not, where the rows above k were meant. It includes the padding: all lists
-- were filled up to the longest one of all users with rows of score -100.
local function ap_of_all_rows(longest)
  return mr.losses.define("ap_of_all_rows", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
    local ranks, sizes = mr.smooth.rank(scores, lists), lists.sizes:to(scores.dtype)
    local padding = longest - sizes
    local of_padding = sizes + padding / 2 + 0.5
    local below = mr.smooth.rank(ranks, lists) + lists:spread(padding) * (lists:spread(of_padding) - ranks):sigmoid()
    return -lists:sum(lists.relevance * below / ranks) / lists.relevant:double():sum():item()
  end })()
end

-- AP at the last commit: -(1 / P of the batch) sum over relevant j of (1 + sum over other relevant k of sigma(R_j -
-- R_k)) / R_j.
local function ap_by_ranks()
  return mr.losses.define("ap_by_ranks", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
    local relevant, rows = relevant_rows(lists)
    local ranks = mr.smooth.rank(scores, lists):rows(rows)
    return -relevant:sum(mr.smooth.rank(-ranks, relevant) / ranks) / #rows
  end })()
end

-- RR, in every version of the code: -sum over relevant i of 1 / R_i times the product over other relevant j of 1 -
-- sigma(R_i - R_j): ranks where the paper's Eq. 16 has scores.
local function rr_by_ranks()
  return mr.losses.define("rr_by_ranks", { direction = "minimize", metric = "rr", smooth = function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    return -lists:sum(mr.smooth.first(-ranks, lists) / ranks)
  end })()
end

-- nRBP as published, and at the last commit: two arguments are in each other's place, so that the sigmoid has the
-- steepness 0.01, at which the padding, with scores of -100, is not far below.
local function nrbp_with_padding(longest)
  local steepness = 0.01
  return mr.losses.define("nrbp_with_padding", { direction = "minimize", metric = "nrbp_loss", smooth = function(scores, lists)
    local padding = lists:spread(longest - lists.sizes:to(scores.dtype))
    local above = lists.relevance * padding * (steepness * (-100 - scores)):sigmoid()
    return mr.smooth.nrbp_loss(scores, lists, { steepness = steepness }) + lists:sum(above)
  end })()
end

local function lambdarank(metric, pair) return mr.losses.lambdarank{ metric = metric, pair = pair } end

-- RR in every version of the code: of the highest relevant row i alone, and of the rows j above it, (1 / r_j - 1 / r_i)
-- sigma(s_j - s_i).
local function lambda_rr()
  return mr.losses.define("lambda_rr_of_first", { direction = "minimize", metric = "rr", smooth = function(scores, lists)
    local ranks = lists:rank(scores:detach(), { ties = "stable" }):to(scores.dtype)
    local gains = lists.relevance / ranks
    local best = lists:spread(lists:max(gains))
    local score_of_first = lists:spread(lists:sum(gains:eq(best) * scores))
    return lists:sum((1 / ranks - best):relu() * (scores - score_of_first):sigmoid())
  end })()
end

-- nRBP at the last commit: the change of RBP, of exponents r in place of r - 1, multiplied by 1 - p^P where a division
-- was meant.
local function lambda_nrbp(p)
  local of_pairs = lambdarank(("rbp(%g)"):format(p), "sigmoid")
  local metric = ("nrbp(%g)"):format(p)
  return mr.losses.define("lambda_nrbp_multiplied", { direction = "maximize", metric = metric, smooth = function(scores, lists)
    return - of_pairs(scores, lists) * (p * (1 - (lists.relevant:to(scores.dtype) * math.log(p)):exp()))
  end })()
end

local nrbps = {}  -- p by name
for _, name in ipairs(M.lambda) do nrbps[name] = tonumber(name:match "^nrbp%((.*)%)$") end

-- Functions that make a loss by its name, for each recipe and kind. Their second argument is the length of the longest
-- training list.
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
-- AP: of all pairs where the code counts those in the wrong order, and of its own rows where the code reads others' at
-- NSR 2 and 5.
function made.code.lambda(name)
  if nrbps[name] then return lambda_nrbp(nrbps[name]) end
  return name == "rr" and lambda_rr() or lambdarank(name, "sigmoid")
end
-- nDCG was not yet divided by the ideal DCG. The published AP and nRBP are unknown: the code of the day of the results
-- cannot run AP at NSR 2 and 5, and has no nRBP.
function made.published.lambda(name)
  return name == "ndcg" and lambdarank("dcg", "sigmoid") or made.code.lambda(name)
end

---A loss under a recipe.
---@param recipe "paper"|"code"|"published"
---@param kind "listwise"|"lambda"
---@param name string     one of this table's
---@param longest integer  rows of the longest list of train
---@return mr.Loss
function M.new(recipe, kind, name, longest) return made[recipe][kind](name, longest) end

return M
