-- Tests figures of `moonrank serve` with many points.
local chart = require "moonrank.serve.chart"
local test = require "moonrank.test"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

local function dots_of(x, y, more)
  local o = { title = "t", x = "x", y = "y", plain = { { class = "dot done", x = x, y = y } } }
  for name, value in pairs(more or {}) do o[name] = value end
  local path = chart.figure(o):match '<path class="dot done plain" d="([^"]*)"'
  local found = {}
  for left, top in path:gmatch "M(%d+) (%d+)h0" do found[#found + 1] = { tonumber(left), tonumber(top) } end
  return found
end

describe("figures with many dots", function()
  it("draw each place once, and leave out what is not a number", function()
    equal(#dots_of({ 1, 1, 2, 3, 4 }, { 0.5, 0.5, 0 / 0, math.huge, 1 }), 2)
    equal(#dots_of({}, {}), 0)
  end)
  it("place dots like named ones, on linear and logarithmic axes and between texts", function()
    for _, case in ipairs{ { { 1, 2, 9 } }, { { 0.001, 1, 100 }, { log_x = true } }, { { "b", "a", true } } } do
      local x, y, named = case[1], { 1, 3, 2 }, {}
      for i = 1, 3 do named[i] = { points = { { x[i], y[i] } }, class = "dot done", title = "" } end
      local found = dots_of(x, y, case[2])
      local body = chart.figure{ title = "t", x = "x", y = "y", dots = named, log_x = case[2] and true }
      local i = 0
      for left, top in body:gmatch '<circle cx="([%d.]+)" cy="([%d.]+)"' do
        i = i + 1
        check(math.abs(left - found[i][1]) <= 0.51 and math.abs(top - found[i][2]) <= 0.51, i)
      end
      equal(i, 3)
    end
  end)
end)
