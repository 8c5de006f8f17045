-- Westerborg (2022), section 4.3: "while Stochastic Gradient Decent often results in better performance, Adam will be
-- used to optimize the models, as it is computationally efficient, has no impact on the relative performance and
-- requires little tuning for the learning rate". Is this true?

-- Data and models, in five folds: MovieLens at NSR 1 (one negative per relevant item) by matrix factorisation, MQ2008
-- (relevant from label 1) by a network with one hidden layer. Protocol: plain SGD and Adam train every loss without a
-- bound and under the thesis' four bounds. Validation chooses the learning rate of each optimizer, loss and bound.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure = dofile(here .. "beside.lua"), dofile(here .. "figure.lua")
local experiment, protocol = mr.experiment, runs.protocol
local descent = dofile(here .. "descent.lua")

local args = runs.args(figure.options("optimisers", {
  seed = { default = 1, help = "seed of splits, negatives and models" },
  sets = { default = { "movielens", "mq2008" }, choices = { "movielens", "mq2008" }, distinct = true,
    help = "which data sets" },
  epochs = { default = descent.epochs, least = 1, help = "at most; the best by validation counts" },
  patience = { default = descent.patience, least = 1, help = "epochs without a better one after which training ends" },
  samples = runs.samples,
}), { epochs = 2 })
local title = { adam = "Adam", sgd = "SGD" }

local function mean_epoch(results, where) return mr.stats.mean(experiment.folds(results, where, "epoch")) end

-- Counts learning rates that are powers of ten. Returns how many of them have a validation metric within 0.01 of the
-- best rate's, and how many were tried. `cell` has the validation metric by exponent (the rate is 10^(exponent / 2));
-- `best` is the exponent of the best rate.
local function near_best(cell, best)
  local near, count = 0, 0
  for exponent, valid in pairs(cell) do
    local power = exponent % 2 == 0 and 1 or 0
    count, near = count + power, near + (runs.near(cell[best] - valid) and power or 0)
  end
  return near, count
end

-- A learning rate as text with two significant digits, e.g. "10000" instead of "1e+04".
local function rate_text(rate) return ("%g"):format(tonumber(("%.2g"):format(rate))) end

-- True if the best learning rate is the smallest or largest of those tried. `cell` has the validation metric by
-- exponent of the rate; `best` is the best exponent.
local function at_edge(cell, best)
  local below, above = false, false
  for exponent in pairs(cell) do below, above = below or exponent < best, above or exponent > best end
  return not (below and above)
end

