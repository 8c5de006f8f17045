-- Training, evaluation, sweeps, readers, writers and the start of the program, while the n-th allocation fails. Each
-- must give its usual results or an error that names memory, and never crash. Repeated work must then give its usual
-- results. A test run tries a sample of all n; README.md has the command that tries every n.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

local library = sweeps.moonrank and sweeps.moonrank:match "^(.*)/[^/]*$" .. "/libmoonrank_faults.so"
if not library or not io.open(library) then
  it("the program survives failing allocations",
    function() test.skip "the library that lets allocations fail is not beside the program that MOONRANK names" end)
  return
end

local absolute <const> = sweeps.capture(("realpath %s"):format(library)):match "[^\n]+"
local tries <const> = math.tointeger(tonumber(os.getenv "MOONRANK_TRIES")) or 4

local function run(folder, words, order, threads)
  local command = ("LD_PRELOAD=%s %s timeout -k 5 600 %s --threads %d %s >%s/out 2>%s/err"):format(
    library, order, sweeps.moonrank, threads or 1, words, folder, folder)
  local _, kind, status = os.execute(command)
  return kind == "exit" and status or -status, sweeps.read(folder .. "/out"), sweeps.read(folder .. "/err")
end

-- Runs a workload while one, two, or a million allocations in a row fail, from `tries` positions spread over all of its
-- allocations.
local function attack(name, threads)
  sweeps.in_folder(function(folder)
    local words = ("tests/faults/allocations.lua --work '%s' --folder %s/work "):format(name, folder)
    os.execute(("mkdir %s/work"):format(folder))
    local _, said = run(folder, words .. "--count", "", threads)
    local count = math.tointeger(tonumber(said:match "(%d+) allocations"))
    check(count, name .. ": " .. said)
    for i, lost in ipairs{ 1, 2, 1000000 } do
      local stride = math.max(1, count // tries)
      local status, out, err = run(folder,
        ("%s--lost %d --stride %d --first %d"):format(words, lost, stride, math.max(1, stride * i // 4)), "", threads)
      equal(status, 0, ("%s, %d lost: status %d after allocation %s: %s"):format(
        name, lost, status, out:match "(%d+)\n[^\n]*$" or "?", err))
      check(out:find " tried, ", out)
    end
  end)
end

for name in sweeps.capture(sweeps.moonrank .. " tests/faults/allocations.lua"):gmatch "[^\n]+" do
  it(name .. " survives failing allocations", function() attack(name) end)
end

-- With two threads, the n-th allocation is not the same one in every run.
for _, name in ipairs{ "parallel loops", "losses and bounds", "evaluation", "training of factors by Adam",
  "the full catalogue" } do
  it(name .. " survives failing allocations with two threads", function() attack(name, 2) end)
end

it("the start and the end of the program survive failing allocations", function()
  sweeps.in_folder(function(folder)
    local total = 0
    for n = 1, 8000, 8000 // (10 * tries) do
      for _, lost in ipairs{ 2, 1000000 } do
        local status, out, err = run(folder, "-e 'print(1)'", ("MOONRANK_FAULTS=%d,%d"):format(n, lost))
        check(status == 0 and out == "1\n" or status == 1 and err:find "memory",
          ("allocation %d, %d lost: status %d: %s"):format(n, lost, status, err))
        total = total + status
      end
    end
    check(total > tries, "memory never ran out")
  end)
end)

-- The C library ends the program if it has no memory to register the destructor of a thread_local variable. The class
-- cpu::OfThread avoids such destructors.
it("no thread_local has a destructor", function()
  check(not sweeps.read(sweeps.moonrank):find("__cxa_thread_atexit", 1, true),
    "the program registers destructors of threads' variables")
end)

-- Tests failing allocations in a process's first work, also in threads of its pool. Each try starts a new process.
it("the first work of a process survives failing allocations with two threads", function()
  for i, name in ipairs{ "parallel loops", "losses and bounds", "training of a network" } do
    sweeps.in_folder(function(folder)
      for k = 1, math.min(tries, 2000) do
        local words = ("tests/faults/allocations.lua --work '%s' --folder %s --lost %d --cold %d"):format(name, folder,
          ({ 1, 2, 1000000 })[(i + k) % 3 + 1], tries < 100 and 200 * k - 61 * i or k)
        local status, out, err = run(folder, words, "", 2)
        check(status == 0 and out:find " 1 tried, ", ("%s: status %d: %s"):format(words, status, err))
      end
    end)
  end
end)

-- Tests a sweep with two workers in which one worker, both workers, or the process that started them run out of memory.
-- The sweep must succeed or end with an error. When resumed, the study must get the same results as without the fault.
local most_of_a_worker <const>, places <const> = 30000, math.min(tries, 300)

it("a sweep can be resumed after its workers, or the process that started them, run out of memory", function()
  local here = sweeps.capture("pwd"):match "[^\n]+"
  local study = ("timeout -k 5 60 %s %s/tests/fire/study.lua --trials 6 --wait 0 --mode tpe --workers 2 "
    .. "--quiet "):format(sweeps.capture("realpath " .. sweeps.moonrank):match "[^\n]+", here)
  sweeps.in_folder(function(folder)
    local function swept(store, order, retry)
      local _, kind, status = os.execute(("cd %s && LD_PRELOAD=%s %s %s --store %s --retry %d >out 2>err"):format(
        folder, absolute, order, study, store, retry))
      return kind == "exit" and status or -status, sweeps.read(folder .. "/err")
    end
    equal((swept("clean.db", "", 0)), 0)
    local clean, failed = sweeps.table_at(folder, "clean.db"), 0
    for i = 1, places do
      for j, order in ipairs{ "MOONRANK_WORKER_FAULTS=%d,%d,$PWD/one", "MOONRANK_WORKER_FAULTS=%d,%d",
        "MOONRANK_FAULTS=%d,%d" } do
        local n, lost, store = most_of_a_worker * (3 * i + j - 3) // (3 * places),
          ({ 1, 2, 1000000 })[(i + j) % 3 + 1], i .. j .. ".db"
        sweeps.write(folder .. "/one", "")
        local status, err = swept(store, order:format(n, lost), 3)
        local where = ("%s: status %d: %s"):format(order:format(n, lost), status, err)
        check(status == 0 or status == 1 and (err:find "memory" or err:find "workers in a row ended"), where)
        failed = failed + status
        equal((swept(store, "", 1000)), 0, where)
        equal(sweeps.table_at(folder, store), clean, where)
      end
    end
    check(failed > 0, "memory never ran out")
  end)
end)
