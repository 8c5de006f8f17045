-- ListRank-MF (Shi, Larson & Hanjalic 2010): does matrix factorisation rank better if it learns each user's list instead of single ratings?
-- The cross entropy of top-one probabilities of ratings and of sigma(<p_u, q_i>), against squared errors of the same factors with biases.
local mr = require "moonrank"

local args = mr.args{
  epochs = { default = 30, least = 1, help = "passes over the training part" },
  factors = { default = 10, least = 1, help = "of users and items" },
  seed = { default = 1, help = "seed of folds and models" },
  smoke = { default = false, sets = { epochs = 10 }, help = "made-up ratings, to see that it runs" },
}
local ratings = args.smoke and mr.data.synthetic{ kind = "ratings", users = 80, items = 120, mean_activity = 40, noise = 0.3,
  seed = args.seed } or mr.data.movielens()
local fold = ratings:folds{ k = 5, by = "user", seed = args.seed, grades = true }[1]

mr.models.define("listrank_mf", {
  required = { users = "integer", items = "integer" }, options = { factors = 10 },
  parameters = function(o)
    local function matrix(rows) return mr.normal({ rows, o.factors }, { sd = 0.1, dtype = o.dtype }) end
    return { users = matrix(o.users), items = matrix(o.items) }
  end,
  forward = function(self, batch)
    return batch.lists:factor_scores(self.users, self.items, batch.users, batch.items):sigmoid()
  end,
})

local sizes = { users = ratings.users, items = ratings.items, factors = args.factors, seed = args.seed }
local function trained(name, more, loss)
  local options = {}
  for _, from in ipairs{ sizes, more } do for key, value in pairs(from) do options[key] = value end end
  return mr.fit{ name = name, model = mr.models[name](options), loss = loss, train = fold.train, valid = fold.valid, test = fold.test,
    metrics = { "ndcg@10" }, epochs = args.epochs, optimizer = mr.optim.adam{ lr = 0.01 }, seed = args.seed, progress = false }.test
end

local found = {
  { "ListRank-MF", trained("listrank_mf", {}, mr.losses.listnet()) },
  { "biased MF, squared errors", trained("biased_mf", { mean = fold.train.lists.relevance:mean():item() }, mr.losses.mse()) },
  { "by chance", mr.evaluate(mr.uniform({ fold.test.lists.rows }, { seed = 1 }), fold.test.lists, { "ndcg@10" }) },
}
local rows = {}
for i, each in ipairs(found) do rows[i] = { each[1], each[2].mean["ndcg@10"], each[2].counted["ndcg@10"] } end
print(("Mean nDCG@10 of each user's rated items on test: %s"):format(args.smoke and "made-up ratings" or "MovieLens, fold 1"))
print(mr.table{ columns = { "model", "ndcg@10", "users" }, formats = { ["ndcg@10"] = "%.4f" }, rows = rows })
