-- Training runs of Table 5.1, and the table that compares bounds. Every decision is in protocol.lua. A study has a run
-- for each value of a data set's setting (negatives per relevant item, or least relevant label), loss, bound and fold.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

-- `bounds` has the thesis' bounds, whose "distribution" is a distribution function estimated from samples, with the
-- steepness of Eq. 3.13, and two of this project: the logarithm and the logit of the exact distribution function.
local M = { protocol = protocol, rates = {},
  losses = { "ndcg", "ap", "nrbp" }, title_of = { ndcg = "nDCG", ap = "AP", nrbp = "nRBP" },
  bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log",
    "distribution_logit" } }

---Adds learning rates of Adam. Each line has a data set, a loss and a rate for each bound in the order of M.bounds, as
---learning_rates.lua chooses and prints them.
function M.add_rates(lines)
  for name, loss, list in lines:gmatch "(%w+) +(%w+) +([^\n]*)" do
    local of, next_rate = {}, list:gmatch "%S+"
    for _, bound in ipairs(M.bounds) do of[bound] = tonumber(next_rate()) end
    M.rates[name] = M.rates[name] or {}
    M.rates[name][loss] = of
  end
end

M.add_rates [[
movielens ndcg 0.01 0.01 0.01 0.01 0.01 0.01 0.01
movielens ap   0.01 0.01 0.01 0.01 0.01 0.01 0.01
movielens nrbp 0.01 0.01 0.01 0.01 0.003 0.003 0.01
]]

---Returns learning rates as text, which studies keep with their settings, so that other rates are an error.
function M.rates_text(name)
  local parts = {}
  for i, at in ipairs(experiment.combinations{ { "loss", M.losses }, { "bound", M.bounds } }) do
    parts[i] = ("%s %s %g"):format(at.loss, at.bound, M.rates[name][at.loss][at.bound])
  end
  return table.concat(parts, ", ")
end

---Options of scripts whose training runs depend on them.
M.recipe = { default = protocol.recipes[1], choices = protocol.recipes,
  help = "choose the epoch on validation, or on test" }
M.samples = { default = protocol.samples, least = 1, most = 100000000,
  help = "random orders per list shape for the thesis' distribution bound" }

---Parses the command line: the script's own options, and those of its store. `smoke` has values of options for --smoke.
function M.args(own, smoke)
  smoke = smoke or {}
  smoke.samples = own.samples and 1000 or nil
  return experiment.args(own, { document = "thesis", smoke = smoke })
end

---Gives a data set the name under which it has learning rates, and a title. With --smoke few runs are made of it.
function M.named(args, set, name, title)
  set.name, set.title = name, title
  if args.smoke then
    set.values, set.folds, set.tuning, set.epochs, set.sizes = { set.values[1] }, 1, 1, 2, { set.sizes[1], set.size }
  end
  return set
end

---Opens MovieLens, or made-up ratings in its place (--smoke).
function M.movielens(args)
  local ratings = args.smoke and mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }
    or mr.data.movielens(experiment.place(args, "ml-latest-small"))
  return M.named(args, protocol.sets.movielens(ratings), "movielens", args.smoke and "made-up ratings" or "MovieLens")
end

local every_metric, deepest = { "ndcg", "ap", "nrbp(0.95)", "rr" }, 50

---Trains and tests one model. `o` has the value of the data set's setting, loss, bound, fold, seed, learning rate, and
---optionally the model's size and `curve`, for results by nDCG@k.
local function train(args, set, o)
  local own, metrics = protocol.metric_of[o.loss], { table.unpack(every_metric) }
  for k = 1, o.curve and deepest or 0 do metrics[#metrics + 1] = "ndcg@" .. k end
  local fold = set.fold(o.value, o.fold, o.seed)
  local run = protocol.train(set, fold, { size = o.size, seed = o.seed, rate = o.rate, metrics = metrics, select = own,
    recipe = args.recipe, loss = mr.losses[o.loss]{ bound = protocol.bound(o.bound, rawget(args, "samples")) } })
  local result = protocol.outcome(run, fold.test, o.fold, own)
  for _, name in ipairs(metrics) do result[name] = run.test.mean[name] end
  for _, name in ipairs(every_metric) do result.per_list[name] = run.scores[name] end
  result.per_list.relevant = fold.test.lists.relevant
  return result
end
M.train, M.deepest = train, deepest

---Makes or reads a study. Values of --recipe and --samples are added to its name if they are not the defaults.
function M.study(args, o)
  local recipe, samples = rawget(args, "recipe") or protocol.recipes[1], rawget(args, "samples") or protocol.samples
  if recipe ~= protocol.recipes[1] then o.name = ("%s, %s"):format(o.name, recipe) end
  if samples ~= protocol.samples and not args.smoke then o.name = ("%s, %d samples"):format(o.name, samples) end
  return experiment.study(args, o)
end

---Makes or reads the runs of a data set under `o.seed`: all settings, losses, bounds and folds ("split"). A study with
---another `o.name` may have other parameters in `o.space`, and other rates and sizes by rate(trial) and size(trial).
function M.sweep(args, set, o)
  local space = { loss = mr.choice(M.losses), bound = mr.choice(M.bounds), split = mr.range(1, set.folds),
    [set.setting] = mr.choice(set.values) }
  for name, part in pairs(o.space or {}) do space[name] = part end
  local rates, rate, size, seed = M.rates[set.name], o.rate, o.size, o.seed or 1
  local curve = not o.name and seed == 1
  return M.study(args, { name = o.name or ("%s, seed %d"):format(set.name, seed), space = space,
    settings = { epochs = set.epochs, patience = set.patience, batch = set.batch, recipe = args.recipe,
      samples = rawget(args, "samples") or protocol.samples, rates = not space.rate and M.rates_text(set.name) or nil },
    run = function(trial)
      return train(args, set, { value = trial[set.setting], loss = trial.loss, bound = trial.bound,
        fold = trial.split, seed = seed, rate = rate and rate(trial) or rates[trial.loss][trial.bound],
        size = size and size(trial), curve = curve })
    end })
end

---Prints and returns the table that compares every bound with no bound on a data set. `empty` is what a list without
---relevant rows counts as. `printed(where)` returns the thesis' number for a loss, a bound and a value of the setting.
function M.compare(args, set, empty, printed)
  printed = not args.made_up and printed or nil
  local found = experiment.compared(M.sweep(args, set, { seed = args.seed }), { value = "own", empty = empty,
    by = { { set.setting, set.values, head = set.head, shown = { top_of_list = "highest" } },
      { "loss", M.losses, shown = M.title_of }, { "bound", M.bounds } }, against = { bound = "none" },
    alpha = protocol.level, difference = protocol.close, unit = set.unit, units = set.units,
    on = set.said or set.title, metric = "test metric of the matching loss", base = "no bound", what = "bounded losses",
    printed = printed, of_printed = "published", source = "in the thesis" })
  found.legend = set.legend .. found.legend
  local how = ("\n\nModels have seed %d and the epoch that is best on %s."):format(
    args.seed, args.recipe == "published" and "TEST" or "validation")
  local section = experiment.finish(args, nil, found.text .. how, found)
  section.finding, section.agreement = printed and found.first or nil, found.agreement
  return section
end

return M
