-- Converts what a trial's function returned to the store's form: numbers by name, values per list, the metric.
local core = require "moonrank.core"
local check = require "moonrank.check"
local evaluate = require "moonrank.evaluate"
local conventions = require "moonrank.metrics.conventions"
local frame = require "moonrank.sweep.frame"
local repeated = require "moonrank.compare.repeated"
local longest = require("moonrank.sweep.store").longest
local registry = require "moonrank.metrics.registry"

local M = {}

-- Converts the result of mr.fit: the means of metrics on test, the chosen epoch, and the metrics of that epoch on
-- validation ("valid_..."). If several metrics each chose an epoch, each has the value of its own epoch. Also returns
-- the training history as reports, and the directions of the metrics.
local function of_run(run)
  local result, reports = { best_epoch = run.best and run.best.epoch, per_list = run.scores }, {}
  for name, value in pairs(run.best and run.best.metrics or {}) do result["valid_" .. name] = value end
  for _, choice in ipairs(run.choices or {}) do
    local name = choice.metric.name
    if choice.best then result["valid_" .. name] = choice.best.metrics[name] end
  end
  for name in pairs(run.scores or {}) do result[name] = run.test.mean[name] end
  for i, entry in ipairs(run.history) do
    local values = { loss = entry.loss, valid_loss = entry.valid_loss }
    for name, value in pairs(entry.metrics) do values["valid_" .. name] = value end
    reports[i] = { step = entry.epoch, values = values }
  end
  local directions = {}
  for name, each in pairs(run.metrics or {}) do
    local direction = each.minimize and "minimize" or "maximize"
    directions[name], directions["valid_" .. name] = direction, direction
  end
  return result, reports, directions
end

-- Returns true for the result of mr.fit. It uses rawget, because other objects may refuse unknown fields.
local function is_run(result)
  return type(rawget(result, "history")) == "table" and rawget(result, "chosen_on") ~= nil
end

