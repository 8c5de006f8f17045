-- The sentences with numbers in the notes beside this file, as in ../claims.lua: `text` makes a sentence from cells of
-- a results file. A test compares them with the notes, and finds numbers of the notes that no sentence has.

local function least(values) return math.min(table.unpack(values)) end
local function largest(values) return math.max(table.unpack(values)) end

-- Counts the values for which has(value) is true.
local function count(values, has)
  local found = 0
  for _, value in ipairs(values) do found = found + (has(value) and 1 or 0) end
  return found
end

-- Returns the values of all rows that match one of several patterns.
local function joined(t, patterns, column, table_name)
  local found = {}
  for _, pattern in ipairs(patterns) do
    local own = t.all(pattern, column, table_name)
    table.move(own, 1, #own, #found + 1, found)
  end
  return found
end

-- Li and Wu ---------------------------------------------------------------------------------------------------------

local cmu = {
  { file = "cmu/table_1.csv", text = function(t)
    local printed = {}
    for i, name in ipairs{ "ranking; RankNet (SGD, 0.001)", "ranking; DirectRanker (SGD, 0.001)", "ranking; Rank LR",
      "classification; Class NN (SGD, 0.001)" } do
      printed[i] = t("MSLR slice; " .. name, "printed (WEB10K)")
    end
    return ([[
The numbers printed for networks and Rank LR (%.4f to %.4f, MSLR-WEB10K) are near that of a random ranking on the slice,
%.3f.]]):format(least(printed), largest(printed), t("MSLR slice; ; random ranking", "nDCG@10"))
  end },
  { file = "cmu/figure_1.csv", text = function(t, must)
    must(least(t.all("^MQ2008; .*; SGD, 0%.001$", "epoch")) == 60, "the last epoch is the best one")
    local best = t.all("; %w+, best rate$", "epoch")
    return ([[
At the paper's rate of 0.001 descent has not converged on MQ2008: the last of 60 epochs is the best one. At the best
rates, of descent and of Adam, it is epoch %d to %d in the mean]]):format(least(best), largest(best))
  end },
  { file = "cmu/table_1.csv", text = function(t, must)
    local function of(name, recipe)
      local kind = name == "Class NN" and "classification" or "ranking"
      return t(("MSLR slice; %s; %s (%s)"):format(kind, name, recipe), "nDCG@10")
    end
    local function rankers(recipe) return { of("RankNet", recipe), of("DirectRanker", recipe) } end
    must(of("Class NN", "SGD, 0.001") < least(rankers "SGD, 0.001"), "the classifier is last at the paper's rate")
    must(of("Class NN", "SGD, best rate") > largest(rankers "SGD, best rate"), "it is first at the best rate")
    return [[
On the slice the classifying network is the last of three at the paper's rate, and the first at the best rate of
descent.]]
  end },
  { file = "cmu/differences.csv", text = function(t, must)
    local pattern = "; ([%w ]+) %(Adam, best rate%); %1 %(SGD, best rate%)$"
    local ps, rows = t.all(pattern, "p, Holm")
    must(count(ps, function(p) return p < 0.05 end) == 1, "one difference is significant")
    local classifier = "MQ2008; Class NN (Adam, best rate); Class NN (SGD, best rate)"
    must(t(classifier, "p, Holm") < 0.05 and t(classifier, "a - b") < 0, "Adam is behind for the classifier")
    return ([[
At the best rates of both, one of %d differences is significant: on MQ2008 Adam is %.3f behind descent for the
classifying network (p = %.3f).]]):format(#rows, -t(classifier, "a - b"), t(classifier, "p, Holm"))
  end },
  { file = "cmu/table_1.csv", text = function(t)
    return ("The slice has %d test queries with relevant documents."):format(
      t("MSLR slice; classification; Class LR", "queries"))
  end },
}

-- The grid ----------------------------------------------------------------------------------------------------------

local grid = {
  { file = "grid/grid_mq2008.csv", text = function(t)
    return ("are of `moonrank scripts/grid/grid.lua --sets mq2008` under numerics version %s: %d losses, %d cells.")
      :format(t.numerics, #t.all("", "bounds", "Changes by loss"), #t.all("", "MLP, MQ2008", "All cells"))
  end },
}

-- The lecture -------------------------------------------------------------------------------------------------------

local lecture = {
  { file = "lecture/profit.csv", text = function(t)
    return ("Where rare films have the higher profits, it brings %.2f a user."):format(
      t("more for rare movies; relevance, times profit", "profit@10"))
  end },
  { file = "lecture/subset_ranking.csv", text = function(t, must)
    must(t("Subset Ranking", "ndcg@10") < t("regression of all rows", "ndcg@10"), "Subset Ranking stays below")
    return "`background/subset_ranking.lua` stays below a regression of all rows."
  end },
  { file = "lecture/listrank_mf.csv", text = function(t, must)
    must(t("ListRank-MF", "ndcg@10") < t("biased MF, squared errors", "ndcg@10"), "ListRank-MF stays below")
    return "`background/listrank_mf.lua` stays below squared errors with biases."
  end },
}

-- Tang, Lupău and Bonfanti ------------------------------------------------------------------------------------------

local old, new, now = "2026-11c (c074a2c3)", "2026-11d (8937a518)", "2026-11f"

-- Returns a function that reads cells about two trainings of equal seed, under 2026-11c and 2026-11d: pair(rate,
-- column). The rate "chosen" is that of validation.
local function pair_of(t, algorithm)
  return function(rate, column) return t(("%s; %s; %s; %s"):format(algorithm, old, new, rate), column) end
end

-- Returns a function that reads p of the mean over seeds, and the number of seeds, of a version's trainings.
local function over_seeds(t, algorithm)
  return function(version, column) return t(("%s; %s; as drawn"):format(version, algorithm), column) end
end

local function moved(words, algorithm)
  return function(t)
    local pair = pair_of(t, algorithm)
    local low, high = t.interval(("%s; %s; %s; chosen"):format(algorithm, old, new), "mean change")
    return words:format(pair("chosen", "mean change"), low, high, pair("chosen", "largest"))
  end
end

local objectives = {
  { file = "objectives/seeds.csv", text = moved([[
From 2026-11c to 2026-11d cells of equal seed change by %.4f (%.4f to %.4f) in the mean on MQ2008, and by up to
%.4f.]], "ApproxNDCGBatched") },
  { file = "objectives/seeds_mslr.csv", text = moved("On the slice it is %.4f (%.4f to %.4f), and up to %.4f.",
    "ApproxNDCGQbQ") },
  { file = "objectives/differences.csv", text = function(t)
    local on_mq2008 = "MQ2008: what was chosen, nDCG, and its change against MseNetBatched"
    return ("Seed 1 has %+.4f (p = %.3f after Holm's correction)."):format(
      t("ApproxNDCGBatched", "change", on_mq2008), t("ApproxNDCGBatched", "p", on_mq2008))
  end },
  { file = "objectives/seeds.csv", text = function(t, must)
    local of = over_seeds(t, "ApproxNDCGBatched")
    must(of(old, "seeds") == 20 and of(new, "seeds") == 20, "both versions have 20 seeds")
    return ([[
Over 20 seeds the mean under 2026-11d is %+.4f, and the largest of a seed %+.4f. The networks' mean over seeds, tested
by query, has p = %.3f (2026-11c), %.3f (2026-11d) and %.3f (2026-11f, %d seeds) on MQ2008, before any correction.]])
      :format(of(new, "change"), of(new, "largest change"), of(old, "p, mean of seeds"), of(new, "p, mean of seeds"),
        of(now, "p, mean of seeds"), of(now, "seeds"))
  end },
  { file = "objectives/seeds_mslr.csv", text = function(t)
    local of = over_seeds(t, "ApproxNDCGQbQ")
    return ("On the slice it is %.3f, %.3f and %.2f (%d seeds)."):format(of(old, "p, mean of seeds"),
      of(new, "p, mean of seeds"), of(now, "p, mean of seeds"), of(now, "seeds"))
  end },
  { file = "objectives/seeds.csv", text = function(t, must)
    local pair = pair_of(t, "ApproxNDCGBatched")
    local below = 0
    for _, rate in ipairs{ "0.0001", "0.001", "0.01" } do
      must(pair(rate, "differ") == 0, "trainings at small rates have the same bits")
      below = below + pair(rate, "trainings")
    end
    must(pair("0.1", "apart") == pair("0.1", "trainings"), "all trainings at 0.1 part")
    return ([[
At the rate 0.1 all %d trainings on MQ2008 part, by 0.001 of nDCG on validation in epoch %d (median). At rates up to
0.01 all %d have the same bits of the held-out loss.]]):format(pair("0.1", "apart"), pair("0.1", "median epoch apart"),
      below)
  end },
  { file = "objectives/seeds_mslr.csv", text = function(t, must)
    local pair = pair_of(t, "ApproxNDCGQbQ")
    must(pair("0.1", "apart") == pair("0.1", "trainings"), "all trainings at 0.1 part")
    must(pair("0.01", "differ") == 0 and pair("0.001", "differ") == 0 and pair("0.0001", "differ") == 0,
      "trainings at small rates have the same bits")
    return ("On the slice all %d part at 0.1, and none at lower rates."):format(pair("0.1", "apart"))
  end },
  { file = "objectives/seeds.csv", text = function(t, must)
    local function of(rate, column)
      return t(("ApproxNDCGBatched; %s; %s, last bit; %s"):format(now, now, rate), column)
    end
    must(of("0.1", "apart") == of("0.1", "trainings"), "all trainings at 0.1 part")
    must(of("0.0001", "apart") == 0 and of("0.001", "apart") == 0, "no training at small rates parts")
    return ([[
The last bit of one starting weight was changed (%d seeds of MQ2008, five folds). At the rate 0.01 then %d of %d
trainings come apart by 0.001 of nDCG on validation, in epoch %d (median). At 0.1 all %d do, in epoch %d. At 0.0001 and
0.001 none do. Trainings at 0.1 that have parted differ in test nDCG by as much as two seeds do (root mean square %.4f
and %.4f a fold).]]):format(t(now .. "; ApproxNDCGBatched; last bit", "seeds"), of("0.01", "apart"),
      of("0.01", "trainings"), of("0.01", "median epoch apart"), of("0.1", "apart"), of("0.1", "median epoch apart"),
      of("0.1", "root mean square"), of("0.1", "of two seeds"))
  end },
  { file = "objectives/seeds.csv", text = function(t)
    local pair = pair_of(t, "ApproxNDCGBatched")
    return ("From 2026-11c to 2026-11d, %d of %d choices on MQ2008 change."):format(pair("chosen", "differ"),
      pair("chosen", "trainings"))
  end },
  { file = "objectives/seeds_mslr.csv", text = function(t)
    local pair = pair_of(t, "ApproxNDCGQbQ")
    return ("On the slice %d of %d do."):format(pair("chosen", "differ"), pair("chosen", "trainings"))
  end },
}

-- Li, Urbano and Hanjalic -------------------------------------------------------------------------------------------

local less, models = "nDCG, less published", "All models"
local function is_near(difference) return math.abs(difference) <= 0.003 end

-- The published number of a model.
local function published(t, row) return t(row, "nDCG") - t(row, less) end

local published_lambda = "sigir21/citeulike_recipes_published_lambda.csv"

local sigir21 = {
  { file = "sigir21/citeulike_recipes_code_lambda.csv", text = function(t, must)
    for _, name in ipairs{ "nDCG", "AP", "nRBP%(0%.8%)", "nRBP%(0%.9%)", "nRBP%(0%.95%)" } do
      local low = joined(t, { "; " .. name .. "; rate 0%.001;", "; " .. name .. "; rate 0%.01;" }, less, models)
      must(largest(low) < 0, "models at low rates are below the published ones")
      must(least((t.all("; " .. name .. "; rate 0%.1;", less, models))) > 0, "models at the rate 0.1 are above")
    end
    return [[
All models but those of RR are below the published nDCG at the rates 0.001 and 0.01, after 120 epochs, and above it at
0.1.]]
  end },
  { file = "sigir21/citeulike_ndcg_ap_nrbp.csv", text = function(t, must)
    local first, second = t.all("^NSR 1;", less, models), t.all("^NSR 2;", less, models)
    local _, names = t.all("^NSR 2;", less, models)
    for i, name in ipairs(names) do
      local known = name:find "; AP; rate 0%.1;" or name:find "; nRBP; rate [13];"
      must(is_near(second[i]) or known, "the models that are not near are of AP and nRBP")
    end
    return ([[
Of listwise nDCG, AP and nRBP, %d of %d models are within 0.003 of the published nDCG at NSR 1 (negative sampling ratio
1), and %d of %d at NSR 2. The others of NSR 2 are models of AP at the rate 0.1 and of nRBP at the rates 1 and 3.]])
      :format(count(first, is_near), #first, count(second, is_near), #second)
  end },
  { file = "sigir21/citeulike_ndcg.csv", text = function(t)
    local all = t.all("", less, models)
    return ("At NSR 5, %d of %d models of nDCG are."):format(count(all, is_near), #all)
  end },
  { file = "sigir21/citeulike_nrbp.csv", text = function(t, must)
    local low = joined(t, { "; rate 0%.001;", "; rate 0%.01;", "; rate 0%.1;" }, less, models)
    must(count(low, is_near) == #low, "models of nRBP at low rates are near")
    return ("At the rates 0.001 to 0.1 all %d models of nRBP at NSR 5 are."):format(#low)
  end },
  { file = "sigir21/citeulike_ap.csv", text = function(t, must)
    local near = joined(t, { "; rate 1;", "; rate 3;" }, less, models)
    local low = joined(t, { "; rate 0%.001;", "; rate 0%.01;", "; rate 0%.1;" }, less, models)
    local high = t.all("; rate 10;", less, models)
    must(count(t.all("", less, models), is_near) == #near and count(near, is_near) == #near,
      "the models of the rates 1 and 3 are near")
    local late = joined(t, { "; rate 0%.001;", "; rate 0%.01;" }, "epoch", models)
    must(largest(low) < 0 and largest(late) == 3000, "models at low rates improve to the end")
    return ([[
Only the %d models of the rates 1 and 3 are within 0.003 of the published nDCG. At the rates 0.001 to 0.1 nDCG is %.3f
to %.3f lower than published, and at the rate 10 it is %.3f to %.3f higher. At 0.001 and 0.01 the best epoch is at
least %d of 3,000, so they would improve further.]]):format(#near, -largest(low), -least(low), least(high),
      largest(high), least(late))
  end },
  { file = published_lambda, text = function(t)
    local function of(fold) return ("NSR 1; lambda; nDCG; rate 0.1; fold %d"):format(fold) end
    return ([[
nDCG on folds 0 and 1 at NSR 1 is %.4f and %.4f after 120 epochs, and %.4f and %.4f published.]]):format(
      t(of(0), "nDCG"), t(of(1), "nDCG"), published(t, of(0)), published(t, of(1)))
  end },
  { file = "sigir21/citeulike_recipes_lambda.csv", text = function(t)
    local function of(fold) return ("NSR 1; lambda; nDCG; rate 0.1; fold %d"):format(fold) end
    local all = joined(t, { "; nDCG; rate", "; RR; rate", "; nRBP%(" }, less, models)
    return ([[
After one epoch it is %.4f and %.4f, and %d of the %d models of nDCG, RR and nRBP are within 0.003 of the published
nDCG. The others differ by up to %.4f.]]):format(t(of(0), "nDCG"), t(of(1), "nDCG"), count(all, is_near), #all,
      math.max(largest(all), -least(all)))
  end },
  { file = published_lambda, text = function(t)
    local all = joined(t, { "; nDCG; rate 0%.1;", "; AP; rate 0%.1;", "; nRBP%(0[.%d]+%); rate 0%.1;" }, less, models)
    return ([[
So its models of nDCG, AP and nRBP at this rate are %.2f to %.2f above the published numbers, and count as not near in
the table.]]):format(least(all), largest(all))
  end },
  { file = published_lambda, text = function(t)
    local row = "NSR 1; lambda; AP; rate 0.001; fold 0"
    return ([[
The recipe has all pairs: at the rate 0.001, NSR 1 and fold 0 they give an nDCG of %.4f, and %.4f is published.]])
      :format(t(row, "nDCG"), published(t, row))
  end },
  { file = "sigir21/citeulike_recipes_lambda.csv", text = function(t, must)
    must(least((t.all("; AP; rate 0%.1;", less, models))) > 0, "models of AP are above after one epoch")
    return "After one epoch at the rate 0.1 they are above the published numbers, too."
  end },
  { file = published_lambda, text = function(t)
    local lines = {}
    for i, name in ipairs{ "nRBP(0.8)", "nRBP(0.9)", "nRBP(0.95)" } do
      local function of(nsr) return ("NSR %d; lambda; %s; rate 0.001; fold 0"):format(nsr, name) end
      lines[i] = ("| %s | %.4f | %.4f | %.4f | %.4f |"):format(name, t(of(1), "nDCG"), published(t, of(1)),
        t(of(5), "nDCG"), published(t, of(5)))
    end
    return table.concat(lines, " ")
  end },
  { file = "sigir21/citeulike_rr.csv", text = function(t)
    local all, row = t.all("", less, models), "NSR 5; listwise; RR; rate 10; fold 0"
    return ([[
For this reason %d of %d models are within 0.003 of the published nDCG. At NSR 5 and the rate 10 their RR on fold 0 is
%.3f. Ours is %.3f.]]):format(count(all, is_near), #all, t(row, "RR") - t(row, "RR, less published"), t(row, "RR"))
  end },
}

-- The thesis --------------------------------------------------------------------------------------------------------

local thesis = {
  { file = "thesis/table_5_1_mq2008.csv", text = function(t, must)
    local function of(reading) return t(reading .. "; nDCG; none", "skipped") end
    must(of "highest" == 0, "each query has a highest label")
    local gaps = t.all("; nRBP; ", "difference")
    for _, row in ipairs{ "label 1; nDCG; none", "highest; nDCG; none", "label 1; AP; none" } do
      must(math.abs(t(row, "difference")) < 0.015, "the printed numbers are nearly met")
    end
    must(least(gaps) > 0, "nRBP is above the printed one")
    return ([[
Queries without relevant documents are left out: %d, %d and none of %d. The printed nDCG is nearly met by the second and
the third reading, the printed AP by the second. The printed nRBP is met by none: ours is %.2f to %.2f higher in every
reading, and the reason is unknown.]]):format(of "label 2", of "label 1", t("highest; nDCG; none", "lists"),
      least(gaps), largest(gaps))
  end },
  { file = "thesis/better_reference.csv", text = function(t, must)
    must(largest((t.all("^MovieLens; .*; nDCG; distribution; ", "against beta 0"))) < 0,
      "a better reference loses nDCG on MovieLens")
    must(least((t.all("^MQ2008; .*; nDCG; distribution; beta", "p, no bound"))) >= 0.05,
      "nothing is significant on MQ2008")
    return [[
With a reference that is better than random nDCG falls further on MovieLens, but not on MQ2008]]
  end },
  { file = "thesis/other_data_mslr_clueweb.csv", text = function(t)
    local function of(set) return t("label 1; nDCG; none", "lists", set) + t("label 1; nDCG; none", "skipped", set) end
    return ("the MSLR slice has %d test queries and ClueWeb09 has %d."):format(of "MSLR slice", of "ClueWeb09")
  end },
  { file = "thesis/sampled_expectations.csv", text = function(t)
    -- the largest change of the test metric on MQ2008, and the mean errors in percent, with so many rankings
    local function of(rankings)
      local pattern = ("^MQ2008; .*; rankings %d$"):format(rankings)
      local changes, errors = t.all(pattern, "change"), t.all(pattern, "mean error")
      return math.max(largest(changes), -least(changes)), 100 * least(errors), 100 * largest(errors)
    end
    local ten, low, high = of(10)
    local most, _, off = of(300000)
    return ([[
on MQ2008 300,000 rankings, with a mean error of at most %.2f %%, change a metric by up to %.4f. 10 rankings, with %.0f
to %.0f %%, change it by up to %.4f, and 1,000 by up to %.4f.]]):format(off, most, low, high, ten, (of(1000)))
  end },
  { file = "thesis/optimisers.csv", text = function(t, must)
    must(tonumber(t("MovieLens; nRBP; none", "epoch, SGD")) == 60, "the last epoch of descent is the best")
    return "on MovieLens nRBP without a bound still gains in the last of 60 epochs of descent."
  end },
}

local all = {}
for _, each in ipairs{ { "cmu", cmu }, { "grid", grid }, { "lecture", lecture }, { "objectives", objectives },
  { "sigir21", sigir21 }, { "thesis", thesis } } do
  for _, claim in ipairs(each[2]) do
    claim.notes = each[1]
    all[#all + 1] = claim
  end
end
return all
