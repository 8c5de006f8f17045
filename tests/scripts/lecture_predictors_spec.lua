-- The predictors of the lecture's cremonesi.lua, scripts/lecture/predictors.lua, against models that the tests make.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check = test.it, test.equal, test.near, test.check

local predictors = dofile "scripts/lecture/predictors.lua"
local by_name = {}
for _, each in ipairs(predictors.all) do by_name[each.name] = each end

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, mean_activity = 30, noise = 0.3 }
local fold = predictors.graded_fold(ratings, 2, 1)

local function scores_of(model, set)
  return mr.no_grad(function() return model(set:batches{ size = set.count }()) end)
end

-- A number in the settings of a predictor: its smallest and largest value, and how many values there are.
local function range_of(name, key)
  local values, seen = {}, {}
  for _, setting in ipairs(by_name[name].settings) do
    if not seen[setting[key]] then values[#values + 1], seen[setting[key]] = setting[key], true end
  end
  table.sort(values)
  return ("%g to %g, %d"):format(values[1], values[#values], #values)
end

it("predictors.lua lists every combination of rate, decay and epochs as a setting", function()
  equal({ range_of("item kNN", "k"), range_of("PureSVD", "factors") }, { "20 to 200, 4", "5 to 50, 4" })
  local name = "biased MF, squared errors"
  equal({ range_of(name, "rate"), range_of(name, "decay"), range_of(name, "epochs") },
    { "0.003 to 0.01, 2", "1e-05 to 0.0003, 3", "10 to 30, 3" })
  equal(#by_name[name].settings, 2 * 3 * 3)
  for _, each in ipairs{ "MF, BPR", "MF, LambdaRank" } do
    equal({ range_of(each, "rate"), range_of(each, "decay"), range_of(each, "epochs") },
      { "0.003 to 0.01, 2", "0.0001 to 0.001, 2", "20 to 40, 2" })
    equal(#by_name[each].settings, 2 * 2 * 2)
  end
  local texts = {}
  for _, each in ipairs(predictors.all) do
    for _, setting in ipairs(each.settings) do
      local text = each.name .. ": " .. predictors.text(setting)
      check(not texts[text], text)
      texts[text] = true
    end
  end
end)

it("text names the parts of a setting in the order of the alphabet", function()
  equal(predictors.text{ rate = 0.01, decay = 1e-4, epochs = 20 }, "decay 0.0001, epochs 20, rate 0.01")
  local parts, expected = {}, {}
  for letter in ("qwertyuiopasdfghjkl"):gmatch "." do parts[letter], expected[#expected + 1] = 1, letter .. " 1" end
  table.sort(expected)
  equal(predictors.text(parts), table.concat(expected, ", "))
end)

it("the settings in the results file are among those that are tried", function()
  local rows = {}
  for line in io.lines "docs/results/lecture/cremonesi.csv" do
    local name, setting = line:gsub('"', ""):match "^[^,]*,[^,]*,(.*),setting,(.-),,"
    if name then rows[name] = setting end
  end
  for _, each in ipairs(predictors.all) do
    local tried = {}
    for _, setting in ipairs(each.settings) do tried[predictors.text(setting)] = true end
    equal(rows[each.name] ~= nil, #each.settings > 1, each.name)
    check(not rows[each.name] or tried[rows[each.name]], ("%s: %s"):format(each.name, rows[each.name]))
  end
end)

it("predictors.lua makes models by setting and seed, and trains factors with the loss of their name", function()
  for _, k in ipairs{ 2, 60 } do
    near(scores_of(by_name["item kNN"].make(fold, { k = k }, 1), fold.test),
      scores_of(mr.models.item_knn{ fold = fold, k = k }, fold.test), 1e-6)
  end
  local setting = { rate = 0.02, decay = 1e-3, epochs = 2 }
  for name, loss in pairs{ ["MF, BPR"] = mr.losses.bpr, ["MF, LambdaRank"] = mr.losses.lambdarank } do
    local same = mr.models.mf{ users = fold.users, items = fold.items, factors = 32, init = 0.01, seed = 5 }
    mr.fit{ model = same, loss = loss(), train = fold.with_negatives.train, epochs = 2, seed = 5, progress = false,
      optimizer = mr.optim.adam{ lr = 0.02, weight_decay = 1e-3 } }
    near(scores_of(by_name[name].make(fold, setting, 5), fold.test), scores_of(same, fold.test), 1e-5, name)
  end
  for seed = 1, 2 do
    near(scores_of(by_name.random.make(fold, {}, seed), fold.test),
      scores_of(mr.models.random{ seed = seed }, fold.test), 1e-6)
    local svd = mr.models.pure_svd{ fold = fold, factors = 5 * seed, iterations = 200, seed = seed }
    equal(scores_of(by_name.PureSVD.make(fold, { factors = 5 * seed }, seed), fold.test):totable(),
      scores_of(svd, fold.test):totable())
  end
  for name, kind in pairs{ ["most rated"] = "popularity", ["movie mean"] = "item_mean" } do
    near(scores_of(by_name[name].make(fold), fold.test), scores_of(mr.models[kind]{ fold = fold }, fold.test), 1e-6)
  end
end)

it("predictors.lua marks the models that predict ratings, which have an RMSE of about one star", function()
  for _, each in ipairs(predictors.all) do
    local setting = {}
    for name, value in pairs(each.settings[1]) do setting[name] = value end
    local rmse = mr.stats.rmse(scores_of(each.make(fold, setting, 1), fold.test), fold.test.lists.relevance)
    equal(each.predicts or false, rmse < 1.3, ("%s %g"):format(each.name, rmse))
  end
end)
