-- The plan of a training: the checked options of mr.fit, and values derived from them, such as the number of steps. A
-- plan is made once, before the first batch, and never changes; all other files of fit/ read it.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local checkpoints = require "moonrank.fit.checkpoint"
local clips = require "moonrank.fit.clip"
local data_parallel = require "moonrank.fit.data_parallel"
local dataset = require "moonrank.data.dataset"
local fit_options = require "moonrank.fit.options"
local interactions = require "moonrank.fit.interactions"
local learners = require "moonrank.fit.learner"
local losses = require "moonrank.losses.loss"
local new_users = require "moonrank.fit.new_users"
local scorable = require "moonrank.fit.scorable"
local seen = require "moonrank.data.seen"
local selections = require "moonrank.fit.selection"
local trials = require "moonrank.sweep.trial"

local M = {}

---The checked options of one call of mr.fit, and values derived from them.
---@class mr.fit.Plan
---@field model mr.Model|mr.Trees
---@field loss mr.Loss
---@field learner mr.Model|mr.fit.Learner  the model, with the parameters and the state of the loss if it has any
---@field trainer? mr.fit.Trainer          trains a model that takes no optimizer steps
---@field reduction "mean"|"sum"|"rows"
---@field train mr.Dataset
---@field valid? mr.Dataset|mr.data.Candidates  after the option `users`
---@field test? mr.Dataset|mr.data.Candidates   after the option `users`
---@field data table<string, string>       fingerprints of train, valid and test
---@field selection mr.fit.Selection       which epoch is chosen
---@field users "all"|"known"
---@field facts table|false                what new_users.facts says of the part that chooses
---@field optimizer mr.Optimizer           not bound; a copy if a schedule changes its lr
---@field schedule? mr.Schedule
---@field clip? mr.Clip
---@field batch integer
---@field batch_rows? integer              replaces `batch`
---@field interactions mr.data.Interactions|false  of train; false: a step takes lists
---@field steps integer                    largest number of steps of an epoch
---@field epochs integer
---@field shuffle boolean
---@field seed integer
---@field group mr.Group|false             the processes that train together
---@field is_first boolean                 whether this process prints, validates and writes files
---@field checkpoint? mr.FitCheckpoint
---@field trial? mr.Trial
---@field each_epoch? function
---@field progress boolean
---@field name string

-- Returns what several processes cannot train, and the name of the model or loss that has it: buffers of models and
-- states of losses are not summed over processes, and a model's penalty is computed from a whole batch.
local function not_parallel(o)
  local first = check.field(o.model, "penalty") and o.train:batches{ size = 1 }()
  if first and o.model:penalty(first) then return "a penalty, which needs the whole batch", "model " .. o.model.kind end
  local buffers = check.field(o.model, "buffers")
  local name = type(buffers) == "function" and next(buffers(o.model)) or nil
  if name then return ("the buffer '%s', which is not summed over processes"):format(name), "model " .. o.model.kind end
  if o.unit == "interaction" and check.field(o.loss, "_states") then
    return "estimates of each user, which are not summed over processes", "loss " .. o.loss.name
  end
end

local function check_parallel(o)
  local why, of
  if o.parallel then why, of = not_parallel(o) end
  if why then check.leave_out("mr.fit", "parallel", true, "%s has %s", of, why) end
end

-- Raises an error if candidates are passed as `train`, or those of test as `valid`, or those of valid as `test`.
local function check_candidates(o)
  for _, role in ipairs{ "train", "valid", "test" } do
    local data = o[role]
    if candidates.is(data) then
      check.expect(role ~= "train", "mr.fit", "train", data, "a dataset: fold.train")
      check.expect(data.part == role, "mr.fit", ("the part of the candidates %s"):format(role), data.part,
        "'%s': fold:candidates{part = '%s'}", role, role)
    end
  end
end

