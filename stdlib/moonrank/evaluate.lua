-- Several metrics of one scoring: the ranking is made once and shared.
local core = require "moonrank.core"
local check = require "moonrank.check"
local list_stats = require "moonrank.bounds.list_stats"
local metric = require "moonrank.metrics.registry"
local phase = require "moonrank.phase"
local seen = require "moonrank.data.seen"
local tables = require "moonrank.table"

local M = {}

---@class mr.Evaluation
---@field mean table<string, number>      over the lists that count
---@field counted table<string, integer>  how many lists that are
---@field skipped table<string, integer>  how many are left out: no relevant row and empty = "skip", or nothing to compare (NaN)
---@field count integer                   number of lists
---@field names string[]                  the metrics in order; each is also a field: one value per list, NaN where it is left out
---@field metrics mr.Metric[]             the same with their options
---@field ids string[]|false             names of the lists, where a run was evaluated
---@field candidates string|false          what was ranked, where that is not all rows of given lists
---@field users mr.Tensor|false            of fold:evaluate: the user of each list
---@field part string|false                and the part of the fold, "test" or "valid"
---@field data string|false                and the fingerprint of this part
local Evaluation = check.exact_all("mr.Evaluation:", {})
Evaluation.__index = function(self, name)
  local own = rawget(Evaluation, name) or rawget(self, metric.our_name(name))
  if own ~= nil then return own end
  check.unknown("metric in this evaluation", name, { table.unpack(self.names) })
end

-- A metric under an affine bound, with what add_column and the rankings ask of one.
local Bounded = check.class("mr.BoundedMetric")
function Bounded:ranking(...) return self.metric:ranking(...) end
function Bounded:check_gains(lists) return self.metric:check_gains(lists) end
function Bounded:ranking_key(few) return self.metric:ranking_key(few) end
function Bounded:better(a, b) return self.metric:better(a, b) end

-- NaN where no ordering of the list can matter: such a list is as near to the best as to the worst.
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
  check.unknown("affine bound", name, known)
end

-- {"ndcg@10", bound = "minmax"}, or the name that this gets, "ndcg@10[minmax]"
local function bounded(where, given, options)
  for key in pairs(given) do
    if key ~= 1 and key ~= "bound" then check.unknown("field of a metric under a bound", key, { "1", "bound" }) end
  end
  if given[1] == nil or given.bound == nil then
    local missing = given[1] == nil and "the name" or "bound"
    check.fail("%s: a table among the metrics is {name, bound = name}, and %s is missing", where, missing)
  end
  local inner = type(given[1]) == "string" and metric.parse(given[1], metric.taken(given[1], options)) or metric.parse(given[1])
  return setmetatable({ metric = inner, line = line_of(given.bound), name = ("%s[%s]"):format(inner.name, given.bound), empty = "skip",
    options = inner.options, minimize = inner.minimize }, Bounded)
end

-- A metric from whatever names it.
local function metric_of(where, given, options)
  if M.is_bounded(given) then return given end
  if type(given) == "table" then return bounded(where, given, options) end
  if type(given) ~= "string" then return metric.parse(given) end
  local inner, bound = given:match "^(.-)%[([^%[%]]*)%]$"
  if inner then return bounded(where, { inner, bound = bound }, options) end
  return metric.parse(given, metric.taken(given, options))
end

---The metrics of these names, or an error where one or an option is not known, before work begins.
---@param names (string|mr.Metric|table)[]
---@param options? table  as in mr.evaluate
---@param where? string   function name for messages
---@return (mr.Metric|mr.BoundedMetric)[]
function M.metrics_of(names, options, where)
  where = where or "mr.evaluate"
  if type(names) ~= "table" then check.fail("%s: a table of metrics expected, got a %s", where, type(names)) end
  check.sequence(where, "the list of metrics", names,
    'one metric gets options as mr.metrics.rr{ties = "worst"}; mr.evaluate takes options of all metrics after the list')
  local none = check.none
  local o = check.options(where, options, { ties = none, empty = none, relevant = none, gain = none, denominator = none })
  local metrics = {}
  for i, name in ipairs(names) do metrics[i] = metric_of(where, name, o) end
  return metrics
end

