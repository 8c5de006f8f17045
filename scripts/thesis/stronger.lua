-- Makes the training runs of stronger_models.lua. MQ2008 (labels 1 and 2 are relevant) is ranked by a linear model, the
-- thesis' network, a deeper network, and one with self-attention among documents. Validation on the first fold, without
-- a bound, chooses the learning rate of each model and loss.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")

local M = { names = { "linear", "46", "92-46-23", "self-attention" },
  bounds = { "none", "minmax", "expectation", "distribution_logit" } }

local models = {
  linear = function(seed) return mr.models.linear{ inputs = 46, seed = seed } end,
  ["46"] = function(seed) return mr.models.mlp{ inputs = 46, hidden = { 46 }, seed = seed } end,
  ["92-46-23"] = function(seed) return mr.models.mlp{ inputs = 46, hidden = { 92, 46, 23 }, seed = seed } end,
  ["self-attention"] = function(seed)
    return mr.models.self_attention{ inputs = 46, width = 32, heads = 2, blocks = 2, dropout = 0.1, seed = seed }
  end,
}

---Returns the number of epochs and the number of folds of the experiment; both are small with --smoke.
function M.extent(args)
  return args.smoke and 2 or runs.beside.epochs, args.smoke and 1 or runs.set(args, "mq2008").folds
end

local function study(args, name, space, rate_of)
  local data, epochs = runs.set(args, "mq2008"), (M.extent(args))
  space.loss = mr.choice(runs.losses)
  return runs.study(args, {
    name = ("%s, seed %d"):format(name, args.seed),
    settings = { epochs = epochs, recipe = args.recipe }, space = space,
    run = function(trial)
      local set = setmetatable({ epochs = epochs, model = function(_, seed) return models[trial.model](seed) end },
        { __index = data })
      return runs.train(args, set, {
        value = runs.beside.value, loss = trial.loss, bound = trial.bound, fold = trial.split,
        seed = args.seed, rate = rate_of(trial) })
    end,
  })
end

---Trains the models whose results are not yet stored. Returns the test results of all training runs, and by model and
---loss (key "linear ap") the learning rate that validation chose with its validation metric.
---@param args table  parsed command line (training.args), with a `seed`
---@return mr.Results results, table<string, { rate: number, valid: number }> rates
function M.study(args)
  local tuned = study(args, "rates of stronger models", { model = mr.choice(M.names), bound = mr.choice{ "none" },
    split = mr.range(1, 1), rate = mr.choice(runs.set(args, "mq2008").rates) }, function(trial) return trial.rate end)
  local columns, valid, best = tuned:columns(), {}, {}
  for _, row in ipairs(columns:rows("runs", {})) do
    local key = columns:column("model")[row] .. " " .. columns:column("loss")[row]
    valid[key] = valid[key] or {}
    valid[key][columns:column("rate")[row]] = columns:column("valid")[row]
  end
  for key, by_rate in pairs(valid) do
    local rate = runs.choose(by_rate)
    best[key] = { valid = by_rate[rate], rate = rate }
  end
  local _, folds = M.extent(args)
  local results = study(args, "stronger models", { model = mr.choice(M.names), bound = mr.choice(M.bounds),
    split = mr.range(1, folds) }, function(trial) return best[trial.model .. " " .. trial.loss].rate end)
  return results, best
end

return M
