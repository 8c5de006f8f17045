-- Tests the protocol of the thesis' scripts on small made-up data, against numbers worked out by hand.
local mr = require "moonrank"
local fold_of = require "moonrank.data.fold"
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local beside = dofile "scripts/thesis/beside.lua"
local protocol = beside.protocol
local it, check, equal, near = test.it, test.check, test.equal, test.near

local function three_users(value, other) return protocols.three_users(value, other, 400) end
local sorted = protocols.sorted

-- Returns a fold of queries in which every row has features.
local function queries(train, valid, test_part)
  local parts = {}
  for name, lists in pairs{ train = train, valid = valid, test = test_part } do
    local grades, rows = {}, {}
    for l, list in ipairs(lists) do
      grades[l] = {}
      for i, row in ipairs(list) do grades[l][i], rows[#rows + 1] = row[1], { row[2], row[3] } end
    end
    parts[name] = mr.data.dataset{ lists = mr.lists(grades), features = mr.tensor(rows), name = name }
  end
  return fold_of.new{ train = parts.train, valid = parts.valid, test = parts.test, number = 1, k = 1, title = "made" }
end

local graded = { { 0, 1, 10 }, { 1, 3, 30 }, { 2, 5, 80 } }
local low = { { 0, 2, 20 }, { 1, 4, 40 } }
local function small_fold() return queries({ graded, low }, { low }, { graded, low }) end

it("protocol.sets take ratings of 4 and higher of users with 25 relevant items or more (4.2)", function()
  local function trained(set)
    local fold, sums = set.fold(1, 1, 1), {}
    for _, part in ipairs{ fold.train, fold.valid, fold.test } do
      for l, n in ipairs((protocols.counts(part))) do sums[l] = (sums[l] or 0) + n end
    end
    return sorted(sums)
  end
  equal(trained(protocol.sets.movielens(three_users(4, 3.5))), { 25.0, 50.0 })
  equal(trained(beside.sets.citeulike(three_users(1, 0.5))), { 25.0, 50.0 })
end)

it("protocol.sets.movielens tests each relevant item once in five folds, at NSR 1, 2 or 3 (4.3)", function()
  local set, times, ratios = protocol.sets.movielens(three_users(4, 1)), {}, {}
  equal(set.folds, 5)
  for number = 1, set.folds do
    local fold = set.fold(2, number, 1)
    local relevant, others = protocols.counts(fold.test)
    equal({ sorted(relevant), sorted(others) }, { { 5.0, 10.0 }, { 10.0, 20.0 } })
    for user, items in pairs(protocols.items(fold.test, true)) do
      for item in pairs(items) do
        local key = user .. " " .. item
        times[key] = (times[key] or 0) + 1
      end
    end
  end
  local count = 0
  for _, each in pairs(times) do
    equal(each, 1)
    count = count + 1
  end
  equal(count, 75)
  for i, nsr in ipairs(set.values) do
    local relevant, others = protocols.counts(set.fold(nsr, 1, 1).train)
    ratios[i] = others[1] / relevant[1]
  end
  equal({ set.setting, ratios }, { "nsr", { 1.0, 2.0, 3.0 } })
  check(set.fold(1, 1, 1).test.fingerprint ~= set.fold(1, 1, 2).test.fingerprint, "another seed, other folds")
end)

it("protocol.sets of queries take label 2, label 1 and 2, or each query's highest as relevant (4.2)", function()
  local readings = {}
  local set = protocol.sets.mq2008({ small_fold() }, 2)
  for i, label in ipairs(set.values) do readings[i] = (protocols.counts(set.fold(label, 1).test)) end
  equal({ set.setting, readings }, { "label", { { 1.0, 0.0 }, { 2.0, 1.0 }, { 1.0, 1.0 } } })
  for _, name in ipairs{ "mslr", "clueweb" } do
    local other, found = beside.sets[name]({ small_fold() }, 2), {}
    for i, label in ipairs(other.values) do found[i] = (protocols.counts(other.fold(label, 1).test)) end
    equal(found, { { 1.0, 0.0 }, { 2.0, 1.0 } })
  end
end)

it("protocol.sets of queries keep the given folds, and standardise features by train", function()
  local first, second = queries({ low }, { low }, { low }), queries({ graded, low }, { low }, { graded })
  local set = protocol.sets.mq2008({ first, second }, 2)
  equal(set.folds, 2)
  local fold = set.fold(1, 2)
  equal({ set.fold(1, 1).train.count, fold.train.count }, { 1, 2 })
  local x = fold.train.features:double()
  near(x:mean(1), { 0, 0 }, { atol = 1e-6 })
  near((x * x):mean(1), { 1, 1 }, { atol = 1e-5 })
  -- the values 1, 3, 5, 2, 4 of feature 1 in train have mean 3 and variance 2; those of test are 1, 3, 5
  near(fold.test.features[1]:double():totable()[1], -2 / math.sqrt(2), { atol = 1e-6 })
end)

it("set.model of ratings has 32 factors, or 16 or 64, from within 0.01 of 0, by seed (4.1.1)", function()
  local set, found = protocol.sets.movielens(three_users(4, 1)), {}
  for i, size in ipairs(set.sizes) do found[i] = set.model(size, 1):size() / 403 end  -- 3 users, 400 items
  equal({ found, set.size }, { { 16.0, 32.0, 64.0 }, 32 })
  local items = set.model(32, 1):parameters()[2]:detach():double()
  local most = items:abs():max():item()
  check(most <= 0.01 and most > 0.0099, tostring(most))
  local function first(seed) return set.model(4, seed):parameters()[1]:detach():double():reshape(-1)[1]:item() end
  check(first(1) == first(1) and first(1) ~= first(2), "by seed")
end)

it("set.model of queries has one hidden layer of 46 units, or 6 to 92, with max(0, x), by seed (4.1.1)", function()
  local set, found = protocol.sets.mq2008({ small_fold() }, 2), {}
  for i, size in ipairs(set.sizes) do found[i] = (set.model(size, 1):size() - 1) / 4 end  -- h (2 + 1) + h + 1 numbers
  equal({ found, set.size }, { { 6.0, 12.0, 23.0, 46.0, 69.0, 92.0 }, 46 })
  local model = set.model(5, 3)
  local parameters = model:parameters()
  local rows = mr.tensor{ { 1, -2 }, { -3, 0.5 } }
  local batch = mr.data.dataset{ lists = mr.lists{ { 1, 0 } }, features = rows }:batches{ size = 1 }()
  local function flat(parameter) return parameter:detach():reshape(-1):totable() end
  local w, b, v, c = flat(parameters[1]), flat(parameters[2]), flat(parameters[3]), flat(parameters[4])
  local by_hand, across = {}, #parameters[1]:detach():totable() == 2
  for r, x in ipairs(rows:totable()) do
    by_hand[r] = c[1]
    for h = 1, 5 do
      local first, second = across and h or 2 * h - 1, across and 5 + h or 2 * h
      by_hand[r] = by_hand[r] + v[h] * math.max(0, b[h] + x[1] * w[first] + x[2] * w[second])
    end
  end
  near(mr.no_grad(function() return model(batch) end), by_hand, 1e-5)
  local function weight(seed) return set.model(5, seed):parameters()[1]:detach():reshape(-1)[1]:item() end
  check(weight(1) == weight(1) and weight(1) ~= weight(2), "by seed")
end)

it("protocol.list_names pairs test lists by user over folds, and by query within one", function()
  local part = small_fold().test
  equal(protocol.list_names(part, 1):totable(), { 1001.0, 1002.0 })
  equal(protocol.list_names(part, 3):totable(), { 3001.0, 3002.0 })
  equal(protocol.list_names(protocol.sets.movielens(three_users(4, 1)).fold(1, 1, 1).test, 1).dtype, "float64")
  local set = protocol.sets.movielens(three_users(4, 1))
  local users = set.fold(1, 1, 1).test.users:double():totable()
  for number = 1, 2 do equal(protocol.list_names(set.fold(1, number, 1).test, number):totable(), users) end
end)

local sets = {
  movielens = protocol.sets.movielens(three_users(4, 1)), citeulike = beside.sets.citeulike(three_users(1, 0.5)),
  mq2008 = protocol.sets.mq2008({ small_fold(), small_fold(), small_fold() }, 2),
  mslr = beside.sets.mslr({ small_fold() }, 2), clueweb = beside.sets.clueweb({ small_fold(), small_fold(),
    small_fold() }, 2),
}

local function train(set, o)
  local fold, model = protocols.fold(o)
  local run = protocol.train(set, fold, { model = model, loss = o.loss or mr.losses.ndcg(), rate = o.rate or 0.1,
    seed = 1,
    metrics = o.metrics or { "ndcg" }, select = o.select, recipe = o.recipe, optimizer = o.optimizer, epochs = o.epochs,
    patience = o.patience, each_epoch = o.each_epoch })
  return run, model
end

-- Tests the batch size: with one list more than a batch holds, an epoch has a second step with one list.
it("protocol.train takes 32 lists per step, and 4 of few and long lists (4.1.1)", function()
  for name, batch in pairs{ movielens = 32, citeulike = 32, mq2008 = 32, mslr = 4, clueweb = 4 } do
    local _, model = train(sets[name], { lists = batch + 1, epochs = 1 })
    equal({ name, sorted(model.steps) }, { name, { 1, batch } })
  end
end)

-- Returns the history of a run that improves until its last epoch: the relevant row starts below 45 rows whose scores
-- are 1 apart. Each epoch changes scores by about 0.1, so it passes a row about every five epochs, sooner than any
-- patience ends training.
local function climb(set)
  local grades, start = { 1 }, { 0 }
  for i = 1, 45 do grades[i + 1], start[i + 1] = 0, i end
  return #train(set, { grades = grades, start = start, loss = mr.losses.ranknet() }).history
end

it("protocol.train runs 40 epochs on ratings, and 100 with patience 20 on queries", function()
  equal({ climb(sets.movielens), climb(sets.citeulike), climb(sets.mq2008), climb(sets.mslr) }, { 40, 40, 100, 100 })
  -- scores start in the right order, so no later epoch is better than the first
  local function stuck(set) return #train(set, { start = { 1, 0 } }).history end
  equal({ stuck(sets.movielens), stuck(sets.mq2008), stuck(sets.clueweb) }, { 40, 21, 21 })
  equal(#train(sets.mq2008, { start = { 1, 0 }, patience = 3 }).history, 4)
  equal(#train(sets.mq2008, { epochs = 2 }).history, 2)
  local seen = {}
  train(sets.mq2008, { epochs = 2, each_epoch = function(epoch) seen[#seen + 1] = epoch end })
  equal(seen, { 0, 1, 2 })
end)

it("beside.beside has NSR 1 or label 1 and 2, 60 epochs, and a patience of 10", function()
  local relevant, others = protocols.counts(sets.movielens.fold(beside.beside.value, 1, 1).test)
  equal({ others[1] / relevant[1], (protocols.counts(sets.mq2008.fold(beside.beside.value, 1).test)) }, { 1.0,
    { 2.0, 1.0 } })
  equal(#train(sets.movielens, { epochs = beside.beside.epochs }).history, 60)
  equal(#train(sets.movielens, { start = { 1, 0 }, patience = beside.beside.patience }).history, 11)
end)

-- Two lists of two rows with equal scores, of which the first is relevant: R = 1 + sigma(f2 - f1), nDCG = log 2 / log(1
-- + R), mean over lists.
it("protocol.train steps with Adam by the rate, and with SGD by the rate times the mean gradient (4.3)", function()
  local slope = math.log(2) / (4 * 2.5 * math.log(2.5) ^ 2)
  local _, adam = train(sets.movielens, { lists = 2, epochs = 1 })
  near(adam:values(), { 0.1, -0.1 }, 1e-6)
  local _, sgd = train(sets.mq2008, { lists = 2, epochs = 1, optimizer = "sgd" })
  near(sgd:values(), { 0.1 * slope, -0.1 * slope }, 1e-9)
end)

-- The second row starts with the higher score, and training lifts the first by 0.1 a step. In the part named by `early`
-- the second row is relevant, so early epochs are best there.
it("protocol.train chooses the epoch on validation, and with recipe published on test", function()
  local function epoch(recipe, early)
    return train(sets.movielens, { start = { 0, 1 }, recipe = recipe, [early] = { 0, 1 } }).best.epoch
  end
  for _, recipe in ipairs(protocol.recipes) do
    local chooser, other = "valid", "test"
    if recipe == "published" then chooser, other = other, chooser end
    equal({ recipe, epoch(recipe, chooser) }, { recipe, 1 })
    check(epoch(recipe, other) > 4, recipe .. " would choose by the other part")
  end
  equal({ #protocol.recipes, protocol.recipes[1] ~= protocol.recipes[2] }, { 2, true })
end)

it("protocol.outcome keeps the number on validation that chose, beside the scores on test", function()
  local o = { start = { 0, 1 }, valid = { 0, 1 } }
  local fold = protocols.fold(o)
  local found = protocol.outcome(train(sets.movielens, o), fold.test, 2, "ndcg")
  local second = math.log(2) / math.log(3)
  equal({ found.epoch, found.valid, found.per_list.list:totable() }, { 1, 1.0, { 2001.0 } })
  near({ found.own, found.per_list.own:totable()[1] }, { second, second }, 1e-6)
end)

it("protocol.outcome keeps means over lists, and the scores by the metric of the loss", function()
  local run = { best = { epoch = 4, metrics = { ap = 0.5, ndcg = 0.75 } }, test = { mean = { ap = 0.5, ndcg = 0.25 } },
    scores = { ap = mr.tensor{ 0.25, 0.25, 1 }, ndcg = mr.tensor{ 0.25, 0.25, 0.25 } } }
  local found = protocol.outcome(run, mr.data.dataset{ lists = mr.lists{ { 1 }, { 1 }, { 1 } } }, 1, "ap")
  equal({ found.epoch, found.valid, found.own, found.per_list.own:totable() }, { 4, 0.5, 0.5, { 0.25, 0.25, 1.0 } })
end)

it("training.train takes the fold, setting and seed of its trial, and chooses by the part of the recipe", function()
  local asked = {}
  local set = setmetatable({ model = function() return protocols.places{ 0, 1 } end, epochs = 40, fold = function(...)
      table.insert(asked, { ... })
      return (protocols.fold{ valid = { 0, 1 } })
    end }, { __index = sets.movielens })
  local second, found = math.log(2) / math.log(3), {}
  for i, recipe in ipairs(protocol.recipes) do
    found[i] = beside.train({ recipe = recipe, samples = 10 }, set,
      { value = 2, fold = 3, seed = 5, loss = "ndcg", bound = "minmax", rate = 0.1 })
  end
  equal(asked, { { 2, 3, 5 }, { 2, 3, 5 } })
  near({ found[1].epoch, found[1].valid, found[1].own, found[1].ndcg }, { 1, 1, second, second }, 1e-6)
  near({ found[2].valid, found[2].own }, { 1, 1 }, 1e-6)
  check(found[2].epoch > 4, "as test says")
  equal({ found[1].per_list.list:totable(), found[1].per_list.relevant:totable() }, { { 3001.0 }, { 1.0 } })
end)

-- Training lifts the second row over the third, but not over the first: nDCG is best after that, RR in the first epoch.
it("protocol.train chooses by the first metric, or an epoch for each of several", function()
  local o = { grades = { 1, 1, 0 }, start = { 5, 0, 1 }, metrics = { "ndcg", "rr" } }
  local late = train(sets.movielens, o).best.epoch
  check(late > 1, tostring(late))
  o.select = "rr"
  equal(train(sets.movielens, o).best.epoch, 1)
  o.select = { "rr", "ndcg" }
  local choices = train(sets.movielens, o).choices
  equal({ choices[1].best.epoch, choices[2].best.epoch }, { 1, late })
end)

it("protocol.train makes the set's model, of the usual size or another, if it is given none", function()
  local set = protocol.sets.movielens(three_users(4, 1))
  local sizes = {}
  for i, size in ipairs{ false, 16 } do
    protocol.train(set, set.fold(1, 1, 1), { loss = mr.losses.ndcg(), rate = 0.01, seed = 1, metrics = { "ndcg" },
      epochs = 1,
      size = size or nil, each_epoch = function(_, model) sizes[i] = model:size() / 403 end })
  end
  equal(sizes, { 32.0, 16.0 })
end)

-- The relevant rows of this list have ranks 2 and 6 of 7.
it("protocol.metric_of gives every loss its own metric, and nRBP a persistence of 0.95 (5.1)", function()
  local names = { protocol.metric_of.ndcg, protocol.metric_of.ap, protocol.metric_of.nrbp }
  local found = mr.evaluate(mr.tensor{ 7, 6, 5, 4, 3, 2, 1 }, mr.lists{ { 0, 1, 0, 0, 0, 1, 0 } }, names)
  local function discount(r) return math.log(2) / math.log(1 + r) end
  near({ found.mean[names[1]], found.mean[names[2]], found.mean[names[3]] },
    { (discount(2) + discount(6)) / (discount(1) + discount(2)), (1 / 2 + 2 / 6) / 2,
      (0.95 + 0.95 ^ 5) / (1 + 0.95) }, 1e-6)
  for loss in pairs(protocol.metric_of) do check(mr.losses[loss], loss) end
end)

-- nDCG of two rows, one of them relevant, is 1 or log 2 / log 3. By Eq. 3.13 the steepness is 2 divided by the range of
-- the values. So the smoothed share of random rankings that are not better than the best one is (share at the top) / 2
-- + (share below) sigma(2). Both shares are those of the drawn samples.
it("protocol.bound gives the distribution bound the steepness of Eq. 3.13 and 300,000 random orders", function()
  local function bounded(samples)
    local bound = protocol.bound("distribution", samples)
    return bound.apply(mr.tensor({ 1.0 }, { dtype = "float64" }), "ndcg", mr.lists{ { 1, 0 } }):item()
  end
  local function at_top(samples, of)
    local below = 1 / (1 + math.exp(-2))
    return (bounded(samples) - below) / (0.5 - below) * of
  end
  local function whole(count) return math.abs(count - math.floor(count + 0.5)) < 1e-3 end
  check(whole(at_top(protocol.samples, 300000)), "so many samples")
  near(at_top(protocol.samples, 1), 0.5, 0.005)
  equal({ whole(at_top(1000, 1000)), whole(at_top(1000, 1001)) }, { true, false })
end)

it("better.lua makes exact bounds of a better ranker by form and beta; protocol.bound keeps names", function()
  equal(protocol.bound("minmax", 10), "minmax")
  equal(protocol.bound("distribution_logit", 10), "distribution_logit")
  -- Random rankings of two rows, one relevant, with weights e^(beta grade): the relevant row is first with probability
  -- e / (1 + e) if beta is 1.
  local function value(bound, scores)
    return bound.apply(mr.tensor({ scores }, { dtype = "float64" }), "ndcg", mr.lists{ { 1, 0 } }):item()
  end
  local values = { 1, math.log(2) / math.log(3) }
  local top = math.exp(1) / (1 + math.exp(1))
  local sd = math.sqrt(top * (1 - top)) * (values[1] - values[2])
  local function sigma(x) return 1 / (1 + math.exp(-x)) end
  local function F(x) return top * sigma(8 / sd * (x - values[1])) + (1 - top) * sigma(8 / sd * (x - values[2])) end
  local better = dofile "scripts/thesis/better.lua"
  near(value(better.made[better.bound("distribution", 1)], 0.9), F(0.9), 1e-6)
  near(value(better.made[better.bound("distribution_logit", 1)], 0.9), math.log(F(0.9) / (1 - F(0.9))), 1e-5)
end)

-- Chooses a learning rate where validation falls with the distance from `peak`.
local function chosen(rates, peak)
  local valid = {}
  for _, rate in ipairs(rates) do valid[rate] = -math.abs(math.log(rate / peak)) end
  return beside.choose(valid)
end

it("beside.choose takes the rate with the highest number on validation, the lower of equal ones", function()
  local fine, few = { 0.001, 0.003, 0.01, 0.03 }, { 0.001, 0.003, 0.01 }
  for name, rates in pairs{ movielens = fine, citeulike = fine, mq2008 = few, mslr = fine, clueweb = fine } do
    for _, rate in ipairs(rates) do equal({ name, chosen(sets[name].rates, rate) }, { name, rate }) end
    equal({ chosen(sets[name].rates, 1e-9), chosen(sets[name].rates, 1e9) }, { rates[1], rates[#rates] })
  end
  for exponent = -9, 9 do  -- the choice does not depend on the order of the table's entries
    local valid = { [10.0 ^ exponent] = 0.5, [2 * 10.0 ^ exponent] = 0.5, [3 * 10.0 ^ exponent] = 0.5, [1e12] = 0.4 }
    equal(beside.choose(valid), 10.0 ^ exponent)
  end
  equal(beside.choose{}, nil)
end)

it("set.tuning chooses rates on the first fold, and of ClueWeb09 on all, at some of the settings", function()
  local trials = {}
  for name, set in pairs(sets) do
    local values = {}
    for i, value in ipairs(set.tuning_values or set.values) do
      local relevant, others = protocols.counts(set.fold(value, 1, 1).test)
      values[i] = set.setting == "nsr" and others[1] / relevant[1] or relevant[1]
    end
    trials[name] = { set.tuning, values }
  end
  equal(trials, { movielens = { 1, { 1.0, 2.0, 3.0 } }, citeulike = { 1, { 1.0 } }, mq2008 = { 1, { 1.0, 2.0 } },
    mslr = { 1, { 1.0, 2.0 } }, clueweb = { 3, { 1.0, 2.0 } } })
end)
