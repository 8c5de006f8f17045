-- Tests sweeps whose processes are killed at random points, and stores that cannot be written: no trial is lost,
-- repeated or damaged. The variable MOONRANK_KILLS sets the number of kills (default 24 of each kind).
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

if sweeps.is_skipped "kills" then return end

local kills = math.tointeger(tonumber(os.getenv "MOONRANK_KILLS")) or 24

-- The script of a sweep in which every finished trial appends its number to a log.
local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ workers = 2, trials = 200, wait = 0.01, retry = 0, lists = 100 }
mr.sweep{ name = "study", store = "r.db", workers = args.workers, retry = args.retry, seed = 4, progress = false,
  space = { i = mr.range(1, args.trials) }, metric = "ndcg",
  run = function(trial)
    core.wait_for({}, args.wait)
    local value = (trial.seed % 1000) / 1000
    for step = 1, 20 do trial:report(step, value * step) end
    local log <close> = io.open("ran.log", "a")
    log:write(trial.number, "\n")
    return { ndcg = value, per_list = mr.full({args.lists}, value, {dtype = "float64"}) }
  end }
]]

local function new_folder() return sweeps.new_folder(script) end

-- Returns the set of finished trials. Checks that the store has all values of each.
local function done_in(folder)
  if sweeps.read(folder .. "/r.db") == "" then return {} end
  local database <close> = core.open_database(folder .. "/r.db", "read")
  local _, sound = database:run("PRAGMA integrity_check", {}, 0)
  equal(sound[1][1], "ok")
  local _, version = database:run("PRAGMA user_version", {}, 0)
  local done = {}
  if version[1][1] == 0 then return done end
  local _, columns = database:run([[SELECT t.number, t.seed, t.value,
    (SELECT count(*) FROM reports WHERE trial = t.id), (SELECT sum(length(scores)) FROM lists WHERE trial = t.id),
    (SELECT count(*) FROM numbers WHERE trial = t.id), t.attempts FROM trials t WHERE state = 'done']], {}, 0)
  for i, number in ipairs(columns[1]) do
    check(not done[number], "counted twice")
    done[number] = true
    equal({ columns[3][i], columns[4][i], columns[5][i], columns[6][i], columns[7][i] },
      { columns[2][i] % 1000 / 1000, 20, 800, 1, 1 })
  end
  return done
end

-- Checks that the store has each of the study's 200 trials exactly once.
local function all_are_done(folder)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 200 })
  local count = 0
  for _ in pairs(done_in(folder)) do count = count + 1 end
  equal(count, 200)
end

-- Returns a number in [0, 1) that is the same in every test run, unless MOONRANK_KILLS sets another number of kills.
local function chance(i) return mr.uniform({ 1 }, { seed = kills, stream = "kill " .. i }):item() end

-- Waits until `count` more trials were logged than in the first `log` bytes of the file, or the sweep has ended.
local function wait_for_trials(folder, log, count)
  for _ = 1, 3000 do
    local _, found = sweeps.read(folder .. "/ran.log"):sub(log + 1):gsub("\n", "")
    if found >= count or sweeps.read(folder .. "/status") ~= "" then return end
    sweeps.wait(0.01)
  end
end

-- Starts the sweep and kills its main process after `seconds`, counted from the start, or with `log` from the third
-- logged trial. Returns whether the sweep had already ended.
local function kill_parent(folder, seconds, log)
  local id = sweeps.start(folder, "sweep.lua")
  if log then wait_for_trials(folder, log, 3) end
  sweeps.wait(seconds)
  local workers = sweeps.children(id)
  sweeps.signal(id, "KILL")
  local status, err = sweeps.finish(folder)
  check(status == 137 or status == 0, ("status %d: %s"):format(status, err))
  for _ = 1, 300 do
    local left = 0
    for _, each in ipairs(workers) do
      if sweeps.read(("/proc/%d/cmdline"):format(each)) ~= "" then left = left + 1 end
    end
    if left == 0 then return status == 0 end
    sweeps.wait(0.01)
  end
  error "workers outlive their parent"
end

