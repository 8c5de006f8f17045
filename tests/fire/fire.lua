-- Attacks studies at random moments, for as long as is asked for, and prints what was done and what did not hold.
-- `moonrank tests/fire/fire.lua --minutes 10` (from the root of the repository).
local mr = require "moonrank"
local core = require "moonrank.core"
local attacks = dofile "tests/fire/attacks.lua"
local field = dofile "tests/fire/field.lua"

local args = mr.args{ seed = 1, kills = 200, minutes = 0.0, only = "", clock = "" }

local studies = { "grid", "tpe", "hyperband", "fit" }
local kinds = { "parents", "workers", "stops", "stopped", "two_parents", "copies", "full" }
if args.clock ~= "" then
  attacks.clock = attacks.clock(args.clock)
  kinds[#kinds + 1] = "clock"
end

math.randomseed(args.seed)
local fields, counts, rounds = {}, {}, 0
for _, mode in ipairs(studies) do fields[mode] = field.new(mode) end
local began = core.clock()
local problem

local function round()
  for _, kind in ipairs(kinds) do
    if args.only == "" or args.only == kind then
      local mode = studies[math.random(#studies - (kind == "full" and 1 or 0))]
      local at = core.clock()
      local ok, message = pcall(attacks[kind], fields[mode], math.random, math.max(1, args.kills // 20))
      if not ok then return ("%s, mode %s: %s (%s)"):format(kind, mode, message, fields[mode].folder) end
      counts[kind] = (counts[kind] or 0) + message
      print(kind, mode, message, ("%.1f"):format(core.clock() - at))
    end
  end
end

repeat
  problem = round()
  rounds = rounds + 1
until problem or core.clock() - began >= 60 * args.minutes

local rows = {}
for _, kind in ipairs(kinds) do rows[#rows + 1] = { kind, counts[kind] or 0 } end
print(mr.table{ columns = { "attack", "blows" }, rows = rows })
print(("%d rounds in %.0f s"):format(rounds, core.clock() - began))
if problem then
  print("does not hold: " .. problem)
  os.exit(1)
end
for _, each in pairs(fields) do each:close() end
