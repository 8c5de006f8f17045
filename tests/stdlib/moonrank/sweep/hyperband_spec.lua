-- Tests Hyperband against the table of its paper and a plain implementation of its algorithm.
local mr = require "moonrank"
local hyperband = require "moonrank.sweep.search.hyperband"
local pruners = require "moonrank.sweep.search.pruners"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

describe("hyperband brackets", function()
  it("equal the table of the paper for R = 81 and eta = 3", function()
    local found = {}
    for i, bracket in ipairs(hyperband.brackets(81, 3, 1)) do found[i] = { bracket.trials, bracket.resources } end
    equal(found, {
      { { 81, 27, 9, 3, 1 }, { 1, 3, 9, 27, 81 } },
      { { 34, 11, 3, 1 }, { 3, 9, 27, 81 } },
      { { 15, 5, 1 }, { 9, 27, 81 } },
      { { 8, 2 }, { 27, 81 } },
      { { 5 }, { 81 } },
    })
  end)

  it("follow Algorithm 1 for other R and eta", function()
    for _, case in ipairs{ { 1, 3 }, { 2, 3 }, { 16, 2 }, { 100, 3 }, { 243, 3 }, { 1000, 10 }, { 50, 4 } } do
      local R, eta = case[1], case[2]
      local s_max = 0
      while eta ^ (s_max + 1) <= R do s_max = s_max + 1 end
      local brackets = hyperband.brackets(R, eta, 1)
      equal(#brackets, s_max + 1)
      for s = s_max, 0, -1 do
        local bracket, n = brackets[s_max - s + 1], math.ceil((s_max + 1) * eta ^ s / (s + 1))
        equal(#bracket.trials, s + 1)
        for i = 0, s do
          equal(bracket.trials[i + 1], math.floor(n / eta ^ i))
          equal(bracket.resources[i + 1], math.floor(R / eta ^ (s - i)))
        end
      end
    end
    equal(hyperband.brackets(81, 3, 9)[1].resources, { 9, 27, 81 })
    for _, factor in ipairs{ 1 << 62, math.maxinteger } do  -- factors whose products overflow 64-bit integers
      equal(hyperband.brackets(2, factor, 2), { { trials = { 1 }, resources = { 2 } } })
    end
  end)

  it("take consecutive trial numbers", function()
    local p = pruners.make{ "hyperband", max_resource = 81 }
    equal(p:count(), 143)
    local firsts = {}
    for number = 1, 286 do
      local bracket, first = p:bracket_of(number)
      check(number >= first and number < first + bracket.trials[1], "within")
      if number == first then firsts[#firsts + 1] = first end
    end
    equal(firsts, { 1, 82, 116, 131, 139, 144, 225, 259, 274, 282 })
  end)

  it("print their options and reject invalid ones", function()
    equal(tostring(pruners.make{ "hyperband", max_resource = 9 }),
      "hyperband(factor = 3, max_resource = 9, min_resource = 1)")
    for _, case in ipairs{
      { "hyperband", "max_resource" },
      { { "hyperband", max_resource = 9.5 }, "max_resource", "9.5" },
      { { "hyperband", max_resource = 0 }, "max_resource", "0" },
      { { "hyperband", max_resource = 9, factor = 1 }, "factor", "1" },
      { { "hyperband", max_resource = 9, min_resource = 10 }, "min_resource", "10" },
      { { "hyperband", max_resource = 9, eta = 3 }, "'eta'", "option" },
      { { "hyperband", max_resource = 2 ^ 40 // 1 | 0 }, "max_resource", "1099511627776" },
      { "hyperbant", "'hyperbant'", "'hyperband'" },
    } do raises(function() pruners.make(case[1]) end, table.unpack(case, 2)) end
  end)
end)

-- Returns the metric of a trial at a step. The learning curves of different trials cross.
local function value_at(x, step) return x * (1 - 0.5 ^ step) + math.sin(40 * x) / step end

-- Plain successive halving of each bracket. Returns the state and the last step of each trial by its number.
local function expected(params, R, sign)
  local by_number, first = {}, 1
  while first <= #params do
    for _, bracket in ipairs(hyperband.brackets(R, 3, 1)) do
      local alive = {}
      for number = first, math.min(first + bracket.trials[1] - 1, #params) do alive[#alive + 1] = number end
      local size = #alive
      for rung, resource in ipairs(bracket.resources) do
        local state = rung == #bracket.resources and "done" or "pruned"
        for _, number in ipairs(alive) do by_number[number] = { state = state, step = resource } end
        if rung < #bracket.resources then
          table.sort(alive, function(a, b)
            return sign * value_at(params[a], resource) > sign * value_at(params[b], resource)
          end)
          local keep = math.max(1, math.floor(size / 3 ^ rung))
          alive = table.move(alive, 1, math.min(keep, #alive), 1, {})
        end
      end
      first = first + bracket.trials[1]
    end
  end
  return by_number
end

local function compare(results, R, sign)
  local data = results:columns{ "done", "pruned" }
  local x, state, reports = data:column("x"), data:column("state"), results:reported "m"
  local wanted = expected(x, R, sign)
  for number = 1, data.count do
    equal({ number = number, state = state[number], step = reports[number][#reports[number]].step },
      { number = number, state = wanted[number].state, step = wanted[number].step })
    equal(#reports[number], wanted[number].step)
  end
  return data.count
end

local folder = files.new_folder()

local function study(name, options)
  local o = { name = name, store = folder .. "/r.db", progress = false, workers = 0, space = { x = mr.uniform(0, 1) },
    metric = "m", direction = "maximize", sampler = "random", pruner = { "hyperband", max_resource = 27 },
    run = function(trial)
      for step = 1, 27 do trial:report(step, { m = value_at(trial.x, step) }) end
      return { m = value_at(trial.x, 27) }
    end }
  for key, value in pairs(options or {}) do o[key] = value end
  return mr.sweep(o)
end

describe("mr.sweep with the hyperband pruner", function()
  it("runs Algorithm 1 once by default", function()
    equal(compare(study "plain", 27, 1), 49)
    equal(study("plain"):counts(), { done = 8, pruned = 41 })
  end)

  it("follows the direction, runs several passes and can end within one", function()
    for _, trials in ipairs{ 1, 2, 20, 30, 49, 75 } do
      equal(compare(study("least" .. trials, { direction = "minimize", trials = trials }), 27, -1), trials)
    end
  end)

  it("takes trials of a grid, and suggestions based on earlier brackets", function()
    local grid = study("grid", { sampler = "grid", space = { x = mr.uniform(0, 1, { points = 60 }) }, trials = 40 })
    equal(compare(grid, 27, 1), 40)
    local tpe = study("tpe", { sampler = { "tpe", startup = 5, generation = 4 }, trials = 60 })
    equal(compare(tpe, 27, 1), 60)
    local random = study("random", { trials = 60 })
    local a = tpe:columns{ "done", "pruned" }:column("x")
    local b = random:columns{ "done", "pruned" }:column("x")
    -- trials of the first bracket have no earlier results, so TPE draws them at random
    for number = 1, 27 do equal(a[number], b[number]) end
    check(a[28] ~= b[28] and a[60] ~= b[60], "later ones are suggested")
  end)

  it("continues without failed trials and counts trials that ended early", function()
    local r = study("odd", { retry = 1, pruner = { "hyperband", max_resource = 9 }, run = function(trial)
      for step = 1, 9 do
        if trial.number % 4 == 0 and step == 1 or trial.number == 2 and step == 2 and trial.attempt == 1 then
          error "bad"
        end
        -- trial 3 ends early with the best metric, without having reported a step
        if trial.number == 3 and step == 1 then return { m = 2 } end
        trial:report(step, { m = trial.number == 5 and 5 or trial.number == 2 and 4 or -trial.number })
      end
      return { m = -trial.number }
    end })
    -- Brackets have 9, 5 and 3 trials. Three trials of the first bracket continue after step 1: 5, 2 (which then fails
    -- once) and 3, which has already ended. Later only 5 continues.
    local states = {}
    for i, row in ipairs(r:trials{ columns = { "number", "state" } }.rows) do states[i] = row[2] end
    equal(states, { "pruned", "pruned", "done", "failed", "done", "pruned", "pruned", "failed", "pruned",
      "done", "pruned", "failed", "pruned", "pruned", "done", "failed", "done" })
    equal(#r:reports(2).m.steps, 3)
  end)

  it("resumes and compares data that trials read after a pause", function()
    local lists = mr.lists{ { 1, 0, 1 } }
    local function run(trial)
      for step = 1, 9 do
        trial:report(step, { m = trial.x * step })
        if step == 1 then mr.evaluate(mr.zeros(3), lists, { "ndcg" }) end
      end
      return { m = trial.x }
    end
    local options = { pruner = { "hyperband", max_resource = 9 }, trials = 12, run = run }
    local counts = study("data", options):counts()
    lists = mr.lists{ { 1, 0, 0 } }
    raises(function() study("data", options) end, "data")
    lists = mr.lists{ { 1, 0, 1 } }
    equal(study("data", options):counts(), counts)
    equal(counts, { done = 2, pruned = 10 })
  end)

  it("uses the first report at or after a rung if reports are sparse", function()
    local r = study("sparse", { pruner = { "hyperband", max_resource = 27 }, trials = 27, run = function(trial)
      for step = 5, 30, 5 do trial:report(step, { m = trial.number + step / 100 }) end
      return { m = trial.number }
    end })
    local last = {}
    for _, reports in pairs(r:reported "m") do
      local step = reports[#reports].step
      last[step] = (last[step] or 0) + 1
    end
    -- step 5 is the first report after rungs 1 and 3, where all trials but three of 27 are pruned; step 10 is the first
    -- after rung 9, where two of the three are pruned
    equal(last, { [5] = 24, [10] = 2, [30] = 1 })
  end)
end)

describe("a study resumed with hyperband", function()
  -- Runs a study that stops within trial `number`, like after a crash, and leaves its store.
  local function interrupted(name, options, number)
    local all = { run = function(trial)
      if trial.number == number then error("interrupted", 0) end
      for step = 1, 27 do trial:report(step, { m = value_at(trial.x, step) }) end
      return { m = value_at(trial.x, 27) }
    end, force = true }
    for key, value in pairs(options) do all[key] = value end
    pcall(study, name, all)
  end

  it("finishes under another pruner or other brackets", function()
    for i, pruner in ipairs{ "median", { "hyperband", max_resource = 9 },
      { "hyperband", max_resource = 27, factor = 2 } } do
      local name = "switched" .. i
      interrupted(name, { trials = 49 }, 30)
      check(mr.results(folder .. "/r.db", name):counts().paused == 2, "two of the second bracket wait")
      local r = study(name, { pruner = pruner, trials = 49, force = true })
      local counts = r:counts()
      equal((counts.done or 0) + (counts.pruned or 0), 49)
    end
  end)

  it("continues with more trials in the bracket where it ended", function()
    equal(compare(study("longer", { trials = 27 }), 27, 1), 27)
    equal(compare(study("longer", { trials = 49 }), 27, 1), 49)
    equal(study("within", { trials = 10 }):counts(), { done = 1, pruned = 9 })
    local r = study("within", { trials = 27 })
    -- nine of 27 trials are promoted, although some of the first ten were pruned before
    equal(r:counts(), { done = 2, pruned = 25 })
  end)
end)

-- Returns a queue of Hyperband with brackets of 3 and 2 trials, over steps 1 and 3.
local function queue_of(name)
  local opened = require("moonrank.sweep.store").open(folder .. "/queue.db", "write")
  local row = opened:study(name) or opened:set_study{ name = name, space = "", sampler = "", seed = 1,
    direction = "maximize", metric = "m", script = "", script_name = "", settings = "", data = "", version = "" }
  local space = require("moonrank.sweep.search.space").new{ x = mr.uniform(0, 1) }
  return require("moonrank.sweep.trial_queue").new{ store = opened, study = row, space = space, retry = 1, trials = 5,
    metric = "m", sampler = require("moonrank.sweep.search.samplers").make("random", space, 1),
    pruner = pruners.make{ "hyperband", max_resource = 3 }, folder = folder }
end

it("a trial killed at a hyperband rung waits there, in this run and the next", function()
  for _, case in ipairs{ { "best", 0.9, 1 }, { "worst", 0.05, 2 } } do
    local name, value, promoted = case[1], case[2], case[3]
    local plan = queue_of(name)
    local trials = { plan:next(), plan:next(), plan:next() }
    equal(plan:job(trials[1]).pause, 1)
    local function at(m) return { { step = 1, values = { m = m } } } end
    plan:finish(trials[1], { state = "killed", reports = at(value), wall = 1 }, "m")
    plan:finish(trials[2], { state = "paused", reports = at(0.5), value = 0.5, wall = 1 }, "m")
    local again = queue_of(name)
    equal(again.trials[1].state, "paused")
    plan:finish(trials[3], { state = "paused", reports = at(0.1), value = 0.1, wall = 1 }, "m")
    for _, each in ipairs{ plan, queue_of(name) } do
      local next_one = each:next()
      equal({ next_one.number, each:job(next_one).pause or "none" }, { promoted, "none" })
      equal(each.trials[3].state, "pruned")
      equal(each.trials[3 - promoted].state, "pruned")
      equal(each.store:trials(each.study)[3 - promoted].value, promoted == 1 and 0.5 or 0.05)
    end
  end
end)

local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ workers = 2, wait = 0.001, retry = 0, checkpoint = false }
mr.sweep{ name = "study", store = "r.db", workers = args.workers, retry = args.retry, seed = 4, progress = false,
  sampler = "random", space = { x = mr.uniform(0, 1) }, metric = "m", direction = "maximize",
  pruner = { "hyperband", max_resource = 27 },
  run = function(trial)
    local from = 0
    if args.checkpoint then
      local file = io.open(trial.checkpoint .. "/step", "r")
      if file then from = file:read "n" file:close() end
    end
    for step = from + 1, 27 do
      core.wait_for({}, args.wait)
      local log <close> = io.open("ran.log", "a")
      log:write(trial.number, " ", step, "\n")
      if args.checkpoint then
        local file <close> = io.open(trial.checkpoint .. "/step", "w")
        file:write(step)
      end
      trial:report(step, { m = trial.x * (1 - 0.5 ^ step) + math.sin(40 * trial.x) / step })
    end
    return { m = trial.x }
  end }
]]

describe("hyperband in worker processes", function()
  local function program(name, body)
    it(name, function()
      if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
      body(sweeps.new_folder(script))
    end)
  end
  local function check_whole(at)
    local results = mr.results(at .. "/r.db")
    equal(results:counts(), { done = 8, pruned = 41 })
    equal(compare(results, 27, 1), 49)
    return sweeps.table_at(at)
  end

  program("gives the same results for any number of workers and after kills", function(at)
    local tables = {}
    for i, workers in ipairs{ 0, 1, 3 } do
      os.execute(("rm -rf %s/r.db*"):format(at))
      equal((sweeps.run(at, "sweep.lua", ("--workers %d --wait 0"):format(workers))), 0)
      tables[i] = check_whole(at)
    end
    equal(tables[2], tables[1])
    equal(tables[3], tables[1])
    os.execute(("rm -rf %s/r.db*"):format(at))
    for i = 1, 6 do
      local id = sweeps.start(at, "sweep.lua", i == 6 and "--wait 0" or nil)
      if i < 6 then
        sweeps.wait(0.1 + 0.06 * i)
        sweeps.signal(id, i % 2 == 0 and "INT" or "KILL")
      end
      sweeps.finish(at)
    end
    equal((sweeps.run(at, "sweep.lua", "--wait 0")), 0)
    equal(check_whole(at), tables[1])
  end)

  program("gives the same results if killed workers' trials are retried", function(at)
    equal((sweeps.run(at, "sweep.lua", "--workers 0 --wait 0 --retry 1000")), 0)
    local whole = check_whole(at)
    os.execute(("rm -rf %s/r.db*"):format(at))
    os.remove(at .. "/ran.log")
    local id, killed, steps = sweeps.start(at, "sweep.lua", "--wait 0.002 --retry 1000"), 0, 0
    for _ = 1, 2000 do
      sweeps.wait(0.01)
      if sweeps.read(at .. "/status") ~= "" or killed == 8 then break end
      -- waits for some steps between two kills; else all workers would be killed before they take a trial, which ends
      -- the sweep
      local _, made = sweeps.read(at .. "/ran.log"):gsub("\n", "")
      local worker = sweeps.children(id)[1 + killed % 2]
      if made > steps + 20 and worker then
        sweeps.signal(worker, "KILL")
        killed, steps = killed + 1, made
      end
    end
    equal((sweeps.finish(at)), 0)
    check(killed > 0, "none was killed")
    equal(check_whole(at), whole)
  end)

  program("resumes from checkpoints and runs each step once", function(at)
    equal((sweeps.run(at, "sweep.lua", "--wait 0 --checkpoint")), 0)
    check_whole(at)
    local counts, steps = {}, 0
    for line in sweeps.read(at .. "/ran.log"):gmatch "[^\n]+" do
      check(not counts[line], line .. " ran twice")
      counts[line], steps = true, steps + 1
    end
    -- the total budget of the example in the Hyperband paper: 27 + 9*2 + 3*6 + 1*18, 12*3 + 4*6 + 1*18, 6*9 + 2*18,
    -- 4*27
    equal(steps, 27 + 18 + 18 + 18 + 36 + 24 + 18 + 54 + 36 + 108)
  end)
end)

it("hyperband fails a trial that reports NaN at a rung and promotes others", function()
  for _, broken in ipairs{ 1, 2, 3 } do
    local path = ("%s/nan_%d.db"):format(folder, broken)
    local r = mr.sweep{ name = "nan", store = path, workers = 0, progress = false, space = { x = mr.range(1, 3) },
      metric = "v", direction = "maximize", pruner = { "hyperband", max_resource = 3 }, trials = 3,
      run = function(trial)
        for step = 1, 3 do trial:report(step, trial.x == broken and 0 / 0 or trial.x) end
        return { v = trial.x }
      end }
    equal(r:counts(), { done = 1, pruned = 1, failed = 1 })
    equal(r:best().number, broken == 3 and 2 or 3)
  end
end)
