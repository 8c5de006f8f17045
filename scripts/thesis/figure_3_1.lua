-- Figure 3.1 of Westerborg (2022): what does min-max bounding (Eq. 3.1) do to a loss? Draws bounded against unbounded
-- nDCG, AP and nRBP loss, for three sizes of list at NSR 2 (top) and three NSR at one size (bottom). NSR is the number
-- of negatives per relevant item. Closed forms, no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_1", {
  relevant = { default = { 5, 10, 20 }, least = 1,
    help = "relevant items in the instances on top; those below have the last" },
})
local rows = figure.rows(args.relevant)

-- Lines from the best to the worst ranking of each list, and a table of the losses of these two rankings.
local fig = figure.bounded_losses(rows, "minmax", { title = "Min-max bounding" })
local ends = figure.table_of_ends(rows, "minmax")

-- Table of smooth nDCG loss for scores at which all relevant items are tied at the bottom. Each of these items then
-- gets the mean of their ranks, so that the loss is a little higher than that of the worst ranking.
local lines = {}
for _, row in ipairs(rows) do
  for _, instance in ipairs(row.instances) do
    local scores = {}
    for i = 1, instance.n do scores[i] = i <= instance.p and 0 or 1000 * i end
    lines[#lines + 1] = { row.title, instance.name, figure.smooth_loss(figure.losses[1], "none", instance, scores),
      figure.smooth_loss(figure.losses[1], "minmax", instance, scores) }
  end
end
local tied = mr.table{ columns = { "smooth nDCG, tied at the bottom", "instance", "loss", "bounded loss" },
  rows = lines, formats = { loss = "%.4f", ["bounded loss"] = "%+.4f" } }

local ratios = figure.slope_ratios(rows[1], "minmax")
return mr.experiment.finish(args, fig, ([[
Min-max bounding gives every instance the same range: -1 to 0 for nDCG and AP, 0 to 1 for nRBP. The largest slope is
this multiple of the least at NSR 2: %s. Where that is near 1, as for AP, the bound changes little in training. Two
things differ from the thesis. The bound of nDCG is Eq. 3.2 divided by the ideal DCG, which the printed formula lacks.
And the range is that of rankings: smooth nDCG, which is what is trained, leaves it a little where all relevant items
are tied at the bottom (second table: above 0). The thesis' text does not name its three instances; these are ours
(--relevant).]]):format(ratios),
  mr.experiment.named("", ends, nil, figure.legend_of_ends),
  mr.experiment.named("", tied, nil,
  "loss: of rankings whose relevant rows are tied at the bottom; bounded loss: the same under the bound."))
