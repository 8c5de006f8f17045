-- Prints the output of mr.fit on the terminal: the progress line during a training, and a line that says from which
-- epoch a training resumes.
local core = require "moonrank.core"
local progress = require "moonrank.system.progress"

local M = {}

---Shows the progress line of one training.
---@class mr.fit.Display
local Display = {}
Display.__index = Display

---Starts the progress line of a training. Nothing is shown if the option `progress` is false, or if
---another process of a parallel training shows the line.
---@return mr.fit.Display
function M.start(plan, run)
  local line = plan.progress and plan.is_first and progress.start{ label = plan.name, total = plan.epochs * plan.steps,
    unit = plan.trainer and plan.trainer.unit or "batch" }
  return setmetatable({ _plan = plan, _run = run, _line = line }, Display)
end

---Prints from which epoch of its checkpoint file the training continues, or that it is complete.
---Prints nothing if the training begins at the first epoch, or shows no progress line.
function Display:resumed()
  local plan, run = self._plan, self._run
  if not self._line or run.resumed == 0 then return end
  local is_over = run.stopped or run.resumed >= plan.epochs
  io.stderr:write(("%s: %s after epoch %d of %d, from %s\n"):format(core.safe_text(plan.name),
    is_over and "is complete" or "continues", run.resumed, plan.epochs, core.safe_text(plan.checkpoint.path)))
end

-- Returns the values that the progress line shows: epoch, loss and best metric. During an epoch, the best metric is
-- from earlier epochs, and so is the loss on the GPU, which is read only at the end of an epoch.
local function values_of(run, epoch, loss)
  local before, chief = run.history[#run.history], run.choices[1]
  local values = { { "epoch", tostring(epoch) }, { "loss", loss or before and before.loss or 0 } }
  if chief and chief.best then values[3] = { "best " .. chief.metric.name, chief.best.metrics[chief.metric.name] } end
  return values
end

---Returns a function that updates the progress line after each batch of an epoch, from the number of batches, the lists
---that counted, and the sum of their losses (nil on the GPU). Returns nil if no progress line is shown.
---@return nil|fun(done: integer, lists: integer, total: number?)
function Display:in_epoch(epoch, steps)
  local line, run = self._line, self._run
  return line and function(done, lists, total)
    local at = (epoch - 1) * steps + done
    -- Display:after makes the last update of the progress line, because it also has the metrics of the last epoch.
    if at >= line.total then return end
    line:update(at, values_of(run, epoch, total and (lists > 0 and total / lists or 0)))
  end or nil
end

---Updates the progress line at the end of an epoch, with the epoch's metrics.
function Display:after(epoch, steps)
  if self._line then self._line:update(epoch * steps, values_of(self._run, epoch)) end
end

function Display:finish()
  if self._line then self._line:finish() end
end

return M
