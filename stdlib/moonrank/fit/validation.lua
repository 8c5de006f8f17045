-- Evaluates the model during a training: after an epoch on valid (or test), and at the end on test. This file also
-- decides which parameters the model has at the end: the parameters of the chosen epoch, or of the last complete epoch
-- if no epoch was chosen.
local anomaly = require "moonrank.fit.anomaly"
local candidates = require "moonrank.data.candidates"
local choices = require "moonrank.fit.choice"
local core = require "moonrank.core"
local dataset = require "moonrank.data.dataset"
local evaluate = require "moonrank.evaluate"
local new_users = require "moonrank.fit.new_users"
local objectives = require "moonrank.fit.objective"
local phase = require "moonrank.system.phase"
local random = require "moonrank.tensor.random"
local tensors = require "moonrank.tensor"

local M = {}

---Returns the scores that a model gives all rows of the dataset `data`, without recording for
---gradients, and the dataset's lists.
function M.scored(model, data)
  local batch = dataset.whole_batch(data)
  return tensors.no_grad(function() return model(batch) end), batch.lists
end

---Evaluates a model on a dataset or on candidates, by metric objects. If the candidates correct metrics
---for the sampling of items, names in `metrics` must have the correction's suffix: "ndcg@10[corrected]".
function M.evaluated(model, data, metrics)
  if candidates.is(data) then return data:measure(model, metrics) end
  local scores, lists = M.scored(model, data)
  local found = evaluate.measure(scores, lists, metrics)
  found._set = data
  return found
end

-- Calls f, which evaluates the validation or test part, and returns its result. If f fails because the scores of this
-- part have NaN, the error names the part and the epoch (`when`).
local function explained(plan, part, when, f)
  local ok, found = pcall(f)
  if not ok then anomaly.part_failed(plan, part, when, found) end
  return found
end

-- Calls f and delays Ctrl-C until f has returned, so that f is not interrupted. After that, raises the error
-- "interrupted" if Ctrl-C was pressed; if f raised an error, raises the error of f instead.
local function undivided(f)
  local presses, was = core.interrupts(), core.defer_interrupt(true)
  local ok, message = pcall(f)
  core.defer_interrupt(was)
  if not ok then error(message, 0) end
  if not was and core.interrupts() > presses then error("interrupted", 0) end
end

---Evaluates a model after epochs and at the end of one training.
---@class mr.fit.Validation
local Validation = {}
Validation.__index = Validation

---Makes the object that evaluates the model during and after a training.
---@param run mr.Run  whose metrics choose epochs
---@return mr.fit.Validation
function M.new(plan, run)
  local selection, held = plan.selection, plan.trainer and plan.trainer.held
  return setmetatable({
    _plan = plan, _run = run, _selection = selection, _snapshot = false, _epoch = false,
    _objective = selection.data and objectives.of(plan, selection.data),
    _batch = selection.data and held and held(plan.model, selection.data) or false,
  }, Validation)
end

local function have_all_chosen(run)
  for _, choice in ipairs(run.choices) do
    if not choice._snapshot then return false end
  end
  return #run.choices > 0
end

---Copies the model's parameters before an epoch, so that Ctrl-C can restore them. No copy is needed
---if every metric has already chosen an epoch.
function Validation:before()
  if have_all_chosen(self._run) then
    self._snapshot, self._epoch = false, false
  else
    self._snapshot = self._plan.learner:snapshot(self._snapshot or nil)
    -- The epoch of the copied parameters is stored only after the copy is complete. If Ctrl-C stops the copying, the
    -- incomplete copy is then never restored into the model.
    self._epoch = #self._run.history
  end
end

