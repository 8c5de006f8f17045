-- Shared code of the scripts that draw the thesis' figures: options, the three losses, example lists (the thesis calls
-- them instances), and panels of bounded against unbounded loss (Figures 3.1, 3.3, 3.4 and 3.7).
local mr = require "moonrank"

local M = {}

-- The three losses of the thesis. A loss is `sign` times its metric: nDCG and AP should be maximised, so their loss has
-- the opposite sign; nRBP is a loss already (Eq. 2.12).
M.losses = {
  { title = "nDCG", metric = "ndcg", sign = -1, loss = mr.losses.ndcg },
  { title = "AP", metric = "ap", sign = -1, loss = mr.losses.ap },
  { title = "nRBP", metric = "nrbp_loss", sign = 1, loss = mr.losses.nrbp },
}

---Adds --out and --show (`mr.experiment.figure_options`) to the declarations of a script's own options, and returns
---them.
---@param name string  name of the figure's file, without folder and ending
---@param own table  declarations of the script's options, for mr.args
function M.options(name, own) return mr.experiment.figure_options(own, ("results/thesis/%s.svg"):format(name)) end

---Parses the command line of a script whose figure needs no data: its own options, --out, --show, and --smoke (few
---points, to see that the script runs).
---@param number string  number of the figure, e.g. "3_1"
---@param own table  declarations of the script's own options, for mr.args
---@param smoke? table  values that --smoke gives to these options, by name
function M.args(number, own, smoke)
  M.options("figure_" .. number, own)
  own.smoke = { default = false, sets = smoke, help = "few points, to see that it runs" }
  return mr.args(own)
end

---Makes an example list, X(N,P) in the thesis: `n` rows, of which the first `p` are relevant. The result has `n`, `p`,
---the `grades` of the rows (1 or 0), `name` ("X(8,4)") and `shape` (n and p, as mr.bounds takes them).
function M.instance(n, p)
  local grades = {}
  for i = 1, n do grades[i] = i <= p and 1 or 0 end
  return { n = n, p = p, grades = grades, name = ("X(%d,%d)"):format(n, p), shape = { n = n, p = p } }
end

