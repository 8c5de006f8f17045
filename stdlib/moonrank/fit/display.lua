-- The progress line that mr.fit writes to the terminal while it trains, and the epoch from which a training resumes.
local core = require "moonrank.core"
local progress = require "moonrank.system.progress"

local M = {}

---@class mr.fit.Display
local Display = {}
Display.__index = Display

---Starts the progress line, unless the option `progress` is false or another process shows it.
---@param plan mr.fit.Plan
---@param run mr.Run
---@return mr.fit.Display
function M.start(plan, run)
  local line = plan.progress and plan.is_first and progress.start{ label = plan.name, total = plan.epochs * plan.steps,
    unit = plan.trainer and plan.trainer.unit or "batch" }
  return setmetatable({ _plan = plan, _run = run, _line = line }, Display)
end

---Says from which epoch of a file the training continues.
function Display:resumed()
  local plan, run = self._plan, self._run
  if not self._line or run.resumed == 0 then return end
  local is_over = run.stopped or run.resumed >= plan.epochs
  io.stderr:write(("%s: %s after epoch %d of %d, from %s\n"):format(core.safe_text(plan.name),
    is_over and "is complete" or "continues", run.resumed, plan.epochs, core.safe_text(plan.checkpoint.path)))
end

-- The values beside the time left. Within an epoch, the best value is that of the epochs before. The loss is, too, on
-- the GPU, because it is read only at the end of an epoch.
local function values_of(run, epoch, loss)
  local before, chief = run.history[#run.history], run.choices[1]
  local values = { { "epoch", tostring(epoch) }, { "loss", loss or before and before.loss or 0 } }
  if chief and chief.best then values[3] = { "best " .. chief.metric.name, chief.best.metrics[chief.metric.name] } end
  return values
end

---Returns the function to call after each batch of an epoch, or nil if nothing is shown.
---@param epoch integer
---@param steps integer  steps of an epoch
---@return nil|fun(done: integer, lists: integer, total: number?)
function Display:in_epoch(epoch, steps)
  local line, run = self._line, self._run
  return line and function(done, lists, total)
    local at = (epoch - 1) * steps + done
    if at >= line.total then return end  -- `after` writes the end of the line, when the last epoch is validated
    line:update(at, values_of(run, epoch, total and (lists > 0 and total / lists or 0)))
  end or nil
end

---Shows a validated epoch.
---@param epoch integer
---@param steps integer
function Display:after(epoch, steps)
  if self._line then self._line:update(epoch * steps, values_of(self._run, epoch)) end
end

function Display:finish()
  if self._line then self._line:finish() end
end

return M
