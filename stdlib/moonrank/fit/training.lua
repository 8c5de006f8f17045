-- Runs the training loop of mr.fit. Each epoch takes the steps of a plan, validates, shows progress, reports to the
-- trial and writes the checkpoint.
local checkpoints = require "moonrank.fit.checkpoint"
local core = require "moonrank.core"
local displays = require "moonrank.fit.display"
local epochs = require "moonrank.fit.epochs"
local runs = require "moonrank.fit.run"
local scope = require "moonrank.system.scope"
local trials = require "moonrank.sweep.trial"
local validations = require "moonrank.fit.validation"

local M = {}

-- Total number of presses of Ctrl-C at the time when Ctrl-C last ended a training; 0 if Ctrl-C has not ended a
-- training.
local ended_early = 0

---Raises the error `interrupted` if Ctrl-C ended an earlier training, so that a loop of trainings ends even if it
---catches errors. At the interactive prompt, the next line can train again.
function M.check_ended()
  if ended_early > 0 and core.interrupts() >= ended_early then error("interrupted", 0) end
  ended_early = 0
end

-- Reports an epoch to the trial, under names such as "valid_ndcg" that the trial's result also uses.
local function report(plan, entry)
  if not plan.trial then return end
  local values = { loss = entry.loss, valid_loss = entry.valid_loss }
  for name, value in pairs(entry.metrics) do values["valid_" .. name] = value == value and value or nil end
  plan.trial:report(entry.epoch, values)
end

---A training in progress: its plan and the objects that carry it out.
---@class mr.fit.Training
---@field plan mr.fit.Plan
---@field run mr.Run
---@field keeper mr.fit.Keeper
---@field display mr.fit.Display
---@field validation mr.fit.Validation
local Training = {}
Training.__index = Training

-- Trains, validates and reports one epoch. Returns true if the training ends with this epoch.
function Training:epoch(epoch, passes)
  local plan, run = self.plan, self.run
  self.validation:before()
  local entry = runs.add(run, passes:run(epoch, self.display:in_epoch(epoch, passes.count)), passes.replayed)
  self.validation:after(entry)
  self.display:after(epoch, passes.count)
  if plan.group then plan.group:check() end
  passes:see(entry)
  if plan.each_epoch and plan.each_epoch(epoch, plan.model, entry) == false then
    runs.stop(run, "each_epoch")
  elseif self.validation:exhausted() then
    runs.stop(run, "patience")
  end
  local is_last = run.stopped ~= false or epoch == plan.epochs
  self.keeper:after(epoch, is_last)
  -- The report comes after the checkpoint is written: it may end the trial, which can later resume from the checkpoint.
  report(plan, entry)
  return is_last
end

-- Trains all epochs of the plan, or, if a checkpoint exists, the epochs after it.
function Training:all_epochs()
  local plan, run = self.plan, self.run
  local passes <close> = (plan.trainer or epochs).start(plan)
  -- luacheck: ignore 211 (together)
  local together <close> = plan.group and scope.open("mr.fit{parallel = true}", function() end, function() end)
  self.keeper:open(passes)
  self.display:resumed()
  if run.resumed > 0 and plan.trial then trials.resumed(plan.trial) end
  passes:begin_schedule(run.history)
  for _, entry in ipairs(run.history) do report(plan, entry) end
  if run.resumed == 0 and plan.each_epoch then plan.each_epoch(0, plan.model) end
  for epoch = run.resumed + 1, run.stopped and 0 or plan.epochs do
    if self:epoch(epoch, passes) then break end
  end
end

---Trains a model as the plan says and returns the run. If Ctrl-C ends the training, the model gets
---the parameters of the chosen epoch, or of the last complete epoch if none was chosen.
function M.run(plan)
  local run = runs.new(plan)
  local self = setmetatable({ plan = plan, run = run, validation = validations.new(plan, run),
    keeper = checkpoints.new(plan, run), display = displays.start(plan, run) }, Training)
  -- In a parallel training, Ctrl-C acts only between steps, because processes that wait for each other must stop
  -- together.
  local deferred = plan.group and core.defer_interrupt(true)
  local ok, message = pcall(self.all_epochs, self)
  if plan.group then core.defer_interrupt(deferred) end
  local interrupted = not ok and message == "interrupted"
  self.display:finish()
  if not ok and not interrupted then
    pcall(self.keeper.ended, self.keeper)
    error(message, 0)
  end
  if interrupted then ended_early = core.interrupts() end
  runs.finish(run, interrupted, self.validation:finish(interrupted))
  self.keeper:ended()
  return run
end

return M
