-- Losses: a smooth metric, bounded, turned so that less is better. A loss gives one value per list; lists on which no ordering can matter
-- (no relevant row, only relevant rows, all gains equal) give 0 and no gradient and are not counted in the mean.
local check = require "moonrank.check"
local smooth = require "moonrank.smooth"

local M = {}

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

return M
