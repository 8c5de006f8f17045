-- What are tied scores worth?
-- A model that gives all rows the same score knows nothing. By default, tied rows get the mean of the metric over
-- all their orders, so this model gets the value of a random ranking. Programs that break ties by position or by
-- name give a higher or lower value by luck.
local mr = require "moonrank"
local lists = mr.lists{ { 1, 0, 0, 0 } }
local constant = mr.zeros{ 4 }
for _, ties in ipairs{ "mean", "stable", "worst" } do
  print(("%-7s %.4f"):format(ties, mr.metrics.rr(constant, lists, { ties = ties }):item()))
end
--> mean    0.5208
--> stable  1.0000
--> worst   0.2500
