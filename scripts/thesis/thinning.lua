-- Makes the training runs of nsr_shift.lua: matrix factorisation on MovieLens, trained at 1, 2 and 3 negatives per
-- relevant item (NSR); each model is tested at NSR 1, 2 and 3. Negatives are nested: those of NSR 1 are among those of
-- NSR 2, which are among those of NSR 3. Negatives are drawn once per fold and differ between parts, so that models
-- differ only by their training lists.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

local M = {}

-- A copy of the dataset `part` in which each list has at most `nsr` negatives for each relevant row. Copies with the
-- same `seed` are nested: the negatives for a smaller `nsr` are among those for a larger one.
local function thinned(part, nsr, seed)
  math.randomseed(seed, part.lists.rows)
  local grades, items, sizes = part.lists.relevance:totable(), part.items:totable(), part.lists.sizes:totable()
  local lists, kept, at = {}, {}, 0
  for l, n in ipairs(sizes) do
    local own, others = {}, {}
    for i = at + 1, at + n do table.insert(grades[i] > 0 and own or others, i) end
    for i = #others, 2, -1 do
      local j = math.random(i)
      others[i], others[j] = others[j], others[i]
    end
    local rows = table.move(others, 1, math.min(nsr * #own, #others), #own + 1, own)
    lists[l] = {}
    for i, row in ipairs(rows) do lists[l][i], kept[#kept + 1] = grades[row], items[row] end
    at = at + n
  end
  return mr.data.dataset{ lists = mr.lists(lists), users = part.users, items = mr.tensor(kept, { dtype = "int64" }),
    name = part.name }
end

-- Trains one model at the NSR (negatives per relevant item) of `trial`, and tests it on the test lists with the
-- negatives of each NSR in `levels`.
local function run(args, set, levels, trial)
  local fold, own = set.fold(levels[#levels], trial.split, args.seed), protocol.metric_of[trial.loss]
  local model = set.model(set.size, args.seed)
  local lists = { train = thinned(fold.train, trial.nsr, args.seed), valid = thinned(fold.valid, trial.nsr, args.seed) }
  local fitted = protocol.train(set, lists, { seed = args.seed, model = model, metrics = { own },
    loss = mr.losses[trial.loss]{ bound = trial.bound },
    rate = runs.rates.movielens[trial.loss][trial.bound] })
  local result = { valid = fitted.best.metrics[own], per_list = { list = protocol.list_names(fold.test, trial.split) } }
  for _, nsr in ipairs(levels) do
    local batch = thinned(fold.test, nsr, args.seed):batches{ size = fold.test.count }()
    local found = mr.evaluate(mr.no_grad(function() return model(batch) end), batch.lists, { own })
    result["test_" .. nsr], result.per_list["test_" .. nsr] = found.mean[own], found[own]
  end
  return result
end

M.bounds = { "none", "distribution_logit" }

---The values of NSR (negatives per relevant item) at which models are trained and tested; only two with --smoke.
function M.levels(args) return args.smoke and { 1, 2 } or runs.set(args, "movielens").values end

---The results of the training runs on MovieLens, one run per training NSR (negatives per relevant item), loss, bound
---and fold. Runs that are not yet stored are made.
---@param args table  parsed command line (training.args), with a `seed`
---@return mr.Results
function M.study(args)
  local set, levels = runs.set(args, "movielens"), M.levels(args)
  return runs.study(args, {
    name = ("NSR shift, seed %d"):format(args.seed),
    settings = { epochs = set.epochs, rates = runs.rates_text("movielens") },
    space = { nsr = mr.choice(levels), loss = mr.choice(runs.losses), bound = mr.choice(M.bounds),
      split = mr.range(1, set.folds) },
    run = function(trial) return run(args, set, levels, trial) end,
  })
end

return M
