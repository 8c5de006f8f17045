-- Losses are functions of scores and lists, with one value per list, to be minimized. Some are smooth metrics
-- under a bound, negated if larger values are better. Others are over pairs of rows, single rows or whole lists (their
-- files are in the folder losses/).
-- For losses of a metric or of pairs, a list counts only if its loss can depend on the scores. Under a bound, an
-- ordering of its rows must be able to change the metric, too. Other lists have the value 0 and no gradient, and means
-- leave them out. Examples are lists without relevant rows, with only relevant rows, or with equal gains.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local defined = require "moonrank.losses.defined"
local definitions = require "moonrank.system.definitions"
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}
local own = {}  -- names of losses that scripts defined; scripts may define them again

for _, part in ipairs{ "pairwise", "pointwise", "listwise", "softmax", "partial_auc", "relaxed", "sampled",
  "rankings", "top" } do
  for name, make in pairs(require("moonrank.losses." .. part)) do M[name] = make end
end

local smooth_options = declare("mr.losses.Options", {}, shared.smooth, shared.bound)

-- Returns functions for the smooth form of a metric: of scores and lists, and also of weights of rows.
local function smooth_form(metric, o)
  local compute, of_weights, kernel = core["smooth_" .. metric], weighted[metric], shared.kernel(o)
  local arguments = metric == "ndcg" and { o.steepness, kernel } or { o.steepness, 1, kernel }
  local function value(scores, lists) return compute(scores, lists, table.unpack(arguments)) end
  return value, function(scores, lists, weights) return of_weights(scores, lists, weights, table.unpack(arguments)) end
end

-- Makes the loss `name` from the smooth form of `metric`. `shown` is the name of the metric that evaluates the loss's
-- models, if it is not `metric` itself.
local function new(name, metric, options, shown)
  local bounds = require "moonrank.bounds"
  local o = smooth_options:read("mr.losses." .. name, options)
  local bound = bounds.resolve(o.bound)
  local value, of_weights = smooth_form(metric, o)
  metric = metrics.parse(metric)
  return loss.under({
    name = name, metric = shown or metric.name, _bounds_metric = metric, _maximize = not metric.minimize,
    _gains = metric, _smooth = value, _row_weights = of_weights,
  }, bound, o)
end

---Makes the smooth nDCG loss: negative smooth nDCG (Westerborg 2022, Eq. 2.10), rescaled by
---`bound`. Called with scores and lists, the loss returns one value per list; 0 for a list on which
---no ordering changes nDCG. Grades above 1000 raise an error, because sums of their gains overflow
---a double. With `kernel = "laplace"`, ranks are smooth by the Laplace distribution
---(mr.smooth.rank).
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ndcg{bound = "minmax"}.bound_name   --> minmax`
function M.ndcg(options) return new("ndcg", "ndcg", options) end

local approx_steepness = shared.factor("steepness", 10, "factor inside the sigmoid, called alpha in the paper")
approx_steepness.formerly, approx_steepness.renamed = "alpha", 2

local approx_ndcg_options = declare("mr.losses.ApproxNdcgOptions", { approx_steepness }, shared.bound)

---Makes the ApproxNDCG loss (Qin, Liu & Li 2010). Called with scores and lists, the loss returns
---one value per list. It is smooth nDCG (mr.losses.ndcg) with another default of `steepness`.
---@param options? mr.losses.ApproxNdcgOptions
---@return mr.Loss
---Example: `mr.losses.approx_ndcg{steepness = 2}.options.steepness   --> 2`
function M.approx_ndcg(options)
  local o = approx_ndcg_options:read("mr.losses.approx_ndcg", options)
  return new("approx_ndcg", "ndcg", o)
end

---Makes the smooth AP loss: negative smooth AP (Westerborg 2022, Eq. 2.11), rescaled by `bound`.
---Called with scores and lists, the loss returns one value per list; 0 for a list on which no
---ordering changes AP.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ap().metric   --> ap`
function M.ap(options) return new("ap", "ap", options) end

