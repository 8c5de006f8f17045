-- mr.fit, the training loop: batches, validation, choice of the epoch, early stopping, checkpoints, progress, Ctrl-C.
local core = require "moonrank.core"
local checkpoints = require "moonrank.fit.checkpoint"
local choices = require "moonrank.fit.choice"
local epochs = require "moonrank.fit.epochs"
local new_users = require "moonrank.fit.new_users"
local fit_options = require "moonrank.fit.options"
local last_epochs = require "moonrank.fit.last_epoch"
local left_out = require "moonrank.fit.left_out"
local data_parallel = require "moonrank.data_parallel"
local progress = require "moonrank.progress"
local runs = require "moonrank.fit.run"
local scope = require "moonrank.scope"
local seen = require "moonrank.data.seen"

local M = {}

-- Number of times that Ctrl-C had been pressed when it last ended a training; 0 if it never did.
local ended_early = 0

-- Raises the error `interrupted` if Ctrl-C ended an earlier training. A loop of trainings then ends, even if it catches
-- errors. A new line at the prompt trains again.
local function check_ended()
  if ended_early > 0 and core.interrupts() >= ended_early then error("interrupted", 0) end
  ended_early = 0
end

---Returns the scores that a model gives the rows of a dataset.
---@param model mr.Model
---@param dataset mr.Dataset
---@return mr.Tensor  [rows]
function M.scores(model, dataset) return (choices.scored(model, dataset)) end

---Scores a dataset with a model and evaluates these scores.
---@param model mr.Model
---@param dataset mr.Dataset
---@param metrics (string|mr.Metric|table)[]
---@return mr.Evaluation
function M.test(model, dataset, metrics)
  seen.note("other", dataset)
  return choices.evaluated(model, dataset, metrics)
end

