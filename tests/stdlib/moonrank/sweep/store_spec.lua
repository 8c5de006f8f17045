-- Tests the store's file: copies, links, files and folders that disappear during a sweep, and results that are too
-- large.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

if sweeps.is_skipped "store" then return end

local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ store = "r.db", workers = 2, trials = 6, wait = 0.0, numbers = 5 }
mr.sweep{ name = "study", store = args.store, workers = args.workers, progress = false, metric = "ndcg",
  trials = args.trials, space = { x = mr.range(1, 200) }, run = function(trial)
    core.wait_for({}, args.wait)
    return { ndcg = trial.x, per_list = mr.full({ args.numbers }, trial.x, { dtype = "float64" }) }
  end }
]]

local function new_folder() return sweeps.new_folder(script) end

-- Waits until `count` trials of a study have ended.
local function wait_for_trials(folder, count)
  for _ = 1, 3000 do
    local _, counts = pcall(function() return mr.results(folder .. "/r.db"):counts() end)
    if type(counts) == "table" and (counts.done or 0) >= count then return end
    sweeps.wait(0.01)
  end
  error "no trial ends"
end

it("results:copy makes a store during a sweep that another sweep can resume", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--wait 0.05 --trials 200")
  wait_for_trials(folder, 3)
  mr.results(folder .. "/r.db"):copy(folder .. "/more/copy.db")
  sweeps.signal(id, "KILL")
  sweeps.finish(folder)
  local done = mr.results(folder .. "/more/copy.db"):counts().done
  check(done >= 3 and done < 200, done .. " trials")
  equal((sweeps.run(folder, "sweep.lua", ("--store more/copy.db --trials %d"):format(done + 5))), 0)
  equal(mr.results(folder .. "/more/copy.db"):counts(), { done = done + 5 })
  raises(function() mr.results(folder .. "/r.db"):copy(folder .. "/more/copy.db") end, "db", "copy.db")
  raises(function() mr.results(folder .. "/r.db"):copy(folder .. "/err/copy.db") end, "err")
  raises(function() mr.results(folder .. "/r.db"):copy "" end, "results:copy", "path")
  equal(sweeps.capture(("find %s -name '*.part-*'"):format(folder)), "")
end)

it("results:copy leaves no file if the disk is full", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--numbers 5000")), 0)
  sweeps.write(folder .. "/copy.lua", "require('moonrank').results('r.db'):copy('copy.db')")
  local status, _, err = sweeps.run(folder, "copy.lua", "", "ulimit -f 100;")
  equal(status, 1)
  check(err:find "copy%.db", err)
  equal(sweeps.capture(("find %s -name 'copy.db*'"):format(folder)), "")
end)

it("mr.sweep rejects a running study through a link to its store and resumes it later", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--trials 1")), 0)
  os.execute(("ln -s r.db %s/link.db"):format(folder))
  local id = sweeps.start(folder, "sweep.lua", "--wait 0.3 --trials 200")
  wait_for_trials(folder, 2)
  local command = ("cd %s && %s sweep.lua --store link.db 2>&1"):format(folder, sweeps.moonrank)
  local said = sweeps.capture(command)
  check(said:find("'study'", 1, true) and said:find("link.db", 1, true), said)
  sweeps.signal(id, "KILL")
  sweeps.finish(folder)
  local done = mr.results(folder .. "/r.db"):counts().done
  equal((sweeps.run(folder, "sweep.lua", ("--store link.db --trials %d"):format(done + 4))), 0)
  equal(mr.results(folder .. "/r.db"):counts(), { done = done + 4 })
  check(not core.file_exists(folder .. "/link.db.files"))
end)

it("mr.sweep ends with an error if its store or folder disappears", function()
  for file, expected in pairs{ ["r.db"] = "r.db ", ["r.db.files"] = "r.db.files/study " } do
    local folder = new_folder()
    sweeps.start(folder, "sweep.lua", "--wait 0.05 --trials 200")
    wait_for_trials(folder, 2)
    os.rename(folder .. "/" .. file, folder .. "/away")
    if file == "r.db.files" then os.execute(("rm -r %s/away"):format(folder)) end
    local began = core.clock()
    local status, err = sweeps.finish(folder)
    equal(status, 1)
    check(err:find(expected, 1, true), err)
    check(core.clock() - began < 30)
  end
end)

it("mr.sweep reads a large result from a worker quickly", function()
  local folder = new_folder()
  local began = core.clock()
  -- each result has 40 MB, more than a pipe between two processes holds at once
  local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 2 --workers 1 --numbers 5000000")
  equal(status, 0, err)
  check(core.clock() - began < 30, ("%.0f s"):format(core.clock() - began))
  equal(mr.results(folder .. "/r.db"):counts(), { done = 2 })
end)

it("outcome.of rejects a list that is too long for the store", function()
  local outcome = require("moonrank.sweep.outcome")
  local longest = require("moonrank.sweep.store").longest
  local list = mr.zeros({ longest // 8 + 1 }, { dtype = "float64" })
  raises(function() outcome.of{ ndcg = 1, per_list = list } end, tostring(longest // 8))
end)

it("mr.sweep leaves only the store file however it ends, and reading leaves nothing", function()
  local untidy = [[
local mr = require "moonrank"
local args = mr.args{ workers = 0, how = "" }
local results = mr.sweep{ name = "study", store = "r.db", workers = args.workers, progress = false,
  space = { x = mr.range(1, 9) }, run = function(trial)
    if trial.number == 5 and args.how == "exit" then os.exit(3) end
    if trial.number == 5 and args.how == "wait" then
      io.open("waits", "w"):close()
      require("moonrank.core").wait_for({}, 60)
    end
    return trial.x
  end }
if args.how == "open" then os.exit(0) end
if args.how == "error" then error "it fails" end
]]
  local function files(folder)
    local names = core.list_folder(folder)
    table.sort(names)
    return names
  end
  local status_of = { [""] = 0, ["--workers 2"] = 0, ["--how open"] = 0, ["--how error"] = 1, ["--how exit"] = 3 }
  for how, expected in pairs(status_of) do
    local folder = sweeps.new_folder(untidy)
    equal((sweeps.run(folder, "sweep.lua", how)), expected)
    equal(files(folder), { "err", "out", "r.db", "sweep.lua" }, how)
    equal((os.execute(("cd %s && %s results r.db >out"):format(folder, sweeps.moonrank))), true)
    equal(files(folder), { "err", "out", "r.db", "sweep.lua" }, how)
  end
  local folder = sweeps.new_folder(untidy)
  local id = sweeps.start(folder, "sweep.lua", "--how wait")
  for _ = 1, 1000 do
    if core.file_exists(folder .. "/waits") then break end
    sweeps.wait(0.01)
  end
  sweeps.signal(id, "INT")
  equal((sweeps.finish(folder)), 130)
  equal(files(folder), { "err", "out", "pid", "r.db", "start.sh", "status", "sweep.lua", "waits" })
end)

it("mr.sweep keeps the logs of workers that printed and removes empty logs", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--trials 4")), 0)
  check(not core.file_exists(folder .. "/r.db.files"))
  sweeps.write(folder .. "/sweep.lua", (script:gsub("core.wait_for%(", "print 'a word'; core.wait_for(")))
  equal((sweeps.run(folder, "sweep.lua", "--store s.db --trials 4")), 0)
  check(sweeps.capture(("cat %s/s.db.files/study/worker_*.log"):format(folder)):find "a word")
  check(not core.file_exists(folder .. "/s.db.files/study/lock"))
end)
