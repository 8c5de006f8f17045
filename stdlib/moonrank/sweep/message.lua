-- Checks of the messages that a worker sends to its parent. Anything else that arrives, such as output of a library,
-- ends the worker and not the sweep.
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

-- A test of tables: every key and every value has to pass a test.
local function map(is_key, is_value)
  return function(t)
    if type(t) ~= "table" then return false end
    for key, value in next, t do
      if not is_key(key) or not is_value(value) then return false end
    end
    return true
  end
end

-- A test of tables with a test for each of some fields.
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

-- True if a trial that pauses reported the metric at its rung or later.
local function reaches(outcome, busy)
  for _, report in next, outcome.reports or {} do
    if report.step >= busy.job.pause and report.values[busy.metric] then return true end
  end
  return false
end

-- True if a trial can end in its state.
local function can_end(outcome, busy)
  local state = outcome.state
  if state == "done" then return check.is_finite(outcome.value) end
  if state == "pruned" then return busy.prunes end
  if state == "paused" then return busy.job.pause ~= nil and reaches(outcome, busy) end
  return state == "failed" or state == "interrupted"
end

-- By kind: whether the fields of a message are valid. A message with another turn is about a trial that the worker has
-- ended already.
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

---Returns a worker's message; nil if it is invalid.
---@param busy mr.sweep.Busy|false  false if the worker runs no trial
---Example: `require("moonrank.sweep.message").read("garbage", false)   --> nil`
function M.read(bytes, busy)
  local ok, message = pcall(frame.unpack, bytes)
  local is_valid = ok and type(message) == "table" and kinds[message.kind]
  return is_valid and is_valid(message, busy) and message or nil
end

return M
