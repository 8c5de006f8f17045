-- Tests pairwise losses against double loops in Lua, finite differences, degenerate lists and bounds.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local infinity = math.huge
local losses = mr.losses

local made = {
  hinge = losses.hinge(), wide_hinge = losses.hinge{ margin = 2.5 },
  direct_ranker = losses.direct_ranker{ steepness = 0.5 },
  all_pairs = losses.ranknet_all_pairs{ steepness = 2 }, upsampled = losses.ranknet_all_pairs{ upsample = 3.5 },
  balanced = losses.ranknet_all_pairs{ upsample = "list" },
  ndcg_loss_1 = losses.ndcg_loss_1(), ndcg_loss_2 = losses.ndcg_loss_2{ steepness = 2 },
  ndcg_loss_2pp = losses.ndcg_loss_2pp{ mu = 3 },
}
local any_grades = { all_pairs = true, upsampled = true, balanced = true }
local names = {}
for name in pairs(made) do names[#names + 1] = name end
table.sort(names)

local function grades(n, seed) return support.grades(n, seed, 3, 2) end

local function softplus(t) return math.max(t, 0) + math.log(1 + math.exp(-math.abs(t))) end
local function tanh(t) return 1 - 2 / (math.exp(2 * t) + 1) end
local function gain(y) return 2.0 ^ y - 1 end
local function log2(r) return math.log(1 + r, 2) end

local function ranks(f)
  local order, rank = {}, {}
  for i = 1, #f do order[i] = i end
  table.sort(order, function(a, b) return f[a] > f[b] or f[a] == f[b] and a < b end)
  for r, i in ipairs(order) do rank[i] = r end
  return rank
end

-- Returns the sum of term(i, j) over all ordered pairs of different rows.
local function over_pairs(n, term)
  local sum = 0
  for i = 1, n do
    for j = 1, n do
      if i ~= j then sum = sum + term(i, j) end
    end
  end
  return sum
end

local function of_unequal(form)
  return function(f, y) return over_pairs(#f, function(i, j) return y[i] > y[j] and form(f[j] - f[i]) or 0 end) end
end

local function of_all(steep, upsample)
  return function(f, y)
    local equal_pairs, unequal = 0, 0
    for i = 1, #f do
      for j = 1, i - 1 do
        if y[i] == y[j] then equal_pairs = equal_pairs + 1 else unequal = unequal + 1 end
      end
    end
    local times = upsample or math.max(1, 2 * equal_pairs / math.max(unequal, 1))
    return over_pairs(#f, function(i, j)
      local weight = y[i] > y[j] and times or y[i] == y[j] and 0.5 or 0
      return weight * (y[i] >= y[j] and softplus(steep * (f[j] - f[i])) or 0)
    end)
  end
end

local function weighted(weight, steep, all)
  return function(f, y)
    local rank, ideal, sorted = ranks(f), 0, table.move(y, 1, #y, 1, {})
    table.sort(sorted, function(a, b) return a > b end)
    for r, grade in ipairs(sorted) do ideal = ideal + gain(grade) / log2(r) end
    if #y == 0 or sorted[1] == sorted[#sorted] then return 0 end
    return over_pairs(#f, function(i, j)
      if not all and y[i] <= y[j] then return 0 end
      local of_pair = weight(gain(y[i]) / ideal, gain(y[j]) / ideal, rank[i], rank[j])
      return of_pair * softplus(steep * (f[j] - f[i])) / math.log(2)
    end)
  end
end
local function far(a, b)
  local d = math.abs(a - b)
  return 1 / log2(d) - 1 / log2(d + 1)
end

local plain = {
  hinge = of_unequal(function(t) return math.max(0, 1 + t) end),
  wide_hinge = of_unequal(function(t) return math.max(0, 2.5 + t) end),
  direct_ranker = of_unequal(function(t) return softplus(tanh(0.5 * t)) end),
  all_pairs = of_all(2, 1), upsampled = of_all(1, 3.5), balanced = of_all(1),
  ndcg_loss_1 = weighted(function(g, _, r) return g / log2(r) end, 1, true),
  ndcg_loss_2 = weighted(function(g, h, r, q) return far(r, q) * (g - h) end, 2),
  ndcg_loss_2pp = weighted(function(g, h, r, q)
    return (3 * far(r, q) + math.abs(1 / log2(r) - 1 / log2(q))) * (g - h)
  end, 1),
}

local function mixed()
  return mr.lists{ grades(13, 3), {}, { 2 }, { 0, 0, 0 }, { 1, 1 }, { 1, 0, 0, 1 }, grades(5, 4) }
end

describe("pairwise losses", function()
  it("equal plain double loops for every list size", function()
    for _, n in ipairs{ 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000 } do
      local x, y = mr.normal({ n }, { seed = n + 1, dtype = "float64" }), grades(n, n)
      if n > 2 and n < 1000 then x = (x * 4):clamp{ min = -6, max = 5 } end  -- makes some scores equal
      local f = x:totable()
      for _, name in ipairs(names) do
        if n < 1000 or name == "hinge" or name == "balanced" or name == "ndcg_loss_2pp" then
          local expected = plain[name](f, y)
          local scale = math.max(1, expected)
          near(made[name](x, mr.lists{ y }):item() / scale, expected / scale, 1e-11, name .. " of " .. n)
          if n < 1000 then
            near(made[name](x:float(), mr.lists{ y }):item() / scale, expected / scale, 1e-5, name .. " of float32")
          end
        end
      end
    end
  end)

  it("have gradients that match finite differences", function()
    local lists = mixed()
    for _, name in ipairs(names) do
      for seed = 1, 3 do
        local x = mr.normal({ lists.rows }, { seed = seed, dtype = "float64" }) * seed
        check(mr.gradcheck(function(s) return made[name](s, lists) end, x) < 1e-6, name)
      end
    end
  end)

  it("with pair = 'sigmoid' sum the metric changes of swaps times sigmoids", function()
    local lists = mr.lists{ { 0, 1, 0, 1, 1, 0, 0 }, { 1, 0 }, { 0, 0, 1, 0 } }
    local x = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" }) * 2
    local f, y, own = x:totable(), lists.relevance:totable(), lists:spread(mr.arange(1, 3, f64)):totable()
    for _, name in ipairs{ "dcg", "ndcg@3", "ap", "rr", "rbp(0.8)", "nrbp(0.9)" } do
      local metric, expected = mr.metrics.parse(name), { 0, 0, 0 }
      local function value(scores, list) return metric(mr.tensor(scores, f64), lists):totable()[list] end
      for i = 1, #f do
        for j = 1, #f do
          if own[i] == own[j] and y[i] > y[j] then
            local swapped = table.move(f, 1, #f, 1, {})
            swapped[i], swapped[j] = f[j], f[i]
            local change = math.abs(value(swapped, own[i]) - value(f, own[i]))
            expected[own[i]] = expected[own[i]] + change / (1 + math.exp(2 * (f[i] - f[j])))
          end
        end
      end
      local loss = losses.lambdarank{ metric = name, pair = "sigmoid", steepness = 2 }
      near(loss(x, lists), expected, 1e-12, name)
      near(loss(x:float(), lists):double(), expected, 1e-5, name .. " of float32")
      check(mr.gradcheck(function(s) return loss(s, lists) end, x) < 1e-6, name)
      check(loss(mr.tensor(f, f64) * infinity, lists):sum():item() < infinity, name .. " of infinite scores")
    end
  end)

  it("do not depend on the batch or the number of threads", function()
    local all = {}
    for n = 1, 200 do all[n] = grades(n % 37, n) end
    local lists = mr.lists(all)
    local x, before = mr.normal({ lists.rows }, { seed = 5, dtype = "float64" }), core.threads()
    for _, name in ipairs(names) do
      local found = {}
      for _, threads in ipairs{ 1, 2 } do
        core.threads(threads)
        local value, grad = value_and_gradient(made[name], x, lists)
        found[threads] = { value:totable(), grad:totable() }
      end
      core.threads(before)
      equal(found[2], found[1], name)
      local numbers = mr.tensor({ 36, 150 }, { dtype = "int64", device = "cpu" })
      local part = made[name](x:rows(lists:rows_of(numbers):to(x.device)), lists:select(numbers)):totable()
      equal(part, { found[1][1][36], found[1][1][150] }, name)
    end
  end)

  it("are never NaN and have finite gradients for distant, equal or infinite scores", function()
    for _, name in ipairs(names) do
      support.stays_a_number(made[name], name, function(value, _, scores, _, what)
        if math.abs(scores[1]) == 1e4 then check(value < infinity, what) end
      end)
    end
    raises(function() losses.hinge()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
  end)
end)

describe("pairwise losses on lists", function()
  it("are 0 without gradient if no ordering matters, except ranknet_all_pairs", function()
    local lists = mr.lists{ { 1, 0, 2 }, {}, { 0, 0 }, { 1, 1 }, { 3 } }
    local scores = mr.tensor({ 1, 2, 3, 1, 2, 0, 3, 1 }, f64)
    for _, name in ipairs(names) do
      local value, gradient = value_and_gradient(made[name], scores, lists)
      local values, slopes = value:totable(), gradient:totable()
      check(values[1] > 0, name)
      equal(made[name]:count(lists), any_grades[name] and 4 or 1, name)
      equal({ values[2], values[5], slopes[8] }, { 0.0, 0.0, 0.0 }, name)
      if not any_grades[name] then
        equal({ values[3], values[4] }, { 0.0, 0.0 }, name)
        equal({ table.unpack(slopes, 4, 7) }, { 0.0, 0.0, 0.0, 0.0 }, name)
      end
      near(made[name]:mean(scores, lists):item(), value:sum():item() / made[name]:count(lists), 1e-12, name)
    end
  end)

  it("are scaled by the slope of every bound", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 2, 1 } }
    for _, name in ipairs{ "hinge", "direct_ranker", "ranknet_all_pairs", "ndcg_loss_1", "ndcg_loss_2",
      "ndcg_loss_2pp" } do
      support.by_slope(losses[name], name:find "ndcg" and "ndcg" or "wrong_pairs", lists)
    end
  end)

  it("are 0 under a bound if the list does not count, even for an infinite loss", function()
    local f, infinite = { -infinity, infinity, 0 }, { 0, 0 }
    for _, y in ipairs{ { 0, 0, 0 }, { 2, 1, 1 }, { 0, 0.5, 0 } } do
      for _, name in ipairs{ "ranknet", "hinge", "direct_ranker", "ranknet_all_pairs", "listnet", "listmle", "mse",
        "squared_hinge" } do
        local loss = losses[name]{ bound = "minmax", metric = "ap" }
        local value, gradient = value_and_gradient(loss, mr.tensor(f, f64), mr.lists{ y })
        equal(value:item(), 0.0, name)
        equal(gradient:totable(), { 0.0, 0.0, 0.0 }, name)
        infinite[losses[name]()(mr.tensor(f, f64), mr.lists{ y }):item() == infinity and 1 or 2] = 1
      end
    end
    equal(infinite, { 1, 1 }, "some are infinite without a bound")
  end)

  it("balance both kinds of targets with the upsample option", function()
    local lists = mr.lists{ { 1, 0, 0, 0, 0 }, { 1, 0 }, { 2, 2, 2 }, {} }  -- equal 6, 0, 3, 0; others 4, 1, 0, 0
    near(losses.ranknet_all_pairs{ upsample = lists }.options.upsample, 18 / 5, 1e-15)
    equal(losses.ranknet_all_pairs{ upsample = mr.lists{ { 1, 0 } } }.options.upsample, 1.0)
    equal(losses.ranknet_all_pairs{ upsample = mr.lists{ {} } }.options.upsample, 1.0)
    local zeros = mr.zeros({ lists.rows }, f64)
    near(losses.ranknet_all_pairs{ upsample = "list" }(zeros, lists) / math.log(2), { 18, 1, 3, 0 }, 1e-14)
    near(core.equal_pairs(lists), { 6, 0, 3, 0 }, 0)
  end)

  it("have means over pairs with per = 'pair', of which unequal ones count as often as they are upsampled", function()
    local lists = mr.lists{ { 1, 0, 0, 0, 0 }, { 1, 0 }, { 2, 2, 2 }, {} }  -- equal 6, 0, 3, 0; others 4, 1, 0, 0
    local zeros = mr.zeros({ lists.rows }, f64)
    for upsample, count in pairs{ [1] = 14, [2.5] = 22, list = 22, [lists] = 27 } do
      local loss = losses.ranknet_all_pairs{ per = "pair", upsample = upsample }
      equal(loss:count(lists), count)
      -- five pairs count 2.5 times and nine once, 21.5 pairs in all; the count is rounded, the mean is not
      near(loss:mean(zeros, lists):item() * count / math.log(2), upsample == 2.5 and 21.5 or count, 1e-12)
      local one = mr.lists{ { 1, 0, 0 } }
      local run = mr.fit{ model = mr.models.linear{ inputs = 1, seed = 1 }, loss = loss, epochs = 1, progress = false,
        train = mr.data.dataset{ lists = one, features = mr.zeros{ 3, 1 } } }
      local times = upsample == "list" and 1 or loss.options.upsample
      near(run.history[1].loss / math.log(2), (1 + 2 * times) / math.floor(1 + 2 * times + 0.5), 1e-6)
    end
    equal(losses.ranknet_all_pairs():count(lists), 3)
  end)

  it("reject invalid options and scores", function()
    local lists, x = mr.lists{ { 1, 0 } }, mr.tensor{ 1, 2 }
    for _, upsample in ipairs{ 0, -1, infinity, "lists", true } do
      raises(function() losses.ranknet_all_pairs{ upsample = upsample } end, "mr.losses.ranknet_all_pairs", "upsample")
    end
    raises(function() losses.hinge{ gain = 1 } end, "'gain'")
    raises(function() core.lambda_loss(x, lists, mr.metrics.parse "ap", 1, "hinge") end,
      "'hinge'", "'logistic'", "'sigmoid'")
    raises(function() losses.ndcg_loss_1()(mr.tensor{ 1, 2, 3 }, lists) end, "3", "lists", "2")
  end)

  it("train a network to a better ranking", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 10, noise = 0.2 }
    queries = queries:standardize():to(mr.device())
    for _, name in ipairs(names) do
      local loss = made[name]
      local model = mr.models.mlp{ inputs = 10, hidden = { 8 }, seed = 4 }
      local before = mr.evaluate(model(queries), queries.lists, { "ndcg" }).mean.ndcg
      local run = mr.fit{ model = model, loss = loss, train = queries, test = queries,
        optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 20, batch = 20, metrics = { "ndcg" }, progress = false }
      check(run.test.mean.ndcg > before + 0.05, ("%s: ndcg was %.3f, is %.3f"):format(name, before, run.test.mean.ndcg))
    end
  end)
end)
