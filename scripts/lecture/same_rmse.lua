-- "Same RMSE/MAE might lead to different rankings" (Seguí's lecture, slides "Rating Prediction vs. Ranking", "Point
-- Accuracy != Ranking Accuracy"): how different can rankings be whose predicted ratings are equally accurate?

-- The script takes every prediction that is off by the same amount for each item, up or down, so that RMSE and MAE
-- equal this amount. The figure plots the best, mean and worst nDCG and share of correctly ordered pairs against RMSE.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published = dofile(here .. "published.lua")

local args = mr.args(mr.experiment.figure_options({
  ratings = { default = published.scores, least = 0, most = 100, count = { 2, 10 },
    help = "ratings of the items, at least two different ones" },
  points = { default = 41, least = 2, help = "errors from 0 to 2" },
  smoke = { default = false, sets = { points = 5 }, help = "test the script with few points" },
}, "results/lecture/same_rmse.svg"))
local n = #args.ratings
if math.min(table.unpack(args.ratings)) == math.max(table.unpack(args.ratings)) then
  mr.exit(2, ("--ratings: expected at least two different ratings, got only %d"):format(args.ratings[1]))
end

local truth = mr.tensor(args.ratings, { dtype = "float64" })
local lists = mr.lists{ args.ratings }

-- All choices of a sign for each item: 1 if its predicted rating is too high, -1 if it is too low.
local signs = {}
for choice = 0, (1 << n) - 1 do
  signs[choice + 1] = {}
  for i = 1, n do signs[choice + 1][i] = (choice >> (i - 1)) & 1 == 1 and 1 or -1 end
end

-- Computes RMSE, MAE, nDCG and the share of correctly ordered pairs for every prediction that is off by `off` for
-- each item.
local function predictions(off)
  local found = {}
  for i, choice in ipairs(signs) do
    local predicted = truth + mr.tensor(choice, { dtype = "float64" }) * off
    found[i] = {
      choice = choice,
      predicted = predicted,
      rmse = mr.stats.rmse(predicted, truth),
      mae = mr.stats.mae(predicted, truth),
      ndcg = mr.metrics.ndcg(predicted, lists):item(),
      pairs = mr.stats.pairwise_accuracy(predicted, lists),
    }
  end
  return found
end

local measures = { { "ndcg", "nDCG" }, { "pairs", "pairs in the right order" } }
local curves, x = { ndcg = { low = {}, mean = {}, high = {} }, pairs = { low = {}, mean = {}, high = {} } }, {}
for p = 1, args.points do
  local found = predictions(2 * (p - 1) / (args.points - 1))
  x[p] = found[1].rmse
  for _, measure in ipairs(measures) do
    local name, values = measure[1], {}
    for i, each in ipairs(found) do values[i] = each[name] end
    local curve = curves[name]
    curve.low[p], curve.mean[p], curve.high[p] = math.min(table.unpack(values)), mr.stats.mean(values),
      math.max(table.unpack(values))
  end
end

local panels = { columns = 2, width = 900, height = 360, legend = "labels" }
for i, measure in ipairs(measures) do
  local curve = curves[measure[1]]
  panels[i] = mr.plot.lines{ title = measure[2], xlabel = "RMSE = MAE", ylabel = measure[2], yrange = { 0, 1.05 },
    series = { { name = "best", x = x, y = curve.high }, { name = "mean", x = x, y = curve.mean },
      { name = "worst", x = x, y = curve.low } } }
end

-- Joins numbers with commas, for the table of the best and the worst ranking at an RMSE of 1.
local function numbers(values)
  local parts = {}
  for i, value in ipairs(values) do parts[i] = ("%g"):format(value) end
  return table.concat(parts, ", ")
end
local at_one, rows = predictions(1), {}
table.sort(at_one, function(a, b) return a.ndcg > b.ndcg end)
for _, each in ipairs{ at_one[1], at_one[#at_one] } do
  rows[#rows + 1] = { numbers(args.ratings), numbers(each.predicted:totable()), each.rmse, each.mae, each.ndcg,
    each.pairs }
end
local section = mr.experiment.finish(args, mr.plot.facets(panels), ([[
All %d predictions of %d items with ratings %s that are off by the same amount for every item have the same RMSE and
the same MAE. While the error is below half of the least difference of ratings, every prediction orders the items as
their ratings do; beyond it equally accurate predictions rank differently. At an RMSE of 1 nDCG is between %.4f and
%.4f; the table has a prediction of either end.]]):format(
    #signs, n, numbers(args.ratings), at_one[#at_one].ndcg, at_one[1].ndcg),
  mr.experiment.named("", mr.table{ rows = rows,
    columns = { "ratings", "predicted", "RMSE", "MAE", "nDCG", "pairs" },
    formats = { RMSE = "%.4f", MAE = "%.4f", nDCG = "%.4f", pairs = "%.4f" } }, nil,
    "Rows are ratings and predictions of the items; pairs: share of pairs in the right order."))
section.finding = ("Predictions of %d items that are all off by 1 have an nDCG between %.4f and %.4f."):format(n,
  at_one[#at_one].ndcg,
  at_one[1].ndcg)
return section
