-- Builds figures of parallel coordinates: an axis with its own scale for each coordinate, and a line for each row of
-- the data, coloured by a number.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local grids = require "moonrank.plot.grids"
local layout = require "moonrank.plot.layout"
local marks = require "moonrank.plot.marks"
local scale = require "moonrank.plot.scale"
local series = require "moonrank.plot.series"
local text = require "moonrank.plot.text"

local M = {}

local where = "mr.plot.parallel"
local below = -0.1  -- height at which a line passes an axis on which it has no value (the axis runs from 0 to 1)

local coordinate_options = declare("mr.plot.Coordinate", {
  { "name", "string|number", shown = "its number", help = "name of the axis" },
  { "values", "(number|string)[]|mr.Tensor", required = true,
    expected = "a table of numbers or of texts, or a tensor, with a value for each line",
    help = "value of each line; NaN if it does not apply: the line passes below, and ends before the last axis" },
  { "log", "boolean", default = false, help = "whether the axis is logarithmic" },
  scale.range_row("range", "that of the values", "value"),
  { "ticks", "number[]|mr.Tensor", shown = "round numbers", help = "values that are marked" },
})

local parallel_options = declare("mr.plot.Parallel", {
  "Data",
  { "axes", "mr.plot.Coordinate[]", required = true, some = "{name = ..., values = ...}",
    expected = "a table of axes, {{name = ..., values = ...}, ...}",
    help = "axes from left to right" },
  { "color", "number[]|mr.Tensor", required = true,
    expected = "a table of numbers or a tensor, with a number for each line", help = "one for each line" },
  { "groups", "string[]", expected = "a table of texts, one for each line",
    help = 'group of each line: lines of the group "" have colours, other groups a look of their own in the legend' },
  "Colours",
  { "direction", "string", default = "maximize", choices = { "maximize", "minimize" }, formerly = "minimize",
    renamed = 2, meant = { [true] = "minimize", [false] = "maximize" },
    help = "whether higher or lower numbers are better: the best lines are the darkest ones, on top of others" },
  { "zlabel", "string|number", help = "label of the colours" },
  scale.range_row("zrange", "that of the colours", "number of the colours"),
}, marks.page)

-- Colours and dash patterns for groups of lines that are not coloured by a number. The largest group gets the first
-- entry, which is the faintest.
local looks = { { "#C8C8C8", "1" }, { "#C0392B", "(3,4)" }, { "#777777", "(8,3)" }, { "#C0392B", "(9,4)" } }

---Returns a name without its middle, where "…" is put, so that the name is at most `pixels` wide. A
---name that fits is returned whole, and at least two characters remain.
---@param size number    of the font, in pixels
---Example: `require("moonrank.plot.parallel").cut("smooth_rank_direct", 11, 80)   --> smooth…irect`
function M.cut(words, size, pixels)
  words = words:gsub("\n", " ")
  local length = utf8.len(words)
  local kept = length
  local function part(from, to)
    return from > to and "" or words:sub(utf8.offset(words, from), utf8.offset(words, to + 1) - 1)
  end
  local shown = words
  while kept > 2 and text.width(shown, size) > pixels do
    kept = kept - 1
    local head = (kept + 1) // 2
    shown = part(1, head) .. "…" .. part(length - (kept - head) + 1, length)
  end
  return shown
end

-- Shortens names to at most `pixels` each; returns them unchanged if two would become equal.
local function cut_all(names, size, pixels)
  local shown, seen = {}, {}
  for i, name in ipairs(names) do
    shown[i] = M.cut(name, size, pixels)
    if seen[shown[i]] then return names end
    seen[shown[i]] = true
  end
  return shown
end

local function number_axis(who, each, values)
  local it = scale.axis(where,
    { name = who, argument = "values of " .. who, log = each.log, range = each.range, values = values, pad = 0 })
  it.whole = it.whole and not each.log
  if each.ticks then it.levels = series.numbers(where, "ticks of " .. who, each.ticks) end
  return it
end

