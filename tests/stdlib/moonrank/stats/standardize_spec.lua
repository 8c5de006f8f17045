-- Tests values standardized within groups: R's scale, hand-computed values, and groups without spread.
local mr = require "moonrank"
local test = require "moonrank.test"
local json = dofile("tests/support/json.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local nan = 0 / 0

local function values(x, options) return mr.stats.standardize(x, options):totable() end
local function is_nan(x) return x ~= x end

it("mr.stats.standardize within groups equals ave and scale of R", function()
  local golden = json.read "tests/golden/linear_models.json"
  for _, name in ipairs{ "balanced", "unbalanced" } do
    local g = golden[name]
    near(values(g.score, { within = { data = g.data, nsr = g.nsr } }), g.z, { rtol = 1e-11, atol = 1e-12 }, name)
  end
end)

it("mr.stats.standardize without groups treats all values as one group", function()
  near(values{ 2, 4, 4, 4, 5, 5, 7, 9 }, mr.stats.standardize(mr.tensor{ 2, 4, 4, 4, 5, 5, 7, 9 }):totable(), 1e-15)
  -- the values have mean 5 and a sum of squares of 32, divided by 7
  near(values({ 2, 4, 4, 4, 5, 5, 7, 9 })[8], 4 / math.sqrt(32 / 7), 1e-14)
  equal(values{}, {})
  local found = mr.stats.standardize({ 1, 2 })
  equal({ found.dtype, #found }, { "float64", 2 })
end)

it("mr.stats.standardize keeps NaN and ignores it in means, also as a group level", function()
  local found = values({ 1, nan, 3, 100, 5 }, { within = { nsr = { 1, 1, 1, nan, 1 } } })
  near({ found[1], found[3], found[5] }, { -1, 0, 1 }, 1e-14)
  check(is_nan(found[2]) and is_nan(found[4]), "both are NaN")
end)

it("mr.stats.standardize gives NaN for groups without spread", function()
  -- the mean of three times 0.1 is rounded, so the deviations are not exactly 0
  local found = values({ 0.1, 0.1, 0.1, 7, 1, 2 }, { within = { data = { "a", "a", "a", "b", "c", "c" } } })
  for i = 1, 4 do check(is_nan(found[i]), "row " .. i) end
  near({ found[5], found[6] }, { -math.sqrt(0.5), math.sqrt(0.5) }, 1e-14)
end)

it("mr.stats.standardize keeps levels apart by value and type", function()
  local found = values({ 1, 2, 10, 30 }, { within = { a = { "x", "x", "xy", "xy" }, b = { "yz", "yz", "z", "z" } } })
  near(found, { -math.sqrt(0.5), math.sqrt(0.5), -math.sqrt(0.5), math.sqrt(0.5) }, 1e-14)
  check(is_nan(values({ 1, 2 }, { within = { a = { 1, "1" } } })[1]), "two groups")
  near(values({ 1, 2 }, { within = { a = { 1, 1.0 } } })[2], math.sqrt(0.5), 1e-14)
end)

it("mr.stats.standardize rejects invalid input and options", function()
  for _, case in ipairs{
    { { 1, 2 }, { within = { a = { "x" } } }, "1", "x", "2" },
    { { 1, 2 }, { within = { a = "x" } }, "'x'", "column" },
    { { 1, 2 }, { within = { { "x", "x" } } }, "1", "column" },
    { { 1, "2" }, nil, "2", "x", "'2'" },
    { { 1, math.huge }, nil, "2", "x", "inf" },
    { 5, nil, "x", "5" },
    { { 1, 2 }, { by = {} }, "mr.stats.standardize", "'by'" },
    { { 1, 2 }, { within = "data" }, "mr.stats.standardize", "'data'" },
  } do raises(function() mr.stats.standardize(case[1], case[2]) end, table.unpack(case, 3)) end
end)
