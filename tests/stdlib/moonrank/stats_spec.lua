-- Tests paired tests against published examples and against enumeration.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

it("mr.stats.paired_t gives the published t and p of Student's sleep data", function()
  -- Student 1908: extra sleep under two drugs; the published results are t = -4.0621, p = 0.002833
  local a = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 }
  local b = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 }
  local result = mr.stats.paired_t(a, b)
  near(result.t, -4.0621, { atol = 5e-5 })
  near(result.p, 0.002833, { atol = 5e-7 })
  equal({ result.df, result.n, result.skipped }, { 9.0, 10, 0 })
  near(result.mean_difference, -1.58, 1e-12)
end)

it("mr.stats.paired_t leaves out pairs with a NaN", function()
  local result = mr.stats.paired_t({ 1, 0 / 0, 3, 5 }, { 0, 1, 0 / 0, 3 })
  equal({ result.n, result.skipped }, { 2, 2 })
  near(result.mean_difference, 1.5)
end)

it("mr.stats.median is the middle value, or the mean of the two in the middle, without NaN", function()
  local nan = 0 / 0
  equal({ mr.stats.median{ 9, 1, 5 }, mr.stats.median{ 9, nan, 1, 2, 3 }, mr.stats.median(mr.tensor{ 4.0 }) },
    { 5.0, 2.5, 4.0 })
  local none = mr.stats.median{ nan }
  test.check(none ~= none, none)
end)

it("mr.stats.summary leaves out NaN, and gives NaN as deviation of fewer than two values", function()
  for _, few in ipairs{ {}, { 3 }, { 0 / 0 } } do
    local sd = mr.stats.summary(few).sd
    check(sd ~= sd, ("the deviation of %d values is %g"):format(#few, sd))
  end
  local s = mr.stats.summary{ 2, 4, 4, 4, 5, 5, 7, 9, 0 / 0 }
  near(s.mean, 5)
  near(s.sd, math.sqrt(32 / 7), 1e-12)
  equal({ s.n, s.skipped }, { 8, 1 })
end)

it("mr.stats.paired_t takes few, equal and constant differences, and refuses other lengths", function()
  local one = mr.stats.paired_t({ 3 }, { 1 })
  near({ one.t, one.p, one.mean_difference }, { 0 / 0, 0 / 0, 2 })
  equal({ one.n, one.df }, { 1, 0.0 })
  local same = mr.stats.paired_t({ 1, 2, 3 }, { 1, 2, 3 })
  equal({ same.t, same.p }, { 0.0, 1.0 })
  local shifted = mr.stats.paired_t({ 1, 2, 3 }, { 2, 3, 4 })
  equal({ shifted.t, shifted.p }, { -math.huge, 0.0 })
  near(mr.stats.paired_t({}, {}).p, 0 / 0)
  near(mr.stats.paired_t(mr.tensor{ 1, 2, 4 }, mr.tensor({ 0, 2, 2 }, { dtype = "float64" })).mean_difference, 1)
  raises(function() mr.stats.paired_t({ 1, 2 }, { 1 }) end, "'b'", "1", "2")
  raises(function() mr.stats.paired_t("a", { 1 }) end, "'a'", "tensor")
end)

it("mr.stats.wilcoxon gives the published V and p of the depression scores", function()
  -- Hollander & Wolfe 1973, p. 29, as in the manual of R: V = 40, one-sided p = 0.01953
  local first = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 }
  local second = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 }
  local result = mr.stats.wilcoxon(first, second)
  equal(result.statistic, 40.0)
  near(result.p, 2 * 0.01953125, 1e-12)
  equal({ result.exact, result.n, result.equal, result.skipped }, { true, 9, 0, 0 })
end)

it("mr.stats.wilcoxon counts every choice of signs, ties included", function()
  local differences = { 1, -1, 2, 2, -3, 5, 5, 5 }
  local ranks = { 1.5, 1.5, 3.5, 3.5, 5, 7, 7, 7 }
  local v, low, high = 0, 0, 0
  for i, d in ipairs(differences) do v = v + (d > 0 and ranks[i] or 0) end
  for signs = 0, 255 do
    local sum = 0
    for i = 1, 8 do sum = sum + ((signs >> (i - 1)) & 1) * ranks[i] end
    low, high = low + (sum <= v and 1 or 0), high + (sum >= v and 1 or 0)
  end
  local zeros = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
  local result = mr.stats.wilcoxon({ 1, -1, 2, 2, -3, 5, 5, 5, 0, 0 / 0 }, zeros)
  equal(result.statistic, v)
  near(result.p, 2 * math.min(low, high) / 256, 1e-14)
  equal({ result.n, result.equal, result.skipped }, { 8, 1, 1 })
end)

it("mr.stats.wilcoxon gives p = 1 if positive and negative ranks have equal sums", function()
  -- The sum of ranks is exactly in the middle of its distribution, so p is 1, both by enumeration and by the normal
  -- approximation with continuity correction.
  for _, n in ipairs{ 3, 4, 200, 203, 204 } do
    local a, b, left, found = {}, {}, n * (n + 1) // 4, 0
    for i = n, 1, -1 do
      local positive = i <= left
      if positive then left, found = left - i, found + i end
      a[i], b[i] = positive and i or -i, 0
    end
    local result = mr.stats.wilcoxon(a, b)
    equal({ result.statistic, result.p }, { found + 0.0, 1.0 }, n .. " pairs")
  end
end)

it("mr.stats.wilcoxon is exact up to 200 pairs, and normal beyond", function()
  local function of(n)
    local a, b = {}, {}
    for i = 1, n do a[i], b[i] = i * (i % 3 == 0 and -1 or 1), 0 end
    return mr.stats.wilcoxon(a, b)
  end
  -- the sum of the positive ranks has mean n (n + 1) / 4 and variance n (n + 1) (2 n + 1) / 24
  local function normal_p(n, v)
    local z = (v - n * (n + 1) / 4 - 0.5) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    -- upper tail of the normal distribution by its continued fraction (Abramowitz & Stegun 26.2.14)
    local tail = z
    for i = 60, 1, -1 do tail = z + i / tail end
    return 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / tail
  end
  local exact, normal = of(200), of(201)
  check(exact.exact and not normal.exact)
  equal(normal.statistic, 201 * 202 / 2 - 3 * 67 * 68 / 2)
  near(normal.p, normal_p(201, normal.statistic), { rtol = 1e-9 })
  -- the exact p-value, from integers of 200 bits: 2 (number of sign choices with a sum of at least 13467) / 2^200
  equal(exact.statistic, 13467.0)
  near(exact.p, 2.4879064246942968e-05, { rtol = 1e-12 })
end)

it("mr.stats.wilcoxon gives p = 1 for equal values and NaN for none", function()
  equal(mr.stats.wilcoxon({ 1, 2 }, { 1, 2 }).p, 1.0)
  near(mr.stats.wilcoxon({}, {}).p, 0 / 0)
end)
