-- Makes Figure 5 of Li, Urbano & Hanjalic (2021): which users gain by nRBP over AP and nDCG, those with few or with
-- many relevant items? It shows differences of users' scores at the largest NSR at which all three losses have
-- runs.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local figures = dofile(here .. "figures.lua")
local analysis, title = figures.analysis, figures.title

local function quantile(ordered, q) return ordered[math.max(1, math.ceil(q * #ordered))] end

-- Returns, as text, the value of a fitted curve at its point nearest to x = `place`, and its confidence interval. Also
-- returns the side of 0 on which the interval lies: 1 (above), -1 (below) or 0 (the interval contains 0).
local function fit_at(fit, place)
  local x, best = fit.x:totable(), 1
  for i in ipairs(x) do best = math.abs(x[i] - place) < math.abs(x[best] - place) and i or best end
  local low, high = fit.low[best]:item(), fit.high[best]:item()
  return ("%+.4f (%+.4f to %+.4f)"):format(fit.y[best]:item(), low, high), low > 0 and 1 or high < 0 and -1 or 0
end

-- Fits a line to the users' score differences `y` over `x`, log2 of their numbers of relevant items. Returns the
-- slope and its p-value by Student's t.
local function slope_of(x, y)
  local model = mr.stats.linear_model{ y = y, covariates = { positives = x } }
  return model.coefficients.positives, model.p.positives
end

-- Returns the columns of panels (kind of losses and data set) that the figure has at one NSR (sampled negatives per
-- relevant item). Columns that lack training runs of a loss to compare are left out.
local function columns_at(rows, nsr)
  local columns = {}
  for _, column in ipairs(figures.columns(analysis.where(rows, { nsr = nsr }), true)) do
    columns[#columns + 1] = #analysis.compared(column.rows) > 0 and column or nil
  end
  return columns
end

-- Returns the figure's columns of panels (kind of losses and data set) and their NSR (sampled negatives per relevant
-- item): the largest one at which any column has training runs of all losses to compare.
local function compared_columns(rows, ratios)
  local falling = table.move(ratios, 1, #ratios, 1, {})
  table.sort(falling, function(a, b) return a > b end)
  for _, nsr in ipairs(falling) do
    local columns = columns_at(rows, nsr)
    if #columns > 0 then return columns, nsr end
  end
  return {}, falling[1]
end

-- Makes one curve: users' score differences, nRBP(0.95) minus another loss, over their number of relevant items.
-- Returns the curve as a series for the plot, and a record for the text and the table.
local function difference_curve(column, metric, pair)
  local x, y = analysis.differences(pair.rows, pair.others)
  local ordered = table.move(x, 1, #x, 1, {})
  table.sort(ordered)
  local fit = analysis.smoothed(x, y, { quantile(ordered, 0.01), quantile(ordered, 0.99) })
  local few, many, slope, p = quantile(ordered, 0.1), quantile(ordered, 0.9), slope_of(x, y)
  local few_text, few_side = fit_at(fit, few)
  local many_text, many_side = fit_at(fit, many)
  return { x = (fit.x * math.log(2)):exp(), y = fit.y, low = fit.low, high = fit.high },
    {
      few = few_side,
      many = many_side,
      slope = slope,
      p = p,
      runs = #pair.rows + #pair.others,
      kind = column.kind,
      line = { column.title, title(metric), title(pair.loss), ("%.0f"):format(2 ^ few), few_text,
        ("%.0f"):format(2 ^ many), many_text, slope, p, #y } }
end

-- Returns a sentence on how the curves of LambdaRank or of the listwise losses rise and fall. `curves` are records
-- that difference_curve returns, `adjusted` has the corrected p-value of each curve's slope.
local function curves_text(kind, curves, adjusted)
  local few, many, ways, all = { [-1] = 0, [0] = 0, [1] = 0 }, { [-1] = 0, [0] = 0, [1] = 0 }, { rise = 0, fall = 0 }, 0
  for i, each in ipairs(curves) do
    if each.kind == kind then
      all, few[each.few], many[each.many] = all + 1, few[each.few] + 1, many[each.many] + 1
      local way = each.slope > 0 and "rise" or "fall"
      if analysis.significant(adjusted[i]) then ways[way] = ways[way] + 1 end
    end
  end
  return ([[
With %s %d of %d curves rise significantly with the number of positives and %d fall (slope over its logarithm,
Student's t, Holm's correction over all curves). Where users have few positives (the tenth percentile) the interval
lies above 0 in %d and below it in %d; where they have many (the ninetieth) above in %d and below in %d.]]):format(
    figures.kind_words[kind], ways.rise, all, ways.fall, few[1], few[-1], many[1], many[-1])
end

local args = figures.args(5)
local curves, ps, lines, sentences, rows, left = {}, {}, {}, {}, figures.compared(args)
local columns, nsr = compared_columns(rows, args.nsr)
if #columns == 0 then return figures.nothing(args, left) end
local pictures = figures.grid(args, columns, figures.metrics, 175, function(column, metric, heading)
  local series = {}
  for i, pair in ipairs(analysis.compared(figures.of_metric(column, metric))) do
    local one, about = difference_curve(column, metric, pair)
    one.name, one.style, series[i] = "less " .. title(pair.loss), i == 1 and "solid" or "dashed", one
    curves[#curves + 1], lines[#lines + 1], ps[#ps + 1] = about, about.line, about.p
  end
  return mr.plot.lines{ series = series, hlines = { 0 }, xlog = true, title = heading, xlabel = "positives in train",
    ylabel = title(metric) }
end)
local adjusted = analysis.correct(ps)
local runs_of = {}
for i, line in ipairs(lines) do line[9], runs_of[line] = adjusted[i], curves[i].runs end
for _, kind in ipairs(analysis.distinct(columns, "kind")) do
  sentences[#sentences + 1] = curves_text(kind, curves, adjusted)
end
return mr.experiment.finish(args, pictures, ([[
The figure shows each user's test score by the model of nRBP(0.95) less that by AP's or nDCG's, at NSR %d, as a mean
over the splits; above 0 nRBP is better. Curves are cubic smoothing splines over the logarithm of the number of
positives in train (penalty by generalised cross validation, at most %d degrees of freedom) with their interval of 95
%%, point by point, from the first to the last percentile of users.

%s%s%s]]):format(nsr, analysis.most_df, table.concat(sentences, "\n"), left, figures.in_paper(args, [[
In the paper listwise curves, splines as well, rise on all data sets but Epinions, those of LambdaRank have no clear
direction.]]
  )),
  mr.experiment.named("", mr.table{
    columns = {
      "method and data", "metric", "less", "few", "there (95 %)", "many", "there", "slope", "p corrected", "users" },
    rows = lines,
    formats = { slope = "%+.4f", ["p corrected"] = "%.3g" },
    mark = { ["p corrected"] = analysis.level } },
    mr.experiment.cells("smoothing spline over users, point by point", function(line) return runs_of[line] end), [[
less: the loss whose users' scores are subtracted from those of nRBP(0.95); few, many: tenth and ninetieth percentile of
the users' numbers of relevant items in train; there: difference by the curve, with its interval of 95 %; slope: of the
difference over log2 of that number; p corrected: of the slope, by Student's t, with Holm's correction over all curves;
users: that have scores of both.]]))
