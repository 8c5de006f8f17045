-- Makes Figure 4 of Li, Urbano & Hanjalic (2021): is a loss better than others on each data set? It shows marginal
-- means of standardised scores.
local mr = require "moonrank"
local marginal = dofile((arg[0]:match("^(.*/)") or "./") .. "means.lua")
local figures = marginal.figures
local analysis = figures.analysis

-- Returns the loss with the highest marginal mean, and whether its prediction interval overlaps that of the next
-- loss. Models of the same training run as the highest (listwise nRBP has three models) are skipped.
local function highest(means, kind)
  local sorted = table.move(means, 1, #means, 1, {})
  table.sort(sorted, function(a, b) return a.mean > b.mean end)
  local first, place = sorted[1], 2
  while place < #sorted and analysis.same_training(kind, first.levels[1], sorted[place].levels[1]) do
    place = place + 1
  end
  return first.levels[1], first.prediction_low <= sorted[place].prediction_high
end

-- Returns a sentence that says by how many metrics the prediction intervals of the two highest means overlap.
-- `winners` has the best loss by each metric.
local function overlap_text(winners)
  local count = 0
  if winners[1].df < 1 then return marginal.no_intervals end
  for _, each in ipairs(winners) do count = count + (each.overlap and 1 or 0) end
  return ("The prediction intervals of the two highest overlap by %d of %d metrics."):format(count, #winners)
end

local args = figures.args(4)
local lines, sentences, models, winners, rows, left = {}, {}, {}, {}, figures.compared(args)
if #rows == 0 then return figures.nothing(args, left) end
local columns = figures.columns(rows, true)
local pictures = figures.grid(args, columns, figures.metrics, 180, function(column, metric, heading)
  local of_kind, key = analysis.where(rows, { kind = column.kind, metric = metric }), column.kind .. " " .. metric
  models[key], column.datasets = models[key] or analysis.linear_model(of_kind), analysis.distinct(of_kind, "dataset")
  local means = marginal.of(models[key], column)
  local loss, overlap = highest(means, column.kind)
  winners[column] = winners[column] or {}
  table.insert(winners[column], { metric = metric, loss = loss, overlap = overlap, df = models[key].df })
  marginal.add_lines(lines, column, metric, means)
  return marginal.panel(means, metric, heading)
end)
for i, column in ipairs(columns) do
  local found = winners[column]
  sentences[i] = ("%s the highest mean is that of %s. %s"):format(column.words, marginal.winners_text(found),
    overlap_text(found))
end
return mr.experiment.finish(args, pictures, ([[
%s

%s%s%s]]):format(marginal.about, table.concat(sentences, "\n"), left, figures.in_paper(args, [[
In the paper LambdaRank with nRBP(0.95) is the best on all data sets but Epinions, and on CiteULike listwise nRBP is
above the others without any overlap of prediction intervals except by RR.]])), marginal.table(lines))
