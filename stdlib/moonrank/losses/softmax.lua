-- Softmax losses of recommender systems: each relevant row of a list competes with the list's other rows, which are
-- sampled negatives or the rest of the catalogue. A list without a relevant row, or without another row, has the value
-- 0 and does not count.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local probabilities = require "moonrank.losses.probabilities"
local shared = require "moonrank.losses.options"

local M = {}

local bound_options = declare("mr.losses.SoftmaxOptions", {
  metrics.option("ap", "metric whose bounds are used"),
}, shared.slope)

local function temperature(name, default, help) return shared.factor(name, default, help) end

-- Numbers that the losses of this file share, for lists with relevant and other rows, on the device of the scores: 1
-- for relevant rows and for other rows, and their numbers per list; the weights of relevant rows, and their mean per
-- list (`weighs`; false without weights).
local function parts_of(lists, scores)
  local relevant = lists.relevance:ge(1):to(scores.dtype):to(scores.device)
  local count = lists:sum(relevant)
  local weights = lists:has_weights() and lists:row_weights_like(scores)
  return {
    relevant = relevant, others = 1 - relevant, positives = count,
    weights = weights and weights * relevant or relevant, weighs = weights and lists:sum(weights * relevant) / count,
    negatives = lists.sizes:to(scores.dtype):to(scores.device) - count,
  }
end

-- Returns the mean of x over the relevant rows of each list, each times its weight.
local function mean_of_relevant(x, lists, parts) return lists:sum(parts.weights * x) / parts.positives end

-- Returns the mean over the relevant rows of a number per list, each time times the weight of the row.
local function times_weights(of_lists, parts) return parts.weighs and of_lists * parts.weighs or of_lists end

-- Returns the logarithm of the sum of e^x over the rows of each list. With `chosen`, only rows whose entry of it is 1
-- count. A list whose rows all have -inf gives NaN.
local function log_sum(x, lists, chosen)
  if chosen then x = chosen:where(x, -math.huge) end
  local top = lists:max(x):detach()
  return lists:sum((x - lists:spread(top)):exp()):log() + top
end

-- Makes a loss whose function gets scores and lists that have relevant and other rows.
local function made(name, o, f, refused)
  o.metric = metrics.parse(o.metric)
  local values = loss.on_counted(metrics.parse "ap", function(scores, lists)
    return f(scores, lists, parts_of(lists, scores))
  end)
  return loss.by_slope({ name = name, metric = "ndcg", of = o.metric, counted = "ap", values = values,
    row_weights = refused or true }, o)
end

local full_options = declare("mr.losses.FullSoftmaxOptions", {
  temperature("tau", 1, "temperature: scores are divided by it"),
}, bound_options)

local sl_options = declare("mr.losses.SlOptions", {
  temperature("tau", 0.2, "temperature: scores are divided by it"),
}, bound_options)

---Makes the softmax cross entropy of each relevant row among all rows of its list, which the sampled
---softmax (Jean et al. 2015) approximates: the mean over the P relevant rows i, for scores f.
---
---   $1/P sum_(relevant i) (log sum_j e^(f_j / tau) - f_i / tau)$
---
---The other relevant rows are in the sum, too. Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.FullSoftmaxOptions
---@return mr.Loss
---Example: `mr.losses.full_softmax()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0`
function M.full_softmax(options)
  local o = full_options:read("mr.losses.full_softmax", options)
  return made("full_softmax", o, function(scores, lists, parts)
    local x = scores / o.tau
    return times_weights(log_sum(x, lists), parts) - mean_of_relevant(x, lists, parts)
  end)
end

local sampled_options = declare("mr.losses.SampledSoftmaxOptions", {
  { "correction", "string", default = "none", choices = { "none", "both", "negatives" },
    help = "logarithms of probabilities q that are subtracted from scores: none; both: log q of every row; negatives: "
      .. "log(n q) of the n rows that are not relevant" },
  { "probabilities", "number", above = 0, most = 1, shown = "those of the lists (lists:drawn)",
    help = "probability q with which each row was drawn; for uniform draws, 1 / the number of items" },
}, full_options)

-- Returns the scores over tau, less the logarithms of the probabilities with which rows were drawn.
local function corrected(scores, lists, o)
  local x = scores / o.tau
  if not o.correction then return x end
  local q = o.probabilities or probabilities.of(lists)
  if not q then
    check.fail("mr.losses.sampled_softmax: correction is '%s', but the lists have no probabilities. Pass "
      .. "lists:drawn(q), or probabilities = 1 / the number of items for uniform draws", o.correction)
  end
  q = type(q) == "number" and lists:spread(core.full({ lists.count }, q, x.dtype, x.device))
    or q:to(x.dtype):to(x.device)
  if o.correction == "both" then return x - q:log() end
  local parts = parts_of(lists, x)
  return parts.relevant:where(x, x - (q * lists:spread(parts.negatives:maximum(1))):log())
