-- Tests that tables of a study resumed with `force = true` name the changes between its trials.
local mr = require "moonrank"
local results = require "moonrank.results"
local store = require "moonrank.sweep.store"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local function value_of(trial) return trial.x + trial.seed_of end
local function other_value_of(trial) return 2 * trial.x + trial.seed_of end

local function sweep(folder, options)
  local o = { name = "s", store = folder .. "/r.db", workers = 0, progress = false, run = value_of,
    space = { x = mr.choice{ 1, 2 }, seed_of = mr.range(1, 3) } }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

local function forced_with(folder, options)
  options.force = true
  return sweep(folder, options)
end

-- Returns the line of a text that names the forced changes of a study, or nil.
local function line_of(text) return ("\n" .. tostring(text)):match "\n%s*(forced[^\n]*)" end

-- Returns every table and text that shows trials of a study.
local function tables_of(study)
  return {
    trials = tostring(study:trials()), pivot = tostring(study:pivot{ rows = "x" }), best = tostring(study:best "x"),
    over = tostring(study:best("x", { over = "seed_of" })), compare = tostring(study:compare{ by = "x" }),
    markdown = study:to_markdown(), latex = study:to_latex(), program = results.text(study.path),
  }
end

describe("a study resumed with force = true", function()
  it("notes a changed script below every table", function()
    local folder = sweeps.new_folder()
    for name, text in pairs(tables_of(sweep(folder, { trials = 4 }))) do check(not text:find "forced", name) end
    for name, text in pairs(tables_of(forced_with(folder, { run = other_value_of }))) do
      check(text:find "forced" and text:find "script", name .. ": " .. text)
    end
  end)

  it("notes changed settings and space, and nothing if nothing changed", function()
    local folder = sweeps.new_folder()
    sweep(folder, { settings = { rate = 1 }, trials = 2 })
    equal(line_of(forced_with(folder, { settings = { rate = 1 }, trials = 3 }):trials()), nil)
    local line = line_of(forced_with(folder, { settings = { rate = 2 }, trials = 4 }):trials())
    check(line:find "settings" and not line:find "script" and not line:find "space", line)
    local wider = { settings = { rate = 2 }, space = { x = mr.choice{ 1, 2, 3 }, seed_of = mr.range(1, 3) } }
    line = line_of(forced_with(folder, wider):trials())
    check(line:find "settings" and line:find "space" and not line:find "metric", line)
  end)

  it("notes nothing if no trial runs after the change, and the first script continues", function()
    local folder = sweeps.new_folder()
    sweep(folder, { settings = { rate = 1 } })
    local study = forced_with(folder, { settings = { rate = 2 }, run = other_value_of, direction = "minimize" })
    equal({ line_of(study:trials()), study:counts().done }, { nil, 6 })
    equal(study:best().params, { x = 1, seed_of = 1 }, "the new direction is read")
    equal(line_of(sweep(folder, { settings = { rate = 1 }, direction = "minimize" }):trials()), nil)
  end)

  it("notes nothing if no trial had a result before the change", function()
    local folder = sweeps.new_folder()
    local function fails() error "too early" end
    sweep(folder, { run = fails })
    equal(line_of(forced_with(folder, { run = value_of }):trials()), nil)
  end)

  it("rejects another metric if trials have results, unless none was named", function()
    sweeps.in_folder(function(folder)
      local function of_both(metric)
        local function run(trial) return { ndcg = trial.x, rmse = 3 - trial.x } end
        return { metric = metric, direction = "maximize", run = run }
      end
      sweep(folder, of_both "ndcg")
      local said = raises(function() forced_with(folder, of_both "rmse") end, "'s'", "trials", "force", "metric")
      check(said:find("ndcg", 1, true) and said:find("trials", 1, true), said)
      local study = mr.results(folder .. "/r.db", "s")
      equal({ study.study.metric, study:best().params.x }, { "ndcg", 2 })
      equal(line_of(study:trials()), nil)
    end)
    sweeps.in_folder(function(folder)
      local function of_one(metric)
        return { metric = metric, direction = "maximize", run = function(trial) return { ndcg = trial.x } end }
      end
      local first = of_one()
      first.trials = 4
      sweep(folder, first)
      local line = line_of(forced_with(folder, of_one "ndcg"):trials())
      check(line and line:find "metric", tostring(line))
      raises(function() forced_with(folder, of_one "recall") end, "'s'", "trials", "force", "metric")
    end)
    local folder = sweeps.new_folder()
    sweep(folder, { metric = "m", direction = "maximize", run = function() error "too early" end })
    local run = function(trial) return { m = 0, ndcg = trial.x } end
    equal(forced_with(folder, { metric = "ndcg", retry = 1, run = run }):counts(), { done = 6 })
  end)

  it("counts reports of paused trials as results", function()
    local folder = sweeps.new_folder()
    local function of_factor(factor, last)
      return { sampler = "random", space = { x = mr.uniform(0, 1) }, metric = "m", direction = "maximize", trials = 9,
        pruner = { "hyperband", max_resource = 9 }, run = function(trial)
          if trial.number == last then error("interrupted", 0) end
          for step = 1, 9 do trial:report(step, { m = factor * trial.x }) end
          return { m = factor * trial.x }
        end }
    end
    raises(function() sweep(folder, of_factor(1, 5)) end, "interrupted")
    equal(mr.results(folder .. "/r.db", "s"):counts().paused, 4)
    local line = line_of(forced_with(folder, of_factor(2, 99)):trials())
    check(line and line:find "script", tostring(line))
  end)

  it("notes changed data that trials read", function()
    local folder = sweeps.new_folder()
    local function folds_of(seed)
      local ratings = mr.data.synthetic{ kind = "ratings", users = 24, items = 100, mean_activity = 40, seed = seed }
      return ratings:binarize(4):folds{ k = 3 }
    end
    -- a weak table is not compared as a captured value, so only data that trials read differ
    local held = setmetatable({}, { __mode = "v" })
    local keep = folds_of(1)
    held[1] = keep
    local function run(trial)
      local first = held[1][trial.seed_of].train:batches{ size = 4 }()
      return trial.x * first.size
    end
    sweep(folder, { run = run, trials = 2 })
    equal(line_of(forced_with(folder, { run = run, trials = 3 }):trials()), nil)
    keep = folds_of(2)
    held[1] = keep
    raises(function() sweep(folder, { run = run, trials = 4 }) end, "'s'", "data")
    local line = line_of(forced_with(folder, { run = run, trials = 4 }):trials())
    check(line and line:find "data" and not line:find "script", tostring(line))
    equal(line_of(mr.results(folder .. "/r.db", "s"):trials()), line)
  end)
end)

it("result tables name the numerics versions if trials have several", function()
  local folder = sweeps.new_folder()
  local study = sweep(folder)
  check(not tostring(study:trials()):find "numerics")
  do
    local opened <close> = store.open(folder .. "/r.db", "write")
    opened:columns "UPDATE trials SET numerics = '2020-01' WHERE number = 1"
  end
  study = mr.results(folder .. "/r.db", "s")
  for name, text in pairs(tables_of(study)) do
    check(text:find("2020-01 (1 trial)", 1, true), name .. ": " .. text)
  end
  check(not tostring(study:trials{ where = { x = 2 } }):find "2020", "one version among the trials that are shown")
end)
