-- The learner is the object that mr.fit trains: the model, together with the loss if the loss has parameters.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---A model together with a loss that has parameters, trained as one.
---@class mr.fit.Learner
local Learner = check.class("mr.fit.Learner")

---Returns the object that mr.fit trains. If the loss has no parameters, it is the model; else it is
---an object with the parameters of both model and loss.
---@param model mr.Model
---@param loss mr.Loss
---@return mr.Model|mr.fit.Learner
function M.of(model, loss)
  local own = check.field(loss, "parameters")
  local parameters = type(own) == "function" and own(loss) or {}
  if #parameters == 0 then return model end
  return setmetatable({ _model = model, _own = parameters }, Learner)
end

---Returns a list of the model's parameters, followed by the loss's parameters.
---@return mr.Tensor[]
function Learner:parameters()
  local all = self._model:parameters()
  return table.move(self._own, 1, #self._own, #all + 1, all)
end

---Returns copies of the model's parameters and buffers (its snapshot), followed by copies of the
---loss's parameters.
---@param into? table  an earlier snapshot whose memory is used again
---@return table
function Learner:snapshot(into)
  local copies, first = self._model:snapshot(into), #self._model:parameters()
  for i, parameter in ipairs(self._own) do copies[first + i] = core.snapshot(parameter, into and into[first + i]) end
  return copies
end

---Sets the parameters of model and loss, and the model's buffers, to the values that
---Learner:snapshot copied.
---@param snapshot table
function Learner:restore(snapshot)
  self._model:restore(snapshot)
  local first = #self._model:parameters()
  for i, parameter in ipairs(self._own) do core.restore(parameter, snapshot[first + i]) end
end

return M
