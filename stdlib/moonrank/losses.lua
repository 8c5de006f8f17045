-- Losses: a smooth metric, bounded, turned so that less is better; and losses over pairs of rows. A loss gives one value per list; lists on
-- which no ordering can matter (no relevant row, only relevant rows, all gains equal, a cut-off that takes in all rows) give 0 and no gradient and are not counted in the mean.
local core = require "moonrank.core"
local check = require "moonrank.check"
local definitions = require "moonrank.definitions"
local list_stats = require "moonrank.bounds.list_stats"
local metrics = require "moonrank.metrics.registry"
local smooth = require "moonrank.smooth"

local M = {}
local defined = {}  -- names that scripts gave, which they may define anew

---@class mr.Loss
---@field name string        "ndcg", "ap", "rr", "nrbp", "lambdarank", "ranknet", or what mr.losses.define was told
---@field bound_name string  how it is bounded
---@field metric string      the metric that goes with it, for mr.evaluate
---@field repeats boolean    whether it does the same with a batch each time
---@field options table      what it was made with, the bound and the metric themselves among it
local Loss = check.class("mr.Loss")
Loss.repeats = false
Loss._gains = false  -- the metric whose gains of grades it adds up

---One value per list, to be minimised.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        [lists]
function Loss:__call(scores, lists)
  local bounded = self._apply(self._smooth(scores, lists), self._bounds_metric, lists)
  return self._maximize and -bounded or bounded
end

---How many of the lists count: those on which an ordering can matter.
---@param lists mr.Lists
---@return integer
function Loss:count(lists) return list_stats.count(self._bounds_metric, lists) end

---Mean over the lists that count; 0 where none does.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        a single number
function Loss:mean(scores, lists)
  return self(scores, lists):sum_over(math.max(1, self:count(lists)))
end

function Loss:__tostring() return ("%s loss, bound %s"):format(self.name, self.bound_name) end

---@class mr.losses.Options
---@field bound? string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor  default "none"
---@field gain? number  gain of the sigmoid (default 1)

-- A loss under a bound. `options` tell it from others of its name, as in a checkpoint.
local function made(fields, bound, options)
  options.bound = bound
  fields.bound_name, fields.options = bound.name, options
  if fields.repeats == nil then fields.repeats = bound.repeats end
  fields._apply = fields._apply or bound.apply
  return setmetatable(fields, Loss)
end

-- The loss of a metric's smooth form; `shown`: the metric that goes with it, where that is another one.
local function new(name, metric, options, shown)
  local bounds = require "moonrank.bounds"
  local o = check.options("mr.losses." .. name, options, { bound = check.none, gain = 1 })
  local bound = bounds.resolve(o.bound or "none")
  metric = metrics.parse(metric)
  return made({
    name = name, metric = shown or metric.name, _bounds_metric = metric, _maximize = not metric.minimize, _gains = metric,
    _smooth = function(scores, lists) return metric:smooth(scores, lists, o.gain) end,
  }, bound, o)
end

---Negative smooth nDCG (Westerborg 2022, Eq. 2.10), bounded. Grades above 1000, whose gains have no sums in double, are an error.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ndcg{bound = "minmax"}.bound_name   --> minmax`
function M.ndcg(options) return new("ndcg", "ndcg", options) end

---Negative smooth AP (Westerborg 2022, Eq. 2.11), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ap().metric   --> ap`
function M.ap(options) return new("ap", "ap", options) end

---Negative smooth RR (Li et al. 2021, Eq. 16), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.rr().name   --> rr`
function M.rr(options) return new("rr", "rr", options) end

---Smooth nRBP loss (Westerborg 2022, Eq. 2.12), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.nrbp().metric   --> nrbp(0.95)`
function M.nrbp(options) return new("nrbp", "nrbp_loss", options, "nrbp(0.95)") end

---@class mr.losses.LambdaOptions
---@field metric? string|mr.Metric  whose change counts: any with `swaps`, as "ndcg@10", "ap", "err", "nrbp(0.9)" (default "ndcg")
---@field p? number     of nrbp and rbp, where the metric's name does not say it (default 0.95)
---@field gain? number  steepness of log(1 + exp(-gain (s_i - s_j))) (default 1)
---@field bound? string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor  default "none"

