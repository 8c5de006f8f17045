-- Implements comparison:gains, which shows which lists gain and which lists lose between two systems, by the number of
-- rows (N) and the number of relevant rows (P) of the lists.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local stats = require "moonrank.stats"
local tables = require "moonrank.table"

local M = {}

local where = "comparison:gains"

local gains_options = declare("mr.compare.GainsOptions", {
  { "metric", "string", shown = "the first of the comparison", help = "metric whose values are compared" },
  { "system", "string", shown = "the first system", help = "system whose gains are shown" },
  { "other", "string", shown = "the second system", help = "system that it is compared with" },
  { "by", "string", default = "relevant", choices = { "relevant", "rows", "both" },
    help = "what divides the lists: relevant is P, the relevant rows of a list; rows is N, all its rows; both is P "
      .. "and N" },
  { "groups", "integer", default = 4, least = 1, most = 20,
    help = "number of groups by P or N; each has about as many lists, and lists of equal P or N stay together" },
})

---@class mr.compare.Gain
---@field relevant number[]|false  smallest and largest P of the group; false if P does not divide the lists
---@field rows number[]|false      smallest and largest N of the group; false if N does not divide the lists
---@field lists integer
---@field system number      mean of the first system
---@field other number       mean of the other system
---@field difference number  mean gain: positive if the first system is better
---@field low number         ends of the interval of the mean gain
---@field high number
---@field better number      share of lists for which the first system is better
---@field worse number       share of lists for which it is worse

---Result of comparison:gains: how many lists gain and how many lose between two systems, in groups
---of lists with similar numbers of rows or relevant rows.
---@class mr.Gains: mr.Exports
---@field metric string  name of the metric whose values are compared
---@field system string  the system whose gains are shown
---@field other string   the system that it is compared with
---@field by "relevant"|"rows"|"both"  what divides the lists: relevant rows, rows or both
---@field level number   confidence level of the intervals
---@field groups mr.compare.Gain[]  lists with similar numbers of rows or relevant rows
---@field all mr.compare.Gain       all lists
local Gains = check.class "mr.Gains"

