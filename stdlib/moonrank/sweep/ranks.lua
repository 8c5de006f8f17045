-- A sweep over the processes that mpirun or srun started together. Rank 0 runs the study; every rank has one worker, a process of its own, so
-- that a trial that takes its process with it does not end the job. The other ranks start those workers and pass messages on; they stay in
-- mr.sweep until rank 0 ends.
local core = require "moonrank.core"
local check = require "moonrank.check"
local command = require "moonrank.sweep.command"
local frame = require "moonrank.sweep.frame"
local gpus = require "moonrank.sweep.gpus"
local process = require "moonrank.sweep.process"

local M = {}

local pause = 0.002  -- seconds between looks at MPI, which cannot be waited for together with channels

---Whether this process is one of several, and which: 0 or more; nil where it is alone.
---@return integer? rank
function M.rank()
  local rank, size = core.launched()
  return size > 1 and rank or nil
end

local function received() return core.cluster_receive() end

-- What is sent again and again so that silence means something.
local function beat_after(silence) return math.min(5, silence / 10) end

-- This rank's own worker: how it is started.
local function here()
  local _, _, local_rank, local_size = core.cluster_join "trials"
  local words, why = command.words(math.min(core.cores(), math.max(1, core.machine_cores() // local_size)))
  if not words then check.fail("mr.sweep: %s", why) end
  return words, gpus.variables(local_rank + 1)
end

-- What rank 0 asks for.
local function obey(state, message)
  local worker = state.worker
  if message.kind == "start" then
    core.make_folder(message.log)
    state.worker = process.start(state.words, state.variables, message.log, message.call)
  elseif worker and message.kind == "pass" then worker:send(message.bytes)
  elseif worker and message.kind == "signal" then worker:signal(message.name)
  end
end

local function tell(state, message)
  core.cluster_send(0, frame.pack(message))
  state.said = core.clock()
end

-- What the worker says goes to rank 0.
local function pass_on(state)
  local worker = state.worker
  if not worker then return end
  for bytes in worker.receive, worker do tell(state, { kind = "pass", bytes = bytes }) end
  if worker:ended() then
    state.worker = nil
    tell(state, { kind = "ended", how = worker:how() })
  end
end

---In a rank other than 0: runs a worker for rank 0, for every sweep of the script, until rank 0 ends; does not return.
---@param silence number  seconds after which rank 0 counts as lost while it has a worker here
function M.serve(silence)
  local words, variables = here()
  local state = { words = words, variables = variables, heard = core.clock(), said = core.clock() }
  while true do
    core.wait_for({ state.worker and state.worker:descriptor() }, pause)
    for _, bytes in received do
      if bytes == "" then os.exit(0) end
      state.heard = core.clock()
      obey(state, frame.unpack(bytes))
    end
    pass_on(state)
    local now = core.clock()
    if now - state.said > beat_after(silence) then tell(state, { kind = "alive" }) end
    if state.worker and now - state.heard > silence then
      core.cluster_lose(0)
      os.exit(1)
    end
  end
end

---@class mr.sweep.Ranks
local Ranks = check.class("mr.sweep.Ranks")

-- The worker of another rank, as mr.sweep.Process.
local Remote = check.class("mr.sweep.Remote")
Remote.ending = false

function Remote:_tell(message) core.cluster_send(self.place.rank, frame.pack(message)) end
function Remote:send(bytes) self:_tell{ kind = "pass", bytes = bytes } end
function Remote:signal(name) self:_tell{ kind = "signal", name = name } end
function Remote.descriptor() return nil end
function Remote:ended() return #self.inbox == 0 and self.ending ~= false end

function Remote:receive()
  self.ranks:_collect()
  return table.remove(self.inbox, 1)
end

function Remote:how()
  while not self.ending do
    self.ranks:_collect()
    core.wait_for({}, pause)
  end
  return self.ending
end

-- Takes what has come from all ranks, and notes who has been silent for too long.
function Ranks:_collect()
  local now = core.clock()
  for from, bytes in received do
    local place, message = self.places[from + 1], frame.unpack(bytes)
    place.heard = now
    if place.worker and message.kind == "pass" then table.insert(place.worker.inbox, message.bytes)
    elseif place.worker and message.kind == "ended" then place.worker.ending = message.how
    end
  end
  for rank = 1, #self.places - 1 do
    local place = self.places[rank + 1]
    if not place.lost and now - place.heard > self.silence then
      place.lost = true
      core.cluster_lose(rank)
      if place.worker then place.worker.ending = ("rank %d has not answered for %g s"):format(rank, self.silence) end
    end
  end
  self:_beat(now)
end

function Ranks:_beat(now)
  if now - self.said < beat_after(self.silence) then return end
  self.said = now
  for rank = 1, #self.places - 1 do core.cluster_send(rank, frame.pack{ kind = "alive" }) end
end

local function start_remote(place, log, call)
  place.worker = setmetatable({ place = place, ranks = place.ranks, inbox = {} }, Remote)
  place.worker:_tell{ kind = "start", log = log, call = call }
  return place.worker
end

local known

---In rank 0: where workers can run, one place per rank, and how many seconds to wait between looks at them.
---@param silence number  seconds after which a rank that says nothing counts as lost
---@return mr.sweep.Place[] places, number pause
function M.places(silence)
  local _, size = core.cluster_join "trials"
  local words, variables = here()
  known = known or setmetatable({ said = 0, places = process.places(1, words, function() return variables end) }, Ranks)
  known.silence = silence
  for rank = 1, size - 1 do
    local place = known.places[rank + 1] or { rank = rank, ranks = known, start = start_remote, lost = false }
    place.heard = core.clock()
    known.places[rank + 1] = place
  end
  return known.places, pause
end

return M
