-- Tests journal files for Optuna: the Optuna package from PyPI loads the trials that the store has, and a sweep adds
-- each trial when it begins, its reports as they come, and how it ended.
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

-- Returns the trials that a journal with one study has, in their order: state, and the number of the sweep's trial.
local function states_in(path)
  local found = {}
  for _, line in ipairs(lines_of(path)) do
    local code, state = line:match '^{"op_code":(%d+)', line:match '"state":(%d)'
    local id = tonumber(line:match '"trial_id":(%d+)')
    if code == "4" then
      local trial = { state = state, number = tonumber(line:match '"user_attrs":{"trial":(%d+)'), reports = {} }
      for step, value in line:match '"intermediate_values":({.-})':gmatch '"(%d+)":([%d.]+)' do
        trial.reports[tonumber(step)] = tonumber(value)
      end
      found[#found + 1] = trial
    elseif code == "6" then found[id + 1].state = state
    elseif code == "7" then
      found[id + 1].reports[tonumber(line:match '"step":(%d+)')] = tonumber(line:match '"intermediate_value":([%d.]+)')
    end
  end
  return found
end

-- Returns the states of a journal's trials as one text: 0 runs, 1 is done, 2 pruned, 3 failed.
local function states_of(path)
  local states = {}
  for i, trial in ipairs(states_in(path)) do states[i] = trial.state end
  return table.concat(states)
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

  it("adds a study again that was deleted from the journal", function()
    local study, path = sweep(), new_path ".log"
    study:to_optuna(path)
    local file = assert(io.open(path, "a"))
    file:write '{"op_code":1,"worker_id":"dashboard","study_id":0}\n'
    file:close()
    equal(study:to_optuna(path), 8)
    equal(study:to_optuna(path), 0)
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
  it("adds each trial as it begins and ends, and the earlier trials of a study that is continued", function()
    local store, path, states = new_path ".db", new_path ".log", {}
    local function run(trials, optuna) return mr.sweep{ name = "live", store = store, workers = 0, progress = false,
      sampler = "random", trials = trials, optuna = optuna, space = { a = mr.uniform(0, 1) }, run = function(trial)
        states[trial.number] = core.file_exists(path) and states_of(path) or ""
        return trial.a
      end } end
    run(2)
    run(5, path)
    equal(states, { "", "", "110", "1110", "11110" })
    equal(states_of(path), "11111")
    local text = sweeps.read(path)
    equal(run(5, path):to_optuna(path), 0)
    equal(sweeps.read(path), text)
  end)

  it("shows Optuna running trials with their reports, also after Optuna added trials", function()
    if not python() then return test.skip "python3 has no Optuna (pip install optuna)" end
    local path, seen = new_path ".log", {}
    local study = mr.sweep{ name = "live", store = new_path ".db", workers = 0, progress = false, sampler = "random",
      trials = 3, metric = "m", direction = "maximize", optuna = path,
      space = { a = mr.uniform(0, 1), k = mr.choice{ "x", "y" } },
      run = function(trial)
        for step = 1, 4 do
          trial:report(step, { m = step * trial.a, aside = 1 })
          if step == 2 then seen[trial.number] = loaded(path, trial.number == 2 and "--go-on" or "").live.trials end
        end
        return { m = trial.a, other = 7 }
      end }
    equal({ #seen[1], #seen[2], #seen[3] }, { 1, 2, 5 })
    for number, trials in ipairs(seen) do
      local last = trials[#trials]
      equal(last.state, "RUNNING")
      equal(last.attributes.trial, number)
      equal(last.reports, { ["1"] = last.params.a, ["2"] = 2 * last.params.a })
      check(type(last.value) ~= "number" and last.inside)
    end
    equal(seen[3][1].state, "COMPLETE")
    local found = loaded(path).live.trials
    equal(#found, 5)
    local values = study:trials()
    local column = {}
    for c, name in ipairs(values.columns) do column[name] = c end
    for i, at in ipairs{ 1, 2, 5 } do
      local trial, a = found[at], values.rows[i][column.a]
      equal({ trial.state, trial.value, trial.params.a, trial.attributes.other }, { "COMPLETE", a, a, 7 })
      equal(trial.reports, { ["1"] = a, ["2"] = 2 * a, ["3"] = 3 * a, ["4"] = 4 * a })
      check(trial.seconds >= 0)
    end
  end)

  it("goes on with the trial that an interrupted sweep left running", function()
    local path, store, stop = new_path ".log", new_path ".db", new_path()
    sweeps.write(stop, "")
    local function run() return mr.sweep{ name = "stopped", store = store, workers = 0, progress = false,
      optuna = path, direction = "maximize", space = { a = mr.range(1, 3) }, run = function(trial)
        for step = 1, 3 do
          trial:report(step, step + trial.a)
          if core.file_exists(stop) and trial.number == 2 and step == 2 then error("interrupted", 0) end
        end
        return trial.a
      end } end
    test.raises(run, "interrupted")
    equal(states_of(path), "10")
    equal(states_in(path)[2].reports, { 3, 4 })
    assert(os.remove(stop))
    equal(run():to_optuna(path), 0)
    equal(states_of(path), "111")
    equal(states_in(path)[2].reports, { 3, 4, 5 })
  end)

  it("ends a running trial also if a sweep without the journal ran it", function()
    local path, store, stop = new_path ".log", new_path ".db", new_path()
    sweeps.write(stop, "")
    local function run(optuna) return mr.sweep{ name = "stopped", store = store, workers = 0, progress = false,
      optuna = optuna, direction = "maximize", space = { a = mr.range(1, 2) }, run = function(trial)
        trial:report(1, 5)
        if core.file_exists(stop) then error("interrupted", 0) end
        trial:report(2, 6)
        return trial.a
      end } end
    test.raises(function() run(path) end, "interrupted")
    assert(os.remove(stop))
    equal(run():to_optuna(path), 2)
    equal(states_of(path), "11")
    for _, trial in ipairs(states_in(path)) do equal(trial.reports, { 5, 6 }) end
  end)

  it("ends an attempt that failed, and adds the retry as a trial of its own", function()
    local path, attempts = new_path ".log", 0
    mr.sweep{ name = "again", store = new_path ".db", workers = 0, progress = false, optuna = path, retry = 1,
      space = { a = mr.range(1, 2) }, run = function(trial)
        attempts = attempts + 1
        if attempts == 1 then error "broken" end
        return trial.a
      end }
    equal(states_of(path), "311")
    local numbers = {}
    for i, trial in ipairs(states_in(path)) do numbers[i] = trial.number end
    table.sort(numbers)
    equal(numbers, { 1, 1, 2 })
  end)

  it("refuses a file that is not a journal, before any trial runs", function()
    local path, runs = new_path ".txt", 0
    sweeps.write(path, "mine\n")
    test.raises(function() mr.sweep{ name = "x", store = new_path ".db", workers = 0, progress = false, optuna = path,
      space = { a = mr.range(1, 2) }, run = function()
        runs = runs + 1
        return 1
      end } end, "mr.sweep", path, "journal")
    equal(runs, 0)
  end)

  it("refuses a journal with a damaged line", function()
    local path, lines = new_path ".log", '{"op_code":0,"worker_id":"x","study_name":"a","directions":[1]}\n'
    local function run()
      return mr.sweep{ name = "x", store = new_path ".db", workers = 0, progress = false, optuna = path,
        space = { a = mr.range(1, 2) }, run = function() return 1 end }
    end
    for _, damaged in ipairs{ '{"op_code":0,"worker', "\n", "mine" } do
      sweeps.write(path, lines .. damaged .. "\n" .. lines)
      test.raises(run, "line 2", path, "damaged")
    end
    sweeps.write(path, lines .. lines:sub(1, 20))
    equal(run():best().value, 1)
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
    for _, trial in ipairs(states_in(path)) do ended[trial.state] = ended[trial.state] + 1 end
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

  for how, change in pairs{ removed = os.remove, ["without the study"] = function(path)
    local file <close> = assert(io.open(path, "a"))
    file:write '{"op_code":1,"worker_id":"dashboard","study_id":0}\n'
  end } do
    it("goes on with a journal that is " .. how .. ", and to_optuna adds the trials again", function()
      local path = new_path ".log"
      local study = mr.sweep{ name = "gone", store = new_path ".db", workers = 0, progress = false, optuna = path,
        direction = "maximize", space = { a = mr.range(1, 4) }, run = function(trial)
          if trial.a == 2 then change(path) end
          trial:report(1, 2)
          return trial.a
        end }
      equal(study:counts().done, 4)
      equal(study:to_optuna(path), 4)
      equal(study:to_optuna(path), 0)
      if python() then equal(#loaded(path).gone.trials, 4) end
    end)
  end

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
      equal(sweeps.read(own .. "/saw"), "yes")
      local path, numbers = own .. "/logs/journal.log", {}
      for i, trial in ipairs(states_in(path)) do
        numbers[i] = trial.number
        if trial.state == "1" then equal(trial.reports, { 10 * trial.number, 0.5 }) end
      end
      table.sort(numbers)
      equal(numbers, { 1, 2, 3, 3, 4, 5, 6 })
      equal(select(2, states_of(path):gsub("1", "")), 6)
      equal(select(2, states_of(path):gsub("3", "")), 1)
    end, [[
      local mr = require "moonrank"
      -- Waits until the journal has the report of trial 2, which still runs.
      local function is_shown()
        for _ = 1, 200 do
          for line in io.lines "logs/journal.log" do
            if line:find('"intermediate_value":20', 1, true) then return "yes" end
          end
          require("moonrank.core").wait_for({}, 0.05)
        end
        return "no"
      end
      mr.sweep{ name = "x", workers = 2, optuna = "logs/journal.log", space = { a = mr.range(1, 6) }, retry = 1,
        direction = "maximize", run = function(trial)
          trial:report(1, 10 * trial.a)
          if trial.a == 3 and trial.attempt == 1 then os.execute "kill -9 $PPID" end
          if trial.a == 2 then
            local file <close> = io.open("saw", "w")
            file:write(is_shown())
          end
          trial:report(2, 0.5)
          return trial.a
        end }
    ]])
  end)
end)
