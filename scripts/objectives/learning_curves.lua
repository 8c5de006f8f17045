-- Figures 1 to 9 of Tang et al. (2023): how do training loss and held-out loss change with the epochs, in batches and
-- query by query? Networks without a figure in the paper are shown, too.

-- --recipe paper: trained by this project's protocol at the learning rate of the paper's text, mean over folds; the
-- validation part is held out. --recipe code: trained as the authors' code draws the figures, with 70 % of the training
-- part for training and 30 % held out, mean over seeds.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local code, experiment = dofile(here .. "code.lua"), mr.experiment
local training = code.training
local protocol = training.protocol

local args = training.args(experiment.figure_options({
  recipe = { default = "paper", choices = { "paper", "code" },
    help = "our protocol, on the data sets' official folds, or what the authors' code does, on random splits" },
  seed = { default = 1, help = "seed of networks; with recipe code, the first of three seeds of splits and networks" },
  sets = { default = { "mq2008", "mslr" }, choices = protocol.set_names, distinct = true, help = "which data" },
}, "results/objectives/learning_curves.svg"))

local number_of = {
  mq2008 = { MseNetBatched = "1a", RankNet = "1b", ApproxNDCGBatched = "2", ApproxNDCGQbQ = "3",
    NeuralNDCGBatched = "4" },
  web10k = { MseNetBatched = "5", MseNetQbQ = "6", ApproxNDCGBatched = "7", ApproxNDCGQbQ = "8",
    NeuralNDCGBatched = "9" },
}
number_of.mslr = number_of.web10k

-- The mean over training runs of a loss, as an array by epoch. `name` is "training" or "held_out".
local function mean_curve(results, runs, name)
  local sums = {}
  for _, run in ipairs(runs) do
    for i, x in ipairs(results:per_list(run.number, name):totable()) do sums[i] = (sums[i] or 0) + x / #runs end
  end
  return sums
end

-- Returns the study (stored training runs) of a data set, the names of its algorithms, and a function that returns the
-- runs of an algorithm whose curves are drawn. With --recipe code these are the runs of all seeds, else those of all
-- folds at the learning rate of the paper's text.
local function study_of(set)
  if args.recipe == "code" then
    local results = code.curves_of(args, set)
    return results, code.names[set.kind], function(algorithm)
      return experiment.runs(results, { algorithm = algorithm })
    end
  end
  local results = training.of(args, set)
  return results, protocol.names, function(algorithm)
    return experiment.runs(results, { algorithm = algorithm, rate = protocol.settings(algorithm, set).rate })
  end
end

-- Returns the epoch with the lowest held-out loss. Also returns whether this epoch is before the last tenth of all
-- epochs; if so, the loss rises afterwards.
local function lowest(losses)
  local at = 1
  for i, x in ipairs(losses) do
    if x < losses[at] then at = i end
  end
  return at, at < 0.9 * #losses
end

-- Opens all data sets first, so that missing data raise an error before any run.
local sets = {}
for i, name in ipairs(args.sets) do sets[i] = training.set(args, name) end

