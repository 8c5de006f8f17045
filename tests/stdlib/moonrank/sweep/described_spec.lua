-- Tests reading parameters from the description of a space.
local mr = require "moonrank"
local described = require "moonrank.sweep.search.described"
local space = require "moonrank.sweep.search.space"
local test = require "moonrank.test"
local it, equal = test.it, test.equal

local function read(t) return described.read(space.new(t):describe()) end

it("described.read reads every kind of parameter with its limits", function()
  local found = read{ a = mr.uniform(-0.5, 2), b = mr.loguniform(1e-5, 0.1, { points = 3 }),
    c = mr.integer(2, 512, { log = true }), d = mr.integer(-3, 3), e = mr.range(0, 10, 5),
    f = mr.choice{ "x) = uniform(1, 2)", 3, true, 0.5, "\"ä\n", big = { 4, "," }, f = print, small = 1 } }
  equal(found, {
    a = { kind = "uniform", low = -0.5, high = 2, log = false, conditional = false },
    b = { kind = "loguniform", low = 1e-5, high = 0.1, log = true, conditional = false },
    c = { kind = "integer", low = 2, high = 512, step = 1, log = true, conditional = false },
    d = { kind = "integer", low = -3, high = 3, step = 1, log = false, conditional = false },
    e = { kind = "range", low = 0, high = 10, step = 5, log = false, conditional = false },
    f = { kind = "choice", choices = { "x) = uniform(1, 2)", 3, true, 0.5, "\"ä\n", "big", "f", "small" }, log = false,
      conditional = false },
  })
end)

it("described.read joins parameters of several conditions and marks them conditional", function()
  local found = read{ m = mr.choice{ "a", "b", "c" },
    mr.when("m", "a", { h = mr.range(1, 3) }), mr.when("m", "b", { h = mr.range(2, 9) }),
    mr.when("m", "c", { h = mr.uniform(0, 4), k = mr.choice{ 1, 2 } }) }
  equal(found.h, { kind = "uniform", low = 0, high = 9, log = false, conditional = true })
  equal(found.k, { kind = "choice", choices = { 1, 2 }, log = false, conditional = true })
  equal(found.m.conditional, false)
  found = read{ m = mr.choice{ "a", "b" }, mr.when("m", "a", { h = mr.choice{ 1, 2 } }),
    mr.when("m", "b", { h = mr.choice{ 2, 3 } }) }
  equal(found.h.choices, { 1, 2, 3 })
end)

it("described.read returns nothing for an invalid description", function()
  equal(described.read "", {})
  equal(described.read "a = uniform(\nb = strange(1, 2)\nwhen x is 3", {})
end)
