-- Shared by the benchmark scripts: clocks, running other libraries (peers) for comparison, and tables with the columns
-- workload, program, threads and times. It is not a benchmark itself. A script loads it with
-- `dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")`.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = { folder = arg[0]:match("^(.*/)") or "./" }

---Seconds. With MOONRANK_CLOCK=cpu those that the process computed, ours and the peers', instead of those that went by:
---on a machine that others use too, what one thread takes shows only so.
M.clock = os.getenv "MOONRANK_CLOCK" == "cpu" and os.clock or core.clock

-- Returns true if a file can be written. A file that did not exist is removed again.
local function writable(path)
  local was = core.is_file(path)
  local file, reason = io.open(path, "a")
  if not file then return false, reason end
  file:close()
  if not was then os.remove(path) end
  return true
end

---The options of a benchmark, and `csv` for its table. Its numbers say how many or how large: they are above 0 (those
---in `may_be_none` may be 0), else the script ends before any work, as it does where the table could not be written.
function M.args(declarations, may_be_none)
  declarations.csv = { type = "string", help = "a file for the table, as CSV" }
  local args = mr.args(declarations)
  local function leave(text, ...) error(core.exit(2, text:format(...)), 0) end
  for name in pairs(declarations) do
    local given = args[name]
    for _, x in ipairs(type(given) == "table" and given or { given }) do
      local least = may_be_none and may_be_none[name] and "0 or more" or "above 0"
      if type(x) == "number" and not (x < math.huge and (x > 0 or x == 0 and least ~= "above 0")) then
        leave("--%s: expected %s, got %s", name, least, x)
      end
    end
  end
  local well, reason = true, nil
  if args.csv then well, reason = writable(args.csv) end
  if not well then leave("--csv: cannot write %s", reason) end
  return args
end

M.columns = { "workload", "program", "threads", "ms", "least", "most", "times ours", "note" }
M.formats = { ms = "%.4g", least = "%.4g", most = "%.4g", ["times ours"] = "%.3g" }

---Returns a ratio of times as text, with two significant digits, or a whole number from 100 on. A ratio below 1 has as
---many digits as show that it is below 1: 0.995 instead of 1.0.
function M.ratio_text(ratio)
  if ratio >= 10 then return ("%.0f"):format(ratio) end
  if ratio >= 1 then return ("%.1f"):format(ratio) end
  for digits = 2, 6 do
    local text = ("%." .. digits .. "g"):format(ratio)
    if tonumber(text) < 1 then return text end
  end
  return "1.0"
end

