-- mr.bounds.check: tests a new bound on lists of many sizes before it is used in training.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local grid = require "moonrank.bounds.grid"
local list_stats = require "moonrank.bounds.list_stats"
local metrics = require "moonrank.metrics.registry"
local tables = require "moonrank.table"

local M = {}

local steps = 32  -- each list is checked at 33 scores, equally spaced from the metric's minimum to its maximum
local vanished = 1e-9  -- slopes below this share of the list's steepest slope count as no gradient
local faded = 1e-2  -- slopes below this share of the list's steepest slope add a caution to the report

local check_options = declare("mr.bounds.CheckOptions", {
  { "metrics", "(string|mr.Metric)[]", default = { "ndcg", "ap", "nrbp_loss" }, some = "metric",
    help = "metrics whose bounded values are checked" },
  { "nsr", "number[]", default = { 1, 2, 3, 4, 5 }, some = "ratio",
    help = "ratios of rows that are not relevant to relevant rows, each with its own lists" },
  { "relevant", "integer[]", some = "number", shown = "1, 2, 5, 20, 100, 500; up to 20 without closed forms",
    help = "numbers of relevant rows, each with its own lists" },
  { "quiet", "boolean", default = false, help = "whether the report is not printed" },
})

---Result of mr.bounds.check: problems and cautions, and numbers for each metric. The slope is the
---derivative of the bounded value with respect to the metric, which is the weight of the list in
---training. The peak of a list is its steepest finite slope, among 33 values of the metric.
---
---`metrics.ndcg` has the numbers of nDCG, and the printed report has a row for each of them:
---
---- `gradient_error` (gradient, worst error): largest difference between the slope and central
---  differences, as a share of the peak.
---- `shape` (along the score): whether the bounded value rises with the metric.
---- `best`, `worst` (at the best, at the worst): least and largest bounded value of all lists, at the
---  best and at the worst value of the metric.
---- `slope_ratio` (slope short : long): slope of a list with few relevant rows, divided by the slope
---  of a list with many, for each NSR (rows that are not relevant per relevant row). Both slopes are
---  at the mean over random rankings. The line below the rows says how many relevant rows they have.
---- `equal`, `at_best`, `at_worst` (least slope): slope of a list as a share of its peak ("of peak"),
---  and the least share of all lists. `equal` is at equal scores of all rows, as training begins, the
---  others are at the best and at the worst value of the metric. At 1 the slope is the steepest of
---  the list. Near 0, training hardly changes the list. The share of an infinite slope is math.huge.
---@class mr.BoundReport
---@field name string
---@field ok boolean          whether no problem was found
---@field problems { kind: string, metric: string, text: string }[]  gradient, monotone, finite, flat, batch, direction
---@field cautions { kind: string, metric: string, text: string }[]  kinds: degenerate, vanishing, flat
---@field metrics table<string, table>  by metric: the numbers that are listed above
local Report = check.class("mr.BoundReport")

