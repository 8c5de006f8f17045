-- Computes the objective, the number that a training step minimizes: the sum or mean of the losses of a batch's lists,
-- plus the regularizers of the loss and the penalty of the model.
--
-- plan.lua has checked model, loss and data. If the script defined none of the three, model and loss are called here
-- without checks of their arguments, to save time.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local losses = require "moonrank.losses.loss"
local models = require "moonrank.models.model"
local phase = require "moonrank.system.phase"
local regularizers = require "moonrank.losses.regularizers"

local M = {}

---Computes the number that a training step minimizes.
---@class mr.fit.Objective
---@field scores fun(batch: mr.Batch): mr.Tensor  one score per row
local Objective = {}
Objective.__index = Objective

-- Returns true if the model has this method and the method has an effect (see models.does_nothing).
local function has(model, method)
  return check.field(model, method) ~= nil and not models.does_nothing(model, method)
end

---Makes the object that computes the number which a training step minimizes, for batches of `data`.
---@param data any  train, or the part that chooses the epoch
---@return mr.fit.Objective
function M.of(plan, data)
  local model, loss = plan.model, plan.loss
  local are_checked = models.is(model) and (dataset.is(data) or candidates.is(data))
  local values, count = losses.functions(loss, are_checked)
  return setmetatable({
    scores = are_checked and models.unchecked(model) or model, _model = model, _loss = loss, _values = values,
    _count = count, _by_rows = plan.reduction == "rows", _divides = plan.reduction ~= "sum" and not plan.group,
    _prepare = check.field(loss, "_prepare") or false,
    _regularizer = regularizers.of(loss) or false, _has_penalty = has(model, "penalty"),
  }, Objective)
end

---Computes what the loss needs beyond the scores of a batch. To be called before `loss`.
function Objective:prepare(batch)
  if self._prepare then self._prepare(self._model, batch) end
end

---Returns the sum or the mean of the lists' losses, and the number by which the mean divides: of lists that count or,
---with the reduction "rows", of rows; if lists have weights, the sum of the weights of these.
---@param divides boolean  whether to return the mean
function Objective:loss(scores, lists, divides)
  local values = self._values(self._loss, scores, lists)
  local weighted = check.is_lists(lists) and lists:has_weights()
  local counted
  if not self._by_rows then
    counted = self._count(self._loss, lists)
    if weighted then values = losses.times_list_weights(values, lists) end
  elseif weighted then
    local mass = lists:mass(true)
    values, counted = values * mass:to(values.dtype):to(values.device), mass:sum():item()
  else
    values, counted = values * lists.sizes:to(values.dtype):to(values.device), lists.rows
  end
  if divides and counted > 0 then return values:sum_over(counted), counted end
  return values:sum(), counted
end

---Returns the number that a step on the batch minimizes (loss, regularizers and penalty), and how many lists or rows
---count. In a parallel training the value is a sum, because a process does not know the counts of the others.
function Objective:of_batch(batch)
  local _ <close> = phase.begin("forward", true)
  self:prepare(batch)
  local value, counted = self:loss(self.scores(batch), batch.lists, self._divides)
  if counted == 0 then return value, counted end
  local of_loss = self._regularizer and self._regularizer(self._model, batch)
  local of_model = self._has_penalty and self._model:penalty(batch)
  if of_loss then value = value + (self._divides and of_loss / counted or of_loss) end
  if of_model then value = value + of_model end
  return value, counted
end

return M
