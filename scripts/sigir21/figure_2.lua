-- Makes Figure 2 of Li, Urbano & Hanjalic (2021): how often is each loss the best, by each metric?
local mr = require "moonrank"
local figures = dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua")
local analysis, title = figures.analysis, figures.title

-- Returns a panel that shows how often each loss is best by each metric, and a sentence on these numbers. Adds the
-- numbers to `lines`, the lines of the figure's table.
local function frequency_panel(column, lines)
  local values, totals, places, cases = {}, {}, 0, 0
  for r, metric in ipairs(figures.metrics) do
    local counts, n = analysis.best_counts(figures.of_metric(column, metric))
    values[r], cases = {}, cases + n
    for i, loss in ipairs(column.losses) do
      values[r][i], totals[i], places = counts[loss], (totals[i] or 0) + counts[loss], places + counts[loss]
      lines[#lines + 1] = { column.title, title(metric), title(loss), counts[loss], n }
    end
  end
  local parts, never = {}, {}
  for i, loss in ipairs(column.losses) do
    if totals[i] > 0 then
      parts[#parts + 1] = ("%s in %d"):format(title(loss), totals[i])
    else
      never[#never + 1] = title(loss)
    end
  end
  local panel = mr.plot.heatmap{
    x = figures.titles(column.losses),
    y = figures.titles(figures.metrics),
    values = values,
    labels = "%.0f",
    title = column.heading,
    xlabel = "loss",
    ylabel = "metric",
    zlabel = "times best",
    zrange = { 0, math.max(1, cases // #figures.metrics) },
  }
  return panel, ("%s the best loss is that of %s of %d cases%s%s."):format(column.words, figures.listed(parts), cases,
    #never > 0 and ", never that of " .. figures.listed(never, "or") or "",
    places > cases and ("; %d of these are shared places"):format(places - cases) or "")
end

local args = figures.args(2)
local panels, lines, sentences, rows, left = {}, {}, {}, figures.compared(args)
if #rows == 0 then return figures.nothing(args, left) end
for i, column in ipairs(figures.columns(rows, true)) do panels[i], sentences[i] = frequency_panel(column, lines) end
panels.columns, panels.title = #analysis.distinct(rows, "dataset"), figures.heading(args)
panels.width, panels.height = 400 * panels.columns, 330 * ((#panels + panels.columns - 1) // panels.columns) + 40
return mr.experiment.finish(args, mr.plot.facets(panels), ([[
The figure shows how often each loss has the best test score by a metric; a case is one metric, split and NSR, and
losses that tie are all counted. The loss of RR is left out, as in the paper.

%s%s%s]]):format(table.concat(sentences, "\n"), left, figures.in_paper(args,
    "In the paper most of the best scores are those of nRBP losses, of LambdaRank those of nRBP(0.95).")),
  mr.experiment.named("", mr.table{ columns = { "method and data", "metric", "loss", "best", "cases" }, rows = lines,
    mark = { best = "max" }, within = { "method and data", "metric" } }, nil, [[
best: in how many cases the loss has the best test score by the metric; cases: splits at each negative sampling
ratio.]]))
