-- Tests pairwise losses with metric weights (LambdaRank) against a double loop that swaps ranks and computes the metric
-- again. Gradients are tested against finite differences with constant weights.
local mr = require "moonrank"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.value_and_gradient
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local metrics = { ndcg = "ndcg", ap = "ap", rr = "rr", nrbp = "nrbp(0.95)", rbp = "rbp(0.95)" }
-- other metrics whose change by a swap is known. ERR gets its largest grade, so that the value of a list does not
-- depend on other lists
mr.metrics.define("lambda_spec_plain", { gain = function(y) return y >= 1 and y or 0 end,
  discount = function(r) return 1 / r ^ 0.5 end })
mr.metrics.define("lambda_spec_ideal", { gain = function(y) return y >= 1 and 3 - y or 0 end, ideal = true,
  discount = function(r) return r <= 4 and 5 - r or 0 end })
local others = { "lambda_spec_plain", "lambda_spec_ideal",
  "dcg", "ndcg@3", mr.metrics.ndcg{ gain = "linear", k = 5 },
  "ap@3", mr.metrics.ap{ k = 2, denominator = "cutoff" },
  "rr@2", "hit@3", "precision@3", "recall@4", "f1@2", "r_precision", "auc", "nrbp_loss", "nrbp(0.7)@4",
  mr.metrics.err{ top = 2 }, mr.metrics.err{ top = 3, k = 4 } }

