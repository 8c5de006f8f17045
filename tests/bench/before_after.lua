-- Two runs of the benchmarks side by side, as one table: the milliseconds of every row (median, least and most) before
-- and after, how many times as fast it became, and how many times as fast as one thread several were, before and after.
-- Both are wanted from the same machine on the same day; where they were made stands above the table.
-- `two_programs.lua` makes both in one run.
-- Usage: moonrank tests/bench/before_after.lua BEFORE.csv AFTER.csv (files that `all.lua`, or one benchmark with --csv,
-- wrote).
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local function leave(text, ...) error(core.exit(2, text:format(...)), 0) end
if #arg ~= 2 then leave "expected two files: before_after.lua BEFORE.csv AFTER.csv" end
for _, path in ipairs(arg) do
  if not core.is_file(path) then leave("there is no file %s", path) end
end

-- The rows of both by what they measure, in the order in which they are met.
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

-- Returns how many times as fast a row of several threads is as that of one.
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
