-- Tests Top-N-Rank and the logarithm of smooth RR: plain Lua forms, finite differences, degenerate lists and bounds.
local mr = require "moonrank"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local infinity = math.huge
local made = { top_n_rank = { {}, { k = 1, above = "relu" }, { k = 3, above = "relu" } },
  log_rr = { {}, { steepness = 4 } } }

local function each(f)
  for name, all in pairs(made) do
    for i, options in ipairs(all) do f(mr.losses[name], options, ("%s %d"):format(name, i)) end
  end
end

local function grades(n, seed) return support.grades(n, seed, 3, 2) end

local function sigma(x) return 1 / (1 + math.exp(-x)) end
local function softplus(x) return math.max(x, 0) + math.log(1 + math.exp(-math.abs(x))) end

-- Formulas of the losses for one list whose grades differ, in plain Lua.
local function top_n_rank(f, y, n, above)
  local total = 0
  for i = 1, #f do
    local before, rank = 0, 1
    for j = 1, #f do
      if f[j] > f[i] or f[j] == f[i] and j < i then before = before + 1 end
      if j ~= i then rank = rank + above(f[j] - f[i]) end
    end
    if before < n then total = total - (2 ^ y[i] - 1) / math.log(1 + rank, 2) end
  end
  return total
end
local function log_rr(f, y, gain)
  local logs, top = {}, -infinity
  for i = 1, #f do
    if y[i] >= 1 then
      local rank, log = 1, 0
      for j = 1, #f do
        if j ~= i then
          rank = rank + sigma(gain * (f[j] - f[i]))
          if y[j] >= 1 then log = log - softplus(gain * (f[j] - f[i])) end
        end
      end
      logs[#logs + 1] = log - math.log(rank)
      top = math.max(top, logs[#logs])
    end
  end
  local total = 0
  for _, log in ipairs(logs) do total = total + math.exp(log - top) end
  return -(top + math.log(total))
end

describe("top_n_rank and log_rr", function()
  it("equal plain Lua forms for every list size", function()
    for _, n in ipairs{ 2, 31, 32, 33, 127, 128, 129, 1000 } do
      local y = grades(n, n)
      y[1], y[2] = 2, 0
      for shape, scale in pairs{ plain = 1, wide = 30, tied = 0 } do
        local x, lists = mr.normal({ n }, { seed = n, dtype = "float64" }), mr.lists{ y }
        x = shape == "tied" and (x * 2 + 50):to "int64":to "float64" or x * scale
        local f = x:totable()
        local function relu(by) return math.max(0, by) end
        local expected = {
          { mr.losses.top_n_rank{ above = "relu" }, top_n_rank(f, y, 10, relu) },
          { mr.losses.top_n_rank{ k = 1, above = "relu" }, top_n_rank(f, y, 1, relu) },
          { mr.losses.top_n_rank(), top_n_rank(f, y, 10, sigma) },
          { mr.losses.top_n_rank{ k = 33 }, top_n_rank(f, y, 33, sigma) },
          { mr.losses.log_rr(), log_rr(f, y, 1) }, { mr.losses.log_rr{ steepness = 3 }, log_rr(f, y, 3) } }
        for i, case in ipairs(expected) do
          local where, size = ("case %d, %d rows, %s"):format(i, n, shape), math.max(1, math.abs(case[2]))
          near(case[1](x, lists):item() / size, case[2] / size, 1e-11, where)
          near(case[1](x:float(), lists):item() / size, case[2] / size, 2e-5, where .. ", float32")
        end
      end
    end
  end)

  it("have a gradient where that of rr vanishes, as log_rr is the logarithm of smooth RR", function()
    local x, lists = mr.normal({ 9 }, { seed = 1, dtype = "float64" }), mr.lists{ { 1, 0, 2, 0, 1 }, { 0, 1, 0, 3 } }
    near(mr.losses.log_rr()(x, lists), -mr.smooth.rr(x, lists):log(), 1e-12)
    local many = {}
    for i = 1, 4000 do many[i] = i % 2 end
    -- all scores are equal, so the sum has 2,000 terms of 2^-1999 / 2000.5
    local all = mr.lists{ many }
    near(mr.losses.log_rr()(mr.zeros(4000), all):item(), -(math.log(2000 / 2000.5) - 1999 * math.log(2)), 1e-3)
    local slope, scores = {}, mr.normal({ 4000 }, { seed = 1 }) / 10
    for _, name in ipairs{ "log_rr", "rr" } do
      local _, gradient = value_and_gradient(mr.losses[name](), scores, all)
      slope[name] = gradient:abs():max():item()
    end
    check(slope.log_rr > 0.1 and slope.rr == 0, "log_rr has no gradient, or rr one")
  end)

  it("have gradients that match finite differences", function()
    local lists = mr.lists{ grades(13, 3), {}, { 2 }, { 0, 0, 0 }, { 1, 1 }, { 1, 0 }, grades(5, 4), { 2, 1, 0 } }
    each(function(make, options, where) support.by_differences(make(options), lists, where) end)
  end)

  it("are finite for distant, equal or infinite scores, and 0 if no ordering matters", function()
    each(function(make, options, where)
      support.stays_a_number(make(options), where, function(value, gradient, _, y, what)
        check(value - value == 0, what)
        if y[1] == y[2] and y[2] == y[3] then
          equal({ math.abs(value), gradient:abs():max():item() }, { 0.0, 0.0 }, what)
        end
      end)
    end)
    raises(function() mr.losses.log_rr()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
    raises(function() mr.losses.top_n_rank()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
  end)

  it("are scaled by the slope of every bound", function()
    local lists = mr.lists{ { 1, 0, 2 }, {}, { 0, 0 }, { 1, 1 }, { 1, 0, 0, 0 } }
    for name, of in pairs{ top_n_rank = "dcg@10", log_rr = "rr" } do
      local plain = mr.losses[name]()
      equal({ plain:count(lists), plain.metric, #mr.losses.bounds(name) }, { 2, of, #mr.bounds.names() }, name)
      support.by_slope(mr.losses[name], of, lists)
    end
  end)
end)
