-- Checks the messages that a worker sends to its sweep. Invalid bytes, such as output of a library, end only that
-- worker and not the sweep.
local check = require "moonrank.check"
local frame = require "moonrank.sweep.frame"
local longest = require("moonrank.sweep.store").longest

local M = {}

local function of(kind)
  return function(value) return type(value) == kind or math.type(value) == kind end
end

local function optional(is_valid)
  return function(value) return value == nil or is_valid(value) end
end

-- Returns a test for tables. A table passes if all its keys pass `is_key` and all its values pass `is_value`.
local function map(is_key, is_value)
  return function(t)
    if type(t) ~= "table" then return false end
    for key, value in next, t do
      if not is_key(key) or not is_value(value) then return false end
    end
    return true
  end
end

-- Returns a test for tables that applies a test to each of some fields. `tests` has the tests by the name of the field.
local function record(tests)
  return function(t)
    if type(t) ~= "table" then return false end
    for name, is_valid in pairs(tests) do
      if not is_valid(t[name]) then return false end
    end
    return true
  end
end

local number, integer = of "number", of "integer"
local function text(value) return type(value) == "string" and #value <= longest end
local function is_amount(value) return number(value) and value >= 0 and value < math.huge end

local is_report = record{ step = integer, values = map(text, number) }

local is_outcome = record{
  state = text, value = optional(number), reason = optional(text), traceback = optional(text),
  wall = optional(is_amount), memory = optional(is_amount), device = optional(text), numerics = optional(text),
  conventions = optional(text), resumed = optional(of "boolean"), numbers = optional(map(text, number)),
  lists = optional(map(text, text)), loaded = optional(map(text, text)), reports = optional(map(integer, is_report)),
  data = optional(map(integer, record{ role = text, fingerprint = text, what = text })),
}

-- Returns true if a trial that pauses has reported the sweep's metric at the step where it had to pause, or later.
local function reaches(outcome, busy)
  for _, report in next, outcome.reports or {} do
    if report.step >= busy.job.pause and report.values[busy.metric] then return true end
  end
  return false
end

-- Returns true if the message may end the trial in its state: "done" needs a finite value, "pruned" a pruner, and
-- "paused" a report at the step of the pause or later.
local function can_end(outcome, busy)
  local state = outcome.state
  if state == "done" then return check.is_finite(outcome.value) end
  if state == "pruned" then return busy.prunes end
  if state == "paused" then return busy.job.pause ~= nil and reaches(outcome, busy) end
  return state == "failed" or state == "interrupted"
end

-- Functions that check the fields of a message, by the kind of message. A message about a trial must have the number of
-- the worker's current trial (`turn`). Otherwise it is about a trial that has ended, and is invalid.
local kinds = {
  ready = function(message, busy) return text(message.fingerprint) and text(message.numerics) and not busy end,
  report = function(message, busy) return busy and message.turn == busy.turn and is_report(message.report) end,
  ["end"] = function(message, busy)
    return busy and message.turn == busy.turn and is_outcome(message.outcome) and can_end(message.outcome, busy)
  end,
}

---@class mr.sweep.Busy   the trial that a worker runs
---@field turn integer     number of trials that the worker was given so far
---@field job mr.sweep.Job
---@field metric string
---@field prunes boolean   whether trials of the sweep can be pruned

---Returns the message (a table) that a worker sent as bytes; nil if the message is invalid.
---@param bytes string
---@param busy mr.sweep.Busy|false  the trial that the worker runs; false if it runs no trial
---@return table?
---Example: `require("moonrank.sweep.message").read("garbage", false)   --> nil`
function M.read(bytes, busy)
  local ok, message = pcall(frame.unpack, bytes)
  local is_valid = ok and type(message) == "table" and kinds[message.kind]
  return is_valid and is_valid(message, busy) and message or nil
end

return M
