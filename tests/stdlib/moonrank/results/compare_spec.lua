-- Tests comparisons of a study list by list: users are matched by number and averaged over folds.
local mr = require "moonrank"
local files = require "tests.support.files"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local folder = files.new_folder()

local function study(name, run, space)
  return mr.sweep{ name = name, store = ("%s/%s.db"):format(folder, name), progress = false,
    metric = "ndcg", direction = "maximize",
    space = space or { loss = mr.choice{ "a", "b" }, fold = mr.range(1, 5) }, run = run }
end

local users = 9

-- Returns the made-up value of a user in a fold. Values are multiples of 1/64, so that sums are exact.
local function value_of(loss, user, fold)
  return ((user * 11 + fold * 5) % 23 + (loss == "a" and (user * 7 + fold * 3) % 13 or 5)) / 64
end

-- Returns the user at position i of a fold. The order of users differs between folds.
local function place(i, fold) return (i + 2 * fold) % users + 1 end

local function trial_of(with_list, repeats)
  return function(trial)
    local values, list = {}, {}
    for _ = 1, repeats or 1 do
      for i = 1, users do
        local number = place(i, trial.fold)
        values[#values + 1], list[#list + 1] = value_of(trial.loss, number, trial.fold), number
      end
    end
    return { ndcg = trial.fold, per_list = { ndcg = values, list = with_list and list or nil } }
  end
end

-- Returns the means over users and folds of both losses, and the exact p-value by enumerating signs.
local function expected()
  local a, b, sums = {}, {}, {}
  for user = 1, users do
    a[user], b[user] = 0, 0
    for fold = 1, 5 do a[user], b[user] = a[user] + value_of("a", user, fold), b[user] + value_of("b", user, fold) end
    sums[user] = 64 * (a[user] - b[user])
    a[user], b[user] = a[user] / 5, b[user] / 5
  end
  return a, b, mr.stats.wilcoxon(sums, mr.zeros(users):totable()).p
end

it("results:compare with lists pairs each user once over all folds", function()
  local a, b, p = expected()
  for _, repeats in ipairs{ 1, 3 } do
    local s = study("folds" .. repeats, trial_of(true, repeats))
    for _, options in ipairs{ { over = "fold" }, {} } do
      options.by, options.lists = "loss", true
      local t = s:compare(options)
      equal(t.rows[1][3], users)
      near({ t.rows[1][4], t.rows[1][5], t.rows[1][7] }, { mr.stats.mean(a), mr.stats.mean(b), p }, 1e-12)
      local said = ("%d lists are of %d users"):format(5 * repeats * users, users)
      check(tostring(t):find(said, 1, true) and t:to_latex():find(said, 1, true), tostring(t))
    end
  end
end)

it("results:compare with lists needs no list numbers for a single fold", function()
  local options = { by = "loss", lists = true, where = { fold = 2 } }
  local numbered = study("numbered", trial_of(true)):compare(options)
  local plain = study("plain", trial_of(false)):compare(options)
  equal(numbered.rows, plain.rows)
  equal(numbered.rows[1][3], users)
  check(not table.concat(numbered.notes):find "lists are of", table.concat(numbered.notes))
end)

it("results:compare with lists raises an error for trials without list numbers or with other users", function()
  local s = mr.results(folder .. "/plain.db")
  raises(function() s:compare{ by = "loss", lists = true, over = "fold" } end, "list = numbers")
  local other = study("other", function(trial)
    return { ndcg = 1, per_list = { ndcg = { 1, 2, 3 }, list = { 1, 2, trial.loss == "a" and 3 or 4 } } }
  end)
  raises(function() other:compare{ by = "loss", lists = true } end, "results:compare", "users")
  local short = study("short", function() return { ndcg = 1, per_list = { ndcg = { 1, 2, 3 }, list = { 1, 2 } } } end)
  raises(function() short:compare{ by = "loss", lists = true } end, "trial 1", "3", "2")
end)

local ratings = mr.data.synthetic{ users = 24, items = 60, mean_activity = 25, seed = 1 }:binarize(4):min_relevant(5)

it("results:compare finds the users of trials that return mr.fit runs", function()
  local folds = ratings:folds{ k = 3, seed = 1 }
  local s = study("runs", function(trial)
    local fold = folds[trial.fold]
    local run = mr.fit{ model = mr.models.mf{ users = 24, items = 60, factors = 2, seed = 1 },
      loss = mr.losses[trial.loss]{}, train = fold.train, valid = fold.valid, test = fold.test,
      epochs = 1, progress = false, metrics = { "ndcg" } }
    if trial.loss == "ap" then return run end
    return { ndcg = run.test.mean.ndcg, per_list = run.test.ndcg }
  end, { loss = mr.choice{ "ap", "ndcg" }, fold = mr.range(1, 3) })
  local all, count = {}, 0
  for f = 1, 3 do
    for _, user in ipairs(folds[f].test.users:totable()) do
      if not all[user] then all[user], count = true, count + 1 end
    end
  end
  local t = s:compare{ by = "loss", lists = true, over = "fold" }
  equal(t.rows[1][3], count)
  check(tostring(t):find "averaged first", tostring(t))
  local line = "gain exp2; ties mean; empty lists skip; cutoff none"
  for name, each in pairs{ compare = t, pivot = s:pivot{ rows = "loss" }, best = s:best "loss",
    over = s:best("loss", { over = "fold" }), trials = s:trials() } do
    equal(each.notes[#each.notes], line, name)
    check(each:to_latex():find(line, 1, true), name)
  end
  check(require("moonrank.results").text(s.path):find(line, 1, true))
end)

it("results:compare rejects trials with different conventions of a metric", function()
  local lists, scores = mr.lists{ { 2, 1, 0 }, { 0, 1, 2 }, { 1, 0, 2 } }, mr.tensor{ 1, 2, 3, 3, 2, 1, 2, 1, 3 }
  local s = study("conventions", function(trial)
    local e = mr.evaluate(scores, lists, { "ndcg" }, { gain = trial.gain })
    return { ndcg = e.mean.ndcg, per_list = e.ndcg }
  end, { gain = mr.choice{ "exp2", "linear" }, fold = mr.range(1, 2) })
  for _, lists_too in ipairs{ false, true } do
    raises(function() s:compare{ by = "gain", lists = lists_too } end, "gain", "exp2", "linear")
  end
  local notes = s:compare{ by = "fold", where = { gain = "linear" }, lists = true }.notes
  equal(notes[#notes], "gain linear; ties mean; empty lists skip; cutoff none")
  check(s:best("gain").notes[1]:find("gain exp2 (ndcg), linear (ndcg)", 1, true), s:best("gain").notes[1])
end)

-- Returns how many users of a part have no relevant rows in train, counted by plain loops, and how many users the part
-- has.
local function new_users(fold, name)
  local function users_of(part)
    local of, numbers, grades, at = {}, part.users:totable(), part.lists.relevance:totable(), 0
    for l, n in ipairs(part.lists.sizes:totable()) do
      for r = at + 1, at + n do of[numbers[l]] = of[numbers[l]] or grades[r] > 0 or nil end
      at = at + n
    end
    return of
  end
  local before, new, all = users_of(fold.train), 0, 0
  for user in pairs(users_of(fold[name])) do new, all = new + (before[user] and 0 or 1), all + 1 end
  return new, all
end

it("result tables count users that are new to training over all folds", function()
  local drawn = mr.data.synthetic{ users = 20, items = 50, mean_activity = 15, seed = 2 }
  local folds = drawn:binarize(4):folds{ by = "cold_user", k = 3 }
  local s = study("novelty", function(trial)
    local fold = folds[trial.fold]
    return mr.fit{ model = mr.models.mf{ users = 20, items = 50, factors = 2 }, loss = mr.losses[trial.loss]{},
      train = fold.train, valid = fold.valid, test = fold:candidates{ part = "test" },
      epochs = 1, metrics = { "ndcg" }, progress = false }
  end, { fold = mr.range(1, 3), loss = mr.choice{ "ap", "ndcg" } })
  local function said(name)
    local new, all = { math.huge, 0 }, { math.huge, 0 }
    for f = 1, 3 do
      for i, n in ipairs{ new_users(folds[f], name) } do
        local range = ({ new, all })[i]
        range[1], range[2] = math.min(range[1], n), math.max(range[2], n)
      end
    end
    local function text(range)
      return range[1] == range[2] and ("%d"):format(range[1]) or ("%d to %d"):format(range[1], range[2])
    end
    return ("%s of %s users"):format(text(new), text(all))
  end
  local of_test, of_valid = said "test", said "valid"
  check(of_test ~= of_valid, of_test)
  for name, each in pairs{ pivot = s:pivot{ rows = "loss", value = "ndcg" }, by_value = s:pivot{ rows = "loss" },
    compare = s:compare{ by = "loss" } } do
    for _, text in ipairs{ tostring(each), each:to_latex(), each:to_markdown() } do
      check(text:find(of_test, 1, true) and not text:find(of_valid, 1, true), name .. ": " .. text)
    end
  end
  check(tostring(s:pivot{ rows = "loss", value = "valid_ndcg" }):find(of_valid, 1, true))
  check(require("moonrank.results").text(s.path):find(of_test, 1, true))
  local one = tostring(s:trials{ where = { fold = 2, loss = "ap" }, columns = { "number", "ndcg" } })
  check(one:find(("%d of %d users"):format(new_users(folds[2], "test")), 1, true), one)
  check(not tostring(s:pivot{ rows = "loss", value = "wall" }):find "of %d+ users")
end)

it("result tables state unknown conventions and those of returned evaluation means", function()
  local lists, scores = mr.lists{ { 2, 1, 0 }, { 0, 1, 2 } }, mr.tensor{ 1, 2, 3, 3, 2, 1 }
  local function returned(name, of)
    local function run() return of(mr.evaluate(scores, lists, { "ndcg", "rr" }, { ties = "worst" })) end
    return study(name, run, { fold = mr.range(1, 2) })
  end
  local plain = returned("plain_numbers", function(e) return { ndcg = e.mean.ndcg, accuracy = 0.5 } end)
  for name, each in pairs{ trials = plain:trials(), pivot = plain:pivot{ rows = "fold" }, best = plain:best("fold") } do
    local text = tostring(each)
    check(text:find "unknown[^\n]*ndcg" and not text:find "unknown[^\n]*accuracy", name .. ": " .. text)
  end
  equal(plain:pivot{ rows = "fold", value = "accuracy" }.notes, {})
  local means = returned("means", function(e) return e.mean end)
  local text = tostring(means:trials())
  check(text:find("ties worst; empty lists skip", 1, true) and not text:find "unknown", text)
end)

it("results:compare gives p 1 for equal rankings because stored values are not rounded to float32", function()
  local lists, scores = {}, {}
  for q = 1, 40 do
    lists[q] = { 1, 0, 1, 0, q % 2, 0, 0 }
    for d = 1, 7 do scores[#scores + 1] = q * d * 37 % 101 + d / 100 end
  end
  local judged, x = mr.lists(lists), mr.tensor(scores)
  local s = study("types", function(trial)
    local e = mr.evaluate(trial.loss == "a" and x or x:double(), judged, { "ndcg" })
    return { ndcg = e.mean.ndcg, per_list = e.ndcg }
  end, { loss = mr.choice{ "a", "b" } })
  for _, name in ipairs{ "wilcoxon", "paired_t" } do
    equal(s:compare{ by = "loss", lists = true, test = name }.rows[1][7], 1, name)
  end
end)

-- Runs a study whose combinations are drawn at random, so that most of them are tried several times.
local function drawn(name, run, space, trials)
  return mr.sweep{ name = name, store = ("%s/%s.db"):format(folder, name), workers = 0, progress = false,
    metric = "ndcg", sampler = "random", trials = trials or 24, seed = 3,
    space = space or { loss = mr.choice{ "a", "b" }, fold = mr.choice{ 1, 2, 3 } }, run = run }
end

-- Returns, for each loss and fold, the mean of a column over its trials, and the number of trials.
local function cells_of(s, column)
  local sums, counts, cells = {}, {}, 0
  for _, row in ipairs(s:trials{ columns = { "loss", "fold", column } }.rows) do
    local key = row[1] .. row[2]
    cells = cells + (counts[key] and 0 or 1)
    sums[key], counts[key] = (sums[key] or 0) + row[3], (counts[key] or 0) + 1
  end
  for key, sum in pairs(sums) do sums[key] = sum / counts[key] end
  return sums, counts, cells
end

it("results:compare averages repeated trials before pairing", function()
  local s = drawn("repeats", function(trial) return { ndcg = trial.number / 100 } end)
  local means, _, cells = cells_of(s, "number")
  equal(cells, 6)
  for _, options in ipairs{ { by = "loss" }, { by = "loss", over = "fold" } } do
    local t = s:compare(options)
    equal(t.rows[1][3], 3)
    near(t.rows[1][4], (means.a1 + means.a2 + means.a3) / 300, 1e-12)
    near(t.rows[1][5], (means.b1 + means.b2 + means.b3) / 300, 1e-12)
    says(t.notes[2], "24 trials", "6 cells")
  end
end)

it("results:compare with lists averages repeated trials list by list", function()
  local s = drawn("repeated lists", function(trial)
    local n = trial.number
    return { ndcg = n, per_list = { ndcg = { n, n % 5, n * n }, list = { 7, 8, 9 } } }
  end)
  local _, counts = cells_of(s, "number")
  local sums = { a = { 0, 0, 0 }, b = { 0, 0, 0 } }
  for _, row in ipairs(s:trials{ columns = { "loss", "fold", "number" } }.rows) do
    local n, sum, count = row[3], sums[row[1]], 3 * counts[row[1] .. row[2]]
    for i, value in ipairs{ n, n % 5, n * n } do sum[i] = sum[i] + value / count end
  end
  local t = s:compare{ by = "loss", lists = true }
  equal(t.rows[1][3], 3)
  near({ t.rows[1][4], t.rows[1][5] }, { mr.stats.mean(sums.a), mr.stats.mean(sums.b) }, 1e-9)
  says(t.notes[2], "24 trials", "6 cells")
  local plain = drawn("plain repeats", function(trial)
    return { ndcg = 1, per_list = { ndcg = { trial.number, 2 * trial.number } } }
  end, { loss = mr.choice{ "a", "b" } }, 6)
  equal(plain:compare{ by = "loss", lists = true }.rows[1][3], 2)
end)

-- Runs a study with these trials: {loss, fold, value}.
local function listed(name, list)
  local points = {}
  for i, each in ipairs(list) do points[i] = { loss = each[1], fold = each[2] } end
  return mr.sweep{ name = name, store = ("%s/%s.db"):format(folder, name), workers = 0, progress = false,
    metric = "ndcg", direction = "maximize", sampler = "random", first = points, trials = #points,
    space = { loss = mr.choice{ "a", "b", "c" }, fold = mr.choice{ 1, 2, 3 } }, run = function(trial)
      local each = list[trial.number]
      equal({ trial.loss, trial.fold }, { each[1], each[2] })
      return { ndcg = each[3] }
    end }
end

it("results:best over folds counts every fold once, however often it was tried", function()
  -- the mean over folds counts each fold once: a has 0.5 (its mean over trials is 0.55), b has (0.8 + 0.3) / 2; c has
  -- only one of two folds
  local s = listed("often", {
    { "a", 1, 0.4 }, { "a", 2, 0.6 }, { "a", 2, 0.6 }, { "a", 2, 0.6 },
    { "b", 1, 0.9 }, { "b", 1, 0.7 }, { "b", 2, 0.3 },
    { "c", 1, 0.9 }, { "c", 1, 0.9 }, { "c", 1, 0.9 }, { "c", 1, 0.9 }, { "c", 1, 0.9 },
  })
  local t = s:best(nil, { over = "fold" })
  equal({ #t.rows, t.rows[1][1], t.rows[1][2] }, { 1, "b", 3 })
  near(t.rows[1][3], 0.55, 1e-12)
  check(t.notes[1]:find "1 of 3 combinations" and t.notes[2]:find "12 trials in 5 cells", tostring(t))
  near(s:best("loss", { over = "fold" }).rows[1][3], 0.5, 1e-12)
  local parted = listed("parted", { { "a", 1, 0.4 }, { "b", 2, 0.6 } }):best(nil, { over = "fold" })
  check(parted.notes[1]:find "2 values of fold", parted.notes[1])
end)

it("results:pivot, best and compare give nan for a NaN value and never choose it as best", function()
  local s = study("returned nan", function(trial)
    local is_nan = trial.loss == "a" and trial.fold == 2
    return { ndcg = trial.fold, cost = is_nan and 0 / 0 or trial.fold + (trial.loss == "a" and 1 or 2) }
  end)
  local function is_nan(value) return value ~= nil and value ~= value end
  for _, name in ipairs{ "mean", "sd", "median", "min", "max" } do
    local rows = s:pivot{ rows = "loss", value = "cost", aggregate = name }.rows
    check(is_nan(rows[1][2]) and not is_nan(rows[2][2]), name)
  end
  equal(s:pivot{ rows = "loss", value = "cost", aggregate = "count" }.rows, { { "a", 5 }, { "b", 5 } })
  local options = { over = "fold", value = "cost", direction = "minimize" }
  local best = s:best(nil, options)
  equal({ #best.rows, best.rows[1][1], best.rows[1][3] }, { 1, "b", 5 })
  says(best.notes[1], "1 of 2", "NaN")
  local by_number = s:best("loss", { over = "fold" })
  check(is_nan(by_number.rows[1][3]) and by_number.rows[2][3] == 5, "chosen by another number, shown as nan")
  for _, name in ipairs{ "wilcoxon", "paired_t" } do
    local row = s:compare{ by = "loss", value = "cost", test = name }.rows[1]
    equal({ row[3], row[5] }, { 5, 5 })
    check(is_nan(row[4]) and is_nan(row[6]) and is_nan(row[7]) and is_nan(row[8]), name)
    local t = s:compare{ by = "loss", value = "cost", test = name, where = { fold = { 1, 3, 4, 5 } } }
    check(not is_nan(t.rows[1][7]), name)
  end
end)

it("results:compare with lists counts and averages the pairs that the test uses: pairs without NaN", function()
  local values = { a = { 0.5, 0 / 0, 0.25, 1, 0.75 }, b = { 0.25, 0.5, 0.75, 0 / 0, 0 }, c = { 0, 1, 0, 1, 0 } }
  local s = study("pairs", function(trial)
    return { ndcg = 1, per_list = { ndcg = values[trial.loss], list = { 1, 2, 3, 4, 5 } } }
  end, { loss = mr.choice{ "a", "b", "c" } })
  for name, of_pairs in pairs{ wilcoxon = mr.stats.wilcoxon, paired_t = mr.stats.paired_t } do
    local t = s:compare{ by = "loss", lists = true, test = name }
    for i, pair in ipairs{ { "a", "b", 3, 0.5, 1 / 3 }, { "a", "c", 4, 0.625, 0.25 }, { "b", "c", 4, 0.375, 0.25 } } do
      local first, second, count, mean, other = table.unpack(pair)
      local row = t.rows[i]
      equal({ row[1], row[2], row[3] }, { first, second, count }, name)
      local found = of_pairs(values[first], values[second])
      equal(#values[first] - found.skipped, count, name)
      near({ row[4], row[5], row[6], row[7] }, { mean, other, mean - other, found.p }, 1e-12)
    end
    says(tostring(t), "2 of 5 users", "1 of 5 users", "NaN")
  end
end)

it("results:compare with lists gives no p if all values are NaN", function()
  local s = study("all nan", function(trial)
    return { ndcg = 1, per_list = { ndcg = { trial.loss == "a" and 0 / 0 or 1, 0 / 0 }, list = { 1, 2 } } }
  end, { loss = mr.choice{ "a", "b" } })
  for _, name in ipairs{ "wilcoxon", "paired_t" } do
    local row = s:compare{ by = "loss", lists = true, test = name }.rows[1]
    equal(row[3], 0, name)
    for i = 4, 8 do check(row[i] ~= row[i], name .. i) end
  end
end)

it("results:compare names its test and its correction below the table", function()
  local s = study("tests", function(trial) return { ndcg = trial.fold } end)
  for name, word in pairs{ wilcoxon = "Wilcoxon", paired_t = "paired t-test" } do
    for correction, other in pairs{ holm = "Holm", bonferroni = "Bonferroni", none = "no correction" } do
      local t = s:compare{ by = "loss", test = name, correction = correction }
      says(tostring(t), word, other)
      says(t:to_latex(), word, other)
    end
  end
end)

it("results:compare raises an error if the value is not numeric", function()
  local s = study("texts", function(trial) return { ndcg = trial.fold } end,
    { loss = mr.choice{ "a", "b" }, fold = mr.range(1, 2), kind = mr.choice{ "x", "y" } })
  raises(function() s:compare{ by = "loss", value = "kind" } end, "results:compare", "kind")
end)

it("tables of results call a parameter differently if its name is that of another column", function()
  local s = mr.sweep{ name = "names", store = folder .. "/names.db", progress = false, metric = "ndcg",
    direction = "maximize", space = { p = mr.choice{ 0.1, 0.1000000001 }, mean = mr.choice{ 1, 2 },
      trials = mr.choice{ 1, 2, 3 } }, run = function(trial) return { ndcg = trial.p * trial.mean + trial.trials } end }
  equal(s:compare{ by = "p" }.columns[1], "parameter p")
  local record = s:compare{ by = "p" }:records()[1]
  check(record.p < 1 and record["parameter p"] == 0.1, "both columns have their numbers")
  equal(s:compare{ by = "mean" }.columns[1], "parameter mean")
  local best = s:best("p", { over = "mean" })
  equal({ best.columns[1], best.columns[2], best.columns[3] }, { "p", "parameter trials", "trials" })
  equal(s:pivot{ rows = "mean", columns = "p" }.columns, { "mean", "0.10000000000000001", "0.1000000001" })
end)

it("results:compare says which trials failed, in its error and below its table", function()
  local function of(name, fails, bounds)
    return study(name, function(trial)
      if fails(trial) then error "no luck" end
      return { ndcg = trial.fold + #trial.bound / 8 }
    end, { bound = mr.choice(bounds), fold = mr.range(1, 3) })
  end
  local function only_none(trial) return trial.bound ~= "none" end
  raises(function() of("one left", only_none, { "none", "jump" }):compare{ by = "bound" } end, "'bound'", "1",
    "bound = jump", "3 failed")
  raises(function() of("none left", function() return true end, { "none", "jump" }):compare{ by = "bound" } end,
    "'bound'", "0", "bound = none", "bound = jump", "3 failed")
  local table_of = tostring(of("two left", function(trial) return trial.bound == "jump" end,
    { "none", "jump", "minmax" }):compare{ by = "bound" })
  says(table_of, "3 of 9 trials", "3 failed", "bound = jump")
  local some = of("some", function(trial) return trial.bound == "jump" and trial.fold > 1 end, { "none", "jump" })
  raises(function() some:compare{ by = "bound" } end, "bound = jump and none", "1", "2 of 6 trials", "2 failed")
  some = of("others", function(trial) return trial.bound == "jump" and trial.fold > 2 end, { "none", "jump" })
  local text = tostring(some:compare{ by = "bound" })
  says(text, "1 of 6 trials", "1 failed")
  check(not text:find("no trial of", 1, true), text)
end)
