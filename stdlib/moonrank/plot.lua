-- Figures, drawn by gnuplot: lines, points, distributions, bars, heat maps, and several of them side by side.
local check = require "moonrank.check"
local figure = require "moonrank.plot.figure"
local grids = require "moonrank.plot.grids"
local marks = require "moonrank.plot.marks"
local parallel = require "moonrank.plot.parallel"

local M = {}

local function one(kind, build, options)
  if type(options) ~= "table" then check.fail("mr.plot.%s: options is a %s, expected a table", kind, type(options)) end
  local copy = {}
  for name, value in pairs(options) do copy[name] = value end
  local panel, o = build(copy)
  return figure.new{ kind = kind, panels = { panel }, caption = o.caption, width = o.width, height = o.height, legend = o.legend }
end

---@class mr.plot.Common
---@field title? string   like all text it is drawn verbatim; line breaks stay in titles, captions and categories, elsewhere they become spaces
---@field xlabel? string
---@field ylabel? string
---@field caption? string   set small below the figure
---@field legend? "auto"|"labels"|"legend"|"none"   labels: names at the ends of lines; auto: those where they do not overlap, else a legend
---@field width? integer    pixels, 1/96 inch each in a PDF (default 640)
---@field height? integer   default 420

---@class mr.plot.Axes: mr.plot.Common
---@field xlog? boolean
---@field ylog? boolean
---@field xrange? number[]   {lowest, highest}
---@field yrange? number[]
---@field vlines? (number|{ [1]: number, [2]: string })[]   vertical reference lines, with words
---@field hlines? (number|{ [1]: number, [2]: string })[]
---@field shade? { from: number, to: number, name?: string }[]   regions of x

---@class mr.plot.Series
---@field y number[]|mr.Tensor    NaN and infinite entries are gaps
---@field x? number[]|mr.Tensor   default 1, 2, ...
---@field name? string
---@field color? integer          series with one number have one colour (default: its index in the list)

---@class mr.plot.Line: mr.plot.Series
---@field low? number[]|mr.Tensor   lower edge of a shaded band
---@field high? number[]|mr.Tensor
---@field style? "solid"|"dashed"|"dotted"

---@class mr.plot.Lines: mr.plot.Line, mr.plot.Axes
---@field series? mr.plot.Line[]   several; the fields of a single one may also be given here
---@field points? { x?: number[]|mr.Tensor, y: number[]|mr.Tensor }   small grey points behind the lines: what a curve was fitted to

---Lines through points.
---@param options mr.plot.Lines
---@return mr.Figure
---Example: `mr.plot.lines{y = {1, 4, 9}, title = "Squares"}   --> mr.Figure lines: 1 series, 'Squares'`
function M.lines(options) return one("lines", marks.lines, options) end

---@class mr.plot.Scatter: mr.plot.Series, mr.plot.Axes
---@field series? mr.plot.Series[]   several, each with an optional `size` of its own
---@field size? number        of the points (default 0.7)
---@field diagonal? boolean   draws y = x

---Points.
---@param options mr.plot.Scatter
---@return mr.Figure
---Example: `mr.plot.scatter{x = {1, 2}, y = {2, 1}, diagonal = true}   --> mr.Figure scatter: 1 series`
function M.scatter(options) return one("scatter", marks.scatter, options) end

---@class mr.plot.Ecdf: mr.plot.Axes
---@field series? { name?: string, values: number[]|mr.Tensor, style?: string, color?: integer }[]   NaN and infinite values are left out
---@field values? number[]|mr.Tensor   of a single series; its name, style and color are then fields here

---Empirical distribution functions: the share of values that are at most x.
---@param options mr.plot.Ecdf
---@return mr.Figure
---Example: `mr.plot.ecdf{values = {0.5, 0.7, 0.7}}   --> mr.Figure ecdf: 1 series`
function M.ecdf(options) return one("ecdf", marks.ecdf, options) end

---@class mr.plot.Bars: mr.plot.Common
---@field categories string[]
---@field series? { name?: string, values: number[]|mr.Tensor, errors?: number[]|mr.Tensor, low?: number[]|mr.Tensor, high?: number[]|mr.Tensor, color?: integer }[]   one value per category
---@field values? number[]|mr.Tensor   of a single series; its name and color are then fields here
---@field errors? number[]|mr.Tensor   half the length of its error bars, where they are symmetric
---@field low? number[]|mr.Tensor      or the ends of its error bars
---@field high? number[]|mr.Tensor
---@field horizontal? boolean
---@field yrange? number[]   of the values (xrange where horizontal); ylog and xlog likewise
---@field ylog? boolean
---@field xrange? number[]
---@field xlog? boolean

---Bars in groups, one group per category, with error bars.
---@param options mr.plot.Bars
---@return mr.Figure
---Example: `mr.plot.bars{categories = {"ap", "ndcg"}, values = {0.4, 0.6}}   --> mr.Figure bars: 1 series`
function M.bars(options) return one("bars", grids.bars, options) end

---@class mr.plot.Interval
---@field name? string
---@field values number[]|mr.Tensor   one per category; NaN leaves a place empty
---@field low? number[]|mr.Tensor     a short interval with caps, such as that of a mean
---@field high? number[]|mr.Tensor
---@field wide_low? number[]|mr.Tensor   a long one without, such as that of a single run
---@field wide_high? number[]|mr.Tensor
---@field color? integer

