-- Tests journal files for Optuna: the Optuna package from PyPI loads the trials that the store has, and a sweep adds
-- each trial when it ends.
local core = require "moonrank.core"
local json = dofile "tests/support/json.lua"
local mr = require "moonrank"
local program = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local check, describe, equal, it = test.check, test.describe, test.equal, test.it

local new_path = files.new_path

-- Runs a study with parameters of every kind. Trial 3 fails, and trial 4 returns NaN.
local function sweep(options)
  local o = { name = 'größe "\\x\n"', store = new_path ".db", workers = 0, progress = false, sampler = "random",
    trials = 8, metric = "loss", space = {
      lr = mr.loguniform(1e-3, 0.1), units = mr.integer(1, 64, { log = true }), k = mr.range(1, 10, 2),
      u = mr.uniform(-1, 1), model = mr.choice{ "linear", 'a,"b"', true, 0.5, wide = { 64 } },
      mr.when("model", { "linear", "wide" }, { extra = mr.choice{ 1, 2 } }) },
    run = function(trial)
      if trial.number == 3 then error "broken" end
      for step = 1, 3 do trial:report(step, { loss = step * trial.lr + 0.1, aside = 1 }) end
      return { loss = trial.number == 4 and 0 / 0 or trial.lr, other = 2 * trial.k }
    end }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

