-- The protocol of Li, Urbano & Hanjalic (2021): every decision behind their training runs, as a value or a function.
-- Section numbers are those of the paper. A recipe is a training setup: "paper" follows the text of the paper, "code"
-- the last commit of the authors' code, and "published" the code that made the published numbers. analysis.lua has
-- the decisions of the figures.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, losses = mr.experiment, dofile(here .. "losses.lua")

local M = { losses = losses }

-- Data and models (4.1, 4.2) ----------------------------------------------------------------------------------------

---Negative sampling ratios (NSR): numbers of sampled negative items per relevant item, in train and test.
M.nsr = { 1, 2, 5 }

---A data set of random splits, of users with at least 25 relevant items; 80 % of a user's relevant items are in train.
---fold(split, nsr, valid) makes a split; `valid` is the share of train that becomes the validation part.
function M.random_splits(title, ratings, splits)
  ratings = ratings:min_relevant(25)
  return { title = title, splits = splits or { 1, 2, 3 }, users = ratings.users, items = ratings.items,
    fold = function(split, nsr, valid)
      return ratings:folds{ by = "share", k = 3, test = 0.2, nsr = nsr, valid = valid }[split]
    end }
end

---A data set of the authors' splits in a folder: fold_0, fold_1, ..., whose files have relevant rows only.
function M.given_splits(title, folder, splits)
  local ratings = {}
  for _, split in ipairs(splits) do
    local function file(part) return ("%s/fold_%d/%s.csv"):format(folder, split, part) end
    ratings[split] = mr.data.interactions({ train = file "train", test = file "test" },
      { columns = { rating = false } }):binarize(1)
  end
  return { title = title, splits = splits, users = ratings[splits[1]].users, items = ratings[splits[1]].items,
    fold = function(split, nsr, valid) return ratings[split]:folds{ by = "given", nsr = nsr, valid = valid }[1] end }
end

---One split of made-up ratings of a few users, in place of the data set `name`.
function M.made_up(name, seed)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400, seed = seed }:binarize(4)
  return M.random_splits("made-up ratings for " .. name, ratings, { 1 })
end

---The path of a data set's folder: in --data, or in one of the program's usual places.
function M.place(args, name) return args.data ~= "" and args.data .. "/" .. name or name end

---CiteULike-a on the authors' own splits; with --smoke made-up ratings.
function M.citeulike(args)
  if args.smoke then return M.made_up("citeulike", 1) end
  return M.given_splits("CiteULike-a, published splits", M.place(args, "citeulike-a"), { 0, 1 })
end

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

---Matrix factorisation with 32 factors, the best of 8 to 128 (4.2). Initial values are those of the authors' code.
M.factors = 32
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
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

---Metrics that judge every model. nDCG@5 is in the authors' results but not in the paper.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---The metrics that choose epoch and rate for a loss: its own one. Listwise nRBP has three, and so one training run
---gives three models.
function M.own_metrics(loss)
  if loss == "nrbp" then return { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } end
  return { (loss:gsub("^nrbp", "rbp")) }
end

---Trains one model: the loss is summed over the users of a batch, and every fifth epoch is evaluated. `o` has kind
---("listwise" or "lambda": LambdaRank), loss, rate, fold, model, seed, and optionally the number of epochs.
function M.train(recipe, o)
  local of, how, fold = M.recipes[recipe], M.recipes[recipe][o.kind], o.fold
  local longest = math.tointeger(fold.train.lists.sizes:double():max():item())
  return mr.fit{
    model = o.model, loss = losses.new(recipe, o.kind, o.loss, longest), reduction = "sum",
    train = fold.train, valid = of.valid > 0 and fold.valid or nil, test = fold.test, choose_on = of.choose_on,
    optimizer = mr.optim[how.optimizer]{ lr = o.rate }, batch = how.batches and how.batches[o.loss] or how.batch,
    epochs = o.epochs or how.epochs, every = 5, metrics = M.metrics, select = M.metrics, seed = o.seed,
    progress = false,
  }
end

