-- Table 1 of Tang et al. (2023) as the authors' code computes it, as means over three seeds. If that code evaluates a
-- wrong ranking by mistake, the result of the ranking that was meant is shown beside it. code.lua has what the code
-- does.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, code = mr.experiment, dofile(here .. "code.lua")
local training = code.training
local protocol = training.protocol

local args = training.args{
  seed = { default = 1, help = "the first of three, of splits and networks" },
  sets = { default = { "mq2008", "mslr" }, choices = protocol.set_names, distinct = true, help = "which data" } }
local sets = {}
for i, name in ipairs(args.sets) do sets[i] = training.set(args, name) end

local how = [[
All is done as the authors' code at 767b70b does it, but with seeds. Of the data set with fewer queries a random tenth
of these is for evaluation (NeuralNDCG: of these only queries with eight documents), and of the other a sample of a
hundred queries that were trained on. The NDCG losses are minimised, and the metrics then sort from the lowest score
on, which undoes it. Features are standardised by query, or by array, in the evaluation part by its own statistics.
Learning rates and epochs are fixed; nothing is chosen. Numbers are means over seeds, least and largest in brackets.]]

-- Titles of table rows whose numbers come from a wrong ranking, which the authors' code evaluates by mistake: sorted
-- from the lowest score on, or with only the first document of a query.
local wrong = { inverted = "as evaluated: upside down", ["first document"] = "as evaluated: first document only" }

-- Returns the mean, the least and the largest value of a result over the seeds of an algorithm, and the number of
-- seeds.
local function spread(results, algorithm, name)
  local values = experiment.folds(results, { algorithm = algorithm }, name)
  return mr.stats.mean(values), math.min(table.unpack(values)), math.max(table.unpack(values)), #values
end

local function text_of(results, algorithm, name)
  local mean, low, high, seeds = spread(results, algorithm, name)
  return (seeds == 1 and "%.4f" or "%.4f (%.4f to %.4f)"):format(mean, low, high)
end

-- Adds the rows of an algorithm to the table: its metrics as the authors' code evaluates them. If that code evaluates a
-- wrong ranking by mistake, adds a second row, with the metrics of the ranking that was meant.
local function add_algorithm(rows, results, set, algorithm, seeds)
  local function add(what, before)
    local row = { algorithm = algorithm, what = what, runs = seeds }
    for c, metric in ipairs(protocol.of_table) do
      row[protocol.titles[c]] = text_of(results, algorithm, before .. metric)
    end
    rows[#rows + 1] = row
  end
  local as_evaluated = wrong[algorithm:find "^Mse" and code.ranker(set, algorithm) or ""]
  add(as_evaluated or "as evaluated", "")
  if as_evaluated then add("as meant", "meant ") end
end

-- Counts how many numbers that the paper prints for Table 1 lie between our least and our largest result over seeds.
-- Adds the counts to `count`.
local function compare(count, rows, results)
  for _, row in ipairs(rows) do
    for c, metric in ipairs(row.what == "printed" and protocol.of_table or {}) do
      local _, low, high = spread(results, row.algorithm, metric)
      local printed = tonumber(row[protocol.titles[c]])
      count.of, count.within = count.of + 1, count.within + (code.meets(printed, low, high) and 1 or 0)
    end
  end
  return count
end

-- Returns the second table: how many queries were trained on, evaluated, and skipped because they have no relevant
-- document. It also has metrics of random orders of the evaluated queries.
local function counts_table(set, names, results, seeds)
  local records, columns = {}, { { "algorithm" } }
  for c, column in ipairs{ { "trained on", "trained_on" }, { "evaluated", "counted" }, { "skipped" },
    { "random nDCG+1", "random ndcg+1" }, { "random P@2", "random precision@2" }, { "random MAP", "random ap" } } do
    columns[c + 1] = { column[1], format = column[1]:find "^random" and "%.4f" or "%.1f" }
    for i, name in ipairs(names) do
      records[i] = records[i] or { algorithm = name }
      records[i][column[1]] = spread(results, name, column[2] or column[1])
    end
  end
  return experiment.table{ caption = set.title .. ": queries, and random orders of those evaluated",
    records = records, columns = columns,
    runs = function(_, column) return not column:find "^random" and seeds or 0 end, legend = [[
trained on, evaluated, skipped: numbers of queries, means over seeds (skipped: without relevant documents); random: the
metric of random orders of the queries that are evaluated; nDCG+1: nDCG of labels to which 1 was added; P@2:
precision.]] }
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

-- Returns the two tables of a data set, a sentence on them, and how many printed numbers were compared with ours.
local function results_of(set)
  local results, rows, names = code.of(args, set), {}, code.names[set.kind]
  local seeds, random = select(4, spread(results, names[1], "counted")), {}
  for _, algorithm in ipairs(names) do
    add_algorithm(rows, results, set, algorithm, seeds)
    if not args.smoke then training.add_published(rows, set, algorithm) end
  end
  for c, metric in ipairs(protocol.of_table) do
    random[protocol.titles[c]] = spread(results, names[1], "random " .. metric)
  end
  rows[#rows + 1] = protocol.with(random, { algorithm = "random order", what = "mean over all orders" })
  local count = compare({ of = 0, within = 0, tolerance = "least to largest of the seeds" }, rows, results)
  local text = ("On %s, %s"):format(set.said, words(names, results))
  if count.of > 0 then
    text = ("%s Of the %d printed numbers of this data set %d lie, to their two digits, between the least and the "
      .. "largest of the seeds."):format(text, count.of, count.within)
  end
  return text, count, training.table(set.title .. protocol.caption, rows, "least and largest of the seeds"),
    counts_table(set, names, results, seeds)
end

local tables, said, agreement = {}, {}, nil
for i, set in ipairs(sets) do
  local count
  said[i], count, tables[2 * i - 1], tables[2 * i] = results_of(set)
  agreement = agreement or count.of > 0 and count or nil
end
local section = experiment.finish(args, nil, table.concat(said, "\n\n") .. "\n\n" .. how, table.unpack(tables))
section.agreement = agreement
section.finding = agreement and ([[
As the authors' code computes them, %d of %d printed numbers lie between the least and the largest of the seeds.]]
  ):format(agreement.within, agreement.of)
return section
