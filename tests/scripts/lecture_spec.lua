-- The lecture's worked numbers against its formulas written out here, and its scripts in their short form.
local mr = require "moonrank"
local says = require "tests.support.says"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local published = dofile "scripts/lecture/published.lua"
local it, equal, check, near = test.it, test.equal, test.check, test.near

-- Grades in the order of a ranking as lists with scores.
local function ranked(grades) return -mr.arange(1, #grades):double(), mr.lists{ grades } end

local function with_relevant(ranks, n)
  local grades = {}
  for i = 1, n do grades[i] = 0 end
  for _, rank in ipairs(ranks) do grades[rank] = 1 end
  return grades
end

it("mr.metrics.ap equals the average precision of the slides' queries, and their mean", function()
  local by_hand = { (1 / 1 + 2 / 3 + 3 / 6) / 3, (1 / 1 + 2 / 2 + 3 / 4) / 3 }
  local sum = 0
  for q, query in ipairs(published.average_precision) do
    local value = mr.metrics.ap(ranked(with_relevant(query.ranks, 8))):item()
    near(value, by_hand[q], 1e-12)
    near(value, query.ap, 0.0025)
    sum = sum + value
  end
  near((published.average_precision[1].ap + published.average_precision[2].ap) / 2, published.map, 1e-12)
  near(sum / 2, 0.81944444444444, 1e-12)
end)

it("mr.metrics.ap at k divides by P or by min(P, k), and is the reciprocal rank of one relevant row", function()
  local scores, lists = ranked(with_relevant({ 1, 3, 6 }, 8))
  for k, hits in pairs{ [2] = 1, [5] = 1 + 2 / 3, [8] = 1 + 2 / 3 + 3 / 6 } do
    near(mr.metrics.ap(scores, lists, { k = k }):item(), hits / 3, 1e-12)
    near(mr.metrics.ap(scores, lists, { k = k, denominator = "cutoff" }):item(), hits / math.min(3, k), 1e-12)
  end
  for rank = 1, 7 do
    local order, one = ranked(with_relevant({ rank }, 8))
    for _, denominator in ipairs{ "relevant", "cutoff" } do
      near(mr.metrics.ap(order, one, { k = 5, denominator = denominator }):item(), rank <= 5 and 1 / rank or 0, 1e-12)
    end
  end
end)

-- sum of gain(rel_i) / log2(i + 1) over the first p.
local function dcg(grades, p, gain)
  local sum = 0
  for i = 1, math.min(p, #grades) do sum = sum + gain(grades[i]) / math.log(i + 1, 2) end
  return sum
end

local function sorted_down(grades)
  local copy = { table.unpack(grades) }
  table.sort(copy, function(a, b) return a > b end)
  return copy
end

it("mr.metrics.dcg with both gains and ndcg equal the formulas for the slide's ratings", function()
  local grades = published.ratings
  local scores, lists = ranked(grades)
  for p = 1, #grades do
    local function linear(y) return y end
    local function exp2(y) return 2 ^ y - 1 end
    near(mr.metrics.dcg(scores, lists, { k = p, gain = "linear" }):item(), dcg(grades, p, linear), 1e-9)
    near(mr.metrics.dcg(scores, lists, { k = p }):item(), dcg(grades, p, exp2), 1e-9)
    near(mr.metrics.ndcg(scores, lists, { k = p }):item(),
      dcg(grades, p, exp2) / dcg(sorted_down(grades), p, exp2), 1e-9)
  end
end)

it("precision, recall, AUC, RMSE and MAE equal their definitions", function()
  local grades = with_relevant({ 1, 3, 6 }, 8)
  local scores, lists = ranked(grades)
  local right, pairs_of, found = 0, 0, 0
  for k = 1, 8 do
    found = found + grades[k]
    near(mr.metrics.precision(scores, lists, { k = k }):item(), found / k, 1e-12)
    near(mr.metrics.recall(scores, lists, { k = k }):item(), found / 3, 1e-12)
    for j = k + 1, 8 do
      if grades[k] ~= grades[j] then pairs_of, right = pairs_of + 1, right + (grades[k] > grades[j] and 1 or 0) end
    end
  end
  near(mr.metrics.auc(scores, lists):item(), right / pairs_of, 1e-12)
  near(mr.stats.rmse({ 2, 1, 4, 5, 4 }, published.scores), 1, 1e-12)
  near(mr.stats.mae({ 2, 1, 4, 5, 4 }, published.scores), 1, 1e-12)
end)

local function run(folder, name, words)
  local out, err = scripts.run(folder, ("lecture/%s.lua"):format(name), words, "MOONRANK_DATA=.")
  check(not err:find "failed", err)
  return out
end

scripts.it("worked_numbers.lua prints the slides' numbers beside the computed ones", {}, function(folder)
  local out = run(folder, "worked_numbers", "")
  for _, line in ipairs{ "AP%s+ranks 1, 3, 6%s+0.72%s+0.7222", "AP%s+ranks 1, 2, 4%s+0.917%s+0.9167",
    "MAP%s+both queries%s+0.8185%s+0.8194", "MAP@5, every P%(k%) to 5%s+rank 1%s+2.2833",
    "CG%s+ratings 2, 4, 3, 2, 4%s+15.0000" } do
    check(out:find(line), line .. "\n" .. out)
  end
end)

scripts.it("same_pairs.lua and same_rmse.lua show rankings with equal errors and other nDCG",
  { "gnuplot" }, function(folder)
  local function exp2(y) return 2 ^ y - 1 end
  local function ndcg(grades) return dcg(grades, #grades, exp2) / dcg(sorted_down(grades), #grades, exp2) end
  local out = run(folder, "same_pairs", "")
  local low, lowest, high, highest = out:match "\n%s+5%s+5%s+(0%.%d+)%s+([%d ]-)%s%s+(0%.%d+)%s+([%d ]-)%s%s+0%."
  local function grades_of(words)
    local grades = {}
    for grade in words:gmatch "%d" do grades[#grades + 1] = tonumber(grade) end
    return grades
  end
  near(tonumber(low), ndcg(grades_of(lowest)), 5e-5)
  near(tonumber(high), ndcg(grades_of(highest)), 5e-5)
  check(out:find("the 30 different orders", 1, true), out)
  out = run(folder, "same_rmse", "--points 5")
  check(out:find "2, 1, 4, 5, 4%s+1.0000%s+1.0000%s+0.8343%s+0.7500", out)
  for _, name in ipairs{ "same_pairs", "same_rmse" } do
    check(sweeps.read(("%s/results/lecture/%s.svg"):format(folder, name)):find "<svg", name)
  end
end)

-- Checks that a script prints the same text twice: after its runs, and from the runs that it kept.
local function twice(folder, name, words)
  local out = run(folder, name, words)
  equal(run(folder, name, words), out)
  check(not out:find("nan", 1, true) and not out:find("MovieLens", 1, true) and not out:find("MQ2008", 1, true), out)
  return out
end

scripts.it("families.lua --smoke shows every family on both kinds of data, and the same from kept runs",
  {}, function(folder)
  local out = twice(folder, "families", "--smoke --workers 1")
  says(out, "popularity", "item kNN", "squared error", "cross entropy", "RankNet", "LambdaRank", "BPR",
    "hinge of distances (CML)", "WARP", "ListNet", "ListMLE", "smooth nDCG", "NeuralNDCG", "LambdaMART")
end)

scripts.it("cremonesi.lua --smoke shows a random ranking's recall as N over the number of candidates",
  { "gnuplot" }, function(folder)
  local out = twice(folder, "cremonesi", "--smoke --workers 1")
  local at_20 = tonumber(out:match "\nrandom%s+[%d.]+%s+[%d.]+%s+([%d.]+)")
  near(at_20, 20 / 101, 0.15)
  says(out, "PureSVD", "biased MF, squared errors", "recall(10), long tail")
end)

scripts.it("profit.lua --smoke says that profits are made up", {}, function(folder)
  local out = twice(folder, "profit", "--smoke --workers 1")
  says(out, "profits (made up)", "at random", "more for rare movies", "The profits are made up")
end)

it("all.lua lists every script of the folder", function()
  local listed = {}
  for _, script in ipairs(dofile "scripts/lecture/all.lua") do
    check(script.title and script.words and script.takes, script.path)
    listed[script.path:gsub("^%./", "")] = true
  end
  local with_options =
    "grep -lE 'mr.args[{(]|experiment.args[(]|learners.args|common.options' $(find scripts/lecture -name '*.lua')"
  for path in sweeps.capture(with_options):gmatch "[^\n]+" do
    local part = path:find "common" or path:find "learners" or path:find "/all%.lua$"
    check(part or listed[path], path .. " is not in all.lua")
  end
end)
