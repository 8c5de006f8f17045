-- Runs the optimizer steps of a training, epoch by epoch. `start` decides once, before the first batch, what every step
-- includes: the device, one process or several, clipping, the model's constraint and recording.
--
-- On the GPU, the CPU waits for results only at the end of an epoch. If every epoch launches the same kernels, one
-- epoch is recorded as a CUDA graph and then replayed, which gives the same numbers with fewer launches.
local core = require "moonrank.core"
local anomaly = require "moonrank.fit.anomaly"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local models = require "moonrank.models.model"
local objectives = require "moonrank.fit.objective"
local phase = require "moonrank.system.phase"
local random = require "moonrank.tensor.random"

local M = {}

---Trains a model by optimizer steps, epoch by epoch.
---@class mr.fit.Epochs
---@field optimizer mr.Optimizer  bound to the parameters
---@field count integer           largest number of steps of an epoch
---@field replayed integer        number of epochs that were replayed
local Epochs = {}
Epochs.__index = Epochs

-- Returns true if every epoch is known to launch the same kernels on the GPU, so that a recorded epoch can be replayed.
local function repeats(plan, device)
  return device == "cuda" and not plan.group and not plan.interactions and (not plan.shuffle or plan.steps <= 1)
    and dataset.is(plan.train) and not plan.clip and not plan.schedule and check.field(plan.model, "repeats")
    and check.field(plan.loss, "repeats")
end

-- Takes an optimizer step in a training by one process. Returns the number of lists that counted in the loss.
local function step_alone(self, value, counted)
  if counted == 0 then return 0 end
  if self._clip then self._clip(self._parameters) end
  self._optimizer_step(self.optimizer)
  if self._constrained then self._constrained:constrain() end
  self._tally:add(value, self._takes_mean and counted or 1)
  return counted
end

-- Takes a step with the gradients of all processes. Returns the number of lists that counted in all of them.
local function step_together(self, value, counted)
  local own = counted > 0 and value:item() or 0
  local loss, all = self._group:step(self.optimizer, own, counted, self._takes_mean, self._clip)
  self._tally:add(loss, 1)
  if self._constrained then self._constrained:constrain() end
  return all
end

---Makes the object that trains epoch by epoch, with an optimizer bound to the parameters of model
---and loss. The caller must call its method `close` at the end.
---@return mr.fit.Epochs
function M.start(plan)
  local parameters, model = plan.learner:parameters(), plan.model
  local device = parameters[1] and parameters[1].device or "cpu"
  local optimizer, objective = plan.optimizer:bind(parameters), objectives.of(plan, plan.train)
  local is_constrained = check.field(model, "constrain") and not models.does_nothing(model, "constrain")
  return setmetatable({
    optimizer = optimizer, count = plan.steps, replayed = 0,
    _plan = plan, _is_ours = dataset.is(plan.train), _seed = plan.seed, _group = plan.group, _parameters = parameters,
    _clip = plan.clip, _constrained = is_constrained and model or false, _objective = objective,
    _optimizer_step = check.inner(optimizer.step), _zero_grad = check.inner(optimizer.zero_grad),
    _step = anomaly.steps(plan, objective), _take_step = plan.group and step_together or step_alone,
    _takes_mean = plan.reduction ~= "sum", _on_cpu = device == "cpu",
    _repeats = repeats(plan, device) and true or false, _schedule = false, _lr = false, _tally = core.tally(device),
    _is_first = true, _batches = false, _recording = false, _rates = false, _lists = 0, _ran = false,
  }, Epochs)
end

-- Returns an iterator over the batches of an epoch. If recorded epochs can be replayed on the GPU, the batches are made
-- only once.
function Epochs:batches(epoch)
  local plan, group, train = self._plan, self._group, self._plan.train
  local how = { size = plan.batch, rows = plan.batch_rows, shuffle = plan.shuffle and not self._repeats,
    seed = plan.seed, epoch = epoch, share = group and { group.rank + 1, group.size } or nil }
  if not self._is_ours then return train:batches(how) end
  how.device = core.device()
  if plan.interactions then return plan.interactions:pass(how) end
  if not self._repeats then return dataset.pass(train, how) end
  if not self._batches then
    self._batches = {}
    for batch in dataset.pass(train, how) do table.insert(self._batches, batch) end
  end
  local at = 0
  return function()
    at = at + 1
    return self._batches[at]
  end
end

-- Returns the loss of a batch and the number of lists that count in it. On the CPU, a loss that is NaN or infinite
-- raises an error at once; on the GPU, only at the end of the epoch.
function Epochs:loss_of(batch)
  local step = self._step
  step:begin(batch)
  local ok, value, counted = pcall(self._objective.of_batch, self._objective, batch)
  if not ok then step:failed(value) end
  if counted > 0 and not value.tracked then
    check.fail("mr.fit: loss '%s' has no gradient: its value does not depend on the model's parameters by operations "
      .. "that have derivatives. Comparisons, x:item() and x:detach() have none. Test the loss with mr.gradcheck",
      tostring(check.field(self._plan.loss, "name") or "of the script"))
  end
  if self._on_cpu and counted > 0 then step:expect_finite(value:item()) end
  return value, counted
