-- Decides which trial of a study runs next. Trials begin in the order of their numbers. Suggestions use results of
-- earlier generations of trials only, so results depend neither on which trials ran at the same time nor on
-- interruptions. Under Hyperband, trials pause, and promoted trials begin before new trials.
local core = require "moonrank.core"
local check = require "moonrank.check"
local code = require "moonrank.sweep.code"
local files = require "moonrank.sweep.files"
local forced = require "moonrank.sweep.forced"
local frame = require "moonrank.sweep.frame"
local heard = require "moonrank.sweep.heard"

local M = {}

---@class mr.sweep.TrialQueue
---@field planned integer          number of trials that the study will have
---@field trials table<integer, table>  by number: params, seed, state, attempts, value
local TrialQueue = {}
TrialQueue.__index = TrialQueue
-- function that is called with the name of an event, the number of its trial and the report, if it has one; or false.
-- The events are "begin", "report" and "add" (the trial or its attempt has ended), and "flush" without a trial.
TrialQueue.on_event = false
TrialQueue.taken = false  -- set of the grid points that trials already have, if the space was changed; otherwise false

-- Returns the seed of a trial: the first 52 bits of a SHA-256, which a double represents exactly.
local function seed_of(study_seed, number)
  return tonumber(core.sha256(("%d/%d"):format(study_seed, number)):sub(1, 13), 16)
end

-- Prepares the grid of a space that was changed. Points for which the study already has a trial keep that trial's
-- number, and new points get free numbers. Returns the largest number of a trial.
local function free_points(self)
  self.taken, self.grid_at = {}, 0
  for _, trial in pairs(self.trials) do self.taken[trial.params_text] = true end
  local free, number = 0, 0
  for i = 1, self.sampler:count() do
    if not self.taken[frame.to_json(self.space:grid(i))] then free = free + 1 end
  end
  while free > 0 or self.trials[number + 1] do
    number = number + 1
    if not self.trials[number] then free = free - 1 end
  end
  return number
end

---@class mr.sweep.TrialQueue.Options
---@field store mr.sweep.Store
---@field study table            row of the store
---@field space mr.sweep.Space
---@field sampler mr.sweep.Sampler
---@field pruner? mr.sweep.Pruner
---@field retry integer
---@field trials? integer        number of trials; required if the sampler has no end
---@field metric string          the number by which trials are pruned
---@field folder string          of the study
---@field lock? mr.FileLock      lock in the folder; no other process runs the study

---Makes the queue of a study from its trials in the store. Trials that ended there are not run again, except failed
---and killed ones with retries left.
---@param o mr.sweep.TrialQueue.Options
function M.new(o)
  local self = setmetatable({
    store = o.store, study = o.study, space = o.space, sampler = o.sampler, pruner = o.pruner or false, retry = o.retry,
    folder = o.folder, lock = o.lock or false, trials = o.store:trials(o.study), cursor = 1, first_open = 1, again = {},
    counts = {}, best = false, halving = o.pruner and o.pruner.name == "hyperband" and o.pruner or false,
    -- total time and number of the trials that finished in this run of the sweep
    finished = { seconds = 0.0, trials = 0 },
  }, TrialQueue)
  self.heard = not self.pruner and heard.new(o.store, o.study)
  local count = self.sampler:count()
  if count and forced.has(o.study, "space") then count = free_points(self) end
  self.planned = math.min(count or math.huge, o.trials or math.huge)
  if self.pruner then
    for number, reports in pairs(o.store:reports(o.study, o.metric)) do self.trials[number].so_far = reports end
  end
  for number = 1, self.planned do
    local trial = self.trials[number]
    if trial and self:is_final(trial) then self:_count(trial) end
  end
  self:_advance()
  if self.halving then self:_pause_all() end
  return self
end

function TrialQueue:_tell(event, number, report)
  if self.on_event then self.on_event(event, number, report) end
end

---Returns true if a trial has ended and will not be retried.
function TrialQueue:is_final(trial)
  if trial.state == "done" or trial.state == "pruned" then return true end
  return (trial.state == "failed" or trial.state == "killed") and trial.attempts > self.retry
end

-- Returns true if a trial's checkpoint is not needed any more. A killed trial may still continue from it.
function TrialQueue:_is_over(trial) return self:is_final(trial) and trial.state ~= "killed" end

---Removes the checkpoints of ended trials at the end of a sweep. A killed trial keeps its checkpoint.
function TrialQueue:tidy()
  files.tidy(self.folder, function(number) return self.trials[number] and self:_is_over(self.trials[number]) end)
end

function TrialQueue:_count(trial)
  self.counts[trial.state] = (self.counts[trial.state] or 0) + 1
  if trial.state ~= "done" then return end
  local sign = self.study.direction == "minimize" and -1 or 1
  if not self.best or sign * trial.value > sign * self.best.value then self.best = trial end
end

function TrialQueue:_advance()
  while self.first_open <= self.planned and self.trials[self.first_open]
    and self:is_final(self.trials[self.first_open]) do
    self.first_open = self.first_open + 1
  end
