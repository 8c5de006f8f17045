-- Tests samplers of sweeps: their suggestions, their evenness, and what suggestions depend on.
local mr = require "moonrank"
local core = require "moonrank.core"
local samplers = require "moonrank.sweep.search.samplers"
local space = require "moonrank.sweep.search.space"
local test = require "moonrank.test"
local describe, it, check, equal, near, raises = test.describe, test.it, test.check, test.equal, test.near, test.raises

-- Checks that parameters are a valid combination of a search space.
local function belongs(s, params)
  equal(params, s:draw(function(entry)
    local value = params[entry.name]
    check(entry.part:contains(value), entry.name)
    return value
  end))
end

local mixed = space.new{
  lr = mr.loguniform(1e-4, 1), width = mr.integer(16, 512, { log = true }), fold = mr.range(1, 9, 2),
  x = mr.uniform(-1, 1),
  loss = mr.choice{ "ndcg", "ap", "rr" }, mr.when("loss", { "ap", "rr" }, { gain = mr.choice{ 1, 2 } }),
}

-- Returns the Kolmogorov-Smirnov distance between the values and a distribution function, and its critical value at 0.1
-- %.
local function kolmogorov(values, cdf)
  table.sort(values)
  local n, d = #values, 0
  for i, value in ipairs(values) do
    d = math.max(d, math.abs(i / n - cdf(value)), math.abs((i - 1) / n - cdf(value)))
  end
  return d, 1.95 / math.sqrt(n)
end

-- Simulates a study of n trials one after another: the sampler suggests parameters, and `f` gives the value.
local function study(sampler, n, f)
  local history = {}
  for number = 1, n do
    local params = sampler:suggest(number, history)
    history[number] = { number = number, params = params, value = f(params), state = "done" }
  end
  return history
end

local function best(history)
  local least = math.huge
  for _, trial in ipairs(history) do least = math.min(least, trial.value) end
  return least
end

