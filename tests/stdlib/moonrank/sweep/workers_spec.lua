-- Tests sweeps with worker processes: tables must be equal for any number of workers, and no trial may be lost if
-- workers end.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

if sweeps.is_skipped "workers" then return end

local script = sweeps.read "tests/support/pruned_study.lua"
local function new_folder() return sweeps.new_folder(script) end

it("mr.sweep gives the same table with 0, 1, 2 and 4 workers, with tpe and a pruner", function()
  local folder = new_folder()
  local tables = {}
  for i, workers in ipairs{ 0, 1, 2, 4 } do
    local status, _, err = sweeps.run(folder, "sweep.lua", ("--workers %d --store %d.db"):format(workers, workers))
    equal(status, 0, err)
    tables[i] = sweeps.table_at(folder, workers .. ".db")
  end
  local _, pruned = tables[1]:gsub(",pruned,", "")
  check(pruned > 0 and pruned < 20, pruned .. " pruned")
  for i = 2, 4 do equal(tables[i], tables[1]) end
  local seeds = mr.results(folder .. "/4.db"):trials{ columns = { "seed", "ndcg" }, states = { "done" } }.rows
  check(#seeds > 4, "most trials are done")
end)

it("mr.sweep with two workers stores the same scores per list in two runs", function()
  local folder = new_folder()
  for _, store in ipairs{ "a.db", "b.db" } do
    equal((sweeps.run(folder, "sweep.lua", "--sampler random --workers 2 --store " .. store)), 0)
  end
  for number = 1, 24 do
    local a, b = mr.results(folder .. "/a.db"):per_list(number), mr.results(folder .. "/b.db"):per_list(number)
    equal(a:totable(), b:totable())
  end
end)

it("mr.sweep loses only the trial of a worker that exits or runs out of memory", function()
  local folder = new_folder()
  local status = sweeps.run(folder, "sweep.lua", "--sampler random --workers 2 --oops exit")
  equal(status, 0)
  local r = mr.results(folder .. "/r.db")
  equal(r:counts(), { done = 20, killed = 4 })
  equal(r:trials{ columns = { "reason" }, where = { number = 10 } }.rows[1][1], "its process ended: exit status 3")
  status = sweeps.run(folder, "sweep.lua", "--sampler random --workers 2 --oops memory --store m.db")
  equal(status, 0)
  r = mr.results(folder .. "/m.db")
  equal(r:counts(), { done = 23, failed = 1 })
end)

it("mr.sweep prints the error of a worker that never took a trial", function()
  local folder = new_folder()
  sweeps.write(folder .. "/bad.lua", "if not arg[1] then error 'the option is missing' end\narg[1] = nil\n" .. script)
  local status, _, err = sweeps.run(folder, "bad.lua", "now")
  equal(status, 1)
  check(err:find("workers", 1, true) and err:find("exit status 1", 1, true), err)
  check(err:find("the option is missing", 1, true), err)
end)

it("mr.sweep raises an error if the study differs between worker and parent", function()
  local folder = new_folder()
  local uneven = script:gsub('name = "study"', 'name = "study", settings = { at = core.clock() }')
  sweeps.write(folder .. "/uneven.lua", uneven)
  local status, _, err = sweeps.run(folder, "uneven.lua", "")
  equal(status, 1)
  check(err:find("worker", 1, true) and err:find("parent", 1, true), err)
end)

it("mr.sweep resumes an unchanged script and rejects a changed one", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--sampler random --trials 5")), 0)
  equal((sweeps.run(folder, "sweep.lua", "--sampler random --trials 9 --workers 2")), 0)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 9 })
  sweeps.write(folder .. "/sweep.lua", "-- more\n\n" .. script .. "\nprint 'more'\n")
  equal((sweeps.run(folder, "sweep.lua", "--sampler random --trials 9 --workers 2")), 0)
  local changed, n = script:gsub("(run = function%(trial%))", "%1 local _ = 1")
  equal(n, 1)
  sweeps.write(folder .. "/sweep.lua", changed)
  local status, _, err = sweeps.run(folder, "sweep.lua", "--sampler random --trials 12")
  equal(status, 1)
  check(err:find("code[^\n]*sweep%.lua"), err)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 9 })
end)

