-- Pairwise losses are sums over pairs of rows (i, j) of a list with grades y_i > y_j. Only ranknet_all_pairs and
-- ndcg_loss_1 also sum over pairs with equal grades.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"

local M = {}

local pair_metric_options = declare("mr.losses.PairMetricOptions", {
  metrics.option("wrong_pairs", 'metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or '
    .. "more and a row below grade 1, so lists without such a pair are left out"),
}, shared.slope)

local counted_pair_options = declare("mr.losses.CountedPairOptions", {}, shared.steepness, pair_metric_options)

local lambda_options = declare("mr.losses.LambdaOptions", {
  metrics.option("ndcg",
    'metric whose change weighs each pair: any with `swaps`, such as "ndcg@10", "ap", "err", "nrbp(0.9)", '
    .. "or a metric declared by gain and discount (mr.metrics.define)"),
  { "p", "number", above = 0, below = 1, shown = "0.95",
    help = "p of nrbp and rbp, if the metric's name does not contain it" },
  { "pair", "string", default = "logistic", choices = { "logistic", "sigmoid" },
    help = "cost of a pair: log(1 + exp(-steepness (s_i - s_j))), or sigma(steepness (s_j - s_i)), a smooth count "
      .. "of wrongly ordered pairs" },
}, shared.pairs)

-- Returns the metric of mr.losses.lambdarank. A metric that it cannot use, or that takes no `p`, is an error.
local function lambda_metric(where, o)
  local given, p = o.metric, o.p
  if metrics.is(given) then
    check.leave_out(where, "p", p, "metric '%s' has its options already", given.name)
  elseif not metrics.takes(given, "p") then
    check.leave_out(where, "p", p, "metric is '%s', and only 'nrbp' and 'rbp' take p", given)
  end
  local metric = metrics.with_top(where, metrics.parse(given, p ~= nil and { p = p } or nil))
  check.expect(metric.swaps, where, "metric", metric.name, "a metric whose change by a swap of two rows is known: %s",
    table.concat(metrics.names("swaps"), ", "))
  return metric
end

---Makes the LambdaRank loss (Burges 2010; for AP, RR and nRBP Li, Urbano & Hanjalic 2021, Eqs. 8 to
---10). It is a sum over pairs of rows with scores s and grades y.
---
---   $sum_(y_i > y_j) |Delta_(i j)| log(1 + exp(-steepness (s_i - s_j)))$
---
---Here $Delta_(i j)$ is the change of the metric if rows i and j swap ranks. The change is taken at
---the current scores and has no gradient. Among rows with equal scores, the row with the lower
---number comes first.
---
---For ndcg, dcg, err and metrics declared by gain and discount, all grades count. For other
---metrics, a row is relevant if its grade is at least the metric's option `relevant`. Changes are
---those of the normalized metric: divided by the list's ideal DCG for nDCG, by P for AP (or as AP's
---option `denominator` says), and by 1 - p^P for nRBP. A bound multiplies all pairs of a list by
---the bound's slope for this metric.
---
---This loss follows the equations of Li et al. Their code differs: it takes the gradient through
---the sigmoid, as pair = "sigmoid" does, counts only pairs in the wrong order for AP, and multiplies
---nRBP by 1 - p^P.
---@param options? mr.losses.LambdaOptions
---@return mr.Loss
---Example: `mr.losses.lambdarank{metric = "nrbp", bound = "minmax"}.metric   --> nrbp(0.95)`
---Example: `mr.losses.lambdarank{metric = "rr"}(mr.tensor{1, 1}, mr.lists{{0, 1}}):item()   --> 0.34657359`
---Example: `mr.losses.lambdarank{metric = "rr", pair = "sigmoid"}(mr.tensor{1, 1}, mr.lists{{0, 1}}):item()   --> 0.25`
function M.lambdarank(options)
  local where = "mr.losses.lambdarank"
  local o = lambda_options:read(where, options)
  local metric = lambda_metric(where, o)
  o.metric, o.p = metric, nil
  -- Returns a function of scores and lists, which calls `known` for a built-in metric, or `declared` for a metric that
  -- a script declared by gain and discount.
  local function either(known, declared, ...)
    local more = { ... }
    return function(scores, lists)
      if not metric.tables then return known(scores, lists, metric, o.steepness, table.unpack(more)) end
      local gains, discounts, norms = metric.tables(lists)
      return declared(scores, lists, gains, discounts, norms, o.steepness, table.unpack(more))
    end
  end
  return loss.by_slope({
    name = "lambdarank",
    metric = metric.full_name,
    of = metric,
    gains = not metric.tables and metric or nil,
    values = either(core.lambda_loss, core.declared_lambda_loss, o.pair),
    row_weights = true,
    derivatives = o.pair == "logistic" and either(core.lambda_derivatives, core.declared_lambda_derivatives) or nil,
  }, o)
