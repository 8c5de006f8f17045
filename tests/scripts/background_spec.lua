-- The scripts of lecture/background in their smoke form: each prints its rankers, which beat chance.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local scripts = dofile "tests/support/scripts.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

-- The number of rankers that each prints.
local rankers = { adarank = 1, rankboost = 1, prank = 2, subset_ranking = 2, two_stages = 5, listrank_mf = 2 }

for name, expected in pairs(rankers) do
  scripts.it(name .. ".lua --smoke prints its rankers, which all beat chance", {}, function(folder)
    local text = scripts.run(folder, ("lecture/background/%s.lua"):format(name), "--smoke")
    check(text:find("made-up", 1, true), text)
    local chance, count = tonumber(text:match "by chance%s+([%d.]+)"), 0
    for ranker, value in text:gmatch "\n([^\n]-)%s%s+(0%.%d+)" do
      if ranker ~= "by chance" then
        count = count + 1
        check(tonumber(value) > chance, ranker .. " " .. value)
      end
    end
    equal(count, expected, text)
  end)
end

it("common.compare averages over all test queries with relevant documents, not over folds", function()
  local function part(...) return { lists = mr.lists{ ... } } end
  -- of the second fold's four queries one has no relevant document
  local folds = { { test = part({ 1, 0 }) }, { test = part({ 0, 1 }, { 0, 1 }, { 0, 0 }, { 0, 1 }) } }
  local common = in_process.load("scripts/lecture/background/common.lua", {
    protocol = function(protocol)
      rawset(protocol, "queries", function() return { "first", "second" }, "made" end)
      rawset(protocol, "query_fold", function(all, number) return all[number] and folds[number] end)
    end })
  local shown
  rawset(common, "table", function(_, o)
    shown = o
    return {}
  end)
  common.compare({ seed = 1 }, function(_, tested)
    local scores = {}
    for i = 1, tested.lists.rows do scores[i] = i % 2 end  -- each query's first row is on top
    return { { "first", mr.tensor(scores, { dtype = "float64" }) } }
  end)
  -- nDCG@10 is 1 once and 1/log2(3) three times
  near(shown.means.first, (1 + 3 * math.log(2) / math.log(3)) / 4, 1e-6)
  equal({ shown.count, shown.folds, shown.names }, { 4, 2, { "first", "by chance" } })
end)

it("common.table names the ranker with the highest mean, never the one by chance", function()
  local common, said = dofile "scripts/lecture/background/common.lua", print
  rawset(_G, "print", function() end)
  local ok, section = pcall(common.table, {}, { title = "made", unit = "queries", head = "ranker", folds = 2, count = 7,
    names = { "a", "b", "by chance" }, means = { a = 0.25, b = 0.5, ["by chance"] = 0.75 },
    parts = {
      { { mean = 0 }, { mean = 0.5 } },
      { { mean = 0.5 }, { mean = 0.5 } },
      { { mean = 0.75 }, { mean = 0.75 } } } })
  rawset(_G, "print", said)
  check(ok, section)
  check(section.text:find("that of b (0.5000)", 1, true) and section.text:find("0.7500", 1, true), section.text)
  equal(section.tables[1].rows, { { "a", 0.25 }, { "b", 0.5 }, { "by chance", 0.75 } })
  local cells = section.cells[1]
  equal({
    cells.runs(section.tables[1].rows[1], "ndcg@10"),
    cells.runs(section.tables[1].rows[3], "ndcg@10") }, { 2, 0 })
  -- Student's quantile of one degree of freedom at 0.975 is tan(0.475 pi); the standard error of 0 and 0.5 is 0.25
  near(cells.intervals["ndcg@10"][1],
    { 0.25 - math.tan(0.475 * math.pi) / 4, 0.25 + math.tan(0.475 * math.pi) / 4 }, 1e-9)
end)

