-- Writes a figure of one or several panels to a file, or shows it in the terminal.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local draw = require "moonrank.plot.panel"
local layout = require "moonrank.plot.layout"
local text = require "moonrank.plot.text"

---A figure, as the functions of mr.plot and the `plot` methods of results return it. `save` writes it
---to a file, and `show` draws it in the terminal.
---@class mr.Figure
---@field kind string     such as "lines" or "heatmap"
---@field width integer   pixels
---@field height integer  pixels
local Figure = check.class("mr.Figure")

local M = { Figure = Figure }

---Makes a figure of one or several panels, which are placed row by row.
---@param o table  kind and panels; optional: columns (panels in a row), title, caption, width and height
---   in pixels, legend
function M.new(o)
  for _, words in ipairs{ o.title or "", o.caption or "", o.panels[1].title or "" } do text.plain(words) end
  local width, height = math.floor(o.width or 640), math.floor(o.height or 420)
  return setmetatable({ kind = o.kind, width = width, height = height, _ = o }, Figure)
end

local terminals = {
  svg = "set terminal svg size %d,%d fixed noenhanced font 'sans,13' background rgb 'white'",
  png = "set terminal pngcairo size %d,%d noenhanced font 'sans,13' fontscale 0.75",
}

local function terminal_line(kind, width, height)
  if kind == "pdf" then
    -- a pixel is 1/96 of an inch; the font scale makes text in a PDF as large as in SVG and PNG files
    return ("set terminal pdfcairo size %.4fin,%.4fin noenhanced font 'sans,13' fontscale 0.5625")
      :format(width / 96, height / 96)
  end
  return terminals[kind]:format(width, height)
end

-- Maps the colours of texts, axes and dark series to their colours on a dark screen. Other series, cells of a heat map
-- and the texts in these cells keep their colours. Parallel coordinates have lines of all colours from light to dark,
-- so their picture is inverted instead.
local dark = { ["#000000"] = "#f0f3f6", ["#222222"] = "#dde2e7", ["#333333"] = "#c9d1d9", ["#555555"] = "#a3acb5",
  ["#777777"] = "#8b949e", ["#888888"] = "#8b949e", ["#9a9a9a"] = "#7d8590", ["#c8c8c8"] = "#4a525b",
  ["#e4e4e4"] = "#2d333b", ["#ededed"] = "#22272e", ["#0072b2"] = "#1f87cc", ["#c0392b"] = "#e0584a" }
local dark_back = "#15181c"