-- The results of a data set, one cell for each loss and bound: test means under SGD and under Adam, their difference,
-- and the change by the bound, against no bound, under each optimizer.
local function cells_of(name)
  local set, found = runs.set(args, name), {}
  local results, best, tuned = descent.study(args, name)
  for _, loss in ipairs(runs.losses) do
    for _, bound in ipairs(runs.published) do
      local cell = { loss = loss, bound = bound, mean = {}, change = {}, p = {}, rate = {}, epoch = {}, near = {},
        tried = {}, edge = {}, ends = {} }
      local values = {}
      for _, optimiser in ipairs(descent.optimisers) do
        local where, key = { loss = loss, bound = bound, optimiser = optimiser }, descent.key(optimiser, loss, bound)
        values[optimiser] = experiment.by_list({ results }, where, "own")
        cell.mean[optimiser], cell.epoch[optimiser] = mr.stats.mean(values[optimiser]), mean_epoch(results, where)
        cell.rate[optimiser], cell.edge[optimiser] = runs.rate(best[key]), at_edge(tuned[key], best[key])
        cell.near[optimiser], cell.tried[optimiser] = near_best(tuned[key], best[key])
        if bound ~= "none" then
          local free = experiment.by_list({ results }, { loss = loss, bound = "none", optimiser = optimiser }, "own")
          local against = runs.change_of(values[optimiser], free)
          cell.change[optimiser], cell.p[optimiser] = against.change, against.p
          cell.ends["change, " .. title[optimiser]] = experiment.over_lists{ values[optimiser], free }
        end
      end
      local test = runs.change_of(values.sgd, values.adam)
      cell.difference, cell.between = test.change, test.p
      cell.ends["SGD - Adam"] = experiment.over_lists{ values.sgd, values.adam }
      for optimiser, name_of in pairs(title) do cell.ends[name_of] = experiment.over_lists(values[optimiser]) end
      found[#found + 1] = cell
    end
  end
  return set, found
end

-- Corrects p-values by Holm: over all comparisons of SGD with Adam, and, for each optimizer, over all comparisons of
-- bounds with no bound.
local function correct(cells)
  local between, of_bounds = {}, { adam = {}, sgd = {} }
  for i, cell in ipairs(cells) do
    between[i] = cell.between
    for optimiser, p in pairs(cell.p) do of_bounds[optimiser][i] = p end
  end
  for i, p in ipairs(runs.correct(between)) do cells[i].between = p end
  for optimiser, ps in pairs(of_bounds) do
    for i, p in pairs(runs.correct(ps)) do cells[i].p[optimiser] = p end
  end
end

local rows, tuning, sentences, panels = {}, {}, {}, { columns = #args.sets, title = figure.title(args) }

local sets = {}  -- records of data sets (number of folds, word for users or queries) by title
local about = experiment.cells(
  function(row) return "bootstrap over " .. sets[row[1]].units end,
  function(row, column) return sets[row[1]].folds * ((column == "Adam" or column == "SGD") and 1 or 2) end)

local function note(set, cell)
  sets[set.title] = set
  for column, ends in pairs(cell.ends) do about:note(#rows + 1, column, ends) end
  rows[#rows + 1] = { set.title, runs.title_of[cell.loss], cell.bound, cell.mean.adam, cell.mean.sgd, cell.difference,
    cell.between, cell.change.adam, cell.change.sgd, cell.p.adam, cell.p.sgd }
  local line = { set.title, runs.title_of[cell.loss], cell.bound }
  for _, optimiser in ipairs(descent.optimisers) do
    local mark = cell.edge[optimiser] and " (edge)" or ""
    local share = ("%d of %d"):format(cell.near[optimiser], cell.tried[optimiser])
    table.move({ rate_text(cell.rate[optimiser]) .. mark, share, ("%.0f"):format(cell.epoch[optimiser]) }, 1, 3,
      #line + 1, line)
  end
  tuning[#tuning + 1] = line
end

-- A text that says how far one data set supports the thesis' three claims about Adam: it is not better than SGD, bounds
-- have the same effect under both, and its learning rate needs little tuning.
local function sentence(set, cells)
  local ahead, sure, behind, signs, bounded, apart = 0, 0, 0, 0, 0, 0
  local near, least, most = { adam = 0, sgd = 0 }, { adam = math.huge, sgd = math.huge }, { adam = 0, sgd = 0 }
  local tried = { adam = 0, sgd = 0 }
  for _, cell in ipairs(cells) do
    ahead = ahead + (cell.difference > 0 and 1 or 0)
    local side = runs.side(cell.difference, cell.between)
    sure, behind = sure + (side > 0 and 1 or 0), behind + (side < 0 and 1 or 0)
    if cell.bound ~= "none" then
      bounded, signs = bounded + 1, signs + (cell.change.adam * cell.change.sgd > 0 and 1 or 0)
      apart = apart
        + (runs.side(cell.change.adam, cell.p.adam) * runs.side(cell.change.sgd, cell.p.sgd) < 0 and 1 or 0)
    end
    for _, optimiser in ipairs(descent.optimisers) do
      near[optimiser], tried[optimiser] = near[optimiser] + cell.near[optimiser],
        tried[optimiser] + cell.tried[optimiser]
      least[optimiser] = math.min(least[optimiser], cell.rate[optimiser])
      most[optimiser] = math.max(most[optimiser], cell.rate[optimiser])
    end
  end
  return ([[
On %s descent is ahead of Adam in %d of %d cells; %s significantly ahead and %s significantly behind. The change that a
bound makes has the same sign under both in %d of %d cells; in %d it is significant under both with opposite signs. The
best rates go from %s to %s for Adam and from %s to %s for descent; of the powers of ten that were tried %.0f %% and
%.0f %% are within 0.01 of the best.]]):format(set.title, ahead, #cells, experiment.are(sure),
    experiment.are(behind), signs, bounded, apart, rate_text(least.adam), rate_text(most.adam), rate_text(least.sgd),
    rate_text(most.sgd), 100 * near.adam / tried.adam, 100 * near.sgd / tried.sgd)
end

for i, name in ipairs(args.sets) do
  local set, cells = cells_of(name)
  correct(cells)
  local series, known = {}, {}
  for _, cell in ipairs(cells) do
    note(set, cell)
    if cell.bound ~= "none" then
      if not known[cell.loss] then
        known[cell.loss] = { name = runs.title_of[cell.loss], x = {}, y = {} }
        series[#series + 1] = known[cell.loss]
      end
      table.insert(known[cell.loss].x, cell.change.adam)
      table.insert(known[cell.loss].y, cell.change.sgd)
    end
  end
  sentences[i] = sentence(set, cells)
  panels[i] = mr.plot.scatter{ series = series, diagonal = true, title = set.title, xlabel = "change by a bound, Adam",
    ylabel = "change by a bound, SGD" }
end
local formats = { Adam = "%.4f", SGD = "%.4f", ["SGD - Adam"] = "%+.4f", p = "%.2g", ["change, Adam"] = "%+.4f",
  ["change, SGD"] = "%+.4f", ["p, Adam"] = "%.2g", ["p, SGD"] = "%.2g" }
local level = protocol.level
local results_table = mr.table{ rows = rows, formats = formats,
  mark = { p = level, ["p, Adam"] = level, ["p, SGD"] = level },
  columns = { "data", "loss", "bound", "Adam", "SGD", "SGD - Adam", "p", "change, Adam", "change, SGD", "p, Adam",
    "p, SGD" } }
local tuning_heads = { "data", "loss", "bound" }
for _, optimiser in ipairs(descent.optimisers) do
  for _, name in ipairs{ "rate", "near the best", "epoch" } do
    tuning_heads[#tuning_heads + 1] = name .. ", " .. title[optimiser]
  end
end
return experiment.finish(args, mr.plot.facets(panels), table.concat(sentences, "\n\n"),
  experiment.named("Test metric of the matching loss", results_table, about, [[
SGD: plain stochastic gradient descent; SGD - Adam: difference of the means, p: its permutation test; change, with the
optimizer's name: by the bound, against no bound; p, with the optimizer's name: of that change. All are paired by user
or query and corrected by Holm over the column of a data set.]]),
  experiment.named("Learning rates", mr.table{ columns = tuning_heads, rows = tuning },
    experiment.cells(nil, function(row, column) return column:find "^epoch" and sets[row[1]].folds or nil end), [[
rate: learning rate that validation chose on the first fold, "(edge)" at the end of those tried; near the best: how
many of the powers of ten that were tried come within 0.01 of it there; epoch: mean of the best ones.]]))
