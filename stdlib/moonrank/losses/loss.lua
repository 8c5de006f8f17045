-- The class mr.Loss, and how bounds apply to losses. A bound is applied to the value of a smooth metric. Any other
-- loss is multiplied by the slope of its bound.
local core = require "moonrank.core"
local check = require "moonrank.check"
local combined = require "moonrank.losses.combined"
local data_weights = require "moonrank.data.weights"
local list_stats = require "moonrank.bounds.list_stats"
local metrics = require "moonrank.metrics.registry"
local phase = require "moonrank.system.phase"
local smooth = require "moonrank.smooth"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

---A loss: called with scores and lists, it returns one value per list, to be minimized. Losses can be
---added, subtracted, and multiplied or divided by numbers: `mr.losses.ndcg{} + 0.1 * mr.losses.mse{}`
---has, for each list, the sum of the two values. A list counts in the mean of a sum if it counts in at least one of its
---terms. Each term keeps its own bound.
---
---Lists can carry weights (lists:weighted), or a call passes them. The weight of a row multiplies the
---row's term in a sum over rows. In a loss of pairs, it multiplies the pairs in which the row is the
---better one. A mean over all rows is divided by the sum of weights, a mean over the P relevant rows
---by P. Smooth nDCG has gains times weights, also in its ideal DCG. The bounds of a list do not
---depend on weights. The bound of smooth AP, RR or nRBP acts on the value with weights divided by
---their mean over the relevant rows, and this mean multiplies the bounded value. A loss without a
---term per row, such as mr.losses.log_rr, refuses weights of rows. The weights of lists act in means
---only: the values of lists do not contain them.
---@class mr.Loss
---@field name string        name of its constructor, such as "ndcg", or the name given to mr.losses.define
---@field bound_name string  name of its bound
---@field metric string|false  the matching metric for mr.evaluate; false if mr.losses.define got none
---@field repeats boolean    whether the same batch always gives the same values
---@field pointwise boolean  whether each row is compared with its own grade; mr.fit{reduction = "rows"} needs this
---@field options table      options that the loss was made with; bound and metric are objects
local Loss = check.class("mr.Loss")
Loss.repeats, Loss.pointwise, Loss._counts_all = false, false, false
-- function that computes values, first and second derivatives of the loss without its bound; or false. The field must
-- keep its name, because stores of earlier sweeps have digests that contain it.
Loss._curvature = false
Loss._gains = false  -- metric whose gains (the worth of grades) the loss sums up; false if the loss uses no gains
Loss._parameters = false
Loss._unbounded = false  -- function that computes the loss without its bound, if `_smooth` includes the bound
-- function of model and batch that computes what the loss needs besides scores and lists, such as sums over the
-- catalogue; or false
Loss._prepare = false
-- function of a training's interactions that returns the loss's state: an array of tables whose field `value` is a
-- tensor; or false
Loss._states = false
Loss._count_of = false  -- function that counts what the mean loss is over, e.g. pairs; false if it is over lists
Loss._terms = false     -- the terms, if the loss is a sum of losses; otherwise false
-- says how the loss takes weights of rows: true if its function reads them from the lists; or a function of scores,
-- lists and weights; or a text, the reason why the loss does not take them
Loss._row_weights = "it has no rule for them"

local function refuse_arguments(scores, lists)
  local example = ": loss:mean(scores, lists)"
  check.expect(check.is_tensor(scores), "loss", "scores", scores, "a tensor of one score per row" .. example)
  check.expect(false, "loss", "lists", lists, "lists, such as mr.lists{...} or data.lists" .. example)
end

---Raises an error if the lists have weights that the loss does not take.
function M.check_weights(loss, lists)
  if not lists:has_weights() then return end
  for _, term in ipairs(rawget(loss, "_terms") or {}) do M.check_weights(term.loss, lists) end
  local why = loss._row_weights
  if type(why) == "string" and lists.weights then
    check.fail("mr.losses.%s: lists have weights of rows, which this loss does not take: %s. Pass "
      .. "lists:weighted{weights = false}, or another loss", loss.name, why)
  end
  if rawget(loss, "_count_of") then
    check.fail("mr.losses.%s: lists have weights, but means are over pairs. Make the loss with per = 'list'", loss.name)
  end
end