-- A loss over pairs of rows. A bound multiplies every pair of a list by what a change of `of` is worth under it, its slope.
local function pairwise(name, metric, of, bound, values, options, gains)
  local bounds = require "moonrank.bounds"
  return made({
    name = name, metric = metric, _bounds_metric = of, _maximize = false, _smooth = values, _gains = gains or false,
    _apply = function(value, _, lists)
      if bound == bounds.resolve("none") then return value end
      return value * bounds.slopes(bound, of, lists, { dtype = value.dtype, device = value.device })
    end,
  }, bound, options)
end

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
---list's pairs are multiplied by the bound's slope for the list. (The authors' code takes the gradient through the sigmoid, counts for AP
---only pairs in the wrong order, and multiplies nRBP by 1 - p^P; here it is as in their equations.)
---@param options? mr.losses.LambdaOptions
---@return mr.Loss
---Example: `mr.losses.lambdarank{metric = "nrbp", bound = "minmax"}.metric   --> nrbp(0.95)`
---Example: `mr.losses.lambdarank{metric = "rr"}(mr.tensor{1, 1}, mr.lists{{0, 1}}):item()   --> 0.34657359`
function M.lambdarank(options)
  local where = "mr.losses.lambdarank"
  local o = check.options(where, options, { metric = check.none, p = check.none, gain = 1, bound = check.none })
  local metric = lambda_metric(where, options)
  local bound = require("moonrank.bounds").resolve(o.bound or "none")
  local function values(scores, lists) return core.lambda_loss(scores, lists, metric, o.gain) end
  return pairwise("lambdarank", metric.full_name, metric, bound, values, { metric = metric, gain = o.gain }, metric)
end

