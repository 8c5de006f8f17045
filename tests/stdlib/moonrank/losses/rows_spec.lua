-- Tests pointwise and listwise losses: finite differences, degenerate lists, counts, bounds and the mean over rows.
local mr = require "moonrank"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local pointwise = { "mse", "bce", "squared_hinge", "ordinal" }
local listwise = { "listnet", "softmax_cross_entropy", "listmle", "p_listmle" }
local all = table.move(listwise, 1, #listwise, #pointwise + 1, table.move(pointwise, 1, #pointwise, 1, {}))
local infinity = math.huge

local function grades(n, seed) return support.grades(n, seed, 4) end

-- Formulas of the losses for one list, in plain Lua.
local plain = {}
local function log_sum(f, first)
  local top = -infinity
  for i = first, #f do top = math.max(top, f[i]) end
  local total = 0
  for i = first, #f do total = total + math.exp(f[i] - top) end
  return top + math.log(total)
end
local function by_grade(f, y)
  local order, sorted = {}, {}
  for i = 1, #f do order[i] = i end
  table.sort(order, function(a, b) return y[a] > y[b] or y[a] == y[b] and a < b end)
  for k, i in ipairs(order) do sorted[k] = f[i] end
  return sorted
end
local function likelihood(f, y, weight)
  local sorted, sum = by_grade(f, y), 0
  for k = 1, #f do sum = sum + weight(k, #f) * (log_sum(sorted, k) - sorted[k]) end
  return sum
end
function plain.listmle(f, y) return likelihood(f, y, function() return 1 end) end
function plain.p_listmle(f, y)
  return likelihood(f, y, function(k, n) return n > 1 and (2.0 ^ (n - k) - 1) / (2.0 ^ (n - 1) - 1) or 0 end)
end
function plain.softmax_cross_entropy(f, y)
  local sum = 0
  for i = 1, #f do sum = sum + y[i] * (log_sum(f, 1) - f[i]) end
  return sum
end
function plain.listnet(f, y)
  local sum = 0
  for i = 1, #f do sum = sum + math.exp(y[i] - log_sum(y, 1)) * (log_sum(f, 1) - f[i]) end
  return sum
end

describe("pointwise and listwise losses", function()
  it("equal plain Lua forms for every list size", function()
    for _, n in ipairs{ 1, 31, 32, 33, 127, 128, 129, 1000 } do
      local x, y = mr.normal({ n }, { seed = n, dtype = "float64" }), grades(n, n)
      for name, f in pairs(plain) do
        local expected = f(x:totable(), y)
        local scale, loss, lists = math.max(1, expected), mr.losses[name](), mr.lists{ y }
        near(loss(x, lists):item() / scale, expected / scale, 1e-11, name .. " of " .. n)
        near(loss(x:float(), lists):item() / scale, expected / scale, 1e-5, name .. " of " .. n .. ", float32")
      end
    end
  end)

  it("have gradients that match finite differences", function()
    local y = { grades(13, 3), {}, { 2 }, { 0, 0, 0 }, { 1, 1 }, grades(5, 4) }
    local lists = mr.lists(y)
    for _, name in ipairs(all) do support.by_differences(mr.losses[name](), lists, name) end
    local thresholds = mr.tensor({ -0.5, 0.25, 1.5 }, f64)
    local x = mr.normal({ lists.rows }, { seed = 2, dtype = "float64" })
    local error = mr.gradcheck(function(t) return mr.losses.ordinal{ thresholds = t }(x, lists) end, thresholds)
    check(error < 1e-6, "thresholds")
  end)

  it("are never NaN for distant, equal or infinite scores", function()
    for _, name in ipairs(listwise) do support.stays_a_number(mr.losses[name](), name) end
    for _, name in ipairs{ "bce", "squared_hinge", "ordinal" } do
      local scores, lists = mr.tensor({ 1e4, -1e4, 0 }, f64), mr.lists{ { 0, 1, 1 } }
      local value, gradient = value_and_gradient(mr.losses[name](), scores, lists)
      check(value:item() - value:item() == 0 and gradient:isnan():sum():item() == 0, name)
    end
    for _, name in ipairs(listwise) do  -- equal infinite scores give the same value and gradient as equal finite ones
      for _, rows in ipairs{ 1, 3, 8, 9 } do
        local lists = mr.lists{ grades(rows, 4) }
        local expected, slopes = value_and_gradient(mr.losses[name](), mr.zeros({ rows }, f64), lists)
        for _, infinite in ipairs{ infinity, -infinity } do
          local value, gradient = value_and_gradient(mr.losses[name](), mr.full({ rows }, infinite, f64), lists)
          near(value:item(), expected:item(), 1e-12, ("%s of %d rows"):format(name, rows))
          near(gradient, slopes, 1e-12)
        end
      end
    end
    raises(function() mr.losses.listnet()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
  end)

  it("count lists with rows, and under a bound only lists where order matters", function()
    local lists = mr.lists{ { 1, 0, 2 }, {}, { 0, 0 }, { 1, 1 }, { 3 } }
    local scores = mr.tensor({ 1, 2, 3, 1, 2, 0, 3, 1 }, f64)
    for _, name in ipairs(all) do
      local plain_loss, bounded = mr.losses[name](), mr.losses[name]{ bound = "minmax" }
      equal(plain_loss:count(lists), 4, name)
      equal(bounded:count(lists), 1, name)
      local values, slopes = plain_loss(scores, lists):totable(), mr.bounds.slopes("minmax", "ndcg", lists):totable()
      equal(values[2], 0.0)
      near(bounded(scores, lists), { values[1] * slopes[1], 0, 0, 0, 0 }, 1e-12, name)
      near(plain_loss:mean(scores, lists):item(), plain_loss(scores, lists):sum():item() / 4, 1e-12)
    end
  end)

  it("take slopes of non-affine bounds at the exact metric or its expectation", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 2, 1 } }
    local scores = mr.normal({ 8 }, { seed = 5, dtype = "float64" })
    local exact = mr.metrics.parse("ap")(scores, lists)
    for _, name in ipairs(listwise) do
      local values = mr.losses[name]()(scores, lists)
      local function under(o)
        o.metric, o.bound = "ap", "distribution_logit"
        return mr.losses[name](o)(scores, lists)
      end
      near(under{}, values * mr.bounds.slopes("distribution_logit", "ap", lists, { at = exact }), 1e-12, name)
      near(under{ slope_at = "expectation" }, values * mr.bounds.slopes("distribution_logit", "ap", lists), 1e-12, name)
    end
    -- the slope of the bound by finite differences
    local step = 1e-6
    local function bounded(at) return mr.bounds.resolve("distribution_logit").apply(at, "ap", lists) end
    local by_differences = (bounded(exact + step) - bounded(exact - step)) / (2 * step)
    near(mr.bounds.slopes("distribution_logit", "ap", lists, { at = exact }), by_differences, 1e-5)
  end)

  it("accept a metric handle with options", function()
    local lists, scores = mr.lists{ { 3, 0, 1, 0, 2 }, { 0, 2, 1 } }, mr.normal({ 8 }, { seed = 7, dtype = "float64" })
    local linear = mr.metrics.ndcg{ gain = "linear" }
    local slopes = mr.bounds.slopes("minmax", linear, lists)
    check((mr.bounds.slopes("minmax", "ndcg", lists) - slopes):abs():max():item() > 0.01, "the gain matters")
    for _, name in ipairs(all) do
      local bounded = mr.losses[name]{ metric = linear, bound = "minmax" }
      near(bounded(scores, lists), mr.losses[name]()(scores, lists) * slopes, 1e-12, name)
      equal(mr.losses[name]{ metric = "map" }.options.metric.name, "ap", name)
    end
  end)

  it("reject invalid options", function()
    for _, name in ipairs(all) do
      raises(function() mr.losses[name]{ metric = "ndgc" } end, "'ndgc'", "'ndcg'")
    end
    raises(function() mr.losses.mse{ bound = "distribution" } end, "bound", "'distribution'")
    raises(function() mr.losses.ordinal{ thresholds = { 1, 1 } } end, "thresholds[2]", "1")
    raises(function() mr.losses.ordinal{ thresholds = mr.tensor{ 2, 1 } } end, "2", "1.0")
    raises(function() mr.losses.ordinal{ thresholds = mr.tensor{ 0 / 0, 1 } } end, "1", "NaN")
    raises(function() mr.losses.ordinal{ levels = 3, thresholds = { 1, 2 } } end, "2", "levels", "3")
    raises(function() mr.losses.ordinal{ levels = 1000000000 } end, "levels", "1000000000")
    raises(function() mr.losses.ordinal{ levels = 3, thresholds = mr.tensor{ 1, 2 } } end, "2", "levels", "3")
    raises(function() mr.losses.ordinal{ thresholds = mr.tensor{ { 1, 2 } } } end, "thresholds", "mr.Tensor")
    raises(function() mr.losses.ordinal{ thresholds = mr.lists{ { 1 } } } end, "thresholds", "mr.Lists")
    raises(function() mr.bounds.slopes("minmax", "ap", mr.lists{ { 1, 0 } }, { at = mr.tensor{ 1, 2 } }) end,
      "1", "list")
  end)

  it("train with reduction = 'rows' as on one list of all rows", function()
    local function trained(sizes, reduction)
      local lists, features = {}, mr.normal({ 12, 3 }, { seed = 1 })
      local y, at = grades(12, 9), 0
      for l, n in ipairs(sizes) do
        lists[l] = table.move(y, at + 1, at + n, 1, {})
        at = at + n
      end
      local part = mr.data.dataset{ lists = mr.lists(lists), features = features }
      local model = mr.models.linear{ inputs = 3, seed = 1 }
      mr.fit{ model = model, loss = mr.losses.mse(), train = part, optimizer = mr.optim.sgd{ lr = 0.05 }, epochs = 5,
        batch = 10, metrics = { "ndcg" }, shuffle = false, reduction = reduction, progress = false }
      return model
    end
    local by_rows = trained({ 2, 7, 3 }, "rows")
    local one_list = trained({ 12 }, "mean")
    local by_lists = trained({ 2, 7, 3 }, "mean")
    local function weights(model)
      return mr.cat({ model:parameters()[1]:reshape(3), model:parameters()[2]:reshape(1) })
    end
    near(weights(by_rows), weights(one_list), 1e-6)
    check((weights(by_rows) - weights(by_lists)):abs():max():item() > 1e-3, "rows and lists weigh the same")
    local part = mr.data.dataset{ lists = mr.lists{ { 1, 0, 1 } }, features = mr.zeros{ 3, 3 } }
    raises(function() mr.fit{ model = by_rows, loss = mr.losses.ap(), train = part, reduction = "rows" } end,
      "reduction", "'rows'")
  end)
end)
