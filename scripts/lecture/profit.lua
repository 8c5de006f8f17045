-- "Weight items according to the profit" (Seguí's lecture "Learning to Rank", slide "Rank Evaluation"): does a ranker
-- whose gain is profit earn more than a ranker whose gain is relevance? The profits of movies are MADE UP.

-- Data: MovieLens, users with 25 movies rated 4 or more ("liked"). Training adds four other movies for each of these.
-- Profits are between 1 and 20 per movie, drawn at random or higher for movies with fewer ratings.
-- Model: matrix factorisation with 32 factors. It ranks all movies that the user has not liked in training or
-- validation. profit@10 is the profit from a user who takes every movie they like among the first ten.
-- Protocol: the first fold's validation part chooses learning rate and number of epochs, by nDCG@10 for the ranker
-- without profits and by profit@10 for all others. Changes are paired by user.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")
local under_profits = dofile(here .. "profits.lua")

local args = experiment.args({
  seed = { default = 1, help = "seed of splits, negatives, models and profits" },
  folds = { default = 5, least = 1, most = 5, help = "how many of the five folds are run" },
}, { document = "lecture", smoke = { folds = 1 } })
local ratings, title = protocol.ratings(args)
local liked, profits = protocol.liked(ratings, args.smoke), under_profits.profits(ratings, args.seed)
under_profits.define_profit()

local function fold_of(number) return protocol.liked_fold(liked, number, args.seed) end
local order, kinds = under_profits.rankers, { "at random", "more for rare movies" }

-- The learning rate and number of epochs that validation chose, by kind of profits and ranker, with keys such as
-- "at random relevance".
local best, said = experiment.best(experiment.study(args, { name = ("profit, rates, seed %d"):format(args.seed),
  settings = { epochs = args.smoke and 2 or 30, seed = args.seed },
  space = { ranker = mr.choice(order), profits = mr.choice(kinds), rate = mr.choice(under_profits.profit_rates) },
  run = function(trial)
    return under_profits.epochs_of(trial.ranker, fold_of(protocol.tuned_on),
      { profits = profits[trial.profits], rate = trial.rate, seed = args.seed, short = args.smoke })
  end }), { "profits", "ranker" }), {}
for i, at in ipairs(experiment.combinations{ { "profits", kinds }, { "ranker", order } }) do
  local key = at.profits .. " " .. at.ranker
  best[key].epochs = math.tointeger(best[key].epochs)
  said[i] = ("%s rate %g epochs %d"):format(key, best[key].rate, best[key].epochs)
end

local function per_list(found)
  local lists = { list = found.users:double() }
  for _, name in ipairs(under_profits.profit_metrics) do lists[name] = found[name] end
  return lists
end

local results = experiment.study(args, { name = ("profit, seed %d"):format(args.seed),
  settings = { chosen = table.concat(said, "; ") },
  space = { ranker = mr.choice(order), profits = mr.choice(kinds), split = mr.range(1, args.folds) },
  run = function(trial)
    local at, fold, profit = best[trial.profits .. " " .. trial.ranker], fold_of(trial.split), profits[trial.profits]
    local score = under_profits.fit_profit(trial.ranker, fold,
      { profits = profit, rate = at.rate, epochs = at.epochs, seed = args.seed })
    local found = under_profits.earned(under_profits.priced(fold, profit), score)
    return { valid = at.valid, profit = found.mean.profit_10, recall = found.mean["recall@10"],
      per_list = per_list(found) }
  end })

-- Returns the profit and the recall of every user under a ranker, as means over the folds that test the user. Two
-- rankers are not trained: by how many users like a movie, and by that number times the movie's profit.
local untrained = { "most liked", "most liked, times profit" }
local function of_users(name, kind)
  local where, all = { ranker = name, profits = kind }, { list = {}, profit_10 = {}, ["recall@10"] = {} }
  if best[kind .. " " .. name] then
    return experiment.by_list(results, where, "profit_10"), experiment.by_list(results, where, "recall@10")
  end
  for number = 1, args.folds do
    local fold, profit = fold_of(number), profits[kind]
    local popular = mr.models.popularity{ fold = fold }
    local function times_profit(batch) return popular(batch) * profit:rows(batch.items) end
    local lists = per_list(under_profits.earned(under_profits.priced(fold, profit),
      name == untrained[1] and popular or times_profit))
    for metric, values in pairs(lists) do table.move(values:totable(), 1, #values, #all[metric] + 1, all[metric]) end
  end
  return experiment.means_by(all.list, all.profit_10), experiment.means_by(all.list, all["recall@10"])
end

local records, pairs_of, parts = {}, {}, {}
for _, kind in ipairs(kinds) do
  local plain = of_users("relevance", kind)
  for _, name in ipairs{ untrained[1], untrained[2], table.unpack(order) } do
    local profit, recall = of_users(name, kind)
    local at = best[kind .. " " .. name]
    local record = { kind = kind, name = name, rate = at and at.rate or "", epochs = at and at.epochs or "",
      profit = experiment.mean(profit), recall = experiment.mean(recall), before = mr.stats.mean(plain),
      trainings = at and args.folds or 0, change = "", holm = "" }
    records[#records + 1] = record
    pairs_of[#pairs_of + 1] = name ~= "relevance" and { profit, plain, record = record } or nil
  end
end
for _, each in ipairs(experiment.paired(pairs_of)) do
  local record = each.record
  record.change, record.holm = { each.change, each.low, each.high }, each.holm
  parts[#parts + 1] = record.name == "profit" and ([[
With profits "%s", training on profit brings %.2f a user instead of %.2f (p = %.2g after Holm's correction).]]):format(
    record.kind, record.profit[1], record.before, record.holm) or nil
end

return experiment.finish(args, nil, ([[
The profits are made up, between 1 and %d for each movie; users and ratings are those of %s (%d %s, seed %d). %s
"Relevance, times profit" has an artefact: the model has no biases, so that a movie of which it has learned little has
the probability 1/2. Half of the largest profit is more than most movies that users like can bring, and these movies
take the first ranks.]]):format(under_profits.most, title, args.folds, args.folds == 1 and "fold" or "folds", args.seed,
    table.concat(parts, " ")),
  experiment.table{ records = records, within = { "profits (made up)" }, by = "bootstrap over users",
    columns = { { "profits (made up)", "kind" }, { "trained on", "name" }, { "rate" }, { "epochs" },
      { "profit@10", "profit", format = "%.3f", mark = "max" },
      { "recall@10", "recall", format = "%.4f", mark = "max" },
      { "change", format = "%+.3f" }, { "p, Holm", "holm", format = "%.2g", mark = 0.05 } },
    runs = function(each, column)
      return each.trainings + ((column == "change" or column == "p, Holm") and args.folds or 0)
    end, legend = [[
rate: learning rate; profit@10: mean profit of a user who takes what they like of the first ten; recall@10: share of
liked movies that are found there; change: of profit@10 against training on relevance, paired by user; p, Holm: of a
permutation test, corrected over the table.]] })
