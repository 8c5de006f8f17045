-- Manages a sweep's workers in the process that started them: gives trials to free ones and replaces ended ones.
local core = require "moonrank.core"
local check = require "moonrank.check"
local frame = require "moonrank.sweep.frame"
local invalid = require("moonrank.sweep.workers.process").invalid
local read = require("moonrank.sweep.workers.message").read

local M = {}

local most_false_starts = 5  -- largest number of workers in a row that may end before they take a trial
local most_heard = 1000  -- largest number of messages that are read from a worker before it is the next worker's turn
local grace = 10  -- seconds after Ctrl-C after which trials that are still running are killed

---@class mr.sweep.Pool
local Pool = {}
Pool.__index = Pool

---@class mr.sweep.Runner        where a worker can run
---@field start fun(self: mr.sweep.Runner, log: string, call: string): mr.sweep.Process
---@field lost? boolean         true if no worker can run there any more

---@class mr.sweep.Pool.Options
---@field queue mr.sweep.TrialQueue
---@field live mr.sweep.Live
---@field runners mr.sweep.Runner[]  one for each worker
---@field pause? number        seconds between polls of workers that cannot be waited for
---@field call string          identifier of this call of mr.sweep
---@field fingerprint string   of the study; a worker must have the same one
---@field numerics? string     numerics version that workers must have
---@field metric string         name of the reports by which trials are pruned

local function log_path(folder, slot) return ("%s/worker_%d.log"):format(folder, slot) end

