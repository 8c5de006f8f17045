-- Results for Table 1 of Tang et al. (2023) by the protocol of the paper's text (--recipe paper): with the learning
-- rate of the text, with the rate chosen on validation, and of random orders. A second table compares the nDCG (gain
-- 2^y - 1 of a label y) of each algorithm with that of MseNetBatched and of random orders.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local protocol = dofile(here .. "protocol.lua")

local M = {}

M.protocol = [[
Every algorithm is evaluated on the same test queries, those of the official folds, where the paper splits off a tenth of all queries at
random; features are standardised by the training part. RankNet is trained query by query, where the paper has batches of 64 (section
4.2.1).
Each network is trained at four learning rates (0.0001 to 0.1) and its epoch is chosen on the validation part, by nDCG with the gain
2^y - 1; the lines "rate of the text" have the learning rate of section 4.2 and those called "rate chosen" the rate that is best on the
validation part of each fold. Of equal scores the mean over their orders counts. Queries without relevant documents have no metric and
are left out.]]

local legend = [[
rates chosen, epochs chosen, queries trained on: fold by fold; nDCG: with the gain 2^y - 1, on test; sd of folds:
standard deviation of the folds' means; change: of nDCG against MseNetBatched; p: of a permutation test of that,
paired by query (100,000 choices of signs), corrected by Holm over the column; p, random: against random orders;
queries: that are tested; skipped: without relevant documents.]]

