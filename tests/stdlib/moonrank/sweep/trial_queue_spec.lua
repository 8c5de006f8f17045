-- Tests the order in which a sweep starts its trials, and the remaining time that it shows.
local mr = require "moonrank"
local frame = require "moonrank.sweep.frame"
local samplers = require "moonrank.sweep.search.samplers"
local trial_queue = require "moonrank.sweep.trial_queue"
local spaces = require "moonrank.sweep.search.space"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

local space = spaces.new{ bound = mr.choice{ "none", "minmax", "expectation", "distribution" },
  loss = mr.choice{ "ndcg", "ap", "nrbp" }, nsr = mr.range(1, 3) }

local function queue_of(sampler, o)
  local stored = o.stored or {}
  local store = { trials = function() return stored end, begin = function() end, finish = function() end }
  return trial_queue.new{ store = store, study = { seed = 1, direction = "maximize", forced = o.forced or 0 },
    space = space, sampler = samplers.make(sampler, space, 1), retry = o.retry or 0, trials = o.trials,
    metric = "value", folder = "none" }
end

local function all_of(queue)
  local numbers, params = {}, {}
  for trial in function() return queue:next() end do
    numbers[#numbers + 1], params[#params + 1] = trial.number, trial.params_text
  end
  return numbers, params
end

local function done(seconds) return { state = "done", value = 1.0, wall = seconds } end

it("queue:next starts trials in the order of the sampler", function()
  for _, sampler in ipairs{ "grid", "random", "sobol" } do
    local made = samplers.make(sampler, space, 1)
    local numbers, params = all_of(queue_of(sampler, { trials = 36 }))
    equal(#numbers, 36)
    for i, number in ipairs(numbers) do
      equal({ number, params[i] }, { i, frame.to_json(made:suggest(i)) })
    end
  end
end)

it("queue:left is the mean time of finished trials times the trials left, divided by the workers", function()
  local queue = queue_of("grid", {})
  local first, second, third = queue:next(), queue:next(), queue:next()
  equal(queue:left(2), nil)
  queue:finish(first, done(4), "value")
  equal(queue:left(2), 4 * 35 / 2)
  queue:finish(second, done(8), "value")
  equal({ queue:left(1), queue:left(0), queue:left(3) }, { 6.0 * 34, 6.0 * 34, 6.0 * 34 / 3 })
  queue:finish(third, { state = "failed", reason = "no", wall = 0 }, "value")
  equal(queue:left(1), 4.0 * 33)
end)

it("queue:left counts retried trials as left and leaves earlier runs out of the mean", function()
  local params = space:grid(1)
  local queue = queue_of("grid", { retry = 1, stored = { { number = 1, params = params,
    params_text = frame.to_json(params), state = "done", attempts = 1, value = 1.0, wall = 1000 } } })
  local second = queue:next()
  equal({ second.number, queue:left(1) }, { 2, nil })
  queue:finish(second, { state = "failed", reason = "no", wall = 5 }, "value")
  equal(queue:left(1), nil)
  queue:finish(queue:next(), done(2), "value")
  equal(queue:left(1), 2.0 * 34)
end)

it("queue:next gives grid points of a changed space unused trial numbers", function()
  local stored = {}
  for _, n in ipairs{ 1, 2, 14 } do
    local params = space:grid(n)
    stored[n] = { number = n, params = params, params_text = frame.to_json(params), state = "done", attempts = 1,
      value = 1.0 }
  end
  local queue = queue_of("grid", { stored = stored, forced = 1 })
  equal(queue.planned, 36)
  local numbers, params = all_of(queue)
  local seen = {}
  for i, text in ipairs(params) do
    check(not seen[text] and numbers[i] ~= 14, text)
    seen[text] = true
  end
  equal(#numbers, 33)
end)
