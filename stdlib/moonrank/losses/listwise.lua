-- Listwise losses read the scores of a list as a probability distribution over its rows, or over orders of its
-- rows. They are defined for any grades.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

local listwise_options = declare("mr.losses.ListwiseOptions", {}, shared.ndcg_metric, shared.slope)

local function made(name, options, values, row_weights)
  local o = listwise_options:read("mr.losses." .. name, options)
  o.metric = metrics.parse(o.metric)
  return loss.by_slope({ name = name, metric = "ndcg", of = o.metric, counted = "any", values = values,
    row_weights = row_weights }, o)
end

---Makes the ListNet loss (Cao et al. 2007) in its top-one form, one value per list, for grades y
---and scores f.
---
---   $- sum_i softmax(y)_i log(softmax(f)_i)$
---
---A list whose grades are all equal counts in means, too, unless there is a bound: its loss is
---smallest at equal scores.
---@param options? mr.losses.ListwiseOptions
---@return mr.Loss
---Example: `mr.losses.listnet()(mr.tensor{0, 0}, mr.lists{{0, 1}}):item() / math.log(2)   --> 1.0`
function M.listnet(options) return made("listnet", options, core.listnet_loss, weighted.listnet) end

---Makes the softmax cross entropy loss (Bruch et al. 2019), one value per list, for grades y and
---scores f.
---
---   $- sum_i y_i log(softmax(f)_i)$
---
---The grades are used as they are: without ListNet's softmax, and not divided by their sum. A list
---without a grade above 0 has the value 0. All lists with rows count in means, unless there is a
---bound.
---@param options? mr.losses.ListwiseOptions
---@return mr.Loss
---Example: `mr.losses.softmax_cross_entropy()(mr.tensor{0, 0}, mr.lists{{0, 3}}):item() / math.log(2)   --> 3.0`
function M.softmax_cross_entropy(options)
  return made("softmax_cross_entropy", options, core.softmax_cross_entropy_loss, weighted.softmax_cross_entropy)
end

---Makes the ListMLE loss (Xia et al. 2008), one value per list: the negative log likelihood of the
---order by grade under the Plackett-Luce model. This order begins with the highest grade. With $f_k$
---the score of the row at position k:
---
---   $- sum_k log(e^(f_k) / (sum_(m >= k) e^(f_m)))$
---
---Among rows of equal grade, the row with the lower number comes first. All lists with rows count
---in means, unless there is a bound.
---@param options? mr.losses.ListwiseOptions
---@return mr.Loss
---Example: `mr.losses.listmle()(mr.tensor{0, 0, 0}, mr.lists{{2, 1, 0}}):item() / math.log(6)   --> 1.0`
function M.listmle(options)
  return made("listmle", options, function(scores, lists) return core.listmle_loss(scores, lists, false) end, true)
end

---Makes the p-ListMLE loss (Lan et al. 2014), one value per list. It is ListMLE where position k of
---n has the weight $(2^(n - k) - 1) / (2^(n - 1) - 1)$, so that errors at the top cost most.
---@param options? mr.losses.ListwiseOptions
---@return mr.Loss
---Example: `mr.losses.p_listmle()(mr.tensor{0, 0, 0}, mr.lists{{2, 1, 0}}):item() - math.log(2) / 3   --> 1.0986`
function M.p_listmle(options)
  return made("p_listmle", options, function(scores, lists) return core.listmle_loss(scores, lists, true) end, true)
end

return M