---@class mr.plot.Intervals: mr.plot.Interval, mr.plot.Common
---@field categories string[]
---@field series? mr.plot.Interval[]   several; the fields of a single one may also be given here
---@field horizontal? boolean
---@field range? number[]   of the values

---Points with one or two intervals each, in groups, one group per category.
---@param options mr.plot.Intervals
---@return mr.Figure
---Example: `mr.plot.intervals{categories = {"ap", "ndcg"}, values = {0.4, 0.6}, low = {0.3, 0.5}, high = {0.5, 0.7}}   --> mr.Figure intervals: 1 series`
function M.intervals(options) return one("intervals", grids.intervals, options) end

---@class mr.plot.Heatmap: mr.plot.Common
---@field values number[][]|mr.Tensor   rows
---@field x? (string|number)[]|mr.Tensor   names of the columns
---@field y? (string|number)[]|mr.Tensor   of the rows: numbers ascend upwards, words go downwards
---@field labels? boolean|string|string[][]   the numbers in the cells; or their format, e.g. "%.2f"; or rows of words, which stand in cells without
---   a number, too
---@field zlabel? string
---@field zrange? number[]
---@field diverging? boolean   two colours around 0, where the values lie on both sides of it

---A heat map. With `legend = "none"` it has no bar of colours, as one of several beside each other.
---@param options mr.plot.Heatmap
---@return mr.Figure
---Example: `mr.plot.heatmap{values = {{1, 2, 3}, {4, 5, 6}}}   --> mr.Figure heatmap: 2 x 3`
function M.heatmap(options) return one("heatmap", grids.heatmap, options) end

---@class mr.plot.Coordinate
---@field name? string
---@field values (number|string)[]|mr.Tensor   one for each line; NaN where it does not apply: the line passes below, and ends before the last axis
---@field log? boolean
---@field range? number[]   {lowest, highest}
---@field ticks? number[]   default: round numbers

---@class mr.plot.Parallel
---@field axes mr.plot.Coordinate[]
---@field color number[]|mr.Tensor   one for each line
---@field groups? string[]    one for each line: lines of the group "" have colours, others the look of their group, named in the legend
---@field minimize? boolean   less is better: the best lines are the darkest ones, on top of others
---@field zlabel? string      of the colours
---@field zrange? number[]
---@field title? string
---@field caption? string
---@field legend? "auto"|"legend"|"none"
---@field width? integer      default 120 for each axis and 120, at least 640
---@field height? integer     default 420

---Parallel coordinates: an axis for each coordinate, with its own values, and a line for each row, coloured by a number.
---@param options mr.plot.Parallel
---@return mr.Figure
---Example: `mr.plot.parallel{axes = {{name = "lr", values = {0.1, 0.01}, log = true}, {values = {"ap", "rr"}}}, color = {1, 2}}   --> mr.Figure parallel: 2 lines, 2 axes`
function M.parallel(options) return one("parallel", parallel.parallel, options) end

local none = check.none
local facet_options = { columns = none, title = none, caption = none, legend = "auto", width = none, height = none }

---@class mr.plot.Facets
---@field [integer] mr.Figure
---@field columns? integer   default 3, or 2 for two or four figures
---@field title? string
---@field caption? string
---@field legend? "auto"|"labels"|"legend"|"none"   auto: one for all where their series are the same
---@field width? integer
---@field height? integer

---Several figures side by side, each with its title, row by row.
---@param options mr.plot.Facets
---@return mr.Figure
---Example: `mr.plot.facets{mr.plot.lines{y = {1, 2}}, mr.plot.lines{y = {2, 1}}, title = "Both"}   --> mr.Figure facets: 2 panels, 'Both'`
function M.facets(options)
  local where = "mr.plot.facets"
  if type(options) ~= "table" then check.fail("%s: options is a %s, expected a table", where, type(options)) end
  local named, panels = {}, {}
  for key, value in pairs(options) do
    if math.type(key) == nil then named[key] = value end
  end
  local o = check.options(where, named, facet_options)
  for i, each in ipairs(options) do
    if getmetatable(each) ~= figure.Figure then check.fail("%s: entry %d is a %s, expected a figure", where, i, type(each)) end
    if each.kind == "facets" then check.fail("%s: entry %d is facets itself", where, i) end
    panels[i] = each._.panels[1]
  end
  if #panels == 0 then check.fail("%s: no figures given", where) end
  local columns = o.columns or (#panels == 2 or #panels == 4) and 2 or 3
  if math.type(columns) ~= "integer" or columns < 1 then
    check.fail("%s: columns is %s, expected a whole number from 1", where, tostring(columns))
  end
  columns = math.min(columns, #panels)
  o.width, o.height = o.width or 320 * columns, o.height or 250 * ((#panels + columns - 1) // columns) + 50
  marks.check_page(where, o)
  return figure.new{ kind = "facets", panels = panels, columns = columns, title = o.title and tostring(o.title),
    caption = o.caption and tostring(o.caption), legend = o.legend, width = o.width, height = o.height }
end

return M
