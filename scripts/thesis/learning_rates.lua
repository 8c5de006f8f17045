-- Which learning rate suits which loss under which bound of Westerborg (2022)? Prints the chosen rates as training.lua
-- and beside.lua have them, for the other scripts of this folder.

-- Models are trained on every loss under every bound at every rate of a data set, on its first fold or folds with the
-- first seed. The rate with the best validation value of the metric that the loss optimises is chosen, as the mean over
-- settings (NSR or label) and folds. Test parts are not used.
local mr = require "moonrank"
local runs = dofile((arg[0]:match("^(.*/)") or "./") .. "beside.lua")

local args = runs.args{
  sets = { default = { "movielens", "mq2008" }, choices = runs.names, help = "which data sets" },
  recipe = runs.recipe, samples = runs.samples,
}

for _, name in ipairs(args.sets) do
  local set = runs.set(args, name)
  local study = runs.sweep(args, set, { name = "rates of " .. name, rate = function(trial) return trial.rate end,
    space = { rate = mr.choice(set.rates), split = mr.range(1, set.tuning),
      [set.setting] = mr.choice(set.tuning_values or set.values) } })
  print(("\n%s: own metric on validation, mean over settings and folds"):format(set.title))
  local means = study:pivot{ rows = { "loss", "bound" }, columns = "rate", format = "%.4f" }
  print(means)
  print(("\n%s:"):format(args.made_up and "Made-up data, not for the scripts"
    or "For " .. (name == "movielens" and "training.lua" or "beside.lua")))
  local chosen = {}
  for _, row in ipairs(means.rows) do
    local valid = {}
    for c = 3, #row do valid[tonumber(means.columns[c])] = row[c] end
    chosen[row[1] .. " " .. row[2]] = runs.choose(valid)
  end
  for _, loss in ipairs(runs.losses) do
    local parts = {}
    for i, bound in ipairs(runs.bounds) do parts[i] = ("%g"):format(chosen[loss .. " " .. bound]) end
    print(("%-9s %-4s %s"):format(name, loss, table.concat(parts, " ")))
  end
end
