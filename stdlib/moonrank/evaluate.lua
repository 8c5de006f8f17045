-- mr.evaluate: computes several metrics of the same scores. The ranking is made once and shared.
local core = require "moonrank.core"
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local list_stats = require "moonrank.bounds.list_stats"
local metric = require "moonrank.metrics.registry"
local phase = require "moonrank.system.phase"
local seen = require "moonrank.data.seen"
local tables = require "moonrank.table"

local M = {}

---@class mr.Evaluation: mr.Exports
---@field mean table<string, number>      mean over the lists that count
---@field counted table<string, integer>  number of lists that count
---@field skipped table<string, integer>  number of lists left out: no relevant row and empty = "skip", or undefined (NaN)
---@field count integer                   number of lists
---@field names string[]                  names of the metrics in order; each is also a field: one value per list, NaN for a list left out
---@field metrics mr.Metric[]             the metrics with their options
---@field ids string[]|false             names of the lists, if a run was evaluated
---@field coverage string|false           text: queries that only the run or only the judgments have
---@field candidates string|false          text: what was ranked, unless all rows of given lists were
---@field new_to_training string|false     text: how many users, items or queries training never saw, if known
---@field users mr.Tensor|false            user of each list, from fold:evaluate
---@field part string|false                part of the fold, "test" or "valid", from fold:evaluate
---@field data string|false                data fingerprint of this part, from fold:evaluate
local Evaluation = check.exact_all("mr.Evaluation:", {})
Evaluation.__index = function(self, name)
  local own = rawget(Evaluation, name) or rawget(self, metric.our_name(name))
  if own ~= nil then return own end
  check.unknown("metric in this evaluation", name, { table.unpack(self.names) })
end

-- A metric under an affine bound, with the fields and methods of mr.Metric that evaluations use.
local Bounded = check.class("mr.BoundedMetric")
function Bounded:ranking(...) return self.metric:ranking(...) end
function Bounded:check_gains(lists) return self.metric:check_gains(lists) end
function Bounded:ranking_key(few) return self.metric:ranking_key(few) end
function Bounded:better(a, b) return self.metric:better(a, b) end

-- Returns NaN for a list on which no ordering can matter, because its best and its worst value are equal.
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

---Returns a metric under an affine bound from {"ndcg@10", bound = "minmax"} or "ndcg@10[minmax]".
---Returns nil if the argument names something else.
---@param where string
---@param given any
---@param parse fun(name: string|mr.Metric): mr.Metric  the metric itself, from its name
---@return mr.BoundedMetric?
function M.under_bound(where, given, parse)
  local text, bound = (type(given) == "string" and given or ""):match "^(.-)%[([^%[%]]*)%]$"
  if text then given = { text, bound = bound } end
  if type(given) ~= "table" then return nil end
  for key in pairs(given) do
    if key ~= 1 and key ~= "bound" then check.unknown("field of a metric under a bound", key, { "1", "bound" }) end
  end
  if given[1] == nil or given.bound == nil then
    local missing = given[1] == nil and "the name" or "bound"
    check.fail("%s: a table among the metrics has the form {name, bound = name}, but %s is missing", where, missing)
  end
  local inner = parse(given[1])
  return setmetatable({ metric = inner, line = line_of(given.bound), name = ("%s[%s]"):format(inner.name, given.bound), empty = "skip",
    options = inner.options, minimize = inner.minimize, script = inner.script }, Bounded)
end

-- Returns a metric from its name, from a metric, or from a table with a bound.
local function metric_of(where, given, options)
  if M.is_bounded(given) then return given end
  local function parse(name)
    if type(name) ~= "string" then return metric.parse(name) end
    return metric.parse(name, metric.taken(name, options))
  end
  return M.under_bound(where, given, parse) or parse(given)
end

