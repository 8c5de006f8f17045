-- The time left of a sweep: against what was left in truth, of made-up durations that end as workers would end them.
local mr = require "moonrank"
local forecast = require "moonrank.sweep.forecast"
local frame = require "moonrank.sweep.frame"
local samplers = require "moonrank.sweep.samplers"
local schedule = require "moonrank.sweep.schedule"
local spaces = require "moonrank.sweep.space"
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

-- Tenfold by bound, more than twofold by negatives, and a tenth up or down by chance.
local by_bound = { none = 1, minmax = 1.2, expectation = 1.1, expectation_max = 1.3, distribution = 10, distribution_log = 1.5 }
local by_loss = { ndcg = 1, ap = 1.4, nrbp = 0.8 }

local function seconds_of(trial)
  local p, chance = trial.params, trial.number * 7919 % 101 / 100
  return by_bound[p.bound] * by_loss[p.loss] * (0.4 + 0.6 * p.nsr) * (0.9 + 0.2 * chance)
end

local function space()
  return spaces.new{ bound = mr.choice{ "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log" },
    loss = mr.choice{ "ndcg", "ap", "nrbp" }, nsr = mr.range(1, 3), split = mr.range(1, 5) }
end

local store = { trials = function() return {} end, begin = function() end, finish = function() end }

