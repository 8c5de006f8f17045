-- Shared code of Figures 3 and 4 of Li, Urbano & Hanjalic (2021): marginal means of standardised scores by loss, from a
-- linear model, as panels, lines of a table, and sentences.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local figures = dofile(here .. "figures.lua")
local title = figures.title

local M = { figures = figures }

---Returns the marginal mean of each loss from a linear model of scores: on the data set of the figure's column, or
---over all data sets if the column has none.
function M.of(model, column)
  if not column.dataset or #column.datasets == 1 then return model:emmeans "loss" end
  local kept = {}
  for _, mean in ipairs(model:emmeans("loss", "dataset")) do
    if mean.levels[2] == column.dataset then kept[#kept + 1] = mean end
  end
  return kept
end

---Draws a panel of marginal means by loss, each with the confidence interval of the mean and the wider prediction
---interval of a single training run.
function M.panel(means, metric, heading)
  local one = { values = {}, low = {}, high = {}, wide_low = {}, wide_high = {} }
  local names = {}
  for i, mean in ipairs(means) do
    names[i], one.values[i] = title(mean.levels[1]), mean.mean
    one.low[i], one.high[i], one.wide_low[i], one.wide_high[i] = mean.low, mean.high, mean.prediction_low,
      mean.prediction_high
  end
  return mr.plot.intervals{ categories = names, series = { one }, horizontal = true, legend = "none", title = heading,
    xlabel = "standardised score", ylabel = title(metric) }
end

local runs_of = setmetatable({}, { __mode = "k" })  -- number of training runs of the loss in a table line, by line

---Adds the marginal means of a panel, with their intervals, to `lines`, the lines of the figure's table.
function M.add_lines(lines, column, metric, means)
  for _, mean in ipairs(means) do
    local line = { column.title, title(metric), title(mean.levels[1]), mean.mean, mean.low, mean.high,
      mean.prediction_low, mean.prediction_high }
    lines[#lines + 1] = line
    runs_of[line] = #figures.analysis.where(column.rows, { metric = metric, loss = mean.levels[1] })
  end
end

---Returns the table of marginal means with their intervals and numbers of runs, for mr.experiment.finish.
function M.table(lines)
  local formats, cells = {}, mr.experiment.cells("Student's t over splits and negative sampling ratios",
    function(line) return runs_of[line] end)
  for _, name in ipairs{ "mean", "95 % from", "to", "one run from", "up to" } do formats[name] = "%+.3f" end
  for i, line in ipairs(lines) do
    if line[5] == line[5] then cells:note(i, "mean", { line[5], line[6] }) end
  end
  return mr.experiment.named("", mr.table{
    columns = { "method", "metric", "loss", "mean", "95 % from", "to", "one run from", "up to" },
    rows = lines,
    formats = formats,
    mark = { mean = "max" },
    within = { "method", "metric" },
  }, cells, [[
mean: marginal mean of test scores that were standardised within data set and negative sampling ratio; 95 % from, to:
its confidence interval; one run from, up to: prediction interval of a single training run.]])
end

---Returns a text that names the losses with the highest mean and the metrics by which they have it: "nRBP by RR and
---AP, that of nDCG by nDCG". `winners` has one loss per metric.
function M.winners_text(winners)
  local order, by = {}, {}
  for _, each in ipairs(winners) do
    if not by[each.loss] then by[each.loss], order[#order + 1] = {}, each.loss end
    table.insert(by[each.loss], title(each.metric))
  end
  local parts = {}
  for i, loss in ipairs(order) do
    parts[i] = ("%s by %s"):format(title(loss), #by[loss] == #winners and "all metrics" or figures.listed(by[loss]))
  end
  return table.concat(parts, ", that of ")
end

---Says instead of intervals why there are none.
M.no_intervals = "There are as many means as runs, and so no intervals."

---Says what the figures show.
M.about = [[
The figure shows marginal means of scores that were standardised within data set and NSR, from a linear model for each
method and metric, with the loss, the data set, the NSR and the interactions of the loss with the other two. The short
interval is that of 95 % for the mean, the long one that for a single run.]]

return M
