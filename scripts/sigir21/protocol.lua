-- The protocol of Li, Urbano & Hanjalic (2021): data, model, metrics and losses, and the recipe "published": a training
-- setup that gives their published numbers, errors of their code included. Numbers in parentheses are sections of the
-- paper. recipes.lua has other recipes. docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = {}

---Negative sampling ratios (NSR): sampled negatives per relevant item, in train and test.
M.nsr = { 1, 2, 5 }

---A data set of the authors' splits in a folder: fold_0, fold_1, ..., whose files have relevant rows only.
---fold(split, nsr, valid) makes a split; `valid` is the share of train that becomes the validation part.
function M.given_splits(title, folder, splits)
  local ratings = {}
  for _, split in ipairs(splits) do
    local path = ("%s/fold_%d/"):format(folder, split)
    ratings[split] = mr.data.interactions({ train = path .. "train.csv", test = path .. "test.csv" },
      { columns = { rating = false } }):binarize(1)
  end
  return { title = title, splits = splits, users = ratings[splits[1]].users, items = ratings[splits[1]].items,
    fold = function(split, nsr, valid) return ratings[split]:folds{ by = "given", nsr = nsr, valid = valid }[1] end }
end

---One random split of made-up ratings of a few users, in place of the data set `name`.
function M.made_up(name, seed)
  local all = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = seed }
  local ratings = all:binarize(4):min_relevant(25)
  return { title = "made-up ratings for " .. name, splits = { 1 }, users = ratings.users, items = ratings.items,
    fold = function(_, nsr, valid)
      return ratings:folds{ by = "share", k = 3, test = 0.2, nsr = nsr, valid = valid }[1]
    end }
end

---CiteULike-a with the authors' splits; with --smoke made-up ratings.
function M.citeulike(args)
  if args.smoke then return M.made_up("citeulike", 1) end
  return M.given_splits("CiteULike-a, published splits", mr.experiment.place(args, "citeulike-a"), { 0, 1 })
end

---Matrix factorisation with 32 factors: the paper tried 8 to 128, found that more rank better but do not change which
---loss is better, and fixed 32 (4.2). Initial values are those of the authors' code.
M.factors = 32
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
end

---Metrics that judge every model. nDCG@5 is in the authors' results but not in the paper.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---Metrics that choose epoch and rate for a loss: its own one. Listwise nRBP has three: a run gives three models.
function M.own_metrics(loss)
  return loss == "nrbp" and { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } or { (loss:gsub("^nrbp", "rbp")) }
end

-- R are smooth ranks, P is the number of relevant rows. The code appends rows of score -100 (padding) to each list, up
-- to the length of the longest list in train (`longest`).
local losses = {}

-- Makes a loss from a function of scores and lists that returns one value for each list.
local function loss_of(name, metric, smooth)
  return mr.losses.define(name, { direction = "minimize", metric = metric, smooth = smooth })()
end

-- AP: -(1 / P) sum over relevant k of (1 + sum over all other j of sigma(R_j - R_k)) / R_k, where P is that of the
-- batch. By mistake, j are all rows below row k, padding included, instead of relevant rows above it.
function losses.ap(longest)
  return loss_of("ap_of_all_rows", "ap", function(scores, lists)
    local ranks, sizes = mr.smooth.rank(scores, lists), lists.sizes:to(scores.dtype)
    local of_padding = lists:spread((sizes + (longest + 1)) / 2)
    local below = mr.smooth.rank(ranks, lists) + lists:spread(longest - sizes) * (of_padding - ranks):sigmoid()
    return -lists:sum(lists.relevance * below / ranks) / lists.relevance:double():sum():item()
  end)
end

-- RR: -sum over relevant i of 1 / R_i times the product over other relevant j of 1 - sigma(R_i - R_j). Eq. 16 has
-- scores instead of ranks in the product.
function losses.rr()
  return loss_of("rr_by_ranks", "rr", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    return -lists:sum(mr.smooth.first(-ranks, lists) / ranks)
  end)
end

-- nRBP with a steepness of 0.01, because the code swaps two arguments. So padding counts as partly above other rows.
function losses.nrbp(longest)
  return loss_of("nrbp_with_padding", "nrbp_loss", function(scores, lists)
    local padding = lists:spread(longest - lists.sizes:to(scores.dtype))
    local above = lists.relevance * padding * (0.01 * (-100 - scores)):sigmoid()
    return mr.smooth.nrbp_loss(scores, lists, { steepness = 0.01 }) + lists:sum(above)
  end)
end

-- Returns a split with sampled negatives. Those of train may be relevant in test, because the code ignores later parts.
local function sampled(set, o)
  local split = set.fold(o.split, 0, 0)
  local train, test = table.unpack(mr.data.sample_negatives({ split.train, split.test },
    { nsr = o.nsr, items = set.items, seed = o.seed }))
  return { train = train, valid = split.valid, test = test }
end

---Losses, and learning rates from which their own metric chooses.
M.losses = { "ndcg", "ap", "rr", "nrbp" }
M.rates = { 0.001, 0.01, 0.1, 1, 3, 10 }

---Recipes are training setups by kind of losses. `batch` is the number of users per step; the paper does not state it.
M.recipes = { published = {
  title = "as published, with epoch and learning rate chosen on test",
  listwise = { optimizer = "sgd", batch = 2048, batches = { ap = 256, nrbp = 256 }, epochs = 3000, choose_on = "test",
    fold = sampled,
    loss = function(name, longest) return name == "ndcg" and mr.losses.ndcg() or losses[name](longest) end } } }

---Trains a model on the sum of the loss over the users of a batch, and evaluates every fifth epoch. `how` is a setup
---of a recipe, `o` has loss, rate, fold, model, seed, and optionally the number of epochs.
function M.train(how, o)
  local fold = o.fold
  return mr.fit{ model = o.model, loss = how.loss(o.loss, fold.train.lists.sizes:double():max():item()),
    reduction = "sum", train = fold.train, valid = fold.valid, test = fold.test, every = 5, metrics = M.metrics,
    select = M.metrics, choose_on = how.choose_on, optimizer = mr.optim[how.optimizer]{ lr = o.rate },
    batch = how.batches and how.batches[o.loss] or how.batch, epochs = o.epochs or how.epochs, seed = o.seed,
    progress = false }
end

---The name of a stored test score by a metric, of the model whose epoch the metric `by` chose.
function M.score(metric, by) return ("%s, epoch by %s"):format(metric, by) end

---Results of a run: each metric's own epoch, the value that chose it, and its test mean. For each metric in `own` also
---the test scores by all metrics at its epoch, as means and of every user (`list`).
function M.outcome(run, fold, own)
  local result, per_list = {}, { list = fold.test.users:double() }
  for _, choice in ipairs(run.choices) do
    local metric = choice.metric.name
    result[metric], result["epoch by " .. metric] = run.test.mean[metric], choice.best.epoch
    result["chosen by " .. metric] = choice.best.metrics[metric]
  end
  for _, by in ipairs(own) do
    local found = mr.evaluate(mr.data.scored(run:restore(by), fold.test).scores, fold.test.lists, M.metrics)
    for _, metric in ipairs(M.metrics) do
      result[M.score(metric, by)], per_list[M.score(metric, by)] = found.mean[metric], found[metric]
    end
  end
  result.valid, result.per_list = result["chosen by " .. own[1]], per_list
  return result
end

---The largest difference from a published number that counts as none. Scores of different folds differ by about 0.001.
M.close = 0.003

return M
