-- What mr.fit was given, checked before the first step: names, and whether the model fits the data.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local clip = require "moonrank.fit.clip"
local corrections = require "moonrank.data.corrections"
local dataset = require "moonrank.data.dataset"
local evaluate = require "moonrank.evaluate"
local learner = require "moonrank.fit.learner"
local new_users = require "moonrank.fit.new_users"
local optim = require "moonrank.optim"
local random = require "moonrank.random"
local tensors = require "moonrank.tensor"
local trials = require "moonrank.sweep.trial"

local M = {}

-- Whether a value can be called.
local function callable(value)
  local meta = type(value) == "function" or debug.getmetatable(value)
  return meta == true or type(meta) == "table" and meta.__call ~= nil
end

-- Whether a value is of a class of the standard library.
local function is_of(value, class)
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == class
end

-- How a set of candidates corrects metrics, if that is what it is.
local function correction_of(data) return candidates.is(data) and data.correct end

-- The name of a metric without the correction that one of the sets of candidates makes.
local function uncorrected(o, name)
  local inner, called = tostring(name):match "^(.-)%[([%w_]+)%]$"
  for how, each in pairs(corrections.names) do
    if called == each and type(name) == "string" then
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

-- Those that choose an epoch: `select`, one or several, or the first metric.
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

local recipes = { honest = "valid", published = "test" }

-- Who chooses the epoch: "valid" or "test".
local function chooser(o)
  if o.recipe then check.choice("mr.fit", "recipe", o.recipe, { "honest", "published" }) end
  if o.choose_on then check.choice("mr.fit", "choose_on", o.choose_on, { "valid", "test" }) end
  local by_recipe = o.recipe and recipes[o.recipe]
  if o.choose_on and by_recipe and by_recipe ~= o.choose_on then
    check.fail("mr.fit: choose_on is '%s', but recipe '%s' chooses on %s: one of them says it", o.choose_on, o.recipe, by_recipe)
  end
  return o.choose_on or by_recipe or "valid"
end

local function integer_from(o, name, least)
  if o[name] ~= nil then check.integer_from("mr.fit", o, name, least) end
end

local function check_model(model)
  for _, method in ipairs{ "parameters", "snapshot", "restore" } do
    if not callable(model) or type(check.field(model, method)) ~= "function" then
      check.fail("mr.fit: model is %s, expected a model: a function of a batch with the methods parameters, snapshot and restore",
        type(model) == "string" and ("the text '%s'"):format(model) or "a " .. type(model))
    end
  end
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

local function check_loss(loss)
  if type(loss) == "string" then check.fail("mr.fit: loss is the text '%s', expected a loss, as mr.losses.ndcg{} makes one", loss) end
  if not callable(loss) or type(check.field(loss, "count")) ~= "function" then
    check.fail("mr.fit: loss is a %s, expected a loss, as mr.losses.ndcg{} and mr.losses.define make them", type(loss))
  end
end

local function check_data(role, data)
  if data == nil then return end
  if role == "train" and candidates.is(data) then check.fail("mr.fit: train is a set of candidates, expected a dataset: fold.train") end
  if candidates.is(data) and data.part ~= role then
    check.fail("mr.fit: %s is what there is to find in %s, expected fold:candidates{part = '%s'}", role, data.part, role)
  end
  if check.field(data, "train") then
    check.fail("mr.fit: %s is a fold, expected one of its parts: fold.%s%s", role, role, role == "train" and "" or ", or fold:candidates()")
  end
  if type(check.field(data, "batches")) ~= "function" or math.type(check.field(data, "count")) ~= "integer" then
    check.fail("mr.fit: %s is a %s, expected a dataset", role, type(data))
  end
end

local function check_parts(o)
  for _, name in ipairs{ "model", "loss", "train" } do
    if o[name] == nil then check.fail("mr.fit: %s is missing", name) end
  end
  check_model(o.model)
  check_loss(o.loss)
  for _, role in ipairs{ "train", "valid", "test" } do check_data(role, o[role]) end
  if o.optimizer ~= nil and type(check.field(o.optimizer, "bind")) ~= "function" then
    check.fail("mr.fit: optimizer is %s, expected one of mr.optim, as mr.optim.adam{}",
      type(o.optimizer) == "string" and ("the text '%s'"):format(o.optimizer) or "a " .. type(o.optimizer))
  end
  if o.each_epoch and type(o.each_epoch) ~= "function" then
    check.fail("mr.fit: each_epoch is a %s, expected a function of the epoch and the model", type(o.each_epoch))
  end