end

-- Makes a loss over pairs of unequal grades. Its values and second derivatives come from the core functions called
-- `name` (MR_PAIR_FORMS in kernels/losses/pairs/pair_forms.h), or from `values` and `curvature`. These functions get
-- the value of the option `option`. By default the loss's bounds are those of the number of wrongly ordered pairs.
local function of_pairs(name, o, option, values, curvature, counted)
  -- stores of earlier sweeps have digests of code that contain the name `curvature`
  values, curvature = values or core[name .. "_loss"], curvature or core[name .. "_derivatives"]
  o.metric = metrics.parse(o.metric)
  return loss.by_slope({ name = name, metric = "auc", of = o.metric, counted = counted or "wrong_pairs",
    row_weights = true,
    values = function(scores, lists) return values(scores, lists, o[option]) end,
    derivatives = function(scores, lists) return curvature(scores, lists, o[option]) end }, o)
end

---Makes the RankNet loss (Burges et al. 2005): a sum over pairs of rows with scores s and unequal
---grades y.
---
---   $sum_(y_i > y_j) log(1 + exp(-steepness (s_i - s_j)))$
---
---A bound multiplies a list's loss by the bound's slope for `metric`. Under the metric
---mr.metrics.wrong_pairs, the bound "minmax" makes the loss a mean over all pairs of unequal
---grades.
---@param options? mr.losses.CountedPairOptions
---@return mr.Loss
---Example: `mr.losses.ranknet()(mr.tensor{1, 1, 1}, mr.lists{{0, 1, 2}}):item() / math.log(2)   --> 3.0`
---Example:
---local loss = mr.losses.ranknet{bound = "minmax"}
---loss(mr.tensor{1, 1, 1}, mr.lists{{1, 2, 3}}):item() / math.log(2)   --> 1.0
function M.ranknet(options)
  local o = counted_pair_options:read("mr.losses.ranknet", options)
  return of_pairs("ranknet", o, "steepness")
end

---Makes the DirectRanker loss, as in Li & Wu's comparison of networks for ranking (section 4.1). It
---is RankNet with a hyperbolic tangent before the sigmoid: a sum over pairs of rows with scores s and
---unequal grades y.
---
---   $sum_(y_i > y_j) log(1 + exp(-tanh(steepness (s_i - s_j))))$
---
---A pair's loss is between log(1 + 1/e) and log(1 + e). Köppel et al. (2019), who named the ranker,
---use a squared loss instead. A bound multiplies a list's loss by the bound's slope, as for
---mr.losses.ranknet.
---@param options? mr.losses.CountedPairOptions
---@return mr.Loss
---Example:
---local loss = mr.losses.direct_ranker()
---loss(mr.tensor{90, 0}, mr.lists{{1, 0}}):item() / math.log(1 + math.exp(-1))   --> 1.0
function M.direct_ranker(options)
  local o = counted_pair_options:read("mr.losses.direct_ranker", options)
  return of_pairs("direct_ranker", o, "steepness")
end

local hinge_options = declare("mr.losses.HingeOptions", {
  shared.factor("margin", 1, "smallest difference s_i - s_j that costs nothing, for y_i > y_j"),
}, pair_metric_options)

