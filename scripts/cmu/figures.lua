-- Figures 3 to 7 of Li & Wu, drawn from the runs of Tables 2 and 3: weights as images, learning curves, and pairs of
-- images that are ordered right or wrong.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local faces, pictures = dofile(here .. "faces.lua"), dofile(here .. "pictures.lua")

local M = {}

local function args_of(number, own, features, drawn)
  own.out = { path = "output file", default = ("results/cmu/figure_%d.svg"):format(number),
    endings = drawn and { ".svg", ".png", ".pdf" } or { ".svg" },
    help = "file of the figure" }
  return faces.args(own, { features = features })
end

local function title_of(number, args) return faces.title_of(args, "Li & Wu, Figure " .. number) end

-- Returns the similarity of horizontally neighbouring weights: the mean product of neighbours over the mean square.
-- It is near 1 if weights form smooth areas, and near 0 if neighbours are independent.
local function likeness(x)
  local turned, width = x:transpose(1, 3), x:size(3)
  return (turned:narrow(1, 1, width - 1) * turned:narrow(1, 2, width - 1)):mean():item() / (x * x):mean():item()
end

local by_pairs = "bootstrap over test pairs, some of which share an image"
local coefficients = { "Rank LR", "Class LR", "Reg. LR-l1", "Reg. LR-l2" }

