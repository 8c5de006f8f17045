-- Ctrl-C during long work: the program must end with status 130 within a second of processor time per thread, and leave
-- no temporary file. `MOONRANK_INTERRUPTS=all` tries all of long_work.lua and prints the times; a test run tries one in
-- three.
local sweeps = dofile "tests/support/sweeps.lua"
local programs = dofile "tests/support/program.lua"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not programs.moonrank then
  it("long work ends within a second of Ctrl-C", function() test.skip "MOONRANK does not name the program" end)
  return
end

local all = os.getenv "MOONRANK_INTERRUPTS" == "all"
local most_seconds <const>, most_wait <const>, lines <const> = 1.0, 60, 300000

local function script_of(folder, each)
  if each.line then
    local text = {}
    for i = 1, lines do text[i] = each.line(i) end
    sweeps.write(folder .. "/file", table.concat(text))
  end
  return table.concat({ "local mr, core = require 'moonrank', require 'moonrank.core'",
    ("local folder, file = %q, %q"):format(folder, folder .. "/file"), each.before or "",
    "print 'ready' io.stdout:flush()", each.during }, "\n")
end

local start = [[cd %s
%s s.lua >out 2>err &
echo $! >pid
wait $!
echo $? >code
times >times
mv code status
]]

local function wait_until(seconds, what)
  local began = core.clock()
  while core.clock() - began < seconds do
    if what() then return true end
    core.wait_for({}, 0.01)
  end
end

local function spent_in_all(folder)
  local total = 0
  local second = sweeps.read(folder .. "/times"):match "\n(.*)"
  for minutes, seconds in second:gmatch "(%d+)m([%d.]+)s" do
    total = total + 60 * tonumber(minutes) + tonumber(seconds)
  end
  return total
end

local function interrupted(folder, each)
  sweeps.write(folder .. "/s.lua", script_of(folder, each))
  sweeps.write(folder .. "/start.sh", start:format(folder, programs.moonrank))
  os.execute(("sh %s/start.sh >/dev/null 2>&1 &"):format(folder))
  local function ended() return sweeps.read(folder .. "/status") ~= "" end
  wait_until(most_wait, function() return sweeps.read(folder .. "/out"):find "ready" or ended() end)
  core.wait_for({}, 0.3)
  check(not ended(), ("%s: it ended by itself: %s"):format(each[1], sweeps.read(folder .. "/err")))
  local id = math.tointeger(tonumber(sweeps.read(folder .. "/pid")))
  local before, began = sweeps.spent_by(id), core.clock()
  sweeps.signal(id, "INT")
  local answered = wait_until(most_wait, ended)
  local took = core.clock() - began
  if not answered then sweeps.signal(id, "KILL") end
  check(answered, ("%s: no answer in %d s"):format(each[1], most_wait))
  equal(sweeps.read(folder .. "/status"), "130\n", each[1] .. ": " .. sweeps.read(folder .. "/err"))
  return took, spent_in_all(folder) - before
end

for i, each in ipairs(dofile "tests/faults/long_work.lua") do
  if all or i % 3 == 0 then
    it(each[1] .. " ends within a second of Ctrl-C", function()
      if each.needs == "xgboost" and not pcall(core.xgboost_version) then
        return test.skip "XGBoost's library is not there"
      end
      if each.needs == "gnuplot" and not programs.has_gnuplot() then return test.skip "gnuplot is not there" end
      sweeps.in_folder(function(folder)
        local took, spent = interrupted(folder, each)
        if all then print(("%-40s %5.2f s, %5.2f s of the processor"):format(each[1], took, spent)) end
        check(spent < most_seconds * core.threads(),
          ("%s: %.2f s of the processor until it ended"):format(each[1], spent))
        for _, name in ipairs(core.list_folder(folder)) do
          check(not name:find "^%.moonrank", ("%s: left %s"):format(each[1], name))
        end
      end)
    end)
  end
end
