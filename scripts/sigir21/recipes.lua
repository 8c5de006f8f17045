-- Training setups (recipes) of Li, Urbano & Hanjalic (2021) beside listwise losses as published: LambdaRank as
-- published; "code", the last commit of the authors' code; and "paper", by the text of the paper. Sections are those of
-- the paper. Recipes, and functions for a command line that selects trainings, are added to those of training.lua.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, M = mr.experiment, dofile(here .. "training.lua")
local protocol = M.protocol

-- Losses (3.1 to 3.4) -----------------------------------------------------------------------------------------------

-- In the formulas of this file, R are smooth ranks, r are ranks, s are scores, and P is the number of relevant rows. A
-- loss has one value for each list.

-- Makes a loss from a function of scores and lists that returns one value for each list.
local function loss_of(name, metric, smooth)
  return mr.losses.define(name, { direction = "minimize", metric = metric, smooth = smooth })()
end

-- The AP loss of the last commit of the authors' code: -(1 / P) sum over relevant j of (1 + sum over other relevant k
-- of sigma(R_j - R_k)) / R_j, where P is the number of relevant rows in the batch. For the inner sum, rows that are not
-- relevant get ranks far beyond all others.
local function ap_by_ranks()
  return loss_of("ap_by_ranks", "ap", function(scores, lists)
    local ranks = mr.smooth.rank(scores, lists)
    local among_relevant = mr.smooth.rank(-ranks - 1e6 * (1 - lists.relevance), lists)
    return -lists:sum(lists.relevance * among_relevant / ranks) / lists.relevant:double():sum():item()
  end)
end

-- The RR loss of LambdaRank in the authors' code. It compares only the highest relevant row i with the rows j above it:
-- the sum over j of (1 / r_j - 1 / r_i) sigma(s_j - s_i).
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
-- RBP when the two swap ranks, with exponents r instead of r - 1. The weight is multiplied by 1 - p^P, although nRBP is
-- RBP divided by 1 - p^P (p: persistence, P: number of relevant rows in the list).
local function lambda_nrbp(p)
  local of_pairs = mr.losses.lambdarank{ metric = ("rbp(%g)"):format(p), pair = "sigmoid" }
  return mr.losses.define("lambda_nrbp_multiplied", { direction = "maximize", metric = ("nrbp(%g)"):format(p),
    smooth = function(scores, lists)
      return -of_pairs(scores, lists) * (p * (1 - (lists.relevant:to(scores.dtype) * math.log(p)):exp()))
    end })()
end

-- Makes a loss of LambdaRank in the authors' code. Published nDCG was not yet divided by the ideal DCG ("dcg"). How the
-- published AP and nRBP were computed is unknown. Here they are as in the last commit, except that AP sums over all
-- pairs of a list's own rows: the code sums over pairs in the wrong order, and at NSR 2 and 5 reads rows of other lists
-- by mistake.
local function lambda_loss(name)
  local p = tonumber(name:match "^nrbp%((.*)%)$")
  if p then return lambda_nrbp(p) end
  return name == "rr" and lambda_rr() or mr.losses.lambdarank{ metric = name, pair = "sigmoid" }
end

-- Training (3.5, 4.2) -----------------------------------------------------------------------------------------------

