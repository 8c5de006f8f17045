-- Tests the loss SoftSort nDCG against its formula in Lua, which computes every entry of the matrix.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, raises = test.describe, test.it, test.near, test.check, test.raises

local inf <const> = math.huge

local function f64(x) return mr.tensor(x, { dtype = "float64" }) end

-- Returns the value and the gradient of a list's loss. Entry (k, j) of the matrix has the derivative -d(k) p_kj (G_j -
-- sum_l p_kl G_l) by its logit.
local function plain(scores, relevance, power, tau)
  local order, n, ideal, value = {}, #scores, 0, 0
  for i = 1, n do order[i] = i end
  table.sort(order, function(a, b) return scores[a] > scores[b] or scores[a] == scores[b] and a < b end)
  local grades, gain, gradient = table.move(relevance, 1, n, 1, {}), {}, {}
  table.sort(grades, function(a, b) return a > b end)
  for k = 1, n do ideal = ideal + (2 ^ grades[k] - 1) / math.log(1 + k, 2) end
  for j = 1, n do gain[j], gradient[j] = (2 ^ relevance[j] - 1) / ideal, 0 end
  for k, i in ipairs(order) do
    local p, total, mean = {}, 0, 0
    for j = 1, n do
      p[j] = scores[i] == scores[j] and 1 or math.exp(-math.abs(scores[i] - scores[j]) ^ power / tau)
      total, mean = total + p[j], mean + p[j] * gain[j]
    end
    mean = mean / total
    value = value - mean / math.log(1 + k, 2)
    for j = 1, n do
      local gap = scores[i] - scores[j]
      if p[j] > 0 and scores[i] ~= scores[j] then
        local by_logit = -p[j] / total * (gain[j] - mean) / math.log(1 + k, 2)
        local by_score = -power * math.abs(gap) ^ (power - 1) * (gap > 0 and 1 or -1) / tau
        gradient[i] = gradient[i] + by_logit * by_score
        gradient[j] = gradient[j] - by_logit * by_score
      end
    end
  end
  return value, gradient
end

-- Returns scores with ties, and grades. With a large `spread`, exponentials of score differences underflow to 0.
local function list_of(n, seed, spread)
  local scores, relevance = (mr.normal({ n }, { seed = seed, dtype = "float64" }) * spread):totable(), {}
  for i = 1, n do
    relevance[i] = i % 3 == 0 and i % 4 or 0
    if i % 5 == 4 then scores[i] = scores[i // 2] end
  end
  return scores, relevance
end

local function computed(loss, scores, lists, dtype)
  local leaf = mr.tensor(scores, { dtype = dtype or "float64" }):requires_grad()
  local value = loss(leaf, lists)
  if value.tracked then value:sum():backward() end
  return value:item(), leaf.grad or leaf:detach() * 0
end

local function each_form(body)
  for power = 1, 2 do
    for _, tau in ipairs{ 1, 0.1, 30 } do
      body(power, tau, mr.losses.softsort_ndcg{ power = power, tau = tau })
    end
  end
end

describe("mr.losses.softsort_ndcg", function()
  it("equals its formula, value and gradient, for lists of edge sizes with ties", function()
    for _, n in ipairs{ 3, 5, 16, 17, 31, 32, 33, 127, 128, 129, 1000 } do
      local scores, relevance = list_of(n, n, n == 17 and 1e6 or 2)
      each_form(function(power, tau, loss)
        if n == 1000 and tau ~= 1 then return end
        local value, gradient = plain(scores, relevance, power, tau)
        local found, by = computed(loss, scores, mr.lists{ relevance })
        local where = ("%d rows, power %d, tau %g"):format(n, power, tau)
        near(found, value, 1e-12, where)
        near(by, gradient, { atol = 1e-13 / tau, rtol = 1e-9 }, "gradient, " .. where)
        if n < 1000 and n ~= 17 then
          near(computed(loss, scores, mr.lists{ relevance }, "float32"), value, 1e-4, where)
        end
      end)
    end
  end)

  it("gives every row the same share where all scores are equal, and no gradient", function()
    each_form(function(power, tau, loss)
      local scores, relevance = {}, {}
      for i = 1, 300 do scores[i], relevance[i] = 0.1, i % 4 end
      local value, gradient = computed(loss, scores, mr.lists{ relevance })
      near(value, plain(scores, relevance, power, tau), 1e-12)
      near(gradient, mr.zeros(300), 0)
    end)
  end)

  it("has the limits of infinite scores", function()
    local relevance = { 0, 1, 2, 0, 1, 0 }
    each_form(function(power, tau, loss)
      for _, scores in ipairs{ { inf, 0.5, 0, 1, -inf, 2 }, { inf, inf, 0, 1, 2, -inf },
        { -inf, -inf, -inf, 1, 2, 1.5 }, { inf, -inf, inf, -inf, inf, -inf } } do
        local value, gradient = plain(scores, relevance, power, tau)
        local found, by = computed(loss, scores, mr.lists{ relevance })
        near(found, value, 1e-12)
        near(by, gradient, 1e-12)
      end
    end)
  end)

  it("is 0 without a gradient where no order matters, and is computed for each list of a batch", function()
    local loss = mr.losses.softsort_ndcg{}
    local scores = f64{ 1, 2, 3, 0, 5, 4, 1 }:requires_grad()
    local lists = mr.lists{ {}, { 1 }, { 0, 0 }, { 3, 3 }, { 0, 1 } }
    local value = loss(scores, lists)
    value:sum():backward()
    local last, gradient = plain({ 4, 1 }, { 0, 1 }, 1, 1)
    near(value, { 0, 0, 0, 0, last }, 1e-12)
    near(scores.grad, { 0, 0, 0, 0, 0, gradient[1], gradient[2] }, 1e-12)
    near(loss:mean(scores, lists):item(), last, 1e-12)
  end)

  it("comes near exact nDCG at a small temperature, and takes weights of rows", function()
    local scores, relevance = f64{ 3, 1, 2, 5, 0 }, { 0, 2, 1, 0, 3 }
    local lists = mr.lists{ relevance }
    for power = 1, 2 do
      local loss = mr.losses.softsort_ndcg{ power = power, tau = 0.01 }
      near(loss(scores, lists), -mr.metrics.ndcg(scores, lists), 1e-12)
      near(loss(scores, lists, { weights = { 1, 0, 1, 1, 2 } }):item(),
        -mr.evaluate(scores, lists:weighted{ weights = { 1, 0, 1, 1, 2 } }, { "ndcg" }).ndcg:item(), 1e-6)
    end
  end)

  it("refuses other powers and temperatures that are not positive", function()
    raises(function() mr.losses.softsort_ndcg{ power = 3 } end, "power", "3")
    raises(function() mr.losses.softsort_ndcg{ power = 1.5 } end, "power", "1.5")
    raises(function() mr.losses.softsort_ndcg{ tau = 0 } end, "tau", "0")
    check(#mr.losses.bounds "softsort_ndcg" > 3)
  end)
end)