end

---Makes the sampled softmax loss (Jean et al. 2015): the mean over the P relevant rows i of the cross
---entropy among row i and the other rows j that are not relevant.
---
---   $1/P sum_(relevant i) (log(e^(f_i / tau) + sum_(other j) e^(f_j / tau)) - f_i / tau)$
---
---With a `correction`, scores over tau are corrected for the probabilities q with which rows were drawn
---as negatives. "both" subtracts log q from every row (Yi et al. 2019). "negatives" subtracts
---log(n q) from the n rows that are not relevant, so that the sum over them estimates the sum over
---the catalogue (Bengio & Senecal 2008). Lists carry probabilities (lists:drawn); for uniform draws,
---pass one number. Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.SampledSoftmaxOptions
---@return mr.Loss
---Example: `mr.losses.sampled_softmax()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0`
---Example:
---local loss = mr.losses.sampled_softmax{correction = "negatives", probabilities = 1 / 3}
---loss(mr.tensor{0, 0}, mr.lists{{1, 0}}):exp():item()   --> 4.0
function M.sampled_softmax(options)
  local o = sampled_options:read("mr.losses.sampled_softmax", options)
  if o.correction == "none" and o.probabilities then
    check.fail "mr.losses.sampled_softmax: probabilities needs correction = 'both' or 'negatives'"
  end
  if o.correction == "none" then o.correction = nil end  -- as in versions without the option
  local made_of = made("sampled_softmax", o, function(x, lists, parts)
    local beside = lists:spread(log_sum(x, lists, parts.others)) - x
    return mean_of_relevant(beside:softplus(), lists, parts)
  end)
  local values = made_of._smooth
  made_of._smooth = function(scores, lists) return values(corrected(scores, lists, o), lists) end
  return made_of
end

---Makes the softmax loss SL (Wu et al. 2024; Yang et al. 2025, Eq. 2.2): the mean over the P relevant
---rows i, for scores f; j are the rows that are not relevant, such as sampled negatives.
---
---   $1/P sum_(relevant i) log sum_(other j) e^((f_j - f_i) / tau)$
---
---The papers' scores are cosines of user and item vectors, and 0.2 is a common temperature. The sum has
---no term of i itself, so the loss can be negative. A list counts if it has a relevant row (grade
---1 or higher) and another row. A bound multiplies a list's loss by the bound's slope for `metric`.
---@param options? mr.losses.SlOptions
---@return mr.Loss
---Example: `mr.losses.sl{tau = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -2.0`
function M.sl(options)
  local o = sl_options:read("mr.losses.sl", options)
  return made("sl", o, function(scores, lists, parts)
    local x = scores / o.tau
    return times_weights(log_sum(x, lists, parts.others), parts) - mean_of_relevant(x, lists, parts)
  end)
end

local bsl_options = declare("mr.losses.BslOptions", {
  temperature("tau1", 1, "temperature of the relevant rows"),
  temperature("tau2", 1, "temperature of the other rows"),
}, bound_options)

---Makes the bilateral softmax loss BSL (Wu et al. 2024, arXiv 2312.12882): the logarithm of a mean
---over the other rows j of a list minus that of a mean over its relevant rows i.
---
---   $- tau_1 log mean_(relevant i) e^(f_i / tau_1) + tau_2 log mean_(other j) e^(f_j / tau_2)$
---
---The code of Yang et al. (2025) computes mr.losses.bsl_per_positive instead. Lists that count, and
---bounds, are as for mr.losses.sl.
---@param options? mr.losses.BslOptions
---@return mr.Loss
---Example: `mr.losses.bsl{tau1 = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -1.0`
function M.bsl(options)
  local o = bsl_options:read("mr.losses.bsl", options)
  return made("bsl", o, function(scores, lists, parts)
    local up = log_sum(scores / o.tau1, lists, parts.relevant) - parts.positives:log()
    local down = log_sum(scores / o.tau2, lists, parts.others) - parts.negatives:log()
    return down * o.tau2 - up * o.tau1
  end, "it is the logarithm of a sum over rows")
end

