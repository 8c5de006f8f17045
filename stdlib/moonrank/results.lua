-- mr.results: reads the trials of a sweep from its store file. It makes tables, best trials, comparisons and figures.
local better = require "moonrank.results.better"
local core = require "moonrank.core"
local check = require "moonrank.check"
local columns = require "moonrank.results.columns"
local compare = require "moonrank.results.compare"
local conventions = require "moonrank.results.conventions"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local left_out = require "moonrank.results.left_out"
local metrics = require "moonrank.metrics.registry"
local paths = require "moonrank.system.paths"
local tables = require "moonrank.table"
local stores = require "moonrank.sweep.store"
local pivot = require "moonrank.results.pivot"
local record = require("moonrank.record").new
local text = require "moonrank.results.text"

local M = {}

local directions = { "maximize", "minimize" }

local direction_options = declare("mr.results.DirectionOptions", {
  { "direction", "string", choices = directions, shown = "that of the number's name",
    help = "which values are better" },
})

local over_options = declare("mr.results.OverOptions", {
  { "over", "string|string[]", shown = "none", help = "parameters to take means over, such as fold" },
})

local where_options = declare("mr.results.WhereOptions", {
  { "where", "table<string, any>", default = {}, shown = "all trials",
    help = 'only trials with these values: {fold = 1, loss = {"ndcg", "ap"}}' },
})

local value_options = declare("mr.results.ValueOptions", {
  { "value", "string", default = "value", shown = "the study's number", help = "name of the number" },
}, where_options)

---The trials of a study in a store, as mr.sweep and mr.results return it. Its methods make tables,
---comparisons and figures of the numbers that trials returned.
---@class mr.Results: mr.Exports
---@field path string   path of the store
---@field name string   name of the study
---@field study table   the study's row in the store: space, sampler, seed, direction, metric, data, created
local Results = check.class("mr.Results")

local function names_of(store) return store:columns("SELECT name FROM studies ORDER BY name").name end

local check_path = arguments{ "path", "string", expected = "the name of a store" }

---Opens the results of a sweep: the trials of one study in a store file, finished or still running.
---`path` is the `store` of mr.sweep, and `name` its `name`. Reading does not disturb a sweep that is
---writing to the store.
---
---From there to a table:
---
---- `results:pivot{rows = "loss", columns = "lr"}` has the mean of the study's number by parameters.
---- `results:best("loss", {over = "fold"})` has the best settings of each loss by their mean over
---  folds, with every number that the trials returned.
---- `results:compare{by = "loss", lists = true, over = "fold"}` tests losses against each other.
---- `results:trials()` has a row for each trial, with its parameters, numbers and state.
---
---`where = {loss = "ap"}` takes some of the trials, and `value = "ndcg"` another number than the
---study's. A table prints itself, `to_csv`, `to_markdown` and `to_latex` return it as text, and
---`rows` and `columns` are its contents. `results:columns()` has arrays for computations of your own.
---@param path string
---@param name? string  name of the study; required if the store has several studies
---@return mr.Results
---Example:
---```lua
---local store = os.tmpname()
---os.remove(store)
---mr.sweep{name = "rates", store = store, workers = 0, progress = false, direction = "minimize",
---  space = {rate = mr.choice{0.1, 0.5}, fold = mr.range(1, 2)},
---  run = function(trial) return {error = trial.rate + trial.fold} end}
---local results = mr.results(store)
---local means = results:pivot{rows = "rate", format = "%.2f"}
---local best = results:best("rate", {over = "fold"})
---os.remove(store)
---results:counts().done, means.rows[2][2], #best.rows   --> 4, 2.0, 2
---```
function M.results(path, name)
  check_path("mr.results", path)
  local store = stores.open(path, "read")
  local names = names_of(store)
  if name == nil and #names == 1 then name = names[1] end
  if name == nil then
    check.expect(false, "mr.results", "name", name, "the name of one of the %d studies (%s)", #names,
      table.concat(names, ", "))
  end
  local study = store:study(name)
  if not study then check.unknown("study in " .. path, name, names) end
  return setmetatable({ path = path, name = name, study = study, _store = store, _data = {} }, Results)
