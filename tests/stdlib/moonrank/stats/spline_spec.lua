-- Tests smoothing splines against SciPy 1.x (make_smoothing_spline), and for penalties of 0 and infinity. The reference
-- has n = 12 pairs. Its degrees of freedom and the covariance of fitted values come from the hat matrix, whose columns
-- are SciPy's splines of unit vectors. The confidence band between knots comes from natural splines (CubicSpline) of
-- this matrix.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, near, raises = test.it, test.equal, test.check, test.near, test.raises

local x = { 0.856, 0.941, 1.137, 1.597, 2.368, 3.912, 4.331, 4.791, 5.167, 5.822, 7.346, 8.013 }
local y = { 0.6708, 0.6077, 0.5908, 0.8824, 0.8433, -0.768, -0.6408, -1.0569, -0.8912, 0.0187, 1.0373, 0.8358 }
local at = { 0.856, 1.5, 3.3, 5.05, 7.0, 8.013 }
local curves = {
  [0.01] = { 0.617017046286, 0.812822473461, -0.13954262159, -0.920759188706, 0.969585600102, 0.851110676865 },
  [1.0] = { 0.772317934949, 0.621815188153, -0.219511739001, -0.609543410389, 0.428409025583, 1.0214815205 },
  [100.0] = { 0.423462812012, 0.34282940948, 0.13581997547, 0.0251191166032, 0.0410302106339, 0.0746562786272 },
}
local weights = { 1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 4, 1 }
local weighted = { 0.783490772912, 0.686890557577, -0.182811116097, -0.582239668074, 0.626162572986, 1.2314920578 }
local errors = { 0.208076618704, 0.168448609075, 0.211770037733, 0.173897065618, 0.221189939014, 0.292510536704 }

-- Returns the fitted value at one position, which is an end of the range of the curve.
local function one(xs, ys, where, options)
  local last = where == x[#x]
  local o = { points = 2, range = last and { x[1], where } or { where, x[#x] } }
  for name, value in pairs(options) do o[name] = value end
  local found, p = mr.stats.spline(xs, ys, o), last and 2 or 1
  return found.y[p]:item(), found.error[p]:item(), found
end

it("mr.stats.spline equals SciPy for the same penalty, at knots and between them", function()
  for lambda, expected in pairs(curves) do
    for i, where in ipairs(at) do near(one(x, y, where, { lambda = lambda }), expected[i], 1e-9) end
  end
end)

it("mr.stats.spline chooses the penalty with the least GCV score", function()
  local xs, ys = {}, {}
  for i = 1, 40 do xs[i], ys[i] = i / 4, math.sin(i / 4) + 0.5 * ((i * 7919 % 101) / 50 - 1) end
  local found = mr.stats.spline(xs, ys, { points = 40 })
  near(found.lambda, 0.34632433365844956, 1e-4)  -- values computed from the full hat matrices
  near(found.gcv, 0.12591303080313693, 1e-12)
  equal(found.at_edge, false)
  near(found.y[1]:item(), 0.433586602, 1e-5)
  near(found.y[20]:item(), -0.861957277, 1e-5)
  near(found.y[40]:item(), -0.580823232, 1e-5)
end)

it("mr.stats.spline sets at_edge if the score falls to the end of the search range", function()
  equal(mr.stats.spline(x, y).at_edge, true)
end)

it("mr.stats.spline has the degrees of freedom, score and band of SciPy", function()
  for i, where in ipairs(at) do
    local _, err, found = one(x, y, where, { lambda = 1 })
    near(err, errors[i], 1e-9)
    near(found.df, 3.848794485275743, 1e-10)
    near(found.gcv, 0.1879532074400656, 1e-12)
  end
  local found = mr.stats.spline(x, y, { lambda = 1, level = 0.9 })
  near((found.high - found.low)[7]:item(), 2 * 1.6448536269514722 * found.error[7]:item(), 1e-12)
end)

it("mr.stats.spline merges pairs of equal x into one with their mean and weight", function()
  local xs, ys = {}, {}
  for i, w in ipairs(weights) do
    for copy = 1, w do  -- copies of a point are spread symmetrically, so that their mean stays
      xs[#xs + 1], ys[#ys + 1] = x[i], y[i] + 0.1 * (copy - (w + 1) / 2)
    end
  end
  for i, where in ipairs(at) do near(one(xs, ys, where, { lambda = 1 }), weighted[i], 1e-9) end
end)

it("mr.stats.spline is a line for a large penalty and interpolates for a small one", function()
  local stiff, loose = mr.stats.spline(x, y, { lambda = 1e12, points = 3 }), one(x, y, x[5], { lambda = 1e-12 })
  near(stiff.y[2]:item(), (stiff.y[1]:item() + stiff.y[3]:item()) / 2, 1e-9)
  near(stiff.df, 2, 1e-6)
  near(loose, y[5], 1e-8)
  local line = mr.stats.spline({ 1, 2, 4, 7 }, { 2, 4, 8, 14 }, { points = 4 })
  for i, each in ipairs(line.x:totable()) do near(line.y[i]:item(), 2 * each, 1e-9) end
end)

it("mr.stats.spline does not depend on the unit of x", function()
  local wide = {}
  for i, each in ipairs(x) do wide[i] = 1e4 * each + 5 end
  local a, b = mr.stats.spline(x, y, { points = 9 }), mr.stats.spline(wide, y, { points = 9 })
  for i = 1, 9 do near(a.y[i]:item(), b.y[i]:item(), 1e-5) end
  near(b.lambda / a.lambda, 1e12, 1e8)
end)

it("mr.stats.spline leaves out NaN and rejects invalid options", function()
  local found = mr.stats.spline({ 1, 2, 3, 0 / 0, 4 }, { 1, 0 / 0, 2, 5, 4 }, { lambda = 1 })
  equal({ found.n, found.skipped }, { 3, 2 })
  check(#found.y == 100, "a hundred points")
  raises(function() mr.stats.spline({ 1, 1, 2 }, { 1, 2, 3 }) end, "'x'", "'mr.stats.spline'", "2")
  raises(function() mr.stats.spline(x, y, { lambda = 0 }) end, "lambda", "0")
  raises(function() mr.stats.spline(x, y, { range = { 0, 8 } }) end, "range", "x")
  raises(function() mr.stats.spline(x, y, { lambda = 1, level = 2 }) end, "level", "2")
end)