end

-- Marks the trials that reached a Hyperband rung in an earlier run, but have not ended, as paused. Then promotes or
-- prunes the paused trials of every bracket that can be decided.
function TrialQueue:_pause_all()
  for _, trial in pairs(self.trials) do
    if not self:is_final(trial) and self.halving:passed(trial) > 0 then trial.state = "paused" end
  end
  local number = 1
  while number <= self.planned do
    self:_halve(number)
    local bracket, first = self.halving:bracket_of(number)
    number = first + bracket.trials[1]
  end
end

-- Promotes and prunes paused trials in the Hyperband bracket of a trial, as far as this can be decided now.
function TrialQueue:_halve(number)
  local promoted, pruned = self.halving:decided(self.trials, number, self.planned, function(trial)
    return self:is_final(trial)
  end)
  for _, trial in ipairs(promoted) do
    trial.state = "promoted"
    self.again[#self.again + 1] = trial
  end
  for _, trial in ipairs(pruned) do
    local last = trial.so_far[#trial.so_far]
    trial.state, trial.value, trial.reason = "pruned", last.value, ("pruned at step %d"):format(last.step)
    self.store:prune(self.study, trial)
    self:_add_time(trial.wall)
    files.forget(files.of_trial(self.folder, trial.number))
    self:_count(trial)
    self:_tell("add", trial.number)
  end
  if #pruned > 0 then self:_advance() end
end

---Returns how many trials of the study have ended and will not be retried.
function TrialQueue:ended()
  local sum = 0
  for _, count in pairs(self.counts) do sum = sum + count end
  return sum
end

-- Returns the number of the first trial in a trial's generation (consecutive trials that use the same earlier results).
-- All trials with smaller numbers have to end first. Under Hyperband, the generation begins no later than the bracket,
-- because trials of a bracket wait for each other.
function TrialQueue:_start_of(number)
  local start = math.max(self.sampler:generation_of(number), self.pruner and self.pruner:generation_of(number) or 1)
  if not self.halving then return start end
  local _, first = self.halving:bracket_of(number)
  return math.min(start, first)
end

function TrialQueue:_history(before)
  local history = {}
  for number = 1, before - 1 do
    local t = self.trials[number]
    history[number] = { number = number, params = t.params, value = t.value,
      state = t.state == "killed" and "failed" or t.state }
  end
  return history
end

function TrialQueue:_suggest(number)
  if self.taken then
    local params, text
    repeat
      self.grid_at = self.grid_at + 1
      params = self.space:grid(self.grid_at)
      text = frame.to_json(params)
    until not self.taken[text]
    self.taken[text] = true
    return params, text
  end
  local params = self.sampler:suggest(number, self:_history(self:_start_of(number)))
  return params, frame.to_json(params)
end

-- Returns the trial with this number, or nil if it has begun in this run, has ended or is paused.
function TrialQueue:_open(number)
  local known = self.trials[number]
  if known and (self:is_final(known) or known.begun) then return nil end
  if known and self.halving and self.halving:passed(known) > 0 then return nil end
  if not known then
    local params, text = self:_suggest(number)
    known = { number = number, params = params, params_text = text, seed = seed_of(self.study.seed, number),
      attempts = 0 }
    self.trials[number] = known
  end
  return known
end

-- Returns the first trial that has not begun in this run of the sweep; nil if no trial can begin now.
function TrialQueue:_first()
  while self.cursor <= self.planned do
    local number = self.cursor
    if self.first_open < self:_start_of(number) then return nil end
    self.cursor = number + 1
    local trial = self:_open(number)
    if trial then return trial end
  end
end

---Returns the next trial to run, and marks it in the store as begun. Returns nil if no trial can begin now: all have
---begun, or the next one has to wait for results of running trials.
---@return table? trial
function TrialQueue:next()
  if self.lock and not self.lock:holds() then
    check.fail("mr.sweep: the folder %s was removed while the sweep ran, with its lock and checkpoints", self.folder)
  end
  local trial = table.remove(self.again, 1) or self:_first()
  if not trial then return nil end
  trial.state, trial.begun = "running", true
  if not self.halving then trial.so_far = nil else trial.passed = self.halving:passed(trial) end
  self.store:begin(self.study, trial)
  self:_tell("begin", trial.number)
  return trial
end

---Passes on a report of a running trial to those who follow the sweep.
---@param report { step: integer, values: table<string, number> }
function TrialQueue:report(trial, report)
  if self.heard then self.heard:add(trial.number, report) end
  self:_tell("report", trial.number, report)
end

---Makes what was written of the sweep visible to other processes.
function TrialQueue:publish()
  self.store:publish()
  self:_tell "flush"
end

---Returns an estimate of the seconds until all trials have ended: the mean time of the trials that finished in this
---run, times the number of trials left, divided by the number of workers. Returns nil until the first trial has
---finished.
---@param workers integer
function TrialQueue:left(workers)
  local finished = self.finished
  if finished.trials == 0 then return nil end
  return finished.seconds / finished.trials * (self.planned - self:ended()) / math.max(1, workers)
end

---Returns the fields of a trial that its worker needs to run it: number, seed, parameters, attempt, folder and pause.
function TrialQueue:job(trial)
  return { number = trial.number, seed = trial.seed, params = trial.params, attempt = trial.attempts + 1,
    folder = files.of_trial(self.folder, trial.number), pause = self.halving and self.halving:pause_at(trial) or nil }
end

---Returns the progress of the trials with which the pruner may compare a trial: those of earlier generations, without
---the trials up to number `known`.
---@param known? integer  largest number of a trial that the caller has already (default 0)
---@return mr.sweep.Progress[]  empty without a pruner
function TrialQueue:others(trial, known)
  local others = {}
  if not self.pruner then return others end
  for number = (known or 0) + 1, self.pruner:generation_of(trial.number) - 1 do
    local t = self.trials[number]
    others[#others + 1] = { number = number, state = t.state == "killed" and "failed" or t.state,
      reports = t.so_far or {} }
  end
  return others
end

local function of_metric(reports, metric)
  local out = {}
  for _, report in ipairs(reports or {}) do
    local value = report.values[metric]
    if value then out[#out + 1] = { step = report.step, value = value } end
  end
  return out
end

-- Joins reports with those of a trial's earlier runs by step; a report of the last run replaces an earlier one.
local function joined(earlier, reports)
  local seen, all = {}, { table.unpack(reports) }
  for _, report in ipairs(reports) do seen[report.step] = true end
  for _, report in ipairs(earlier or {}) do
    if not seen[report.step] then all[#all + 1] = report end
  end
  table.sort(all, function(a, b) return a.step < b.step end)
  return all
end

-- Adds the running time of an ended trial to the total, for the estimate of the time left.
function TrialQueue:_add_time(seconds)
  if not seconds then return end
  self.finished.seconds, self.finished.trials = self.finished.seconds + seconds, self.finished.trials + 1
end

-- Does the work of `finish`, except that the checkpoint stays.
local function record_end(self, trial, outcome, metric)
  if next(outcome.loaded or {}) then
    self.study.script = code.joined(self.study.script, nil, outcome.loaded)
    self.store:set(self.study, "script")
  end
  if self.heard then self.heard:forget(trial.number) end
  local goes_on = outcome.state == "interrupted" or outcome.state == "paused"
  if not goes_on then trial.attempts = trial.attempts + 1 end
  local was_paused = self.halving and trial.passed > 0
  if (was_paused or outcome.resumed) and outcome.wall then outcome.wall = outcome.wall + (trial.wall or 0) end
  self.store:finish(self.study, trial, outcome, was_paused)
  trial.state, trial.value, trial.reason, trial.wall = outcome.state, outcome.value, outcome.reason, outcome.wall
  if self.pruner then trial.so_far = joined(was_paused and trial.so_far, of_metric(outcome.reports, metric)) end
  if self:is_final(trial) then
    self:_add_time(outcome.wall)
    self:_count(trial)
    self:_advance()
    self:_tell("add", trial.number)
  elseif self.halving and self.halving:passed(trial) > trial.passed then
    -- A trial that reached its next Hyperband rung counts as paused even if it was killed: its report is stored.
    trial.state = "paused"
  elseif not goes_on then
    self.again[#self.again + 1] = trial
    self:_tell("add", trial.number)
  end
  if self.halving then self:_halve(trial.number) end
end

-- Removes the checkpoint of a trial that is stored, unless it may run again.
local function forget_checkpoint(self, trial)
  if self:_is_over(trial) then files.forget(files.of_trial(self.folder, trial.number)) end
end

---Stores how a trial ended. A failed or killed trial with retries left is scheduled to run again, or is paused if it
---reached its next Hyperband rung.
---@param trial table    from `next`
---@param outcome table  state, value, numbers, lists, reports, time and data, as from mr.sweep's trials
---@param metric string  name of the reports that the pruner reads
function TrialQueue:finish(trial, outcome, metric)
  record_end(self, trial, outcome, metric)
  forget_checkpoint(self, trial)
end

---Like `finish` followed by `next`. Both are written to the store in one transaction, which is faster, unless choosing
---the next trial may take long: a process that is killed meanwhile would lose the result.
---@param trial table    from `next`
---@param outcome table  as for `finish`
---@param metric string  as for `finish`
---@return table? trial
function TrialQueue:finish_and_next(trial, outcome, metric)
  local is_quick = not self.pruner and self.sampler:generation_of(trial.number + 1) == 1
  if not is_quick or self.on_event or outcome.state ~= "done" then
    self:finish(trial, outcome, metric)
    return self:next()
  end
  local ok, following
  self.store:transaction(function()
    record_end(self, trial, outcome, metric)
    ok, following = pcall(self.next, self)  -- its error must not roll back the result
  end)
  forget_checkpoint(self, trial)
  if not ok then error(following, 0) end
  self.store:publish()
  return following
end

return M
