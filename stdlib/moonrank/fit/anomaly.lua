-- Errors about NaN and infinite numbers in a training: they name the epoch, the batch, the list and the operation that
-- produced the number first. This file owns nothing of the training; it repeats a batch to find the cause.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local random = require "moonrank.random"
local scope = require "moonrank.system.scope"

local M = {}

local anomaly_options = declare("mr.DetectAnomalyOptions", {
  { "infinite", "boolean", default = false, help = "raise for infinities, too; masks may contain them" },
})

---Runs a function and raises an error at the first tensor operation or derivative that makes NaN.
---The error names the operation. With `infinite = true` infinities raise it too. Each step takes
---longer; results do not change. The function cannot yield out of a coroutine.
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
  if type(f) ~= "function" then check.fail("mr.detect_anomaly: f is a %s, expected a function", type(f)) end
  local wanted, was = o.infinite and "infinite" or "nan", nil
  local _ <close> = scope.open("mr.detect_anomaly", function() was = core.detect_anomalies(wanted) end,
    function() core.detect_anomalies(was) end)
  local results = table.pack(f())
  return table.unpack(results, 1, results.n)
end

local finds_it = "mr.detect_anomaly(function() mr.fit{...} end) finds the operation"

-- The number of the first entry of a list that is not finite, or nil.
local function first_of(numbers)
  for i, x in ipairs(numbers) do
    if x - x ~= 0 then return i end
  end
end

-- True if all entries are finite. 0 times an entry that is not finite is NaN.
local function finite(x) return x:numel() == 0 or (x:detach() * 0):sum():item() == 0 end

-- The number of the first parameter of a model that is not finite, or nil.
local function bad_parameter(model)
  for i, parameter in ipairs(model:parameters()) do
    if not finite(parameter) then return i end
  end
end

-- The first row of a batch's features that is not finite, or nil.
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

---@class mr.fit.Step
---@field failed fun(self: mr.fit.Step, message: any)
local Step = {}
Step.__index = Step

---Makes the steps of a fit. Each step remembers its batch, so that it can be computed again if it
---fails.
---@param plan mr.fit.Plan
---@param objective mr.fit.Objective  what a step computes of its batch
---@return mr.fit.Step
function M.steps(plan, objective)
  local model = plan.model
  local known, put = pcall(function() return model._put_buffers end)  -- a model of the library, with a definition
  local has_buffers = known and put and next(model:buffers()) ~= nil
  return setmetatable({
    _plan = plan, _batch = false, _objective = objective, _has_buffers = has_buffers, _buffers = false,
  }, Step)
end

---Begins the step of a batch. It keeps a copy of the model's buffers, because computing the batch
---changes them.
---@param batch mr.Batch
function Step:begin(batch)
  self._batch = batch
  if self._has_buffers then self._buffers = self._plan.model:buffers() end
end

-- Repeats the batch by calling f. Returns whether f succeeded, and its result or error. f runs with
-- the random numbers of the step and the buffers from before it, which the model also has
-- afterwards.
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

-- The number of the first list of the batch whose scores or loss are not finite, or nil.
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

-- The operation that produces the number, found by repeating the batch.
function Step:cause(kind)
  local was = core.detect_anomalies(kind)
  local ran, ok, message = pcall(self.again, self, function() self._objective:of_batch(self._batch) end)
  core.detect_anomalies(was)
  if not ran then error(ok, 0) end
  return not ok and check.retold(message) or "it does not appear again when the batch is repeated"
end

function Step:place()
  local before, count = self._batch.step - 1, self._plan.steps
  return ("epoch %d, batch %d of %d"):format(before // count + 1, before % count + 1, count)
end

function Step:explain(what)
  local batch = self._batch
  local where, parameter, row = self:place(), bad_parameter(self._plan.model), bad_features(batch)
  if parameter then
    check.fail("mr.fit: %s in %s: tensor %d of the model's parameters is not finite since the step before. "
      .. "A smaller lr may help; %s", what, where, parameter, finds_it)
  end
  local list = row and list_of_row(batch.lists, row) or self:bad_list()
  if list then
    where = ("%s, list %d of the batch"):format(where, list)
    if batch.users then where = ("%s (user %d)"):format(where, batch.users:totable()[list]) end
  end
  local why = row and ("the features of row %d of the batch are not finite"):format(row)
  check.fail("mr.fit: %s in %s: %s", what, where, why or self:cause(what:find "infinite" and "infinite" or "nan"))
end

---Raises the error that a batch or its derivative raised. For NaN it adds the place.
function Step:failed(message)
  local text = type(message) == "string" and message or ""
  if text:find("the derivative of '", 1, true) then
    check.fail("mr.fit: there is NaN in %s: %s", self:place(), check.retold(text))
  end
  if text:find("NaN at entry", 1, true) or text:find("infinity at entry", 1, true) then
    self:explain "there is NaN"
  end
  error(message, 0)
end

---Raises an error if the loss of a batch is not finite.
function Step:expect_finite(value)
  if value - value == 0 then return end
  self:explain(value ~= value and "the loss is NaN" or "the loss is infinite")
end

---Raises the error that validation or the test raised. For NaN it adds the epoch and the parameter
---that is not finite.
---@param plan mr.fit.Plan
---@param part string    "valid" or "test"
---@param when string    "after epoch 3"
---@param message any
function M.of_part(plan, part, when, message)
  local text = type(message) == "string" and message or ""
  if not (text:find("NaN at entry", 1, true) or text:find("infinity at entry", 1, true)) then error(message, 0) end
  local parameter = bad_parameter(plan.model)
  local where = ("mr.fit: there is NaN in the scores of %s %s"):format(part, when)
  if not parameter then check.fail("%s: %s", where, check.retold(text)) end
  check.fail("%s: tensor %d of the model's parameters is not finite after a step. A smaller lr may help; %s", where,
    parameter, finds_it)
end

---Raises an error that the loss of a whole epoch is not finite. On the GPU nothing is read before
---the epoch ends.
function M.of_epoch(epoch, total)
  check.fail("mr.fit: the loss is %s in epoch %d; %s", total ~= total and "NaN" or "infinite", epoch, finds_it)
end

---Raises the error that the end of an epoch raised on the GPU. For NaN it adds the epoch.
function M.raise_of_epoch(epoch, message)
  local text = tostring(message)
  if not text:find("NaN at entry", 1, true) then error(message, 0) end
  check.fail("mr.fit: there is NaN in epoch %d: %s; %s", epoch, check.retold(text), finds_it)
end

return M
