-- Makes Figures 1 to 4 of Li, Urbano & Hanjalic (2021) from stored training runs. figure_5.lua uses some of these
-- functions, too. In the figures, columns of panels are methods and data sets, rows of panels are evaluation
-- metrics.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, analysis, figure = dofile(here .. "runs.lua"), dofile(here .. "analysis.lua"),
  dofile(here .. "../thesis/figure.lua")

local protocol = runs.protocol

local M = { runs = runs }

local kind_titles = { lambda = "LambdaRank", listwise = "Listwise" }
M.kind_words = { lambda = "LambdaRank", listwise = "listwise losses" }
local kinds = { "lambda", "listwise" }

---Returns the name of a loss or metric as figures show it: "nDCG" for "ndcg".
function M.title(name) return runs.title_of[name] or name end

-- Joins words to "a", "a and b" or "a, b and c". `last`, such as "or", replaces "and".
local function listed(words, last)
  if #words < 2 then return words[1] end
  return ("%s %s %s"):format(table.concat(words, ", ", 1, #words - 1), last or "and", words[#words])
end

local function titles(names)
  local found = {}
  for i, name in ipairs(names) do found[i] = M.title(name) end
  return found
end

-- Returns a text on training runs that the store lacks, or "". It also says that each loss is shown at the best of
-- the learning rates that were run so far.
local function missing(args)
  local found = runs.missing(args)
  return found == "" and "" or found .. " A loss is shown at the best of the learning rates that were run."
end

---Parses the command line of a figure's script. `number` is the figure's number, for the name of its
---picture file.
function M.args(number)
  local own = figure.options("figure_" .. number, {})
  own.out.default = ("results/sigir21/figure_%s.svg"):format(number)
  return runs.args(own, { smoke = { nsr = { 1, 2 } } })
end

---Returns the test scores of losses that can be compared with each other, one row per model, metric and
---split, and sentences on runs that are left out or missing. With --kept nothing is trained, so that
---the store may lack runs.
---@return sigir21.Row[] rows
---@return string left
function M.compared(args)
  local rows, left = analysis.complete(protocol.analysed(runs.rows(args)))
  local kept, said = {}, left > 0 and ("\n%d %s left out."):format(left,
    left == 1 and "split that does not have runs of all losses yet is"
    or "splits that do not have runs of all losses yet are") or ""
  for _, kind in ipairs(args.kinds) do
    local found = analysis.where(rows, { kind = kind })
    if #analysis.distinct(found, "loss") > 1 then
      table.move(found, 1, #found, #kept + 1, kept)
    else
      said = ("%s\nThere are no splits on which two %s losses could be compared."):format(said,
        kind == "lambda" and "LambdaRank" or kind)
    end
  end
  return kept, said .. missing(args)
end

---Returns the report section of a figure that has nothing to show. With --kept, the script ends with an
---error instead, because runs are missing. `left` has sentences on missing runs, from `M.compared`.
function M.nothing(args, left)
  if args.kept then runs.lack(args, "runs of two losses that could be compared") end
  return figure.finish(args, nil, "Nothing is compared, as no two losses have runs on the same split." .. left)
end

---Returns `words`, a sentence on the paper's own result, as a paragraph for the text below the figure.
---Returns "" for made-up data.
function M.in_paper(args, words) return args.made_up and "" or "\n\n" .. words end

---One column of panels in a figure: a method (LambdaRank or listwise losses), on one or all data sets.
---@class sigir21.Column
---@field kind "lambda"|"listwise"
---@field dataset? string     nil if the column has all data sets
---@field title string        name of the column in tables
---@field words string        name of the column in sentences
---@field heading string      title of the column's first panel
---@field rows sigir21.Row[]  test scores, one per model, metric and split
---@field losses string[]     losses that have rows

---Returns one column of panels for each method, LambdaRank and listwise losses. With `by_dataset`,
---there is one for each method and data set. `rows` are the test scores that the figure shows.
function M.columns(rows, by_dataset)
  local columns = {}
  for _, kind in ipairs(kinds) do
    local of_kind = analysis.where(rows, { kind = kind })
    local datasets = by_dataset and analysis.distinct(of_kind, "dataset") or #of_kind > 0 and { false } or {}
    for _, dataset in ipairs(datasets) do
      local found = dataset and analysis.where(of_kind, { dataset = dataset }) or of_kind
      columns[#columns + 1] = {
        kind = kind,
        dataset = dataset or nil,
        rows = found,
        losses = analysis.distinct(found, "loss"),
        title = kind_titles[kind] .. (dataset and ", " .. dataset or ""),
        words = "With " .. M.kind_words[kind] .. (dataset and " on " .. dataset or ""),
        heading = kind_titles[kind] .. (dataset and "\n" .. dataset or ""),
      }
    end
  end
  return columns
end

---Draws a figure as a grid of panels, one for each metric and column. draw(column, metric, title)
---returns a panel; `title` is nil except in the first panel of a column. `height` is that of a panel.
function M.grid(args, columns, metrics, height, draw)
  local panels = { columns = #columns, width = math.max(260 * #columns, 600), height = height * #metrics + 90,
    title = figure.title(args) }
  for r, metric in ipairs(metrics) do
    for _, column in ipairs(columns) do panels[#panels + 1] = draw(column, metric, r == 1 and column.heading or nil) end
  end
  return mr.plot.facets(panels)
end

---Returns those test scores (rows) of a figure's column that are by one metric.
function M.of_metric(column, metric) return analysis.where(column.rows, { metric = metric }) end

-- Returns one series per loss for a plot. For every NSR in `ratios`, it has the mean test score over splits, and the
-- smallest and largest score of a split.
local function level_series(rows, losses, ratios)
  local series = {}
  for i, loss in ipairs(losses) do
    local one = { name = M.title(loss), values = {}, low = {}, high = {} }
    for k, nsr in ipairs(ratios) do
      one.values[k], one.low[k], one.high[k] = analysis.spread(analysis.where(rows, { loss = loss, nsr = nsr }))
    end
    series[i] = one
  end
  return series
end

-- Updates counts for the text of Figure 1. `steps` counts steps from one NSR to the next, and `falls` those in which
-- a loss's mean score falls. `cells` counts combinations of panel and NSR that have the RR loss, and `rr` those in
-- which this loss has the lowest mean.
local function count_levels(count, series, ratios)
  for k in ipairs(ratios) do
    local least, rr = math.huge, nil
    for _, one in ipairs(series) do
      local value, before = one.values[k], one.values[k - 1]
      if value == value then least = math.min(least, value) end
      if value == value and one.name == M.title "rr" then rr = value end
      if before and before == before and value == value then
        count.steps, count.falls = count.steps + 1, count.falls + (value < before and 1 or 0)
      end
    end
    if rr then count.cells, count.rr = count.cells + 1, count.rr + (rr == least and 1 or 0) end
  end
end

local function levels_text(args, count)
  local text = ""
  if count.steps > 0 then
    text = ([[
 With more negatives scores are lower in %d of %d steps from one NSR to the next: test sets have as many negatives for each
relevant item as training sets.]]):format(count.falls, count.steps)
  end
  if count.cells > 0 then
    text = ("%s\nThe loss of RR has the lowest mean in %d of %d cells of method, data set, metric and NSR.%s"):format(
      text, count.rr, count.cells, M.in_paper(args, "In the paper it is consistently the worst, also by RR itself."))
  end
  return text
end

---Makes Figure 1: mean test scores over splits at each NSR, with the smallest and largest score of a
---split. `number` is the figure's number in file names.
function M.levels(number)
  local args = M.args(number)
  local rows = runs.rows(args)
  local ratios, losses, lines = analysis.distinct(rows, "nsr"), analysis.distinct(rows, "loss"), {}
  local count = { steps = 0, falls = 0, cells = 0, rr = 0 }
  local pictures = M.grid(args, M.columns(rows, true), runs.metrics, 175, function(column, metric, heading)
    local series = level_series(M.of_metric(column, metric), losses, ratios)
    count_levels(count, series, ratios)
    for k, nsr in ipairs(ratios) do
      local line = { column.title, M.title(metric), nsr }
      for i, one in ipairs(series) do line[3 + i] = one.values[k] end
      lines[#lines + 1] = line
    end
    return mr.plot.intervals{
      categories = ratios,
      series = series,
      title = heading,
      xlabel = "NSR",
      ylabel = M.title(metric),
    }
  end)
  local heads, formats = { "method and data", "metric", "NSR", table.unpack(titles(losses)) }, {}
  for _, name in ipairs(titles(losses)) do formats[name] = "%.4f" end
  return figure.finish(args, pictures, ([[
The figure shows test scores by each metric of every loss, whose own metric chose the epoch and the learning rate: means over the
splits, with the least and the largest of them. The listwise nRBP loss has three models, which RBP of three persistences
chose.%s%s]]):format(levels_text(args, count), missing(args)),
    mr.table{ columns = heads, rows = lines, formats = formats })
end

-- Returns a panel that shows how often each loss is best by each metric, and a sentence on these numbers. Adds the
-- numbers to `lines`, the lines of the figure's table.
local function frequency_panel(column, lines)
  local values, totals, places, cases = {}, {}, 0, 0
  for r, metric in ipairs(runs.metrics) do
    local counts, n = analysis.best_counts(M.of_metric(column, metric))
    values[r], cases = {}, cases + n
    for i, loss in ipairs(column.losses) do
      values[r][i], totals[i], places = counts[loss], (totals[i] or 0) + counts[loss], places + counts[loss]
      lines[#lines + 1] = { column.title, M.title(metric), M.title(loss), counts[loss], n }
    end
  end
  local parts, never = {}, {}
  for i, loss in ipairs(column.losses) do
    if totals[i] > 0 then
      parts[#parts + 1] = ("%s in %d"):format(M.title(loss), totals[i])
    else
      never[#never + 1] = M.title(loss)
    end
  end
  local panel = mr.plot.heatmap{
    x = titles(column.losses),
    y = titles(runs.metrics),
    values = values,
    labels = "%.0f",
    title = column.heading,
    xlabel = "loss",
    ylabel = "metric",
    zlabel = "times best",
    zrange = { 0, math.max(1, cases // #runs.metrics) },
  }
  return panel, ("%s the best loss is that of %s of %d cases%s%s."):format(column.words, listed(parts), cases,
    #never > 0 and ", never that of " .. listed(never, "or") or "",
    places > cases and ("; %d of these are shared places"):format(places - cases) or "")
end

---Makes Figure 2: how often each loss has the best test score by each metric. `number` is the figure's
---number in file names.
function M.frequencies(number)
  local args = M.args(number)
  local panels, lines, sentences, rows, left = {}, {}, {}, M.compared(args)
  if #rows == 0 then return M.nothing(args, left) end
  for i, column in ipairs(M.columns(rows, true)) do panels[i], sentences[i] = frequency_panel(column, lines) end
  panels.columns, panels.title = #analysis.distinct(rows, "dataset"), figure.title(args)
  panels.width, panels.height = 400 * panels.columns, 330 * ((#panels + panels.columns - 1) // panels.columns) + 40
  return figure.finish(args, mr.plot.facets(panels), ([[
The figure shows how often each loss has the best test score by a metric; a case is one metric, split and NSR, and losses that tie are
all counted. The loss of RR is left out, as in the paper.

%s%s%s]]):format(table.concat(sentences, "\n"), left, M.in_paper(args,
      "In the paper most of the best scores are those of nRBP losses, of LambdaRank those of nRBP(0.95).")),
    mr.table{ columns = { "method and data", "metric", "loss", "best", "cases" }, rows = lines, mark = { best = "max" },
      within = { "method and data", "metric" } })
end

-- Returns the marginal mean of each loss from a linear model of scores: on the data set of the figure's column, or
-- over all data sets if the column has none.
local function means_of(model, column)
  if not column.dataset or #column.datasets == 1 then return model:emmeans "loss" end
  local kept = {}
  for _, mean in ipairs(model:emmeans("loss", "dataset")) do
    if mean.levels[2] == column.dataset then kept[#kept + 1] = mean end
  end
  return kept
end

-- Draws a panel of marginal means by loss, each with the confidence interval of the mean and the wider prediction
-- interval of a single training run.
local function means_panel(means, metric, heading)
  local one = { values = {}, low = {}, high = {}, wide_low = {}, wide_high = {} }
  local names = {}
  for i, mean in ipairs(means) do
    names[i], one.values[i] = M.title(mean.levels[1]), mean.mean
    one.low[i], one.high[i], one.wide_low[i], one.wide_high[i] = mean.low, mean.high, mean.prediction_low,
      mean.prediction_high
  end
  return mr.plot.intervals{ categories = names, series = { one }, horizontal = true, legend = "none", title = heading,
    xlabel = "standardised score", ylabel = M.title(metric) }
end

-- Adds the marginal means of a panel, with their intervals, to `lines`, the lines of the figure's table.
local function add_lines(lines, column, metric, means)
  for _, mean in ipairs(means) do
    lines[#lines + 1] = { column.title, M.title(metric), M.title(mean.levels[1]), mean.mean, mean.low, mean.high,
      mean.prediction_low, mean.prediction_high }
  end
end

local function means_table(lines)
  local formats = {}
  for _, name in ipairs{ "mean", "95 % from", "to", "one run from", "up to" } do formats[name] = "%+.3f" end
  return mr.table{
    columns = { "method", "metric", "loss", "mean", "95 % from", "to", "one run from", "up to" },
    rows = lines,
    formats = formats,
    mark = { mean = "max" },
    within = { "method", "metric" },
  }
end

-- Returns a text that names the losses with the highest mean and the metrics by which they have it: "nRBP by RR and
-- AP, that of nDCG by nDCG". `winners` has one loss per metric.
local function winners_text(winners)
  local order, by = {}, {}
  for _, each in ipairs(winners) do
    if not by[each.loss] then by[each.loss], order[#order + 1] = {}, each.loss end
    table.insert(by[each.loss], M.title(each.metric))
  end
  local parts = {}
  for i, loss in ipairs(order) do
    parts[i] = ("%s by %s"):format(M.title(loss), #by[loss] == #winners and "all metrics" or listed(by[loss]))
  end
  return table.concat(parts, ", that of ")
end

local no_intervals = "There are as many means as runs, and so no intervals."

-- Returns a sentence that names the metrics by which the best loss is significantly above all others. `winners` has
-- the best loss by each metric.
local function significance_text(winners)
  local found = {}
  if winners[1].df < 1 then return no_intervals end
  for _, each in ipairs(winners) do
    if each.significant then found[#found + 1] = M.title(each.metric) end
  end
  if #found == 0 then return "By no metric is it significantly above all others." end
  return ("It is significantly above all others by %s."):format(#found == #winners and "all metrics" or listed(found))
end

local about_model = [[
The figure shows marginal means of scores that were standardised within data set and NSR, from a linear model for each method and
metric, with the loss, the data set, the NSR and the interactions of the loss with the other two. The short interval is that of 95 %
for the mean, the long one that for a single run.]]

---Makes Figure 3: marginal means of test scores by loss, from a linear model over all data sets.
---`number` is the figure's number in file names.
function M.marginal_means(number)
  local args = M.args(number)
  local lines, sentences, winners, rows, left = {}, {}, {}, M.compared(args)
  if #rows == 0 then return M.nothing(args, left) end
  local columns = M.columns(rows, false)
  local pictures = M.grid(args, columns, runs.metrics, 180, function(column, metric, heading)
    local model = protocol.linear_model(M.of_metric(column, metric))
    local means, loss, significant = means_of(model, column), protocol.winner(model, column.kind)
    winners[column] = winners[column] or {}
    table.insert(winners[column], { metric = metric, loss = loss, significant = significant, df = model.df })
    add_lines(lines, column, metric, means)
    return means_panel(means, metric, heading)
  end)
  for i, column in ipairs(columns) do
    sentences[i] = ("%s the highest mean is that of %s. %s"):format(column.words, winners_text(winners[column]),
      significance_text(winners[column]))
  end
  return figure.finish(args, pictures, ([[
%s

%s
Significance is by Student's t-test of the differences of means, with Holm's correction over all pairs of losses by one
metric. The three models of listwise nRBP are of one training, and not held against each other.%s%s]]):format(
      about_model, table.concat(sentences, "\n"), left, M.in_paper(args, [[
In the paper nRBP(0.95) of LambdaRank and listwise nRBP are significantly above all others by all six metrics.]])),
    means_table(lines))
end

-- Returns the loss with the highest marginal mean, and whether its prediction interval overlaps that of the next
-- loss. Models of the same training run as the highest (listwise nRBP has three models) are skipped.
local function highest(means, kind)
  local sorted = table.move(means, 1, #means, 1, {})
  table.sort(sorted, function(a, b) return a.mean > b.mean end)
  local first, place = sorted[1], 2
  while place < #sorted and protocol.same_training(kind, first.levels[1], sorted[place].levels[1]) do
    place = place + 1
  end
  return first.levels[1], first.prediction_low <= sorted[place].prediction_high
end

-- Returns a sentence that says by how many metrics the prediction intervals of the two highest means overlap.
-- `winners` has the best loss by each metric.
local function overlap_text(winners)
  local count = 0
  if winners[1].df < 1 then return no_intervals end
  for _, each in ipairs(winners) do count = count + (each.overlap and 1 or 0) end
  return ("The prediction intervals of the two highest overlap by %d of %d metrics."):format(count, #winners)
end

---Makes Figure 4: marginal means of test scores by loss and data set, from a linear model. `number` is
---the figure's number in file names.
function M.marginal_means_by_data(number)
  local args = M.args(number)
  local lines, sentences, models, winners, rows, left = {}, {}, {}, {}, M.compared(args)
  if #rows == 0 then return M.nothing(args, left) end
  local columns = M.columns(rows, true)
  local pictures = M.grid(args, columns, runs.metrics, 180, function(column, metric, heading)
    local of_kind, key = analysis.where(rows, { kind = column.kind, metric = metric }), column.kind .. " " .. metric
    models[key], column.datasets = models[key] or protocol.linear_model(of_kind), analysis.distinct(of_kind, "dataset")
    local means = means_of(models[key], column)
    local loss, overlap = highest(means, column.kind)
    winners[column] = winners[column] or {}
    table.insert(winners[column], { metric = metric, loss = loss, overlap = overlap, df = models[key].df })
    add_lines(lines, column, metric, means)
    return means_panel(means, metric, heading)
  end)
  for i, column in ipairs(columns) do
    local found = winners[column]
    sentences[i] = ("%s the highest mean is that of %s. %s"):format(column.words, winners_text(found),
      overlap_text(found))
  end
  return figure.finish(args, pictures, ([[
%s

%s%s%s]]):format(about_model, table.concat(sentences, "\n"), left, M.in_paper(args, [[
In the paper LambdaRank with nRBP(0.95) is the best on all data sets but Epinions, and on CiteULike listwise nRBP is above the others
without any overlap of prediction intervals except by RR.]])), means_table(lines))
end

return M
