-- Pointwise, pairwise, listwise (Seguí's lecture "Learning to Rank"): which family of losses ranks best, or do trees?

-- Data: MovieLens, where ratings of 4 and more are relevant ("liked"), with four other items for each liked one, and
-- MQ2008, both in five folds. Models: matrix factorisation with 32 factors for MovieLens, a network with 46 hidden
-- units or boosted trees for MQ2008. Adam trains the models with all losses of the lecture. Protocol: validation
-- chooses learning rate and weight decay on the first fold, and the epoch on each fold, by nDCG@10. Every loss is
-- compared with squared error.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local learners, experiment = dofile(here .. "learners.lua"), mr.experiment

local losses = {}
for _, each in ipairs(learners.learners) do losses[#losses + 1] = each.loss and each.name end
local args = experiment.args({
  seed = { default = 1, least = 0, most = 0x7fffffff, help = "seed of splits, negatives and models" },
  sets = { default = learners.sets, choices = learners.sets, help = "which data sets" },
  losses = { default = losses, choices = losses, help = "beside squared error; another choice takes another store" },
  folds = { default = 5, least = 1, most = 5, help = "how many of the five folds are run" },
}, { document = "lecture", smoke = { folds = 1 } })

-- Names the loss with the highest mean of a metric for each trained family: "pairwise BPR (0.3000), ...".
local function best_of(records, metric)
  local parts = {}
  for _, family in ipairs{ "pointwise", "pairwise", "listwise", "trees" } do
    local best
    for _, each in ipairs(records) do
      if each.family == family and (not best or each[metric][1] > best[metric][1]) then best = each end
    end
    if best then parts[#parts + 1] = ("%s %s (%.4f)"):format(family, best.loss, best[metric][1]) end
  end
  return table.concat(parts, ", ")
end

-- Returns the table of a data set, with a row for each learner, and its findings in words. Learners are compared by the
-- metric that chose their settings: for users nDCG@10 among all items, for queries nDCG@10 of their documents.
local function table_of(set)
  local of, results, best = learners.runs(args, set)
  local of_users, metric = set == "movielens", set == "movielens" and "catalogue" or "ndcg@10"
  local compared = experiment.compared(results, { by = { { "learner", of.names } }, value = metric,
    against = { learner = learners.reference }, base = "squared errors", what = "losses and untrained models",
    on = of.title, unit = of.unit, units = of.units })
  local records = {}
  for i, each in ipairs(of.learners) do
    local at, row = best[each.name], compared.rows[i]
    records[i] = { family = each.family, loss = each.name, rate = at.rate or at.eta or "", decay = at.decay or "",
      change = row.change and { row.change, table.unpack(row.ends.change or {}) } or "", ["p, Holm"] = row.holm or "" }
    for _, name in ipairs{ "ndcg@10", "ap", "auc", of_users and "catalogue" or nil } do
      records[i][name] = experiment.mean(experiment.by_list(results, { learner = each.name }, name))
    end
  end
  return experiment.table{ caption = of.title, records = records,
    columns = { { "family" }, { "loss" }, { "rate" }, { "decay" },
      { "nDCG@10", "ndcg@10", format = "%.4f", mark = not of_users and "max" or nil },
      { "AP", "ap", format = "%.4f" }, { "AUC", "auc", format = "%.4f" },
      of_users and { "nDCG@10, all items", "catalogue", format = "%.4f", mark = "max" },
      { "change", format = "%+.4f" }, { "p, Holm", format = "%.2g", mark = 0.05 } },
    by = "bootstrap over " .. of.units, runs = function(each, column)
      local is_of_two = column == "change" or column == "p, Holm"
      return of.folds * ((each.family == "untrained" and 0 or 1) + (is_of_two and 1 or 0))
    end, legend = ([[
%srate: learning rate, of trees eta; decay: weight decay; change: of %s, by which validation chooses, against squared
errors, paired by %s; p, Holm: of a permutation test, corrected over the table.]]):format(of_users and [[
nDCG@10, AP, AUC: of lists with four items that are not relevant for each relevant one; nDCG@10, all items: of every
item that the user has not liked in training or validation; ]] or "",
    of_users and "nDCG@10, all items" or "nDCG@10", of.unit) }, ([[
%s With %d %s and seed %d, the best of each family by %s are %s.]]):format(compared.first, of.folds,
    of.folds == 1 and "fold" or "folds", args.seed, of_users and "nDCG@10 among all items" or "nDCG@10",
    best_of(records, metric))
end

local tables, texts = {}, {}
for i, set in ipairs(args.sets) do tables[i], texts[i] = table_of(set) end
return experiment.finish(args, nil, table.concat(texts, "\n\n"), table.unpack(tables))
