-- Tests permutation tests, bootstrap intervals, Holm's correction and effect sizes against SciPy's values, enumeration
-- and exact distributions.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local json = dofile("tests/support/json.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises
local golden = json.read("tests/golden/stats.json")
local nan = 0 / 0

local function numbers(count, f)
  local x = {}
  for i = 1, count do x[i] = f(i) end
  return x
end

it("mr.stats.permutation equals SciPy for few pairs", function()
  for i, case in ipairs(golden.permutation) do
    local result = mr.stats.permutation(case.a, case.b)
    near(result.mean_difference, case.mean_difference, 1e-12)
    near(result.p, case.p, 1e-13, "case " .. i)
    equal({ result.exact, result.error, result.n }, { true, 0.0, #case.a })
  end
end)

it("mr.stats.permutation leaves out NaN and handles zero differences", function()
  local result = mr.stats.permutation({ 1, 5, 2, nan, 4, 8, 1 }, { 0, 5, 0, 0, 0, 0, nan })
  equal({ result.n, result.skipped, result.orders, result.exact }, { 5, 2, 16, true })
  near({ result.p, result.mean_difference }, { 0.125, 3 }, 1e-15)
  equal(mr.stats.permutation({ 1, 2 }, { 1, 2 }).p, 1.0)
  near(mr.stats.permutation({}, {}).p, nan)
  near(mr.stats.permutation({ nan }, { 1 }).p, nan)
end)

it("mr.stats.permutation with random signs approaches the exact p", function()
  local case = golden.random_permutation
  local result = mr.stats.permutation(case.a, case.b, { orders = 200000 })
  check(not result.exact)
  equal(result.orders, 200000)
  near(result.error, math.sqrt(case.p * (1 - case.p) / 200001), { rtol = 0.05 })
  near(result.p, case.p, { atol = 4 * result.error })
  -- p-values with twelve other seeds must scatter as the reported error says: their sum of standardized squares is
  -- chi-squared
  local squares = 0
  for seed = 2, 13 do
    local other = mr.stats.permutation(case.a, case.b, { orders = 5000, seed = seed })
    squares = squares + ((other.p - case.p) / other.error) ^ 2
  end
  check(squares > 2.2 and squares < 32.9, "sum of squares is " .. squares)
end)

it("mr.stats.permutation counts sums equally far from 0, with all signs or random signs", function()
  -- All differences are 1 or -1. Their sum under random signs is binomially distributed, and sums exactly as large as
  -- the observed one have a large share of p.
  for _, count in ipairs{ 10, 16, 24, 70 } do
    local up = count // 2 + 2
    local a = numbers(count, function(i) return i <= up and 1 or -1 end)
    local result = mr.stats.permutation(a, numbers(count, function() return 0 end), { orders = 20001 })
    local chance, as_far, further = 0.5 ^ count, 0, 0
    for positive = 0, count do
      local apart = math.abs(2 * positive - count)
      as_far = as_far + (apart >= 2 * up - count and chance or 0)
      further = further + (apart > 2 * up - count and chance or 0)
      chance = chance * (count - positive) / (positive + 1)
    end
    equal(result.exact, count <= 20)
    near(result.p, as_far, { atol = count <= 20 and 1e-14 or 4 * result.error }, count .. " pairs")
    check(as_far - further > 20 * result.error, "the test could not tell")
  end
end)

it("mr.stats.permutation counts a sum exactly at the rounding limit", function()
  -- Sums that are smaller by 1e-13 of the sum of sizes count as equal, because rounding can cause this. The small
  -- difference t makes a sum smaller by exactly this limit.
  for _, case in ipairs{ { ones = 7, up = 5, t = 197 * 2.0 ^ -49 }, { ones = 27, up = 16, t = 95 * 2.0 ^ -46 } } do
    local ones, t, sum = case.ones, case.t, 2 * case.up - case.ones
    equal(sum + t - 1e-13 * (ones + t), sum - t)
    local a = numbers(ones + 1, function(i) return i > ones and t or i <= case.up and 1 or -1 end)
    local result = mr.stats.permutation(a, numbers(ones + 1, function() return 0 end), { orders = 20001 })
    local chance, as_far = 0.5 ^ ones, 0
    for positive = 0, ones do
      as_far = as_far + (math.abs(2 * positive - ones) >= sum and chance or 0)
      chance = chance * (ones - positive) / (positive + 1)
    end
    near(result.p, as_far, { atol = result.exact and 1e-14 or 4 * result.error }, ones .. " ones")
  end
end)

it("mr.stats.permutation counts the last draws like the others", function()
  -- random signs are drawn for eight orders at a time; a smaller number of orders must give the beginning of the same
  -- sequence
  local a, b = numbers(24, function(i) return i <= 14 and 1 or -1 end), numbers(24, function() return 0 end)
  local before = 0
  for orders = 1, 20 do
    local extreme = mr.stats.permutation(a, b, { orders = orders }).p * (orders + 1) - 1
    near(extreme, math.floor(extreme + 0.5), { atol = 1e-9 })
    check(extreme - before > -1e-9 and extreme - before < 1 + 1e-9, orders .. " draws")
    before = extreme
  end
  check(before > 4 and before < 16, "every other draw is as far")
end)

it("mr.stats.permutation with random signs never gives p 0", function()
  local a, b = numbers(300, function(i) return i end), numbers(300, function() return 0 end)
  equal(mr.stats.permutation(a, b, { orders = 999 }).p, 0.001)
end)

it("mr.stats.permutation and bootstrap do not depend on the number of threads", function()
  local a = numbers(333, function(i) return math.sin(i * i) + 0.05 end)
  local b = numbers(333, function() return 0 end)
  local function all()
    local p = mr.stats.permutation(a, b, { orders = 3001 })
    local x = mr.stats.bootstrap({ a, b }, { samples = 701, method = "bca" })
    return { p.p, x.low, x.high, x.error }
  end
  local was, found = core.threads(), {}
  for _, threads in ipairs{ 1, 3 } do
    core.threads(threads)
    found[#found + 1] = all()
  end
  core.threads(was)
  equal(found[1], found[2])
end)

it("mr.stats.bootstrap intervals equal SciPy on the same samples", function()
  local g = golden.bootstrap
  local function mean(x) return x:mean() end
  local calls = {
    mean = { g.x, "mean" }, median = { g.x, "median" }, ["mean of pairs"] = { { g.x, g.y }, "mean" },
    ratio = { { g.x, g.y }, function(a, b) return mean(a):item() / mean(b):item() end },
  }
  for _, case in ipairs(g.cases) do
    local x, statistic = table.unpack(calls[case.statistic])
    for _, method in ipairs{ "percentile", "bca" } do
      local result = mr.stats.bootstrap(x,
        { statistic = statistic, samples = g.samples, seed = g.seed, level = g.level, method = method })
      local where = case.statistic .. ", " .. method
      near({ result.estimate, result.error }, { case.estimate, case.error }, 1e-12, where)
      near({ result.low, result.high }, case[method], 1e-11, where)
    end
  end
end)

it("mr.stats.bootstrap gives a script's statistic the same samples as a named one", function()
  local x = numbers(17, function(i) return (i * 7919 % 101) / 10 end)
  for _, method in ipairs{ "percentile", "bca" } do
    local o = { samples = 120, method = method, seed = 3 }
    local named = mr.stats.bootstrap(x, o)
    o.statistic = function(v) return v:mean() end
    local own = mr.stats.bootstrap(x, o)
    near({ own.estimate, own.low, own.high, own.error }, { named.estimate, named.low, named.high, named.error }, 1e-12)
  end
end)

it("core.bootstrap draws every sample with equal chance", function()
  -- three values have 27 equally likely bootstrap samples, whose means have the probabilities 1, 3, 3, 3, 6, ... / 27
  local x, count = { 0, 1, 5 }, 54000
  local chances = {}
  for s = 0, 26 do
    local sum = x[s % 3 + 1] + x[s // 3 % 3 + 1] + x[s // 9 + 1]
    chances[sum] = (chances[sum] or 0) + 1 / 27
  end
  local _, samples = core.bootstrap(mr.tensor(x, { dtype = "float64" }), "mean", count, 5)
  local found, chi_square, kinds = {}, 0, 0
  for _, mean in ipairs(samples:totable()) do
    local sum = math.floor(3 * mean + 0.5)
    found[sum] = (found[sum] or 0) + 1
  end
  for sum, chance in pairs(chances) do
    chi_square = chi_square + ((found[sum] or 0) - chance * count) ^ 2 / (chance * count)
    kinds = kinds + 1
  end
  equal(kinds, 10)
  -- with 9 degrees of freedom, chi squared exceeds 27.88 with probability 1/1000
  check(chi_square < 27.88, "chi square is " .. chi_square)
end)

it("mr.stats.bootstrap leaves out pairs with NaN", function()
  local result = mr.stats.bootstrap({ { 1, nan, 3, 5, 9 }, { 0, 1, nan, 3, 9 } }, { samples = 50 })
  equal({ result.n, result.skipped, result.estimate }, { 3, 2, 1.0 })
  local one = mr.stats.bootstrap({ 4, nan }, { samples = 50, method = "bca" })
  near({ one.estimate, one.low, one.high, one.error, one.n }, { 4, 4, 4, 0, 1 }, 1e-15)
  local none = mr.stats.bootstrap({ nan })
  near({ none.estimate, none.low, none.n, none.skipped }, { nan, nan, 0, 1 })
  equal(mr.stats.bootstrap(mr.tensor{ 1, 2, 4 }, { statistic = "median" }).estimate, 2.0)
  equal(mr.stats.bootstrap({ 1, 2, 4, 5 }, { statistic = "median" }).estimate, 3.0)
end)

it("mr.stats.holm equals its definition", function()
  for i, case in ipairs(golden.holm) do near(mr.stats.holm(case.p), case.adjusted, 1e-15, "case " .. i) end
  local by_name = mr.stats.holm{ minmax = 0.03, zscore = 0.01, none = nan }
  near({ by_name.minmax, by_name.zscore, by_name.none }, { 0.03, 0.02, nan }, 1e-15)
  near(mr.stats.holm(mr.tensor({ 0.25, 0.5 }, { dtype = "float64" })), { 0.5, 0.5 }, 1e-15)
  equal(mr.stats.holm{}, {})
  -- Holm's correction adjusts equal p-values equally, and adjusted values keep the order of the p-values
  near(mr.stats.holm{ 0.02, 0.01, 0.02, 0.01 }, { 0.04, 0.04, 0.04, 0.04 }, 1e-15)
  near(mr.stats.holm{ 0.012, 0.01, 0.01 }, { 0.03, 0.03, 0.03 }, 1e-15)
  near(mr.stats.holm{ 0.6, 0.7, 0, 1 }, { 1, 1, 0, 1 }, 1e-15)
end)

it("mr.stats.effect_size equals reference values and handles NaN and zero spread", function()
  for i, case in ipairs(golden.effect_size) do
    local result = mr.stats.effect_size(case.a, case.b)
    near({ result.d, result.hedges, result.wins, result.ties, result.losses },
      { case.d, case.hedges, case.wins, case.ties, case.losses }, 1e-11, "case " .. i)
  end
  local small = mr.stats.effect_size({ 1, nan, 2 }, { 0, 0, 2 })
  equal({ small.n, small.skipped, small.wins, small.ties }, { 2, 1, 0.5, 0.5 })
  near(small.hedges, nan)
  near(mr.stats.effect_size({ 1 }, { 1 }).d, nan)
  equal(mr.stats.effect_size({ 1, 2 }, { 1, 2 }).d, 0.0)
  equal(mr.stats.effect_size({ 1, 2 }, { 2, 3 }).d, -math.huge)
end)

it("mr.stats.permutation, bootstrap, holm and effect_size reject invalid input and options", function()
  local s = mr.stats
  raises(function() s.permutation({ 1, 2 }, { 1 }) end, "'b'", "1", "2")
  raises(function() s.permutation({ 1 }, { 1 }, { order = 5 }) end, "'order'", "'orders'")
  raises(function() s.permutation({ 1 }, { 1 }, { orders = 0 }) end, "orders", "0")
  raises(function() s.bootstrap({ 1 }, { method = "bc" }) end, "mr.stats.bootstrap", "method", "'bc'")
  raises(function() s.bootstrap({ 1 }, { statistic = "medain" }) end, "'medain'", "'median'")
  raises(function() s.bootstrap({ 1 }, { level = 95 }) end, "level", "95")
  raises(function() s.bootstrap({ 1 }, { samples = 1 }) end, "samples", "1")
  raises(function() s.bootstrap({ { 1 }, { 1 }, { 1 } }) end, "x", "{a, b}")
  raises(function() s.bootstrap({ { 1 }, { 1, 2 } }) end, "'b'", "2", "1")
  raises(function() s.bootstrap({ 1, 1 / 0 }) end, "2", "x", "inf")
  raises(function() s.bootstrap({ 1 }, { statistic = function() return "x" end }) end, "'x'", "statistic")
  raises(function() s.holm{ a = 1.5 } end, "mr.stats.holm", "p-value", "1.5")
  raises(function() s.holm(0.5) end, "0.5", "tensor")
  raises(function() s.effect_size({ 1 }, "x") end, "mr.stats.effect_size", "tensor")
end)

it("core.bootstrap_interval of no samples has NaN ends", function()
  local none, some = mr.zeros({ 0 }, { dtype = "float64" }), mr.tensor({ 1, 2, 3 }, { dtype = "float64" })
  local low, high = core.bootstrap_interval(none, 1.0, some, 0.95)
  check(low ~= low and high ~= high, "NaN")
end)