local function add(list, kind, metric, text, ...)
  list[#list + 1] = { kind = kind, metric = metric.name, text = text:format(...) }
end

-- Returns the lists on which a bound is checked, with statistics of the metric for these lists.
local function subject(bound, metric, o)
  local bounds = require "moonrank.bounds"
  local relevant = o.relevant or list_stats.of(metric).relevant
  local sizes = grid.sizes(relevant, o.nsr)
  for _, tiny in ipairs{ { n = 2, p = 1 }, { n = 3, p = 1 }, { n = 3, p = 2 }, { n = 5, p = 4 } } do
    sizes[#sizes + 1] = tiny
  end
  local counted, degenerate = {}, { { n = 1, p = 1 }, { n = 4, p = 4 }, { n = 3, p = 0 } }
  for l, weight in ipairs(bounds.weights(metric, grid.lists(sizes)):totable()) do
    table.insert(weight > 0 and counted or degenerate, sizes[l])
  end
  if #counted == 0 then
    check.fail("mr.bounds.check: every order of rows gives the same %s for lists of these sizes. Pass other values of "
      .. "`relevant` (numbers of relevant rows) or `nsr` (other rows per relevant row)", metric.name)
  end
  local lists = grid.lists(counted)
  local stats = bounds.stats(metric, lists, { dtype = "float64", device = "cpu" })
  local s = { bound = bound, metric = metric, sizes = counted, degenerate = degenerate, lists = lists,
    relevant = relevant, nsr = o.nsr }
  for _, name in ipairs{ "min", "max", "best", "expectation" } do s[name] = stats[name]:totable() end
  return s
end

-- Returns one score per list: the metric's minimum plus the share `u` of its range for that list.
local function scores_at(s, u)
  local score = {}
  for l in ipairs(s.sizes) do score[l] = s.min[l] + u * (s.max[l] - s.min[l]) end
  return score
end

-- Computes the bounded value and the slope of every list at `steps` + 1 scores, and each list's steepest
-- finite slope. Shares of an infinite peak would be 0 at every other score, although the list trains there.
local function walk(s)
  s.value, s.slope = {}, {}
  for k = 0, steps do s.value[k], s.slope[k] = grid.evaluated(s.bound, s.metric, s.lists, scores_at(s, k / steps)) end
  s.peak = {}
  for l in ipairs(s.sizes) do
    s.peak[l] = 0
    for k = 0, steps do
      local slope = math.abs(s.slope[k][l])
      if check.is_finite(slope) then s.peak[l] = math.max(s.peak[l], slope) end
    end
  end
end

local function check_finite(s, report)
  for l, size in ipairs(s.sizes) do
    for k = 0, steps do
      local value, slope, score = s.value[k][l], s.slope[k][l], scores_at(s, k / steps)[l]
      if check.is_finite(value) and math.abs(slope) == math.huge then
        add(report.problems, "finite", s.metric, "the slope is infinite at score %.4g for a list of %s (value %g)",
          score, grid.name(size), value)
        return
      elseif not check.is_finite(value) or not check.is_finite(slope) then
        add(report.problems, "finite", s.metric, "value %g with slope %g for a list of %s at score %.4g", value, slope,
          grid.name(size), score)
        return
      end
    end
  end
end

-- Compares the bound's slope with central differences at five scores. Returns the largest relative error.
local function check_gradient(s, report)
  local worst, where = 0, nil
  for _, u in ipairs{ 0.07, 0.31, 0.52, 0.68, 0.93 } do
    local above, below, step = {}, {}, {}
    local score = scores_at(s, u)
    for l in ipairs(score) do
      step[l] = 1e-5 * (s.max[l] - s.min[l])
      above[l], below[l] = score[l] + step[l], score[l] - step[l]
    end
    local _, slope = grid.evaluated(s.bound, s.metric, s.lists, score)
    local up = grid.evaluated(s.bound, s.metric, s.lists, above)
    local down = grid.evaluated(s.bound, s.metric, s.lists, below)
    for l, size in ipairs(s.sizes) do
      local expected = (up[l] - down[l]) / (2 * step[l])
      local scale = math.max(math.abs(expected), s.peak[l], 1e-300)
      local err = math.abs(slope[l] - expected) / scale
      if err > worst then worst, where = err, { size, slope[l], expected, score[l] } end
    end
  end
  if worst > 1e-4 then
    add(report.problems, "gradient", s.metric,
      "the slope is %.6g for a list of %s at score %.4g, but differences give %.6g. Is an operation detached?",
      where[2], grid.name(where[1]), where[4], where[3])
  end
  return worst
end

local function check_monotone(s, report)
  local flat = {}
  for l, size in ipairs(s.sizes) do
    local least, largest, rises, falls = math.huge, -math.huge, 0, 0
    local fall_at
    for k = 0, steps do
      least, largest = math.min(least, s.value[k][l]), math.max(largest, s.value[k][l])
      local change = k > 0 and s.value[k][l] - s.value[k - 1][l] or 0
      rises, falls = rises + math.max(0, change), falls - math.min(0, change)
      if change < 0 and not fall_at then fall_at = k end
    end
    local tolerance = 1e-9 * math.max(1e-300, largest - least)
    if largest - least <= 1e-12 * math.max(1, math.abs(largest)) then
      flat[#flat + 1] = grid.name(size)
    elseif falls > tolerance and rises <= tolerance then
      add(report.problems, "direction", s.metric,
        "falls as the score grows for a list of %s. A bound must keep the metric's direction", grid.name(size))
      return "falling"
    elseif falls > tolerance then
      add(report.problems, "monotone", s.metric, "rises and falls for a list of %s: it falls from score %.4g on",
        grid.name(size), scores_at(s, (fall_at - 1) / steps)[l])
      return "NOT MONOTONE"
    end
  end
  if #flat == 0 then return "rising" end
  if #flat < #s.sizes then
    add(report.cautions, "flat", s.metric, "the same value at every score for a list of %s", flat[1])
    return "partly flat"
  end
  add(report.problems, "flat", s.metric,
    "the same value at every score for every list. Training learns nothing from it")
  return "FLAT"
end

-- Checks that the bounded value of a list does not change with the other lists of its batch.
local function check_alone(s, report)
  local score = scores_at(s, 0.4)
  local together = grid.evaluated(s.bound, s.metric, s.lists, score)
  for _, l in ipairs{ 1, math.max(1, #s.sizes // 2), #s.sizes } do
    local alone = grid.evaluated(s.bound, s.metric, grid.lists{ s.sizes[l] }, { score[l] })[1]
    if math.abs(alone - together[l]) > 1e-9 * math.max(1, math.abs(alone)) then
      add(report.problems, "batch", s.metric,
        "%.6g for a list of %s alone, %.6g among others. It must not depend on the batch", alone, grid.name(s.sizes[l]),
        together[l])
      return
    end
  end
end

-- Checks lists on which no ordering changes the metric: their bounded value and slope must be 0. A bound written as
-- a function is also called directly with such lists, which training never does. This reveals a division by zero.
local function check_degenerate(s, report)
  local sizes, score = s.degenerate, {}
  for l, size in ipairs(sizes) do score[l] = size.p > 0 and 1 or 0 end
  local value, slope = grid.evaluated(s.bound, s.metric, grid.lists(sizes), score)
  for l, size in ipairs(sizes) do
    if value[l] ~= 0 or slope[l] ~= 0 then
      add(report.problems, "finite", s.metric,
        "value %g with slope %g for a list of %s, expected 0 and 0, because no ordering can matter", value[l], slope[l],
        grid.name(size))
    end
  end
  local f = rawget(s.bound, "raw")
  if not f then return end
  local core, bounds = require "moonrank.core", require "moonrank.bounds"
  for _, size in ipairs{ sizes[1], sizes[2] } do
    local lists = grid.lists{ size }
    local ok, raw = check.attempt(function()
      local stats = bounds.stats(s.metric, lists, { dtype = "float64", device = "cpu" })
      return f(core.tensor({ 1 }, "float64", "cpu"), stats):item()
    end)
    if not ok or not check.is_finite(raw) then
      add(report.cautions, "degenerate", s.metric,
        "divides by zero for a list of %s, all relevant (%s; such lists are left out in training)", grid.name(size),
        not ok and "an error" or raw ~= raw and "NaN" or "infinite")
      return
    end
  end
end

-- Returns the smallest slope at the scores `score` (one per list), as a share of the same list's steepest finite slope.
-- Adds a caution to the report if the share is small, because training then hardly changes this list.
local function fading(s, report, where, score)
  local _, slope = grid.evaluated(s.bound, s.metric, s.lists, score)
  local least, at = math.huge, nil
  for l in ipairs(s.sizes) do
    local share = not check.is_finite(slope[l]) and math.huge or s.peak[l] > 0 and math.abs(slope[l]) / s.peak[l] or 0
    if share < least then least, at = share, l end
  end
  if least < vanished then
    add(report.cautions, "vanishing", s.metric, "no slope at %s for a list of %s. Training does not change such a list",
      where, grid.name(s.sizes[at]))
  elseif least < faded then
    add(report.cautions, "vanishing", s.metric, "at %s, a list of %s has %.2g of its steepest slope", where,
      grid.name(s.sizes[at]), least)
  end
  return least
end

-- Returns the smooth metric at equal scores, as training begins. For a metric without a smooth form, returns its mean
-- over all rankings.
local function equal_scores(s)
  local core = require "moonrank.core"
  if not s.metric.has_smooth then return s.expectation end
  return s.metric:smooth(core.full({ s.lists.rows }, 0, "float64", "cpu"), s.lists, 1):totable()
end

-- Returns, for every value of the option `nsr` (other rows per relevant row), the slope of a short list divided by the
-- slope of a long list. Also returns the numbers of relevant rows of both lists.
local function slope_ratios(s)
  local bounds = require "moonrank.bounds"
  local short = s.relevant[math.min(4, #s.relevant)]
  local long = s.relevant[#s.relevant]
  if short == long then short = s.relevant[1] end
  local ratios = {}
  for i, ratio in ipairs(s.nsr) do
    local lists = grid.lists(grid.sizes({ short, long }, { ratio }))
    local slopes = bounds.slopes(s.bound, s.metric, lists, { device = "cpu" }):totable()
    ratios[i] = slopes[1] / slopes[2]
  end
  return ratios, short, long
end

-- Returns pairs {smallest, largest} of bounded values over all lists: at their worst and at their best rankings.
local function ends(s)
  local worst, best = { math.huge, -math.huge }, { math.huge, -math.huge }
  for l in ipairs(s.sizes) do
    local at_min, at_max = s.value[0][l], s.value[steps][l]
    local is_best = s.best[l] == s.max[l]
    local w, b = is_best and at_min or at_max, is_best and at_max or at_min
    worst = { math.min(worst[1], w), math.max(worst[2], w) }
    best = { math.min(best[1], b), math.max(best[2], b) }
  end
  return worst, best
end

local function measured(bound, metric, o, report)
  local s = subject(bound, metric, o)
  walk(s)
  local m = { sizes = #s.sizes }
  check_finite(s, report)
  m.gradient_error = check_gradient(s, report)
  m.shape = check_monotone(s, report)
  check_alone(s, report)
  check_degenerate(s, report)
  m.worst, m.best = ends(s)
  m.slope_ratio, m.short, m.long = slope_ratios(s)
  m.equal = fading(s, report, "equal scores", equal_scores(s))
  local best, worst = {}, {}
  for l in ipairs(s.sizes) do
    best[l] = s.best[l]
    worst[l] = s.best[l] == s.max[l] and s.min[l] or s.max[l]
  end
  m.at_best, m.at_worst = fading(s, report, "the best", best), fading(s, report, "the worst", worst)
  return m
end

local function range_text(range)
  local least, most = table.unpack(range)
  if math.abs(least - most) <= 1e-9 * math.max(1, math.abs(least)) then
    return ("%.4g"):format(math.abs(least) < 1e-12 and 0 or least)
  end
  return ("%.4g to %.4g"):format(least, most)
end

local function rows_of(report)
  local rows = {}
  local function row(title, f)
    local cells = { title }
    for _, name in ipairs(report.order) do cells[#cells + 1] = f(report.metrics[name]) end
    rows[#rows + 1] = cells
  end
  row("gradient, worst error", function(m) return ("%.1e"):format(m.gradient_error) end)
  row("along the score", function(m) return m.shape end)
  row("at the best", function(m) return range_text(m.best) end)
  row("at the worst", function(m) return range_text(m.worst) end)
  for i, ratio in ipairs(report.nsr) do
    row(("slope short : long, NSR %g"):format(ratio), function(m)
      local slopes = m.slope_ratio[i]
      return slopes == slopes and ("%.4g"):format(slopes) or "no slope"
    end)
  end
  local function share(title, key)
    row(title, function(m) return m[key] == math.huge and "infinite" or ("%.2g of peak"):format(m[key]) end)
  end
  share("least slope, equal scores", "equal")
  share("least slope, at the best", "at_best")
  share("least slope, at the worst", "at_worst")
  return rows
end

local function counted(list, word) return ("%d %s%s"):format(#list, word, #list == 1 and "" or "s") end

function Report:__tostring()
  local columns = { "bound " .. self.name, table.unpack(self.order) }
  local lines = { tostring(tables.new{ columns = columns, rows = rows_of(self) }) }
  local first = self.metrics[self.order[1]]
  lines[#lines + 1] = ("lists of %d sizes; a short list has %d relevant rows, a long one %d; (N, P) is N rows, "
    .. "P relevant"):format(
    first.sizes, first.short, first.long)
  for _, each in ipairs(self.problems) do
    lines[#lines + 1] = ("WRONG   %s, %s: %s"):format(each.kind, each.metric, each.text)
  end
  for _, each in ipairs(self.cautions) do
    lines[#lines + 1] = ("caution %s, %s: %s"):format(each.kind, each.metric, each.text)
  end
  lines[#lines + 1] = (self.ok and "no problem found" or counted(self.problems, "problem"))
    .. (#self.cautions > 0 and ", " .. counted(self.cautions, "caution") or "")
  return table.concat(lines, "\n")
end

---Implements mr.bounds.check: checks a bound on lists of many sizes, and returns a report. The report is also printed,
---unless the option `quiet` is true.
---@param what any  a bound, its name or function
---@param options? mr.bounds.CheckOptions
---@return mr.BoundReport
function M.check(what, options)
  local o = check_options:read("mr.bounds.check", options)
  check.expect(what ~= nil, "mr.bounds.check", "what", what, "a bound, such as \"minmax\"")
  local bound = require("moonrank.bounds").resolve(what)
  local report = { name = bound.name, problems = {}, cautions = {}, metrics = {}, order = {}, nsr = o.nsr }
  for i, each in ipairs(o.metrics) do
    local metric = metrics.parse(each)
    report.order[i], report.metrics[metric.name] = metric.name, measured(bound, metric, o, report)
  end
  report.ok = #report.problems == 0
  setmetatable(report, Report)
  if not o.quiet then require("moonrank.prompt.repl").report(report) end
  return report
end

return M
