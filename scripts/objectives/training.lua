-- Training runs of the scripts on Tang et al. (2023): options, data sets, the study of runs of a data set by
-- protocol.lua (--recipe paper), and tables of their results.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol }

---The option --recipe of scripts that have both recipes.
M.recipe = { default = "paper", choices = { "paper", "code" },
  help = "our protocol, on the data sets' official folds, or what the authors' code does, on random splits" }

---Parses the command line: the script's own options, --seed, and those of its store. `smoke`: values under --smoke.
function M.args(own, smoke)
  own.seed = { default = 1, help = "of networks; recipe code: the first of three, of splits and networks" }
  return experiment.args(own, { document = "objectives", smoke = smoke })
end

local opened = experiment.cache()

---Returns a data set with its official folds, or with made-up queries (--smoke). Its files are read only once.
function M.set(args, name)
  local set = protocol.sets[name]
  opened[name] = opened[name] or protocol.with(set, {
    folds = experiment.queries(args, set.folder, { features = set.features, queries = 90, mean_size = 8 }),
    title = args.smoke and ("made-up, %d features"):format(set.features) or set.title,
    least = args.smoke and 1 or set.least })
  return opened[name]
end

---Returns the title of a data set as it is used within a sentence, such as "the MSLR slice".
function M.said(set) return set.title:find "slice$" and "the " .. set.title or set.title end

---Returns the results of a run for learning curves: the losses of all epochs, and the chosen epoch with its metric on
---validation.
function M.curves(run)
  local lists = { training = {}, held_out = {} }
  for i, entry in ipairs(run.history) do lists.training[i], lists.held_out[i] = entry.loss, entry.valid_loss end
  return { valid = run.best.metrics.ndcg, epoch = run.best.epoch, per_list = lists }
end

local function result_of(run, trained_on)
  local result = protocol.with(M.curves(run), { trained_on = trained_on })
  for _, name in ipairs(protocol.metric_names) do
    result[name], result.per_list[name] = run.test.mean[name], run.scores[name]
  end
  return result
end

