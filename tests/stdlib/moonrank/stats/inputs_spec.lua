-- Tests every function of mr.stats with NaN, infinities, very large and very small numbers, few values, equal values
-- and wrong types, against its documentation.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises
local here = sweeps.capture "pwd":match "[^\n]+" .. "/tests/support"
local s, inf, nan = mr.stats, math.huge, 0 / 0

local function zeros(x)
  local out = {}
  for i = 1, #x do out[i] = 0 end
  return out
end

local function scaled(x, factor)
  local out = {}
  for i, each in ipairs(x) do out[i] = each * factor end
  return out
end

it("mr.stats functions return or raise a readable error for extreme inputs", function()
  if not sweeps.moonrank then return test.skip "MOONRANK is not set" end
  -- runs in a separate process, which can be killed, because ranking of equal infinities once did not end
  local folder = sweeps.new_folder()
  local status, out, err = sweeps.run(folder, here .. "/stats_inputs.lua", "", "timeout 200")
  equal({ status, out, err }, { 0, "ended\n", "" })
end)

it("mr.stats.wilcoxon ranks infinite differences highest and drops equal infinities", function()
  -- scipy.stats.wilcoxon gives statistic 3 and p = 1 for the differences {1, 2, -3}, which have the same order as the
  -- first case; for {1, -2, 3, 4}, which are ordered like the second, 8 and 0.375
  local both = s.wilcoxon({ inf, 1, 2, -inf, 0 }, { inf, 0, 0, -inf, 3 })
  equal({ both.statistic, both.p, both.n, both.equal, both.skipped }, { 3.0, 1.0, 3, 2, 0 })
  local one = s.wilcoxon({ 1, -2, 3, inf }, { 0, 0, 0, 0 })
  equal({ one.statistic, one.p, one.n, one.equal }, { 8.0, 0.375, 4, 0 })
  -- two differences of equal size share ranks 2 and 3, so the sums of positive ranks are 0, 1, 2.5, 2.5, 3.5, 3.5, 5, 6
  local tied = s.wilcoxon({ 1, -inf, inf }, { 0, 0, 1 })
  equal({ tied.statistic, tied.p }, { 3.5, 1.0 })
  local none = s.wilcoxon({ inf, inf }, { inf, inf })
  equal({ none.p, none.n, none.equal }, { 1.0, 0, 2 })
end)

