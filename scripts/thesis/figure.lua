-- Shared code of the scripts that draw the thesis' figures: options, the three losses, example lists (instances),
-- panels of bounded against unbounded loss (Figures 3.1, 3.3, 3.4 and 3.7), and output of figure and tables.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = {}

-- The three losses of the thesis. nDCG and AP should be maximised, so their loss has the opposite sign; nRBP is a loss
-- already (Eq. 2.12).
M.losses = {
  { title = "nDCG", metric = "ndcg", sign = -1, loss = mr.losses.ndcg },
  { title = "AP", metric = "ap", sign = -1, loss = mr.losses.ap },
  { title = "nRBP", metric = "nrbp_loss", sign = 1, loss = mr.losses.nrbp },
}

---Adds --out (file of the figure) and --show (draw in the terminal) to a script's own options.
---@param name string  name of the figure's file, without folder and ending
function M.options(name, own)
  own.out = { path = "new file", default = ("results/thesis/%s.svg"):format(name), endings = { ".svg", ".png", ".pdf" },
    help = "file of the figure" }
  own.show = { default = false, help = "draw it in the terminal as well" }
  return own
end

---Parses the command line of a script whose figure needs no data: its own options, --out, --show, and --smoke, which
---sets the options in `smoke`.
function M.args(number, own, smoke)
  M.options("figure_" .. number, own)
  own.smoke = { default = false, sets = smoke, help = "few points, to see that it runs" }
  return mr.args(own)
end

---The instance X_(N,P): the grades of a list of N rows, P of them relevant.
function M.instance(n, p)
  local grades = {}
  for i = 1, n do grades[i] = i <= p and 1 or 0 end
  return { n = n, p = p, grades = grades, name = ("X(%d,%d)"):format(n, p), shape = { n = n, p = p } }
end

