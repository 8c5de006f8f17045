-- Tests Table 1 and Figure 1 of Li & Wu: with --smoke they show what the store contains. For settings of their runs,
-- made-up outcomes replace training.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local data_folders = dofile "tests/support/data_folders.lua"
local in_process = dofile "tests/support/in_process.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local it, equal, check, near = test.it, test.equal, test.check, test.near

-- Returns the number of the only trial with these parameters.
local function trial_of(results, where)
  local columns = results:columns()
  local rows = columns:rows("spec", where)
  equal(#rows, 1)
  return columns:column("number")[rows[1]]
end

local shown = { paper = "SGD, 0.001", sgd = "SGD, best rate", adam = "Adam, best rate" }

local function escaped(text) return (text:gsub("[%-().]", "%%%0")) end

scripts.it("table_1.lua and differences.lua --smoke show the store's means and differences, and chance",
  {}, function(folder)
  local out = scripts.run(folder, "cmu/table_1.lua", "--smoke --workers 0")
  check(not out:find "printed" and not out:find "MSLR", out)
  local results = mr.results(folder .. "/results/cmu/smoke.db", "systems, mslr, made-up data")
  equal(results:counts(), { done = 14 })
  local found = {}
  for _, system in ipairs{ "RankNet", "DirectRanker", "Class NN", "LambdaMART", "Rank LR", "Class LR", "Class RF",
    "Class Boost" } do
    local network = system:find "Net" or system:find "Direct" or system:find "NN"
    for _, recipe in ipairs(network and { "paper", "sgd", "adam" } or { false }) do
      local title = recipe and ("%s (%s)"):format(system, shown[recipe]) or system
      local number = trial_of(results, { system = title })
      found[title] = mean(results:per_list(number, "own"):totable())
      local text = out:match("[gn] +" .. escaped(title) .. "[^\n]- (%d%.%d%d%d%d) ")
      near(tonumber(text), found[title], 5e-5, title)
    end
  end
  local differences = scripts.run(folder, "cmu/differences.lua", "--smoke --workers 0")
  near(tonumber(differences:match "Class LR +Rank LR +([+-][%d.]+)"), found["Class LR"] - found["Rank LR"], 5e-5)
  local higher = 0
  for _, pair in ipairs{ { "Class LR", "Rank LR" }, { "Class Boost", "LambdaMART" },
    { "Class NN (SGD, 0.001)", "RankNet (SGD, 0.001)" }, { "Class NN (SGD, best rate)", "RankNet (SGD, best rate)" },
    { "Class NN (Adam, best rate)", "RankNet (Adam, best rate)" } } do
    higher = higher + (found[pair[1]] > found[pair[2]] and 1 or 0)
  end
  equal({ differences:match "in (%d+) of (%d+) pairs" }, { tostring(higher), "5" })
  local queries = dofile "scripts/cmu/queries.lua"
  local lists = queries.set({ smoke = true, data = "" }, "mslr").fold(1).test.lists
  local tied = mr.metrics.ndcg(mr.zeros({ lists.rows }), lists, { k = 10 }):totable()
  local relevant, counted = lists.relevant:totable(), {}
  for l, value in ipairs(tied) do counted[#counted + 1] = relevant[l] > 0 and value or nil end
  near(tonumber(out:match "random ranking +([%d.]+)"), mean(counted), 5e-5)
end)

scripts.it("figure_1.lua --smoke shows the values that the runs reported", { "gnuplot" }, function(folder)
  local out = scripts.run(folder, "cmu/figure_1.lua", "--smoke --workers 0")
  local results = mr.results(folder .. "/results/cmu/smoke.db", "systems, mslr, made-up data")
  for _, title in pairs(shown) do
    local reports = results:reports(trial_of(results, { system = ("RankNet (%s)"):format(title) }))
    local first, last = out:match("RankNet +" .. escaped(title) .. " +([%d.]+) +([%d.]+)")
    near({ tonumber(first), tonumber(last) }, reports.loss.values, 5e-5)
    equal(#reports["valid_ndcg@10"].values, 2)
  end
  check(sweeps.read(folder .. "/results/cmu/figure_1.svg"):lower():find("made-up", 1, true), "the figure says so")
end)

-- Returns a function that replaces training and records its arguments. Validation is best at one learning rate of each
-- network and optimizer, the test part at another.
local function stub(asked, best)
  return function(fold, o, trial)
    local call = { fold = fold, reports = trial ~= nil }
    for name, value in pairs(o) do call[name] = value end
    asked[#asked + 1] = call
    if o.rate == 10 and not trial then error "mr.fit: the loss is NaN in epoch 1" end
    local distance = o.rate and math.abs(math.log(o.rate / best[o.system .. " " .. o.optimiser])) or 0
    local values = {}
    for l = 1, fold.test.count do values[l] = distance + l / 8 + fold.number end
    return { valid = 1 - distance,
      test = { mean = { ["ndcg@10"] = distance }, ["ndcg@10"] = mr.tensor(values, { dtype = "float64" }) } }
  end
end

local counted = dofile("tests/support/protocols.lua").counted

scripts.it("queries.runs tunes rates on the first fold, and trains all systems on all folds with three seeds",
  {}, function(folder)
  data_folders.queries(folder .. "/mslr-web-slice", 1)
  data_folders.queries(folder .. "/mq2008", 3)
  local queries = dofile "scripts/cmu/queries.lua"
  local words = { "--data", folder, "--store", folder .. "/runs.db", "--workers", "0" }
  local args = in_process.with_words(words, function() return queries.args{} end)
  equal(args.sets, { "mslr", "mq2008" })
  equal({ queries.set(args, "mslr").folds, queries.set(args, "mq2008").folds }, { 1, 3 })
  local best, asked = { ["RankNet sgd"] = 0.1, ["RankNet adam"] = 0.001, ["DirectRanker sgd"] = 1,
    ["DirectRanker adam"] = 0.01, ["Class NN sgd"] = 3, ["Class NN adam"] = 0.03 }, {}
  queries.protocol.fit = stub(asked, best)
  local _, chosen = queries.runs(args, "mq2008")
  for _, system in ipairs(queries.protocol.systems) do
    equal(chosen[system.title].rate, system.by.rates and best[system.name .. " " .. system.recipe], system.title)
  end
  equal(mr.results(args.store, "systems, mq2008, settings"):counts(), { done = 42, failed = 3 })
  local tuning, rest = table.move(asked, 1, 45, 1, {}), table.move(asked, 46, #asked, 1, {})
  equal(counted(tuning, function(c)
    return ("%s %s on fold %d, seed %d"):format(c.system, c.optimiser, c.fold.number, c.seed)
  end), {
    ["RankNet sgd on fold 1, seed 1"] = 7, ["DirectRanker sgd on fold 1, seed 1"] = 7,
    ["Class NN sgd on fold 1, seed 1"] = 7, ["RankNet adam on fold 1, seed 1"] = 8,
    ["DirectRanker adam on fold 1, seed 1"] = 8, ["Class NN adam on fold 1, seed 1"] = 8 })
  local tried = {}
  for _, call in ipairs(tuning) do tried[("%s %g"):format(call.optimiser, call.rate)] = true end
  for _, name in ipairs{ "sgd 0.001", "sgd 10", "adam 3e-05", "adam 0.1" } do check(tried[name], name) end
  -- 3 networks in 3 recipes and one forest are trained with 3 seeds on 3 folds. The 4 other systems have no random
  -- numbers
  equal(#rest, 3 * 3 * (3 * 3 + 1) + 3 * 4)
  local data, protocol = mr.data.letor_folds(folder .. "/mq2008"), dofile "scripts/cmu/protocol.lua"
  for _, call in ipairs(asked) do
    equal({ call.epochs, call.rounds, call.trees, call.penalties }, { 60, 200, 300 })
    equal(call.fold.test.fingerprint, protocol.fold(data, call.fold.number).test.fingerprint)
  end
  for _, call in ipairs(rest) do
    equal(call.reports, call.rate ~= nil, "networks report every epoch: " .. call.system)
  end
  local seeds = counted(rest, function(c)
    return ("%s%s: fold %d, seed %d"):format(c.system, c.rate and " " .. c.rate or "", c.fold.number, c.seed)
  end)
  for fold = 1, 3 do
    for seed = 1, 3 do
      local where = (": fold %d, seed %d"):format(fold, seed)
      for _, name in ipairs{ "RankNet 0.001", "RankNet 0.1", "Class NN 0.03", "Class RF", "Rank LR" } do
        -- RankNet runs twice at this rate: it is the best rate of Adam, and the paper's rate of SGD
        local often = name == "Rank LR" and seed > 1 and 0 or name == "RankNet 0.001" and 2 or 1
        equal(seeds[name .. where] or 0, often, name .. where)
      end
    end
  end
end)

scripts.it("queries.runs keeps the values of a fold's test queries by name", {}, function(folder)
  data_folders.queries(folder .. "/mq2008", 3)
  local queries = dofile "scripts/cmu/queries.lua"
  local words = { "--data", folder, "--store", folder .. "/runs.db", "--workers", "0", "--sets", "mq2008",
    "--seeds", "5,2" }
  local args = in_process.with_words(words, function() return queries.args{} end)
  local asked, best = {}, {}
  for _, network in ipairs{ "RankNet", "DirectRanker", "Class NN" } do
    best[network .. " sgd"], best[network .. " adam"] = 0.1, 0.1
  end
  queries.protocol.fit = stub(asked, best)
  local results, names = queries.runs(args, "mq2008"), {}
  for split = 1, 3 do
    local number = trial_of(results, { system = "Class LR", split = split })
    local values, lists = results:per_list(number, "own"):totable(), results:per_list(number, "list"):totable()
    equal({ #values, #lists }, { split + 1, split + 1 })
    for l, name in ipairs(lists) do
      near(values[l], l / 8 + split, 1e-12)
      check(not names[name], "queries of two folds have two names")
      names[name] = true
    end
  end
  for _, call in ipairs(asked) do
    check(call.seed == 5 or call.seed == 2 and (call.rate or call.system == "Class RF"), call.system .. call.seed)
  end
  local columns = results:columns()
  local row = columns:rows("runs", { system = "RankNet (SGD, 0.001)", split = 1, draw = 2 })[1]
  near(columns:column("ndcg@10")[row], math.log(100), 1e-9)
  near(columns:column("valid")[row], 1 - math.log(100), 1e-9)
end)

-- Made-up effects of systems on nDCG of test queries, and on validation. LambdaMART and the forest are best on
-- validation, Rank LR and boosting on test. RankNet at the paper's rate has the best validation, and must be ignored in
-- comparisons.
local on_test = { ["Rank LR"] = 3 / 8, LambdaMART = 1 / 4, ["Class Boost"] = 3 / 8, ["Class RF"] = 1 / 8,
  ["Class LR"] = 1 / 4 }
local on_valid = { LambdaMART = 0.8, ["Rank LR"] = 0.7, ["RankNet (SGD, 0.001)"] = 0.95, ["Class RF"] = 0.8,
  ["Class Boost"] = 0.7 }

-- Returns the made-up nDCG of a query. The two seeds differ by 1/16 up and down. Adam raises all networks by 1/16, but
-- the classifier loses for two of the twelve queries.
local function value_of(trial, query)
  local seeds = trial.draw and (trial.draw == 1 and 1 or -1) / 16 or 0
  local adam = trial.system:find "Adam" and (trial.system:find "Class NN" and query > 10 and -1 / 16 or 1 / 16) or 0
  return 1 / 4 + query / 64 + (on_test[trial.system] or 0) + seeds + adam
end

-- Makes a study with runs on six queries in each of two folds.
local function made_runs(folder, name, protocol)
  local systems, drawn = {}, {}
  for i, system in ipairs(protocol.systems) do
    systems[i], drawn[#drawn + 1] = system.title, system.drawn and system.title or nil
  end
  return mr.sweep{ name = name, store = folder .. "/made.db", workers = 0, metric = "valid", progress = false,
    direction = "maximize", space = { system = mr.choice(systems), split = mr.range(1, 2),
      mr.when("system", drawn, { draw = mr.choice{ 1, 2 } }) },
    run = function(trial)
      local lists = { own = {}, list = {} }
      for i = 1, 6 do
        lists.list[i] = trial.split == 1 and i or 13 - i
        lists.own[i] = value_of(trial, lists.list[i])
      end
      return { valid = on_valid[trial.system] or 0.5, ["ndcg@10"] = 0.5 + trial.split / 8, per_list = lists }
    end }
end

-- Returns the section of table_1.lua or differences.lua, made from these runs on two data sets.
local function section_of(script)
  local folder = sweeps.new_folder()
  local lists = mr.lists{ { 1, 0 }, { 0, 1 } }
  local words = { "--sets", "mslr,mq2008", "--seeds", "1,2" }
  return in_process.section(script, words, { queries = function(queries)
    rawset(queries, "set", function(_, name)
      return { title = name, folds = 2, fold = function() return { test = { lists = lists } } end }
    end)
    rawset(queries, "runs", function(_, name)
      local best = {}
      for _, system in ipairs(queries.protocol.systems) do
        best[system.title] = { rate = system.recipe == "sgd" and 10 or system.recipe == "adam" and 0.01 or nil }
      end
      return made_runs(folder, name, queries.protocol), best
    end)
  end })
end

-- Returns the number of training runs behind the cell nDCG@10 in one row of the MSLR slice. The row is given by its
-- cells from column `from` on.
local function runs_of(section, from, ...)
  local wanted = table.concat({ "mslr", ... }, "|")
  for _, row in ipairs(section.tables[1].rows) do
    local key = row[1] .. "|" .. table.concat(row, "|", from, 3)
    if key == wanted then return section.cells[1].runs(row, "nDCG@10") end
  end
end

it("table_1.lua counts a query once for all seeds", function()
  local section, rows = section_of "scripts/cmu/table_1.lua", {}
  for _, row in ipairs(in_process.records(section.tables[1])) do rows[row.data .. " " .. row.system] = row end
  local usual = 1 / 4 + 6.5 / 64
  local lr, ranknet = rows["mslr Rank LR"], rows["mslr RankNet (SGD, best rate)"]
  near({ lr["nDCG@10"], ranknet["nDCG@10"], lr["sd of runs"] }, { usual + 3 / 8, usual, 1 / 8 / math.sqrt(2) }, 1e-6)
  equal({ lr.queries, ranknet.queries, rows["mslr Class RF"].queries }, { 12, 12, 12 })
  equal({ ranknet.rate, rows["mslr RankNet (Adam, best rate)"].rate, rows["mslr RankNet (SGD, 0.001)"].rate,
    lr.rate }, { "10 (edge)", "0.01", "0.001", "" })
  -- printed numbers are shown for the MSLR slice only, and for networks only at the paper's learning rate
  equal({ rows["mslr RankNet (SGD, 0.001)"]["printed (WEB10K)"], lr["printed (WEB10K)"], ranknet["printed (WEB10K)"],
    rows["mq2008 Rank LR"]["printed (WEB10K)"] }, { 0.1923, 0.1718 })
  -- a random ranking puts the one relevant row of two first or second with equal probability
  near(rows["mslr random ranking"]["nDCG@10"], (1 + math.log(2) / math.log(3)) / 2, 1e-6)
  -- the number of runs behind a mean: two folds, times two seeds for systems with random training
  equal({ runs_of(section, 3, "Rank LR"), runs_of(section, 3, "Class RF"), runs_of(section, 3, "random ranking") },
    { 2, 4, 0 })
end)

it("table_1.lua's random level is the mean over the test queries of all folds", function()
  local folder = sweeps.new_folder()
  -- In fold 1 every ranking of the one query has an nDCG of 1. In fold 2 there are three queries of two documents.
  local folds = { mr.lists{ { 1, 1 } }, mr.lists{ { 1, 0 }, { 1, 0 }, { 0, 1 } } }
  local section = in_process.section("scripts/cmu/table_1.lua", { "--sets", "mq2008", "--seeds", "1,2" },
    { queries = function(queries)
      rawset(queries, "set", function()
        return { title = "made", folds = 2, fold = function(number) return { test = { lists = folds[number] } } end }
      end)
      rawset(queries, "runs", function(_, name)
        return made_runs(folder, name, queries.protocol), setmetatable({}, { __index = function() return {} end })
      end)
    end })
  local level = in_process.records(section.tables[1])[1]
  equal(level.system, "random ranking")
  near(level["nDCG@10"], (1 + 3 * (1 + math.log(2) / math.log(3)) / 2) / 4, 1e-6)
end)

it("differences.lua finds the best of each kind on validation, and compares queries once for all seeds", function()
  local section, differences = section_of "scripts/cmu/differences.lua", {}
  for _, row in ipairs(in_process.records(section.tables[1])) do
    differences[("%s %s - %s"):format(row.data, row.a, row.b)] = row
  end
  local best = differences["mslr Class RF - LambdaMART"]
  near({ best["a - b"], best.p, best.queries }, { -1 / 8, 2 / 4096, 12 }, 1e-6)
  local some = differences["mslr Class NN (Adam, best rate) - Class NN (SGD, best rate)"]
  near({ some["a - b"], some.p }, { 1 / 24, 2 * (1 + 12 + 66) / 4096 }, 1e-6)
  local text = section.text:gsub("%s+", " ")
  check(text:find("Class RF, [^.]* LambdaMART, [^.]*%-0%.1250"), text)
  -- the number of runs behind a change counts the runs of both systems
  equal({ runs_of(section, 2, "Class RF", "LambdaMART"), runs_of(section, 2, "Class LR", "Rank LR") }, { 6, 4 })
  -- of five pairs of classifier and ranker, the classifier is significantly better in one (boosting) and worse in one
  -- (logistic regression). With Adam, the classifier is worse than RankNet for two of twelve queries
  equal(in_process.numbers(section.finding), { 10, 1, 5, 1, 1, 1, 5, 1, 1 })
  -- Adam is better than SGD for all three networks, significantly for two after Holm's correction
  for part in text:gmatch "Adam is ahead(.-)%. " do
    local counts = in_process.numbers(part)
    equal({ counts[1], counts[2], counts[3] }, { 3, 3, 2 }, part)
  end
end)
