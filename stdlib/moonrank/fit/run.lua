-- Runs (mr.Run), the results of mr.fit: the history of a training and the epochs that metrics chose, with methods that
-- print and export them. Only the functions `add`, `resume`, `stop` and `finish` of this module change a run.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local evaluate = require "moonrank.evaluate"
local choices = require "moonrank.fit.choice"
local frame = require "moonrank.sweep.frame"
local tables = require "moonrank.table"
local registry = require "moonrank.metrics.registry"
local record = require("moonrank.record").new

local M = {}

---Results of one epoch of a training.
---@class mr.Epoch
---@field epoch integer
---@field loss number          training loss: mean over the lists that count, while parameters changed
---@field valid_loss? number   loss on the part that chooses, after the epoch
---@field metrics table<string, number>  metrics on the part that chooses, by name; empty if the epoch was not validated

---Makes the record of one epoch in a history from its fields (mr.Epoch), and returns it. The
---record's metrics are filled in when the epoch is validated.
function M.epoch(entry)
  registry.by_any_name(entry.metrics, ("epoch %d"):format(entry.epoch))
  return record("epoch", entry, nil, { "valid_loss" })
end

---Results of the epochs of a training.
---@class mr.History: mr.Exports
---@field [integer] mr.Epoch   the epochs in order
local History = { __name = "mr.History" }
check.exact_all("mr.History:", History, History)
-- Maps a history to what is printed below its table: the metric objects by name, and texts about the part of the data
-- that chooses the epoch, such as which items are ranked.
local shown_of = setmetatable({}, { __mode = "k" })

---Result of mr.fit.
---@class mr.Run: mr.Exports
---@field best? mr.Epoch                    the epoch whose parameters the model has now
---@field history mr.History                losses and metrics of every epoch
---@field choices mr.Choice[]               epochs chosen by the metrics of `select`, in order; the first is run.best
---@field test? mr.Evaluation               metrics on test; those of `select` at the epoch that each chose
---@field scores? table<string, mr.Tensor>  per metric, one value per test list
---@field interrupted boolean               whether Ctrl-C ended training; then there is no test
---@field stopped string|boolean            why training ended early: "patience" or "each_epoch"; else false
---@field resumed integer                   the epoch of the checkpoint from which training resumed, or 0
---@field metrics table<string, mr.Metric|mr.BoundedMetric>  the metrics, by name
---@field data table<string, string>        fingerprints of train, valid and test
---@field chosen_on string                  what chose `best`: "valid", "test" or "last epoch" (also in `choices`)
---@field replayed integer                  number of epochs that the GPU replayed from a recording of an earlier epoch
---@field name string                       the option `name` of mr.fit
local Run = check.class "mr.Run"
-- these fields may be absent, which is not an error
for _, name in ipairs{ "best", "test", "scores" } do Run["get_" .. name] = function() end end

---Makes an empty run for a training that has not begun.
function M.new(plan)
  local selection, metrics, chosen = plan.selection, registry.by_any_name{}, {}
  for _, list in ipairs{ selection.measured, selection.on_test } do
    for _, each in ipairs(list) do metrics[each.name] = each end
  end
  for i, each in ipairs(selection.data and selection.metrics or {}) do chosen[i] = choices.new(each, selection.part) end
  local history = setmetatable({}, History)
  shown_of[history] = { metrics = metrics, facts = plan.facts or {} }
  return setmetatable({
    name = plan.name, history = history, choices = chosen, metrics = metrics, data = plan.data,
    chosen_on = selection.data and selection.part or "last epoch", interrupted = false, stopped = false, resumed = 0,
    replayed = 0, _novelty = plan.facts and plan.facts.novelty, _part = selection.part, _model = plan.model,
    _learner = plan.learner,
  }, Run)
end

