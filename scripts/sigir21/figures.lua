-- Shared code of the scripts that make Figures 1 to 5 of Li, Urbano & Hanjalic (2021) from stored training runs. In the
-- figures, columns of panels are methods and data sets, rows of panels are evaluation metrics.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local models = dofile(here .. "models.lua")
local analysis, title = models.analysis, models.training.title

local M = { analysis = analysis, metrics = models.protocol.metrics, rows = models.rows,
  title = title }

local kind_titles = { lambda = "LambdaRank", listwise = "Listwise" }
M.kind_words = { lambda = "LambdaRank", listwise = "listwise losses" }
local kinds = { "lambda", "listwise" }

---Joins words to "a", "a and b" or "a, b and c". `last`, such as "or", replaces "and".
function M.listed(words, last)
  if #words < 2 then return words[1] end
  return ("%s %s %s"):format(table.concat(words, ", ", 1, #words - 1), last or "and", words[#words])
end

---Returns the names of losses or metrics as figures show them.
function M.titles(names)
  local found = {}
  for i, name in ipairs(names) do found[i] = title(name) end
  return found
end

---Returns a text on training runs that the store lacks, or "". It also says that each loss is shown at the best of the
---learning rates that were run so far.
function M.missing(args)
  local found = mr.experiment.so_far(args)
  return found and ("\n\n%s A loss is shown at the best of the learning rates that were run."):format(found) or ""
end

---Returns the title of a figure if its data are made up, else nil.
function M.heading(args) return args.made_up and "Made-up data" or nil end

---Parses the command line of a figure's script. `number` is the figure's number, for the name of its
---picture file.
function M.args(number)
  local own = mr.experiment.figure_options({}, ("results/sigir21/figure_%s.svg"):format(number))
  return models.args(own, { smoke = { nsr = { 1, 2 } } })
end

---Returns the test scores of losses that can be compared with each other, one row per model, metric and
---split, and sentences on runs that are left out or missing. With --kept nothing is trained, so that
---the store may lack runs.
---@return sigir21.Row[] rows
---@return string left
function M.compared(args)
  local rows, left = analysis.complete(analysis.analysed(models.rows(args)))
  local kept, said = {}, left > 0 and ("\n%d %s left out."):format(left,
    left == 1 and "split that does not have runs of all losses yet is"
    or "splits that do not have runs of all losses yet are") or ""
  for _, kind in ipairs(args.kinds) do
    local found = analysis.where(rows, { kind = kind })
    if #analysis.distinct(found, "loss") > 1 then
      table.move(found, 1, #found, #kept + 1, kept)
    else
      said = ("%s\nThere are no splits on which two %s losses could be compared."):format(said,
        kind == "lambda" and "LambdaRank" or kind)
    end
  end
  return kept, said .. M.missing(args)
end

---Returns the report section of a figure that has nothing to show. With --kept, the script ends with an
---error instead, because runs are missing. `left` has sentences on missing runs, from `M.compared`.
function M.nothing(args, left)
  if args.kept then models.lack(args, "runs of two losses that could be compared") end
  return mr.experiment.finish(args, nil, "Nothing is compared, as no two losses have runs on the same split." .. left)
end

---Returns `words`, a sentence on the paper's own result, as a paragraph for the text below the figure.
---Returns "" for made-up data.
function M.in_paper(args, words) return args.made_up and "" or "\n\n" .. words end

---One column of panels in a figure: a method (LambdaRank or listwise losses), on one or all data sets.
---@class sigir21.Column
---@field kind "lambda"|"listwise"
---@field dataset? string     nil if the column has all data sets
---@field title string        name of the column in tables
---@field words string        name of the column in sentences
---@field heading string      title of the column's first panel
---@field rows sigir21.Row[]  test scores, one per model, metric and split
---@field losses string[]     losses that have rows

---Returns one column of panels for each method, LambdaRank and listwise losses. With `by_dataset`,
---there is one for each method and data set. `rows` are the test scores that the figure shows.
function M.columns(rows, by_dataset)
  local columns = {}
  for _, kind in ipairs(kinds) do
    local of_kind = analysis.where(rows, { kind = kind })
    local datasets = by_dataset and analysis.distinct(of_kind, "dataset") or #of_kind > 0 and { false } or {}
    for _, dataset in ipairs(datasets) do
      local found = dataset and analysis.where(of_kind, { dataset = dataset }) or of_kind
      columns[#columns + 1] = {
        kind = kind,
        dataset = dataset or nil,
        rows = found,
        losses = analysis.distinct(found, "loss"),
        title = kind_titles[kind] .. (dataset and ", " .. dataset or ""),
        words = "With " .. M.kind_words[kind] .. (dataset and " on " .. dataset or ""),
        heading = kind_titles[kind] .. (dataset and "\n" .. dataset or ""),
      }
    end
  end
  return columns
end

---Draws a figure as a grid of panels, one for each metric and column. draw(column, metric, title)
---returns a panel; `title` is nil except in the first panel of a column. `height` is that of a panel.
function M.grid(args, columns, metrics, height, draw)
  local panels = { columns = #columns, width = math.max(260 * #columns, 600), height = height * #metrics + 90,
    title = M.heading(args) }
  for r, metric in ipairs(metrics) do
    for _, column in ipairs(columns) do panels[#panels + 1] = draw(column, metric, r == 1 and column.heading or nil) end
  end
  return mr.plot.facets(panels)
end

---Returns those test scores (rows) of a figure's column that are by one metric.
function M.of_metric(column, metric) return analysis.where(column.rows, { metric = metric }) end

return M
