-- Table 1 of Tang et al. (2023) as the authors' code computes it (table_1.lua --recipe code), as means over seeds. If
-- that code evaluates a wrong ranking by mistake, the result of the ranking that was meant is shown beside it.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, code = mr.experiment, dofile(here .. "code.lua")
local training = code.training
local protocol = training.protocol

local how = [[
All is done as the authors' code at 767b70b does it, but with seeds. Of the data set with fewer queries a random tenth
of these is for evaluation (NeuralNDCG: of these only queries with eight documents), and of the other a sample of a
hundred queries that were trained on. The NDCG losses are minimised, and the metrics then sort from the lowest score
on, which undoes it. Features are standardised by query, or by array, in the evaluation part by its own statistics.
Learning rates and epochs are fixed; nothing is chosen. Numbers are means over seeds, least and largest in brackets.]]

-- Titles of table rows whose numbers come from a wrong ranking, which the authors' code evaluates by mistake: sorted
-- from the lowest score on, or with only the first document of a query.
local wrong = { inverted = "as evaluated: upside down", ["first document"] = "as evaluated: first document only" }

-- Mean, least and largest value of a number over the seeds of an algorithm.
local function spread(results, algorithm, name)
  local values = experiment.folds(results, { algorithm = algorithm }, name)
  return mr.stats.mean(values), math.min(table.unpack(values)), math.max(table.unpack(values)), #values
end

local function text_of(results, algorithm, name)
  local mean, low, high, seeds = spread(results, algorithm, name)
  return (seeds == 1 and "%.4f" or "%.4f (%.4f to %.4f)"):format(mean, low, high)
end

-- Adds the rows of an algorithm: metrics as evaluated and, if a wrong ranking is, as meant.
local function add_algorithm(rows, results, set, algorithm)
  local function add(what, before)
    rows[#rows + 1] = { algorithm, what }
    for c, metric in ipairs(protocol.of_table) do rows[#rows][2 + c] = text_of(results, algorithm, before .. metric) end
  end
  local as_evaluated = wrong[algorithm:find "^Mse" and code.ranker(set, algorithm) or ""]
  add(as_evaluated or "as evaluated", "")
  if as_evaluated then add("as meant", "meant ") end
end

-- Counts in `count` how many printed numbers in the rows of a table lie between our least and largest results.
local function compare(count, rows, results)
  for _, row in ipairs(rows) do
    for c, metric in ipairs(row[2] == "printed" and protocol.of_table or {}) do
      local _, low, high = spread(results, row[1], metric)
      count.of, count.within = count.of + 1, count.within + (code.meets(tonumber(row[2 + c]), low, high) and 1 or 0)
    end
  end
  return count
end

-- The second table: how many queries were trained on, evaluated and skipped (no relevant document), and metrics of
-- random orders of the evaluated queries.
local function counts_table(set, names, results, seeds)
  local rows, formats = {}, { ["trained on"] = "%.1f", evaluated = "%.1f", skipped = "%.1f" }
  for i, name in ipairs(names) do
    rows[i] = { name }
    for c, number in ipairs{ "trained_on", "counted", "skipped", "random ndcg+1", "random precision@2", "random ap" } do
      rows[i][1 + c] = spread(results, name, number)
    end
  end
  for _, column in ipairs{ "random nDCG+1", "random P@2", "random MAP" } do formats[column] = "%.4f" end
  return experiment.named(set.title .. ": queries, and random orders of those evaluated", mr.table{ rows = rows,
    formats = formats, columns = { "algorithm", "trained on", "evaluated", "skipped", "random nDCG+1", "random P@2",
      "random MAP" } }, experiment.cells(nil, function(_, column) return not column:find "^random" and seeds or 0 end),
    [[
trained on, evaluated, skipped: numbers of queries, means over seeds (skipped: without relevant documents); random: the
metric of random orders of the queries that are evaluated; nDCG+1: nDCG of labels to which 1 was added; P@2:
precision.]])
end

-- A sentence on how much nDCG+1 (nDCG of labels + 1) varies between algorithms, and between seeds of one algorithm.
local function words(names, results)
  local widest, most, least, largest = nil, 0, math.huge, -math.huge
  for _, name in ipairs(names) do
    local _, low, high = spread(results, name, "ndcg+1")
    local mean = spread(results, name, "meant ndcg+1")
    least, largest = math.min(least, mean), math.max(largest, mean)
    if high - low >= most then widest, most = name, high - low end
  end
  return ([[
evaluated as meant, the means over seeds of nDCG+1 go from %.4f to %.4f; the seeds of a single algorithm are up to %.4f
apart (%s).]]):format(least, largest, most, widest)
end

-- The two tables of a data set, a sentence on them, and how many printed numbers were compared.
local function results_of(args, name, add_published)
  local set, results, rows = training.set(args, name), code.of(args, name), {}
  local names = code.names[set.kind]
  for _, algorithm in ipairs(names) do
    add_algorithm(rows, results, set, algorithm)
    add_published(rows, name, algorithm)
  end
  rows[#rows + 1] = { "random order", "mean over all orders" }
  for c, metric in ipairs(protocol.of_table) do
    rows[#rows][2 + c] = spread(results, names[1], "random " .. metric)
  end
  local count = compare({ of = 0, within = 0, tolerance = "least to largest of the seeds" }, rows, results)
  local seeds = select(4, spread(results, names[1], "counted"))
  local cells = experiment.cells("least and largest of the seeds", function(row)
    return row[2]:find "^as " and seeds or 0
  end)
  local text = ("On %s, %s"):format(training.said(set), words(names, results))
  if count.of > 0 then
    text = ("%s Of the %d printed numbers of this data set %d lie, to their two digits, between the least and the "
      .. "largest of the seeds."):format(text, count.of, count.within)
  end
  return text, count, training.named(set.title .. protocol.caption, rows, cells, "max"),
    counts_table(set, names, results, seeds)
end

---Makes the section of table_1.lua with --recipe code. `add_published(rows, name, algorithm)` adds the printed numbers
---of an algorithm on a data set to the rows of its table.
return function(args, add_published)
  local tables, said, agreement = {}, {}, nil
  for i, name in ipairs(args.sets) do
    local count
    said[i], count, tables[2 * i - 1], tables[2 * i] = results_of(args, name, add_published)
    agreement = agreement or count.of > 0 and count or nil
  end
  local section = experiment.finish(args, nil, table.concat(said, "\n\n") .. "\n\n" .. how, table.unpack(tables))
  section.agreement = agreement
  section.finding = agreement and ([[
As the authors' code computes them, %d of %d printed numbers lie between the least and the largest of the seeds.]]
    ):format(agreement.within, agreement.of)
  return section
end
