-- Makes the main table of an experiment. It has the mean of a metric for every combination of parameters, beside the
-- number that a paper prints, and the change against one reference setting. Changes are tested paired by list, with
-- Holm's correction over the table.
local agreement = require("moonrank.experiment.agreement").agreement
local check = require "moonrank.check"
local cells_of = require("moonrank.experiment.cells").cells
local declare = require("moonrank.options").declare
local given = require "moonrank.experiment.given"
local over_lists = require("moonrank.experiment.cells").over_lists
local sentences = require "moonrank.experiment.sentences"
local stats = require "moonrank.stats"
local tables = require "moonrank.table"
local values = require "moonrank.experiment.values"

local M = { are = sentences.are }

local compared_options = declare("mr.experiment.ComparedOptions", {
  "Rows and columns",
  { "by", "table[]", required = true,
    help = 'parameters from slow to fast: {name, values, head = "NSR", shown = {ap = "AP"}, ...}' },
  { "against", "table<string, any>", required = true,
    help = "value of one parameter with which its other values are compared: {bound = 'none'}" },
  { "value", "string", required = true, help = "metric: a number of each run and, in per_list, a value of each list" },
  { "empty", "string", choices = { "skip", "zero", "one" }, default = "skip",
    help = "what a list without a value of the metric counts as in means" },
  { "printed", "fun(where: table): number?", shown = "none", help = "number printed for these parameters" },
  { "difference", "number", default = 0.01, least = 0, formerly = "close", renamed = 2,
    help = "largest difference from a printed number that counts as none" },
  { "alpha", "number", default = 0.05, above = 0, below = 1, formerly = { "significance", "level" },
    renamed = { 2, 1 }, help = "significance level: the largest p-value of a significant change" },
  "Words",
  { "unit", "string", default = "list", help = "what a list is: user or query" },
  { "units", "string", shown = "unit, and s", help = "plural of unit" },
  { "metric", "string", shown = "value", help = "meaning of the column mean" },
  { "base", "string", shown = "against", help = "the setting against which changes are, in the legend" },
  { "than", "string", shown = "base", help = 'that setting in the text, after "better than": "without a bound"' },
  { "what", "string", default = "settings", help = "what is compared with it: bounded losses" },
  { "on", "string", default = "these data", help = "name of the data in the text" },
  { "of_printed", "string", default = "printed", help = 'head of the column of printed numbers: "published"' },
  { "source", "string", default = "in the source", help = 'where they are printed: "in the thesis"' },
})

---A table of settings with changes against one of them, for `mr.experiment.finish`.
---@class mr.experiment.Compared: mr.experiment.Named
---@field rows table[]  of each row: where, mean, printed, difference, change, p, holm, d, n, lists, skipped, ends
---@field first string  how many settings are significantly better and worse
---@field text string   the same with the largest gain and loss, and the mean difference from printed numbers
---@field agreement? { of: integer, within: integer, tolerance: string }  how many numbers are near the printed ones

-- Replaces each NaN (metric undefined for the list) by 1 if `empty` is "one", and by 0 if it is "zero".
local function filled(list, empty)
  local found = {}
  for i, x in ipairs(list) do found[i] = (x == x or empty == "skip") and x or empty == "one" and 1.0 or 0.0 end
  return found
end

-- Raises an error unless `by` is an array of different parameters, each with different values.
local function check_by(where, by)
  where = "mr.experiment." .. where
  check.not_empty(where, "by", by, "parameter with its values: {'loss', {'ap', 'rr'}}")
  local names = {}
  for i, each in ipairs(by) do
    check.expect(type(each) == "table" and type(each[1]) == "string" and type(each[2]) == "table", where,
      ("by[%d]"):format(i), each, "a parameter's name and values: {'loss', {'ap', 'rr'}}")
    names[i] = each[1]
    for _, value in ipairs(each[2]) do
      check.expect(value == value, where, ("a value of parameter '%s' in by"):format(each[1]), value, "another value")
    end
    check.distinct(where, ("parameter '%s' in by"):format(each[1]), each[2])
  end
  check.distinct(where, "by", names)
end