it("mr.stats functions based on means give NaN for infinite values", function()
  local cases = { { { inf, 1, 2 }, { 0, 0, 0 } }, { { inf, 1, 2 }, { inf, 0, 0 } }, { { 1, -inf }, { 1, inf } } }
  for _, pair in ipairs(cases) do
    local t, p, e = s.paired_t(pair[1], pair[2]), s.permutation(pair[1], pair[2]), s.effect_size(pair[1], pair[2])
    near({ t.t, t.p, t.mean_difference, t.standard_error }, { nan, nan, nan, nan })
    near({ p.p, p.error, p.mean_difference }, { nan, nan, nan })
    near({ e.d, e.hedges, e.wins + e.ties + e.losses }, { nan, nan, 1 }, 1e-15)
    equal({ t.n, p.n, e.n }, { #pair[1], #pair[1], #pair[1] })
  end
  local long = {}
  for i = 1, 30 do long[i] = i == 30 and inf or i end
  near(s.permutation(long, zeros(long)).p, nan)
  equal(s.effect_size({ inf, 2 }, { inf, 1 }).ties, 0.5)
  near({ s.mean{ 1, inf }, s.mean{ inf, -inf }, s.summary{ 1, inf }.sd, s.mean{} }, { inf, nan, nan, nan })
end)

it("mr.stats paired tests do not depend on the unit of the values", function()
  local a = { 1, 2.5, -0.75, 3, 4, 0.5, 2, 1.5, -2, 5, 6, 7, 3.5, 2.25, -1, 8, 4.5, 9, 0.25, 1.75, 2.75, 3.25 }
  local function tests_of(x)
    local y = zeros(x)
    return s.paired_t(x, y), s.wilcoxon(x, y), s.permutation(x, y), s.effect_size(x, y)
  end
  for _, count in ipairs{ 4, #a } do
    local x = { table.unpack(a, 1, count) }
    local t, w, p, e = tests_of(x)
    for _, power in ipairs{ 1020, 600, -600, -1000 } do
      local unit = 2.0 ^ power
      local y = scaled(x, unit)
      local t2, w2, p2, e2 = tests_of(y)
      local where = count .. " pairs, 2^" .. power
      near({ t2.t, t2.p, w2.p, p2.p, e2.d, e2.hedges }, { t.t, t.p, w.p, p.p, e.d, e.hedges }, 1e-14, where)
      near({ t2.mean_difference / unit, t2.standard_error / unit, p2.mean_difference / unit },
        { t.mean_difference, t.standard_error, p.mean_difference }, 1e-14, where)
    end
  end
  -- the difference of two finite values may itself be too large for a float64
  local far = s.paired_t({ 1.5e308, 1.5e308, 1e308 }, { -1.5e308, -1e308, -1e308 })
  near({ far.t, far.p }, { s.paired_t({ 3, 2.5, 2 }, { 0, 0, 0 }).t, s.paired_t({ 3, 2.5, 2 }, { 0, 0, 0 }).p }, 1e-12)
  equal(s.wilcoxon({ 1.5e308, 1e308, 0 }, { -1.5e308, -1e308, 1 }).statistic, 5.0)
end)

it("mr.stats intervals, curves and models reject values too large to square", function()
  local y = { 1, 3, 2, 5 }
  for _, bad in ipairs{ inf, -inf, 1e101, -1e308 } do
    local x = { 1, 2, bad, 4 }
    local found = ("%g"):format(bad)
    for what, f in pairs{
      ["bootstrap: entry 3 of x"] = function() s.bootstrap(x) end,
      ["bootstrap: entry 3 of b"] = function() s.bootstrap({ y, x }, { statistic = "median" }) end,
      ["kde: entry 3 of x"] = function() s.kde(x, { bandwidth = 1 }) end,
      ["kernel_regression: entry 3 of x"] = function() s.kernel_regression(x, y) end,
      ["kernel_regression: entry 3 of y"] = function() s.kernel_regression(y, mr.tensor(x, { dtype = "float64" })) end,
      ["spline: entry 3 of x"] = function() s.spline(x, y) end,
      ["spline: entry 3 of y"] = function() s.spline(y, x) end,
      ["linear_model: entry 3 of y"] = function() s.linear_model{ y = x, covariates = { a = y } } end,
      ["linear_model: entry 3 of covariate a"] = function() s.linear_model{ y = y, covariates = { a = x } } end,
    } do
      raises(f, "mr.stats." .. what, found)
    end
  end
  for _, f in ipairs{ s.ecdf, function(x) s.ecdf_compare(x, y) end, function(x) s.ecdf_compare(y, x) end } do
    raises(function() f{ 1, inf } end, "2", "infinite", "entry")
    f{ 1e308, -1e308, 5e-324 }
  end
end)

it("mr.stats.kde, kernel_regression and spline reject values too close to separate", function()
  raises(function() s.kde{ 1e-120, 2e-120 } end, "'x'", "2", "equal")
  raises(function() s.kernel_regression({ 0, 5e-324, 1e-300 }, { 1, 2, 3 }) end, "'x'", "3", "equal")
  raises(function() s.spline({ 0, 5e-324, 1 }, { 1, 2, 3 }) end, "0", "1", "x")
  raises(function() s.kde({ 1, 2 }, { bandwidth = 1e-200 }) end, "bandwidth", "1e-200")
end)

it("mr.stats functions handle no value, one value and equal values", function()
  near({ s.ecdf({}).n, #s.ecdf({ nan }).x, s.ecdf({ nan }).skipped }, { 0, 0, 1 })
  equal({ s.permutation({ 3 }, { 0 }).p, s.wilcoxon({ 3 }, { 0 }).p, s.permutation({ 2, 2 }, { 0, 0 }).p },
    { 1.0, 1.0, 0.5 })
  for _, method in ipairs{ "percentile", "bca" } do
    for _, statistic in ipairs{ "mean", "median" } do
      local o = { samples = 30, method = method, statistic = statistic }
      near({ s.bootstrap({ 2, 2, 2 }, o).low, s.bootstrap({ 2, 2, 2 }, o).high, s.bootstrap({}, o).low }, { 2, 2, nan })
    end
  end
  local unknown = s.bootstrap({ 1, 2, 3 }, { samples = 9, method = "bca", statistic = function() return nan end })
  near({ unknown.estimate, unknown.low, unknown.high, unknown.error }, { nan, nan, nan, nan })
  local function of_all(x) return #x == 4 and x:mean():item() or nan end
  local jackknife = s.bootstrap({ 1, 2, 3, 4 }, { samples = 9, method = "bca", statistic = of_all })
  near({ jackknife.estimate, jackknife.low, jackknife.high }, { 2.5, nan, nan })
  local levels = s.linear_model{ y = { 1, 2, 3, 9 }, factors = { f = { "a", "a", "b", nan } } }
  equal({ levels.n, levels.skipped }, { 3, 1 })
end)

it("mr.stats functions reject sizes that are too large", function()
  for _, size in ipairs{ 1 << 53, math.maxinteger, 100000001 } do
    local says = (" is %d"):format(size)
    raises(function() s.permutation({ 1 }, { 0 }, { orders = size }) end, "mr.stats.permutation: orders" .. says)
    for _, statistic in ipairs{ "median", function() return 1 end } do
      raises(function() s.bootstrap({ 1 }, { samples = size, statistic = statistic }) end, "samples" .. says)
    end
    raises(function() s.kde({ 1, 2 }, { points = size }) end, "mr.stats.kde: points" .. says)
    raises(function() s.kernel_regression({ 1, 2 }, { 1, 2 }, { points = size }) end, "points" .. says)
    raises(function() s.spline({ 1, 2, 3 }, { 1, 2, 4 }, { points = size }) end, "points" .. says)
  end
end)

it("core.bootstrap gives the leave-one-out medians of its values", function()
  for n = 2, 7 do
    local x = {}
    for i = 1, n do x[i] = (i * 5 % 4) / 8 end
    local _, _, without = core.bootstrap(mr.tensor(x, { dtype = "float64" }), "median", 2, 1)
    for i = 1, n do
      local rest = { table.unpack(x) }
      table.remove(rest, i)
      table.sort(rest)
      equal(without[i]:item(), 0.5 * (rest[n // 2] + rest[(n + 1) // 2]), ("value %d of %d"):format(i, n))
    end
  end
end)

it("Ctrl-C ends long mr.stats operations", function()
  if not sweeps.moonrank then return test.skip "MOONRANK is not set" end
  -- calls functions on so many values that a single random draw or point of a curve takes long
  for _, operation in ipairs{ "permutation", "bootstrap", "median", "kde", "lscv", "regression" } do
    local folder = sweeps.new_folder()
    local id = sweeps.start(folder, here .. "/stats_for_ever.lua", operation)
    for _ = 1, 6000 do
      if sweeps.read(folder .. "/out"):find "begins" then break end
      sweeps.wait(0.01)
    end
    sweeps.wait(0.3)
    local began = core.clock()
    sweeps.signal(id, "INT")
    local status = sweeps.finish(folder)
    equal(status, 130, operation)
    -- the documentation promises to react to Ctrl-C within one second; a busy machine and sanitizers need more
    check(core.clock() - began < 15, ("%s takes %.1f s to end"):format(operation, core.clock() - began))
  end
end)