local function lines_of(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

-- Returns the command of a Python that has Optuna, or nil.
local function python()
  for _, command in ipairs{ "build/peers/bin/python3", "python3" } do
    if program.run(command .. " -c 'import optuna'") then return command end
  end
end

-- Returns the studies of a journal as PyPI's Optuna loads them.
local function loaded(path, words)
  local out = new_path ".json"
  local ok, text = program.run(("%s tests/support/optuna_trials.py '%s' '%s' %s"):format(python(), path, out,
    words or ""))
  check(ok, text)
  return json.read(out)
end

local state_of = { done = "COMPLETE", pruned = "PRUNED", failed = "FAIL" }

-- Checks the trials that Optuna loaded against those of the store.
local function check_trials(found, study)
  local columns = study:trials()
  local at = {}
  for c, name in ipairs(columns.columns) do at[name] = c end
  local states = {}
  for _, row in ipairs(columns.rows) do
    local number = row[at.trial or at.number]
    local trial
    for _, each in ipairs(found.trials) do trial = each.attributes.trial == number and each or trial end
    check(trial, "trial " .. number)
    local nan = row[at.state] == "done" and row[at.loss] ~= row[at.loss]
    equal(trial.state, nan and "FAIL" or state_of[row[at.state]], "state of trial " .. number)
    for _, name in ipairs{ "lr", "units", "k", "u", "model", "extra" } do
      equal(trial.params[name], row[at[name]], ("%s of trial %d"):format(name, number))
    end
    check(trial.inside)
    if trial.state == "COMPLETE" then
      equal(trial.value, row[at.loss])
      equal(trial.attributes.other, row[at.other])
      equal(trial.reports["3"], 3 * trial.params.lr + 0.1)
    end
    states[trial.state] = (states[trial.state] or 0) + 1
  end
  return states
end

describe("results:to_optuna", function()
  it("writes what PyPI's Optuna loads: parameters, values, reports and states", function()
    if not python() then return test.skip "python3 has no Optuna (pip install optuna)" end
    local study, path = sweep(), new_path ".log"
    equal(study:to_optuna(path), 8)
    local found = loaded(path)['größe "\\x\n"']
    equal(found.direction, "MINIMIZE")
    equal(found.metric, "loss")
    equal(#found.trials, 8)
    local states = check_trials(found, study)
    equal(states, { FAIL = 2, COMPLETE = 6 })
    equal(found.trials[3].attributes.trial, 3)
    check(found.trials[3].attributes.reason:find("broken", 1, true), found.trials[3].attributes.reason)
    check(found.trials[1].seconds >= 0)
  end)

  it("lets Optuna continue a study, and adds the later trials of several studies", function()
    if not python() then return test.skip "python3 has no Optuna (pip install optuna)" end
    local path, store = new_path ".log", new_path ".db"
    local one, two = sweep{ name = "one", store = store }, sweep{ name = "two", store = store, seed = 2 }
    equal(one:to_optuna(path), 8)
    loaded(path, "--go-on")
    equal(two:to_optuna(path), 8)
    local more = sweep{ name = "one", store = store, trials = 11 }
    equal(more:to_optuna(path), 3)
    local found = loaded(path)
    equal(#found.one.trials, 13)
    equal(#found.two.trials, 8)
    check_trials(found.one, more)
    check_trials(found.two, two)
  end)

  it("has a study once, also if its name ends in a backslash", function()
    local study, path, count = sweep{ name = "p\\" }, new_path ".log", 0
    for _ = 1, 2 do study:to_optuna(path) end
    for _, line in ipairs(lines_of(path)) do count = count + (line:find('"study_name"', 1, true) and 1 or 0) end
    equal(count, 1)
  end)

  it("adds each trial once, and a failed trial again after it was retried", function()
    local store, path, broken = new_path ".db", new_path ".log", true
    local function run() return mr.sweep{ name = "x", store = store, workers = 0, progress = false, force = true,
      retry = 1, space = { a = mr.range(1, 3) }, run = function(trial)
        if broken and trial.a == 2 then error "broken" end
        return trial.a + 0.5
      end } end
    local study = run()
    equal(study:to_optuna(path), 3)
    equal(study:to_optuna(path), 0)
    equal(#lines_of(path), 6)
    check(lines_of(path)[5]:find('"state":3', 1, true), lines_of(path)[5])
    broken = false
    core.open_database(store, "write"):run("UPDATE trials SET attempts = 0", {}, 0)
    equal(run():to_optuna(path), 1)
    check(lines_of(path)[7]:find('"state":1,"value":2.5', 1, true), lines_of(path)[7])
  end)

  it("completes a journal whose last line is cut off, and refuses other files and other studies", function()
    local study, path = sweep(), new_path ".log"
    study:to_optuna(path)
    local whole = sweeps.read(path)
    sweeps.write(path, whole:sub(1, -20))
    equal(study:to_optuna(path), 1)
    equal(sweeps.read(path), whole)
    local text = new_path ".txt"
    sweeps.write(text, "mine\n")
    test.raises(function() study:to_optuna(text) end, "journal", text)
    equal(sweeps.read(text), "mine\n")
    local store = new_path ".db"
    sweep{ store = store }
    core.open_database(store, "write"):run("UPDATE studies SET created = '2020-01-01 00:00:00'", {}, 0)
    test.raises(function() mr.results(store):to_optuna(path) end, path, "another")
    test.raises(function() study:to_optuna(files.new_folder()) end, "folder")
    test.raises(function() study:to_optuna(3) end, "path", "3")
    equal(sweeps.read(path), whole)
  end)
end)

describe("mr.sweep{optuna = ...}", function()
  it("adds each trial as it ends, and the earlier trials of a study that is continued", function()
    local store, path, counts = new_path ".db", new_path ".log", {}
    local function run(trials, optuna) return mr.sweep{ name = "live", store = store, workers = 0, progress = false,
      sampler = "random", trials = trials, optuna = optuna, space = { a = mr.uniform(0, 1) }, run = function(trial)
        counts[trial.number] = core.file_exists(path) and #lines_of(path) or 0
        return trial.a
      end } end
    run(2)
    run(5, path)
    equal(counts, { 0, 0, 5, 6, 7 })
    equal(#lines_of(path), 8)
    equal(run(5, path):to_optuna(path), 0)
    equal(#lines_of(path), 8)
  end)

  it("adds trials that Hyperband prunes when their bracket is decided", function()
    local path = new_path ".log"
    local study = mr.sweep{ name = "bands", store = new_path ".db", workers = 0, progress = false, optuna = path,
      sampler = "random", pruner = { "hyperband", max_resource = 9 }, metric = "m", direction = "maximize",
      space = { a = mr.uniform(0, 1) }, run = function(trial)
        for step = 1, 9 do trial:report(step, { m = trial.a }) end
        return { m = trial.a }
      end }
    local counts, ended = study:counts(), { ["1"] = 0, ["2"] = 0 }
    for _, line in ipairs(lines_of(path)) do
      local state = line:match '"state":(%d)'
      if state then ended[state] = ended[state] + 1 end
    end
    check(counts.pruned > 0 and counts.done > 0)
    equal(ended, { ["1"] = counts.done, ["2"] = counts.pruned })
    equal(study:to_optuna(path), 0)
    if not python() then return end
    for _, trial in ipairs(loaded(path).bands.trials) do
      if trial.state == "PRUNED" then equal(trial.value, trial.params.a) end
      ended[trial.state] = (ended[trial.state] or 0) + 1
    end
    equal({ ended.COMPLETE, ended.PRUNED }, { counts.done, counts.pruned })
  end)

  it("ends neither the sweep nor later additions if the journal cannot be written any more", function()
    local path, store = new_path ".log", new_path ".db"
    local study = mr.sweep{ name = "kept", store = store, workers = 0, progress = false, optuna = path,
      space = { a = mr.range(1, 4) }, run = function(trial)
        if trial.a == 2 then assert(os.remove(path) and os.execute(("mkdir '%s'"):format(path))) end
        return trial.a
      end }
    equal(study:counts().done, 4)
    assert(os.remove(path))
    equal(study:to_optuna(path), 4)
  end)

  it("is written by the first process alone if workers run the trials", function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    sweeps.in_folder(function(own)
      local status, out, err = sweeps.run(own, "sweep.lua")
      equal(status, 0, err .. out)
      local seen = {}
      for i, line in ipairs(lines_of(own .. "/logs/journal.log")) do
        local number = line:match '"user_attrs":{"trial":(%d+)'
        check(i <= 3 or number and not seen[number], line)
        if number then seen[number] = true end
      end
      equal(#lines_of(own .. "/logs/journal.log"), 3 + 6)
    end, [[
      local mr = require "moonrank"
      mr.sweep{ name = "x", workers = 2, optuna = "logs/journal.log", space = { a = mr.range(1, 6) },
        run = function(trial) return trial.a end }
    ]])
  end)
end)
