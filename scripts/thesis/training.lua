-- Training runs of the thesis' experiments: data sets, learning rates, one store of runs, and the table that compares
-- bounds. Every decision is in protocol.lua. A study has a run for each setting (negatives per relevant item, NSR, or
-- least relevant label), loss, bound and fold of a data set under one seed.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "protocol.lua")

local M = { protocol = protocol, metric_of = protocol.metric_of, data = {}, rates = {}, deepest = 50,
  losses = { "ndcg", "ap", "nrbp" }, title_of = { ndcg = "nDCG", ap = "AP", nrbp = "nRBP" },
  -- The thesis' bounds, whose "distribution" is sampled, with the steepness of Eq. 3.13; and two of this project: the
  -- logarithm and the logit of the exact distribution function.
  published = { "none", "minmax", "expectation", "expectation_max", "distribution" },
  own = { "distribution_log", "distribution_logit" } }
M.bounds = table.move(M.own, 1, #M.own, #M.published + 1, { table.unpack(M.published) })

-- Learning rates of Adam by data set and loss, in the order of M.bounds, as learning_rates.lua chooses and prints them.
for name, loss, list in ([[
movielens ndcg 0.01 0.01 0.01 0.01 0.01 0.01 0.01
movielens ap   0.01 0.01 0.01 0.01 0.01 0.01 0.01
movielens nrbp 0.01 0.01 0.01 0.01 0.003 0.003 0.01
mq2008    ndcg 0.01 0.01 0.01 0.01 0.01 0.01 0.01
mq2008    ap   0.01 0.01 0.01 0.01 0.01 0.003 0.01
mq2008    nrbp 0.003 0.01 0.003 0.003 0.003 0.003 0.001
citeulike ndcg 0.003 0.003 0.003 0.003 0.03 0.003 0.003
citeulike ap   0.003 0.003 0.003 0.003 0.003 0.003 0.003
citeulike nrbp 0.003 0.003 0.003 0.003 0.003 0.003 0.003
mslr      ndcg 0.03 0.01 0.01 0.01 0.001 0.03 0.03
mslr      ap   0.01 0.003 0.03 0.003 0.01 0.03 0.01
mslr      nrbp 0.03 0.001 0.001 0.001 0.001 0.001 0.003
clueweb   ndcg 0.01 0.01 0.01 0.01 0.01 0.03 0.03
clueweb   ap   0.03 0.03 0.03 0.03 0.03 0.003 0.03
clueweb   nrbp 0.01 0.03 0.03 0.03 0.03 0.03 0.03
]]):gmatch "(%w+) +(%w+) +([^\n]*)\n" do
  local of, next_rate = {}, list:gmatch "%S+"
  for _, bound in ipairs(M.bounds) do of[bound] = tonumber(next_rate()) end
  M.rates[name] = M.rates[name] or {}
  M.rates[name][loss] = of
end
local rates = M.rates

-- Data sets: title and folder; of queries also the number of features and options of the reader.
local sources = {
  movielens = { "MovieLens", "ml-latest-small", read = mr.data.movielens },
  citeulike = { "CiteULike-a", "citeulike-a", read = mr.data.citeulike, unary = true },
  mq2008 = { "MQ2008", "mq2008", 46 }, mslr = { "MSLR slice", "mslr-web-slice", 136 },  -- 102 queries of MSLR-WEB30K
  clueweb = { "ClueWeb09", "clueweb09-ltr", 42, { valid = protocol.valid_share } },
}
M.data.names = { "movielens", "mq2008", "citeulike", "mslr", "clueweb" }

---Returns the title of a data set, or of the made-up data in its place (`smoke`).
function M.data.title(name, smoke)
  local title, features = sources[name][1], sources[name][3]
  return not smoke and title or features and ("made-up queries of %d features"):format(features) or "made-up ratings"
end

local function made_up(source)
  if not source[3] then
    local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 400 }
    return source.unary and ratings:binarize(4) or ratings
  end
  local all = mr.data.synthetic{ kind = "queries", queries = 120, features = source[3], mean_size = 12 }
  local train, test = all:split{ share = 0.25 }
  local rest, valid = train:split{ share = 0.25 }
  return { mr.data.fold{ train = rest, valid = valid, test = test, title = "made-up queries" } }