local function add_column(result, each, values)
  local name = each.name
  if rawget(result, name) ~= nil or Evaluation[name] ~= nil then
    check.fail("mr.evaluate: there is a '%s' already; another name is given by mr.metrics.parse(text, {name = ...})", name)
  end
  local mean, _, counted, skipped = core.summary(values)
  if each.empty == "nan" and skipped > 0 then mean = 0 / 0 end
  result.names[#result.names + 1], result[name] = name, values
  result.mean[name], result.counted[name], result.skipped[name] = mean, counted, skipped
end

-- Raises where these are not scores and lists, and says what gives them.
local function check_given(scores, lists)
  if not check.is_tensor(scores) then
    local meta = type(scores) == "table" and getmetatable(scores)
    local model = meta and check.field(scores, "parameters") and meta.__call
    check.fail("mr.evaluate: scores is a %s, expected a tensor of one score per row%s", model and "model" or meta and rawget(meta, "__name")
      or type(scores), model and ", as model(batch) gives; fold:evaluate(model, metrics) takes a model" or "")
  end
  if check.is_lists(lists) then return end
  local meta = type(lists) == "table" and getmetatable(lists)
  local fold = type(lists) == "table" and check.field(lists, "train")
  local has = type(lists) == "table" and check.field(lists, "lists")
  check.fail("mr.evaluate: lists is a %s, expected lists%s", meta and rawget(meta, "__name") or type(lists),
    fold and ": fold.test.lists" or has and ": data.lists" or ", as mr.lists{...} and data.lists are")
end

---Evaluates scores by several metrics. `{"ndcg", bound = "expectation"}` among them is one under an affine bound: how far above a random ranking,
---or how near to the best possible, each list is; it is named "ndcg[expectation]", and lists on which no ordering can matter are left out.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param names (string|mr.Metric|table)[]  e.g. {"ndcg", "ndcg@5", "ap", "nrbp(0.95)", "rr", {"ap", bound = "minmax"}}
---@param options? { ties?: string, empty?: string, relevant?: number, gain?: string, denominator?: string }  as in mr.metrics.Options; each
---   for the named metrics that take it
---@return mr.Evaluation
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {"rr"}).mean.rr   --> 0.5`
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {{"rr", bound = "minmax"}}).mean["rr[minmax]"]   --> 0.25`
function M.evaluate(scores, lists, names, options)
  check_given(scores, lists)
  seen.note("other", lists)
  return M.measure(scores, lists, names, options)
end

---The same of data that a trial has noted already.
function M.measure(scores, lists, names, options)
  local result = M.measure_by(scores, lists, M.metrics_of(names, options))
  result._lists = lists  -- what they are, for who compares
  return result
end

---The same by metrics of `metrics_of`, without a hold on the lists: those of a block are let go. `few`: relevant rows are few among many.
function M.measure_by(scores, lists, metrics, few)
  local _ <close> = phase.begin("evaluation", true)
  local rankings = {}
  return M.of_values(lists.count, metrics, function(each)
    local key = each:ranking_key(few)
    rankings[key] = rankings[key] or each:ranking(scores, lists, few)
    return each:of_ranking(rankings[key], lists, each.empty)
  end)
end

---An evaluation of what a function gives for each metric.
---@param count integer  number of lists
---@param metrics mr.Metric[]
---@param values_of fun(metric: mr.Metric, number: integer): mr.Tensor  one value per list
---@return mr.Evaluation
function M.of_values(count, metrics, values_of)
  local result = { count = count, names = {}, metrics = metrics, candidates = false, users = false, part = false, data = false,
    ids = false }
  for _, field in ipairs{ "mean", "counted", "skipped" } do result[field] = metric.by_any_name{} end
  for i, each in ipairs(metrics) do add_column(result, each, values_of(each, i)) end
  for _, field in ipairs{ "mean", "counted", "skipped" } do metric.by_any_name(result[field], "this evaluation") end
  return setmetatable(result, Evaluation)
end

---One evaluation of lists that were measured in several parts, by the same metrics; on the CPU.
---@param parts mr.Evaluation[]
---@return mr.Evaluation
function M.joined(parts)
  local count = 0
  for _, part in ipairs(parts) do count = count + part.count end
  return M.of_values(count, parts[1].metrics, function(each)
    local columns = {}
    for i, part in ipairs(parts) do columns[i] = part[each.name]:to("cpu") end
    return #columns == 1 and columns[1] or core.cat(columns, 1)
  end)
