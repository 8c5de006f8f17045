-- A sweep over the processes (ranks) that mpirun or srun started together. Rank 0 runs the study. Every rank has one
-- worker, a separate process, so that a trial that crashes does not end the whole job. All ranks except 0 start their
-- worker, forward its messages, and stay in mr.sweep until rank 0 ends.
local core = require "moonrank.core"
local check = require "moonrank.check"
local command = require "moonrank.sweep.workers.command"
local frame = require "moonrank.sweep.frame"
local gpus = require "moonrank.sweep.workers.gpus"
local process = require "moonrank.sweep.workers.process"

local M = {}

local pause = 0.002  -- seconds between polls of MPI, because the system cannot wait for MPI and for channels together

---Returns the rank of this process if mpirun or srun started several; nil if the process is alone.
---@return integer? rank
function M.rank()
  local rank, size = core.launched()
  return size > 1 and rank or nil
end

local function received() return core.cluster_receive() end

-- Returns the seconds between the messages with which a rank shows that it is alive.
local function beat_after(silence) return math.min(5, silence / 10) end

-- Returns the command line and the environment variables of the worker that this rank starts.
local function here()
  local _, _, local_rank, local_size = core.cluster_join "trials"
  local words, why = command.words(math.min(core.cores(), math.max(1, core.machine_cores() // local_size)))
  if not words then check.fail("mr.sweep: %s", why) end
  return words, gpus.variables(local_rank + 1)
end

-- Executes a request of rank 0 in another rank: starts its worker, or passes it a message or a signal.
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

-- Forwards messages of this rank's worker to rank 0, and reports to rank 0 how the worker ended.
local function pass_on(state)
  local worker = state.worker
  if not worker then return end
  for bytes in worker.receive, worker do tell(state, { kind = "pass", bytes = bytes }) end
  if worker:ended() then
    state.worker = nil
    tell(state, { kind = "ended", how = worker:how() })
  end
end

---Serves rank 0 in every other rank: starts a worker for each sweep of the script, and forwards messages between the
---worker and rank 0. It does not return; the process exits when rank 0 has ended.
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

-- Rank 0's object for the worker of another rank. It has the methods of mr.sweep.Process.
local Remote = check.class("mr.sweep.Remote")
Remote.ending = false

function Remote:_tell(message) core.cluster_send(self.runner.rank, frame.pack(message)) end
function Remote:send(bytes) self:_tell{ kind = "pass", bytes = bytes } end
function Remote:signal(name) self:_tell{ kind = "signal", name = name } end
function Remote.descriptor() return nil end
function Remote.unsent() return false end
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

-- Receives the messages of all ranks. A rank that has been silent for too long is marked as lost.
function Ranks:_collect()
  local now = core.clock()
  for from, bytes in received do
    local runner, message = self.runners[from + 1], frame.unpack(bytes)
    runner.heard = now
    if runner.worker and message.kind == "pass" then table.insert(runner.worker.inbox, message.bytes)
    elseif runner.worker and message.kind == "ended" then runner.worker.ending = message.how
    end
  end
  for rank = 1, #self.runners - 1 do
    local runner = self.runners[rank + 1]
    if not runner.lost and now - runner.heard > self.silence then
      runner.lost = true
      core.cluster_lose(rank)
      if runner.worker then runner.worker.ending = ("rank %d has not answered for %g s"):format(rank, self.silence) end
    end
  end
  self:_beat(now)
end

function Ranks:_beat(now)
  if now - self.said < beat_after(self.silence) then return end
  self.said = now
  for rank = 1, #self.runners - 1 do core.cluster_send(rank, frame.pack{ kind = "alive" }) end
end

local function start_remote(runner, log, call)
  runner.worker = setmetatable({ runner = runner, ranks = runner.ranks, inbox = {} }, Remote)
  runner.worker:_tell{ kind = "start", log = log, call = call }
  return runner.worker
end

local known

---Returns runners that start each rank's worker, and the seconds between polls. Only rank 0 may call it.
---@param silence number  seconds without a message after which a rank counts as lost
---@return mr.sweep.Runner[] runners, number pause
function M.runners(silence)
  local _, size = core.cluster_join "trials"
  local words, variables = here()
  known = known
    or setmetatable({ said = 0, runners = process.runners(1, words, function() return variables end) }, Ranks)
  known.silence = silence
  for rank = 1, size - 1 do
    local runner = known.runners[rank + 1] or { rank = rank, ranks = known, start = start_remote, lost = false }
    runner.heard = core.clock()
    known.runners[rank + 1] = runner
  end
  return known.runners, pause
end

return M
