-- Softmax losses of recommender systems: each relevant row of a list competes with the list's other rows, which are
-- sampled negatives or the rest of the catalogue. A list without a relevant row, or without another row, has the value
-- 0 and does not count. A row with the score -inf adds nothing to a sum over rows. For other infinite scores, the loss
-- is its limit, which may be infinite, or it raises an error.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local prepared = require "moonrank.losses.prepared"
local probabilities = require "moonrank.losses.probabilities"
local quantiles = require "moonrank.losses.quantiles"
local shared = require "moonrank.losses.options"

local M = {}

local bound_options = declare("mr.losses.SoftmaxOptions", {
  metrics.option("ap", "metric whose bounds are used"),
}, shared.slope)

local function temperature(name, default, help) return shared.factor(name, default, help) end

-- The relevant rows of lists. `count` has the number of relevant rows of each list, and `others` the number of its
-- other rows. If rows have weights, `weights` has the weights of the relevant rows, and `weighs` has their mean for
-- each list.
local Relevant = {}
Relevant.__index = Relevant

local function relevant_of(lists, scores)
  local rows, of, count, others = core.relevant_rows(lists, scores)
  local relevant = setmetatable({ lists = of, count = count, others = others, weights = false, weighs = false,
    _rows = rows }, Relevant)
  local weights = lists:has_weights() and lists:row_weights_like(scores)
  if weights then
    relevant.weights = relevant:of(weights)
    relevant.weighs = of:sum(relevant.weights) / count
  end
  return relevant
end

-- Returns the entries that a tensor `x`, which has an entry for each row, has at the relevant rows.
function Relevant:of(x) return core.distinct_rows(x, self._rows) end

-- Returns, for each list, the sum of `x`, which has an entry for each relevant row, times the rows' weights.
function Relevant:sum(x) return self.lists:sum(self.weights and core.times_slope(x, self.weights) or x) end

-- Returns, for each list, the mean of `x`, which has an entry for each relevant row, times the rows' weights.
function Relevant:mean(x) return self:sum(x) / self.count end

-- Returns `x`, which has an entry for each list, times the mean weight of the list's relevant rows.
function Relevant:times_weights(x) return self.weighs and core.times_slope(x, self.weighs) or x end

-- computes, for each list, log of the sum of e^(score / tau) over "all" or the "others" (not relevant) of its rows
local log_sum = core.part_log_sum

-- Makes a softmax loss from `f`, which gets only lists that have both relevant and other rows.
local function made(name, o, f, refused)
  o.metric = metrics.parse(o.metric)
  local on_counted = loss.on_counted(metrics.parse "ap", function(scores, lists)
    return f(scores, lists, relevant_of(lists, scores))
  end)
  local function values(scores, lists) return core.checked_values(on_counted(scores, lists), scores) end
  return loss.by_slope({ name = name, metric = "ndcg", of = o.metric, counted = "ap", values = values,
    row_weights = refused or true }, o)
end

local full_options = declare("mr.losses.TauOptions", {
  temperature("tau", 1, "temperature: scores are divided by it"),
}, bound_options)

local sl_options = declare("mr.losses.SlOptions", {
  temperature("tau", 0.2, "temperature: scores are divided by it"),
}, bound_options)

local catalogue_options = declare("mr.losses.FullSoftmaxOptions", {
  { "over", "string", default = "list", choices = { "list", "catalogue" },
    help = "rows of the sum: those of the list, or all items of the model's catalogue, which mr.fit scores in blocks" },
}, full_options)

-- Makes the softmax loss over all items of the catalogue. A list without a relevant row has the value 0.
local function over_catalogue(o)
  o.metric = metrics.parse(o.metric)
  local keep, take = prepared.new()
  local function values(scores, lists)
    local log_sums = take(lists)
    if not log_sums then
      check.fail("mr.losses.full_softmax: over = 'catalogue' needs the model. Train by mr.fit, or use "
        .. "model:catalogue_log_sums(users, tau)")
    end
    lists = lists:to(scores.dtype)
    local relevant = relevant_of(lists, scores)
    local counts = relevant.count:gt(0)
    local mean = relevant:sum(relevant:of(scores) / o.tau) / relevant.count:maximum(1)
    local weighs = relevant.weighs and counts:where(relevant.weighs, 0)
    return counts:where((weighs and log_sums * weighs or log_sums) - mean, 0)
  end
  local made_of = loss.by_slope({ name = "full_softmax", metric = "ndcg", of = o.metric, counted = "any",
    values = values, row_weights = true }, o)
  made_of._prepare = function(model, batch)
    local sums = check.field(model, "catalogue_log_sums")
    if not sums then check.fail "mr.losses.full_softmax: over = 'catalogue' needs a model such as mr.models.mf" end
    keep(batch.lists, sums(model, batch.users, o.tau))
  end
  return made_of
