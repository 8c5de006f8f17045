-- Figure 3.2 of Westerborg (2022): how hard is a list for a random ranker? Draws the expected nDCG, AP and nRBP loss
-- over all rankings against the number of relevant items, at 1, 2 and 3 negatives per relevant item (NSR). Closed
-- forms, no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_2", {
  most = { default = 50, least = 5, most = 10000, help = "largest number of relevant items" },
  nsr = { default = { 1, 2, 3 }, least = 1, most = 4095, distinct = true,
    help = "negatives per relevant item" },
}, { most = 10 })

local function expected(base, nsr, p)
  return base.sign * mr.bounds.of(base.metric, { n = p * (1 + nsr), p = p }).expectation
end

local panels, lines = {}, {}
for _, base in ipairs(figure.losses) do
  local series = {}
  for i, nsr in ipairs(args.nsr) do
    local x, y, hardest = {}, {}, 1
    for p = 1, args.most do
      x[p], y[p] = p, expected(base, nsr, p)
      if y[p] > y[hardest] then hardest = p end
    end
    series[i] = { name = ("NSR %d"):format(nsr), x = x, y = y, color = i }
    lines[#lines + 1] = { base.title, nsr, y[1], y[5], y[args.most], hardest }
  end
  panels[#panels + 1] = mr.plot.lines{ series = series, title = base.title, xlabel = "relevant items P",
    ylabel = "expected loss", xrange = { 0, args.most }, legend = "legend" }
end

local most = ("P = %d"):format(args.most)
local numbers = mr.table{ columns = { "expected loss", "NSR", "P = 1", "P = 5", most, "highest at P" }, rows = lines,
  formats = { ["P = 1"] = "%.4f", ["P = 5"] = "%.4f", [most] = "%.4f" } }

return mr.experiment.finish(args, figure.facets(panels), [[
The figure shows the expected loss of a random ranking. More negatives make every loss larger. At a constant NSR the
expected AP and nRBP losses grow with the number of relevant items, AP towards -1/(1 + NSR), nRBP as NSR P^2 / 2; the
expected nDCG loss rises at first, then falls: large instances are easier. In the thesis the expected nDCG loss falls
"from P >= 5"; here the top is at P = 5 for NSR 1 and 2, at P = 4 for NSR 3. The numerator of Eq. 3.8 prints as P and
should be P/N. E[AP] is the value of Eq. 3.10.]],
  mr.experiment.named("", numbers, nil, ([[
NSR: negative sampling ratio; P = 1, P = 5, %s: expected loss of a random ranking with P relevant items; highest at P:
number of relevant items with the largest expected loss.]]):format(most)))
