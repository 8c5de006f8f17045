-- Westerborg (2022), section 4.3, replaces the expectation in expectation based bounding by the mean over random
-- rankings ("we take a similar approach", as for distributions: 300,000 rankings). Does it matter? The expectation has
-- a closed form (section 3.2).

-- Data and models, in five folds: MovieLens at NSR 1 (one negative per relevant item) by matrix factorisation, MQ2008
-- (relevant from label 1) by a network with one hidden layer. Protocol: Adam has the learning rates of Table 5.1.
-- Models are trained with the closed form, with 300,000 rankings, and with far fewer.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol
local drawn = dofile(here .. "drawn.lua")

local args = runs.args{
  seed = { default = 1, help = "seed of splits, negatives and models" },
  sets = { default = { "movielens", "mq2008" }, choices = { "movielens", "mq2008" }, distinct = true,
    help = "which data sets" },
}

-- The distinct shapes (number of rows and of relevant rows) of the training lists in the first fold. Shapes with no or
-- only relevant rows are left out, because all their rankings have the same metric.
local function shapes_of(set)
  local lists, known, shapes = set.fold(runs.beside.value, 1, args.seed).train.lists, {}, {}
  local relevant = lists.relevant:totable()
  for l, n in ipairs(lists.sizes:totable()) do
    local p = relevant[l]
    local key = n .. " " .. p
    if p > 0 and p < n and not known[key] then
      known[key] = true
      shapes[#shapes + 1] = { n = math.tointeger(n), p = math.tointeger(p) }
    end
  end
  return shapes
end

-- The relative error of the mean of a metric over `samples` random rankings against the exact expectation: the mean
-- error and the largest error over all list shapes.
local function errors(shapes, metric, samples)
  local sum, most = 0, 0
  for _, shape in ipairs(shapes) do
    local exact = mr.bounds.of(metric, shape).expectation
    local off = math.abs(drawn.mean_of(metric, shape.n, shape.p, samples) / exact - 1)
    sum, most = sum + off, math.max(most, off)
  end
  return sum / #shapes, most
end

local records, pairs_of = {}, {}
for _, name in ipairs(args.sets) do
  local set, study = runs.set(args, name), drawn.study(args, name)
  local shapes = shapes_of(set)
  for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "bound", drawn.bounds },
    { "samples", drawn.samples(args) } }) do
    local function lists(samples)
      return experiment.by_list(study, { loss = at.loss, bound = at.bound, samples = samples }, "own")
    end
    local values = lists(at.samples)
    local record = { set = set, data = set.title, loss = runs.title_of[at.loss], bound = at.bound,
      samples = at.samples, rankings = at.samples == 0 and "exact" or at.samples, mean = experiment.mean(values) }
    if at.samples > 0 then
      record["mean error"], record["largest error"] = errors(shapes, drawn.metric_of[at.loss], at.samples)
      pairs_of[#pairs_of + 1] = { values, lists(0), record = record }
    end
    records[#records + 1] = record
  end
end

-- By number of rankings: the largest change of a test metric, and the largest error of an expectation.
local largest, significant = {}, 0
for _, each in ipairs(experiment.paired(pairs_of)) do
  local record = each.record
  for _, name in ipairs{ "change", "low", "high", "p" } do record[name] = each[name] end
  record["p, Holm"] = each.holm
  significant = significant + (runs.side(each.change, each.holm) ~= 0 and 1 or 0)
  local most = largest[record.samples] or { change = 0, off = 0 }
  largest[record.samples] = { change = math.max(most.change, math.abs(each.change)),
    off = math.max(most.off, record["largest error"]) }
end
local parts = {}
for _, samples in ipairs(drawn.samples(args)) do
  local most = largest[samples]
  parts[#parts + 1] = most and
    ("With %d rankings the mean is off by %.2g %% at most, and the test metric changes by %.4f at most."):format(
      samples, 100 * most.off, most.change)
end
return experiment.finish(args, nil, ("%s Of %d changes %s significant."):format(table.concat(parts, "\n"), #pairs_of,
    experiment.are(significant)),
  experiment.table{ records = records, by = function(each) return "bootstrap over " .. each.set.units end,
    runs = function(each, column)
      return column:find " error$" and 0 or each.set.folds * (column == "mean" and 1 or 2)
    end,
    columns = { { "data" }, { "loss" }, { "bound" }, { "rankings" }, { "mean error", format = "%.2g" },
      { "largest error", format = "%.2g" }, { "mean", format = "%.4f" }, { "change", format = "%+.4f" },
      { "low", format = "%+.4f" }, { "high", format = "%+.4f" }, { "p", format = "%.2g" },
      { "p, Holm", format = "%.2g", mark = protocol.level } }, legend = [[
rankings: random ones of each shape of list, whose mean stands for the expectation; mean error, largest error: of that
mean, as a share of the expectation, over the shapes of the training lists of the first fold; mean: test metric of the
matching loss; change: against the exact expectation, paired by user or query; p: of a permutation test; p, Holm:
corrected over the table.]] })
