-- Writes the text below a table of mr.experiment.compared: how many settings are better and worse than the reference
-- setting, which changes are largest, and how far results differ on average from the numbers that a paper prints.
local arguments = require("moonrank.options").arguments
local stats = require "moonrank.stats"

local M = {}

local check_number = arguments{ "n", "integer" }

---Returns a number of things and its verb: "none is", "1 is", "3 are".
---@param n integer
---Example: `mr.experiment.are(3)   --> 3 are`
function M.are(n)
  check_number("mr.experiment.are", n)
  return n == 0 and "none is" or n == 1 and "1 is" or ("%d are"):format(n)
end

-- Returns the values of a row's parameters as text, such as "NSR 1, AP, minmax", without the parameter `except`.
local function name_of(where, o, except)
  local parts = {}
  for _, each in ipairs(o.by) do
    local value = where[each[1]]
    local shown = each.shown and each.shown[value] or tostring(value)
    if each[1] ~= except then
      parts[#parts + 1] = type(value) == "number" and ("%s %s"):format(each.head or each[1], shown) or shown
    end
  end
  return table.concat(parts, ", ")
end

-- Returns a sentence about the differences between our results and the numbers that a paper prints. They are averaged
-- over the values of the parameter that the table compares. Returns "" if the paper prints no numbers.
local function from_printed(rows, o)
  local parts, order, of, compared = {}, {}, {}, next(o.against)
  for _, row in ipairs(rows) do
    local name = row.difference and name_of(row.where, o, compared)
    if name and not of[name] then of[name], order[#order + 1] = {}, name end
    if name then table.insert(of[name], row.difference) end
  end
  for i, name in ipairs(order) do
    parts[i] = ("%+.4f%s"):format(stats.mean(of[name]), name == "" and "" or (" (%s)"):format(name))
  end
  return #parts == 0 and "" or ("\n\nOur numbers less the printed ones are, as means over every %s: %s."):format(
    compared, table.concat(parts, ", "))
end

-- Returns five results about the settings that are compared with the reference setting: how many there are, how many
-- are significantly better and how many significantly worse, and the rows with the largest and the smallest change.
local function counted(rows, o)
  local count, better, worse, most, least = 0, 0, 0, nil, nil
  for _, row in ipairs(rows) do
    if row.change then
      count = count + 1
      local surely = row.holm < o.alpha
      better, worse = better + (surely and row.change > 0 and 1 or 0), worse + (surely and row.change <= 0 and 1 or 0)
      if not most or row.change > most.change then most = row end
      if not least or row.change < least.change then least = row end
    end
  end
  return count, better, worse, most, least
end

-- Returns the sentence that says how many settings are significantly better and worse than the reference setting. If
-- only one setting is compared, the sentence names this setting.
local function on_significance(o, count, better, worse, only)
  local than = o.than or o.base
  if count ~= 1 then
    return ("On %s, of %d %s %s significantly better than %s and %s significantly worse."):format(o.on, count, o.what,
      M.are(better), than, M.are(worse))
  end
  local how = better == 1 and "significantly better than" or worse == 1 and "significantly worse than"
    or "not significantly different from"
  return ("On %s, %s is %s %s."):format(o.on, name_of(only.where, o), how, than)
end

-- Returns the sentence on the settings with the largest and the smallest change. The words depend on signs: if every
-- setting gains, the smallest change is called the least gain, not a loss.
local function on_extremes(o, most, least)
  local function said(row) return ("%s (%+.4f)"):format(name_of(row.where, o), row.change) end
  if most == least then return ("The change is %+.4f."):format(most.change) end
  if least.change >= 0 then return ("Most is gained by %s, least by %s."):format(said(most), said(least)) end
  if most.change <= 0 then return ("Most is lost by %s, least by %s."):format(said(least), said(most)) end
  return ("Most is gained by %s, most lost by %s."):format(said(most), said(least))
end

---Returns the sentence on how many settings are better and worse, and the whole text.
---@param rows table[]  rows of mr.experiment.compared
---@param o mr.experiment.ComparedOptions
---@return string first
---@return string text
function M.of(rows, o)
  local count, better, worse, most, least = counted(rows, o)
  local first = on_significance(o, count, better, worse, most)
  if count == 0 then return first, first end
  local over = count == 1 and "" or " after Holm's correction over all comparisons"
  local how = ("Significance is at %g %%%s (permutation test of the mean change, paired by %s)."):format(
    100 * o.alpha, over, o.unit)
  return first, table.concat({ first, how, on_extremes(o, most, least) }, "\n") .. from_printed(rows, o)
end

return M
