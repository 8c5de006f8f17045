-- Westerborg (2022), future work: do bounds still matter when the ranker is stronger? MQ2008 (relevant = label 1 or 2), its own five folds: a
-- linear model, the thesis' network, a deeper one, and one whose documents look at each other (self-attention with dropout). The rate is
-- chosen on validation per model and loss (first fold, no bound), the epoch on validation; changes are paired by query.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, scores, figure = dofile(here .. "runs.lua"), dofile(here .. "scores.lua"), dofile(here .. "figure.lua")

local args = runs.args{
  seed = { default = 1, help = "seed of models, dropout and the order of queries" },
  epochs = { default = 60, help = "passes over the training part" },
  losses = { default = { "ndcg", "ap", "nrbp" }, choices = runs.losses, help = "which losses" },
}
local label = 1
local names = { "linear", "46", "92-46-23", "self-attention" }
local bounds = { "none", "minmax", "expectation", "distribution_logit" }
local models = {
  linear = function(seed) return mr.models.linear{ inputs = 46, seed = seed } end,
  ["46"] = function(seed) return mr.models.mlp{ inputs = 46, hidden = { 46 }, seed = seed } end,
  ["92-46-23"] = function(seed) return mr.models.mlp{ inputs = 46, hidden = { 92, 46, 23 }, seed = seed } end,
  ["self-attention"] = function(seed)
    return mr.models.self_attention{ inputs = 46, width = 32, heads = 2, blocks = 2, dropout = 0.1, seed = seed }
  end,
}
local data = runs.set(args, "mq2008")
local epochs, folds = args.smoke and 2 or args.epochs, args.smoke and 1 or data.folds

local function study(name, space, rate_of)
  return mr.sweep{
    name = name .. (args.smoke and ", smoke" or ""), store = args.store, workers = args.workers, force = args.force, metric = "valid",
    settings = { epochs = epochs, seed = args.seed, recipe = args.recipe }, space = space,
    run = function(trial)
      local set = setmetatable({ epochs = epochs, model = function(_, seed) return models[trial.model](seed) end }, { __index = data })
      return runs.train(args, { set = set, value = label, loss = trial.loss, bound = trial.bound, fold = trial.split, seed = args.seed,
        rate = rate_of(trial) })
    end,
  }
end

-- The rate that validation likes best, by model and loss
local tuned = study("rates of stronger models", { model = mr.choice(names), loss = mr.choice(args.losses), bound = mr.choice{ "none" },
  split = mr.range(1, 1), rate = mr.choice{ 0.001, 0.003, 0.01 } }, function(trial) return trial.rate end)
local columns, best = tuned:columns(), {}
for _, row in ipairs(columns:rows("runs", {})) do
  local key = columns:column("runs", "model")[row] .. " " .. columns:column("runs", "loss")[row]
  local valid, rate = columns:column("runs", "valid")[row], columns:column("runs", "rate")[row]
  if not best[key] or valid > best[key].valid then best[key] = { valid = valid, rate = rate } end
end

local results = study("stronger models", { model = mr.choice(names), loss = mr.choice(args.losses), bound = mr.choice(bounds),
  split = mr.range(1, folds) }, function(trial) return best[trial.model .. " " .. trial.loss].rate end)

-- A row per loss and model: the mean without a bound and its change against the thesis' network, the change by each bound
local rows, ps = {}, {}
local function note(row, test)
  row[#row + 1] = test.change
  row[#row + 1] = test.p
  ps[#ps + 1] = test.p
end
for _, loss in ipairs(args.losses) do
  local usual = scores.by_list({ results }, { model = "46", loss = loss, bound = "none" }, "own")
  for _, name in ipairs(names) do
    local where = { model = name, loss = loss }
    local plain = scores.by_list({ results }, { model = name, loss = loss, bound = "none" }, "own")
    local row = { runs.title_of[loss], name, best[name .. " " .. loss].rate, mr.stats.mean(plain),
      name ~= "46" and mr.stats.permutation(plain, usual, { orders = 100000 }).mean_difference or nil }
    row[5] = row[5] or 0.0
    for i = 2, #bounds do note(row, scores.compare({ results }, where, bounds[i], "none")) end
    rows[#rows + 1] = row
  end
end
local corrected, better, worse = mr.stats.holm(ps), 0, 0
local heads = { "loss", "model", "rate", "no bound", "against 46" }
local formats = { ["no bound"] = "%.4f", ["against 46"] = "%+.4f" }
for i = 2, #bounds do
  heads[#heads + 1], heads[#heads + 2] = bounds[i], "p, " .. bounds[i]
  formats[bounds[i]], formats["p, " .. bounds[i]] = "%+.4f", "%.2g"
end
for i, p in ipairs(corrected) do
  local row, at = rows[(i - 1) // (#bounds - 1) + 1], 6 + 2 * ((i - 1) % (#bounds - 1))
  row[at + 1] = p
  if p < 0.05 and row[at] > 0 then better = better + 1 elseif p < 0.05 then worse = worse + 1 end
end
local text = ([[
Test metric of the matching loss without a bound, and the change by each bound, paired by query; p of permutation tests after Holm's
correction over the table. Significantly better than no bound in %d of %d cases, worse in %d. Seed %d, %d folds, %d epochs of Adam.]])
return figure.finish(args, nil, text:format(better, #ps, worse, args.seed, folds, epochs),
  mr.table{ columns = heads, rows = rows, formats = formats })
