-- Draws Figures 5.1 to 5.10 of the thesis (Westerborg 2022). All have columns of panels for MovieLens at NSR (negatives
-- per relevant item) 1, 2 and 3 and for MQ2008. There are four kinds of panels: nDCG@k against k, distributions of test
-- scores, scores of users and queries with a bound against those without, and changes of scores against the number of
-- relevant items.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, figure = dofile(here .. "beside.lua"), dofile(here .. "figure.lua")
local experiment = mr.experiment

local M = {}

-- Bounds that are compared with no bound, one row of panels each. Of the three forms of the distribution bound, the
-- logarithm is left out.
local rows = { "minmax", "expectation", "expectation_max", "distribution", "distribution_logit" }

local function args_of(number)
  return runs.args(figure.options("figure_" .. number, {
    label = { default = 2, choices = { 1, 2 }, help = "MQ2008: least label of a relevant document" },
    recipe = runs.recipe, samples = runs.samples,
  }), { label = 2 })
end

-- The columns of panels in a figure. Each has a title, a data set with its stored training runs (`results`), and the
-- setting ("nsr" or "label") with the value that selects the runs of this column.
local function columns_of(args)
  local columns, ratings, movielens = {}, runs.of(args, "movielens", 1), runs.set(args, "movielens")
  for _, nsr in ipairs(movielens.values) do
    columns[#columns + 1] = { title = ("%s, NSR %d"):format(movielens.title, nsr), results = ratings, setting = "nsr",
      value = nsr, set = movielens }
  end
  columns[#columns + 1] = { title = ("%s, label %d"):format(runs.set(args, "mq2008").title, args.label),
    results = runs.of(args, "mq2008", 1), setting = "label", value = args.label, set = runs.set(args, "mq2008") }
  return columns
end

local function where(column, loss, bound) return { [column.setting] = column.value, loss = loss, bound = bound } end

local function lists(column, loss, bound, metric)
  return experiment.lists(column.results, where(column, loss, bound), metric or "own")
end

-- The test metric of each user or query, as a mean over folds; `metric` defaults to the metric that the loss optimises.
-- These means are independent of each other, unlike the lists that one user has in several folds.
local function by_list(column, loss, bound, metric)
  return experiment.by_list({ column.results }, where(column, loss, bound), metric or "own")
end

