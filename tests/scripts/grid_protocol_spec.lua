-- Tests the protocol of the grid of losses and bounds on small made-up data, against numbers worked out by hand.
local mr = require "moonrank"
local fold_of = require "moonrank.data.fold"
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local protocol = dofile "scripts/grid/protocol.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

local function three_users(value, other) return protocols.three_users(value, other, 200) end
local sorted = protocols.sorted

-- Returns a fold with two queries of graded documents with two features in each part, and `more` such queries in train.
local function small_fold(more)
  local function part(count)
    local grades, rows = {}, {}
    for l = 1, count do
      grades[l] = { 0, 1, 2 }
      for i = 1, 3 do rows[#rows + 1] = { i, 10 * i * l } end
    end
    return mr.data.dataset{ lists = mr.lists(grades), features = mr.tensor(rows) }
  end
  return fold_of.new{ train = part(2 + (more or 0)), valid = part(2), test = part(2), number = 1, k = 1,
    title = "made" }
end

it("protocol.sets takes ratings of 4 and higher, or all, of users with 25 relevant items, at NSR 1", function()
  for _, set in ipairs{ protocol.sets.movielens(three_users(4, 3.5)), protocol.sets.citeulike(three_users(1, 0.5)) } do
    local tested = {}
    equal({ set.unit, set.folds }, { "user", 3 })
    for number = 1, set.folds do
      local relevant, others = protocols.counts(set.fold(number).test)
      equal({ sorted(relevant), sorted(others) }, { { 5.0, 10.0 }, { 5.0, 10.0 } })
      for user, items in pairs(protocols.items(set.fold(number).test, true)) do
        for item in pairs(items) do
          local key = user .. " " .. item
          check(not tested[key], "tested twice")
          tested[key] = true
        end
      end
    end
    check(set.fold(1) == set.fold(1), "read once")
  end
  local ratings = three_users(4, 3.5)
  local first = ratings:binarize(4):min_relevant(25):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
  equal(protocol.sets.movielens(ratings).fold(1).train.fingerprint, first.train.fingerprint)
end)

it("set.model has 32 factors for users and 46 hidden units for queries, and starts by seed", function()
  local set = protocol.sets.movielens(three_users(4, 1))
  equal(set.model(1):size() / 203, 32.0)
  local most = set.model(1):parameters()[2]:detach():double():abs():max():item()
  check(most <= 0.01 and most > 0.0099, tostring(most))
  local network = protocol.sets.mq2008({ small_fold() }, 2)
  equal((network.model(1):size() - 1) / 4, 46.0)  -- h (2 + 1) + h + 1 numbers
  for _, each in ipairs{ set, network } do
    local function first(seed) return each.model(seed):parameters()[1]:detach():reshape(-1)[1]:item() end
    check(first(1) == first(1) and first(1) ~= first(2), "by seed")
  end
end)

it("protocol.sets keeps the grades of queries, and standardises features by train except for trees", function()
  local folds = { small_fold(), small_fold(1) }
  for name, scaled in pairs{ mq2008 = true, mslr = true, trees = false } do
    local set = protocol.sets[name](folds, 2)
    equal({ set.unit, set.folds, set.fold(1).train.count, set.fold(2).train.count, set.fold(3).train.count },
      { "query", 3, 2, 3, 3 })
    equal(set.fold(1).test.lists.relevance:totable(), { 0.0, 1.0, 2.0, 0.0, 1.0, 2.0 })
    check(name == "trees" or set.fold(1) == set.fold(1), "standardised once")
    local x = set.fold(1).train.features:double()
    near(x:mean(1), scaled and { 0, 0 } or { 2, 30 }, { atol = 1e-6 })
    if scaled then near((x * x):mean(1), { 1, 1 }, { atol = 1e-5 }) end
    -- Feature 2 is 10 i l for document i of query l. In train of fold 2, with three queries, its mean is 40 and its
    -- mean square 100 (14 / 3)^2; test has two queries.
    local tested = set.fold(2).test.features:double():totable()[1][2]
    near(tested, scaled and (10 - 40) / math.sqrt(100 * (14 / 3) ^ 2 - 1600) or 10, 1e-5)
  end
end)

it("protocol.list_names pairs lists by user over folds, by query in a fold, and by query over seeds", function()
  local part = small_fold().test
  local networks, seeds = protocol.sets.mq2008({ small_fold() }, 2), protocol.sets.mslr({ small_fold() }, 2)
  equal(protocol.list_names(networks, part, 1):totable(), { 1000001.0, 1000002.0 })
  equal(protocol.list_names(networks, part, 2):totable(), { 2000001.0, 2000002.0 })
  equal(protocol.list_names(seeds, part, 2):totable(), { 1.0, 2.0 })
  equal(protocol.list_names(seeds, part, 2).dtype, "float64")
  local users = protocol.sets.movielens(three_users(4, 1))
  local names = users.fold(1).test.users:double():totable()
  equal(protocol.list_names(users, users.fold(1).test, 1).dtype, "float64")
  for number = 1, 2 do equal(protocol.list_names(users, users.fold(number).test, number):totable(), names) end
end)

local function train(set, o)
  local fold, model = protocols.fold(o)
  local run = protocol.train(set, fold, { model = model, loss = o.loss or mr.losses.ndcg(), metric = o.metric or "ndcg",
    rate = o.rate or 0.1, number = 1, each_epoch = o.each_epoch })
  return run, model
end

local function once() return function(epoch) return epoch < 1 end end

local sets = {
  movielens = protocol.sets.movielens(three_users(4, 1)), citeulike = protocol.sets.citeulike(three_users(1, 0.5)),
  mq2008 = protocol.sets.mq2008({ small_fold() }, 2), mslr = protocol.sets.mslr({ small_fold() }, 2),
  trees = protocol.sets.trees({ small_fold() }, 2),
}

-- Tests the batch size and the learning rate: with one list more than a batch holds, an epoch has a second step. A
-- first step of Adam has the size of the learning rate.
it("protocol.train steps with Adam on 32 lists, and on 4 of the MSLR slice", function()
  for name, batch in pairs{ movielens = 32, citeulike = 32, mq2008 = 32, mslr = 4 } do
    local _, model = train(sets[name], { lists = batch + 1, each_epoch = once() })
    equal({ name, sorted(model.steps) }, { name, { 1, batch } })
    local _, stepped = train(sets[name], { lists = 2, each_epoch = once() })
    near(stepped:values(), { 0.1, -0.1 }, 1e-6)
  end
end)

-- A training run that improves for 200 epochs: the relevant row starts below 95 rows whose scores are 1 apart. Each
-- epoch changes scores by about 0.1, so it passes a row about every five epochs, sooner than any patience ends
-- training.
it("protocol.train ends after 200 epochs, or by patience after 10 on users and 20 on queries", function()
  local grades, start = { 1 }, { 0 }
  for i = 1, 95 do grades[i + 1], start[i + 1] = 0, i end
  local function climb(set)
    return #train(set, { grades = grades, start = start, loss = mr.losses.ranknet() }).history
  end
  -- scores start in the right order, so no later epoch is better than the first
  local function stuck(set) return #train(set, { start = { 1, 0 } }).history end
  equal({ climb(sets.movielens), climb(sets.mq2008), climb(sets.mslr) }, { 200, 200, 200 })
  equal({ stuck(sets.movielens), stuck(sets.citeulike), stuck(sets.mq2008), stuck(sets.mslr) }, { 11, 11, 21, 21 })
end)

it("protocol.train chooses the epoch by the loss's metric on validation, and measures nDCG too", function()
  local late = train(sets.movielens, { start = { 0, 1 }, metric = "ap" })
  check(late.best.epoch > 4, tostring(late.best.epoch))
  equal(train(sets.movielens, { start = { 0, 1 }, valid = { 0, 1 }, metric = "ap" }).best.epoch, 1)
  equal(late.choices[1].metric.name, "ap")
  equal({ late.test.mean.ap, late.test.mean.ndcg }, { 1.0, 1.0 })
  -- training lifts the second row over the third, but not over the first: nDCG is best after that, RR in the first
  -- epoch
  local o = { grades = { 1, 1, 0 }, start = { 5, 0, 1 }, metric = "rr" }
  equal(train(sets.movielens, o).best.epoch, 1)
  o.metric = "ndcg"
  check(train(sets.movielens, o).best.epoch > 1)
end)

it("protocol.outcome keeps the validation number that chose, test scores, chance and convergence", function()
  local o = { start = { 0, 1 }, valid = { 0, 1 }, metric = "ap" }
  local fold = protocols.fold(o)
  local run = train(sets.mq2008, o)
  local function outcome(capped)
    return protocol.outcome(sets.mq2008, run, fold.test, { number = 2, metric = "ap", capped = capped })
  end
  local found = outcome(false)
  equal({ found.epoch, found.epochs, found.valid, found.own, found.per_list.own:totable(),
    found.per_list.list:totable() },
    { 1, 21, 1.0, 0.5, { 0.5 }, { 2000001.0 } })
  near({ found.ndcg, found.per_list.chance:totable()[1] }, { math.log(2) / math.log(3), 3 / 4 }, 1e-6)
  equal({ found.converged, found.capped, outcome(true).converged, outcome(true).capped }, { 1, 0, 0, 1 })
end)

it("protocol.sets.trees grows 200 rounds of depth 5 with the rate as eta, by seed", function()
  if not pcall(require("moonrank.core").xgboost_version) then return test.skip "no XGBoost" end
  local set = protocol.sets.trees({ small_fold() }, 2)
  local options = set.model(3, 0.3).config
  equal({ options.depth, options.rounds, options.eta, options.seed, set.batch == nil }, { 5, 200, 0.3, 3, true })
  set.epochs = 2
  local run = protocol.train(set, set.fold(1), { model = set.model(1, 0.3), loss = protocol.loss("ndcg"),
    metric = "ndcg", rate = 0.3,
    number = 1 })
  equal(#run.history, 2)
end)

-- The search for a learning rate begins with the rates of a data set, and continues while the best rate is at an edge.
it("search.run begins with a setting's three rates, and stays between its least and largest one", function()
  local search = dofile "scripts/grid/search.lua"
  local function tried(set, peak)
    local means = search.run(set, { "loss" }, function(rate) return { loss = -math.abs(math.log(rate / peak)) } end)
    return search.rising(means.loss), search.best(means.loss)
  end
  local starts = { movielens = { 0.003, 0.01, 0.03 }, citeulike = { 0.003, 0.01, 0.03 }, mq2008 = { 0.001, 0.003,
    0.01 },
    mslr = { 0.001, 0.003, 0.01 }, trees = { 0.03, 0.1, 0.3 } }
  for name, rates in pairs(starts) do
    local found = tried(sets[name], rates[2])
    equal({ name, found }, { name, rates })
    for _, peak in ipairs(rates) do  -- all three starting rates are tried, whichever is the best
      local all = {}
      for _, rate in ipairs((tried(sets[name], peak))) do all[rate] = true end
      for _, rate in ipairs(rates) do check(all[rate], ("%s: %g, the best is %g"):format(name, rate, peak)) end
    end
    local _, lowest = tried(sets[name], 1e-9)
    local _, highest = tried(sets[name], 1e9)
    near({ lowest / 0.00001, highest }, { 1, starts[name][1] == 0.003 and 10 or 1 }, 1e-9)
  end
end)

local function has(list, value)
  for _, each in ipairs(list) do
    if each == value then return true end
  end
  return false
end

it("protocol.losses has all losses of the library and variants, each with a metric of known chance", function()
  local names = protocol.losses()
  equal(#names, #mr.losses.names() + 5)
  local judged = {}
  for i, name in ipairs(names) do
    check(i == 1 or names[i - 1] < name, "in order, none twice")
    check(has(protocol.bounds(name), "minmax"), name)
    local metric = mr.metrics.parse(protocol.metric_of(name))
    check(metric.closed_forms and not metric.minimize, name)
    judged[name] = metric.name
  end
  equal({ judged.ap, judged.rr, judged.nrbp, judged.mse, judged.ranknet, judged.lambdarank },
    { "ap", "rr", "nrbp(0.95)", "ndcg", "ndcg", "ndcg" })
  equal({ judged.lambdarank_ap, judged.lambdarank_rr, judged.lambdarank_nrbp, judged.lambdarank_precision,
    judged.ranknet_upsampled },
    { "ap", "rr", "nrbp(0.95)", "precision@5", "ndcg" })
end)

-- With two rows of equal scores, the second relevant, LambdaRank's loss is the metric's change by swapping them, times
-- log 2.
it("protocol.loss of LambdaRank's variants weighs a pair by the change of its metric", function()
  local function value(name, grades)
    return protocol.loss(name)(mr.zeros({ #grades }, { dtype = "float64" }), mr.lists{ grades }):item() / math.log(2)
  end
  near(value("lambdarank_ap", { 0, 1 }), 1 - 1 / 2, 1e-9)
  near(value("lambdarank_rr", { 0, 1 }), 1 - 1 / 2, 1e-9)
  near(value("lambdarank", { 0, 1 }), 1 - math.log(2) / math.log(3), 1e-9)
  near(value("lambdarank_nrbp", { 0, 1 }), 1 - 0.95, 1e-9)
  -- each of the five pairs changes precision@5 by 1/5
  near(value("lambdarank_precision", { 0, 0, 0, 0, 0, 1 }), 5 / 5, 1e-9)
  near(value("lambdarank_precision", { 0, 1 }), 0, 1e-9)
end)

-- The list {0, 0, 0, 1} has three pairs of unequal grades and three of equal ones. With scores 0, 0, 0, s, unequal
-- pairs have the loss log(1 + exp(-s)), and equal pairs a loss that does not depend on s. Balancing makes the targets
-- 1, 1/2 and 0 equally frequent. With each pair in both orders, 6 have target 1/2, 3 have 1 and 3 have 0, so unequal
-- pairs count twice.
it("protocol.loss of RankNet with upsampling counts unequal pairs twice if equal ones are as many", function()
  local function value(name, s)
    return protocol.loss(name)(mr.tensor({ 0, 0, 0, s }, { dtype = "float64" }), mr.lists{ { 0, 0, 0, 1 } }):item()
  end
  local function unequal(s) return 3 * (math.log(1 + math.exp(-s)) - math.log(2)) end
  for _, name in ipairs{ "ranknet_upsampled", "ranknet_all_pairs" } do
    local times = name == "ranknet_upsampled" and 2 or 1
    local scale = (value(name, 1) - value(name, 0)) / unequal(1)
    near(scale, times, 1e-9, name)
  end
end)

-- All grades are 1 or 2, so there is no row below grade 1: no pair counts, and the bound has nothing to scale.
it("protocol.loss bounds losses of pairs by pairs with a relevant row, also with graded labels", function()
  local scores, lists = mr.tensor({ 0.5, -0.5, 0.25 }, { dtype = "float64" }), mr.lists{ { 1, 2, 2 } }
  for _, name in ipairs{ "ranknet", "ranknet_all_pairs", "direct_ranker", "hinge", "ranknet_upsampled" } do
    near(protocol.loss(name, "minmax")(scores, lists):item(), 0, 1e-12, name)
    check(protocol.loss(name, "minmax")(scores, mr.lists{ { 0, 2, 2 } }):item() ~= 0, name)
  end
  check(protocol.loss("ndcg", "minmax")(scores, lists):item() ~= 0, "others take grades")
end)

it("protocol.tuned chooses a rate under three bounds, and one each for the distribution and its log", function()
  equal(protocol.rate_names{ "mse", "ap" }, { "mse", "ap", "ap distribution", "ap distribution_log" })
  local function bounds(name) return sorted(select(2, protocol.tuned(name))) end
  equal({ bounds "ap", bounds "mse", bounds "ap distribution", bounds "ap distribution_log" },
    { { "distribution_logit", "minmax", "none" }, { "minmax", "none" }, { "distribution" }, { "distribution_log" } })
  equal({ protocol.tuned "ap distribution", (protocol.tuned "mse") }, { "ap", "mse" })
  local names = {}
  for i, bound in ipairs{ "none", "zscore", "expectation", "distribution_logit", "distribution", "distribution_log" } do
    names[i] = protocol.rate_name("ap", bound)
  end
  equal(names, { "ap", "ap", "ap", "ap", "ap distribution", "ap distribution_log" })
end)

it("protocol.means averages validation over the bounds of a rate, and gives none if a run failed", function()
  local function trial(loss, bound, valid) return { loss = loss, bound = bound, valid = valid } end
  equal(protocol.means{ trial("ap", "none", 0.5), trial("ap", "minmax", 0.75), trial("ap", "distribution_logit", 1.0),
    trial("ap", "distribution", 0.125), trial("mse", "none", 0.5), trial("mse", "minmax", 0.25), trial("rr", "none",
      0.5),
    trial("rr", "minmax", 0.5) }, { ap = 0.75, ["ap distribution"] = 0.125, mse = 0.375 })
  -- a run that searches a learning rate may take 5 seconds of the usual cap of 30 seconds
  near(protocol.share_of_cap * 30, 5, 1e-12)
end)

it("protocol.converged accepts patience, or a best epoch before the last tenth, but no cap", function()
  local function converged(stopped, epoch, capped)
    return protocol.converged({ stopped = stopped, best = { epoch = epoch } }, { epochs = 200 }, capped)
  end
  equal({ converged("patience", 190, false), converged(false, 180, false), converged(false, 181, false),
    converged("patience", 5, true),
    converged("each_epoch", 5, true), converged(false, 5, false) }, { true, true, false, false, false, true })
end)

it("protocol.chance is the mean over all orders of a list", function()
  -- AP of a list of two rows, one relevant, is 1 or 1/2; the mean AP of three rows, two relevant, is 29/36
  near(protocol.chance("ap", mr.lists{ { 0, 1 }, { 1, 1, 0 } }), { 3 / 4, 29 / 36 }, 1e-6)
end)

it("protocol.beyond gives the mean above chance and its bootstrap interval of 95 % from 2,000 samples", function()
  local nan = 0 / 0
  local found = protocol.beyond({ 0.5, 0.75, nan, 1.0 }, { 0.25, 0.25, 0.25, nan })
  near(found.mean, (0.25 + 0.5) / 2, 1e-12)
  -- a quarter of the bootstrap samples has the same one of the two lists twice
  near({ found.low, found.high }, { 0.25, 0.5 }, 1e-12)
  local values, zeros = {}, {}
  for i = 1, 50 do values[i], zeros[i] = (i * 37 % 101) / 101, 0.0 end
  local spread, usual = protocol.beyond(values, zeros), mr.stats.bootstrap(values, { samples = 2000, level = 0.95 })
  near({ spread.low, spread.high }, { usual.low, usual.high }, 1e-12)
end)

-- Returns the record of one cell of the grid: a loss under a bound.
local function cell(loss, bound, values, o)
  local made = { loss = loss, bound = bound, values = values, low = 0.1, converged = true, capped = 0 }
  for key, value in pairs(o or {}) do made[key] = value end
  return made
end

it("protocol.sound accepts a cell that converged without a cap and is above chance", function()
  local sound = {}
  local cases = { {}, { low = 0.0 }, { low = -0.1 }, { converged = false }, { capped = 1 }, { capped = 1, low = 1e-9 },
    { low = 1e-9 } }
  for i, o in ipairs(cases) do
    sound[i] = protocol.sound(cell("ap", "none", {}, o))
  end
  equal(sound, { true, false, false, false, false, false, true })
  equal({ protocol.above_chance{ low = 0 }, protocol.above_chance{ low = 1e-9 } }, { false, true })
end)

-- Exact p-values of six users by enumerating all 64 choices of signs. If all differences are 1, two choices are as
-- extreme, p = 1/32. For the differences 2, -1, 1, 1, 1, 1 the choices are counted below.
it("protocol.compare tests changes against no bound in pairs, with Holm's correction over all settings", function()
  local free = { 0, 0, 0, 0, 0, 0 }
  local first = { ["ap none"] = cell("ap", "none", free), ["ap minmax"] = cell("ap", "minmax", { 1, 1, 1, 1, 1, 1 }),
    ["rr minmax"] = cell("rr", "minmax", free), ["ap zscore"] = cell("ap", "zscore", free, { low = 0.0 }) }
  local second = { ["mse none"] = cell("mse", "none", free, { converged = false }),
    ["mse minmax"] = cell("mse", "minmax", { -1, -1, -1, -1, -1, -1 }),
    ["mse expectation"] = cell("mse", "expectation", { 2, -1, 1, 1, 1, 1 }) }
  local compared = protocol.compare({ first, second }, 1000)
  local names, changes = {}, {}
  for i, each in ipairs(compared) do names[i], changes[i] = each.loss .. " " .. each.bound, each.change end
  -- rr is missing, because it has no cell without a bound to compare with
  equal(names, { "ap minmax", "ap zscore", "mse expectation", "mse minmax" })
  near(changes, { 1, 0, 5 / 6, -1 }, 1e-12)
  local counted = 0
  for signs = 0, 63 do
    local sum = 0
    for i, d in ipairs{ 2, -1, 1, 1, 1, 1 } do sum = sum + ((signs >> (i - 1)) & 1 == 1 and -d or d) end
    counted = counted + (math.abs(sum) >= 5 and 1 or 0)
  end
  local ps = { 1 / 32, 1, counted / 64, 1 / 32 }
  -- Holm's correction multiplies the smallest of four p-values by 4, and later ones never become smaller than it
  near({ compared[1].p, compared[4].p }, { 4 * ps[1], 4 * ps[1] }, 1e-12)
  near({ compared[2].p, compared[3].p }, { 1, math.max(4 * ps[1], 2 * ps[3]) }, 1e-12)
  -- left out of summaries: the second cell, which is not better than chance, and the last two, whose run without a
  -- bound has not converged
  local summarised = {}
  for c, each in ipairs(compared) do summarised[c] = each.summarised end
  equal(summarised, { true, false, false, false })
  equal(compared[1].in_errors, math.huge)  -- all differences are equal, so their standard error is 0
  near(compared[3].in_errors, (5 / 6) / math.sqrt(((2 - 5 / 6) ^ 2 + (1 + 5 / 6) ^ 2 + 4 * (1 / 6) ^ 2) / 5 / 6), 1e-9)
  equal(compared[2].in_errors, 0.0)
end)

it("protocol.compare draws as many choices of signs as are asked for", function()
  local a, b = {}, {}
  for i = 1, 25 do a[i], b[i] = i % 7 + 0.25 * i, i % 5 + 0.21 * i end
  local compared = protocol.compare({ { ["ap none"] = cell("ap", "none", b), ["ap minmax"] = cell("ap", "minmax",
    a) } }, 1000)
  near(compared[1].p * 1001, math.floor(compared[1].p * 1001 + 0.5), 1e-9)
end)

it("protocol.side names a change better or worse if its corrected p is below 0.05", function()
  local function side(p, change) return protocol.side{ p = p, change = change } end
  equal({ side(0.0499, 0.1), side(0.0499, -0.1), side(0.05, 0.1), side(0.05, -0.1), side(nil, nil) }, { 1, -1, 0, 0,
    0 })
end)
