-- Tests that trials record their data, and that a resumed study rejects other data.
local mr = require "moonrank"
local fingerprint = require "moonrank.data.fingerprint"
local store = require "moonrank.sweep.store"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

-- replaces the check of code, so that only data differ in these tests; code_spec.lua tests the check of code
local code = require "moonrank.sweep.code"
local code_of, nothing <const> = code.of, function() end
local constant = code_of(nothing)
code.of = function() return constant end

local function ratings_of(seed)
  return mr.data.synthetic{ kind = "ratings", users = 24, items = 100, mean_activity = 40, seed = seed }
end
local function folds_of(seed) return ratings_of(seed):binarize(4):min_relevant(5):folds{ k = 3, seed = 1 } end

-- Trains and tests on a fold, like a trial. `trained` counts the finished calls.
local trained
local function fit(fold, more)
  local run = mr.fit{ model = mr.models.mf{ users = 24, items = 100, factors = 2, seed = 1 }, loss = mr.losses.ap(),
    train = fold.train, valid = fold.valid, test = not (more and more.without_test) and fold.test or nil,
    epochs = 1, metrics = { "ap" }, progress = false }
  trained = trained + 1
  return run
end

-- A sweep over folds whose function is `run(trial)`.
local function sweep(folder, run, options)
  local o = { name = "s", space = { fold = mr.range(1, 3) }, metric = "valid_ap", store = folder .. "/r.db",
    workers = 0, progress = false, run = run }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

local function roles(entries)
  local found = {}
  for _, each in ipairs(entries) do found[each.role] = each.fingerprint end
  return found
end

local function new_folder()
  trained = 0
  return sweeps.new_folder()
end

