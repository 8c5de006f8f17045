-- Writes and reads the tensors of a checkpoint file that optimizer steps change: the model's parameters now and after
-- the chosen epochs, and the optimizer's state. trees.lua writes and reads checkpoints of trees.
local check = require "moonrank.check"
local parameters = require "moonrank.models.parameters"

local M = {}

-- Appends the tensors of a snapshot to `tensors`, and their names, which begin with `prefix`, to `names`.
local function flattened(prefix, snapshot, names, tensors)
  local function add(name, x) names[#names + 1], tensors[#tensors + 1] = ("%s.%s"):format(prefix, name), x end
  for i, x in ipairs(snapshot) do add(tostring(i), x) end
  for _, name in ipairs(check.names(snapshot.buffers or {})) do add("buffer " .. name, snapshot.buffers[name]) end
end

-- Returns the tensor `name` of a file, which must have the shape and the dtype of the tensor `like`.
local function taken(by_name, name, like)
  return parameters.saved(by_name, name, like:shape(), like.dtype):to(like.device)
end

-- Returns a snapshot from a file. `like` is a snapshot of the current model, which has the expected shapes.
local function snapshot_of(prefix, by_name, like)
  local snapshot = { buffers = like.buffers and {} }
  for i, x in ipairs(like) do snapshot[i] = taken(by_name, ("%s.%d"):format(prefix, i), x) end
  for name, x in pairs(like.buffers or {}) do
    snapshot.buffers[name] = taken(by_name, ("%s.buffer %s"):format(prefix, name), x)
  end
  return snapshot
end

---Writes and reads the tensors of a checkpoint for a training by optimizer steps.
---@class mr.fit.KeptSteps
local KeptSteps = check.class("mr.fit.KeptSteps")

---Makes the object that writes and reads the tensors of a checkpoint file for a training by optimizer steps.
---@param learner table          the model, with the parameters of its loss
---@param optimizer mr.Optimizer  bound
---@return mr.fit.KeptSteps
function M.new(learner, optimizer)
  return setmetatable({ _learner = learner, _optimizer = optimizer, _copy = false }, KeptSteps)
end

---Appends the parameters of the model now and after the chosen epochs, and the optimizer's state,
---to the tensors of a checkpoint and their names.
function KeptSteps:write(names, tensors, choices)
  self._copy = self._learner:snapshot(self._copy or nil)
  flattened("model", self._copy, names, tensors)
  for k, choice in ipairs(choices) do
    if choice._snapshot then flattened("best " .. k, choice._snapshot, names, tensors) end
  end
  local of_optimizer, states = self._optimizer:_numbers()
  for i, name in ipairs(of_optimizer) do names[#names + 1], tensors[#tensors + 1] = "optimizer." .. name, states[i] end
end

---Reads and checks the tensors that KeptSteps:write added. Returns the parameters after the chosen
---epochs, and a function that loads the file's state into model and optimizer.
---@param _ integer         the last epoch; not used
---@param best integer[]    for each metric, the epoch that the metric chose; 0: none
---@return table snapshots  for each metric, the parameters after the chosen epoch; false: no epoch was chosen
---@return fun() take       loads the state of the file into model and optimizer
function KeptSteps:read(by_name, _, best)
  local of_optimizer, snapshots, like = { {}, {} }, {}, self._learner:snapshot()
  for _, name in ipairs(check.names(by_name)) do
    local inner = name:match "^optimizer%.(.*)$"
    if inner then
      table.insert(of_optimizer[1], inner)
      table.insert(of_optimizer[2], by_name[name])
    end
  end
  local model = snapshot_of("model", by_name, like)
  for k, epoch in ipairs(best) do snapshots[k] = epoch > 0 and snapshot_of("best " .. k, by_name, like) end
  self._optimizer:_check(table.unpack(of_optimizer))
  return snapshots, function()
    self._learner:restore(model)
    self._optimizer:_resume(table.unpack(of_optimizer))
  end
end

return M
