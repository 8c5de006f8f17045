-- Reads messages of a worker. Bytes that are not a message, e.g. output of a library, end only that worker.
local frame = require "moonrank.sweep.frame"

local M = {}

local is_about_trial = { report = true, ["end"] = true }

---Returns the message (a table) that a worker sent as bytes; nil if the bytes are not a message, or if the worker
---cannot send this message now. The field `turn` of a message about a trial must be the argument `turn`, because a late
---message may be about a trial that has ended.
---@param turn integer|false  number of trials that the worker was given so far; false if it runs no trial
---Example: `require("moonrank.sweep.workers.message").read("garbage", false)   --> nil`
function M.read(bytes, turn)
  local ok, message = pcall(frame.unpack, bytes)
  if not ok or type(message) ~= "table" then return nil end
  local is_expected = turn and is_about_trial[message.kind] and message.turn == turn
    or not turn and message.kind == "ready"
  return is_expected and message or nil
end

return M
