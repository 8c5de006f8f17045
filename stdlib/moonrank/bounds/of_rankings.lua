-- Applies bounds to exact metrics of rankings. They need no derivatives, so the distribution function is not smoothed.
local core = require "moonrank.core"
local list_stats = require "moonrank.bounds.list_stats"

local M = {}

-- The options, for core functions, of bounds that are the distribution function with the default smoothing.
local spec_of = setmetatable({}, { __mode = "k" })

---Declares a bound as the distribution function with the default smoothing.
---@param bound mr.Bound
---@param spec userdata  the bound's options, as from core.distribution_spec
function M.declare(bound, spec) spec_of[bound] = spec end

---Returns the bounded values of rankings of several copies of the lists, copy after copy. The distribution function is
---not smoothed if the metric's values can be listed. Other bounds are applied as to a smooth metric.
---@param bound mr.Bound
---@param values mr.Tensor  [copies * lists] float64
---@param metric mr.Metric
---@param lists mr.Lists
---@param copies mr.Lists  the copies of `lists`
---@return mr.Tensor
function M.apply(bound, values, metric, lists, copies)
  local spec = spec_of[bound]
  if not spec or lists.count == 0 or list_stats.of(metric).kind == "estimate" then
    return bound.apply(values, metric, copies)
  end
  return core.distribution_shares(values, lists, metric, spec)
end

return M