it("mr.sweep gives each of two sweeps in one script its own workers", function()
  local folder = new_folder()
  sweeps.write(folder .. "/two.lua", [[
local mr = require "moonrank"
local first = mr.sweep{ name = "one", store = "t.db", workers = 2, progress = false, space = { a = mr.range(1, 4) },
  run = function(trial) return trial.a end }
local best = first:best().value
local second = mr.sweep{ name = "two", store = "t.db", workers = 2, progress = false, space = { a = mr.range(1, 4) },
  run = function(trial) return trial.a * best end }
print(second:best().value)
]])
  local status, out, err = sweeps.run(folder, "two.lua")
  equal(status, 0, err)
  equal(out, "16.0\n")
end)

-- Resumes the study, and checks that all of its 24 trials finish.
local function goes_on(folder, workers)
  equal((sweeps.run(folder, "sweep.lua", "--sampler random --workers " .. workers)), 0)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 24 })
end

-- Waits until a worker has begun a trial.
local function began_in(folder, store)
  for _ = 1, 1000 do
    if sweeps.read(("%s/%s.files/study/worker_1.log"):format(folder, store)):find "-- trial" then return end
    sweeps.wait(0.01)
  end
  error "no trial begins"
end

it("Ctrl-C interrupts trials of mr.sweep, which a later run repeats, and a second Ctrl-C stops at once", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--sampler random --workers 2 --wait 1")
  began_in(folder, "r.db")
  local workers = sweeps.children(id)
  -- two signals in quick succession count as one Ctrl-C, because `timeout` signals the program and its group
  os.execute(("kill -INT %d; sleep 0.02; kill -INT %d"):format(id, id))
  local status, err = sweeps.finish(folder)
  equal(status, 130, err)
  check(err:find "moonrank: interrupted", err)
  local r = mr.results(folder .. "/r.db")
  local counts = r:counts()
  check(counts.interrupted and not counts.running and not counts.killed, "interrupted: " .. tostring(r))
  for _, each in ipairs(workers) do equal(sweeps.read(("/proc/%d/cmdline"):format(each)), "") end
  goes_on(folder, 2)
  id = sweeps.start(folder, "sweep.lua", "--sampler random --workers 2 --wait 20 --store s.db")
  began_in(folder, "s.db")
  sweeps.signal(id, "INT")
  sweeps.wait(0.7)
  sweeps.signal(id, "INT")
  local began = core.clock()
  equal((sweeps.finish(folder)), 130)
  check(core.clock() - began < 5, "at once")
end)

it("Ctrl-C without workers interrupts the trial, which a later run repeats", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--sampler random --workers 0 --wait 1")
  for _ = 1, 1000 do
    local counts = sweeps.read(folder .. "/ran.log") ~= "" and mr.results(folder .. "/r.db"):counts()
    if counts and counts.done and counts.running then break end
    sweeps.wait(0.01)
  end
  sweeps.signal(id, "INT")
  equal((sweeps.finish(folder)), 130)
  local counts = mr.results(folder .. "/r.db"):counts()
  check(counts.done >= 1 and counts.interrupted == 1 and not counts.running, "one is interrupted")
  goes_on(folder, 0)
end)

it("mr.sweep rejects a second process on a running study", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--sampler random --workers 1 --wait 0.5")
  for _ = 1, 500 do
    if #sweeps.children(id) > 0 then break end
    sweeps.wait(0.01)
  end
  local status, _, err = sweeps.run(folder, "sweep.lua",
    "--sampler random --workers 1 >/dev/null 2>other; cat other >err; exit 1 #")
  equal(status, 1)
  check(sweeps.read(folder .. "/other"):find("'study'", 1, true), err .. sweeps.read(folder .. "/other"))
  sweeps.signal(id, "KILL")
  sweeps.finish(folder)
  goes_on(folder, 2)
end)

it("mr.sweep prints progress as plain lines without a terminal", function()
  local folder = new_folder()
  local _, _, err = sweeps.run(folder, "sweep.lua", "--sampler random --trials 3 --progress")
  check(err:find "^study  3/3 trials  [%d.]+ m?s  best %-?[%d.]+ %(trial %d: kind %a, x %-?[%d.]+%)\n$", err)
end)
