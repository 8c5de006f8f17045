-- Messages of a worker to its parent, checked: anything else on the channel, e.g. from a library, ends the worker and not the sweep.
local frame = require "moonrank.sweep.frame"
local store = require "moonrank.sweep.store"

local M = {}

-- True if `values` is nil, or a table whose keys and values all have these types.
local function holds(values, key, value)
  if values == nil then return true end
  if type(values) ~= "table" then return false end
  for k, v in next, values do
    if math.type(k) ~= key and type(k) ~= key or type(v) ~= value then return false end
  end
  return true
end

local function is_report(report)
  if type(report) ~= "table" or math.type(report.step) ~= "integer" or report.values == nil then return false end
  return holds(report.values, "string", "number")
end

local function are_reports(reports)
  if not holds(reports, "integer", "table") then return false end
  for _, report in next, reports or {} do
    if not is_report(report) then return false end
  end
  return true
end

-- The data that a trial used (data/seen).
local function are_data(data)
  if not holds(data, "integer", "table") then return false end
  for _, each in next, data or {} do
    for _, field in ipairs{ "role", "fingerprint", "what" } do
      if type(each[field]) ~= "string" then return false end
    end
  end
  return true
end

local states = { done = true, failed = true, pruned = true, paused = true, interrupted = true }
local outcome_fields = { value = "number", reason = "string", traceback = "string", wall = "number", memory = "number",
  device = "string", numerics = "string", conventions = "string", resumed = "boolean" }
local amounts = { "wall", "memory" }  -- finite, from 0 on

local function is_amount(x) return x == nil or x >= 0 and x < math.huge end

-- True if every text of a message fits into a field of the store.
local function fits(value)
  if type(value) == "string" then return #value <= store.longest end
  if type(value) ~= "table" then return true end
  for key, each in next, value do
    if not fits(key) or not fits(each) then return false end
  end
  return true
end

-- True if a trial that pauses reported the metric at its rung or later.
local function reaches(reports, job, metric)
  for _, report in next, reports or {} do
    if report.step >= job.pause and report.values[metric] then return true end
  end
  return false
end

-- True if a trial of this job can end in this state.
local function can_end(outcome, busy)
  if outcome.state == "done" then return outcome.value ~= nil and outcome.value - outcome.value == 0 end
  if outcome.state == "pruned" then return busy.prunes end
  if outcome.state == "paused" then return busy.job.pause ~= nil and reaches(outcome.reports, busy.job, busy.metric) end
  return true
end

local function is_outcome(outcome, busy)
  if type(outcome) ~= "table" or not states[outcome.state] then return false end
  for field, kind in pairs(outcome_fields) do
    if outcome[field] ~= nil and type(outcome[field]) ~= kind then return false end
  end
  for _, field in ipairs(amounts) do
    if not is_amount(outcome[field]) then return false end
  end
  if not holds(outcome.numbers, "string", "number") or not holds(outcome.lists, "string", "string")
    or not holds(outcome.loaded, "string", "string") then return false end
  return are_reports(outcome.reports) and are_data(outcome.data) and can_end(outcome, busy)
end

-- By kind: whether the other fields are valid, from a worker that is at something or idle. What a worker says twice, or of a trial that it has
-- ended, is of no turn that it has now.
local kinds = {
  ready = function(message, busy) return type(message.fingerprint) == "string" and type(message.numerics) == "string" and not busy end,
  report = function(message, busy) return busy and message.turn == busy.turn and is_report(message.report) end,
  ["end"] = function(message, busy) return busy and message.turn == busy.turn and is_outcome(message.outcome, busy) end,
}

---@class mr.sweep.Busy   what a worker is at
---@field turn integer     the how many-th trial that it was given
---@field job mr.sweep.Job
---@field metric string
---@field prunes boolean   whether trials of the sweep can be pruned

---Returns a worker's message; nil if it is invalid.
---@param bytes string
---@param busy mr.sweep.Busy|false  what it is at, if at anything
---@return table?
---Example: `require("moonrank.sweep.message").read("garbage", false)   --> nil`
function M.read(bytes, busy)
  local ok, message = pcall(frame.unpack, bytes)
  local is_valid = ok and type(message) == "table" and kinds[message.kind]
  return is_valid and is_valid(message, busy) and fits(message) and message or nil
end

return M
