-- Westerborg (2022) finds that distribution based bounding ruins the nDCG loss (Table 5.1: 0.88 instead of 0.97 at NSR
-- 1), but not AP and nRBP. Why?

-- A model starts with equal scores. Smooth nDCG is then far below that of a random ranking, because the discount is
-- convex; smooth AP and nRBP are near the middle. So far down, the thesis' distribution function, a sum over 300,000
-- samples, is flat, and users whose lists lie there get no gradient. The exact distribution, and its logarithm or
-- logit, have a slope there. Data, models and learning rates are those of Table 5.1 (MovieLens).
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure = dofile(here .. "beside.lua"), dofile(here .. "figure.lua")
local experiment, protocol = mr.experiment, runs.protocol
local silence = dofile(here .. "silence.lua")

local args = runs.args(
  figure.options("why_distribution_fails", { seed = { default = 1, help = "seed of splits, negatives and models" },
    samples = runs.samples }))
local set, study = runs.set(args, "movielens"), silence.study(args)
local title = { thesis = "distribution (thesis)", exact = "distribution, exact" }
local function title_of(bound) return title[bound] or bound end

-- The share of training lists whose bounded nDCG has no gradient, as the mean over folds: an array with the share
-- before training first, then one share per epoch.
local function silent(nsr, bound)
  local sum, folds = {}, experiment.runs(study, { nsr = nsr, bound = bound })
  for _, trial in ipairs(folds) do
    for i, share in ipairs(study:reports(trial.number).silent.values) do sum[i] = (sum[i] or 0) + share / #folds end
  end
  return sum
end

