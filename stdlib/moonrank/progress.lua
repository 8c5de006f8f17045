-- A line with the progress of a long loop: overwritten on a terminal, plain lines at intervals elsewhere.
local core = require "moonrank.core"
local M = {}

---@class mr.progress.Options
---@field total integer       how many steps there will be
---@field label? string       written first (default none)
---@field unit? string        what a step is called (default "epoch")
---@field terminal? boolean   rewrite the line (default: whether standard error is a terminal)
---@field interval? number    seconds between plain lines (default 5); the first step and the last are always written
---@field out? table          where to: anything with `write` (default standard error)
---@field clock? fun(): number   seconds (default: the machine's steady clock)
---@field width? integer      columns of the terminal (default: asked)

---@class mr.Progress
local Progress = {}
Progress.__index = Progress

-- Seconds as text for people.
local function duration(seconds)
  if seconds < 9.95 then return ("%.1f s"):format(seconds) end
  if seconds < 59.5 then return ("%.0f s"):format(seconds) end
  local minutes = math.floor(seconds / 60 + 0.5)
  if minutes < 60 then return ("%d min"):format(minutes) end
  return ("%d h %02d min"):format(minutes // 60, minutes % 60)
end

---Starts a progress line.
---@param options mr.progress.Options
---@return mr.Progress
---Example: `require "moonrank.progress".start{total = 50}.total   --> 50`
function M.start(options)
  local self = setmetatable({
    total = options.total, label = options.label, unit = options.unit or "epoch", interval = options.interval or 5,
    out = options.out or io.stderr, clock = options.clock or core.clock, terminal = options.terminal, width = options.width,
    shown = false,
  }, Progress)
  if self.terminal == nil then self.terminal = core.is_terminal(2) end
  if self.terminal and not self.width then self.width = core.terminal_width() end
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
  local time = duration(spent)
  if done > 0 and done < self.total then time = time .. ", " .. duration(spent / done * (self.total - done)) .. " left" end
  parts[#parts + 1] = time
  return table.concat(parts, "  ")
end

---Reports that `done` steps of all are done. On a terminal at most ten times a second, the last step always.
---@param done integer
---@param values? table   {{"loss", 0.25}, {"ndcg", 0.6}}: what to show, in this order
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

---Ends the line, wherever the loop ended; the last state is shown. May be called again.
function Progress:finish()
  if self.finished then return end
  self.finished = true
  if self.stale then self:_write(self.clock()) end
  if self.terminal and self.shown then self.out:write("\n") end
end

Progress.__close = Progress.finish

return M