end

---Makes the softmax cross entropy of each relevant row among all rows of its list, which the sampled
---softmax (Jean et al. 2015) approximates: the mean over the P relevant rows i, for scores f.
---
---   $1/P sum_(relevant i) (log sum_j e^(f_j / tau) - f_i / tau)$
---
---The other relevant rows are in the sum, too. Lists that count, and bounds, are as for mr.losses.sl.
---
---With `over = "catalogue"`, j goes over all items of the model, which must have vectors, as
---mr.models.mf has. The loss then works in mr.fit only, which scores the catalogue in blocks for the
---users of a batch (model:catalogue_log_sums). No matrix of users by items is stored. Without a bound,
---all lists with rows then count; one without a relevant row has the value 0.
---@param options? mr.losses.FullSoftmaxOptions
---@return mr.Loss
---Example: `mr.losses.full_softmax()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0`
function M.full_softmax(options)
  local o = catalogue_options:read("mr.losses.full_softmax", options)
  if o.over == "catalogue" then return over_catalogue(o) end
  -- the default of `over` is not stored, so that settings equal those in files from before the option existed
  o.over = nil
  return made("full_softmax", o, function(scores, lists, relevant)
    return relevant:times_weights(log_sum(scores, lists, "all", o.tau)) - relevant:mean(relevant:of(scores) / o.tau)
  end)
end

local function is_probability(value)
  if not check.is_tensor(value) then return type(value) == "number" and value > 0 and value <= 1 end
  if value.dims ~= 1 or value.dtype == "int64" or #value == 0 then return false end
  return (value:gt(0) * (1 - value):ge(0)):min():item() == 1
end

local sampled_options = declare("mr.losses.SampledSoftmaxOptions", {
  { "correction", "string", default = "none", choices = { "none", "both", "negatives" },
    help = "logarithms of probabilities q that are subtracted from scores: none; both: log q of every row; negatives: "
      .. "log(n q) of the n rows that are not relevant" },
  { "probabilities", "number|mr.Tensor", accept = is_probability, shown = "those of the lists (lists:drawn)",
    only_with = { correction = { "both", "negatives" } },
    expected = "a number above 0 and at most 1, or a tensor {items} of such numbers, float32 or float64",
    help = "probability q with which each row was drawn; for uniform draws, 1 / the number of items. A tensor has the "
      .. "probability of each item, and needs mr.fit, whose batches have items" },
}, full_options)

-- Returns scores / tau. With the option `correction`, subtracts the logarithm of the probability with which each row
-- was drawn. `of_items` has the probability of each row's item, or is nil.
local function corrected(scores, lists, o, of_items)
  local x = scores / o.tau
  if not o.correction then return x end
  local by_item = check.is_tensor(o.probabilities)
  local q = not by_item and o.probabilities or of_items or probabilities.of(lists)
  if not q and by_item then
    check.fail("mr.losses.sampled_softmax: probabilities has a number for each item, which only mr.fit can look up. "
      .. "Pass lists:drawn(q)")
  end
  if not q then
    check.fail("mr.losses.sampled_softmax: correction is '%s', but the lists have no probabilities. Pass "
      .. "lists:drawn(q), or probabilities = 1 / the number of items for uniform draws", o.correction)
  end
  q = type(q) == "number" and lists:spread(core.full({ lists.count }, q, x.dtype, x.device))
    or q:to(x.dtype):to(x.device)
  if o.correction == "both" then return x - q:log() end
  local negatives = relevant_of(lists, x).others:maximum(1)
  return lists.relevance:ge(1):to(x.dtype):to(x.device):where(x, x - (q * lists:spread(negatives)):log())
end

