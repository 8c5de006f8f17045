-- How much of a network's nDCG in Table 1 of Tang et al. (2023) depends on its seed? 20 seeds on MQ2008 take about 40
-- minutes of processor time. An interrupted script continues where it ended.

-- Networks are trained under many seeds. Those of --last_bit are trained a second time, from initial weights of which
-- one differs in its last bit. One table has the distribution of nDCG over seeds, and the difference from MseNetBatched
-- with an interval over seeds. The other table has how far two trainings with equal seed move apart, at every learning
-- rate. Data, networks and protocol are those of table_1.lua, "rate chosen" (official folds; validation chooses epoch
-- and learning rate). Programs of one numerics version compute identical bits; runs are stored by this version, so that
-- runs of older programs can be shown beside today's (--versions).
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local experiment = mr.experiment
local trainings = dofile(here .. "seeds_runs.lua")
local beside, training, protocol = trainings.beside, trainings.training, trainings.training.protocol

local args = training.args({
  set = { default = "mq2008", choices = protocol.set_names, help = "which data" },
  algorithms = { default = { "ApproxNDCGBatched", "ApproxNDCGQbQ" }, choices = protocol.names, distinct = true,
    help = "which networks beside MseNetBatched" },
  last_bit = { default = { "ApproxNDCGBatched" }, choices = protocol.names, distinct = true,
    help = "networks that are trained a second time, from weights that differ in one last bit" },
  seeds = { default = 20, least = 2, most = 1000, help = "how many seeds, from --seed on" },
  versions = { default = "",
    help = "which numerics versions are shown, e.g. '2026-11c@c074a2c3 2026-11d' with a commit behind @; "
    .. "runs are made under this program's alone", shown = "that one" },
}, { seeds = 2 })
-- Opens the data set first, so that missing data raise an error before any run.
local set = training.set(args, args.set)

---@class objectives.Group   trainings of one algorithm under several seeds, with one program and start
---@field version string    numerics version of the program that made the runs (equal version: identical bits)
---@field title string      numerics version and the program's commit, for tables
---@field algorithm string  name of the algorithm in Table 1
---@field start "as drawn"|"last bit"  initial weights: as the seed draws them, or one changed in its last bit
---@field seeds integer[]   seeds of which all training runs are there
---@field cells number[]    by seed: mean test nDCG of the training runs that validation chose, one per fold
---@field values number[][] by seed: test nDCG of every query in these runs
---@field trials table[][]  by seed: all training runs, at every learning rate on every fold
---@field chosen table[]    by seed: rates and epochs that validation chose, each by fold

-- Returns the training runs of a study with their learning curves: one run for each fold and learning rate.
local function trials_of(results)
  local runs, found = experiment.runs(results), {}
  local rates, ndcg = experiment.folds(results, runs, "rate"), experiment.folds(results, runs, "ndcg")
  for i, run in ipairs(runs) do
    found[i] = { split = run.fold, rate = rates[i], ndcg = ndcg[i],
      valid_curve = results:per_list(run.number, "curve"):totable(),
      loss_curve = results:per_list(run.number, "held_out"):totable() }
  end
  return found
end

-- Returns a study (a set of stored training runs), or nil if the store lacks it. A study of this program's numerics
-- version (programs of one version compute identical bits) is made, or its missing runs are. Studies of other versions,
-- and with --kept all studies, are only read.
local function study(version, algorithm, start, seed)
  local o = trainings.study(set, {
    algorithm = algorithm, start = start, seed = seed, version = version, name = args.set,
    short = args.smoke })
  if version == mr.numerics and not args.kept then return experiment.study(args, o) end
  return experiment.there(args, o)
end

