-- Computes the axes of figures: the range of numbers that an axis covers, and its ticks.
local check = require "moonrank.check"

local M = {}

---@class mr.plot.Axis
---@field lo number
---@field hi number
---@field log boolean
---@field label string?
---@field categories string[]?  names at 1, 2, ...
---@field down boolean?         true if the axis runs from top to bottom
---@field whole boolean?        true if all values are integers, such as epochs

-- A finite number above this limit in size is an error, because differences and quotients of such numbers may not be
-- finite.
local largest_drawn = 1e150
local function finite(x) return x == x and x < math.huge and x > -math.huge end
M.finite = finite

---Returns true if a number can be drawn: from -1e150 to 1e150.
function M.fits(x) return x <= largest_drawn and x >= -largest_drawn end

---Returns true if a number has a place on an axis: a finite number, which is positive if the axis is logarithmic.
---@param axis { log: boolean? }
function M.shows(axis, x) return finite(x) and (not axis.log or x > 0) end

-- Raises an error if a finite number is too large to be drawn, or too small for a logarithmic axis.
local function check_size(where, o, x)
  if not M.shows(o, x) or M.fits(x) and not (o.log and x < 1 / largest_drawn) then return end
  local argument = o.argument or o.name
  check.expect(false, where, "a number of " .. argument, x, "%s. Multiply %s by a power of ten, such as %s",
    o.log and "at least 1e-150 and at most 1e150 on a logarithmic axis" or "at least -1e150 and at most 1e150",
    argument, M.fits(x) and "1e150" or "1e-160")
end

---Returns the declaration of an option whose value is the range of an axis, {lowest, highest}.
---@param name string    name of the option
---@param shown string  the default in words, for the documentation
---@param what string   what the numbers are, for the documentation: "x"
---@return mr.options.Row
function M.range_row(name, shown, what)
  return { name, "number[]", shown = shown, accept = function(value) return check.is_range(value, largest_drawn) end,
    expected = "two numbers {lowest, highest}, each with an absolute value of at most 1e150",
    help = "{lowest, highest} " .. what }
end

local function widened(lo, hi, log, pad, whole)
  if log then
    if hi - lo <= hi * 1e-10 then return lo / 2, hi * 2 end
    local factor = (hi / lo) ^ pad
    return lo / factor, hi * factor
  end
  local size = math.max(math.abs(lo), math.abs(hi))
  -- If all values are equal up to rounding errors, the axis is widened around them. Otherwise its ticks would get equal
  -- labels.
  if hi - lo <= size * 1e-10 or size < 1e-150 then
    local half = (size < 1e-150 or whole and size < 1e9) and 1 or size * 0.1
    return lo - half, hi + half
  end
  local margin = (hi - lo) * pad
  -- If no value is negative, the axis does not reach below 0; if no value is positive, it does not reach above 0.
  return (lo >= 0 and lo < margin) and 0 or lo - margin, (hi <= 0 and -hi < margin) and 0 or hi + margin
end

-- True for a y axis of small range, e.g. of shares: its ticks may lie between integers.
local function may_be_between(axis, name) return name == "y" and axis.hi - axis.lo < 4 end

---Returns an axis with the range `o.range`, or else an axis that covers the values that have a place on it (`shows`).
---The share `o.pad` of their range is added at each end, but the axis reaches 0 at most, if no value lies beyond 0. If
---all values are equal, the axis is widened around them. Without a range, it is an error if no value has a place. The
---range of a logarithmic axis must be positive. A finite value above 1e150 in size is an error, as is a positive one
---below 1e-150 on a logarithmic axis. In this error, `o.argument` (default `o.name`) says what the values are.
---@param o { name: string, argument?: string, label?: string, log?: boolean, range?: number[], values: number[],
---   pad: number }
---@return mr.plot.Axis
function M.axis(where, o)
  local axis = { log = o.log or false, label = o.label, lo = math.huge, hi = -math.huge }
  axis.whole = not o.log
  for _, x in ipairs(o.values) do
    check_size(where, o, x)
    axis.whole = axis.whole and (not finite(x) or x % 1 == 0)
    if M.shows(axis, x) then axis.lo, axis.hi = math.min(axis.lo, x), math.max(axis.hi, x) end
  end
  if o.range then
    check.expect(not o.log or o.range[1] >= 1 / largest_drawn, where, o.name .. "range[1]", o.range[1],
      "at least 1e-150 for a logarithmic axis")
    axis.lo, axis.hi = o.range[1], o.range[2]
    axis.whole = axis.whole and not may_be_between(axis, o.name)
    return axis
  end
  if axis.lo > axis.hi then
    check.fail("%s: no %s to show: every entry is NaN or infinite%s", where, o.name,
      o.log and ", or not positive (the axis is logarithmic)" or "")
  end
  axis.whole = axis.whole and not may_be_between(axis, o.name)
  axis.lo, axis.hi = widened(axis.lo, axis.hi, axis.log, o.pad, axis.whole)
  return axis
