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

-- Returns the mean of a number over folds, weighted by their numbers of items to find, with its interval, and the sum
-- of these numbers.
local function mean_of(name, number, items)
  local where, sum, count = { predictor = name }, 0, 0
  local values, counts = experiment.folds(results, where, number), experiment.folds(results, where, items .. "_count")
  for i, value in ipairs(values) do sum, count = sum + value * counts[i], count + counts[i] end
  return { sum / count, table.unpack(experiment.over_runs(values) or {}) }, count
end

local groups, found, of_name, count = { all = "all items", tail = "long tail" }, {}, {}, {}
for i, each in ipairs(predictors.all) do
  local one = { name = each.name, setting = predictors.text(each.settings[best[each.name].setting or 1]),
    rmse = each.predicts and mean_of(each.name, "rmse", "all") }
  for items in pairs(groups) do
    one[items] = {}
    for n = 1, predictors.deepest do one[items][n], count[items] = mean_of(each.name, items .. "@" .. n, items) end
  end
  found[i], of_name[each.name] = one, one
end

-- A panel of the figure: a line for each predictor through the points that point(N, recall(N)) returns.
local function panel(items, o, point)
  o.series, o.title = {}, groups[items]
  for i, each in ipairs(found) do
    local x, y = {}, {}
    for n, recall in ipairs(each[items]) do x[n], y[n] = point(n, recall[1]) end
    o.series[i] = { name = each.name, x = x, y = y, color = i }
  end
  return mr.plot.lines(o)
end

local panels = { columns = 2, width = 1000, height = 720, title = args.made_up and "Made-up data" or nil }
local columns = { { "ranked by", "name" }, { "setting" }, { "RMSE", "rmse", format = "%.4f" } }
for g, items in ipairs{ "all", "tail" } do
  panels[g] = panel(items, { xlabel = "N", ylabel = "recall(N)", yrange = { 0, 1 } },
    function(n, recall) return n, recall end)
  panels[g + 2] = panel(items, { xlabel = "recall(N)", ylabel = "precision(N)", xrange = { 0, 1 } },
    function(n, recall) return recall, recall / n end)
  for _, n in ipairs{ 1, 10, 20 } do
    columns[#columns + 1] = { ("recall(%d), %s"):format(n, groups[items]), function(each) return each[items][n] end,
      format = "%.4f", mark = "max" }
  end
end

-- Names the predictor with the highest recall(10), and gives it.
local function highest(items)
  local top = found[1]
  for _, each in ipairs(found) do top = each[items][10][1] > top[items][10][1] and each or top end
  return ("%s (%.4f)"):format(top.name, top[items][10][1])
end
local predicted, counted = of_name["biased MF, squared errors"], of_name["most rated"]
local of_predicted, of_counted = predicted.all[10][1], counted.all[10][1]
local finding = ([[
Among %d unrated items recall(10) is highest for %s; biased matrix factorisation, which predicts ratings with
an RMSE of %.4f, has %.4f, %s than the ranking by the number of ratings (%.4f).]]):format(unseen, highest "all",
  predicted.rmse[1], of_predicted, of_predicted < of_counted and "less" or "not less", of_counted)
local section = experiment.finish(args, mr.plot.facets(panels), ([[
%s
In the long tail, without the %d most rated items, recall(10) is highest for %s; it is %.4f for biased matrix
factorisation and %.4f for the ranking by the number of ratings. To be found are the %d five-star ratings in the
test parts of %s (%d %s, seed %d), of which %d are in the long tail. Precision is recall over N, so that both order
the methods alike.]]):format(finding, in_head, highest "tail", predicted.tail[10][1], counted.tail[10][1], count.all,
    title, folds, folds == 1 and "fold" or "folds", seed, count.tail),
  experiment.table{ records = found, columns = columns, by = "Student's t over folds", runs = folds, legend = [[
setting: what validation chose; RMSE: of predicted ratings; recall(N): share of five-star ratings among the first N of
101, of all items and of the long tail.]] })
section.finding = not args.made_up and finding or nil
return section