---Makes the sampled softmax loss (Jean et al. 2015): the mean over the P relevant rows i of the cross
---entropy among row i and the other rows j that are not relevant.
---
---   $1/P sum_(relevant i) (log(e^(f_i / tau) + sum_(irrelevant j) e^(f_j / tau)) - f_i / tau)$
---
---With a `correction`, scores over tau are corrected for the probabilities q with which rows were drawn
---as negatives. "both" subtracts log q from every row (Yi et al. 2019). "negatives" subtracts
---log(n q) from the n rows that are not relevant, so that the sum over them estimates the sum over
---the catalogue (Bengio & Senecal 2008). The probabilities are the option `probabilities`, or else those
---of the lists (lists:drawn); a correction without them is an error. The option is one number for
---uniform draws or, in mr.fit, a tensor with the probability of each item. Lists that count, and
---bounds, are as for mr.losses.sl.
---@param options? mr.losses.SampledSoftmaxOptions
---@return mr.Loss
---Example: `mr.losses.sampled_softmax()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0`
---Example:
---local loss = mr.losses.sampled_softmax{correction = "negatives", probabilities = 1 / 3}
---loss(mr.tensor{0, 0}, mr.lists{{1, 0}}):exp():item()   --> 4.0
function M.sampled_softmax(options)
  local o = sampled_options:read("mr.losses.sampled_softmax", options)
  -- The default of `correction` is not stored, so that settings equal those in files from before the option existed.
  if o.correction == "none" then o.correction = nil end
  local made_of = made("sampled_softmax", o, function(x, lists, relevant)
    local beside = relevant.lists:spread(log_sum(x, lists, "others", 1)) - relevant:of(x)
    return relevant:mean(beside:softplus())
  end)
  local values = made_of._smooth
  local keep, take = prepared.new()
  made_of._smooth = function(scores, lists) return values(corrected(scores, lists, o, take(lists)), lists) end
  if check.is_tensor(o.probabilities) then
    made_of._prepare = function(_, batch)
      if not batch.items then
        check.fail "mr.losses.sampled_softmax: probabilities has a number for each item, but the batches have no items"
      end
      keep(batch.lists, o.probabilities:to(batch.items.device):rows(batch.items))
    end
  end
  return made_of
end

---Makes the softmax loss SL (Wu et al. 2024; Yang et al. 2025, Eq. 2.2): the mean over the P relevant
---rows i, for scores f; j are the rows that are not relevant, such as sampled negatives.
---
---   $1/P sum_(relevant i) log sum_(irrelevant j) e^((f_j - f_i) / tau)$
---
---The papers' scores are cosines of user and item vectors, and 0.2 is a common temperature. The sum has
---no term of i itself, so the loss can be negative. A list counts in means if it has a relevant row
---(grade 1 or higher) and a row that is not relevant; other lists have the value 0. A bound multiplies
---a list's loss by the bound's slope for `metric`. With a bound, those lists count in means on which an
---ordering can change `metric`.
---
---The score -inf leaves a row that is not relevant out of the sum. Other infinite scores give the limit
---of the value and of the gradient, such as an infinite value, or an error if there is no limit.
---@param options? mr.losses.SlOptions
---@return mr.Loss
---Example: `mr.losses.sl{tau = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -2.0`
function M.sl(options)
  local o = sl_options:read("mr.losses.sl", options)
  return made("sl", o, function(scores, lists, relevant)
    return relevant:times_weights(log_sum(scores, lists, "others", o.tau)) - relevant:mean(relevant:of(scores) / o.tau)
  end)
end

local bsl_options = declare("mr.losses.BslOptions", {
  temperature("tau1", 1, "temperature of the relevant rows"),
  temperature("tau2", 1, "temperature of the other rows"),
}, bound_options)

---Makes the bilateral softmax loss BSL (Wu et al. 2024, arXiv 2312.12882): the logarithm of a mean
---over the irrelevant rows j of a list minus that of a mean over its relevant rows i.
---
---   $- tau_1 log mean_(relevant i) e^(f_i / tau_1) + tau_2 log mean_(irrelevant j) e^(f_j / tau_2)$
---
---The code of Yang et al. (2025) computes mr.losses.bsl_per_positive instead. Lists that count, and
---bounds, are as for mr.losses.sl.
---@param options? mr.losses.BslOptions
---@return mr.Loss
---Example: `mr.losses.bsl{tau1 = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -1.0`
function M.bsl(options)
  local o = bsl_options:read("mr.losses.bsl", options)
  return made("bsl", o, function(scores, lists, relevant)
    local up = log_sum(scores, lists, "relevant", o.tau1) - relevant.count:log()
    local down = log_sum(scores, lists, "others", o.tau2) - relevant.others:log()
    return down * o.tau2 - up * o.tau1
  end, "it is the logarithm of a sum over rows")
end

