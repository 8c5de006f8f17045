-- Which items should a user see?
-- `recommend` gives the k best items that the user has not seen in the given parts. Names may stand in for numbers.
local mr = require "moonrank"
local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 200, seed = 1 }
local fold = ratings:binarize(4):folds{ k = 5, seed = 1 }[1]
local model = mr.models.item_knn{ fold = fold }
local best = model:recommend{ user = 3, k = 4, seen = { fold.train, fold.valid } }
print(best)
--> user  rank  item   score
--> ----  ----  ----  ------
-->    3     1    16  5.1533
-->    3     2    45  4.4198
-->    3     3    29  4.2610
-->    3     4    20  4.2535
