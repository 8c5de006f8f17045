-- Tests paired tests with tied differences. The reference values are counted in whole numbers, so that rounding cannot
-- make equal sums unequal.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check = test.it, test.equal, test.near, test.check

-- Reciprocal ranks 1 to 6 in units of 1/60.
local sixtieths = { 60, 30, 20, 15, 12, 10 }

-- Returns random ranks of `count` pairs that depend on the seed only (Park and Miller's generator).
local function ranks_of(seed, count)
  local a, b, state = {}, {}, seed
  local function draw()
    state = state * 16807 % 2147483647
    return state % 6 + 1
  end
  for i = 1, count do a[i], b[i] = draw(), draw() end
  return a, b
end

local function differences_of(a, b)
  local out = {}
  for i = 1, #a do out[i] = sixtieths[a[i]] - sixtieths[b[i]] end
  return out
end

-- Returns the share of all choices of signs for which the statistic is at least as far from its mean as observed. Each
-- difference has a whole number as its weight.
local function p_of_all_signs(differences, weights)
  local observed, signed, far = 0, {}, 0
  for i, d in ipairs(differences) do
    if d ~= 0 then
      signed[#signed + 1] = weights[i]
      observed = observed + (d > 0 and weights[i] or -weights[i])
    end
  end
  for signs = 0, (1 << #signed) - 1 do
    local sum = 0
    for i, w in ipairs(signed) do sum = sum + ((signs >> (i - 1)) & 1 == 1 and w or -w) end
    if math.abs(sum) >= math.abs(observed) then far = far + 1 end
  end
  return far / (1 << #signed)
end

-- Returns twice the mid-rank of each difference that is not 0, by size.
local function doubled_ranks(differences)
  local out = {}
  for i, d in ipairs(differences) do
    local below, same = 0, 0
    for _, other in ipairs(differences) do
      if other ~= 0 and math.abs(other) < math.abs(d) then below = below + 1 end
      if math.abs(other) == math.abs(d) then same = same + 1 end
    end
    out[i] = 2 * below + same + 1
  end
  return out
end

local function sizes(differences)
  local out = {}
  for i, d in ipairs(differences) do out[i] = math.abs(d) end
  return out
end

local function reciprocals(ranks, dtype)
  local values = {}
  for i, rank in ipairs(ranks) do values[i] = 1 / rank end
  return mr.tensor(values, { dtype = dtype })
end

it("mr.stats.permutation and wilcoxon give the p of whole numbers for tied reciprocal ranks", function()
  for seed = 1, 40 do
    local a, b = ranks_of(seed * 7919, 11)
    local d = differences_of(a, b)
    local permutation, wilcoxon = p_of_all_signs(d, sizes(d)), p_of_all_signs(d, doubled_ranks(d))
    for _, dtype in ipairs{ "float64", "float32" } do
      local x, y = reciprocals(a, dtype), reciprocals(b, dtype)
      near(mr.stats.permutation(x, y).p, permutation, 1e-12, dtype .. " permutation, seed " .. seed)
      near(mr.stats.wilcoxon(x, y).p, wilcoxon, 1e-12, dtype .. " wilcoxon, seed " .. seed)
    end
  end
end)

it("mr.stats.permutation with random signs counts tied sums as equal", function()
  local a, b = ranks_of(4711, 40)
  local whole_a, whole_b = {}, {}
  for i = 1, 40 do whole_a[i], whole_b[i] = sixtieths[a[i]], sixtieths[b[i]] end
  local exact = mr.stats.permutation(whole_a, whole_b, { orders = 4000 })
  check(not exact.exact)
  for _, dtype in ipairs{ "float64", "float32" } do
    equal(mr.stats.permutation(reciprocals(a, dtype), reciprocals(b, dtype), { orders = 4000 }).p, exact.p, dtype)
  end
end)

it("paired tests find no difference between equal values in float32 and float64", function()
  local values = {}
  for i = 1, 200 do values[i] = 1 / (3 + i % 7) end
  local single, double = mr.tensor(values), mr.tensor(values, { dtype = "float64" })
  local function check_all(a, b)
    equal(mr.stats.permutation(a, b).p, 1)
    equal(mr.stats.wilcoxon(a, b).p, 1)
    equal(mr.stats.paired_t(a, b).p, 1)
    local size = mr.stats.effect_size(a, b)
    equal({ size.d, size.ties }, { 0.0, 1.0 })
  end
  check_all(single, double)
  check_all(double, single)
  check_all(double, double * 3 / 3 * (1 + 2 ^ -52))  -- changes only the last bit of the values
end)

it("mr.stats.paired_t and effect_size treat differences equal up to rounding as constant", function()
  local a = mr.tensor({ 0.1, 0.2, 0.3, 0.7 }, { dtype = "float64" })
  local b = mr.tensor({ 0.4, 0.5, 0.6, 1.0 }, { dtype = "float64" })
  equal(mr.stats.paired_t(a, b).p, 0)
  equal(mr.stats.effect_size(a, b).d, -math.huge)
end)

it("mr.stats.permutation and wilcoxon keep small real differences between large values", function()
  local a, b = {}, {}
  for i = 1, 12 do a[i], b[i] = 1e6 + i, 1e6 + i - 1e-3 * i end
  near(mr.stats.permutation(a, b).p, 2 / 2 ^ 12, 1e-12)
  near(mr.stats.wilcoxon(a, b).p, 2 / 2 ^ 12, 1e-12)
end)

it("mr.stats.bootstrap with bca finds samples equal to the estimate despite rounding", function()
  -- the same values in units of 1/3: BCa's bias correction counts samples equal to the estimate as half, in spite of
  -- rounding
  local whole, thirds = {}, {}
  for i = 1, 8 do whole[i], thirds[i] = i % 3, (i % 3) / 3 end
  local options = { method = "bca", samples = 2000 }
  local found, scaled = mr.stats.bootstrap(whole, options), mr.stats.bootstrap(thirds, options)
  near({ scaled.low * 3, scaled.high * 3 }, { found.low, found.high }, 1e-9)
end)
