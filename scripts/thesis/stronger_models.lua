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
local rows, ps = {}, {}
local epochs, folds = stronger.extent(args)
local cells = experiment.cells("bootstrap over queries",
  function(_, column) return folds * (column == "no bound" and 1 or 2) end)
local function note(row, test)
  row[#row + 1] = test.change
  row[#row + 1] = test.p
  ps[#ps + 1] = test.p
end
for _, loss in ipairs(runs.losses) do
  local of_46 = experiment.by_list({ results }, { model = "46", loss = loss, bound = "none" }, "own")
  local usual = mr.stats.mean(of_46)
  for _, name in ipairs(names) do
    local where = { model = name, loss = loss }
    local plain = experiment.by_list({ results }, { model = name, loss = loss, bound = "none" }, "own")
    local row = { runs.title_of[loss], name, best[name .. " " .. loss].rate, mr.stats.mean(plain),
      mr.stats.mean(plain) - usual }
    cells:note(#rows + 1, "no bound", experiment.over_lists(plain))
    cells:note(#rows + 1, "against 46", name ~= "46" and experiment.over_lists{ plain, of_46 } or nil)
    for i = 2, #bounds do
      local bounded = experiment.by_list({ results }, runs.with(where, bounds[i]), "own")
      note(row, runs.change_of(bounded, plain))
      cells:note(#rows + 1, bounds[i], experiment.over_lists{ bounded, plain })
    end
    rows[#rows + 1] = row
  end
end
local corrected, better, worse = runs.correct(ps), 0, 0
local heads = { "loss", "model", "rate", "no bound", "against 46" }
local formats, mark = { ["no bound"] = "%.4f", ["against 46"] = "%+.4f" }, {}
for i = 2, #bounds do
  heads[#heads + 1], heads[#heads + 2] = bounds[i], "p, " .. bounds[i]
  formats[bounds[i]], formats["p, " .. bounds[i]], mark["p, " .. bounds[i]] = "%+.4f", "%.2g", protocol.level
end
for i, p in ipairs(corrected) do
  local row, at = rows[(i - 1) // (#bounds - 1) + 1], 6 + 2 * ((i - 1) % (#bounds - 1))
  row[at + 1] = p
  local side = runs.side(row[at], p)
  better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
end
local text = ([[
A bound is significantly better than none in %d of %d cases, and worse in %d.
Models are trained with seed %d on %d %s, for %d epochs of Adam.]])
return experiment.finish(args, nil, text:format(better, #ps, worse, args.seed, folds, folds == 1 and "fold" or "folds",
  epochs),
  experiment.named("", mr.table{ columns = heads, rows = rows, formats = formats, mark = mark }, cells, [[
rate: learning rate; no bound: test metric of the matching loss; against 46: change of that against the thesis'
network; minmax, expectation, distribution_logit: changes by the bound, paired by query; p, with the bound's name: of
permutation tests, corrected by Holm over the table.]]))
