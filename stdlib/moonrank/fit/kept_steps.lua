-- The tensors in a checkpoint file that optimizer steps change: the parameters of the model now and at the chosen
-- epochs, and the state of the optimizer. trees.lua does the same for trees.
local check = require "moonrank.check"

local M = {}

-- Tensors of a snapshot of the model by name, under a prefix.
local function flattened(prefix, snapshot, names, tensors)
  local function add(name, x) names[#names + 1], tensors[#tensors + 1] = ("%s.%s"):format(prefix, name), x end
  for i, x in ipairs(snapshot) do add(tostring(i), x) end
  for _, name in ipairs(check.names(snapshot.buffers or {})) do add("buffer " .. name, snapshot.buffers[name]) end
end

-- A tensor of a file. It must have the shape and type of `like`.
local function taken(by_name, name, like)
  local x = by_name[name]
  if not x then check.fail("no tensor '%s' in the file", name) end
  local found, expected = table.concat(x:shape(), ", "), table.concat(like:shape(), ", ")
  if found ~= expected or x.dtype ~= like.dtype then
    check.fail("tensor '%s' is {%s} %s, expected {%s} %s", name, found, x.dtype, expected, like.dtype)
  end
  return x:to(like.device)
end

-- A snapshot of the model from a file. `like` is a snapshot of the model as it is.
local function snapshot_of(prefix, by_name, like)
  local snapshot = { buffers = like.buffers and {} }
  for i, x in ipairs(like) do snapshot[i] = taken(by_name, ("%s.%d"):format(prefix, i), x) end
  for name, x in pairs(like.buffers or {}) do
    snapshot.buffers[name] = taken(by_name, ("%s.buffer %s"):format(prefix, name), x)
  end
  return snapshot
end

---@class mr.fit.KeptSteps
local KeptSteps = check.class("mr.fit.KeptSteps")

---@param learner table          the model, with the parameters of its loss
---@param optimizer mr.Optimizer  bound
---@return mr.fit.KeptSteps
function M.new(learner, optimizer)
  return setmetatable({ _learner = learner, _optimizer = optimizer, _copy = false }, KeptSteps)
end

---Adds the training state to the tensors of a checkpoint, with their names.
---@param names string[]
---@param tensors mr.Tensor[]
---@param choices mr.Choice[]
function KeptSteps:write(names, tensors, choices)
  self._copy = self._learner:snapshot(self._copy or nil)
  flattened("model", self._copy, names, tensors)
  for k, choice in ipairs(choices) do
    if choice._snapshot then flattened("best " .. k, choice._snapshot, names, tensors) end
  end
  local of_optimizer, states = self._optimizer:_numbers()
  for i, name in ipairs(of_optimizer) do names[#names + 1], tensors[#tensors + 1] = "optimizer." .. name, states[i] end
end

---Reads and checks the tensors that KeptSteps:write added.
---@param by_name table<string, mr.Tensor>
---@param _ integer         the last epoch
---@param best integer[]    for each metric, the epoch that it chose; 0: none
---@return table snapshots  of these epochs; false: none
---@return fun() take       gives model and optimizer the state of the file
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
