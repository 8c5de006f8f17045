-- Future work of Westerborg (2022): do bounds still matter if the ranker is stronger?

-- Data and models: MQ2008 (labels 1 and 2 are relevant) is ranked in its five folds by a linear model, the thesis'
-- network, a deeper network, and one with dropout and self-attention among documents. Protocol: validation chooses the
-- learning rate of each model and loss (first fold, no bound), and the epoch. Changes are paired by query.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol
local stronger = dofile(here .. "stronger.lua")

local args = runs.args{ seed = { default = 1, help = "seed of models, dropout and the order of queries" },
  recipe = runs.recipe }
local results, best = stronger.study(args)
local names, bounds = stronger.names, stronger.bounds

-- The table has a row for each loss and model: the mean test metric without a bound, its difference from the thesis'
-- network (46 hidden units), and the change by each bound.
local records, pairs_of = {}, {}
for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "model", names } }) do
  local function of(model, bound)
    return experiment.by_list(results, { model = model, loss = at.loss, bound = bound }, "own")
  end
  local plain, of_46 = of(at.model, "none"), of("46", "none")
  local record = { loss = runs.title_of[at.loss], model = at.model, rate = best[at.model .. " " .. at.loss].rate,
    ["no bound"] = experiment.mean(plain), ["against 46"] = { mr.stats.mean(plain) - mr.stats.mean(of_46),
      table.unpack(at.model ~= "46" and experiment.over_lists{ plain, of_46 } or {}) } }
  for i = 2, #bounds do
    pairs_of[#pairs_of + 1] = { of(at.model, bounds[i]), plain, record = record, bound = bounds[i] }
  end
  records[#records + 1] = record
end
local better, worse = 0, 0
for _, each in ipairs(experiment.paired(pairs_of)) do
  local side = runs.side(each.change, each.holm)
  each.record[each.bound], each.record["p, " .. each.bound] = { each.change, each.low, each.high }, each.holm
  better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
end

local epochs, folds = stronger.extent(args)
local columns = { { "loss" }, { "model" }, { "rate" }, { "no bound", format = "%.4f" },
  { "against 46", format = "%+.4f" } }
for i = 2, #bounds do
  columns[#columns + 1] = { bounds[i], format = "%+.4f" }
  columns[#columns + 1] = { "p, " .. bounds[i], format = "%.2g", mark = protocol.level }
end
return experiment.finish(args, nil, ([[
A bound is significantly better than none in %d of %d cases, and worse in %d.
Models are trained with seed %d on %d %s, for %d epochs of Adam.]]):format(better, #pairs_of, worse, args.seed, folds,
    folds == 1 and "fold" or "folds", epochs),
  experiment.table{ records = records, columns = columns, by = "bootstrap over queries",
    runs = function(_, column) return folds * (column == "no bound" and 1 or 2) end, legend = [[
rate: learning rate; no bound: test metric of the matching loss; against 46: change of that against the thesis'
network; minmax, expectation, distribution_logit: changes by the bound, paired by query; p, with the bound's name: of
permutation tests, corrected by Holm over the table.]] })
