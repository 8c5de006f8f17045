-- The protocol of the grid: every decision behind its numbers, as a function or a value that the scripts use. There is
-- no paper: the question is which losses gain from the bounds of Westerborg (2022), whose sections are named where the
-- grid does as the thesis.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local cache = dofile(here .. "../kept_runs.lua").cache

local M = {}

-- Data sets, their parts and models ---------------------------------------------------------------------------------

-- Caches the results of a function of a number.
local function once(make)
  local made = cache()
  return function(number)
    made[number] = made[number] or make(number)
    return made[number]
  end
end

-- Users with 25 relevant items or more (section 4.2), three of five folds by user, as many other items as relevant ones
-- in each list.
local function of_users(relevance)
  local ratings = relevance:min_relevant(25)
  return {
    unit = "user", folds = 3, epochs = 200, patience = 10, batch = 32, rates = { 0.003, 0.01, 0.03 }, least = 0.00001,
      most = 10,
    fold = once(function(number) return ratings:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[number] end),
    model = function(number)
      return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 32, init = 0.01, seed = number }
    end,
  }
end

-- A network of one hidden layer (section 4.1.1) on the first three published folds, features standardised by the
-- training part; grades are as the data have them.
local function of_queries(folds, columns)
  return {
    unit = "query", folds = 3, epochs = 200, patience = 20, batch = 32, rates = { 0.001, 0.003, 0.01 },
      least = 0.00001, most = 1,
    fold = once(function(number) return folds[math.min(number, #folds)]:standardize() end),
    model = function(number) return mr.models.mlp{ inputs = columns, hidden = { 46 }, activation = "relu",
      seed = number } end,
  }
end

---A setting's protocol from what was read of its data: ratings, or folds of queries and the number of their features.
M.sets = { mq2008 = of_queries }

---Section 4.2: ratings of 4 and more are relevant.
function M.sets.movielens(ratings) return of_users(ratings:binarize(4)) end

---Every item in a user's library is relevant.
function M.sets.citeulike(ratings) return of_users(ratings:binarize(1)) end

---Trees of depth 5, which need no standardised features; a rate is the share of each tree.
function M.sets.trees(folds, columns)
  local set = of_queries(folds, columns)
  set.batch, set.rates = nil, { 0.03, 0.1, 0.3 }
  set.fold = function(number) return folds[math.min(number, #folds)] end
  set.model = function(number, rate) return mr.models.trees{ rounds = set.epochs, depth = 5, eta = rate,
    seed = number } end
  return set
end

---One split with few and long lists, in small batches: three seeds of the network take the place of folds.
function M.sets.mslr(folds, columns)
  local set = of_queries(folds, columns)
  set.batch, set.seeds = 4, true
  return set
end

---The names by which test lists are paired with themselves in other runs. A user has one name in all folds. A query has
---one name for each fold, and one in all runs of seeds.
---@param test mr.Dataset
---@param number integer  of the fold or seed
function M.list_names(set, test, number)
  return test.users and test.users:double() or mr.arange(1, test.count):double() + (set.seeds and 0 or 1e6 * number)
end

-- Training ----------------------------------------------------------------------------------------------------------

-- Losses with options of the grid. Bounds of those that count pairs are of pairs of a relevant row and another, also
-- where labels are graded.
local options_of = {
  ranknet = { metric = "nrbp_loss" }, ranknet_all_pairs = { metric = "nrbp_loss" },
    direct_ranker = { metric = "nrbp_loss" },
  hinge = { metric = "nrbp_loss" },
}

-- Losses that the library has under another name: LambdaRank of further metrics, and RankNet that counts pairs of
-- unequal grades so often that in each list the targets are balanced.
local variants = {
  lambdarank_ap = { "lambdarank", metric = "ap" }, lambdarank_rr = { "lambdarank", metric = "rr" },
  lambdarank_nrbp = { "lambdarank", metric = "nrbp(0.95)" }, lambdarank_precision = { "lambdarank",
    metric = "precision@5" },
  ranknet_upsampled = { "ranknet_all_pairs", metric = "nrbp_loss", upsample = "list" },
}

-- The library's name of a loss, and its options.
local function parts_of(name)
  local options = {}
  for key, value in pairs(variants[name] or options_of[name] or {}) do options[key] = value end
  return table.remove(options, 1) or name, options
end

---Names of all losses of the grid: the library's and the variants.
---@return string[]
function M.losses()
  local names = {}
  for _, name in ipairs(mr.losses.names()) do names[#names + 1] = name end
  for name in pairs(variants) do names[#names + 1] = name end
  table.sort(names)
  return names
end

---A loss of the grid under a bound.
---@return mr.Loss
function M.loss(name, bound)
  local library_name, options = parts_of(name)
  options.bound = bound
  return mr.losses[library_name](options)
end

---Names of the bounds that apply to a loss.
---@return string[]
function M.bounds(name) return (mr.losses.bounds(parts_of(name))) end

---The metric by which a loss is chosen and judged: its own, where it is known what random rankings are worth, else
---nDCG.
---@param name string  of the loss
---@return string
function M.metric_of(name)
  local metric = mr.metrics.parse(M.loss(name).metric)
  return metric.closed_forms and not metric.minimize and metric.name or "ndcg"
end

---Bounds under which the learning rate of a loss is chosen: none, an affine one and one that is not, so that no bound
---is favoured. Under the bounds of M.apart, which do most of the harm, a loss has a rate of its own.
M.tuning = { "none", "minmax", "distribution_logit" }
M.apart = { "distribution", "distribution_log" }

---The name of the learning rate of a loss under a bound: the loss, with the bound where it has a rate of its own.
function M.rate_name(loss, bound)
  for _, apart in ipairs(M.apart) do
    if bound == apart then return loss .. " " .. bound end
  end
  return loss
end

---The loss of a learning rate's name, and the bounds under which the rate is chosen, of those that apply.
---@return string loss
---@return string[] bounds
function M.tuned(name)
  local loss, apart = name:match "^(%S+) ?(%S*)$"
  local found = {}
  for _, bound in ipairs(M.bounds(loss)) do
    for _, tuning in ipairs(apart ~= "" and { apart } or M.tuning) do
      found[#found + 1] = bound == tuning and bound or nil
    end
  end
  return loss, found
end

---Names of the learning rates of losses.
---@param losses string[]
---@return string[]
function M.rate_names(losses)
  local names, known = {}, {}
  for _, loss in ipairs(losses) do
    for _, bound in ipairs{ "none", table.unpack(M.bounds(loss)) } do
      local name = M.rate_name(loss, bound)
      if not known[name] then names[#names + 1], known[name] = name, true end
    end
  end
  return names
end

---The mean of the metric on validation by learning rate's name, over the bounds that it is chosen under; none where a
---run failed.
---@param trials { loss: string, bound: string, valid: number }[]
---@return table<string, number>
function M.means(trials)
  local sums, counts, means = {}, {}, {}
  for _, trial in ipairs(trials) do
    local name = M.rate_name(trial.loss, trial.bound)
    sums[name], counts[name] = (sums[name] or 0) + trial.valid, (counts[name] or 0) + 1
  end
  for name, sum in pairs(sums) do
    local _, bounds = M.tuned(name)
    if counts[name] == #bounds then means[name] = sum / #bounds end
  end
  return means
end

---One training by Adam (section 4.3), of which the loss's metric on validation chooses the epoch; trees have an
---optimizer of their own.
---@param set grid.Setting
---@param fold mr.Fold
---@param o { model: mr.Model|mr.Trees, loss: mr.Loss, metric: string, rate: number, number: integer }  and each_epoch
---@return mr.Run
function M.train(set, fold, o)
  local options = { model = o.model, loss = o.loss, train = fold.train, valid = fold.valid, test = fold.test,
    select = o.metric,
    metrics = o.metric == "ndcg" and { "ndcg" } or { o.metric, "ndcg" }, patience = set.patience, seed = o.number,
      progress = false,
    each_epoch = o.each_epoch }
  if set.batch then
    options.optimizer, options.epochs, options.batch = mr.optim.adam{ lr = o.rate }, set.epochs, set.batch
  end
  return mr.fit(options)
end

---The share of the cap on a run's seconds that limits runs for the choice of rates.
M.share_of_cap = 1 / 6

---True if a training converged: it ended because validation became no better, or all epochs ran and
---the best is not among the last tenth. A training that the cap ended did not converge.
---@param run { stopped: string|false, best: { epoch: integer } }
---@param set { epochs: integer }
---@param capped boolean  whether the cap on its seconds ended it
function M.converged(run, set, capped)
  if capped then return false end
  return run.stopped == "patience" or run.best.epoch <= 0.9 * set.epochs
end

-- Statistics --------------------------------------------------------------------------------------------------------

---The expected metric of random rankings of each list.
function M.chance(metric, lists) return mr.bounds.stats(metric, lists).expectation end

---The result of a training that a study stores: epochs, how it ended, the number that chose the
---epoch, test means, and the scores of every list beside those expected of random rankings.
---@param run mr.Run
---@param test mr.Dataset
---@param o { number: integer, metric: string, capped: boolean }
---@return table<string, any>
function M.outcome(set, run, test, o)
  return { epoch = run.best.epoch, epochs = #run.history, capped = o.capped and 1 or 0,
    converged = M.converged(run, set, o.capped) and 1 or 0, valid = run.best.metrics[o.metric],
      own = run.test.mean[o.metric],
    ndcg = run.test.mean.ndcg, per_list = { own = run.scores[o.metric], chance = M.chance(o.metric, test.lists),
      list = M.list_names(set, test, o.number) } }
end

---The mean of users' or queries' scores above those expected of random rankings, and its 95 %
---bootstrap interval. Lists without a metric are left out.
---@param values number[]
---@param chance number[]
---@return { mean: number, low: number, high: number }
function M.beyond(values, chance)
  local differences = {}
  for i, value in ipairs(values) do
    local difference = value - chance[i]
    if difference == difference then differences[#differences + 1] = difference end
  end
  local interval = mr.stats.bootstrap(differences, { samples = 2000 })
  return { mean = mr.stats.mean(differences), low = interval.low, high = interval.high }
end

---True if a cell ranks better than at random.
---@param cell { low: number }  of M.beyond
function M.above_chance(cell) return cell.low > 0 end

---True if a cell counts in summaries: all its runs converged, none was ended by the cap, and it
---ranks better than at random.
---@param cell { low: number, converged: boolean, capped: integer }
function M.sound(cell) return cell.converged and cell.capped == 0 and M.above_chance(cell) end

-- Keys, in order, of the bounded cells whose loss also has a cell without a bound.
local function with_partner(cells)
  local keys = {}
  for key, cell in pairs(cells) do
    if cell.bound ~= "none" and cells[cell.loss .. " none"] then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

---Changes against no bound of the same loss, paired by user or query, with p-values of permutation tests corrected by
---Holm over all cells of all settings. A change is `summarised` where the cell and that without a bound are sound.
---@param grids table<string, grid.Cell>[]
---@param orders integer  of signs, of the permutation tests
---@return grid.Cell[]  those that have a change, by setting, loss and bound
function M.compare(grids, orders)
  local compared, ps = {}, {}
  for _, cells in ipairs(grids) do
    for _, key in ipairs(with_partner(cells)) do
      local cell, free = cells[key], cells[cells[key].loss .. " none"]
      local test = mr.stats.permutation(cell.values, free.values, { orders = orders })
      cell.change, cell.summarised = test.mean_difference, M.sound(cell) and M.sound(free)
      cell.in_errors = cell.change == 0 and 0.0 or mr.stats.paired_t(cell.values, free.values).t
      compared[#compared + 1], ps[#ps + 1] = cell, test.p
    end
  end
  for i, p in ipairs(mr.stats.holm(ps)) do compared[i].p = p end
  return compared
end

---1 where a bound gains significantly, -1 where it loses, else 0.
---@param cell { p?: number, change?: number }
function M.side(cell)
  if cell.p and cell.p < 0.05 then return cell.change > 0 and 1 or -1 end
  return 0
end

return M
