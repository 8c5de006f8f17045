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
  RankNet = 0.1923, DirectRanker = 0.1745, LambdaMART = 0.2215, ["Rank LR"] = 0.1718,
  ["Class NN"] = 0.1465, ["Class LR"] = 0.3595, ["Class RF"] = 0.3733, ["Class Boost"] = 0.4543,
}

local args, protocol = queries.args{}, queries.protocol

-- Returns the expected nDCG@10 of random rankings on a data set, as the mean over all test lists.
local function random_level(set)
  local folds = {}
  for i = 1, set.folds do folds[i] = mr.bounds.stats(protocol.metric, set.fold(i).test.lists).expectation end
  return mr.stats.mean(mr.cat(folds))
end

-- The rows of the table, and for each data set, by title of the system, test nDCG@10 of every query (mean over seeds),
-- mean validation nDCG@10, and number of training runs.
local records, found = {}, {}
for i, name in ipairs(args.sets) do
  local set, results, best = queries.set(args, name), queries.runs(args, name)
  local data = { title = set.title, values = {}, valid = {}, runs = {}, random = random_level(set) }
  records[#records + 1] =
    { data = set.title, kind = "", system = "random ranking", rate = "", mean = data.random, runs = 0 }
  for _, system in ipairs(protocol.systems) do
    local title, where, rate = system.title, { system = system.title }, system.by.rate or best[system.title].rate
    local values, runs = experiment.by_list({ results }, where, "own"), experiment.folds(results, where, "ndcg@10")
    local interval = mr.stats.bootstrap(values)
    data.values[title], data.runs[title] = values, #runs
    data.valid[title] = mr.stats.mean(experiment.folds(results, where, "valid"))
    records[#records + 1] = { data = set.title, kind = system.kind, system = title, runs = #runs,
      rate = rate and ("%g%s"):format(rate, protocol.at_edge(system, rate) and " (edge)" or "") or "",
      mean = interval.estimate, low = interval.low, high = interval.high, queries = interval.n,
      sd = mr.stats.summary(runs).sd, printed = name ~= "mq2008" and not system.by.rates and published[system.name] }
  end
  found[i] = data
end
local compared = protocol.compare(found)

-- Counts the comparisons on a data set that have a reason, e.g. "families": all of them, those with a positive
-- difference, and those that are significantly positive and negative.
local function count(data, reason)
  local all, ahead, sure = 0, 0, { [true] = 0, [false] = 0 }
  for _, c in ipairs(compared) do
    if c.data == data and c[reason] then
      local is_ahead = c.change > 0
      all, ahead = all + 1, ahead + (is_ahead and 1 or 0)
      sure[is_ahead] = sure[is_ahead] + (protocol.significant(c.holm) and 1 or 0)
    end
  end
  return all, ahead, experiment.are(sure[true]), experiment.are(sure[false])
end

local texts, outcomes, beside = {}, {}, ""
for i, data in ipairs(found) do
  local said, best = data.title:find "slice$" and "the " .. data.title or data.title, nil
  for _, c in ipairs(compared) do best = c.data == data and c.best and c or best end
  local n, more, better, worse = count(data, "families")
  local of, ahead, sure, unsure = count(data, "Adam and sgd")
  texts[i] = ([[
On %s the classifier has a higher mean than the ranker of its kind in %d of %d pairs; %s significantly better
and %s significantly worse. The classifier that is best on validation, %s, differs from the ranker that is, %s, by
%+.4f (95 %% from %+.4f to %+.4f, p = %.2g after correction). Adam is ahead of descent, both at their best rates,
for %d of %d networks; %s significantly ahead and %s significantly behind. Random rankings have %.4f.]]):format(
    said, more, n, better, worse, best.a, best.b, best.change, best.low, best.high, best.holm, ahead, of, sure, unsure,
    data.random)
  outcomes[i] = ("on %s in %d of %d pairs (%s significantly better, %s significantly worse)"):format(said, more, n,
    better, worse)
  if said == "the MSLR slice" then
    beside = "\n\nThe printed numbers are of MSLR-WEB10K, beside the slice only for orientation: it has a hundredth of "
      .. "the queries."
  end
end
local section = experiment.finish(args, nil, table.concat(texts, "\n\n") .. beside,
  experiment.table{ caption = "Test nDCG@10", records = records, within = { "data" }, by = "bootstrap over queries",
    runs = function(each, column) return not column:find "^printed" and each.runs or 0 end,
    columns = { { "data" }, { "kind" }, { "system" }, { "rate" },
      { "nDCG@10", "mean", format = "%.4f", mark = "max" }, { "low", format = "%.4f" }, { "high", format = "%.4f" },
      { "sd of runs", "sd", format = "%.4f" }, { "queries" },
      not args.made_up and { "printed (WEB10K)", "printed", format = "%.4f" } }, legend = ([[
nDCG@10: mean over test queries, where labels of 2 and more are relevant%s; rate: learning rate; sd of runs: standard
deviation of the runs' means; queries: that have a value%s.]]):format(#args.seeds == 1
    and "; models have seed " .. args.seeds[1]
    or "; a query's value is the mean over the models of seeds " .. table.concat(args.seeds, ", "),
    args.made_up and "" or "; printed (WEB10K): in the paper") },
  experiment.table{ caption = "Differences in test nDCG@10", records = compared, by = "bootstrap over queries",
    runs = function(each) return each.data.runs[each.a] + each.data.runs[each.b] end,
    columns = { { "data", function(each) return each.data.title end }, { "a" }, { "b" },
      { "a - b", "change", format = "%+.4f" }, { "low", format = "%+.4f" }, { "high", format = "%+.4f" },
      { "p", format = "%.2g" }, { "p, Holm", "holm", format = "%.2g", mark = 0.05 }, { "queries", "n" } }, legend = [[
a - b: difference of the means of the two systems of the row, paired by query; p: of a permutation test; p, Holm:
corrected over the table.]] })
section.finding = not args.made_up and ("Classifiers of documents have a higher nDCG@10 than rankers of their kind %s.")
  :format(table.concat(outcomes, ", and ")) or nil
return section
