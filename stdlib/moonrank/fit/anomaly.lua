-- Where a training met a number that is none: epoch, batch, list, and the operation that made it.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Runs a function in which every operation on tensors, and every derivative, is looked at: the first that makes NaN (or with `infinite = true`
---also an infinity) raises an error that names it. Each step takes longer; results are the same.
---@param f fun(): any
---@param options? { infinite?: boolean }  default false: an infinity may be meant, as in a mask
---@return any  what f returns
---Example: `select(2, pcall(mr.detect_anomaly, function() return mr.tensor{0, 1} / mr.tensor{0, 2} end)):match "'.*"   --> 'div' made NaN at entry 1 of 2`
function M.detect_anomaly(f, options)
  local o = check.options("mr.detect_anomaly", options, { infinite = false })
  if type(f) ~= "function" then check.fail("mr.detect_anomaly: f is a %s, expected a function", type(f)) end
  local was = core.detect_anomalies(o.infinite and "infinite" or "nan")
  local results = table.pack(pcall(f))
  core.detect_anomalies(was)
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- The first entry of a list of numbers that is not finite, or nil.
local function first_of(numbers)
  for i, x in ipairs(numbers) do
    if x - x ~= 0 then return i end
  end
end

-- Whether all entries are finite: of others 0 times them is NaN.
local function finite(x) return x:numel() == 0 or (x:detach() * 0):sum():item() == 0 end

-- The model's parameter that is not finite any more, or nil.
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

-- The first list whose scores, or whose loss, are not finite.
local function bad_list(o, batch)
  local was = core.recording(false)
  local ok, list = pcall(function()
    local scores = o.model(batch)
    local row = first_of(scores:totable())
    if row then return list_of_row(batch.lists, row) end
    return first_of(o.loss(scores, batch.lists):totable())
  end)
  core.recording(was)
  if list == "interrupted" then error(list, 0) end
  return ok and list or nil
end

-- The operation that makes it, found by doing the batch again.
local function cause(loss, kind)
  local was = core.detect_anomalies(kind)
  local ok, message = pcall(loss)
  core.detect_anomalies(was)
  if message == "interrupted" then error(message, 0) end
  return not ok and check.reason(message) or "it is gone when the batch is done again"
end

local function place_of(batch, count)
  return ("epoch %d, batch %d of %d"):format((batch.step - 1) // count + 1, (batch.step - 1) % count + 1, count)
end

local function explain(o, batch, what, loss, count)
  local where, parameter, row = place_of(batch, count), bad_parameter(o.model), bad_features(batch)
  if parameter then
    check.fail("mr.fit: %s in %s: tensor %d of the model's parameters is not finite, which the step before made it: a smaller lr may help, "
      .. "mr.detect_anomaly(function() mr.fit{...} end) finds the operation", what, where, parameter)
  end
  local list = row and list_of_row(batch.lists, row) or bad_list(o, batch)
  if list then
    where = ("%s, list %d of the batch"):format(where, list)
    if batch.users then where = ("%s (user %d)"):format(where, batch.users:totable()[list]) end
  end
  local why = row and ("the features of row %d of the batch are not finite"):format(row)
  check.fail("mr.fit: %s in %s: %s", what, where, why or cause(loss, what:find "infinite" and "infinite" or "nan"))
end

---Raises what a batch, or its derivative, raised; where that was for NaN, with the place.
function M.failed(o, batch, message, loss, count)
  local text = type(message) == "string" and message or ""
  if text:find("the derivative of '", 1, true) then
    check.fail("mr.fit: there is NaN in %s: %s", place_of(batch, count), check.reason(text))
  end
  if text:find("NaN at entry", 1, true) or text:find("infinity at entry", 1, true) then
    explain(o, batch, "there is NaN", loss, count)
  end
  error(message, 0)
end

---Raises where the loss of a batch is not finite.
function M.expect_finite(o, batch, value, loss, count)
  if value - value == 0 then return end
  explain(o, batch, value ~= value and "the loss is NaN" or "the loss is infinite", loss, count)
end

---Raises that the loss of a whole epoch is not finite: on the GPU nothing is read before it ends.
function M.of_epoch(epoch, total)
  check.fail("mr.fit: the loss is %s in epoch %d; mr.detect_anomaly(function() mr.fit{...} end) finds the operation",
    total ~= total and "NaN" or "infinite", epoch)
end

return M
