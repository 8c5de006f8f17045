-- A worker process of a sweep: the program runs the same script again. In a worker, `mr.sweep` does not return, but
-- runs the trials that the parent process sends.
local core = require "moonrank.core"
local frame = require "moonrank.sweep.frame"
local phase = require "moonrank.system.phase"
local trial = require "moonrank.sweep.trial"

local M = {}

-- Waits for the next message of the parent process and returns it; nil if the parent process has ended.
local function wait(channel)
  while true do
    local message = channel:receive()
    if message then return frame.unpack(message) end
    if channel:ended() then return nil end
    core.wait_for({ channel:descriptor() }, 1, channel:unsent() and { channel:descriptor() } or nil)
  end
end

local found

---In a worker process of mr.sweep, returns the channel to the parent process, and `call`, a text that identifies the
---call of mr.sweep whose trials the worker runs. Returns false in other processes.
---@return { channel: any, call: string }|false
function M.role()
  if found == nil then
    local channel = core.worker_end()
    local greeting = channel and wait(channel)
    if channel and not greeting then os.exit(1) end
    found = channel and { channel = channel, call = greeting.call } or false
  end
  return found
end

---Runs the trials that the parent process sends. When it has no more, this worker process exits.
---@param channel any         to the parent process, from `role`
---@param fingerprint string  of the study; the parent compares it with its own
function M.serve(channel, context, fingerprint)
  io.stdout:setvbuf "line"
  -- stops a profile (mr.profile) that the script started in this worker: only the parent process is profiled
  phase.stop()
  local turn = 0
  context.on_report = function(report) channel:send(frame.pack{ kind = "report", turn = turn, report = report }) end
  channel:send(frame.pack{ kind = "ready", fingerprint = fingerprint, numerics = core.numerics() })
  context.others = {}
  while true do
    local message = wait(channel)
    if not message or message.kind == "quit" then os.exit(0) end
    table.move(message.others, 1, #message.others, #context.others + 1, context.others)
    print(("-- trial %d %s"):format(message.job.number, frame.to_json(message.job.params)))
    turn = message.turn
    local outcome = trial.run(context, message.job)
    channel:send(frame.pack{ kind = "end", turn = turn, outcome = outcome })
  end
end

return M
