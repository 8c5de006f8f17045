-- Reads results of lists (users or queries) and of folds from an experiment's stored runs, in the order of folds.
local mr = require "moonrank"
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local evaluate = require "moonrank.evaluate"
local given = require "moonrank.experiment.given"

local M = {}

-- Returns the name of the parameter that numbers the folds of a study ("split" or "fold"), or nil if it has none.
local function fold_name(params)
  for _, name in ipairs{ "split", "fold" } do
    for _, each in ipairs(params) do
      if each == name then return name end
    end
  end
end

local function by_fold(a, b)
  if a.fold ~= b.fold then return (a.fold or 0) < (b.fold or 0) end
  return a.number < b.number
end

---Returns the finished training runs whose parameters have the values in `where`, ordered by the
---parameter `split` or `fold`, the number of the fold. Each has the fold, the number of the run, and
---its row in `results:columns()`. Runs of one fold are in the order in which they were planned.
---@param results mr.Results
---@param where? table<string, any>  such as {loss = "ap", bound = "none"}; default: all runs
---@return { fold?: integer, number: integer, row: integer }[]
function M.runs(results, where)
  given.results("runs", results)
  if where ~= nil then given.need("runs", "where", where, "table", "values of parameters: {loss = 'ap'}") end
  local columns, found = results:columns(), {}
  local number, of_fold = columns:_column("mr.experiment", "number"), fold_name(columns.params)
  local fold = of_fold and columns:_column("mr.experiment", of_fold) or {}
  for _, row in ipairs(columns:rows("mr.experiment", where)) do
    found[#found + 1] = { fold = fold[row], number = number[row], row = row }
  end
  table.sort(found, by_fold)
  return found
end

---Returns the training run of each fold with the best value of the study's metric (`metric` of
---`mr.experiment.study`), in the order of folds. This is the usual choice of a learning rate by
---validation, fold by fold. The first of equally good runs is chosen. It is an error if no finished
---run has the parameters in `where`, or if the study has runs of a fold but none of them has these
---parameters: values of two settings would then be of different folds. Pass the result as `where` to
---`mr.experiment.lists` and `mr.experiment.folds`.
---@param results mr.Results
---@param where? table<string, any>  parameters of the runs, such as {loss = "ap"}; default: all runs
---@return { fold?: integer, number: integer, row: integer }[]
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results = mr.experiment.study(args, {name = "rates",
---  space = {rate = mr.choice{0.1, 0.2}, fold = mr.range(1, 2)},
---  run = function(trial) return {valid = trial.fold == 1 and trial.rate or -trial.rate} end})
---local chosen = mr.experiment.chosen(results)
---os.remove(store)
---mr.experiment.folds(results, chosen, "rate")   --> {0.2, 0.1}
---```
function M.chosen(results, where)
  given.results("chosen", results)
  if where ~= nil then given.need("chosen", "where", where, "table", "values of parameters: {loss = 'ap'}") end
  local columns, of_row, seen, found = results:columns(), {}, {}, {}
  local rows = columns:rows("mr.experiment.chosen", where)
  local of_fold = fold_name(columns.params)
  for _, run in ipairs(M.runs(results, where)) do of_row[run.row] = run end
  for _, row in ipairs(results:order(columns, rows)) do
    local fold = of_row[row].fold or 0
    if not seen[fold] then found[#found + 1], seen[fold] = of_row[row], true end
  end
  check.not_empty("mr.experiment.chosen", "the set of finished trials with the parameters in where", found, "trial")
  for _, run in ipairs(of_fold and not (where and where[of_fold]) and M.runs(results) or {}) do
    if not seen[run.fold] then
      check.fail("mr.experiment.chosen: fold %g has runs, but none with the parameters in where that finished with a "
        .. "number. Run it again, or leave these parameters out", run.fold)
    end
  end
  table.sort(found, by_fold)
  return found
end

-- Returns true if `where` is a list of runs, as from `mr.experiment.chosen`, and not a table of parameters.
local function is_list_of_runs(where) return type(where) == "table" and type(where[1]) == "table" end

-- Returns the training runs that `where` describes by their parameters, or `where` itself if it is a list of runs.
local function runs_of(results, where) return is_list_of_runs(where) and where or M.runs(results, where) end

---Returns the values that training runs stored for each of their lists (users or queries), one fold
---after the other. `name` is a key of the table `per_list` that the runs returned, such as the name of
---a metric. A value is NaN if the metric is not defined for the list.
---@param results mr.Results
---@param where table  parameters of the runs, such as {loss = "ap"}, or runs, as from `mr.experiment.chosen`
---@param name string
---@return number[]
function M.lists(results, where, name)
  given.results("lists", results)
  local all = {}
  for _, run in ipairs(runs_of(results, where)) do
    local values = core.numbers(results:per_list(run.number, name))
    table.move(values, 1, #values, #all + 1, all)
  end
  return all
end

-- Returns the number of the list (user or query) behind each value that `M.lists` returns for the metric `name`.
-- `caller` is the name of the function that needs the numbers.
local function numbers_of_lists(caller, results, where, name)
  local all = {}
  for _, run in ipairs(runs_of(results, where)) do
    local numbers = results:list_ids(run.number)
    if not numbers then
      check.fail("mr.experiment.%s: trial %d of '%s' stored '%s' without the numbers of its lists. Its run function "
        .. "must return them, too: per_list = {list = numbers, %s = values}", caller, run.number, results.name, name,
        name)
    end
    table.move(numbers, 1, #numbers, #all + 1, all)
  end
  return all
end

local evaluation_options = declare("mr.experiment.EvaluationOptions", {
  { "relevant", "string", requires = "rows",
    help = "key of per_list with the number of relevant rows of each list, for gains by shape" },
  { "rows", "integer", least = 1, requires = "relevant", help = "number of rows of every list" },
})

---Returns the values of a metric that training runs stored for each list as an evaluation, for
---`mr.compare`. The runs must have stored the number of each list as `per_list.list`.
---@param results mr.Results
---@param where table    parameters of the runs, such as {loss = "ap"}, or runs, as from `mr.experiment.chosen`
---@param metric string  a metric, and the key of `per_list` with its values: "ndcg@20"
---@param o? mr.experiment.EvaluationOptions
---@return mr.Evaluation
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results = mr.experiment.study(args, {name = "losses", space = {loss = mr.choice{"ap", "rr"}},
---  run = function(trial)
---    return {valid = 1, per_list = {list = {1, 2}, ndcg = {trial.loss == "ap" and 1 or 0, 1}}}
---  end})
---local systems = {}
---for _, loss in ipairs{"ap", "rr"} do systems[loss] = mr.experiment.evaluation(results, {loss = loss}, "ndcg") end
---os.remove(store)
---systems.rr.mean.ndcg, mr.compare{systems = systems}.pairs[1].n   --> 0.5, 2
---```
function M.evaluation(results, where, metric, o)
  o = evaluation_options:read("mr.experiment.evaluation", o)
  local handle = mr.metrics.parse(metric)
  local function column(name) return mr.tensor(M.lists(results, where, name), { dtype = "float64" }) end
  local values = column(metric)
  local lists = mr.tensor(numbers_of_lists("evaluation", results, where, metric), { dtype = "float64" })
  local found = evaluate.of_values(#values, { handle }, function() return values end)
  found.users = lists:long()
  found._shapes = o.rows and { relevant = column(o.relevant), sizes = lists * 0 + o.rows } or nil
  return found
end

---Returns an array with one number for each training run, in the order of folds: a number that the run
---returned, such as "valid", or one of its parameters. For several studies, such as one for each seed,
---the numbers of each study follow those of the study before it.
---@param results mr.Results|mr.Results[]
---@param where table  parameters of the runs, such as {loss = "ap"}; of one study also runs of `mr.experiment.chosen`
---@param name string
---@return number[]
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local studies = {}
---for seed = 1, 2 do
---  studies[seed] = mr.experiment.study(args, {name = "seed " .. seed, space = {fold = mr.range(1, 2)},
---    run = function(trial) return {valid = 10 * seed + trial.fold} end})
---end
---os.remove(store)
---mr.experiment.folds(studies, {}, "valid")   --> {11.0, 12.0, 21.0, 22.0}
---```
function M.folds(results, where, name)
  if type(results) == "table" and getmetatable(results) == nil and #results > 0 then
    local all = {}
    for _, each in ipairs(results) do
      local own = M.folds(each, where, name)
      table.move(own, 1, #own, #all + 1, all)
    end
    return all
  end
  given.results("folds", results)
  local column, values = results:columns():_column("mr.experiment.folds", name), {}
  for i, run in ipairs(runs_of(results, where)) do values[i] = column[run.row] end
  return values
end

---Returns the best run for each value of a parameter, by the metric of the study. A run is a table of
---its parameters and numbers by name. The key of a run in the result is the value of the parameter as
---text. The first of equally good runs is taken.
---@param results mr.Results
---@param by string|string[]  name of a parameter; for several names, keys are their values with a space between
---@return table<string, table<string, any>>
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results = mr.experiment.study(args, {name = "rates",
---  space = {loss = mr.choice{"ap", "rr"}, rate = mr.choice{0.1, 0.2}},
---  run = function(trial) return {valid = trial.loss == "ap" and trial.rate or -trial.rate} end})
---os.remove(store)
---mr.experiment.best(results, "loss").rr.rate   --> 0.1
---```
function M.best(results, by)
  given.results("best", results)
  if type(by) ~= "table" then given.need("best", "by", by, "string", "the name of a parameter, or several names") end
  if not results:counts().done then return {} end
  local found, shown = {}, results:best(by)
  for _, row in ipairs(shown.rows) do
    local run, key = {}, {}
    for c, name in ipairs(shown.columns) do run[name] = row[c] end
    for i, name in ipairs(type(by) == "table" and by or { by }) do key[i] = tostring(run[name]) end
    found[table.concat(key, " ")] = run
  end
  return found
end

---Returns the mean of the values of each list, which may have values in several folds or under several
---seeds. The means are in rising order of the numbers that identify the lists.
---@param ids number[]  number of the list (user or query) of each value
---@param values number[]
---@return number[]
---Example: `mr.experiment.means_by({7, 3, 7}, {1.0, 0.5, 0.0})   --> {0.5, 0.5}`
function M.means_by(ids, values)
  given.array("means_by", "ids", ids, "number", "numbers")
  given.array("means_by", "values", values, "number", "numbers, one for each of ids")
  if #ids ~= #values then
    check.length("mr.experiment.means_by", "ids", #ids, #values, "one for each value")
  end
  local sum, count, order = {}, {}, {}
  for i, id in ipairs(ids) do
    if id ~= id then
      check.expect(false, "mr.experiment.means_by", ("entry %d of ids"):format(i), id, "the number of a list")
    end
    if not sum[id] then
      sum[id], count[id], order[#order + 1] = 0.0, 0, id
    end
    sum[id], count[id] = sum[id] + values[i], count[id] + 1
  end
  table.sort(order)
  local means = {}
  for i, id in ipairs(order) do means[i] = sum[id] / count[id] end
  return means
end

---Returns the mean value of each list (user or query) over all folds and seeds in which it was tested,
---in rising order of the numbers that identify lists. Runs store these numbers as `per_list.list`. Two
---settings that were tested on equal lists can then be compared list by list.
---@param all mr.Results|mr.Results[]  one study, or one for each seed
---@param where table  parameters of the runs, such as {loss = "ap"}; of one study also runs of `mr.experiment.chosen`
---@param name string  key of the table `per_list` that the runs returned
---@return number[]
function M.by_list(all, where, name)
  if given.is_results(all) then all = { all } end
  given.array("by_list", "all", all, "table", "studies")
  if #all > 1 and is_list_of_runs(where) then
    check.expect(false, "mr.experiment.by_list", "where", where,
      "parameters such as {loss = 'ap'}, because runs are those of one study and all has %d", #all)
  end
  local ids, values = {}, {}
  for i, results in ipairs(all) do
    given.results("by_list", results, ("all[%d]"):format(i),
      ". For values that are not in a store, call mr.experiment.means_by(ids, values)")
    local own, of_own = M.lists(results, where, name), numbers_of_lists("by_list", results, where, name)
    table.move(of_own, 1, #of_own, #ids + 1, ids)
    table.move(own, 1, #own, #values + 1, values)
  end
  return M.means_by(ids, values)
end

return M