---Returns the metrics with these names. An unknown name or option raises an error before any work
---begins.
---@param names (string|mr.Metric|table)[]
---@param options? mr.EvaluateOptions
---@param where? string   function name for messages
---@return (mr.Metric|mr.BoundedMetric)[]
function M.metrics_of(names, options, where)
  where = where or "mr.evaluate"
  if type(names) ~= "table" then
    local written = type(names) == "string" and core.safe_text(names) or "ndcg@10"
    check.fail('%s: metrics is a %s, expected a list. Write {"%s"}', where, type(names), written)
  end
  check.sequence(where, "the list of metrics", names,
    'one metric gets options as mr.metrics.rr{ties = "worst"}; mr.evaluate takes options of all metrics after the list')
  local o = metric.conventions:read(where, options)
  local metrics = {}
  for i, name in ipairs(names) do metrics[i] = metric_of(where, name, o) end
  metric.check_read(where, o, metrics)
  return metrics
end

-- Evaluations, found by the tensor of a metric's values per list and by the table of means.
local evaluations = setmetatable({}, { __mode = "k" })

-- Adds a metric's values per list to an evaluation. `exact`: the values in float64, if `values` are rounded to float32.
local function add_column(result, each, values, exact)
  local name = each.name
  if rawget(result, name) ~= nil or Evaluation[name] ~= nil then
    check.fail("mr.evaluate: the name '%s' is already used. Give the metric another name with mr.metrics.parse(text, "
      .. "{name = ...})", name)
  end
  local mean, _, counted, skipped = core.summary(values)
  if each.empty == "nan" and skipped > 0 then mean = 0 / 0 end
  result.names[#result.names + 1], result[name] = name, values
  result._exact[name], evaluations[values] = exact or values, result
  result.mean[name], result.counted[name], result.skipped[name] = mean, counted, skipped
end

-- Raises an error unless `scores` and `lists` have the right types. The error says what to pass.
local function check_given(scores, lists)
  if not check.is_tensor(scores) then
    local meta = type(scores) == "table" and getmetatable(scores)
    local model = meta and check.field(scores, "parameters") and meta.__call
    check.fail("mr.evaluate: scores is a %s, expected a tensor of one score per row%s",
      model and "model" or check.kind(scores), model and ", as model(batch) gives; fold:evaluate(model, metrics) takes a model" or "")
  end
  if check.is_lists(lists) then return end
  local fold = type(lists) == "table" and check.field(lists, "train")
  local has = type(lists) == "table" and check.field(lists, "lists")
  check.fail("mr.evaluate: lists is a %s, expected lists%s", check.kind(lists),
    fold and ": fold.test.lists" or has and ": data.lists" or ", such as mr.lists{...} or data.lists")
end

---Evaluates scores by several metrics. An entry such as `{"ndcg", bound = "expectation"}` is a
---metric under an affine bound. It tells how far above a random ranking, or how near to the best
---ranking, each list is. Its name is "ndcg[expectation]", and lists on which no ordering can
---matter are left out. `scores` may be the scored documents of a run (mr.data.trec_run,
---mr.data.scores). Pass qrels in place of `lists` then. Options are those of run:evaluate.
---@param scores mr.Tensor|mr.ScoredLists  [rows]
---@param lists mr.Lists|string|mr.Dataset  for a run: named lists, the path of a qrels file, or a dataset
---@param names (string|mr.Metric|table)[]  e.g. {"ndcg", "ndcg@5", "ap", "nrbp(0.95)", "rr", {"ap", bound = "minmax"}}
---@param options? mr.EvaluateOptions  apply to the metrics given by name that take them; an option that no metric reads is an error
---@return mr.Evaluation
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {"rr"}).mean.rr   --> 0.5`
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {{"rr", bound = "minmax"}}).mean["rr[minmax]"]   --> 0.25`
function M.evaluate(scores, lists, names, options)
  if require("moonrank.data.scored").is(scores) then return scores:evaluate(lists, names, options) end
  check_given(scores, lists)
  seen.note("other", lists)
  return M.measure(scores, lists, names, options)
end

---Evaluates scores like mr.evaluate, for lists that a trial has already recorded.
function M.measure(scores, lists, names, options)
  local result = M.measure_by(scores, lists, M.metrics_of(names, options))
  result._lists = lists  -- mr.compare matches evaluations by these lists
  return result
