-- Metrics under an affine bound, such as "ndcg@10[minmax]": the bound rescales each list's value.
local core = require "moonrank.core"
local check = require "moonrank.check"
local list_stats = require "moonrank.bounds.list_stats"

local M = {}

-- The class of metrics under an affine bound. It has the fields and methods of mr.Metric that evaluations use.
local Bounded = check.class("mr.BoundedMetric")
function Bounded:ranking(...) return self.metric:ranking(...) end
function Bounded:check_gains(lists) return self.metric:check_gains(lists) end
function Bounded:ranking_key(few) return self.metric:ranking_key(few) end
function Bounded:better(a, b) return self.metric:better(a, b) end

-- Computes the bounded metric of each list from ranked rows. The result is NaN for a list on which no ordering changes
-- the metric, because the best and the worst value are equal.
function Bounded:of_ranking(ranking, lists, _)
  local values = self.metric:of_ranking(ranking, lists, "zero")
  local slope, offset = list_stats.affine(self.metric, lists, self.line, values.dtype, values.device)
  local counts = list_stats.weights(self.metric, lists, values.dtype, values.device)
  return counts:gt(0):where(values * slope + offset, 0 / 0)
end

local function line_of(name)
  local known = {}
  for _, line in ipairs(core.affine_bounds()) do
    if line.name == name then return line end
    known[#known + 1] = line.name
  end
  check.unknown("bound of a metric", name, known)
end

---Returns the metric under an affine bound that `given` stands for: {"ndcg@10", bound = "minmax"}, "ndcg@10:minmax", or
---its name in tables, "ndcg@10[minmax]". Returns nil if `given` is another text, or neither a text nor a table. A
---table of another form and an unknown bound are errors.
---@param where string  function name for error messages
---@param given any
---@param parse fun(name: string|mr.Metric): mr.Metric  returns the metric without the bound
---@return mr.BoundedMetric?
function M.of(where, given, parse)
  local name = type(given) == "string" and given or ""
  local text, bound = name:match "^(.-)%[([^%[%]]*)%]$"
  if not text then text, bound = name:match "^([^:]+):([^:]*)$" end
  if text then given = { text, bound = bound } end
  if type(given) ~= "table" then return nil end
  for key in pairs(given) do
    if key ~= 1 and key ~= "bound" then
      check.fail("%s: a metric under a bound has the field '%s', expected only the metric and bound: "
        .. '{"ndcg", bound = "minmax"}', where, core.safe_text(tostring(key)))
    end
  end
  if given[1] == nil or given.bound == nil then
    local missing = given[1] == nil and "the name" or "bound"
    check.fail("%s: a table among the metrics lacks %s, expected the form {name, bound = name}", where, missing)
  end
  local inner = parse(given[1])
  return setmetatable({
    metric = inner,
    line = line_of(given.bound),
    name = ("%s[%s]"):format(inner.name, given.bound),
    empty = "skip",
    options = inner.options,
    minimize = inner.minimize,
    script = inner.script,
  }, Bounded)
end

---Returns true if `x` is a metric under a bound, as made from {"ndcg", bound = "minmax"}.
---Example: `require("moonrank.evaluate.bounded").is "ndcg"   --> false`
function M.is(x) return getmetatable(x) == Bounded end

---Returns a copy of a metric that results call `name`, such as the name that a user wrote.
---@param metric mr.Metric|mr.BoundedMetric
---Example: `require("moonrank.evaluate.bounded").named(mr.metrics.ap{}, "map").name   --> map`
function M.named(metric, name)
  if not M.is(metric) then return metric:with("name", name) end
  local copy = setmetatable({}, Bounded)
  for field, value in pairs(metric) do copy[field] = value end
  copy.name = name
  return copy
end

---Returns true if two metrics are the same metric with the same options and, if any, the same bound.
---@param a mr.Metric
---@param b mr.Metric
function M.same(a, b)
  if M.is(a) ~= M.is(b) then return false end
  if M.is(a) then return a.line.name == b.line.name and M.same(a.metric, b.metric) end
  return a.number == b.number and a.ties == b.ties and a.empty == b.empty and a.relevant == b.relevant
end

return M
