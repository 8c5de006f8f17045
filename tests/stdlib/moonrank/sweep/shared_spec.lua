-- Tests stores in folders that several machines share. SQLite's file systems "unix-none" and "unix-dotfile" have no
-- shared memory, like network folders.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

if sweeps.is_skipped "shared" then return end

local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ name = "study", workers = 0, trials = 40, wait = 0.0 }
print(mr.sweep{ name = args.name, store = "r.db", workers = args.workers, progress = false, metric = "ndcg",
  trials = args.trials, space = { x = mr.range(1, 10000) }, run = function(trial)
    core.wait_for({}, args.wait)
    return { ndcg = trial.x, per_list = mr.full({ 1000 }, trial.x, { dtype = "float64" }) }
  end })
]]

local read_script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local database = core.open_database("r.db", "read")
local _, sound = database:run("PRAGMA integrity_check", {}, 0)
local results = mr.results("r.db", "study")
print(sound[1][1], results:counts().done or 0, #results:trials{ states = { "done" } }.rows)
]]

-- Calls `body` with a folder, the variable that chooses SQLite's file system, and a function that returns what a reader
-- finds in the store.
local function on(system, body)
  local folder = sweeps.new_folder(script)
  sweeps.write(folder .. "/read.lua", read_script)
  local before = "MOONRANK_SQLITE_VFS=" .. system
  body(folder, before, function()
    local command = ("cd %s && %s %s read.lua 2>&1"):format(folder, before, sweeps.moonrank)
    local said = sweeps.capture(command)
    local sound, done, rows = said:match "^(%S+)\t(%d+)\t(%d+)"
    return sound, tonumber(done), tonumber(rows), said
  end)
end

