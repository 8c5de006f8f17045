-- Functions that all scripts on Tang et al. (2023) share: they open data sets, make the training runs by protocol.lua
-- (named "recipe paper" in the store), and make rows of Table 1.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol }

---Parses the command line: the script's own options, --seed, and those of its store. `smoke`: values under --smoke.
function M.args(own, smoke)
  own.seed = own.seed or { default = 1, help = "of networks" }
  return experiment.args(own, { document = "objectives", smoke = smoke })
end

---Opens a data set with its official folds, or with made-up queries (--smoke).
function M.set(args, name)
  local set = protocol.with(protocol.sets[name], { name = name })
  set.folds = experiment.queries(args, set.folder, { features = set.features })
  if args.smoke then set.title, set.said, set.least = "made-up " .. name, "made-up " .. name, 1 end
  return set
end

---Returns what a run keeps for learning curves: losses of all epochs, and the chosen epoch with its validation metric.
local function curves(run)
  local lists = { training = {}, held_out = {} }
  for i, entry in ipairs(run.history) do lists.training[i], lists.held_out[i] = entry.loss, entry.valid_loss end
  return { valid = run.best.metrics.ndcg, epoch = run.best.epoch, per_list = lists }
end
M.curves = curves

---Makes or reads the runs of all algorithms, learning rates and folds of a data set.
function M.of(args, set)
  return experiment.study(args, {
    name = ("%s, recipe paper, seed %d"):format(set.name, args.seed),
    settings = { recipe = "paper", filter = set.least },
    space = { algorithm = mr.choice(protocol.names), rate = mr.choice(protocol.rates),
      split = mr.range(1, #set.folds) },
    run = function(trial)
      local run, trained_on = protocol.train(set, trial, args.seed, args.smoke)
      local result = protocol.with(curves(run), { trained_on = trained_on })
      for _, name in ipairs(protocol.metric_names) do
        result[name], result.per_list[name] = run.test.mean[name], run.scores[name]
      end
      return result
    end })
end

---Returns the metrics of random orders of all test queries: the mean over all orders of each query.
function M.random(set)
  local tests = {}
  for i, fold in ipairs(set.folds) do tests[i] = mr.data.dataset{ lists = fold.test.lists } end
  local all = tests[1]:concat(table.unpack(tests, 2))
  return mr.evaluate(mr.zeros(all.lists.rows), all.lists, protocol.metrics())
end

---Adds a row of Table 1: means over test queries, from `runs` training runs. values_of(metric) has a value per query.
function M.add(rows, algorithm, what, runs, values_of)
  local row = { algorithm = algorithm, what = what, runs = runs }
  for c, metric in ipairs(protocol.of_table) do row[protocol.titles[c]] = experiment.mean(values_of(metric)) end
  rows[#rows + 1] = row
end

---Adds the rows of an algorithm: at the rate of the paper, and at the rate of each fold that is best on validation.
function M.add_algorithm(rows, set, results, algorithm)
  local rate = protocol.settings(algorithm, set).rate
  for _, line in ipairs{ { "rate of the text", experiment.runs(results, { algorithm = algorithm, rate = rate }) },
    { "rate chosen", experiment.chosen(results, { algorithm = algorithm }) } } do
    M.add(rows, algorithm, line[1], #set.folds, function(metric) return experiment.lists(results, line[2], metric) end)
  end
end

---Adds the numbers that are printed for an algorithm. Those of MSLR-WEB10K stand beside the slice, too.
function M.add_published(rows, set, algorithm)
  for _, row in ipairs(mr.data.csv(here .. "published.csv", { texts = protocol.titles }):records()) do
    if set.name == "mslr" then row.what = row.what .. ", MSLR-WEB10K" end
    rows[#rows + 1] = row.set == set.kind and row.algorithm == algorithm and row or nil
  end
end

---Returns a table of such rows. `by` says how intervals were computed.
function M.table(caption, rows, by)
  local columns = { { "algorithm" }, { "what" } }
  for c, title in ipairs(protocol.titles) do columns[2 + c] = { title, format = "%.4f", mark = "max" } end
  return experiment.table{ records = rows, columns = columns, within = { "what" }, by = by, caption = caption,
    runs = function(row) return row.runs or 0 end, legend = [[
nDCG+1, and @2, @4, @6: nDCG of labels to which 1 was added, of all ranks and of the first ones; P@2, P@4, P@6:
precision; MAP: mean average precision.]] }
end

return M
