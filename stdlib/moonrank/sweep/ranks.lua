-- A sweep over the processes that mpirun or srun started together. Rank 0 runs the study. Every rank has one worker,
-- which is a process of its own, so that a trial that crashes does not end the job. The other ranks start their workers
-- and forward messages. They stay in mr.sweep until rank 0 ends.
local core = require "moonrank.core"
local check = require "moonrank.check"
local command = require "moonrank.sweep.command"
local frame = require "moonrank.sweep.frame"
local gpus = require "moonrank.sweep.gpus"
local process = require "moonrank.sweep.process"

local M = {}

local pause = 0.002  -- seconds between polls of MPI; the system cannot wait for MPI and channels together

---Returns the rank of this process (0 or more) if it is one of several; nil if it is alone.
---@return integer? rank
function M.rank()
  local rank, size = core.launched()
  return size > 1 and rank or nil
end

local function received() return core.cluster_receive() end

-- Seconds between messages that show that a rank is alive.
local function beat_after(silence) return math.min(5, silence / 10) end

-- The command line and the environment of this rank's worker.
local function here()
  local _, _, local_rank, local_size = core.cluster_join "trials"
  local words, why = command.words(math.min(core.cores(), math.max(1, core.machine_cores() // local_size)))
  if not words then check.fail("mr.sweep: %s", why) end
  return words, gpus.variables(local_rank + 1)
end

-- Does what rank 0 requests.
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

-- Forwards the worker's messages to rank 0.
local function pass_on(state)
  local worker = state.worker
  if not worker then return end
  for bytes in worker.receive, worker do tell(state, { kind = "pass", bytes = bytes }) end
  if worker:ended() then
    state.worker = nil
    tell(state, { kind = "ended", how = worker:how() })
  end
end

---Runs a worker for rank 0, in a rank other than 0, for every sweep of the script until rank 0
---ends. It does not return.
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

-- The worker of another rank, with the methods of mr.sweep.Process.
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

-- Receives messages of all ranks, and marks ranks without a message for too long as lost.
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

---Returns, in rank 0, one runner per rank and the seconds between polls.
---@param silence number  seconds without a message after which a rank counts as lost
---@return mr.sweep.Runner[] runners, number pause
function M.runners(silence)
  local _, size = core.cluster_join "trials"
  local words, variables = here()
  known = known or setmetatable({ said = 0, runners = process.runners(1, words, function() return variables end) }, Ranks)
  known.silence = silence
  for rank = 1, size - 1 do
    local runner = known.runners[rank + 1] or { rank = rank, ranks = known, start = start_remote, lost = false }
    runner.heard = core.clock()
    known.runners[rank + 1] = runner
  end
  return known.runners, pause
end

return M
