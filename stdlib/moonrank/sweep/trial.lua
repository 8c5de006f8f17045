-- Runs one trial: makes the object that the trial's function gets, and records how the trial ended.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local code = require "moonrank.sweep.code"
local definitions = require "moonrank.system.definitions"
local outcome_of = require("moonrank.sweep.outcome").of
local random = require "moonrank.tensor.random"
local seen = require "moonrank.data.seen"

local M = {}

---One run of a sweep: mr.sweep passes it to the script's function `run`, which reads the parameters
---from it.
---@class mr.Trial
---@field number integer        from 1
---@field params table          the trial's parameters; each is also a field: trial.lr
---@field seed integer          depends on the study's seed and the number only
---@field attempt integer       1, or more when it is a retry
---@field checkpoint string     folder of this trial, kept if it is interrupted or killed. mr.fit{trial = trial,
---   checkpoint = true} writes its checkpoint there. This file is removed when the trial's result is stored; other
---   files stay
local methods = check.exact_all("mr.Trial:", {})

local own_fields = { number = true, params = true, seed = true, attempt = true, checkpoint = true, report = true }

---Raises an error if one of the parameters' names is the name of a field that every trial has, such as "seed".
---@param names string[]  of all parameters of the space
function M.check_names(names)
  for _, name in ipairs(names) do
    check.expect(not own_fields[name], "mr.sweep", "the name of a parameter", name,
      "another name, because every trial has a field of this name")
  end
end

---Returns the name of the number by which the sweep may prune a trial; nil if the sweep does not prune trials. Records
---`epochs` for the pruner.
---@param trial mr.Trial
---@param epochs? integer  number of epochs that the trial trains
function M.pruned_by(trial, epochs)
  local state = rawget(trial, "_state")
  state.epochs = epochs
  return state.pruner and (state.metric or "value") or nil
end

---Records that mr.fit resumed a trial's training from a checkpoint. The time of the training before the checkpoint then
---counts in the trial's time.
---@param trial mr.Trial  any other value is ignored
function M.resumed(trial)
  local state = type(trial) == "table" and rawget(trial, "_state")
  if state then state.resumed = true end
end

-- Errors that end the trial's function early: `Pruned`, and `Paused` for a trial that waits at a Hyperband rung.
local Pruned = setmetatable({}, {
  __name = "mr.sweep.Pruned",
  __tostring = function() return "the trial was pruned" end,
})
local Paused = setmetatable({}, {
  __name = "mr.sweep.Paused",
  __tostring = function() return "the trial was paused" end,
})

local Trial = { __name = "mr.Trial" }

