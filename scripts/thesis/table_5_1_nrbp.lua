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
-- mean and, under a bound, the change against no bound with its p-value. P-values of a metric are corrected by Holm
-- over all cells of the data set.
local function cells_of(name)
  local set, results, cells, ps = runs.set(args, name), persistence.study(args, name), {}, {}
  for _, metric in ipairs(metrics) do ps[metric] = {} end
  for _, value in ipairs(set.values) do
    for _, loss in ipairs(runs.losses) do
      for _, bound in ipairs(runs.bounds) do
        local cell, at = { value = value, loss = loss, bound = bound }, { [set.setting] = value, loss = loss }
        for _, metric in ipairs(metrics) do
          local lists = experiment.lists(results, runs.with(at, bound), metric)
          local function by_list(under) return experiment.by_list({ results }, runs.with(at, under), metric) end
          cell[metric] = { mean = mr.stats.mean(lists), ends = experiment.over_lists(by_list(bound)) }
          if bound ~= "none" then
            local against = runs.change_of(by_list(bound), by_list "none")
            cell[metric].change = against.change
            cell[metric].change_ends = experiment.over_lists{ by_list(bound), by_list "none" }
            ps[metric][#cells + 1] = against.p
          end
        end
        cells[#cells + 1] = cell
      end
    end
  end
  for _, metric in ipairs(metrics) do
    for i, p in pairs(runs.correct(ps[metric])) do cells[i][metric].p = p end
  end
  return set, cells, results
end

local function table_of(set, cells)
  local heads, formats, lines, mark = { set.setting == "nsr" and "NSR" or set.setting, "loss", "bound" }, {}, {}, {}
  local about = experiment.cells("bootstrap over " .. set.units,
    function(_, column) return set.folds * (column:find "^n" and 1 or 2) end)
  for _, metric in ipairs(metrics) do
    local names = { title[metric], "change, " .. title[metric], "p, " .. title[metric] }
    table.move(names, 1, 3, #heads + 1, heads)
    formats[names[1]], formats[names[2]], formats[names[3]] = "%.4f", "%+.4f", "%.2g"
    mark[names[1]], mark[names[3]] = "max", protocol.level
  end
  for i, cell in ipairs(cells) do
    lines[i] = { cell.value == "top_of_list" and "highest" or cell.value, runs.title_of[cell.loss], cell.bound }
    for m, metric in ipairs(metrics) do
      lines[i][3 * m + 1], lines[i][3 * m + 2], lines[i][3 * m + 3] = cell[metric].mean, cell[metric].change,
        cell[metric].p
      about:note(i, title[metric], cell[metric].ends)
      about:note(i, "change, " .. title[metric], cell[metric].change_ends)
    end
  end
  return mr.table{ columns = heads, rows = lines, formats = formats, mark = mark, within = { heads[1], "loss" } }, about
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
-- 0.95. Returns an array: number of changes, how many have equal signs, their rank correlation, how many are
-- significantly better and how many worse, and how many are significant at both persistences in the same direction and
-- in opposite directions. Without `loss`, changes of all losses count.
local function agreement(cells, loss, metric)
  local usual, x, y, same, better, worse, both, opposite = metrics[1], {}, {}, 0, 0, 0, 0, 0
  for _, cell in ipairs(cells) do
    local a, b = cell[usual], cell[metric]
    if cell.bound ~= "none" and (loss == nil or cell.loss == loss) then
      x[#x + 1], y[#y + 1] = a.change, b.change
      if a.change * b.change > 0 then same = same + 1 end
      local usual_side, side = runs.side(a.change, a.p), runs.side(b.change, b.p)
      better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
      both, opposite = both + (usual_side * side > 0 and 1 or 0), opposite + (usual_side * side < 0 and 1 or 0)
    end
  end
  return { #x, same, correlation(x, y), better, worse, both, opposite }
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

local tables, lines, parts = {}, {}, {}
local counted = {}  -- number of training runs behind a row of the table about one loss, by title of the data set
for i, name in ipairs(args.sets) do
  local set, cells, results = cells_of(name)
  local one, about = table_of(set, cells)
  tables[i] = experiment.named(set.title, one, about, ([[
%snRBP(0.95), nRBP(0.9), nRBP(0.8): on test; change: against no bound, paired by %s; p: of permutation tests,
corrected by Holm over the column.]]):format(set.legend, set.unit))
  counted[set.title] = set.folds * #set.values * #runs.bounds
  for _, loss in ipairs(runs.losses) do
    for _, metric in ipairs(metrics) do
      lines[#lines + 1] = { set.title, runs.title_of[loss], title[metric],
        table.unpack(agreement(cells, loss, metric)) }
    end
  end
  local of_loss, parted, changes = {}, 0, 0
  for m = 2, #metrics do
    of_loss[m - 1] = agreement(cells, "nrbp", metrics[m])
    local of_all = agreement(cells, nil, metrics[m])
    parted, changes = parted + of_all[7], changes + of_all[1]
  end
  parts[i] = ([[
On %s, trained on nRBP, %d of %d changes at 0.9 and %d of %d at 0.8 have the sign that they have at 0.95 (correlations
%.3f and %.3f). Over all three losses %d of %d changes are significant to one side at 0.95 and to the other at 0.9 or
0.8. In %.0f %% of the runs all three persistences choose the same epoch.]]):format(
    set.title, of_loss[1][2], of_loss[1][1], of_loss[2][2], of_loss[2][1], of_loss[1][3], of_loss[2][3], parted,
    changes, 100 * same_epoch(results))
end
tables[#tables + 1] = experiment.named("Agreement with 0.95", mr.table{
  columns = { "data", "loss", "metric", "changes", "sign as at 0.95", "correlation", "better", "worse",
    "significant as at 0.95", "opposite to 0.95" },
  rows = lines, formats = { correlation = "%.3f" } },
  experiment.cells(nil, function(row) return counted[row[1]] end), [[
changes: by bounds, at the persistence of the row; sign as at 0.95: how many have the same sign there; correlation:
Spearman's, with those at 0.95; better, worse: how many are significant; significant as at 0.95: how many at both, to
the same side; opposite to 0.95: to opposite sides.]])
return experiment.finish(args, nil, table.concat(parts, "\n\n"), table.unpack(tables))
