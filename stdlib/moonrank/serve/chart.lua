-- Draws the figures of `moonrank serve` as SVG in the page, in colours of the style sheet (light or dark mode).
local html = require "moonrank.serve.html"

local M = {}

local width <const>, height <const> = 640, 300
local left <const>, right <const>, top <const>, bottom <const> = 68, 14, 12, 42
local most_points <const> = 400  -- largest number of points of one line; the eye could not tell more points apart

---Largest number of trials whose dots in a figure all have titles and links. With more trials, most dots are drawn
---without titles and links, which is faster.
M.most_named = 500

-- Numbers of 1e150 or more in size are not drawn, because their differences may not be finite.
local function is_drawn(x) return type(x) == "number" and x > -1e150 and x < 1e150 end

-- Returns an axis for the numbers in `values`, with round ticks: 1, 2 or 5 times a power of ten.
local function axis_of(values, wants_log, whole)
  local low, high = math.huge, -math.huge
  for i = 1, #values do
    local x = values[i]
    if is_drawn(x) then
      if x < low then low = x end
      if x > high then high = x end
    end
  end
  if low > high then low, high = 0, 1 end
  local log = wants_log and low > 0 and high / low >= 30
  if log then low, high = math.log(low, 10), math.log(high, 10) end
  local size = math.max(math.abs(low), math.abs(high), 1e-12)
  if high - low < 1e-9 * size then low, high = low - 0.1 * size, high + 0.1 * size end
  local margin = 0.05 * (high - low)
  local axis = { low = low - margin, high = high + margin, log = log, ticks = {} }
  local step = 10.0 ^ math.floor(math.log((high - low) / 4, 10))
  for _, factor in ipairs{ 1, 2, 5, 10 } do
    if (high - low) / (step * factor) <= 6 then
      step = step * factor
      break
    end
  end
  if log or whole then step = math.max(1, step) end
  for i = math.ceil(axis.low / step), math.min(math.floor(axis.high / step), math.ceil(axis.low / step) + 12) do
    local at = i * step
    table.insert(axis.ticks, { at, ("%.5g"):format(log and 10.0 ^ at or math.abs(at) < step / 1e6 and 0 or at) })
  end
  return axis
end

