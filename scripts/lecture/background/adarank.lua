-- AdaRank (Xu & Li 2007): does boosting single features on the queries that are still ranked badly make a good
-- ranker?
-- Each round adds the feature with the best weighted nDCG over queries. A query's weight is exp(-nDCG), where nDCG
-- is that of the features added so far.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local args = common.options{ rounds = { default = 50, least = 1, help = "features that are added" } }

-- Returns nDCG of every list under these scores. A list without relevant rows has no nDCG and counts as 0.
local function quality(scores, lists)
  local values = mr.metrics.ndcg(scores:double(), lists)
  return values:eq(values):where(values, 0)
end

return common.compare(args, function(train, tested)
  local weak = {}
  for k = 1, train.features:size(2) do weak[k] = quality(common.column(train, k), train.lists) end

  local weights = mr.full({ train.count }, 1 / train.count, { dtype = "float64" })
  local scores, tested_scores = mr.zeros(train.lists.rows), mr.zeros(tested.lists.rows)
  for _ = 1, args.rounds do
    local best, value = 1, -1
    for k, each in ipairs(weak) do
      local mean = (weights * each):sum():item()
      if mean > value then best, value = k, mean end
    end
    local alpha = 0.5 * math.log((1 + value) / math.max(1e-9, 1 - value))
    scores = scores + common.column(train, best) * alpha
    tested_scores = tested_scores + common.column(tested, best) * alpha
    weights = (-quality(scores, train.lists)):exp()
    weights = weights / weights:sum()
  end
  return { { ("AdaRank, %d rounds"):format(args.rounds), tested_scores } }
end)