---Makes example lists (`M.instance`) with `relevant` relevant rows and `nsr` irrelevant rows per relevant one. If an
---argument is an array of numbers, there is a list for each of them.
function M.instances(relevant, nsr)
  local found = {}
  for _, p in ipairs(type(relevant) == "table" and relevant or { relevant }) do
    for _, ratio in ipairs(type(nsr) == "table" and nsr or { nsr }) do
      found[#found + 1] = M.instance(p * (1 + ratio), p)
    end
  end
  return found
end

---The example lists (`M.instance`) of a figure with two rows of panels. The first row has lists of several sizes at NSR
---2; the second has lists of one size at NSR 1, 2 and 3. NSR is the number of irrelevant rows per relevant row.
---@param relevant integer[]  numbers of relevant rows: all for the first row, the last for the second row
function M.rows(relevant)
  return {
    { title = "NSR 2", instances = M.instances(relevant, 2) },
    { title = "NSR 1, 2, 3", instances = M.instances(relevant[#relevant], { 1, 2, 3 }) },
  }
end

---`count` equally spaced numbers from `low` to `high`.
function M.range(low, high, count)
  local found = {}
  for i = 0, count - 1 do found[#found + 1] = low + (high - low) * i / (count - 1) end
  return found
end

---The loss of the best ranking and the loss of the worst ranking of an example list.
---@param base table  one of `M.losses`
---@param instance table  from `M.instance`
function M.ends(base, instance)
  local stats = mr.bounds.of(base.metric, instance.shape)
  local worst = stats.best == stats.max and stats.min or stats.max
  return base.sign * stats.best, base.sign * worst
end

-- Makes `count` equal lists with the grades of an example list, so that `count` losses can be bounded at once.
local function copies(instance, count)
  local lists = {}
  for i = 1, count do lists[i] = instance.grades end
  return mr.lists(lists)
end

---Applies a bound to the losses that several rankings of one example list have. Returns an array of bounded losses.
---@param bound string|mr.Bound
---@param base table  one of `M.losses`
---@param instance table  the list, from `M.instance`
---@param values number[]  unbounded losses
function M.bounded(bound, base, instance, values)
  local scores = base.sign * mr.tensor(values, { dtype = "float64" })
  return (base.sign * mr.bounds.resolve(bound).apply(scores, base.metric, copies(instance, #values))):totable()
end

---The smooth (differentiable) loss of an example list under a bound, at the given scores of its rows. Without `scores`
---all scores are equal, as before training. `base` is one of `M.losses`, `instance` is from `M.instance`.
function M.smooth_loss(base, bound, instance, scores)
  if not scores then
    scores = {}
    for i = 1, instance.n do scores[i] = 0 end
  end
  return base.loss{ bound = bound }(mr.tensor(scores, { dtype = "float64" }), mr.lists{ instance.grades }):item()
end

-- The range of an axis: from the lowest to the highest number of several arrays, extended at each end by `margin` times
-- the difference.
local function extent(lists, margin)
  local low, high = math.huge, -math.huge
  for _, list in ipairs(lists) do low, high = math.min(low, table.unpack(list)), math.max(high, table.unpack(list)) end
  return { low - margin * (high - low), high + margin * (high - low) }
end

---A colour number for every example list, by its name, so that a list has the same colour in all panels. `rows` is as
---in `M.rows`.
function M.colors(rows)
  local colors, count = {}, 0
  for _, row in ipairs(rows) do
    for _, instance in ipairs(row.instances) do
      if not colors[instance.name] then
        count = count + 1
        colors[instance.name] = count
      end
    end
  end
  return colors
end

---Returns an array of line plots (panels), one for every entry of `rows` (as in `M.rows`: a title and several example
---lists) and every loss. A panel has a line for each list of its entry: `curve(base, instance)` returns arrays x and y
---of the line of one list for the loss `base` (one of `M.losses`). Panels of one loss share their axes. Options are the
---axis labels `x` and `y`, and `mark(base)`, which returns {position, text} of a vertical line.
function M.panels(rows, options, curve)
  local colors, by_loss = M.colors(rows), {}
  for l, base in ipairs(M.losses) do
    local xs, ys, of_row = {}, {}, {}
    for r, row in ipairs(rows) do
      of_row[r] = {}
      for i, instance in ipairs(row.instances) do
        local x, y = curve(base, instance)
        xs[#xs + 1], ys[#ys + 1] = x, y
        of_row[r][i] = { name = instance.name, x = x, y = y, color = colors[instance.name] }
      end
    end
    by_loss[l] = { series = of_row, xrange = extent(xs, 0), yrange = extent(ys, 0.04) }
  end
  local panels = {}
  for r, row in ipairs(rows) do
    for l, base in ipairs(M.losses) do
      local found = by_loss[l]
      panels[#panels + 1] = mr.plot.lines{ series = found.series[r], title = ("%s, %s"):format(base.title, row.title),
        xlabel = options.x or base.title, ylabel = options.y, xrange = found.xrange, yrange = found.yrange,
        legend = "legend", vlines = options.mark and { options.mark(base) } }
    end
  end
  return panels
end

---Plots bounded against unbounded loss of example lists, from their best to their worst ranking. There is a panel for
---every entry of `rows` (`M.rows`) and every loss. Options: `title`, `points` of a line (default 2, enough for affine
---bounds), and `mark` as in `M.panels`.
function M.bounded_losses(rows, bound, options)
  local panels = M.panels(rows, { x = "unbounded loss", y = "bounded loss", mark = options.mark },
    function(base, instance)
      local best, worst = M.ends(base, instance)
      local x = M.range(best, worst, options.points or 2)
      return x, M.bounded(bound, base, instance, x)
    end)
  return M.facets(panels, options.title)
end

---Arranges panels in one figure with three columns, one for each loss in `M.losses`.
function M.facets(panels, title)
  return mr.plot.facets{ columns = 3, title = title, width = 1000, height = #panels > 3 and 660 or 340,
    table.unpack(panels) }
end

---Calls `visit(base, instance)` for every loss `base` (of `M.losses`) and every example list in `rows` (`M.rows`). A
---list that is in several rows of panels is visited once per loss.
function M.each(rows, visit)
  for _, base in ipairs(M.losses) do
    local seen = {}
    for _, row in ipairs(rows) do
      for _, instance in ipairs(row.instances) do
        if not seen[instance.name] then visit(base, instance) end
        seen[instance.name] = true
      end
    end
  end
end

---The slope of a bound between the worst and the best ranking of an example list: the change of the bounded loss
---divided by the change of the unbounded loss. `base` is one of `M.losses`, `instance` is from `M.instance`.
function M.slope(bound, base, instance)
  local best, worst = M.ends(base, instance)
  local bounded = M.bounded(bound, base, instance, { best, worst })
  return (bounded[2] - bounded[1]) / (worst - best)
end

---How differently a bound weighs lists: for each loss, its largest slope (change of bounded per change of unbounded
---loss) among the example lists of `row` divided by its smallest, as text, e.g. "nDCG 1.11, AP 1.03, nRBP 16".
function M.slope_ratios(row, bound)
  local parts = {}
  for _, base in ipairs(M.losses) do
    local least, most = math.huge, 0
    for _, instance in ipairs(row.instances) do
      local found = M.slope(bound, base, instance)
      least, most = math.min(least, found), math.max(most, found)
    end
    parts[#parts + 1] = ("%s %.3g"):format(base.title, most / least)
  end
  return table.concat(parts, ", ")
end

---A table with a line for every loss and example list: the loss of the best and of the worst ranking, both unbounded
---and bounded, and the slope (change of bounded per change of unbounded loss). `rows` is as in `M.rows`.
function M.table_of_ends(rows, bound)
  local lines = {}
  M.each(rows, function(base, instance)
    local best, worst = M.ends(base, instance)
    local bounded = M.bounded(bound, base, instance, { best, worst })
    for i, value in ipairs(bounded) do bounded[i] = math.abs(value) < 1e-12 and 0.0 or value end
    local slope = M.slope(bound, base, instance)
    lines[#lines + 1] = { base.title, instance.name, best, worst, bounded[1], bounded[2], slope }
  end)
  return mr.table{ columns = { "loss", "instance", "best", "worst", "bounded best", "bounded worst", "slope" },
    rows = lines, formats = { best = "%.4f", worst = "%.4f", ["bounded best"] = "%.4f", ["bounded worst"] = "%.4f" } }
end

---Meaning of that table's columns.
M.legend_of_ends = [[
X(N,P): N rows, P of them relevant; best, worst: loss of the best and the worst ranking; bounded: the same under the
bound; slope: change of the bounded loss per change of the loss.]]

---Adds "made-up data" to a title if the script runs on made-up data (--smoke); otherwise returns the title as it is.
---@param args table  parsed command line of the script
---@param title? string
function M.title(args, title)
  if not rawget(args, "made_up") then return title end
  return title and title .. ", made-up data" or "Made-up data"
end

---The name of a data set as it is used within a sentence, e.g. "the MSLR slice".
function M.said(title) return title:find "slice$" and "the " .. title or title end

return M
