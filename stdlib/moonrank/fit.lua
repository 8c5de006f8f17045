-- Training of models: mr.fit, and functions that score and test a model. A training has three objects, and the other
-- modules of the folder fit/ belong to one of them:
--
--   plan      The checked options, and values derived from them. It is fixed before the first batch.
--             options: declares the options; selection: how the epoch is chosen; learner: what is trained;
--             interactions, data_parallel, new_users, left_out, scorable: single checks and options
--   training  The loop over epochs, which carries out the plan.
--             epochs: optimizer steps on an objective, with clip and anomaly; trees: rounds instead of steps;
--             validation: evaluates; display: shows progress;
--             checkpoint: the file to resume from, with kept_steps and script_code
--   run       The result: history, chosen epochs (choice), metrics on test.
local left_out = require "moonrank.fit.left_out"
local new_users = require "moonrank.fit.new_users"
local plans = require "moonrank.fit.plan"
local seen = require "moonrank.data.seen"
local training = require "moonrank.fit.training"
local validation = require "moonrank.fit.validation"

local M = {}

---Returns the scores that a model gives the rows of a dataset.
---@return mr.Tensor  [rows]
function M.scores(model, dataset) return (validation.scored(model, dataset)) end

---Scores the rows of a dataset with a model, and returns the metrics of these scores as an mr.Evaluation.
---@param metrics (string|mr.Metric|table)[]
function M.test(model, dataset, metrics)
  seen.note("other", dataset)
  return validation.evaluated(model, dataset, metrics)
end

