-- Tang et al. (2023), Table 1: which objective ranks best, with one network? MseNet, RankNet, ApproxNDCG and NeuralNDCG, in batches of queries
-- of equal length and query by query, by nDCG, precision and average precision.
-- Data: MQ2008 (five folds) and the MSLR slice (its one fold), or MSLR-WEB10K where it is (--sets mq2008,web10k). Network: f-5-1, ReLU; Adam.
-- --recipe paper: every algorithm on the same test queries, features standardised by the training part, the epoch chosen on validation, and
-- the learning rate once that of the text, once chosen on validation. --recipe code: what the authors' code does, under three seeds.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure, published = dofile(here .. "runs.lua"), dofile(here .. "../thesis/figure.lua"), dofile(here .. "published.lua")
local cells = dofile(here .. "cells.lua")

local args = runs.args{
  sets = { default = { "mq2008", "mslr" }, choices = runs.data.names, distinct = true, help = "which data" },
}

-- Numbers of Table 1 for an algorithm, or of the files, as a row; none of made-up data.
local function printed_row(source, name, algorithm, what)
  local numbers = not args.smoke and source[name == "mslr" and "web10k" or name][algorithm]
  if not numbers then return nil end
  local row = { algorithm, name == "mslr" and what .. ", MSLR-WEB10K" or what }
  for _, x in ipairs(numbers) do row[#row + 1] = ("%g"):format(x) end
  return row
end

local function four(x) return ("%.4f"):format(x) end

local function row_of(algorithm, what, value_of)
  local row = { algorithm, what }
  for _, name in ipairs(published.metrics) do row[#row + 1] = value_of(name) end
  return row
end

local function as_table(rows)
  local columns = { "algorithm", "what" }
  for _, name in ipairs(published.metrics) do columns[#columns + 1] = runs.measures.title(name) end
  return mr.table{ columns = columns, rows = rows }
end

local tables, said = {}, {}
for _, name in ipairs(args.sets) do
  local set, rows = runs.set(args, name), {}
  local view = cells[args.recipe](args, runs, name)
  for _, algorithm in ipairs(runs.algorithms.names) do
    for _, line in ipairs(view.lines) do
      if line.of(algorithm) then
        rows[#rows + 1] = row_of(algorithm, line.title, function(metric) return line.text(algorithm, metric) end)
      end
    end
    rows[#rows + 1] = printed_row(published.table_1, name, algorithm, "printed")
    if name ~= "mq2008" then rows[#rows + 1] = printed_row(published.files, name, algorithm, "their file") end
  end
  rows[#rows + 1] = row_of("random order", view.random_title, function(metric) return four(view.random(metric)) end)
  tables[#tables + 1] = as_table(rows)
  for _, each in ipairs(view.tables) do tables[#tables + 1] = each end
  said[#said + 1] = set.title .. ". " .. view.text
end

return figure.finish(args, nil, table.concat(said, "\n") .. "\n" .. cells.protocol[args.recipe], table.unpack(tables))
