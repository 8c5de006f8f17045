-- The epochs of mr.fit. On the GPU an epoch waits only at its end, and where every epoch queues the same work, it is recorded once and
-- replayed: the same numbers with fewer launches.
local core = require "moonrank.core"
local anomaly = require "moonrank.fit.anomaly"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local models = require "moonrank.models.model"
local phase = require "moonrank.phase"
local random = require "moonrank.random"
local regularizers = require "moonrank.losses.regularizers"

local M = {}

---@class mr.fit.Epochs
---@field optimizer mr.Optimizer  bound to the model's parameters
---@field before_step fun(step: integer)|false
local Epochs = {}
Epochs.__index = Epochs

-- Loss of a batch, to be divided by what counts or not: its lists that are not degenerate, or its rows; and how many these are.
local function batch_loss(loss, scores, lists, reduction, undivided)
  local values, counted = loss(scores, lists), reduction == "rows" and lists.rows or loss:count(lists)
  if reduction == "rows" then values = values * lists.sizes:to(values.dtype):to(values.device) end
  if reduction ~= "sum" and counted > 0 and not undivided then return values:sum_over(counted), counted end
  return values:sum(), counted
end
M.batch_loss = batch_loss

---Returns the largest number of steps of an epoch. Steps are numbered by it, and schedules count by
---it.
---@param o table  the options of mr.fit, checked
---@return integer
function M.count(o) return dataset.most_batches(o.train, o.batch, o.batch_rows) end

-- True if all epochs have the same batches, no random numbers and no function of the script, so that a
-- recording of one can be run again.
local function repeats(o, device)
  return device == "cuda" and not o.group and (not o.shuffle or M.count(o) <= 1) and dataset.is(o.train)
    and not o.clip and not o.schedule and check.field(o.model, "repeats") and check.field(o.loss, "repeats")
end

-- A step of the optimizer in the only process. Returns how many lists count.
local function step_alone(self, value, counted)
  if counted == 0 then return 0 end
  local o = self._o
  if o.clip then o.clip(o.learner:parameters()) end
  self.optimizer:step()
  if self._has_constraint then o.model:constrain() end
  self._tally:add(value, self._takes_mean and counted or 1)
  return counted
end

-- A step of the optimizer with the gradients of all processes. Returns how many lists of all processes count.
local function step_together(self, value, counted)
  local o = self._o
  local loss, all = o.group:step(self.optimizer, counted > 0 and value:item() or 0, counted, self._takes_mean, o.clip)
  self._tally:add(loss, 1)
  if self._has_constraint then o.model:constrain() end
  return all
end

-- True if the model has this method and the method does something. The model may be the script's own.
local function has(model, method)
  return check.field(model, method) ~= nil and not models.does_nothing(model, method)
end

---Prepares the epochs of a fit, and decides everything that no batch can change.
---@param o table  the options of mr.fit, checked
---@return mr.fit.Epochs
function M.start(o)
  local parameters = o.learner:parameters()
  local device = parameters[1] and parameters[1].device or "cpu"
  local self = setmetatable({
    _o = o, optimizer = o.optimizer:bind(parameters), _tally = core.tally(device), _repeats = repeats(o, device) and true or false,
    _batches = false, _batch = false, _recording = false, _rates = false, _lists = 0, _ran = false, replayed = 0,
    count = M.count(o), before_step = false, _went_back = false,
    _on_cpu = device == "cpu", _takes_mean = o.reduction ~= "sum", _take_step = o.group and step_together or step_alone,
    _regularizer = regularizers.of(o.loss), _has_penalty = has(o.model, "penalty"),
    _has_constraint = has(o.model, "constrain"),
  }, Epochs)
  self._forward = function() return self:forward() end
  self._step = anomaly.steps(o, self._forward, self.count)
  return self
end

-- The batches of an epoch, those of the first one again where all are the same.
function Epochs:batches(epoch)
  local o = self._o
  local share = o.group and { o.group.rank + 1, o.group.size } or nil
  -- a dataset of the script's own may know size alone
  local how = o.batch_rows and { rows = o.batch_rows } or { size = o.batch }
  if not self._repeats then
    how.shuffle, how.seed, how.epoch, how.share = o.shuffle, o.seed, epoch, share
    return o.train:batches(how)
  end
  if not self._batches then
    self._batches = {}
    for batch in o.train:batches(how) do table.insert(self._batches, batch) end
  end
  local at = 0
  return function()
    at = at + 1
    return self._batches[at]
  end
