-- Losses over pairs of rows with grades y_i > y_j.
local core = require "moonrank.core"
local check = require "moonrank.check"
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"

local none = check.none

local M = {}

---@class mr.losses.PairOptions: mr.losses.SlopeOptions
---@field gain? number  steepness of log(1 + exp(-gain (s_i - s_j))) (default 1)

---@class mr.losses.LambdaOptions: mr.losses.PairOptions
---@field metric? string|mr.Metric  whose change counts: any with `swaps`, as "ndcg@10", "ap", "err", "nrbp(0.9)" (default "ndcg")
---@field p? number     of nrbp and rbp, where the metric's name does not say it (default 0.95)

-- The metric of mr.losses.lambdarank from its options.
local function lambda_metric(where, options)
  local given = options and options.metric or "ndcg"
  local p = options and options.p
  if p ~= nil and metrics.is(given) then check.fail("%s: p is given, but the metric '%s' has its own", where, given.name) end
  if p ~= nil and not metrics.takes(given, "p") then
    check.fail("%s: p is given, but metric is '%s'; p belongs to 'nrbp' and 'rbp'", where, given)
  end
  local metric = metrics.parse(given, p ~= nil and { p = p } or nil)
  if metric.lacks_top then
    check.fail("%s: of '%s' the largest grade must be given, as in metric = mr.metrics.%s{top = 4}", where, metric.name, metric.base)
  end
  if not metric.swaps then
    check.fail("%s: what a swap of two rows changes of '%s' is not known; it is of: %s", where, metric.name,
      table.concat(metrics.names("swaps"), ", "))
  end
  return metric
end

---LambdaRank (Burges 2010; for AP, RR and nRBP Li, Urbano & Hanjalic 2021, Eqs. 8 to 10): the sum over pairs of rows with grades y_i > y_j of
---|change of the metric if the two swapped ranks| log(1 + exp(-gain (s_i - s_j))). The change is taken at the current scores (of equal ones
---the lower row first) and has no gradient of its own. For nDCG grades count, and the change is over the list's ideal DCG; for the others a
---row is relevant or not, from grade 1, and the change is that of the whole metric: over P for AP, over 1 - p^P for nRBP. With a bound, a
---list's pairs are multiplied by the bound's slope for the list, of that metric. (The authors' code takes the gradient through the sigmoid, counts for AP
---only pairs in the wrong order, and multiplies nRBP by 1 - p^P; here it is as in their equations.)
---@param options? mr.losses.LambdaOptions
---@return mr.Loss
---Example: `mr.losses.lambdarank{metric = "nrbp", bound = "minmax"}.metric   --> nrbp(0.95)`
---Example: `mr.losses.lambdarank{metric = "rr"}(mr.tensor{1, 1}, mr.lists{{0, 1}}):item()   --> 0.34657359`
function M.lambdarank(options)
  local where = "mr.losses.lambdarank"
  local o = check.options(where, options, { metric = none, p = none, gain = 1, bound = none, slope_at = "value" })
  check.positive(where, o, { "gain" })
  local metric = lambda_metric(where, options)
  o.metric, o.p = metric, nil
  local function values(scores, lists) return core.lambda_loss(scores, lists, metric, o.gain) end
  return loss.by_slope({ name = "lambdarank", metric = metric.full_name, of = metric, values = values, gains = metric }, o)
end

---RankNet (Burges et al. 2005): the sum over pairs of rows with grades y_i > y_j of log(1 + exp(-gain (s_i - s_j))). Bounds are those of the
---exact nRBP loss, the number of wrongly ordered pairs of a row of grade 1 or more and another; "minmax" makes it a mean over these pairs.
---@param options? mr.losses.PairOptions
---@return mr.Loss
---Example: `mr.losses.ranknet()(mr.tensor{1, 1, 1}, mr.lists{{0, 1, 2}}):item() / math.log(2)   --> 3.0`
function M.ranknet(options)
  local o = check.options("mr.losses.ranknet", options, { gain = 1, bound = none, slope_at = "value" })
  check.positive("mr.losses.ranknet", o, { "gain" })
  local function values(scores, lists) return core.ranknet_loss(scores, lists, o.gain) end
  return loss.by_slope({ name = "ranknet", metric = "auc", of = "nrbp_loss", counted = "ndcg", values = values }, o)
end

return M
