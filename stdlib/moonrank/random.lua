-- Seeds and streams of calls that get no seed: each call has its own stream, numbered since the scope began.
local check = require "moonrank.check"
local scopes = require "moonrank.system.scope"

local M = {}

-- The present scope. `name` is a part of the streams' names, so that scopes with equal seeds differ.
local scope = { seed = 1, name = "", calls = 0, rows_before = 0 }

---Sets the seed of random tensors and dropout that do not get a seed of their own. Their numbers
---depend on `n` and on the number of such calls since then. Each script starts with the seed 1, and
---each trial of a sweep with the seed of the trial. Each training step of mr.fit starts with the
---fit's seed and the step's number, each validation with the seed and the epoch, and the test with
---the seed alone. Each model starts with its option `seed`, so models and fits do not depend on
---earlier calls.
---@param n integer
---Example: `(function() mr.seed(7); local a = mr.normal({2}); mr.seed(7); return (a - mr.normal({2})):abs():sum():item() end)()   --> 0.0`
---Example: `(mr.normal({2}) - mr.normal({2})):abs():sum():item() > 0   --> true`
function M.seed(n)
  if math.type(n) ~= "integer" then check.fail("mr.seed: n is %s, expected an integer", tostring(n)) end
  scope = { seed = n, name = "", calls = 0, rows_before = 0 }
end

---Opens a scope with a seed and a name. Closing the returned value restores the previous scope.
---@param seed integer
---@param name string
---@param rows_before? integer  number of rows of the batch in the shares of processes before (default 0)
function M.scope(seed, name, rows_before)
  local before, new = scope, { seed = seed, name = name, calls = 0, rows_before = rows_before or 0 }
  return scopes.open(name, function() scope = new end, function() scope = before end)
end

---Opens the scope of a training step. Its random numbers depend only on the fit's seed and the
---step's number. `rows_before` is for a batch that is one process's share of a larger batch: the
---number of rows before this share.
---@param seed integer
---@param step integer
---@param rows_before? integer
function M.of_step(seed, step, rows_before) return M.scope(seed, ("step %d"):format(step), rows_before) end

---Returns the number of rows of the whole batch that come before the rows of this process.
---@return integer
function M.rows_before() return scope.rows_before end

---Returns the seed and the stream of the next call without a seed.
---@param stream string  purpose of the numbers
---@return integer seed
---@return string stream
function M.next(stream)
  scope.calls = scope.calls + 1
  if scope.name ~= "" then stream = ("%s of %s"):format(stream, scope.name) end
  return scope.seed, scope.calls == 1 and stream or ("%s, call %d"):format(stream, scope.calls)
end

---Returns how many calls without a seed the scope has had.
---@return integer
function M.calls() return scope.calls end

---Goes back to an earlier count of calls. The next call then repeats the draws that followed this
---count.
---@param calls integer
function M.go_back(calls) scope.calls = calls end

return M
