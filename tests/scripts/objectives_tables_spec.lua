-- Tests scripts/objectives beside protocol.lua: what a study stores of a training run, and what tables and curves make
-- of the stored runs. Runs are made up; expected results are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near
local records = in_process.records

local folder_of_scripts = "scripts/objectives/"
local protocol = dofile(folder_of_scripts .. "protocol.lua")

local function section_of(name, words, patches)
  return in_process.section(folder_of_scripts .. name .. ".lua", words, patches)
end

-- Raises an error unless a text contains all of these strings.
local function says(text, ...)
  for _, word in ipairs{ ... } do check(text:find(word, 1, true), word .. " is not in: " .. text) end
end

-- Returns two folds of queries with two documents, one of them relevant: six queries in each test part.
local function two_folds(name)
  local lists = {}
  for q = 1, 6 do lists[q] = { 1, 0 } end
  local fold = { test = { lists = mr.lists(lists) } }
  return { name = name, title = "made", said = "made", kind = name == "mq2008" and name or "mslr",
    folds = { fold, fold }, least = 1 }
end

-- the mean nDCG of two documents, one of them relevant, over both orders
local chance = (1 + math.log(2) / math.log(3)) / 2

local function study_of(path, space, run)
  return mr.sweep{ name = "made", store = path, workers = 0, metric = "valid", progress = false, direction = "maximize",
    space = space, run = run }
end

-- Returns by how much the made-up result of an algorithm on a query exceeds that of MseNetBatched: RankNet is much
-- better, ApproxNDCGBatched worse, and others are better on one half of the queries and worse on the other.
local halves = { MseNetQbQ = { 0.02, -0.01 }, ApproxNDCGQbQ = { 0.02, -0.01 }, NeuralNDCGBatched = { 0.02, -0.01 },
  NeuralNDCGQbQ = { 0.04, -0.05 } }
local function effect(algorithm, query)
  if halves[algorithm] then return halves[algorithm][query <= 3 and 1 or 2] end
  return algorithm == "RankNet" and 0.6 or algorithm == "ApproxNDCGBatched" and -0.1 or 0
end

local function text_rate(algorithm) return algorithm:find "^Mse" and 1e-3 or 1e-4 end

-- Made-up runs of the recipe `paper`. Validation is best at learning rate 0.01 on the first fold and at 0.1 on the
-- second. All metrics are 0.05 lower at the rate stated in the paper's text, and 0.2 lower at other rates.
local function paper_study(path)
  return study_of(path,
    { algorithm = mr.choice(protocol.names), rate = mr.choice(protocol.rates), split = mr.range(1, 2) }, function(trial)
      local best = trial.rate == (trial.split == 1 and 0.01 or 0.1)
      local less = best and 0 or trial.rate == text_rate(trial.algorithm) and 0.05 or 0.2
      local result = { valid = best and 0.9 or 0.5,
        epoch = 10 * trial.split, trained_on = 40 + trial.split, ndcg = 0.5 + trial.split / 10,
        per_list = { training = { 4 - less, 2, 1 + trial.split }, held_out = { 5, 3 - less, 3 + 2 * trial.split } } }
      for k, name in ipairs(protocol.metric_names) do
        local values = {}
        for q = 1, 6 do values[q] = 0.3 + k / 1000 + q / 100 + effect(trial.algorithm, q) - less end
        result.per_list[name] = values
      end
      return result
    end)
end

local at = { nDCG = 9 }
for k, title in ipairs(protocol.titles) do at[title] = k end

-- Returns the section that a script makes from the made-up runs of recipe `paper`.
local function paper_section(script)
  local results = paper_study(sweeps.new_folder() .. "/r.db")
  return section_of(script, { "--sets", "mq2008" }, { training = function(training)
    rawset(training, "set", function() return two_folds "mq2008" end)
    rawset(training, "of", function() return results end)
  end })
end

it("table_1.lua's numbers are means over queries, without those that have no metric", function()
  local training, rows = dofile(folder_of_scripts .. "training.lua"), {}
  training.add(rows, "made", "chosen", 1, function(metric)
    return metric == "ap" and { 0, 0, 0.75, 0 / 0, 0.25 } or { 1, 1, 1, 1, 1 }
  end)
  near(rows[1].MAP[1], 0.25, 1e-12)
end)

