-- Tests that no loss stores a matrix of all pairs of a list's rows, by the peak memory of the process during a step on
-- one long list. Linux resets the peak on request.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local sweeps = require "tests.support.sweeps"
local check = test.check

-- a program that was built with a sanitizer uses more memory; without its path, the program counts as built without one
local sanitized = sweeps.moonrank and sweeps.why_not_bare()

local function memory(key)
  for line in io.lines "/proc/self/status" do
    local kibibytes = line:match("^" .. key .. ":%s*(%d+) kB")
    if kibibytes then return kibibytes * 1024 end
  end
end

-- Returns the peak memory of a call of f in bytes, or nil if the system does not report it.
local function peak_of(f)
  collectgarbage()
  collectgarbage()
  local reset = io.open("/proc/self/clear_refs", "w")
  if not reset or core.device() ~= "cpu" then return nil end
  reset:write "5"
  if not reset:close() then return nil end
  local before = memory "VmRSS"
  f()
  local peak = memory "VmHWM"
  return peak and before and peak - before
end

local n = 4000
local grades = {}
for row = 1, n do grades[row] = row % 2 end
local lists = mr.lists{ grades }

test.describe("one list of 4,000 rows", function()
  for _, name in ipairs(mr.losses.names()) do
    test.it("takes less memory than half a matrix of its pairs with " .. name, function()
      if sanitized then return test.skip(sanitized) end
      local scores = mr.normal({ n }, { seed = 1 }):detach():requires_grad()
      local taken = peak_of(function()
        -- soft_rank refuses lists longer than its option `longest`, because its time grows with the cube
        local ok, message = pcall(function() mr.losses[name]()(scores, lists):sum():backward() end)
        check(ok or tostring(message):find("longest", 1, true), message)
      end)
      if not taken then return test.skip "the peak of memory cannot be reset here" end
      check(taken < n * n * 4 / 2, ("%s: %.1f MB"):format(name, taken / 1e6))
    end)
  end
end)
