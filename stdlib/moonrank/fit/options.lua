-- Declares the options of mr.fit: names, types, defaults and documentation. plan.lua reads the options and checks
-- conditions that involve several options.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local optim = require "moonrank.optim"

local function has_method(value, name) return type(check.field(value, name)) == "function" end

local function is_model(value)
  return check.callable(value) and has_method(value, "parameters") and has_method(value, "snapshot")
    and has_method(value, "restore")
end

local function is_loss(value) return check.callable(value) and has_method(value, "count") end

-- Returns true for a dataset or candidates, also of a class that a script defined, and false for a fold, which has a
-- field `train`. For the option `train`, plan.lua refuses candidates with a more precise error.
local function is_data(value)
  return not check.field(value, "train") and has_method(value, "batches")
    and math.type(check.field(value, "count")) == "integer"
end

local function is_clip(value)
  if type(value) == "number" then return value > 0 and value < math.huge end
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == "mr.Clip"
end

local function is_trial(value) return type(value) == "table" and rawget(value, "_state") ~= nil end

local function is_checkpoint(value)
  local kind = type(value)
  return kind == "string" or kind == "table" or kind == "boolean"
end

local in_optimizer = "The learning rate is an option of the optimizer: optimizer = mr.optim.adam{lr = 0.01}"

return declare("mr.FitOptions", {
  "Model and loss",
  { "model", "mr.Model|mr.Trees", required = true, accept = is_model,
    expected = "a model, as mr.models.mlp{} makes it, or an object of the script that can be called with a batch "
      .. "and has the methods parameters, snapshot and restore",
    help = "one of mr.models, or a model of the script: callable, with the methods parameters, snapshot and restore" },
  { "loss", "mr.Loss", accept = is_loss, expected = "a loss, as mr.losses.ndcg{} makes it",
    also = { "criterion", "loss_fn", "objective" },
    help = "one of mr.losses; required, except for trees that have an objective of their own" },
  { "reduction", "string", default = "mean", choices = { "mean", "sum", "rows" },
    help = "how the losses of a batch's lists are combined: mean or sum over the lists that are not degenerate; "
      .. "rows, for pointwise losses only: mean over all rows" },
  "Data",
  { "train", "mr.Dataset", required = true, accept = is_data, expected = "a dataset, such as fold.train",
    also = { "data", "dataset", "train_data" }, help = "lists to train on" },
  { "valid", "mr.Dataset|mr.data.Candidates", accept = is_data,
    expected = "a dataset or candidates, such as fold.valid or fold:candidates()",
    also = { "val", "validation", "dev" },
    help = "validation part, which chooses the epoch; fold:candidates() ranks all items for each user" },
  { "test", "mr.Dataset|mr.data.Candidates", accept = is_data,
    expected = 'a dataset or candidates, such as fold.test or fold:candidates{part = "test"}',
    help = 'test part, scored once, at the end; fold:candidates{part = "test"} ranks all items for each user' },
  { "users", "string", default = "all", choices = { "all", "known" },
    help = "known leaves out lists of valid and test whose user has no relevant row in train; "
      .. "for candidates, pass users to fold:candidates instead" },
  "Steps",
  { "optimizer", "mr.Optimizer", default_of = function() return optim.adam{} end, shown = "mr.optim.adam{}",
    accept = function(value) return has_method(value, "bind") end, expected = "an optimizer, such as mr.optim.adam{}",
    also = { "optim", "optimiser", lr = in_optimizer, learning_rate = in_optimizer, eta = in_optimizer },
    help = "one of the optimizers of mr.optim" },
  { "schedule", "mr.Schedule", class = "mr.Schedule", expected = "a schedule, such as mr.schedule.cosine{}",
    shown = "lr stays", also = { "scheduler", "lr_scheduler" }, help = "how the optimizer's lr changes" },
  { "clip", "number|mr.Clip", accept = is_clip, expected = "a positive finite number, or mr.clip_gradients{norm = ...}",
    shown = "no limit", also = { "clip_norm", "grad_clip", "max_grad_norm", "gradient_clip_val" },
    help = "largest norm of all gradients of a step together (mr.clip_gradients)" },
  { "batch", "integer", default = 32, least = 1, also = { "batch_size" }, help = "lists, or interactions, per step" },
  { "batch_rows", "integer", least = 1, excludes = { batch = true }, only_with = { unit = "list" },
    help = "approximate rows per step, instead of batch; a step takes whole lists (mr.Dataset's batches{rows = ...})" },
  { "unit", "string", default = "list", choices = { "list", "interaction" },
    help = "what a step takes: lists; or interactions, which are pairs of a user and a relevant item with sampled "
      .. "negatives. Lists with weights are an error then" },
  { "negatives", "integer", least = 1, most = 1000000, shown = "1", only_with = { unit = "interaction" },
    also = { "n_negatives", "num_negatives", "neg_num" }, help = "sampled negatives of each interaction" },
  { "shared_negatives", "boolean", shown = "false", only_with = { unit = "interaction" },
    help = "whether all interactions of a batch have the same negatives, drawn from all items, so that a user's "
      .. "own items can be among them" },
  { "catalogue", "integer", least = 2, shown = "the model's number of items", only_with = { unit = "interaction" },
    help = "number of items from which negatives are drawn, and the number of rows for the bounds of interactions" },
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
  { "choose_on", "string", default = "valid", choices = { "valid", "test" }, help = "part that chooses the epoch" },
  { "every", "integer", default = 1, least = 1, also = { "eval_every" },
    help = "number of epochs between validations; needs valid" },
  { "patience", "integer", least = 1, shown = "never", also = { "early_stopping", "early_stopping_rounds" },
    help = "stop after this many validations in a row in which no metric of select found a better epoch" },
  "Checkpoints and trials",
  { "checkpoint", "string|mr.FitCheckpoint|true", accept = is_checkpoint,
    expected = "a path, a table with the field path, or true",
    help = "file that training is saved to and resumed from; true: a file in the trial's folder" },
  { "trial", "mr.Trial", accept = is_trial, expected = "the trial that mr.sweep gives to `run`",
    help = "trial that every epoch reports loss, valid_loss, valid_ndcg, ... to; its pruner may end training" },
  "Display",
  { "progress", "boolean", default = true, also = { "verbose" }, help = "show a progress line" },
  { "name", "string", default = "fit", help = "name in the progress line and of the run" },
  { "each_epoch", "fun(epoch: integer, model: mr.Model, entry?: mr.Epoch): boolean?",
    expected = "a function of the epoch and the model", also = { "callback", "callbacks", "on_epoch_end" },
    help = "called with 0 before training, and with its results after every epoch; `return false` ends training" },
})
