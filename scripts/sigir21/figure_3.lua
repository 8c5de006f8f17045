-- Makes Figure 3 of Li, Urbano & Hanjalic (2021): is a loss better than others over all data sets and NSR? It shows
-- marginal means of standardised scores.
local mr = require "moonrank"
local marginal = dofile((arg[0]:match("^(.*/)") or "./") .. "means.lua")
local figures = marginal.figures
local analysis, title = figures.analysis, figures.title

-- Returns a sentence that names the metrics by which the best loss is significantly above all others. `winners` has
-- the best loss by each metric.
local function significance_text(winners)
  local found = {}
  if winners[1].df < 1 then return marginal.no_intervals end
  for _, each in ipairs(winners) do
    if each.significant then found[#found + 1] = title(each.metric) end
  end
  if #found == 0 then return "By no metric is it significantly above all others." end
  local by = #found == #winners and "all metrics" or figures.listed(found)
  return ("It is significantly above all others by %s."):format(by)
end

local args = figures.args(3)
local lines, sentences, winners, rows, left = {}, {}, {}, figures.compared(args)
if #rows == 0 then return figures.nothing(args, left) end
local columns = figures.columns(rows, false)
local pictures = figures.grid(args, columns, figures.metrics, 180, function(column, metric, heading)
  local model = analysis.linear_model(figures.of_metric(column, metric))
  local means, loss, significant = marginal.of(model, column), analysis.winner(model, column.kind)
  winners[column] = winners[column] or {}
  table.insert(winners[column], { metric = metric, loss = loss, significant = significant, df = model.df })
  marginal.add_lines(lines, column, metric, means)
  return marginal.panel(means, metric, heading)
end)
for i, column in ipairs(columns) do
  sentences[i] = ("%s the highest mean is that of %s. %s"):format(column.words, marginal.winners_text(winners[column]),
    significance_text(winners[column]))
end
return mr.experiment.finish(args, pictures, ([[
%s

%s
Significance is by Student's t-test of the differences of means, with Holm's correction over all pairs of losses by one
metric. The three models of listwise nRBP are of one training, and not held against each other.%s%s]]):format(
    marginal.about, table.concat(sentences, "\n"), left, figures.in_paper(args, [[
In the paper nRBP(0.95) of LambdaRank and listwise nRBP are significantly above all others by all six metrics.]])),
  marginal.table(lines))