---Makes the smooth RR loss: negative smooth RR (Li et al. 2021, Eq. 16), rescaled by `bound`.
---Called with scores and lists, the loss returns one value per list; 0 for a list on which no
---ordering changes RR.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.rr().name   --> rr`
function M.rr(options) return new("rr", "rr", options) end

---Makes the smooth nRBP loss (Westerborg 2022, Eq. 2.12): a smooth count of wrongly ordered pairs
---of a relevant row and a row that is not relevant, rescaled by `bound`. Called with scores and
---lists, the loss returns one value per list; 0 for a list in which all rows are relevant, or none
---is.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.nrbp().metric   --> nrbp(0.95)`
function M.nrbp(options) return new("nrbp", "nrbp_loss", options, "nrbp(0.95)") end

local losses = {}  -- names of all losses, of the library and of scripts
for name in pairs(M) do losses[name] = true end

---Defines a loss and returns the function that makes it, which is also `mr.losses[name]`. The
---definition has one function: of lists (`smooth`, a smooth metric), of pairs of rows (`pairs`), or of
---single rows (`rows`). A name of the library's losses is an error; the script may define its own
---name again.
---
---A bound is applied to the value of a smooth metric. A loss of pairs or rows is multiplied by the
---bound's slope for `metric`, as for mr.losses.ranknet and mr.losses.mse. A loss of rows takes only
---affine bounds. If `exact`, or a `metric` of the same direction, is given with `smooth`, the loss takes
---every bound; else only "none" and functions. For metrics without closed forms, such as `exact`,
---bounds are computed from all orders of a list if there are at most 20,000, else from 20,000 random
---orders (see mr.bounds.of).
---
---`smooth` does not receive lists on which no ordering changes this exact metric (without `exact` and
---such a `metric`: lists whose grades are all equal). They have the value 0, and means leave them out.
---Means of a loss of pairs leave out lists whose grades are all equal; means of a loss of rows leave out
---only lists without rows. Under a bound, both also leave out lists on which no ordering changes
---`metric`. Inside the functions, relevance has the dtype of the scores or ranks.
---
---A loss of pairs stores the pairs of unequal grades, 20 bytes for each: those of the batch, or on the
---CPU only of the longest list if there are many. The library's own losses store no pairs.
---@param name string
---@param definition mr.losses.Definition
---@return fun(options?: mr.losses.Options): mr.Loss  mr.losses[name]
---Example:
---mr.losses.define("documented_squared_hinge", {pairs = function(d) return (1 - d):relu()^2 end})
---local loss = mr.losses.documented_squared_hinge{}
---loss(mr.tensor{0.5, 0}, mr.lists{{1, 0}}):item()   --> 0.25
---Example:
---local top = {direction = "maximize", smooth = function(scores, lists) return lists:sum(scores) end}
---mr.losses.define("top", top)().name   --> top
function M.define(name, definition)
  definition = defined.checked(name, definition, own[name] and "own" or rawget(M, name) ~= nil and "loss")
  if definition.exact then
    metrics.define(name, definition.exact, definition.direction == "minimize")
  end
  local was, was_own = rawget(M, name), own[name]
  M[name], own[name], losses[name] = defined.constructor(name, definition), true, true
  definitions.note("loss", name, definition, function() M[name], own[name], losses[name] = was, was_own, was_own end)
  return M[name]
end

---Returns the sorted names of all losses, including those that scripts defined.
---@return string[]
---Example: `mr.losses.names()[1]   --> ap`
function M.names() return check.names(losses) end

---Returns the sorted names of the bounds that the loss `name` takes. The second result has, for
---every other bound, the reason why the loss does not take it. An unknown loss is an error.
---@param name string   name of a loss
---@param options? table  options of the loss other than `bound`
---@return string[]
---@return table<string, string>  reason, by the name of the bound
---Example: `#mr.losses.bounds "ranknet" > #mr.losses.bounds "mse"   --> true`
function M.bounds(name, options)
  if not losses[name] then check.unknown("loss", name, M.names()) end
  -- Raises errors of options other than `bound` here. In the loop below, such an error would be taken for the reason
  -- why a bound is refused.
  M[name](options)
  local taken, why = {}, {}
  for _, bound in ipairs(require("moonrank.bounds").names()) do
    local given = { bound = bound }
    for key, value in pairs(options or {}) do given[key] = given[key] or value end
    local ok, message = check.attempt(M[name], given)
    if ok then
      taken[#taken + 1] = bound
    else
      why[bound] = tostring(message):gsub("^[^:]*:%d+: ", "")
    end
  end
  return taken, why
end

return M