-- Returns the names of the files in a folder, except those of the test itself.
local function left_in(folder)
  local own, names = {}, {}
  for name in ("sweep.lua read.lua start.sh pid status out err"):gmatch "%S+" do own[name] = true end
  for _, name in ipairs(core.list_folder(folder)) do
    if not own[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- Waits until a reader finds so many trials. Returns how many it found.
local function wait_for(reads, count)
  for _ = 1, 300 do
    local _, done = reads()
    if done and done >= count then return done end
    sweeps.wait(0.05)
  end
  error "no trials to read"
end

for _, system in ipairs{ "unix-none", "unix-dotfile" } do
  it("a store under " .. system .. " keeps the results of a sweep in one file", function()
    on(system, function(folder, before, reads)
      equal((sweeps.run(folder, "sweep.lua", "", before)), 0)
      equal(left_in(folder), { "r.db" })
      equal({ reads() }, { "ok", 40, 40, "ok\t40\t40\n" })
      equal((sweeps.run(folder, "sweep.lua", "--trials 60 --workers 2", before)), 0)
      equal(left_in(folder), { "r.db" })
      equal(mr.results(folder .. "/r.db"):counts(), { done = 60 })
    end)
  end)

  it("a store under " .. system .. " is readable by copy during writing and rejects a second writer", function()
    on(system, function(folder, before, reads)
      local id = sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.002", before)
      local last = wait_for(reads, 3)
      for _ = 1, 5 do
        local sound, done, rows, said = reads()
        equal(sound, "ok", said)
        check(done >= last and done == rows, said)
        last = done
      end
      local text = sweeps.capture(("cd %s && %s %s results r.db 2>&1"):format(folder, before, sweeps.moonrank))
      check(text:find("r.db.view", 1, true) and text:find("process " .. id, 1, true), text)
      sweeps.write(folder .. "/second.lua", (sweeps.read(folder .. "/sweep.lua")))
      local command = "cd %s && %s %s second.lua --name other 2>&1"
      local second = sweeps.capture(command:format(folder, before, sweeps.moonrank))
      check(second:find("process " .. id, 1, true), second)
      check(wait_for(reads, last + 1) > last, "the first writer goes on")
      sweeps.signal(id, "KILL")
      sweeps.finish(folder)
    end)
  end)

  it("a store under " .. system .. " is readable and resumable after kill -9 of the writer", function()
    on(system, function(folder, before, reads)
      local count = 0
      for _ = 1, 3 do
        local id = sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.001", before)
        local seen = wait_for(reads, count + 10)  -- waits for a readable copy by this writer, not by the one before
        sweeps.signal(id, "KILL")
        sweeps.finish(folder)
        local sound, done, _, said = reads()
        equal(sound, "ok", said)
        check(done >= seen, said)
        count = done
      end
      local _, before_last = reads()
      equal((sweeps.run(folder, "sweep.lua", "--trials 1 --name other", before)), 0)
      -- the folder r.db.files has the lock of the study whose process was killed
      equal(left_in(folder), { "r.db", "r.db.files/" })
      local sound, done, rows = reads()
      equal(sound, "ok")
      check(done >= before_last and rows == done, "nothing was lost")
    end)
  end)

  it("a store under " .. system .. " stays readable after a kill while a stale writer's file is replaced", function()
    on(system, function(folder, before, reads)
      local id = sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.001", before)
      local seen = wait_for(reads, 10)
      sweeps.signal(id, "KILL")
      sweeps.finish(folder)
      -- deletes the lock of the writer, which is the first thing that another writer does when it takes over
      os.remove(folder .. "/r.db.writer")
      local began = core.clock()
      local sound, done, rows, said = reads()
      equal(sound, "ok", said)
      check(done >= seen and rows == done, said)
      check(core.clock() - began < 9, "readers hardly wait for the killed writer's lock")
      local text = sweeps.capture(("cd %s && %s %s results r.db 2>&1"):format(folder, before, sweeps.moonrank))
      check(text:find("r.db.view", 1, true), text)
      equal((sweeps.run(folder, "sweep.lua", "--trials 1 --name other", before)), 0)
      check(({ reads() })[2] >= seen, "nothing was lost")
    end)
  end)

  it("a store under " .. system .. " is one file after Ctrl-C or an error", function()
    on(system, function(folder, before, reads)
      local id = sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.01", before)
      local seen = wait_for(reads, 3)
      sweeps.signal(id, "INT")
      equal((sweeps.finish(folder)), 130)
      equal(left_in(folder), { "r.db" })
      check(({ reads() })[2] >= seen)
      equal((sweeps.run(folder, "sweep.lua", "--trials 0", before)), 1)
      equal(left_in(folder), { "r.db" })
    end)
  end)
end

it("copies of a store in a shared folder take at most a twentieth of the writer's time", function()
  local folder = sweeps.new_folder()
  sweeps.write(folder .. "/copies.lua", [[
local core = require "moonrank.core"
local mr = require "moonrank"
local stores = require "moonrank.sweep.store"
local copying, last, copies, began = 0, 0, 0, core.clock()
local opened = stores.open("r.db", "write")
local copy = opened.copy
rawset(opened, "copy", function(...)
  local start = core.clock()
  copy(...)
  last, copies = core.clock() - start, copies + 1
  copying = copying + last
end)
local study = opened:set_study{ name = "s", space = "x", sampler = "grid", seed = 1, direction = "maximize",
  script = "s", script_name = "s", settings = "", data = "", version = "0" }
local number = 0
while core.clock() - began < 4 do
  number = number + 1
  local trial = { number = number, seed = 1, params_text = "{}", attempts = 1 }
  opened:begin(study, trial)
  opened:finish(study, trial, { state = "done", value = 1, numbers = { a = 1 } })
end
print(copies, (copying - last) / (core.clock() - began), number)
opened:close()
]])
  local status, out, err = sweeps.run(folder, "copies.lua", "", "MOONRANK_SQLITE_VFS=unix-none")
  equal(status, 0, err)
  local copies, part, trials = out:match "(%d+)%s+(%S+)%s+(%d+)"
  check(tonumber(copies) >= 1 and tonumber(copies) < tonumber(trials), out)
  -- so much time follows each copy that copying takes at most 5 %; the last copy has no time after it and is not
  -- counted
  check(tonumber(part) <= 0.05, out)
end)

it("a writer of a shared store stops before its next trial if it was replaced", function()
  on("unix-none", function(folder, before)
    sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.01", before)
    for _ = 1, 500 do
      if core.file_exists(folder .. "/r.db.writer") then break end
      sweeps.wait(0.01)
    end
    os.remove(folder .. "/r.db.writer")
    local status, err = sweeps.finish(folder)
    equal(status, 1)
    check(err:find("r.db", 1, true), err)
  end)
end)

it("results:refresh reads a store again after a writer began", function()
  on("unix-none", function(folder, before)
    equal((sweeps.run(folder, "sweep.lua", "", before)), 0)
    local results = mr.results(folder .. "/r.db")
    local id = sweeps.start(folder, "sweep.lua", "--trials 10000 --wait 0.01", before)
    for _ = 1, 500 do
      if core.file_exists(folder .. "/r.db.view") then break end
      sweeps.wait(0.01)
    end
    raises(function() results:counts() end, "being written")
    check(results:refresh():counts().done >= 40)
    check(tostring(results):find("r.db.view", 1, true), tostring(results))
    sweeps.signal(id, "KILL")
    sweeps.finish(folder)
  end)
end)