it("table_1.lua shows means at the rate of the text and at the rate that each fold chose", function()
  local seen, printed = 0, {}
  for _, row in ipairs(records(paper_section("table_1").tables[1])) do
    local less = row.what == "rate of the text" and 0.05 or row.what == "rate chosen" and 0
    for title, k in pairs(at) do
      if less and row[title] then
        local mean = (effect(row.algorithm, 1) + effect(row.algorithm, 6)) / 2
        near(row[title], 0.3 + k / 1000 + 0.035 + mean - less, 1e-6, row.algorithm .. " " .. row.what .. " " .. title)
        seen = seen + 1
      end
    end
    if row.algorithm == "random order" then near(row.MAP, 0.75, 1e-6) end
    if row.what == "printed" then printed[row.algorithm] = row["nDCG+1@2"] end
  end
  equal(seen, 7 * 2 * 8)
  equal({ printed.RankNet, printed.MseNetQbQ }, { "0.61", nil })
end)

it("differences.lua shows what each fold chose, and tests changes", function()
  local section, found = paper_section "differences", {}
  for _, row in ipairs(records(section.tables[1])) do found[row.algorithm] = row end
  local ranknet, approx = found.RankNet, found.ApproxNDCGBatched
  equal({ ranknet["rates chosen"], ranknet["epochs chosen"], ranknet["queries trained on"], ranknet.queries,
    ranknet.skipped }, { "0.01 0.1", "10 20", "41 42", 12, 0 })
  near({ ranknet.change, approx.change, ranknet["sd of folds"] }, { 0.6, -0.1, 0.1 / math.sqrt(2) }, 1e-6)
  near({ ranknet.p, approx.p, ranknet["p, random"] }, { 13 * 2 / 4096, 13 * 2 / 4096, 13 * 2 / 4096 }, 1e-9)
  near(ranknet["nDCG@4"] - ranknet["nDCG@2"], 1 / 1000, 1e-6)
  equal({ found.MseNetBatched.change, found.MseNetBatched.p }, {})
  -- the text has the worst, best and random nDCG. One network is better than random orders, two differ from
  -- MseNetBatched, and half of the chosen rates are at an end of the grid
  local ndcg = 0.335 + at.nDCG / 1000
  says(section.text, ("%.4f"):format(ndcg - 0.1), ("%.4f"):format(ndcg + 0.6), ("%.4f"):format(chance), "1 of 7",
    "7 of 14", "2 are", "MseNet +0.0050", "ApproxNDCG +0.1050", "NeuralNDCG -0.0100")
end)

-- Returns the section of learning_curves.lua, without its figure.
local function curves_section(folder, results)
  local facets = mr.plot.facets
  rawset(mr.plot, "facets", function() return { save = function() end } end)
  local ok, section = pcall(section_of, "learning_curves", { "--sets", "mq2008", "--out", folder .. "/x.svg" },
    { training = function(training)
      rawset(training, "set", function() return two_folds "mq2008" end)
      rawset(training, "of", function() return results end)
    end })
  rawset(mr.plot, "facets", facets)
  check(ok, section)
  return section
end

