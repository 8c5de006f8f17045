-- Makes and reads the training runs of the thesis' experiments. All are kept in one store, a file of finished runs. A
-- study (a set of runs in the store) belongs to a data set and a seed; it has a run (trial) for each setting, loss,
-- bound and fold, with the test scores of every list. A script trains only what the store lacks.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment = mr.experiment
local data = dofile(here .. "data.lua")
local rates, protocol = dofile(here .. "rates.lua"), dofile(here .. "protocol.lua")

local M = { data = data, rates = rates, protocol = protocol, metric_of = protocol.metric_of }

M.losses = { "ndcg", "ap", "nrbp" }
-- Stops if a metric is minimised, because the scripts of this folder take a larger metric as the better one.
for _, name in pairs(M.metric_of) do assert(not mr.metrics.parse(name).minimize, name) end
M.title_of = { ndcg = "nDCG", ap = "AP", nrbp = "nRBP" }
-- Names of bounds. `M.published` are the five of the thesis; its "distribution" is sampled, with the steepness of Eq.
-- 3.13. `M.own` are two of this project: the logarithm and the logit of the exact distribution function.
M.published = { "none", "minmax", "expectation", "expectation_max", "distribution" }
M.own = { "distribution_log", "distribution_logit" }
M.bounds = { table.unpack(M.published) }
table.move(M.own, 1, #M.own, #M.bounds + 1, M.bounds)
local deepest = 50  -- largest cutoff: runs store nDCG@1 to nDCG@50
M.deepest = deepest

local every_metric = { "ndcg", "ap", "nrbp(0.95)", "rr" }

local usual = { samples = protocol.samples, recipe = protocol.recipes[1] }

---Parses the command line of a script that reads stored training runs and makes missing ones. Adds options to the
---script's own: where data and runs are, --recipe (part that chooses the epoch) and --samples (random rankings for the
---thesis' distribution bound). `more.smoke` has values that --smoke gives to the script's own options. `more.without`
---lists which of "samples" and "recipe" the script does not have, because its runs do not depend on them.
---@param own table  declarations of the script's own options, for mr.args
---@param more? { smoke?: table<string, any>, without?: string[] }
function M.args(own, more)
  local smoke, without = { samples = 1000 }, more and more.without or {}
  for name, value in pairs(more and more.smoke or {}) do smoke[name] = value end
  own.recipe = { default = usual.recipe, choices = protocol.recipes,
    help = "choose the epoch on validation, or on test" }
  own.samples = { default = usual.samples, least = 1,
    help = "random orders per list shape for the thesis' distribution bound" }
  for _, name in ipairs(without) do own[name], smoke[name] = nil, nil end
  return experiment.args(own, { document = "thesis", smoke = smoke })
end

---Turns the options of `M.args` into command line words with which one script runs another. Options at their defaults
---are left out, and so are options in `without`, which the other script does not have.
---@param args table  parsed command line (`M.args`)
---@param without? string[]  names of options
---@return string[]  e.g. {"--recipe", "published"}
function M.words(args, without)
  local more = { recipe = args.recipe ~= usual.recipe and args.recipe or nil,
    samples = not args.smoke and args.samples ~= usual.samples and args.samples or nil }
  for _, name in ipairs(without or {}) do more[name] = nil end
  return experiment.words(args, more)
end

-- Makes the bound with this name. The thesis' distribution bound is estimated from as many random rankings as --samples
-- says.
local function bound_of(args, name) return protocol.bound(name, name == "distribution" and args.samples or nil) end
M.bound = bound_of

---A value of a data set's setting as text: "NSR 2" (negatives per relevant item), "label 1" (least relevant label), or
---"the highest label" for MQ2008 if each query's highest label is the relevant one.
---@param set thesis.Data
---@param value integer|"top_of_list"
function M.setting_text(set, value)
  if value == "top_of_list" then return "the highest label" end
  return ("%s %s"):format(set.setting == "nsr" and "NSR" or set.setting, value)
end

---Returns "users" if the lists of a data set belong to users (ratings), or "queries".
---@param set thesis.Data
---@return string
function M.lists_of(set) return set.setting == "nsr" and "users" or "queries" end

---Returns what pairs the values of two models in a test: "user" or "query".
---@param set thesis.Data
---@return string
function M.unit_of(set) return set.setting == "nsr" and "user" or "query" end

---Returns the text that explains the setting in a legend; "" for data with labels, which need none.
---@param set thesis.Data
---@return string
function M.legend_of_setting(set) return set.setting == "nsr" and "NSR: negative sampling ratio; " or "" end

-- The values of a training run that are stored: the result of protocol.outcome, test means and list scores by all
-- metrics, and the numbers of rows and of relevant rows of every test list. `own` is the metric that the loss
-- optimises, `number` that of the fold.
local function result_of(run, test, number, own)
  local result = protocol.outcome(run, test, number, own)
  result.lists, result.skipped = run.test.counted[own], run.test.skipped[own]
  for _, name in ipairs(run.test.names) do result[name] = run.test.mean[name] end
  local lists = result.per_list
  lists.rows, lists.relevant = test.lists.sizes, test.lists.relevant
  for _, name in ipairs(every_metric) do lists[name] = run.scores[name] end
  return result
end

---Trains and tests one model. `o` has the opened data set (`set`), the `value` of its setting (NSR or label), `loss`,
---`bound`, `fold`, `seed` and learning rate (`rate`); optionally the model's `size`, and `curve`: true to store nDCG@1
---to nDCG@50, too.
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

---All learning rates of a data set as text ("ap none 0.01, ..."). A study stores this text with its settings, so that a
---change of the rates since then raises an error.
function M.rates_text(name)
  local parts, of = {}, rates[name]
  for _, loss in ipairs(M.losses) do
    for _, bound in ipairs(M.bounds) do parts[#parts + 1] = ("%s %s %g"):format(loss, bound, of[loss][bound]) end
  end
  return table.concat(parts, ", ")
end

local opened = experiment.cache()

---Opens a data set by its name, with the options of --data and --smoke. Its files are read only once.
---@param args table  parsed command line (`M.args`)
---@param name "movielens"|"mq2008"|"citeulike"|"mslr"|"clueweb"
---@return thesis.Data
function M.set(args, name)
  opened[name] = opened[name] or data.open(name, args.data, args.smoke)
  return opened[name]
end

M.study, M.cache = experiment.study, experiment.cache

---The name under which a study (a set of training runs) is stored. It contains the values of --recipe and --samples if
---the runs depend on these options and the options are not at their defaults, so that each value has its own study.
---@param args table  parsed command line (`M.args`)
---@param name string
---@param of { recipe?: boolean, samples?: boolean }  which of the options the runs depend on
---@return string
function M.study_name(args, name, of)
  if of.recipe and args.recipe ~= usual.recipe then name = ("%s, %s"):format(name, args.recipe) end
  if of.samples and not args.smoke and args.samples ~= usual.samples then
    name = ("%s, %d samples"):format(name, args.samples)
  end
  return name
end

---Makes or reads training runs for all losses, bounds, folds and values of the data set's setting (NSR or label). The
---fold is the parameter "split", which changes fastest, so that sampled distributions can be reused for the next fold.
---Fields of `o`: `name` of the study, `rate(run)` and `size(run)` (learning rate and model size by a run's parameters),
---`seed`, `curve` (true: nDCG@k is stored as well). `bounds`, `folds` (their number) and `values` replace those of the
---data set; `space` has further parameters, `settings` further values by which stored runs are compared.
---@param args table  parsed command line (`M.args`)
---@param name string  of the data set
---@param o table
---@return mr.Results
function M.sweep(args, name, o)
  local set = M.set(args, name)
  local space = { loss = mr.choice(M.losses), bound = mr.choice(o.bounds or M.bounds),
    split = mr.range(1, o.folds or set.folds), [set.setting] = mr.choice(o.values or set.values) }
  for key, part in pairs(o.space or {}) do space[key] = part end
  local sampled = false  -- true if the thesis' distribution bound, which is sampled, is among the bounds
  for _, bound in ipairs(o.bounds or M.bounds) do sampled = sampled or bound == "distribution" end
  local settings = { epochs = set.epochs, patience = set.patience, batch = set.batch, recipe = args.recipe,
    samples = sampled and args.samples or usual.samples }
  for key, value in pairs(o.settings or {}) do settings[key] = value end
  local rate, size, seed, curve = o.rate, o.size, o.seed or 1, o.curve
  return M.study(args, {
    name = M.study_name(args, o.name, { recipe = true, samples = sampled }), settings = settings, space = space,
    run = function(trial)
      return train(args, {
        set = set, value = trial[set.setting], loss = trial.loss, bound = trial.bound, fold = trial.split,
        seed = seed, rate = rate(trial), size = size and size(trial), curve = curve })
    end,
  })
end

---The training runs of a data set with one seed: all settings (NSR or label), losses, bounds and folds, at the learning
---rates of rates.lua. Missing runs are made.
---@return mr.Results
function M.of(args, name, seed)
  return M.sweep(args, name, { name = ("%s, seed %d"):format(name, seed), seed = seed, curve = seed == 1,
    settings = { rates = M.rates_text(name) }, rate = function(trial) return rates[name][trial.loss][trial.bound] end })
end

---The training runs of section 4.1.1 of the thesis: models of several sizes, for losses without a bound and under three
---bounds, on the folds on which learning rates are chosen. Missing runs are made.
---@return mr.Results
function M.sizes(args, name)
  local set = M.set(args, name)
  return M.sweep(args, name, {
    name = "sizes of " .. name, folds = set.tuning, values = name == "mq2008" and { 2 } or nil,
    bounds = { "none", "minmax", "expectation_max", "distribution_logit" }, settings = { rates = M.rates_text(name) },
    space = { size = mr.choice(set.sizes) }, size = function(trial) return trial.size end,
    rate = function(trial) return rates[name][trial.loss][trial.bound] end })
end

return M
