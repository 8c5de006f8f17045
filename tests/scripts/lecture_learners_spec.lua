-- The runs of the lecture's families.lua, scripts/lecture/learners.lua, with made-up outcomes of trainings: which loss,
-- fold, seed and setting each one has.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local data_folders = dofile "tests/support/data_folders.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local it, equal, near, check = test.it, test.equal, test.near, test.check

local protocol = dofile "scripts/lecture/protocol.lua"

-- The lecture's names of losses, and those of the library.
local library = { ["squared error"] = "mse", ["cross entropy"] = "bce", RankNet = "ranknet", LambdaRank = "lambdarank",
  BPR = "bpr", hinge = "hinge", ["hinge of distances (CML)"] = "hinge", ListNet = "listnet", ListMLE = "listmle",
  ["smooth nDCG"] = "ndcg", ["smooth AP"] = "ap", NeuralNDCG = "neural_ndcg", LambdaMART = "lambdarank" }

it("learners.lua gives each learner the loss of its name", function()
  local lists, scores, trained = mr.lists{ { 2, 0, 1, 0, 1 } }, mr.tensor{ 0.3, 0.9, -0.4, 0.1, 1.2 }, 0
  for _, each in ipairs(dofile("scripts/lecture/learners.lua").learners) do
    local name = library[each.name]
    trained = trained + (each.loss and 1 or 0)
    if name then near(each.loss()(scores, lists), mr.losses[name]()(scores, lists), 1e-6, each.name) end
  end
  equal(trained, 14)
end)