-- Returns the style sheet of SVG pictures, by which they have a dark background if the reader's screen is dark.
local function dark_style()
  local rules = { ".inverted{filter:invert(0.91) hue-rotate(180deg)}" }
  local function add(selector, property, color)
    rules[#rules + 1] = (".recoloured %s{%s:%s}"):format(selector, property, color)
  end
  for light, color in pairs(dark) do
    for _, property in ipairs{ "fill", "stroke", "color" } do
      add(('[%s="%s"]'):format(property, light), property, color)
    end
  end
  add('rect[fill="#ffffff"]', "fill", dark_back)
  add('[stroke="#ffffff"]', "stroke", dark_back)
  table.sort(rules)
  return "<style>@media screen and (prefers-color-scheme:dark){" .. table.concat(rules) .. "}</style>\n"
end

-- Corrects gnuplot's SVG: the font "sans:Bold" becomes "sans-serif" with font-weight, and "]]>", which is not valid
-- XML, is escaped. Texts of the figure cannot match the font's pattern, because their < is written &lt;. Colours are
-- written in one form, which the style sheet for dark screens selects.
local function corrected(svg, kind)
  svg = svg:gsub("(=%s*['\"])rgb%(%s*(%d+),%s*(%d+),%s*(%d+)%)", function(before, r, g, b)
    return ("%s#%02x%02x%02x"):format(before, r, g, b)
  end)
  svg = svg:gsub('="black"', '="#000000"')
  local class = kind == "parallel" and "inverted" or "recoloured"
  svg = svg:gsub('<g id="gnuplot_canvas">', function()
    return dark_style() .. ('<g id="gnuplot_canvas" class="%s">'):format(class)
  end, 1)
  svg = svg:gsub('(<g [^<>]-font%-family=)"sans(:?B?o?l?d?)"', function(before, bold)
    return before .. '"sans-serif"' .. (bold == ":Bold" and ' font-weight="bold"' or "")
  end)
  return (svg:gsub("]]>", "]]&gt;"))
end

-- Returns the entries of one legend for all panels of a figure. Returns nil if the panels have different legend entries
-- or fewer than two, or if the script asked for no legend or for names at the ends of lines.
local function shared_entries(o)
  if o.legend == "none" or o.legend == "labels" then return nil end
  local first = layout.named(o.panels[1])
  if #first < 2 then return nil end
  for _, panel in ipairs(o.panels) do
    local named = layout.named(panel)
    if #named ~= #first then return nil end
    for i, entry in ipairs(named) do
      for _, field in ipairs{ "name", "rgb", "mark", "dash", "shape" } do
        if entry[field] ~= first[i][field] then return nil end
      end
    end
  end
  return first
end

-- Lays out all panels of a figure. Panels in a column share left and right margins, and panels in a row share top and
-- bottom margins, so that all plot areas have the same size. `box` is the width of a plot area, if it is already known.
local function plans_of(o, columns, w, h, shared, box)
  local several = #o.panels > 1
  local plans, shown = {}, {}
  for i, panel in ipairs(o.panels) do
    local below, before = o.panels[i + columns], (i - 1) % columns > 0 and o.panels[i - 1] or nil
    shown[i] = { title_font = several and layout.font or layout.title_font, legend = not shared,
      no_labels = several, box = box,
      xlabel = panel.x.label ~= nil and not (below and below.x.label == panel.x.label),
      ylabel = panel.y.label ~= nil and not (before and before.y.label == panel.y.label) }
    plans[i] = layout.measure(panel, w, h, shown[i])
  end
  local function widest(side, group)
    local most = {}
    for i, plan in ipairs(plans) do most[group(i)] = math.max(most[group(i)] or 0, plan[side]) end
    return most
  end
  local function column(i) return (i - 1) % columns + 1 end
  local function row(i) return (i - 1) // columns + 1 end
  local margins = { left = widest("left", column), right = widest("right", column), top = widest("top", row),
    bottom = widest("bottom", row) }
  return plans, shown, margins, column
end

local function total(list)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum
end

local function draw_panels(page, o, area, shared)
  local columns = math.min(o.columns or 1, #o.panels)
  local rows = (#o.panels + columns - 1) // columns
  local plans, shown, margins, column, box_w
  for _ = 1, 2 do  -- pass 1 finds the margins; pass 2 chooses ticks for the width between them
    plans, shown, margins, column = plans_of(o, columns, area.w / columns, area.h / rows, shared, box_w)
    box_w = (area.w - total(margins.left) - total(margins.right)) / columns
  end
  local box_h = (area.h - total(margins.top) - total(margins.bottom)) / rows
  local y = area.y
  for r = 1, rows do
    local x = area.x
    for i = (r - 1) * columns + 1, math.min(r * columns, #o.panels) do
      local c, plan = column(i), plans[i]
      plan.left, plan.right, plan.top, plan.bottom =
        margins.left[c], margins.right[c], margins.top[r], margins.bottom[r]
      local region = { x = x, y = y, w = plan.left + box_w + plan.right, h = plan.top + box_h + plan.bottom }
      if i > 1 then page.add("reset") end
      draw.draw(page, o.panels[i], region, plan, shown[i])
      x = x + region.w
    end
    y = y + margins.top[r] + box_h + margins.bottom[r]
  end
end

-- Draws the title and the legend above all panels, and the caption below. Returns the area between them.
local function frame(page, o, shared)
  local area = { x = 0, y = 0, w = page.width, h = page.height }
  local function take(pixels) area.y, area.h = area.y + pixels, area.h - pixels end
  local function lines(words, size, line, y, style)
    for i, each in ipairs(words) do
      page.words(each, layout.edge, y + (i - 0.5) * line, { size = size, bold = style.bold, color = style.color })
    end
  end
  local title = text.wrap(o.title, layout.title_font, area.w - 2 * layout.edge)
  lines(title, layout.title_font, layout.title_line, layout.edge, { bold = true })
  if #title > 0 then take(layout.edge + #title * layout.title_line) end
  if shared then
    local _, rows = layout.legend(shared, 0, 0, area.w - 2 * layout.edge)
    draw.legend(page, shared, layout.edge, area.y + 4, area.w - 2 * layout.edge)
    take(rows * layout.line + 4)
  end
  local caption = text.wrap(o.caption, layout.small_font, area.w - 2 * layout.edge)
  if #caption > 0 then
    local below = #caption * layout.small_line + layout.edge
    lines(caption, layout.small_font, layout.small_line, page.height - below + 2, { color = "#555555" })
    area.h = area.h - below
  end
  return area
end

local check_terminal = arguments{ "terminal", "string", choices = { "svg", "png", "pdf", "text" }, required = false }

---Returns the gnuplot script that draws the figure to standard output.
---@param terminal? "svg"|"png"|"pdf"|"text"  default "svg"
---@return string
---Example: `mr.plot.lines{y = {1, 2}}:script():find("plot", 1, true) ~= nil   --> true`
function Figure:script(terminal)
  check_terminal("figure:script", terminal)
  terminal = terminal or "svg"
  local o = self._
  if terminal == "text" then return self:text_script(100, 30) end
  local page = draw.page(self.width, self.height)
  page.add(terminal_line(terminal, self.width, self.height))
  if #o.panels > 1 then page.add("set multiplot") end
  local shared = #o.panels > 1 and shared_entries(o) or nil
  draw_panels(page, o, frame(page, o, shared), shared)
  if #o.panels > 1 then page.add("unset multiplot") end
  return table.concat(page.lines, "\n") .. "\n"
end

function Figure:text_script(columns, rows)
  local page = draw.page(columns, rows)
  page.add("set terminal dumb size %d,%d noenhanced", columns, rows)
  for _, panel in ipairs(self._.panels) do draw.draw_text(page, panel) end
  return table.concat(page.lines, "\n") .. "\n"
end

---Returns the figure as SVG, as in an .svg file.
---@return string
function Figure:to_svg() return corrected(core.gnuplot(self:script "svg"), self.kind) end

local check_path = arguments{ "path", "string", accept = function(path) return path:find "%.%w+$" ~= nil end,
  expected = "the name of a file with the extension .svg, .png or .pdf" }

---Writes the figure to an .svg, .png or .pdf file, and returns the figure. The file is written
---whole or not at all. Missing folders are made. An existing regular file is replaced. If `path` is
---a link, the file that the link points to is replaced. A folder, a pipe or a device is never
---replaced.
---@param path string
---@return mr.Figure
function Figure:save(path)
  check_path("figure:save", path)
  local extension = path:match("%.(%w+)$")
  local kind = check.choice("figure:save", "extension", extension:lower(), { "svg", "png", "pdf" })
  local picture = kind == "svg" and self:to_svg() or core.gnuplot(self:script(kind))
  core.make_folder(path)
  core.write_file(path, picture)
  return self
end

---Prints the figure to standard output as text characters, as wide as the terminal (without one, 100 characters wide).
function Figure:show()
  local columns = require("moonrank.system.terminal").width() or 100
  local picture = core.gnuplot(self:text_script(columns, math.max(15, columns * 3 // 10)))
  if self._.title then print(core.safe_text(self._.title)) end
  print((core.safe_text((picture:gsub("\f", "")), true):gsub("[ \n]+$", "")))
  if self._.caption then print(core.safe_text(self._.caption)) end
end

function Figure:__tostring()
  local o = self._
  local title = o.title or #o.panels == 1 and o.panels[1].title
  local what = #o.panels > 1 and #o.panels .. " panels" or #o.panels[1].entries .. " series"
  if o.kind == "parallel" then what = ("%d lines, %d axes"):format(o.panels[1].count, #o.panels[1].coordinates) end
  if o.kind == "heatmap" then what = ("%d x %d"):format(#o.panels[1].y.categories, #o.panels[1].x.categories) end
  return ("mr.Figure %s: %s%s"):format(o.kind, what, title and (", '%s'"):format(core.safe_text(title)) or "")
end

return M
