-- Makes the table that compares training under each bound with training without a bound, for both halves of Table 5.1
-- (Westerborg 2022) and for other data sets. A row has the test mean of the metric that the loss optimises, its
-- standard deviation over folds, the printed number if there is one, and the change by the bound, paired by user or
-- query, with p-value and effect size.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, scores, figure = dofile(here .. "runs.lua"), dofile(here .. "scores.lua"), dofile(here .. "figure.lua")

local experiment, protocol = mr.experiment, runs.protocol

local M = { runs = runs }

local formats = { mean = "%.4f", ["sd of folds"] = "%.4f", published = "%.4f", difference = "%+.4f",
  change = "%+.4f", p = "%.2g", ["p, Holm"] = "%.2g", d = "%+.2f" }

local function counted(values, empty) return mr.stats.summary(protocol.filled(values, empty)) end

-- A row of the table for one setting, loss and bound, as values by column name. If the bound is not "none", the row
-- includes the comparison with training without a bound. `o` has the options of `M.table`.
local function row_of(results, o, set, value, loss, bound)
  local at = { [set.setting] = value, loss = loss }
  local where = { [set.setting] = value, loss = loss, bound = bound }
  local own = scores.lists(results, where, "own")
  local all, printed = counted(own, o.empty), o.published and o.published(loss, bound, value)
  -- Averages the scores that a user has in several folds, so that every user counts once in the interval of the mean.
  local users = scores.means_by(scores.lists(results, where, "list"), protocol.filled(own, o.empty))
  local row = { value = value, loss = runs.title_of[loss], bound = bound, mean = all.mean, published = printed,
    ends = { mean = experiment.over_lists(users) },
    ["sd of folds"] = mr.stats.summary(scores.folds(results, where, "own")).sd,
    difference = printed and all.mean - printed, lists = all.n, skipped = counted(own, "skip").skipped }
  if bound ~= "none" then
    local against = scores.compare({ results }, at, bound, "none")
    row.change, row.p, row.d, row.n = against.change, against.p, against.d, against.n
    row.ends.change = experiment.over_lists{ scores.by_list({ results }, where, "own"),
      scores.by_list({ results }, scores.with(at, "none"), "own") }
  end
  return row
end

-- Corrects the p-values in the rows of a table by Holm, over all comparisons of the table.
local function correct(rows)
  local ps = {}
  for i, row in ipairs(rows) do ps[i] = row.p or 0 / 0 end
  local corrected = protocol.correct(ps)
  for i, row in ipairs(rows) do row["p, Holm"] = row.p and corrected[i] end
end

local function name_of(set, row)
  return ("the %s loss at %s under %s"):format(row.loss, runs.setting_text(set, row.value), row.bound)
end

-- A sentence with the mean over bounds of our numbers minus the printed ones, for each setting and loss; "" if no
-- numbers are printed.
local function from_printed(set, rows)
  local parts, i = {}, 1
  while i <= #rows do
    local first, differences = rows[i], {}
    while i <= #rows and rows[i].value == first.value and rows[i].loss == first.loss do
      differences[#differences + 1] = rows[i].difference
      i = i + 1
    end
    if #differences > 0 then
      parts[#parts + 1] = ("%+.4f for %s at %s"):format(mr.stats.mean(differences), first.loss,
        runs.setting_text(set, first.value))
    end
  end
  return #parts > 0 and ("\n\nOur numbers less the printed ones are, in the mean over the bounds, %s."):format(
    table.concat(parts, ", ")) or ""
end

-- Counts our numbers (`of`), and those within 0.01 of the printed ones (`within`; see protocol.near). Returns nil if no
-- numbers are printed.
local function agreement(rows)
  local found = { of = 0, within = 0, tolerance = ("%g"):format(protocol.close) }
  for _, row in ipairs(rows) do
    if row.difference then
      found.of, found.within = found.of + 1, found.within + (protocol.near(row.difference) and 1 or 0)
    end
  end
  return found.of > 0 and found or nil
end

