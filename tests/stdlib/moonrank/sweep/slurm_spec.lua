-- Tests a sweep under Slurm, on a cluster of one node that this test starts and stops.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

-- Returns the id of this process.
local function own_id() return sweeps.read "/proc/self/stat":match "%d+" end

-- Starts Slurm. Returns a prefix that makes a command use it, or nil and the reason if Slurm cannot be started.
local function slurm()
  if not core.mpi_library() then return nil, "MPI is not built in" end
  for _, program in ipairs{ "munged", "slurmctld", "slurmd", "srun" } do
    if not os.execute(("PATH=$PATH:/usr/sbin command -v %s >/dev/null"):format(program)) then
      return nil, program .. " is not there (on Debian: apt install --no-install-recommends slurm-wlm munge)"
    end
  end
  local folder = sweeps.capture "mktemp -d":match "%S+"
  local environment = ("PATH=$PATH:/usr/sbin SLURM_CONF=%s/slurm.conf"):format(folder)
  local said = sweeps.capture(("%s sh tests/support/slurm.sh %s %s 2>&1"):format(environment, folder, own_id()))
  for _ = 1, 150 do
    if sweeps.capture(environment .. " sinfo -h -o %T 2>&1"):find "^idle" then return environment end
    sweeps.wait(0.1)
  end
  return nil, "Slurm does not start here: " .. said .. sweeps.read(folder .. "/slurmd.log"):sub(-200)
end

local environment, why = slurm()
if sweeps.is_skipped("Slurm", why) then return end

local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local args = mr.args{ workers = 2, wait = 0.0, store = "r.db" }
local results = mr.sweep{ name = "study", store = args.store, workers = args.workers, trials = 20, seed = 4,
  progress = false, sampler = {"tpe", generation = 8},
  space = { x = mr.uniform(-1, 1), kind = mr.choice{"p", "q"} },
  run = function(trial)
    core.wait_for({}, args.wait)
    print "runs"  -- a log without output is removed
    return 1 - trial.x ^ 2 - (trial.kind == "p" and 0.5 or 0) + trial.seed % 100 / 1000
  end }
print(results)
]]

local function new_folder() return sweeps.new_folder(script) end

it("mr.sweep under srun -n 3 gives the table of two workers, printed once", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--store two.db")), 0)
  local status, out, err = sweeps.run(folder, "sweep.lua", "--wait 0.2", environment .. " srun -n 3")
  equal(status, 0, err)
  equal(select(2, out:gsub("mr.Results", "")), 1)
  equal(sweeps.table_at(folder, "r.db"), sweeps.table_at(folder, "two.db"))
  check(sweeps.took_part(folder .. "/r.db.files/study", 3) > 1, "other tasks take part")
end)

it("scancel interrupts trials of mr.sweep, and the same command resumes it", function()
  local folder = new_folder()
  sweeps.start(folder, "sweep.lua", "--wait 1", environment .. " srun -n 3")
  for _ = 1, 2000 do
    if sweeps.read(folder .. "/r.db.files/study/worker_1.log"):find "-- trial" then break end
    sweeps.wait(0.01)
  end
  os.execute(("%s scancel $(%s squeue -h -o %%i)"):format(environment, environment))
  equal((sweeps.finish(folder)), 130)
  local counts = mr.results(folder .. "/r.db"):counts()
  check(counts.interrupted and not counts.killed and not counts.failed, "interrupted")
  equal((sweeps.run(folder, "sweep.lua", "", environment .. " srun -n 3")), 0)
  equal((sweeps.run(folder, "sweep.lua", "--store two.db")), 0)
  equal(sweeps.table_at(folder, "r.db"), sweeps.table_at(folder, "two.db"))
end)
