-- Prints two runs of the benchmarks, before and after a change, side by side in one table. Each row has the
-- milliseconds before and after (median, least and most), the speedup (time before / time after), and the speedup of
-- several threads over one, before and after. Both runs should be from one machine on one day; the machine stands above
-- the table. two_programs.lua makes both.
-- Usage: moonrank tests/bench/before_after.lua BEFORE.csv AFTER.csv (files that all.lua, or one benchmark with --csv,
-- wrote)
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local function leave(text, ...) error(core.exit(2, text:format(...)), 0) end
if #arg ~= 2 then leave "expected two files: before_after.lua BEFORE.csv AFTER.csv" end
for _, path in ipairs(arg) do
  if not core.is_file(path) then leave("there is no file %s", path) end
end

-- Joins the rows of both files by workload, program and number of threads, in the order of their first appearance.
local rows, at = {}, {}
for side, path in ipairs(arg) do
  for _, row in ipairs(bench.read(io.lines(path))) do
    local key = table.concat({ row[1], row[2], row[3] }, "\0")
    if not at[key] then
      at[key] = { row[1], row[2], row[3] }
      rows[#rows + 1] = at[key]
    end
    at[key][side + 3] = row
  end
end

local function number(text)
  local x = tonumber(text)
  return (math.abs(x) < 1e4 and "%.4g" or "%.0f"):format(x)
end
local function shown(row)
  if not row or not tonumber(row[4]) then return row and row[8] or "" end
  return ("%s (%s to %s)"):format(number(row[4]), number(row[5]), number(row[6]))
end

local function median(row) return row and tonumber(row[4]) end

-- Returns the speedup of a row with several threads over the row of the same work with one thread, as text, or "".
local function against_one(row, side)
  local one = row[3] ~= "1" and at[table.concat({ row[1], row[2], "1" }, "\0")]
  local alone, together = one and median(one[side]), median(row[side])
  return alone and together and ("%.2f"):format(alone / together) or ""
end

local function note_of(before, after)
  local was, is = median(before) and before[8] or "", median(after) and after[8] or ""
  if was == is or was == "" then return is end
  return is == "" and "before: " .. was or ("before: %s; after: %s"):format(was, is)
end

local lines = {}
for i, row in ipairs(rows) do
  local was, is = median(row[4]), median(row[5])
  lines[i] = { row[1], row[2], row[3], shown(row[4]), shown(row[5]), was and is and ("%.2f"):format(was / is) or "",
    against_one(row, 4), against_one(row, 5), note_of(row[4], row[5]) }
end
for side, name in ipairs{ "Before", "After" } do
  local path = arg[side]:gsub("%.csv$", "") .. ".txt"
  local first = core.is_file(path) and io.lines(path)() or ""
  print(("%s: %s"):format(name, first:match "least and most%. (.*)%.$" or arg[side]))
end
print ""
local columns = { "work", "program", "threads", "ms before", "ms after", "times as fast",
  "one thread / these, before", "after", "note" }
print(mr.table{ columns = columns, rows = lines }:to_markdown())