-- Raises an error if the sweep prunes trials by a metric that this training does not report.
local function check_trial(o, selection)
  local wanted = o.trial and trials.pruned_by(o.trial, o.epochs)
  if not wanted then return end
  local names = { "loss", selection.data and "valid_loss" }
  for _, each in ipairs(selection.data and selection.measured or {}) do names[#names + 1] = "valid_" .. each.name end
  check.choice("mr.fit", "the option metric of mr.sweep, by which it prunes,", wanted, names)
end

local function check_batch(o)
  if o.batch_rows and not dataset.is(o.train) then
    check.leave_out("mr.fit", "batch_rows", o.batch_rows, "train is not a dataset of Moonrank (mr.data.dataset) and "
      .. "takes batch instead")
  end
end

local function check_loss(o)
  check.expect(o.loss ~= nil, "mr.fit", "loss", o.loss, "a loss such as mr.losses.ndcg{}")
  if o.reduction == "rows" and not check.field(o.loss, "pointwise") then
    check.expect(false, "mr.fit", "loss", tostring(o.loss), "a pointwise loss (%s, a loss defined with rows, or a sum "
      .. "of these) because of reduction = 'rows'",
      table.concat(check.names(require "moonrank.losses.pointwise"), ", "))
  end
  if not check.field(o.loss, "_row_weights") then return end
  for _, role in ipairs{ "train", "valid" } do
    local lists = o[role] and check.field(o[role], "lists")
    if check.is_lists(lists) then losses.check_weights(o.loss, lists) end
  end
end

-- Returns how to make a loss, or the terms of a sum of losses, with fixed parameters, as text; "" if no loss of the
-- library has parameters in it.
local function without_parameters(loss)
  local found = {}
  for _, term in ipairs(check.field(loss, "_terms") or { { loss = loss } }) do
    if (check.field(term.loss, "options") or {}).learn then
      found[#found + 1] = ("mr.losses.%s{learn = false}"):format(term.loss.name)
    end
  end
  return #found > 0 and ": " .. table.concat(found, ", ") or ""
end

-- Returns the object that is trained: the model, together with the loss if the loss has parameters. For a model that is
-- trained without optimizer steps (trees), a loss with parameters is an error.
local function learner_of(o, trainer, of_train)
  local learner = learners.of(o.model, o.loss, of_train)
  if trainer and learner ~= o.model then
    check.fail("mr.fit: loss '%s' has parameters, which only optimizer steps can train, and %s are trained without. "
      .. "Pass a loss with fixed parameters%s", o.loss.name, o.model.kind, without_parameters(o.loss))
  end
  return learner
end

-- Returns a read-only table with the given fields: setting a field raises an error.
local function constant(fields)
  return setmetatable({}, { __index = fields, __newindex = function(_, name)
    error(("mr.fit: cannot set '%s', because the options of a training are read-only"):format(name), 2)
  end })
end

---Checks the options of mr.fit and returns the plan of the training. Wrong options, and a model
---that cannot score the data, are errors. In a parallel training, also connects the processes.
---@return mr.fit.Plan
function M.of(given)
  local o = fit_options:read("mr.fit", given)
  local trainer = check.field(o.model, "trainer")
  if trainer then trainer.prepare(o, given) end
  check_candidates(o)
  o.valid, o.test = new_users.kept(o, "valid"), new_users.kept(o, "test")
  check_loss(o)
  check_parallel(o)
  check_batch(o)
  interactions.check(o)
  local selection = selections.of(o)
  check_trial(o, selection)
  local data = seen.note_fit(o)
  local fields = {
    model = o.model, loss = o.loss, trainer = trainer, reduction = o.reduction, train = o.train,
    valid = o.valid, test = o.test, users = o.users, data = data, selection = selection,
    optimizer = o.schedule and o.optimizer:_copy() or o.optimizer, schedule = o.schedule,
    clip = type(o.clip) == "number" and clips.clip_gradients{ norm = o.clip } or o.clip,
    batch = o.batch, batch_rows = o.batch_rows, epochs = o.epochs, shuffle = o.shuffle, seed = o.seed,
    checkpoint = checkpoints.options(o.checkpoint, o.trial), trial = o.trial,
    each_epoch = o.each_epoch, progress = o.progress, name = o.name,
  }
  local fits = trainer or scorable
  fits.check(fields)
  fields.interactions = interactions.of(o)
  fields.learner = learner_of(o, trainer, fields.interactions)
  local count = fields.interactions and fields.interactions.count
  fields.steps = count and -(-count // o.batch) or dataset.most_batches(o.train, o.batch, o.batch_rows)
  fields.group = o.parallel and data_parallel.join(fields.learner:parameters()) or false
  fields.is_first = not fields.group or fields.group.rank == 0
  fields.facts = selection.data and new_users.facts(fields, selection.data) or false
  return constant(fields)
end

return M