-- Values that the progress line shows beside the time left. Within an epoch, the best value is from
-- the epochs before. On the GPU the loss is also from the epoch before, because it is read when an epoch ends.
local function shown(o, run, epoch, total, lists)
  local before = run.history[#run.history]
  local loss = total and (lists > 0 and total / lists or 0) or before and before.loss or 0
  local values = { { "epoch", tostring(epoch) }, { "loss", loss } }
  local chosen = o.judge and run.choices[1]
  if chosen and chosen.best then values[3] = { "best " .. chosen.metric.name, chosen.best.metrics[chosen.metric.name] } end
  return values
end

-- Reports an epoch to the trial, under the names that its result will have.
local function report(o, entry)
  if not o.trial then return end
  local values = { loss = entry.loss, valid_loss = entry.valid_loss }
  for name, value in pairs(entry.metrics) do values["valid_" .. name] = value == value and value or nil end
  o.trial:report(entry.epoch, values)
end

-- Returns the reason why training ends after this epoch, or false.
local function ending(o, run, go_on)
  if go_on == false then return "each_epoch" end
  return choices.exhausted(o, run) and "patience"
end

-- Begins the schedule of lr and replays the epochs that the run already has. Returns nil without a schedule.
local function scheduled(o, passes, run)
  if not o.schedule then return nil end
  local lr, options = o.optimizer.options.lr, passes.optimizer.options
  local metric = o.judge and o.select[1] or false
  local rates = o.schedule:begin{ lr = lr, steps = o.epochs * passes.count, per_epoch = passes.count, metric = metric }
  for _, entry in ipairs(run.history) do rates.see(entry) end
  passes.before_step = function(step) options.lr = lr * rates.factor(step) end
  return rates
end

local function train(o, run, line, last_epoch)
  local passes <close> = (o.trainer or epochs).start(o)
  local together <close> = o.group and scope.open("mr.fit{parallel = true}", function() end, function() end)  -- luacheck: ignore 211
  local keeper = checkpoints.open(o, run, passes)
  local rates = scheduled(o, passes, run)
  local each_epoch = o.each_epoch or function() end
  for _, entry in ipairs(run.history) do report(o, entry) end
  if keeper.epoch == 0 then each_epoch(0, o.model) end
  for epoch = keeper.epoch + 1, run.stopped and 0 or o.epochs do
    last_epoch:take()
    local after = line and function(done, lists, total)
      local steps = (epoch - 1) * passes.count + done
      local is_last = steps >= line.total  -- the last step of training is shown after validation
      if not is_last then line:update(steps, shown(o, run, epoch, total, lists)) end
    end
    local entry = runs.epoch{ epoch = epoch, loss = passes:run(epoch, after), metrics = {} }
    run.history[epoch] = entry
    choices.judge(o, run, entry)
    if line then line:update(epoch * passes.count, shown(o, run, epoch)) end
    run.replayed = passes.replayed
    if o.group then o.group:check() end
    if rates then rates.see(entry) end
    run.stopped = ending(o, run, each_epoch(epoch, o.model, entry))
    keeper:after(epoch, run.stopped ~= false or epoch == o.epochs)
    report(o, entry)  -- may end the trial, which later resumes from the checkpoint
    if run.stopped then break end
  end
end

---Trains a model and returns its history, the chosen epoch and the metrics on test.
---
---Choice of the epoch: after each epoch the validation part is evaluated. `select` names the metric
---that chooses the epoch (default: the first of `metrics`). The highest value wins, or the lowest
---for metrics that are minimised. NaN never wins. Without a validation part, or if every value is
---NaN, the last epoch is kept, and the run says so. The model has the chosen epoch's parameters
---afterwards. Test is evaluated once, at the end. `choose_on = "test"` chooses the epoch on test, as
---some papers did; `chosen_on` then says so. Without valid and test no metric is computed.
---
---With several metrics in `select`, each metric chooses its own epoch and is evaluated on test with
---the parameters of that epoch. The model keeps the parameters that the first metric chose;
---`run:restore("rr")` loads those that "rr" chose. A bounded metric such as {"ap", bound =
---"minmax"} is called "ap[minmax]" in the history, in the run and in reports to a trial. `select`
---accepts this name.
---
---`valid = fold:candidates()` computes all metrics of the history over the full catalogue, like
---fold:evaluate. Each validation then scores every item for every user of the part. The options
---`known` and `users` of fold:candidates say which items and users are left out. A warning counts
---users that take part in the choice of the epoch but have no relevant row in train.
---
---All names, and whether the model fits the data, are checked before the first step.
---
---Ctrl-C stops training after the current batch and returns the history so far. `run.interrupted`
---is then true, and test is not evaluated. The model has the parameters of the chosen epoch, or of
---the last complete epoch if none was chosen. Before the end of the first epoch it keeps its
---initial parameters. Every later mr.fit of the script raises the error `interrupted`, so that a
---loop of trainings ends.
---
---A loss with parameters (mr.losses.ordinal{learn = true}) is trained together with the model. The
---optimizer, clipping, checkpoints and the chosen epoch then include its parameters. Some lists do
---not train: no order of their rows changes the metric from which the loss takes its bounds. mr.fit
---warns, with the reasons, if they are more than 5 % of the lists of train.
---
---A step takes `batch` lists. With `batch_rows = 4096` it takes the whole lists that begin in the
---next 4096 rows of the epoch. Time and memory per step then vary less if list lengths differ much.
---Schedules count rows / batch_rows steps per epoch, rounded up.
---
---Trees are grown in rounds: one epoch is one round, and mr.models.trees{rounds = ...} sets their
---number. optimizer, batch, batch_rows, epochs, shuffle, clip and schedule do not apply to trees.
---
---`checkpoint = "path"` writes the training to a file after every epoch, or at the intervals that
---mr.FitCheckpoint sets. When the script is started again, training resumes from the file and gives
---the same bits as an uninterrupted run. With `progress` it prints the epoch from which it resumes.
---It is an error if the file belongs to another training (model, starting parameters, loss,
---optimizer, data, seed, ...) or another numerics version. The file is then not changed. Changed
---script functions in the model, loss, bounds, schedule or metrics are an error, too. Their tokens
---and captured values are compared, and the error names what changed. `each_epoch` is not compared.
---
---`epochs` may be larger than in the file, unless the schedule depends on it, as
---mr.schedule.cosine{} without epochs does, also after a warm-up. Each checkpoint of trees writes
---all trees, so `checkpoint = {path = "path", epochs = 20}` saves time if there are many. Trees that
---sample rows or features (subsample, colsample_bytree, colsample_bynode) cannot be checkpointed.
---
---`trial = trial` reports every epoch to a trial of a sweep, whose pruner may end it. If
---`checkpoint = true` is also given, a trial that was killed or interrupted resumes where it
---stopped.
---
---`parallel = true` trains one model in all processes that `mpirun` or `srun` started. Every
---process runs the script and takes its share of the lists of each batch. Gradients are summed in
---the order of ranks (GPU gradients go through the host), and all processes end with the same
---model. Results are identical bits for the same number of processes. For other numbers, and for
---one process, they agree up to rounding, because partial sums differ. Losses that sample rows
---(BPR, WARP, LambdaFM) draw the same rows for any number of processes. Dropout, and random tensors
---of a script's own model, do not. Models with buffers are refused. Only the first process
---evaluates validation, shows progress and prints.
---@param options mr.FitOptions
---@return mr.Run
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 5}
---local run = mr.fit{model = mr.models.linear{inputs = 5}, loss = mr.losses.ndcg{}, train = queries, valid = queries, epochs = 3,
---  metrics = {"ndcg", "rr"}, select = {"ndcg", "rr"}, progress = false}
---#run.history, run.history[1].metrics.rr > 0, #run.choices   --> 3, true, 2
---```
function M.fit(options)
  check_ended()
  local o = fit_options.checked(options)
  local run = runs.new(o, seen.note_fit(o))
  o.checkpoint = checkpoints.options(o.checkpoint, o.trial)
  fit_options.check_fit(o)
  local batches = o.epochs * epochs.count(o)
  o.group = o.parallel and data_parallel.join(o.learner:parameters()) or false
  local is_first, facts = not o.group or o.group.rank == 0, o.judge and new_users.facts(o, o.judge)
  if facts then runs.know(run, facts) end
  if is_first then
    left_out.warn(o)
    new_users.warn(o, facts and facts.novelty)
  end
  local shows = o.progress and is_first
  local line = shows and progress.start{ label = o.name, total = batches, unit = o.trainer and o.trainer.unit or "batch" } or nil
  local deferred = o.group and core.defer_interrupt(true)  -- processes that wait for each other must stop together
  local last_epoch = last_epochs.new(o.learner, run)
  local ok, message = pcall(train, o, run, line, last_epoch)
  if o.group then core.defer_interrupt(deferred) end
  run.interrupted = not ok and message == "interrupted"
  if line then line:finish() end
  if not ok and not run.interrupted then
    pcall(checkpoints.ended, o)
    error(message, 0)
  end
  if run.interrupted then
    ended_early = core.interrupts()
    last_epoch:restore()
  end
  choices.finish(o, run)
  checkpoints.ended(o)
  return run
end

return M
