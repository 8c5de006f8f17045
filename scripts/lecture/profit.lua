-- "Weight items according to the profit" (slide "Rank Evaluation", where unpopular items typically bring more
-- profit): does a ranker whose gain is profit earn more than a ranker whose gain is relevance?
-- Data: MovieLens with MADE-UP profits between 1 and 20 per movie, drawn at random or higher for movies with fewer
-- ratings. Users have 25 movies rated 4 or more; training adds four other movies for each of these.
-- Model: matrix factorisation, 32 factors, LambdaRank. It ranks all movies that the user has not liked in training
-- or validation. profit@10 is the profit from a user who takes every movie they like among the first ten.
-- The first fold's validation part chooses learning rate and number of epochs: by nDCG@10 for the ranker without
-- profits, by profit@10 for all others. Changes are paired by user.
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
for _, kind in ipairs(kinds) do
  for _, name in ipairs(order) do
    local key = kind .. " " .. name
    best[key].epochs = math.tointeger(best[key].epochs)
    said[#said + 1] = ("%s rate %g epochs %d"):format(key, best[key].rate, best[key].epochs)
  end
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

-- Returns a function of a metric's name that returns the metric of every user, for a ranker without training:
-- popularity, or with `times` popularity times profit. `kind` names the made-up profits.
local function untrained(kind, times)
  local all = { list = {}, profit_10 = {}, ["recall@10"] = {} }
  for number = 1, args.folds do
    local fold = fold_of(number)
    local popular = mr.models.popularity{ fold = fold }
    local lists = per_list(under_profits.earned(under_profits.priced(fold, profits[kind]), function(batch)
      return times and popular(batch) * profits[kind]:rows(batch.items) or popular(batch)
    end))
    for name, values in pairs(lists) do table.move(values:totable(), 1, #values, #all[name] + 1, all[name]) end
  end
  return function(metric) return experiment.means_by(all.list, all[metric]) end
end

local rows, pairs_of, gains = {}, {}, {}
local cells = experiment.cells("bootstrap over users", function(row, column)
  local own = row[2]:find "^most liked" and 0 or args.folds
  return (column == "change" or column == "p, Holm") and own + args.folds or own
end)
for _, kind in ipairs(kinds) do
  local plain = experiment.by_list({ results }, { ranker = "relevance", profits = kind }, "profit_10")
  local function add(name, at, of)
    local values = of "profit_10"
    rows[#rows + 1] = { kind, name, at and at.rate or "", at and at.epochs or "", mr.stats.mean(values),
      mr.stats.mean(of "recall@10") }
    cells:note(#rows, "profit@10", experiment.over_lists(values))
    cells:note(#rows, "recall@10", experiment.over_lists(of "recall@10"))
    if name == "relevance" then
      rows[#rows][7], rows[#rows][8] = "", ""
    else
      pairs_of[#pairs_of + 1] = { values, plain, row = #rows }
    end
    if name == "profit" then
      gains[#gains + 1] = { kind = kind, now = mr.stats.mean(values), before = mr.stats.mean(plain), row = #rows }
    end
  end
  add("most liked", nil, untrained(kind, false))
  add("most liked, times profit", nil, untrained(kind, true))
  for _, name in ipairs(order) do
    add(name, best[kind .. " " .. name], function(metric)
      return experiment.by_list({ results }, { ranker = name, profits = kind }, metric)
    end)
  end
end
for _, each in ipairs(experiment.paired(pairs_of)) do
  rows[each.row][7], rows[each.row][8] = each.change, each.holm
  cells:note(each.row, "change", each.low == each.low and { each.low, each.high } or nil)
end
local parts = {}
for i, each in ipairs(gains) do
  parts[i] = ([[
With profits "%s", training on profit brings %.2f a user instead of %.2f (p = %.2g after Holm's correction).]]):format(
    each.kind, each.now, each.before, rows[each.row][8])
end
return experiment.finish(args, nil, ([[
The profits are made up, between 1 and %d for each movie; users and ratings are those of %s (%d %s, seed %d). %s
"Relevance, times profit" has an artefact: the model has no biases, so that a movie of which it has learned little has
the probability 1/2. Half of the largest profit is more than most movies that users like can bring, and these movies
take the first ranks.]]
  ):format(under_profits.most, title, args.folds, args.folds == 1 and "fold" or "folds", args.seed,
    table.concat(parts, " ")),
  experiment.named("", mr.table{
    columns = { "profits (made up)", "trained on", "rate", "epochs", "profit@10", "recall@10", "change", "p, Holm" },
    rows = rows, formats = { ["profit@10"] = "%.3f", ["recall@10"] = "%.4f", change = "%+.3f", ["p, Holm"] = "%.2g" },
    mark = { ["profit@10"] = "max", ["recall@10"] = "max", ["p, Holm"] = 0.05 },
    within = { "profits (made up)" } }, cells, [[
rate: learning rate; profit@10: mean profit of a user who takes what they like of the first ten; recall@10: share of
liked movies that are found there; change: of profit@10 against training on relevance, paired by user; p, Holm: of a
permutation test, corrected over the table.]]))
