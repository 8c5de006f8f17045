-- The training loop: batches, validation, the best epoch, early stopping, progress, Ctrl-C.
local core = require "moonrank.core"
local check = require "moonrank.check"
local epochs = require "moonrank.epochs"
local evaluate = require "moonrank.evaluate"
local metric = require "moonrank.metrics.registry"
local data_parallel = require "moonrank.data_parallel"
local progress = require "moonrank.progress"
local seen = require "moonrank.data.seen"

local M = {}

---@class mr.Run
---@field best { epoch: integer, metrics: table<string, number> }  the epoch whose parameters the model has now
---@field history { epoch: integer, loss: number, metrics: table<string, number> }[]
---@field scores table<string, mr.Tensor>?  per metric, one value per test list
---@field test mr.Evaluation?               the same with means and counts
---@field interrupted boolean               whether Ctrl-C ended it
---@field metrics table<string, mr.Metric>  the metrics, by name
---@field data table<string, string>        fingerprints of train, valid and test
---@field chosen_on string                  "valid", "test" or "last epoch"
---@field replayed integer                  epochs that the GPU ran from a recording of an earlier one

---@class mr.FitOptions
---@field model mr.Model
---@field loss mr.Loss
---@field train mr.Dataset
---@field valid? mr.Dataset          chooses the epoch
---@field test? mr.Dataset           scored once, at the end
---@field optimizer? mr.Optimizer    default mr.optim.adam{}
---@field batch? integer             lists per step (default 32)
---@field epochs? integer            default 50
---@field metrics? (string|mr.Metric)[]  computed on test, e.g. {"ndcg", "nrbp(0.95)"}
---@field select? string|mr.Metric   the metric by which the epoch is chosen, in its direction (default: the first of metrics)
---@field patience? integer          stop after this many epochs without a better one (default: never)
---@field every? integer             epochs from one validation to the next (default 1)
---@field seed? integer              seed of the order of lists (default 1)
---@field shuffle? boolean           default true
---@field reduction? "mean"|"sum"    over the batch's lists that are not degenerate (default "mean")
---@field recipe? "honest"|"published"  choose on valid (default) or on test
---@field each_epoch? fun(epoch: integer, model: mr.Model)  called before training, with 0, and after every epoch
---@field progress? boolean          show a progress line (default true)
---@field parallel? boolean          train over all processes that mpirun or srun started (default false)
---@field name? string               what the line is called

-- The whole of a dataset as one batch.
local function whole(dataset)
  local batch
  for each in dataset:batches{ size = math.max(1, dataset.count) } do batch = each end
  return batch
end

local function scores_of(model, batch)
  local was = core.recording(false)
  local ok, scores = pcall(model, batch)
  core.recording(was)
  if not ok then error(scores, 0) end
  return scores
end

---What a model says of the rows of a dataset.
---@param model mr.Model
---@param dataset mr.Dataset
---@return mr.Tensor  [rows]
function M.scores(model, dataset) return scores_of(model, whole(dataset)) end

local function measured(model, dataset, metrics)
  local batch = whole(dataset)
  return evaluate.measure(scores_of(model, batch), batch.lists, metrics)
end

---Scores a dataset with a model and evaluates them.
---@param model mr.Model
---@param dataset mr.Dataset
---@param metrics (string|mr.Metric)[]
---@return mr.Evaluation
function M.test(model, dataset, metrics)
  seen.note("other", dataset)
  return measured(model, dataset, metrics)
end

