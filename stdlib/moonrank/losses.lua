-- Losses: a smooth metric, bounded, turned so that less is better. A loss gives one value per list; lists on which no ordering can matter
-- (no relevant row, only relevant rows, all gains equal) give 0 and no gradient and are not counted in the mean.
local core = require "moonrank.core"
local check = require "moonrank.check"
local smooth = require "moonrank.smooth"

local M = {}
local defined = {}  -- names that scripts gave, which they may define anew

---@class mr.Loss
---@field name string        "ndcg", "ap", "rr", "nrbp", or what mr.losses.define was told
---@field bound_name string  how it is bounded
---@field metric string      the metric that goes with it, for mr.evaluate
local Loss = check.class("mr.Loss")

---One value per list, to be minimised.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        [lists]
function Loss:__call(scores, lists)
  local bounded = self._apply(self._smooth(scores, lists, self._options), self._bounds_metric, lists)
  return self._maximize and -bounded or bounded
end

---How many of the lists count: those on which an ordering can matter.
---@param lists mr.Lists
---@return integer
function Loss:count(lists)
  local weights = self._weights(self._bounds_metric, lists)
  return math.tointeger(weights:sum():item())
end

---Mean over the lists that count; 0 where none does.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        a single number
function Loss:mean(scores, lists)
  return self(scores, lists):sum() / math.max(1, self:count(lists))
end

function Loss:__tostring() return ("%s loss, bound %s"):format(self.name, self.bound_name) end

---@class mr.losses.Options
---@field bound? string|mr.Bound|fun(score: mr.Tensor, stats: mr.Stats): mr.Tensor  default "none"
---@field gain? number  gain of the sigmoid (default 1)

local function new(name, metric, bounds_metric, maximize, smooth_metric, options)
  local bounds = require "moonrank.bounds"
  local o = check.options("mr.losses." .. name, options, { bound = check.none, gain = 1 })
  local bound = bounds.resolve(o.bound or "none")
  return setmetatable({
    name = name, bound_name = bound.name, metric = metric, _bounds_metric = bounds_metric, _maximize = maximize,
    _smooth = smooth_metric, _options = { gain = o.gain }, _apply = bound.apply, _weights = bounds.weights,
  }, Loss)
end

---Negative smooth nDCG (Westerborg 2022, Eq. 2.10), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ndcg{bound = "minmax"}.bound_name   --> minmax`
function M.ndcg(options) return new("ndcg", "ndcg", "ndcg", true, smooth.ndcg, options) end

---Negative smooth AP (Westerborg 2022, Eq. 2.11), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.ap().metric   --> ap`
function M.ap(options) return new("ap", "ap", "ap", true, smooth.ap, options) end

---Negative smooth RR (Li et al. 2021, Eq. 16), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.rr().name   --> rr`
function M.rr(options) return new("rr", "rr", "rr", true, smooth.rr, options) end

---Smooth nRBP loss (Westerborg 2022, Eq. 2.12), bounded.
---@param options? mr.losses.Options
---@return mr.Loss
---Example: `mr.losses.nrbp().metric   --> nrbp(0.95)`
function M.nrbp(options) return new("nrbp", "nrbp(0.95)", "nrbp_loss", false, smooth.nrbp_loss, options) end

---@class mr.losses.Definition
---@field direction "maximize"|"minimize"  where the smooth metric is better
---@field smooth fun(scores: mr.Tensor, lists: mr.Lists): mr.Tensor  one value per list, made of differentiable operations
---@field metric? string  the metric that goes with it, for mr.evaluate (default: none)

-- What the script's function and bound make of the lists, as one value per list.
local function evaluated(name, smooth_metric, bound, scores, lists)
  local value = smooth_metric(scores, lists)
  if bound ~= "none" and type(value) == "userdata" then value = bound(value) end
  if type(value) ~= "userdata" or value.dims ~= 1 or #value ~= lists.count then
    check.fail("mr.losses.%s: the function returned %s, expected one value per list (%d)", name,
      type(value) == "userdata" and "a tensor of another shape" or "a " .. type(value), lists.count)
  end
  return value
end

-- The constructor of a loss that a script defined. Without knowledge of its values over all rankings the bounds are "none" and functions of
-- the score. Its function sees only lists whose grades differ, so that 0/0 on the others never meets a gradient.
local function constructor(name, definition)
  return function(options)
    local bounds = require "moonrank.bounds"
    local bound = check.options("mr.losses." .. name, options, { bound = check.none }).bound or "none"
    if bound ~= "none" and type(bound) ~= "function" then
      check.fail("mr.losses.%s: bound is %s, expected 'none' or a function of the score", name, tostring(bound))
    end
    local function value(scores, lists)
      local counted = core.counted_lists("ndcg", lists, scores.device)
      if #counted == lists.count then return evaluated(name, definition.smooth, bound, scores, lists) end
      if #counted == 0 then return smooth.nrbp_loss(scores, lists) * 0 end
      local numbers = counted:to("cpu")
      local rows = lists:rows_of(numbers):to(scores.device)
      local part = evaluated(name, definition.smooth, bound, scores:rows(rows), lists:select(numbers))
      return core.put_rows(part, counted, lists.count)
    end
    return setmetatable({
      name = name, bound_name = bound == "none" and "none" or "function", metric = definition.metric or false, _bounds_metric = "ndcg",
      _maximize = definition.direction == "maximize", _smooth = value, _options = {}, _apply = function(score) return score end,
      _weights = bounds.weights,
    }, Loss)
  end
end

---Makes a new loss from a smooth metric: afterwards `mr.losses[name]{bound =}` builds it. Lists whose grades are all equal give 0,
---do not count, and are left out before the function is called.
---@param name string
---@param definition mr.losses.Definition
---@return fun(options?: { bound?: "none"|fun(score: mr.Tensor): mr.Tensor }): mr.Loss
---Example: `mr.losses.define("top", {direction = "maximize", smooth = function(s, l) return l:sum(s) end})().name   --> top`
function M.define(name, definition)
  if type(name) ~= "string" or not name:match("^[%a_][%w_]*$") then
    check.fail("mr.losses.define: name is %s, expected a word", tostring(name))
  end
  if M[name] ~= nil and not defined[name] then check.fail("mr.losses.define: there is a loss '%s' already", name) end
  local none = check.none
  definition = check.options("mr.losses.define", definition, { direction = none, smooth = none, metric = none })
  check.choice("mr.losses.define", "direction", definition.direction, { "maximize", "minimize" })
  if type(definition.smooth) ~= "function" then
    check.fail("mr.losses.define: smooth is a %s, expected a function of scores and lists", type(definition.smooth))
  end
  M[name], defined[name] = constructor(name, definition), true
  return M[name]
end

return M