end

-- Returns a metric's values in the dtype of the scores, and in float64. Comparisons use float64, because rounding to
-- float32 may make equal values unequal.
local function values_of(each, ranking, lists)
  if ranking.dtype == "float64" then return each:of_ranking(ranking, lists, each.empty) end
  local exact = each:of_ranking(ranking:double(), lists, each.empty)
  if M.is_bounded(each) then return each:of_ranking(ranking, lists), exact end
  return exact:float(), exact
end

---Evaluates scores like `measure`, by metrics that `metrics_of` returned. The result does not keep
---the lists, so that blocks of lists can be freed. `few`: only a small share of the rows is
---relevant.
function M.measure_by(scores, lists, metrics, few)
  local _ <close> = phase.begin("evaluation", true)
  local rankings = {}
  return M.of_values(lists.count, metrics, function(each)
    local key = each:ranking_key(few)
    rankings[key] = rankings[key] or each:ranking(scores, lists, few)
    return values_of(each, rankings[key], lists)
  end)
end

---Makes an evaluation from the values that a function returns for each metric.
---@param count integer  number of lists
---@param metrics mr.Metric[]
---@param values_by fun(metric: mr.Metric, number: integer): mr.Tensor, mr.Tensor?  one value per list; second, the values in float64 before rounding
---@return mr.Evaluation
function M.of_values(count, metrics, values_by)
  local result = { _exact = {}, count = count, names = {}, metrics = metrics, candidates = false, users = false, part = false, data = false,
    ids = false, new_to_training = false, coverage = false }
  for _, field in ipairs{ "mean", "counted", "skipped" } do result[field] = metric.by_any_name{} end
  for i, each in ipairs(metrics) do add_column(result, each, values_by(each, i)) end
  for _, field in ipairs{ "mean", "counted", "skipped" } do metric.by_any_name(result[field], "this evaluation") end
  evaluations[result.mean] = result
  return setmetatable(result, Evaluation)
end

---Joins evaluations of several parts of the lists into one, on the CPU. All parts have the same
---metrics.
---@param parts mr.Evaluation[]
---@return mr.Evaluation
function M.joined(parts)
  local count = 0
  for _, part in ipairs(parts) do count = count + part.count end
  return M.of_values(count, parts[1].metrics, function(each)
    local columns, exact = {}, {}
    for i, part in ipairs(parts) do columns[i], exact[i] = part[each.name]:to("cpu"), M.exact(part, each.name):to("cpu") end
    if #columns == 1 then return columns[1], exact[1] end
    return core.cat(columns, 1), core.cat(exact, 1)
  end)
end

---Returns a metric's values per list before they were rounded to the scores' type. Comparisons use
---these values.
---@param evaluation mr.Evaluation
---@param name string  as in evaluation.names
---@return mr.Tensor
function M.exact(evaluation, name) return rawget(evaluation, "_exact")[name] end

---Returns the evaluation that a tensor of values per list belongs to, if it is known, and the
---metric's name in it.
---@param values any
---@return mr.Evaluation? evaluation
---@return string? name
function M.of_tensor(values)
  local found = evaluations[values]
  for _, name in ipairs(found and found.names or {}) do
    if rawequal(rawget(found, name), values) then return found, name end
  end
end

---Returns the evaluation whose field `mean` is this table, or nil.
---@param means table
---@return mr.Evaluation?
function M.of_means(means)
  local found = evaluations[means]
  return found and rawequal(rawget(found, "mean"), means) and found or nil
end

---Returns the name of each list's user or query, by which evaluations are matched. Returns nil if
---lists have no names.
---@param evaluation mr.Evaluation
---@return string[]?
function M.units(evaluation)
  local ids, set, lists = rawget(evaluation, "ids"), rawget(evaluation, "_set"), rawget(evaluation, "_lists")
  if ids then return ids end
  local users = evaluation.users or set and set.users
  if users then
    local called, names = set and set.ids and set.ids.users or {}, core.integers(users:to("cpu"))
    for i, user in ipairs(names) do names[i] = called[user] or ("%d"):format(user) end
    return names
  end
  ids = lists and lists.ids or {}
  return #ids > 0 and #ids == evaluation.count and ids or nil
