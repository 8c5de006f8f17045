-- Figure 1.1 of Westerborg (2022): how good is the worst ranking? Draws the lower bounds of nDCG and AP against the
-- fraction of relevant items, for lists (instances) of 25, 50, 100 and 200 items, by closed forms without data. Also
-- prints Table 1.1: a good ranking of a hard instance scores less than the worst ranking of an easy one.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("1_1", {
  sizes = { default = { 25, 50, 100, 200 }, least = 3, most = 10000, distinct = true, help = "items in an instance" },
}, { sizes = { 25, 50 } })

-- The lower bound of a metric (that of the worst ranking) for n items, at every fraction P/N of relevant items.
local function lower_bounds(metric, n)
  local x, y = {}, {}
  for p = 1, n do x[p], y[p] = p / n, mr.bounds.of(metric, { n = n, p = p }).min end
  return x, y
end

local function panel(title, metric)
  local series = {}
  for i, n in ipairs(args.sizes) do
    local x, y = lower_bounds(metric, n)
    series[i] = { name = ("N = %d"):format(n), x = x, y = y, color = i }
  end
  return mr.plot.lines{ series = series, title = title, xlabel = "fraction of relevant items",
    ylabel = "lower bound of " .. title, xrange = { 0, 1 }, yrange = { 0, 1 }, legend = "legend" }
end

local fig = mr.plot.facets{ columns = 2, width = 800, height = 380, panel("nDCG", "ndcg"), panel("AP", "ap") }

-- Table of the lower bounds of each metric where a fraction of 0.2, 0.5 or 0.8 of the items is relevant, for each
-- number of items.
local rows = {}
for _, metric in ipairs{ "ndcg", "ap" } do
  for _, n in ipairs(args.sizes) do
    local row = { metric, n }
    for _, fraction in ipairs{ 0.2, 0.5, 0.8 } do
      row[#row + 1] = mr.bounds.of(metric, { n = n, p = math.floor(fraction * n + 0.5) }).min
    end
    rows[#rows + 1] = row
  end
end
local bounds = mr.table{ columns = { "metric", "N", "at 0.2", "at 0.5", "at 0.8" }, rows = rows,
  formats = { ["at 0.2"] = "%.4f", ["at 0.5"] = "%.4f", ["at 0.8"] = "%.4f" } }

-- The two examples of Table 1.1: a list with its only relevant item on rank 2, and the worst ranking of a list with 5
-- relevant items of 6.
local second = mr.metrics.ndcg(mr.tensor{ 1, 2, 0 }, mr.lists{ { 1, 0, 0 } }):item()
local worst = mr.bounds.of("ndcg", { n = 6, p = 5 }).min
local table_1_1 = mr.table{ columns = { "Table 1.1", "nDCG", "printed" },
  formats = { nDCG = "%.4f", printed = "%.2f" },
  rows = {
    { "A: only relevant item on rank 2", second, 0.63 },
    { "B: all 5 relevant items of 6 at the bottom", worst, 0.78 },
  } }

return mr.experiment.finish(args, fig, [[
The figure shows the lower bounds of nDCG and AP. Both rise with the fraction of relevant items, from near zero to 1:
the worst ranking of an easy instance beats a fair ranking of a hard one (Table 1.1). The bound of nDCG depends on the
size of the instance too: the larger it is, the higher the bound, since the logarithmic discount flattens; that of AP
hardly does. Eq. 3.2 as the thesis prints it lacks the division by the ideal DCG, without which it exceeds 1. The
bounds here have it, and so has Table 1.1, whose numbers agree; its B does not say its size, and N = 6, P = 5 gives its
0.78.]],
  mr.experiment.named("", bounds, nil,
  "at 0.2, at 0.5, at 0.8: lower bound of the metric where this fraction of the N items is relevant."),
  table_1_1)
