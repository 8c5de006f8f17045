-- Which items should a user see?
-- `recommend` returns the k best items for a user, without the items that the user has rated in the parts listed in
-- `seen`. `seen` also takes ratings that are not split into parts. Users and items may be given by name instead of
-- number.
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
-->    3     3   136  4.1751
-->    3     4    84  4.0519
--> candidates: all 200 items; known = rated leaves out 92 user-item pairs that are in seen