---Makes BSL as the code of Yang et al. (2025) has it: for one relevant row at a time, so that its
---exponential and logarithm cancel, and as a mean over the P relevant rows. It is mr.losses.sl with
---the temperature tau2, times tau2 / tau1.
---
---   $1/P sum_(relevant i) (tau_2 / tau_1 log sum_(irrelevant j) e^(f_j / tau_2) - f_i / tau_1)$
---
---Lists that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.BslOptions
---@return mr.Loss
---Example: `mr.losses.bsl_per_positive{tau1 = 0.5}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -2.0`
function M.bsl_per_positive(options)
  local o = bsl_options:read("mr.losses.bsl_per_positive", options)
  return made("bsl_per_positive", o, function(scores, lists, relevant)
    return relevant:times_weights(log_sum(scores, lists, "others", o.tau2)) * (o.tau2 / o.tau1)
      - relevant:mean(relevant:of(scores) / o.tau1)
  end)
end

local psl_options = declare("mr.losses.PslOptions", {
  { "surrogate", "string", default = "tanh", choices = { "tanh", "relu", "atan" },
    help = "function that replaces the exponential of a difference d: tanh(d) + 1, max(d + 1, 0), or atan(d) + 1 "
      .. "where this is above 0" },
  { "over", "string", default = "positive", choices = { "positive", "list" },
    help = "positive: the mean over relevant rows of a logarithm each; list: one logarithm of a mean over pairs" },
  temperature("tau", 1, "temperature of differences of scores; 2 for cosines"),
  temperature("tau_star", 1, "temperature outside of the surrogate"),
}, bound_options)

-- Raises an error if a list's loss is -inf, because the logarithm of the surrogate is -inf for all its pairs.
local function check_finite(values, surrogate)
  if #values > 0 and values:detach():min():item() == -math.huge then
    if surrogate == "tanh" then
      check.fail("mr.losses.psl: scores are infinite, and all other rows are infinitely far below a relevant row. "
        .. "Pass finite scores")
    end
    check.fail("mr.losses.psl: all other rows have scores below that of a relevant row by %s tau, so the logarithm of "
      .. "the surrogate '%s' is not finite. Pass scores that differ less, such as cosines with a larger tau, or "
      .. "surrogate = 'tanh'", surrogate == "relu" and "at least 1" or "more than 1.55", surrogate)
  end
end