it("learning_curves.lua shows means over folds at the rate of the text", function()
  local folder = sweeps.new_folder()
  local section = curves_section(folder, paper_study(folder .. "/r.db"))
  equal(#section.tables[1].rows, 7)
  for _, row in ipairs(records(section.tables[1])) do
    near({ row["training, first"], row["training, last"], row["held out, first"], row.lowest, row["at epoch"],
      row["held out, last"] }, { 3.95, 2.5, 5, 2.95, 2, 6 }, 1e-6)
  end
  says(section.text, "MseNet on made 3.5 and 3.5")
end)

it("learning_curves.lua says that a held-out loss rises if its least value is before the last tenth", function()
  local folder = sweeps.new_folder()
  local cases = { MseNetBatched = { { 3, 3, 5 }, 1, true },
    MseNetQbQ = { { 5, 4, 3, 3, 5, 6, 7, 8, 9, 10 }, 3, true },
    RankNet = { { 10, 9, 8, 7, 6, 5, 4, 3, 2, 3 }, 9, false },
    ApproxNDCGBatched = { { 10, 9, 8, 7, 6, 5, 4, 2, 3, 3 }, 8, true } }
  local section = curves_section(folder, study_of(folder .. "/r.db",
    { algorithm = mr.choice(protocol.names), rate = mr.choice{ 1e-3, 1e-4 }, split = mr.range(1, 2) },
    function(trial)
      local held_out = cases[trial.algorithm] and cases[trial.algorithm][1] or { 2, 1 }
      return { valid = 0.5, per_list = { training = held_out, held_out = held_out } }
    end))
  for _, row in ipairs(records(section.tables[1])) do
    local case = cases[row.algorithm] or { nil, 2, false }
    equal(row["at epoch"], case[2], row.algorithm)
    equal(section.text:find(row.algorithm .. " on made", 1, true) ~= nil, case[3], row.algorithm)
  end
end)

-- Made-up runs of the recipe `code` with three seeds, whose numbers are 0.01 apart. RankNet has the printed numbers,
-- and others have 2 more.
local function code_study(path, names, printed)
  return study_of(path, { algorithm = mr.choice(names), seeds = mr.range(1, 3) }, function(trial)
    local result = { valid = 0, trained_on = 50 + trial.seeds, counted = 20 + trial.seeds, skipped = trial.seeds }
    for k, name in ipairs(protocol.metric_names) do
      local base = (printed[trial.algorithm][k] or 0) + (trial.algorithm == "RankNet" and 0 or 2)
      result[name] = base + (trial.seeds - 2) / 100
      local apart = trial.algorithm == "MseNetBatched" and 0.03 or 0.01
      result["meant " .. name], result["random " .. name] = 3 + (trial.seeds - 2) * apart, 0.25
    end
    return result
  end)
end

-- RankNet's numbers for MQ2008 as printed in the paper
local ranknet = { 0.85, 0.61, 0.68, 0.74, 0.47, 0.41, 0.37, 0.56 }

local function code_section(folder, name)
  local results = code_study(folder .. "/" .. name .. ".db", protocol.names, setmetatable({ RankNet = ranknet }, {
    __index = function() return {} end }))
  return section_of("table_1_code", { "--sets", name }, {
    training = function(training) rawset(training, "set", function() return two_folds(name) end) end,
    code = function(code) rawset(code, "of", function() return results end) end })
end

it("table_1_code.lua shows mean, least and largest over seeds, and if they meet printed numbers", function()
  local folder = sweeps.new_folder()
  local section = code_section(folder, "mq2008")
  equal(section.agreement, { of = 48, within = 8, tolerance = section.agreement.tolerance })
  local lines, counts = {}, {}
  for _, row in ipairs(records(section.tables[1])) do lines[row.algorithm .. ", " .. row.what] = row["nDCG+1@2"] end
  equal({ lines["RankNet, as evaluated"], lines["RankNet, printed"], lines["random order, mean over all orders"] },
    { "0.6100 (0.6000 to 0.6200)", "0.61", 0.25 })
  for _, row in ipairs(records(section.tables[2])) do counts[row.algorithm] = row end
  equal({ counts.RankNet["trained on"], counts.RankNet.evaluated, counts.RankNet.skipped, counts.MseNetQbQ },
    { 52.0, 22.0, 2.0, nil })
  says(section.text, "3.0000", "0.0200")  -- the largest range among numbers that were evaluated, in nDCG+1
end)

it("table_1_code.lua shows what was meant beside what is evaluated upside down", function()
  local folder = sweeps.new_folder()
  local lines = {}
  for _, row in ipairs(records(code_section(folder, "mslr").tables[1])) do
    lines[row.algorithm] = (lines[row.algorithm] or 0) + (row.what:find "as meant" and 1 or 0)
    local meant = row.algorithm == "MseNetBatched" and "3.0000 (2.9700 to 3.0300)" or "3.0000 (2.9900 to 3.0100)"
    if row.what:find "as meant" then equal(row["nDCG+1"], meant) end
  end
  equal({ lines.MseNetBatched, lines.MseNetQbQ, lines.ApproxNDCGBatched, lines.RankNet }, { 1, 1, 0, nil })
end)

-- Options of scripts whose training is replaced by made-up results.
local function args_of(folder)
  return { store = folder .. "/r.db", workers = 0, retry = 0, data = "", seed = 7, smoke = false }
end

local function on_two_folds(training) rawset(training, "set", function(_, name) return two_folds(name) end) end

local function column(results, name) return results:columns():column(name) end

it("training.of trains all algorithms, rates and folds, and keeps the chosen epoch's tests", function()
  local folder = sweeps.new_folder()
  local training, seen = dofile(folder_of_scripts .. "training.lua"), {}
  on_two_folds(training)
  rawset(training.protocol, "train", function(_, trial, seed, short)
    seen[("%s %g %d %d %s"):format(trial.algorithm, trial.rate, trial.split, seed, short)] = true
    local scores, mean = {}, {}
    for k, name in ipairs(protocol.metric_names) do
      scores[name] = mr.tensor({ k / 100, 0 / 0, k / 50 }, { dtype = "float64" })
      mean[name] = 0.015 * k
    end
    return { scores = scores, test = { mean = mean }, best = { epoch = 3, metrics = { ndcg = 0.6, ap = 0.7 } },
      history = { { loss = 4, valid_loss = 5 }, { loss = 2, valid_loss = 3 } } }, 11
  end)
  local results = training.of(args_of(folder), two_folds "mq2008")
  equal(results:counts(), { done = 7 * 4 * 2 })
  for _, name in ipairs(protocol.names) do
    for _, rate in ipairs{ 1e-4, 1e-3, 1e-2, 1e-1 } do
      for split = 1, 2 do check(seen[("%s %g %d 7 false"):format(name, rate, split)], name) end
    end
  end
  local function first(name) return column(results, name)[1] end
  equal({ first "valid", first "epoch", first "trained_on" }, { 0.6, 3, 11 })
  for k, name in ipairs(protocol.metric_names) do near(first(name), 0.015 * k, 1e-9, name) end
  near(results:per_list(1, "ndcg@2"):totable()[3], first "ndcg@2" / 0.75, 1e-6)
  equal({ results:per_list(1, "training"):totable(), results:per_list(1, "held_out"):totable() },
    { { 4.0, 2.0 }, { 5.0, 3.0 } })
end)

it("code.of trains the authors' algorithms, and keeps metrics as evaluated and as meant", function()
  local folder = sweeps.new_folder()
  local seen, args = {}, args_of(folder)
  local code = in_process.load(folder_of_scripts .. "code.lua", { training = on_two_folds })
  -- the relevant document is third by score, and second if the order is reversed, as the authors' code does for
  -- MseNetBatched and NDCG losses
  rawset(code, "train", function(_, trial)
    seen[trial.seeds] = (seen[trial.seeds] or 0) + 1
    return { lists = mr.lists{ { 0, 0, 0, 1 }, { 0, 0 } } }, mr.tensor{ 4, 3, 1, 2, 1, 2 }, 11
  end)
  local results = code.of(args, two_folds "mslr")
  equal(seen, { [7] = 5, [8] = 5, [9] = 5 })
  local columns = results:columns()
  for name, meant in pairs{ MseNetBatched = 1 / 3, ApproxNDCGBatched = 1 / 2 } do
    local row = columns:rows("spec", { algorithm = name })[1]
    local function of(field) return columns:column(field)[row] end
    near({ of "ap", of "meant ap", of "random ap", of "trained_on", of "counted", of "skipped" },
      { 1 / 2, meant, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, 11, 1, 1 }, 1e-6)
    check(of "value" == of "ndcg+1" and of "value" ~= of "ndcg", "a study's metric is nDCG+1")
  end
  for _, name in ipairs(column(results, "algorithm")) do
    check(name ~= "RankNet" and name ~= "NeuralNDCGQbQ", name)
  end
  rawset(code, "train_curves", function()
    return { best = { metrics = { ndcg = 0.25 } }, history = { { loss = 4, valid_loss = 5 } } }
  end)
  local curves = code.curves_of(args, two_folds "mslr")
  equal({ curves:counts(), curves:best().value, curves:per_list(1, "held_out"):totable() },
    { { done = 15 }, 0.25, { 5.0 } })
end)

-- Made-up runs with two seeds on two folds of 13 queries. With seed 1, ApproxNDCGBatched is 0.05 better on all queries.
-- With seed 2, it is 0.04 better on 19 of 26 queries, worse on 6 and equal on one (p = 0.0146, thus 3 p is below 0.05
-- and 6 p is not). Runs whose start differs in the last bit are equal, except: with seed 2 another rate is chosen on
-- the second fold, with seed 1 another epoch on the first, and training differs at the rates 0.01 (only in its loss)
-- and 0.1.
local function seeds_study(path, o, change)
  local last_bit = o.start == "last bit"
  return mr.sweep{ name = "made", store = path, workers = 0, metric = "valid", progress = false, direction = "maximize",
    space = { algorithm = mr.choice{ o.algorithm }, rate = mr.choice(protocol.rates), split = mr.range(1, 2) },
    run = function(trial)
      local other = last_bit and o.seed == 2 and trial.split == 2
      local best = trial.rate == (other and 0.001 or trial.split == 1 and 0.01 or 0.1)
      local values, parted = {}, last_bit and trial.rate >= 0.01
      for q = 1, 13 do
        local number = 13 * (trial.split - 1) + q
        local more = change and change(o.seed) or o.seed == 1 and 0.05 or number <= 19 and 0.04
          or number <= 25 and -0.04 or 0
        values[q] = 0.5 + q / 1000 + (o.algorithm == "MseNetBatched" and 0 or more) - (best and 0 or 0.3)
      end
      local epoch = last_bit and o.seed == 1 and trial.split == 1 and 2 or 3
      return { valid = best and 0.9 or 0.5, epoch = epoch,
        ndcg = 0.4 + 0.02 * o.seed + (parted and trial.rate == 0.1 and 0.01 or 0),
        per_list = { ndcg = values, held_out = { 5, parted and 4.5 or 4, 3 },
        curve = { 0.5, 0.6, 0.7 + (parted and (trial.rate == 0.1 and 0.002 or 0.0005) or 0) } } }
    end }
end

-- Returns the section of seeds.lua, made from these runs under as many seeds.
local function seeds_section(seeds, change)
  local folder, studies = sweeps.new_folder(), 0
  return section_of("seeds", { "--seeds", seeds, "--algorithms", "ApproxNDCGBatched" }, {
    training = function(training) rawset(training, "set", function() return two_folds "mq2008" end) end,
    seeds_runs = function(trainings) rawset(trainings, "study", function(_, o) return o end) end,
    experiment = function(experiment)
      rawset(experiment, "study", function(_, o)
        studies = studies + 1
        return seeds_study(("%s/%d.db"):format(folder, studies), o, change)
      end)
    end })
end

-- All queries gain 0.05 under seed 1, lose 0.05 under seed 2 and stay as they are under seed 3. In the mean over seeds
-- nothing changes.
it("seeds.lua counts seeds with a significant change, and tests the mean over seeds of each query", function()
  local section = seeds_section("3", function(seed) return ({ 0.05, -0.05, 0 })[seed] end)
  local _, approx = table.unpack(records(section.tables[1]))
  equal({ approx["p < 0.05"], approx["6 p < 0.05"] }, { "2 of 3", "2 of 3" })
  near({ approx["p, mean of seeds"], approx["least change"], approx["largest change"] }, { 1, -0.05, 0.05 }, 1e-6)
end)

it("seeds.lua shows changes at equal seed with p-values, and how far trainings of equal seed differ", function()
  local section = seeds_section "2"
  local base, approx = table.unpack(records(section.tables[1]))
  -- the mean nDCG of MseNetBatched. ApproxNDCGBatched exceeds it by 0.04 (19 - 6) / 26 with seed 2
  local ndcg = 0.5 + 7 / 1000
  local second = 0.04 * 13 / 26
  near({ base.nDCG, base.sd, approx.nDCG, approx.least, approx.largest },
    { ndcg, 0, ndcg + (0.05 + second) / 2, ndcg + second, ndcg + 0.05 }, 1e-6)
  near({ approx["least change"], approx["largest change"] }, { second, 0.05 }, 1e-6)
  local half = 12.7062047 * (0.05 - second) / 2  -- quantile of Student's t with one degree of freedom
  equal(approx.change,
    ("%.4f (%.4f to %.4f)"):format((0.05 + second) / 2, (0.05 + second) / 2 - half, (0.05 + second) / 2 + half))
  equal({ base.change, approx["p < 0.05"], approx["6 p < 0.05"] }, { nil, "2 of 2", "1 of 2" })
  -- of 10,000 random choices of signs, none is as extreme as the observed one
  near(approx["p, mean of seeds"], 1 / 10001, 1e-9)
  local by_rate = {}
  for _, row in ipairs(records(section.tables[2])) do by_rate[row.rate] = row end
  local same, loss, apart, chosen = by_rate["0.001"], by_rate["0.01"], by_rate["0.1"], by_rate.chosen
  equal({ same.trainings, same.differ, loss.differ, loss.apart, apart.differ, apart.apart,
    apart["median epoch apart"] }, { 4, 0, 4, 0, 4, 4, 3 })
  near({ same["root mean square"], apart["root mean square"], apart.largest, apart["of two seeds"] },
    { 0, 0.01, 0.01, 0.02 }, 1e-9)
  equal({ chosen.trainings, chosen.differ }, { 4, 2 })
  -- changes are against trainings of this program
  local one, twins = section.cells[1].numerics, section.cells[2].numerics
  equal({ one({ "2026-11c (c07)" }, "nDCG"), one({ "2026-11c (c07)" }, "least change"),
    one({ "2026-11c (c07)" }, "p, mean of seeds"), one({ mr.numerics }, "6 p < 0.05") },
    { "2026-11c", "2026-11c " .. mr.numerics, "2026-11c " .. mr.numerics, mr.numerics })
  equal({ twins{ "x", "2026-11c (c07)", "2026-11d (893)" }, twins{ "x", "2026-11f", "2026-11f, last bit" } },
    { "2026-11c 2026-11d", "2026-11f" })
end)

it("blanks.lua times one epoch over made-up queries of 120 documents and 136 features", function()
  local folder = sweeps.new_folder()
  local synthetic, fit, asked, epochs = mr.data.synthetic, mr.fit, nil, {}
  rawset(mr.data, "synthetic", function(o)
    asked = o
    return { features = mr.zeros{ 5000, 2 }, lists = { sizes = mr.tensor{ 3000, 2000 }, rows = 5000 }, count = 2 }
  end)
  rawset(mr, "fit", function(o) epochs[#epochs + 1] = ("%s: %d"):format(o.name, o.epochs) end)
  local ok, section = pcall(section_of, "blanks", { "--queries", "12" }, {
    protocol = function(own)
      rawset(own, "steps", function(train, _, least)
        equal({ train.count, least }, { 2, 1 })
        return train
      end)
      rawset(own, "loss", function() return nil end)
      rawset(own, "training", function(o) return { name = o.name, epochs = 30 } end)
    end,
    training = function(training)
      rawset(training, "set", function() return two_folds "mslr" end)
      rawset(training, "of", function() return paper_study(folder .. "/r.db") end)
    end })
  rawset(mr.data, "synthetic", synthetic)
  rawset(mr, "fit", fit)
  check(ok, section)
  equal({ asked.queries, asked.features, asked.mean_size }, { 12, 136, 120 })
  equal(epochs, { "RankNet: 1", "NeuralNDCGQbQ: 1" })
  -- 3000 x 2999 + 2000 x 1999 pairs with 273 numbers of four bytes each
  check(section.text:find("13.0 million", 1, true) and section.text:find("14.2 GB", 1, true), section.text)
  local rows = records(section.tables[2])
  equal({ #rows, rows[1].algorithm, rows[2].what, rows[3].algorithm, rows[5].algorithm },
    { 5, "RankNet", "rate chosen", "NeuralNDCGQbQ", "random order" })
  near({ rows[2].MAP - rows[1].MAP, rows[5].MAP }, { 0.05, 0.75 }, 1e-6)
end)

it("seeds_runs.study trains with its seed, changes a last bit if asked, and keeps nDCG and both curves", function()
  local asked
  local trainings = in_process.load(folder_of_scripts .. "seeds_runs.lua", { protocol = function(own)
    rawset(own, "train", function(_, trial, seed, short, change)
      asked = { trial.rate, seed, short, change or false }
      return { best = { epoch = 2, metrics = { ndcg = 0.75 } }, scores = { ndcg = mr.tensor{ 0.25, 0.5 } },
        test = { mean = { ndcg = 0.375 } }, history = { { metrics = { ndcg = 0.5 }, valid_loss = 3 },
          { metrics = { ndcg = 0.75 }, valid_loss = 2 } } }
    end)
  end })
  for start, change in pairs{ ["as drawn"] = false, ["last bit"] = trainings.change_last_bit } do
    local found = trainings.study(two_folds "mq2008", { algorithm = "RankNet", start = start, seed = 4, version = "v",
      name = "made", short = false }).run{ algorithm = "RankNet", rate = 0.01, split = 2 }
    equal(asked, { 0.01, 4, false, change })
    equal({ found.valid, found.epoch, found.ndcg, found.per_list.ndcg:totable() }, { 0.75, 2, 0.375, { 0.25, 0.5 } })
    equal({ found.per_list.curve, found.per_list.held_out }, { { 0.5, 0.75 }, { 3, 2 } })
  end
end)
