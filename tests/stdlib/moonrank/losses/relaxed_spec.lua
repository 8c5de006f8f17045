-- Tests SoftRank, NeuralNDCG, CLiMF and TFMAP: finite differences, degenerate lists, limits and bounds.
local mr = require "moonrank"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local infinity = math.huge
local made = {
  soft_rank = { {}, { sd = 0.3 } }, climf = { {} }, tfmap = { {} },
  neural_ndcg = { {}, { tau = 0.1 }, { iterations = 0 }, { iterations = 3 } },
}

local function each(f)
  for name, all in pairs(made) do
    for i, options in ipairs(all) do f(mr.losses[name], options, ("%s %d"):format(name, i)) end
  end
end

local function grades(n, seed) return support.grades(n, seed, 3) end

-- NeuralSort's relaxed permutation matrix, whose rows and columns are scaled in turn, in plain Lua.
local function relaxed(f, tau, iterations)
  local n, p = #f, {}
  for k = 1, n do
    local row, top = {}, -infinity
    for j = 1, n do
      local away = 0
      for l = 1, n do away = away + math.abs(f[j] - f[l]) end
      row[j] = ((n + 1 - 2 * k) * f[j] - away) / tau
      top = math.max(top, row[j])
    end
    local total = 0
    for j = 1, n do
      row[j] = math.exp(row[j] - top)
      total = total + row[j]
    end
    for j = 1, n do row[j] = row[j] / total end
    p[k] = row
  end
  for _ = 1, iterations do
    for j = 1, n do
      local total = 0
      for k = 1, n do total = total + p[k][j] end
      for k = 1, n do p[k][j] = p[k][j] / total end
    end
    for k = 1, n do
      local total = 0
      for j = 1, n do total = total + p[k][j] end
      for j = 1, n do p[k][j] = p[k][j] / total end
    end
  end
  return p
end