---Losses of each kind ("lambda" is LambdaRank), and learning rates from which their own metric chooses. Runs on made-up
---data have `smoke_rates`.
M.losses = { listwise = protocol.losses, lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" } }
M.rates = { listwise = protocol.rates, lambda = { 0.001, 0.01, 0.1 } }
M.smoke_rates = { listwise = { 0.1, 1 }, lambda = { 0.001, 0.01 } }

-- The paper states SGD and 3000 epochs for all losses. The last commit has Adam for listwise losses and SGD for
-- LambdaRank. The published numbers need SGD for listwise losses, Adam for LambdaRank, and other batches.
local published = protocol.recipes.published
local of_code, sampled = published.listwise.loss, published.listwise.fold

-- Returns a split of the recipe "paper", whose negatives are relevant to the user in no part. A tenth of train is for
-- validation.
local function apart(set, o) return set.fold(o.split, o.nsr, 0.1) end

---Recipes: training setups for both kinds of losses, as in protocol.lua. That file's table is not changed, because the
---store takes another value in the protocol of a run for a change of the training.
M.recipes = {
  paper = { title = "as in the paper, with epoch and learning rate chosen on validation",
    listwise = { optimizer = "sgd", batch = 2048, epochs = 3000, choose_on = "valid", fold = apart,
      loss = function(name) return mr.losses[name]() end },
    lambda = { optimizer = "sgd", batch = 16, epochs = 3000, choose_on = "valid", fold = apart,
      loss = function(name) return mr.losses.lambdarank{ metric = name } end } },
  code = { title = "as the code's last commit, with epoch and learning rate chosen on test",
    listwise = { optimizer = "adam", batch = 256, epochs = 3000, choose_on = "test", fold = sampled,
      loss = function(name, longest) return name == "ap" and ap_by_ranks() or of_code(name, longest) end },
    lambda = { optimizer = "sgd", batch = 16, epochs = 120, choose_on = "test", fold = sampled, loss = lambda_loss } },
  published = { title = published.title, listwise = published.listwise,
    lambda = { optimizer = "adam", batch = 16, epochs = 120, choose_on = "test", fold = sampled,
      loss = function(name) return lambda_loss(name == "ndcg" and "dcg" or name) end } },
}
M.recipe_names = { "paper", "code", "published" }

-- Command line ------------------------------------------------------------------------------------------------------

---Declares the options of a command line that select trainings. `recipe` is the default of --recipe.
function M.options(recipe)
  local kinds, rates = { "listwise", "lambda" }, protocol.rates
  local losses = { "ndcg", "ap", "rr", "nrbp", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" }
  return {
    recipe = { default = recipe, choices = M.recipe_names, help = "as in the paper, in the code, or as published" },
    nsr = { default = protocol.nsr, least = 1, distinct = true, help = "negatives per relevant item" },
    kinds = { default = kinds, choices = kinds, help = "listwise losses, LambdaRank" },
    losses = { default = losses, choices = losses, help = "of each kind that has them" },
    rates = { default = rates, choices = rates, help = "learning rates, of those of the kind" },
    epochs = { default = 0, least = 0, help = "of each run; 0: as many as the recipe has" } }
end

---Parses the command line, as mr.experiment.args does. Runs under --smoke are shorter than the start of worker
---processes, so they run in this process.
function M.args(own, smoke)
  local args = experiment.args(own, { document = "sigir21", smoke = smoke })
  if args.smoke and not args.workers then args.workers = 0 end
  return args
end

-- Returns the elements of a list that are in another list, too.
local function among(list, asked)
  local found, wanted = {}, {}
  for _, each in ipairs(asked) do wanted[each] = true end
  for _, each in ipairs(list) do found[#found + 1] = wanted[each] and each or nil end
  return found
end

---The trainings on a data set that the options name, each with recipe, nsr, kind, loss and rate. Ends the script if
---there are none, or if the data set has too few items for an NSR.
function M.trainings(args, set)
  local found = {}
  for _, nsr in ipairs(args.nsr) do
    if nsr >= set.items then
      mr.exit(2, ("--nsr: %d is too large, because %s has %d items"):format(nsr, set.title, set.items))
    end
    for _, kind in ipairs(args.kinds) do
      local rates = among((args.smoke and M.smoke_rates or M.rates)[kind], args.rates)
      local losses = among(M.losses[kind], args.losses)
      for _, o in ipairs(experiment.combinations{ { "loss", losses }, { "rate", rates } }) do
        o.recipe, o.nsr, o.kind, found[#found + 1] = args.recipe, nsr, kind, o
      end
    end
  end
  if #found > 0 then return found end
  mr.exit(2, ("--losses, --rates: there is no %s loss %s with a learning rate %s"):format(
    table.concat(args.kinds, " or "), table.concat(args.losses, ", "), table.concat(args.rates, ", ")))
end

return M
