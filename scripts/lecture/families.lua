-- Pointwise, pairwise, listwise: which family of losses ranks best (slides "Learning to rank")? All losses of the
-- lecture train the same model on the same folds; boosted trees are added.
-- The first fold's validation part chooses learning rate and weight decay, and each fold's validation part chooses
-- the epoch. Changes against squared error are paired by user or query. Their p-values come from permutation tests,
-- with Holm's correction over all rows of the table.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local learners, experiment = dofile(here .. "learners.lua"), mr.experiment

local args = learners.args{
  seed = { default = 1, help = "seed of splits, negatives and models" },
  sets = { default = learners.sets, choices = learners.sets, help = "which data sets" },
}
local protocol, reference = learners.protocol, learners.protocol.reference

-- Makes a table row for each learner (a loss with its model, or a model without training). `measures` are the
-- metrics, `measure` is the metric whose change against the reference is tested, and `heads` are the column names.
-- Learners without training count as 0 training runs.
local function rows_of(set, measures, measure, heads)
  local best, values, rows = learners.chosen(args, set, args.seed), learners.values(args, set, args.seed), {}
  local base, pairs_of = values(reference, measure), {}
  local _, folds = learners.describe(args, set)
  local by = "bootstrap over " .. (set == "movielens" and "users" or "queries")
  local cells = experiment.cells(by, function(row, column)
    local own = row[1] == "untrained" and 0 or folds
    return (column == "change" or column == "p, Holm") and own + folds or own
  end)
  for i, each in ipairs(learners.of(args, set)) do
    local chosen = best[each.name] or {}
    local row = { each.family, each.name, chosen.rate or chosen.eta or "", chosen.decay or "" }
    for m, metric in ipairs(measures) do
      local of = values(each.name, metric)
      row[#row + 1] = mr.stats.mean(of)
      cells:note(i, heads[4 + m], experiment.over_lists(of))
    end
    rows[i] = row
    local change = each.name ~= reference and experiment.over_lists{ values(each.name, measure), base } or nil
    cells:note(i, "change", change)
    pairs_of[i] = { values = values(each.name, measure), base = each.name ~= reference and base or nil }
  end
  for i, each in ipairs(protocol.compare(pairs_of)) do
    table.move({ each.change or "", each.p or "" }, 1, 2, #rows[i] + 1, rows[i])
  end
  return rows, cells
end

-- Names, for each family of losses, the loss whose models have the highest value in a column of the table: "pairwise
-- BPR (0.3000), ...".
local function best_of(rows, column)
  local best, order, parts = {}, {}, {}
  for _, row in ipairs(rows) do
    local family = row[1]
    if family ~= "untrained" then
      if not best[family] then order[#order + 1] = family end
      if not best[family] or row[column] > best[family][column] then best[family] = row end
    end
  end
  for i, family in ipairs(order) do
    parts[i] = ("%s %s (%.4f)"):format(family, best[family][2], best[family][column])
  end
  return table.concat(parts, ", ")
end

-- Returns "a, b are significantly better than squared errors" for the losses `names`, or "no trained loss is
-- significantly better ..." if there are none. `side` is "better" or "worse".
local function verdict(names, side)
  local who = #names == 0 and "no trained loss is"
    or ("%s %s"):format(table.concat(names, ", "), #names == 1 and "is" or "are")
  return ("%s significantly %s than squared errors"):format(who, side)
end

local function significant(rows)
  local better, worse = {}, {}
  for _, row in ipairs(rows) do
    local p, change = row[#row], row[#row - 1]
    if row[1] ~= "untrained" and p ~= "" and protocol.significant(p) then
      table.insert(change > 0 and better or worse, row[2])
    end
  end
  return verdict(better, "better"), verdict(worse, "worse")
end

local on_ratings = [[
nDCG@10, AP, AUC: of lists with four items that are not relevant for each relevant one; nDCG@10, all items: of every
item that the user has not liked in training or validation; ]]
local legend = [[
%srate: learning rate, of trees eta; decay: weight decay; change: of %s, by which validation chooses, against squared
errors, paired by %s; p, Holm: of a permutation test, corrected over the table.]]
local texts, tables = {}, {}
for _, set in ipairs(args.sets) do
  local title, folds = learners.describe(args, set)
  local all_items = set == "movielens"
  local measures = all_items and { "ndcg@10", "ap", "auc", "catalogue" } or { "ndcg@10", "ap", "auc" }
  local heads = { "family", "loss", "rate", "decay", "nDCG@10", "AP", "AUC" }
  local shown = { ["nDCG@10"] = "%.4f", AP = "%.4f", AUC = "%.4f", change = "%+.4f", ["p, Holm"] = "%.2g" }
  if all_items then
    heads[#heads + 1] = "nDCG@10, all items"
    shown[heads[#heads]] = "%.4f"
  end
  local measure = all_items and "catalogue" or "ndcg@10"
  local rows, cells = rows_of(set, measures, measure, heads)
  heads[#heads + 1], heads[#heads + 2] = "change", "p, Holm"
  local better, worse = significant(rows)
  tables[#tables + 1] = experiment.named(title, mr.table{ columns = heads, rows = rows, formats = shown,
    mark = { [heads[all_items and 8 or 5]] = "max", ["p, Holm"] = 0.05 } }, cells,
    legend:format(all_items and on_ratings or "", all_items and "nDCG@10, all items" or "nDCG@10", all_items and "user"
    or "query"))
  texts[#texts + 1] = ([[
On %s (%d %s, seed %d) the best of each family by %s are %s. After Holm's correction %s, and %s.]]):format(title, folds,
    folds == 1 and "fold" or "folds", args.seed, all_items and "nDCG@10 among all items" or "nDCG@10",
    best_of(rows, all_items and 8 or 5), better, worse)
end
return experiment.finish(args, nil, table.concat(texts, "\n\n"), table.unpack(tables))