it("learners.lua's WARP draws twenty rows for each relevant one, and gives up if none scores higher", function()
  -- In 1000 lists 29 of 399 rows score higher than the relevant one.
  local grades, one, scores = {}, {}, {}
  for i = 1, 400 do one[i] = i == 1 and 1 or 0 end
  for l = 1, 1000 do
    grades[l] = one
    for i = 1, 400 do scores[#scores + 1] = i == 1 and 0 or i <= 30 and 2 or -9 end
  end
  for _, each in ipairs(dofile("scripts/lecture/learners.lua").learners) do
    if each.name == "WARP" then
      local without = each.loss()(mr.tensor(scores), mr.lists(grades)):eq(0):double():mean():item()
      near(without, (370 / 399) ^ 20, { atol = 0.05 })
    end
  end
end)

-- In place of a training: notes what it was asked for. Validation prefers the largest rate and the least decay.
local function stub(asked, kind_of)
  return function(set, fold, o)
    local at = { rate = o.at.rate, decay = o.at.decay, eta = o.at.eta }
    asked[#asked + 1] =
      { set = set, fold = fold, at = at, kind = kind_of[o.model], seed = o.seed, short = o.short, test = o.test }
    local valid = (at.rate or at.eta) - (at.decay or 0)
    local run = { best = { metrics = { ["ndcg@10"] = valid, ap = -valid, auc = -valid } } }
    if o.test then
      run.test = { mean = { ["ndcg@10"] = -valid, ap = 0.25, auc = 0.125 } }
      for m, name in ipairs{ "ndcg@10", "ap", "auc" } do
        run.test[name] = mr.arange(1, fold.test.count):double() + 100 * fold.number + 1000 * m
      end
    end
    return run
  end
end

-- The learners of a script with these words, with made-up outcomes of trainings; models that were made to be trained
-- are noted. The last result, values(set), returns a function of a learner's name and a metric, which returns the
-- values of its test lists, and the data set.
local function learners_of(words)
  local found, asked, made, kind_of = dofile "scripts/lecture/learners.lua", {}, {}, {}
  local names = {}
  for _, each in ipairs(found.learners) do names[#names + 1] = each.loss and each.name end
  local args = mr.experiment.args({ seed = 1, losses = names, folds = 5 }, { document = "lecture" }, words)
  found.training.fit = stub(asked, kind_of)
  for kind, make in pairs(found.training.models) do
    found.training.models[kind] = function(fold, seed, eta, short)
      local model = make(fold, seed, eta, short)
      if kind == "mf" or kind == "cml" or kind == "mlp" or kind == "trees" then
        made[#made + 1] = { seed = seed, eta = eta, short = short }
        kind_of[model] = kind
      end
      return model
    end
  end
  local function values(set)
    local of, results = found.runs(args, set)
    return function(name, metric) return mr.experiment.by_list({ results }, { learner = name }, metric) end, of
  end
  return found, args, asked, made, values
end

local function words_of(folder, ...)
  return { "--data", folder, "--store", folder .. "/runs.db", "--workers", "0", ... }
end

local counted = dofile("tests/support/protocols.lua").counted

local function setting_text(call)
  local text = call.kind
  for _, name in ipairs{ "rate", "decay", "eta" } do
    if call.at[name] then text = ("%s, %s %g"):format(text, name, call.at[name]) end
  end
  return text
end

-- Calls for the choice of settings, and those after them.
local function divided(asked)
  local choice, rest = {}, {}
  for _, call in ipairs(asked) do table.insert(call.test and rest or choice, call) end
  return choice, rest
end

local function check_made(calls, made, seed)
  equal(#made, #calls)
  for i, call in ipairs(calls) do
    local o = made[i]
    equal({ o.seed, o.short, o.eta, call.seed, call.short }, { seed, false, call.at.eta, seed, false })
  end
end

scripts.it("learners.runs of ratings chooses settings on the first fold, and trains on each of five",
  {}, function(folder)
  local ratings = protocol.liked(data_folders.movielens(folder), false)
  local words = words_of(folder, "--losses", "BPR,hinge of distances (CML)", "--seed", "3")
  local learners, _, asked, made, values_of = learners_of(words)
  local values, folds = values_of "movielens", {}
  local found = values("BPR", "ndcg@10")
  for number = 1, 5 do folds[number] = protocol.liked_fold(ratings, number, 3) end
  local choice, rest = divided(asked)
  check_made(asked, made, 3)
  equal(counted(choice, function(c) return c.kind .. " " .. c.fold.number end), { ["mf 1"] = 2 * 9, ["cml 1"] = 3 })
  equal(counted(rest, function(c) return setting_text(c) end),
    { ["mf, rate 0.03, decay 0"] = 2 * 5, ["cml, rate 0.03"] = 5 })
  equal(counted(rest, function(c) return "fold " .. c.fold.number end),
    { ["fold 1"] = 3, ["fold 2"] = 3, ["fold 3"] = 3, ["fold 4"] = 3, ["fold 5"] = 3 })
  for _, call in ipairs(asked) do equal(call.fold.train.fingerprint, folds[call.fold.number].train.fingerprint) end
  -- a user's value is the mean over folds in which it is tested
  local by_user = {}
  for number, fold in ipairs(folds) do
    for l, user in ipairs(fold.test.users:totable()) do
      by_user[user] = by_user[user] or {}
      table.insert(by_user[user], l + 100 * number + 1000)
    end
  end
  local users, expected = {}, {}
  for user in pairs(by_user) do users[#users + 1] = user end
  table.sort(users)
  for i, user in ipairs(users) do expected[i] = mean(by_user[user]) end
  near(found, expected, 1e-9)
  -- the most liked items for everyone
  local sums, counts = {}, {}
  for _, fold in ipairs(folds) do
    local ndcg = learners.training.catalogue(fold, mr.models.popularity{ fold = fold }):totable()
    for l, user in ipairs(fold.test.users:totable()) do
      sums[user], counts[user] = (sums[user] or 0) + ndcg[l], (counts[user] or 0) + 1
    end
  end
  for i, user in ipairs(users) do expected[i] = sums[user] / counts[user] end
  near(values("popularity", "catalogue"), expected, 1e-6)
end)

scripts.it("learners.runs of queries standardises features, and tests each fold's own queries", {}, function(folder)
  data_folders.queries(folder .. "/mq2008", 4)
  local words = words_of(folder, "--losses", "ListNet,LambdaMART", "--folds", "3", "--seed", "2")
  local _, _, asked, made, values_of = learners_of(words)
  local values, of = values_of "mq2008"
  equal({ of.title, of.folds }, { "MQ2008", 3 })
  local folds = mr.data.letor_folds(folder .. "/mq2008")
  local choice, rest = divided(asked)
  check_made(asked, made, 2)
  equal(counted(choice, function(c) return c.kind .. " " .. c.fold.number end),
    { ["mlp 1"] = 2 * 9, ["trees 1"] = 3 })
  equal(counted(choice, function(c) return c.at.rate and "rate" or "eta" end), { rate = 2 * 9, eta = 3 })
  equal(counted(rest, function(c) return setting_text(c) end),
    { ["mlp, rate 0.01, decay 0"] = 2 * 3, ["trees, eta 0.2"] = 3 })
  for _, call in ipairs(asked) do
    equal(call.fold.train.fingerprint, protocol.query_fold(folds, call.fold.number).train.fingerprint)
  end
  -- queries of fold f are named apart from those of other folds: no values are averaged
  local expected = {}
  for number = 1, 3 do
    for l = 1, number + 1 do expected[#expected + 1] = l + 100 * number + 2000 end
  end
  near(values("ListNet", "ap"), expected, 1e-9)
  local at_random = {}
  for number = 1, 3 do
    local lists = folds[number].test.lists
    local scores = mr.uniform({ lists.rows }, { seed = 2 })
    local ap = mr.evaluate(scores, lists, { "ap" }).ap:totable()
    table.move(ap, 1, #ap, #at_random + 1, at_random)
  end
  near(values("random", "ap"), at_random, 1e-6)
end)

scripts.it("learners.of always has squared error, and by default all losses on five folds", {}, function(folder)
  local learners, args = learners_of(words_of(folder, "--losses", "ListMLE"))
  local function trained(of_args, set)
    local names = {}
    for _, each in ipairs(learners.of(of_args, set)) do names[#names + 1] = each.loss and each.name end
    return names
  end
  equal(trained(args, "movielens"), { "squared error", "ListMLE" })
  local _, all = learners_of{}
  equal({ #trained(all, "movielens"), #trained(all, "mq2008"), all.folds }, { 12, 13, 5 })
  local on_both = {}
  for _, set in ipairs{ "movielens", "mq2008" } do
    for _, name in ipairs(trained(all, set)) do on_both[name] = (on_both[name] or 0) + 1 end
  end
  for name, count in pairs(on_both) do
    local is_of_one = name:find "CML" or name == "NeuralNDCG" or name == "LambdaMART"
    equal(count, is_of_one and 1 or 2, name)
  end
  check(not on_both.random, "what needs no training has no loss")
end)