end

---Returns the trials in `states` (default: done) as columns, for computations of your own.
---`columns:column("lr")` is the array of the parameter lr. Its entry i belongs to trial i of
---`columns.count`. Returned numbers, such as "ndcg", and fields of trials, such as "wall", are
---columns, too.
---@param states? string[]
---@return mr.results.Columns
---Example:
---```lua
---local store = os.tmpname()
---os.remove(store)
---local study = mr.sweep{name = "rates", store = store, workers = 0, progress = false,
---  metric = "error", direction = "minimize", space = {lr = mr.choice{0.1, 0.5}},
---  run = function(trial) return {error = 2 * trial.lr} end}
---local columns = study:columns()
---local lr, found = columns:column("lr"), columns:column("error")
---os.remove(store)
---columns.count, lr[2], found[2]   --> 2, 0.5, 1.0
---```
function Results:columns(states)
  states = states or { "done" }
  local key = table.concat(states, " ")
  self._data[key] = self._data[key] or columns.load(self._store, self.study, states)
  return self._data[key]
end

---Reads the store again, to see new trials of a sweep that is still running. Returns the same
---object, with the new trials.
---@return mr.Results
function Results:refresh()
  -- the open store may be an outdated copy of the file: open the file again
  if self._store:note() or stores.is_exclusive(self.path) then
    local store = stores.open(self.path, "read")
    self._store:close()
    self._store = store
  end
  self._data = {}
  return self
end

---Copies the store with all its studies as they are at one moment, even while a sweep writes it. A
---sweep can be continued on the copy. The copy is written completely or not at all. It is an error
---if the file `path` exists.
---@param path string
function Results:copy(path)
  check.path("results:copy", path)
  check.expect(not core.file_exists(path), "results:copy", "path", path, "the name of a new file")
  self._store:copy(path)
end

---Adds the study to a journal of Optuna: a file that `optuna-dashboard journal.log` shows, and that
---`optuna.storages.JournalStorage(JournalFileBackend("journal.log"))` loads in Python. Trials that
---have ended are added with their parameters, value, times and state, and with the reported values
---of the study's metric (or of the only reported number). A killed trial has failed there, and so
---has a trial without a value. Other returned numbers, the trial's number and its seed are
---attributes of the trial. Lines are only added: later calls add the trials that have ended since,
---and a journal may have several studies. With the option `optuna`, mr.sweep does this while it
---runs, and also adds trials as they begin and their reports as they come. An existing file that is
---not a journal is an error, and so is a journal in which another sweep or program has a study of
---this name.
---@param path string
---@return integer added  number of trials
---Example:
---```lua
---local store, journal = os.tmpname(), os.tmpname()
---os.remove(store)
---os.remove(journal)
---local study = mr.sweep{name = "rates", store = store, workers = 0, progress = false,
---  space = {rate = mr.choice{0.1, 0.5}}, run = function(trial) return trial.rate end}
---study:to_optuna(journal), study:to_optuna(journal)   --> 2, 0
---```
function Results:to_optuna(path)
  check.path("results:to_optuna", path)
  paths.check("results:to_optuna", "new file", path)
  local journal <close> = require("moonrank.sweep.optuna").open("results:to_optuna", path, self._store, self.study)
  return journal:add()
end

---Returns the number of the study's trials in each state, by the name of the state, such as "done". The
---table is nil at a state without trials.
---@return table<string, integer>
function Results:counts()
  local counts = {}
  local sql = "SELECT state, count(*) AS n FROM trials WHERE study = ?1 GROUP BY state"
  for _, row in ipairs(self._store:rows(sql, self.study.id)) do counts[row.state] = row.n end
  return counts
end

local trials_options = declare("mr.results.TrialsOptions", {
  { "states", "string[]", default = text.states, shown = "all", help = "only trials in these states",
    accept = left_out.are_states, expected = left_out.states_text },
  { "columns", "string[]", shown = "all", help = "columns of the table" },
}, where_options)

