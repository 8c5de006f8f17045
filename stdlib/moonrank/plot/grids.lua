-- Builds figures over categories: bars, intervals and heat maps.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local marks = require "moonrank.plot.marks"
local scale = require "moonrank.plot.scale"
local series = require "moonrank.plot.series"
local text = require "moonrank.plot.text"

local M = {}

-- Options that one series of a bar chart, or of points with intervals, has.
local values_options = declare("mr.plot.Values", {
  "Series",
  { "values", "number[]|mr.Tensor", help = "one number per category; NaN leaves a place empty" },
  { "low", "number[]|mr.Tensor", requires = "high",
    help = "lower ends of intervals with caps, such as those of means" },
  { "high", "number[]|mr.Tensor", requires = "low", help = "upper ends of intervals with caps" },
}, series.look)

local bar_series = declare("mr.plot.Bar", {
  "Series",
  { "errors", "number[]|mr.Tensor", excludes = { low = true, high = true },
    help = "half the lengths of symmetric intervals, instead of low and high" },
}, values_options)

local interval_series = declare("mr.plot.Interval", {
  "Series",
  { "wide_low", "number[]|mr.Tensor", requires = "wide_high",
    help = "lower ends of long intervals without caps, as of single runs" },
  { "wide_high", "number[]|mr.Tensor", requires = "wide_low", help = "upper ends of long intervals without caps" },
}, values_options)

local expected_names = "a table of names or numbers, or a tensor"
local expected_matrix = "a table of rows of numbers, such as {{1, 2}, {3, 4}}, or a matrix"

-- Options that bar charts and figures of intervals share: the categories and their direction.
local category_options = declare("mr.plot.Categories", {
  "Data",
  { "categories", "(string|number)[]|mr.Tensor", required = true, expected = expected_names,
    help = "names of the groups" },
  { "horizontal", "boolean", default = false, help = "whether values are on the x axis" },
})

local bars_options = declare("mr.plot.Bars", {
  "Data",
  series.row "mr.plot.Bar",
  { "labels", "boolean|string", default = false,
    help = "the value at the end of each bar: true, or a format such as \"%.2f\"" },
}, category_options, bar_series, marks.scales, marks.common)

local intervals_options = declare("mr.plot.Intervals", {
  "Data",
  series.row "mr.plot.Interval",
  scale.range_row("range", "that of the data", "value"),
}, category_options, interval_series, marks.common)

local heatmap_options = declare("mr.plot.Heatmap", {
  "Data",
  { "values", "number[][]|mr.Tensor", required = true,
    expected = expected_matrix, help = "rows of numbers" },
  { "x", "(string|number)[]|mr.Tensor", shown = "1, 2, ...", help = "names of the columns" },
  { "y", "(string|number)[]|mr.Tensor", shown = "1, 2, ...",
    help = "names of the rows: numbers ascend upwards, words go downwards" },
  { "labels", "boolean|string|string[][]", help = "true: the numbers in the cells; a text: their format, as \"%.2f\"; "
      .. "or rows of words, which stand in cells without a number, too" },
  "Colours",
  { "zlabel", "string|number", help = "label of the colours" },
  scale.range_row("zrange", "that of the data", "number of the colours"),
  { "diverging", "boolean", default = false, help = "two colours around 0, if values lie on both sides of it" },
}, marks.common)

local function names_of(where, name, list)
  if type(list) == "userdata" then list = series.numbers(where, name, list) end
  check.expect(type(list) == "table", where, name, list, expected_names)
  check.not_empty(where, name, list, "name")
  local names = {}
  for i, each in ipairs(list) do
    names[i] = math.type(each) == "float" and ("%.4g"):format(each) or tostring(each)
  end
  return names
end

