-- Kills and other faults in sweeps and trainings. Finished trials must neither be lost nor run again, and the results
-- must have the same bits as those of an undisturbed run. MOONRANK_KILLS=200 sets the number of faults (default 30);
-- `fire.lua` runs for as long as is asked for.
local field = dofile "tests/fire/field.lua"
local test = require "moonrank.test"
local it, check = test.it, test.check

if not field.program then
  it("studies and trainings end with the same results after kills", function()
    test.skip "MOONRANK does not name the program"
  end)
  return
end

local attacks = dofile "tests/fire/attacks.lua"
local trainings = dofile "tests/fire/trainings.lua"
local kills = math.tointeger(tonumber(os.getenv "MOONRANK_KILLS")) or 30

-- Tests a sweep in this mode (sampler and kind of trials) under attacks of several kinds. Each entry of `kinds` has the
-- name of an attack and its percentage of all strikes.
local function under(mode, kinds)
  it(("a study in mode %s ends with the same results after kills and other faults"):format(mode), function()
    math.randomseed(kills)
    local self <close> = field.new(mode)
    for _, each in ipairs(kinds) do
      local kind, count = each[1], math.max(1, kills * each[2] // 100)
      if attacks[kind] then
        local struck = attacks[kind](self, math.random, count)
        check(struck >= count, ("%s: %d blows"):format(kind, struck))
      else
        test.skip(kind .. ": MOONRANK_CLOCK_LIBRARY does not name the library that moves clocks")
      end
    end
  end)
end

under("grid", { { "parents", 15 }, { "stopped", 2 }, { "copies", 2 } })
under("tpe", { { "workers", 30 }, { "two_parents", 2 }, { "full", 3 } })
under("hyperband", { { "stops", 10 } })
under("fit", { { "parents", 25 }, { "clock", 50 } })

for ranks, share in ipairs{ 10, 2 } do
  it(("a training by %d processes ends with the same results after kills"):format(ranks), function()
    if ranks > 1 and not os.execute "command -v mpirun >/dev/null" then return test.skip "mpirun is not there" end
    math.randomseed(kills)
    local self = trainings.new(ranks)
    check(self:attack(math.random, math.max(1, kills * share // 100)) > 0, "blows")
    self:close()
  end)
end
