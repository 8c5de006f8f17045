-- Training of trees by mr.fit: an epoch is one round of boosting on all lists, with an objective of XGBoost or with the
-- derivatives of a loss. The class `Rounds` replaces mr.fit.Epochs and has the same methods. This file also checks the
-- options.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local losses = require "moonrank.losses.loss"
local newton = require "moonrank.losses.newton"
local random = require "moonrank.tensor.random"
local tensors = require "moonrank.tensor"
local tree_options = require "moonrank.models.tree_options"

---How a model is trained that takes no optimizer steps. The model has this module as its field `trainer`.
---@class mr.fit.Trainer
---@field unit string       name of a step on the progress line
---@field prepare function  fills in and checks the options of mr.fit
---@field check function    checks that the model fits the data
---@field start function    makes the object that replaces mr.fit.Epochs
---@field held function     makes the batch of the part that chooses the epoch
local M = { unit = "round" }

-- Options of mr.fit that are errors for trees, most of them because they are about optimizer steps, and why.
local without = { epochs = "trees take rounds: mr.models.trees{rounds = %s}",
  parallel = "trees are grown in one process" }
for _, name in ipairs{ "optimizer", "batch", "batch_rows", "unit", "negatives", "shared_negatives", "catalogue",
  "shuffle", "schedule", "clip" } do
  without[name] = "trees are grown on all lists at once"
end

-- Options of trees with which XGBoost samples rows or features. Such a training cannot be checkpointed, because
-- XGBoost's state of random numbers cannot be saved.
local drawn = { "subsample", "colsample_bytree", "colsample_bynode" }

local function check_drawn(config, checkpoint)
  for _, name in ipairs(drawn) do
    if config[name] < 1 then
      check.leave_out("mr.fit", "checkpoint", checkpoint,
        "XGBoost's random numbers for %s = %g cannot be saved", name, config[name])
    end
  end
end

---Fills in options of mr.fit for trees, such as the number of epochs. Options that do not apply to
---trees are errors.
---@param o table      options with defaults, which this function changes
---@param given table  options that the script passed
function M.prepare(o, given)
  local config = o.model.config
  for _, name in ipairs(check.names(without)) do
    check.leave_out("mr.fit", name, given[name] or nil, without[name], given[name])
  end
  if given.checkpoint then check_drawn(config, given.checkpoint) end
  check.expect(o.model.rounds == 0, "mr.fit", "the number of rounds of model", o.model.rounds,
    "0: make a new model")
  if config.objective == "loss" then
    check.expect(given.loss ~= nil, "mr.fit", "loss", given.loss,
      "a loss such as mr.losses.ndcg{}, or trees with an objective of XGBoost: "
      .. "mr.models.trees{objective = 'rank:ndcg'}")
  else
    check.leave_out("mr.fit", "loss", given.loss,
      "the trees' objective is '%s', and only trees with objective = 'loss' take a loss", config.objective)
    o.loss = tree_options.objectives[config.objective].shown()
  end
  o.epochs, o.batch = config.rounds, math.max(1, math.tointeger(check.field(o.train, "count")) or 1)
end

-- Raises an error if the dataset `data` has no features, or another number of features than the trees.
local function check_features(role, data, columns)
  dataset.need("mr.fit", role, data, "features")
  check.length("mr.fit", "a row of " .. role, data.features:size(2), columns, "one for each feature of the trees")
end

-- Returns the number of classes of a classification objective, else nil. Checks the grades of train.
local function classes_of(plan, config)
  if config.objective == "loss" then return nil end
  local grades = plan.train.lists.relevance:to("cpu"):double()
  local objective, most = tree_options.objectives[config.objective], grades:max():item()
  local classes = config.classes
  if config.objective == "multi:softprob" and not classes then
    classes = math.floor(math.max(2, math.min(1024, most + 1)))
  end
  if not objective.fits(grades, classes) then
    check.fail("mr.fit: objective '%s' takes %s%s, but train has grades from %g to %g", config.objective,
      objective.grades, classes and (", of %d classes"):format(classes) or "", -(-grades):max():item(), most)
  end
  return classes
