-- Makes and reads the training runs that reproduce Tang et al. (2023), in a store (a file of finished runs). Runs are
-- grouped in studies: one for each data set and recipe ("paper": as the text says, "code": as the authors' code does).
-- protocol.lua defines what a run does.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local protocol, data = dofile(here .. "protocol.lua"), dofile(here .. "data.lua")
local measures, published = protocol.measures, dofile(here .. "published.lua").table_1

local M = { protocol = protocol, data = data, measures = measures }

---Parses the command line of a script: its own options, --recipe, --seed, and options of where data and stored training
---runs are. `more.smoke` has values that --smoke gives to the script's own options. `more.without` lists which of the
---options "recipe" and "seed" the script does not have.
---@param own table  declarations of the script's own options, for mr.args
---@param more? { smoke?: table<string, any>, without?: string[] }
function M.args(own, more)
  own.recipe = { default = "paper", choices = { "paper", "code" },
    help = "our protocol, on the data sets' official folds, or what the authors' code does, on random splits" }
  own.seed = { default = 1, help = "of networks; recipe code: the first of three, of splits and networks" }
  for _, name in ipairs(more and more.without or {}) do own[name] = nil end
  return experiment.args(own, { document = "objectives", smoke = more and more.smoke })
end

local opened = experiment.cache()

---Opens a data set by its name, with the options of --data and --smoke. Its files are read only once.
---@param args table  parsed command line (`M.args`)
---@param name "mq2008"|"mslr"|"web10k"
---@return objectives.Data
function M.set(args, name)
  opened[name] = opened[name] or data.open(name, args.data, args.smoke)
  return opened[name]
end

---The training settings of an algorithm (`name`) for a data set, as the paper's text says or as the authors' code does
---(--recipe paper or code).
---@param args table  parsed command line (`M.args`)
---@param set objectives.Data
---@param name string
---@return objectives.Settings
function M.settings(args, set, name) return protocol.settings(name, args.recipe, set, args.smoke) end

-- The numbers of a training run that are stored: the mean of each metric over queries, the numbers of counted queries
-- and of queries skipped because they have no relevant document, and the fields of `more`.
local function result_of(values, more)
  local result = more or {}
  for name, mean in pairs(measures.means(values)) do result[name] = mean end
  result.counted = math.tointeger(values.ap:eq(values.ap):double():sum():item())
  result.skipped = #values.ap - result.counted
  return result
end

-- Adds the arrays `training` and `held_out`, the losses by epoch, to `per_list`, the arrays that are stored with a
-- training run.
local function with_curves(per_list, run)
  local training, held_out = {}, {}
  for i, entry in ipairs(run.history) do training[i], held_out[i] = entry.loss, entry.valid_loss end
  per_list.training, per_list.held_out = mr.tensor(training, { dtype = "float64" }),
    mr.tensor(held_out, { dtype = "float64" })
  return per_list
end

-- Trains and tests one algorithm on one fold as the paper's text says (--recipe paper). The result has metrics by query
-- and the losses by epoch.
local function honest(args, set, trial)
  local run, queries = protocol.fit_paper(set, trial, args.seed, args.smoke)
  local values = {}
  for _, name in ipairs(measures.names) do values[name] = run.scores[name] end
  return result_of(values, { valid = protocol.valid_of(run), epoch = run.best.epoch, trained_on = queries,
    per_list = with_curves(values, run) })
end

-- Trains one algorithm as the authors' code does (--recipe code), for its learning curves. The result has the losses by
-- epoch.
local function their_curves(args, set, trial)
  local run = protocol.fit_curves(set, trial, args.smoke)
  return { valid = protocol.valid_of(run), per_list = with_curves({}, run) }
end

-- Trains one algorithm as the authors' code does (--recipe code). The result has metrics as that code evaluates them,
-- as it means to evaluate them (names begin with "meant "), and metrics of random orders ("random ").
local function as_they_did(args, set, trial)
  local test, scores, queries = protocol.fit_code(set, trial, args.smoke)
  local name = trial.algorithm
  local result = result_of(protocol.as_coded(set, name, scores, test.lists), { trained_on = queries })
  local function add(before, values)
    for metric, mean in pairs(measures.means(values)) do result[before .. metric] = mean end
  end
  add("meant ", measures.code(scores, test.lists, protocol.meant(name)))
  add("random ", measures.random(test.lists))
  return result
end

---Names of the algorithms that are trained on a data set: all with --recipe paper; with --recipe code those with
---numbers in Table 1 of the paper.
---@param args table  parsed command line (`M.args`)
---@param set objectives.Data
---@return string[]
function M.algorithms_of(args, set)
  local found, name = {}, set.kind == "mslr" and "web10k" or set.kind
  for _, each in ipairs(protocol.names) do
    if args.recipe == "paper" or published[name][each] then found[#found + 1] = each end
  end
  return found
end

-- Makes a table that gives a parameter or a stored number of one training run by its name. `row` is the run's row in
-- `columns`.
local function record(columns, row)
  return setmetatable({}, { __index = function(_, name) return columns:column("runs", name)[row] end })
end

---The training runs (trials) of an algorithm, ordered by number. Each is a table that gives the run's parameters and
---stored numbers by name.
---@param results mr.Results
---@param algorithm string
function M.trials(results, algorithm)
  local columns, found = results:columns(), {}
  for _, row in ipairs(columns:rows("runs", { algorithm = algorithm })) do found[#found + 1] = record(columns, row) end
  table.sort(found, function(a, b) return a.number < b.number end)
  return found
end

-- Opens or makes the study (set of stored training runs) of a data set as --recipe says.
local function study(args, name, o)
  local set = M.set(args, name)
  o.space.algorithm = mr.choice(M.algorithms_of(args, set))
  local run = o.run
  return experiment.study(args, {
    name = ("%s, recipe %s%s, seed %d"):format(name, args.recipe, o.what or "", args.seed),
    settings = { recipe = args.recipe, filter = set.least }, metric = o.metric, space = o.space,
    run = function(trial) return run(args, set, trial) end })
end

local function seeds_of(args) return { seeds = mr.choice(protocol.seeds(args.seed, args.smoke)) } end

---The training runs of all algorithms on a data set, as the paper's text says or as the authors' code does (--recipe
---paper or code). Missing runs are made.
---@param args table  parsed command line (`M.args`)
---@param name "mq2008"|"mslr"|"web10k"
---@return mr.Results
function M.of(args, name)
  if args.recipe == "code" then
    return study(args, name, { run = as_they_did, metric = "ndcg+1", space = seeds_of(args) })
  end
  return study(args, name, { run = honest, metric = "valid",
    space = { rate = mr.choice(protocol.rates), split = mr.range(1, #M.set(args, name).folds) } })
end

---Training runs with learning curves for all algorithms on a data set. With --recipe paper they are the runs of `M.of`;
---with --recipe code they are other runs, which hold out 30 % of the training part. Missing runs are made.
---@param args table  parsed command line (`M.args`)
---@param name "mq2008"|"mslr"|"web10k"
---@return mr.Results
function M.curves_of(args, name)
  if args.recipe == "paper" then return M.of(args, name) end
  return study(args, name, { run = their_curves, metric = "valid", what = ", curves", space = seeds_of(args) })
end

return M