-- Computes the loss of each list without its bound. If the lists have weights of rows, the loss uses them.
local function unbounded(self, scores, lists)
  if not lists:has_weights() then return self._smooth(scores, lists) end
  M.check_weights(self, lists)
  local weights = type(self._row_weights) == "function" and lists:row_weights_like(scores)
  if not weights then return self._smooth(scores, lists) end
  return core.checked_values(self._row_weights(scores, lists, weights), scores)
end
M.unbounded = unbounded

-- Returns values per list, with 0 for lists whose rows all have weight 0. Such lists do not count in means, but a bound
-- may turn their value 0 into another value.
local function without_zero_weights(x, lists)
  local weights = lists:has_weights() and lists:row_weights_like(x)
  return weights and core.times_slope(x, lists:sum(weights):gt(0):to(x.dtype)) or x
end

-- smooth metrics that are a sum over relevant rows, of terms times the rows' weights
local sums_relevant = { ap = true, rr = true, nrbp = true }

-- Returns the mean weight of the relevant rows of each list. The bound of a loss in `sums_relevant` acts on the sum
-- with weights divided by this mean, so that the metric keeps its range. Returns nil for any other loss.
local function mean_weight(self, scores, lists)
  if self.bound_name == "none" or not sums_relevant[self.name] or not lists:has_weights() then return nil end
  local part = lists:relevant_part(1)
  local weights = part:row_weights_like(scores)
  return weights and part:mean(weights)
end

-- Applies the bound to values of the loss without a bound.
function Loss:_bounded(value, lists, scores)
  local weight = mean_weight(self, scores, lists)
  if not weight then return self._apply(value, self._bounds_metric, lists, scores) end
  value = core.times_slope(value, weight:gt(0):where(1 / weight, 0))
  return core.times_slope(self._apply(value, self._bounds_metric, lists, scores), weight)
end

local function values(self, scores, lists)
  local bounded = self:_bounded(unbounded(self, scores, lists), lists, scores)
  return without_zero_weights(self._maximize and -bounded or bounded, lists)
end

---Computes values, first and second derivatives of a loss that multiplies each list's value by the
---slope of its bound (M.by_slope) and declares `derivatives`.
---@param loss mr.Loss
---@param scores mr.Tensor  [rows] float64
---@param lists mr.Lists
---@return mr.Tensor first    [rows] derivatives by each score
---@return mr.Tensor second   [rows] second derivatives by each score alone
---@return mr.Tensor values   [lists] values of the loss
function M.newton(loss, scores, lists)
  M.check_weights(loss, lists)
  local _ <close> = phase.begin("forward", true)
  local value, first, second = loss._curvature(scores, lists)
  value, first, second = value:to(scores.device), first:to(scores.device), second:to(scores.device)
  if loss.bound_name ~= "none" then
    local ones = core.full({ lists.count }, 1, value.dtype, value.device)
    local slopes = lists:spread(loss._apply(ones, loss._bounds_metric, lists, scores))
    first, second = core.times_slope(first, slopes), core.times_slope(second, slopes)
  end
  return first, second, without_zero_weights(loss._apply(value, loss._bounds_metric, lists, scores), lists)
end

-- Computes the loss of each list as if its bound were "none".
local function as_if_unbounded(self, scores, lists)
  local of_rankings = self._unbounded
  local value = of_rankings and of_rankings(scores, lists) or unbounded(self, scores, lists)
  return self._maximize and -value or value
end

combined.install(Loss, values, as_if_unbounded)

---Computes the loss of each list from its rows' scores, to be minimized.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param weights? mr.WeightOptions  replace those of the lists (lists:weighted)
---@return mr.Tensor        [lists]
---Example: `mr.losses.ranknet()(mr.tensor{0, 0}, mr.lists{{1, 0}})   --> {0.69315}  mr.Tensor {1} float32`
---Example: `mr.losses.mse()(mr.tensor{1, 2}, mr.lists{{0, 0}}, {weights = {3, 1}}):item()   --> 1.75`
function Loss:__call(scores, lists, weights)
  if not check.is_tensor(scores) or not check.is_lists(lists) then refuse_arguments(scores, lists) end
  if weights ~= nil then lists = data_weights.with(lists, data_weights.options:read("loss", weights)) end
  local _ <close> = phase.begin("forward", true)
  return values(self, scores, lists)
end