end

---Raises an error if the trees cannot be trained on train or cannot score valid or test. Stores the
---numbers of features and of classes in the model's config.
function M.check(plan)
  local config, train = plan.model.config, plan.train
  check.expect(dataset.is(train), "mr.fit", "train", train, "a dataset (mr.data.dataset), on which trees are grown")
  dataset.need("mr.fit", "train", train, "rows", "features")
  local columns = config.features or train.features:size(2)
  for _, role in ipairs{ "train", "valid", "test" } do
    if plan[role] and plan[role].count > 0 then check_features(role, plan[role], columns) end
  end
  config.classes, config.features = classes_of(plan, config), columns
end

---Grows the trees of one training, one round per epoch.
---@class mr.fit.Rounds
---@field optimizer false
local Rounds = check.class("mr.fit.Rounds")

---Returns all lists of a dataset as one batch; nil if the dataset has no lists. The batch's rows
---are converted to XGBoost's format only once, and the model holds them until the training ends.
---@param model mr.Trees
function M.held(model, data)
  local batch = data.count > 0 and dataset.whole_batch(data)
  if not batch then return nil end
  model:_keep(batch.features)
  return batch
end

-- Returns `lists` with weights as an XGBoost objective needs them: one per list for ranking objectives; one per row for
-- others, so that every row becomes a list. Lists without weights are returned unchanged, and so are all lists if the
-- objective is "loss".
local function xgboost_lists(objective, lists)
  if not lists:has_weights() or objective == "loss" then return lists end
  if objective:match "^rank:" then
    if lists.weights then
      check.fail("mr.fit: train has weights of rows, but XGBoost's objective '%s' takes weights of lists only. Pass "
        .. "list_weights, or trees with objective = 'loss'", objective)
    end
    if lists.count > 0 and lists.list_weights:max():item() == 0 then
      check.fail("mr.fit: all lists of train have weight 0, but XGBoost's objective '%s' divides by their mean weight. "
        .. "Pass a weight above 0 for at least one list", objective)
    end
    return lists
  end
  local set = dataset.new{ lists = lists }
  return set:pointwise().lists
end

---Makes the object that grows the trees of a training, one round per epoch, from the features of train.
---@return mr.fit.Rounds
function M.start(plan)
  local model, lists = plan.model, plan.train.lists
  local data = core.tree_data(plan.train.features, xgboost_lists(model.config.objective, lists), model.config.threads)
  local booster = core.booster(data, tree_options.parameters(model.config))
  return setmetatable({ optimizer = false, count = 1, replayed = 0, _plan = plan, _data = data, _booster = booster,
    _lists = lists }, Rounds)
end

-- Does nothing: trees have no learning rate that a schedule could change.
function Rounds.begin_schedule() end
function Rounds.see() end

-- Returns the scores of the train rows before a round, from which the loss in the history is computed.
local function scores_of(self)
  local booster, classes = self._booster, self._plan.model.config.classes
  local scores = booster:scores(self._data, 0, classes ~= nil)
  if not classes then return scores:double() end
  return (scores:double() * core.arange(0, classes - 1, 1, "float64", "cpu")):sum(2)
end

-- Warns if no tree can have a split: the loss has no gradient at equal scores, with which boosting begins, or second
-- derivatives of all rows add up to less than two leaves need (`min_child_weight`), e.g. under a bound.
local function warn_of_no_split(first, second, plan)
  local sum, config, why = second:double():sum():item(), plan.model.config, nil
  if first:abs():max():item() == 0 and plan.loss:count(plan.train.lists) > 0 then
    why = ("%s has no gradient where all scores are equal, and trees begin with equal scores"):format(plan.loss.name)
  elseif sum > 0 and sum < 2 * config.min_child_weight then
    why = ("second derivatives of all rows add up to %.3g, and min_child_weight is %g for each side"):format(sum,
      config.min_child_weight)
  end
  if why then check.warn("mr.fit: no tree can have a split: " .. why) end
