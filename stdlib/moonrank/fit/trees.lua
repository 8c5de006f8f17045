-- Trees as mr.fit trains them: an epoch is one round of boosting over all lists, by an objective of XGBoost or by the
-- derivatives of a loss. `Rounds` has the methods of mr.fit.Epochs and replaces it; this file also checks the options.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local newton = require "moonrank.losses.newton"
local random = require "moonrank.random"
local tensors = require "moonrank.tensor"
local tree_options = require "moonrank.models.tree_options"

local M = { unit = "round" }

-- Options of mr.fit that trees do not use: they belong to optimizer steps, or the model has them.
local without = { "optimizer", "batch", "batch_rows", "shuffle", "schedule", "clip" }

-- Options by which XGBoost draws rows or features at random. The state of its random numbers is
-- inside its library and cannot be saved to a file.
local drawn = { "subsample", "colsample_bytree", "colsample_bynode" }

local function check_drawn(config)
  for _, name in ipairs(drawn) do
    if config[name] < 1 then
      check.fail("mr.fit: checkpoint is given, but the trees have %s = %g. XGBoost's random numbers cannot be saved. "
        .. "Leave checkpoint out", name, config[name])
    end
  end
end

---Completes the options of mr.fit before they are checked. Options that do not apply to trees are
---errors.
---@param o table      with defaults
---@param given table  as the script gave them
function M.prepare(o, given)
  local config = o.model.config
  for _, name in ipairs(without) do
    if given[name] then
      check.fail("mr.fit: %s does not apply to trees, which are grown on all lists at once. Leave it out", name)
    end
  end
  if given.epochs ~= nil then
    check.fail("mr.fit: epochs does not apply to trees. Pass rounds to the model: mr.models.trees{rounds = %s}",
      tostring(given.epochs))
  end
  if given.checkpoint then check_drawn(config) end
  if given.parallel then check.fail "mr.fit: parallel is true, which does not apply to trees. Leave it out" end
  if o.model.rounds > 0 then
    check.fail("mr.fit: model has %d rounds of trees already. Make another model", o.model.rounds)
  end
  if config.objective == "loss" then
    if given.loss == nil then
      check.fail("mr.fit: loss is missing. Pass one of mr.losses, or choose an objective of XGBoost: "
        .. "mr.models.trees{objective = 'rank:ndcg'}")
    end
  else
    if given.loss ~= nil then
      check.fail("mr.fit: loss is given, but the trees' objective is '%s'. Leave loss out, or make the trees with "
        .. "objective = 'loss'", config.objective)
    end
    o.loss = tree_options.objectives[config.objective].shown()
  end
  o.epochs, o.batch = config.rounds, math.max(1, math.tointeger(check.field(o.train, "count")) or 1)
end

-- Refuses a part of the data without the model's number of features.
local function check_features(role, data, columns)
  local features = check.field(data, "features")
  if not features then check.fail("mr.fit: trees score features, but %s has none", role) end
  if features:size(2) ~= columns then
    check.fail("mr.fit: the trees have %d features, but %s has %d", columns, role, features:size(2))
  end
end

-- Returns the number of classes, or nil if the objective has no classes. Grades that the objective does not accept are
-- an error.
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

---Raises an error if the trees do not fit train, valid or test. It stores the numbers of features
---and classes in the model's config.
---@param plan mr.fit.Plan
function M.check(plan)
  local config, train = plan.model.config, plan.train
  if not dataset.is(train) then
    check.fail("mr.fit: train is the script's own, but trees are grown on datasets (mr.data.dataset)")
  end
  if train.lists.rows == 0 then check.fail "mr.fit: train has no rows to grow trees on" end
  if not train.features then check_features("train", train, 0) end
  local columns = config.features or train.features:size(2)
  for _, role in ipairs{ "train", "valid", "test" } do
    if plan[role] and plan[role].count > 0 then check_features(role, plan[role], columns) end
  end
  config.classes, config.features = classes_of(plan, config), columns
end

---@class mr.fit.Rounds
---@field optimizer false
local Rounds = check.class("mr.fit.Rounds")

---Returns all lists of a part as one batch, whose rows are converted for XGBoost only once; nil if it has none. The
---model keeps these rows until training ends.
---@param model mr.Trees
---@param data mr.Dataset
---@return mr.Batch?
function M.held(model, data)
  local batch = data.count > 0 and dataset.whole_batch(data)
  if not batch then return nil end
  model:_keep(batch.features)
  return batch
end