describe("every sampler", function()
  local finite = space.new{ a = mr.range(1, 20), b = mr.choice{ "x", "y" } }
  local function value(params) return params.b == "x" and params.a or params.a * 0.5 end
  for _, how in ipairs{ "grid", "random", "sobol", { "tpe", generation = 4, startup = 6 } } do
    local name = type(how) == "table" and how[1] or how
    it(name .. " suggests the same parameters for a trial number in any order of requests", function()
      local s = name == "grid" and finite or mixed
      local f = name == "grid" and value or function(p) return p.x + math.log(p.lr) end
      local sampler = samplers.make(how, s, 11)
      local history = study(sampler, 24, f)
      for number = 24, 1, -1 do
        local first = sampler:generation_of(number)
        check(first >= 1 and first <= number)
        -- a new sampler that gets only trials of earlier generations, in reverse order, must suggest the same
        -- parameters
        local seen = {}
        for k = first - 1, 1, -1 do seen[#seen + 1] = history[k] end
        equal(samplers.make(how, s, 11):suggest(number, seen), history[number].params, "trial " .. number)
        belongs(s, history[number].params)
      end
    end)
  end
  it("except grid depends on the seed", function()
    for _, how in ipairs{ "random", "sobol", "tpe" } do
      check(samplers.make(how, mixed, 1):suggest(1).x ~= samplers.make(how, mixed, 2):suggest(1).x, how)
    end
  end)
  it("rejects invalid names, options and spaces", function()
    for _, case in ipairs{
      { { "rndom", mixed, 1 }, "'rndom'", "'random'" },
      { { "grid", mixed, 1 }, "loguniform(0.0001, 1)", "space.lr" },
      { { "random", mixed, 1, "up" }, "'up'" },
      { { { "tpe", generations = 3 }, mixed, 1 }, "'generations'", "'generation'" },
      { { { "tpe", generation = 0 }, mixed, 1 }, "generation", "0" },
      { { { "tpe", good = 1.5 }, mixed, 1 }, "good", "1.5" },
      { { { "random", generation = 3 }, mixed, 1 }, "'generation'" },
    } do raises(function() samplers.make(table.unpack(case[1])) end, table.unpack(case, 2)) end
    raises(function() samplers.make("grid", finite, 1):suggest(41) end, "combination", "41", "40")
  end)
  it("prints its options and counts its trials", function()
    equal(samplers.make("random", mixed, 1):describe(), "random")
    equal(samplers.make({ "tpe", generation = 5 }, mixed, 1):describe(),
      "tpe(candidates = 8, generation = 5, good = 0.15, startup = 10)")
    equal(samplers.make("grid", finite, 1):count(), 40)
    equal(samplers.make("random", finite, 1):count(), nil)
  end)
end)

describe("the random sampler", function()
  local n, drawn = 4000, {}
  local sampler = samplers.make("random", mixed, 5)
  for i = 1, n do drawn[i] = sampler:suggest(i) end
  local function column(name)
    local values = {}
    for _, params in ipairs(drawn) do values[#values + 1] = params[name] end
    return values
  end
  it("draws uniform and loguniform values evenly", function()
    local d, critical = kolmogorov(column "lr", function(x) return math.log(x / 1e-4) / math.log(1e4) end)
    check(d < critical, ("lr: %g, critical %g"):format(d, critical))
    d, critical = kolmogorov(column "x", function(x) return (x + 1) / 2 end)
    check(d < critical, ("x: %g, critical %g"):format(d, critical))
  end)
  it("draws log integers in proportion to their interval on the log scale", function()
    local below = 0
    for _, width in ipairs(column "width") do
      equal(math.type(width), "integer")
      if width <= 64 then below = below + 1 end
    end
    local p = math.log(64.5 / 15.5) / math.log(512.5 / 15.5)
    near(below / n, p, { atol = 4 * math.sqrt(p * (1 - p) / n) })
  end)
  it("draws choices and steps equally often, and conditional parameters if they apply", function()
    local counts, ap = {}, 0
    for _, params in ipairs(drawn) do
      for _, name in ipairs{ "fold", "loss" } do counts[params[name]] = (counts[params[name]] or 0) + 1 end
      if params.loss == "ap" then ap = ap + 1 end
      equal(params.gain ~= nil, params.loss ~= "ndcg")
    end
    for _, fold in ipairs{ 1, 3, 5, 7, 9 } do near(counts[fold] / n, 1 / 5, { atol = 4 * math.sqrt(0.16 / n) }) end
    for _, loss in ipairs{ "ndcg", "ap", "rr" } do
      near(counts[loss] / n, 1 / 3, { atol = 4 * math.sqrt(2 / 9 / n) })
    end
  end)
  it("draws parameters and trials independently", function()
    local x, lr, sums = column "x", column "lr", { 0, 0 }
    for i = 1, n - 1 do
      sums[1] = sums[1] + x[i] * (math.log(lr[i], 10) + 2)
      sums[2] = sums[2] + x[i] * x[i + 1]
    end
    -- the products have standard deviations sqrt(1/3 * 4/3) and 1/3
    near(sums[1] / n, 0, { atol = 4 * 2 / 3 / math.sqrt(n) })
    near(sums[2] / n, 0, { atol = 4 / 3 / math.sqrt(n) })
  end)
end)

describe("the Sobol sequence", function()
  local function at(index, dimension, shift) return (core.sobol_bits(index, dimension) ~ (shift or 0)) / (1 << 32) end
  it("begins with the published points", function()
    -- the example of the file new-joe-kuo-6.21201 (direction numbers of Sobol sequences): three dimensions, ten points
    local published = {
      { 0, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.75, 0.25, 0.25 }, { 0.25, 0.75, 0.75 }, { 0.375, 0.375, 0.625 },
      { 0.875, 0.875, 0.125 }, { 0.625, 0.125, 0.875 }, { 0.125, 0.625, 0.375 }, { 0.1875, 0.3125, 0.9375 },
      { 0.6875, 0.8125, 0.4375 },
    }
    for i, point in ipairs(published) do equal({ at(i - 1, 1), at(i - 1, 2), at(i - 1, 3) }, point) end
  end)
  it("is van der Corput's sequence in Gray code order in dimension 1", function()
    for i = 0, 255 do
      local reversed, n, half = 0, i ~ (i >> 1), 0.5
      while n > 0 do
        reversed, n, half = reversed + (n & 1) * half, n >> 1, half / 2
      end
      equal(at(i, 1), reversed)
    end
  end)
  it("equals scipy.stats.qmc.Sobol in high dimensions", function()
    -- expected: scipy.stats.qmc.Sobol(64, scramble=False, bits=32), point 1000
    local point = { [10] = 297795584, [20] = 3116367872, [37] = 3644850176, [50] = 2059403264, [64] = 1916796928 }
    for dimension, bits in pairs(point) do equal(core.sobol_bits(1000, dimension), bits, "dimension " .. dimension) end
  end)
  it("has one point in every interval of 1/n in every dimension, shifted or not", function()
    for dimension = 1, 64 do
      for _, shift in ipairs{ 0, 0x9e3779b9 } do
        local seen, count = {}, 0
        for i = 0, 63 do
          local cell = math.floor(at(i, dimension, shift) * 64)
          if not seen[cell] then count = count + 1 end
          seen[cell] = true
        end
        equal(count, 64, "dimension " .. dimension)
      end
    end
  end)
  it("is suggested from its first point on, shifted by the seed", function()
    local s = space.new{ a = mr.uniform(0, 1), b = mr.loguniform(1, 2), c = mr.choice{ 1, 2, 3, 4 } }
    local sampler, a, b, c = samplers.make("sobol", s, 9), {}, {}, { 0, 0, 0, 0 }
    for number = 1, 64 do
      local params = sampler:suggest(number)
      a[math.floor(params.a * 64)], b[math.floor(math.log(params.b, 2) * 64 + 1e-9)] = true, true
      c[params.c] = c[params.c] + 1
    end
    for cell = 0, 63 do check(a[cell] and b[cell], "cell " .. cell) end
    equal(c, { 16, 16, 16, 16 })
    check(sampler:suggest(1).a ~= 0)
  end)
  it("raises an error beyond 64 dimensions", function()
    raises(function() at(0, 65) end, "65, expected 1 to 64")
    raises(function() at(-1, 1) end, "-1, expected 0 to")
    local wide = {}
    for i = 1, 65 do wide["p" .. i] = mr.uniform(0, 1) end
    raises(function() samplers.make("sobol", space.new(wide), 1) end, "65", "64", "parameters")
  end)
  it("integrates more precisely than random numbers", function()
    local cube = {}
    for i = 1, 5 do cube["x" .. i] = mr.uniform(0, 1) end
    local s = space.new(cube)
    local function rms(how)
      local squares = 0
      for seed = 1, 8 do
        local sampler, sum = samplers.make(how, s, seed), 0
        for number = 1, 512 do
          local product = 1
          for _, x in pairs(sampler:suggest(number)) do product = product * 2 * x end  -- integral 1
          sum = sum + product
        end
        squares = squares + (sum / 512 - 1) ^ 2
      end
      return math.sqrt(squares / 8)
    end
    local even, random = rms "sobol", rms "random"
    -- the product has the variance (4/3)^5 - 1
    near(random, math.sqrt(((4 / 3) ^ 5 - 1) / 512), { rtol = 0.75 })
    check(even < random / 4, ("sobol %g, random %g"):format(even, random))
  end)
end)

describe("the tpe sampler", function()
  local plane = space.new{ x = mr.uniform(-5, 5), y = mr.uniform(-5, 5) }
  local function bowl(p) return (p.x - 1.5) ^ 2 + (p.y + 2.5) ^ 2 end
  it("finds a better optimum of a bowl than random in half the trials", function()
    local won, log_ratio = 0, 0
    for seed = 1, 10 do
      local tpe = best(study(samplers.make("tpe", plane, seed, "minimize"), 60, bowl))
      local random = best(study(samplers.make("random", plane, seed, "minimize"), 120, bowl))
      if tpe < random then won = won + 1 end
      log_ratio = log_ratio + math.log(tpe / random)
    end
    check(won >= 6, won .. " of 10")
    check(log_ratio < 0, "mean of logarithms " .. log_ratio / 10)
  end)
  it("finds good values of all kinds of parameters in both directions", function()
    local s = space.new{
      lr = mr.loguniform(1e-5, 1), n = mr.range(1, 9), m = mr.choice{ "a", "b", "c" },
      w = mr.integer(1, 1000, { log = true }), mr.when("m", "b", { k = mr.uniform(0, 1) }),
    }
    local function loss(p)
      return math.log(p.lr / 1e-2, 10) ^ 2 + (p.n - 7) ^ 2 / 4 + (p.m == "b" and p.k or 2) + math.log(p.w / 100, 10) ^ 2
    end
    for _, direction in ipairs{ "minimize", "maximize" } do
      local sign = direction == "minimize" and 1 or -1
      local history = study(samplers.make("tpe", s, 3, direction), 100, function(p) return sign * loss(p) end)
      local early, late, b = 0, 0, 0
      for i = 1, 20 do
        early, late = early + sign * history[i].value, late + sign * history[80 + i].value
        if history[80 + i].params.m == "b" then b = b + 1 end
        belongs(s, history[80 + i].params)
      end
      check(late < early / 2, ("%s: first %g, last %g"):format(direction, early / 20, late / 20))
      check(b >= 15, ("%s: %d of 20 take the right value"):format(direction, b))
    end
  end)
  it("uses results of earlier generations only, in any order", function()
    local sampler = samplers.make({ "tpe", generation = 5, startup = 5 }, plane, 7, "minimize")
    local generations = {}
    for i, number in ipairs{ 1, 5, 6, 15 } do generations[i] = sampler:generation_of(number) end
    equal(generations, { 1, 1, 6, 11 })
    local history = study(sampler, 20, bowl)
    local changed = {}
    for i, trial in ipairs(history) do
      changed[i] = { number = i, params = trial.params, state = "done", value = i > 10 and -trial.value or trial.value }
    end
    equal(sampler:suggest(13, changed), history[13].params)
    changed[3].value, changed[4].value = -100, -100
    check(sampler:suggest(13, changed).x ~= history[13].params.x)
  end)
  it("avoids regions where trials fail or are pruned", function()
    local line = space.new{ x = mr.uniform(0, 1) }
    for _, state in ipairs{ "failed", "pruned" } do
      local sampler, history = samplers.make({ "tpe", generation = 1 }, line, 2), {}
      local below = 0
      for number = 1, 80 do
        local params = sampler:suggest(number, history)
        local good = params.x >= 0.5
        history[number] = { number = number, params = params, state = good and "done" or state,
          value = good and 1 or nil }
        if number > 40 and not good then below = below + 1 end
      end
      check(below <= 8, ("%s: %d of 40"):format(state, below))
    end
  end)
  it("continues if no trial has succeeded or results are NaN", function()
    local history = {}
    for i = 1, 12 do
      history[i] = { number = i, params = { x = i / 3, y = 0.5 }, state = i > 6 and "done" or "failed",
        value = i > 6 and 0 / 0 or nil }
    end
    belongs(plane, samplers.make("tpe", plane, 1):suggest(21, history))
  end)
end)
