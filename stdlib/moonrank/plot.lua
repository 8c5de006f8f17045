-- Draws figures by gnuplot: lines, points, distributions, bars, heat maps, parallel coordinates, and several figures
-- side by side.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local figure = require "moonrank.plot.figure"
local grids = require "moonrank.plot.grids"
local marks = require "moonrank.plot.marks"
local parallel = require "moonrank.plot.parallel"

local M = {}

local function one(kind, build, options)
  local panel, o = build(options)
  return figure.new{ kind = kind, panels = { panel }, caption = o.caption, width = o.width, height = o.height,
    legend = o.legend }
end

---Draws lines through points.
---@param options mr.plot.Lines
---@return mr.Figure
---Example: `mr.plot.lines{y = {1, 4, 9}, title = "Squares"}   --> mr.Figure lines: 1 series, 'Squares'`
function M.lines(options) return one("lines", marks.lines, options) end

---Draws a scatter plot: points without lines.
---@param options mr.plot.Scatter
---@return mr.Figure
---Example: `mr.plot.scatter{x = {1, 2}, y = {2, 1}, diagonal = true}   --> mr.Figure scatter: 1 series`
function M.scatter(options) return one("scatter", marks.scatter, options) end

---Draws empirical distribution functions: for each x, the share of values that are at most x.
---@param options mr.plot.Ecdf
---@return mr.Figure
---Example: `mr.plot.ecdf{values = {0.5, 0.7, 0.7}}   --> mr.Figure ecdf: 1 series`
function M.ecdf(options) return one("ecdf", marks.ecdf, options) end

---Draws a bar chart with one group of bars per category. Bars get error bars if the options contain
---intervals (`errors`, or `low` and `high`). `labels = true` writes each value at the end of its
---bar, or of the bar's error bar.
---@param options mr.plot.Bars
---@return mr.Figure
---Example:
---```lua
---local o = {categories = {"ap", "ndcg"}, values = {0.4, 0.6}, labels = "%.1f"}
---mr.plot.bars(o)   --> mr.Figure bars: 1 series
---```
function M.bars(options) return one("bars", grids.bars, options) end

---Draws points with one or two intervals each, such as confidence intervals, in one group per
---category.
---@param options mr.plot.Intervals
---@return mr.Figure
---Example:
---```lua
---local o = {categories = {"ap", "ndcg"}, values = {0.4, 0.6}, low = {0.3, 0.5}, high = {0.5, 0.7}}
---mr.plot.intervals(o)   --> mr.Figure intervals: 1 series
---```
function M.intervals(options) return one("intervals", grids.intervals, options) end

---Draws a heat map. `legend = "none"` leaves out the colour bar, e.g. for one of several heat maps
---side by side.
---@param options mr.plot.Heatmap
---@return mr.Figure
---Example: `mr.plot.heatmap{values = {{1, 2, 3}, {4, 5, 6}}}   --> mr.Figure heatmap: 2 x 3`
function M.heatmap(options) return one("heatmap", grids.heatmap, options) end

---Draws parallel coordinates: an axis with its own scale for each coordinate, and a line for each
---row of the data, coloured by a number.
---@param options mr.plot.Parallel
---@return mr.Figure
---Example:
---```lua
---local axes = {{name = "lr", values = {0.1, 0.01}, log = true}, {values = {"ap", "rr"}}}
---mr.plot.parallel{axes = axes, color = {1, 2}}   --> mr.Figure parallel: 2 lines, 2 axes
---```
function M.parallel(options) return one("parallel", parallel.parallel, options) end

local facet_options = declare("mr.plot.Facets", {
  { "columns", "integer", least = 1, shown = "3, or 2 for two or four figures",
    help = "number of figures side by side" },
}, marks.page)

local check_facets = arguments{ "options", "table" }

---Combines several figures into one figure, as panels in rows, each with its own title. The figures
---are the array entries of `options`. Their captions and sizes are not used.
---@param options mr.plot.Facets
---@return mr.Figure
---Example:
---```lua
---local up, down = mr.plot.lines{y = {1, 2}}, mr.plot.lines{y = {2, 1}}
---mr.plot.facets{up, down, title = "Both"}   --> mr.Figure facets: 2 panels, 'Both'
---```
function M.facets(options)
  local where = "mr.plot.facets"
  check_facets(where, options)
  local named, panels = {}, {}
  for key, value in pairs(options) do
    if type(key) ~= "number" then named[key] = value end
  end
  local o = facet_options:read(where, named)
  for i, each in ipairs(options) do
    local name = ("entry %d"):format(i)
    check.expect(getmetatable(each) == figure.Figure, where, name, each, "a figure")
    check.expect(each.kind ~= "facets", where, name, "facets", "a figure with one panel")
    panels[i] = each._.panels[1]
  end
  check.not_empty(where, "options", panels, "figure")
  local columns = math.min(o.columns or (#panels == 2 or #panels == 4) and 2 or 3, #panels)
  local width, height = o.width or 320 * columns, o.height or 250 * ((#panels + columns - 1) // columns) + 50
  check.expect(math.max(width, height) <= 10000, where, ("the size in pixels of %d panels"):format(#panels),
    { width, height }, "at most 10000 in each direction. Pass width and height")
  return figure.new{ kind = "facets", panels = panels, columns = columns, title = o.title and tostring(o.title),
    caption = o.caption and tostring(o.caption), legend = o.legend, width = width, height = height }
end

return M
