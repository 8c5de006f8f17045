-- Checks the options of mr.fit before the first step: their names, and that the model fits the
-- data.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local clip = require "moonrank.fit.clip"
local corrections = require "moonrank.data.corrections"
local dataset = require "moonrank.data.dataset"
local declare = require("moonrank.options").declare
local evaluate = require "moonrank.evaluate"
local learner = require "moonrank.fit.learner"
local new_users = require "moonrank.fit.new_users"
local optim = require "moonrank.optim"
local random = require "moonrank.random"
local tensors = require "moonrank.tensor"
local trials = require "moonrank.sweep.trial"

local M = {}

-- True if the value can be called.
local function callable(value)
  local meta = type(value) == "function" or debug.getmetatable(value)
  return meta == true or type(meta) == "table" and meta.__call ~= nil
end

local function has_method(value, name) return type(check.field(value, name)) == "function" end

local function is_model(value)
  return callable(value) and has_method(value, "parameters") and has_method(value, "snapshot")
    and has_method(value, "restore")
end

local function is_loss(value) return callable(value) and has_method(value, "count") end

-- Folds have a field `train`. Candidates count as data, also for `train`, where a check below says more about them.
local function is_data(value)
  return not check.field(value, "train") and has_method(value, "batches")
    and math.type(check.field(value, "count")) == "integer"
end

local function is_clip(value)
  if type(value) == "number" then return value > 0 and value < math.huge end
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == "mr.Clip"
end

local function is_checkpoint(value)
  local kind = type(value)
  return kind == "string" or kind == "table" or kind == "boolean"
end

local recipes = { honest = "valid", published = "test" }  -- the part on which each chooses the epoch

local in_optimizer = "The learning rate is an option of the optimizer: optimizer = mr.optim.adam{lr = 0.01}"

local fit_options = declare("mr.FitOptions", {
  "Model and loss",
  { "model", "mr.Model|mr.Trees", required = true, accept = is_model,
    expected = "a model: a function of a batch with the methods parameters, snapshot and restore",
    help = "one of mr.models, or a model of the script: callable, with the methods parameters, snapshot and restore" },
  { "loss", "mr.Loss", accept = is_loss, expected = "a loss, as mr.losses.ndcg{} and mr.losses.define make them",
    also = { "criterion", "loss_fn", "objective" },
    help = "one of mr.losses; required, except for trees that have an objective of their own" },
  { "reduction", "string", default = "mean", choices = { "mean", "sum", "rows" },
    help = "how the losses of a batch's lists are combined: mean or sum over the lists that are not degenerate; "
      .. "rows, for pointwise losses only: mean over all rows" },
  "Data",
  { "train", "mr.Dataset", required = true, accept = is_data, expected = "a dataset, as fold.train",
    also = { "data", "dataset", "train_data" }, help = "lists to train on" },
  { "valid", "mr.Dataset|mr.data.Candidates", accept = is_data,
    expected = "a dataset or candidates, as fold.valid or fold:candidates()",
    also = { "val", "validation", "dev" },
    help = "validation part, which chooses the epoch; fold:candidates() ranks all items for each user" },
  { "test", "mr.Dataset|mr.data.Candidates", accept = is_data,
    expected = 'a dataset or candidates, as fold.test or fold:candidates{part = "test"}',
    help = 'test part, scored once, at the end; fold:candidates{part = "test"} ranks all items for each user' },
  { "users", "string", default = "all", choices = { "all", "known" },
    help = "known leaves out lists of valid and test whose user has no relevant row in train; "
      .. "for candidates, pass users to fold:candidates instead" },
  "Steps",
  { "optimizer", "mr.Optimizer", default_of = function() return optim.adam{} end, shown = "mr.optim.adam{}",
    accept = function(value) return has_method(value, "bind") end, expected = "an optimizer, as mr.optim.adam{}",
    also = { "optim", "optimiser", lr = in_optimizer, learning_rate = in_optimizer, eta = in_optimizer },
    help = "one of the optimizers of mr.optim" },
  { "schedule", "mr.Schedule", class = "mr.Schedule", expected = "a schedule, as mr.schedule.cosine{}",
    shown = "lr stays", also = { "scheduler", "lr_scheduler" }, help = "how the optimizer's lr changes" },
  { "clip", "number|mr.Clip", accept = is_clip, expected = "a positive number or mr.clip_gradients{norm = ...}",
    shown = "no limit", also = { "clip_norm", "grad_clip", "max_grad_norm", "gradient_clip_val" },
    help = "largest norm of all gradients of a step together (mr.clip_gradients)" },
  { "batch", "integer", default = 32, least = 1, also = { "batch_size" }, help = "lists per step" },
  { "batch_rows", "integer", least = 1,
    help = "approximate rows per step, instead of batch; a step takes whole lists (mr.Dataset's batches{rows = ...})" },
  { "epochs", "integer", default = 50, least = 0, also = { "n_epochs", "num_epochs", "max_epochs" },
    help = "largest number of passes over train" },
  { "shuffle", "boolean", default = true, help = "reorder the lists at random in each epoch" },
  { "seed", "integer", default = 1, also = { "random_state" },
    help = "seed of the order of the lists and of random numbers in training" },
  { "parallel", "boolean", default = false, also = { "distributed" },
    help = "train in all processes that mpirun or srun started; only for models without buffers" },
  "Choice of the epoch",
  { "metrics", "(string|mr.Metric|table)[]", default = {}, also = { "metric" },
    help = 'computed on test, and on validation after every epoch, as {"ndcg", {"ap", bound = "minmax"}}' },
  { "select", "string|mr.Metric|table", shown = "the first of metrics", also = { "monitor" },
    help = "metric that chooses the epoch; of several, each chooses its own; needs valid, or test with choose_on" },
  { "choose_on", "string", choices = { "valid", "test" }, shown = '"valid"', help = "part that chooses the epoch" },
  { "recipe", "string", choices = check.names(recipes),
    help = "another way to say choose_on: honest is valid, published is test" },
  { "every", "integer", default = 1, least = 1, also = { "eval_every" },
    help = "number of epochs between validations; needs valid" },
  { "patience", "integer", least = 1, shown = "never", also = { "early_stopping", "early_stopping_rounds" },
    help = "stop after this many validations in a row in which no metric of select found a better epoch" },
  "Checkpoints and trials",
  { "checkpoint", "string|mr.FitCheckpoint|true", accept = is_checkpoint,
    expected = "a path, a table with one, or true",
    help = "file that training is saved to and resumed from; true: a file in the trial's folder" },
  { "trial", "mr.Trial",
    help = "trial that every epoch reports loss, valid_loss, valid_ndcg, ... to; its pruner may end training" },
  "Display",
  { "progress", "boolean", default = true, also = { "verbose" }, help = "show a progress line" },
  { "name", "string", default = "fit", help = "name in the progress line and of the run" },
  { "each_epoch", "fun(epoch: integer, model: mr.Model, entry?: mr.Epoch): boolean?",
    expected = "a function of the epoch and the model", also = { "callback", "callbacks", "on_epoch_end" },
    help = "called with 0 before training, and with its results after every epoch; `return false` ends training" },
})

