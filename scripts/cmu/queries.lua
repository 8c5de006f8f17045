-- Web queries and the training runs of systems on them, for the scripts on section 4.1 of Li & Wu (table_1.lua,
-- differences.lua and figure_1.lua). protocol.lua has the decisions.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol }

---Parses the command line: options of data, seeds and stored training runs, and the script's own options `own`.
function M.args(own)
  own.sets = { default = { "mslr", "mq2008" }, choices = { "mslr", "mq2008", "web10k" }, distinct = true,
    help = "which data: the slice of MSLR-WEB that comes with the project's data, MQ2008, or MSLR-WEB10K itself" }
  own.seeds = { default = { 1, 2, 3 }, least = 0, most = 0x7fffffff, distinct = true,
    help = "of weights, order of documents and what trees draw" }
  own.epochs = { default = 60, least = 1, help = "of networks, at most; the best by validation counts" }
  own.rounds = { default = 200, least = 1, most = 0x7fffffff, help = "of boosting, at most" }
  own.trees = { default = 300, least = 1, most = 0x7fffffff, help = "of the random forest" }
  own.data = { path = "data folder", default = "",
    help = "folder of mslr-web-slice, mq2008, MSLR-WEB10K", shown = "where the program looks for data" }
  return experiment.args(own, { document = "cmu",
    smoke = { sets = { "mslr" }, seeds = { 1 }, epochs = 2, rounds = 3, trees = 5 } })
end

local folders = { mslr = "mslr-web-slice", mq2008 = "mq2008", web10k = "MSLR-WEB10K" }
local titles = { mslr = "MSLR slice", mq2008 = "MQ2008", web10k = "MSLR-WEB10K" }
local opened = experiment.cache()

-- Opens a data set, once. Trials (training runs) call this local function. If they called M.set instead, the code of
-- all functions of `M` would be part of the trials' code, and a change of any of them would make stored trials stale.
local function set_of(args, name)
  if not opened[name] then
    local made_up = args.smoke and { features = 6, queries = 60, mean_size = 12 } or nil
    local folds = experiment.queries(args, folders[name], made_up)
    opened[name] = { title = args.smoke and "made-up queries" or titles[name], folds = #folds,
      fold = function(number) return protocol.fold(folds, number) end }
  end
  return opened[name]
end

---Opens a data set by the name that --sets takes. Its folds have standardised features and labels 0 and 1.
---@return { title: string, folds: integer, fold: fun(number: integer): mr.Fold }
M.set = set_of

---Makes or reads the runs of all systems on all folds of a data set. Returns them, and for each system's title a table
---with the learning rate (`rate`) that was chosen on the first fold with the first seed, among those that converge. A
---run has the parameters "system" (its title), "split" (fold), and "draw" (seed) if it uses random numbers.
---@return mr.Results, table<string, { rate?: number }>
function M.runs(args, name)
  local space, drawn, seed = {}, {}, args.seeds[1]
  for _, system in ipairs(protocol.systems) do
    local rates = system.by.rates and (args.smoke and { 0.01 } or system.by.rates)
    space[system.title] = rates and { rate = mr.choice(rates) } or {}
    drawn[#drawn + 1] = system.drawn and system.title or nil
  end
  -- Trains and tests a system on a fold. With `trial`, a network reports its loss and validation nDCG@10 to the trial
  -- after every epoch.
  local function run_of(title, split, rate, own_seed, trial)
    local system, fold = protocol.named[title], set_of(args, name).fold(split)
    local found = protocol.fit(fold, { system = system.name, optimiser = system.by.optimiser,
      rate = rate or system.by.rate, seed = own_seed, epochs = args.epochs, rounds = args.rounds, trees = args.trees,
      penalties = args.smoke and { 1 } or nil }, system.recipe and trial)
    return { valid = found.valid, epoch = found.epoch, alpha = found.alpha,
      [protocol.metric] = found.test.mean[protocol.metric],
      per_list = { own = found.test[protocol.metric], list = protocol.list_names(fold, split) } }
  end
  return experiment.tuned(args, { name = "systems, " .. name, by = "system", space = space,
    settings = { epochs = args.epochs, rounds = args.rounds, trees = args.trees, seed = seed },
    beside = { split = mr.range(1, set_of(args, name).folds),
      mr.when("system", drawn, { draw = mr.choice(args.seeds) }) },
    choose = function(trial) return run_of(trial.system, protocol.tuned_on, trial.rate, seed) end,
    run = function(trial, at) return run_of(trial.system, trial.split, at.rate, trial.draw or seed, trial) end,
    accepts = experiment.diverged })
end

return M
