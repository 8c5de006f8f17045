-- Tests smooth ranks with the Laplace kernel against sums over all pairs in Lua, identities and finite differences.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, raises = test.describe, test.it, test.near, test.check, test.raises

local function laplace(steepness) return { kernel = "laplace", steepness = steepness } end

local function cdf(t) return t <= 0 and 0.5 * math.exp(t) or 1 - 0.5 * math.exp(-t) end

-- Smooth metrics of one list with the Laplace kernel, computed by sums and products over all pairs.
local function plain(scores, relevance, steepness)
  local ranks, among, products, relevant = {}, {}, {}, 0
  for i, s in ipairs(scores) do
    ranks[i], among[i], products[i] = 1, 1, relevance[i] >= 1 and 1 or 0
    relevant = relevant + (relevance[i] >= 1 and 1 or 0)
    for j, other in ipairs(scores) do
      local term = j == i and 0 or cdf(steepness * (other - s))
      ranks[i] = ranks[i] + term
      if relevance[j] >= 1 then among[i], products[i] = among[i] + term, products[i] * (1 - term) end
    end
  end
  local found = { rank = ranks, rank_among_relevant = among, first = products, ndcg = 0, ap = 0, rr = 0,
    nrbp_loss = -0.5 * relevant * (relevant - 1) }
  local sorted = table.move(relevance, 1, #relevance, 1, {})
  table.sort(sorted, function(a, b) return a > b end)
  local ideal = 0
  for r, y in ipairs(sorted) do ideal = ideal + (2 ^ y - 1) / math.log(1 + r, 2) end
  for i, y in ipairs(relevance) do
    if y >= 1 then
      found.ndcg = found.ndcg + (2 ^ y - 1) / math.log(1 + ranks[i], 2) / ideal
      found.ap = found.ap + among[i] / ranks[i] / relevant
      found.rr = found.rr + products[i] / ranks[i]
      found.nrbp_loss = found.nrbp_loss + ranks[i] - 1
    end
  end
  found.log_rr = relevant > 0 and relevant < #scores and math.log(found.rr) or 0
  return found
end

local function list_of(n, seed, spread)
  local scores = (mr.normal({ n }, { seed = seed, dtype = "float64" }) * spread):totable()
  local relevance = {}
  for i = 1, n do relevance[i] = i % 3 == 0 and i % 4 or 0 end
  if n > 4 then scores[4] = scores[2] end
  return scores, relevance
end

local function each_metric(f)
  for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp_loss", "log_rr", "first", "rank" } do f(name) end
end

describe("kernel = 'laplace'", function()
  it("gives the sums over all pairs at edge sizes", function()
    for _, n in ipairs{ 1, 2, 31, 32, 33, 127, 128, 129 } do
      for _, spread in ipairs{ 0.01, 1, 50 } do
        local scores, relevance = list_of(n, n, spread)
        local lists, expected = mr.lists{ relevance }, plain(scores, relevance, 1.5)
        for dtype, tolerance in pairs{ float64 = 1e-10, float32 = 2e-5 } do
          for name, value in pairs(expected) do
            local found = mr.smooth[name](mr.tensor(scores, { dtype = dtype }), lists, laplace(1.5))
            if type(value) == "number" then
              near(found:item(), value, tolerance * math.max(1, math.abs(value)), name)
            else
              for i, x in ipairs(found:totable()) do
                near(x, value[i], tolerance * math.max(1, value[i]), name)
              end
            end
          end
        end
      end
    end
  end)

  it("has right gradients", function()
    local scores = mr.normal({ 12 }, { seed = 3, dtype = "float64" })
    local lists = mr.lists{ { 1, 0, 2, 0, 1 }, {}, { 0 }, { 1 }, { 0, 1, 1, 0, 0 } }
    for _, steepness in ipairs{ 1, 3 } do
      each_metric(function(name)
        check(mr.gradcheck(function(x) return mr.smooth[name](x, lists, laplace(steepness)) end, scores) < 1e-6, name)
      end)
    end
    local long, relevance = list_of(150, 5, 1)
    each_metric(function(name)
      local function smooth(x) return mr.smooth[name](x, mr.lists{ relevance }, laplace(1)) end
      check(mr.gradcheck(smooth, mr.tensor(long, { dtype = "float64" })) < 1e-6, name)
    end)
  end)

  it("has the slope 1/2 at ties", function()
    local scores = mr.tensor({ 0, 0 }, { dtype = "float64" }):requires_grad()
    mr.smooth.nrbp_loss(scores, mr.lists{ { 1, 0 } }, laplace(1)):backward()
    near(scores.grad, { -0.5, 0.5 }, 1e-15)
  end)

  it("takes empty lists, infinite scores and large steepness", function()
    near(#mr.smooth.rank(mr.tensor{}, mr.lists{ {} }, laplace(1)):totable(), 0, 0)
    local infinite = mr.tensor({ math.huge, math.huge, 0, -math.huge }, { dtype = "float64" }):requires_grad()
    local lists = mr.lists{ { 0, 1, 1, 0 } }
    near(mr.smooth.rank(infinite, lists, laplace(1)):detach(), { 1.5, 1.5, 3, 4 }, 1e-15)
    each_metric(function(name)
      mr.smooth[name](infinite, lists, laplace(1)):sum():backward()
      for _, x in ipairs(infinite.grad:totable()) do check(x == x and math.abs(x) < 1e3, name) end
    end)
    near(mr.smooth.rank(mr.tensor{ 3, 1e30, -5 }, mr.lists{ { 1, 0, 0 } }, laplace(1e15)), { 2, 1, 3 }, 0)
  end)

  it("adds up to N (N + 1) / 2 for a long list", function()
    local n, grades = 50000, {}
    for i = 1, n do grades[i] = 0 end
    local ranks = mr.smooth.rank(mr.normal({ n }, { seed = 1 }), mr.lists{ grades }, laplace(5))
    near(ranks:double():sum():item() / (n * (n + 1) / 2), 1, 1e-7)
  end)

  it("is an option of losses under bounds, and other names are errors", function()
    local scores, lists = mr.tensor({ 0.3, -1, 2 }, { dtype = "float64" }), mr.lists{ { 1, 0, 1 } }
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp", "log_rr" } do
      for _, bound in ipairs((mr.losses.bounds(name))) do
        local loss = mr.losses[name]{ kernel = "laplace", bound = bound }
        local x = loss(scores, lists):item()
        check(x - x == 0, name)
        check(x ~= mr.losses[name]{ bound = bound }(scores, lists):item(), name .. " " .. bound)
      end
    end
    raises(function() mr.losses.ndcg{ kernel = "gauss" } end, "kernel", "gauss")
  end)
end)
