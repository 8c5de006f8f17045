-- Messages of a worker to its parent, checked: anything else on the channel, e.g. from a library, ends the worker and not the sweep.
local frame = require "moonrank.sweep.frame"

local M = {}

-- Whether every entry of a table (or nothing) has a key and a value of these types.
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
local outcome_fields = { value = "number", reason = "string", traceback = "string", wall = "number", once = "number", memory = "number",
  device = "string", numerics = "string" }

local function is_outcome(outcome)
  if type(outcome) ~= "table" or not states[outcome.state] then return false end
  for field, kind in pairs(outcome_fields) do
    if outcome[field] ~= nil and type(outcome[field]) ~= kind then return false end
  end
  if outcome.state == "done" and outcome.value == nil then return false end
  if not holds(outcome.numbers, "string", "number") or not holds(outcome.lists, "string", "string") then return false end
  return are_reports(outcome.reports) and are_data(outcome.data)
end

-- By kind: whether the other fields are valid, from a worker that has a trial or has none.
local kinds = {
  ready = function(message, busy) return type(message.fingerprint) == "string" and type(message.numerics) == "string" and not busy end,
  report = function(message, busy) return is_report(message.report) and busy end,
  ["end"] = function(message, busy) return is_outcome(message.outcome) and busy end,
}

---A worker's message, or nil where it is invalid.
---@param bytes string
---@param busy boolean  whether it has a trial
---@return table?
---Example: `require("moonrank.sweep.message").read("garbage", true)   --> nil`
function M.read(bytes, busy)
  local ok, message = pcall(frame.unpack, bytes)
  local fits = ok and type(message) == "table" and kinds[message.kind]
  return fits and fits(message, busy) and message or nil
end

return M
