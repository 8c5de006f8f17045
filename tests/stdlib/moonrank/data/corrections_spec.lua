-- Tests corrections of sampled metrics against enumerated samples of small catalogues and their normal equations.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- p[K][k] is the share of all samples of m out of n items that contain k of the first K items.
local function chances(n, m)
  local counts, total, chosen = {}, 0, {}
  for above = 0, n do
    counts[above] = {}
    for k = 0, m do counts[above][k] = 0 end
  end
  local function visit(from, left)
    if left == 0 then
      total = total + 1
      local k = 0
      for above = 0, n do
        if chosen[above] then k = k + 1 end
        counts[above][k] = counts[above][k] + 1
      end
      return
    end
    for item = from, n - left + 1 do
      chosen[item] = true
      visit(item + 1, left - 1)
      chosen[item] = nil
    end
  end
  visit(1, m)
  for above = 0, n do
    for k = 0, m do counts[above][k] = counts[above][k] / total end
  end
  return counts
end

-- Returns the solution g of [(1 - gamma) A'A + gamma diag(A'1)] g = A'f by Gaussian elimination with pivots.
local function solved(p, f, n, m, gamma)
  local rows = {}
  for i = 0, m do
    rows[i] = {}
    for j = 0, m do
      local sum, c = 0, 0
      for above = 0, n do sum, c = sum + p[above][i] * p[above][j], c + p[above][i] end
      rows[i][j] = (1 - gamma) * sum + (i == j and gamma * c or 0)
    end
    rows[i][m + 1] = 0
    for above = 0, n do rows[i][m + 1] = rows[i][m + 1] + p[above][i] * f[above + 1] end
  end
  for i = 0, m do
    local pivot = i
    for r = i + 1, m do if math.abs(rows[r][i]) > math.abs(rows[pivot][i]) then pivot = r end end
    rows[i], rows[pivot] = rows[pivot], rows[i]
    for r = 0, m do
      local factor = r ~= i and rows[r][i] / rows[i][i] or 0
      for j = i, m + 1 do rows[r][j] = rows[r][j] - factor * rows[i][j] end
    end
  end
  local g = {}
  for i = 0, m do g[i + 1] = rows[i][m + 1] / rows[i][i] end
  return g
end

-- Returns the cost of a correction g: the sum over ranks of squared bias plus gamma times variance.
local function cost(p, f, g, n, m, gamma)
  local total, bias = 0, 0
  for above = 0, n do
    local mean, square = 0, 0
    for k = 0, m do mean, square = mean + p[above][k] * g[k + 1], square + p[above][k] * g[k + 1] ^ 2 end
    total, bias = total + (mean - f[above + 1]) ^ 2 + gamma * (square - mean ^ 2), bias + (mean - f[above + 1]) ^ 2
  end
  return total, bias
end

local shapes = {  -- values of metrics as functions of the rank r among n + 1 items
  rr = function(r) return 1 / r end,
  ["hit@3"] = function(r) return r <= 3 and 1 or 0 end,
  ["ndcg@4"] = function(r) return r <= 4 and math.log(2) / math.log(r + 1) or 0 end,
  auc = function(r, n) return (n + 1 - r) / n end,
}

local function values(shape, n)
  local f = {}
  for r = 1, n + 1 do f[r] = shape(r, n) end
  return f
end

local cases = { { 1, 1 }, { 6, 1 }, { 7, 2 }, { 9, 5 }, { 12, 4 }, { 14, 7 }, { 8, 8 } }

it("core.sampled_estimates minimizes squared bias plus gamma times variance over all samples", function()
  for _, case in ipairs(cases) do
    local n, m = case[1], case[2]
    local p = chances(n, m)
    for name, shape in pairs(shapes) do
      local f = values(shape, n)
      for _, gamma in ipairs{ 0, 0.1, 0.7, 1 } do
        local g = core.sampled_estimates(mr.tensor(f, { dtype = "float64" }), m, gamma):totable()
        local expected = solved(p, f, n, m, gamma)
        for k = 1, m + 1 do
          local where = ("%s %d of %d, gamma %g"):format(name, m, n, gamma)
          near(g[k], expected[k], 1e-7 * math.max(1, math.abs(expected[k])), where)
        end
        local least, bias = cost(p, f, g, n, m, gamma)
        for k = 1, m + 1 do
          for _, change in ipairs{ -1e-3, 1e-3 } do
            local other = table.move(g, 1, m + 1, 1, {})
            other[k] = other[k] + change
            check(cost(p, f, other, n, m, gamma) > least, "a smaller one is near")
          end
        end
        -- auc is linear in the rank, so the number k of sampled items above gives an unbiased estimate
        if name == "auc" and gamma == 0 then near(bias, 0, 1e-15) end
        if m == n then
          for k = 1, m + 1 do near(g[k], f[k], 1e-12) end
        end
      end
    end
  end
end)

