-- Tests losses by a soft choice of the top rows, and by projected ranks, against their formulas in Lua.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, raises = test.describe, test.it, test.near, test.check, test.raises
local equal = test.equal

local function f64(x) return mr.tensor(x, { dtype = "float64" }) end

local function sigmoid(t) return 1 / (1 + math.exp(-t)) end

-- Returns the rows of a list by descending score; among equal scores, the lower row comes first.
local function sorted(scores)
  local order = {}
  for i = 1, #scores do order[i] = i end
  table.sort(order, function(a, b) return scores[a] > scores[b] or scores[a] == scores[b] and a < b end)
  return order
end

local function losses_of_mask(scores, relevance, k, tau)
  local order, p, sum, none, entropy = sorted(scores), 0, 0, 1, 0
  local threshold = (scores[order[k]] + scores[order[k + 1]]) / 2
  for i, f in ipairs(scores) do
    local z = (f - threshold) / tau
    local m, wrong = sigmoid(z), relevance[i] >= 1 and -z or z
    if relevance[i] >= 1 then p, sum, none = p + 1, sum + m, none * (1 - m) end
    entropy = entropy + (math.max(wrong, 0) + math.log(1 + math.exp(-math.abs(wrong)))) / #scores
  end
  return { soft_precision = -sum / k, soft_recall = -sum / p, soft_hit = none - 1, soft_top_k = entropy }
end

-- Returns projected ranks. Isotonic regression is computed by its minimax formula (minimum over ends of the maximum
-- over starts of block means) instead of pooling.
local function projected(scores, eps)
  local order, ranks, n = sorted(scores), {}, #scores
  local y = {}
  for p, i in ipairs(order) do y[p] = -scores[i] / eps - p end
  local function mean(a, b)
    local total = 0
    for p = a, b do total = total + y[p] end
    return total / (b - a + 1)
  end
  for p, i in ipairs(order) do
    local fitted = math.huge
    for b = p, n do
      local largest = -math.huge
      for a = 1, p do largest = math.max(largest, mean(a, b)) end
      fitted = math.min(fitted, largest)
    end
    ranks[i] = -scores[i] / eps - fitted
  end
  return ranks
end

local function list_of(n, seed)
  local scores, relevance = mr.normal({ n }, { seed = seed, dtype = "float64" }):totable(), {}
  for i = 1, n do relevance[i] = i % 3 == 0 and i % 4 or 0 end
  if n > 4 then scores[4], relevance[3] = scores[2], 1 end
  return scores, relevance
end

local of_mask = { "soft_precision", "soft_recall", "soft_hit", "soft_top_k" }

