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

-- Runs a study on so many workers in made-up time: what was said to be left after each trial, when, and when all ended; and the order.
local function simulated(sampler, o)
  local own = space()
  local plan = schedule.new{ store = store, study = { seed = 1, direction = "maximize", forced = 0 }, space = own,
    sampler = samplers.make(sampler, own, 1), retry = 0, trials = o.trials, metric = "value", folder = "none" }
  local now, busy, said, order = 0.0, {}, {}, {}
  repeat
    while #busy < o.workers do
      local trial = plan:next()
      if not trial then break end
      order[#order + 1] = trial.number
      busy[#busy + 1] = { trial = trial, began = now, ends = now + seconds_of(trial) + (o.once or 0) }
    end
    table.sort(busy, function(a, b) return a.ends < b.ends end)
    local first = table.remove(busy, 1)
    now = first.ends
    plan:finish(first.trial, { state = "done", value = 1.0, wall = now - first.began, once = o.once }, "value")
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

  it("leaves out what later trials find ready", function()
    local plain = simulated("grid", { workers = 1 })
    local more = simulated("grid", { workers = 1, once = 30 })
    for i, each in ipairs(plain) do check(math.abs(more[i].left - each.left) < 1e-6 * (1 + each.left), i) end
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
  it("that have a value first begin first, the others in the order of their numbers", function()
    local _, _, order = simulated("grid", { workers = 1 })
    equal({ table.unpack(order, 1, 14) }, { 1, 2, 3, 4, 5, 6, 11, 16, 31, 46, 91, 136, 181, 226 })
    equal({ table.unpack(order, 15, 18) }, { 7, 8, 9, 10 })
    table.sort(order)
    for i = 1, 270 do equal(order[i], i) end
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
