-- Do the losses of Li, Urbano & Hanjalic (2021) train as published? Every loss at every learning rate and NSR (sampled
-- negatives per relevant item), beside the numbers of the authors' repository.
-- Data: CiteULike-a, the authors' own folds 0 and 1. Model: matrix factorisation, 32 factors, initial values
-- U(-0.01, 0.01). Protocol: with --recipe published, the loss's own metric chooses the epoch on the test part, as in
-- the repository; with --recipe paper, on validation. Differences that are explained, and those that are not, are in
-- docs/results/notes/sigir21.md.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment, training = mr.experiment, dofile(here .. "training.lua")
local protocol, title = training.protocol, training.title

local own = training.options "published"
own.seeds = { default = { 1 }, least = 1, distinct = true, help = "of models and negatives; their means are compared" }
local args = training.args(own, { nsr = { 1 }, epochs = 2 })
local set = protocol.citeulike(args)

-- The published test means by metric, of each kind, loss, NSR, rate, fold and metric that chose the epoch. They are
-- from roger-zhe-li/sigir21-newinsights at 72741b7, results/citeulike/all_res.csv and
-- lambda_results/citeulike/all_res.csv; the paper prints only figures.
local published, file = {}, not args.made_up and mr.data.csv(here .. "published.csv") or { rows = {} }
for _, row in ipairs(file.rows) do
  local means = {}
  for c = 7, #row do means[file.columns[c]] = row[c] end
  published[("%s %s %d %g %d %s"):format(table.unpack(row, 1, 6))] = means
end

local compared_by, within = { "ndcg", "ap", "rbp(0.95)" }, ("within %g"):format(protocol.close)
local function beside(metric) return title(metric) .. ", less published" end

