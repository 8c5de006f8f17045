-- Tests density estimates, regression curves and distribution functions against SciPy's values, plain formulas and
-- exact cases.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local json = dofile("tests/support/json.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises
local golden = json.read("tests/golden/stats.json")
local nan = 0 / 0

it("mr.stats.kde equals gaussian_kde of SciPy", function()
  local g = golden.kde
  for h, density in pairs(g.density) do
    local found = mr.stats.kde(g.x, { bandwidth = tonumber(h), points = g.points, range = { g.low, g.high } })
    near(found.density, density, { rtol = 1e-11, atol = 1e-300 }, h)
    equal({ found.bandwidth, found.x[1]:item(), found.x[g.points]:item() }, { tonumber(h), g.low + 0.0, g.high + 0.0 })
  end
end)

it("mr.stats.kde chooses bandwidths by rule and by cross-validation", function()
  local g = golden.kde
  for _, rule in ipairs{ "silverman", "scott" } do
    near(mr.stats.kde(g.x, { bandwidth = rule }).bandwidth, g[rule], { rtol = 1e-12 }, rule)
  end
  equal(mr.stats.kde(g.x).bandwidth, mr.stats.kde(g.x, { bandwidth = "silverman" }).bandwidth)
  local chosen = mr.stats.kde(g.x, { bandwidth = "lscv" })
  near(chosen.bandwidth, g.lscv, { rtol = 2e-5 })
  check(not chosen.at_edge)
  -- most values are equal, so the error is smallest as the bandwidth goes to 0, the edge of the search
  local equal_values = {}
  for i = 1, 40 do equal_values[i] = i <= 35 and 1 or i / 40 end
  check(mr.stats.kde(equal_values, { bandwidth = "lscv" }).at_edge)
end)

it("mr.stats.kde has area 1 and the mean of the values", function()
  local x = { 0.2, 0.9, nan, 1, 1, 1 }
  local k = mr.stats.kde(x, { points = 4001 })
  equal({ k.n, k.skipped, #k.x }, { 5, 1, 4001 })
  local step = (k.x[4001] - k.x[1]):item() / 4000
  -- three bandwidths from the centre contain 99.73 % of each kernel
  near(k.density:sum():item() * step, 1, 3e-3)
  near((k.x * k.density):sum():item() * step, 0.82, 3e-3)
end)

it("mr.stats.kernel_regression equals weighted least squares in curve, error and bandwidth", function()
  local g = golden.kernel_regression
  for _, case in ipairs(g.cases) do
    local o = { points = g.points, degree = case.degree, bandwidth = case.bandwidth, level = g.level }
    local found = mr.stats.kernel_regression(g.x, g.y, o)
    near(found.y, case.y, 1e-10)
    near(found.error, case.error, 1e-10)
    near((found.high - found.y) / found.error, mr.full({ g.points }, g.z, { dtype = "float64" }), 1e-9)
    near((found.y - found.low) / found.error, mr.full({ g.points }, g.z, { dtype = "float64" }), 1e-9)
    o.bandwidth = "cv"
    local chosen = mr.stats.kernel_regression(g.x, g.y, o)
    near(chosen.bandwidth, case.cv_bandwidth, { rtol = 1e-4 })
    near(chosen.cv, case.cv, { rtol = 1e-8 })
    check(not chosen.at_edge)
    o.bandwidth = "aicc"
    near(mr.stats.kernel_regression(g.x, g.y, o).bandwidth, case.aicc_bandwidth, { rtol = 1e-4 })
  end
end)

it("mr.stats.kernel_regression with nearest or least equals weighted least squares", function()
  local g = golden.sparse_regression
  local found = mr.stats.kernel_regression(g.x, g.y,
    { degree = 1, bandwidth = g.bandwidth, nearest = g.nearest, points = g.points })
  near(found.y, g.fit, 1e-10)
  near(found.error, g.error, 1e-10)
  local chosen = mr.stats.kernel_regression(g.x, g.y,
    { degree = 1, bandwidth = "aicc", least = "silverman", nearest = g.nearest })
  near(chosen.bandwidth, g.aicc_bandwidth, { rtol = 1e-4 })
  near(mr.stats.kernel_regression(g.x, g.y, { bandwidth = "cv", least = 7 }).bandwidth, 7, { rtol = 1e-6 })
  -- the least bandwidth lies beyond the search range, so it is used
  equal(mr.stats.kernel_regression(g.x, g.y, { bandwidth = "cv", least = 70 }).bandwidth, 70.0)
end)

it("mr.stats.kernel_regression with nearest draws lines across gaps, not steps", function()
  local o = { degree = 1, bandwidth = 1e-6, nearest = 0.01, points = 9 }
  near(mr.stats.kernel_regression({ 1, 1, 9 }, { 2, 4, 11 }, o).y, { 3, 4, 5, 6, 7, 8, 9, 10, 11 }, 1e-9)
  -- many points at both ends and none between: the curve is a line
  local x, y = {}, {}
  for i = 1, 40 do x[i], y[i] = i <= 20 and 0 or 8, (i <= 20 and -1 or 1) + (i % 2) - 0.5 end
  near(mr.stats.kernel_regression(x, y, o).y, { -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1 }, 1e-9)
  o.nearest = 0
  near(mr.stats.kernel_regression(x, y, o).y[4]:item(), -1, 1e-9)  -- without the option `nearest`, the curve is a step
  -- all x are equal, so the curve is the mean of y
  local same = mr.stats.kernel_regression({ 5, 5 }, { 1, 5 },
    { degree = 1, bandwidth = 1, nearest = 1, points = 2, range = { 4, 6 } })
  near(same.y, { 3, 3 }, 1e-9)
  -- the far point does not get a curve of its own: the line of the other points continues to it
  local far = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 100 }
  local fit = mr.stats.kernel_regression(far, far, { degree = 1, bandwidth = 0.1, nearest = 0.5 })
  near(fit.y, fit.x, 1e-9)
end)

it("mr.stats.kernel_regression with degree 1 follows a line, and a wide bandwidth gives the mean", function()
  local x, y, flat = {}, {}, {}
  for i = 1, 30 do x[i], y[i], flat[i] = math.sqrt(i), 3 - 2 * math.sqrt(i), math.sin(999 * i) end
  local line = mr.stats.kernel_regression(x, y, { degree = 1, points = 7 })
  near(line.y, 3 - 2 * line.x, 1e-9)
  near(line.error, mr.zeros({ 7 }, { dtype = "float64" }), 1e-9)
  local wide = mr.stats.kernel_regression(x, flat, { bandwidth = 1e6, points = 3 })
  local mean = mr.stats.mean(flat)
  near(wide.y, { mean, mean, mean }, 1e-9)
end)

it("mr.stats.kernel_regression handles gaps, equal x and NaN", function()
  local gap = mr.stats.kernel_regression({ 0, 0, 1000, nan }, { 1, 3, 7, 1 },
    { bandwidth = 0.1, points = 5, degree = 1 })
  equal({ gap.n, gap.skipped }, { 3, 1 })
  near({ gap.y[1]:item(), gap.y[2]:item(), gap.y[5]:item() }, { 2, 2, 7 }, 1e-9)
  near(mr.stats.kernel_regression({ 0, 1 }, { 0, 1 }).y[1]:item(), 0, 0.5)
end)

it("mr.stats.ecdf equals SciPy and skips NaN", function()
  local g = golden.ecdf
  local found = mr.stats.ecdf(g.a)
  near(found.x, g.x, 1e-15)
  near(found.p, g.p, 1e-15)
  local small = mr.stats.ecdf{ 2, nan, 1, 2 }
  near(small.p, { 1 / 3, 1 }, 1e-15)
  equal({ small.n, small.skipped }, { 3, 1 })
  equal(#mr.stats.ecdf({}).x, 0)
end)

-- Returns 1 or -1 by the region that contains the point, or 0 if none does.
local function side(regions, place)
  for _, region in ipairs(regions) do
    if region.from < place and place < region.to then return region.better == "a" and 1 or -1 end
  end
  return 0
end

it("mr.stats.ecdf_compare equals reference regions, KS distance and areas", function()
  local g = golden.ecdf
  local higher, lower = mr.stats.ecdf_compare(g.a, g.b), mr.stats.ecdf_compare(g.a, g.b, { direction = "minimize" })
  for i, place in ipairs(g.middle) do
    equal(side(higher.regions, place), math.tointeger(g.sign[i]), "at " .. place)
    equal(side(lower.regions, place), -math.tointeger(g.sign[i]), "at " .. place)
  end
  near({ higher.ks, higher.at }, { g.ks, g.at }, 1e-14)
  near({ higher.area_a, higher.area_b }, { g.area_a, g.area_b }, 1e-12)
  near({ lower.area_a, lower.area_b }, { g.area_b, g.area_a }, 1e-12)
  near(higher.area_a - higher.area_b, mr.stats.mean(g.a) - mr.stats.mean(g.b), 1e-12)
  equal(higher.n, { 40, 31 })
end)

it("mr.stats.ecdf_compare joins touching regions and splits them where the functions meet", function()
  local found = mr.stats.ecdf_compare({ 1, 2, 5, 6, nan }, { 0, 1, 4, 5 })
  equal(found.regions, { { from = 0.0, to = 2.0, better = "a" }, { from = 4.0, to = 6.0, better = "a" } })
  equal({ found.ks, found.at, found.area_a, found.area_b, found.skipped[1] }, { 0.25, 0.0, 1.0, 0.0, 1 })
  local same = mr.stats.ecdf_compare({ 1, 2 }, { 2, 1, 1, 2 })
  equal({ #same.regions, same.ks }, { 0, 0.0 })
  near(same.at, nan)
end)

it("mr.stats.kernel_regression and kde do not depend on the number of threads", function()
  local g, was, found = golden.kernel_regression, core.threads(), {}
  for _, threads in ipairs{ 1, 3 } do
    core.threads(threads)
    local fit = mr.stats.kernel_regression(g.x, g.y)
    local h = mr.stats.kde(g.y, { bandwidth = "lscv" }).bandwidth
    found[#found + 1] = { fit.bandwidth, fit.cv, fit.y[50]:item(), fit.error[50]:item(), h }
  end
  core.threads(was)
  equal(found[1], found[2])
end)

it("mr.stats.kde, kernel_regression and ecdf_compare reject invalid input and options", function()
  local s = mr.stats
  raises(function() s.kde({}, { bandwidth = 1 }) end, "x", "number")
  raises(function() s.kde({ 1, 1 }) end, "2 values that are all equal")
  raises(function() s.kde({ 1, 2 }, { bandwidth = "silvermann" }) end, "'silverman'")
  raises(function() s.kde({ 1, 2 }, { bandwidth = 0 }) end, "bandwidth is 0")
  raises(function() s.kde({ 1, 2 }, { bandwidth = true }) end, "bandwidth is true")
  raises(function() s.kde({ 1, 2 }, { points = 1 }) end, "points is 1")
  raises(function() s.kde({ 1, 2 }, { range = { 2, 1 } }) end, "range", "{2, 1}", "{lowest, highest}")
  raises(function() s.kde({ 1, 1 / 0 }) end, "2", "x", "inf")
  raises(function() s.kernel_regression({ 1, 1 }, { 1, 2 }) end, "2 pairs with equal x")
  raises(function() s.kernel_regression({ 1 }, { 1 }) end, "x and y", "pairs", "1")
  raises(function() s.kernel_regression({ 1, 2 }, { 1 }) end, "1", "2")
  raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { degree = 2 }) end, "degree is 2")
  raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { nearest = 2 }) end, "nearest is 2")
  raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { least = "scott" }) end,
    "mr.stats.kernel_regression: least is 'scott'")
  raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { least = 0 }) end, "least is 0")
  raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { bandwidth = 1, least = 1 }) end, "least is 1")
  raises(function() s.ecdf_compare({ nan }, { 1 }) end, "no values")
  raises(function() s.ecdf_compare({ 1 }, { 1 }, { direction = "more" }) end,
    "mr.stats.ecdf_compare: direction is 'more'")
end)