function Trial.__index(self, name)
  if methods[name] then return methods[name] end
  local state = rawget(self, "_state")
  local value = state.values[name]
  if value ~= nil then return value end
  if name == "checkpoint" then
    core.make_folder(state.folder .. "/x")
    rawset(self, "checkpoint", state.folder)
    return state.folder
  end
  for _, known in ipairs(state.names) do
    -- reading a parameter whose condition does not hold in this trial gives nil
    if known == name then return nil end
  end
  local fields = check.names(own_fields)
  check.unknown("parameter or field of this trial", name, table.move(state.names, 1, #state.names, #fields + 1, fields))
end

local check_report = arguments({ "step", "integer" },
  { "values", "table", expected = "a number or numbers by name" })

local function is_number(value) return type(value) == "number" end

---Reports the trial's values at a step, e.g. after every epoch. The sweep's pruner may end the trial during this call;
---the trial is then marked as pruned. Under hyperband, the trial may pause here, and run again later. If the value of
---the sweep's metric is NaN, the trial fails.
---@param step integer   larger than the step of the previous report
---@param values number|table<string, number>  the value of the sweep's metric, or several values by name
function methods:report(step, values)
  local state = rawget(self, "_state")
  local reports = state.reports
  local metric = state.metric or "value"
  if type(values) == "number" then values = { [metric] = values } end
  check_report("trial:report", step, values)
  local last = #reports > 0 and reports[#reports].step
  check.expect(not last or step > last, "trial:report", "step", step, "more than the step before, %s", last)
  check.by_name("trial:report", "value", values, is_number, "a number")
  local copy = {}
  for name, value in pairs(values) do
    check.utf8("trial:report", "a name", name)
    copy[name] = value + 0.0
  end
  reports[#reports + 1] = { step = step, values = copy }
  if state.on_report then state.on_report(reports[#reports]) end
  local value = copy[metric]
  if value == nil then return end
  if value ~= value then error(("%s is NaN at step %d"):format(metric, step), 0) end
  state.so_far[#state.so_far + 1] = { step = step, value = value }
  if state.pause and step >= state.pause then error(Paused, 0) end
  local progress = { number = self.number, reports = state.so_far, epochs = state.epochs }
  if state.pruner and state.pruner:decide(progress, state.others) then error(Pruned, 0) end
end

-- Returns a record of an error: its message, and the traceback's lines of the script from the trial's function on.
local function script_traceback(message)
  if message == Pruned then return { stopped = "pruned" } end
  if message == Paused then return { stopped = "paused" } end
  local lines, whole = {}, debug.traceback("", 2)
  local start = whole:find "[^\n]*'xpcall'\n[^\n]*stdlib/moonrank/sweep/trial.lua"
  for line in whole:sub(1, (start or 0) - 1):gmatch "[^\n]+" do
    local ours = line:find "^%s*stdlib/" or line:find("[C]", 1, true) or line == "stack traceback:"
    if not ours then lines[#lines + 1] = line:match "^%s*(.*)$" end
  end
  return { text = core.error_text(message), traceback = table.concat(lines, "\n") }
end

local longest_error = 65536  -- largest number of bytes of an error message or traceback that is stored

local function failure(problem)
  -- `problem` is a plain error value if memory ran out, or if script_traceback itself failed.
  local ours = type(problem) == "table" and (problem.stopped or type(problem.text) == "string")
  if not ours then problem = { text = core.error_text(problem) } end
  if problem.stopped then return { state = problem.stopped } end
  if not utf8.len(problem.text) then problem.text = core.safe_text(problem.text, true) end
  if problem.text == "interrupted" then return { state = "interrupted", reason = "Ctrl-C" } end
  local traceback = problem.traceback and problem.traceback:sub(1, longest_error)
  return { state = "failed", reason = problem.text:sub(1, longest_error), traceback = traceback }
end

local function finished(result, context)
  local ok, outcome = pcall(outcome_of, result, context)
  return ok and outcome or { state = "failed", reason = core.error_text(outcome) }
end

---@class mr.sweep.Job
---@field number integer
---@field seed integer
---@field params table<string, any>
---@field attempt integer
---@field folder string    the trial's folder, for checkpoints
---@field pause? integer   step at which the trial pauses (hyperband)

---@class mr.sweep.Context
---@field run fun(trial: mr.Trial): any
---@field space mr.sweep.Space
---@field metric? string
---@field direction string
---@field assumed boolean   true if the script gave neither a metric nor a direction
---@field pruner? mr.sweep.Pruner
---@field others mr.sweep.Progress[]  ended trials with which the pruner compares a trial
---@field on_report? fun(report: table)  is called with each report of the trial

-- Makes the object that the trial's function gets as its argument. Also returns the object's internal state.
local function trial_of(context, job)
  local state = {
    values = context.space:values(job.params), names = context.space:names(), metric = context.metric,
    pruner = context.pruner, others = context.others, folder = job.folder, pause = context.pruner and job.pause,
    on_report = context.on_report, reports = {}, so_far = {},
  }
  local trial = { number = job.number, seed = job.seed, attempt = job.attempt, params = job.params, _state = state }
  return setmetatable(trial, Trial), state
end

---Runs a trial up to a point. Returns the data that it used until then (`data`), and why it failed before that point
---(`problem`), or nil. What the trial writes by print and io.write is discarded.
---@param stop "fit"|"any"  "fit": it ends at the call of mr.fit, and without this call it runs to its end; "any": it
---  ends at mr.fit or at the first use of data elsewhere, whichever comes first
---@return mr.data.Entry[] data, string? problem
function M.data_of(context, job, stop)
  local quiet = { run = context.run, space = context.space, metric = context.metric, others = {} }
  local was_print, was_write = print, io.write
  rawset(_G, "print", function() end)
  rawset(io, "write", function() return io.stdout end)
  seen.begin(stop)
  code.watch()
  local ok, message = pcall(function()
    local _ <close> = random.scope(job.seed, "trial")
    definitions.within_trial(context.run, (trial_of(quiet, job)))
  end)
  local entries = seen.finish()
  code.loaded()
  rawset(_G, "print", was_print)
  rawset(io, "write", was_write)
  if not ok and tostring(message) == "interrupted" then error(message, 0) end
  return entries, not ok and not seen.is_enough(message) and tostring(message) or nil
end

---Runs one trial to its end, and returns its outcome: state, result or error, reports, time and data. An error of the
---trial's function is not raised, but gives the state "failed".
---@return table outcome
function M.run(context, job)
  local trial, state = trial_of(context, job)
  core.reset_peak_memory()
  local began = core.clock()
  seen.begin()
  code.watch()
  local _ <close> = random.scope(job.seed, "trial")
  local ok, result = xpcall(definitions.within_trial, script_traceback, context.run, trial)
  local data, loaded = seen.finish(), code.loaded()
  local outcome = ok and finished(result, context) or failure(result)
  outcome.wall, outcome.memory = core.clock() - began, core.peak_memory()
  outcome.resumed = state.resumed or nil
  -- After Ctrl-C, mr.fit returns a result of the epochs so far, which is not the result of the whole trial.
  if core.interrupts() > 0 then
    outcome = { state = "interrupted", reason = "Ctrl-C", wall = outcome.wall, memory = outcome.memory,
      resumed = outcome.resumed }
  end
  if outcome.state == "pruned" or outcome.state == "paused" then
    local last = state.so_far[#state.so_far]
    outcome.value, outcome.reason = last.value, ("%s at step %d"):format(outcome.state, last.step)
  end
  outcome.data, outcome.loaded = data, loaded
  outcome.reports = #state.reports > 0 and state.reports or outcome.reports or {}
  outcome.numerics = core.numerics()
  local device = core.device()
  outcome.device = device == "cuda" and core.cuda() or device
  return outcome
end

return M
