-- Writes a panel of a figure, with one x axis and one y axis, as a gnuplot script. On a page of
-- pixels, Moonrank computes all positions itself. On a page of characters (draw_text), gnuplot chooses the layout.
local layout = require "moonrank.plot.layout"
local scale = require "moonrank.plot.scale"
local text = require "moonrank.plot.text"

local M = {}

local quote, quote_line, number = text.quote, text.quote_line, text.number

---Returns an object that collects the lines of a gnuplot script in its field `lines`, for a page of
---this size. Positions on the page are pixels from its top left corner.
function M.page(width, height)
  local page = { lines = {}, blocks = 0, width = width, height = height }
  function page.add(format, ...) page.lines[#page.lines + 1] = select("#", ...) > 0 and format:format(...) or format end
  function page.at(x, y) return ("screen %.5f, screen %.5f"):format(x / width, 1 - y / height) end
  -- adds a text to the page; y is the height of the text's centre
  function page.words(words, x, y, o)
    page.add("set label %s at %s %s%s font 'sans%s,%d' tc rgb '%s' front", quote_line(words), page.at(x, y),
      o.justify or "left", o.rotate and " rotate" or "", o.bold and ":Bold" or "", o.size or layout.font,
      o.color or "#222222")
  end
  return page
end

local function data_block(page, rows)
  page.blocks = page.blocks + 1
  page.add("$d%d << EOD", page.blocks)
  for _, row in ipairs(rows) do
    if row then
      local cells = {}
      for c, x in ipairs(row) do cells[c] = number(x) end
      page.lines[#page.lines + 1] = table.concat(cells, " ")
    else
      page.lines[#page.lines + 1] = ""
    end
  end
  page.add("EOD")
  return "$d" .. page.blocks
end

-- True if gnuplot would cut a tick's label: one with a percent sign is a format of at most 49 bytes.
local function is_cut(words) return #words > 45 and words:find("%", 1, true) ~= nil end

local function tick_list(ticks)
  local parts = {}
  for i, tick in ipairs(ticks) do
    parts[i] = quote(is_cut(tick.text) and "" or (tick.text:gsub("%%", "%%%%"))) .. " " .. number(tick.at)
  end
  return "(" .. table.concat(parts, ", ") .. ")"
end

-- Draws tick labels that gnuplot would cut as separate texts beside the axis.
local function long_labels(page, name, ticks, turned)
  local where = name == "x" and "first %s, graph 0 %s offset 0,-0.7" or "graph 0, first %s %s offset -1,0"
  local style = (name == "y" or turned) and "right" or "center"
  for _, tick in ipairs(ticks) do
    if is_cut(tick.text) then
      local at = where:format(number(tick.at), style)
      page.add("set label %s at %s%s tc rgb '#222222'", quote(tick.text), at, turned or "")
    end
  end
end

local function axis(page, name, it, ticks, style)
  local lo, hi = it.lo, it.hi
  -- gnuplot drops a tick at the very end of a logarithmic axis, so the axis is made slightly longer
  if it.log then lo, hi = lo * (1 - 1e-6), hi * (1 + 1e-6) end
  page.add("set %srange [%s:%s]", name, number(it.down and hi or lo), number(it.down and lo or hi))
  page.add("%s logscale %s", it.log and "set" or "unset", name)
  -- without ticks, the axis is unset: for an empty list of ticks, (), gnuplot would choose its own ticks
  page.add(#ticks > 0 and "set %stics %s %s" or "unset %stics", name, style, tick_list(ticks))
  long_labels(page, name, ticks, style:match " rotate by %d+")
end

-- Draws the symbol of a series in a legend: a line, point or box.
local function swatch(page, entry, x, y)
  local right = x + layout.swatch
  if entry.mark == "line" then
    page.add("set arrow from %s to %s nohead lw 2 lc rgb '%s' dt %s front", page.at(x, y), page.at(right, y), entry.rgb,
      entry.dash)
  elseif entry.mark == "point" then
    page.add("set label '' at %s point pt %d ps 0.9 lc rgb '%s' front", page.at(x + layout.swatch / 2, y), entry.shape,
      entry.rgb)
  else
    page.add("set object rectangle from %s to %s fc rgb '%s' fs solid 1.0 noborder front", page.at(x + 2, y - 6),
      page.at(right - 8, y + 6), entry.rgb)
  end
end

---Adds the entries of a legend to a page, in rows. The first row begins at (x, y), and a row is at
---most `width` pixels wide.
---@param page table              from `page`
function M.legend(page, entries, x, y, width)
  for _, position in ipairs((layout.legend(entries, x, y, width))) do
    swatch(page, position.entry, position.x, position.y)
    page.words(position.entry.name, position.x + layout.swatch + 6, position.y, {})
  end
end

-- Draws the reference lines of a panel that lie within its axes, as gnuplot arrows without heads.
local function reference_lines(page, panel, look)
  local function draw(lines, it, form)
    for _, line in ipairs(lines or {}) do
      local at = number(line.at)
      if line.at >= it.lo and line.at <= it.hi then page.add(form, at, at, look) end
    end
  end
  draw(panel.vlines, panel.x, "set arrow from first %s, graph 0 to first %s, graph 1 nohead%s")
  draw(panel.hlines, panel.y, "set arrow from graph 0, first %s to graph 1, first %s nohead%s")
end

-- Draws the reference lines and shaded regions of a panel, with their texts above the plot.
local function references(page, panel, box)
  for _, region in ipairs(panel.shade or {}) do
    local from, to = math.max(region.from, panel.x.lo), math.min(region.to, panel.x.hi)
    if from < to then
      page.add("set object rectangle from first %s, graph 0 to first %s, graph 1 fc rgb '#EDEDED' fs solid 1.0 "
        .. "noborder behind", number(from), number(to))
    end
  end
  reference_lines(page, panel, " lw 1.2 lc rgb '#777777' dt (5,4) back")
  for _, item in ipairs((layout.top_labels(panel, box))) do
    page.words(item.text, item.x, box.y - (item.row - 0.5) * layout.small_line,
      { justify = "center", size = layout.small_font, color = "#555555" })
  end
end

-- Draws the colour bar with its numbers to the right of the plot area.
local function color_bar(page, panel, plan, box)
  page.add("set cbtics scale 0.4 %s", tick_list(plan.zticks))
  local x = box.x + box.w + 14
  page.add("set colorbox user origin %s size screen %.5f, screen %.5f noborder", page.at(x, box.y + box.h),
    14 / page.width, box.h / page.height)
  if panel.z.label then
    page.words(panel.z.label, box.x + box.w + plan.own_right - layout.edge - layout.line / 2, box.y + box.h / 2,
      { justify = "center", rotate = true })
  end
end

-- Colour of texts on light cells of a heat map. It is not among the colours that change on dark screens.
local text_on_cells = "#212121"

-- Sets the palette of a panel, and draws its colour bar and the texts in the cells of a heat map.
local function colors(page, panel, plan, box)
  local parts = {}
  for i, rgb in ipairs(panel.palette) do parts[i] = ("%d '%s'"):format(i - 1, rgb) end
  page.add("set palette defined (%s)", table.concat(parts, ", "))
  page.add("set cbrange [%s:%s]", number(panel.z.lo), number(panel.z.hi))
  if plan.zticks then color_bar(page, panel, plan, box) else page.add("unset colorbox") end
  if not panel.cell_labels then return end
  local room, most = box.w / #panel.x.categories, 0
  for _, cell in ipairs(panel.cells) do most = math.max(most, text.width(cell.text, 1)) end
  local size = math.floor(math.min(12, (room - 4) / most, box.h / #panel.y.categories * 0.7))
  for _, cell in ipairs(panel.cells) do
    page.add("set label %s at first %d, first %d center font 'sans,%d' tc rgb '%s' front", quote(cell.text), cell.x,
      cell.y, math.max(size, 5), cell.dark and "#FFFFFF" or text_on_cells)
  end
end

-- gnuplot's words for a text beside the end of a bar; offsets are in characters.
local sides = { left = "right offset -0.5,0", right = "left offset 0.5,0", above = "center offset 0,0.6",
  below = "center offset 0,-0.6" }

local function bar_labels(page, panel)
  for _, cell in ipairs(panel.cells or {}) do
    page.add("set label %s at first %s, first %s %s tc rgb '#222222' front", quote(cell.text), number(cell.x),
      number(cell.y), sides[cell.side])
  end
end

local function axes(page, panel, plan, o, box)
  local heat = panel.z ~= nil
  page.add("set border %d lc rgb '#555555' lw 1", heat and 0 or 3)
  local xgrid, ygrid = panel.x.categories and "nox" or "x", panel.y.categories and "noy" or "y"
  if not heat then page.add("set grid %stics %stics back lt 1 lc rgb '#E4E4E4' lw 0.8", xgrid, ygrid) end
  local function style(it)
    return "nomirror out scale " .. (it.categories and "0" or "0.5") .. " textcolor rgb '#222222'"
  end
  axis(page, "x", panel.x, plan.xticks,
    style(panel.x) .. (plan.aslant and (" rotate by %d right"):format(plan.aslant > 0 and 35 or 90)
      or " norotate offset 0,0.35"))
  axis(page, "y", panel.y, plan.yticks, style(panel.y))
  if o.xlabel then
    page.words(panel.x.label, box.x + box.w / 2, box.y + box.h + plan.tick_height + layout.line / 2 + 5,
      { justify = "center" })
  end
  if o.ylabel then
    page.words(panel.y.label, box.x - plan.left + layout.edge + layout.line / 2, box.y + box.h / 2,
      { justify = "center", rotate = true })
  end
end

local function plot_command(page, panel, box)
  local parts, as_text = {}, box == nil
  for _, layer in ipairs(panel.layers) do
    local style = as_text and layer.text or not as_text and layer.with
    local using = layer.using
    if style and layer.cells then
      -- large cells have white borders; small cells overlap a little, or the background would show between cells
      local w, h = box.w / #panel.x.categories, box.h / #panel.y.categories
      local large = math.min(w, h) >= 16
      style = style .. (large and " border lc rgb '#FFFFFF'" or " noborder")
      if not large then using = ("1:2:3:($4+%.4f):5:($6+%.4f):7"):format(0.7 / w, 0.7 / h) end
    end
    if style and #layer.rows > 0 then
      local title = as_text and layer.entry and layer.entry.name
      parts[#parts + 1] = ("%s using %s with %s %s"):format(data_block(page, layer.rows), using, style,
        title and "title " .. quote_line(title) or "notitle")
    end
  end
  if #parts == 0 then
    -- gnuplot draws no axes without data, so an empty label is plotted in the middle
    local middle = data_block(page, { { (panel.x.lo + panel.x.hi) / 2, (panel.y.lo + panel.y.hi) / 2 } })
    parts[1] = middle .. " using 1:2:('') with labels notitle"
  end
  page.add("plot %s", table.concat(parts, ", \\\n  "))
end

---Adds a panel to a region of the page. `plan` is the layout of the panel, from layout.measure, and
---`o` the options that layout.measure got.
---@param region { x: number, y: number, w: number, h: number }
function M.draw(page, panel, region, plan, o)
  local box = { x = region.x + plan.left, y = region.y + plan.top, w = region.w - plan.left - plan.right,
    h = region.h - plan.top - plan.bottom }
  box.w, box.h = math.max(box.w, 10), math.max(box.h, 10)
  page.add("set lmargin at screen %.5f", box.x / page.width)
  page.add("set rmargin at screen %.5f", (box.x + box.w) / page.width)
  page.add("set tmargin at screen %.5f", 1 - box.y / page.height)
  page.add("set bmargin at screen %.5f", 1 - (box.y + box.h) / page.height)
  page.add("unset key")
  for i, line in ipairs(plan.title) do
    page.words(line, region.x + layout.edge, region.y + layout.edge + (i - 0.5) * layout.title_line,
      { bold = true, size = o.title_font })
  end
  if plan.legend == "legend" then
    M.legend(page, layout.named(panel), region.x + layout.edge, region.y + plan.legend_y, region.w - 2 * layout.edge)
  end
  for _, item in ipairs(layout.right_labels(panel, plan.legend == "labels", box)) do
    page.words(item.text, box.x + box.w + 6, item.y, { color = item.color })
  end
  references(page, panel, box)
  axes(page, panel, plan, o, box)
  if panel.z then colors(page, panel, plan, box) end
  if panel.kind == "bars" then bar_labels(page, panel) end
  if panel.over then panel.over(page, panel, box) end
  plot_command(page, panel, box)
end

---Adds a panel to a page of text characters for the terminal. Here, gnuplot chooses the layout itself.
---@param page table  from `page`; its width and height are numbers of characters
function M.draw_text(page, panel)
  page.add("reset")
  if panel.title then page.add("set title %s", quote(panel.title)) end
  if panel.x.label then page.add("set xlabel %s", quote_line(panel.x.label)) end
  if panel.y.label then page.add("set ylabel %s", quote_line(panel.y.label)) end
  page.add("set key outside top left horizontal")
  axis(page, "x", panel.x, scale.ticks(panel.x, page.width // 12), "nomirror")
  axis(page, "y", panel.y, scale.ticks(panel.y, page.height // 4), "nomirror")
  reference_lines(page, panel, "")
  for _, cell in ipairs(panel.cells or {}) do
    page.add("set label %s at first %s, first %s center", quote(cell.text), number(cell.x), number(cell.y))
  end
  plot_command(page, panel)
end

return M