-- How a set of candidates corrects metrics, if that is what it is.
local function correction_of(data) return candidates.is(data) and data.correct end

-- The name of a metric without the correction that one of the sets of candidates makes.
local function uncorrected(o, name)
  local inner, called = tostring(name):match "^(.-)%[([%w_]+)%]$"
  for how, correction in pairs(corrections.all) do
    if called == correction.suffix and type(name) == "string" then
      if correction_of(o.judge) == how or correction_of(o.test) == how then return inner end
      check.fail("mr.fit: '%s' is corrected, and valid and test are not: fold:candidates{candidates = 'one', correct = '%s'}", name,
        how)
    end
  end
  return name
end

-- The metrics of these names, each once.
local function metrics_of(o, names, option)
  local plain, known = {}, {}
  check.sequence("mr.fit", option, names, 'one metric gets options as mr.metrics.rr{ties = "worst"}')
  for i, name in ipairs(names) do plain[i] = uncorrected(o, name) end
  local metrics = evaluate.metrics_of(plain, nil, "mr.fit")
  for _, each in ipairs(metrics) do
    if known[each.name] then check.fail("mr.fit: %s has '%s' twice", option, each.name) end
    known[each.name] = true
  end
  return metrics
end

-- The metrics that choose an epoch: `select` (one or several), else the first metric.
local function selected(o)
  if o.select == nil then return { o.metrics[1] } end
  local several = type(o.select) == "table" and o.select.bound == nil and not evaluate.is_bounded(o.select)
  return metrics_of(o, several and o.select or { o.select }, "select")
end

-- The metrics as the part that chooses, and test, call them; `plain` has the names that they were given.
local function name_metrics(o)
  o.plain = {}
  local function named(data, metrics)
    if not correction_of(data) then return metrics end
    local called = data:named(metrics)
    for i, each in ipairs(called) do o.plain[each.name] = metrics[i].name end
    return called
  end
  o.judged, o.select, o.metrics = named(o.judge, o.metrics), named(o.judge, o.select), named(o.test, o.metrics)
