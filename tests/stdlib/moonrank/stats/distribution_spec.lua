-- Tests mr.stats.distribution against a plain computation in Lua, mr.stats.bootstrap with the same draws, and reference
-- values.
local mr = require "moonrank"
local test = require "moonrank.test"
local field = dofile("tests/support/field.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises
local nan = 0 / 0

local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

local function sum(values, first, last)
  local total = 0
  for i = first, last do total = total + values[i] end
  return total
end

local plain = {}

function plain.worst_decile(x)
  local n = (#x + 9) // 10
  return sum(sorted(x), 1, n) / n
end

-- CVaR of the lowest 10 %: the maximum over t of t - mean(max(t - v, 0)) / 0.1, which one of the values attains.
function plain.cvar_10(x)
  local best = -math.huge
  for _, t in ipairs(x) do
    local short = 0
    for _, v in ipairs(x) do short = short + math.max(t - v, 0) end
    best = math.max(best, t - short / #x / 0.1)
  end
  return best
end

-- Gini coefficient: half the mean absolute difference of all pairs, divided by the mean.
function plain.gini(x)
  local apart = 0
  for _, a in ipairs(x) do
    for _, b in ipairs(x) do apart = apart + math.abs(a - b) end
  end
  return apart / (2 * #x * sum(x, 1, #x))
end

local function quantile(x, share)
  local values, place = sorted(x), 1 + (#x - 1) * share
  local below = math.floor(place)
  return values[below] + (place - below) * ((values[below + 1] or 0) - values[below])
end

local function made(count, seed)
  local x = {}
  for i = 1, count do x[i] = ((i * 37 + seed * 11) % 23) / 23 + (i % 3 == 0 and 0 or 0.01 * i) end
  return x
end

it("mr.stats.distribution equals a plain computation", function()
  for _, count in ipairs{ 1, 2, 9, 10, 11, 31, 33, 128 } do
    local x, shares = made(count, count), { 0, 0.05, 0.3, 0.5, 0.9, 1 }
    local found = mr.stats.distribution(x, { quantiles = shares, samples = 2 })
    for name, f in pairs(plain) do near(found[name].estimate, f(x), 1e-12, name .. " of " .. count) end
    near(found.mean.estimate, sum(x, 1, count) / count, 1e-13)
    for i, share in ipairs(shares) do near(found.quantiles[i].estimate, quantile(x, share), 1e-13) end
  end
end)

it("mr.stats.distribution draws the samples of mr.stats.bootstrap", function()
  local x = made(47, 3)
  local o = { samples = 200, seed = 5, level = 0.9 }
  local found = mr.stats.distribution(x, { samples = 200, seed = 5, level = 0.9, quantiles = { 0.2 } })
  plain.mean = function(values) return sum(values, 1, #values) / #values end
  plain.quantile = function(values) return quantile(values, 0.2) end
  found.quantile = found.quantiles[1]
  for name, f in pairs(plain) do
    local expected = mr.stats.bootstrap(x, { samples = o.samples, seed = o.seed, level = o.level,
      statistic = function(drawn) return f(drawn:totable()) end })
    near({ found[name].low, found[name].high }, { expected.low, expected.high }, 1e-12, name)
  end
end)

it("mr.stats.distribution counts NaN, and has a rule for no values, zeros and negative values", function()
  local found = mr.stats.distribution({ 0.5, nan, 0.25 }, { samples = 10 })
  equal({ found.n, found.skipped }, { 2, 1 })
  check(tostring(found):find "1 without a value")
  local none = mr.stats.distribution({ nan }, { samples = 10 })
  near({ none.mean.estimate, none.gini.low, none.quantiles[1].high }, { nan, nan, nan })
  near(mr.stats.distribution({ 0, 0 }, { samples = 10 }).gini.estimate, nan)
  raises(function() mr.stats.distribution{ 1, -0.5 } end, "-0.5", "gini = false")
  local signed = mr.stats.distribution({ 1, -0.5 }, { gini = false, samples = 10 })
  equal({ signed.gini, signed.worst_decile.estimate }, { false, -0.5 })
  check(not tostring(signed):find "Gini")
  raises(function() mr.stats.distribution({ 1 }, { quantiles = { 0.5, 0.25 } }) end, "quantiles")
  raises(function() mr.stats.distribution({ 1 }, { quantiles = { 1.5 } }) end, "quantiles")
  raises(function() mr.stats.distribution({ 1 / 0 }, {}) end, "entry 1")
end)

field.it("mr.stats.distribution equals reference values", "distribution", function(golden)
  check(#golden.vectors > 0)
  for _, case in ipairs(golden.vectors) do
    local shares = {}
    for share in pairs(case.quantiles) do shares[#shares + 1] = tonumber(share) end
    table.sort(shares)
    local found = mr.stats.distribution(case.values, { quantiles = shares, samples = 2 })
    near({ found.mean.estimate, found.gini.estimate, found.worst_decile.estimate, found.cvar_10.estimate },
      { case.mean, case.gini, case.worst_decile_mean, case.cvar_10 }, 1e-10)
    for i, share in ipairs(shares) do
      near(found.quantiles[i].estimate, case.quantiles[("%g"):format(share)], 1e-10)
    end
  end
end)