---Appends an epoch, whose metrics are not computed yet, to the history of a run and returns the epoch.
---@param replayed integer  number of epochs of the run so far that the GPU replayed
function M.add(run, loss, replayed)
  local entry = M.epoch{ epoch = #run.history + 1, loss = loss, metrics = {} }
  run.history[entry.epoch], run.replayed = entry, replayed
  return entry
end

---Fills a new run with the epochs of a checkpoint, from which its training resumes.
---@param stopped string|false  why the training of the checkpoint ended early; false if it did not
function M.resume(run, history, stopped)
  table.move(history, 1, #history, 1, run.history)
  run.resumed, run.stopped = #history, stopped
end

---Records in the run that the training ended early, and why.
---@param why "each_epoch"|"patience"
function M.stop(run, why) run.stopped = why end

---Completes a run at the end of its training: sets the chosen epoch and the metrics on test.
---@param test? mr.Evaluation
function M.finish(run, interrupted, test)
  local chief = run.choices[1]
  run.interrupted, run.test = interrupted, test
  run.best = chief and chief.best or run.history[#run.history]
  run.chosen_on = chief and chief.chosen_on or run.chosen_on
  if not test then return end
  run.scores = registry.by_any_name({}, "the test")
  for _, name in ipairs(test.names) do run.scores[name] = test[name] end
end

-- Returns the sorted names of all metrics in a history, also of metrics that only some epochs have.
local function metric_names(history)
  local names = {}
  for _, entry in ipairs(history) do
    for name in pairs(entry.metrics) do names[name] = true end
  end
  return check.names(names)
end

-- Returns the lines that explain a table of metrics of a history and are printed below the table.
local function notes_of(history, metrics)
  local shown = shown_of[history]
  return #metrics > 0 and evaluate.notes(shown and shown.facts or {}, metrics) or {}
end

---Returns a table with one row per epoch: training loss, validation loss and metrics. Lines below
---the table state the metrics' conventions and, where they are known, the ranked items and the number
---of users, items or queries that are not in train.
---@return mr.Table
---Example:
---```lua
---local model = mr.models.mf{users = 30, items = 90, factors = 2}
---local fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---local run = mr.fit{model = model, loss = mr.losses.ap{}, train = fold.train, valid = fold.valid,
---  optimizer = mr.optim.adam{lr = 0.01}, epochs = 3, metrics = {"ap"}, progress = false}
---#run.history:table().rows   --> 3
---```
function History:table()
  local names, validated = metric_names(self), false
  for _, entry in ipairs(self) do validated = validated or entry.valid_loss ~= nil end
  local columns, formats, rows, shown = { "epoch", "loss" }, { loss = "%.4f" }, {}, {}
  if validated then columns[3], formats.valid_loss = "valid_loss", "%.4f" end
  for _, name in ipairs(names) do
    columns[#columns + 1], formats[name] = name, "%.4f"
    shown[#shown + 1] = shown_of[self] and shown_of[self].metrics[name]
  end
  for i, entry in ipairs(self) do
    rows[i] = { entry.epoch, entry.loss }
    for c = 3, #columns do
      if columns[c] == "valid_loss" then rows[i][c] = entry.valid_loss else rows[i][c] = entry.metrics[columns[c]] end
    end
  end
  return tables.new{ columns = columns, rows = rows, formats = formats, notes = notes_of(self, shown) }
end

---Returns the history as a JSON array with one object per epoch. NaN and infinite numbers are
---written as texts, because JSON has no such numbers.
---@return string
function History:to_json()
  local parts = {}
  for i, entry in ipairs(self) do
    local values = { epoch = entry.epoch, loss = entry.loss, valid_loss = entry.valid_loss }
    parts[i] = ('%s,"metrics":%s}'):format(frame.json_object(values):sub(1, -2), frame.json_object(entry.metrics))
  end
  return "[" .. table.concat(parts, ",\n") .. "]"
end

tables.add_exports(History)

-- Returns a curve of `value_of(entry)` over the epochs where it is not nil; nil if there are none.
local function curve(history, name, value_of)
  local x, y = {}, {}
  for _, entry in ipairs(history) do
    local value = value_of(entry)
    if value ~= nil then
      x[#x + 1], y[#y + 1] = entry.epoch, value
    end
  end
  return #x > 0 and { name = name, x = x, y = y } or nil
end

local run_plot_options = declare("mr.RunPlotOptions", {
  { "title", "string", help = "title above the figure" },
})

local history_plot_options = declare("mr.HistoryPlotOptions", {
  { "vlines", "(number|{ [1]: number, [2]: string })[]", help = "epochs with a vertical line, or {epoch, text}" },
}, run_plot_options)

---Draws learning curves and returns the figure: losses per epoch on the left, metrics per epoch on
---the right. A history without epochs is an error.
---@param options? mr.HistoryPlotOptions
---@return mr.Figure
function History:plot(options)
  local o = history_plot_options:read("history:plot", options)
  check.not_empty("history:plot", "the history", self, "epoch")
  local plot = require "moonrank.plot"
  local losses = { curve(self, "training", function(entry) return entry.loss end) }
  losses[#losses + 1] = curve(self, "validation", function(entry) return entry.valid_loss end)
  local figures = { plot.lines{ series = losses, xlabel = "epoch", ylabel = "loss", vlines = o.vlines } }
  local series = {}
  for _, name in ipairs(metric_names(self)) do
    series[#series + 1] = curve(self, name, function(entry) return entry.metrics[name] end)
  end
  if #series > 0 then
    figures[2] = plot.lines{ series = series, xlabel = "epoch", ylabel = "validation", vlines = o.vlines }
  end
  figures.title, figures.columns = o.title, #figures
  return plot.facets(figures)
end

---Returns the table of the history as text. If the history has more than 20 epochs, the text shows
---only the first 10 and the last 10.
function History:__tostring()
  local whole, most = self:table(), 20
  if #whole.rows <= most then return tostring(whole) end
  local head = setmetatable({}, History)
  shown_of[head] = shown_of[self]
  for i = 1, most // 2 do head[i], head[most // 2 + i] = self[i], self[#self - most // 2 + i] end
  return tostring(head:table()) .. ("\n(%d epochs, of which the first and the last %d)"):format(#self, most // 2)
end

function History.__index(_, name) return rawget(History, name) end

local function ending(self)
  if self.interrupted then return ", interrupted" end
  return self.stopped and (", ended by %s"):format(self.stopped) or ""
end

---Returns a summary of the run as text: the number of epochs, the epochs that metrics chose, and
---the metrics on test. Lines below the summary describe the part that chose the epoch.
function Run:__tostring()
  local lines = { ("%s: %d epochs%s"):format(self.name, #self.history, ending(self)) }
  for _, choice in ipairs(self.choices) do
    if choice.best then lines[#lines + 1] = tostring(choice) end
  end
  if #self.choices == 0 and self.best then
    lines[#lines + 1] = ("epoch %d kept, the last; loss %.4f"):format(self.best.epoch, self.best.loss)
  end
  if self.test then lines[#lines + 1] = "on test:\n" .. tostring(self.test) end
  local chose = {}
  for i, choice in ipairs(self.choices) do chose[i] = choice.metric end
  for _, note in ipairs(notes_of(self.history, chose)) do lines[#lines + 1] = ("%s: %s"):format(self._part, note) end
  return table.concat(lines, "\n")
end

---Loads into the model the parameters of the epoch that the given metric of `select` chose. Returns
---the model. A metric that is not in `select` is an error.
---@param metric string  such as "rr"
---@return mr.Model
function Run:restore(metric)
  local names = {}
  for i, choice in ipairs(self.choices) do
    names[i] = choice.metric.name
    if choice.metric.name == metric or choice.metric.name == registry.our_name(metric) then
      if choice._snapshot then self._learner:restore(choice._snapshot) end
      return self._model
    end
  end
  check.unknown("metric that chose an epoch", metric, names)
end

---Returns a table of the run's history, with one row per epoch: losses and metrics (`run.history:table()`).
---@return mr.Table
function Run:table() return self.history:table() end

-- Returns a text as a JSON string, with quotes and escapes.
local function json_text(text) return (frame.json_object{ x = text }:match '^{"x":(.*)}$') end

---Returns the run as JSON: history, chosen epochs, whether Ctrl-C ended it, mean metrics on test,
---and data fingerprints.
---@return string
function Run:to_json()
  local chosen, test = {}, {}
  for _, choice in ipairs(self.choices) do chosen[choice.metric.name] = choice.best and choice.best.epoch end
  for _, name in ipairs(self.test and self.test.names or {}) do test[name] = self.test.mean[name] end
  local text = '{"name":%s,"interrupted":%s,"chosen_on":%s,"best_epoch":%d,"chosen":%s,"test":%s,"data":%s,'
    .. '"history":%s}'
  return text:format(
    json_text(self.name), self.interrupted, json_text(self.chosen_on), self.best and self.best.epoch or 0,
    frame.json_object(chosen), frame.json_object(test),
    frame.json_object(self.data), self.history:to_json())
end

tables.add_exports(Run)

---Draws the run's learning curves (losses and metrics per epoch), with a vertical line at each
---epoch that a metric chose, and returns the figure.
---@param options? mr.RunPlotOptions
---@return mr.Figure
function Run:plot(options)
  local o = run_plot_options:read("run:plot", options)
  local lines = {}
  for i, choice in ipairs(self.choices) do
    if choice.best then lines[i] = { choice.best.epoch, #self.choices > 1 and choice.metric.name or "chosen" } end
  end
  return self.history:plot{ title = o.title, vlines = #lines > 0 and lines or nil }
end

return M
