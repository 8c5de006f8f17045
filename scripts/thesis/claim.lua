-- Does training under the logit of a metric's exact distribution function rank better than training without a bound and
-- under the four bounds of Westerborg (2022), for every loss at every NSR (negatives per relevant row)?

-- An earlier simulation said so, but chose epochs on test data (MovieLens, three seeds, one learning rate for all).
-- This script tests the claim with five folds and three seeds of splits, negatives and models; validation chooses
-- epoch and learning rate for every bound. Tests are paired by user or query (means over folds and seeds), with
-- Holm's correction over each data set. MQ2008 is used with three definitions of a relevant document; CiteULike-a
-- only if --sets names it.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol

local args = runs.args({
  sets = { default = { "movielens", "mq2008" }, choices = runs.names,
    help = "which data sets; citeulike: 945 runs, most of an hour of two cores" },
  seeds = { default = runs.seeds, distinct = true, help = "seeds of splits, negatives and models" },
  bound = { default = "distribution_logit", choices = runs.own, help = "which bound is claimed to be best" },
  recipe = runs.recipe, samples = runs.samples,
}, { seeds = { 1 } })

-- Counts the training runs (one per fold and seed) in which the bound named by --bound has a better test metric than
-- the bound `other`, e.g. "12 of 15". `all` has the results of each seed; `where` selects loss and setting.
-- Significance tests take the trained models as given; this number shows how much results vary with split and seed.
local function runs_better(all, where, other)
  local better, count = 0, 0
  for _, results in ipairs(all) do
    local theirs = experiment.folds(results, runs.with(where, other), "own")
    for i, own in ipairs(experiment.folds(results, runs.with(where, args.bound), "own")) do
      better, count = better + (own > theirs[i] and 1 or 0), count + 1
    end
  end
  return ("%d of %d"):format(better, count)
end

---@class thesis.Comparison  comparison of the bound named by --bound with another one, on one data set and loss
---@field head any[]       title of the data set, setting as text (e.g. "NSR 1"), title of the loss
---@field other string     name of the other bound
---@field found table      result of runs.change_of: both means, change, p-value, effect size
---@field p number         p-value of the change, corrected by Holm over the data set
---@field runs string      in how many training runs the bound of --bound is better, e.g. "12 of 15"
---@field ends table       95 % intervals {low, high} by column: "mean", "its mean" (of the other bound), "change"
---@field count integer    number of training runs per bound: folds times seeds

