-- The trained models of the figures of Li, Urbano & Hanjalic (2021): the command line of their scripts, and the test
-- scores of models from stored runs. A loss's own metrics choose the epochs of its models; listwise nRBP has three
-- models (section 4.2).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, training = mr.experiment, dofile(here .. "recipes.lua")
local data, analysis, protocol = dofile(here .. "data.lua"), dofile(here .. "analysis.lua"), training.protocol

local M = { data = data, training = training, protocol = protocol, analysis = analysis }

-- Ends the script if --folder is given without the data set "folder" or beside --smoke, or if this data set is given
-- without --folder (except under --smoke).
local function check_folder(args)
  local wanted = false
  for _, name in ipairs(args.sets) do wanted = wanted or name == "folder" end
  if args.folder ~= "" and (args.smoke or not wanted) then
    mr.exit(2, "--folder: has no effect " .. (args.smoke and "beside --smoke" or "without --sets folder"))
  end
  if wanted and not args.smoke and args.folder == "" then
    mr.exit(2, "--folder: expected a folder of fold_0, fold_1, ... with train.csv and test.csv for --sets folder, "
      .. "found nothing")
  end
end

---Parses the command line of a script that uses stored runs: the script's options `own`, and those that select runs.
---`more.smoke` has values that --smoke sets, `more.without` options that the script does not have, with their values.
---@param own table
---@param more? { recipe?: string, smoke?: table<string, any>, without?: table<string, any> }
function M.args(own, more)
  more = more or {}
  local shared, smoke = training.options(more.recipe or "paper"), { nsr = { 1 }, epochs = 2 }
  shared.sets = { default = { "citeulike", "movielens" }, choices = data.names, help = "which data sets" }
  shared.folder = { path = "folder", default = "",
    help = "of --sets folder: a folder of fold_0, fold_1, ... with train.csv and test.csv" }
  for name, option in pairs(shared) do own[name] = own[name] or option end
  for name, value in pairs(more.smoke or {}) do smoke[name] = value end
  for name in pairs(more.without or {}) do own[name], smoke[name] = nil, nil end
  local args = training.args(own, smoke)
  for name, value in pairs(more.without or {}) do args[name] = value end
  check_folder(args)
  return args
end

local opened = experiment.cache()

---Opens a data set by the name that --sets takes. Later calls return the same object.
---@return sigir21.Data
function M.set(args, name)
  opened[name] = opened[name] or data.open(args, name)
  return opened[name]
end

---A model of one training run, at the epoch that one of the loss's own metrics chose.
---@class sigir21.Model
---@field split integer
---@field by string            the loss's own metric that chose the epoch
---@field epoch integer
---@field chosen_by number     the value of that metric that chose the epoch
---@field scores table<string, number>  test means by metric at that epoch
---@field users fun(metric: string): number[]  values of every test user by a metric; their numbers by "list"

---Returns the models of a training on a data set, one for each split and metric that chooses epochs. Runs without
---scores, which diverged, have none. `o` has the fields of training.study.
---@return sigir21.Model[]
function M.of(args, set, o)
  local results, models = training.study(args, set, o), {}
  local columns = results and results:columns()
  for _, run in ipairs(results and experiment.runs(results) or {}) do
    for _, by in ipairs(protocol.own_metrics(o.loss)) do
      local function value(name) return columns:column(name)[run.row] end
      local model = { split = run.fold, by = by, epoch = math.tointeger(value("epoch by " .. by)),
        chosen_by = value("chosen by " .. by), scores = {} }
      for _, metric in ipairs(protocol.metrics) do model.scores[metric] = value(protocol.score(metric, by)) end
      function model.users(metric)
        return results:per_list(run.number, metric == "list" and metric or protocol.score(metric, by)):totable()
      end
      models[#models + 1] = next(model.scores) and model or nil
    end
  end
  return models
end

---The test score of one model by one metric on one split.
---@class sigir21.Row
---@field dataset string       title of the data set; made-up data are named as such
---@field split integer        number of the split into train and test
---@field nsr integer          sampled negatives per relevant item
---@field kind "listwise"|"lambda"
---@field loss string          name of the model's loss; listwise nRBP has one model per persistence, "nrbp(0.95)"
---@field metric string        metric of the score
---@field lr number            learning rate
---@field epoch integer        epoch that the model's own metric chose
---@field chosen_by number     the value of the model's own metric that chose epoch and learning rate
---@field score number         mean over the test users
---@field per_list fun(): { scores: number[], positives: number[], users: number[] }  positives: relevant items in train

local positives = experiment.cache()  -- numbers of relevant items in train, by user, of each data set and split

-- Returns a model's scores of every test user by a metric, with the users' numbers of relevant items in train.
local function per_list(set, model, metric)
  local key, found = ("%s %d"):format(set.title, model.split), {}
  positives[key] = positives[key] or analysis.positives(set.fold(model.split, 0, 0))
  local users = model.users "list"
  for u, user in ipairs(users) do found[u] = positives[key][user] or 0.0 end
  return { scores = model.users(metric), positives = found, users = users }
end

---Returns the test scores of the models of a training, one row for every model, split and metric.
---@return sigir21.Row[]
function M.rows_of(args, set, o)
  local rows = {}
  for _, model in ipairs(M.of(args, set, o)) do
    for _, metric in ipairs(protocol.metrics) do
      rows[#rows + 1] = { dataset = set.title, split = model.split, nsr = o.nsr, kind = o.kind,
        loss = analysis.model_name(o.loss, model.by), metric = metric, lr = o.rate, epoch = model.epoch,
        score = model.scores[metric], chosen_by = model.chosen_by,
        per_list = function() return per_list(set, model, metric) end }
    end
  end
  return rows
end

---Ends a script with an error: with --kept no runs are made, and the store lacks the runs that `what` names.
function M.lack(args, what) experiment.lack(("%s has no %s; without --kept they are made"):format(args.store, what)) end

---Returns the test scores of all losses that the options name, one row for every model, split and metric. The model's
---own metric chooses the learning rate, for every split separately. Missing runs are made first, unless --kept is
---given.
---@return sigir21.Row[]
function M.rows(args)
  local asked, of, order = {}, {}, {}
  for _, name in ipairs(args.sets) do asked[name] = training.trainings(args, M.set(args, name)) end
  for _, name in ipairs(args.sets) do
    for _, o in ipairs(asked[name]) do
      for _, row in ipairs(M.rows_of(args, M.set(args, name), o)) do
        local key = table.concat({ name, o.nsr, o.kind, row.loss, row.metric, row.split }, "\n")
        if not of[key] then of[key], order[#order + 1] = {}, key end
        table.insert(of[key], row)
      end
    end
  end
  for i, key in ipairs(order) do order[i] = analysis.best(of[key]) end
  if #order == 0 then M.lack(args, "runs of this kind") end
  return order
end

return M
