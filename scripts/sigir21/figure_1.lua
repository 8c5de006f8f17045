-- Makes Figure 1 of Li, Urbano & Hanjalic (2021): how well do the losses of LambdaRank and the listwise losses
-- rank, by each metric and at each NSR (sampled negatives per relevant item)?
local mr = require "moonrank"
local figures = dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua")
local analysis, title = figures.analysis, figures.title

-- Returns one series per loss for a plot. For every NSR in `ratios`, it has the mean test score over splits, and the
-- smallest and largest score of a split.
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

-- Updates counts for the text of Figure 1. `steps` counts steps from one NSR to the next, and `falls` those in which
-- a loss's mean score falls. `cells` counts combinations of panel and NSR that have the RR loss, and `rr` those in
-- which this loss has the lowest mean.
local function count_levels(count, series, ratios)
  for k in ipairs(ratios) do
    local least, rr = math.huge, nil
    for _, one in ipairs(series) do
      local value, before = one.values[k], one.values[k - 1]
      if value == value then least = math.min(least, value) end
      if value == value and one.name == title "rr" then rr = value end
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
 With more negatives scores are lower in %d of %d steps from one NSR to the next: test sets have as many negatives for
each relevant item as training sets.]]):format(count.falls, count.steps)
  end
  if count.cells > 0 then
    text = ("%s\nThe loss of RR has the lowest mean in %d of %d cells of method, data set, metric and NSR.%s"):format(
      text, count.rr, count.cells,
      figures.in_paper(args, "In the paper it is consistently the worst, also by RR itself."))
  end
  return text
end

local args = figures.args(1)
local rows = figures.rows(args)
local ratios, losses, lines, splits_of = analysis.distinct(rows, "nsr"), analysis.distinct(rows, "loss"), {}, {}
local count = { steps = 0, falls = 0, cells = 0, rr = 0 }
local pictures = figures.grid(args, figures.columns(rows, true), figures.metrics, 175, function(column, metric, heading)
  local series = level_series(figures.of_metric(column, metric), losses, ratios)
  count_levels(count, series, ratios)
  for k, nsr in ipairs(ratios) do
    local line = { column.title, title(metric), nsr }
    for i, one in ipairs(series) do line[3 + i] = one.values[k] end
    lines[#lines + 1], splits_of[line] = line, #analysis.distinct(analysis.where(column.rows, { nsr = nsr }), "split")
  end
  return mr.plot.intervals{
    categories = ratios,
    series = series,
    title = heading,
    xlabel = "NSR",
    ylabel = title(metric),
  }
end)
local heads, formats = { "method and data", "metric", "NSR", table.unpack(figures.titles(losses)) }, {}
for _, name in ipairs(figures.titles(losses)) do formats[name] = "%.4f" end
return mr.experiment.finish(args, pictures, ([[
The figure shows test scores by each metric of every loss, whose own metric chose the epoch and the learning rate:
means over the splits, with the least and the largest of them. The listwise nRBP loss has three models, which RBP of
three persistences chose.%s%s]]):format(levels_text(args, count), figures.missing(args)),
  mr.experiment.named("", mr.table{ columns = heads, rows = lines, formats = formats },
    mr.experiment.cells(nil, function(line) return splits_of[line] end), ([[
NSR: negative sampling ratio; %s: mean over the splits of the row's metric on test, of the models that were trained on
this loss. Its own metric chose the epoch and the learning rate.]]):format(figures.listed(figures.titles(losses)))))
