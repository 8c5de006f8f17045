-- Made-up profits of movies, and the rankers that profit.lua compares under them (slide "Rank Evaluation", "Weight
-- items according to the profit"). The slides leave these decisions open, so that all are ours.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---Largest made-up profit of a movie; the smallest is 1.
M.most = 20

---Returns two sets of made-up profits of all movies, each a tensor by item: "at random", and "more for rare movies",
---where movies with fewer ratings have higher profits. Their logarithms are uniform.
---@return table<string, mr.Tensor>
function M.profits(ratings, seed)
  local n, logarithm = ratings.items, math.log(M.most)
  local drawn = mr.uniform({ n }, { seed = seed, stream = "profits", dtype = "float64" })
  local counts = mr.zeros({ n }):scatter_add(1, ratings.item, mr.ones({ ratings.rows }))
  local _, order = counts:sort(1, { descending = true })
  local steps = (mr.arange(0, n - 1):double() * (logarithm / (n - 1))):exp()
  return { ["at random"] = (drawn * logarithm):exp():float(),
    ["more for rare movies"] = mr.zeros({ n }, { dtype = "float64" }):scatter_add(1, order, steps):float() }
end

---Defines two metrics in which the gain of a liked movie is its profit: profit_10, the sum of profits of the liked
---movies among the first ten, and profit_ndcg, an nDCG.
function M.define_profit()
  local function gain(profit) return profit end
  mr.metrics.define("profit_10", { gain = gain, discount = function(rank) return rank <= 10 and 1 or 0 end })
  mr.metrics.define("profit_ndcg", { ideal = true, gain = gain,
    discount = function(rank) return 1 / math.log(1 + rank, 2) end })
end

---Returns a fold in which the grade of every relevant row is the item's profit. `profits` has that of every item.
function M.priced(fold, profits)
  local function by_profit(set) return set:with_relevance(set.lists.relevance * profits:rows(set.items)) end
  return mr.data.fold{ train = by_profit(fold.train), valid = by_profit(fold.valid), test = by_profit(fold.test),
    number = fold.number, k = fold.k, users = fold.users, items = fold.items, name = "by profit" }
end

-- Rankers: their loss, the metric by which validation chooses the epoch, whether training lists are graded by profit
-- (`priced`), and whether the predicted probability is multiplied by profit (`times`).
local rankers = {
  relevance = { loss = function() return mr.losses.lambdarank{} end, metric = "ndcg@10" },
  ["relevance, times profit"] = { loss = function() return mr.losses.bce{} end, metric = "profit_10", times = true },
  profit = { loss = function() return mr.losses.lambdarank{ metric = "profit_ndcg" } end, metric = "profit_10",
    priced = true },
}
M.rankers = { "relevance", "relevance, times profit", "profit" }
---Learning rates to try for the rankers that weight movies by profit.
M.profit_rates = { 0.003, 0.01, 0.03 }

---Trains the ranker of this name (in `M.rankers`) and returns a function that scores items. `o` has the profit of every
---item, the learning rate (`rate`), and optionally a function watch(epoch, score), which is called after every epoch.
---@param plain mr.Fold  fold in which liked movies have grade 1
---@param o { profits: mr.Tensor, rate: number, epochs: integer, seed: integer, watch?: function }
function M.fit_profit(name, plain, o)
  local ranker = rankers[name]
  local model = protocol.factorisation(plain, o.seed)
  local function times_profit(batch) return model(batch):sigmoid() * o.profits:rows(batch.items) end
  local score = ranker.times and times_profit or model
  mr.fit{ model = model, loss = ranker.loss(),
    train = ranker.priced and M.priced(plain, o.profits).train or plain.train, epochs = o.epochs,
    seed = o.seed, optimizer = mr.optim.adam{ lr = o.rate, weight_decay = 1e-4 }, progress = false,
    each_epoch = function(epoch)
      if o.watch then o.watch(epoch, score) end
    end }
  return score
end

---Trains the ranker of this name (in `M.rankers`) for 30 epochs and evaluates it on validation every 5 epochs (with
---`o.short` for 2 epochs, every epoch). Returns the best validation value and its epoch. The ranker "relevance" is
---judged by nDCG@10, all others by profit@10, among all movies that the user has not liked in training.
---@param plain mr.Fold  fold in which liked movies have grade 1
---@param o { profits: mr.Tensor, rate: number, seed: integer, short: boolean }
---@return { valid: number, epochs: integer }
function M.epochs_of(name, plain, o)
  local best, metric, every = nil, rankers[name].metric, o.short and 1 or 5
  local judge = metric == "profit_10" and M.priced(plain, o.profits) or plain
  M.fit_profit(name, plain, { profits = o.profits, rate = o.rate, epochs = o.short and 2 or 30, seed = o.seed,
    watch = function(epoch, score)
      if epoch == 0 or epoch % every ~= 0 then return end
      local now = judge:evaluate(score, { metric }, { part = "valid", known = "relevant" }).mean[metric]
      if not best or now > best.valid then best = { valid = now, epochs = epoch } end
    end })
  return best
end

---Metrics of rankers under profits: the profit from a user, and the share of liked movies that are found.
M.profit_metrics = { "profit_10", "recall@10" }

---Evaluates a ranker (a model, or a function that scores items) on the test part of a fold from `M.priced`.
function M.earned(priced, score) return priced:evaluate(score, M.profit_metrics, { known = "relevant" }) end

return M
