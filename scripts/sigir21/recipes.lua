-- The training runs of Li, Urbano & Hanjalic (2021): losses, learning rates, optimizers, negatives and what is kept of
-- a run. Sections are those of the paper. A recipe is a training setup: "paper" follows the text of the paper, "code"
-- the last commit of the authors' code, and "published" the code that made the published numbers.
-- Functions and values are added to those of protocol.lua, so that all decisions about a run are in one table.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"

local M = dofile(here .. "protocol.lua")

-- Losses (3.1 to 3.4) -----------------------------------------------------------------------------------------------

-- In the formulas of this file, R are smooth ranks, and P is the number of relevant rows. A loss has one value for each
-- list. The authors' code appends rows of score -100 (padding) to every list, up to the length of the longest list of
-- any user.

---The losses of each kind; "lambda" is LambdaRank.
M.losses = { listwise = { "ndcg", "ap", "rr", "nrbp" },
  lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" } }

-- Makes a loss from a function of scores and lists that returns one value for each list.
local function loss_of(name, metric, smooth)
  return mr.losses.define(name, { direction = "minimize", metric = metric, smooth = smooth })()
end

-- The AP loss of the published results: -(1 / P) sum over relevant k of (1 + sum over all other j of sigma(R_j - R_k))
-- / R_k, where R are smooth ranks, and P is the number of relevant rows in the batch. By mistake, the inner sum counts
-- all rows below row k, padding included, instead of relevant rows above it.
local function ap_of_all_rows(longest)
  return loss_of("ap_of_all_rows", "ap", function(scores, lists)
    local ranks, sizes = mr.smooth.rank(scores, lists), lists.sizes:to(scores.dtype)
    local padding = longest - sizes
    local of_padding = sizes + padding / 2 + 0.5
    local below = mr.smooth.rank(ranks, lists) + lists:spread(padding) * (lists:spread(of_padding) - ranks):sigmoid()
    return -lists:sum(lists.relevance * below / ranks) / lists.relevant:double():sum():item()
  end)
end

-- The AP loss of the last commit of the authors' code: -(1 / P) sum over relevant j of (1 + sum over other relevant k
-- of sigma(R_j - R_k)) / R_j, where R are smooth ranks, and P is the number of relevant rows in the batch. For the
-- inner sum, rows that are not relevant get ranks far beyond all others.
local function ap_by_ranks()
  return loss_of("ap_by_ranks", "ap", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    local among_relevant = mr.smooth.rank(-ranks - 1e6 * (1 - lists.relevance), lists)
    return -lists:sum(lists.relevance * among_relevant / ranks) / lists.relevant:double():sum():item()
  end)
end

-- The RR loss of the authors' code, with smooth ranks R: -sum over relevant i of 1 / R_i times the product over other
-- relevant j of 1 - sigma(R_i - R_j). The paper's Eq. 16 has scores instead of ranks in the product.
local function rr_by_ranks()
  return loss_of("rr_by_ranks", "rr", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    return -lists:sum(mr.smooth.first(-ranks, lists) / ranks)
  end)
end

-- The listwise nRBP loss of the authors' code. The code swaps two arguments by mistake, so that the sigmoid has the
-- steepness 0.01. The code also appends rows of score -100 (padding) to lists. With so small a steepness, padding rows
-- count as partly above other rows.
local function nrbp_with_padding(longest)
  local steepness = 0.01
  return loss_of("nrbp_with_padding", "nrbp_loss", function(scores, lists)
    local padding = lists:spread(longest - lists.sizes:to(scores.dtype))
    local above = lists.relevance * padding * (steepness * (-100 - scores)):sigmoid()
    return mr.smooth.nrbp_loss(scores, lists, { steepness = steepness }) + lists:sum(above)
  end)
end

-- The RR loss of LambdaRank in the authors' code. It compares only the highest relevant row i with the rows j above it:
-- the sum over j of (1 / r_j - 1 / r_i) sigma(s_j - s_i), with ranks r and scores s.
local function lambda_rr()
  return loss_of("lambda_rr_of_first", "rr", function(scores, lists)
    local ranks = lists:rank(scores, { ties = "stable" })
    local gains = lists.relevance / ranks
    local best = lists:spread(lists:max(gains))
    local score_of_first = lists:spread(lists:sum(gains:eq(best) * scores))
    return lists:sum((1 / ranks - best):relu() * (scores - score_of_first):sigmoid())
  end)
end

-- The nRBP loss of LambdaRank in the last commit of the authors' code. The weight of a pair of rows is the change of
-- RBP when the two swap ranks, with exponents r instead of r - 1 (r: rank). The weight is multiplied by 1 - p^P,
-- although nRBP is RBP divided by 1 - p^P (p: persistence, P: number of relevant rows in the list).
local function lambda_nrbp(p)
  local of_pairs = mr.losses.lambdarank{ metric = ("rbp(%g)"):format(p), pair = "sigmoid" }
  return mr.losses.define("lambda_nrbp_multiplied", { direction = "maximize", metric = ("nrbp(%g)"):format(p),
    smooth = function(scores, lists)
      return -of_pairs(scores, lists) * (p * (1 - (lists.relevant:to(scores.dtype) * math.log(p)):exp()))
    end })()
