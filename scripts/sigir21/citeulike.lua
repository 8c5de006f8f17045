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

-- Returns the model of a training on one split whose epoch the metric `by` chose: means over seeds (`studies`), their
-- intervals (`ends`) and differences from the published ones, by column of the table below. Returns nil if no run made
-- the model.
local function model_of(o, studies, split, by)
  local function values(name)
    local found = {}
    for _, results in ipairs(studies) do
      found[#found + 1] = experiment.folds(results, { split = split }, name)[1]  -- nil if training diverged
    end
    return found
  end
  local epoch, close, largest, ends = math.tointeger(values("epoch by " .. by)[1]), {}, 0, {}
  if not epoch or #values(protocol.score("ndcg", by)) == 0 then return nil end
  local model = { NSR = o.nsr, kind = o.kind, loss = title(o.loss), rate = o.rate, fold = split,
    ["chosen by"] = title(by), epoch = epoch, ends = ends }
  local printed = published[("%s %s %d %g %d %s"):format(o.kind, o.loss, o.nsr, o.rate, split, by)]
  for _, metric in ipairs(protocol.metrics) do
    local name, head = protocol.score(metric, by), title(metric)
    local mean, interval = mr.stats.mean(values(name)),
      experiment.over_lists(experiment.by_list(studies, { split = split }, name))
    model[head], ends[head], model["sd of " .. head] = mean, interval, mr.stats.summary(values(name)).sd
    if printed then
      local less = mean - printed[metric]
      model[beside(metric)], largest = less, math.abs(less) > math.abs(largest) and less or largest
      -- the interval of a difference treats the published number as exact
      ends[beside(metric)] = interval and { interval[1] - (mean - less), interval[2] - (mean - less) }
    end
  end
  for _, metric in ipairs(printed and compared_by or {}) do
    close[#close + 1] = protocol.near(model[beside(metric)]) and title(metric) or nil
  end
  model.largest, model[within] = printed and largest, printed and (#close > 0 and table.concat(close, ", ") or "none")
  return model
end

-- All models, and those with published numbers by loss, in order of first appearance.
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

-- Makes a table of records, which have values by column. `formats` may have columns that are not there.
local function table_of(columns, records, formats)
  local rows, of = {}, {}
  for _, column in ipairs(columns) do of[column] = formats[column] end
  for r, record in ipairs(records) do
    rows[r] = {}
    for c, column in ipairs(columns) do rows[r][c] = record[column] or "" end
  end
  return mr.table{ columns = columns, rows = rows, formats = of }
end

-- Returns the table of all models, and the intervals of its cells.
local function table_of_models()
  local columns = { "NSR", "kind", "loss", "rate", "fold", "chosen by", "epoch" }
  local formats = { ["sd of nDCG"] = "%.4f", largest = "%+.4f" }
  local cells = experiment.cells("bootstrap over users",
    function(_, column) return column ~= "sd of nDCG" and #args.seeds or nil end)
  if #args.seeds > 1 then columns[#columns + 1] = "sd of nDCG" end
  for _, metric in ipairs{ "ndcg", "ap", "rr", "rbp(0.95)" } do
    local head, less = title(metric), beside(metric)
    columns[#columns + 1], columns[#columns + 2] = head, not args.made_up and less or nil
    formats[head], formats[less] = "%.4f", "%+.4f"
    for r, model in ipairs(models) do
      cells:note(r, head, model.ends[head])
      cells:note(r, less, model.ends[less])
    end
  end
  if not args.made_up then table.move({ "largest", within }, 1, 2, #columns + 1, columns) end
  return table_of(columns, models, formats), cells
end

-- Returns the table by loss: how many models are near the published ones by each metric, and the median difference.
-- Also returns the numbers of training runs behind its cells.
local function table_by_loss()
  local columns, formats = { "loss", "models" }, {}
  local function compare(of_loss, column)
    local values, number = {}, 0
    for i, model in ipairs(of_loss) do
      values[i] = model[column]
      number = number + (protocol.near(values[i]) and 1 or 0)
    end
    return number, mr.stats.median(values)
  end
  for _, metric in ipairs(compared_by) do
    local number, median = title(metric) .. " near", "median of " .. title(metric)
    columns[#columns + 1], columns[#columns + 2], formats[median] = number, median, "%+.4f"
    for _, of in ipairs(by_loss) do of[number], of[median] = compare(of, beside(metric)) end
  end
  columns[#columns + 1] = "all seven near"
  for _, of in ipairs(by_loss) do of.models, of["all seven near"] = #of, compare(of, "largest") end
  return table_of(columns, by_loss, formats), experiment.cells(nil, function(row)
    return row[2] * #args.seeds // by_loss[row[1]].models_of_run
  end)
end

local text = ("The %d models are trained %s."):format(#models, protocol.recipes[args.recipe].title)
local legend = "NSR: negative sampling ratio; chosen by: metric that chose the epoch; nDCG, AP, RR, RBP(0.95): on test"
if not args.made_up then
  legend = legend .. ([[
; less published: our number less the published one; largest: of these differences over all seven metrics; %s:
whether the largest is]]):format(within)
end
local all, cells = table_of_models()
local tables, agreement = { experiment.named("All models", all, cells, legend .. ".") }, nil
if count > 0 then
  text = text .. [[
 Models of other seeds and negatives differ among themselves (--seeds), so that a median near 0 says more than a single
difference. docs/results/notes/sigir21.md says what explains differences, and what is unknown.]]
  local one, numbers = table_by_loss()
  table.insert(tables, 1, experiment.named("Models near the published ones, by loss", one, numbers, ([[
models: how many; near: how many of them have a test mean within %g of the published one; median of: differences from
the published means; all seven near: how many are near by all seven metrics.]]):format(protocol.close)))
  agreement = { of = count, within = 0, tolerance = ("%g in nDCG"):format(protocol.close) }
  for _, of in ipairs(by_loss) do agreement.within = agreement.within + of["nDCG near"] end
end
local so_far = experiment.so_far(args)
local section = experiment.finish(args, nil, so_far and text .. "\n\n" .. so_far or text, table.unpack(tables))
if agreement and args.recipe == "published" then
  section.agreement = agreement
  section.finding = ("Of the %d models that are trained as published %d have a test nDCG within %g of "
    .. "the published one."):format(count, agreement.within, protocol.close)
end
return section
