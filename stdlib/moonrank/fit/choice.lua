-- Stores the choice of a metric that the option `select` names: the epoch that the metric chose, and a copy of the
-- model's parameters after that epoch.
local check = require "moonrank.check"

local M = {}

---The epoch that one metric of the option `select` chose, with a copy of its parameters.
---@class mr.Choice
---@field metric mr.Metric
---@field best? mr.Epoch    the epoch that the metric chose
---@field chosen_on string  "valid" or "test"; "last epoch" if the metric chose no epoch and the last one is kept
local Choice = check.class("mr.Choice")

---Makes the choice of a metric that has not chosen an epoch yet. `part` is the part of the data on
---which the metric chooses.
function M.new(metric, part)
  return setmetatable({ metric = metric, best = false, chosen_on = part, first = false, _snapshot = false,
    _part = part }, Choice)
end

function Choice:__tostring()
  local best, name = self.best, self.metric.name
  if not best then return name .. ": no epoch yet" end
  if self.chosen_on ~= "last epoch" then
    return ("epoch %d chosen by %s on %s, %.4f"):format(best.epoch, name, self._part, best.metrics[name])
  end
  return ("epoch %d kept for %s, the last: %s"):format(best.epoch, name,
    self.first and ("NaN in every epoch on %s"):format(self._part) or "no epoch was validated")
end

---Chooses a validated epoch if the metric's value is the best so far, and then copies the model's parameters.
function M.see(choice, entry, learner)
  choice.first = choice.first or entry.epoch
  local name, best = choice.metric.name, choice.best
  if choice.metric:better(entry.metrics[name], best and best.metrics[name] or nil) then
    choice.best, choice._snapshot = entry, learner:snapshot(choice._snapshot or nil)
  end
end

---Sets the fields of a choice to values from a checkpoint.
---@param first integer|false    the first validated epoch
---@param best mr.Epoch|false
---@param snapshot table|false   the parameters after `best`
function M.resume(choice, first, best, snapshot) choice.first, choice.best, choice._snapshot = first, best, snapshot end

---Returns the number of validations after the chosen epoch. If the metric was NaN in every
---validation, returns the number of validations after the first one.
function M.waited(choice, history)
  local from, count = choice.best and choice.best.epoch or choice.first, 0
  for i = #history, from and from + 1 or #history + 1, -1 do
    if history[i].valid_loss then count = count + 1 end
  end
  return count
end

---At the end of a training: chooses the last epoch if the metric has not chosen an epoch, and warns
---if the metric was NaN in every epoch.
---@param snapshot table|false  the parameters after the last epoch
function M.keep_last(choice, history, snapshot)
  choice._snapshot = choice._snapshot or snapshot
  if choice.best or #history == 0 then return end
  choice.best, choice.chosen_on = history[#history], "last epoch"
  if choice.first then
    local text = "mr.fit: %s is NaN on %s in every epoch, so it cannot choose one. The last epoch is kept\n"
    io.stderr:write(text:format(choice.metric.name, choice._part))
  end
end

return M
