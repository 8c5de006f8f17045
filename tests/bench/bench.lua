-- Shared by the benchmark scripts: clocks, running other libraries (peers) for comparison, and tables with the columns
-- workload, program, threads and times. It is not a benchmark itself. A script loads it with
-- `dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")`.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = { folder = arg[0]:match("^(.*/)") or "./" }

-- Finds the program's path, which stands before its options and the script.
local first = -1
while arg[first - 1] do first = first - 1 end
---path of the program that runs this script
M.program = arg[first]

local clocks = { cpu = os.clock, wall = core.clock }
local chosen = os.getenv "MOONRANK_CLOCK" or "wall"
if not clocks[chosen] then
  error(core.exit(2, ("MOONRANK_CLOCK is '%s', expected 'cpu' or 'wall'"):format(chosen)), 0)
end

---Returns seconds: processor time of this process with MOONRANK_CLOCK=cpu, else wall time. Peers use the same clock.
---Where other programs use the machine, only processor time shows how long one thread takes.
M.clock = clocks[chosen]

-- Returns true if a file can be written. A file that did not exist is removed again.
local function writable(path)
  local was = core.is_file(path)
  local file, reason = io.open(path, "a")
  if not file then return false, reason end
  file:close()
  if not was then os.remove(path) end
  return true
end

---Ends the script if the options `quick` and `full` are given together.
function M.check_sizes(args)
  if args.quick and args.full then error(core.exit(2, "--quick and --full: pass only one of them"), 0) end
end

---Ends the script if MOONRANK_CLOCK asks for processor time. For scripts whose times are wall times.
function M.need_wall_time()
  if M.clock == core.clock then return end
  error(core.exit(2, "MOONRANK_CLOCK is 'cpu', but this script measures wall time. Unset MOONRANK_CLOCK"), 0)
end

---Returns `count` lists of `rows` rows, of which every second one is relevant.
function M.alternating(count, rows)
  local grades = {}
  for l = 1, count do
    grades[l] = {}
    for row = 1, rows do grades[l][row] = row % 2 end
  end
  return mr.lists(grades)
end

---Reads the options of a benchmark, and adds the option `csv` for its table. Ends the script before any work if a
---number is not above 0 (options in `may_be_none` may be 0), if the options `quick` and `full` are given together, or
---if the table cannot be written.
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
  if declarations.quick and declarations.full then M.check_sizes(args) end
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

---Returns the median, the least and the largest of some times.
function M.spread_of(times)
  table.sort(times)
  local n = #times
  return { median = (times[(n + 1) // 2] + times[n // 2 + 1]) / 2, least = times[1], most = times[n] }
end

---Calls f(0) to warm up, then f(1) to f(repeats), and returns their seconds. Begins no further call after `budget`
---seconds (default 10).
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

---Trains with these options of mr.fit, and returns the seconds of each epoch after the first `warm` epochs.
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

---Returns an object with a path for a file or folder of this run: `local at <close> = bench.temporary()`, `at.path`.
---The file or folder is removed at the end of the block, also after an error or Ctrl-C.
function M.temporary()
  local path = os.tmpname()
  os.remove(path)
  return setmetatable({ path = path }, { __close = function() os.execute(("rm -rf '%s'"):format(path)) end })
end

---Returns the bytes of numbers in single precision, which peers read.
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

---Runs a script of peers/. Returns the lines that it prints and, if it failed, the reason: python3 or a library is
---missing, or the peer's own error. Returns no lines if MOONRANK_PEERS is "none". Ends a peer after 5 minutes, or after
---20 where processor time is measured, because other programs may use the machine.
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

---Runs a script of peers/ that prints the seconds of each of its runs. Returns these numbers and, if it failed, the
---reason.
function M.peer_times(script, ...)
  local times = {}
  local lines, reason = M.peer_lines(script, ...)
  for _, line in ipairs(lines) do times[#times + 1] = tonumber(line) end
  return times, reason
end

---Returns an array for the rows of a table, and a function that adds a row. Moonrank's row is added first; the rows
---that follow for the same workload and number of threads are compared with it. A note says why a row has no times, or
---what else its reader should know.
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

---Returns the day, the processor, the numerics version and, if times are processor time, the clock of a measurement.
---before_after.lua also runs this in older programs, which have no numerics version.
function M.where()
  local processor
  for line in io.lines "/proc/cpuinfo" do processor = processor or line:match "^model name%s*:%s*(.*)$" end
  return ("%s, %s, %s, numerics %s%s"):format(os.date "%Y-%m-%d", processor or "unknown processor", core.simd(),
    core.numerics and core.numerics() or "without a name", M.clock == os.clock and ", processor time" or "")
end

---Returns rows as text under a title, with where they were measured (`where`). If `csv` names a file, writes the rows
---to it, and the text to a file beside it that ends in .txt. `columns` and `formats` replace M.columns and M.formats.
function M.write(title, rows, csv, where, columns, formats)
  local result = mr.table{ columns = columns or M.columns, rows = rows, formats = formats or M.formats }
  local has_spread = not columns or table.concat(columns, ","):find "least,most"
  local text = ("%s%s %s.\n%s\n"):format(title, has_spread and " Milliseconds: median, least and most." or "", where,
    tostring(result))
  if csv then
    core.write_file(csv, result:to_csv())
    core.write_file(csv:gsub("%.csv$", "") .. ".txt", text)
  end
  return text
end

---Prints rows, and writes them to the file `csv` if it is given. `versions` names the versions of compared programs.
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

---Returns the fields of the lines of a CSV file, without the first line.
function M.read(lines)
  local rows = {}
  for line in lines do rows[#rows + 1] = fields(line) end
  table.remove(rows, 1)
  return rows
end

return M
