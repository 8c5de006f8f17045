-- The learner is the object that mr.fit trains: the model, together with the loss if the loss has parameters, or a
-- state that changes from step to step.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---A model together with a loss that has parameters or a state, trained as one.
---@class mr.fit.Learner
local Learner = check.class("mr.fit.Learner")

---Returns the object that mr.fit trains. If the loss has neither parameters nor a state, it is the
---model; else it is an object with the parameters of both model and loss, and the state of the loss.
---@param interactions? mr.data.Interactions|false  those of the training, on which the loss may have a state
---@return mr.Model|mr.fit.Learner
function M.of(model, loss, interactions)
  local own, begin = check.field(loss, "parameters"), interactions and check.field(loss, "_states")
  local parameters = type(own) == "function" and own(loss) or {}
  local states = begin and begin(interactions) or {}
  if #parameters == 0 and #states == 0 then return model end
  return setmetatable({ _model = model, _own = parameters, _states = states }, Learner)
end

---Returns an array of the model's parameters, followed by the loss's parameters.
function Learner:parameters()
  local all = self._model:parameters()
  return table.move(self._own, 1, #self._own, #all + 1, all)
end

-- Returns the name of the loss's state number `number` among the buffers of a snapshot of model and loss.
local function name_of(number) return ("of the loss, %d"):format(number) end

---Returns true for the name of a state of the loss among the buffers of a snapshot.
function M.is_state(name) return name:find "^of the loss, %d+$" ~= nil end

---Returns copies of the model's parameters and buffers (its snapshot), followed by copies of the
---loss's parameters. The state of the loss is among the buffers.
---@param into? table  an earlier snapshot whose memory is used again
function Learner:snapshot(into)
  local copies, first = self._model:snapshot(into), #self._model:parameters()
  for i, parameter in ipairs(self._own) do copies[first + i] = core.snapshot(parameter, into and into[first + i]) end
  if #self._states > 0 then copies.buffers = copies.buffers or {} end
  for i, state in ipairs(self._states) do copies.buffers[name_of(i)] = state.value end
  return copies
end

---Sets the parameters of model and loss, the model's buffers and the state of the loss to the values
---that Learner:snapshot copied.
function Learner:restore(snapshot)
  local of_model, first = snapshot, #self._model:parameters()
  if #self._states > 0 then
    of_model = table.move(snapshot, 1, first, 1, { buffers = {} })
    for name, buffer in pairs(snapshot.buffers) do of_model.buffers[name] = buffer end
  end
  for i, state in ipairs(self._states) do
    state.value, of_model.buffers[name_of(i)] = snapshot.buffers[name_of(i)], nil
  end
  self._model:restore(of_model)
  for i, parameter in ipairs(self._own) do core.restore(parameter, snapshot[first + i]) end
end

return M
