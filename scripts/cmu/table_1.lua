-- Table 1 of Li & Wu, Application of Neural Networks in Ranking: does a classifier of documents rank better than a
-- ranker if labels are binary? The paper finds that it does on MSLR-WEB10K, and that Adam "does not fit well".
-- Data: the slice of MSLR-WEB (one fold) and MQ2008 (five folds), with features standardised by the training part.
-- --sets web10k --data FOLDER takes MSLR-WEB10K itself (FOLDER/MSLR-WEB10K/Fold1 to Fold5). Labels of 2 and more are
-- relevant. The metric is nDCG@10; queries without relevant documents are left out.
-- Models: networks of 100 and 30 hidden units with 100 documents per step, trained by SGD at the paper's rate of 0.001,
-- by SGD at the best of seven rates, and by Adam at the best of eight; trees of depth 5 in at most 200 rounds at eta
-- 0.1; 300 trees of depth 12; logistic regressions with the best of seven penalties. Validation chooses rates, epochs,
-- rounds and penalties.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local queries, experiment = dofile(here .. "queries.lua"), mr.experiment

-- Printed test nDCG@10 on MSLR-WEB10K, where labels of 2 and more count as relevant.
local published = {
  ranking = { { "RankNet", 0.1923 }, { "DirectRanker", 0.1745 }, { "LambdaMART", 0.2215 }, { "Rank LR", 0.1718 } },
  classification = { { "Class NN", 0.1465 }, { "Class LR", 0.3595 }, { "Class RF", 0.3733 },
    { "Class Boost", 0.4543 } },
}

local args, protocol = queries.args{}, queries.protocol

-- Returns the name of a data set as it is used within a sentence, e.g. "the MSLR slice".
local function said_of(title) return title:find "slice$" and "the " .. title or title end

-- Systems (rankers and classifiers) in the order of the table: kind (ranking or classification), name, and for
-- networks the training recipe (optimizer and how its learning rate is chosen).
local systems = {}
local is_network, printed = {}, {}
for _, name in ipairs(protocol.networks) do is_network[name] = true end
for _, kind in ipairs{ "ranking", "classification" } do
  for _, line in ipairs(published[kind]) do
    local name = line[1]
    printed[name] = line[2]
    for _, recipe in ipairs(is_network[name] and protocol.recipes or { false }) do
      systems[#systems + 1] = { kind = kind, name = name, recipe = recipe or nil,
        where = { system = name, recipe = recipe or nil } }
    end
  end
end

local function title_of(system) return protocol.title(system.name, system.recipe) end

