-- Re-ranking in two stages: how good is a costly ranker if it sees only the first rows of a cheap ranker?
-- The first ranker is ridge regression. The second is a self-attention network, which re-ranks the first k rows of
-- each query. All other rows keep their order below these k rows.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local args = common.options{
  keep = { default = { 5, 10, 20 }, least = 1, distinct = true,
    help = "how many rows of a query the second stage sees" },
  epochs = { default = 20, least = 1, help = "epochs of the second ranker" },
}

return common.compare(args, function(train, tested)
  local first = mr.data.scored(mr.models.ridge{ train = train, alpha = 10 }, tested).scores
  local model = mr.models.self_attention{ inputs = train.features:size(2), width = 16, blocks = 1, seed = args.seed }
  mr.fit{
    model = model,
    loss = mr.losses.lambdarank{},
    train = train,
    epochs = args.epochs,
    optimizer = mr.optim.adam{ lr = 0.003 },
    seed = args.seed,
    progress = false,
  }

  -- Returns scores that rank the rows that the first ranker puts in the first k ranks of their query, by the second
  -- ranker, above all other rows. The second ranker sees these k rows as a complete list.
  local function reranked(k)
    local rank = tested.lists:rank(first, { ties = "stable" })
    local kept, grades, numbers, at = {}, {}, rank:totable(), 1
    local relevance = tested.lists.relevance:totable()
    for l, n in ipairs(tested.lists.sizes:totable()) do
      grades[l] = {}
      for row = at, at + math.tointeger(n) - 1 do
        if numbers[row] <= k then
          kept[#kept + 1] = row
          table.insert(grades[l], relevance[row])
        end
      end
      at = at + math.tointeger(n)
    end
    local rows = mr.tensor(kept, { dtype = "int64" })
    local part = mr.data.dataset{ lists = mr.lists(grades), features = tested.features:rows(rows) }
    local second = mr.data.scored(model, part).scores:double()
    local behind = -rank:double() - 1 + second:min(1):item()  -- scores below all scores of the second ranker
    local lift = mr.zeros(#rank, { dtype = "float64" }):scatter_add(1, rows, second - behind:rows(rows))
    return behind + lift
  end

  local rankers = { { "first stage alone", first } }
  for _, k in ipairs(args.keep) do rankers[#rankers + 1] = { ("second among the first %d"):format(k), reranked(k) } end
  rankers[#rankers + 1] = { "second stage alone", mr.data.scored(model, tested).scores }
  return rankers
end)
