-- Tests tables and figures of the thesis that read the stored runs of Table 5.1: what they compute from made-up
-- studies. Expected results are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local made = dofile "tests/support/made_studies.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near
local losses, bounds, kinds, study_of, by_key, set = made.losses, made.bounds, made.kinds, made.study_of,
  made.by_key, made.set
local all_alike, ten_of_twelve = made.all_alike, made.ten_of_twelve

local usual = 0.5 + 6.5 / 64  -- the mean value of twelve users without a bound

-- Returns the section of a script, without drawing its figure.
local function section_of(name, words, patches)
  patches.experiment = function(experiment)
    local finish = experiment.finish
    rawset(experiment, "finish", function(args, _, ...) return finish(args, nil, ...) end)
  end
  return in_process.section(("scripts/thesis/%s.lua"):format(name), words, patches)
end

-- Made-up changes under bounds: all users gain, all lose, or ten of twelve gain. Under other bounds nothing changes.
local shift = { minmax = "gain", expectation = "lose", expectation_max = "mixed" }

-- Returns replacements of modules for the scripts of Figures 5.1 to 5.10: made-up runs on MovieLens at one NSR and on
-- MQ2008 at label 2. User u has u relevant items. Under the distribution bound only the three users with the lowest
-- values gain. Queries lose more than users.
local function figure_runs(folder)
  return { beside = function(runs)
    rawset(runs, "set",
      function(_, name)
        return name == "movielens" and set or { title = "queries", setting = "label", units = "queries" }
      end)
    rawset(runs, "of", function(_, name, seed)
      local space = { loss = mr.choice(losses), bound = mr.choice(bounds) }
      space[name == "movielens" and "nsr" or "label"] = mr.choice(name == "movielens" and { 1 } or { 2, 1 })
      return study_of(folder, ("%s %d"):format(name, seed), space, function(trial, user)
        local change = trial.bound == "distribution" and (user <= 3 and 1 / 64 or 0)
          or kinds[shift[trial.bound] or "same"](user)
          * (name == "mq2008" and trial.bound == "expectation" and 1.5 or 1)
        return { own = 0.5 + user / 64 + change + (name == "mq2008" and trial.label == 1 and 1 or 0), relevant = user }
      end, function(trial)
        local found = {}
        for k = 1, runs.deepest do
          found["ndcg@" .. k] = 1 / k + trial.split / 8 + (trial.bound == "minmax" and 0.25 or 0)
            + (trial.loss == "nrbp" and 0.5 or 0)
        end
        return found
      end)
    end)
  end }
end

it("figure_5_1.lua shows the mean of nDCG@k over folds", function()
  local folder = sweeps.new_folder()
  local rows = by_key(in_process.records(section_of("figure_5_1", {}, figure_runs(folder)).tables[1]),
    "data", "loss", "bound")
  local free, minmax = rows["made, NSR 1 AP none"], rows["queries, label 2 AP minmax"]
  near({ free["nDCG@1"], free["nDCG@5"], free["nDCG@10"], free["nDCG@50"] },
    { 1 + 3 / 16, 1 / 5 + 3 / 16, 1 / 10 + 3 / 16, 1 / 50 + 3 / 16 }, 1e-6)
  near({ minmax["nDCG@1"], rows["made, NSR 1 nRBP none"]["nDCG@1"] }, { 1.25 + 3 / 16, 1.5 + 3 / 16 }, 1e-6)
end)

