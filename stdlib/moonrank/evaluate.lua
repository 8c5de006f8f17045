-- mr.evaluate computes several metrics of the same scores. Metrics that rank rows by equal rules share a ranking.
local bounded = require "moonrank.evaluate.bounded"
local core = require "moonrank.core"
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local metric = require "moonrank.metrics.registry"
local phase = require "moonrank.system.phase"
local seen = require "moonrank.data.seen"
local tables = require "moonrank.table"
local weighted = require "moonrank.evaluate.weighted"

local M = { is_bounded = bounded.is, named = bounded.named, same_metric = bounded.same, under_bound = bounded.of }

---Result of mr.evaluate and fold:evaluate: metrics of each list, and their means over lists.
---`mean`, `counted` and `skipped` have one number per metric, by its name.
---@class mr.Evaluation: mr.Exports
---@field mean table<string, number>      mean over the lists that count
---@field counted table<string, integer>  number of lists that count
---@field skipped table<string, integer>  number of lists left out: empty = "skip" without relevant rows, or undefined
---@field count integer                   number of lists
---@field names string[]  names of the metrics in order; each is also a field: one value per list, NaN if left out
---@field metrics mr.Metric[]             the metrics with their options
---@field ids string[]|false             names of the lists, if a run was evaluated
---@field coverage string|false           text: queries that only the run or only the judgments have
---@field candidates string|false          text: what was ranked, unless all rows of given lists were
---@field new_to_training string|false     text: how many users, items or queries training never saw, if known
---@field users mr.Tensor|false            user of each list, from fold:evaluate
---@field part string|false                part of the fold, "test" or "valid", from fold:evaluate
---@field data string|false                data fingerprint of this part, from fold:evaluate
local Evaluation = {}
check.exact_all("mr.Evaluation:", Evaluation, Evaluation)
Evaluation.__index = function(self, name)
  local own = rawget(Evaluation, name) or rawget(self, metric.our_name(name))
  if own ~= nil then return own end
  check.unknown("metric in this evaluation", name, { table.unpack(self.names) })
end

-- Returns the metric that `given` stands for: a name, a metric, or a table with a metric and a bound. `options` apply
-- to a metric that is given by name.
local function metric_of(where, given, options)
  if M.is_bounded(given) then return given end
  local function parse(name)
    return metric.parse(name, type(name) == "string" and metric.taken(name, options) or nil)
  end
  return M.under_bound(where, given, parse) or parse(given)
end

M.check_metrics = arguments{ "metrics", "table", expected = 'a table of metrics, such as {"ndcg@10"}' }

---Returns the metrics that these names or tables stand for. An unknown name or option raises an
---error here, before any metric is computed.
---@param names (string|mr.Metric|table)[]
---@param options? mr.EvaluateOptions
---@param where? string   function name for error messages; default "mr.evaluate"
function M.metrics_of(names, options, where)
  where = where or "mr.evaluate"
  M.check_metrics(where, names)
  check.sequence(where, "the table of metrics", names,
    'one metric gets options as mr.metrics.rr{ties = "worst"}; mr.evaluate takes options of all metrics after it')
  local o = metric.conventions:read(where, options)
  local metrics = {}
  for i, name in ipairs(names) do metrics[i] = metric_of(where, name, o) end
  metric.check_read(where, o, metrics)
  return metrics
end