-- The first table has test nDCG by NSR and bound, and the share of lists without a gradient at the start, after one
-- epoch and at the end.
local records, pairs_of = {}, {}
for _, at in ipairs(experiment.combinations{ { "nsr", set.values }, { "bound", silence.bounds } }) do
  local folds, share = mr.stats.summary(experiment.folds(study, at, "own")), silent(at.nsr, at.bound)
  local values, by_fold = experiment.by_list(study, at, "own"), { {}, {}, {} }
  for t, trial in ipairs(experiment.runs(study, at)) do
    local shares = study:reports(trial.number).silent.values
    by_fold[1][t], by_fold[2][t], by_fold[3][t] = shares[1], shares[2], shares[#shares]
  end
  local function of_share(i, value) return { value, table.unpack(experiment.over_runs(by_fold[i]) or {}) } end
  local record = { nsr = at.nsr, bound = title_of(at.bound), sd = folds.sd,
    ndcg = { folds.mean, table.unpack(experiment.over_lists(values) or {}) }, start = of_share(1, share[1]),
    after_1 = of_share(2, share[2]), at_end = of_share(3, share[#share]) }
  records[#records + 1] = record
  if at.bound ~= "none" then
    local free = experiment.by_list(study, { nsr = at.nsr, bound = "none" }, "own")
    pairs_of[#pairs_of + 1] = { values, free, record = record }
  end
end
for _, each in ipairs(experiment.paired(pairs_of)) do
  local record = each.record
  record.change, record.holm, record.users = { each.change, each.low, each.high }, each.holm, each.n
end
-- The second table has, for each NSR (negatives per relevant item) and metric, where lists start training: the
-- probability that a random ranking is no better than the list's smooth metric at equal scores.
local starting = {}
for _, nsr in ipairs(set.values) do
  for _, loss in ipairs(runs.losses) do
    local found = experiment.lists(study, { nsr = nsr, bound = "none" }, "start_" .. loss)
    local d = mr.bounds.distribution_of(mr.tensor(found, { dtype = "float64" }))
    starting[#starting + 1] = { nsr, runs.title_of[loss], d:quantile(0.1), d:quantile(0.5), d:quantile(0.9),
      d:cdf(1e-6) }
  end
end
local places = mr.table{ columns = { "NSR", "metric", "10 %", "median", "90 %", "share below 1e-6" }, rows = starting,
  formats = { ["share below 1e-6"] = "%.3f" } }

-- The figure shows at which value of their distribution function lists start training (upper panels, a panel for each
-- NSR), and the share of lists without a gradient by epoch (lower panels).
local panels = { columns = #set.values, title = figure.title(args), width = math.max(500, 330 * #set.values),
  height = 560 }
for _, nsr in ipairs(set.values) do
  local series = {}
  for i, loss in ipairs(runs.losses) do
    series[i] = { name = runs.title_of[loss],
      values = experiment.lists(study, { nsr = nsr, bound = "none" }, "start_" .. loss) }
  end
  panels[#panels + 1] = mr.plot.ecdf{ series = series, title = ("NSR %d"):format(nsr), xlabel = "F at equal scores",
    ylabel = "share of lists", xrange = { 0, 1 }, legend = "legend" }
end
for _, nsr in ipairs(set.values) do
  local series = {}
  for i, bound in ipairs(silence.bounds) do
    local share = silent(nsr, bound)
    series[i] = { name = title_of(bound), x = mr.arange(0, #share - 1), y = share, color = i }
  end
  table.remove(series, 1)
  panels[#panels + 1] = mr.plot.lines{ series = series, xlabel = "epoch", ylabel = "share without gradient",
    yrange = { 0, 1 }, legend = "legend" }
end

-- The smallest and the largest share of lists without a gradient under some bounds, in per cent, at a time ("start" or
-- "at_end").
local function shares(names, time)
  local low, high = math.huge, -math.huge
  for _, each in ipairs(records) do
    for _, name in ipairs(names) do
      local share = 100 * each[time][1]
      if each.bound == title_of(name) then low, high = math.min(low, share), math.max(high, share) end
    end
  end
  return low, high
end

local first, most_first = shares({ "thesis" }, "start")
local last, most_last = shares({ "thesis" }, "at_end")
local _, most_start = shares({ "distribution_log", "distribution_logit" }, "start")
local _, most_end = shares({ "distribution_log", "distribution_logit" }, "at_end")
return experiment.finish(args, mr.plot.facets(panels), ([[
The upper panels and the second table show where lists start on their distribution function, with all scores alike:
the probability that a random ranking is no better. The lower panels show how many lists have no gradient. Under the
thesis' bound these are %.0f to %.0f %% by NSR before training, and %.0f to %.0f %% at its end. Under the logarithm and
the logit they are at most %.1f %% before training and %.1f %% at its end.]]):format(first, most_first, last, most_last,
    most_start, most_end),
  experiment.table{ caption = "Test nDCG of the nDCG loss, and lists without a gradient", records = records,
    columns = { { "NSR", "nsr" }, { "bound" }, { "nDCG", "ndcg", format = "%.4f", mark = "max" },
      { "sd of folds", "sd", format = "%.4f" }, { "change", format = "%+.4f" },
      { "p, Holm", "holm", format = "%.2g", mark = protocol.level }, { "silent at start", "start", format = "%.3f" },
      { "after 1", "after_1", format = "%.3f" }, { "at the end", "at_end", format = "%.3f" }, { "users" } },
    within = { "NSR" }, by = function(_, column)
      return (column == "nDCG" or column == "change") and "bootstrap over users" or "Student's t over folds"
    end, runs = function(_, column)
      return set.folds * ((column == "change" or column == "p, Holm") and 2 or 1)
    end, legend = [[
NSR: negative sampling ratio; sd of folds: standard deviation of the folds' means; silent at start: share of training
lists whose bounded nDCG has no gradient before training; after 1: share after one epoch; at the end: after the last;
change: of nDCG against no bound, paired by user; p, Holm: of a permutation test, corrected over the table; users:
that are compared.]] },
  experiment.named("Where lists start on the distribution function of a metric", places, experiment.cells(nil, 0), [[
10 %, median, 90 %: of the lists' values of the distribution function, the probability that a random ranking is no
better, where all scores are equal; share below 1e-6: of lists whose value is less than that.]]))