end

-- What a trial is told after an epoch must have the number by which the sweep compares, where it prunes.
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

-- Clipping and the schedule, which changes a copy of the optimizer.
local function check_steps(o)
  if type(o.clip) == "number" then o.clip = clip.clip_gradients{ norm = o.clip } end
  if o.clip and not is_of(o.clip, "mr.Clip") then
    check.fail("mr.fit: clip is a %s, expected a norm or mr.clip_gradients{norm = ...}", type(o.clip))
  end
  if o.schedule then
    if not is_of(o.schedule, "mr.Schedule") then
      check.fail("mr.fit: schedule is a %s, expected one of mr.schedule, as mr.schedule.cosine{}", type(o.schedule))
    end
    o.optimizer = o.optimizer:_copy()
  end
end

-- Steps of so many lists, or of so many rows.
local function check_batch(o)
  if o.batch ~= nil and o.batch_rows ~= nil then check.fail("mr.fit: batch and batch_rows are given, expected one of them") end
  integer_from(o, "batch", 1)
  integer_from(o, "batch_rows", 1)
  if o.batch_rows and not dataset.is(o.train) then
    check.fail("mr.fit: batch_rows takes a dataset of the library's, and train is the script's own, which knows batch alone")
  end
  o.batch = o.batch or 32
end

---The options with defaults, checked.
---@param options mr.FitOptions
---@return table
function M.checked(options)
  local none = check.none
  local o = check.options("mr.fit", options, {
    model = none, loss = none, train = none, valid = none, test = none, optimizer = none, batch = none, batch_rows = none,
    epochs = 50, metrics = {}, select = none, patience = none, every = 1, seed = 1, shuffle = true, reduction = "mean", recipe = none,
    choose_on = none, progress = true, name = "fit", each_epoch = none, parallel = false, checkpoint = none, trial = none, clip = none,
    schedule = none, users = "all",
  })
  o.trainer = check.field(o.model, "trainer")  -- of models that are not trained by steps of an optimiser
  if o.trainer then o.trainer.prepare(o, options) end
  check_parts(o)
  new_users.apply(o)
  o.learner = learner.of(o.model, o.loss)
  if o.trainer and o.learner ~= o.model then
    check.fail("mr.fit: loss '%s' has parameters, which optimizers train: %s are grown without one, by a loss whose parameters are fixed%s",
      o.loss.name, o.model.kind, o.loss.name == "ordinal" and " (mr.losses.ordinal without learn = true)" or "")
  end
  check_parallel(o)
  check.choice("mr.fit", "reduction", o.reduction, { "mean", "sum", "rows" })
  if o.reduction == "rows" and not check.field(o.loss, "pointwise") then
    check.fail("mr.fit: reduction is 'rows', which is for pointwise losses (mse, bce, squared_hinge, ordinal), and the loss is %s",
      tostring(o.loss))
  end
  check_batch(o)
  for name, least in pairs{ epochs = 0, every = 1, patience = 1 } do integer_from(o, name, least) end
  o.choose_on = chooser(o)
  if o.choose_on == "test" and not o.test then
    check.fail("mr.fit: %s chooses the epoch on test, which is missing", o.recipe and "recipe 'published'" or "choose_on = 'test'")
  end
  o.optimizer = o.optimizer or optim.adam{}
  check_steps(o)
  o.judge = o[o.choose_on]
  if o.patience and not o.judge then
    check.fail("mr.fit: patience is %d, which counts validations, but valid is missing: give valid or leave patience out", o.patience)
  end
  if o.every ~= 1 and not o.judge then
    check.fail("mr.fit: every is %d, which counts epochs between validations, but valid is missing: give valid or leave every out", o.every)
  end
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

---Raises where the model does not fit the data, all of them: test is scored only at the end.
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