-- Returns the last lines of the file with a worker's output.
local function tail(path)
  local file <close> = io.open(path, "rb")
  if not file then return "" end
  file:seek("set", math.max(0, file:seek "end" - 2000))
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  return table.concat(lines, "\n  ", math.max(1, #lines - 9))
end

function Pool:_start(slot)
  local log = log_path(self.queue.folder, slot)
  local process = self.runners[slot]:start(log, self.call)
  self.workers[slot] = { slot = slot, process = process, log = log, known = 0, ready = false, turn = 0 }
end

function Pool:_assign(worker)
  local trial = self.queue:next()
  if not trial then return false end
  worker.trial, worker.reports, worker.began = trial, {}, core.clock()
  worker.turn = worker.turn + 1
  local others = self.queue:others(trial, worker.known)
  worker.known = worker.known + #others
  worker.process:send(frame.pack{ kind = "trial", turn = worker.turn, job = self.queue:job(trial), others = others })
  return true
end

function Pool:_end_trial(worker, outcome)
  local trial = worker.trial
  worker.trial = nil
  self.queue:finish(trial, outcome, self.metric)
end

function Pool:_take(worker, message)
  if message.kind == "report" then
    table.insert(worker.reports, message.report)
    self.queue:report(worker.trial, message.report)
  elseif message.kind == "end" then
    -- A worker reports "interrupted" although the sweep is not stopping: a signal from elsewhere interrupted it. The
    -- signal would end the worker's later trials, too, so the worker is killed.
    if message.outcome.state == "interrupted" and not self:_is_stopping() then
      return self:_refuse(worker, "it was interrupted")
    end
    self:_end_trial(worker, message.outcome)
  elseif message.kind == "ready" then
    if message.fingerprint ~= self.fingerprint then
      check.fail("mr.sweep: a worker found another study than its parent. The script, or a file that it reads, changed "
        .. "meanwhile, or the script does something else each time it runs")
    end
    if self.numerics and message.numerics ~= self.numerics then
      check.fail("mr.sweep: a worker has the numerics version '%s', its parent has '%s'. Pass mix_numerics = true to "
        .. "mix them", message.numerics, self.numerics)
    end
    worker.ready, self.false_starts = true, 0
  end
end

-- Handles the end of a worker process. The worker's trial ends, too. A worker that ended before it was ready for a
-- trial counts as a false start; too many false starts in a row end the sweep.
function Pool:_lost(worker)
  local how = worker.process:how()
  how = worker.refused or how
  self.workers[worker.slot] = nil
  if worker.trial then
    local state = self.stopping and "interrupted" or "killed"
    self:_end_trial(worker, { state = state, reason = "its process ended: " .. how, reports = worker.reports,
      wall = core.clock() - worker.began })
  elseif not worker.ready and not self.stopping then
    self.false_starts = self.false_starts + 1
    if self.false_starts >= most_false_starts then
      check.fail("mr.sweep: %d workers in a row ended before they took a trial (%s). The last one printed:\n  %s",
        self.false_starts, how, tail(worker.log))
    end
  end
end

-- Kills a worker for the reason `why`. Later messages of the worker are ignored.
function Pool._refuse(_, worker, why)
  worker.refused = why
  worker.process:signal "kill"
end

function Pool:_hear(worker, bytes)
  if worker.refused then return end
  local message = read(bytes, worker.trial and worker.turn or false)
  if message then return self:_take(worker, message) end
  self:_refuse(worker, invalid)
end

-- Handles the messages that a worker has sent, up to a limit, so that a worker that never stops sending does not block
-- other workers. Returns true if there may be more messages.
function Pool:_listen(worker)
  for _ = 1, most_heard do
    local message = worker.process:receive()
    if not message then return false end
    self:_hear(worker, message)
  end
  return true
end

function Pool:_receive()
  local descriptors, full = {}, {}
  for _, worker in pairs(self.workers) do
    descriptors[#descriptors + 1] = worker.process:descriptor()
    if worker.process:unsent() then full[#full + 1] = worker.process:descriptor() end
  end
  core.wait_for(descriptors, self.more and 0 or self.pause, full)
  self.more = false
  for slot = 1, #self.runners do
    local worker = self.workers[slot]
    if worker then
      local more = self:_listen(worker)
      self.more = self.more or more
      if not more and worker.process:ended() then self:_lost(worker) end
    end
  end
end

function Pool:running()
  local running = {}
  for _, worker in pairs(self.workers) do
    if worker.trial then
      running[#running + 1] = { trial = worker.trial, report = worker.reports[#worker.reports] }
    end
  end
  return running
end

-- Returns the number of trials that may run at once: the number of runners that can still run a worker.
function Pool:_width()
  local count = 0
  for _, runner in ipairs(self.runners) do count = count + (runner.lost and 0 or 1) end
  return count
end

-- Gives trials to free workers, and starts further workers if there are more trials than free or starting ones.
function Pool:_employ()
  local free, unready = 0, 0
  for slot = 1, #self.runners do
    local worker = self.workers[slot]
    if worker and not worker.ready then unready = unready + 1 end
    if worker and worker.ready and not worker.trial and not self:_assign(worker) then free = free + 1 end
  end
  local left = self.queue.planned - self.queue:ended() - #self:running()
  for slot, runner in ipairs(self.runners) do
    if not self.workers[slot] and not runner.lost and free + unready < left then
      self:_start(slot)
      unready = unready + 1
    end
  end
end

-- Returns true if the sweep is stopping. If Ctrl-C was pressed, it first begins to stop the sweep.
function Pool:_is_stopping()
  if not self.stopping and core.interrupted() then self:_stop() end
  return self.stopping ~= false
end

-- Handles the first Ctrl-C: running trials are interrupted, and no new trials begin.
function Pool:_stop()
  self.stopping = core.clock()
  self.live:say(("Ctrl-C: running trials are interrupted within %d s and run again later. Press Ctrl-C again to stop "
    .. "at once"):format(grace))
  for _, worker in pairs(self.workers) do worker.process:signal(worker.trial and "interrupt" or "kill") end
end

-- Kills all workers that have not ended `grace` seconds after Ctrl-C.
function Pool:_stop_late()
  if core.clock() - self.stopping < grace then return end
  for _, worker in pairs(self.workers) do worker.process:signal "kill" end
end

function Pool:_loop()
  local queue = self.queue
  while true do
    if not self.stopping then self:_employ() end
    local running = self:running()
    self.live:update(running, self:_width())
    if #running == 0 and (self.stopping or queue:ended() >= queue.planned) then return end
    queue:publish()
    self:_receive()
    if self:_is_stopping() then self:_stop_late() end
  end
end

-- Ends all workers. Workers without a trial are told to exit by themselves, and other workers are killed.
function Pool:_dismiss()
  for _, worker in pairs(self.workers) do
    if worker.ready and not worker.trial then worker.process:send(frame.pack{ kind = "quit" })
    else worker.process:signal "kill" end
  end
  for _, worker in pairs(self.workers) do worker.process:how() end
end

-- Returns true if the file of a worker's output has any line besides the lines "-- trial N ..." that name its trials.
local function has_output(path)
  local file <close> = io.open(path, "rb")
  for line in file and file:lines() or function() end do
    if not line:find "^%-%- trial %d+ " then return true end
  end
  return false
end

---Runs the trials of a study that have not ended, in workers. Returns true if Ctrl-C ended the sweep early.
---@param o mr.sweep.Pool.Options
---@return boolean interrupted
function M.run(o)
  local self = setmetatable({
    queue = o.queue,
    live = o.live,
    runners = o.runners,
    pause = o.pause or 0.2,
    call = o.call,
    fingerprint = o.fingerprint,
    numerics = o.numerics,
    metric = o.metric,
    workers = {},
    false_starts = 0,
    stopping = false,
    more = false,
  }, Pool)
  local folder = o.queue.folder
  for slot = 1, #self.runners do os.remove(log_path(folder, slot)) end
  local was = core.defer_interrupt(true)
  local ok, message = pcall(self._loop, self)
  self:_dismiss()
  core.defer_interrupt(was)
  for slot = 1, #self.runners do
    if not has_output(log_path(folder, slot)) then os.remove(log_path(folder, slot)) end
  end
  if not ok then error(message, 0) end
  return self.stopping ~= false
end

return M
