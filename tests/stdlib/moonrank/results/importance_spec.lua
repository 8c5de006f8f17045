-- Tests parameter importance: trees against sums over whole grids, and shares against functions with known variance.
local mr = require "moonrank"
local forest = require "moonrank.results.forest"
local importance = require "moonrank.results.importance"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local says = require "tests.support.says"
local test = require "moonrank.test"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

local function uniform(count, seed, stream)
  return mr.uniform({ count }, { seed = seed, stream = stream, dtype = "float64" }):totable()
end

-- Returns made-up parameters with these numbers of cells of unequal probability, and random trials. Every third
-- parameter is unordered.
local function made_up(sizes, count, seed)
  local dimensions = {}
  for j, size in ipairs(sizes) do
    local weights, codes, sum = uniform(size, seed, "weights" .. j), {}, 0
    for c = 1, size do
      weights[c] = weights[c] + 0.1
      sum = sum + weights[c]
    end
    for c = 1, size do weights[c] = weights[c] / sum end
    for i, u in ipairs(uniform(count, seed, "codes" .. j)) do codes[i] = math.min(size, math.floor(u * size) + 1) end
    dimensions[j] = { name = "p" .. j, codes = codes, weights = weights, ordered = j % 3 ~= 0 }
  end
  return dimensions, uniform(count, seed, "y")
end

-- Returns the value of a regression tree at a combination of cells. Raises an error unless exactly one leaf contains
-- it.
local function value_at(leaves, cells)
  local found
  for _, leaf in ipairs(leaves) do
    local inside = true
    for j, runs in pairs(leaf.runs) do
      local within = false
      for r = 1, #runs, 2 do within = within or cells[j] >= runs[r] and cells[j] <= runs[r + 1] end
      inside = inside and within
    end
    if inside then
      assert(not found, "two leaves")
      found = leaf.value
    end
  end
  return assert(found, "no leaf")
end

-- Averages a function over all cells of the parameters that are not in `kept`, for each combination of cells of those
-- in `kept`, and sums the probabilities of these combinations.
local function marginal(dimensions, f, kept)
  local means, shares = {}, {}
  local function walk(j, cells, share, key, own)
    if j > #dimensions then
      means[key], shares[key] = (means[key] or 0) + share * f(cells), (shares[key] or 0) + share
      return
    end
    for c, weight in ipairs(dimensions[j].weights) do
      cells[j] = c
      walk(j + 1, cells, share * weight, kept[j] and key .. c .. "," or key, own)
    end
  end
  walk(1, {}, 1.0, "")
  local mean, square = 0, 0
  for key, share in pairs(shares) do
    mean = mean + means[key]
    square = square + means[key] ^ 2 / share
  end
  return square - mean ^ 2, mean
end