end

-- All that is measured after an epoch: those that choose, and the others.
local function measured(o)
  local all, known = {}, {}
  for _, list in ipairs{ o.select, o.judged } do
    for _, each in ipairs(list) do
      if not known[each.name] then all[#all + 1] = each end
      known[each.name] = true
    end
  end
  return all
end

-- The part that chooses the epoch: "valid" or "test".
local function chooser(o)
  local by_recipe = o.recipe and recipes[o.recipe]
  if o.choose_on and by_recipe and by_recipe ~= o.choose_on then
    check.fail("mr.fit: choose_on is '%s', but recipe '%s' chooses on %s: one of them says it", o.choose_on, o.recipe, by_recipe)
  end
  return o.choose_on or by_recipe or "valid"
end

-- Buffers are not added up over processes, as gradients are; a penalty is of a whole batch.
local function check_parallel(o)
  local first = o.parallel and check.field(o.model, "penalty") and o.train:batches{ size = 1 }()
  if first and o.model:penalty(first) then
    check.fail("mr.fit: parallel = true trains no models with a penalty, which is of a whole batch, and %s has one", o.model.kind)
  end
  local buffers = o.parallel and check.field(o.model, "buffers")
  local name = type(buffers) == "function" and next(buffers(o.model)) or nil
  if name then check.fail("mr.fit: parallel = true trains no models with buffers, and %s has '%s'", o.model.kind, name) end
end

-- Candidates are of the part that they are given as.
local function check_candidates(o)
  for _, role in ipairs{ "train", "valid", "test" } do
    local data = o[role]
    if candidates.is(data) and role == "train" then
      check.fail("mr.fit: train is a set of candidates, expected a dataset: fold.train")
    end
    if candidates.is(data) and data.part ~= role then
      check.fail("mr.fit: %s is what there is to find in %s, expected fold:candidates{part = '%s'}", role, data.part,
        role)
    end
  end
end

-- Raises if the sweep prunes by a number that the training does not report after its epochs.
local function check_trial(o)
  if not o.trial then return end
  local wanted = trials.pruned_by(o.trial, o.epochs)
  if not wanted then return end
  local names = { "loss" }
  if o.judge then names[2] = "valid_loss" end
  for _, each in ipairs(o.judge and o.measured or {}) do names[#names + 1] = "valid_" .. each.name end
  for _, name in ipairs(names) do
    if name == wanted then return end
  end
  check.fail("mr.fit: the sweep prunes by '%s', which no epoch has; there are: %s (mr.sweep{metric = ...})", wanted,
    table.concat(names, ", "))
end

-- A step takes a number of lists or a number of rows.
local function check_batch(o, given)
  if not o.batch_rows then return end
  if given.batch ~= nil then check.fail("mr.fit: batch and batch_rows are given, expected one of them") end
  if not dataset.is(o.train) then
    check.fail("mr.fit: batch_rows takes a dataset of the library, and train is the script's own. Pass batch instead")
  end
end

-- Options that say something about validation.
local function check_validation(o)
  if o.judge then return end
  if o.patience then
    check.fail("mr.fit: patience is %d, which counts validations, but valid is missing. Pass valid or leave "
      .. "patience out", o.patience)
  end
  if o.every ~= 1 then
    check.fail("mr.fit: every is %d, which counts epochs between validations, but valid is missing. Pass valid or "
      .. "leave every out", o.every)
  end
end

-- The model with the parameters of the loss, if it has some.
local function learner_of(o)
  local found = learner.of(o.model, o.loss)
  if o.trainer and found ~= o.model then
    check.fail("mr.fit: loss '%s' has parameters, and %s have no optimizer to train them. Pass a loss without parameters%s",
      o.loss.name, o.model.kind,
      (check.field(o.loss, "options") or {}).learn and (": mr.losses.%s without learn"):format(o.loss.name) or "")
  end
  return found
end

---Checks the options and returns them with defaults.
---@param options mr.FitOptions
---@return table
function M.checked(options)
  local o = fit_options:read("mr.fit", options)
  o.trainer = check.field(o.model, "trainer")  -- for models that are not trained by steps of an optimizer
  if o.trainer then o.trainer.prepare(o, options) end
  if o.loss == nil then check.fail("mr.fit: loss is missing, expected one of mr.losses, as mr.losses.ndcg{}") end
  check_candidates(o)
  new_users.apply(o)
  o.learner = learner_of(o)
  check_parallel(o)
  if o.reduction == "rows" and not check.field(o.loss, "pointwise") then
    check.fail("mr.fit: reduction is 'rows', which is for pointwise losses (%s), and the loss is %s",
      table.concat(check.names(require "moonrank.losses.pointwise"), ", "), tostring(o.loss))
  end
  check_batch(o, options)
  o.choose_on = chooser(o)
  if o.choose_on == "test" and not o.test then
    check.fail("mr.fit: %s chooses the epoch on test, which is missing", o.recipe and "recipe 'published'" or "choose_on = 'test'")
  end
  if type(o.clip) == "number" then o.clip = clip.clip_gradients{ norm = o.clip } end
  if o.schedule then o.optimizer = o.optimizer:_copy() end  -- the schedule changes the lr of the copy
  o.judge = o[o.choose_on]
  check_validation(o)
  o.metrics = metrics_of(o, o.metrics, "metrics")
  o.select = selected(o)
  if options.select ~= nil and not o.judge then
    check.fail("mr.fit: select says by which metric validation chooses the epoch, but valid is missing: give valid or leave select out")
  end
  name_metrics(o)
  if o.judge and #o.select == 0 then check.fail("mr.fit: metrics is empty, and nothing says by which metric to choose the epoch") end
  o.chosen_on = o.judge and o.choose_on or "last epoch"
  o.measured = measured(o)
  check_trial(o)
  return o
end

-- Why a model, of whose options these are known, cannot score these data, or nil.
local function misfit(model, role, data)
  local config, features = check.field(model, "config") or {}, check.field(data, "features")
  local first = model:parameters()[1]
  if math.type(config.users) == "integer" and math.type(config.items) == "integer" then
    if not check.field(data, "users") or not check.field(data, "items") then
      return ("the model scores users and items (%s), but %s has %s"):format(model.kind, role,
        features and ("features, %d of them: mr.models.mlp scores those"):format(features:size(2)) or "none")
    end
    for _, each in ipairs{ "users", "items" } do
      local ids = data[each]
      local most = #ids > 0 and ids:double():max():item() or 0
      if candidates.is(data) then most = data.fold[each] end
      if most > config[each] then
        return ("the model has %d %s, but %s has number %d"):format(config[each], each, role, math.tointeger(most))
      end
    end
  elseif config.inputs then
    if not features then return ("the model scores features (%s), but %s has none"):format(model.kind, role) end
    if features:size(2) ~= config.inputs then
      return ("the model takes %d features, but %s has %d"):format(config.inputs, role, features:size(2))
    end
    if features.dtype == "int64" then
      return ("the features of %s are int64, expected real numbers: features:to(\"%s\")"):format(role, first.dtype)
    end
    if features.dtype ~= first.dtype then
      return ("the model is %s, but the features of %s are %s: mr.models.%s{dtype = \"%s\"} fits them"):format(first.dtype, role,
        features.dtype, model.kind, features.dtype)
    end
  end
end

-- Scores the first list alone: what no rule knows of the script's own models is found before training.
local function try(o, role, data)
  local batch = data:batches{ size = 1 }()
  if not batch then return end
  local _ <close> = random.scope(o.seed, "first list of " .. role)
  local ok, message = pcall(tensors.no_grad, function() o.model(batch) end)
  if message == "interrupted" then error(message, 0) end
  if not ok then check.fail("mr.fit: the model cannot score %s: %s", role, check.retold(message)) end
end

-- Raises where the loss or a metric adds up gains of grades that are too large.
local function check_grades(o, role, data)
  local lists = check.field(data, "lists")  -- of a script's own data perhaps none
  if not lists then return end
  local graded = { role ~= "test" and check.field(o.loss, "_gains") or nil }
  if role ~= "train" then table.move(o.measured or o.metrics, 1, #(o.measured or o.metrics), #graded + 1, graded) end
  for _, each in ipairs(graded) do
    local ok, message = check.attempt(each.check_gains, each, lists)
    if not ok then check.fail("mr.fit: %s of %s: %s", each.name, role, check.reason(message)) end
  end
end

---Raises an error if the model does not fit train, valid or test. Test is checked, too, because it
---is scored only at the end.
function M.check_fit(o)
  if o.trainer then return o.trainer.check_fit(o) end
  for _, role in ipairs{ "train", "valid", "test" } do
    local data = o[role]
    if data and data.count > 0 then
      local why = misfit(o.model, role, data)
      if why then check.fail("mr.fit: %s", why) end
      check_grades(o, role, data)
      if role ~= "train" then try(o, role, data) end
    end
    if candidates.is(data) then data:tables() end
  end
end

return M
