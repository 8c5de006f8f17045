-- Computes the layout of a figure, in pixels from its top left corner: margins, legends, and labels that do not
-- overlap.
local scale = require "moonrank.plot.scale"
local text = require "moonrank.plot.text"

local M = {}

-- Font sizes, and heights of lines of text, in pixels.
M.font, M.title_font, M.small_font = 13, 15, 11
M.line, M.title_line, M.small_line = 17, 20, 14
M.edge = 8
M.swatch = 24

---Returns the positions of legend entries, and the number of rows that they take. The first row
---begins at (x, y), and a row is at most `width` pixels wide. A longer entry has a row of its own.
---@param x number      pixels from the left edge of the page
---@param y number      pixels from the top
---@return { entry: table, x: number, y: number }[] positions, integer rows  y: the centre of the entry
function M.legend(entries, x, y, width)
  local positions, row, at = {}, 1, x
  for _, entry in ipairs(entries) do
    local wide = M.swatch + 6 + text.width(entry.name, M.font)
    if at > x and at + wide > x + width then row, at = row + 1, x end
    positions[#positions + 1] = { entry = entry, x = at, y = y + (row - 0.5) * M.line }
    at = at + wide + 16
  end
  return positions, #positions > 0 and row or 0
end

---Returns the entries of a panel's legend that have a name.
function M.named(panel)
  local named = {}
  for _, entry in ipairs(panel.entries) do
    if entry.name and entry.name ~= "" then named[#named + 1] = entry end
  end
  return named
end

-- Sets the height of a block's first label: where the block wishes it to be, but within [top, bottom].
local function placed(block, gap, top, bottom)
  block.first = math.max(top, math.min(block.wish, bottom - (#block.items - 1) * gap))
  return block
end

---Moves labels up or down until neighbours are at least `gap` apart and all labels lie within [top,
---bottom]. If they do not fit, the lowest ones lie below `bottom`. Returns the largest distance by
---which a label was moved.
---@param items { y: number }[]  the labels; their y is changed, and they are sorted by y
---@param gap number     pixels, as top and bottom
---Example: `require("moonrank.plot.layout").spread({{y = 10}, {y = 10}}, 4, 0, 100)   --> 2.0`
function M.spread(items, gap, top, bottom)
  table.sort(items, function(a, b) return a.y < b.y end)
  -- Labels that touch form a block, which is centred on the heights that its labels had before. A block that overlaps
  -- the previous block is merged with it.
  local blocks = {}
  for _, item in ipairs(items) do
    local block = placed({ wish = item.y, items = { item } }, gap, top, bottom)
    while #blocks > 0 and block.first < blocks[#blocks].first + #blocks[#blocks].items * gap do
      local before = table.remove(blocks)
      local count = #before.items + #block.items
      -- The merged block is placed so that its labels are moved by 0 pixels on average, compared with the heights that
      -- they would have without overlaps.
      before.wish = (before.wish * #before.items + (block.wish - #before.items * gap) * #block.items) / count
      table.move(block.items, 1, #block.items, #before.items + 1, before.items)
      block = placed(before, gap, top, bottom)
    end
    blocks[#blocks + 1] = block
  end
  local moved = 0
  for _, block in ipairs(blocks) do
    for i, item in ipairs(block.items) do
      local y = block.first + (i - 1) * gap
      moved, item.y = math.max(moved, math.abs(y - item.y)), y
    end
  end
  return moved
end

-- Returns labels at the right edge, before they are moved apart: names of series and of reference lines.
local function right_labels(panel, ends, box)
  local items = {}
  local function add(y, words, color)
    items[#items + 1] = { y = box.y + box.h * (1 - scale.position(panel.y, y)), text = words, color = color }
  end
  if ends then
    for _, entry in ipairs(M.named(panel)) do
      if entry.last then add(entry.last[2], entry.name, entry.rgb) end
    end
  end
  for _, line in ipairs(panel.hlines or {}) do
    if line.text and line.at >= panel.y.lo and line.at <= panel.y.hi then add(line.at, line.text, "#555555") end
  end
  return items
end

---Returns the labels at the right edge of a plot area (texts of horizontal reference lines and,
---with `ends`, names of series), moved apart so that they do not overlap.
---@param ends boolean  whether series are named at the ends of their lines
---@param box { y: number, h: number }  the plot area in pixels
---@return { y: number, text: string, color: string }[]
function M.right_labels(panel, ends, box)
  local items = right_labels(panel, ends, box)
  M.spread(items, M.line - 1, box.y + 2, box.y + box.h)
  return items
end

-- True if few short names fit at the ends of lines that end at the right edge, at different heights.
local function ends_are_free(panel, box, width)
  local named = M.named(panel)
  if #named == 0 or #named > 5 or panel.kind ~= "lines" then return false end
  for _, entry in ipairs(named) do
    if not entry.last or text.width(entry.name, M.font) > 0.3 * width then return false end
    local x, y = scale.position(panel.x, entry.last[1]), scale.position(panel.y, entry.last[2])
    if x < 0.97 or x > 1.001 or y < 0 or y > 1 then return false end
  end
  return M.spread(right_labels(panel, true, box), M.line - 1, box.y + 2, box.y + box.h) <= 8
end

---Returns the texts above the plot for vertical reference lines and shaded regions, each with its
---row, and the number of rows. Texts in a row do not overlap.
---@param box { x: number, w: number }  the plot area in pixels
---@return { x: number, text: string, half: number, row: integer }[], integer
function M.top_labels(panel, box)
  local items, rows = {}, {}
  local function add(x, words)
    if not words or x < panel.x.lo or x > panel.x.hi then return end
    items[#items + 1] = { x = box.x + box.w * scale.position(panel.x, x), text = words,
      half = text.width(words, M.small_font) / 2 }
  end
  for _, region in ipairs(panel.shade or {}) do
    local from, to = math.max(region.from, panel.x.lo), math.min(region.to, panel.x.hi)
    add(panel.x.log and math.sqrt(from * to) or (from + to) / 2, from < to and region.text or nil)
  end
  for _, line in ipairs(panel.vlines or {}) do add(line.at, line.text) end
  table.sort(items, function(a, b) return a.x < b.x end)
  for _, item in ipairs(items) do
    item.x = math.max(box.x - 20 + item.half, math.min(item.x, box.x + box.w + 8 - item.half))
    item.row = 1
    while rows[item.row] and rows[item.row] > item.x - item.half - 6 do item.row = item.row + 1 end
    rows[item.row] = item.x + item.half
  end
  return items, #rows
end

local function widest(ticks, size)
  local most = 0
  for _, tick in ipairs(ticks) do
    for line in tick.text:gmatch("[^\n]+") do most = math.max(most, text.width(line, size)) end
  end
  return most
end

-- Returns every k-th tick of an axis, so that the returned ticks are at least `least` pixels apart. `room` is the
-- present distance of neighbouring ticks. Of consecutive integers, the multiples of a round number are returned.
local function thinned(ticks, room, least)
  local k = math.ceil(least / room)
  if k <= 1 then return ticks end
  local first, kept = math.tointeger(tonumber(ticks[1].text)), {}
  for i, tick in ipairs(ticks) do first = first and tonumber(tick.text) == first + i - 1 and first end
  local at_least = k
  for _, round in ipairs{ 1000, 500, 250, 200, 100, 50, 25, 20, 10, 5, 2 } do
    if first and round >= at_least then k = round end
  end
  for i, tick in ipairs(ticks) do
    if ((first or 0) + i - 1) % k == 0 then kept[#kept + 1] = tick end
  end
  return kept
end

-- Returns copies of ticks whose texts are broken into lines of at most `pixels` width, and the largest number of lines.
local function in_lines(ticks, pixels)
  local broken, most = {}, 1
  for i, tick in ipairs(ticks) do
    local lines = text.wrap(tick.text, M.font, pixels)
    most = math.max(most, #lines)
    broken[i] = { at = tick.at, text = table.concat(lines, "\n") }
  end
  return broken, most
end

-- Returns the ticks of the x axis that fit below a plot area of this width, the height of their texts, and how far
-- rotated texts reach to the left. Long names are rotated; many names are written vertically.
local function x_ticks(panel, width)
  local ticks = scale.ticks(panel.x, math.max(4, width // 65))
  local room, most = width / math.max(#ticks, 1), widest(ticks, M.font)
  if not panel.x.categories or panel.x.numeric then return thinned(ticks, room, most + 8), M.line + 3 end
  local broken, lines = in_lines(ticks, room - 6)
  if widest(broken, M.font) <= room - 4 and lines <= 3 then return broken, lines * M.line + 3 end
  if room < M.line * 1.6 and room >= M.line - 2 then return ticks, most + 8, 0 end
  return thinned(ticks, room, M.line * 1.6), most * 0.6 + M.line, most * 0.82
end

local function y_ticks(panel, height)
  local ticks = scale.ticks(panel.y, math.max(4, height // 42))
  return thinned(ticks, height / math.max(#ticks, 1), panel.y.numeric and 24 or M.line - 2)
end

-- Returns how the series of a panel are named: "none", by "labels" at the ends of their lines, or by a "legend".
local function naming(panel, box, w, o)
  local wish = panel.legend
  if not o.legend or wish == "none" or #M.named(panel) == 0 then return "none" end
  local has_ends = panel.kind == "lines" or panel.kind == "ecdf"
  if wish == "labels" and has_ends then return "labels" end
  if wish ~= "auto" then return "legend" end
  if not o.no_labels and ends_are_free(panel, box, w) then return "labels" end
  -- a single series of bars or points gets a legend only if the script asked for one
  return (#panel.entries > 1 or panel.kind == "lines") and "legend" or "none"
end

---Returns the layout of a panel of `w` by `h` pixels: a table with the margins around its plot
---area, its ticks, and its kind of legend.
---@param o { xlabel: boolean, ylabel: boolean, legend: boolean, box?: number }  box: width of the plot area
function M.measure(panel, w, h, o)
  local plan = { title = text.wrap(panel.title, o.title_font, w - 2 * M.edge) }
  local above = M.edge + #plan.title * M.title_line + 6
  plan.yticks = y_ticks(panel, h - above - 40)
  plan.left = M.edge + (o.ylabel and M.line + 6 or 0) + widest(plan.yticks, M.font) + 10
  local wide = o.box or w - plan.left - 20
  plan.xticks, plan.tick_height, plan.aslant = x_ticks(panel, wide)
  if plan.aslant and plan.aslant > 0 then
    plan.left = math.max(plan.left, plan.aslant + 4 - wide / #panel.x.categories / 2)
  end
  plan.bottom = 8 + plan.tick_height + (o.xlabel and M.line + 3 or 0)
  local box = { x = plan.left, y = above, w = w - plan.left - 20, h = h - above - plan.bottom }
  plan.legend = naming(panel, box, w, o)
  local names = right_labels(panel, plan.legend == "labels", box)
  local last_tick = plan.xticks[#plan.xticks]
  plan.right = math.max(14, #names > 0 and widest(names, M.font) + 12 or 0,
    not panel.x.categories and last_tick and text.width(last_tick.text, M.font) / 2 + 4 or 0)
  if panel.z and not (panel.kind == "heatmap" and panel.legend == "none") then
    plan.zticks = scale.ticks(panel.z, math.max(3, box.h // 45))
    plan.right = 14 + 14 + 10 + widest(plan.zticks, M.font) + (panel.z.label and M.line + 4 or 0) + M.edge
  end
  box.w = w - plan.left - plan.right
  local rows = plan.legend == "legend" and select(2, M.legend(M.named(panel), 0, 0, w - 2 * M.edge)) or 0
  local _, annotations = M.top_labels(panel, box)
  plan.legend_y = M.edge + #plan.title * M.title_line
  plan.own_right = plan.right
  plan.top = above + rows * M.line + annotations * M.small_line + (rows > 0 and 4 or 0)
  return plan
end

return M
