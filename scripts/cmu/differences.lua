-- Do classifiers of documents rank significantly better than rankers, and Adam worse than SGD? The systems of Li & Wu,
-- Table 1, are compared by test nDCG@10, paired by query: classifiers with the rankers of their kind, the classifier
-- with the ranker that is best on validation, and Adam with SGD. Data, models and training runs are those of
-- table_1.lua.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, beside = mr.experiment, dofile(here .. "beside.lua")
local queries = beside.queries

local args, found = queries.args{}, {}

-- Reads the results of each data set. `values` has nDCG@10 of every test query (mean over seeds) by title of the
-- system, `valid` the system's mean nDCG@10 on validation, and `runs` its number of training runs.
for i, name in ipairs(args.sets) do
  local results, data = queries.runs(args, name), { values = {}, valid = {}, runs = {} }
  data.title = queries.set(args, name).title
  for _, system in ipairs(queries.protocol.systems) do
    local title, where = system.title, { system = system.title }
    local valid = experiment.folds(results, where, "valid")
    data.values[title] = experiment.by_list({ results }, where, "own")
    data.valid[title], data.runs[title] = mr.stats.mean(valid), #valid
  end
  found[i] = data
end
local compared = beside.compare(found)

-- Counts the comparisons of two systems that were made on a data set for the given reason, e.g. "families" (a
-- classifier and the ranker of its kind). Returns the number of all comparisons, the number with a positive difference,
-- and as text the numbers that are significantly positive and significantly negative.
local function count(data, reason)
  local all, ahead, sure = 0, 0, { [true] = 0, [false] = 0 }
  for _, c in ipairs(compared) do
    if c.data == data and c[reason] then
      local is_ahead = c.change > 0
      all, ahead = all + 1, ahead + (is_ahead and 1 or 0)
      sure[is_ahead] = sure[is_ahead] + (beside.significant(c.holm) and 1 or 0)
    end
  end
  return all, ahead, experiment.are(sure[true]), experiment.are(sure[false])
end

local texts, outcomes = {}, {}
for i, data in ipairs(found) do
  local said, best = data.title:find "slice$" and "the " .. data.title or data.title, nil
  for _, c in ipairs(compared) do best = c.data == data and c.best and c or best end
  local n, more, better, worse = count(data, "families")
  local of, ahead, sure, unsure = count(data, "Adam and sgd")
  texts[i] = ([[
On %s the classifier has a higher mean than the ranker of its kind in %d of %d pairs; %s significantly better
and %s significantly worse. The classifier that is best on validation, %s, differs from the ranker that is, %s, by
%+.4f (95 %% from %+.4f to %+.4f, p = %.2g after correction). Adam is ahead of descent, both at their best rates,
for %d of %d networks; %s significantly ahead and %s significantly behind.]]):format(said, more, n, better, worse,
    best.a, best.b, best.change, best.low, best.high, best.holm, ahead, of, sure, unsure)
  outcomes[i] = ("on %s in %d of %d pairs (%s significantly better, %s significantly worse)"):format(said, more, n,
    better, worse)
end
local section = experiment.finish(args, nil, table.concat(texts, "\n\n"),
  experiment.table{ caption = "Differences in test nDCG@10", records = compared, by = "bootstrap over queries",
    runs = function(each) return each.data.runs[each.a] + each.data.runs[each.b] end,
    columns = { { "data", function(each) return each.data.title end }, { "a" }, { "b" },
      { "a - b", "change", format = "%+.4f" }, { "low", format = "%+.4f" }, { "high", format = "%+.4f" },
      { "p", format = "%.2g" }, { "p, Holm", "holm", format = "%.2g", mark = 0.05 }, { "queries", "n" } }, legend = [[
a - b: difference of the means of the two systems of the row, paired by query; p: of a permutation test; p, Holm:
corrected over the table.]] })
section.finding = not args.made_up and ("Classifiers of documents have a higher nDCG@10 than rankers of their kind %s.")
  :format(table.concat(outcomes, ", and ")) or nil
return section
