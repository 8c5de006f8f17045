-- Draws the figures of a study: the effect of one parameter, curves of reported values, and parallel coordinates.
local core = require "moonrank.core"
local check = require "moonrank.check"
local axes = require "moonrank.results.axes"
local left_out = require "moonrank.results.left_out"
local pivot = require "moonrank.results.pivot"

local M = {}

local function metric_of(results, value) return value == "value" and results.study.metric or value end

-- Draws the figure of results:marginal: points for a numeric parameter, else bars of means with deviations.
function M.marginal(results, name, o)
  local where = "results:marginal"
  local plot, data = require "moonrank.plot", results:columns()
  check.choice(where, "parameter", name, data.params)
  local column, value = data:_column(where, name), data:_column(where, o.value)
  local rows = left_out.finished(results, where, o.where)
  local x, y, numeric = {}, {}, true
  for _, row in ipairs(rows) do
    if column[row] ~= nil and check.is_finite(value[row]) then
      x[#x + 1], y[#y + 1] = column[row], value[row]
      numeric = numeric and type(column[row]) == "number"
    end
  end
  check.not_empty(where, ("the set of trials with both %s and %s"):format(name, o.value), x, "trial")
  local label = metric_of(results, o.value)
  if numeric then
    return plot.scatter{ x = x, y = y, xlabel = name, ylabel = label, xlog = axes.ratios(x), title = results.name }
  end
  local categories, means, errors = {}, {}, {}
  for i, group in ipairs(data:groups(where, { name }, rows)) do
    local values = {}
    for _, row in ipairs(group.rows) do values[#values + 1] = check.is_finite(value[row]) and value[row] or nil end
    categories[i], means[i] = tostring(group.key[1]), #values > 0 and pivot.aggregates.mean(values) or 0 / 0
    errors[i] = #values > 1 and pivot.aggregates.sd(values) or 0
  end
  return plot.bars{ categories = categories, values = means, errors = errors, ylabel = label, xlabel = name,
    title = results.name }
end

-- Returns the steps of several curves, and the mean of the curves with a finite value at each step.
local function mean_curve(curves)
  local sums, counts, steps, values = {}, {}, {}, {}
  for _, curve in ipairs(curves) do
    for _, report in ipairs(curve) do
      if check.is_finite(report.value) then
        if not sums[report.step] then steps[#steps + 1] = report.step end
        sums[report.step] = (sums[report.step] or 0) + report.value
        counts[report.step] = (counts[report.step] or 0) + 1
      end
    end
  end
  table.sort(steps)
  for i, step in ipairs(steps) do values[i] = sums[step] / counts[step] end
  return steps, values
end

local most_curves = 12

-- Draws the figure of results:curves. With `o.by`, a curve is the mean over the trials with one value of that
-- parameter. Otherwise, each of the best trials has a curve.
function M.curves(results, o)
  local where = "results:curves"
  local plot, data = require "moonrank.plot", results:columns(o.states)
  local name = o.value or results.study.metric or "value"
  local reports, number, rows = results:reported(name), data:_column(where, "number"), data:_wanted_rows(where, o.where)
  local series = {}
  local function add(label, curves)
    local steps, values = mean_curve(curves)
    if #steps > 0 then series[#series + 1] = { name = label, x = steps, y = values } end
  end
  if o.by then
    for _, group in ipairs(data:groups(where, { o.by }, rows)) do
      local curves = {}
      for _, row in ipairs(group.rows) do curves[#curves + 1] = reports[number[row]] end
      add(tostring(group.key[1]), curves)
    end
  else
    for i, row in ipairs(results:order(data, rows)) do
      if i <= most_curves then add("trial " .. number[row], { reports[number[row]] }) end
    end
  end
  if #series == 0 then
    check.fail("%s: no trial that fits `where` and `states` has values of '%s' at steps. Check the name, or report "
      .. "values during training with trial:report(step, {name = value}); a number that a trial only returns has no "
      .. "curve", where, name)
  end
  return plot.lines{ series = series, xlabel = "step", ylabel = name, title = results.name }
end

-- Returns the rows of trials in a parallel-coordinates figure: completed trials with a finite value, best first, then
-- pruned and failed trials. With `o.trials`, returns only that many of the best completed trials.
local function rows_of(results, data, o)
  local state, done, others = data:_column("results:parallel", "state"), {}, {}
  local value = data:_column("results:parallel", o.value)
  left_out.finished(results, "results:parallel", o.where)
  for _, row in ipairs(data:rows("results:parallel", o.where)) do
    if state[row] ~= "done" then others[#others + 1] = row
    elseif check.is_finite(value[row]) then done[#done + 1] = row
    end
  end
  local rows = results:order(data, done, o.value, o.direction)
  check.not_empty("results:parallel", ("the set of completed trials with a finite '%s'"):format(o.value), rows, "trial")
  if o.trials then return table.move(rows, 1, math.min(o.trials, #rows), 1, {}) end
  return table.move(others, 1, #others, #rows + 1, rows)
end

local function coordinate(results, data, name, rows)
  local column = data:_column("results:parallel", name)
  local axis = axes.of(results.study.space, name, column, rows)
  if not axis then return nil end
  local values = {}
  for i, row in ipairs(rows) do
    local value = column[row]
    values[i] = value == nil and 0 / 0 or axis.categories and core.safe_text(tostring(value)) or value
  end
  return { name = name, values = values, log = axis.log, ticks = axis.levels, range = axis.low and axis.high > axis.low
    and { axis.low, axis.high } or nil }
end

-- Draws the figure of results:parallel.
function M.parallel(results, o)
  local where = "results:parallel"
  local data = results:columns{ "done", "pruned", "failed", "killed" }
  local rows, list, colors, groups = rows_of(results, data, o), {}, {}, {}
  for _, name in ipairs(data.params) do list[#list + 1] = coordinate(results, data, name, rows) end
  local value, state = data:_column(where, o.value), data:_column(where, "state")
  for i, row in ipairs(rows) do
    groups[i] = state[row] == "done" and "" or state[row]
    -- no colour for a trial that did not complete: its last report is not a result
    colors[i] = groups[i] == "" and value[row] or 0 / 0
  end
  local label = metric_of(results, o.value)
  list[#list + 1] = { name = label, values = colors }
  return require("moonrank.plot").parallel{ axes = list, color = colors, groups = groups, zlabel = label,
    direction = results:sign(o.value, o.direction) < 0 and "minimize" or "maximize", title = results.name }
end

return M
