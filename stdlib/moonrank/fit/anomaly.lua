-- Makes error messages about NaN and infinite numbers in a training. A message names the epoch, the batch, the list and
-- the operation that first produced the number. To find the operation, the batch is computed again.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local random = require "moonrank.tensor.random"
local scope = require "moonrank.system.scope"

local M = {}

local check_function = arguments{ "f", "function" }

local anomaly_options = declare("mr.DetectAnomalyOptions", {
  { "infinite", "boolean", default = false, help = "raise for infinities, too; masks may contain them" },
})

---Runs a function and raises an error at the first tensor operation or derivative that produces
---NaN. The error names the operation. With `infinite = true`, an infinite number raises the error,
---too. Operations take longer; results do not change. The function cannot yield out of a coroutine.
---@param f fun(): any
---@param options? mr.DetectAnomalyOptions
---@return any  what f returns
---Example:
---```lua
---local _, message = pcall(mr.detect_anomaly, function() return mr.tensor{0, 1} / mr.tensor{0, 2} end)
---message:match "'.*"   --> 'div' made NaN at entry 1 of 2
---```
function M.detect_anomaly(f, options)
  local o = anomaly_options:read("mr.detect_anomaly", options)
  check_function("mr.detect_anomaly", f)
  local wanted, was = o.infinite and "infinite" or "nan", nil
  local _ <close> = scope.open("mr.detect_anomaly", function() was = core.detect_anomalies(wanted) end,
    function() core.detect_anomalies(was) end)
  local results = table.pack(f())
  return table.unpack(results, 1, results.n)
end

local finds_it = "mr.detect_anomaly(function() mr.fit{...} end) finds the operation"

-- Returns the index of the first NaN or infinite number in a table of numbers, or nil.
local function first_of(numbers)
  for i, x in ipairs(numbers) do
    if x - x ~= 0 then return i end
  end
end

-- Returns true if all entries are finite: 0 times an entry that is NaN or infinite is NaN.
local function finite(x) return x:numel() == 0 or (x:detach() * 0):sum():item() == 0 end

-- Returns a sentence about the model's first parameter tensor that contains NaN or infinity; nil if there is none.
local function bad_parameter(model)
  for i, parameter in ipairs(model:parameters()) do
    if not finite(parameter) then
      local text = "tensor %d of the model's parameters is not finite since the last step. A smaller lr may help; %s"
      return text:format(i, finds_it)
    end
  end
end

-- Returns the index of the first row of a batch whose features contain NaN or infinity, or nil.
local function bad_features(batch)
  local x = batch.features
  if not x or finite(x) then return nil end
  return first_of(x:double():sum(2):totable())
end

local function list_of_row(lists, row)
  for i, n in ipairs(core.integers(lists.sizes)) do
    if row <= n then return i end
    row = row - n
  end
end

---Remembers the batch of a training step, to find the cause if the step fails.
---@class mr.fit.Step
---@field failed fun(self: mr.fit.Step, message: any)
local Step = {}
Step.__index = Step

---Makes an object that remembers the batch of each training step. If the step fails, the object
---computes the batch again to find the cause of the failure.
---@param objective mr.fit.Objective  computes the loss of a batch
---@return mr.fit.Step
function M.steps(plan, objective)
  local model = plan.model
  -- The model's method _put_buffers is looked up in a protected call. Models of Moonrank have it, but a script's own
  -- model may raise an error when an unknown field is read.
  local known, put = pcall(function() return model._put_buffers end)
  local has_buffers = known and put and next(model:buffers()) ~= nil
  return setmetatable({
    _plan = plan, _batch = false, _objective = objective, _has_buffers = has_buffers, _buffers = false,
  }, Step)
end

---Remembers the batch of the step that begins, and a copy of the model's buffers (such as running
---means), because computing the batch changes the buffers.
function Step:begin(batch)
  self._batch = batch
  if self._has_buffers then self._buffers = self._plan.model:buffers() end
end

