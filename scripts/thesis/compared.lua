-- Bounds held against no bound: what the two halves of Table 5.1 share. The test metric of the matching loss, its spread over folds, the
-- printed number, and the change, paired by user or query, with its p-value and effect size.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs, scores, figure = dofile(here .. "runs.lua"), dofile(here .. "scores.lua"), dofile(here .. "figure.lua")

local M = { runs = runs }

local formats = { mean = "%.4f", ["sd of folds"] = "%.4f", published = "%.4f", difference = "%+.4f", change = "%+.4f", p = "%.2g",
  ["p, Holm"] = "%.2g", d = "%+.2f" }

-- NaN, where a list has no relevant rows, as what the convention counts it.
local function counted(values, empty)
  local filled = {}
  for i, x in ipairs(values) do filled[i] = (x == x or empty == "skip") and x or empty == "one" and 1.0 or 0.0 end
  return mr.stats.summary(filled)
end

-- One row: setting, loss and bound, with the comparison against no bound (nil for no bound itself).
local function row_of(results, o, value, loss, bound)
  local where = { [o.setting] = value, loss = loss, bound = bound }
  local own = scores.lists(results, where, "own")
  local all, printed = counted(own, o.empty), o.published(loss, bound, value)
  local row = { value, runs.title_of[loss], bound, all.mean, mr.stats.summary(scores.folds(results, where, "own")).sd, printed,
    printed and all.mean - printed, lists = all.n, skipped = counted(own, "skip").skipped }
  if bound ~= "none" then
    row.against = scores.compare({ results }, { [o.setting] = value, loss = loss }, bound, "none")
  end
  return row
end

-- Holm's correction over all comparisons of the table, into the rows.
local function correct(rows)
  local ps = {}
  for i, row in ipairs(rows) do ps[i] = row.against and row.against.p or 0 / 0 end
  local corrected = mr.stats.holm(ps)
  for i, row in ipairs(rows) do
    local a = row.against
    if a then row[8], row[9], row[10], row[11], row[12] = a.change, a.p, corrected[i], a.d, a.n end
    row[13], row[14] = row.lists, row.skipped
  end
end

local function name_of(o, row) return ("%s loss, %s, %s"):format(row[2], runs.setting_text(o, row[1]), row[3]) end

-- What the table shows, from its numbers.
local function findings(o, rows)
  local count, better, worse, most, least, distance, far, printed = 0, 0, 0, nil, nil, 0, nil, 0
  for _, row in ipairs(rows) do
    if row.against then
      count = count + 1
      if row[10] < 0.05 and row[8] > 0 then better = better + 1 elseif row[10] < 0.05 then worse = worse + 1 end
      if not most or row[8] > most[8] then most = row end
      if not least or row[8] < least[8] then least = row end
    end
    if row[7] then
      printed, distance = printed + 1, distance + math.abs(row[7])
      if not far or math.abs(row[7]) > math.abs(far[7]) then far = row end
    end
  end
  return ([[
Of %d comparisons with no bound %d are better and %d worse, significantly at 5 %% after Holm's correction over all of them (permutation test
of the mean change, paired by %s). Most is gained by %s (%+.4f), most lost by %s (%+.4f).
From the %d printed numbers ours differ by %.4f in the mean, most for %s (%+.4f).]]):format(count, better, worse, o.unit, name_of(o, most),
    most[8], name_of(o, least), least[8], printed, distance / printed, name_of(o, far), far[7])
end

---The table of a data set with one seed.
---@param o { set: string, seed: integer, setting: string, unit: string, empty: string, published: fun(loss: string, bound: string, value: integer): number? }
function M.table(args, o)
  local results, rows = runs.of(args, o.set, o.seed), {}
  for _, value in ipairs(runs.set(args, o.set).values) do
    for _, loss in ipairs(runs.losses) do
      for _, bound in ipairs(runs.bounds) do rows[#rows + 1] = row_of(results, o, value, loss, bound) end
    end
  end
  correct(rows)
  local set = runs.set(args, o.set)
  local protocol = ("Seed %d, %d folds, %d epochs of Adam; epoch chosen on %s; learning rates by loss and bound from rates.lua."):format(
    o.seed, set.folds, set.epochs, args.recipe == "published" and "TEST" or "validation")
  return figure.finish(args, nil, findings(o, rows) .. "\n" .. protocol, mr.table{
    columns = { o.setting == "nsr" and "NSR" or "label", "loss", "bound", "mean", "sd of folds", "published", "difference", "change", "p",
      "p, Holm", "d", o.unit == "user" and "users" or "queries", "lists", "skipped" }, formats = formats, rows = rows })
end

return M