---Returns every combination of the values of parameters as a table of values by name. The values of
---the last parameter change fastest.
---@param by table[]  for each parameter its name and its values, from slow to fast
---@return table<string, any>[]
---Example:
---```lua
---local all = mr.experiment.combinations{{"rate", {0.1, 0.2}}, {"epochs", {5, 10, 20}}}
---#all, all[2].rate, all[2].epochs   --> 6, 0.1, 10
---```
function M.combinations(by)
  given.need("combinations", "by", by, "table", "parameters: {{'loss', {'ap', 'rr'}}, ...}")
  check_by("combinations", by)
  local found = { {} }
  for _, each in ipairs(by) do
    local longer = {}
    for _, where in ipairs(found) do
      for _, value in ipairs(each[2]) do
        local copy = { [each[1]] = value }
        for name, other in pairs(where) do copy[name] = other end
        longer[#longer + 1] = copy
      end
    end
    found = longer
  end
  return found
end

-- Returns the setting with which the setting `where` is compared: `where`, with the parameter values of `against` in
-- place of its own. Returns nil if `where` has these values already.
local function other_of(where, against)
  local other, differs = {}, false
  for name, value in pairs(where) do other[name] = value end
  for name, value in pairs(against) do
    differs, other[name] = differs or other[name] ~= value, value
  end
  return differs and other or nil
end

-- Returns parameters and their values as text, such as "loss = ap, nsr = 2".
local function said_of(where)
  local parts = {}
  for name, value in pairs(where) do parts[#parts + 1] = ("%s = %s"):format(name, value) end
  table.sort(parts)
  return table.concat(parts, ", ")
end

local function printed_of(where, o)
  local printed = o.printed and o.printed(where) or nil
  return check.expect(printed == nil or type(printed) == "number", "mr.experiment.compared", "the result of printed",
    printed, "a number or nil")
end

-- Returns the numbers of the lists that the runs of a setting tested, one run after the other, and the same numbers as
-- keys of a table for each fold.
local function tested_by(results, runs)
  local all, tested = {}, {}
  for _, run in ipairs(runs) do
    local fold = run.fold or 1
    tested[fold] = tested[fold] or {}
    for _, id in ipairs(values.lists(results, { run }, "list")) do all[#all + 1], tested[fold][id] = id, true end
  end
  return all, tested
end

-- Raises an error if a setting has results of a list (user or query) in a fold where the setting `other` has none.
local function check_tested(own, other)
  for fold, ids in pairs(own.tested) do
    local theirs = other.tested[fold] or {}
    for id in pairs(ids) do
      if not theirs[id] then
        check.fail("mr.experiment.compared: the runs with %s tested other lists than those with %s: in fold %g, only "
          .. "the former have list %g. Compare settings whose runs tested the same lists in every fold",
          said_of(own.where), said_of(other.where), fold, id)
      end
    end
  end
end

-- Returns the table's row for a setting, still without the comparison with another setting. Also returns the metric's
-- values by user or query, from which the comparison is computed, and the setting with the lists that it tested.
local function row_of(results, where, o)
  local runs = values.runs(results, where)
  check.not_empty("mr.experiment.compared", "the set of finished trials with " .. said_of(where), runs, "trial")
  local own, ids, tested = values.lists(results, runs, o.value), tested_by(results, runs)
  local of_means, printed = filled(own, o.empty), printed_of(where, o)
  local all = stats.summary(of_means)
  -- Values of a user in several folds are averaged first: the user counts once in the interval of the mean.
  local row = { where = where, mean = all.mean, printed = printed, difference = printed and all.mean - printed,
    sd = stats.summary(values.folds(results, runs, o.value)).sd, lists = all.n, skipped = stats.summary(own).skipped,
    runs = #runs, ends = { mean = over_lists(values.means_by(ids, of_means)) } }
  return row, values.means_by(ids, own), { where = where, tested = tested }
end

-- Returns true if two settings have the same parameters and values.
local function is_same(a, b)
  for name, value in pairs(a) do
    if b[name] ~= value then return false end
  end
  return true
end

-- Compares the values of a setting (`own`) with those of another setting, paired by user or query. Adds the mean
-- change, its interval, the p-value of a permutation test and the effect size to the row.
local function compare(row, own, other)
  local test, effect = stats.permutation(own, other, { orders = 100000 }), stats.effect_size(own, other)
  row.change, row.p, row.d, row.n = test.mean_difference, test.p, effect.d, test.n
  row.ends.change = over_lists{ own, other }
end

-- Returns a row for each setting (combination of values of the parameters `o.by`). Each setting is read once from the
-- store, and then compared with the setting that `against` names.
local function rows_of(results, o)
  local rows, by_list, settings = {}, {}, {}
  for i, where in ipairs(M.combinations(o.by)) do rows[i], by_list[i], settings[i] = row_of(results, where, o) end
  for i, row in ipairs(rows) do
    local other = other_of(row.where, o.against)
    for k = 1, other and #rows or 0 do
      if is_same(other, rows[k].where) then
        check_tested(settings[i], settings[k])
        check_tested(settings[k], settings[i])
        compare(row, by_list[i], by_list[k])
      end
    end
  end
  return rows
end

-- Returns a caption that names the parameters over which rows pool runs: those with several values that are not in `by`
-- and do not number folds or splits. Returns "" if there are none.
local function pooled(results, by)
  local columns, is_in, parts = results:columns(), { split = true, fold = true }, {}
  for _, each in ipairs(by) do is_in[each[1]] = true end
  for _, name in ipairs(columns.params) do
    local seen, count, column = {}, 0, columns:_column("mr.experiment.compared", name)
    for _, row in ipairs(is_in[name] and {} or columns:rows("mr.experiment.compared")) do
      local value = column[row]
      if value ~= nil and value == value and not seen[value] then seen[value], count = true, count + 1 end
    end
    if count > 1 then parts[#parts + 1] = ("%s (%d values)"):format(name, count) end
  end
  return #parts == 0 and "" or "Every row pools all runs over " .. table.concat(parts, ", ")
end

-- Corrects the p-values in the rows of a table by Holm, over all comparisons of the table.
local function correct(rows)
  local ps = {}
  for i, row in ipairs(rows) do ps[i] = row.p or 0 / 0 end
  local corrected = stats.holm(ps)
  for i, row in ipairs(rows) do row.holm = row.p and corrected[i] or nil end
end

-- Returns how many means agree with printed numbers (mr.experiment.agreement); nil if nothing is printed.
local function agreement_of(rows, o)
  local records = {}
  for i, row in ipairs(rows) do records[i] = { mean = row.mean, ["mean, printed"] = row.printed } end
  return agreement(records, { fields = { "mean" }, difference = o.difference })
end

-- Columns of numbers: the field of a row, the column's head (by default the field) and the format. `two` marks columns
-- that compare two settings: a cell is then computed from twice as many training runs.
local numbers = { { "mean", format = "%.4f" }, { "sd", "sd of folds", format = "%.4f" },
  { "printed", format = "%.4f" }, { "difference", format = "%+.4f" },
  { "change", format = "%+.4f", two = true }, { "p", format = "%.2g", two = true },
  { "holm", "p, Holm", format = "%.2g", two = true }, { "d", format = "%+.2f", two = true }, { "n" }, { "lists" },
  { "skipped" } }

-- Returns the head of the column with the number of compared units. A column "lists" counts lists in all folds, so that
-- units called lists need another head.
local function compared_head(o) return o.units == "lists" and "compared lists" or o.units end

-- Returns three tables about the columns: the heads of all columns, first those of parameters; for each head of a
-- column of numbers its entry in `numbers`; and the fields of a row that the columns of numbers show.
local function columns_of(o)
  local heads, at, fields = {}, {}, {}
  for i, each in ipairs(o.by) do heads[i] = each.head or each[1] end
  for _, each in ipairs(numbers) do
    if o.printed or each[1] ~= "printed" and each[1] ~= "difference" then
      local head = each[1] == "n" and compared_head(o) or each[1] == "printed" and o.of_printed or each[2] or each[1]
      heads[#heads + 1], fields[#fields + 1], at[head] = head, each[1], each
    end
  end
  return heads, at, fields
end

local function table_of(rows, o)
  local heads, at, fields = columns_of(o)
  local lines, shown, within, runs = {}, {}, {}, {}
  for i = 1, #o.by - 1 do within[i] = heads[i] end
  for r, row in ipairs(rows) do
    lines[r] = {}
    for c, each in ipairs(o.by) do
      local value = row.where[each[1]]
      lines[r][c] = each.shown and each.shown[value] or value
    end
    runs[table.concat(lines[r], "\0")] = row.runs
    for c, field in ipairs(fields) do lines[r][#o.by + c] = row[field] end
  end
  for head, each in pairs(at) do shown[head] = each.format end
  local cells = cells_of("bootstrap over " .. o.units, function(line, column)
    if column == o.of_printed then return 0 end
    return runs[table.concat(line, "\0", 1, #o.by)] * (at[column] and at[column].two and 2 or 1)
  end)
  for r, row in ipairs(rows) do
    cells:note(r, "mean", row.ends.mean)
    cells:note(r, "change", row.ends.change)
  end
  return tables.new{ columns = heads, rows = lines, formats = shown, within = within,
    mark = { mean = "max", ["p, Holm"] = o.alpha } }, cells
end

local legend = [[
mean: %s over all %s and folds; sd of folds: standard deviation of the folds' means;%s
change: of the mean against %s, paired by %s; p: of a permutation test; p, Holm: corrected over the table; d:
mean change in standard deviations of the changes; %s: that are compared; lists: with a value of the metric; skipped:
lists without one.]]

local function check_against(o)
  local name, value = next(o.against)
  if name == nil or next(o.against, name) ~= nil then
    check.expect(false, "mr.experiment.compared", "against", o.against, "one parameter and its value: {loss = 'ap'}")
  end
  for _, each in ipairs(o.by) do
    for _, own in ipairs(each[1] == name and each[2] or {}) do
      if own == value then return end
    end
  end
  check.expect(false, "mr.experiment.compared", "against." .. tostring(name), value,
    "one of the values that the option by gives for this parameter")
end

---Makes the main table of an experiment, with a row for each combination of parameters. A row has
---the mean of a metric over all lists and folds, the standard deviation over folds, the printed
---number and the difference from it. It also has the change against one setting (`against`), paired
---by list. p-values are those of a permutation test of the mean change (100,000 random choices of
---signs, or all choices if at most 20 values differ), corrected by Holm over the table. Runs have
---to return the metric as a number and, in `per_list`, as a value of each list, with `list`, the
---number of the list. Their parameter `split` or `fold` is the number of the fold. Both settings of
---a change must have tested the same lists in every fold.
---@param results mr.Results  from `mr.experiment.study`
---@param o mr.experiment.ComparedOptions
---@return mr.experiment.Compared
---Example:
---```lua
----- Question: does a bound help? Data: made-up ratings. Model: matrix factorisation. Protocol: two folds.
---local store, ratings = os.tmpname(), mr.data.synthetic{kind = "ratings", users = 40, items = 90}
---local folds = ratings:binarize(4):min_relevant(4):folds{k = 2, by = "user", nsr = 1}
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results = mr.experiment.study(args, {name = "bounds", settings = {epochs = 2},
---  space = {bound = mr.choice{"none", "minmax"}, fold = mr.range(1, 2)},
---  run = function(trial)
---    local fold = folds[trial.fold]
---    local run = mr.fit{model = mr.models.mf{users = fold.users, items = fold.items, factors = 4},
---      loss = mr.losses.ndcg{bound = trial.bound}, train = fold.train, valid = fold.valid,
---      test = fold.test, epochs = 2, metrics = {"ndcg"}, progress = false}
---    return {valid = run.best.metrics.ndcg, ndcg = run.test.mean.ndcg,
---      per_list = {ndcg = run.scores.ndcg, list = fold.test.users:double()}}
---  end})
---local found = mr.experiment.compared(results, {by = {{"bound", {"none", "minmax"}}},
---  against = {bound = "none"}, value = "ndcg", unit = "user", printed = function() return 0.8 end})
---local section = mr.experiment.finish(args, nil, found.text, found)
---os.remove(store)
---section.tables[1].columns[2], found.rows[1].change, found.agreement.of   --> mean, nil, 2
---```
function M.compared(results, o)
  given.results("compared", results)
  o = compared_options:read("mr.experiment.compared", o)
  check_by("compared", o.by)
  check_against(o)
  o.units, o.metric = o.units or o.unit .. "s", o.metric or o.value
  o.base = o.base or said_of(o.against)
  local rows = rows_of(results, o)
  correct(rows)
  local one, cells = table_of(rows, o)
  local first, text = sentences.of(rows, o)
  local printed = o.printed and ("\n%s: %s; difference: mean less %s;"):format(o.of_printed, o.source, o.of_printed)
  return { table = one, cells = cells, caption = pooled(results, o.by), rows = rows, first = first, text = text,
    agreement = agreement_of(rows, o),
    legend = legend:format(o.metric, o.units, printed or "", o.base, o.unit, compared_head(o)) }
end

return M