-- Returns the expected nDCG@10 of random rankings on a data set, as the mean over all test lists.
local function random_level(set)
  local all = {}
  for number = 1, set.folds do
    local found = mr.bounds.stats(protocol.metric, set.fold(number).test.lists).expectation:totable()
    table.move(found, 1, #found, #all + 1, all)
  end
  return mr.stats.mean(all)
end

-- Returns a network's learning rate as text, followed by " (edge)" if it is the smallest or largest rate that was
-- tried. Returns "" for systems that are not networks.
local function rate_text(system, rates, at_edge)
  if not system.recipe then return "" end
  local _, rate = protocol.trained_by(system.recipe, system.name, rates)
  return ("%g%s"):format(rate, at_edge[system.name .. " " .. system.recipe] and " (edge)" or "")
end

local counted = {}  -- number of training runs, by the data set's title followed by the system's title

-- Returns, for one data set, the test nDCG@10 of every query under each system (mean over seeds), and the data set's
-- rows of the table.
local function measured(name)
  local set, results, rates, at_edge = queries.set(args, name), queries.runs(args, name)
  local data = { title = set.title, values = {}, valid = {}, random = random_level(set) }
  local lines = { { set.title, "", "random ranking", "", data.random } }
  for _, system in ipairs(systems) do
    local values = experiment.by_list({ results }, system.where, "own")
    local interval = mr.stats.bootstrap(values)
    local rate = rate_text(system, rates, at_edge)
    data.values[title_of(system)] = values
    counted[set.title .. title_of(system)] = #experiment.runs(results, system.where)
    data.valid[title_of(system)] = mr.stats.mean(experiment.folds(results, system.where, "valid"))
    lines[#lines + 1] = { set.title, system.kind, title_of(system), rate, interval.estimate, interval.low,
      interval.high, mr.stats.summary(experiment.folds(results, system.where, protocol.metric)).sd, interval.n,
      not args.made_up and name ~= "mq2008" and system.recipe ~= "sgd" and system.recipe ~= "adam"
      and printed[system.name] or nil }
  end
  return data, lines
end

local found, rows = {}, {}
for i, name in ipairs(args.sets) do
  local data, lines = measured(name)
  found[i] = data
  table.move(lines, 1, #lines, #rows + 1, rows)
end
local heads = { "data", "kind", "system", "rate", "nDCG@10", "low", "high", "sd of runs", "queries" }
local formats = { ["nDCG@10"] = "%.4f", low = "%.4f", high = "%.4f", ["sd of runs"] = "%.4f" }
if not args.made_up then heads[10], formats["printed (WEB10K)"] = "printed (WEB10K)", "%.4f" end
local levels = mr.table{ columns = heads, rows = rows, formats = formats, mark = { ["nDCG@10"] = "max" },
  within = { "data" } }

local compared = protocol.compare(systems, found)
local lines = {}
for i, c in ipairs(compared) do lines[i] = { c.data.title, c.a, c.b, c.change, c.low, c.high, c.p, c.holm, c.n } end
local differences = mr.table{ columns = { "data", "a", "b", "a - b", "low", "high", "p", "p, Holm", "queries" },
  rows = lines, formats = { ["a - b"] = "%+.4f", low = "%+.4f", high = "%+.4f", p = "%.2g", ["p, Holm"] = "%.2g" },
  mark = { ["p, Holm"] = 0.05 } }

-- Counts the comparisons of two systems on a data set that have the given reason, e.g. "families": classifiers with
-- rankers of their kind. Returns the numbers of all, of positive, of significantly better and of significantly worse
-- differences.
local function count(data, reason)
  local n, more, better, worse = 0, 0, 0, 0
  for _, c in ipairs(compared) do
    if c.data == data and c[reason] then
      n, more = n + 1, more + (c.change > 0 and 1 or 0)
      if protocol.significant(c.holm) then
        if c.change > 0 then better = better + 1 else worse = worse + 1 end
      end
    end
  end
  return n, more, better, worse
end
local function sentences(data)
  local n, more, better, worse = count(data, "families")
  local best
  for _, c in ipairs(compared) do
    if c.data == data and c.best then best = c end
  end
  local of, ahead, sure, unsure = count(data, "Adam and sgd")
  return ([[
On %s the classifier has a higher mean than the ranker of its kind in %d of %d pairs; %s significantly better and %s
significantly worse. The classifier that is best on validation, %s, differs from the ranker that is, %s, by %+.4f (95 %% from %+.4f to
%+.4f, p = %.2g after correction). Adam is ahead of descent, both at their best rates, for %d of %d networks; %s significantly
ahead and %s significantly behind. Random rankings have %.4f.]]):format(
    said_of(data.title), more, n, experiment.are(better),
    experiment.are(worse), best.a, best.b, best.change, best.low, best.high, best.holm, ahead, of,
    experiment.are(sure), experiment.are(unsure), data.random)
end
local parts = {}
for i, data in ipairs(found) do parts[i] = sentences(data) end
local of_seeds = #args.seeds == 1 and "; models have seed " .. args.seeds[1]
  or "; a query's value is the mean over the models of seeds " .. table.concat(args.seeds, ", ")
local beside = ""
for _, name in ipairs(args.made_up and {} or args.sets) do
  if name == "mslr" then
    beside = "\n\nThe printed numbers are of MSLR-WEB10K, beside the slice only for orientation: it has a hundredth of "
      .. "the queries."
  end
end
local section = experiment.finish(args, nil, table.concat(parts, "\n\n") .. beside,
  experiment.named("Test nDCG@10", levels, experiment.cells("bootstrap over queries", function(row, column)
    return not column:find "^printed" and (counted[row[1] .. row[3]] or 0) or 0
  end), ([[
nDCG@10: mean over test queries, where labels of 2 and more are relevant%s; rate: learning rate; sd of runs: standard
deviation of the runs' means; queries: that have a value%s.]]):format(
    of_seeds, args.made_up and "" or "; printed (WEB10K): in the paper")),
  experiment.named("Differences in test nDCG@10", differences, experiment.cells("bootstrap over queries", function(row)
    return counted[row[1] .. row[2]] + counted[row[1] .. row[3]]
  end), [[
a - b: difference of the means of the two systems of the row, paired by query; p: of a permutation test; p, Holm:
corrected over the table.]]))
local outcomes = {}
for i, data in ipairs(args.made_up and {} or found) do
  local n, more, better, worse = count(data, "families")
  outcomes[i] = ("on %s in %d of %d pairs (%s significantly better, %s significantly worse)"):format(
    said_of(data.title), more, n, experiment.are(better), experiment.are(worse))
end
section.finding = #outcomes > 0
  and ("Classifiers of documents have a higher nDCG@10 than rankers of their kind %s."):format(
    table.concat(outcomes, ", and "))
  or nil
return section
