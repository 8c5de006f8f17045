-- Two runs of the benchmarks side by side, as one table: the milliseconds of every row (median, least and most) before and after, and how many times
-- as fast it became. Both are wanted from the same machine on the same day; where they were made stands above the table.
-- Usage: moonrank tests/bench/before_after.lua BEFORE.csv AFTER.csv (files that `all.lua`, or one benchmark with --csv, wrote).
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

local function number(text) return ("%.4g"):format(tonumber(text)) end
local function shown(row)
  if not row or not tonumber(row[4]) then return row and row[8] or "" end
  return ("%s (%s to %s)"):format(number(row[4]), number(row[5]), number(row[6]))
end

local lines = {}
for i, row in ipairs(rows) do
  local before, after = row[4], row[5]
  local was, is = before and tonumber(before[4]), after and tonumber(after[4])
  lines[i] = { row[1], row[2], row[3], shown(before), shown(after), was and is and ("%.2f"):format(was / is) or "", is and after[8] or "" }
end
for side, name in ipairs{ "Before", "After" } do
  local path = arg[side]:gsub("%.csv$", "") .. ".txt"
  local first = core.is_file(path) and io.lines(path)() or ""
  print(("%s: %s"):format(name, first:match "least and most%. (.*)%.$" or arg[side]))
end
print ""
print(mr.table{ columns = { "work", "program", "threads", "ms before", "ms after", "times as fast", "note" }, rows = lines }:to_markdown())
