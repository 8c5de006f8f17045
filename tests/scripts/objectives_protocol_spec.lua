-- Tests the protocol of Tang et al. (2023), scripts/objectives/protocol.lua and code.lua, on made-up queries. Training
-- is repeated by a network with derivatives and Adam that are written in this file. Other expected results are worked
-- out beside each test.
local mr = require "moonrank"
local fold = require "moonrank.data.fold"
local test = require "moonrank.test"
local describe, it, equal, near, check = test.describe, test.it, test.equal, test.near, test.check

local folder = "scripts/objectives/"
local code = dofile(folder .. "code.lua")
local protocol, beside = code.training.protocol, dofile(folder .. "beside.lua")

local noise = 0
-- Returns queries of these lengths with grades 0 to 2. The first feature grows with the grade, by a factor of
-- `agreement`, and has a mean far from 0.
local function queries(lengths, agreement)
  local lists, features = {}, {}
  noise = noise + 1
  local drawn, at = mr.uniform({ 4000 }, { seed = noise, dtype = "float64" }):totable(), 0
  local function next_number()
    at = at + 1
    return drawn[at]
  end
  for l, n in ipairs(lengths) do
    lists[l] = {}
    for i = 1, n do
      -- most grades are equal, so that most pairs have equal grades and RankNet upsamples the others
      lists[l][i] = math.floor(3 * next_number() ^ 2)
      features[#features + 1] =
        { 50 + 4 * ((agreement or 1) * lists[l][i] + next_number()), next_number(), 0.001 * next_number() }
    end
    lists[l][1], lists[l][2] = 2, 0  -- makes two grades of every query differ
  end
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(features) }
end

local function data_of(kind, folds) return { kind = kind, least = kind == "mslr" and 1 or 8, folds = folds } end

local function one_fold(train, valid, test_part)
  return fold.new{ train = train, valid = valid, test = test_part, number = 1, k = 1, title = "made up" }
end

