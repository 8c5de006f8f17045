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
-- the bound and beta. Changes are against beta = 0 and against no bound. P-values are corrected by Holm: those of all
-- comparisons with beta = 0 together, and those of all comparisons with no bound together.
local records, changes = {}, { { name = "beta 0", pairs = {} }, { name = "no bound", pairs = {} } }
for _, study in ipairs(better.studies(args)) do
  for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "form", better.forms },
    { "beta", better.betas } }) do
    local function of(bound) return experiment.by_list(study.results, { loss = at.loss, bound = bound }, "own") end
    local bound = better.bound(at.form, at.beta)
    local values = of(bound)
    local record = { set = study.set, data = study.set.title, setting = runs.setting_text(study.set, study.value),
      loss = runs.title_of[at.loss], bound = at.form, beta = at.beta, mean = experiment.mean(values) }
    for i, other in ipairs{ better.bound(at.form, 0), "none" } do
      local name = changes[i].name
      record["against " .. name], record["p, " .. name] = "", ""
      if other ~= bound then table.insert(changes[i].pairs, { values, of(other), record = record }) end
    end
    records[#records + 1] = record
  end
end
local words = {}
for i, change in ipairs(changes) do
  local up, down = 0, 0
  for _, each in ipairs(experiment.paired(change.pairs)) do
    local side = runs.side(each.change, each.holm)
    each.record["against " .. change.name] = { each.change, each.low, each.high }
    each.record["p, " .. change.name] = each.holm
    up, down = up + (side > 0 and 1 or 0), down + (side < 0 and 1 or 0)
  end
  words[i] = ("against %s, %d of %d are significantly for the better and %d for the worse"):format(
    change.name, up, #change.pairs, down)
end
return experiment.finish(args, fig, ([[
The figure has the smoothed distribution functions of the rankers that are references. Of the changes %s; of those %s.
All models have seed %d.]]):format(words[1], words[2], args.seed),
  experiment.table{ records = records, within = { "data", "setting", "loss" },
    by = function(each) return "bootstrap over " .. each.set.units end,
    runs = function(each, column) return each.set.folds * (column == "mean" and 1 or 2) end,
    columns = { { "data" }, { "setting" }, { "loss" }, { "bound" }, { "beta" },
      { "mean", format = "%.4f", mark = "max" }, { "against beta 0", format = "%+.4f" },
      { "p, beta 0", format = "%.2g", mark = protocol.level }, { "against no bound", format = "%+.4f" },
      { "p, no bound", format = "%.2g", mark = protocol.level } }, legend = [[
beta: of the ranker that is the reference of the bound (0: random); mean: test metric of the matching loss; against no
bound, against beta 0: changes of the mean, paired by user or query; p, no bound and p, beta 0: of permutation tests,
corrected by Holm over the column.]] })