local function group(version, title, algorithm, start)
  local own = { version = version, title = title, algorithm = algorithm, start = start, seeds = {}, cells = {},
    values = {}, trials = {}, chosen = {} }
  for seed = args.seed, args.seed + args.seeds - 1 do
    local results = study(version, algorithm, start, seed)
    if results and experiment.progress(results) == #protocol.rates * #set.folds then
      local chosen = experiment.chosen(results)
      own.seeds[#own.seeds + 1], own.trials[seed] = seed, trials_of(results)
      own.values[seed] = experiment.lists(results, chosen, "ndcg")
      own.cells[seed] = mr.stats.mean(own.values[seed])
      own.chosen[seed] = { rates = experiment.folds(results, chosen, "rate"),
        epochs = experiment.folds(results, chosen, "epoch") }
    end
  end
  return #own.seeds > 0 and own or nil
end

local function with_ends(found)
  return ("%.4f (%.4f to %.4f)"):format(found.mean, found.mean - found.half, found.mean + found.half)
end

-- Returns f(seed) for each seed under which both groups of training runs, `a` and `b`, have results.
local function shared(a, b, f)
  local found, has = {}, {}
  for _, seed in ipairs(b.seeds) do has[seed] = true end
  for _, seed in ipairs(a.seeds) do found[#found + 1] = has[seed] and f(seed) or nil end
  return found
end

-- The mean over `seeds` for every query, where values[seed] is an array with a value per query.
local function mean_values(values, seeds)
  local sums = {}
  for _, seed in ipairs(seeds) do
    for i, x in ipairs(values[seed]) do sums[i] = (sums[i] or 0) + x / #seeds end
  end
  return sums
end

local function p_of(a, b) return mr.stats.permutation(a, b, { orders = 10000 }).p end

local function count(x, f)
  local n = 0
  for _, each in ipairs(x) do n = n + (f(each) and 1 or 0) end
  return n
end

-- A row of the first table: a network's nDCG over seeds, and its difference from the base network (MseNetBatched) over
-- seeds and over queries. `own` and `base` are the groups of trainings of both networks.
local function row_of(own, base)
  local cells = {}
  for i, seed in ipairs(own.seeds) do cells[i] = own.cells[seed] end
  local found = mr.stats.summary(cells)
  local row = { own.title, own.algorithm, own.start, #cells, found.mean, found.sd, math.min(table.unpack(cells)),
    math.max(table.unpack(cells)) }
  if own.algorithm == beside.base then return row end
  local seeds = shared(own, base, function(seed) return seed end)
  local changes = shared(own, base, function(seed) return own.cells[seed] - base.cells[seed] end)
  local ps = shared(own, base, function(seed) return p_of(own.values[seed], base.values[seed]) end)
  local each = trainings.distribution(changes)
  table.move({ with_ends(each), math.min(table.unpack(changes)), math.max(table.unpack(changes)),
    ("%d of %d"):format(count(ps, function(p) return p < beside.level end), #ps),
    ("%d of %d"):format(count(ps, function(p) return 6 * p < beside.level end), #ps),
    p_of(mean_values(own.values, seeds), mean_values(base.values, seeds)) }, 1, 6, 9, row)
  return row
end

-- Returns rows of the second table. They compare two groups of training runs of one algorithm at equal seeds. The
-- groups differ in the program's version or in one bit of the initial weights. There is a row for each learning rate,
-- and a row for the runs that validation chooses.
local function rows_of_pair(one, other)
  local by_rate, chosen, kept_choices, choices = {}, { {} }, 0, 0
  for i, rate in ipairs(protocol.rates) do
    by_rate[i] = { rate = rate, count = 0, differ = 0, apart = {}, folds = {} }
    for split = 1, #set.folds do by_rate[i].folds[split] = {} end
    by_rate[rate] = by_rate[i]
  end
  shared(one, other, function(seed)
    table.insert(chosen[1], { one.cells[seed], other.cells[seed] })
    for i, trial in ipairs(one.trials[seed]) do
      local twin, at = other.trials[seed][i], by_rate[trial.rate]
      at.count = at.count + 1
      at.differ = at.differ + (trainings.parting(trial.loss_curve, twin.loss_curve, 0) and 1 or 0)
      at.apart[#at.apart + 1] = trainings.parting(trial.valid_curve, twin.valid_curve, 1e-3)
      table.insert(at.folds[trial.split], { trial.ndcg, twin.ndcg })
    end
    local own, theirs = one.chosen[seed], other.chosen[seed]
    for split, rate in ipairs(own.rates) do
      local alike = rate == theirs.rates[split] and own.epochs[split] == theirs.epochs[split]
      choices, kept_choices = choices + 1, kept_choices + (alike and 0 or 1)
    end
  end)
  local function name(own) return own.title .. (own.start == "as drawn" and "" or ", last bit") end
  local found = {}
  for i, at in ipairs(by_rate) do
    local m = trainings.moved(at.folds)
    found[i] = { one.algorithm, name(one), name(other), ("%g"):format(at.rate), at.count, at.differ, #at.apart,
      #at.apart > 0 and mr.stats.median(at.apart) or nil, m.rms, m.of_seeds, m.most }
  end
  local m = trainings.moved(chosen)
  found[#found + 1] = { one.algorithm, name(one), name(other), "chosen", choices, kept_choices, nil, nil, m.rms,
    m.of_seeds, m.most, with_ends(m.change) }
  return found
end

local function versions()
  local found = {}
  for version, commit in args.versions:gmatch "([^%s@,]+)@?([^%s,]*)" do
    found[#found + 1] = { name = version, title = commit ~= "" and ("%s (%s)"):format(version, commit) or version }
  end
  for word in args.versions:gmatch "[^%s,]+" do
    if not word:find "^%d%d%d%d%-%d%d%l+$" and not word:find "^%d%d%d%d%-%d%d%l+@%w+$" then
      local what = "--versions: '%s' is not a numerics version. Pass names such as 2026-11c or 2026-11c@c074a2c3"
      mr.exit(2, what:format(word))
    end
  end
  if #found == 0 then found[1] = { name = mr.numerics, title = mr.numerics } end
  return found
end

-- Collects the intervals of the first table, and says from how many training runs a cell is computed: one per fold and
-- seed. A change against the base network (MseNetBatched) is computed from twice as many runs.
local of_groups = experiment.cells("Student's t over seeds", function(row, column)
  return row[4] * #set.folds
    * (row[2] ~= beside.base and (column:find "change" or column:find "^%d? ?p[ ,]") and 2 or 1)
end)

local wanted, groups, rows, pairs_of, base = versions(), {}, {}, {}, nil
local function add(version, algorithm, start)
  local own = group(version.name, version.title, algorithm, start)
  groups[#groups + 1] = own
  return own
end
for _, version in ipairs(wanted) do base = add(version, beside.base, "as drawn") or base end
if not base and not args.kept then
  mr.exit(2, ("--versions: %s has no complete runs of %s under %s"):format(args.store, beside.base, args.versions))
end
if not base then experiment.lack(("%s has no runs of %s"):format(args.store, beside.base)) end
-- The numerics version in the title of a group, such as "2026-11d (8937a518)", and those of two groups.
local function version_in(title) return title:match "^[^ ,]+" end
local function versions_in(one, other)
  local a, b = version_in(one), version_in(other)
  return a == b and a or a .. " " .. b
end
-- Changes and their p-values are against the base.
function of_groups.numerics(row, column)
  local compares = column:find "change" or column:find "^6? ?p%f[%W]"
  return compares and versions_in(row[1], base.title) or version_in(row[1])
end
for _, version in ipairs(wanted) do
  for _, algorithm in ipairs(args.algorithms) do add(version, algorithm, "as drawn") end
  for _, algorithm in ipairs(args.last_bit) do add(version, algorithm, "last bit") end
end
-- Compares each group of training runs with up to two kinds of later groups of the same algorithm: the next group of
-- another program version with equal initial weights, and a group whose initial weights differ in one last bit.
for i, one in ipairs(groups) do
  rows[i] = row_of(one, base)
  local own = {}
  for s, seed in ipairs(one.seeds) do own[s] = one.cells[seed] end
  of_groups:note(i, "nDCG", experiment.over_runs(own))
  local has_next = false
  for j = i + 1, #groups do
    local other = groups[j]
    local version, start = other.version ~= one.version, other.start ~= one.start
    if other.algorithm == one.algorithm and version ~= start and not (version and has_next) then
      table.move(rows_of_pair(one, other), 1, #protocol.rates + 1, #pairs_of + 1, pairs_of)
      has_next = has_next or version
    end
  end
end

local four = "%.4f"
local cells = mr.table{ rows = rows,
  columns = { "numerics version", "algorithm", "start", "seeds", "nDCG", "sd", "least", "largest", "change",
    "least change", "largest change", "p < 0.05", "6 p < 0.05", "p, mean of seeds" },
  formats = { nDCG = four, sd = four, least = four, largest = four, ["least change"] = "%+.4f",
    ["largest change"] = "%+.4f", ["p, mean of seeds"] = "%.2g" } }
local of_pairs = experiment.cells("Student's t over runs or seeds", function(row) return 2 * row[5] end)
function of_pairs.numerics(row) return versions_in(row[2], row[3]) end
local twins = pairs_of[1] and experiment.named(
  set.title .. ": two trainings of equal seed, and how far nDCG moves",
  mr.table{ rows = pairs_of,
    columns = { "algorithm", "one", "other", "rate", "trainings", "differ", "apart", "median epoch apart",
      "root mean square", "of two seeds", "largest", "mean change" },
    formats = { ["median epoch apart"] = "%.0f", largest = four, ["root mean square"] = four,
      ["of two seeds"] = four } },
  of_pairs, [[
trainings: pairs of equal seed, fold and rate; differ: how many in any bit of the held-out loss; apart: in how many
nDCG on validation comes apart by 0.001; median epoch apart: of that; root mean square, largest, mean change: of the
change of test nDCG; of two seeds: root mean square between two seeds (the standard deviation over seeds times the
root of 2). In rows "chosen", differ counts choices of a rate and epoch.]])

return experiment.finish(args, nil, ([[
Numbers are of %s. Student's t over seeds takes the folds and queries as given.]]):format(set.said),
  experiment.named(set.title .. ": nDCG over seeds", cells, of_groups, ([[
last bit: one starting weight differs in its last bit; seeds: how many; nDCG: mean over seeds of the test queries'
mean; sd, least, largest: over seeds; change: difference from %s at equal seed, least change and largest change: over
seeds; p < 0.05: in how many seeds p of that change, paired by query; 6 p < 0.05: in how many six times p (Holm's
factor for the smallest p of six comparisons); p, mean of seeds: of the queries' means over seeds.]]):format(
    beside.base)), twins or nil)