end

local function backward(value)
  local _ <close> = phase.begin "backward"
  core.backward(value)
end

-- Warns about parameters that have no gradient after the first backward pass, because training does not change them.
local function warn_of_unused(model)
  local names, kind = {}, check.field(model, "kind") or "of the script"
  if type(check.field(model, "state")) == "function" then names = model:state() end
  for i, parameter in ipairs(model:parameters()) do
    if not core.has_gradient(parameter) then
      check.warn(("mr.fit: parameter '%s' of model %s has no gradient after the first backward pass: the scores do not "
        .. "depend on it, and training does not change it"):format(names[i] or "number " .. i, kind))
    end
  end
end

-- Takes an optimizer step on a batch. Returns the number of lists that counted in the loss.
function Epochs:step(batch)
  local value, counted = 0, 0
  self._zero_grad(self.optimizer)
  if batch.size > 0 then value, counted = self:loss_of(batch) end
  if counted > 0 then
    local ok, message = pcall(backward, value)
    if not ok then self._step:failed(message) end
    if self._is_first then warn_of_unused(self._plan.model) end
    self._is_first = false
  end
  if self._schedule then self.optimizer.options.lr = self._lr * self._schedule.factor(batch.step) end
  return self:_take_step(value, counted)
end

-- Takes a step on every batch of an epoch. After each batch, calls `after` with the number of batches so far, the
-- number of lists that counted, and the sum of their losses (nil on the GPU).
function Epochs:pass(epoch, after)
  local lists, done = 0, 0
  for batch in self:batches(epoch) do
    core.check_interrupt()
    batch.step, batch.training = (epoch - 1) * self.count + done + 1, true
    local _ <close> = random.of_step(self._seed, batch.step, self._group and check.field(batch, "rows_before"))
    lists, done = lists + self:step(batch), done + 1
    if after then after(done, lists, self._tally.so_far) end
  end
  return lists
end

-- Returns the optimizer's options as text. A recorded epoch contains their values, so it is replayed only while they do
-- not change.
local function rates(optimizer)
  local parts = {}
  for name, value in pairs(optimizer.options) do
    parts[#parts + 1] = name .. "=" .. (type(value) == "number" and ("%a"):format(value) or tostring(value))
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

-- Frees the recorded epoch (a CUDA graph), if there is one.
function Epochs:forget()
  local _ <close> = self._recording
  self._recording = false
end

-- Records the GPU work of an epoch without running it. After a failure, this training does not try again.
function Epochs:record(epoch)
  self:forget()
  core.begin_capture()
  local ok, message = pcall(self.pass, self, epoch)
  local recording = core.end_capture()
  if not ok and message == "interrupted" then error(message, 0) end
  self._recording, self._rates = ok and recording or false, rates(self.optimizer)
  self._repeats = self._recording and true or false
end

---Begins the schedule of the learning rate. If the training resumes after some epochs, the schedule
---first sees their results.
---@param history mr.Epoch[]  epochs before this start of the training
function Epochs:begin_schedule(history)
  local plan, selection = self._plan, self._plan.selection
  if not plan.schedule then return end
  self._lr = plan.optimizer.options.lr
  self._schedule = plan.schedule:begin{ lr = self._lr, steps = plan.epochs * self.count, per_epoch = self.count,
    metric = selection.data and selection.metrics[1] or false }
  for _, entry in ipairs(history) do self._schedule.see(entry) end
end

---Passes the results of an epoch to the schedule of the learning rate, which may depend on them.
function Epochs:see(entry)
  if self._schedule then self._schedule.see(entry) end
end

---Trains for one epoch: one pass over the training part. Returns the mean loss.
---@param after? fun(done: integer, lists: integer, total: number?)  called after every batch (without `total` on the
---   GPU), or once after a replayed epoch
---@return number loss  mean per list (or row) that counts
function Epochs:run(epoch, after)
  self._tally:open()
  -- No epoch is replayed during profiling, because a profile cannot show the single operations of a replay.
  local profiling = core.profiling()
  -- The first epoch is not recorded, because it allocates memory, and every replay would repeat the allocations.
  if self._repeats and self._ran and not profiling and self._rates ~= rates(self.optimizer) then self:record(epoch) end
  local replays = self._recording and not profiling
  if replays then
    self._recording:run()
    self.replayed = self.replayed + 1
  else
    self._lists = self:pass(epoch, after)
  end
  self._ran = true
  local ok, total = pcall(self._tally.finish, self._tally)
  if not ok then anomaly.epoch_failed(epoch, total) end
  anomaly.expect_finite(epoch, total)
  if replays and after then after(self.count, self._lists, total) end
  return self._lists > 0 and total / self._lists or 0
end

---Frees the sum of losses and the recorded epoch (a CUDA graph) at the end of the training.
function Epochs:close()
  local _ <close> = self._tally
  self:forget()
end

Epochs.__close = Epochs.close

return M
