-- Starts a worker process of a sweep on this machine, and exchanges messages with it through a channel.
local core = require "moonrank.core"
local check = require "moonrank.check"
local frame = require "moonrank.sweep.frame"

local M = {}

---The outcome of a worker that sent bytes that are not a message.
M.invalid = "it sent an invalid message and was killed"

---@class mr.sweep.Process
local Process = check.class("mr.sweep.Process")

---Starts a worker process of a sweep and sends it the call of mr.sweep.
---@param words string[]      command line
---@param variables string[]  "NAME=VALUE", added to the environment
---@param log string          file of its output
---@param call string         the call of mr.sweep that it serves
---@return mr.sweep.Process
function M.start(words, variables, log, call)
  local channel, id = core.start_worker(words, log, variables)
  channel:send(frame.pack{ call = call })
  return setmetatable({ channel = channel, id = id }, Process)
end

function Process:send(bytes) self.channel:send(bytes) end
-- returns the worker's next message, or nil if none has arrived
function Process:receive() return self.channel:receive() end
function Process:ended() return self.channel:ended() end  -- true if the worker cannot send any more messages
function Process:descriptor() return self.channel:descriptor() end
-- Returns true if a part of a message has not yet been written to the worker's channel.
function Process:unsent() return self.channel:unsent() end
function Process:signal(name) core.signal_process(self.id, name) end

---Waits until the worker process has ended, and returns as text how it ended. A process that does not end within a
---second is killed. A process that sent an invalid message is killed at once.
---@return string
function Process:how()
  if self.channel:broken() then
    self:signal "kill"
    core.how_it_ended(self.id, true)
    return M.invalid
  end
  for _ = 1, 100 do  -- asks for up to a second whether the process ended, because its channel closes a little earlier
    local how = core.how_it_ended(self.id, false)
    if how then return how end
    core.wait_for({}, 0.01)
  end
  self:signal "kill"
  return core.how_it_ended(self.id, true)
end

---Returns `count` runners, each of which can start a worker process of a sweep on this machine.
---@param words string[]  command line of a worker
---@param variables fun(slot: integer): string[]  "NAME=VALUE" for the environment of worker `slot`
function M.runners(count, words, variables)
  local runners = {}
  for slot = 1, count do
    runners[slot] = { start = function(_, log, call) return M.start(words, variables(slot), log, call) end }
  end
  return runners
end

return M
