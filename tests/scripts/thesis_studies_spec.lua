-- Tests studies of the thesis' questions outside its tables (thinning.lua, drawn.lua, silence.lua, stronger.lua,
-- better.lua, persistence.lua, descent.lua), with made-up results instead of training: the options of training runs,
-- the metric that chooses, and what is stored. Expected results are worked out beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local protocols = dofile "tests/support/protocols.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

local losses, bounds = protocols.losses, protocols.bounds

-- Loads a script's module with a made-up data set. Each pair of loss and bound has its own learning rate: 1.1 for nDCG
-- without a bound, 3.7 for nRBP under distribution_logit. `train(set, parts, o)` replaces training.
local function module_of(name, set, train)
  local own
  local module = in_process.load(("scripts/thesis/%s.lua"):format(name), { beside = function(runs)
    own = runs
    rawset(runs, "set", function(_, data) return setmetatable({ name = data }, { __index = set }) end)
    protocols.number_rates(runs, { "movielens", "mq2008", "made" })
    rawset(runs.protocol, "bound", function(asked) return asked end)
    rawset(runs.protocol, "train", train)
  end })
  return module, own
end

local function rate_of(loss, bound)
  for l, each in ipairs(losses) do
    for b, name in ipairs(bounds) do
      if each == loss and name == bound then return l + b / 10 end
    end
  end
end

-- Calls body(args) with options for a store in a temporary folder.
local function with_store(body)
  local folder = sweeps.new_folder()
  body{ store = folder .. "/r.db", workers = 0, retry = 0, data = "", recipe = "honest", samples = 77,
    smoke = false, seed = 5 }
end

-- Returns the made-up result of a training run.
local function trained(own, valid)
  return { best = { epoch = 1, metrics = { [own] = valid } }, test = { mean = { [own] = 0.25 } },
    scores = { [own] = mr.tensor({ 0.25 }, { dtype = "float64" }) } }
end

