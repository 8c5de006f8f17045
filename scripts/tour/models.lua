-- Do trained models rank better than popularity and nearest neighbours on your own table of interactions? Each
-- user's last item is ranked among the full catalogue.
-- The script trains a two-tower model of its own and matrix factorisation, under three losses and two bounds. It
-- then recommends ten items to a user.
local mr = require "moonrank"
local here = arg[0]:match "^(.*/)" or "./"
local args, ratings, fold, title = dofile(here .. "data.lua")(4, {})
dofile(here .. "two_tower.lua")

local found = mr.table{ columns = { "model", "loss", "bound", "ndcg@10", "hit@10" } }
local function add(model, kind, loss, bound)
  local mean = fold:evaluate(model, { "ndcg@10", "hit@10" }).mean
  found.rows[#found.rows + 1] = { kind, loss, bound, mean["ndcg@10"], mean["hit@10"] }
end
local knn = mr.models.item_knn{ fold = fold }
add(mr.models.popularity{ fold = fold }, "popularity", "", "")
add(knn, "item_knn", "", "")
for _, kind in ipairs{ "mf", "two_tower" } do
  for _, loss in ipairs{ "ndcg", "ap", "ranknet" } do
    for _, bound in ipairs{ "none", "minmax" } do
      local model = mr.models[kind]{ users = ratings.users, items = ratings.items }
      mr.fit{
        model = model,
        loss = mr.losses[loss]{ bound = bound },
        train = fold.train, valid = fold.valid, metrics = { "ndcg" },
        optimizer = mr.optim.adam{ lr = 0.02 }, epochs = args.epochs, progress = false }
      add(model, kind, loss, bound)
    end
  end
end
print(("%s\n%s\n\n%s\n"):format(title, fold, found))
print("Ten for the first user, " .. title .. ":")
print(knn:recommend{ user = 1, k = 10, seen = { fold.train, fold.valid }, names = ratings.item_ids })
