-- Subset Ranking (Cossock & Zhang 2008, Eq. 5): does regression rank well if it counts only relevant rows and the
-- worst irrelevant row of a list?
-- The loss of a list is the sum of squared errors of its relevant rows, plus u times the squared score of the
-- highest irrelevant row if that score is above 0.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local args = common.options{
  epochs = { default = 40, least = 1, help = "passes over the training part" },
  u = { default = 3.0, least = 0, help = "weight of the worst irrelevant row" },
}

mr.losses.define("subset_ranking", {
  direction = "minimize", metric = "ndcg",
  smooth = function(scores, lists)
    local target = lists.relevance:to(scores.device)
    local relevant = target:gt(0):to(scores.dtype)
    local above = (scores * (1 - relevant)):relu()
    return lists:sum(relevant * (scores - target) ^ 2) + lists:max(above) ^ 2 * args.u
  end,
})

return common.compare(args, function(train, tested)
  local function trained(loss)
    local model = mr.models.linear{ inputs = train.features:size(2), seed = args.seed }
    mr.fit{
      model = model,
      loss = loss,
      train = train,
      epochs = args.epochs,
      optimizer = mr.optim.adam{ lr = 0.01 },
      seed = args.seed,
      progress = false,
    }
    return mr.data.scored(model, tested).scores
  end
  return {
    { "Subset Ranking", trained(mr.losses.subset_ranking()) },
    { "regression of all rows", trained(mr.losses.mse()) },
  }
end)
