-- The selection says how a training chooses its best epoch: which part is evaluated after an epoch, by which metrics,
-- how often, and when training stops early. plan.lua makes the selection before the first batch; it never changes.
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local corrections = require "moonrank.data.corrections"
local evaluate = require "moonrank.evaluate"
local weighted = require "moonrank.evaluate.weighted"

local M = {}

---The way a training chooses its epoch: on which part, by which metrics, how often.
---@class mr.fit.Selection
---@field part "valid"|"test"          the part that chooses
---@field data? mr.Dataset|mr.data.Candidates  its data; nil: the last epoch is kept
---@field metrics mr.Metric[]          choose an epoch each
---@field measured mr.Metric[]         computed after an epoch: those that choose, then the others
---@field on_test mr.Metric[]          computed on test
---@field plain table<string, string>  names of metrics without the correction that candidates made, by their names
---@field every integer                epochs between validations
---@field patience? integer            validations without a better epoch before training stops

-- Returns the option `correct` of candidates, such as "rank"; false for other data.
local function correction_of(data) return candidates.is(data) and data.correct end

-- Removes the suffix of a correction from a metric's name, as in "ndcg@10[corrected]". Such a name is an error unless
-- candidates of valid or test correct metrics in this way.
local function uncorrected(o, data, name)
  local inner, called = tostring(name):match "^(.-)%[([%w_]+)%]$"
  for how, correction in pairs(corrections.all) do
    if called == correction.suffix and type(name) == "string" then
      if correction_of(data) == how or correction_of(o.test) == how then return inner end
      check.fail("mr.fit: metric '%s' is corrected, but neither valid nor test corrects metrics. Pass "
        .. "fold:candidates{candidates = 'one', correct = '%s'}", name, how)
    end
  end
  return name
end

-- Returns the metric objects for the names in the option `option` of mr.fit. A metric that is named twice is an error.
local function metrics_of(o, data, names, option)
  local plain, names_of = {}, {}
  check.sequence("mr.fit", option, names, 'one metric gets options as mr.metrics.rr{ties = "worst"}')
  for i, name in ipairs(names) do plain[i] = uncorrected(o, data, name) end
  local metrics = evaluate.metrics_of(plain, nil, "mr.fit")
  for i, each in ipairs(metrics) do names_of[i] = each.name end
  check.distinct("mr.fit", option, names_of)
  return metrics
end

-- Raises an error if options of the validation are given, but no validation data.
local function check_without_data(o)
  local given = { patience = o.patience, every = o.every ~= 1 and o.every or nil, select = o.select }
  for _, name in ipairs(check.names(given)) do check.leave_out("mr.fit", name, given[name], "valid is missing") end
end

-- Returns the metrics under the names that they have on `data`. Candidates with the option `correct` append a suffix to
-- names, as in "ndcg@10[corrected]". The table `plain` then gets the name without the suffix, by the name with it.
local function named(data, metrics, plain)
  if not correction_of(data) then return metrics end
  local called = data:named(metrics)
  for i, each in ipairs(called) do plain[each.name] = metrics[i].name end
  return called
end

-- Raises an error if a metric does not take the weights of rows that the lists of `data` have.
local function check_weights(data, metrics)
  local lists = data and check.field(data, "lists")
  if check.is_lists(lists) then weighted.check("mr.fit", metrics, lists) end
end

-- Joins several lists of metrics into one. A metric that is in several lists occurs once.
local function joined(...)
  local all, known = {}, {}
  for _, list in ipairs{ ... } do
    for _, each in ipairs(list) do
      if not known[each.name] then all[#all + 1] = each end
      known[each.name] = true
    end
  end
  return all
end

---Makes the selection, which says how the training chooses its epoch, from the options of mr.fit.
---@param o table  options of mr.fit, with defaults filled in
---@return mr.fit.Selection
function M.of(o)
  local part, data = o.choose_on, o[o.choose_on]
  check.expect(part ~= "test" or data, "mr.fit", "test", data, "test data, because choose_on is 'test'")
  local metrics, plain = metrics_of(o, data, o.metrics, "metrics"), {}
  local chief = { metrics[1] }
  if o.select ~= nil then
    local several = type(o.select) == "table" and o.select.bound == nil and not evaluate.is_bounded(o.select)
    chief = metrics_of(o, data, several and o.select or { o.select }, "select")
  end
  if not data then check_without_data(o) end
  local judged = named(data, metrics, plain)
  chief = named(data, chief, plain)
  if data then check.not_empty("mr.fit", "metrics", chief, ("metric, by which %s chooses the epoch"):format(part)) end
  local measured, on_test = joined(chief, judged), named(o.test, metrics, plain)
  check_weights(data, measured)
  check_weights(o.test, on_test)
  return { part = part, data = data, metrics = chief, measured = measured,
    on_test = on_test, plain = plain, every = o.every, patience = o.patience }
end

return M
