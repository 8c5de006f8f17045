-- mr.compare: compares ranking systems on the same lists by mean metrics with bootstrap intervals and by tests.
local core = require "moonrank.core"
local check = require "moonrank.check"
local conventions = require "moonrank.metrics.conventions"
local comparison_of = require("moonrank.compare.comparison").new
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local evaluate = require "moonrank.evaluate"
local fingerprint = require "moonrank.data.fingerprint"
local folds = require "moonrank.compare.folds"
local input = require "moonrank.stats.input"
local latex = require "moonrank.table.latex"
local registry = require "moonrank.metrics.registry"
local retrieved = require "moonrank.data.retrieved"
local same_data = require("moonrank.compare.same_data").check
local scored = require "moonrank.data.scored"

local M = {}

local where = "mr.compare"

local compare_options = declare("mr.CompareOptions", {
  "Data",
  { "systems", "table<string, any>", default = {}, shown = "none",
    help = "systems by name, for names that are also options" },
  { "qrels", "string|mr.Lists|mr.Dataset|any[]",
    help = "judgments: a file, lists or a dataset, or a list of them, one for each fold; not needed if all systems "
      .. "are evaluated already" },
  { "metrics", "(string|mr.Metric|table)[]", shown = "those of the evaluations", help = "metrics to compare by",
    expected = 'a table such as {"map", "ndcg@10"}' },
  { "order", "string[]", shown = "alphabetical",
    help = "names of systems in the order of the table's rows and letters; systems that it lacks follow" },
  { "missing", "string", default = "skip", choices = { "skip", "zero" },
    help = "skip: use queries that all systems have; zero: all queries of qrels; a run gets 0 for those it lacks" },
  "Conventions of the metrics",
  registry.convention("gain", 'that of the evaluations, or "linear"'),
  registry.convention("ties", 'that of the evaluations, or "trec"'),
  registry.convention("empty", 'that of the evaluations, or "zero"'),
  registry.convention("relevant", "that of the evaluations, or 1"),
  "Tests and intervals",
  { "alpha", "number", default = 0.05, above = 0, below = 1, help = "significance level of the tests" },
  { "level", "number", default = 0.95, above = 0, below = 1, help = "confidence level of the intervals" },
  { "samples", "integer", default = 10000, least = 2, most = input.most_draws, help = "number of bootstrap samples" },
  { "orders", "integer", default = 10000, least = 1, most = input.most_draws,
    help = "number of random signs in the permutation test; all signs are tried if at most 20 lists differ" },
  { "seed", "integer", default = 1, help = "seed of the bootstrap and of the permutation test" },
})

local function nearest_option(name) return check.nearest(name, check.names(compare_options.by_name)) end

local check_options = arguments{ "options", "table" }

-- Splits the argument of mr.compare into options and systems. The systems are the fields that are not options, and the
-- entries of the option `systems`.
local function divided(options)
  check_options(where, options)
  local known, systems = {}, {}
  for name, value in pairs(options) do
    if compare_options.by_name[name] then known[name] = value else systems[name] = value end
  end
  local o = compare_options:read(where, known)
  for name, value in pairs(systems) do
    local near = folds.is_list(value) and type(value[1]) == "string" and nearest_option(name)
    check.expect(not near, where, ("'%s'"):format(name), value, "the runs of a system, or the option '%s'", near)
  end
  for name, value in pairs(o.systems) do
    check.expect(systems[name] == nil, where, "the name of a system", name, "a name that is not given twice")
    systems[name] = value
  end
  return o, systems
end

---Reads the scores of a system from a file: a table (mr.data.scores) if the file's name ends in .csv or
---.csv.gz, else a TREC run (mr.data.trec_run).
---@param path string
---@return mr.ScoredLists
function M.read(path)
  local data = require "moonrank.data"
  return path:match "%.csv$" and data.scores(path) or path:match "%.csv%.gz$" and data.scores(path)
    or data.trec_run(path)