end

---Makes a loss of the paper. The code of the published results differs from the last commit ("code") in listwise AP,
---and in nDCG of LambdaRank, which was not yet divided by the ideal DCG. How it computed AP and nRBP of LambdaRank is
---unknown; here they are as in the last commit, except that AP sums over all pairs of a list's own rows. The code sums
---over pairs in the wrong order, and at NSR 2 and 5 reads rows of other lists by mistake.
---@param recipe "paper"|"code"|"published"
---@param kind "listwise"|"lambda"  "lambda": LambdaRank
---@param name string     a metric's name, among M.losses
---@param longest number   number of rows of the longest training list
---@return mr.Loss
function M.loss(recipe, kind, name, longest)
  if recipe == "paper" then return kind == "lambda" and mr.losses.lambdarank{ metric = name } or mr.losses[name]() end
  if kind == "listwise" then
    if name == "ap" then return recipe == "code" and ap_by_ranks() or ap_of_all_rows(longest) end
    return name == "rr" and rr_by_ranks() or name == "nrbp" and nrbp_with_padding(longest) or mr.losses.ndcg()
  end
  local p = tonumber(name:match "^nrbp%((.*)%)$")
  if p or name == "rr" then return p and lambda_nrbp(p) or lambda_rr() end
  return mr.losses.lambdarank{ metric = recipe == "published" and name == "ndcg" and "dcg" or name, pair = "sigmoid" }
end

-- Training (3.5, 4.2) -----------------------------------------------------------------------------------------------

---Learning rates to try, and those for made-up data.
M.rates = { listwise = { 0.001, 0.01, 0.1, 1, 3, 10 }, lambda = { 0.001, 0.01, 0.1 } }
M.smoke_rates = { listwise = { 0.1, 1 }, lambda = { 0.001, 0.01 } }

---Training setups. The paper states SGD and 3000 epochs for all losses, but not the users per step (`batch`), nor the
---part that chooses epoch and rate; the code chooses on test. The published numbers need the last commit's optimizers
---the other way round, and these batches. Negatives are sampled "apart", or as by the "authors" (M.fold).
M.recipes = {
  paper = {
    title = "as in the paper, with epoch and learning rate chosen on validation",
    choose_on = "valid", valid = 0.1, negatives = "apart",
    listwise = { optimizer = "sgd", batch = 2048, epochs = 3000 },
    lambda = { optimizer = "sgd", batch = 16, epochs = 3000 },
  },
  code = {
    title = "as the code's last commit, with epoch and learning rate chosen on test",
    choose_on = "test", valid = 0, negatives = "authors",
    listwise = { optimizer = "adam", batch = 256, epochs = 3000 },
    lambda = { optimizer = "sgd", batch = 16, epochs = 120 },
  },
  published = {
    title = "as published, with epoch and learning rate chosen on test",
    choose_on = "test", valid = 0, negatives = "authors",
    listwise = { optimizer = "sgd", batch = 2048, batches = { ap = 256, nrbp = 256 }, epochs = 3000 },
    lambda = { optimizer = "adam", batch = 16, epochs = 120 },
  },
}
M.recipe_names = { "paper", "code", "published" }

---A split with sampled negatives. Those of the recipe "paper" are relevant to the user in no part. The authors' code
---does not look at later parts: negatives of train may be relevant in test. `o` has split, nsr and seed.
function M.fold(recipe, set, o)
  local how = M.recipes[recipe]
  if how.negatives == "apart" then return set.fold(o.split, o.nsr, how.valid) end
  local fold = set.fold(o.split, 0, how.valid)
  local train, test = table.unpack(mr.data.sample_negatives({ fold.train, fold.test },
    { nsr = o.nsr, items = set.items, seed = o.seed }))
  return { train = train, valid = fold.valid, test = test }
end

---Trains one model: the loss is summed over the users of a batch, and every fifth epoch is evaluated. `o` has kind
---("listwise" or "lambda": LambdaRank), loss, rate, fold, model, seed, and optionally the number of epochs.
function M.train(recipe, o)
  local of, how, fold = M.recipes[recipe], M.recipes[recipe][o.kind], o.fold
  local longest = fold.train.lists.sizes:double():max():item()
  return mr.fit{
    model = o.model, loss = M.loss(recipe, o.kind, o.loss, longest), reduction = "sum",
    train = fold.train, valid = fold.valid, test = fold.test, choose_on = of.choose_on,
    optimizer = mr.optim[how.optimizer]{ lr = o.rate }, batch = how.batches and how.batches[o.loss] or how.batch,
    epochs = o.epochs or how.epochs, every = 5, metrics = M.metrics, select = M.metrics, seed = o.seed,
    progress = false,
  }
end

---The name of a stored test score by a metric, of the model whose epoch the metric `by` chose.
function M.score(metric, by) return ("%s, epoch by %s"):format(metric, by) end

---Returns the results of a run: by each metric its own epoch, the value that chose it and the test mean. For each
---metric in `own` also the test scores by all metrics at its epoch, as means and of every user (`list`).
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

return M