-- Returns the warnings that a function prints.
local function warnings_of(f)
  local checks, said = require "moonrank.check", {}
  local was <const> = checks.warn
  checks.warn = function(text) said[#said + 1] = text end
  local ok, problem = pcall(f)
  checks.warn = was
  equal({ ok, problem }, { true })
  return said
end

describe("a trial", function()
  it("records the fingerprints of the data of mr.fit", function()
    local folder = new_folder()
    local folds = folds_of(1)
    local r = sweep(folder, function(trial) return fit(folds[trial.fold]) end)
    for number = 1, 3 do
      local fold = folds[number]
      equal(roles(r:data(number)),
        { train = fold.train.fingerprint, valid = fold.valid.fingerprint, test = fold.test.fingerprint })
    end
    check(r:data(1)[1].what:find "^%d+ lists, %d+ rows$" ~= nil, r:data(1)[1].what)
  end)

  it("records the fingerprints of data that it reads and evaluates", function()
    local folder = new_folder()
    local fold, lists = folds_of(1)[1], mr.lists{ { 1, 0 }, { 0, 1, 1 } }
    local r = sweep(folder, function(trial)
      if trial.fold == 1 then return { valid_ap = mr.evaluate(mr.zeros(5), lists, { "ap" }).mean.ap } end
      if trial.fold == 2 then fold.test:batches{}() end
      return { valid_ap = 1 }
    end)
    equal({ roles(r:data(1)), roles(r:data(2)), r:data(3) },
      { { other = fingerprint.of(lists) }, { other = fold.test.fingerprint }, {} })
  end)
end)

describe("a finished study", function()
  -- Runs a sweep with the first data, then with other data on the same store. Returns the error of the second sweep,
  -- which must not train.
  local function again(folder, first, second)
    sweep(folder, first)
    local was = trained
    local ok, message = pcall(sweep, folder, second)
    equal(trained, was, "nothing is trained to find out")
    return ok, tostring(message)
  end

  it("is returned if the data are equal but loaded again", function()
    local folder = new_folder()
    local a, b = folds_of(1), folds_of(1)
    check(again(folder, function(trial) return fit(a[trial.fold]) end, function(trial) return fit(b[trial.fold]) end))
    equal(trained, 3)
  end)

  it("is rejected for other data with both fingerprints in the error", function()
    local folder = new_folder()
    local a, b = folds_of(1), folds_of(2)
    local ok, message = again(folder, function(trial) return fit(a[trial.fold]) end,
      function(trial) return fit(b[trial.fold]) end)
    check(not ok, "the first data's results were returned")
    for _, words in ipairs{ "'s'", "trial 1", "then: train " .. a[1].train.fingerprint,
      "now:  train " .. b[1].train.fingerprint, "force = true" } do check(message:find(words, 1, true), message) end
    local seed = 2
    raises(function() sweep(folder, function(trial) return fit(folds_of(seed)[trial.fold]) end) end, "'s'", "data")
    seed = 1
    equal(sweep(folder, function(trial) return fit(folds_of(seed)[trial.fold]) end):counts(), { done = 3 })
    local warned = warnings_of(function()
      equal(sweep(folder, function(trial) return fit(b[trial.fold]) end, { force = true }):counts(), { done = 3 })
    end)
    check(#warned == 1 and warned[1]:find(b[1].train.fingerprint, 1, true) and warned[1]:find("then", 1, true),
      warned[1])
    equal(warnings_of(function()
      sweep(folder, function(trial) return fit(folds_of(1)[trial.fold]) end, { force = true })
    end), {})
    equal(trained, 3)
  end)

  it("is rejected if one part of one fold differs, is added or is missing", function()
    local folder = new_folder()
    local a, b = folds_of(1), folds_of(2)
    local function mixed(part)
      return function(trial)
        local fold = { train = a[trial.fold].train, valid = a[trial.fold].valid, test = a[trial.fold].test }
        if trial.fold == 3 then fold[part] = b[3][part] end
        return fit(fold)
      end
    end
    local function plain(trial) return fit(a[trial.fold]) end
    for i, part in ipairs{ "train", "valid", "test" } do
      os.remove(folder .. "/r.db")
      local ok, message = again(folder, plain, mixed(part))
      check(not ok and message:find("trial 3:\n  then: " .. part, 1, true), i .. message)
    end
    raises(function() sweep(folder, function() return { valid_ap = 1 } end) end, "now:  none")
    raises(function() sweep(folder, function() error "no such file" end) end, "trial 1", "'s'")
    os.remove(folder .. "/r.db")
    local ok, message = again(folder, function(trial) return fit(a[trial.fold], { without_test = true }) end, plain)
    check(not ok and message:find("now:  test", 1, true), message)
  end)

  it("compares the first data that trials read without mr.fit", function()
    local folder = new_folder()
    local a, b, steps = folds_of(1), folds_of(2), 0
    local function own(folds)
      return function(trial)
        for batch in folds[trial.fold].train:batches{ size = 4 } do steps = steps + batch.size end
        return { valid_ap = 1 }
      end
    end
    sweep(folder, own(a))
    local was = steps
    raises(function() sweep(folder, own(b)) end, "then: other " .. a[1].train.fingerprint)
    sweep(folder, own(folds_of(1)))
    equal(steps, was)
  end)

  it("is checked without printing and continues with missing trials", function()
    local folder = new_folder()
    local a, said, was_print = folds_of(1), 0, print
    local function run(trial)
      print "a word"
      return fit(a[trial.fold])
    end
    rawset(_G, "print", function() said = said + 1 end)
    sweep(folder, run, { trials = 2 })
    equal({ said, trained }, { 2, 2 })
    sweep(folder, run)
    rawset(_G, "print", was_print)
    equal({ said, trained }, { 3, 3 })
    raises(function() sweep(folder, run, { data = { a[1].train } }) end, "data", a[1].train.fingerprint)
    raises(function() sweep(folder, run, { settings = { on = ratings_of(3) } }) end,
      "on = " .. ratings_of(3).fingerprint)
  end)

  it("continues if force = true changed the space and trials lack its parameters", function()
    local folder = new_folder()
    local a = folds_of(1)
    local function run(trial) return fit(a[trial.fold]) end
    local function other(trial) return fit(a[trial.part]) end
    sweep(folder, run, { trials = 2 })
    local space = { part = mr.range(1, 2) }
    raises(function() sweep(folder, other, { space = space }) end, "'s'", "fold", "range(1, 3)", "space")
    equal(sweep(folder, other, { space = space, force = true }):counts(), { done = 4 })
    equal(sweep(folder, other, { space = space }):counts(), { done = 4 })
    local function of_another(trial) return fit(folds_of(2)[trial.part]) end
    raises(function() sweep(folder, of_another, { space = space }) end, "trial 3", "data")
  end)

  it("warns once per store that trials read more data than it compares", function()
    local folder = new_folder()
    local a, lists = folds_of(1), mr.lists{ { 1, 0 }, { 0, 1, 1 } }
    local function run(trial)
      fit(a[trial.fold], { without_test = true })
      return { valid_ap = mr.evaluate(mr.zeros(5), lists, { "ap" }).mean.ap }
    end
    local said = warnings_of(function()
      for _ = 1, 2 do
        for _, name in ipairs{ "s", "t" } do sweep(folder, run, { name = name }) end
      end
    end)
    equal({ #said, said[1] and said[1]:find("trial 1", 1, true) ~= nil }, { 1, true })
  end)

  it("checks every trial if all trials have different data", function()
    local folder = new_folder()
    local looked = {}
    local function run(trial)
      looked[#looked + 1] = trial.i
      local relevance = { 1 }
      for i = 1, trial.i do relevance[i + 1] = 0 end
      return { valid_ap = mr.evaluate(mr.zeros(#relevance), mr.lists{ relevance }, { "ap" }).mean.ap }
    end
    local o = { space = { i = mr.range(1, 45) } }
    sweep(folder, run, o)
    looked = {}
    sweep(folder, run, o)
    equal({ #looked, looked[1], looked[45] }, { 45, 1, 45 })
  end)
end)

it("mr.results reads a store without data fingerprints, and mr.sweep resumes it only with force = true", function()
  local folder = new_folder()
  local a = folds_of(1)
  local function run(trial) return fit(a[trial.fold]) end
  local path = folder .. "/r.db"
  sweep(folder, run, { trials = 2 })
  do  -- makes the store look like one of an earlier version without data fingerprints
    local opened <close> = store.open(path, "write")
    opened:columns "DROP TABLE data"
    opened:columns "ALTER TABLE trials DROP COLUMN noted"
    opened:columns "ALTER TABLE trials DROP COLUMN numerics"
    opened:columns "ALTER TABLE trials DROP COLUMN conventions"
    opened:columns "PRAGMA user_version = 1"
  end
  local r = mr.results(path, "s")
  equal({ r:counts(), r:data(1) }, { { done = 2 }, {} })
  raises(function() sweep(folder, run) end, "2 trials", "'s'", "fingerprints")
  r = sweep(folder, run, { force = true, mix_numerics = true })
  equal({ r:counts(), r:data(1), #r:data(3), trained }, { { done = 3 }, {}, 3, 3 })
end)

it("data descriptions of a store are printed without control characters", function()
  local folder = new_folder()
  local a = folds_of(1)
  local function run(trial) return fit(a[trial.fold]) end
  sweep(folder, run)
  do
    local opened <close> = store.open(folder .. "/r.db", "write")
    opened:columns "UPDATE data SET what = char(27) || '[2J' || what, role = char(27) WHERE role = 'train'"
    opened:columns "UPDATE data SET fingerprint = char(27, 10) WHERE role = 'valid'"
  end
  local message = raises(function() sweep(folder, run) end, "'s'", "data")
  check(not message:find "[\27\r]" and message:find("valid unknown", 1, true), message)
  equal(mr.results(folder .. "/r.db"):data(1)[1].role, "other")
end)

-- A script whose data are read from a file, in every process.
local script = [[
local mr = require "moonrank"
local args = mr.args{ data = "a.csv", workers = 2, inside = false }
local function load() return mr.data.interactions(args.data):binarize(4):min_relevant(2):folds{ k = 2, seed = 1 } end
local folds = not args.inside and load()
local study = mr.sweep{ name = "study", store = "r.db", workers = args.workers, metric = "valid_ap", progress = false,
  space = { fold = mr.range(1, 2), lr = mr.choice{ 0.01, 0.1 } },
  run = function(trial)
    local fold = (folds or load())[trial.fold]
    return mr.fit{ model = mr.models.mf{ users = 99, items = 99, factors = 2, seed = 1 }, loss = mr.losses.ap(),
      train = fold.train, valid = fold.valid, test = fold.test, epochs = 1, metrics = { "ap" },
      optimizer = mr.optim.adam{ lr = trial.lr }, progress = false }
  end }
print(study:pivot{ rows = "fold", columns = "lr" })
]]

local function table_of(seed)
  local lines = { "user,item,rating" }
  local r = mr.data.synthetic{ kind = "ratings", users = 20, items = 60, mean_activity = 30, seed = seed }
  local users, items, values = r.user:totable(), r.item:totable(), r.value:totable()
  for i = 1, #users do lines[i + 1] = ("%d,%d,%g"):format(users[i], items[i], values[i]) end
  return table.concat(lines, "\n") .. "\n"
end

it("a script rerun on other data raises an error, with workers and with data loaded in the trial", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  for _, where in ipairs{ "--no-inside", "--inside" } do
    local folder = sweeps.new_folder(script)
    sweeps.write(folder .. "/a.csv", table_of(1))
    sweeps.write(folder .. "/copy.csv", table_of(1))
    sweeps.write(folder .. "/b.csv", table_of(2))
    local status, first, err = sweeps.run(folder, "sweep.lua", where)
    equal(status, 0, err)
    local _, again = sweeps.run(folder, "sweep.lua", where .. " --data copy.csv")
    equal(again, first, "the same content at another path")
    local printed
    status, printed, err = sweeps.run(folder, "sweep.lua", where .. " --data b.csv")
    equal({ status, printed }, { 1, "" })
    -- if the trial's function captures the data, the change is found before a trial is run
    local found = where == "--inside" and err:find("now:  train ", 1, true) or err:find("folds", 1, true)
    check(found and err:find("now", 1, true), err)
    sweeps.write(folder .. "/a.csv", table_of(2))
    status = sweeps.run(folder, "sweep.lua", where)
    equal(status, 1, "other content at the same path")
  end
end)
