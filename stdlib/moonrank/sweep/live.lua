-- Displays the progress of a running sweep: a small table on a terminal, elsewhere a line at regular intervals.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local progress = require "moonrank.system.progress"

local M = {}

---@class mr.sweep.Live
local Live = {}
Live.__index = Live

local live_options = declare("mr.sweep.LiveOptions", {
  { "interval", "number", default = 30, least = 0, help = "seconds between lines if the output is not a terminal" },
  { "quiet", "boolean", default = false, help = "write nothing" },
}, progress.display_options)

---Makes the progress display of a sweep. Nothing is written yet; Live:update writes the display.
---@param options? mr.sweep.LiveOptions
function M.new(name, queue, options)
  local self = setmetatable(live_options:read("mr.sweep", options), Live)
  self.name, self.queue, self.lines = name, queue, 0
  self.width = self.width or self.terminal and core.terminal_width() or 200
  self.began = self.clock()
  self.last = self.began
  return self
end

-- Returns the parameters of a trial as text, such as "lr 0.01, loss ndcg".
local function params_text(params)
  local parts = {}
  for i, name in ipairs(check.names(params)) do
    local value = params[name]
    parts[i] = name .. " " .. (math.type(value) == "float" and ("%.4g"):format(value) or tostring(value))
  end
  return table.concat(parts, ", ")
end

-- Shortens a name to `most` characters, or to 8 characters if `most` is less than 8.
local function shortened(name, most)
  local length = utf8.len(name)
  most = math.max(8, most)
  return length and most < length and name:sub(1, utf8.offset(name, most - 2) - 1) .. "..." or name
end

---Returns a line about a sweep: ended trials, elapsed time and estimated time left, the numbers of running, pruned,
---failed and killed trials, and the best trial. The most useful parts come first, because a terminal cuts off the end
---of a long line.
---@param running { trial: table }[]
---@param workers integer  number of trials that may run at once
function Live:summary(running, workers)
  local s, now = self.queue, self.clock()
  local ended = s:ended()
  local left = ended < s.planned and s:left(workers)
  local time = progress.duration(now - self.began) .. (left and ", " .. progress.duration(left) .. " left" or "")
  local parts = { ("%d/%d trials"):format(ended, s.planned), time }
  if #running > 0 then parts[#parts + 1] = ("%d running"):format(#running) end
  for _, state in ipairs{ "pruned", "failed", "killed" } do
    if s.counts[state] then parts[#parts + 1] = ("%d %s"):format(s.counts[state], state) end
  end
  table.insert(parts, 1, shortened(self.name, self.width - 3 - #table.concat(parts, "  ")))
  local best = s.best
  if best then
    parts[#parts + 1] = ("best %.4g (trial %d: %s)"):format(best.value, best.number, params_text(best.params))
  end
  return table.concat(parts, "  ")
end

-- Returns a line for each running trial, such as "  trial 7  lr 0.01  step 3  ndcg 0.5".
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

---Updates the display of a sweep, if enough time has passed since the last update: 0.2 s on a terminal, else the option
---`interval`.
---@param running { trial: table, report?: table }[]
---@param workers integer  number of trials that may run at once
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

---Prints a line that later updates of the display do not overwrite. A quiet display prints nothing.
function Live:say(text)
  if self.quiet then return end
  self:_clear()
  self.out:write(core.safe_text(text, true), "\n")
end

---Prints a sweep's final summary: the numbers of trials, the best trial, why the first five failed or killed trials
---ended, and which value of `retry` runs these trials again. A quiet display prints nothing.
function Live:finish()
  self:say(self:summary({}, 1))
  local shown, attempts = 0, 1
  for number = 1, self.queue.planned do
    local trial = self.queue.trials[number]
    if trial and (trial.state == "failed" or trial.state == "killed") then
      shown, attempts = shown + 1, math.max(attempts, trial.attempts)
      local reason = tostring(trial.reason):match "[^\n]*"
      if shown <= 5 then
        self:say(("  trial %d %s: %s  (%s)"):format(number, trial.state, reason, params_text(trial.params)))
      end
    end
  end
  if shown > 5 then self:say(("  ... and %d more"):format(shown - 5)) end
  if shown > 0 then self:say(("  retry = %d in mr.sweep runs failed and killed trials again"):format(attempts)) end
end

return M
