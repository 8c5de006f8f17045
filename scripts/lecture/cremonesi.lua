-- Cremonesi, Koren & Turrin (2010), as told in the slides "Rank Evaluation": does a method that predicts ratings
-- well also recommend well?
-- Each 5-star rating of the test part is ranked among 100 items that its user has not rated. It is a hit if it
-- ranks among the first N. recall(N) is the share of hits, and precision(N) = recall(N) / N. Both are computed for
-- all items and for the long tail, which leaves out the most rated items that hold a third of the ratings.
-- Data: MovieLens, five folds of each user's ratings. Settings are chosen on the first fold's validation part, by
-- RMSE for methods that predict ratings and by recall(10) for all others.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment = mr.experiment
local data, predictors = dofile(here .. "data.lua"), dofile(here .. "predictors.lua")
local protocol = dofile(here .. "protocol.lua")

local args = experiment.args({
  seed = { default = 1, help = "seed of folds, models and the items that are drawn" },
  unseen = { default = protocol.unseen, least = 1, most = 1000,
    help = "items that the user has not rated beside each test item" },
  head = { default = protocol.head, least = 0, most = 0.9,
    help = "share of the ratings that the most rated items hold, which the long tail is without" },
  out = { path = "new file", default = "results/lecture/cremonesi.svg", endings = { ".svg", ".png", ".pdf" },
    help = "file of the figure" },
  show = { default = false, help = "draw it in the terminal as well" },
}, { document = "lecture" })
local deepest, folds = protocol.deepest, args.smoke and 1 or protocol.folds
local ratings, title = data.ratings(args)

local by_name = {}
for _, each in ipairs(predictors.all) do by_name[each.name] = each end

local tail, in_head = protocol.long_tail(ratings, args.head)
local function fold_of(number) return protocol.graded_fold(ratings, number, args.seed) end

