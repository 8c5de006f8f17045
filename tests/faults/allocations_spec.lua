-- Memory that runs out at the n-th allocation, in training, evaluation, sweeps, readers and writers, and from the start of the program: an error
-- that says so or the results, never a signal; afterwards all works as before. In every test run n goes in steps; README.md has the long command.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

local library = sweeps.moonrank and sweeps.moonrank:match "^(.*)/[^/]*$" .. "/libmoonrank_faults.so"
if not library or not io.open(library) then
  it("allocations", function() test.skip "the library that lets allocations fail is not beside the program that MOONRANK names" end)
  return
end

local tries <const> = math.tointeger(tonumber(os.getenv "MOONRANK_TRIES")) or 4

local function run(folder, words, order)
  local command = ("LD_PRELOAD=%s %s timeout -k 5 600 %s --threads 1 %s >%s/out 2>%s/err"):format(library, order, sweeps.moonrank, words,
    folder,
    folder)
  local _, kind, status = os.execute(command)
  return kind == "exit" and status or -status, sweeps.read(folder .. "/out"), sweeps.read(folder .. "/err")
end

-- Runs with one, two and many allocations lost, at `tries` places spread over all of them.
local function attack(name)
  sweeps.in_folder(function(folder)
    local words = ("tests/faults/allocations.lua --work '%s' --folder %s/work "):format(name, folder)
    os.execute(("mkdir %s/work"):format(folder))
    local _, said = run(folder, words .. "--count", "")
    local count = math.tointeger(tonumber(said:match "(%d+) allocations"))
    check(count, name .. ": " .. said)
    for i, lost in ipairs{ 1, 2, 1000000 } do
      local stride = math.max(1, count // tries)
      local status, out, err = run(folder, ("%s--lost %d --stride %d --first %d"):format(words, lost, stride, math.max(1,
        stride * i // 4)), "")
      equal(status, 0, ("%s, %d lost: status %d after allocation %s: %s"):format(name, lost, status, out:match "(%d+)\n[^\n]*$" or "?",
        err))
      check(out:find " tried, ", out)
    end
  end)
end

for name in sweeps.capture(sweeps.moonrank .. " tests/faults/allocations.lua"):gmatch "[^\n]+" do
  it(name, function() attack(name) end)
end

it("the start and the end of the program", function()
  sweeps.in_folder(function(folder)
    local total = 0
    for n = 1, 8000, 8000 // (10 * tries) do
      for _, lost in ipairs{ 2, 1000000 } do
        local status, out, err = run(folder, "-e 'print(1)'", ("MOONRANK_FAULTS=%d,%d"):format(n, lost))
        check(status == 0 and out == "1\n" or status == 1 and err:find "memory", ("allocation %d, %d lost: status %d: %s"):format(n, lost,
          status, err))
        total = total + status
      end
    end
    check(total > tries, "memory never ran out")
  end)
end)