---Makes BSL as the code of Yang et al. (2025) has it: for one relevant row at a time, so that its
---exponential and logarithm cancel, and as a mean over the P relevant rows. It is SL with another
---weight.
---
---   $1/P sum_(relevant i) (tau_2 / tau_1 log sum_(other j) e^(f_j / tau_2) - f_i / tau_1)$
---
---Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.BslOptions
---@return mr.Loss
---Example: `mr.losses.bsl_per_positive{tau1 = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -2.0`
function M.bsl_per_positive(options)
  local o = bsl_options:read("mr.losses.bsl_per_positive", options)
  return made("bsl_per_positive", o, function(scores, lists, parts)
    return times_weights(log_sum(scores / o.tau2, lists, parts.others), parts) * (o.tau2 / o.tau1)
      - mean_of_relevant(scores / o.tau1, lists, parts)
  end)
end

local log2 = core.number_log(2)

-- Returns the arc tangents of x: three times the angle is halved, and the rest is a series.
local function arc_tangent(x)
  for _ = 1, 3 do x = x / ((x * x + 1):sqrt() + 1) end
  local square, sum = x * x, x * 0
  for k = 21, 1, -2 do sum = sum * square + (k % 4 == 1 and 1 or -1) / k end
  return sum * x * 8
end

local tan_of_1 = 1.5574077246549023

-- The logarithm of each surrogate of PSL, for differences d; -inf where the surrogate is not above 0.
local surrogates = {
  tanh = function(d) return log2 - (d * -2):softplus() end,
  relu = function(d)
    local inside = d:gt(-1)
    return inside:where((inside:where(d, 0) + 1):log(), -math.huge)
  end,
  atan = function(d)
    local y = arc_tangent(d:gt(-tan_of_1):where(d, -tan_of_1)) + 1
    local inside = y:gt(1e-6)
    return inside:where(inside:where(y, 1):log(), -math.huge)
  end,
}

local psl_options = declare("mr.losses.PslOptions", {
  { "surrogate", "string", default = "tanh", choices = { "tanh", "relu", "atan" },
    help = "function that replaces the exponential of a difference d: tanh(d) + 1, max(d + 1, 0), or atan(d) + 1 "
      .. "where this is above 0" },
  { "over", "string", default = "positive", choices = { "positive", "list" },
    help = "positive: the mean over relevant rows of a logarithm each; list: one logarithm of a mean over pairs" },
  temperature("tau", 1, "temperature of differences of scores; 2 for cosines"),
  temperature("tau_star", 1, "temperature outside of the surrogate"),
}, bound_options)

