-- The parameters after the last complete epoch. The model gets them back if Ctrl-C ends training within the next epoch.
-- They are kept only until every metric has chosen an epoch, because the model then gets the parameters of that one.
local check = require "moonrank.check"

local M = {}

---@class mr.fit.LastEpoch
local LastEpoch = check.class("mr.fit.LastEpoch")

---@param learner mr.Model|mr.fit.Learner
---@param run mr.Run
---@return mr.fit.LastEpoch
function M.new(learner, run) return setmetatable({ _learner = learner, _run = run, _snapshot = false, _epoch = false }, LastEpoch) end

local function have_all_chosen(choices)
  for _, choice in ipairs(choices) do
    if not choice._snapshot then return false end
  end
  return #choices > 0
end

---Keeps the model's parameters before an epoch.
function LastEpoch:take()
  if have_all_chosen(self._run.choices) then
    self._snapshot, self._epoch = false, false
  else
    self._snapshot = self._learner:snapshot(self._snapshot or nil)
    self._epoch = #self._run.history  -- set last: an interrupt before it leaves the model as it is
  end
end

---Restores, after Ctrl-C, the parameters after the last epoch of the history. If no step followed
---that epoch, the model has them already.
function LastEpoch:restore()
  if self._epoch == #self._run.history then self._learner:restore(self._snapshot) end
end

return M
