-- All training runs of the experiments of Li, Urbano & Hanjalic (2021), kept in one store. Each combination of data
-- set, NSR, loss, learning rate, number of factors and recipe (training as in the paper or its code) is a study: a
-- named set of stored runs. It has one run (trial) per split, with the test scores of every user. A loss's own
-- metrics choose the epochs of its models; listwise nRBP has three models (section 4.2).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local data, protocol = dofile(here .. "data.lua"), dofile(here .. "protocol.lua")
local losses = protocol.losses

local M = { data = data, protocol = protocol, losses = losses, recipes = protocol.recipes, metrics = protocol.metrics }

M.title_of = { rr = "RR", ap = "AP", ndcg = "nDCG", ["ndcg@5"] = "nDCG@5", nrbp = "nRBP" }
for _, p in ipairs{ "0.8", "0.9", "0.95" } do
  M.title_of["rbp(" .. p .. ")"], M.title_of["nrbp(" .. p .. ")"] = ("RBP(%s)"):format(p), ("nRBP(%s)"):format(p)
end
M.kinds = { "listwise", "lambda" }
local all_losses = { "ndcg", "ap", "rr", "nrbp", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" }
M.own_metrics = protocol.own_metrics

-- Returns all learning rates, in ascending order, that any recipe tries for listwise losses or LambdaRank. A recipe
-- is a training setup: as in the paper, its code, or its published results.
local function every_rate()
  local found, known = {}, {}
  for _, name in ipairs(protocol.recipe_names) do
    for _, kind in ipairs(M.kinds) do
      for _, rate in ipairs(protocol.recipes[name][kind].rates) do
        if not known[rate] then found[#found + 1], known[rate] = rate, true end
      end
    end
  end
  table.sort(found)
  return found
end
M.all_rates = every_rate()

-- Ends the script with this message and exit status 2, as a wrong command line does.
local function refuse(message) mr.exit(2, message) end

-- Raises an error unless the data set "folder" and the option --folder are given together.
local function check_folder(args)
  local wanted = false
  for _, name in ipairs(args.sets) do wanted = wanted or name == "folder" end
  if args.folder ~= "" and (args.smoke or not wanted) then
    refuse("--folder: has no effect " .. (args.smoke and "beside --smoke" or "without --sets folder"))
  end
  if wanted and not args.smoke and args.folder == "" then
    refuse("--folder: expected a folder of fold_0, fold_1, ... with train.csv and test.csv for --sets folder, "
      .. "found nothing")
  end
end

---Parses the command line of a script that uses the stored training runs: the script's options `own`,
---and the options that select runs (--recipe, --sets, --nsr, --losses, ...). `more.recipe` and
---`more.sets` are defaults of these options. `more.smoke` has the values that --smoke (a quick check on
---made-up data) sets. `more.without` has options that the script does not take, with their fixed
---values. Returns the values of all options.
---@param own table
---@param more? { recipe?: string, sets?: string[], smoke?: table<string, any>, without?: table<string, any> }
function M.args(own, more)
  more = more or {}
  own.recipe = { default = more.recipe or "paper", choices = protocol.recipe_names,
    help = "as in the paper, in the code, or as published" }
  own.sets = { default = more.sets or { "citeulike", "movielens" }, choices = data.names, help = "which data sets" }
  own.folder = { path = "folder", default = "",
    help = "of --sets folder: a folder of fold_0, fold_1, ... with train.csv and test.csv" }
  own.nsr = { default = protocol.nsr, least = 1, distinct = true, help = "negatives per relevant item" }
  own.kinds = { default = { "listwise", "lambda" }, choices = M.kinds, help = "listwise losses, LambdaRank" }
  own.losses = own.losses or { default = all_losses, choices = all_losses, help = "of each kind that has them" }
  own.rates = { default = M.all_rates, choices = M.all_rates, help = "learning rates, of those that the recipe has" }
  own.epochs = { default = 0, least = 0, help = "of each run; 0: as many as the recipe has" }
  local smoke = { nsr = { 1 }, epochs = 2 }
  for name, value in pairs(more.smoke or {}) do smoke[name] = value end
  for name in pairs(more.without or {}) do own[name], smoke[name] = nil, nil end
  local args = experiment.args(own, { document = "sigir21", smoke = smoke })
  for name, value in pairs(more.without or {}) do args[name] = value end
  -- Runs under --smoke are shorter than the start of worker processes, so they run in this process.
  if args.smoke and not args.workers then args.workers = 0 end
  check_folder(args)
  M.check_negatives(args)
  return args
end

local function among(value, list)
  for _, each in ipairs(list) do
    if each == value then return true end
  end
  return false
end

---Returns the losses of one kind ("listwise" or "lambda") that the option --losses names.
---@return string[]
function M.losses_of(args, kind)
  local found = {}
  for _, loss in ipairs(losses[kind]) do found[#found + 1] = among(loss, args.losses) and loss or nil end
  return found
end

local opened = experiment.cache()

---Opens a data set by the name that --sets takes. Later calls return the same object.
---@return sigir21.Data
function M.set(args, name)
  opened[name] = opened[name] or data.open(args, name)
  return opened[name]
end

---Ends the script if a data set has too few items for the number of negatives per relevant item (NSR).
---@param args table  option values, as from M.args
function M.check_negatives(args)
  for _, name in ipairs(rawget(args, "nsr") and args.sets or {}) do
    local items = M.set(args, name).items
    for _, nsr in ipairs(args.nsr) do
      if nsr >= items then refuse(("--nsr: %d is too large, because %s has %d items"):format(nsr, name, items)) end
    end
  end
end

---Returns how a loss is trained under the recipe that --recipe names: optimizer, batch size, epochs,
---learning rates. Only learning rates that --rates names are used, and on made-up data (--smoke) only
---the first two. The option --epochs replaces the number of epochs.
local function training(args, kind, loss)
  local how, rates = protocol.training(args.recipe, kind, loss), {}
  for i, rate in ipairs(how.rates) do
    rates[#rates + 1] = (i <= 2 or not args.smoke) and among(rate, args.rates) and rate or nil
  end
  how.rates, how.epochs = rates, args.epochs > 0 and args.epochs or how.epochs
  return how
end
M.training = training

---Trains one model and returns its results, as protocol.outcome does. `o` has the opened data set,
---split, NSR, kind ("listwise" or "lambda"), loss, learning rate, number of factors and seed. The seed
---is that of the model, of the order of users, and of negatives that are sampled as in the authors'
---code.
local function train(args, o)
  local fold = protocol.fold(args.recipe, o.set, o)
  local run = protocol.train(args.recipe, { kind = o.kind, loss = o.loss, rate = o.rate, fold = fold, seed = o.seed,
    model = protocol.model(o.set, o.factors, o.seed), epochs = training(args, o.kind, o.loss).epochs })
  return protocol.outcome(run, fold, protocol.own_metrics(o.loss))
end
M.train = train

---Ends a script with an error: with --kept no training is done, and the store lacks the runs that
---`what` names.
function M.lack(args, what) experiment.lack(("%s has no %s; without --kept they are made"):format(args.store, what)) end

---Ends a script with an error if `found`, which was collected from training runs, is empty. Either no
---run matches the options, or --kept is given and the store lacks the runs.
---@param found table[]
function M.check_found(args, found)
  if #found == 0 and not args.kept then
    refuse(("--losses, --rates: recipe %s has no %s loss %s with a learning rate %s"):format(args.recipe,
      table.concat(args.kinds, " or "), table.concat(args.losses, ", "), table.concat(args.rates, ", ")))
  end
  if #found == 0 then
    M.lack(args, "runs of this kind")
  end
end

---Returns the stored training runs of a loss at one learning rate, one run per split. Missing runs are
---trained first. With --kept nothing is trained, and the result is nil if the store has none. `o.set`
---is a name as --sets takes it, `o.kind` is "listwise" or "lambda", `o.rate` the learning rate, and
---`o.seed` is 1 by default.
---@param o { set: string, nsr: integer, kind: string, loss: string, rate: number, factors?: integer, seed?: integer }
---@return mr.Results?
function M.of(args, o)
  local set, how, factors = M.set(args, o.set), M.training(args, o.kind, o.loss), o.factors or protocol.factors
  local seed = o.seed or 1
  -- The function `run` below uses these values instead of `o`. Other fields of `o` would count as changes of the
  -- study.
  local nsr, kind, loss, rate = o.nsr, o.kind, o.loss, o.rate
  local name = ("%s, NSR %d, %s %s, %d factors, rate %g, %s"):format(o.set == "folder" and args.folder or o.set, o.nsr,
    o.kind, o.loss, factors, o.rate, args.recipe) .. (seed > 1 and (", seed %d"):format(seed) or "")
  -- At some large learning rates training diverges, which is a result.
  local study = { name = name, accepts = experiment.diverged, space = { split = mr.choice(set.splits) },
    settings = { epochs = how.epochs, batch = how.batch, optimizer = how.optimizer,
      negatives = protocol.recipes[args.recipe].negatives },
    run = function(trial)
      return train(args, {
        set = set,
        split = trial.split,
        nsr = nsr,
        kind = kind,
        loss = loss,
        rate = rate,
        factors = factors,
        seed = 1000 * (seed - 1) + trial.split + 1 })
    end }
  if args.kept then return experiment.there(args, study) end
  return experiment.study(args, study)
end

---Returns a sentence on an incomplete store: "Of 90 runs 60 have been made so far, MORE (a WHAT)."
---`there` and `planned` are the two numbers of training runs. `what` says what one run is; `more` is
---optional.
---@return string
function M.so_far(there, planned, what, more)
  return ("Of %d runs %d %s been made so far%s (a %s)."):format(planned, there, there == 1 and "has" or "have",
    more and ", " .. more or "", what)
end

-- Calls visit(kind, loss, there, planned) for each loss that the options name. `kind` is "listwise" or "lambda".
-- `there` is the number of the loss's training runs in the store, `planned` the number for all learning rates, NSR,
-- data sets and splits.
local function count_kept(args, visit)
  for _, kind in ipairs(args.kinds) do
    for _, loss in ipairs(M.losses_of(args, kind)) do
      local there, planned = 0, 0
      for _, set in ipairs(args.sets) do
        for _, nsr in ipairs(args.nsr) do
          for _, rate in ipairs(M.training(args, kind, loss).rates) do
            local results = M.of(args, { set = set, nsr = nsr, kind = kind, loss = loss, rate = rate })
            there, planned = there + (results and experiment.progress(results) or 0), planned + #M.set(args, set).splits
          end
        end
      end
      visit(kind, loss, there, planned)
    end
  end
end

---Returns sentences on the training runs that the store lacks, if --kept forbids to make them. Returns ""
---if --kept is not given or no run is missing.
---@return string
function M.missing(args)
  if not args.kept then return "" end
  local there, planned, none = 0, 0, {}
  count_kept(args, function(kind, loss, of_loss, planned_of_loss)
    there, planned = there + of_loss, planned + planned_of_loss
    if of_loss == 0 and planned_of_loss > 0 then
      none[#none + 1] = ("%s %s"):format(kind == "lambda" and "LambdaRank" or kind, M.title_of[loss])
    end
  end)
  if there == planned then return "" end
  return "\n\n" .. M.so_far(there, planned, "run is of one loss, learning rate, NSR and split",
    #none > 0 and "none of them of " .. table.concat(none, ", ") or "some of them of every loss")
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

-- Adds to `rows` the test scores of one model, one for each metric and split: the model whose epoch the metric `by`
-- chose. `results` has the training runs of the loss at one learning rate, `o` their data set, NSR, kind, loss and
-- rate.
local function add_rows(rows, args, o, results, by)
  local columns = results:columns()
  local function column(name) return columns:column("runs", name) end
  local split, number, epoch, chosen = column "split", column "number", column("epoch by " .. by),
    column("chosen by " .. by)
  for _, metric in ipairs(M.metrics) do
    local name = ("%s, epoch by %s"):format(metric, by)
    local score = column(name)
    for i = 1, #split do
      local function values(list) return results:per_list(number[i], list):totable() end
      -- a failed run has no score; runs fail at some large learning rates
      if score[i] then
        rows[#rows + 1] = {
          dataset = M.set(args, o.set).title,
          split = split[i],
          nsr = o.nsr,
          kind = o.kind,
          loss = protocol.model_name(o.loss, by),
          metric = metric,
          lr = o.rate,
          epoch = math.tointeger(epoch[i]),
          score = score[i],
          chosen_by = chosen[i],
          per_list = function()
            return { scores = values(name), positives = values "positives", users = values "user" }
          end }
      end
    end
  end
end

---Returns the test scores of all models of a loss at one learning rate, one row for every model, split
---and metric. `o` selects the training runs, with the fields of `M.of`. Returns no rows if there are no
---runs.
---@return sigir21.Row[]
function M.rows_at(args, o)
  local results, rows = M.of(args, o), {}
  if not results or (results:counts().done or 0) == 0 then return rows end
  for _, by in ipairs(M.own_metrics(o.loss)) do add_rows(rows, args, o, results, by) end
  return rows
end

---A model of one training run, at the epoch that one of the loss's own metrics chose.
---@class sigir21.Model
---@field split integer
---@field by string            the loss's own metric that chose the epoch
---@field epoch integer
---@field scores table<string, number>  test means by metric at that epoch
---@field users fun(metric: string): number[]  values of every test user by a metric, at that epoch

---Returns the models of a loss at one learning rate: one for each split and each metric that chooses
---epochs for the loss. `o` selects the training runs: `o.set` is a data set as --sets takes it,
---`o.kind` "listwise" or "lambda".
---@param o { set: string, nsr: integer, kind: string, loss: string, rate: number, factors?: integer, seed?: integer }
---@return sigir21.Model[]
function M.models(args, o)
  local results, models = M.of(args, o), {}
  if not results or (results:counts().done or 0) == 0 then return models end
  local columns = results:columns()
  for i, split in ipairs(columns:column("runs", "split")) do
    for _, by in ipairs(M.own_metrics(o.loss)) do
      local model = {
        split = split,
        by = by,
        epoch = math.tointeger(columns:column("runs", "epoch by " .. by)[i]),
        scores = {},
        chosen_by = columns:column("runs", "chosen by " .. by)[i] }
      local number = columns:column("runs", "number")[i]
      function model.users(metric) return results:per_list(number, ("%s, epoch by %s"):format(metric, by)):totable() end
      for _, metric in ipairs(M.metrics) do
        model.scores[metric] = columns:column("runs", ("%s, epoch by %s"):format(metric, by))[i]
      end
      models[#models + 1] = model
    end
  end
  table.sort(models, function(a, b) return a.split < b.split or a.split == b.split and a.by < b.by end)
  return models
end

---Returns the test scores of one loss at its best learning rate, one row for every model, split and
---metric. The model's own metric chooses the learning rate, for every split separately. `o` has the
---fields of `M.of` except `rate`.
---@return sigir21.Row[]
function M.best_rows(args, o)
  local at, order = {}, {}
  for _, rate in ipairs(M.training(args, o.kind, o.loss).rates) do
    local at_rate = { set = o.set, nsr = o.nsr, kind = o.kind, loss = o.loss, factors = o.factors, rate = rate }
    for _, row in ipairs(M.rows_at(args, at_rate)) do
      local key = ("%s %s %d"):format(row.loss, row.metric, row.split)
      if not at[key] then at[key], order[#order + 1] = {}, key end
      table.insert(at[key], row)
    end
  end
  for i, key in ipairs(order) do order[i] = protocol.best(at[key]) end
  return order
end

---Returns the test scores of all data sets, NSR and losses that the options name, one row for every
---model, split and metric. Every model is at its best learning rate. Missing training runs are made
---first, unless --kept is given.
---@return sigir21.Row[]
function M.rows(args)
  local rows = {}
  for _, set in ipairs(args.sets) do
    for _, nsr in ipairs(args.nsr) do
      for _, kind in ipairs(args.kinds) do
        for _, loss in ipairs(M.losses_of(args, kind)) do
          local found = M.best_rows(args, { set = set, nsr = nsr, kind = kind, loss = loss })
          table.move(found, 1, #found, #rows + 1, rows)
        end
      end
    end
  end
  M.check_found(args, rows)
  return rows
end

return M
