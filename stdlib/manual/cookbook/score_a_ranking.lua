-- How good is a ranking?
-- Judged lists have a grade for each row. Scores rank the rows of each list, the highest score first. `mr.evaluate`
-- returns every metric for every list, and the mean over lists. The second list here has its only relevant row at
-- rank 2.
local mr = require "moonrank"
local lists = mr.lists{ { 1, 0, 0, 1 }, { 0, 1, 0 } }
local scores = mr.tensor{ 0.9, 0.2, 0.1, 0.6, 0.8, 0.7, 0.3 }
local found = mr.evaluate(scores, lists, { "ndcg", "ap", "rr", "precision@2" })
for _, name in ipairs{ "ndcg", "ap", "rr", "precision@2" } do print(("%-12s %.4f"):format(name, found.mean[name])) end
print(table.concat(found.rr:totable(), " "))
--> ndcg         0.8155
--> ap           0.7500
--> rr           0.7500
--> precision@2  0.7500
--> 1.0 0.5
