-- mr.profile: runs a function and measures the time of its operations, of their derivatives and of training phases.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local tables = require "moonrank.table"
local phase = require "moonrank.system.phase"
local record = require("moonrank.record").new

local M = {}

---The time and memory of one operation in an mr.Profile.
---@class mr.ProfileRow
---@field operation string  name of the operation; its derivative, which `backward` calls, is "NAME backward"
---@field calls integer     number of calls
---@field ms number         milliseconds, without operations that it calls; for `backward`, without the derivatives
---@field share number      share of the profile's time, from 0 to 1
---@field total_ms number   milliseconds, with operations that it calls
---@field bytes integer     memory of the tensors that it allocated: results and intermediate tensors

---The time of one phase of the training in an mr.Profile.
---@class mr.ProfilePhase
---@field phase string
---@field calls integer  number of times that the phase began
---@field ms number      milliseconds, without other phases within it
---@field share number   share of the profile's time, from 0 to 1

---Result of mr.profile: the time and memory of each operation. It prints as a table.
---@class mr.Profile: mr.Exports
---@field rows mr.ProfileRow[]      by time, the longest first
---@field phases mr.ProfilePhase[]  by time; time outside of phases is "other"
---@field total_ms number           milliseconds that the function ran
---@field outside_ms number         time outside of operations: Lua and its library
---@field synchronized boolean      whether the profile waited for operations, because tensors were on the GPU
---@field events integer            number of operations and phases in the trace, which keeps the first ones
---@field left_out integer          number of operations and phases after those in the trace
local Profile = check.class("mr.Profile")

local function by_time(a, b)
  if a.ms ~= b.ms then return a.ms > b.ms end
  return (rawget(a, "operation") or a.phase) < (rawget(b, "operation") or b.phase)
end

