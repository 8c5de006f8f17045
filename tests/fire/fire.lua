-- Attacks sweeps and training runs at random moments for a given time. Prints the attacks, and properties that are
-- violated. From the root of the checkout:
-- MOONRANK=$PWD/build/release/moonrank MOONRANK_CLOCK_LIBRARY=$PWD/build/release/tests/libmoonrank_clock.so \
--   build/release/moonrank tests/fire/fire.lua --minutes 10
-- MOONRANK_CLOCK_LIBRARY is a library that shifts clocks. Without it, clocks are not attacked.
local mr = require "moonrank"
local core = require "moonrank.core"
local attacks = dofile "tests/fire/attacks.lua"
local field = dofile "tests/fire/field.lua"
local trainings = dofile "tests/fire/trainings.lua"

local modes = { "grid", "tpe", "hyperband", "fit" }
local kinds = { "parents", "workers", "stops", "stopped", "two_parents", "copies", "full", "clock",
  "training", "ranks" }

local args = mr.args{
  minutes = { default = 10.0, least = 0, help = "after which no attack begins" },
  seed = { default = 1, help = "of what is done when, and to whom" },
  blows = { default = 20, least = 1, help = "of each attack before the next one begins" },
  only = { type = "list", choices = table.move(kinds, 1, #kinds, 1, {}), distinct = true,
    help = "attacks that are made (README.md)" },
}
if args.only then kinds = args.only end
if not field.program then error("MOONRANK does not name the program", 0) end
-- sweeps of mr.fit are not attacked by a full disk: a trial whose checkpoint finds no space fails, as it should
local without_full = { fit = true }

-- The sweeps and training runs under attack, by name. Each is made when it is first needed.
local fields = {}
local function field_of(name, make, argument)
  fields[name] = fields[name] or make(argument)
  return fields[name]
end

local function attack(kind, random, count)
  if kind == "training" then return field_of(kind, trainings.new, 1):attack(random, count), kind end
  if kind == "ranks" then return field_of(kind, trainings.new, 3):attack(random, count), kind end
  local mode
  repeat mode = modes[random(#modes)] until kind ~= "full" or not without_full[mode]
  return attacks[kind](field_of(mode, field.new, mode), random, count), mode
end

local counts, seconds = {}, {}
for _, kind in ipairs(kinds) do counts[kind], seconds[kind] = 0, 0.0 end

-- Makes one attack. Returns the property that it found violated, or nil.
local function strike(kind)
  local began = core.clock()
  local ok, struck, mode = pcall(attack, kind, math.random, args.blows)
  seconds[kind] = seconds[kind] + core.clock() - began
  if not ok then return ("%s: %s"):format(kind, struck) end
  counts[kind] = counts[kind] + struck
  io.stderr:write(("%s (%s): %d\n"):format(kind, mode, struck))
end

local function leave_out(kind, why)
  for i, each in ipairs(kinds) do
    if each == kind then
      table.remove(kinds, i)
      io.stderr:write(("without %s: %s\n"):format(kind, why))
    end
  end
  if #kinds == 0 then error("no attack is left", 0) end
end
if not attacks.clock then leave_out("clock", "MOONRANK_CLOCK_LIBRARY does not name the library that ctest builds") end
if not os.execute "command -v mpirun >/dev/null" then leave_out("ranks", "mpirun is not there") end
math.randomseed(args.seed)
local began, made = core.clock(), 0
local problem
repeat
  problem = strike(kinds[made % #kinds + 1])
  made = made + 1
until problem or core.clock() - began >= 60 * args.minutes

local rows = {}
for i, kind in ipairs(kinds) do rows[i] = { kind, counts[kind], ("%.0f"):format(seconds[kind]) } end
print(mr.table{ columns = { "attack", "blows", "seconds" }, rows = rows })
print(("seed %d, %d attacks in %.0f s"):format(args.seed, made, core.clock() - began))
if problem then
  print("does not hold: " .. problem)
  os.exit(1)  -- the folders are kept, because their files show the cause
end
for _, each in pairs(fields) do each:close() end
