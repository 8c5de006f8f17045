-- Attacks training runs in one process or several: signals end them at random moments, and they are resumed from their
-- checkpoints until they finish. Model and checkpoint must then have the same bits as those of an undisturbed run.
local core = require "moonrank.core"
local field = dofile "tests/fire/field.lua"

local M = {}

local script = field.here .. "training.lua"
local deadly = { "KILL", "KILL", "TERM", "INT", "SEGV", "HUP" }

---@class fire.Training
---@field folder string
---@field ranks integer    processes
---@field files string[]   what it leaves
local Training = {}
Training.__index = Training

local launcher = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 mpirun "
  .. "--oversubscribe -n %d"

local function command_of(self, name)
  local alone = self.ranks == 1
  local before, after = alone and "" or launcher:format(self.ranks), alone and "" or "--parallel"
  return ("ulimit -c 0; exec %s %s --threads 1 %s --checkpoint %s.safetensors --out %s %s"):format(
    before, field.program, script, name, name, after)
end

local function start(self, name) return field.start(self.folder, ("sh -c '%s'"):format(command_of(self, name))) end

local function sums_of(self, name)
  local sums = { core.sha256(field.text(("%s/%s.safetensors"):format(self.folder, name))) }
  for rank = 0, self.ranks - 1 do
    sums[rank + 2] = core.sha256(field.text(("%s/%s_%d"):format(self.folder, name, rank)))
  end
  return table.concat(sums, " ")
end

---A folder for trainings by so many processes.
---@param ranks integer
function M.new(ranks)
  local self = setmetatable({ folder = field.capture("mktemp -d"):match "%S+", ranks = ranks, ended = 0 }, Training)
  local began = core.clock()
  local status = start(self, "whole"):status()
  if status ~= 0 then error(("status %d: %s"):format(status, field.text(self.folder .. "/err")), 0) end
  self.took, self.expected = core.clock() - began, sums_of(self, "whole")
  return self
end

function Training:close() os.execute("rm -rf " .. self.folder) end

-- Compares model and checkpoint of the finished run with those of an undisturbed run, then deletes them, so that the
-- run begins again.
local function compare(self)
  if sums_of(self, "fit") ~= self.expected then error("another model or checkpoint after kills", 0) end
  os.execute(("rm -f %s/fit*"):format(self.folder))
  self.ended = self.ended + 1
end

-- Returns the processes that may be attacked: the launcher, and with several processes also each of these.
local function victims(self, process)
  local all = self.ranks > 1 and process:children() or {}
  all[#all + 1] = process.id
  return all
end

---Strikes so many times; returns how often.
function Training:attack(random, count)
  local struck = 0
  for _ = 1, 20 * count do
    if struck >= count then break end
    local process = start(self, "fit")
    field.wait(0.01 + 1.1 * self.took * random())
    local ran, all = process:runs(), victims(self, process)
    if ran then field.signal(all[random(#all)], deadly[random(#deadly)]) end
    struck = struck + (ran and 1 or 0)
    local status = process:status()
    field.wait_for_end(all)
    if status == 0 then compare(self)
    elseif not ran then error(("status %d: %s"):format(status, field.text(self.folder .. "/err")), 0)
    end
  end
  self:finish()
  return struck
end

---Goes on to the end, and begins once more: then files that those that were killed were writing are gone.
function Training:finish()
  for again = 1, self.ranks == 1 and 2 or 1 do
    if again == 2 then os.execute(("find %s -name '.moonrank-*' -exec touch -d -5min {} +"):format(self.folder)) end
    local status = start(self, "fit"):status()
    if status ~= 0 then
      error(("does not go on: status %d: %s"):format(status, field.text(self.folder .. "/err")), 0)
    end
    compare(self)
  end
  local left = self.ranks == 1 and field.capture(("find %s -name '.moonrank-*'"):format(self.folder)) or ""
  if left ~= "" then error("temporary files of those that were killed are left: " .. left, 0) end
end

return M
