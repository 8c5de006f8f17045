-- Stores of scripts: runs on made-up data must not get the name or the store of real runs.
local mr = require "moonrank"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, raises, check = test.it, test.equal, test.raises, test.check
local kept_runs = dofile "scripts/kept_runs.lua"

it("kept_runs.study keeps runs on made-up data in a study of another name, also in the same store", function()
  sweeps.in_folder(function(folder)
    local store = folder .. "/runs.db"
    local function study(made_up)
      local value = made_up and 0.25 or 0.5
      return kept_runs.study({ store = store, workers = 0, retry = 0, made_up = made_up }, { name = "movielens",
        settings = {}, space = { i = mr.range(1, 2) }, run = function() return { valid = value } end })
    end
    study(true)
    raises(function() mr.results(store, "movielens") end, "movielens")
    equal(mr.results(store, "movielens, made-up data"):counts(), { done = 2 })
    equal(study(false):best().value, 0.5)
    equal({ study(true):best().value, mr.results(store, "movielens"):best().value }, { 0.25, 0.5 })
  end)
end)

scripts.it("kept_runs.args with --smoke sets made-up data and a store of their own", {}, function(folder)
  sweeps.write(folder .. "/options.lua", ([[
    local args = dofile "%s/scripts/kept_runs.lua".args({}, { document = "x" })
    print(args.made_up, args.store)]]):format(scripts.root))
  local function said(words) return (select(2, sweeps.run(folder, "options.lua", words))) end
  equal({ said "", said "--smoke", said "--smoke --store s.db" },
    { "false\tresults/x/runs.db\n", "true\tresults/x/smoke.db\n", "true\ts.db\n" })
end)

scripts.it("kept_runs.args puts stores into MOONRANK_RESULTS, or else into the user's data folder", {}, function(folder)
  sweeps.write(folder .. "/options.lua", ([[
    print(dofile "%s/scripts/kept_runs.lua".args({}, { document = "x" }).store)]]):format(scripts.root))
  local function said(before) return (select(2, sweeps.run(folder, "options.lua", "", before))) end
  equal({ said "MOONRANK_RESULTS=/r",
    said "MOONRANK_RESULTS= XDG_DATA_HOME=/d", said "MOONRANK_RESULTS= XDG_DATA_HOME= HOME=/h" },
    { "/r/x/runs.db\n", "/d/moonrank/results/x/runs.db\n", "/h/.local/share/moonrank/results/x/runs.db\n" })
end)

it("kept_runs.study with force keeps runs after a change of the script, and refuses changed settings", function()
  sweeps.in_folder(function(folder)
    local store, value = folder .. "/runs.db", 0.5
    local function study(force, epochs)
      return kept_runs.study({ store = store, workers = 0, retry = 0, force = force },
        { name = "movielens", settings = { epochs = epochs }, space = { i = mr.range(1, 2) },
        run = function() return { valid = value } end }):best().value
    end
    equal(study(false, 60), 0.5)
    value = 0.25
    equal(study(true, 60), 0.5)
    local ok, problem = pcall(study, true, 100)
    check(not ok and tostring(problem):find "movielens" and tostring(problem):find "epochs = 60", tostring(problem))
    equal(study(true, 60), 0.5)
  end)
end)