local function category_axis(names, label, down)
  return { lo = 0.5, hi = #names + 0.5, log = false, categories = names, label = label, down = down }
end

-- Names of the options for the lower and the upper ends of a series' intervals: first those of the short intervals,
-- then those of the wide ones. A figure may draw both kinds of intervals at each value.
local ends = { { "low", "high" }, { "wide_low", "wide_high" } }

local function check_interval(where, one, who, low, high)
  for c, from in ipairs(one[low] or {}) do
    local to = one[high][c]
    if from > to then
      check.expect(false, where, ("%s[%d] of %s"):format(low, c, who), from, "at most %s[%d], which is %g", high, c, to)
    end
  end
end

-- Reads the series of bars or of intervals. The option `errors` is converted to `low` and `high`.
local function read_series(where, o, declaration)
  o.categories = names_of(where, "categories", o.categories)
  local list = {}
  for i, each in ipairs(series.list(where, o, declaration)) do
    local one, who = series.one(where, each, i, declaration)
    check.expect(one.values, where, "values of " .. who, nil, "a table of numbers or a tensor")
    for _, field in ipairs{ "values", "errors", "low", "high", "wide_low", "wide_high" } do
      local values = one[field] ~= nil and series.numbers(where, field .. " of " .. who, one[field]) or nil
      if values then check.length(where, field .. " of " .. who, #values, #o.categories, "one for each category") end
      one[field] = values
    end
    for _, names in ipairs(ends) do check_interval(where, one, who, names[1], names[2]) end
    if one.errors then
      one.low, one.high = {}, {}
      for c, value in ipairs(one.values) do one.low[c], one.high[c] = value - one.errors[c], value + one.errors[c] end
    end
    list[i] = one
  end
  return list
end

-- Sets the two axes of a panel: one of categories, and one of numbers that covers the values in `extent`.
local function set_axes(panel, o, axis, extent)
  local flip = o.horizontal
  axis.name, axis.values, axis.pad = flip and "x" or "y", extent, axis.pad or 0.05
  axis.argument = "values and intervals"
  axis.label = o[axis.name .. "label"]
  local values = scale.axis(panel.where, axis)
  local groups = category_axis(o.categories, o[flip and "ylabel" or "xlabel"], flip)
  panel.x, panel.y = flip and values or groups, flip and groups or values
  return values, groups
end

local function has_interval(one, i) return one.low and scale.finite(one.low[i]) and scale.finite(one.high[i]) end

-- Returns what the axis of a bar chart must cover: 0, unless it is logarithmic, and all bars and error bars.
local function bars_extent(list, log)
  local all = log and {} or { 0 }
  for _, one in ipairs(list) do
    for i, value in ipairs(one.values) do
      all[#all + 1] = value
      if has_interval(one, i) then all[#all + 1], all[#all + 2] = one.low[i], one.high[i] end
    end
  end
  return all
end

local function add_segment(rows, from, to)
  if #rows > 0 then rows[#rows + 1] = false end
  rows[#rows + 1], rows[#rows + 2] = from, to
end

-- Adds an error bar: a line between two values at the position `center`, with a cap at both ends.
local function add_error(rows, center, cap, from, to)
  add_segment(rows, { center, from }, { center, to })
  add_segment(rows, { center - cap, from }, { center + cap, from })
  add_segment(rows, { center - cap, to }, { center + cap, to })
end

-- Adds the text of a value at the end of a bar, or of its error bar. `center` is the bar's place among the categories.
local function add_label(panel, center, value, stop, flip)
  local side = flip and (value < 0 and "left" or "right") or (value < 0 and "below" or "above")
  panel.cells[#panel.cells + 1] =
    { x = flip and stop or center, y = flip and center or stop, text = panel.label_of(value), side = side }
end

-- Adds series k of `count` series to a bar chart: its bars as boxes {x, y, xlow, xhigh, ylow, yhigh}, its error bars
-- and labels.
local function add_bars(panel, one, k, count, flip)
  local width, axis = 0.8 / count, flip and panel.x or panel.y
  local base = axis.log and axis.lo or 0
  local boxes, errors = {}, {}
  for i, value in ipairs(one.values) do
    if scale.shows(axis, value) then
      local center = i - 0.4 + (k - 0.5) * width
      local lo, hi = center - width * 0.46, center + width * 0.46
      local from, to = math.min(base, value), math.max(base, value)
      boxes[#boxes + 1] = flip and { value, center, from, to, lo, hi } or { center, value, lo, hi, from, to }
      local stop = value
      if has_interval(one, i) then
        local low = axis.log and math.max(one.low[i], axis.lo) or one.low[i]
        add_error(errors, center, math.min(width * 0.15, 0.04), low, one.high[i])
        stop = value < 0 and math.min(value, low) or math.max(value, one.high[i])
      end
      if panel.label_of then add_label(panel, center, value, stop, flip) end
    end
  end
  local entry = { name = one.name, rgb = one.rgb, mark = "box" }
  panel.layers[#panel.layers + 1] = { rows = boxes, using = "1:2:3:4:5:6", entry = entry, text = "boxxyerror",
    with = ("boxxyerror lc rgb '%s' fs solid 1.0 noborder"):format(one.rgb) }
  panel.layers[#panel.layers + 1] = { rows = errors, using = flip and "2:1" or "1:2",
    with = "lines lw 1.2 lc rgb '#222222'" }
  panel.entries[#panel.entries + 1] = entry
end

-- Draws a line at zero if the axis of numbers reaches below zero.
local function add_zero(panel, axis, groups, flip)
  if axis.log or axis.lo >= 0 then return end
  panel.layers[#panel.layers + 1] = { rows = { { groups.lo, 0 }, { groups.hi, 0 } }, using = flip and "2:1" or "1:2",
    with = "lines lw 1 lc rgb '#555555'" }
end

---Builds the panel of a bar chart. Returns the panel and the checked options.
function M.bars(given)
  local where = "mr.plot.bars"
  local o = bars_options:read(where, given)
  local flip = o.horizontal
  for _, name in ipairs(flip and { "ylog", "yrange" } or { "xlog", "xrange" }) do
    check.leave_out(where, name, o[name] or nil, "the %s axis shows categories", name:sub(1, 1))
  end
  local panel, list = marks.panel(where, "bars", o), read_series(where, o, bar_series)
  local log = o[flip and "xlog" or "ylog"]
  local axis = { log = log, range = o[flip and "xrange" or "yrange"] }
  if o.labels then
    -- the axis gets more empty space at its ends, so that labels fit beyond the longest bars
    panel.label_of, panel.cells, axis.pad = text.number_format(where, o.labels), {}, flip and 0.15 or 0.1
  end
  local values, groups = set_axes(panel, o, axis, bars_extent(list, log))
  for k, one in ipairs(list) do add_bars(panel, one, k, #list, flip) end
  add_zero(panel, values, groups, flip)
  return panel, o
end

-- Adds series k of `count` series: points, short intervals with caps, and wide intervals without caps.
local function add_intervals(panel, one, k, count, flip)
  local width, axis = 0.8 / count, flip and panel.x or panel.y
  local points, near, wide = {}, {}, {}
  local cap = math.min(width * 0.3, 0.09)
  for i, value in ipairs(one.values) do
    local center = i - 0.4 + (k - 0.5) * width
    local function both(low, high) return low and scale.shows(axis, low[i]) and scale.shows(axis, high[i]) end
    if scale.shows(axis, value) then points[#points + 1] = { center, value } end
    if both(one.low, one.high) then add_error(near, center, cap, one.low[i], one.high[i]) end
    if both(one.wide_low, one.wide_high) then
      add_segment(wide, { center, one.wide_low[i] }, { center, one.wide_high[i] })
    end
  end
  local using, shape = flip and "2:1" or "1:2", marks.shapes[(k - 1) % #marks.shapes + 1]
  local entry = { name = one.name, rgb = one.rgb, shape = shape, mark = "point" }
  local function add(rows, mark, look)
    panel.layers[#panel.layers + 1] = { rows = rows, using = using, entry = rows == points and entry or nil,
      text = mark, with = ("%s %s lc rgb '%s'"):format(mark, look, one.rgb) }
  end
  add(wide, "lines", "lw 1.3")
  add(near, "lines", "lw 2.2")
  add(points, "points", ("pt %d ps 0.8"):format(shape))
  panel.entries[#panel.entries + 1] = entry
end

---Builds the panel of points with intervals. Returns the panel and the checked options.
function M.intervals(given)
  local where = "mr.plot.intervals"
  local o = intervals_options:read(where, given)
  local panel, list = marks.panel(where, "intervals", o), read_series(where, o, interval_series)
  local extent = marks.gather(list, { "values", "low", "high", "wide_low", "wide_high" })
  local values, groups = set_axes(panel, o, { range = o.range }, extent)
  add_zero(panel, values, groups, o.horizontal)
  for k, one in ipairs(list) do add_intervals(panel, one, k, #list, o.horizontal) end
  return panel, o
end

local viridis = { "#440154", "#472D7B", "#3B528B", "#2C728E", "#21918C", "#28AE80", "#5EC962", "#ADDC30", "#FDE725" }
M.viridis = viridis
local blue_red = { "#2166AC", "#67A9CF", "#D1E5F0", "#F7F7F7", "#FDDBC7", "#EF8A62", "#B2182B" }

local function channels(hex)
  return tonumber(hex:sub(2, 3), 16), tonumber(hex:sub(4, 5), 16), tonumber(hex:sub(6, 7), 16)
end

-- True if letters on a colour, given as a share of the palette, must be white (luma of Rec. 601).
local function is_dark(palette, share)
  local at = math.max(0, math.min(1, share)) * (#palette - 1)
  local i = math.min(math.floor(at), #palette - 2)
  local part = at - i
  local r1, g1, b1 = channels(palette[i + 1])
  local r2, g2, b2 = channels(palette[i + 2])
  local function mix(a, b) return a + (b - a) * part end
  return 0.299 * mix(r1, r2) + 0.587 * mix(g1, g2) + 0.114 * mix(b1, b2) < 140
end

local function rows_of(where, values)
  if series.is_tensor(where, "values", values, 2) then
    local flat, rows = core.numbers(values), {}
    local columns = #values > 0 and #flat // #values or 0
    for r = 1, #values do rows[r] = table.move(flat, (r - 1) * columns + 1, r * columns, 1, {}) end
    values = rows
  end
  check.expect(type(values) == "table", where, "values", values, expected_matrix)
  local rows = {}
  for r, row in ipairs(values) do
    local name = ("row %d of values"):format(r)
    rows[r] = series.numbers(where, name, row)
    check.length(where, name, #rows[r], #rows[1], "as row 1 has")
  end
  check.not_empty(where, "values", rows[1] or rows, "number")
  return rows
end

-- Returns the range of a heat map's colours, which is centred at 0 for a diverging palette with both signs.
local function color_range(where, rows, diverging, given)
  local all = {}
  for _, row in ipairs(rows) do table.move(row, 1, #row, #all + 1, all) end
  local z = scale.axis(where, { name = "z", argument = "values", range = given, values = all, pad = 0 })
  if not given and diverging and z.lo < 0 and z.hi > 0 then
    local most = math.max(-z.lo, z.hi)
    z.lo, z.hi = -most, most
  end
  return z
end

-- Returns an axis of a heat map. On the y axis, numbers ascend upwards, but names are read from top to bottom.
local function grid_axis(where, name, names, count, label, down)
  check.expect(names == nil or type(names) == "table" or check.is_tensor(names), where, name, names, expected_names)
  local numeric = names == nil or type(names) == "userdata" or math.type(names[1]) ~= nil
  local list = {}
  for i = 1, count do list[i] = tostring(i) end
  if names ~= nil then list = names_of(where, name, names) end
  check.length(where, name, #list, count, ("one for each %s of values"):format(name == "x" and "column" or "row"))
  local axis = category_axis(list, label, down and not numeric)
  axis.numeric = numeric
  return axis
end

-- Returns a function that gives the text in a cell of a heat map: the cell's number, or the script's own text. Without
-- the option `labels`, only heat maps in the terminal show the numbers, because they have no colours.
local function label_of(where, labels, rows)
  if type(labels) == "table" then
    check.length(where, "labels", #labels, #rows, "one for each row")
    for r, row in ipairs(rows) do
      local name = ("labels[%d]"):format(r)
      check.expect(type(labels[r]) == "table", where, name, labels[r], "a table of texts")
      check.length(where, name, #labels[r], #row, "one for each cell of the row")
    end
    return function(r, c) return tostring(labels[r][c]) end
  end
  local written = text.number_format(where, labels)
  return function(_, _, value) return scale.finite(value) and written(value) or "" end
end

---Builds the panel of a heat map. Returns the panel and the checked options.
function M.heatmap(given)
  local where = "mr.plot.heatmap"
  local o = heatmap_options:read(where, given)
  local panel = marks.panel(where, "heatmap", o)
  local rows = rows_of(where, o.values)
  panel.x = grid_axis(where, "x", o.x, #rows[1], o.xlabel, false)
  panel.y = grid_axis(where, "y", o.y, #rows, o.ylabel, true)
  panel.z = color_range(where, rows, o.diverging, o.zrange)
  panel.z.label = o.zlabel
  panel.palette = o.diverging and panel.z.lo == -panel.z.hi and blue_red or viridis
  local label = label_of(where, o.labels, rows)
  local boxes, cells = {}, {}
  for r, row in ipairs(rows) do
    for c, value in ipairs(row) do
      local finite, words = scale.finite(value), label(r, c, value)
      if finite then boxes[#boxes + 1] = { c, r, c - 0.5, c + 0.5, r - 0.5, r + 0.5, value } end
      if words ~= "" then
        local dark = finite and is_dark(panel.palette, scale.position(panel.z, value))
        cells[#cells + 1] = { x = c, y = r, text = words, dark = dark }
      end
    end
  end
  panel.cells, panel.cell_labels = cells, o.labels and #cells > 0 or false
  panel.layers[1] = { rows = boxes, using = "1:2:3:4:5:6:7", cells = true, with = "boxxyerror lc palette fs solid 1.0" }
  return panel, o
end

return M