---Makes the pairwise softmax loss PSL (Yang et al. 2024, Eq. 4.1): SL with a surrogate s in place of
---the exponential of a difference of scores. It is the mean over the P relevant rows i; j are the
---irrelevant rows.
---
---   $1/P sum_(relevant i) log sum_(irrelevant j) s((f_j - f_i) / tau)^(1 / tau_s)$
---
---Here $tau_s$ is `tau_star`. With `over = "list"`, it is the logarithm of the mean over all pairs of a
---list (method 2 of the authors' code). The papers' scores are cosines and tau is 2. The surrogate
---"relu" is 0 if (f_j - f_i) / tau is -1 or less, and "atan" if it is -1.557 or less. A sum of such
---zeros only has no logarithm, and raises an error. Lists that count, and bounds, are as for
---mr.losses.sl. The loss takes time for each pair, but no memory.
---@param options? mr.losses.PslOptions
---@return mr.Loss
---Example: `mr.losses.psl()(mr.tensor{0, 0}, mr.lists{{1, 0}}):item()   --> 0.0`
function M.psl(options)
  local o = psl_options:read("mr.losses.psl", options)
  return made("psl", o, function(scores, lists, relevant)
    local whole = o.over == "list"
    local weights = relevant.weights and lists:row_weights_like(scores) or nil
    local values = core.psl_loss(scores, lists, o.surrogate, o.tau, o.tau_star, whole, weights)
    check_finite(values, o.surrogate)
    return whole and values - (relevant.count * relevant.others):log() or values
  end, o.over == "list" and "it is the logarithm of a mean over pairs")
end

local sl_at_k_options = declare("mr.losses.SlAtKOptions", {
  { "k", "integer", default = 20, least = 1, most = 1000000000, help = "number of rows at the top of a list" },
  temperature("tau_beta", 1, "temperature of the weight of relevant rows"),
  { "every", "integer", least = 1, shown = "beta is that of the list",
    help = "in mr.fit on interactions: number of epochs between two estimates of each user's beta" },
  { "share", "number", least = 0, most = 1, requires = "every", shown = "0.9",
    help = "with `every`: the estimates use as many items of a user in train as this share of the users has at most" },
}, sl_options)

---Makes the loss SL@K (Yang et al. 2025, Eq. 3.5): SL as a mean over the P relevant rows i. The weight
---of a row says, smoothly, whether it is among the k rows with the largest scores. $beta$ is the k-th
---largest score of the list, or the smallest score of a shorter list.
---
---   $1/P sum_(relevant i) sigma((f_i - beta) / tau_beta) log sum_(irrelevant j) e^((f_j - f_i) / tau)$
---
---The derivative treats $beta$ as a constant, but the weight of a row is part of it: with a large
---`tau`, the loss may fall because a relevant row's score falls. Lists that count, and bounds, are as
---for mr.losses.sl.
---
---With `every`, mr.fit{unit = "interaction"} estimates $beta$ for each user, like the authors' code,
---because an interaction has only a sample of the items. The estimate is the k-th largest score among
---the user's items in train and the negatives of the interaction. It is 0 at first. The steps of every
---`every`-th epoch compute the loss, and then estimate $beta$ anew for the users of their batch. A user
---with fewer than k such scores then has the weight 1. Checkpoints have the estimates. Training by
---several processes (`parallel`) is an error. Where a step takes lists, `every` has no effect.
---@param options? mr.losses.SlAtKOptions
---@return mr.Loss
---Example: `mr.losses.sl_at_k{k = 1, tau = 1}(mr.tensor{1, 0}, mr.lists{{1, 0}}):item()   --> -0.5`
---Example:
---local fold = mr.data.synthetic{kind = "ratings", users = 20, items = 90}:binarize(4):folds{nsr = 0}[1]
---local run = mr.fit{model = mr.models.mf{users = 20, items = 90, factors = 4, score = "cosine"},
---  loss = mr.losses.sl_at_k{tau = 0.2, every = 2}, train = fold.train, unit = "interaction", negatives = 50,
---  epochs = 4, progress = false}
---#run.history   --> 4
function M.sl_at_k(options)
  local o = sl_at_k_options:read("mr.losses.sl_at_k", options)
  local of_lists = made("sl_at_k", o, function(scores, lists, relevant)
    local beta = relevant.lists:spread(core.kth_largest(scores:detach(), lists, o.k))
    local f, sums = relevant:of(scores), log_sum(scores, lists, "others", o.tau)
    -- For infinite scores, the product of weight and loss below has no limit. `x * 0` is NaN for infinite x, so that
    -- `checked_values` raises an error for such scores.
    for _, x in ipairs{ f, sums } do core.checked_values(x:detach() * 0, scores) end
    local weight = ((f - beta) / o.tau_beta):sigmoid()
    return relevant:mean(weight * (relevant.lists:spread(sums) - f / o.tau))
  end)
  return o.every and quantiles.of_users(of_lists, M.sl{ tau = o.tau }, o) or of_lists
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
---   $1/P sum_(relevant i) (beta log(1 + e^(-f_i)) + sum_(irrelevant j) log(1 + e^(f_j))) / (n + 1)$
---
---Here $beta = alpha (t (1 - 1 / alpha) + 1 / alpha)$ and $alpha = n / (C - 1)$. Without `catalogue`, the
---list is the whole catalogue, and beta is 1. More than C - 1 other rows in a list are an error. Lists
---that count, and bounds, are as for mr.losses.sl.
---@param options? mr.losses.GbceOptions
---@return mr.Loss
---Example:
---mr.losses.gbce{catalogue = 2, t = 0}(mr.tensor{0, 0}, mr.lists{{1, 0}}):item() / math.log(2)   --> 1.0
function M.gbce(options)
  local o = gbce_options:read("mr.losses.gbce", options)
  return made("gbce", o, function(scores, lists, relevant)
    local negatives = relevant.others
    local most = o.catalogue and #negatives > 0 and negatives:max():item() or 0
    if o.catalogue and most > o.catalogue - 1 then
      check.fail("mr.losses.gbce: catalogue is %d, expected at least %d, because a list has %d rows that are not "
        .. "relevant", o.catalogue, most + 1, most)
    end
    local beta = o.catalogue and negatives * (o.t / (o.catalogue - 1)) + (1 - o.t) or 1
    local up = relevant:mean((-relevant:of(scores)):softplus())
    local others = lists.relevance:lt(1):to(scores.dtype):to(scores.device)
    local down = relevant:times_weights(lists:sum(core.times_slope(scores:softplus(), others)))
    return (beta * up + down) / (negatives + 1)
  end)
end

return M
