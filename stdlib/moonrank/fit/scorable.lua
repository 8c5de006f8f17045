-- Checks, before the first batch of a training, that the model can score train, valid and test, and that the loss
-- accepts the grades of train and valid, and that the metrics accept those of valid and test.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local core = require "moonrank.core"
local models = require "moonrank.models.model"
local objectives = require "moonrank.fit.objective"
local random = require "moonrank.tensor.random"
local tensors = require "moonrank.tensor"
local vectors = require "moonrank.models.vectors"

local M = {}

-- Returns why the model's config does not fit `data`, such as another number of features; nil if it fits.
local function misfit(model, role, data)
  local config, features = check.field(model, "config") or {}, check.field(data, "features")
  local first = model:parameters()[1]
  if math.type(config.users) == "integer" and math.type(config.items) == "integer" then
    if not check.field(data, "users") or not check.field(data, "items") then
      return ("the model scores users and items (%s), but %s has %s"):format(model.kind, role,
        features and ("features, %d of them: mr.models.mlp scores those"):format(features:size(2)) or "none")
    end
    for _, each in ipairs{ "users", "items" } do
      local ids = data[each]
      local most = core.largest(ids)
      if candidates.is(data) then most = data.fold[each] end
      if most > config[each] then
        local one = each == "users" and "a user" or "an item"
        return ("the model has %d %s, but %s has %s with the number %d. Pass a model with at least %d %s"):format(
          config[each], each, role, one, most, most, each)
      end
    end
  elseif config.inputs then
    if not features then return ("the model scores features (%s), but %s has none"):format(model.kind, role) end
    if features:size(2) ~= config.inputs then
      return ("the model takes %d features, but %s has %d"):format(config.inputs, role, features:size(2))
    end
    if features.dtype == "int64" then
      return ("the features of %s are int64, expected real numbers: features:to(\"%s\")"):format(role, first.dtype)
    end
    if features.dtype ~= first.dtype then
      return ("the model is %s, but the features of %s are %s: mr.models.%s{dtype = \"%s\"} fits them"):format(
        first.dtype, role, features.dtype, model.kind, features.dtype)
    end
  end
end

-- Lets the model score the first list of `data`, the only check of a model that a script defined. If `data` chooses
-- the epoch, the loss of this list is computed, too: a loss may need what only train has, such as probabilities of
-- draws.
local function try(plan, role, data)
  local batch = data:batches{ size = 1 }()
  if not batch then return end
  local _ <close> = random.scope(plan.seed, "first list of " .. role)
  local scores = check.within("mr.fit: the model cannot score " .. role, tensors.no_grad, function()
    return plan.model(batch)
  end)
  if plan.selection.data ~= data then return end
  check.within("mr.fit: the loss on the option " .. role, tensors.no_grad, function()
    local objective = objectives.of(plan, data)
    if #scores > 0 and (scores * 0):sum():item() ~= 0 then return end  -- training explains scores that are not finite
    objective:prepare(batch)
    objective:loss(scores, batch.lists, false)
  end)
end

-- Raises an error if grades in `data` have gains that are too large for the loss or for a metric.
local function check_grades(plan, role, data)
  local lists, measured = check.field(data, "lists"), plan.selection.measured
  if not lists then return end  -- a dataset of a class that the script defined: its grades are not known
  local graded = { role ~= "test" and check.field(plan.loss, "_gains") or nil }
  if role ~= "train" then table.move(measured, 1, #measured, #graded + 1, graded) end
  for _, each in ipairs(graded) do
    local where = ("mr.fit: metric '%s' on the data of the option %s"):format(each.name, role)
    check.within(where, each.check_gains, each, lists)
  end
end

-- Raises an error if a model of the library is not on the default device. A script's model may move batches.
local function check_device(model)
  if not models.is(model) or not model._definition.built_in then return end
  local device, batches = model:parameters()[1].device, core.device()
  check.expect(device == batches, "mr.fit", "the device of the model", device,
    "'%s', which is that of batches. Call mr.device('%s') or model:to('%s') before", batches, device, batches)
end

---Raises an error if the model cannot score train, valid or test, if its vectors do not give its
---scores, if it is not on the default device, or if grades are too large for the loss or a metric. Test
---is checked before the training, too, so that the error does not come only at the end.
function M.check(plan)
  check_device(plan.model)
  for _, role in ipairs{ "train", "valid", "test" } do
    local data = plan[role]
    if data and data.count > 0 then
      local why = misfit(plan.model, role, data)
      if why then check.fail("mr.fit: %s", why) end
      check_grades(plan, role, data)
      if role ~= "train" then try(plan, role, data) end
    end
    if candidates.is(data) then data:tables() end
  end
  vectors.of(plan.model)
end

return M
