-- Tests the computations of the figures of scripts/sigir21: counts and means worked by hand,
-- marginal means by R, and the output of the scripts.
local test = require "moonrank.test"
local json = dofile "tests/support/json.lua"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local analysis = dofile "scripts/sigir21/analysis.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

local nan = 0 / 0

-- Rows of {loss, nsr, split, score}.
local function rows_of(list)
  local rows = {}
  for i, each in ipairs(list) do
    rows[i] = { loss = each[1], nsr = each[2], split = each[3], score = each[4], dataset = "a" }
  end
  return rows
end

it("analysis.best_counts takes every split at every NSR as a case, and counts exact ties for all", function()
  local counts, cases = analysis.best_counts(rows_of{ { "ap", 1, 1, 0.5 }, { "ndcg", 1, 1, 0.6 }, { "nrbp", 1, 1, 0.6 },
    { "ap", 1, 2, 0.9 }, { "ndcg", 1, 2, 0.8999 }, { "nrbp", 1, 2, 0.7 }, { "ap", 5, 1, 0.1 }, { "ndcg", 5, 1, 0.2 },
    { "nrbp", 5, 1, 0.3 } })
  equal(counts, { ap = 1, ndcg = 1, nrbp = 2 })
  equal(cases, 3)
end)

it("analysis.spread gives the mean, least and largest of splits; analysis.analysed leaves out RR", function()
  local rows = rows_of{ { "rr", 1, 1, 0.1 }, { "ap", 1, 1, 0.25 }, { "ap", 1, 2, 0.75 } }
  equal({ analysis.spread(analysis.where(rows, { loss = "ap", nsr = 1 })) }, { 0.5, 0.25, 0.75 })
  local mean, least, largest = analysis.spread({})
  check(mean ~= mean and least ~= least and largest ~= largest, "NaN of none")
  equal(analysis.distinct(analysis.analysed(rows), "loss"), { "ap" })
  equal(analysis.distinct(rows, "split"), { 1, 2 })
end)

it("analysis.linear_model has R's marginal means of standardised scores, balanced or not", function()
  local golden = json.read "tests/golden/linear_models.json"
  for _, name in ipairs{ "balanced", "unbalanced" } do
    local g, rows = golden[name], {}
    for i, loss in ipairs(g.loss) do
      rows[i] = { loss = loss, dataset = g.data[i], nsr = g.nsr[i], score = g.score[i] }
    end
    local model = analysis.linear_model(rows)
    for i, mean in ipairs(model:emmeans "loss") do
      near({ mean.mean, mean.low, mean.prediction_high },
        { g.loss_means.mean[i], g.loss_means.low[i], g.loss_means.prediction_high[i] }, { rtol = 1e-9 })
    end
    -- nrbp is the highest; R's corrected p of its three contrasts say whether it is significantly so
    local largest = 0
    for _, i in ipairs{ 3, 5, 6 } do largest = math.max(largest, g.contrasts.adjusted[i]) end
    equal({ analysis.winner(model, "lambda") }, { "nrbp", largest < 0.05 })
  end
end)

it("analysis.linear_model has no interactions with one data set and one NSR", function()
  local rows = rows_of{ { "ap", 1, 1, 1 }, { "ap", 1, 2, 3 }, { "nrbp", 1, 1, 5 }, { "nrbp", 1, 2, 7 } }
  local model = analysis.linear_model(rows)
  equal(model.df, 2)
  -- mean 4, squares 20 over 3
  near(model:emmeans("loss")[2].mean, 2 / math.sqrt(20 / 3), 1e-12)
end)

it("analysis.complete leaves out splits that lack a loss of their kind", function()
  local rows = rows_of{ { "ap", 1, 1, 1 }, { "nrbp", 1, 1, 5 }, { "ap", 1, 2, 2 }, { "ap", 2, 1, 3 },
    { "nrbp", 2, 1, 4 }, { "ap", 2, 2, 4 } }
  for i, row in ipairs(rows) do row.kind = i < 6 and "listwise" or "lambda" end
  local found, left = analysis.complete(rows)
  equal({ #found, left }, { 5, 1 })  -- split 2 at NSR 1; AP is all that there is of LambdaRank
  equal(analysis.distinct(analysis.where(found, { nsr = 1 }), "split"), { 1 })
  -- of three losses a split has two; a loss with two rows (metrics) counts once
  rows = rows_of{ { "ap", 1, 1, 1 }, { "nrbp", 1, 1, 2 }, { "ndcg", 1, 1, 3 }, { "ap", 1, 2, 1 }, { "nrbp", 1, 2, 2 },
    { "ap", 1, 3, 1 }, { "ap", 1, 3, 2 }, { "nrbp", 1, 3, 2 } }
  for _, row in ipairs(rows) do row.kind = "listwise" end
  found, left = analysis.complete(rows)
  equal({ #found, left, analysis.distinct(found, "split") }, { 3, 2, { 1 } })
end)

it("analysis.differences averages users over their splits, and leaves out NaN", function()
  local function row(users, positives, scores)
    return { per_list = function() return { users = users, positives = positives, scores = scores } end }
  end
  local x, y = analysis.differences({ row({ 12, 3, 9, 5, 4 }, { 8, 2, 5, 1, 0 }, { 0.5, 0.25, 1, 0.5, 1 }),
    row({ 3, 12 }, { 6, 8 }, { 0.75, nan }) }, { row({ 3, 12, 5, 4 }, { 2, 8, 1, 0 }, { 0.125, 0.25, 0.75, 0.5 }),
    row({ 12, 3 }, { 8, 6 }, { 0.5, 0.375 }) })
  -- users 3 (2 and 6 positives), 5 and 12; user 9 has no score under the other loss, user 4 no positives
  equal({ x, y }, { { 2.0, 0.0, 3.0 }, { 0.25, -0.25, 0.125 } })
end)

scripts.it("figure_3.lua and figure_5.lua --smoke draw made-up data, without results of the paper",
  { "gnuplot" }, function(folder)
  for number, words in pairs{ [3] = { "With LambdaRank the highest mean is that of ", "With listwise losses ",
    "one run from" }, [5] = { " of 28 curves rise significantly", "there (95 %)" } } do
    local out = scripts.run(folder, ("sigir21/figure_%d.lua"):format(number), "--smoke", "MOONRANK_DATA=.")
    for _, each in ipairs(words) do check(out:find(each, 1, true), each .. ": " .. out) end
    check(not out:find "In the paper", "no printed result beside made-up data")
    check(sweeps.read(("%s/results/sigir21/figure_%d.svg"):format(folder, number)):find("Made-up data", 1, true),
      "figure " .. number)
  end
end)