-- Returns lengths of lists from pairs {length, number of lists}: {{8, 70}, ...} has 70 lists of length 8.
local function lengths(pairs_of)
  local found = {}
  for _, pair in ipairs(pairs_of) do
    for _ = 1, pair[2] do found[#found + 1] = pair[1] end
  end
  return found
end

-- A network with one hidden layer of 5 units and ReLU, and Adam (Kingma & Ba 2015, algorithm 1, with weight decay added
-- to the gradient), in plain Lua.
local Network = {}
Network.__index = Network

local function network(features, seed)
  local own = setmetatable({ w = {} }, Network)
  for i, p in ipairs(mr.models.mlp{ inputs = features, hidden = { 5 }, activation = "relu",
    seed = seed }:parameters()) do
    own.w[i] = p:reshape(p:numel()):totable()
  end
  own.m, own.v, own.t = {}, {}, 0
  for i, p in ipairs(own.w) do
    own.m[i], own.v[i] = {}, {}
    for k in ipairs(p) do own.m[i][k], own.v[i][k] = 0, 0 end
  end
  return own
end

function Network:scores(rows)
  local w, scores, hidden = self.w, {}, {}
  for r, x in ipairs(rows) do
    hidden[r], scores[r] = {}, w[4][1]
    for h = 1, 5 do
      local sum = w[2][h]
      for f, value in ipairs(x) do sum = sum + value * w[1][(f - 1) * 5 + h] end
      hidden[r][h] = math.max(sum, 0)
      scores[r] = scores[r] + hidden[r][h] * w[3][h]
    end
  end
  return scores, hidden
end

function Network:step(rows, slopes_of, o)
  local scores, hidden = self:scores(rows)
  local slopes, g = slopes_of(scores), { {}, {}, {}, {} }
  for i, p in ipairs(self.w) do
    for k in ipairs(p) do g[i][k] = 0 end
  end
  for r, x in ipairs(rows) do
    g[4][1] = g[4][1] + slopes[r]
    for h = 1, 5 do
      g[3][h] = g[3][h] + slopes[r] * hidden[r][h]
      local back = hidden[r][h] > 0 and slopes[r] * self.w[3][h] or 0
      g[2][h] = g[2][h] + back
      for f, value in ipairs(x) do g[1][(f - 1) * 5 + h] = g[1][(f - 1) * 5 + h] + back * value end
    end
  end
  self.t = self.t + 1
  for i, p in ipairs(self.w) do
    for k in ipairs(p) do
      local slope = g[i][k] + (o.decay or 0) * p[k]
      self.m[i][k] = 0.9 * self.m[i][k] + 0.1 * slope
      self.v[i][k] = 0.999 * self.v[i][k] + 0.001 * slope ^ 2
      local m, v = self.m[i][k] / (1 - 0.9 ^ self.t), self.v[i][k] / (1 - 0.999 ^ self.t)
      p[k] = p[k] - o.rate * m / (math.sqrt(v) + 1e-8)
    end
  end
end

-- Returns a function that computes the derivative of a step's loss by its scores. The loss is the sum over the lists,
-- times `sign`, divided by count(lists).
local function slopes_of(loss, lists, count, sign)
  return function(scores)
    local s = mr.tensor(scores, { dtype = "float64" }):requires_grad()
    local sum = loss(s, lists):sum() * (sign / count(lists))
    sum:backward()
    return s.grad:totable()
  end
end

-- Trains the network for `epochs` epochs by these steps, each {rows, lists}.
local function train(net, batches, epochs, loss, count, sign, o)
  for _ = 1, epochs do
    for _, batch in ipairs(batches) do net:step(batch.rows, slopes_of(loss, batch.lists, count, sign), o) end
  end
end

local function batches_of(data, size)
  local found = {}
  for batch in data:batches{ size = size, shuffle = false } do
    found[#found + 1] = { rows = batch.features:totable(), lists = batch.lists }
  end
  return found
end

-- Returns features standardized by the mean and standard deviation of the rows `by`, computed by loops. `added` is
-- added to the variance.
local function standardised(part, by, added)
  local sums, rows = {}, by.features:totable()
  for c = 1, #rows[1] do
    local mean, square = 0, 0
    for _, row in ipairs(rows) do mean = mean + row[c] / #rows end
    for _, row in ipairs(rows) do square = square + (row[c] - mean) ^ 2 / #rows end
    sums[c] = { mean, math.sqrt(square + added) }
  end
  local found = part.features:totable()
  for _, row in ipairs(found) do
    for c, each in ipairs(sums) do row[c] = (row[c] - each[1]) / each[2] end
  end
  return mr.data.dataset{ lists = part.lists, features = mr.tensor(found) }
end

local function every_list(lists) return lists.count end

-- Returns the settings of an algorithm in the paper (4.2): kind of batches, learning rate and epochs.
local by_query =
  { rate = 1e-4, epochs = { mq2008 = 100, mslr = 30 }, batches = function(part) return batches_of(part, 1) end }
local function by_length(size, least)
  return function(part, kind)
    return batches_of(part:minibatches(part:equal_lengths{ size = size, least = kind == "mslr" and 1 or least }), 1)
  end
end
local function by_documents(part, seed)
  return batches_of(protocol.steps(part, { steps = "documents", size = 64 }, 1, seed), 1)
end
local function like(base, changes)
  local found = {}
  for name, value in pairs(base) do found[name] = value end
  for name, value in pairs(changes) do found[name] = value end
  return found
end
local function by_document(part, kind)
  if kind == "mslr" then return by_length(64, 8)(part, kind) end
  return by_documents(part, 3)
end
local in_eights = like(by_query, { batches = by_length(8, 8) })
local paper = {
  MseNetBatched = { rate = 1e-3, epochs = { mq2008 = 300, mslr = 30 }, batches = by_document },
  MseNetQbQ = like(by_query, { rate = 1e-3 }),
  RankNet = by_query,
  ApproxNDCGBatched = like(in_eights, { decay = 1e-5 }), ApproxNDCGQbQ = like(by_query, { decay = 1e-5 }),
  NeuralNDCGBatched = in_eights, NeuralNDCGQbQ = by_query,
}

-- Returns the loss of an algorithm as in the paper (3.2), and a function that counts what its mean is over.
local function loss_of(name, part)
  if name:find "^Mse" then return mr.losses.mse(), every_list end
  if name:find "^Approx" then return mr.losses.approx_ndcg{ steepness = 1 }, every_list end
  if name:find "^Neural" then return mr.losses.neural_ndcg(), every_list end
  -- objectives_spec.lua tests this loss against pairs written out
  local loss = protocol.loss(protocol.by_name.RankNet, part)
  return loss, function(lists) return loss:count(lists) end
end

-- Returns the loss of the network's scores on a part, with sign and count as in `slopes_of`.
local function loss_at(net, part, loss, count, sign)
  local scores = mr.tensor((net:scores(part.features:totable())), { dtype = "float64" })
  return loss(scores, part.lists):sum():item() * sign / count(part.lists)
end

-- Returns the mean squared error over documents, for algorithms whose steps consist of documents.
local function by_rows(net, part)
  local scores, sum = net:scores(part.features:totable()), 0
  for i, y in ipairs(part.lists.relevance:totable()) do sum = sum + (scores[i] - y) ^ 2 end
  return sum / #scores
end

-- Test data: `mixed` has nine queries of one length and three of another, which batches leave out; `large` has more
-- documents than two steps of 64.
local mixed, large = lengths{ { 4, 9 }, { 3, 3 } }, lengths{ { 8, 15 }, { 5, 2 } }

describe("protocol of recipe paper:", function()
  local few = one_fold(queries(mixed), queries{ 6, 2, 4 }, queries{ 4, 4, 4 })

  it("train chooses the epoch on validation, on the fold that was asked for", function()
    local train_part, against = queries(lengths{ { 8, 9 } }), queries(lengths{ { 6, 9 } }, -1)
    local other = one_fold(queries(lengths{ { 8, 4 } }), queries(lengths{ { 6, 4 } }), queries(lengths{ { 6, 4 } }))
    local data = data_of("mq2008", { other, one_fold(train_part, queries(lengths{ { 6, 9 } }), against) })
    local run, count = protocol.train(data, { algorithm = "MseNetQbQ", split = 2, rate = 1e-2 }, 1, false)
    equal(count, 9)
    local best = 1
    for i, entry in ipairs(run.history) do
      if entry.metrics.ndcg > run.history[best].metrics.ndcg then best = i end
    end
    equal(run.best.epoch, best)
    equal(run.best.metrics.ndcg, run.history[best].metrics.ndcg)
    check(run.best.metrics.ndcg > run.test.mean.ndcg + 0.1, "validation agrees with training, test does not")
    check(run.history[#run.history].valid_loss < run.history[1].valid_loss, "nor does its loss")
    equal(#run.scores.ndcg, 9)
    for _, name in ipairs(protocol.metric_names) do equal(#run.scores[name], 9, name) end
  end)

  it("train chooses the epoch by nDCG with the gain 2^y - 1, not by nDCG of labels + 1", function()
    -- nDCG+1 is best in another epoch, but the metric "ndcg" must choose the epoch
    local run =
      protocol.train(data_of("mq2008", { few }), { algorithm = "NeuralNDCGQbQ", split = 1, rate = 0.1 }, 1, false)
    equal(run.best.metrics.ndcg, math.max(table.unpack((function()
      local all = {}
      for i, entry in ipairs(run.history) do all[i] = entry.metrics.ndcg end
      return all
    end)())))
  end)

  it("train ends after 20 epochs without a better one, except at the rate of the text", function()
    -- nDCG of a query with one document is always 1, so the first epoch stays the best
    local same = mr.data.dataset{ lists = mr.lists{ { 1 } }, features = mr.tensor{ { 1, 2, 3 } } }
    local data = data_of("mq2008", { one_fold(queries(lengths{ { 8, 3 } }), same, same) })
    equal(#protocol.train(data, { algorithm = "NeuralNDCGQbQ", split = 1, rate = 1e-4 }, 1, false).history, 100)
    equal(#protocol.train(data, { algorithm = "NeuralNDCGQbQ", split = 1, rate = 1e-3 }, 1, false).history, 21)
    equal(#protocol.train(data, { algorithm = "NeuralNDCGQbQ", split = 1, rate = 1e-3 }, 1, true).history, 2)
  end)

  it("rates are powers of ten and include those of the text, and at_edge marks the first and the last", function()
    for i = 2, #protocol.rates do near(protocol.rates[i] / protocol.rates[i - 1], 10, 1e-9) end
    local inside = {}
    for _, rate in ipairs(protocol.rates) do inside[rate] = true end
    for name, o in pairs(paper) do check(inside[o.rate], name) end
    equal({ beside.at_edge(1e-4), beside.at_edge(1e-3), beside.at_edge(1e-2), beside.at_edge(1e-1) },
      { true, false, false, true })
  end)
end)

local function settings_of(name, recipe, kind)
  return (recipe == "code" and code or protocol).settings(name, { kind = kind })
end

-- Returns the numbers of lists or rows in each training step.
local function sizes_of(name, recipe, kind, part)
  local o, found = settings_of(name, recipe, kind), {}
  local train_part = o.eight and code.of_eight(part) or part
  local steps = recipe == "code" and code.steps or protocol.steps
  local batches, count = steps(train_part, o, protocol.sets[kind].least, 1)
  for batch in batches:batches{ size = 1 } do
    found[#found + 1] = o.steps == "documents" and batch.lists.rows or batch.lists.count
  end
  return found, count
end

local function times(n, value)
  local found = {}
  for i = 1, n do found[i] = value end
  return found
end

it("protocol.steps makes batches of the sizes in 4.2 for both recipes", function()
  -- 70 queries with 8 documents, 9 with 5, 70 with 3 and 7 with 2: 156 queries and 829 documents
  local part = queries(lengths{ { 8, 70 }, { 5, 9 }, { 3, 70 }, { 2, 7 } })
  local eights = table.move(times(8, 8), 1, 8, 1, {})
  local function joined(...)
    local all = {}
    for _, some in ipairs{ ... } do table.move(some, 1, #some, #all + 1, all) end
    return all
  end
  local in_eights_of = joined(eights, { 6 }, { 8, 1 }, eights, { 6 })
  local cases = {
    -- steps begin at documents 1, 65, ..., 641; the last step, which begins at 705 or later, is left out
    { "MseNetBatched", "paper", "mq2008", times(11, 64), 156 },
    { "MseNetBatched", "code", "mq2008", times(11, 64), 156 },
    { "MseNetBatched", "paper", "mslr", { 64, 6, 9, 64, 6, 7 }, 156 },
    { "MseNetBatched", "code", "mslr", { 70, 9, 70, 7 }, 156 },
    -- MQ2008 leaves out lengths with fewer than eight queries, and the MSLR slice leaves out none
    { "ApproxNDCGBatched", "paper", "mq2008", in_eights_of, 149 },
    { "ApproxNDCGBatched", "paper", "mslr", joined(in_eights_of, { 7 }), 156 },
    -- of 70 queries with eight documents, 64 make one step; the last, incomplete step is left out
    { "ApproxNDCGBatched", "code", "mq2008", { 64 }, 64 },
    { "ApproxNDCGBatched", "code", "mslr", { 70, 9, 70, 7 }, 156 },
    { "NeuralNDCGBatched", "paper", "mq2008", in_eights_of, 149 },
    { "NeuralNDCGBatched", "paper", "mslr", joined(in_eights_of, { 7 }), 156 },
    { "NeuralNDCGBatched", "code", "mq2008", { 70, 9, 70 }, 149 },
    { "NeuralNDCGBatched", "code", "mslr", { 70, 9, 70, 7 }, 156 },
  }
  for _, name in ipairs{ "MseNetQbQ", "ApproxNDCGQbQ", "NeuralNDCGQbQ", "RankNet" } do
    for _, kind in ipairs{ "mq2008", "mslr" } do
      cases[#cases + 1] = { name, "paper", kind, times(156, 1), 156 }
      if name ~= "RankNet" then cases[#cases + 1] = { name, "code", kind, times(156, 1), 156 } end
    end
  end
  for _, case in ipairs(cases) do
    local found, count = sizes_of(case[1], case[2], case[3], part)
    equal(found, case[4], table.concat(case, " ", 1, 3))
    equal(count, case[5], table.concat(case, " ", 1, 3))
  end
  equal({ protocol.sets.mq2008.least, protocol.sets.mslr.least, protocol.sets.web10k.least }, { 8, 1, 8 })
end)

it("protocol.steps of recipe code takes 64 pairs of RankNet at a time, and leaves out the last step", function()
  local part, all = queries(lengths{ { 8, 20 } }), 0
  local grades = part.lists.relevance:totable()
  for l = 0, 19 do
    for i = 8 * l + 1, 8 * l + 8 do
      for j = 8 * l + 1, 8 * l + 8 do all = all + (i ~= j and grades[i] == grades[j] and 1 or 0) end
    end
  end
  for _, kind in ipairs{ "mq2008", "mslr" } do
    local found, count = sizes_of("RankNet", "code", kind, part)
    equal(found, times(3 * all // 64 - 1, 64))
    equal(count, 20)
  end
end)

it("protocol.training uses Adam at the rates of 4.2, with weight decay for ApproxNDCG alone", function()
  local rates = {
    paper = { MseNetBatched = { 1e-3, 1e-3 }, MseNetQbQ = { 1e-3, 1e-3 }, ApproxNDCGBatched = { 1e-4, 1e-4 } },
    code = { MseNetBatched = { 5e-5, 5e-5 }, MseNetQbQ = { 1e-3, 1e-3 }, ApproxNDCGBatched = { 1e-4, 1e-3 } } }
  local part = queries{ 8, 8 }
  for _, recipe in ipairs{ "paper", "code" } do
    for _, name in ipairs(protocol.names) do
      for k, kind in ipairs{ "mq2008", "mslr" } do
        local o = settings_of(name, recipe, kind)
        local rate = rates[recipe][name] and rates[recipe][name][k] or 1e-4
        local slope = 2e-5 - (name:find "^Approx" and 1e-5 or 0)
        for _, given in ipairs{ false, 0.25 } do
          local options = protocol.training(protocol.with(o, { rate = given or o.rate }), part, mr.losses.mse(), 1)
          local w = mr.tensor({ 1 }, { dtype = "float64" }):requires_grad()
          local optimizer = options.optimizer:bind{ w }
          local sum = (w * -2e-5):sum()
          sum:backward()
          optimizer:step()
          near((w:item() - 1) / (given or rate), slope / (slope + 1e-8), 1e-6, name .. " " .. recipe .. " " .. kind)
        end
      end
    end
  end
end)

it("train takes the rate of its trial, and the weight decay of the algorithm", function()
  local fit, decays = mr.fit, {}
  local part = queries{ 8, 8 }
  local set = { kind = "mq2008", least = 1,
    folds = { require("moonrank.data.fold").new{ train = part, valid = part, test = part, number = 1, k = 1,
      title = "made" } } }
  rawset(mr, "fit", function(o)
    local w = mr.tensor({ 1 }, { dtype = "float64" }):requires_grad()
    local optimizer = o.optimizer:bind{ w }
    local sum = (w * -2e-5):sum()
    sum:backward()
    optimizer:step()
    -- Adam's first step is the rate times s / (s + 1e-8), where s is 2e-5 less the decay
    decays[#decays + 1] = (w:item() - 1) / 0.25
  end)
  local ok, problem = pcall(function()
    for _, name in ipairs(protocol.names) do protocol.train(set, { algorithm = name, split = 1, rate = 0.25 }, 1) end
  end)
  rawset(mr, "fit", fit)
  check(ok, problem)
  for i, name in ipairs(protocol.names) do
    local slope = 2e-5 - (name:find "^Approx" and 1e-5 or 0)
    near(decays[i], slope / (slope + 1e-8), 1e-6, name)
  end
end)

-- Returns the first feature of each query's first row, as text, to recognise queries.
local function starts(part)
  local found, at, x = {}, 0, part.features:totable()
  for i, n in ipairs(part.lists.sizes:totable()) do
    found[i] = ("%.4f"):format(x[at + 1][1])
    at = at + n
  end
  return found
end

describe("protocol of recipe code:", function()
  it("parts evaluates a tenth of MQ2008's queries, or a hundred of MSLR that were trained on", function()
    local parts = one_fold(queries(times(150, 3)), queries(times(50, 3)), queries(times(50, 3)))
    local train_part, evaluation = code.parts(data_of("mq2008", { parts }), 1)
    equal({ train_part.count, evaluation.count }, { 225, 25 })
    local seen, known = {}, {}
    for _, name in ipairs(starts(train_part)) do seen[name] = true end
    for _, name in ipairs(starts(evaluation)) do check(not seen[name], "in both parts: " .. name) end
    for _, part in ipairs{ train_part, evaluation } do
      for _, name in ipairs(starts(part)) do known[name] = true end
    end
    for _, part in ipairs{ parts.train, parts.valid, parts.test } do
      for _, name in ipairs(starts(part)) do check(known[name], "in no part: " .. name) end
    end
    local all, sample = code.parts(data_of("mslr", { parts }), 1)
    equal({ all.count, sample.count }, { 250, 100 })
    local few = one_fold(queries(times(10, 3)), queries(times(5, 3)), queries(times(5, 3)))
    equal({ select(2, code.parts(data_of("mslr", { few }), 1)).count }, { 19 })
    check(starts(evaluation)[1] ~= starts(select(2, code.parts(data_of("mq2008", { parts }), 2)))[1], "by seed")
  end)

  it("seeds gives three seeds, or one for made-up data", function()
    equal(code.seeds(4, false), { 4, 5, 6 })
    equal(code.seeds(4, true), { 4 })
  end)

  it("as_coded ranks upside down for NDCG losses, and by mistake for two MseNets on MSLR", function()
    local lists, scores = mr.lists{ { 1, 0, 0, 2 } }, mr.tensor{ 0.9, 0.5, 0.4, 0.1 }
    -- by score, the top two rows are 1 and 2, with P@2 = 1/2; with the order reversed they are 4 and 3, also with P@2 =
    -- 1/2. So the two orders differ in nDCG+1@2 only
    local down, up, discount = 3 + 1 / math.log(3, 2), 7 + 1 / math.log(3, 2), 7 + 3 / math.log(3, 2)
    local first = 3 / discount
    local expected = { MseNetBatched = { up / discount, down / discount }, MseNetQbQ = { first, down / discount },
      RankNet = { down / discount, down / discount } }
    for _, name in ipairs(protocol.names) do
      local own = expected[name] or { up / discount, up / discount }
      near(code.as_coded({ kind = "mslr" }, name, scores, lists)["ndcg+1@2"]:item(), own[1], 1e-6, name)
      near(code.as_coded({ kind = "mq2008" }, name, scores, lists)["ndcg+1@2"]:item(), own[2], 1e-6, name)
      near(code.metrics(scores, lists, code.meant(name))["ndcg+1@2"]:item(), own[2], 1e-6, name)
    end
  end)

  it("meets accepts a printed number between the least and the largest seed, to two digits", function()
    equal({ code.meets(0.45, 0.4551, 0.5), code.meets(0.45, 0.4549, 0.5), code.meets(0.45, 0.4, 0.4449),
      code.meets(0.45, 0.4, 0.4451) }, { false, true, false, true })
    equal({ 0.505 - 0.005, 0.495 + 0.005 }, { 0.5, 0.5 })
    equal({ code.meets(0.5, 0.505, 0.6), code.meets(0.5, 0.4, 0.495) }, { true, true })
  end)
end)

describe("protocol of statistics:", function()
  -- Eight queries: if all differences have the same sign, p = 2 / 2^8 by enumeration; if only one differs, p = 1.
  local base = { 1, 2, 3, 4, 5, 6, 7, 8 }
  local function plus(change, only)
    local found = {}
    for i, x in ipairs(base) do found[i] = (not only or i == only) and x + change or x end
    return found
  end
  local values = { MseNetBatched = base }
  for i = 2, #protocol.names do values[protocol.names[i]] = plus(1, i) end
  values.RankNet = plus(1)

  it("compare tests against MseNetBatched and random orders, with Holm's correction over a data set", function()
    local found, p = beside.compare(values, { 0, 0, 0, 0, 0, 0, 0, 0 }), 2 / 256
    for i, each in ipairs(found) do
      equal(each.name, protocol.names[i])
      -- 13 comparisons: 7 with random orders and 6 with MseNetBatched. Eight of them have the smallest p-value, so
      -- Holm's factor is 13
      near(each.p_random, 13 * p, 1e-9)
      if each.name == "MseNetBatched" then
        equal({ each.mean, each.change, each.p }, { 4.5, nil, nil }, "is not compared with itself")
      else
        local change = each.name == "RankNet" and 1 or 1 / 8
        near({ each.change, each.mean }, { change, 4.5 + change }, 1e-9)
        near(each.p, each.name == "RankNet" and 13 * p or 1, 1e-9, each.name)
      end
    end
  end)

  it("compare draws 100,000 choices of signs", function()
    local many, none, all = {}, {}, {}
    for i = 1, 40 do many[i], none[i] = i, 0 end
    for _, name in ipairs(protocol.names) do all[name] = many end
    -- no sampled choice of signs is as extreme as the observed one, so p = 1 / 100,001 in seven comparisons. Six
    -- comparisons of equal values have p = 1
    near(beside.compare(all, none)[1].p_random, 13 / 100001, { rtol = 1e-9 })
  end)
end)

describe("trainings of recipe code:", function()
  -- Returns the loss of an algorithm in the authors' code, a function that counts what its mean is over, and its sign.
  -- NDCG losses are minimized where they should be maximized. ApproxNDCG's mean also counts queries without relevant
  -- documents.
  local function their_loss(name, part)
    if name:find "NDCG" then
      local loss = name:find "^A" and mr.losses.approx_ndcg{ steepness = 1 } or mr.losses.neural_ndcg()
      return loss, every_list, -1
    end
    if name == "RankNet" then
      return mr.losses.ranknet_all_pairs{}, every_list, 1
    end
    local loss, count = loss_of(name, part)
    return loss, count, 1
  end

  -- Returns the batches in which the authors' code trains an algorithm.
  local function code_batches(name, kind, part, seed)
    if name == "MseNetBatched" and kind == "mq2008" then return by_documents(part, seed) end
    if name == "RankNet" then return batches_of(code.pairs(part, 64, seed), 1) end
    if name:find "QbQ$" then return batches_of(part, 1) end
    local size = name == "ApproxNDCGBatched" and kind == "mq2008" and 64 or nil
    local groups = part:equal_lengths{ size = size, least = kind == "mslr" and 1 or 8 }
    if size and #groups > 1 then groups[#groups] = nil end
    return batches_of(part:minibatches(groups), 1)
  end
  local epochs = {
    mq2008 = { MseNetBatched = 300, MseNetQbQ = 30, RankNet = 10, ApproxNDCGBatched = 100, ApproxNDCGQbQ = 100,
      NeuralNDCGBatched = 100, NeuralNDCGQbQ = 100 },
    mslr = { MseNetBatched = 30, MseNetQbQ = 30, RankNet = 10, ApproxNDCGBatched = 30, ApproxNDCGQbQ = 30,
      NeuralNDCGBatched = 30, NeuralNDCGQbQ = 30 },
  }
  local function rate_of(name, kind)
    if name == "MseNetBatched" then return 5e-5 end
    return (name == "MseNetQbQ" or name == "ApproxNDCGBatched" and kind == "mslr") and 1e-3 or 1e-4
  end
  local function scaling(name, kind)
    if name == "RankNet" or name == "MseNetBatched" and kind == "mq2008" then return "rows", "rows" end
    if name == "ApproxNDCGBatched" and kind == "mq2008" then return "places", "queries" end
    return "queries", "queries"
  end

  local few = one_fold(queries(lengths{ { 8, 4 }, { 4, 9 } }), queries{ 8, 8, 8, 8, 8, 8 }, queries{ 3, 3 })
  local larger = one_fold(queries(lengths{ { 8, 20 }, { 5, 2 } }), queries{ 8, 8 }, queries{ 6, 6 })

  it("code.train_curves trains on 70 % of the queries, and measures the loss on the rest", function()
    for _, case in ipairs{ { "MseNetQbQ", "mq2008", 30 }, { "NeuralNDCGBatched", "mslr", 30 },
      { "ApproxNDCGBatched", "mq2008", 100 } } do
      local name, kind = case[1], case[2]
      local data = data_of(kind, { few })
      local part = code.parts(data, 5)
      if name == "ApproxNDCGBatched" then part = code.of_eight(part) end
      local train_part, rest = part:split{ share = 0.3, seed = 5 }
      check(math.abs(rest.count / part.count - 0.3) < 0.06, name)
      if name == "NeuralNDCGBatched" then
        train_part, rest = code.scaled(train_part, "queries"), code.scaled(rest, "queries")
      end
      local run = code.train_curves(data, { algorithm = name, seeds = 5 }, false)
      equal(#run.history, case[3], name)
      local net, loss, count, sign = network(3, 5), their_loss(name, train_part)
      local o = { rate = rate_of(name, kind), decay = name:find "^Approx" and 1e-5 or 0 }
      train(net, code_batches(name, kind, train_part, 5), case[3], loss, count, sign, o)
      near(run.history[case[3]].valid_loss, loss_at(net, rest, loss, count, sign), 1e-3, name)
      check(run.best.metrics.ndcg > 0, "nDCG is reported")
    end
  end)

  it("code.train_curves trains as many epochs as the authors' code", function()
    local tiny = one_fold(queries(times(12, 3)), queries{ 8 }, queries{ 8 })
    for kind, each in pairs(epochs) do
      for name, count in pairs(each) do
        local data = data_of(kind, { name == "MseNetBatched" and larger or tiny })
        local run = code.train_curves(data, { algorithm = name, seeds = 1 }, false)
        equal(#run.history, count, name .. ", " .. kind)
      end
    end
  end)

  it("code.train_curves and code.train train two epochs on all queries in short runs", function()
    local data = data_of("mq2008", { few })
    equal(#code.train_curves(data, { algorithm = "MseNetQbQ", seeds = 1 }, true).history, 2)
    local _, _, count = code.train(data, { algorithm = "ApproxNDCGBatched", seeds = 1 }, true)
    local train_part, evaluation = code.parts(data, 1)
    check(count > code.of_eight(train_part).count, "others than those with eight documents")
    local part = code.train(data, { algorithm = "NeuralNDCGQbQ", seeds = 1 }, true)
    equal(part.count, evaluation.count)
  end)

  for _, kind in ipairs{ "mq2008", "mslr" } do
    it("code.train trains and evaluates like a network written out, on " .. kind, function()
      for _, name in ipairs(protocol.names) do
        local data = data_of(kind, { name == "MseNetBatched" and larger or few })
        local train_part, evaluation = code.parts(data, 2)
        local eight = name == "ApproxNDCGBatched" and kind == "mq2008"
        if eight then train_part = code.of_eight(train_part) end
        local of_train, of_test = scaling(name, kind)
        -- objectives_spec.lua tests this scaling against numbers worked out by hand
        train_part = code.scaled(train_part, of_train)
        if name:find "^Neural" and kind == "mq2008" then evaluation = code.of_eight(evaluation) end
        evaluation = code.scaled(evaluation, of_test)
        local net, loss, count, sign = network(3, 2), their_loss(name, train_part)
        train(net, code_batches(name, kind, train_part, 2), epochs[kind][name], loss, count, sign,
          { rate = rate_of(name, kind), decay = name:find "^Approx" and 1e-5 or 0 })
        local part, scores, trained_on = code.train(data, { algorithm = name, seeds = 2 }, false)
        equal(part.lists.sizes:totable(), evaluation.lists.sizes:totable(), name)
        near(part.features, evaluation.features, 1e-6, name)
        -- NeuralNDCG's derivatives are small here, so rounding errors of single precision are relatively large
        near(scores:totable(), (net:scores(evaluation.features:totable())), name:find "^Neural" and 5e-3 or 1e-3,
          name .. ", " .. kind)
        check(trained_on > 0 and trained_on <= train_part.count, name)
      end
    end)
  end
end)

describe("trainings of recipe paper:", function()
  local few = one_fold(queries(mixed), queries{ 6, 2, 4 }, queries{ 4, 4, 4 })
  local larger = one_fold(queries(large), queries{ 6, 2, 4 }, queries{ 4, 4, 4 })

  for _, kind in ipairs{ "mq2008", "mslr" } do
    it("train standardises and trains like a network written out, on " .. kind, function()
      for name, o in pairs(paper) do
        local raw = name == "MseNetBatched" and larger or few
        local part, valid = standardised(raw.train, raw.train, 0), standardised(raw.valid, raw.train, 0)
        local net, data = network(3, 3), data_of(kind, { raw })
        local loss, count = loss_of(name, part)
        train(net, o.batches(part, kind), o.epochs[kind], loss, count, 1, o)
        local run = protocol.train(data, { algorithm = name, split = 1, rate = o.rate }, 3, false)
        equal(#run.history, o.epochs[kind], name)
        local documents = name == "MseNetBatched" and kind == "mq2008"
        near(run.history[#run.history].valid_loss,
          documents and by_rows(net, valid) or loss_at(net, valid, loss, count, 1), 1e-3, name .. ", " .. kind)
      end
    end)
  end
end)
