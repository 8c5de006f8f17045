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

local rows, ps = {}, {}
local sets = {}  -- records of data sets (number of folds, word for users or queries) by title
local cells = experiment.cells(
  function(row) return "bootstrap over " .. sets[row[1]].units end,
  function(row, column) return column:find " error$" and 0 or sets[row[1]].folds * (column == "mean" and 1 or 2) end)
local largest = {}
for _, name in ipairs(args.sets) do
  local set, study = runs.set(args, name), drawn.study(args, name)
  local shapes = shapes_of(set)
  for _, loss in ipairs(runs.losses) do
    for _, bound in ipairs(drawn.bounds) do
      local function lists(samples)
        return experiment.by_list({ study }, { loss = loss, bound = bound, samples = samples }, "own")
      end
      local exact = lists(0)
      for _, samples in ipairs(drawn.samples(args)) do
        local row = { set.title, runs.title_of[loss], bound, samples == 0 and "exact" or samples }
        local values = samples == 0 and exact or lists(samples)
        row[7], sets[set.title] = mr.stats.mean(values), set
        cells:note(#rows + 1, "mean", experiment.over_lists(values))
        if samples > 0 then
          row[5], row[6] = errors(shapes, drawn.metric_of[loss], samples)
          local test, interval = runs.change_of(values, exact), mr.stats.bootstrap{ values, exact }
          row[8], row[9], row[10], row[11] = test.change, interval.low, interval.high, test.p
          ps[#rows + 1] = test.p
          local most = largest[samples] or { change = 0, off = 0 }
          largest[samples] = { change = math.max(most.change, math.abs(row[8])), off = math.max(most.off, row[6]) }
        end
        rows[#rows + 1] = row
      end
    end
  end
end
local significant = 0
for i, p in pairs(runs.correct(ps)) do
  rows[i][12] = p
  significant = significant + (runs.side(rows[i][8], p) ~= 0 and 1 or 0)
end

local parts, compared = {}, 0
for _, samples in ipairs(drawn.samples(args)) do
  if samples > 0 then
    local most = largest[samples]
    parts[#parts + 1] =
      ("With %d rankings the mean is off by %.2g %% at most, and the test metric changes by %.4f at most."):format(
        samples, 100 * most.off, most.change)
  end
end
for _ in pairs(ps) do compared = compared + 1 end
local text = ([[
%s Of %d changes %s significant.]]):format(table.concat(parts, "\n"), compared, experiment.are(significant))
local formats = { ["mean error"] = "%.2g", ["largest error"] = "%.2g", mean = "%.4f", change = "%+.4f", low = "%+.4f",
  high = "%+.4f", p = "%.2g", ["p, Holm"] = "%.2g" }
local columns = { "data", "loss", "bound", "rankings", "mean error", "largest error", "mean", "change", "low", "high",
  "p", "p, Holm" }
return experiment.finish(args, nil, text,
  experiment.named("", mr.table{ columns = columns, rows = rows, formats = formats,
  mark = { ["p, Holm"] = protocol.level } }, cells, [[
rankings: random ones of each shape of list, whose mean stands for the expectation; mean error, largest error: of that
mean, as a share of the expectation, over the shapes of the training lists of the first fold; mean: test metric of the
matching loss; change: against the exact expectation, paired by user or query; p: of a permutation test; p, Holm:
corrected over the table.]]))
