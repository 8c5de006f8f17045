-- Cremonesi, Koren & Turrin (2010), as told in the slides "Rank Evaluation": does a method that predicts ratings
-- well also recommend well?
-- Each 5-star rating of the test part is ranked among 100 items that its user has not rated. It is a hit if it
-- ranks among the first N. recall(N) is the share of hits, and precision(N) = recall(N) / N. Both are computed for
-- all items and for the long tail, which leaves out the most rated items that hold a third of the ratings.
-- Data: MovieLens, five folds of each user's ratings. Settings are chosen on the first fold's validation part, by
-- RMSE for methods that predict ratings and by recall(10) for all others.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, predictors, protocol = mr.experiment, dofile(here .. "predictors.lua"), dofile(here .. "protocol.lua")

local args = experiment.args({
  seed = { default = 1, help = "seed of folds, models and the items that are drawn" },
  unseen = { default = predictors.unseen, least = 1, most = 1000,
    help = "items that the user has not rated beside each test item" },
  head = { default = predictors.head, least = 0, most = 0.9,
    help = "share of the ratings that the most rated items hold, which the long tail is without" },
  out = { path = "new file", default = "results/lecture/cremonesi.svg", endings = { ".svg", ".png", ".pdf" },
    help = "file of the figure" },
  show = { default = false, help = "draw it in the terminal as well" },
}, { document = "lecture" })
local ratings, title = protocol.ratings(args)
local tail, in_head = predictors.long_tail(ratings, args.head)
local folds, seed, unseen = args.smoke and 1 or protocol.folds, args.seed, args.unseen

-- The settings to try of each predictor (method that ranks items), by number; at most two with --smoke.
local by_name, space = {}, {}
for _, each in ipairs(predictors.all) do
  local n = args.smoke and math.min(2, #each.settings) or #each.settings
  by_name[each.name], space[each.name] = each, n > 1 and { setting = mr.range(1, n) } or {}
end
local function made(name, fold, at)
  local each = by_name[name]
  return each.make(fold, each.settings[at.setting or 1], seed), each.predicts
end

-- A run has recall(N) for all items and for the long tail, with the number of test items of each, and RMSE if the
-- predictor predicts ratings.
local results, best = experiment.tuned(args, {
  name = ("Cremonesi's protocol, seed %d"):format(seed), by = "predictor", space = space,
  beside = { split = mr.range(1, folds) }, settings = { unseen = unseen, seed = seed, head = args.head },
  choose = function(trial)
    local fold = predictors.graded_fold(ratings, protocol.tuned_on, seed)
    local model, predicts = made(trial.predictor, fold, trial.params)
    return { valid = predictors.quality(model, fold, predicts, { unseen = unseen, seed = seed }) }
  end,
  run = function(trial, at)
    local fold, result = predictors.graded_fold(ratings, trial.split, seed), {}
    local model, predicts = made(trial.predictor, fold, at)
    for items, of in pairs{ all = false, tail = tail } do
      local found, count = predictors.recalls(model, fold, "test", { unseen = unseen, seed = seed, tail = of or nil })
      for n, recall in ipairs(found) do result[items .. "@" .. n] = recall end
      result[items .. "_count"] = count
    end
    result.valid, result.rmse = result["all@10"], predicts and predictors.rmse(model, fold, "test") or nil
    return result
  end })

-- Returns the mean of a number over folds, weighted by their numbers of items to find, the sum of these numbers, and
-- the interval of the mean.
local function mean_of(name, number, items)
  local where, sum, count = { predictor = name }, 0, 0
  local values, counts = experiment.folds(results, where, number), experiment.folds(results, where, items .. "_count")
  for i, value in ipairs(values) do sum, count = sum + value * counts[i], count + counts[i] end
  return sum / count, count, experiment.over_runs(values)
end

local rows, heads, formats, mark = {}, { "ranked by", "setting" }, {}, {}
local cells = experiment.cells("Student's t over folds", folds)
for i, each in ipairs(predictors.all) do
  rows[i] = { each.name, predictors.text(each.settings[best[each.name].setting or 1]) }
end
local function add_column(head, number, items)
  heads[#heads + 1], formats[head] = head, "%.4f"
  for i, each in ipairs(predictors.all) do
    local mean, _, interval = mean_of(each.name, number, items)
    rows[i][#heads] = mean == mean and mean or ""
    cells:note(i, head, interval)
  end
end
local function panel(items, group, of_precision)
  local series = {}
  for i, each in ipairs(predictors.all) do
    local x, y = {}, {}
    for n = 1, predictors.deepest do
      local recall = mean_of(each.name, ("%s@%d"):format(items, n), items)
      x[n], y[n] = of_precision and recall or n, of_precision and recall / n or recall
    end
    series[i] = { name = each.name, x = x, y = y, color = i }
  end
  return mr.plot.lines{ series = series, title = group, xlabel = of_precision and "recall(N)" or "N",
    ylabel = of_precision and "precision(N)" or "recall(N)", [of_precision and "xrange" or "yrange"] = { 0, 1 } }
end
add_column("RMSE", "rmse", "all")
local panels = { columns = 2, width = 1000, height = 720, title = args.made_up and "Made-up data" or nil }
for g, group in ipairs{ { "all", "all items" }, { "tail", "long tail" } } do
  for _, n in ipairs{ 1, 10, 20 } do
    local head = ("recall(%d), %s"):format(n, group[2])
    add_column(head, ("%s@%d"):format(group[1], n), group[1])
    mark[head] = "max"
  end
  panels[g], panels[g + 2] = panel(group[1], group[2]), panel(group[1], group[2], true)
end

-- Names the predictor with the highest number in a column, and gives it.
local function highest(column)
  local top = rows[1]
  for _, row in ipairs(rows) do top = row[column] > top[column] and row or top end
  return ("%s (%.4f)"):format(top[1], top[column])
end
local row_of = {}
for _, row in ipairs(rows) do row_of[row[1]] = row end
local predicted, counted = row_of["biased MF, squared errors"], row_of["most rated"]
local finding = ([[
Among %d unrated items recall(10) is highest for %s; biased matrix factorisation, which predicts ratings with
an RMSE of %.4f, has %.4f, %s than the ranking by the number of ratings (%.4f).]]):format(
  unseen, highest(5), predicted[3], predicted[5], predicted[5] < counted[5] and "less" or "not less", counted[5])
local section = experiment.finish(args, mr.plot.facets(panels), ([[
%s
In the long tail, without the %d most rated items, recall(10) is highest for %s; it is %.4f for biased matrix
factorisation and %.4f for the ranking by the number of ratings. To be found are the %d five-star ratings in the
test parts of %s (%d %s, seed %d), of which %d are in the long tail. Precision is recall over N, so that both order
the methods alike.]]):format(finding, in_head,
    highest(8), predicted[8], counted[8], select(2, mean_of("random", "all@1", "all")), title, folds,
    folds == 1 and "fold" or "folds", seed, (select(2, mean_of("random", "tail@1", "tail")))),
  experiment.named("", mr.table{ columns = heads, rows = rows, formats = formats, mark = mark }, cells, [[
setting: what validation chose; RMSE: of predicted ratings; recall(N): share of five-star ratings among the first N of
101, of all items and of the long tail.]]))
section.finding = not args.made_up and finding or nil
return section
