-- The random numbers of calls that name no seed: each call has a stream of its own, in the order of the calls since the scope began.
local check = require "moonrank.check"
local scopes = require "moonrank.scope"

local M = {}

-- `name` is a part of the streams' names, so that scopes with one seed differ.
local scope = { seed = 1, name = "", calls = 0, rows_before = 0 }

---Makes what follows reproducible: random tensors and dropout without a seed of their own depend on `n` and on how many of them came before.
---Each script starts with 1, each trial of a sweep with its own seed, each training step of mr.fit with the fit's seed and the step's number,
---each of its validations with that of the epoch, its test with the seed alone, each model with its option `seed`: no result depends on what ran
---before.
---@param n integer
---Example: `(function() mr.seed(7); local a = mr.normal({2}); mr.seed(7); return (a - mr.normal({2})):abs():sum():item() end)()   --> 0.0`
---Example: `(mr.normal({2}) - mr.normal({2})):abs():sum():item() > 0   --> true`
function M.seed(n)
  if math.type(n) ~= "integer" then check.fail("mr.seed: n is %s, expected an integer", tostring(n)) end
  scope = { seed = n, name = "", calls = 0, rows_before = 0 }
end

---Begins a scope with a seed and a name; the one before goes on when the value returned is closed.
---@param seed integer
---@param name string
---@param rows_before? integer  of the batch, in the shares of other processes (default 0)
function M.scope(seed, name, rows_before)
  local before, new = scope, { seed = seed, name = name, calls = 0, rows_before = rows_before or 0 }
  return scopes.open(name, function() scope = new end, function() scope = before end)
end

---The scope of a training step: its random numbers depend on the fit's seed and on its number alone. `rows_before`: where the batch is the share of
---one of several processes, how many rows of the whole batch are before it.
---@param seed integer
---@param step integer
---@param rows_before? integer
function M.of_step(seed, step, rows_before) return M.scope(seed, ("step %d"):format(step), rows_before) end

---How many rows of the whole batch are before those that this process has.
---@return integer
function M.rows_before() return scope.rows_before end

---Seed and stream of the next call without a seed.
---@param stream string  what it is for
---@return integer seed
---@return string stream
function M.next(stream)
  scope.calls = scope.calls + 1
  if scope.name ~= "" then stream = ("%s of %s"):format(stream, scope.name) end
  return scope.seed, scope.calls == 1 and stream or ("%s, call %d"):format(stream, scope.calls)
end

---How many calls without a seed the scope has had.
---@return integer
function M.calls() return scope.calls end

---Goes back to so many calls: the next one draws what that one drew.
---@param calls integer
function M.go_back(calls) scope.calls = calls end

return M