end

-- Converts a system of mr.compare to scores or to an evaluation, with the fingerprint of its data if known.
local function system_of(name, value, o)
  if type(value) == "string" then return { scores = M.read(value) } end
  if scored.is(value) then return { scores = value } end
  if dataset.is(o.qrels) and type(value) == "table" and (getmetatable(value) or {}).__call then
    return { scores = require("moonrank.data").scored(value, o.qrels, { name = name }) }
  end
  if evaluate.is(value) then return { evaluation = value, data = rawget(value, "data") or nil } end
  if check.is_tensor(value) then
    check.expect(o.qrels ~= nil and type(o.qrels) ~= "string", where, "qrels", o.qrels,
      "the dataset or the lists whose rows the tensor '%s' scores", name)
    return { scores = require("moonrank.data").scored(value, o.qrels, { name = name }) }
  end
  if type(value) == "table" and rawget(value, "history") and rawget(value, "data") then
    check.expect(rawget(value, "test"), where, ("'%s'"):format(name), value,
      "a run that was tested, as mr.fit{test = ..., metrics = ...} returns")
    return { evaluation = value.test, data = rawget(value.test, "data") or value.data.test }
  end
  local near = nearest_option(name)
  check.expect(false, where, ("'%s'"):format(name), value, "the path of a file, scores (mr.data.scores or a tensor), a "
    .. "run of mr.fit, an evaluation, or a model if qrels is a dataset%s",
    near and (", or the option '%s'"):format(near) or "")
end

-- Returns the metric of an evaluation by its name, or by a table such as {"ndcg", bound = "minmax"}.
local function metric_in(evaluation, name, system)
  local text = name
  if type(name) ~= "string" then text = evaluate.metrics_of{ name }[1].name end
  local values = evaluation[text]
  for _, each in ipairs(evaluation.metrics) do
    if rawequal(rawget(evaluation, each.name), values) then return each end
  end
  check.choice(where, ("a metric of system '%s'"):format(system), text, evaluation.names)
end

-- Raises an error if two systems have different conventions of a metric, or others than an option asks for.
local function check_convention(o, metric, own, name, first)
  if not evaluate.same_metric(own, metric) then
    check.fail("%s: '%s' and '%s' were evaluated under different conventions of '%s': %s. Evaluate both with the same "
      .. "options", where, first, name, own.name,
      conventions.difference(metric, own, ("'%s'"):format(first), ("'%s'"):format(name)))
  end
  for _, option in ipairs{ "gain", "ties", "empty", "relevant" } do
    local had = own.options[option]
    if had ~= nil and had ~= o[option] then
      check.leave_out(where, option, o[option], "'%s' was evaluated with %s = %s", name, option,
        type(had) == "number" and ("%.14g"):format(had) or check.found(had))
    end
  end
end

-- Returns the metrics by which systems are compared. Systems given as scores are measured by the metrics of the first
-- evaluation, if there is one. All evaluations must have equal metric options.
local function metrics_of(o, systems, names, first)
  local wanted = o.metrics or first and systems[first].evaluation.names
  if type(wanted) ~= "table" or #wanted == 0 then
    check.expect(false, where, "metrics", o.metrics, 'a table, such as metrics = {"map", "ndcg@10"}')
  end
  check.sequence(where, "metrics", wanted, 'one metric gets options as mr.metrics.rr{ties = "worst"}')
  local metrics = {}
  for i, each in ipairs(wanted) do
    metrics[i] = first and metric_in(systems[first].evaluation, each, first) or retrieved.metric(each, o)
    for _, name in ipairs(names) do
      local evaluation = systems[name].evaluation
      if evaluation then check_convention(o, metrics[i], metric_in(evaluation, each, name), name, first) end
    end
  end
  registry.check_read(where, o, metrics)
  for _, name in ipairs(names) do
    for _, each in ipairs(systems[name].scores and metrics or {}) do
      check.expect(not first or not evaluate.is_bounded(each), where, ("'%s'"):format(name), systems[name].scores,
        "an evaluation of all rows (mr.evaluate), because '%s' is under a bound", each.name)
    end
  end
  return metrics
