-- How do I test on each user's last item, among all items?
-- `by = "last"` makes each user's last item by time the test item, and the item before it the validation item.
-- `fold:evaluate` then ranks all items except those that the user had rated before, and returns metrics of the test
-- item's rank.
local mr = require "moonrank"
local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 200, seed = 1 }
local rows, user, item, value = {}, ratings.user:totable(), ratings.item:totable(), ratings.value:totable()
for i = 1, ratings.rows do rows[i] = { user[i], item[i], value[i], 1600000000 + (i * 7919) % 100000 } end
do
  local file <close> = assert(io.open("rated.csv", "w"))
  file:write(mr.table{ columns = { "user", "item", "rating", "timestamp" }, rows = rows }:to_csv())
end
local fold = mr.data.interactions("rated.csv"):binarize(4):min_relevant(5):folds{ by = "last", seed = 1 }[1]
for _, model in ipairs{ mr.models.random{}, mr.models.popularity{ fold = fold }, mr.models.item_knn{ fold = fold } } do
  local found = fold:evaluate(model, { "ndcg@10", "hit@10" })
  print(("%-11s ndcg@10 %.3f  hit@10 %.3f"):format(model.kind, found.mean["ndcg@10"], found.mean["hit@10"]))
end
--> random      ndcg@10 0.022  hit@10 0.034
--> popularity  ndcg@10 0.159  hit@10 0.305
--> item_knn    ndcg@10 0.136  hit@10 0.237
