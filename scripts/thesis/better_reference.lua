-- Future work of Westerborg (2022): a distribution bound rescales a list's metric to the probability that a random
-- ranking gets no higher metric. What if the bound compares with a ranker that is better than random?

-- This ranker draws rows without replacement with weights e^(beta grade) (Plackett 1975, Luce 1959); beta = 0 is
-- random. The bounds are the exact distribution function, smoothed with kappa = 8, and its logit, on MovieLens and on
-- MQ2008 (labels 1 and 2 are relevant). Changes of the test metric are paired by user or query.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure = dofile(here .. "beside.lua"), dofile(here .. "figure.lua")
local experiment, protocol = mr.experiment, runs.protocol
local better = dofile(here .. "better.lua")

local args = runs.args(
  figure.options("better_reference", { seed = { default = 1, help = "seed of splits, negatives and models" },
    recipe = runs.recipe }))

-- The figure has a panel for each metric. It shows the metric's distribution function for a list of this shape (60
-- rows, 20 of them relevant), with a line for each beta of the reference ranker.
local shape = { n = 60, p = 20 }
local panels = {}
for _, base in ipairs(figure.losses) do
  local stats, series = mr.bounds.of(base.metric, shape), {}
  local x = figure.range(stats.min, stats.max, args.smoke and 40 or 200)
  for i, beta in ipairs(better.betas) do
    local d = mr.bounds.distribution(base.metric, { n = shape.n, p = shape.p, beta = beta })
    series[i] = { name = ("beta %g"):format(beta), x = x, y = d:smooth(mr.tensor(x, { dtype = "float64" })):totable(),
      color = i }
  end
  panels[#panels + 1] = mr.plot.lines{ series = series, title = base.title, xlabel = base.metric,
    ylabel = "smoothed distribution function", legend = "legend" }
end
local fig = figure.facets(panels, ("Rankings of %d rows of which %d are relevant"):format(shape.n, shape.p))

-- The table has a row for each data set, setting (negatives per relevant item, or least relevant label), loss, form of
-- the bound and beta. `changes` names two pairs of columns: the change of the test metric and its p-value, against beta
-- = 0 and against no bound.
local changes = { { "against beta 0", "p, beta 0" }, { "against no bound", "p, no bound" } }
local columns, formats, mark = { "data", "setting", "loss", "bound", "beta", "mean" }, { mean = "%.4f" },
  { mean = "max" }
for _, names in ipairs(changes) do
  table.move(names, 1, 2, #columns + 1, columns)
  formats[names[1]], formats[names[2]], mark[names[2]] = "%+.4f", "%.2g", protocol.level
end
local rows, tests = {}, { {}, {} }
local sets = {}  -- records of data sets (number of folds, word for users or queries) by title
local cells = experiment.cells(
  function(row) return "bootstrap over " .. sets[row[1]].units end,
  function(row, column) return sets[row[1]].folds * (column == "mean" and 1 or 2) end)
for _, study in ipairs(better.studies(args)) do
  for _, loss in ipairs(runs.losses) do
    for _, form in ipairs(better.forms) do
      for _, beta in ipairs(better.betas) do
        local bound, all = better.bound(form, beta), { study.results }
        local values = experiment.by_list(all, { loss = loss, bound = bound }, "own")
        local mean = mr.stats.mean(values)
        sets[study.set.title] = study.set
        cells:note(#rows + 1, "mean", experiment.over_lists(values))
        local row = { study.set.title, runs.setting_text(study.set, study.value), runs.title_of[loss], form, beta, mean,
          "", "", "", "" }
        for i, other in ipairs{ better.bound(form, 0), "none" } do
          if other ~= bound then
            local against = experiment.by_list(all, { loss = loss, bound = other }, "own")
            table.insert(tests[i], { row = row, found = runs.change_of(values, against) })
            cells:note(#rows + 1, changes[i][1], experiment.over_lists{ values, against })
          end
        end
        rows[#rows + 1] = row
      end
    end
  end
end

-- Corrects p-values by Holm: those of all comparisons with beta = 0 together, and those of all comparisons with no
-- bound together. `words` says for each of both how many changes are significantly better and worse.
local words = {}
for i, each in ipairs(tests) do
  local ps, up, down = {}, 0, 0
  for t, test in ipairs(each) do ps[t] = test.found.p end
  for t, p in ipairs(runs.correct(ps)) do
    local change, row = each[t].found.change, each[t].row
    row[5 + 2 * i], row[6 + 2 * i] = change, p
    local side = runs.side(change, p)
    up, down = up + (side > 0 and 1 or 0), down + (side < 0 and 1 or 0)
  end
  words[i] = ("%s, %d of %d are significantly for the better and %d for the worse"):format(
    changes[i][1], up, #each, down)
end
return experiment.finish(args, fig, ([[
The figure has the smoothed distribution functions of the rankers that are references. Of the changes %s; of those %s.
All models have seed %d.]]):format(
  words[1], words[2], args.seed), experiment.named("", mr.table{ columns = columns, rows = rows, formats = formats,
  mark = mark,
    within = { "data", "setting", "loss" } }, cells, [[
beta: of the ranker that is the reference of the bound (0: random); mean: test metric of the matching loss; against no
bound, against beta 0: changes of the mean, paired by user or query; p, no bound and p, beta 0: of permutation tests,
corrected by Holm over the column.]]))
