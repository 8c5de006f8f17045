-- LambdaMART and its relatives (Seguí's lecture, slide "Lambda Mart"): which trees rank best on MQ2008's own five
-- folds?

-- Data: MQ2008 (46 features, labels 0 to 2). Models: trees of depth 5 at eta 0.1, one thread. Validation AP chooses the
-- round, among at most 200 rounds. A random forest has no rounds.
-- Metrics: a query without relevant documents counts as 0 in nDCG@10 and MAP; the last column leaves such queries out.
-- nDCG@10 has the discount 1 / log2(1 + rank). The column beside it is nDCG@10 of LETOR's evaluation script
-- (mr.metrics.letor_ndcg), which has the discounts 1, 1, 1 / log2(rank) and counts queries with fewer than 10 documents
-- as 0. For AP, labels 1 and 2 are relevant. Tied documents get the mean over their orders.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, protocol, trees = mr.experiment, dofile(here .. "protocol.lua"), dofile(here .. "trees.lua")

local args = mr.args{
  rounds = { default = 200, least = 1, most = 0x7fffffff, help = "largest number of boosting rounds" },
  trees = { default = 300, least = 1, most = 0x7fffffff, help = "number of trees of the random forest" },
  data = { path = "data folder", default = "",
    help = "folder that has mq2008", shown = "where the program looks for data" },
  seed = { default = 1, least = 0, most = 0x7fffffff, help = "seed of the rows and features that are drawn" },
  smoke = { default = false, sets = { rounds = 5, trees = 10 }, ignores = { "data" },
    help = "test the script with made-up queries" },
}

local folds, title = protocol.queries(args)
local boosted, forest = trees.options(false, args), trees.options(true, args)

-- Rankers as rows {name, loss, options of the trees}. The loss is an object of this library, or the name of an
-- objective of XGBoost.
local rankers = {
  { "LambdaMART, nDCG", mr.losses.lambdarank{}, boosted },
  { "LambdaMART, AP", mr.losses.lambdarank{ metric = "ap" }, boosted },
  { "LambdaMART, nDCG, minmax", mr.losses.lambdarank{ bound = "minmax" }, boosted },
  { "RankNet", mr.losses.ranknet{}, boosted },
  { "smooth nDCG", mr.losses.ndcg{}, boosted },
  { "smooth AP, minmax", mr.losses.ap{ bound = "minmax" }, boosted },
  { "XGBoost rank:ndcg", "rank:ndcg", boosted },
  { "XGBoost rank:map", "rank:map", boosted },
  { "MART", "reg:squarederror", boosted },
  { "McRank", "multi:softprob", boosted },
  { "random forest", "reg:squarederror", forest },
}

-- Trains a ranker on every fold. Returns the means over folds of four metrics: nDCG@10, LETOR's nDCG@10 and AP with
-- queries without relevant documents as 0, and nDCG@10 without these queries. The second result has the values of
-- each fold.
local function measured(ranker)
  local sums, own, of_folds = { 0, 0, 0, 0 }, type(ranker[2]) ~= "string", { {}, {}, {}, {} }
  for i = 1, #folds do
    local fold, options = folds[i], { objective = not own and ranker[2] or nil }
    for name, value in pairs(ranker[3]) do options[name] = value end
    local model = mr.models.trees(options)
    trees.fit(model, own and ranker[2] or nil, fold)
    local test = fold.test
    local scores = model{ lists = test.lists, features = test.features }
    local values = { trees.judge(scores, test.lists) }
    for c, value in ipairs(values) do sums[c], of_folds[c][i] = sums[c] + value / #folds, value end
  end
  return sums, of_folds
end

local records, columns, best = {}, { { "trees by", 1 } }, nil
for c, head in ipairs{ "nDCG@10", "LETOR", "MAP", "nDCG@10 skip" } do
  columns[1 + c] = { head, 1 + c, format = "%.4f", mark = "max" }
end
for i, ranker in ipairs(rankers) do
  local means, of_folds = measured(ranker)
  records[i] = { ranker[1] }
  for c, values in ipairs(of_folds) do
    records[i][1 + c] = { means[c], table.unpack(experiment.over_runs(values) or {}) }
  end
  best = best and best[2][1] >= means[1] and best or records[i]
end
args.made_up = args.smoke
local section = experiment.finish(args, nil, ([[
The table has means over %d %s of %s. The highest nDCG@10 is that of %s.]]):format(#folds,
    #folds == 1 and "fold" or "folds", title, best[1]),
  experiment.table{ records = records, columns = columns, by = "Student's t over folds", runs = #folds, legend = [[
nDCG@10, MAP: a query without relevant documents counts as 0; LETOR: nDCG@10 by the rule of LETOR's evaluation script,
where a query with fewer than 10 documents counts as 0 as well and discounts are 1, 1, 1 / log2(rank); nDCG@10 skip:
without queries that have no relevant documents.]] })
section.trainings = #rankers * #folds
return section
