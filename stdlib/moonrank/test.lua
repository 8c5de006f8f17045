-- Test harness: `moonrank test spec.lua` runs a file of `describe` and `it` blocks. A test without checks fails.
local core = require "moonrank.core"
local M = {}

local state = { checks = 0, failures = 0, tests = 0, skipped = 0, names = {}, reasons = {} }

local function full_name(name) return table.concat(state.names, " ") .. (#state.names > 0 and " " or "") .. name end

---Groups tests under a name, which is printed before the names of tests that fail. `body` is a
---function that runs the tests by `it`; it is called at once.
---@param name string
---@param body fun()
function M.describe(name, body)
  table.insert(state.names, name)
  body()
  table.remove(state.names)
end

---Runs one test, the function `body`. An error in the test is printed and counts as a failure, and
---the tests after it still run. A test without a check fails, unless it is skipped.
---@param name string
---@param body fun()
function M.it(name, body)
  state.tests = state.tests + 1
  local before = state.checks
  local ok, message = xpcall(body, function(m) return debug.traceback(core.error_text(m), 2) end)
  if ok and state.checks == before and not state.skip then
    ok, message = false, "no check in this test"
  end
  state.skip = false
  if not ok then
    state.failures = state.failures + 1
    io.stderr:write("FAILED: ", full_name(name), "\n  ",
      (core.safe_text(core.error_text(message), true):gsub("\n", "\n  ")), "\n")
  end
end

---Marks the running test as skipped. `why` is the reason why the test cannot run on this machine.
---It does not end the test, which has to return by itself.
---@param why string
function M.skip(why)
  state.skipped = state.skipped + 1
  state.skip = true
  state.reasons[#state.reasons + 1] = why
end

local function fail(message, ...) error(message:format(...), 3) end

---Checks that a condition holds (is neither nil nor false). Otherwise the running test fails with
---the message.
---@param condition any
---@param message? string
function M.check(condition, message)
  state.checks = state.checks + 1
  if not condition then fail("check failed: %s", message or "condition is " .. tostring(condition)) end
end

---Checks that two values are equal; otherwise raises an error, which ends the running test as failed.
---Tables are compared entry by entry, also nested ones, and NaN equals NaN. `near` compares tensors.
---`where` is put before the message of a failure.
---@param found any
---@param expected any
---@param where? string
function M.equal(found, expected, where)
  state.checks = state.checks + 1
  local function same(a, b)
    if type(a) ~= "table" or type(b) ~= "table" then return a == b or (a ~= a and b ~= b) end
    for k, v in pairs(a) do if not same(v, b[k]) then return false end end
    for k in pairs(b) do if a[k] == nil then return false end end
    return true
  end
  local told = {}  -- tables, each of which is printed once
  local function text(v)
    if type(v) ~= "table" or told[v] or getmetatable(v) then return tostring(v) end
    told[v] = true
    local parts, named = {}, {}
    for i, each in ipairs(v) do parts[i] = text(each) end
    for k, each in pairs(v) do
      if not parts[k] then named[#named + 1] = ("%s = %s"):format(k, text(each)) end
    end
    table.sort(named)
    return "{" .. table.concat(table.move(named, 1, #named, #parts + 1, parts), ", ") .. "}"
  end
  if not same(found, expected) then
    fail("%sfound %s, expected %s", where and where .. ": " or "", text(found), text(expected))
  end
end

local function values_of(v)
  if type(v) == "userdata" then return v:reshape(v:numel()):totable() end
  return type(v) == "table" and v or { v }
end

---Checks that numbers, or tables or tensors of numbers, differ by at most atol + rtol * |expected|;
---otherwise the running test fails. Unequal counts fail, too; shapes are not compared. NaN agrees
---with NaN. `tolerance` is one number for both atol and rtol (default 1e-6), or a table
---{atol =, rtol =}, in which a missing one is 0. `where` is put before the message of a failure.
---@param found number|number[]|mr.Tensor
---@param expected number|number[]|mr.Tensor
---@param tolerance? number|{ atol?: number, rtol?: number }
---@param where? string
function M.near(found, expected, tolerance, where)
  state.checks = state.checks + 1
  local rtol, atol = tolerance or 1e-6, tolerance or 1e-6
  if type(tolerance) == "table" then rtol, atol = tolerance.rtol or 0, tolerance.atol or 0 end
  local a, b = values_of(found), values_of(expected)
  if #a ~= #b then fail("%sfound %d numbers, expected %d", where and where .. ": " or "", #a, #b) end
  for i = 1, #b do
    local both_nan = a[i] ~= a[i] and b[i] ~= b[i]
    local close = a[i] == b[i] or math.abs(a[i] - b[i]) <= atol + rtol * math.abs(b[i])
    if not (close or both_nan) then
      fail("%sentry %d: found %.17g, expected %.17g", where and where .. ": " or "", i, a[i], b[i])
    end
  end
end

-- True if a text contains `part` as a whole number or word: 1 is not found in 10 or 1.5, and "k" is not found in
-- "kernel".
local function contains(text, part)
  local first, last = text:find(part, 1, true)
  while first do
    local before, after = text:sub(1, first - 1), text:sub(last + 1)
    local within = part:find "^%d" and before:find "%d%.?$" or part:find "%d$" and after:find "^%.?%d"
      or part:find "^[%w_]" and before:find "[%w_]$" or part:find "[%w_]$" and after:find "^[%w_]"
    if not within then return true end
    first, last = text:find(part, first + 1, true)
  end
  return false
end

---Checks that `f` raises an error whose text contains every given part (plain text) as a whole word
---or number: "1" does not match 10. Returns the whole text of the error. Give key words, not a
---sentence: the name of the argument and the value that was found. Then the test survives a new
---wording of the error.
---@param f function
---@param ... string
---@return string
---Example: `require("moonrank.test").raises(function() require("moonrank").zeros(-1) end, "-1") ~= nil   --> true`
function M.raises(f, ...)
  state.checks = state.checks + 1
  local parts = { ... }
  if #parts == 0 then fail "raises: no key words of the error, expected at least one text" end
  local ok, message = pcall(f)
  if ok then fail("no error, expected one with '%s'", table.concat(parts, "', '")) end
  message = core.error_text(message)
  for _, part in ipairs(parts) do
    if not contains(message, part) then fail("the error is '%s', expected one with '%s'", message, part) end
  end
  return message
end

---Makes `os.tmpname` create its files in `folder` from now on. `moonrank test` passes a folder that
---it removes at the end of the spec. Lua's own `os.tmpname` always uses /tmp.
---@param folder string
function M.use_folder(folder)
  local count = 0
  os.tmpname = function()  -- luacheck: ignore 122
    count = count + 1
    local path = ("%s/lua_%d"):format(folder, count)
    assert(io.open(path, "w")):close()
    return path
  end
end

---Ends a spec file: prints the numbers of tests, checks, failures and skipped tests. Returns true
---if the spec has tests and none failed.
---@return boolean
function M.finish()
  if state.tests == 0 then io.stderr:write("FAILED: no tests in this spec\n") end
  -- ctest reports a spec as skipped if it prints the word SKIPPED, so the word is not printed after a failure
  for _, why in ipairs(state.reasons) do print((state.failures == 0 and "SKIPPED: " or "skipped: ") .. why) end
  print(("%d tests, %d checks, %d failures, %d skipped")
    :format(state.tests, state.checks, state.failures, state.skipped))
  return state.failures == 0 and state.tests > 0
end

return M