---RankNet (Burges et al. 2005): the sum over pairs of rows with grades y_i > y_j of log(1 + exp(-gain (s_i - s_j))). Bounds are those of the
---exact nRBP loss, the number of wrongly ordered pairs of a row of grade 1 or more and another; "minmax" makes it a mean over these pairs.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ranknet()(mr.tensor{1, 1, 1}, mr.lists{{0, 1, 2}}):item() / math.log(2)   --> 3.0`
function M.ranknet(options)
  local o = check.options("mr.losses.ranknet", options, { gain = 1, bound = check.none })
  local bounds = require "moonrank.bounds"
  local bound = bounds.resolve(o.bound or "none")
  local counted = bound == bounds.resolve("none") and "ndcg" or "nrbp_loss"  -- lists whose grades differ; those with a bound
  local function values(scores, lists) return core.ranknet_loss(scores, lists, o.gain) end
  return pairwise("ranknet", "auc", metrics.parse(counted), bound, values, { gain = o.gain })
end

---@class mr.losses.Definition
---@field direction "maximize"|"minimize"  where the smooth metric is better
---@field smooth fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor  one value per list, made of differentiable operations
---@field exact? fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor  the same of exact ranks: what bounds learn its values over all rankings
---   from, and from then on a metric of this name
---@field metric? string  the metric that goes with it, for mr.evaluate and for bounds (default: `exact`, or none)

local function one_per_list(name, value, lists)
  if type(value) ~= "userdata" or value.dims ~= 1 or #value ~= lists.count then
    check.fail("mr.losses.%s: the function returned %s, expected one value per list (%d)", name,
      type(value) == "userdata" and "a tensor of another shape" or "a " .. type(value), lists.count)
  end
  return value
end

-- The script's function, called only with lists that count, so that 0/0 on the others never meets a gradient; they read as the scores' type.
local function on_counted_lists(name, f, metric)
  return function(scores, lists)
    lists = lists:to(scores.dtype)
    local counted = list_stats.counted(metric, lists, scores.device)
    if #counted == lists.count then return one_per_list(name, f(scores, lists), lists) end
    if #counted == 0 then return smooth.nrbp_loss(scores, lists) * 0 end
    local numbers = counted:to("cpu")
    local rows = lists:rows_of(numbers):to(scores.device)
    local part = lists:select(numbers)
    return core.put_rows(one_per_list(name, f(scores:rows(rows), part), part), counted, lists.count)
  end
end

-- The metric over whose rankings bounds are taken, or nil where nothing is known of it.
local function bounds_metric_of(name, definition)
  if definition.exact then return metrics.parse(name) end
  local other = definition.metric and metrics.parse(definition.metric)
  if other and other.minimize == (definition.direction == "minimize") then return other end
end

-- Without knowledge of a metric's values over all rankings its bounds are "none" and functions of the score.
local function unknown_bound(name, bound)
  if bound == "none" then return { name = "none", apply = function(score) return score end } end
  if type(bound) ~= "function" then
    check.fail("mr.losses.%s: bound is %s, expected 'none' or a function of the score; with `exact` it takes every bound", name,
      tostring(bound))
  end
  return { name = "function", apply = function(score, metric, lists)
    return list_stats.where_counted(metric, lists, score, function(of_counted, part) return one_per_list(name, bound(of_counted), part) end)
  end }
end

-- The constructor of a loss that a script defined.
local function constructor(name, definition)
  local bounds_metric = bounds_metric_of(name, definition)
  local counting = bounds_metric or metrics.parse "ndcg"  -- where nothing is known of it, lists whose grades differ
  local value, maximize = on_counted_lists(name, definition.smooth, counting), definition.direction == "maximize"
  return function(options)
    local bounds = require "moonrank.bounds"
    local given = check.options("mr.losses." .. name, options, { bound = check.none }).bound or "none"
    local bound = bounds_metric and bounds.resolve(given) or unknown_bound(name, given)
    return made({
      name = name, metric = definition.metric or definition.exact and name or false, _bounds_metric = counting, _maximize = maximize,
      _smooth = value, repeats = false,
    }, bound, {})
  end
end

local function checked_definition(name, definition)
  if type(name) ~= "string" or not name:match("^[%a_][%w_]*$") then
    check.fail("mr.losses.define: name is %s, expected a word", tostring(name))
  end
  if rawget(M, name) ~= nil and not defined[name] then check.fail("mr.losses.define: there is a loss '%s' already", name) end
  local none = check.none
  definition = check.options("mr.losses.define", definition, { direction = none, smooth = none, exact = none, metric = none })
  check.choice("mr.losses.define", "direction", definition.direction, { "maximize", "minimize" })
  if type(definition.smooth) ~= "function" then
    check.fail("mr.losses.define: smooth is a %s, expected a function of scores and lists", type(definition.smooth))
  end
  if definition.exact ~= nil and type(definition.exact) ~= "function" then
    check.fail("mr.losses.define: exact is a %s, expected a function of ranks and lists", type(definition.exact))
  end
  if definition.exact and not defined[name] and metrics.known(name) then
    check.fail("mr.losses.define: there is a metric '%s' already, and `exact` would be another of that name", name)
  end
  return definition
end

---Makes a new loss from a smooth metric: afterwards `mr.losses[name]{bound =}` builds it. Lists on which no ordering changes the metric
---(where none is known: whose grades are all equal) give 0, do not count, and are left out before the function is called. The lists that the
---functions get read as the type of the scores or ranks beside them. With `exact`, or a `metric` of the same direction, it takes every bound;
---what has no closed form is found from all orders of a list where they are few, else from 20,000 random ones (see mr.bounds.of).
---@param name string
---@param definition mr.losses.Definition
---@return fun(options?: mr.losses.Options): mr.Loss
---Example: `mr.losses.define("top", {direction = "maximize", smooth = function(s, l) return l:sum(s) end})().name   --> top`
function M.define(name, definition)
  definition = checked_definition(name, definition)
  if definition.exact then
    metrics.define(name, definition.exact, definition.direction == "minimize")
  end
  M[name], defined[name] = constructor(name, definition), true
  definitions.note("loss", name, definition)
  return M[name]
end

return M