-- Divides numbers into at most `count` groups with about equally many numbers each. Equal numbers are in one group.
-- Returns the range {smallest, largest} of each group, and the number of the group of each number.
local function divided(numbers, count)
  local sorted, ranges, group_of, first = table.move(numbers, 1, #numbers, 1, {}), {}, {}, 1
  table.sort(sorted)
  for left = count, 1, -1 do
    local target = first - 1 + math.ceil((#sorted - first + 1) / left)
    if target < first then break end
    -- Equal numbers stay in one group. The group ends after all numbers equal to the target's (`last`), or before them
    -- (`before`), whichever is nearer to the target.
    local before, last = target, target
    while last < #sorted and sorted[last + 1] == sorted[target] do last = last + 1 end
    while before >= first and sorted[before] == sorted[target] do before = before - 1 end
    if left > 1 and before >= first and target - before < last - target then last = before end
    ranges[#ranges + 1], first = { sorted[first], sorted[last] }, last + 1
  end
  for i, value in ipairs(numbers) do
    for g, range in ipairs(ranges) do
      if value <= range[2] then
        group_of[i] = g
        break
      end
    end
  end
  return ranges, group_of
end

-- Returns how two systems compare on the lists at the positions `members`: means, interval, gains and losses.
local function summary_of(data, members, level)
  local system, other, gains = {}, {}, {}
  for i, at in ipairs(members) do system[i], other[i], gains[i] = data.system[at], data.other[at], data.gains[at] end
  local effect = stats.effect_size(system, other)
  local better, worse = effect.wins, effect.losses
  if data.minimize then better, worse = worse, better end
  local interval = stats.bootstrap(gains, { level = level, samples = 2000 })
  return { relevant = false, rows = false, lists = #members, system = stats.mean(system), other = stats.mean(other),
    difference = interval.estimate, low = interval.low, high = interval.high, better = better,
    worse = worse }
end

-- Returns the values of two systems on the lists for which both have one, and the shapes of these lists.
local function data_of(comparison, metric, system, other)
  local values, shapes = comparison.values[metric.name], comparison._shapes()
  local a, b = core.numbers(values[system]), core.numbers(values[other])
  local data = { minimize = metric.minimize, system = {}, other = {}, gains = {}, relevant = {}, rows = {} }
  for i = 1, #a do
    if a[i] == a[i] and b[i] == b[i] then
      local n = #data.gains + 1
      data.system[n], data.other[n], data.relevant[n], data.rows[n] = a[i], b[i], shapes.relevant[i], shapes.rows[i]
      data.gains[n] = metric.minimize and b[i] - a[i] or a[i] - b[i]
    end
  end
  return data
end

-- Groups the lists by P (number of relevant rows) or N (number of all rows). Returns a group for each range of that
-- number that contains lists, or, with o.by = "both", for each pair of a range of P and a range of N.
local function groups_of(data, o, level)
  local attributes = o.by == "both" and { "relevant", "rows" } or { o.by }
  local ranges, places, members, groups = {}, {}, {}, {}
  for a, name in ipairs(attributes) do ranges[a], places[a] = divided(data[name], o.groups) end
  local width = ranges[2] and #ranges[2] or 1
  local function key_of(first, second) return (first - 1) * width + second end
  for i = 1, #data.gains do
    local key = key_of(places[1][i], places[2] and places[2][i] or 1)
    members[key] = members[key] or {}
    table.insert(members[key], i)
  end
  for first = 1, #ranges[1] do
    for second = 1, width do
      local own = members[key_of(first, second)]
      if own then
        local group = summary_of(data, own, level)
        group[attributes[1]] = ranges[1][first]
        if ranges[2] then group[attributes[2]] = ranges[2][second] end
        groups[#groups + 1] = group
      end
    end
  end
  return groups
end

-- Makes the result of comparison:gains.
function M.make(comparison, options)
  local o = gains_options:read(where, options)
  local names, metrics = comparison.systems, {}
  for i, each in ipairs(comparison.metrics) do metrics[i], metrics[each.name] = each.name, each end
  -- Returns the system that is not `taken`; nil if there are more than two, so that the script must name them.
  local function default(taken)
    if #names == 2 then return names[taken == names[1] and 2 or 1] end
  end
  local name, system = o.metric or metrics[1], o.system or default(o.other)
  local other = o.other or default(system)
  for _, each in ipairs{ { "metric", name, metrics }, { "system", system, names }, { "other", other, names } } do
    check.choice(where, table.unpack(each, 1, 3))
  end
  check.expect(system ~= other, where, "other", other, "another system than the option system")
  local data = data_of(comparison, metrics[name], system, other)
  local all = {}
  for i = 1, #data.gains do all[i] = i end
  check.not_empty(where, ("the set of lists with a value of %s for both systems"):format(name), all, "list")
  return setmetatable({ metric = name, system = system, other = other, by = o.by, level = comparison.level,
    groups = groups_of(data, o, comparison.level), all = summary_of(data, all, comparison.level) }, Gains)
end

local function range_text(range)
  if not range then return nil end
  local low, high = ("%.4g"):format(range[1]), ("%.4g"):format(range[2])
  return low == high and low or ("%s to %s"):format(low, high)
end

---Returns a table with a row for each group of lists, and a last row for all lists.
---@return mr.Table
function Gains:table()
  local columns, rows = {}, {}
  if self.by ~= "rows" then columns[1] = "P" end
  if self.by ~= "relevant" then columns[#columns + 1] = "N" end
  local shape = #columns
  table.move({ "lists", self.system, self.other, "gain", "low", "high", "better", "worse" }, 1, 8, shape + 1, columns)
  local function add(group, first)
    local row = {}
    if self.by ~= "rows" then row[1] = first or range_text(group.relevant) end
    if self.by ~= "relevant" then row[#row + 1] = first and #row == 0 and first or range_text(group.rows) or "" end
    table.move({ group.lists, group.system, group.other, group.difference, group.low, group.high, group.better,
      group.worse }, 1, 8, shape + 1, row)
    rows[#rows + 1] = row
  end
  for _, group in ipairs(self.groups) do add(group) end
  add(self.all, "all")
  local formats = { [self.system] = "%.4f", [self.other] = "%.4f" }
  for _, name in ipairs{ "gain", "low", "high" } do formats[name] = "%+.4f" end
  formats.better, formats.worse = "%.3f", "%.3f"
  return tables.new{ columns = columns, rows = rows, formats = formats, notes = {
    ("%s; P: relevant rows of a list, N: its rows; gain: mean improvement of %s over %s"):format(self.metric,
      self.system, self.other),
    ("low, high: %g %% interval (bootstrap over lists); better, worse: shares of lists"):format(100 * self.level) } }
end

tables.add_exports(Gains)

local function heat_map(self, title)
  local rows, columns, row_at, column_at, values, words = {}, {}, {}, {}, {}, {}
  for _, group in ipairs(self.groups) do
    local p, n = "P " .. range_text(group.relevant), "N " .. range_text(group.rows)
    if not row_at[p] then rows[#rows + 1], row_at[p] = p, #rows + 1 end
    if not column_at[n] then columns[#columns + 1], column_at[n] = { n, group.rows[1] }, true end
  end
  table.sort(columns, function(a, b) return a[2] < b[2] end)
  local names = {}
  for c, column in ipairs(columns) do names[c], column_at[column[1]] = column[1], c end
  for r = 1, #rows do
    values[r], words[r] = {}, {}
    for c = 1, #names do values[r][c], words[r][c] = 0 / 0, "" end
  end
  for _, group in ipairs(self.groups) do
    local r, c = row_at["P " .. range_text(group.relevant)], column_at["N " .. range_text(group.rows)]
    values[r][c], words[r][c] = group.difference, ("%+.3f"):format(group.difference)
  end
  return require("moonrank.plot").heatmap{ values = values, x = names, y = rows, labels = words, diverging = true,
    title = title }
end

---Draws the mean gain of each group with its interval. With `by = "both"` it draws a heat map over P
---and N.
---@return mr.Figure
function Gains:plot()
  local title = ("%s: gain of %s over %s"):format(self.metric, self.system, self.other)
  if self.by == "both" then return heat_map(self, title) end
  local o = { categories = {}, values = {}, low = {}, high = {}, title = title, ylabel = "mean gain",
    xlabel = self.by == "relevant" and "relevant rows of a list" or "rows of a list" }
  for i, group in ipairs(self.groups) do
    o.categories[i] = range_text(group[self.by])
    o.values[i], o.low[i], o.high[i] = group.difference, group.low, group.high
  end
  return require("moonrank.plot").intervals(o)
end

function Gains:__tostring() return tostring(self:table()) end

return M
