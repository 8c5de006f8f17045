-- Makes the training runs of why_distribution_fails.lua: the nDCG loss on MovieLens under the thesis' distribution
-- bound and alternatives. A run reports which share of training lists has no gradient, before training and after every
-- epoch. It also stores, for each list, the probability that a random ranking is no better than the list's smooth
-- metric when all scores are equal, as before training.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

local M = {}

-- Names of the compared bounds. "thesis" is the thesis' distribution bound, estimated from samples with the steepness
-- of Eq. 3.13; "exact" is the bound of the exact distribution function, smoothed with kappa = 8.
M.bounds = { "none", "thesis", "exact", "distribution_log", "distribution_logit" }

local function bound_of(args, name)
  return name == "thesis" and protocol.bound("distribution", args.samples) or name == "exact" and "distribution" or name
end

local function whole(dataset)
  local next_batch = dataset:batches{ size = dataset.count }
  return next_batch()
end

-- For each list, the probability that a random ranking has a metric no better than the smooth metric at equal scores,
-- where training starts. `smooth` computes the smooth metric. Lists with only one grade are left out.
local function starts(lists, metric, smooth)
  local alike = mr.zeros({ lists.rows }, { dtype = "float64" })
  local value, n, p = smooth(alike, lists):totable(), lists.sizes:totable(), lists.relevant:totable()
  local known, below = {}, {}
  for l, s in ipairs(value) do
    if p[l] > 0 and p[l] < n[l] then
      local shape = n[l] .. " " .. p[l]
      known[shape] = known[shape] or mr.bounds.distribution(metric, {
        n = math.tointeger(n[l]), p = math.tointeger(p[l]) }):cdf(s)
      below[#below + 1] = known[shape]
    end
  end
  return mr.tensor(below, { dtype = "float64" })
end

-- The share of lists whose bounded nDCG has zero derivative at the model's current scores, so that training ignores
-- these lists.
local function share_without_gradient(bound, model, batch)
  local found = mr.no_grad(function() return model(batch) end)
  local value = mr.smooth.ndcg(found:double(), batch.lists):requires_grad()
  mr.bounds.resolve(bound).apply(value, "ndcg", batch.lists):sum():backward()
  local without, counted = 0, 0
  local weights = mr.bounds.weights("ndcg", batch.lists):totable()
  for l, slope in ipairs(value.grad:totable()) do
    counted = counted + weights[l]
    if weights[l] == 1 and math.abs(slope) < 1e-12 then without = without + 1 end
  end
  return without / counted
end

-- Trains and tests one model. The run without a bound also stores, for each list, at which value of its distribution
-- function training starts; this value is the same for all bounds.
local function run(args, set, trial)
  local fold, bound = set.fold(trial.nsr, trial.split, args.seed), bound_of(args, trial.bound)
  local rates, batch = runs.rates.movielens.ndcg, whole(fold.train)
  local fitted = protocol.train(set, fold, { seed = args.seed, loss = mr.losses.ndcg{ bound = bound },
    rate = rates[trial.bound] or rates.distribution, metrics = { protocol.metric_of.ndcg },
    each_epoch = function(epoch, model)
      trial:report(epoch, { silent = share_without_gradient(bound, model, batch) })
    end })
  local result = protocol.outcome(fitted, fold.test, trial.split, protocol.metric_of.ndcg)
  if trial.bound == "none" then
    result.per_list.start_ndcg = starts(batch.lists, "ndcg", mr.smooth.ndcg)
    result.per_list.start_ap = starts(batch.lists, "ap", mr.smooth.ap)
    result.per_list.start_nrbp = starts(batch.lists, "nrbp_loss", mr.smooth.nrbp_loss)
  end
  return result
end

---The results of the training runs on MovieLens, one run per NSR (negatives per relevant item), bound and fold. Runs
---that are not yet stored are made.
---@param args table  parsed command line (training.args), with a `seed`
---@return mr.Results
function M.study(args)
  local set = runs.set(args, "movielens")
  return runs.study(args, {
    name = ("silent lists, seed %d"):format(args.seed),
    settings = { epochs = set.epochs, rates = runs.rates_text("movielens") },
    space = { nsr = mr.choice(set.values), bound = mr.choice(M.bounds), split = mr.range(1, set.folds) },
    run = function(trial) return run(args, set, trial) end,
  })
end

return M
