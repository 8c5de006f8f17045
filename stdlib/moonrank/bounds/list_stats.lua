-- Chooses where statistics of a metric over all rankings of a list come from: closed forms, or estimates from
-- orders of the list. `of` returns the functions to use for a metric.
local core = require "moonrank.core"
local check = require "moonrank.check"
local estimate = require "moonrank.bounds.estimate"

local M = {}

-- Functions that compute statistics of a metric for bounds. Their results have one value per list of a batch.
-- "Lists that count" are lists for which an ordering of the rows can change the metric.
---@class mr.bounds.Source
---@field kind "closed form"|"estimate"
---@field words string            where the numbers come from, for documentation
---@field relevant integer[]      numbers of relevant rows of the lists that mr.bounds.check makes
---@field weights function             (metric, lists, dtype, device): 1 for lists that count, else 0
---@field count function               (metric, lists): how many lists count
---@field counted function             (metric, lists, device): numbers of the lists that count
---@field table function               (metric, lists, dtype, device, sd): min, max, best, expectation; sd if asked for
---@field affine function              (metric, lists, line, dtype, device): slope and offset; 0 where no order matters
---@field bounded function             (metric, lists, line, score): values under an affine bound
---@field distribution_bound function  (metric, lists, options, spec, score, numbers?): values under such a bound
---@field numbers function             (metric, shape): the result of mr.bounds.of
---@field distribution function        (metric, options, given): the result of mr.bounds.distribution

---@type mr.bounds.Source
local closed_form = {
  kind = "closed form",
  words = "from closed forms",
  relevant = { 1, 2, 5, 20, 100, 500 },
  weights = core.list_weights,
  count = core.count_lists,
  counted = core.counted_lists,
  table = core.bound_table,
  affine = core.affine_bound,
  bounded = function(metric, lists, line, score) return core.affine_bounded(score, metric, lists, line) end,
  distribution_bound = function(metric, lists, _, spec, score, numbers)
    return core.distribution_bound(score, lists, metric, spec, numbers)
  end,
  numbers = function(metric, shape)
    local numbers = core.bound_numbers(metric, shape.n, shape.p, shape.grades)
    numbers.method = "closed form"
    return numbers
  end,
  distribution = function(metric, o)
    return core.distribution(metric, o.n, o.p, o.grades, o.method, o.samples, o.seed, o.beta)
  end,
}

---Returns the functions that compute a metric's statistics over all rankings of a list: from closed
---forms if the metric has them, else by estimates.
---@return mr.bounds.Source
---Example: `require "moonrank.bounds.list_stats".of(mr.metrics.ap{}).kind   --> closed form`
---Example: `require "moonrank.bounds.list_stats".of(mr.metrics.err{}).kind   --> estimate`
function M.of(metric) return metric.closed_forms and closed_form or estimate end

for _, name in ipairs{ "weights", "count", "counted", "affine" } do
  M[name] = function(metric, ...) return M.of(metric)[name](metric, ...) end
end

---Computes one value per list. `f` gets only lists for which an ordering can change the metric, with their scores.
---Other lists get the value 0 and no gradient, so that a 0/0 cannot enter it. `f` is not called if all lists are such
---other lists.
---@param score mr.Tensor  [lists]
---@param f fun(score: mr.Tensor, lists: mr.Lists): mr.Tensor
---@return mr.Tensor  [lists]
function M.where_counted(metric, lists, score, f)
  local counted = M.counted(metric, lists, score.device)
  if #counted == 0 then return score * 0 end
  local value = f(core.distinct_rows(score, counted), lists:select(counted:to("cpu")))
  return core.put_rows(value, counted, lists.count)
end

---Returns a bounded value. Raises an error if the bound loses the gradient of its score, because a loss could then not
---train a model.
---@param bound mr.Bound
---@param score mr.Tensor  [lists]
---@param value mr.Tensor  [lists]
---@return mr.Tensor value
function M.with_gradient(bound, score, value)
  if value.tracked or not score.tracked then return value end
  check.fail_in_call("bound '%s' has no gradient: its values do not depend on the score by operations that have "
    .. "derivatives. Comparisons such as score:gt(0.5), score:item() and score:detach() have none. Replace a jump by a "
    .. "smooth step, such as ((score - 0.5) * 20):sigmoid(), and test the bound with mr.bounds.check", bound.name)
end

return M
