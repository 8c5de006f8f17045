-- Lets several programs work in turn: each is a process that runs its work when it is told to, and prints how long it
-- took. A machine that slows down thus slows all of them. native.lua uses this. peers/turns.py and peers/limits.cpp are
-- the counterparts in the compared programs.
local core = require "moonrank.core"

local M = {}

local Program = {}
Program.__index = Program

-- Returns the last unindented line of a file, such as "ValueError: ...", cut to 100 bytes.
local function reason_in(path)
  local last
  for line in io.lines(path) do last = line:match "^%S.*" or last end
  return last and #last > 100 and last:sub(1, 97) .. "..." or last
end

---Starts a program, and returns it when it is ready for its first turn. `path` is for its files: a pipe for what it is
---told, and its errors. A program that fails has the field `reason`, and takes no turns. It is killed `minutes` after
---its start (30 if nil), waiting included.
function M.start(command, path, minutes)
  minutes = minutes or 30
  local orders, errors = path .. ".orders", path .. ".errors"
  os.remove(orders)
  assert(os.execute(("mkfifo '%s'"):format(orders)))
  local from = assert(io.popen(("timeout --foreground %d %s <'%s' 2>'%s'"):format(60 * minutes, command, orders,
    errors)))
  -- The pipe is also opened for reading: so opening it does not wait for the other end, and writing to it is not an
  -- error after the other end has closed. It is opened after the program has started, which would inherit it and then
  -- not notice that this process ends.
  local to = assert(io.open(orders, "r+"))
  local self = setmetatable({ to = to, from = from, errors = errors, wall = {}, cpu = {} }, Program)
  self.minutes = minutes
  repeat
    local line = from:read "l"
    if not line then return self:_fail() end
  until line == "ready"
  return self
end

function Program:_fail()
  core.check_interrupt()
  local _, _, status = self.from:close()
  self.to:close()
  self.reason = "failed: " .. (status == 124 and ("ended after %d minutes"):format(self.minutes)
    or reason_in(self.errors) or "status " .. status)
  return self
end

---Lets the program work once. Its seconds are added to the fields `wall` and `cpu`; `peak` is its largest memory so
---far, in KiB.
function Program:turn()
  self:_begin()
  self:_finish()
end

function Program:_begin()
  if self.reason then return end
  self.to:write "go\n"
  self.to:flush()
end

function Program:_finish()
  if self.reason then return end
  local line = self.from:read "l"
  local wall, cpu, peak = (line or ""):match "^(%S+) (%S+) (%S+)$"
  if not tonumber(wall) then return self:_fail() end
  table.insert(self.wall, tonumber(wall))
  table.insert(self.cpu, tonumber(cpu))
  self.peak = tonumber(peak)
end

---Lets two programs work at the same time.
function M.together(one, other)
  one:_begin()
  other:_begin()
  one:_finish()
  other:_finish()
end

---Ends the program.
function Program:stop()
  if self.reason then return end
  self.to:write "end\n"
  self.to:flush()
  self.from:close()
  self.to:close()
end

-- Returns the most memory that this process has had, in KiB.
local function peak()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmHWM:%s*(%d+)"
    if kib then return kib end
  end
end

---Serves turns in this process, the other side of `start`. A turn repeats `work` `repeats` times (default 1). The times
---are those of one of the `count` equal parts (default 1) of one repeat.
function M.serve(work, count, repeats)
  local parts = (count or 1) * (repeats or 1)
  io.stdout:setvbuf "line"
  print "ready"
  for line in io.lines() do
    if line ~= "go" then break end
    local wall, cpu = core.clock(), os.clock()
    for _ = 1, repeats or 1 do work() end
    wall, cpu = core.clock() - wall, os.clock() - cpu
    print(("%.9f %.9f %s"):format(wall / parts, cpu / parts, peak()))
  end
end

return M
