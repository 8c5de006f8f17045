-- Tests scripts on statements of the thesis outside its tables, with --smoke on made-up data: they must show the
-- numbers of the store.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local equal, check, near = test.equal, test.check, test.near

local function smoke(folder, name)
  return (scripts.run(folder, ("thesis/%s.lua"):format(name), "--smoke --workers 0"))
end

local function study(folder, name) return mr.results(folder .. "/results/thesis/smoke.db", name .. ", made-up data") end

-- Returns the values per list of the only trial with these parameters.
local function values_of(results, where, metric)
  local columns = results:columns()
  local rows = columns:rows("spec", where)
  equal(#rows, 1)
  return results:per_list(columns:column("number")[rows[1]], metric):totable()
end

local function numbers(text)
  local found = {}
  for word in text:gmatch "%S+" do found[#found + 1] = tonumber(word) end
  return found
end

scripts.it("why_curves_differ.lua --smoke shows the store's means, and a change as the sum of its parts",
  { "gnuplot" }, function(folder)
  local out = smoke(folder, "why_curves_differ")
  local results = study(folder, "nDCG by cut-off, mq2008, seed 1")
  local rows, relevant = values_of(results, {}, "rows"), values_of(results, {}, "relevant")
  local function counts(l) return relevant[l] > 0 and relevant[l] < rows[l] end
  -- columns: lists, two medians, three shares, nDCG at 1, 5 and 10, the change from 1 to 10 and its two parts, chance
  -- at 1 and 10
  local n = numbers(out:match "features, label 2 +(%d+ +%d+[^\n]+)")
  near({ n[7], n[8], n[9] }, { mean(values_of(results, {}, "ndcg@1"), counts),
    mean(values_of(results, {}, "ndcg@5"), counts), (mean(values_of(results, {}, "ndcg@10"), counts)) }, 5e-5)
  near(n[11] + n[12], n[10], 2e-4)
  near(n[9] - n[7], n[10], 2e-4)
  local lists = {}
  for l, size in ipairs(rows) do
    if counts(l) then
      local grades = {}
      for i = 1, size do grades[i] = i <= relevant[l] and 1 or 0 end
      lists[#lists + 1] = grades
    end
  end
  equal(n[1], #lists)
  lists = mr.lists(lists)
  local function tied(k) return mr.metrics.ndcg(mr.zeros({ lists.rows }), lists, { k = k }):mean():item() end
  near({ n[13], n[14] }, { tied(1), tied(10) }, 1e-3)
end)

scripts.it("cutoffs.lua thins lists to shapes of the other data set", { "gnuplot" }, function(folder)
  smoke(folder, "why_curves_differ")
  local other, shapes = study(folder, "nDCG by cut-off, mq2008, seed 1"), {}
  local rows, relevant = values_of(other, {}, "rows"), values_of(other, {}, "relevant")
  for l, n in ipairs(rows) do shapes[n .. " " .. relevant[l]] = true end
  local results = study(folder, "nDCG by cut-off, movielens, seed 1")
  rows, relevant = values_of(results, {}, "thinned rows"), values_of(results, {}, "thinned relevant")
  check(#rows > 10, #rows .. " lists")
  for l, n in ipairs(rows) do
    check(shapes[n .. " " .. relevant[l]], ("%g rows, %g relevant"):format(n, relevant[l]))
  end
end)

scripts.it("table_5_1_nrbp.lua --smoke shows the store's means by persistence, and counts equal signs",
  {}, function(folder)
  local out = smoke(folder, "table_5_1_nrbp")
  local results = study(folder, "nRBP, movielens, seed 1")
  equal(results:counts(), { done = 21 })
  local first = out:match "^.-\n\n"
  for _, bound in ipairs{ "none", "minmax", "distribution_logit" } do
    local n = numbers(first:match("nRBP +" .. bound .. " +([^\n]+)"))
    local width = bound == "none" and 1 or 3
    for i, metric in ipairs{ "nrbp(0.95)", "nrbp(0.9)", "nrbp(0.8)" } do
      near(n[(i - 1) * width + 1], mean(values_of(results, { loss = "nrbp", bound = bound }, metric)), 5e-5)
    end
  end
  local same = 0
  for line in first:gmatch "nRBP +[%w_]+ +([^\n]+)" do
    local n = numbers(line)
    if #n == 9 and n[2] * n[8] > 0 then same = same + 1 end
  end
  equal(tonumber(out:match "made%-up ratings +nRBP +nRBP%(0%.8%) +6 +(%d)"), same)
end)

scripts.it("optimisers.lua --smoke shows the store's means, and the best rate on validation and its neighbours",
  { "gnuplot" }, function(folder)
  local out = smoke(folder, "optimisers")
  local results = study(folder, "optimisers, mq2008, seed 1")
  equal(results:counts(), { done = 30 })
  local at = assert(out:find "made%-up queries")
  local adam, sgd, difference = out:match("AP +minmax +([%d.]+) +([%d.]+) +([+-][%d.]+)", at)
  local own = {}
  for _, optimiser in ipairs{ "adam", "sgd" } do
    own[optimiser] = mean(values_of(results, { loss = "ap", bound = "minmax", optimiser = optimiser }, "own"))
  end
  near({ tonumber(adam), tonumber(sgd) }, { own.adam, own.sgd }, 5e-5)
  near(tonumber(difference), own.sgd - own.adam, 5e-5)
  local best, highest = nil, -1
  local function see(name, exponent_of)
    local columns = study(folder, name .. ", mq2008, seed 1"):columns()
    for _, row in ipairs(columns:rows("spec", { loss = "ap", bound = "minmax", optimiser = "sgd" })) do
      local valid, exponent = columns:column("valid")[row], exponent_of(columns, row)
      if valid > highest then best, highest = exponent, valid end
    end
  end
  see("rates of optimisers", function(columns, row) return columns:column("exponent")[row] end)
  local coarse = best
  see("finer rates of optimisers", function(columns, row) return coarse + columns:column("step")[row] end)
  at = assert(out:find("rate, SGD", 1, true))
  at = assert(out:find("made%-up queries", at))
  local rate = out:match("AP +minmax +[%d.e-]+[ (edg)]+%d of %d +%d+ +([%d.e-]+)", at)
  near(tonumber(rate) / 10 ^ (best / 2), 1, 0.05)
end)

scripts.it("sampled_expectations.lua --smoke shows the store's means, and draws means near the expectation",
  {}, function(folder)
  local out = smoke(folder, "sampled_expectations")
  local results = study(folder, "drawn expectations, movielens, seed 1")
  local exact = mean(values_of(results, { loss = "ap", bound = "expectation", samples = 0 }, "own"))
  local few = mean(values_of(results, { loss = "ap", bound = "expectation", samples = 10 }, "own"))
  near(tonumber(out:match "AP +expectation +exact +([%d.]+)"), exact, 5e-5)
  near(tonumber(out:match "AP +expectation +10 +[%d.e-]+ +[%d.e-]+ +[%d.]+ +([+-][%d.]+)"), few - exact, 5e-5)
  local drawn = dofile "scripts/thesis/drawn.lua"
  for _, metric in ipairs{ "ndcg", "ap", "nrbp_loss" } do
    local known = mr.bounds.of(metric, { n = 30, p = 10 })
    near(drawn.mean_of(metric, 30, 10, 10000), known.expectation, 5 * known.sd / 100)
  end
end)

scripts.it("stronger_models.lua keeps the runs of each recipe apart in one store, with --force too",
  {}, function(folder)
  local function table_of(words)
    local out = scripts.run(folder, "thesis/stronger_models.lua", "--smoke --workers 0 " .. words)
    return (out:gsub("^.-\n(loss)", "%1"))
  end
  local honest = table_of ""
  local published = table_of "--recipe published"
  local store = folder .. "/results/thesis/smoke.db"
  for _, name in ipairs{ "rates of stronger models", "stronger models" } do
    local recipes = {}
    for _, each in ipairs{ "", ", published" } do
      local study_name = ("%s, seed 1%s, made-up data"):format(name, each)
      recipes[#recipes + 1] = mr.results(store, study_name).study.settings:match "recipe = [\"']?(%a+)"
    end
    equal(recipes, { "honest", "published" })
  end
  equal(table_of "--force --recipe published", published)
  equal(table_of "--force", honest)
end)

scripts.it("training.study tells runs with another number of random orders apart", {}, function()
  local training, experiment = dofile "scripts/thesis/training.lua", mr.experiment
  local make, found = experiment.study, nil
  rawset(experiment, "study", function(_, o)
    found = o.name
    return o
  end)
  local function name(recipe, samples, small)
    training.study({ recipe = recipe, samples = samples, smoke = small }, { name = "s" })
    return found
  end
  local ok, problem = pcall(equal, { name("honest", 300000), name("published", 300000), name("honest", 100),
    name("published", 100), name("honest", 1000, true), name() },
    { "s", "s, published", "s, 100 samples", "s, published, 100 samples", "s", "s" })
  rawset(experiment, "study", make)
  check(ok, problem)
end)
