-- Figure 3.5 of Westerborg (2022): Algorithm 2 approximates the distribution function of a metric over random rankings
-- by a sum of sigmoids. How steep must they be?

-- The figure has distribution functions of nDCG, AP and nRBP over all rankings of X(8,4) (8 rows, 4 relevant; top) and
-- X(15,5) (bottom), and their smooth versions at steepness 1, 4, 16 and 64. Exact, no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_5", {
  steepness = { default = { 1, 4, 16, 64 }, least = 1, most = 100000, distinct = true,
    help = "steepness of the sigmoids" },
  points = { default = 400, least = 2, help = "points of a curve" },
}, { points = 40 })
local instances = { figure.instance(8, 4), figure.instance(15, 5) }

-- The exact distribution function as a line with steps: arrays x and y, for x from `low` to `high`.
local function staircase(distribution, low, high)
  local values, weights = distribution:pmf()
  values, weights = values:totable(), weights:totable()
  local x, y, sum = { low }, { 0 }, 0
  for i, value in ipairs(values) do
    x[#x + 1], y[#y + 1] = value, sum
    sum = sum + weights[i]
    x[#x + 1], y[#y + 1] = value, sum
  end
  x[#x + 1], y[#y + 1] = high, 1
  return x, y
end

local function smoothed(distribution, steepness, x)
  return (distribution:smooth(mr.tensor(x, { dtype = "float64" }), { steepness = steepness })):totable()
end

-- The mean absolute difference between the smooth and the exact distribution function, over the points x.
local function distance(distribution, steepness, x)
  local sum = 0
  for i, value in ipairs(smoothed(distribution, steepness, x)) do
    sum = sum + math.abs(value - distribution:cdf(x[i]))
  end
  return sum / #x
end

local panels, lines = {}, {}
for _, instance in ipairs(instances) do
  for _, base in ipairs(figure.losses) do
    local distribution = mr.bounds.distribution(base.metric, { n = instance.n, p = instance.p, method = "exact" })
    local low, high = distribution:min(), distribution:max()
    local fringe = 0.1 * (high - low)
    local wide, inside = figure.range(low - fringe, high + fringe, args.points), figure.range(low, high, args.points)
    local steps_x, steps_y = staircase(distribution, low - fringe, high + fringe)
    local series, row = { { name = "exact", x = steps_x, y = steps_y, color = 7 } },
      { base.title, instance.name, #distribution }
    for i, steepness in ipairs(args.steepness) do
      local y = smoothed(distribution, steepness, wide)
      series[#series + 1] = { name = ("a = %g"):format(steepness), x = wide, y = y, color = i }
      row[#row + 1] = distance(distribution, steepness, inside)
    end
    panels[#panels + 1] = mr.plot.lines{ series = series, title = ("%s, %s"):format(base.title, instance.name),
      xlabel = base.title, ylabel = "cumulative probability", yrange = { 0, 1 }, legend = "legend" }
    lines[#lines + 1] = row
  end
end

local columns, formats = { "mean distance", "instance", "values" }, {}
for _, steepness in ipairs(args.steepness) do
  columns[#columns + 1] = ("a = %g"):format(steepness)
  formats[columns[#columns]] = "%.4f"
end

return mr.experiment.finish(args, figure.facets(panels), [[
The figure shows Algorithm 2 at several values of the steepness a, which the thesis calls gain. For nDCG and AP, a = 1
gives a nearly flat line, 16 is still too soft at the ends, and 64 follows. nRBP takes whole numbers: 1 nearly fits, and
from 4 on the curve is a staircase. The steepness that fits depends on metric and instance. The black staircase is
exact, over all arrangements. The thesis has no formula for nDCG and nRBP and simulates.]],
  mr.experiment.named("", mr.table{ columns = columns, rows = lines, formats = formats }, nil, [[
X(N,P): N rows, P of them relevant; values: how many the metric has; a =, with the steepness of the sigmoids: mean
distance of the smooth distribution function from the exact one.]]))
