-- Tests decisions of the thesis' scripts outside protocol.lua, on small made-up data: the options of training runs,
-- what is stored, and what Table 5.1 makes of the stored runs. Expected results are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local program = dofile "tests/support/program.lua"
local protocols = dofile "tests/support/protocols.lua"
local in_process = dofile "tests/support/in_process.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

local losses, bounds = protocols.losses, protocols.bounds

-- Returns the module of runs with a made-up data set, in which each pair of loss and bound has its own learning rate.
-- `train`, if given, is called with the options of each training run.
local function made_runs(folder, train, loaded)
  local runs = loaded or dofile "scripts/thesis/beside.lua"
  local set = { title = "made", setting = "nsr", values = { 1, 3 }, folds = 2, tuning = 1, sizes = { 4, 8 }, size = 8,
    epochs = 5 }
  rawset(runs, "set", function(_, name) return setmetatable({ name = name }, { __index = set }) end)
  protocols.number_rates(runs, { "made", "movielens", "mq2008" })
  if train then
    function set.fold(value, fold, seed) return { value = value, fold = fold, seed = seed, test = { lists = {} } } end
    rawset(runs.protocol, "bound", function(name) return name end)
    rawset(runs.protocol, "train", function(_, fold, o)
      train{ loss = o.loss.name, bound = o.loss.bound_name, rate = o.rate, size = o.size, seed = o.seed,
        value = fold.value, fold = fold.fold, curve = #o.metrics > 50 }
      return { test = { mean = {} }, scores = {} }
    end)
    rawset(runs.protocol, "outcome", function() return { valid = 0, per_list = {} } end)
  end
  return runs,
    { store = folder .. "/r.db", workers = 0, retry = 0, data = "", recipe = "honest", samples = 300000, smoke = false }
end

it("runs.of trains all losses under all bounds at their rates, and keeps nDCG@k of the first seed", function()
  local folder = sweeps.new_folder()
  for seed = 1, 2 do
    local seen, count = {}, 0
    local runs, args = made_runs(folder, function(o)
      seen[("%s %s %d %d"):format(o.loss, o.bound, o.fold, o.value)] = { o.rate, o.seed, o.curve, o.size == nil }
    end)
    runs.of(args, "made", seed)
    for l, loss in ipairs(losses) do
      for b, bound in ipairs(bounds) do
        for fold = 1, 2 do
          for _, value in ipairs{ 1, 3 } do
            local key = ("%s %s %d %d"):format(loss, bound, fold, value)
            equal(seen[key], { l + b / 10, seed, seed == 1, true }, key)
            seen[key], count = nil, count + 1
          end
        end
      end
    end
    equal({ next(seen) == nil, count }, { true, 84 })
  end
end)

it("sizes.lua compares sizes on the tuning folds, under four bounds, of MQ2008 at label 2 (4.1.1)", function()
  local folder = sweeps.new_folder()
  for name, values in pairs{ movielens = { 1, 3 }, mq2008 = { 2 } } do
    local seen, count = {}, 0
    local function train(o)
      seen[("%s %s %d %d"):format(o.loss, o.bound, o.value, o.size)] = { o.fold, o.seed, o.rate, o.curve == false }
    end
    in_process.section("scripts/thesis/sizes.lua", { "--set", name, "--store", folder .. "/r.db", "--workers", "0" },
      { beside = function(runs) made_runs(folder, train, runs) end })
    for l, loss in ipairs(losses) do
      for b, bound in pairs{ "none", "minmax", [4] = "expectation_max", [7] = "distribution_logit" } do
        for _, value in ipairs(values) do
          for _, size in ipairs{ 4, 8 } do
            local key = ("%s %s %d %d"):format(loss, bound, value, size)
            equal(seen[key], { 1, 1, l + b / 10, true }, key)
            seen[key], count = nil, count + 1
          end
        end
      end
    end
    equal({ next(seen) == nil, count }, { true, 24 * #values })
  end
end)

it("runs.train uses the bound, rate, size, seed and recipe of its run, and selects by the loss's metric", function()
  local runs, args = made_runs("")
  local asked, bound_of
  rawset(runs.protocol, "bound", function(name, samples)
    bound_of = { name, samples }
    return "minmax"
  end)
  rawset(runs.protocol, "train", function(_, _, o)
    asked = o
    error("stop", 0)
  end)
  local set = { fold = function() return {} end }
  local function train(loss, bound)
    pcall(runs.train, args, set, { value = 1, loss = loss, bound = bound, fold = 2, seed = 5, rate = 0.25, size = 6 })
    return { asked.loss.name, asked.loss.bound_name, asked.select, asked.rate, asked.size, asked.seed, asked.recipe }
  end
  args.samples, args.recipe = 77, "published"
  equal(train("ap", "distribution"), { "ap", "minmax", "ap", 0.25, 6, 5, "published" })
  equal(bound_of, { "distribution", 77 })
  equal(train("nrbp", "distribution_log"), { "nrbp", "minmax", "nrbp(0.95)", 0.25, 6, 5, "published" })
  equal(bound_of, { "distribution_log", 77 })
end)

-- Test has a list of three rows whose second row is relevant, and two lists without relevant rows. Validation has the
-- first row relevant.
it("runs.train keeps all metrics on test, nDCG@1 to nDCG@50 if asked, and the relevant rows of every list", function()
  local runs, args = made_runs("")
  local identity = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
  local rows = {}
  for i = 1, 9 do rows[i] = identity[(i - 1) % 3 + 1] end
  local set = { batch = 1, epochs = 1, model = function() return protocols.places{ 3, 2, 1 } end, fold = function()
      return { train = protocols.alike{ 1, 0, 0 }, valid = protocols.alike{ 1, 0, 0 },
        test = mr.data.dataset{ lists = mr.lists{ { 0, 1, 0 }, { 0, 0, 0 }, { 0, 0, 0 } },
          features = mr.tensor(rows, { dtype = "float64" }) } }
    end }
  local second = math.log(2) / math.log(3)
  for loss, own in pairs{ ndcg = second, ap = 1 / 2, nrbp = 0.95 } do
    local found = runs.train(args, set,
      { value = 1, loss = loss, bound = "none", fold = 1, seed = 1, rate = 1e-9, curve = true })
    near({ found.valid, found.own, found.ndcg, found.ap, found["nrbp(0.95)"], found.rr },
      { 1, own, second, 1 / 2, 0.95, 1 / 2 }, 1e-6)
    near({ found["ndcg@1"], found["ndcg@2"], found["ndcg@50"] }, { 0, second, second }, 1e-6)
    equal(found["ndcg@51"], nil)
    local lists = found.per_list
    near({ lists.own[1]:item(), lists.ndcg[1]:item(), lists.ap[1]:item(), lists["nrbp(0.95)"][1]:item(),
      lists.rr[1]:item() }, { own, second, 1 / 2, 0.95, 1 / 2 }, 1e-6)
    equal(lists.relevant:totable(), { 1.0, 0.0, 0.0 })
  end
  equal(runs.train(args, set,
    { value = 1, loss = "ap", bound = "none", fold = 1, seed = 1, rate = 1e-9 })["ndcg@1"], nil)
end)

it("every loss has a rate among those that are tried, under every bound", function()
  local runs = dofile "scripts/thesis/beside.lua"
  for _, name in ipairs(runs.names) do
    local tried = {}
    for _, rate in ipairs(runs.set({ data = "", smoke = true }, name).rates) do tried[rate] = true end
    for _, loss in ipairs(losses) do
      for _, bound in ipairs(bounds) do
        check(tried[runs.rates[name][loss][bound]], ("%s, %s, %s"):format(name, loss, bound))
      end
    end
  end
end)

it("runs.of says in its settings how many random orders the distribution bound draws", function()
  local folder = sweeps.new_folder()
  local runs, args = made_runs(folder, function() end)
  args.samples = 77
  check(runs.of(args, "made", 1).study.settings:find("77", 1, true))
end)

it("training.movielens has 412 users with 25 relevant items", function()
  if not program.has_data "ml-latest-small" then
    return test.skip "no ml-latest-small in MOONRANK_DATA or ../shared/data"
  end
  local training = dofile "scripts/thesis/training.lua"
  equal(training.movielens({ data = "", smoke = false }).fold(1, 1, 1).test.count, 412)
end)

it("sets of queries have networks with as many inputs as the data have features", function()
  local runs, any = dofile "scripts/thesis/beside.lua", false
  for name, folder in pairs{ mq2008 = "mq2008", mslr = "mslr-web-slice", clueweb = "clueweb09-ltr" } do
    if program.has_data(folder) then
      local set = runs.set({ data = "", smoke = false }, name)
      local batch = set.fold(1, 1, 1).test:batches{ size = 1 }()
      equal(#set.model(4, 1)(batch), batch.lists.rows, name)
      any = true
    end
  end
  if not any then test.skip "no queries in MOONRANK_DATA or ../shared/data" end
end)

-- Made-up changes by bound: twelve users, each tested in both folds, and a 13th whose lists have no relevant rows.
-- Under minmax all users gain 0.125, under expectation all lose 0.125. Under expectation_max, ten gain 1/16 and two
-- lose 1/16.
local function change_of(bound, user)
  if bound == "minmax" then return 0.125 elseif bound == "expectation" then return -0.125 end
  return bound == "expectation_max" and (user <= 10 and 1 / 16 or -1 / 16) or 0
end

local function made_study(folder)
  return mr.sweep{ name = "made", store = folder .. "/made.db", workers = 0, metric = "valid", progress = false,
    direction = "maximize", space = { loss = mr.choice(losses), bound = mr.choice(bounds), split = mr.range(1, 2),
    nsr = mr.choice{ 1 } }, run = function(trial)
      local own, names = {}, {}
      for i = 1, 13 do
        local user = trial.split == 1 and i or 14 - i
        names[i] = user
        own[i] = user == 13 and 0 / 0
          or 0.25 + user / 64 + (trial.split == 1 and 1 or -1) / 32 + change_of(trial.bound, user)
      end
      return { valid = 0, own = 0.5 + trial.split / 10, per_list = { own = own, list = names } }
    end }
end

local function printed_number(at)
  return at.loss == "ap" and (at.bound == "none" and 0.36 or at.bound == "minmax" and 0.5) or nil
end

-- Returns the section of Table 5.1 from made-up runs, and its rows by loss and bound.
local function table_of(folder, empty, printed, options)
  local training = dofile "scripts/thesis/training.lua"
  local study, said = made_study(folder), print
  local set = { title = "made", setting = "nsr", head = "NSR", unit = "user", units = "users", legend = "",
    values = { 1 } }
  rawset(training, "sweep", function() return study end)
  options = options or { recipe = "honest" }
  options.seed = 1
  rawset(_G, "print", function() end)
  local ok, section = pcall(training.compare, options, set, empty, printed)
  rawset(_G, "print", said)
  check(ok, section)
  local rows = {}
  for r, one in ipairs(in_process.records(section.tables[1])) do
    one.at = r
    rows[one.loss .. " " .. one.bound] = one
  end
  return section, rows
end

local usual = 0.25 + 6.5 / 64  -- the mean value of twelve users without a bound

it("training.compare shows means, changes by user with Holm over the table, and printed numbers", function()
  local folder = sweeps.new_folder()
  local section, rows = table_of(folder, "skip", printed_number)
  equal(#section.tables[1].rows, 21)
  local free, minmax, mixed = rows["AP none"], rows["AP minmax"], rows["AP expectation_max"]
  near({ free.mean, minmax.mean, mixed.mean, free["sd of folds"] },
    { usual, usual + 0.125, usual + 1 / 24, 0.1 / math.sqrt(2) }, 1e-6)
  near({ free.published, free.difference, minmax.difference }, { 0.36, usual - 0.36, usual + 0.125 - 0.5 }, 1e-6)
  equal({ rows["nDCG none"].difference, free.change, minmax.users, minmax.lists, minmax.skipped },
    { nil, nil, 12, 24, 2 })
  near({ minmax.change, rows["AP expectation"].change, mixed.change }, { 0.125, -0.125, 1 / 24 }, 1e-6)
  -- twelve equal signs have p = 2 / 4096 (two of all choices). Six of the 18 comparisons in Holm's correction have this
  -- p-value
  near({ minmax.p, minmax["p, Holm"], rows["nDCG expectation"]["p, Holm"] },
    { 2 / 4096, 18 * 2 / 4096, 18 * 2 / 4096 }, 1e-9)
  near(mixed.p, 2 * (1 + 12 + 66) / 4096, 1e-9)  -- p = 0.039: at most two of the twelve signs differ from the others
  near(mixed["p, Holm"], 12 * mixed.p, 1e-9)
  near(mixed.d, (1 / 24) / (1 / 16 * math.sqrt((1 - (8 / 12) ^ 2) * 12 / 11)), 1e-6)
  local agreement = section.agreement
  equal({ agreement.of, agreement.within, agreement.tolerance }, { 2, 1, "0.01" })
end)

it("training.compare counts bounds that are significantly better and worse, and names the extremes", function()
  local folder = sweeps.new_folder()
  local section = table_of(folder, "skip", printed_number)
  local counts = {}
  for word in section.finding:gmatch "%d+" do counts[#counts + 1] = tonumber(word) end
  equal(counts, { 18, 3, 3 })
  local most, least = section.text:find("minmax (+0.1250)", 1, true),
    section.text:find("expectation (-0.1250)", 1, true)
  check(most and least and most < least, section.text)
  -- the printed values of AP are 0.36 and 0.5
  check(section.text:find(("%+.4f"):format((2 * usual + 0.125 - 0.86) / 2), 1, true), section.text)
  check(not section.text:find("TEST", 1, true) and section.text:find("user", 1, true))
  local published = table_of(folder, "skip", nil, { recipe = "published" })
  check(published.text:find("TEST", 1, true) and not published.finding, "test chose the epoch")
end)

it("training.compare shows intervals by bootstraps of users, and of pairs for a change", function()
  local folder = sweeps.new_folder()
  local section, rows = table_of(folder, "skip")
  local free, mixed = {}, {}
  for user = 1, 12 do
    free[user], mixed[user] = 0.25 + user / 64, 0.25 + user / 64 + change_of("expectation_max", user)
  end
  local mean, change = mr.stats.bootstrap(free), mr.stats.bootstrap{ mixed, free }
  local ends = section.cells[1].intervals
  near(ends.mean[rows["AP none"].at], { mean.low, mean.high }, 1e-6)
  near(ends.change[rows["AP expectation_max"].at], { change.low, change.high }, 1e-6)
end)

it("training.compare counts lists without relevant rows as 0 if asked; made-up data have no printed number", function()
  local folder = sweeps.new_folder()
  local section, rows = table_of(folder, "zero", printed_number, { recipe = "honest", made_up = true })
  near(rows["AP none"].mean, usual * 12 / 13, 1e-6)
  equal({ rows["AP none"].lists, rows["AP none"].skipped, rows["AP none"].published, section.finding,
    section.agreement }, { 26, 2, nil, nil, nil })
  local users = { [13] = 0 }
  for user = 1, 12 do users[user] = 0.25 + user / 64 end
  local interval = mr.stats.bootstrap(users)
  near(section.cells[1].intervals.mean[rows["AP none"].at], { interval.low, interval.high }, 1e-6)
end)

it("scores are those of a trial's fold, in whatever order trials are kept", function()
  local runs = dofile "scripts/thesis/beside.lua"
  local folder = sweeps.new_folder()
  local results = mr.sweep{ name = "made", store = folder .. "/r.db", workers = 0, metric = "valid", progress = false,
    direction = "maximize", space = { bound = mr.choice{ "none", "minmax" }, split = mr.choice{ 3, 1, 2 } },
    run = function(trial)
      local more = trial.bound == "none" and 0 or 10
      return { valid = 0, own = trial.split + more, per_list = { own = { trial.split + more }, list = { 1 } } }
    end }
  equal(mr.experiment.folds(results, { bound = "minmax" }, "own"), { 11.0, 12.0, 13.0 })
  equal(mr.experiment.lists(results, { bound = "minmax" }, "own"), { 11.0, 12.0, 13.0 })
  local where = runs.with({ bound = "none", nsr = 2 }, "minmax")
  equal({ where.bound, where.nsr }, { "minmax", 2 })
end)

-- Returns cutoffs.lua with made-up data sets. Lists of MovieLens have six rows, three relevant, of which the model
-- ranks one at the top and two at the bottom. MQ2008 has the lists of `shapes` in its first fold, and a list of four
-- rows in its second.
local function made_cutoffs(shapes)
  local runs, asked = nil, {}
  local cutoffs = in_process.load("scripts/thesis/cutoffs.lua", { beside = function(module) runs = module end })
  local scores = { 9, -9, -9, 0, 0, 0 }
  local function fold_of(name, number)
    local lists, rows = name == "mq2008" and (number == 1 and shapes or { { 1, 0, 0, 0 } }) or {}, {}
    for l = 1, name == "movielens" and 90 or 0 do lists[l] = { 1, 1, 1, 0, 0, 0 } end
    for _, grades in ipairs(lists) do
      for i in ipairs(grades) do rows[#rows + 1] = { scores[i] } end
    end
    return { test = mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(rows, { dtype = "float64" }) } }
  end
  rawset(runs, "set", function(_, name)
    return { setting = name == "movielens" and "nsr" or "label", values = { 1, 3 }, folds = 2, size = 7, epochs = 5,
      fold = function(value, number, seed)
        asked[("%s %d %d %d"):format(name, value, number, seed)] = true
        return fold_of(name, number)
      end,
      model = function() return function(batch) return batch.features:reshape(batch.lists.rows) end end }
  end)
  for i, name in ipairs{ "movielens", "mq2008" } do runs.rates[name] = { ndcg = { none = i / 10 } } end
  rawset(runs.protocol, "train", function(_, _, o)
    asked[("%s %s %g %d %s"):format(
      o.loss.name, o.loss.bound_name, o.rate, o.seed, table.concat(o.metrics, " "))] = true
    return { best = { metrics = { ndcg = 0.75 } } }
  end)
  return cutoffs, asked
end

local function values_of(results, where, name)
  local columns = results:columns()
  return results:per_list(columns:column("number")[columns:rows("spec", where)[1]], name):totable()
end

it("cutoffs.study ranks without a bound, and thins lists by chance to shapes of MQ2008 at label 2", function()
  -- lists without relevant or without other rows are not used as shapes; the last two shapes need more rows of one kind
  -- than a list of MovieLens has
  local cutoffs, asked = made_cutoffs{ { 1, 0 }, { 1, 1, 0, 0 }, { 0, 0 }, { 1, 1 }, { 1, 1, 1, 1, 0 },
    { 1, 0, 0, 0, 0 } }
  local folder = sweeps.new_folder()
  local results = cutoffs.study({ store = folder .. "/r.db", workers = 0, retry = 0, seed = 7 }, "movielens")
  equal(results:counts(), { done = 4 })
  equal(results:best().value, 0.75)
  for _, key in ipairs{ "ndcg none 0.1 7 ndcg", "movielens 1 1 7", "movielens 3 2 7", "mq2008 2 1 7",
    "mq2008 2 2 7" } do
    check(asked[key], key)
  end
  check(not asked["mq2008 1 1 7"])
  local first, second = { nsr = 1, split = 1 }, { nsr = 1, split = 2 }
  near({ values_of(results, first, "ndcg@1")[1], values_of(results, first, "auc")[1] }, { 1, 1 / 3 }, 1e-6)
  near(values_of(results, first, "ndcg@10")[90], (1 + math.log(2) / math.log(6) + math.log(2) / math.log(7))
    / (1 + math.log(2) / math.log(3) + 1 / 2), 1e-6)
  local rows, relevant, top = values_of(results, first, "thinned rows"),
    values_of(results, first, "thinned relevant"), 0
  local count = {}
  for l, n in ipairs(rows) do
    local key = ("%d %d"):format(n, relevant[l])
    count[key] = (count[key] or 0) + 1
    top = top + (n == 2 and values_of(results, first, "thinned ndcg@1")[l] or 0)
  end
  local few, many = count["2 1"], count["4 2"]
  equal({ #rows, few + many }, { 90, 90 })
  check(few > 20 and many > 20, "either shape by chance")
  check(top > 0.1 * few and top < 0.6 * few, "each relevant row by chance, in a third of the lists the one on top")
  equal({ values_of(results, second, "thinned rows")[5], values_of(results, second, "thinned relevant")[5] },
    { 4.0, 1.0 })
end)

it("cutoffs.study of MQ2008 takes label 2, then label 1 and 2, without thinning", function()
  local cutoffs, asked = made_cutoffs{ { 1, 0 } }
  local folder = sweeps.new_folder()
  local results = cutoffs.study({ store = folder .. "/r.db", workers = 0, retry = 0, seed = 7 }, "mq2008")
  equal(results:counts(), { done = 4 })
  check(asked["ndcg none 0.2 7 ndcg"] and asked["mq2008 2 1 7"] and asked["mq2008 1 2 7"]
    and not asked["mq2008 3 1 7"])
  check(not pcall(values_of, results, { label = 2 }, "thinned rows"))
end)
