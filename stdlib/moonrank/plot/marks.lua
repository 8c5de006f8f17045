-- Builds figures over two axes of numbers: lines, scatter plots and distribution functions.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local scale = require "moonrank.plot.scale"
local series = require "moonrank.plot.series"

local M = {}

---Declares the options that every figure has.
M.page = declare("mr.plot.Page", {
  "Page",
  { "title", "string|number",
    help = "title. All text is drawn verbatim; line breaks stay in titles, captions and categories, and are spaces in "
      .. "other text" },
  { "caption", "string|number", help = "text set small below the figure" },
  { "legend", "string", default = "auto", choices = { "auto", "labels", "legend", "none" },
    help = "labels: names at the ends of lines; auto: labels where they do not overlap, else a legend, of facets one "
      .. "for all where their series are the same" },
  { "width", "number", least = 120, most = 10000, shown = "640, or more for many axes or panels",
    help = "width in pixels, 1/96 inch each in a PDF" },
  { "height", "number", least = 120, most = 10000, shown = "420, or by the panels", help = "height in pixels" },
})

---Declares the options of every figure with one panel: labels of the axes, in addition to the
---options that every figure has.
M.common = declare("mr.plot.Common", {
  "Page",
  { "xlabel", "string|number", help = "label of the x axis" },
  { "ylabel", "string|number", help = "label of the y axis" },
}, M.page)

---Declares the options of figures whose axes have numbers: their ranges, and whether they are logarithmic.
M.scales = declare("mr.plot.Scales", {
  "Axes",
  { "xlog", "boolean", default = false, help = "whether the x axis is logarithmic" },
  { "ylog", "boolean", default = false, help = "whether the y axis is logarithmic" },
  scale.range_row("xrange", "that of the data", "x"),
  scale.range_row("yrange", "that of the data", "y"),
})

-- Declares the elements of `vlines` and `hlines`: reference lines, each a number or {number, "text"}.
local each_line = { "number|table", expected = 'a number from -1e150 to 1e150 or {number, "text"}',
  accept = function(line)
    local at = type(line) == "table" and line[1] or line
    return math.type(at) and scale.fits(at)
  end }

local axes = declare("mr.plot.Axes", {
  "Axes",
  { "vlines", "(number|{ [1]: number, [2]: string })[]", default = {}, shown = "none", each = each_line,
    help = "vertical reference lines, with words: {0, {3, \"three\"}}" },
  { "hlines", "(number|{ [1]: number, [2]: string })[]", default = {}, shown = "none", each = each_line,
    help = "horizontal reference lines, with words" },
  { "shade", "mr.plot.Region[]", default = {}, shown = "none", each = { "table" },
    help = "regions of x that are shaded" },
}, M.scales, M.common)

local region_options = declare("mr.plot.Region", {
  { "from", "number", required = true, infinite = true, help = "lowest x" },
  { "to", "number", required = true, infinite = true, help = "highest x" },
  { "name", "string|number", help = "words above the region" },
})

local lines_options = declare("mr.plot.Lines", {
  "Data",
  series.row "mr.plot.Line",
  { "points", "mr.plot.Series", help = "small grey points behind the lines, such as those that a curve was fitted to" },
}, series.line_options, axes)

local scatter_series = declare("mr.plot.ScatterSeries", {
  "Series",
  { "size", "number", above = 0, shown = "that of the figure", help = "size of the points" },
}, series.points_options)

local scatter_options = declare("mr.plot.Scatter", {
  "Data",
  series.row "mr.plot.ScatterSeries",
  { "size", "number", default = 0.7, above = 0, help = "size of the points" },
  { "diagonal", "boolean", default = false, help = "draw the line y = x" },
}, series.points_options, axes)

local ecdf_series = declare("mr.plot.EcdfSeries", {
  "Series",
  { "values", "number[]|mr.Tensor", help = "the values; NaN and infinite ones are left out" },
}, series.look, series.style)

local ecdf_options = declare("mr.plot.Ecdf", {
  "Data",
  series.row "mr.plot.EcdfSeries",
}, ecdf_series, axes)

---Returns an empty panel, with the title and legend of the options `o`. It also converts the titles
---and labels in `o` to strings.
---@param kind string   "lines", "bars", ...
---@param o table       checked options of a figure
function M.panel(where, kind, o)
  for _, words in ipairs{ "title", "xlabel", "ylabel", "zlabel", "caption" } do
    if o[words] ~= nil then o[words] = tostring(o[words]) end
  end
  return { where = where, kind = kind, title = o.title, legend = o.legend, layers = {}, entries = {}, marks = {} }
end

