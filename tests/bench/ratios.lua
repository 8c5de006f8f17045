-- The README's table: how many times longer the peers took than Moonrank, from results/bench/bench.csv, which tests/bench/all.lua writes; per kind of
-- work, peer and number of threads the least and the largest ratio. Usage: moonrank tests/bench/ratios.lua [FILE]
local mr = require "moonrank"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

-- "MovieLens NSR 1 epoch, ap" and "MovieLens NSR 1 epoch, ndcg" are one kind: what follows the comma or of the list's size is left out.
local function kind_of(workload)
  if workload:find "^AP step" then return "a step of smooth AP of one list, by its rows" end
  if workload:find "^distribution" then return (workload:gsub(" of [%w_]+,", ",")) end
  if workload:find " LETOR " then return "LETOR text" end
  return (workload:gsub(" epoch, .*$", ", one epoch, by the loss"))
end

local rows, places = {}, {}
for _, row in ipairs(bench.read(io.lines(arg[1] or "results/bench/bench.csv"))) do
  local ratio = tonumber(row[7])
  if ratio and not row[2]:find "^moonrank" then
    local kind = kind_of(row[1])
    local key = kind .. "/" .. row[2] .. "/" .. row[3]
    if not places[key] then
      rows[#rows + 1] = { kind, row[2], row[3], ratio, ratio }
      places[key] = rows[#rows]
    end
    places[key][4], places[key][5] = math.min(places[key][4], ratio), math.max(places[key][5], ratio)
  end
end
local function short(ratio) return (ratio < 10 and "%.1f" or "%.0f"):format(ratio) end
for _, row in ipairs(rows) do
  local least, most = short(row[4]), short(row[5])
  row[4], row[5] = least == most and least or least .. " to " .. most, nil
end
print(mr.table{ columns = { "work", "program", "threads", "times ours" }, rows = rows }:to_markdown())