---Draws Figure 3: the weights of four linear models as images, with a table of their accuracies.
function M.coefficients()
  local args = args_of(3, {})
  local results, size = faces.results(args), args.size
  local row, records = {}, {}
  for i, system in ipairs(coefficients) do
    local chosen = faces.chosen(results, system, 1)
    local weights = chosen.results:per_list(chosen.number, "weights")
    local x = weights:reshape(weights:numel() // size ^ 2 // 1, size, size)
    row[i] = { image = pictures.centred(x), text = system }
    records[i] = { system = system, zeros = weights:eq(0):double():mean():item(), likeness = likeness(x),
      accuracy = { chosen.values.accuracy, table.unpack(experiment.over_lists(faces.right(results, system)) or {}) } }
  end
  pictures.save(args.out, { title = title_of(3, args), rows = { row }, side = 160 })
  return faces.finish(args, title_of(3, args), args.out, ([[
%s The figure shows the weights of four linear models of the standardised pixels in three colours; grey is 0, and each
picture is scaled to its largest weight. The paper finds the shape of the face in those of both logistic regressions,
and more clearly in those of pairs.]]):format(faces.sentence_of(args)),
    experiment.table{ records = records, by = by_pairs, runs = 1, columns = { { "system" },
      { "accuracy", format = "%.4f" }, { "weights of 0", "zeros", format = "%.3f" },
      { "likeness of neighbours", "likeness", format = "%.3f" } }, legend = [[
accuracy: share of test pairs in the right order; weights of 0: share of the weights; likeness of neighbours: 1 where
weights form areas, 0 where each pixel has its own.]] })
end

---Draws Figure 4 or 5: loss on training pairs and accuracy on validation pairs by epoch, with one line
---per learning rate that was tried. `system` is the name of the model, such as "RankNet".
---@param number integer
---@param system string
---@param features boolean  whether rows are features of images instead of their pixels
function M.curves(number, system, features)
  local args = args_of(number, {}, features, true)
  local results = faces.results(args)
  local losses, accuracies, records = {}, {}, {}
  local chosen = faces.chosen(results, system, 1)
  for _, run in ipairs(faces.runs(results, system, 1)) do
    local reports = run.results:reports(run.number)
    -- A run that diverged in the first epoch has reported nothing and gets no curve.
    if reports.loss and reports.valid_auc then
      local rate = faces.value_of(args, system, run.setting)
      local name = ("rate %g%s"):format(rate, run.setting == chosen.setting and ", chosen" or "")
      local y, loss = reports.valid_auc.values, reports.loss.values
      losses[#losses + 1] = { name = name, x = reports.loss.steps, y = loss }
      accuracies[#accuracies + 1] = { name = name, x = reports.valid_auc.steps, y = y }
      records[#records + 1] = { rate = rate, ["loss, epoch 1"] = loss[1], ["loss, last"] = loss[#loss],
        ["accuracy, epoch 1"] = y[1], ["accuracy, best"] = math.max(table.unpack(y)), ["accuracy, last"] = y[#y] }
    end
  end
  table.sort(records, function(a, b) return a.rate < b.rate end)
  local figure = mr.plot.facets{ columns = 1, width = 700, height = 620, title = title_of(number, args),
    mr.plot.lines{ series = losses, xlabel = "epoch", ylabel = "loss on training pairs" },
    mr.plot.lines{ series = accuracies, xlabel = "epoch", ylabel = "accuracy on validation pairs" } }
  figure:save(args.out)
  return faces.finish(args, title_of(number, args), args.out, ([[
%s

The figure shows the loss of %s on the training pairs and its accuracy on the validation pairs after each epoch, with a
line for each of the learning rates that were tried. The rate %g was chosen, by its best epoch.]]):format(
      faces.sentence_of(args), system, faces.value_of(args, system, chosen.setting)),
    experiment.table{ records = records, runs = 1, columns = { { "rate" }, { "loss, epoch 1", format = "%.4f" },
      { "loss, last", format = "%.4f" }, { "accuracy, epoch 1", format = "%.4f" },
      { "accuracy, best", format = "%.4f" }, { "accuracy, last", format = "%.4f" } }, legend = [[
loss: on training pairs; accuracy: on validation pairs; epoch 1, last, best: after the first, the last and the best
epoch.]] })
end

-- Returns, for each test pair, its older and younger image, whether the model orders the pair right, and a text with
-- ages and margin. Also returns the test images. `margins` has, per pair, the older image's score minus the
-- younger's.
local function judged(args, margins)
  local data = faces.data(args, 1)
  local pairs_of, ages, found = data.test.pairs, data.test.images.labels:totable(), {}
  local items, grades = pairs_of.items:totable(), pairs_of.lists.relevance:totable()
  for i, margin in ipairs(margins) do
    local a, b = items[2 * i - 1], items[2 * i]
    local older, younger = grades[2 * i - 1] > 0 and a or b, grades[2 * i - 1] > 0 and b or a
    found[i] = { older = older, younger = younger, right = margin > 0, difference = ages[older] - ages[younger],
      text = ("%.0f and %.0f years\nmargin %+.2f"):format(ages[older], ages[younger], margin) }
  end
  return found, data.test.images
end

local bands = { { 5, 10 }, { 10, 20 }, { 20, 40 }, { 40, math.huge } }

-- Returns the accuracy on test pairs by the age difference of the two faces, as records for a table.
local function by_difference(all)
  local records = {}
  for i, band in ipairs(bands) do
    local values = {}
    for _, pair in ipairs(all) do
      if pair.difference > band[1] and pair.difference <= band[2] then values[#values + 1] = pair.right and 1 or 0 end
    end
    records[i] = { pairs = #values, accuracy = #values > 0 and experiment.mean(values) or 0 / 0,
      years = band[2] == math.huge and ("more than %d"):format(band[1]) or ("%d to %d"):format(band[1], band[2]) }
  end
  return records
end

local on_figure = [[
 The figure shows the first %d of these. The older
image of each pair is on the left. Below it are both ages, and by how much its score is above the other's.]]

---Draws Figure 6 or 7: test pairs that Rank LR on features orders right (`right`, Figure 6) or wrong
---(Figure 7), with the older image on the left. There is no figure if there are no such pairs.
---@param number integer
---@param right boolean
function M.examples(number, right)
  local args = args_of(number, { shown = { default = 12, least = 1, most = 100, help = "pairs in the figure" } }, true)
  local results = faces.results(args)
  local chosen = faces.chosen(results, "Rank LR", 1)
  local all, images = judged(args, chosen.results:per_list(chosen.number, "margin"):totable())
  local shown, count = {}, 0
  for _, pair in ipairs(all) do
    if pair.right == right then
      count = count + 1
      if #shown < args.shown then shown[#shown + 1] = pair end
    end
  end
  if #shown > 0 then
    pictures.save_pairs(args.out, { title = title_of(number, args), images = images, pairs = shown, columns = 4 })
  end
  return faces.finish(args, title_of(number, args), #shown > 0 and args.out or nil, ([[
%s
Of %d test pairs, which are in random order, Rank LR on features orders %d %s.%s]]):format(
      faces.sentence_of(args), #all, count, right and "right" or "wrong",
      #shown > 0 and on_figure:format(#shown) or ""),
    experiment.table{ records = by_difference(all), by = by_pairs, runs = 1,
      columns = { { "difference in years", "years" }, { "pairs" }, { "accuracy", format = "%.4f" } },
      legend = "Rows are differences in age, in years; pairs: of the test part; accuracy: share in the right order." })
end

return M
