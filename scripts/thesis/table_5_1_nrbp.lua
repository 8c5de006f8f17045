-- Westerborg (2022), section 5.1: Table 5.1 reports nRBP with persistence 0.95, and the text says that "the reported
-- relative results are representative for both nRBP.8 and nRBP.9". Are they? Every loss under every bound is measured
-- by nRBP at persistence 0.95, 0.9 and 0.8; each persistence chooses its own epoch. Data, models and learning rates are
-- those of Table 5.1. Training: `train` in protocol.lua calls mr.fit, for each run that persistence.lua plans.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol
local persistence = dofile(here .. "persistence.lua")

local args = runs.args{
  seed = { default = 1, help = "seed of splits, negatives and models" },
  sets = { default = { "movielens", "mq2008" }, choices = { "movielens", "mq2008" }, distinct = true,
    help = "which data sets" },
  recipe = runs.recipe, samples = runs.samples,
}
local metrics = persistence.metrics
local title = { ["nrbp(0.95)"] = "nRBP(0.95)", ["nrbp(0.9)"] = "nRBP(0.9)", ["nrbp(0.8)"] = "nRBP(0.8)" }

-- The results of a data set, one cell for each setting (NSR or label), loss and bound. A cell has, by metric, the test
-- mean and, under a bound, the comparison with no bound. P-values of a metric are corrected by Holm over all cells of
-- the data set.
local function cells_of(name)
  local set, results, cells, pairs_of = runs.set(args, name), persistence.study(args, name), {}, {}
  for _, metric in ipairs(metrics) do pairs_of[metric] = {} end
  for i, at in ipairs(experiment.combinations{ { "value", set.values }, { "loss", runs.losses },
    { "bound", runs.bounds } }) do
    local where = { [set.setting] = at.value, loss = at.loss }
    local cell = { value = at.value, loss = at.loss, bound = at.bound, mean = {}, against = {} }
    for _, metric in ipairs(metrics) do
      local function by_list(bound) return experiment.by_list(results, runs.with(where, bound), metric) end
      local own = by_list(at.bound)
      cell.mean[metric] = { mr.stats.mean(experiment.lists(results, runs.with(where, at.bound), metric)),
        table.unpack(experiment.over_lists(own) or {}) }
      table.insert(pairs_of[metric], at.bound ~= "none" and { own, by_list "none", cell = cell } or nil)
    end
    cells[i] = cell
  end
  for metric, all in pairs(pairs_of) do
    for _, each in ipairs(experiment.paired(all)) do each.cell.against[metric] = each end
  end
  return set, cells, results
end

