-- Prints how many times as long other libraries (peers) took as Moonrank, from the file results/bench/bench.csv of
-- tests/bench/all.lua. Each row is a kind of work, a peer and a number of threads, and has the least and the largest
-- ratio of times, or the reason why there is none. The day and machine are printed, too. Peers that train another loss
-- are left out, because their work differs.
-- Usage: moonrank tests/bench/ratios.lua [FILE]
local mr = require "moonrank"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local losses = { ap = "AP", ndcg = "nDCG", nrbp = "nRBP" }

-- Returns the kind of work of a row of the benchmark table. Steps on lists of any length are one kind.
local function kind_of(workload)
  if workload:find "^AP step" then return "a step of smooth AP of one list" end
  if workload:find "^distribution" then return (workload:gsub(" of [%w_]+,", ",")) end
  return (workload:gsub(" epoch, (.*)$", function(loss) return ", one epoch of smooth " .. losses[loss] end))
end

local path = arg[1] or "results/bench/bench.csv"
local rows, places = {}, {}
for _, row in ipairs(bench.read(io.lines(path))) do
  local ratio, note = tonumber(row[7]), row[8] ~= "" and row[8] or nil
  if (ratio or note) and not row[2]:find "^moonrank" and not row[2]:find "another loss" then
    local kind = kind_of(row[1])
    local key = kind .. "/" .. row[2] .. "/" .. row[3]
    if not places[key] then
      places[key] = { kind = kind, program = row[2], threads = row[3], least = math.huge, most = 0 }
      rows[#rows + 1] = places[key]
    end
    local of = places[key]
    if ratio then of.least, of.most = math.min(of.least, ratio), math.max(of.most, ratio) end
    of.note = of.note or note
  end
end

local function span(of)
  if of.most == 0 then return of.note end
  local least, most = bench.ratio_text(of.least), bench.ratio_text(of.most)
  local text = least == most and least or least .. " to " .. most
  return of.note and ("%s (%s)"):format(text, of.note) or text
end
for i, of in ipairs(rows) do rows[i] = { of.kind, of.program, of.threads, span(of) } end
local first = io.lines((path:gsub("%.csv$", ".txt")))()
print(("Measured: %s\n"):format(first:match "least and most%. (.*)$" or "at an unknown place"))
print(mr.table{ columns = { "work", "program", "threads", "times ours" }, rows = rows }:to_markdown())