-- The values of a metric for all test queries, one fold after the other, in one array. `folds` has a training run per
-- fold.
local function pooled(results, folds, metric)
  local all = {}
  for _, trial in ipairs(folds) do
    local values = results:per_list(trial.number, metric):totable()
    table.move(values, 1, #values, #all + 1, all)
  end
  return all
end

-- The expected metrics of random orders: by metric, an array with the values of all test queries, one fold after the
-- other.
local function random_values(runs, set)
  local all = {}
  for _, fold in ipairs(set.folds) do
    for metric, values in pairs(runs.measures.random(fold.test.lists)) do
      all[metric] = all[metric] or {}
      values = values:totable()
      table.move(values, 1, #values, #all[metric] + 1, all[metric])
    end
  end
  return all
end

-- A number, such as the learning rate, that each training run in `folds` has under `name`, in the order of the folds.
local function column(folds, name)
  local found = {}
  for i, trial in ipairs(folds) do found[i] = trial[name] end
  return found
end

-- Numbers as text, in the order of the folds.
local function listed(numbers)
  local found = {}
  for i, x in ipairs(numbers) do found[i] = ("%g"):format(x) end
  return table.concat(found, " ")
end

-- Compares the test nDCG of every algorithm with random orders and with the base network (MseNetBatched). Returns one
-- entry per algorithm, in the order of Table 1, as protocol.compare does.
local function comparisons(results, chosen, random)
  local values = {}
  for _, name in ipairs(protocol.names) do values[name] = pooled(results, chosen[name], "ndcg") end
  return protocol.compare(values, random)
end

local function second_table(results, chosen, found)
  local rows, base = {}, pooled(results, chosen[protocol.base], "ndcg")
  local cells = experiment.cells("bootstrap over queries", function(row, name)
    return #chosen[row[1]] * ((name == "change" or name == "p") and 2 or 1)
  end)
  for i, each in ipairs(found) do
    local folds, first = chosen[each.name], each.p ~= each.p
    local function at(k)
      local values = pooled(results, folds, "ndcg@" .. k)
      cells:note(i, "nDCG@" .. k, experiment.over_lists(values))
      return mr.stats.mean(values)
    end
    local own = pooled(results, folds, "ndcg")
    cells:note(i, "nDCG", experiment.over_lists(own))
    cells:note(i, "change", not first and experiment.over_lists{ own, base } or nil)
    rows[i] = { each.name, listed(column(folds, "rate")), listed(column(folds, "epoch")),
      listed(column(folds, "trained_on")), each.mean,
      #folds > 1 and mr.stats.summary(column(folds, "ndcg")).sd or nil, at(2), at(4), at(6), each.p_random,
      not first and each.change or nil, not first and each.p or nil, each.n, each.skipped }
  end
  return mr.table{ rows = rows,
    columns = { "algorithm", "rates chosen", "epochs chosen", "queries trained on", "nDCG", "sd of folds", "nDCG@2",
      "nDCG@4", "nDCG@6", "p, random", "change", "p", "queries", "skipped" },
    mark = { nDCG = "max", ["nDCG@2"] = "max", ["nDCG@4"] = "max", ["nDCG@6"] = "max", p = 0.05, ["p, random"] = 0.05 },
    formats = { nDCG = "%.4f", ["sd of folds"] = "%.4f", ["nDCG@2"] = "%.4f", ["nDCG@4"] = "%.4f", ["nDCG@6"] = "%.4f",
      ["p, random"] = "%.2g", change = "%+.4f", p = "%.2g" } }, cells
end

-- A part of a sentence: by how much the mean nDCG of each objective changes if it is trained query by query instead of
-- in batches.
local function by_query(found)
  local parts, mean = {}, {}
  for _, each in ipairs(found) do mean[each.name] = each.mean end
  for _, name in ipairs{ "MseNet", "ApproxNDCG", "NeuralNDCG" } do
    parts[#parts + 1] = ("%s %+.4f"):format(name, mean[name .. "QbQ"] - mean[name .. "Batched"])
  end
  return table.concat(parts, ", ")
end

-- In how many folds, over all algorithms, validation chose the smallest or the largest learning rate that was tried,
-- e.g. "3 of 35".
local function at_the_edge(chosen)
  local count, all = 0, 0
  for _, folds in pairs(chosen) do
    for _, trial in ipairs(folds) do count, all = count + (protocol.at_edge(trial.rate) and 1 or 0), all + 1 end
  end
  return ("%d of %d"):format(count, all)
end

-- Returns the findings of the second table as a sentence, and a shorter finding as a format in which %s stands for the
-- name of the data set.
local function words(found, random, edge)
  local best, worst, surely, over_random = found[1], found[1], 0, 0
  for _, each in ipairs(found) do
    if each.mean > best.mean then best = each end
    if each.mean < worst.mean then worst = each end
    if protocol.significant(each.p) then surely = surely + 1 end
    if protocol.significant(each.p_random) and each.mean > random then over_random = over_random + 1 end
  end
  return ([[
with the chosen rates nDCG is between %.4f (%s) and %.4f (%s), where random orders have %.4f; %d of %d networks are significantly
better than those. Of %d comparisons with MseNetBatched %s significant at 5 %%. Training query by query instead of in batches
changes nDCG by these amounts: %s. Of the chosen rates %s are the least or the largest that was tried.]]):format(
    worst.mean, worst.name, best.mean, best.name, random, over_random, #found, #found - 1, experiment.are(surely),
    by_query(found), edge), ([[
from %.4f to %.4f on %%s (of %d differences from MseNetBatched %s significant)]]):format(
      worst.mean, best.mean, #found - 1, experiment.are(surely))
end

---Makes what table_1.lua shows of a data set with --recipe paper. `lines(algorithm)` returns the rows of an algorithm,
---each with `title`, `cell(metric)` and its interval `ends(metric)`; `random(metric)` and `random_ends(metric)` are
---those of random orders. `table` is a second table with the title `about`; `text` and `finding` are sentences on the
---results.
---@param args table  parsed command line (runs.args)
---@param runs table  the module runs.lua
---@param name "mq2008"|"mslr"|"web10k"
---@return table
function M.view(args, runs, name)
  local set, results = runs.set(args, name), runs.of(args, name)
  local chosen, of_text = {}, {}
  for _, algorithm in ipairs(protocol.names) do
    local all = runs.trials(results, algorithm)
    chosen[algorithm] = protocol.choose(all)
    of_text[algorithm] = protocol.choose(all, runs.settings(args, set, algorithm).rate)
  end
  local random = random_values(runs, set)
  local function line(title, folds)
    return { title = title, cell = function(metric) return mr.stats.mean(pooled(results, folds, metric)) end,
      ends = function(metric) return experiment.over_lists(pooled(results, folds, metric)) end, runs = #folds }
  end
  local found = comparisons(results, chosen, random.ndcg)
  local text, finding = words(found, mr.stats.mean(random.ndcg), at_the_edge(chosen))
  local second, cells = second_table(results, chosen, found)
  return {
    lines = function(algorithm)
      return { line("rate of the text", of_text[algorithm]), line("rate chosen", chosen[algorithm]) }
    end,
    random = function(metric) return mr.stats.mean(random[metric]) end,
    random_ends = function(metric) return experiment.over_lists(random[metric]) end, by = "bootstrap over queries",
    table = second, cells = cells, about = "what was chosen, nDCG, and its change against MseNetBatched",
    met = function() return "" end,
    text = text, finding = finding, legend = legend,
  }
end

return M