-- Returns a row of the table: the first and last training loss, and the first, lowest (epoch `at`) and last held-out
-- loss of the mean curves `a` and `b`, with intervals over the training runs.
local function row_of(results, runs, a, b, at)
  local values = { {}, {}, {}, {}, {} }
  for t, run in ipairs(runs) do
    local x, y = results:per_list(run.number, "training"):totable(), results:per_list(run.number, "held_out"):totable()
    for c, value in ipairs{ x[1], x[#x], y[1], y[at], y[#y] } do values[c][t] = value end
  end
  local function cell(c, value) return { value, table.unpack(experiment.over_runs(values[c]) or {}) } end
  return { runs = #runs, ["training, first"] = cell(1, a[1]), ["training, last"] = cell(2, a[#a]),
    ["held out, first"] = cell(3, b[1]), lowest = cell(4, b[at]), ["at epoch"] = at,
    ["held out, last"] = cell(5, b[#b]) }
end

local panels, records, rising, gaps = { columns = 4, width = 1280, legend = "legend" }, {}, {}, {}
for _, set in ipairs(sets) do
  local results, names, runs_of = study_of(set)
  for _, algorithm in ipairs(names) do
    local runs, number = runs_of(algorithm), not args.smoke and number_of[set.name][algorithm]
    local a, b = mean_curve(results, runs, "training"), mean_curve(results, runs, "held_out")
    local at, rises = lowest(b)
    local record = row_of(results, runs, a, b, at)
    record.figure, record.data, record.algorithm = number and "Figure " .. number or "no figure", set.title, algorithm
    records[#records + 1] = record
    panels[#panels + 1] = mr.plot.lines{ title = ("%s\n%s, %s"):format(algorithm, record.figure, set.title),
      xlabel = "epoch", ylabel = "loss",
      series = { { name = "training", y = a, color = 1 }, { name = "held out", y = b, color = 2 } } }
    if rises then rising[#rising + 1] = ("%s on %s"):format(algorithm, set.said) end
    gaps[set.name .. algorithm] = b[#b] - a[#a]
  end
end
panels.height, panels.title = 240 * ((#panels + 3) // 4) + 60, args.smoke and "Made-up data" or nil

-- Says for each objective that is trained both in batches and query by query: how much higher the held-out loss is than
-- the training loss after the last epoch, in each of the two ways of training.
local function gaps_text()
  local parts = {}
  for _, set in ipairs(sets) do
    for _, each in ipairs{ "MseNet", "ApproxNDCG", "NeuralNDCG" } do
      local batched, single = gaps[set.name .. each .. "Batched"], gaps[set.name .. each .. "QbQ"]
      if batched and single then
        parts[#parts + 1] = ("%s on %s %.2g and %.2g"):format(each, set.said, batched, single)
      end
    end
  end
  return table.concat(parts, "; ")
end

-- Names the networks whose held-out loss is lowest before the last tenth of the epochs and rises afterwards.
local function rises_text()
  if #rising == 0 then return "The held-out loss is lowest in the last tenth of the epochs everywhere." end
  return ("The held-out loss is lowest before the last tenth of the epochs, and rises afterwards, of %s."):format(
    table.concat(rising, ", "))
end

local how = {
  paper = [[under our protocol at the learning rates of the text, mean over folds; the NDCG losses are negative NDCGs,
and RankNet is trained query by query, where the paper has batches of 64 (section 4.2.1)]],
  code = [[as the authors' code splits (70 and 30 % of the training part), mean over seeds; the NDCG losses are NDCGs,
which are minimised. Two pairs of curves are not on one scale: RankNet trains on drawn pairs, of which each target has
as many, and its held-out loss counts each pair once; NeuralNDCG query by query counts queries without relevant
documents as 0 in training only]],
}
return experiment.finish(args, mr.plot.facets(panels), ([[
The figure shows the loss by epoch on the training part and on a part that is held out, %s. %s After the last epoch
the held-out loss is above the training loss by these amounts, in batches and query by query: %s.%s]]):format(
    how[args.recipe], rises_text(), gaps_text(),
    args.smoke and ""
      or "\nThe paper reads its figures as overfitting in batches that training query by query alleviates."),
  experiment.table{ records = records, runs = function(each) return each.runs end,
    by = "Student's t over " .. (args.recipe == "code" and "seeds" or "folds"),
    columns = { { "figure" }, { "data" }, { "algorithm" }, { "training, first", format = "%#.4g" },
      { "training, last", format = "%#.4g" }, { "held out, first", format = "%#.4g" }, { "lowest", format = "%#.4g" },
      { "at epoch" }, { "held out, last", format = "%#.4g" } }, legend = [[
training: loss on the training part, a mean over an epoch while the network changes; held out: loss on a part that is
held out; first, last: epoch; lowest: least held-out loss; at epoch: its epoch.]] })