-- What the progress line shows beside the time left. On the GPU the loss is read at the end of an epoch: until then the previous epoch's is
-- shown.
local function shown(o, run, epoch, total, lists)
  local before = run.history[#run.history]
  local loss = total and (lists > 0 and total / lists or 0) or before and before.loss or 0
  local values = { { "epoch", tostring(epoch) }, { "loss", loss } }
  local last = run.best
  if last and o.judge then values[3] = { "best " .. o.select.name, last.metrics[o.select.name] } end
  return values
end

-- The metrics of these names, each once.
local function metrics_of(names)
  local metrics, known = {}, {}
  for i, name in ipairs(names) do
    metrics[i] = metric.parse(name)
    if known[metrics[i].name] then check.fail("mr.fit: metrics has '%s' twice", metrics[i].name) end
    known[metrics[i].name] = true
  end
  return metrics
end

-- The metrics, by name.
local function by_name(o)
  local named = {}
  for _, each in ipairs(o.metrics) do named[each.name] = each end
  if o.select then named[o.select.name] = o.select end
  return named
end

local function checked(options)
  local none = check.none
  local o = check.options("mr.fit", options, {
    model = none, loss = none, train = none, valid = none, test = none, optimizer = none, batch = 32, epochs = 50, metrics = {},
    select = none, patience = none, every = 1, seed = 1, shuffle = true, reduction = "mean", recipe = "honest", progress = true,
    name = "fit", each_epoch = none, parallel = false,
  })
  for _, name in ipairs{ "model", "loss", "train" } do
    if o[name] == nil then check.fail("mr.fit: %s is missing", name) end
  end
  check.choice("mr.fit", "reduction", o.reduction, { "mean", "sum" })
  check.choice("mr.fit", "recipe", o.recipe, { "honest", "published" })
  if o.recipe == "published" and not o.test then check.fail("mr.fit: recipe 'published' chooses the epoch on test, which is missing") end
  if o.batch < 1 or o.epochs < 0 or o.every < 1 then check.fail("mr.fit: batch and every must be at least 1, epochs at least 0") end
  if o.each_epoch and type(o.each_epoch) ~= "function" then
    check.fail("mr.fit: each_epoch is a %s, expected a function of the epoch and the model", type(o.each_epoch))
  end
  o.optimizer = o.optimizer or require("moonrank.optim").adam{}
  o.metrics = metrics_of(o.metrics)
  o.select = o.select and metric.parse(o.select) or o.metrics[1]
  o.judge = o.recipe == "published" and o.test or o.valid
  if o.judge and not o.select then check.fail("mr.fit: metrics is empty, and nothing says by which metric to choose the epoch") end
  o.chosen_on = not o.judge and "last epoch" or o.recipe == "published" and "test" or "valid"
  return o
end

-- The data and metric by which the epoch is chosen, and the best so far.
local function judged(o, run, epoch, loss)
  local entry = { epoch = epoch, loss = loss, metrics = {} }
  run.history[#run.history + 1] = entry
  if not o.judge then
    run.best = entry
    return
  end
  if epoch % o.every ~= 0 and epoch ~= o.epochs then return end
  local name = o.select.name
  local function measure() return measured(o.model, o.judge, { o.select }).mean[name] end
  if o.group then entry.metrics[name] = o.group:of_first(measure) else entry.metrics[name] = measure() end
  run._measured = run._measured or epoch
  if o.select:better(entry.metrics[name], run.best and run.best.metrics[name]) then
    run.best, run._snapshot = entry, o.model:snapshot(run._snapshot)
  end
end

-- How many epochs have passed since the best one, or, where none has a value, since the first that was validated.
local function since_best(run, epoch)
  local from = run.best and run.best.epoch or run._measured
  return from and epoch - from or 0
end

-- No epoch could be chosen: the model keeps the last one's parameters.
local function keep_last(o, run)
  run.best, run.chosen_on = run.history[#run.history], "last epoch"
  if run._measured then
    io.stderr:write(("mr.fit: %s was NaN in every epoch on %s, so that none is best: the model is that of the last epoch\n"):format(
      o.select.name, o.chosen_on))
  end
end

local function train(o, run, line)
  local passes <close> = epochs.start(o)
  local each_epoch = o.each_epoch or function() end
  each_epoch(0, o.model)
  for epoch = 1, o.epochs do
    local after = line and function(done, lists, total)
      line:update((epoch - 1) * passes.count + done, shown(o, run, epoch, total, lists))
    end
    judged(o, run, epoch, passes:run(epoch, after))
    run.replayed = passes.replayed
    if o.group then o.group:check() end
    each_epoch(epoch, o.model)
    if o.patience and since_best(run, epoch) >= o.patience then break end
  end
end

---Trains a model. Chooses the epoch by `select` (default: the first metric; least where that is to be minimised, and never one whose value is
---NaN) on the validation part; without one, or where every value is NaN, the last epoch stays, and the run says so. The model has the chosen
---epoch's parameters afterwards; the test part is evaluated once, at the end (recipe = "published" chooses on test, as the papers did, and says
---so in `chosen_on`). Ctrl-C stops after the current batch and returns the results so far. With `parallel = true` under `mpirun` or `srun` all
---processes run the script and train this one model: each takes its share of the lists of every batch, the gradients are added up (those of a
---GPU go through the host), and all end with the model that one process would have, to rounding (but for what dropout draws). The first process
---evaluates validation for all; it alone shows progress and prints.
---@param options mr.FitOptions
---@return mr.Run
function M.fit(options)
  local o = checked(options)
  local run = { history = {}, metrics = by_name(o), data = seen.note_fit(o), chosen_on = o.chosen_on, interrupted = false, replayed = 0 }
  local batches = o.epochs * math.ceil(o.train.count / o.batch)
  o.group = o.parallel and data_parallel.join(o.model:parameters()) or false
  local shows = o.progress and (not o.group or o.group.rank == 0)
  local line = shows and progress.start{ label = o.name, total = batches, unit = "batch" } or nil
  local deferred = o.group and core.defer_interrupt(true)  -- processes that wait for each other must stop together
  local ok, message = pcall(train, o, run, line)
  if o.group then core.defer_interrupt(deferred) end
  run.interrupted = not ok and message == "interrupted"
  if line then line:finish() end
  if not ok and not run.interrupted then error(message, 0) end
  if run._snapshot then o.model:restore(run._snapshot) end
  if not run.best and #run.history > 0 then keep_last(o, run) end
  run._snapshot, run._measured = nil, nil
  if o.test and #o.metrics > 0 then
    run.test = measured(o.model, o.test, o.metrics)
    run.scores = {}
    for _, name in ipairs(run.test.names) do run.scores[name] = run.test[name] end
  end
  return run
end

return M
