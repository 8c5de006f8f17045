-- Figure 3.4 of Westerborg (2022): what does expectation-max bounding (Eq. 3.11) do to a loss? Draws bounded against
-- unbounded nDCG, AP and nRBP loss, for three sizes of list at NSR 2 (top) and three NSR at one size (bottom). NSR is
-- the number of negatives per relevant item. Closed forms, no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_4", {
  relevant = { default = { 5, 10, 20 }, least = 1,
    help = "relevant items in the instances on top; those below have the last" },
})
local rows = figure.rows(args.relevant)

local fig = figure.bounded_losses(rows, "expectation_max", { title = "Expectation-max bounding" })

-- Table of the slopes of the three affine bounds. Training depends on an affine bound only through its slope.
local lines = {}
figure.each(rows, function(base, instance)
  lines[#lines + 1] = { base.title, instance.name, figure.slope("minmax", base, instance),
    figure.slope("expectation", base, instance), figure.slope("expectation_max", base, instance) }
end)
local slopes = mr.table{ columns = { "slopes", "instance", "minmax", "expectation", "expectation_max" }, rows = lines }

return mr.experiment.finish(args, fig, [[
Expectation-max bounding: the best ranking gets -1, a random one 0, for every instance and loss. The worst ranking of
nDCG and AP lands above 0, the higher the lower the NSR; that of nRBP on 1. At a constant NSR the thesis sees "a
similar impact as expectation based bounding". For nRBP the two are the same but for a constant (equal slopes, twice
those of min-max). For nDCG and AP they weigh instances in opposite ways (second table): as instances grow, the slope
of nDCG falls under the one bound and rises under the other, and that of AP the other way round. The thesis' text does
not name its three instances; these are ours (--relevant).]],
  mr.experiment.named("", figure.table_of_ends(rows, "expectation_max"), nil, figure.legend_of_ends),
  mr.experiment.named("", slopes, nil,
  "minmax, expectation, expectation_max: change of the loss under this bound per change of the loss."))