-- Returns an axis of texts, on which each different text in `values` has a position of its own.
local function axis_of_texts(values)
  local places, names = {}, {}
  for i = 1, #values do
    local name = tostring(values[i])
    if not places[name] then
      names[#names + 1] = name
      places[name] = true
    end
  end
  table.sort(names)
  local axis = { low = 0.5, high = math.max(1, #names) + 0.5, ticks = {}, places = places }
  local every = math.ceil(#names / 8)
  for i, name in ipairs(names) do
    places[name] = i
    if (i - 1) % every == 0 then
      local first = utf8.len(name) and utf8.len(name) > 12 and name:sub(1, utf8.offset(name, 12) - 1) .. "…" or name
      table.insert(axis.ticks, { i, first })
    end
  end
  return axis
end

local function at(axis, value, from, to)
  if axis.places then value = axis.places[tostring(value)]
  elseif not is_drawn(value) or axis.log and value <= 0 then return nil
  elseif axis.log then value = math.log(value, 10)
  end
  return from + (value - axis.low) / (axis.high - axis.low) * (to - from)
end

local function frame(out, x_axis, y_axis, x_label, y_label)
  for _, tick in ipairs(x_axis.ticks) do
    local x = left + (tick[1] - x_axis.low) / (x_axis.high - x_axis.low) * (width - left - right)
    out[#out + 1] = ('<text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>'):format(x,
      height - bottom + 17, html.text(tick[2]))
  end
  for _, tick in ipairs(y_axis.ticks) do
    local y = height - bottom - (tick[1] - y_axis.low) / (y_axis.high - y_axis.low) * (height - top - bottom)
    out[#out + 1] = ('<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>'):format(left, width - right, y, y)
    out[#out + 1] = ('<text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>'):format(left - 6, y + 4,
      html.text(tick[2]))
  end
  out[#out + 1] = ('<path class="axis" d="M%d %dV%dH%d"/>'):format(left, top, height - bottom, width - right)
  out[#out + 1] = ('<text class="label" x="%.0f" y="%d" text-anchor="middle">%s</text>'):format(
    (left + width - right) / 2, height - 5, html.text(x_label))
  local middle = (top + height - bottom) / 2
  out[#out + 1] = ('<text class="label" x="13" y="%.0f" text-anchor="middle" transform="rotate(-90 13 %.0f)">%s</text>')
    :format(middle, middle, html.text(y_label))
end

local function path_of(points, place)
  local parts, drawn, step = {}, false, math.max(1, math.ceil(#points / most_points))
  for i, point in ipairs(points) do
    if (i - 1) % step == 0 or i == #points then
      local x, y = place(point)
      if x and y then parts[#parts + 1] = ("%s%.1f %.1f"):format(drawn and "L" or "M", x, y) end
      drawn = x ~= nil and y ~= nil
    end
  end
  return table.concat(parts)
end

---@class mr.serve.Line
---@field points number[][]  {x, y} in the order of x
---@field class string       of the style sheet
---@field title string
---@field target? string    page to which the line links
---@field step? boolean     drawn as steps
---@class mr.serve.Dot: mr.serve.Line
---@class mr.serve.Plain  many dots without titles
---@field class string
---@field x any[]
---@field y number[]

local function collect(o, index)
  local out = {}
  for _, list in ipairs{ o.lines or {}, o.dots or {} } do
    for _, each in ipairs(list) do
      for _, point in ipairs(each.points) do out[#out + 1] = point[index] end
    end
  end
  for _, group in ipairs(o.plain or {}) do
    local values = index == 1 and group.x or group.y
    table.move(values, 1, #values, #out + 1, out)
  end
  return out
end

local function add_mark(out, each, inside)
  local mark = ('<g class="%s"><title>%s</title>%s</g>'):format(each.class, html.text(each.title), inside)
  out[#out + 1] = each.target and html.link(each.target, mark, ' tabindex="-1"') or mark
end

-- Draws dots without titles as one path of segments of length 0. Dots at equal coordinates are drawn once.
local function add_plain_dots(out, group, x_axis, y_axis)
  local parts, seen = {}, {}
  for i = 1, #group.x do
    local x, y = at(x_axis, group.x[i], left, width - right), at(y_axis, group.y[i], height - bottom, top)
    if x and y then
      x, y = (x + 0.5) // 1 | 0, (y + 0.5) // 1 | 0
      local key = x << 16 | y
      if not seen[key] then seen[key], parts[#parts + 1] = true, "M" .. x .. " " .. y .. "h0" end
    end
  end
  out[#out + 1] = ('<path class="%s plain" d="%s"/>'):format(group.class, table.concat(parts))
end

---Returns a figure as HTML.
---@param o { title: string, x: string, y: string, lines: mr.serve.Line[]?, dots: mr.serve.Dot[]? }
---`o.plain` has many dots (mr.serve.Plain[]), `o.log_x` allows a logarithmic x axis, `o.whole_x` says
---that x are integers, `o.legend` is HTML below the figure.
function M.figure(o)
  local xs, ys = collect(o, 1), collect(o, 2)
  local numbers = true
  for _, x in ipairs(xs) do numbers = numbers and type(x) == "number" end
  local x_axis = numbers and axis_of(xs, o.log_x, o.whole_x) or axis_of_texts(xs)
  local y_axis = axis_of(ys)
  local function place(point)
    return at(x_axis, point[1], left, width - right), at(y_axis, point[2], height - bottom, top)
  end
  local out = { ('<figure><figcaption>%s</figcaption><svg viewBox="0 0 %d %d" role="img" aria-label="%s">'):format(
    html.text(o.title), width, height, html.text(o.title)) }
  frame(out, x_axis, y_axis, o.x, o.y)
  for _, each in ipairs(o.lines or {}) do
    if #each.points == 1 then
      local x, y = place(each.points[1])
      if x and y then add_mark(out, each, ('<circle cx="%.1f" cy="%.1f" r="3"/>'):format(x, y)) end
    else
      add_mark(out, each, '<path d="' .. path_of(each.points, place) .. '"/>')
    end
  end
  for _, group in ipairs(o.plain or {}) do add_plain_dots(out, group, x_axis, y_axis) end
  for _, each in ipairs(o.dots or {}) do
    local x, y = place(each.points[1])
    if x and y then add_mark(out, each, ('<circle cx="%.1f" cy="%.1f" r="4"/>'):format(x, y)) end
  end
  out[#out + 1] = "</svg>" .. (o.legend or "") .. "</figure>"
  return table.concat(out)
end

return M
