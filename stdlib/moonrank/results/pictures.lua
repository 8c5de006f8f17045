-- Figures of a study: the effect of a parameter, the course of trials, the best combinations.
local check = require "moonrank.check"
local pivot = require "moonrank.results.pivot"

local M = {}

local function metric_of(results, value) return value == "value" and results.study.metric or value end

local function finite(value) return type(value) == "number" and value - value == 0 end

-- Whether numbers are drawn by their logarithms: positive, and over two powers of ten or more.
local function ratios(values)
  local low, high = math.huge, 0
  for _, value in ipairs(values) do low, high = math.min(low, value), math.max(high, value) end
  return low > 0 and high / low >= 100
end

---A parameter's values and their results: points for numbers, bars of means with standard deviations for names.
---@return mr.Figure
function M.marginal(results, name, o)
  local where = "results:marginal"
  local plot, data = require "moonrank.plot", results:columns()
  check.choice(where, "parameter", name, data.params)
  local column, value, rows = data:column(where, name), data:column(where, o.value), data:rows(where, o.where)
  local x, y, numeric = {}, {}, true
  for _, row in ipairs(rows) do
    if column[row] ~= nil and finite(value[row]) then
      x[#x + 1], y[#y + 1] = column[row], value[row]
      numeric = numeric and type(column[row]) == "number"
    end
  end
  if #x == 0 then check.fail("%s: no trial has both %s and %s", where, name, o.value) end
  local label = metric_of(results, o.value)
  if numeric then return plot.scatter{ x = x, y = y, xlabel = name, ylabel = label, xlog = ratios(x), title = results.name } end
  local categories, means, errors = {}, {}, {}
  for i, group in ipairs(data:groups(where, { name }, rows)) do
    local values = {}
    for _, row in ipairs(group.rows) do values[#values + 1] = finite(value[row]) and value[row] or nil end
    categories[i], means[i] = tostring(group.key[1]), #values > 0 and pivot.aggregates.mean(values) or 0 / 0
    errors[i] = #values > 1 and pivot.aggregates.sd(values) or 0
  end
  return plot.bars{ categories = categories, values = means, errors = errors, ylabel = label, xlabel = name, title = results.name }
end

-- Mean of curves at every step that any of them has.
local function mean_curve(curves)
  local sums, counts, steps, values = {}, {}, {}, {}
  for _, curve in ipairs(curves) do
    for _, report in ipairs(curve) do
      if finite(report.value) then
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

---What trials reported, step by step: the mean over the trials of each value of a parameter, or the best trials one by one.
---@return mr.Figure
function M.curves(results, o)
  local where = "results:curves"
  local plot, data = require "moonrank.plot", results:columns(o.states)
  local name = o.value or results.study.metric or "value"
  local reports, number, rows = results:reported(name), data:column(where, "number"), data:rows(where, o.where)
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
  if #series == 0 then check.fail("%s: no trial reported '%s'", where, name) end
  return plot.lines{ series = series, xlabel = "step", ylabel = name, title = results.name }
end

-- Positions of values on an axis from 0 to 1: numbers by size (or their logarithms), names in their order.
local function axis(column, rows)
  local values, numeric = {}, true
  for _, row in ipairs(rows) do
    if column[row] ~= nil then
      values[#values + 1] = column[row]
      numeric = numeric and type(column[row]) == "number"
    end
  end
  local position = {}
  if numeric then
    local scale = ratios(values) and math.log or function(x) return x end
    for _, value in ipairs(values) do position[value] = scale(value) end
  else
    local seen = {}
    for _, value in ipairs(values) do seen[tostring(value)] = value end
    for i, text in ipairs(check.names(seen)) do position[seen[text]] = i end
  end
  local low, high = math.huge, -math.huge
  for _, x in pairs(position) do low, high = math.min(low, x), math.max(high, x) end
  return function(value) return value == nil and 0 / 0 or high > low and (position[value] - low) / (high - low) or 0.5 end
end

---Parallel coordinates: one axis per parameter and one for the value, a line per trial, the best ones on top.
---@return mr.Figure
function M.parallel(results, o)
  local where = "results:parallel"
  local plot, data = require "moonrank.plot", results:columns()
  local rows = {}
  for _, row in ipairs(results:order(data, data:rows(where, o.where), o.value)) do
    if #rows < o.trials then rows[#rows + 1] = row end
  end
  if #rows == 0 then check.fail("%s: no trial was completed", where) end
  local names, axes, series = { table.unpack(data.params) }, {}, {}
  names[#names + 1] = o.value
  for c, name in ipairs(names) do axes[c] = axis(data:column(where, name), rows) end
  local best = math.max(1, #rows // 10)
  for i = #rows, 1, -1 do
    local y = {}
    for c, name in ipairs(names) do y[c] = axes[c](data:column(where, name)[rows[i]]) end
    series[#series + 1] = { y = y, color = i <= best and 2 or 1, style = i <= best and "solid" or "dotted",
      name = i == 1 and "the best" or i == #rows and "others" or nil }
  end
  local lines = {}
  for c, name in ipairs(names) do lines[c] = { c, metric_of(results, name) } end
  return plot.lines{ series = series, vlines = lines, ylabel = "lowest to highest", title = results.name, legend = "legend" }
end

return M