end

---Reads a data set and returns it with its protocol (thesis.Data). `folder` "" is the program's data folder.
function M.data.open(name, folder, smoke)
  local source, read = sources[name], sources[name].read or mr.data.letor_folds
  local path = folder ~= "" and folder .. "/" .. source[2] or source[2]
  local set = protocol.sets[name](smoke and made_up(source) or read(path, source[4]), source[3])
  set.title, set.features = M.data.title(name, smoke), source[3]
  if smoke then
    set.values, set.folds, set.tuning, set.epochs, set.sizes = { set.values[1] }, 1, 1, 2, { set.sizes[1], set.size }
  end
  return set
end

---Parses the command line: the script's own options, those of its store, --recipe and --samples. `more.smoke` has
---values of the script's own options under --smoke; `more.without` lists options that the script does not have.
function M.args(own, more)
  local smoke = { samples = 1000 }
  for name, value in pairs(more and more.smoke or {}) do smoke[name] = value end
  own.recipe = { default = protocol.recipes[1], choices = protocol.recipes,
    help = "choose the epoch on validation, or on test" }
  own.samples = { default = protocol.samples, least = 1,
    help = "random orders per list shape for the thesis' distribution bound" }
  for _, name in ipairs(more and more.without or {}) do own[name], smoke[name] = nil, nil end
  return experiment.args(own, { document = "thesis", smoke = smoke })
end

local opened = experiment.cache()

---Opens a data set by its name, with the options of --data and --smoke. Its files are read only once.
function M.set(args, name)
  opened[name] = opened[name] or M.data.open(name, args.data, args.smoke)
  return opened[name]
end

local every_metric, deepest = { "ndcg", "ap", "nrbp(0.95)", "rr" }, M.deepest
local function bound_of(args, name) return protocol.bound(name, name == "distribution" and args.samples or nil) end
M.bound = bound_of

-- What a run stores: results by all metrics, and the numbers of rows and of relevant rows of every test list.
local function result_of(run, test, number, own)
  local result = protocol.outcome(run, test, number, own)
  result.lists, result.skipped = run.test.counted[own], run.test.skipped[own]
  for _, name in ipairs(run.test.names) do result[name] = run.test.mean[name] end
  local lists = result.per_list
  lists.rows, lists.relevant = test.lists.sizes, test.lists.relevant
  for _, name in ipairs(every_metric) do lists[name] = run.scores[name] end
  return result
end

