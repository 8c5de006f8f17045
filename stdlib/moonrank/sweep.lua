-- mr.sweep: runs a function as many trials over a space of hyperparameters. Each trial's result is stored in a file, so
-- a later run of the script continues where an earlier run stopped.
local core = require "moonrank.core"
local check = require "moonrank.check"
local code = require "moonrank.sweep.code"
local command = require "moonrank.sweep.workers.command"
local declare = require("moonrank.options").declare
local files = require "moonrank.sweep.files"
local gpus = require "moonrank.sweep.workers.gpus"
local live = require "moonrank.sweep.live"
local metrics = require "moonrank.metrics.registry"
local paths = require "moonrank.system.paths"
local pool = require "moonrank.sweep.workers.pool"
local process = require "moonrank.sweep.workers.process"
local provenance = require "moonrank.sweep.provenance"
local pruners = require "moonrank.sweep.search.pruners"
local ranks = require "moonrank.sweep.workers.ranks"
local samplers = require "moonrank.sweep.search.samplers"
local trial_queue = require "moonrank.sweep.trial_queue"
local space = require "moonrank.sweep.search.space"
local store = require "moonrank.sweep.store"
local studies = require "moonrank.sweep.study"
local trials = require "moonrank.sweep.trial"
local worker = require "moonrank.sweep.workers.worker"

local M = {}

local function is_not_empty(text) return text ~= "" end
local function is_name(text) return text ~= "" and utf8.len(text) ~= nil end

local sweep_options = declare("mr.SweepOptions", {
  "Study",
  { "name", "string", required = true, accept = is_name, expected = "a text in UTF-8 that is not empty",
    also = { "study_name", "study" }, help = "name of the study in the store" },
  { "space", "table", required = true, also = { "params", "search_space", "param_space" },
    help = "parameters by name: mr.choice, mr.range, mr.uniform, mr.loguniform, mr.integer, mr.seeds; and mr.when" },
  { "run", "fun(trial: mr.Trial): any", required = true, expected = "a function of a trial",
    also = { "objective", "func", "train" },
    help = "runs one trial; returns a number, numbers by name, the run of mr.fit, or an evaluation's `mean`" },
  { "metric", "string", accept = is_name, expected = "a text in UTF-8 that is not empty",
    shown = "the only number that run returns",
    help = "name of the number by which trials are compared" },
  { "direction", "string", choices = { "maximize", "minimize" }, also = { "mode" },
    shown = "known for metrics, losses, rmse, mae and mse; a number without a name is maximized",
    help = "whether higher or lower values of the metric are better; required if this is not known" },
  "Search",
  { "sampler", "string|table", shown = '"grid"',
    help = ('one of %s; with options: {"tpe", generation = 20}'):format(table.concat(samplers.names(), ", ")) },
  { "pruner", "string|table", shown = "none",
    help = ('one of %s, such as {"hyperband", max_resource = 81}; trial:report asks it'):format(
      table.concat(pruners.names(), ", ")) },
  { "first", "table[]",
    help = "parameters of the first trials, {{lr = 0.01}, ...}; the sampler chooses missing ones; not for grids" },
  { "trials", "integer", least = 1, also = { "n_trials", "num_trials", "max_trials", "num_samples" },
    shown = "the whole grid; one pass of hyperband",
    help = "number of trials; required except for hyperband and for grids, whose first trials are then run" },
  { "seed", "integer", default = 1, also = { "random_state" },
    help = "seed of the study, from which seeds of trials and suggestions are derived" },
  "Processes and store",
  { "store", "string", default = "results.db", accept = is_not_empty, expected = "the name of a file",
    also = { "storage", "database", "db" }, help = "file that keeps the study" },
  { "optuna", "string", shown = "none", accept = is_not_empty, expected = "the name of a file",
    help = "journal of Optuna that gets the trials and their reports as they come, for optuna-dashboard" },
  { "workers", "integer", least = 0, shown = "one per core, or one per GPU if the device is cuda",
    also = { "n_jobs", "jobs", "processes", "num_workers" },
    help = "number of processes; 0 runs trials in this process" },
  { "retry", "integer", default = 0, least = 0, also = { "retries", "max_retries" },
    help = "number of retries of a trial that failed or was killed" },
  { "silence", "number", default = 60.0, above = 0, infinite = true, also = { "timeout" },
    help = "under mpirun or srun: seconds without a message after which a rank counts as lost" },
  "Changes since the study began",
  { "settings", "table", default = {}, shown = "none",
    help = "values outside of the code on which results depend, as mr.args{...}; a change is an error; no functions" },
  { "data", "any",
    help = "files, datasets, folds or ratings, or a list of them, that trials read outside of mr.fit and mr.evaluate" },
  { "force", "boolean", default = false,
    help = "continue although space, script, settings or data changed; a line below tables then says what changed" },
  { "mix_numerics", "boolean", default = false, help = "continue although trials ran under another numerics version" },
  "Display",
  { "progress", "boolean", default = true, also = { "verbose" },
    help = "show the number of ended trials and the time left" },
})

