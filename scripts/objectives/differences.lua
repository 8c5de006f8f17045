-- Do the objectives of Tang et al. (2023), Table 1, differ significantly? The networks of table_1.lua, at the learning
-- rates that validation chose, are compared by nDCG with random orders and with MseNetBatched, paired by test query.
-- The table also has what validation chose. Runs are those of table_1.lua.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, beside = mr.experiment, dofile(here .. "beside.lua")
local training, protocol = beside.training, beside.training.protocol

local args = training.args{
  sets = { default = { "mq2008", "mslr" }, choices = protocol.set_names, distinct = true, help = "which data" } }
local sets, tables, texts, findings = {}, {}, {}, {}
for i, name in ipairs(args.sets) do sets[i] = training.set(args, name) end

-- Returns as one text a result of training runs, such as the chosen learning rate, for each fold.
local function by_fold(results, runs, name)
  return table.concat(experiment.folds(results, runs, name), " "):gsub("%.0%f[%z ]", "")
end

-- Compares all algorithms on a data set. Returns a record for each algorithm, with its significance tests and the rates
-- and epochs that validation chose. Also returns the number of chosen learning rates, and how many of these are the
-- least or the largest rate that was tried.
local function compared(results, random)
  local chosen, values, rates, at_edge = {}, {}, 0, 0
  for _, name in ipairs(protocol.names) do
    chosen[name] = experiment.chosen(results, { algorithm = name })
    values[name] = experiment.lists(results, chosen[name], "ndcg")
    for _, rate in ipairs(experiment.folds(results, chosen[name], "rate")) do
      rates, at_edge = rates + 1, at_edge + (beside.at_edge(rate) and 1 or 0)
    end
  end
  local found = beside.compare(values, random)
  for _, each in ipairs(found) do
    local runs = chosen[each.name]
    for _, name in ipairs{ "rate", "epoch", "trained_on" } do each[name] = by_fold(results, runs, name) end
    for _, name in ipairs{ "ndcg", "ndcg@2", "ndcg@4", "ndcg@6" } do
      each[name] = experiment.mean(experiment.lists(results, runs, name))
    end
    each.sd = #runs > 1 and mr.stats.summary(experiment.folds(results, runs, "ndcg")).sd or nil
    if each.change and each.low == each.low then each.change = { each.change, each.low, each.high } end
  end
  return found, rates, at_edge
end

local p = { format = "%.2g", mark = beside.level }
local function table_of(set, found)
  return experiment.table{ caption = set.title .. ": what was chosen, nDCG, and its change against MseNetBatched",
    records = found, by = "bootstrap over queries",
    columns = { { "algorithm", "name" }, { "rates chosen", "rate" }, { "epochs chosen", "epoch" },
      { "queries trained on", "trained_on" }, { "nDCG", "ndcg", format = "%.4f", mark = "max" },
      { "sd of folds", "sd", format = "%.4f" }, { "nDCG@2", "ndcg@2", format = "%.4f", mark = "max" },
      { "nDCG@4", "ndcg@4", format = "%.4f", mark = "max" }, { "nDCG@6", "ndcg@6", format = "%.4f", mark = "max" },
      { "p, random", "p_random", format = p.format, mark = p.mark }, { "change", format = "%+.4f" },
      { "p", format = p.format, mark = p.mark }, { "queries", "n" }, { "skipped" } },
    runs = function(_, column) return #set.folds * ((column == "change" or column == "p") and 2 or 1) end, legend = [[
rates chosen, epochs chosen, queries trained on: fold by fold; nDCG: with the gain 2^y - 1, on test; sd of folds:
standard deviation of the folds' means; change: of nDCG against MseNetBatched; p: of a permutation test of that,
paired by query (100,000 choices of signs), corrected by Holm over the column; p, random: against random orders;
queries: that are tested; skipped: without relevant documents.]] }
end

-- Returns the result of the comparisons twice: as text below the table, and as a short clause for a report's list of
-- findings.
local function words(set, found, random, rates, at_edge)
  local best, worst, surely, over_random, mean = found[1], found[1], 0, 0, {}
  for _, each in ipairs(found) do
    best, worst = each.mean > best.mean and each or best, each.mean < worst.mean and each or worst
    surely = surely + (each.p and each.p < beside.level and 1 or 0)
    over_random = over_random + (each.p_random < beside.level and each.mean > random and 1 or 0)
    mean[each.name] = each.mean
  end
  local function gain(name) return mean[name .. "QbQ"] - mean[name .. "Batched"] end
  return ([[
On %s, with the chosen rates nDCG is between %.4f (%s) and %.4f (%s), where random orders have %.4f; %d of %d networks
are significantly better than those. Of %d comparisons with MseNetBatched %s significant at 5 %%. Training query by
query instead of in batches changes nDCG by these amounts: MseNet %+.4f, ApproxNDCG %+.4f, NeuralNDCG %+.4f. Of the
chosen rates %d of %d are the least or the largest that was
tried.]]):format(set.said, worst.mean, worst.name, best.mean, best.name, random,
    over_random, #found, #found - 1, experiment.are(surely), gain "MseNet", gain "ApproxNDCG", gain "NeuralNDCG",
    at_edge, rates),
    ("from %.4f to %.4f on %s (of %d differences from MseNetBatched %s significant)"):format(worst.mean, best.mean,
      set.said, #found - 1, experiment.are(surely))
end

for i, set in ipairs(sets) do
  local results, random = training.of(args, set), training.random(set).ndcg
  local found, rates, at_edge = compared(results, random)
  tables[i] = table_of(set, found)
  texts[i], findings[i] = words(set, found, mr.stats.mean(random), rates, at_edge)
end
local section = experiment.finish(args, nil, table.concat(texts, "\n\n"), table.unpack(tables))
section.finding = not args.smoke and ("Trained and evaluated alike, networks of all objectives have a mean nDCG %s.")
  :format(table.concat(findings, " and ")) or nil
return section
