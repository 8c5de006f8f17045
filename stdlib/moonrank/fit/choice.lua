-- After an epoch of mr.fit: what validation says, and the best epoch so far by each metric that chooses one.
local anomaly = require "moonrank.fit.anomaly"
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local core = require "moonrank.core"
local dataset = require "moonrank.data.dataset"
local epochs = require "moonrank.fit.epochs"
local evaluate = require "moonrank.evaluate"
local new_users = require "moonrank.fit.new_users"
local phase = require "moonrank.phase"
local registry = require "moonrank.metrics.registry"
local random = require "moonrank.random"
local tensors = require "moonrank.tensor"

local M = {}

---Returns the scores that a model gives all rows of the data, and the lists of these rows.
---@return mr.Tensor scores, mr.Lists lists
function M.scored(model, data)
  local batch = dataset.whole_batch(data)
  return tensors.no_grad(function() return model(batch) end), batch.lists
end

---Evaluates a dataset or candidates by metric objects, under the names that the metrics have there.
---@return mr.Evaluation
function M.evaluated(model, data, metrics)
  if candidates.is(data) then return data:measure(model, metrics) end
  local scores, lists = M.scored(model, data)
  local found = evaluate.measure(scores, lists, metrics)
  found._set = data
  return found
end

-- Calls a function and returns its result. If it meets NaN in scores of a part, the error says
-- when.
local function explained(o, part, when, f)
  local ok, found = pcall(f)
  if not ok then anomaly.of_part(o, part, when, found) end
  return found
end

-- Loss and metrics of the part that chooses, in their order.
local function validated(o, epoch)
  local _ <close> = phase.begin "evaluation"
  local batch = dataset.whole_batch(o.judge)
  local _ <close> = random.scope(o.seed, ("epoch %d validation"):format(epoch))
  local function numbers_of()
    local scores = o.model(batch)
    local total, counted = epochs.batch_loss(o.loss, scores, batch.lists, o.reduction == "rows" and "rows" or "mean")
    local numbers = { counted > 0 and total:item() or 0 }
    local ranked = candidates.is(o.judge) and o.judge:measure(o.model, o.measured)
    local mean = (ranked or evaluate.measure(scores, batch.lists, o.measured)).mean
    for i, each in ipairs(o.measured) do numbers[i + 1] = mean[each.name] end
    return numbers
  end
  return explained(o, o.chosen_on, ("after epoch %d"):format(epoch), function() return tensors.no_grad(numbers_of) end)
end

---@class mr.Choice
---@field metric mr.Metric
---@field best? mr.Epoch    the epoch that the metric chose
---@field chosen_on string  "valid" or "test"; "last epoch" if the metric chose no epoch and the last one is kept
local Choice = check.class("mr.Choice")

---@param metric mr.Metric
---@param part "valid"|"test"
---@return mr.Choice
function M.new(metric, part)
  return setmetatable({ metric = metric, best = false, chosen_on = part, first = false, _snapshot = false, _part = part }, Choice)
end

function Choice:__tostring()
  local best, name = self.best, self.metric.name
  if not best then return name .. ": no epoch yet" end
  if self.chosen_on ~= "last epoch" then
    return ("epoch %d chosen by %s on %s, %.4f"):format(best.epoch, name, self._part, best.metrics[name])
  end
  return ("epoch %d kept for %s, the last: %s"):format(best.epoch, name,
    self.first and ("NaN in every epoch on %s"):format(self._part) or "no epoch was validated")
end

-- Takes an epoch where it is the best so far.
function Choice:see(entry, learner)
  self.first = self.first or entry.epoch
  if self.metric:better(entry.metrics[self.metric.name], self.best and self.best.metrics[self.metric.name] or nil) then
    self.best, self._snapshot = entry, learner:snapshot(self._snapshot or nil)
  end
end

