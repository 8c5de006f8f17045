-- Training runs of the experiments of Li, Urbano & Hanjalic (2021), kept in one store: the options that select them,
-- and the study of each, which has a run for each split of a data set. Decisions are in protocol.lua and recipes.lua.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "recipes.lua")

local M = { protocol = protocol }

---Declares the options of a command line that select runs. `recipe` is the default of --recipe.
function M.options(recipe)
  local kinds, rates = { "listwise", "lambda" }, protocol.rates.listwise
  local losses = { "ndcg", "ap", "rr", "nrbp", "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" }
  return {
    recipe = { default = recipe, choices = protocol.recipe_names,
      help = "as in the paper, in the code, or as published" },
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

---The trainings on a data set that the options name, each with nsr, kind, loss and rate. Ends the script if there are
---none, or if the data set has too few items for an NSR.
function M.trainings(args, set)
  local found = {}
  for _, nsr in ipairs(args.nsr) do
    if nsr >= set.items then
      mr.exit(2, ("--nsr: %d is too large, because %s has %d items"):format(nsr, set.title, set.items))
    end
    for _, kind in ipairs(args.kinds) do
      local rates = among((args.smoke and protocol.smoke_rates or protocol.rates)[kind], args.rates)
      local losses = among(protocol.losses[kind], args.losses)
      for _, o in ipairs(experiment.combinations{ { "loss", losses }, { "rate", rates } }) do
        o.nsr, o.kind, found[#found + 1] = nsr, kind, o
      end
    end
  end
  if #found > 0 then return found end
  mr.exit(2, ("--losses, --rates: there is no %s loss %s with a learning rate %s"):format(
    table.concat(args.kinds, " or "), table.concat(args.losses, ", "), table.concat(args.rates, ", ")))
end

---The runs of a training, one for each split of a data set; missing ones are made, with --kept none. The result is nil
---if no run has a result: none is there, or training diverged. `o` has nsr, kind, loss, rate, and optionally the number
---of factors and the seed.
function M.study(args, set, o)
  -- The function `run` captures these single values instead of the tables `args` and `o`. The sweep takes a changed
  -- captured value for a change of the training, and other fields of the tables change without effect on the training.
  local recipe, nsr, kind, loss, rate = args.recipe, o.nsr, o.kind, o.loss, o.rate
  local factors, seed = o.factors or protocol.factors, o.seed or 1
  local epochs = args.epochs > 0 and args.epochs or protocol.recipes[recipe][kind].epochs
  local name = ("%s, NSR %d, %s %s, %d factors, rate %g, %s"):format(set.title, nsr, kind, loss, factors, rate, recipe)
  local study = { name = seed > 1 and ("%s, seed %d"):format(name, seed) or name, settings = { epochs = epochs },
    accepts = experiment.diverged,  -- at some large learning rates training diverges, which is a result
    space = { split = mr.choice(set.splits) },
    run = function(trial)
      local own_seed = 1000 * (seed - 1) + trial.split + 1
      local fold = protocol.fold(recipe, set, { split = trial.split, nsr = nsr, seed = own_seed })
      local run = protocol.train(recipe, { kind = kind, loss = loss, rate = rate, fold = fold, seed = own_seed,
        epochs = epochs, model = protocol.model(set, factors, own_seed) })
      return protocol.outcome(run, fold, protocol.own_metrics(loss))
    end }
  local make = args.kept and experiment.there or experiment.study
  local results = make(args, study)
  return results and #experiment.runs(results) > 0 and results or nil
end

---The name of a loss or metric in tables: "nDCG" for "ndcg", "RBP(0.8)" for "rbp(0.8)".
function M.title(name) return (name:upper():gsub("^N", "n")) end

return M
