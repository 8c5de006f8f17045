-- Tests trees against XGBoost's Python package (tests/golden/make_trees.py): its own objectives, and LambdaRank and
-- RankNet with derivatives computed by NumPy.
local mr = require "moonrank"
local find = require "moonrank.data.find"
local test = require "moonrank.test"
local trees = dofile("tests/support/trees.lua")
local describe, near, equal, check = test.describe, test.near, test.equal, test.check

local it_grows = trees.it

local losses = { lambdarank = mr.losses.lambdarank{}, ranknet = mr.losses.ranknet{} }

-- Trains the model of a case of the reference file.
local function grown(case, train)
  local options = { rounds = case.rounds, objective = losses[case.objective] and "loss" or case.objective }
  for name, value in pairs(case.options) do options[name] = value end
  local model = mr.models.trees(options)
  mr.fit{ model = model, loss = losses[case.objective], train = train, progress = false }
  return model
end

describe("trees equal XGBoost's Python package for", function()
  for i, case in ipairs(trees.golden.cases) do
    local threshold = case.objective == "binary:logistic" and 1 or nil
    it_grows(("%s, case %d"):format(case.objective, i), function()
      local model = grown(case, trees.part("train", threshold))
      near(trees.scores(model, trees.part("valid")), case.scores, { atol = 2e-6, rtol = 2e-6 })
      local features = {}
      for _, row in ipairs(model:importances().rows) do
        local feature = tostring(row[1])
        features[#features + 1] = feature
        near(row[2], case.importance.gain[feature], { rtol = 1e-4 })
        near(row[3], case.importance.cover[feature], { rtol = 1e-4 })
        equal(row[4], math.tointeger(case.importance.weight[feature]))
      end
      local all = 0
      for _ in pairs(case.importance.gain) do all = all + 1 end
      equal(#features, all)
    end)
  end
end)

describe("trees on MQ2008", function()
  for _, case in ipairs(trees.golden.mq2008) do
    it_grows("give the nDCG@10 of XGBoost's Python package: " .. case.objective, function()
      local found, folder = pcall(find.path, "mq2008")
      if not found then return test.skip "MQ2008 is not here (MOONRANK_DATA)" end
      local fold = mr.data.letor_folds(folder)[1]
      local scores = trees.scores(grown(case, fold.train), fold.test)
      near(scores:narrow(1, 1, #case.scores), case.scores, { atol = 1e-5, rtol = 1e-5 })
      near(mr.evaluate(scores, fold.test.lists, { "ndcg@10" }).mean["ndcg@10"], case["ndcg@10"], 1e-6)
      local of_all = mr.evaluate(scores, fold.test.lists, { "ndcg@10" }, { empty = "zero" })
      near(of_all.mean["ndcg@10"], case["ndcg@10 of all"], 1e-6)
      check(case["ndcg@10"] > 0.65)
    end)
  end
end)