end

-- The loss of the current batch with its regularizers, and how many lists count.
function Epochs:forward()
  local o, batch = self._o, self._batch
  local _ <close> = phase.begin("forward", true)
  local value, counted = batch_loss(o.loss, o.model(batch), batch.lists, o.reduction, o.group)
  if counted == 0 then return value, counted end
  local of_loss = self._regularizer and self._regularizer(o.model, batch)
  local of_model = self._has_penalty and o.model:penalty(batch)
  if of_loss then value = value + (self._takes_mean and not o.group and of_loss / counted or of_loss) end
  if of_model then value = value + of_model end
  return value, counted
end

-- The loss of a batch and how many lists count. A loss that is not finite ends training, on the CPU at once.
function Epochs:loss_of(batch)
  local step = self._step
  self._batch = batch
  step:begin(batch)
  local ok, value, counted = pcall(self._forward)
  if not ok then step:failed(value) end
  if self._on_cpu and counted > 0 then step:expect_finite(value:item()) end
  return value, counted
end

-- Warns, after the first backward pass, of parameters without a gradient: training does not change them.
local function warn_of_unused(o)
  local names, values = {}, o.model:parameters()
  if type(check.field(o.model, "state")) == "function" then names = o.model:state() end
  for i, parameter in ipairs(values) do
    if not core.has_gradient(parameter) then
      check.warn(("mr.fit: parameter '%s' of model %s has no gradient after the first backward pass: the scores do not depend on it, and "
        .. "training does not change it"):format(names[i] or "number " .. i, check.field(o.model, "kind") or "of the script"))
    end
  end
end

-- One step of the optimizer, whose loss is added to the tally. Returns how many lists count.
function Epochs:step(batch)
  local value, counted = 0, 0
  self.optimizer:zero_grad()
  if batch.size > 0 then value, counted = self:loss_of(batch) end
  if counted > 0 then
    local ok, message = pcall(value.backward, value)
    if not ok then self._step:failed(message) end
    if not self._went_back then warn_of_unused(self._o) end
    self._went_back = true
  end
  if self.before_step then self.before_step(batch.step) end
  return self:_take_step(value, counted)
end

function Epochs:seeded_step(batch)
  local _ <close> = random.of_step(self._o.seed, batch.step, self._o.group and check.field(batch, "rows_before"))
  return self:step(batch)
end

-- Steps through all batches; returns how many lists counted. `after(done, lists, total)` is called after each.
function Epochs:pass(epoch, after)
  local lists, done = 0, 0
  for batch in self:batches(epoch) do
    core.check_interrupt()
    batch.step, batch.training = (epoch - 1) * self.count + done + 1, true
    lists, done = lists + self:seeded_step(batch), done + 1
    if after then after(done, lists, self._tally.so_far) end
  end
  return lists
end

-- The optimiser's options as one text. A recording of an epoch can be run again only under the same options.
local function rates(optimizer)
  local parts = {}
  for name, value in pairs(optimizer.options) do
    parts[#parts + 1] = name .. "=" .. (type(value) == "number" and ("%a"):format(value) or tostring(value))
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

-- Frees the recording, if there is one.
function Epochs:forget()
  local _ <close> = self._recording
  self._recording = false
end

-- Records an epoch; after a failure it is not tried again.
function Epochs:record(epoch)
  self:forget()
  core.begin_capture()
  local ok, message = pcall(self.pass, self, epoch)
  local recording = core.end_capture()
  if not ok and message == "interrupted" then error(message, 0) end
  self._recording, self._rates = ok and recording or false, rates(self.optimizer)
  self._repeats = self._recording and true or false
end

---Makes one pass over the training part.
---@param epoch integer
---@param after? fun(done: integer, lists: integer, total: number?)  called after every batch; without a total on the GPU
---@return number loss  mean per list (or row) that counts
function Epochs:run(epoch, after)
  self._tally:open()
  -- the first epoch allocates what is kept; a recording of it would allocate each time
  local profiling = core.profiling()  -- operations that are replayed cannot be told apart
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
  if not ok then anomaly.raise_of_epoch(epoch, total) end
  if total - total ~= 0 then anomaly.of_epoch(epoch, total) end
  if replays and after then after(self.count, self._lists, total) end
  return self._lists > 0 and total / self._lists or 0
end

---Closes the tally and frees the recording.
function Epochs:close()
  local _ <close> = self._tally
  self:forget()
end

Epochs.__close = Epochs.close

return M