end

---Whether two metrics measure the same: with the same options, and under the same bound, where they have one.
---@param a mr.Metric
---@param b mr.Metric
---@return boolean
function M.same_metric(a, b)
  local under = getmetatable(a) == Bounded
  if under ~= (getmetatable(b) == Bounded) then return false end
  if under then return a.line.name == b.line.name and M.same_metric(a.metric, b.metric) end
  return a.number == b.number and a.ties == b.ties and a.empty == b.empty and a.relevant == b.relevant
end

---Whether it is a metric under a bound, {"ndcg", bound = "minmax"}.
function M.is_bounded(x) return getmetatable(x) == Bounded end

---Whether it is an evaluation.
function M.is(x) return getmetatable(x) == Evaluation end

-- "gain exp2", or "ties mean (rr, ap), stable (ndcg)" where the metrics differ; nil where none has the option.
local function convention(metrics, option)
  local values, names = {}, {}
  for _, each in ipairs(metrics) do
    local value = each.options[option]
    if value ~= nil then
      value = type(value) == "number" and ("%.14g"):format(value) or value
      if not names[value] then
        values[#values + 1], names[value] = value, {}
      end
      table.insert(names[value], each.name)
    end
  end
  if #values == 0 then return nil end
  if #values > 1 then
    for i, value in ipairs(values) do values[i] = ("%s (%s)"):format(value, table.concat(names[value], ", ")) end
  end
  return option .. " " .. table.concat(values, ", ")
end

---A row per metric: its mean over the lists that count, how many those are, and how many are left out.
---@return mr.Table
---Example: `mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"}):table().rows[1][2]   --> 0.5`
function Evaluation:table()
  local rows = {}
  for i, name in ipairs(self.names) do rows[i] = { name, self.mean[name], self.counted[name], self.skipped[name] } end
  return tables.new{ columns = { "metric", "mean", "lists", "skipped" }, formats = { mean = "%.4f" }, rows = rows }
end

---The table as comma separated values, numbers in full.
---@return string
---Example:
---```lua
---local e = mr.evaluate(mr.tensor{3, 1, 2, 0}, mr.lists{{1, 0, 1, 0}}, {"ap", "rr"})
---e:to_csv():match "[^\n]+"   --> metric,mean,lists,skipped
---```
function Evaluation:to_csv() return self:table():to_csv() end

---The table in LaTeX (packages: booktabs).
---@return string
---Example:
---```lua
---local e = mr.evaluate(mr.tensor{3, 1, 2, 0}, mr.lists{{1, 0, 1, 0}}, {"ap", "rr"})
---e:to_latex():find("tabular", 1, true) ~= nil   --> true
---```
function Evaluation:to_latex() return self:table():to_latex() end

---The table as a JSON array with an object per metric.
---@return string
---Example: `mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"}):to_json()   --> [{"lists":1,"mean":0.5,"metric":"rr","skipped":0}]`
function Evaluation:to_json() return self:table():to_json() end

---How the lists are spread: for each metric the share of lists that are at or below each value. Lists that are left out are not counted.
---@param options? mr.plot.Axes
---@return mr.Figure
---Example: `mr.evaluate(mr.tensor{3, 2, 1, 4}, mr.lists{{0, 1}, {1, 0}}, {"rr", "ap"}):plot().kind   --> ecdf`
function Evaluation:plot(options)
  local o = { xlabel = #self.names == 1 and self.names[1] or "value of the metric", ylabel = "share of lists", series = {} }
  for name, value in pairs(options or {}) do o[name] = value end
  for i, name in ipairs(self.names) do o.series[i] = { name = name, values = self[name]:to("cpu"):double() } end
  return require("moonrank.plot").ecdf(o)
end

---The table, and below it the conventions by which published numbers differ.
function Evaluation:__tostring()
  local said = {}
  for _, option in ipairs{ "ties", "empty", "relevant", "gain", "denominator" } do
    said[#said + 1] = convention(self.metrics, option)
  end
  if self.candidates then table.insert(said, 1, self.candidates) end
  return tostring(self:table()) .. (#said > 0 and "\n" .. table.concat(said, "; ") or "")
end

return M