-- Maps tensors that an evaluation returned (a metric's values per list) and its tables of means to the evaluation.
local evaluations = setmetatable({}, { __mode = "k" })

-- Adds a metric's values per list to an evaluation; `exact` has them in float64 if `values` are rounded to float32.
local function add_column(result, each, values, exact)
  local name = each.name
  check.expect(rawget(result, name) == nil and Evaluation[name] == nil, "mr.evaluate", "the name of a metric", name,
    "a name that is not used yet, as mr.metrics.parse(text, {name = ...}) gives")
  local mean, _, counted, skipped = core.summary(values)
  if result._weights then mean = weighted.mean(exact or values, result._weights) end
  if each.empty == "nan" and skipped > 0 then mean = 0 / 0 end
  result.names[#result.names + 1], result[name] = name, values
  result._exact[name], evaluations[values] = exact or values, result
  result.mean[name], result.counted[name], result.skipped[name] = mean, counted, skipped
end

-- Raises an error, which says what to pass, unless `scores` is a tensor and `lists` is an mr.Lists object.
local function check_given(scores, lists)
  if not check.is_tensor(scores) then
    local meta = type(scores) == "table" and getmetatable(scores)
    local model = meta and check.field(scores, "parameters") and meta.__call
    check.expect(false, "mr.evaluate", "scores", scores, "a tensor of one score per row"
      .. (model and ", as model(batch) gives; fold:evaluate(model, metrics) takes a model" or ""))
  end
  if check.is_lists(lists) then
    return check.length("mr.evaluate", "scores", scores:numel(), lists.rows, "one for each row of the lists")
  end
  local fold = type(lists) == "table" and check.field(lists, "train")
  local has = type(lists) == "table" and check.field(lists, "lists")
  check.expect(false, "mr.evaluate", "lists", lists,
    "lists" .. (fold and ": fold.test.lists" or has and ": data.lists" or ", such as mr.lists{...} or data.lists"))
end

---Evaluates scores by several metrics. `{"ndcg", bound = "expectation"}` among the names, or
---"ndcg:expectation", is a metric under an affine bound, called "ndcg[expectation]" in tables. The
---bound rescales the value of each list: "expectation" divides a value by its mean over random
---rankings. A metric under a bound leaves out lists on which no ordering changes the metric.
---
---If the lists have weights (lists:weighted), means over lists are by the weights of lists. The
---metrics ndcg and dcg multiply the gain of each row by the row's weight; other metrics, and metrics
---under a bound, raise an error if rows have weights. `scores` may also be the scored documents of a
---run (mr.data.trec_run, mr.data.scores). Then `lists` are the judgments (qrels), and options are
---those of mr.ScoredLists:evaluate.
---@param scores mr.Tensor|mr.ScoredLists  [rows]
---@param lists mr.Lists|string|mr.Dataset  for a run: named lists, the path of a qrels file, or a dataset
---@param names (string|mr.Metric|table)[]  e.g. {"ndcg", "ndcg@5", "ap", "nrbp(0.95)", "rr", {"ap", bound = "minmax"}}
---@param options? mr.EvaluateOptions  for the metrics given by name; an option that no metric reads is an error
---@return mr.Evaluation
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {"rr"}).mean.rr   --> 0.5`
---Example:
---local found = mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {{"rr", bound = "minmax"}})
---found.mean["rr[minmax]"]   --> 0.25
function M.evaluate(scores, lists, names, options)
  if require("moonrank.data.scored").is(scores) then return scores:evaluate(lists, names, options) end
  check_given(scores, lists)
  seen.note("other", lists)
  return M.measure(scores, lists, names, options)
end

---Evaluates scores and returns an mr.Evaluation, like mr.evaluate with the same arguments. Does not
---record for the running trial that `lists` were evaluated, because the caller has recorded this.
function M.measure(scores, lists, names, options)
  local result = M.measure_by(scores, lists, M.metrics_of(names, options))
  result._lists = lists  -- mr.compare uses the lists to match evaluations of different systems
  return result
end

-- Returns a metric's values in the dtype of the scores. If this is not float64, also returns them in float64 for
-- comparisons, which rounding could change.
local function values_of(each, ranking, lists)
  if ranking.dtype == "float64" then return each:of_ranking(ranking, lists, each.empty) end
  local exact = each:of_ranking(ranking:double(), lists, each.empty)
  if M.is_bounded(each) then return each:of_ranking(ranking, lists), exact end
  return exact:float(), exact
end

---Evaluates scores by metrics that `metrics_of` returned, and returns an mr.Evaluation. Unlike the
---result of `measure`, this evaluation does not keep the lists, so that large blocks of lists can
---be freed. `few` says that only a small share of the rows is relevant, which allows a faster
---ranking.
function M.measure_by(scores, lists, metrics, few)
  local _ <close> = phase.begin("evaluation", true)
  local rankings, weights = {}, lists:has_weights() and lists:weighted{ weights = false }.list_weights
  local by_rows = lists:has_weights() and lists.weights
  weighted.check("mr.evaluate", metrics, lists)
  return M.of_values(lists.count, metrics, function(each)
    if by_rows then
      local exact = weighted.values(each, scores, lists)
      return exact:to(scores.dtype), exact
    end
    local key = each:ranking_key(few)
    rankings[key] = rankings[key] or each:ranking(scores, lists, few)
    return values_of(each, rankings[key], lists)
  end, weights)
end

---Makes an evaluation. `values_by` is called with each metric and its number in `metrics`, and
---returns the metric's values per list. Means are by `weights`, one per list, if given.
---@param values_by fun(metric: mr.Metric, number: integer): mr.Tensor, mr.Tensor?  values, unrounded float64 values
---@param weights? mr.Tensor
function M.of_values(count, metrics, values_by, weights)
  local result = {
    _exact = {},
    _weights = weights or false,
    count = count,
    names = {},
    metrics = metrics,
    candidates = false,
    users = false,
    part = false,
    data = false,
    ids = false,
    new_to_training = false,
    coverage = false,
  }
  for _, field in ipairs{ "mean", "counted", "skipped" } do result[field] = metric.by_any_name{} end
  for i, each in ipairs(metrics) do add_column(result, each, values_by(each, i)) end
  for _, field in ipairs{ "mean", "counted", "skipped" } do metric.by_any_name(result[field], "this evaluation") end
  evaluations[result.mean] = result
  return setmetatable(result, Evaluation)
end

---Joins evaluations of several parts of the lists into one evaluation, on the CPU. Its lists are
---those of the first part, then of the second part, and so on. All parts must have the same
---metrics.
function M.joined(parts)
  local count = 0
  for _, part in ipairs(parts) do count = count + part.count end
  return M.of_values(count, parts[1].metrics, function(each)
    local columns, exact = {}, {}
    for i, part in ipairs(parts) do
      columns[i], exact[i] = part[each.name]:to("cpu"), M.exact(part, each.name):to("cpu")
    end
    if #columns == 1 then return columns[1], exact[1] end
    return core.cat(columns, 1), core.cat(exact, 1)
  end)
end

---Returns a metric's values per list in float64, before they were rounded to the dtype of the
---scores. Comparisons of systems use these values.
---@param name string  a name in evaluation.names
function M.exact(evaluation, name) return rawget(evaluation, "_exact")[name] end

---Returns the evaluation that a tensor of values per list came from, and the name of the metric in
---it. Returns nil for other values.
---@return mr.Evaluation? evaluation
---@return string? name
function M.of_tensor(values)
  local found = evaluations[values]
  for _, name in ipairs(found and found.names or {}) do
    if rawequal(rawget(found, name), values) then return found, name end
  end
end

---Returns the evaluation whose field `mean` is the table `means`; nil if there is none.
function M.of_means(means)
  local found = evaluations[means]
  return found and rawequal(rawget(found, "mean"), means) and found or nil
end

---Returns a text for each list: the id of its query or user, or the number of a user without an id.
---Returns nil if the lists have neither ids nor users. mr.compare matches the lists of two evaluations
---by these texts.
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

---Copies the results of one metric from the evaluation `from` to the evaluation `into` of the same
---lists.
---@param into mr.Evaluation
---@param from mr.Evaluation
function M.take(into, from, name)
  into[name], into._exact[name] = from[name], M.exact(from, name)
  for _, field in ipairs{ "mean", "counted", "skipped" } do into[field][name] = from[field][name] end
end

---Returns true if `x` is an evaluation, as mr.evaluate returns.
function M.is(x) return getmetatable(x) == Evaluation end

---Returns lines that describe what was ranked: the candidates, the number of users or items that
---training never saw, and the queries that only the run or only the judgments have. A line that the
---evaluation does not have is left out.
function M.about(evaluation)
  local lines = { evaluation.candidates or nil }
  lines[#lines + 1] = evaluation.new_to_training or nil
  lines[#lines + 1] = rawget(evaluation, "coverage") or nil
  return lines
end

---Returns the lines to print below a table of metrics: what was ranked, and the conventions of the
---metrics.
---@param of table  an evaluation, or an object with the same fields `candidates` and `new_to_training`
function M.notes(of, metrics)
  local notes = M.about(of)
  if #metrics > 0 then notes[#notes + 1] = conventions.line(metrics) end
  return notes
end

---Returns the lines below the printed table: what was ranked, unless it was all rows of the given
---lists, and the conventions of the metrics.
---@return string[]
---Example:
---local found = mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"})
---found:notes()[1]   --> gain none; ties mean; empty lists skip; cutoff none; relevant 1
function Evaluation:notes() return M.notes(self, self.metrics) end

---Returns a table with a row per metric: the mean over lists, the number of lists in this mean, and
---the number of lists left out. The printed table ends with the conventions by which published
---numbers differ: gain, ties, empty lists, cutoff. CSV and JSON leave out the conventions.
---@return mr.Table
---Example: `mr.evaluate(mr.tensor{3, 2}, mr.lists{{0, 1}}, {"rr"}):table().rows[1][2]   --> 0.5`
function Evaluation:table()
  local rows = {}
  for i, name in ipairs(self.names) do rows[i] = { name, self.mean[name], self.counted[name], self.skipped[name] } end
  return tables.new{ columns = { "metric", "mean", "lists", "skipped" }, formats = { mean = "%.4f" }, rows = rows,
    notes = self:notes() }
end

local csv_options = declare("mr.EvaluationCsvOptions", {
  { "lists", "boolean", default = false, help = "write a row for each list instead of a row for each metric" },
})

---Returns the evaluation as comma-separated values: by default the mean of each metric, as in `table`
---at full precision. With `lists`, there is a row for each list: the name of its user or query (its
---number if lists have no names), N (its rows), P (its rows with grade 1 or higher), and each metric
---in float64 with the fewest digits that read back as the same number. For an evaluation of a run
---(mr.ScoredLists), N and P count the judged documents of the query. A list that a metric leaves out
---has "nan".
---@param options? mr.EvaluationCsvOptions
---@return string
---Example:
---```lua
---local found = mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {"rr", "ndcg"})
---found:to_csv{lists = true}:gsub("\n", "; ")   --> list,N,P,rr,ndcg; 1,3,1,0.5,0.6309297535714575; , 2
---```
function Evaluation:to_csv(options)
  local where = "evaluation:to_csv"
  local o = csv_options:read(where, require("moonrank.check.calls").export_options(where, options))
  return o.lists and require("moonrank.evaluate.per_list").csv(self, M) or self:table():to_csv()
end

tables.add_exports(Evaluation)

local check_plot = arguments{ "options", "table", required = false }

---Plots the distribution of each metric over lists (the share of lists at or below each value) and
---returns the figure. Lists that the mean leaves out are not plotted. `options` replace the
---figure's default options, such as `xlabel`.
---@param options? mr.plot.Axes
---@return mr.Figure
---Example: `mr.evaluate(mr.tensor{3, 2, 1, 4}, mr.lists{{0, 1}, {1, 0}}, {"rr", "ap"}):plot().kind   --> ecdf`
function Evaluation:plot(options)
  local o = {
    xlabel = #self.names == 1 and self.names[1] or "value of the metric",
    ylabel = "share of lists",
    series = {},
  }
  check_plot("evaluation:plot", options)
  for name, value in pairs(options or {}) do o[name] = value end
  for i, name in ipairs(self.names) do o.series[i] = { name = name, values = self[name]:to("cpu"):double() } end
  return require("moonrank.plot").ecdf(o)
end

function Evaluation:__tostring() return tostring(self:table()) end

-- Returns the evaluation on one line, for a table or record that contains it.
function Evaluation:__brief()
  local means = {}
  for i, name in ipairs(self.names) do means[i] = ("%s %.4f"):format(name, self.mean[name]) end
  return "mr.Evaluation: " .. table.concat(means, ", ")
end

return M
