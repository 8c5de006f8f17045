-- The grid's training runs, kept in one store: of each setting (data.lua) the choice of learning rates, and every loss under every bound that
-- applies, on three folds or with three seeds. A run that takes long is ended by a cap on its processor time, and its results say so.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local data, kept = dofile(here .. "data.lua"), dofile(here .. "../kept_runs.lua")

local M = { data = data, chosen = dofile(here .. "rates.lua") }

---The options of a script that reads runs: its own, which settings, and how long a run may take.
---@param own table
---@param smoke? table<string, any>  which of its own --smoke sets
function M.args(own, smoke)
  own.sets = { default = data.names, choices = data.names, help = "which settings" }
  own.cap = { default = 30.0, least = 0.1, help = "processor seconds that a run may take after its first epoch; a sixth to choose rates" }
  own.full = { default = false, ignores = { "cap" }, help = "no run ends by a cap" }
  return kept.args(own, { document = "grid", smoke = smoke })
end

---The options of `M.args` as words, for another script.
function M.words(args)
  return kept.words(args, { full = args.full, cap = not args.full and args.cap, sets = table.concat(args.sets, ",") })
end

---Names of the losses: all that the library has, and with --smoke one of each kind.
---@return string[]
function M.losses(args) return args.smoke and { "ap", "mse", "neural_ndcg", "ranknet" } or mr.losses.names() end

local opened = kept.cache()

---A setting by its name, read once.
---@return grid.Setting
function M.set(args, name)
  opened[name] = opened[name] or data.open(name, args.data, args.smoke)
  return opened[name]
end

---The metric by which a loss is judged: its own, where it is known what random rankings are worth, else nDCG.
---@param name string  of the loss
---@return string
local function metric_of(name)
  local metric = mr.metrics.parse(mr.losses[name]().metric)
  return metric.closed_forms and not metric.minimize and metric.name or "ndcg"
end
M.metric_of = metric_of

-- Seconds of an epoch by its first lists, once what bounds know of their shapes is there.
local function epoch_seconds(set, fold, model, loss)
  local batch, seconds = fold.train:batches{ size = set.batch }(), 0
  for _ = 1, 2 do
    local began = os.clock()
    local mean = loss:mean(model(batch), batch.lists)
    if mean.tracked then mean:backward() end
    seconds = os.clock() - began
  end
  for _, parameter in ipairs(model:parameters()) do parameter:zero_grad() end
  return seconds * fold.train.count / set.batch
end

-- What random rankings of each list are expected to have.
local function chance(metric, lists) return mr.bounds.stats(metric, lists).expectation end

-- Numbers of a run: means on test, what chose the epoch, how it ended, whether it converged, and the scores of every list beside chance.
local function result_of(set, number, run, test, metric, capped)
  local patient = not capped and run.stopped == "patience"
  local converged = patient or not capped and run.best.epoch <= 0.9 * set.epochs
  local lists = { own = run.scores[metric], chance = chance(metric, test.lists) }
  -- folds by user have the same users, those of queries others, and seeds the same queries
  lists.list = test.users and test.users:double() or mr.arange(1, test.count):double() + (set.seeds and 0 or 1e6 * number)
  return { epoch = run.best.epoch, epochs = #run.history, capped = capped and 1 or 0, converged = converged and 1 or 0,
    valid = run.best.metrics[metric], own = run.test.mean[metric], ndcg = run.test.mean.ndcg, per_list = lists }
end

-- The grid's numbers are those of bounds that count pairs of a relevant row and another, also where labels are graded.
local counts_pairs = { ranknet = true, ranknet_all_pairs = true, direct_ranker = true, hinge = true }
local function loss_of(o) return mr.losses[o.loss]{ bound = o.bound, metric = counts_pairs[o.loss] and "nrbp_loss" or nil } end

-- One run. `o`: loss, bound, number of the fold, rate, and cap in seconds or nil.
local function train(set, o)
  local fold, model, metric = set.fold(o.number), set.model(o.number, o.rate), metric_of(o.loss)
  local loss, began, capped = loss_of(o), 0, false
  if o.cap and set.batch then
    local seconds = epoch_seconds(set, fold, model, loss)
    if seconds > o.cap then error(("an epoch takes about %.0f s, and the cap is %g s"):format(seconds, o.cap), 0) end
  end
  local options = { model = model, loss = loss, train = fold.train, valid = fold.valid, test = fold.test, select = metric,
    metrics = metric == "ndcg" and { "ndcg" } or { metric, "ndcg" }, patience = set.patience, seed = o.number, progress = false,
    each_epoch = function(epoch)
      if epoch == 1 then began = os.clock() end
      capped = o.cap ~= nil and epoch > 1 and os.clock() - began > o.cap
      return not capped
    end }
  if set.batch then
    options.optimizer, options.epochs, options.batch = mr.optim.adam{ lr = o.rate }, set.epochs, set.batch
  end
  return result_of(set, o.number, mr.fit(options), fold.test, metric, capped)