end

---Returns the position of a value on an axis, from 0 at the axis's beginning to 1 at its end. A
---value outside of the axis has a position below 0 or above 1.
---Example: `require("moonrank.plot.scale").position({lo = 1, hi = 100, log = true}, 10)   --> 0.5`
function M.position(axis, x)
  local lo, hi = axis.lo, axis.hi
  if axis.log then x, lo, hi = math.log(x), math.log(lo), math.log(hi) end
  local share = (x - lo) / (hi - lo)
  return axis.down and 1 - share or share
end

local suffixes = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" } }

-- Returns the text of a tick, with as many decimals as are needed for ticks that are `step` apart.
local function tick_text(x, step, largest)
  -- A multiple of the step that should be 0 may differ from 0 by a rounding error, and is written as 0.
  if math.abs(x) < step * 1e-6 then return "0" end
  if step < 1e-4 or largest >= 1e12 then
    local power = math.floor(math.log(math.max(largest, math.abs(x)), 10) + 1e-9)
    local digits = math.max(3, power - math.floor(math.log(step, 10) + 1e-9) + 1)
    return (("%." .. digits .. "g"):format(x):gsub("e([+-])0*", "e%1"):gsub("e%+", "e"))
  end
  if largest >= 1e4 then
    for _, each in ipairs(suffixes) do
      if largest >= each[1] then return tick_text(x / each[1], step / each[1], 1) .. each[2] end
    end
  end
  local decimals = math.max(0, -math.floor(math.log(step, 10) + 1e-9))
  return ("%." .. decimals .. "f"):format(x)
end

local function linear_ticks(lo, hi, count, whole)
  local rough = (hi - lo) / math.max(count, 1)
  if rough < 1e-150 or rough < 1e-12 * math.max(math.abs(lo), math.abs(hi)) then return {} end
  if whole and rough < 1 then rough = 1.0 end
  local power = 10.0 ^ math.floor(math.log(rough, 10))
  local step = power * 10
  for _, nice in ipairs{ 1, 2, 2.5, 5 } do
    -- A step of 2.5 is skipped, because its ticks would need a decimal, which steps of 1, 2 and 5 do not need.
    if nice * power >= rough * 0.999 and not (nice == 2.5 and power == 1) then
      step = nice * power
      break
    end
  end
  local ticks = {}
  local decimal_step = step / power == 2.5 and step / 5 or step
  for i = math.ceil(lo / step - 1e-6), math.floor(hi / step + 1e-6) do
    ticks[#ticks + 1] = { at = i * step,
      text = tick_text(i * step, decimal_step, math.max(math.abs(lo), math.abs(hi))) }
  end
  return ticks
end

local function log_text(x)
  if x >= 1e-4 and x < 1e4 then return ("%.6g"):format(x) end
  return x < 1 and tick_text(x, math.min(x, 1e-9), x) or tick_text(x, 10.0 ^ math.floor(math.log(x, 10) + 1e-9), x)
end

local function log_ticks(lo, hi, count)
  local first, last = math.ceil(math.log(lo, 10) - 1e-9), math.floor(math.log(hi, 10) + 1e-9)
  local parts = last - first >= 2 and { 1 } or { 1, 2, 5 }
  local every = math.max(1, math.ceil((last - first + 1) / math.max(count, 2)))
  local ticks = {}
  for power = first - 1, last do
    for _, part in ipairs(parts) do
      local x = part * 10.0 ^ power
      local inside = x >= lo * 0.999999 and x <= hi * 1.000001
      if inside and (power - first) % every == 0 then ticks[#ticks + 1] = { at = x, text = log_text(x) } end
    end
  end
  return #ticks >= 2 and ticks or linear_ticks(lo, hi, count)
end

---Returns about `count` ticks of an axis, each with its number on the axis (`at`) and its text. An
---axis of categories has a tick for each category.
---@return { at: number, text: string }[]
---Example: `require("moonrank.plot.scale").ticks({lo = 0, hi = 1, log = false}, 5)[2].text   --> 0.2`
function M.ticks(axis, count)
  if axis.categories then
    local ticks = {}
    for i, name in ipairs(axis.categories) do ticks[i] = { at = i, text = name } end
    return ticks
  end
  return (axis.log and log_ticks or linear_ticks)(axis.lo, axis.hi, count, axis.whole)
end

return M
