-- Tests the systems of Li & Wu's Tables 2 and 3 and their data (scripts/cmu/systems.lua and faces.lua) on a few drawn
-- faces. Each training is repeated by other code, and the margins of test pairs are compared.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local with_words = dofile("tests/support/in_process.lua").with_words
local test = require "moonrank.test"
local describe, it, equal, near, check = test.describe, test.it, test.equal, test.near, test.check

local faces, grids = dofile "scripts/cmu/faces.lua", dofile "scripts/cmu/grids.lua"
local systems = faces.systems

local options = { images = "", features = "", count = 60, size = 12, pairs = 120, kernel = 2, epochs = 2,
  widths = { 7, 3 }, table_3 = false }
local data = faces.data(options, 2)

local by_name = {}
for _, features in ipairs{ false, true } do
  for _, each in ipairs(systems.of(features)) do by_name[each.name] = each end
end

-- Returns a trial with seed 2, and a table of the epochs that were reported to it.
local function listening()
  local told = {}
  return { _state = {}, split = 2, report = function(_, epoch) told[epoch] = true end }, told
end

local function fitted(model, loss, train, more)
  local o = { model = model, loss = loss, train = train, valid = data.valid.pairs, metrics = { "auc" },
    progress = false }
  for name, value in pairs(more or {}) do o[name] = value end
  mr.fit(o)
  return model
end

local function by_descent(model, loss, train, rate, epochs)
  return fitted(model, loss, train,
    { optimizer = mr.optim.sgd{ lr = rate }, batch = 100, seed = 2, epochs = epochs or 2 })
end

local inputs = 3 * 12 * 12
local function network() return mr.models.mlp{ inputs = inputs, hidden = { 7, 3 }, seed = 2 } end
local function linear() return mr.models.linear{ inputs = inputs, seed = 2 } end
local function convolutional() return mr.models.cnn{ height = 12, width = 12, channels = 3, kernel = 2, seed = 2 } end
-- Returns the images of the training pairs as single rows.
local function single() return data.train.pairs:pointwise() end

-- Trains a forest of 100 trees, each on 63 % of the rows; `boosted` trains 100 rounds of boosting.
local function forest(objective, train, depth)
  return fitted(mr.models.trees{ objective = objective, seed = 2, depth = depth, trees = 100, rounds = 1, eta = 1,
    subsample = 0.63, colsample_bynode = 0.33 }, nil, train)
end
local function boosted(objective, train, depth)
  return fitted(mr.models.trees{ objective = objective, seed = 2, depth = depth, rounds = 100, eta = 0.1 }, nil, train)
end

local other_code = {
  ["Reg. NN"] = function(rate)
    local ages = data.train.items.lists
    local eightieths = mr.data.dataset{ lists = ages:with_relevance(ages.relevance / 80),
      features = data.train.features }
    return by_descent(network(), mr.losses.mse{}, eightieths, rate, 12)
  end,
  ["Reg. LR-l1"] = function(penalty)
    return mr.models.lasso{ train = data.train.items, alpha = penalty, tolerance = 1e-4, passes = 1000 }
  end,
  ["Reg. LR-l2"] = function(penalty) return mr.models.ridge{ train = data.train.items, alpha = 1000 * penalty } end,
  ["Reg. RF"] = function(depth) return forest("reg:squarederror", data.train.items, depth) end,
  ["Reg. Boost"] = function(depth) return boosted("reg:squarederror", data.train.items, depth) end,
  RankNet = function(rate) return by_descent(network(), mr.losses.ranknet{}, data.train.pairs, rate) end,
  DirectRanker = function(rate)
    local model = mr.models.direct_ranker{ inputs = inputs, hidden = { 7, 3 }, seed = 2 }
    return by_descent(model, mr.losses.direct_ranker{}, data.train.pairs, rate)
  end,
  ["Rank LR"] = function(rate) return by_descent(linear(), mr.losses.ranknet{}, data.train.pairs, rate) end,
  RankCNN = function(rate) return by_descent(convolutional(), mr.losses.ranknet{}, data.train.pairs, rate) end,
  ["Class CNN"] = function(rate) return by_descent(convolutional(), mr.losses.bce{}, single(), rate) end,
  ["Class NN"] = function(rate) return by_descent(network(), mr.losses.bce{}, single(), rate) end,
  ["Class LR"] = function(rate) return by_descent(linear(), mr.losses.bce{}, single(), rate) end,
  ["Class RF"] = function(depth) return forest("binary:logistic", single(), depth) end,
  ["Class Boost"] = function(depth) return boosted("binary:logistic", single(), depth) end,
}