-- Reads the reference lines in an option. Each line is given as a number or as {number, "text"}.
local function references(list)
  local found = {}
  for i, each in ipairs(list) do
    local at, text = each, nil
    if type(each) == "table" then at, text = each[1], each[2] end
    found[i] = { at = at, text = text ~= nil and tostring(text) or nil }
  end
  return found
end

local function regions(where, list)
  local found = {}
  for i, each in ipairs(list) do
    local o = region_options:read(where .. " (shade)", each)
    check.expect(o.from < o.to, where, ("shade[%d].from"):format(i), o.from,
      "less than shade[%d].to, which is %s", i, o.to)
    found[i] = { from = o.from, to = o.to, text = o.name ~= nil and tostring(o.name) or nil }
  end
  return found
end

---Returns one array of all numbers in the given fields (such as "y" and "low") of several series.
---@param list table<string, number[]>[]  the series
function M.gather(list, fields)
  local all = {}
  for _, one in ipairs(list) do
    for _, field in ipairs(fields) do
      if one[field] then table.move(one[field], 1, #one[field], #all + 1, all) end
    end
  end
  return all
end

-- Sets the axes of a panel so that they cover the values of its series, `xs` and `ys`, and its reference lines, or the
-- ranges that the script gives. Errors name the values on the x axis `argument`, default "x".
local function add_axes(panel, o, xs, ys, xpad, ypad, argument)
  panel.vlines, panel.hlines = references(o.vlines), references(o.hlines)
  panel.shade = regions(panel.where, o.shade)
  for _, line in ipairs(panel.vlines) do xs[#xs + 1] = line.at end
  for _, line in ipairs(panel.hlines) do ys[#ys + 1] = line.at end
  panel.x = scale.axis(panel.where,
    { name = "x", argument = argument, label = o.xlabel, log = o.xlog, range = o.xrange, values = xs, pad = xpad })
  panel.y = scale.axis(panel.where,
    { name = "y", label = o.ylabel, log = o.ylog, range = o.yrange, values = ys, pad = ypad })
end

-- Returns the points of a series as rows for gnuplot, with false in each gap between points. Also returns the single
-- points between two gaps, which a line would not show, and the last point.
local function rows_of(panel, one, columns)
  local rows, alone, last, run = {}, {}, nil, 0
  local function close()
    if run == 1 then alone[#alone + 1] = rows[#rows] end
    run = 0
  end
  for i = 1, #one.y do
    local row, whole = { one.x[i] }, scale.shows(panel.x, one.x[i])
    for k, column in ipairs(columns) do
      row[k + 1] = column[i]
      whole = whole and scale.shows(panel.y, column[i])
    end
    if whole then
      rows[#rows + 1], run, last = row, run + 1, row
    elseif #rows > 0 and rows[#rows] then
      close()
      rows[#rows + 1] = false
    end
  end
  close()
  if rows[#rows] == false then rows[#rows] = nil end
  return rows, alone, last
end

-- Adds a series to a panel as a line, with a shaded band if the series has one.
local function add_line(panel, one)
  local dash = series.styles[one.style]
  if one.low then
    local rows = rows_of(panel, one, { one.low, one.high })
    panel.layers[#panel.layers + 1] = { rows = rows, using = "1:2:3",
      with = ("filledcurves lc rgb '%s' fs transparent solid 0.18 noborder"):format(one.rgb) }
  end
  local rows, alone, last = rows_of(panel, one, { one.y })
  local entry = { name = one.name, rgb = one.rgb, dash = dash, mark = "line" }
  panel.layers[#panel.layers + 1] = { rows = rows, using = "1:2",
    with = ("lines lw 2 lc rgb '%s' dt %s"):format(one.rgb, dash), text = "lines", entry = entry }
  if #alone > 0 then
    panel.layers[#panel.layers + 1] = { rows = alone, using = "1:2", text = "points",
      with = ("points pt 7 ps 0.6 lc rgb '%s'"):format(one.rgb) }
  end
  panel.entries[#panel.entries + 1] = entry
  entry.last = last
end

local function without_gaps(panel, one)
  local rows = {}
  for i = 1, #one.y do
    if scale.shows(panel.x, one.x[i]) and scale.shows(panel.y, one.y[i]) then
      rows[#rows + 1] = { one.x[i], one.y[i] }
    end
  end
  return rows
end

---Builds the panel of a line figure. Returns the panel and the checked options.
function M.lines(given)
  local where = "mr.plot.lines"
  local o = lines_options:read(where, given)
  local panel, list, cloud = M.panel(where, "lines", o), {}, { x = {}, y = {} }
  if o.points then cloud = series.points(where .. " (points)", o.points, 1, series.points_options) end
  for i, each in ipairs(series.list(where, o, series.line_options)) do
    list[i] = series.points(where, each, i, series.line_options)
  end
  local xs, ys = M.gather(list, { "x" }), M.gather(list, { "y", "low", "high" })
  table.move(cloud.x, 1, #cloud.x, #xs + 1, xs)
  table.move(cloud.y, 1, #cloud.y, #ys + 1, ys)
  add_axes(panel, o, xs, ys, 0, 0.05)
  if #cloud.y > 0 then
    panel.layers[1] = { rows = without_gaps(panel, cloud), using = "1:2",
      with = "points pt 7 ps 0.25 lc rgb '#9A9A9A'" }
  end
  for _, one in ipairs(list) do add_line(panel, one) end
  return panel, o
end

---gnuplot's numbers of the filled circle, triangle, square, diamond and down triangle, and of open
---shapes. Series of points differ by shape as well as by colour.
M.shapes = { 7, 9, 5, 13, 11, 6, 8, 4 }

---Builds the panel of a scatter plot. Returns the panel and the checked options.
function M.scatter(given)
  local where = "mr.plot.scatter"
  local o = scatter_options:read(where, given)
  local panel, list = M.panel(where, "scatter", o), {}
  for i, each in ipairs(series.list(where, o, series.points_options)) do
    list[i] = series.points(where, each, i, scatter_series)
  end
  local xs, ys = M.gather(list, { "x" }), M.gather(list, { "y" })
  if o.diagonal then
    -- unless options set other ranges, both axes get the same range: then the line y = x runs from corner to corner
    table.move(ys, 1, #ys, #xs + 1, xs)
    ys = table.move(xs, 1, #xs, 1, {})
  end
  add_axes(panel, o, xs, ys, 0.04, 0.04, o.diagonal and "x and y" or nil)
  if o.diagonal then
    local lo, hi = math.max(panel.x.lo, panel.y.lo), math.min(panel.x.hi, panel.y.hi)
    if lo < hi then
      panel.layers[1] = { rows = { { lo, lo }, { hi, hi } }, using = "1:2", text = "dots",
        with = "lines lw 1 lc rgb '#888888' dt (6,4)" }
    end
  end
  for i, one in ipairs(list) do
    local shape = M.shapes[(i - 1) % #M.shapes + 1]
    local entry = { name = one.name, rgb = one.rgb, shape = shape, mark = "point" }
    panel.layers[#panel.layers + 1] = { rows = without_gaps(panel, one), using = "1:2", entry = entry, text = "points",
      with = ("points pt %d ps %g lc rgb '%s'"):format(shape, one.size or o.size, one.rgb) }
    panel.entries[#panel.entries + 1] = entry
  end
  return panel, o
end

-- Returns the corner points of an empirical distribution function, from one end of the axis to the other. If there are
-- more than 4000 values, values in the same of 4000 equal parts of the axis are drawn as one step.
local function steps(values, axis)
  local rows, n, seen = { { axis.lo, 0 } }, #values, 0
  local function at(i) return axis.log and math.max(values[i], axis.lo) or values[i] end
  local function bin(i) return n <= 4000 and values[i] or scale.position(axis, at(i)) * 4000 // 1 end
  for i = 1, n do
    if i == n or bin(i) ~= bin(i + 1) then
      rows[#rows + 1] = { at(i), seen / n }
      rows[#rows + 1] = { at(i), i / n }
      seen = i
    end
  end
  rows[#rows + 1] = { math.max(axis.hi, values[n]), 1 }
  return rows
end

---Builds the panel of empirical distribution functions, without NaN and infinite values. A series that has only such
---values is an error. Returns the panel and the checked options.
function M.ecdf(given)
  local where = "mr.plot.ecdf"
  local o = ecdf_options:read(where, given)
  o.ylabel = o.ylabel or "share at most x"
  o.yrange = o.yrange or not o.ylog and { 0, 1.02 } or nil
  local panel, list, all = M.panel(where, "ecdf", o), {}, {}
  for i, each in ipairs(series.list(where, o, ecdf_series)) do
    local one, who = series.one(where, each, i, ecdf_series)
    one.sorted = {}
    for _, v in ipairs(series.numbers(where, "values of " .. who, one.values)) do
      if scale.finite(v) then one.sorted[#one.sorted + 1] = v end
    end
    check.not_empty(where, ("the list of values of %s that are not NaN or infinite"):format(who), one.sorted, "number")
    table.sort(one.sorted)
    table.move(one.sorted, 1, #one.sorted, #all + 1, all)
    list[i] = one
  end
  add_axes(panel, o, all, { 0, 1 }, 0.03, 0, "values")
  for _, one in ipairs(list) do
    one.x, one.y = {}, {}
    for i, row in ipairs(steps(one.sorted, panel.x)) do one.x[i], one.y[i] = row[1], row[2] end
    add_line(panel, one)
  end
  return panel, o
end

return M