-- Returns scores and grades of n rows. The scores are of a kind: "normal", "ties" (few distinct values), "equal" or
-- "wide". All have grades too small to be relevant, and relevant grades that differ.
local function random_list(n, shape, few)
  local u = mr.uniform({ math.max(n, 1) }, { seed = n, stream = "grades", device = "cpu" }):totable()
  local x = mr.normal({ math.max(n, 1) }, { seed = n, dtype = "float64", device = "cpu" }):totable()
  local scores, grades = {}, {}
  for i = 1, n do
    grades[i] = few and (i % 400 == 7 and i // 400 or 0)
      or u[i] < 0.5 and 0 or u[i] < 0.6 and 0.5 or u[i] < 0.8 and 1 or 2
    scores[i] = shape == "ties" and math.floor(2 * x[i]) / 2
      or shape == "equal" and 0.25 or shape == "wide" and 30 * x[i] or x[i]
  end
  return scores, grades
end

-- Returns n - r for each row, where r is its rank. Sorting by these numbers gives the ranking.
local function rank_scores(scores)
  local order, standing = {}, {}
  for i = 1, #scores do order[i] = i end
  table.sort(order, function(a, b)
    if scores[a] ~= scores[b] then return scores[a] > scores[b] end
    return a < b
  end)
  for rank, row in ipairs(order) do standing[row] = #scores - rank end
  return standing
end

-- Returns all pairs of rows with unequal grades as { i, j, weight = { metric = ... } }. Each weight is the change of
-- the exact metric when the ranks of both rows are swapped.
local function swapped_pairs(scores, grades, options)
  local standing, pairs_of, rows, relevance = rank_scores(scores), {}, {}, { grades }
  local function add() table.move(standing, 1, #standing, #rows + 1, rows) end
  add()
  for i = 1, #scores do
    for j = 1, #scores do
      if grades[i] > grades[j] then
        standing[i], standing[j] = standing[j], standing[i]
        add()
        standing[i], standing[j] = standing[j], standing[i]
        pairs_of[#pairs_of + 1], relevance[#relevance + 1] = { i, j, weight = { pairs = 1 } }, grades
      end
    end
  end
  if #pairs_of == 0 then return pairs_of end
  local lists, exact = mr.lists(relevance), mr.tensor(rows, { dtype = "float64", device = "cpu" })
  local function weigh(name, metric)
    local values = metric(exact, lists):totable()
    for k, pair in ipairs(pairs_of) do
      local change = math.abs(values[k + 1] - values[1])
      -- the change is NaN if the list has no relevant row; its weight is 0
      pair.weight[name] = change == change and change or 0
    end
  end
  for name in pairs(metrics) do
    weigh(name, mr.metrics.parse(name, (name == "nrbp" or name == "rbp") and options or nil))
  end
  for _, other in ipairs(others) do weigh(other, mr.metrics.parse(other)) end
  return pairs_of
end

local function term(pair, name, scores, steepness)
  local t = steepness * (scores[pair[2]] - scores[pair[1]])
  return pair.weight[name] * (math.max(t, 0) + math.log(1 + math.exp(-math.abs(t))))
end

-- Returns the loss, and its finite differences by every score with constant weights.
local function expected(name, scores, pairs_of, steepness)
  local value, slope, step = 0, {}, 1e-5
  for i = 1, #scores do slope[i] = 0 end
  for _, pair in ipairs(pairs_of) do
    value = value + term(pair, name, scores, steepness)
    for _, row in ipairs{ pair[1], pair[2] } do
      local kept = scores[row]
      scores[row] = kept + step
      local above = term(pair, name, scores, steepness)
      scores[row] = kept - step
      slope[row] = slope[row] + (above - term(pair, name, scores, steepness)) / (2 * step)
      scores[row] = kept
    end
  end
  return value, slope
end

local function loss_of(name, options)
  if name == "pairs" then return mr.losses.ranknet(options) end
  local o = { metric = name }
  for key, v in pairs(options or {}) do o[key] = v end
  return mr.losses.lambdarank(o)
end

local names = { "pairs" }
for name in pairs(metrics) do names[#names + 1] = name end
table.sort(names)
local all_names = table.move(others, 1, #others, #names + 1, table.move(names, 1, #names, 1, {}))

-- Lists of every kind: with pairs, without relevant rows, all relevant, one row, empty, different grades among relevant
-- rows, and with pairs again.
local function mixed()
  return mr.lists{ { 1, 0, 0, 1 }, { 0, 0, 0 }, { 1, 1 }, { 1 }, {}, { 2, 1 }, { 2, 0, 1, 0.5, 0 } }
end

local function agrees(n, shape, steepness, options, few)
  local scores, grades = random_list(n, shape, few)
  local pairs_of = swapped_pairs(scores, grades, options)
  for _, name in ipairs(all_names) do
    local where = ("%s of %d rows, %s"):format(tostring(name), n, shape)
    local value, slope = expected(name, scores, pairs_of, steepness)
    local own = { steepness = steepness, p = (name == "nrbp" or name == "rbp") and options and options.p or nil }
    for dtype, tolerance in pairs{ float64 = 1e-9, float32 = 2e-5 } do
      local x = mr.tensor(scores, { dtype = dtype })
      -- rounding to float32 could make or break ties of the wide scores, so these are compared in float64 only
      if dtype == "float64" or shape ~= "wide" then
        local found, grad = value_and_gradient(function(s) return loss_of(name, own)(s, mr.lists{ grades }) end, x)
        near(found:item(), value, tolerance, where .. " " .. dtype)
        near(grad, slope, dtype == "float64" and 1e-8 or tolerance, "gradient of " .. where .. " " .. dtype)
      end
    end
  end
end

describe("pairwise losses", function()
  it("weight every pair by the metric's change if the two rows are swapped", function()
    for _, n in ipairs{ 0, 1, 2, 31, 32, 33 } do
      for _, shape in ipairs{ "normal", "ties", "equal", "wide" } do agrees(n, shape, 1) end
    end
    agrees(129, "normal", 1)
    agrees(129, "ties", 1)
  end)

  it("weight pairs by swaps in long lists, and with other steepness and persistence", function()
    agrees(1000, "normal", 1, nil, true)
    agrees(33, "normal", 2.5, { p = 0.8 })
    agrees(32, "ties", 0.5, { p = 0.5 })
  end)

  it("count grades below 1 in nDCG and DCG, but not in AP", function()
    local gain, far, tied = 2 ^ 0.5 - 1, 1 - 1 / math.log(3, 2), mr.tensor{ 0, 0 }
    local swaps = { dcg = { gain * far, (3 - gain) * far }, ap = { 0, 0.5 } }
    swaps.ndcg = { far, swaps.dcg[2] / (3 + gain / math.log(3, 2)) }
    for metric, change in pairs(swaps) do
      local loss = mr.losses.lambdarank{ metric = metric }
      for i, grades in ipairs{ { 0.5, 0 }, { 2, 0.5 } } do
        near(loss(tied, mr.lists{ grades }):item(), change[i] * math.log(2), 1e-6, metric)
      end
    end
  end)

  it("have right gradients if no rank changes", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    for _, name in ipairs(all_names) do
      local loss = loss_of(name, { steepness = 2 })
      check(mr.gradcheck(function(x) return loss(x, lists) end, scores) < 1e-6, tostring(name))
    end
  end)

  it("give a list the same value alone, in a batch and with shuffled rows", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
    for _, name in ipairs(all_names) do
      local all = loss_of(name)(scores, lists):totable()
      for l = 1, lists.count do
        local number = mr.tensor({ l }, { dtype = "int64", device = "cpu" })
        local rows = lists:rows_of(number):to(scores.device)
        local of_list = loss_of(name)(scores:rows(rows), lists:select(number)):item()
        equal(of_list, all[l], ("list %d, %s"):format(l, tostring(name)))
      end
      local order = mr.tensor({ 4, 2, 5, 1, 3 }, { dtype = "int64" })
      local some, grades = mr.tensor({ 0.5, -1, 2, 0.25, 0.75 }, f64), { 1, 0, 0.5, 2, 0 }
      local reordered = loss_of(name)(some:rows(order), mr.lists{ { 2, 0, 0, 1, 0.5 } }):item()
      near(reordered, loss_of(name)(some, mr.lists{ grades }):item(), 1e-14)
    end
  end)

  it("stay finite if scores are far apart or infinite and the pair is in the right order", function()
    local lists = mr.lists{ { 1, 0, 1, 0 } }
    for _, name in ipairs(all_names) do
      local loss = loss_of(name)
      for _, far in ipairs{ 1e30, math.huge } do
        local scores = mr.tensor({ far, -far, far, 0 }, f64)
        local value, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
        equal(value:item(), 0.0, tostring(name))
        near(grad, { 0, 0, 0, 0 }, 0)
      end
    end
  end)
end)

describe("pairwise losses on lists without pairs", function()
  it("give 0 without gradient, and do not count such lists", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 6, dtype = "float64" })
    local binary, graded = { 1, 0, 0, 0, 0, 0, 1 }, { 1, 0, 0, 0, 0, 1, 1 }
    local size = lists.sizes:totable()
    for _, name in ipairs(names) do
      for _, bound in ipairs{ "none", "minmax" } do
        local counted = (name == "ndcg" or name == "pairs") and graded or binary
        local loss = loss_of(name, { bound = bound })
        local value, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
        local values, slopes, at, number = value:totable(), grad:totable(), 0, 0
        for l = 1, lists.count do
          local moved = false
          for i = at + 1, at + size[l] do moved = moved or slopes[i] ~= 0 end
          at = at + math.tointeger(size[l])
          number = number + counted[l]
          local where = ("list %d under %s %s"):format(l, name, bound)
          check(moved == (counted[l] == 1), "gradient of " .. where)
          check((values[l] ~= 0) == (counted[l] == 1), where)
        end
        equal(loss:count(lists), number)
        near(loss:mean(scores, lists):item(), value:sum():item() / number, 1e-14)
      end
    end
  end)

  it("have mean 0 without gradient if no list counts", function()
    local lists = mr.lists{ { 0, 0 }, { 1 }, {} }
    for _, name in ipairs(names) do
      local loss, scores = loss_of(name), mr.tensor({ 3, 1, 2 }, f64)
      local value, grad = value_and_gradient(function(x) return loss:mean(x, lists) end, scores)
      equal(value:item(), 0.0)
      near(grad, { 0, 0, 0 }, 0)
    end
  end)
end)

describe("pairwise losses under a bound", function()
  local relevance = { { 1, 0, 0, 1 }, { 0, 0, 0 }, { 2, 0, 1, 0, 0 }, { 1, 0 } }
  local lists = mr.lists(relevance)
  local scores = mr.normal({ lists.rows }, { seed = 7, dtype = "float64" })
  local of = { pairs = "wrong_pairs" }
  for name, metric in pairs(metrics) do of[name] = metric end

  local slope_of = {
    minmax = function(s) return 1 / (s.max - s.min) end,
    expectation = function(s) return 1 / s.expectation end,
    expectation_max = function(s) return 1 / math.abs(s.best - s.expectation) end,
    zscore = function(s) return 1 / s.sd end,
  }

  it("equal each list's loss times the slope of the bound", function()
    for _, name in ipairs(names) do
      local plain = loss_of(name)(scores, lists):totable()
      for bound, slope in pairs(slope_of) do
        local found = loss_of(name, { bound = bound })(scores, lists):totable()
        for l, grades in ipairs(relevance) do
          local factor = l == 2 and 0 or slope(mr.bounds.of(of[name], { grades = grades }))
          near(found[l], factor * plain[l], { rtol = 1e-12, atol = 0 }, ("%s %s, list %d"):format(name, bound, l))
        end
        check(mr.gradcheck(function(x) return loss_of(name, { bound = bound })(x, lists) end, scores) < 1e-6)
      end
    end
  end)

  it("take a curved bound's slope at the exact value, or at the expectation with slope_at", function()
    local function squared(score) return score * score / 2 end
    for _, name in ipairs(names) do
      local plain, exact = loss_of(name)(scores, lists):totable(), mr.metrics.parse(of[name])(scores, lists):totable()
      for _, at in ipairs{ "value", "expectation" } do
        local own = loss_of(name, { bound = squared, slope_at = at })(scores, lists):totable()
        local steep = loss_of(name, { bound = "distribution", slope_at = at })(scores, lists):totable()
        for l, grades in ipairs(relevance) do
          local where = ("%s, list %d, %s"):format(name, l, at)
          if l == 2 then
            equal({ own[l], steep[l] }, { 0.0, 0.0 }, where)
          else
            local s, list = mr.bounds.of(of[name], { grades = grades }), mr.lists{ grades }
            local point = at == "value" and exact[l] or s.expectation
            near(own[l], point * plain[l], { rtol = 1e-12, atol = 1e-15 }, where)
            local function bounded(x)
              return mr.bounds.resolve("distribution").apply(mr.tensor({ x }, f64), of[name], list):item()
            end
            local step = 1e-4 * (s.max - s.min)
            local slope = (bounded(point + step) - bounded(point - step)) / (2 * step)
            near(steep[l], slope * plain[l], { rtol = 1e-4, atol = 0 }, where .. ", distribution")
          end
        end
      end
    end
  end)
end)

describe("mr.losses.lambdarank and mr.losses.ranknet", function()
  it("have the name, the bound and the metric as fields", function()
    local plain, bounded = mr.losses.lambdarank(), mr.losses.lambdarank{ metric = "nrbp", p = 0.8, bound = "minmax" }
    equal({ plain.name, plain.bound_name, plain.metric }, { "lambdarank", "none", "ndcg" })
    equal({ bounded.name, bounded.bound_name, bounded.metric }, { "lambdarank", "minmax", "nrbp(0.8)" })
    local ranknet = mr.losses.ranknet{ bound = "expectation" }
    equal({ ranknet.name, ranknet.bound_name, ranknet.metric }, { "ranknet", "expectation", "auc" })
    equal(tostring(ranknet), "ranknet loss, bound expectation")
    for name, metric in pairs(metrics) do equal(mr.metrics.parse(loss_of(name).metric).name, metric) end
  end)

  it("train a network to rank better than before", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 10, noise = 0.2 }
    queries = queries:standardize():to(mr.device())
    for _, name in ipairs(names) do
      local loss = loss_of(name, { bound = name ~= "rr" and "minmax" or nil })
      local model = mr.models.mlp{ inputs = 10, hidden = { 8 }, seed = 4 }
      local before = mr.evaluate(model(queries), queries.lists, { loss.metric }).mean[loss.metric]
      local run = mr.fit{ model = model, loss = loss, train = queries, test = queries,
        optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 20, batch = 20, metrics = { loss.metric }, progress = false }
      local after = run.test.mean[loss.metric]
      check(after > before + 0.05, ("%s: %s was %.3f, is %.3f"):format(name, loss.metric, before, after))
    end
  end)

  it("refuse unknown metrics, bounds and options, and wrong scores", function()
    raises(function() mr.losses.lambdarank{ metric = "ndgc" } end, "'ndgc'", "'ndcg'")
    raises(function() mr.losses.lambdarank{ metric = "rbp", p = 1 } end, "p", "1")
    raises(function() mr.losses.lambdarank{ metric = "ap", p = 0.5 } end, "p", "metric", "'ap'")
    raises(function() mr.losses.lambdarank{ bound = "minmx" } end, "'minmx'", "'minmax'")
    raises(function() mr.losses.ranknet{ margin = 1 } end, "mr.losses.ranknet", "'margin'")
    local lists = mr.lists{ { 1, 0 } }
    raises(function() mr.losses.lambdarank()(mr.tensor{ 1, 0 / 0 }, lists) end, "scores", "NaN", "2")
    raises(function() mr.losses.lambdarank()(mr.tensor{ 1, 2, 3 }, lists) end, "scores", "3", "lists", "2")
    raises(function() mr.losses.lambdarank{ metric = "bpref" } end, "'bpref'", "swap", "rows")
    raises(function() mr.losses.lambdarank{ metric = "precision" } end, "'precision'", "'precision@10'")
    raises(function() mr.losses.lambdarank{ metric = mr.metrics.rbp{}, p = 0.5 } end, "p", "'rbp'")
  end)
end)