---Trains a model and returns its history, the chosen epoch and the metrics on test.
---
---Choice of the epoch: after each epoch the validation part is evaluated. `select` names the metric
---that chooses the epoch. The epoch with the highest value is chosen, or with the lowest value for
---metrics that are minimised; an epoch with NaN is never chosen. Without a validation part, or if
---every value is NaN, the last epoch is chosen, and the printed run says so. After the training,
---the model has the parameters of the chosen epoch. Test is evaluated once, at the end. `choose_on
---= "test"` chooses the epoch on test, as some papers did; the field `chosen_on` of the run is then
---"test". Without valid and test no metric is computed.
---
---With several metrics in `select`, each metric chooses its own epoch and is evaluated on test with
---the parameters of that epoch. After the training, the model has the parameters that the first
---metric chose; `run:restore("rr")` loads the parameters that "rr" chose. A bounded metric such as
---`{"ap", bound = "minmax"}` is called "ap[minmax]" in the history, in the run, in reports to a
---trial and in `select`.
---
---`valid = fold:candidates()` computes all metrics of the history over the full catalogue, like
---fold:evaluate. Each validation then scores every item for every user of the validation part. The
---options `known` and `users` of fold:candidates say which items and users are left out. A warning
---counts users that take part in the choice of the epoch but have no relevant row in train.
---
---All names, and whether the model fits the data, are checked before the first step.
---
---Ctrl-C stops the training after the current batch and returns the history so far.
---`run.interrupted` is then true, and test is not evaluated. The model has the parameters of the
---chosen epoch, or of the last complete epoch if none was chosen. Before the end of the first epoch
---the model has its initial parameters. Every later mr.fit of the script raises the error
---`interrupted`, so that a loop of trainings ends.
---
---A loss with parameters (mr.losses.ordinal{learn = true}) is trained together with the model. The
---optimizer, clipping, checkpoints and the chosen epoch then include the loss's parameters. A list that
---does not count in the loss (mr.Loss:count) does not train, such as a list with equal grades under
---mr.losses.ndcg. mr.fit warns, with the reasons, if these are more than 5 % of the lists of train.
---
---A step takes `batch` lists. With `batch_rows = 4096`, a step takes the whole lists that begin in
---the next 4096 rows of the epoch. Time and memory per step then vary less if list lengths differ
---much. Schedules count rows / batch_rows steps per epoch, rounded up.
---
---With `unit = "interaction"`, a step takes `batch` interactions: pairs of a user and a relevant item
---(grade 1 or higher) of train, in a new order in each epoch. Each gets `negatives` sampled items,
---drawn uniformly with replacement from the items of the catalogue that are not relevant to the user
---in train, and is a list of 1 + `negatives` rows. Draws depend on (seed, step, row). A bound is that
---of the user's whole list: its rows are all items of the catalogue, its relevant rows the user's
---items in train. A bound that is not affine needs `slope_at = "expectation"` in the loss. With
---`shared_negatives`, all interactions of a step have the same negatives, drawn from all items.
---Users who have every item do not train.
---
---Trees are grown in rounds: one epoch is one round, and mr.models.trees{rounds = ...} sets the
---number of rounds. With trees, it is an error to pass optimizer, batch, batch_rows, unit, negatives,
---shared_negatives, catalogue, epochs, clip, schedule, parallel or shuffle = true.
---
---`checkpoint = "path"` writes the state of the training to a file after every epoch, or at the
---intervals that mr.FitCheckpoint sets. When the script is started again, training resumes from the
---file and gives the same bits as an uninterrupted run. With `progress`, a line says from which
---epoch training resumes. It is an error if the file belongs to another training (model, starting
---parameters, loss, optimizer, data, seed, ...), or another numerics version without the option
---`mix_numerics` of mr.FitCheckpoint. The file is then not changed. It is also an error if a script
---function in the model, loss, bounds, schedule or metrics has changed, by its tokens or captured
---values; the error names the function. The option `each_epoch` is not compared.
---
---`epochs` may be larger than in the checkpoint file, with two exceptions. The schedule must not depend
---on `epochs`, as mr.schedule.cosine{} without epochs does, also after a warm-up. And the file's last
---epoch must not have been validated only because it was the last (option `every`). Each checkpoint of
---trees writes all trees, so `checkpoint = {path = "path", every = 20}` saves time if there are many
---trees. Trees that sample rows or features (subsample, colsample_bytree, colsample_bynode) cannot be
---checkpointed.
---
---`trial = trial` reports every epoch to a trial of a sweep, whose pruner may end the trial. If
---`checkpoint = true` is also given, a trial that was killed or interrupted resumes where it
---stopped.
---
---`parallel = true` trains one model in all processes that `mpirun` or `srun` started. Every
---process runs the script and takes its share of the lists of each batch. Gradients are summed in
---the order of ranks (GPU gradients go through the host), and all processes end with the same
---model. Results are identical bits for the same number of processes. With another number of
---processes, results agree up to rounding, because partial sums differ. Losses that sample rows
---(BPR, WARP, LambdaFM) draw the same rows for any number of processes; dropout, and random tensors
---in a script's own model, do not. Models with buffers or a penalty are an error. Only the first process
---evaluates validation, shows progress and prints.
---@param options mr.FitOptions
---@return mr.Run
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 5}
---local run = mr.fit{model = mr.models.linear{inputs = 5}, loss = mr.losses.ndcg{}, train = queries,
---  valid = queries, epochs = 3, metrics = {"ndcg", "rr"}, select = {"ndcg", "rr"}, progress = false}
---#run.history, run.history[1].metrics.rr > 0, #run.choices   --> 3, true, 2
---```
---Example:
---```lua
---local ratings = mr.data.synthetic{kind = "ratings", users = 30, items = 60}:binarize(4)
---local fold = ratings:folds{by = "share", k = 1, nsr = 0}[1]
---local run = mr.fit{model = mr.models.mf{users = 30, items = 60}, loss = mr.losses.sl{}, train = fold.train,
---  unit = "interaction", batch = 256, negatives = 20, epochs = 2, progress = false}
---#run.history   --> 2
---```
function M.fit(options)
  training.check_ended()
  local plan = plans.of(options)
  if plan.is_first then
    left_out.warn(plan)
    new_users.warn(plan)
  end
  return training.run(plan)
end

return M
