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

-- Returns a data set and its cells, one for each loss and bound, with the columns of both tables. `compared` has the
-- comparison of SGD with Adam ("difference") and, for each optimizer, that of the bound with no bound. Holm's
-- correction is over all comparisons of SGD with Adam, and for each optimizer over all those with no bound.
local function cells_of(name)
  local set, cells, pairs_of = runs.set(args, name), {}, { difference = {}, adam = {}, sgd = {} }
  local results, best, tuned = descent.study(args, name)
  for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "bound", runs.published } }) do
    local cell, values = { set = set, data = set.title, loss = runs.title_of[at.loss], bound = at.bound, compared = {},
      rate = {}, near = {}, tried = {} }, {}
    for _, optimiser in ipairs(descent.optimisers) do
      local where, key = { loss = at.loss, bound = at.bound, optimiser = optimiser },
        descent.key(optimiser, at.loss, at.bound)
      local edge = at_edge(tuned[key], best[key]) and " (edge)" or ""
      values[optimiser], cell.rate[optimiser] = experiment.by_list(results, where, "own"), runs.rate(best[key])
      cell.near[optimiser], cell.tried[optimiser] = near_best(tuned[key], best[key])
      cell[title[optimiser]] = experiment.mean(values[optimiser])
      cell["rate, " .. title[optimiser]] = rate_text(cell.rate[optimiser]) .. edge
      cell["near the best, " .. title[optimiser]] = ("%d of %d"):format(cell.near[optimiser], cell.tried[optimiser])
      cell["epoch, " .. title[optimiser]] =
        ("%.0f"):format(mr.stats.mean(experiment.folds(results, where, "epoch")))
      if at.bound ~= "none" then
        where.bound = "none"
        table.insert(pairs_of[optimiser],
          { values[optimiser], experiment.by_list(results, where, "own"), cell = cell })
      end
    end
    table.insert(pairs_of.difference, { values.sgd, values.adam, cell = cell })
    cells[#cells + 1] = cell
  end
  for what, heads in pairs{ difference = { "SGD - Adam", "p" }, adam = { "change, Adam", "p, Adam" },
    sgd = { "change, SGD", "p, SGD" } } do
    for _, each in ipairs(experiment.paired(pairs_of[what])) do
      each.cell.compared[what] = each
      each.cell[heads[1]], each.cell[heads[2]] = { each.change, each.low, each.high }, each.holm
    end
  end
  return set, cells
end

-- A text that says how far one data set supports the thesis' three claims about Adam: it is not better than SGD, bounds
-- have the same effect under both, and its learning rate needs little tuning.
local function sentence(set, cells)
  local ahead, sure, behind, signs, bounded, apart = 0, 0, 0, 0, 0, 0
  local near, least, most = { adam = 0, sgd = 0 }, { adam = math.huge, sgd = math.huge }, { adam = 0, sgd = 0 }
  local tried = { adam = 0, sgd = 0 }
  local function side_of(each) return runs.side(each.change, each.holm) end
  for _, cell in ipairs(cells) do
    local difference, adam, sgd = cell.compared.difference, cell.compared.adam, cell.compared.sgd
    local side = side_of(difference)
    ahead = ahead + (difference.change > 0 and 1 or 0)
    sure, behind = sure + (side > 0 and 1 or 0), behind + (side < 0 and 1 or 0)
    if adam then
      bounded, signs = bounded + 1, signs + (adam.change * sgd.change > 0 and 1 or 0)
      apart = apart + (side_of(adam) * side_of(sgd) < 0 and 1 or 0)
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

local all, sentences, panels = {}, {}, { columns = #args.sets, title = figure.title(args) }
for i, name in ipairs(args.sets) do
  local set, cells = cells_of(name)
  table.move(cells, 1, #cells, #all + 1, all)
  sentences[i] = sentence(set, cells)
  local series, of_loss = {}, {}
  for l, loss in ipairs(runs.losses) do
    series[l] = { name = runs.title_of[loss], x = {}, y = {} }
    of_loss[series[l].name] = series[l]
  end
  for _, cell in ipairs(cells) do
    if cell.bound ~= "none" then
      table.insert(of_loss[cell.loss].x, cell.compared.adam.change)
      table.insert(of_loss[cell.loss].y, cell.compared.sgd.change)
    end
  end
  panels[i] = mr.plot.scatter{ series = series, diagonal = true, title = set.title, xlabel = "change by a bound, Adam",
    ylabel = "change by a bound, SGD" }
end

local tuning = { { "data" }, { "loss" }, { "bound" } }
for _, optimiser in ipairs(descent.optimisers) do
  for _, name in ipairs{ "rate", "near the best", "epoch" } do
    tuning[#tuning + 1] = { name .. ", " .. title[optimiser] }
  end
end
local p = { format = "%.2g", mark = protocol.level }
return experiment.finish(args, mr.plot.facets(panels), table.concat(sentences, "\n\n"),
  experiment.table{ caption = "Test metric of the matching loss", records = all,
    columns = { { "data" }, { "loss" }, { "bound" }, { "Adam", format = "%.4f" }, { "SGD", format = "%.4f" },
      { "SGD - Adam", format = "%+.4f" }, { "p", format = p.format, mark = p.mark },
      { "change, Adam", format = "%+.4f" }, { "change, SGD", format = "%+.4f" },
      { "p, Adam", format = p.format, mark = p.mark }, { "p, SGD", format = p.format, mark = p.mark } },
    by = function(cell) return "bootstrap over " .. cell.set.units end,
    runs = function(cell, column) return cell.set.folds * ((column == "Adam" or column == "SGD") and 1 or 2) end,
    legend = [[
SGD: plain stochastic gradient descent; SGD - Adam: difference of the means, p: its permutation test; change, with the
optimizer's name: by the bound, against no bound; p, with the optimizer's name: of that change. All are paired by user
or query and corrected by Holm over the column of a data set.]] },
  experiment.table{ caption = "Learning rates", records = all, columns = tuning,
    runs = function(cell, column) return column:find "^epoch" and cell.set.folds or nil end, legend = [[
rate: learning rate that validation chose on the first fold, "(edge)" at the end of those tried; near the best: how
many of the powers of ten that were tried come within 0.01 of it there; epoch: mean of the best ones.]] })
