-- ListRank-MF (Shi, Larson & Hanjalic 2010): does matrix factorisation rank better if it learns each user's list
-- instead of single ratings?
-- Its loss is the cross entropy of the top-one probabilities of the ratings and of sigma(<p_u, q_i>). It is
-- compared with matrix factorisation with biases, trained by squared errors.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common, predictors = dofile(here .. "common.lua"), dofile(here .. "../predictors.lua")
local protocol = dofile(here .. "../protocol.lua")

local args = common.options{
  epochs = { default = 30, least = 1, help = "passes over the training part" },
  factors = { default = 10, least = 1, help = "number of factors of users and items" },
  smoke = { default = false, sets = { epochs = 10 }, help = "made-up ratings, to see that it runs" },
}
local ratings, title = protocol.ratings(args)

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

local names, parts = { "ListRank-MF", "biased MF, squared errors", "by chance" }, { {}, {}, {} }
for number = 1, protocol.folds do
  local fold = predictors.rated_fold(ratings, number, args.seed)
  local function trained(kind, loss, more)
    local options = { users = ratings.users, items = ratings.items, factors = args.factors, seed = args.seed }
    for key, value in pairs(more) do options[key] = value end
    return mr.fit{
      model = mr.models[kind](options),
      loss = loss,
      train = fold.train,
      valid = fold.valid,
      test = fold.test,
      metrics = { "ndcg@10" },
      epochs = args.epochs,
      optimizer = mr.optim.adam{ lr = 0.01 },
      seed = args.seed,
      progress = false,
    }.test
  end
  local found = {
    trained("listrank_mf", mr.losses.listnet(), {}),
    trained("biased_mf", mr.losses.mse(), { mean = fold.train.lists.relevance:mean():item() }),
    mr.evaluate(mr.uniform({ fold.test.lists.rows }, { seed = args.seed }), fold.test.lists, { "ndcg@10" }),
  }
  for i, each in ipairs(found) do parts[i][number] = common.measured(each) end
end
local means, count = {}, nil
for i, name in ipairs(names) do means[name], count = common.pooled(parts[i]) end
return common.table(args, {
  title = title,
  unit = "lists of the rated items of a user",
  head = "model",
  folds = protocol.folds,
  count = count,
  names = names,
  means = means,
  parts = parts,
})