local function sorted(values)
  local kept = {}
  for _, x in ipairs(values) do
    if x == x then kept[#kept + 1] = x end
  end
  table.sort(kept)
  return kept
end

local function quantile(ordered, q) return ordered[math.max(1, math.ceil(q * #ordered))] end

local function mean(values) return mr.stats.mean(values) end

local function count(lines, holds)
  local n = 0
  for _, line in ipairs(lines) do n = n + (holds(line) and 1 or 0) end
  return n
end

-- Returns the value with the largest absolute size in column `c` of a table, and the data set (column 1) and the bound
-- (column 2) of its line.
local function largest(lines, c)
  local most = lines[1]
  for _, line in ipairs(lines) do
    if math.abs(line[c]) > math.abs(most[c]) then most = line end
  end
  return most[c], most[1], most[2]
end

-- Makes one panel per bound (row) and data set with setting (column). `draw(column, bound, title)` returns a panel and
-- adds a line to the script's table.
local function grid(columns, draw)
  local panels = { columns = #columns, width = 250 * #columns, height = 165 * #rows + 70 }
  for r, bound in ipairs(rows) do
    for _, column in ipairs(columns) do
      panels[#panels + 1] = draw(column, bound, r == 1 and column.title or nil)
    end
  end
  return panels
end

local function finish(args, panels, caption, columns, lines, formats, cells, legend)
  panels.title = figure.title(args)
  return experiment.finish(args, mr.plot.facets(panels), caption,
    experiment.named("", mr.table{ columns = columns, rows = lines, formats = formats }, cells, legend))
end

-- Makes the object that collects the intervals of a table's cells. `by` says how intervals are
-- computed, e.g. "bootstrap over %s", where "%s" becomes "users" or "queries". `single(column)` is true for columns of
-- the table about one bound; cells of other columns compare two bounds and are from twice as many training runs.
local function cells_of(by, columns, single)
  local sets = {}
  for _, column in ipairs(columns) do sets[column.title] = column.set end
  return experiment.cells(function(row) return by:format(sets[row[1]].units) end,
    function(row, column) return sets[row[1]].folds * (single(column) and 1 or 2) end)
end

-- The 95 % interval {low, high} of the change of the mean test score by a bound, against no bound, paired by user or
-- query.
local function change_ends(column, loss, bound)
  return experiment.over_lists{ by_list(column, loss, bound), by_list(column, loss, "none") }
end

---Draws Figure 5.1: test nDCG@k against k, with a row of panels for each loss and a line for each bound. Parses the
---command line, prints the table and returns a section of the report.
---@param number string  of the figure, in the name of its file: "5_1"
function M.curves(number)
  local args = args_of(number)
  local columns, lines = columns_of(args), {}
  local cells = cells_of("Student's t over folds", columns, function() return true end)
  local panels = { columns = #columns, width = 250 * #columns, height = 620 }
  for _, loss in ipairs(runs.losses) do
    for _, column in ipairs(columns) do
      local series, lo, hi = {}, math.huge, -math.huge
      for i, bound in ipairs(runs.bounds) do
        local x, y = {}, {}
        for k = 1, runs.deepest do
          x[k], y[k] = k, mean(experiment.folds(column.results, where(column, loss, bound), "ndcg@" .. k))
        end
        series[i] = { name = bound, x = x, y = y, color = i == 1 and 7 or i - 1 }
        lines[#lines + 1] = { column.title, runs.title_of[loss], bound, y[1], y[5], y[10], y[50] }
        for _, k in ipairs{ 1, 5, 10, 50 } do
          local name = "ndcg@" .. k
          cells:note(#lines, "nDCG@" .. k,
            experiment.over_runs(experiment.folds(column.results, where(column, loss, bound), name)))
        end
        if bound ~= "distribution" then lo, hi = math.min(lo, table.unpack(y)), math.max(hi, table.unpack(y)) end
      end
      panels[#panels + 1] = mr.plot.lines{ series = series, title = loss == "ndcg" and column.title or nil,
        xlabel = "k", xlog = true, ylabel = ("nDCG@k, %s loss"):format(runs.title_of[loss]),
        yrange = { lo - 0.06 * (hi - lo), hi + 0.06 * (hi - lo) } }
    end
  end
  local ends = {}
  for _, line in ipairs(lines) do
    if line[2] == "nDCG" and line[3] == "none" then
      ends[#ends + 1] = ("%s %.3f to %.3f"):format(line[1], line[4], line[6])
    end
  end
  return finish(args, panels, ([[
Axes fit all bounds but the thesis' distribution bound, which may lie below (its numbers are in the table). From k = 1
to k = 10 the nDCG@k of the unbounded nDCG loss goes as follows: %s.%s]]
    ):format(table.concat(ends, "; "),
      args.made_up and "" or "\nIn the thesis nDCG@k falls with k on MovieLens and grows on MQ2008."),
    { "data", "loss", "bound", "nDCG@1", "nDCG@5", "nDCG@10", "nDCG@50" }, lines,
    { ["nDCG@1"] = "%.4f", ["nDCG@5"] = "%.4f", ["nDCG@10"] = "%.4f", ["nDCG@50"] = "%.4f" }, cells,
    "nDCG@k: on test, the mean over lists and folds; NSR: negative sampling ratio.")
end

-- Ranges of the score to shade in a plot of two distribution functions: those where a smaller share of `a` than of `b`
-- has at most this score, so that `a` is better.
local function shaded(a, b)
  local shade = {}
  for _, region in ipairs(mr.stats.ecdf_compare(a, b).regions) do
    if region.better == "a" then shade[#shade + 1] = { from = region.from, to = region.to } end
  end
  return shade
end

---Draws Figures 5.2 to 5.4: the distribution of the test scores of all lists, after training with and without a bound.
---Parses the command line, prints the table and returns a section of the report.
---@param number string  of the figure, in the name of its file, e.g. "5_2"
---@param loss "ndcg"|"ap"|"nrbp"  loss that models were trained on; its metric gives the scores
function M.distributions(number, loss)
  local args = args_of(number)
  local columns, lines, name = columns_of(args), {}, runs.title_of[loss]
  local cells = cells_of("bootstrap over %s", columns,
    function(head) return head:find "10 %%" or head:find "^median" end)
  local panels = grid(columns, function(column, bound, title)
    local free, bounded = lists(column, loss, "none"), lists(column, loss, bound)
    local a, b, found = sorted(bounded), sorted(free), mr.stats.ecdf_compare(bounded, free)
    lines[#lines + 1] = { column.title, bound, quantile(b, 0.1), quantile(a, 0.1), quantile(b, 0.5), quantile(a, 0.5),
      mean(bounded) - mean(free), found.ks, #a, found.skipped[1] }
    cells:note(#lines, "change of mean", change_ends(column, loss, bound))
    return mr.plot.ecdf{
      series = { { name = "unbounded", values = b, color = 7 }, { name = "bounded", values = a, color = 1 } },
      shade = shaded(bounded, free), title = title, xlabel = name, ylabel = bound,
      xrange = { math.min(quantile(b, 0.01), 0.9), 1 } }
  end)
  return finish(args, panels, ([[
The figure shows the distribution of %s over all test lists, trained on %s without a bound and under one: the share of
lists with at most this score. It is grey where the bounded loss leaves fewer lists with so low a score, which is
better. Axes begin at the first percentile of the unbounded loss. The lowest tenth is higher than without a bound in %d
of %d panels, the mean in %d; the largest change of the mean is %+.4f (%s,
%s).]]):format(name, name, count(lines, function(l) return l[4] > l[3] end), #lines,
      count(lines, function(l) return l[7] > 0 end), largest(lines, 7)),
    { "data", "bound", "10 %, none", "10 %", "median, none", "median", "change of mean", "largest distance", "lists",
    "skipped" }, lines,
    { ["10 %, none"] = "%.4f", ["10 %"] = "%.4f", ["median, none"] = "%.4f", median = "%.4f",
    ["change of mean"] = "%+.4f",
      ["largest distance"] = "%.3f" }, cells, ([[
10 %%, median: of the test lists' %s under the bound; 10 %%, none and median, none: without a bound; change of mean:
by the bound; largest distance: of the two distribution functions; lists: with a value of the metric; skipped: lists
without one; NSR: negative sampling ratio.]]):format(name))
end

-- The smallest and the largest value of column `c` of a table, and a text with the standard deviation of score changes
-- (column 5) under expectation-max bounding, by data set.
local function least_and_most(lines, c)
  local low, high, spreads = math.huge, -math.huge, {}
  for _, line in ipairs(lines) do
    low, high = math.min(low, line[c]), math.max(high, line[c])
    if line[2] == "expectation_max" then spreads[#spreads + 1] = ("%s %.4f"):format(line[1], line[5]) end
  end
  return low, high, table.concat(spreads, ", ")
end

-- Pearson's correlation over the pairs (x, y) without NaN.
local function correlation(x, y)
  local n, sx, sy, sxx, syy, sxy = 0, 0, 0, 0, 0, 0
  local mx, my = mean(x), mean(y)
  for i = 1, #x do
    local a, b = x[i] - mx, y[i] - my
    if a == a and b == b then
      n, sx, sy, sxx, syy, sxy = n + 1, sx + a, sy + b, sxx + a * a, syy + b * b, sxy + a * b
    end
  end
  return (sxy - sx * sy / n) / math.sqrt((sxx - sx * sx / n) * (syy - sy * sy / n))
end

local function differences(a, b)
  local found = {}
  for i = 1, #a do found[i] = a[i] - b[i] end
  return found
end

---Draws Figures 5.5 to 5.7: the test score of every user or query after training under a bound against that after
---training without a bound. Parses the command line, prints the table and returns a section of the report.
---@param number string  of the figure, in the name of its file, e.g. "5_5"
---@param loss "ndcg"|"ap"|"nrbp"  loss that models were trained on; its metric gives the scores
function M.instances(number, loss)
  local args = args_of(number)
  local columns, lines, name = columns_of(args), {}, runs.title_of[loss]
  local cells = cells_of("bootstrap over %s", columns, function() return false end)
  local panels = grid(columns, function(column, bound, title)
    local free, bounded = by_list(column, loss, "none"), by_list(column, loss, bound)
    local spread, effect = mr.stats.summary(differences(bounded, free)), mr.stats.effect_size(bounded, free)
    lines[#lines + 1] = { column.title, bound, correlation(free, bounded), spread.mean, spread.sd, effect.wins,
      effect.losses, spread.n }
    cells:note(#lines, "change", change_ends(column, loss, bound))
    return mr.plot.scatter{ x = free, y = bounded, size = 0.25, diagonal = true, title = title,
      xlabel = name .. ", unbounded", ylabel = bound }
  end)
  panels.legend = "none"
  local low, high, spreads = least_and_most(lines, 3)
  return finish(args, panels, ([[
The figure has the %s of every user (mean over the folds) or query under a bound, against the same without one; above
the dashed line the bound is better. Correlations are from %.3f to %.3f. The standard deviations of the change under
expectation-max bounding are: %s%s.]]):format(name, low, high, spreads,
    args.made_up and "" or " (in the thesis it grows with the NSR)"),
    { "data", "bound", "correlation", "change", "sd of change", "better", "worse", "users or queries" }, lines,
    { correlation = "%.3f", change = "%+.4f", ["sd of change"] = "%.4f", better = "%.3f", worse = "%.3f" }, cells, ([[
correlation: of the %s of users (means over folds) or queries under the bound and without one; change: mean change by
the bound; sd of change: its standard deviation over users or queries; better, worse: shares of these with a positive
and a negative change; NSR: negative sampling ratio.]]):format(name))
end

-- The value of a fitted curve with its 95 % interval, as text, at the curve's point nearest to x = `at`. Adds 1 to
-- sides[1] if the interval lies above 0, to sides[-1] if below 0, and to sides[0] if it contains 0.
local function fit_text(fit, at, sides)
  local x, best = fit.x:totable(), 1
  for i = 2, #x do
    if math.abs(x[i] - at) < math.abs(x[best] - at) then best = i end
  end
  local low, high = fit.low[best]:item(), fit.high[best]:item()
  local side = low > 0 and 1 or high < 0 and -1 or 0
  sides[side] = sides[side] + 1
  return ("%+.4f (%+.4f to %+.4f)"):format(fit.y[best]:item(), low, high)
end

---Draws Figures 5.8 to 5.10: the change of each user's or query's test score by training under a bound, against their
---number of relevant items. Parses the command line, prints the table and returns a section of the report.
---@param number string  of the figure, in the name of its file, e.g. "5_8"
---@param loss "ndcg"|"ap"|"nrbp"  loss that models were trained on; its metric gives the scores
function M.gains(number, loss)
  local args = args_of(number)
  local columns, lines, name = columns_of(args), {}, runs.title_of[loss]
  local sure = { { [-1] = 0, [0] = 0, [1] = 0 }, { [-1] = 0, [0] = 0, [1] = 0 } }
  local panels = grid(columns, function(column, bound, title)
    local relevant, x, y = by_list(column, loss, "none", "relevant"), {}, {}
    for i, change in ipairs(differences(by_list(column, loss, bound), by_list(column, loss, "none"))) do
      if change == change then x[#x + 1], y[#y + 1] = math.log(relevant[i], 2), change end
    end
    local fit, ordered = mr.stats.kernel_regression(x, y,
      { degree = 1, bandwidth = "aicc", least = "silverman", nearest = 0.1 }), sorted(x)
    local few, many, inner = quantile(ordered, 0.1), quantile(ordered, 0.9), sorted(y)
    lines[#lines + 1] = { column.title, bound, ("%.0f"):format(2 ^ few), fit_text(fit, few, sure[1]),
      ("%.0f"):format(2 ^ many), fit_text(fit, many, sure[2]), #y }
    for i = 1, #x do x[i] = 2 ^ x[i] end
    return mr.plot.lines{ series = { { x = (fit.x * math.log(2)):exp(), y = fit.y, low = fit.low, high = fit.high } },
      points = { x = x, y = y }, hlines = { 0 }, xlog = true, title = title, xlabel = "relevant items", ylabel = bound,
      legend = "none", yrange = { math.min(-0.01, quantile(inner, 0.02)), math.max(0.01, quantile(inner, 0.98)) } }
  end)
  return finish(args, panels, ([[
The figure shows the change of %s by a bound (above 0 the bound is better) against the number of relevant test items
of a user (both means over the five folds) or query; the line is a local linear fit over the logarithm of that number
(Gaussian kernel, bandwidth by Akaike's corrected criterion from that of the density of x on, and everywhere reaching
a tenth of the points), its band the interval of 95 %%, point by point. Of its own fit the thesis says only that it is
"a kernel density estimate", non-parametric. Axes leave out the outermost 2 %% of points on either side. In the table
the interval lies above 0 in %d of %d panels for few and %d for many relevant items, below in %d and %d.]]):format(name,
      sure[1][1], #lines, sure[2][1], sure[1][-1], sure[2][-1]),
    { "data", "bound", "few", "change there (95 %)", "many", "change there", "users or queries" }, lines, {},
    cells_of("local linear fit over %s", columns, function(head) return head == "few" or head == "many" end), ([[
few, many: tenth and ninetieth percentile of the number of relevant items; change there: of %s by the bound, as the
local linear fit has it there, with the interval of 95 %%; users or queries: that have a change; NSR: negative
sampling ratio.]]):format(name))
end

return M