-- Returns a tensor with 1 for each list that counts in the mean loss, and 0 for every other list.
local function flags(self, lists)
  local any
  for _, term in ipairs(rawget(self, "_terms") or { { loss = self } }) do
    local of = term.loss
    if of._counts_all then return lists.sizes:double():gt(0):double():to("cpu") end
    local counted = list_stats.weights(of._bounds_metric, lists, "float64", "cpu")
    any = any and any:maximum(counted) or counted
  end
  return any
end

-- Returns the sum of the weights of the lists that count in the mean loss.
local function weight_of_counted(self, lists)
  M.check_weights(self, lists)
  return (flags(self, lists) * lists:mass(false)):sum():item()
end

---Returns the number of lists that count in the mean loss. Under a bound, a list counts if an ordering
---of its rows can change the metric from which the bound is computed. Without a bound, a list counts if
---its loss can depend on the scores; for losses that are defined at any grades, such as mr.losses.mse,
---every list with rows counts. A loss whose means are over pairs of rows
---(mr.losses.ranknet_all_pairs{per = "pair"}) counts pairs. If the lists have weights, the result is
---the sum of the weights of the lists that count; a list whose rows all have weight 0 does not count.
---@param lists mr.Lists
---@return number
---Example: `mr.losses.ranknet():count(mr.lists{{1, 0}, {1, 1}})   --> 1`
function Loss:count(lists)
  if not check.is_lists(lists) then check.expect(false, "loss:count", "lists", lists, "lists, such as data.lists") end
  if lists:has_weights() then return weight_of_counted(self, lists) end
  local count_of = rawget(self, "_count_of")
  if count_of then return count_of(lists) end
  if rawget(self, "_terms") then return math.tointeger(flags(self, lists):sum():item()) end
  if rawget(self, "_counts_all") then return math.tointeger(lists.sizes:double():gt(0):sum():item()) end
  return list_stats.count(self._bounds_metric, lists)
end

---Computes the mean loss over the lists that count (see `count`). It is 0 if no list counts. With
---weights of lists, it is the sum of weights times losses, divided by the sum of these weights.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param weights? mr.WeightOptions  replace those of the lists (lists:weighted)
---@return mr.Tensor        a single number
---Example: `mr.losses.ranknet():mean(mr.tensor{0, 0, 1}, mr.lists{{1, 0}, {1}}):item()   --> 0.693147`
function Loss:mean(scores, lists, weights)
  if weights ~= nil and check.is_lists(lists) then
    lists = data_weights.with(lists, data_weights.options:read("loss:mean", weights))
  end
  local value = self(scores, lists)
  local counted = self:count(lists)
  return M.times_list_weights(value, lists):sum_over(counted > 0 and counted or 1)
end

---Returns values per list times the weights of lists, if the lists have such weights. A list of weight
---0 gets 0, even if its value is infinite.
---@param x mr.Tensor  [lists]
function M.times_list_weights(x, lists)
  local weights = lists:has_weights() and lists:list_weights_like(x)
  return weights and core.times_slope(x, weights) or x
end

---Returns the loss's own parameters, which mr.fit trains together with the model's. Only few losses
---have parameters, such as mr.losses.ordinal{learn = true}.
---@return mr.Tensor[]
---Example: `#mr.losses.ndcg():parameters()   --> 0`
function Loss:parameters() return { table.unpack(self._parameters or {}) } end

function Loss:__tostring() return ("%s loss, bound %s"):format(self.name, self.bound_name) end

local no_values <const> = core.tensor({}, "float32", "cpu")

---Wraps a function of scores and lists, so that it gets only lists for which an ordering can change the metric. All
---other lists have the value 0 and no gradient, so that a 0/0 cannot enter it. Relevance has the dtype of the scores.
---@param f fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor
---@return fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor
function M.on_counted(metric, f)
  return function(scores, lists)
    local same = lists:to(scores.dtype)
    local counted = list_stats.counted(metric, same, scores.device)
    if #counted == same.count then return f(scores, same) end
    -- checks all scores here, because `f` gets only some of the lists and would name the wrong entry for a NaN
    core.checked_values(no_values, scores)
    if #counted == 0 then return smooth.nrbp_loss(scores, same) * 0 end
    local numbers = counted:to("cpu")
    local some = core.distinct_rows(scores, same:rows_of(numbers):to(scores.device))
    return core.put_rows(f(some, same:select(numbers)), counted, same.count)
  end