---The name of a stored test score by a metric, of the model whose epoch the metric `by` chose.
function M.score(metric, by) return ("%s, epoch by %s"):format(metric, by) end

---What a run stores: by each metric its own epoch, the value that chose it and the test mean. For each metric in `own`
---also the test scores by all metrics at its epoch, as means and of every user (`list`).
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
function M.near(difference) return math.abs(difference) <= M.close end

-- Runs that a command line asks for ---------------------------------------------------------------------------------

---Declares the options of a command line that select runs. `recipe` is the default of --recipe.
function M.options(recipe)
  local kinds, losses_of_both = { "listwise", "lambda" }, { table.unpack(losses.lambda) }
  table.insert(losses_of_both, 4, "nrbp")
  return {
    recipe = { default = recipe, choices = M.recipe_names, help = "as in the paper, in the code, or as published" },
    nsr = { default = M.nsr, least = 1, distinct = true, help = "negatives per relevant item" },
    kinds = { default = kinds, choices = kinds, help = "listwise losses, LambdaRank" },
    losses = { default = losses_of_both, choices = losses_of_both, help = "of each kind that has them" },
    rates = { default = M.rates.listwise, choices = M.rates.listwise, help = "learning rates, of those of the kind" },
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

---The trainings on a data set that the options name, each with nsr, kind, loss and rate. Ends the script if there are
---none, or if the data set has too few items for an NSR.
function M.trainings(args, set)
  local found = {}
  for _, nsr in ipairs(args.nsr) do
    if nsr >= set.items then
      mr.exit(2, ("--nsr: %d is too large, because %s has %d items"):format(nsr, set.title, set.items))
    end
    for _, kind in ipairs(args.kinds) do
      local rates = among((args.smoke and M.smoke_rates or M.rates)[kind], args.rates)
      for _, o in ipairs(experiment.combinations{ { "loss", among(losses[kind], args.losses) }, { "rate", rates } }) do
        o.nsr, o.kind, found[#found + 1] = nsr, kind, o
      end
    end
  end
  if #found > 0 then return found end
  mr.exit(2, ("--losses, --rates: there is no %s loss %s with a learning rate %s"):format(
    table.concat(args.kinds, " or "), table.concat(args.losses, ", "), table.concat(args.rates, ", ")))
end

---The runs of a training, one for each split of a data set; missing ones are made. With --kept none are made, and the
---result is nil if there are none. `o` has nsr, kind, loss, rate, and optionally the number of factors and the seed.
function M.study(args, set, o)
  -- The function `run` uses these values instead of `args` and `o`, whose other fields would count as changes of it.
  local recipe, nsr, kind, loss, rate = args.recipe, o.nsr, o.kind, o.loss, o.rate
  local factors, seed = o.factors or M.factors, o.seed or 1
  local epochs = args.epochs > 0 and args.epochs or M.recipes[recipe][kind].epochs
  local name = ("%s, NSR %d, %s %s, %d factors, rate %g, %s"):format(set.title, nsr, kind, loss, factors, rate, recipe)
  local study = { name = seed > 1 and ("%s, seed %d"):format(name, seed) or name, settings = { epochs = epochs },
    accepts = experiment.diverged,  -- at some large learning rates training diverges, which is a result
    space = { split = mr.choice(set.splits) },
    run = function(trial)
      local own_seed = 1000 * (seed - 1) + trial.split + 1
      local fold = M.fold(recipe, set, { split = trial.split, nsr = nsr, seed = own_seed })
      local run = M.train(recipe, { kind = kind, loss = loss, rate = rate, fold = fold, seed = own_seed,
        epochs = epochs, model = M.model(set, factors, own_seed) })
      return M.outcome(run, fold, M.own_metrics(loss))
    end }
  if args.kept then return experiment.there(args, study) end
  return experiment.study(args, study)
end

---The name of a loss or metric in tables: "nDCG" for "ndcg", "RBP(0.8)" for "rbp(0.8)".
function M.title(name) return (name:upper():gsub("^N", "n")) end

return M
