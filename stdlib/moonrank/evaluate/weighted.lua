-- Computes metrics for lists that have weights of rows or weights of lists (lists:weighted), for mr.evaluate.
local check = require "moonrank.check"
local forms = require "moonrank.losses.weighted"
local registry = require "moonrank.metrics.registry"

local M = {}

local function gains_of(metric, lists, weights)
  local grades = lists:to("float64").relevance:to(weights.device)
  return weights * (metric.options.gain == "linear" and grades or 2 ^ grades - 1)
end

-- Returns the lists with new grades, whose gains are the metric's gains times the weights of rows. All gains are scaled
-- so that the smallest gain above 0 is 1, because a row with a smaller gain would not be relevant. Also returns the
-- factor of the scaling.
local function with_gains(metric, lists, weights)
  local gains = gains_of(metric, lists, weights)
  local some = gains:gt(0)
  local least = some:sum():item() > 0 and -(some:where(-gains, -math.huge):max():item()) or 1
  gains = gains / least
  return metric.options.gain == "linear" and lists:with_relevance(gains) or forms.as_grades(lists, weights / least),
    1 / least
end

-- Computes the DCG of lists from a gain for each row, in float64. Grades are float32, so each gain is split into a sum
-- of two grades. The DCGs of both are added, because DCG is linear in gains.
local function exact_dcg(metric, scores, lists, gains)
  local dcg = registry.parse(metric.k and ("dcg@%d"):format(metric.k) or "dcg", { gain = "linear", ties = metric.ties })
  local scale = #gains > 0 and gains:max():item() or 1
  local rest, sum = scale > 0 and gains / scale or gains, 0
  for _ = 1, 2 do
    -- the factor keeps rounding to float32 from exceeding `rest`, so that the remainder is not negative
    local part = (rest * (1 - 2 ^ -24)):float()
    local of = lists:with_relevance(part)
    sum, rest = dcg:of_ranking(dcg:ranking(scores, of), of, "definition") + sum, rest - part:double()
  end
  return sum * (scale > 0 and scale or 1)
end

-- Computes nDCG or DCG of lists in float64 from gains of rows. Where the ideal DCG is 0, the result is that of
-- `values`.
local function exact(metric, scores, lists, gains, values)
  local ideal = exact_dcg(metric, gains, lists, gains)
  local some = ideal:gt(0)
  local dcg = exact_dcg(metric, scores, lists, gains)
  return some:where(metric.base == "dcg" and dcg or dcg / some:where(ideal, 1), values)
end

-- Returns the reason why a metric does not take weights of rows; nil if the metric takes them.
local function refused(metric)
  local base = check.field(metric, "base")
  if not base then return "metrics under a bound, and metrics that a script defines, have no gain of each row" end
  if base ~= "ndcg" and base ~= "dcg" then return "only ndcg and dcg have a gain of each row" end
  if metric.options.gain == "exp2_plus_one" then return "with gain = 'exp2_plus_one' rows of grade 0 have a gain" end
  if metric.relevant ~= 1 then return "its option relevant is not 1" end
end

---Raises an error if the lists have weights of rows and one of the metrics does not take them.
---@param metrics (mr.Metric|mr.BoundedMetric)[]
function M.check(where, metrics, lists)
  if not lists:has_weights() or not lists.weights then return end
  for _, metric in ipairs(metrics) do
    local why = refused(metric)
    if why then
      check.fail("%s: lists have weights of rows, which the metric '%s' does not take: %s. Pass "
        .. "lists:weighted{weights = false}, or other metrics", where, metric.name, why)
    end
  end
end

---Returns ndcg or dcg of each list, in float64, with gains times the weights of rows. A list whose rows all have
---weight 0 has the value NaN, so that it does not count.
---@param metric mr.Metric  one that M.check accepts
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists    with weights of rows
---@return mr.Tensor  [lists]
function M.values(metric, scores, lists)
  local weights = lists.weights:to(scores.device)
  local of, factor = with_gains(metric, lists, weights)
  local values = metric:of_ranking(metric:ranking(scores:double(), of), of, metric.empty)
  if metric.base == "dcg" then values = values / factor end
  -- values under ties = "worst" are not recomputed in float64, because that rule depends on which rows are relevant
  if metric.ties ~= "worst" then
    values = exact(metric, scores:double(), lists, gains_of(metric, lists, weights), values)
  end
  return lists:sum(weights):gt(0):where(values, 0 / 0)
end

---Returns the mean of the values that are not NaN by the weights of their lists; NaN if these weights add up to 0.
---@param values mr.Tensor   [lists]
---@param weights mr.Tensor  [lists]
function M.mean(values, weights)
  values = values:to("cpu"):double()
  local known = values:eq(values)
  local taken = known:double() * weights:to("cpu")
  return (known:where(values, 0) * taken):sum():item() / taken:sum():item()
end

return M