-- Returns the number of the only trial with these parameters, its row, and all columns.
local function trial_of(results, where)
  local columns = results:columns()
  local rows = columns:rows("spec", where)
  equal(#rows, 1)
  return columns:column("number")[rows[1]], rows[1], columns
end

-- Returns lists of users whose relevant items are 1 (score 9) and 2 (score -9). Other items have score 0 and numbers
-- from `first` on, so that each part has different ones.
local function part_of(users, others, first)
  local lists, items = {}, {}
  for l = 1, users do
    lists[l] = { 1, 1 }
    table.move({ 1, 2 }, 1, 2, #items + 1, items)
    for i = 1, others do lists[l][2 + i], items[#items + 1] = 0, first + i end
  end
  return mr.data.dataset{ lists = mr.lists(lists), users = mr.arange(1, users):long(),
    items = mr.tensor(items, { dtype = "int64" }) }
end

-- Returns the set of items of a part that are not relevant.
local function others_of(part)
  local found, count = {}, 0
  for _, item in ipairs(part.items:totable()) do
    if item > 2 then found[item], count = true, count + 1 end
  end
  return found, count
end

it("thinning.study nests the negatives of training NSR, and measures each test NSR", function()
  local seen, asked = {}, {}
  local set = { setting = "nsr", values = { 1, 2, 3 }, folds = 1, size = 8, epochs = 5, model = function(size, seed)
    equal({ size, seed }, { 8, 5 })
    return function(batch)
      local scores = {}
      for i, item in ipairs(batch.items:totable()) do scores[i] = item == 1 and 9.0 or item == 2 and -9.0 or 0.0 end
      return mr.tensor(scores, { dtype = "float64" })
    end
  end }
  function set.fold(value, number, seed)
    asked[("%d %d %d"):format(value, number, seed)] = true
    return { train = part_of(2, 6, 100), valid = part_of(1, 6, 200), test = part_of(1, 6, 300) }
  end
  local thinning = module_of("thinning", set, function(_, parts, o)
    local train, train_count = others_of(parts.train)
    local valid, valid_count = others_of(parts.valid)
    local own = o.metrics[1]
    seen[#seen + 1] = { loss = o.loss.name, bound = o.loss.bound_name, rate = o.rate, seed = o.seed, own = own,
      metrics = #o.metrics, train = train, train_count = train_count, valid = valid, valid_count = valid_count,
      has_test = parts.test ~= nil, lists = { parts.train.count, parts.valid.count } }
    return trained(own, #seen)
  end)
  with_store(function(args)
    local results = thinning.study(args)
    equal(results:counts(), { done = 3 * 3 * 2 })
    -- lists are drawn only once, with the largest number of negatives (NSR 3)
    equal({ asked["3 1 5"], next(asked, "3 1 5") }, { true })
    local by_count = {}
    for _, each in ipairs(seen) do
      equal({ each.rate, each.seed, each.metrics, each.has_test }, { rate_of(each.loss, each.bound), 5, 1, false })
      equal(each.own, each.loss == "nrbp" and "nrbp(0.95)" or each.loss)
      -- a list for two users in train with two relevant items each, and one list in another part
      equal({ each.train_count, each.lists }, { 2 * each.valid_count, { 2, 1 } })
      for item in pairs(each.train) do check(item > 100 and item < 200, item .. " is not of train") end
      for item in pairs(each.valid) do check(item > 200 and item < 300, item .. " is not of validation") end
      by_count[each.valid_count] = each.valid
    end
    for item in pairs(by_count[2]) do check(by_count[4][item], "negatives of NSR 1 are among those of NSR 2") end
    for item in pairs(by_count[4]) do check(by_count[6][item], "negatives of NSR 2 are among those of NSR 3") end
    -- one relevant item is at the top, one below 2 NSR other items
    local number, row, columns = trial_of(results, { nsr = 1, loss = "ap", bound = "none" })
    for nsr, ap in ipairs{ (1 + 2 / 4) / 2, (1 + 2 / 6) / 2, (1 + 2 / 8) / 2 } do
      near({ columns:column("test_" .. nsr)[row], results:per_list(number, "test_" .. nsr)[1]:item() },
        { ap, ap }, 1e-6)
    end
    equal(results:per_list(number, "list"):totable(), { 1.0 })
  end)
end)

it("drawn.study trains at the rate of each bound, and puts drawn means into the bounds' formulas", function()
  local seen, bound_of = {}, {}
  local set = { setting = "nsr", values = { 1, 2 }, folds = 2, size = 8, epochs = 5,
    fold = function(value, number, seed)
      return { value = value, number = number, seed = seed, test = { count = 1 } }
    end }
  local drawn = module_of("drawn", set, function(_, fold, o)
    seen[#seen + 1] = { loss = o.loss.name, rate = o.rate, seed = o.seed, own = o.metrics[1], fold = fold }
    return trained(o.metrics[1], 0.5)
  end)
  equal(drawn.mean_of("ap", 4, 1, 10),
    mr.bounds.distribution("ap", { n = 4, p = 1, method = "sampled", samples = 10, seed = 1 }):mean())
  rawset(drawn, "mean_of", function(metric, n, p, samples)
    equal({ n, p, samples, math.type(n) }, { 4, 1, 10, "integer" })
    return metric == "nrbp_loss" and 0.5 or 0.25
  end)
  -- 300,000: section 4.3
  equal({ drawn.samples{ smoke = false }[1], drawn.samples{ smoke = false }[5] }, { 0, 300000 })
  with_store(function(args)
    args.smoke = true
    local made = {}
    for _, loss in ipairs(losses) do
      made[loss] = mr.losses[loss]
      rawset(mr.losses, loss, function(o)
        bound_of[#bound_of + 1] = { loss = loss, bound = o.bound }
        return { name = loss }
      end)
    end
    local ok, results = pcall(drawn.study, args, "made")
    for _, loss in ipairs(losses) do rawset(mr.losses, loss, made[loss]) end
    check(ok, results)
    equal(results:counts(), { done = 3 * 2 * 2 * 2 })
  end)
  local one = mr.tensor({ 1 }, { dtype = "float64" })
  -- drawn means take the place of the exact expectation, 0.625
  local stats = { n = one * 4, p = one, best = one, min = one * 0.125, expectation = one * 0.625 }
  local minimised = { n = one * 4, p = one, best = one * 0.125, min = one * 0.125, expectation = one * 0.625 }
  local rates, values = {}, {}
  for i, each in ipairs(seen) do
    local bound = bound_of[i].bound
    equal({ each.seed, each.fold.value, each.fold.seed, each.own },
      { 5, 1, 5, each.loss == "nrbp" and "nrbp(0.95)" or each.loss })
    local key = type(bound) == "string" and bound or "drawn"
    rates[("%s %s %d %g"):format(each.loss, key, each.fold.number, each.rate)] = true
    if key == "drawn" then
      values[each.loss .. " " .. each.rate] = bound(one * 0.75, stats):item()
      values["minimised " .. each.loss .. " " .. each.rate] = bound(one * 0.75, minimised):item()
    end
  end
  for l, loss in ipairs(losses) do
    for fold = 1, 2 do
      for b, bound in pairs{ [3] = "expectation", [4] = "expectation_max" } do
        local rate = l + b / 10
        check(rates[("%s %s %d %g"):format(loss, bound, fold, rate)]
          and rates[("%s drawn %d %g"):format(loss, fold, rate)], loss .. bound)
      end
    end
    -- the metric is 0.75, its maximum 1, and its mean over random rankings 0.25, or 0.5 for nRBP
    local mean = loss == "nrbp" and 0.5 or 0.25
    near({ values[loss .. " " .. l + 0.3], values[loss .. " " .. l + 0.4] },
      { 0.75 / mean, (0.75 - mean) / (1 - mean) }, 1e-9)
    -- the best of a minimised metric is below its mean; |best - mean| keeps the direction
    near(values["minimised " .. loss .. " " .. l + 0.4], (0.75 - mean) / (mean - 0.125), 1e-9)
  end
end)

it("silence.study counts slopes below 1e-12 among judged lists, and trains at the rate of each bound", function()
  local seen, asked = {}, {}
  -- four lists of two rows, one of them relevant, a list without relevant rows and a list without other rows
  local part = mr.data.dataset{ lists = mr.lists{ { 1, 0 }, { 1, 0 }, { 1, 0 }, { 1, 0 }, { 0, 0 }, { 1, 1 } },
    users = mr.arange(1, 6):long(), items = mr.arange(1, 12):long() }
  local set = { setting = "nsr", values = { 1, 2 }, folds = 1, size = 8, epochs = 5,
    fold = function(value, number, seed)
      asked[("%d %d %d"):format(value, number, seed)] = true
      return { train = part, valid = part, test = part }
    end }
  local model = function(batch) return mr.zeros({ batch.lists.rows }, { dtype = "float64" }) end
  local silence, runs = module_of("silence", set, function(_, _, o)
    o.each_epoch(0, model)
    seen[#seen + 1] = { bound = o.loss.bound, rate = o.rate, seed = o.seed, own = o.metrics[1] }
    local found = trained(o.metrics[1], 0.5)
    found.scores.ndcg = mr.zeros({ 6 }, { dtype = "float64" })
    return found
  end)
  rawset(runs.protocol, "bound", function(name, samples) return { form = name, samples = samples } end)
  local resolve, ndcg = mr.bounds.resolve, mr.losses.ndcg
  -- made-up slopes of the bound at six lists: 1e-6, 1e-13, 0 and 1, and two of lists that do not count
  local scale = mr.tensor({ 1e-6, 1e-13, 0, 1, 0, 0 }, { dtype = "float64" })
  rawset(mr.bounds, "resolve", function() return { apply = function(value) return value * scale end } end)
  rawset(mr.losses, "ndcg", function(o) return { bound = o.bound } end)
  with_store(function(args)
    local ok, results = pcall(silence.study, args)
    rawset(mr.bounds, "resolve", resolve)
    rawset(mr.losses, "ndcg", ndcg)
    check(ok, results)
    equal(results:counts(), { done = 2 * 5 })
    equal({ asked["1 1 5"], asked["2 1 5"] }, { true, true })
    local rates = {}
    for _, each in ipairs(seen) do
      equal({ each.seed, each.own }, { 5, "ndcg" })
      rates[type(each.bound) == "table" and ("%s, %d orders"):format(each.bound.form, each.bound.samples)
        or each.bound] = each.rate
    end
    -- the thesis' sampled distribution bound and the exact one use the same learning rate
    equal(rates, { none = 1.1, ["distribution, 77 orders"] = 1.5, distribution = 1.5, distribution_log = 1.6,
      distribution_logit = 1.7 })
    local number = trial_of(results, { nsr = 1, bound = "none" })
    near(results:reports(number).silent.values, { 2 / 4 }, 1e-12)
    -- two equal scores: one of the two rankings of a list, thus half of random rankings, is not better
    for _, name in ipairs{ "ndcg", "ap", "nrbp" } do
      near(results:per_list(number, "start_" .. name):totable(), { 0.5, 0.5, 0.5, 0.5 }, 1e-9, name)
    end
    check(not pcall(results.per_list, results, trial_of(results, { nsr = 1, bound = "exact" }), "start_ndcg"))
  end)
end)

it("stronger.study chooses rates without a bound on the first fold, and builds models by their names", function()
  local seen, set = {}, { setting = "label", values = { 2, 1 }, folds = 2, size = 8, epochs = 100,
    rates = { 0.1, 0.3 } }
  local stronger, runs = module_of("stronger", set, function() error "not to be called" end)
  local attention, attended = mr.models.self_attention, nil
  rawset(mr.models, "self_attention", function(o)
    attended = o
    return attention(o)
  end)
  -- validation is best at rate 0.3 for the linear model with AP, else at 0.1; the test part prefers another rate
  rawset(runs, "train", function(_, own, o)
    local weights = 0
    for _, parameter in ipairs(own.model(8, 3):parameters()) do weights = weights + parameter:numel() end
    seen[#seen + 1] = { weights = weights, loss = o.loss, bound = o.bound, fold = o.fold, rate = o.rate,
      value = o.value, seed = o.seed, epochs = own.epochs }
    local likes = weights == 47 and o.loss == "ap" and 0.3 or 0.1
    return { valid = o.rate == likes and 0.75 or 0.5, own = o.rate == likes and 0.1 or 0.9,
      per_list = { own = { 0.5 }, list = { 1 } } }
  end)
  with_store(function(args)
    local ok, results, best = pcall(stronger.study, args)
    rawset(mr.models, "self_attention", attention)
    check(ok, results)
    equal({ attended.inputs, attended.width, attended.heads, attended.blocks, attended.dropout }, { 46, 32, 2, 2, 0.1 })
    equal(results:counts(), { done = 4 * 3 * 4 * 2 })
    local tuning = 4 * 3 * 2
    equal(#seen, tuning + 4 * 3 * 4 * 2)
    local kinds = {}
    for i, each in ipairs(seen) do
      equal({ each.value, each.seed, each.epochs }, { 1, 5, 60 })
      if i <= tuning then
        equal({ each.bound, each.fold }, { "none", 1 })
      else
        equal(each.rate, each.weights == 47 and each.loss == "ap" and 0.3 or 0.1, each.loss)
        kinds[each.weights] = true
      end
    end
    for name, rate in pairs{ linear = 0.3, ["46"] = 0.1, ["92-46-23"] = 0.1, ["self-attention"] = 0.1 } do
      equal(best[name .. " ap"], { rate = rate, valid = 0.75 }, name)
    end
    -- a layer has inputs x units weights and one bias for each unit; there are 46 features
    for _, weights in ipairs{ 47, 46 * 46 + 46 + 47, 46 * 92 + 92 + 92 * 46 + 46 + 46 * 23 + 23 + 24 } do
      check(kinds[weights], "no model of " .. weights .. " weights")
    end
    local count = 0
    for _ in pairs(kinds) do count = count + 1 end
    equal(count, 4)
  end)
end)

it("better.studies take the rate of each form of bound, on MovieLens at all NSR and on MQ2008", function()
  local better, runs = module_of("better", { setting = "nsr", head = "NSR", values = { 1, 2, 3 } },
    function() error "not to be called" end)
  local asked = {}
  rawset(runs, "sweep", function(_, set, o)
    asked[#asked + 1] = ("%s %s seed %d"):format(set.name, table.concat(o.space.nsr.keys, " "), o.seed)
    local rates = {}
    for _, bound in ipairs(o.space.bound.keys) do rates[bound] = o.rate{ loss = "ap", bound = bound } end
    local expected = { none = 2.1 }
    for _, beta in ipairs{ "0", "0.5", "1", "2" } do
      expected[("distribution (beta %s)"):format(beta)], expected[("distribution_logit (beta %s)"):format(beta)] =
        2.5, 2.7
    end
    equal(rates, expected)
    equal(o.rate{ loss = "nrbp", bound = "distribution (beta 1)" }, 3.5)
  end)
  better.studies{ seed = 5 }
  equal(asked, { "movielens 1 seed 5", "movielens 2 seed 5", "movielens 3 seed 5", "mq2008 1 seed 5" })
end)

it("persistence.study chooses an epoch by each of three persistences, and measures by it", function()
  local set = { setting = "nsr", values = { 1, 3 }, folds = 2, size = 8, epochs = 5,
    fold = function(value, number, seed)
      return { value = value, number = number, seed = seed,
        test = { users = mr.tensor({ 40 + number }, { dtype = "int64" }) } }
    end }
  local seen = {}
  local persistence = module_of("persistence", set, function(_, fold, o)
    equal({ o.metrics, o.select, o.seed, fold.seed, o.recipe }, { { "nrbp(0.95)", "nrbp(0.9)", "nrbp(0.8)" },
      { "nrbp(0.95)", "nrbp(0.9)", "nrbp(0.8)" }, 5, 5, "honest" })
    seen[("%s %s %d %d %g"):format(o.loss.name, o.loss.bound_name, fold.value, fold.number, o.rate)] = true
    local valid = { ["nrbp(0.95)"] = 0.5, ["nrbp(0.9)"] = 0.1, ["nrbp(0.8)"] = 0.2 }
    local found = { best = { metrics = valid }, test = { mean = {} }, scores = {}, choices = {} }
    for i, name in ipairs(o.metrics) do
      found.test.mean[name], found.choices[i] = i / 8, { best = { epoch = 10 * i } }
      found.scores[name] = mr.tensor({ i / 8 }, { dtype = "float64" })
    end
    return found
  end)
  with_store(function(args)
    local results = persistence.study(args, "made")
    equal(results:counts(), { done = 3 * 7 * 2 * 2 })
    for l, loss in ipairs(losses) do
      for b, bound in ipairs(bounds) do check(seen[("%s %s 3 2 %g"):format(loss, bound, l + b / 10)], loss .. bound) end
    end
    local number, row, columns = trial_of(results, { nsr = 3, split = 2, loss = "ap", bound = "minmax" })
    local function column(name) return columns:column(name)[row] end
    equal({ column "valid", column "nrbp(0.9)", column "epoch_1", column "epoch_2", column "epoch_3" },
      { 0.5, 0.25, 10, 20, 30 })
    equal({ results:per_list(number, "nrbp(0.8)"):totable(), results:per_list(number, "list"):totable() },
      { { 0.375 }, { 42.0 } })
  end)
end)

it("descent.study tries powers of ten on the first fold, then half steps, and trains at the best", function()
  local set = { setting = "nsr", values = { 1, 3 }, folds = 2, size = 8, epochs = 40,
    fold = function(value, number, seed)
      return { value = value, number = number, seed = seed,
        test = { users = mr.tensor({ number }, { dtype = "int64" }) } }
    end }
  local calls = {}
  -- `exponent` is twice the decimal logarithm of the learning rate; the best is -3 for Adam (-5 under minmax) and 6 for
  -- SGD
  local descent = module_of("descent", set, function(_, fold, o)
    local exponent = math.floor(2 * math.log(o.rate, 10) + 0.5)
    equal({ fold.value, fold.seed, o.seed, o.epochs, o.patience }, { 1, 5, 5, 7, 2 })
    calls[#calls + 1] = { optimizer = o.optimizer, fold = fold.number, exponent = exponent, bound = o.loss.bound_name }
    local found = trained(o.metrics[1], -math.abs(exponent - (o.optimizer ~= "adam" and 6
      or o.loss.bound_name == "minmax" and -5.2 or -3.2)))
    return found
  end)
  with_store(function(args)
    args.epochs, args.patience = 7, 2
    local results, best, cells = descent.study(args, "made")
    equal(results:counts(), { done = 2 * 3 * 5 * 2 })
    local tuning = 3 * 5 * (3 + 8) + 3 * 5 * 2 * 2
    equal(#calls, tuning + 60)
    for i, each in ipairs(calls) do
      if i <= tuning then
        equal(each.fold, 1)
      else
        equal(each.exponent, each.optimizer ~= "adam" and 6 or each.bound == "minmax" and -5 or -3)
      end
    end
    equal({ best["adam ap minmax"], best["adam ap none"], best["sgd nrbp distribution"] }, { -5, -3, 6 })
    local tried = {}
    for exponent in pairs(cells["adam ap minmax"]) do tried[#tried + 1] = exponent end
    table.sort(tried)
    equal(tried, { -7, -6, -5, -4, -2 })
    near(cells["sgd ap none"][7], -1, 1e-9)
  end)
end)
