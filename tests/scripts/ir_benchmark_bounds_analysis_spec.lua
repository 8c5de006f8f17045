-- The decisions and the analysis of scripts/ir_benchmark/bounds.lua, on made-up results of trainings. Answers are
-- worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local sweeps, in_process = dofile "tests/support/sweeps.lua", dofile "tests/support/in_process.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

-- Runs bounds.lua with made-up trainings: `value(o, user)` is the NDCG@20 of a user with the options `o` of
-- protocol.train. The chosen epoch is the length of the bound's name. There are 60 users. User u has 1 + u % 6 items in
-- train, and user 60 has none. Returns the section,
-- the options of all trainings, and the folders of the data sets by title.
local function made_up_trainings(words, value)
  local trained, folders = {}, {}
  local users, trainers, sizes = {}, {}, {}
  for u = 1, 60 do users[u] = u end
  for u = 59, 1, -1 do trainers[#trainers + 1], sizes[#sizes + 1] = u, 1 + u % 6 end  -- train has another order
  local function fold()
    return { train = { users = mr.tensor(trainers, { dtype = "int64" }), lists = { sizes = mr.tensor(sizes) } } }
  end
  local function patch(module)
    function module.open(title, folder)
      folders[title] = folder
      return { title = title, users = 60, items = 100 }
    end
    function module.train(set, o)
      trained[#trained + 1], o.title = o, set.title
      return { best = { metrics = { ["ndcg@20"] = 0.5 }, epoch = #o.bound } }, o, fold()
    end
    function module.test(_, o)
      local values = {}
      for u = 1, 60 do values[u] = value(o, u) end
      return { users = mr.tensor(users, { dtype = "int64" }), ["ndcg@20"] = mr.tensor(values, { dtype = "float64" }) }
    end
  end
  local store = sweeps.new_folder() .. "/runs.db"
  words = table.move({ "--store", store, "--workers", "0" }, 1, 4, #words + 1, table.move(words, 1, #words, 1, {}))
  return in_process.section("scripts/ir_benchmark/bounds.lua", words, { protocol = patch }), trained, folders
end

it("bounds.lua trains both losses under every bound with the published hyperparameters, for fewer epochs", function()
  local published = dofile "scripts/ir_benchmark/published.lua"
  local function settings_of(o)
    return { o.epochs, o.negatives, o.batch, o.seed, o.how.rate, o.how.tau, o.how.tau_beta or 0, o.how.every or 0 }
  end
  local _, trained, folders = made_up_trainings({}, function() return 0.5 end)
  equal(folders, { ["Amazon Health"] = "ir-benchmark/amazon2014-health",
    ["MovieLens-1M"] = "ir-benchmark/movielens-1m" })
  local seen = {}
  for _, o in ipairs(trained) do
    local of = published.health[o.loss]
    -- 15 epochs with 200 negatives on Health, 10 with 100 on MovieLens-1M; hyperparameters of Table 15 there
    equal(settings_of(o), o.title == "Amazon Health"
      and { 15, 200, 1024, 1, of.rate, of.tau, of.tau_beta or 0, of.every or 0 }
      or { 10, 100, 4096, 1, 0.01, 0.2, 3, 5 })
    seen[("%s %s %s"):format(o.title, o.loss, o.bound)] = true
  end
  for _, title in ipairs{ "Amazon Health", "MovieLens-1M" } do
    for _, loss in ipairs{ "SL", "SL@20" } do
      for _, bound in ipairs(mr.losses.bounds "sl") do
        check(seen[("%s %s %s"):format(title, loss, bound)], title .. loss .. bound)
      end
    end
  end
  equal(#trained, 4 * #mr.losses.bounds "sl")
  _, trained = made_up_trainings({ "--sets", "movielens", "--epochs", "3", "--negatives", "7", "--batch", "9",
    "--seed", "4" }, function() return 0.5 end)
  equal(settings_of(trained[1]), { 3, 7, 9, 4, 0.01, 0.2, 3, 5 })
end)

it("bounds.lua counts users who gain and lose, tests changes paired by user, and groups users by items", function()
  -- SL: no bound 0.4. Under zscore users with six items gain 0.2 (SL@20: 0.23) and the others lose 0.1; under
  -- expectation_max it is the other way round. Under expectation all gain 0.1 or 0.2, under minmax all gain 0.05, and
  -- under the other bounds all lose 0.1 or 0.2. SL@20 is 0.05 better than SL, except under minmax, where it is as
  -- without a bound.
  local function change_of(loss, bound, u)
    if bound == "none" then return 0 end
    if bound == "minmax" then return loss == "SL" and 0.05 or 0 end
    local sign = ({ zscore = 1, expectation_max = -1 })[bound]
    if sign then return sign * (u % 6 == 5 and (loss == "SL" and 0.2 or 0.23) or -0.1) end
    return (bound == "expectation" and 1 or -1) * (u % 2 == 0 and 0.2 or 0.1)
  end
  local section = made_up_trainings({ "--sets", "health" }, function(o, u)
    return 0.4 + (o.loss == "SL@20" and 0.05 or 0) + change_of(o.loss, o.bound, u)
  end)
  local bounded, beside, gains = table.unpack(section.tables)
  local bounds = mr.losses.bounds "sl"
  -- better: expectation twice, minmax and expectation_max of SL; worse: zscore of SL, and the others twice each. The
  -- changes of SL@20 under zscore and expectation_max have a p between 0.05 and 0.1.
  equal(in_process.numbers(section.text:match "^[^.]*"), { 2 * (#bounds - 1), 4, 2 * (#bounds - 5) + 1 })
  -- Mean change, and the shares of users who gain and lose.
  local function expected(loss, bound)
    local sum, better, worse = 0, 0, 0
    for u = 1, 60 do
      local change = change_of(loss, bound, u)
      sum, better, worse = sum + change, better + (change > 0 and 1 or 0), worse + (change < 0 and 1 or 0)
    end
    return sum / 60, better / 60, worse / 60
  end
  local seen = {}
  for r, row in ipairs(bounded:records()) do
    local mean, better, worse = expected(row.loss, row.bound)
    local changes, p = row.bound ~= "none", row["p, Holm"]
    seen[row.loss .. row.bound] = true
    near(row["NDCG@20"], (row.loss == "SL@20" and 0.45 or 0.4) + mean, 1e-9, row.bound)
    equal({ row.data, row.epoch }, { "Amazon Health", #row.bound + 0.0 })
    near(changes and { row.change, row.better, row.worse } or { 0, 0, 0 }, { mean, better, worse }, 1e-9, row.bound)
    local is_close = row.bound == "zscore" or row.bound == "expectation_max"
    if is_close then check(row.loss == "SL" and p > 0.01 and p < 0.05 or p > 0.05 and p < 0.1, p) end
    if changes and not is_close then
      equal({ p < 0.01, p == 1 }, { better + worse > 0, better + worse == 0 }, row.loss .. row.bound)
    end
    local of_mean, of_change = section.cells[1].intervals["NDCG@20"][r], (section.cells[1].intervals.change or {})[r]
    local values = {}
    for u = 1, 60 do values[u] = 0.4 + (row.loss == "SL@20" and 0.05 or 0) + change_of(row.loss, row.bound, u) end
    local bootstrap = mr.stats.bootstrap(values, { samples = 2000 })
    near(of_mean, { bootstrap.low, bootstrap.high }, 1e-12, "interval of the mean")
    check(not changes or of_change[1] <= mean + 1e-9 and of_change[2] >= mean - 1e-9, "interval of the change")
  end
  for _, bound in ipairs(bounds) do check(seen["SL" .. bound] and seen["SL@20" .. bound], bound) end
  equal({ #bounded.rows, #beside.rows }, { 2 * #bounds, #bounds })
  for _, row in ipairs(beside:records()) do
    local bound = row["bound of SL"]
    near({ row["NDCG@20"], row.change }, { 0.4 + expected("SL", bound), 0.05 - expected("SL", bound) }, 1e-9, bound)
    local is_equal = bound == "minmax" or bound == "expectation_max"  -- the mean of SL is 0.45 there, too
    equal({ row["p, Holm"] < 0.05, row["p, Holm"] == 1 }, { not is_equal, is_equal }, bound)
  end
  for _, cells in ipairs(section.cells) do  -- runs behind a number
    equal({ cells.runs({}, "NDCG@20"), cells.runs({}, "epoch"), cells.runs({}, "change"), cells.runs({}, "worse") },
      { 1, 1, 2, 2 })
  end
  -- Users with one to six items in train, ten of each, but one of the first ten has none.
  local users, groups, gain = {}, {}, 0
  for _, row in ipairs(gains:records()) do
    users[row.what] = (users[row.what] or 0) + row.users
    if row.what == "SL, zscore" then
      groups[#groups + 1], gain = row["items in train"], gain + row.users * row.change
      near(row["NDCG@20"], 0.4 + row.change, 1e-9)
      near(row.change, row["items in train"] == "6" and 0.2 or -0.1, 1e-6)  -- the users with six items gain
    end
  end
  equal(groups, { "0 to 2", "3", "4 to 5", "6" })
  near(gain, 10 * 0.2 - 50 * 0.1, 1e-6)
  for what, count in pairs(users) do equal(count, 60, what) end
  equal(users["SL@20 against SL"], 60)
end)

it("bounds.lua holds SL@20 without a bound against SL under each bound", function()
  local section = made_up_trainings({ "--sets", "health" }, function(o)
    return (o.loss == "SL@20" and 0.25 or 0.125) + (o.bound == "minmax" and 0.5 or 0)
  end)
  for _, row in ipairs(section.tables[2]:records()) do
    local of_sl = row["bound of SL"] == "minmax" and 0.625 or 0.125
    near({ row["NDCG@20"], row.change }, { of_sl, 0.25 - of_sl }, 1e-9, row["bound of SL"])
  end
end)
