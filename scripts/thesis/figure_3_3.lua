-- Figure 3.3 of Westerborg (2022): what does expectation based bounding (Eq. 3.6) do to a loss? Draws bounded against
-- unbounded nDCG, AP and nRBP loss, for three sizes of list at NSR 2 (top) and three NSR at one size (bottom). NSR is
-- the number of negatives per relevant item. Closed forms, no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_3", {
  relevant = { default = { 5, 10, 20 }, least = 1,
    help = "relevant items in the instances on top; those below have the last" },
})
local rows = figure.rows(args.relevant)

local fig = figure.bounded_losses(rows, "expectation", { title = "Expectation based bounding" })

local ratios = figure.slope_ratios(rows[1], "expectation")
return mr.experiment.finish(args, fig, ([[
Expectation based bounding: a random ranking gets -1 (nDCG, AP) or 1 (nRBP). nRBP runs from 0 to 2 for every instance,
while the ends of nDCG and AP depend on the instance: the best ranking reaches -1/E, so that AP and nDCG are the
steeper the higher the NSR. The largest slope is this multiple of the least at NSR 2: %s. What the thesis says,
"instances with a higher NSR are able to achieve higher losses", holds for the size of the loss; the worst rankings
(bounded worst) of nDCG are nearly alike. The numerator of Eq. 3.8 prints as P and should be P/N. The thesis' text does
not name its three instances; these are ours (--relevant).]]):format(ratios),
  mr.experiment.named("", figure.table_of_ends(rows, "expectation"), nil, figure.legend_of_ends))
