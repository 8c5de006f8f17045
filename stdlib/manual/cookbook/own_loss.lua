-- How do I train with a loss of my own?
-- Write a smooth metric from differentiable operations on smooth ranks. `exact` is the same metric on exact ranks.
-- The new loss then takes every bound, and a metric of the same name exists. This example is precision weighted by
-- 1 / rank^2.
local mr = require "moonrank"
local function of(ranks, lists) return lists:sum(lists.relevance:to(ranks.dtype) / (ranks * ranks)) end
mr.losses.define("inverse_square", {
  direction = "maximize",
  smooth = function(scores, lists) return of(mr.smooth.rank(scores, lists), lists) end,
  exact = of,
})
local lists = mr.lists{ { 1, 0, 0 } }
local scores = mr.tensor{ 0.1, 0.2, 0.3 }:requires_grad()
mr.losses.inverse_square{ bound = "minmax" }:mean(scores, lists):backward()
print("a higher score lowers the loss", scores.grad:totable()[1] < 0)
print(("%.4f"):format(mr.metrics.inverse_square(mr.tensor{ 1, 2, 3 }, lists):item()))
--> a higher score lowers the loss	true
--> 0.1111