---Makes or reads the runs of all algorithms, learning rates and folds of a data set.
function M.of(args, name)
  local set = M.set(args, name)
  return experiment.study(args, {
    name = ("%s, recipe paper, seed %d"):format(name, args.seed), settings = { recipe = "paper", filter = set.least },
    space = { algorithm = mr.choice(protocol.names), rate = mr.choice(protocol.rates),
      split = mr.range(1, #set.folds) },
    run = function(trial) return result_of(protocol.train(set, trial, args.seed, args.smoke)) end })
end

---Returns the metrics of random orders of all test queries: the mean over all orders of each query.
function M.random(set)
  local tests = {}
  for i, fold in ipairs(set.folds) do tests[i] = mr.data.dataset{ lists = fold.test.lists } end
  local all = tests[1]:concat(table.unpack(tests, 2))
  return mr.evaluate(mr.zeros(all.lists.rows), all.lists, protocol.metrics())
end

---Returns an object that collects intervals of a table with the metrics of Table 1.
function M.cells(set)
  return experiment.cells("bootstrap over queries", function(row) return row[2]:find "^rate" and #set.folds or 0 end)
end

-- Adds a row to such a table: the mean of `values_of(metric)`, the values of all test queries, with its interval.
local function add(rows, cells, algorithm, what, values_of)
  local row = { algorithm, what }
  for c, metric in ipairs(protocol.of_table) do
    local values = values_of(metric)
    row[2 + c] = mr.stats.mean(values)
    cells:note(#rows + 1, protocol.titles[c], experiment.over_lists(values))
  end
  rows[#rows + 1] = row
end

---Adds the rows of an algorithm: at the rate of the paper, and at the rate of each fold that is best on validation.
function M.add_algorithm(rows, cells, set, results, algorithm)
  local rate = protocol.settings(algorithm, set).rate
  local of_text, chosen = experiment.runs(results, { algorithm = algorithm, rate = rate }),
    experiment.chosen(results, { algorithm = algorithm })
  for _, line in ipairs{ { "rate of the text", of_text }, { "rate chosen", chosen } } do
    add(rows, cells, algorithm, line[1], function(metric) return experiment.lists(results, line[2], metric) end)
  end
end

---Adds the row of random orders.
function M.add_random(rows, cells, random)
  add(rows, cells, "random order", "mean over all orders", function(metric) return random[metric] end)
end

---Returns the table of these rows, of which the last has random orders. With `best` = "max", the largest number of a
---metric is marked among rows that agree in "what", except for random orders, which become texts.
function M.named(caption, rows, cells, best)
  local columns, formats, mark = { "algorithm", "what", table.unpack(protocol.titles) }, {}, {}
  for c, title in ipairs(protocol.titles) do
    formats[title], mark[title] = "%.4f", best
    if best then rows[#rows][2 + c] = ("%.4f"):format(rows[#rows][2 + c]) end
  end
  return experiment.named(caption, mr.table{ columns = columns, rows = rows, formats = formats, mark = mark,
    within = { "what" } }, cells, [[
nDCG+1, and @2, @4, @6: nDCG of labels to which 1 was added, of all ranks and of the first ones; P@2, P@4, P@6:
precision; MAP: mean average precision.]])
end

-- Sentences on networks that were compared: one for the text, and one for the findings of a report.
local function words(set, found, random, at_edge)
  local best, worst, surely, over_random, mean = found[1], found[1], 0, 0, {}
  for _, each in ipairs(found) do
    best, worst = each.mean > best.mean and each or best, each.mean < worst.mean and each or worst
    surely = surely + (each.p and each.p < protocol.level and 1 or 0)
    over_random = over_random + (each.p_random < protocol.level and each.mean > random and 1 or 0)
    mean[each.name] = each.mean
  end
  local function gain(name) return mean[name .. "QbQ"] - mean[name .. "Batched"] end
  return ([[
On %s, with the chosen rates nDCG is between %.4f (%s) and %.4f (%s), where random orders have %.4f; %d of %d networks
are significantly better than those. Of %d comparisons with MseNetBatched %s significant at 5 %%. Training query by
query instead of in batches changes nDCG by these amounts: MseNet %+.4f, ApproxNDCG %+.4f, NeuralNDCG %+.4f. Of the
chosen rates %s are the least or the largest that was
tried.]]):format(M.said(set), worst.mean, worst.name, best.mean, best.name, random,
    over_random, #found, #found - 1, experiment.are(surely), gain "MseNet", gain "ApproxNDCG", gain "NeuralNDCG",
    at_edge),
    ("from %.4f to %.4f on %s (of %d differences from MseNetBatched %s significant)"):format(worst.mean, best.mean,
      M.said(set), #found - 1, experiment.are(surely))
end

---Compares the nDCG of all algorithms at their chosen rates with MseNetBatched and with random orders, whose values are
---`random`. Returns a table, and its result in two sentences, for the text and for the findings of a report.
function M.changes(set, results, random)
  local chosen, values, rates, at_edge = {}, {}, 0, 0
  for _, name in ipairs(protocol.names) do
    chosen[name] = experiment.chosen(results, { algorithm = name })
    values[name] = experiment.lists(results, chosen[name], "ndcg")
    for _, rate in ipairs(experiment.folds(results, chosen[name], "rate")) do
      rates, at_edge = rates + 1, at_edge + (protocol.at_edge(rate) and 1 or 0)
    end
  end
  local found, depths = protocol.compare(values, random), { "nDCG", "nDCG@2", "nDCG@4", "nDCG@6" }
  for _, each in ipairs(found) do
    local runs = chosen[each.name]
    for _, name in ipairs{ "rate", "epoch", "trained_on" } do
      each[name] = table.concat(experiment.folds(results, runs, name), " "):gsub("%.0%f[%z ]", "")
    end
    for _, title in ipairs(depths) do each[title] = experiment.mean(experiment.lists(results, runs, title:lower())) end
    each.sd = #runs > 1 and mr.stats.summary(experiment.folds(results, runs, "ndcg")).sd or nil
    if each.change and each.low == each.low then each.change = { each.change, each.low, each.high } end
  end
  local columns = { { "algorithm", "name" }, { "rates chosen", "rate" }, { "epochs chosen", "epoch" },
    { "queries trained on", "trained_on" } }
  for _, title in ipairs(depths) do columns[#columns + 1] = { title, format = "%.4f", mark = "max" } end
  table.insert(columns, 6, { "sd of folds", "sd", format = "%.4f" })
  table.move({ { "p, random", "p_random", format = "%.2g", mark = protocol.level }, { "change", format = "%+.4f" },
    { "p", format = "%.2g", mark = protocol.level }, { "queries", "n" }, { "skipped" } }, 1, 5, #columns + 1, columns)
  return experiment.table{ caption = set.title .. ": what was chosen, nDCG, and its change against MseNetBatched",
    records = found, columns = columns, by = "bootstrap over queries",
    runs = function(_, column) return #set.folds * ((column == "change" or column == "p") and 2 or 1) end, legend = [[
rates chosen, epochs chosen, queries trained on: fold by fold; nDCG: with the gain 2^y - 1, on test; sd of folds:
standard deviation of the folds' means; change: of nDCG against MseNetBatched; p: of a permutation test of that,
paired by query (100,000 choices of signs), corrected by Holm over the column; p, random: against random orders;
queries: that are tested; skipped: without relevant documents.]] },
    words(set, found, mr.stats.mean(random), ("%d of %d"):format(at_edge, rates))
end

return M
