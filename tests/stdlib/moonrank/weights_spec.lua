-- Tests weights of rows and of lists outside of losses: in evaluation, training and trees. A list with weight 2 must
-- count like two equal lists, and a row with weight 2 like two equal rows.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, equal, raises, check = test.describe, test.it, test.near, test.equal, test.raises, test.check
local it_grows = dofile("tests/support/trees.lua").it

local grades = { { 1, 0, 2, 0 }, { 0, 1, 0 }, { 2, 0, 1, 1, 0 } }
local rows = { 4, 3, 5 }
local numbers = mr.normal({ 12, 3 }, { seed = 1, device = "cpu" }):totable()

-- Returns a data set of these lists in this order, with rows repeated as `copies_of_rows` says.
local function data(order, copies_of_rows)
  local relevance, sizes, features = {}, {}, {}
  for l, list in ipairs(order) do
    sizes[l] = 0
    local first = 0
    for before = 1, list - 1 do first = first + rows[before] end
    for i, grade in ipairs(grades[list]) do
      for _ = 1, copies_of_rows and copies_of_rows[first + i] or 1 do
        sizes[l], relevance[#relevance + 1], features[#features + 1] = sizes[l] + 1, grade, numbers[first + i]
      end
    end
  end
  return mr.data.dataset{ lists = mr.lists{ relevance = relevance, sizes = sizes }, features = mr.tensor(features) }
end

local function weighted(o)
  local plain = data{ 1, 2, 3 }
  return mr.data.dataset{ lists = plain.lists, features = plain.features, weights = o.weights,
    list_weights = o.list_weights }
end

local twice, thrice = { 2, 1, 1 }, { 1, 2, 1, 1, 3, 1, 1, 1, 1, 2, 1, 1 }

local function scores_after(train, o)
  o.train, o.progress = train, false
  o.model = o.model or mr.models.linear{ inputs = 3, seed = 1 }
  if not o.trees then o.optimizer, o.epochs = mr.optim.sgd{ lr = 0.3 }, 4 end
  o.trees = nil
  local run = mr.fit(o)
  local batch = data({ 1, 2, 3 }):batches{ size = 3 }()
  return mr.no_grad(function() return o.model(batch) end), run.history[#run.history].loss
end

local function same(a, b, o)
  local function of(set)
    local copy = {}
    for name, value in pairs(o) do copy[name] = value end
    if copy.make then copy.model, copy.make = copy.make(), nil end
    return scores_after(set, copy)
  end
  local found, loss = of(a)
  local expected, expected_loss = of(b)
  near(found, expected, 2e-5)
  near(loss, expected_loss, 2e-5)
end

describe("mr.fit", function()
  it("gives a list of weight 2 what it gives two equal lists, for every reduction", function()
    for _, name in ipairs{ "ndcg", "ranknet", "softmax_cross_entropy", "mse" } do
      local loss = mr.losses[name]{ bound = name ~= "mse" and "minmax" or nil }
      for _, reduction in ipairs{ "mean", "sum", name == "mse" and "rows" or nil } do
        same(weighted{ list_weights = twice }, data{ 1, 1, 2, 3 }, { loss = loss, batch = 4, reduction = reduction })
      end
    end
  end)

  it("gives a row of weight w what it gives w equal rows, with a pointwise loss", function()
    for _, reduction in ipairs{ "mean", "rows" } do
      same(weighted{ weights = thrice }, data({ 1, 2, 3 }, thrice), { loss = mr.losses.mse{}, batch = 3,
        reduction = reduction })
    end
    same(weighted{ weights = thrice }:pointwise(), data({ 1, 2, 3 }, thrice):pointwise(), { loss = mr.losses.bce{},
      batch = 100 })
  end)

  it("keeps the weights of the lists of each batch", function()
    local set = weighted{ list_weights = { 0, 0, 2 } }
    local alone = data{ 3 }
    local model = mr.models.linear{ inputs = 3, seed = 1 }
    local found = scores_after(set, { loss = mr.losses.ranknet{}, batch = 1, model = model })
    near(found, (scores_after(alone, { loss = mr.losses.ranknet{}, batch = 1 })), 1e-6)
  end)

  it("warns if all lists that count have weight 0, also in a sum of losses", function()
    local checks = require "moonrank.check"
    for _, loss in ipairs{ mr.losses.ndcg{}, mr.losses.ndcg{} + mr.losses.ap{} } do
      for _, list_weights in ipairs{ { 0, 0, 0 }, { 0, 0, 1 } } do
        local warnings, warn = {}, checks.warn
        checks.warn = function(text) warnings[#warnings + 1] = text end
        local ok, message = pcall(scores_after, weighted{ list_weights = list_weights }, { loss = loss, batch = 3 })
        checks.warn = warn
        check(ok, message)
        equal(table.concat(warnings):find("weight 0", 1, true) ~= nil, list_weights[3] == 0)
      end
    end
  end)

  it("refuses weights that loss or metric do not take before it trains", function()
    local function fit(o)
      o.model, o.optimizer, o.epochs, o.progress = mr.models.linear{ inputs = 3 }, mr.optim.sgd{ lr = 1 }, 1, false
      o.each_epoch = function() error "it trained" end
      return function() mr.fit(o) end
    end
    local set = weighted{ weights = thrice }
    raises(fit{ train = set, loss = mr.losses.log_rr{} }, "weights", "log_rr")
    raises(fit{ train = set, valid = set, loss = mr.losses.mse{}, metrics = { "ap" } }, "weights", "ap")
    raises(fit{ train = set, valid = set, loss = mr.losses.ndcg{} + mr.losses.log_rr{}, metrics = {} }, "log_rr")
  end)
end)

describe("trees", function()
  local function trees(objective)
    return function() return mr.models.trees{ rounds = 3, depth = 2, min_child_weight = 0, objective = objective } end
  end

  it_grows("split by derivatives times weights", function()
    for _, name in ipairs{ "lambdarank", "ndcg", "mse" } do
      same(weighted{ list_weights = twice }, data{ 1, 1, 2, 3 }, { loss = mr.losses[name]{}, make = trees(),
        trees = true })
    end
    same(weighted{ weights = thrice }:pointwise(), data({ 1, 2, 3 }, thrice):pointwise(), { loss = mr.losses.mse{},
      make = trees(), trees = true })
  end)

  it_grows("of XGBoost's objectives get weights of lists for rankings and of rows for others", function()
    same(weighted{ weights = thrice }, data({ 1, 2, 3 }, thrice), { make = trees "reg:squarederror", trees = true })
    local plain = scores_after(data{ 1, 2, 3 }, { model = trees "rank:pairwise"(), trees = true })
    local found = scores_after(weighted{ list_weights = { 50, 1, 1 } }, { model = trees "rank:pairwise"(),
      trees = true })
    check((found - plain):abs():max():item() > 1e-3)
    raises(function() scores_after(weighted{ weights = thrice }, { model = trees "rank:ndcg"(), trees = true }) end,
      "weights", "rank:ndcg")
    raises(function()
      scores_after(weighted{ list_weights = { 0, 0, 0 } }, { model = trees "rank:ndcg"(), trees = true })
    end, "weight 0", "rank:ndcg")
  end)
end)

describe("mr.evaluate", function()
  local x = mr.tensor({ 0.3, 2, 1, -1, 0, 1, 5, 1, 3, 2, 0, 4 }, { dtype = "float64" })
  local lists = mr.lists(grades)

  it("takes means by the weights of lists", function()
    for _, name in ipairs{ "ndcg@2", "ap", "rr" } do
      local plain = mr.evaluate(x, lists, { name })
      local found = mr.evaluate(x, lists:weighted{ list_weights = { 3, 0, 1 } }, { name })
      local values = plain[name]:totable()
      near(found.mean[name], (3 * values[1] + values[3]) / 4, 1e-12)
      equal(found[name]:totable(), values)
    end
    near(mr.evaluate(x:float(), lists:weighted{ list_weights = twice }, { "ndcg" }).mean.ndcg,
      mr.evaluate(mr.cat({ x:narrow(1, 1, 4), x }, 1), mr.lists{ grades[1], grades[1], grades[2], grades[3] },
        { "ndcg" }).mean.ndcg, 1e-6)
  end)

  it("multiplies gains by the weights of rows", function()
    local w = { 0.5, 1, 2, 3, 1, 0.25, 1, 4, 1, 0, 0.1, 1 }
    local function dcg(order, gains, k)
      local sum = 0
      for rank = 1, math.min(k, #order) do sum = sum + gains[order[rank]] / math.log(rank + 1, 2) end
      return sum
    end
    for _, gain in ipairs{ "exp2", "linear" } do
      local found = mr.evaluate(x, lists:weighted{ weights = w }, { "ndcg@2", "dcg" }, { gain = gain })
      local first = 0
      for l, list in ipairs(grades) do
        local order, gains, ideal = {}, {}, {}
        for i, grade in ipairs(list) do
          order[i], ideal[i] = i, i
          gains[i] = w[first + i] * (gain == "linear" and grade or 2 ^ grade - 1)
        end
        local scores = x:narrow(1, first + 1, #list):totable()
        table.sort(order, function(a, b) return scores[a] > scores[b] end)
        table.sort(ideal, function(a, b) return gains[a] > gains[b] end)
        near(found["ndcg@2"]:totable()[l], dcg(order, gains, 2) / dcg(ideal, gains, 2), 1e-6)
        near(found.dcg:totable()[l], dcg(order, gains, 99), 1e-6)
        first = first + #list
      end
    end
    raises(function() mr.evaluate(x, lists:weighted{ weights = w }, { "ap" }) end, "weights", "ap")
    local none = mr.evaluate(x, lists:weighted{ weights = { 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 } }, { "ndcg" })
    equal(none.counted.ndcg, 2)
  end)

  it("of runs, candidates and comparisons refuse weights", function()
    local set = weighted{ list_weights = twice }
    raises(function() mr.data.scored(x, lists):evaluate(set, { "ndcg" }) end, "weights")
    local e = mr.evaluate(x, set.lists, { "ndcg" })
    raises(function() mr.compare{ a = e, b = e } end, "weights")
  end)
end)
