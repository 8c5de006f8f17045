-- Defines the result of mr.compare: a table with a row per system and a column per metric, and its exports.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local conventions = require "moonrank.metrics.conventions"
local latex = require "moonrank.table.latex"
local tables = require "moonrank.table"
local tested = require "moonrank.compare.tested"

local M = {}

---@class mr.compare.Cell
---@field mean number
---@field low number          ends of the interval of the mean
---@field high number
---@field n integer           users or queries with a value
---@field better_than string  letters of the systems than which this one is significantly better

---@class mr.compare.Pair
---@field metric string
---@field system string
---@field other string
---@field difference number  mean of `system` minus that of `other`
---@field p number
---@field corrected number   p after the correction
---@field n integer

---Result of mr.compare: the mean of every metric for every system, with its interval, and a test of
---each pair of systems. It prints as a table.
---@class mr.Comparison: mr.Exports
---@field systems string[]   names in the order of their letters, a for the first
---@field metrics mr.Metric[]  in the order of the columns
---@field count integer      number of compared users or queries; for lists without names, of lists
---@field queries string[]   names of users or queries; numbers for lists without names
---@field values table<string, table<string, mr.Tensor>>  by metric and system: one value per user or query, or NaN
---@field cells table<string, table<string, mr.compare.Cell>>  by metric and system
---@field pairs mr.compare.Pair[]  the tests, one for each metric and two systems
---@field notes string[]    what was ranked, averaged or interrupted, and which queries runs and judgments do not share
---@field interrupted table<string, integer>  number of interrupted trainings, by system left out
---@field alpha number     significance level of the tests
---@field level number     confidence level of the intervals
---@field runs integer      number of runs of each system
local Comparison = check.class("mr.Comparison")

function M.new(fields) return setmetatable(fields, Comparison) end

local function digits(value) return tables.digits("%.4f", value) end

