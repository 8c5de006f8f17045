-- Results for Table 1 of Tang et al. (2023) as the authors' code computes them (--recipe code), as means over seeds. If
-- that code evaluates a wrong ranking by mistake, the result of the intended ranking is shown beside it.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local protocol = dofile(here .. "protocol.lua")

local M = {}

M.protocol = [[
All is done as the authors' code at 767b70b does it, but with seeds. Of the data set with fewer queries a random tenth of these is for
evaluation (NeuralNDCG: of these only queries with eight documents), and of the other a sample of a hundred queries that were
trained on. The NDCG losses are minimised,
and the metrics then sort from the lowest score on, which undoes it. Features are standardised by query, or by array, in the evaluation
part by its own statistics. Learning rates and epochs are fixed; nothing is chosen.
Numbers are means over seeds, least and largest in brackets.]]

-- Titles of table rows whose numbers come from a wrong ranking, which the authors' code evaluates by mistake: sorted
-- from the lowest score on, or with only the first document of a query.
local wrong = { inverted = "as evaluated: upside down", ["first document"] = "as evaluated: first document only" }

local function spread(trials, name)
  local sum, low, high = 0, math.huge, -math.huge
  for _, trial in ipairs(trials) do
    local x = trial[name]
    sum, low, high = sum + x, math.min(low, x), math.max(high, x)
  end
  return sum / #trials, low, high
end

local function text_of(trials, name)
  local mean, low, high = spread(trials, name)
  if #trials == 1 then return ("%.4f"):format(mean) end
  return ("%.4f (%.4f to %.4f)"):format(mean, low, high)
end

-- Counts how many printed numbers of Table 1 lie between the smallest and the largest of our results over seeds.
-- Returns a sentence, and the counts for the report. `printed` has the numbers by algorithm, `trials` our training
-- runs.
local function met(printed, names, trials)
  local within, count = 0, 0
  for algorithm, numbers in pairs(printed) do
    for c, name in ipairs(names) do
      local _, low, high = spread(trials[algorithm], name)
      within, count = within + (protocol.meets(numbers[c], low, high) and 1 or 0), count + 1
    end
  end
  return ([[
 Of the %d printed numbers of this data set %d lie, to their two digits, between the least and the largest of the seeds.]]  -- luacheck: ignore 631
  ):format(count, within), { of = count, within = within, tolerance = "least to largest of the seeds" }
end

-- A table with a row per algorithm: how many queries it was trained on, how many were evaluated and skipped (no
-- relevant document), and the metrics of random orders of the evaluated queries.
local function counts_table(names, trials)
  local rows = {}
  for i, name in ipairs(names) do
    local mine = trials[name]
    rows[i] = { name, (spread(mine, "trained_on")), (spread(mine, "counted")), (spread(mine, "skipped")),
      (spread(mine, "random ndcg+1")), (spread(mine, "random precision@2")), (spread(mine, "random ap")) }
  end
  local columns = { "algorithm", "trained on", "evaluated", "skipped", "random nDCG+1", "random P@2", "random MAP" }
  return mr.table{ rows = rows, columns = columns,
    formats = { ["trained on"] = "%.1f", evaluated = "%.1f", skipped = "%.1f", ["random nDCG+1"] = "%.4f",
      ["random P@2"] = "%.4f", ["random MAP"] = "%.4f" } }
end

-- Part of a sentence on how much nDCG+1 (nDCG of labels + 1) varies between algorithms, and between seeds of one
-- algorithm.
local function words(names, trials)
  local widest, most, least, largest = nil, 0, math.huge, -math.huge
  for _, name in ipairs(names) do
    local _, low, high = spread(trials[name], "ndcg+1")
    local mean = spread(trials[name], "meant ndcg+1")
    least, largest = math.min(least, mean), math.max(largest, mean)
    if high - low >= most then widest, most = name, high - low end
  end
  return ([[
evaluated as meant, the means over seeds of nDCG+1 go from %.4f to %.4f; the seeds of a single algorithm are up to %.4f apart
(%s).]]):format(least, largest, most, widest)
end

---Makes what table_1.lua shows of a data set with --recipe code. `lines(algorithm)` returns the rows of an algorithm,
---each with `title`, `cell(metric)` and number of `runs`; `random(metric)` returns the mean of random orders. `table`
---is a second table with the title `about`, `text` a sentence, and `met` counts printed numbers that our seeds include.
---@param args table  parsed command line (runs.args)
---@param runs table  the module runs.lua
---@param name "mq2008"|"mslr"|"web10k"
---@return table
function M.view(args, runs, name)
  local set, results, trials = runs.set(args, name), runs.of(args, name), {}
  local names = runs.algorithms_of(args, set)
  for _, algorithm in ipairs(names) do trials[algorithm] = runs.trials(results, algorithm) end
  local function line(algorithm, title, before)
    return { title = title, runs = #trials[algorithm],
      cell = function(metric) return text_of(trials[algorithm], before .. metric) end }
  end
  return {
    lines = function(algorithm)
      local what = protocol.ranker(set, algorithm)
      local as_evaluated = wrong[algorithm:find "^Mse" and what or ""]
      if not as_evaluated then return { line(algorithm, "as evaluated", "") } end
      return { line(algorithm, as_evaluated, ""), line(algorithm, "as meant", "meant ") }
    end,
    random = function(metric) return (spread(trials[names[1]], "random " .. metric)) end,
    by = "least and largest of the seeds",
    table = counts_table(names, trials), cells = experiment.cells(nil, function(row, column)
      return not column:find "^random" and #trials[row[1]] or 0
    end), about = "queries, and random orders of those evaluated", legend = [[
trained on, evaluated, skipped: numbers of queries, means over seeds (skipped: without relevant documents); random: the
metric of random orders of the queries that are evaluated; nDCG+1: nDCG of labels to which 1 was added; P@2: precision.]],  -- luacheck: ignore 631
    text = words(names, trials),
    met = function(printed, metrics) return met(printed, metrics, trials) end,
  }
end

return M