end

---Copies a metric's column from another evaluation of the same lists.
---@param into mr.Evaluation
---@param from mr.Evaluation
---@param name string
function M.take(into, from, name)
  into[name], into._exact[name] = from[name], M.exact(from, name)
  for _, field in ipairs{ "mean", "counted", "skipped" } do into[field][name] = from[field][name] end
end

---Returns true if two metrics are the same metric with the same options and the same bound, if
---any.
---@param a mr.Metric
---@param b mr.Metric
---@return boolean
function M.same_metric(a, b)
  local under = getmetatable(a) == Bounded
  if under ~= (getmetatable(b) == Bounded) then return false end
  if under then return a.line.name == b.line.name and M.same_metric(a.metric, b.metric) end
  return a.number == b.number and a.ties == b.ties and a.empty == b.empty and a.relevant == b.relevant
end

---Returns true if `x` is a metric under a bound, {"ndcg", bound = "minmax"}.
function M.is_bounded(x) return getmetatable(x) == Bounded end

---Returns true if `x` is an evaluation.
function M.is(x) return getmetatable(x) == Evaluation end

---Returns lines that describe what was ranked: the candidates, which of them training never saw,
---and the coverage of a run. The result is empty if none of these is known.
---@param evaluation mr.Evaluation
---@return string[]
function M.about(evaluation)
  local lines = { evaluation.candidates or nil }
  lines[#lines + 1] = evaluation.new_to_training or nil
  lines[#lines + 1] = rawget(evaluation, "coverage") or nil
  return lines
end

---Returns the lines below every table of metrics: those of `about`, and the conventions of the
---metrics.
---@param of table  an evaluation, or an object with the same fields `candidates` and `new_to_training`
---@param metrics mr.Metric[]
---@return string[]
function M.notes(of, metrics)
  local notes = M.about(of)
  if #metrics > 0 then notes[#notes + 1] = conventions.line(metrics) end
  return notes
end

---Returns the lines below the table. They give the conventions of the metrics and, unless all rows
---of the given lists were ranked, what was ranked.
---@return string[]
---Example: `mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"}):notes()[1]   --> gain none; ties mean; empty lists skip; cutoff none; relevant 1`
function Evaluation:notes() return M.notes(self, self.metrics) end

---Returns a table with a row per metric: its mean over the lists that count, their number, and the
---number of lists left out. Below the table stand the conventions by which published numbers
---differ: gain, ties, empty lists, cutoff. CSV and JSON leave the conventions out.
---@return mr.Table
---Example: `mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"}):table().rows[1][2]   --> 0.5`
function Evaluation:table()
  local rows = {}
  for i, name in ipairs(self.names) do rows[i] = { name, self.mean[name], self.counted[name], self.skipped[name] } end
  return tables.new{ columns = { "metric", "mean", "lists", "skipped" }, formats = { mean = "%.4f" }, rows = rows,
    notes = self:notes() }
end

tables.add_exports(Evaluation)

---Plots the distribution of values over lists: for each metric, the share of lists at or below
---each value. Lists that are left out do not count.
---@param options? mr.plot.Axes
---@return mr.Figure
---Example: `mr.evaluate(mr.tensor{3, 2, 1, 4}, mr.lists{{0, 1}, {1, 0}}, {"rr", "ap"}):plot().kind   --> ecdf`
function Evaluation:plot(options)
  local o = { xlabel = #self.names == 1 and self.names[1] or "value of the metric", ylabel = "share of lists", series = {} }
  for name, value in pairs(options or {}) do o[name] = value end
  for i, name in ipairs(self.names) do o.series[i] = { name = name, values = self[name]:to("cpu"):double() } end
  return require("moonrank.plot").ecdf(o)
end

function Evaluation:__tostring() return tostring(self:table()) end

return M
