-- Cremonesi, Koren & Turrin (2010), as told in Seguí's lecture (slides "Rank Evaluation"): does a method that predicts
-- ratings well also recommend well?

-- Data: MovieLens, five folds of each user's ratings. Protocol: each 5-star rating of the test part is ranked among 100
-- items that its user has not rated. It is a hit if it ranks among the first N. recall(N) is the share of hits, for all
-- items and for the long tail, which leaves out the most rated items that hold a third of the ratings. Settings are
-- chosen on the first fold's validation part, by RMSE for methods that predict ratings and by recall(10) for others.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, predictors, protocol = mr.experiment, dofile(here .. "predictors.lua"), dofile(here .. "protocol.lua")

local args = experiment.args(experiment.figure_options({
  seed = { default = 1, help = "seed of folds, models and the items that are drawn" },
  unseen = { default = 100, least = 1, most = 1000, help = "items that the user has not rated beside each test item" },
  head = { default = 0.33, least = 0, most = 0.9, help = "share of the ratings that the long tail leaves out" },
}, "results/lecture/cremonesi.svg"), { document = "lecture" })
local ratings, title = protocol.ratings(args)
local tail, in_head = predictors.long_tail(ratings, args.head)
local folds, seed, unseen = args.smoke and 1 or protocol.folds, args.seed, args.unseen

-- The settings to try of each predictor (method that ranks items), by number; at most two with --smoke.
local by_name, space = {}, {}
for _, each in ipairs(predictors.all) do
  local n = args.smoke and math.min(2, #each.settings) or #each.settings
  by_name[each.name], space[each.name] = each, n > 1 and { setting = mr.range(1, n) } or {}
end
local function measured(name, at, number, part, of_tail)
  local each, fold = by_name[name], predictors.graded_fold(ratings, number, seed)
  return predictors.measured(each.make(fold, each.settings[at.setting or 1], seed), fold, part,
    { unseen = unseen, seed = seed, tail = of_tail, predicts = each.predicts })
end
local results, best = experiment.tuned(args, {
  name = ("Cremonesi's protocol, seed %d"):format(seed), by = "predictor", space = space,
  beside = { split = mr.range(1, folds) }, settings = { unseen = unseen, seed = seed, head = args.head },
  choose = function(trial) return measured(trial.predictor, trial.params, protocol.tuned_on, "valid") end,
  run = function(trial, at) return measured(trial.predictor, at, trial.split, "test", tail) end })

-- Returns the mean of a number over folds, weighted by the number of items to find in each fold. Also returns its
-- interval over folds, in which all folds weigh the same.
local function mean_of(name, number, items)
  local where, sum, count = { predictor = name }, 0, 0
  local values, counts = experiment.folds(results, where, number), experiment.folds(results, where, items .. "_count")
  for i, value in ipairs(values) do sum, count = sum + value * counts[i], count + counts[i] end
  return { sum / count, table.unpack(experiment.over_runs(values) or {}) }
end

local found = {}
for i, each in ipairs(predictors.all) do
  found[i] = { name = each.name, setting = predictors.text(each.settings[best[each.name].setting or 1]),
    rmse = each.predicts and mean_of(each.name, "rmse", "all") }
  found[each.name] = found[i]
end
local panels = { columns = 2, width = 1000, height = 400, title = args.made_up and "Made-up data" or nil }
local columns = { { "ranked by", "name" }, { "setting" }, { "RMSE", "rmse", format = "%.4f" } }
local highest, count = {}, {}
for _, group in ipairs{ { "all", "all items" }, { "tail", "long tail" } } do
  local items, series = group[1], {}
  for i, each in ipairs(found) do
    series[i] = { name = each.name, y = {} }
    for n = 1, predictors.deepest do
      each[items .. n] = mean_of(each.name, items .. "@" .. n, items)
      series[i].y[n] = each[items .. n][1]
    end
    local top = highest[items] or each
    highest[items] = each[items .. 10][1] > top[items .. 10][1] and each or top
  end
  panels[#panels + 1] = mr.plot.lines{ series = series, title = group[2], xlabel = "N", ylabel = "recall(N)",
    yrange = { 0, 1 } }
  for _, n in ipairs{ 1, 10, 20 } do
    columns[#columns + 1] = { ("recall(%d), %s"):format(n, group[2]), items .. n, format = "%.4f", mark = "max" }
  end
  count[items] = mr.tensor(experiment.folds(results, { predictor = "random" }, items .. "_count")):sum():item()
end

local predicted, counted = found["biased MF, squared errors"], found["most rated"]
local finding = ([[
Among %d unrated items recall(10) is highest for %s (%.4f); biased matrix factorisation, which predicts ratings with
an RMSE of %.4f, has %.4f, %s than the ranking by the number of ratings (%.4f).]]):format(unseen, highest.all.name,
  highest.all.all10[1], predicted.rmse[1], predicted.all10[1],
  predicted.all10[1] < counted.all10[1] and "less" or "not less", counted.all10[1])
local section = experiment.finish(args, mr.plot.facets(panels), ([[
%s
In the long tail, without the %d most rated items, recall(10) is highest for %s (%.4f); it is %.4f for biased matrix
factorisation and %.4f for the ranking by the number of ratings. To be found are the %d five-star ratings in the
test parts of %s (%d %s, seed %d), of which %d are in the long tail. Precision is recall over N, so that both order
the methods alike.]]):format(finding, in_head, highest.tail.name, highest.tail.tail10[1], predicted.tail10[1],
    counted.tail10[1], count.all, title, folds, folds == 1 and "fold" or "folds", seed, count.tail),
  experiment.table{ records = found, columns = columns, by = "Student's t over folds", runs = folds, legend = ([[
setting: what validation chose; RMSE: of predicted ratings; recall(N): share of five-star ratings among the first N of
%d, of all items and of the long tail.]]):format(unseen + 1) })
section.finding = not args.made_up and finding or nil
return section