-- Sets whether higher or lower values are better. If the script does not say so, the direction follows from the
-- metric's name. A ranking metric such as "valid_nrbp_loss" has one direction, and the opposite is an error.
local function set_direction(o)
  o.assumed = not o.direction and not o.metric
  local own = o.metric and metrics.direction(o.metric)
  if not o.direction then o.direction = metrics.usual_direction(o.metric or "value") end
  if not o.direction then
    check.expect(false, "mr.sweep", "direction", nil, "'maximize' or 'minimize', because that of '%s' is not known",
      o.metric)
  end
  check.expect(not own or own == o.direction, "mr.sweep", "direction", o.direction, "'%s', as for metric %s", own,
    o.metric)
end

-- Returns the options in a description such as "tpe(generation = 10, good = 0.15)" by name.
local function options_in(text)
  local found = {}
  for name, value in text:gmatch "([%a_]+) = ([%w.+-]+)" do
    found[name] = math.tointeger(tonumber(value)) or tonumber(value) or value
  end
  return found
end

-- Returns two tables: the defaults of the sampler's options and those of the pruner's options. A study that is
-- continued has the values with which it began. A new study gets a number of trials per generation that suits its size.
local function usual_options(o)
  local ok, row = check.attempt(function()
    local opened <close> = core.is_file(o.store) and store.open(o.store, "read") or nil
    return opened and opened:study(o.name)
  end)
  if ok and row then
    local sampler, pruner = row.sampler:match "^(.-), pruner (.*)$"
    return options_in(sampler or row.sampler), options_in(pruner or "")
  end
  local _, ranks_there = core.launched()
  local workers = o.workers or (ranks_there > 1 and ranks_there or gpus.workers())
  local usual = { generation = math.max(1, workers, math.min(10, (o.trials or o.space:count() or 60) // 6)) }
  return usual, usual
end

local function checked(options)
  local o = sweep_options:read("mr.sweep", options)
  paths.check("mr.sweep", "new file", o.store)
  if o.optuna then paths.check("mr.sweep", "new file", o.optuna) end
  set_direction(o)
  o.space = space.new(o.space)
  trials.check_names(o.space:names())
  local sampler, pruner = usual_options(o)
  o.sampler = samplers.make(o.sampler or "grid", o.space, o.seed, o.direction, sampler)
  o.pruner = o.pruner and pruners.make(o.pruner, o.direction, pruner) or nil
  if o.first ~= nil then o.sampler:begin_with(o.first) end
  if not o.sampler:count() then o.trials = o.trials or o.pruner and o.pruner:count() end
  check.expect(o.trials or o.sampler:count(), "mr.sweep", "trials", o.trials,
    "an integer, because the sampler %s has no end", o.sampler.name)
  return o
end

-- Returns the runners of workers (ranks or local processes) and the seconds between polls; nil for this process.
local function runners_of(o)
  if ranks.rank() then return ranks.runners(o.silence) end
  local wanted = o.workers or gpus.workers()
  if wanted == 0 then return nil end
  local words, why = command.words(math.max(1, core.cores() // wanted))
  if words then return process.runners(wanted, words, gpus.variables) end
  if o.workers then
    check.fail("mr.sweep: workers is %d, but %s. Pass workers = 0 to run trials in this process", wanted, why)
  end
end

-- Runs the trials of a study one after another in this process. Returns true if Ctrl-C ended them early.
local function run_here(o, queue, view, context)
  local known, trial = 0, queue:next()
  while trial do
    local running = { { trial = trial } }
    local others = queue:others(trial, known)
    known = known + #others
    table.move(others, 1, #others, #context.others + 1, context.others)
    context.on_report = function(report)
      running[1].report = report
      queue:report(trial, report)
      queue:publish()
      view:update(running, 1)
    end
    local outcome = trials.run(context, queue:job(trial))
    if outcome.state == "interrupted" then
      queue:finish(trial, outcome, o.metric or "value")
      return true
    end
    trial = queue:finish_and_next(trial, outcome, o.metric or "value")
    view:update({}, 1)
  end
  return false
end

-- Opens the journal of Optuna that the option `optuna` names, and adds the trials that have ended already. Later trials
-- are added as they begin, report and end. A journal that cannot be written any more does not end the sweep.
local function begin_journal(o, queue)
  if not o.optuna then return nil end
  local journal = require("moonrank.sweep.optuna").open("mr.sweep", o.optuna, queue.store, queue.study)
  journal:add()
  queue.on_event = function(event, number, report)
    local added, why = pcall(journal[event], journal, number, report)
    if added then return end
    if why == "interrupted" then error(why, 0) end
    queue.on_event = false
    check.warn(("mr.sweep: the journal %s gets no more trials: %s. results:to_optuna adds them later"):format(o.optuna,
      check.reason(why)))
  end
  return journal
end

local function run_study(o, call, study, fingerprint, context)
  local runners, pause = runners_of(o)
  store.look(o.store)  -- checks that the file is a store, if it exists, before folders are made
  local folder = files.of_study(o.store, o.name)
  local lock <close> = core.lock_file(folder .. "/lock")
  if not lock then check.fail("mr.sweep: another process runs the study '%s' of %s now", o.name, o.store) end
  local opened <close> = store.open(o.store, "write")
  files.check(folder, opened, o.name)
  local row, write_changes = studies.enter(opened, study, o.force)
  local queue = trial_queue.new{ store = opened, study = row, space = o.space, sampler = o.sampler, pruner = o.pruner,
    retry = o.retry, trials = o.trials, metric = o.metric or "value", folder = folder, lock = lock }
  local runs_some = queue:ended() < queue.planned
  if write_changes then write_changes(runs_some) end
  local look = not o.force and provenance.check or runs_some and provenance.note or provenance.warn
  look(opened, row, context, function(number) return queue:job(queue.trials[number]) end)
  if not o.mix_numerics and runs_some then provenance.check_numerics(opened, row) end
  -- If a study that is continued with `force = true` has no trial left to run, its row in the store stays unchanged.
  if runs_some or not write_changes then
    row.planned = queue.planned
    opened:set(row, "planned")
  end
  local _ <close> = begin_journal(o, queue)
  local view = live.new(o.name, queue, { quiet = not o.progress })
  local interrupted
  if runners then
    interrupted = pool.run{ queue = queue, live = view, runners = runners, pause = pause, call = call,
      fingerprint = fingerprint, numerics = not o.mix_numerics and core.numerics() or nil,
      metric = o.metric or "value" }
  else
    interrupted = run_here(o, queue, view, context)
  end
  view:finish()
  queue:tidy()
  if interrupted then error("interrupted", 0) end
end

-- Counts the calls of mr.sweep so far, for each table `arg` (command line of a script). A worker finds its sweep by
-- this count. A script that runs inside another script with its own `arg` counts from 1, because a worker runs that
-- script alone.
local calls_of, running = setmetatable({}, { __mode = "k" }), false
-- Sets `running` to false when a sweep ends, also by an error, so that later sweeps do not count as inside a trial.
local ends_running <const> = setmetatable({}, { __close = function() running = false end })

-- Returns an identifier of this call of mr.sweep: the script, its arguments, and the number of the call.
local function name_of_call()
  local line = rawget(_G, "arg") or calls_of
  calls_of[line] = (calls_of[line] or 0) + 1
  return table.concat({ line[0] or "", table.concat(line, "\0"), calls_of[line] }, "\0")
end

---Runs the trials of a study that have not ended yet, and returns the study's results.
---
---Each trial is a row of the store file as soon as it begins. Its result, or the reason why it
---failed, is written when it ends. Ctrl-C interrupts the trials that run and ends the sweep. The
---script started again resumes it: trials that are missing or were interrupted run. It is an error
---if the space, sampler, pruner, seed, metric, direction, settings, code or data have changed; the
---error names what changed. `force = true` continues anyway.
---
---The code of the trials is `run` with the functions and values that it captures (tables, tensors,
---data and objects by their content), the named values of the space, the globals that `run` names,
---definitions (mr.losses.define and the like), every module that is loaded when the study begins,
---and what a trial loads by require or dofile. Comments, white space and any other code may change.
---A weak table, e.g. `setmetatable({}, { __mode = "k" })`, counts as a cache, and its contents are
---not compared.
---
---Options of mr.args are compared if they are passed as `settings`. If an option that the trials'
---functions read changes without being in `settings`, a warning names the option and its old and
---new value. Changes inside tables of `settings` and `data` are also detected. A store of an
---earlier version, which recorded code in another form, needs `force = true` once.
---
---A trial stores the fingerprints of the data that it passed to mr.fit and mr.evaluate. A later
---call of mr.sweep takes one of the trials with equal data, starts it again up to its call of
---mr.fit, and compares the data. Other data is an error, unless `force = true`. Trials run under
---the numerics version of earlier trials of the study (printed by `moonrank --version`); another
---version is an error, unless `mix_numerics = true`. The metric cannot change once trials have
---results, even with `force`.
---
---Trials run in worker processes. With `workers = 0`, they run in this process, and so they do
---without the option if no worker can start the script anew, e.g. at the prompt. A worker starts the
---script anew, and takes trials when the script calls `mr.sweep`. The output of each worker goes to a
---file in the folder STORE.files, beside the store. Results do not depend on the number of workers,
---except that a new study of tpe or of a pruner may get a larger default of the option `generation`
---with more workers.
---Trials begin in the order of their numbers. The displayed time left is the mean time of the
---finished trials, times the number of trials left, divided by the workers.
---
---Besides its number, `run` may return the values per list of an evaluation: `{ndcg = 0.5,
---per_list = ...}`. The table per_list may also have several metrics by name, and the number of
---each list's user or query: `per_list = {ndcg = values, list = numbers}`.
---
---`pruner = {"hyperband", max_resource = R}` puts trials into brackets by their numbers
---(mr.sweep.HyperbandOptions). With factor 3 and R = 81, the brackets have 81, 34, 15, 8 and 5
---trials. In every bracket but the last one, all trials run up to a certain step and pause. The best
---third of the trials, by their reports at that step, continues to three times that step, and so on
---up to R, where a trial ends by itself. All other trials of the bracket are pruned. A paused trial
---continues by running again: from its checkpoint with `mr.fit{trial = trial, checkpoint = true}`,
---else from its beginning. Which trials continue does not depend on the number of workers or on
---interruptions. If `trials` ends within a bracket and is raised later, other trials may continue
---than with the larger number from the start. A sampler that learns ("tpe") uses only the results
---of earlier brackets.
---
---Under `mpirun` or `srun`, each started process has one worker. The first process writes the
---store, continues the script, and is the only one that prints. All other processes stay in their
---first `mr.sweep` until the first process ends. All processes need access to the folder of the
---script and of the store. If a worker crashes, its trial counts as killed, as on one machine. If a
---process ends, the launcher ends all processes (unless `mpirun --enable-recovery`); the sweep can
---be continued later.
---@param options mr.SweepOptions
---@return mr.Results
function M.sweep(options)
  local o = checked(options)
  if running then check.fail("mr.sweep: a trial of another sweep called it. Run sweeps one after another") end
  if (ranks.rank() or 0) > 0 then ranks.serve(o.silence) end
  local call = name_of_call()
  local role = worker.role()
  local study = studies.describe(o, role and true or false)
  local fingerprint = studies.fingerprint(study)
  local context = { run = o.run, space = o.space, metric = o.metric, direction = o.direction, assumed = o.assumed,
    pruner = o.pruner, others = {} }
  running = true
  local _ <close> = ends_running
  if role and role.call == call then worker.serve(role.channel, context, fingerprint) end
  if not role then  -- a worker skips earlier sweeps of the script, which have ended, and only reads their results
    local ok, message = pcall(run_study, o, call, study, fingerprint, context)
    code.settle(o.run, o.space, study.code)
    if not ok then error(message, 0) end
  end
  return require("moonrank.results").results(o.store, o.name)
end

return M
