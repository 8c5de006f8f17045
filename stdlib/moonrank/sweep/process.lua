-- A worker on this machine: this program started again, and the channel to it.
local core = require "moonrank.core"
local check = require "moonrank.check"
local frame = require "moonrank.sweep.frame"

local M = {}

---@class mr.sweep.Process
local Process = check.class("mr.sweep.Process")

---@param words string[]      its command line
---@param variables string[]  "NAME=VALUE", added to the environment
---@param log string          where what it prints goes
---@param call string         which call of mr.sweep it is for
---@return mr.sweep.Process
function M.start(words, variables, log, call)
  local channel, id = core.start_worker(words, log, variables)
  channel:send(frame.pack{ call = call })
  return setmetatable({ channel = channel, id = id }, Process)
end

---Sends the bytes of a message.
function Process:send(bytes) self.channel:send(bytes) end

---Returns the bytes of the next message; nil if there is none.
function Process:receive() return self.channel:receive() end

---Returns true if no message can come any more.
function Process:ended() return self.channel:ended() end

---For core.wait_for.
function Process:descriptor() return self.channel:descriptor() end

---Returns true if a part of a sent message is still waiting to be written.
function Process:unsent() return self.channel:unsent() end

---"interrupt" or "kill".
function Process:signal(name) core.signal_process(self.id, name) end

---Returns how the process ended. A process that does not end is killed; one that sent an invalid
---message is killed at once.
---@return string
function Process:how()
  if self.channel:broken() then
    self:signal "kill"
    core.how_it_ended(self.id, true)
    return "what it sent is no message, so it was ended"
  end
  for _ = 1, 100 do  -- its channel closes shortly before it ends
    local how = core.how_it_ended(self.id, false)
    if how then return how end
    core.wait_for({}, 0.01)
  end
  self:signal "kill"
  return core.how_it_ended(self.id, true)
end

---Returns runners of workers on this machine.
---@param count integer
---@param words string[]
---@param variables fun(slot: integer): string[]
---@return mr.sweep.Runner[]
function M.runners(count, words, variables)
  local runners = {}
  for slot = 1, count do
    runners[slot] = { start = function(_, log, call) return M.start(words, variables(slot), log, call) end }
  end
  return runners
end

return M