it("figure_5_3.lua shows the tenth percentile, median and mean of all lists, with and without a bound", function()
  local folder = sweeps.new_folder()
  local section = section_of("figure_5_3", {}, figure_runs(folder))
  local rows = by_key(in_process.records(section.tables[1]), "data", "bound")
  local mixed, lost = rows["made, NSR 1 expectation_max"], rows["queries, label 2 expectation"]
  -- 24 lists, two of each user, sorted by value: the third has the second lowest value, the twelfth the sixth lowest.
  -- Under the bound, users 1, 2, 3, 11, 4 and 12 have the lowest values.
  near({ mixed["10 %, none"], mixed["median, none"], mixed["10 %"], mixed.median },
    { 0.5 + 2 / 64, 0.5 + 6 / 64, 0.5 + 6 / 64, 0.5 + 8 / 64 }, 1e-6)
  near({ mixed["change of mean"], lost["change of mean"], lost["10 %"] },
    { 1 / 24, -3 / 16, 0.5 + 2 / 64 - 3 / 16 }, 1e-6)
  equal({ mixed.lists, mixed.skipped }, { 24, 0 })
  -- of ten cells (five bounds, two data sets), six have a higher tenth percentile and a higher mean; the distribution
  -- bound does not change the median. The largest change of the mean is a loss.
  local counts = in_process.numbers(section.text:match "lowest tenth(.+)")
  equal({ counts[1], counts[2], counts[3], counts[4] }, { 6, 10, 6, -0.1875 })
end)

