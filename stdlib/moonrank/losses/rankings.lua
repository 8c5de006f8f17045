-- Losses over random rankings: the mean of a metric over rankings that are drawn from the scores in Plackett and Luce's
-- model, with an estimate of its derivative (kernels/losses/plackett_luce.h). The metric is exact for each ranking, and
-- the bound is applied to it. The rankings depend only on the seed, the training step and the rows' positions in the
-- batch. They do not change with threads, devices, processes, earlier calls or resumed training.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local list_stats = require "moonrank.bounds.list_stats"
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local of_rankings = require "moonrank.bounds.of_rankings"
local random = require "moonrank.tensor.random"
local shared = require "moonrank.losses.options"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

local f64 <const> = "float64"
-- largest number of rows that are ranked in one call of the core, over all copies of the batch
local block <const> = 1 << 20

local function samples_row(least)
  return { "samples", "integer", default = 100, least = least, most = 1000000,
    help = "random rankings of each list; time grows with them" }
end

-- Draws random rankings in blocks. Calls `f` for each block with copies of the lists (a copy for each ranking), the
-- rows of each copy by rank, and its exact metric, which is 0 if no order of the rows can change it.
local function each_block(scores, lists, metric, samples, name, f)
  local seed, stream = random.next(name)
  local at_once = math.max(2, block // math.max(1, lists.rows) // 2 * 2)
  local ranked = metric:with("ties", "stable")
  local copies
  for first = 0, samples - 1, at_once do
    core.check_interrupt()
    local count = math.min(at_once, samples - first)
    if not copies or copies.count ~= lists.count * count then copies = core.repeated_lists(lists, count) end
    local keys = core.random_keys(scores, lists, first, count, seed, stream, random.rows_before())
    local ranking = ranked:ranking(keys, copies)
    local values = ranked:of_ranking(ranking, copies)
    local counted = list_stats.weights(metric, copies, f64, scores.device)
    f(copies, core.order(ranking), core.times_slope(values, counted))
  end
end

-- Applies a bound to metric values of copies of lists; sampled lists get the bound of their whole lists.
local function bounded_values(bound, values, metric, lists, copies)
  local whole = bound.name ~= "none" and whole_lists.of(lists)
  if not whole then return of_rankings.apply(bound, values, metric, lists, copies) end
  return whole:repeated(#values // math.max(1, lists.count)):bounded(bound, values, metric)
end

-- Makes a loss from `sample`, which returns the mean bounded metric of a list and its derivatives, in float64.
local function made(name, metric, o, sample)
  local bounds = require "moonrank.bounds"
  local bound, none = bounds.resolve(o.bound), bounds.resolve "none"
  o.metric = metric
  local function values_under(own)
    return function(scores, lists)
      if lists.rows == 0 then return lists:sum(scores) end
      local value, derivative = sample(scores:detach(), lists, own)
      return core.with_slopes(scores, lists, value, derivative)
    end
  end
  return loss.under({
    name = name, metric = metric.full_name, repeats = false,
    _bounds_metric = metric, _maximize = not metric.minimize, _gains = metric.script == 0 and metric or false,
    _smooth = values_under(bound), _unbounded = bound ~= none and values_under(none) or false,
    _row_weights = "the bound acts on the metric of a whole ranking, and rows have no terms after it",
    _apply = function(value) return value end,
  }, bound, o)
end

-- Computes derivatives of the mean metric, less a baseline, from sums over all rankings: of the metric (`value`), of
-- derivatives of log probabilities (`plain`), and of products of both (`weighted`).
local function less_baseline(lists, samples, divisor, value, plain, weighted)
  return (weighted - lists:spread(value / samples) * plain) / divisor
end

local policy_options = declare("mr.losses.PolicyOptions", {
  metrics.option("ndcg", "metric of the random rankings: any, such as \"ndcg@10\", \"ap\", \"rr\" or a script's own"),
  samples_row(2),
  { "baseline", "string", default = "leave_one_out", choices = { "leave_one_out", "mean" },
    help = "what is subtracted from a ranking's value: the mean of the list's other rankings, or of all of them" },
}, shared.bound)

---Makes a policy gradient loss (REINFORCE, Williams 1992): minus the mean of a metric over rankings of
---each list, drawn at random in Plackett and Luce's model. (If lower values of the metric are better,
---it is plus the mean.) The row at each rank is drawn from the rows that are left, with
---probability proportional to e^score. The derivative of the mean is estimated from the S = `samples`
---drawn rankings y, with value M(y) and baseline b:
---
---   $1/S sum_y (M(y) - b(y)) d/(d f) log P(y)$
---
---The baseline `leave_one_out` is the mean value of the list's other rankings, and keeps the estimate
---unbiased (Kool et al. 2019). With `mean`, the mean of all, the estimate is smaller by the factor
---(S - 1) / S. Only ranks up to the metric's cutoff k enter P. The bound, of any kind, is applied to
---the exact metric of each ranking. The bound "distribution" is not smoothed here where the metric's
---values can be listed (mr.bounds.distribution): it is the share of random rankings whose metric is at
---most that of the ranking. A list on which no ordering changes the metric has the value 0.
---mr.losses.pl_rank has less variance, for metrics that are sums over rows up to a small cutoff.
---@param options? mr.losses.PolicyOptions
---@return mr.Loss
---Example: `mr.losses.policy_gradient{metric = "rr", samples = 20}.metric   --> rr`
---Example: `mr.losses.policy_gradient{metric = "ap"}(mr.tensor{99, 0}, mr.lists{{1, 0}}):item()   --> -1.0`
function M.policy_gradient(options)
  local where = "mr.losses.policy_gradient"
  local o = policy_options:read(where, options)
  local metric = metrics.with_top(where, metrics.parse(o.metric))
  local divisor = o.baseline == "mean" and o.samples or o.samples - 1
  return made("policy_gradient", metric, o, function(scores, lists, bound)
    local ranks = core.counted_ranks(scores, lists, metric)
    local value, plain, weighted = core.no_rankings(scores, lists)
    each_block(scores, lists, metric, o.samples, "policy_gradient", function(copies, order, values)
      local bounded = bounded_values(bound, values, metric, lists, copies)
      value, plain, weighted = core.add_log_slopes(scores, lists, order, ranks, bounded, value, plain, weighted)
    end)
    return value / o.samples, less_baseline(lists, o.samples, divisor, value, plain, weighted)
  end)
end

local pl_rank_options = declare("mr.losses.PlRankOptions", {
  metrics.option("ndcg@10", "metric of the random rankings, a sum over rows of a gain times a discount of the rank, "
    .. "such as \"ndcg@10\", \"dcg@5\", \"precision@5\" or \"rbp(0.8)\""),
  samples_row(2),
}, shared.bound)

-- Returns the terms of a metric that is a sum over rows of a gain times a discount: gains of rows, discounts of ranks,
-- a factor for each list, and the number of ranks that count.
local function terms_of(metric, scores, lists)
  if not metric.tables then
    return { core.summed_ranks(scores, lists, metric), core.sum_terms(scores, lists, metric) }
  end
  local gains, discounts, norms = metric.tables(lists)
  -- row numbers of the ranks 1, 2, 3, ... in the table of discounts, which has the ranks 1, 3/2, 2, 5/2, ...
  local odd = {}
  for i = 1, (#discounts + 1) // 2 do odd[i] = 2 * i - 1 end
  discounts = discounts:rows(core.tensor(odd, "int64", discounts.device))
  local device = scores.device
  return { core.counted_ranks(scores, lists, metric), gains:to(device), discounts:to(device),
    norms:gt(0):where(1 / norms, 0):to(device) }
end

-- Returns the slope of the bound for each list, in float64, at the metric of the ranking by the current scores. Lists
-- of interactions do not have the ranking of all items, so their slope is at the metric's expectation.
local function slopes(bound, metric, scores, lists)
  local kind = { dtype = f64, device = scores.device }
  if not bound.affine and not whole_lists.of(lists) then
    local counted = list_stats.weights(metric, lists, f64, scores.device)
    kind.at = core.times_slope(metric(scores:double(), lists), counted)
  end
  return require("moonrank.bounds").slopes(bound, metric, lists, kind)
end

---Makes the PL-Rank-3 loss (Oosterhuis, SIGIR 2022): minus the mean of a metric over rankings of each
---list, drawn at random in Plackett and Luce's model as for mr.losses.policy_gradient. (If lower
---values of the metric are better, it is plus the mean.) The estimate of the derivative is unbiased.
---With a small cutoff the estimate has less variance than a policy gradient, because the gain of every
---row at every rank is known. Without a cutoff it has more, because the sum of gains at later ranks has
---no baseline (tests/bench/rankings_variance.lua measures it).
---
---The metric must be a sum over rows of a gain times a discount of the rank: dcg, ndcg, precision,
---recall, f1, r_precision, rbp, nrbp, nrbp_loss, auc, or a metric declared by gain and discount
---(mr.metrics.define). Time grows with `samples` times N log N for N rows.
---
---The bound is applied to the exact metric of each ranking, as in mr.losses.policy_gradient. Under an
---affine bound the estimate is multiplied by the bound's slope. A bound of another kind, such as
---"distribution", is split into a line, by its slope at the metric of the current order, and a rest.
---PL-Rank estimates the derivative of the line; a policy gradient with the baseline `leave_one_out`
---that of the rest. A list
---on which no ordering changes the metric has the value 0.
---@param options? mr.losses.PlRankOptions
---@return mr.Loss
---Example: `mr.losses.pl_rank{metric = "ndcg@10", bound = "minmax"}.metric   --> ndcg@10`
---Example: `mr.losses.pl_rank{metric = "precision@1"}(mr.tensor{0, 99}, mr.lists{{0, 1}}):item()   --> -1.0`
function M.pl_rank(options)
  local where = "mr.losses.pl_rank"
  local o = pl_rank_options:read(where, options)
  local metric = metrics.with_top(where, metrics.parse(o.metric))
  check.expect(metric.tables or core.sums_over_rows(metric), where, "metric", metric.name, "a sum over rows of a gain "
    .. "times a discount of the rank, such as 'ndcg@10'. mr.losses.policy_gradient takes every metric")
  return made("pl_rank", metric, o, function(scores, lists, bound)
    local ranks, gains, discounts, factors = table.unpack(terms_of(metric, scores, lists))
    local slope = slopes(bound, metric, scores, lists)
    local weights = core.times_slope(factors, slope)
    local value, plain = core.no_rankings(scores, lists)
    local rest, log_slopes, weighted = core.no_rankings(scores, lists)
    each_block(scores, lists, metric, o.samples, "pl_rank", function(copies, order, values)
      local bounded = bounded_values(bound, values, metric, lists, copies)
      value, plain = core.add_pl_rank(scores, lists, order, ranks, gains, discounts, weights, bounded, value, plain)
      if not bound.affine then
        local line = (values:reshape(#values // lists.count, lists.count) * slope):reshape(#values)
        rest, log_slopes, weighted = core.add_log_slopes(scores, lists, order, ranks, bounded - line, rest, log_slopes,
          weighted)
      end
    end)
    local derivative = plain / o.samples
    if not bound.affine then
      derivative = derivative + less_baseline(lists, o.samples, o.samples - 1, rest, log_slopes, weighted)
    end
    return value / o.samples, derivative
  end)
end

return M
