-- Tests large grades: results are right up to the largest grade whose gain is a finite number, larger ones are an
-- error, and metrics of binary relevance have no limit.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, equal, raises = test.describe, test.it, test.near, test.equal, test.raises

local large, huge = mr.lists{ { 1, 0, 2 }, { 0, 1024, 3 } }, mr.lists{ { 0, 3e38 }, { 0, 1 } }
local scores = { 1, 2, 3, 3, 2, 1 }
local words = { "list 2", "row 2", "1024" }
local devices = core.has_cuda() and { "cpu", "cuda" } or { "cpu" }

-- Calls `body` for every dtype and device.
local function each(body)
  for _, device in ipairs(devices) do
    for _, dtype in ipairs{ "float32", "float64" } do
      local function tensor(t) return mr.tensor(t, { dtype = dtype, device = device }) end
      body(tensor, dtype)
    end
  end
end

describe("a grade with a gain that is too large", function()
  it("is refused by every metric with exponential gains", function()
    each(function(tensor)
      local s = tensor(scores)
      for _, metric in ipairs{ "ndcg", "ndcg@1", "err", "err@2", "dcg" } do
        raises(function() return mr.evaluate(s, large, { metric }) end, table.unpack(words))
      end
      raises(function() return mr.evaluate(s, large, { mr.metrics.ndcg{ gain = "exp2_plus_one" } }) end, "2^1025")
    end)
  end)

  it("is refused by losses and their bounds", function()
    each(function(tensor)
      local s = tensor(scores)
      for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max", "zscore", "distribution",
        "distribution_logit" } do
        raises(function() return mr.losses.ndcg{ bound = bound }(s, large) end, table.unpack(words))
        raises(function() return mr.losses.lambdarank{ bound = bound }(s, large) end, table.unpack(words))
      end
      raises(function() return mr.losses.lambdarank{ metric = "dcg" }(s, large) end, "1024")
      raises(function() return mr.losses.lambdarank{ metric = mr.metrics.err{ top = 1000 } }(s, large) end,
        table.unpack(words))
      raises(function() return mr.smooth.ndcg(s, large) end, table.unpack(words))
    end)
    for _, bound in ipairs{ "minmax", "zscore", "distribution" } do
      raises(function() return mr.bounds.slopes(bound, "ndcg", large) end, table.unpack(words))
    end
    raises(function() return mr.bounds.of("ndcg", { grades = { 1001, 1, 0 } }) end, "'grades'", "1001")
    raises(function() return mr.metrics.err{ top = 1001 } end, "top", "1001")
    raises(function() return mr.metrics.err{ top = 1 / 0 } end, "top", "inf")
  end)

  it("is refused by mr.fit before the first step, in every part", function()
    local function set(lists) return mr.data.dataset{ lists = lists, features = mr.ones(lists.rows, 2) } end
    local good, bad = set(mr.lists{ { 1, 0 }, { 2, 0 }, { 0, 1 } }), set(mr.lists{ { 1, 0 }, { 2, 0 }, { 0, 2000 } })
    local begun = 0
    local function fit(options)
      options.model, options.epochs, options.batch, options.progress = mr.models.linear{ inputs = 2 }, 1, 1, false
      options.train = options.train or good
      options.each_epoch = function() begun = begun + 1 end
      return function() return mr.fit(options) end
    end
    local at, high = "list 3, row 2", "2000"
    raises(fit{ loss = mr.losses.ndcg{}, train = bad }, "ndcg", "train", at, high)
    raises(fit{ loss = mr.losses.lambdarank{ metric = "ndcg@5" }, train = bad }, "ndcg@5", "train", at, high)
    raises(fit{ loss = mr.losses.ap{}, valid = bad, metrics = { "ap", "ndcg@2" } }, "ndcg@2", "valid", at, high)
    raises(fit{ loss = mr.losses.ap{}, test = bad, metrics = { "err" } }, "err", "test", at, high)
    raises(fit{ loss = mr.losses.ndcg{}, valid = bad, metrics = { "ap" } }, "ndcg", "valid", at, high)
    equal(begun, 0)
    local losses = { mr.losses.ap{ bound = "minmax" }, mr.losses.ranknet{}, mr.losses.lambdarank{ metric = "ap" } }
    for _, loss in ipairs(losses) do
      fit{ loss = loss, train = bad, valid = bad, metrics = { "ap", "rr" } }()
    end
    equal(begun, 6)
  end)

  it("is allowed for metrics of relevance, linear gains and RankNet", function()
    each(function(tensor)
      local s, ones = tensor(scores), mr.lists{ { 1, 0, 1 }, { 0, 1, 1 } }
      for _, metric in ipairs{ "ap", "rr", "nrbp", "auc", "hit@2", "r_precision", "bpref", "tbg" } do
        equal(mr.evaluate(s, large, { metric }).mean[metric], mr.evaluate(s, ones, { metric }).mean[metric], metric)
      end
      local linear = mr.metrics.ndcg{ gain = "linear" }
      near(mr.evaluate(tensor{ 1, 0, 1, 0 }, huge, { linear }).mean[linear.name], 1 / math.log(3, 2), 1e-6)
      local small = mr.lists{ { 1, 0, 2 }, { 0, 5, 3 } }
      equal(mr.losses.ranknet{}(s, large):totable(), mr.losses.ranknet{}(s, small):totable())
    end)
  end)

  it("is allowed for float32 scores if the sums fit into float64", function()
    local two = mr.lists{ { 96, 0 }, { 0, 97 } }
    local s = mr.tensor{ 2, 1, 1, 2 }
    near(mr.evaluate(s, two, { "dcg" }).mean.dcg / 2 ^ 95, 3, 1e-12)
    equal(mr.evaluate(s, two, { "dcg" }).mean.dcg, mr.evaluate(s:double(), two, { "dcg" }).mean.dcg)
  end)