it("figure_5_3.lua shades where a bound leaves fewer lists with low scores", function()
  local ecdf, shades = mr.plot.ecdf, {}
  rawset(mr.plot, "ecdf", function(o)
    shades[o.ylabel] = shades[o.ylabel] or o.shade  -- the first column is MovieLens
    return ecdf(o)
  end)
  local ok, problem = pcall(section_of, "figure_5_3", {}, figure_runs(sweeps.new_folder()))
  rawset(mr.plot, "ecdf", ecdf)
  check(ok, problem)
  -- with a gain of 1/8 for all users, the distribution is better from the lowest value without a bound to the highest
  -- one with it; with a loss it is better nowhere
  local gain = shades.minmax
  near({ gain[1].from, gain[#gain].to, #shades.expectation }, { 0.5 + 1 / 64, 0.5 + 12 / 64 + 1 / 8, 0 }, 1e-6)
end)

it("figure_5_6.lua shows correlation, mean change and its deviation, wins and losses by user", function()
  local folder = sweeps.new_folder()
  local rows =
    by_key(in_process.records(section_of("figure_5_6", {}, figure_runs(folder)).tables[1]), "data", "bound")
  local mixed, gain = rows["made, NSR 1 expectation_max"], rows["made, NSR 1 minmax"]
  -- In units of 1/64: the values of users 1 to 12 have the sum of squares 143 about their mean, and their changes of 4
  -- and -4 have 320 / 3. The sum of products is -80.
  near({ mixed.correlation, gain.correlation }, { (143 - 80) / math.sqrt(143 * (143 + 320 / 3 - 160)), 1 }, 1e-6)
  near({ mixed.change, mixed["sd of change"], gain.change }, { 1 / 24, math.sqrt(320 / 3 / 11) / 64, 1 / 8 }, 1e-6)
  near({ mixed.better, mixed.worse, gain.better }, { 10 / 12, 2 / 12, 1 }, 1e-9)
  equal(mixed["users or queries"], 12)
end)

it("figure_5_9.lua fits changes where users have few and many relevant items, with intervals", function()
  local folder = sweeps.new_folder()
  local section = section_of("figure_5_9", {}, figure_runs(folder))
  local rows = by_key(in_process.records(section.tables[1]), "data", "bound")
  local gain, mixed = rows["made, NSR 1 minmax"], rows["made, NSR 1 expectation_max"]
  equal({ gain.few, gain.many, gain["users or queries"] }, { "2", "11", 12 })
  near(in_process.numbers(gain["change there (95 %)"]), { 1 / 8, 1 / 8, 1 / 8 }, 1e-4)
  -- users with few relevant items gain 1/16, users with many lose 1/16
  local few, many = in_process.numbers(mixed["change there (95 %)"])[1], in_process.numbers(mixed["change there"])[1]
  check(few > 0.05 and many < 0.02, few .. " " .. many)
end)

it("optimisers.lua compares SGD with Adam and bounds under each, with Holm, and rates near the best", function()
  local folder = sweeps.new_folder()
  local section = section_of("optimisers", { "--sets", "movielens" }, {
    beside = function(runs) rawset(runs, "set", function() return set end) end,
    descent = function(descent)
      rawset(descent, "study", function()
        local space = { loss = mr.choice(losses), bound = mr.choice{ table.unpack(bounds, 1, 5) },
          optimiser = mr.choice{ "adam", "sgd" } }
        local best, tuned = {}, {}
        for _, loss in ipairs(losses) do
          for b = 1, 5 do
            local adam, sgd = descent.key("adam", loss, bounds[b]), descent.key("sgd", loss, bounds[b])
            -- odd exponents (half steps) are not powers of ten; one of three powers of ten is within 0.01 of the best
            best[adam], tuned[adam] = -3, { [-6] = 0.5, [-4] = 0.895, [-3] = 0.9, [-2] = 0.85 }
            best[sgd], tuned[sgd] = 4, { [0] = 0.1, [2] = 0.295, [4] = 0.3 }
          end
        end
        return study_of(folder, "optimisers", space, function(trial, user)
          -- with SGD, min-max bounding lowers the nRBP loss' results
          local opposite = trial.optimiser == "sgd" and trial.loss == "nrbp" and trial.bound == "minmax"
          local change = kinds[opposite and "lose" or shift[trial.bound] or "same"](user)
          local ahead = trial.optimiser == "sgd"
            and kinds[trial.loss == "ap" and "mixed" or "gain"](user) * (opposite and 3 or 1) or 0
          return { own = 0.5 + user / 64 + change + ahead }
        end, function(trial) return { epoch = 10 * trial.split + (trial.optimiser == "sgd" and 100 or 0) } end),
          best, tuned
      end)
    end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "bound")
  local mixed, gain = rows["AP none"], rows["nDCG none"]
  near({ gain.Adam, gain.SGD, gain["SGD - Adam"], mixed["SGD - Adam"] },
    { usual, usual + 1 / 8, 1 / 8, 1 / 24 }, 1e-6)
  -- 15 comparisons of optimizers in Holm's correction: ten have the smallest possible p-value, five are ten users of
  -- twelve
  near({ gain.p, mixed.p }, { 15 * all_alike, 5 * ten_of_twelve }, 1e-6)
  -- 12 changes with Adam in Holm's correction: six have the smallest possible p-value, three are ten users of twelve
  local minmax, emax = rows["nRBP minmax"], rows["AP expectation_max"]
  near({ minmax["change, Adam"], minmax["change, SGD"], emax["change, SGD"] }, { 1 / 8, 1 / 8, 1 / 24 }, 1e-6)
  near({ minmax["p, Adam"], emax["p, Adam"], emax["p, SGD"] },
    { 12 * all_alike, 6 * ten_of_twelve, 6 * ten_of_twelve }, 1e-6)
  equal({ gain["p, Adam"], gain["change, SGD"] }, {})
  local rates = in_process.records(section.tables[2])[1]
  equal({ rates["rate, Adam"], rates["near the best, Adam"], rates["epoch, Adam"] }, { "0.032", "1 of 3", "15" })
  equal({ rates["rate, SGD"], rates["near the best, SGD"], rates["epoch, SGD"] }, { "100 (edge)", "2 of 3", "115" })
  -- SGD is better in all 15 cells, significantly in ten; nine of 12 changes have the same sign with both optimizers,
  -- and the others are 0
  local counts = in_process.numbers(section.text:match "On made(.+)")
  equal(table.move(counts, 1, 6, 1, {}), { 15, 15, 10, 9, 12, 0 })
end)

it("better_reference.lua compares with beta 0 and with no bound, with Holm over each column", function()
  local folder = sweeps.new_folder()
  local by_beta = { [0.5] = "gain", [1] = "mixed", [2] = "lose" }
  local section = section_of("better_reference", { "--smoke" }, { better = function(better)
    rawset(better, "studies", function()
      local names, kind_of = { "none" }, {}
      for _, form in ipairs(better.forms) do
        for _, beta in ipairs(better.betas) do
          names[#names + 1] = better.bound(form, beta)
          kind_of[names[#names]] = form == "distribution" and by_beta[beta] or beta > 0 and "gain" or "same"
        end
      end
      local space = { loss = mr.choice(losses), bound = mr.choice(names) }
      return { { set = set, value = 1, results = study_of(folder, "better", space, function(trial, user)
        local skewed = user == 12 and 1 / 4 or 0  -- so that the mean is not the median
        return { own = 0.5 + user / 64 + skewed
          + (trial.bound == "none" and 1 / 32 or kinds[kind_of[trial.bound]](user)) }
      end) } }
    end)
  end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "bound", "beta")
  local zero, half, one = rows["AP distribution 0"], rows["AP distribution 0.5"], rows["AP distribution 1"]
  near({ zero.mean, half["against beta 0"], one["against beta 0"], half["against no bound"] },
    { usual + 1 / 48, 1 / 8, 1 / 24, 3 / 32 }, 1e-6)
  equal({ zero["against beta 0"], zero["p, beta 0"] }, { "", "" })
  near(zero["against no bound"], -1 / 32, 1e-6)
  -- of 18 changes against beta 0, 15 have the smallest possible p-value and three are ten users of twelve; of 24
  -- against no bound, 21 have the smallest one
  near({ half["p, beta 0"], one["p, beta 0"], half["p, no bound"] },
    { 18 * all_alike, 3 * ten_of_twelve, 24 * all_alike }, 1e-6)
  -- against beta 0, 12 of 18 changes are significantly better and 3 worse; against no bound, 12 of 24 are better and 9
  -- worse
  local counts = in_process.numbers(section.text:match "Of the changes(.+)")
  equal(table.move(counts, 1, 7, 1, {}), { 0, 12, 18, 3, 12, 24, 9 })
end)

it("sizes.lua shows the best size without a bound, its gain, and the best bound at each size", function()
  local folder = sweeps.new_folder()
  local own = { title = "made", setting = "nsr", values = { 1 }, tuning = 1, size = 8, sizes = { 4, 8 } }
  local section = section_of("sizes", {}, { beside = function(runs)
    rawset(runs, "set", function() return own end)
    rawset(runs, "sweep", function()
      return mr.sweep{ name = "sizes", store = folder .. "/r.db", workers = 0, metric = "valid", progress = false,
        direction = "maximize", space = { loss = mr.choice(losses), bound = mr.choice{ "none", "minmax" },
        split = mr.range(1, 2), size = mr.choice{ 4, 8 } }, run = function(trial)
          -- the AP loss is best with 4 factors, other losses with 8; a bound helps only with 4
          local more = (trial.size == 4) == (trial.loss == "ap") and 0.25 or 0
          local bound = trial.bound == "minmax" and (trial.size == 4 and 0.125 or -0.125) or 0
          return { valid = 0.25 + more + bound + trial.split / 8, own = -more }
        end }
    end)
  end })
  local ap, ndcg = section.text:match "The AP loss([^\n]+)", section.text:match "The nDCG loss([^\n]+)"
  equal({ in_process.numbers(ap), in_process.numbers(ndcg) }, { { 4, 0.25, 8, 4, 8 }, { 8, 4, 8 } })
  check(ap:find "minmax at 4" and ap:find "none at 8", ap)
end)

it("all_pairs.lua shows every loss by every metric, and counts losses that win by another's metric", function()
  local folder = sweeps.new_folder()
  local section = section_of("all_pairs", {}, { beside = function(runs)
    rawset(runs, "set", function() return set end)
    rawset(runs, "of", function()
      local space = { loss = mr.choice(losses), bound = mr.choice(bounds), nsr = mr.choice{ 1 } }
      return study_of(folder, "pairs", space, function(trial, user)
        -- by nDCG the AP loss is best, except under minmax, and ties under expectation; by other metrics, the loss
        -- of that metric is best
        local own = ({ minmax = 0.375, expectation = 0.25 })[trial.bound] or 0.125
        local ndcg = trial.loss == "ap" and 0.25 or trial.loss == "ndcg" and own or 0
        return { ndcg = user / 64 + ndcg, ap = user / 64 + (trial.loss == "ap" and 0.5 or 0), rr = user / 32,
          ["nrbp(0.95)"] = user / 64 + (trial.loss == "nrbp" and 0.375 or 0) }
      end)
    end)
  end })
  local rows = by_key(in_process.records(section.tables[1]), "bound", "trained on")
  local function of(loss, metric) return in_process.numbers(rows["none " .. loss][metric]) end
  near(of("nDCG", "nDCG"), { 6.5 / 64 + 0.125 }, 1e-4)
  near(of("AP", "nDCG"), { 6.5 / 64 + 0.25, 0.125 }, 1e-4)
  near(of("nDCG", "AP"), { 6.5 / 64, -0.5 }, 1e-4)
  near(of("nDCG", "nRBP(0.95)"), { 6.5 / 64, -0.375 }, 1e-4)
  near(rows["none AP"].RR, 6.5 / 32, 1e-6)
  local counts = in_process.numbers(section.text)
  -- of 42 comparisons (six pairs of a loss and another metric under seven bounds), five: one under each bound but
  -- minmax and expectation
  equal({ counts[1], counts[2] }, { 5, 42 })
end)

it("why_distribution_fails.lua shows lists without a gradient, changes with Holm, and where lists start", function()
  local folder = sweeps.new_folder()
  local section = section_of("why_distribution_fails", {}, {
    beside = function(runs) rawset(runs, "set", function() return set end) end,
    silence = function(silence)
      rawset(silence, "study", function()
        local shifts = { thesis = "lose", exact = "mixed", distribution_log = "gain", distribution_logit = "same" }
        return study_of(folder, "silence", { bound = mr.choice(silence.bounds), nsr = mr.choice{ 1 } },
          function(trial, user)
            local start = trial.bound == "none" and user / 16 or nil
            return { own = 0.5 + user / 64 + kinds[shifts[trial.bound] or "same"](user),
              start_ndcg = start and (user <= 3 and 0 or start), start_ap = start, start_nrbp = start }
          end, function(trial)
          for epoch = 0, 2 do
            local late = trial.bound == "distribution_log" and epoch == 2 and 1 / 8 or 0
            trial:report(epoch, { silent = trial.bound == "thesis" and (trial.split + epoch) / 8 or late })
          end
          return { own = 0.5 + trial.split / 8 }
        end)
      end)
    end })
  local rows = by_key(in_process.records(section.tables[1]), "bound")
  local thesis, exact, log = rows["distribution (thesis)"], rows["distribution, exact"], rows.distribution_log
  near({ thesis.nDCG, thesis["sd of folds"], thesis.change, exact.change },
    { 0.5 + 3 / 16, 1 / 8 / math.sqrt(2), -1 / 8, 1 / 24 }, 1e-6)
  near({ thesis["silent at start"], thesis["after 1"], thesis["at the end"], log["at the end"] },
    { 3 / 16, 5 / 16, 7 / 16, 1 / 8 }, 1e-6)
  -- in per cent: least and largest under the thesis' bound before training and at its end, then the largest under the
  -- logarithm and the logit
  equal(in_process.numbers(section.text:match "gradient%. (.+)"), { 19, 19, 44, 44, 0, 12.5 })
  -- 4 comparisons in Holm's correction: two have the smallest possible p-value, one is ten users of twelve
  near({ thesis["p, Holm"], exact["p, Holm"] }, { 4 * all_alike, 2 * ten_of_twelve }, 1e-6)
  equal({ thesis.users, rows.none.change }, { 12 })
  local places = by_key(in_process.records(section.tables[2]), "metric")
  near({ places.nDCG["share below 1e-6"], places.AP["share below 1e-6"] }, { 3 / 12, 0 }, 1e-9)
  check(math.abs(places.AP.median - 6.5 / 16) <= 0.5 / 16 and places.nDCG["10 %"] == 0, "quantiles")
end)

-- Returns the section of why_curves_differ.lua from made-up runs. User u has u relevant rows of 12, and an nDCG@k of
-- value(name, thinned, k) + u / 64 on a data set.
local function curves_section(draws, value)
  local folder = sweeps.new_folder()
  return section_of("why_curves_differ", { "--draws", draws }, {
    beside = function(runs)
      rawset(runs, "set", function(_, name)
        return { title = name, head = "label", setting = name == "movielens" and "nsr" or "label",
          values = name == "movielens" and { 1 } or { 2, 1 } }
      end)
    end,
    cutoffs = function(cutoffs)
      rawset(cutoffs, "study", function(_, name)
        local space =
          { [name == "movielens" and "nsr" or "label"] = mr.choice(name == "movielens" and { 1 } or { 2, 1 }) }
        if name == "mq2008" then space.draw = mr.choice{ 1, 2, 3 } end  -- gives MQ2008 three times as many runs
        return study_of(folder, name, space, function(_, user)
          local found = { rows = 12, relevant = user, auc = name == "movielens" and 0.75 or 0.9,
            ["thinned rows"] = 12, ["thinned relevant"] = user, ["thinned auc"] = 0.625 }
          for k = 1, 10 do
            found["ndcg@" .. k] = value(name, false, k) + user / 64
            found["thinned ndcg@" .. k] = value(name, true, k) + user / 64
          end
          return found
        end)
      end)
    end })
end

it("why_curves_differ.lua gives its answer only where the numbers have it", function()
  local function numbers(value) return #in_process.numbers(curves_section("50", value).text) end
  local function all_fall(_, _, k) return 1 / k end
  -- the answer has more numbers: nDCG@1 of the trained and of a made ranker, and the latter's change
  local without = numbers(all_fall)
  check(numbers(function(name, thinned, k) return name == "movielens" and not thinned and 1 / k or k / 10 end)
    >= without + 3)
  equal(numbers(function(name, thinned, k) return (name == "movielens" or thinned) and 1 / k or k / 10 end), without)
  equal(numbers(function(_, _, k) return k / 10 end), without)
end)

it("why_curves_differ.lua takes the change apart by lists with k relevant rows, and shows strata and AUC", function()
  local section = curves_section("2000", function(_, _, k) return 1 / k end)
  local row = in_process.records(section.tables[1])[1]
  -- user 12's lists have only relevant rows and are skipped; users 1 to 11 have one to eleven relevant rows
  local with = 0
  for k = 2, 10 do with = with + (12 - k) / 11 * (1 / k - 1 / (k - 1)) end
  equal(row.lists, 22)
  near({ row["nDCG@1"], row.change, row["by lists with k"], row["by lists with fewer"], row["fewer than 5"] },
    { 1 + 6 / 64, -0.9, with, -0.9 - with, 4 / 11 }, 1e-6)
  local strata = in_process.records(section.tables[2])
  equal({ strata[1].lists, strata[2].lists, strata[3].lists, strata[4].lists }, { 2, 6, 10, 4 })
  equal({ strata[1]["relevant rows"], strata[2]["relevant rows"], strata[4]["relevant rows"] },
    { "1", "2 to 4", "10 or more" })
  -- training runs behind each row: those of its data and setting; none behind random or simulated rankers
  local function runs_of(t, r, column) return section.cells[t].runs(section.tables[t].rows[r], column) end
  equal({ runs_of(1, 1, "nDCG@1"), runs_of(1, 2, "nDCG@1"), runs_of(1, 1, "random @1"), runs_of(2, 1, "nDCG@1") },
    { 2, 6, 0, 2 })
  equal({ runs_of(3, 1, "AUC"), runs_of(3, 2, "AUC"), runs_of(3, 3, "AUC"), runs_of(3, 4, "AUC") }, { 2, 2, 6, 0 })
  local exchanged = in_process.records(section.tables[3])
  near({ exchanged[1].AUC, exchanged[2].AUC }, { 0.75, 0.625 }, 1e-9)
  -- Simulated rankers with the AUC of MovieLens, 0.75, and of MQ2008, 0.9, on lists of both shapes: each relevant row
  -- has three or nine times the weight w of another row. One of the P relevant rows of 12 is first with probability
  -- wP / (wP + 12 - P). 44,000 rankings have this mean within 0.002.
  for i, auc in pairs{ [4] = 0.75, [5] = 0.75, [6] = 0.9, [7] = 0.9 } do
    local weight, first = auc / (1 - auc), 0
    for p = 1, 11 do first = first + weight * p / (weight * p + 12 - p) / 11 end
    near({ exchanged[i].AUC, exchanged[i]["nDCG@1"] }, { auc, first }, 0.008)
  end
end)
