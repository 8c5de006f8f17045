-- The protocol of the grid experiment, which asks which losses gain from the bounds of Westerborg (2022): every
-- decision behind its numbers, as a function or a value that the scripts use. Where a comment names a section, the
-- decision is that of this thesis.
local mr = require "moonrank"

local M = {}

-- Section on data sets: how they are split into parts, and which models rank them ------------------------------------

-- Caches the results of a function of one number, so that each is computed once.
local function once(make)
  local made = mr.experiment.cache()
  return function(number)
    made[number] = made[number] or make(number)
    return made[number]
  end
end

-- Makes a setting (data set and model) from ratings: users with at least 25 relevant items (section 4.2 of Westerborg's
-- thesis), three of five folds by user, matrix factorisation. Each list has as many sampled other items as relevant
-- ones.
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

-- Makes a setting (data set and model) from folds of queries and their documents: a network with one hidden layer
-- (section 4.1.1 of Westerborg's thesis) on the first three published folds. Features are standardised by the training
-- part; grades are unchanged.
local function of_queries(folds, columns)
  return {
    unit = "query", folds = 3, epochs = 200, patience = 20, batch = 32, rates = { 0.001, 0.003, 0.01 },
      least = 0.00001, most = 1,
    fold = once(function(number) return folds[math.min(number, #folds)]:standardize() end),
    model = function(number) return mr.models.mlp{ inputs = columns, hidden = { 46 }, activation = "relu",
      seed = number } end,
  }
end

---Functions by name of the setting that make it (grid.Setting): from ratings, or from folds of queries and the number
---of features of a document.
M.sets = { mq2008 = of_queries }

---Makes the MovieLens setting: ratings of 4 and more are relevant (section 4.2 of Westerborg's thesis).
function M.sets.movielens(ratings) return of_users(ratings:binarize(4)) end

---Makes the CiteULike setting: every item in a user's library is relevant.
function M.sets.citeulike(ratings) return of_users(ratings:binarize(1)) end

---Makes the setting of boosted trees of depth 5 on MQ2008, whose features are not standardised. The learning rate is
---the weight of each new tree (eta).
---@param folds mr.Fold[]
---@param columns integer  number of features of a document
function M.sets.trees(folds, columns)
  local set = of_queries(folds, columns)
  set.batch, set.rates = nil, { 0.03, 0.1, 0.3 }
  set.fold = function(number) return folds[math.min(number, #folds)] end
  set.model = function(number, rate) return mr.models.trees{ rounds = set.epochs, depth = 5, eta = rate,
    seed = number } end
  return set
end

---Makes the setting of the MSLR slice, which has one split with few, long lists. Minibatches are small, and three seeds
---of the network replace the three folds.
---@param folds mr.Fold[]
---@param columns integer  number of features of a document
function M.sets.mslr(folds, columns)
  local set = of_queries(folds, columns)
  set.batch, set.seeds = 4, true
  return set
end

---Numbers that identify test lists, so that training runs are compared list by list. A user has one number in all
---folds. A query has a number per fold, but one number in all runs that differ only by seed.
---@param set grid.Setting
---@param test mr.Dataset
---@param number integer  of the fold or seed
function M.list_names(set, test, number)
  return test.users and test.users:double() or mr.arange(1, test.count):double() + (set.seeds and 0 or 1e6 * number)
end

-- Section on training: losses, bounds, how a model is trained, and what a run stores ---------------------------------

-- Options for losses that compare pairs of rows. A bound of such a loss is computed for the metric `nrbp_loss`, which
-- counts pairs of a relevant and another row. This holds even if grades have more than two levels.
local options_of = {
  ranknet = { metric = "nrbp_loss" }, ranknet_all_pairs = { metric = "nrbp_loss" },
    direct_ranker = { metric = "nrbp_loss" },
  hinge = { metric = "nrbp_loss" },
}

-- Losses of the grid experiment that are variants of library losses: by name, the library's loss and the options for
-- it. They are LambdaRank with other metrics, and RankNet that repeats pairs of unequal grades until each list has
-- equally many pairs of every kind (first row better, equal or worse).
local variants = {
  lambdarank_ap = { "lambdarank", metric = "ap" }, lambdarank_rr = { "lambdarank", metric = "rr" },
  lambdarank_nrbp = { "lambdarank", metric = "nrbp(0.95)" }, lambdarank_precision = { "lambdarank",
    metric = "precision@5" },
  ranknet_upsampled = { "ranknet_all_pairs", metric = "nrbp_loss", upsample = "list" },
}

-- Splits the name of a loss in the grid experiment into the library's name of the loss and the options for it.
local function parts_of(name)
  local options = {}
  for key, value in pairs(variants[name] or options_of[name] or {}) do options[key] = value end
  return table.remove(options, 1) or name, options
end

---Names of all losses of the grid experiment: those of the library, and variants of LambdaRank and RankNet.
---@return string[]
function M.losses()
  local names = {}
  for _, name in ipairs(mr.losses.names()) do names[#names + 1] = name end
  for name in pairs(variants) do names[#names + 1] = name end
  table.sort(names)
  return names
end

---Makes a loss of the grid experiment under a bound.
---@param name string   name of the loss, e.g. "lambdarank_ap"
---@param bound string  name of the bound; "none" for none
---@return mr.Loss
function M.loss(name, bound)
  local library_name, options = parts_of(name)
  options.bound = bound
  return mr.losses[library_name](options)
end

---Names of the bounds that apply to a loss of the grid experiment.
---@param name string  of the loss
---@return string[]
function M.bounds(name) return (mr.losses.bounds(parts_of(name))) end

---The metric that chooses epochs and judges a loss on test lists: the loss's own metric, or nDCG if that metric is
---minimised or its expectation over random rankings has no closed form.
---@param name string  of the loss
---@return string
function M.metric_of(name)
  local metric = mr.metrics.parse(M.loss(name).metric)
  return metric.closed_forms and not metric.minimize and metric.name or "ndcg"
end

---Bounds under which the learning rate of a loss is chosen, by the mean over them: none, an affine and a non-affine
---one, so that no bound is favoured. Under a bound of `M.apart`, which often harms, a loss has a learning rate of its
---own.
M.tuning = { "none", "minmax", "distribution_logit" }
M.apart = { "distribution", "distribution_log" }

---The name of the learning rate for a loss under a bound: the loss ("ndcg"), followed by the bound if the loss has a
---rate of its own under that bound ("ndcg distribution").
---@param loss string
---@param bound string
function M.rate_name(loss, bound)
  for _, apart in ipairs(M.apart) do
    if bound == apart then return loss .. " " .. bound end
  end
  return loss
end

---Splits the name of a learning rate ("ndcg" or "ndcg distribution"): returns its loss, and the bounds under which
---models are trained to choose this rate, without those that do not apply to the loss.
---@param name string
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

---Names of the learning rates that losses need under all their bounds, e.g. "ndcg" and "ndcg distribution".
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

---The validation metric by name of the learning rate (`M.rate_name`), as the mean over the bounds used for choosing the
---rate. A name has no mean if one of its training runs failed.
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

---Trains one model, with Adam (section 4.3) or, for trees, by boosting. The loss's metric on validation chooses the
---epoch.
---@param set grid.Setting
---@param fold mr.Fold
---@param o { model: mr.Model|mr.Trees, loss: mr.Loss, metric: string, rate: number, number: integer }  `number`: seed
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

---Share of the cap on a training run's processor time (--cap) that runs for choosing learning rates may take.
M.share_of_cap = 1 / 6

---True if training converged: it stopped because validation became no better, or all epochs ran and the best is not
---among the last tenth. A run that the cap on processor time ended did not converge.
---@param run { stopped: string|false, best: { epoch: integer } }
---@param set { epochs: integer }
---@param capped boolean  whether the cap on processor time ended the run
function M.converged(run, set, capped)
  if capped then return false end
  return run.stopped == "patience" or run.best.epoch <= 0.9 * set.epochs
end

-- Section on statistics: comparisons with random rankings and with no bound ------------------------------------------

---The expected metric of random rankings, for each list.
---@param metric string
---@param lists mr.Lists
---@return mr.Tensor
function M.chance(metric, lists) return mr.bounds.stats(metric, lists).expectation end

---The values of a training run that are stored: the chosen epoch and number of epochs, how training ended, the best
---validation metric, test means, and each test list's metric beside its expectation under random rankings. `o.capped`
---says whether the cap on processor time (--cap) ended the run; `o.metric` is that by which the loss is judged.
---@param set grid.Setting
---@param run mr.Run
---@param test mr.Dataset
---@param o { number: integer, metric: string, capped: boolean }  `number`: of the fold or seed
---@return table<string, any>
function M.outcome(set, run, test, o)
  return { epoch = run.best.epoch, epochs = #run.history, capped = o.capped and 1 or 0,
    converged = M.converged(run, set, o.capped) and 1 or 0, valid = run.best.metrics[o.metric],
      own = run.test.mean[o.metric],
    ndcg = run.test.mean.ndcg, per_list = { own = run.scores[o.metric], chance = M.chance(o.metric, test.lists),
      list = M.list_names(set, test, o.number) } }
end

---How much better than random a cell (a loss under a bound) ranks: the mean over users or queries of the metric minus
---its expectation under random rankings, and the 95 % bootstrap interval of that mean. Lists without a metric are left
---out.
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

---True if a cell (a loss under a bound) ranks better than random: the lower end of the interval from `M.beyond` is
---above 0.
---@param cell { low: number }
function M.above_chance(cell) return cell.low > 0 end

---True if summaries count a cell (a loss under a bound): all its training runs converged, the cap on processor time
---ended none, and it ranks better than random.
---@param cell { low: number, converged: boolean, capped: integer }
function M.sound(cell) return cell.converged and cell.capped == 0 and M.above_chance(cell) end

-- Sorted keys ("loss bound") of the cells under a bound whose loss also has a cell without a bound.
local function with_partner(cells)
  local keys = {}
  for key, cell in pairs(cells) do
    if cell.bound ~= "none" and cells[cell.loss .. " none"] then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

---Adds to each cell under a bound its change against the same loss without a bound, paired by user or query, with a
---p-value. P-values of permutation tests are corrected by Holm over all cells of all settings. `summarised` of a cell
---becomes true if it and the cell without a bound are sound (`M.sound`).
---@param grids table<string, grid.Cell>[]  an entry per setting (data set and model): cells by "loss bound"
---@param orders integer  number of random sign flips of each permutation test
---@return grid.Cell[]  the cells that have a change, by setting, loss and bound
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

---Returns 1 if a cell's bound is significantly better than no bound, -1 if it is significantly worse, else 0.
---@param cell { p?: number, change?: number }
function M.side(cell)
  if cell.p and cell.p < 0.05 then return cell.change > 0 and 1 or -1 end
  return 0
end

return M