-- Rankers of a script for small parts: their scores of `tested`, and their `names`. If `inside` is given, it is called
-- in place of the rankers' trainings, while the script's own definitions exist.
local function rankers_of(name, words, train, tested, inside)
  local found = { names = {} }
  in_process.section(("scripts/lecture/background/%s.lua"):format(name), words, { common = function(common)
    rawset(common, "compare", function(_, rank)
      if inside then return inside() end
      for i, each in ipairs(rank(train, tested)) do found.names[i], found[i] = each[1], each[2]:double():totable() end
    end)
  end })
  return found
end

local function part_of(lists, features)
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features) }
end

it("adarank.lua chooses features by weighted nDCG, with weights e^-nDCG and alpha by the weighted mean", function()
  -- the first feature is right on two of three queries, the second one on the third
  local train =
    part_of({ { 1, 0 }, { 1, 0 }, { 1, 0 } }, { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 0, 1 }, { 0, 1 }, { 1, 0 } })
  local tested, wrong = part_of({ { 1, 0 } }, { { 1, 0 }, { 0, 1 } }), math.log(2) / math.log(3)
  local function alpha(value) return 0.5 * math.log((1 + value) / (1 - value)) end
  local one = alpha((2 + wrong) / 3)
  near(rankers_of("adarank", { "--rounds", "1" }, train, tested)[1], { one, 0 }, 1e-6)
  local two = alpha((2 * math.exp(-1) + wrong * math.exp(-wrong)) / (2 * math.exp(-1) + math.exp(-wrong)))
  near(rankers_of("adarank", { "--rounds", "2" }, train, tested)[1], { one + two, 0 }, 1e-6)
  -- one feature, which is as wrong on each query, has an equal alpha in each of 50 rounds
  local found = rankers_of("adarank", {}, part_of({ { 1, 0 }, { 1, 0 } }, { { 0 }, { 1 }, { 0 }, { 1 } }),
    part_of({ { 1, 0 } }, { { 1 }, { 0 } }))
  near(found[1], { 50 * alpha(wrong), 0 }, 1e-4)
  equal(found.names, { "AdaRank, 50 rounds" })
end)

it("rankboost.lua chooses thresholds by the weighted sum over pairs, whose weights follow the scores", function()
  -- at cuts between 0.2 and 1.2 two of three pairs are right, then r = 1/3 and alpha = log(2) / 2; after that the pairs
  -- have weights 1/4, 1/2 and 1/4, and r = 0
  local train = part_of({ { 1, 0 }, { 0, 1 }, { 1, 0 } }, { { 1.2 }, { 0.2 }, { 1.2 }, { 0.2 }, { 1.2 }, { 0.2 } })
  local tested = part_of({ { 1, 0 } }, { { 1.2 }, { 0.3 } })
  for _, rounds in ipairs{ "1", "2" } do
    near(rankers_of("rankboost", { "--rounds", rounds }, train, tested)[1], { math.log(2) / 2, 0 }, 1e-6)
  end
  equal(rankers_of("rankboost", {}, train, tested).names, { "RankBoost, 100 rounds" })
end)

it("rankboost.lua adds a threshold that most pairs contradict, with a negative weight", function()
  -- five pairs: feature 1 has three right, r = 1/5; feature 2 has one right, r = -3/5 and alpha = -log(2)
  local features, grades = {}, {}
  for pair = 1, 5 do
    grades[pair] = { 1, 0 }
    local one, two = pair <= 3 and 1.2 or 0.2, pair == 1 and 1.2 or 0.2
    features[2 * pair - 1], features[2 * pair] = { one, two }, { 1.4 - one, 1.4 - two }
  end
  local tested = part_of({ { 1, 0 } }, { { 0.2, 1.2 }, { 1.2, 0.2 } })
  near(rankers_of("rankboost", { "--rounds", "1" }, part_of(grades, features), tested)[1], { -math.log(2), 0 }, 1e-6)
end)