-- Returns a record of the model whose epoch the metric `by` chose, on one split. Its fields are columns of the table
-- below: means over seeds (`studies` has one study per seed), and differences from the published numbers, with
-- intervals. Returns nil if no training run made the model.
local function model_of(o, studies, split, by)
  local function values(name)
    local found = {}
    for _, results in ipairs(studies) do
      -- a run that diverged has no value and is left out
      found[#found + 1] = experiment.folds(results, { split = split }, name)[1]
    end
    return found
  end
  local epoch, close = math.tointeger(values("epoch by " .. by)[1]), {}
  if not epoch or #values(protocol.score("ndcg", by)) == 0 then return nil end
  local model = { NSR = o.nsr, kind = o.kind, loss = title(o.loss), rate = o.rate, fold = split,
    ["chosen by"] = title(by), epoch = epoch, ["sd of nDCG"] = mr.stats.summary(values(protocol.score("ndcg", by))).sd }
  local printed = published[("%s %s %d %g %d %s"):format(o.kind, o.loss, o.nsr, o.rate, split, by)]
  for _, metric in ipairs(protocol.metrics) do
    local name = protocol.score(metric, by)
    local mean = mr.stats.mean(values(name))
    local ends = experiment.over_lists(experiment.by_list(studies, { split = split }, name)) or {}
    model[title(metric)] = { mean, table.unpack(ends) }
    if printed then
      -- the interval of a difference treats the published number as exact
      local less, largest = mean - printed[metric], model.largest or 0
      model[beside(metric)] = { less, ends[1] and ends[1] - printed[metric], ends[2] and ends[2] - printed[metric] }
      model.largest = math.abs(less) > math.abs(largest) and less or largest
    end
  end
  for _, metric in ipairs(printed and compared_by or {}) do
    close[#close + 1] = protocol.near(model[beside(metric)][1]) and title(metric) or nil
  end
  model[within] = printed and (#close > 0 and table.concat(close, ", ") or "none")
  return model
end

-- Makes the records of all models. `by_loss` has the models for which numbers are published, grouped by loss, with
-- losses in order of first appearance.
local models, by_loss, count = {}, {}, 0
for _, o in ipairs(training.trainings(args, set)) do
  local studies, metrics = {}, protocol.own_metrics(o.loss)
  local name = ("%s %s"):format(o.kind == "lambda" and "LambdaRank" or o.kind, title(o.loss))
  for _, seed in ipairs(args.seeds) do
    o.seed = seed
    studies[#studies + 1] = training.study(args, set, o)
  end
  for _, split in ipairs(set.splits) do
    for _, by in ipairs(metrics) do
      local model = model_of(o, studies, split, by)
      models[#models + 1] = model
      if model and model.largest then
        if not by_loss[name] then
          by_loss[name] = { loss = name, models_of_run = #metrics }
          by_loss[#by_loss + 1] = by_loss[name]
        end
        table.insert(by_loss[name], model)
        count = count + 1
      end
    end
  end
end
if #models == 0 then experiment.lack(args.store .. " has no runs of this kind; without --kept they are made") end

local legend = "NSR: negative sampling ratio; chosen by: metric that chose the epoch; nDCG, AP, RR, RBP(0.95): on test"
if not args.made_up then
  legend = legend .. ([[
; less published: our number less the published one; largest: of these differences over all seven metrics; %s:
whether the largest is]]):format(within)
end

-- Returns the table that has a row for each model, with confidence intervals of its cells.
local function table_of_models()
  local columns, has_sd = {}, #args.seeds > 1 and { "sd of nDCG", format = "%.4f" }
  for i, head in ipairs{ "NSR", "kind", "loss", "rate", "fold", "chosen by", "epoch" } do columns[i] = { head } end
  columns[#columns + 1] = has_sd
  for _, metric in ipairs{ "ndcg", "ap", "rr", "rbp(0.95)" } do
    columns[#columns + 1] = { title(metric), format = "%.4f" }
    columns[#columns + 1] = not args.made_up and { beside(metric), format = "%+.4f" }
  end
  columns[#columns + 1] = not args.made_up and { "largest", format = "%+.4f" }
  columns[#columns + 1] = not args.made_up and { within }
  return experiment.table{ caption = "All models", records = models, columns = columns, legend = legend .. ".",
    by = "bootstrap over users", runs = function(_, column) return column ~= "sd of nDCG" and #args.seeds or nil end }
end

-- Returns a table with a row for each loss: for how many models the test metric is near the published number, and the
-- median of the differences from published numbers.
local function table_by_loss()
  local columns = { { "loss" }, { "models", function(of) return #of end } }
  local function values_of(of, head)
    local values, number = {}, 0
    for i, model in ipairs(of) do
      values[i] = head == "largest" and model.largest or model[head][1]
      number = number + (protocol.near(values[i]) and 1 or 0)
    end
    return values, number
  end
  for _, metric in ipairs(compared_by) do
    local function median(of) return mr.stats.median((values_of(of, beside(metric)))) end
    local function near(of) return select(2, values_of(of, beside(metric))) end
    columns[#columns + 1] = { title(metric) .. " near", near }
    columns[#columns + 1] = { "median of " .. title(metric), median, format = "%+.4f" }
  end
  columns[#columns + 1] = { "all seven near", function(of) return select(2, values_of(of, "largest")) end }
  return experiment.table{ caption = "Models near the published ones, by loss", records = by_loss, columns = columns,
    runs = function(of) return #of * #args.seeds // of.models_of_run end, legend = ([[
models: how many; near: how many of them have a test mean within %g of the published one; median of: differences from
the published means; all seven near: how many are near by all seven metrics.]]):format(protocol.close) }
end

local text = ("The %d models are trained %s."):format(#models, protocol.recipes[args.recipe].title)
local tables, agreement = { table_of_models() }, nil
if count > 0 then
  text = text .. [[
 Models of other seeds and negatives differ among themselves (--seeds), so that a median near 0 says more than a single
difference. docs/results/notes/sigir21.md says what explains differences, and what is unknown.]]
  local of_losses = table_by_loss()
  table.insert(tables, 1, of_losses)
  agreement = { of = count, within = 0, tolerance = ("%g in nDCG"):format(protocol.close) }
  for _, near in ipairs(of_losses.table:column "nDCG near") do agreement.within = agreement.within + near end
end
local so_far = experiment.so_far(args)
local section = experiment.finish(args, nil, so_far and text .. "\n\n" .. so_far or text, table.unpack(tables))
if agreement and args.recipe == "published" then
  section.agreement = agreement
  section.finding = ("Of the %d models that are trained as published %d have a test nDCG within %g of "
    .. "the published one."):format(count, agreement.within, protocol.close)
end
return section
