-- Attacks (kills and other faults) on a running sweep. Each attack gets the sweep under test (field.lua) and random
-- numbers, strikes at random moments until it has struck the given number of times, and returns how often it struck. It
-- raises an error if a property of the sweep's store is violated.
local core = require "moonrank.core"
local field = dofile "tests/fire/field.lua"

local M = {}

-- Signals that end a process, among them that of Ctrl-C.
local deadly = { "KILL", "KILL", "KILL", "TERM", "INT", "HUP", "SEGV", "ABRT", "QUIT" }

-- Checks the processes and the store after an attacked sweep has ended. If all trials are finished, clears the store,
-- so that the sweep begins again.
local function look(self)
  self:check_processes()
  self:check_store()
  if self:is_whole() then self:clear() end
end

local function blows(body)
  return function(self, random, count)
    local struck = 0
    for _ = 1, 20 * count do
      if struck >= count then break end
      struck = struck + body(self, random, count - struck)
      look(self)
    end
    self:finish()
    self:clear()
    return struck
  end
end

-- Waits until another trial or the process itself has ended.
local function wait_for_trial(self, process)
  local before = #field.text(self.folder .. "/ran.log")
  while process:runs() and #field.text(self.folder .. "/ran.log") == before do field.wait(0.005) end
end

---The process that runs the study ends by a signal, so long after its start or after a trial.
M.parents = blows(function(self, random)
  local process = self:start(("--workers %d"):format(random(4) - 1), "ulimit -c 0;")
  if random(2) == 1 then wait_for_trial(self, process) end
  field.wait(0.15 * random() ^ 2)
  local ran = process:runs()
  if ran then field.signal(process.id, deadly[random(#deadly)]) end
  local status = process:status()
  if not ran and status ~= 0 then error(("status %d: %s"):format(status, self:errors()), 0) end
  return ran and 1 or 0
end)

-- Returns the id of a random worker process, or false if there are none.
local function one_worker(process, random)
  local workers = process:children()
  return #workers > 0 and workers[random(#workers)]
end

-- Checks the exit status of a sweep whose workers were attacked: success, or the error that many workers in a row ended
-- before they took a trial, after which the sweep can be resumed.
local function check_end(self, process)
  local status, err = process:status(), self:errors()
  local gave_up = status == 1 and err:find "workers in a row ended before they took a trial"
  if status ~= 0 and not gave_up then error(("status %d: %s"):format(status, err), 0) end
end

-- While the sweep runs, strikes one process after another, at most `most` times, about `seconds` apart. `choose`
-- returns the process, and `strike` attacks it.
local function one_by_one(self, process, most, seconds, random, choose, strike)
  local struck = 0
  while process:runs() and struck < most do
    field.wait(seconds * (0.1 + random()))
    local id = choose()
    if id then
      strike(id)
      struck = struck + 1
    end
  end
  check_end(self, process)
  return struck
end

---Workers end by a signal, one after another.
M.workers = blows(function(self, random, count)
  local process = self:start("--workers 3", "ulimit -c 0;")
  return one_by_one(self, process, math.min(count, 20), 0.06, random, function() return one_worker(process, random) end,
    function(id) field.signal(id, deadly[random(#deadly)]) end)
end)

---Parent and workers are stopped and go on, or are killed while stopped.
M.stops = blows(function(self, random, count)
  local process = self:start "--workers 2"
  local function choose() return random(3) == 1 and process.id or one_worker(process, random) end
  return one_by_one(self, process, math.min(count, 8), 0.05, random, choose, function(id)
    field.signal(id, "STOP")
    field.wait(0.05 * random())
    field.signal(id, random(4) == 1 and id ~= process.id and "KILL" or "CONT")
  end)
end)

---A worker stays stopped: the others do the rest; the process that runs the study is killed, and takes the stopped one
---with it.
M.stopped = blows(function(self, random)
  local process = self:start "--workers 2"
  wait_for_trial(self, process)
  field.wait(0.1 * random())
  local id = one_worker(process, random)
  if id then field.signal(id, "STOP") end
  field.wait(0.2)
  field.signal(process.id, "KILL")
  process:status()
  return 1
end)

---A second process, by the store's name or a link to it: one runs the study, the other one says so.
M.two_parents = blows(function(self, random)
  self:clear()
  os.execute(("ln -sf r.db %s/link.db"):format(self.folder))
  local first = self:start "--workers 2"
  field.wait(0.03 + 0.2 * random())
  local by_link = core.is_file(self.folder .. "/r.db") and random(2) == 1
  local second = self:start("--workers 1" .. (by_link and " --store link.db" or ""), nil, "second")
  local statuses = { second:status(), first:status() }
  for i, name in ipairs{ "second", "err" } do
    local refused = statuses[i] == 1 and self:errors(name):find "another process runs the study 'study' of"
    if statuses[i] ~= 0 and not refused then error(("status %d: %s"):format(statuses[i], self:errors(name)), 0) end
  end
  local seen = {}
  for number in field.text(self.folder .. "/ran.log"):gmatch "%d+" do
    if seen[number] then error(("trial %s was done by both"):format(number), 0) end
    seen[number] = true
  end
  return 1
end)

---The store is copied while it is written: the copy is whole, and a sweep on it ends as the study does.
M.copies = blows(function(self, random)
  local process = self:start("--workers " .. random(3))
  local path, copy = self.folder .. "/r.db", self.folder .. "/copy.db"
  wait_for_trial(self, process)
  field.wait(0.1 * random())
  os.remove(copy)
  local ok, message = pcall(function() require("moonrank").results(path):copy(copy) end)
  if ok then
    for number, text in pairs(field.ended_in(copy)) do
      if text ~= self.expected[number] then error(("trial %d differs in the copy"):format(number), 0) end
    end
    local on_copy = self:start("--workers 2 --quiet --store copy.db", nil, "copied")
    if on_copy:status() ~= 0 then error("the copy does not go on: " .. self:errors "copied", 0) end
    local ended = field.ended_in(copy)
    for number, text in pairs(self.expected) do
      if text ~= ended[number] then error(("trial %d differs at the copy's end"):format(number), 0) end
    end
  elseif not message:find "is not there" and not message:find "has 0 studies"
    and not message:find "is a store of version 0" then
    error(message, 0)
  end
  if random(2) == 1 then field.signal(process.id, "KILL") end
  process:status()
  os.execute(("rm -rf %s.files"):format(copy))
  return ok and 1 or 0
end)

---Files may become no larger than some size, as on a full disk: one error, and what was there stays.
M.full = blows(function(self, random)
  local process = self:start("--workers 2 --retry 0", ("ulimit -f %d;"):format(random(300)))
  local status, err = process:status(), self:errors()
  if status ~= 0 and (status ~= 1 or not (err:find "r.db" or err:find "cannot write" or err:find "File too large")) then
    error(("status %d: %s"):format(status, err), 0)
  end
  return 1
end)

-- Path of the library of clock.cpp, which shifts the clocks of a program into which it is preloaded.
local library = os.getenv "MOONRANK_CLOCK_LIBRARY"

local function jump(self, random, count)
  local shift = self.folder .. "/shift"
  local before = ("LD_PRELOAD=%s MOONRANK_SHIFT=%s ASAN_OPTIONS=verify_asan_link_order=0"):format(library, shift)
  local process, struck = self:start("--workers 2", before), 0
  while process:runs() and struck < math.min(count, 50) do
    local file = assert(io.open(shift, "wb"))
    file:write(("<d"):pack((random() - 0.5) * 10 ^ random(0, 9)))
    file:close()
    field.wait(0.005)
    struck = struck + 1
  end
  local status = process:status()
  if status ~= 0 then error(("status %d: %s"):format(status, self:errors()), 0) end
  return struck
end

---The clocks of parent and workers jump to and fro, by up to years; nothing where the library for it is not there.
M.clock = library and library ~= "" and blows(jump)

return M
