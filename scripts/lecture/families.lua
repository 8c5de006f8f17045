-- Pointwise, pairwise, listwise: which family of losses ranks best (slides "Learning to rank")?
-- Data: MovieLens, where ratings of 4 and more are relevant ("liked"), with four other items for each liked one, and
-- MQ2008, both in five folds. Models: matrix factorisation with 32 factors for MovieLens, a network with 46 hidden
-- units or boosted trees for MQ2008, trained by Adam with all losses of the lecture.
-- The first fold's validation part chooses learning rate and weight decay, and each fold's validation part chooses the
-- epoch, by nDCG@10. Changes against squared error are paired by user or query. Their p-values come from permutation
-- tests, with Holm's correction over all rows of the table.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local learners, experiment = dofile(here .. "learners.lua"), mr.experiment

local losses = {}
for _, each in ipairs(learners.learners) do losses[#losses + 1] = each.loss and each.name end
local args = experiment.args({
  seed = { default = 1, help = "seed of splits, negatives and models" },
  sets = { default = learners.sets, choices = learners.sets, help = "which data sets" },
  losses = { default = losses, choices = losses,
    help = "which losses are trained, beside squared error; another choice takes another store" },
  folds = { default = 5, least = 1, most = 5, help = "how many of the five folds are run" },
}, { document = "lecture", smoke = { folds = 1 } })

-- Names the loss with the highest value in a column for each trained family: "pairwise BPR (0.3000), ...".
local function best_of(rows, column)
  local best, order = {}, {}
  for _, row in ipairs(rows) do
    local family, before = row[1], best[row[1]]
    if family ~= "untrained" and not before then order[#order + 1] = family end
    if not before or row[column] > before[column] then best[family] = row end
  end
  for i, family in ipairs(order) do
    order[i] = ("%s %s (%.4f)"):format(family, best[family][2], best[family][column])
  end
  return table.concat(order, ", ")
end

local measures = { { "ndcg@10", "nDCG@10" }, { "ap", "AP" }, { "auc", "AUC" }, { "catalogue", "nDCG@10, all items" } }

-- Returns the table of a data set, with a row for each learner, and its findings in words. The last metric of ratings,
-- and the first one of queries, chose the settings and is compared with that of squared errors.
local function table_of(set)
  local of, results, best = learners.runs(args, set)
  local of_users, names = set == "movielens", {}
  local main, unit, units = of_users and 4 or 1, of_users and "user" or "query", of_users and "users" or "queries"
  for i, each in ipairs(of.learners) do names[i] = each.name end
  local compared = experiment.compared(results, { by = { { "learner", names } }, value = measures[main][1],
    against = { learner = learners.reference }, base = "squared errors", what = "losses and untrained models",
    on = of.title, unit = unit, units = units })
  local cells = experiment.cells("bootstrap over " .. units, function(row, column)
    local own = row[1] == "untrained" and 0 or of.folds
    return (column == "change" or column == "p, Holm") and own + of.folds or own
  end)
  local heads, rows = { "family", "loss", "rate", "decay" }, {}
  local formats, head = { change = "%+.4f", ["p, Holm"] = "%.2g" }, measures[main][2]
  for m = 1, of_users and 4 or 3 do heads[4 + m], formats[measures[m][2]] = measures[m][2], "%.4f" end
  for i, each in ipairs(of.learners) do
    local at, row = best[each.name], compared.rows[i]
    rows[i] = { each.family, each.name, at.rate or at.eta or "", at.decay or "" }
    for c = 5, #heads do
      local values = experiment.by_list({ results }, { learner = each.name }, measures[c - 4][1])
      rows[i][c] = mr.stats.mean(values)
      cells:note(i, heads[c], experiment.over_lists(values))
    end
    table.move({ row.change or "", row.holm or "" }, 1, 2, #heads + 1, rows[i])
    cells:note(i, "change", row.ends.change)
  end
  table.move({ "change", "p, Holm" }, 1, 2, #heads + 1, heads)
  return experiment.named(of.title, mr.table{ columns = heads, rows = rows, formats = formats,
    mark = { [head] = "max", ["p, Holm"] = 0.05 } }, cells, ([[
%srate: learning rate, of trees eta; decay: weight decay; change: of %s, by which validation chooses, against squared
errors, paired by %s; p, Holm: of a permutation test, corrected over the table.]]):format(of_users and [[
nDCG@10, AP, AUC: of lists with four items that are not relevant for each relevant one; nDCG@10, all items: of every
item that the user has not liked in training or validation; ]] or "", head, unit)), ([[
%s With %d %s and seed %d, the best of each family by %s are %s.]]):format(compared.first, of.folds,
    of.folds == 1 and "fold" or "folds", args.seed, of_users and "nDCG@10 among all items" or head,
    best_of(rows, 4 + main))
end

local tables, texts = {}, {}
for i, set in ipairs(args.sets) do tables[i], texts[i] = table_of(set) end
return experiment.finish(args, nil, table.concat(texts, "\n\n"), table.unpack(tables))
