-- Tests comparison:gains: lists divided by their shapes, means, intervals and shares, as a table and as figures.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

-- Eight lists: list l has sizes[l] rows, relevant[l] of them relevant. Scores put the relevant rows first, or last for
-- lists that `flip` names.
local sizes, relevant = { 2, 3, 3, 4, 5, 6, 7, 8 }, { 1, 1, 1, 2, 1, 3, 2, 4 }

local function lists_of(ids)
  local names, grades = {}, {}
  for l, size in ipairs(sizes) do
    for row = 1, size do names[#names + 1], grades[#grades + 1] = ids[l], row <= relevant[l] and 1 or 0 end
  end
  return mr.lists{ relevance = mr.tensor(grades), ids = names }
end

local ids = { "a", "b", "c", "d", "e", "f", "g", "h" }
local lists = lists_of(ids)

local function evaluated(flip, metrics, of)
  local scores = {}
  for l, size in ipairs(sizes) do
    for row = 1, size do scores[#scores + 1] = flip[l] and row or -row end
  end
  return mr.evaluate(mr.tensor(scores), of or lists, metrics or { "rr" })
end

local good, bad = { [3] = true }, { true, false, false, true, true, false, true, true }

-- Returns RR of list l if its relevant rows are ranked last.
local function last(l) return 1 / (sizes[l] - relevant[l] + 1) end

it("comparison:gains divides lists by their relevant rows", function()
  local found = mr.compare{ ours = evaluated(good), theirs = evaluated(bad) }:gains{ groups = 2 }
  equal({ found.groups[1].relevant, found.groups[2].relevant }, { { 1, 1 }, { 2, 4 } })
  equal({ found.groups[1].lists, found.groups[2].lists, found.all.lists }, { 4, 4, 8 })
  local first = { 1 - last(1), 0, last(3) - 1, 1 - last(5) }
  near(found.groups[1].difference, (first[1] + first[2] + first[3] + first[4]) / 4, 1e-12)
  equal({ found.groups[1].better, found.groups[1].worse }, { 0.5, 0.25 })
  near(found.groups[2].difference, (1 - last(4) + 1 - last(7) + 1 - last(8)) / 4, 1e-12)
  equal({ found.groups[2].better, found.groups[2].worse }, { 0.75, 0.0 })
  near(found.groups[1].system - found.groups[1].other, found.groups[1].difference, 1e-12)
  check(found.groups[1].low <= found.groups[1].difference and found.groups[1].difference <= found.groups[1].high)
  equal(#found:table().rows, 3)
  equal(found:plot().kind, "intervals")
end)

it("comparison:gains keeps lists of equal shape together, and none is lost", function()
  local comparison = mr.compare{ ours = evaluated(good), theirs = evaluated(bad) }
  for groups = 1, 20 do
    for _, by in ipairs{ "relevant", "rows", "both" } do
      local count, range_of = 0, {}
      for _, group in ipairs(comparison:gains{ by = by, groups = groups }.groups) do
        count = count + group.lists
        range_of[#range_of + 1] = group.relevant or group.rows
      end
      equal(count, 8)
      for i = 2, by ~= "both" and #range_of or 0 do check(range_of[i][1] > range_of[i - 1][2]) end
    end
  end
  equal(comparison:gains{ by = "both" }:plot().kind, "heatmap")
  equal(#comparison:gains{ by = "rows", groups = 1 }.groups, 1)
end)

it("comparison:gains counts a smaller value as a gain of a metric that is minimised", function()
  mr.metrics.define("mean_relevant_rank", function(ranks, lists_)
    return lists_:mean(ranks * lists_.relevance:double())
  end, { direction = "minimize" })
  local ours, theirs = evaluated(good, { "mean_relevant_rank" }), evaluated(bad, { "mean_relevant_rank" })
  local found = mr.compare{ ours = ours, theirs = theirs }:gains()
  check(found.all.difference > 0 and found.all.better > found.all.worse)
end)

it("comparison:gains matches lists by name over folds and beside scores", function()
  local backwards = { "h", "g", "f", "e", "d", "c", "b", "a" }
  local other = lists_of(backwards)
  local folds = mr.compare{ ours = { evaluated(good), evaluated(good, nil, other) },
    theirs = { evaluated(bad), evaluated(bad, nil, other) } }:gains{ groups = 20 }
  -- lists c and d are averaged over folds: they have 1 relevant row in one fold and 2 in the other
  equal(folds.groups[1].relevant, { 1.5, 1.5 })
  local scores = mr.data.scored(evaluated(bad)._lists.relevance * -1, lists)
  local mixed = mr.compare{ ours = evaluated(good), theirs = scores, qrels = lists }:gains{ groups = 2 }
  equal({ mixed.groups[1].lists, mixed.groups[2].lists }, { 4, 4 })
end)

it("comparison:gains counts the judged documents of TREC runs, also if the runs were evaluated before", function()
  local paths = { os.tmpname(), os.tmpname() }
  io.open(paths[1], "w"):write("1 Q0 1 1 9 t\n1 Q0 3 2 8 t\n2 Q0 1 1 9 t\n2 Q0 2 2 8 t\n"):close()
  io.open(paths[2], "w"):write("1 Q0 3 1 9 t\n1 Q0 2 2 8 t\n2 Q0 3 1 9 t\n"):close()
  local a, b = mr.data.trec_run(paths[1]), mr.data.trec_run(paths[2])
  for _, path in ipairs(paths) do os.remove(path) end
  local judged = mr.lists{ { 1, 1, 0, 0 }, { 1, 0, 1, 0 } }
  local of_runs = mr.compare{ a = a, b = b, qrels = judged, metrics = { "ap" } }
  local of_evaluations = mr.compare{ a = a:evaluate(judged, { "ap" }), b = b:evaluate(judged, { "ap" }) }
  for _, comparison in ipairs{ of_runs, of_evaluations } do
    local groups = comparison:gains{ groups = 1, by = "both" }.groups
    equal({ #groups, groups[1].relevant, groups[1].rows }, { 1, { 2, 2 }, { 4, 4 } })
  end
end)

it("comparison:gains refuses what it cannot compare", function()
  local comparison = mr.compare{ a = evaluated(good), b = evaluated(bad), c = evaluated({}) }
  raises(function() comparison:gains() end, "system", "nil")
  raises(function() comparison:gains{ system = "a" } end, "other", "nil")
  raises(function() comparison:gains{ system = "a", other = "a" } end, "'a'", "other")
  raises(function() comparison:gains{ system = "a", other = "d" } end, "other", "'d'")
  raises(function() comparison:gains{ system = "a", other = "b", metric = "ap" } end, "metric", "'ap'")
  raises(function() comparison:gains{ system = "a", other = "b", by = "grades" } end, "by", "grades")
  equal(comparison:gains{ system = "c", other = "b" }.system, "c")
end)
