-- Helpers for tests of sweeps: temporary folders, and scripts that run as programs.
local columns = require "moonrank.results.columns"
local core = require "moonrank.core"
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"

local M = {}

M.moonrank = dofile("tests/support/program.lua").moonrank

---Registers a test that is skipped, where the program is not named or `why` says what else is missing. Returns whether
---it did.
function M.is_skipped(name, why)
  if M.moonrank and not why then return false end
  test.it(name, function() test.skip(why or "MOONRANK does not name the program") end)
  return true
end

local capture, write = files.output, files.write
M.capture, M.write = capture, write

---Returns a new folder, with a script sweep.lua if a text is given.
function M.new_folder(script)
  local folder = files.new_folder()
  if script then write(folder .. "/sweep.lua", script) end
  return folder
end

---Calls body with a new folder, which is removed afterwards.
function M.in_folder(body, script)
  local folder = M.new_folder(script)
  local ok, message = xpcall(body, debug.traceback, folder)
  os.execute("rm -rf " .. folder)
  if not ok then error(message, 0) end
end

---Returns the bytes of a file; "" without the file.
function M.read(path) return core.file_exists(path) and files.read(path) or "" end

-- Shell code that makes scripts store their results in the folder of the test, not in that of the user.
local own_results = "export MOONRANK_RESULTS=results;"

---Runs a script to its end: exit status, output, errors.
function M.run(folder, script, arguments, before)
  local command = ("cd %s && %s %s %s %s %s >out 2>err"):format(
    folder, own_results, before or "", M.moonrank, script, arguments or "")
  local _, _, status = os.execute(command)
  return status, M.read(folder .. "/out"), M.read(folder .. "/err")
end

---Prefix that runs a command as several processes under mpirun; nil and the reason if that is
---impossible.
function M.mpirun(count, options)
  if not require("moonrank.core").mpi_library() then return nil, "MPI is not built in" end
  if not os.execute "command -v mpirun >/dev/null" then
    return nil, "mpirun is not there (on Debian: apt install openmpi-bin)"
  end
  -- allows more processes than cores, and to run as root; memory leaks of the MPI library are not reported
  return ("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 mpirun "
    .. "--oversubscribe %s -n %d")
    :format(options or "", count)
end

---Starts a script; returns the number of its process. `M.finish` waits for it.
function M.start(folder, script, arguments, before)
  local command = ("%s %s %s %s %s >out 2>err &"):format(own_results, before or "", M.moonrank, script, arguments or "")
  local lines = { "cd " .. folder, command, "echo $! >pid", "wait $!", "echo $? >status" }
  M.write(folder .. "/start.sh", table.concat(lines, "\n") .. "\n")
  os.execute(("rm -f %s/pid %s/status; sh %s/start.sh >/dev/null 2>&1 &"):format(folder, folder, folder))
  while M.read(folder .. "/pid") == "" do M.wait(0.01) end
  return math.tointeger(tonumber(M.read(folder .. "/pid")))
end

function M.wait(seconds) require("moonrank.core").wait_for({}, seconds) end

---Waits until what `M.start` started has ended: exit status, errors.
function M.finish(folder)
  for _ = 1, 6000 do
    local status = M.read(folder .. "/status"):match "%d+"
    if status then return math.tointeger(tonumber(status)), M.read(folder .. "/err") end
    M.wait(0.01)
  end
  error "it does not end"
end

---The processes that a process started.
function M.children(id)
  local ids = {}
  for each in M.read(("/proc/%d/task/%d/children"):format(id, id)):gmatch "%d+" do
    ids[#ids + 1] = math.tointeger(tonumber(each))
  end
  return ids
end

---Processor seconds of a process so far, and of those that it waited for; nil if it is gone.
---@return number?
function M.spent_by(id)
  local fields = M.read(("/proc/%d/stat"):format(id)):match "%) (.*)"
  local user, system = (fields or ""):match(("%S+ "):rep(11) .. "(%d+) (%d+)")
  return user and (tonumber(user) + tonumber(system)) / 100
end

function M.signal(id, name) os.execute(("kill -%s %d 2>/dev/null"):format(name, id)) end

---Every trial as comma separated values: the part of results that must not depend on when, where
---and how often trials ran.
function M.table_of(results)
  local data = results:columns{ "done", "pruned", "failed", "killed", "interrupted", "running" }
  local names = columns.united{ { "number", "state", "seed" }, data.params, { "value" }, data:numbers() }
  return results:trials{ columns = names }:to_csv()
end

---Like `table_of`, for the study in a store (default r.db) of a folder.
function M.table_at(folder, store) return M.table_of(mr.results(folder .. "/" .. (store or "r.db"), "study")) end

---Changes a store by an SQL statement, which is run for every study: ?1 is the study's id.
function M.change(path, sql)
  local store <close> = require("moonrank.sweep.store").open(path, "write")
  store:columns "PRAGMA foreign_keys = OFF"  -- allows deleting a trial while rows of other tables still refer to it
  for _, study in ipairs(store:rows "SELECT id FROM studies") do store:columns(sql, study.id) end
end

---Returns how many of so many workers began a trial, by what they printed into a study's folder. On a busy machine one
---may come too late for all.
function M.took_part(folder, workers)
  local count = 0
  for slot = 1, workers do
    if M.read(("%s/worker_%d.log"):format(folder, slot)):find "-- trial" then count = count + 1 end
  end
  return count
end

---Why a test is skipped that takes away what sanitizers need themselves, addresses or descriptors; nil where the
---program has none.
---@return string?
function M.why_not_bare()
  if not M.moonrank then return "MOONRANK does not name the program" end
  if os.execute(("ulimit -v %d && %s --version >/dev/null 2>&1"):format(6 << 20, M.moonrank)) then return nil end
  return "the program does not start within 6 GiB of addresses (a sanitizer)"
end

return M