-- The number of validations after the best epoch, or after the first validation where no epoch has a value.
function Choice:waited(history)
  local from, count = self.best and self.best.epoch or self.first, 0
  for i = #history, from and from + 1 or #history + 1, -1 do
    if history[i].valid_loss then count = count + 1 end
  end
  return count
end

-- Runs a function to its end: Ctrl-C raises `interrupted` afterwards. An error of the function comes first.
local function undivided(f)
  local presses, was = core.interrupts(), core.defer_interrupt(true)
  local ok, message = pcall(f)
  core.defer_interrupt(was)
  if not ok then error(message, 0) end
  if not was and core.interrupts() > presses then error("interrupted", 0) end
end

---Validates an epoch if it is due, and lets the metrics of `select` choose.
---@param o table
---@param run mr.Run
---@param entry mr.Epoch
function M.judge(o, run, entry)
  if not o.judge then
    run.best = entry
    return
  end
  if entry.epoch % o.every ~= 0 and entry.epoch ~= o.epochs then return end
  local numbers = o.group and o.group:of_first(function() return validated(o, entry.epoch) end, #o.measured + 1)
    or validated(o, entry.epoch)
  entry.valid_loss = numbers[1]
  for i, each in ipairs(o.measured) do entry.metrics[each.name] = numbers[i + 1] end
  undivided(function()
    for _, choice in ipairs(run.choices) do choice:see(entry, o.learner) end
  end)
  run.best = run.choices[1].best or nil
end

---Returns true if no metric found a better epoch in the last `patience` validations.
function M.exhausted(o, run)
  if not o.patience or not run.history[#run.history].valid_loss then return false end
  for _, choice in ipairs(run.choices) do
    if choice:waited(run.history) < o.patience then return false end
  end
  return true
end

-- The last epoch, for want of another.
local function keep_last(o, run, choice)
  choice.best, choice.chosen_on = run.history[#run.history], "last epoch"
  if choice.first then
    io.stderr:write(("mr.fit: %s was NaN in every epoch on %s, so that it chose none: the last epoch is kept for it\n"):format(
      choice.metric.name, o.chosen_on))
  end
end

local function tested(o)
  local _ <close> = phase.begin "evaluation"
  local _ <close> = random.scope(o.seed, "test")
  local found = explained(o, "test", "after the last epoch", function() return M.evaluated(o.model, o.test, o.metrics) end)
  local facts = new_users.facts(o, o.test)
  found.new_to_training, found._novelty = facts.new_to_training, facts.novelty
  return found
end

---Evaluates test. Each metric that chose an epoch is measured at that epoch; the model keeps the
---parameters of the first metric's epoch. A training that Ctrl-C ended is not evaluated on test,
---because it has fewer epochs than the script asked for.
function M.finish(o, run)
  for _, choice in ipairs(run.choices) do
    if not choice.best and #run.history > 0 then keep_last(o, run, choice) end
  end
  local chief = run.choices[1]
  run.best = chief and chief.best or run.history[#run.history]
  run.chosen_on = chief and chief.chosen_on or run.chosen_on
  local scores = not (o.trainer and #run.history == 0)  -- trees that are not grown score nothing
  local tests = o.test and not run.interrupted and #o.metrics > 0 and scores
  local last = #run.choices > 1 and o.learner:snapshot()
  local others = {}  -- by names that no correction changed: those of valid and test may differ
  local function plain(name) return o.plain[name] or name end
  for i = #run.choices, 1, -1 do
    local choice = run.choices[i]
    choice._snapshot = choice._snapshot or last
    if choice._snapshot then o.learner:restore(choice._snapshot) end
    others[plain(choice.metric.name)] = tests and i > 1 and tested(o) or nil
  end
  if not tests then return end
  run.test, run.scores = tested(o), registry.by_any_name({}, "the test")
  for _, name in ipairs(run.test.names) do
    if others[plain(name)] then evaluate.take(run.test, others[plain(name)], name) end
    run.scores[name] = run.test[name]
  end
end

return M
