-- Table 1 of Tang et al. (2023): with which objective does one network rank best? MseNet, RankNet, ApproxNDCG and
-- NeuralNDCG are trained in batches of queries of equal length and query by query, and judged by nDCG, precision and
-- average precision.
-- Data: MQ2008 (five folds) and the MSLR slice (one fold), or MSLR-WEB10K if available (--sets mq2008,web10k). Network:
-- one hidden layer of five units, ReLU; Adam.
-- --recipe paper: every algorithm has the same test queries, those of the official folds (the paper splits off a random
-- tenth of the queries instead). Features are standardised by the training part, the epoch is chosen on validation.
-- Results are shown for the learning rate of the paper's text and for the rate that is best on validation. --recipe
-- code: what the authors' code does, under three seeds. protocol.lua defines both recipes.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, published, experiment = dofile(here .. "runs.lua"), dofile(here .. "published.lua"), mr.experiment

-- Returns the name of a data set as it is used within a sentence, e.g. "the MSLR slice".
local function said_of(title) return title:find "slice$" and "the " .. title or title end

local args = runs.args{
  sets = { default = { "mq2008", "mslr" }, choices = runs.data.names, distinct = true, help = "which data" },
}

local views = { paper = dofile(here .. "table_paper.lua"), code = dofile(here .. "table_code.lua") }

-- A table row with the printed numbers of an algorithm; nil with made-up data. `source` is the paper's table or the
-- authors' result files, `what` the row's title. For the MSLR slice the numbers are those of MSLR-WEB10K, and the title
-- says so.
local function printed_row(source, name, algorithm, what)
  local numbers = not args.smoke and source[name == "mslr" and "web10k" or name][algorithm]
  if not numbers then return nil end
  local row = { algorithm, name == "mslr" and what .. ", MSLR-WEB10K" or what }
  for _, x in ipairs(numbers) do
    local text = ("%g"):format(x)
    row[#row + 1] = #text > 3 and text or ("%.2f"):format(x)
  end
  return row
end

-- A table row of our results for an algorithm. `cell(metric)` returns the value of a cell and `ends(metric)` its
-- interval, which is passed to `noted(column, interval)`.
local function row_of(algorithm, title, cell, noted, ends)
  local row = { algorithm, title }
  for _, metric in ipairs(published.metrics) do
    row[#row + 1] = cell(metric)
    if ends then noted(runs.measures.title(metric), ends(metric)) end
  end
  return row
end

-- The rows of the table of a data set: our results of each algorithm, followed by the printed numbers of that
-- algorithm, and at the end a row of random orders. Also returns the intervals of the cells.
local function rows_of(name, view)
  local rows, set, of_line = {}, runs.set(args, name), {}
  local cells = experiment.cells(view.by, function(row) return of_line[row[1] .. row[2]] or 0 end)
  local function noted(column, of) cells:note(#rows + 1, column, of) end
  for _, algorithm in ipairs(runs.algorithms_of(args, set)) do
    for _, line in ipairs(view.lines(algorithm)) do
      rows[#rows + 1] = row_of(algorithm, line.title, line.cell, noted, line.ends)
      of_line[algorithm .. line.title] = line.runs
    end
    rows[#rows + 1] = printed_row(published.table_1, name, algorithm, "printed")
    if name ~= "mq2008" then rows[#rows + 1] = printed_row(published.files, name, algorithm, "their file") end
  end
  rows[#rows + 1] = row_of("random order", "mean over all orders",
    function(metric) return ("%.4f"):format(view.random(metric)) end, noted, view.random_ends)
  return rows, cells
end

-- The best value of a metric is marked among rows that agree in the column "what", such as "rate chosen". Printed
-- numbers and random orders are strings, so that they are never marked.
local columns, formats, mark = { "algorithm", "what" }, {}, {}
for i, metric in ipairs(published.metrics) do
  local title = runs.measures.title(metric)
  columns[2 + i], formats[title], mark[title] = title, "%.4f", "max"
end

-- Opens all data sets first, so that missing data raise an error before any run.
for _, name in ipairs(args.sets) do runs.set(args, name) end

local legend = [[
nDCG+1, and @2, @4, @6: nDCG of labels to which 1 was added, of all ranks and of the first ones; P@2, P@4, P@6:
precision; MAP: mean average precision.]]
local tables, said, agreement, found = {}, {}, nil, {}
for _, name in ipairs(args.sets) do
  local view = views[args.recipe].view(args, runs, name)
  local rows, cells = rows_of(name, view)
  local printed = not args.smoke and published.table_1[name]
  local title = runs.set(args, name).title
  tables[#tables + 1] = experiment.named(title .. ": nDCG with labels + 1, precision and mean average precision",
    mr.table{ columns = columns, rows = rows, formats = formats, mark = mark, within = { "what" } }, cells, legend)
  tables[#tables + 1] = experiment.named(("%s: %s"):format(title, view.about), view.table, view.cells, view.legend)
  local met, numbers = "", nil
  if printed then met, numbers = view.met(printed, published.metrics) end
  agreement = agreement or numbers
  said[#said + 1] = ("On %s, %s%s"):format(said_of(title), view.text, met)
  found[#found + 1] = not args.smoke and view.finding and view.finding:format(said_of(title)) or nil
end

local section = experiment.finish(args, nil, table.concat(said, "\n\n") .. "\n\n" .. views[args.recipe].protocol,
  table.unpack(tables))
section.agreement = agreement
if #found > 0 then
  section.finding = ("Trained and evaluated alike, networks of all objectives have a mean nDCG %s."):format(
    table.concat(found, " and "))
elseif agreement then
  section.finding = ([[
As the authors' code computes them, %d of %d printed numbers lie between the least and the largest of the seeds.]]
  ):format(agreement.within, agreement.of)
end
return section
