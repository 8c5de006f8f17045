-- The protocol of the lecture's scripts, scripts/lecture/protocol.lua and the files beside it, on made-up ratings and
-- queries; the answers are worked out beside each test, trainings are repeated step by step.
local mr = require "moonrank"
local core = require "moonrank.core"
local folds_of = require "moonrank.data.fold"
local test = require "moonrank.test"
local describe, it, equal, near, check = test.describe, test.it, test.equal, test.near, test.check

local protocols, sweeps = dofile "tests/support/protocols.lua", dofile "tests/support/sweeps.lua"
local protocol, predictors = dofile "scripts/lecture/protocol.lua", dofile "scripts/lecture/predictors.lua"
local of_profit, trees_of = dofile "scripts/lecture/profits.lua", dofile "scripts/lecture/trees.lua"
local training = dofile("scripts/lecture/learners.lua").training
of_profit.define_profit()

it("ratings and queries are MovieLens and MQ2008 of the data folder, and of short runs made-up ones", function()
  local folder = sweeps.new_folder()
  os.execute(("mkdir -p '%s/ml-latest-small' '%s/mq2008/Fold1'"):format(folder, folder))
  sweeps.write(folder .. "/ml-latest-small/ratings.csv", "userId,movieId,rating,timestamp\n1,10,4.5,1\n2,20,3,2\n")
  for _, part in ipairs{ "train", "vali", "test" } do
    sweeps.write(("%s/mq2008/Fold1/%s.txt"):format(folder, part), "2 qid:1 1:0.5 2:0.25\n0 qid:1 1:0.5 2:1\n")
  end
  local ratings, of_ratings = protocol.ratings{ data = folder, smoke = false }
  local folds, of_queries = protocol.queries{ data = folder, smoke = false }
  equal({ ratings.rows, of_ratings, #folds, folds[1].train.lists.rows, of_queries }, { 2, "MovieLens", 1, 2, "MQ2008" })
  ratings, of_ratings = protocol.ratings{ data = folder, smoke = true }
  folds, of_queries = protocol.queries{ data = folder, smoke = true }
  local first = folds[1]
  equal({ ratings.users, ratings.items, of_ratings }, { 60, 300, "made-up ratings" })
  equal({ first.train.count + first.valid.count + first.test.count, first.train.features:size(2), of_queries },
    { 130, 6, "made-up queries" })
end)

it("protocol of statistics: pooled counts every list once in a mean over folds", function()
  local pooled = dofile("scripts/lecture/background/common.lua").pooled
  local mean, count = pooled{ { mean = 0.5, count = 10 }, { mean = 0 / 0, count = 0 }, { mean = 1, count = 30 } }
  near({ mean, count }, { 0.875, 40 }, 1e-12)
end)

-- Ratings from rows of user, item and rating.
local function ratings_of(rows)
  local lines = {}
  for i, row in ipairs(rows) do lines[i] = table.concat(row, ",") end
  return protocols.ratings(lines)
end

-- Rows: a user rates items first to last so.
local function rate(rows, user, first, last, rating)
  for item = first, last do rows[#rows + 1] = { user, item, rating } end
end

describe("protocol of relevance:", function()
  local rows = {}
  rate(rows, 1, 1, 25, 4)     -- 25 items of 4 stars
  rate(rows, 1, 26, 60, 3.5)
  rate(rows, 2, 1, 24, 5)     -- 24 of 5, others of 3.5
  rate(rows, 2, 25, 90, 3.5)
  rate(rows, 3, 1, 5, 4)      -- five
  rate(rows, 3, 6, 170, 3)
  rate(rows, 4, 1, 4, 5)      -- four
  local ratings = ratings_of(rows)

  it("liked takes 4 stars of users with 25 such items, and liked_fold four other items for each", function()
    local liked, tested = protocol.liked(ratings, false), {}
    equal(protocol.folds, 5)
    for number = 1, protocol.folds do
      local one = protocol.liked_fold(liked, number, 3)
      equal({ one.number, one.k, one.test.count }, { number, 5, 1 })
      equal(one.test.users:totable(), { 1 })
      local relevant = 0
      for _, name in ipairs{ "train", "valid", "test" } do
        local grades, items = one[name].lists.relevance:totable(), one[name].items:totable()
        local own = 0
        for i, grade in ipairs(grades) do
          equal(grade == 1, items[i] <= 25, items[i])
          own = own + grade
          if name == "test" and grade == 1 then
            check(not tested[items[i]], "an item is tested once")
            tested[items[i]] = true
          end
        end
        equal(#grades, 5 * own)
        relevant = relevant + own
      end
      equal(relevant, 25)
    end
    equal(#tested, 25)
    local other = protocol.liked_fold(liked, 1, 4).test.items:totable()
    check(table.concat(other, " ") ~= table.concat(protocol.liked_fold(liked, 1, 3).test.items:totable(), " "),
      "by seed")
  end)

  it("liked takes users with five such items in short runs", function()
    equal(protocol.liked_fold(protocol.liked(ratings, true), 1, 1).train.users:totable(), { 1, 2, 3 })
  end)

  it("graded_fold keeps the grades, and adds two unrated items for each rated one to training lists", function()
    local seen = 0
    for number = 1, 5 do
      local one = predictors.graded_fold(ratings, number, 1)
      equal({ one.number, one.k, one.with_negatives.number }, { number, 5, number })
      seen = seen + one.test.lists.rows
      local grades = {}
      for _, grade in ipairs(one.train.lists.relevance:totable()) do grades[grade] = true end
      check(grades[3.5] and grades[4] and grades[5] and not grades[0], "grades")
      local train = one.with_negatives.train
      for i, user in ipairs(train.users:totable()) do
        local n, rated = train.lists.sizes:totable()[i], 0
        for at, x in ipairs(train.lists.relevance:totable()) do
          local before = 0
          for k = 1, i - 1 do before = before + train.lists.sizes:totable()[k] end
          if at > before and at <= before + n and x > 0 then rated = rated + 1 end
        end
        if user == 4 then equal(n, 3 * rated) end  -- the others have too few unrated items
      end
    end
    equal(seen, ratings.rows)
    local function print_of(fold) return fold.train.fingerprint end
    local second = print_of(predictors.rated_fold(ratings, 2, 1))
    equal(second, print_of(predictors.graded_fold(ratings, 2, 1)))
    check(second ~= print_of(predictors.rated_fold(ratings, 2, 2)), "by seed")
  end)

  it("long_tail leaves out the most rated items that hold a share of the ratings", function()
    local some = {}
    rate(some, 1, 1, 3, 4)
    rate(some, 2, 1, 2, 4)
    for user = 3, 7 do rate(some, user, 1, 1, 4) end
    local all = ratings_of(some)  -- 7, 2 and 1 of ten
    local cases = { [0] = { 1, 1, 1 }, [0.33] = { 0, 1, 1 }, [0.7] = { 0, 1, 1 }, [0.71] = { 0, 0, 1 },
      [1] = { 0, 0, 0 } }
    for share, expected in pairs(cases) do
      local tail, n = predictors.long_tail(all, share)
      equal(tail:totable(), expected, share)
      equal(n, 3 - expected[1] - expected[2] - expected[3])
    end
    -- of 100 ratings the first item has 32, 67 others one each, and an item that comes last the other: a third is that
    -- of two items
    local rows_of = {}
    for user = 1, 32 do rate(rows_of, user, 1, 1, 4) end
    rate(rows_of, 33, 2, 69, 4)
    equal(select(2, predictors.long_tail(ratings_of(rows_of), 0.33)), 2)
  end)
end)

local made_up = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, mean_activity = 30, noise = 0.3 }
local liked = protocol.liked(made_up, true)
local plain = protocol.liked_fold(liked, 2, 1)

-- Trains a model step by step, in a loop of its own, as a reference for the protocol's training.
local function stepwise(model, data, o)
  local optimizer = mr.optim.adam{ lr = o.rate, weight_decay = o.decay or 0 }:bind(model:parameters())
  for epoch = 1, o.epochs do
    for batch in data:batches{ size = 32, shuffle = true, seed = o.seed, epoch = epoch } do
      optimizer:zero_grad()
      local values, count = o.loss(model(batch), batch.lists), o.loss:count(batch.lists)
      local sum
      if o.rows then
        sum = (values * batch.lists.sizes:to(values.dtype)):sum() * (1 / batch.lists.rows)
      else
        sum = values:sum() * (1 / count)
      end
      sum:backward()
      optimizer:step()
    end
  end
  return model
end

local function scores_of(model, set)
  return mr.no_grad(function() return model(set:batches{ size = set.count }()) end)
end

local function mf(seed) return mr.models.mf{ users = 40, items = 120, factors = 32, init = 0.01, seed = seed } end

describe("protocol of families:", function()
  local function queries(count, sign, seed)
    local lists, features, u = {}, {}, mr.uniform({ count * 6, 3 }, { seed = seed, dtype = "float64" }):totable()
    for l = 1, count do
      lists[l] = {}
      for i = 1, 6 do
        local x = u[(l - 1) * 6 + i]
        lists[l][i] = sign * (x[1] - 0.5) > 0.5 * (x[3] - 0.5) and 1 or 0
        features[#features + 1] = { 10 + x[1], x[2] }
      end
      lists[l][1], lists[l][2] = 1, 0
    end
    return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features) }
  end
  local raw = folds_of.new{ train = queries(40, 1, 1), valid = queries(20, 1, 2), test = queries(20, -1, 3), number = 1,
    k = 1, title = "made up" }
  local one = protocol.query_fold({ false, raw }, 2)

  it("query_fold standardises features by the training part", function()
    local sum, square, x = 0, 0, raw.train.features:totable()
    for _, row in ipairs(x) do sum, square = sum + row[1] / #x, square + row[1] ^ 2 / #x end
    local sd = math.sqrt(square - sum ^ 2)
    for _, name in ipairs{ "train", "valid", "test" } do
      near(one[name].features:totable()[5][1], (raw[name].features:totable()[5][1] - sum) / sd, 1e-3, name)
    end
  end)

  it("fit trains queries with Adam and decay for 60 epochs, and keeps the best by nDCG@10 on validation", function()
    local function fitted(more)
      local o = { model = training.models.mlp(one, 2), loss = mr.losses.mse(), seed = 3,
        at = { rate = 0.01, decay = 0.1 } }
      for name, value in pairs(more or {}) do o[name] = value end
      return training.fit("mq2008", one, o), o.model
    end
    local run, model = fitted{ test = true }
    equal({ #run.history, run.history[1].metrics["ndcg@10"] ~= nil }, { 60, true })
    local best = 1
    for i, entry in ipairs(run.history) do
      best = entry.metrics["ndcg@10"] > run.history[best].metrics["ndcg@10"] and i or best
    end
    equal(run.best.epoch, best)
    check(run.best.metrics["ndcg@10"] > run.test.mean["ndcg@10"] + 0.1,
      "validation agrees with training, test does not")
    for _, name in ipairs{ "ndcg@10", "ap", "auc" } do
      check(run.test.mean[name] and run.history[1].metrics[name], name)
    end
    local same = mr.models.mlp{ inputs = 2, hidden = { 46 }, activation = "relu", seed = 2 }
    stepwise(same, one.train, { rate = 0.01, decay = 0.1, epochs = best, seed = 3, loss = mr.losses.mse() })
    near(scores_of(model, one.test), scores_of(same, one.test), 1e-4)
    check(not (fitted()).test, "test is scored where it is asked for")
    equal(#(fitted{ short = true }).history, 2)
  end)

  it("fit trains ratings for 30 epochs, and validates every third one among items not liked before", function()
    local model = training.models.mf(plain, 2)
    local run = training.fit("movielens", plain,
      { model = model, loss = mr.losses.bpr(), at = { rate = 0.01, decay = 0.01 }, seed = 3 })
    equal(#run.history, 30)
    for epoch, entry in ipairs(run.history) do equal(entry.metrics["ndcg@10"] ~= nil, epoch % 3 == 0, epoch) end
    local found = plain:evaluate(model, { "ndcg@10" }, { part = "valid", known = "relevant" }).mean["ndcg@10"]
    near(run.best.metrics["ndcg@10"], found, 1e-6)
    for _, entry in ipairs(run.history) do check((entry.metrics["ndcg@10"] or 0) <= found + 1e-9, entry.epoch) end
    -- two epochs of descent that validation likes better and better: the second stays
    local first = training.models.mf(plain, 2)
    local o = { model = first, loss = mr.losses.mse(), at = { rate = 0.02, decay = 0.05 }, seed = 3, short = true }
    run = training.fit("movielens", plain, o)
    equal({ #run.history, run.history[1].metrics["ndcg@10"] ~= nil }, { 2, true })
    local same = stepwise(mf(2), plain.train,
      { rate = 0.02, decay = 0.05, epochs = run.best.epoch, seed = 3, loss = mr.losses.mse() })
    near(scores_of(first, plain.test), scores_of(same, plain.test), 1e-5)
  end)

  it("fit trains metric factors without weight decay, and trees without an optimizer", function()
    local model = training.models.cml(plain, 2)
    training.fit("movielens", plain, { model = model, loss = mr.losses.hinge(), seed = 1, short = true,
      at = { rate = 0.01 } })
    local free = mr.models.cml{ users = 40, items = 120, factors = 32, seed = 2 }
    mr.fit{ model = free, loss = mr.losses.hinge(), train = plain.train, valid = plain:candidates{ known = "relevant" },
      epochs = 2, seed = 1, metrics = { "ndcg@10" }, optimizer = mr.optim.adam{ lr = 0.01 }, progress = false }
    equal(scores_of(model, plain.test):totable(), scores_of(free, plain.test):totable())
    equal(training.models.cml(plain, 1):parameters()[1]:size(2), 32)
    if not pcall(core.xgboost_version) then return end
    local function scores(boosted)
      return mr.no_grad(function() return boosted{ lists = one.test.lists, features = one.test.features } end)
    end
    for short, rounds in pairs{ [true] = 5, [false] = 200 } do
      local trees = training.models.trees(one, 1, 0.2, short)
      local run =
        training.fit("mq2008", one, { model = trees, loss = mr.losses.lambdarank(), at = { eta = 0.2 }, seed = 1 })
      equal(#run.history, rounds)
      local same = mr.models.trees{ rounds = rounds, depth = 5, eta = 0.2, seed = 1 }
      mr.fit{ model = same, loss = mr.losses.lambdarank(), train = one.train, valid = one.valid,
        metrics = { "ndcg@10" }, progress = false }
      near(scores(trees), scores(same), 1e-6)
    end
  end)

  it("factorisation starts factors within 0.01 of 0", function()
    local all = protocol.factorisation({ users = 400, items = 300 }, 1):parameters()
    equal({ all[1]:size(1), all[1]:size(2) }, { 400, 32 })
    near(all[1]:abs():max():item(), 0.01, { atol = 5e-5 })
  end)

  it("training, decays and etas have the rates and decays that are tried", function()
    local text = {}
    for _, set in ipairs{ "movielens", "mq2008" } do
      local rates = training[set].rates
      for i = 2, #rates do check(rates[i] > 2.9 * rates[i - 1] and rates[i] < 3.4 * rates[i - 1], rates[i]) end
      text[#text + 1] = ("%s: %g to %g"):format(set, rates[1], rates[#rates])
    end
    equal(text, { "movielens: 0.003 to 0.03", "mq2008: 0.001 to 0.01" })
    equal(training.decays[1], 0)
    near({ training.decays[2], training.decays[3] / training.decays[2] }, { 1e-4, 10 }, 1e-9)
    near({ training.etas[2], training.etas[2] / training.etas[1], training.etas[3] / training.etas[2] },
      { 0.1, 2, 2 }, 1e-9)
  end)

  -- A fold of user 1, who likes the items 1 to 25 and rates those up to `last` low. User 2 rates the others low.
  local function fold_rated_low_to(last)
    local rows = {}
    rate(rows, 1, 1, 25, 5)
    rate(rows, 1, 26, last, 2)
    rate(rows, 2, last + 1, 130, 2)
    return protocol.liked_fold(protocol.liked(ratings_of(rows), false), 1, 1)
  end

  it("catalogue ranks all items except those liked before, and keeps those rated low", function()
    local own = fold_rated_low_to(27)
    -- first the items that were liked before the test, then the two that were rated low, then those that are to be
    -- found
    local tested, score = {}, {}
    for i, item in ipairs(own.test.items:totable()) do
      if own.test.lists.relevance:totable()[i] == 1 then tested[item] = true end
    end
    for item = 1, 130 do
      score[item] = tested[item] and 2 or item <= 25 and 4 or item <= 27 and 3 or 1
    end
    local scores, dcg, ideal = mr.tensor(score), 0, 0
    for i = 1, 5 do dcg, ideal = dcg + 1 / math.log(i + 3, 2), ideal + 1 / math.log(i + 1, 2) end
    local function model(batch) return scores:rows(batch.items) end
    near(training.catalogue(own, model):totable(), { dcg / ideal }, 1e-6)
    local found = of_profit.earned(of_profit.priced(own, mr.full({ 130 }, 2)), model)
    equal(found.profit_10:totable(), { 10 })
    near(found["recall@10"]:totable(), { 1 }, 1e-9)
  end)

  it("earned ranks items that were rated low before, so that they can take the first ranks", function()
    local own = fold_rated_low_to(33)
    -- eight items that were rated low come first, and then the five liked ones of the test part: two are in the first
    -- ten ranks
    local score = {}
    for item = 1, 130 do score[item] = (item <= 25 and 2 or item <= 33 and 3 or 1) + item / 1000 end
    local scores = mr.tensor(score)
    local function model(batch) return scores:rows(batch.items) end
    local found = of_profit.earned(of_profit.priced(own, mr.full({ 130 }, 3)), model)
    near({ found.profit_10:item(), found["recall@10"]:item() }, { 6, 2 / 5 }, 1e-6)
  end)
end)

describe("Cremonesi's protocol:", function()
  -- Everyone rates all items but the last four; test items of 5 stars are among these unrated ones.
  local rows = {}
  for user = 1, 4 do
    rate(rows, user, 1, 10, 5)
    rate(rows, user, 11, 20, 4.5)
    rate(rows, user, 21, 26, 1)
  end
  rate(rows, 5, 27, 30, 3)
  local ratings = ratings_of(rows)
  local one = predictors.graded_fold(ratings, 1, 1)

  it("to_find marks items of 5 stars, of all items or of the long tail, and keeps other ratings in train", function()
    local tail = {}
    for item = 1, 30 do tail[item] = item <= 5 and 0 or 1 end
    for _, part in ipairs{ "valid", "test" } do
      local all, some = predictors.to_find(one, part), predictors.to_find(one, part, mr.tensor(tail))
      local items, grades = one[part].items:totable(), one[part].lists.relevance:totable()
      for i, item in ipairs(items) do
        equal(all.test.lists.relevance:totable()[i], grades[i] == 5 and 1 or 0)
        equal(some.test.lists.relevance:totable()[i], grades[i] == 5 and item > 5 and 1 or 0)
      end
      equal(all.train.lists.rows, ratings.rows)
    end
  end)

  -- 27 to 30 are the unrated items; 28 and 29 score above everything, 27 and 30 below.
  local function model(batch)
    local scores = {}
    for item = 1, 30 do scores[item] = (item == 28 or item == 29) and 9 or item > 26 and -1 or 2 end
    return mr.tensor(scores):rows(batch.items)
  end

  local function recalls(of, fold, part, o)
    local numbers, found = predictors.measured(of, fold, part, o), {}
    for n = 1, predictors.deepest do found[n] = numbers["all@" .. n] end
    return found, numbers
  end

  it("measured ranks each item of 5 stars among unrated items", function()
    local stars, expected, tail = 0, {}, {}
    for i = 1, 20 do expected[i] = i >= 3 and 1 or 0 end
    for item = 1, 30 do tail[item] = item <= 8 and 0 or 1 end
    local in_tail = 0
    for i, grade in ipairs(one.test.lists.relevance:totable()) do
      stars = stars + (grade == 5 and 1 or 0)
      in_tail = in_tail + ((grade == 5 and one.test.items:totable()[i] > 8) and 1 or 0)
    end
    local found, numbers = recalls(model, one, "test", { unseen = 4, seed = 1 })
    near(found, expected, 1e-9)
    equal({ numbers.all_count, #found, numbers.tail_count }, { stars, 20 })
    found, numbers = recalls(model, one, "test", { unseen = 4, seed = 1, tail = mr.tensor(tail) })
    near(found, expected, 1e-9)
    equal({ numbers.all_count, numbers.tail_count, numbers["tail@2"], numbers["tail@3"] }, { stars, in_tail, 0, 1 })
    -- of two unrated items: rank 1 to 3
    local two = recalls(model, one, "test", { unseen = 2, seed = 1 })
    check(two[1] > 0 and two[1] < 1 and two[3] == 1, "fewer items beside each")
    local other = recalls(model, one, "test", { unseen = 2, seed = 2 })
    check(two[1] ~= other[1] or two[2] ~= other[2], "by seed")
  end)

  it("measured chooses by the RMSE of predicted ratings or else by recall(10)", function()
    local function three(batch) return mr.full({ 30 }, 3):rows(batch.items) end
    for _, part in ipairs{ "valid", "test" } do
      local square = 0
      for _, x in ipairs(one[part].lists.relevance:totable()) do square = square + (x - 3) ^ 2 end
      local numbers = predictors.measured(three, one, part, { unseen = 4, seed = 1, predicts = true })
      local rmse = math.sqrt(square / one[part].lists.rows)
      near({ numbers.rmse, numbers.valid }, { rmse, -rmse }, 1e-6)
      equal(predictors.measured(three, one, part, { unseen = 4, seed = 1 }).rmse, nil)
    end
    local function valid_of(of, fold)
      return predictors.measured(of, fold, "valid", { unseen = 12, seed = 1 }).valid
    end
    -- twelve unrated items, of which eleven score higher: recall(10) is 0, recall(12) is 1
    local many = {}
    for user = 1, 3 do rate(many, user, 1, 12, 5) end
    rate(many, 4, 13, 24, 3)
    local own = predictors.graded_fold(ratings_of(many), 1, 1)
    local function last(above)
      return function(batch)
        local scores = {}
        for item = 1, 24 do scores[item] = item <= 12 and 1 or item <= 12 + above and 2 or 0 end
        return mr.tensor(scores):rows(batch.items)
      end
    end
    equal(valid_of(last(10), own), 0)
    equal(valid_of(last(9), own), 1)
    -- of one user: validation's items first, those of test last
    local of_one = {}
    rate(of_one, 1, 1, 12, 5)
    rate(of_one, 2, 13, 24, 3)
    own = predictors.graded_fold(ratings_of(of_one), 1, 1)
    local score = {}
    for item = 1, 24 do score[item] = item <= 12 and 0 or 1 end
    for i, item in ipairs(own.valid.items:totable()) do
      score[item] = item <= 12 and own.valid.lists.relevance:totable()[i] or 1
    end
    local first = mr.tensor(score)
    equal(valid_of(function(batch) return first:rows(batch.items) end, own), 1)
  end)

  it("fit_ratings minimises the squared errors of all ratings, starting at their mean", function()
    local graded = predictors.graded_fold(made_up, 1, 1)
    local setting = { rate = 0.01, decay = 0.01, epochs = 3 }
    local same = mr.models.biased_mf{ users = 40, items = 120, factors = 32, init = 0.01, seed = 5,
      mean = graded.train.lists.relevance:mean():item() }
    stepwise(same, graded.train,
      { rate = 0.01, decay = 0.01, epochs = 3, seed = 5, rows = true, loss = mr.losses.mse() })
    near(scores_of(predictors.fit_ratings(graded, setting, 5), graded.test), scores_of(same, graded.test), 1e-4)
    local lambdarank
    for _, each in ipairs(predictors.all) do lambdarank = each.name == "MF, LambdaRank" and each.make or lambdarank end
    local ranked = stepwise(mf(5), graded.with_negatives.train,
      { rate = 0.01, decay = 0.01, epochs = 3, seed = 5, loss = mr.losses.lambdarank() })
    near(scores_of(lambdarank(graded, setting, 5), graded.test), scores_of(ranked, graded.test), 1e-4)
  end)
end)

describe("protocol of trees:", function()
  it("judge gives nDCG with queries without relevant documents as 0, and without these queries", function()
    -- rank 2 of the first query is relevant: nDCG@10 1 / log2(3), AP 1/2; the second has none; of the third AP is 1,
    -- nDCG@10 1
    local first, letor, map, rest =
      trees_of.judge(mr.tensor{ 2, 1, 1, 2, 2, 1 }, mr.lists{ { 0, 1 }, { 0, 0 }, { 1, 0 } })
    near({ first, map, rest }, { (1 / math.log(3, 2) + 1) / 3, 1.5 / 3, (1 / math.log(3, 2) + 1) / 2 }, 1e-6)
    equal(letor, 0, "by LETOR's rule a query with fewer than ten documents counts as 0")
    local scores, grades = {}, {}
    for i = 1, 12 do scores[i], grades[i] = -i, i == 11 and 1 or 0 end
    local at_11, _, ap = trees_of.judge(mr.tensor(scores), mr.lists{ grades })
    near({ at_11, ap }, { 0, 1 / 11 }, 1e-6)
    -- the third of twelve documents is relevant: 1 / log2(4), by LETOR's discounts 1 / log2(3)
    grades[11], grades[3] = 0, 1
    local usual, by_letor = trees_of.judge(mr.tensor(scores), mr.lists{ grades })
    near({ usual, by_letor }, { 0.5, 1 / math.log(3, 2) }, 1e-6)
  end)

  if not pcall(core.xgboost_version) then
    return it("fit of trees needs XGBoost", function() test.skip "XGBoost's library is not installed" end)
  end

  it("options boosts at depth 5 and eta 0.1, or makes a forest; fit chooses the round by AP", function()
    local function part(seed, sign)
      local set = mr.data.synthetic{ kind = "queries", queries = 60, features = 4, mean_size = 20,
        noise = 1, seed = seed }
      return sign == 1 and set or mr.data.dataset{ lists = set.lists, features = -set.features }
    end
    local one = folds_of.new{ train = part(1, 1), valid = part(2, 1), test = part(3, -1), number = 1, k = 1,
      title = "made up" }
    local function scores(model) return model{ lists = one.train.lists, features = one.train.features } end
    local o = { rounds = 20, trees = 7, seed = 3 }
    for forest, options in pairs{ [false] = { rounds = 20, depth = 5, eta = 0.1, seed = 3 },
      [true] = { rounds = 1, trees = 7, depth = 12, eta = 1, subsample = 0.63, colsample_bynode = 0.33, seed = 3,
        objective = "reg:squarederror" } } do
      local loss = not forest and mr.losses.lambdarank{} or nil
      local own = trees_of.options(forest, o)
      own.objective = options.objective
      local model, same = mr.models.trees(own), mr.models.trees(options)
      local run = trees_of.fit(model, loss, one)
      equal(#run.history, options.rounds)
      mr.fit{ model = same, loss = loss, train = one.train, valid = one.valid, metrics = { "ap" }, progress = false }
      near(scores(model), scores(same), 1e-6)
      local best = 1
      for i, entry in ipairs(run.history) do best = entry.metrics.ap > run.history[best].metrics.ap and i or best end
      equal(run.best.epoch, best)
      local trained =
        mr.evaluate(model{ lists = one.valid.lists, features = one.valid.features }, one.valid.lists, { "ap" }).mean.ap
      near(run.best.metrics.ap, trained, 1e-6)
    end
  end)
end)

describe("protocol of profit:", function()
  it("profits lie between 1 and 20, evenly in logarithms, or larger for movies with fewer ratings", function()
    local rows = {}
    for user = 1, 5 do rate(rows, user, user, 5, 4) end  -- item 5 has 5 ratings, item 1 one
    local found = of_profit.profits(ratings_of(rows), 1)
    local rare = {}
    for i = 1, 5 do rare[i] = 20 ^ ((5 - i) / 4) end
    near(found["more for rare movies"]:totable(), rare, 1e-5)
    equal(of_profit.most, 20)
    local drawn = of_profit.profits(made_up, 1)["at random"]
    check(-(-drawn):max():item() >= 1 and drawn:max():item() <= 20, "between 1 and 20")
    near(drawn:double():log():mean():item() / math.log(20), 0.5, { atol = 0.1 })
    check(drawn:max():item() > 15 and -(-drawn):max():item() < 1.5, "the whole range")
    check(drawn:totable()[1] ~= of_profit.profits(made_up, 2)["at random"]:totable()[1], "by seed")
  end)

  it("profit_10 adds up ten rows, and profit_ndcg has profit as its gain", function()
    local scores, profit, sum = {}, {}, 0
    for i = 1, 12 do
      scores[i], profit[i] = -i, i % 3 == 0 and 0 or i
      sum = sum + (i <= 10 and profit[i] or 0)
    end
    near(mr.metrics.parse "profit_10"(mr.tensor(scores), mr.lists{ profit }):item(), sum, 1e-5)
    local dcg, ideal = 3 / math.log(3, 2), 3 + 0 / math.log(3, 2)
    near(mr.metrics.parse "profit_ndcg"(mr.tensor{ 2, 1 }, mr.lists{ { 0, 3 } }):item(), dcg / ideal, 1e-6)
  end)

  local profits = of_profit.profits(made_up, 1)["at random"]
  local priced = of_profit.priced(plain, profits)

  it("priced grades relevant rows by their profit", function()
    local by_item = profits:totable()
    for _, name in ipairs{ "train", "valid", "test" } do
      local was, items = plain[name].lists.relevance:totable(), plain[name].items:totable()
      for i, x in ipairs(priced[name].lists.relevance:totable()) do near(x, was[i] * by_item[items[i]], 1e-6) end
    end
    equal({ priced.number, priced.k, priced.users, priced.items }, { 2, 5, 40, 120 })
    local rare = of_profit.priced(plain, of_profit.profits(made_up, 1)["more for rare movies"])
    check(rare.train.lists.relevance:max():item() > 5, "the other profits fit as well")
  end)

  local losses = { relevance = mr.losses.lambdarank{}, ["relevance, times profit"] = mr.losses.bce{},
    profit = mr.losses.lambdarank{ metric = "profit_ndcg" } }

  it("fit_profit trains rankers of relevance, of probability times profit, and of profit", function()
    for _, name in ipairs(of_profit.rankers) do
      local watched = {}
      local score = of_profit.fit_profit(name, plain, { profits = profits, rate = 0.03, epochs = 4, seed = 7,
        watch = function(epoch) watched[#watched + 1] = epoch end })
      equal(watched, { 0, 1, 2, 3, 4 })
      local same = stepwise(mf(7), name == "profit" and priced.train or plain.train,
        { rate = 0.03, decay = 1e-4, epochs = 4, seed = 7, loss = losses[name] })
      local expected = scores_of(same, plain.test)
      if name == "relevance, times profit" then expected = expected:sigmoid() * profits:rows(plain.test.items) end
      near(scores_of(score, plain.test), expected, 1e-4, name)
    end
    equal(#of_profit.rankers, 3)
  end)

  it("fit_profit applies weight decay", function()
    -- users without training rows move by decay alone: their factors go down by the rate in every step
    local score = of_profit.fit_profit("relevance", plain, { profits = profits, rate = 0.03, epochs = 4, seed = 7 })
    local without =
      stepwise(mf(7), plain.train, { rate = 0.03, decay = 0, epochs = 4, seed = 7, loss = losses.relevance })
    check((score:parameters()[2] - without:parameters()[2]):abs():max():item() > 1e-4, "decay moves factors")
  end)

  it("epochs_of chooses among every fifth epoch by nDCG@10 or profit@10 on validation", function()
    for name, metric in pairs{ relevance = "ndcg@10", ["relevance, times profit"] = "profit_10",
      profit = "profit_10" } do
      for short, epochs_tried in pairs{ [false] = { 5, 10, 15, 20, 25, 30 }, [true] = { 1, 2 } } do
        local best
        for _, epochs in ipairs(epochs_tried) do
          local score = of_profit.fit_profit(name, plain, { profits = profits, rate = 0.03, epochs = epochs, seed = 7 })
          local judge = metric == "profit_10" and priced or plain
          local valid = judge:evaluate(score, { metric }, { part = "valid", known = "relevant" }).mean[metric]
          if not best or valid > best.valid then best = { valid = valid, epochs = epochs } end
        end
        local found = of_profit.epochs_of(name, plain, { profits = profits, rate = 0.03, seed = 7, short = short })
        equal(found.epochs, best.epochs, name)
        near(found.valid, best.valid, 1e-5, name)
      end
      -- a rate that changes nothing: of equal epochs the first one that is judged, which is not the untrained one
      equal(of_profit.epochs_of(name, plain, { profits = profits, rate = 1e-20, seed = 7 }).epochs, 5)
      equal(of_profit.epochs_of(name, plain, { profits = profits, rate = 1e-20, seed = 7, short = true }).epochs, 1)
    end
    local rates = of_profit.profit_rates
    near({ rates[1], rates[2], rates[3] / rates[2] }, { 0.003, 0.01, 3 }, 1e-9)
  end)

  it("fit_profit scores a movie by half of its profit if nothing was learned of it", function()
    local score =
      of_profit.fit_profit("relevance, times profit", plain, { profits = profits, rate = 1e-9, epochs = 1, seed = 1 })
    near(scores_of(score, plain.test), profits:rows(plain.test.items) * 0.5, 2e-3)
  end)
end)