-- Settings 1 and 3 of each system, as listed in the grid: learning rates and penalties grow by factors of about 3.
local grid = {
  ["Reg. NN"] = { 0.01, 0.1 }, ["Reg. LR-l1"] = { 0.3, 3 }, ["Reg. LR-l2"] = { 0.3, 3 }, ["Reg. RF"] = { 6, 12 },
  ["Reg. Boost"] = { 2, 4 }, RankNet = { 0.003, 0.03 }, DirectRanker = { 0.003, 0.03 }, ["Rank LR"] = { 0.0003, 0.003 },
  RankCNN = { 0.003, 0.03 }, ["Class CNN"] = { 0.003, 0.03 }, ["Class NN"] = { 0.003, 0.03 },
  ["Class LR"] = { 0.0003, 0.003 }, ["Class RF"] = { 4, 8 }, ["Class Boost"] = { 2, 4 },
}

-- Returns the scores of the older and of the younger image for every test pair.
local function by_age(model)
  local scores = mr.no_grad(function()
    return model{ lists = data.test.items.lists, features = data.test.features }:totable()
  end)
  local ages, images, older, younger = data.test.images.labels:totable(), data.test.pairs.items:totable(), {}, {}
  for i = 1, #images, 2 do
    local a, b = images[i], images[i + 1]
    if ages[a] < ages[b] then a, b = b, a end
    older[#older + 1], younger[#younger + 1] = scores[a], scores[b]
  end
  return older, younger, scores, ages
end

-- Returns R^2 of predicting ages by scores times `scale`.
local function explained(scores, ages, scale)
  local mean, errors, all = 0, 0, 0
  for _, age in ipairs(ages) do mean = mean + age / #ages end
  for i, age in ipairs(ages) do errors, all = errors + (scale * scores[i] - age) ^ 2, all + (age - mean) ^ 2 end
  return 1 - errors / all
end

local function check_system(name)
  local system, trial, told = by_name[name], listening()
  for setting = 1, 3, 2 do
    near(grids.value(system.grid, setting), grid[name][(setting + 1) // 2], { rtol = 1e-12 }, name)
  end
  local value = grid[name][1]
  local found, model = systems.run(system, value, data, trial), other_code[name](value)
  local older, younger, scores, ages = by_age(model)
  local margins, right, both = {}, 0, 0
  for i, score in ipairs(older) do
    margins[i] = score - younger[i]
    right = right + (margins[i] > 0 and 1 or margins[i] == 0 and 0.5 or 0) / #older
    both = both + (score > 0 and younger[i] <= 0 and 1 or 0) / #older
  end
  near(found.per_list.margin:totable(), margins, { rtol = 1e-4, atol = 1e-6 }, name)
  near(found.accuracy, right, 1e-9, name)
  equal({ found.both ~= nil, found.r2 ~= nil }, { name:find "^Class" ~= nil, name:find "^Reg" ~= nil }, name)
  if found.both then near(found.both, both, 1e-9, name) end
  if found.r2 then
    near(found.r2, explained(scores, ages, name == "Reg. NN" and 80 or 1), { rtol = 1e-4, atol = 1e-5 }, name)
  end
  if name:find "LR" then
    near(found.per_list.weights, model:parameters()[1]:reshape(inputs), { rtol = 1e-4, atol = 1e-7 }, name)
  end
  return told
end

describe("scripts/cmu/systems.lua", function()
  scripts.it("trains forests and boosted trees of images and of pairs with XGBoost", { "xgboost" }, function()
    for _, name in ipairs{ "Reg. RF", "Reg. Boost", "Class RF", "Class Boost" } do
      equal(#check_system(name), name:find "Boost" and 100 or 1, "rounds of " .. name)
      equal(by_name[name].grid.extends, false)
    end
  end)

  it("trains networks and linear models with the loss of their name and the seed of the trial", function()
    for name in pairs(other_code) do
      if not name:find "RF" and not name:find "Boost" then
        local told = check_system(name)
        -- number of epochs: an epoch over images has fewer steps than one over pairs; lasso and ridge need no epochs
        equal(#told, name == "Reg. NN" and 12 or name:find "^Reg" and 0 or 2, name)
        check(by_name[name].grid.extends, name)
      end
    end
  end)

  it("has CNNs only for pixels, and the classifier without convolutions only for features", function()
    local names = {}
    for i, features in ipairs{ false, true } do
      names[i] = {}
      for _, each in ipairs(systems.of(features)) do names[i][#names[i] + 1] = each.name end
    end
    equal({ #names[1], #names[2] }, { 13, 12 })
    local all = { table.concat(names[1], ", "), table.concat(names[2], ", ") }
    equal({ all[1]:find "CNN" ~= nil, all[2]:find "CNN" }, { true })
    equal({ all[2]:find "Class NN" ~= nil, all[1]:find "Class NN" }, { true })
  end)
end)

describe("faces.data", function()
  it("divides the images and draws pairs by seed", function()
    local protocol = dofile "scripts/cmu/faces_protocol.lua"
    for _, seed in ipairs{ 1, 2 } do
      local found = seed == 2 and data or faces.data(options, seed)
      local parts = { protocol.face_parts(mr.data.drawn_faces{ count = 60, size = 12 }, seed) }
      for i, name in ipairs{ "train", "valid", "test" } do
        equal(found[name].images.files, parts[i].files)
        local expected =
          protocol.face_pairs(parts[i], { part = name, pairs = 120, seed = seed, features = found[name].features })
        equal(found[name].pairs.items:totable(), expected.items:totable(), name)
      end
    end
  end)

  -- Returns rows whose columns are standardized by the means and standard deviations of the rows `by`.
  local function standardised(rows, by)
    local found = {}
    for i = 1, #rows do found[i] = {} end
    for c = 1, #rows[1] do
      local sum, squares = 0, 0
      for _, row in ipairs(by) do sum, squares = sum + row[c] / #by, squares + row[c] ^ 2 / #by end
      local sd = math.sqrt(math.max(0, squares - sum ^ 2))
      for i, row in ipairs(rows) do found[i][c] = sd < 1e-6 and 0 or (row[c] - sum) / sd end
    end
    return found
  end

  it("standardises pixels by the training images", function()
    local function pixels(part) return data[part].images:features():totable() end
    near(data.test.features, mr.tensor(standardised(pixels "test", pixels "train")), 1e-3)
  end)

  -- Returns the output of a convolution with these weights, ReLU and 2 x 2 maximum pooling, computed by plain loops.
  local function convolved(image, weights)
    local size, kernel, found = #image[1], #weights[1][1], {}
    for o, of_output in ipairs(weights) do
      found[o] = {}
      for y = 1, (size - kernel + 1) // 2 do
        found[o][y] = {}
        for x = 1, (size - kernel + 1) // 2 do
          local most = 0
          for at = 0, 3 do
            local top, left, sum = 2 * y - 2 + at // 2, 2 * x - 2 + at % 2, 0
            for c, channel in ipairs(image) do
              for dy = 1, kernel do
                for dx = 1, kernel do sum = sum + channel[top + dy][left + dx] * of_output[c][dy][dx] end
              end
            end
            most = math.max(most, sum)
          end
          found[o][y][x] = most
        end
      end
    end
    return found
  end

  it("makes the features of Table 3 with a random network of 24 and 48 filters of 3 x 3", function()
    local few = { images = "", features = "", count = 20, size = 12, pairs = 24, kernel = 5, epochs = 1,
      widths = { 2 }, table_3 = true }
    local found = faces.data(few, 1)
    -- the initial weights of a layer with ReLU have the variance 2 / number of inputs
    local function weights(shape, stream)
      return mr.normal(shape,
        { sd = math.sqrt(2 / (shape[2] * shape[3] * shape[4])), seed = 1, stream = stream }):totable()
    end
    local first, second = weights({ 24, 3, 3, 3 }, "first"), weights({ 48, 24, 3, 3 }, "second")
    local rows = {}
    for i, image in ipairs((found.train.images.images - 0.5):totable()) do
      rows[i] = {}
      for o, plane in ipairs(convolved(convolved(image, first), second)) do rows[i][o] = plane[1][1] end
    end
    near(found.train.features, mr.tensor(standardised(rows, rows)), 2e-3)
    near(dofile("scripts/cmu/faces_protocol.lua").random_features(found.train.images, 5), mr.tensor(rows), 1e-3)
  end)
end)

-- The rest of this file runs sweeps with made-up outcomes instead of training. Validation prefers large settings of
-- RankNet with seed 1, and small ones with seed 2. As in a real run, only classifiers have the accuracy by labels and
-- only regressions have R^2, so the RankNet study with a longer grid has neither.
local function stub(asked)
  return function(system, value, of, trial)
    asked[#asked + 1] = { name = system.name, setting = trial.setting, value = value, seed = trial.split, data = of }
    local better = system.name == "RankNet" and (trial.split == 1 and trial.setting or -trial.setting)
      or -math.abs(trial.setting - 2)
    return { valid = 1 + better / 100, accuracy = 0.5, both = system.family == "classification" and 0.5 or nil,
      r2 = system.family == "regression" and 0.5 or nil }
  end
end

local function asked_for(asked, name, seed)
  local found = {}
  for _, call in ipairs(asked) do
    if call.name == name and call.seed == seed then found[#found + 1] = call.setting end
  end
  table.sort(found)
  return table.concat(found, " ")
end

local function run(own, words, o)
  local asked = {}
  own.systems.run = stub(asked)
  local args = with_words(words, function() return own.args({}, o) end)
  return own.results(args), asked, args
end

local small = { "--count", "40", "--size", "8", "--pairs", "24", "--kernel", "2", "--workers", "0" }

local function words_of(folder, store, ...)
  local words, more = { "--store", folder .. "/" .. store, ... }, #small
  return table.move(small, 1, more, #words + 1, words)
end

it("faces.args sets 2000 images of 20 x 20, 12000 pairs, 200, 100 and 50 units and ten epochs by default", function()
  local found = faces.data(with_words({}, function() return faces.args() end), 1)
  equal({ found.images.count, found.images.images:size(3), found.images.images:size(4) }, { 2000, 20, 20 })
  equal({ found.train.pairs.count, found.valid.pairs.count, found.test.pairs.count }, { 9000, 1000, 2000 })
  equal({ found.kernel, found.epochs, found.widths }, { 5, 10, { 200, 100, 50 } })
end)

scripts.it("faces.results runs one seed and extends grids eight times by default", {}, function(folder)
  local own = dofile "scripts/cmu/faces.lua"
  local results, asked, args = run(own, words_of(folder, "runs.db"))
  equal(asked_for(asked, "RankNet", 1), "1 2 3 4 5 6 7 8 9 10 11")
  equal({ asked_for(asked, "Class RF", 1), asked_for(asked, "Reg. NN", 1), asked_for(asked, "Class NN", 1) },
    { "1 2 3", "1 2 3", "" })
  for _, call in ipairs(asked) do
    equal({ call.value, call.seed }, { grids.value(by_name[call.name].grid, call.setting), 1 }, call.name)
  end
  equal(own.chosen(results, "RankNet", 1).setting, 11)
  equal({ own.setting_text(args, results, by_name.RankNet, 1),
    own.setting_text(args, results, by_name["Reg. LR-l1"], 1) }, { "rate 300 (edge)", "penalty 1" })
end)

it("setting_text marks a chosen setting at either edge of those that were tried, and not one alone", function()
  local own = dofile "scripts/cmu/faces.lua"
  local function text_of(chosen, tried)
    rawset(own, "runs", function()
      local found = {}
      for i, setting in ipairs(tried) do
        found[i] = { setting = setting, values = { valid = setting == chosen and 0.9 or 0.5 } }
      end
      return found
    end)
    local args = with_words({}, function() return own.args() end)
    return own.setting_text(args, {}, by_name.RankNet, 1)
  end
  local function rate(setting) return ("rate %g"):format(grids.value(by_name.RankNet.grid, setting)) end
  equal({ text_of(1, { 1, 2, 3 }), text_of(2, { 1, 2, 3 }), text_of(3, { 1, 2, 3 }), text_of(2, { 3, 2, 4 }),
    text_of(2, { 2 }) },
    { rate(1) .. " (edge)", rate(2), rate(3) .. " (edge)", rate(2) .. " (edge)", rate(2) })
end)

scripts.it("faces.results divides images and chooses settings by seed, and tries only the rate that is fixed",
  {}, function(folder)
  local own = dofile "scripts/cmu/faces.lua"
  local results, asked = run(own, words_of(folder, "a.db", "--seeds", "2", "--extensions", "1"), { features = true })
  equal({ asked_for(asked, "RankNet", 1), asked_for(asked, "RankNet", 2) }, { "0 1 2 3 4", "0 1 2 3 4" })
  equal({ own.chosen(results, "RankNet", 1).setting, own.chosen(results, "RankNet", 2).setting }, { 4, 0 })
  equal({ #own.runs(results, "RankNet", 1), #own.runs(results, "RankNet", 2) }, { 5, 5 })
  local files = {}
  for _, call in ipairs(asked) do files[call.seed] = table.concat(call.data.test.images.files, " ") end
  check(files[1] ~= files[2], "images are divided by seed")
  local _, fixed = run(own, words_of(folder, "b.db", "--rate", "0.02"))
  for _, call in ipairs(fixed) do
    if call.name == "RankNet" then equal({ call.setting, call.value }, { 1, 0.02 }) end
  end
  equal({ asked_for(fixed, "RankNet", 1), asked_for(fixed, "Class RF", 1) }, { "1", "1 2 3" })
end)