end

-- Returns a system's name for error messages. The name of its scores follows in parentheses, if the scores have one.
local function called(name, scores)
  return ("'%s'%s"):format(name, scores.name ~= "scores" and (" (%s)"):format(scores.name) or "")
end

-- Returns the ids of the compared queries, and notes on queries that a run or the judgments lack.
local function queries_of(o, systems, names, judgments)
  local runs, notes = {}, {}
  for _, name in ipairs(names) do
    local run = systems[name].scores
    if run then
      runs[#runs + 1] = run
      local coverage = retrieved.coverage(where, run, judgments, called(name, run))
      local text = retrieved.shortfall(coverage, judgments.count, o.missing)
      notes[#notes + 1] = text and ("'%s' %s"):format(name, (text:gsub("are left out", "%0 for all"))) or nil
    end
  end
  return retrieved.queries(runs, judgments, o.missing), notes
end

-- Returns the evaluation of a run. A run without a relevant document is an error: it is probably of other data.
local function evaluated(o, name, run, judgments, queries, metrics)
  local found, relevant = retrieved.evaluate(where, called(name, run), run, judgments, queries, metrics, o)
  if relevant == 0 then
    check.fail("%s: run %s retrieved judged documents, but none that is judged relevant, in any of the %d queries. "
      .. "Check that the run is of the same data set, and of the same part (such as test), as the judgments", where,
      called(name, run), #queries)
  end
  return found
end

-- Raises an error if an evaluation is known to have ranked rows other than those of qrels. Systems given as scores are
-- measured on the rows of qrels, so such an evaluation cannot be compared with them.
local function check_beside(o, system, name)
  local e = system.evaluation
  if rawget(e, "candidates") then
    check.fail("%s: system '%s' ranked rows other than those of qrels (%s). Compare it with evaluations of the same "
      .. "candidates, not with scores", where, name, e.candidates)
  end
  local lists = rawget(e, "_lists")
  local judged = dataset.is(o.qrels) and o.qrels.lists or o.qrels
  check.expect(not lists or not check.is_lists(judged) or fingerprint.combined(lists) == fingerprint.combined(judged),
    where, "qrels", o.qrels, "the lists on which '%s' was evaluated", name)
end

-- Returns, for each compared list, the number of its relevant rows and the number of all its rows. `index` has the
-- positions of the compared lists in `shapes`. Without `index`, all lists of `shapes` are compared.
local function shapes_of(shapes, index)
  local found = { relevant = core.numbers(shapes.relevant:to("cpu")), rows = core.numbers(shapes.sizes:to("cpu")) }
  for name, numbers in pairs(index and found or {}) do
    found[name] = {}
    for i, at in ipairs(index) do found[name][i] = numbers[at] end
  end
  return found
end

-- Returns four results: values per list by metric and system, notes on left-out queries, the names of the lists, and a
-- function that returns the shapes of the lists.
local function values_of(o, systems, names, metrics, first)
  local values, only_evaluations = {}, true
  for _, metric in ipairs(metrics) do values[metric.name] = {} end
  for _, name in ipairs(names) do only_evaluations = only_evaluations and not systems[name].scores end
  local e = first and systems[first].evaluation
  if only_evaluations then
    for _, name in ipairs(names) do
      for _, metric in ipairs(metrics) do
        values[metric.name][name] = evaluate.exact(systems[name].evaluation, metric.name)
      end
    end
    local lists = rawget(e, "_lists")
    return values, {}, evaluate.units(e), function() return shapes_of(lists or rawget(e, "_shapes")) end
  end
  for _, name in ipairs(names) do
    if systems[name].evaluation then check_beside(o, systems[name], name) end
  end
  local judgments = scored.judgments(where, o.qrels)
  local queries, notes = queries_of(o, systems, names, judgments)
  local place = {}
  if e then
    local ids = rawget(e, "ids") or type(o.qrels) ~= "string" and judgments.ids
    check.expect(ids, where, "qrels", o.qrels, "the dataset or the lists that '%s' was tested on", first)
    check.length(where, "qrels", #ids, e.count, ("one for each list of '%s'"):format(first))
    for i, id in ipairs(ids) do place[id] = i end
    local both = {}
    for _, id in ipairs(queries) do both[#both + 1] = place[id] and id or nil end
    queries = both
  end
  check.not_empty(where, "the set of queries in qrels and in all systems", queries, "query")
  local index = {}
  for i, id in ipairs(queries) do index[i] = place[id] end
  for _, name in ipairs(names) do
    local measured = systems[name].evaluation
    local found = measured or evaluated(o, name, systems[name].scores, judgments, queries, metrics)
    for _, metric in ipairs(metrics) do
      local of_lists = evaluate.exact(found, metric.name)
      values[metric.name][name] = measured and of_lists:to("cpu"):rows(core.tensor(index, "int64", "cpu")) or of_lists
    end
  end
  return values, notes, queries, function()
    local at, judged = {}, {}
    for i, id in ipairs(judgments.ids) do at[id] = i end
    for i, id in ipairs(queries) do judged[i] = at[id] end
    return shapes_of(judgments, judged)
  end
end

-- Measures the systems of one fold: if a system is given as several runs, one per fold, the run with the number `fold`.
-- Returns the metrics, the values of the lists, and the notes about this fold.
local function measured(o, given, names, fold)
  local own = setmetatable({ qrels = folds.is_list(o.qrels) and o.qrels[fold] or o.qrels }, { __index = o })
  local systems = {}
  for _, name in ipairs(names) do
    systems[name] = system_of(name, folds.is_list(given[name]) and given[name][fold] or given[name], own)
    local evaluation = systems[name].evaluation
    if evaluation and rawget(evaluation, "_weights") then
      check.fail("%s: the evaluation of '%s' has weights of lists, but comparisons give all lists the same weight. "
        .. "Evaluate lists:weighted{list_weights = false}", where, name)
    end
  end
  local first = same_data(systems, names, own)
  local metrics = metrics_of(own, systems, names, first)
  local values, notes, units, shapes = values_of(own, systems, names, metrics, first)
  local e = first and systems[first].evaluation
  return { systems = systems, metrics = metrics, values = values, notes = notes, units = units,
    shapes = shapes, about = folds.about(systems, names), lists = e and rawget(e, "_lists") or nil }
end

-- Tests every two systems on one metric by a permutation test, corrected by Holm. The letter of a significantly worse
-- system is added to the better system's mean.
local function test(comparison, metric, o)
  local stats, values, names, ps = require "moonrank.stats", comparison.values[metric.name], comparison.systems, {}
  local made = {}
  for i = 1, #names - 1 do
    for j = i + 1, #names do
      local found = stats.permutation(values[names[i]], values[names[j]], { orders = o.orders, seed = o.seed })
      made[#made + 1] = { metric = metric.name, system = names[i], other = names[j], difference = found.mean_difference,
        p = found.p, n = found.n }
      ps[#ps + 1] = found.p
    end
  end
  local cells, letters = comparison.cells[metric.name], {}
  for i, name in ipairs(names) do letters[name] = string.char(96 + i) end
  for i, corrected in ipairs(stats.holm(ps)) do
    local pair = made[i]
    pair.corrected = corrected
    comparison.pairs[#comparison.pairs + 1] = pair
    if corrected < o.alpha and pair.difference ~= 0 then
      local first = (pair.difference > 0) ~= metric.minimize
      local better, worse = first and pair.system or pair.other, first and pair.other or pair.system
      cells[better].better_than = cells[better].better_than .. letters[worse]
    end
  end
end

-- Returns the names of the systems in the order that the option `order` gives, or else in alphabetical order.
local function ordered(names, order)
  table.sort(names)
  local sorted = {}
  for i, place in ipairs(latex.by_list(where, "system", { table.unpack(names) }, order or {})) do
    sorted[i] = names[place]
  end
  return sorted
end

---Compares systems list by list. It returns their mean metrics with bootstrap percentile intervals.
---For each metric, a paired permutation test compares every two systems, with Holm's correction for
---the number of pairs. Letters beside a system's mean name the systems that are significantly
---worse.
---
---A field of the table that is not an option is a system: the path of a TREC run file or of a .csv
---of scores, the result of mr.data.trec_run or mr.data.scores, a run of mr.fit, an evaluation,
---scores of the rows of qrels (a tensor), or a model that scores the rows. A system may also be a
---list with one run for each fold or seed, in the same order for all systems.
---
---If runs of mr.fit or evaluations are given, files and scores are measured under the same
---conventions (gain, ties, empty lists, cutoff) as these runs. Runs with different conventions are
---an error. If only files and scores are given, the conventions are those of trec_eval or of the
---options. A line below the table (`notes`) states the conventions, and how many judged queries a
---file lacks. A file without a judged query, or without a relevant document in any judged query, is
---an error.
---
---Lists are matched by user or by query id, or by their position if they have neither. A user or
---query with several lists, in one run or in several, counts once, with the mean of its values, and
---a line below the table says so. An interrupted training has no evaluation on test data. The table
---marks its system and has no values for it.
---@param options mr.CompareOptions
---@return mr.Comparison
---Example:
---```lua
---local lists = {}
---for i = 1, 12 do lists[i] = {1, 0, 0} end
---local judged, good, bad = mr.lists(lists), {}, {}
---for i = 1, 36 do good[i], bad[i] = -i, i end
---local found = mr.compare{ours = mr.tensor(good), theirs = mr.tensor(bad), qrels = judged, metrics = {"map"}}
---found.cells.ap.ours.better_than   --> b
---```
function M.compare(options)
  local o, given = divided(options)
  local names = {}
  for name in pairs(given) do
    check.expect(type(name) == "string" and name ~= "" and not name:find "%c", where, "the name of a system", name,
      "a name: mr.compare{ours = ..., theirs = ...}")
    names[#names + 1] = name
  end
  names = ordered(names, o.order)
  check.expect(#names >= 2 and #names <= 26, where, "the number of systems", #names, "2 to 26")
  local measurements, count = {}, folds.count(o, given, names)
  local tested, interrupted, words = folds.tested(given, names)
  if #tested < 2 then check.fail("%s: %s. Train it to the end, or leave it out", where, table.concat(words, ". ")) end
  names = tested
  for fold = 1, count do measurements[fold] = measured(o, given, names, fold) end
  local values, notes, units = folds.combined(measurements, names)
  local metrics = measurements[1].metrics
  table.move(words, 1, #words, #notes + 1, notes)
  local comparison = { systems = names, metrics = metrics, count = #units, queries = units, values = values,
    cells = {}, pairs = {}, notes = notes, interrupted = interrupted, alpha = o.alpha, level = o.level, runs = count,
    _shapes = function() return folds.shapes(measurements) end }
  local stats = require "moonrank.stats"
  for _, metric in ipairs(metrics) do
    local cells = {}
    comparison.cells[metric.name] = cells
    for _, name in ipairs(names) do
      local found = stats.bootstrap(values[metric.name][name], { samples = o.samples, level = o.level, seed = o.seed })
      cells[name] = { mean = found.estimate, low = found.low, high = found.high, n = found.n, better_than = "" }
    end
    test(comparison, metric, o)
  end
  return comparison_of(comparison)
end

return M
