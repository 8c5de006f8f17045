-- How do I try a bound of my own?
-- A bound is a function of the smooth metric (one score per list) and of statistics of each list, such as the
-- metric's minimum and maximum. `mr.bounds.check` compares its gradient with differences and shows how much lists
-- of different sizes weigh. `scripts/tutorial/a_new_bound.lua` also trains with the bound and compares it.
local mr = require "moonrank"
mr.bounds.define("sqrt_range", function(score, stats)
  return (score - stats.min) / (stats.max - stats.min):sqrt()
end)
local report = mr.bounds.check("sqrt_range", { metrics = { "nrbp_loss" }, quiet = true })
print("problems:", #report.problems)
local loss = mr.losses.nrbp{ bound = "sqrt_range" }
print(loss.bound_name)
--> problems:	0
--> sqrt_range