-- Converts the profiler's raw measurements to a table with the rows of operations, the rows of phases, and the totals.
local function account(profiler)
  local found = profiler:account()
  local total = found.elapsed * 1000
  local function share(ms) return total > 0 and ms / total or 0 end
  local rows, phases, other = {}, {}, total
  for _, each in ipairs(found.rows) do
    local ms = each.self * 1000
    if each.kind == "phase" then
      phases[#phases + 1] = record("phase", { phase = each.name, calls = each.calls, ms = ms, share = share(ms) })
      other = other - ms
    else
      rows[#rows + 1] = record("operation", {
        operation = each.kind == "backward" and each.name .. " backward" or each.name,
        calls = each.calls,
        ms = ms,
        share = share(ms),
        total_ms = each.total * 1000,
        bytes = each.bytes,
      })
    end
  end
  if #phases > 0 then
    phases[#phases + 1] = record("phase", { phase = "other", calls = 0, ms = other, share = share(other) })
  end
  table.sort(rows, by_time)
  table.sort(phases, by_time)
  return { rows = rows, phases = phases, total_ms = total, outside_ms = total - found.in_operations * 1000,
    synchronized = found.waited, events = found.events, left_out = found.left_out }
end

local columns = { "operation", "calls", "ms", "share", "total_ms", "bytes" }

---Returns the profile's operations as a table with a row per operation. The operation with the
---longest time (`ms`) comes first.
---@return mr.Table
function Profile:table()
  local rows = {}
  for i, row in ipairs(self.rows) do
    rows[i] = {}
    for c, name in ipairs(columns) do rows[i][c] = row[name] end
  end
  return tables.new{ columns = columns, rows = rows, formats = { ms = "%.3f", share = "%.3f", total_ms = "%.3f" } }
end

tables.add_exports(Profile)

---Writes a trace in Chrome's tracing format, which chrome://tracing and ui.perfetto.dev open. The
---trace has a bar for each operation and phase along the time axis. The trace of a long profile has
---only the first events; `left_out` and the file say how many events are missing. An existing file
---is replaced.
---@param path string
function Profile:save_trace(path)
  check.path("profile:save_trace", path)
  self._profiler:save_trace(path)
end

local formats = { ms = "%.2f", ["share %"] = "%.1f", ["with inner ms"] = "%.2f", MiB = "%.2f" }

-- Returns the text of the operations' table: the first rows, the sum of the rows that are not printed, and the total.
local function operations_text(self)
  local cells, rest = {}, { n = 0, calls = 0, ms = 0, bytes = 0 }
  for i, row in ipairs(self.rows) do
    if i <= self._lines then
      cells[i] = { row.operation, row.calls, row.ms, 100 * row.share, row.total_ms, row.bytes / 0x1p20 }
    else
      rest.n, rest.calls = rest.n + 1, rest.calls + row.calls
      rest.ms, rest.bytes = rest.ms + row.ms, rest.bytes + row.bytes
    end
  end
  local function share(ms) return self.total_ms > 0 and 100 * ms / self.total_ms or 0 end
  if rest.n > 0 then
    local others = ("%d other%s"):format(rest.n, rest.n == 1 and "" or "s")
    cells[#cells + 1] = { others, rest.calls, rest.ms, share(rest.ms), nil, rest.bytes / 0x1p20 }
  end
  cells[#cells + 1] = { "outside of operations", nil, self.outside_ms, share(self.outside_ms) }
  cells[#cells + 1] = { "total", nil, self.total_ms, 100.0 }
  return tostring(tables.new{ columns = { "operation", "calls", "ms", "share %", "with inner ms", "MiB" }, rows = cells,
    formats = formats })
end

local function phases_text(self)
  local cells = {}
  for i, row in ipairs(self.phases) do
    cells[i] = { row.phase, row.calls > 0 and row.calls or nil, row.ms, 100 * row.share }
  end
  return tostring(tables.new{ columns = { "phase", "calls", "ms", "share %" }, rows = cells,
    formats = { ms = formats.ms, ["share %"] = formats["share %"] } })
end

function Profile:__tostring()
  local parts = { operations_text(self) }
  if #self.phases > 0 then parts[#parts + 1] = "\n" .. phases_text(self) end
  if self.synchronized then
    parts[#parts + 1] = "The profile waited for the GPU before and after each operation. Times are those of the GPU's "
      .. "work,\nnot of launches, and add up to more than a run without a profile takes."
  end
  if self.left_out > 0 then
    parts[#parts + 1] = ("The trace has the first %d of %d events."):format(self.events, self.events + self.left_out)
  end
  return table.concat(parts, "\n")
end

-- Runs f as a coroutine and measures its time. The time in which f has yielded to its caller does not count.
local function run(profiler, f)
  local body = coroutine.create(f)
  local function go_on(...)
    local results
    do
      local _ <close> = phase.measure(profiler)
      results = table.pack(coroutine.resume(body, ...))
    end
    phase.note()
    if not results[1] or coroutine.status(body) == "dead" then return results end
    return go_on(coroutine.yield(table.unpack(results, 2, results.n)))
  end
  local results = go_on()
  if results[1] then return results end
  -- closing the coroutine runs the <close> variables of f, which may raise another error
  local closed, message = coroutine.close(body)
  return { false, closed and results[2] or message, n = 2 }
end

local check_function = arguments{ "f", "function", expected = "a function: mr.profile(function() ... end)" }

local profile_options = declare("mr.ProfileOptions", {
  { "rows", "integer", default = 20, least = 0, help = "number of operations that are printed" },
  { "trace", "string", accept = function(path) return path ~= "" end, expected = "the name of a file", shown = "none",
    help = "file for a trace (mr.Profile's save_trace), which is also written after an error" },
  { "events", "integer", default = 200000, least = 0, most = 10000000, help = "largest number of events in the trace" },
  { "quiet", "boolean", default = false, help = "whether to print nothing" },
})

---Runs a function and prints where its time went. Each operation of the compiled core, on tensors,
---data or files, has a line: number of calls, milliseconds, share of the total, and the memory of
---the tensors that the operation allocated. `NAME backward` is the derivative of an operation. The
---longest operation comes first, and operations after the first `rows` ones share a line. Then follow
---the time outside of operations (Lua and its library) and the total. `ms` excludes operations that
---an operation calls, and `with inner ms` includes them.
---
---A table of phases follows: batches (made of a dataset), forward (models and losses), bounds,
---backward, step (of the optimizer), evaluation, and other. A phase excludes the phases within it.
---If tensors are on the GPU, the profile waits for each operation, and says so below its tables:
---times are then those of the GPU's work. Epochs are then not replayed from a recording. Numerical
---results do not change.
---
---Returns the profile, and then what the function returned. Errors of the function are raised
---unchanged, after the profile has ended. Profiles may be nested. A profile pauses while its
---function has yielded. Worker processes of sweeps are not measured. `workers = 0` runs the trials
---of a sweep in this process, and a trial may have its own profile.
---@param f fun(): any
---@param options? mr.ProfileOptions
---@return mr.Profile
---@return any ...  what f returns
---Example:
---```lua
---local x = mr.normal({50, 50}, {seed = 1}):requires_grad()
---local profile, y = mr.profile(function() local y = x:matmul(x):sum(); y:backward(); return y end, {quiet = true})
---local calls = {}
---for _, row in ipairs(profile.rows) do calls[row.operation] = row.calls end
---calls.matmul, calls["matmul backward"], profile.phases[1].phase ~= nil, y:numel()   --> 1, 1, true, 1
---```
function M.profile(f, options)
  local o = profile_options:read("mr.profile", options)
  check_function("mr.profile", f)
  local profiler = core.profiler(o.events)
  -- The trace's file is written once before f runs, so that a path that cannot be written is an error at once.
  if o.trace then profiler:save_trace(o.trace) end
  local results = run(profiler, f)
  if not results[1] then
    if o.trace then pcall(profiler.save_trace, profiler, o.trace) end
    error(results[2], 0)
  end
  local profile = account(profiler)
  profile._profiler, profile._lines = profiler, o.rows
  setmetatable(profile, Profile)
  if o.trace then profile:save_trace(o.trace) end
  if not o.quiet then require("moonrank.prompt.repl").report(profile) end
  return profile, table.unpack(results, 2, results.n)
end

return M
