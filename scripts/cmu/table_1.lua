-- Table 1 of Li & Wu, Application of Neural Networks in Ranking: does a classifier of documents rank better than a
-- ranker if labels are binary? The paper finds that it does on MSLR-WEB10K, and that Adam "does not fit well".

-- Data: the slice of MSLR-WEB (one fold) and MQ2008 (five folds), features standardised by the training part, or
-- MSLR-WEB10K itself: --sets web10k --data FOLDER (with MSLR-WEB10K/Fold1 to Fold5). The metric is nDCG@10. Models:
-- networks of 100 and 30 hidden units, by SGD at the paper's rate of 0.001, by SGD at the best of seven rates, and by
-- Adam at the best of eight; at most 200 trees of depth 5 at eta 0.1; 300 trees of depth 12; logistic regressions with
-- the best of seven penalties. Validation chooses rates, epochs, rounds and penalties. differences.lua has the tests.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local queries, experiment = dofile(here .. "queries.lua"), mr.experiment

-- Test nDCG@10 on MSLR-WEB10K as printed in Table 1 of Li & Wu. Labels of 2 and more count as relevant.
local published = {
  RankNet = 0.1923, DirectRanker = 0.1745, LambdaMART = 0.2215, ["Rank LR"] = 0.1718,
  ["Class NN"] = 0.1465, ["Class LR"] = 0.3595, ["Class RF"] = 0.3733, ["Class Boost"] = 0.4543,
}

local args, protocol, records = queries.args{}, queries.protocol, {}

-- Returns the expected nDCG@10 of random rankings on a data set, as the mean over all test queries.
local function random_level(set)
  local folds = {}
  for i = 1, set.folds do folds[i] = mr.bounds.stats(protocol.metric, set.fold(i).test.lists).expectation end
  return mr.stats.mean(mr.cat(folds))
end

for _, name in ipairs(args.sets) do
  local set, results, best = queries.set(args, name), queries.runs(args, name)
  records[#records + 1] = { data = set.title, kind = "", system = "random ranking", mean = random_level(set), runs = 0 }
  for _, system in ipairs(protocol.systems) do
    local where, rate = { system = system.title }, system.by.rate or best[system.title].rate
    local runs = experiment.folds(results, where, protocol.metric)
    local mean = mr.stats.bootstrap(experiment.by_list({ results }, where, "own"))
    records[#records + 1] = { data = set.title, kind = system.kind, system = system.title, runs = #runs,
      rate = rate and ("%g%s"):format(rate, protocol.at_edge(system, rate) and " (edge)" or "") or "",
      mean = mean.estimate, low = mean.low, high = mean.high, queries = mean.n, sd = mr.stats.summary(runs).sd,
      printed = name ~= "mq2008" and not system.by.rates and published[system.name] }
  end
end

return experiment.finish(args, nil, args.made_up and "" or [[
The printed numbers are of MSLR-WEB10K. They stand beside the slice only for orientation: it has a hundredth of the
queries.]], experiment.table{ caption = "Test nDCG@10", records = records, within = { "data" },
    by = "bootstrap over queries",
    runs = function(each, column) return not column:find "^printed" and each.runs or 0 end,
    columns = { { "data" }, { "kind" }, { "system" }, { "rate" },
      { "nDCG@10", "mean", format = "%.4f", mark = "max" }, { "low", format = "%.4f" }, { "high", format = "%.4f" },
      { "sd of runs", "sd", format = "%.4f" }, { "queries" },
      not args.made_up and { "printed (WEB10K)", "printed", format = "%.4f" } }, legend = ([[
nDCG@10: mean over test queries, where labels of 2 and more are relevant%s; rate: learning rate; sd of runs: standard
deviation of the runs' means; queries: that have a value%s.]]):format(#args.seeds == 1
    and "; models have seed " .. args.seeds[1]
    or "; a query's value is the mean over the models of seeds " .. table.concat(args.seeds, ", "),
    args.made_up and "" or "; printed (WEB10K): in the paper") })