---Median, least and most of some times.
function M.spread_of(times)
  table.sort(times)
  local n = #times
  return { median = (times[(n + 1) // 2] + times[n // 2 + 1]) / 2, least = times[1], most = times[n] }
end

---Seconds of f(i), `repeats` times after once to warm up; no more are begun after `budget` seconds (default 10).
function M.times_of(f, repeats, budget)
  local times, began = {}, M.clock()
  f(0)
  for i = 1, repeats do
    local start = M.clock()
    f(i)
    times[i] = M.clock() - start
    if M.clock() - began > (budget or 10) then break end
  end
  return times
end

---Seconds of each epoch of a training with some options of mr.fit, after the first `warm` ones.
function M.epoch_times(options, warm)
  local times, last = {}, nil
  options.progress = false
  function options.each_epoch(epoch)
    local now = M.clock()
    if epoch > warm then times[#times + 1] = now - last end
    last = M.clock()
  end
  mr.fit(options)
  return times
end

---A path for a file or folder of this run, and its end: `local at <close> = bench.temporary()`, `at.path`. What lies
---there goes at the end, also after an error or Ctrl-C.
function M.temporary()
  local path = os.tmpname()
  os.remove(path)
  return setmetatable({ path = path }, { __close = function() os.execute(("rm -rf '%s'"):format(path)) end })
end

---The bytes of numbers in single precision, as peers read them.
function M.floats(numbers)
  local packed = {}
  for i, x in ipairs(numbers) do packed[i] = string.pack("<f", x) end
  return table.concat(packed)
end

-- Returns the last unindented line of a file with a program's error output, such as Python's "ValueError: ...".
local function reason_in(path)
  local last
  for line in io.lines(path) do last = line:match "^%S.*" or last end
  return last and #last > 100 and last:sub(1, 97) .. "..." or last
end

---The lines that a script of peers/ prints, and why there are no more where it failed: python3 or a library is missing,
---or the peer's own error. None where MOONRANK_PEERS is "none". A peer is ended after 5 minutes, or after 20 where
---processor time is measured, because other programs may use the machine.
function M.peer_lines(script, ...)
  if os.getenv "MOONRANK_PEERS" == "none" then return {}, "left out" end
  local at <close> = M.temporary()
  local errors = at.path
  local minutes = M.clock == os.clock and 20 or 5
  local words = { ("timeout %d python3 '%speers/%s'"):format(60 * minutes, M.folder, script) }
  for _, word in ipairs{ ... } do words[#words + 1] = ("'%s'"):format(word) end
  local pipe = assert(io.popen(("%s 2>'%s'"):format(table.concat(words, " "), errors)))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  local _, _, status = pipe:close()
  local reason = status == 124 and ("ended after %d minutes"):format(minutes)
    or status ~= 0 and (reason_in(errors) or "status " .. status) or nil
  return lines, reason and "failed: " .. reason
end

---The numbers among them: seconds of every run; and why there are no more.
function M.peer_times(script, ...)
  local times = {}
  local lines, reason = M.peer_lines(script, ...)
  for _, line in ipairs(lines) do times[#times + 1] = tonumber(line) end
  return times, reason
end

---Collects rows. Ours come first: what follows for the same workload and threads is compared with them. A note says why
---a row has no times, or what else its reader should know.
function M.collect()
  local rows, mine = {}, {}
  local function add(workload, program, threads, times, note)
    local key = workload .. "/" .. threads
    local t = #times > 0 and M.spread_of(times) or {}
    local function ms(seconds) return seconds and seconds * 1e3 end
    mine[key] = mine[key] or t.median
    rows[#rows + 1] =
      { workload, program, threads, ms(t.median), ms(t.least), ms(t.most), t.median and t.median / mine[key], note }
  end
  return rows, add
end

---The day, the processor, the numerics version and, where times are processor time, the clock: what numbers of a
---benchmark belong to. Programs without a numerics version run this as well, for before_after.lua.
function M.where()
  local processor
  for line in io.lines "/proc/cpuinfo" do processor = processor or line:match "^model name%s*:%s*(.*)$" end
  return ("%s, %s, %s, numerics %s%s"):format(os.date "%Y-%m-%d", processor or "unknown processor", core.simd(),
    core.numerics and core.numerics() or "without a name", M.clock == os.clock and ", processor time" or "")
end

---The rows as text under a title, and what they belong to; where a file is named they are written to it as CSV, and the
---text to one beside it that ends in .txt. `columns` and `formats` replace M.columns and M.formats.
function M.write(title, rows, csv, where, columns, formats)
  local result = mr.table{ columns = columns or M.columns, rows = rows, formats = formats or M.formats }
  local text = ("%s Milliseconds: median, least and most. %s.\n%s\n"):format(title, where, tostring(result))
  if csv then
    core.write_file(csv, result:to_csv())
    core.write_file(csv:gsub("%.csv$", "") .. ".txt", text)
  end
  return text
end

---Prints the rows, and writes them where a file is named. `versions` are those of the compared programs.
function M.finish(title, rows, csv, columns, formats, versions)
  io.write(M.write(title, rows, csv, M.where() .. (versions and ", " .. versions or ""), columns, formats))
end

-- Splits a line of comma-separated values into its fields. Quotes inside fields are not supported.
local function fields(line)
  local found, at = {}, 1
  while at <= #line + 1 do
    local text, past = line:match('^"([^"]*)",?()', at)
    if not text then text, past = line:match("^([^,]*),?()", at) end
    found[#found + 1] = text
    at = past > at and past or #line + 2
  end
  return found
end

---The fields of the lines of a CSV file. The first line is left out.
function M.read(lines)
  local rows = {}
  for line in lines do rows[#rows + 1] = fields(line) end
  table.remove(rows, 1)
  return rows
end

return M
