-- Figure 3.6 of Westerborg (2022): Algorithm 2 approximates the distribution function of a metric over random rankings
-- by a sum of sigmoids. Does the steepness of Eq. 3.13 fit every distribution?

-- The figure has smooth distribution functions of nDCG, AP and nRBP from sampled rankings, as in the thesis, for three
-- sizes of list at NSR 2 (top) and three NSR at one size (bottom). NSR is the number of negatives per relevant item. A
-- table has the distances from the exact distributions. No data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_6", {
  relevant = { default = { 5, 10, 20 }, least = 1,
    help = "relevant items in the instances on top; those below have the last" },
  samples = { default = 300000, least = 2, most = 100000000, help = "random rankings of an instance" },
  points = { default = 400, least = 2, help = "points of a curve" },
  seed = { default = 1, help = "seed of the random rankings" },
}, { samples = 2000, points = 40 })
local rows = figure.rows(args.relevant)

local function sampled(base, instance)
  return mr.bounds.distribution(base.metric,
    { n = instance.n, p = instance.p, method = "sampled", samples = args.samples, seed = args.seed })
end

local function smooth(distribution, x)
  return (distribution:smooth(mr.tensor(x, { dtype = "float64" }), { steepness = "samples" })):totable()
end

local panels = figure.panels(rows, { y = "cumulative probability" }, function(base, instance)
  local distribution = sampled(base, instance)
  local x = figure.range(distribution:min(), distribution:max(), args.points)
  return x, smooth(distribution, x)
end)

-- Table of the steepness and of the mean distance from the exact distribution, for every metric and list.
local lines = {}
figure.each(rows, function(base, instance)
  local distribution = sampled(base, instance)
  local exact = mr.bounds.distribution(base.metric, { n = instance.n, p = instance.p, method = "exact" })
  local x = figure.range(distribution:min(), distribution:max(), args.points)
  local distance = 0
  for i, value in ipairs(smooth(distribution, x)) do distance = distance + math.abs(value - exact:cdf(x[i])) / #x end
  local steepness = #distribution / (distribution:max() - distribution:min())
  lines[#lines + 1] = { base.title, instance.name, #distribution, steepness, steepness * distribution:sd(), distance }
end)
local found = mr.table{ columns = { "metric", "instance", "values", "steepness", "steepness x sd", "mean distance" },
  rows = lines, formats = { steepness = "%.4g", ["steepness x sd"] = "%.4g", ["mean distance"] = "%.5f" } }

-- Table of the smooth distribution function at the worst and at the best value of a metric. It should be 0 at the worst
-- and 1 at the best value; for small lists it is farthest off.
lines = {}
for _, shape in ipairs{ { 2, 1 }, { 3, 1 }, { 5, 2 }, { 8, 4 }, { 15, 5 } } do
  local instance = figure.instance(table.unpack(shape))
  local row = { instance.name }
  for _, base in ipairs(figure.losses) do
    local distribution = sampled(base, instance)
    local ends = smooth(distribution, { distribution:min(), distribution:max() })
    row[#row + 1] = ("%.4f ... %.4f"):format(ends[1], ends[2])
  end
  lines[#lines + 1] = row
end
local ends = mr.table{ columns = { "F at both ends", "nDCG", "AP", "nRBP" }, rows = lines }

return mr.experiment.finish(args, figure.facets(panels), [[
Algorithm 2 with the steepness of Eq. 3.13 follows every distribution. At a constant NSR larger instances have the
narrower ones (nDCG, AP). But that steepness grows with the number of values sampled, for nDCG and AP to thousands of
steps within a standard deviation ("steepness x sd"). So steep, the curve is a staircase again, and its derivative,
which training uses, is noise around the density.
The thesis promises 0 and 1 at the ends, which small instances do not reach (second table). Its text speaks of two
instances, its caption of three; these three are ours (--relevant).]],
  mr.experiment.named("", found, nil, [[
X(N,P): N rows, P of them relevant; values: how many were sampled; steepness: by Eq. 3.13; steepness x sd: that times
the standard deviation of the metric; mean distance: of the smooth distribution function from the exact one.]]),
  mr.experiment.named("", ends, nil,
    "nDCG, AP, nRBP: smooth distribution function at the least and at the largest value."))
