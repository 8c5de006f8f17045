-- Tests the order in which a sweep starts its trials, the remaining time that it shows, and what it writes to the store
-- as trials begin and end.
local mr = require "moonrank"
local frame = require "moonrank.sweep.frame"
local samplers = require "moonrank.sweep.search.samplers"
local trial_queue = require "moonrank.sweep.trial_queue"
local spaces = require "moonrank.sweep.search.space"
local stores = require "moonrank.sweep.store"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

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

-- Calls f with the queue of a study in a new store, and a function that returns the rows of an SQL statement.
local function with_store(sampler, retry, f)
  sweeps.in_folder(function(folder)
    local store <close> = stores.open(folder .. "/r.db", "write")
    local study = store:set_study{ name = "s", space = "x", sampler = sampler, seed = 1, direction = "maximize",
      script = "s", script_name = "s", settings = "", data = "", version = "0" }
    f(trial_queue.new{ store = store, study = study, space = space, sampler = samplers.make(sampler, space, 1),
      retry = retry, trials = 3, metric = "value", folder = folder },
      function(sql) return store:rows(sql) end)
  end)
end

local states = "SELECT number, state FROM trials ORDER BY number"

it("queue:finish_and_next stores the end of a trial and the begin of the next one", function()
  for _, sampler in ipairs{ "grid", "random", "tpe" } do
    with_store(sampler, 0, function(queue, rows)
      local trial, ended = queue:next(), {}
      while trial do
        ended[#ended + 1] = { number = trial.number, state = "done" }
        equal(rows(states)[#ended], { number = #ended, state = "running" })
        trial = queue:finish_and_next(trial, { state = "done", value = 1.0, numbers = { value = 1.0 } }, "value")
      end
      equal(#ended, 3)
      equal(rows(states), ended)
      equal(#rows "SELECT * FROM numbers", 3)
    end)
  end
end)

it("queue:finish_and_next keeps the result if the next trial cannot begin", function()
  with_store("grid", 0, function(queue, rows)
    local trial = queue:next()
    rawset(queue.sampler, "suggest", function() error("no suggestion", 0) end)
    raises(function() queue:finish_and_next(trial, { state = "done", value = 1.0 }, "value") end, "no suggestion")
    equal(rows(states), { { number = 1, state = "done" } })
  end)
end)

it("queue:finish replaces what an earlier attempt of the trial stored", function()
  with_store("grid", 1, function(queue, rows)
    local reports = { { step = 1, values = { value = 1.0, other = 2.0 } }, { step = 2, values = { value = 1.0 } } }
    local data = { { role = "train", fingerprint = "ab", what = "1 list" } }
    queue:finish(queue:next(), { state = "failed", reason = "no", numbers = { value = 1.0, other = 2.0 },
      lists = { value = "12345678" }, reports = reports, data = data }, "value")
    local again = queue:next()
    equal(again.number, 1)
    data[1].fingerprint = "cd"
    queue:finish(again, { state = "done", value = 3.0, numbers = { value = 3.0 }, lists = {}, data = data,
      reports = { { step = 1, values = { value = 3.0 } } } }, "value")
    equal(rows "SELECT name, value FROM numbers", { { name = "value", value = 3.0 } })
    equal(rows "SELECT step, name, value FROM reports", { { step = 1, name = "value", value = 3.0 } })
    equal(#rows "SELECT * FROM lists", 0)
    equal(rows "SELECT fingerprint FROM data", { { fingerprint = "cd" } })
  end)
end)