---Makes the pairwise hinge loss (RankSVM; Herbrich, Graepel & Obermayer 2000, Joachims 2002): a sum
---over pairs of rows with scores s and unequal grades y.
---
---   $sum_(y_i > y_j) max(0, margin - (s_i - s_j))$
---
---For RankSVM's L2 term, use the optimizer's `weight_decay`. A bound multiplies a list's loss by
---the bound's slope, as for mr.losses.ranknet.
---@param options? mr.losses.HingeOptions
---@return mr.Loss
---Example: `mr.losses.hinge()(mr.tensor{1, 0.25, 3}, mr.lists{{1, 0, 1}}):item()   --> 0.25`
function M.hinge(options)
  local o = hinge_options:read("mr.losses.hinge", options)
  return of_pairs("hinge", o, "margin")
end

local function is_upsample(value)
  return value == "list" or check.is_lists(value) or type(value) == "number" and value >= 1e-15 and value <= 1e15
end

local all_pairs_options = declare("mr.losses.AllPairsOptions", {
  { "upsample", 'number|"list"|mr.Lists', default = 1, accept = is_upsample,
    expected = "a number from 1e-15 to 1e15, the text 'list', or an mr.Lists object",
    help = 'factor of pairs of unequal grades. "list": the factor, at least 1, that makes the targets 1, 1/2 and 0 '
      .. "equally frequent in each list; an mr.Lists object: the same, but in all its lists together" },
  { "per", "string", default = "list", choices = { "list", "pair" },
    help = "what means are over, as in mr.fit: lists, or pairs of rows; a pair of unequal grades counts `upsample` "
      .. "times" },
}, counted_pair_options)

-- Returns the factor, at least 1, by which ranknet_all_pairs multiplies pairs of unequal grades: the number of pairs
-- with equal grades divided by half the number of other pairs. The targets 1, 1/2 and 0 are then equally frequent,
-- unless there are too few pairs with equal grades.
local function balanced(equal, pairs) return (2 * equal / (pairs - equal):maximum(1)):maximum(1) end
local function pairs_of(lists)
  local sizes = lists.sizes:double():to("cpu")
  return core.equal_pairs(lists), sizes * (sizes - 1) / 2
end

local function balanced_over(lists)
  local equal, pairs = pairs_of(lists)
  return balanced(equal:sum():reshape(1), pairs:sum():reshape(1)):item()
end

-- Returns a function that counts pairs of rows. A pair of unequal grades counts `upsample` times or, if `upsample` is
-- "list", as often as `balanced` returns for its list.
local function counts_pairs(upsample)
  return function(lists)
    local equal, pairs = pairs_of(lists)
    local unequal = pairs - equal
    local repeated = upsample == "list" and (balanced(equal, pairs) * unequal):sum():item()
      or upsample * unequal:sum():item()
    return math.floor(equal:sum():item() + repeated + 0.5)
  end
end

---Makes the RankNet loss over all pairs of rows (Burges et al. 2005): the sum over unordered pairs
---of the cross entropy of $sigma(steepness (s_i - s_j))$ and a target. The target is 1 or 0 for
---unequal grades and 1/2 for equal grades. If most grades are equal, pairs of unequal grades are
---rare; `upsample` multiplies their loss. (Tang et al. 2023, 4.1, drew copies of these pairs
---instead.) The loss is defined at any grades: all lists with rows count in means, unless there is
---a bound. With `per = "pair"`, a mean is the sum divided by the number of pairs, in which a pair of
---unequal grades counts `upsample` times; this number is rounded. A bound multiplies a list's loss by
---the bound's slope, as for mr.losses.ranknet.
---@param options? mr.losses.AllPairsOptions
---@return mr.Loss
---Example: `mr.losses.ranknet_all_pairs()(mr.tensor{1, 1, 1}, mr.lists{{0, 0, 2}}):item() / math.log(2)   --> 3.0`
---Example: `mr.losses.ranknet_all_pairs{upsample = mr.lists{{0, 0, 0, 2}}}.options.upsample   --> 2.0`
---Example: `mr.losses.ranknet_all_pairs{per = "pair", upsample = 2}:count(mr.lists{{0, 0, 2}, {1}})   --> 5`
function M.ranknet_all_pairs(options)
  local o = all_pairs_options:read("mr.losses.ranknet_all_pairs", options)
  if check.is_lists(o.upsample) then o.upsample = balanced_over(o.upsample) end
  local function upsampled(f)
    return function(scores, lists, steepness)
      if o.upsample ~= "list" then return f(scores, lists, steepness, o.upsample) end
      return f(scores, lists, steepness, 1, balanced(pairs_of(lists)))
    end
  end
  local values, derivatives = upsampled(core.ranknet_all_pairs_loss), upsampled(core.ranknet_all_pairs_derivatives)
  local count = o.per == "pair" and counts_pairs(o.upsample)
  -- The option `per` is stored only if it is "pair". Checkpoints of earlier versions, which do not have this option,
  -- then fit to losses with per = "list".
  o.per = count and o.per or nil
  local made = of_pairs("ranknet_all_pairs", o, "steepness", values, derivatives, "any")
  rawset(made, "_count_of", count)
  return made