-- Returns the pairs of a relevant and another row, and lists of the pairs of each relevant row and of these rows.
local function pairs_of(lists)
  local found = lists:pairs{ relevant = 1 }
  local sizes, relevant = core.integers(lists.sizes:to("cpu")), core.integers(lists.relevant:to("cpu"))
  local of_rows = {}
  for l, size in ipairs(sizes) do
    for _ = 1, relevant[l] do of_rows[#of_rows + 1] = size - relevant[l] end
  end
  found.of_rows = core.lists(of_rows, core.full({ found.count }, 0, "float32", "cpu"), {}, {})
  found.rows = core.lists(relevant, core.full({ #of_rows }, 0, "float32", "cpu"), {}, {})
  return found
end

-- Raises an error if all logarithms of a surrogate are -inf in one of the lists.
local function check_finite(x, lists, surrogate)
  if lists.count > 0 and lists:max(x:detach()):min():item() == -math.huge then
    check.fail("mr.losses.psl: all other rows have scores below that of a relevant row by more than %s tau, so "
      .. "the logarithm of the surrogate '%s' is not finite. Pass cosines with tau = 2, or surrogate = 'tanh'",
      surrogate == "relu" and "1" or "1.55", surrogate)
  end
end

---Makes the pairwise softmax loss PSL (Yang et al. 2024, Eq. 4.1): SL with a surrogate s in place of
---the exponential of a difference of scores. It is the mean over the P relevant rows i; j are the
---other rows.
---
---   $1/P sum_(relevant i) log sum_(other j) s((f_j - f_i) / tau)^(1 / tau_s)$
---
---Here $tau_s$ is `tau_star`. With `over = "list"`, it is the logarithm of the mean over all pairs of a
---list (method 2 of the authors' code). The papers' scores are cosines and tau is 2. The surrogate
---"relu" has no value where every other row's difference is -1 or less, and "atan" where it is -1.557
---or less, which is an error. Lists that count, and bounds, are as for mr.losses.sl. The loss takes
---time and memory for each pair.
---@param options? mr.losses.PslOptions
---@return mr.Loss
---Example: `mr.losses.psl()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.0`
function M.psl(options)
  local o = psl_options:read("mr.losses.psl", options)
  return made("psl", o, function(scores, lists, parts)
    local found = pairs_of(lists)
    local d = core.pair_differences(scores, lists, found.better, found.worse, found.lists) / -o.tau
    local x = surrogates[o.surrogate](d) / o.tau_star
    local within = o.over == "list" and found.lists or found.of_rows
    check_finite(x, within, o.surrogate)
    local sums = log_sum(x, within)
    if o.over == "list" then return sums - (parts.positives * parts.negatives):log() end
    if parts.weighs then sums = sums * lists:relevant_part(1):row_weights_like(sums) end
    return found.rows:mean(sums)
  end, o.over == "list" and "it is the logarithm of a mean over pairs")
end

local sl_at_k_options = declare("mr.losses.SlAtKOptions", {
  { "k", "integer", default = 20, least = 1, most = 1000000000, help = "number of rows at the top of a list" },
  temperature("tau_beta", 1, "temperature of the weight of relevant rows"),
}, sl_options)

---Makes the loss SL@K (Yang et al. 2025, Eq. 3.5): SL as a mean over the P relevant rows i, each
---weighted by whether it is among the k rows with the largest scores; $beta$ is the k-th largest score of the list, or
---the smallest score of a shorter list.
---
---   $1/P sum_(relevant i) sigma((f_i - beta) / tau_beta) log sum_(other j) e^((f_j - f_i) / tau)$
---
---The derivative treats $beta$ as a constant, but the weight of a row is part of it: with a large
---`tau`, the loss may fall because a relevant row's score falls. Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.SlAtKOptions
---@return mr.Loss
---Example: `mr.losses.sl_at_k{k = 1, tau = 1}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -0.5`
function M.sl_at_k(options)
  local o = sl_at_k_options:read("mr.losses.sl_at_k", options)
  return made("sl_at_k", o, function(scores, lists, parts)
    local detached, sizes = scores:detach(), core.integers(lists.sizes:to("cpu"))
    local places, before = {}, 0
    for l, size in ipairs(sizes) do
      places[l], before = before + math.min(o.k, size), before + size
    end
    local order = lists:order(detached)
    local beta = detached:rows(order:rows(core.tensor(places, "int64", order.device)))
    local weight = ((scores - lists:spread(beta)) / o.tau_beta):sigmoid()
    local x = scores / o.tau
    return mean_of_relevant(weight * (lists:spread(log_sum(x, lists, parts.others)) - x), lists, parts)
  end)
end

local gbce_options = declare("mr.losses.GbceOptions", {
  { "catalogue", "integer", least = 2, most = 1000000000000, shown = "the rows of the list",
    help = "number of items from which the other rows were drawn, the relevant item included" },
  { "t", "number", default = 0.75, least = 0, most = 1,
    help = "calibration: 0 is the binary cross entropy, 1 corrects fully for the sampling" },
}, bound_options)

---Makes the generalised binary cross entropy gBCE (Petrov & Macdonald 2023) for sampled negatives. It
---is a mean over the P relevant rows i; j are the n other rows, drawn from C items (`catalogue`).
---
---   $1/P sum_(relevant i) (beta log(1 + e^(-f_i)) + sum_(other j) log(1 + e^(f_j))) / (n + 1)$
---
---Here $beta = alpha (t (1 - 1 / alpha) + 1 / alpha)$ and $alpha = n / (C - 1)$. Without `catalogue`, the
---list is the whole catalogue, and beta is 1. Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.GbceOptions
---@return mr.Loss
---Example:
---mr.losses.gbce{catalogue = 2, t = 0}(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0
function M.gbce(options)
  local o = gbce_options:read("mr.losses.gbce", options)
  return made("gbce", o, function(scores, lists, parts)
    local most = o.catalogue and #parts.negatives > 0 and parts.negatives:max():item() or 0
    if o.catalogue and most > o.catalogue - 1 then
      check.fail("mr.losses.gbce: catalogue is %d, but a list has %d rows that are not relevant, expected at most %d",
        o.catalogue, most, o.catalogue - 1)
    end
    local beta = o.catalogue and parts.negatives * (o.t / (o.catalogue - 1)) + (1 - o.t) or 1
    local up = mean_of_relevant((-scores):softplus(), lists, parts)
    local down = times_weights(lists:sum(parts.others * scores:softplus()), parts)
    return (beta * up + down) / (parts.negatives + 1)
  end)
end

return M
