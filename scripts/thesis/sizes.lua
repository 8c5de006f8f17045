-- Westerborg (2022), section 4.1.1: how large should the models be, and does their size decide which bound is best?

-- Models with {16, 32, 64} factors on MovieLens, and with {6, 12, 23, 46, 69, 92} hidden units on MQ2008 (label 2), are
-- compared by the loss's own metric on validation. Test parts are not used. Learning rates are those chosen for the
-- model sizes of the thesis.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment = mr.experiment

local args = runs.args{ recipe = runs.recipe,
  set = { default = "movielens", choices = { "movielens", "mq2008" }, help = "which data set" } }
local set = runs.set(args, args.set)
local study = runs.sweep(args, set, { name = "sizes of " .. args.set, size = function(trial) return trial.size end,
  space = { size = mr.choice(set.sizes), split = mr.range(1, set.tuning),
    bound = mr.choice{ "none", "minmax", "expectation_max", "distribution_logit" },
    [set.setting] = mr.choice(args.set == "mq2008" and { 2 } or set.values) } })

local pivot = study:pivot{ rows = { "loss", "bound" }, columns = "size", format = "%.4f" }
local marks = {}
for c = 3, #pivot.columns do marks[pivot.columns[c]] = "max" end
local means = mr.table{ columns = pivot.columns, rows = pivot.rows, formats = pivot.formats, mark = marks,
  within = { "loss" } }

-- One sentence per loss: the best model size without a bound, its gain over the thesis' own size, and the best bound at
-- every size.
local said = {}
for _, loss in ipairs(runs.losses) do
  local best_bound, size, gain = {}, nil, nil
  for c = 3, #means.columns do
    local best
    for _, row in ipairs(means.rows) do
      if row[1] == loss and (not best or row[c] > best[c]) then best = row end
    end
    best_bound[#best_bound + 1] = ("%s at %s"):format(best[2], means.columns[c])
  end
  for _, row in ipairs(means.rows) do
    if row[1] == loss and row[2] == "none" then
      local at, usual = 3, nil
      for c = 3, #row do
        if row[c] > row[at] then at = c end
        if tonumber(means.columns[c]) == set.size then usual = c end
      end
      size, gain = means.columns[at], row[at] - row[usual]
    end
  end
  said[#said + 1] = ("The %s loss without a bound is best %s. The best of the four bounds is %s."):format(
    runs.title_of[loss],
    gain == 0 and ("at the thesis' own size, %d"):format(set.size)
      or ("at size %s, by %.4f over the thesis' %d"):format(size, gain, set.size), table.concat(best_bound, ", "))
end
return experiment.finish(args, nil, table.concat(said, "\n"),
  experiment.named("", means, experiment.cells(nil, set.tuning * (args.set == "mq2008" and 1 or #set.values)), ([[
Columns are the size of the model, its %s. Numbers are the loss's own metric on validation, the mean over settings and
%d %s.]]):format(
    args.set == "mq2008" and "hidden units" or "factors", set.tuning, set.tuning == 1 and "fold" or "folds")))
