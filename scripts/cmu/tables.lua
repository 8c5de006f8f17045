-- Tables 2 and 3 of Li & Wu: the paper's numbers and ours for each system (trained model) that says which of two
-- faces is older, by family (regression, ranking, classification), and the findings in words.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local faces, published = dofile(here .. "faces.lua"), dofile(here .. "published.lua")

local M = {}

-- Returns the number that the paper prints for a system, or "" if the paper prints none.
local function printed_of(of_table, system)
  for _, pair in ipairs(of_table[system.family]) do
    if pair[1] == system.name then return pair[2] end
  end
  return ""
end

-- Returns the mean of a system's values over seeds, or "" if there are no values.
local function mean_or_blank(values) return #values > 0 and mr.stats.mean(values) or "" end

-- Returns the results of a system's training runs as arrays with one number per seed: `accuracy`, `both` (share of
-- pairs whose two images are labelled right) and `r2`. Each seed has the learning rate, penalty or depth that
-- validation chose.
local function measured(args, results, system)
  local found = { accuracy = {}, both = {}, r2 = {}, settings = {} }
  for seed = 1, args.seeds do
    local chosen = faces.chosen(results, system.name, seed)
    for _, name in ipairs{ "accuracy", "both", "r2" } do
      local value = chosen.values[name]
      if value and value == value then found[name][#found[name] + 1] = value end
    end
    found.settings[seed] = faces.setting_text(args, results, system, seed)
  end
  return found
end

-- Returns the mean of a number, such as the accuracy, over the systems of a family that have that number.
local function mean_of(rows, family, name)
  local values = {}
  for _, row in ipairs(rows) do
    if row.family == family and #row[name] > 0 then values[#values + 1] = mr.stats.mean(row[name]) end
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

local function printed_mean(of_table, family)
  local values = {}
  for i, pair in ipairs(of_table[family]) do values[i] = pair[2] end
  return mr.stats.mean(values)
end

local function best_r2(rows)
  local best = -math.huge
  for _, row in ipairs(rows) do
    if #row.r2 > 0 then best = math.max(best, mr.stats.mean(row.r2)) end
  end
  return best
end

-- Says in words what the features of an image are: pixels, numbers from a file, or outputs of a random network.
local function rows_are(args)
  local size = ("%d x %d"):format(args.size, args.size)
  if not args.table_3 then return ("the pixels of images of %s, in three colours"):format(size) end
  if args.features ~= "" then return ("the features that %s has of each image"):format(args.features) end
  return ("features of each image (of %s pixels) by a convolutional network\n"
    .. "with random weights, which nobody has trained"):format(size)
end

local function table_of(args, lines)
  local columns = { "family", "system", "by score", "by labels", "R^2", "setting" }
  local formats = { ["by score"] = "%.4f", ["by labels"] = "%.4f", ["R^2"] = "%.3f" }
  if not args.made_up then
    table.insert(columns, 3, "printed")
    formats.printed = "%.4f"
  end
  if args.seeds > 1 then columns[#columns + 1], formats["sd of seeds, by score"] = "sd of seeds, by score", "%.4f" end
  return mr.table{ columns = columns, rows = lines, formats = formats,
    mark = { ["by score"] = "max", ["by labels"] = "max", ["R^2"] = "max" } }
end

---Makes Table 2 or 3 of Li & Wu (which of two faces is older?): trains missing runs, prints the table, and
---returns table and text as a section of the report.
---@param number integer  2 or 3
function M.make(number)
  local args = faces.args({}, { features = number == 3 })
  local results, of_table = faces.results(args), published["table_" .. number]
  local rows, lines = {}, {}
  local by = args.seeds > 1 and "Student's t over seeds" or "bootstrap over test pairs, some of which share an image"
  local cells = experiment.cells(by, function(_, column) return column == "printed" and 0 or args.seeds end)
  for _, system in ipairs(faces.systems.of(args.table_3)) do
    local row = measured(args, results, system)
    row.family, rows[#rows + 1] = system.family, row
    local line = { system.family, system.name }
    if not args.made_up then line[#line + 1] = printed_of(of_table, system) end
    for _, name in ipairs{ "accuracy", "both", "r2" } do line[#line + 1] = mean_or_blank(row[name]) end
    line[#line + 1] = table.concat(row.settings, ", ")
    if args.seeds > 1 then line[#line + 1] = mr.stats.summary(row.accuracy).sd end
    lines[#lines + 1] = line
    for name, column in pairs{ accuracy = "by score", both = "by labels", r2 = "R^2" } do
      cells:note(#lines, column, experiment.over_runs(row[name]))
    end
    if args.seeds == 1 then cells:note(#lines, "by score", experiment.over_lists(faces.right(results, system.name))) end
  end
  local text = how:format(faces.sentence_of(args), args.pairs * 9 // 12, args.pairs // 12, args.pairs * 2 // 12,
    rows_are(args), args.table_3 and "" or widths:format(args.kernel, args.kernel, table.concat(args.widths, ", ")),
    args.extensions)
  if not args.made_up then
    text = text .. "\n\n" .. outcome:format(
      mean_of(rows, "regression", "accuracy"), mean_of(rows, "ranking", "accuracy"),
      mean_of(rows, "classification", "accuracy"), mean_of(rows, "classification", "both"),
      printed_mean(of_table, "regression"), printed_mean(of_table, "ranking"),
      printed_mean(of_table, "classification"), best_r2(rows), published.best_r2)
  end
  local section = faces.finish{ args = args, title = faces.title_of(args, "Li & Wu, Table " .. number), text = text,
    tables = { table_of(args, lines) }, cells = { cells }, legends = { legend } }
  section.finding = not args.made_up and not args.table_3 and finding:format(
    args.images ~= "" and "images of " .. args.images or "made-up faces", 100 * mean_of(rows, "classification", "both"),
    100 * mean_of(rows, "classification", "accuracy"), 100 * mean_of(rows, "regression", "accuracy"),
    100 * mean_of(rows, "ranking", "accuracy")) or nil
  return section
end

return M
