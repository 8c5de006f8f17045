-- Tests mr.compare with several runs per system: users and queries are matched by name and averaged over runs.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- Returns an evaluation by RR of queries with these ids. Each has four documents, of which one is relevant and has the
-- given rank.
local function evaluation(ids, ranks)
  local relevance, scores, names = {}, {}, {}
  for i, id in ipairs(ids) do
    for d = 1, 4 do
      names[#names + 1], relevance[#relevance + 1] = id, d == 1 and 1 or 0
      scores[#scores + 1] = d == 1 and -ranks[i] or -(d - 1 >= ranks[i] and d or d - 1)
    end
  end
  return mr.evaluate(mr.tensor(scores), mr.lists{ relevance = mr.tensor(relevance), ids = names }, { "rr" })
end

local ids = { "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8" }
local good, bad = { 1, 1, 2, 1, 1, 1, 3, 1 }, { 2, 1, 3, 4, 1, 2, 3, 2 }

it("mr.compare gives the same p value if every run is repeated", function()
  local a, b = evaluation(ids, good), evaluation(ids, bad)
  local once, five = mr.compare{ a = a, b = b }, mr.compare{ a = { a, a, a, a, a }, b = { b, b, b, b, b } }
  equal({ five.count, five.queries }, { 8, ids })
  near(five.pairs[1].p, once.pairs[1].p, 1e-12)
  equal({ five.cells.rr.a.low, five.cells.rr.a.high }, { once.cells.rr.a.low, once.cells.rr.a.high })
  check(tostring(five):find("40 lists are of 8 ", 1, true), tostring(five))
  check(five:to_latex():find("40 lists are of 8", 1, true) and five:tests().rows[1][4] == 8)
  check(not tostring(once):find "averaged")
end)

it("mr.compare matches queries by id in any order and averages the values of each query over runs", function()
  local backwards, reversed_good, reversed_bad = {}, {}, {}
  for i, id in ipairs(ids) do
    backwards[9 - i], reversed_good[9 - i], reversed_bad[9 - i] = id, good[i] == 1 and 2 or 1, bad[i]
  end
  -- the third run has a query that the other runs lack, and lacks most of their queries
  local odd = { "q9", "q2" }
  local c = mr.compare{
    a = { evaluation(ids, good), evaluation(backwards, reversed_good), evaluation(odd, { 4, 1 }) },
    b = { evaluation(ids, bad), evaluation(backwards, reversed_bad), evaluation(odd, { 2, 4 }) },
  }
  equal(c.queries, { "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9" })
  for i = 1, 8 do
    local other = good[i] == 1 and 2 or 1
    local a, b, n = 1 / good[i] + 1 / other, 2 / bad[i], 2
    if i == 2 then a, b, n = a + 1, b + 1 / 4, 3 end
    near({ c.values.rr.a[i]:item(), c.values.rr.b[i]:item() }, { a / n, b / n }, 1e-15, ids[i])
  end
  near({ c.values.rr.a[9]:item(), c.values.rr.b[9]:item() }, { 1 / 4, 1 / 2 }, 1e-15)
  near(c.pairs[1].p, mr.stats.permutation(c.values.rr.a, c.values.rr.b).p, 0)
end)

local function folds_of(k)
  local ratings = mr.data.synthetic{ users = 30, items = 80, mean_activity = 30, seed = 1 }
  return ratings:binarize(4):min_relevant(5):folds{ k = k, seed = 1 }
end

local function fitted(fold, loss, each_epoch)
  return mr.fit{ model = mr.models.mf{ users = 30, items = 80, factors = 2, seed = 1 }, loss = mr.losses[loss]{},
    train = fold.train, valid = fold.valid, test = fold.test, epochs = 2, progress = false, metrics = { "ndcg" },
    each_epoch = each_epoch }
end

it("mr.compare matches users over folds of mr.fit runs, also beside scored files", function()
  local folds = folds_of(3)
  local a, b, scores, qrels, sums = {}, {}, {}, {}, {}
  for f = 1, 3 do
    a[f], b[f] = fitted(folds[f], "ndcg"), fitted(folds[f], "ap")
    local model = mr.models.popularity{ fold = folds[f] }
    scores[f], qrels[f] = mr.data.scored(model, folds[f].test), folds[f].test
    local users, values = folds[f].test.users:totable(), a[f].test.ndcg:totable()
    for i, user in ipairs(users) do
      sums[user] = sums[user] or { 0, 0 }
      if values[i] == values[i] then sums[user] = { sums[user][1] + values[i], sums[user][2] + 1 } end
    end
  end
  local c = mr.compare{ a = a, b = b }
  local mean, users = 0, 0
  for _, sum in pairs(sums) do mean, users = mean + sum[1] / sum[2], users + 1 end
  equal(c.count, users)
  near(c.cells.ndcg.a.mean, mean / users, 1e-6)
  local beside = mr.compare{ a = a, b = b, popularity = scores, qrels = qrels }
  equal(beside.count, users)
  -- a note about a single run has the run's number
  local about = a[2].test:notes()[1]
  check(about:find "new to training" and tostring(c):find("\nrun 2: " .. about, 1, true), tostring(c))
  near(beside.cells.ndcg.a.mean, c.cells.ndcg.a.mean, 1e-12)
end)

it("mr.compare counts a user with several lists in one evaluation once", function()
  local fold = folds_of(3)[1]
  local options = { candidates = "one", negatives = 20 }
  local a = fold:evaluate(mr.models.popularity{ fold = fold }, { "rr" }, options)
  local b = fold:evaluate(mr.models.mf{ users = 30, items = 80, factors = 2 }, { "rr" }, options)
  local users, last = 0, nil
  for _, user in ipairs(a.users:totable()) do
    if user ~= last then users, last = users + 1, user end
  end
  local c = mr.compare{ a = a, b = b }
  check(users < a.count)
  equal({ c.count, c.pairs[1].n }, { users, users })
  check(tostring(c):find(("%d lists are of %d users"):format(a.count, users), 1, true), tostring(c))
end)

it("mr.compare marks a system with an interrupted run in every table and leaves out its values", function()
  local fold = folds_of(3)[1]
  local whole, other = fitted(fold, "ndcg"), fitted(fold, "ap")
  local cut = fitted(fold, "ap", function(epoch) if epoch == 1 then error("interrupted", 0) end end)
  check(cut.interrupted and not whole.interrupted)
  equal({ cut.test == nil, cut.scores == nil, #cut.history }, { true, true, 1 })
  local plain = mr.compare{ whole = whole, other = other }
  for _, c in ipairs{ mr.compare{ whole = whole, other = other, cut = cut },
    mr.compare{ whole = { whole, whole }, other = { other, other }, cut = { whole, cut } } } do
    equal({ c.interrupted, c.systems, #c.pairs }, { { cut = 1 }, { "other", "whole" }, 1 })
    equal(c.cells.ndcg.whole.mean, plain.cells.ndcg.whole.mean)
    for _, text in ipairs{ tostring(c), c:to_latex(), c:to_markdown() } do
      check(text:find("cut (interrupted)", 1, true) and not text:find("whole (interrupted)", 1, true), text)
    end
    check(c:to_csv():match "[^\n]*" :find "interrupted")
    check(c:to_csv():find("ndcg,,cut,,,,,,1\n", 1, true), c:to_csv())
  end
  raises(function() mr.compare{ whole = whole, cut = cut } end, "'cut'")
  check(not tostring(mr.compare{ a = whole, b = whole }):find "interrupted")
end)

it("mr.compare rejects runs that cannot be matched", function()
  local function refuses(options, ...) raises(function() mr.compare(options) end, ...) end
  local a, b = evaluation(ids, good), evaluation(ids, bad)
  refuses({ a = { a, a }, b = { b } }, "'b'", "1")
  refuses({ a = { a, a }, b = b }, "'a'", "2")
  refuses({ a = { a, evaluation({ "q1" }, { 1 }) }, b = { b, b } }, "lists")
  local function nameless(list)
    return mr.evaluate(mr.tensor{ 2, 1, 3, 1, 2, 3 }, mr.lists{ list, { 1, 0, 0 } }, { "rr" })
  end
  local one, other = nameless{ 0, 1, 0 }, nameless{ 0, 0, 1 }
  equal(mr.compare{ a = { one, one }, b = { one, one } }.count, 2)
  refuses({ a = { one, other }, b = { one, other } }, "ids")
  local linear = mr.evaluate(mr.tensor{ 1, 2 }, mr.lists{ { 1, 0 } }, { "ndcg" }, { gain = "linear" })
  local exp2 = mr.evaluate(mr.tensor{ 1, 2 }, mr.lists{ { 1, 0 } }, { "ndcg" })
  refuses({ a = { linear, exp2 }, b = { linear, exp2 } }, "gain", "linear", "exp2")
  refuses({ a = { "one.run", "two.run" }, metric = { "ap" } }, "metrics")
end)

it("comparison tables state the interval level and how many runs are averaged", function()
  local lists = {}
  for i = 1, 8 do lists[i] = { 1, 0, 0 } end
  local judged, scores = mr.lists(lists), { {}, {} }
  for i = 1, 24 do scores[1][i], scores[2][i] = -i, i end
  local function of(which) return mr.evaluate(mr.tensor(scores[which]), judged, { "rr" }) end
  local one = mr.compare{ a = of(1), b = of(2), level = 0.9 }
  local several = mr.compare{ a = { of(1), of(1), of(2) }, b = { of(2), of(2), of(2) } }
  for _, text in ipairs{ tostring(one), one:to_latex(), one:to_markdown(), tostring(one:table()) } do
    check(text:find "90 \\?%% interval of the mean" and not text:find "runs of each", text)
  end
  for _, text in ipairs{ tostring(several), several:to_latex(), tostring(several:table()) } do
    check(text:find "95 \\?%% interval of the mean" and text:find("means of 3 runs", 1, true), text)
  end
end)
