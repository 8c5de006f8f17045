-- The display of a running sweep: on a terminal a small table that is redrawn, elsewhere plain lines at intervals.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local progress = require "moonrank.progress"

local M = {}

---@class mr.sweep.Live
local Live = {}
Live.__index = Live

local live_options = declare("mr.sweep.LiveOptions", {
  { "interval", "number", default = 30, least = 0, help = "seconds between lines where output is not a terminal" },
  { "quiet", "boolean", default = false, help = "write nothing" },
}, progress.display_options)

---@param name string        of the study
---@param schedule mr.sweep.Schedule
---@param options? mr.sweep.LiveOptions
---@return mr.sweep.Live
function M.new(name, schedule, options)
  local self = setmetatable(live_options:read("mr.sweep", options), Live)
  self.name, self.schedule, self.lines = name, schedule, 0
  self.width = self.width or self.terminal and core.terminal_width() or 200
  self.began = self.clock()
  self.last = self.began
  return self
end

local function duration(seconds)
  if seconds < 59.5 then return ("%.0f s"):format(seconds) end
  local minutes = math.floor(seconds / 60 + 0.5)
  if minutes < 60 then return ("%d min"):format(minutes) end
  return ("%d h %02d min"):format(minutes // 60, minutes % 60)
end

-- "lr 0.01, loss ndcg"
local function params_text(params)
  local names, parts = {}, {}
  for name in pairs(params) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local value = params[name]
    parts[i] = name .. " " .. (math.type(value) == "float" and ("%.4g"):format(value) or tostring(value))
  end
  return table.concat(parts, ", ")
end

-- A name in at most `most` characters, and in at least 8.
local function shortened(name, most)
  local cut = utf8.len(name) and math.max(8, most) < utf8.len(name) and utf8.offset(name, math.max(8, most) - 2)
  return cut and name:sub(1, cut - 1) .. "..." or name
end

---Returns one line: ended trials, elapsed time and time left, running and failed trials, the best
---trial.
---@param running { trial: table, spent: number }[]
---@param workers integer
function Live:summary(running, workers)
  local s, now = self.schedule, self.clock()
  local ended = s:ended()
  local left = ended < s.planned and s:left(running, workers)
  -- in the order of their use: what does not fit into the width of the terminal is cut off
  local time = duration(now - self.began) .. (left and ", " .. duration(left) .. " left" or "")
  local parts = { ("%d/%d trials"):format(ended, s.planned), time }
  if #running > 0 then parts[#parts + 1] = ("%d running"):format(#running) end
  for _, state in ipairs{ "pruned", "failed", "killed" } do
    if s.counts[state] then parts[#parts + 1] = ("%d %s"):format(s.counts[state], state) end
  end
  table.insert(parts, 1, shortened(self.name, self.width - 3 - #table.concat(parts, "  ")))
  if s.best then parts[#parts + 1] = ("best %.4g (trial %d: %s)"):format(s.best.value, s.best.number, params_text(s.best.params)) end
  return table.concat(parts, "  ")
end

-- "  trial 7  lr 0.01  step 3  ndcg 0.5", one for each trial that runs.
local function running_lines(running)
  local lines = {}
  table.sort(running, function(a, b) return a.trial.number < b.trial.number end)
  for i, each in ipairs(running) do
    local text = ("  trial %d  %s"):format(each.trial.number, params_text(each.trial.params))
    local report = each.report
    if report then text = text .. ("  step %d  %s"):format(report.step, params_text(report.values)) end
    lines[i] = text
  end
  return lines
end

function Live:_clear()
  if self.lines > 0 then self.out:write(("\27[%dA\r\27[J"):format(self.lines)) end
  self.lines = 0
end

---Shows the state, if the interval has passed.
---@param running { trial: table, report?: table, spent: number }[]  spent: seconds since it began
---@param workers integer  how many trials may run at once
function Live:update(running, workers)
  local now = self.clock()
  if self.quiet or now - self.last < (self.terminal and 0.2 or self.interval) then return end
  self.last = now
  if not self.terminal then
    self.out:write(core.safe_text(self:summary(running, workers)), "\n")
    return
  end
  local lines = running_lines(running)
  table.insert(lines, 1, self:summary(running, workers))
  self:_clear()
  for _, line in ipairs(lines) do self.out:write(core.safe_text(line):sub(1, self.width - 1), "\n") end
  self.lines = #lines
end

---Prints a line that is not overwritten.
function Live:say(text)
  if self.quiet then return end
  self:_clear()
  self.out:write(core.safe_text(text, true), "\n")
end

---Prints the final summary: what was done, what failed, and why.
function Live:finish()
  self:say(self:summary({}, 1))
  local shown = 0
  for number = 1, self.schedule.planned do
    local trial = self.schedule.trials[number]
    if trial and (trial.state == "failed" or trial.state == "killed") then
      shown = shown + 1
      if shown <= 5 then
        self:say(("  trial %d %s: %s  (%s)"):format(number, trial.state, tostring(trial.reason):match "[^\n]*", params_text(trial.params)))
      end
    end
  end
  if shown > 5 then self:say(("  ... and %d more"):format(shown - 5)) end
end

return M