-- The trials of a sweep that ran: scripts/thesis/table_5_1.lua, whose distributions are drawn for the first time.
local function cold_run()
  local seconds = {}
  for line in io.lines "tests/golden/sweep_seconds.txt" do
    local whole, once = line:match "^([%d.]+) ([%d.]+)$"
    if whole then seconds[#seconds + 1] = { whole = tonumber(whole), once = tonumber(once) } end
  end
  local bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log", "distribution_logit" }
  return spaces.new{ bound = mr.choice(bounds), loss = mr.choice{ "ndcg", "ap", "nrbp" }, nsr = mr.range(1, 3), split = mr.range(1, 5) },
    function(trial) return seconds[trial.number].whole, seconds[trial.number].once end
end

-- Runs a study on so many workers in made-up time: what was said to be left after each trial, when, and when all ended; and the order.
local function simulated(sampler, o)
  local own, seconds_in = space(), seconds_of
  if o.cold then own, seconds_in = cold_run() end
  local plan = schedule.new{ store = store, study = { seed = 1, direction = "maximize", forced = 0 }, space = own,
    sampler = samplers.make(sampler, own, 1), retry = 0, trials = o.trials, metric = "value", folder = "none" }
  local now, busy, said, order = 0.0, {}, {}, {}
  repeat
    while #busy < o.workers do
      local trial = plan:next()
      if not trial then break end
      order[#order + 1] = trial.number
      local whole, once = seconds_in(trial)
      busy[#busy + 1] = { trial = trial, began = now, ends = now + whole, once = once }
    end
    table.sort(busy, function(a, b) return a.ends < b.ends end)
    local first = table.remove(busy, 1)
    now = first.ends
    plan:finish(first.trial, { state = "done", value = 1.0, wall = now - first.began, once = first.once }, "value")
    local running = {}
    for i, each in ipairs(busy) do running[i] = { trial = each.trial, spent = now - each.began } end
    said[#said + 1] = { ended = #said + 1, at = now, left = plan:left(running, o.workers) }
  until plan:ended() == plan.planned
  return said, now, order
end

-- From a share of the trials on, until the last few decide.
local function within_a_third(said, whole, share, label)
  for _, each in ipairs(said) do
    local left = whole - each.at
    if each.ended >= #said * share and left > 5 then
      local text = ("%s: %.1f s said after %d trials, %.1f s in truth"):format(label, each.left, each.ended, left)
      check(math.abs(each.left - left) < left / 3, text)
    end
  end
end

describe("the time left", function()
  it("is right within a third from a tenth of the trials on, in the order of a grid", function()
    -- of seven workers one still has the first trial of the slow bound when the others have ended a tenth of all
    for workers, share in pairs{ [1] = 0.1, [2] = 0.1, [3] = 0.1, [7] = 0.2 } do
      local said, whole = simulated("grid", { workers = workers })
      equal(#said, 270)
      within_a_third(said, whole, share, workers .. " workers")
    end
  end)

  it("is right in random order, with parameters that are known or not", function()
    for _, sampler in ipairs{ "random", "sobol" } do
      local said, whole = simulated(sampler, { workers = 2, trials = 200 })
      within_a_third(said, whole, 0.1, sampler)
    end
  end)

  it("is right within a third from a tenth of the trials on where most of the time goes into what later trials find ready", function()
    for workers = 1, 4 do
      local said, whole = simulated("grid", { workers = workers, cold = true })
      equal(#said, 315)
      within_a_third(said, whole, 0.1, workers .. " workers, cold")
    end
  end)

  it("counts what a trial makes again that differs in one parameter alone, and nothing for values that need nothing", function()
    local f = forecast.new()
    equal(f:once({ a = 1, b = 1 }, {}), 0.0)
    equal(f:add({ a = 1, b = 1, c = 1 }, 1), false)       -- a = 1 needs nothing
    equal(f:add({ a = 2, b = 1, c = 1 }, 9, 8), true)     -- 8 s for the first of its kind
    equal(f:add({ a = 2, b = 2, c = 1 }, 3, 2), false)    -- by b a quarter of it again
    equal(f:add({ a = 2, b = 1, c = 2 }, 9, 8), false)    -- by c all of it
    equal(f:once({ a = 1, b = 7, c = 7 }, {}), 0.0)
    equal(f:once({ a = 2, b = 3, c = 1 }, {}), 2.0)
    equal(f:once({ a = 2, b = 1, c = 3 }, {}), 8.0)
    local before = {}
    equal(f:once({ a = 2, b = 3, c = 2 }, before), 2.0, "the least of what its neighbours leave")
    equal(f:once({ a = 2, b = 3, c = 3 }, before), 2.0, "by c of what was foreseen before it")
    equal(f:is_known(), true)
    equal(f:left(0, { { params = { a = 2, b = 3, c = 1 }, spent = 1, once = 2 } }, 1), 2.0)
  end)

  it("is of the trial's own values, where they are known to matter", function()
    local f = forecast.new()
    equal(f:is_known(), false)
    for i = 1, 8 do f:add({ a = i % 2, lr = i / 10 }, i % 2 == 0 and 4 or 1) end
    equal(f:is_known(), true)
    local function shown(x) return ("%.3f"):format(x) end
    equal({ shown(f:of{ a = 0, lr = 0.15 }), shown(f:of{ a = 1 }), shown(f:of{ a = 5 }), shown(f:of(nil)) },
      { "4.000", "1.000", "2.000", "2.500" })
    equal(shown(f:left(0, { { params = { a = 0 }, spent = 1 } }, 4)), "3.000", "one worker has it")
    equal(f:left(0, { { params = { a = 0 }, spent = 9 } }, 4), 0.0)
    equal(shown(f:left(12, { { params = { a = 0 }, spent = 1 } }, 4)), "3.750")
  end)
end)

describe("trials of a grid", function()
  it("that have a value first begin first, then some spread over all, the others in the order of their numbers", function()
    local _, _, order = simulated("grid", { workers = 1 })
    equal({ table.unpack(order, 1, 14) }, { 1, 2, 3, 4, 5, 6, 11, 16, 31, 46, 91, 136, 181, 226 })
    equal({ table.unpack(order, 15, 20) }, { 167, 64, 231, 128, 25, 192 })
    equal({ table.unpack(order, 28, 31) }, { 7, 8, 9, 12 })
    table.sort(order)
    for i = 1, 270 do equal(order[i], i) end
  end)

  it("near one that made much begin soon after it, by each parameter", function()
    local _, _, order = simulated("grid", { workers = 1, cold = true })
    local at = {}
    for i, number in ipairs(order) do at[number] = i end
    for _, number in ipairs{ 182, 183, 186, 191, 196, 211 } do  -- of 181: by split, nsr, loss
      check(at[number] > at[181] and at[number] < 24, ("%d is at %d"):format(number, at[number]))
    end
  end)

  it("get their numbers where a study was stopped early and its space changed", function()
    local own = space()
    local function stored(numbers)
      local trials = {}
      for _, n in ipairs(numbers) do
        local params = own:grid(n)
        trials[n] = { number = n, params = params, params_text = frame.to_json(params), state = "done", attempts = 1, value = 1.0 }
      end
      return trials
    end
    local plan = schedule.new{ store = setmetatable({ trials = function() return stored{ 1, 2, 46 } end }, { __index = store }),
      study = { seed = 1, direction = "maximize", forced = 1 }, space = own, sampler = samplers.make("grid", own, 1), retry = 0,
      metric = "value", folder = "none" }
    equal(plan.planned, 270)
    local points, count = {}, 0
    while true do
      local trial = plan:next()
      if not trial then break end
      check(not points[trial.params_text] and trial.number ~= 46, trial.params_text)
      points[trial.params_text], count = true, count + 1
    end
    equal(count, 267)
  end)
end)
