-- Tests time-biased gain, a metric that is not a sum of gains times discounts and has no closed forms. Golden values
-- were computed from its definition with 50 digits. Ties are averaged over all their orders.
local mr = require "moonrank"
local test = require "moonrank.test"
local check, describe, equal, it, near = test.check, test.describe, test.equal, test.it, test.near

local f64 = { dtype = "float64" }

-- Returns the time-biased gain of ranked grades, computed row by row from its definition.
local function gain_of(grades, half_life)
  local seconds, gain = 0, 0
  for _, y in ipairs(grades) do
    if y >= 1 then gain = gain + 0.64 * 0.77 * 2 ^ (-seconds / half_life) end
    seconds = seconds + 4.4 + (0.018 * 500 + 7.8) * (y >= 1 and 0.64 or 0.39)
  end
  return gain
end

local function ranked(grades)
  local scores = {}
  for rank = 1, #grades do scores[rank] = -rank end
  return mr.tensor(scores, f64), mr.lists{ grades }
end

describe("mr.metrics.tbg", function()
  it("equals golden values", function()
    near(mr.metrics.tbg(ranked{ 1, 0, 0, 1, 0, 1 }):item(), 1.3375252493271102414, 1e-14)
    near(mr.metrics.tbg(ranked{ 0, 0, 1 }):item(), 0.46050491096754203886, 1e-14)
    local scores, lists = ranked{ 0, 1, 1, 0 }
    near(mr.metrics.tbg(scores, lists, { half_life = 30 }):item(), 0.65223522978029824512, 1e-14)
    near(mr.metrics.parse("tbg(30)")(scores, lists):item(), 0.65223522978029824512, 1e-14)
    local tied = mr.tensor({ 2, 1, 1, 1, 0 }, f64)
    near(mr.metrics.tbg(tied, mr.lists{ { 0, 1, 0, 1, 1 } }):item(), 1.3348332054052827791, 1e-14)
    near(mr.metrics.parse("tbg(60)")(mr.tensor({ 1, 1, 1, 1, 1, 1 }, f64), mr.lists{ { 1, 0, 1, 0, 0, 1 } }):item(),
      1.0588882340229206119, 1e-14)
  end)

  it("equals its definition for every list size and averages over the orders of ties", function()
    for _, n in ipairs{ 1, 31, 32, 33, 127, 128, 129, 1000 } do
      local u, grades = mr.uniform({ n }, { seed = n, device = "cpu" }):totable(), {}
      for i = 1, n do grades[i] = u[i] < 0.3 and 1 or u[i] < 0.4 and 2 or 0 end
      local scores, lists = ranked(grades)
      near(mr.metrics.tbg(scores, lists, { empty = "zero" }):item(), gain_of(grades, 224), 1e-12)
      local sum, orders = 0, 4000
      for seed = 1, n <= 33 and orders or 0 do
        sum = sum + mr.metrics.tbg(mr.uniform({ n }, { seed = seed, dtype = "float64" }), lists):item()
      end
      if n <= 33 then
        near(mr.metrics.tbg(scores * 0, lists, { empty = "zero" }):item(), sum / orders, { rtol = 0.02, atol = 0 })
      end
    end
  end)

  it("accepts half lives in names in mr.evaluate", function()
    local scores, lists = ranked{ 0, 1, 1, 0 }
    local e = mr.evaluate(scores, lists, { "tbg", "tbg(30)", "ndcg" })
    equal(e.names, { "tbg", "tbg(30)", "ndcg" })
    near(e.mean["tbg(30)"], 0.65223522978029824512, 1e-14)
  end)

  it("weighs each pair by its swap in LambdaRank", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0, 2, 0 }, { 0, 0 }, { 1, 1, 0 } }
    local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
    for l, grades in ipairs{ { 1, 0, 0, 1, 0, 2, 0 }, { 0, 0 }, { 1, 1, 0 } } do
      local first = l == 1 and 0 or l == 2 and 7 or 9
      local s, expected = table.move(scores:totable(), first + 1, first + #grades, 1, {}), 0
      local order = mr.lists{ grades }:order(mr.tensor(s, f64), { ties = "stable" }):totable()
      local function measured()
        local by_rank = {}
        for rank, row in ipairs(order) do by_rank[rank] = grades[row] end
        return gain_of(by_rank, 100)
      end
      local before = measured()
      for a = 1, #order do
        for b = 1, #order do
          if grades[order[a]] >= 1 and grades[order[b]] < 1 then
            local i, j = order[a], order[b]
            order[a], order[b] = j, i
            expected = expected + math.abs(measured() - before) * math.log(1 + math.exp(s[j] - s[i]))
            order[a], order[b] = i, j
          end
        end
      end
      local loss = mr.losses.lambdarank{ metric = "tbg(100)" }(scores, lists):totable()[l]
      near(loss, expected, 1e-12)
    end
    check(mr.gradcheck(function(x) return mr.losses.lambdarank{ metric = "tbg(100)" }(x, lists) end, scores) < 1e-6)
  end)

  it("has enumerated bounds and finite values and gradients under every bound", function()
    local of = mr.bounds.of("tbg", { grades = { 1, 1, 0, 0, 0 } })
    equal(of.method, "enumerated")
    near(of.max, gain_of({ 1, 1, 0, 0, 0 }, 224), 1e-12)
    near(of.min, gain_of({ 0, 0, 0, 1, 1 }, 224), 1e-12)
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 1, 0 }, { 0, 0 } }
    local scores = mr.normal({ lists.rows }, { seed = 5, dtype = "float64" })
    local values = mr.metrics.tbg(scores, lists)
    for _, name in ipairs(mr.bounds.names()) do
      local bounded = mr.bounds.resolve(name).apply(values, "tbg", lists):totable()
      for l = 1, 3 do check(bounded[l] == bounded[l] and math.abs(bounded[l]) < 1e3, name) end
      equal(bounded[3], 0.0, name)
      if name == "minmax" then check(bounded[1] >= 0 and bounded[1] <= 1) end
      local loss = mr.losses.lambdarank{ metric = "tbg", bound = name }
      check(mr.gradcheck(function(x) return loss(x, lists) end, scores) < 1e-6, name)
    end
  end)
end)