-- Trains and tests one model: `o` has the data set, value of its setting, loss, bound, fold, seed, rate and size.
local function train(args, o)
  local own = protocol.metric_of[o.loss]
  local metrics = { table.unpack(every_metric) }
  for k = 1, o.curve and deepest or 0 do metrics[#metrics + 1] = "ndcg@" .. k end
  local fold = o.set.fold(o.value, o.fold, o.seed)
  local run = protocol.train(o.set, fold, {
    size = o.size, seed = o.seed, loss = mr.losses[o.loss]{ bound = bound_of(args, o.bound) },
    rate = o.rate, metrics = metrics, select = own, recipe = args.recipe })
  return result_of(run, fold.test, o.fold, own)
end
M.train = train

---The learning rates of a data set as text, which a study keeps with its settings, so that other rates are an error.
function M.rates_text(name)
  local parts, of = {}, rates[name]
  for _, loss in ipairs(M.losses) do
    for _, bound in ipairs(M.bounds) do parts[#parts + 1] = ("%s %s %g"):format(loss, bound, of[loss][bound]) end
  end
  return table.concat(parts, ", ")
end

---The name of a study, with the values of --recipe and --samples if the runs depend on them and they are no defaults.
function M.study_name(args, name, of)
  if of.recipe and args.recipe ~= protocol.recipes[1] then name = ("%s, %s"):format(name, args.recipe) end
  local is_sampled = of.samples and not args.smoke and args.samples ~= protocol.samples
  return is_sampled and ("%s, %d samples"):format(name, args.samples) or name
end

---Makes or reads the runs of all losses, bounds, folds and settings of a data set. The fold is the parameter "split".
---`o` has the study's `name`, `rate(run)`, `size(run)`, `seed` and `curve` (nDCG@k is stored as well). `bounds`,
---`folds` and `values` replace those of the data set; `space` and `settings` are added.
function M.sweep(args, name, o)
  local set, sampled = M.set(args, name), false
  local space = { loss = mr.choice(M.losses), bound = mr.choice(o.bounds or M.bounds),
    split = mr.range(1, o.folds or set.folds), [set.setting] = mr.choice(o.values or set.values) }
  for key, part in pairs(o.space or {}) do space[key] = part end
  for _, bound in ipairs(o.bounds or M.bounds) do sampled = sampled or bound == "distribution" end
  local settings = { epochs = set.epochs, patience = set.patience, batch = set.batch, recipe = args.recipe,
    samples = sampled and args.samples or protocol.samples }
  for key, value in pairs(o.settings or {}) do settings[key] = value end
  local rate, size, seed, curve = o.rate, o.size, o.seed or 1, o.curve
  return experiment.study(args, {
    name = M.study_name(args, o.name, { recipe = true, samples = sampled }), settings = settings, space = space,
    run = function(trial)
      return train(args, {
        set = set, value = trial[set.setting], loss = trial.loss, bound = trial.bound, fold = trial.split,
        seed = seed, rate = rate(trial), size = size and size(trial), curve = curve })
    end,
  })
end

---The runs of a data set under one seed: all settings, losses, bounds and folds, at the learning rates above.
function M.of(args, name, seed)
  return M.sweep(args, name, { name = ("%s, seed %d"):format(name, seed), seed = seed, curve = seed == 1,
    settings = { rates = M.rates_text(name) }, rate = function(trial) return rates[name][trial.loss][trial.bound] end })
end

---Prints and returns the table that compares every bound with no bound on a data set. `o` has the data set (`set`),
---the seed, what a list without relevant rows counts as (`empty`), and printed(loss, bound, value), the thesis'
---numbers.
function M.compare(args, o)
  local set, results = M.set(args, o.set), M.of(args, o.set, o.seed)
  local of_users, printed = set.setting == "nsr", not args.made_up and o.printed
  local found = experiment.compared(results, { value = "own", empty = o.empty, level = protocol.level,
    close = protocol.close, against = { bound = "none" }, base = "no bound", than = "without a bound",
    by = { { set.setting, set.values, head = of_users and "NSR" or set.setting, shown = { top_of_list = "highest" } },
      { "loss", M.losses, shown = M.title_of }, { "bound", M.bounds } },
    printed = printed and function(of) return printed(of.loss, of.bound, of[set.setting]) end or nil,
    of_printed = "published", source = "in the thesis", metric = "test metric of the matching loss",
    unit = of_users and "user" or "query", units = of_users and "users" or "queries", what = "bounded losses",
    on = set.title:gsub("^MSLR", "the MSLR") })
  found.legend = (of_users and "NSR: negative sampling ratio; " or "") .. found.legend
  local how = ("\n\nModels are trained with seed %d on %d %s, for %d epochs of Adam at the learning rates by loss and "
    .. "bound in training.lua; the epoch is\nchosen on %s."):format(o.seed, set.folds,
    set.folds == 1 and "fold" or "folds", set.epochs, args.recipe == "published" and "TEST" or "validation")
  local section = experiment.finish(args, nil, found.text .. how, found)
  section.finding, section.agreement = printed and found.first or nil, found.agreement
  return section
end

return M