end

---Returns two functions of a loss: one computes the loss of each list, the other the number of
---lists that count in the mean. The loss may be an object of a script.
---@param are_checked boolean  whether a loss of the library may take its arguments without checks
---@return fun(loss: mr.Loss, scores: mr.Tensor, lists: mr.Lists): mr.Tensor
---@return fun(loss: mr.Loss, lists: mr.Lists): integer
function M.functions(loss, are_checked)
  if are_checked and getmetatable(loss) == Loss then return values, check.inner(loss.count) end
  return function(of, scores, lists) return of(scores, lists) end, loss.count
end

-- Returns a function that applies a bound to a loss. Sampled lists get the bound of their whole lists.
local function applied(bound)
  if bound.name == "none" then return bound.apply end
  return function(score, metric, lists)
    local whole = whole_lists.of(lists)
    local value = whole and whole:bounded(bound, score, metric) or bound.apply(score, metric, lists)
    return list_stats.with_gradient(bound, score, value)
  end
end

---Makes a loss (mr.Loss) from the table of its fields. The field `_apply` is a function that applies the
---bound to the values of lists without a bound; without this field, `bound` is applied to them.
---@param fields table   fields of the object, such as `name`, `metric` and `_smooth`
---@param bound mr.Bound
---@param options table  options that identify the loss, as in a checkpoint; gets the field `bound`
---@return mr.Loss
function M.under(fields, bound, options)
  options.bound = bound
  fields.bound_name, fields.options = bound.name, options
  if fields.repeats == nil then fields.repeats = bound.repeats end
  fields._apply = fields._apply or applied(bound)
  return setmetatable(fields, Loss)
end

local function slopes(bound, of, lists, score, at)
  local value = at == "value" and not bound.affine and of(score:detach(), lists) or nil
  return bound:_slopes(of, lists, { dtype = score.dtype, device = score.device, at = value })
end

---Describes a loss that is multiplied by the slope of its bound, for M.by_slope.
---@class mr.losses.Values
---@field name string
---@field metric string    the matching metric for mr.evaluate
---@field values fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor
---@field of string|mr.Metric       metric whose bounds are used
---@field counted? string|mr.Metric metric that decides which lists count without a bound; "any": all lists with rows
---@field gains? mr.Metric          metric whose gains of grades the loss sums
---@field pointwise? boolean        every row is compared with its own grade; only affine bounds are allowed
---@field repeats? boolean          false: the same batch can give different values
---@field parameters? mr.Tensor[]|false  parameters that training updates together with the model's
---@field derivatives? fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor, mr.Tensor, mr.Tensor
---   values [lists], first and second derivatives [rows], for trees
---@field row_weights? true|string|fun(scores: mr.Tensor, lists: mr.Lists, weights: mr.Tensor): mr.Tensor
---   true: `values` reads weights of rows from the lists; a function: used instead of `values`; text: why not

---Makes a loss whose value for a list is multiplied by the slope of a bound at that list.
---@param what mr.losses.Values
---@param options table  options that identify the loss, including those of mr.losses.SlopeOptions
function M.by_slope(what, options)
  local bounds = require "moonrank.bounds"
  local where = "mr.losses." .. what.name
  local bound, none = bounds.resolve(options.bound), bounds.resolve "none"
  if what.pointwise and not bound.affine then
    local names = {}
    for i, line in ipairs(core.affine_bounds()) do names[i] = line.name end
    table.sort(names)
    check.fail("%s: bound is '%s', expected an affine bound (%s), because this loss compares single rows and does not "
      .. "depend on a ranking", where, bound.name, table.concat(names, ", "))
  end
  local of = metrics.parse(what.of)
  local counted = bound == none and what.counted or of
  return M.under({
    name = what.name, metric = what.metric, pointwise = what.pointwise or false, repeats = what.repeats,
    _maximize = false, _counts_all = counted == "any",
    _curvature = what.derivatives or false, _parameters = what.parameters or false,
    _bounds_metric = counted ~= "any" and metrics.parse(counted) or of, _smooth = what.values,
    _gains = what.gains or false, _row_weights = what.row_weights,
    _apply = function(value, _, lists, scores)
      if bound == none then return value end
      return core.times_slope(value, slopes(bound, of, lists, scores, options.slope_at))
    end,
  }, bound, options)
end

return M
