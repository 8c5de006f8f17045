-- Does training under the logit of a metric's exact distribution function rank better than training without a bound and
-- under the four bounds of Westerborg (2022), for every loss at every NSR (negatives per relevant row)?

-- The claim comes from a simulation that chose epochs on test data (MovieLens, three seeds, one learning rate for all).
-- This script tests it with five folds and three seeds of splits, negatives and models; validation chooses
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

-- Compares the bound named by --bound with no bound and with each bound of the thesis, for each setting (NSR or label)
-- of the data set `set` and each loss. `all` has the results of each seed. P-values are corrected by Holm over all
-- comparisons of the data set. Returns a record of the table for each comparison.
local function comparisons(set, all)
  local records, ps = {}, {}
  for i, at in ipairs(experiment.combinations{ { "value", set.values }, { "loss", runs.losses },
    { "other", runs.published } }) do
    local where = { [set.setting] = at.value, loss = at.loss }
    local a, b = experiment.by_list(all, runs.with(where, args.bound), "own"),
      experiment.by_list(all, runs.with(where, at.other), "own")
    local found = runs.change_of(a, b)
    ps[i] = found.p
    records[i] = { set = set, count = set.folds * #all, data = set.title, setting = runs.setting_text(set, at.value),
      loss = runs.title_of[at.loss], against = at.other, mean = experiment.mean(a), ["its mean"] = experiment.mean(b),
      change = { found.change, table.unpack(experiment.over_lists{ a, b } or {}) }, p = found.p, d = found.d,
      wins = found.wins, runs = runs_better(all, where, at.other), n = found.n }
  end
  for i, p in ipairs(runs.correct(ps)) do records[i].holm = p end
  return records
end

-- Returns a record for each setting and loss of a data set: how many other bounds the bound named by --bound is better
-- and worse than, how many of these differences are significant, and the verdict on the claim. `found` has the records
-- from `comparisons`.
local function verdicts(found)
  local records = {}
  for first = 1, #found, #runs.published do
    local count = { of = #runs.published, better = 0, surely_better = 0, worse = 0, surely_worse = 0 }
    for i = first, first + #runs.published - 1 do
      local change = found[i].change[1]
      local sure, side = runs.side(change, found[i].holm) ~= 0, change > 0 and "better" or "worse"
      if change ~= 0 then count[side] = count[side] + 1 end
      if sure then count["surely_" .. side] = count["surely_" .. side] + 1 end
    end
    local head = found[first]
    count.data, count.setting, count.loss, count.trainings = head.data, head.setting, head.loss, head.count
    count.verdict, records[#records + 1] = runs.verdict(count), count
  end
  return records
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

local compared, claims, counts, same = {}, {}, {}, {}
for _, name in ipairs(args.sets) do
  local set, all = runs.set(args, name), {}
  for i, seed in ipairs(args.seeds) do all[i] = runs.of(args, name, seed) end
  local found = comparisons(set, all)
  table.move(found, 1, #found, #compared + 1, compared)
  for _, each in ipairs(verdicts(found)) do
    claims[#claims + 1], counts[each.verdict] = each, (counts[each.verdict] or 0) + 1
  end
  same[#same + 1] = ("%s %.2g"):format(set.title, twins(set, all))
end

local text = ([[
The bound %s is held against no bound and the four published bounds, over %d %s. Of %d cells (data, setting, loss) the
claim holds in %d, which are those where it is significantly better than all five, by Holm's correction over the data
set. It is better than all five in the mean only in %d, not so in %d, and contradicted (significantly worse than one
of them) in %d. Expectation and expectation-max bounding of nRBP have the same gradient; the largest differences
between their scores are: %s.]]):format(args.bound, #args.seeds, #args.seeds == 1 and "seed" or "seeds",
  #claims, counts.holds or 0, counts["in the mean only"] or 0, counts["not shown"] or 0, counts.contradicted or 0,
  table.concat(same, ", "))
local section = experiment.finish(args, nil, text,
  experiment.table{ caption = "The claim", records = claims,
    columns = { { "data" }, { "setting" }, { "loss" }, { "better than", "better" },
      { "significantly", "surely_better" }, { "worse than", "worse" }, { "significantly worse", "surely_worse" },
      { "the claim", "verdict" } },
    runs = function(each) return each.trainings * (1 + each.of) end, legend = [[
better than, worse than: how many of no bound and the four published bounds have the lower and the higher mean;
significantly, significantly worse: how many of these significantly; the claim: whether the bound is significantly
better than all five.]] },
  experiment.table{ caption = "All comparisons", records = compared,
    columns = { { "data" }, { "setting" }, { "loss" }, { "against" }, { "mean", format = "%.4f" },
      { "its mean", format = "%.4f" }, { "change", format = "%+.4f" }, { "p", format = "%.2g" },
      { "p, Holm", "holm", format = "%.2g", mark = protocol.level }, { "d", format = "%+.2f" },
      { "wins", format = "%.3f" }, { "runs" }, { "users or queries", "n" } },
    by = function(each) return "bootstrap over " .. each.set.units end,
    runs = function(each, column) return each.count * ((column == "mean" or column == "its mean") and 1 or 2) end,
    legend = [[
mean: test metric of the matching loss under the bound of the claim; its mean: under the other bound; change: mean
less its mean, paired by user or query (means over folds and seeds); p: of a permutation test, which takes the trained
models as given; p, Holm: corrected over the data set; d: mean change in standard deviations of the changes; wins:
share of users or queries with a positive change; runs: folds and seeds with a positive change.]] })
section.finding = not args.made_up and ([[
The bound %s is significantly better than no bound and than all four published ones in %d of %d cells of data, setting
and loss, and significantly worse than one of them in %s.]]):format(
  args.bound, counts.holds or 0, #claims, counts.contradicted or "none") or nil
return section
