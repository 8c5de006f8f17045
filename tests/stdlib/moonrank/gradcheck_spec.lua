-- Tests mr.gradcheck: it must pass right derivatives, and name the entry of a wrong one.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, raises = test.describe, test.it, test.near, test.check, test.raises

describe("mr.gradcheck", function()
  it("returns the largest error of a right derivative", function()
    local worst = mr.gradcheck(function(x) return x:exp() end, mr.tensor{ 1, 2, 3 })
    check(worst > 0 and worst < 1e-7, tostring(worst))
    check(mr.gradcheck(function(x) return (x * 3):sum() end, mr.tensor{ { 1, 2 }, { 3, 4 } }) < 1e-9)
  end)

  it("takes empty tensors and tensors of any shape", function()
    check(mr.gradcheck(function(x) return x:sum(2) end, mr.ones(2, 3, 2)) < 1e-9)
    near(mr.gradcheck(function(x) return x * 2 end, mr.zeros(0)), 0, 0)
  end)

  it("names the entry of a wrong derivative, and both derivatives", function()
    -- at entry 2, a part of the function is detached, so its derivative is missing
    local function wrong(x) return x * 2 + (x * mr.tensor({ 0, 5, 0 }, { dtype = "float64" })):detach() end
    local message = raises(function() mr.gradcheck(wrong, mr.tensor{ 1, 2, 3 }) end, "2", "entry", "derivative")
    local found, expected = message:match "derivative (%S+), .- (%S+)$"
    -- the ratio of derivatives of the fixed linear combination of the three results that mr.gradcheck uses
    near(expected / found, 7 / 2, 1e-6)
    check(message:find("gradcheck_spec.lua:%d+: "), message)
  end)

  it("reports a missing derivative", function()
    raises(function() mr.gradcheck(function(x) return (x * x):detach() end, mr.tensor{ 3 }) end,
      "1", "0", "entry", "derivative")
  end)

  it("reports errors that cancel in a sum", function()
    -- the derivatives of x1 + x2 and x2 + x1 are swapped, which the derivative of a plain sum would not show
    local swap = mr.tensor({ { 0, 1 }, { 1, 0 } }, { dtype = "float64" })
    local function wrong(x) return x + (x:reshape(1, 2):matmul(swap):reshape(2) - x):detach() end
    raises(function() mr.gradcheck(wrong, mr.tensor{ 1, 2 }) end, "gradcheck: entry 1")
  end)

  it("reports NaN and errors above the tolerance", function()
    local function cube(x) return x ^ 3 end
    raises(function() mr.gradcheck(function(x) return x:log() end, mr.tensor{ -1 }) end, "entry 1")
    raises(function() mr.gradcheck(cube, mr.tensor{ 1 }, { step = 0.5, tolerance = 1e-3 }) end, "entry 1")
    check(mr.gradcheck(cube, mr.tensor{ 1 }, { step = 0.5, tolerance = 0.1 }) > 1e-3)
    raises(function() mr.gradcheck(function(x) return x end, mr.tensor{ 1 }, { tolerence = 1 }) end,
      "'tolerence'", "'tolerance'")
  end)
end)