end)

describe("grades up to the limit", function()
  -- Returns DCG sums of grades in their order, with gains divided by 2^top.
  local function ndcg(grades, top)
    local sum = 0
    for rank, grade in ipairs(grades) do sum = sum + (2.0 ^ (grade - top) - 2.0 ^ -top) / math.log(rank + 1, 2) end
    return sum
  end

  it("have the values and statistics that follow from all orders", function()
    for _, grades in ipairs{ { 1000, 999, 0 }, { 600, 598.5, 597 }, { 128, 127, 1 } } do
      local a, b, c = table.unpack(grades)
      local ideal, values = ndcg(grades, a), {}
      for i, order in ipairs{ { a, b, c }, { a, c, b }, { b, a, c }, { b, c, a }, { c, a, b }, { c, b, a } } do
        values[i] = ndcg(order, a) / ideal
      end
      each(function(tensor, dtype)
        local tolerance = dtype == "float64" and 1e-12 or 1e-6
        near(mr.evaluate(tensor{ 1, 2, 3 }, mr.lists{ grades }, { "ndcg" }).mean.ndcg, values[6], tolerance)
        local err = mr.metrics.err{ top = a }
        local stops = {}
        for i, grade in ipairs(grades) do stops[i] = 2.0 ^ (grade - a) - 2.0 ^ -a end
        near(mr.evaluate(tensor{ 3, 2, 1 }, mr.lists{ grades }, { err }).mean.err,
          stops[1] + (1 - stops[1]) * stops[2] / 2 + (1 - stops[1]) * (1 - stops[2]) * stops[3] / 3, tolerance)
        local s = tensor{ 1, 2, 3 }:requires_grad()
        local loss = mr.losses.ndcg{ bound = "zscore" }(s, mr.lists{ grades })
        loss:sum():backward()
        for _, x in ipairs(s.grad:totable()) do equal(x - x, 0) end
        equal(loss:item() - loss:item(), 0)
      end)
      local mean, square = 0, 0
      for _, x in ipairs(values) do mean = mean + x / 6 end
      for _, x in ipairs(values) do square = square + (x - mean) ^ 2 / 6 end
      local stats = mr.bounds.of("ndcg", { grades = grades })
      near({ stats.min, stats.max, stats.expectation, stats.sd }, { values[6], 1, mean, math.sqrt(square) }, 1e-9)
      local cdf = mr.bounds.distribution("ndcg", { grades = grades })
      table.sort(values)
      for i = 1, 5 do near(cdf:cdf((values[i] + values[i + 1]) / 2), i / 6, 1e-9) end
    end
  end)
end)

describe("grades in mr.lists", function()
  it("are refused if they are negative, NaN or infinite", function()
    for _, grade in ipairs{ -1, -0.5, 0 / 0, 1 / 0, 1e39 } do
      raises(function() return mr.lists{ { 1, grade } } end, "raises", "2")
      raises(function() return mr.bounds.of("ndcg", { grades = { grade, 0 } }) end, "grades")
    end
  end)

  it("may be fractions", function()
    local s = mr.tensor({ 1, 2, 3 }, { dtype = "float64" })
    local expected = (2 ^ 0.5 - 1 + (2 ^ 2.25 - 1) / math.log(3, 2)) / (2 ^ 2.25 - 1 + (2 ^ 0.5 - 1) / math.log(3, 2))
    near(mr.evaluate(s, mr.lists{ { 0, 2.25, 0.5 } }, { "ndcg" }).mean.ndcg, expected, 1e-12)
  end)
end)