-- The settings to try, for each predictor (method that ranks items) that has more than one setting; at most two with
-- --smoke.
local tried, names = {}, {}
for _, each in ipairs(predictors.all) do
  for i, setting in ipairs(#each.settings > 1 and each.settings or {}) do
    if not args.smoke or i <= 2 then
      names[#names + 1] = ("%s: %s"):format(each.name, predictors.text(setting))
      tried[names[#names]] = { predictor = each, setting = setting }
    end
  end
end
local settings = { unseen = args.unseen, seed = args.seed }

-- Returns, by name of the predictor (method that ranks items), the setting that is best on the validation part of
-- the first fold.
local function chosen()
  local results = experiment.study(args, { name = ("Cremonesi's protocol, settings, seed %d"):format(args.seed),
    settings = settings,
    space = { setting = mr.choice(names) },
    run = function(trial)
      local each, fold = tried[trial.setting], fold_of(protocol.tuned_on)
      local model = each.predictor.make(fold, each.setting, args.seed)
      local o = { unseen = args.unseen, seed = args.seed }
      return { valid = protocol.quality(model, fold, each.predictor.predicts, o) }
    end })
  local columns, trials = results:columns(), {}
  local setting, valid = columns:column("runs", "setting"), columns:column("runs", "valid")
  for i, row in ipairs(columns:rows("runs", {})) do
    local each = tried[setting[row]]
    trials[i] = { key = each.predictor.name, valid = valid[row], setting = each.setting }
  end
  return protocol.choose(trials)
end
local best = chosen()
local function setting_of(each)
  if #each.settings == 1 then return each.settings[1] end
  if not best[each.name] then
    error(("no setting of %s has a result; the errors are in the store (moonrank results)"):format(each.name), 0)
  end
  return best[each.name].setting
end

local every_name, said = {}, {}
for i, each in ipairs(predictors.all) do
  every_name[i], said[i] = each.name, each.name .. " " .. predictors.text(setting_of(each))
end
settings.head, settings.chosen = args.head, table.concat(said, "; ")

-- Runs every predictor (method that ranks items) on every fold. A result has recall(N) for all items and for the
-- long tail, with the number of test items of each, and RMSE if the predictor predicts ratings.
local results = experiment.study(args, {
  name = ("Cremonesi's protocol, seed %d"):format(args.seed), settings = settings,
  space = { predictor = mr.choice(every_name), split = mr.range(1, folds) },
  run = function(trial)
    local each, fold = by_name[trial.predictor], fold_of(trial.split)
    local model, result = each.make(fold, setting_of(each), args.seed), {}
    for _, items in ipairs{ "all", "tail" } do
      local o = { unseen = args.unseen, seed = args.seed, tail = items == "tail" and tail or nil }
      local found, count = protocol.recalls(model, fold, "test", o)
      for n = 1, deepest do result[items .. "@" .. n] = found[n] end
      result[items .. "_count"] = count
    end
    result.valid, result.rmse = result["all@10"], each.predicts and protocol.rmse(model, fold, "test") or nil
    return result
  end })

-- Returns the mean of a predictor's result `what` over folds, weighted by the number of test items of each fold
-- (`weight` names the column of this number).
local columns = results:columns()
local function pooled(name, what, weight)
  local parts, values, weights = {}, columns:column("runs", what), columns:column("runs", weight)
  for i, row in ipairs(columns:rows("runs", { predictor = name })) do
    parts[i] = { mean = values[row], count = weights[row] }
  end
  return protocol.pooled(parts)
end

local cells = experiment.cells("Student's t over folds", folds)
local function spread(name, what)
  local values, of_folds = columns:column("runs", what), {}
  for i, row in ipairs(columns:rows("runs", { predictor = name })) do of_folds[i] = values[row] end
  return experiment.over_runs(of_folds)
end

local panels, rows = { columns = 2, width = 1000, height = 720, title = args.made_up and "Made-up data" or nil }, {}
local groups = { { "all", "all items" }, { "tail", "long tail" } }
for g, group in ipairs(groups) do
  local recall, precision = {}, {}
  for i, name in ipairs(every_name) do
    local x, y, over = {}, {}, {}
    for n = 1, deepest do
      x[n], y[n] = n, (pooled(name, ("%s@%d"):format(group[1], n), group[1] .. "_count"))
      over[n] = y[n] / n
    end
    recall[i], precision[i] = { name = name, x = x, y = y, color = i }, { name = name, x = y, y = over, color = i }
  end
  panels[g] = mr.plot.lines{ series = recall, title = group[2], xlabel = "N", ylabel = "recall(N)", yrange = { 0, 1 } }
  panels[g + 2] = mr.plot.lines{
    series = precision,
    title = group[2],
    xlabel = "recall(N)",
    ylabel = "precision(N)",
    xrange = { 0, 1 } }
end
for i, each in ipairs(predictors.all) do
  rows[i] = { each.name, predictors.text(setting_of(each)),
    each.predicts and pooled(each.name, "rmse", "all_count") or "" }
  cells:note(i, "RMSE", each.predicts and spread(each.name, "rmse") or nil)
  for _, group in ipairs(groups) do
    for _, n in ipairs{ 1, 10, 20 } do
      rows[i][#rows[i] + 1] = (pooled(each.name, ("%s@%d"):format(group[1], n), group[1] .. "_count"))
      cells:note(i, ("recall(%d), %s"):format(n, group[2]), spread(each.name, ("%s@%d"):format(group[1], n)))
    end
  end
end

local function highest(column)
  local top = rows[1]
  for _, row in ipairs(rows) do
    if row[column] > top[column] then top = row end
  end
  return ("%s (%.4f)"):format(top[1], top[column])
end
local heads, formats, mark = { "ranked by", "setting", "RMSE" }, { RMSE = "%.4f" }, {}
for _, group in ipairs(groups) do
  for _, n in ipairs{ 1, 10, 20 } do
    heads[#heads + 1] = ("recall(%d), %s"):format(n, group[2])
    formats[heads[#heads]], mark[heads[#heads]] = "%.4f", "max"
  end
end
local predicted, counted
for _, row in ipairs(rows) do
  if row[1] == "biased MF, squared errors" then predicted = row end
  if row[1] == "most rated" then counted = row end
end
local _, of_all = pooled("random", "all@1", "all_count")
local _, of_tail = pooled("random", "tail@1", "tail_count")
local section = experiment.finish(args, mr.plot.facets(panels), ([[
Each of the %d five-star ratings in the test parts of %s (%d %s, seed %d) is ranked among %d items that its user has not rated; %d of
them are in the long tail, without the %d most rated items. Recall(10) is highest for %s among all items, and for %s in the
long tail. Biased matrix factorisation, which predicts ratings with an RMSE of %.4f, reaches a recall(10) of %.4f among all items and %.4f
in the long tail, and the ranking by the number of ratings, which predicts none, %.4f and %.4f. Precision is recall over N, so that both
order the methods alike. Settings were chosen on validation, by RMSE for those that predict ratings and by recall(10) for the
others.]]):format(of_all, title, folds, folds == 1 and "fold" or "folds", args.seed, args.unseen, of_tail, in_head,
    highest(5), highest(8), predicted[3], predicted[5], predicted[8], counted[5], counted[8]),
  experiment.named("", mr.table{ columns = heads, rows = rows, formats = formats, mark = mark }, cells, [[
setting: what validation chose; RMSE: of predicted ratings; recall(N): share of five-star ratings among the first N of
101, of all items and of the long tail.]]))
section.finding = not args.made_up and ([[
Among %d unrated items recall(10) is highest for %s; biased matrix factorisation, which predicts ratings with an RMSE of %.4f, has %.4f,
%s than the ranking by the number of ratings (%.4f).]]):format(args.unseen, highest(5), predicted[3], predicted[5],
  predicted[5] < counted[5] and "less" or "not less", counted[5]) or nil
return section
