-- How do I add a metric of my own?
-- Give the metric a name and a function from exact ranks and lists to one value per list. Every part of the library
-- then accepts the name. This example is the mean rank of the relevant rows, where lower is better.
local mr = require "moonrank"
mr.metrics.define("mean_rank", function(ranks, lists)
  local relevant = lists.relevance:to(ranks.dtype)
  return lists:sum(ranks * relevant) / lists:sum(relevant)
end, { direction = "minimize" })
local lists = mr.lists{ { 1, 0, 0, 1 }, { 0, 1, 0 } }
local scores = mr.tensor{ 0.9, 0.2, 0.1, 0.6, 0.8, 0.7, 0.3 }
print(table.concat(mr.evaluate(scores, lists, { "mean_rank" }).mean_rank:totable(), " "))
--> 1.5 2.0
