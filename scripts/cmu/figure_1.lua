-- Figure 1 of Li & Wu, Application of Neural Networks in Ranking: cross entropy in training and nDCG@10 on validation
-- by epoch. The networks are those of Table 1, trained on queries with binary labels. Their figure shows SGD with
-- learning rate 0.001, and Adam, which "does not fit well". Data, models and runs are shared with table_1.lua.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local queries = dofile(here .. "queries.lua")
local experiment, protocol = mr.experiment, queries.protocol

local args = queries.args(experiment.figure_options({}, "results/cmu/figure_1.svg"))
local networks = { "RankNet", "DirectRanker", "Class NN" }
local recipes = { { "paper", "SGD, 0.001", "dashed" }, { "sgd", "SGD, best rate", "dotted" },
  { "adam", "Adam, best rate", "solid" } }

-- Returns the learning curve of a network: for each epoch, the mean over folds and seeds of the number `name` that
-- the training runs reported. `where` selects the runs.
local function curve(results, where, name)
  local sum, count = {}, 0
  for _, trial in ipairs(experiment.runs(results, where)) do
    count = count + 1
    for i, value in ipairs(results:reports(trial.number)[name].values) do sum[i] = (sum[i] or 0) + value end
  end
  for i, value in ipairs(sum) do sum[i] = value / count end
  return sum
end

local titles = { loss = "cross entropy in training", ["valid_" .. protocol.metric] = "validation nDCG@10" }
local panels = { columns = #args.sets, title = args.made_up and "Made-up data" or nil, width = 520 * #args.sets,
  height = 760 }
local records, parts, curves = {}, {}, {}
for i, name in ipairs(args.sets) do
  local set, results = queries.set(args, name), queries.runs(args, name)
  curves[i] = { set = set, results = results }
  for _, what in ipairs{ "loss", "valid_" .. protocol.metric } do
    local series = {}
    for s, system in ipairs(networks) do
      for _, recipe in ipairs(recipes) do
        local y = curve(results, { system = protocol.title(system, recipe[1]) }, what)
        series[#series + 1] = { name = ("%s, %s"):format(system, recipe[2]), y = y, color = s, style = recipe[3] }
        curves[i][system .. recipe[1] .. what] = y
      end
    end
    curves[i][what] = mr.plot.lines{ title = ("%s: %s"):format(set.title, titles[what]), series = series,
      xlabel = "epoch", ylabel = titles[what], legend = "legend" }
  end
end
for _, what in ipairs{ "loss", "valid_" .. protocol.metric } do
  for i in ipairs(args.sets) do panels[#panels + 1] = curves[i][what] end
end

-- Returns the table's row of a network under a recipe: first and last loss, and first, best and last nDCG@10 on
-- validation. Each is that of the mean curve, with an interval by Student's t over the training runs, if several.
local function row_of(one, system, recipe)
  local loss, ndcg = one[system .. recipe[1] .. "loss"], one[system .. recipe[1] .. "valid_" .. protocol.metric]
  local values, best = { {}, {}, {}, {}, {} }, 1
  for epoch, value in ipairs(ndcg) do best = value > ndcg[best] and epoch or best end
  local trials = experiment.runs(one.results, { system = protocol.title(system, recipe[1]) })
  for t, trial in ipairs(trials) do
    local reports = one.results:reports(trial.number)
    local a, b = reports.loss.values, reports["valid_" .. protocol.metric].values
    for c, value in ipairs{ a[1], a[#a], b[1], b[best], b[#b] } do values[c][t] = value end
  end
  local function cell(c, value) return { value, table.unpack(experiment.over_runs(values[c]) or {}) } end
  return { data = one.set.title, network = system, training = recipe[2], runs = #trials,
    ["loss, first"] = cell(1, loss[1]), ["loss, last"] = cell(2, loss[#loss]), ["nDCG@10, first"] = cell(3, ndcg[1]),
    best = cell(4, ndcg[best]), epoch = best, last = cell(5, ndcg[#ndcg]) }
end

for i in ipairs(args.sets) do
  for _, at in ipairs(experiment.combinations{ { "network", networks }, { "recipe", recipes } }) do
    records[#records + 1] = row_of(curves[i], at.network, at.recipe)
  end
  local first, last = curves[i]["RankNetpaperloss"], curves[i]["RankNetadamloss"]
  parts[i] = ("On %s RankNet's loss goes from %.3f to %.3f by descent at 0.001 and from %.3f to %.3f by Adam."):format(
    (curves[i].set.title:gsub("^MSLR slice", "the %0")), first[1], first[#first], last[1], last[#last])
end
local text = [[
The figure shows the cross entropy while parameters change (above) and nDCG@10 on validation (below) by epoch, means
over folds and seeds. The cross entropy is that of pairs for RankNet and DirectRanker and of documents for the
classifier, so that their heights do not compare; DirectRanker's cannot fall below log(1 + 1/e) = 0.313.]]
return experiment.finish(args, mr.plot.facets(panels), text .. "\n\n" .. table.concat(parts, "\n"),
  experiment.table{ records = records, by = "Student's t over folds and seeds",
    runs = function(each) return each.runs end,
    columns = { { "data" }, { "network" }, { "training" }, { "loss, first", format = "%.4f" },
      { "loss, last", format = "%.4f" }, { "nDCG@10, first", format = "%.4f" }, { "best", format = "%.4f" },
      { "epoch" }, { "last", format = "%.4f" } }, legend = [[
loss: cross entropy on training data, first: in the first epoch, last: in the last; nDCG@10, first: on validation
after the first epoch; best: the largest; epoch: its number; last: after the last epoch. All are means over folds and
seeds.]] })