local function ndcg_of(p, y)
  local sorted, ideal, sum = table.move(y, 1, #y, 1, {}), 0, 0
  table.sort(sorted, function(a, b) return a > b end)
  for k = 1, #y do ideal = ideal + (2 ^ sorted[k] - 1) / math.log(1 + k, 2) end
  for k = 1, #y do
    for j = 1, #y do sum = sum + p[k][j] * (2 ^ y[j] - 1) / math.log(1 + k, 2) end
  end
  return sum / ideal
end

describe("relaxed losses", function()
  it("give nDCG of the scaled matrix in neural_ndcg for every list size", function()
    for _, n in ipairs{ 2, 31, 32, 33, 127, 128, 129 } do
      local y = grades(n, n)
      for _, spread in ipairs{ 1, 30 } do
        local x = mr.normal({ n }, { seed = n, dtype = "float64" }) * spread
        for _, iterations in ipairs{ 0, 4 } do
          local loss = mr.losses.neural_ndcg{ tau = 0.7, iterations = iterations, tolerance = 0 }
          local where = ("%d rows, spread %d"):format(n, spread)
          near(loss(x, mr.lists{ y }):item(), -ndcg_of(relaxed(x:totable(), 0.7, iterations), y), 1e-11, where)
          local _, gradient = value_and_gradient(loss, x, mr.lists{ y })
          check(gradient:isnan():sum():item() == 0, where)
        end
      end
    end
  end)

  it("stay finite in neural_ndcg for widely spread scores", function()
    local scores, y = {}, {}
    for l = 1, 3000 do
      for i, x in ipairs{ -1, -0.7, -0.4, -0.1, 0.1, 0.3, 0.6, 0.8, 1 } do scores[9 * (l - 1) + i] = x * l / 10 end
      y[l] = { 0, 1, 0, 0, 2, 0, 0, 1, 0 }
    end
    local value, gradient = value_and_gradient(mr.losses.neural_ndcg(), mr.tensor(scores, f64), mr.lists(y))
    equal({ value:isnan():sum():item(), gradient:isnan():sum():item() }, { 0, 0 })
  end)

  it("ignore shifts and give nDCG for huge scores in neural_ndcg", function()
    for _, n in ipairs{ 2, 5, 13, 40 } do
      local y = grades(n, n)
      y[n] = 3
      local lists, loss = mr.lists{ y }, mr.losses.neural_ndcg()
      local near_ones, steps = {}, {}
      for i, x in ipairs(mr.normal({ n }, { seed = n, dtype = "float64" }):totable()) do
        near_ones[i], steps[i] = math.floor(4 * x) / 4, i * 5 % 7
      end
      -- adding a large number to all scores changes nothing, because only differences of scores count
      local value, gradient = value_and_gradient(loss, mr.tensor(near_ones, f64), lists)
      for _, from in ipairs{ 2 ^ 21, -2 ^ 21, 2 ^ 50 } do
        local moved_value, moved = value_and_gradient(loss, mr.tensor(near_ones, f64) + from, lists)
        near(moved_value, value, 1e-9, n .. " rows")
        near(moved, gradient, 1e-9, n .. " rows")
      end
      -- with scores far apart, the loss is nDCG, averaged over the orders of ties
      for _, size in ipairs{ 1e7, 1e15, 1e17, 1e30, 1e300 } do
        local apart, tied = mr.normal({ n }, { seed = 1, dtype = "float64" }) * size, mr.tensor(steps, f64) * size
        for most, x in pairs{ [1e-9] = apart, [infinity] = tied } do
          local far, slopes = value_and_gradient(loss, x, lists)
          near(far:item(), -mr.metrics.parse("ndcg")(x, lists):item(), 1e-9, ("%d rows of %g"):format(n, size))
          -- gradients are nearly 0, except at ties
          check(slopes:abs():max():item() < most, ("%d rows of %g"):format(n, size))
        end
      end
    end
    -- infinite scores are ranked beyond the largest finite ones
    local beyond = mr.tensor({ 1e300, infinity, -1e300, -infinity }, f64)
    local value, gradient = value_and_gradient(mr.losses.neural_ndcg(), beyond, mr.lists{ { 0, 1, 0, 0 } })
    equal({ value:item(), gradient:abs():max():item() }, { -1.0, 0.0 })
  end)

  it("give nDCG in soft_rank without noise, and mean gains for equal scores", function()
    for _, n in ipairs{ 2, 31, 32, 33, 127, 128, 129 } do
      local x, y = mr.normal({ n }, { seed = n, dtype = "float64" }), grades(n, n)
      local lists = mr.lists{ y }
      local found = mr.losses.soft_rank{ sd = 1e-9 }(x, lists):item()
      near(found, -mr.metrics.parse("ndcg")(x, lists):item(), 1e-12, n .. " rows")
      -- the rank is binomially distributed: each of the n - 1 other rows is above with probability 1/2
      local gains, best, weight, expected = 0, 0, 0.5 ^ (n - 1), 0
      local sorted = table.move(y, 1, n, 1, {})
      table.sort(sorted, function(a, b) return a > b end)
      for k = 1, n do
        gains, best = gains + 2 ^ y[k] - 1, best + (2 ^ sorted[k] - 1) / math.log(1 + k, 2)
        expected = expected + weight / math.log(1 + k, 2)
        weight = weight * (n - k) / k
      end
      near(mr.losses.soft_rank()(mr.zeros({ n }, f64), lists):item(), -gains * expected / best, 1e-12, n .. " rows")
    end
  end)

  it("have gradients that match finite differences", function()
    local lists = mr.lists{ grades(11, 3), {}, { 2 }, { 0, 0, 0 }, { 1, 1 }, { 1, 0 }, grades(5, 4), { 2, 1, 3 } }
    each(function(make, options, where) support.by_differences(make(options), lists, where) end)
  end)

  it("are never NaN for distant, equal or infinite scores, and 0 for equal grades", function()
    each(function(make, options, where)
      support.stays_a_number(make(options), where, function(value, gradient, _, y, what)
        if y[1] == y[2] and y[2] == y[3] then equal({ value, gradient:abs():max():item() }, { 0.0, 0.0 }, what) end
      end)
    end)
  end)

  it("are scaled by the slope of every bound and count lists with different grades", function()
    local lists = mr.lists{ { 1, 0, 2 }, {}, { 0, 0 }, { 1, 1 }, { 1, 0, 0, 0 } }
    for name, of in pairs{ soft_rank = "ndcg", neural_ndcg = "ndcg", climf = "rr", tfmap = "ap" } do
      support.by_slope(mr.losses[name], of, lists, function(bounded) equal(bounded:count(lists), 2, name) end)
    end
  end)

  it("train a model to a better ranking", function()
    local lists, x = {}, mr.normal({ 120, 4 }, { seed = 3 })
    local weights = mr.tensor{ { 1 }, { -2 }, { 0.5 }, { 0 } }
    local truth = (x:matmul(weights):reshape(120) + mr.normal({ 120 }, { seed = 4 })):totable()
    for l = 1, 10 do
      lists[l] = {}
      for i = 1, 12 do lists[l][i] = truth[12 * (l - 1) + i] > 0.5 and (truth[12 * (l - 1) + i] > 2 and 2 or 1) or 0 end
    end
    local part = mr.data.dataset{ lists = mr.lists(lists), features = x }
    for _, name in ipairs{ "soft_rank", "neural_ndcg", "approx_ndcg" } do
      local model = mr.models.linear{ inputs = 4, seed = 1 }
      local before = mr.evaluate(model(part:batches{ size = 10 }()), part.lists, { "ndcg" }).mean.ndcg
      mr.fit{ model = model, loss = mr.losses[name](), train = part, optimizer = mr.optim.adam{ lr = 0.05 },
        epochs = 30, progress = false }
      local after = mr.evaluate(model(part:batches{ size = 10 }()), part.lists, { "ndcg" }).mean.ndcg
      check(after > before + 0.05, ("%s: %g after %g"):format(name, after, before))
    end
  end)

  it("reject invalid options and scores", function()
    local long = mr.lists{ { 1, 0 }, { 1, 0, 0 } }
    raises(function() mr.losses.soft_rank{ longest = 2 }(mr.zeros{ 5 }, long) end, "2", "3", "longest")
    raises(function() mr.losses.neural_ndcg{ tau = 1e-300 } end, "tau", "1e-300")
    for _, value in ipairs{ 1.5, -1, 1001 } do
      raises(function() mr.losses.neural_ndcg{ iterations = value } end, "iterations", tostring(value))
    end
    raises(function() mr.losses.climf()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
  end)
end)
