-- Tests faults of a worker process: invalid messages, stopping, late messages and errors. A fault may cost one trial at
-- most.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

if sweeps.is_skipped "pool" then return end

-- A sweep in which trial 3 commits the fault that `oops` names, and other trials return their number.
local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local frame = require "moonrank.sweep.frame"
local args = mr.args{ oops = "", retry = 0, workers = 2, trials = 6, points = 6 }
local role = require("moonrank.sweep.workers.worker").role()
local deep = {}
for _ = 1, 100 do deep = { deep } end
local turn = 0  -- of this process's trials
local function report(values)
  return frame.pack{ kind = "report", turn = turn, report = { step = 1, values = values } }
end
local garbage = {
  text = function() return "a library says that something is deprecated" end, nothing = function() return "" end,
  number = function() return frame.pack(7) end, kind = function() return frame.pack{ kind = "quit" } end,
  count = function() return "T" .. ("<i8"):pack(1 << 62) end, more = function() return report{} .. "x" end,
  deep = function() return report(deep) end,
  again = function() return frame.pack{ kind = "ready", fingerprint = "other", numerics = "other" } end,
  no_turn = function() return frame.pack{ kind = "end", outcome = { state = "done", value = 1.0 } } end,
  other_turn = function()
    return frame.pack{ kind = "end", turn = turn + 1, outcome = { state = "done", value = 1.0 } }
  end,
}
local kinds = {}
for kind in pairs(garbage) do kinds[#kinds + 1] = kind end
table.sort(kinds)
local oops = {
  memory = function()
    local kept, text = {}, ("x"):rep(100000000)
    for i = 1, 1000 do kept[i] = text .. i end
  end,
  handler = function() debug.traceback = error; error "first" end,
  empty = function() error() end,
  object = function() error(setmetatable({}, { __name = {} })) end,
  raising = function() error(setmetatable({}, { __tostring = function() error "more" end })) end,
  result = function()
    return setmetatable({}, { __index = function() error {} end, __pairs = function() error {} end })
  end,
  escapes = function() error("\27[2Jgone", 0) end,
  idle = function() core.wait_for({}, 600) end,
  stubborn = function() while true do pcall(core.wait_for, {}, 600) end end,
  interrupted = function() error("interrupted", 0) end,
  long = function() error(("x"):rep(300000), 0) end,
}
print(mr.sweep{ name = "study", store = "r.db", workers = args.workers, retry = args.retry, progress = false,
  metric = "ndcg", trials = args.trials, space = { x = mr.range(1, args.points) }, run = function(trial)
    turn = turn + 1
    if args.oops == "late" and turn > 1 then
      role.channel:send(frame.pack{ kind = "end", turn = turn - 1, outcome = { state = "done", value = -1.0 } })
      core.wait_for({}, 600)
    end
    if trial.x == 3 and trial.attempt == 1 then
      if oops[args.oops] then return oops[args.oops]() end
      if garbage[args.oops] then
        role.channel:send(garbage[args.oops]())
        core.wait_for({}, 600)
      end
    end
    if args.oops == "each" and kinds[trial.x] then
      local log = io.open("kinds.log", "a")
      log:write(trial.x, " ", kinds[trial.x], "\n")
      log:close()
      role.channel:send(garbage[kinds[trial.x] ]())
      core.wait_for({}, 600)
    end
    return trial.x
  end })
]]

local function new_folder() return sweeps.new_folder(script) end

-- Returns the state and the reason of trial 3, in which the fault happened.
local function third(folder)
  local rows = mr.results(folder .. "/r.db"):trials{ columns = { "state", "reason" }, where = { x = 3 } }.rows
  return rows[1][1], rows[1][2]
end

it("mr.sweep loses only the trial of a worker that sends an invalid message", function()
  local folder = new_folder()
  local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 12 --points 12 --oops each")
  equal(status, 0, err)
  local kinds, count = {}, 0
  for number, kind in sweeps.read(folder .. "/kinds.log"):gmatch "(%d+) ([%w_]+)" do
    kinds[math.tointeger(tonumber(number))], count = kind, count + 1
  end
  check(count >= 10, count .. " kinds")
  local rows = mr.results(folder .. "/r.db"):trials{ columns = { "x", "state", "reason" } }.rows
  for _, row in ipairs(rows) do
    local kind = kinds[row[1]]
    equal(row[2], kind and "killed" or "done", kind)
    if kind then check(row[3]:find "message", kind) end
  end
  equal(#rows, 12)
end)

it("mr.sweep with retry runs the trial again after an invalid message", function()
  local folder = new_folder()
  equal((sweeps.run(folder, "sweep.lua", "--oops text --retry 1")), 0)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 6 })
end)

it("mr.sweep ignores a late message about an earlier trial of a worker", function()
  local folder = new_folder()
  local status, _, err = sweeps.run(folder, "sweep.lua", "--oops late --retry 9 --workers 1 --trials 4")
  equal(status, 0, err)
  -- only the first trial of each worker process succeeds
  local rows = mr.results(folder .. "/r.db"):trials{ columns = { "x", "value", "attempts" } }.rows
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  equal(rows, { { 1, 1, 1 }, { 2, 2, 2 }, { 3, 3, 2 }, { 4, 4, 2 } })
end)

