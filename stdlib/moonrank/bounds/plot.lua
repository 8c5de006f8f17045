-- mr.bounds.plot draws the bounded value against the metric, for lists of several sizes.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local grid = require "moonrank.bounds.grid"
local metrics = require "moonrank.metrics.registry"

local M = {}

local points = 101

local plot_options = declare("mr.bounds.PlotOptions", {
  metrics.option("ndcg", "metric whose bounded values are drawn"),
  { "nsr", "number[]", default = { 1, 2, 3 }, some = "ratio",
    help = "ratios of rows that are not relevant to relevant rows, each with its own panel" },
  { "relevant", "integer[]", shown = "5, 20, 100; where less is better 10, 20, 40, whose ranges differ less",
    help = "numbers of relevant rows, each with its own line" },
})

-- Returns one curve per list size: the bounded value from the metric's minimum to its maximum.
local function series_of(bound, metric, sizes)
  local bounds = require "moonrank.bounds"
  local lists = grid.lists(sizes)
  local stats = bounds.stats(metric, lists, { dtype = "float64", device = "cpu" })
  local min, max, series = stats.min:totable(), stats.max:totable(), {}
  for l, size in ipairs(sizes) do series[l] = { name = ("P = %d"):format(size.p), x = {}, y = {} } end
  for k = 1, points do
    local score = {}
    for l in ipairs(sizes) do
      score[l] = min[l] + (k - 1) / (points - 1) * (max[l] - min[l])
      series[l].x[k] = score[l]
    end
    local value = grid.evaluated(bound, metric, lists, score)
    for l in ipairs(sizes) do series[l].y[k] = value[l] end
  end
  return series
end

---Implements mr.bounds.plot: plots bounded values against the metric, in a panel for each bound and
---negative sampling ratio, and returns the figure.
---@param what any  a bound, its name or function, or a table of them
---@param options? mr.bounds.PlotOptions
---@return mr.Figure
function M.plot(what, options)
  local bounds, plot = require "moonrank.bounds", require "moonrank.plot"
  local o = plot_options:read("mr.bounds.plot", options)
  check.expect(what ~= nil, "mr.bounds.plot", "what", what, "a bound, such as \"minmax\", or a table of bounds")
  o.metric = metrics.parse(o.metric)
  o.relevant = o.relevant or o.metric.minimize and { 10, 20, 40 } or { 5, 20, 100 }
  local several = type(what) == "table" and getmetatable(what) == nil
  local panels = { columns = #o.nsr }
  for _, each in ipairs(several and check.not_empty("mr.bounds.plot", "what", what, "bound") or { what }) do
    local bound = bounds.resolve(each)
    for _, ratio in ipairs(o.nsr) do
      panels[#panels + 1] = plot.lines{
        series = series_of(bound, o.metric, grid.sizes(o.relevant, { ratio })),
        title = ("%s, NSR %g"):format(bound.name, ratio), xlabel = o.metric.name, ylabel = "bounded",
      }
    end
  end
  if #panels == 1 then return panels[1] end
  panels.width = math.max(640, 300 * math.min(#panels, panels.columns))
  panels.height = 60 + 260 * math.ceil(#panels / panels.columns)
  return plot.facets(panels)
end

return M