end

-- Grows the trees of one round. Returns the loss of each list before the round.
local function grow(self, epoch)
  local loss, config, booster, lists = self._plan.loss, self._plan.model.config, self._booster, self._lists
  local scores = scores_of(self)
  if config.objective ~= "loss" then
    local values = tensors.no_grad(function() return loss(scores, lists) end)
    booster:update(self._data, epoch - 1)
    return values
  end
  local first, second, values = newton.derivatives(loss, scores, lists)
  if epoch == 1 then warn_of_no_split(first, second, self._plan) end
  -- If the derivatives do not come from an objective of XGBoost, XGBoost repeats the random numbers of its first round
  -- in every round. So each round gets a seed of its own.
  booster:set({ "seed" }, { tostring((config.seed + 1000003 * epoch) % 2147483647) })
  booster:boost(self._data, first, second)
  return values
end

-- Grows the first round again and discards its trees. XGBoost's method "approx" bins features by the second derivatives
-- of the first round. A training that resumes from a checkpoint repeats that round to get the same bins.
local function bin_as_at_first(self)
  local _ <close> = random.of_step(self._plan.seed, 1)
  grow(self, 1)
end

---Trains for one epoch: grows one round of trees on all lists. Returns the loss before the round.
---@param after? fun(done: integer, lists: integer, total: number?)  called once, after the round
---@return number loss  mean (with reduction = "sum": sum) over the lists that count
function Rounds:run(epoch, after)
  core.check_interrupt()
  local plan = self._plan
  local _ <close> = random.of_step(plan.seed, epoch)
  local values = losses.times_list_weights(grow(self, epoch), self._lists)
  local total, counted = values:sum():item(), plan.loss:count(self._lists)
  check.expect(total - total == 0, "mr.fit", "the loss of a round", total, "a finite number, in round %d", epoch)
  plan.model._booster, plan.model._rounds = self._booster, self._booster.rounds
  if after then after(1, counted, total) end
  return plan.reduction == "sum" and total or counted > 0 and total / counted or 0
end

---Adds the trees, if there are any, to the tensors of a checkpoint (`numbers`) and their names
---(`names`). A chosen epoch needs no copy of its own: epoch n has the first n rounds of the trees.
function Rounds:write(names, numbers)
  local rounds = self._booster.rounds
  if rounds > 0 then names[#names + 1], numbers[#numbers + 1] = "trees", self._booster:to_tensor(rounds) end
end

---Reads and checks the trees of a checkpoint. Returns the trees of the chosen epochs, and a
---function that loads the trees of the file into the model.
---@param epoch integer    number of rounds in the checkpoint
---@param best integer[]   for each metric, the round that the metric chose; 0: none
---@return table snapshots  for each metric, the trees up to the chosen round; false: no round was chosen
---@return fun() take       loads the trees of the file into the model
function Rounds:read(by_name, epoch, best)
  local model, snapshots = self._plan.model, {}
  if epoch == 0 then
    for k in ipairs(best) do snapshots[k] = false end
    return snapshots, function() end
  end
  local booster = model:_read(by_name)
  check.expect(booster.rounds == epoch, "the file", "the number of rounds", booster.rounds, "%d as in its metadata",
    epoch)
  for k, rounds in ipairs(best) do snapshots[k] = rounds > 0 and { booster = booster, rounds = rounds } end
  return snapshots, function()
    local config = model.config
    if config.method == "approx" and config.objective == "loss" and epoch < config.rounds then bin_as_at_first(self) end
    booster:set(tree_options.parameters(config))
    self._booster, model._booster, model._rounds = booster, booster, epoch
  end
end

---Frees XGBoost's copies of the rows of train and valid at the end of the training.
function Rounds:close()
  self._plan.model:_forget()
  self._data = false
end

Rounds.__close = Rounds.close

return M
