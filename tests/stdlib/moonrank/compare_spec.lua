-- Tests comparisons of systems: p-values against enumeration of all signs, and matching of runs and files by name.
local mr = require "moonrank"
local files = require "tests.support.files"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local file, new_path = files.written, files.new_path

-- Returns the share of all choices of signs for which the mean of the differences is at least as far from 0 as
-- observed.
local function by_all_signs(differences)
  local kept, observed = {}, 0
  for _, d in ipairs(differences) do
    observed = observed + d
    if d ~= 0 then kept[#kept + 1] = d end
  end
  local far = 0
  for signs = 0, (1 << #kept) - 1 do
    local sum = 0
    for i, d in ipairs(kept) do sum = sum + ((signs >> (i - 1)) & 1 == 1 and d or -d) end
    if math.abs(sum) >= math.abs(observed) - 1e-12 then far = far + 1 end
  end
  return far / (1 << #kept)
end

-- Returns judged lists of 6 rows, and scores that put the relevant row of each list at a given rank.
local function scores_of(ranks)
  local scores = {}
  for _, rank in ipairs(ranks) do
    for i = 1, 6 do scores[#scores + 1] = i == 1 and -rank or -(i - 1 >= rank and i or i - 1) end
  end
  return mr.tensor(scores)
end

local function judged(count)
  local lists = {}
  for i = 1, count do lists[i] = { 1, 0, 0, 0, 0, 0 } end
  return mr.lists(lists)
end

local ranks = {
  a = { 1, 1, 2, 1, 1, 3, 1, 1, 2, 1 },
  b = { 2, 3, 2, 4, 2, 3, 5, 2, 6, 2 },
  c = { 3, 3, 2, 4, 6, 3, 5, 6, 6, 2 },
}

it("mr.compare gives means, exact p over all signs, Holm's correction and letters of better systems", function()
  local lists = judged(10)
  local c = mr.compare{ a = scores_of(ranks.a), b = scores_of(ranks.b), c = scores_of(ranks.c), qrels = lists,
    metrics = { "recip_rank" } }
  equal({ c.systems, c.count }, { { "a", "b", "c" }, 10 })
  local ps, order = {}, { { "a", "b" }, { "a", "c" }, { "b", "c" } }
  for i, pair in ipairs(order) do
    local differences = {}
    for l = 1, 10 do differences[l] = 1 / ranks[pair[1]][l] - 1 / ranks[pair[2]][l] end
    ps[i] = by_all_signs(differences)
    equal({ c.pairs[i].system, c.pairs[i].other, c.pairs[i].n }, { pair[1], pair[2], 10 })
    near(c.pairs[i].p, ps[i], 1e-12)
  end
  -- Holm's correction of three p-values: the smallest is multiplied by 3, the next by 2, and none becomes smaller than
  -- the one before
  local sorted = { table.unpack(ps) }
  table.sort(sorted)
  local largest, corrected = 0, {}
  for i, p in ipairs(sorted) do
    largest = math.max(largest, math.min(1, (4 - i) * p))
    corrected[p] = largest
  end
  for i, pair in ipairs(c.pairs) do near(pair.corrected, corrected[ps[i]], 1e-12) end
  for name, own in pairs(ranks) do
    local sum = 0
    for _, rank in ipairs(own) do sum = sum + 1 / rank end
    local cell = c.cells.recip_rank[name]
    near(cell.mean, sum / 10, 1e-12)
    check(cell.low <= cell.mean and cell.mean <= cell.high and cell.n == 10)
    local same = mr.stats.bootstrap(c.values.recip_rank[name])
    equal({ cell.low, cell.high }, { same.low, same.high })
  end
  equal(c.cells.recip_rank.a.better_than, "bc")
  equal(c.cells.recip_rank.b.better_than, corrected[ps[3]] < 0.05 and "c" or "")
  equal(c.cells.recip_rank.c.better_than, "")
end)

it("mr.compare prefers lower values of minimised metrics, and gives equal systems no letters", function()
  local lists = judged(10)
  local c = mr.compare{ a = scores_of(ranks.a), b = scores_of(ranks.c), c = scores_of(ranks.c), qrels = lists,
    metrics = { "nrbp_loss" } }
  equal(c.cells.nrbp_loss.a.better_than, "bc")
  equal({ c.cells.nrbp_loss.b.better_than, c.cells.nrbp_loss.c.better_than }, { "", "" })
  check(c.cells.nrbp_loss.a.mean < c.cells.nrbp_loss.b.mean)
  equal(c.pairs[3].p, 1.0)
end)

it("mr.compare prints, and exports CSV, LaTeX, Markdown and a figure", function()
  local c = mr.compare{ ["100% & more"] = scores_of(ranks.a), systems = { seed = scores_of(ranks.c) },
    qrels = judged(10), metrics = { "map", "P_1" } }
  check(tostring(c):find("a  100%% & more  0%.8333 b %[0%.%d+, 1%.0000%]"), tostring(c))
  check(tostring(c):find "10 lists; a letter")
  local latex = c:to_latex()
  check(latex:find("100\\% \\& more & 0.8333\\textsuperscript{b} [", 1, true), latex)
  local lines = {}
  for line in c:to_csv():gmatch "[^\n]+" do lines[#lines + 1] = line end
  equal(lines[1], "metric,letter,system,mean,low,high,better than,lists")
  equal(#lines, 5)
  check(lines[2]:find "^ap,a,100%% & more,0%.833333333333333%d+,0%.%d+,.*,b,10$", lines[2])
  check(c:to_markdown():find("0.8333 b [", 1, true))
  says(tostring(c:tests()), "p corrected", "paired permutation test", "Holm")
  equal(tostring(c:plot()), "mr.Figure bars: 2 series")
end)

local function fitted(fold, loss, metrics)
  return mr.fit{ model = mr.models.mf{ users = 40, items = 200, factors = 4, seed = 1 }, loss = mr.losses[loss]{},
    train = fold.train, valid = fold.valid, test = fold.test, epochs = 1, progress = false, metrics = metrics }
end

local ratings = mr.data.synthetic{ users = 40, items = 200, mean_activity = 40, seed = 1 }:binarize(4)
local function folds() return ratings:min_relevant(5):folds{ k = 2, seed = 1 } end

it("mr.compare plots the asymmetric intervals as error bars", function()
  local good, bad = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 6 }, { 6, 6, 6, 6, 6, 6, 6, 6, 6, 1 }
  local c = mr.compare{ a = scores_of(good), b = scores_of(bad), qrels = judged(10), metrics = { "rr" } }
  local script = c:plot():script()
  for _, name in ipairs{ "a", "b" } do
    local cell = c.cells.rr[name]
    check(math.abs((cell.high - cell.mean) - (cell.mean - cell.low)) > 1e-3, "the case is symmetric")
    local found, before = 0, {}
    for line in script:gmatch "[^\n]+" do
      local x, y = line:match "^(%S+) (%S+)$"
      local ends = x and x == before.x and math.abs(before.y - cell.low) < 1e-6 and math.abs(y - cell.high) < 1e-6
      found, before = found + (ends and 1 or 0), { x = x, y = y }
    end
    check(found > 0, script)
  end
end)

it("mr.compare gives a run of mr.fit the same value per list as its scores in a file in any order", function()
  local fold = folds()[1]
  local model = mr.models.mf{ users = 40, items = 200, factors = 4, seed = 1 }
  local run = mr.fit{ model = model, loss = mr.losses.ndcg{}, train = fold.train, valid = fold.valid,
    test = fold.test, epochs = 1, progress = false, metrics = { "ndcg", "ap@5", "rr" } }
  local path, lines = new_path(), {}
  mr.data.scored(model, fold.test):to_trec_run(path)
  for line in io.lines(path) do table.insert(lines, 1, line) end
  local rows = { "qid,docid,score" }
  for _, line in ipairs(lines) do
    local query, document, score = line:match "^(%S+) Q0 (%S+) %d+ (%S+)"
    rows[#rows + 1] = ("%s,%s,%s"):format(query, document, score)
  end
  local c = mr.compare{ fit = run, trec = file(table.concat(lines, "\n")), csv = file(table.concat(rows, "\n"), ".csv"),
    other = run.test, qrels = fold.test }
  equal({ c.count, #c.metrics }, { fold.test.count, 3 })
  for _, metric in ipairs{ "ndcg", "ap@5", "rr" } do
    local values = c.values[metric]
    for _, name in ipairs{ "trec", "csv", "other" } do
      near(values[name]:double(), values.fit:double(), 1e-6, metric)
    end
    near(c.cells[metric].fit.mean, run.test.mean[metric], 1e-6)
  end
end)

it("mr.compare takes the queries that all systems have, or all judged queries with missing = 'zero'", function()
  local qrels = file "1 0 a 1\n2 0 a 1\n3 0 a 1\n3 0 b 0\n4 0 a 1\n"
  local x = file "1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n3 Q0 a 1 1 t\n9 Q0 a 1 1 t\n"
  local y = file "1 Q0 b 1 1 t\n3 Q0 b 1 2 t\n3 Q0 a 1 1 t\n9 Q0 a 1 1 t\n"
  local c = mr.compare{ x = x, y = y, qrels = qrels, metrics = { "map" } }
  equal({ c.queries, c.values.ap.x:totable(), c.values.ap.y:totable() }, { { "1", "3" }, { 1, 1 }, { 0, 0.5 } })
  c = mr.compare{ x = x, y = y, qrels = qrels, metrics = { "map" }, missing = "zero" }
  equal(c.queries, { "1", "2", "3", "4" })
  equal({ c.values.ap.x:totable(), c.values.ap.y:totable() }, { { 1, 1, 1, 0 }, { 0, 0, 0.5, 0 } })
end)

it("mr.compare notes queries that systems lack, and refuses systems without shared or relevant ones", function()
  local qrels = file "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 a 1\n"
  local x = file "1 Q0 a 1 1 t\n2 Q0 b 1 1 t\n3 Q0 a 1 1 t\n8 Q0 a 1 1 t\n9 Q0 a 1 1 t\n"
  local y = file "1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n"
  local c = mr.compare{ x = x, y = y, qrels = qrels, metrics = { "map" } }
  check(c.notes[1]:find "'x' has 2 queries" and c.notes[2]:find "'y' lacks 1 of the 3" and #c.notes == 2, tostring(c))
  check(tostring(c):find("\n'y' lacks 1 of the 3", 1, true))
  c = mr.compare{ x = x, y = y, qrels = qrels, metrics = { "map" }, missing = "zero" }
  says(c.notes[2], "'y'", "1 of the 3", "count 0")
  equal(mr.compare{ x = y, y = y, qrels = file "1 0 a 1\n2 0 a 1\n", metrics = { "map" } }.notes, {})
  local function refuses(text, ...)
    local words = { ... }
    for _, missing in ipairs{ "skip", "zero" } do
      raises(function() mr.compare{ x = x, y = file(text), qrels = qrels, metrics = { "map" }, missing = missing } end,
        table.unpack(words))
    end
  end
  refuses("q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n", "2", "'y'")
  refuses("q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n", "3", "'q1'", "'1'")
  refuses("1 Q0 d1 1 1 t\n2 Q0 d2 1 1 t\n3 Q0 d2 1 1 t\n", "3", "'y'")
  refuses("1 Q0 d1 1 1 t\n2 Q0 d2 1 1 t\n3 Q0 d2 1 1 t\n", "'d1'", "'a'")
  refuses("1 Q0 b 1 1 t\n2 Q0 b 1 1 t\n3 Q0 d2 1 1 t\n", "3", "relevant", "queries")
end)

it("mr.compare refuses scores of another part or another fold", function()
  local parts = folds()
  local model = mr.models.mf{ users = 40, items = 200, factors = 4, seed = 1 }
  local run = fitted(parts[1], "ndcg", { "ndcg" })
  for _, other in ipairs{ parts[1].valid, parts[1].train, parts[2].test } do
    local scores = mr.data.scored(model, other)
    raises(function() mr.compare{ ours = run, theirs = scores, qrels = parts[1].test } end, "'theirs'")
  end
end)

it("mr.compare refuses evaluations of folds with other candidates, seeds, parts or users", function()
  local parts = folds()
  local fold = parts[1]
  local a, b = mr.models.mf{ users = 40, items = 200, factors = 4, seed = 1 }, mr.models.popularity{ fold = fold }
  local function of(model, options, from) return (from or fold):evaluate(model, { "rr" }, options) end
  local c = mr.compare{ a = of(a), b = of(b) }
  equal({ c.count, c.systems }, { of(a).count, { "a", "b" } })
  local function refuses(words, x, y) raises(function() mr.compare{ a = x, b = y } end, table.unpack(words)) end
  refuses({ "'a'", "'b'" }, of(a), of(b, { candidates = "sampled" }))
  refuses({ "50", "candidates", "items" }, of(a, { candidates = "sampled", negatives = 50 }), of(b,
    { candidates = "sampled" }))
  refuses({ "seed", "2" }, of(a, { candidates = "sampled", seed = 2 }), of(b, { candidates = "sampled" }))
  refuses({ "'a'", "'b'" }, of(a), of(b, { part = "valid" }))
  local fewer = ratings:min_relevant(15):folds{ k = 2 }[1]
  refuses({ "'a'", "'b'", "users" }, of(a, { candidates = "sampled" }), of(b, { candidates = "sampled" }, fewer))
  refuses({ "'a'", "'b'", "data" }, of(a, { candidates = "sampled" }), of(b, { candidates = "sampled" }, parts[2]))
  refuses({ "rows", "lists" }, of(a), mr.evaluate(mr.ones(fold.test.lists.rows), fold.test.lists, { "rr" }))
end)

it("mr.compare refuses evaluations of other lists, and scores the rows of qrels with models", function()
  local function of(lists) return mr.evaluate(mr.ones(lists.rows), lists, { "ap" }) end
  local fold = folds()[1]
  equal(mr.compare{ a = of(judged(4)), b = of(judged(4)) }.count, 4)
  local first = { 1, 0, 0, 0, 0, 0 }
  local other = mr.lists{ first, first, first, { 0, 1, 0, 0, 0, 0 } }
  raises(function() mr.compare{ a = of(judged(4)), b = of(other) } end, "'a'", "'b'")
  local run, popularity = fitted(fold, "ap", { "ap" }), mr.models.popularity{ fold = fold }
  raises(function() mr.compare{ a = run, b = of(fold.valid.lists) } end, "'a'", "'b'", "lists")
  raises(function() mr.compare{ a = run, b = fold:evaluate(popularity, { "ap" }) } end, "test; candidates: all")
  local scored = mr.data.scored(popularity, fold.test)
  local c = mr.compare{ run = run, model = popularity, scores = scored, qrels = fold.test }
  equal(c.values.ap.model:totable(), c.values.ap.scores:totable())
  raises(function() mr.compare{ a = run, b = popularity } end, "'b'", "mr.Baseline")
end)

it("mr.compare compares metrics under bounds only if metric and bound agree", function()
  local lists = judged(10)
  local function of(name, metric) return mr.evaluate(scores_of(ranks[name]), lists, { metric }) end
  local by = { "rr", bound = "minmax" }
  local c, plain = mr.compare{ a = of("a", by), b = of("b", by) }, mr.compare{ a = of("a", "rr"), b = of("b", "rr") }
  -- bounded value of a list with six rows, one relevant: (rr - 1/6) / (1 - 1/6), since the minimum of rr is 1/6
  near(c.cells["rr[minmax]"].a.mean, (plain.cells.rr.a.mean - 1 / 6) * 6 / 5, 1e-6)
  near(c.pairs[1].p, plain.pairs[1].p, 1e-12)
  equal(mr.compare{ a = of("a", by), b = of("b", by), metrics = { by } }.metrics[1].name, "rr[minmax]")
  local function refuses(words, x, y) raises(function() mr.compare{ a = x, b = y, qrels = lists } end,
    table.unpack(words)) end
  refuses({ "'rr[minmax]'", "rr[expectation]" }, of("a", by), of("b", { "rr", bound = "expectation" }))
  refuses({ "'a'", "ties", "worst" }, of("a", by), of("b", { mr.metrics.rr{ ties = "worst" }, bound = "minmax" }))
  refuses({ "'rr[minmax]'", "bound" }, of("a", by), scores_of(ranks.b))
end)

it("mr.compare refuses systems, metrics and files that cannot be compared, and wrong options", function()
  local parts = folds()
  local fold = parts[1]
  local run = fitted(fold, "ndcg", { "ndcg" })
  local path = file "none Q0 a 1 1 t\n"
  local function refuses(options, ...) raises(function() mr.compare(options) end, ...) end
  refuses({ a = run }, "1", "systems")
  refuses({ a = run, b = 3 }, "'b'", "3")
  refuses({ a = run, metric = { "ap" } }, "'metrics'", "option")
  refuses({ run, run }, "system", "1")
  refuses({ a = run, b = run, qrels = parts[2].test }, "'a'", "data", "qrels")
  refuses({ a = run, b = fitted(parts[2], "ndcg", { "ndcg" }) }, "'a'", "'b'")
  refuses({ a = run, b = fitted(fold, "ap", { "ap" }) }, "ndcg")
  refuses({ a = run, b = fitted(fold, "ap", { mr.metrics.ndcg{ gain = "linear" } }) }, "'a'", "'b'", "gain")
  refuses({ a = run, b = path }, "mr.compare", "qrels")
  refuses({ a = run, b = path, qrels = fold.test }, "1", "'b'")
  refuses({ a = path, b = path, qrels = fold.test }, "mr.compare", "metrics")
  refuses({ a = path, b = mr.ones(3), qrels = path, metrics = { "ap" } }, "'b'", "tensor")
  refuses({ a = path, b = path, qrels = path, metrics = { "ap" } }, "4", "fields")
  refuses({ a = run, b = run, alpha = 1.5 }, "alpha", "1.5")
  refuses({ a = run, b = run, missing = "none" }, "missing", "'none'")
end)
