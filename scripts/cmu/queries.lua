-- Web search queries, and the training runs of the systems that rank their documents, for Table 1 and Figure 1 of Li &
-- Wu (section 4.1). protocol.lua defines which documents are relevant, how systems are trained and what validation
-- chooses.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local folds_of = require "moonrank.data.fold"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol }

local function made_up()
  local train, test = mr.data.synthetic{ kind = "queries", queries = 60, features = 6, mean_size = 12 }
    :split{ share = 0.4 }
  local rest, valid = train:split{ share = 0.4 }
  return { folds_of.new{ train = rest, valid = valid, test = test, number = 1, k = 1, title = "made-up queries" } }
end

-- Data sets by the name that --sets takes, each with its folder and its title.
local sets = {
  mslr = { folder = "mslr-web-slice", title = "MSLR slice" },
  mq2008 = { folder = "mq2008", title = "MQ2008" },
  web10k = { folder = "MSLR-WEB10K", title = "MSLR-WEB10K" },
}
M.names = { "mslr", "mq2008", "web10k" }

---Parses the command line of table_1.lua or figure_1.lua: options of data, seeds and stored training
---runs, and the script's own options `own`.
function M.args(own)
  own.sets = { default = { "mslr", "mq2008" }, choices = M.names, distinct = true,
    help = "which data: the slice of MSLR-WEB that comes with the project's data, MQ2008, or MSLR-WEB10K itself" }
  own.seeds = { default = { 1, 2, 3 }, distinct = true, help = "of weights, order of documents and what trees draw" }
  own.epochs = { default = 60, least = 1, help = "of networks, at most; the best by validation counts" }
  own.rounds = { default = 200, least = 1, help = "of boosting, at most" }
  own.trees = { default = 300, least = 1, help = "of the random forest" }
  own.data = { path = "data folder", default = "",
    help = "folder of mslr-web-slice, mq2008, MSLR-WEB10K", shown = "where the program looks for data" }
  local args = experiment.args(own, { document = "cmu",
    smoke = { sets = { "mslr" }, seeds = { 1 }, epochs = 2, rounds = 3, trees = 5 } })
  return args
end

local opened, made = experiment.cache(), experiment.cache()

-- Opens a data set by its name. Trials use this local function and not `M`, because all functions of `M`
-- would then count as code of the trials.
local function set_of(args, name)
  if not opened[name] then
    local path = (args.data ~= "" and args.data .. "/" or "") .. sets[name].folder
    local folds = args.smoke and made_up() or mr.data.letor_folds(path)
    opened[name] = { title = args.smoke and "made-up queries" or sets[name].title, folds = #folds,
      fold = function(number)
        local key = ("%s %d"):format(name, number)
        made[key] = made[key] or protocol.fold(folds, number)
        return made[key]
      end }
  end
  return opened[name]
end

---Opens a data set by the name that --sets takes. Returns its title, its number of folds, and a
---function that returns a fold with standardised features and labels 0 and 1.
---@return { title: string, folds: integer, fold: fun(number: integer): mr.Fold }
M.set = set_of

-- Trains and tests one system (ranker or classifier) on one fold of data set `name`. A network reports its loss and
-- validation nDCG@10 to the sweep's trial after every epoch.
local function run_of(args, name, o, trial)
  local fold = set_of(args, name).fold(o.split)
  o.epochs, o.rounds, o.trees, o.penalties = args.epochs, args.rounds, args.trees, args.smoke and { 1 } or nil
  local found = protocol.fit(fold, o, trial)
  return { valid = found.valid, epoch = found.epoch, alpha = found.alpha,
    [protocol.metric] = found.test.mean[protocol.metric],
    per_list = { own = found.test[protocol.metric], list = protocol.list_names(fold, o.split) } }
end

---Returns the training runs that choose learning rates on data set `name`: every network at every rate,
---with the first seed on the first fold. A rate at which training diverges counts as validation value
---0. Missing runs are made.
---@return mr.Results
function M.tuning(args, name)
  local number, seed = protocol.tuned_on(args.seeds)
  local space = { system = mr.choice(protocol.networks), optimiser = mr.choice(protocol.optimisers),
    split = mr.range(number, number) }
  for _, optimiser in ipairs(protocol.optimisers) do
    space[#space + 1] = mr.when("optimiser", optimiser, {
      rate = mr.choice(args.smoke and { 0.01 } or protocol.rates[optimiser]) })
  end
  return experiment.study(args, {
    name = "rates, " .. name, settings = { epochs = args.epochs, seed = seed }, space = space,
    run = function(trial)
      return protocol.or_diverged(function()
        return run_of(args, name, {
          system = trial.system, optimiser = trial.optimiser, rate = trial.rate, split = trial.split,
          seed = seed })
      end)
    end,
  })
end

-- Returns the trials (training runs) of a study as Lua tables, each with the fields that `names` lists.
local function trials_of(results, names)
  local columns, found = results:columns(), {}
  for i, row in ipairs(columns:rows("runs", {})) do
    found[i] = {}
    for _, name in ipairs(names) do found[i][name] = columns:column("runs", name)[row] end
  end
  return found
end

---Returns the learning rate with the best validation value for each network and optimizer, by keys such
---as "RankNet adam". `at_edge` is true for a key whose best rate is the smallest or largest that was
---tried. `name` is the data set.
---@return table<string, number> best, table<string, boolean> at_edge
function M.best_rates(args, name)
  return protocol.best_rates(trials_of(M.tuning(args, name), { "system", "optimiser", "rate", "valid" }))
end

---Returns the training runs of all systems (rankers, classifiers) of Table 1 on data set `name`, on all
---folds with all seeds. Missing runs are made. A run has the parameters "system" and "split" (fold).
---Networks also have "recipe" (optimizer and choice of rate); systems that use random numbers also have
---"draw" (seed).
---@return mr.Results results, table<string, number> best_rates, table<string, boolean> at_edge
function M.runs(args, name)
  local best, at_edge = M.best_rates(args, name)
  local systems, text = { table.unpack(protocol.networks) }, {}
  table.move(protocol.others, 1, #protocol.others, #systems + 1, systems)
  for key, rate in pairs(best) do text[#text + 1] = ("%s %g"):format(key, rate) end
  table.sort(text)
  local seeds = mr.choice(args.seeds)
  local results = experiment.study(args, {
    name = "systems, " .. name,
    settings = { epochs = args.epochs, rounds = args.rounds, trees = args.trees, rates = table.concat(text, ", ") },
    space = { system = mr.choice(systems), split = mr.range(1, M.set(args, name).folds),
      mr.when("system", protocol.networks, { recipe = mr.choice(protocol.recipes), draw = seeds }),
      mr.when("system", protocol.drawn, { draw = seeds }) },
    run = function(trial)
      local o = { system = trial.system, split = trial.split, seed = trial.draw or args.seeds[1] }
      if not trial.recipe then return run_of(args, name, o) end
      o.optimiser, o.rate = protocol.trained_by(trial.recipe, trial.system, best)
      return run_of(args, name, o, trial)
    end,
  })
  return results, best, at_edge
end

return M
