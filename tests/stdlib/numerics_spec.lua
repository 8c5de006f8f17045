-- Tests that results have the same bits on ARM (NEON) and on every x86 instruction set from AVX2 on, with any number of
-- threads, from every compiler. The fingerprints (checksums) that support/numerics.lua prints must be those in
-- golden/numerics.txt.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

local moonrank = dofile("tests/support/program.lua").moonrank
local sets = { scalar = {}, avx2 = { "avx2" }, avx512 = { "avx2", "avx512" }, neon = { "neon" } }
local most_shown = 12

-- All cases run with 7 threads. With 1 thread and with 2 threads, a fourth of the slow cases and all other cases run as
-- well.
local runs = { { threads = 7, parts = 1, part = 0 }, { threads = 1, parts = 4, part = 0 },
  { threads = 2, parts = 4, part = 2 } }
if sweeps.moonrank and sweeps.why_not_bare() then
  runs = { { threads = 2, parts = 10, part = 0 } }
  print "numerics: a tenth of the bounds and the losses under them, with 2 threads: all take too long under a sanitizer"
end

-- Returns the fingerprints by the name of their case, the names in order, and the numerics version in the first line.
local function read(lines)
  local cases, names, numerics = {}, {}, nil
  for line in lines do
    local name, sum = line:match "^(%S+) (%x+)$"
    if name then
      check(not cases[name], name .. " is there twice")
      cases[name], names[#names + 1] = sum, name
    else
      numerics = line:match "^# numerics (.+)$"
      check(numerics, line)
    end
  end
  return cases, names, numerics
end

-- Returns the names of cases whose fingerprint differs in or is missing from the other list, as text.
local function difference(names, of, from)
  local out = {}
  for _, name in ipairs(names) do
    if of[name] ~= from[name] then out[#out + 1] = name end
  end
  local count = #out
  return count, table.concat(out, ", ", 1, math.min(count, most_shown)) .. (count > most_shown and ", ..." or "")
end

describe("numerics", function()
  local kept, names, numerics = read(io.lines "tests/golden/numerics.txt")

  it("has golden fingerprints for this program's numerics version", function()
    equal((core.numerics():gsub(" scalar$", "")), numerics)
    check(#names > 700, #names)
  end)

  it("has golden fingerprints for three models under every loss with every bound", function()
    for _, model in ipairs{ "mf", "mlp", "self_attention" } do
      for _, loss in ipairs(mr.losses.names()) do
        for _, bound in ipairs((mr.losses.bounds(loss))) do
          local name = ("under_%s_%s_%s"):format(model, loss, bound)
          check(kept[name], "there is no fingerprint of " .. name)
        end
      end
    end
  end)

  for _, set in ipairs(sets[core.simd()]) do
    for _, run in ipairs(runs) do
      it(("gives the golden results, bit for bit, under %s with %d threads"):format(set, run.threads), function()
        if not moonrank then return test.skip "MOONRANK does not name the program" end
        local command = "MOONRANK_SIMD=%s MOONRANK_DEVICE=cpu %s --threads %d tests/support/numerics.lua " ..
          "--parts %d --part %d 2>&1"
        local pipe = assert(io.popen(command:format(set, moonrank, run.threads, run.parts, run.part)))
        local found, found_names = read(pipe:lines())
        check(pipe:close(), "the script ended with an error")
        local count, which = difference(found_names, found, kept)
        check(count == 0, ("%d of %d cases differ: %s\n(%s)"):format(count, #found_names, which,
          "where results changed on purpose, tests/support/numerics.lua says what to do"))
        if run.parts == 1 then equal(found_names, names) else check(#found_names > #names / run.parts, #found_names) end
      end)
    end
  end
end)
