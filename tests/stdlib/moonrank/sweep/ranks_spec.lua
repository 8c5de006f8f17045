-- Tests sweeps under mpirun: tables must equal those without MPI, also if a rank (process of the MPI job) or its worker
-- fails.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

local mpirun, why = sweeps.mpirun(3)
if sweeps.is_skipped("ranks", why) then return end

local script = sweeps.read "tests/support/pruned_study.lua"
local function new_folder() return sweeps.new_folder(script) end

-- Returns the processes of the MPI job, in the order of their ranks.
local function ranks_of(id)
  for _ = 1, 1000 do
    local ranks = sweeps.children(id)
    if #ranks == 3 then return ranks end
    sweeps.wait(0.01)
  end
  error "mpirun starts nothing"
end

local function first_trial(folder, slot)
  for _ = 1, 2000 do
    if sweeps.read(("%s/r.db.files/study/worker_%d.log"):format(folder, slot)):find "-- trial" then return end
    sweeps.wait(0.01)
  end
  error "no trial begins"
end

it("mr.sweep gives the same table with 1, 2 and 4 workers and 3 MPI ranks, printed once", function()
  local folder = new_folder()
  local tables = {}
  for i, workers in ipairs{ 1, 2, 4 } do
    equal((sweeps.run(folder, "sweep.lua", ("--workers %d --store %d.db"):format(workers, workers))), 0)
    tables[i] = sweeps.table_at(folder, workers .. ".db")
  end
  local status, out, err = sweeps.run(folder, "sweep.lua", "--store mpi.db --wait 0.1", mpirun)
  equal(status, 0, err)
  equal(select(2, out:gsub("mr.Results", "")), 1)
  local _, pruned = tables[1]:gsub(",pruned,", "")
  check(pruned > 0 and pruned < 20, pruned .. " pruned")
  for i = 2, 3 do equal(tables[i], tables[1]) end
  equal(sweeps.table_at(folder, "mpi.db"), tables[1])
  equal(mr.results(folder .. "/mpi.db"):per_list(1):totable(), mr.results(folder .. "/2.db"):per_list(1):totable())
  check(sweeps.took_part(folder .. "/mpi.db.files/study", 3) > 1, "other ranks take part")
end)

it("mr.sweep under mpirun continues after a trial exits its process", function()
  local folder = new_folder()
  local status, _, err = sweeps.run(folder, "sweep.lua", "--oops exit", mpirun)
  equal(status, 0, err)
  local r = mr.results(folder .. "/r.db")
  equal(r:counts().killed, 4)
  equal(r:trials{ columns = { "reason" }, where = { number = 10 } }.rows[1][1], "its process ended: exit status 3")
end)

-- Checks that the store has the same results as a sweep with two workers.
local function as_with_workers(folder)
  equal((sweeps.run(folder, "sweep.lua", "--workers 2 --store two.db")), 0)
  equal(sweeps.table_at(folder, "r.db"), sweeps.table_at(folder, "two.db"))
end

-- A process has ended if its /proc file is missing or it is a zombie.
local function has_ended(id)
  local state = sweeps.read(("/proc/%d/stat"):format(id))
  return not state or state == "" or state:find(") Z", 1, true) ~= nil
end

-- Waits until the job has ended; returns its status and errors. Open MPI 4.1.4's mpirun at times never ends although
-- its ranks have: its PMIx server waits, while it finalizes, for a lock that it holds itself. It is killed after
-- ten seconds, and the status is nil.
local function finish_ranks(folder, id, ranks)
  local idle = 0
  while sweeps.read(folder .. "/status") == "" and idle < 10 do
    local ended = 0
    for _, rank in ipairs(ranks) do ended = ended + (has_ended(rank) and 1 or 0) end
    idle = ended == #ranks and idle + 0.05 or 0
    sweeps.wait(0.05)
  end
  if idle < 10 then return sweeps.finish(folder) end
  sweeps.signal(id, "KILL")
  sweeps.finish(folder)
end

