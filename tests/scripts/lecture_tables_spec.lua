-- Tables of the lecture's scripts, which run in this process. Each number is compared with a training or an evaluation
-- by other code.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local data_folders, in_process = dofile "tests/support/data_folders.lua", dofile "tests/support/in_process.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local equal, near, check = test.equal, test.near, test.check

local protocol, predictors = dofile "scripts/lecture/protocol.lua", dofile "scripts/lecture/predictors.lua"
local of_profit, trees_of = dofile "scripts/lecture/profits.lua", dofile "scripts/lecture/trees.lua"
of_profit.define_profit()

local function words_of(folder, ...) return { "--store", folder .. "/runs.db", "--workers", "0", ... } end

-- Means of each user's values over folds, and over users.
local function mean_of_users(evaluations, metric)
  local by_user, means = {}, {}
  for _, found in ipairs(evaluations) do
    local values = found[metric]:totable()
    for l, user in ipairs(found.users:totable()) do
      by_user[user] = by_user[user] or {}
      table.insert(by_user[user], values[l])
    end
  end
  for _, values in pairs(by_user) do means[#means + 1] = mean(values) end
  return (mean(means))
end

-- Checks that a table's Markdown has the largest printed number of a column in bold, within rows of equal first column
-- where `within` is that column's name.
local function marks_the_largest(shown, c, within)
  local most, lines = {}, {}
  for line in shown:to_markdown():gmatch "[^\n]+" do
    if line:find "^|" then lines[#lines + 1] = line end
  end
  local cells = {}
  for r = 1, #shown.rows do
    cells[r] = {}
    for cell in lines[r + 2]:gmatch "| ([^|]*)%f[|]" do table.insert(cells[r], cell:match "^(.-)%s*$") end
  end
  local function group(r) return within and shown.rows[r][1] or "" end
  local function number(r) return tonumber((cells[r][c]:gsub("%*", ""))) end
  for r in ipairs(cells) do most[group(r)] = math.max(most[group(r)] or -math.huge, number(r)) end
  for r in ipairs(cells) do
    equal(cells[r][c]:find "%*%*" ~= nil, number(r) == most[group(r)], shown.columns[c] .. ", row " .. r)
  end
end

scripts.it("profit.lua takes settings of the first fold, and shows the means of users over all five folds",
  {}, function(folder)
  local ratings = data_folders.movielens(folder, { users = 20, items = 100, mean_activity = 70 })
  local words = words_of(folder, "--data", folder, "--seed", "2")
  local shown = in_process.section("scripts/lecture/profit.lua", words).tables[1]
  local rows = shown.rows
  marks_the_largest(shown, 5, "profits (made up)")
  marks_the_largest(shown, 6, "profits (made up)")
  local liked, all_profits, folds = protocol.liked(ratings, false), of_profit.profits(ratings, 2), {}
  for number = 1, 5 do folds[number] = protocol.liked_fold(liked, number, 2) end
  local function scored(name, kind, row, fold)
    local profits, popular = all_profits[kind], mr.models.popularity{ fold = fold }
    if name == "most liked" then return popular end
    if name == "most liked, times profit" then
      return function(batch) return popular(batch) * profits:rows(batch.items) end
    end
    return of_profit.fit_profit(name, fold, { profits = profits, rate = row[3], epochs = row[4], seed = 2 })
  end
  equal(#rows, 10)
  local base = {}
  for i, row in ipairs(rows) do
    local kind, name, evaluations = row[1], row[2], {}
    equal(kind, i <= 5 and "at random" or "more for rare movies")
    for number, fold in ipairs(folds) do
      local score = scored(name, kind, row, fold)
      evaluations[number] = of_profit.earned(of_profit.priced(fold, all_profits[kind]), score)
    end
    near({ row[5], row[6] },
      { mean_of_users(evaluations, "profit_10"), mean_of_users(evaluations, "recall@10") }, 1e-4, name)
    if name == "relevance" then base[kind] = row[5] end
  end
  for _, row in ipairs(rows) do
    if row[2] == "relevance" then equal({ row[7], row[8] }, { "", "" })
    else near(row[7], row[5] - base[row[1]], 1e-6, row[2]) end
  end
  for _, row in ipairs{ rows[3], rows[10] } do
    local best
    for _, rate in ipairs(of_profit.profit_rates) do
      local found = of_profit.epochs_of(row[2], folds[1], { profits = all_profits[row[1]], rate = rate, seed = 2 })
      if not best or found.valid > best.valid then
        best = { valid = found.valid, rate = rate, epochs = found.epochs }
      end
    end
    equal({ row[3], row[4] }, { best.rate, best.epochs }, row[2])
  end
end)

scripts.it("families.lua compares with squared errors, for ratings by nDCG@10 among all items", {}, function(folder)
  local words = words_of(folder, "--smoke", "--losses", "cross entropy,RankNet,BPR,LambdaMART")
  local section = in_process.section("scripts/lecture/families.lua", words)
  -- column of the metric that is compared: nDCG@10 among all items, nDCG@10
  for i, column in ipairs{ 8, 5 } do
    local rows, base = section.tables[i].rows, nil
    for _, row in ipairs(rows) do base = row[2] == "squared error" and row or base end
    for _, row in ipairs(rows) do
      local change, p = row[#row - 1], row[#row]
      if row == base then equal({ change, p }, { "", "" })
      else
        near(change, row[column] - base[column], 1e-6, row[2])
        check(p >= 0 and p <= 1, row[2])
      end
    end
  end
end)

scripts.it("families.lua names the best loss of each trained family, and no family without training", {},
  function(folder)
  local words = words_of(folder, "--smoke", "--sets", "mq2008", "--losses", "cross entropy,RankNet")
  local section = in_process.section("scripts/lecture/families.lua", words)
  local best = {}
  for _, row in ipairs(section.tables[1].rows) do
    if not best[row[1]] or row[5] > best[row[1]][5] then best[row[1]] = row end
  end
  for family, row in pairs(best) do
    local said = ("%s %s (%.4f)"):format(family, row[2], row[5])
    equal(section.text:find(said, 1, true) ~= nil, family ~= "untrained", said)
  end
end)

-- Among all items RankNet and squared error are the best of their families, by nDCG@10 of short lists the others are.
test.it("families.lua names the best losses by nDCG among all items if users are ranked", function()
  local values = { ["squared error"] = { 0.1, 0.3 }, ["cross entropy"] = { 0.9, 0.2 }, RankNet = { 0.2, 0.5 },
    BPR = { 0.8, 0.1 } }
  local names, learners, best = { "squared error", "cross entropy", "RankNet", "BPR" }, {}, {}
  for i, name in ipairs(names) do
    learners[i], best[name] = { name = name, family = i <= 2 and "pointwise" or "pairwise" }, { rate = 0.01 }
  end
  local store = sweeps.new_folder() .. "/r.db"
  local section = in_process.section("scripts/lecture/families.lua", { "--sets", "movielens" },
    { learners = function(own)
      rawset(own, "runs", function(args)
        equal({ args.folds, args.seed }, { 5, 1 }, "all five folds, under the first seed")
        return { title = "made", units = "users", unit = "user", folds = 1, learners = learners, names = names },
          mr.sweep{ name = "made", store = store, workers = 0, metric = "valid", progress = false,
            direction = "maximize", space = { learner = mr.choice(names), split = mr.range(1, 1) },
            run = function(trial)
              local short, all = table.unpack(values[trial.learner])
              return { valid = short, ["ndcg@10"] = short, ap = short, auc = short, catalogue = all,
                per_list = { list = { 1, 2 }, ["ndcg@10"] = { short, short }, ap = { short, short },
                auc = { short, short }, catalogue = { all, all } } }
            end }, best
      end)
    end })
  for _, said in ipairs{ "squared error (0.3000)", "RankNet (0.5000)" } do
    check(section.text:find(said, 1, true), section.text)
  end
end)

local forest = { rounds = 1, trees = 10, depth = 12, eta = 1, subsample = 0.63, colsample_bynode = 0.33, seed = 1 }

-- The losses and objectives of lambdamart.lua by their names in its table.
local trees = {
  ["LambdaMART, nDCG"] = { loss = mr.losses.lambdarank{} },
  ["LambdaMART, AP"] = { loss = mr.losses.lambdarank{ metric = "ap" } },
  ["LambdaMART, nDCG, minmax"] = { loss = mr.losses.lambdarank{ bound = "minmax" } },
  RankNet = { loss = mr.losses.ranknet{} }, ["smooth nDCG"] = { loss = mr.losses.ndcg{} },
  ["smooth AP, minmax"] = { loss = mr.losses.ap{ bound = "minmax" } },
  ["XGBoost rank:ndcg"] = { objective = "rank:ndcg" }, ["XGBoost rank:map"] = { objective = "rank:map" },
  MART = { objective = "reg:squarederror" }, McRank = { objective = "multi:softprob" },
  ["random forest"] = { objective = "reg:squarederror", options = forest },
}

scripts.it("lambdamart.lua trains each ranker on its loss or objective, and averages test queries over folds",
  { "xgboost" }, function()
  local folds, by_name = protocol.queries{ smoke = true, data = "" }, {}
  for _, row in ipairs(in_process.section("scripts/lecture/lambdamart.lua", { "--smoke" }).tables[1].rows) do
    local own, sums = trees[row[1]], { 0, 0, 0, 0 }
    by_name[row[1]] = true
    for _, fold in ipairs(folds) do
      local options = { objective = own.objective }
      for name, value in pairs(own.options or { rounds = 5, depth = 5, eta = 0.1, seed = 1 }) do
        options[name] = value
      end
      local model = mr.models.trees(options)
      mr.fit{ model = model, loss = own.loss, train = fold.train, valid = fold.valid, metrics = { "ap" },
        progress = false }
      local scores = model{ lists = fold.test.lists, features = fold.test.features }
      for c, value in ipairs{ trees_of.judge(scores, fold.test.lists) } do sums[c] = sums[c] + value / #folds end
    end
    near({ row[2], row[3], row[4], row[5] }, sums, 1e-5, row[1])
  end
  for name in pairs(trees) do check(by_name[name], name) end
end)

scripts.it("lambdamart.lua trains 200 rounds and forests of 300 trees by default", { "xgboost" }, function(folder)
  data_folders.queries(folder .. "/mq2008", 2)
  local make, fit, made = mr.models.trees, mr.fit, {}
  mr.models.trees = function(options)
    made[#made + 1] = ("%d rounds, %d trees"):format(options.rounds, options.trees or 1)
    return function(batch) return mr.zeros({ batch.lists.rows }) end
  end
  mr.fit = function() end
  local ok, problem = pcall(in_process.section, "scripts/lecture/lambdamart.lua", { "--data", folder })
  mr.models.trees, mr.fit = make, fit
  check(ok, problem)
  local counts = {}
  for _, text in ipairs(made) do counts[text] = (counts[text] or 0) + 1 end
  equal(counts, { ["200 rounds, 1 trees"] = 2 * 10, ["1 rounds, 300 trees"] = 2 })
end)

-- The mean of a number of all folds, such as recall "tail@10": each item to find counts once.
---@param all table[]  from predictors.measured, one for each fold
local function mean_of(all, name, items)
  local sum, count = 0, 0
  for _, each in ipairs(all) do
    sum, count = sum + each[name] * each[items .. "_count"], count + each[items .. "_count"]
  end
  return sum / count
end

scripts.it("cremonesi.lua takes settings of the first fold, and shows recall and RMSE over five folds",
  { "gnuplot" }, function(folder)
  local ratings, fit = data_folders.movielens(folder, { users = 20, items = 60, mean_activity = 25 }), mr.fit
  local folds = {}
  for number = 1, 5 do folds[number] = predictors.graded_fold(ratings, number, 3) end
  mr.fit = function() end  -- models are as they begin: their numbers are those of seed and size
  local ok, problem = pcall(function()
    local words = words_of(folder, "--data", folder, "--seed", "3", "--unseen", "10", "--head", "0.5",
      "--out", folder .. "/a.svg")
    local tried = {}
    local shown = in_process.section("scripts/lecture/cremonesi.lua", words, { experiment = function(experiment)
      local tuned = experiment.tuned
      rawset(experiment, "tuned", function(args, o)
        local results, best = tuned(args, o)
        tried = { mr.results(args.store, o.name .. ", settings"):counts().done, results:counts().done }
        return results, best
      end)
    end }).tables[1]
    local rows, settings = shown.rows, 0
    -- settings of predictors that have several are tried once, then every predictor on five folds
    for _, each in ipairs(predictors.all) do settings = settings + (#each.settings > 1 and #each.settings or 0) end
    equal(tried, { settings, 5 * #predictors.all })
    for c = 4, 9 do marks_the_largest(shown, c) end
    local o, tail = { unseen = 10, seed = 3 }, predictors.long_tail(ratings, 0.5)
    local function measured(each, fold, setting, part)
      o.predicts, o.tail = each.predicts, part == "test" and tail or nil
      return predictors.measured(each.make(fold, setting, 3), fold, part, o)
    end
    for i, each in ipairs(predictors.all) do
      local best, all, row = nil, {}, rows[i]
      for _, setting in ipairs(each.settings) do
        local valid = measured(each, folds[1], setting, "valid").valid
        if not best or valid > best.valid then best = { valid = valid, setting = setting } end
      end
      equal({ row[1], row[2] }, { each.name, predictors.text(best.setting) })
      for number, fold in ipairs(folds) do all[number] = measured(each, fold, best.setting, "test") end
      for c, n in ipairs{ 1, 10, 20 } do
        near(row[3 + c], mean_of(all, "all@" .. n, "all"), 1e-6, each.name)
        near(row[6 + c], mean_of(all, "tail@" .. n, "tail"), 1e-6, each.name)
      end
      if each.predicts then near(row[3], mean_of(all, "rmse", "all"), 1e-6, each.name) else equal(row[3], nil) end
    end
  end)
  mr.fit = fit
  check(ok, problem)
end)

scripts.it("cremonesi.lua ranks each item among a hundred, and leaves out items with a third of the ratings",
  { "gnuplot" }, function(folder)
  local random, sizes, counts, text = mr.models.random, {}, {}, nil
  mr.models.random = function()
    return function(batch)
      for _, size in ipairs(batch.lists.sizes:totable()) do sizes[size] = true end
      return mr.zeros(batch.lists.rows)
    end
  end
  local ok, problem = pcall(function()
    text = in_process.section("scripts/lecture/cremonesi.lua",
      words_of(folder, "--smoke", "--out", folder .. "/a.svg")).text
  end)
  mr.models.random = random
  check(ok, problem)
  equal(sizes, { [101] = true })
  local ratings, held, n = protocol.ratings{ smoke = true }, 0, 0
  for _, item in ipairs(ratings.item:totable()) do counts[item] = (counts[item] or 0) + 1 end
  local numbers = {}
  for _, count in pairs(counts) do numbers[#numbers + 1] = count end
  table.sort(numbers, function(a, b) return a > b end)
  while held < 0.33 * ratings.rows do n, held = n + 1, held + numbers[n + 1] end
  equal(tonumber(text:match "without the (%d+) most rated"), n)
end)
