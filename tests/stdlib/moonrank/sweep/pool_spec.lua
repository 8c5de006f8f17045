-- Faults of a worker: invalid messages, being stopped, ending late, any error. Its trial is lost at most.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

if not sweeps.moonrank then
  it("pool", function() test.skip "MOONRANK does not name the program" end)
  return
end

-- Trial 3 does what `oops` says, the others return their number.
local script = [[
local mr = require "moonrank"
local core = require "moonrank.core"
local frame = require "moonrank.sweep.frame"
local args = mr.args{ oops = "", retry = 0, workers = 2, trials = 6 }
local role = require("moonrank.sweep.worker").role()
local deep = {}
for _ = 1, 100 do deep = { deep } end
local garbage = {
  text = "a library says that something is deprecated", nothing = "", number = frame.pack(7), kind = frame.pack{ kind = "quit" },
  count = "T" .. ("<i8"):pack(1 << 62), more = frame.pack{ kind = "report", report = { step = 1, values = {} } } .. "x",
  deep = frame.pack{ kind = "report", report = { step = 1, values = deep } },
  report = frame.pack{ kind = "report", report = { step = "x", values = {} } },
  reported = frame.pack{ kind = "report", report = { step = 1, values = { ndcg = "x" } } },
  again = frame.pack{ kind = "ready", fingerprint = "other", numerics = "other" }, outcome = frame.pack{ kind = "end" },
  state = frame.pack{ kind = "end", outcome = { state = "won", value = 1.0 } },
  value = frame.pack{ kind = "end", outcome = { state = "done" } },
  numbers = frame.pack{ kind = "end", outcome = { state = "done", value = 1.0, numbers = { a = "x" } } },
  lists = frame.pack{ kind = "end", outcome = { state = "done", value = 1.0, lists = { a = 7 } } },
  data = frame.pack{ kind = "end", outcome = { state = "done", value = 1.0, data = { { role = "train", fingerprint = {} } } } },
  reason = frame.pack{ kind = "end", outcome = { state = "failed", reason = {} } },
}
local oops = {
  memory = function()
    local kept, text = {}, ("x"):rep(100000000)
    for i = 1, 1000 do kept[i] = text .. i end
  end,
  handler = function() debug.traceback = error; error "first" end,
  empty = function() error() end,
  object = function() error(setmetatable({}, { __name = {} })) end,
  raising = function() error(setmetatable({}, { __tostring = function() error "more" end })) end,
  result = function() return setmetatable({}, { __index = function() error {} end, __pairs = function() error {} end }) end,
  escapes = function() error("\27[2Jgone", 0) end,
  idle = function() core.wait_for({}, 600) end,
  stubborn = function() while true do pcall(core.wait_for, {}, 600) end end,
}
print(mr.sweep{ name = "study", store = "r.db", workers = args.workers, retry = args.retry, progress = false, metric = "ndcg",
  trials = args.trials, space = { x = mr.range(1, 6) }, run = function(trial)
    if trial.x == 3 and trial.attempt == 1 then
      if oops[args.oops] then return oops[args.oops]() end
      role.channel:send(garbage[args.oops])
      core.wait_for({}, 600)
    end
    return trial.x
  end })
]]

local function in_folder(body) sweeps.in_folder(body, script) end

-- State and reason of the trial that went wrong.
local function third(folder)
  local rows = mr.results(folder .. "/r.db"):trials{ columns = { "state", "reason" }, where = { x = 3 } }.rows
  return rows[1][1], rows[1][2]
end

local kinds = { "text", "nothing", "number", "kind", "count", "more", "deep", "report", "reported", "again", "outcome", "state", "value",
  "numbers", "lists", "data", "reason" }

it("a worker that sends what is no message costs its trial", function()
  for _, kind in ipairs(kinds) do
    in_folder(function(folder)
      local status, _, err = sweeps.run(folder, "sweep.lua", "--trials 3 --oops " .. kind)
      equal(status, 0, kind .. ": " .. err)
      local state, reason = third(folder)
      equal(state, "killed", kind)
      equal(reason, "its process ended: what it sent is no message, so it was ended", kind)
      equal(mr.results(folder .. "/r.db"):counts(), { done = 2, killed = 1 }, kind)
    end)
  end
end)

it("and where trials are tried again, it is done again", function()
  in_folder(function(folder)
    equal((sweeps.run(folder, "sweep.lua", "--oops text --retry 1")), 0)
    equal(mr.results(folder .. "/r.db"):counts(), { done = 6 })
  end)
end)

it("every failure has a reason, in workers and without", function()
  local said = { memory = "not enough memory", handler = "error in error handling",
    empty = "(error object is a nil value)", object = "(error object is a table value)",
    raising = "(error object is a table value)", result = "(error object is a table value)", escapes = "\27[2Jgone" }
  -- the sanitizers' allocator takes no limit
  if sweeps.read "/proc/self/maps":find "lib[at]san" then said.memory = nil end
  for kind, expected in pairs(said) do
    for _, workers in ipairs{ 0, 1 } do
      in_folder(function(folder)
        local status, _, err = sweeps.run(folder, "sweep.lua", ("--oops %s --workers %d"):format(kind, workers),
          kind == "memory" and "ulimit -v 4000000;" or "")
        equal(status, 0, kind .. ": " .. err)
        local state, reason = third(folder)
        equal(state, "failed", kind)
        equal(reason, expected, kind)
        local _, shown = sweeps.run(folder, "results", "r.db")
        check(shown:find(core.safe_text("trial 3 failed: " .. expected), 1, true), shown)
        check(not shown:find "\27", "no escapes")
      end)
    end
  end
end)

-- Starts a sweep, waits until all but the third trial have ended, and gives the number of its process.
local function start(folder, oops, workers)
  local id = sweeps.start(folder, "sweep.lua", ("--oops %s --workers %d"):format(oops, workers))
  for _ = 1, 2000 do
    local counts = core.file_exists(folder .. "/r.db") and select(2, pcall(function() return mr.results(folder .. "/r.db"):counts() end))
    if type(counts) == "table" and counts.done == 5 and counts.running == 1 then return id end
    sweeps.wait(0.01)
  end
  error "the others do not end"
end

it("Ctrl-C ends a sweep whose workers are stopped, and those that do not end by themselves", function()
  for oops, most in pairs{ idle = 8, stubborn = 25 } do
    in_folder(function(folder)
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
    end)
  end
end)

it("shows names from a store so that a terminal only shows them", function()
  in_folder(function(folder)
    sweeps.write(folder .. "/names.lua", [[
local mr = require "moonrank"
mr.sweep{ name = "a\27]0;owned\7\xff", store = "n.db", workers = 0, space = { x = mr.choice{ "\27[2J\n", "plain" } },
  run = function() return 1 end }
print(mr.results "n.db")
print(mr.results "n.db":trials())
]])
    local status, out, err = sweeps.run(folder, "names.lua")
    equal(status, 0, err)
    local _, results = sweeps.run(folder, "results", "n.db")
    for name, text in pairs{ script = out, progress = err, results = results } do
      check(not text:find "[\27\7\xff\xfe]", name .. ": " .. text)
      check(text:find([[a\x1b]0;owned\x07\xff]], 1, true), name .. ": " .. text)
    end
    check(results:find([[\x1b[2J\n]], 1, true), results)
  end)
end)