it("mr.sweep loses and repeats no finished trial after kill -9 of the parent", function()
  local folder = new_folder()
  local before, finished, went_on = {}, 0, 0
  for i = 1, kills do
    local log = #sweeps.read(folder .. "/ran.log")
    if kill_parent(folder, 0.01 + 0.25 * chance(i), i % 2 == 0 and log or nil) then finished = finished + 1 end
    local ran = sweeps.read(folder .. "/ran.log"):sub(log + 1)
    for number in ran:gmatch "%d+" do
      check(not before[math.tointeger(tonumber(number))], "trial " .. number .. " was done already")
    end
    local done, count = done_in(folder), 0
    for number in pairs(before) do check(done[number], ("trial %d was lost"):format(number)) end
    for number in pairs(done) do count = count + (before[number] and 0 or 1) end
    went_on = went_on + (count > 0 and 1 or 0)
    before = done
    if finished > 0 then  -- the sweep has finished: deletes its store, so that it begins again
      os.execute(("rm -rf %s/r.db* %s/ran.log"):format(folder, folder))
      before, finished = {}, 0
    end
  end
  check(went_on >= kills // 8, went_on .. " of the runs came anywhere")
  equal((sweeps.run(folder, "sweep.lua")), 0)
  all_are_done(folder)
end)

it("mr.sweep retries the trials of workers killed by kill -9", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", ("--retry 1000 --trials %d"):format(100 + 4 * kills))
  local killed, ended = 0, 0
  for i = 1, 100 * kills do
    -- Waits until a trial ends before the next kill. Otherwise, on a slow machine, all workers would be killed before
    -- they take a trial, which ends the sweep with an error.
    for _ = 1, 500 do
      if #sweeps.read(folder .. "/ran.log") > ended or sweeps.read(folder .. "/status") ~= "" then break end
      sweeps.wait(0.01)
    end
    ended = #sweeps.read(folder .. "/ran.log")
    sweeps.wait(0.005 + 0.06 * chance(i))
    local workers = sweeps.children(id)
    if sweeps.read(folder .. "/status") ~= "" or killed == kills then break end
    local one = workers[i % 2 + 1]
    if one then
      sweeps.signal(one, "KILL")
      killed = killed + 1
    end
  end
  local status, err = sweeps.finish(folder)
  equal(status, 0, err)
  check(killed >= kills // 2, killed .. " kills")
  local r = mr.results(folder .. "/r.db")
  equal(r:counts(), { done = 100 + 4 * kills })
  for _, row in ipairs(r:trials{ columns = { "seed", "value" } }.rows) do equal(row[2], row[1] % 1000 / 1000) end
end)

it("mr.sweep without retries records the trial of a killed worker as killed", function()
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--trials 4 --wait 0.5 --workers 1")
  for _ = 1, 500 do
    if sweeps.read(folder .. "/r.db.files/study/worker_1.log"):find "trial 2" then break end
    sweeps.wait(0.01)
  end
  sweeps.signal(sweeps.children(id)[1], "KILL")
  equal((sweeps.finish(folder)), 0)
  local r = mr.results(folder .. "/r.db")
  equal(r:counts(), { done = 3, killed = 1 })
  equal(r:trials{ columns = { "number", "reason" }, states = { "killed" } }.rows,
    { { 2, "its process ended: signal 9 (Killed)" } })
end)

it("mr.sweep under mpirun loses no finished trial after kill -9 of a rank", function()
  local mpirun, why = sweeps.mpirun(3)
  if not mpirun then return test.skip(why) end
  local folder = new_folder()
  local before = {}
  for i = 1, math.max(3, kills // 6) do
    local id = sweeps.start(folder, "sweep.lua", "--wait 0.05", mpirun)
    for _ = 1, 1000 do
      if #sweeps.children(id) == 3 or sweeps.read(folder .. "/status") ~= "" then break end
      sweeps.wait(0.01)
    end
    local ranks = sweeps.children(id)
    sweeps.wait(0.3 + chance(i))
    if ranks[i % 3 + 1] then sweeps.signal(ranks[i % 3 + 1], "KILL") end
    sweeps.finish(folder)
    local done = done_in(folder)
    for number in pairs(before) do check(done[number], ("trial %d was lost"):format(number)) end
    before = done
  end
  equal((sweeps.run(folder, "sweep.lua", "--wait 0.05", mpirun)), 0)
  all_are_done(folder)
end)

it("mr.sweep on a full disk raises one error and keeps a sound store", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--trials 5")), 0)
  local before = done_in(folder)
  -- limits files to 400 blocks of 512 bytes; a trial stores about 40 kB
  local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 5 --lists 5000",
    "rm -rf r.db* ran.log; ulimit -f 400;")
  equal(status, 1)
  check(err:find "r.db: [^\n]*\n" and select(2, err:gsub("\n", "")) <= 12, err)
  check(err:find "full" or err:find "I/O error", err)
  local database <close> = core.open_database(folder .. "/r.db", "read")
  local _, sound = database:run("PRAGMA integrity_check", {}, 0)
  equal(sound[1][1], "ok")
  check(before[5], "five trials")
  equal((sweeps.run(folder, "sweep.lua", "--trials 5 --lists 5000")), 0)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 5 })
end)

it("mr.sweep raises one error and changes nothing if the store is not writable", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--trials 3 --workers 0")), 0)
  local sum = sweeps.capture(("sha256sum <%s/r.db"):format(folder))
  os.execute 'chmod a+x "$TMPDIR"'  -- lets another user enter the folder
  local changes = "rm -f r.db-*; touch out err; chmod -R a+rX .; chmod a-w r.db; chmod a+w . out err"
  os.execute(("cd %s; %s"):format(folder, changes))
  -- root may write to read-only files, so the sweep runs as another user
  local superuser = sweeps.capture("id -u"):match "%d+" == "0"
  local before = superuser and "setpriv --reuid=65534 --regid=65534 --clear-groups" or ""
  if before ~= "" and not os.execute(before .. " " .. sweeps.moonrank .. " --version >/dev/null 2>&1") then
    return test.skip "no other user can run the program here"
  end
  local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 3 --workers 0", before)
  equal(status, 1)
  check(err:find "cannot be written", err)
  equal(sweeps.capture(("sha256sum <%s/r.db"):format(folder)), sum)
  sweeps.write(folder .. "/read.lua", "print(require('moonrank').results('r.db'))")
  status, _, err = sweeps.run(folder, "read.lua", "", before)
  equal(status, 0, err)
end)