local function table_of(set, cells)
  local head = set.setting == "nsr" and "NSR" or set.setting
  local columns = {
    { head, function(cell) return cell.value == "top_of_list" and "highest" or cell.value end },
    { "loss", function(cell) return runs.title_of[cell.loss] end }, { "bound" } }
  for _, metric in ipairs(metrics) do
    table.move({
      { title[metric], function(cell) return cell.mean[metric] end, format = "%.4f", mark = "max" },
      { "change, " .. title[metric], function(cell)
        local each = cell.against[metric]
        return each and { each.change, each.low, each.high }
      end, format = "%+.4f" },
      { "p, " .. title[metric], function(cell) return cell.against[metric] and cell.against[metric].holm end,
        format = "%.2g", mark = protocol.level },
    }, 1, 3, #columns + 1, columns)
  end
  return experiment.table{ caption = set.title, records = cells, columns = columns, within = { head, "loss" },
    by = "bootstrap over " .. set.units,
    runs = function(_, column) return set.folds * (column:find "^n" and 1 or 2) end, legend = ([[
%snRBP(0.95), nRBP(0.9), nRBP(0.8): on test; change: against no bound, paired by %s; p: of permutation tests,
corrected by Holm over the column.]]):format(set.legend, set.unit) }
end

-- Ranks of values from the smallest on; equal values have the mean of their ranks.
local function ranks(values)
  local found = {}
  for i, a in ipairs(values) do
    local below, equal = 0, 0
    for _, b in ipairs(values) do below, equal = below + (b < a and 1 or 0), equal + (b == a and 1 or 0) end
    found[i] = below + (equal + 1) / 2
  end
  return found
end

-- Spearman's rank correlation of two arrays of values.
local function correlation(a_values, b_values)
  local x, y = ranks(a_values), ranks(b_values)
  local mx, my, xx, yy, xy = mr.stats.mean(x), mr.stats.mean(y), 0, 0, 0
  for i = 1, #x do
    local a, b = x[i] - mx, y[i] - my
    xx, yy, xy = xx + a * a, yy + b * b, xy + a * b
  end
  return xy / math.sqrt(xx * yy)
end

-- Says how well the changes by bounds, measured by nRBP at one persistence (`metric`), agree with those measured at
-- 0.95. Returns a record: number of changes, how many have equal signs, their rank correlation, how many are
-- significantly better and how many worse, and how many are significant at both persistences in the same direction and
-- in opposite directions. Without `loss`, changes of all losses count.
local function agreement(cells, loss, metric)
  local x, y, found = {}, {}, { same = 0, better = 0, worse = 0, both = 0, opposite = 0 }
  local function count(name, holds) found[name] = found[name] + (holds and 1 or 0) end
  for _, cell in ipairs(cells) do
    local a, b = cell.against[metrics[1]], cell.against[metric]
    if a and (loss == nil or cell.loss == loss) then
      x[#x + 1], y[#y + 1] = a.change, b.change
      local usual_side, side = runs.side(a.change, a.holm), runs.side(b.change, b.holm)
      count("same", a.change * b.change > 0)
      count("better", side > 0)
      count("worse", side < 0)
      count("both", usual_side * side > 0)
      count("opposite", usual_side * side < 0)
    end
  end
  found.changes, found.correlation = #x, correlation(x, y)
  return found
end

-- The share of training runs in which nRBP at persistence 0.95, 0.9 and 0.8 chooses the same epoch.
local function same_epoch(results)
  local columns, same, count = results:columns(), 0, 0
  for _, row in ipairs(columns:rows("runs", {})) do
    local first, all = columns:column("epoch_1")[row], true
    for i = 2, #metrics do all = all and columns:column("epoch_" .. i)[row] == first end
    same, count = same + (all and 1 or 0), count + 1
  end
  return same / count
end

local tables, records, parts = {}, {}, {}
for i, name in ipairs(args.sets) do
  local set, cells, results = cells_of(name)
  tables[i] = table_of(set, cells)
  for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "metric", metrics } }) do
    local record = agreement(cells, at.loss, at.metric)
    record.data, record.loss, record.metric = set.title, runs.title_of[at.loss], title[at.metric]
    record.trainings, records[#records + 1] = set.folds * #set.values * #runs.bounds, record
  end
  local second, third = agreement(cells, "nrbp", metrics[2]), agreement(cells, "nrbp", metrics[3])
  local second_of_all, third_of_all = agreement(cells, nil, metrics[2]), agreement(cells, nil, metrics[3])
  parts[i] = ([[
On %s, trained on nRBP, %d of %d changes at 0.9 and %d of %d at 0.8 have the sign that they have at 0.95 (correlations
%.3f and %.3f). Over all three losses %d of %d changes are significant to one side at 0.95 and to the other at 0.9 or
0.8. In %.0f %% of the runs all three persistences choose the same epoch.]]):format(
    set.title, second.same, second.changes, third.same, third.changes, second.correlation, third.correlation,
    second_of_all.opposite + third_of_all.opposite, second_of_all.changes + third_of_all.changes,
    100 * same_epoch(results))
end
tables[#tables + 1] = experiment.table{ caption = "Agreement with 0.95", records = records,
  columns = { { "data" }, { "loss" }, { "metric" }, { "changes" }, { "sign as at 0.95", "same" },
    { "correlation", format = "%.3f" }, { "better" }, { "worse" }, { "significant as at 0.95", "both" },
    { "opposite to 0.95", "opposite" } },
  runs = function(each) return each.trainings end, legend = [[
changes: by bounds, at the persistence of the row; sign as at 0.95: how many have the same sign there; correlation:
Spearman's, with those at 0.95; better, worse: how many are significant; significant as at 0.95: how many at both, to
the same side; opposite to 0.95: to opposite sides.]] }
return experiment.finish(args, nil, table.concat(parts, "\n\n"), table.unpack(tables))
