-- Makes losses that a script defines (mr.losses.define) by a smooth metric, or by costs of pairs of rows or of single
-- rows.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local blocks = require "moonrank.losses.list_blocks"
local list_stats = require "moonrank.bounds.list_stats"
local loss = require "moonrank.losses.loss"
local metrics = require "moonrank.metrics.registry"
local shared = require "moonrank.losses.options"
local weighted = require "moonrank.losses.weighted"

local M = {}

local minimized <const> = "costs are minimized"

local definition_options = declare("mr.losses.Definition", {
  "One of",
  { "smooth", "fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor", requires = "direction",
    excludes = { pairs = true, rows = true },
    help = "the smooth metric: one value per list, computed by differentiable operations" },
  { "pairs", "fun(difference: mr.Tensor, pairs: mr.Pairs): mr.Tensor",
    excludes = { rows = true, direction = minimized, exact = minimized },
    help = "the cost of each pair of rows with grades y_i > y_j, from the differences s_i - s_j of their scores; a "
      .. "list's loss is the sum over its pairs. A function of the difference alone may get some pairs at a time" },
  { "rows", "fun(scores: mr.Tensor, relevance: mr.Tensor): mr.Tensor",
    excludes = { direction = minimized, exact = minimized },
    help = "the cost of each row, from its score and its grade; a list's loss is the mean over its rows" },
  "Metric",
  { "direction", "string", choices = { "maximize", "minimize" }, shown = "required with smooth",
    help = "whether larger or smaller values of the smooth metric are better" },
  { "exact", "fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor",
    help = "the exact metric beside `smooth`: one value per list from exact ranks; bounds are computed from it, and it "
      .. "is registered as a metric with the loss's name" },
  { "metric", "string", shown = '`exact`, or none; for pairs "wrong_pairs", for rows "ndcg"',
    help = "name of the metric that mr.evaluate and bounds use" },
})

local pairs_options = declare("mr.losses.DefinedPairsOptions", {}, shared.slope)

-- Returns the exact metric from which the bounds of a script's loss are computed: that of the function `exact`, or else
-- `metric`, if it has the same direction as the loss; or nil.
local function bounds_metric_of(name, definition)
  if definition.exact then return metrics.parse(name) end
  local other = definition.metric and metrics.parse(definition.metric)
  if other and other.minimize == (definition.direction == "minimize") then return other end
end

-- Makes the bound of a loss without an exact metric. Only "none" and functions of the score are possible, because
-- other bounds need the metric's values over all rankings.
local function unknown_bound(name, bound)
  if bound == "none" then return { name = "none", apply = function(score) return score end } end
  if type(bound) ~= "function" then
    check.fail("mr.losses.%s: bound is %s, expected 'none' or a function of the score. A loss defined with `exact` "
      .. "takes every bound", name, tostring(bound))
  end
  return { name = "function", apply = function(score, metric, lists)
    return list_stats.where_counted(metric, lists, score, function(of_counted, part)
      return check.one_per("list", "mr.losses." .. name, bound(of_counted), part.count)
    end)
  end }
end

-- Returns the constructor of a loss whose value is the sum of the costs of a list's pairs of rows.
local function of_pairs(name, definition)
  local metric, cost = definition.metric or "wrong_pairs", definition.pairs
  local function values_of(scores, lists, weights, found)
    if found.count == 0 then return lists:sum(scores * 0) end
    local difference = core.pair_differences(scores, lists, found.better, found.worse, found.lists)
    local costs = check.one_per("pair", "mr.losses." .. name, cost(difference, found), found.count)
    if weights then costs = core.times_slope(costs, weights:rows(found.better)) end
    return found.lists:sum(costs)
  end
  -- A function that gets the pairs, too, may use the row numbers of the whole batch.
  local takes = debug.getinfo(cost, "u")
  local is_elementwise = takes.nparams == 1 and not takes.isvararg
  -- Returns true if costs have derivatives only by the scores, and not also by tensors that the function captured.
  local function is_of_scores(scores)
    local one = cost(scores:detach():narrow(1, 1, 1))
    return check.is_tensor(one) and not one.tracked
  end
  return function(options)
    local o = pairs_options:read("mr.losses." .. name, options)
    local function values(scores, lists, weights)
      if is_elementwise and blocks.are_needed(scores, lists) and is_of_scores(scores) then
        return blocks.values(scores, lists, weights, values_of)
      end
      return values_of(scores, lists, weights, lists:pairs())
    end
    return loss.by_slope({ name = name, metric = metric, of = metric, counted = "wrong_pairs", values = values,
      row_weights = values }, o)
  end
end

-- Returns the constructor of a loss whose value comes from the costs of a list's rows.
local function of_rows(name, definition)
  local metric, cost = definition.metric or "ndcg", definition.rows
  return function(options)
    local o = shared.bound:read("mr.losses." .. name, options)
    o.slope_at = "value"
    local function costs(scores, lists)
      local relevance = lists.relevance:to(scores.dtype):to(scores.device)
      return check.one_per("row", "mr.losses." .. name, cost(scores, relevance), lists.rows)
    end
    return loss.by_slope({ name = name, metric = metric, of = metric, counted = "any", pointwise = true,
      values = function(scores, lists) return lists:mean(costs(scores, lists)) end,
      row_weights = function(scores, lists, weights) return weighted.mean(costs(scores, lists), lists, weights) end,
    }, o)
  end
end

---Returns the function that makes a loss which a script defined, `mr.losses[name]`.
---@return fun(options?: mr.losses.Options): mr.Loss
function M.constructor(name, definition)
  if definition.pairs then return of_pairs(name, definition) end
  if definition.rows then return of_rows(name, definition) end
  local bounds_metric = bounds_metric_of(name, definition)
  -- Metric that decides which lists count in the mean loss: a list counts if an ordering of its rows can change the
  -- metric. Losses without an exact metric use nDCG, with which every list with unequal grades counts.
  local counting = bounds_metric or metrics.parse "ndcg"
  local f, maximize = definition.smooth, definition.direction == "maximize"
  local value = loss.on_counted(counting, function(scores, lists)
    return check.one_per("list", "mr.losses." .. name, f(scores, lists), lists.count)
  end)
  return function(options)
    local bounds = require "moonrank.bounds"
    local given = shared.bound:read("mr.losses." .. name, options).bound
    local bound = bounds_metric and bounds.resolve(given) or unknown_bound(name, given)
    return loss.under({
      name = name, metric = definition.metric or definition.exact and name or false, _bounds_metric = counting,
      _maximize = maximize, _smooth = value, repeats = false,
      _row_weights = "a script defined it as a smooth metric of whole lists",
    }, bound, {})
  end
end

---Checks the arguments of mr.losses.define, and returns the definition with defaults filled in. A name
---of the library's losses is an error; one of the script's own losses can be defined again.
---@param taken "loss"|"own"|false  whose loss has this name already: "loss": the library's, "own": the script's
---@return mr.losses.Definition
function M.checked(name, definition, taken)
  check.new_name("mr.losses.define", name, taken == "loss" and "a loss of the library")
  definition = definition_options:read("mr.losses.define", definition)
  if not (definition.smooth or definition.pairs or definition.rows) then
    check.fail("mr.losses.define: no function is given, expected one of smooth, pairs and rows")
  end
  check.expect(not definition.exact or taken or not metrics.known(name), "mr.losses.define", "name", name,
    "another name for the loss, because `exact` defines a metric of this name, which already exists")
  return definition
end

return M
