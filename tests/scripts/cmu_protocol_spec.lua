-- Tests the protocol of Li & Wu (scripts/cmu/protocol.lua, beside.lua and faces_protocol.lua) on made-up queries and
-- images. Expected results are worked out beside each test.
local mr = require "moonrank"
local core = require "moonrank.core"
local fold = require "moonrank.data.fold"
local test = require "moonrank.test"
local describe, it, equal, near, check = test.describe, test.it, test.equal, test.near, test.check

local protocol, of_faces = dofile "scripts/cmu/protocol.lua", dofile "scripts/cmu/faces_protocol.lua"
local beside = dofile "scripts/cmu/beside.lua"

local function holds_in_pairs(numbers, rule)
  for i = 2, #numbers do check(rule(numbers[i - 1], numbers[i]), numbers[i]) end
end

-- Learning rates must be 1 or 3 times a power of ten, in ascending order.
local function check_rates(rates)
  for _, rate in ipairs(rates) do
    local digit = rate / 10 ^ math.floor(math.log(rate, 10) + 1e-9)
    check(math.abs(digit - 1) < 1e-9 or math.abs(digit - 3) < 1e-9, rate)
  end
  holds_in_pairs(rates, function(a, b) return a < b and b / a < 11 end)
end

describe("protocol of web queries:", function()
  it("fold takes labels of 2 and more as relevant, and standardises features by the training part", function()
    local function part(grades, x)
      return mr.data.dataset{ lists = mr.lists{ grades }, features = mr.tensor(x, { dtype = "float64" }) }
    end
    local one = fold.new{ train = part({ 0, 1, 2, 4 }, { { 1 }, { 3 }, { 5 }, { 7 } }),
      valid = part({ 1, 3 }, { { 4 }, { 5 } }), test = part({ 2, 0 }, { { 0 }, { 4 } }), number = 3, k = 3,
      title = "made up" }
    local all = protocol.fold({ false, false, one }, 3)
    equal(all.train.lists.relevance:totable(), { 0, 0, 1, 1 })
    equal(all.valid.lists.relevance:totable(), { 0, 1 })
    equal(all.test.lists.relevance:totable(), { 1, 0 })
    -- mean 4, variance (9 + 1 + 1 + 9) / 4 = 5
    local sd = math.sqrt(5)
    near(all.train.features:reshape(4):totable(), { -3 / sd, -1 / sd, 1 / sd, 3 / sd }, 1e-12)
    near(all.valid.features:reshape(2):totable(), { 0, 1 / sd }, 1e-12)
    near(all.test.features:reshape(2):totable(), { -4 / sd, 0 }, 1e-12)
  end)

  it("metric is nDCG@10, which ignores a relevant row at rank 11", function()
    local metric = mr.metrics.parse(protocol.metric)
    local scores, grades = {}, {}
    for i = 1, 12 do scores[i], grades[i] = -i, (i == 10 or i == 11) and 1 or 0 end
    near(metric(mr.tensor(scores), mr.lists{ grades }):item(), (1 / math.log(11, 2)) / (1 + 1 / math.log(3, 2)), 1e-6)
  end)

  it("list_names gives the test queries of each fold other names", function()
    local seen, folds = {}, { 1, 2, 5 }
    for _, number in ipairs(folds) do
      for _, name in ipairs(protocol.list_names({ test = { count = 6000 } }, number):totable()) do seen[name] = true end
    end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    equal(count, 3 * 6000)
  end)

  -- Returns queries in which rows with a larger first feature are relevant, or with `sign` -1 rows with a smaller one.
  local function queries(count, rows, sign, seed)
    local lists, features, u = {}, {}, mr.uniform({ count * rows, 4 }, { seed = seed, dtype = "float64" }):totable()
    for l = 1, count do
      lists[l] = {}
      for i = 1, rows do
        local x = u[(l - 1) * rows + i]
        lists[l][i] = sign * (x[1] + 0.5 * x[2] - 0.75) > 0.4 * (x[4] - 0.5) and 1 or 0
        features[#features + 1] = { x[1] - 0.5, x[2] - 0.5, x[3] - 0.5 }
      end
      lists[l][1], lists[l][2] = 1, 0
    end
    return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features) }
  end
  local function made_up(valid_sign, test_sign)
    return fold.new{ train = queries(15, 20, 1, 1), valid = queries(12, 20, valid_sign, 2),
      test = queries(10, 20, test_sign, 3), number = 1, k = 1, title = "made up" }
  end
  local against_test = made_up(1, -1)

  -- Returns a trial that records the values reported after each epoch, and the table of these values.
  local function listening()
    local told = {}
    return { _state = {}, report = function(_, epoch, values) told[epoch] = values end }, told
  end

  it("fit of networks trains 100 and 30 units in steps of 100 documents, by SGD or Adam", function()
    local losses = { RankNet = mr.losses.ranknet{ bound = "minmax" },
      DirectRanker = mr.losses.direct_ranker{ bound = "minmax" }, ["Class NN"] = mr.losses.bce{} }
    -- A step ends with the list that reaches 100 rows. With lists of 33 rows, the fourth begins at row 100 and is the
    -- last of its step. With lists of 20 rows, the sixth begins at row 101, in the next step.
    local of_33 = fold.new{ train = queries(15, 33, 1, 1), valid = against_test.valid, test = against_test.test,
      number = 1, k = 1, title = "made up" }
    for _, optimiser in ipairs{ "sgd", "adam" } do
      local data = optimiser == "sgd" and of_33 or against_test
      for name, loss in pairs(losses) do
        local rate = optimiser == "sgd" and 0.5 or 0.01
        local trial, told = listening()
        local found =
          protocol.fit(data, { system = name, optimiser = optimiser, rate = rate, seed = 4, epochs = 2 }, trial)
        equal(#told, 2)
        -- repeats the training steps one by one until the chosen epoch, with 15 lists that have 495 or 300 documents in
        -- all
        local model = mr.models.mlp{ inputs = 3, hidden = { 100, 30 }, activation = "relu", seed = 4 }
        local optimizer, steps = mr.optim[optimiser]{ lr = rate }:bind(model:parameters()), 0
        local part = name == "Class NN" and data.train:pointwise() or data.train
        for epoch = 1, found.epoch do
          local how = name == "Class NN" and { size = 100 } or { rows = 100 }
          how.shuffle, how.seed, how.epoch = true, 4, epoch
          for batch in part:batches(how) do
            optimizer:zero_grad()
            local sum = loss(model(batch), batch.lists):sum() * (1 / loss:count(batch.lists))
            sum:backward()
            optimizer:step()
            steps = steps + 1
          end
        end
        equal(steps, (optimiser == "sgd" and 5 or 3) * found.epoch)
        local batch = { lists = against_test.test.lists, features = against_test.test.features }
        near(found.model(batch), model(batch), 1e-5, name)
      end
    end
  end)

  it("fit of networks chooses the epoch on validation, not on test", function()
    local trial, told = listening()
    local found = protocol.fit(against_test,
      { system = "RankNet", optimiser = "adam", rate = 0.01, seed = 1, epochs = 6 }, trial)
    local best = 1
    for epoch = 2, 6 do best = told[epoch]["valid_ndcg@10"] > told[best]["valid_ndcg@10"] and epoch or best end
    equal({ found.epoch, found.valid }, { best, told[best]["valid_ndcg@10"] })
    check(found.valid > found.test.mean["ndcg@10"] + 0.2, "validation agrees with training, test does not")
    equal(found.test.counted["ndcg@10"], 10)
  end)

  if pcall(core.xgboost_version) then
    it("fit of trees trains trees of depth 5 at eta 0.1, and a forest as one round of deep trees", function()
      -- Returns queries with random relevance and twelve features, so that trees may grow deeper than twelve levels.
      local function wide(seed, sign)
        local x, lists = mr.uniform({ 1500, 12 }, { seed = seed }), {}
        local rows = x:totable()
        for l = 1, 50 do
          lists[l] = {}
          for i = 1, 30 do
            local row = rows[30 * (l - 1) + i]
            lists[l][i] = (sign or 1) * (row[1] + 0.6 * (row[2] - row[3]) - 0.5) > 0.3 * math.sin(50 * row[4]) and 1
              or 0
          end
        end
        return mr.data.dataset{ lists = mr.lists(lists), features = x }
      end
      local data_set = against_test
      local function same(o, options, loss)
        local model = mr.models.trees(options)
        local data = { lists = data_set.train.lists, features = data_set.train.features }
        mr.fit{ model = model, loss = loss, train = data_set.train, valid = data_set.valid, metrics = { "ndcg@10" },
          progress = false }
        local found = protocol.fit(data_set, o)
        near(found.model(data), model(data), 1e-6, o.system)
        check(found.valid > found.test.mean["ndcg@10"] + 0.2, "validation agrees with training, test does not")
        equal(found.test.counted["ndcg@10"], data_set.test.count, o.system)
      end
      same({ system = "LambdaMART", rounds = 5, trees = 9, seed = 2 }, { rounds = 5, depth = 5, eta = 0.1, seed = 2 },
        mr.losses.lambdarank{})
      same({ system = "Class Boost", rounds = 4, trees = 9, seed = 2 },
        { rounds = 4, depth = 5, eta = 0.1, seed = 2, objective = "binary:logistic" })
      data_set = fold.new{ train = wide(1), valid = wide(2), test = wide(2, -1), number = 1, k = 1, title = "made up" }
      same({ system = "Class RF", rounds = 5, trees = 9, seed = 2 }, { rounds = 1, trees = 9, depth = 12, eta = 1,
        subsample = 0.63, colsample_bynode = 0.33, seed = 2, objective = "binary:logistic" })
    end)
  else
    it("fit of trees needs XGBoost", function() test.skip "XGBoost's library is not installed" end)
  end

  it("fit of regressions chooses the penalty on validation, from powers of ten", function()
    holds_in_pairs(protocol.penalties, function(a, b) return math.abs(b / a - 10) < 1e-9 end)
    equal({ protocol.penalties[1], protocol.penalties[#protocol.penalties] }, { 0.01, 10000 })
    -- relevance depends on the first feature with opposite signs in validation and test, so that the two prefer
    -- different penalties
    for system, make in pairs{ ["Rank LR"] = mr.models.rank_logistic_regression,
      ["Class LR"] = mr.models.logistic_regression } do
      for _, sign in ipairs{ 1, -1 } do
        local data, best = made_up(sign, -sign), nil
        local function ndcg(model, part)
          return mr.evaluate(model{ lists = part.lists, features = part.features }, part.lists,
            { "ndcg@10" }).mean["ndcg@10"]
        end
        for _, alpha in ipairs{ 0.01, 0.1, 1, 10, 100, 1000, 10000 } do
          local model = make{ train = data.train, alpha = alpha }
          local valid = ndcg(model, data.valid)
          if not best or valid > best.valid then
            best = { valid = valid, alpha = alpha, test = ndcg(model, data.test) }
          end
        end
        local found = protocol.fit(data, { system = system })
        equal(found.alpha, best.alpha, system)
        near({ found.valid, found.test.mean["ndcg@10"] }, { best.valid, best.test }, 1e-6, system)
        near(ndcg(found.model, data.test), best.test, 1e-6, system)
        -- if two penalties give the same order, the first one is chosen
        equal(protocol.fit(data, { system = system, penalties = { 5, 5 + 1e-9 } }).alpha, 5)
      end
    end
  end)

  it("fit trains every system of Table 1 with its own kind of model", function()
    local o = { rounds = 2, trees = 2, seed = 1, epochs = 1, optimiser = "sgd", rate = 0.1, penalties = { 1, 10 } }
    local names, drawn = {}, {}
    for _, system in ipairs(protocol.systems) do
      local name = system.name
      names[name], drawn[#drawn + 1], o.system = true, system.drawn and not system.recipe and name or nil, name
      equal(protocol.named[system.title], system)
      if name:find "LR$" or not name:find "Lambda" and not name:find "Class [RB]" or pcall(core.xgboost_version) then
        local found = protocol.fit(against_test, o)
        equal(found.alpha ~= nil, name:find "LR$" ~= nil, name)
        equal(#found.test["ndcg@10"], 10, name)
        local layers = name:find "Net$" or name:find "Direct" or name:find "NN$"
        if layers then equal(#found.model:parameters(), 6, name) end
      end
    end
    local trial, told = listening()
    o.system = "RankNet"
    protocol.fit(against_test, o, trial)
    equal(#told, 1)
    local count = 0
    for _ in pairs(names) do count = count + 1 end
    equal({ count, #protocol.systems, drawn }, { 8, 8 + 3 * 2, { "Class RF" } })
  end)

  it("recipes have the paper's rate, or rates to try, of which at_edge tells the smallest and the largest", function()
    local named, recipes = protocol.named, protocol.recipes
    equal({ recipes.paper.optimiser, recipes.paper.rate, recipes.paper.rates }, { "sgd", 0.001 })
    for _, recipe in ipairs{ "sgd", "adam" } do
      equal({ recipes[recipe].optimiser, recipes[recipe].rate }, { recipe })
      check_rates(recipes[recipe].rates)
    end
    local function at_edge(recipe, rate) return protocol.at_edge(named[protocol.title("RankNet", recipe)], rate) end
    equal({ at_edge("sgd", 0.001), at_edge("sgd", 0.01), at_edge("sgd", 3), at_edge("sgd", 10),
      at_edge("adam", 0.00003), at_edge("adam", 0.003), at_edge("adam", 0.1), at_edge("paper", 0.001) },
      { true, false, false, true, true, false, true, false })
    for title, system in pairs(named) do
      equal(system.by == recipes[system.recipe], system.recipe ~= nil, title)
      -- systems with random training have one run for each seed
      equal(system.drawn, system.recipe ~= nil or title == "Class RF", title)
    end
    equal(protocol.tuned_on, 1)
  end)

  it("or_diverged counts a training that diverges as 0, and raises other errors", function()
    local function at(rate)
      return of_faces.or_diverged(function()
        return protocol.fit(against_test,
          { system = "Class NN", optimiser = "sgd", rate = rate, seed = 1, epochs = 3 })
      end)
    end
    equal(at(1e30).valid, 0)
    check(at(0.1).valid > 0.3, "what does not diverge has its own value")
    equal(of_faces.or_diverged(function() error("mr.fit: there is NaN in the scores", 0) end), { valid = 0 })
    equal(of_faces.or_diverged(function() error("mr.fit: the loss is inf", 0) end), { valid = 0 })
    for _, problem in ipairs{ "no memory", { code = 1 } } do
      equal({ pcall(of_faces.or_diverged, function() error(problem, 0) end) }, { false, problem })
    end
  end)
end)

describe("protocol of Table 1's comparisons:", function()
  -- Returns the validation result of every system: 0.5, except for those in `changes`.
  local function validation(changes)
    local found = {}
    for _, system in ipairs(protocol.systems) do found[system.title] = 0.5 end
    for name, value in pairs(changes) do found[name] = value end
    return found
  end

  local families = {
    { "Class NN (SGD, 0.001)", "RankNet (SGD, 0.001)" }, { "Class NN (SGD, best rate)", "RankNet (SGD, best rate)" },
    { "Class NN (Adam, best rate)", "RankNet (Adam, best rate)" }, { "Class LR", "Rank LR" },
    { "Class Boost", "LambdaMART" },
  }

  local function of_reason(found, reason)
    local some = {}
    for _, each in ipairs(found) do some[#some + 1] = each[reason] and { each.a, each.b } or nil end
    return some
  end

  it("comparisons pairs families, the best of both kinds on validation, and Adam with SGD", function()
    local found = beside.comparisons(validation{ ["Class RF"] = 0.7, ["DirectRanker (SGD, best rate)"] = 0.6,
      ["RankNet (SGD, 0.001)"] = 0.9, ["Class NN (SGD, 0.001)"] = 0.9 })
    equal(#found, 12)
    equal(of_reason(found, "families"), families)
    equal(of_reason(found, "best"), { { "Class RF", "DirectRanker (SGD, best rate)" } })
    local adam = { {}, {} }
    for i, name in ipairs{ "RankNet", "DirectRanker", "Class NN" } do
      adam[1][i] = { name .. " (Adam, best rate)", name .. " (SGD, best rate)" }
      adam[2][i] = { name .. " (Adam, best rate)", name .. " (SGD, 0.001)" }
    end
    equal(of_reason(found, "Adam and sgd"), adam[1])
    equal(of_reason(found, "Adam and paper"), adam[2])
  end)

  it("comparisons takes the first of equal systems as the best", function()
    equal(of_reason(beside.comparisons(validation{}), "best"),
      { { "Class NN (SGD, best rate)", "RankNet (SGD, best rate)" } })
  end)

  it("comparisons lists a pair once if there are two reasons for it", function()
    local found = beside.comparisons(validation{ ["Class LR"] = 0.7, ["Rank LR"] = 0.6 })
    equal(#found, 11)
    equal(of_reason(found, "families"), families)
    equal(of_reason(found, "best"), { { "Class LR", "Rank LR" } })
  end)

  it("compare applies Holm's correction over all data sets, to each pair once", function()
    -- Eight queries: if all differences have the same sign, p = 2 / 2^8 by enumeration; if all values are equal, p = 1.
    local low, high = { 1, 2, 3, 4, 5, 6, 7, 8 }, { 2, 3, 4, 5, 6, 7, 8, 9 }
    local function set(valid)
      local values = {}
      for name in pairs(valid) do values[name] = low end
      values["Class LR"] = high
      return { valid = valid, values = values }
    end
    local sets = { set(validation{ ["Class LR"] = 0.7, ["Rank LR"] = 0.6 }), set(validation{ ["Class RF"] = 0.7 }) }
    local found, small = beside.compare(sets), 0
    equal(#found, 11 + 12)
    for _, each in ipairs(found) do
      check(each.data == sets[1] or each.data == sets[2])
      local own = each.a == "Class LR"
      near({ each.change, each.p, each.holm, each.n, each.low, each.high },
        own and { 1, 2 / 256, 23 * 2 / 256, 8, 1, 1 } or { 0, 1, 1, 8, 0, 0 }, 1e-9, each.a)
      small = small + (own and 1 or 0)
    end
    equal(small, 2)
    equal({ beside.significant(0.0499), beside.significant(0.05) }, { true, false })
  end)

  it("compare draws 100,000 choices of signs", function()
    local values, many, none = {}, {}, {}
    for i = 1, 40 do many[i], none[i] = i, 0 end
    for name in pairs(validation{}) do values[name] = none end
    values["Class LR"] = many
    local found = beside.compare({ { valid = validation{ ["Class RF"] = 0.7 }, values = values } })
    near(found[4].p, 1 / 100001, { rtol = 1e-9 })
  end)
end)

describe("protocol of faces:", function()
  it("face_parts divides the images into parts of 65, 15 and 20 % without overlap", function()
    local parts, seen = { of_faces.face_parts(mr.data.drawn_faces{ count = 40, size = 8 }, 3) }, {}
    equal({ parts[1].count, parts[2].count, parts[3].count }, { 26, 6, 8 })
    for _, part in ipairs(parts) do
      for _, file in ipairs(part.files) do
        check(not seen[file], file)
        seen[file] = true
      end
    end
    local other = of_faces.face_parts(mr.data.drawn_faces{ count = 40, size = 8 }, 4)
    check(table.concat(other.files) ~= table.concat(parts[1].files), "by seed")
  end)

  it("standardised scales features by the training images", function()
    local faces = mr.data.drawn_faces{ count = 4, size = 8 }
    local parts = { faces:select{ 1, 2 }, faces:select{ 3 }, faces:select{ 4 } }
    local found =
      of_faces.standardised(parts, { mr.tensor{ { 1, 0 }, { 3, 8 } }, mr.tensor{ { 4, 4 } }, mr.tensor{ { 2, 12 } } })
    near(found[1]:reshape(4):totable(), { -1, -1, 1, 1 }, 1e-6)
    near(found[2]:reshape(2):totable(), { 2, 0 }, 1e-6)
    near(found[3]:reshape(2):totable(), { 0, 2 }, 1e-6)
    equal(found[1].dtype, "float32")
  end)

  it("random_features has one row for each of more images than are read at once, in their order", function()
    local faces, apart = mr.data.drawn_faces{ count = 600, size = 10 }, {}
    local all = of_faces.random_features(faces, 3)
    equal(all:shape(), { 600, 48 })
    for _, image in ipairs{ 1, 2, 255, 256, 257, 258, 511, 512, 513, 514, 599, 600 } do
      near(of_faces.random_features(faces:select{ image }, 3):reshape(48), all:narrow(1, image, 1):reshape(48), 1e-5)
      apart[("%.6f"):format(all:narrow(1, image, 1):sum():item())] = true
    end
    local different = 0
    for _ in pairs(apart) do different = different + 1 end
    equal(different, 12)
  end)

  -- Returns drawn images of faces, labelled with these ages.
  local function aged(ages)
    local faces = mr.data.drawn_faces{ count = #ages, size = 8 }
    faces.labels = mr.tensor(ages)
    return faces
  end

  it("face_pairs draws pairs more than five years apart: nine, one and two twelfths for the parts", function()
    -- the pairs of ages more than five years apart are 10 and 16, 10 and 30, 15 and 30, 16 and 30
    local faces, seen = aged{ 10, 15, 16, 30 }, {}
    local function pairs_of(part, count)
      return of_faces.face_pairs(faces, { part = part, pairs = count, seed = 1, features = mr.ones(4, 2) })
    end
    local found = pairs_of("test", 24)
    equal(found.count, 4)
    local items, grades = found.items:totable(), found.lists.relevance:totable()
    for i = 1, 8, 2 do
      seen[items[i] .. " " .. items[i + 1]] = true
      equal({ grades[i], grades[i + 1] }, { 0, 1 })
    end
    equal(seen, { ["1 3"] = true, ["1 4"] = true, ["2 4"] = true, ["3 4"] = true })
    test.raises(function() pairs_of("test", 30) end, "5")
    -- eight ages, ten years apart from one to the next, have 28 pairs
    local spread, counts = aged{ 5, 15, 25, 35, 45, 55, 65, 75 }, {}
    for i, part in ipairs{ "train", "valid", "test" } do
      counts[i] = of_faces.face_pairs(spread, { part = part, pairs = 24, seed = 1, features = mr.ones(8, 2) }).count
    end
    equal(counts, { 18, 2, 4 })
    local other = of_faces.face_pairs(faces, { part = "test", pairs = 12, seed = 2, features = mr.ones(4, 2) })
    check(table.concat(other.items:totable(), " ") ~= table.concat(pairs_of("test", 12).items:totable(), " "),
      "by seed")
  end)

  -- Returns pairs of rows with one feature. The row with the larger feature has grade 1 (older), or with `sign` -1 the
  -- other row.
  local function pairs_of(count, sign, seed)
    local u, lists = mr.uniform({ 2 * count, 1 }, { seed = seed }), {}
    local x = u:reshape(2 * count):totable()
    for i = 1, count do lists[i] = sign * (x[2 * i - 1] - x[2 * i]) > 0 and { 1, 0 } or { 0, 1 } end
    return mr.data.dataset{ lists = mr.lists(lists), features = u }
  end

  -- Returns the weight of a linear model after each epoch, trained by gradient descent on RankNet's loss in batches of
  -- 100 pairs. Loss and gradient are computed here.
  local function descent(train, rate, seed, epochs)
    local w, after = mr.models.linear{ inputs = 1, seed = seed }:parameters()[1]:reshape(1):item(), {}
    for epoch = 1, epochs do
      for batch in train:batches{ size = 100, shuffle = true, seed = seed, epoch = epoch } do
        local x, y, slope = batch.features:reshape(batch.lists.rows):totable(), batch.lists.relevance:totable(), 0
        for i = 1, #x, 2 do
          local d = y[i] > 0 and x[i] - x[i + 1] or x[i + 1] - x[i]
          slope = slope - d / (1 + math.exp(w * d)) / batch.lists.count
        end
        w = w - rate * slope
      end
      after[epoch] = w
    end
    return after
  end

  it("fit_face descends in batches of 100 pairs, and chooses the epoch by accuracy on validation", function()
    local train = pairs_of(250, 1, 1)
    local function fitted(valid, more)
      local o = { model = mr.models.linear{ inputs = 1, seed = 6 }, loss = mr.losses.ranknet{},
        train = train, rate = 4 }
      for name, value in pairs(more or {}) do o[name] = value end
      local told = {}
      local trial = { _state = {}, split = 6, report = function(_, epoch) told[epoch] = true end }
      local model = of_faces.fit_face(o, { valid = { pairs = valid }, epochs = 3 }, trial)
      return model:parameters()[1]:reshape(1):item(), #told
    end
    local by_epoch = descent(train, 4, 6, 5)
    -- with one feature, the accuracy depends only on the sign of the weight; among epochs with equal accuracy, the
    -- first is chosen
    local sign, first = by_epoch[3] > 0, 3
    for epoch = 3, 1, -1 do first = (by_epoch[epoch] > 0) == sign and epoch or first end
    local found, epochs = fitted(pairs_of(30, 1, 2))
    near(found, by_epoch[first], 1e-5)
    equal(epochs, 3)
    equal(select(2, fitted(pairs_of(30, 1, 2), { epochs = 5 })), 5)
  end)

  it("fit_face measures the AUC on validation pairs, not on training pairs", function()
    -- training raises the weight from below 0 to above 0. Validation pairs that contradict the training pairs prefer
    -- the first epoch; validation pairs that agree with them prefer a later one
    local train = pairs_of(250, 1, 1)
    local start = mr.models.linear{ inputs = 1, seed = 6 }:parameters()[1]:reshape(1):item()
    local function fitted(sign)
      local model = mr.models.linear{ inputs = 1, seed = 6 }
      local scaled = mr.data.dataset{ lists = train.lists, features = train.features * (start < 0 and 1 or -1) }
      local valid = pairs_of(30, start < 0 and sign or -sign, 2)
      local told = {}
      local trial = { _state = {}, split = 6, report = function(_, epoch, values) told[epoch] = values.valid_auc end }
      of_faces.fit_face({ model = model, loss = mr.losses.ranknet{}, train = scaled, rate = 1 },
        { valid = { pairs = valid }, epochs = 40 }, trial)
      return told
    end
    local with, against = fitted(1), fitted(-1)
    near({ with[40], against[40] }, { 1, 0 }, 1e-9)
  end)

  -- Returns a part of a fold with five images, and pairs of them.
  local function part(items, grades, features, ages)
    return { items = { lists = mr.lists{ { 0, 0, 0, 0, 0 } }, count = 5 },
      features = features, images = { labels = mr.tensor(ages) },
      pairs = { count = #grades, items = mr.tensor(items, { dtype = "int64" }), lists = mr.lists(grades) } }
  end
  local data = {
    valid = part({ 1, 2 }, { { 1, 0 } }, mr.tensor{ { 9 }, { 8 }, { 7 }, { 6 }, { 5 } }, { 1, 2, 3, 4, 5 }),
    test = part({ 1, 2, 1, 3, 1, 4, 1, 2, 2, 5, 1, 5 },
      { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 0, 1 }, { 0, 1 }, { 1, 0 } },
      mr.tensor{ { 2 }, { -1 }, { 2 }, { 0 }, { 0.5 } }, { 40, 10, 50, 20, 30 }) }
  local function score(of) return of.features:reshape(5) end

  it("judge counts ties as half, classifiers also by labels, and regressions also by R^2", function()
    -- scores of the older and the younger image of each pair: 2 and -1, 2 and 2, 2 and 0, -1 and 2, 0.5 and -1, 2 and
    -- 0.5
    local found, margins = of_faces.judge("classification", score, data)
    equal({ found.accuracy, found.valid }, { (1 + 0.5 + 1 + 0 + 1 + 1) / 6, 1.0 })
    -- both labels are right if the older image has a score above 0 and the younger one a score of at most 0: pairs 1, 3
    -- and 5
    equal(found.both, 3 / 6)
    equal(margins:totable(), { 3.0, 0.0, 2.0, -3.0, 1.5, 1.5 })
    equal(found.r2, nil)
    found = of_faces.judge("ranking", score, data)
    equal({ found.both, found.r2, found.valid, found.accuracy }, { nil, nil, 1.0, 0.75 })
    -- the ages 40, 10, 50, 20, 30 have mean 30 and sum of squares 100 + 400 + 400 + 100 = 1000
    near(of_faces.judge("regression", score, data).r2, 1 - (38 ^ 2 + 11 ^ 2 + 48 ^ 2 + 20 ^ 2 + 29.5 ^ 2) / 1000, 1e-6)
    near(of_faces.judge("regression", score, data, 20).r2, 1 - (0 + 30 ^ 2 + 10 ^ 2 + 20 ^ 2 + 20 ^ 2) / 1000, 1e-6)
    -- scores are multiplied in float64, because float32 rounds 16777217 to 16777216
    local scores, ages = mr.tensor{ 1, 0, 0, 0, 0 }, { 16777217, 0, 0, 0, 0 }
    data.test.images.labels = mr.tensor(ages, { dtype = "float64" })
    equal(of_faces.judge("regression", function() return scores end, data, 16777217).r2, 1.0)
  end)

  it("choose takes the setting with the best validation, the first of equal ones", function()
    local runs = {}
    for i, valid in ipairs{ 0.5, 0.7, 0.7, 0.2 } do
      runs[i] = { values = { valid = valid, accuracy = 1 - valid }, number = i }
    end
    equal(of_faces.choose(runs).number, 2)
    equal(of_faces.choose{}, nil)
  end)
end)