it("core.sampled_estimates solves its equations for 100 of 3000 items, with less bias for smaller gamma", function()
  local n, m = 3000, 100
  -- the probability p(k|K), computed as a product of ratios
  local function chance(above, k)
    if k > above or m - k > n - above then return 0 end
    local log = 0
    for i = 1, k do log = log + math.log((above - i + 1) / i) end
    for i = 1, m - k do log = log + math.log((n - above - i + 1) / i) end
    for i = 1, m do log = log - math.log((n - i + 1) / i) end
    return math.exp(log)
  end
  local p, f = {}, values(shapes["ndcg@4"], n)
  for above = 0, n do
    p[above] = {}
    for k = 0, m do p[above][k] = chance(above, k) end
  end
  local before
  for _, gamma in ipairs{ 1, 0.1, 0.01, 0 } do
    local g = core.sampled_estimates(mr.tensor(f, { dtype = "float64" }), m, gamma):totable()
    if gamma > 0 then
      -- the residual of the normal equations, [(1 - gamma) A'A + gamma diag(A'1)] g - A'f
      local rest = {}
      for k = 0, m do rest[k] = 0 end
      for above = 0, n do
        local mean = 0
        for k = 0, m do mean = mean + p[above][k] * g[k + 1] end
        for k = 0, m do rest[k] = rest[k] + p[above][k] * ((1 - gamma) * mean + gamma * g[k + 1] - f[above + 1]) end
      end
      for k = 0, m do near(rest[k], 0, 1e-9) end
    end
    local _, bias = cost(p, f, g, n, m, gamma)
    check(not before or bias < before, ("bias %g after %s"):format(bias, tostring(before)))
    before = bias
  end
end)

it("core.sampled_estimates with gamma = 1 gives the mean over equally likely ranks", function()
  -- one of two items is sampled and is not above: this has probability 1, 1/2, 0 at ranks 1, 2, 3, and f = 1, 0, 0. The
  -- estimate is (1 + 0) / 1.5
  local g = core.sampled_estimates(mr.tensor({ 1, 0, 0 }, { dtype = "float64" }), 1, 1):totable()
  near(g[1], 2 / 3, 1e-15)
  near(g[2], 0, 1e-15)
end)

it("core.sampled_estimates stays finite for large samples", function()
  for _, case in ipairs{ { 1000, 1000 }, { 5000, 1000 }, { 100000, 1000 } } do
    local f = core.arange(1, case[1] + 1, 1, "float64", "cpu"):ge(11):where(0, 1):double()
    for _, gamma in ipairs{ 0.1, 1 } do
      local g = core.sampled_estimates(f, case[2], gamma)
      check((g * 0):sum():item() == 0, "finite")
      check(g:max():item() < 3 and g:min():item() > -1, ("from %g to %g"):format(g:min():item(), g:max():item()))
    end
  end
end)

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 150, mean_activity = 40, seed = 5 }
local fold = ratings:binarize(4):folds{ k = 4, nsr = 1, seed = 2 }[2]
local model = mr.models.item_knn{ fold = fold, k = 7, shrink = 2 }

