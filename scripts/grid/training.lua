-- Training runs of the grid experiment: its settings, each a data set with the model that ranks its lists, and studies
-- of runs that choose learning rates, or of every loss under every bound on three folds or with three seeds. A cap on
-- processor time ends long runs; a run's result says whether the cap ended it. Every decision is in protocol.lua.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol, chosen = dofile(here .. "rates.lua") }

-- The settings of the grid experiment (data set and model): the title, the folder of the data, and the number of
-- features (queries) or the function that reads the file (ratings). The slice of MSLR-WEB30K has 102 queries with
-- labels 0 to 4 and a median of 93 documents.
local sources = {
  movielens = { "MF, MovieLens", "ml-latest-small", read = mr.data.movielens },
  citeulike = { "MF, CiteULike-a", "citeulike-a", read = mr.data.citeulike, unary = true },
  mq2008 = { "MLP, MQ2008", "mq2008", 46 }, trees = { "trees, MQ2008", "mq2008", 46 },
  mslr = { "MLP, MSLR slice", "mslr-web-slice", 136 },
}
M.names = { "movielens", "citeulike", "mq2008", "trees", "mslr" }

---Parses the command line of a script that reads stored training runs and makes missing ones. Adds options to the
---script's own: --sets (names of settings), --cap (limit of a run's processor time), --full (no limit), and where data
---and runs are. `smoke` has values of the script's own options under --smoke.
function M.args(own, smoke)
  own.sets = { default = M.names, choices = M.names, help = "which settings" }
  own.cap = { default = 30.0, least = 0.1,
    help = "processor seconds that a run may take after its first epoch; a sixth to choose rates" }
  own.full = { default = false, ignores = { "cap" }, help = "no run ends by a cap" }
  return experiment.args(own, { document = "grid", smoke = smoke })
end

---Names of the losses. With --smoke these are four: a smooth metric, a loss of rows, one of lists and one of pairs.
---@return string[]
function M.losses(args) return args.smoke and { "ap", "mse", "neural_ndcg", "ranknet" } or protocol.losses() end

---@class grid.Setting      a data set, the model that ranks its lists, and how it is trained
---@field title string      names the model and the data; for made-up data it says so
---@field unit string       what a list belongs to: "user" or "query"
---@field folds integer     runs of each loss under each bound: one per fold, or one per seed if there is one split
---@field seeds? boolean    true if the runs share one split and differ by seed
---@field epochs integer    largest number of epochs, or of rounds of trees
---@field patience integer  epochs without a better validation metric after which training ends
---@field batch? integer    lists per step; nil for trees
---@field rates number[]    learning rates that are tried first
---@field least number      the lowest learning rate that may be tried
---@field most number       the highest learning rate that may be tried
---@field fold fun(number: integer): mr.Fold  parts for training, validation and test, by number of the fold or seed
---@field model fun(number: integer, rate: number): mr.Model|mr.Trees  a new model; `number` is its seed

-- Reads the data of a setting from files, or makes up data under --smoke. Returns the folds of queries, or ratings.
local function data_of(args, source)
  if source[3] then
    return experiment.queries(args, source[2], { features = source[3], queries = 40, mean_size = 10 })
  end
  if not args.smoke then return source.read(experiment.place(args, source[2])) end
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 200 }
  return source.unary and ratings:binarize(4) or ratings
end

local opened = experiment.cache()

