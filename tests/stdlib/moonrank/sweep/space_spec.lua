-- Tests search spaces: parameters, conditions, grids and descriptions.
local mr = require "moonrank"
local space = require "moonrank.sweep.search.space"
local test = require "moonrank.test"
local describe, it, check, equal, near, raises = test.describe, test.it, test.check, test.equal, test.near, test.raises

local function text(params)
  local parts = {}
  for name, value in pairs(params) do parts[#parts + 1] = name .. "=" .. tostring(value) end
  table.sort(parts)
  return table.concat(parts, " ")
end

local function all(s)
  local found = {}
  for i = 1, s:count() do found[i] = text(s:grid(i)) end
  return found
end

describe("the grid of a space", function()
  it("has each combination once, with the last name changing fastest", function()
    equal(all(space.new{ loss = mr.choice{ "ndcg", "ap" }, fold = mr.range(1, 3) }), {
      "fold=1 loss=ndcg", "fold=1 loss=ap", "fold=2 loss=ndcg", "fold=2 loss=ap", "fold=3 loss=ndcg",
      "fold=3 loss=ap" })
  end)
  it("equals nested loops over all values in any order of the table", function()
    local a, b, c = { true, false }, { 1, 3, 5, 7 }, { "x", 2, 0.5 }
    local expected = {}
    for _, x in ipairs(a) do
      for _, y in ipairs(b) do
        for _, z in ipairs(c) do expected[#expected + 1] = text{ a = x, b = y, c = z } end
      end
    end
    equal(all(space.new{ c = mr.choice(c), b = mr.range(1, 8, 2), a = mr.choice(a) }), expected)
  end)
  it("includes both ends of a continuous parameter, evenly or by equal ratios", function()
    local s = space.new{ x = mr.uniform(-1, 2, { points = 4 }) }
    for i, x in ipairs{ -1, 0, 1, 2 } do near(s:grid(i).x, x, 1e-15) end
    s = space.new{ x = mr.loguniform(1e-4, 1, { points = 5 }) }
    for i = 1, 5 do near(s:grid(i).x, 10 ^ (i - 5), { rtol = 1e-13 }) end
    equal({ s:grid(1).x, s:grid(5).x }, { 1e-4, 1 })
  end)
  it("has every integer, or as many as points says, each once", function()
    equal(all(space.new{ n = mr.integer(-1, 1) }), { "n=-1", "n=0", "n=1" })
    equal(all(space.new{ n = mr.integer(1, 1000, { log = true, points = 4 }) }), { "n=1", "n=10", "n=100", "n=1000" })
    equal(all(space.new{ n = mr.integer(1, 3, { points = 9 }) }), { "n=1", "n=2", "n=3" })
  end)
  it("has conditional parameters only if their condition holds", function()
    local s = space.new{
      model = mr.choice{ "linear", "mlp" }, seed = mr.range(1, 2),
      mr.when("model", "mlp", { depth = mr.range(1, 2), mr.when("depth", 2, { skip = mr.choice{ true, false } }) }),
      mr.when("model", { "linear" }, { bias = mr.choice{ "yes", "no" } }),
    }
    local expected = {}
    for _, middle in ipairs{ "bias=yes model=linear", "bias=no model=linear", "depth=1 model=mlp",
      "depth=2 model=mlp" } do
      for seed = 1, 2 do
        for _, skip in ipairs(middle:find "depth=2" and { " skip=true", " skip=false" } or { "" }) do
          expected[#expected + 1] = ("%s seed=%d%s"):format(middle, seed, skip)
        end
      end
    end
    local found = all(s)
    equal(#found, 10)
    table.sort(expected)
    table.sort(found)
    equal(found, expected)
  end)
  it("has the product of two conditions on one value", function()
    local s = space.new{ a = mr.choice{ 1, 2 },
      mr.when("a", 1, { b = mr.range(1, 3) }), mr.when("a", { 1, 2 }, { c = mr.range(1, 2) }) }
    equal(all(s), { "a=1 b=1 c=1", "a=1 b=1 c=2", "a=1 b=2 c=1", "a=1 b=2 c=2", "a=1 b=3 c=1", "a=1 b=3 c=2",
      "a=2 c=1", "a=2 c=2" })
  end)
  it("allows one name in conditions that exclude each other", function()
    local one, other = mr.when("m", "a", { k = mr.choice{ 1 } }), mr.when("m", "b", { k = mr.choice{ 2, 3 } })
    local s = space.new{ m = mr.choice{ "a", "b" }, one, other }
    equal(all(s), { "k=1 m=a", "k=2 m=b", "k=3 m=b" })
    equal(s:names(), { "k", "m" })
  end)
  it("raises an error for spaces without a finite grid and for numbers out of range", function()
    equal(space.new{ lr = mr.uniform(0, 1), n = mr.range(1, 2) }:count(), nil)
    raises(function() space.new{ lr = mr.uniform(0, 1), n = mr.range(1, 2) }:grid(1) end, "space.lr", "uniform(0, 1)")
    local wide = {}
    for i = 1, 4 do wide["p" .. i] = mr.range(1, 2 ^ 20) end
    equal(space.new(wide):count(), nil)
    raises(function() space.new(wide):grid(1) end, "2^53")
    for _, far in ipairs{ math.mininteger, -2 ^ 53 - 2, 2 ^ 53 + 2, math.maxinteger } do
      raises(function() mr.range(far, far) end, "2^53")
    end
    raises(function() space.new{ n = mr.range(1, 2) }:grid(3) end, "combination", "3", "2")
  end)
end)

describe("the description of a space", function()
  it("is the same for equal spaces in any notation", function()
    local a = space.new{ x = mr.choice{ 1, 2 }, y = mr.range(1, 10, 3),
      mr.when("x", { 1, 2 }, { z = mr.uniform(0, 1) }) }
    local b = space.new{ mr.when("x", { 2, 1 }, { z = mr.uniform(0.0, 1.0) }),
      y = mr.range(1, 12, 3), x = mr.choice{ 1.0, 2.0 } }
    equal(a:describe(), b:describe())
    check(a:describe():find("y = range(1, 10, 3)", 1, true), a:describe())
  end)
  it("has 17 digits for stores, and the shortest digits for people", function()
    local rate = mr.uniform(0.1, 0.3)
    equal({ tostring(rate), rate:text() }, { "uniform(0.1, 0.3)", "uniform(0.10000000000000001, 0.29999999999999999)" })
    local made = space.new{ rate = rate, x = mr.choice{ 0.7, 1e-5 }, mr.when("x", 0.7, { y = mr.range(1, 2) }) }
    check(made:describe():find("0.69999999999999996", 1, true), made:describe())
    equal(tostring(made), "rate = uniform(0.1, 0.3)\nx = choice(0.7, 1e-05)\n  when x is 0.7\n    y = range(1, 2)")
  end)
  it("differs between different spaces", function()
    local seen = {}
    for _, t in ipairs{
      { a = mr.choice{ 1, 2 } }, { a = mr.choice{ 2, 1 } }, { a = mr.choice{ "1", "2" } }, { b = mr.choice{ 1, 2 } },
      { a = mr.range(1, 2) }, { a = mr.integer(1, 2) }, { a = mr.uniform(1, 2) }, { a = mr.loguniform(1, 2) },
      { a = mr.integer(1, 2, { log = true }) },
      { a = mr.uniform(1, 2, { points = 3 }) }, { a = mr.choice{ true, "true" } }, { a = mr.choice{ "true", true } },
      { a = mr.choice{ n = { 1 } } }, { a = mr.choice{ n = { 2 } } }, { a = mr.choice{ "n" } },
      { a = mr.choice{ 1, 2 }, mr.when("a", 1, { b = mr.range(1, 2) }) },
      { a = mr.choice{ 1, 2 }, mr.when("a", 2, { b = mr.range(1, 2) }) },
    } do
      local s = space.new(t)
      check(not seen[s:describe()], s:describe())
      seen[s:describe()] = true
    end
  end)
end)

it("named values of mr.choice are stored by name and passed to trials as values", function()
  local made = function() end
  local net = mr.choice{ "none", small = { hidden = { 46 } }, f = made, off = false }
  local s = space.new{ net = net, n = mr.range(1, 2) }
  equal(all(space.new{ net = s:entries()[2].part }), { "net=none", "net=f", "net=off", "net=small" })
  equal(s:values{ net = "small", n = 2 }, { net = { hidden = { 46 } }, n = 2 })
  check(s:values{ net = "f", n = 1 }.net == made)
  equal(s:values{ net = "off", n = 1 }.net, false)
  equal(s:values{ net = "none", n = 1 }.net, "none")
end)

it("a parameter of a space contains its values and no others", function()
  local function contains(part, values, expected)
    for _, value in ipairs(values) do
      equal(part:contains(value), expected, tostring(part) .. " " .. tostring(value))
    end
  end
  contains(mr.loguniform(1e-3, 1), { 1e-3, 1, 0.5 }, true)
  contains(mr.loguniform(1e-3, 1), { 2, 0 / 0, "0.5" }, false)
  contains(mr.range(1, 7, 3), { 4, 7.0 }, true)
  contains(mr.range(1, 7, 3), { 5, 10 }, false)
  contains(mr.choice{ "a", "b" }, { "A", 1 }, false)
  contains(mr.integer(1, 9), { 1.5 }, false)
end)

describe("search space errors", function()
  it("name the key of an invalid space", function()
    local when = mr.when("a", 1, { b = mr.range(1, 2) })
    for _, case in ipairs{
      { { lr = 0.1 }, "space", "lr", "0.1" },
      { { loss = { "ndcg" } }, "space", "loss", "'ndcg'" },
      { { mr.range(1, 2) }, "[1]", "range(1, 2)" },
      { {}, "space", "parameter" },
      { { ["a b"] = mr.range(1, 2) }, "'a b'", "space", "parameter" },
      { { a = mr.range(1, 2), b = mr.when("a", 1, {}) }, "space.b", "mr.when" },
      { { a = mr.range(1, 2), mr.when("a", 3, { b = mr.range(1, 2) }) }, "3", "range(1, 2)" },
      { { a = mr.range(1, 2), mr.when("c", 1, { b = mr.range(1, 2) }) }, "mr.when", "'c'" },
      { { a = mr.uniform(1, 2), mr.when("a", 1, { b = mr.range(1, 2) }) }, "uniform(1, 2)", "choice" },
      { { a = mr.range(1, 2), mr.when("a", 1, { b = 3 }) }, "b is 3" },
      { { a = mr.range(1, 2), mr.when("a", 1, { a = mr.range(1, 2) }) }, "space.a" },
      { { a = mr.range(1, 2), when, mr.when("a", { 1, 2 }, { b = mr.range(1, 2) }) }, "space.b" },
      { { a = mr.range(1, 2), b = mr.range(1, 2), when }, "space.b" },
    } do raises(function() space.new(case[1]) end, table.unpack(case, 2)) end
    raises(function() space.new(3) end, "space", "3")
  end)
  it("name the invalid value of a parameter", function()
    for _, case in ipairs{
      { function() mr.choice{} end, "mr.choice" },
      { function() mr.choice{ 1, 1.0 } end, "mr.choice", "2", "1.0" },
      { function() mr.choice{ "a", a = 1 } end, "mr.choice" },
      { function() mr.choice{ print } end, "1", "function" },
      { function() mr.choice{ 1, 0 / 0 } end, "2", "NaN" },
      { function() mr.choice{ "\xff" } end, "mr.choice", "UTF-8" },
      { function() mr.choice(3) end, "mr.choice", "3" },
      { function() mr.range(1.5, 2) end, "mr.range", "1.5" },
      { function() mr.range(2, 1) end, "last", "1", "2" },
      { function() mr.range(1, 2, 0) end, "step", "0" },
      { function() mr.uniform(1, 1) end, "mr.uniform", "low", "1", "high" },
      { function() mr.uniform(0, math.huge) end, "high", "inf" },
      { function() mr.uniform(1) end, "mr.uniform", "high", "nil" },
      { function() mr.uniform(0, 1, { points = 1 }) end, "points", "1" },
      { function() mr.uniform(0, 1, { point = 3 }) end, "'point'", "'points'" },
      { function() mr.loguniform(0, 1) end, "low", "0" },
      { function() mr.integer(0, 5, { log = true }) end, "low", "0" },
      { function() mr.when(1, 2, {}) end, "mr.when", "name", "1" },
      { function() mr.when("a", {}, {}) end, "mr.when", "'a'" },
      { function() mr.when("a", 1, mr.range(1, 2)) end, "mr.when", "parts" },
    } do raises(table.unpack(case)) end
  end)
end)