describe("forest.tree", function()
  it("decomposes variance like sums over the whole grid", function()
    for seed, sizes in ipairs{ { 4, 5, 3 }, { 6, 1, 4, 3 }, { 2, 7, 5 }, { 9, 3, 6, 2 } } do
      for _, leaf in ipairs{ 1, 4 } do
        local dimensions, y = made_up(sizes, 60, seed)
        local weight = {}
        for i, u in ipairs(uniform(60, seed, "drawn")) do weight[i] = math.floor(3 * u) end
        local leaves = forest.tree(dimensions, y, weight, leaf)
        check(#leaves > 5, "grown")
        local found = forest.variance(dimensions, leaves)
        local function f(cells) return value_at(leaves, cells) end
        local all = {}
        for j = 1, #sizes do all[j] = true end
        local total, mean = marginal(dimensions, f, all)
        near({ found.variance, found.mean }, { total, mean }, 1e-12)
        for j = 1, #sizes do
          local own = marginal(dimensions, f, { [j] = true })
          near(found.single[j], own, 1e-12)
          for k = j + 1, #sizes do
            near(found.pair[j][k], marginal(dimensions, f, { [j] = true, [k] = true }) - own
              - marginal(dimensions, f, { [k] = true }), 1e-12)
          end
        end
      end
    end
  end)

  it("has the means of its trials in its leaves, each with at least the minimum weight", function()
    local dimensions, y = made_up({ 8, 8, 4 }, 200, 5)
    local weight = {}
    for i = 1, 200 do weight[i] = i % 3 end
    for _, leaf in ipairs(forest.tree(dimensions, y, weight, 7)) do
      local total, sum = 0, 0
      for i = 1, 200 do
        local cells = {}
        for j = 1, 3 do cells[j] = dimensions[j].codes[i] end
        if pcall(value_at, { leaf }, cells) then total, sum = total + weight[i], sum + weight[i] * y[i] end
      end
      check(total >= 7, total)
      near(leaf.value, sum / total, 1e-12)
    end
  end)

  it("splits where squared errors fall most, by any subset of categories", function()
    local codes, y, weight = {}, {}, {}
    for i = 1, 60 do
      codes[i], weight[i] = (i - 1) % 6 + 1, 1
      y[i] = (codes[i] == 2 or codes[i] == 5) and 1 or 0
    end
    local weights = { 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6 }
    local leaves = forest.tree({ { name = "c", codes = codes, weights = weights, ordered = false } }, y, weight, 1)
    equal(#leaves, 2)
    equal(leaves[1].runs[1], { 1, 1, 3, 4, 6, 6 })
    equal(#forest.tree({ { name = "c", codes = codes, weights = weights, ordered = true } }, y, weight, 1), 5)
  end)
end)

-- Returns the importance of parameters, uniform on [0, 1], for a function of their values. Trials are tables of columns
-- by name.
local function of(names, f, options)
  local o = options or {}
  local count = o.trials or 1500
  local columns, rows, y, dimensions, space = {}, {}, {}, {}, {}
  for _, name in ipairs(names) do columns[name] = uniform(count, 3, name) end
  for i = 1, count do
    local params = {}
    for _, name in ipairs(names) do params[name] = columns[name][i] end
    rows[i], y[i] = i, f(params)
  end
  for _, name in ipairs(names) do space[#space + 1] = name .. " = uniform(0, 1)" end
  for _, name in ipairs(names) do
    dimensions[#dimensions + 1] = importance.dimension(table.concat(space, "\n"), name, columns[name], rows)
  end
  return importance.of(dimensions, y, { metric = "m", trees = o.trees or 16, seed = o.seed or 1, leaf = o.leaf })
end

local function by_name(found)
  local shares = {}
  for _, each in ipairs(found.parameters) do shares[each.name] = each.share end
  for _, each in ipairs(found.pairs) do shares[each.first .. each.second] = each.share end
  return shares
end

describe("importance shares", function()
  it("of a sum are the variance shares of its terms", function()
    local found = of({ "a", "b", "c" }, function(p) return 7 - p.a + 2 * p.b end)
    local shares = by_name(found)
    near({ shares.a, shares.b, shares.c, shares.ab, found.rest }, { 0.2, 0.8, 0, 0, 0 }, 0.02)
    equal({ found.parameters[1].name, found.trials, found.trees }, { "b", 1500, 16 })
    check(found.parameters[1].sd < 0.02, found.parameters[1].sd)
  end)

  it("of a product match its variance decomposition", function()
    -- x y, where both have mean 1/2 and variance 1/12: each alone has variance 1/48, the interaction 1/144, so the
    -- shares are 3/7, 3/7, 1/7
    local shares = by_name(of({ "a", "b" }, function(p) return p.a * p.b end))
    near({ shares.a, shares.b, shares.ab }, { 3 / 7, 3 / 7, 1 / 7 }, 0.02)
    -- factors with mean 0 have no effect alone, so a greedy tree finds their product only with small leaves
    shares = by_name(of({ "a", "b" }, function(p) return (p.a - 0.5) * (p.b - 0.5) end, { leaf = 1 }))
    near({ shares.a, shares.b, shares.ab }, { 0, 0, 1 }, 0.06)
  end)

  it("of step and sine functions match their variances", function()
    -- a step at 0.3 has variance 0.21, and a sine over one period 1/2
    local shares = by_name(of({ "a", "b" }, function(p)
      return (p.a > 0.3 and 1 or 0) + math.sin(2 * math.pi * p.b)
    end))
    near({ shares.a, shares.b, shares.ab }, { 0.21 / 0.71, 0.5 / 0.71, 0 }, 0.03)
  end)

  it("add up to one, do not depend on parameter order, and differ by seed", function()
    local function f(p) return p.a * p.b + p.c ^ 2 * p.a + p.d end
    local one, other = of({ "a", "b", "c", "d" }, f, { trials = 300 }), of({ "d", "b", "c", "a" }, f, { trials = 300 })
    local sum = one.rest
    for _, share in pairs(by_name(one)) do sum = sum + share end
    near(sum, 1, 1e-12)
    for i, each in ipairs(one.parameters) do
      equal(other.parameters[i].name, each.name)
      near(other.parameters[i].share, each.share, 1e-12)
    end
    equal(of({ "a", "b", "c", "d" }, f, { trials = 300 }):to_json(), one:to_json())
    check(of({ "a", "b", "c", "d" }, f, { trials = 300, seed = 2 }):to_json() ~= one:to_json(), "another seed")
    -- shares do not depend on location and scale of the metric
    local far = of({ "a", "b", "c", "d" }, function(p) return 100 + 7 * f(p) end, { trials = 300 })
    near(far.parameters[1].share, one.parameters[1].share, 1e-6)
  end)
end)

local folder = files.new_folder()

local function study(name, space, run, options)
  local o = { name = name, store = folder .. "/r.db", progress = false, workers = 0, space = space, metric = "m",
    sampler = "random", direction = "maximize", trials = 400, seed = 3, run = run }
  for key, value in pairs(options or {}) do o[key] = value end
  return mr.sweep(o)
end

describe("results:importance", function()
  it("uses logarithmic, integer and choice axes of the search space", function()
    local space = { lr = mr.loguniform(1e-4, 1), n = mr.integer(1, 100, { log = true }), k = mr.range(1, 5),
      size = mr.choice{ 16, 64, 1024 }, loss = mr.choice{ "ap", "ndcg", "rr" }, flag = mr.choice{ true, false } }
    -- Each term of m has variance 1 over its parameter: log-uniform, five whole numbers, three levels, three names, two
    -- flags.
    local function run(t)
      return { m = (math.log(t.lr, 10) + 2) * 12 ^ 0.5 / 4 + (t.k - 3) / 2 ^ 0.5
        + (t.size == 16 and -1 or t.size == 64 and 0 or 1) / (2 / 3) ^ 0.5
        + (t.loss == "ndcg" and 1 or 0) / (2 / 9) ^ 0.5 + (t.flag and 2 or 0) }
    end
    local r = study("axes", space, run, { trials = 2000, sampler = "sobol" })
    local shares = by_name(r:importance{ trees = 8 })
    near({ shares.lr, shares.k, shares.size, shares.loss, shares.flag }, { 0.2, 0.2, 0.2, 0.2, 0.2 }, 0.02)
    near(shares.n, 0, 0.01)
    equal(#r:importance{ trees = 2, where = { loss = "ndcg" } }.parameters, 6)
    near(by_name(r:importance{ trees = 8, where = { loss = "ndcg" } }).loss, 0, 0)
  end)

  it("gives conditional parameters no effect where they do not apply", function()
    -- m = 0 for kind "flat", and 1 + sin(2 pi depth) for "deep". The sine has variance 1/2. So kind has variance 1/4,
    -- depth 1/8 (its mean over kinds is half the sine), and their interaction 1/8.
    local space = { kind = mr.choice{ "flat", "deep" }, mr.when("kind", "deep", { depth = mr.uniform(0, 1) }) }
    local r = study("when", space, function(t)
      return { m = t.kind == "deep" and 1 + math.sin(2 * math.pi * t.depth) or 0 }
    end, { trials = 1500 })
    local shares = by_name(r:importance{ trees = 8 })
    near({ shares.kind, shares.depth, shares.depthkind }, { 0.5, 0.25, 0.25 }, 0.03)
  end)

  it("counts pruned trials at a step that they reached", function()
    local r = study("pruned", { a = mr.uniform(0, 1), b = mr.uniform(0, 1) }, function(t)
      for step = 1, 9 do t:report(step, { m = step == 1 and t.a or t.a + 2 * t.b }) end
      return { m = t.a + 2 * t.b }
    end, { pruner = { "hyperband", max_resource = 9 }, trials = 900 })
    local done = r:counts().done
    check(done < 400 and r:counts().pruned == 900 - done, "most are pruned")
    local at = r:importance{ step = 1, trees = 4 }
    equal(at.trials, #r:trials{ states = { "done", "pruned" } }.rows)
    near(by_name(at).a, 1, 0.01)
    equal(r:importance{ trees = 4 }.trials, done)
    check(tostring(at):find("m at step 1", 1, true), "says so")
    raises(function() r:importance{ step = 10 } end, "trials", "10")
  end)

  it("exports text, tables and a plot", function()
    local space = { a = mr.uniform(0, 1), b_x = mr.uniform(0, 1) }
    local found = study("out", space, function(t) return { m = t.a * t.b_x, o = t.a } end):importance{}
    local text = tostring(found)
    says(text, "mr.Importance of m", "32 trees", "400 trials", "a × b_x", "three and more")
    equal(select(2, found:to_csv():gsub("\n", "")), 4)
    check(found:to_latex():find("b\\_x", 1, true), "LaTeX")
    check(found:to_markdown():find("| a × b_x |", 1, true), "Markdown")
    sweeps.write(folder .. "/out.json", found:to_json())
    local read = dofile "tests/support/json.lua".read(folder .. "/out.json")
    equal({ #read, read[1].parameter }, { 3, found.parameters[1].name })
    equal(tostring(found:plot()), "mr.Figure bars: 1 series, 'out'")
    equal(mr.results(folder .. "/r.db", "out"):importance{ value = "o" }.parameters[1].name, "a")
  end)

  it("handles values as large or small as doubles can be", function()
    local space = { a = mr.uniform(0, 1), b = mr.uniform(0, 1) }
    local shares = {}
    for _, times in ipairs{ 1, 2 ^ 1020, 2 ^ -1040 } do
      local function sum(t) return { m = times * (t.a + t.b) } end
      local r = study(("times %g"):format(times), space, sum, { trials = 40 })
      shares[#shares + 1] = by_name(r:importance{}).a
    end
    near(shares, { shares[1], shares[1], shares[1] }, 1e-6)
  end)

  it("names invalid options and too few trials", function()
    local space, run = { a = mr.uniform(0, 1), b = mr.uniform(0, 1) }, function(t) return { m = t.a, same = 3 } end
    local few, r = study("few", space, run, { trials = 9 }), study("many", space, run, { trials = 40 })
    raises(function() few:importance() end, "9", "trials", "10", "2")
    raises(function() r:importance{ value = "same" } end, "same", "3", "40")
    raises(function() r:importance{ value = "mm" } end, "results:importance", "'mm'")
    raises(function() r:importance{ trees = 0 } end, "trees", "0")
    raises(function() r:importance{ leaf = 0.5 } end, "leaf", "0.5")
    raises(function() r:importance{ tree = 5 } end, "'tree'", "'trees'")
    raises(function() r:importance{ leaf = 30 } end, "results:importance", "32")
    raises(function() r:importance{ where = { number = { 1, 2 } } } end, "trials", "10")
  end)
end)