-- Describes the changes of the test metric by bounds. Returns one sentence (how many changes are significantly better
-- and worse) and a longer text, which also names the largest gain and loss.
local function findings(set, rows)
  local count, better, worse, most, least = 0, 0, 0, nil, nil
  for _, row in ipairs(rows) do
    if row.change then
      count = count + 1
      local side = protocol.side(row.change, row["p, Holm"])
      better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
      if not most or row.change > most.change then most = row end
      if not least or row.change < least.change then least = row end
    end
  end
  local first = ([[
On %s, of %d bounded losses %s significantly better than without a bound and %s significantly worse.]]):format(
    figure.said(set.title), count, figure.count(better), figure.count(worse))
  return first, ([[
%s Significance is at 5 %% after Holm's correction over all comparisons (permutation test of the mean change, paired by %s). Most is
gained by %s (%+.4f), most lost by %s (%+.4f).]]):format(
    first, runs.unit_of(set), name_of(set, most), most.change, name_of(set, least), least.change)
    .. from_printed(set, rows)
end

local function as_table(set, rows, with_printed)
  local keys = { "value", "loss", "bound", "mean", "sd of folds", "change", "p", "p, Holm", "d", "n",
    "lists", "skipped" }
  if with_printed then
    table.insert(keys, 6, "published")
    table.insert(keys, 7, "difference")
  end
  local heads = { value = set.setting == "nsr" and "NSR" or set.setting, n = runs.lists_of(set) }
  local lines, shown = {}, {}
  for r, row in ipairs(rows) do
    lines[r] = {}
    for c, key in ipairs(keys) do lines[r][c] = row[key] end
    if row.value == "top_of_list" then lines[r][1] = "highest" end
  end
  for c, key in ipairs(keys) do keys[c], shown[key] = heads[key] or key, formats[key] end
  return mr.table{ columns = keys, rows = lines, formats = shown, mark = { mean = "max", ["p, Holm"] = protocol.level },
    within = { keys[1], "loss" } }
end

-- Columns of the table that compare a bound with no bound. A cell there is from two training runs per fold, with and
-- without the bound; a cell of another column is from one.
local change = { change = true, p = true, ["p, Holm"] = true, d = true }
local function cells_of(set, rows)
  local cells = experiment.cells("bootstrap over " .. runs.lists_of(set), function(_, column)
    return column == "published" and 0 or set.folds * (change[column] and 2 or 1)
  end)
  for r, row in ipairs(rows) do
    cells:note(r, "mean", row.ends.mean)
    cells:note(r, "change", row.ends.change)
  end
  return cells
end

local legend = [[
mean: test metric of the matching loss over all %s and folds; sd of folds: standard deviation of the folds' means;%s
change: of the mean against no bound, paired by %s; p: of a permutation test; p, Holm: corrected over the table; d:
mean change in standard deviations of the changes; %s: that are compared; lists: with a value of the metric; skipped:
lists without one.]]

-- The meaning of the table's columns.
local function legend_of(set, with_printed)
  local lists, printed = runs.lists_of(set), with_printed
    and "\npublished: in the thesis; difference: mean less published;" or ""
  return runs.legend_of_setting(set) .. legend:format(lists, printed, runs.unit_of(set), lists)
end

---@class thesis.ComparedOptions
---@field set string    name of the data set
---@field seed integer
---@field empty string  what a list without relevant rows counts as: "skip", "zero" or "one" (protocol.filled)
---@field published? fun(loss: string, bound: string, value: integer): number?  number that the thesis prints, where
---  `value` is the NSR or label

---Makes the table that compares training under each bound with training without a bound, for one data set and seed.
---Prints it and returns it as a section of the report. With made-up data (--smoke) no printed numbers are shown.
---@param args table  parsed command line (runs.args)
---@param o thesis.ComparedOptions
function M.table(args, o)
  local set, results, rows = runs.set(args, o.set), runs.of(args, o.set, o.seed), {}
  if args.made_up then o.published = nil end
  for _, value in ipairs(set.values) do
    for _, loss in ipairs(runs.losses) do
      for _, bound in ipairs(runs.bounds) do rows[#rows + 1] = row_of(results, o, set, value, loss, bound) end
    end
  end
  correct(rows)
  local how = ([[
Models are trained with seed %d on %d %s, for %d epochs of Adam at the learning rates by loss and bound in rates.lua; the epoch is
chosen on %s.]]):format(o.seed, set.folds, set.folds == 1 and "fold" or "folds", set.epochs,
    args.recipe == "published" and "TEST" or "validation")
  local first, all = findings(set, rows)
  local section = figure.finish(args, nil, all .. "\n\n" .. how,
    figure.named("", as_table(set, rows, o.published ~= nil), cells_of(set, rows), legend_of(set, o.published ~= nil)))
  section.finding, section.agreement = not args.made_up and o.published and first or nil, agreement(rows)
  return section
end

return M