end

-- A space of these losses, each with its bounds.
local function space_of(losses, bounds_of)
  local groups, space = {}, { loss = mr.choice(losses) }
  for _, loss in ipairs(losses) do
    local bounds = bounds_of(loss)
    local key = table.concat(bounds, " ")
    if not groups[key] then
      groups[key] = { bounds = bounds, losses = {} }
      groups[#groups + 1] = groups[key]
    end
    table.insert(groups[key].losses, loss)
  end
  for i, group in ipairs(groups) do space[i] = mr.when("loss", group.losses, { bound = mr.choice(group.bounds) }) end
  return space
end

local function cap_of(args) return not args.full and args.cap or nil end

local function settings_of(args, set)
  return { epochs = set.epochs, patience = set.patience, batch = set.batch, cap = cap_of(args) }
end

-- Bounds under which learning rates are chosen: none, an affine one and one that is not, so that no bound is favoured.
M.tuning = { "none", "minmax", "distribution_logit" }

---Those of them that apply to a loss.
function M.tuned(loss)
  local found = {}
  for _, bound in ipairs((mr.losses.bounds(loss))) do
    for _, name in ipairs(M.tuning) do found[#found + 1] = bound == name and bound or nil end
  end
  return found
end

---Losses under these bounds at one rate, on the first fold; `round`: of the search.
---@return mr.Results
function M.at_rate(args, set, rate, losses, round)
  local cap = cap_of(args) and cap_of(args) / 6
  return kept.study(args, {
    name = ("rates of %s%s, round %d, %g"):format(set.name, args.full and ", full" or "", round, rate),
    settings = settings_of(args, set), space = space_of(losses, M.tuned),
    run = function(trial) return train(set, { loss = trial.loss, bound = trial.bound, number = 1, rate = rate, cap = cap }) end,
  })
end

-- The learning rates of a setting by loss: as chosen, and for made-up data, or where no run of the choice came to its end, one in the middle;
-- and as text, kept with a study's settings, so that changed rates are noticed.
local function rates_of(args, set)
  local chosen, rates, parts = M.chosen[set.name], {}, {}
  if not chosen and not args.smoke then
    error(("rates.lua has no %s: moonrank %slearning_rates.lua --sets %s finds its rates"):format(set.name, here, set.name), 0)
  end
  for i, loss in ipairs(M.losses(args)) do
    rates[loss] = not args.smoke and chosen[loss] or set.rates[2]
    parts[i] = ("%s %g"):format(loss, rates[loss])
  end
  return rates, table.concat(parts, ", ")
end

---Reads all settings and finds their rates: what is missing is an error before the first run.
function M.prepare(args)
  for _, name in ipairs(args.sets) do rates_of(args, M.set(args, name)) end
end

---Every loss under every bound that applies, on every fold (called split, so that it changes fastest). With --kept those that are there, or nil.
---@return mr.Results?
function M.of(args, name)
  local set, cap = M.set(args, name), cap_of(args)
  local space, settings, rates, text = space_of(M.losses(args), mr.losses.bounds), settings_of(args, set), rates_of(args, set)
  space.split, settings.rates = mr.range(1, set.folds), text
  local study = { name = set.name .. (args.full and ", full" or ""), settings = settings, space = space,
    run = function(trial)
      return train(set, { loss = trial.loss, bound = trial.bound, number = trial.split, rate = rates[trial.loss], cap = cap })
    end }
  if args.kept then return kept.there(args, study) end
  return kept.study(args, study)
end

---What a setting lacks whose runs are read as they are (--kept), in a sentence; nil where nothing is missing.
---@param set grid.Setting
---@param results? mr.Results
---@return string?
function M.left(set, results)
  if not results then return ("There are no runs of %s yet."):format(set.title) end
  local ended, planned = kept.progress(results)
  return ended < planned and ("Of %s there are %d of %d runs yet."):format(set.title, ended, planned) or nil
end

---Ends a script that finds no runs at all.
function M.lack(args)
  kept.lack(("%s has no runs of %s; without --kept they are made"):format(args.store, table.concat(args.sets, ", ")))
end

return M
