-- Tests scripts of the thesis that compare bounds or NSR beside Table 5.1, on made-up runs: which values are compared,
-- Holm's correction, and what is counted. Expected results are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

local made = dofile "tests/support/made_studies.lua"
local losses, bounds, kinds, study_of, by_key, set = made.losses, made.bounds, made.kinds, made.study_of,
  made.by_key, made.set
local all_alike, ten_of_twelve = made.all_alike, made.ten_of_twelve

-- Made-up effects for the claim that one bound (distribution_logit) is best, as the gain of that bound over each other
-- one. With nDCG it is far better than all. With AP one comparison is mixed (better for ten of twelve users). With nRBP
-- one bound is better than it and one equal.
local below = {
  ndcg = { none = "gain", minmax = "gain", expectation = "gain", expectation_max = "gain", distribution = "gain" },
  ap = { none = "gain", minmax = "mixed", expectation = "gain", expectation_max = "gain", distribution = "gain" },
  nrbp = { none = "gain", minmax = "same", expectation = "lose", expectation_max = "gain", distribution = "gain" },
}

it("claim.lua says that a claim holds if all five changes are significant by Holm over the data set", function()
  local folder = sweeps.new_folder()
  local asked = {}
  local section = in_process.section("scripts/thesis/claim.lua", { "--sets", "movielens" }, { beside = function(runs)
    rawset(runs, "set", function() return set end)
    rawset(runs, "of", function(_, name, seed)
      asked[#asked + 1] = ("%s %d"):format(name, seed)
      local space = { loss = mr.choice(losses), bound = mr.choice(bounds), nsr = mr.choice{ 1 } }
      return study_of(folder, "seed " .. seed, space, function(trial, user)
        local kind = below[trial.loss][trial.bound]
        return { own = 0.5 + user / 64 + (seed == 1 and 1 or -1) / 32 - (kind and kinds[kind](user) or 0) }
      end, function(trial)
        -- means of six trials: distribution_logit is better than the other bounds in four, equal in one and worse in
        -- one
        local first, last = seed == 1 and trial.split == 1, seed == 3 and trial.split == 2
        return { own = trial.bound == "distribution_logit" and (first and 0.4 or last and 0.5 or 0.6) or 0.5 }
      end)
    end)
  end })
  equal(asked, { "movielens 1", "movielens 2", "movielens 3" })  -- these three seeds are the default
  local verdicts = by_key(in_process.records(section.tables[1]), "loss")
  local function verdict(loss)
    local row = verdicts[loss]
    return { row["better than"], row.significantly, row["worse than"], row["significantly worse"], row["the claim"] }
  end
  equal(verdict "nDCG", { 5, 5, 0, 0, "holds" })
  -- one of five comparisons is not significant: p = 0.039 before Holm's correction
  equal(verdict "AP", { 5, 4, 0, 0, "in the mean only" })
  equal(verdict "nRBP", { 3, 3, 1, 1, "contradicted" })
  local all = by_key(in_process.records(section.tables[2]), "loss", "against")
  local mixed, lost = all["AP minmax"], all["nRBP expectation"]
  near({ mixed.change, mixed.mean - mixed["its mean"], mixed.p }, { 1 / 24, 1 / 24, ten_of_twelve }, 1e-6)
  -- 15 comparisons in Holm's correction: thirteen have the smallest possible p-value; the last two are ten users of
  -- twelve, and equal values
  near({ lost.change, lost.p, lost["p, Holm"], mixed["p, Holm"] },
    { -1 / 8, all_alike, 15 * all_alike, 2 * ten_of_twelve }, 1e-6)
  equal({ mixed["users or queries"], mixed.wins, mixed.runs, all["nRBP minmax"].change },
    { 12, 10 / 12, "4 of 6", 0.0 })
  local counts = {}
  for _, x in ipairs(in_process.numbers(section.finding)) do counts[#counts + 1] = x end
  equal(counts, { 1, 3, 1 })
  -- expectation and expectation-max bounding of nRBP differ by 0.25
  check(section.text:find("made 0.25", 1, true), section.text)
end)

-- At NSR 1 all users gain by distribution_logit, at NSR 2 all lose. Expectation bounding of nRBP is 1/4 below
-- expectation-max bounding at NSR 2, and equal to it at NSR 1.
it("claim.lua compares bounds within each setting, and shows the largest distance of twins", function()
  local folder = sweeps.new_folder()
  local two = setmetatable({ values = { 1, 2 } }, { __index = set })
  local section = in_process.section("scripts/thesis/claim.lua", { "--sets", "movielens", "--seeds", "1" },
    { beside = function(runs)
      rawset(runs, "set", function() return two end)
      rawset(runs, "of", function()
        local space = { loss = mr.choice(losses), bound = mr.choice(bounds), nsr = mr.choice{ 1, 2 } }
        return study_of(folder, "settings", space, function(trial, user)
          local sign = trial.nsr == 1 and 1 or -1
          return { own = 0.5 + user / 64 + (trial.bound == "distribution_logit" and sign / 2 or 0)
            - (trial.nsr == 2 and trial.loss == "nrbp" and trial.bound == "expectation" and 1 / 4 or 0) }
        end, function() return { own = 0.5 } end)
      end)
    end })
  local verdicts = by_key(in_process.records(section.tables[1]), "setting", "loss")
  equal({ verdicts["NSR 1 AP"]["the claim"], verdicts["NSR 2 AP"]["the claim"], verdicts["NSR 2 AP"]["worse than"] },
    { "holds", "contradicted", 5 })
  local all = by_key(in_process.records(section.tables[2]), "setting", "loss", "against")
  near({ all["NSR 1 nRBP expectation"].change, all["NSR 2 nRBP expectation"].change }, { 1 / 2, -1 / 4 }, 1e-6)
  check(section.text:find("made 0.25", 1, true), section.text)
end)

it("nsr_shift.lua compares the largest NSR in training with the test's own, by user, with Holm", function()
  local there, why = pcall(mr.data.movielens, "ml-latest-small")
  if not there then return test.skip(why:match "[^\n]*") end
  local folder = sweeps.new_folder()
  -- Made-up effects of training at NSR 3: all users gain at test NSR 1, and ten of twelve at test NSR 2. With the nRBP
  -- loss, all users lose.
  local function value(loss, trained, tested, user)
    local kind = trained == 3 and (loss == "nrbp" and "lose" or tested == 1 and "gain" or tested == 2 and "mixed")
      or "same"
    return 0.5 + user / 64 - tested / 8 + (trained < tested and 1 / 32 or 0) + kinds[kind](user)
  end
  local section = in_process.section("scripts/thesis/nsr_shift.lua", {}, { thinning = function(thinning)
    rawset(thinning, "levels", function() return { 1, 2, 3 } end)
    rawset(thinning, "study", function()
      return study_of(folder, "shift", { loss = mr.choice(losses), bound = mr.choice(thinning.bounds),
        nsr = mr.choice{ 1, 2, 3 } }, function(trial, user)
          local found = {}
          for tested = 1, 3 do found["test_" .. tested] = value(trial.loss, trial.nsr, tested, user) end
          return found
        end)
    end)
  end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "bound", "test NSR")
  local usual = 0.5 + 6.5 / 64
  local one, two, three = rows["AP none 1"], rows["AP none 2"], rows["AP distribution_logit 3"]
  near({ one["trained at 1"], one["trained at 2"], one["trained at 3"] },
    { usual - 1 / 8, usual - 1 / 8, usual }, 1e-6)
  near({ two["trained at 1"], two["trained at 2"] }, { usual - 1 / 4 + 1 / 32, usual - 1 / 4 }, 1e-6)
  near({ one.change, one.p, two.change, two.p }, { 1 / 8, all_alike, 1 / 24, ten_of_twelve }, 1e-6)
  equal({ three.change, three.p, three["p, Holm"] }, {})
  -- 12 comparisons in Holm's correction: eight have the smallest possible p-value, and four are ten users of twelve
  near({ one["p, Holm"], two["p, Holm"] }, { 12 * all_alike, 4 * ten_of_twelve }, 1e-6)
  local counts = in_process.numbers(section.text)
  -- the text's counts: NSR 3 is significantly better in 4 comparisons (test NSR 1, two losses, two bounds), and worse
  -- in 4 (nRBP at both test NSRs, two bounds), of 12
  equal(counts, { 3, 4, 4, 12 })
end)

-- Made-up changes against no bound, by metric and bound. In nRBP(0.95), four bounds are better and one is worse. In
-- nRBP(0.9) all changes have the same signs. In nRBP(0.8) two signs differ.
local shifts = {
  ["nrbp(0.95)"] = { minmax = "gain", expectation = "lose", expectation_max = "mixed", distribution = "gain",
    distribution_log = "gain", distribution_logit = "same" },
  ["nrbp(0.9)"] = { minmax = "gain", expectation = "lose", expectation_max = "mixed", distribution = "gain",
    distribution_log = "gain", distribution_logit = "gain" },
  ["nrbp(0.8)"] = { minmax = "lose", expectation = "gain", expectation_max = "mixed", distribution = "gain",
    distribution_log = "gain", distribution_logit = "same" },
}

it("table_5_1_nrbp.lua shows changes by persistence with Holm, and their agreement with 0.95", function()
  local folder = sweeps.new_folder()
  local section = in_process.section("scripts/thesis/table_5_1_nrbp.lua", { "--sets", "movielens" }, {
    beside = function(runs) rawset(runs, "set", function() return set end) end,
    persistence = function(persistence)
      rawset(persistence, "study", function()
        return study_of(folder, "persistence",
          { loss = mr.choice(losses), bound = mr.choice(bounds), nsr = mr.choice{ 1 } }, function(trial, user)
            local found = {}
            for metric, by_bound in pairs(shifts) do
              local factor = trial.loss == "nrbp" and 1 or 2
              found[metric] =
                0.5 + user / 64 + (by_bound[trial.bound] and kinds[by_bound[trial.bound]](user) / factor or 0)
            end
            return found
          end, function(trial)
            -- one of four runs of each kind chooses the same epoch in all persistences; the others choose another epoch
            -- at 0.8 or at 0.9
            local second = trial.bound == "none" or trial.bound == "minmax"
            return { epoch_1 = 3, epoch_2 = second and 4 or 3, epoch_3 = trial.bound == "distribution" and 4 or 3 }
          end)
      end)
    end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "bound")
  local minmax, mixed = rows["nRBP minmax"], rows["nRBP expectation_max"]
  local usual = 0.5 + 6.5 / 64
  near({ minmax["nRBP(0.95)"], minmax["nRBP(0.8)"], minmax["change, nRBP(0.95)"], minmax["change, nRBP(0.8)"] },
    { usual + 1 / 8, usual - 1 / 8, 1 / 8, -1 / 8 }, 1e-6)
  near(rows["AP minmax"]["change, nRBP(0.95)"], 1 / 16, 1e-6)
  -- 18 changes of a column in Holm's correction: 12 or 15 have the smallest possible p-value, three are ten users of
  -- twelve, and at 0.95 and 0.8 three have equal values
  near({ minmax["p, nRBP(0.95)"], mixed["p, nRBP(0.95)"], mixed["p, nRBP(0.9)"], mixed["p, nRBP(0.8)"] },
    { 18 * all_alike, 6 * ten_of_twelve, 3 * ten_of_twelve, 6 * ten_of_twelve }, 1e-6)
  equal({ rows["nRBP none"]["change, nRBP(0.9)"], rows["nRBP none"]["p, nRBP(0.9)"] }, {})
  local agreement = by_key(in_process.records(section.tables[2]), "loss", "metric")
  local function of(metric)
    local row = agreement["nRBP " .. metric]
    return { row.changes, row["sign as at 0.95"], row.better, row.worse, row["significant as at 0.95"],
      row["opposite to 0.95"] }
  end
  -- a change with ten of twelve users is not significant after Holm's correction
  equal(of "nRBP(0.95)", { 6, 5, 3, 1, 4, 0 })
  equal(of "nRBP(0.9)", { 6, 5, 4, 1, 4, 0 })
  equal(of "nRBP(0.8)", { 6, 3, 3, 1, 2, 2 })
  -- ranks of the six changes at 0.95: 5, 1, 3, 5, 5, 2; at 0.9: 4.5, 1, 2, 4.5, 4.5, 4.5; at 0.8: 1, 5, 3, 5, 5, 2. All
  -- have the mean 3.5
  near(agreement["nRBP nRBP(0.95)"].correlation, 1, 1e-9)
  near(agreement["nRBP nRBP(0.9)"].correlation, 10 / math.sqrt(15.5 * 12.5), 1e-9)
  near(agreement["nRBP nRBP(0.8)"].correlation, -0.5 / 15.5, 1e-9)
  -- four of seven bounds choose the same epoch at all persistences (57 %). Of 36 changes, two of each of the three
  -- losses have opposite signs
  local counts = in_process.numbers(section.text:match "trained on nRBP, (.+)")
  equal({ counts[1], counts[2], counts[4], counts[5] }, { 5, 6, 3, 6 })
  check(section.text:find "6 of 36 changes" and section.text:find "57 %%", section.text)
end)

it("stronger_models.lua shows changes by bound for each model with Holm, and against the thesis' network", function()
  local folder = sweeps.new_folder()
  local section = in_process.section("scripts/thesis/stronger_models.lua", {}, { stronger = function(stronger)
    rawset(stronger, "extent", function() return 60, 2 end)
    rawset(stronger, "study", function()
      local best = {}
      for _, model in ipairs(stronger.names) do
        for l, loss in ipairs(losses) do best[model .. " " .. loss] = { rate = l / 10 } end
      end
      local space =
        { loss = mr.choice(losses), bound = mr.choice(stronger.bounds), model = mr.choice(stronger.names) }
      return study_of(folder, "stronger", space, function(trial, user)
          local kind = trial.bound == "minmax" and "gain" or trial.bound == "expectation" and "lose"
            or trial.bound == "distribution_logit" and "mixed" or "same"
          local own = trial.model == "linear" and -1 / 16 or trial.model == "46" and 0 or 1 / 32
          return { own = 0.5 + user / 64 + own + kinds[kind](user) }
        end), best
    end)
  end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "model")
  local linear, deep = rows["AP linear"], rows["AP 92-46-23"]
  local usual = 0.5 + 6.5 / 64
  near({ linear.rate, linear["no bound"], linear["against 46"], deep["against 46"] },
    { 0.2, usual - 1 / 16, -1 / 16, 1 / 32 }, 1e-6)
  near({ linear.minmax, linear.expectation, linear.distribution_logit }, { 1 / 8, -1 / 8, 1 / 24 }, 1e-6)
  -- 36 comparisons in Holm's correction: 24 have the smallest possible p-value, and twelve are ten users of twelve
  near({ linear["p, minmax"], linear["p, distribution_logit"] }, { 36 * all_alike, 12 * ten_of_twelve }, 1e-6)
  local counts = in_process.numbers(section.text:match "significantly(.+)")
  equal({ counts[1], counts[2], counts[3] }, { 12, 36, 12 })
end)

it("sampled_expectations.lua compares with the exact expectation, with Holm over the table", function()
  local folder = sweeps.new_folder()
  local part = mr.data.dataset{ lists = mr.lists{ { 1, 0, 0 }, { 1, 0, 0 }, { 0, 0 }, { 1, 1 } },
    users = mr.arange(1, 4):long(), items = mr.arange(1, 10):long() }
  local own = { title = "made", setting = "nsr", units = "users", fold = function() return { train = part } end }
  local section = in_process.section("scripts/thesis/sampled_expectations.lua", { "--sets", "movielens" }, {
    beside = function(runs) rawset(runs, "set", function() return own end) end,
    drawn = function(drawn)
      rawset(drawn, "samples", function() return { 0, 10, 100 } end)
      -- made-up sampled means are 10 % too large with 10 samples, else 5 % too small. The only lists whose order
      -- matters have three rows, one of them relevant
      rawset(drawn, "mean_of", function(metric, n, p, samples)
        equal({ n, p }, { 3, 1 })
        return mr.bounds.of(metric, { n = n, p = p }).expectation * (samples == 10 and 1.1 or 0.95)
      end)
      rawset(drawn, "study", function()
        return study_of(folder, "drawn", { loss = mr.choice(losses), bound = mr.choice(drawn.bounds),
          samples = mr.choice{ 0, 10, 100 } }, function(trial, user)
            local kind = trial.samples == 0 and "same" or trial.samples == 10 and "lose" or "mixed"
            return { own = 0.5 + user / 64 + kinds[kind](user) }
          end)
      end)
    end })
  local rows = by_key(in_process.records(section.tables[1]), "loss", "bound", "rankings")
  local few, many, exact = rows["AP expectation 10"], rows["AP expectation 100"], rows["AP expectation exact"]
  near({ few["mean error"], few["largest error"], many["largest error"] }, { 0.1, 0.1, 0.05 }, 1e-9)
  near({ few.change, few.p, many.change, many.p }, { -1 / 8, all_alike, 1 / 24, ten_of_twelve }, 1e-6)
  near({ few["p, Holm"], many["p, Holm"] }, { 12 * all_alike, 6 * ten_of_twelve }, 1e-6)
  equal({ exact.change, exact.p, exact["mean error"] }, {})
  near({ few.low, few.high }, { -1 / 8, -1 / 8 }, 1e-6)
  check(section.text:find "12 changes" and section.text:find("10 %", 1, true)
    and section.text:find("0.1250", 1, true), section.text)
end)
