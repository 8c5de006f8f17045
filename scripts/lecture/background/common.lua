-- What the scripts of this folder share: queries with standardised features, and a table of rankers by mean test nDCG@10.
local mr = require "moonrank"

local M = {}

---Options of a script, with its own.
---@param own table
---@return table
function M.options(own)
  own.fold = { default = 1, least = 1, most = 5, help = "which fold of MQ2008" }
  own.seed = { default = 1, help = "seed of what is random" }
  own.smoke = own.smoke or { default = false, ignores = { "fold" }, help = "made-up queries, to see that it runs" }
  return mr.args(own)
end

---Training and test part of MQ2008's fold, or of made-up queries, and what they are called.
---@return mr.Dataset train, mr.Dataset test, string title
function M.queries(args)
  local train, tested, title
  if args.smoke then
    local all = mr.data.synthetic{ kind = "queries", queries = 90, features = 6, mean_size = 12, noise = 0.5, seed = args.seed }
    train, tested = all:split{ share = 0.3, seed = args.seed }
    title = "made-up queries"
  else
    local fold = mr.data.letor_folds("mq2008")[args.fold]
    train, tested, title = fold.train, fold.test, ("MQ2008, fold %d"):format(args.fold)
  end
  local scaling = train:scaling()
  return train:standardize(scaling), tested:standardize(scaling), title
end

---Prints mean nDCG@10 on test of rankers, and of one by chance.
---@param title string
---@param tested mr.Dataset
---@param rankers { [1]: string, [2]: mr.Tensor }[]  names and scores
function M.report(title, tested, rankers)
  table.insert(rankers, { "by chance", mr.uniform({ tested.lists.rows }, { seed = 1 }) })
  local rows = {}
  for i, ranker in ipairs(rankers) do rows[i] = { ranker[1], mr.evaluate(ranker[2], tested.lists, { "ndcg@10" }).mean["ndcg@10"] } end
  print(("Mean nDCG@10 on test: %s, %d queries"):format(title, tested.count))
  print(mr.table{ columns = { "ranker", "ndcg@10" }, formats = { ["ndcg@10"] = "%.4f" }, rows = rows })
end

---A column of the features.
function M.column(set, k) return set.features:narrow(2, k, 1):reshape(set.lists.rows) end

return M