---Returns a table with a row for each trial: its number, state, parameters, value, other returned
---numbers, seconds, and why the trial failed or ended early. A number that a trial returned as NaN is
---shown as nan. A number that the trial did not return is blank.
---@param options? mr.results.TrialsOptions
---@return mr.Table
function Results:trials(options)
  local o = trials_options:read("results:trials", options)
  local data = self:columns(o.states)
  local names = o.columns
  -- a returned number may have the name "value", like the column of the study's metric
  names = names or columns.united{ { "number", "state" }, data.params, { "value" }, data:numbers(),
    { "wall", "reason" } }
  local shown, rows = {}, {}
  for i, name in ipairs(names) do shown[i] = data:shown("results:trials", name) end
  local chosen = data:_wanted_rows("results:trials", o.where)
  for _, row in ipairs(chosen) do
    local line = {}
    for c in ipairs(names) do line[c] = shown[c][row] end
    rows[#rows + 1] = line
  end
  return conventions.below(self, better.note(self, data, tables.new{ columns = names, rows = rows }), data, chosen, nil,
    left_out.note(self, "results:trials", o.where, o.states))
end

local pivot_options = declare("mr.PivotOptions", {
  { "rows", "string|string[]", required_without = "columns", help = "parameters with a row for each of their values" },
  { "columns", "string|string[]", help = "parameters with a column for each of their values" },
  { "aggregate", "string|fun(values: number[]): number", default = "mean", choices = check.names(pivot.aggregates),
    help = "how the numbers of a cell's trials are combined" },
  { "format", "string", help = 'format of the numbers, as "%.4f"' },
}, value_options)

---Returns a pivot table of the completed trials: one number per combination of parameters. Lines
---below the table say how many trials are left out, and whether cells have unequal numbers of
---trials. A cell in which a trial returned NaN is nan, except for the aggregate "count", which
---counts that trial. A function as aggregate gets the NaN among its values.
---@param options mr.PivotOptions
---@return mr.Table
function Results:pivot(options)
  local o = pivot_options:read("results:pivot", options)
  local data, where = self:columns(), "results:pivot"
  local rows = left_out.finished(self, where, o.where)
  local note, made = left_out.note(self, where, o.where), pivot.make(data, o)
  if o.aggregate ~= "count" and o.aggregate ~= "sd" then
    better.note(self, data, made, #pivot.names_of(where, "rows", o.rows) + 1, o.value)
  end
  return conventions.below(self, made, data, rows, { o.value }, note)
end

-- Returns the trial in one row of `data` as a record with its parameters and returned numbers.
local function trial_at(data, row)
  local function value(name) return data:_column("results", name)[row] end
  local trial = record("trial", { number = value "number", params = {}, numbers = {}, value = value "value" }, nil,
    { "value", "seed", "wall" })
  for _, name in ipairs(data.params) do trial.params[name] = value(name) end
  for _, name in ipairs(data:numbers()) do trial.numbers[name] = value(name) end
  trial.seed, trial.wall = value "seed", value "wall"
  return trial
end

local best_options = declare("mr.results.BestOptions", {
  { "value", "string", default = "value", shown = "the study's number", formerly = "on", renamed = 2,
    help = "name of the number by which trials are chosen" },
}, direction_options, over_options, where_options)

---Returns the best trial: a table with its `params`, `numbers` (what it returned), `value`, `seed`
---and `wall` (seconds). With parameters in `by` or the option `over`, it returns an mr.Table
---instead. The table has the best trial of each group of trials with equal values of the parameters
---in `by`, and every number that this trial returned. Without `by` and `over`, it is an error if no
---completed trial has the number that chooses.
---
---Trials are chosen by the study's metric or by the number named in `value`, in the direction of that
---number. A line below a table says so if this is not the study's metric. With `value = "valid_ndcg"`,
---the table shows the test value of the trial that is best on validation. With `over = "fold"`,
---combinations of the other parameters are chosen by their mean over folds, and the table shows
---means. Trials of the same fold are averaged first, so that every fold counts once. Combinations
---completed on fewer folds than other combinations are left out, and a line below the table says so.
---
---A trial or combination is never chosen if the number that chooses is NaN. For combinations, a line
---below the table says how many have NaN. If another number of the chosen trial or combination
---contains a NaN, an mr.Table shows it as nan, and the table `numbers` lacks it.
---@param by? string|string[]
---@param options? mr.results.BestOptions
---@return table|mr.Table
function Results:best(by, options)
  local o = best_options:read("results:best", options)
  local data, rows = self:columns(), left_out.finished(self, "results:best", o.where)
  if by == nil and not o.over then
    local ordered = self:order(data, rows, o.value, o.direction)
    check.not_empty("results:best", ("the set of finished trials of '%s' in %s%s with the number '%s'"):format(
      self.name, self.path, next(o.where) and " that fit `where`" or "", o.value), ordered, "trial")
    return trial_at(data, ordered[1])
  end
  local choose, names = require "moonrank.results.choose", pivot.names_of("results:best", "by", by)
  local made, over
  if o.over then
    over = pivot.names_of("results:best", "over", o.over)
    made = choose.make(data, names, over, rows, o.value, self:sign(o.value, o.direction))
  else
    made = choose.single(data, names, rows, function(group) return self:order(data, group, o.value, o.direction)[1] end)
  end
  made.notes[#made.notes + 1] = better.chosen_by(self, o.value, over)
  return conventions.below(self, better.note(self, data, made), data, rows, nil,
    left_out.note(self, "results:best", o.where))
end

---Returns a trial's values of a metric for each list, in float64. The name "list" gives the numbers of
---the lists' users or queries. These numbers are known if the trial returned them, or if its values
---come from mr.fit or an evaluation. A trial without values per list, and an unknown name, are errors.
---@param number integer  number of the trial
---@param name? string    name of the metric (default: the only one with values per list, or the study's)
---@return mr.Tensor
function Results:per_list(number, name)
  local found = self._store:columns([[SELECT l.name, l.scores FROM lists l JOIN trials t ON t.id = l.trial
    WHERE t.study = ?1 AND t.number = ?2 ORDER BY l.name]], self.study.id, number)
  check.expect(#found.name > 0, "results:per_list", "number", number, "that of a trial that returned values per list")
  local own = {}
  for _, each in ipairs(found.name) do own[#own + 1] = each ~= "list" and each or nil end
  name = name or #own == 1 and own[1] or text.metric_of(self.study)
  for i, each in ipairs(found.name) do
    if each == name or each == metrics.our_name(name) then return core.float64_tensor(found.scores[i]) end
  end
  check.unknown(("values per list of trial %d"):format(number), name, found.name)
end

---Returns, for each list of a trial, the number of its user or query. Returns nil if the store has
---no such numbers for the trial, or no such trial.
---@param number integer  number of the trial
---@return number[]?
function Results:list_ids(number)
  local found = self._store:columns([[SELECT l.scores FROM lists l JOIN trials t ON t.id = l.trial
    WHERE t.study = ?1 AND t.number = ?2 AND l.name = 'list']], self.study.id, number).scores
  return found[1] and core.float64_tensor(found[1]):totable() or nil
end

---Returns the values that a trial reported during training and the steps at which it reported them,
---by name of the value. The result is an empty table if there are none.
---@param number integer  number of the trial
---@return table<string, { steps: integer[], values: number[] }>
function Results:reports(number)
  local curves = {}
  for _, row in ipairs(self._store:rows([[SELECT r.name, r.step, r.value FROM reports r JOIN trials t ON t.id = r.trial
      WHERE t.study = ?1 AND t.number = ?2 ORDER BY r.name, r.step]], self.study.id, number)) do
    local curve = curves[row.name] or { steps = {}, values = {} }
    curves[row.name] = curve
    curve.steps[#curve.steps + 1], curve.values[#curve.values + 1] = row.step, row.value or 0 / 0
  end
  return curves
end

local check_sign = arguments({ "name", "string", expected = "the name of a column: results:sign(\"value\")" },
  { "direction", "string", choices = directions, required = false })

---Returns 1 if higher values of a column are better, and -1 if lower values are better. The study's
---metric has the study's direction. For other columns, the direction follows from the column's
---name.
---@param name string
---@param direction? string  "maximize" or "minimize", used instead; required if no direction is known
---@return integer
function Results:sign(name, direction)
  check_sign("results:sign", name, direction)
  local own = direction or better.direction(self, name)
  check.expect(own, "results", "direction", own, '"maximize" or "minimize", because it is not known for \'%s\'', name)
  return own == "minimize" and -1 or 1
end

---Returns the data sets that a trial used, with their fingerprints: train, valid and test data of
---mr.fit, and other data that the trial read or evaluated. The array is empty for trials of old
---program versions, which did not record data, and for an unknown number.
---@param number integer  number of the trial
---@return mr.data.Entry[]
function Results:data(number)
  local found = self._store:data(self.study, number)[number]
  return found and found.entries or {}
end

---Returns the indices `rows` of trials in `data`, sorted by a number that the trials returned, the
---best first. Trials that did not return this number, or returned NaN, are left out.
---@param data mr.results.Columns
---@param rows integer[]
---@param value? string      name of the number (default: the study's)
---@param direction? string  "maximize" or "minimize" (default: that of the number's name)
---@return integer[]
function Results:order(data, rows, value, direction)
  local column, sign = data:_column("results", value or "value"), self:sign(value or "value", direction)
  local order = {}
  for _, row in ipairs(rows) do
    if column[row] then order[#order + 1] = row end
  end
  table.sort(order, function(a, b)
    if column[a] ~= column[b] then return sign * column[a] > sign * column[b] end
    return a < b
  end)
  return order
end

---Returns the values that all trials reported under a name. The result maps the number of each trial
---that reported to an array of {step =, value =}, in the order of steps.
---@param name string
---@return table<integer, { step: integer, value: number }[]>
function Results:reported(name) return self._store:reports(self.study, name) end

local compare_options = declare("mr.results.CompareOptions", {
  { "by", "string", required = true, expected = "the name of a parameter",
    help = "parameter whose values are compared" },
  { "test", "string", default = "wilcoxon", choices = check.names(compare.tests), help = "test of pairs" },
  { "correction", "string", default = "holm", choices = check.names(compare.corrections),
    help = "correction of p for testing several pairs of values" },
  { "lists", "boolean", default = false,
    help = "pair users or queries instead of trials, by the values per list that trials returned" },
}, over_options, value_options)

---Tests every two values of a parameter against each other. Pairs are trials that agree in all
---other parameters, e.g. in fold and seed. Trials that agree in all parameters are averaged first,
---and a line below the table says so. If a trial returned NaN, the mean over its parameter value,
---the difference and p are nan. The option `where` can leave such trials out.
---
---With `lists`, pairs are users or queries. A user or query in several trials or lists counts once,
---with the mean of its values. A user or query whose mean is NaN for one of the two parameter values
---is left out of the pairs, the means and the test. If values per list are not from mr.fit or an
---evaluation, trials must also return the numbers of the users or queries:
---per_list = {ndcg = ..., list = ...}.
---
---With `over = "fold"`, pairs are folds, or with `lists` the users or queries of all folds. Each value
---of the parameter is represented by its best combination of the other parameters, chosen by the mean
---of the study's metric over folds. A line below the table names these parameters and the metric.
---@param options mr.results.CompareOptions
---@return mr.Table
function Results:compare(options)
  return compare.make(self, compare_options:read("results:compare", options))
end

local importance_options = declare("mr.ImportanceOptions", {
  { "step", "integer", least = 0, shown = "the number at the end",
    help = "use the number reported at this step, in every trial that reached it, also in pruned trials" },
  { "trees", "integer", default = 32, least = 1, help = "number of regression trees" },
  { "leaf", "integer", least = 1, shown = "one per hundred trials, 1 to 5",
    help = "smallest number of trials in a leaf" },
  { "seed", "integer", default = 1, help = "seed of the trials that each tree draws" },
}, value_options)

---Estimates how much each parameter, and each pair of parameters, matters: its share of the
---variance of a number over the search space. The shares come from a forest of regression trees
---(functional analysis of variance, Hutter, Hoos and Leyton-Brown 2014).
---
---Combinations of parameters are weighted as in the search space: logarithmic parameters by the
---logarithm, integers and choices equally (choices that no trial had do not count). A tree's means
---over all other parameters are exact. Shares are means over trees, and `sd` is their standard
---deviation. A conditional parameter has no effect where it does not apply. Pruned trials are left
---out, because their numbers are from fewer steps, unless `step` compares all trials at one step.
---It is an error if there are fewer than 10 trials or fewer than two per parameter, or if the
---number is the same in all trials.
---@param options? mr.ImportanceOptions
---@return mr.Importance
function Results:importance(options)
  return require("moonrank.results.importance").make(self, importance_options:read("results:importance", options))
end

---Draws the number that trials returned (option `value`) against the values of the parameter `name`:
---points for a numeric parameter, otherwise bars of means with standard deviations. All completed
---trials that returned a finite number count, whatever their other parameters are, unless the option
---`where` leaves them out.
---@param name string
---@param options? mr.results.ValueOptions
---@return mr.Figure
function Results:marginal(name, options)
  return require("moonrank.results.pictures").marginal(self, name, value_options:read("results:marginal", options))
end

local curves_options = declare("mr.results.CurvesOptions", {
  { "value", "string", shown = "the study's number", help = "name under which trials reported" },
  { "by", "string", shown = "the best trials one by one",
    help = "parameter: each curve is the mean over the trials with one of its values" },
  { "states", "string[]", default = { "done", "pruned" }, help = "only trials in these states",
    accept = left_out.are_states, expected = left_out.states_text },
}, where_options)

---Draws the values that trials reported at each step: means for each value of the parameter `by`, or
---one by one those of the 12 best trials by the study's number. It is an error if no trial that is
---drawn has reported such values.
---@param options? mr.results.CurvesOptions
---@return mr.Figure
function Results:curves(options)
  return require("moonrank.results.pictures").curves(self, curves_options:read("results:curves", options))
end

local parallel_options = declare("mr.results.ParallelOptions", {
  { "trials", "integer", least = 1, shown = "all", help = "draw only this many of the completed trials, the best" },
}, value_options, direction_options)

---Draws combinations of parameters in parallel coordinates. Each parameter has an axis with its own
---scale, linear or logarithmic, and the returned number has an axis. Each completed trial with a
---finite number is a line, coloured by this number, with the best tenth on top. Pruned, failed and
---killed trials are lines that end before the number's axis; each of these states has a look of its
---own in the legend. With the option `trials`, they are left out. A line passes an axis at "none"
---if the parameter does not apply to the trial.
---@param options? mr.results.ParallelOptions
---@return mr.Figure
function Results:parallel(options)
  return require("moonrank.results.pictures").parallel(self, parallel_options:read("results:parallel", options))
end

---Returns a table of all trials, like `results:trials()`.
---@return mr.Table
function Results:table() return self:trials() end

tables.add_exports(Results)

function Results:__tostring()
  local note = self._store:note()
  return core.safe_text(("mr.Results '%s' in %s: %s"):format(self.name, self.path, text.counts(self:counts())))
    .. (note and "\n(" .. note .. ")" or "")
end

---Returns a text about each study in a store: its best trials, and why trials failed. The command
---`moonrank results store.db` prints this text.
---@param path string
---@return string
function M.text(path)
  local store = stores.open(path, "read")
  return text.of(path, names_of(store), M.results, store:note())
end

M.Results = Results
return M
