-- Tests smooth ranks and metrics against 50-digit reference values, identities, and finite differences.
local mr = require "moonrank"
local json = dofile("tests/support/json.lua")
local test = require "moonrank.test"
local describe, it, near, check, raises = test.describe, test.it, test.near, test.check, test.raises

local golden = json.read("tests/golden/metrics.json").smooth
local f64 = { dtype = "float64" }
local names = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp_loss", rr = "rr" }

local function random_list(n, seed, spread)
  local relevance = {}
  local u = mr.uniform({ math.max(n, 1) }, { seed = seed, stream = "relevance" }):totable()
  for i = 1, n do relevance[i] = u[i] < 0.4 and 1 or 0 end
  return mr.normal({ n }, { seed = seed, sd = spread or 1, dtype = "float64" }), mr.lists{ relevance }
end

describe("mr.smooth", function()
  for _, case in ipairs(golden) do
    it("agrees with the reference: " .. case.name, function()
      local lists = mr.lists{ case.relevance }
      for dtype, tolerance in pairs{ float64 = 1e-12, float32 = 2e-6 } do
        local options = { steepness = case.alpha }
        local scores = mr.tensor(case.scores, { dtype = dtype })
        near(mr.smooth.rank(scores, lists, options), case.smooth_rank, tolerance, "rank")
        local among = mr.smooth.rank_among_relevant(scores, lists, options)
        near(among, case.smooth_rank_among_relevant, tolerance, "among relevant")
        for key, name in pairs(names) do
          if case[key] ~= json.null then
            local leaf = scores:requires_grad()
            local value = mr.smooth[name](leaf, lists, options)
            near(value:item(), case[key], tolerance, key)
            value:backward()
            near(leaf.grad, case["grad_" .. key], tolerance, "gradient of " .. key)
            leaf:zero_grad()
          end
        end
      end
    end)
  end

  it("has right gradients on batches of unequal lists", function()
    local scores = mr.normal({ 12 }, { seed = 3, dtype = "float64" })
    local lists = mr.lists{ { 1, 0, 2, 0, 1 }, {}, { 0 }, { 1 }, { 0, 1, 1, 0, 0 } }
    for _, name in ipairs{ "rank", "ndcg", "ap", "rr", "first", "log_rr", "nrbp_loss" } do
      for _, steepness in ipairs{ 1, 3 } do
        local function smooth(x) return mr.smooth[name](x, lists, { steepness = steepness }) end
        check(mr.gradcheck(smooth, scores) < 1e-6, name)
      end
    end
  end)

  it("has right gradients on lists that are long enough to be summed by boxes", function()
    local n = 600
    for _, spread in ipairs{ 0.1, 1, 10 } do
      local scores, lists = random_list(n, 4, spread)
      -- the factors scale gradients to about 1, because mr.gradcheck's errors are relative to at least 1
      for name, factor in pairs{ ndcg = n, ap = n, nrbp_loss = 1 / 30 } do
        check(mr.gradcheck(function(x) return mr.smooth[name](x, lists) * factor end, scores) < 1e-6, name)
      end
    end
  end)

  it("has ranks with the right sum and gradients that sum to 0, at every size and spread", function()
    for _, n in ipairs{ 1, 2, 31, 32, 33, 127, 128, 129, 1000 } do
      for _, spread in ipairs{ 0, 0.01, 1, 100, 1e4 } do
        local scores, lists = random_list(n, n, spread)
        near(mr.smooth.rank(scores, lists):sum():item(), n * (n + 1) / 2, 1e-11, "sum of ranks")
        for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp_loss" } do
          local leaf = scores:requires_grad()
          mr.smooth[name](leaf, lists):sum():backward()
          local sum, size = leaf.grad:sum():item(), leaf.grad:abs():sum():item()
          check(math.abs(sum) <= 1e-9 * (1 + size), "gradient of " .. name .. " sums to 0")
          leaf:zero_grad()
        end
      end
    end
  end)

  it("has right gradients of rr, first and log_rr at every size, with ties and distant scores", function()
    for _, n in ipairs{ 1, 2, 31, 32, 33, 127, 128, 129 } do
      for _, spread in ipairs{ 0, 0.1, 3, 400 } do
        local scores, lists = random_list(n, n, spread)
        for _, name in ipairs{ "rr", "first", "log_rr" } do
          local where = ("%s, %d rows, %g"):format(name, n, spread)
          check(mr.gradcheck(function(x) return mr.smooth[name](x, lists) end, scores) < 1e-6, where)
        end
      end
    end
  end)

  it("gives rr as the sum of first over rank, and first as a product over relevant rows", function()
    for _, n in ipairs{ 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000 } do
      for _, spread in ipairs{ 0, 0.01, 1, 30, 3000 } do
        local scores, lists = random_list(n, n, spread)
        local s, y, expected = scores:totable(), lists.relevance:totable(), {}
        for i = 1, n do
          expected[i] = y[i]
          for j = 1, y[i] == 1 and n or 0 do
            if j ~= i and y[j] == 1 then expected[i] = expected[i] / (1 + math.exp(s[j] - s[i])) end
          end
        end
        local first = mr.smooth.first(scores, lists)
        near(first, expected, { rtol = 1e-11, atol = 1e-18 }, ("%d rows, %g"):format(n, spread))
        near(lists:sum(first / mr.smooth.rank(scores, lists)), mr.smooth.rr(scores, lists), 1e-13)
      end
    end
  end)

  it("gives nrbp_loss as the sum of sigmoids over pairs of a relevant and another row", function()
    for _, n in ipairs{ 1, 2, 33, 129 } do
      for _, spread in ipairs{ 0.01, 1, 100 } do
        local scores, lists = random_list(n, n + 1, spread)
        local s, y, expected = scores:totable(), lists.relevance:totable(), 0
        for i = 1, n do
          for j = 1, n do
            if y[i] == 1 and y[j] == 0 then expected = expected + 1 / (1 + math.exp(s[i] - s[j])) end
          end
        end
        -- the loss is a difference of sums of the order n * n, so its rounding error grows with n * n
        near(mr.smooth.nrbp_loss(scores, lists):item(), expected, { rtol = 1e-12, atol = 1e-13 * n * n })
      end
    end
  end)

  it("does not depend on the order of rows", function()
    local n = 129
    local scores, lists = random_list(n, 5, 2)
    local y = lists.relevance:totable()
    local order = {}
    for i = 1, n do order[i] = (i * 50) % n + 1 end
    local shuffled_y = {}
    for i, from in ipairs(order) do shuffled_y[i] = y[from] end
    local index = mr.tensor(order, { dtype = "int64" })
    local function both(name, x, l)
      local leaf = x:detach():requires_grad()
      local value = mr.smooth[name](leaf, l)
      value:sum():backward()
      local grad = leaf.grad
      leaf:zero_grad()
      return value:item(), grad
    end
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp_loss" } do
      local value, grad = both(name, scores, lists)
      local other, other_grad = both(name, scores:rows(index), mr.lists{ shuffled_y })
      near(other, value, 1e-13)
      near(other_grad, grad:rows(index), 1e-12)
    end
  end)

  it("gives finite values and gradients for infinite and huge scores", function()
    local inf = math.huge
    local lists = mr.lists{ { 1, 0, 1, 0 } }
    local scores = mr.tensor({ inf, inf, -inf, -1000 }, f64)
    near(mr.smooth.rank(scores, lists), { 1.5, 1.5, 4, 3 })
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp_loss" } do
      local leaf = scores:requires_grad()
      local value = mr.smooth[name](leaf, lists)
      value:backward()
      check(value:item() == value:item(), "value of " .. name)
      for _, g in ipairs(leaf.grad:totable()) do check(g == g and math.abs(g) < inf, "gradient of " .. name) end
      leaf:zero_grad()
    end
  end)

  it("is 0 without gradient if no row is relevant", function()
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp_loss" } do
      local leaf = mr.tensor({ 1, 2, 3 }, f64):requires_grad()
      local value = mr.smooth[name](leaf, mr.lists{ { 0, 0, 0 } })
      test.equal(value:item(), 0.0)
      value:backward()
      near(leaf.grad, { 0, 0, 0 })
    end
  end)

  it("gives the gradient the shape of the scores", function()
    local lists = mr.lists{ { 1, 0, 0 } }
    for _, name in ipairs{ "rank", "ndcg", "ap", "rr", "nrbp_loss" } do
      local column = mr.tensor({ { 3 }, { 1 }, { 2 } }, f64):requires_grad()
      mr.smooth[name](column, lists):sum():backward()
      test.equal(column.grad:shape(), column:shape(), name)
    end
  end)

  it("refuses wrong scores and options", function()
    local lists = mr.lists{ { 1, 0 } }
    raises(function() mr.smooth.ap(mr.tensor{ 1, 2, 3 }, lists) end, "'scores'", "'mr.smooth.ap'", "3", "lists")
    raises(function() mr.smooth.ap(mr.tensor{ 1, 0 / 0 }, lists) end, "scores", "NaN", "2")
    raises(function() mr.smooth.ap(mr.tensor{ 1, 2 }, lists, { steepnes = 1 }) end, "'steepnes'", "'steepness'")
    raises(function() mr.smooth.ap(mr.tensor{ 1, 2 }, lists, { steepness = -1 }) end, "steepness", "-1")
    for _, steepness in ipairs{ 1e-46, 1e300 } do
      for _, name in ipairs{ "rank", "rank_among_relevant", "ndcg", "ap", "rr", "log_rr", "nrbp_loss" } do
        raises(function() mr.smooth[name](mr.tensor{ 1, 2 }, lists, { steepness = steepness }) end,
          "mr.smooth." .. name, "steepness", tostring(steepness))
      end
    end
    raises(function() mr.smooth.ndcg(mr.tensor{ 1, 2 }, lists, { relevant = 1 }) end, "'relevant'")
    raises(function() mr.smooth.rr(mr.tensor({ 1, 2 }, { dtype = "int64" }), lists) end, "'scores'", "int64")
    raises(function() mr.smooth.nrbp_loss({ 1, 2 }, lists) end, "'scores'", "'mr.smooth.nrbp_loss'")
  end)
end)