-- Returns axis i, and where each line crosses it: from 0 to 1, or false for a line without a value.
local function read_axis(given, i)
  local each = coordinate_options:read(("%s (axis %d)"):format(where, i), given)
  local who = each.name ~= nil and ("axis '%s'"):format(tostring(each.name)) or "axis " .. i
  if type(each.values) == "userdata" then each.values = series.numbers(where, "values of " .. who, each.values) end
  check.expect(type(each.values) == "table", where, "values of " .. who, each.values,
    "a table of numbers or of texts, or a tensor")
  check.not_empty(where, "values of " .. who, each.values, "number or text")
  local names, numbers, found = {}, {}, {}
  for k, value in ipairs(each.values) do
    if type(value) == "string" then names[value] = true
    elseif type(value) ~= "number" then
      check.expect(false, where, ("value %d of %s"):format(k, who), value, "a number or a text")
    elseif scale.finite(value) then numbers[#numbers + 1] = value
    end
  end
  local words = check.names(names)
  check.expect(#words == 0 or #numbers == 0, where, "values of " .. who, each.values, "only numbers or only texts")
  local it
  if #words > 0 then
    it = { lo = 1, hi = #words, log = false, categories = words }
    if #words == 1 then it.lo, it.hi = 0, 2 end
    for k, word in ipairs(words) do names[word] = k end
  else
    it = number_axis(who, each, numbers)
  end
  it.label = each.name ~= nil and tostring(each.name) or tostring(i)
  for k, value in ipairs(each.values) do
    local at = names[value] or value
    found[k] = scale.shows(it, at) and scale.position(it, at) or false
  end
  return it, found
end

-- Returns lines as rows {axis, height, colour}. A line without a value on the last axis ends before it.
local function rows_of(lines, positions, colors)
  local rows = {}
  for _, k in ipairs(lines) do
    if #rows > 0 then rows[#rows + 1] = false end
    for c, found in ipairs(positions) do
      if found[k] or c < #positions then rows[#rows + 1] = { c, found[k] or below, colors and colors[k] } end
    end
  end
  return rows
end

-- Returns the width of lines in a figure with `count` lines: the more lines, the thinner.
local function width_of(count) return count <= 30 and 2 or count <= 300 and 1.2 or count <= 2000 and 0.7 or 0.4 end

local function add_layers(panel, o, positions, colors)
  local colored, groups = {}, {}
  for k = 1, #positions[1] do
    local name = o.groups and o.groups[k] or ""
    if name == "" and scale.finite(colors[k]) then
      colored[#colored + 1] = k
    else
      name = name == "" and "no " .. (o.zlabel or "value") or name
      groups[name] = groups[name] or {}
      table.insert(groups[name], k)
    end
  end
  check.not_empty(where, "the list of lines without a group whose color is not NaN or infinite", colored, "line")
  local names = check.names(groups)
  table.sort(names, function(a, b)
    if #groups[a] ~= #groups[b] then return #groups[a] > #groups[b] end
    return a < b
  end)
  for i, name in ipairs(names) do
    local look = looks[(i - 1) % #looks + 1]
    local entry = { name = name, rgb = look[1], dash = look[2], mark = "line" }
    panel.entries[i] = entry
    panel.layers[#panel.layers + 1] = { rows = rows_of(groups[name], positions), using = "1:2", text = "lines",
      entry = entry, with = ("lines lw %g lc rgb '%s' dt %s"):format(width_of(#positions[1]), look[1], look[2]) }
  end
  local sign = o.direction == "minimize" and -1 or 1
  table.sort(colored, function(a, b)
    if colors[a] ~= colors[b] then return sign * colors[a] < sign * colors[b] end
    return a < b
  end)
  local best = math.max(1, #colored // 10)
  for part, width in ipairs{ width_of(#colored), math.max(1.2, width_of(#colored)) } do
    local first, last = part == 1 and 1 or #colored - best + 1, part == 1 and #colored - best or #colored
    local lines = table.move(colored, first, last, 1, {})
    panel.layers[#panel.layers + 1] = { rows = rows_of(lines, positions, colors), using = "1:2:3", text = "lines",
      with = ("lines lw %g lc palette"):format(width) }
  end
  return colored
end

-- Returns the ticks of an axis of `pixels` length, from 0 to 1, without ticks too near to the one before.
local function ticks_of(it, pixels)
  local ticks = {}
  if it.levels then
    for i, level in ipairs(it.levels) do ticks[i] = { at = level, text = ("%.6g"):format(level) } end
  else
    ticks = scale.ticks(it, math.max(2, pixels // 45))
  end
  local every = it.categories and math.max(1, math.ceil(layout.small_line * #ticks / pixels)) or 1
  local shown, last = {}, nil
  for i, tick in ipairs(ticks) do
    local at = scale.position(it, tick.at)
    if (i - 1) % every == 0 and at >= -1e-9 and at <= 1 + 1e-9
      and (not last or (at - last) * pixels >= layout.small_line - 1) then
      shown[#shown + 1], last = { at = at, text = tick.text }, at
    end
  end
  return shown
end

-- Draws the axes on top of the lines, with tick labels on a white background.
local function draw_axes(page, panel, box)
  page.add("set style textbox opaque margins 0.4,0.2 fillcolor rgb '#FFFFFF' noborder")
  local function y_at(at) return box.y + box.h * (1 - scale.position(panel.y, at)) end
  local room = box.w / (panel.x.hi - panel.x.lo) * 0.72
  for c, it in ipairs(panel.coordinates) do
    local x = box.x + box.w * scale.position(panel.x, c)
    local function words(at, shown)
      page.add("set arrow from %s to %s nohead lw 1 lc rgb '#333333' front", page.at(x - 4, y_at(at)),
        page.at(x, y_at(at)))
      page.add("set label %s at %s right font 'sans,%d' tc rgb '#222222' front boxed", text.quote_line(shown),
        page.at(x - 7, y_at(at)), layout.small_font)
    end
    page.add("set arrow from %s to %s nohead lw 1.2 lc rgb '#333333' front", page.at(x, y_at(0)), page.at(x, y_at(1)))
    local ticks, names = ticks_of(it, box.h / (panel.y.hi - panel.y.lo)), {}
    for i, tick in ipairs(ticks) do names[i] = tick.text end
    for i, name in ipairs(cut_all(names, layout.small_font, room)) do words(ticks[i].at, name) end
    if it.gaps then words(below, "none") end
  end
end

local function check_lengths(o, positions)
  for i, found in ipairs(positions) do
    check.length(where, ("values of axis %d"):format(i), #found, #positions[1], "as axis 1 has")
  end
  for _, name in ipairs{ "color", "groups" } do
    if o[name] then check.length(where, name, #o[name], #positions[1], "one for each line") end
  end
end

---Builds the panel of parallel coordinates. Returns the panel and the checked options.
function M.parallel(given)
  local o = parallel_options:read(where, given)
  o.width = o.width or math.max(640, math.min(10000, 120 * #o.axes + 120))
  local panel = marks.panel(where, "parallel", o)
  local positions = {}
  panel.coordinates = {}
  for i, each in ipairs(o.axes) do panel.coordinates[i], positions[i] = read_axis(each, i) end
  local colors = series.numbers(where, "color", o.color)
  check_lengths(o, positions)
  local colored = add_layers(panel, o, positions, colors)
  local shown, gaps, names = {}, false, {}
  for i, k in ipairs(colored) do shown[i] = colors[k] end
  for c, it in ipairs(panel.coordinates) do
    names[c] = it.label
    for _, at in ipairs(c < #positions and positions[c] or {}) do it.gaps = it.gaps or at == false end
    gaps = gaps or it.gaps
  end
  panel.x = { lo = 0.35, hi = #names + 0.12, log = false, categories = names }
  panel.y = { lo = gaps and below - 0.06 or -0.05, hi = 1.05, log = false, categories = {} }
  panel.z = scale.axis(where, { name = "z", argument = "color", range = o.zrange, values = shown, pad = 0 })
  panel.z.label, panel.palette = o.zlabel, {}
  -- the best lines get the dark end of the palette, because dark lines are seen best on white
  for i, rgb in ipairs(grids.viridis) do
    panel.palette[o.direction == "minimize" and i or #grids.viridis - i + 1] = rgb
  end
  if #panel.entries > 0 and panel.legend == "auto" then panel.legend = "legend" end
  panel.over, panel.count = draw_axes, #positions[1]
  return panel, o
end

return M