-- Compares the bound named by --bound with no bound and with each bound of the thesis, for each loss and each setting
-- (NSR or label) of the data set `set`. `all` has the results of each seed. P-values are corrected by Holm over all
-- comparisons of the data set. Returns an array of thesis.Comparison.
local function comparisons(set, all)
  local found, ps = {}, {}
  for _, value in ipairs(set.values) do
    for _, loss in ipairs(runs.losses) do
      local where = { [set.setting] = value, loss = loss }
      for _, other in ipairs(runs.published) do
        local a, b = experiment.by_list(all, runs.with(where, args.bound), "own"),
          experiment.by_list(all, runs.with(where, other), "own")
        local each = runs.change_of(a, b)
        ps[#ps + 1] = each.p
        found[#found + 1] = { head = { set.title, runs.setting_text(set, value), runs.title_of[loss] }, other = other,
          found = each, runs = runs_better(all, where, other), count = set.folds * #all,
          ends = { mean = experiment.over_lists(a), ["its mean"] = experiment.over_lists(b),
            change = experiment.over_lists{ a, b } } }
      end
    end
  end
  for i, p in ipairs(runs.correct(ps)) do found[i].p = p end
  return found
end

-- Makes one table row for each setting and loss of a data set: how many other bounds the bound named by --bound is
-- better and worse than, how many of these differences are significant, and the verdict on the claim. `found` is the
-- array from `comparisons`.
local function verdicts(found)
  local lines = {}
  for first = 1, #found, #runs.published do
    local count = { of = #runs.published, better = 0, surely_better = 0, worse = 0, surely_worse = 0 }
    for i = first, first + #runs.published - 1 do
      local change = found[i].found.change
      local sure, side = runs.side(change, found[i].p) ~= 0, change > 0 and "better" or "worse"
      if change ~= 0 then count[side] = count[side] + 1 end
      if sure then count["surely_" .. side] = count["surely_" .. side] + 1 end
    end
    local verdict = runs.verdict(count)
    local head = found[first].head
    lines[#lines + 1] = { head[1], head[2], head[3], count.better, count.surely_better, count.worse,
      count.surely_worse, verdict }
  end
  return lines
end

-- The largest difference in the test score of a user or query between models trained on the nRBP loss under expectation
-- and under expectation-max bounding. It should be near 0, because both bounds have the same gradient.
local function twins(set, all)
  local most = 0
  for _, value in ipairs(set.values) do
    local function of(bound)
      return experiment.by_list(all, { [set.setting] = value, loss = "nrbp", bound = bound }, "own")
    end
    local a, b = of "expectation", of "expectation_max"
    for i = 1, #a do
      if a[i] == a[i] then most = math.max(most, math.abs(a[i] - b[i])) end
    end
  end
  return most
end

local rows, lines, counts, same, counted, sets = {}, {}, {}, {}, {}, {}
-- Number of training runs from which a cell of the table of verdicts is computed. There is one run per fold and seed
-- for the bound named by --bound, and as many for each bound that it is compared with.
local verdict_cells = experiment.cells(nil, function(row) return counted[row[1]] * (1 + #runs.published) end)
local cells = experiment.cells(
  function(row) return "bootstrap over " .. sets[row[1]].units end,
  function(row, column) return counted[row[1]] * ((column == "mean" or column == "its mean") and 1 or 2) end)
for _, name in ipairs(args.sets) do
  local set, all = runs.set(args, name), {}
  sets[set.title] = set
  for i, seed in ipairs(args.seeds) do all[i] = runs.of(args, name, seed) end
  local found = comparisons(set, all)
  for _, each in ipairs(found) do
    local a = each.found
    rows[#rows + 1] = { each.head[1], each.head[2], each.head[3], each.other, a.mean, a.other_mean, a.change, a.p,
      each.p, a.d, a.wins, each.runs, a.n }
    for column, ends in pairs(each.ends) do cells:note(#rows, column, ends) end
    counted[each.head[1]] = each.count
  end
  for _, line in ipairs(verdicts(found)) do
    lines[#lines + 1] = line
    counts[line[8]] = (counts[line[8]] or 0) + 1
  end
  same[#same + 1] = ("%s %.2g"):format(set.title, twins(set, all))
end

local text = ([[
The bound %s is held against no bound and the four published bounds, over %d %s. Of %d cells (data, setting, loss) the
claim holds in %d, which are those where it is significantly better than all five, by Holm's correction over the data
set. It is better than all five in the mean only in %d, not so in %d, and contradicted (significantly worse than one
of them) in %d. Expectation and expectation-max bounding of nRBP have the same gradient; the largest differences
between their scores are: %s.]]):format(args.bound, #args.seeds, #args.seeds == 1 and "seed" or "seeds",
  #lines, counts.holds or 0, counts["in the mean only"] or 0, counts["not shown"] or 0, counts.contradicted or 0,
  table.concat(same, ", "))
local section = experiment.finish(args, nil, text,
  experiment.named("The claim", mr.table{ rows = lines,
    columns = { "data", "setting", "loss", "better than", "significantly", "worse than", "significantly worse",
    "the claim" } },
    verdict_cells, [[
better than, worse than: how many of no bound and the four published bounds have the lower and the higher mean;
significantly, significantly worse: how many of these significantly; the claim: whether the bound is significantly
better than all five.]]),
  experiment.named("All comparisons", mr.table{
    columns = { "data", "setting", "loss", "against", "mean", "its mean", "change", "p", "p, Holm", "d", "wins", "runs",
      "users or queries" },
    rows = rows, formats = { mean = "%.4f", ["its mean"] = "%.4f", change = "%+.4f", p = "%.2g", ["p, Holm"] = "%.2g",
    d = "%+.2f",
      wins = "%.3f" },
    mark = { ["p, Holm"] = protocol.level } }, cells, [[
mean: test metric of the matching loss under the bound of the claim; its mean: under the other bound; change: mean
less its mean, paired by user or query (means over folds and seeds); p: of a permutation test, which takes the trained
models as given; p, Holm: corrected over the data set; d: mean change in standard deviations of the changes; wins:
share of users or queries with a positive change; runs: folds and seeds with a positive change.]]))
section.finding = not args.made_up and ([[
The bound %s is significantly better than no bound and than all four published ones in %d of %d cells of data, setting
and loss, and significantly worse than one of them in %s.]]):format(
  args.bound, counts.holds or 0, #lines, counts.contradicted or "none") or nil
return section