describe("losses of a soft choice of the top rows", function()
  it("equal their formulas", function()
    for _, n in ipairs{ 4, 5, 31, 32, 33, 128, 129 } do
      local scores, relevance = list_of(n, n)
      for _, k in ipairs{ 1, 2, n // 2, n - 1 } do
        for _, tau in ipairs{ 1, 0.2 } do
          local expected = losses_of_mask(scores, relevance, k, tau)
          for name, value in pairs(expected) do
            local loss = mr.losses[name]{ k = k, tau = tau }
            near(loss(f64(scores), mr.lists{ relevance }):item(), value, 1e-10, name)
            near(loss(mr.tensor(scores), mr.lists{ relevance }):item(), value, 3e-5, name)
          end
        end
      end
    end
  end)

  it("have right gradients, through the threshold too", function()
    local scores = mr.normal({ 19 }, { seed = 8, dtype = "float64" })
    local lists = mr.lists{ { 1, 0, 2, 0, 1, 0, 0, 3 }, {}, { 0 }, { 1 }, { 0, 1, 1, 0, 0, 1, 0, 0, 0 } }
    for _, name in ipairs(of_mask) do
      for _, k in ipairs{ 1, 3, 7 } do
        local loss = mr.losses[name]{ k = k, tau = 0.5 }
        check(mr.gradcheck(function(x) return loss(x, lists) end, scores) < 1e-6, name)
      end
    end
  end)

  it("are 0 without a gradient where at most k rows are, or relevant rows are all or none", function()
    local scores = f64{ 3, 1, 2, 5, 4, 6, 7, 8 }:requires_grad()
    local lists = mr.lists{ { 1, 0 }, { 0, 0, 0 }, { 1, 2, 1 } }
    for _, name in ipairs(of_mask) do
      local value = mr.losses[name]{ k = 2 }(scores, lists)
      near(value, { 0, 0, 0 }, 0)
      value:sum():backward()
      near(scores.grad, { 0, 0, 0, 0, 0, 0, 0, 0 }, 0)
    end
  end)

  it("have a mean over the lists of other values than 0, also if every order has a hit", function()
    local scores = f64{ 3, 1, 2, 4, 2, 0, 1, 0 }
    local lists = mr.lists{ { 1, 2, 0 }, { 0, 1, 0 }, { 1, 0 } }
    for _, name in ipairs(of_mask) do
      local loss = mr.losses[name]{ k = 2 }
      local a = losses_of_mask({ 3, 1, 2 }, { 1, 2, 0 }, 2, 1)[name]
      local b = losses_of_mask({ 4, 2, 0 }, { 0, 1, 0 }, 2, 1)[name]
      near(loss(scores, lists), { a, b, 0 }, 1e-12, name)
      equal(loss:count(lists), 2)
      near(loss:mean(scores, lists):item(), (a + b) / 2, 1e-12, name)
    end
  end)

  it("take infinite scores, a smallest relevant grade and bounds", function()
    local scores, lists = f64{ math.huge, math.huge, 0, -math.huge }:requires_grad(), mr.lists{ { 1, 0, 2, 0 } }
    near(mr.losses.soft_precision{ k = 2 }(scores, lists):item(), -0.5, 1e-12)
    near(mr.losses.soft_precision{ k = 2, relevant = 2 }(scores, lists):item(), 0, 1e-12)
    for _, name in ipairs(of_mask) do
      local taken = mr.losses.bounds(name)
      check(#taken > 3, name)
      for _, bound in ipairs(taken) do
        local value = mr.losses[name]{ k = 2, bound = bound }(f64{ 1, 0, 3, 2 }, lists):item()
        check(value - value == 0, name .. " " .. bound)
      end
    end
    raises(function() mr.losses.soft_hit{ k = 0 } end, "k", "0")
    raises(function() mr.losses.soft_hit{ tau = -1 } end, "tau", "-1")
  end)
end)

describe("mr.losses.projected_ndcg", function()
  it("equals its formula by the minimax form of isotonic regression", function()
    for _, n in ipairs{ 1, 2, 3, 8, 33 } do
      local scores, relevance = list_of(n, n)
      for _, eps in ipairs{ 0.1, 1, 5 } do
        local dcg, ideal, grades = 0, 0, table.move(relevance, 1, n, 1, {})
        table.sort(grades, function(a, b) return a > b end)
        for i, rank in ipairs(projected(scores, eps)) do
          dcg = dcg + (2 ^ relevance[i] - 1) / math.log(1 + rank, 2)
          ideal = ideal + (2 ^ grades[i] - 1) / math.log(1 + i, 2)
        end
        local value = mr.losses.projected_ndcg{ eps = eps }(f64(scores), mr.lists{ relevance }):item()
        near(value, n < 3 and 0 or -dcg / ideal, 1e-10, ("%d rows, eps %g"):format(n, eps))
      end
    end
  end)

  it("has right gradients, and exact ranks where gaps are wide", function()
    local scores = mr.normal({ 12 }, { seed = 3, dtype = "float64" })
    local lists = mr.lists{ { 1, 0, 2, 0, 1 }, {}, { 0 }, { 1 }, { 0, 1, 1, 0, 0 } }
    for _, eps in ipairs{ 0.3, 1, 5 } do
      local loss = mr.losses.projected_ndcg{ eps = eps }
      check(mr.gradcheck(function(x) return loss(x, lists) end, scores) < 1e-6, eps)
    end
    local far = f64{ -math.huge, 1e9, math.huge, 0 }:requires_grad()
    local value = mr.losses.projected_ndcg{}(far, mr.lists{ { 0, 0, 1, 0 } })
    near(value:item(), -1, 1e-15)
    value:sum():backward()
    near(far.grad, { 0, 0, 0, 0 }, 0)
  end)
end)