local function bytes_of(name, values)
  if type(values) == "table" then
    local ok, tensor = check.attempt(core.tensor, values, "float64", "cpu")
    if not ok then error(("the result %s is not a table of numbers"):format(name), 0) end
    values = tensor
  end
  local evaluation, metric = evaluate.of_tensor(values)
  -- Comparisons of trials need the exact values, which are not rounded to float32.
  if evaluation then values = evaluate.exact(evaluation, metric) end
  if type(values) ~= "userdata" then
    error(("the result %s is a %s, expected a tensor or a table of numbers"):format(name, type(values)), 0)
  end
  local bytes = core.float64_bytes(values)
  if #bytes > longest then
    error(("the result %s has %d numbers, the store takes at most %d"):format(name, #bytes // 8, longest // 8), 0)
  end
  return bytes
end

-- Returns the numbers of the lists' users or queries, as bytes, from the evaluations to which the values belong.
-- Returns nil if no evaluation has users or queries, or if evaluations disagree.
local function ids_of(values)
  local found
  for _, each in pairs(values) do
    local evaluation = evaluate.of_tensor(each)
    local units = evaluation and evaluate.units(evaluation)
    local bytes = units and core.float64_bytes(repeated.numbers(units))
    if bytes and found and bytes ~= found then return nil end
    found = found or bytes
  end
  return found
end

-- Raises an error if the name of a result is not UTF-8, because stores and exports are UTF-8.
local function check_name(name)
  if not utf8.len(name) then error(("the result '%s' has a name that is not UTF-8"):format(core.safe_text(name)), 0) end
end

-- Returns the values per list as bytes for the store, and as given, both by metric name. `per_list` has the values of
-- the study's metric, or values of several metrics by name. Its entry "list" has the number of each list's user or
-- query; evaluations supply these numbers themselves.
local function lists_of(per_list, metric)
  local lists = {}
  if per_list == nil then return lists, {} end
  local several = type(per_list) == "table" and type(next(per_list)) == "string"
  local given = several and per_list or { [metric or "value"] = per_list }
  for name, values in pairs(given) do
    check_name(tostring(name))
    lists[name] = bytes_of(several and "per_list." .. tostring(name) or "per_list", values)
  end
  lists.list = lists.list or ids_of(given)
  return lists, given
end

-- Adds the conventions of an evaluation's metrics, and how many users and items were not in the training data, to
-- `found`. With `own`, only the metric `own` is added, also under the name `name`.
local function add_evaluation(found, evaluation, own, name)
  local new = rawget(evaluation, "_novelty")
  for _, metric in ipairs(evaluation.metrics) do
    for _, each in ipairs((own == nil or metric.name == own) and { metric.name, name } or {}) do
      found[each], found[conventions.novelty_prefix .. each] = conventions.text(metric), new and new:text() or nil
    end
  end
end

-- Returns a JSON object of the texts that tables of the study print below a trial's numbers (e.g. conventions of
-- metrics), by the name of the number; nil if no text is known.
---@param values table<string, any>  per list, by name
---@param result table               what the trial returned
local function conventions_of(values, result, run)
  local found = {}
  for name, metric in pairs(run and rawget(run, "metrics") or {}) do
    if registry.is(metric) or evaluate.is_bounded(metric) then found[name] = conventions.text(metric) end
  end
  local new = run and rawget(run, "_novelty")
  for name in pairs(new and run.best and run.best.metrics or {}) do
    found[conventions.novelty_prefix .. "valid_" .. name] = new:text()
  end
  local means = evaluate.of_means(result)
  if means then add_evaluation(found, means) end
  for name, each in pairs(values) do
    local evaluation, own = evaluate.of_tensor(each)
    if evaluation then add_evaluation(found, evaluation, own, name) end
  end
  return next(found) and frame.to_json(found) or nil
end

-- Returns the name of the number by which trials are compared: the sweep's `metric`, or the only number.
local function metric_of(numbers, metric)
  if metric then
    -- Numbers have Moonrank's name of a metric, "ndcg@10", also if the script's `metric` is spelt "NDCG@10".
    if numbers[metric] == nil then numbers[metric] = numbers[registry.our_name(metric)] end
    if numbers[metric] == nil then
      error(("the trial returned no number '%s', which is the metric of the sweep"):format(metric), 0)
    end
    return metric
  end
  local names = check.names(numbers)
  if #names == 0 then error("the trial returned no number", 0) end
  if #names > 1 then
    local form = "the trial returned several numbers (%s). Name the one that counts: mr.sweep{metric = ...}"
    error(form:format(table.concat(names, ", ")), 0)
  end
  return names[1]
end

-- Raises an error if the direction of the number is not known, or is not that of the sweep.
local function check_direction(name, o, directions)
  local own = directions[name] or (o.assumed and registry.usual_direction(name) or registry.direction(name))
  if o.assumed and not own then
    local form = "the direction of '%s' is not known. Pass metric = '%s' and direction = 'maximize' or 'minimize' to "
      .. "mr.sweep"
    error(form:format(name, name), 0)
  end
  if o.direction and own and own ~= o.direction then
    local form = "%s values of %s are better, but the sweep's direction is '%s'. Pass %s to mr.sweep"
    error(form:format(own == "minimize" and "lower" or "higher", name, o.direction,
      o.assumed and ("metric = '%s'"):format(name) or ("direction = '%s'"):format(own)), 0)
  end
end

---@class mr.sweep.Outcome
---@field state string
---@field value? number                  value of the metric
---@field reason? string
---@field numbers table<string, number>
---@field lists table<string, string>    values per list
---@field reports? table

---Converts what a trial's function returned to the trial's outcome: state, value of the metric, and other numbers and
---values per list. Raises an error if the result cannot be stored, e.g. if it is not a number or a table of numbers by
---name. If the value of the metric is NaN or infinite, the state is "failed", else "done". `assumed` is true if the
---script gave neither a metric nor a direction.
---@param result any                                                     what the trial's function returned
---@param o? { metric?: string, direction?: string, assumed?: boolean }  as in mr.sweep.Context
---@return mr.sweep.Outcome
function M.of(result, o)
  o = o or {}
  local metric, reports, directions = o.metric, nil, {}
  if type(result) == "number" then result = { [metric or "value"] = result } end
  if type(result) ~= "table" then
    error(("the trial returned a %s, expected a number or a table of numbers"):format(type(result)), 0)
  end
  if evaluate.is(result) then
    error("the trial returned an evaluation, expected a number or numbers by name. Return its means: "
      .. "evaluation.mean", 0)
  end
  local run = is_run(result) and result or nil
  if run then result, reports, directions = of_run(run) end
  local numbers = {}
  for name, value in pairs(result) do
    if type(name) ~= "string" then
      error("the trial returned a table that has values without names, expected numbers by name", 0)
    end
    check_name(name)
    if name ~= "per_list" then
      if type(value) ~= "number" then
        error(("the trial's result %s is a %s, expected a number"):format(name, type(value)), 0)
      end
      numbers[name] = value + 0.0
    end
  end
  local name = metric_of(numbers, metric)
  local lists, given = lists_of(rawget(result, "per_list"), name)
  local value = numbers[name]
  check_direction(name, o, directions)
  local outcome = { state = "done", value = value, numbers = numbers, lists = lists, reports = reports,
    conventions = conventions_of(given, result, run) }
  if not check.is_finite(value) then
    outcome.state, outcome.value = "failed", nil
    outcome.reason = ("%s is %s"):format(name, value ~= value and "NaN" or tostring(value))
  end
  return outcome
end

return M
