-- Functions that all scripts of this folder share: they read options, compare rankers on every fold of queries with
-- standardised features, and make a table of mean test nDCG@10.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "../protocol.lua")

local M = {}

---Parses the command line of a script: the options in `own`, and --data, --seed and --smoke. Returns
---their values.
---@param own table
---@return table
function M.options(own)
  own.data = { path = "data folder", default = "",
    help = "folder of ml-latest-small and mq2008", shown = "where the program looks for data" }
  own.seed = { default = 1, help = "seed of what is random" }
  own.smoke = own.smoke or { default = false, help = "made-up data, to see that it runs" }
  own.smoke.ignores = { "data" }
  local args = mr.args(own)
  args.made_up = args.smoke
  return args
end

---@class background.Means
---@field title string     title of the data set
---@field unit string      what a list is, in the plural
---@field head string      head of the column of names
---@field folds integer
---@field count integer    number of lists in a mean
---@field names string[]   names of the rankers
---@field means table      mean by name of the ranker
---@field parts table[][]  for each ranker, its result on each fold

---Makes the table of mean test nDCG@10 per ranker, with a text about it. Prints both, and returns them
---as a section for a report.
---@param args table
---@param o background.Means
---@return report.Section
function M.table(args, o)
  local rows, best = {}, nil
  local cells = experiment.cells("Student's t over folds", function(row)
    return row[1] == "by chance" and 0 or o.folds
  end)
  for i, name in ipairs(o.names) do
    rows[i] = { name, o.means[name] }
    local of_folds = {}
    for _, part in ipairs(o.parts[i]) do
      if part.count ~= 0 then of_folds[#of_folds + 1] = part.mean end
    end
    cells:note(i, "ndcg@10", experiment.over_runs(of_folds))
    if name ~= "by chance" and (not best or o.means[name] > o.means[best]) then best = name end
  end
  return experiment.finish(args, nil, ([[
Mean test nDCG@10 over %d %s of %s (%d %s). The highest is that of %s (%.4f); chance reaches %.4f.]]):format(
      o.folds, o.folds == 1 and "fold" or "folds", o.title, o.count, o.unit, best, o.means[best], o.means["by chance"]),
    experiment.named("", mr.table{
      columns = { o.head, "ndcg@10" },
      formats = { ["ndcg@10"] = "%.4f" },
      rows = rows }, cells))
end

---Returns mean nDCG@10 of an evaluation, and the number of lists in this mean, for `M.pooled`.
---@param found mr.Evaluation
function M.measured(found) return { mean = found.mean["ndcg@10"], count = found.counted["ndcg@10"] } end

---Combines the means of a metric on several folds. Returns the mean over all lists of all folds, and
---the number of these lists. A fold without such lists is left out.
---@param parts { mean: number, count: integer }[]  mean and number of lists of each fold
---@return number mean, integer count
function M.pooled(parts)
  local sum, count = 0, 0
  for _, part in ipairs(parts) do
    if part.count > 0 then sum, count = sum + part.mean * part.count, count + part.count end
  end
  return sum / count, count
end

---Compares rankers, and a random ranking, on every fold of MQ2008 (made-up queries with --smoke), by
---nDCG@10. Queries without relevant documents are left out of the means. `rank` trains the rankers on a
---fold.
---@param args table
---@param rank fun(train: mr.Dataset, tested: mr.Dataset): table  returns {name, scores of the test part} per ranker
---@return report.Section
function M.compare(args, rank)
  local folds, title = protocol.queries(args)
  local names, parts = {}, {}
  for number = 1, #folds do
    local fold = protocol.query_fold(folds, number)
    local rankers = rank(fold.train, fold.test)
    rankers[#rankers + 1] = { "by chance", mr.uniform({ fold.test.lists.rows }, { seed = args.seed }) }
    for i, ranker in ipairs(rankers) do
      names[i], parts[i] = ranker[1], parts[i] or {}
      parts[i][number] = M.measured(mr.evaluate(ranker[2], fold.test.lists, { "ndcg@10" }))
    end
  end
  local means, count = {}, nil
  for i, name in ipairs(names) do means[name], count = M.pooled(parts[i]) end
  return M.table(args, {
    title = title,
    unit = "queries with relevant documents",
    head = "ranker",
    folds = #folds,
    count = count,
    names = names,
    means = means,
    parts = parts,
  })
end

---Returns feature number `k` of a dataset as a vector with one value per row (document).
function M.column(set, k) return set.features:narrow(2, k, 1):reshape(set.lists.rows) end

return M
