-- Draws the bar chart of the README from a table of tests/bench/all.lua: seconds of one epoch of smooth AP on MovieLens
-- in Moonrank, and in each form of PyTorch after torch.compile.
-- Usage: moonrank tests/bench/chart.lua [--from docs/speed/cpu.csv] [--out docs/epoch.svg]
local mr = require "moonrank"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local args = mr.args{
  from = { default = "docs/speed/cpu.csv", help = "the table" },
  out = { default = "docs/epoch.svg", endings = { ".svg", ".png", ".pdf" }, help = "the picture" },
}

local programs = {
  { "moonrank", "Moonrank" },
  { "PyTorch, relevant compiled", "PyTorch, relevant rows" },
  { "PyTorch, lists compiled", "PyTorch, list by list" },
  { "PyTorch, padded compiled", "PyTorch, padded" },
}
local seconds = {}
for _, row in ipairs(bench.read(io.lines(args.from))) do
  if row[1] == "MovieLens NSR 1 epoch, ap" and row[3] == "1" then seconds[row[2]] = tonumber(row[4]) / 1e3 end
end
local names, values = {}, {}
for _, program in ipairs(programs) do
  if not seconds[program[1]] then error(("%s: no epoch of MovieLens by %s"):format(args.from, program[1]), 0) end
  names[#names + 1], values[#values + 1] = program[2], seconds[program[1]]
end
local first = io.lines((args.from:gsub("%.csv$", ".txt")))()
local date, processor = first:match "(%d+%-%d+%-%d+), ([^,]*)"
local clock = first:find "processor time" and "Processor time" or "Wall time"
mr.plot.bars{ categories = names, values = values, labels = "%.3f s", horizontal = true, width = 520, height = 230,
  title = "Seconds of one epoch of smooth AP on MovieLens",
  caption = ("%s of one thread, %s, %s. PyTorch %s with torch.compile."):format(clock, processor, date,
    first:match "torch (%d[%d.]*%d)" or "") }:save(args.out)
