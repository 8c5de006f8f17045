-- Attacks studies and trainings at random moments, for as long as is asked for, and prints what was done and what did not hold:
-- `MOONRANK=$PWD/build/release/moonrank MOONRANK_CLOCK=$PWD/build/release/tests/libmoonrank_clock.so build/release/moonrank tests/fire/fire.lua
-- --minutes 10`, from the root of the repository; without MOONRANK_CLOCK, the library that moves clocks, clocks are left alone.
local mr = require "moonrank"
local core = require "moonrank.core"
local attacks = dofile "tests/fire/attacks.lua"
local field = dofile "tests/fire/field.lua"
local trainings = dofile "tests/fire/trainings.lua"

local args = mr.args{ seed = 1, minutes = 10.0, blows = 20, only = "" }

local modes = { "grid", "tpe", "hyperband", "fit" }
local kinds = { "parents", "workers", "stops", "stopped", "two_parents", "copies", "full", "clock", "training", "ranks" }
local without_full = { fit = true }  -- a checkpoint that finds no room is a trial that failed

-- What is attacked, by name; made when it is first needed.
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

-- Every attack once; returns what did not hold.
local function round()
  for _, kind in ipairs(kinds) do
    if args.only == "" or ("," .. args.only .. ","):find("," .. kind .. ",", 1, true) then
      local began = core.clock()
      local ok, struck, mode = pcall(attack, kind, math.random, args.blows)
      seconds[kind] = seconds[kind] + core.clock() - began
      if not ok then return ("%s: %s"):format(kind, struck) end
      counts[kind] = counts[kind] + struck
      io.stderr:write(("%s (%s): %d\n"):format(kind, mode, struck))
    end
  end
end

local function leave_out(kind, why)
  for i, each in ipairs(kinds) do
    if each == kind then table.remove(kinds, i) end
  end
  io.stderr:write(("without %s: %s\n"):format(kind, why))
end
if not attacks.clock then leave_out("clock", "MOONRANK_CLOCK does not name the library that ctest builds") end
if not os.execute "command -v mpirun >/dev/null" then leave_out("ranks", "mpirun is not there") end
math.randomseed(args.seed)
local began, rounds, problem = core.clock(), 0, false
repeat
  problem = round() or problem
  rounds = rounds + 1
until problem or core.clock() - began >= 60 * args.minutes

local rows = {}
for i, kind in ipairs(kinds) do rows[i] = { kind, counts[kind], ("%.0f"):format(seconds[kind]) } end
print(mr.table{ columns = { "attack", "blows", "seconds" }, rows = rows })
print(("seed %d, %d rounds in %.0f s"):format(args.seed, rounds, core.clock() - began))
if problem then
  print("does not hold: " .. problem)
  os.exit(1)  -- what is left in the folders shows why
end
for _, each in pairs(fields) do each:close() end
