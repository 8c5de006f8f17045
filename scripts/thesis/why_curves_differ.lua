-- Westerborg (2022) finds that nDCG@k falls with k on MovieLens and rises on MQ2008 (section 5.1, Figure 5.1), suspects
-- "the used ranking function or dataset", and leaves the reason to future work (6.2). Which of the two is the reason?

-- nDCG@k is the DCG of the first k ranks divided by the ideal DCG of k ranks. While a list has at least k relevant
-- rows, the ideal DCG grows with k, and a rank that holds fewer relevant rows than the ranks above lowers nDCG@k. For
-- larger k the ideal DCG is constant, and each further relevant row raises nDCG@k.
-- Three analyses follow. The change from one k to the next is divided into a part of lists with at least k relevant
-- rows and a part of lists with fewer. The rankings of MovieLens are measured again on lists thinned to MQ2008's shapes
-- (numbers of rows and relevant rows). Simulated rankers with the AUC of either data set's model rank lists of both
-- data sets' shapes. Data, models and learning rates are those of Table 5.1, with the nDCG loss without a bound.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure = dofile(here .. "beside.lua"), dofile(here .. "figure.lua")
local cutoffs, experiment = dofile(here .. "cutoffs.lua"), mr.experiment

local args = runs.args(figure.options("why_curves_differ", {
  seed = { default = 1, help = "seed of splits, negatives and models" },
  draws = { default = 20, least = 1, help = "rankings of every list by each made ranker" },
}), { draws = 2 })
local deepest = cutoffs.deepest