---Opens a setting by its name, with the options of --data and --smoke. Its files are read only once.
---@param args table
---@param name "movielens"|"citeulike"|"mq2008"|"trees"|"mslr"
---@return grid.Setting
function M.set(args, name)
  if opened[name] then return opened[name] end
  local source = sources[name]
  local set = protocol.sets[name](data_of(args, source), source[3])
  set.name, set.title = name, source[1]
  if args.smoke then
    set.title = ("%s, made-up (%s)"):format(set.title:match "^%w+", name)
    set.folds, set.epochs, set.least, set.most = 1, 2, set.rates[1], set.rates[#set.rates]
  end
  opened[name] = set
  return set
end

-- Estimates the processor seconds of a training epoch from its first minibatch, so that a run that would exceed the cap
-- fails at once. The minibatch is run twice, because the first run also computes tables of bounds that later
-- minibatches reuse.
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

-- Trains and tests one model. `o` has the loss, the bound, the number of the fold or seed, the learning rate, and
-- optionally a cap in processor seconds: training ends once it has taken longer than this since the end of its first
-- epoch.
local function train(set, o)
  local fold, model, metric = set.fold(o.number), set.model(o.number, o.rate), protocol.metric_of(o.loss)
  local loss, began, capped = protocol.loss(o.loss, o.bound), 0, false
  if o.cap and set.batch then
    local seconds = epoch_seconds(set, fold, model, loss)
    if seconds > o.cap then error(("an epoch takes about %.0f s, and the cap is %g s"):format(seconds, o.cap), 0) end
  end
  local run = protocol.train(set, fold, { model = model, loss = loss, metric = metric, rate = o.rate, number = o.number,
    each_epoch = function(epoch)
      if epoch == 1 then began = os.clock() end
      capped = o.cap ~= nil and epoch > 1 and os.clock() - began > o.cap
      return not capped
    end })
  return protocol.outcome(set, run, fold.test, { number = o.number, metric = metric, capped = capped })
end

-- Returns the parameters of a set of training runs: each of `losses` under each bound that `bounds_of(loss)` returns.
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

-- A training run fails if an epoch would take longer than the cap on processor time, or if training diverges. A study
-- accepts these two failures as results; such runs give no cell of the grid and no learning rate.
local function accepts(reason) return reason:find("and the cap is", 1, true) ~= nil or experiment.diverged(reason) end

local function cap_of(args) return not args.full and args.cap or nil end

local function settings_of(args, set)
  return { epochs = set.epochs, patience = set.patience, batch = set.batch, cap = cap_of(args) }
end

---Makes or reads training runs that choose learning rates: losses at one rate on the first fold, under the bounds used
---for choosing.
---@param set grid.Setting
---@param rate number     the learning rate
---@param names string[]  of learning rates: loss, or loss and bound (protocol.rate_names)
---@param round integer   number of the round of the search (search.lua)
---@return mr.Results
function M.at_rate(args, set, rate, names, round)
  local cap, losses, bounds = cap_of(args) and cap_of(args) * protocol.share_of_cap, {}, {}
  for _, name in ipairs(names) do
    local loss, own = protocol.tuned(name)
    if not bounds[loss] then losses[#losses + 1], bounds[loss] = loss, {} end
    table.move(own, 1, #own, #bounds[loss] + 1, bounds[loss])
  end
  return experiment.study(args, {
    name = ("rates of %s%s, round %d, %g"):format(set.name, args.full and ", full" or "", round, rate),
    settings = settings_of(args, set), space = space_of(losses, function(loss) return bounds[loss] end),
    accepts = accepts,
    run = function(trial)
      return train(set, { loss = trial.loss, bound = trial.bound, number = 1, rate = rate, cap = cap })
    end,
  })
end

-- The learning rates of a setting (data set and model), by name: loss, or loss and bound. A name without a chosen rate
-- has the rate of its loss; a loss without a rate has the middle rate of the setting, as do all names if data are made
-- up. Also returns the rates as text, by which changed rates are detected. The third result lists the names without a
-- chosen rate: `of_loss` have the rate of their loss, `middle` have the middle rate.
local function rates_of(args, set)
  local chosen, rates, parts, without = M.chosen[set.name], {}, {}, { of_loss = {}, middle = {} }
  if not chosen and not args.smoke then
    error(("rates.lua has no %s: moonrank %slearning_rates.lua --sets %s finds its rates"):format(
      set.name, here, set.name), 0)
  end
  for i, name in ipairs(protocol.rate_names(M.losses(args))) do
    local of_loss = not args.smoke and chosen[protocol.tuned(name)]
    rates[name] = not args.smoke and chosen[name] or of_loss or set.rates[2]
    parts[i] = ("%s %g"):format(name, rates[name])
    if not args.smoke and not chosen[name] then table.insert(of_loss and without.of_loss or without.middle, name) end
  end
  return rates, table.concat(parts, ", "), without
end

---Reads all settings (data set and model) and their learning rates, so that missing data or rates raise an error before
---the first training run. Prints a line for each setting in which some losses or bounds have no chosen rate.
function M.prepare(args)
  for _, name in ipairs(args.sets) do
    local set = M.set(args, name)
    local _, _, without = rates_of(args, set)
    local said, middle = {}, table.concat(without.middle, ", ")
    if middle ~= "" then
      said[1] = (" %d have the middle rate of the setting, %g (%s)."):format(#without.middle, set.rates[2], middle)
    end
    if #without.of_loss > 0 then
      said[#said + 1] = (" %d have the rate of their loss (%s)."):format(
        #without.of_loss, table.concat(without.of_loss, ", "))
    end
    if #said > 0 then print(("Without a chosen rate in %s:%s"):format(set.title, table.concat(said))) end
  end
end

---Makes or reads the training runs of a setting (data set and model): every loss under every bound that applies, on
---every fold. The fold is the parameter "split", which changes fastest. With --kept no runs are made: returns those in
---the store, or nil if the store has none.
---@param name "movielens"|"citeulike"|"mq2008"|"trees"|"mslr"
---@return mr.Results?
function M.of(args, name)
  local set, cap = M.set(args, name), cap_of(args)
  local space, settings, rates, text = space_of(M.losses(args), protocol.bounds), settings_of(args, set),
    rates_of(args, set)
  space.split, settings.rates = mr.range(1, set.folds), text
  local study = { name = set.name .. (args.full and ", full" or ""), settings = settings, space = space,
    accepts = accepts,
    run = function(trial)
      return train(set, { loss = trial.loss, bound = trial.bound, number = trial.split, cap = cap,
        rate = rates[protocol.rate_name(trial.loss, trial.bound)] })
    end }
  if args.kept then return experiment.there(args, study) end
  return experiment.study(args, study)
end

---A sentence on how many training runs of a setting are in the store, for scripts that only read it (--kept); nil if no
---run is missing.
function M.left(set, results)
  if not results then return ("There are no runs of %s yet."):format(set.title) end
  local ended, planned = experiment.progress(results)
  return ended < planned and ("Of %s there are %d of %d runs yet."):format(set.title, ended, planned) or nil
end

return M