end

local ndcg_loss_options = declare("mr.losses.NdcgLossOptions", {
  shared.factor("mu", 10, "factor of NDCG-Loss2 in NDCG-Loss2++"),
}, shared.pairs)

local function ndcg_loss(name, o, values, derivatives, ...)
  local weights = table.pack(...)
  local function on(f)
    return function(scores, lists) return f(scores, lists, o.steepness, table.unpack(weights, 1, weights.n)) end
  end
  return loss.by_slope({ name = name, metric = "ndcg", of = "ndcg", values = on(values), derivatives = on(derivatives),
    row_weights = true,
    gains = metrics.parse "ndcg" }, o)
end

---Makes NDCG-Loss1 of LambdaLoss (Wang et al. 2018), a sum over ordered pairs of rows with scores s.
---
---   $sum_i sum_(j != i) G_i / D(r_i) log2(1 + exp(-steepness (s_i - s_j)))$
---
---Here $G_i = (2^(y_i) - 1) / IDCG$ is the gain of the grade divided by the ideal DCG, and
---$D(r) = log2(1 + r)$. The ranks r are those of the current scores and have no gradient. Among rows
---with equal scores, the row with the lower number comes first. A list counts in means if an ordering
---can change its nDCG; other lists have the value 0. A bound multiplies the loss by the bound's slope
---for nDCG.
---@param options? mr.losses.PairOptions
---@return mr.Loss
---Example: `mr.losses.ndcg_loss_1()(mr.tensor{0, 0, 0}, mr.lists{{3, 0, 0}}):item()   --> 2.0`
function M.ndcg_loss_1(options)
  local o = shared.pairs:read("mr.losses.ndcg_loss_1", options)
  return ndcg_loss("ndcg_loss_1", o, core.ndcg_loss_1, core.ndcg_loss_1_derivatives)
end

---Makes NDCG-Loss2 of LambdaLoss (Wang et al. 2018), a sum over pairs of rows with unequal grades y.
---
---   $sum_(y_i > y_j) |1 / D(d) - 1 / D(d + 1)| |G_i - G_j| log2(1 + exp(-steepness (s_i - s_j)))$
---
---Here d is the distance between the ranks of rows i and j. G, D, ranks and bounds are as for
---mr.losses.ndcg_loss_1.
---@param options? mr.losses.PairOptions
---@return mr.Loss
---Example: `mr.losses.ndcg_loss_2()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.36907`
function M.ndcg_loss_2(options)
  local o = shared.pairs:read("mr.losses.ndcg_loss_2", options)
  return ndcg_loss("ndcg_loss_2", o, core.ndcg_loss_2, core.ndcg_loss_2_derivatives, 1, false)
end

---Makes NDCG-Loss2++ of LambdaLoss (Wang et al. 2018): the sum over the pairs of
---mr.losses.ndcg_loss_2, with another weight. A pair's weight is mu times its weight in
---mr.losses.ndcg_loss_2, plus $|1 / D(r_i) - 1 / D(r_j)| |G_i - G_j|$, which is LambdaRank's change
---of nDCG.
---@param options? mr.losses.NdcgLossOptions
---@return mr.Loss
---Example: `mr.losses.ndcg_loss_2pp{mu = 2}(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 1.10721`
function M.ndcg_loss_2pp(options)
  local o = ndcg_loss_options:read("mr.losses.ndcg_loss_2pp", options)
  return ndcg_loss("ndcg_loss_2pp", o, core.ndcg_loss_2, core.ndcg_loss_2_derivatives, o.mu, true)
end

return M