-- Sends a signal to a rank that runs a trial. Other ranks must finish the trial.
local function lose_rank(number, signal, launcher)
  local folder = new_folder()
  local id = sweeps.start(folder, "sweep.lua", "--wait 0.6 --retry 1 --silence 5", launcher)
  local ranks = ranks_of(id)
  first_trial(folder, number)
  sweeps.signal(ranks[number], signal)
  local status, err = finish_ranks(folder, id, ranks)
  equal(status or 0, 0, err)
  as_with_workers(folder)
end

it("mr.sweep under mpirun gives the trial of a silent rank to another", function() lose_rank(3, "STOP", mpirun) end)

it("mr.sweep under mpirun --enable-recovery continues after a rank is killed", function()
  lose_rank(2, "KILL", sweeps.mpirun(3, "--enable-recovery"))
end)

it("Ctrl-C of mpirun interrupts trials of mr.sweep, which a later run repeats", function()
  local folder = new_folder()
  -- On SIGTERM, mpirun wakes its ranks, asks them to end, and kills them, with this many seconds in between. The
  -- default of one second is too short on a busy machine.
  local id = sweeps.start(folder, "sweep.lua", "--wait 2", sweeps.mpirun(3, "--mca odls_base_sigkill_timeout 4"))
  first_trial(folder, 1)
  sweeps.signal(id, "TERM")
  sweeps.finish(folder)
  local counts = mr.results(folder .. "/r.db"):counts()
  check(counts.interrupted and not counts.killed and not counts.failed, "interrupted")
  equal((sweeps.run(folder, "sweep.lua", "--workers 2")), 0)
  as_with_workers(folder)
end)

it("mr.sweep under mpirun runs two sweeps, the second from results of the first", function()
  local folder = new_folder()
  sweeps.write(folder .. "/two.lua", [[
local mr = require "moonrank"
local first = mr.sweep{ name = "one", store = "t.db", progress = false, space = { a = mr.range(1, 6) },
  run = function(trial) return trial.a end }
local best = first:best().value
local second = mr.sweep{ name = "two", store = "t.db", progress = false, space = { a = mr.range(1, 6) },
  run = function(trial) return trial.a * best end }
print(second:best().value)
]])
  local status, out, err = sweeps.run(folder, "two.lua", "", mpirun)
  equal(status, 0, err)
  equal(out, "36.0\n")
end)

it("an error in a script under mpirun is printed once", function()
  local folder = new_folder()
  sweeps.write(folder .. "/bad.lua", script .. "\nerror 'the end'\n")
  local status, _, err = sweeps.run(folder, "bad.lua", "", mpirun)
  equal(status, 1)
  equal(select(2, err:gsub("bad.lua:%d+: the end", "")), 1)
end)

it("mr.sweep gives each worker its own GPU", function()
  local folder = new_folder()
  sweeps.write(folder .. "/gpus.lua", [[
local mr = require "moonrank"
local core = require "moonrank.core"
core.device = function() return "cuda" end
core.cuda_count = function() return 2 end
core.cuda = function() return "made up" end
local r = mr.sweep{ name = "study", store = arg[1], progress = false, space = { a = mr.range(1, 12) }, metric = "gpu",
  direction = "maximize", run = function()
  core.wait_for({}, 0.1)
  return { gpu = tonumber(os.getenv "CUDA_VISIBLE_DEVICES") }
end }
local seen = {}
for _, row in ipairs(r:trials{ columns = { "gpu" } }.rows) do seen[row[1] ] = true end
local names = {}
for gpu in pairs(seen) do names[#names + 1] = ("%d"):format(gpu) end
table.sort(names)
print(table.concat(names, " "))
]])
  -- The GPUs are made up, so the programs must run on the CPU.
  local _, out, err = sweeps.run(folder, "gpus.lua", "a.db", "MOONRANK_DEVICE=cpu")
  equal(out, "0 1\n", err)
  equal(sweeps.read(folder .. "/a.db.files/study/worker_3.log"), "")
  _, out = sweeps.run(folder, "gpus.lua", "b.db", "MOONRANK_DEVICE=cpu CUDA_VISIBLE_DEVICES=5,7,9")
  equal(out, "5 7 9\n")
  _, out = sweeps.run(folder, "gpus.lua", "c.db", "MOONRANK_DEVICE=cpu " .. mpirun)
  equal(out, "0 1\n")
end)