-- Calls f, which computes the batch of the step again, like pcall: with the step's random numbers and with the model's
-- buffers from before the step, which the model also has afterwards.
function Step:again(f)
  local function put_back()
    if self._buffers then self._plan.model:_put_buffers(self._buffers) end
  end
  put_back()
  local _ <close> = random.of_step(self._plan.seed, self._batch.step, check.field(self._batch, "rows_before"))
  local ok, found = pcall(f)
  put_back()
  if found == "interrupted" then error(found, 0) end
  return ok, found
end

-- Returns the number of the first list of the batch whose scores or loss are NaN or infinite, or nil.
function Step:bad_list()
  local plan, batch = self._plan, self._batch
  local ok, list = self:again(function()
    local scores = plan.model(batch)
    local row = first_of(scores:totable())
    if row then return list_of_row(batch.lists, row) end
    return first_of(plan.loss(scores, batch.lists):totable())
  end)
  return ok and list or nil
end

-- Computes the batch again, and returns a text that names the operation that first produces NaN or infinity, or says
-- that none does this time.
function Step:cause(kind)
  local was = core.detect_anomalies(kind)
  local ran, ok, message = pcall(self.again, self, function() self._objective:of_batch(self._batch) end)
  core.detect_anomalies(was)
  if not ran then error(ok, 0) end
  return not ok and check.retold(message) or "it does not appear again when the batch is repeated"
end

local function fail(what, where, why) check.fail("mr.fit: %s in %s: %s", what, where, why) end

function Step:place()
  local before, count = self._batch.step - 1, self._plan.steps
  return ("epoch %d, batch %d of %d"):format(before // count + 1, before % count + 1, count)
end

function Step:explain(what)
  local batch = self._batch
  local where, why, row = self:place(), bad_parameter(self._plan.model), bad_features(batch)
  local list = not why and (row and list_of_row(batch.lists, row) or self:bad_list())
  if list then
    where = ("%s, list %d of the batch"):format(where, list)
    if batch.users then where = ("%s (user %d)"):format(where, batch.users:totable()[list]) end
  end
  why = why or row and ("the features of row %d of the batch are not finite"):format(row)
  fail(what, where, why or self:cause(what:find "infinite" and "infinite" or "nan"))
end

-- Returns true if the error `message` says that an operation found NaN or infinity.
local function is_of_nan(message)
  return type(message) == "string"
    and (message:find("NaN at entry", 1, true) or message:find("infinity at entry", 1, true)) ~= nil
end

---Raises the error `message`, which computing a batch or its derivative raised. If the error is
---about NaN or infinity, adds the epoch, the batch and the cause to the message.
function Step:failed(message)
  if type(message) == "string" and message:find("the derivative of '", 1, true) then
    fail("there is NaN", self:place(), check.retold(message))
  end
  if is_of_nan(message) then self:explain "there is NaN" end
  error(message, 0)
end

---Raises an error if `value`, the loss of the current batch, is NaN or infinite.
function Step:expect_finite(value)
  if value - value == 0 then return end
  self:explain(value ~= value and "the loss is NaN" or "the loss is infinite")
end

---Raises the error `message`, which evaluating validation or test raised. If the error is about
---NaN or infinity, adds to the message the part, `when`, and the first parameter tensor that is not
---finite, if there is one.
---@param part string    "valid" or "test"
---@param when string    such as "after epoch 3"
function M.part_failed(plan, part, when, message)
  if not is_of_nan(message) then error(message, 0) end
  fail("there is NaN", ("the scores of %s %s"):format(part, when), bad_parameter(plan.model) or check.retold(message))
end

---Raises an error if `total`, the loss of an epoch, is NaN or infinite. This happens on the GPU, where
---losses are only read when the epoch ends, so that the batch is not known.
function M.expect_finite(epoch, total)
  if total - total == 0 then return end
  fail("the loss is " .. (total ~= total and "NaN" or "infinite"), "epoch " .. epoch, finds_it)
end

---Raises the error `message`, which was raised at the end of an epoch on the GPU. If the error is
---about NaN or infinity, adds the number of the epoch to the message.
function M.epoch_failed(epoch, message)
  if not is_of_nan(message) then error(message, 0) end
  fail("there is NaN", "epoch " .. epoch, ("%s; %s"):format(check.retold(message), finds_it))
end

return M
