-- Figures 1 to 5 of Li, Urbano & Hanjalic (2021) from the kept runs: their panels, tables and sentences. Columns are methods and data sets,
-- rows are evaluation metrics.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, analysis, figure = dofile(here .. "runs.lua"), dofile(here .. "analysis.lua"), dofile(here .. "../thesis/figure.lua")

local M = {}

local kind_titles = { lambda = "LambdaRank", listwise = "Listwise" }
local kind_words = { lambda = "LambdaRank", listwise = "listwise losses" }
local kinds = { "lambda", "listwise" }

local function title(name) return runs.title_of[name] or name end

-- "a", "a and b", "a, b and c"; or with another word than "and".
local function listed(words, last)
  if #words < 2 then return words[1] end
  return ("%s %s %s"):format(table.concat(words, ", ", 1, #words - 1), last or "and", words[#words])
end

local function titles(names)
  local found = {}
  for i, name in ipairs(names) do found[i] = title(name) end
  return found
end

local function args_of(number)
  local own = figure.options("figure_" .. number, {})
  own.out.default = ("results/sigir21/figure_%s.svg"):format(number)
  return runs.args(own, { smoke = { nsr = { 1, 2 } } })
end

-- What the paper says, which has no place beside made-up data.
local function in_paper(args, words) return args.made_up and "" or "\n" .. words end

---@class sigir21.Column
---@field kind "lambda"|"listwise"
---@field dataset? string     all, where there is none
---@field title string        in tables
---@field words string        in sentences
---@field heading string      of its first panel
---@field rows sigir21.Row[]
---@field losses string[]

-- A column of panels for every method and, if asked for, every data set.
local function columns_of(rows, by_dataset)
  local columns = {}
  for _, kind in ipairs(kinds) do
    local of_kind = analysis.where(rows, { kind = kind })
    for _, dataset in ipairs(by_dataset and analysis.distinct(of_kind, "dataset") or #of_kind > 0 and { false } or {}) do
      local found = dataset and analysis.where(of_kind, { dataset = dataset }) or of_kind
      columns[#columns + 1] = { kind = kind, dataset = dataset or nil, rows = found, losses = analysis.distinct(found, "loss"),
        title = kind_titles[kind] .. (dataset and ", " .. dataset or ""),
        words = "With " .. kind_words[kind] .. (dataset and " on " .. dataset or ""),
        heading = kind_titles[kind] .. (dataset and "\n" .. dataset or "") }
    end
  end
  return columns
end

-- Panels of all metrics and columns: draw(column, metric, title) makes one; the title stands over the first of a column.
local function grid(args, columns, metrics, height, draw)
  local panels = { columns = #columns, width = math.max(260 * #columns, 600), height = height * #metrics + 90, title = figure.title(args) }
  for r, metric in ipairs(metrics) do
    for _, column in ipairs(columns) do panels[#panels + 1] = draw(column, metric, r == 1 and column.heading or nil) end
  end
  return mr.plot.facets(panels)
end

local function of_metric(column, metric) return analysis.where(column.rows, { metric = metric }) end

-- Means over the splits by NSR of every loss, with the least and the largest split: series of a figure.
local function level_series(rows, losses, ratios)
  local series = {}
  for i, loss in ipairs(losses) do
    local one = { name = title(loss), values = {}, low = {}, high = {} }
    for k, nsr in ipairs(ratios) do
      one.values[k], one.low[k], one.high[k] = analysis.spread(analysis.where(rows, { loss = loss, nsr = nsr }))
    end
    series[i] = one
  end
  return series
end

-- How many means fall from one NSR to the next, and of how many; how often RR's is the lowest at an NSR.
local function count_levels(count, series, ratios)
  for k in ipairs(ratios) do
    local least
    for _, one in ipairs(series) do
      local value, before = one.values[k], one.values[k - 1]
      if value == value and (not least or value < least.values[k]) then least = one end
      if before and value == value then count.steps, count.falls = count.steps + 1, count.falls + (value < before and 1 or 0) end
    end
    count.cells, count.rr = count.cells + 1, count.rr + (least and least.name == title "rr" and 1 or 0)
  end
end

---Figure 1: means over the splits by NSR, with the least and the largest split.
function M.levels(number)
  local args = args_of(number)
  local rows = runs.rows(args)
  local ratios, losses, lines = analysis.distinct(rows, "nsr"), analysis.distinct(rows, "loss"), {}
  local count = { steps = 0, falls = 0, cells = 0, rr = 0 }
  local pictures = grid(args, columns_of(rows, true), runs.metrics, 175, function(column, metric, heading)
    local series = level_series(of_metric(column, metric), losses, ratios)
    count_levels(count, series, ratios)
    for k, nsr in ipairs(ratios) do
      local line = { column.title, title(metric), nsr }
      for i, one in ipairs(series) do line[3 + i] = one.values[k] end
      lines[#lines + 1] = line
    end
    return mr.plot.intervals{ categories = ratios, series = series, title = heading, xlabel = "NSR", ylabel = title(metric) }
  end)
  local heads, formats = { "method and data", "metric", "NSR", table.unpack(titles(losses)) }, {}
  for _, name in ipairs(titles(losses)) do formats[name] = "%.4f" end
  return figure.finish(args, pictures, ([[
Test scores by each metric, which also chose the epoch and the learning rate, of every loss: means over the splits, with the least and the
largest of them. With more negatives scores are lower in %d of %d steps from one NSR to the next: test sets have as many negatives for each
relevant item as training sets. The loss of RR has the lowest mean in %d of %d cells of method, data set, metric and NSR.%s]]):format(
      count.falls, count.steps, count.rr, count.cells, in_paper(args, "In the paper it is consistently the worst, also by RR itself.")),
    mr.table{ columns = heads, rows = lines, formats = formats })
end

-- A panel of how often each loss is the best by each metric; lines of the table, and a sentence.
local function frequency_panel(column, lines)
  local values, totals, places, cases = {}, {}, 0, 0
  for r, metric in ipairs(runs.metrics) do
    local counts, n = analysis.best_counts(of_metric(column, metric))
    values[r], cases = {}, cases + n
    for i, loss in ipairs(column.losses) do
      values[r][i], totals[i], places = counts[loss], (totals[i] or 0) + counts[loss], places + counts[loss]
      lines[#lines + 1] = { column.title, title(metric), title(loss), counts[loss], n }
    end
  end
  local parts, never = {}, {}
  for i, loss in ipairs(column.losses) do
    if totals[i] > 0 then parts[#parts + 1] = ("%s in %d"):format(title(loss), totals[i]) else never[#never + 1] = title(loss) end
  end
  local panel = mr.plot.heatmap{ x = titles(column.losses), y = titles(runs.metrics), values = values, labels = "%.0f",
    title = column.heading, xlabel = "loss", ylabel = "metric", zlabel = "times best", zrange = { 0, math.max(1, cases // #runs.metrics) } }
  return panel, ("%s the best loss is that of %s of %d cases%s%s."):format(column.words, listed(parts), cases,
    #never > 0 and ", never that of " .. listed(never, "or") or "",
    places > cases and ("; %d places are shared"):format(places - cases) or "")
end

---Figure 2: how often each loss is the best by each metric.
function M.frequencies(number)
  local args = args_of(number)
  local rows, panels, lines, sentences = analysis.analysed(runs.rows(args)), {}, {}, {}
  for i, column in ipairs(columns_of(rows, true)) do panels[i], sentences[i] = frequency_panel(column, lines) end
  panels.columns, panels.title = #analysis.distinct(rows, "dataset"), figure.title(args)
  panels.width, panels.height = 400 * panels.columns, 330 * ((#panels + panels.columns - 1) // panels.columns) + 40
  return figure.finish(args, mr.plot.facets(panels), ([[
How often each loss has the best test score by a metric; a case is one metric, split and NSR, and losses that tie are all counted. The loss
of RR is left out, as in the paper.
%s%s]]):format(table.concat(sentences, "\n"), in_paper(args,
      "In the paper most of the best scores are those of nRBP losses, of LambdaRank those of nRBP(0.95).")),
    mr.table{ columns = { "method and data", "metric", "loss", "best", "cases" }, rows = lines })
end

-- Marginal means of a model by loss: over all data sets, or on one of several.
local function means_of(model, column)
  if not column.dataset or #column.datasets == 1 then return model:emmeans "loss" end
  local kept = {}
  for _, mean in ipairs(model:emmeans("loss", "dataset")) do
    if mean.levels[2] == column.dataset then kept[#kept + 1] = mean end
  end
  return kept
end

-- A panel of marginal means by loss, with both intervals.
local function means_panel(means, metric, heading)
  local one = { values = {}, low = {}, high = {}, wide_low = {}, wide_high = {} }
  local names = {}
  for i, mean in ipairs(means) do
    names[i], one.values[i] = title(mean.levels[1]), mean.mean
    one.low[i], one.high[i], one.wide_low[i], one.wide_high[i] = mean.low, mean.high, mean.prediction_low, mean.prediction_high
  end
  return mr.plot.intervals{ categories = names, series = { one }, horizontal = true, legend = "none", title = heading,
    xlabel = "standardised score", ylabel = title(metric) }
end

-- Lines of a table of marginal means.
local function add_lines(lines, column, metric, means)
  for _, mean in ipairs(means) do
    lines[#lines + 1] = { column.title, title(metric), title(mean.levels[1]), mean.mean, mean.low, mean.high, mean.prediction_low,
      mean.prediction_high }
  end
end

local function means_table(lines)
  local formats = {}
  for _, name in ipairs{ "mean", "95 % from", "to", "one run from", "up to" } do formats[name] = "%+.3f" end
  return mr.table{ columns = { "method", "metric", "loss", "mean", "95 % from", "to", "one run from", "up to" }, rows = lines,
    formats = formats }
end

-- "nRBP by RR and AP, that of nDCG by nDCG": the metrics that each winner wins by.
local function winners_text(winners)
  local order, by = {}, {}
  for _, each in ipairs(winners) do
    if not by[each.loss] then by[each.loss], order[#order + 1] = {}, each.loss end
    table.insert(by[each.loss], title(each.metric))
  end
  local parts = {}
  for i, loss in ipairs(order) do
    parts[i] = ("%s by %s"):format(title(loss), #by[loss] == #winners and "all metrics" or listed(by[loss]))
  end
  return table.concat(parts, ", that of ")
end

-- By which metrics the winner is significantly above all others.
local function significance_text(winners)
  local found = {}
  for _, each in ipairs(winners) do
    if each.significant then found[#found + 1] = title(each.metric) end
  end
  if #found == 0 then return "By no metric is it significantly above all others." end
  return ("It is significantly above all others by %s."):format(#found == #winners and "all metrics" or listed(found))
end

local about_model = [[
Marginal means of scores that were standardised within data set and NSR, from a linear model for each method and metric, with the loss,
the data set, the NSR and the interactions of the loss with the other two. The short interval is that of 95 % for the mean, the long one
that for a single run.]]

---Figure 3: marginal means by loss.
function M.marginal_means(number)
  local args = args_of(number)
  local rows, lines, sentences = analysis.analysed(runs.rows(args)), {}, {}
  local columns, winners = columns_of(rows, false), {}
  local pictures = grid(args, columns, runs.metrics, 180, function(column, metric, heading)
    local model = analysis.model(of_metric(column, metric))
    local means, loss, significant = means_of(model, column), analysis.winner(model)
    winners[column] = winners[column] or {}
    table.insert(winners[column], { metric = metric, loss = loss, significant = significant })
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
Significance is by Student's t-test of the differences of means, with Holm's correction over all pairs of losses by one metric.%s]]):format(
      about_model, table.concat(sentences, "\n"), in_paper(args, [[
In the paper nRBP(0.95) of LambdaRank and listwise nRBP are significantly above all others by all six metrics.]])), means_table(lines))
end

-- Whether the prediction intervals of the two highest means overlap; without intervals they do.
local function overlap(means)
  local sorted = table.move(means, 1, #means, 1, {})
  table.sort(sorted, function(a, b) return a.mean > b.mean end)
  return not (sorted[2] and sorted[1].prediction_low > sorted[2].prediction_high)
end

---Figure 4: marginal means by loss and data set.
function M.marginal_means_by_data(number)
  local args = args_of(number)
  local rows, lines, sentences, models = analysis.analysed(runs.rows(args)), {}, {}, {}
  local columns, winners, overlaps = columns_of(rows, true), {}, {}
  local pictures = grid(args, columns, runs.metrics, 180, function(column, metric, heading)
    local of_kind, key = analysis.where(rows, { kind = column.kind, metric = metric }), column.kind .. " " .. metric
    models[key], column.datasets = models[key] or analysis.model(of_kind), analysis.distinct(of_kind, "dataset")
    local means, best = means_of(models[key], column), nil
    for _, mean in ipairs(means) do best = best and best.mean >= mean.mean and best or mean end
    winners[column], overlaps[column] = winners[column] or {}, (overlaps[column] or 0) + (overlap(means) and 1 or 0)
    table.insert(winners[column], { metric = metric, loss = best.levels[1] })
    add_lines(lines, column, metric, means)
    return means_panel(means, metric, heading)
  end)
  for i, column in ipairs(columns) do
    sentences[i] = ([[
%s the highest mean is that of %s. The prediction intervals of the two highest overlap by %d of %d metrics.]]):format(column.words,
      winners_text(winners[column]), overlaps[column], #runs.metrics)
  end
  return figure.finish(args, pictures, ([[
%s
%s%s]]):format(about_model, table.concat(sentences, "\n"), in_paper(args, [[
In the paper LambdaRank with nRBP(0.95) is the best on all data sets but Epinions, and on CiteULike listwise nRBP is above the others
without any overlap of prediction intervals except by RR.]])), means_table(lines))
end

local function quantile(ordered, q) return ordered[math.max(1, math.ceil(q * #ordered))] end

-- The fit at a place, with its interval, as text, and on which side of 0 the interval lies.
local function fit_at(fit, place)
  local x, best = fit.x:totable(), 1
  for i in ipairs(x) do best = math.abs(x[i] - place) < math.abs(x[best] - place) and i or best end
  local low, high = fit.low[best]:item(), fit.high[best]:item()
  return ("%+.4f (%+.4f to %+.4f)"):format(fit.y[best]:item(), low, high), low > 0 and 1 or high < 0 and -1 or 0
end

-- Slope of the differences over log2 of the positives, and p by Student's t.
local function slope_of(x, y)
  local model = mr.stats.linear_model{ y = y, covariates = { positives = x } }
  local slope = model.coefficients.positives
  return slope, core.student_p(slope / model.errors.positives, model.df)
end

-- The loss of nRBP(0.95) of a method.
local function nrbp_of(kind) return kind == "lambda" and "nrbp(0.95)" or "nrbp" end

-- The curve of one method's nRBP less another loss, as a series of a figure, and its line of the table.
local function difference_curve(column, metric, other)
  local found = of_metric(column, metric)
  local x, y = analysis.differences(analysis.where(found, { loss = nrbp_of(column.kind) }), analysis.where(found, { loss = other }))
  local ordered = table.move(x, 1, #x, 1, {})
  table.sort(ordered)
  local fit = mr.stats.spline(x, y, { range = { quantile(ordered, 0.01), quantile(ordered, 0.99) } })
  local few, many, slope, p = quantile(ordered, 0.1), quantile(ordered, 0.9), slope_of(x, y)
  local few_text, few_side = fit_at(fit, few)
  local many_text, many_side = fit_at(fit, many)
  return { x = (fit.x * math.log(2)):exp(), y = fit.y, low = fit.low, high = fit.high },
    { few = few_side, many = many_side, slope = slope, p = p, kind = column.kind,
      line = { column.title, title(metric), title(other), ("%.0f"):format(2 ^ few), few_text, ("%.0f"):format(2 ^ many), many_text, slope,
        p, #y } }
end

-- A sentence on all curves of a method; `adjusted` are the corrected p of all curves.
local function curves_text(kind, curves, adjusted)
  local few, many, ways, all = { [-1] = 0, [0] = 0, [1] = 0 }, { [-1] = 0, [0] = 0, [1] = 0 }, { rise = 0, fall = 0 }, 0
  for i, each in ipairs(curves) do
    if each.kind == kind then
      all, few[each.few], many[each.many] = all + 1, few[each.few] + 1, many[each.many] + 1
      local way = each.slope > 0 and "rise" or "fall"
      if adjusted[i] < 0.05 then ways[way] = ways[way] + 1 end
    end
  end
  return ([[
With %s %d of %d curves rise significantly with the number of positives and %d fall (slope over its logarithm, Student's t, Holm's
correction over all curves). Where users have few positives (the tenth percentile) the interval lies above 0 in %d and below it in %d;
where they have many (the ninetieth) above in %d and below in %d.]]):format(kind_words[kind], ways.rise, all, ways.fall, few[1], few[-1],
    many[1], many[-1])
end

---Figure 5: the gain of nRBP(0.95) over AP and nDCG against the number of positives, at the largest NSR.
function M.gains(number)
  local args = args_of(number)
  local nsr = math.max(table.unpack(args.nsr))
  local columns, curves, ps, lines, sentences = columns_of(analysis.where(runs.rows(args), { nsr = nsr }), true), {}, {}, {}, {}
  local pictures = grid(args, columns, runs.metrics, 175, function(column, metric, heading)
    local series = {}
    for i, other in ipairs{ "ap", "ndcg" } do
      local one, about = difference_curve(column, metric, other)
      one.name, one.style, series[i] = "less " .. title(other), i == 1 and "solid" or "dashed", one
      curves[#curves + 1], lines[#lines + 1], ps[#ps + 1] = about, about.line, about.p
    end
    return mr.plot.lines{ series = series, hlines = { 0 }, xlog = true, title = heading, xlabel = "positives in train",
      ylabel = title(metric) }
  end)
  local adjusted = mr.stats.holm(ps)
  for _, kind in ipairs(args.kinds) do sentences[#sentences + 1] = curves_text(kind, curves, adjusted) end
  return figure.finish(args, pictures, ([[
Each user's test score under the loss of nRBP (of LambdaRank nRBP(0.95)) less that under AP or nDCG at NSR %d, means over the splits; above
0 nRBP is better. Curves are cubic smoothing splines over the logarithm of the number of positives in train (penalty by generalised cross
validation) with their interval of 95 %%, point by point, from the first to the last percentile of users.
%s%s]]):format(nsr, table.concat(sentences, "\n"), in_paper(args, [[
In the paper listwise curves rise on all data sets but Epinions, those of LambdaRank have no clear direction.]])),
    mr.table{ columns = { "method and data", "metric", "less", "few", "there (95 %)", "many", "there", "slope", "p", "users" },
      rows = lines, formats = { slope = "%+.4f", p = "%.3g" } })
end

return M