it("mr.sweep ends an interrupted worker and runs its trial again", function()
  local folder = new_folder()
  local status, _, err = sweeps.run(folder, "sweep.lua", "--oops interrupted")
  equal(status, 0, err)
  local state, reason = third(folder)
  check(state == "killed" and reason:find "interrupted", reason)
  os.execute(("rm -rf %s/r.db*"):format(folder))
  -- the trial may be given to the other worker before that worker notices its own interruption
  local id = sweeps.start(folder, "sweep.lua", "--oops idle --retry 2")
  for _ = 1, 2000 do
    local log = folder .. "/r.db.files/study/worker_%d.log"
    local logs = sweeps.read(log:format(1)) .. sweeps.read(log:format(2))
    if logs:find "trial 3" then break end
    sweeps.wait(0.01)
  end
  for _, each in ipairs(sweeps.children(id)) do sweeps.signal(each, "INT") end
  status, err = sweeps.finish(folder)
  equal(status, 0, err)
  equal(mr.results(folder .. "/r.db"):counts(), { done = 6 })
end)

it("mr.sweep keeps the first 65536 bytes of a long error message", function()
  for _, workers in ipairs{ 0, 1 } do
    local folder = new_folder()
    local status, _, err = sweeps.run(folder, "sweep.lua", "--oops long --workers " .. workers)
    equal(status, 0, err)
    local state, reason = third(folder)
    equal({ state, #reason }, { "failed", 65536 })
  end
end)

it("mr.sweep records a reason for every kind of failure, with and without workers", function()
  local said = { memory = "not enough memory", handler = "error in error handling",
    empty = "(error object is a nil value)", object = "(error object is a table value)",
    raising = "(error object is a table value)", result = "(error object is a table value)", escapes = "\27[2Jgone" }
  -- the memory allocator of sanitizers ignores limits on memory
  if sweeps.read "/proc/self/maps":find "lib[at]san" then said.memory = nil end
  for kind, expected in pairs(said) do
    for _, workers in ipairs{ 0, 1 } do
      local folder = new_folder()
      local status, _, err = sweeps.run(folder, "sweep.lua", ("--oops %s --workers %d"):format(kind, workers),
        -- CUDA reserves more address space than the limit
        kind == "memory" and "ulimit -v 2000000; MOONRANK_DEVICE=cpu" or "")
      equal(status, 0, kind .. ": " .. err)
      local state, reason = third(folder)
      equal(state, "failed", kind)
      equal(reason, expected, kind)
      local _, shown = sweeps.run(folder, "results", "r.db")
      check(shown:find(core.safe_text("trial 3 failed: " .. expected), 1, true), shown)
      check(not shown:find "\27", "no escapes")
    end
  end
end)

-- Starts a sweep, waits until all trials except the third have ended, and returns its process id.
local function start(folder, oops, workers)
  local id = sweeps.start(folder, "sweep.lua", ("--oops %s --workers %d"):format(oops, workers))
  for _ = 1, 2000 do
    local path, counts = folder .. "/r.db", nil
    if core.file_exists(path) then counts = select(2, pcall(function() return mr.results(path):counts() end)) end
    if type(counts) == "table" and counts.done == 5 and counts.running == 1 then return id end
    sweeps.wait(0.01)
  end
  error "the others do not end"
end

it("Ctrl-C ends mr.sweep with stopped or unresponsive workers", function()
  for oops, most in pairs{ idle = 8, stubborn = 25 } do
    local folder = new_folder()
    local id = start(folder, oops, 2)
    local workers = sweeps.children(id)
    for _, each in ipairs(workers) do sweeps.signal(each, "STOP") end
    sweeps.signal(id, "INT")
    local began = core.clock()
    local status, err = sweeps.finish(folder)
    equal(status, 130, err)
    check(core.clock() - began < most, ("%s: %.1f s"):format(oops, core.clock() - began))
    equal((third(folder)), "interrupted", oops)
    for _, each in ipairs(workers) do equal(sweeps.read(("/proc/%d/cmdline"):format(each)), "") end
  end
end)

it("results print names from a store without control characters", function()
  local folder = new_folder()
  sweeps.write(folder .. "/names.lua", [[
local mr = require "moonrank"
mr.sweep{ name = "a\27]0;owned\7\u{9b}", store = "n.db", workers = 0, metric = "value", direction = "maximize",
  space = { x = mr.choice{ "\27[2J\n", "plain" } },
  run = function() return 1 end }
print(mr.results "n.db")
print(mr.results "n.db":trials())
]])
  local status, out, err = sweeps.run(folder, "names.lua")
  equal(status, 0, err)
  local _, results = sweeps.run(folder, "results", "n.db")
  for name, text in pairs{ script = out, progress = err, results = results } do
    check(not text:find "[\27\7\xff\xfe]", name .. ": " .. text)
    check(text:find([[a\x1b]0;owned\x07]], 1, true), name .. ": " .. text)
  end
  check(results:find([[\x1b[2J\n]], 1, true), results)
end)