-- Returns a table of numbers: the loss, followed by the metrics, on the part that chooses the epoch.
function Validation:_numbers()
  local plan, selection, objective = self._plan, self._selection, self._objective
  local batch = self._batch or dataset.whole_batch(selection.data)
  local scores = objective.scores(batch)
  objective:prepare(batch)
  local total, counted = objective:loss(scores, batch.lists, true)
  local numbers = { counted > 0 and total:item() or 0 }
  local found = candidates.is(selection.data) and selection.data:measure(plan.model, selection.measured)
    or evaluate.measure_by(scores, batch.lists, selection.measured)
  for i, each in ipairs(selection.measured) do numbers[i + 1] = found.mean[each.name] end
  return numbers
end

function Validation:_validated(epoch)
  local _ <close> = phase.begin "evaluation"
  local _ <close> = random.scope(self._plan.seed, ("epoch %d validation"):format(epoch))
  return explained(self._plan, self._selection.part, ("after epoch %d"):format(epoch), function()
    return tensors.no_grad(function() return self:_numbers() end)
  end)
end

---Validates an epoch if its number is a multiple of the option `every`, or is the option `epochs`. Each
---metric of `select` then chooses the epoch if it is the best so far.
function Validation:after(entry)
  local plan, selection, epoch = self._plan, self._selection, entry.epoch
  if not selection.data or epoch % selection.every ~= 0 and epoch ~= plan.epochs then return end
  local function find() return self:_validated(epoch) end
  local numbers = plan.group and plan.group:of_first(find, #selection.measured + 1) or find()
  entry.valid_loss = numbers[1]
  for i, each in ipairs(selection.measured) do entry.metrics[each.name] = numbers[i + 1] end
  undivided(function()
    for _, choice in ipairs(self._run.choices) do choices.see(choice, entry, plan.learner) end
  end)
end

---Returns true if no metric of `select` found a better epoch in the last `patience` validations. Returns false without
---the option `patience`, and if the last epoch was not validated.
function Validation:exhausted()
  local patience, history = self._selection.patience, self._run.history
  if not patience or not history[#history].valid_loss then return false end
  for _, choice in ipairs(self._run.choices) do
    if choices.waited(choice, history) < patience then return false end
  end
  return true
end

local function tested(plan)
  local _ <close> = phase.begin "evaluation"
  local _ <close> = random.scope(plan.seed, "test")
  local found = explained(plan, "test", "after the last epoch", function()
    return M.evaluated(plan.model, plan.test, plan.selection.on_test)
  end)
  local facts = new_users.facts(plan, plan.test)
  found.new_to_training, found._novelty = facts.new_to_training, facts.novelty
  return found
end

---Ends a training's evaluations: loads the parameters that the first metric chose, and returns the evaluation of test.
---Each metric of `select` is computed with the parameters that it chose. Returns nil without test or metrics, and after
---Ctrl-C.
function Validation:finish(interrupted)
  local plan, run, selection = self._plan, self._run, self._selection
  if interrupted and self._epoch == #run.history then plan.learner:restore(self._snapshot) end
  local has_model = not plan.trainer or #run.history > 0  -- trees cannot score the test part before their first round
  local tests = plan.test and not interrupted and #selection.on_test > 0 and has_model
  local last = #run.choices > 1 and plan.learner:snapshot()
  local function plain(name) return selection.plain[name] or name end
  for _, choice in ipairs(run.choices) do choices.keep_last(choice, run.history, last) end
  -- Evaluations on the test part, at the epochs that the second and later metrics of `select` chose. The key is the
  -- metric's name without a suffix in brackets: "ndcg@10" for "ndcg@10[corrected]". The suffix may differ between
  -- parts, because the metrics may be corrected for sampled candidate items on the validation part and not on the test
  -- part.
  local others = {}
  for i = #run.choices, 1, -1 do
    local choice = run.choices[i]
    if choice._snapshot then plan.learner:restore(choice._snapshot) end
    others[plain(choice.metric.name)] = tests and i > 1 and tested(plan) or nil
  end
  if not tests then return nil end
  local test = tested(plan)
  for _, name in ipairs(test.names) do
    if others[plain(name)] then evaluate.take(test, others[plain(name)], name) end
  end
  return test
end

return M