-- Returns note lines such as "3 of 100 lists are left out by ndcg". A metric leaves out lists for which it is NaN.
local function left_out(self)
  local metrics_by, numbers = {}, {}
  for _, metric in ipairs(self.metrics) do
    local most = 0
    for _, name in ipairs(self.systems) do most = math.max(most, self.count - self.cells[metric.name][name].n) end
    if most > 0 and not metrics_by[most] then numbers[#numbers + 1], metrics_by[most] = most, {} end
    if most > 0 then table.insert(metrics_by[most], metric.name) end
  end
  for i, number in ipairs(numbers) do
    numbers[i] = ("%d of %d lists are left out by %s"):format(number, self.count,
      table.concat(metrics_by[number], ", "))
  end
  return numbers
end

-- Returns the lines below every table of a comparison: the conventions of the metrics, and which lists are left out.
local function notes_of(self)
  local notes = { conventions.line(self.metrics) }
  table.move(self.notes, 1, #self.notes, 2, notes)
  local out = left_out(self)
  return table.move(out, 1, #out, #notes + 1, notes)
end

-- Returns the note that explains the intervals in brackets, and says over how many runs the means are taken.
local function intervals_note(self)
  local runs = self.runs > 1 and ("; means of %d runs of each system"):format(self.runs) or ""
  return ("[low, high]: %g %% interval of the mean (bootstrap over lists, percentiles)%s"):format(100 * self.level,
    runs)
end

-- Returns the table that a comparison prints, with a row for each system. `mark` formats the letters of the systems
-- that are significantly worse. `order` has the systems' numbers, and `emphasis` formats the mean of a system and
-- metric.
local function shown(self, mark, order, emphasis)
  local columns, rows = { "", "system" }, {}
  for _, metric in ipairs(self.metrics) do columns[#columns + 1] = metric.name end
  for row = 1, #self.systems do
    local i = order and order[row] or row
    local name = self.systems[i]
    rows[row] = { string.char(96 + i), name }
    for _, metric in ipairs(self.metrics) do
      local cell = self.cells[metric.name][name]
      local letters = cell.better_than ~= "" and mark(cell.better_than) or ""
      local mean = digits(cell.mean)
      if emphasis then mean = emphasis(mean, metric) end
      table.insert(rows[row], ("%s%s [%s, %s]"):format(mean, letters, digits(cell.low), digits(cell.high)))
    end
  end
  for _, name in ipairs(check.names(self.interrupted)) do rows[#rows + 1] = { "", name .. " (interrupted)" } end
  local notes = notes_of(self)
  local form = "%d lists; a letter: significantly better than that system (%s, %s, p < %g)"
  local test, correction = tested.words("permutation", "holm")
  table.insert(notes, 1, form:format(self.count, test, correction, self.alpha))
  table.insert(notes, 2, intervals_note(self))
  return tables.new{ columns = columns, rows = rows, notes = notes }
end

---Returns a table with a row for each metric and system: the mean and its interval at full precision,
---and the letters of the systems that are significantly worse.
---@return mr.Table
function Comparison:table()
  local rows = {}
  for _, metric in ipairs(self.metrics) do
    for i, name in ipairs(self.systems) do
      local cell = self.cells[metric.name][name]
      rows[#rows + 1] = { metric.name, string.char(96 + i), name, cell.mean, cell.low, cell.high, cell.better_than,
        cell.n, next(self.interrupted) and 0 or nil }
    end
    for _, name in ipairs(check.names(self.interrupted)) do
      rows[#rows + 1] = { metric.name, nil, name, nil, nil, nil, nil, nil, self.interrupted[name] }
    end
  end
  local columns = { "metric", "letter", "system", "mean", "low", "high", "better than", "lists" }
  if next(self.interrupted) then columns[#columns + 1] = "interrupted" end
  local notes = notes_of(self)
  table.insert(notes, 1, intervals_note(self))
  return tables.new{ columns = columns, rows = rows, notes = notes }
end

---Returns a table of the significance tests, with a row for each metric and pair of systems: the
---difference of their means (first minus second), p, and p after Holm's correction.
---@return mr.Table
function Comparison:tests()
  local rows = {}
  for i, pair in ipairs(self.pairs) do
    rows[i] = { pair.metric, pair.system, pair.other, pair.n, pair.difference, pair.p, pair.corrected }
  end
  local notes = notes_of(self)
  table.insert(notes, 1, tested.line("permutation", "holm"))
  return tables.new{ columns = { "metric", "system", "other", "lists", "difference", "p", "p corrected" }, rows = rows,
    formats = { difference = "%+.4f" }, notes = notes }
end

---Shows which users or queries gain and which lose between two systems, by the shape of their lists:
---their number of rows N, and of relevant rows P (rows with grade 1 or higher). For TREC
---runs, evaluated or not, these rows are the judged documents of the query. Each group of lists has
---the two means, the mean gain with its bootstrap interval, and the shares of lists for which the
---first system is better and worse. A user or query with several lists has the mean N and P of these
---lists. The result prints as a table, and `:plot()` draws it.
---@param options? mr.compare.GainsOptions
---@return mr.Gains
---Example:
---```lua
---local lists = mr.lists{{1, 0}, {1, 1, 0}}
---local ours = mr.evaluate(mr.tensor{2, 1, 3, 2, 1}, lists, {"ap"})
---local theirs = mr.evaluate(mr.tensor{1, 2, 3, 2, 1}, lists, {"ap"})
---mr.compare{ours = ours, theirs = theirs}:gains{groups = 2}.groups[1].difference   --> 0.5
---```
function Comparison:gains(options) return require("moonrank.compare.gains").make(self, options) end

---Returns the comparison as a Markdown table, with a row per system and a column per metric.
---@return string
function Comparison:to_markdown() return shown(self, function(letters) return " " .. letters end):to_markdown() end

---Returns the comparison as an HTML table, with a row per system and a column per metric.
---@return string
function Comparison:to_html() return shown(self, function(letters) return " " .. letters end):to_html() end

-- Returns the mean of a metric for each system, by the system's number, and which means are better ("max" or "min").
local function means_of(self, metric)
  local means = {}
  for i, name in ipairs(self.systems) do means[i] = self.cells[metric.name][name].mean end
  return means, metric.minimize and "min" or "max"
end

-- Returns the numbers of the systems in the order that the option `order` of to_latex asks for.
local function order_of(self, order)
  local where, given, names = "comparison:to_latex", {}, { "given", "mean" }
  for i in ipairs(self.systems) do given[i] = i end
  if order == "given" then return given end
  if type(order) == "table" then return latex.by_list(where, "system", self.systems, order) end
  for i, metric in ipairs(self.metrics) do
    if order == metric.name or order == "mean" and i == 1 then
      local means, better = means_of(self, metric)
      return latex.by_number(means, given, better)
    end
    names[#names + 1] = metric.name
  end
  check.unknown("order of " .. where, order, names)
end

-- Returns the best finite mean of each metric as printed text; a metric without finite means has no entry.
local function best_means(self)
  local best = {}
  for _, metric in ipairs(self.metrics) do
    local means, better = means_of(self, metric)
    local finite = {}
    for i, mean in ipairs(means) do finite[#finite + 1] = mean - mean == 0 and i or nil end
    local first = latex.by_number(means, finite, better)[1]
    best[metric.name] = first and digits(means[first])
  end
  return best
end

-- Characters from Unicode's private use area. They stand for LaTeX commands in table cells until the cells are escaped.
local raised <const>, bold <const>, closed <const> = "\u{E000}", "\u{E001}", "\u{E002}"

---Returns the comparison as a LaTeX table (package booktabs), with a row per system and a column
---per metric. Letters of significantly worse systems are superscripts. Options add a caption, sort
---the systems, and print the best mean of each metric in bold: `order = "mean"` sorts by the first
---metric and `order = "ap"` by AP, each with the best system first. `order = {"base", "ours"}` gives
---the systems by name; systems that it lacks follow.
---@param options? mr.LatexOptions
---@return string
function Comparison:to_latex(options)
  local o = latex.read("comparison:to_latex", options)
  local best = o.best and best_means(self) or {}
  local function emphasis(mean, metric)
    return mean == best[metric.name] and bold .. mean .. closed or mean
  end
  local text = shown(self, function(letters) return raised .. letters .. closed end, order_of(self, o.order), emphasis)
    :to_latex{ caption = o.caption, label = o.label }
  text = text:gsub(raised .. "(%l+)" .. closed, "\\textsuperscript{%1}")
  return (text:gsub(bold .. "([%d.-]+)" .. closed, "\\textbf{%1}"))
end

tables.add_exports(Comparison)

local check_plot = arguments{ "options", "table", required = false }

---Draws the mean of each system and metric as a bar with its confidence interval. The bars of one
---metric stand side by side.
---@param options? mr.plot.Common
---@return mr.Figure
function Comparison:plot(options)
  local o = { ylabel = ("mean, %g %% interval"):format(100 * self.level), categories = {}, series = {} }
  check_plot("comparison:plot", options)
  for name, value in pairs(options or {}) do o[name] = value end
  for i, metric in ipairs(self.metrics) do o.categories[i] = metric.name end
  for s, name in ipairs(self.systems) do
    local means, low, high = {}, {}, {}
    for i, metric in ipairs(self.metrics) do
      local cell = self.cells[metric.name][name]
      means[i], low[i], high[i] = cell.mean, cell.low, cell.high
    end
    o.series[s] = { name = name, values = means, low = low, high = high }
  end
  return require("moonrank.plot").bars(o)
end

function Comparison:__tostring()
  return tostring(shown(self, function(letters) return " " .. letters end))
end

return M
