-- Makes the training runs of optimisers.lua: plain SGD and Adam train the same models on the same data, losses and
-- bounds. Validation on the first fold chooses the learning rate of each optimizer: first among powers of ten, then
-- among the two neighbours of the best power, a factor of sqrt(10) away. All folds are run at the chosen rates.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

-- `epochs` and `patience` are defaults of the options of optimisers.lua: the largest number of epochs, and the number
-- of epochs without a better validation metric after which training ends.
local M = { optimisers = { "adam", "sgd" }, epochs = runs.beside.epochs, patience = runs.beside.patience }

local function train(args, set, trial, exponent)
  local fold, own = set.fold(runs.beside.value, trial.split, args.seed), protocol.metric_of[trial.loss]
  local fitted = protocol.train(set, fold, {
    seed = args.seed, loss = mr.losses[trial.loss]{ bound = protocol.bound(trial.bound, args.samples) },
    optimizer = trial.optimiser, rate = runs.rate(exponent), epochs = args.epochs, patience = args.patience,
    metrics = { own } })
  return protocol.outcome(fitted, fold.test, trial.split, own)
end

local function study(args, name, o)
  local set = runs.set(args, name)
  o.space.loss, o.space.bound = mr.choice(runs.losses), mr.choice(runs.published)
  local settings = { epochs = args.epochs, patience = args.patience, samples = args.samples }
  for key, value in pairs(o.settings or {}) do settings[key] = value end
  return runs.study(args, {
    name = ("%s, %s, seed %d"):format(o.name, name, args.seed),
    settings = settings, space = o.space,
    run = function(trial) return train(args, set, trial, o.exponent(trial)) end,
  })
end

---The key of an optimizer, loss and bound in the tables that `M.tuned` and `M.study` return, e.g. "sgd ndcg minmax".
function M.key(optimiser, loss, bound) return ("%s %s %s"):format(optimiser, loss, bound) end

-- Adds the validation metric of every training run in `results` to `into[key][exponent]`. `key` names optimizer, loss
-- and bound (`M.key`); the learning rate is 10^(exponent / 2). `exponent_of(row, column, key)` returns the exponent of
-- the run in a row.
local function tried(results, exponent_of, into)
  local columns = results:columns()
  local function column(name) return columns:column(name) end
  for _, row in ipairs(columns:rows("runs", {})) do
    local key = M.key(column("optimiser")[row], column("loss")[row], column("bound")[row])
    into[key] = into[key] or {}
    into[key][exponent_of(row, column, key)] = column("valid")[row]
  end
  return into
end

local function chosen(cells)
  local best, parts = {}, {}
  for key, cell in pairs(cells) do
    best[key] = runs.choose(cell)
    parts[#parts + 1] = ("%s %d"):format(key, best[key])
  end
  table.sort(parts)
  return best, table.concat(parts, ", ")
end

---Trains on the first fold at the learning rates of the coarse grid (powers of ten), then at the two neighbours of the
---best rate. Returns the validation metric by optimizer, loss and bound (`M.key`) and by exponent, e.g. found["sgd ndcg
---none"][2], where the learning rate is 10^(exponent / 2).
---@param args table  parsed command line (training.args), with `seed`, `epochs` and `patience`
---@param name "movielens"|"mq2008"
---@return table<string, table<integer, number>>
function M.tuned(args, name)
  local coarse_space = { split = mr.range(1, 1), optimiser = mr.choice(M.optimisers) }
  for i, optimiser in ipairs(M.optimisers) do
    local grid = runs.grids[optimiser]
    coarse_space[i] = mr.when("optimiser", optimiser, {
      exponent = mr.choice(args.smoke and { grid[1], grid[3] } or grid) })
  end
  local coarse = study(args, name, { name = "rates of optimisers", space = coarse_space,
    exponent = function(trial) return trial.exponent end })
  local cells = tried(coarse, function(row, column) return column("exponent")[row] end, {})
  local best, text = chosen(cells)
  local fine = study(args, name, { name = "finer rates of optimisers", settings = { rates = text },
    space = { split = mr.range(1, 1), optimiser = mr.choice(M.optimisers), step = mr.choice(runs.steps) },
    exponent = function(trial) return best[M.key(trial.optimiser, trial.loss, trial.bound)] + trial.step end })
  return tried(fine, function(row, column, key) return best[key] + column("step")[row] end, cells)
end

---Trains on all folds of a data set at the learning rates that validation chose. Returns the results, the exponents of
---the chosen rates by optimizer, loss and bound (`M.key`; a rate is 10^(exponent / 2)), and the result of `M.tuned`.
---@param args table  parsed command line (training.args), with `seed`, `epochs` and `patience`
---@param name "movielens"|"mq2008"
---@return mr.Results results, table<string, integer> exponents, table<string, table<integer, number>> tuned
function M.study(args, name)
  local cells = M.tuned(args, name)
  local best, text = chosen(cells)
  local results = study(args, name, { name = "optimisers", settings = { rates = text },
    space = { split = mr.range(1, runs.set(args, name).folds), optimiser = mr.choice(M.optimisers) },
    exponent = function(trial) return best[M.key(trial.optimiser, trial.loss, trial.bound)] end })
  return results, best, cells
end

return M