-- Reads the test lists of a study's training runs, without lists of only relevant or only irrelevant rows: nDCG@k of
-- every list by k, the numbers of rows and of relevant rows, and the mean AUC. `where` selects runs by their
-- parameters. `prefix` is "", or "thinned " for lists from which random rows were left out.
local function measured(study, where, prefix)
  local function lists(name) return experiment.lists(study, where, prefix .. name) end
  local rows, relevant = lists "rows", lists "relevant"
  local m = { curves = {}, rows = {}, relevant = {}, auc = mr.stats.mean(lists "auc") }
  for k = 1, deepest do
    local curve, kept = lists("ndcg@" .. k), {}
    for l, p in ipairs(relevant) do
      if p > 0 and p < rows[l] then kept[#kept + 1] = curve[l] end
    end
    m.curves[k] = kept
  end
  for l, p in ipairs(relevant) do
    if p > 0 and p < rows[l] then table.insert(m.rows, rows[l]); table.insert(m.relevant, p) end
  end
  return m
end

-- Makes a case for each data set and setting (negatives per relevant item, or least relevant label): a record of the
-- measured test lists with their nDCG@k.
local cases = {}
for _, name in ipairs{ "movielens", "mq2008" } do
  local set, study = runs.set(args, name), cutoffs.study(args, name)
  for _, value in ipairs(name == "mq2008" and not args.smoke and cutoffs.labels or set.values) do
    local where, title = { [set.setting] = value }, ("%s, %s"):format(set.title, runs.setting_text(set, value))
    local case = measured(study, where, "")
    case.runs = #experiment.runs(study, where)
    case.name, case.title, case.thinned = name, title, name == "movielens" and measured(study, where, "thinned ") or nil
    cases[#cases + 1] = case
  end
end
local first, other = cases[1], nil
for _, case in ipairs(cases) do
  if case.name == "mq2008" then other = other or case end
end

local function mean_curve(m)
  local y = {}
  for k = 1, deepest do y[k] = mr.stats.mean(m.curves[k]) end
  return y
end

-- Caches the expected nDCG@k of random rankings, in closed form, for `random_curve`. The key is a text of three
-- numbers: k, rows and relevant rows of a list.
local known = {}
local function random_curve(m)
  local y = {}
  for k = 1, deepest do
    local sum = 0
    for l, n in ipairs(m.rows) do
      local key = ("%d %d %d"):format(k, n, m.relevant[l])
      known[key] = known[key] or mr.bounds.of("ndcg@" .. k, {
        n = math.tointeger(n), p = math.tointeger(m.relevant[l]) }).expectation
      sum = sum + known[key]
    end
    y[k] = sum / #m.rows
  end
  return y
end

-- Returns three results for test lists `m`. The first is the share of lists with fewer than k relevant rows, as an
-- array by k. The other two split the change of mean nDCG@k from k = 1 to the last k: the part of lists with at least k
-- relevant rows, and the part of lists with fewer.
local function taken_apart(m)
  local fewer, with, without = {}, 0, 0
  for k = 1, deepest do
    local count = 0
    for l, p in ipairs(m.relevant) do
      local change = k > 1 and (m.curves[k][l] - m.curves[k - 1][l]) / #m.rows or 0
      if p < k then count, without = count + 1, without + change else with = with + change end
    end
    fewer[k] = count / #m.rows
  end
  return fewer, with, without
end

-- Mean nDCG@k, as an array by k, of a simulated ranker on lists with the shapes of `m` (numbers of rows and relevant
-- rows). It puts a relevant row above an irrelevant one with probability `auc`: a Plackett-Luce ranker, made by scores
-- with Gumbel noise.
local function made_curve(m, auc)
  local lists, beta = {}, math.log(auc / (1 - auc))
  for l, n in ipairs(m.rows) do
    local grades = {}
    for i = 1, n do grades[i] = i <= m.relevant[l] and 1 or 0 end
    for _ = 1, args.draws do lists[#lists + 1] = grades end
  end
  lists = mr.lists(lists)
  local noise = mr.uniform({ lists.rows },
    { low = 1e-12, high = 1, seed = args.seed, stream = "made ranker", dtype = "float64" })
  local names, y = {}, {}
  for k = 1, deepest do names[k] = "ndcg@" .. k end
  local found = mr.evaluate(lists.relevance:double() * beta - (-noise:log()):log(), lists, names)
  for k = 1, deepest do y[k] = found.mean[names[k]] end
  return y
end

-- The first table has a row for each data set and setting. It shows the shapes of lists, nDCG@k, and how much of the
-- change of nDCG@k with k comes from lists with at least k relevant rows.
local rows, apart = {}, {}
for i, case in ipairs(cases) do
  local y, chance = mean_curve(case), random_curve(case)
  local fewer, with, without = taken_apart(case)
  apart[case] = { y = y, chance = chance, fewer = fewer, with = with, without = without }
  rows[i] = { case.title, #case.rows, mr.stats.median(case.rows), mr.stats.median(case.relevant),
    fewer[2], fewer[5], fewer[10], y[1], y[5], y[10],
    y[10] - y[1], with, without, chance[1], chance[10] }
end
local formats = { ["rows (median)"] = "%.0f", ["relevant (median)"] = "%.0f", ["nDCG@1"] = "%.4f", ["nDCG@5"] = "%.4f",
  ["nDCG@10"] = "%.4f", AUC = "%.4f" }
for _, name in ipairs{ "change", "by lists with k", "by lists with fewer" } do formats[name] = "%+.4f" end
for _, name in ipairs{ "fewer than 2", "fewer than 5", "fewer than 10", "random @1", "random @10" } do
  formats[name] = "%.3f"
end
local function table_of(columns, lines)
  local own = {}
  for _, name in ipairs(columns) do own[name] = formats[name] end
  return mr.table{ columns = columns, rows = lines, formats = own }
end
local shapes = table_of({
  "data", "lists", "rows (median)", "relevant (median)", "fewer than 2", "fewer than 5", "fewer than 10",
  "nDCG@1", "nDCG@5", "nDCG@10", "change", "by lists with k", "by lists with fewer", "random @1", "random @10"
}, rows)

-- The second table groups lists by their number of relevant rows: 1, 2 to 4, 5 to 9, or at least 10.
local strata = { { 1, 1 }, { 2, 4 }, { 5, 9 }, { 10, math.huge } }
local function stratum_text(s)
  if s[1] == s[2] then return tostring(s[1]) end
  return s[2] == math.huge and ("%d or more"):format(s[1]) or ("%d to %d"):format(s[1], s[2])
end
local function stratum_curve(m, s)
  local y, count = {}, 0
  for k = 1, deepest do
    local sum = 0
    count = 0
    for l, p in ipairs(m.relevant) do
      if p >= s[1] and p <= s[2] then sum, count = sum + m.curves[k][l], count + 1 end
    end
    y[k] = sum / count
  end
  return y, count
end
local by_stratum = {}
for _, case in ipairs(cases) do
  for _, s in ipairs(strata) do
    local y, count = stratum_curve(case, s)
    local line = { case.title, stratum_text(s), count, y[1], y[5], y[10], y[10] - y[1] }
    by_stratum[#by_stratum + 1] = count > 0 and line or nil
  end
end
local strata_table = table_of({ "data", "relevant rows", "lists", "nDCG@1", "nDCG@5", "nDCG@10", "change" }, by_stratum)

-- The third table shows nDCG@k of trained and of simulated rankers, on lists of MovieLens' and of MQ2008's shapes. A
-- simulated ranker takes the AUC of a trained model; `clamped` keeps it strictly between 0 and 1, as the simulation
-- needs.
local function clamped(auc) return math.min(math.max(auc, 0.01), 0.99) end
local exchanged, swapped, made = {}, mean_curve(first.thinned), {}
local function add(ranker, shape, auc, y)
  exchanged[#exchanged + 1] = { ranker, shape, auc, y[1], y[5], y[10], y[10] - y[1] }
end
add("trained", first.title, first.auc, apart[first].y)
add("trained on " .. first.title, other.title, first.thinned.auc, swapped)
add("trained", other.title, other.auc, apart[other].y)
for _, ranker in ipairs{ first, other } do
  for _, shape in ipairs{ first, other } do
    local y = made_curve(shape, clamped(ranker.auc))
    made[#made + 1] = { ranker = ranker, shape = shape, y = y }
    add("made, as good as " .. ranker.title, shape.title, clamped(ranker.auc), y)
  end
end
local exchange = table_of({ "ranker", "lists of the shapes of", "AUC", "nDCG@1", "nDCG@5", "nDCG@10", "change" },
  exchanged)

local function line(name, y, color, style) return { name = name, y = y, color = color, style = style } end
local function panel(title, series, ylabel)
  return mr.plot.lines{ title = title, series = series, xlabel = "k", ylabel = ylabel or "nDCG@k", legend = "legend" }
end
local function strata_lines(case)
  local series = {}
  for i, s in ipairs(strata) do
    local y, count = stratum_curve(case, s)
    if count > 0 then series[#series + 1] = line(stratum_text(s) .. " relevant", y, i) end
  end
  return series
end
local panels = { columns = 3, width = 1120, height = 620, title = figure.title(args),
  panel("a. trained and random", { line(first.title, apart[first].y, 1), line(other.title, apart[other].y, 2),
    line("random", apart[first].chance, 1, "dashed"), line("random", apart[other].chance, 2, "dashed") }),
  panel("b. lists with fewer than k relevant rows",
    { line(first.title, apart[first].fewer, 1), line(other.title, apart[other].fewer, 2) },
    "share of lists"),
  panel("c. one ranker, two shapes of lists", { line("as they are", apart[first].y, 1), line("thinned", swapped, 2) }),
  panel("d. " .. first.title, strata_lines(first)), panel("e. " .. other.title, strata_lines(other)) }
local made_lines = {}
for i, each in ipairs(made) do
  local name = ("AUC %.2f, %s"):format(clamped(each.ranker.auc), each.shape.title)
  made_lines[i] = line(name, each.y, i < 3 and i or i - 2, i < 3 and "solid" or "dashed")
end
panels[#panels + 1] = panel("f. made rankers", made_lines)

-- Number of training runs behind each row of the tables, by the title of data set and setting.
local counted = {}
for _, case in ipairs(cases) do counted[case.title] = case.runs end
local function cells_of(key)
  return experiment.cells(nil, function(row, column) return column:find "^random" and 0 or counted[row[key]] end)
end

local a, b = apart[first], apart[other]
local text = ([[
While a list has k relevant rows or more, the most that its first k ranks can have grows with k, and nDCG@k falls
where lower ranks hold fewer relevant rows than those above. With fewer than k relevant rows that most stays, and
nDCG@k rises with each relevant row that is still found. The first table takes the change of the mean nDCG@k apart,
exactly. On %s, %.1f %% of the lists have fewer than ten relevant rows. The change of %+.4f is made of %+.4f by lists
with k and %+.4f by lists with fewer. On %s, %.1f %% have fewer, and the change of %+.4f is made of %+.4f and %+.4f.
The second table has lists by their number of relevant rows (panels d and e). In the third, rankers and shapes are
exchanged: the trained rankings of %s, on lists thinned at random to the shapes of %s, go from %.4f at k = 1 to %.4f
at k = 10 (panel c). Made rankers put every relevant row above any other with one probability, the AUC of the trained
ranker (panel f). Random rankings (dashed in panel a, in closed form) stay level while all lists have k relevant rows,
and rise then. Lists without relevant rows, or with nothing else, are left out. Tied rows count as the mean over their
orders.]]):format(first.title, 100 * a.fewer[10], a.y[10] - a.y[1], a.with,
  a.without, other.title, 100 * b.fewer[10], b.y[10] - b.y[1], b.with, b.without, first.title, other.title, swapped[1],
  swapped[10])

-- The answer is given only where the numbers have it: each ranker rises on lists of MQ2008's shapes, trained rankings
-- of MovieLens fall, and a made ranker of their AUC falls less and has a relevant row first in fewer lists.
local function rises(y) return y[10] > y[1] end
local rise = rises(swapped) and rises(b.y)
for _, each in ipairs(made) do rise = rise and (each.shape ~= other or rises(each.y)) end
local of_made = made[1].y
local surer = not rises(a.y) and of_made[10] - of_made[1] > a.y[10] - a.y[1] and a.y[1] > of_made[1]
local answer = rise and surer and ([[

So both have a part. The shapes of the lists decide where nDCG@k can fall at all: on those of %s, every ranker rises.
That it does fall on %s is the trained ranker's doing: it is surer at its top ranks than further down. Its first row
is relevant in %.1f %% of the lists, a made ranker's of the same AUC in %.1f %%, and the latter's nDCG@k changes by
%+.4f alone.]]):format(other.title, first.title, 100 * a.y[1], 100 * of_made[1], of_made[10] - of_made[1]) or ""
return experiment.finish(args, mr.plot.facets(panels), text .. (args.made_up and "" or answer),
  experiment.named("The change of nDCG@k from k = 1 to 10, taken apart", shapes, cells_of(1), [[
rows, relevant (median): of the lists; fewer than: share of lists with fewer relevant rows than that; change: of the
mean nDCG@k from k = 1 to 10; by lists with k: what lists add to it at each step from k - 1 to k if they have k
relevant rows or more; by lists with fewer: what the others add; random @1, random @10: expected nDCG@k of random
rankings.]]),
  experiment.named("Lists by their number of relevant rows", strata_table, cells_of(1),
  [[
lists: with so many relevant rows; change: of the mean nDCG@k from k = 1 to 10.]]),
  experiment.named("Rankers and shapes exchanged", exchange,
    experiment.cells(nil, function(row) return row[1]:find "^made" and 0 or counted[row[1]:match "^trained on (.*)$"
    or row[2]] end),
    "AUC: probability that a relevant row is above another one; change: of the mean nDCG@k from k = 1 to 10."))
