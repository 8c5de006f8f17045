-- "Weight items according to the profit" (slide "Rank Evaluation": non-popular items are typically those that bring more profit): does a ranker whose
-- gain is profit earn more than one whose gain is relevance? MovieLens' movies with MADE-UP profits between 1 and 20: drawn at random, or the
-- larger the fewer ratings a movie has. profit@10 is what a user brings who takes every movie among his first ten that he likes.
-- Users with 25 movies rated 4 or more, four others in training for each; matrix factorisation, 32 factors, LambdaRank. Ranked are all movies
-- that the user has not liked in training or validation. Rate and number of epochs by the first fold's validation: nDCG@10 for the ranker that
-- knows no profits, profit@10 for the others. Changes are paired by user.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local kept_runs, data, figure = dofile(here .. "../kept_runs.lua"), dofile(here .. "data.lua"), dofile(here .. "../thesis/figure.lua")
local scores, fold_of = dofile(here .. "../thesis/scores.lua"), require "moonrank.data.fold"

local args = kept_runs.args({
  seed = { default = 1, help = "seed of splits, negatives, models and profits" },
  folds = { default = 5, least = 1, most = 5, help = "how many of the five folds are run" },
}, { document = "lecture", smoke = { folds = 1 } })
local epochs, step, most = args.smoke and 2 or 30, args.smoke and 1 or 5, 20
local ratings, title = data.ratings(args)
local liked = ratings:binarize(4):min_relevant(args.smoke and 5 or 25)

mr.metrics.define("profit_10", { gain = function(profit) return profit end, discount = function(rank) return rank <= 10 and 1 or 0 end })
mr.metrics.define("profit_ndcg", { ideal = true, gain = function(profit) return profit end,
  discount = function(rank) return 1 / math.log(1 + rank, 2) end })

-- Profit of every movie.
local profits = {}
local drawn = mr.uniform({ ratings.items }, { seed = args.seed, stream = "profits", dtype = "float64" })
profits["at random"] = (drawn * math.log(most)):exp():float()
local _, by_ratings = mr.zeros({ ratings.items }):scatter_add(1, ratings.item, mr.ones({ ratings.rows })):sort(1, { descending = true })
local steps = (mr.arange(0, ratings.items - 1):double() * (math.log(most) / (ratings.items - 1))):exp()
profits["more for rare movies"] = mr.zeros({ ratings.items }, { dtype = "float64" }):scatter_add(1, by_ratings, steps):float()

-- A fold whose relevant rows are graded by their profit.
local function priced(number, kind)
  local fold, parts = liked:folds{ k = 5, by = "user", seed = args.seed, nsr = 4 }[number], {}
  for _, name in ipairs{ "train", "valid", "test" } do
    local set = fold[name]
    parts[name] = mr.data.dataset{ users = set.users, items = set.items,
      lists = set.lists:with_relevance(set.lists.relevance * profits[kind]:rows(set.items)) }
  end
  parts.number, parts.k, parts.users, parts.items, parts.title = number, fold.k, fold.users, fold.items, "by profit"
  return fold_of.new(parts), fold
end

-- Losses, whether the training lists are graded by profit, and whether profit multiplies the score afterwards.
local rankers = {
  relevance = { loss = function() return mr.losses.lambdarank{} end, metric = "ndcg@10" },
  ["relevance, times profit"] = { loss = function() return mr.losses.bce{} end, metric = "profit_10", times = true },
  profit = { loss = function() return mr.losses.lambdarank{ metric = "profit_ndcg" } end, metric = "profit_10", on_profit = true },
}
local order, kinds = { "relevance", "relevance, times profit", "profit" }, { "at random", "more for rare movies" }

-- Trains; after every few epochs calls watch(epoch, what scores items). Returns the latter.
local function train(name, kind, number, rate, count, watch)
  local ranker, fold, plain = rankers[name], priced(number, kind)
  local model = mr.models.mf{ users = fold.users, items = fold.items, factors = 32, init = 0.01, seed = args.seed }
  local function times_profit(batch) return model(batch):sigmoid() * profits[kind]:rows(batch.items) end
  local score = ranker.times and times_profit or model
  mr.fit{ model = model, loss = ranker.loss(), train = ranker.on_profit and fold.train or plain.train, epochs = count, seed = args.seed,
    optimizer = mr.optim.adam{ lr = rate, weight_decay = 1e-4 }, progress = false, each_epoch = function(epoch)
      if watch and epoch > 0 and epoch % step == 0 then watch(epoch, score, ranker.on_profit and fold or ranker.times and fold or plain) end
    end }
  return score, fold
end