it("corrected metrics approach the exact metrics in the mean over seeds, most of all with minimal_bias", function()
  local names = { "ndcg@10", "rr", "auc" }
  local exact = fold:evaluate(model, names, { candidates = "one", negatives = 1000, known = "relevant" }).mean
  local function mean_of(options, suffix)
    local mean = {}
    for _, name in ipairs(names) do mean[name] = 0 end
    for seed = 1, 40 do
      options.seed, options.known = seed, "relevant"
      local found = fold:evaluate(model, names, options).mean
      for _, name in ipairs(names) do mean[name] = mean[name] + found[name .. suffix] / 40 end
    end
    return mean
  end
  local plain = mean_of({ candidates = "one", negatives = 10 }, "")
  local least = mean_of({ candidates = "one", negatives = 10, correct = "minimal_bias" }, "[minimal_bias]")
  local traded = mean_of({ candidates = "one", negatives = 10, correct = "trade_off", gamma = 0.01 }, "[trade_off]")
  near(least.auc, exact.auc, 0.01)
  for _, name in ipairs{ "ndcg@10", "rr" } do
    check(math.abs(least[name] - exact[name]) < 0.1 * math.abs(plain[name] - exact[name]),
      ("%s: %g, least bias %g, plain %g"):format(name, exact[name], least[name], plain[name]))
    check(math.abs(traded[name] - exact[name]) < 0.3 * math.abs(plain[name] - exact[name]),
      ("%s: %g, trade-off %g, plain %g"):format(name, exact[name], traded[name], plain[name]))
  end
end)

it("corrected metrics equal the exact metrics if all items are sampled, also with ties", function()
  local names = { "ndcg@10", "rr", "ap", "hit@5", "recall@5", "precision@5", "auc" }
  local function coarse(batch)  -- many ties
    local x = model(batch)
    return x:gt(0.3):where(1, 0) + x:gt(0.6):where(1, 0)
  end
  for _, scores in ipairs{ model, coarse } do
    local exact = fold:evaluate(scores, names, { candidates = "one", negatives = 1000 })
    for how in pairs{ minimal_bias = true, trade_off = true } do
      local all = fold:evaluate(scores, names, { candidates = "one", negatives = 1000, correct = how })
      for _, name in ipairs(names) do
        near(all[("%s[%s]"):format(name, how)]:totable(), exact[name]:totable(), 1e-6, name)
      end
    end
  end
end)

it("fold:evaluate prints the correction and checks the options of corrections", function()
  local function evaluate(options, metrics)
    return function() return fold:evaluate(model, metrics or { "rr" }, options) end
  end
  local text = evaluate{ candidates = "one", correct = "trade_off", gamma = 0.25 }().candidates
  check(text:find("variance", 1, true) and text:find("gamma 0.25", 1, true), text)
  text = evaluate{ candidates = "one", correct = "minimal_bias" }().candidates
  check(text:find("least bias", 1, true), text)
  local function names(correct) return evaluate{ candidates = "one", correct = correct }().names end
  equal(names "rank", names(true))
  raises(evaluate{ candidates = "one", correct = "least" }, "correct", "fold:evaluate", "least")
  raises(evaluate{ candidates = "one", gamma = 0.5 }, "gamma", "correct = 'trade_off'")
  raises(evaluate{ candidates = "one", correct = "trade_off", gamma = 2 }, "gamma", "2")
  raises(evaluate{ candidates = "one", correct = "trade_off", gamma = 0 / 0 }, "fold:evaluate", "gamma")
  raises(evaluate{ candidates = "one", correct = "trade_off", negatives = 1001 }, "1000", "negatives", "1001")
  raises(evaluate{ candidates = "sampled", correct = "minimal_bias" }, "minimal_bias", "candidates", "sampled", "one")
  raises(evaluate({ candidates = "one", correct = "minimal_bias" }, { "err" }), "correction", "err")
  raises(evaluate({ candidates = "one", correct = "minimal_bias" }, { { "rr", bound = "minmax" } }), "fold:evaluate",
    "'rr[minmax]'")
  raises(evaluate{ candidates = "one", correct = true, ties = "worst" }, "rr", "ties", "'worst'", "'mean'")
  raises(evaluate{ candidates = "one", correct = "trade_off", relevant = 2 }, "rr", "relevant", "2.0", "1")
  local f = mr.tensor({ 1, 0 }, { dtype = "float64" })
  raises(function() core.sampled_estimates(f, 2, 0) end, "'sampled'", "'sampled_estimates'", "2")
  raises(function() core.sampled_estimates(f:float(), 1, 0) end, "float64")
  raises(function() core.sampled_estimates(f, 1, 1.5) end, "'gamma'", "1.5")
end)
