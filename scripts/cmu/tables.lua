-- Tables 2 and 3 of Li & Wu: the paper's numbers and ours for each system (trained model) that says which of two
-- faces is older, by family (regression, ranking, classification), and the findings in words.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, faces = mr.experiment, dofile(here .. "faces.lua")

local M = {}

---Printed numbers: accuracy on pairs of photographs of 100 x 100 pixels, by table and system, and the largest R^2 of a
---regression of ages (section 5). Features of Table 3 are 4096 outputs of VGG16, pretrained on other pictures.
M.published = {
  [2] = { ["Reg. NN"] = 0.5785, ["Reg. LR-l1"] = 0.5720, ["Reg. RF"] = 0.5900, ["Reg. Boost"] = 0.5920,
    RankNet = 0.6745, DirectRanker = 0.6754, ["Rank LR"] = 0.6359, RankCNN = 0.6483,
    ["Class CNN"] = 0.3283, ["Class LR"] = 0.3165, ["Class RF"] = 0.3451, ["Class Boost"] = 0.3412 },
  [3] = { ["Reg. NN"] = 0.5945, ["Reg. LR-l1"] = 0.5752, ["Reg. RF"] = 0.5998, ["Reg. Boost"] = 0.6040,
    RankNet = 0.7006, DirectRanker = 0.6950, ["Rank LR"] = 0.6962,
    ["Class NN"] = 0.4320, ["Class LR"] = 0.3488, ["Class RF"] = 0.3538, ["Class Boost"] = 0.3551 },
  r2 = 0.28,
}

-- Returns the table's row of a system. `accuracy`, `both` (share of pairs whose two images are labelled right) and `r2`
-- are means over seeds, each with the learning rate, penalty or depth that validation chose, or "" if it has none.
local function row_of(args, results, system, printed)
  local row, settings = { family = system.family, system = system.name, printed = printed or "" }, {}
  for _, name in ipairs{ "accuracy", "both", "r2" } do
    local values = {}
    for seed = 1, args.seeds do
      local value = faces.chosen(results, system.name, seed).values[name]
      if value and value == value then values[#values + 1] = value end
    end
    row[name] = #values > 0 and experiment.mean(values, "runs") or ""
    row.sd = name == "accuracy" and mr.stats.summary(values).sd or row.sd
  end
  for seed = 1, args.seeds do settings[seed] = faces.setting_text(args, results, system, seed) end
  row.setting = table.concat(settings, ", ")
  -- One seed has no interval over seeds, but one over its test pairs.
  local over_pairs = args.seeds == 1 and experiment.over_lists(faces.right(results, system.name))
  if over_pairs then row.accuracy = { row.accuracy[1], table.unpack(over_pairs) } end
  return row
end

-- Returns the mean of a number, such as the accuracy, over the systems of a family that have that number.
local function mean_of(rows, family, name)
  local values = {}
  for _, row in ipairs(rows) do
    local value = row[name]
    if row.family == family and value ~= "" then values[#values + 1] = type(value) == "table" and value[1] or value end
  end
  return mr.stats.mean(values)
end

local how = [[
%s

The table has the accuracy on pairs of images of which one is more than 5 years older. Images were divided into parts
for training (65 %%), validation (15 %%) and test (20 %%) first, then %d, %d and %d pairs were drawn within these.
Rows are %s, standardised by the training images. Networks, and linear models of pairs, are trained by stochastic
gradient descent in batches of 100. %sLearning rates, penalties, depths, epochs and rounds are chosen by accuracy on
the validation pairs. Where the least or the largest of the rates or penalties is chosen, the next value of the series
0.1, 0.3, 1, 3, 10 is tried too, up to %d times.

A classifier is trained on single images, labelled 1 in pairs where they are the older one and 0 in the others, so
that one image has both labels. Its printed accuracies are below one half, which no ordering by scores explains. The
count by labels does, by which a quarter are right by chance. That is how we read section 4.2 of the paper, which does
not say it.]]

local legend = [[
by score: share of test pairs whose older image has the larger score; by labels: share whose older image is labelled 1
and whose younger one 0; R^2: coefficient of determination of a regression of ages; setting: what validation chose,
"(edge)" at the end of what was tried.]]

local widths = [[
The paper's images have 100 x 100 pixels, its filters 17 x 17, and its networks 1000, 500 and 100 units; here filters
are %d x %d and networks have %s units. ]]

local outcome = [[
By scores the means over the systems of a family are %.4f for regression, %.4f for ranking and %.4f for classification,
by labels classification has %.4f; the printed ones are %.4f, %.4f and %.4f. The largest coefficient of determination
of a regression is %.3f (printed: %.2f).]]

local finding = [[
Of pairs of %s, seen as pixels, classifiers order %.1f %% right by their labels and %.1f %% by their scores,
regressions %.1f %% and rankers %.1f %%.]]

-- Says in words what the features of an image are: pixels, numbers from a file, or outputs of a random network.
local function rows_are(args)
  local size = ("%d x %d"):format(args.size, args.size)
  if not args.table_3 then return ("the pixels of images of %s, in three colours"):format(size) end
  if args.features ~= "" then return ("the features that %s has of each image"):format(args.features) end
  return ("features of each image (of %s pixels) by a convolutional network\n"
    .. "with random weights, which nobody has trained"):format(size)
end

---Makes Table 2 or 3 of Li & Wu (which of two faces is older?): trains missing runs, prints the table, and
---returns table and text as a section of the report.
---@param number integer  2 or 3
function M.make(number)
  local args = faces.args({}, { features = number == 3 })
  local results, rows, best_r2 = faces.results(args), {}, -math.huge
  for i, system in ipairs(faces.systems.of(args.table_3)) do
    rows[i] = row_of(args, results, system, M.published[number][system.name])
    best_r2 = math.max(best_r2, rows[i].r2 ~= "" and rows[i].r2[1] or -math.huge)
  end
  local function mean(family, name) return mean_of(rows, family, name) end
  local text = how:format(faces.sentence_of(args), args.pairs * 9 // 12, args.pairs // 12, args.pairs * 2 // 12,
    rows_are(args), args.table_3 and "" or widths:format(args.kernel, args.kernel, table.concat(args.widths, ", ")),
    args.extensions)
  if not args.made_up then
    text = text .. "\n\n" .. outcome:format(mean("regression", "accuracy"), mean("ranking", "accuracy"),
      mean("classification", "accuracy"), mean("classification", "both"), mean("regression", "printed"),
      mean("ranking", "printed"), mean("classification", "printed"), best_r2, M.published.r2)
  end
  local section = faces.finish(args, faces.title_of(args, "Li & Wu, Table " .. number), nil, text, experiment.table{
    records = rows, legend = legend, runs = function(_, column) return column == "printed" and 0 or args.seeds end,
    by = args.seeds > 1 and "Student's t over seeds" or "bootstrap over test pairs, some of which share an image",
    columns = { { "family" }, { "system" }, not args.made_up and { "printed", format = "%.4f" },
      { "by score", "accuracy", format = "%.4f", mark = "max" }, { "by labels", "both", format = "%.4f", mark = "max" },
      { "R^2", "r2", format = "%.3f", mark = "max" }, { "setting" },
      args.seeds > 1 and { "sd of seeds, by score", "sd", format = "%.4f" } } })
  section.finding = not args.made_up and not args.table_3 and finding:format(
    args.images ~= "" and "images of " .. args.images or "made-up faces", 100 * mean("classification", "both"),
    100 * mean("classification", "accuracy"), 100 * mean("regression", "accuracy"),
    100 * mean("ranking", "accuracy")) or nil
  return section
end

return M