-- Rate and number of epochs by validation, for each ranker and kind of profits.
local function chosen()
  local results = kept_runs.study(args, { name = ("profit, rates, seed %d"):format(args.seed),
    settings = { epochs = epochs, seed = args.seed },
    space = { ranker = mr.choice(order), profits = mr.choice(kinds), rate = mr.choice{ 0.003, 0.01, 0.03 } },
    run = function(trial)
      local best, metric = { valid = -1 }, rankers[trial.ranker].metric
      train(trial.ranker, trial.profits, 1, trial.rate, epochs, function(epoch, score, fold)
        local now = fold:evaluate(score, { metric }, { part = "valid", known = "relevant" }).mean[metric]
        if now > best.valid then best = { valid = now, epochs = epoch } end
      end)
      return best
    end })
  local columns, best = results:columns(), {}
  local function of(name) return columns:column("runs", name) end
  for _, row in ipairs(columns:rows("runs", {})) do
    local key = of "profits"[row] .. ": " .. of "ranker"[row]
    if not best[key] or of "valid"[row] > best[key].valid then
      best[key] = { valid = of "valid"[row], rate = of "rate"[row], epochs = math.tointeger(of "epochs"[row]) }
    end
  end
  return best
end
local best, said = chosen(), {}
for _, kind in ipairs(kinds) do
  for _, name in ipairs(order) do
    local key = kind .. ": " .. name
    said[#said + 1] = ("%s rate %g epochs %d"):format(key, best[key].rate, best[key].epochs)
  end
end

local measures = { "profit_10", "recall@10" }
local function per_list(found)
  local lists = { list = found.users:double() }
  for _, name in ipairs(measures) do lists[name] = found[name] end
  return lists
end

local results = kept_runs.study(args, { name = ("profit, seed %d"):format(args.seed), settings = { chosen = table.concat(said, "; ") },
  space = { ranker = mr.choice(order), profits = mr.choice(kinds), split = mr.range(1, args.folds) },
  run = function(trial)
    local at = best[trial.profits .. ": " .. trial.ranker]
    local score, fold = train(trial.ranker, trial.profits, trial.split, at.rate, at.epochs)
    local found = fold:evaluate(score, measures, { known = "relevant" })
    return { valid = at.valid, profit = found.mean.profit_10, recall = found.mean["recall@10"], per_list = per_list(found) }
  end })

-- The most liked movies for everyone, and these times their profit.
local function untrained(kind, times)
  local all = { list = {}, profit_10 = {}, ["recall@10"] = {} }
  for number = 1, args.folds do
    local fold, plain = priced(number, kind)
    local popular = mr.models.popularity{ fold = plain }
    local lists = per_list(fold:evaluate(function(batch)
      return times and popular(batch) * profits[kind]:rows(batch.items) or popular(batch)
    end, measures, { known = "relevant" }))
    for name, values in pairs(lists) do table.move(values:totable(), 1, #values, #all[name] + 1, all[name]) end
  end
  return function(metric) return scores.means_by(all.list, all[metric]) end
end

local rows, ps, gains = {}, {}, {}
for _, kind in ipairs(kinds) do
  local plain = scores.by_list({ results }, { ranker = "relevance", profits = kind }, "profit_10")
  local function add(name, at, of)
    local values = of "profit_10"
    local test = name ~= "relevance" and mr.stats.permutation(values, plain, { orders = 100000 }) or nil
    rows[#rows + 1] = { kind, name, at and at.rate or "", at and at.epochs or "", mr.stats.mean(values), mr.stats.mean(of "recall@10"),
      test and test.mean_difference or "", "" }
    ps[#ps + 1] = test and test.p or 0 / 0
    if name == "profit" then
      gains[#gains + 1] = { kind = kind, now = mr.stats.mean(values), before = mr.stats.mean(plain), row = #rows }
    end
  end
  add("most liked", nil, untrained(kind, false))
  add("most liked, times profit", nil, untrained(kind, true))
  for _, name in ipairs(order) do
    add(name, best[kind .. ": " .. name], function(metric)
      return scores.by_list({ results }, { ranker = name, profits = kind }, metric)
    end)
  end
end
for i, p in ipairs(mr.stats.holm(ps)) do rows[i][8] = p == p and p or "" end
local parts = {}
for i, each in ipairs(gains) do
  parts[i] = ([[
With profits "%s", training on profit brings %.2f a user instead of %.2f (p = %.2g after Holm's correction).]]):format(each.kind,
    each.now, each.before, rows[each.row][8])
end
return figure.finish(args, nil, ([[
The profits are made up, between 1 and %d for each movie; users and ratings are those of %s (%d %s, seed %d). Profit@10 is the mean
profit of a user who takes what he likes of the first ten. %s Recall@10 is the share of liked movies that are found.]]):format(most, title,
    args.folds, args.folds == 1 and "fold" or "folds", args.seed, table.concat(parts, " ")),
  mr.table{ columns = { "profits (made up)", "trained on", "rate", "epochs", "profit@10", "recall@10", "change", "p, Holm" }, rows = rows,
    formats = { ["profit@10"] = "%.3f", ["recall@10"] = "%.4f", change = "%+.3f", ["p, Holm"] = "%.2g" },
    mark = { ["profit@10"] = "max", ["recall@10"] = "max", ["p, Holm"] = 0.05 }, within = { "profits (made up)" } })