it("prank.lua moves thresholds and weights if a row is on the wrong side of a threshold", function()
  -- A row of grade 2 is not above two thresholds at 0: both go to -1, and the weight of 0 to 2 times the feature, 1.
  -- Then its score of 0.5 is above both. The mean of weights is a sum over all passes, which are 5 unless said.
  for passes, words in pairs{ [2] = { "--passes", "2" }, [5] = {} } do
    local found = rankers_of("prank", words, part_of({ { 2 } }, { { 0.5, 0 } }),
      part_of({ { 1, 0 } }, { { 1, 0 }, { 0, 1 } }))
    near(found[1], { 1, 0 }, 1e-9)
    near(found[2], { passes, 0 }, 1e-9)
  end
end)

it("subset_ranking.lua adds the errors of relevant rows and, u times, of the highest irrelevant one", function()
  for u, words in pairs{ [2] = { "--u", "2" }, [3] = {} } do
    rankers_of("subset_ranking", words, nil, nil, function()
      local loss = mr.losses.subset_ranking()
      local function of(...)
        return loss:mean(mr.tensor({ ... }, { dtype = "float64" }), mr.lists{ { 2, 0, 0 } }):item()
      end
      near({ of(1, 0.5, 0.25), of(1, -0.5, -1) }, { 1 + u * 0.5 ^ 2, 1 }, 1e-9)
      return {}
    end)
  end
end)

it("two_stages.lua reorders the first k rows of the first stage, and keeps the others in its order", function()
  local grades, features = {}, {}
  for l = 1, 6 do
    grades[l] = { 2, 1, 0, 0, 1 }
    for i = 1, 5 do features[#features + 1] = { (i * l) % 5 + i / 7, (3 * i + l) % 4 } end
  end
  local train = part_of(grades, features)
  local found = rankers_of("two_stages", { "--keep", "2", "--epochs", "1" }, train, train)
  local first, second = found[1], found[2]
  equal(#found, 3)
  for l = 0, 5 do
    local order, again = {}, {}
    for i = 1, 5 do order[i], again[i] = 5 * l + i, 5 * l + i end
    table.sort(order, function(a, b) return first[a] > first[b] end)
    table.sort(again, function(a, b) return second[a] > second[b] end)
    local kept, place = { [order[1]] = true, [order[2]] = true }, {}
    check(kept[again[1]] and kept[again[2]], "list " .. l)
    for i = 3, 5 do
      equal(again[i], order[i])
      place[i] = second[again[i]]
    end
    -- rows that the second stage does not see are one apart, and far behind those that it sees
    near({ place[3] - place[4], place[4] - place[5] }, { 1, 1 }, 1e-5)
    check(second[again[2]] - place[3] > 2, "the second stage sees two rows")
  end
end)

it("listrank_mf.lua compares cross entropy with squared errors over all lists of five folds", function()
  local protocols = dofile "tests/support/protocols.lua"
  local users = {}
  for u = 1, 4 do users[u] = { relevant = 10, value = 5, other = 1 } end
  local ratings, fit, seen, shown = protocols.liking(users, 20), mr.fit, {}, nil
  rawset(mr, "fit", function(o)
    seen[#seen + 1] = o.loss.name
    equal({ o.select, o.choose_on, o.metrics, o.epochs, o.valid ~= o.test }, { nil, nil, { "ndcg@10" }, 7, true })
    -- each fold's list counts differ, so that a mean over folds is another one
    local fold = (#seen + 1) // 2
    return { test = { mean = { ["ndcg@10"] = fold / 10 }, counted = { ["ndcg@10"] = fold } } }
  end)
  local ok, problem = pcall(in_process.section, "scripts/lecture/background/listrank_mf.lua", { "--epochs", "7" }, {
    protocol = function(protocol) rawset(protocol, "ratings", function() return ratings, "made" end) end,
    common = function(common) rawset(common, "table", function(_, o)
      shown = o
      return {}
    end) end })
  rawset(mr, "fit", fit)
  check(ok, problem)
  equal(seen, { "listnet", "mse", "listnet", "mse", "listnet", "mse", "listnet", "mse", "listnet", "mse" })
  near(shown.means["ListRank-MF"], (1 + 4 + 9 + 16 + 25) / 15 / 10, 1e-9)
  check(shown.means["by chance"] > 0.3 and shown.means["by chance"] < 1)
end)
