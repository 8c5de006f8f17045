-- Displays the progress of a long loop: one line that is overwritten on a terminal, or plain lines at intervals.
local check = require "moonrank.check"
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local M = {}

-- Options for where and how the progress of a loop is written. The default of `width` is the width of the terminal.
M.display_options = declare("mr.progress.DisplayOptions", {
  { "out", "userdata|table", default_of = function() return io.stderr end, shown = "standard error",
    accept = function(value) return type(check.field(value, "write")) == "function" end,
    expected = "a file, or an object with a method write",
    help = "where to write: a file, or anything with a method write" },
  { "terminal", "boolean", default_of = function() return core.is_terminal(2) end, shown = "if standard error is one",
    help = "whether to overwrite the last text, as on a terminal; else lines are written" },
  { "clock", "fun(): number", default_of = function() return core.clock end, shown = "the machine's steady clock",
    expected = "a function", help = "returns the present time in seconds" },
  { "width", "integer", least = 1, shown = "of the terminal", help = "columns of the terminal" },
})

local progress_options = declare("mr.progress.Options", {
  { "total", "integer", required = true, least = 0, help = "number of steps" },
  { "label", "string", help = "text before the number of steps" },
  { "unit", "string", default = "epoch", help = "name of a step" },
  { "interval", "number", default = 5, least = 0,
    help = "seconds between plain lines; the first and the last step are always written" },
}, M.display_options)

---The progress display of a loop.
---@class mr.Progress
local Progress = {}
Progress.__index = Progress

---Returns a duration in seconds as text with units that suit it, such as "50 ms", "1.5 s", "12 min" or "2 h 05 min".
---Example: `require("moonrank.system.progress").duration(90)   --> 1 min 30 s`
function M.duration(seconds)
  seconds = math.min(seconds, 1e12)  -- a damaged store may contain any number of seconds
  if seconds < 0.0995 then return ("%.0f ms"):format(1000 * seconds) end
  if seconds < 9.95 then return ("%.1f s"):format(seconds) end
  if seconds < 59.5 then return ("%.0f s"):format(seconds) end
  if seconds < 599.5 then return ("%.0f min %02.0f s"):format((seconds + 0.5) // 60, (seconds + 0.5) % 60 // 1) end
  if seconds < 3570 then return ("%.0f min"):format(seconds / 60) end
  return ("%.0f h %02.0f min"):format((seconds + 30) // 3600, (seconds + 30) % 3600 // 60)
end

---Starts the progress display of a loop. The first call of `update` on the returned object writes it.
---@return mr.Progress
---Example: `require "moonrank.system.progress".start{total = 50}.total   --> 50`
function M.start(options)
  local self = setmetatable(progress_options:read("progress.start", options), Progress)
  if self.terminal and not self.width then self.width = core.terminal_width() end
  self.shown = false
  self.began = self.clock()
  return self
end

local function numbers(values)
  local parts = {}
  for i, pair in ipairs(values or {}) do
    local value = pair[2]
    parts[i] = pair[1] .. " " .. (type(value) == "number" and ("%.4f"):format(value) or tostring(value))
  end
  return table.concat(parts, "  ")
end

function Progress:_text(done, values, now)
  local spent = now - self.began
  local digits = #tostring(self.total)
  local parts = {}
  if self.label then parts[1] = self.label end
  parts[#parts + 1] = ("%s %" .. digits .. "d/%d"):format(self.unit, done, self.total)
  if self.terminal then
    local full = self.total > 0 and math.floor(20 * done / self.total) or 20
    parts[#parts + 1] = "[" .. ("="):rep(full) .. (" "):rep(20 - full) .. "]"
  end
  local shown = numbers(values)
  if shown ~= "" then parts[#parts + 1] = shown end
  local time = M.duration(spent)
  if done > 0 and done < self.total then
    time = time .. ", " .. M.duration(spent / done * (self.total - done)) .. " left"
  end
  parts[#parts + 1] = time
  return table.concat(parts, "  ")
end

---Reports that `done` steps are done. The display shows the first call and the last step. Other calls are shown at most
---ten times a second on a terminal, else at most once in `interval` seconds.
---@param done integer
---@param values? table  names and values to show, in this order: {{"loss", 0.25}, {"ndcg", 0.6}}
function Progress:update(done, values)
  local now = self.clock()
  local due = not self.shown or done >= self.total or now - self.last >= (self.terminal and 0.1 or self.interval)
  self.done, self.values = done, values
  self.stale = not due
  if due then self:_write(now) end
end

function Progress:_write(now)
  local text = core.safe_text(self:_text(self.done, self.values, now))
  if self.terminal then
    self.out:write("\r", text:sub(1, self.width - 1), "\27[K")
  else
    self.out:write(text, "\n")
  end
  self.shown, self.last = true, now
end

---Ends the progress display after showing its last state, also if the loop ended early. A second call does nothing.
function Progress:finish()
  if self.finished then return end
  self.finished = true
  if self.stale then self:_write(self.clock()) end
  if self.terminal and self.shown then self.out:write("\n") end
end

Progress.__close = Progress.finish

return M
