-- Which losses gain from a bound? Every loss is trained under every bound that applies, in five settings (data and
-- model).

-- Data and models: matrix factorisation on MovieLens and CiteULike-a, a network and trees on MQ2008, a network on a
-- slice of MSLR-WEB30K. There are three folds, or three seeds if there is one split. Protocol: each loss and setting
-- has its own learning rate (learning_rates.lua); the loss's metric on validation chooses the epoch.
-- Result: a cell is a loss under a bound in one setting. Its change is the difference in test metric from the loss
-- without a bound, paired by user or query (means over the folds), with Holm's correction over all cells. Each cell
-- is also compared with random rankings, and its training runs are checked for convergence.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local training, experiment = dofile(here .. "training.lua"), mr.experiment
local cells_of, picture, findings = dofile(here .. "cells.lua"), dofile(here .. "picture.lua"),
  dofile(here .. "findings.lua")

local args = training.args(experiment.figure_options({
  orders = { default = 200000, least = 1, help = "random choices of signs of each permutation test" },
}, "results/grid/grid.svg"), { orders = 1000 })

training.prepare(args)
local grids, plain, left = {}, {}, {}
for _, name in ipairs(args.sets) do
  local set, results = training.set(args, name), training.of(args, name)
  if results then
    local cells, missing = cells_of.of(results, set)
    grids[#grids + 1], plain[#plain + 1] = { set = set, cells = cells, missing = missing }, cells
  end
  left[#left + 1] = training.left(set, results)
end
if #grids == 0 then
  local sets = table.concat(args.sets, ", ")
  experiment.lack(("%s has no runs of %s; without --kept they are made"):format(args.store, sets))
end
local compared, losses = training.protocol.compare(plain, args.orders), training.losses(args)
local groups, bounds = picture.families(losses), picture.bounds()
local fig = picture.draw(grids, losses, "What bounding does to every loss" .. (args.smoke and ", made-up data" or ""))
local tables = {}
local counted = "\"+3 -1 of 7\": 3 of 7 changes are significantly for the better and 1 for the worse; "
for _, each in ipairs{
  { "Changes by bound", findings.by_bound(grids, losses, bounds), counted
    .. "mean: of the changes by the bound; losses: those under the bound." },
  { "Changes by loss", findings.by_loss(grids, groups, bounds), counted
    .. "none: the loss's own metric without a bound; bounds: those of the loss; best: largest change, and its bound." },
  { "All cells", findings.all(grids, groups, bounds), [[
Cells have the loss's own metric on test and its change against no bound; *: significant; c: the cap ended a run; n: a
run did not converge; r: not shown to rank better than at random.]] },
  { "Cells with something wrong", findings.flaws(grids) },
} do
  if #each[2].rows > 0 then
    tables[#tables + 1] = experiment.named(each[1], mr.table(each[2]),
      { runs = findings.runs(each[2], grids[1].set.folds) }, each[3])
  end
end
local section = experiment.finish(args, fig, findings.text(args, grids, compared, losses, bounds, left),
  table.unpack(tables))
section.finding = not args.made_up and findings.sentence(compared) or nil
return section
