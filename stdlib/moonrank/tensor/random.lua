-- Seeds of random calls that get no seed of their own. Each call has its own stream of random numbers, named by the
-- purpose and the number of the call since mr.seed or since a training step began.
local arguments = require("moonrank.options").arguments
local scopes = require "moonrank.system.scope"

local M = {}

local check_seed = arguments{ "n", "integer" }

-- The current seed, and the count of random calls without a seed since it was set. `name`, such as "step 3", is part of
-- the streams' names, so that training steps with one seed get different numbers.
local scope = { seed = 1, name = "", calls = 0, rows_before = 0 }

---Sets the seed of random tensors, dropout and random losses that do not get a seed of their own.
---Their numbers depend on `n` and on how many such calls came after mr.seed. Each script starts
---with the seed 1, and each trial of a sweep with the seed of the trial. Each training step of
---mr.fit starts with the fit's seed and the step's number, each validation with the seed and the
---epoch, and the test with the seed alone. Each model starts with its option `seed`, so models and
---fits do not depend on earlier calls.
---@param n integer
---Example:
---local draw = function() mr.seed(7); return mr.normal({2}) end
---(draw() - draw()):abs():sum():item()   --> 0.0
---Example: `(mr.normal({2}) - mr.normal({2})):abs():sum():item() > 0   --> true`
function M.seed(n)
  check_seed("mr.seed", n)
  scope = { seed = n, name = "", calls = 0, rows_before = 0 }
end

---Lets random calls without a seed of their own use `seed`, and streams that depend on `name`, until the returned value
---is closed, as by `local _ <close> = ...` at the end of a block.
---@param seed integer
---@param name string  part of the streams' names, such as "step 3"
---@param rows_before? integer  rows of the batch that processes with a lower number hold (default 0)
---@return any  to be closed
function M.scope(seed, name, rows_before)
  local before, new = scope, { seed = seed, name = name, calls = 0, rows_before = rows_before or 0 }
  return scopes.open(name, function() scope = new end, function() scope = before end)
end

---Like `scope`, for a training step. The name is made from the step's number, so equal steps of equal fits draw equal
---numbers.
---@return any  to be closed
function M.of_step(seed, step, rows_before) return M.scope(seed, ("step %d"):format(step), rows_before) end

---Returns the number of rows of the batch that come before the rows of this process, if processes
---share the batch; else 0.
function M.rows_before() return scope.rows_before end

---Returns the seed and the name of the stream for the next random call that got no seed, and counts this call.
---@param stream string  purpose of the numbers, such as "dropout"
function M.next(stream)
  scope.calls = scope.calls + 1
  if scope.name ~= "" then stream = ("%s of %s"):format(stream, scope.name) end
  return scope.seed, scope.calls == 1 and stream or ("%s, call %d"):format(stream, scope.calls)
end

---Returns how many random calls without a seed were made since the current seed was set.
function M.calls() return scope.calls end

---Sets the count of random calls back to an earlier value, such as M.calls() returned. The next
---calls then repeat the random numbers that were drawn after this count.
function M.go_back(calls) scope.calls = calls end

return M