---Instances with `relevant` relevant rows and `nsr` irrelevant rows per relevant one. Either argument may be an array
---of numbers.
function M.instances(relevant, nsr)
  local found = {}
  for _, p in ipairs(type(relevant) == "table" and relevant or { relevant }) do
    for _, ratio in ipairs(type(nsr) == "table" and nsr or { nsr }) do
      found[#found + 1] = M.instance(p * (1 + ratio), p)
    end
  end
  return found
end

---The two rows of panels in a figure. The first has instances of several sizes at NSR 2; the second has instances of
---one size at NSR 1, 2 and 3. NSR is the number of irrelevant rows per relevant row.
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

---The loss of the best ranking and the loss of the worst ranking of an instance.
function M.ends(base, instance)
  local stats = mr.bounds.of(base.metric, instance.shape)
  local worst = stats.best == stats.max and stats.min or stats.max
  return base.sign * stats.best, base.sign * worst
end

-- `count` equal lists with the grades of an instance, so that `count` scores can be bounded at once.
local function copies(instance, count)
  local lists = {}
  for i = 1, count do lists[i] = instance.grades end
  return mr.lists(lists)
end

---Bounds a list of loss values of one instance: returns the bounded loss for each entry of `values`. `base` is an entry
---of `M.losses`.
function M.bounded(bound, base, instance, values)
  local scores = base.sign * mr.tensor(values, { dtype = "float64" })
  return (base.sign * mr.bounds.resolve(bound).apply(scores, base.metric, copies(instance, #values))):totable()
end

---The smooth loss of an instance under a bound, for the given scores of its rows; all scores are equal by default.
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

---A colour number for every instance by its name, so that an instance has the same colour in all rows of panels.
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

---Draws a panel for every row of instances and every loss. `curve(base, instance)` returns the x and y of an instance's
---curve for a loss `base`; panels of a loss share their axes. Options are the labels `x` and `y`, and `mark(base)`,
---which returns the position and text of a vertical line.
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

---Draws the bounded against the unbounded loss, from the worst to the best ranking: panels by row of instances and by
---loss.
function M.bounded_losses(rows, bound, options)
  local panels = M.panels(rows, { x = "unbounded loss", y = "bounded loss", mark = options.mark },
    function(base, instance)
      local best, worst = M.ends(base, instance)
      local x = M.range(best, worst, options.points or 2)
      return x, M.bounded(bound, base, instance, x)
    end)
  return M.facets(panels, options.title)
end

---Arranges panels in three columns, one for each loss.
function M.facets(panels, title)
  return mr.plot.facets{ columns = 3, title = title, width = 1000, height = #panels > 3 and 660 or 340,
    table.unpack(panels) }
end

---Calls `visit(base, instance)` for every loss `base` and every instance. An instance that is in several rows is
---visited once per loss.
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

---The slope of a bound: the change of the bounded loss divided by the change of the unbounded loss, from the worst to
---the best ranking of an instance.
function M.slope(bound, base, instance)
  local best, worst = M.ends(base, instance)
  local bounded = M.bounded(bound, base, instance, { best, worst })
  return (bounded[2] - bounded[1]) / (worst - best)
end

---For each loss, the largest slope that a bound has among a row's instances divided by the smallest, as text.
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

---A table of every loss and instance: the loss of its best and worst ranking, unbounded and bounded, and the slope
---between them.
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

---Marks a title if the data are made up.
function M.title(args, title)
  if not rawget(args, "made_up") then return title end
  return title and title .. ", made-up data" or "Made-up data"
end

---The name of a data set as it is used within a sentence, e.g. "the MSLR slice".
function M.said(title) return title:find "slice$" and "the " .. title or title end

---The median of numbers; nil if there are none.
---@param values number[]
---@return number?
function M.median(values)
  if #values == 0 then return nil end
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return (sorted[(#sorted + 1) // 2] + sorted[#sorted // 2 + 1]) / 2
end

---A number and its verb, as text: "none is", "1 is", "3 are".
function M.count(n) return n == 0 and "none is" or n == 1 and "1 is" or ("%d are"):format(n) end

---A table for `M.finish` with a caption ("" for the only table of a section) and, in `cells`, the intervals of its
---cells.
---@param caption string
---@param one mr.Table
---@param cells? scripts.Cells  intervals and numbers of runs of the cells (../intervals.lua)
---@return table
function M.named(caption, one, cells) return { caption = caption, table = one, cells = cells } end

local made_up = "Made-up data, to see that the script runs (--smoke): none of the numbers is a result."

-- Splits the tables given to `M.finish` into three arrays: tables, captions ("" for none), and intervals of their
-- cells.
local function apart(given)
  local tables, captions, cells = {}, {}, {}
  for i, each in ipairs(given) do
    local named = rawget(each, "table")
    tables[i], captions[i], cells[i] = named or each, named and each.caption or "", named and each.cells or {}
  end
  return tables, captions, cells
end

---Prints a script's tables (plain, or made by `M.named`) and its text, and saves the figure if there is one. Shows the
---figure with --show. Returns tables, text and figure as a section of the report.
---@return { figure: string?, text: string, tables: mr.Table[], captions: string[], cells: scripts.Cells[] }
function M.finish(args, fig, caption, ...)
  local tables, captions, cells = apart{ ... }
  if rawget(args, "made_up") then
    caption = made_up .. "\n" .. caption
  end
  for i, each in ipairs(tables) do
    local own = captions[i] ~= "" and captions[i] .. "\n" or ""
    print((rawget(args, "made_up") and made_up .. "\n" or "") .. own .. tostring(each) .. "\n")
  end
  print(caption)
  if fig then
    core.make_folder(args.out)
    fig:save(args.out)
    print("Saved as " .. args.out)
    if args.show then fig:show() end
  end
  return { figure = fig and args.out, text = caption, tables = tables, captions = captions, cells = cells,
    studies = rawget(args, "studies") }
end

return M
