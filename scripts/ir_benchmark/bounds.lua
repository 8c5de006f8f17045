-- Does bounding help a softmax loss? SL and SL@20 of Yang et al. (2025) are trained under every bound, and each user's
-- NDCG@20 among all items judges them: bounds against no bound, SL@20 against SL under bounds, and who gains.

-- Data: Amazon Health and MovieLens-1M with the authors' division. Protocol: hyperparameters are those published for
-- Health, and for MovieLens-1M those of MovieLens-100K. Trainings are shorter than in Table 2, with fewer negatives.
-- protocol.lua says what a bound does; `train` there calls mr.fit, for each run that `runs_of` below plans.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment = mr.experiment
local protocol, published = dofile(here .. "protocol.lua"), dofile(here .. "published.lua")

local of_movielens = { rate = 0.01, tau = 0.2, tau_beta = 3, every = 5 }  -- Table 15
local known = {
  health = { folder = "amazon2014-health", title = "Amazon Health", how = published.health,
    epochs = 15, negatives = 200, batch = protocol.batch },
  movielens = { folder = "movielens-1m", title = "MovieLens-1M", epochs = 10, negatives = 100, batch = 4096,
    how = { SL = of_movielens, ["SL@20"] = of_movielens } },
}
local losses, bounds = { "SL", "SL@20" }, { "none" }
for _, name in ipairs((mr.losses.bounds "sl")) do bounds[#bounds + 1] = name ~= "none" and name or nil end

local args = experiment.args({
  sets = { default = { "health", "movielens" }, choices = { "health", "movielens" }, distinct = true,
    help = "which data sets" },
  seed = { default = 1, help = "seed of models, validation parts and negatives" },
  epochs = { type = "integer", least = 1, shown = "15 on Health, 10 on MovieLens-1M", help = "epochs of a training" },
  negatives = { type = "integer", least = 1, most = 1000000, shown = "200 on Health, 100 on MovieLens-1M",
    help = "sampled negatives of an interaction" },
  batch = { type = "integer", least = 1, shown = "1024 on Health, 4096 on MovieLens-1M",
    help = "interactions of a step" },
}, { document = "ir_benchmark", smoke = { epochs = 5, negatives = 20, batch = 64 } })

-- Returns the number of items that each user of an evaluation on test has in train.
local function owned(fold, users)
  local sizes, of = fold.train.lists.sizes:totable(), {}
  for l, user in ipairs(fold.train.users:totable()) do of[user] = sizes[l] end
  local found = {}
  for i, user in ipairs(users:totable()) do found[i] = of[user] or 0 end
  return mr.tensor(found)
end

-- Makes or reads the runs of a loss under all bounds.
local function runs_of(name, set, loss)
  local of = known[name]
  local settings = {}
  for _, option in ipairs{ "epochs", "negatives", "batch" } do settings[option] = args[option] or of[option] end
  return experiment.study(args, { name = ("softmax under bounds, %s, %s, seed %d"):format(name, loss, args.seed),
    settings = settings, space = { bound = mr.choice(bounds) },
    run = function(trial)
      local run, model, fold = protocol.train(set, { loss = loss, how = of.how[loss], seed = args.seed, trial = trial,
        bound = trial.bound, epochs = settings.epochs, negatives = settings.negatives, batch = settings.batch })
      local test = protocol.test(fold, model)
      return { valid = run.best.metrics[protocol.select], epoch = run.best.epoch, per_list = {
        list = test.users:double(), items = owned(fold, test.users), [protocol.select] = test[protocol.select] } }
    end })
end

-- Returns the users' NDCG@20 of a run as an evaluation. Its lists have the shapes that bounds see: all items, of which
-- those in train are relevant.
local function evaluation(set, results, bound)
  return experiment.evaluation(results, { bound = bound }, protocol.select, { relevant = "items", rows = set.items })
end

-- Compares systems by NDCG@20. Returns the comparison, and a function that returns the p-value of two systems after
-- Holm's correction over all pairs.
local function compare(systems, order)
  local found = mr.compare{ systems = systems, order = order, samples = 2000 }
  return found, function(a, b)
    for _, pair in ipairs(found.pairs) do
      if pair.system == a and pair.other == b or pair.system == b and pair.other == a then return pair.corrected end
    end
  end
end

local tables = { bounded = {}, beside = {}, gains = {} }
local cells = {}
for name in pairs(tables) do
  cells[name] = experiment.cells("bootstrap over users", function(_, column)
    return (column == "NDCG@20" or column == "epoch") and 1 or 2
  end)
end
local better, worse, of = 0, 0, 0

-- Adds a row about two systems: the columns `first`, NDCG@20, the change with its interval, the p-value, and the shares
-- of users who gain and who lose.
local function add(kind, first, mean, gain, p)
  local rows = tables[kind]
  for _, value in ipairs{ mean, gain.difference } do first[#first + 1] = value end
  first[#first + 1] = p
  for _, value in ipairs{ gain.better, gain.worse } do first[#first + 1] = value end
  rows[#rows + 1] = first
  cells[kind]:note(#rows, "change", { gain.low, gain.high })
end

-- Adds rows on who gains: groups of users by their items in train.
local function add_gains(title, what, compared, system, other)
  for _, group in ipairs(compared:gains{ system = system, other = other }.groups) do
    local from, to = group.relevant[1], group.relevant[2]
    local items = from == to and ("%d"):format(from) or ("%d to %d"):format(from, to)
    add("gains", { title, what, items, group.lists }, group.system, group)
  end
end

-- Compares the bounds of one loss with no bound.
local function add_bounds(title, loss, systems, epochs)
  local compared, p_of = compare(systems, bounds)
  for _, bound in ipairs(bounds) do
    local cell = compared.cells[protocol.select][bound]
    if bound == "none" then
      tables.bounded[#tables.bounded + 1] = { title, loss, bound, epochs[bound], cell.mean, "", "", "", "" }
    else
      local gain, p = compared:gains{ system = bound, other = "none" }.all, p_of(bound, "none")
      add("bounded", { title, loss, bound, epochs[bound] }, cell.mean, gain, p)
      of, better = of + 1, better + (p < 0.05 and gain.difference > 0 and 1 or 0)
      worse = worse + (p < 0.05 and gain.difference < 0 and 1 or 0)
      add_gains(title, loss .. ", " .. bound, compared, bound, "none")
    end
    cells.bounded:note(#tables.bounded, "NDCG@20", { cell.low, cell.high })
  end
end

-- Compares SL@20 without a bound with SL under every bound.
local function add_beside(title, sl, sl_at_20)
  local systems = { ["SL@20"] = sl_at_20.none }
  for bound, of_bound in pairs(sl) do systems[bound] = of_bound end
  local compared, p_of = compare(systems, { "SL@20", table.unpack(bounds) })
  for _, bound in ipairs(bounds) do
    local gain = compared:gains{ system = "SL@20", other = bound }.all
    add("beside", { title, bound }, gain.other, gain, p_of("SL@20", bound))
  end
  add_gains(title, "SL@20 against SL", compared, "SL@20", "none")
end

local opened = {}  -- data sets are opened before the first run, so that missing data raise an error at once
for _, name in ipairs(args.sets) do
  opened[name] = args.smoke and protocol.made_up(name) or protocol.open(known[name].title,
    experiment.place(args, "ir-benchmark/" .. known[name].folder))
end
for _, name in ipairs(args.sets) do
  local set, found = opened[name], {}
  for _, loss in ipairs(losses) do
    local results, epochs = runs_of(name, set, loss), {}
    found[loss] = {}
    for _, bound in ipairs(bounds) do
      found[loss][bound] = evaluation(set, results, bound)
      epochs[bound] = experiment.folds(results, { bound = bound }, "epoch")[1]
    end
    add_bounds(set.title, loss, found[loss], epochs)
  end
  add_beside(set.title, found.SL, found["SL@20"])
end

local written = { epoch = "%.0f", ["NDCG@20"] = "%.4f", change = "%+.4f", ["p, Holm"] = "%.2g", better = "%.3f",
  worse = "%.3f", users = "%.0f" }
local function table_of(kind, caption, columns, legend)
  local own = { "NDCG@20", "change", "p, Holm", "better", "worse" }
  if kind == "gains" then table.remove(own, 3) end
  table.move(own, 1, #own, #columns + 1, columns)
  local formats = {}
  for _, column in ipairs(columns) do formats[column] = written[column] end
  return experiment.named(caption, mr.table{ columns = columns, rows = tables[kind], formats = formats,
    mark = kind ~= "gains" and { ["p, Holm"] = 0.05 } or nil, within = { "data" } }, cells[kind], legend)
end
return experiment.finish(args, nil, ([[
Of %d bounded losses %d are significantly better than the loss without a bound, and %d are significantly worse. All
runs have seed %d; tests and intervals take the trained models as given.]]):format(of, better, worse, args.seed),
  table_of("bounded", "Bounds against no bound", { "data", "loss", "bound", "epoch" }, [[
NDCG@20: mean over users on test, among all items but those that the model was trained on; change: of NDCG@20 from no
bound, paired by user; p, Holm: of a permutation test, corrected over all pairs of the loss's bounds; better, worse:
shares of the users; epoch: that validation chose.]]),
  table_of("beside", "SL@20 against SL under bounds", { "data", "bound of SL" }, [[
NDCG@20: of SL under the bound; change: of NDCG@20 from this SL to SL@20 without a bound, paired by user; p, Holm:
corrected over all pairs of SL@20 and SL under bounds; better, worse: shares of the users for whom SL@20 is so.]]),
  table_of("gains", "Who gains", { "data", "what", "items in train", "users" }, [[
what: a bound against no bound, or SL@20 against SL; items in train: of the users of a group; NDCG@20: with the bound,
or of SL@20; change: of NDCG@20 that what brings; better, worse: shares of the group's users.]]))