---@param plan mr.fit.Plan
---@return mr.fit.Rounds
function M.start(plan)
  local model, lists = plan.model, plan.train.lists
  local data = core.tree_data(plan.train.features, lists, model.config.threads)
  local booster = core.booster(data, tree_options.parameters(model.config))
  return setmetatable({ optimizer = false, count = 1, replayed = 0, _plan = plan, _data = data, _booster = booster,
    _lists = lists }, Rounds)
end

-- Trees have no lr, and thus no schedule.
function Rounds.begin_schedule() end
function Rounds.see() end

-- The scores before a round. The history has their loss.
local function scores_of(self)
  local booster, classes = self._booster, self._plan.model.config.classes
  local scores = booster:scores(self._data, 0, classes ~= nil)
  if not classes then return scores:double() end
  return (scores:double() * core.arange(0, classes - 1, 1, "float64", "cpu")):sum(2)
end

-- Warns if no leaf can reach its smallest sum of second derivatives: such trees give all rows one score. The slopes of
-- a bound can make second derivatives that small.
local function warn_of_weights(second, config)
  local sum = second:double():sum():item()
  if sum > 0 and sum < 2 * config.min_child_weight then
    check.warn(("mr.fit: no tree can have a split: second derivatives of all rows add up to %.3g, and "
      .. "min_child_weight is %g for each side"):format(sum, config.min_child_weight))
  end
end

-- Grows a round of trees. Returns the loss of each list before it.
local function grow(self, epoch)
  local loss, config, booster, lists = self._plan.loss, self._plan.model.config, self._booster, self._lists
  local scores = scores_of(self)
  if config.objective ~= "loss" then
    local values = tensors.no_grad(function() return loss(scores, lists) end)
    booster:update(self._data, epoch - 1)
    return values
  end
  local first, second, values = newton.derivatives(loss, scores, lists)
  if epoch == 1 then warn_of_weights(second, config) end
  -- XGBoost draws in every round by derivatives as in its first round, so each round gets a seed of its own
  booster:set({ "seed" }, { tostring((config.seed + 1000003 * epoch) % 2147483647) })
  booster:boost(self._data, first, second)
  return values
end

-- Grows the first round again and drops its trees. The method "approx" bins features by the second derivatives of the
-- first round, so a training that resumes needs this round for the same bins.
local function bin_as_at_first(self)
  local _ <close> = random.of_step(self._plan.seed, 1)
  grow(self, 1)
end

---Grows one round of trees.
---@param epoch integer
---@param after? fun(done: integer, lists: integer, total: number?)
---@return number loss  mean per list that counts, before the round
function Rounds:run(epoch, after)
  core.check_interrupt()
  local plan = self._plan
  local _ <close> = random.of_step(plan.seed, epoch)
  local total, counted = grow(self, epoch):sum():item(), plan.loss:count(self._lists)
  if total - total ~= 0 then check.fail("mr.fit: the loss of round %d is %s", epoch, tostring(total)) end
  plan.model._booster, plan.model._rounds = self._booster, self._booster.rounds
  if after then after(1, counted, total) end
  return plan.reduction == "sum" and total or counted > 0 and total / counted or 0
end

---Adds the trees to the tensors of a checkpoint. A chosen epoch is the first rounds of the trees.
---@param names string[]
---@param numbers mr.Tensor[]
function Rounds:write(names, numbers)
  local rounds = self._booster.rounds
  if rounds > 0 then names[#names + 1], numbers[#numbers + 1] = "trees", self._booster:to_tensor(rounds) end
end

---Reads and checks the trees of a checkpoint.
---@param by_name table<string, mr.Tensor>
---@param epoch integer    how many rounds there are
---@param best integer[]   for each metric, the round that it chose; 0: none
---@return table snapshots  of these rounds; false: none
---@return fun() take       gives the model the trees of the file
function Rounds:read(by_name, epoch, best)
  local model, snapshots = self._plan.model, {}
  if epoch == 0 then
    for k in ipairs(best) do snapshots[k] = false end
    return snapshots, function() end
  end
  local booster = model:_read(by_name)
  if booster.rounds ~= epoch then check.fail("it has trees of %d rounds, expected %d", booster.rounds, epoch) end
  for k, rounds in ipairs(best) do snapshots[k] = rounds > 0 and { booster = booster, rounds = rounds } end
  return snapshots, function()
    local config = model.config
    if config.method == "approx" and config.objective == "loss" and epoch < config.rounds then bin_as_at_first(self) end
    booster:set(tree_options.parameters(config))
    self._booster, model._booster, model._rounds = booster, booster, epoch
  end
end

---Frees the rows that XGBoost holds.
function Rounds:close()
  self._plan.model:_forget()
  self._data = false
end

Rounds.__close = Rounds.close

return M
